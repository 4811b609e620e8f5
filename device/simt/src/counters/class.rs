//! What kind of work an instruction is.

use gridstride_ptx::{Instr, Space, Type};

/// What kind of work an instruction is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Class {
    /// Integer and bit arithmetic, comparisons of integers and logic on predicates included.
    Integer,
    /// Arithmetic on `f16`, `bf16` and pairs of them.
    Float16,
    /// Arithmetic on `f32`.
    Float32,
    /// Arithmetic on `f64`.
    Float64,
    /// `cvt`.
    Conversion,
    /// Values that only change their place: `mov`, `selp`, `cvta`.
    Move,
    /// Loads and stores of global memory, `cp.async` included.
    Global,
    /// Loads and stores of shared memory.
    Shared,
    /// Loads and stores of local memory, and of the parameters of functions.
    Local,
    /// Loads of constant memory.
    Constant,
    /// Loads of the kernel's parameters.
    Parameter,
    /// `atom` and `red`, whatever the space.
    Atomic,
    /// Branches, calls, returns and exits.
    Control,
    /// Barriers of the block, `mbarrier` included.
    Barrier,
    /// Operations between the lanes of a warp: `shfl`, `vote`, `match`, `redux`, `activemask`, `bar.warp.sync`.
    Warp,
    /// Fences, hints to caches.
    Other,
}

impl Class {
    /// All classes, in the order of reports.
    pub const ALL: [Self; 16] = [
        Self::Integer,
        Self::Float16,
        Self::Float32,
        Self::Float64,
        Self::Conversion,
        Self::Move,
        Self::Global,
        Self::Shared,
        Self::Local,
        Self::Constant,
        Self::Parameter,
        Self::Atomic,
        Self::Control,
        Self::Barrier,
        Self::Warp,
        Self::Other,
    ];

    /// A word for reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Integer => "integer",
            Self::Float16 => "float16",
            Self::Float32 => "float32",
            Self::Float64 => "float64",
            Self::Conversion => "conversion",
            Self::Move => "move",
            Self::Global => "global",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Constant => "constant",
            Self::Parameter => "parameter",
            Self::Atomic => "atomic",
            Self::Control => "control",
            Self::Barrier => "barrier",
            Self::Warp => "warp",
            Self::Other => "other",
        }
    }

    /// The class of a load or store in a space that is known.
    pub(crate) fn of_space(space: Space) -> Self {
        match space {
            Space::Global => Self::Global,
            Space::Shared => Self::Shared,
            Space::Local | Space::Param => Self::Local,
            Space::Const => Self::Constant,
        }
    }

    /// The class of an instruction that is no load or store.
    pub(crate) fn of(instr: &Instr) -> Self {
        let has = |word: &str| instr.modifiers.iter().any(|modifier| &**modifier == word);
        match &*instr.opcode {
            "atom" | "red" => Self::Atomic,
            "cp" if has("shared") || has("global") => Self::Global,
            "bra" | "brx" | "ret" | "exit" | "call" | "trap" | "brkpt" | "nanosleep" => Self::Control,
            "bar" | "barrier" if !has("warp") => Self::Barrier,
            "mbarrier" => Self::Barrier,
            "bar" | "barrier" | "shfl" | "vote" | "match" | "redux" | "activemask" | "elect" => Self::Warp,
            "cvt" => Self::Conversion,
            "mov" | "selp" | "cvta" => Self::Move,
            "fence" | "membar" | "prefetch" | "prefetchu" | "discard" | "applypriority" | "cp" => Self::Other,
            _ => Self::of_types(instr),
        }
    }

    /// Arithmetic is what its widest floating-point type says, where it has one.
    fn of_types(instr: &Instr) -> Self {
        let types = instr.modifiers.iter().filter_map(|modifier| Type::from_name(modifier));
        types
            .filter(|ty| ty.is_float())
            .map(|ty| match ty {
                Type::F64 => Self::Float64,
                Type::F32 => Self::Float32,
                _ => Self::Float16,
            })
            .max_by_key(|class| *class as u8)
            .unwrap_or(Self::Integer)
    }
}

/// Instructions by class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ByClass {
    issued: [u64; Class::ALL.len()],
    lanes: [u64; Class::ALL.len()],
}

impl ByClass {
    /// Warp instructions of a class.
    #[must_use]
    pub fn issued(&self, class: Class) -> u64 {
        self.issued[class as usize]
    }

    /// Lane instructions of a class: active lanes, summed over its warp instructions.
    #[must_use]
    pub fn lanes(&self, class: Class) -> u64 {
        self.lanes[class as usize]
    }

    pub(crate) fn add(&mut self, class: Class, times: u64, lanes: u32) {
        self.issued[class as usize] += times;
        self.lanes[class as usize] += times * u64::from(lanes);
    }

    /// Lanes that were counted and will be counted again.
    pub(crate) fn take_back(&mut self, class: Class, times: u64, lanes: u32) {
        self.lanes[class as usize] -= times * u64::from(lanes);
    }
}

impl std::ops::AddAssign for ByClass {
    fn add_assign(&mut self, other: Self) {
        let add = |to: &mut [u64], from: &[u64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        add(&mut self.issued, &other.issued);
        add(&mut self.lanes, &other.lanes);
    }
}

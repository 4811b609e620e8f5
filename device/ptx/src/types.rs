//! What the types of a module know of themselves: names, sizes, look-ups.

use std::fmt;

use crate::module::{Function, Global, Module, Param, Prototype, PtxVersion, Space, Target, Type};

macro_rules! types {
    ($($variant:ident $name:literal $bytes:literal),* $(,)?) => {
        impl Type {
            /// The type of a name without its dot: `f32`.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }

            /// The name without its dot.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// Size in bytes; 1 for a predicate.
            #[must_use]
            pub fn bytes(self) -> u32 {
                match self { $(Self::$variant => $bytes,)* }
            }
        }
    };
}

types! {
    Pred "pred" 1,
    B8 "b8" 1, B16 "b16" 2, B32 "b32" 4, B64 "b64" 8, B128 "b128" 16,
    U8 "u8" 1, U16 "u16" 2, U32 "u32" 4, U64 "u64" 8,
    S8 "s8" 1, S16 "s16" 2, S32 "s32" 4, S64 "s64" 8,
    F16 "f16" 2, F16x2 "f16x2" 4, BF16 "bf16" 2, BF16x2 "bf16x2" 4, F32 "f32" 4, F64 "f64" 8,
}

impl Type {
    /// True for `.s8` to `.s64`.
    #[must_use]
    pub fn is_signed(self) -> bool {
        matches!(self, Self::S8 | Self::S16 | Self::S32 | Self::S64)
    }

    /// True for the floating-point types, packed ones included.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F16x2 | Self::BF16 | Self::BF16x2 | Self::F32 | Self::F64)
    }
}

impl Space {
    /// The space of a directive or modifier without its dot; `shared::cta` is `shared`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "global" => Self::Global,
            "const" => Self::Const,
            "shared" | "shared::cta" => Self::Shared,
            "local" => Self::Local,
            "param" | "param::entry" | "param::func" => Self::Param,
            _ => return None,
        })
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Global => "global",
            Self::Const => "constant",
            Self::Shared => "shared",
            Self::Local => "local",
            Self::Param => "parameter",
        })
    }
}

impl fmt::Display for PtxVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sm_{}", self.sm)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

impl Module {
    /// The function or kernel of that name.
    #[must_use]
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|function| &*function.name == name)
    }

    /// The module-scope variable of that name.
    #[must_use]
    pub fn global(&self, name: &str) -> Option<&Global> {
        self.globals.iter().find(|global| &*global.name == name)
    }
}

impl Function {
    /// The shape of a call of this function.
    #[must_use]
    pub fn prototype(&self) -> Prototype {
        let shapes = |params: &[Param]| params.iter().map(|param| self.shape(*param)).collect();
        Prototype { returns: shapes(&self.returns), params: shapes(&self.params), noreturn: self.noreturn }
    }

    /// Alignment and size in bytes of a parameter.
    #[must_use]
    pub fn shape(&self, param: Param) -> (u32, u64) {
        match param {
            Param::Var(id) => (self.vars[id.0 as usize].align, self.vars[id.0 as usize].size),
            Param::Reg(id) => {
                let bytes = self.regs[id.0 as usize].ty.bytes();
                (bytes, u64::from(bytes))
            }
        }
    }
}

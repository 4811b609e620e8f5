//! From operands of the PTX module to slots: frame layout, constants, addresses.

use std::collections::HashMap;

use gridstride_ptx::{AddressBase, Function, Instr, Module, Operand, Param, RegId, Space, Symbol, Type, VarId};

use crate::check::note::Addressed;
use crate::code::{Constant, FrameLayout, Guard, Place, Special, Width};
use crate::lane::{Level, Slot};
use crate::layout::Layout;
use crate::ops::Reason;

/// Decodes one function: gives registers and constants their slots, and hands operands to the families in `ops`.
pub(crate) struct Decoder<'a> {
    pub(crate) module: &'a Module,
    pub(crate) function: &'a Function,
    layout: &'a Layout,
    level: Level,
    frame: FrameLayout,
    regs: Vec<Slot>,
    constants: HashMap<(Width, u64), Slot>,
    specials: HashMap<(Width, Special), Slot>,
    locals: HashMap<(Width, u32), Slot>,
    /// Offset of each variable that lives in local memory.
    places: HashMap<VarId, u32>,
    local_bytes: u32,
    scratch: HashMap<Width, Slot>,
    carry: Option<Slot>,
    /// Address operands of the instruction at hand, for [`crate::check::note`].
    pub(crate) addressed: Vec<Addressed>,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(module: &'a Module, function: &'a Function, layout: &'a Layout, level: Level) -> Self {
        let mut decoder = Self {
            module,
            function,
            layout,
            level,
            frame: FrameLayout::default(),
            regs: Vec::new(),
            constants: HashMap::new(),
            specials: HashMap::new(),
            locals: HashMap::new(),
            places: HashMap::new(),
            local_bytes: 0,
            scratch: HashMap::new(),
            carry: None,
            addressed: Vec::new(),
        };
        decoder.regs = function.regs.iter().map(|reg| decoder.place(width(reg.ty))).collect();
        decoder.place_variables();
        decoder
    }

    /// Local variables and the parameters of calls; a kernel's own parameters are in the parameter buffer instead.
    fn place_variables(&mut self) {
        let kernel_params: Vec<VarId> = if self.function.is_entry { self.param_vars().collect() } else { Vec::new() };
        for (at, var) in self.function.vars.iter().enumerate() {
            let id = VarId(u32::try_from(at).expect("few variables"));
            if matches!(var.space, Space::Local | Space::Param) && !kernel_params.contains(&id) {
                let offset = self.local_bytes.next_multiple_of(var.align.max(1));
                self.places.insert(id, offset);
                // Too much is an error later; until then it only must not overflow.
                self.local_bytes = offset.saturating_add(u32::try_from(var.size).unwrap_or(u32::MAX)).min(1 << 30);
            }
        }
        self.local_bytes = self.local_bytes.next_multiple_of(16);
    }

    fn param_vars(&self) -> impl Iterator<Item = VarId> + 'a {
        let function = self.function;
        function.params.iter().filter_map(|param| match param {
            Param::Var(id) => Some(*id),
            Param::Reg(_) => None,
        })
    }

    /// The finished frame, the slots of the registers, and the bytes of local memory.
    pub(crate) fn finish(self) -> (FrameLayout, Vec<Slot>, u32) {
        (self.frame, self.regs, self.local_bytes)
    }

    /// Which copies of the lane functions to use.
    pub(crate) fn level(&self) -> Level {
        self.level
    }

    /// The operands, if there are exactly `N`.
    pub(crate) fn operands<'i, const N: usize>(&self, instr: &'i Instr) -> Result<[&'i Operand; N], Reason> {
        let found = instr.operands.len();
        let all: Vec<&Operand> = instr.operands.iter().collect();
        all.try_into().map_err(|_| format!("{N} operands expected, {found} found"))
    }

    /// Slot of a value to be read as `ty`: a register of that width, an immediate, a special register, an address. For
    /// `Type::Pred` a predicate register; `!p` is an error here, see [`Decoder::src_pred`].
    pub(crate) fn src(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Reason> {
        match operand {
            Operand::Reg(reg) => self.reg_of(*reg, ty),
            _ => self.constant_of(operand, ty),
        }
    }

    /// Slot of a register of any width, and its declared type (operands that may be wider than the instruction type).
    pub(crate) fn src_any(&mut self, operand: &Operand, ty: Type) -> Result<(Slot, Type), Reason> {
        match operand {
            Operand::Reg(reg) => Ok((self.regs[reg.0 as usize], self.type_of(*reg))),
            _ => Ok((self.constant_of(operand, ty)?, ty)),
        }
    }

    /// A predicate operand (`p`, `!p`, or a constant) as a guard.
    pub(crate) fn src_pred(&mut self, operand: &Operand) -> Result<Guard, Reason> {
        match operand {
            Operand::NotReg(reg) => Ok(Guard::of(self.reg_of(*reg, Type::Pred)?, true)),
            _ => Ok(Guard::of(self.src(operand, Type::Pred)?, false)),
        }
    }

    /// Slot of a destination of exactly `ty`'s width; for `_` a scratch slot.
    pub(crate) fn dst(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Reason> {
        match operand {
            Operand::Reg(reg) => self.reg_of(*reg, ty),
            Operand::Sink => Ok(self.scratch(ty)),
            _ => Err("the destination is not a register".into()),
        }
    }

    /// Slot and declared type of a destination that may be wider than `ty` (`ld`, `cvt`); for `_` a scratch slot of `ty`.
    pub(crate) fn dst_any(&mut self, operand: &Operand, ty: Type) -> Result<(Slot, Type), Reason> {
        match operand {
            Operand::Reg(reg) => Ok((self.regs[reg.0 as usize], self.type_of(*reg))),
            Operand::Sink => Ok((self.scratch(ty), ty)),
            _ => Err("the destination is not a register".into()),
        }
    }

    /// Declared type of a register.
    pub(crate) fn type_of(&self, reg: RegId) -> Type {
        self.function.regs[reg.0 as usize].ty
    }

    /// A slot for results that nothing reads.
    pub(crate) fn scratch(&mut self, ty: Type) -> Slot {
        let width = width(ty);
        if let Some(slot) = self.scratch.get(&width) {
            return *slot;
        }
        let slot = self.place(width);
        self.scratch.insert(width, slot);
        slot
    }

    /// The carry flag of `add.cc` and its relatives, a predicate.
    pub(crate) fn carry(&mut self) -> Slot {
        if self.carry.is_none() {
            self.carry = Some(self.place(Width::Pred));
        }
        self.carry.expect("placed just now")
    }

    /// A constant of `ty`'s width with these bits.
    pub(crate) fn constant(&mut self, bits: u64, ty: Type) -> Slot {
        let width = width(ty);
        let bits = match width {
            Width::Pred => {
                if bits != 0 {
                    u64::from(u32::MAX)
                } else {
                    0
                }
            }
            Width::W16 => bits & 0xFFFF,
            Width::W32 => bits & 0xFFFF_FFFF,
            Width::W64 | Width::W128 => bits,
        };
        if let Some(slot) = self.constants.get(&(width, bits)) {
            return *slot;
        }
        let slot = self.place(width);
        self.constants.insert((width, bits), slot);
        self.frame.constants.push(Constant { slot, width, bits });
        slot
    }

    /// `[base+offset]` in a state space (`None`: generic). Addresses of variables are resolved: for `.shared` the offset in
    /// the block's shared memory, for `.local` and function-scope `.param` the offset in the lane's local memory, for
    /// `.global` and `.const` the address. The parameters of a *kernel* are the exception, see [`MemoryOperand::KernelParam`].
    pub(crate) fn address(&mut self, operand: &Operand, space: Option<Space>) -> Result<MemoryOperand, Reason> {
        let Operand::Address(base, offset) = operand else {
            return Err("an address in brackets expected".into());
        };
        match base {
            AddressBase::Reg(reg) => {
                let ty = self.type_of(*reg);
                let wide = match ty.bytes() {
                    8 => true,
                    4 if matches!(space, Some(Space::Shared | Space::Local | Space::Const | Space::Param)) => false,
                    _ => return Err(format!("a register of type `.{}` as an address", ty.name())),
                };
                Ok(MemoryOperand::Based { slot: self.regs[reg.0 as usize], wide, offset: *offset })
            }
            AddressBase::Symbol(symbol) => {
                if let Some(param) = self.kernel_param(*symbol) {
                    let at = i64::from(param) + offset;
                    let at = u32::try_from(at).map_err(|_| "an address before the parameters".to_owned())?;
                    return Ok(MemoryOperand::KernelParam(at));
                }
                let slot = self.address_of(*symbol, 0, Type::U64)?;
                Ok(MemoryOperand::Based { slot, wide: true, offset: *offset })
            }
            AddressBase::Absolute => {
                Ok(MemoryOperand::Based { slot: self.constant(0, Type::U64), wide: true, offset: *offset })
            }
        }
    }

    /// Where an operand of a call is.
    pub(crate) fn place_of(&mut self, operand: &Operand) -> Result<Place, Reason> {
        match operand {
            Operand::Reg(reg) => Ok(Place::Reg(self.regs[reg.0 as usize], width(self.type_of(*reg)))),
            Operand::Symbol(Symbol::Var(id), 0) => self.place_of_var(*id),
            Operand::Int(_) | Operand::F64(_) => Ok(Place::Reg(self.src(operand, Type::B64)?, Width::W64)),
            Operand::F32(_) => Ok(Place::Reg(self.src(operand, Type::B32)?, Width::W32)),
            _ => Err("an argument that is neither a register nor a parameter variable".into()),
        }
    }

    /// Where a call leaves a result; `_` for nowhere.
    pub(crate) fn place_of_result(&mut self, operand: &Operand) -> Result<Place, Reason> {
        match operand {
            Operand::Sink => Ok(Place::Reg(self.scratch(Type::B64), Width::W64)),
            Operand::Reg(_) | Operand::Symbol(..) => self.place_of(operand),
            _ => Err("a result that is neither a register nor a parameter variable".into()),
        }
    }

    pub(crate) fn place_of_param(&mut self, param: Param) -> Result<Place, Reason> {
        match param {
            Param::Reg(reg) => Ok(Place::Reg(self.regs[reg.0 as usize], width(self.type_of(reg)))),
            Param::Var(id) => self.place_of_var(id),
        }
    }

    fn place_of_var(&self, id: VarId) -> Result<Place, Reason> {
        let size = u32::try_from(self.function.vars[id.0 as usize].size).map_err(|_| "a parameter too large")?;
        let offset = *self.places.get(&id).ok_or("a parameter of the kernel as an argument")?;
        Ok(Place::Local { offset, size })
    }

    fn reg_of(&self, reg: RegId, ty: Type) -> Result<Slot, Reason> {
        let found = self.type_of(reg);
        if width(found) == width(ty) {
            return Ok(self.regs[reg.0 as usize]);
        }
        let name = &self.function.regs[reg.0 as usize].name;
        Err(format!("`{name}` is `.{}`, and the instruction needs `.{}`", found.name(), ty.name()))
    }

    fn constant_of(&mut self, operand: &Operand, ty: Type) -> Result<Slot, Reason> {
        let bits = match operand {
            Operand::Int(value) => match ty {
                Type::F32 => u64::from((*value as f32).to_bits()),
                Type::F64 => (*value as f64).to_bits(),
                _ => value.cast_unsigned(),
            },
            Operand::F32(bits) => match ty {
                Type::F64 => f64::from(f32::from_bits(*bits)).to_bits(),
                _ => u64::from(*bits),
            },
            Operand::F64(bits) => match ty {
                Type::F32 | Type::B32 => u64::from((f64::from_bits(*bits) as f32).to_bits()),
                _ => *bits,
            },
            Operand::Special(name, axis) => return self.special(name, *axis, ty),
            Operand::Symbol(symbol, offset) => return self.address_of(*symbol, *offset, ty),
            _ => return Err("an operand of a kind that does not belong here".into()),
        };
        Ok(self.constant(bits, ty))
    }

    fn special(&mut self, name: &str, axis: Option<char>, ty: Type) -> Result<Slot, Reason> {
        let special = crate::special::find(name, axis).ok_or_else(|| {
            format!("the special register `%{name}`{}", axis.map_or(String::new(), |a| format!(".{a}")))
        })?;
        let width = width(ty);
        if let Some(slot) = self.specials.get(&(width, special)) {
            return Ok(*slot);
        }
        let slot = self.place(width);
        self.specials.insert((width, special), slot);
        self.frame.specials.push((slot, width, special));
        Ok(slot)
    }

    fn kernel_param(&self, symbol: Symbol) -> Option<u32> {
        let Symbol::Var(id) = symbol else { return None };
        if !self.function.is_entry {
            return None;
        }
        let at = self.param_vars().position(|param| param == id)?;
        Some(crate::program::param_layout(self.function).get(at)?.offset)
    }

    /// A slot with the address of a symbol in its own space.
    fn address_of(&mut self, symbol: Symbol, offset: i64, ty: Type) -> Result<Slot, Reason> {
        let add = |address: u64| address.wrapping_add(offset.cast_unsigned());
        match symbol {
            Symbol::Global(id) => {
                let address = self
                    .layout
                    .global(id)
                    .ok_or_else(|| format!("`{}`, which no one defines", self.module.globals[id.0 as usize].name))?;
                Ok(self.constant(add(address), ty))
            }
            Symbol::Func(id) => Ok(self.constant(add(crate::program::function_address(id)), ty)),
            Symbol::Var(id) => {
                if let Some(address) = self.layout.shared_var(&self.function.name, id) {
                    return Ok(self.constant(add(u64::from(address)), ty));
                }
                let place = match (self.places.get(&id), self.kernel_param(symbol)) {
                    (Some(place), _) => *place,
                    (None, Some(param)) => self.param_copy() + param,
                    (None, None) => return Err("a variable without a place".into()),
                };
                let at = u32::try_from(i64::from(place) + offset).map_err(|_| "an address before its variable")?;
                Ok(self.local_address(at, ty))
            }
        }
    }

    /// Where the kernel's parameters lie in local memory, for kernels that take the address of one.
    fn param_copy(&mut self) -> u32 {
        if self.frame.param_copy.is_none() {
            let bytes = crate::program::param_layout(self.function).last().map_or(0, |last| last.offset + last.size);
            self.frame.param_copy = Some(self.local_bytes);
            self.local_bytes = (self.local_bytes + bytes).next_multiple_of(16);
        }
        self.frame.param_copy.expect("placed just now")
    }

    fn local_address(&mut self, at: u32, ty: Type) -> Slot {
        let width = width(ty);
        if let Some(slot) = self.locals.get(&(width, at)) {
            return *slot;
        }
        let slot = self.place(width);
        self.locals.insert((width, at), slot);
        self.frame.locals.push((slot, width, at));
        slot
    }

    fn place(&mut self, width: Width) -> Slot {
        let at = self.frame.bytes.next_multiple_of(width.bytes().min(64));
        self.frame.bytes = at + width.bytes();
        Slot(at)
    }
}

/// The register width that values of a type need.
pub(crate) fn width(ty: Type) -> Width {
    match ty {
        Type::Pred => Width::Pred,
        _ => match ty.bytes() {
            1 | 2 => Width::W16,
            4 => Width::W32,
            8 => Width::W64,
            _ => Width::W128,
        },
    }
}

/// A decoded address operand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MemoryOperand {
    /// Register (or constant) slot plus offset. `wide`: 64-bit elements, else 32-bit ones.
    Based { slot: Slot, wide: bool, offset: i64 },
    /// Byte offset in the kernel's parameter buffer (`LaunchContext::params`).
    KernelParam(u32),
}

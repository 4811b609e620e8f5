//! `ld`, `ldu`.

use std::mem::MaybeUninit;

use gridstride_ptx::{Instr, Operand, Type};

use super::place::{Form, Found, Order, Place, Unit, in_a_row};
use super::{Target, after, before, by_level, log2, pack, target, unpack};
use crate::decode::{Decoder, width};
use crate::fault::{Access, FaultKind};
use crate::lane::{Args, ExecFn, FULL, LANES, Lane, LaneFault, Lanes, Level, SHARED_WINDOW, Step};
use crate::memory::raw::{Element, Narrow};
use crate::memory::rows;
use crate::ops::modifiers::Modifiers;
use crate::ops::{Decoded, Reason};

/// A value in memory becomes one in a register: the same bits, or more of them.
pub(super) trait Widen<R>: Element {
    fn widen(self) -> R;
}
macro_rules! widen {
    ($($e:ty => $($r:ty)*;)*) => { $($(
        impl Widen<$r> for $e {
            #[inline(always)]
            fn widen(self) -> $r {
                self as $r
            }
        }
    )*)* };
}
widen! {
    u8 => u16 u32 u64;
    i8 => u16 u32 u64;
    u16 => u16 u32 u64;
    i16 => u32 u64;
    u32 => u32 u64;
    i32 => u64;
    u64 => u64;
    u128 => u128;
}

/// Loads `N` elements `E` a lane into `N` registers `R`. Slots: address, destinations, …, form. `WEAK`: plain loads by
/// 64-bit addresses, for which a row in a range seen lately needs no more than a few comparisons.
#[inline(always)]
unsafe fn load_body<E: Widen<R>, R: Lane, const N: usize, const WEAK: bool, U: Unit>(
    lanes: &mut Lanes<'_>,
    args: &Args,
) -> Step {
    let size = (N * size_of::<E>()) as u64;
    let form = Form::of(args.slots[5]);
    let mut at = [0; LANES];
    let found = if WEAK {
        // SAFETY: for WEAK the decoder gives a 64-bit register.
        match unsafe { quick::<LANES>(lanes, args, size, Access::Read) } {
            Some(found) => found,
            // SAFETY: by the caller.
            None => unsafe { slow::<U>(lanes, args, form, size, &mut at)? },
        }
    } else {
        before(lanes, form.order());
        // SAFETY: by the caller.
        unsafe { slow::<U>(lanes, args, form, size, &mut at)? }
    };
    let step = size_of::<E>() as u64;
    // SAFETY: the places were found to be alive and aligned, and the registers are `R` wide by the decoder.
    unsafe {
        match found {
            Found::Row(from) if N == 1 && size_of::<E>() == size_of::<R>() => {
                U::copy::<E, LANES>(from, lanes.frame.add(args.slots[1].0 as usize) as u64);
            }
            // A row is of all lanes, so whole registers are written.
            Found::Row(from) => {
                let mut row = MaybeUninit::<[[E; N]; LANES]>::uninit();
                copy_row::<E, N, U>(from, row.as_mut_ptr() as u64);
                let row = row.assume_init_ref();
                let registers =
                    std::array::from_fn::<*mut u8, N, _>(|part| lanes.frame.add(args.slots[1 + part].0 as usize));
                if size_of::<E>() == size_of::<R>() {
                    rows::split(row, registers.map(<*mut u8>::cast));
                } else {
                    for part in 0..N {
                        let register = registers[part].cast::<R>();
                        for (lane, elements) in row.iter().enumerate() {
                            register.add(lane).write(elements[part].widen());
                        }
                    }
                }
            }
            Found::One(from) => {
                for part in 0..N {
                    lanes.set(args.slots[1 + part], [E::load(from + part as u64 * step).widen(); LANES]);
                }
            }
            Found::Each => {
                for part in 0..N {
                    let mut values = [R::default(); LANES];
                    for lane in 0..LANES {
                        values[lane] = E::load(at[lane] + part as u64 * step).widen();
                    }
                    lanes.set(args.slots[1 + part], values);
                }
            }
        }
    }
    if !WEAK {
        after(form.order());
    }
    Ok(())
}
by_level!(load [E: Widen<R>, R: Lane, const N: usize, const WEAK: bool] [E, R, N, WEAK,] => load_body);

/// A row of `LANES` times `N` elements.
#[inline(always)]
pub(super) unsafe fn copy_row<E: Element, const N: usize, U: Unit>(from: u64, to: u64) {
    // SAFETY: by the caller.
    unsafe {
        match N {
            1 => U::copy::<E, LANES>(from, to),
            2 => U::copy::<E, { 2 * LANES }>(from, to),
            4 => U::copy::<E, { 4 * LANES }>(from, to),
            _ => U::copy::<E, { 8 * LANES }>(from, to),
        }
    }
}

/// The two cases that loops are made of: a whole warp side by side, and a lone lane.
#[inline(always)]
pub(super) unsafe fn quick<const ALL: usize>(
    lanes: &mut Lanes<'_>,
    args: &Args,
    size: u64,
    access: Access,
) -> Option<Found> {
    // SAFETY: by the caller, the register has 64 bits a lane; nothing writes to it while it is borrowed.
    let register = unsafe { &*lanes.frame.add(args.slots[0].0 as usize).cast::<[u64; LANES]>() };
    let offset = args.imm.cast_unsigned();
    if lanes.mask == FULL {
        let first = register[0].wrapping_add(offset);
        // Generic addresses in the windows above go the other way.
        let good = in_a_row(register, size)
            && first & (size - 1) == 0
            && first < SHARED_WINDOW
            && lanes.recent.holds(lanes.launch, first, size * ALL as u64, access);
        return good.then_some(Found::Row(first));
    }
    if lanes.mask & (lanes.mask - 1) == 0 {
        let only = register[lanes.mask.trailing_zeros() as usize % LANES].wrapping_add(offset);
        let good =
            only & (size - 1) == 0 && only < SHARED_WINDOW && lanes.recent.holds(lanes.launch, only, size, access);
        return good.then_some(Found::One(only));
    }
    None
}

#[inline(always)]
unsafe fn slow<U: Unit>(
    lanes: &mut Lanes<'_>,
    args: &Args,
    form: Form,
    size: u64,
    at: &mut [u64; LANES],
) -> Result<Found, Box<LaneFault>> {
    let place = Place { slot: args.slots[0], offset: args.imm, form, size, access: Access::Read };
    // SAFETY: by the caller.
    unsafe { U::find(lanes, &place, at, &mut false) }
}

/// Any number of elements of any size into registers of any width. Slots: address, four packed pairs of destinations,
/// form; see [`Layout`].
unsafe fn load_any(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let form = Form::of(args.slots[5]);
    let layout = Layout(form.own());
    let bytes = 1 << layout.log2();
    let mut at = [0; LANES];
    before(lanes, form.order());
    // SAFETY: by the caller.
    let found = unsafe { slow::<Narrow>(lanes, args, form, bytes * layout.count() as u64, &mut at)? };
    if let Found::Row(from) = found {
        at = std::array::from_fn(|lane| from + (lane * layout.count()) as u64 * bytes);
    } else if let Found::One(from) = found {
        at = [from; LANES];
    }
    for part in 0..layout.count() {
        let from = at.map(|from| from + part as u64 * bytes);
        let slot = unpack(args, part);
        // SAFETY: the places were found to be alive and aligned; the layout says how wide each register is.
        unsafe {
            let values: [u64; LANES] = match (layout.log2(), layout.signed()) {
                (0, false) => from.map(|at| u8::load(at).into()),
                (0, true) => from.map(|at| i8::load(at) as u64),
                (1, false) => from.map(|at| u16::load(at).into()),
                (1, true) => from.map(|at| i16::load(at) as u64),
                (2, false) => from.map(|at| u32::load(at).into()),
                (2, true) => from.map(|at| i32::load(at) as u64),
                (3, _) => from.map(|at| u64::load(at)),
                _ => {
                    lanes.set(slot, from.map(|at| u128::load(at)));
                    continue;
                }
            };
            match layout.width_log2(part) {
                1 => lanes.set(slot, values.map(|value| value as u16)),
                2 => lanes.set(slot, values.map(|value| value as u32)),
                3 => lanes.set(slot, values),
                _ => lanes.set(slot, values.map(u128::from)),
            }
        }
    }
    after(form.order());
    Ok(())
}

/// What [`load_any`] and its counterpart for stores need to know, in the 24 bits that a form has for it.
#[derive(Clone, Copy)]
pub(super) struct Layout(u32);

impl Layout {
    pub(super) fn new(ty: Type, registers: &[Type]) -> Self {
        let mut bits = log2(ty) | u32::from(ty.is_signed()) << 3 | (registers.len() as u32 - 1) << 4;
        for (part, register) in registers.iter().enumerate() {
            // Registers have 16 bits at least.
            bits |= (log2(*register).max(1) - 1) << (8 + 2 * part);
        }
        Self(bits)
    }

    pub(super) fn bits(self) -> u32 {
        self.0
    }

    pub(super) fn of(bits: u32) -> Self {
        Self(bits)
    }

    pub(super) fn log2(self) -> u32 {
        self.0 & 7
    }

    fn signed(self) -> bool {
        self.0 & 8 != 0
    }

    pub(super) fn count(self) -> usize {
        (self.0 >> 4 & 7) as usize + 1
    }

    pub(super) fn width_log2(self, part: usize) -> u32 {
        (self.0 >> (8 + 2 * part) & 3) + 1
    }
}

/// Loads from the kernel's parameters, the same for all lanes. Slots: destinations; the offset in `imm`.
unsafe fn load_param<E: Widen<R>, R: Lane, const N: usize>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let size = size_of::<E>();
    for part in 0..N {
        let from = args.imm as usize + part * size;
        let Some(bytes) = lanes.launch.params.get(from..from + size) else {
            let kind = FaultKind::OutOfBounds {
                space: gridstride_ptx::Space::Param,
                access: Access::Read,
                address: from as u64,
                size: size as u32,
                nearest: None,
                limit: Some(lanes.launch.params.len() as u32),
            };
            return Err(Box::new(LaneFault { lane: lanes.mask.trailing_zeros(), kind }));
        };
        // SAFETY: `bytes` are as many as an E has, for which all bits are valid; the register is R wide by the decoder.
        unsafe {
            let value = bytes.as_ptr().cast::<E>().read_unaligned();
            lanes.set(args.slots[part], [value.widen(); LANES]);
        }
    }
    Ok(())
}

/// `ld{.order}{.space}{.hints}{.vec}.type d, [a]{, policy}`
pub(super) fn decode(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let space = words.space();
    let order = words.order(Order::Weak)?;
    if matches!(order, Order::Release | Order::AcqRel) {
        return Err("a load that releases".into());
    }
    let policy = words.cache_hints();
    // `.unified` only promises that the address is the same on host and device, as all are here.
    words.take("unified");
    let (count, ty) = (words.vector(), words.ty()?);
    words.done()?;
    let (([out, address], false) | ([out, address, _], true)) = (&instr.operands[..], policy) else {
        return Err("a destination and an address expected".into());
    };
    let mut slots = Vec::new();
    let mut types = Vec::new();
    for out in elements(out, count)? {
        let (slot, register) = decoder.dst_any(out, ty)?;
        if register.bytes() < ty.bytes() || register == Type::Pred {
            return Err(format!("a destination of type `.{}`", register.name()));
        }
        slots.push(slot);
        types.push(register);
    }
    let same = types.iter().all(|register| width(*register) == width(types[0]));
    match target(decoder, address, space)? {
        Target::KernelParam(at) => {
            if order != Order::Weak && order != Order::Relaxed {
                return Err("an acquiring load of a parameter".into());
            }
            let exec = same.then(|| param_exec(ty, types[0], count)).flatten();
            let exec = exec.ok_or("a vector of this type and these registers from the parameters")?;
            Ok(Decoded::Lane(exec, Args::of(&slots, i64::from(at))))
        }
        Target::Place { slot, offset, narrow, space } => {
            let form = Form::new(space, narrow, order);
            let exec = same.then(|| exec(decoder.level(), ty, types[0], count, form.is_quick())).flatten();
            let mut args = Args::of(&[slot], offset);
            match exec {
                Some(exec) => {
                    args.slots[1..=count].copy_from_slice(&slots);
                    args.slots[5] = form.slot();
                    Ok(Decoded::Lane(exec, args))
                }
                None => {
                    args.slots[1..5].copy_from_slice(&pack(&slots)?);
                    args.slots[5] = form.with(Layout::new(ty, &types).bits()).slot();
                    Ok(Decoded::Lane(load_any, args))
                }
            }
        }
    }
}

/// The registers of a vector operand, or the only one.
pub(super) fn elements(operand: &Operand, count: usize) -> Result<Vec<&Operand>, Reason> {
    match operand {
        Operand::Vector(parts) if parts.len() == count => Ok(parts.iter().collect()),
        Operand::Vector(parts) => Err(format!("{} registers for {count} elements", parts.len())),
        other if count == 1 => Ok(vec![other]),
        _ => Err("a vector of registers expected".into()),
    }
}

/// Calls `$call!(E, R, N)` for the combinations of element, register and count that have functions of their own.
macro_rules! combinations {
    ($key:expr, $call:ident) => {
        match $key {
            (1, false, 2, 1) => $call!(u8, u16, 1),
            (1, true, 2, 1) => $call!(i8, u16, 1),
            (1, false, 4, 1) => $call!(u8, u32, 1),
            (1, true, 4, 1) => $call!(i8, u32, 1),
            (1, false, 8, 1) => $call!(u8, u64, 1),
            (1, true, 8, 1) => $call!(i8, u64, 1),
            (2, _, 2, 1) => $call!(u16, u16, 1),
            (2, false, 4, 1) => $call!(u16, u32, 1),
            (2, true, 4, 1) => $call!(i16, u32, 1),
            (2, false, 8, 1) => $call!(u16, u64, 1),
            (2, true, 8, 1) => $call!(i16, u64, 1),
            (4, _, 4, 1) => $call!(u32, u32, 1),
            (4, false, 8, 1) => $call!(u32, u64, 1),
            (4, true, 8, 1) => $call!(i32, u64, 1),
            (8, _, 8, 1) => $call!(u64, u64, 1),
            (16, _, 16, 1) => $call!(u128, u128, 1),
            (1, false, 2, 2) => $call!(u8, u16, 2),
            (1, false, 2, 4) => $call!(u8, u16, 4),
            (2, _, 2, 2) => $call!(u16, u16, 2),
            (2, _, 2, 4) => $call!(u16, u16, 4),
            (4, _, 4, 2) => $call!(u32, u32, 2),
            (4, _, 4, 4) => $call!(u32, u32, 4),
            (8, _, 8, 2) => $call!(u64, u64, 2),
            (8, _, 8, 4) => $call!(u64, u64, 4),
            _ => None,
        }
    };
}
pub(super) use combinations;

/// Bytes of an element of memory, sign extension, bytes of an element of a register, elements a lane.
pub(super) fn key(ty: Type, register: Type, count: usize) -> (u32, bool, u32, usize) {
    (ty.bytes(), ty.is_signed(), register.bytes().max(2), count)
}

/// The function of its own that a combination of element, register and count has, if it has one.
pub(super) fn exec(level: Level, ty: Type, register: Type, count: usize, quick: bool) -> Option<ExecFn> {
    macro_rules! pick {
        ($e:ty, $r:ty, $n:literal) => {
            Some(if quick { load::<$e, $r, $n, true>(level) } else { load::<$e, $r, $n, false>(level) })
        };
    }
    combinations!(key(ty, register, count), pick)
}

fn param_exec(ty: Type, register: Type, count: usize) -> Option<ExecFn> {
    macro_rules! pick {
        ($e:ty, $r:ty, $n:literal) => {
            Some(load_param::<$e, $r, $n> as ExecFn)
        };
    }
    combinations!(key(ty, register, count), pick)
}

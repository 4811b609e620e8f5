//! Loads and stores by addresses whose 32 values are known from the first (see [`crate::linear`]).

use std::mem::MaybeUninit;

use gridstride_ptx::{AddressBase, Function, Instr, Operand, Param, Space, Symbol, Type};

use super::by_level;
use super::load::{Widen, combinations, copy_row, key};
use super::place::{Form, Order, Unit};
use super::store::{Narrowed, store_combinations};
use crate::decode::width;
use crate::fault::Access;
use crate::lane::{Args, ExecFn, LANES, Lane, Lanes, Level, SHARED_WINDOW, Step, WINDOW_BYTES};
use crate::memory::raw::Element;
use crate::memory::rows;
use crate::ops::linear::{first, leave, put};
use crate::ops::modifiers::Modifiers;

/// The host address of `bytes` bytes from lane 0's address on, if all are there to be accessed so and aligned to `size`.
#[inline(always)]
unsafe fn host(lanes: &mut Lanes<'_>, args: &Args, size: u64, bytes: u64, access: Access) -> Option<u64> {
    let form = Form::of(args.slots[5]);
    // SAFETY: by the caller, the register is as wide as the form says.
    let at = unsafe {
        if form.narrow() {
            u64::from(first::<u32>(lanes, args.slots[0]).wrapping_add(args.imm as u32))
        } else {
            first::<u64>(lanes, args.slots[0]).wrapping_add(args.imm.cast_unsigned())
        }
    };
    if at & (size - 1) != 0 {
        return None;
    }
    let offset = match form.space() {
        Some(Space::Shared) => at,
        None if at.wrapping_sub(SHARED_WINDOW) < WINDOW_BYTES => at - SHARED_WINDOW,
        _ if at >= SHARED_WINDOW || !lanes.recent.holds(lanes.launch, at, bytes, access) => return None,
        _ => {
            if bytes > size {
                prefetch(at + bytes, bytes);
            }
            return Some(at);
        }
    };
    let inside = offset.checked_add(bytes).is_some_and(|end| end <= u64::from(lanes.shared_bytes));
    inside.then(|| lanes.shared as u64 + offset)
}

/// Asks for what the block's next warp is likely to touch: the row behind this one. A core runs the warps of a block one
/// after the other, each through its whole loop if it can, so rows are not touched in the order of their addresses, and the
/// processor's own prefetching does not see them coming.
#[inline(always)]
fn prefetch(from: u64, bytes: u64) {
    #[cfg(target_arch = "x86_64")]
    for at in (from..from + bytes).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of x86-64, and a prefetch of any address is no access.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at as *const i8) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, bytes);
}

/// Loads a row: lane `l` at lane 0's address and `l` times the size of an access. As the vector code's.
#[inline(always)]
unsafe fn load_row_body<E: Widen<R>, R: Lane, const N: usize, U: Unit>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let size = (N * size_of::<E>()) as u64;
    // SAFETY: by the caller; the row was found to be alive and aligned, and whole registers of R's width are written.
    unsafe {
        let Some(from) = host(lanes, args, size, size * LANES as u64, Access::Read) else { return leave() };
        if N == 1 && size_of::<E>() == size_of::<R>() {
            U::copy::<E, LANES>(from, lanes.frame.add(args.slots[1].0 as usize) as u64);
            return Ok(());
        }
        let mut row = MaybeUninit::<[[E; N]; LANES]>::uninit();
        copy_row::<E, N, U>(from, row.as_mut_ptr() as u64);
        let row = row.assume_init_ref();
        let registers = std::array::from_fn::<*mut u8, N, _>(|part| lanes.frame.add(args.slots[1 + part].0 as usize));
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
    Ok(())
}
by_level!(load_row [E: Widen<R>, R: Lane, const N: usize] [E, R, N,] => load_row_body);

/// Stores a row.
#[inline(always)]
unsafe fn store_row_body<E: Element, R: Narrowed<E>, const N: usize, U: Unit>(
    lanes: &mut Lanes<'_>,
    args: &Args,
) -> Step {
    let size = (N * size_of::<E>()) as u64;
    // SAFETY: by the caller; the row was found to be alive and aligned, and the registers have R's width.
    unsafe {
        let Some(to) = host(lanes, args, size, size * LANES as u64, Access::Write) else { return leave() };
        if N == 1 && size_of::<E>() == size_of::<R>() {
            U::copy::<E, LANES>(lanes.frame.add(args.slots[1].0 as usize) as u64, to);
            return Ok(());
        }
        let mut row = MaybeUninit::<[[E; N]; LANES]>::uninit();
        let registers = std::array::from_fn::<*const u8, N, _>(|part| lanes.frame.add(args.slots[1 + part].0 as usize));
        if size_of::<E>() == size_of::<R>() {
            rows::join(registers.map(<*const u8>::cast), &mut row);
        } else {
            let elements: *mut E = row.as_mut_ptr().cast();
            for (part, register) in registers.iter().enumerate() {
                let register = register.cast::<R>();
                for lane in 0..LANES {
                    elements.add(lane * N + part).write(register.add(lane).read().narrowed());
                }
            }
        }
        copy_row::<E, N, U>(row.as_ptr() as u64, to);
    }
    Ok(())
}
by_level!(store_row [E: Element, R: Narrowed<E>, const N: usize] [E, R, N,] => store_row_body);

/// Loads one element for all lanes, into lane 0 or (`ALL`) into each.
unsafe fn load_one<E: Widen<R>, R: Lane, const ALL: bool>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let size = size_of::<E>() as u64;
    // SAFETY: by the caller; the element was found to be alive and aligned, and the register has R's width.
    unsafe {
        let Some(from) = host(lanes, args, size, size, Access::Read) else { return leave() };
        let value = E::load(from).widen();
        if ALL {
            lanes.set(args.slots[1], [value; LANES]);
        } else {
            put(lanes, args.slots[1], value);
        }
    }
    Ok(())
}

unsafe fn load_param<E: Lane>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let at = args.imm as usize;
    let Some(bytes) = lanes.launch.params.get(at..at + size_of::<E>()) else { return leave() };
    // SAFETY: as many bytes as an E has, for which all bits are valid; the register has E's width by the decoder.
    unsafe {
        let value = bytes.as_ptr().cast::<E>().read_unaligned();
        put(lanes, args.slots[0], value);
    }
    Ok(())
}

/// What a plain access says: its type, the registers' type, how many of them.
struct Plain {
    ty: Type,
    register: Type,
    count: usize,
}

impl Plain {
    fn of(function: &Function, instr: &Instr, address: usize, value: usize) -> Option<Self> {
        let mut words = Modifiers::of(instr);
        let space = words.space();
        if words.order(Order::Weak).ok()? != Order::Weak || words.cache_hints() {
            return None;
        }
        words.take("unified");
        let (count, ty) = (words.vector(), words.ty().ok()?);
        words.done().ok()?;
        let Operand::Address(base, _) = instr.operands.get(address)? else { return None };
        let space = match base {
            AddressBase::Symbol(Symbol::Func(_)) => return None,
            // Where a named variable is, its own declaration says.
            AddressBase::Symbol(Symbol::Var(id)) => space.or(Some(function.vars[id.0 as usize].space)),
            _ => space,
        };
        if !matches!(space, None | Some(Space::Global | Space::Const | Space::Shared)) {
            return None;
        }
        let values = super::load::elements(instr.operands.get(value)?, count).ok()?;
        let mut types = values.iter().map(|value| match value {
            Operand::Reg(reg) => Some(function.regs[reg.0 as usize].ty),
            _ => None,
        });
        let register = types.next()??;
        let same = types.all(|ty| ty.is_some_and(|ty| width(ty) == width(register)));
        same.then_some(Self { ty, register, count })
    }

    fn bytes(&self) -> u32 {
        self.ty.bytes() * self.count as u32
    }
}

/// How a load runs: a row of it, the bytes of a lane, and one element (for lane 0, for all lanes) if it is of one.
pub(crate) fn load(function: &Function, instr: &Instr, level: Level) -> Option<(ExecFn, u32, Option<[ExecFn; 2]>)> {
    let plain = Plain::of(function, instr, 1, 0)?;
    macro_rules! row {
        ($e:ty, $r:ty, $n:literal) => {
            Some(load_row::<$e, $r, $n>(level))
        };
    }
    macro_rules! one {
        ($e:ty, $r:ty, $n:literal) => {
            Some([load_one::<$e, $r, false> as ExecFn, load_one::<$e, $r, true>])
        };
    }
    let key = key(plain.ty, plain.register, plain.count);
    let row = combinations!(key, row)?;
    let one = if plain.count == 1 { combinations!(key, one) } else { None };
    Some((row, plain.bytes(), one))
}

/// How a store of a row runs, and the bytes of a lane.
pub(crate) fn store(function: &Function, instr: &Instr, level: Level) -> Option<(ExecFn, u32)> {
    let plain = Plain::of(function, instr, 0, 1)?;
    macro_rules! row {
        ($e:ty, $r:ty, $n:literal) => {
            store_row::<$e, $r, $n>(level)
        };
    }
    let row = store_combinations!((plain.ty.bytes(), plain.register.bytes().max(2), plain.count), row)?;
    Some((row, plain.bytes()))
}

/// How a load of a parameter of the kernel runs.
pub(crate) fn param(function: &Function, instr: &Instr) -> Option<ExecFn> {
    let Some(Operand::Address(AddressBase::Symbol(Symbol::Var(id)), _)) = instr.operands.get(1) else { return None };
    if !function.is_entry || !function.params.contains(&Param::Var(*id)) {
        return None;
    }
    let mut words = Modifiers::of(instr);
    let (space, ty) = (words.space(), words.ty().ok()?);
    words.done().ok()?;
    let Operand::Reg(reg) = instr.operands[0] else { return None };
    match (space, ty.bytes(), function.regs[reg.0 as usize].ty.bytes()) {
        (Some(Space::Param), 4, 4) => Some(load_param::<u32>),
        (Some(Space::Param), 8, 8) => Some(load_param::<u64>),
        _ => None,
    }
}

//! `st`.

use std::mem::MaybeUninit;

use gridstride_ptx::{Instr, Space, Type};

use super::load::{Layout, copy_row, elements, quick};
use super::place::{Form, Found, Order, Place, Unit};
use super::{after, before, by_level, pack, place_target, unpack};
use crate::decode::{Decoder, width};
use crate::fault::Access;
use crate::lane::{Args, ExecFn, LANES, Lane, LaneFault, Lanes, Level, Step};
use crate::memory::raw::{Element, Narrow};
use crate::memory::rows;
use crate::ops::modifiers::Modifiers;
use crate::ops::{Decoded, Reason};

/// A register value becomes one in memory: its low bits.
pub(super) trait Narrowed<E>: Lane {
    fn narrowed(self) -> E;
}
macro_rules! narrowed {
    ($($r:ty => $($e:ty)*;)*) => { $($(
        impl Narrowed<$e> for $r {
            #[inline(always)]
            fn narrowed(self) -> $e {
                self as $e
            }
        }
    )*)* };
}
narrowed! {
    u16 => u8 u16;
    u32 => u8 u16 u32;
    u64 => u8 u16 u32 u64;
    u128 => u128;
}

/// Stores `N` registers `R` a lane as elements `E`. Slots: address, sources, …, form. `WEAK` as for loads. Lanes that
/// store to the same place do so in ascending order.
#[inline(always)]
unsafe fn store_body<E: Element, R: Narrowed<E>, const N: usize, const WEAK: bool, U: Unit>(
    lanes: &mut Lanes<'_>,
    args: &Args,
) -> Step {
    let size = (N * size_of::<E>()) as u64;
    let form = Form::of(args.slots[5]);
    let mut at = [0; LANES];
    let found = if WEAK {
        // SAFETY: for WEAK the decoder gives a 64-bit register.
        match unsafe { quick::<LANES>(lanes, args, size, Access::Write) } {
            Some(found) => found,
            // SAFETY: by the caller.
            None => unsafe { slow::<U>(lanes, args, form, size, &mut at)? },
        }
    } else {
        // SAFETY: by the caller.
        let found = unsafe { slow::<U>(lanes, args, form, size, &mut at)? };
        before(lanes, form.order());
        found
    };
    let step = size_of::<E>() as u64;
    // SAFETY: the places were found to be alive and aligned, and the registers are `R` wide by the decoder.
    unsafe {
        match found {
            Found::Row(to) if N == 1 && size_of::<E>() == size_of::<R>() => {
                U::copy::<E, LANES>(lanes.frame.add(args.slots[1].0 as usize) as u64, to);
            }
            Found::Row(to) => {
                let mut row = MaybeUninit::<[[E; N]; LANES]>::uninit();
                let registers =
                    std::array::from_fn::<*const u8, N, _>(|part| lanes.frame.add(args.slots[1 + part].0 as usize));
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
            Found::One(to) => {
                // What the last lane stores is what stays.
                let last = (31 - lanes.mask.leading_zeros()) as usize % LANES;
                for part in 0..N {
                    let values = lanes.frame.add(args.slots[1 + part].0 as usize).cast::<R>();
                    E::store(to + part as u64 * step, values.add(last).read().narrowed());
                }
            }
            Found::Each => {
                for part in 0..N {
                    let values = lanes.get::<R>(args.slots[1 + part]);
                    each(lanes.mask, |lane| E::store(at[lane] + part as u64 * step, values[lane].narrowed()));
                }
            }
        }
    }
    if !WEAK {
        after(form.order());
    }
    Ok(())
}
by_level!(store [E: Element, R: Narrowed<E>, const N: usize, const WEAK: bool] [E, R, N, WEAK,] => store_body);

/// Calls `f` for each lane of a mask, in ascending order.
#[inline(always)]
pub(super) fn each(mut mask: u32, mut f: impl FnMut(usize)) {
    while mask != 0 {
        f(mask.trailing_zeros() as usize % LANES);
        mask &= mask - 1;
    }
}

#[inline(always)]
unsafe fn slow<U: Unit>(
    lanes: &mut Lanes<'_>,
    args: &Args,
    form: Form,
    size: u64,
    at: &mut [u64; LANES],
) -> Result<Found, Box<LaneFault>> {
    let place = Place { slot: args.slots[0], offset: args.imm, form, size, access: Access::Write };
    // SAFETY: by the caller.
    unsafe { U::find(lanes, &place, at, &mut false) }
}

/// As the loads' `load_any`: any number of elements from registers of any width.
unsafe fn store_any(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let form = Form::of(args.slots[5]);
    let layout = Layout::of(form.own());
    let bytes = 1 << layout.log2();
    let mut at = [0; LANES];
    // SAFETY: by the caller.
    let found = unsafe { slow::<Narrow>(lanes, args, form, bytes * layout.count() as u64, &mut at)? };
    before(lanes, form.order());
    if let Found::Row(to) = found {
        at = std::array::from_fn(|lane| to + (lane * layout.count()) as u64 * bytes);
    } else if let Found::One(to) = found {
        at = [to; LANES];
    }
    for part in 0..layout.count() {
        let slot = unpack(args, part);
        // SAFETY: the places were found to be alive and aligned; the layout says how wide each register is.
        unsafe {
            let values: [u128; LANES] = match layout.width_log2(part) {
                1 => lanes.get::<u16>(slot).map(u128::from),
                2 => lanes.get::<u32>(slot).map(u128::from),
                3 => lanes.get::<u64>(slot).map(u128::from),
                _ => lanes.get::<u128>(slot),
            };
            each(lanes.mask, |lane| {
                let (to, value) = (at[lane] + part as u64 * bytes, values[lane]);
                match layout.log2() {
                    0 => u8::store(to, value as u8),
                    1 => u16::store(to, value as u16),
                    2 => u32::store(to, value as u32),
                    3 => u64::store(to, value as u64),
                    _ => u128::store(to, value),
                }
            });
        }
    }
    after(form.order());
    Ok(())
}

/// `st{.order}{.space}{.hints}{.vec}.type [a], b{, policy}`
pub(super) fn decode(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let space = words.space();
    let order = words.order(Order::Weak)?;
    if matches!(order, Order::Acquire | Order::AcqRel) {
        return Err("a store that acquires".into());
    }
    if space == Some(Space::Const) {
        return Err("constant memory is read-only".into());
    }
    let policy = words.cache_hints();
    let (count, ty) = (words.vector(), words.ty()?);
    words.done()?;
    let (([address, value], false) | ([address, value, _], true)) = (&instr.operands[..], policy) else {
        return Err("an address and a value expected".into());
    };
    let (base, offset, form) = place_target(decoder, address, space, order)?;
    let mut slots = Vec::new();
    let mut types = Vec::new();
    for value in elements(value, count)? {
        let (slot, register) = decoder.src_any(value, ty)?;
        if register.bytes() < ty.bytes() || register == Type::Pred {
            return Err(format!("a value of type `.{}`", register.name()));
        }
        slots.push(slot);
        types.push(register);
    }
    let same = types.iter().all(|register| width(*register) == width(types[0]));
    let exec = same.then(|| exec(decoder.level(), ty, types[0], count, form.is_quick())).flatten();
    let mut args = Args::of(&[base], offset);
    match exec {
        Some(exec) => {
            args.slots[1..=count].copy_from_slice(&slots);
            args.slots[5] = form.slot();
            Ok(Decoded::Lane(exec, args))
        }
        None => {
            args.slots[1..5].copy_from_slice(&pack(&slots)?);
            args.slots[5] = form.with(Layout::new(ty, &types).bits()).slot();
            Ok(Decoded::Lane(store_any, args))
        }
    }
}

/// As the loads' `combinations`: calls `$call!(E, R, N)`.
macro_rules! store_combinations {
    ($key:expr, $call:ident) => {
        match $key {
            (1, 2, 1) => Some($call!(u8, u16, 1)),
            (1, 4, 1) => Some($call!(u8, u32, 1)),
            (1, 8, 1) => Some($call!(u8, u64, 1)),
            (2, 2, 1) => Some($call!(u16, u16, 1)),
            (2, 4, 1) => Some($call!(u16, u32, 1)),
            (2, 8, 1) => Some($call!(u16, u64, 1)),
            (4, 4, 1) => Some($call!(u32, u32, 1)),
            (4, 8, 1) => Some($call!(u32, u64, 1)),
            (8, 8, 1) => Some($call!(u64, u64, 1)),
            (16, 16, 1) => Some($call!(u128, u128, 1)),
            (1, 2, 2) => Some($call!(u8, u16, 2)),
            (1, 2, 4) => Some($call!(u8, u16, 4)),
            (2, 2, 2) => Some($call!(u16, u16, 2)),
            (2, 2, 4) => Some($call!(u16, u16, 4)),
            (4, 4, 2) => Some($call!(u32, u32, 2)),
            (4, 4, 4) => Some($call!(u32, u32, 4)),
            (8, 8, 2) => Some($call!(u64, u64, 2)),
            (8, 8, 4) => Some($call!(u64, u64, 4)),
            _ => None,
        }
    };
}
pub(super) use store_combinations;

/// The function of its own that a combination of element, register and count has, if it has one.
pub(super) fn exec(level: Level, ty: Type, register: Type, count: usize, quick: bool) -> Option<ExecFn> {
    macro_rules! pick {
        ($e:ty, $r:ty, $n:literal) => {
            if quick { store::<$e, $r, $n, true>(level) } else { store::<$e, $r, $n, false>(level) }
        };
    }
    store_combinations!((ty.bytes(), register.bytes().max(2), count), pick)
}

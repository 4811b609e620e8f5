//! Loads and stores, and what belongs to them: fences, asynchronous copies, hints to caches.
//!
//! ```text
//! form     what an instruction says besides its types
//! place    addresses of the lanes --> checked host addresses, and whether they are a row
//! load     memory --> registers       store    registers --> memory
//! linear   addresses known from lane 0's --> rows
//! words    modifiers --> form         copy     memory --> memory (cp.async)
//! ```

mod copy;
mod form;
pub(crate) mod linear;
mod load;
pub(crate) mod place;
mod store;
#[cfg(test)]
mod tests;
mod words;

use std::sync::atomic::{Ordering, fence};

use gridstride_ptx::{AddressBase, Instr, Operand, Space, Symbol, Type};

use super::modifiers::Modifiers;
use super::{DecodeFn, Decoded, Reason};
use crate::decode::{Decoder, MemoryOperand};
use crate::lane::{Args, Lanes, Slot, Step};
use place::{Form, Order};

/// Opcodes of this family.
pub(super) const OPCODES: &[(&str, DecodeFn)] = &[
    ("ld", load::decode),
    ("ldu", load::decode),
    ("st", store::decode),
    ("cp", copy::decode),
    ("fence", fences),
    ("membar", fences),
    ("prefetch", hint),
    ("prefetchu", hint),
    ("discard", hint),
    ("applypriority", hint),
    ("createpolicy", policy),
    ("griddepcontrol", nothing),
    ("pmevent", nothing),
];

/// Defines `fn NAME::<…>(level) -> ExecFn` that picks the copy of `BODY::<…, unit>` made for `level`, where the unit is the
/// [`place::Unit`] of that level. As [`crate::lane::multiversion`], which has no unit to give.
macro_rules! by_level {
    ($name:ident [$($param:tt)*] [$($arg:tt)*] => $body:ident) => {
        fn $name<$($param)*>(level: $crate::lane::Level) -> $crate::lane::ExecFn {
            use $crate::lane::{Args, Lanes, Level, Step};
            unsafe fn baseline<$($param)*>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
                // SAFETY: the caller's promise is the body's own.
                unsafe { $body::<$($arg)* $crate::memory::raw::Narrow>(lanes, args) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx2<$($param)*>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
                // SAFETY: the caller's promise is the body's own.
                unsafe { $body::<$($arg)* $crate::memory::raw::Wide>(lanes, args) }
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            unsafe fn avx512<$($param)*>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
                // SAFETY: the caller's promise is the body's own.
                unsafe { $body::<$($arg)* $crate::memory::raw::Widest>(lanes, args) }
            }
            match level {
                Level::Baseline => baseline::<$($arg)*>,
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => avx2::<$($arg)*>,
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => avx512::<$($arg)*>,
                #[cfg(not(target_arch = "x86_64"))]
                _ => baseline::<$($arg)*>,
            }
        }
    };
}
pub(crate) use by_level;

/// Where a decoded access goes.
pub(crate) enum Target {
    /// Register and offset.
    Place { slot: Slot, offset: i64, narrow: bool, space: Option<Space> },
    /// Byte offset in the kernel's parameters.
    KernelParam(u32),
}

/// Decodes the address operand of an access to `space`.
pub(crate) fn target(decoder: &mut Decoder<'_>, operand: &Operand, space: Option<Space>) -> Result<Target, Reason> {
    // A variable named in a generic access is accessed in its own space: its address there is what the name stands for.
    let space = space.or_else(|| match operand {
        Operand::Address(AddressBase::Symbol(Symbol::Global(id)), _) => {
            Some(decoder.module.globals[id.0 as usize].space)
        }
        Operand::Address(AddressBase::Symbol(Symbol::Var(id)), _) => Some(decoder.function.vars[id.0 as usize].space),
        _ => None,
    });
    match decoder.address(operand, space)? {
        MemoryOperand::Based { slot, wide, offset } => {
            decoder.addressed.push((slot, offset, !wide, space));
            Ok(Target::Place { slot, offset, narrow: !wide, space })
        }
        MemoryOperand::KernelParam(offset) if space == Some(Space::Param) => Ok(Target::KernelParam(offset)),
        MemoryOperand::KernelParam(_) => Err("a kernel parameter in an access to another space".into()),
    }
}

/// As [`target`], for accesses that cannot be to kernel parameters.
pub(crate) fn place_target(
    decoder: &mut Decoder<'_>,
    operand: &Operand,
    space: Option<Space>,
    order: Order,
) -> Result<(Slot, i64, Form), Reason> {
    match target(decoder, operand, space)? {
        Target::Place { slot, offset, narrow, space } => Ok((slot, offset, Form::new(space, narrow, order))),
        Target::KernelParam(_) => Err("kernel parameters are read-only, and only `ld.param` reads them".into()),
    }
}

/// What an access orders before it happens.
#[inline(always)]
pub(crate) fn before(lanes: &mut Lanes<'_>, order: Order) {
    if order != Order::Weak {
        lanes.spins = lanes.spins.saturating_add(1);
        if matches!(order, Order::Release | Order::AcqRel) {
            fence(Ordering::Release);
        }
    }
}

/// What an access orders after it has happened.
#[inline(always)]
pub(crate) fn after(order: Order) {
    if matches!(order, Order::Acquire | Order::AcqRel) {
        fence(Ordering::Acquire);
    }
}

/// `membar.level`, `fence{.sem}.scope`, `fence.proxy.…`. One core runs all of a block, so what is ordered within a block
/// is ordered by the program's own order; all wider scopes are fences of the processor.
fn fences(_: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let membar = &*instr.opcode == "membar";
    if words.take("proxy") || words.take_any(&["mbarrier_init"]).is_some() {
        // There is one way to memory here, which all proxies share.
        let proxies = ["alias", "async", "async.global", "tensormap::generic", "tensormap"];
        words.take_any(&proxies);
        words.take_any(&["async::global", "async::shared::cta", "async::shared::cluster", "async::generic"]);
        words.take_any(&["global", "shared::cta", "shared::cluster", "generic"]);
        words.take_any(&["sync_restrict::shared::cta", "sync_restrict::shared::cluster"]);
        words.take_any(&["acquire", "release"]);
        words.take_any(&["cta", "cluster", "gpu", "sys"]);
        words.done()?;
        return Ok(Decoded::Lane(exec_light, Args::default()));
    }
    let light = words.take_any(&["acq_rel", "acquire", "release"]).is_some();
    words.take("sc");
    words.take_any(&["sync_restrict::shared::cta", "sync_restrict::shared::cluster"]);
    let scopes: &[&str] = if membar { &["cta", "gl", "sys"] } else { &["cta", "cluster", "gpu", "sys"] };
    let scope = words.take_any(scopes).ok_or("a fence without a scope")?;
    words.done()?;
    let exec = if light || scope == "cta" { exec_light } else { exec_full };
    Ok(Decoded::Lane(exec, Args::default()))
}

/// # Safety
/// None needed: it touches nothing.
unsafe fn exec_light(_: &mut Lanes<'_>, _: &Args) -> Step {
    fence(Ordering::AcqRel);
    Ok(())
}

/// # Safety
/// None needed: it touches nothing.
unsafe fn exec_full(_: &mut Lanes<'_>, _: &Args) -> Step {
    fence(Ordering::SeqCst);
    Ok(())
}

/// Instructions that only tell caches what is to come. `discard` too: bytes whose value is lost may keep it.
fn hint(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let mut words = Modifiers::of(instr);
    let space = words.space();
    words.take_any(&["L1", "L2", "L2::evict_last", "L2::evict_normal"]);
    words.take("tensormap");
    words.done()?;
    let address = instr.operands.first().ok_or("an address expected")?;
    target(decoder, address, space)?;
    Ok(Decoded::Nothing)
}

/// `createpolicy`: a policy for caches, which are not here; the loads and stores that name it do not look at it.
fn policy(decoder: &mut Decoder<'_>, instr: &Instr) -> Result<Decoded, Reason> {
    let out = instr.operands.first().ok_or("a destination expected")?;
    let slots = [decoder.dst(out, Type::B64)?, decoder.constant(0, Type::B64)];
    Ok(Decoded::Lane(super::mov::copy(Type::B64, decoder.level())?, Args::of(&slots, 0)))
}

/// What has no effect here: launches begin when the ones before them have ended, and nobody counts events.
fn nothing(_: &mut Decoder<'_>, _: &Instr) -> Result<Decoded, Reason> {
    Ok(Decoded::Nothing)
}

/// Log2 of the size in bytes.
fn log2(ty: Type) -> u32 {
    ty.bytes().trailing_zeros()
}

/// Several registers in few places: two slots in one, each in units of 64 bytes, to which registers are aligned.
fn pack(slots: &[Slot]) -> Result<[Slot; 4], Reason> {
    let mut packed = [0; 4];
    for (at, slot) in slots.iter().enumerate() {
        let unit = u16::try_from(slot.0 / 64).map_err(|_| "more registers than this form can name")?;
        packed[at / 2] |= u32::from(unit) << (16 * (at % 2));
    }
    Ok(packed.map(Slot))
}

/// The other way round.
fn unpack(args: &Args, at: usize) -> Slot {
    Slot((args.slots[1 + at / 2].0 >> (16 * (at % 2)) & 0xFFFF) * 64)
}

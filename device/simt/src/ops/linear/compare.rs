//! Comparisons of two lines: the ends decide, unless they disagree.

use gridstride_ptx::Type;

use super::first;
use crate::lane::{Args, ExecFn, FULL, LANES, Lane, Lanes, Step};

/// Strides of the two operands, as `imm` has them.
pub(crate) fn pack_strides(a: i64, b: i64) -> i64 {
    i64::from(a as i32 as u32) | (b << 32)
}

trait Number: Lane + Ord {
    fn step(self, lane: i64, stride: i64) -> Self;
    fn step_exact(self, lane: i64, stride: i64) -> Option<Self>;
}
macro_rules! number {
    ($($t:ty)*) => { $(impl Number for $t {
        #[inline(always)]
        fn step(self, lane: i64, stride: i64) -> Self {
            self.wrapping_add((lane * stride) as $t)
        }

        #[inline(always)]
        fn step_exact(self, lane: i64, stride: i64) -> Option<Self> {
            // Strides are below 2^31 and lanes below 2^5.
            let by = lane * stride;
            if by >= 0 { self.checked_add(by.unsigned_abs() as $t) } else { self.checked_sub(by.unsigned_abs() as $t) }
        }
    })* };
}
number!(u32 u64 i64);
impl Number for i32 {
    #[inline(always)]
    fn step(self, lane: i64, stride: i64) -> Self {
        self.wrapping_add((lane * stride) as Self)
    }

    #[inline(always)]
    fn step_exact(self, lane: i64, stride: i64) -> Option<Self> {
        Self::try_from(i64::from(self) + lane * stride).ok()
    }
}

trait Relation {
    /// A line crosses a line once at most, so for these the ends tell of all between them.
    const ONE_WAY: bool;
    fn holds<T: Ord>(a: T, b: T) -> bool;
}
macro_rules! relations {
    ($($name:ident $one_way:literal $op:tt;)*) => { $(
        struct $name;
        impl Relation for $name {
            const ONE_WAY: bool = $one_way;
            #[inline(always)]
            fn holds<T: Ord>(a: T, b: T) -> bool { a $op b }
        }
    )* };
}
relations! { Eq false ==; Ne false !=; Lt true <; Le true <=; Gt true >; Ge true >=; }

unsafe fn exec<T: Number, R: Relation>(lanes: &mut Lanes<'_>, args: &Args) -> Step {
    let [d, a, b, ..] = args.slots;
    let (by_a, by_b) = (i64::from(args.imm as i32), args.imm >> 32);
    // SAFETY: by the decoder, a predicate and registers of T's width.
    unsafe {
        let (a, b) = (first::<T>(lanes, a), first::<T>(lanes, b));
        let begin = R::holds(a, b);
        if args.imm == 0 {
            lanes.set_pred(d, if begin { FULL } else { 0 });
            return Ok(());
        }
        let last = LANES as i64 - 1;
        if R::ONE_WAY
            && let (Some(a), Some(b)) = (a.step_exact(last, by_a), b.step_exact(last, by_b))
            && R::holds(a, b) == begin
        {
            lanes.set_pred(d, if begin { FULL } else { 0 });
            return Ok(());
        }
        let mask = (0..LANES as i64)
            .fold(0, |mask, lane| mask | u32::from(R::holds(a.step(lane, by_a), b.step(lane, by_b))) << lane);
        lanes.set_pred(d, mask);
    }
    Ok(())
}

/// The function of a comparison of 32-bit or 64-bit whole numbers.
pub(super) fn find(op: &str, ty: Type) -> Option<ExecFn> {
    macro_rules! by {
        ($relation:ident) => {
            match ty {
                Type::U32 | Type::B32 => exec::<u32, $relation> as ExecFn,
                Type::S32 => exec::<i32, $relation>,
                Type::U64 | Type::B64 => exec::<u64, $relation>,
                Type::S64 => exec::<i64, $relation>,
                _ => return None,
            }
        };
    }
    Some(match op {
        "eq" => by!(Eq),
        "ne" => by!(Ne),
        "lt" | "lo" => by!(Lt),
        "le" | "ls" => by!(Le),
        "gt" | "hi" => by!(Gt),
        "ge" | "hs" => by!(Ge),
        _ => return None,
    })
}

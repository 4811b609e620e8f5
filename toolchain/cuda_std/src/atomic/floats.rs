//! Atomic `f32` and `f64`, of three scopes.

use core::cell::UnsafeCell;
use core::sync::atomic::Ordering;

/// The operation on the GPU, or on the host the same one on `core`'s atomic integer.
macro_rules! either {
    ($gpu:expr, $host:expr) => {{
        let value;
        #[cfg(target_arch = "nvptx64")]
        // SAFETY: the cell is valid and aligned, and every access to it is atomic.
        unsafe {
            value = $gpu;
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            value = $host;
        }
        value
    }};
}

macro_rules! atomic_float {
    ($(
        $name:ident: $float:ident as $bits:ident, $core:ident, $align:literal, $covers:literal, ($($unsafe:tt)?),
        $load:ident $store:ident $add:ident $and:ident $or:ident $xor:ident $swap:ident $cas:ident;
    )*) => {$(
        #[doc = concat!("An `", stringify!($float), "` that threads of ", $covers, " may change at the same time.")]
        ///
        /// Has the size and bits of the float, so that a kernel can take a buffer of floats as a slice of these. The bitwise
        /// operations are on its bits. On the host it works as well, by `core`'s atomic integers.
        #[repr(C, align($align))]
        pub struct $name(UnsafeCell<$float>);

        // SAFETY: every access is atomic.
        unsafe impl Sync for $name {}

        impl $name {
            /// An atomic with this value.
            #[inline(always)]
            #[must_use]
            pub const fn new(v: $float) -> Self {
                Self(UnsafeCell::new(v))
            }

            /// The value.
            #[inline(always)]
            #[must_use]
            pub fn into_inner(self) -> $float {
                self.0.into_inner()
            }

            /// Where it is.
            #[inline(always)]
            #[must_use]
            pub const fn as_ptr(&self) -> *mut $float {
                self.0.get()
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn bits(&self) -> &core::sync::atomic::$core {
                // SAFETY: same size and alignment, and every access is atomic.
                unsafe { core::sync::atomic::$core::from_ptr(self.0.get().cast()) }
            }

            #[cfg(not(target_arch = "nvptx64"))]
            fn update(&self, order: Ordering, f: impl Fn($float) -> $float) -> $float {
                let fetch = match order {
                    Ordering::AcqRel | Ordering::Acquire => Ordering::Acquire,
                    Ordering::SeqCst => Ordering::SeqCst,
                    _ => Ordering::Relaxed,
                };
                let set = |bits| Some(f($float::from_bits(bits)).to_bits());
                let (Ok(old) | Err(old)) = self.bits().try_update(order, fetch, set);
                $float::from_bits(old)
            }

            atomic_float!(@methods ($($unsafe)?) $covers $float $bits $load $store $add $and $or $xor $swap $cas);
        }

        impl From<$float> for $name {
            fn from(v: $float) -> Self {
                Self::new(v)
            }
        }

        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};

    (@methods ($($unsafe:tt)?) $covers:literal $float:ident $bits:ident $load:ident $store:ident $add:ident $and:ident $or:ident $xor:ident
     $swap:ident $cas:ident) => {
        atomic_float!(@method ($($unsafe)?) $covers "Adds `val` and returns the value from before (`atom.add`)."
            fetch_add($float) |me, val, order| either!(super::mid::$add(me.as_ptr(), order, val), me.update(order, |old| old + val)));
        atomic_float!(@method ($($unsafe)?) $covers "Subtracts `val` and returns the value from before (`atom.add` of its negation)."
            fetch_sub($float) |me, val, order| either!(super::mid::$add(me.as_ptr(), order, -val), me.update(order, |old| old - val)));
        atomic_float!(@method ($($unsafe)?) $covers "Bitwise and with `val`; returns the value from before (`atom.and`)."
            fetch_and($float) |me, val, order| either!(super::mid::$and(me.as_ptr(), order, val), $float::from_bits(me.bits().fetch_and(val.to_bits(), order))));
        atomic_float!(@method ($($unsafe)?) $covers "Bitwise or with `val`; returns the value from before (`atom.or`)."
            fetch_or($float) |me, val, order| either!(super::mid::$or(me.as_ptr(), order, val), $float::from_bits(me.bits().fetch_or(val.to_bits(), order))));
        atomic_float!(@method ($($unsafe)?) $covers "Bitwise exclusive or with `val`; returns the value from before (`atom.xor`)."
            fetch_xor($float) |me, val, order| either!(super::mid::$xor(me.as_ptr(), order, val), $float::from_bits(me.bits().fetch_xor(val.to_bits(), order))));
        atomic_float!(@method ($($unsafe)?) $covers "Stores `val` and returns the value from before (`atom.exch`)."
            swap($float) |me, val, order| either!(super::mid::$swap(me.as_ptr(), order, val), $float::from_bits(me.bits().swap(val.to_bits(), order))));

        /// The value (`ld.relaxed`, `ld.acquire`).
        ///
        /// # Panics
        /// Where `order` is `Release` or `AcqRel`.
        #[doc = concat!("\n# Safety\nWhere it is `unsafe`: only threads of ", $covers, " may use the atomic meanwhile.")]
        #[inline(always)]
        pub $($unsafe)? fn load(&self, order: Ordering) -> $float {
            $float::from_bits(either!(super::mid::$load(self.as_ptr().cast(), order), self.bits().load(order)))
        }

        /// Sets the value (`st.relaxed`, `st.release`).
        ///
        /// # Panics
        /// Where `order` is `Acquire` or `AcqRel`.
        #[doc = concat!("\n# Safety\nWhere it is `unsafe`: only threads of ", $covers, " may use the atomic meanwhile.")]
        #[inline(always)]
        pub $($unsafe)? fn store(&self, val: $float, order: Ordering) {
            either!(super::mid::$store(self.as_ptr().cast(), order, val.to_bits()), self.bits().store(val.to_bits(), order));
        }

        /// Stores `new` if the value has the bits of `current` (`atom.cas`). Returns the value from before: `Ok` if it was
        /// replaced. `failure` may be weaker than `success`; here it is not.
        ///
        /// # Errors
        /// The value, where it has other bits.
        #[doc = concat!("\n# Safety\nWhere it is `unsafe`: only threads of ", $covers, " may use the atomic meanwhile.")]
        #[inline(always)]
        pub $($unsafe)? fn compare_exchange(
            &self,
            current: $float,
            new: $float,
            success: Ordering,
            failure: Ordering,
        ) -> Result<$float, $float> {
            let _ = failure;
            let old: $float = either!(
                super::mid::$cas(self.as_ptr(), current, new, success),
                match self.bits().compare_exchange(current.to_bits(), new.to_bits(), success, failure) {
                    Ok(old) | Err(old) => $float::from_bits(old),
                }
            );
            if old.to_bits() == current.to_bits() { Ok(old) } else { Err(old) }
        }
    };

    (@method ($($unsafe:tt)?) $covers:literal $doc:literal $name:ident($float:ident) |$me:ident, $val:ident, $order:ident| $body:expr) => {
        #[doc = $doc]
        #[doc = concat!("\n# Safety\nWhere it is `unsafe`: only threads of ", $covers, " may use the atomic meanwhile.")]
        #[inline(always)]
        #[allow(clippy::needless_pass_by_value)]
        pub $($unsafe)? fn $name(&self, val: $float, order: Ordering) -> $float {
            let ($me, $val, $order) = (self, val, order);
            $body
        }
    };
}

atomic_float! {
    AtomicF32: f32 as u32, AtomicU32, 4, "the device", (),
        atomic_load_32_device atomic_store_32_device atomic_fetch_add_f32_device atomic_fetch_and_f32_device
        atomic_fetch_or_f32_device atomic_fetch_xor_f32_device atomic_fetch_exch_f32_device atomic_compare_and_swap_f32_device;
    AtomicF64: f64 as u64, AtomicU64, 8, "the device", (),
        atomic_load_64_device atomic_store_64_device atomic_fetch_add_f64_device atomic_fetch_and_f64_device
        atomic_fetch_or_f64_device atomic_fetch_xor_f64_device atomic_fetch_exch_f64_device atomic_compare_and_swap_f64_device;
    BlockAtomicF32: f32 as u32, AtomicU32, 4, "one block", (unsafe),
        atomic_load_32_block atomic_store_32_block atomic_fetch_add_f32_block atomic_fetch_and_f32_block
        atomic_fetch_or_f32_block atomic_fetch_xor_f32_block atomic_fetch_exch_f32_block atomic_compare_and_swap_f32_block;
    BlockAtomicF64: f64 as u64, AtomicU64, 8, "one block", (unsafe),
        atomic_load_64_block atomic_store_64_block atomic_fetch_add_f64_block atomic_fetch_and_f64_block
        atomic_fetch_or_f64_block atomic_fetch_xor_f64_block atomic_fetch_exch_f64_block atomic_compare_and_swap_f64_block;
    SystemAtomicF32: f32 as u32, AtomicU32, 4, "the device, its peers and the host", (),
        atomic_load_32_system atomic_store_32_system atomic_fetch_add_f32_system atomic_fetch_and_f32_system
        atomic_fetch_or_f32_system atomic_fetch_xor_f32_system atomic_fetch_exch_f32_system atomic_compare_and_swap_f32_system;
    SystemAtomicF64: f64 as u64, AtomicU64, 8, "the device, its peers and the host", (),
        atomic_load_64_system atomic_store_64_system atomic_fetch_add_f64_system atomic_fetch_and_f64_system
        atomic_fetch_or_f64_system atomic_fetch_xor_f64_system atomic_fetch_exch_f64_system atomic_compare_and_swap_f64_system;
}

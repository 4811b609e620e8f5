//! The functions of `cuda_std::atomic::{intrinsics, mid}`: every operation, ordering, type and scope, from one table.
//!
//! Written by hand they were a thousand functions of which a third did not assemble. Here a form that PTX does not have is left
//! out or expressed by one that it has, in [`Rmw::instruction`], and the tests of `cuda_std` assemble and run all of them.

use proc_macro2::TokenStream;

/// Name here, word of PTX, what it covers.
const SCOPES: [(&str, &str, &str); 3] = [
    ("device", "gpu", "the device"),
    ("block", "cta", "the block"),
    ("system", "sys", "the device, its peers and the host"),
];

/// Name here and word of PTX. A volatile access has no ordering word: it is relaxed.
const ORDERS: [(&str, &str); 5] = [
    ("relaxed", ".relaxed"),
    ("acquire", ".acquire"),
    ("release", ".release"),
    ("acqrel", ".acq_rel"),
    ("volatile", ""),
];

const ALL: [&str; 6] = ["u32", "u64", "i32", "i64", "f32", "f64"];
const INTEGERS: [&str; 4] = ["u32", "u64", "i32", "i64"];

/// A read-modify-write operation.
struct Rmw {
    /// Its name, behind `fetch_`.
    name: &'static str,
    types: &'static [&'static str],
    /// What it does, as a sentence about `*ptr` and its operands.
    meaning: &'static str,
}

#[rustfmt::skip]
const RMW: [Rmw; 13] = [
    Rmw { name: "and", types: &ALL, meaning: "Replaces the value by its bitwise and with `val`." },
    Rmw { name: "or", types: &ALL, meaning: "Replaces the value by its bitwise or with `val`." },
    Rmw { name: "xor", types: &ALL, meaning: "Replaces the value by its bitwise exclusive or with `val`." },
    Rmw { name: "exch", types: &ALL, meaning: "Replaces the value by `val`." },
    Rmw { name: "add", types: &ALL, meaning: "Adds `val`; integers wrap, an `f32` in global memory flushes no denormals." },
    Rmw { name: "sub", types: &ALL, meaning: "Subtracts `val`, as an addition of its negation; integers wrap." },
    Rmw { name: "min", types: &INTEGERS, meaning: "Replaces the value by `val` if that is less." },
    Rmw { name: "max", types: &INTEGERS, meaning: "Replaces the value by `val` if that is greater." },
    Rmw { name: "inc", types: &INTEGERS, meaning: "Adds 1; wraps." },
    Rmw { name: "dec", types: &INTEGERS, meaning: "Subtracts 1; wraps." },
    Rmw { name: "inc_limit", types: &["u32"], meaning: "Adds 1, or sets to 0 what is not below `val`." },
    Rmw { name: "dec_limit", types: &["u32"], meaning: "Subtracts 1, or sets to `val` what is 0 or above `val`." },
    Rmw { name: "cas", types: &ALL, meaning: "Replaces the value by `second_val` if it has the bits of `first_val`." },
];

fn bits(ty: &str) -> &str {
    &ty[1..]
}

fn unsigned(ty: &str) -> String {
    format!("u{}", bits(ty))
}

/// An expression of type `ty` as a `u32` or `u64` of its bits, and back.
fn to_bits(ty: &str, value: &str) -> String {
    match &ty[..1] {
        "f" => format!("{value}.to_bits()"),
        "i" => format!("{value}.cast_unsigned()"),
        _ => value.to_owned(),
    }
}

fn from_bits(ty: &str, value: &str) -> String {
    match &ty[..1] {
        "f" => format!("{ty}::from_bits({value})"),
        "i" => format!("{value}.cast_signed()"),
        _ => value.to_owned(),
    }
}

impl Rmw {
    /// Parameters behind the pointer.
    fn params(&self) -> &'static [&'static str] {
        match self.name {
            "inc" | "dec" => &[],
            "cas" => &["first_val", "second_val"],
            _ => &["val"],
        }
    }

    /// PTX's operation and type, and the operands as bits.
    fn instruction(&self, ty: &str) -> (String, Vec<String>) {
        let width = bits(ty);
        let one = |value: &str| vec![to_bits(ty, value)];
        let negated = if ty.starts_with('f') { "(-val)".to_owned() } else { "val.wrapping_neg()".to_owned() };
        // `.add` of 64 bits is `.u64` only; two's complement makes it the signed one as well.
        let sum = match ty {
            "i64" => "add.u64".to_owned(),
            "i32" => "add.s32".to_owned(),
            _ => format!("add.{ty}"),
        };
        let ordered = format!("{}.{}", self.name, ty.replace('i', "s"));
        match self.name {
            "and" | "or" | "xor" | "exch" => (format!("{}.b{width}", self.name), one("val")),
            "cas" => (format!("cas.b{width}"), vec![to_bits(ty, "first_val"), to_bits(ty, "second_val")]),
            "add" => (sum, one("val")),
            "sub" => (sum, one(&negated)),
            "min" | "max" => (ordered, one("val")),
            "inc" => (format!("add.u{width}"), vec![format!("1u{width}")]),
            "dec" => (format!("add.u{width}"), vec![format!("u{width}::MAX")]),
            "inc_limit" => ("inc.u32".to_owned(), one("val")),
            "dec_limit" => ("dec.u32".to_owned(), one("val")),
            other => unreachable!("no operation {other}"),
        }
    }
}

/// A function of a PTX instruction; `result` is its type or empty.
fn function(doc: &str, name: &str, params: &str, result: &str, device: &str) -> String {
    let (arrow, declare, host, value) = match result {
        "" => (String::new(), "", format!("crate::atomic::on_host::<()>(\"{name}\");"), ""),
        ty => {
            (format!("-> {ty}"), "let value;", format!("value = crate::atomic::on_host::<{ty}>(\"{name}\");"), "value")
        }
    };
    format!(
        "#[doc = {doc:?}]
        ///
        /// # Safety
        /// `ptr`, if there is one, must be valid for this access, aligned to its size, and not written by accesses that are not atomic meanwhile.
        #[inline(always)]
        #[cfg_attr(not(target_arch = \"nvptx64\"), allow(unused_variables))]
        pub unsafe fn {name}({params}) {arrow} {{
            {declare}
            #[cfg(target_arch = \"nvptx64\")]
            // SAFETY: by the caller.
            unsafe {{ {device} }}
            #[cfg(not(target_arch = \"nvptx64\"))]
            {{ {host} }}
            {value}
        }}"
    )
}

fn rmw_name(op: &str, order: &str, ty: &str, scope: &str) -> String {
    format!("atomic_fetch_{op}_{order}_{ty}_{scope}")
}

pub(crate) fn intrinsics() -> TokenStream {
    let mut text = String::new();
    for (scope, word, covers) in SCOPES {
        let old = if word == "gpu" { "gl" } else { word };
        for (name, ptx) in [
            (format!("membar_{scope}"), format!("membar.{old}")),
            (format!("fence_sc_{scope}"), format!("fence.sc.{word}")),
            (format!("fence_acqrel_{scope}"), format!("fence.acq_rel.{word}")),
        ] {
            let doc = format!("Orders this thread's memory accesses for {covers} (`{ptx}`).");
            text += &function(&doc, &name, "", "", &format!("core::arch::asm!(\"{ptx};\", options(nostack));"));
        }
        for (order, dot) in ORDERS {
            for width in ["32", "64"] {
                let scoped = if order == "volatile" { ".volatile".to_owned() } else { format!("{dot}.{word}") };
                if ["relaxed", "acquire", "volatile"].contains(&order) {
                    let ptx = format!("ld{scoped}.u{width}");
                    let asm = format!(
                        "core::arch::asm!(\"{ptx} {{0}}, [{{1}}];\", out(reg{width}) value, in(reg64) ptr, options(nostack));"
                    );
                    let name = format!("atomic_load_{order}_{width}_{scope}");
                    let params = format!("ptr: *const u{width}");
                    text += &function(&format!("Reads `*ptr` (`{ptx}`)."), &name, &params, &format!("u{width}"), &asm);
                }
                if ["relaxed", "release", "volatile"].contains(&order) {
                    let ptx = format!("st{scoped}.u{width}");
                    let asm = format!(
                        "core::arch::asm!(\"{ptx} [{{0}}], {{1}};\", in(reg64) ptr, in(reg{width}) val, options(nostack));"
                    );
                    let name = format!("atomic_store_{order}_{width}_{scope}");
                    let params = format!("ptr: *mut u{width}, val: u{width}");
                    text += &function(&format!("Writes `*ptr` (`{ptx}`)."), &name, &params, "", &asm);
                }
            }
            for op in &RMW {
                for ty in op.types {
                    text += &rmw(op, (order, dot), ty, (scope, word));
                }
            }
        }
    }
    text.parse().expect("the table is of Rust")
}

fn rmw(op: &Rmw, (order, dot): (&str, &str), ty: &str, (scope, word): (&str, &str)) -> String {
    let (what, operands) = op.instruction(ty);
    let ptx = format!("atom{dot}.{word}.{what}");
    let width = bits(ty);
    let places: String = (0..operands.len()).map(|at| format!(", {{{}}}", at + 2)).collect();
    let inputs: String = operands.iter().map(|operand| format!("in(reg{width}) {operand}, ")).collect();
    let device = format!(
        "let old: {}; core::arch::asm!(\"{ptx} {{0}}, [{{1}}]{places};\", out(reg{width}) old, in(reg64) ptr, {inputs} options(nostack)); value = {};",
        unsigned(ty),
        from_bits(ty, "old"),
    );
    let params: String = op.params().iter().map(|name| format!(", {name}: {ty}")).collect();
    let doc = format!("{} Returns the value from before (`{ptx}`).", op.meaning);
    function(&doc, &rmw_name(op.name, order, ty, scope), &format!("ptr: *mut {ty}{params}"), ty, &device)
}

/// `callback! { kernel type: op parameters name; … }` of every read-modify-write intrinsic of a type, or, for the type
/// `access`, of all loads, stores and fences. For tests.
pub(crate) fn table(input: TokenStream) -> TokenStream {
    let text = input.to_string();
    let (callback, ty) = text.split_once(',').expect("a macro and a type");
    let (ty, mut rows) = (ty.trim(), String::new());
    for ((order, _), (scope, ..)) in ORDERS.iter().flat_map(|order| SCOPES.iter().map(move |scope| (order, scope))) {
        for op in RMW.iter().filter(|op| op.types.contains(&ty)) {
            rows += &format!("{} {} {};", op.name, op.params().len(), rmw_name(op.name, order, ty, scope));
        }
        for width in ["32", "64"].iter().filter(|_| ty == "access") {
            if !["acqrel", "release"].contains(order) {
                rows += &format!("load {width} atomic_load_{order}_{width}_{scope};");
            }
            if !["acqrel", "acquire"].contains(order) {
                rows += &format!("store {width} atomic_store_{order}_{width}_{scope};");
            }
        }
    }
    for ((scope, ..), name) in
        SCOPES.iter().flat_map(|scope| ["membar", "fence_sc", "fence_acqrel"].map(|name| (scope, name)))
    {
        rows += if ty == "access" { format!("fence 0 {name}_{scope};") } else { String::new() }.as_str();
    }
    format!("{callback}! {{ intrinsics_{ty} {ty}: {rows} }}").parse().expect("the table is of Rust")
}

const ORDERING: &str = "/// An ordering of `core::sync::atomic`. `SeqCst` is a `fence.sc` before an acquiring access.";

pub(crate) fn mid() -> TokenStream {
    let mut text = String::new();
    for (scope, _, covers) in SCOPES {
        text += &format!(
            "/// A fence for {covers}: `fence.sc` for `SeqCst`, nothing for `Relaxed`, else `fence.acq_rel`.
            #[inline(always)]
            pub fn {scope}_thread_fence(ordering: Ordering) {{
                // SAFETY: a fence only orders.
                unsafe {{ match ordering {{
                    Ordering::SeqCst => intrinsics::fence_sc_{scope}(),
                    Ordering::Relaxed => (),
                    _ => intrinsics::fence_acqrel_{scope}(),
                }} }}
            }}"
        );
        for width in ["32", "64"] {
            text += &load_and_store(scope, covers, width);
        }
        for op in RMW.iter().filter(|op| !op.name.contains("inc") && !op.name.contains("dec")) {
            for ty in op.types {
                text += &mid_rmw(op, scope, covers, ty);
            }
        }
    }
    text.parse().expect("the table is of Rust")
}

fn load_and_store(scope: &str, covers: &str, width: &str) -> String {
    format!(
        "/// Reads `*ptr`, atomically for {covers}.
        {ORDERING}
        ///
        /// # Safety
        /// As for a `core` atomic at `ptr`.
        ///
        /// # Panics
        /// A load cannot be `Release` or `AcqRel`.
        #[inline(always)]
        #[must_use]
        pub unsafe fn atomic_load_{width}_{scope}(ptr: *mut u{width}, ordering: Ordering) -> u{width} {{
            // SAFETY: by the caller.
            unsafe {{ match ordering {{
                Ordering::Relaxed => intrinsics::atomic_load_relaxed_{width}_{scope}(ptr),
                Ordering::Acquire => intrinsics::atomic_load_acquire_{width}_{scope}(ptr),
                Ordering::SeqCst => {{
                    intrinsics::fence_sc_{scope}();
                    intrinsics::atomic_load_acquire_{width}_{scope}(ptr)
                }}
                _ => panic!(\"an atomic load releases nothing: order it Relaxed, Acquire or SeqCst\"),
            }} }}
        }}

        /// Writes `*ptr`, atomically for {covers}.
        {ORDERING}
        ///
        /// # Safety
        /// As for a `core` atomic at `ptr`.
        ///
        /// # Panics
        /// A store cannot be `Acquire` or `AcqRel`.
        #[inline(always)]
        pub unsafe fn atomic_store_{width}_{scope}(ptr: *mut u{width}, ordering: Ordering, val: u{width}) {{
            // SAFETY: by the caller.
            unsafe {{ match ordering {{
                Ordering::Relaxed => intrinsics::atomic_store_relaxed_{width}_{scope}(ptr, val),
                Ordering::Release => intrinsics::atomic_store_release_{width}_{scope}(ptr, val),
                Ordering::SeqCst => {{
                    intrinsics::fence_sc_{scope}();
                    intrinsics::atomic_store_relaxed_{width}_{scope}(ptr, val)
                }}
                _ => panic!(\"an atomic store acquires nothing: order it Relaxed, Release or SeqCst\"),
            }} }}
        }}"
    )
}

fn mid_rmw(op: &Rmw, scope: &str, covers: &str, ty: &str) -> String {
    let call = |order: &str| {
        let arguments: String = op.params().iter().map(|name| format!(", {name}")).collect();
        format!("intrinsics::{}(ptr{arguments})", rmw_name(op.name, order, ty, scope))
    };
    // Rust-CUDA's order of parameters, which is another one for compare-and-swap.
    let (name, params) = match op.name {
        "cas" => (
            format!("atomic_compare_and_swap_{ty}_{scope}"),
            format!("first_val: {ty}, second_val: {ty}, ordering: Ordering"),
        ),
        op => (format!("atomic_fetch_{op}_{ty}_{scope}"), format!("ordering: Ordering, val: {ty}")),
    };
    format!(
        "/// {} Returns the value from before. Atomic for {covers}.
        {ORDERING}
        ///
        /// # Safety
        /// As for a `core` atomic at `ptr`.
        #[inline(always)]
        pub unsafe fn {name}(ptr: *mut {ty}, {params}) -> {ty} {{
            // SAFETY: by the caller.
            unsafe {{ match ordering {{
                Ordering::Relaxed => {},
                Ordering::Acquire => {},
                Ordering::Release => {},
                Ordering::AcqRel => {},
                // `Ordering` is open to additions; the strongest is right for any.
                _ => {{ intrinsics::fence_sc_{scope}(); {} }}
            }} }}
        }}",
        op.meaning,
        call("relaxed"),
        call("acquire"),
        call("release"),
        call("acqrel"),
        call("acqrel"),
    )
}

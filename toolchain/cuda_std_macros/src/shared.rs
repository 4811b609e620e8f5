//! `shared_array!` and `#[address_space(shared)]`: named memory in the block's shared window.
//!
//! ```text
//! shared_array![f32; 256]   →   global_asm!(".shared .align 16 .b8 shared_my_kernels_0[1024];")    the memory, once
//!                               asm!("mov …, shared_my_kernels_0; …")                              its place, per use
//! ```
//!
//! The compiler has no `static` in shared memory, so the memory is a line of PTX. That line stands outside of every function:
//! inlining or copying the code that uses the memory cannot make a second one.

use std::sync::atomic::{AtomicUsize, Ordering};

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, Expr, Ident, ItemStatic, LitStr, StaticMutability, Token, Type};

/// `T; LEN`.
struct Array {
    element: Type,
    len: Expr,
}

impl Parse for Array {
    fn parse(input: ParseStream<'_>) -> Result<Self, Error> {
        let wrong = |span| Error::new(span, "`shared_array!` takes an element type and a length, as `[f32; 256]`");
        let element = input.parse()?;
        if input.parse::<Token![;]>().is_err() {
            return Err(wrong(input.span()));
        }
        let len = input.parse()?;
        if input.is_empty() { Ok(Self { element, len }) } else { Err(wrong(input.span())) }
    }
}

pub(crate) fn array(input: TokenStream) -> Result<TokenStream, Error> {
    let Array { element, len } = syn::parse2(input)?;
    let memory = Memory::of(quote!([#element; #len]));
    let (definition, offset) = (memory.definition(), memory.offset());
    Ok(quote! {{
        #definition
        let __memory: *mut #element;
        #[cfg(target_arch = "nvptx64")]
        {
            #offset
            __memory = ::cuda_std::__private::shared_at::<#element>(__offset);
        }
        #[cfg(not(target_arch = "nvptx64"))]
        {
            __memory = ::cuda_std::__private::no_shared_memory();
        }
        __memory
    }})
}

pub(crate) fn variable(item: TokenStream) -> Result<TokenStream, Error> {
    const FORM: &str = "`#[address_space(shared)]` belongs on a `static mut NAME: [MaybeUninit<T>; N]`";
    let item: ItemStatic = syn::parse2(item).map_err(|e| Error::new(e.span(), FORM))?;
    if matches!(item.mutability, StaticMutability::None) {
        return Err(Error::new_spanned(item.static_token, FORM));
    }
    let ItemStatic { attrs, vis, ident, ty, expr, .. } = item;
    let memory = Memory::of(quote!(#ty));
    let (definition, offset) = (memory.definition(), memory.offset());
    let place = Ident::new(&format!("__{}_place_{}", ident, memory.number), ident.span());
    let undefined = LitStr::new(&format!("{ident}_is_shared_memory_take_its_as_mut_ptr_not_its_address"), ident.span());
    Ok(quote! {
        #[doc(hidden)]
        #[allow(non_camel_case_types)]
        #vis struct #place;

        // SAFETY: the line of PTX has this type's size and its alignment or more.
        unsafe impl ::cuda_std::__private::SharedPlace for #place {
            type Value = #ty;

            #[inline(always)]
            fn address() -> *mut #ty {
                #definition
                #[allow(dead_code)]
                const fn __is_uninitialised<T: ::cuda_std::__private::Uninitialised>(_: &T) {}
                // The initial value is checked, and is nothing else: no GPU initialises shared memory.
                const _: () = {
                    let value: #ty = #expr;
                    __is_uninitialised(&value);
                };
                let __memory: *mut #ty;
                #[cfg(target_arch = "nvptx64")]
                {
                    #offset
                    __memory = ::cuda_std::__private::shared_at::<#ty>(__offset);
                }
                #[cfg(not(target_arch = "nvptx64"))]
                {
                    __memory = ::cuda_std::__private::no_shared_memory();
                }
                __memory
            }
        }

        // Stands for the memory without being at its address. On the GPU it has none at all: code that takes it does not
        // link, and the missing symbol says what to take instead.
        #[cfg(target_arch = "nvptx64")]
        #[allow(improper_ctypes)]
        unsafe extern "C" {
            #(#attrs)*
            #[link_name = #undefined]
            #vis static mut #ident: ::cuda_std::shared::SharedStatic<#place>;
        }
        #[cfg(not(target_arch = "nvptx64"))]
        #(#attrs)*
        #vis static mut #ident: ::cuda_std::shared::SharedStatic<#place> = ::cuda_std::shared::SharedStatic::new();
    })
}

/// A piece of shared memory.
struct Memory {
    /// Different for every piece of a crate.
    number: usize,
    symbol: String,
    ty: TokenStream,
}

impl Memory {
    fn of(ty: TokenStream) -> Self {
        // Counted, not named after a line: a macro of the user's may expand to many from one line. The compiler expands
        // macros one at a time and in the same order each time.
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let word = |variable: &str| {
            let value = std::env::var(variable).unwrap_or_default();
            value.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect::<String>()
        };
        let symbol = format!("shared_{}_{}_{number}", word("CARGO_CRATE_NAME"), word("CARGO_PKG_VERSION"));
        Self { number, symbol, ty }
    }

    /// Items that define the memory.
    //
    // `global_asm!` is an item only in a module, and a module in a function does not see the function's own names. It sees its
    // own type, and how large that type's memory is, the implementation outside of the module says.
    fn definition(&self) -> TokenStream {
        let Self { symbol, ty, .. } = self;
        let line = LitStr::new(&format!(".shared .align 16 .b8 {symbol}[{{size}}];"), Span::call_site());
        let module = Ident::new(&format!("__{symbol}"), Span::call_site());
        quote! {
            #[doc(hidden)]
            #[allow(non_snake_case)]
            mod #module {
                pub(super) struct Memory;
                #[cfg(target_arch = "nvptx64")]
                ::core::arch::global_asm!(
                    #line, size = const <Memory as ::cuda_std::__private::SharedMemory>::SIZE
                );
            }
            impl ::cuda_std::__private::SharedMemory for #module::Memory {
                const SIZE: usize = ::cuda_std::__private::shared_size::<#ty>();
            }
            const _: usize = <#module::Memory as ::cuda_std::__private::SharedMemory>::SIZE;
        }
    }

    /// Statements that put its distance from the start of launch-sized memory into `__offset`.
    fn offset(&self) -> TokenStream {
        let text = format!("{{{{ .reg .b64 at; mov.b64 at, {}; sub.s64 {{0}}, at, {{1}}; }}}}", self.symbol);
        let text = LitStr::new(&text, Span::call_site());
        quote! {
            let __offset: u64;
            // SAFETY: computes a number from two addresses.
            unsafe {
                ::core::arch::asm!(
                    #text, out(reg64) __offset, in(reg64) ::cuda_std::__private::shared_start(),
                    options(pure, nomem, nostack, preserves_flags),
                );
            }
        }
    }
}

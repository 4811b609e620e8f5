//! `#[kernel]`: checks the signature and writes the entry point beside the function.
//!
//! ```text
//! unsafe fn add(a: &[f32], out: *mut f32) { … }          the function, as written
//! extern "ptx-kernel" fn entry(a: Option<&[f32; 0]>,     GPU only, exported as `add`:
//!                              a_len: usize,             a slice is two parameters,
//!                              out: *mut f32)            the rest pass through
//! ```

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, FnArg, ItemFn, Pat, ReturnType, Signature, Type, TypeReference};

pub(crate) fn expand(args: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    if !args.is_empty() {
        return Err(Error::new_spanned(args, "`#[kernel]` takes no arguments"));
    }
    let function: ItemFn = syn::parse2(item).map_err(|e| Error::new(e.span(), "`#[kernel]` belongs on a function"))?;
    check_signature(&function.sig)?;
    let params = function.sig.inputs.iter().map(Param::of).collect::<Result<Vec<_>, _>>()?;

    let name = &function.sig.ident;
    let export = name.to_string();
    let declarations = params.iter().map(Param::declaration);
    let arguments = params.iter().map(Param::argument);
    let copy_checks = params.iter().map(|param| {
        let ty = param.ty;
        quote_spanned!(ty.span() => let _ = __kernel_parameter_is_copy::<#ty>;)
    });
    let lifetimes = &function.sig.generics;
    Ok(quote! {
        #[cfg_attr(target_arch = "nvptx64", inline(always))]
        #function

        const _: () = {
            fn __kernel_parameter_is_copy<T: ::core::marker::Copy>() {}
            #[allow(unused)]
            fn __check #lifetimes () {
                #(#copy_checks)*
            }

            #[cfg(target_arch = "nvptx64")]
            #[unsafe(export_name = #export)]
            #[allow(improper_ctypes_definitions, non_snake_case)]
            unsafe extern "ptx-kernel" fn __entry #lifetimes (#(#declarations),*) {
                // SAFETY: the host that launches the kernel keeps the function's own promises.
                unsafe { #name(#(#arguments),*) }
            }
        };
    })
}

fn check_signature(sig: &Signature) -> Result<(), Error> {
    if sig.unsafety.is_none() {
        let message =
            "a kernel must be `unsafe fn`: whoever launches it promises that its pointers and lengths are right";
        return Err(Error::new_spanned(sig.fn_token, message));
    }
    if let Some(token) = &sig.asyncness {
        return Err(Error::new_spanned(token, "a kernel cannot be `async`: it runs to its end on the GPU"));
    }
    if let Some(token) = &sig.constness {
        return Err(Error::new_spanned(token, "a kernel cannot be `const`"));
    }
    if let Some(abi) = &sig.abi {
        return Err(Error::new_spanned(abi, "`#[kernel]` sets the ABI itself: remove the `extern`"));
    }
    if let Some(variadic) = &sig.variadic {
        return Err(Error::new_spanned(variadic, "a kernel takes a fixed number of parameters"));
    }
    if let Some(param) = sig.generics.params.iter().find(|p| !matches!(p, syn::GenericParam::Lifetime(_))) {
        let message = "a kernel cannot be generic: an entry point exists only for types that are named. \
                       Write a generic function and one kernel for each type that calls it";
        return Err(Error::new_spanned(param, message));
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        let message = "a kernel returns nothing: write results through a `*mut T` parameter";
        return Err(Error::new_spanned(ty, message));
    }
    Ok(())
}

/// A parameter of the kernel.
struct Param<'a> {
    name: syn::Ident,
    ty: &'a Type,
    /// `Some(element)` for `&[element]`.
    slice_of: Option<&'a Type>,
    lifetime: Option<&'a syn::Lifetime>,
}

impl<'a> Param<'a> {
    fn of(input: &'a FnArg) -> Result<Self, Error> {
        let typed = match input {
            FnArg::Typed(typed) => typed,
            FnArg::Receiver(receiver) => {
                return Err(Error::new_spanned(receiver, "a kernel is a free function: it cannot take `self`"));
            }
        };
        let name = match &*typed.pat {
            Pat::Ident(pat) => pat.ident.clone(),
            Pat::Wild(pat) => syn::Ident::new("_unused", pat.span()),
            other => {
                return Err(Error::new_spanned(other, "a kernel parameter is a plain name"));
            }
        };
        let name = syn::Ident::new(name.to_string().trim_start_matches("r#"), Span::mixed_site());
        let ty = &*typed.ty;
        let mut slice_of = None;
        let mut lifetime = None;
        if let Type::Reference(TypeReference { mutability, elem, lifetime: named, .. }) = ty {
            if mutability.is_some() {
                let message = "all threads of the launch would hold this `&mut` at once: take `*mut T` \
                               (and a length where it is needed) instead";
                return Err(Error::new_spanned(ty, message));
            }
            match &**elem {
                Type::Slice(slice) => slice_of = Some(&*slice.elem),
                Type::TraitObject(_) => {
                    return Err(Error::new_spanned(ty, "a vtable of the host means nothing on the GPU"));
                }
                Type::Path(path) if path.path.is_ident("str") => {
                    return Err(Error::new_spanned(ty, "`&str` has no agreed layout here: take `&[u8]`"));
                }
                _ => {}
            }
            lifetime = named.as_ref();
        }
        Ok(Self { name, ty, slice_of, lifetime })
    }

    fn length(&self) -> syn::Ident {
        format_ident!("{}_len", self.name)
    }

    fn declaration(&self) -> TokenStream {
        let Self { name, ty, lifetime, .. } = self;
        match self.slice_of {
            // A reference, not a pointer: that is what gives the parameter `noalias readonly` and its alignment, hence
            // `ld.global.nc`. Zero elements, so that the type promises nothing of an empty slice's pointer; an `Option`,
            // because that pointer may be null.
            Some(element) => {
                let length = self.length();
                quote!(#name: ::core::option::Option<& #lifetime [#element; 0]>, #length: usize)
            }
            None => quote!(#name: #ty),
        }
    }

    fn argument(&self) -> TokenStream {
        let name = &self.name;
        match self.slice_of {
            Some(_) => {
                let length = self.length();
                // SAFETY of the generated code: the host passed the pointer and length of one slice.
                quote!(::cuda_std::__private::slice(#name, #length))
            }
            None => quote!(#name),
        }
    }
}

//! `#[kernel]`: checks the signature and writes the entry point beside the function.
//!
//! ```text
//! unsafe fn add(a: &[f32], out: *mut f32) { … }          the function, as written
//! extern "ptx-kernel" fn entry(a: Option<&[f32; 0]>,     GPU only, exported as `add`:
//!                              a_len: usize,             a slice is two parameters,
//!                              out: *mut f32)            the rest pass through
//! struct AddKernel                                       host only: see launch.rs
//! ```
//!
//! A `GridMut<T>` is two parameters as well; a `ThisBlock` is none.

use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Error, FnArg, GenericArgument, GenericParam, Generics, Ident, ItemFn, Lifetime, PathArguments};
use syn::{ReturnType, Signature, Type, TypeReference, WherePredicate};

use crate::contract::Contract;
use crate::launch;

pub(crate) fn expand(args: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    if !args.is_empty() {
        return Err(Error::new_spanned(args, "`#[kernel]` takes no arguments"));
    }
    let mut function: ItemFn =
        syn::parse2(item).map_err(|e| Error::new(e.span(), "`#[kernel]` belongs on a function"))?;
    let contract = Contract::take(&mut function.attrs, &function.sig)?;
    check_signature(&function.sig, &contract)?;
    let params = function.sig.inputs.iter().enumerate().map(Param::of).collect::<Result<Vec<_>, _>>()?;
    let mut blocks = params.iter().filter(|param| matches!(param.passed, Passed::ThisBlock));
    if let Some(second) = blocks.nth(1) {
        return Err(Error::new_spanned(second.ty, "a thread has one `ThisBlock`: a kernel takes it once"));
    }

    let name = &function.sig.ident;
    let declarations: Vec<_> = params.iter().map(Param::declaration).filter(|tokens| !tokens.is_empty()).collect();
    let arguments: Vec<_> = params.iter().map(Param::argument).collect();
    let checks: Vec<_> = params.iter().map(Param::checks).collect();
    let alignments: Vec<_> = params.iter().filter_map(Param::alignment).collect();
    let lifetimes = of_lifetimes(&function.sig.generics);
    let bounds = &lifetimes.where_clause;
    // One for a kernel that is not generic. Of others the names of the generic parameters mean the instance's types.
    let entries = contract.instances.iter().map(|instance| {
        let (entry, aliases) = (&instance.entry, instance.aliases(&function.sig));
        let (turbofish, directives) = (instance.turbofish(), contract.directives(&instance.entry));
        quote! {
            const _: () = {
                #(#aliases)*
                fn __kernel_parameter_is_copy<Parameter: ::core::marker::Copy>() {}
                #[allow(unused)]
                fn __check #lifetimes () #bounds {
                    use ::cuda_std::__private::AsWritten as _;
                    #(#checks)*
                }
                #(#alignments)*

                #[cfg(target_arch = "nvptx64")]
                #[unsafe(export_name = #entry)]
                #[allow(improper_ctypes_definitions)]
                unsafe extern "ptx-kernel" fn __entry #lifetimes (#(#declarations),*) #bounds {
                    // SAFETY: the host that launches the kernel keeps the function's own promises.
                    #[allow(unused_unsafe)]
                    unsafe { #name #turbofish (#(#arguments),*) }
                }
            };
            #directives
        }
    });
    let host = launch::expand(&function, &contract);
    Ok(quote! {
        #[cfg_attr(target_arch = "nvptx64", inline(always))]
        #function

        #(#entries)*

        #host
    })
}

/// What an entry point keeps of a kernel's generic parameters: everything but the types and numbers.
fn of_lifetimes(generics: &Generics) -> Generics {
    let mut generics = generics.clone();
    generics.params = generics.params.into_iter().filter(|p| matches!(p, GenericParam::Lifetime(_))).collect();
    if let Some(clause) = &mut generics.where_clause {
        let all = std::mem::take(&mut clause.predicates);
        clause.predicates = all.into_iter().filter(|p| matches!(p, WherePredicate::Lifetime(_))).collect();
    }
    generics
}

const GENERIC: &str = "a kernel cannot be generic without saying for which types: an entry point exists only for types that \
                       are named. List them below `#[kernel]`, as `#[instances(f32, f64)]`";

fn check_signature(sig: &Signature, contract: &Contract) -> Result<(), Error> {
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
    let generic = sig.generics.params.iter().find(|p| !matches!(p, GenericParam::Lifetime(_)));
    if let Some(param) = generic.filter(|_| contract.instances.iter().all(|instance| instance.arguments.is_empty())) {
        return Err(Error::new_spanned(param, GENERIC));
    }
    if let ReturnType::Type(_, ty) = &sig.output {
        let message = "a kernel returns nothing: write results through a `*mut T` parameter";
        return Err(Error::new_spanned(ty, message));
    }
    Ok(())
}

/// A parameter of the kernel.
struct Param<'a> {
    /// Of the entry's parameter. Numbered: the function's own names may be patterns, or those that the lengths would take.
    name: Ident,
    ty: &'a Type,
    passed: Passed<'a>,
}

/// How a parameter is passed.
enum Passed<'a> {
    /// As it is written.
    Plain,
    /// Element and lifetime of `&[element]`.
    Slice(&'a Type, Option<&'a Lifetime>),
    /// Of `GridMut<element>`.
    GridMut(&'a Type, Option<&'a Lifetime>),
    /// A `ThisBlock`, which is made on the GPU.
    ThisBlock,
}

impl<'a> Param<'a> {
    fn of((index, input): (usize, &'a FnArg)) -> Result<Self, Error> {
        let typed = match input {
            FnArg::Typed(typed) => typed,
            FnArg::Receiver(receiver) => {
                return Err(Error::new_spanned(receiver, "a kernel is a free function: it cannot take `self`"));
            }
        };
        if let Some(attr) = typed.attrs.iter().find(|attr| attr.path().is_ident("cfg")) {
            let message = "a kernel has the same parameters in every build: put the `#[cfg]` on the kernel";
            return Err(Error::new_spanned(attr, message));
        }
        let ty = bare(&typed.ty);
        let mut passed = made_of(ty);
        if let Type::ImplTrait(_) = ty {
            return Err(Error::new_spanned(ty, GENERIC));
        }
        if let Type::Reference(TypeReference { mutability, elem, lifetime, .. }) = ty {
            if mutability.is_some() {
                let message = "all threads of the launch would hold this `&mut` at once: take `*mut T` \
                               (and a length where it is needed) instead";
                return Err(Error::new_spanned(ty, message));
            }
            match bare(elem) {
                Type::Slice(of) => passed = Passed::Slice(&of.elem, lifetime.as_ref()),
                Type::TraitObject(_) => {
                    return Err(Error::new_spanned(ty, "a vtable of the host means nothing on the GPU"));
                }
                Type::ImplTrait(_) => return Err(Error::new_spanned(elem, GENERIC)),
                Type::Path(path) if path.path.is_ident("str") => {
                    return Err(Error::new_spanned(ty, "`&str` has no agreed layout here: take `&[u8]`"));
                }
                _ => {}
            }
        }
        Ok(Self { name: format_ident!("p{index}"), ty, passed })
    }

    fn length(&self) -> Ident {
        format_ident!("{}_len", self.name)
    }

    fn declaration(&self) -> TokenStream {
        let Self { name, ty, .. } = self;
        let length = self.length();
        match self.passed {
            // A reference, not a pointer: that is what gives the parameter `noalias readonly` and its alignment, hence
            // `ld.global.nc`. Zero elements, so that the type promises nothing of an empty slice's pointer; an `Option`,
            // because that pointer may be null.
            Passed::Slice(element, lifetime) => {
                quote!(#name: ::core::option::Option<& #lifetime [#element; 0]>, #length: usize)
            }
            Passed::GridMut(element, lifetime) => {
                quote!(#name: ::core::option::Option<& #lifetime mut [#element; 0]>, #length: usize)
            }
            Passed::ThisBlock => TokenStream::new(),
            Passed::Plain => quote!(#name: #ty),
        }
    }

    // SAFETY of the generated code: the host passed the pointer and length of one slice; a thread enters the kernel once.
    fn argument(&self) -> TokenStream {
        let (name, length) = (&self.name, self.length());
        match self.passed {
            Passed::Slice(..) => quote!(::cuda_std::__private::slice(#name, #length)),
            Passed::GridMut(..) => quote!(::cuda_std::__private::grid_mut(#name, #length)),
            Passed::ThisBlock => quote!(::cuda_std::__private::block()),
            Passed::Plain => quote!(#name),
        }
    }

    /// What only the type checker can tell: `Copy`, and no slice that a `type` or a macro hid from [`Param::of`].
    fn checks(&self) -> TokenStream {
        let ty = self.ty;
        let copy = quote_spanned!(ty.span() => let _ = __kernel_parameter_is_copy::<#ty>;);
        match self.passed {
            Passed::Slice(..) => return copy,
            // Theirs are the types of these names, or the entry point does not compile.
            Passed::GridMut(element, _) => {
                return quote_spanned!(ty.span() => let _ = __kernel_parameter_is_copy::<#element>;);
            }
            Passed::ThisBlock => return TokenStream::new(),
            Passed::Plain => {}
        }
        let one = quote_spanned!(ty.span() => ::cuda_std::__private::one_parameter(::cuda_std::__private::Probe::<#ty>::shape()););
        quote!(#copy #one)
    }

    /// The compiler stops with an internal error where a kernel parameter is aligned to more than 16 bytes; this says why
    /// before it does. Not for types that name a lifetime, which a `const` cannot: those are references, nearly always.
    fn alignment(&self) -> Option<TokenStream> {
        let ty = self.ty;
        if !matches!(self.passed, Passed::Plain) || names_a_lifetime(quote!(#ty)) {
            return None;
        }
        let message = "a kernel parameter is aligned to 16 bytes at most: pass a pointer to this type instead";
        Some(
            quote_spanned!(ty.span() => const _: () = ::core::assert!(::core::mem::align_of::<#ty>() <= 16, #message);),
        )
    }
}

/// What the name of a type says of how it is passed.
fn made_of(ty: &Type) -> Passed<'_> {
    let Type::Path(path) = ty else { return Passed::Plain };
    let Some(last) = path.path.segments.last() else { return Passed::Plain };
    if last.ident == "ThisBlock" && last.arguments.is_none() {
        return Passed::ThisBlock;
    }
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return Passed::Plain };
    if last.ident != "GridMut" {
        return Passed::Plain;
    }
    let (mut element, mut lifetime) = (None, None);
    for argument in &arguments.args {
        match argument {
            GenericArgument::Type(ty) => element = Some(ty),
            GenericArgument::Lifetime(named) => lifetime = Some(named),
            _ => return Passed::Plain,
        }
    }
    element.map_or(Passed::Plain, |element| Passed::GridMut(element, lifetime))
}

/// Whether the tokens name a lifetime.
fn names_a_lifetime(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Punct(punct) => punct.as_char() == '\'',
        TokenTree::Group(group) => names_a_lifetime(group.stream()),
        _ => false,
    })
}

/// A type without the parentheses, visible or not, that a macro's `$t:ty` leaves around it.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        _ => ty,
    }
}

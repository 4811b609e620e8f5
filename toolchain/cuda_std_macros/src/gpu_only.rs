//! `#[gpu_only]`, `#[externally_visible]`, `#[address_space]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Error, ImplItemFn, ItemFn, Meta};

pub(crate) fn expand(args: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    no_arguments(&args, "gpu_only")?;
    // A method is a function with an optional `default`; the wider grammar takes both.
    let function: ImplItemFn =
        syn::parse2(item).map_err(|e| Error::new(e.span(), "`#[gpu_only]` belongs on a function"))?;
    let ImplItemFn { attrs, vis, defaultness, mut sig, block } = function;
    let name = sig.ident.to_string();
    let gpu = quote! {
        #[cfg(target_arch = "nvptx64")]
        #(#attrs)* #vis #defaultness #sig #block
    };
    sig.abi = None;
    Ok(quote! {
        #gpu
        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(unused_variables)]
        #(#attrs)* #vis #defaultness #sig {
            ::core::panic!(::core::concat!("`", #name, "` runs on the GPU only, and was called on the host"))
        }
    })
}

pub(crate) fn externally_visible(args: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    no_arguments(&args, "externally_visible")?;
    let function: ItemFn =
        syn::parse2(item).map_err(|e| Error::new(e.span(), "`#[externally_visible]` belongs on a function"))?;
    let exported = function.attrs.iter().any(|attr| {
        let path = attr.path();
        let named = |name| path.is_ident(name);
        let inner = match &attr.meta {
            Meta::List(list) if named("unsafe") => list.tokens.to_string(),
            _ => String::new(),
        };
        named("no_mangle") || named("export_name") || inner.starts_with("no_mangle") || inner.starts_with("export_name")
    });
    if exported {
        return Ok(quote!(#function));
    }
    let message =
        "`#[externally_visible]` needs `#[unsafe(no_mangle)]`: a mangled name is not one that others can call";
    Err(Error::new_spanned(&function.sig, message))
}

pub(crate) fn address_space(args: TokenStream, item: TokenStream) -> Result<TokenStream, Error> {
    let space = args.to_string();
    let message = match space.as_str() {
        "shared" => return crate::shared::variable(item),
        "global" => "a `static` is in global memory without `#[address_space(global)]`: remove the attribute",
        "constant" | "local" => {
            "the compiler cannot place a `static` in this address space: without the attribute it is in global memory"
        }
        _ => "`#[address_space]` takes `shared`, `global`, `constant` or `local`",
    };
    Err(if args.is_empty() {
        Error::new(proc_macro2::Span::call_site(), message)
    } else {
        Error::new_spanned(args, message)
    })
}

fn no_arguments(args: &TokenStream, name: &str) -> Result<(), Error> {
    if args.is_empty() { Ok(()) } else { Err(Error::new_spanned(args, format!("`#[{name}]` takes no arguments"))) }
}

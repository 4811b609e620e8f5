//! The attributes below `#[kernel]`: what a kernel says of its launches, and for which types it is there.
//!
//! They are taken off the function, since nothing else knows them. What the assembler must know goes into the module as a
//! comment, `// cuda_builder: entry NAME .maxntid 256, 1, 1`, of which `cuda_builder` makes directives of the kernel.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Expr, GenericArgument, GenericParam, Signature, Token, parenthesized};

#[derive(Default)]
pub(crate) struct Contract {
    /// Most threads a block, and least blocks a multiprocessor.
    pub(crate) launch_bounds: Option<(Expr, Option<Expr>)>,
    /// Threads along x, y, z.
    pub(crate) block_size: Option<[Expr; 3]>,
    /// Bytes, from the launch.
    pub(crate) dynamic_shared: Option<Expr>,
    pub(crate) requires: Vec<Expr>,
    pub(crate) instances: Vec<Instance>,
}

/// One entry point.
pub(crate) struct Instance {
    /// What its generic parameters are, in their order. None for a kernel that is not generic.
    pub(crate) arguments: Vec<GenericArgument>,
    /// Its name in the PTX.
    pub(crate) entry: String,
}

type List = Punctuated<Expr, Token![,]>;

impl Contract {
    /// Takes the attributes that are ours off the function.
    pub(crate) fn take(attrs: &mut Vec<Attribute>, sig: &Signature) -> Result<Self, Error> {
        let mut contract = Self::default();
        let (ours, others) = attrs.drain(..).partition(|attr| NAMES.iter().any(|name| attr.path().is_ident(name)));
        *attrs = others;
        let ours: Vec<Attribute> = ours;
        for (at, attr) in ours.iter().enumerate() {
            if ours[..at].iter().any(|earlier| {
                earlier.path().get_ident() == attr.path().get_ident() && !attr.path().is_ident("requires")
            }) {
                return Err(Error::new_spanned(attr, "a kernel has one of these"));
            }
            contract.add(attr, sig)?;
        }
        if let (Some(_), Some(attr)) =
            (&contract.block_size, ours.iter().find(|attr| attr.path().is_ident("launch_bounds")))
        {
            let message = "`#[block_size]` says already how many threads a block has: remove `#[launch_bounds]`";
            return Err(Error::new_spanned(attr, message));
        }
        if contract.instances.is_empty() {
            contract.instances.push(Instance { arguments: Vec::new(), entry: sig.ident.unraw().to_string() });
        }
        Ok(contract)
    }

    fn add(&mut self, attr: &Attribute, sig: &Signature) -> Result<(), Error> {
        let list = || attr.parse_args_with(List::parse_terminated);
        let wrong = |message: &str| Err(Error::new_spanned(attr, message));
        if attr.path().is_ident("instances") {
            self.instances = instances(attr, sig)?;
        } else if attr.path().is_ident("requires") {
            self.requires.extend(list()?);
        } else if attr.path().is_ident("dynamic_shared") {
            self.dynamic_shared = Some(attr.parse_args()?);
        } else if attr.path().is_ident("launch_bounds") {
            let mut numbers = list()?.into_iter();
            self.launch_bounds = match (numbers.next(), numbers.next(), numbers.next()) {
                (Some(threads), blocks, None) => Some((threads, blocks)),
                _ => {
                    return wrong(
                        "`#[launch_bounds(threads)]` or `#[launch_bounds(threads, blocks_per_multiprocessor)]`",
                    );
                }
            };
        } else {
            let mut numbers = list()?.into_iter();
            let one = || syn::parse_quote!(1);
            self.block_size = match (numbers.next(), numbers.next(), numbers.next(), numbers.next()) {
                (Some(x), y, z, None) => Some([x, y.unwrap_or_else(one), z.unwrap_or_else(one)]),
                _ => return wrong("`#[block_size(x)]`, `#[block_size(x, y)]` or `#[block_size(x, y, z)]`"),
            };
        }
        Ok(())
    }

    /// The comment that `cuda_builder` reads, for one entry point.
    pub(crate) fn directives(&self, entry: &str) -> TokenStream {
        let (text, numbers): (&str, Vec<&Expr>) = match (&self.launch_bounds, &self.block_size) {
            (_, Some([x, y, z])) => (".reqntid {}, {}, {}", vec![x, y, z]),
            (Some((threads, None)), _) => (".maxntid {}, 1, 1", vec![threads]),
            (Some((threads, Some(blocks))), _) => (".maxntid {}, 1, 1 .minnctapersm {}", vec![threads, blocks]),
            (None, None) => return TokenStream::new(),
        };
        let comment = format!("// cuda_builder: entry {entry} {text}");
        quote! {
            #[cfg(target_arch = "nvptx64")]
            ::core::arch::global_asm!(#comment, #(const #numbers),*);
        }
    }
}

const NAMES: [&str; 5] = ["launch_bounds", "block_size", "dynamic_shared", "requires", "instances"];

/// `f32, f64`, or `(f32, 4), (f64, 2)` where there is more than one parameter.
fn instances(attr: &Attribute, sig: &Signature) -> Result<Vec<Instance>, Error> {
    let count = sig.generics.params.iter().filter(|param| !matches!(param, GenericParam::Lifetime(_))).count();
    if count == 0 {
        return Err(Error::new_spanned(attr, "`#[instances]` is for generic kernels, and this one is not generic"));
    }
    let one = |input: ParseStream<'_>| -> Result<Vec<GenericArgument>, Error> {
        if count == 1 {
            return Ok(vec![input.parse()?]);
        }
        let inside;
        parenthesized!(inside in input);
        let arguments = Punctuated::<GenericArgument, Token![,]>::parse_terminated(&inside)?;
        if arguments.len() != count {
            return Err(Error::new(inside.span(), format!("the kernel has {count} generic parameters")));
        }
        Ok(arguments.into_iter().collect())
    };
    let parser = |input: ParseStream<'_>| {
        let mut all = Vec::new();
        while !input.is_empty() {
            all.push(one(input)?);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(all)
    };
    let syn::Meta::List(list) = &attr.meta else {
        return Err(Error::new_spanned(attr, "`#[instances(f32, f64)]` lists the types that the kernel is there for"));
    };
    let all = parser.parse2(list.tokens.clone())?;
    if all.is_empty() {
        return Err(Error::new_spanned(attr, "no instance is listed, so there would be no kernel"));
    }
    let mut found: Vec<Instance> = Vec::new();
    for arguments in all {
        let entry = arguments.iter().fold(sig.ident.unraw().to_string(), |name, argument| name + "_" + &word(argument));
        if found.iter().any(|other| other.entry == entry) {
            return Err(Error::new_spanned(attr, format!("two instances would both be called `{entry}`")));
        }
        found.push(Instance { arguments, entry });
    }
    Ok(found)
}

/// A type or number as part of a name.
fn word(argument: &GenericArgument) -> String {
    let text = argument.to_token_stream().to_string();
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_")
}

impl Instance {
    /// Names for the generic parameters, so that what the signature says of them means this instance.
    pub(crate) fn aliases(&self, sig: &Signature) -> Vec<TokenStream> {
        let params = sig.generics.params.iter().filter(|param| !matches!(param, GenericParam::Lifetime(_)));
        params
            .zip(&self.arguments)
            .map(|(param, argument)| match param {
                GenericParam::Const(param) => {
                    let (name, ty) = (&param.ident, &param.ty);
                    quote!(#[allow(unused, non_upper_case_globals)] const #name: #ty = #argument;)
                }
                GenericParam::Type(param) => {
                    let name = &param.ident;
                    quote!(#[allow(unused, non_camel_case_types)] type #name = #argument;)
                }
                GenericParam::Lifetime(_) => TokenStream::new(),
            })
            .collect()
    }

    /// `::<f32, 4>`, or nothing.
    pub(crate) fn turbofish(&self) -> TokenStream {
        let arguments = &self.arguments;
        if arguments.is_empty() { TokenStream::new() } else { quote!(::<#(#arguments),*>) }
    }
}

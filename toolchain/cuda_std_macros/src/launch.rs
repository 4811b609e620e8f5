//! The host's side of a kernel: a type, `AddKernel` for `add`, that loads it and launches it with typed arguments.
//!
//! ```text
//! AddKernel::load(&module)? . launch(stream, (grid, block), a, b, out)
//!                                                          each parameter as what the host has for it
//! ```

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::{Expr, FnArg, GenericArgument, GenericParam, Ident, ItemFn, Pat, PathArguments, Type, WherePredicate};

use crate::contract::Contract;

pub(crate) fn expand(function: &ItemFn, contract: &Contract) -> TokenStream {
    let (vis, sig) = (&function.vis, &function.sig);
    let export = sig.ident.unraw().to_string();
    let name = format_ident!("{}Kernel", camel_case(&export), span = sig.ident.span());
    let launch = quote!(::cuda_std::__private::launch);

    let (lifetimes, generics): (Vec<_>, Vec<_>) =
        sig.generics.params.iter().partition(|param| matches!(param, GenericParam::Lifetime(_)));
    let names: Vec<TokenStream> = generics.iter().map(|param| name_of(param)).collect();
    let bare: Vec<TokenStream> = generics.iter().map(|param| without_bounds(param)).collect();
    let predicates = sig.generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let (of_lifetimes, of_types): (Vec<_>, Vec<_>) =
        predicates.partition(|predicate| matches!(predicate, WherePredicate::Lifetime(_)));

    let params: Vec<Param> = sig.inputs.iter().enumerate().filter_map(|(at, input)| Param::of(at, input)).collect();
    let rules = contract.requires.iter().chain(&contract.dynamic_shared);
    let sized = mentioned(rules.map(ToTokens::to_token_stream).collect());
    let declared = params.iter().map(|param| param.declaration(&launch, sized.contains(&param.name.to_string())));
    let measured = params.iter().map(|param| param.measure(&launch, sized.contains(&param.name.to_string())));
    let pushed = params.iter().map(Param::push);
    let most = 2 * params.len();
    let taken = |wanted: &str| params.iter().any(|param| param.name == wanted);
    let ours = |wanted: &str| if taken(wanted) { format_ident!("{wanted}_") } else { format_ident!("{wanted}") };
    let (stream, shape) = (ours("stream"), ours("shape"));

    let scope = params.iter().filter(|param| param.has_length(sized.contains(&param.name.to_string())));
    let scope = scope.map(|param| {
        let (name, length) = (&param.name, param.length());
        quote!(let #name = #launch::Length(#length);)
    });
    let scope = quote!(#(#scope)*);
    let requires = contract.requires.iter().map(|rule| requirement(rule, &params, &launch));
    let needed = contract.dynamic_shared.as_ref().map_or(quote!(0), |bytes| quote!(#bytes));

    let max_threads = contract.launch_bounds.as_ref().map_or(quote!(None), |(threads, _)| quote!(Some(#threads)));
    let block = contract.block_size.as_ref().map_or(quote!(None), |[x, y, z]| quote!(Some([#x, #y, #z])));
    let is_generic = !names.is_empty();
    let entry = if is_generic { quote!(<Self as #launch::Instance>::ENTRY) } else { quote!(#export) };
    let is_instance = is_generic.then(|| quote!(#name<#(#names,)* F>: #launch::Instance,));
    let instances = contract.instances.iter().filter(|_| is_generic).map(|instance| {
        let (arguments, entry) = (&instance.arguments, &instance.entry);
        quote! {
            #[cfg(not(target_arch = "nvptx64"))]
            impl<F: #launch::Function> #launch::Instance for #name<#(#arguments,)* F> {
                const ENTRY: &'static str = #entry;
            }
        }
    });
    let types = generics.iter().filter(|param| matches!(param, GenericParam::Type(_))).map(|param| name_of(param));
    let about = format!("The kernel `{export}` of a loaded module.");

    quote! {
        #[doc = #about]
        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(dead_code)]
        #[derive(Debug)]
        #vis struct #name<#(#bare,)* F> {
            function: F,
            types: ::core::marker::PhantomData<fn() -> (#(#types,)*)>,
        }

        #(#instances)*

        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(dead_code, unused_variables, unused_lifetimes, clippy::all, clippy::pedantic, private_interfaces, private_bounds)]
        impl<#(#generics,)* F: #launch::Function> #name<#(#names,)* F>
        where
            #is_instance
            #(#of_types,)*
        {
            /// What the kernel says of its launches.
            pub const CONTRACT: #launch::Contract = #launch::Contract {
                entry: #entry,
                max_threads: #max_threads,
                block: #block,
            };

            /// Looks the kernel up in a module.
            ///
            /// # Errors
            /// When the module has no kernel of this name.
            pub fn load<'module, M>(module: &'module M) -> ::core::result::Result<Self, #launch::LaunchError>
            where
                M: #launch::Module<Function<'module> = F> + 'module,
            {
                let function = #launch::Module::function(module, Self::CONTRACT.entry)?;
                Ok(Self { function, types: ::core::marker::PhantomData })
            }

            /// The loaded kernel itself.
            pub fn function(&self) -> &F {
                &self.function
            }

            /// Checks a launch against what the kernel says of itself, queues it and returns without waiting.
            ///
            /// # Safety
            /// The module was built from this kernel. What the arguments lie in stays as it is until the launch has ended: not
            /// freed, what is read not written, what is written neither read nor written. Where the kernel is `unsafe`, what
            /// its own documentation asks for.
            ///
            /// # Errors
            /// When the launch breaks a rule of the kernel, or the driver refuses it.
            pub unsafe fn launch<#(#lifetimes),*>(
                &self,
                #stream: &F::Stream,
                #shape: impl ::core::convert::Into<#launch::Shape>,
                #(#declared),*
            ) -> ::core::result::Result<(), #launch::LaunchError>
            where
                #(#of_lifetimes,)*
            {
                let __shape: #launch::Shape = #shape.into();
                #(#measured)*
                let __needed: usize = {
                    let (grid, block) = (__shape.grid, __shape.block);
                    #scope
                    #(#requires)*
                    #needed
                };
                let __shape = Self::CONTRACT.check(&self.function, __shape, __needed)?;
                let mut __arguments = #launch::Pointers::<#most>::new();
                #(#pushed)*
                // SAFETY: the values are those of the kernel's parameters, in their order; the rest is the caller's.
                unsafe { #launch::Function::launch(&self.function, #stream, __shape, __arguments.as_mut_slice()) }
            }
        }
    }
}

/// A parameter of the kernel, as the host passes it.
struct Param<'a> {
    /// As in the kernel, or a number where that has a pattern.
    name: Ident,
    kind: Kind<'a>,
    at: usize,
}

enum Kind<'a> {
    Value(&'a Type),
    Slice(&'a Type),
    GridMut(&'a Type),
    Mut(&'a Type),
    Const(&'a Type),
    Ref(&'a Type),
    OptionRef(&'a Type),
}

impl<'a> Param<'a> {
    /// `None` for what the GPU makes itself.
    fn of(at: usize, input: &'a FnArg) -> Option<Self> {
        let FnArg::Typed(typed) = input else { return None };
        let name = match &*typed.pat {
            Pat::Ident(pat) if pat.subpat.is_none() => pat.ident.clone(),
            _ => format_ident!("p{at}"),
        };
        Some(Self { name, kind: Kind::of(&typed.ty)?, at })
    }

    fn length(&self) -> Ident {
        format_ident!("__p{}_len", self.at)
    }

    fn has_length(&self, asked: bool) -> bool {
        match self.kind {
            Kind::Slice(_) | Kind::GridMut(_) => true,
            Kind::Mut(_) | Kind::Const(_) => asked,
            Kind::Value(_) | Kind::Ref(_) | Kind::OptionRef(_) => false,
        }
    }

    /// The trait that says what the host may pass.
    fn bound(&self, launch: &TokenStream, asked: bool) -> Option<TokenStream> {
        Some(match (&self.kind, asked) {
            (Kind::Slice(of), _) | (Kind::Const(of), true) => quote!(#launch::Slice<#of>),
            (Kind::GridMut(of), _) | (Kind::Mut(of), true) => quote!(#launch::SliceMut<#of>),
            (Kind::Const(of), false) => quote!(#launch::Pointer<#of>),
            (Kind::Mut(of), false) => quote!(#launch::PointerMut<#of>),
            (Kind::Ref(of), _) => quote!(#launch::Reference<#of>),
            (Kind::OptionRef(of), _) => quote!(#launch::MaybeReference<#of>),
            (Kind::Value(_), _) => return None,
        })
    }

    fn declaration(&self, launch: &TokenStream, asked: bool) -> TokenStream {
        let name = &self.name;
        match (&self.kind, self.bound(launch, asked)) {
            (_, Some(bound)) => quote!(#name: impl #bound),
            (Kind::Value(ty), None) => quote!(#name: #ty),
            (_, None) => TokenStream::new(),
        }
    }

    /// Takes address and length of device memory.
    fn measure(&self, launch: &TokenStream, asked: bool) -> TokenStream {
        let (name, address, length) = (&self.name, format_ident!("__p{}", self.at), self.length());
        let Some(bound) = self.bound(launch, asked) else { return TokenStream::new() };
        let length = self.has_length(asked).then(|| quote!(let #length: usize = <_ as #bound>::length(&#name);));
        quote!(let #address: u64 = <_ as #bound>::address(&#name); #length)
    }

    fn push(&self) -> TokenStream {
        let (name, address, length) = (&self.name, format_ident!("__p{}", self.at), self.length());
        match self.kind {
            Kind::Value(_) => quote!(__arguments.push(&#name);),
            Kind::Slice(_) | Kind::GridMut(_) => quote!(__arguments.push(&#address); __arguments.push(&#length);),
            _ => quote!(__arguments.push(&#address);),
        }
    }

    /// How a rule's message shows it, if it can.
    fn shown(&self) -> Option<(String, TokenStream)> {
        let name = &self.name;
        match &self.kind {
            Kind::Value(Type::Path(path)) if PRINTABLE.iter().any(|of| path.path.is_ident(of)) => {
                Some((format!("{name} is {{}}"), quote!(#name)))
            }
            Kind::Slice(_) | Kind::GridMut(_) | Kind::Mut(_) | Kind::Const(_) => {
                Some((format!("{name}.len() is {{}}"), quote!(#name.len())))
            }
            _ => None,
        }
    }
}

const PRINTABLE: [&str; 13] =
    ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "isize", "f32", "f64", "bool"];

impl<'a> Kind<'a> {
    fn of(ty: &'a Type) -> Option<Self> {
        Some(match ty {
            Type::Group(group) => return Self::of(&group.elem),
            Type::Paren(paren) => return Self::of(&paren.elem),
            Type::Reference(reference) => match &*reference.elem {
                Type::Slice(slice) => Self::Slice(&slice.elem),
                elem => Self::Ref(elem),
            },
            Type::Ptr(pointer) if pointer.mutability.is_some() => Self::Mut(&pointer.elem),
            Type::Ptr(pointer) => Self::Const(&pointer.elem),
            Type::Path(path) => {
                let last = path.path.segments.last()?;
                let argument = match &last.arguments {
                    PathArguments::AngleBracketed(arguments) => {
                        arguments.args.iter().find_map(|argument| match argument {
                            GenericArgument::Type(ty) => Some(ty),
                            _ => None,
                        })
                    }
                    _ => None,
                };
                match (last.ident.to_string().as_str(), argument) {
                    ("ThisBlock", None) => return None,
                    ("GridMut", Some(elem)) => Self::GridMut(elem),
                    ("Option", Some(Type::Reference(reference))) => Self::OptionRef(&reference.elem),
                    _ => Self::Value(ty),
                }
            }
            _ => Self::Value(ty),
        })
    }
}

/// The check of one rule.
fn requirement(rule: &Expr, params: &[Param<'_>], launch: &TokenStream) -> TokenStream {
    let text = quote!(#rule).to_string().replace(" . ", ".").replace(" ()", "()").replace(" (", "(");
    let names = mentioned(quote!(#rule));
    let shown = params.iter().filter(|param| names.contains(&param.name.to_string())).filter_map(Param::shown);
    let (formats, values): (Vec<String>, Vec<TokenStream>) = shown.unzip();
    let format = if formats.is_empty() { "it does not hold".to_owned() } else { formats.join(", ") };
    quote! {
        if !(#rule) {
            return Err(#launch::LaunchError::Requirement {
                kernel: Self::CONTRACT.entry,
                rule: #text,
                values: #launch::__private::format!(#format, #(#values),*),
            });
        }
    }
}

/// Identifiers in an expression.
fn mentioned(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => found.push(ident.to_string()),
            TokenTree::Group(group) => found.extend(mentioned(group.stream())),
            _ => {}
        }
    }
    found
}

fn name_of(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
    }
}

fn without_bounds(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => {
            let (name, ty) = (&param.ident, &param.ty);
            quote!(const #name: #ty)
        }
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
    }
}

/// `add_f32` as a type: `AddF32`.
fn camel_case(name: &str) -> String {
    let capitalised = name.split('_').map(|word| {
        let mut letters = word.chars();
        letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
    });
    capitalised.collect()
}

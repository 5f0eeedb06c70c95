//! The derive macro of `loggp::Payload`, by which a program's own types can be sent.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DeriveInput, Error, Field, Fields, Ident, Type, parse_macro_input, parse_quote};

/// Implements `Payload` for a structure or an enumeration all of whose fields are payloads.
///
/// A structure counts for the bytes of its fields, without padding. An enumeration counts for the bytes of
/// the fields of its current variant; the discriminant counts for nothing.
///
/// ```
/// use loggp::{Machine, Params, Payload, Tag};
///
/// #[derive(Payload)]
/// struct Particle<T> {
///     place: [T; 3],
///     charge: i8,
/// }
///
/// #[derive(Payload)]
/// enum Command {
///     Stop,
///     Move { by: f64 },
///     Add(u32, Vec<Particle<f32>>),
/// }
///
/// assert_eq!(<Particle<f64>>::SIZE, Some(25));
/// assert_eq!(Command::SIZE, None);
/// assert_eq!(Command::Stop.bytes(), 0);
///
/// const COMMAND: Tag<Command> = Tag::new(0);
///
/// let machine = Machine::new(Params::builder(2).build()?);
/// let run = machine.run(|p| match p.id() {
///     0 => {
///         p.send(1, COMMAND, Command::Move { by: 1.5 });
///         p.send(1, COMMAND, Command::Add(7, vec![Particle { place: [0.0; 3], charge: 1 }]));
///         0
///     }
///     _ => p.recv(COMMAND.from(0)).bytes() + p.recv(COMMAND.from(0)).bytes(),
/// })?;
/// assert_eq!(run.results[1], 8 + 4 + 13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A field marked `free` counts for nothing, such as an address that is not part of the data:
///
/// ```
/// use loggp::Payload;
///
/// #[derive(Payload)]
/// struct Put {
///     #[payload(free)]
///     place: u32,
///     item: f64,
/// }
/// assert_eq!(Put { place: 7, item: 1.5 }.bytes(), 8);
/// ```
///
/// A type that borrows cannot be sent:
///
/// ```compile_fail
/// #[derive(loggp::Payload)]
/// struct Row<'a>(&'a [f64]);
/// ```
///
/// A type with a field that is not a payload is not a payload either:
///
/// ```compile_fail
/// #[derive(loggp::Payload)]
/// struct Row(std::rc::Rc<u8>);
/// ```
#[proc_macro_derive(Payload, attributes(payload))]
pub fn payload(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    implement(input).unwrap_or_else(Error::into_compile_error).into()
}

/// Builds the `impl`.
fn implement(mut input: DeriveInput) -> Result<TokenStream, Error> {
    if let Some(lifetime) = input.generics.lifetimes().next() {
        let refusal = "a payload moves from one processor to another, so it cannot borrow";
        return Err(Error::new_spanned(lifetime, refusal));
    }
    let ImplParts { size, bytes, pack, unpack } = match &input.data {
        Data::Struct(data) => parts_of_struct(&data.fields)?,
        Data::Enum(data) => parts_of_enum(data)?,
        Data::Union(data) => {
            let refusal = "nobody can say which field of a union is there, so it is no payload";
            return Err(Error::new_spanned(data.union_token, refusal));
        }
    };
    for parameter in input.generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::loggp::Payload));
    }
    let name = &input.ident;
    let (parameters, arguments, conditions) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #parameters ::loggp::Payload for #name #arguments #conditions {
            const SIZE: ::core::option::Option<usize> = #size;

            fn bytes(&self) -> usize {
                #bytes
            }

            fn pack<'v>(&'v self, to: &mut ::loggp::Pack<'v>) {
                #pack
            }

            fn unpack(from: &mut ::loggp::Unpack) -> ::core::option::Option<Self> {
                #unpack
            }

            fn unpack_boxed(
                from: &mut ::loggp::Unpack,
            ) -> ::core::option::Option<::std::boxed::Box<Self>> {
                <Self as ::loggp::Payload>::unpack(from).map(::std::boxed::Box::new)
            }
        }
    })
}

/// The parts of the `impl` that depend on the type.
struct ImplParts {
    /// The constant `SIZE`.
    size: TokenStream,
    /// The body of `bytes`.
    bytes: TokenStream,
    /// The body of `pack`.
    pack: TokenStream,
    /// The body of `unpack`.
    unpack: TokenStream,
}

/// Returns whether a field is marked `free`.
fn is_free(field: &Field) -> Result<bool, Error> {
    let mut free = false;
    for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("payload")) {
        attribute.parse_nested_meta(|meta| {
            free = meta.path.is_ident("free");
            if free {
                Ok(())
            } else {
                Err(meta.error("a field of a payload can be `free`, and nothing else"))
            }
        })?;
    }
    Ok(free)
}

/// Returns for each field whether it is counted.
fn counted_fields(fields: &Fields) -> Result<Vec<bool>, Error> {
    fields.iter().map(|field| Ok(!is_free(field)?)).collect()
}

/// Returns the items whose fields are counted.
fn select<'t, T: ?Sized>(all: impl IntoIterator<Item = &'t T>, counted: &[bool]) -> Vec<&'t T> {
    all.into_iter().zip(counted).filter(|(_, counts)| **counts).map(|(it, _)| it).collect()
}

/// Returns the parts for a structure: those of its fields.
fn parts_of_struct(fields: &Fields) -> Result<ImplParts, Error> {
    let counted = counted_fields(fields)?;
    let types: Vec<&Type> = fields.iter().map(|field| &field.ty).collect();
    let members: Vec<_> = fields.members().collect();
    let (counted_types, counted_members) =
        (select(types.iter().copied(), &counted), select(&members, &counted));
    Ok(ImplParts {
        size: quote! {{
            let size = ::core::option::Option::Some(0);
            #(let size = match (size, <#counted_types as ::loggp::Payload>::SIZE) {
                (::core::option::Option::Some(size), ::core::option::Option::Some(more)) => {
                    ::core::option::Option::Some(size + more)
                }
                _ => ::core::option::Option::None,
            };)*
            size
        }},
        bytes: quote!(0 #(+ <#counted_types as ::loggp::Payload>::bytes(&self.#counted_members))*),
        pack: quote!(#(<#types as ::loggp::Payload>::pack(&self.#members, to);)*),
        unpack: quote! {
            ::core::option::Option::Some(Self { #(#members: <#types as ::loggp::Payload>::unpack(from)?),* })
        },
    })
}

/// Returns the parts for an enumeration: those of the current variant's fields, packed after the variant's
/// number.
fn parts_of_enum(data: &DataEnum) -> Result<ImplParts, Error> {
    let (mut bytes, mut pack, mut unpack) = (Vec::new(), Vec::new(), Vec::new());
    for (number, variant) in (0_u32..).zip(&data.variants) {
        let counted = counted_fields(&variant.fields)?;
        let (name, members) = (&variant.ident, variant.fields.members().collect::<Vec<_>>());
        let types: Vec<&Type> = variant.fields.iter().map(|field| &field.ty).collect();
        let bound: Vec<Ident> = (0..types.len()).map(|i| format_ident!("field_{i}")).collect();
        let counted_types = select(types.iter().copied(), &counted);
        let (counted_members, counted_bound) = (select(&members, &counted), select(&bound, &counted));
        bytes.push(quote! {
            Self::#name { #(#counted_members: #counted_bound,)* .. } => {
                0 #(+ <#counted_types as ::loggp::Payload>::bytes(#counted_bound))*
            }
        });
        pack.push(quote! {
            Self::#name { #(#members: #bound),* } => {
                to.add(&#number.to_ne_bytes());
                #(<#types as ::loggp::Payload>::pack(#bound, to);)*
            }
        });
        unpack.push(quote! {
            #number => ::core::option::Option::Some(
                Self::#name { #(#members: <#types as ::loggp::Payload>::unpack(from)?),* }
            )
        });
    }
    if data.variants.is_empty() {
        // An empty enumeration has no values, and `match self {}` does not compile for a reference.
        bytes.push(quote!(_ => match *self {}));
        pack.push(quote!(_ => match *self {}));
    }
    Ok(ImplParts {
        size: quote!(::core::option::Option::None),
        bytes: quote!(match self { #(#bytes,)* }),
        pack: quote!(match self { #(#pack,)* }),
        unpack: quote! {
            match <u32 as ::loggp::Payload>::unpack(from)? {
                #(#unpack,)*
                _ => ::core::option::Option::None,
            }
        },
    })
}

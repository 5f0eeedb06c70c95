//! Derives `loggp::Payload`, so that a program's own types can be sent.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DataEnum, DeriveInput, Error, Fields, Ident, Type, parse_macro_input, parse_quote};

/// Makes a structure or an enumeration a payload whose fields all are.
///
/// A structure counts for the bytes of its fields; no padding is counted. An enumeration counts for the bytes
/// of the fields of the variant at hand; which variant that is counts for nothing, as the type of a message
/// does.
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
///     _ => p.recv_from(0, COMMAND).bytes() + p.recv_from(0, COMMAND).bytes(),
/// })?;
/// assert_eq!(run.results[1], 8 + 4 + 13);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// What borrows cannot travel:
///
/// ```compile_fail
/// #[derive(loggp::Payload)]
/// struct Row<'a>(&'a [f64]);
/// ```
///
/// And what holds something else than payloads is none:
///
/// ```compile_fail
/// #[derive(loggp::Payload)]
/// struct Row(std::rc::Rc<u8>);
/// ```
#[proc_macro_derive(Payload)]
pub fn payload(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    implement(input).unwrap_or_else(Error::into_compile_error).into()
}

/// The whole `impl`.
fn implement(mut input: DeriveInput) -> Result<TokenStream, Error> {
    if let Some(lifetime) = input.generics.lifetimes().next() {
        let refusal = "a payload moves from one processor to another, so it cannot borrow";
        return Err(Error::new_spanned(lifetime, refusal));
    }
    let (size, bytes) = match &input.data {
        Data::Struct(data) => (size_of_all(&data.fields), bytes_of_struct(&data.fields)),
        Data::Enum(data) => (quote!(::core::option::Option::None), bytes_of_enum(data)),
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
        }
    })
}

/// The sum of the fields' sizes, which is known if all of them are.
fn size_of_all(fields: &Fields) -> TokenStream {
    let types = fields.iter().map(|field| &field.ty);
    quote! {{
        let size = ::core::option::Option::Some(0);
        #(let size = match (size, <#types as ::loggp::Payload>::SIZE) {
            (::core::option::Option::Some(size), ::core::option::Option::Some(more)) => {
                ::core::option::Option::Some(size + more)
            }
            _ => ::core::option::Option::None,
        };)*
        size
    }}
}

/// The sum of the bytes of a structure's fields.
fn bytes_of_struct(fields: &Fields) -> TokenStream {
    let types = fields.iter().map(|field| &field.ty);
    let members = fields.members();
    quote!(0 #(+ <#types as ::loggp::Payload>::bytes(&self.#members))*)
}

/// The sum of the bytes of the fields of the variant at hand.
fn bytes_of_enum(data: &DataEnum) -> TokenStream {
    let arms = data.variants.iter().map(|variant| {
        let name = &variant.ident;
        let members = variant.fields.members();
        let types: Vec<&Type> = variant.fields.iter().map(|field| &field.ty).collect();
        let bound: Vec<Ident> = (0..types.len()).map(|i| format_ident!("field_{i}")).collect();
        quote! {
            Self::#name { #(#members: #bound),* } => 0 #(+ <#types as ::loggp::Payload>::bytes(#bound))*
        }
    });
    if data.variants.is_empty() {
        return quote!(match *self {}); // of which there is no value
    }
    quote!(match self { #(#arms,)* })
}

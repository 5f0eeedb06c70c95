//! JSON, as far as answers need it: written at once, and never read. What is general costs a page a tenth of its bytes.

/// A value that JSON can say.
pub trait ToJson {
    /// Appends the value.
    fn write(&self, out: &mut String);
}

/// An object, field after field.
#[derive(Clone, Debug, Default)]
pub struct Object(String);

/// JSON as it is.
pub struct Raw(pub String);

impl Object {
    /// Returns the same object with another field.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToJson) -> Object {
        self.set(name, value);
        self
    }

    /// Adds a field.
    pub fn set(&mut self, name: &str, value: impl ToJson) {
        self.begin(name);
        value.write(&mut self.0);
    }

    fn begin(&mut self, name: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        name.write(&mut self.0);
        self.0.push(':');
    }

    /// Returns its text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text);
        text
    }
}

impl<N: AsRef<str>, T: ToJson> FromIterator<(N, T)> for Object {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(fields: I) -> Object {
        let mut object = Object::default();
        fields.into_iter().for_each(|(name, value)| object.set(name.as_ref(), value));
        object
    }
}

impl ToJson for Object {
    fn write(&self, out: &mut String) {
        out.push_str(if self.0.is_empty() { "{" } else { &self.0 });
        out.push('}');
    }
}

impl ToJson for Raw {
    fn write(&self, out: &mut String) {
        out.push_str(&self.0);
    }
}

impl ToJson for str {
    fn write(&self, out: &mut String) {
        out.push('"');
        for letter in self.chars() {
            match letter {
                '"' | '\\' => out.extend(['\\', letter]),
                '\0'..' ' => {
                    let digit = |value: u32| char::from_digit(value, 16).unwrap_or('0');
                    let code = u32::from(letter);
                    out.push_str("\\u00");
                    out.extend([digit(code >> 4), digit(code & 15)]);
                }
                _ => out.push(letter),
            }
        }
        out.push('"');
    }
}

impl ToJson for String {
    fn write(&self, out: &mut String) {
        self.as_str().write(out);
    }
}

impl ToJson for bool {
    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }
}

impl ToJson for i64 {
    fn write(&self, out: &mut String) {
        out.push_str(&self.to_string());
    }
}

impl ToJson for u64 {
    fn write(&self, out: &mut String) {
        out.push_str(&self.to_string());
    }
}

impl ToJson for usize {
    fn write(&self, out: &mut String) {
        (*self as u64).write(out);
    }
}

impl<T: ToJson + ?Sized> ToJson for &T {
    fn write(&self, out: &mut String) {
        (**self).write(out);
    }
}

impl<T: ToJson> ToJson for Option<T> {
    fn write(&self, out: &mut String) {
        match self {
            Some(value) => value.write(out),
            None => out.push_str("null"),
        }
    }
}

/// Two values, as a list.
impl<A: ToJson, B: ToJson> ToJson for (A, B) {
    fn write(&self, out: &mut String) {
        out.push('[');
        self.0.write(out);
        out.push(',');
        self.1.write(out);
        out.push(']');
    }
}

impl<T: ToJson> ToJson for [T] {
    fn write(&self, out: &mut String) {
        out.push('[');
        for (place, value) in self.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            value.write(out);
        }
        out.push(']');
    }
}

impl<T: ToJson> ToJson for Vec<T> {
    fn write(&self, out: &mut String) {
        self.as_slice().write(out);
    }
}

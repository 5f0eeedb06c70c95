//! JSON, written at once and never read: what is serialized, and objects that are put together field after field.

use serde::Serialize;

/// A value that JSON can say.
pub(crate) trait ToJson {
    /// Returns its text.
    fn json(&self) -> String;
}

/// An object, field after field.
#[derive(Clone, Debug, Default)]
pub(crate) struct JsonObject(String);

/// JSON as it is.
pub(crate) struct Raw(pub String);

impl JsonObject {
    /// Returns the same object with another field.
    #[must_use]
    pub(crate) fn with(mut self, name: &str, value: impl ToJson) -> JsonObject {
        self.set(name, value);
        self
    }

    /// Adds a field.
    pub(crate) fn set(&mut self, name: &str, value: impl ToJson) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        self.0.extend([&name.json(), ":", &value.json()]);
    }
}

impl Raw {
    /// Returns a list of objects.
    pub(crate) fn list(objects: impl Iterator<Item = JsonObject>) -> Raw {
        let texts: Vec<String> = objects.map(|object| object.json()).collect();
        Raw(format!("[{}]", texts.join(",")))
    }
}

impl<N: AsRef<str>, T: ToJson> FromIterator<(N, T)> for JsonObject {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(fields: I) -> JsonObject {
        let mut object = JsonObject::default();
        fields.into_iter().for_each(|(name, value)| object.set(name.as_ref(), value));
        object
    }
}

impl<T: Serialize + ?Sized> ToJson for T {
    fn json(&self) -> String {
        serde_json::to_string(self).expect("texts, numbers and lists can be written")
    }
}

impl ToJson for JsonObject {
    fn json(&self) -> String {
        format!("{}}}", if self.0.is_empty() { "{" } else { &self.0 })
    }
}

impl ToJson for Raw {
    fn json(&self) -> String {
        self.0.clone()
    }
}

//! JSON objects that are read key by key, so that a key which occurs twice is noticed and names keep their order.
//!
//! What serde derives for a struct would read a list of its fields, too, and its maps keep the last of two equal keys.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A type that is read from an object.
pub(super) trait FromObject<'de>: Sized {
    /// The words of an error for what was expected in the place of anything else than an object.
    const EXPECTED: &'static str;

    /// Reads all keys and values of an object.
    ///
    /// # Errors
    /// Those of the type, and of the text.
    fn read<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;
}

/// A value that is read from an object.
pub(super) struct JsonObject<T>(pub T);

impl<'de, T: FromObject<'de>> Deserialize<'de> for JsonObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData)).map(Self)
    }
}

/// Returns the message of an error in one line. It quotes texts of the file, which may have several lines.
pub(super) fn one_line(error: &serde_json::Error) -> String {
    error.to_string().replace(char::is_control, " ")
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: FromObject<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::read(map)
    }
}

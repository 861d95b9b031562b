//! Reads JSON objects key by key, to detect duplicate keys and keep their order.
//!
//! A derived `Deserialize` would also accept a list of fields, and maps keep the last of two equal keys.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

pub(super) trait FromObject<'de>: Sized {
    const EXPECTED: &'static str;

    fn read<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;
}

pub(super) struct JsonObject<T>(pub T);

impl<'de, T: FromObject<'de>> Deserialize<'de> for JsonObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData)).map(Self)
    }
}

/// The error may quote several lines of the file.
pub(super) fn one_line(error: &impl fmt::Display) -> String {
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

//! The object around the data: its members as raw text, by our names or by those of the KServe v2 protocol.

use std::fmt;

use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::strings::short;
use crate::item::dtype::Kind;

/// What the datatypes of the KServe v2 protocol are here.
pub(super) const DATATYPES: &[(&str, Kind)] = &[
    ("BOOL", Kind::Bool),
    ("UINT8", Kind::UInt8),
    ("UINT16", Kind::UInt16),
    ("UINT32", Kind::UInt32),
    ("UINT64", Kind::UInt64),
    ("INT8", Kind::Int8),
    ("INT16", Kind::Int16),
    ("INT32", Kind::Int32),
    ("INT64", Kind::Int64),
    ("FP16", Kind::Float16),
    ("FP32", Kind::Float32),
    ("FP64", Kind::Float64),
    ("BF16", Kind::BFloat16),
    ("BYTES", Kind::Str(0)),
];

/// The members of an object, as raw text.
pub(super) struct Object<'a> {
    pub(super) dtype: Option<&'a RawValue>,
    /// The dtype as KServe calls it; not together with `dtype`.
    pub(super) datatype: Option<&'a RawValue>,
    pub(super) shape: Option<&'a RawValue>,
    pub(super) data: &'a RawValue,
}

impl<'de> serde::Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members)
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    type Value = Object<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with dtype, shape and data")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object<'de>, A::Error> {
        let (mut dtype, mut datatype, mut shape, mut data) = (None, None, None, None);
        let (mut name, mut parameters) = (None, None);
        let unknown = |key: &str| {
            let message = format!("unknown key {:?}, expected \"dtype\", \"shape\" and \"data\"", short(key));
            Err(A::Error::custom(message))
        };
        while let Some(key) = map.next_key::<String>()? {
            let member = match key.as_str() {
                "dtype" => &mut dtype,
                "datatype" => &mut datatype,
                "shape" => &mut shape,
                "data" => &mut data,
                "name" => &mut name,
                "parameters" => &mut parameters,
                _ => return unknown(&key),
            };
            if member.replace(map.next_value::<&'de RawValue>()?).is_some() {
                return Err(A::Error::custom(format!("the key {key:?} is there twice")));
            }
        }
        match (name, parameters) {
            _ if dtype.is_some() && datatype.is_some() => {
                return Err(A::Error::custom("\"dtype\" and \"datatype\", expected one of them"));
            }
            _ if datatype.is_some() => {}
            (Some(_), _) => return unknown("name"),
            (_, Some(_)) => return unknown("parameters"),
            _ => {}
        }
        let data = data.ok_or_else(|| A::Error::custom("the object has no \"data\""))?;
        Ok(Object { dtype, datatype, shape, data })
    }
}

//! The entries of a safetensors header, including unreadable ones.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use safetensors::Dtype;
use safetensors::tensor::TensorInfo;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, IntoDeserializer, MapAccess, Visitor};
use serde_json::Value;

use crate::storage::source::Metadata;
use crate::untyped::python_json::{FromObject, JsonObject, one_line};
use tensorop_kernels::item::python;

/// The most tensors in a file.
pub const MAX_MEMBERS: usize = 1 << 18;

pub(crate) const METADATA: &str = "__metadata__";

pub(crate) struct Entries<E> {
    pub entries: Vec<(String, E)>,
    pub metadata: Metadata,
}

pub(crate) struct Entry {
    /// An unreadable entry counts as U8, one item a byte.
    pub info: TensorInfo,
    pub unreadable: Option<String>,
}

/// Keeps tensors with valid offsets but unreadable dtypes or shapes.
pub(crate) fn read_entries(text: &str) -> serde_json::Result<Entries<Entry>> {
    let strict = serde_json::from_str::<JsonObject<Entries<Entry>>>(text);
    let error = match strict {
        Ok(JsonObject(read)) => return Ok(read),
        Err(error) => error,
    };
    // The lenient pass is slower.
    let Ok(JsonObject(Entries { entries, metadata })) = serde_json::from_str::<JsonObject<Entries<LenientEntry>>>(text)
    else {
        return Err(error);
    };
    Ok(Entries { entries: entries.into_iter().map(|(name, LenientEntry(entry))| (name, entry)).collect(), metadata })
}

impl Entry {
    pub(crate) fn unreadable(data_offsets: (usize, usize), why: String) -> Self {
        // so that the `safetensors` crate can check all offsets
        let shape = vec![data_offsets.1.saturating_sub(data_offsets.0)];
        Self { info: TensorInfo { dtype: Dtype::U8, shape, data_offsets }, unreadable: Some(why) }
    }
}

impl<'de> FromObject<'de> for Entry {
    const EXPECTED: &'static str = "an object with the dtype, shape and data_offsets of a tensor";

    fn read<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let (mut dtype, mut shape, mut data_offsets) = (None, None, None);
        while let Some(Text(key)) = map.next_key()? {
            let is_repeated = match &*key {
                "dtype" => dtype.replace(map.next_value::<Text<'de>>()?).is_some(),
                "shape" => shape.replace(map.next_value::<Vec<usize>>()?).is_some(),
                "data_offsets" => data_offsets.replace(map.next_value::<(usize, usize)>()?).is_some(),
                _ => map.next_value::<IgnoredAny>().map(|_| false)?,
            };
            if is_repeated {
                return Err(A::Error::custom(format_args!("{key} occurs twice")));
            }
        }
        let Text(dtype) = dtype.ok_or_else(|| A::Error::missing_field("dtype"))?;
        let shape = shape.ok_or_else(|| A::Error::missing_field("shape"))?;
        let data_offsets = data_offsets.ok_or_else(|| A::Error::missing_field("data_offsets"))?;
        let known: Result<_, serde::de::value::Error> = Dtype::deserialize((*dtype).into_deserializer());
        Ok(match known {
            Ok(dtype) => Self { info: TensorInfo { dtype, shape, data_offsets }, unreadable: None },
            Err(_) => Self::unreadable(data_offsets, format!("dtype {} is not known", python::repr_str(&dtype))),
        })
    }
}

/// A slice of the header unless it has escapes: large models have hundreds of thousands.
struct Text<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(text.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(text.to_owned().into()))
    }
}

struct LenientEntry(Entry);

impl<'de> FromObject<'de> for LenientEntry {
    const EXPECTED: &'static str = Entry::EXPECTED;

    fn read<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        const PLACE: &str = "data_offsets";
        let (mut values, mut repeated) = (BTreeMap::new(), None);
        while let Some((key, value)) = map.next_entry::<String, Value>()? {
            if values.insert(key.clone(), value).is_some() && ["dtype", "shape", PLACE].contains(&&*key) {
                repeated = Some(key);
            }
        }
        let place = values.get(PLACE).filter(|_| repeated.as_deref() != Some(PLACE));
        let place = place.and_then(|place| serde_json::from_value::<(usize, usize)>(place.clone()).ok());
        let place = place.ok_or_else(|| A::Error::missing_field(PLACE))?;
        let strict = serde_json::from_value::<JsonObject<Entry>>(values.into_iter().collect());
        Ok(Self(match (repeated, strict) {
            (Some(key), _) => Entry::unreadable(place, format!("{key} occurs twice")),
            (None, Ok(JsonObject(entry))) => entry,
            (None, Err(error)) => Entry::unreadable(place, one_line(&error)),
        }))
    }
}

impl<'de, E: FromObject<'de>> FromObject<'de> for Entries<E> {
    const EXPECTED: &'static str = "an object with a tensor for each name";

    fn read<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let (mut entries, mut metadata) = (Vec::new(), None);
        while let Some(name) = map.next_key::<String>()? {
            let explain = |error: A::Error| A::Error::custom(format_args!("{}: {error}", python::repr_str(&name)));
            if name != METADATA {
                if entries.len() == MAX_MEMBERS {
                    return Err(A::Error::custom(format_args!("more than {MAX_MEMBERS} tensors")));
                }
                let JsonObject(entry) = map.next_value().map_err(explain)?;
                entries.push((name, entry));
            } else if metadata.is_some() {
                return Err(A::Error::custom(format_args!("{METADATA} occurs twice")));
            } else {
                metadata = Some(map.next_value::<Option<JsonObject<Metadata>>>().map_err(explain)?);
            }
        }
        Ok(Self { entries, metadata: metadata.flatten().map_or_else(Metadata::new, |JsonObject(metadata)| metadata) })
    }
}

impl<'de> FromObject<'de> for Metadata {
    const EXPECTED: &'static str = "an object of strings";

    fn read<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut metadata = Self::new();
        while let Some((key, value)) = map.next_entry()? {
            metadata.insert(key, value);
        }
        Ok(metadata)
    }
}

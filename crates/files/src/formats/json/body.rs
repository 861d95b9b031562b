//! Reads KServe v2 requests and responses: objects whose `inputs` or `outputs` are named tensors. The other values,
//! such as `model_name`, are attachments.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io::Read;
use std::sync::Arc;

use serde::de::{Deserializer as _, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::open;
use crate::container::interface::{Members, ReadableFile, Reader};
use crate::storage::attachments::Attachments;
use crate::storage::read_at::Identity;
use crate::storage::source::{Container, Source};
use crate::untyped::lists::describe_syntax;
use crate::untyped::python_json::{FromObject, JsonObject};
use crate::untyped::{self, short, string};
use tensorop_kernels::error::{Result, Subject, bail, ensure, malformed};
use tensorop_kernels::parallel::Threads;

const TENSORS: [&str; 2] = ["inputs", "outputs"];

/// Marks a tensor whose items follow the JSON as bytes.
const BINARY: &str = "binary_data_size";

const MAX_TENSORS: usize = 1 << 18;

/// Tensors are parsed on demand.
#[derive(Debug)]
pub(crate) struct BodyReader {
    tensors: Vec<Result<Box<RawValue>>>,
    threads: Threads,
}

impl BodyReader {
    /// `None` unless the object has inputs or outputs with data, and no `data` itself.
    pub(crate) fn open(text: &[u8], file: Identity, threads: Threads) -> Result<Option<ReadableFile>> {
        if text.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Ok(None);
        }
        // Searching a `str` is faster than searching bytes.
        let valid = std::str::from_utf8(text).ok();
        let has = |key: &str| {
            let key = format!("\"{key}\"");
            valid.map_or_else(
                || text.windows(key.len()).any(|window| window == key.as_bytes()),
                |text| text.contains(&key),
            )
        };
        if !TENSORS.into_iter().any(has) {
            return Ok(None);
        }
        let refused = "a KServe body whose items follow the JSON as bytes (binary_data_size), which are not read: ask the server \
                       for JSON";
        let keys = match serde_json::from_slice(text) {
            Ok(JsonObject(BodyKeys(keys))) => keys,
            Err(error) => {
                // Bytes after the object are not JSON.
                let first = serde_json::Deserializer::from_slice(text).into_iter::<&RawValue>().next();
                match first {
                    Some(Ok(first)) if first.get().len() < text.len() && first.get().contains(BINARY) => {
                        bail!("{refused}")
                    }
                    Some(_) | None if is_meant(text) => {
                        bail!("a KServe body: {}", describe_syntax(&String::from_utf8_lossy(text), &error))
                    }
                    Some(_) | None => return Ok(None),
                }
            }
        };
        let lists = TENSORS
            .map(|key| keys.get(key).and_then(|list| serde_json::from_str::<Vec<Box<RawValue>>>(list.get()).ok()));
        let has_data = |list: &Option<Vec<Box<RawValue>>>| list.iter().flatten().any(|tensor| has_items(tensor));
        let key = match lists.each_ref().map(has_data) {
            _ if keys.contains_key("data") => return Ok(None),
            [false, false] => match lists.each_ref().map(|list| list.as_ref().map(Vec::is_empty)) {
                [Some(true), None | Some(true)] | [None, Some(true)] => {
                    bail!("a KServe body without tensors: its list of inputs or outputs is empty")
                }
                [Some(_) | None, Some(_) | None] => return Ok(None),
            },
            [true, true] => bail!("a KServe body with tensors in inputs and outputs, expected a request or a response"),
            [true, false] => 0,
            [false, true] => 1,
        };
        let [inputs, outputs] = lists;
        let list = if key == 0 { inputs } else { outputs }.unwrap_or_default();
        ensure!(
            list.len() <= MAX_TENSORS,
            "{} tensors in {}, expected at most {MAX_TENSORS}",
            list.len(),
            TENSORS[key]
        );
        let (mut names, mut tensors, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
        let (mut other_keys, mut texts): (Vec<_>, Vec<_>) = keys
            .iter()
            .filter(|(other, _)| *other != TENSORS[key])
            .map(|(key, value)| (key.clone(), value.get().to_owned()))
            .unzip();
        for (n, tensor) in list.into_iter().enumerate() {
            let at = format!("{}[{n}]", TENSORS[key]);
            let marks = marks(&tensor);
            let name = name_of(&tensor, marks.as_ref());
            let Marks { has_datatype, is_binary, parameters, .. } = marks.unwrap_or_default();
            let parameters = parameters.map(|parameters| parameters.get().to_owned());
            let (name, tensor) = match name {
                Ok(name) if is_binary => (name, Err(malformed!("{refused}"))),
                Ok(name) if !has_datatype => (name, Err(malformed!("has no \"datatype\""))),
                Ok(name) => (name, Ok(tensor)),
                Err(error) => (at, Err(error)),
            };
            if let Some(parameters) = parameters {
                other_keys.push(format!("{name}.parameters"));
                texts.push(parameters);
            }
            ensure!(seen.insert(name.clone()), "two of the {} are called {name:?}", TENSORS[key]);
            names.push(name);
            tensors.push(tensor);
        }
        let attachments: Arc<dyn Attachments> = Arc::new(OtherKeys { keys: other_keys, texts });
        let unwritten = Some("a KServe body can be read, not written");
        let container = Container { attachments: Some(attachments), unwritten, ..Container::new(file, names) };
        Ok(Some(ReadableFile::new(Members::of(container), Self { tensors, threads })))
    }
}

/// A list of tensors, but no `data`, precedes the error.
fn is_meant(text: &[u8]) -> bool {
    let mut keys = Vec::new();
    let _ = serde_json::Deserializer::from_slice(text).deserialize_map(KeysBeforeError(&mut keys));
    let has = |key: &str| keys.iter().any(|other| other == key);
    TENSORS.into_iter().any(has) && !has("data")
}

struct KeysBeforeError<'a>(&'a mut Vec<String>);

impl<'de> Visitor<'de> for KeysBeforeError<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key()? {
            self.0.push(key);
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[derive(Default)]
struct Marks<'a> {
    name: Option<&'a RawValue>,
    has_data: bool,
    has_datatype: bool,
    /// The items are bytes outside the text.
    is_binary: bool,
    parameters: Option<&'a RawValue>,
}

fn marks(tensor: &RawValue) -> Option<Marks<'_>> {
    let keys: BTreeMap<String, &RawValue> = serde_json::from_str(tensor.get()).ok()?;
    let [has_data, has_datatype] = ["data", "datatype"].map(|key| keys.contains_key(key));
    let [name, parameters] = ["name", "parameters"].map(|key| keys.get(key).copied());
    let has_size = |parameters: &RawValue| {
        serde_json::from_str::<BTreeMap<String, IgnoredAny>>(parameters.get()).is_ok_and(|all| all.contains_key(BINARY))
    };
    let is_binary = !has_data && parameters.is_some_and(has_size);
    Some(Marks { name, has_data, has_datatype, is_binary, parameters })
}

fn has_items(tensor: &RawValue) -> bool {
    marks(tensor).is_some_and(|marks| marks.has_data || marks.is_binary)
}

fn name_of(tensor: &RawValue, marks: Option<&Marks<'_>>) -> Result<String> {
    let marks = marks.ok_or_else(|| malformed!("is {}, expected an object", short(tensor.get())))?;
    let name = marks.name.ok_or_else(|| malformed!("has no \"name\""))?;
    string(name.get()).ok_or_else(|| malformed!("name is {}, expected a string", short(name.get())))
}

struct BodyKeys<'a>(BTreeMap<String, &'a RawValue>);

impl<'de> FromObject<'de> for BodyKeys<'de> {
    const EXPECTED: &'static str = "an object";

    fn read<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut keys = BTreeMap::new();
        while let Some(key) = map.next_key::<String>()? {
            if keys.insert(key.clone(), map.next_value()?).is_some() {
                return Err(A::Error::custom(format!("the key {key:?} occurs twice")));
            }
        }
        Ok(Self(keys))
    }
}

/// Includes `NAME.parameters` of the tensors.
#[derive(Debug)]
struct OtherKeys {
    keys: Vec<String>,
    texts: Vec<String>,
}

impl Attachments for OtherKeys {
    fn names(&self) -> Result<&[String]> {
        Ok(&self.keys)
    }

    fn open(&self, n: usize) -> Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.texts[n].as_bytes()))
    }
}

impl Reader for BodyReader {
    fn source(&self, n: usize, label: String) -> Result<Source> {
        let text = self.tensors[n].as_ref().map_err(Clone::clone)?;
        let values = open(text.get().as_bytes(), Subject::Data, self.threads)?;
        untyped::source(Ok(values), label)
    }
}

//! Dtypes and shapes of files without a header, which runtimes dump for each layer: from a glob with a [`RawView`], a
//! list by path, or a JSON object beside a file.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::de::{Error as _, MapAccess};
use serde_json::Value;

use crate::container::glob::Glob;
use crate::formats::raw::RawView;
use crate::narrow::stored_dtype::StoredDType;
use crate::untyped::python_json::{FromObject, JsonObject, one_line};
use tensorop_kernels::error::{Result, bail, ensure, malformed};
use tensorop_kernels::item::meta::Order;

const ENDINGS: [&str; 3] = ["bin", "raw", "dat"];

/// Files of a folder that share one view.
#[derive(Clone, Debug)]
pub struct DumpPattern {
    /// Matches paths relative to the folder.
    pub(crate) glob: Glob,
    pub(crate) view: RawView,
}

impl DumpPattern {
    pub(crate) fn new(glob: &str, view: &str) -> Result<Self> {
        Ok(Self { glob: Glob::new(glob), view: RawView::parse(view)? })
    }
}

/// Dtypes and shapes by path in a folder.
#[derive(Debug)]
pub struct DumpShapes {
    entries: HashMap<String, DumpEntry>,
}

#[derive(Debug)]
struct DumpEntry {
    view: RawView,
    is_used: AtomicBool,
}

/// In the order of the text.
struct DumpEntries(Vec<(String, Value)>);

impl<'de> FromObject<'de> for DumpEntries {
    const EXPECTED: &'static str = "an object with an entry for each file";

    fn read<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let (mut entries, mut seen) = (Vec::new(), HashSet::new());
        while let Some((path, entry)) = map.next_entry::<String, Value>()? {
            if !seen.insert(path.clone()) {
                return Err(A::Error::custom(format_args!("two entries {path:?}")));
            }
            entries.push((path, entry));
        }
        Ok(Self(entries))
    }
}

impl DumpShapes {
    /// Parses a JSON object such as `{"layer_33.bin": {"dtype": "float32", "shape": [1, 8, 6, 5]}}`.
    ///
    /// # Errors
    /// The object or an entry is invalid.
    pub fn parse(text: &[u8]) -> Result<Self> {
        let JsonObject(DumpEntries(list)) =
            serde_json::from_slice(text).map_err(|error| malformed!("{}", one_line(&error)))?;
        ensure!(!list.is_empty(), "has no entries");
        let mut entries = HashMap::new();
        for (path, entry) in list {
            let view = check_keys(&entry)
                .and_then(|()| view_of(&entry))
                .map_err(|error| malformed!("{path:?}: {}", error.message()))?;
            let path = path.strip_prefix("./").unwrap_or(&path).to_owned();
            entries.insert(path, DumpEntry { view, is_used: AtomicBool::new(false) });
        }
        Ok(Self { entries })
    }

    /// Returns the paths that no folder had.
    pub fn unused(&self) -> Vec<&str> {
        let unused = self.entries.iter().filter(|(_, entry)| !entry.is_used.load(Ordering::Relaxed));
        unused.map(|(path, _)| path.as_str()).collect()
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.entries.contains_key(path)
    }

    /// Marks the entry as used.
    pub(crate) fn find(&self, path: &str) -> Option<&RawView> {
        let entry = self.entries.get(path)?;
        entry.is_used.store(true, Ordering::Relaxed);
        Some(&entry.view)
    }
}

/// Whether a file without an entry has the ending of a dump, or that of an entry.
pub(crate) fn may_be_dump(path: &Path, shapes: Option<&DumpShapes>) -> bool {
    let Some(ending) = path.extension().and_then(OsStr::to_str) else { return false };
    let has = |entry: &String| Path::new(entry).extension().is_some_and(|other| other == ending);
    let is_of_entry = shapes.is_some_and(|shapes| shapes.entries.keys().any(has));
    is_of_entry || ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

const KEYS: [&str; 4] = ["dtype", "shape", "offset", "order"];

/// A JSON file beside a file may have other keys, so only lists are checked.
fn check_keys(entry: &Value) -> Result<()> {
    let keys = entry.as_object().into_iter().flat_map(|keys| keys.keys());
    match keys.into_iter().find(|key| !KEYS.contains(&key.as_str())) {
        Some(key) => bail!("unknown key {key:?}, expected {}", KEYS.join(", ")),
        None => Ok(()),
    }
}

fn view_of(entry: &Value) -> Result<RawView> {
    let Value::Object(keys) = entry else { bail!("expected an object with dtype and shape") };
    let dtype = match keys.get("dtype") {
        Some(Value::String(name)) => StoredDType::asked(name)?,
        Some(_) | None => bail!("expected a dtype, a name such as \"float32\""),
    };
    let Some(Value::Array(dims)) = keys.get("shape") else { bail!("expected a shape, a list of whole numbers") };
    let dim = |dim: &Value| match dim.as_i64() {
        Some(-1) => Ok(None),
        Some(dim @ 0..) => Ok(Some(usize::try_from(dim)?)),
        Some(_) | None => Err(malformed!("shape {dim}, expected whole numbers or one -1")),
    };
    let dims = dims.iter().map(dim).collect::<Result<_>>()?;
    let offset = match keys.get("offset") {
        None | Some(Value::Null) => None,
        Some(offset) => {
            let bytes = offset.as_u64();
            Some(bytes.ok_or_else(|| malformed!("offset {offset}, expected a number of bytes"))?)
        }
    };
    let order = match keys.get("order").map(|order| order.as_str()) {
        None | Some(Some("C")) => Order::C,
        Some(Some("F")) => Order::Fortran,
        Some(_) => bail!("order {}, expected \"C\" or \"F\"", keys["order"]),
    };
    RawView::new(dtype, dims, offset, order)
}

/// Returns `None` if the object has no dtype and shape, or is a tensor itself.
pub(crate) fn beside(path: &Path) -> Option<Result<RawView>> {
    let entry: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
    let is_entry = entry.get("dtype").is_some() && entry.get("shape").is_some() && entry.get("data").is_none();
    is_entry.then(|| view_of(&entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries() {
        let view = |text: &str| Ok(RawView::parse(text).expect(text));
        let rows = [
            (r#"{"dtype": "float32", "shape": [1, 8]}"#, view("float32[1,8]")),
            (r#"{"dtype": ">u2", "shape": [-1, 4], "offset": 128, "order": "C", "op": 1}"#, view(">u2[-1,4]@128")),
            (r#"{"dtype": "int4x2", "shape": []}"#, view("int4x2[]")),
            (r#"{"shape": [1]}"#, Err("expected a dtype, a name such as \"float32\"")),
            (r#"{"dtype": "float32"}"#, Err("expected a shape, a list of whole numbers")),
            (r#"{"dtype": "float32", "shape": [2.5]}"#, Err("shape 2.5, expected whole numbers or one -1")),
            (r#"{"dtype": "float32", "shape": [-2]}"#, Err("shape -2, expected whole numbers or one -1")),
            (r#"{"dtype": "f4", "shape": [1], "offset": -1}"#, Err("offset -1, expected a number of bytes")),
            (r#"{"dtype": "f4", "shape": [1], "order": "K"}"#, Err("order \"K\", expected \"C\" or \"F\"")),
            (r#"{"dtype": "f4", "shape": [-1, -1]}"#, Err("[-1, -1]: only one dim can be -1")),
            ("[1]", Err("expected an object with dtype and shape")),
        ];
        for (text, expected) in rows {
            let found = view_of(&serde_json::from_str(text).expect(text));
            let found = found.as_ref().map_err(|error| error.message());
            assert_eq!(found, expected.as_ref().map_err(|message| *message), "{text}");
        }
        let transposed = view_of(&serde_json::json!({"dtype": "f4", "shape": [2], "order": "F"})).expect("a view");
        assert_ne!(transposed, RawView::parse("f4[2]").expect("a view"));
    }

    #[test]
    fn lists() {
        for (text, expected) in [
            ("[]", "expected an object with an entry for each file"),
            ("{}", "has no entries"),
            (r#"{"a": {"dtype": "f4", "shape": [1]}, "a": {"dtype": "f4", "shape": [1]}}"#, "two entries \"a\""),
            (r#"{"a.bin": {"dtype": "float33", "shape": [1]}}"#, "\"a.bin\": "),
        ] {
            let error = DumpShapes::parse(text.as_bytes()).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}

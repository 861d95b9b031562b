//! JSON shared by codecs, dtypes and array metadata.

use serde_json::{Map, Value};

use tensorop_kernels::error::{Result, bail, ensure, malformed};
use tensorop_kernels::layout::shape::{MAX_RANK, bytes_of};

#[derive(Clone, Copy)]
pub(crate) struct Extension<'a> {
    pub(crate) name: &'a str,
    pub(crate) configuration: Option<&'a Map<String, Value>>,
}

impl<'a> Extension<'a> {
    pub(crate) fn new(value: &'a Value) -> Result<Self> {
        let name = value.as_str().or_else(|| value.get("name")?.as_str());
        let name = name.ok_or_else(|| malformed!("an extension without a name"))?;
        match value.get("configuration") {
            None | Some(Value::Null) => Ok(Self { name, configuration: None }),
            Some(Value::Object(configuration)) => Ok(Self { name, configuration: Some(configuration) }),
            Some(_) => bail!("{name:?}: its configuration is not an object"),
        }
    }

    pub(crate) fn get(self, key: &str) -> Option<&'a Value> {
        self.configuration?.get(key)
    }

    /// Null counts as absent.
    fn field<T>(self, key: &str, kind: &str, read: fn(&'a Value) -> Option<T>) -> Result<Option<T>> {
        let value = self.get(key).filter(|value| !value.is_null());
        let refuse = || malformed!("codec {}: {key} is not of type {kind}", self.name);
        value.map(|value| read(value).ok_or_else(refuse)).transpose()
    }

    pub(crate) fn text(self, key: &str) -> Result<Option<&'a str>> {
        self.field(key, "text", Value::as_str)
    }

    pub(crate) fn integer(self, key: &str, default: i64) -> Result<i64> {
        Ok(self.field(key, "integer", Value::as_i64)?.unwrap_or(default))
    }

    pub(crate) fn flag(self, key: &str) -> Result<bool> {
        Ok(self.field(key, "boolean", Value::as_bool)?.unwrap_or(false))
    }

    pub(crate) fn list(self, key: &str) -> Result<&'a [Value]> {
        let list = self.get(key).and_then(Value::as_array);
        list.map(Vec::as_slice).ok_or_else(|| malformed!("codec {}: {key} is not a list", self.name))
    }

    /// An absent field has the first of the two values.
    pub(crate) fn has_second(self, key: &str, [usual, second]: [&str; 2]) -> Result<bool> {
        match self.get(key).map(Value::as_str) {
            None => Ok(false),
            Some(Some(text)) if text == usual || text == second => Ok(text == second),
            Some(_) => bail!("codec {}: {key} is neither {usual} nor {second}", self.name),
        }
    }
}

pub(crate) fn dims(value: Option<&Value>, what: &str) -> Result<Vec<usize>> {
    let Some(value @ Value::Array(list)) = value else { bail!("{what} is not a list") };
    ensure!(list.len() <= MAX_RANK, "rank {}, expected at most {MAX_RANK}", list.len());
    let dims = list.iter().map(|dim| usize::try_from(dim.as_u64()?).ok()).collect::<Option<Vec<_>>>();
    dims.ok_or_else(|| malformed!("{what} {}, expected whole numbers", shortened(value, 60)))
}

pub(crate) fn sides(value: Option<&Value>, rank: usize, itemsize: usize) -> Result<Vec<usize>> {
    let sides = dims(value, "chunk_shape")?;
    ensure!(sides.len() == rank, "chunk_shape {sides:?}, expected {rank} axes");
    ensure!(!sides.contains(&0), "chunk_shape {sides:?}: a side of 0");
    ensure!(bytes_of(&sides, itemsize.max(1)).is_some(), "chunk_shape {sides:?} is more than memory can address");
    Ok(sides)
}

pub(crate) fn shortened(value: &Value, most: usize) -> String {
    let text = value.to_string();
    if text.chars().count() > most { format!("{}...", text.chars().take(most).collect::<String>()) } else { text }
}

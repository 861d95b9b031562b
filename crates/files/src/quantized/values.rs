//! Values in configs, which programs write as different types.

use serde_json::Value;

use crate::untyped::python_json::entries;

/// Whether a value of any type says yes.
pub(super) fn is_true(value: &Value) -> bool {
    !matches!(&*as_text(value).to_lowercase(), "" | "0" | "0.0" | "false" | "no" | "none" | "null")
}

pub(super) fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The names in the first object under this key, at any depth, in the order of the text.
pub(super) fn names_in(text: &str, key: &str) -> Option<Vec<String>> {
    entries(text).ok()?.into_iter().find_map(|(name, value)| match name == key {
        true => Some(entries(value).ok()?.into_iter().map(|(name, _)| name).collect()),
        false => names_in(value, key),
    })
}

pub(super) fn number(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|number| usize::try_from(number).ok()).filter(|number| *number > 0)
}

/// Two sides, as a list or as a text such as `128x128`.
pub(super) fn sides_of(value: &Value) -> Option<[usize; 2]> {
    let sides: Vec<_> = match value {
        Value::String(text) => text.split('x').filter_map(|side| side.parse().ok()).filter(|side| *side > 0).collect(),
        _ => value.as_array()?.iter().filter_map(number).collect(),
    };
    sides.try_into().ok()
}

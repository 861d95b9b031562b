//! JSON as Python writes it: non-finite floats are the bare words `NaN`, `Infinity` and `-Infinity`, and a byte order
//! mark may come first. Values are slices of the text, so that copies keep the words. The parser sees a number of the
//! same length for each word, so that positions stay equal.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

const WORDS: [(&str, &str); 3] = [("NaN", "0.0"), ("Infinity", "0.000000"), ("-Infinity", "-0.000000")];

const MARK: &str = "\u{feff}";

/// Returns a text without its byte order mark.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK.as_bytes()).unwrap_or(text)
}

fn with_words<'a>(text: &'a str, replaced: impl Fn(&'static str, &'static str) -> Cow<'static, str>) -> Cow<'a, str> {
    // a search is faster than the loop
    if !text.contains(WORDS[0].0) && !text.contains(WORDS[1].0) {
        return Cow::Borrowed(text);
    }
    let bytes = text.as_bytes();
    let is_of_word = |at: Option<usize>| {
        let byte = at.and_then(|at| bytes.get(at)).copied().unwrap_or_default();
        byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte) || !byte.is_ascii()
    };
    let (mut out, mut copied, mut at, mut in_string) = (String::with_capacity(text.len()), 0, 0, false);
    while at < bytes.len() {
        match bytes[at] {
            // an escaped quote does not end the string
            b'\\' if in_string => at += 1,
            b'"' => in_string = !in_string,
            b'N' | b'I' | b'-' if !in_string => {
                let found = WORDS.iter().find(|(word, _)| bytes[at..].starts_with(word.as_bytes()));
                let whole =
                    |(word, _): &&(&str, &str)| !is_of_word(at.checked_sub(1)) && !is_of_word(Some(at + word.len()));
                if let Some((word, number)) = found.filter(whole) {
                    out.push_str(&text[copied..at]);
                    out.push_str(&replaced(word, number));
                    at += word.len();
                    copied = at;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Returns JSON with the words as strings.
pub fn quoted(text: &str) -> Cow<'_, str> {
    with_words(text, |word, _| format!("\"{word}\"").into())
}

/// Returns JSON for comparisons: a word equals no number or string.
pub fn comparable(text: &str) -> Cow<'_, str> {
    with_words(text, |word, _| format!("{{\"number\": \"{word}\"}}").into())
}

fn masked(text: &str) -> Cow<'_, str> {
    with_words(text, |_, number| number.into())
}

/// `raw` is a slice of the `masked` text.
fn slice<'a>(text: &'a str, masked: &str, raw: &RawValue) -> &'a str {
    let at = raw.get().as_ptr().addr() - masked.as_ptr().addr();
    &text[at..at + raw.get().len()]
}

/// Returns an object's values by key; the last of equal keys wins.
///
/// # Errors
/// The text is not an object.
pub fn object(text: &str) -> serde_json::Result<BTreeMap<String, &str>> {
    let masked = masked(text);
    let values = serde_json::from_str::<BTreeMap<String, &RawValue>>(&masked)?;
    Ok(values.into_iter().map(|(key, raw)| (key, slice(text, &masked, raw))).collect())
}

struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de> FromObject<'de> for Entries<'de> {
    const EXPECTED: &'static str = "an object";

    fn read<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Self(entries))
    }
}

/// Returns an object's keys and values in the order of the text.
///
/// # Errors
/// The text is not an object.
pub(crate) fn entries(text: &str) -> serde_json::Result<Vec<(String, &str)>> {
    let masked = masked(text);
    let JsonObject(Entries(entries)) = serde_json::from_str(&masked)?;
    Ok(entries.into_iter().map(|(key, raw)| (key, slice(text, &masked, raw))).collect())
}

/// Returns a list's values.
///
/// # Errors
/// The text is not a list.
pub fn list(text: &str) -> serde_json::Result<Vec<&str>> {
    let masked = masked(text);
    let values = serde_json::from_str::<Vec<&RawValue>>(&masked)?;
    Ok(values.into_iter().map(|raw| slice(text, &masked, raw)).collect())
}

/// Returns a single value without blanks around it.
///
/// # Errors
/// The text is not a single value.
pub fn value(text: &str) -> serde_json::Result<&str> {
    let masked = masked(text);
    let raw = serde_json::from_str::<&RawValue>(&masked)?;
    Ok(slice(text, &masked, raw))
}

/// Returns the text of an object with these values.
pub fn object_text<'a>(values: impl IntoIterator<Item = (&'a String, &'a &'a str)>) -> String {
    let entry = |(key, value): (&String, &&str)| format!("{}:{value}", serde_json::Value::from(key.as_str()));
    format!("{{{}}}", values.into_iter().map(entry).collect::<Vec<_>>().join(","))
}

/// Removes white space between values.
pub fn compact(text: &str) -> String {
    let (mut out, mut in_string, mut escaped) = (String::with_capacity(text.len()), false, false);
    for c in text.chars() {
        in_string ^= c == '"' && !escaped;
        escaped = in_string && c == '\\' && !escaped;
        if in_string || !c.is_ascii_whitespace() {
            out.push(c);
        }
    }
    out
}

pub(crate) trait FromObject<'de>: Sized {
    const EXPECTED: &'static str;

    fn read<A: MapAccess<'de>>(map: A) -> Result<Self, A::Error>;
}

/// An object that is read key by key, to detect duplicate keys and keep their order.
///
/// A derived `Deserialize` would also accept a list of fields, and maps keep the last of two equal keys.
pub(crate) struct JsonObject<T>(pub T);

impl<'de, T: FromObject<'de>> Deserialize<'de> for JsonObject<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData)).map(Self)
    }
}

/// The error may quote several lines of the file.
pub(crate) fn one_line(error: &impl fmt::Display) -> String {
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

#[cfg(test)]
mod tests;

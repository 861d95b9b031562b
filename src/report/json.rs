//! The values of a report as JSON, each a text that goes into another: objects keep the order of their members, which
//! is that of the contract and of reading.

pub(crate) use crate::item::print::float;
use crate::item::print::{escape, escape_code};

/// How the control characters that JSON has short escapes for are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// As in the strings of tensors: `\n`, `\r` and `\t`.
    Short,
    /// All control characters by number: `\u000a`. So `info` has written the names of members since its first release,
    /// and its output may be compared byte by byte.
    Numbers,
}

/// Returns a text as a JSON string that is safe to print on a terminal: DEL and the control characters after it, which
/// JSON allows, are escaped, too.
pub(crate) fn string(text: &str, escapes: Escapes) -> String {
    let mut out = vec![b'"'];
    for c in text.chars() {
        match escapes {
            Escapes::Numbers if c.is_control() => escape_code(c.into(), &mut out),
            Escapes::Numbers | Escapes::Short => escape(c, &mut out),
        }
    }
    out.push(b'"');
    String::from_utf8(out).expect("characters are UTF-8")
}

/// Returns what `text` makes of a value, or `null` if there is none.
pub(crate) fn or_null<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "null".to_owned(), text)
}

/// Returns an object of members, each a name, which must need no escapes, and a value.
pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members: Vec<_> = members.into_iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", members.join(", "))
}

/// Returns an array of what `text` makes of each item.
pub(crate) fn array<T>(items: impl IntoIterator<Item = T>, text: impl Fn(T) -> String) -> String {
    format!("[{}]", items.into_iter().map(text).collect::<Vec<_>>().join(", "))
}

/// Returns a list of dims, or of one place for each axis.
pub(crate) fn list(numbers: &[usize]) -> String {
    format!("{numbers:?}")
}

/// Returns an object of a value and the index of the item that has it.
pub(crate) fn at(value: String, index: &[usize]) -> String {
    object([("value", value), ("index", list(index))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings() {
        let text = "it's \"\\\" é\n\r\t\u{1b}\u{7f}\u{9b}\0";
        let rows = [
            (Escapes::Short, r#""it's \"\\\" é\n\r\t\u001b\u007f\u009b\u0000""#),
            (Escapes::Numbers, r#""it's \"\\\" é\u000a\u000d\u0009\u001b\u007f\u009b\u0000""#),
        ];
        for (escapes, wanted) in rows {
            let found = string(text, escapes);
            assert_eq!(found, wanted);
            assert_eq!(serde_json::from_str::<String>(&found).unwrap(), text);
        }
    }

    #[test]
    fn objects_keep_their_order() {
        let value = object([("b", or_null(Some(1), |n: u8| n.to_string())), ("a", at("null".into(), &[2, 3]))]);
        assert_eq!(value, r#"{"b": 1, "a": {"value": null, "index": [2, 3]}}"#);
    }
}

//! JSON fragments. Objects keep the order of their members.

pub use tensorop_kernels::item::print::float;
use tensorop_kernels::item::print::{escape, escape_code};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escapes {
    Short,
    /// `\u000a`. `info` has written member names this way since its first release, and users may compare its output.
    Numbers,
}

/// DEL and the C1 control characters are escaped too, since a terminal may obey them.
pub fn string(text: &str, escapes: Escapes) -> String {
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

pub fn or_null<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "null".to_owned(), text)
}

/// The names must need no escapes.
pub fn object<'a>(members: impl IntoIterator<Item = (&'a str, String)>) -> String {
    let members: Vec<_> = members.into_iter().map(|(name, value)| format!("\"{name}\": {value}")).collect();
    format!("{{{}}}", members.join(", "))
}

pub fn array<T>(items: impl IntoIterator<Item = T>, text: impl Fn(T) -> String) -> String {
    format!("[{}]", items.into_iter().map(text).collect::<Vec<_>>().join(", "))
}

pub fn list(numbers: &[usize]) -> String {
    format!("{numbers:?}")
}

pub fn at(value: String, index: &[usize]) -> String {
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

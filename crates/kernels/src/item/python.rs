//! Prints values as Python does.

use unicode_general_category::{GeneralCategory, get_general_category};

/// Python's `repr` of a tuple.
pub fn tuple(dims: &[usize]) -> String {
    let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
    if dims.len() == 1 { format!("({},)", dims[0]) } else { format!("({})", dims.join(", ")) }
}

/// Python's `repr` of a `str`.
pub fn repr_str(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    repr_code_points(text.chars().map(u32::from), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// Appends Python's `repr` of a `str`, and returns its length in characters. Invalid code points are escaped like
/// unprintable ones.
pub fn repr_code_points(text: impl Iterator<Item = u32> + Clone, out: &mut Vec<u8>) -> usize {
    repr(text, is_printable, out)
}

/// Appends Python's `repr` of a `bytes`, and returns its length in characters.
pub fn repr_bytes(text: &[u8], out: &mut Vec<u8>) -> usize {
    out.push(b'b');
    1 + repr(text.iter().map(|&byte| byte.into()), |_| false, out)
}

/// ASCII does not need `is_shown`.
fn repr(text: impl Iterator<Item = u32> + Clone, is_shown: fn(char) -> bool, out: &mut Vec<u8>) -> usize {
    let has = |quote: u8| text.clone().any(|code| code == u32::from(quote));
    let quote = if has(b'\'') && !has(b'"') { b'"' } else { b'\'' };
    let mut width = 2;
    out.push(quote);
    for code in text {
        width += match char::from_u32(code) {
            _ if code < 0x7f => escape_ascii(code as u8, quote, out),
            Some(c) if is_shown(c) => {
                push_char(c, out);
                1
            }
            _ => escape_code(code, out),
        };
    }
    out.push(quote);
    width
}

/// Appends a `str`, with escapes where UTF-8 has no code point.
pub fn print_code_points(text: impl Iterator<Item = u32>, out: &mut Vec<u8>) {
    for code in text {
        match char::from_u32(code) {
            Some(c) => push_char(c, out),
            None => _ = escape_code(code, out),
        }
    }
}

fn push_char(c: char, out: &mut Vec<u8>) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn escape_ascii(byte: u8, quote: u8, out: &mut Vec<u8>) -> usize {
    let short = match byte {
        b'\t' => b't',
        b'\n' => b'n',
        b'\r' => b'r',
        b'\\' => b'\\',
        _ if byte == quote => quote,
        b' '.. => {
            out.push(byte);
            return 1;
        }
        _ => return escape_code(byte.into(), out),
    };
    out.extend([b'\\', short]);
    2
}

fn escape_code(code: u32, out: &mut Vec<u8>) -> usize {
    let (letter, digits) = match code {
        ..0x100 => (b'x', 2),
        0x100..0x1_0000 => (b'u', 4),
        _ => (b'U', 8),
    };
    out.extend([b'\\', letter]);
    out.extend((0..digits).rev().map(|digit| b"0123456789abcdef"[(code >> (4 * digit)) as usize % 16]));
    2 + digits
}

/// Python's `str.isprintable`.
fn is_printable(c: char) -> bool {
    use GeneralCategory as G;
    let unprintable = matches!(
        get_general_category(c),
        G::Control
            | G::Format
            | G::Surrogate
            | G::PrivateUse
            | G::Unassigned
            | G::LineSeparator
            | G::ParagraphSeparator
            | G::SpaceSeparator
    );
    c == ' ' || !unprintable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings() {
        let rows: &[(&[u32], &str)] = &[
            (&[], "''"),
            (&[0x61, 0x27], "\"a'\""),
            (&[0x22], "'\"'"),
            (&[0x22, 0x27], "'\"\\''"),
            (&[0x5c, 9, 10, 13, 0, 0x7f], r"'\\\t\n\r\x00\x7f'"),
            (&[0xe9, 0x20, 0xa0, 0xad], r"'é \xa0\xad'"),
            (&[0x200b, 0x2028, 0xd800, 0xffff, 0x3042], r"'\u200b\u2028\ud800\uffffあ'"),
            (&[0x1f600, 0x10_ffff, 0x11_0000, u32::MAX], r"'😀\U0010ffff\U00110000\Uffffffff'"),
        ];
        let mut failures = Vec::new();
        for (codes, expected) in rows {
            let mut out = Vec::new();
            let width = repr_code_points(codes.iter().copied(), &mut out);
            let got = String::from_utf8(out).unwrap();
            if (got.as_str(), width) != (*expected, expected.chars().count()) {
                failures.push(format!("{codes:x?}: {got} of {width}, expected {expected}"));
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
        assert_eq!(repr_str("it's"), "\"it's\"");
    }

    #[test]
    fn bytes() {
        let rows: &[(&[u8], &str)] =
            &[(b"", "b''"), (b"a'", "b\"a'\""), (b"'\"", r#"b'\'"'"#), (b"\\\t\x00\x7f\xff~", r"b'\\\t\x00\x7f\xff~'")];
        let mut failures = Vec::new();
        for (text, expected) in rows {
            let mut out = Vec::new();
            let width = repr_bytes(text, &mut out);
            if (&out[..], width) != (expected.as_bytes(), expected.len()) {
                failures.push(format!("{}, expected {expected}", String::from_utf8_lossy(&out)));
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    }

    #[test]
    fn tuples() {
        assert_eq!((tuple(&[]), tuple(&[2]), tuple(&[2, 3])), ("()".into(), "(2,)".into(), "(2, 3)".into()));
    }
}

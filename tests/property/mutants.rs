//! Changes to valid files that keep most of their structure.

use proptest::prelude::*;

use crate::common::{self, header, npy_with_header};

/// One change: what, where (as a share of the length), and a number that it needs.
pub(crate) type Change = (u8, u16, u16);

/// A few changes.
pub(crate) fn changes() -> impl Strategy<Value = Vec<Change>> {
    prop::collection::vec((0..8_u8, any::<u16>(), any::<u16>()), 1..6)
}

/// `seed` with changes: bytes altered, removed, repeated, cut, or a token put in.
pub(crate) fn mutant(seed: &[u8], changes: &[Change], tokens: &[impl AsRef<[u8]>]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for &(what, at, number) in changes {
        let at = usize::from(at) * bytes.len() / (1 << 16);
        let end = (at + 1 + usize::from(number) % 16).min(bytes.len());
        let token = tokens[usize::from(number) % tokens.len()].as_ref().iter().copied();
        match what {
            0 if at < bytes.len() => bytes[at] ^= 1 << (number % 8),
            1 if at < bytes.len() => bytes[at] = (number >> 8) as u8,
            2 => drop(bytes.drain(at..end)),
            3 => drop(bytes.splice(at..at, bytes[at..end].to_vec().repeat(1 + usize::from(number) % 70))),
            4 => bytes.truncate(at),
            5 => drop(bytes.splice(at..end, token)),
            _ => drop(bytes.splice(at..at, token)),
        }
    }
    bytes
}

/// A mutant of a `.npy`: its dictionary is changed, and its length says so, or anything at all.
pub(crate) fn npy_mutant(seed: &[u8], changes: &[Change]) -> Vec<u8> {
    let dictionary = seed.iter().position(|&byte| byte == b'{').unwrap_or(0);
    let end = seed.iter().position(|&byte| byte == b'\n').map_or(seed.len(), |end| end + 1);
    if changes[0].2.is_multiple_of(4) {
        return mutant(seed, changes, NPY_TOKENS);
    }
    let changed = mutant(&seed[dictionary..end], changes, NPY_TOKENS);
    let mut file = seed[..dictionary].to_vec();
    let length = (changed.len() as u32).to_le_bytes();
    let width = dictionary - 8;
    file[8..].copy_from_slice(&length[..width]);
    [&file, &changed[..], &seed[end..]].concat()
}

pub(crate) const NPY_TOKENS: &[&str] = &[
    "0",
    "1",
    "-1",
    "9",
    "99999999999999999999",
    "18446744073709551615",
    "9223372036854775807",
    "4294967296",
    "L",
    "(",
    ")",
    "()",
    "(1,)",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "'",
    "\"",
    "\\",
    "\n",
    " ",
    "True",
    "False",
    "None",
    "'descr'",
    "'shape'",
    "'fortran_order'",
    "'<f4'",
    "'|V0'",
    "'|S99999999999'",
    "'<U536870912'",
    "'|O'",
    "'<M8[25ns]'",
    "'>c32'",
    "\u{e9}",
    "('a', '<f4')",
    "[('a', '<f4'), ('b', '|V3', (2, 3))]",
    "(('t', 'n'), '<i2')",
    "((((((((",
    "1e9",
    "0x10",
    "b'x'",
    "\0",
];

pub(crate) const JSON_TOKENS: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "\\u00e9",
    "0",
    "-0",
    "1",
    "-1",
    "1.5",
    "1e400",
    "-1e-400",
    "1e5",
    "18446744073709551616",
    "9223372036854775808",
    "null",
    "true",
    "false",
    "NaN",
    "\"NaN\"",
    "\"Infinity\"",
    "[]",
    "[[]]",
    "[[[[[[[[",
    "{}",
    "\"dtype\":",
    "\"shape\":",
    "\"data\":",
    "\"float32\"",
    "\"<U3\"",
    "\"<M8[D]\"",
    "\"complex64\"",
    "[1,2]",
    "[0]",
    "[2,18446744073709551615]",
    "\u{feff}",
    "\u{1f600}",
    "\t",
    "\r\n",
    " ",
];

/// Tensors as JSON, in every form.
pub(crate) const JSON: &[&str] = &[
    "[[1,2,3],[4,5,6]]",
    "[[0.5,-1e3],[\"NaN\",\"-Infinity\"]]",
    "7",
    "[]",
    "[[],[]]",
    "[true,false]",
    "[\"ab\",\"c\\u00e9\",\"\"]",
    "[18446744073709551615]",
    r#"{"dtype": "int8", "shape": [2, 2], "data": [1, 2, 3, 4]}"#,
    r#"{"dtype": "float32", "shape": [2, 3], "data": [[0.0, 1.0, 2.0], [7.0, "NaN", 9.0]]}"#,
    r#"{"dtype": "<M8[D]", "shape": [1], "data": ["2026-02-28"]}"#,
    r#"{"dtype": "complex64", "shape": [1, 2], "data": [[[1, 2], [3, "Infinity"]]]}"#,
    r#"{"dtype": "<U4", "data": ["\ud83d\ude00", "abc"]}"#,
    r#"{"dtype": "bool", "shape": [0, 3], "data": []}"#,
    r#"{"data": [[1.0]]}"#,
];

/// Headers of every kind, with the shape and the item size that they tell.
fn npy_seeds() -> Vec<(String, Vec<usize>, usize)> {
    let plain = |descr: &str, fortran, shape: &[usize], size| (header(descr, fortran, shape), shape.to_vec(), size);
    let of = |descr: &str, shape: &str| format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}");
    vec![
        plain("<f4", false, &[2, 3], 4),
        plain(">i2", true, &[3, 2], 2),
        plain("|u1", false, &[], 1),
        plain("<U2", false, &[2], 8),
        plain("<c16", true, &[1, 2], 16),
        plain("|V3", false, &[4], 3),
        plain("<M8[25ns]", false, &[0, 3], 8),
        (of("[('a', '<f4'), ('b', '|u1', (2,))]", "(2,)"), vec![2], 6),
        (of("[(('t', 'n'), '>i2'), ('', '|V2'), ('s', [('x', '|b1')])]", "(1, 2)"), vec![1, 2], 5),
        (of("'<f8'", "(2L, 1L)"), vec![2, 1], 8),
    ]
}

/// `.npy` files with headers of every kind, and as many items as they say.
pub(crate) fn npy() -> Vec<Vec<u8>> {
    let whole = |(header, shape, size): (String, Vec<usize>, usize)| {
        let items: Vec<u8> = (0..shape.iter().product::<usize>() * size).map(|i| i as u8).collect();
        npy_with_header(&header, &items)
    };
    let mut all: Vec<_> = npy_seeds().into_iter().map(whole).collect();
    // and as NumPy writes them: version 1, padded
    all.push(common::npy("<i8", &[3], &[1; 24]));
    all
}

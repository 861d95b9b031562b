//! Files that no command can take.

use crate::common::{header, npy, npy_with_header};

/// Their names and contents.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    let claims = |text: &str| npy_with_header(text, &[0; 64]);
    let of =
        |descr: &str, shape: &str| claims(&format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}"));
    let with_length = |version: u8, length: u32, more: &[u8]| {
        let prefix = [b"\x93NUMPY".as_slice(), &[version, 0]].concat();
        [prefix, length.to_le_bytes()[..if version == 1 { 2 } else { 4 }].to_vec(), more.to_vec()].concat()
    };
    let nested = |open: &str, close: &str, times: usize| [open.repeat(times), close.repeat(times)].concat();
    let whole = npy("<f8", &[8], &[0; 64]);
    let structured = |depth: usize| of(&format!("{}'<f8'{}", "[('a', ".repeat(depth), ")]".repeat(depth)), "(9,)");
    let json = |text: String| text.into_bytes();
    vec![
        // shapes
        ("shape-huge", of("'<f8'", "(9223372036854775807,)")),
        ("shape-product", of("'<f8'", "(4294967296, 4294967296)")),
        ("shape-product-of-bytes", of("'<f8'", "(1152921504606846976,)")),
        ("shape-one-more", of("'<f8'", "(9,)")),
        ("shape-one-less", of("'<f8'", "(7,)")),
        ("shape-terabytes", of("'|u1'", "(1099511627776,)")),
        ("shape-terabytes-fortran", claims("{'descr': '<f4', 'fortran_order': True, 'shape': (1048576, 1048576), }")),
        ("shape-zero-and-huge", of("'<f8'", "(0, 9223372036854775807, 2)")),
        ("shape-negative", of("'<f8'", "(-8,)")),
        ("shape-float", of("'<f8'", "(8.0,)")),
        ("shape-digits", of("'<f8'", &format!("({},)", "9".repeat(10_000)))),
        ("rank-65", of("'<f8'", &format!("({})", "1,".repeat(65)))),
        ("rank-100000", of("'<f8'", &format!("({})", "1,".repeat(100_000)))),
        // items
        ("item-huge", of("'|V9223372036854775807'", "(1,)")),
        ("item-gigabytes", of("'|S8589934592'", "(1,)")),
        ("item-gigabytes-void", of("'|V4294967296'", "(2,)")),
        ("item-string-overflow", of("'<U4611686018427387904'", "(1,)")),
        ("item-structured-overflow", of("[('a', '|V4294967296', (4294967296, 4))]", "(1,)")),
        ("item-structured-gigabytes", of("[('a', '<f8', (1073741824,))]", "(1,)")),
        ("object", of("'|O'", "(8,)")),
        ("object-inside", of("[('a', '|O')]", "(8,)")),
        ("descr-unknown", of("'<q99'", "(8,)")),
        ("descr-nested-6", structured(6)),
        ("descr-nested-15", structured(15)),
        ("descr-nested-10000", structured(10_000)),
        ("descr-fields", of(&format!("[{}]", "('a', '<f8'), ".repeat(2000)), "(8,)")),
        // dictionaries
        ("dictionary-of-tuples", of("'<f8'", &"((2L, 1L), ".repeat(20))),
        ("dictionary-of-lists", of(&nested("[", "]", 300_000), "(8,)")),
        ("dictionary-unclosed", claims("{'descr': '<f8', 'fortran_order': False, 'shape': (8,")),
        ("dictionary-in-dictionary", of(&nested("{'a': ", "}", 40), "(8,)")),
        ("dictionary-twice", claims("{'descr': '<f8', 'descr': '<f4', 'fortran_order': False, 'shape': (8,), }")),
        ("dictionary-without-shape", claims("{'descr': '<f8', 'fortran_order': False, }")),
        ("dictionary-of-one-in-brackets", of("'<f8'", &nested("(", ")", 30))),
        ("dictionary-of-long-integers", of("'<f8'", &format!("({}L,)", "9".repeat(10_000)))),
        ("dictionary-of-words", of("'<f8'", &"L".repeat(500_000))),
        ("dictionary-code", claims("__import__('os').system('true')")),
        // lengths
        ("header-4-gib", with_length(2, u32::MAX, b"{")),
        ("header-over-the-limit", with_length(2, (1 << 20) + 1, &[b' '; 1 << 20])),
        ("header-beyond-the-end", with_length(1, 60_000, b"{'descr': '<f8'")),
        ("header-of-nothing", with_length(3, 0, b"")),
        ("header-not-utf-8", with_length(3, 4, b"{\xff\xfe}")),
        ("version-9", with_length(9, 100, &[b' '; 200])),
        ("cut-in-magic", whole[..5].to_vec()),
        ("cut-in-length", whole[..9].to_vec()),
        ("cut-in-header", whole[..100].to_vec()),
        ("cut-before-items", whole[..128].to_vec()),
        ("cut-in-items", whole[..whole.len() - 1].to_vec()),
        ("one-byte-more", [&whole[..], b"x"].concat()),
        ("fortran-cut", npy_with_header(&header("<f8", true, &[4, 4]), &[0; 127])),
        // JSON
        ("json-nested", json(nested("[", "]", 500_000))),
        ("json-unclosed", json("[".repeat(300_000))),
        ("json-objects", json(nested("{\"data\":", "}", 100_000))),
        ("json-rank-65", json(format!("{}1{}", "[".repeat(65), "]".repeat(65)))),
        ("json-ragged", json(format!("[{}[1,2]]", "[1],".repeat(100_000)))),
        ("json-number", json(format!("[{}]", "9".repeat(300_000)))),
        ("json-exponent", json("[1e999999999999]".to_owned())),
        ("json-shape", json(r#"{"dtype":"float64","shape":[1152921504606846976],"data":[1]}"#.to_owned())),
        ("json-width", json(r#"{"dtype":"<U1000000000","shape":[2],"data":["a","b"]}"#.to_owned())),
        ("json-padding", json(format!("[{}\"{}\"]", "\"\",".repeat(200_000), "x".repeat(200_000)))),
        ("json-dtype", json(format!(r#"{{"dtype":"{}","data":[1]}}"#, "<".repeat(100_000)))),
        (
            "json-keys",
            json(format!("{{{}\"data\":[1]}}", (0..50_000).map(|i| format!("\"{i}\":0,")).collect::<String>())),
        ),
        ("json-nan", json("[NaN]".to_owned())),
        ("json-surrogate", json("[\"\\ud800\", 1]".to_owned())),
        ("json-mixed", json("[1, \"a\", true, null]".to_owned())),
        ("json-then-more", json("[1] [2]".to_owned())),
        ("not-utf-8", b"[\"\xff\xff\"]".to_vec()),
        ("utf-16", b"\xff\xfe[\x001\x00]\x00".to_vec()),
        ("nothing", Vec::new()),
        ("blank", vec![b' '; 100_000]),
        ("zeros", vec![0; 100_000]),
        ("noise", (0..100_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()),
    ]
}

//! The messages of the tests themselves: where a row of a table is, and how two files differ.

use std::panic::catch_unwind;

use tensorop::{DType, Tensor, read_bytes};

use crate::common::{difference, each, npy};

/// Returns the message of a table that fails.
fn message(table: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let caught = catch_unwind(table).expect_err("a row fails");
    caught.downcast_ref::<String>().expect("a text").clone()
}

#[test]
fn failed_rows_have_a_line() {
    let begin = line!();
    let said = message(|| {
        let rows = [
            ("the first", 1),
            ("the second", 2), //
            ("a \"third\"", 4),
        ];
        each(rows, |(name, _)| format!("`{name}`"), |&(_, n)| if n < 2 { Ok(()) } else { Err(format!("is {n}")) });
    });
    let file = file!();
    let (second, third) = (begin + 4, begin + 5);
    assert_eq!(
        said,
        format!("2 of 3 rows failed:\n  {file}:{second}: `the second`: is 2\n  {file}:{third}: `a \"third\"`: is 4")
    );
}

#[test]
fn rows_without_a_text_have_a_number() {
    let line = line!() + 1;
    let said = message(|| each([5, 6, 7], i32::to_string, |n| if *n == 6 { Err("even".to_owned()) } else { Ok(()) }));
    assert_eq!(said, format!("1 of 3 rows failed:\n  {}:{line}, row 2: 6: even", file!()));
}

#[test]
fn files_differ_as_diff_tells_it() {
    let file = |dtype: &str, shape: &[usize], items: [f32; 4]| npy(dtype, shape, &items.map(f32::to_le_bytes).concat());
    let expected = file("<f4", &[2, 2], [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(
        difference(&file("<f4", &[2, 2], [1.0, 2.5, 3.0, 5.0]), &expected),
        "different: 2 of 4 items (50 %) of float32 [2, 2]\n    [0, 1]: 2.5, expected 2.0\n    [1, 1]: 5.0, expected 4.0"
    );
    let flat = file("<f4", &[4], [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(difference(&flat, &expected), "different: shape [4], expected [2, 2]");
    // the same tensor in other bytes
    let int8 = DType::parse("int8").expect("a dtype");
    let (json, npy) = (b"{\"dtype\":\"int8\",\"shape\":[1],\"data\":[7]}", npy("|i1", &[1], &[7]));
    assert_eq!(read_bytes(json).expect("a tensor"), Tensor::new(int8, vec![1], vec![7]).expect("a tensor"));
    let said = difference(json, &npy);
    assert!(said.starts_with("39 bytes, expected 129; from byte 0 on [7b, "), "{said}");
    assert!(difference(b"ab", b"ac").starts_with("2 bytes, expected 2; from byte 1 on [62], expected [63]"));
}

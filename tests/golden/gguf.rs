//! GGUF files of the Python package gguf, and the items that it makes of their blocks: see `tests/oracle/gguf_golden.py`.
//! `TENSOROP_GGUF` names another folder of that script to test.

use std::path::PathBuf;

use tensorop::diff::{Options, compare};
use tensorop::{SliceArgs, Tensor};

use crate::common::each;

fn folder() -> PathBuf {
    std::env::var_os("TENSOROP_GGUF").map_or_else(|| "tests/golden/gguf".into(), PathBuf::from)
}

/// NaNs are the same, since their bits differ between machines.
fn check(found: &Tensor, expected: &Tensor) -> Result<(), String> {
    let compared = compare(expected, found, &Options::default()).map_err(|error| error.to_string())?;
    match compared.mismatches() {
        Some(0) => Ok(()),
        _ => Err(format!("{found:?}, expected {expected:?}")),
    }
}

#[test]
fn items_of_all_types() {
    let mut rows = Vec::new();
    for (file, tensors) in [("types", 33), ("quantized", 8), ("big", 13)] {
        let model = tensorop::open(folder().join(format!("{file}.gguf"))).expect("a model");
        let expected = tensorop::open(folder().join(format!("{file}.npz"))).expect("items");
        let names: Vec<_> = expected.names().map(str::to_owned).collect();
        assert_eq!(model.names().len(), tensors);
        for name in names {
            rows.push((
                format!("{file}: {name}"),
                model.read(&*name).expect("items"),
                expected.read(&*name).expect("items"),
            ));
        }
    }
    each(rows, |(label, ..)| label.clone(), |(_, found, expected)| check(found, expected));
}

/// Windows begin and end within blocks.
#[test]
fn parts_of_rows() {
    let model = tensorop::open(folder().join("types.gguf")).expect("a model");
    let expected = tensorop::open(folder().join("types.npz")).expect("items");
    let mut rows = Vec::new();
    for name in model.names().filter(|name| name.starts_with("blk.")) {
        for at in [":, 3:30", "::-1, ::7", "1:, -1:", ":, 31:32", ":, 5:2:-1"] {
            rows.push((name.to_owned(), at));
        }
    }
    each(
        rows,
        |(name, at)| format!("{name} {at}"),
        |(name, at)| {
            let at: SliceArgs = at.parse().expect("slices");
            let [found, expected] = [&model, &expected].map(|file| file.read_slice(&**name, &at).expect("items"));
            check(&found, &expected)
        },
    );
}

#[test]
fn a_model_in_three_files() {
    let whole = tensorop::open(folder().join("quantized.gguf")).expect("a model");
    let parts = tensorop::open(folder().join("parts-00001-of-00003.gguf")).expect("a model");
    assert_eq!(parts.names().len(), whole.names().len());
    for name in whole.names() {
        assert_eq!(parts.read(name).expect("items"), whole.read(name).expect("items"), "{name}");
    }
    let second = tensorop::open(folder().join("parts-00002-of-00003.gguf")).expect("a file");
    assert!(second.names().len() < whole.names().len());
}

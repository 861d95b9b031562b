//! Tables that `numpy.savetxt` wrote: read to the bits that `numpy.loadtxt` reads, and written so that they read back.

use std::io::Cursor;

use serde_json::Value;
use tensorop::error::Subject;
use tensorop::internal::opening::input::OpenOptions;
use tensorop::internal::opening::table::Format;
use tensorop::internal::untyped::cells::TableOptions;
use tensorop::{DType, Tensor};

use crate::common::each;

fn read(text: &str, format: &str, skip: usize, dtype: &DType) -> Result<Tensor, String> {
    let stream = Box::new(Cursor::new(text.as_bytes().to_vec()));
    let options = OpenOptions {
        format: Format::named(format),
        table: TableOptions { skip_rows: skip, ..TableOptions::default() },
        ..OpenOptions::new("FILE")
    };
    let input = options.open_stream(stream).map_err(|e| e.to_string())?;
    let values = input.members().text.as_ref().expect("a text").values(Subject::Data);
    values.and_then(|values| values.read(dtype)).map_err(|e| e.to_string())
}

#[test]
fn tables_of_numpy() {
    let rows: Vec<Value> =
        include_str!("csv.jsonl").lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(rows.len() > 30, "{} rows", rows.len());
    let folder = tempfile::tempdir().expect("a folder");
    each(
        rows,
        |row| row["text"].to_string(),
        |row| {
            let text = |key: &str| row[key].as_str().expect("text");
            let digits = text("items");
            let byte = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16).expect("hexadecimal");
            let items: Vec<u8> = (0..digits.len()).step_by(2).map(byte).collect();
            let shape: Vec<usize> = serde_json::from_value(row["shape"].clone()).expect("dims");
            let dtype = DType::parse(text("dtype")).expect("a dtype");
            let expected = Tensor::new(dtype.clone(), shape, items).expect("a tensor");
            let format = if text("delimiter") == "," { "csv" } else { "tsv" };
            let skip = row["skip"].as_u64().expect("a number") as usize;
            let found = read(text("text"), format, skip, &dtype)?;
            let path = folder.path().join(format!("t.{format}"));
            tensorop::write(&path, &found).map_err(|e| e.to_string())?;
            let again = read(&std::fs::read_to_string(&path).expect("text"), format, 0, &dtype)?;
            match found == expected && again == expected {
                true => Ok(()),
                false => Err(format!("{found:?}, again {again:?}, expected {expected:?}")),
            }
        },
    );
}

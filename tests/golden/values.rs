//! Every item of the floats of 16 bits and fewer: as text what NumPy prints (see `tests/oracle/values_golden.py`), in
//! JSON the number itself, and both read back to the same bits.

use half::{bf16, f16};
use serde_json::Value;
use tensorop::error::Subject;
use tensorop::internal::formats::json;
use tensorop::internal::formats::text::{self, TextOptions};
use tensorop::item::dtype::Kind;
use tensorop::item::parse;
use tensorop::parallel::Threads;
use tensorop::{DType, Tensor};

/// FNV-1a.
fn check_sum(text: &[u8]) -> String {
    let step = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:016x}", text.iter().fold(0xcbf2_9ce4_8422_2325, step))
}

/// What is printed, without the end of the line.
fn printed(dtype: &DType, items: &[u16], shape: &[usize]) -> String {
    let bytes = items.iter().flat_map(|item| item.to_le_bytes()[..dtype.itemsize()].to_vec()).collect();
    let tensor = Tensor::new(dtype.clone(), shape.to_vec(), bytes).unwrap();
    let mut out = Vec::new();
    text::write_shown(&mut out, &tensor, tensor.shape(), &TextOptions::default()).unwrap();
    String::from_utf8(out).unwrap().strip_suffix('\n').unwrap().to_owned()
}

/// The float32 that an item is.
fn value(dtype: &DType, item: u16) -> f32 {
    match dtype.kind() {
        Kind::Float16 => f16::from_bits(item).to_f32(),
        Kind::BFloat16 => bf16::from_bits(item).to_f32(),
        Kind::Narrow(narrow) => narrow.value(item as u8) as f32,
        kind => panic!("{kind:?}"),
    }
}

/// The bits that a text reads back to.
fn read(dtype: &DType, text: &str) -> u16 {
    let mut item = [0; 2];
    let known = match text {
        "nan" => "NaN",
        "inf" => "Infinity",
        "-inf" => "-Infinity",
        // JSON, which this reads, wants digits after the point
        finite => {
            &finite.strip_suffix('.').map_or(finite.to_owned(), |whole| format!("{whole}.0")).replace(".e", ".0e")
        }
    };
    if !parse::parse_special(known, dtype, &mut item) {
        parse::parse_number(known, dtype, &mut item).unwrap();
    }
    u16::from_le_bytes(item)
}

#[test]
fn every_item() {
    let mut failures = Vec::new();
    let mut checked = 0;
    for line in include_str!("values.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = case["dtype"].as_str().unwrap();
        let dtype = DType::parse(name).unwrap();
        let rows = case["rows"].as_array().unwrap();
        let bits = if let Kind::Narrow(narrow) = dtype.kind() { narrow.bits() } else { 16 };
        let items: Vec<u16> = (0..1_u32 << bits).map(|item| item as u16).collect();
        let mut texts = Vec::new();
        for (row, expected) in items.chunks(256).zip(rows) {
            texts.push((printed(&dtype, row, &[row.len()]), row.to_vec(), expected));
        }
        for (n, expected) in case["columns"].as_array().unwrap().iter().enumerate() {
            let column: Vec<u16> = items.iter().copied().skip(n).step_by(256).collect();
            texts.push((printed(&dtype, &column, &[column.len()]), column, expected));
        }
        let single: String = items.iter().map(|&item| printed(&dtype, &[item], &[]) + "\n").collect();
        texts.push((single.clone(), items.clone(), &case["single"]));
        for (text, items, expected) in &texts {
            if check_sum(text.as_bytes()) != expected.as_str().unwrap() {
                failures.push(format!("{name}: not what NumPy prints:\n{}", &text[..text.len().min(400)]));
            }
            let words = text.trim_matches(['[', ']']).split_ascii_whitespace();
            for (word, &item) in words.zip(items) {
                let back = read(&dtype, word);
                if back != item && !value(&dtype, item).is_nan() {
                    failures.push(format!("{name} {item:#x}: {word} reads back as {back:#x}"));
                }
                checked += 1;
            }
        }
        let bytes = items.iter().flat_map(|item| item.to_le_bytes()[..dtype.itemsize()].to_vec()).collect();
        let tensor = Tensor::new(dtype.clone(), vec![items.len()], bytes).unwrap();
        let mut written = Vec::new();
        json::write(&mut written, &tensor).unwrap();
        let back = json::open(&written, Subject::Data, Threads::default()).unwrap().read(&dtype).unwrap();
        let data = str::from_utf8(&written).unwrap().split_once("\"data\": [").unwrap().1.trim_end_matches("]}\n");
        for ((&item, text), back) in items.iter().zip(data.split(", ")).zip(back.bytes().chunks(dtype.itemsize())) {
            let (number, shown) = (value(&dtype, item), text.trim_matches('"').parse::<f32>().unwrap());
            let digits =
                |text: &str| text.split('e').next().unwrap().trim_matches(['-', '0', '.']).replace('.', "").len();
            let fewest = !number.is_finite()
                || digits(&format!("{number:e}")) == digits(text.trim_end_matches(".0").trim_end_matches('0'));
            let same = shown.to_bits() == number.to_bits() || shown.is_nan() && number.is_nan();
            if !same || !fewest || (back != &item.to_le_bytes()[..dtype.itemsize()] && !number.is_nan()) {
                failures.push(format!("{name} {item:#x}: {number} is {text} in JSON, back {back:?}"));
            }
            checked += 1;
        }
    }
    assert!(checked > 500_000, "{checked}");
    assert!(failures.is_empty(), "{} differ\n{}", failures.len(), failures[..failures.len().min(30)].join("\n"));
}

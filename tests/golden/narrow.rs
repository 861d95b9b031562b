//! The floats of 8 bits or fewer against ml_dtypes: see `tests/oracle/narrow_golden.py`.

use serde_json::Value;
use tensorop::error::Subject;
use tensorop::internal::formats::json;
use tensorop::item::dtype::Kind;
use tensorop::parallel::Threads;
use tensorop::{DType, Tensor};

fn float(text: &Value) -> f64 {
    text.as_str().unwrap().parse().unwrap()
}

/// Equal, with NaN being itself and -0 not 0.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn values_digits_and_rounding() {
    let mut failures = Vec::new();
    let mut checked = 0;
    for line in include_str!("narrow.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = case["dtype"].as_str().unwrap();
        let dtype = DType::parse(name).unwrap();
        let &Kind::Narrow(narrow) = dtype.kind() else { panic!("{name}") };
        let values = case["values"].as_array().unwrap();
        assert_eq!(values.len(), 1 << narrow.bits());
        for byte in 0..=u8::MAX {
            let expected = float(&values[usize::from(byte) % values.len()]);
            let value = narrow.value(byte);
            if !same(value, expected) {
                failures.push(format!("{name} {byte:#x}: {value}, expected {expected}"));
            }
            let item = narrow.encode(value);
            if !same(narrow.value(item), value) {
                failures.push(format!("{name} {value}: back to {item:#x} from {byte:#x}"));
            }
            checked += 2;
        }
        // As JSON: the digits, and back.
        let items: Vec<u8> = (0..=u8::MAX).take(values.len()).collect();
        let tensor = Tensor::new(dtype.clone(), vec![items.len()], items).unwrap();
        let mut text = Vec::new();
        json::write(&mut text, &tensor).unwrap();
        let written = str::from_utf8(&text).unwrap().split_once("\"data\": [").unwrap().1.trim_end_matches("]}\n");
        let digits = case["digits"].as_array().unwrap_or(values); // the shortest of the float32
        for (byte, (digits, item)) in digits.iter().zip(written.split(", ")).enumerate() {
            let found: f64 = item.trim_matches('"').parse().unwrap();
            if !same(found, float(digits)) || !same((found as f32).into(), float(&values[byte])) {
                failures.push(format!("{name} {byte:#x}: written as {item}, expected {digits}"));
            }
            checked += 1;
        }
        let back = json::open(&text, Subject::Data, Threads::default()).unwrap().read(&dtype).unwrap();
        for (&a, &b) in tensor.bytes().iter().zip(back.bytes()) {
            if a != b && !narrow.value(a).is_nan() {
                failures.push(format!("{name} {a:#x}: read back as {b:#x}"));
            }
        }
        for pair in case["encodes"].as_array().unwrap_or(&Vec::new()) {
            let bits = u32::from_str_radix(pair[0].as_str().unwrap(), 16).unwrap();
            let value = f64::from(f32::from_bits(bits));
            let (found, expected) = (narrow.encode(value), pair[1].as_u64().unwrap());
            if u64::from(found) != expected {
                failures.push(format!("{name} {value:e}: {found:#x}, expected {expected:#x}"));
            }
            checked += 1;
        }
    }
    assert!(checked > 9000, "{checked}");
    assert!(failures.is_empty(), "{} differ\n{}", failures.len(), failures[..failures.len().min(30)].join("\n"));
}

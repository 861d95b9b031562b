//! Text against what NumPy printed: see `tests/oracle/text_golden.py`.

use serde_json::Value;
use tensorop::internal::formats::text::{self, TextOptions};
use tensorop::internal::operators::fill::Limits;
use tensorop::internal::operators::selection::Selection;
use tensorop::internal::plans::job::Job;
use tensorop::internal::storage::source::Source;
use tensorop::internal::writing::items_at;
use tensorop::{DType, Tensor};

fn unhex(text: &str) -> Vec<u8> {
    text.as_bytes().chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

#[test]
fn what_numpy_prints() {
    let lines = include_str!("text.jsonl");
    let (mut failures, mut elided) = (Vec::new(), 0);
    for (number, line) in lines.lines().enumerate() {
        let case: Value = serde_json::from_str(line).unwrap();
        let number_of = |name: &str| case["options"][name].as_u64().map(|n| n as usize);
        let defaults = TextOptions::default();
        let options = TextOptions {
            threshold: number_of("threshold"),
            edgeitems: number_of("edgeitems").unwrap_or(defaults.edgeitems),
            linewidth: number_of("linewidth").unwrap_or(defaults.linewidth),
            precision: number_of("precision"),
        };
        let dtype = DType::parse(case["descr"].as_str().unwrap()).unwrap();
        let shape = case["shape"].as_array().unwrap().iter().map(|dim| dim.as_u64().unwrap() as usize).collect();
        let tensor = Tensor::new(dtype, shape, unhex(case["bytes"].as_str().unwrap())).unwrap();
        let mut printed = Vec::new();
        text::write_shown(&mut printed, &tensor, tensor.shape(), &options).unwrap();
        // the same, when only the items that are printed are read
        let (shape, source) = (tensor.shape().to_vec(), Source::memory(tensor, "data".to_owned()));
        let mut job = Job::new(Box::new(Selection::whole(source)), Limits::default());
        let places = text::elided_ranges(&shape, &options);
        let items = items_at(&mut job, places.as_deref(), "text").unwrap();
        let mut from_few = Vec::new();
        text::write_shown(&mut from_few, &items, &shape, &options).unwrap();
        if from_few != printed {
            failures.push(format!("line {}, {options:?}: of {:?}\n{from_few:?}", number + 1, items.shape()));
        }
        elided += usize::from(places.is_some());
        let expected = format!("{}\n", case["text"].as_str().unwrap());
        if printed != expected.as_bytes() {
            let printed = String::from_utf8_lossy(&printed);
            failures.push(format!("line {}, {options:?}:\n{printed}expected\n{expected}", number + 1));
        }
    }
    assert!(lines.lines().count() > 300);
    assert!(elided > 40, "{elided}");
    assert!(failures.is_empty(), "{} differ\n{}", failures.len(), failures.join("\n"));
}

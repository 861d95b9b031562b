//! What a model says of itself, as texts.

use std::mem;
use std::ops::Range;

use sha2::{Digest, Sha256};

use super::members::{MAX_TEXT, ModelWalk};
use super::model::field;
use super::types::{DataType, STRING};
use super::wire::{Fields, PlacedField, last_of};
use crate::container::member_list::ModelFacts;
use tensorop_kernels::error::Result;
use tensorop_kernels::item::dtype::DType;

/// Keys that an entry of metadata_props does not take.
const KEYS: [&str; 8] = ["ir_version", "opsets", "inputs", "outputs", "nodes", "model_version", "producer", "domain"];

impl ModelWalk<'_> {
    pub(crate) fn facts(&mut self) -> Result<ModelFacts> {
        let mut facts = ModelFacts::default();
        for (number, place) in mem::take(&mut self.values) {
            let value = self.bytes(&place);
            let (name, is_input) = (text_of(&value, field::value::NAME), number == field::graph::INPUT);
            // older models list initializers among their inputs
            if !is_input || !self.initializers.contains(&name) {
                let of_type = last_of(&value, field::value::TYPE).map_or(&[][..], |(_, of)| of);
                let (text, key) =
                    (format!("{name} {}", type_text(of_type)), if is_input { "inputs" } else { "outputs" });
                facts.add_exact(key, text.trim_end(), &[name.as_bytes(), b"\0", of_type].concat());
            }
        }
        facts.count("nodes", mem::take(&mut self.operators));
        let (mut rest, mut producer, mut opsets) = (0..self.window.end, [String::new(), String::new()], Vec::new());
        while let Some(PlacedField { number, varint, value, .. }) = self.window.next(&mut rest)? {
            if number == field::model::METADATA_PROPS {
                let Ok([key, value]) = self.find(&value, [1, 2]) else { continue };
                let (key, (text, exact)) = (self.property(&key)?.0, self.property(&value)?);
                let is_taken = KEYS.contains(&&*key);
                facts.keep(&if is_taken { format!("metadata_props.{key}") } else { key }, &text, &exact);
                continue;
            }
            let bytes = self.bytes(&value);
            let text = String::from_utf8_lossy(&bytes);
            match number {
                field::model::IR_VERSION => facts.add("ir_version", &varint.to_string()),
                field::model::OPSET_IMPORT => opsets.push(opset(&bytes)),
                field::model::MODEL_VERSION if varint != 0 => {
                    facts.keep("model_version", &varint.to_string(), &varint.to_le_bytes())
                }
                field::model::PRODUCER_NAME => producer[0] = text.into_owned(),
                field::model::PRODUCER_VERSION => producer[1] = text.into_owned(),
                field::model::DOMAIN if !text.is_empty() => facts.keep("domain", &text, &bytes),
                _ => {}
            }
        }
        // the file may have them in any order
        opsets.sort();
        opsets.iter().for_each(|opset| facts.add("opsets", opset));
        let text = producer.join(" ");
        if text != " " {
            facts.keep("producer", text.trim(), producer.join("\0").as_bytes());
        }
        Ok(facts)
    }

    /// Returns a key or a value, and its bytes; of a long one its length and a hash.
    fn property(&mut self, place: &Range<u64>) -> Result<(String, Vec<u8>)> {
        if let Ok(exact) = self.window.bytes(place, MAX_TEXT) {
            return Ok((String::from_utf8_lossy(&exact).into_owned(), exact));
        }
        let mut hash = Sha256::new();
        for start in place.clone().step_by(MAX_TEXT as usize) {
            hash.update(self.window.bytes(&(start..place.end.min(start + MAX_TEXT)), MAX_TEXT)?);
        }
        Ok((format!("[{} bytes]", place.end - place.start), hash.finalize().to_vec()))
    }

    /// A long value is not shown.
    fn bytes(&mut self, value: &Range<u64>) -> Vec<u8> {
        self.window.bytes(value, MAX_TEXT).unwrap_or_default()
    }
}

fn text_of(message: &[u8], number: u32) -> String {
    last_of(message, number).map_or_else(String::new, |(_, text)| String::from_utf8_lossy(text).into_owned())
}

fn number_of(message: &[u8], number: u32) -> u64 {
    last_of(message, number).map_or(0, |(found, _)| found.varint)
}

fn opset(import: &[u8]) -> String {
    let domain = text_of(import, field::opset::DOMAIN);
    let domain = if domain.is_empty() { "ai.onnx" } else { &domain };
    format!("{domain} {}", number_of(import, field::opset::VERSION))
}

/// What a TypeProto that is no tensor is.
const OTHER_TYPES: [(u32, &str); 4] = [
    (field::of_type::SEQUENCE, "sequence"),
    (field::of_type::MAP, "map"),
    (field::of_type::SPARSE_TENSOR, "sparse tensor"),
    (field::of_type::OPTIONAL, "optional"),
];

/// A TypeProto, such as `float32[batch,3]`.
fn type_text(of_type: &[u8]) -> String {
    let Some((_, tensor)) = last_of(of_type, field::of_type::TENSOR) else {
        let other = OTHER_TYPES.iter().find(|(number, _)| last_of(of_type, *number).is_some());
        return other.map_or("", |(_, name)| name).to_owned();
    };
    let number = number_of(tensor, field::of_type::ITEM) as i32;
    let dtype = match DataType::numbered(number) {
        Some(known) => DType::from(known.kind.clone()).name(),
        None if number == STRING => "string".to_owned(),
        None => format!("data type {number}"),
    };
    let Some((_, shape)) = last_of(tensor, field::of_type::SHAPE) else { return dtype };
    let dim = |dim: &[u8]| match last_of(dim, field::DIM) {
        Some((size, _)) => (size.varint as i64).to_string(),
        None => Some(text_of(dim, field::DIM_NAME)).filter(|name| !name.is_empty()).unwrap_or("?".to_owned()),
    };
    let dims = Fields(shape).filter(|(found, _)| found.number == field::DIM).map(|(_, value)| dim(value));
    format!("{dtype}[{}]", dims.collect::<Vec<_>>().join(","))
}

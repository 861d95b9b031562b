//! What a model says of itself, as texts.

use std::collections::HashSet;
use std::ops::Range;

use super::members::{FoundModel, MAX_TEXT};
use super::message::EntryBytes;
use super::model_fields::field;
use super::types::{DataType, STRING};
use super::window::FileWindow;
use super::wire::{Fields, WireField};
use crate::error::Result;
use crate::item::dtype::DType;
use crate::storage::read_at::ReadAt;
use crate::storage::source::Metadata;

/// The bytes of all texts.
const MAX_FACTS: usize = 1 << 22;

impl FoundModel {
    pub(super) fn facts(&self, file: &dyn ReadAt) -> Result<Metadata> {
        let mut facts = FactTexts { window: FileWindow::new(file, file.size()?), texts: Metadata::new(), bytes: 0 };
        let (mut producer, mut opsets, mut entries) = ([String::new(), String::new()], Vec::new(), Vec::new());
        for placed in &self.fields {
            match placed.number {
                field::model::IR_VERSION => facts.add("ir_version", placed.varint.to_string()),
                field::model::MODEL_VERSION if placed.varint != 0 => {
                    facts.add("model_version", placed.varint.to_string());
                }
                field::model::PRODUCER_NAME => producer[0] = facts.text(&placed.value),
                field::model::PRODUCER_VERSION => producer[1] = facts.text(&placed.value),
                field::model::DOMAIN => {
                    let domain = facts.text(&placed.value);
                    facts.add("domain", domain);
                }
                field::model::OPSET_IMPORT => opsets.push(opset(&facts.bytes(&placed.value))),
                field::model::METADATA_PROPS => entries.push(facts.bytes(&placed.value)),
                _ => {}
            }
        }
        facts.add("opsets", opsets.join(", "));
        facts.add("producer", producer.join(" ").trim().to_owned());
        let inputs = facts.values(&self.inputs, &self.initializers);
        facts.add("inputs", inputs);
        let outputs = facts.values(&self.outputs, &HashSet::new());
        facts.add("outputs", outputs);
        let mut operators: Vec<_> = self.operators.iter().collect();
        operators.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        let nodes: Vec<_> = operators.into_iter().map(|(operator, count)| format!("{count} {operator}")).collect();
        facts.add("nodes", nodes.join(", "));
        for entry in entries {
            let Ok(EntryBytes { key, value }) = EntryBytes::read(&entry) else { continue };
            let is_taken = facts.texts.contains_key(key);
            let key = if is_taken { format!("metadata_props.{key}") } else { key.to_owned() };
            facts.add(&key, value.to_owned());
        }
        Ok(facts.texts)
    }
}

struct FactTexts<'a> {
    window: FileWindow<'a>,
    texts: Metadata,
    bytes: usize,
}

impl FactTexts<'_> {
    fn add(&mut self, key: &str, text: String) {
        self.bytes += key.len() + text.len();
        if self.bytes <= MAX_FACTS && !text.is_empty() {
            self.texts.insert(key.to_owned(), text);
        }
    }

    /// A long value is not shown.
    fn bytes(&mut self, value: &Range<u64>) -> Vec<u8> {
        self.window.bytes(value, MAX_TEXT).unwrap_or_default()
    }

    fn text(&mut self, value: &Range<u64>) -> String {
        String::from_utf8_lossy(&self.bytes(value)).into_owned()
    }

    /// Older models list initializers among their inputs.
    fn values(&mut self, values: &[Range<u64>], initializers: &HashSet<String>) -> String {
        let mut texts = Vec::new();
        let mut bytes = 0;
        for value in values {
            let value = self.bytes(value);
            let name = text_of(&value, field::value::NAME);
            if bytes < MAX_FACTS && !initializers.contains(&name) {
                let kind = bytes_of(&value, field::value::TYPE).map_or_else(String::new, type_text);
                bytes += name.len() + kind.len();
                texts.push(format!("{name} {kind}").trim_end().to_owned());
            }
        }
        texts.join(", ")
    }
}

fn fields(message: &[u8], number: u32) -> impl Iterator<Item = (WireField, &[u8])> {
    Fields(message).filter(move |(found, _)| found.number == number)
}

fn bytes_of(message: &[u8], number: u32) -> Option<&[u8]> {
    fields(message, number).last().map(|(_, value)| value)
}

fn text_of(message: &[u8], number: u32) -> String {
    String::from_utf8_lossy(bytes_of(message, number).unwrap_or_default()).into_owned()
}

fn number_of(message: &[u8], number: u32) -> u64 {
    fields(message, number).last().map_or(0, |(found, _)| found.varint)
}

fn opset(import: &[u8]) -> String {
    let domain = text_of(import, field::opset::DOMAIN);
    let domain = if domain.is_empty() { "ai.onnx".to_owned() } else { domain };
    format!("{domain} {}", number_of(import, field::opset::VERSION))
}

/// A TypeProto, such as `float32[batch,3]`.
fn type_text(of_type: &[u8]) -> String {
    let others = [
        (field::of_type::SEQUENCE, "sequence"),
        (field::of_type::MAP, "map"),
        (field::of_type::SPARSE_TENSOR, "sparse tensor"),
        (field::of_type::OPTIONAL, "optional"),
    ];
    let Some(tensor) = bytes_of(of_type, field::of_type::TENSOR) else {
        let other = others.iter().find(|(number, _)| bytes_of(of_type, *number).is_some());
        return other.map_or_else(String::new, |(_, name)| (*name).to_owned());
    };
    let number = number_of(tensor, field::of_type::ITEM) as i32;
    let dtype = match DataType::numbered(number) {
        Some(known) => DType::from(known.kind.clone()).name(),
        None if number == STRING => "string".to_owned(),
        None => format!("data type {number}"),
    };
    let Some(shape) = bytes_of(tensor, field::of_type::SHAPE) else { return dtype };
    let dims: Vec<_> = fields(shape, field::DIM)
        .map(|(_, dim)| match bytes_of(dim, field::DIM_NAME) {
            Some(name) => String::from_utf8_lossy(name).into_owned(),
            None if bytes_of(dim, field::DIM).is_some() => (number_of(dim, field::DIM) as i64).to_string(),
            None => "?".to_owned(),
        })
        .collect();
    format!("{dtype}[{}]", dims.join(","))
}

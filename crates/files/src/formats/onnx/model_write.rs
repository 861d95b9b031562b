//! Writes ONNX models of one operator.

use std::collections::BTreeMap;

use prost::encoding::{self, WireType, encode_key, encode_varint};

use super::model::{AttributeKind, OF_TENSORS, field};
use super::types::data_type;
use tensorop_kernels::error::{Result, malformed};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::ops::call::AttributeValue;

/// Returns a SequenceProto.
pub fn write_sequence(tensors: &[Vec<u8>]) -> Vec<u8> {
    let mut out = Vec::new();
    put_number(field::sequence::KIND, OF_TENSORS, &mut out);
    tensors.iter().for_each(|tensor| put_bytes(field::sequence::TENSORS, tensor, &mut out));
    out
}

/// The type of an input or output.
#[derive(Clone, Debug)]
pub struct ValueType<'a> {
    pub dtype: &'a DType,
    /// `None` leaves the dims open.
    pub shape: Option<&'a [usize]>,
    pub is_sequence: bool,
}

/// A model of one node.
#[derive(Clone, Debug)]
pub struct NodeModel<'a> {
    pub operator: &'a str,
    pub opset: u64,
    pub attributes: &'a BTreeMap<String, AttributeValue>,
    /// `None` for an omitted input.
    pub inputs: &'a [Option<ValueType<'a>>],
    pub outputs: &'a [ValueType<'a>],
}

fn ir_version(opset: u64) -> u64 {
    match opset {
        0..=8 => 3,
        9 => 4,
        10 => 5,
        11 => 6,
        12..=14 => 7,
        15..=18 => 8,
        19 | 20 => 9,
        21 | 22 => 10,
        23 => 11,
        24 => 12,
        _ => 13,
    }
}

impl NodeModel<'_> {
    /// Returns the model. Present inputs are `input_0`, `input_1` and so on.
    ///
    /// # Errors
    /// ONNX lacks a dtype or an attribute.
    pub fn write(&self) -> Result<Vec<u8>> {
        let (mut node, mut graph) = (Vec::new(), Vec::new());
        let mut values = Vec::new();
        for input in self.inputs {
            let name = match input {
                None => String::new(),
                Some(value) => {
                    let name = format!("input_{}", values.len());
                    values.push(value.write(&name)?);
                    name
                }
            };
            put_bytes(field::node::INPUT, name.as_bytes(), &mut node);
        }
        let output_name = |n: usize| format!("output_{n}");
        (0..self.outputs.len()).for_each(|n| put_bytes(field::node::OUTPUT, output_name(n).as_bytes(), &mut node));
        put_bytes(field::node::OPERATOR, self.operator.as_bytes(), &mut node);
        for (name, value) in self.attributes {
            let mut out = Vec::new();
            put_bytes(field::attribute::NAME, name.as_bytes(), &mut out);
            let kind = match value {
                AttributeValue::Int(number) => {
                    put_number(field::attribute::INT, *number as u64, &mut out);
                    AttributeKind::Int
                }
                AttributeValue::Float(number) => {
                    encoding::float::encode(field::attribute::FLOAT, number, &mut out);
                    AttributeKind::Float
                }
                AttributeValue::Text(text) => {
                    put_bytes(field::attribute::TEXT, text.as_bytes(), &mut out);
                    AttributeKind::Text
                }
                AttributeValue::Ints(numbers) => {
                    numbers.iter().for_each(|number| put_number(field::attribute::INTS, *number as u64, &mut out));
                    AttributeKind::Ints
                }
                AttributeValue::Other => return Err(malformed!("the attribute {name} cannot be written")),
            };
            put_number(field::attribute::TYPE, kind as u64, &mut out);
            put_bytes(field::node::ATTRIBUTE, &out, &mut node);
        }
        put_bytes(field::graph::NODE, &node, &mut graph);
        put_bytes(field::graph::NAME, self.operator.as_bytes(), &mut graph);
        values.iter().for_each(|value| put_bytes(field::graph::INPUT, value, &mut graph));
        for (n, output) in self.outputs.iter().enumerate() {
            put_bytes(field::graph::OUTPUT, &output.write(&output_name(n))?, &mut graph);
        }
        let (mut model, mut opset) = (Vec::new(), Vec::new());
        put_number(field::opset::VERSION, self.opset, &mut opset);
        put_number(field::model::IR_VERSION, ir_version(self.opset), &mut model);
        put_bytes(field::model::PRODUCER_NAME, b"tensorop", &mut model);
        put_bytes(field::model::GRAPH, &graph, &mut model);
        put_bytes(field::model::OPSET_IMPORT, &opset, &mut model);
        Ok(model)
    }
}

impl ValueType<'_> {
    fn write(&self, name: &str) -> Result<Vec<u8>> {
        let number = data_type(self.dtype);
        let number = number.ok_or_else(|| malformed!("ONNX cannot hold items of dtype {}", self.dtype.name()))?;
        let mut tensor = Vec::new();
        put_number(field::of_type::ITEM, number as u64, &mut tensor);
        if let Some(dims) = self.shape {
            let mut shape = Vec::new();
            for &dim in dims {
                let mut out = Vec::new();
                put_number(field::DIM, dim as u64, &mut out);
                put_bytes(field::DIM, &out, &mut shape);
            }
            put_bytes(field::of_type::SHAPE, &shape, &mut tensor);
        }
        let mut of_type = Vec::new();
        put_bytes(field::of_type::TENSOR, &tensor, &mut of_type);
        if self.is_sequence {
            let (mut items, mut sequence) = (Vec::new(), Vec::new());
            put_bytes(field::of_type::ITEM, &of_type, &mut items);
            put_bytes(field::of_type::SEQUENCE, &items, &mut sequence);
            of_type = sequence;
        }
        let mut out = Vec::new();
        put_bytes(field::value::NAME, name.as_bytes(), &mut out);
        put_bytes(field::value::TYPE, &of_type, &mut out);
        Ok(out)
    }
}

/// proto2 distinguishes 0 from a missing field.
fn put_number(number: u32, value: u64, out: &mut Vec<u8>) {
    encoding::uint64::encode(number, &value, out);
}

fn put_bytes(number: u32, value: &[u8], out: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

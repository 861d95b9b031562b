//! Reads ONNX models of one operator.
//!
//! The bytes are walked without a tree, so that a model takes no more memory than its file.

use std::collections::{BTreeMap, HashMap};

use prost::encoding::WireType;

use super::wire::{Fields, Varints, WireField};
use tensorop_kernels::error::{Result, ensure, malformed};
use tensorop_kernels::ops::call::AttributeValue;

const MAX_NAMES: usize = 1 << 16;

/// An input of a node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeInput<'a> {
    Absent,
    /// A test stores it in a file.
    Graph {
        number: usize,
        /// Used without a file.
        default: Option<&'a [u8]>,
    },
    /// An initialiser or a Constant.
    Proto(&'a [u8]),
    /// A Constant.
    Ints {
        items: Vec<i64>,
        /// False for a scalar.
        is_list: bool,
    },
    /// An unsupported Constant.
    Other(&'a str),
}

/// An output of the graph.
#[derive(Clone, Debug, PartialEq)]
pub enum GraphOutput<'a> {
    Node(usize),
    /// An input, initialiser or Constant.
    Given(NodeInput<'a>),
}

/// A model of a test.
#[derive(Clone, Debug, PartialEq)]
pub struct Model<'a> {
    pub opset: u64,
    /// With a foreign domain: `ai.onnx.ml::Scaler`.
    pub operator: String,
    pub attributes: BTreeMap<String, AttributeValue>,
    /// Empty for several nodes.
    pub inputs: Vec<NodeInput<'a>>,
    pub gives_tensors: bool,
    /// Empty for several nodes.
    pub outputs: Vec<GraphOutput<'a>>,
    pub node_outputs: usize,
    /// Without Constants.
    pub nodes: usize,
}

impl<'a> Model<'a> {
    /// Reads a model.
    ///
    /// # Errors
    /// The model is malformed, or an input or output has no source.
    pub fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut graph = None;
        let mut opsets = Vec::new();
        for field in fields(bytes, "a model")? {
            match field {
                (field::model::GRAPH, Value::Bytes(value)) => graph = Some(value),
                (field::model::OPSET_IMPORT, Value::Bytes(value)) => opsets.push(value),
                _ => {}
            }
        }
        let graph = graph.ok_or_else(|| malformed!("not an ONNX model: it has no graph"))?;
        let (mut nodes, mut node, mut only_constant) = (0, None, None);
        for field in fields(graph, "the graph")? {
            let (field::graph::NODE, Value::Bytes(value)) = field else { continue };
            if is_constant(value)? {
                only_constant.get_or_insert(value);
            } else {
                nodes += 1;
                node.get_or_insert(value);
            }
        }
        let node = node.or(only_constant).ok_or_else(|| malformed!("the graph has no node"))?;
        let (mut names, mut made, mut attributes) = (Vec::new(), Vec::new(), BTreeMap::new());
        for field in fields(node, "a node")? {
            match field {
                (field::node::INPUT, Value::Bytes(name)) => names.push(text(name)?),
                (field::node::OUTPUT, Value::Bytes(name)) => made.push(text(name)?),
                (field::node::ATTRIBUTE, Value::Bytes(value)) => {
                    let (name, value) = attribute(value)?;
                    attributes.insert(name, value);
                }
                _ => {}
            }
        }
        let operator = text_of(node, field::node::OPERATOR, "a node")?;
        let domain = text_of(node, field::node::DOMAIN, "a node")?;
        let is_own = |domain: &str| domain.is_empty() || domain == "ai.onnx";
        let mut opset = None;
        for import in opsets {
            let of = text_of(import, field::opset::DOMAIN, "an opset")?;
            if of == domain || is_own(of) && is_own(domain) {
                opset = varint_of(import, field::opset::VERSION, "an opset")?.or(Some(0));
            }
        }
        let opset = opset.ok_or_else(|| malformed!("the opset of the operator {operator} is not imported"))?;
        let operator = if is_own(domain) { operator.to_owned() } else { format!("{domain}::{operator}") };
        let (mut gives_tensors, mut output_names) = (true, Vec::new());
        for field in fields(graph, "the graph")? {
            if let (field::graph::OUTPUT, Value::Bytes(value)) = field {
                gives_tensors &= is_tensor(value)?;
                output_names.push(text_of(value, field::value::NAME, "an output")?);
            }
        }
        ensure!(!output_names.is_empty(), "the graph has no outputs");
        let (inputs, outputs) = match nodes {
            0 | 1 => (values(graph, &names, "the input", "of the node")?, outputs(graph, &output_names, &made)?),
            _ => (Vec::new(), Vec::new()),
        };
        Ok(Self { opset, operator, attributes, inputs, gives_tensors, outputs, node_outputs: made.len(), nodes })
    }
}

fn outputs<'a>(graph: &'a [u8], names: &[&str], made: &[&str]) -> Result<Vec<GraphOutput<'a>>> {
    let numbers: HashMap<&str, usize> = made.iter().enumerate().map(|(n, &name)| (name, n)).collect();
    ensure!(!names.contains(&""), "an output of the graph has no name");
    let given: Vec<_> = names.iter().copied().filter(|name| !numbers.contains_key(name)).collect();
    let mut given = values(graph, &given, "the output", "of the graph")?.into_iter();
    let output = |name: &&str| match numbers.get(name) {
        Some(&number) => GraphOutput::Node(number),
        None => GraphOutput::Given(given.next().expect("a value for each name")),
    };
    Ok(names.iter().map(output).collect())
}

/// One walk, because a hostile model may have many names and values.
fn values<'a>(graph: &'a [u8], names: &[&str], what: &str, of: &str) -> Result<Vec<NodeInput<'a>>> {
    ensure!(names.len() <= MAX_NAMES, "{} names {of}, expected at most {MAX_NAMES}", names.len());
    let mut found: HashMap<&str, Option<NodeInput<'a>>> = names.iter().map(|&name| (name, None)).collect();
    found.insert("", Some(NodeInput::Absent));
    let mut number = 0;
    for field in fields(graph, "the graph")? {
        match field {
            (field::graph::INPUT, Value::Bytes(value)) => {
                if let Some(input) = found.get_mut(text_of(value, field::value::NAME, "an input")?) {
                    // older models list initialisers among their inputs
                    let default = if let Some(NodeInput::Proto(proto)) = input { Some(*proto) } else { None };
                    *input = Some(NodeInput::Graph { number, default });
                }
                number += 1;
            }
            (field::graph::INITIALIZER, Value::Bytes(proto)) => {
                match found.get_mut(text_of(proto, field::TENSOR_NAME, "an initialiser")?) {
                    None => {}
                    Some(Some(NodeInput::Graph { default, .. })) => *default = Some(proto),
                    Some(input) => *input = Some(NodeInput::Proto(proto)),
                }
            }
            (field::graph::NODE, Value::Bytes(node)) if is_constant(node)? => {
                if let Some(input) = found.get_mut(text_of(node, field::node::OUTPUT, "a node")?) {
                    *input = Some(constant(node)?);
                }
            }
            _ => {}
        }
    }
    let made = |&name: &&str| {
        let input = found[name].clone();
        input.ok_or_else(|| malformed!("{what} {name:?} {of} is not defined in the model"))
    };
    names.iter().map(made).collect()
}

fn is_tensor(value: &[u8]) -> Result<bool> {
    let mut found = true;
    for field in fields(value, "an output")? {
        if let (field::value::TYPE, Value::Bytes(of_type)) = field {
            found = fields(of_type, "a type")?.any(|(number, _)| number == field::of_type::TENSOR);
        }
    }
    Ok(found)
}

fn is_constant(node: &[u8]) -> Result<bool> {
    Ok(text_of(node, field::node::OPERATOR, "a node")? == "Constant")
}

fn constant(node: &[u8]) -> Result<NodeInput<'_>> {
    for field in fields(node, "a node")? {
        let (field::node::ATTRIBUTE, Value::Bytes(bytes)) = field else { continue };
        let name = text_of(bytes, field::attribute::NAME, "an attribute")?;
        if name == "value" {
            for field in fields(bytes, "an attribute")? {
                if let (field::attribute::TENSOR, Value::Bytes(proto)) = field {
                    return Ok(NodeInput::Proto(proto));
                }
            }
        }
        match attribute(bytes)?.1 {
            AttributeValue::Int(item) => return Ok(NodeInput::Ints { items: vec![item], is_list: false }),
            AttributeValue::Ints(items) => return Ok(NodeInput::Ints { items, is_list: true }),
            AttributeValue::Float(_) | AttributeValue::Text(_) | AttributeValue::Other => {
                return Ok(NodeInput::Other(name));
            }
        }
    }
    Err(malformed!("a Constant node without a value"))
}

fn attribute(bytes: &[u8]) -> Result<(String, AttributeValue)> {
    use AttributeValue::{Float, Int, Ints, Other, Text};
    let (mut name, mut value, mut ints) = ("", None, Vec::new());
    // an empty list has a type but no field
    let mut is_ints = false;
    for field in fields(bytes, "an attribute")? {
        match field {
            (field::attribute::NAME, Value::Bytes(bytes)) => name = text(bytes)?,
            (field::attribute::INT, Value::Varint(number)) => value = Some(Int(number as i64)),
            (field::attribute::TEXT, Value::Bytes(bytes)) => value = Some(Text(text(bytes)?.to_owned())),
            (field::attribute::INTS, Value::Varint(number)) => {
                is_ints = true;
                ints.push(number as i64);
            }
            (field::attribute::INTS, Value::Bytes(packed)) => {
                is_ints = true;
                for number in Varints(packed) {
                    ints.push(number? as i64);
                }
            }
            (field::attribute::TYPE, Value::Varint(number)) => is_ints |= number == AttributeKind::Ints as u64,
            (field::attribute::FLOAT, Value::Fixed(bytes)) => {
                value = bytes.try_into().ok().map(|bytes| Float(f32::from_le_bytes(bytes)));
            }
            (field::attribute::TENSOR | field::attribute::FLOATS, _) => value = Some(Other),
            _ => {}
        }
    }
    let value = if is_ints { Ints(ints) } else { value.unwrap_or(Other) };
    Ok((name.to_owned(), value))
}

enum Value<'a> {
    Varint(u64),
    Bytes(&'a [u8]),
    Fixed(&'a [u8]),
}

fn fields<'a>(bytes: &'a [u8], what: &str) -> Result<impl Iterator<Item = (u32, Value<'a>)>> {
    let mut all = Fields(bytes);
    let has_group = all.by_ref().any(|(field, _)| matches!(field.wire, WireType::StartGroup | WireType::EndGroup));
    ensure!(!has_group && all.0.is_empty(), "not an ONNX model: {what} is damaged or cut off");
    let value = |(field, bytes): (WireField, &'a [u8])| match field.wire {
        WireType::Varint => (field.number, Value::Varint(field.varint)),
        WireType::LengthDelimited => (field.number, Value::Bytes(bytes)),
        _ => (field.number, Value::Fixed(bytes)),
    };
    Ok(Fields(bytes).map(value))
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| malformed!("not an ONNX model: a name is not UTF-8: {error}"))
}

fn text_of<'a>(message: &'a [u8], number: u32, what: &str) -> Result<&'a str> {
    let mut found = "";
    for field in fields(message, what)? {
        if let (n, Value::Bytes(bytes)) = field
            && n == number
        {
            found = text(bytes)?;
        }
    }
    Ok(found)
}

fn varint_of(message: &[u8], number: u32, what: &str) -> Result<Option<u64>> {
    let of_field = |field| if let (n, Value::Varint(value)) = field { (n == number).then_some(value) } else { None };
    Ok(fields(message, what)?.filter_map(of_field).last())
}

/// Splits a SequenceProto.
///
/// # Errors
/// The bytes are not a sequence of tensors.
pub fn sequence_tensors(bytes: &[u8]) -> Result<Vec<&[u8]>> {
    let kind = varint_of(bytes, field::sequence::KIND, "a sequence")?;
    ensure!(kind == Some(OF_TENSORS), "not an ONNX sequence of tensors");
    let tensor = |field| if let (field::sequence::TENSORS, Value::Bytes(proto)) = field { Some(proto) } else { None };
    Ok(fields(bytes, "a sequence")?.filter_map(tensor).collect())
}

pub(crate) mod field {
    pub(crate) mod model {
        pub(crate) const IR_VERSION: u32 = 1;
        pub(crate) const PRODUCER_NAME: u32 = 2;
        pub(crate) const PRODUCER_VERSION: u32 = 3;
        pub(crate) const DOMAIN: u32 = 4;
        pub(crate) const MODEL_VERSION: u32 = 5;
        pub(crate) const GRAPH: u32 = 7;
        pub(crate) const OPSET_IMPORT: u32 = 8;
        pub(crate) const METADATA_PROPS: u32 = 14;
        pub(crate) const TRAINING_INFO: u32 = 20;
        pub(crate) const FUNCTION: u32 = 25;
    }
    pub(crate) mod training {
        pub(crate) const INITIALIZATION: u32 = 1;
        pub(crate) const ALGORITHM: u32 = 2;
    }
    pub(crate) mod function {
        pub(crate) const NAME: u32 = 1;
        pub(crate) const NODE: u32 = 7;
    }
    pub(crate) mod sparse {
        pub(crate) const VALUES: u32 = 1;
        pub(crate) const INDICES: u32 = 2;
    }
    pub(crate) mod opset {
        pub(crate) const DOMAIN: u32 = 1;
        pub(crate) const VERSION: u32 = 2;
    }
    pub(crate) mod graph {
        pub(crate) const NODE: u32 = 1;
        pub(crate) const NAME: u32 = 2;
        pub(crate) const INITIALIZER: u32 = 5;
        pub(crate) const INPUT: u32 = 11;
        pub(crate) const OUTPUT: u32 = 12;
        pub(crate) const SPARSE_INITIALIZER: u32 = 15;
    }
    pub(crate) mod node {
        pub(crate) const INPUT: u32 = 1;
        pub(crate) const OUTPUT: u32 = 2;
        pub(crate) const NAME: u32 = 3;
        pub(crate) const OPERATOR: u32 = 4;
        pub(crate) const ATTRIBUTE: u32 = 5;
        pub(crate) const DOMAIN: u32 = 7;
    }
    pub(crate) mod attribute {
        pub(crate) const NAME: u32 = 1;
        pub(crate) const FLOAT: u32 = 2;
        pub(crate) const INT: u32 = 3;
        pub(crate) const TEXT: u32 = 4;
        pub(crate) const TENSOR: u32 = 5;
        pub(crate) const GRAPH: u32 = 6;
        pub(crate) const FLOATS: u32 = 7;
        pub(crate) const INTS: u32 = 8;
        pub(crate) const TEXTS: u32 = 9;
        pub(crate) const TENSORS: u32 = 10;
        pub(crate) const GRAPHS: u32 = 11;
        pub(crate) const TYPE: u32 = 20;
        pub(crate) const REFERENCE: u32 = 21;
        pub(crate) const SPARSE_TENSOR: u32 = 22;
        pub(crate) const SPARSE_TENSORS: u32 = 23;
    }
    pub(crate) const TENSOR_NAME: u32 = 8;
    pub(crate) mod value {
        pub(crate) const NAME: u32 = 1;
        pub(crate) const TYPE: u32 = 2;
    }
    pub(crate) mod of_type {
        pub(crate) const TENSOR: u32 = 1;
        pub(crate) const SEQUENCE: u32 = 4;
        pub(crate) const MAP: u32 = 5;
        pub(crate) const SPARSE_TENSOR: u32 = 8;
        pub(crate) const OPTIONAL: u32 = 9;
        pub(crate) const ITEM: u32 = 1;
        pub(crate) const SHAPE: u32 = 2;
    }
    /// Of TensorShapeProto and its dims.
    pub(crate) const DIM: u32 = 1;
    pub(crate) const DIM_NAME: u32 = 2;
    pub(crate) mod sequence {
        pub(crate) const KIND: u32 = 2;
        pub(crate) const TENSORS: u32 = 3;
    }
}

pub(crate) const OF_TENSORS: u64 = 1;

#[derive(Clone, Copy)]
pub(crate) enum AttributeKind {
    Float = 1,
    Int = 2,
    Text = 3,
    Ints = 7,
}

//! The tensors of a ModelProto, found by one walk that skips their items. Field numbers:
//! <https://github.com/onnx/onnx/blob/main/onnx/onnx.proto>.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use super::model_fields::field;
use super::window::{FileWindow, PlacedField};
use super::wire::field::EXTERNAL_DATA;
use crate::error::{Context, Result, ensure};
use crate::format::member_list::MemberList;
use crate::storage::read_at::ReadAt;
use prost::encoding::WireType;

/// Graphs inside nodes of graphs.
pub(super) const MAX_DEPTH: usize = 64;

/// The bytes of a name, or of a text that is not shown.
pub(super) const MAX_TEXT: u64 = 1 << 16;

#[derive(Clone, Debug)]
pub(super) enum MemberPlace {
    /// A TensorProto.
    Tensor(Range<u64>),
    /// An AttributeProto of a Constant: a number or a text, or a list of them.
    Value(Range<u64>),
    /// A SparseTensorProto.
    Sparse(Range<u64>),
}

impl MemberPlace {
    pub(super) fn message(&self) -> &Range<u64> {
        let (Self::Tensor(place) | Self::Value(place) | Self::Sparse(place)) = self;
        place
    }

    /// Whether the message has all items. A SparseTensorProto has two TensorProtos, of which each may be elsewhere.
    pub(super) fn is_whole(&self, file: &dyn ReadAt) -> Result<bool> {
        let mut pending = vec![(self.message().clone(), matches!(self, Self::Sparse(_)))];
        let mut window = FileWindow::new(file, file.size()?);
        while let Some((mut rest, is_sparse)) = pending.pop() {
            while let Some(PlacedField { number, value, .. }) = window.next(&mut rest)? {
                match number {
                    field::sparse::VALUES | field::sparse::INDICES if is_sparse => pending.push((value, false)),
                    EXTERNAL_DATA if !is_sparse => return Ok(false),
                    _ => {}
                }
            }
        }
        Ok(true)
    }
}

/// What a walk finds.
#[derive(Debug, Default)]
pub(super) struct FoundModel {
    /// With whether a node holds the tensor.
    pub(super) members: MemberList<(MemberPlace, bool)>,
    /// Nodes by operator, with those of subgraphs and functions.
    pub(super) operators: BTreeMap<String, usize>,
    /// Other fields of the model, in the order of the file.
    pub(super) fields: Vec<PlacedField>,
    pub(super) inputs: Vec<Range<u64>>,
    pub(super) outputs: Vec<Range<u64>>,
    /// Names of initializers of the main graph.
    pub(super) initializers: HashSet<String>,
}

/// Values of the model that are neither graphs nor tensors.
const MAX_FIELDS: usize = 1 << 16;

impl FoundModel {
    pub(super) fn read(file: &dyn ReadAt) -> Result<Self> {
        let size = file.size()?;
        let mut walk = ModelWalk { window: FileWindow::new(file, size), found: Self::default() };
        let mut rest = 0..size;
        let mut has_graph = false;
        while let Some(placed) = walk.window.next(&mut rest).context("not an ONNX model")? {
            match placed.number {
                field::model::GRAPH if placed.wire == WireType::LengthDelimited => {
                    has_graph = true;
                    walk.graph(placed.value, "", 0).context("the graph")?;
                }
                field::model::FUNCTION if placed.wire == WireType::LengthDelimited => {
                    walk.function(placed.value).context("a function")?;
                }
                field::model::TRAINING_INFO => walk.training(placed.value).context("training_info")?,
                _ => {
                    ensure!(walk.found.fields.len() < MAX_FIELDS, "more than {MAX_FIELDS} fields beside the graph");
                    walk.found.fields.push(placed);
                }
            }
        }
        ensure!(has_graph || !walk.found.members.is_empty(), "not an ONNX model: it has no graph");
        Ok(walk.found)
    }
}

struct ModelWalk<'a> {
    window: FileWindow<'a>,
    found: FoundModel,
}

/// The fields of a node that matter here.
#[derive(Default)]
struct WalkedNode {
    name: String,
    operator: String,
    domain: String,
    output: Option<String>,
    attributes: Vec<Range<u64>>,
}

impl ModelWalk<'_> {
    fn add(&mut self, name: String, place: MemberPlace, is_constant: bool) -> Result<()> {
        self.found.members.add(name, (place, is_constant))
    }

    fn text(&mut self, value: &Range<u64>) -> Result<String> {
        self.window.text(value, MAX_TEXT)
    }

    /// The text of a field of a message, which is empty if the field is missing.
    fn text_of(&mut self, message: Range<u64>, number: u32) -> Result<String> {
        let mut rest = message;
        while let Some(placed) = self.window.next(&mut rest)? {
            if placed.number == number && placed.wire == WireType::LengthDelimited {
                return self.text(&placed.value);
            }
        }
        Ok(String::new())
    }

    /// `prefix` begins the names of the graph's tensors.
    fn graph(&mut self, graph: Range<u64>, prefix: &str, depth: usize) -> Result<()> {
        ensure!(depth <= MAX_DEPTH, "more than {MAX_DEPTH} graphs inside one another");
        let (mut rest, mut nodes, mut tensors) = (graph, 0, 0);
        let is_main = prefix.is_empty();
        while let Some(PlacedField { number, wire, value, .. }) = self.window.next(&mut rest)? {
            if wire != WireType::LengthDelimited {
                continue;
            }
            match number {
                field::graph::NODE => {
                    self.node(value, prefix, nodes, depth)?;
                    nodes += 1;
                }
                field::graph::INITIALIZER => {
                    let name = self.text_of(value.clone(), field::TENSOR_NAME)?;
                    if is_main {
                        self.found.initializers.insert(name.clone());
                    }
                    let own = if name.is_empty() { format!("initializer_{tensors}") } else { name };
                    self.add(format!("{prefix}{own}"), MemberPlace::Tensor(value), false)?;
                    tensors += 1;
                }
                field::graph::SPARSE_INITIALIZER => {
                    let name = self.sparse_name(value.clone())?;
                    let own = if name.is_empty() { "sparse_initializer".to_owned() } else { name };
                    self.add(format!("{prefix}{own}"), MemberPlace::Sparse(value), false)?;
                }
                field::graph::INPUT if is_main => self.found.inputs.push(value),
                field::graph::OUTPUT if is_main => self.found.outputs.push(value),
                _ => {}
            }
        }
        Ok(())
    }

    /// The values of a SparseTensorProto have its name.
    fn sparse_name(&mut self, sparse: Range<u64>) -> Result<String> {
        let mut rest = sparse;
        while let Some(placed) = self.window.next(&mut rest)? {
            if placed.number == field::sparse::VALUES && placed.wire == WireType::LengthDelimited {
                return self.text_of(placed.value, field::TENSOR_NAME);
            }
        }
        Ok(String::new())
    }

    fn function(&mut self, function: Range<u64>) -> Result<()> {
        let prefix = format!("{}/", self.text_of(function.clone(), field::function::NAME)?);
        let (mut rest, mut nodes) = (function, 0);
        while let Some(placed) = self.window.next(&mut rest)? {
            if placed.number == field::function::NODE && placed.wire == WireType::LengthDelimited {
                self.node(placed.value, &prefix, nodes, 0)?;
                nodes += 1;
            }
        }
        Ok(())
    }

    fn training(&mut self, training: Range<u64>) -> Result<()> {
        let mut rest = training;
        while let Some(PlacedField { number, wire, value, .. }) = self.window.next(&mut rest)? {
            let prefix = match number {
                field::training::INITIALIZATION => "training_info/initialization/",
                field::training::ALGORITHM => "training_info/algorithm/",
                _ => continue,
            };
            if wire == WireType::LengthDelimited {
                self.graph(value, prefix, 0)?;
            }
        }
        Ok(())
    }

    fn node(&mut self, node: Range<u64>, prefix: &str, number: usize, depth: usize) -> Result<()> {
        let (mut rest, mut walked) = (node, WalkedNode::default());
        while let Some(PlacedField { number, wire, value, .. }) = self.window.next(&mut rest)? {
            if wire != WireType::LengthDelimited {
                continue;
            }
            match number {
                field::node::OUTPUT if walked.output.is_none() => walked.output = Some(self.text(&value)?),
                field::node::NAME => walked.name = self.text(&value)?,
                field::node::OPERATOR => walked.operator = self.text(&value)?,
                field::node::DOMAIN => walked.domain = self.text(&value)?,
                field::node::ATTRIBUTE => walked.attributes.push(value),
                _ => {}
            }
        }
        let WalkedNode { name, operator, domain, output, attributes } = walked;
        let is_own = domain.is_empty() || domain == "ai.onnx";
        let own = if name.is_empty() { format!("{operator}_{number}") } else { name };
        // the output of a Constant names its tensor
        let constant = (is_own && operator == "Constant")
            .then(|| format!("{prefix}{}", output.filter(|output| !output.is_empty()).as_ref().unwrap_or(&own)));
        let operator = if is_own { operator } else { format!("{domain}::{operator}") };
        *self.found.operators.entry(operator).or_default() += 1;
        let node = format!("{prefix}{own}");
        attributes.into_iter().try_for_each(|place| self.attribute(place, &node, constant.as_deref(), depth))
    }

    fn attribute(&mut self, place: Range<u64>, node: &str, constant: Option<&str>, depth: usize) -> Result<()> {
        let (mut rest, mut name, mut is_reference, mut values) = (place.clone(), String::new(), false, Vec::new());
        while let Some(placed) = self.window.next(&mut rest)? {
            match placed.number {
                _ if placed.wire != WireType::LengthDelimited => {}
                field::attribute::NAME => name = self.text(&placed.value)?,
                // of the function around the node
                field::attribute::REFERENCE => is_reference = true,
                field::attribute::TENSOR
                | field::attribute::GRAPH
                | field::attribute::TENSORS
                | field::attribute::GRAPHS
                | field::attribute::SPARSE_TENSOR
                | field::attribute::SPARSE_TENSORS => values.push((placed.number, placed.value)),
                _ => {}
            }
        }
        if let Some(constant) = constant
            && name.starts_with("value_")
            && !is_reference
        {
            self.add(constant.to_owned(), MemberPlace::Value(place), true)?;
        }
        for (n, (number, value)) in values.into_iter().enumerate() {
            let own = || constant.map_or_else(|| format!("{node}/{name}"), str::to_owned);
            match number {
                field::attribute::TENSOR => self.add(own(), MemberPlace::Tensor(value), true)?,
                field::attribute::SPARSE_TENSOR => self.add(own(), MemberPlace::Sparse(value), true)?,
                field::attribute::TENSORS => {
                    self.add(format!("{node}/{name}/{n}"), MemberPlace::Tensor(value), true)?;
                }
                field::attribute::SPARSE_TENSORS => {
                    self.add(format!("{node}/{name}/{n}"), MemberPlace::Sparse(value), true)?;
                }
                field::attribute::GRAPH => self.graph(value, &format!("{node}/{name}/"), depth + 1)?,
                _ => self.graph(value, &format!("{node}/{name}/{n}/"), depth + 1)?,
            }
        }
        Ok(())
    }
}

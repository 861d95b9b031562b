//! The tensors of a ModelProto, found by one walk that skips their items. Field numbers:
//! <https://github.com/onnx/onnx/blob/main/onnx/onnx.proto>.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use super::model::field::{self, attribute, function, graph, model, node, training};
use super::quantized::{QuantizedNode, is_quantized};
use super::wire::field::EXTERNAL_DATA;
use super::wire::{FileWindow, last_of};
use crate::container::member_list::MemberList;
use crate::storage::read_at::ReadAt;
use prost::encoding::WireType;
use tensorop_kernels::error::{Context, Result, ensure};

/// Graphs inside nodes of graphs.
pub(crate) const MAX_DEPTH: usize = 64;

/// The bytes of a name, or of a text that is not shown.
pub(crate) const MAX_TEXT: u64 = 1 << 16;

#[derive(Clone, Copy, Debug)]
pub(crate) enum MemberKind {
    /// A TensorProto.
    Tensor,
    /// An AttributeProto of a Constant: a number or a text, or a list of them.
    Value,
    /// A SparseTensorProto.
    Sparse,
}

#[derive(Debug)]
pub(crate) struct ModelMember {
    pub(crate) kind: MemberKind,
    pub(crate) message: Range<u64>,
    /// Whether the message has all items.
    pub(crate) is_whole: bool,
    /// Whether a node holds it.
    pub(crate) is_constant: bool,
}

/// A walk of a model, and what it has found.
#[derive(Debug)]
pub(crate) struct ModelWalk<'a> {
    pub(crate) window: FileWindow<'a>,
    pub(crate) members: MemberList<ModelMember>,
    /// Nodes by operator, with those of subgraphs and functions.
    pub(crate) operators: BTreeMap<String, usize>,
    /// The ValueInfoProtos of the main graph, by the field that has them.
    pub(crate) values: Vec<(u32, Range<u64>)>,
    /// Names of initializers of the main graph.
    pub(crate) initializers: HashSet<String>,
    pub(crate) quantized: Vec<QuantizedNode>,
}

/// A message that holds nodes, or others that do.
#[derive(Clone, Copy)]
enum Holder {
    Model,
    Training,
    Function,
    Graph,
}

impl<'a> ModelWalk<'a> {
    pub(crate) fn of(file: &'a dyn ReadAt) -> Result<Self> {
        let size = file.size()?;
        let (members, operators) = (MemberList::default(), BTreeMap::new());
        let (values, initializers) = (Vec::new(), HashSet::new());
        let (window, quantized) = (FileWindow::new(file, size), Vec::new());
        let mut walk = Self { window, members, operators, values, initializers, quantized };
        let [graph] = walk.find(&(0..size), [model::GRAPH])?;
        walk.message(Holder::Model, 0..size, "", 0)?;
        ensure!(graph != (0..0) || !walk.members.is_empty(), "not an ONNX model: it has no graph");
        Ok(walk)
    }

    /// Goes through the fields of a message that are texts or messages.
    pub(crate) fn fields(
        &mut self,
        mut message: Range<u64>,
        mut each: impl FnMut(&mut Self, u32, Range<u64>) -> Result<()>,
    ) -> Result<()> {
        while let Some(field) = self.window.next(&mut message).context("not an ONNX model")? {
            if field.wire == WireType::LengthDelimited {
                each(self, field.number, field.value)?;
            }
        }
        Ok(())
    }

    /// Finds the last of each field, or 0..0.
    pub(crate) fn find<const N: usize>(&mut self, message: &Range<u64>, numbers: [u32; N]) -> Result<[Range<u64>; N]> {
        let mut found = [const { 0..0 }; N];
        self.fields(message.clone(), |_, number, value| {
            let n = numbers.iter().position(|known| *known == number);
            n.into_iter().for_each(|n| found[n] = value.clone());
            Ok(())
        })?;
        Ok(found)
    }

    fn texts<const N: usize>(&mut self, message: &Range<u64>, numbers: [u32; N]) -> Result<[String; N]> {
        let mut texts = [const { String::new() }; N];
        for (text, place) in texts.iter_mut().zip(self.find(message, numbers)?) {
            *text = self.window.text(&place, MAX_TEXT)?;
        }
        Ok(texts)
    }

    /// Adds a tensor. The name that an initializer has of its own counts before `name`.
    fn add(
        &mut self,
        kind: MemberKind,
        message: Range<u64>,
        [prefix, name]: [&str; 2],
        is_constant: bool,
    ) -> Result<()> {
        // the values of a SparseTensorProto have its name
        let tensors = match kind {
            MemberKind::Tensor => [0..0, message.clone()],
            MemberKind::Value => [0..0, 0..0],
            MemberKind::Sparse => self.find(&message, [field::sparse::INDICES, field::sparse::VALUES])?,
        };
        let (mut own, mut is_whole) = (0..0, true);
        for tensor in &tensors {
            let [name, elsewhere] = self.find(tensor, [field::TENSOR_NAME, EXTERNAL_DATA])?;
            is_whole &= elsewhere.is_empty();
            own = if is_constant { 0..0 } else { name };
        }
        let own = self.window.text(&own, MAX_TEXT)?;
        let name = if own.is_empty() { name } else { &own };
        self.members.add(format!("{prefix}{name}"), ModelMember { kind, message, is_whole, is_constant })?;
        if prefix.is_empty() {
            self.initializers.insert(own);
        }
        Ok(())
    }

    /// `prefix` begins the names of the message's tensors.
    fn message(&mut self, holder: Holder, message: Range<u64>, prefix: &str, depth: usize) -> Result<()> {
        use Holder::{Function, Graph, Model, Training};
        ensure!(depth <= MAX_DEPTH, "more than {MAX_DEPTH} graphs inside one another");
        let (mut nodes, mut tensors) = (0, 0);
        self.fields(message, |walk, number, value| match (holder, number) {
            (Model, model::GRAPH) => walk.message(Graph, value, "", 0),
            (Model, model::FUNCTION) => {
                let [name] = walk.texts(&value, [function::NAME])?;
                walk.message(Function, value, &format!("{name}/"), 0)
            }
            (Model, model::TRAINING_INFO) => walk.message(Training, value, "training_info/", 0),
            (Training, training::INITIALIZATION) => walk.message(Graph, value, &format!("{prefix}initialization/"), 0),
            (Training, training::ALGORITHM) => walk.message(Graph, value, &format!("{prefix}algorithm/"), 0),
            (Graph, graph::NODE) | (Function, function::NODE) => {
                nodes += 1;
                walk.node(value, prefix, nodes - 1, depth)
            }
            (Graph, graph::INITIALIZER) => {
                tensors += 1;
                walk.add(MemberKind::Tensor, value, [prefix, &format!("initializer_{}", tensors - 1)], false)
            }
            (Graph, graph::SPARSE_INITIALIZER) => {
                walk.add(MemberKind::Sparse, value, [prefix, "sparse_initializer"], false)
            }
            (Graph, graph::INPUT | graph::OUTPUT) if prefix.is_empty() => {
                walk.values.push((number, value));
                Ok(())
            }
            _ => Ok(()),
        })
    }

    fn node(&mut self, node: Range<u64>, prefix: &str, number: usize, depth: usize) -> Result<()> {
        use field::node::{ATTRIBUTE, DOMAIN, NAME, OPERATOR, OUTPUT};
        let [name, operator, domain, output] = self.texts(&node, [NAME, OPERATOR, DOMAIN, OUTPUT])?;
        let is_own = domain.is_empty() || domain == "ai.onnx";
        self.keep_quantized(&node, prefix, if is_own { "" } else { &domain }, &operator)?;
        let own = if name.is_empty() { format!("{operator}_{number}") } else { name };
        let own = format!("{prefix}{own}");
        // the output of a Constant names its tensor
        let constant = (is_own && operator == "Constant")
            .then(|| if output.is_empty() { own.clone() } else { format!("{prefix}{output}") });
        let operator = if is_own { operator } else { format!("{domain}::{operator}") };
        *self.operators.entry(operator).or_default() += 1;
        self.fields(node, |walk, number, value| match number {
            ATTRIBUTE => walk.attribute(value, &own, constant.as_deref(), depth),
            _ => Ok(()),
        })
    }

    fn attribute(&mut self, place: Range<u64>, node: &str, constant: Option<&str>, depth: usize) -> Result<()> {
        let [name, reference] = self.texts(&place, [attribute::NAME, attribute::REFERENCE])?;
        let own = constant.map_or_else(|| format!("{node}/{name}"), str::to_owned);
        // a reference is to an attribute of the function around the node
        if constant.is_some() && name.starts_with("value_") && reference.is_empty() {
            self.add(MemberKind::Value, place.clone(), ["", &own], true)?;
        }
        let mut values = 0;
        self.fields(place, |walk, number, message| {
            let (kind, is_list) = match number {
                attribute::TENSOR | attribute::TENSORS => (Some(MemberKind::Tensor), number == attribute::TENSORS),
                attribute::SPARSE_TENSOR => (Some(MemberKind::Sparse), false),
                attribute::SPARSE_TENSORS => (Some(MemberKind::Sparse), true),
                attribute::GRAPH | attribute::GRAPHS => (None, number == attribute::GRAPHS),
                _ => return Ok(()),
            };
            let name = if is_list { format!("{own}/{values}") } else { own.clone() };
            values += 1;
            match kind {
                Some(kind) => walk.add(kind, message, ["", &name], true),
                None => walk.message(Holder::Graph, message, &format!("{name}/"), depth + 1),
            }
        })
    }
}

impl ModelWalk<'_> {
    /// Keeps the inputs and numbers of a node if its operator has quantised inputs.
    fn keep_quantized(&mut self, place: &Range<u64>, prefix: &str, domain: &str, name: &str) -> Result<()> {
        if !is_quantized(domain, name) {
            return Ok(());
        }
        let (mut inputs, mut attributes) = (Vec::new(), HashMap::new());
        self.fields(place.clone(), |walk, number, value| {
            if number == node::INPUT {
                inputs.push(walk.window.text(&value, MAX_TEXT)?);
            } else if number == node::ATTRIBUTE
                && let Ok(bytes) = walk.window.bytes(&value, MAX_TEXT)
                && let (Some((_, name)), Some((number, _))) =
                    (last_of(&bytes, attribute::NAME), last_of(&bytes, attribute::INT))
            {
                attributes.insert(String::from_utf8_lossy(name).into_owned(), number.varint as i64);
            }
            Ok(())
        })?;
        self.quantized.extend(QuantizedNode::all((domain, name), prefix, &inputs, &attributes));
        Ok(())
    }
}

//! Nodes: operators as files of ONNX and OpenVINO have them, by name, version and attributes.
//!
//! A row of `rows` makes the calls of an operator from the attributes and inputs of a node: one (`movement`), or several
//! (`compositions`, `blocks`). [`specified`] has the attributes and types of each version. If lists are inputs, the node is
//! planned again for each that is bound.

mod arguments;
mod blocks;
mod compositions;
mod movement;
mod rows;
pub mod specified;

use std::collections::BTreeMap;

use self::compositions::own_shape;
use self::rows::ByHand;
pub use self::rows::version_of;
use super::{AttributeValue, Call, Resolved, ResolvedCall};
use crate::error::{Error, ErrorKind, Result, Subject};
use crate::item::meta::Meta;
use crate::item::tensor::Tensor;
use crate::ops::operators::split::SplitInto;

/// The attributes of a node, by their names.
pub type Attributes = BTreeMap<String, AttributeValue>;

/// Who specifies an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Specification {
    /// [OpenVINO](https://docs.openvino.ai).
    OpenVino,
    /// [ONNX](https://onnx.ai/onnx/operators).
    Onnx,
}

impl Specification {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenVino => "OpenVINO",
            Self::Onnx => "ONNX",
        }
    }
}

/// An operator as a file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    specification: Specification,
    operator: String,
    version: u64,
    attributes: Attributes,
    /// The number of the output that is made, and of all outputs.
    output: Option<(usize, usize)>,
    omitted: Vec<usize>,
    /// The lists of a call that was made by hand, by the names of attributes and inputs.
    lists: Option<BTreeMap<&'static str, Vec<i64>>>,
}

impl Node {
    /// # Errors
    /// The operator or the version is unknown, or the version lacks an attribute.
    pub fn new(specification: Specification, operator: &str, version: u64, attributes: &Attributes) -> Result<Self> {
        specified::check(specification, operator, version, attributes.keys())?;
        if version_of(specification, operator, version).is_none() {
            let message = format!("{} {operator}-{version}", specification.name());
            return Err(Error::from_kind(ErrorKind::Unsupported, message));
        }
        specified::check_attributes(specification, operator, version, attributes.keys())?;
        let (operator, attributes) = (operator.to_owned(), attributes.clone());
        Ok(Self { specification, operator, version, attributes, output: None, omitted: Vec::new(), lists: None })
    }

    /// Makes output `n` of `of`.
    #[must_use]
    pub fn output(self, n: usize, of: usize) -> Self {
        Self { output: Some((n, of)), ..self }
    }

    pub(in crate::ops) fn without_input(mut self, n: usize) -> Self {
        self.omitted.push(n);
        self
    }

    /// Returns for each input in the specification's order its position among `count` given inputs.
    pub(in crate::ops) fn places(&self, count: usize) -> Vec<Option<usize>> {
        let (mut places, mut given) = (Vec::with_capacity(count), 0..count);
        while !given.is_empty() {
            let is_given = !self.omitted.contains(&places.len());
            places.push(if is_given { given.next() } else { None });
        }
        places
    }
}

/// An input of a node.
#[derive(Clone, Copy, Debug)]
pub struct NodeInput<'a> {
    /// Dtype and shape, in C order.
    pub meta: &'a Meta,
    /// The items, if they are known.
    pub items: Option<&'a [u8]>,
}

/// The reason for a missing plan.
#[derive(Debug)]
pub enum Stop {
    /// The items of this input have to be known.
    Unbound(usize),
    /// The node is refused.
    Refused(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

type PlanResult<T> = Result<T, Stop>;

/// An operand beside the data.
#[derive(Debug)]
pub enum PlanOperand {
    /// The input in this place of the specification's order.
    Input(usize),
    /// A tensor that was made of lists.
    Made(Tensor),
}

impl PlanOperand {
    fn shape<'a>(&'a self, inputs: &[Option<NodeInput<'a>>]) -> &'a [usize] {
        match self {
            Self::Input(n) => &inputs[*n].expect("an input that was taken").meta.shape,
            Self::Made(tensor) => tensor.shape(),
        }
    }
}

/// Calls, one after the other. A call takes the output of the previous one.
#[derive(Debug, Default)]
pub struct Plan {
    /// The data of the first call, as places in the specification's order.
    pub data: Vec<usize>,
    /// The index tensor of the call that takes one.
    pub indices: Option<PlanOperand>,
    /// The updates, or the item to pad with, of the call that takes them.
    pub updates: Option<PlanOperand>,
    /// The calls, with their outputs.
    pub steps: Vec<(ResolvedCall, Meta)>,
    /// Negative indices are out of range.
    counts_from_start: bool,
}

/// The plan so far with the inputs of its node.
#[derive(Debug)]
struct Planned<'n> {
    plan: Plan,
    inputs: &'n [Option<NodeInput<'n>>],
}

impl<'n> Planned<'n> {
    fn of(data: Vec<usize>, inputs: &'n [Option<NodeInput<'n>>]) -> Self {
        Self { plan: Plan { data, ..Plan::default() }, inputs }
    }

    /// The output of the last call, or the first data.
    fn meta(&self) -> &Meta {
        let data = || self.inputs[self.plan.data[0]].expect("an input that was taken").meta;
        self.plan.steps.last().map_or_else(data, |(_, meta)| meta)
    }

    fn shape(&self) -> &[usize] {
        &self.meta().shape
    }

    fn then(mut self, call: &Call) -> PlanResult<Self> {
        let Plan { data, indices, updates, steps, .. } = &self.plan;
        let metas: Vec<_> = match steps.last() {
            Some((_, meta)) => vec![meta],
            None => data.iter().filter_map(|&n| self.inputs[n]).map(|input| input.meta).collect(),
        };
        let [indices, updates] = [indices, updates].map(|of| of.as_ref().map(|of| of.shape(self.inputs)));
        let mut resolved = call.resolve(&metas, indices, updates)?;
        if let (true, Resolved::Scattered(spec, _) | Resolved::Gathered(spec)) =
            (self.plan.counts_from_start, &mut resolved.resolved)
        {
            spec.counts_from_end = false;
        }
        let before = self.meta();
        let shape = resolved.resolved.output_shape(&before.shape);
        let meta = Meta::c_order(before.dtype.clone(), shape).checked(Subject::Output)?;
        self.plan.steps.push((resolved, meta));
        Ok(self)
    }

    fn reshaped(self, dims: &[usize]) -> PlanResult<Self> {
        self.then(&own_shape(dims))
    }
}

impl Node {
    /// Plans the node for its inputs in the specification's order.
    ///
    /// # Errors
    /// A list among the inputs is not known, or the node is refused: an attribute that is left over and outputs that the
    /// operator does not have are [`ErrorKind::Unsupported`].
    pub fn plan(&self, inputs: &[Option<NodeInput<'_>>]) -> Result<Plan, Stop> {
        let (row, version) = rows::find(self.specification, &self.operator, self.version).ok_or_else(|| {
            let message = format!("{} {}-{}", self.specification.name(), self.operator, self.version);
            Error::from_kind(ErrorKind::Unsupported, message)
        })?;
        // a call by hand has its lists in itself, so its item to pad with is the second input
        let place = |n| if self.lists.is_some() && self.operator == "Pad" && n == 1 { 2 } else { n };
        let types = inputs
            .iter()
            .enumerate()
            .filter_map(|(n, input)| Some((place(n), specified::type_name(&input.as_ref()?.meta.dtype)?)));
        specified::check_attributes(self.specification, &self.operator, self.version, self.attributes.keys())?;
        specified::check_types(self.specification, &self.operator, self.version, types)?;
        let mut arguments = arguments::NodeArguments::new(self, inputs);
        let Planned { plan, .. } = row.plan(&mut arguments, version)?;
        arguments.finish(row.has_outputs)?;
        Ok(plan)
    }
}

impl Call {
    /// A node of an ONNX model: its operator, the opset that the model imports, and its attributes. [`infer`](Self::infer)
    /// takes the node's inputs in the order of the file; those that it [omits](Self::without_input) are left out. Lists
    /// that the operator takes as inputs (starts, axes, pads, repeats, a shape) are tensors of any dtype that its version
    /// has, and are [bound](crate::ops::runtime::Kernel::bind).
    ///
    /// The operators are those of [`Call`], and Identity, Scatter, ConcatFromSequence (whose inputs are the tensors of the
    /// sequence), ReverseSequence, DepthToSpace, SpaceToDepth, CenterCropPad and Compress, in every version from the
    /// first that has tensors of any type.
    ///
    /// ```
    /// use tensorop_kernels::kernel::{AttributeValue, Attributes, Call, TensorRef};
    /// use tensorop_kernels::{DType, Meta};
    /// let (mode, float, int) = (AttributeValue::Text("wrap".to_owned()), DType::FLOAT32, DType::INT64);
    /// let attributes = Attributes::from([("mode".to_owned(), mode)]);
    /// let pad = Call::from_onnx("Pad", 19, &attributes)?;
    /// let mut kernel = pad.infer(&[Meta::new(float.clone(), vec![3])?, Meta::new(int.clone(), vec![2])?])?;
    /// // the shape follows from the pads
    /// let pads = [1_i64, 0].map(i64::to_le_bytes);
    /// kernel.bind(1, &TensorRef::new(&int, &[2], pads.as_flattened())?)?;
    /// assert_eq!(kernel.shape(), [4]);
    /// // opset 18 has no such mode
    /// let old = Call::from_onnx("Pad", 18, &attributes)?;
    /// let mut kernel = old.infer(&[Meta::new(float, vec![3])?, Meta::new(int.clone(), vec![2])?])?;
    /// let refused = kernel.bind(1, &TensorRef::new(&int, &[2], pads.as_flattened())?).unwrap_err();
    /// assert_eq!(refused.to_string(), "mode: \"wrap\" is unknown");
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// ONNX has no such operator, opset or attribute, the version in this opset lacks the attribute, or it is not here
    /// ([`ErrorKind::Unsupported`]). `infer` refuses
    /// values of attributes and dtypes, and [`bind`](crate::ops::runtime::Kernel::bind) the numbers of a list.
    pub fn from_onnx(operator: &str, opset: u64, attributes: &Attributes) -> Result<Self> {
        Ok(Self::Node(Box::new(Node::new(Specification::Onnx, operator, opset, attributes)?)))
    }

    /// A node of an OpenVINO model, by the exact version of its operator, as [`from_onnx`](Self::from_onnx) makes it.
    ///
    /// The operators are those of [`Call`], and StridedSlice, Reverse, ReverseSequence, DepthToSpace, SpaceToDepth,
    /// BatchToSpace, SpaceToBatch and ShuffleChannels.
    ///
    /// ```
    /// use tensorop_kernels::kernel::{Attributes, Call, TensorRef};
    /// use tensorop_kernels::{DType, Meta};
    /// let (data, number) = (Meta::new(DType::FLOAT32, vec![5, 2])?, Meta::new(DType::INT32, vec![])?);
    /// let gather = Call::from_openvino("Gather", 8, &Attributes::new())?;
    /// let mut kernel = gather.infer(&[data, Meta::new(DType::INT32, vec![3])?, number])?;
    /// kernel.bind(2, &TensorRef::new(&DType::INT32, &[], &1_i32.to_le_bytes())?)?;
    /// assert_eq!(kernel.shape(), [5, 3]);
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// `version` is the number of the opset in a file, or that in the name of the specification (Squeeze-1 is version 0 there,
    /// too). Attributes are texts in a file: a truth value is `Int(0)` or `Int(1)` here, and a list or a mask `Ints`.
    ///
    /// # Errors
    /// OpenVINO has no such operator, version or attribute, or it is not here
    /// ([`ErrorKind::Unsupported`]).
    pub fn from_openvino(operator: &str, version: u64, attributes: &Attributes) -> Result<Self> {
        /// The opsets in files whose operators have other versions, and these.
        const IN_FILES: [(&str, u64, u64); 3] = [("ScatterNDUpdate", 4, 3), ("Squeeze", 1, 0), ("Unsqueeze", 1, 0)];
        let other = IN_FILES.iter().find(|(name, opset, _)| (*name, *opset) == (operator, version));
        let version = other.map_or(version, |(.., version)| *version);
        Ok(Self::Node(Box::new(Node::new(Specification::OpenVino, operator, version, attributes)?)))
    }

    /// Returns a call as a node of ONNX, with its lists.
    ///
    /// # Errors
    /// ONNX has no such operator in this opset.
    pub(in crate::ops) fn in_opset(&self, opset: u64) -> Result<Node> {
        let ByHand { operator, attributes, lists } = rows::by_hand(self, opset);
        if rows::version_of(Specification::Onnx, operator, opset).is_none() {
            return Err(Error::new(Subject::Opset, format!("ONNX has no {operator} in opset {opset}")));
        }
        specified::check(Specification::Onnx, operator, opset, [].into_iter())
            .map_err(|error| Error::new(Subject::Opset, error.message().to_owned()))?;
        // before opset 18 the number of outputs is that of the parts
        let output = match self {
            Self::Split { into: SplitInto::Parts(parts), part, .. } => {
                usize::try_from(*parts).ok().map(|of| (*part, of))
            }
            _ => None,
        };
        let (specification, operator, version) = (Specification::Onnx, operator.to_owned(), opset);
        Ok(Node { specification, operator, version, attributes, output, omitted: Vec::new(), lists: Some(lists) })
    }
}

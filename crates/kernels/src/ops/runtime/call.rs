//! Calls on tensors of run time, which are resolved by dtypes and shapes alone.

use super::kernel::{Kernel, KernelInput, Operands, check_dtypes, check_input, subject};
use crate::error::{Error, Result, Subject, counted};
use crate::item::meta::Meta;
use crate::ops::call::Call;
use crate::ops::call::nodes::{NodeInput, Stop};
use crate::ops::indexed::OutOfRange;
use crate::ops::operators::concat::Joining;
use crate::ops::operators::split::{self, SplitInto};
use crate::ops::reduction::{Reduction, Repeats};

/// The inputs of an operator in order. The last may be missing if it is `item`.
const DATA: &[&str] = &["data"];
const DATA_ITEM: &[&str] = &["data", "item"];
const DATA_UPDATES: &[&str] = &["data", "updates"];
const DATA_INDICES: &[&str] = &["data", "indices"];
const DATA_INDICES_UPDATES: &[&str] = &["data", "indices", "updates"];

impl Call {
    /// ScatterUpdate along an axis; the last of equal indices wins.
    pub fn scatter_update(axis: i64) -> Self {
        Self::ScatterUpdate { axis, repeats: Repeats::LastWins }
    }

    /// ScatterND by OpenVINO's rules; [`with_opset`](Self::with_opset) makes it ONNX's.
    pub fn scatter_nd(reduction: Reduction) -> Self {
        Self::ScatterNd { opset: None, reduction, repeats: reduction.into() }
    }

    /// ScatterElementsUpdate by OpenVINO's rules; [`with_opset`](Self::with_opset) makes it ONNX's.
    pub fn scatter_elements(axis: i64, reduction: Reduction) -> Self {
        let (opset, has_initial, repeats, counts_from_end) = (None, true, reduction.into(), true);
        Self::ScatterElements { axis, opset, reduction, has_initial, repeats, counts_from_end }
    }

    /// Gather along an axis; an index out of range is an error, and negative ones count from the end.
    pub fn gather(axis: i64) -> Self {
        Self::Gather { axis, batch_dims: 0, out_of_range: OutOfRange::Error, counts_from_end: true }
    }

    /// Concatenates along an axis.
    pub fn concat(axis: i64) -> Self {
        Self::Concat { axis, joining: Joining::Along }
    }

    /// Stacks along a new axis of the output.
    pub fn stack(axis: i64) -> Self {
        Self::Concat { axis, joining: Joining::Stacked }
    }

    /// Splits data of shape `shape`: a slice for each part.
    ///
    /// ```
    /// use tensorop_kernels::kernel::Call;
    /// use tensorop_kernels::{DType, Meta, SplitInto};
    /// let parts = Call::split(&[5, 2], 0, &SplitInto::Parts(2))?;
    /// let data = [Meta::new(DType::INT8, vec![5, 2])?];
    /// assert_eq!(parts.iter().map(|part| part.infer(&data).unwrap().shape()[0]).collect::<Vec<_>>(), [3, 2]);
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// The axis is out of range, the number of parts is not 1 to 65,536, or the lengths do not add up to the dim.
    pub fn split(shape: &[usize], axis: i64, into: &SplitInto) -> Result<Vec<Self>> {
        Ok(split::check(shape, axis, into)?.into_iter().map(Self::Slice).collect())
    }

    /// Applies the rules of the operator's version in an ONNX opset, as [`from_onnx`](Self::from_onnx) does: dtypes,
    /// attributes, modes and reductions. Rules of OpenVINO alone are refused. In ONNX, Slice clamps
    /// a start before the axis to the first place if it runs backwards. A node keeps its own version.
    ///
    /// ```
    /// use tensorop_kernels::kernel::Call;
    /// use tensorop_kernels::{DType, Meta, Reduction};
    /// let meta = |dtype: DType, shape: &[usize]| Meta::new(dtype, shape.to_vec()).unwrap();
    /// let inputs = |indices| [meta(DType::FLOAT32, &[4]), meta(indices, &[2, 1]), meta(DType::FLOAT32, &[2])];
    /// let add = Call::scatter_nd(Reduction::Add);
    /// assert!(add.clone().with_opset(16).infer(&inputs(DType::INT64)).is_ok());
    /// let refused = add.clone().with_opset(13).infer(&inputs(DType::INT64)).unwrap_err();
    /// assert_eq!(refused.to_string(), "reduction: add is allowed from opset 16 on, got opset 13");
    /// let refused = add.with_opset(16).infer(&inputs(DType::INT32)).unwrap_err();
    /// assert_eq!(refused.to_string(), "indices: dtype int32, expected int64");
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    #[must_use]
    pub fn with_opset(self, opset: u64) -> Self {
        let number = Some(opset);
        let call = match self {
            node @ Self::Node(_) => return node,
            Self::InOpset { call, .. } => return call.with_opset(opset),
            Self::Slice(args) => Self::Slice(args.clamped_as_onnx()),
            Self::ScatterNd { reduction, repeats, .. } => Self::ScatterNd { opset: number, reduction, repeats },
            Self::ScatterElements { axis, reduction, has_initial, repeats, counts_from_end, .. } => {
                Self::ScatterElements { axis, opset: number, reduction, has_initial, repeats, counts_from_end }
            }
            other => other,
        };
        Self::InOpset { opset, call: Box::new(call) }
    }

    /// Chooses output `n` of an operator that has `of` outputs: of Split and VariadicSplit. Without a choice it is the first.
    #[must_use]
    pub fn output(self, n: usize, of: usize) -> Self {
        match self {
            Self::Node(node) => Self::Node(Box::new(node.output(n, of))),
            Self::InOpset { opset, call } => Self::InOpset { opset, call: Box::new(call.output(n, of)) },
            Self::Split { axis, into, .. } => Self::Split { axis, into, part: n },
            other => other,
        }
    }

    /// Omits an optional input of a node, by its place in the node's inputs. [`infer`](Self::infer) takes the others.
    #[must_use]
    pub fn without_input(self, n: usize) -> Self {
        match self {
            Self::Node(node) => Self::Node(Box::new(node.without_input(n))),
            other => other,
        }
    }

    fn input_names(&self) -> &'static [&'static str] {
        match self {
            Self::SliceScatter(_) => DATA_UPDATES,
            Self::ScatterUpdate { .. } | Self::ScatterNd { .. } | Self::ScatterElements { .. } => DATA_INDICES_UPDATES,
            Self::Gather { .. } | Self::GatherNd { .. } | Self::GatherElements { .. } => DATA_INDICES,
            Self::Pad { .. } => DATA_ITEM,
            Self::Concat { .. } => &[],
            Self::InOpset { call, .. } => call.input_names(),
            Self::Node(_) => &[],
            Self::Slice(_)
            | Self::Split { .. }
            | Self::ReplaceWhere { .. }
            | Self::Transpose { .. }
            | Self::Reshape(_)
            | Self::Tile { .. }
            | Self::Roll { .. }
            | Self::Broadcast { .. } => DATA,
        }
    }

    fn repeats(&self) -> Repeats {
        match self {
            Self::ScatterUpdate { repeats, .. }
            | Self::ScatterNd { repeats, .. }
            | Self::ScatterElements { repeats, .. } => *repeats,
            Self::InOpset { call, .. } => call.repeats(),
            _ => Repeats::LastWins,
        }
    }

    /// Resolves the call by the dtypes and shapes of its inputs, which are in C order: data; data and updates (slice
    /// scatter); data, indices and updates (other scatters); data and indices (gathers); data and, if it is not the
    /// dtype's default, the item to pad with; any number of data (concat, stack). A node has the inputs of its
    /// specification. The layout of the tensors that are applied later may be any.
    ///
    /// # Errors
    /// The number of inputs, a dtype, a shape or an argument does not fit, or fields contradict one another; the output is
    /// larger than memory can be.
    pub fn infer(&self, inputs: &[Meta]) -> Result<Kernel> {
        let names = self.input_names();
        for (n, input) in inputs.iter().enumerate() {
            check_input(subject(names, n), input)?;
        }
        let (call, opset) = match self {
            Self::Node(node) => return Kernel::of_node((**node).clone(), inputs),
            Self::InOpset { opset, call } => (&**call, Some(*opset)),
            &Self::ScatterNd { opset, .. } | &Self::ScatterElements { opset, .. } => (self, opset),
            _ => (self, None),
        };
        if let (Self::ScatterNd { opset: Some(own), .. } | Self::ScatterElements { opset: Some(own), .. }, Some(of)) =
            (call, opset)
            && *own != of
        {
            return Err(Error::new(Subject::Opset, format!("{of}, and {own} of the call")));
        }
        let kernel = call.infer_plain(names, inputs)?;
        opset.map_or(Ok(()), |opset| call.check_opset(opset, inputs))?;
        Ok(kernel)
    }

    fn check_opset(&self, opset: u64, inputs: &[Meta]) -> Result<()> {
        let inputs: Vec<_> = inputs.iter().map(|meta| Some(NodeInput { meta, items: None })).collect();
        match self.in_opset(opset)?.plan(&inputs) {
            Ok(_) => Ok(()),
            Err(Stop::Refused(error)) => Err(error),
            Err(Stop::Unbound(_)) => unreachable!("a call by hand has its lists"),
        }
    }

    fn infer_plain(&self, names: &'static [&'static str], inputs: &[Meta]) -> Result<Kernel> {
        let is_item = names.last() == Some(&"item");
        let fits = match names.len() {
            0 => !inputs.is_empty(),
            most => inputs.len() == most || is_item && inputs.len() + 1 == most,
        };
        if !fits {
            let expected = match names {
                [] => "one or more".to_owned(),
                _ => format!("{}: {}", names.len(), names.join(", ")),
            };
            let message = format!("{}, expected {expected}", counted(inputs.len(), "input", "inputs"));
            return Err(Error::new(Subject::Argument("inputs"), message));
        }
        let place = |name: &str| names.iter().position(|other| *other == name).filter(|&at| at < inputs.len());
        let (data, indices, updates) = (&inputs[0], place("indices"), place("updates").or(place("item")));
        if let Some(indices) = indices.map(|n| &inputs[n]).filter(|indices| !indices.dtype.is_integer()) {
            let message = format!("dtype {}, expected an integer type", indices.dtype);
            return Err(Error::new(Subject::Indices, message));
        }
        let data_count = if names.is_empty() { inputs.len() } else { 1 };
        check_dtypes(names, inputs, (1..data_count).chain(updates))?;
        let item = updates.filter(|_| is_item).map(|n| &inputs[n]);
        if let Some(item) = item.filter(|item| item.items() != 1) {
            let message = format!("{}, expected 1", counted(item.items(), "item", "items"));
            return Err(Error::new(Subject::Fill, message));
        }
        let all: Vec<&Meta> = inputs[..data_count].iter().collect();
        let [index_shape, update_shape] = [indices, updates].map(|n| n.map(|n| &inputs[n].shape[..]));
        let (_, resolved) = self.resolve_alone(&all, index_shape, update_shape)?;
        let output = Meta::c_order(data.dtype.clone(), resolved.output_shape(&data.shape));
        check_input(Subject::Output, &output)?;
        let operands = Operands { data: (0..data_count).collect(), indices, updates };
        let inputs = inputs.iter().enumerate().map(|(n, meta)| KernelInput::new(meta.clone(), subject(names, n)));
        Ok(Kernel::new(inputs.collect(), operands, (resolved, output), self.repeats()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::replace_where;
    use super::super::{TensorMut, TensorRef};
    use super::*;
    use crate::error::ErrorKind;
    use crate::item::dtype::DType;
    use crate::item::meta::Order;
    use crate::ops::call::AttributeValue;
    use crate::ops::call::nodes::Attributes;
    use crate::ops::condition::Condition;
    use crate::ops::operators::broadcast::BroadcastRule;
    use crate::ops::operators::pad::PadMode;
    use crate::ops::operators::reshape::NewShape;

    fn meta(dtype: &DType, shape: &[usize]) -> Meta {
        Meta::c_order(dtype.clone(), shape.to_vec())
    }

    fn bytes(meta: &Meta, first: usize) -> Vec<u8> {
        (first..first + meta.bytes()).map(|n| (n * 37 + n / 251) as u8).collect()
    }

    #[test]
    fn any_number_of_threads() {
        let shape = [4, 5, 3];
        let numbers: Vec<u8> = [3_i64, 0, -1, 2, 1, 0].iter().flat_map(|number| number.to_le_bytes()).collect();
        let text: DType = DType::parse("S20").unwrap();
        let rule = BroadcastRule::Numpy;
        // the call, the shape of its indices, the shape of its updates
        type Row<'a> = (Call, Option<&'a [usize]>, Option<&'a [usize]>);
        let rows: [Row<'_>; 14] = [
            (Call::Slice("::-1, 1:, :".parse().unwrap()), None, None),
            (Call::SliceScatter("::2, 1:3, ::-1".parse().unwrap()), None, Some(&[2, 2, 3])),
            (Call::scatter_update(0), Some(&[2]), Some(&[2, 5, 3])),
            (Call::scatter_nd(Reduction::None), Some(&[3, 2]), Some(&[3, 3])),
            (Call::scatter_elements(0, Reduction::None), Some(&[1, 2, 3]), Some(&[1, 2, 3])),
            (Call::gather(1), Some(&[6]), None),
            (Call::GatherNd { batch_dims: 0 }, Some(&[3, 2]), None),
            (Call::GatherElements { axis: 0 }, Some(&[2, 1, 3]), None),
            (Call::Transpose { axes: None }, None, None),
            (Call::Reshape(NewShape::Dims(vec![-1, 2])), None, None),
            (
                Call::Pad { before: vec![1, 0, 2], after: vec![0, 2, -1], axes: None, mode: PadMode::Constant },
                None,
                Some(&[]),
            ),
            (Call::Tile { repeats: vec![2, 1, 3] }, None, None),
            (Call::Roll { shift: vec![7], axes: None }, None, None),
            (Call::Broadcast { shape: vec![3, 4, 5, 3], rule }, None, None),
        ];
        for (call, of, updates) in rows {
            for dtype in [&DType::INT8, &DType::FLOAT32.big_endian(), &text] {
                let (data, index) = (meta(dtype, &shape), of.map(|of| meta(&DType::INT64, of)));
                let updates = updates.map(|shape| meta(dtype, shape));
                // ScatterUpdate counts no index from the end
                let numbers = if matches!(call, Call::ScatterUpdate { .. }) { &numbers[..16] } else { &numbers };
                let metas: Vec<Meta> = [Some(data), index, updates].into_iter().flatten().collect();
                let contents = metas.iter().enumerate().map(|(n, meta)| match meta.dtype == DType::INT64 {
                    true => numbers[..meta.bytes()].to_vec(),
                    false => bytes(meta, 1000 * n),
                });
                let contents: Vec<_> = contents.collect();
                let tensor = |(meta, bytes)| -> TensorRef<'_> {
                    let (meta, bytes): (&Meta, &Vec<u8>) = (meta, bytes);
                    TensorRef::new(&meta.dtype, &meta.shape, bytes).unwrap()
                };
                let inputs: Vec<_> = metas.iter().zip(&contents).map(tensor).collect();
                let kernel = call.infer(&metas).unwrap();
                let apply = |threads| {
                    let mut out = vec![0xee; kernel.bytes()];
                    let to = TensorMut::new(kernel.dtype(), kernel.shape(), &mut out).unwrap();
                    kernel.apply_on(threads, &inputs, to).unwrap();
                    out
                };
                let in_place = |threads| {
                    let mut data = contents[0].clone();
                    let to = TensorMut::new(dtype, &shape, &mut data).unwrap();
                    kernel.apply_in_place_on(threads, to, &inputs[1..]).unwrap();
                    data
                };
                let expected = apply(1);
                for threads in [1, 2, 3, 7, 100] {
                    assert_eq!(apply(threads), expected, "{call:?} {dtype} on {threads} threads");
                    if kernel.changes_data() {
                        assert_eq!(in_place(threads), expected, "{call:?} {dtype} in place on {threads} threads");
                    }
                }
            }
        }
    }

    #[test]
    fn refused() {
        let (float, int) = (&DType::FLOAT32, &DType::INT64);
        let infer = |call: &Call, metas: &[Meta]| call.infer(metas).unwrap_err().to_string();
        let (gather, scatter) = (Call::gather(0), Call::scatter_nd(Reduction::None));
        let pad = Call::Pad { before: vec![1], after: vec![1], axes: None, mode: PadMode::Constant };
        let fortran = meta(float, &[2, 2]).in_order(Order::Fortran);
        let huge = meta(float, &[1 << 40]);
        let deep = [vec![1; 64], vec![2]].concat();
        let nd = |reduction, repeats| Call::ScatterNd { opset: None, reduction, repeats };
        let few = [meta(float, &[2]), meta(int, &[1, 1]), meta(float, &[1])];
        let rows = [
            (
                infer(&nd(Reduction::Add, Repeats::LastWins), &few),
                "repeats: LastWins, expected Combined (reduction add)",
            ),
            (infer(&nd(Reduction::Add, Repeats::Refused), &few), "repeats: Refused, expected Combined (reduction add)"),
            (
                infer(&Call::scatter_update(0), &[meta(float, &[2, 2]), meta(int, &deep[..64]), meta(float, &deep)]),
                "updates: rank 65, expected at most 64",
            ),
            (
                infer(&scatter, &[meta(float, &[2, 2]), meta(int, &deep), meta(float, &[2])]),
                "indices: rank 65, expected at most 64",
            ),
            (
                infer(&gather, &[meta(float, &[1 << 60, 8]), meta(int, &[1])]),
                "data: float32 [1152921504606846976, 8] is larger than memory can be",
            ),
            (infer(&gather, &[meta(float, &[2])]), "inputs: 1 input, expected 2: data, indices"),
            (infer(&Call::concat(0), &[]), "inputs: 0 inputs, expected one or more"),
            (
                infer(&gather, &[meta(float, &[2]), meta(float, &[1])]),
                "indices: dtype float32, expected an integer type",
            ),
            (
                infer(&scatter, &[meta(float, &[2]), meta(int, &[1, 1]), meta(&float.big_endian(), &[1])]),
                "updates: dtype float32 (big-endian), expected float32 as in data",
            ),
            (
                infer(&scatter, &[meta(float, &[2]), meta(int, &[1, 1]), meta(float, &[2])]),
                "updates: shape [2], expected [1] (data [2] with indices [1, 1])",
            ),
            (
                infer(&Call::stack(0), &[meta(float, &[2]), meta(int, &[2])]),
                "operand 1: dtype int64, expected float32 as in data",
            ),
            (infer(&pad, &[meta(float, &[2]), meta(float, &[2])]), "fill: 2 items, expected 1"),
            (infer(&Call::Transpose { axes: None }, &[fortran]), "data: Fortran order, expected C order"),
            (
                infer(&Call::Tile { repeats: vec![1 << 22] }, &[huge]),
                "output: float32 [4611686018427387904] is larger than memory can be",
            ),
        ];
        for (found, expected) in rows {
            assert_eq!(found, expected);
        }
        let kernel = gather.infer(&[meta(float, &[2]), meta(int, &[1])]).unwrap();
        let (data, zero, two) = ([0; 8], [0; 8], 2_i64.to_le_bytes());
        let data = TensorRef::new(float, &[2], &data).unwrap();
        let apply = |inputs: &[TensorRef<'_>], dtype, shape: &[usize]| {
            let mut out = [0xee; 8];
            let to = TensorMut::new(dtype, shape, &mut out[..shape.iter().product::<usize>() * 4]).unwrap();
            let error = kernel.apply(inputs, to, 1).unwrap_err().to_string();
            assert_eq!(out, [0xee; 8]);
            error
        };
        let of = |bytes| TensorRef::new(int, &[1], bytes).unwrap();
        let rows = [
            (apply(&[data], float, &[1]), "inputs: 1 input, expected 2"),
            (apply(&[data, data], float, &[1]), "indices: float32 [2], expected int64 [1] as resolved"),
            (apply(&[data, of(&zero)], float, &[2]), "output: float32 [2], expected float32 [1] as resolved"),
            (apply(&[data, of(&zero)], &DType::INT32, &[1]), "output: int32 [1], expected float32 [1] as resolved"),
            (
                apply(&[data, of(&two)], float, &[1]),
                "indices: 2 at [0] is out of range: expected [-2, 1] on axis 0 (data [2])",
            ),
        ];
        for (found, expected) in rows {
            assert_eq!(found, expected);
        }
        let mut same = [0; 8];
        let error = kernel.apply_in_place(TensorMut::new(float, &[2], &mut same).unwrap(), &[of(&zero)], 1);
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
    }

    #[test]
    fn opsets() {
        let (float, int, short, half) = (&DType::FLOAT32, &DType::INT64, &DType::INT32, &DType::BFLOAT16);
        let data = |dtype| vec![meta(dtype, &[2, 3])];
        let by = |dtype, indices, of: &[usize]| vec![meta(dtype, &[2, 3]), meta(indices, of)];
        let and = |mut metas: Vec<Meta>, shape: &[usize]| {
            metas.push(meta(&metas[0].dtype, shape));
            metas
        };
        let pad = |mode, axes: Option<Vec<i64>>| Call::Pad { before: vec![1; 2], after: vec![0; 2], axes, mode };
        let wide = |mode| pad(mode, None);
        let to = |rule| Call::Broadcast { shape: vec![4, 2, 3], rule };
        let nd = |batch_dims| Call::GatherNd { batch_dims };
        let zero = Call::Gather { axis: 0, batch_dims: 0, out_of_range: OutOfRange::Zero, counts_from_end: true };
        let split = |into| Call::Split { axis: 1, into, part: 0 };
        // an opset, the message there, and an opset that allows it
        type Row = (Call, Vec<Meta>, u64, &'static str, Option<u64>);
        let rows: Vec<Row> = vec![
            (Call::Slice("::2".parse().unwrap()), data(float), 9, "steps: Slice has no steps in opset 9", Some(10)),
            (Call::Slice(":1".parse().unwrap()), data(half), 12, "data: dtype bfloat16, expected", Some(13)),
            (
                Call::SliceScatter(":".parse().unwrap()),
                and(data(float), &[2, 3]),
                18,
                "opset: ONNX has no SliceScatter in opset 18",
                None,
            ),
            (
                Call::scatter_update(0),
                and(by(float, int, &[2]), &[2, 3]),
                18,
                "opset: ONNX has no ScatterUpdate in opset 18",
                None,
            ),
            (
                Call::scatter_nd(Reduction::None),
                and(by(float, short, &[1, 1]), &[1, 3]),
                18,
                "indices: dtype int32, expected int64",
                None,
            ),
            (
                Call::scatter_nd(Reduction::Max),
                and(by(float, int, &[1, 1]), &[1, 3]),
                16,
                "reduction: max is allowed from opset 18 on",
                Some(18),
            ),
            (
                Call::scatter_nd(Reduction::Sub),
                and(by(float, int, &[1, 1]), &[1, 3]),
                18,
                "reduction: sub is OpenVINO's",
                None,
            ),
            (
                Call::scatter_elements(0, Reduction::None),
                and(by(half, int, &[1, 1]), &[1, 1]),
                11,
                "data: dtype bfloat16 is allowed from opset 13 on",
                Some(13),
            ),
            (
                Call::scatter_elements(0, Reduction::None),
                and(by(float, &DType::UINT8, &[1, 1]), &[1, 1]),
                18,
                "indices: dtype uint8, expected int32, int64",
                None,
            ),
            (zero, by(float, int, &[1]), 13, "attributes: ONNX Gather-13 has no out_of_range", None),
            (Call::gather(0), by(half, int, &[1]), 11, "data: dtype bfloat16, expected", Some(13)),
            (nd(1), by(float, int, &[2, 1]), 11, "attributes: ONNX GatherND-11 has no batch_dims", Some(12)),
            (nd(0), by(float, short, &[2, 1]), 13, "indices: dtype int32, expected int64", None),
            (Call::GatherElements { axis: 0 }, by(half, int, &[1, 1]), 11, "data: dtype bfloat16, expected", Some(13)),
            (Call::stack(0), data(float), 10, "opset: ONNX has no ConcatFromSequence in opset 10", Some(11)),
            (Call::concat(0), data(half), 12, "inputs: dtype bfloat16, expected", Some(13)),
            (
                Call::Transpose { axes: Some(vec![-1, 0]) },
                data(float),
                13,
                "inputs: perm has -1, expected 0 or more",
                None,
            ),
            (
                Call::Reshape(NewShape::DimsWithZero(vec![0, 3])),
                vec![meta(float, &[0, 3])],
                13,
                "attributes: ONNX Reshape-13 has no allowzero",
                Some(14),
            ),
            (Call::Reshape(NewShape::Flatten(-1)), data(float), 9, "inputs: axis has -1, expected 0 or more", Some(11)),
            (
                Call::Reshape(NewShape::Unsqueeze(vec![-1])),
                data(float),
                10,
                "inputs: axes has -1, expected 0 or more",
                Some(11),
            ),
            (wide(PadMode::Wrap), data(float), 18, "mode: \"wrap\" is unknown", Some(19)),
            (wide(PadMode::Symmetric), data(float), 25, "mode: \"symmetric\" is unknown", None),
            (pad(PadMode::Edge, Some(vec![1, 0])), data(float), 13, "axes: Pad has no axes in opset 13", Some(18)),
            (wide(PadMode::Constant), and(data(&DType::BOOL), &[]), 11, "data: dtype bool, expected", Some(13)),
            (Call::Tile { repeats: vec![2] }, data(float), 13, "inputs: 1 repeats for data [2, 3]", None),
            (Call::Roll { shift: vec![1], axes: None }, data(float), 18, "opset: ONNX has no Roll in opset 18", None),
            (to(BroadcastRule::Numpy), data(float), 13, "attributes: ONNX Expand-13 has no mode", None),
            (to(BroadcastRule::Bidirectional), data(float), 7, "opset: ONNX has no Expand in opset 7", Some(8)),
            (split(SplitInto::Parts(2)), data(float), 13, "inputs: 3 places do not divide into 2 outputs", Some(18)),
            (split(SplitInto::Lengths(vec![1, -1])), data(float), 18, "inputs: split has -1, expected 0 or more", None),
            (
                Call::ReplaceWhere { condition: Condition::Nan, item: vec![0; 4], slices: ":".parse().unwrap() },
                data(float),
                18,
                "opset: ONNX has no ReplaceWhere in opset 18",
                None,
            ),
        ];
        for (call, metas, opset, message, next) in rows {
            call.infer(&metas).unwrap_or_else(|error| panic!("{call:?} by itself: {error}"));
            let found = call.clone().with_opset(opset).infer(&metas).unwrap_err().to_string();
            assert!(found.starts_with(message), "{call:?} in opset {opset}: {found}, expected {message}");
            if let Some(next) = next {
                call.clone()
                    .with_opset(next)
                    .infer(&metas)
                    .unwrap_or_else(|error| panic!("{call:?} in {next}: {error}"));
            }
        }
        let field = Call::ScatterNd { opset: Some(18), reduction: Reduction::None, repeats: Repeats::LastWins };
        let refused = field.infer(&and(by(float, short, &[1, 1]), &[1, 3])).unwrap_err();
        assert_eq!(refused.to_string(), "indices: dtype int32, expected int64");
        let contradiction = Call::Split { axis: 0, into: SplitInto::Parts(2), part: 2 };
        assert_eq!(contradiction.infer(&data(float)).unwrap_err().to_string(), "part: 2, expected 0 to 1");
    }

    #[test]
    fn nodes() {
        let attributes = |list: &[(&str, AttributeValue)]| {
            list.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Attributes>()
        };
        let new = |operator: &str, opset, list: &[(&str, AttributeValue)]| {
            Call::from_onnx(operator, opset, &attributes(list))
        };
        let refused = |call: crate::error::Result<Call>| call.unwrap_err().to_string();
        let ints = |list: &[i64]| AttributeValue::Ints(list.to_vec());
        let add = AttributeValue::Text("add".to_owned());
        assert_eq!(refused(new("Slise", 13, &[])), "neither ONNX nor OpenVINO has an operator Slise");
        assert_eq!(refused(new("Relu", 13, &[])), "ONNX Relu-13");
        assert_eq!(refused(new("Slice", 99, &[])), "ONNX has no opset 99 of ai.onnx, the newest is 28");
        let message = "attributes: ONNX ScatterND-13 has no reduction, other versions have";
        assert_eq!(refused(new("ScatterND", 15, &[("reduction", add.clone())])), message);
        assert_eq!(
            refused(Call::from_openvino("Slice", 9, &Attributes::new())),
            "OpenVINO Slice has no version 9, expected 8"
        );
        let (float, short) = (&DType::FLOAT32, &DType::INT16.big_endian());
        // a list of any integer dtype, and an optional input that is omitted
        let slice = Call::from_openvino("Slice", 8, &Attributes::new()).unwrap().without_input(4);
        let metas = [meta(float, &[5]), meta(short, &[1]), meta(short, &[1]), meta(&DType::UINT8, &[1])];
        let mut kernel = slice.infer(&metas).unwrap();
        let one = [7, 8, 9, 10, 11_u8].map(|n| [n, 0, 0, 0]);
        let data = TensorRef::new(float, &[5], one.as_flattened()).unwrap();
        let mut out = [0; 8];
        assert_eq!((kernel.unbound(), kernel.is_view()), (Some(1), false));
        let early = kernel.apply(&[data], TensorMut::new(float, &[2], &mut out).unwrap(), 1).unwrap_err();
        assert_eq!(early.to_string(), "inputs: input 1 has to be bound before the kernel is applied");
        let list = |kernel: &mut Kernel, n: usize, bytes: &[u8]| {
            kernel.bind(n, &TensorRef::new(&metas[n].dtype, &[1], bytes).unwrap())
        };
        list(&mut kernel, 3, &[2]).unwrap();
        list(&mut kernel, 1, &[0, 1]).unwrap();
        assert_eq!(kernel.unbound(), Some(2));
        list(&mut kernel, 2, &[0, 5]).unwrap();
        assert_eq!((kernel.unbound(), kernel.shape()), (None, &[2][..]));
        assert_eq!(list(&mut kernel, 2, &[0, 5]).unwrap_err().to_string(), "input: 2 is bound already");
        kernel.apply(&[data], TensorMut::new(float, &[2], &mut out).unwrap(), 1).unwrap();
        assert_eq!(out, [8, 0, 0, 0, 10, 0, 0, 0]);
        // a list that does not fit leaves the kernel as it was
        let reshape = new("Reshape", 13, &[]).unwrap();
        let int = &DType::INT64;
        let mut kernel = reshape.infer(&[meta(float, &[5]), meta(int, &[1])]).unwrap();
        let four = kernel.bind(1, &TensorRef::new(int, &[1], &4_i64.to_le_bytes()).unwrap()).unwrap_err();
        assert_eq!(four.to_string(), "shape: [4]: 4 items, expected 5 (data [5])");
        kernel.bind(1, &TensorRef::new(int, &[1], &(-1_i64).to_le_bytes()).unwrap()).unwrap();
        assert!(kernel.is_view());
        // a reshape, a transposition and a reshape
        let deep = new("DepthToSpace", 13, &[("blocksize", AttributeValue::Int(2))]).unwrap();
        let kernel = deep.infer(&[meta(&DType::UINT8, &[1, 4, 1, 2])]).unwrap();
        let mut out = [0; 8];
        let data = [0, 1, 2, 3, 4, 5, 6, 7];
        let data = TensorRef::new(&DType::UINT8, &[1, 4, 1, 2], &data).unwrap();
        kernel.apply(&[data], TensorMut::new(&DType::UINT8, &[1, 1, 2, 4], &mut out).unwrap(), 1).unwrap();
        assert_eq!(out, [0, 2, 1, 3, 4, 6, 5, 7]);
        // outputs
        let split = new("Split", 11, &[("split", ints(&[2, 3]))]).unwrap();
        let shape = |n| split.clone().output(n, 2).infer(&[meta(float, &[5])]).unwrap().shape()[0];
        assert_eq!([shape(0), shape(1)], [2, 3]);
        let three = split.output(0, 3).infer(&[meta(float, &[5])]).unwrap_err();
        assert_eq!((three.kind(), three.message()), (ErrorKind::Unsupported, "Split with 3 outputs"));
    }

    /// A version of the specification that has another number in files.
    #[test]
    fn opsets_of_files() {
        for (operator, versions) in [("Squeeze", [0, 1]), ("Unsqueeze", [0, 1]), ("ScatterNDUpdate", [3, 4])] {
            let calls = versions.map(|version| Call::from_openvino(operator, version, &Attributes::new()).unwrap());
            assert_eq!(calls[0], calls[1], "{operator}");
        }
        let even = Call::Split { axis: 0, into: SplitInto::Parts(2), part: 1 }.with_opset(11);
        assert_eq!(even.infer(&[meta(&DType::INT8, &[4])]).unwrap().shape(), [2]);
        let scatter = Call::ScatterNd { opset: Some(18), reduction: Reduction::None, repeats: Repeats::LastWins };
        let twice = Call::InOpset { opset: 11, call: Box::new(scatter) };
        let metas = [meta(&DType::INT8, &[4]), meta(&DType::INT64, &[1, 1]), meta(&DType::INT8, &[1])];
        assert_eq!(twice.infer(&metas).unwrap_err().to_string(), "opset: 11, and 18 of the call");
        let late = Call::gather(0).with_opset(99).infer(&metas[..2]).unwrap_err().to_string();
        assert!(late.starts_with("opset: ONNX has no opset 99 of ai.onnx, the newest is "), "{late}");
        let output = Call::from_onnx("Gather", 13, &Attributes::new()).unwrap().output(5, 1);
        assert_eq!(output.infer(&metas[..2]).unwrap_err().kind(), ErrorKind::Unsupported);
    }

    /// A refused list leaves the kernel as it was.
    #[test]
    fn binding_after_a_refusal() {
        let int8 = &DType::INT8;
        let compress = Call::from_onnx("Compress", 11, &Attributes::new()).unwrap();
        let mut kernel = compress.infer(&[meta(int8, &[2]), meta(&DType::BOOL, &[4])]).unwrap();
        let mut bind = |bytes: &[u8]| kernel.bind(1, &TensorRef::new(&DType::BOOL, &[4], bytes).unwrap());
        assert!(bind(&[1, 0, 0, 1]).unwrap_err().to_string().contains("out of range"));
        bind(&[0, 1, 0, 0]).unwrap();
        let mut out = [0];
        let data = TensorRef::new(int8, &[2], &[5, 6]).unwrap();
        kernel.apply(&[data], TensorMut::new(int8, &[1], &mut out).unwrap(), 1).unwrap();
        assert_eq!(out, [6]);
        // the same in place
        let node = Call::from_onnx("Reshape", 13, &Attributes::new()).unwrap();
        let kernel = node.infer(&[meta(int8, &[2]), meta(&DType::INT64, &[1])]).unwrap();
        let refused = kernel.apply_in_place(TensorMut::new(int8, &[2], &mut [0; 2]).unwrap(), &[], 1).unwrap_err();
        assert_eq!(refused.to_string(), "inputs: input 1 has to be bound before the kernel is applied");
    }

    #[test]
    fn parts_are_at_most_as_many() {
        for shape in [&[8, 1000][..], &[6, 11, 1], &[2, 11, 1], &[1, 5], &[12, 3, 5], &[7]] {
            let kernel =
                Call::Roll { shift: vec![0], axes: Some(vec![0]) }.infer(&[meta(&DType::INT8, shape)]).unwrap();
            for n in 1..15 {
                let parts = kernel.parts(n);
                let ends: Vec<_> = parts.iter().map(|part| part.bytes()).collect();
                let follow = ends.windows(2).all(|pair| pair[0].end == pair[1].start);
                assert!(follow && ends[0].start == 0 && ends.last().unwrap().end == kernel.bytes(), "{shape:?} {n}");
                assert!(parts.len() <= n, "{shape:?} in {n}: {ends:?}");
            }
        }
    }

    /// Only items of the slice of a strided tensor change; the stride of a single place is any number.
    #[test]
    fn strided_tensors_at_their_edges() {
        let uint8 = &DType::UINT8;
        let condition = Condition::Equal(vec![9]);
        let mut bytes = [1, 9, 1, 9, 1, 9, 1, 9];
        let mut data = TensorMut::strided(uint8, &[4], &[2], 1, &mut bytes).unwrap();
        assert_eq!(replace_where(&mut data, &condition, &[0], &"1:".parse().unwrap()).unwrap(), 3);
        assert_eq!(bytes, [1, 9, 1, 0, 1, 0, 1, 0]);
        let mut bytes = [9, 1, 9];
        let mut data = TensorMut::strided(uint8, &[3], &[-1], 2, &mut bytes).unwrap();
        assert_eq!(replace_where(&mut data, &condition, &[0], &":1".parse().unwrap()).unwrap(), 1);
        assert_eq!(bytes, [9, 1, 0]);
        let tensor = TensorRef::strided(uint8, &[1, 3], &[isize::MIN, 1], 0, &[1, 2, 3]).unwrap();
        let pad = Call::Pad { before: vec![1, 0], after: vec![0, 0], axes: None, mode: PadMode::Symmetric };
        let kernel = pad.infer(&[tensor.meta()]).unwrap();
        let mut out = [0; 6];
        kernel.apply(&[tensor], TensorMut::new(uint8, &[2, 3], &mut out).unwrap(), 1).unwrap();
        assert_eq!(out, [1, 2, 3, 1, 2, 3]);
    }

    #[test]
    fn repeats_that_are_refused() {
        let call = Call::ScatterUpdate { axis: 0, repeats: Repeats::Refused };
        let (int8, metas) =
            (&DType::INT8, [meta(&DType::INT8, &[4]), meta(&DType::INT8, &[3]), meta(&DType::INT8, &[3])]);
        let kernel = call.infer(&metas).unwrap();
        let (mut data, updates) = ([0; 4], [7, 8, 9]);
        let mut change = |indices: [u8; 3]| {
            let data = TensorMut::new(int8, &[4], &mut data).unwrap();
            let [indices, updates] = [&indices, &updates].map(|bytes| TensorRef::new(int8, &[3], bytes).unwrap());
            kernel.apply_in_place(data, &[indices, updates], 1)
        };
        let refused = change([3, 1, 3]).unwrap_err();
        assert_eq!(refused.to_string(), "indices: the index at [2] repeats the one at [0]");
        change([3, 1, 0]).unwrap();
        assert_eq!(data, [9, 8, 0, 7]);
    }
}

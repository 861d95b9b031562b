//! Calls on tensors of run time: resolved by dtypes and shapes alone, then applied to buffers of the caller.

use std::num::NonZero;

use super::bytes::{self, Operands};
use super::{TensorMut, TensorRef};
use crate::error::{Error, ErrorKind, Result, Subject, counted};
use crate::item::dtype::DType;
use crate::item::meta::{Meta, Order};
use crate::ops::arrays::check_most_axes;
use crate::ops::call::{Call, Resolved};
use crate::ops::indexed::OutOfRange;
use crate::ops::kernels::Places;
use crate::ops::operators::concat::Joining;
use crate::ops::operators::split::{self, SplitInto};
use crate::ops::reduction::{Reduction, Repeats};
use crate::parallel::Threads;

/// A [`Call`] whose inputs are known by dtype and shape: everything is checked but the values of an index tensor.
///
/// ```
/// use tensorop_kernels::kernel::{Call, TensorMut, TensorRef};
/// use tensorop_kernels::{DType, Meta};
/// let transpose = Call::Transpose { axes: None };
/// // shapes are inferred without data
/// let kernel = transpose.infer(&[Meta::new(DType::UINT8, vec![2, 3])?])?;
/// assert_eq!((kernel.dtype(), kernel.shape()), (&DType::UINT8, &[3, 2][..]));
/// // then applied to buffers, any number of times
/// let (data, mut out) = ([1, 2, 3, 4, 5, 6], [0; 6]);
/// let data = TensorRef::new(&DType::UINT8, &[2, 3], &data)?;
/// kernel.apply(&[data], TensorMut::new(&DType::UINT8, &[3, 2], &mut out)?, 1)?;
/// assert_eq!(out, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
#[derive(Debug)]
pub struct Kernel {
    resolved: Resolved,
    inputs: Vec<Meta>,
    names: &'static [&'static str],
    output: Meta,
    repeats: Repeats,
}

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

    /// Applies the rules of an ONNX opset, where they differ from OpenVINO's or between opsets:
    ///
    /// - Slice clamps a start before the axis to the first place if it runs backwards.
    /// - Scatters have the reductions of their version: none up to 15, `add` and `mul` from 16, `max` and `min` from
    ///   18.
    ///
    /// ```
    /// use tensorop_kernels::kernel::Call;
    /// use tensorop_kernels::{DType, Meta, Reduction};
    /// let meta = |dtype: DType, shape: &[usize]| Meta::new(dtype, shape.to_vec()).unwrap();
    /// let inputs = [meta(DType::FLOAT32, &[4]), meta(DType::INT64, &[2, 1]), meta(DType::FLOAT32, &[2])];
    /// let add = Call::scatter_nd(Reduction::Add);
    /// assert!(add.clone().with_opset(16).infer(&inputs).is_ok());
    /// let refused = add.with_opset(13).infer(&inputs).unwrap_err();
    /// assert_eq!(refused.to_string(), "reduction: add is allowed from opset 16 on, got opset 13");
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    #[must_use]
    pub fn with_opset(self, opset: u64) -> Self {
        let number = Some(opset);
        match self {
            Self::Slice(args) => Self::Slice(args.clamped_as_onnx()),
            Self::ScatterNd { reduction, repeats, .. } => Self::ScatterNd { opset: number, reduction, repeats },
            Self::ScatterElements { axis, reduction, has_initial, repeats, counts_from_end, .. } => {
                Self::ScatterElements { axis, opset: number, reduction, has_initial, repeats, counts_from_end }
            }
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
            Self::Slice(_)
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
            _ => Repeats::LastWins,
        }
    }

    /// Resolves the call by the dtypes and shapes of its inputs, which are in C order: data; data and updates (slice
    /// scatter); data, indices and updates (other scatters); data and indices (gathers); data and, if it is not the
    /// dtype's default, the item to pad with; any number of data (concat, stack).
    ///
    /// # Errors
    /// The number of inputs, a dtype, a shape or an argument does not fit; the output is larger than memory can be.
    pub fn infer(&self, inputs: &[Meta]) -> Result<Kernel> {
        let names = self.input_names();
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
        let kind = |name: &str| names.iter().position(|other| *other == name).and_then(|at| inputs.get(at));
        for (n, input) in inputs.iter().enumerate() {
            check_input(subject(names, n), input)?;
        }
        let (data, indices, updates) = (&inputs[0], kind("indices"), kind("updates"));
        if let Some(indices) = indices.filter(|indices| !indices.dtype.is_integer()) {
            let message = format!("dtype {}, expected an integer type", indices.dtype);
            return Err(Error::new(Subject::Indices, message));
        }
        let same = |n: usize| inputs[n].dtype == data.dtype;
        let others = (1..inputs.len()).filter(|&n| names.get(n) != Some(&"indices"));
        if let Some(n) = others.clone().find(|&n| !same(n)) {
            let message = format!("dtype {}, expected {} as in data", inputs[n].dtype, data.dtype);
            return Err(Error::new(subject(names, n), message));
        }
        if let Some(item) = kind("item").filter(|item| item.items() != 1) {
            let message = format!("{}, expected 1", counted(item.items(), "item", "items"));
            return Err(Error::new(Subject::Fill, message));
        }
        let all: Vec<&Meta> = if names.is_empty() { inputs.iter().collect() } else { vec![data] };
        let [index_shape, update_shape] = [indices, updates].map(|meta| meta.map(|meta| &meta.shape[..]));
        let resolved = self.resolve(&all, index_shape, update_shape)?.resolved;
        let output = Meta::c_order(data.dtype.clone(), output_shape(&resolved, &data.shape));
        check_input(Subject::Output, &output)?;
        Ok(Kernel { resolved, inputs: inputs.to_vec(), names, output, repeats: self.repeats() })
    }
}

fn subject(names: &[&str], n: usize) -> Subject {
    match names.get(n).copied() {
        None => Subject::Operand(n),
        Some("indices") => Subject::Indices,
        Some("updates") => Subject::Updates,
        Some("item") => Subject::Fill,
        Some(_) => Subject::Data,
    }
}

fn check_input(subject: Subject, meta: &Meta) -> Result<()> {
    if meta.order != Order::C {
        return Err(Error::new(subject, "Fortran order, expected C order"));
    }
    check_most_axes(&meta.shape, subject.clone())?;
    meta.clone().checked(subject).map(drop)
}

fn output_shape(resolved: &Resolved, data: &[usize]) -> Vec<usize> {
    match resolved {
        Resolved::Slice(spans) => spans.iter().map(|span| span.len).collect(),
        Resolved::Places(_) | Resolved::Scattered(..) => data.to_vec(),
        Resolved::Gathered(spec) => spec.updates.clone(),
        Resolved::Joined(joined) => joined.shape.clone(),
        Resolved::Transposed(axes) => axes.iter().map(|&axis| data[axis]).collect(),
        Resolved::Reshaped(dims) => dims.clone(),
        Resolved::Arranged(arrangement) => arrangement.shape.clone(),
    }
}

impl Kernel {
    /// The dtype of the output.
    pub fn dtype(&self) -> &DType {
        &self.output.dtype
    }

    /// The shape of the output.
    pub fn shape(&self) -> &[usize] {
        &self.output.shape
    }

    /// The bytes of the output.
    pub fn bytes(&self) -> usize {
        self.output.bytes()
    }

    /// Dtype and shape of the output, as an input of the next [`Call::infer`].
    pub fn meta(&self) -> &Meta {
        &self.output
    }

    /// Whether the operator changes items of its data, so that [`apply_in_place`](Self::apply_in_place) can do without
    /// another buffer.
    pub fn changes_data(&self) -> bool {
        matches!(self.resolved, Resolved::Places(_) | Resolved::Scattered(..))
    }

    /// Applies the operator to `inputs` and overwrites all of `out`, on at most `threads` threads; 0 are as many as the
    /// machine has, up to 8. Small tensors take fewer.
    ///
    /// # Errors
    /// An input or `out` differs from what was resolved, or an index is out of range; then `out` is unchanged. There is
    /// not enough memory for the places of an index tensor, or for the sums of a mean.
    pub fn apply(&self, inputs: &[TensorRef<'_>], out: TensorMut<'_>, threads: usize) -> Result<()> {
        let threads = threads_for(threads, out.bytes.len());
        self.apply_on(threads, inputs, out)
    }

    fn apply_on(&self, threads: usize, inputs: &[TensorRef<'_>], out: TensorMut<'_>) -> Result<()> {
        self.check_inputs(inputs, 0)?;
        check_as_resolved(Subject::Output, &self.output, out.dtype(), out.shape())?;
        let places = self.places(inputs, 1)?;
        if out.bytes.is_empty() {
            return Ok(());
        }
        if self.changes_data() {
            return self.change(places, inputs, threads, out.bytes, |out| {
                bytes::copy_all(inputs[0].bytes(), threads, out);
            });
        }
        let item = match (&self.resolved, inputs) {
            (Resolved::Arranged(_), [_, item]) => item.bytes().to_vec(),
            // as the specification has it, not the default item of dates
            (Resolved::Gathered(_), _) => vec![0; self.itemsize()],
            _ => self.dtype().default_item(),
        };
        let many = if self.names.is_empty() { inputs } else { &inputs[..1] };
        let data = many.iter().map(|data| (data.shape(), data.bytes())).collect();
        bytes::fill(&self.resolved, Operands { data, places, item: &item }, threads, out.bytes)
    }

    /// Applies an operator that [changes its data](Self::changes_data) to the buffer of the data; only the items that it
    /// names are touched. `others` are the inputs after the data. For `threads` see [`apply`](Self::apply).
    ///
    /// ```
    /// use tensorop_kernels::DType;
    /// use tensorop_kernels::kernel::{Call, TensorMut, TensorRef};
    /// let put = Call::SliceScatter("1:3".parse()?);
    /// let (bytes, mut data) = ([8, 9], [0, 1, 2, 3]);
    /// let updates = TensorRef::new(&DType::UINT8, &[2], &bytes)?;
    /// let data_tensor = TensorMut::new(&DType::UINT8, &[4], &mut data)?;
    /// let kernel = put.infer(&[data_tensor.as_ref().meta(), updates.meta()])?;
    /// kernel.apply_in_place(data_tensor, &[updates], 1)?;
    /// assert_eq!(data, [0, 8, 9, 3]);
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// The operator changes no data ([`ErrorKind::Unsupported`]), or as for [`apply`](Self::apply). Then `data` is
    /// unchanged.
    pub fn apply_in_place(&self, data: TensorMut<'_>, others: &[TensorRef<'_>], threads: usize) -> Result<()> {
        let touched = others.last().map_or(0, |updates| updates.bytes().len());
        self.apply_in_place_on(threads_for(threads, touched), data, others)
    }

    fn apply_in_place_on(&self, threads: usize, data: TensorMut<'_>, others: &[TensorRef<'_>]) -> Result<()> {
        if !self.changes_data() {
            let message = "an operator that moves items cannot be applied in place";
            return Err(Error::from_kind(ErrorKind::Unsupported, message));
        }
        check_as_resolved(Subject::Data, &self.inputs[0], data.dtype(), data.shape())?;
        self.check_inputs(others, 1)?;
        let places = self.places(others, 0)?;
        if data.bytes.is_empty() {
            return Ok(());
        }
        self.change(places, others, threads, data.bytes, |_| ())
    }

    fn itemsize(&self) -> usize {
        self.output.dtype.itemsize()
    }

    /// `inputs` are those from number `first` on.
    fn check_inputs(&self, inputs: &[TensorRef<'_>], first: usize) -> Result<()> {
        let expected = &self.inputs[first..];
        if inputs.len() != expected.len() {
            let message = format!("{}, expected {}", counted(inputs.len(), "input", "inputs"), expected.len());
            return Err(Error::new(Subject::Argument("inputs"), message));
        }
        for (n, (found, expected)) in inputs.iter().zip(expected).enumerate() {
            check_as_resolved(subject(self.names, first + n), expected, found.dtype(), found.shape())?;
        }
        Ok(())
    }

    /// `at` is the position of the index tensor among `inputs`.
    fn places(&self, inputs: &[TensorRef<'_>], at: usize) -> Result<Option<Places>> {
        let (Resolved::Scattered(spec, _) | Resolved::Gathered(spec)) = &self.resolved else { return Ok(None) };
        let places = Places::from_bytes(spec.clone(), inputs[at].dtype(), inputs[at].bytes())?;
        if self.repeats == Repeats::Refused {
            places.refuse_repeats()?;
        }
        Ok(Some(places))
    }

    /// Calls `begin` for the old items when nothing can fail any more but memory.
    fn change(
        &self,
        places: Option<Places>,
        inputs: &[TensorRef<'_>],
        threads: usize,
        data: &mut [u8],
        begin: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        let updates = inputs.last().expect("a change has updates").bytes();
        begin(data);
        match (&self.resolved, places) {
            (Resolved::Places(slice), _) => {
                bytes::put_slice(slice, self.shape(), updates, self.itemsize(), threads, data);
                Ok(())
            }
            (Resolved::Scattered(_, rule), Some(places)) => {
                bytes::scatter(places, rule.application, self.dtype(), updates, threads, data)
            }
            _ => unreachable!("only these two change data"),
        }
    }
}

fn threads_for(most: usize, bytes: usize) -> usize {
    Threads::new(NonZero::new(most)).for_bytes(bytes)
}

fn check_as_resolved(subject: Subject, expected: &Meta, dtype: &DType, shape: &[usize]) -> Result<()> {
    if (dtype, shape) == (&expected.dtype, &expected.shape[..]) {
        return Ok(());
    }
    let message = format!("{dtype} {shape:?}, expected {} {:?} as resolved", expected.dtype, expected.shape);
    Err(Error::new(subject, message))
}

#[cfg(test)]
mod tests {
    use super::*;
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
                infer(&nd(Reduction::None, Repeats::Combined), &few),
                "repeats: Combined, expected LastWins or Refused (reduction none)",
            ),
            (
                infer(&Call::ScatterUpdate { axis: 0, repeats: Repeats::Combined }, &few),
                "repeats: Combined, expected LastWins or Refused (reduction none)",
            ),
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

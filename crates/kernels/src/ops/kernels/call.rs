//! Calls on tensors of run time: resolved by dtypes and shapes alone, then applied to buffers of the caller.

use std::num::NonZero;

use super::bytes::{self, Operands};
use super::gathered::Places;
use super::tensors::{TensorMut, TensorRef};
use crate::error::{Error, ErrorKind, Result, Subject, counted};
use crate::item::dtype::DType;
use crate::item::meta::{Meta, Order};
use crate::layout::shape::bytes_of;
use crate::ops::call::{Call, Resolved};
use crate::ops::concat::Joining;
use crate::ops::indexed::OutOfRange;
use crate::ops::reduction::{Reduction, Repeats};
use crate::ops::split::{self, SplitInto};
use crate::parallel::Threads;

/// A [`Call`] whose inputs are known by dtype and shape: everything is checked but the values of an index tensor.
///
/// ```
/// use tensorop::kernel::{Call, TensorMut, TensorRef};
/// use tensorop::{DType, Meta};
/// let transpose = Call::Transpose { axes: None };
/// // shapes are inferred without data
/// let kernel = transpose.infer(&[Meta::new(DType::UINT8, vec![2, 3])])?;
/// assert_eq!((kernel.dtype(), kernel.shape()), (&DType::UINT8, &[3, 2][..]));
/// // then applied to buffers, any number of times
/// let (data, mut out) = ([1, 2, 3, 4, 5, 6], [0; 6]);
/// let data = TensorRef::new(&DType::UINT8, &[2, 3], &data)?;
/// kernel.apply(&[data], TensorMut::new(&DType::UINT8, &[3, 2], &mut out)?, 1)?;
/// assert_eq!(out, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), tensorop::Error>(())
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
    /// use tensorop::kernel::Call;
    /// use tensorop::{DType, Meta, SplitInto};
    /// let parts = Call::split(&[5, 2], 0, &SplitInto::Parts(2))?;
    /// let data = [Meta::new(DType::INT8, vec![5, 2])];
    /// assert_eq!(parts.iter().map(|part| part.infer(&data).unwrap().shape()[0]).collect::<Vec<_>>(), [3, 2]);
    /// # Ok::<(), tensorop::Error>(())
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
    /// use tensorop::kernel::Call;
    /// use tensorop::{DType, Meta, Reduction};
    /// let meta = |dtype: DType, shape: &[usize]| Meta::new(dtype, shape.to_vec());
    /// let inputs = [meta(DType::FLOAT32, &[4]), meta(DType::INT64, &[2, 1]), meta(DType::FLOAT32, &[2])];
    /// let add = Call::scatter_nd(Reduction::Add);
    /// assert!(add.clone().with_opset(16).infer(&inputs).is_ok());
    /// let refused = add.with_opset(13).infer(&inputs).unwrap_err();
    /// assert_eq!(refused.to_string(), "reduction: add is allowed from opset 16 on, got opset 13");
    /// # Ok::<(), tensorop::Error>(())
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
        let output = Meta::new(data.dtype.clone(), output_shape(&resolved, &data.shape));
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
    if bytes_of(&meta.shape, meta.dtype.itemsize()).is_none() {
        let message = format!("{} {:?} is larger than memory can be", meta.dtype, meta.shape);
        return Err(Error::new(subject, message));
    }
    Ok(())
}

fn output_shape(resolved: &Resolved, data: &[usize]) -> Vec<usize> {
    match resolved {
        Resolved::Slice(spans) => spans.iter().map(|span| span.len).collect(),
        Resolved::Places(_) | Resolved::Scattered(..) => data.to_vec(),
        Resolved::Gathered(spec) => spec.updates.clone(),
        Resolved::Joined(joined) => joined.shape.clone(),
        Resolved::Transposed(axes) => axes.iter().map(|&axis| data[axis]).collect(),
        Resolved::Reshaped(dims) => dims.clone(),
        Resolved::Arranged(arrangement) => arrangement.shape().to_vec(),
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
    /// An input or `out` differs from what was resolved, an index is out of range, or there is not enough memory for
    /// the places of an index tensor. Then `out` is unchanged.
    pub fn apply(&self, inputs: &[TensorRef<'_>], out: TensorMut<'_>, threads: usize) -> Result<()> {
        self.check_inputs(inputs, 0)?;
        check_as_resolved(Subject::Output, &self.output, out.dtype(), out.shape())?;
        let places = self.places(inputs, 1)?;
        let threads = threads_for(threads, out.bytes.len());
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
    /// use tensorop::DType;
    /// use tensorop::kernel::{Call, TensorMut, TensorRef};
    /// let put = Call::SliceScatter("1:3".parse()?);
    /// let (bytes, mut data) = ([8, 9], [0, 1, 2, 3]);
    /// let updates = TensorRef::new(&DType::UINT8, &[2], &bytes)?;
    /// let data_tensor = TensorMut::new(&DType::UINT8, &[4], &mut data)?;
    /// let kernel = put.infer(&[data_tensor.as_ref().meta(), updates.meta()])?;
    /// kernel.apply_in_place(data_tensor, &[updates], 1)?;
    /// assert_eq!(data, [0, 8, 9, 3]);
    /// # Ok::<(), tensorop::Error>(())
    /// ```
    ///
    /// # Errors
    /// The operator changes no data ([`ErrorKind::Unsupported`]), or as for [`apply`](Self::apply). Then `data` is
    /// unchanged.
    pub fn apply_in_place(&self, data: TensorMut<'_>, others: &[TensorRef<'_>], threads: usize) -> Result<()> {
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
        let touched = others.last().map_or(0, |updates| updates.bytes().len());
        self.change(places, others, threads_for(threads, touched), data.bytes, |_| ())
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
        let places = Places::of_bytes(spec.clone(), inputs[at].dtype(), inputs[at].bytes())?;
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

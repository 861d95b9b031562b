//! Applies kernels: whole, in parts, and in place.

use std::borrow::Cow;
use std::num::NonZero;
use std::sync::Mutex;

use super::bytes::{self, Lent, PartPlan};
use super::kernel::{Held, Kernel, Part, Step, check_as_resolved};
use super::{TensorMut, TensorRef};
use crate::error::{Context, Error, ErrorKind, Result, Subject, counted};
use crate::layout::view::View;
use crate::layout::window::{Window, Windows};
use crate::memory::{self, Buffer};
use crate::ops::call::{Resolved, replacement};
use crate::ops::condition::Condition;
use crate::ops::kernels::Places;
use crate::ops::slice::SliceArgs;
use crate::ops::tally::Application;
use crate::parallel::{Threads, locked, on_threads};

impl Kernel {
    /// Applies the operator to `inputs` and overwrites all of `out`, on at most `threads` threads; 0 are as many as the
    /// machine has, up to 8. Small tensors take fewer, and an `out` that is not in C order takes one.
    ///
    /// # Errors
    /// An input or `out` has another dtype or shape than inferred, an input is [unbound](Self::unbound), or an index is out of range;
    /// then `out` is unchanged. There is not enough memory for the places of an index tensor that is not bound, or for the
    /// sums of a mean.
    pub fn apply(&self, inputs: &[TensorRef<'_>], out: TensorMut<'_>, threads: usize) -> Result<()> {
        let threads = threads_for(threads, self.output.bytes());
        self.apply_on(threads, inputs, out)
    }

    pub(super) fn apply_on(&self, threads: usize, inputs: &[TensorRef<'_>], out: TensorMut<'_>) -> Result<()> {
        self.check_inputs(inputs, 0)?;
        check_as_resolved(Subject::Output, &self.output, out.dtype(), out.shape())?;
        self.run_on(threads, Given { inputs, in_place: false }, out)
    }

    fn run_on(&self, threads: usize, given: Given<'_>, out: TensorMut<'_>) -> Result<()> {
        let places = self.places(given)?;
        if threads < 2 || !out.is_c_order() || self.output.bytes() == 0 {
            return self.fill(&self.whole, given, places.as_deref(), out);
        }
        let (parts, mut rest) = (self.parts(threads), out.bytes);
        let mut cut = |part| {
            let (bytes, after) = std::mem::take(&mut rest).split_at_mut(Part::bytes(part).len());
            rest = after;
            Mutex::new((part, bytes))
        };
        let parts: Vec<_> = parts.iter().map(&mut cut).collect();
        let done = on_threads(parts.len(), |n| {
            let (part, bytes) = &mut *locked(&parts[n]);
            self.run(part, given, places.as_deref(), (bytes, &View::c_order(&part.plan.shape)))
        });
        done.into_iter().collect()
    }

    /// Cuts the output into at most `n` parts of about one size, which are filled independently, on threads of the caller. A
    /// mean, and a node that takes several calls one after the other, are one part. While an input is
    /// [unbound](Self::unbound) the list is empty.
    ///
    /// ```
    /// use tensorop_kernels::kernel::{Call, TensorMut, TensorRef};
    /// use tensorop_kernels::{DType, Meta};
    /// let kernel = Call::Transpose { axes: None }.infer(&[Meta::new(DType::UINT8, vec![2, 3])?])?;
    /// let (bytes, mut out) = ([1, 2, 3, 4, 5, 6], [0; 6]);
    /// let data = TensorRef::new(&DType::UINT8, &[2, 3], &bytes)?;
    /// // in any order, and each on a thread of its own if there are any
    /// for part in kernel.parts(2).iter().rev() {
    ///     let part_of_out = TensorMut::new(kernel.dtype(), part.shape(), &mut out[part.bytes()])?;
    ///     kernel.apply_part(part, &[data], part_of_out)?;
    /// }
    /// assert_eq!(out, [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    pub fn parts(&self, n: usize) -> Vec<Part> {
        let is_mean = |step: &Step| matches!(&step.resolved, Resolved::Scattered(_, rule) if matches!(rule.application, Application::Fold(_)));
        let [step] = &self.steps[..] else { return self.whole_parts() };
        if n < 2 || is_mean(step) || self.output.bytes() == 0 {
            return self.whole_parts();
        }
        let mut windows = Windows::new(&step.output, self.output.items().div_ceil(n));
        // Windows are whole rows or equal parts of a row, and rounding may make more than `n`. Then an axis is cut less often.
        while windows.count() > n {
            let axis = windows.sides().iter().position(|side| *side > 1).unwrap_or(step.output.len() - 1);
            let (side, dim) = (windows.sides()[axis], step.output[axis]);
            let items = match dim.div_ceil(side) {
                1 => 2 * windows.largest(),
                cuts => windows.largest() / side * dim.div_ceil(cuts - 1),
            };
            windows = Windows::new(&step.output, items);
        }
        windows.iter().map(|window| self.part(window)).collect()
    }

    fn whole_parts(&self) -> Vec<Part> {
        if self.steps.is_empty() { Vec::new() } else { vec![self.part(Window::whole(&self.last().output))] }
    }

    pub(super) fn part(&self, window: Window) -> Part {
        let (itemsize, step) = (self.output.dtype.itemsize(), self.last());
        let (first, bytes, shape) = (window.start * itemsize, window.items() * itemsize, window.shape());
        let shape = if bytes == self.output.bytes() { self.output.shape.clone() } else { shape };
        Part { kernel: self.number, first, bytes, shape, plan: PartPlan::new(&step.resolved, window) }
    }

    /// Fills `out` with a part of the output; its shape is the part's, and its layout is any. For `inputs` see
    /// [`apply`](Self::apply).
    ///
    /// # Errors
    /// As for [`apply`](Self::apply), or the part is another kernel's. Bind indices, so that they are not resolved anew for
    /// each part.
    pub fn apply_part(&self, part: &Part, inputs: &[TensorRef<'_>], out: TensorMut<'_>) -> Result<()> {
        self.check_inputs(inputs, 0)?;
        if part.kernel != self.number {
            return Err(Error::new(Subject::Argument("part"), "is a part of another kernel"));
        }
        if (out.dtype(), out.shape()) != (self.dtype(), part.shape()) {
            let (dtype, expected) = (self.dtype(), part.shape());
            let message = format!("{} {:?}, expected {dtype} {expected:?} of the part", out.dtype(), out.shape());
            return Err(Error::new(Subject::Output, message));
        }
        let given = Given { inputs, in_place: false };
        self.fill(part, given, self.places(given)?.as_deref(), out)
    }

    fn fill(&self, part: &Part, given: Given<'_>, places: Option<&Places>, out: TensorMut<'_>) -> Result<()> {
        match part.bytes {
            0 => Ok(()),
            _ => out.with_view(&part.plan.shape, given.in_place, |out, to| self.run(part, given, places, (out, to))),
        }
    }

    /// Runs all steps, the last one for a part.
    fn run(&self, part: &Part, given: Given<'_>, places: Option<&Places>, out: (&mut [u8], &View)) -> Result<()> {
        let (last, before) = self.steps.split_last().expect("a bound kernel has a step");
        // operands without a view are copied
        let mut copies = Vec::new();
        for (n, &input) in self.operands.data.iter().chain(&self.operands.updates).enumerate() {
            let has_view =
                n == 0 && given.in_place || self.tensor(input, given).is_none_or(|tensor| tensor.strides().is_none());
            if !has_view && self.lent(input, given, self.seen(n, input)).is_none() {
                copies.push((input, self.tensor(input, given).expect("bound items have a view").to_vec()?));
            }
        }
        let lent = |n: usize, input: usize| {
            let shape = self.seen(n, input);
            match copies.iter().find(|(copied, _)| *copied == input) {
                Some((_, copy)) => Lent::c_order(copy, shape),
                None => self.lent(input, given, shape).expect("operands without a view were copied"),
            }
        };
        let data = |n: usize| lent(n, self.operands.data[n]);
        let updates = self.operands.updates.map(|input| lent(usize::MAX, input));
        let operands = bytes::Operands { places, updates, item: &self.item, dtype: self.dtype() };
        if given.in_place {
            return bytes::change(&last.resolved, &operands, &part.plan, out);
        }
        if before.is_empty() {
            return bytes::fill(&last.resolved, &data, &operands, &part.plan, out);
        }
        let mut new = [Vec::new(), Vec::new()];
        let mut kept = self.between.try_lock();
        let [from, into] = kept.as_mut().map_or(&mut new, |kept| &mut **kept);
        for (number, Step { resolved, output, data: shape }) in before.iter().enumerate() {
            let length = output.iter().product::<usize>() * self.dtype().itemsize();
            if into.len() < length {
                *into = memory::zeros(length).context(Subject::Output.to_string())?;
            }
            let plan = PartPlan::new(resolved, Window::whole(output));
            let to = (&mut into[..length], &View::c_order(output));
            match number {
                0 => bytes::fill(resolved, &data, &operands, &plan, to)?,
                _ => bytes::fill(resolved, &|_| Lent::c_order(from, shape), &operands, &plan, to)?,
            }
            std::mem::swap(from, into);
        }
        bytes::fill(&last.resolved, &|_| Lent::c_order(from, &last.data), &operands, &part.plan, out)
    }

    /// The shape of an operand for the first step. An earlier rename may have changed that of the data.
    fn seen(&self, n: usize, input: usize) -> &[usize] {
        if n == 0 { &self.steps[0].data } else { &self.inputs[input].meta.shape }
    }

    /// The tensor of an input that is not bound.
    fn tensor<'a>(&self, input: usize, given: Given<'a>) -> Option<TensorRef<'a>> {
        let is_given = |n: &usize| self.inputs[*n].held.is_none();
        let before = (usize::from(given.in_place)..input).filter(is_given).count();
        is_given(&input).then(|| given.inputs[before])
    }

    /// The items of an input under a shape; `None` if they have to be copied for that.
    fn lent<'a>(&'a self, input: usize, given: Given<'a>, shape: &[usize]) -> Option<Lent<'a>> {
        match &self.inputs[input].held {
            Some(Held::Items(items)) => Some(Lent::c_order(items, shape)),
            Some(Held::Places(_)) => None,
            None => self.tensor(input, given)?.lent(shape),
        }
    }

    /// `None` without an index tensor.
    fn places<'a>(&'a self, given: Given<'a>) -> Result<Option<Cow<'a, Places>>> {
        let Some(input) = self.operands.indices else { return Ok(None) };
        if let Some(Held::Places(places)) = &self.inputs[input].held {
            return Ok(Some(Cow::Borrowed(places)));
        }
        let tensor = self.tensor(input, given).expect("bound indices are places");
        let items = tensor.as_c_order().map_or_else(|| tensor.to_vec().map(Cow::Owned), |items| Ok(items.into()))?;
        self.resolve_places(tensor.dtype(), &items).map(|places| Some(Cow::Owned(places)))
    }

    /// `inputs` are those that are not bound, from number `first` on.
    fn check_inputs(&self, inputs: &[TensorRef<'_>], first: usize) -> Result<()> {
        let refuse = |message| Err(Error::new(Subject::Argument("inputs"), message));
        if let Some(input) = self.unbound {
            return refuse(format!("input {input} has to be bound before the kernel is applied"));
        }
        let expected = || self.inputs[first..self.given.max(first)].iter().filter(|input| input.held.is_none());
        if inputs.len() != expected().count() {
            let found = counted(inputs.len(), "input", "inputs");
            return refuse(format!("{found}, expected {}", expected().count()));
        }
        for (found, expected) in inputs.iter().zip(expected()) {
            check_as_resolved(expected.subject, &expected.meta, found.dtype(), found.shape())?;
        }
        Ok(())
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
        let updates = self.operands.updates.map_or(0, |n| self.inputs[n].meta.bytes());
        self.apply_in_place_on(threads_for(threads, updates), data, others)
    }

    pub(super) fn apply_in_place_on(
        &self,
        threads: usize,
        data: TensorMut<'_>,
        others: &[TensorRef<'_>],
    ) -> Result<()> {
        if self.unbound.is_some() {
            return self.check_inputs(others, 1);
        }
        if !self.changes_data() || self.operands.data != [0] || self.inputs[0].held.is_some() {
            let message = "an operator that moves items cannot be applied in place";
            return Err(Error::from_kind(ErrorKind::Unsupported, message));
        }
        check_as_resolved(Subject::Data, &self.inputs[0].meta, data.dtype(), data.shape())?;
        self.check_inputs(others, 1)?;
        self.run_on(threads, Given { inputs: others, in_place: true }, data)
    }
}

/// The tensors that a kernel is applied to, without the data if that is changed in place.
#[derive(Clone, Copy)]
struct Given<'a> {
    inputs: &'a [TensorRef<'a>],
    in_place: bool,
}

fn threads_for(most: usize, bytes: usize) -> usize {
    Threads::new(NonZero::new(most)).for_bytes(bytes)
}

/// Replaces the items of a slice of `data` that satisfy a condition by `item`, and returns how many were replaced.
/// `item`, and the value of the condition, are the bytes of an item of the dtype of `data`.
///
/// ```
/// use tensorop_kernels::kernel::{TensorMut, replace_where};
/// use tensorop_kernels::{Condition, DType};
/// let mut text = *b"ab--cd--";
/// let dtype = DType::parse("S2")?;
/// let mut data = TensorMut::new(&dtype, &[4], &mut text)?;
/// assert_eq!(replace_where(&mut data, &Condition::Equal(b"--".to_vec()), b"xy", &":3".parse()?)?, 1);
/// assert_eq!(text, *b"abxycd--");
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
///
/// # Errors
/// The slice does not fit, `item` or a value has another length ([`Subject::Fill`]), the dtype has no such condition, or
/// there is no memory for the items of the slice. Then `data` is unchanged.
pub fn replace_where(
    data: &mut TensorMut<'_>,
    condition: &Condition<Vec<u8>>,
    item: &[u8],
    args: &SliceArgs,
) -> Result<usize> {
    let (places, matcher) = replacement(&data.as_ref().meta(), condition, item, args)?;
    let mut replaced = 0;
    let shape = data.layout.shape;
    data.lend().with_view(shape, true, |bytes, view| {
        let place = view.select(places.spans());
        if place.items() > 0 {
            let label = Subject::Data.to_string();
            replaced = matcher.replace_at(&place, item, bytes, &mut Buffer::default(), &label)?;
        }
        Ok(())
    })?;
    Ok(replaced)
}

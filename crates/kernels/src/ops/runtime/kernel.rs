//! Kernels: resolved calls that are applied to buffers of the caller.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bytes::{self, PartPlan};
use super::{TensorRef, check_shape};
use crate::error::{Error, Result, Subject};
use crate::item::dtype::DType;
use crate::item::meta::{Meta, Order};
use crate::layout::window::Window;
use crate::ops::call::Resolved;
use crate::ops::call::nodes::{Node, NodeInput, PlanOperand, Stop};
use crate::ops::kernels::Places;
use crate::ops::reduction::Repeats;

/// Numbers kernels.
static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// A [`Call`](super::super::call::Call) whose inputs are known by dtype and shape: everything is checked but the values of
/// an index tensor.
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
    pub(super) inputs: Vec<KernelInput>,
    /// The inputs that were inferred with; tensors that a node makes of its lists follow.
    pub(super) given: usize,
    pub(super) operands: Operands,
    /// At least one, unless an input is unbound.
    pub(super) steps: Vec<Step>,
    pub(super) output: Meta,
    pub(super) repeats: Repeats,
    pub(super) node: Option<Box<Node>>,
    pub(super) unbound: Option<usize>,
    /// The places without a source have this item.
    pub(super) item: Vec<u8>,
    pub(super) whole: Part,
    /// Is that of its parts.
    pub(super) number: u64,
    /// The outputs of all steps but the last.
    pub(super) between: Mutex<[Vec<u8>; 2]>,
}

#[derive(Debug)]
pub(super) struct KernelInput {
    pub(super) meta: Meta,
    pub(super) subject: Subject,
    pub(super) held: Option<Held>,
}

/// A bound input.
#[derive(Debug)]
pub(super) enum Held {
    Items(Vec<u8>),
    Places(Box<Places>),
}

impl KernelInput {
    pub(super) fn new(meta: Meta, subject: Subject) -> Self {
        Self { meta, subject, held: None }
    }
}

/// The operands of the steps, as numbers of inputs.
#[derive(Debug, Default)]
pub(super) struct Operands {
    /// Of the first step.
    pub data: Vec<usize>,
    pub indices: Option<usize>,
    pub updates: Option<usize>,
}

/// A resolved call that does more than rename.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) resolved: Resolved,
    /// The shape that it sees its data in; that of each operand of a concat is its own.
    pub(super) data: Vec<usize>,
    pub(super) output: Vec<usize>,
}

/// A part of an output that is filled on its own: a box of places, whose items follow each other in C order.
#[derive(Debug, Default)]
pub struct Part {
    pub(super) kernel: u64,
    pub(super) first: usize,
    pub(super) bytes: usize,
    pub(super) shape: Vec<usize>,
    pub(super) plan: PartPlan,
}

impl Part {
    /// The bytes of the part in an output in C order.
    pub fn bytes(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.bytes
    }

    /// The dims of the part.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }
}

impl Kernel {
    fn of_inputs(inputs: Vec<KernelInput>, node: Option<Box<Node>>, repeats: Repeats) -> Self {
        Self {
            given: inputs.len(),
            inputs,
            operands: Operands::default(),
            steps: Vec::new(),
            output: Meta::c_order(DType::UINT8, vec![0]),
            repeats,
            node,
            unbound: None,
            item: Vec::new(),
            whole: Part::default(),
            number: 0,
            between: Mutex::default(),
        }
    }

    pub(super) fn new(inputs: Vec<KernelInput>, operands: Operands, step: (Resolved, Meta), repeats: Repeats) -> Self {
        let mut kernel = Self { operands, ..Self::of_inputs(inputs, None, repeats) };
        kernel.take_steps(vec![step]);
        kernel
    }

    /// Drops the steps that only rename. A kernel of renames alone copies.
    fn take_steps(&mut self, steps: Vec<(Resolved, Meta)>) {
        let mut data = self.inputs[self.operands.data[0]].meta.shape.clone();
        self.output = steps.last().expect("a kernel has a call").1.clone();
        self.item = self.output.dtype.default_item();
        for (resolved, output) in steps {
            if matches!(resolved, Resolved::Gathered(_)) {
                // as the specification has it, not the default item of dates
                self.item.fill(0);
            }
            let output = output.shape;
            if !bytes::renames(&resolved, &data) {
                self.steps.push(Step { resolved, data, output: output.clone() });
            }
            data = output;
        }
        if self.steps.is_empty() {
            let (resolved, given) =
                (Resolved::Reshaped(data.clone()), self.inputs[self.operands.data[0]].meta.shape.clone());
            self.steps.push(Step { resolved, data: given, output: data });
        }
        self.number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        self.whole = self.part(Window::whole(&self.last().output));
    }

    pub(super) fn of_node(node: Node, inputs: &[Meta]) -> Result<Self> {
        let label = |n| {
            Subject::Argument(
                ["input 0", "input 1", "input 2", "input 3", "input 4"].get(n).copied().unwrap_or("input"),
            )
        };
        let inputs = inputs.iter().enumerate().map(|(n, meta)| KernelInput::new(meta.clone(), label(n)));
        let mut kernel = Self::of_inputs(inputs.collect(), Some(Box::new(node)), Repeats::LastWins);
        kernel.plan_node()?;
        Ok(kernel)
    }

    /// Plans the node if all inputs are known that decide about its shape.
    fn plan_node(&mut self) -> Result<()> {
        let Some(node) = &self.node else { return Ok(()) };
        let places = node.places(self.given);
        let input = |n: usize| {
            let KernelInput { meta, held, .. } = &self.inputs[n];
            let items = if let Some(Held::Items(items)) = held { Some(&items[..]) } else { None };
            NodeInput { meta, items }
        };
        let given: Vec<_> = places.iter().map(|place| place.map(input)).collect();
        let number = |place: usize| places[place].expect("an input that was taken");
        let plan = match node.plan(&given) {
            Ok(plan) => plan,
            Err(Stop::Refused(error)) => return Err(error),
            Err(Stop::Unbound(place)) => {
                self.unbound = Some(number(place));
                return Ok(());
            }
        };
        let mut operands = Operands { data: plan.data.into_iter().map(number).collect(), ..Operands::default() };
        let (mut made, count) = (Vec::new(), self.given);
        let mut operand = |operand| match operand {
            PlanOperand::Input(place) => number(place),
            PlanOperand::Made(tensor) => {
                let (meta, items) = tensor.into_parts();
                made.push(KernelInput { held: Some(Held::Items(items)), ..KernelInput::new(meta, Subject::Indices) });
                count + made.len() - 1
            }
        };
        (operands.indices, operands.updates) = (plan.indices.map(&mut operand), plan.updates.map(&mut operand));
        let metas: Vec<_> = self.inputs.iter().map(|input| input.meta.clone()).collect();
        let others = operands.data[1..].iter().copied().chain(operands.updates.filter(|&n| n < count));
        check_dtypes(&[], &metas, others)?;
        let steps: Vec<_> = plan.steps.into_iter().map(|(call, meta)| (call.resolved, meta)).collect();
        check_input(Subject::Output, &steps.last().expect("a node has a call").1)?;
        // nothing may fail once the kernel is changed
        let indices =
            operands.indices.and_then(|n| Some((n, self.inputs.get(n).or_else(|| made.get(n - self.inputs.len()))?)));
        let places = match indices {
            Some((n, KernelInput { meta, held: Some(Held::Items(items)), .. })) => {
                let places = places_of(steps.iter().map(|(resolved, _)| resolved), &meta.dtype, items, self.repeats)?;
                Some((n, Held::Places(Box::new(places))))
            }
            _ => None,
        };
        self.inputs.extend(made);
        if let Some((n, places)) = places {
            self.inputs[n].held = Some(places);
        }
        (self.operands, self.unbound, self.node) = (operands, None, None);
        self.take_steps(steps);
        Ok(())
    }

    /// Resolves bound indices.
    fn hold_places(&mut self) -> Result<()> {
        let Some(n) = self.operands.indices else { return Ok(()) };
        let KernelInput { meta, held: Some(Held::Items(items)), .. } = &self.inputs[n] else { return Ok(()) };
        let places = self.resolve_places(&meta.dtype, items)?;
        self.inputs[n].held = Some(Held::Places(Box::new(places)));
        Ok(())
    }

    pub(super) fn resolve_places(&self, dtype: &DType, items: &[u8]) -> Result<Places> {
        places_of(self.steps.iter().map(|step| &step.resolved), dtype, items, self.repeats)
    }

    pub(super) fn last(&self) -> &Step {
        self.steps.last().expect("a bound kernel has a step")
    }

    /// The dtype of the output.
    pub fn dtype(&self) -> &DType {
        &self.output.dtype
    }

    /// The shape of the output; `[0]` while an input is [unbound](Self::unbound).
    pub fn shape(&self) -> &[usize] {
        &self.output.shape
    }

    /// The bytes of the output.
    pub fn bytes(&self) -> usize {
        self.output.bytes()
    }

    /// Dtype and shape of the output, as an input of the next [`Call::infer`](super::super::call::Call::infer).
    pub fn meta(&self) -> &Meta {
        &self.output
    }

    /// The number of the first input that has to be [bound](Self::bind) before the kernel can be applied: lists that decide
    /// about the shape of the output or about the places of items (starts, pads, a shape, an axis, a shift). Only a node has
    /// such inputs.
    pub fn unbound(&self) -> Option<usize> {
        self.unbound
    }

    /// Whether the operator changes items of its data, so that [`apply_in_place`](Self::apply_in_place) can do without
    /// another buffer.
    pub fn changes_data(&self) -> bool {
        matches!(&self.steps[..], [step] if step.resolved.changes_data())
    }

    /// Whether the output is the data under another shape, or the same, item by item in C order: a runtime can lend the
    /// buffer of the data and copy nothing.
    ///
    /// ```
    /// use tensorop_kernels::kernel::Call;
    /// use tensorop_kernels::{DType, Meta, NewShape};
    /// let data = [Meta::new(DType::INT8, vec![2, 1, 3])?];
    /// let is_view = |call: Call| call.infer(&data).unwrap().is_view();
    /// assert!(is_view(Call::Reshape(NewShape::Dims(vec![3, -1]))));
    /// assert!(is_view(Call::Transpose { axes: Some(vec![1, 0, 2]) }));
    /// assert!(is_view(Call::Slice(":2".parse()?)) && !is_view(Call::Slice(":1".parse()?)));
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    pub fn is_view(&self) -> bool {
        matches!(&self.steps[..], [Step { resolved: Resolved::Reshaped(_), .. }])
    }

    /// Binds an input, by its number in [`infer`](super::super::call::Call::infer), to items that stay the same. Indices
    /// are resolved here, once; a list decides about the shape of the output; other items are copied. The tensors that are
    /// applied later are the inputs that are not bound, in order.
    ///
    /// A kernel with bound indices and lists allocates nothing when it is applied on one thread to tensors of at most eight
    /// axes. Two cases allocate: the sums of a mean or of a reduction without the old items, and a copy of operands whose
    /// strides are odd (not in whole items).
    ///
    /// ```
    /// use tensorop_kernels::kernel::{Call, TensorMut, TensorRef};
    /// use tensorop_kernels::{DType, Meta};
    /// let byte = DType::UINT8;
    /// let mut kernel = Call::gather(0).infer(&[Meta::new(byte.clone(), vec![4])?, Meta::new(byte.clone(), vec![2])?])?;
    /// kernel.bind(1, &TensorRef::new(&byte, &[2], &[3, 1])?)?;
    /// let mut out = [0; 2];
    /// for data in [[0, 1, 2, 3], [4, 5, 6, 7]] {
    ///     let data = TensorRef::new(&byte, &[4], &data)?;
    ///     kernel.apply(&[data], TensorMut::new(&byte, &[2], &mut out)?, 1)?;
    /// }
    /// assert_eq!(out, [7, 5]);
    /// # Ok::<(), tensorop_kernels::Error>(())
    /// ```
    ///
    /// # Errors
    /// The number is too large, the input is bound already, or the tensor has another dtype or shape than the inferred
    /// input; an index is out of range; the node refuses a list. Then the kernel is unchanged. Memory is exhausted.
    pub fn bind(&mut self, input: usize, tensor: &TensorRef<'_>) -> Result<()> {
        let refuse = |message| Err(Error::new(Subject::Argument("input"), message));
        let Some(KernelInput { meta, subject, held }) = self.inputs[..self.given].get(input) else {
            return refuse(format!("{input}, expected less than {}", self.given));
        };
        if held.is_some() {
            return refuse(format!("{input} is bound already"));
        }
        check_as_resolved(*subject, meta, tensor.dtype(), tensor.shape())?;
        let items = tensor.to_vec()?;
        self.inputs[input].held = Some(Held::Items(items));
        let done = self.plan_node().and_then(|()| self.hold_places());
        if done.is_err() {
            self.inputs[input].held = None;
        }
        done
    }
}

/// Resolves the indices of the step that takes them.
fn places_of<'a>(
    mut steps: impl Iterator<Item = &'a Resolved>,
    dtype: &DType,
    items: &[u8],
    repeats: Repeats,
) -> Result<Places> {
    let spec = steps.find_map(|step| match step {
        Resolved::Scattered(spec, _) | Resolved::Gathered(spec) => Some(spec.clone()),
        _ => None,
    });
    let spec = spec.expect("a kernel with indices has a step that takes them");
    let places = Places::from_bytes(spec, dtype, items)?;
    if repeats == Repeats::Refused {
        places.refuse_repeats()?;
    }
    Ok(places)
}

pub(super) fn check_as_resolved(subject: Subject, expected: &Meta, dtype: &DType, shape: &[usize]) -> Result<()> {
    if (dtype, shape) == (&expected.dtype, &expected.shape[..]) {
        return Ok(());
    }
    let message = format!("{dtype} {shape:?}, expected {} {:?} as resolved", expected.dtype, expected.shape);
    Err(Error::new(subject, message))
}

pub(super) fn subject(names: &[&str], n: usize) -> Subject {
    match names.get(n).copied() {
        None => Subject::Operand(n),
        Some("indices") => Subject::Indices,
        Some("updates") => Subject::Updates,
        Some("item") => Subject::Fill,
        Some(_) => Subject::Data,
    }
}

/// # Errors
/// One of `others` has another dtype than the data.
pub(super) fn check_dtypes(names: &[&str], inputs: &[Meta], others: impl IntoIterator<Item = usize>) -> Result<()> {
    let dtype = &inputs[0].dtype;
    let Some(n) = others.into_iter().find(|&n| inputs[n].dtype != *dtype) else { return Ok(()) };
    let message = format!("dtype {}, expected {dtype} as in data", inputs[n].dtype);
    Err(Error::new(subject(names, n), message))
}

pub(super) fn check_input(subject: Subject, meta: &Meta) -> Result<()> {
    if meta.order != Order::C {
        return Err(Error::new(subject, "Fortran order, expected C order"));
    }
    check_shape(&meta.dtype, &meta.shape, subject).map(drop)
}

//! The operators that cases may ask for, by specification, name and version, and how a case becomes one of them: the same
//! checks and the same linked operator as on the command line.
//!
//! Attributes and inputs are taken one by one, and what is left over in the end is something that this version of the
//! operator does not have here: such a case is unsupported, and never half understood.

use super::arguments::{Arguments, Made, list_of, missing, unsupported};
use super::case::{Case, Specification};
use crate::engine::job::Job;
use crate::error::{Context, Error, Result, Subject};
use crate::format::onnx::model::AttributeValue;
use crate::item::dtype::DType;
use crate::item::tensor::Tensor;
use crate::layout::axis::Clamping;
use crate::memory;
use crate::ops::concat::{self, Joining};
use crate::ops::converted::Converted;
use crate::ops::fill::{Fill, Limits};
use crate::ops::gather;
use crate::ops::gather_elements;
use crate::ops::gather_nd;
use crate::ops::indexed::{IndexSpec, LinkedGather, OutOfRange, ScatterOperands, ScatterRule};
use crate::ops::reduction::{Reduction, Repeats};
use crate::ops::reshape::{self, NewShape};
use crate::ops::scatter_elements;
use crate::ops::scatter_nd;
use crate::ops::scatter_update;
use crate::ops::selection::Selection;
use crate::ops::slice::SliceArgs;
use crate::ops::slice_scatter::SliceScatter;
use crate::ops::tally::Application;
use crate::ops::transpose;
use crate::storage::conversion::Conversion;
use crate::storage::source::Source;

/// Takes what an operator of a version needs, makes all its checks, and links it.
type Link = fn(&mut Arguments<'_>, u64) -> Made<Box<dyn Fill>>;

/// An operator of a specification.
struct Row {
    specification: Specification,
    name: &'static str,
    /// The versions, in ascending order.
    versions: &'static [u64],
    link: Link,
}

const fn onnx(name: &'static str, versions: &'static [u64], link: Link) -> Row {
    Row { specification: Specification::Onnx, name, versions, link }
}

const fn openvino(name: &'static str, versions: &'static [u64], link: Link) -> Row {
    Row { specification: Specification::OpenVino, name, versions, link }
}

/// The operators that cases may ask for.
static ROWS: &[Row] = &[
    onnx("Slice", &[1, 10, 11, 13], |arguments, version| match version {
        1 => arguments.slice_by_attributes(),
        _ => arguments.slice(Clamping::Onnx, true),
    }),
    openvino("Slice", &[8], |arguments, _| arguments.slice(Clamping::Python, false)),
    openvino("SliceScatter", &[15], |arguments, _| arguments.slice_scatter()),
    openvino("ScatterUpdate", &[3], |arguments, _| arguments.scatter_update()),
    onnx("ScatterND", &[11, 13, 16, 18], |arguments, version| arguments.scatter_nd(Some(version), &ONNX_REDUCTIONS)),
    openvino("ScatterNDUpdate", &[3], |arguments, _| arguments.scatter_nd(None, &[])),
    openvino("ScatterNDUpdate", &[15], |arguments, _| arguments.scatter_nd(None, &OPENVINO_REDUCTIONS)),
    onnx("GatherND", &[11, 12, 13], |arguments, version| arguments.gather_nd(version >= 12)),
    openvino("GatherND", &[5], |arguments, _| arguments.gather_nd_5()),
    openvino("GatherND", &[8], |arguments, _| arguments.gather_nd(true)),
    onnx("Gather", &[1, 11, 13], |arguments, _| {
        let (data, indices) = (arguments.tensor("data")?, arguments.indices("indices")?);
        let axis = arguments.int("axis")?.unwrap_or(0);
        gathered(gather::check(data.shape(), indices.shape(), axis, 0, OutOfRange::Error)?, data, indices)
    }),
    openvino("Gather", &[1, 7, 8], |arguments, version| arguments.gather(version)),
    onnx("GatherElements", &[11, 13], |arguments, _| {
        let (data, indices) = (arguments.tensor("data")?, arguments.indices("indices")?);
        let axis = arguments.int("axis")?.unwrap_or(0);
        gathered(gather_elements::check(data.shape(), indices.shape(), axis)?, data, indices)
    }),
    openvino("GatherElements", &[6], |arguments, _| {
        let (data, indices) = (arguments.tensor("data")?, arguments.indices("indices")?);
        let axis = arguments.int("axis")?.ok_or_else(|| missing("axis"))?;
        gathered(gather_elements::check(data.shape(), indices.shape(), axis)?, data, indices)
    }),
    onnx("Concat", &[4, 11, 13], |arguments, _| arguments.concat()),
    openvino("Concat", &[1], |arguments, _| arguments.concat()),
    onnx("ConcatFromSequence", &[11], |arguments, _| {
        let operands = arguments.sequence("sequence")?;
        let is_new = arguments.int("new_axis")?.unwrap_or(0) != 0;
        arguments.join(operands, if is_new { Joining::Stacked } else { Joining::Along })
    }),
    onnx("Scatter", &[9], |arguments, version| arguments.scatter_elements(version)),
    onnx("ScatterElements", &[11, 13, 16, 18], |arguments, version| arguments.scatter_elements(version)),
    openvino("ScatterElementsUpdate", &[3], |arguments, _| arguments.scatter_elements_update(false)),
    openvino("ScatterElementsUpdate", &[12], |arguments, _| arguments.scatter_elements_update(true)),
    onnx("Transpose", &[1, 13, 21, 23, 24, 25], |arguments, _| {
        let (data, axes) = (arguments.tensor("data")?, arguments.ints("perm")?);
        let axes = transpose::check(data.shape(), axes.as_deref())?;
        Ok(Box::new(Selection::transposed(data, &axes)))
    }),
    onnx("Reshape", &[5, 13, 14, 19, 21, 23, 24, 25], |arguments, version| {
        let allowzero = if version >= 14 { arguments.int("allowzero")? } else { None };
        arguments.reshape(allowzero.unwrap_or(0) == 0)
    }),
    openvino("Reshape", &[1], |arguments, _| {
        let special_zero = arguments.int("special_zero")?.unwrap_or(0);
        arguments.reshape(special_zero != 0)
    }),
    onnx("Squeeze", &[1, 11, 13, 21, 23, 24, 25], |arguments, version| {
        let data = arguments.tensor("data")?;
        let axes = arguments.axes(version < 13)?;
        reshaped(data, &NewShape::Squeeze(axes))
    }),
    openvino("Squeeze", &[0], |arguments, _| {
        let (data, axes) = (arguments.tensor("data")?, arguments.axes(false)?);
        reshaped(data, &NewShape::Squeeze(axes))
    }),
    onnx("Unsqueeze", &[1, 11, 13, 21, 23, 24, 25], |arguments, version| {
        let data = arguments.tensor("data")?;
        let axes = arguments.axes(version < 13)?.ok_or_else(|| missing("axes"))?;
        reshaped(data, &NewShape::Unsqueeze(axes))
    }),
    openvino("Unsqueeze", &[0], |arguments, _| {
        let data = arguments.tensor("data")?;
        let axes = arguments.axes(false)?.ok_or_else(|| missing("axes"))?;
        reshaped(data, &NewShape::Unsqueeze(axes))
    }),
    onnx("Flatten", &[1, 9, 11, 13, 21, 23, 24, 25], |arguments, _| {
        let (data, axis) = (arguments.tensor("data")?, arguments.int("axis")?.unwrap_or(1));
        reshaped(data, &NewShape::Flatten(axis))
    }),
    openvino("Transpose", &[1], |arguments, _| {
        let (data, axes) = (arguments.tensor("data")?, arguments.list("axes")?);
        let axes = transpose::check(data.shape(), Some(&axes))?;
        Ok(Box::new(Selection::transposed(data, &axes)))
    }),
];

/// Finds an operator and its version: of ONNX the newest that is not above an opset, of OpenVINO the very one.
fn find(specification: Specification, name: &str, version: u64) -> Option<(&'static Row, u64)> {
    let named = ROWS.iter().filter(|row| row.specification == specification && row.name == name);
    let mut versions = named.flat_map(|row| row.versions.iter().map(move |&known| (row, known)));
    match specification {
        Specification::Onnx => versions.rfind(|(_, known)| *known <= version),
        Specification::OpenVino => versions.find(|(_, known)| *known == version),
    }
}

/// Returns the version of an operator that a version or an opset means; `None` if the operator is not known.
pub(super) fn version_of(specification: Specification, name: &str, version: u64) -> Option<u64> {
    find(specification, name, version).map(|(_, version)| version)
}

/// Returns the output of a case's operator.
pub(crate) fn output(case: &Case) -> Made<Tensor> {
    let Some((row, version)) = find(case.specification, &case.operator, case.version) else {
        return unsupported(format_args!("{} {}-{}", case.specification.name(), case.operator, case.version));
    };
    let mut arguments = Arguments::of(case);
    let fill = (row.link)(&mut arguments, version)?;
    arguments.finish()?;
    Ok(run(fill)?)
}

/// Fills the whole output of an operator, window by window.
fn run(fill: Box<dyn Fill>) -> Result<Tensor> {
    let job = Job::new(fill, Limits::default())?;
    let meta = job.meta().clone();
    let mut bytes = memory::of(meta.bytes()).context("output")?;
    job.stream(&|_| {}, &mut |items| {
        bytes.extend_from_slice(items);
        Ok(())
    })?;
    Tensor::new(meta.dtype, meta.shape, bytes)
}

impl Arguments<'_> {
    /// Slice-8 and ONNX's Slice from version 10 on, whose steps may be left out.
    fn slice(&mut self, clamping: Clamping, may_lack_steps: bool) -> Made<Box<dyn Fill>> {
        let data = self.tensor("data")?;
        let args = SliceArgs::new(&self.list("start")?, &self.list("stop")?)?;
        let (args, axes) = match may_lack_steps {
            true => {
                let axes = self.optional_list("axes")?;
                (self.optional_list("steps")?.map_or(Ok(args.clone()), |steps| args.with_steps(&steps))?, axes)
            }
            false => (args.with_steps(&self.list("step")?)?, self.optional_list("axes")?),
        };
        let args = axes.map_or(Ok(args.clone()), |axes| args.with_axes(&axes))?;
        let spans = args.resolve_by(data.shape(), clamping)?;
        Ok(Box::new(Selection::slice(data, &spans)))
    }

    /// ONNX's Slice before version 10, whose lists are attributes.
    fn slice_by_attributes(&mut self) -> Made<Box<dyn Fill>> {
        let data = self.tensor("data")?;
        let start = self.ints("starts")?.ok_or_else(|| missing("starts"))?;
        let stop = self.ints("ends")?.ok_or_else(|| missing("ends"))?;
        let args = SliceArgs::new(&start, &stop)?;
        let args = self.ints("axes")?.map_or(Ok(args.clone()), |axes| args.with_axes(&axes))?;
        let spans = args.resolve_by(data.shape(), Clamping::Onnx)?;
        Ok(Box::new(Selection::slice(data, &spans)))
    }

    /// Reshape, whose zeros copy dims of the data or stay.
    fn reshape(&mut self, zero_copies: bool) -> Made<Box<dyn Fill>> {
        let (data, dims) = (self.tensor("data")?, self.list("shape")?);
        reshaped(data, &if zero_copies { NewShape::Dims(dims) } else { NewShape::DimsWithZero(dims) })
    }

    /// Returns the axes that are an attribute in older versions, and an input in newer ones, where one alone need not be a
    /// list.
    fn axes(&mut self, by_attribute: bool) -> Made<Option<Vec<i64>>> {
        match by_attribute {
            true => self.ints("axes"),
            false => {
                let Some(source) = self.optional("axes")? else { return Ok(None) };
                Ok(Some(list_of(source, 0)?))
            }
        }
    }

    fn slice_scatter(&mut self) -> Made<Box<dyn Fill>> {
        let (data, updates) = (self.tensor("data")?, self.tensor("updates")?);
        let args = SliceArgs::new(&self.list("start")?, &self.list("stop")?)?.with_steps(&self.list("step")?)?;
        let args = self.optional_list("axes")?.map_or(Ok(args.clone()), |axes| args.with_axes(&axes))?;
        let places = SliceScatter::resolve(data.shape(), &args, Some(updates.shape()))?;
        let updates = updates_of(updates, data.dtype())?;
        Ok(Box::new(places.link(Selection::whole(data), updates)))
    }

    fn scatter_update(&mut self) -> Made<Box<dyn Fill>> {
        let operands = Scattered::of(self)?;
        let Scattered { data, indices, updates } = &operands;
        let axis = self.number("axis")?;
        let shapes = scatter_update::check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
        operands.link(shapes, Reduction::None, true)
    }

    /// ScatterND of a version of ONNX, or ScatterNDUpdate with the reductions that its version names.
    fn scatter_nd(&mut self, opset: Option<u64>, reductions: &[(&str, Reduction)]) -> Made<Box<dyn Fill>> {
        let operands = Scattered::of(self)?;
        let Scattered { data, indices, updates } = &operands;
        let reduction = self.reduction(reductions)?;
        if let Some(opset) = opset {
            scatter_nd::check_opset(opset, reduction, data.dtype())?;
        }
        let shapes = scatter_nd::check(data.shape(), indices.shape(), Some(updates.shape()))?;
        operands.link(shapes, reduction, true)
    }

    /// ScatterElements of a version of ONNX, the first of which was called Scatter.
    fn scatter_elements(&mut self, opset: u64) -> Made<Box<dyn Fill>> {
        let operands = Scattered::of(self)?;
        let Scattered { data, indices, updates } = &operands;
        let reduction = self.reduction(&ONNX_REDUCTIONS)?;
        scatter_elements::check_opset(opset, reduction, data.dtype())?;
        let axis = self.int("axis")?.unwrap_or(0);
        let shapes = scatter_elements::check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
        operands.link(shapes, reduction, true)
    }

    /// ScatterElementsUpdate, which knows reductions and negative indices from version 12 on.
    fn scatter_elements_update(&mut self, has_reductions: bool) -> Made<Box<dyn Fill>> {
        let operands = Scattered::of(self)?;
        let Scattered { data, indices, updates } = &operands;
        let axis = self.number("axis")?;
        let (reduction, has_initial) = match has_reductions {
            true => (self.reduction(&ELEMENTS_REDUCTIONS)?, self.int("use_init_val")?.unwrap_or(1) != 0),
            false => (Reduction::None, true),
        };
        let mut shapes = scatter_elements::check(data.shape(), indices.shape(), Some(updates.shape()), axis)?;
        if !has_reductions {
            shapes = shapes.without_negative_numbers();
        }
        operands.link(shapes, reduction, has_initial)
    }

    /// Returns the reduction that is asked for; which version allows which is not decided here.
    fn reduction(&mut self, known: &[(&str, Reduction)]) -> Made<Reduction> {
        // an operator that has no such attribute leaves it over
        if known.is_empty() {
            return Ok(Reduction::None);
        }
        let Some(name) = self.text("reduction")? else { return Ok(Reduction::None) };
        let found = known.iter().find(|(known, _)| *known == name);
        let unknown = || Error::new(Subject::Reduction, format!("{name:?} is unknown"));
        Ok(found.ok_or_else(unknown)?.1)
    }

    /// Concat, all of whose inputs are operands.
    fn concat(&mut self) -> Made<Box<dyn Fill>> {
        let mut operands = Vec::new();
        while self.has_more() {
            operands.push(self.tensor("data")?);
        }
        self.join(operands, Joining::Along)
    }

    /// Puts tensors one after the other along the axis that an attribute names.
    fn join(&mut self, operands: Vec<Source>, joining: Joining) -> Made<Box<dyn Fill>> {
        let axis = self.int("axis")?.ok_or_else(|| missing("axis"))?;
        let shapes: Vec<_> = operands.iter().map(Source::shape).collect();
        let joined = concat::check(&shapes, axis, joining)?;
        Ok(Box::new(joined.link(operands)?))
    }

    /// Gather of OpenVINO: version 1 knows neither batches nor numbers that are negative or out of range, and the others
    /// give zeros for the latter.
    fn gather(&mut self, version: u64) -> Made<Box<dyn Fill>> {
        let (data, indices) = (self.tensor("data")?, self.indices("indices")?);
        let axis = self.number("axis")?;
        let shapes = match version {
            1 => gather::check(data.shape(), indices.shape(), axis, 0, OutOfRange::Error)?.without_negative_numbers(),
            _ => {
                let batch_dims = self.int("batch_dims")?.unwrap_or(0);
                gather::check(data.shape(), indices.shape(), axis, batch_dims, OutOfRange::Zero)?
            }
        };
        gathered(shapes, data, indices)
    }

    /// GatherND-5, whose output has one axis in the place of those of the batches.
    fn gather_nd_5(&mut self) -> Made<Box<dyn Fill>> {
        let batch_dims = match self.attributes.get("batch_dims") {
            Some(AttributeValue::Int(number)) => usize::try_from(*number).unwrap_or(0),
            _ => 0,
        };
        let gathered = run(self.gather_nd(true)?)?;
        let dims = |dims: &[usize]| dims.iter().map(|&dim| dim as i64).collect::<Vec<_>>();
        let (batches, rest) = gathered.shape().split_at(batch_dims);
        let merged = match batches.len() {
            0 => Vec::new(),
            _ => vec![batches.iter().product::<usize>()],
        };
        let shape = NewShape::DimsWithZero([dims(&merged), dims(rest)].concat());
        reshaped(Source::memory(gathered, "output".to_owned()), &shape)
    }

    fn gather_nd(&mut self, has_batches: bool) -> Made<Box<dyn Fill>> {
        let (data, indices) = (self.tensor("data")?, self.indices("indices")?);
        let batch_dims = if has_batches { self.int("batch_dims")?.unwrap_or(0) } else { 0 };
        gathered(gather_nd::check(data.shape(), indices.shape(), batch_dims)?, data, indices)
    }
}

/// The reductions that ONNX names.
const ONNX_REDUCTIONS: [(&str, Reduction); 5] = [
    ("none", Reduction::None),
    ("add", Reduction::Add),
    ("mul", Reduction::Mul),
    ("max", Reduction::Max),
    ("min", Reduction::Min),
];

/// The reductions that OpenVINO names.
const OPENVINO_REDUCTIONS: [(&str, Reduction); 6] = [
    ("none", Reduction::None),
    ("sum", Reduction::Add),
    ("sub", Reduction::Sub),
    ("prod", Reduction::Mul),
    ("max", Reduction::Max),
    ("min", Reduction::Min),
];

/// The reductions that OpenVINO names for elements.
const ELEMENTS_REDUCTIONS: [(&str, Reduction); 6] = [
    ("none", Reduction::None),
    ("sum", Reduction::Add),
    ("prod", Reduction::Mul),
    ("max", Reduction::Max),
    ("min", Reduction::Min),
    ("mean", Reduction::Mean),
];

/// The operands of a scatter by indices.
struct Scattered {
    data: Source,
    indices: Source,
    updates: Source,
}

impl Scattered {
    /// Takes the first three inputs.
    fn of(arguments: &mut Arguments<'_>) -> Made<Self> {
        let (data, indices) = (arguments.tensor("data")?, arguments.indices("indices")?);
        Ok(Self { data, indices, updates: arguments.tensor("updates")? })
    }

    /// Links the scatter.
    fn link(self, shapes: IndexSpec, reduction: Reduction, has_initial: bool) -> Made<Box<dyn Fill>> {
        let Self { data, indices, updates } = self;
        let updates = updates_of(updates, data.dtype())?;
        let application = Application::new(data.dtype(), reduction, has_initial)?;
        let repeats = if reduction == Reduction::None { Repeats::LastWins } else { Repeats::Combined };
        let operands = ScatterOperands { base: Selection::whole(data), indices, updates };
        Ok(Box::new(shapes.link(operands, ScatterRule { repeats, application }, Limits::default())?))
    }
}

/// Makes updates of a tensor, whose items must be those of data of that dtype.
fn updates_of(updates: Source, dtype: &DType) -> Result<Converted> {
    let conversion = Conversion::new(updates.dtype(), dtype).ok_or_else(|| {
        let message = format!("dtype {}, expected {} as in data", updates.dtype().name(), dtype.name());
        Error::new(Subject::Updates, message)
    })?;
    Ok(Converted::new(updates, conversion))
}

/// Links a gather by indices.
fn gathered(shapes: IndexSpec, data: Source, indices: Source) -> Made<Box<dyn Fill>> {
    Ok(Box::new(LinkedGather::new(data, shapes, indices, Limits::default())?))
}

/// Links a tensor whose dims become others.
fn reshaped(data: Source, to: &NewShape) -> Made<Box<dyn Fill>> {
    let shape = to.resolve(data.shape())?;
    Ok(reshape::reshaped(data, shape))
}

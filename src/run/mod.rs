//! From arguments to sources, operator and sink.

mod completions;
mod convert;
mod diff;
mod emit;
mod info;
mod man;
mod meter;
mod operands;

use std::io::{self, IsTerminal, Write};

use anyhow::{Context, Result, anyhow, bail};
use tensorop::diff::Style;
use tensorop::engine::job::{Change, Options, ScatterWindow, Updates};
use tensorop::layout::axis::Span;
use tensorop::layout::view::View;
use tensorop::ops::indexed::{Resolve, Scatter};
use tensorop::ops::reduction::{self, OnBytes, Reduction};
use tensorop::ops::slice::SliceArgs;
use tensorop::ops::{scatter_nd, scatter_update, slice_scatter};
use tensorop::storage::source::Source;

use crate::cli::{self, Command, InputOptions, OnDuplicate, OutputOptions, SliceOptions};
use emit::{Recast, Report, Work, emit};
use operands::Operands;

/// Index tuples of no number take no room, but time: each passes through all bytes of the data.
const MOST_BYTES_PASSED: usize = 1 << 34;

/// What the exit status tells of a run without errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is well.
    Done,
    /// `diff` found a difference.
    Different,
}

/// Does what the user asked for.
pub fn run(command: Command) -> Result<Outcome> {
    match command {
        Command::Slice(args) => slice(&args)?,
        Command::SliceScatter(args) => slice_scatter(&args)?,
        Command::ScatterUpdate(args) => scatter_update(&args)?,
        Command::ScatterNd(args) => scatter_nd(&args)?,
        Command::Diff(args) => return diff::diff(&args),
        Command::Info(args) => info::info(&args)?,
        Command::Convert(args) => convert::convert(&args)?,
        Command::Completions(args) => {
            io::stdout().write_all(completions::script(args.shell)?.as_bytes()).context("standard output")?;
        }
        Command::Man(args) => man::man(args.folder.as_deref())?,
    }
    Ok(Outcome::Done)
}

/// How reports are shown there: whether in colour, and options as they are typed.
fn style(stdout: &io::Stdout) -> Style {
    let unset = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let colour = unset && stdout.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb");
    Style::plain().with_colour(colour).with_option_prefix("--")
}

/// Writes the one tensor that an operator gives.
fn put(work: Work, output: &OutputOptions, quiet: bool, report: Report) -> Result<()> {
    emit(vec![(None, work)], output, quiet, report)
}

fn slice(args: &cli::Slice) -> Result<()> {
    let operands = Operands::new(&args.data, None, None, &args.input, false)?;
    let slices = slice_args(&args.slices, &args.input)?;
    let (data, _) = operands.tensors()?;
    let spans = slices.resolve(data.shape()).map_err(|e| operands.explain(&e))?;
    let mut report = Report::new("slice (OpenVINO Slice-8)");
    report.source(&data);
    report_spans(&mut report, &spans, data.shape());
    let view = data.view().select(&spans);
    let options = args.run.options(false)?;
    put(
        Work { data, view, change: Change::None, options, recast: Recast::default() },
        &args.output,
        args.run.quiet,
        report,
    )
}

fn slice_scatter(args: &cli::SliceScatter) -> Result<()> {
    let options = args.run.options(args.edit.in_place)?;
    let in_place = options.in_place;
    let operands = Operands::new(&args.data, None, args.updates.updates.as_ref(), &args.input, in_place)?;
    let slices = slice_args(&args.slices, &args.input)?;
    let (data, updates) = operands.tensors()?;
    let plan = slice_scatter::SliceScatter::resolve(data.shape(), &slices, updates.as_ref().map(Source::shape));
    let mut plan = plan.map_err(|e| operands.explain(&e))?;
    let mut updates = operands.updates(updates, &args.updates, &data, &plan.updates_shape())?;
    let mut report = Report::new("slice-scatter (OpenVINO SliceScatter-15)");
    report.source(&data);
    report.source(updates.source());
    report_spans(&mut report, plan.spans(), data.shape());
    if in_place && data.is_fortran_order() {
        plan = plan.reversed();
        updates = updates.with_axes(&(0..data.shape().len()).rev().collect::<Vec<_>>());
    }
    let (view, change) = (view(&data, in_place), Change::Slice(plan, updates));
    put(Work { data, view, change, options, recast: Recast::default() }, &args.output, args.run.quiet, report)
}

fn scatter_update(args: &cli::ScatterUpdate) -> Result<()> {
    let mut options = args.run.options(args.edit.in_place)?;
    let in_place = options.in_place;
    let operands =
        Operands::new(&args.data, Some(&args.indices), args.updates.updates.as_ref(), &args.input, in_place)?;
    let axis = operands::axis(&args.axis, &args.input)?;
    let (data, updates) = operands.tensors()?;
    let indices = operands.indices()?;
    let shape = updates.as_ref().map(Source::shape);
    let resolver = scatter_update::Resolver::new(data.shape(), indices.shape(), shape, axis);
    let resolver = resolver.map_err(|e| operands.explain(&e))?;
    let updates = operands.updates(updates, &args.updates, &data, resolver.updates_shape())?;
    let (resolver, window) = take_indices(&operands, &indices, resolver, &data, &updates, &mut options)?;
    let repeats = args.duplicates.on_duplicate != Some(OnDuplicate::Error);
    let scatter = resolver
        .finish(repeats, window.items(&view(&data, in_place).shape(), data.dtype().itemsize()))
        .map_err(|e| operands.explain(&e))?;
    let mut report = Report::new("scatter-update (OpenVINO ScatterUpdate-3)");
    report.source(&data);
    report.source(&indices);
    report.source(updates.source());
    report.line(format!("axis {axis}: {} indices", scatter.count()));
    let work = Work::indexed(data, scatter, updates, None, window, options);
    put(work, &args.output, args.run.quiet, report)
}

fn scatter_nd(args: &cli::ScatterNd) -> Result<()> {
    let reduction = Reduction::from(args.reduction);
    if reduction != Reduction::None && args.duplicates.on_duplicate.is_some() {
        bail!("--on-duplicate: not with --reduction {}, which is meant for repeated indices", reduction.name());
    }
    let mut options = args.run.options(args.edit.in_place)?;
    let in_place = options.in_place;
    let operands =
        Operands::new(&args.data, Some(&args.indices), args.updates.updates.as_ref(), &args.input, in_place)?;
    let (data, updates) = operands.tensors()?;
    scatter_nd::check_opset(args.opset, reduction, data.dtype()).map_err(|e| operands.explain(&e))?;
    let combine = reduction::on_bytes(data.dtype(), reduction).map_err(|e| operands.explain(&e))?;
    let indices = operands.indices()?;
    let shape = updates.as_ref().map(Source::shape);
    let resolver = scatter_nd::Resolver::new(data.shape(), indices.shape(), shape);
    let resolver = resolver.map_err(|e| operands.explain(&e))?;
    let updates = operands.updates(updates, &args.updates, &data, resolver.updates_shape())?;
    let (resolver, window) = take_indices(&operands, &indices, resolver, &data, &updates, &mut options)?;
    let repeats = args.duplicates.on_duplicate != Some(OnDuplicate::Error);
    let scatter = resolver
        .finish(reduction, repeats, window.items(&view(&data, in_place).shape(), data.dtype().itemsize()))
        .map_err(|e| operands.explain(&e))?;
    let mut report = Report::new(&format!("scatter-nd (ONNX ScatterND-{})", scatter_nd::version(args.opset)));
    report.source(&data);
    report.source(&indices);
    report.source(updates.source());
    report.line(format!("reduction {}: {} index tuples", reduction.name(), scatter.count()));
    let passed = scatter.count().saturating_mul(data.bytes().max(1));
    let of_nothing = indices.bytes() == 0 && updates.source().is_one_item() && reduction != Reduction::None;
    if of_nothing && scatter.count() > 1 && passed > MOST_BYTES_PASSED {
        bail!(
            "{}: {} empty tuples, each reducing all of DATA, are too many with --fill",
            indices.label(),
            scatter.count()
        );
    }
    let combine = (reduction != Reduction::None).then_some(combine);
    let work = Work::indexed(data, scatter, updates, combine, window, options);
    put(work, &args.output, args.run.quiet, report)
}

/// What both scatters by indices do between the checks of shapes and the end of the numbers.
fn take_indices<R: Resolve>(
    operands: &Operands<'_>,
    indices: &Source,
    resolver: R,
    data: &Source,
    updates: &Updates,
    options: &mut Options,
) -> Result<(R, ScatterWindow)> {
    let reversed = options.in_place && data.is_fortran_order();
    let mut resolver = if reversed { resolver.reversed() } else { resolver };
    operands.feed(indices, &mut resolver, options.threads)?;
    options.room = indices.bytes();
    let window = ScatterWindow::new(data, updates, resolver.sides(), *options);
    Ok((resolver, window))
}

impl Work {
    /// A scatter by indices.
    fn indexed(
        data: Source,
        scatter: Scatter,
        updates: Updates,
        combine: Option<OnBytes>,
        window: ScatterWindow,
        options: Options,
    ) -> Self {
        let updates = match scatter.updates_axes() {
            Some(axes) => updates.with_axes(axes),
            None => updates,
        };
        let view = view(&data, options.in_place);
        let change = Change::Indexed(scatter, updates, combine, window);
        Self { data, view, change, options, recast: Recast::default() }
    }
}

/// The items of the data as the output has them: in C order, but where they stay if they are changed in place.
fn view(data: &Source, in_place: bool) -> View {
    match (in_place, data.is_fortran_order()) {
        (true, true) => View::c_order(&data.shape().iter().rev().copied().collect::<Vec<_>>()),
        _ => data.view(),
    }
}

fn slice_args(options: &SliceOptions, input: &InputOptions) -> Result<SliceArgs> {
    if let Some(at) = &options.at {
        return Ok(at.clone());
    }
    let list =
        |list: &Option<_>, option| list.as_ref().map(|list| operands::index_list(list, option, input)).transpose();
    let start = list(&options.start, "--start")?.unwrap_or_default();
    let stop = list(&options.stop, "--stop")?.unwrap_or_default();
    let (step, axes) = (list(&options.step, "--step")?, list(&options.axes, "--axes")?);
    SliceArgs::new(&start, &stop, step.as_deref(), axes.as_deref())
        .map_err(|e| anyhow!("--{}: {}", e.subject(), e.message()))
}

fn report_spans(report: &mut Report, spans: &[Span], shape: &[usize]) {
    for (axis, (span, &dim)) in spans.iter().zip(shape).enumerate() {
        report.line(match span.len {
            0 => format!("axis {axis} of {dim}: nothing"),
            1 => format!("axis {axis} of {dim}: {}", span.start),
            n if *span == Span::whole(dim) => format!("axis {axis} of {dim}: all {n}"),
            n => format!("axis {axis} of {dim}: {n} from {} to {} by {}", span.start, span.at(n - 1), span.step),
        });
    }
}

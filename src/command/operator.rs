//! What the sub-commands that run an operator have in common.

use anyhow::{Result, anyhow};

use super::dry_run::Report;
use super::emit::emit;
use super::options::operands::InputOptions;
use super::options::output::OutputOptions;
use super::options::slices::SliceOptions;
use super::sources::{self, Operands};
use crate::engine::job::{Change, Options, ScatterWindow, Updates};
use crate::format::write::{Recast, Work};
use crate::item::meta::Order;
use crate::layout::view::View;
use crate::ops::indexed::{Resolve, Scatter};
use crate::ops::reduction::OnBytes;
use crate::ops::slice::SliceArgs;
use crate::storage::source::Source;

/// Writes the one tensor that an operator gives.
pub fn put(work: Work, output: &OutputOptions, quiet: bool, report: Report) -> Result<()> {
    emit(vec![(None, work)], output, quiet, report)
}

/// What both scatters by indices do between the checks of shapes and the end of the numbers.
pub fn take_indices<R: Resolve>(
    operands: &Operands<'_>,
    indices: &Source,
    resolver: R,
    data: &Source,
    updates: &Updates,
    options: &mut Options,
) -> Result<(R, ScatterWindow)> {
    let reversed = options.in_place && data.meta().order == Order::Fortran;
    let mut resolver = if reversed { resolver.reversed() } else { resolver };
    operands.feed(indices, &mut resolver, options.threads)?;
    options.room = indices.bytes();
    let window = ScatterWindow::new(data, updates, resolver.sides(), *options);
    Ok((resolver, window))
}

impl Work {
    /// A scatter by indices.
    pub fn indexed(
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
pub fn view(data: &Source, in_place: bool) -> View {
    match (in_place, data.meta().order) {
        (true, Order::Fortran) => data.meta().as_stored().view(),
        _ => data.view(),
    }
}

/// The slices that the options name; lists that are in files are read here.
///
/// # Errors
/// What is no list of integers, or lists of different lengths.
pub fn slice_args(options: &SliceOptions, input: &InputOptions) -> Result<SliceArgs> {
    if let Some(at) = &options.at {
        return Ok(at.clone());
    }
    let list =
        |list: &Option<_>, option| list.as_ref().map(|list| sources::index_list(list, option, input)).transpose();
    let start = list(&options.start, "--start")?.unwrap_or_default();
    let stop = list(&options.stop, "--stop")?.unwrap_or_default();
    let (step, axes) = (list(&options.step, "--step")?, list(&options.axes, "--axes")?);
    SliceArgs::new(&start, &stop, step.as_deref(), axes.as_deref())
        .map_err(|e| anyhow!("--{}: {}", e.subject(), e.message()))
}

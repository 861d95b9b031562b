//! `scatter-update`.

use anyhow::Result;
use clap::{Args, ValueHint};

use super::dry_run::Report;
use super::io::Io;
use super::operator::{base, put};
use super::options::index_list::IndexList;
use super::options::operands::{InputOptions, OperandArg, data_help};
use super::options::output::{EditOptions, OutputOptions};
use super::options::run::RunOptions;
use super::options::scatter::{self, DuplicateOptions};
use super::options::updates::UpdatesOptions;
use super::outcome::Outcome;
use super::sources::{self, Operands};
use crate::Reduction;
use crate::ops::indexed::{ScatterOperands, ScatterRule};
use crate::ops::scatter_update;
use crate::storage::source::Source;

/// Put updates at indices of one axis (OpenVINO ScatterUpdate-3)
///
/// The output is DATA with, on the axis, DATA[..., INDICES[i], ...] = UPDATES[..., i, ...]. An index below 0 or beyond
/// the axis is an error. Of repeated indices the last one wins.
///
/// Shape of UPDATES: that of DATA with the shape of INDICES in the place of the axis. Shape of the output: that of
/// DATA.
#[derive(Debug, Args)]
#[command(override_usage = "tensorop scatter-update [OPTIONS] <DATA> <INDICES> <UPDATES|--fill <VALUE>> --axis <N>", after_long_help = EXAMPLES)]
pub(super) struct ScatterUpdate {
    /// The tensor to begin with
    #[arg(value_name = "DATA", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to begin with."))]
    pub data: OperandArg,
    /// Integers of any rank, places of the axis: an operand as DATA
    #[arg(value_name = "INDICES", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub indices: OperandArg,
    #[command(flatten)]
    pub updates: UpdatesOptions,
    /// The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)
    #[arg(long, value_name = "N", value_hint = ValueHint::Other, value_parser = IndexList::parser(), allow_hyphen_values = true, help_heading = scatter::HEADING)]
    pub axis: IndexList,
    #[command(flatten)]
    pub duplicates: DuplicateOptions,
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub edit: EditOptions,
    #[command(flatten)]
    pub run: RunOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop scatter-update data.npy indices.npy updates.npy --axis 1
  tensorop scatter-update data.npy '[0,2]' '[[1,1],[1,1],[1,2]]' --axis 1 -o out.npy
  tensorop scatter-update table.npy stale.npy --fill 0 --axis 0 -o table.npy

Of an index tensor at most 1 GiB is held in memory (some 100 million tuples); of a larger one the rest is read again.";

impl ScatterUpdate {
    /// Resolves the indices of the axis, and writes DATA with UPDATES there.
    pub(super) fn run(&self, io: &Io) -> Result<Outcome> {
        let limits = self.run.limits(&io.environment)?;
        let in_place = self.edit.in_place;
        let (indices, updates) = (Some(&self.indices), self.updates.updates.as_ref());
        let operands = Operands::new(io, &self.data, indices, updates, &self.input, in_place, limits.threads)?
            .together(self.output.parts.part.is_some());
        let axis = sources::axis(&self.axis, &self.input, limits.threads)?;
        let (data, updates) = operands.tensors()?;
        let indices = operands.indices()?;
        let shape = updates.as_ref().map(Source::shape);
        let shapes = scatter_update::check(data.shape(), indices.shape(), shape, axis);
        let shapes = shapes.map_err(|e| operands.explain(e))?;
        let updates = operands.updates(updates, &self.updates, &data, shapes.updates_shape())?;
        let base = base(data, in_place);
        let mut report = Report::new("scatter-update (OpenVINO ScatterUpdate-3)");
        report.source(base.source());
        report.source(&indices);
        report.source(updates.source());
        report.line(format!("axis {axis}: {} indices", shapes.count()));
        let repeats = self.duplicates.repeats(Reduction::None);
        let rule = ScatterRule { repeats, combine: None };
        let operands_of = ScatterOperands { base, indices, updates };
        let fill = shapes.link(operands_of, rule, limits).map_err(|e| operands.explain(e))?;
        put(Box::new(fill), limits, io, &self.output, self.run.quiet, report)
    }
}

//! `scatter-update`.

use anyhow::Result;
use clap::{Args, ValueHint};

use super::Outcome;
use super::dry_run::Report;
use super::operator::{put, take_indices, view};
use super::options::index_list::IndexList;
use super::options::operands::{InputOptions, OperandArg, data_help};
use super::options::output::{EditOptions, OutputOptions};
use super::options::run::RunOptions;
use super::options::scatter::{self, DuplicateOptions, OnDuplicate};
use super::options::updates::UpdatesOptions;
use super::sources::{self, Operands};
use crate::format::write::Work;
use crate::ops::indexed::Resolve as _;
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
pub struct ScatterUpdate {
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
  tensorop scatter-update table.npy stale.npy --fill 0 --axis 0 -o table.npy";

impl ScatterUpdate {
    /// Resolves the indices of the axis, and writes DATA with UPDATES there.
    pub fn run(&self) -> Result<Outcome> {
        let mut options = self.run.options(self.edit.in_place)?;
        let in_place = options.in_place;
        let operands =
            Operands::new(&self.data, Some(&self.indices), self.updates.updates.as_ref(), &self.input, in_place)?;
        let axis = sources::axis(&self.axis, &self.input)?;
        let (data, updates) = operands.tensors()?;
        let indices = operands.indices()?;
        let shape = updates.as_ref().map(Source::shape);
        let resolver = scatter_update::Resolver::new(data.shape(), indices.shape(), shape, axis);
        let resolver = resolver.map_err(|e| operands.explain(&e))?;
        let updates = operands.updates(updates, &self.updates, &data, resolver.updates_shape())?;
        let (resolver, window) = take_indices(&operands, &indices, resolver, &data, &updates, &mut options)?;
        let repeats = self.duplicates.on_duplicate != Some(OnDuplicate::Error);
        let scatter = resolver
            .finish(repeats, window.items(&view(&data, in_place).shape(), data.dtype().itemsize()))
            .map_err(|e| operands.explain(&e))?;
        let mut report = Report::new("scatter-update (OpenVINO ScatterUpdate-3)");
        report.source(&data);
        report.source(&indices);
        report.source(updates.source());
        report.line(format!("axis {axis}: {} indices", scatter.count()));
        let work = Work::indexed(data, scatter, updates, None, window, options);
        put(work, &self.output, self.run.quiet, report)?;
        Ok(Outcome::Done)
    }
}

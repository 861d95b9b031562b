//! The sub-command `slice`.

use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};
use clap::{Args, ValueHint};

use super::operation::Operation;
use crate::command::operands::container_notes::tell_what_stayed;
use crate::command::operands::dtype_option::Reinterpret;
use crate::command::operands::list_options::slices;
use crate::command::operands::member::Member;
use crate::command::operands::operand_reader::{OpenMode, OperandReader, slices_of};
use crate::command::options::members::TakenOptions;
use crate::command::options::{DATA, Operand, OperatorOptions, SliceOptions, data_help};
use crate::command::outputs::destination::Destination;
use crate::command::process::io::{Io, Outcome};
use crate::opening::input::Input;
use crate::opening::located::dims_of;
use crate::operators::call::Operands;
use crate::ops::call::Call;
use crate::ops::slice::SliceArgs;
use crate::storage::source::merged;
use crate::storage::unread::UnreadArray;
use crate::writing::OutputTensor;

/// Take a slice of a tensor (OpenVINO Slice-8)
///
/// Takes the places start, start + step, ... before stop on each named axis, as Python's data[start:stop:step]
/// does: negative numbers count from the end, numbers beyond the axis are clamped, a negative step runs backwards.
/// Axes that are not named are taken whole. --at ... also takes the one item of a tensor without axes.
///
/// Shape of the output: that of DATA, with the number of places taken on each named axis.
#[derive(Args)]
#[command(override_usage = "tensorop slice [OPTIONS] <DATA> <--start <I> --stop <I>|--at <SLICES>>", after_long_help = EXAMPLES)]
pub(crate) struct Slice {
    /// The tensor to slice
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to slice."))]
    pub data: Operand,
    #[command(flatten)]
    pub slices: SliceOptions,
    #[command(flatten)]
    pub taken: TakenOptions,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const EXAMPLES: &str = "\
Examples:
  tensorop slice data.npy --start 0,1 --stop 2,4 --step 1,2
  tensorop slice data.npy --start -1 --stop INT_MIN --step -1 --axes -1     # reverse the last axis
  tensorop slice data.npy --at '..., 1:3' -o part.npy
  tensorop slice climate.zarr --at time=2:4,lat=::2 -o part.zarr     # every tensor that has these dimensions
  tensorop slice '[[0,1,2],[3,4,5]]' --at ':, ::2' --dtype float32 --to json

Only the bytes that the slice needs are read from a .npy file.";

impl Slice {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let operation = Operation::begin(io, &self.data, None, &self.options)?;
        let reader = operation.reader;
        let slices = slices(&reader, &self.slices)?;
        let found = reader.open(&operation.data, OpenMode::Taking(self.taken.filter()))?;
        let is_dataset = || found.members().itself.is_none() && found.name(1).is_some();
        if slices.is_by_names() && found.member().is_none() && is_dataset() {
            return self.dataset(&reader, &found, &slices, operation.destination);
        }
        let is_one = "--only and --exclude choose among the tensors of a whole container, which is sliced by the names of \
                      dimensions, as in --at time=2:4";
        ensure!(self.taken.is_empty(), "{}: {is_one}", operation.data.label);
        let data = reader.read(&[Member::chosen(found)?])?.remove(0);
        let call = Call::Slice(slices_of(&slices, &data)?);
        operation.with_data(data).run(TITLE, &call)
    }

    /// Writes all tensors of a container. Those with the named dimensions are sliced.
    fn dataset(
        &self,
        reader: &OperandReader<'_>,
        input: &Arc<Input>,
        slices: &SliceArgs,
        destination: Destination<'_>,
    ) -> Result<Outcome> {
        let output = &self.options.output;
        let asked = reader.asked(Reinterpret::Unsigned);
        let (mut set, mut all_dims) = (destination.output_set(destination.report(TITLE)), Vec::new());
        let names = input.names().unwrap_or_default();
        self.taken.check_names(names, &input.names_beside())?;
        let taken = |n: usize| input.is_taken(n, self.taken.filter());
        asked.look_at_all(input, &(0..names.len()).filter(|&n| taken(n)).collect::<Vec<_>>());
        let mut metadata = Vec::new();
        for (n, name) in names.iter().enumerate().filter(|(n, _)| taken(*n)) {
            let changes = |array: &UnreadArray| {
                let sliced = !slices.with_dims_as_axes(&array.dims).is_empty();
                if sliced { Some("--at") } else { output.changes(name, &array.dims) }
            };
            let member = Member::new(input, n);
            let Some(data) = set.add(&member, (name, name), asked.of(Some(name)), true, changes)? else { continue };
            let dims = dims_of(&data);
            slices.check_single(&dims).map_err(|error| anyhow!("--at: {}: {}", data.label(), error.message()))?;
            let own = slices.with_dims_as_axes(&dims);
            all_dims.extend(dims.into_iter().filter(|dim| !all_dims.contains(dim)).collect::<Vec<_>>());
            set.report.source(&data);
            let mut tensor = if own.is_empty() {
                OutputTensor::copy(data, reader.run.limits)
            } else {
                let call = Call::Slice(own).resolve(&[data.meta()], None, None);
                let call = call.map_err(|error| anyhow!("{}: {error}", data.label()))?;
                set.report.lines(&call.details);
                OutputTensor::new(Operands::from(data).link_resolved(call, reader.run.limits)?, reader.run.limits)
            };
            tensor.name = Some(name.to_owned());
            set.push(tensor);
            metadata.extend(input.file_of(n)?.metadata.map(|file| Arc::clone(&file.kept)));
        }
        set.check_readable(&reader.run.io.stderr)?;
        asked.finish()?;
        ensure!(!set.tensors.is_empty(), "{}: --only and --exclude leave no tensor", input.label());
        let label = input.label();
        let advice = "none of its tensors has dimension names: slice one by position";
        ensure!(all_dims.iter().any(Option::is_some), "--at: {label}: {advice}");
        slices.check_dims(&all_dims).map_err(|error| anyhow!("--at: {label}: {}", error.message()))?;
        set.left_out = Box::new(|name| !self.taken.takes(name));
        set.inherited.metadata = merged(&metadata);
        let outcome = destination.write(set)?;
        tell_what_stayed(reader.run, input)?;
        Ok(outcome)
    }
}

const TITLE: &str = "slice (OpenVINO Slice-8)";

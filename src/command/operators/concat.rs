//! The sub-command `concat`.

use std::sync::Arc;

use anyhow::{Result, anyhow, ensure};
use clap::{Args, ValueHint};

use super::operation::settle;
use crate::command::messages::{change_error, counted};
use crate::command::operands::list_options::axis;
use crate::command::operands::member::Member;
use crate::command::operands::operand_reader::{OpenMode, OperandReader, check_header_counts, operands_error};
use crate::command::options::{DATA, IndexList, Operand, OperatorOptions, check_stdin, data_help};
use crate::command::outputs::dry_run::Report;
use crate::command::process::io::{Io, Outcome};
use crate::command::process::meter::Meter;
use crate::container::names::by_numbers;
use crate::error::Subject;
use crate::formats::npy::npy_file::Append;
use crate::item::meta::{Meta, Order};
use crate::opening::input::Input;
use crate::operators::call::Operands;
use crate::operators::concat::LinkedConcat;
use crate::ops::call::{Call, Resolved};
use crate::ops::operators::concat::{Joined, Joining};
use crate::storage::platform::allow_open_files;
use crate::storage::source::Source;
use crate::writing::OutputTensor;

/// Join tensors one after the other along an axis (ONNX Concat 4, 11, 13, OpenVINO Concat-1)
///
/// All operands must have the dtype of the first, and the same dims except along the axis. The output has the byte order of
/// the first; strings get the width of the widest. With --stack all operands have the same shape, and the output has one
/// place for each along a new axis (ONNX ConcatFromSequence with new_axis 1).
///
/// Shape of the output: that of the first operand, with the sum of all dims on the axis. With --stack: that of the first
/// operand, with the number of operands inserted at the axis.
#[derive(Args)]
#[command(override_usage = "tensorop concat [OPTIONS] <DATA>...", after_long_help = EXAMPLES)]
pub(crate) struct Concat {
    /// The tensors, in the order of the output
    #[arg(value_name = "DATA", value_parser = DATA.parser(), required = true, allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help(DATA_HELP))]
    pub data: Vec<Operand>,
    /// The axis: an integer from -rank to rank - 1, with --stack to rank (also [N], or a file with one integer) [default: 0]
    ///
    /// With --in-place it must be the outermost axis in storage, which is then the default.
    #[arg(long, value_name = "N", value_parser = IndexList::parser(), help_heading = HEADING)]
    pub axis: Option<IndexList>,
    /// Join along a new axis, at position --axis of the output: from -rank - 1 to rank
    #[arg(long, help_heading = HEADING)]
    pub stack: bool,
    /// Append the other operands to the file of the first, a .npy file
    ///
    /// They are appended along the outermost axis in storage: the first axis, or in a file in Fortran order the last. The
    /// cost depends on the appended items, not on the size of the file. Every check is made before the first byte is
    /// written: strings must not be wider than those of the file, and the header must have room for the new dims; nearly all
    /// headers have. The items are written first, and the header when they are on the disk. So if the run is stopped at any
    /// moment, the file reads as before or as after; if the disk is full, it stays as it was. The file is locked meanwhile.
    /// It may also be one of the other operands: its items are those from before the run.
    #[arg(short, long, conflicts_with_all = ["stack", "output", "to", "no_clobber", "byte_order", "metadata", "no_metadata", "compress", "packed", "chunks", "shards", "codec", "dims", "group", "store_empty", "part", "finish", "restart"], help_heading = "Output")]
    pub in_place: bool,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const HEADING: &str = "Concat";

const DATA_HELP: &str = "The tensors, in the order of the output; one is enough.

'FILE:GLOB' means all matching members of a container, in natural order of their names: layers.2 comes before layers.10.";

const EXAMPLES: &str = "\
Examples:
  tensorop concat part-*.npy -o all.npy                      # np.concatenate
  tensorop concat left.npy right.npy --axis -1 -o wide.npy
  tensorop concat monday.npy tuesday.npy --stack -o days.npy # np.stack
  tensorop concat 'model.safetensors:layers.*.bias' --stack
  tensorop concat log.npy '[[0.5,0.25]]' --in-place          # another row, whatever the file's size

The memory and the threads do not depend on the number of operands.";

impl Concat {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let (destination, reader) = settle(io, &self.options, self.in_place)?;
        let operands = &self.data;
        check_stdin(operands)?;
        let axis = self.axis.as_ref().map(|list| axis(&reader, list, "--axis")).transpose()?;
        let reader = OperandReader { reopens: !allow_open_files(operands.len()), ..reader };
        let open = |(n, operand)| {
            reader.open(operand, if n == 0 && self.in_place { OpenMode::LockedNpy } else { OpenMode::Plain })
        };
        let inputs = operands.iter().enumerate().map(open).collect::<Result<Vec<_>>>()?;
        let mut found = Vec::with_capacity(inputs.len());
        for input in inputs {
            found.extend(members(input)?);
        }
        let mut sources = reader.read(&found)?;
        if self.in_place {
            check_header_counts(&operands[0], &sources[0])?;
        }
        let (joining, title) = match self.stack {
            true => (Joining::Stacked, "concat (ONNX ConcatFromSequence-11)"),
            false => (Joining::Along, "concat (ONNX Concat-13, OpenVINO Concat-1)"),
        };
        let outermost = if self.in_place { outermost(sources[0].meta()) } else { 0 };
        let metas: Vec<_> = sources.iter().map(Source::meta).collect();
        let call = Call::Concat { axis: axis.unwrap_or(outermost), joining }.resolve(&metas, None, None);
        let call = call.map_err(|error| {
            let is_scalar = error.message().starts_with("rank 0,");
            let refusal = operands_error(&sources, error);
            if is_scalar { anyhow!("{refusal}; --stack puts them along an axis of their own") } else { refusal }
        })?;
        let report = destination.report(title).with(&call, &sources);
        if self.in_place {
            let Resolved::Joined(joined) = call.resolved else { unreachable!("Concat joins tensors") };
            let (axis, data, rows) = (joined.axis, sources.remove(0), sources);
            ensure!(
                axis as i64 == outermost || data.shape().len() == 1,
                "--axis: {axis}, and --in-place appends along axis {outermost}, which is stored outermost: use -o"
            );
            return self.append(&reader, &joined, &data, rows, report);
        }
        let fill = Operands { data: sources, ..Operands::default() }.link_resolved(call, reader.run.limits)?;
        destination.put(OutputTensor::new(fill, reader.run.limits), report)
    }

    fn append(
        &self,
        reader: &OperandReader<'_>,
        joined: &Joined,
        data: &Source,
        rows: Vec<Source>,
        mut report: Report,
    ) -> Result<Outcome> {
        let labels: Vec<_> = [data].into_iter().chain(&rows).map(|source| source.label().to_owned()).collect();
        let linked = LinkedConcat::rows(joined, data, rows).map_err(|error| match error.subject() {
            Subject::Operand(n) => anyhow!("{}: {}: use -o", labels[n], error.message()),
            _ => error.into(),
        })?;
        let append = Append::prepare(data, &joined.shape, Box::new(linked), reader.run.limits).map_err(change_error)?;
        if self.options.output.is_dry_run() {
            let (bytes, changed) = (counted(append.bytes(), "byte", "bytes"), append.changed_bytes());
            report.line(format_args!("output: {bytes} appended to {}, {changed} of its header changed", data.label()));
            if self.options.output.explain {
                report.plans(&[("", append.explain())], self.options.output.json);
            }
            return report.print(reader.run.io);
        }
        let meter = Meter::new(reader.run, Some(append.bytes()));
        append.write(&|bytes| meter.add(bytes))?;
        Ok(Outcome::Done)
    }
}

/// The axis along which items can be appended without moving others.
fn outermost(meta: &Meta) -> i64 {
    match meta.order {
        Order::C => 0,
        Order::Fortran => meta.shape.len() as i64 - 1,
    }
}

/// A pattern gives all matching tensors, in natural order of their names.
fn members(input: Arc<Input>) -> Result<Vec<Member>> {
    if input.member().is_none() {
        return Ok(vec![Member::chosen(input)?]);
    }
    let mut numbers = input.select()?;
    let name = |n: &usize| input.name(*n).unwrap_or_default();
    numbers.sort_by(|a, b| by_numbers(name(a), name(b)));
    Ok(numbers.into_iter().map(|n| Member::new(&input, n)).collect())
}

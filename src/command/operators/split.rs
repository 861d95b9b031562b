//! The sub-command `split`.

use anyhow::{Result, anyhow, bail, ensure};
use clap::{ArgGroup, Args, ValueHint};

use crate::command::messages::counted;
use crate::command::operands::list_options::{axis, index_list};
use crate::command::operands::member::Member;
use crate::command::operands::operand_reader::{OpenMode, OperandReader, explained};
use crate::command::options::{DATA, IndexList, Names, Operand, OperatorOptions, data_help};
use crate::command::outputs::destination::Destination;
use crate::command::outputs::output_files::numbers;
use crate::command::process::io::{Io, Outcome};
use crate::opening::table::Format;
use crate::operators::call::Operands;
use crate::ops::call::Call;
use crate::ops::operators::split::{self, SplitInto};
use crate::storage::source::{Source, merged};
use crate::writing::OutputTensor;

/// Cut an axis of a tensor into several outputs (ONNX Split 2 to 18, OpenVINO Split-1, VariadicSplit-1)
///
/// The outputs go into one container, or each into a file of its own: -o 'OUT-*.npy' makes OUT-0.npy, OUT-1.npy and so on. All
/// of them appear, or none does.
///
/// Shape of an output: that of DATA, with the length of its part on the axis.
#[derive(Args)]
#[command(group = ArgGroup::new("into").args(["equal_parts", "lengths"]).required(true))]
#[command(override_usage = "tensorop split [OPTIONS] <--parts <N>|--lengths <I>> -o <FILE> <DATA>", after_long_help = EXAMPLES)]
#[command(mut_arg("names_of", |arg| arg.long("input-names")))]
pub(crate) struct Split {
    /// The tensor whose axis is cut
    #[arg(value_name = "DATA", value_parser = DATA.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath, long_help = data_help("The tensor to split."))]
    pub data: Operand,
    /// Cut into N parts of one length; the last ones are shorter if the dim is not a multiple of N
    #[arg(id = "equal_parts", long = "parts", value_name = "N", value_parser = clap::value_parser!(i64), help_heading = HEADING)]
    pub parts: Option<i64>,
    /// Cut into parts of these lengths, such as 2,-1,3 or a file; one may be -1: the rest
    #[arg(long, value_name = "I", value_parser = IndexList::parser(), value_hint = ValueHint::FilePath, help_heading = HEADING)]
    pub lengths: Option<IndexList>,
    /// The axis: an integer from -rank to rank - 1 (also [N], or a file with one integer)
    #[arg(long, value_name = "N", value_parser = IndexList::parser(), default_value = "0", help_heading = HEADING)]
    pub axis: IndexList,
    /// The names of the outputs in a container, such as q,k,v [default: numbers from 0]
    #[arg(long, value_name = "NAME,NAME", value_parser = Names::parse, help_heading = HEADING)]
    pub names: Option<Names>,
    #[command(flatten)]
    pub options: OperatorOptions,
}

const HEADING: &str = "Split";

const EXAMPLES: &str = "\
Examples:
  tensorop split data.npy --parts 4 -o 'quarter-*.npy'       # np.array_split, but the first parts are the longest
  tensorop split model.safetensors:qkv --parts 3 --names q,k,v -o qkv.safetensors
  tensorop split data.npy --lengths 100,-1 -o 'set-*.npy'    # the first 100 rows, and the others
  tensorop split data.npy --lengths 1,2,-1 --axis -1 -o columns.npz

The numbers are as wide as the last one: of 12 outputs the first is 00. --part cannot be used, since the outputs appear together.";

impl Split {
    pub(crate) fn run(&self, io: &Io) -> Result<Outcome> {
        let OperatorOptions { input, output, run } = &self.options;
        ensure!(!output.parts.is_given(), "--part: not with split, whose outputs appear together");
        let reader = OperandReader::new(io, input, run)?;
        let destination = Destination::for_several(reader.run, output)?;
        let into = match (self.parts, &self.lengths) {
            (Some(parts), _) => SplitInto::Parts(parts),
            (None, Some(lengths)) => SplitInto::Lengths(index_list(&reader, lengths, "--lengths")?),
            (None, None) => unreachable!("the grammar requires one of them"),
        };
        let axis = axis(&reader, &self.axis, "--axis")?;
        let mut data = reader.read(&[Member::chosen(reader.open(&self.data, OpenMode::Plain)?)?])?.remove(0);
        let slices = split::check(data.shape(), axis, &into).map_err(|error| explained([&self.data], error))?;
        let mut report = destination.report("split (ONNX Split, OpenVINO Split-1, VariadicSplit-1)");
        report.source(&data);
        let names = self.names_of(slices.len(), &data, &destination)?;
        let mut set = destination.output_set(report);
        for (slice, name) in slices.into_iter().zip(names) {
            let call = Call::Slice(slice).resolve(&[data.meta()], None, None)?;
            set.report.lines(&call.details);
            let fill = Operands::from(data.another()?).link_resolved(call, reader.run.limits)?;
            set.push(OutputTensor { name, ..OutputTensor::new(fill, reader.run.limits) });
        }
        set.inherited.metadata =
            merged(data.container().and_then(|container| Some(&container.metadata.as_ref()?.kept)));
        // one part in a store has a name as well
        set.inherited.is_group = !destination.is_of_files();
        destination.write(set)
    }

    /// Outputs in files of their own have the name of DATA, where the format has names.
    fn names_of(&self, count: usize, data: &Source, destination: &Destination<'_>) -> Result<Vec<Option<String>>> {
        let has_names = destination.format().is_some_and(Format::is_container);
        let in_files = !has_names || destination.is_of_files();
        let own = data.member().or(data.name_in_group()).filter(|_| has_names).map(str::to_owned);
        match &self.names {
            Some(_) if in_files => bail!("--names: only for tensors of a container, such as -o OUT.npz"),
            Some(Names(names)) if names.len() != count => {
                Err(anyhow!("--names: {}, expected {count}", counted(names.len(), "name", "names")))
            }
            Some(Names(names)) => Ok(names.iter().cloned().map(Some).collect()),
            None if in_files => Ok(vec![own; count]),
            None => Ok(numbers(count).map(Some).collect()),
        }
    }
}

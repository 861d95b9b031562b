//! The options that operators share.

use std::num::NonZero;

use anyhow::{Result, bail};
use clap::{ArgGroup, Args, ValueHint};

use super::operands::{InputOptions, Operand, UPDATES};
use super::output::{EditOptions, OutputOptions};
use super::values::{OptionWord, parse_memory_size, parse_words, word};
use crate::operators::fill::MIN_MEMORY;
use crate::ops::reduction::{Reduction, Repeats};

pub(crate) const SCATTER_HEADING: &str = "Scatter";

/// The options of a command that makes a new output.
#[derive(Args)]
pub(crate) struct OperatorOptions {
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub run: RunOptions,
}

/// The options of an operator that changes DATA, in a new output or in place.
#[derive(Args)]
pub(crate) struct ChangeOptions {
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub edit: EditOptions,
    #[command(flatten)]
    pub run: RunOptions,
}

impl ChangeOptions {
    /// A part in place may run again, so reductions that would change items twice are refused.
    pub(crate) fn check_again(&self, reduction: Reduction, has_initial: bool) -> Result<()> {
        let is_part_in_place = self.edit.in_place && self.output.parts.part.is_some();
        let changes_again = match reduction {
            Reduction::None | Reduction::Max | Reduction::Min => false,
            Reduction::Add | Reduction::Sub | Reduction::Mul | Reduction::Mean => has_initial,
        };
        if is_part_in_place && changes_again {
            let name = reduction.name();
            let again = if reduction == Reduction::Mean { "take the mean" } else { name };
            bail!("--part: not with --in-place and --reduction {name}: a part that runs again would {again} again");
        }
        Ok(())
    }
}

/// The options of a long run.
#[derive(Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub threads: ThreadOptions,
    /// The most memory that all threads hold together if items move across chunks or storage orders [default: 256MiB]
    ///
    /// KB, MB, GB are decimal, KiB, MiB, GiB binary; at least 16MiB. If the data has other chunks than the output, or another
    /// storage order, neighbouring chunks of the output are made together in this memory, so that each byte is read once. A
    /// run from one .zarr to another that needs more memory uses a temporary store beside the output, and reads and writes
    /// twice as much. --dry-run prints the bytes read and written. The output is the same for any SIZE.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub memory: Option<usize>,
    /// Show no progress (shown on a terminal if the run takes more than a second)
    #[arg(short, long)]
    pub quiet: bool,
}

/// The option of every command that reads items.
#[derive(Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct ThreadOptions {
    /// The most threads [default: $TENSOROP_THREADS, or one for each processor, at most 8]
    ///
    /// N may be more than 8 and more than the number of processors. The default is at most 8, since more threads do not make
    /// copies faster. Each thread has at least 1 MiB of work, a window, a chunk or a request. More than 8 threads together hold
    /// at most 256MiB (or --memory), so fewer of them work on large chunks. The output is the same for any number.
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<NonZero<usize>>,
}

/// The new items of an operator that changes DATA.
#[derive(Args)]
#[command(group = ArgGroup::new("new").args(["updates", "fill"]).required(true))]
pub(crate) struct UpdatesOptions {
    /// The new items, with the dtype of DATA: an operand like DATA
    #[arg(value_name = "UPDATES", value_parser = UPDATES.parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub updates: Option<Operand>,
    /// One value for every addressed place, instead of UPDATES
    ///
    /// The value has the dtype of DATA: a number such as -1 (also nan, inf, -inf), true or false, [re, im], a
    /// text or a date.
    #[arg(long, value_name = "VALUE", conflicts_with = "updates", help_heading = "Updates")]
    pub fill: Option<String>,
}

/// The option of the scatters by indices.
#[derive(Args)]
pub(crate) struct DuplicateOptions {
    /// The treatment of an index that occurs twice [default: last]
    ///
    /// Cannot be combined with --reduction, which defines the result of repeated indices.
    #[arg(long, value_name = "WHAT", value_parser = parse_words(repeats()), help_heading = SCATTER_HEADING)]
    pub on_duplicate: Option<Repeats>,
}

fn repeats() -> Vec<OptionWord<Repeats>> {
    let refused = "Refuse: the error names the first repeated index and its earlier position";
    vec![word("last", "The last one in index order wins", Repeats::LastWins), word("error", refused, Repeats::Refused)]
}

impl DuplicateOptions {
    pub(crate) fn check(&self, reduction: Reduction) -> Result<()> {
        if reduction != Reduction::None && self.on_duplicate.is_some() {
            bail!("--on-duplicate: not with --reduction {}, which is meant for repeated indices", reduction.name());
        }
        Ok(())
    }

    pub(crate) fn repeats(&self, reduction: Reduction) -> Repeats {
        self.on_duplicate.unwrap_or(reduction.into())
    }
}

pub(crate) fn reductions(known: &[Reduction]) -> Vec<OptionWord<Reduction>> {
    let help = |reduction| match reduction {
        Reduction::None => "The update replaces the item",
        Reduction::Add => "Their sum",
        Reduction::Sub => "The old item minus the update (OpenVINO)",
        Reduction::Mul => "Their product",
        Reduction::Max => "The larger",
        Reduction::Min => "The smaller",
        Reduction::Mean => "The mean of the item and all its updates",
    };
    known.iter().map(|&reduction| word(reduction.name(), help(reduction), reduction)).collect()
}

fn parse_memory(text: &str) -> std::result::Result<usize, String> {
    let size = usize::try_from(parse_memory_size(text)?).ok().filter(|&bytes| bytes >= MIN_MEMORY);
    size.ok_or_else(|| "expected 16MiB or more, up to what this machine can address".to_owned())
}

pub(crate) fn parse_threads(text: &str) -> std::result::Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "expected a whole number, 1 or more".to_owned())
}

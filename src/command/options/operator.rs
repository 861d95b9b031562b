//! The options that operators have in common.

use std::num::NonZero;

use anyhow::{Result, bail};
use clap::{ArgGroup, Args, ValueHint};

use super::operands::{InputOptions, OperandArg};
use super::output::{EditOptions, OutputOptions};
use super::values::{Word, parse_memory_size, parse_words, word};
use crate::ops::machine::LEAST_MEMORY;
use crate::ops::reduction::{Reduction, Repeats};

/// The heading of the options of scatters in the help.
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
    /// Checks that a part that is made in place may be made again: what it has changed must not take part once more.
    /// `has_initial` says whether the items of DATA take part in a reduction.
    ///
    /// # Errors
    /// `--part` with `--in-place` and such a reduction.
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
    /// The most memory that all threads together hold where items move across chunks or an order [default: 256MiB]
    ///
    /// KB, MB, GB are decimal, KiB, MiB, GiB binary; 16MiB at least. Where the data lies in other chunks than the output, or
    /// across its order, neighbouring chunks of the output are made together from what is held, so that each byte is read
    /// once. From one .zarr to another that needs more than this goes by way of a temporary store beside the output:
    /// twice the reading and writing. --dry-run says what will be read and written. The output is the same for any SIZE.
    #[arg(long, value_name = "SIZE", value_parser = parse_memory)]
    pub memory: Option<usize>,
    /// Show no progress (else shown on a terminal if it takes more than a second)
    #[arg(short, long)]
    pub quiet: bool,
}

/// The option of every command that reads items.
#[derive(Args)]
#[command(next_help_heading = "Run")]
pub(crate) struct ThreadOptions {
    /// Threads at most [default: $TENSOROP_THREADS, else one for each processor, at most 8]
    ///
    /// A number that is given is obeyed, also beyond 8 and beyond the processors; the default ends at 8, since more gain nothing
    /// where items are copied. No more threads are started than there are MiB to work on, or windows, chunks or requests.
    /// More than 8 hold no more than 256MiB together (or --memory), so fewer of them work on large chunks. The output is the
    /// same for any number.
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    pub threads: Option<NonZero<usize>>,
}

/// The new items of an operator that changes DATA.
#[derive(Args)]
#[command(group = ArgGroup::new("new").args(["updates", "fill"]).required(true))]
pub(crate) struct UpdatesOptions {
    /// The new items, of DATA's dtype: an operand as DATA
    #[arg(value_name = "UPDATES", allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub updates: Option<OperandArg>,
    /// One value for every place addressed, instead of UPDATES
    ///
    /// The value is of DATA's dtype: a number such as -1 (also nan, inf, -inf), true or false, [re, im], a
    /// text or a date.
    #[arg(long, value_name = "VALUE", conflicts_with = "updates", help_heading = "Updates")]
    pub fill: Option<String>,
}

/// The option of the scatters by indices.
#[derive(Args)]
pub(crate) struct DuplicateOptions {
    /// What to do about an index that occurs twice [default: last]
    ///
    /// Cannot be combined with --reduction, which defines what repeated indices do.
    #[arg(long, value_name = "WHAT", value_parser = parse_words(repeats()), help_heading = SCATTER_HEADING)]
    pub on_duplicate: Option<Repeats>,
}

fn repeats() -> Vec<Word<Repeats>> {
    let refused = "Refuse, naming the earliest position that repeats one, and the one it repeats";
    vec![word("last", "The last one in index order wins", Repeats::LastWins), word("error", refused, Repeats::Refused)]
}

impl DuplicateOptions {
    /// Checks that repeated indices are not refused where a reduction is meant for them.
    ///
    /// # Errors
    /// `--on-duplicate` beside a reduction.
    pub(crate) fn check(&self, reduction: Reduction) -> Result<()> {
        if reduction != Reduction::None && self.on_duplicate.is_some() {
            bail!("--on-duplicate: not with --reduction {}, which is meant for repeated indices", reduction.name());
        }
        Ok(())
    }

    /// Returns what becomes of several updates for one place.
    pub(crate) fn repeats(&self, reduction: Reduction) -> Repeats {
        let usual = if reduction == Reduction::None { Repeats::LastWins } else { Repeats::Combined };
        self.on_duplicate.unwrap_or(usual)
    }
}

/// Parses the memory that may be held.
fn parse_memory(text: &str) -> std::result::Result<usize, String> {
    let size = usize::try_from(parse_memory_size(text)?).ok().filter(|&bytes| bytes >= LEAST_MEMORY);
    size.ok_or_else(|| "expected 16MiB or more, of what this machine can address".to_owned())
}

/// Parses a number of threads.
///
/// # Errors
/// A text that is no number, or 0.
pub(crate) fn parse_threads(text: &str) -> std::result::Result<NonZero<usize>, String> {
    text.parse().map_err(|_| "expected a whole number, 1 or more".to_owned())
}

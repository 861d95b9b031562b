//! What the scatters by indices have in common.

use clap::{Args, ValueEnum};

use crate::Reduction;
use crate::ops::reduction::Repeats;

/// Where the help lists them.
pub(crate) const HEADING: &str = "Scatter";

#[derive(Debug, Args)]
pub(crate) struct DuplicateOptions {
    /// What to do about an index that occurs twice [default: last]
    ///
    /// Cannot be combined with --reduction, which defines what repeated indices do.
    #[arg(long, value_enum, value_name = "WHAT", allow_hyphen_values = true, help_heading = HEADING)]
    pub on_duplicate: Option<OnDuplicate>,
}

impl DuplicateOptions {
    /// What becomes of several updates for one place.
    pub(crate) fn repeats(&self, reduction: Reduction) -> Repeats {
        match self.on_duplicate {
            Some(OnDuplicate::Error) => Repeats::Refused,
            Some(OnDuplicate::Last) | None if reduction == Reduction::None => Repeats::LastWins,
            Some(OnDuplicate::Last) | None => Repeats::Combined,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OnDuplicate {
    /// The last one in index order wins
    Last,
    /// Refuse, naming the earliest position that repeats one, and the one it repeats
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReductionArg {
    /// The update replaces the item
    None,
    /// Their sum
    Add,
    /// Their product
    Mul,
    /// The larger
    Max,
    /// The smaller
    Min,
}

impl From<ReductionArg> for Reduction {
    fn from(arg: ReductionArg) -> Self {
        match arg {
            ReductionArg::None => Reduction::None,
            ReductionArg::Add => Reduction::Add,
            ReductionArg::Mul => Reduction::Mul,
            ReductionArg::Max => Reduction::Max,
            ReductionArg::Min => Reduction::Min,
        }
    }
}

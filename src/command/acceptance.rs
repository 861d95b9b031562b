//! Decides whether `diff` accepts tensors that do not pass.

use anyhow::{Result, anyhow};
use clap::Args;

use super::found_side::is_absent;
use super::io::Io;
use super::messages::message;
use crate::format::located::{Located, Place};
use crate::format::rewrite::{self, UPDATE_GOLDEN};

/// The options that let tensors of ACTUAL become those of EXPECTED.
#[derive(Args)]
#[command(next_help_heading = "Golden files")]
pub(super) struct AcceptOptions {
    /// If ACTUAL does not pass, write EXPECTED again with the tensors of ACTUAL
    ///
    /// This keeps EXPECTED's format, and with --ignore-dtype also its dtype; values that do not fit are an error. The order
    /// is C. Each file is written completely or not at all, and a line reports it; the status is then 0. The report on one
    /// tensor is its line of -q (with --worst N the whole report), and with -q only the lines of files are printed.
    ///
    /// Bytes without a header (FILE:DTYPE[DIMS]) and Zarr stores of version 2 are changed in place, which is not atomic.
    /// They accept only items of the same dtype and shape. Tensors that only ACTUAL has are added (in a folder as files of
    /// ACTUAL's format), and a missing EXPECTED is made. Tensors that only EXPECTED has are named and kept.
    #[arg(long, conflicts_with = "junit")]
    pub accept: bool,
    /// Compare with a golden file, in a test: TENSOROP_UPDATE_GOLDEN=1 in the environment then does the same as --accept
    ///
    /// The values 1, true and yes accept ACTUAL, in any case; 0, false, no and an empty value do not; any other value is an
    /// error. Without --golden the variable has no effect. Standard input, JSON and an address are only compared.
    #[arg(long)]
    pub golden: bool,
    /// With --accept: report the files that would be written, and write nothing
    ///
    /// All checks are made. The status is that of --accept: 0 if ACTUAL can be accepted.
    #[arg(id = "accept_dry_run", long = "dry-run", requires = "accept")]
    pub dry_run: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acceptance {
    Never,
    /// The report says how to accept them.
    Offered,
    Written,
    /// `--dry-run`: the files that would be written are reported.
    Reported,
}

impl AcceptOptions {
    pub(super) fn acceptance(&self, io: &Io, expected: &Located) -> Result<Acceptance> {
        let is_file = !matches!(expected.place, Place::Stdin | Place::Json(_) | Place::Object(_));
        let updates = self.golden && rewrite::updates_golden(io.environment.update_golden.as_deref())? && is_file;
        Ok(match (self.accept || updates, self.dry_run) {
            (true, false) => Acceptance::Written,
            (true, true) => Acceptance::Reported,
            (false, _) if self.golden && is_file => Acceptance::Offered,
            (false, _) => Acceptance::Never,
        })
    }
}

impl Acceptance {
    pub(super) fn is_given(self) -> bool {
        matches!(self, Self::Written | Self::Reported)
    }

    /// Appends how to make a missing EXPECTED to its error, if a file can be made.
    pub(super) fn offer_to_make(self, [expected, actual]: [&Located; 2], error: anyhow::Error) -> anyhow::Error {
        let is_folder =
            |located: &Located| located.is_whole() && matches!(located.place, Place::Folder(_) | Place::Store(..));
        let how = match self {
            Self::Offered => format!("{UPDATE_GOLDEN}=1"),
            Self::Never | Self::Written | Self::Reported => "--accept".to_owned(),
        };
        match is_absent(expected) && (is_folder(actual) || rewrite::new_format(expected.output().0).is_ok()) {
            true => anyhow!("{}; {how} makes it", message(&error)),
            false => error,
        }
    }

    pub(super) fn hint(self) -> Option<String> {
        (self == Self::Offered).then(|| format!("{UPDATE_GOLDEN}=1 accepts ACTUAL"))
    }
}

//! Decides whether `diff` accepts tensors that do not pass.

use anyhow::{Result, anyhow};
use clap::Args;

use crate::command::messages::message;
use crate::command::options::EXPECTED;
use crate::command::process::io::Io;
use crate::error::{Error, ErrorKind};
use crate::formats::raw::RawView;
use crate::library::rewrite::{self, UPDATE_GOLDEN};
use crate::opening::input::{Input, OpenOptions};
use crate::opening::located::{Located, Place};

/// The options that let tensors of ACTUAL become those of EXPECTED.
#[derive(Args)]
#[command(next_help_heading = "Golden files")]
pub(crate) struct AcceptOptions {
    /// If ACTUAL does not pass, write EXPECTED again with the tensors of ACTUAL
    ///
    /// This keeps EXPECTED's format, and with --ignore-dtype also its dtype; values that do not fit are an error. The order
    /// is C. Each file is written completely or not at all, and a line reports it; the status is then 0. The report on one
    /// tensor is its line of -q (with --worst N the whole report), and with -q only the lines of files are printed. An EXPECTED
    /// that is empty or damaged is replaced. A text that the same command would not find equal is not written, as CSV of strings
    /// that look like numbers, unless --dtype str reads them.
    ///
    /// Bytes without a header (FILE:DTYPE[DIMS]) and Zarr stores of version 2 are changed in place, which is not atomic.
    /// They accept only items of the same dtype and shape. Tensors that only ACTUAL has are added (in a folder as files of
    /// ACTUAL's format), and a missing EXPECTED is made. Tensors that only EXPECTED has are named and kept.
    #[arg(long, conflicts_with = "junit")]
    pub accept: bool,
    /// Compare with a golden file, in a test: TENSOROP_UPDATE_GOLDEN=1 in the environment then does the same as --accept
    ///
    /// The values 1, true and yes accept ACTUAL, in any case; 0, false, no and an empty value do not; any other value is an
    /// error. Without --golden the variable has no effect. Standard input, JSON and an address are only compared. A golden
    /// file that is empty or damaged is different.
    ///
    /// If TENSOROP_KEEP_ACTUAL names a folder, a check that fails leaves ACTUAL there as NAME.actual.npy, or as
    /// NAME.actual.npz if it is several tensors, for the golden file NAME. A check that passes removes it.
    #[arg(long)]
    pub golden: bool,
    /// With --accept: report the files that would be written, and write nothing
    ///
    /// All checks are made. The status is that of --accept: 0 if ACTUAL can be accepted.
    #[arg(id = "accept_dry_run", long = "dry-run", requires = "accept")]
    pub dry_run: bool,
}

impl AcceptOptions {
    /// Whether ACTUAL is accepted.
    pub(crate) fn accepts(&self, io: &Io, expected: &Located) -> Result<bool> {
        let updates = self.golden && rewrite::updates_golden(io.environment.update_golden.as_deref())?;
        Ok(self.accept || updates && is_file(expected))
    }

    /// Appends how to make a missing EXPECTED to its error, if a file can be made.
    pub(crate) fn offer_to_make(&self, [expected, actual]: [&Located; 2], error: anyhow::Error) -> anyhow::Error {
        let is_folder =
            |located: &Located| located.is_whole() && matches!(located.place, Place::Folder(_) | Place::Store(..));
        let how = if self.golden { format!("{UPDATE_GOLDEN}=1") } else { "--accept".to_owned() };
        match is_absent(expected) && (is_folder(actual) || rewrite::new_format(expected.output().0).is_ok()) {
            true => anyhow!("{}; {how} makes it", message(&error)),
            false => error,
        }
    }

    pub(crate) fn hint(&self, expected: &Located) -> Option<String> {
        (self.golden && is_file(expected)).then(|| format!("{UPDATE_GOLDEN}=1 accepts ACTUAL"))
    }
}

pub(crate) fn is_absent(located: &Located) -> bool {
    match (&located.place, &located.suffix) {
        (Place::Absent(_), _) => true,
        (Place::File(file) | Place::Store(file, _), Some(name))
            if !name.contains(['*', '?', '{']) && !RawView::is_meant(name) =>
        {
            let has = |input: Input| input.names().is_none_or(|names| names.contains(name));
            OpenOptions::default().open(&Located::from_path(file)).is_ok_and(|input| !has(input))
        }
        // addresses are never made, and a tensor of a folder is made through its file
        _ => false,
    }
}

pub(crate) fn is_file(expected: &Located) -> bool {
    !matches!(expected.place, Place::Stdin | Place::Json(_) | Place::Object(_))
}

/// Whether the content of EXPECTED is at fault: a golden file that is empty, cut, or has other values than its text promises.
pub(crate) fn is_damaged(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<Error>().map(Error::kind);
    matches!(kind, Some(ErrorKind::Malformed | ErrorKind::Argument)) && message(error).starts_with(EXPECTED.name)
}

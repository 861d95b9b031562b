//! The outputs of a run: where they go, what they hold, and the report of a dry run.

pub(crate) mod destination;
pub(crate) mod dry_run;
pub(crate) mod output_files;
pub(crate) mod output_set;

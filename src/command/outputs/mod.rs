//! The outputs of a run: their places, their content, and the report of a dry run.

pub(crate) mod destination;
pub(crate) mod dry_run;
pub(crate) mod output_files;
pub(crate) mod output_set;

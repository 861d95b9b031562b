//! The process of a run: streams and environment, the progress bar, arguments in other processes.

pub(crate) mod arguments;
pub(crate) mod io;
pub(crate) mod meter;

//! What a run has of its process: streams and environment, the progress bar, its arguments in other processes.

pub(crate) mod arguments;
pub(crate) mod io;
pub(crate) mod meter;

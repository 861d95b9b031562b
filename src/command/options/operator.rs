//! The options that operators have in common.

use clap::Args;

use super::operands::InputOptions;
use super::output::{EditOptions, OutputOptions};
use super::run::RunOptions;

/// The options of a command that makes a new output.
#[derive(Debug, Args)]
pub(crate) struct OperatorOptions {
    #[command(flatten)]
    pub input: InputOptions,
    #[command(flatten)]
    pub output: OutputOptions,
    #[command(flatten)]
    pub run: RunOptions,
}

/// The options of an operator that changes DATA, in a new output or in place.
#[derive(Debug, Args)]
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

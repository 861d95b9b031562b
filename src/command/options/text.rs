//! How tensors are printed.

use clap::{Args, ValueHint};

use super::values::parse_number;
use crate::format::text::TextOptions;

const HEADING: &str = "Text output";

/// What is the same for all that prints text; when it is elided each sub-command says itself.
#[derive(Debug, Args)]
pub(crate) struct PageOptions {
    /// Items at each end of an axis that stay when it is elided
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, default_value_t = 3, allow_hyphen_values = true, help_heading = HEADING)]
    pub edgeitems: usize,
    /// Characters in a line
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, default_value_t = 75, allow_hyphen_values = true, help_heading = HEADING)]
    pub linewidth: usize,
    /// At most N digits after the point [default: as many as tell the value]
    #[arg(long, value_name = "N", value_parser = parse_number::<usize>, value_hint = ValueHint::Other, allow_hyphen_values = true, help_heading = HEADING)]
    pub precision: Option<usize>,
}

impl PageOptions {
    /// Elided above `threshold` items.
    pub(crate) fn above(&self, threshold: Option<usize>) -> TextOptions {
        TextOptions { threshold, edgeitems: self.edgeitems, linewidth: self.linewidth, precision: self.precision }
    }
}

//! The new items of the operators that change DATA.

use clap::{ArgGroup, Args, ValueHint};

use super::operands::OperandArg;

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("new").args(["updates", "fill"]).required(true))]
pub(crate) struct UpdatesOptions {
    /// The new items, of DATA's dtype: an operand as DATA
    #[arg(value_name = "UPDATES", value_parser = OperandArg::parser(), allow_negative_numbers = true, value_hint = ValueHint::FilePath)]
    pub updates: Option<OperandArg>,
    /// One value for every place addressed, instead of UPDATES
    ///
    /// The value is of DATA's dtype: a number such as -1 (also nan, inf, -inf), true or false, [re, im], a
    /// text or a date.
    #[arg(long, value_name = "VALUE", value_hint = ValueHint::Other, allow_hyphen_values = true, conflicts_with = "updates", help_heading = "Updates")]
    pub fill: Option<String>,
}

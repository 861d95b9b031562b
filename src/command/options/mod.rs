//! The arguments that several sub-commands share, a file for each group.
//!
//! Text becomes domain types while it is parsed, so that bad text is a usage error. Nothing here looks at a file,
//! except to locate operands. The grammar lets values begin with `-`.

pub(super) mod cast;
mod dumps;
pub(super) mod members;
mod operands;
mod operator;
mod output;
mod passing;
mod slices;
mod values;

pub(super) use self::dumps::DumpOptions;
pub(super) use self::members::MemberOptions;
pub(super) use self::operands::{
    ACTUAL, AddressOptions, DATA, EXPECTED, FILE, IN, INDICES, InputOptions, Operand, SHELTER, check_stdin, data_help,
    parse_timeout, sheltered,
};
pub(super) use self::operator::{
    ChangeOptions, DuplicateOptions, OperatorOptions, RunOptions, SCATTER_HEADING, ThreadOptions, UpdatesOptions,
    parse_threads, reductions,
};
pub(super) use self::output::{Names, OutputOptions, PageOptions};
pub(super) use self::passing::{JunitOptions, PassOptions, parse_steps, parse_tolerances, write_junit};
pub(super) use self::slices::{At, IndexList, SliceOptions};
pub(super) use self::values::{
    ByName, DTypeArg, DTypeParser, OptionWord, dtype_help, parse_glob, parse_number, parse_path, parse_size,
    parse_words, word,
};

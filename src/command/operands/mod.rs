//! The operands of a run: their files, tensors and dtypes, and notes on faults.

pub(crate) mod container_notes;
pub(crate) mod dtype_option;
pub(crate) mod list_options;
pub(crate) mod member;
pub(crate) mod operand_reader;

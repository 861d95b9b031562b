//! Arguments that several sub-commands take, one file a group. Text becomes domain types while it is parsed, so that
//! bad text fails as usage; nothing here looks at a file before the sub-command runs.

pub mod at;
pub mod index_list;
pub mod operands;
pub mod output;
pub mod run;
pub mod scatter;
pub mod slices;
pub mod updates;
pub mod values;

//! Arguments that several sub-commands take, one file a group. Text becomes domain types while it is parsed, so that
//! bad text fails as usage; nothing here looks at a file before the sub-command runs.

pub(super) mod at;
pub(super) mod cast;
pub(super) mod index_list;
pub(super) mod members;
pub(super) mod operands;
pub(super) mod operator;
pub(super) mod output;
pub(super) mod parts;
pub(super) mod run;
pub(super) mod scatter;
pub(super) mod slices;
pub(super) mod text;
pub(super) mod updates;
pub(super) mod values;

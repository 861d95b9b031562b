//! Text whose items get a dtype later. Only `Unparsed` distinguishes JSON lists from cells of a table.

pub(super) mod cells;
pub mod delimiter;
mod infer;
pub(super) mod item;
mod leaf;
pub(super) mod lists;
mod read;
mod strings;
mod untyped;

pub use self::infer::infer;
pub(super) use self::infer::source;
pub(super) use self::item::most_padded;
pub(super) use self::item::{cannot_hold, check_text};
pub use self::item::{dtype_of_string, parse_item};
pub(super) use self::read::Unparsed;
pub use self::read::Values;
pub(super) use self::strings::{short, shorten, string};

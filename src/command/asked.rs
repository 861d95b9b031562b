//! Applies `--dtype` to the operands of a command: it decides the dtype of what is ambiguous, and leaves operands that
//! have a dtype of their own as they are.

use std::cell::{Cell, RefCell};

use anyhow::{Result, anyhow};

use super::messages::about_items;
use crate::format::stored_dtype::StoredDType;
use crate::item::dtype::{DType, Kind};

/// Which items with a dtype of their own `--dtype` may read as another dtype of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reinterpret {
    /// Only those of a void.
    Void,
    /// Those of a void and unsigned integers.
    Unsigned,
    /// All items.
    Bits,
}

/// The dtype of `--dtype`, for which items it is, and whether any operand of the command had a use for it.
///
/// All operands of a command share one: an operand that has no use for the dtype is only an error if no other operand has
/// one either, since then the user is mistaken about the file.
pub(super) struct Asked<'a> {
    asked: Option<&'a StoredDType>,
    reading: Reinterpret,
    taken: Cell<bool>,
    /// The message if no operand takes it, about the first one that did not.
    left: RefCell<Option<String>>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(asked: Option<&'a StoredDType>, reading: Reinterpret) -> Self {
        Self { asked, reading, taken: Cell::new(false), left: RefCell::new(None) }
    }

    /// Returns whether a dtype was given.
    pub(super) fn is_asked(&self) -> bool {
        self.asked.is_some()
    }

    /// Returns the dtype for text that has none of its own, beside an operand of dtype `other`; `None` if the text itself
    /// decides. Messages call the text `label`.
    pub(super) fn plain_dtype(&self, other: Option<DType>, label: &str) -> Option<DType> {
        match self.asked.filter(|asked| asked.is_packed()) {
            // a text has values, and beside items that share bytes it has theirs
            Some(asked) => {
                let (name, items) = (asked.name(), asked.dtype().name());
                let left = || format!("{label}: a text has values, and {name} says how bytes hold items: say {items}");
                self.left.borrow_mut().get_or_insert_with(left);
            }
            None => self.taken.set(true),
        }
        match (self.asked.map(StoredDType::dtype), other) {
            // strings of any width were asked for, and the other operand has a width
            (Some(asked), Some(other)) if agree(asked, &other) => Some(other),
            (Some(asked), _) => Some(asked.clone()),
            (None, other) => other,
        }
    }

    /// Returns how the items of an operand of dtype `found` are read. Messages call the operand `label`.
    ///
    /// # Errors
    /// Big-endian items that cannot be read as the dtype of `--dtype`; with [`Reinterpret::Bits`] any that cannot.
    pub(super) fn read(&self, found: &DType, label: &str) -> Result<StoredDType> {
        let unchanged = || Ok(found.clone().into());
        let Some(asked) = self.asked else { return unchanged() };
        if agree(asked.dtype(), found) {
            self.taken.set(true);
            return unchanged();
        }
        let may = match self.reading {
            // whoever says how bytes hold items means bytes
            Reinterpret::Void => match found.kind() {
                Kind::UInt8 => asked.is_packed(),
                kind => matches!(kind, Kind::Void(_)),
            },
            Reinterpret::Unsigned => {
                matches!(found.kind(), Kind::Void(_) | Kind::UInt8 | Kind::UInt16 | Kind::UInt32 | Kind::UInt64)
            }
            Reinterpret::Bits => true,
        };
        let (found_name, asked_name) = (found.name(), asked.name());
        let refused = || about_items(format!("{label}: dtype {found_name}, but --dtype says {asked_name}"), found);
        if !may || asked.dtype().itemsize() != found.itemsize() {
            if self.reading == Reinterpret::Bits {
                return Err(anyhow!(refused()));
            }
            let cure = if found.is_ambiguous() {
                ""
            } else if asked.is_packed() {
                ", which is for uint8 and void items of one byte"
            } else {
                ", which is for plain JSON and ambiguous items (see convert --cast)"
            };
            self.left.borrow_mut().get_or_insert_with(|| refused() + cure);
            return unchanged();
        }
        self.taken.set(true);
        let cure = "convert --byte-order little first";
        let read = asked.read_from(found);
        read.ok_or_else(|| anyhow!("{label}: big-endian {found_name} cannot be read as {asked_name}: {cure}"))
    }

    /// Checks, when all operands have been read, that one of them had a use for the dtype.
    ///
    /// # Errors
    /// No operand took it.
    pub(super) fn finish(&self) -> Result<()> {
        match self.left.take().filter(|_| !self.taken.get()) {
            Some(left) => Err(anyhow!(left)),
            None => Ok(()),
        }
    }
}

/// Returns whether `found` is the dtype asked for; `str` and `bytes` stand for any width.
fn agree(asked: &DType, found: &DType) -> bool {
    let any_width =
        matches!((asked.kind(), found.kind()), (Kind::Str(0), Kind::Str(_)) | (Kind::Bytes(0), Kind::Bytes(_)));
    any_width || asked.same_kind(found)
}

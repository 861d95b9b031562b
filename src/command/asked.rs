//! What `--dtype` says of the operands of a command: it reads what is ambiguous, and leaves alone what has a dtype of
//! its own.

use std::cell::{Cell, RefCell};

use anyhow::{Result, anyhow};

use super::outcome::advised;
use crate::error::{Error, Subject};
use crate::format::open::Input;
use crate::item::dtype::{DType, Kind};
use crate::storage::source::Source;

/// What `--dtype` may do to an operand that has a dtype of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Say what a void is.
    Void,
    /// Also say what the bits of unsigned integers are.
    Unsigned,
    /// Say what the bits are, whatever they were.
    Bits,
}

/// The dtype that a command was given, and whether any of its operands had a use for it.
///
/// One for all operands of a command, so that a dtype meant for one of them does not refuse the others, and one that is
/// of no use to any is still an error: it is then a mistake about the file.
pub(super) struct Asked<'a> {
    dtype: Option<&'a DType>,
    taken: Cell<bool>,
    /// What is said if no operand takes it: about the first that did not.
    left: RefCell<Option<String>>,
}

impl<'a> Asked<'a> {
    pub(super) fn new(dtype: Option<&'a DType>) -> Self {
        Self { dtype, taken: Cell::new(false), left: RefCell::new(None) }
    }

    /// Whether a dtype was given.
    pub(super) fn is_asked(&self) -> bool {
        self.dtype.is_some()
    }

    /// The dtype of an operand that has none of its own, beside one of dtype `other`; `None` if nothing tells it.
    pub(super) fn plain_dtype(&self, other: Option<DType>) -> Option<DType> {
        self.taken.set(true);
        match (self.dtype, other) {
            // strings of any width were asked for: the other operand has one
            (Some(asked), Some(other)) if agree(asked, &other) => Some(other),
            (Some(asked), _) => Some(asked.clone()),
            (None, other) => other,
        }
    }

    /// What the items of an operand of dtype `found` are, which messages call `label`.
    ///
    /// # Errors
    /// Big-endian items that cannot be read as the dtype asked for; with [`Reading::Bits`] any that cannot.
    pub(super) fn read(&self, found: &DType, label: &str, reading: Reading) -> Result<DType> {
        let Some(asked) = self.dtype else { return Ok(found.clone()) };
        if agree(asked, found) {
            self.taken.set(true);
            return Ok(found.clone());
        }
        let may = match reading {
            Reading::Void => is_void(found),
            Reading::Unsigned => is_void(found) || is_unsigned(found),
            Reading::Bits => true,
        };
        let (found_name, asked_name) = (found.name(), asked.name());
        let refused = || format!("{label}: dtype {found_name}, but --dtype says {asked_name}");
        if !may || asked.itemsize() != found.itemsize() {
            if reading == Reading::Bits {
                return Err(anyhow!(refused()));
            }
            self.left.borrow_mut().get_or_insert_with(refused);
            return Ok(found.clone());
        }
        self.taken.set(true);
        asked.read_from(found).ok_or_else(|| {
            anyhow!(
                "{label}: big-endian {found_name} cannot be read as {asked_name}: convert --byte-order little first"
            )
        })
    }

    /// An operand with a dtype of its own, as `--dtype` sees it.
    ///
    /// # Errors
    /// Those of [`read`](Self::read).
    pub(super) fn source(&self, mut source: Source, reading: Reading) -> Result<Source> {
        let dtype = self.read(source.dtype(), source.label(), reading)?;
        source.reinterpret(dtype);
        Ok(source)
    }

    /// Plain JSON or CSV as `--dtype` says; `None` of anything that has a dtype of its own, or if it is not asked for.
    ///
    /// # Errors
    /// Text that holds no tensor of that dtype.
    pub(super) fn plain(&self, input: &Input, label: &str) -> Result<Option<Source>> {
        let Some(dtype) = self.dtype else { return Ok(None) };
        let Some(values) = input.values(Subject::Data) else { return Ok(None) };
        let refuse = |error: Error| refusal(label, &error);
        let values = values.map_err(refuse)?;
        if values.dtype().is_some() {
            return Ok(None);
        }
        self.taken.set(true);
        Ok(Some(Source::memory(values.read(dtype).map_err(refuse)?, label.to_owned())))
    }

    /// To be called when all operands have been seen.
    ///
    /// # Errors
    /// A dtype that none of them took, where there was any.
    pub(super) fn finish(&self) -> Result<()> {
        match self.left.take().filter(|_| !self.taken.get()) {
            Some(left) => Err(anyhow!("{left}, which is for plain JSON and ambiguous items (see convert --cast)")),
            None => Ok(()),
        }
    }
}

/// What the library refuses in an operand, with what would help.
pub(super) fn refusal(label: &str, error: &Error) -> anyhow::Error {
    anyhow!("{label}: {}", advised(error.message().to_owned(), error.advice()))
}

/// Whether items of dtype `found` are what was asked for: `str` and `bytes` are of any width.
fn agree(asked: &DType, found: &DType) -> bool {
    let any_width =
        matches!((asked.kind(), found.kind()), (Kind::Str(0), Kind::Str(_)) | (Kind::Bytes(0), Kind::Bytes(_)));
    any_width || asked.same_kind(found)
}

fn is_void(found: &DType) -> bool {
    matches!(found.kind(), Kind::Void(_))
}

fn is_unsigned(found: &DType) -> bool {
    matches!(found.kind(), Kind::UInt8 | Kind::UInt16 | Kind::UInt32 | Kind::UInt64)
}

//! Applies `--dtype` to the operands of a command: it decides the dtype of what is ambiguous, and leaves operands that
//! have a dtype of their own as they are.

use std::cell::{Cell, RefCell};

use anyhow::{Result, anyhow, bail};

use super::messages::about_items;
use super::options::DTypeArg;
use super::options::members::meant;
use crate::format::open::Input;
use crate::format::stored_dtype::StoredDType;
use crate::item::cast::Cast;
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

/// The values of `--dtype`, the items that they may apply to, and a record of which values have been used.
///
/// All operands of a command share them: a tensor that has no use for a dtype is only an error if no other tensor has one
/// either, since then the user is mistaken about the file.
pub(super) struct AskedDTypes<'a> {
    given: &'a [DTypeArg],
    reading: Reinterpret,
    /// Whether the command can cast values.
    casts: bool,
    uses: RefCell<Vec<DTypeUse>>,
    /// The names of the tensors, if a value has a pattern.
    names: RefCell<Vec<String>>,
    /// Whether a tensor has void items that the value without a pattern is for, or has its dtype already.
    has_clear: Cell<bool>,
}

/// A record of how one value of `--dtype` was used.
#[derive(Clone, Default)]
struct DTypeUse {
    is_taken: bool,
    is_matched: bool,
    /// The message if no tensor takes it, about the first one that did not.
    left: Option<String>,
}

impl<'a> AskedDTypes<'a> {
    pub(super) fn new(given: &'a [DTypeArg], reading: Reinterpret) -> Self {
        Self {
            given,
            reading,
            casts: false,
            uses: RefCell::new(vec![DTypeUse::default(); given.len()]),
            names: RefCell::default(),
            has_clear: Cell::new(false),
        }
    }

    /// Makes errors suggest `--cast`, which this command has.
    pub(super) fn of_convert(self) -> Self {
        Self { casts: true, ..self }
    }

    /// Returns whether the dtypes of all tensors must be known before the first is read; [`look_at`](Self::look_at) takes them.
    pub(super) fn depends_on_others(&self) -> bool {
        self.reading == Reinterpret::Unsigned && self.given.iter().any(|value| value.glob.is_none())
    }

    /// Records the dtype of a tensor before the first one is read. If any tensor has void items of the right size, a value without
    /// a pattern applies to void items only, and not to unsigned ones. A tensor that already has the dtype counts as well, because
    /// `.npy` files store bfloat16 as void items that are recognised.
    pub(super) fn look_at(&self, name: Option<&str>, dtype: &DType) {
        let value = self.number_for(name.unwrap_or_default()).map(|number| &self.given[number]);
        if value.is_some_and(|value| value.glob.is_none() && is_clear(&value.value, dtype)) {
            self.has_clear.set(true);
        }
    }

    /// Records the dtypes of tensors of a file, given by their numbers, if [needed](Self::depends_on_others). Tensors that cannot
    /// be described are skipped here; reading them reports the error.
    pub(super) fn look_at_all(&self, input: &Input, tensors: &[usize]) {
        for &n in tensors.iter().filter(|_| self.depends_on_others()) {
            if let Ok(described) = input.describe(n) {
                self.look_at(input.name(n), &described.meta.dtype);
            }
        }
    }

    /// Returns the number of the value that applies to a tensor called `name`: the last value whose pattern matches, or else the
    /// last value without a pattern.
    fn number_for(&self, name: &str) -> Option<usize> {
        let last = |is_it: &dyn Fn(&DTypeArg) -> bool| self.given.iter().rposition(is_it);
        let matching = last(&|value| value.glob.as_ref().is_some_and(|glob| glob.matches(name)));
        matching.or_else(|| last(&|value| value.glob.is_none()))
    }

    /// Returns the request for a tensor called `name`. Patterns match a tensor without a name as the empty text.
    pub(super) fn of(&self, name: Option<&str>) -> DTypeOption<'_> {
        let name = name.unwrap_or_default();
        if self.given.iter().any(|value| value.glob.is_some()) {
            let mut uses = self.uses.borrow_mut();
            for (value, used) in self.given.iter().zip(uses.iter_mut()) {
                used.is_matched |= value.glob.as_ref().is_some_and(|glob| glob.matches(name));
            }
            self.names.borrow_mut().push(name.to_owned());
        }
        DTypeOption { all: self, number: self.number_for(name) }
    }

    /// Checks that each value was used, when all tensors have been read.
    ///
    /// # Errors
    /// A value that no tensor could take; a pattern that matched no name. A value without a tensor is accepted if later values
    /// applied to all tensors that it matches.
    pub(super) fn finish(&self) -> Result<()> {
        for (value, used) in self.given.iter().zip(self.uses.borrow().iter()) {
            let left = used.left.clone().filter(|_| !used.is_taken);
            match (left, value.glob.as_ref().filter(|_| !used.is_matched)) {
                (Some(left), _) => return Err(anyhow!(left)),
                (None, Some(glob)) => {
                    let (names, text) = (self.names.take(), glob.text());
                    let mut names: Vec<_> = names.iter().map(String::as_str).collect();
                    names.dedup();
                    bail!("--dtype {text}={}: {text} matches no tensor{}", value.value.name(), meant(text, &names))
                }
                (None, None) => {}
            }
        }
        Ok(())
    }
}

/// The value of `--dtype` that applies to one tensor, if any.
#[derive(Clone, Copy)]
pub(super) struct DTypeOption<'a> {
    all: &'a AskedDTypes<'a>,
    number: Option<usize>,
}

impl<'a> DTypeOption<'a> {
    fn value(self) -> Option<&'a DTypeArg> {
        self.number.map(|number| &self.all.given[number])
    }

    fn dtype(self) -> Option<&'a StoredDType> {
        self.value().map(|value| &value.value)
    }

    /// Returns whether a dtype was given.
    pub(super) fn is_asked(self) -> bool {
        self.number.is_some()
    }

    fn take(self) {
        if let Some(number) = self.number {
            self.all.uses.borrow_mut()[number].is_taken = true;
        }
    }

    fn leave(self, why: impl FnOnce() -> String) {
        if let Some(number) = self.number {
            self.all.uses.borrow_mut()[number].left.get_or_insert_with(why);
        }
    }

    /// Returns the dtype for text that has none of its own, beside an operand of dtype `other`; `None` if the text itself
    /// decides. Messages call the text `label`.
    pub(super) fn plain_dtype(self, other: Option<DType>, label: &str) -> Option<DType> {
        match self.dtype().filter(|asked| asked.is_packed()) {
            // a text has values, and beside items that share bytes it has theirs
            Some(asked) => {
                let (name, items) = (asked.name(), asked.dtype().name());
                self.leave(|| format!("{label}: a text has values, and {name} says how bytes hold items: say {items}"));
            }
            None => self.take(),
        }
        match (self.dtype().map(StoredDType::dtype), other) {
            // strings of any width were asked for, and the other operand has a width
            (Some(asked), Some(other)) if agree(asked, &other) => Some(other),
            (Some(asked), _) => Some(asked.clone()),
            (None, other) => other,
        }
    }

    /// Returns whether a tensor of dtype `found` makes the value apply to unsigned items of the tensor that it is compared with.
    pub(super) fn is_clear(self, found: &DType) -> bool {
        self.dtype().is_some_and(|asked| is_clear(asked, found))
    }

    /// Returns how the items of an operand of dtype `found` are read. Messages call the operand `label`. `beside_clear` says
    /// that the tensor it is compared with [is clear](Self::is_clear).
    ///
    /// # Errors
    /// Big-endian items that cannot be read as the dtype of `--dtype`; with [`Reinterpret::Bits`] any that cannot.
    pub(super) fn read(self, found: &DType, label: &str, beside_clear: bool) -> Result<StoredDType> {
        let unchanged = || Ok(found.clone().into());
        let Some(value) = self.value() else { return unchanged() };
        let (asked, reading) = (&value.value, self.all.reading);
        if agree(asked.dtype(), found) {
            self.take();
            return unchanged();
        }
        let leaves_unsigned = value.glob.is_none() && self.all.has_clear.get() && !beside_clear;
        let may = match reading {
            // whoever says how bytes hold items means bytes
            Reinterpret::Void => match found.kind() {
                Kind::UInt8 => asked.is_packed(),
                kind => matches!(kind, Kind::Void(_)),
            },
            Reinterpret::Unsigned => match found.kind() {
                Kind::Void(_) => true,
                Kind::UInt8 | Kind::UInt16 | Kind::UInt32 | Kind::UInt64 => !leaves_unsigned,
                _ => false,
            },
            Reinterpret::Bits => true,
        };
        let (found_name, asked_name) = (found.name(), asked.name());
        let refused = || about_items(format!("{label}: dtype {found_name}, but --dtype says {asked_name}"), found);
        if !may || asked.dtype().itemsize() != found.itemsize() {
            let casts = self.all.casts && !asked.is_packed() && Cast::new(found, asked.dtype(), true).is_ok();
            let cast = if casts { format!("; --cast {asked_name} converts the values") } else { String::new() };
            if reading == Reinterpret::Bits {
                return Err(anyhow!(refused() + &cast));
            }
            let cure = if found.is_ambiguous() {
                ""
            } else if asked.is_packed() {
                ", which is for uint8 and void items of one byte"
            } else if casts {
                &cast
            } else {
                ", which is for plain JSON and ambiguous items (see convert --cast)"
            };
            self.leave(|| refused() + cure);
            return unchanged();
        }
        self.take();
        let cure = "convert --byte-order little first";
        let read = asked.read_from(found);
        read.ok_or_else(|| anyhow!("{label}: big-endian {found_name} cannot be read as {asked_name}: {cure}"))
    }
}

/// Returns whether a requested dtype clearly means items of dtype `found`: void items of its size, or items that already have it.
fn is_clear(asked: &StoredDType, found: &DType) -> bool {
    let is_void = matches!(found.kind(), Kind::Void(_)) && found.itemsize() == asked.dtype().itemsize();
    is_void || agree(asked.dtype(), found)
}

/// Returns whether `found` is the dtype asked for; `str` and `bytes` stand for any width.
fn agree(asked: &DType, found: &DType) -> bool {
    let any_width =
        matches!((asked.kind(), found.kind()), (Kind::Str(0), Kind::Str(_)) | (Kind::Bytes(0), Kind::Bytes(_)));
    any_width || asked.same_kind(found)
}

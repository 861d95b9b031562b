//! Applies `--dtype` to the operands of a command. It decides the dtype of ambiguous items and leaves operands with a
//! dtype of their own unchanged.

use std::mem;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow, bail, ensure};

use crate::command::messages::about_items;
use crate::command::options::members::meant;
use crate::command::options::{DTypeArg, InputOptions};
use crate::command::process::io::{Io, OperandContainers};
use crate::item::cast::Cast;
use crate::item::dtype::{DType, Kind};
use crate::narrow::stored_dtype::StoredDType;
use crate::opening::input::Input;
use crate::parallel::locked;
use crate::renamed::NameStyle;

/// The items that may be read as another dtype of the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reinterpret {
    Void,
    /// Void items and unsigned integers.
    Unsigned,
    Bits,
}

/// The values of `--dtype`.
///
/// All operands share them: a value that one tensor cannot use is an error only if no tensor uses it.
pub(crate) struct AskedDTypes<'a> {
    /// With `--dequantize`, whose weights these are to find.
    quantized: Option<&'a OperandContainers>,
    /// With `--names`, which must apply to one of the files.
    named: Option<(NameStyle, &'a OperandContainers)>,
    values: &'a [DTypeArg],
    reading: Reinterpret,
    /// Whether the command has `--cast`, which converts values.
    pub casts: bool,
    uses: Mutex<Vec<DTypeUse>>,
    /// The requested tensors in order; empty without values.
    names: Mutex<Vec<String>>,
    /// Whether a tensor has void items for the value without a pattern, or its dtype.
    has_clear: AtomicBool,
}

#[derive(Clone, Default)]
struct DTypeUse {
    is_used: bool,
    is_matched: bool,
    /// The number of the first tensor that could not use the value, and the error about it.
    unused: Option<(usize, String)>,
}

impl<'a> AskedDTypes<'a> {
    pub(crate) fn new(options: &'a InputOptions, reading: Reinterpret, io: &'a Io) -> Self {
        let values = &*options.dtype;
        Self {
            quantized: options.dequantize.as_ref().map(|_| &io.containers),
            named: options.names.map(|style| (style, &io.containers)),
            values,
            reading,
            casts: false,
            uses: Mutex::new(vec![DTypeUse::default(); values.len()]),
            names: Mutex::default(),
            has_clear: AtomicBool::new(false),
        }
    }

    /// If so, call [`look_at`](Self::look_at) for every tensor before reading the first.
    pub(crate) fn depends_on_others(&self) -> bool {
        self.reading == Reinterpret::Unsigned && self.values.iter().any(|value| value.glob.is_none())
    }

    /// If a tensor has void items of the right size, a value without a pattern does not apply to unsigned integers.
    /// Tensors of the dtype itself count too, since `.npy` files store bfloat16 as void.
    pub(crate) fn look_at(&self, name: Option<&str>, dtype: &DType) {
        let value = self.number_for(name.unwrap_or_default()).map(|number| &self.values[number]);
        if value.is_some_and(|value| value.glob.is_none() && is_clear(&value.value, dtype)) {
            self.has_clear.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn look_at_all(&self, input: &Input, tensors: &[usize]) {
        for &n in tensors.iter().filter(|_| self.depends_on_others()) {
            if let Ok(described) = input.describe(n) {
                self.look_at(input.name(n), &described.meta.dtype);
            }
        }
    }

    /// The last matching pattern wins, then the last value without a pattern.
    fn number_for(&self, name: &str) -> Option<usize> {
        let last = |is_it: &dyn Fn(&DTypeArg) -> bool| self.values.iter().rposition(is_it);
        let matching = last(&|value| value.glob.as_ref().is_some_and(|glob| glob.matches(name)));
        matching.or_else(|| last(&|value| value.glob.is_none()))
    }

    /// Patterns match a tensor without a name as the empty text.
    pub(crate) fn of(&self, name: Option<&str>) -> DTypeOption<'_> {
        let name = name.unwrap_or_default();
        if self.values.is_empty() {
            return DTypeOption { all: self, number: None, tensor: 0 };
        }
        for (value, used) in self.values.iter().zip(locked(&self.uses).iter_mut()) {
            used.is_matched |= value.glob.as_ref().is_some_and(|glob| glob.matches(name));
        }
        let mut names = locked(&self.names);
        names.push(name.to_owned());
        DTypeOption { all: self, number: self.number_for(name), tensor: names.len() }
    }

    /// A value also passes if later values override it for all of its tensors. `--dequantize` must find a weight, and
    /// `--names` a file of other names.
    pub(crate) fn finish(&self) -> Result<()> {
        let found = self.quantized.is_none_or(|containers| containers.has_quantized.load(Ordering::Relaxed));
        ensure!(
            found,
            "--dequantize: no operand has a quantised weight, of a layout that its names or a file beside it state"
        );
        if let Some((style, containers)) = self.named {
            let what = match style {
                NameStyle::Hf => "--names hf: no operand is a GGUF",
                NameStyle::Gguf => "--names gguf: no operand is a checkpoint of other names",
            };
            ensure!(containers.has_names.load(Ordering::Relaxed), "{what}");
        }
        for (value, used) in self.values.iter().zip(locked(&self.uses).iter()) {
            let message = used.unused.clone().filter(|_| !used.is_used);
            match (message, value.glob.as_ref().filter(|_| !used.is_matched)) {
                (Some((_, message)), _) => return Err(anyhow!(message)),
                (None, Some(glob)) => {
                    let (names, text) = (mem::take(&mut *locked(&self.names)), glob.text());
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

#[derive(Clone, Copy)]
pub(crate) struct DTypeOption<'a> {
    all: &'a AskedDTypes<'a>,
    /// Of the value.
    number: Option<usize>,
    /// The tensor's number in the order of requests; threads may read tensors in another order.
    tensor: usize,
}

impl<'a> DTypeOption<'a> {
    fn value(self) -> Option<&'a DTypeArg> {
        self.number.map(|number| &self.all.values[number])
    }

    fn dtype(self) -> Option<&'a StoredDType> {
        self.value().map(|value| &value.value)
    }

    pub(crate) fn is_asked(self) -> bool {
        self.number.is_some()
    }

    /// Whether blocks of items are read as bytes.
    pub(crate) fn is_bytes(self) -> bool {
        self.dtype().is_some_and(|asked| !asked.is_packed() && *asked.dtype().kind() == Kind::UInt8)
    }

    fn mark_used(self) {
        if let Some(number) = self.number {
            locked(&self.all.uses)[number].is_used = true;
        }
    }

    fn mark_unused(self, why: impl FnOnce() -> String) {
        if let Some(number) = self.number {
            let unused = &mut locked(&self.all.uses)[number].unused;
            if unused.as_ref().is_none_or(|(first, _)| self.tensor < *first) {
                *unused = Some((self.tensor, why()));
            }
        }
    }

    /// `None` lets the text decide.
    pub(crate) fn plain_dtype(self, other: Option<DType>, label: &str) -> Option<DType> {
        match self.dtype().filter(|asked| asked.is_packed()) {
            // text has values, not packed bytes
            Some(asked) => {
                let (name, items) = (asked.name(), asked.dtype().name());
                self.mark_unused(|| format!("{label}: text has values, and {name} describes bytes: use {items}"));
            }
            None => self.mark_used(),
        }
        match (self.dtype().map(StoredDType::dtype), other) {
            // `--dtype str` has no width, so the width of the other operand applies
            (Some(asked), Some(other)) if agree(asked, &other) => Some(other),
            (Some(asked), _) => Some(asked.clone()),
            (None, other) => other,
        }
    }

    pub(crate) fn is_clear(self, found: &DType) -> bool {
        self.dtype().is_some_and(|asked| is_clear(asked, found))
    }

    /// `beside_clear`: the other side of the comparison [is clear](Self::is_clear).
    pub(crate) fn read(self, found: &DType, label: &str, beside_clear: bool) -> Result<StoredDType> {
        let unchanged = || Ok(found.clone().into());
        let Some(value) = self.value() else { return unchanged() };
        let (asked, reading) = (&value.value, self.all.reading);
        if agree(asked.dtype(), found) {
            self.mark_used();
            return unchanged();
        }
        let leaves_unsigned = value.glob.is_none() && self.all.has_clear.load(Ordering::Relaxed) && !beside_clear;
        let may = match reading {
            // a packed dtype may also read uint8
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
            self.mark_unused(|| refused() + cure);
            return unchanged();
        }
        self.mark_used();
        let cure = "convert --byte-order little first";
        let read = asked.read_from(found);
        read.ok_or_else(|| anyhow!("{label}: big-endian {found_name} cannot be read as {asked_name}: {cure}"))
    }
}

/// Returns whether the dtype clearly applies: to void items of its size, or items that already have it.
fn is_clear(asked: &StoredDType, found: &DType) -> bool {
    let is_void = matches!(found.kind(), Kind::Void(_)) && found.itemsize() == asked.dtype().itemsize();
    is_void || agree(asked.dtype(), found)
}

/// `str` and `bytes` match any width.
fn agree(asked: &DType, found: &DType) -> bool {
    let any_width =
        matches!((asked.kind(), found.kind()), (Kind::Str(0), Kind::Str(_)) | (Kind::Bytes(0), Kind::Bytes(_)));
    any_width || asked.same_kind(found)
}

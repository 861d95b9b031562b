//! The parts of a weight: their names, checks of their shapes and dtypes, and entries of configs for single modules.

use regex_lite::{Regex, escape};
use serde_json::Value;

use super::matrix::{Encoding, Matrix};
use crate::container::names::joined_by;
use crate::storage::source::Source;
use crate::untyped::python_json::one_line;
use tensorop_kernels::error::{Context, Error, Result, bail, ensure, malformed};
use tensorop_kernels::item::dtype::{DType, Kind, Narrow};
use tensorop_kernels::item::meta::Order;
use tensorop_kernels::memory;

/// The bytes of a text that describes a weight.
const MAX_TEXT: usize = 1 << 16;

/// Numbers of a layout that shapes do not tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PartNumbers {
    pub bits: Option<usize>,
    /// The columns that share a scale; `usize::MAX` for all.
    pub group: Option<usize>,
    /// The rows and columns that share a scale.
    pub block: Option<[usize; 2]>,
    /// Whether codes of 3, 5, 6 and 7 bits may cross from one word into the next.
    pub is_dense: Option<bool>,
    /// MLX's mode, ComfyUI's format or torchao's type.
    pub mode: Option<String>,
    /// The side of a block along each axis.
    pub sides: Option<Vec<usize>>,
    /// Optional parts of the layout that a weight with these numbers must have.
    pub demanded: Vec<Role>,
}

/// The role of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Codes,
    Scales,
    /// The scale of the whole weight.
    Whole,
    Zeros,
    Biases,
    /// The shape of the weight.
    Shape,
    /// The group of each row or column.
    Groups,
    /// A factor for each column, which the layout keeps for the inputs.
    Columns,
    /// A description of the weight, as JSON or a number.
    State,
    /// The values of codes, and those of the codes of scales that are quantised.
    Book,
    NestedBook,
    NestedScales,
    Axis,
    Bits,
    GroupSize,
    Packing,
    /// A setting that changes no number.
    Setting,
}

/// The names of the parts of a layout's weights. They are those of the module and an ending.
#[derive(Debug)]
pub(crate) struct PartNames {
    pub layout: &'static str,
    /// The ending of the codes' name, and their dtypes.
    pub codes: &'static str,
    pub dtypes: &'static [Kind],
    /// The ending of the weight's name.
    pub weight: &'static str,
    /// The scales first.
    pub required: &'static [(Role, &'static str)],
    pub optional: &'static [(Role, &'static str)],
}

/// Endings that tensors of other kinds have, too.
const VAGUE: [&str; 10] =
    ["", ".weight", ".scale", "_scale", ".zero", ".shape", ".axis", ".nbits", ".group_size", ".packing"];

impl PartNames {
    /// Whether an ending alone shows that a tensor is a part of a weight.
    pub(crate) fn is_sure(ending: &str) -> bool {
        !VAGUE.contains(&ending)
    }

    /// The endings that alone show that a tensor is a part.
    pub(crate) fn sure_endings(&self) -> impl Iterator<Item = &'static str> {
        self.endings()
            .filter(|(role, ending)| *role != Role::Setting && Self::is_sure(ending))
            .map(|(_, ending)| ending)
    }

    /// Those that a weight must have.
    pub(crate) fn needed(&self) -> impl Iterator<Item = (Role, &'static str)> {
        [(Role::Codes, self.codes)].into_iter().chain(self.required.iter().copied())
    }

    pub(crate) fn endings(&self) -> impl Iterator<Item = (Role, &'static str)> {
        self.needed().chain(self.optional.iter().copied())
    }

    fn ending(&self, role: Role) -> Option<&'static str> {
        self.endings().find(|(of, _)| *of == role).map(|(_, ending)| ending)
    }
}

/// The parts of a weight.
pub(crate) struct WeightParts<'a> {
    pub names: &'static PartNames,
    /// Other names that the parts may have.
    pub others: &'a [&'static PartNames],
    /// The names of parts begin with it.
    pub base: &'a str,
    /// The file that states numbers, for messages.
    pub config: &'a str,
    /// Opens a part; `None` if there is none of this role.
    pub open: &'a dyn Fn(Role) -> Option<Result<Source>>,
}

impl WeightParts<'_> {
    pub(crate) fn name(&self, role: Role) -> String {
        format!("{}{}", self.base, self.names.ending(role).unwrap_or_default())
    }

    pub(crate) fn optional(&self, role: Role) -> Result<Option<Source>> {
        let Some(source) = (self.open)(role) else { return Ok(None) };
        let source = source?;
        let dtype = source.dtype();
        let is_usable = source.meta().order == Order::C && *dtype == dtype.native() && source.identity()?.is_some();
        ensure!(is_usable, "{}: expected items in C order and little-endian, read by position", self.name(role));
        Ok(Some(source))
    }

    pub(crate) fn required(&self, role: Role) -> Result<Source> {
        self.optional(role)?.with_context(|| self.missing(role))
    }

    pub(crate) fn missing(&self, role: Role) -> String {
        let endings = self.others.iter().filter_map(|names| names.ending(role)).filter(|ending| !ending.is_empty());
        let mut names = vec![self.name(role)];
        for name in endings.map(|ending| format!("{}{ending}", self.base)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        format!("{} is missing", joined_by(&names, "or"))
    }

    pub(crate) fn expect_shape(&self, role: Role, found: &[usize], expected: &[usize]) -> Result<()> {
        ensure!(found == expected, "{} has shape {found:?}, expected {expected:?}", self.name(role));
        Ok(())
    }

    pub(crate) fn expect_items(&self, role: Role, source: &Source, expected: usize) -> Result<()> {
        let found = source.meta().items();
        ensure!(found == expected, "{} has {found} items, expected {expected}", self.name(role));
        Ok(())
    }

    /// Rows of `cols` codes are whole groups.
    pub(crate) fn expect_groups(&self, cols: usize, group: usize) -> Result<()> {
        let name = self.name(Role::Codes);
        ensure!(cols.is_multiple_of(group), "{name} has {cols} items a row, expected groups of {group}");
        Ok(())
    }

    pub(crate) fn expect_dtype(&self, role: Role, found: &DType, expected: &[Kind]) -> Result<()> {
        if expected.contains(found.kind()) {
            return Ok(());
        }
        let names: Vec<_> = expected.iter().map(|kind| DType::from(kind.clone()).name()).collect();
        bail!("{} is {}, expected {}", self.name(role), found.name(), names.join(" or "))
    }

    /// The codes, and their shape as axes before the last two, rows and columns.
    pub(crate) fn codes(&self) -> Result<(Source, Vec<usize>, usize, usize)> {
        let source = self.required(Role::Codes)?;
        self.expect_dtype(Role::Codes, source.dtype(), self.names.dtypes)?;
        let shape = source.shape();
        let Some(([rows, cols], before)) = shape.split_last_chunk::<2>().map(|(before, last)| (*last, before.to_vec()))
        else {
            bail!("{} has shape {shape:?}, expected two axes or more", self.name(Role::Codes))
        };
        Ok((source, before, rows, cols))
    }

    /// Scales, biases or codes that are numbers, in rows of `cols`. Scales of bytes are powers of two.
    pub(crate) fn numbers(&self, role: Role, source: Source, cols: usize) -> Result<Matrix> {
        if role == Role::Scales && *source.dtype().kind() == Kind::UInt8 {
            let power = |code| Narrow::Float8E8M0FNU.value(code as u8) as f32;
            return Ok(Matrix::coded(source, Encoding::BYTES, cols, &power));
        }
        let encoding = Encoding::for_dtype(source.dtype());
        let what = || format!("{} is {}, expected numbers of 8 to 32 bits", self.name(role), source.dtype().name());
        let encoding = encoding.with_context(what)?;
        Ok(Matrix::new(source, encoding, cols))
    }

    /// One number.
    pub(crate) fn whole(&self, role: Role) -> Result<f32> {
        let source = self.required(role)?;
        self.expect_items(role, &source, 1)?;
        self.numbers(role, source, 1)?.number()
    }

    /// A short list of counts; `None` without one, or if it is -1 throughout, as libraries leave an unset list.
    pub(crate) fn counts(&self, role: Role) -> Result<Option<Vec<usize>>> {
        let Some(source) = self.optional(role)? else { return Ok(None) };
        self.expect_dtype(role, source.dtype(), &[Kind::Int64, Kind::Int32, Kind::UInt8])?;
        counts_of(&source)
    }

    /// A text in bytes; `None` without one.
    pub(crate) fn text(&self, role: Role) -> Result<Option<String>> {
        let Some(source) = self.optional(role)? else { return Ok(None) };
        let (size, name) = (source.bytes(), self.name(role));
        ensure!(size <= MAX_TEXT, "{name} has {size} bytes, expected a text of at most {MAX_TEXT}");
        let mut bytes = memory::zeros(size)?;
        source.read_at(&mut bytes, 0)?;
        String::from_utf8(bytes).map(Some).map_err(|_| malformed!("{name} is not a text"))
    }

    pub(crate) fn json(&self, role: Role) -> Result<Option<Value>> {
        let Some(text) = self.text(role)? else { return Ok(None) };
        let value = serde_json::from_str(&text);
        value.map(Some).map_err(|error| malformed!("{}: {}", self.name(role), one_line(&error)))
    }

    pub(crate) fn untold(&self, what: &str) -> Error {
        let layout = self.names.layout;
        match self.config {
            "" => malformed!("{layout} needs {what}, which no config.json beside the tensors states"),
            config => malformed!("{layout} needs {what}, which {config} does not state"),
        }
    }

    pub(crate) fn bits(&self, numbers: &PartNumbers) -> Result<usize> {
        let bits = numbers.bits.ok_or_else(|| self.untold("the number of bits"))?;
        ensure!((1..=8).contains(&bits), "{} states {bits} bits, expected 1 to 8", self.config);
        Ok(bits)
    }
}

/// A short list of integers; `None` if it is -1 throughout.
pub(crate) fn counts_of(source: &Source) -> Result<Option<Vec<usize>>> {
    let mut bytes = memory::zeros(source.bytes())?;
    source.read_at(&mut bytes, 0)?;
    let numbers = bytes.chunks_exact(source.dtype().itemsize()).map(|item| match *item {
        [byte] => i64::from(byte),
        [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
        _ => i64::from_le_bytes(item.try_into().expect("items of 1, 4 or 8 bytes")),
    });
    if !bytes.is_empty() && numbers.clone().all(|number| number == -1) {
        return Ok(None);
    }
    let numbers: Option<Vec<usize>> = numbers.map(|number| usize::try_from(number).ok()).collect();
    numbers.map(Some).with_context(|| format!("{} has a negative number", source.label()))
}

/// An entry of a config for the modules that its pattern matches.
#[derive(Clone, Debug)]
pub(crate) struct ModuleEntry {
    /// As the config has it.
    pub text: String,
    /// `None` for the modules whose names have the text as consecutive parts.
    pub expression: Option<Regex>,
    /// `None` for modules that are not quantised.
    pub numbers: Option<PartNumbers>,
}

impl ModuleEntry {
    /// Reads an expression after `re:`, a name with `*` for any text, or parts of a name.
    ///
    /// # Errors
    /// The expression is malformed, or of a kind that is not known.
    pub(crate) fn parse(text: &str, numbers: Option<PartNumbers>) -> Result<Self> {
        match text.strip_prefix("re:") {
            Some(expression) => Self::expression(text, expression, numbers),
            None if text.contains('*') => {
                Self::expression(text, &format!("{}$", escape(text).replace(r"\*", ".*")), numbers)
            }
            None => Ok(Self { text: text.to_owned(), expression: None, numbers }),
        }
    }

    /// An entry for the names that begin as a regular expression says.
    ///
    /// # Errors
    /// The expression is malformed, or of a kind that is not known.
    pub(crate) fn expression(text: &str, expression: &str, numbers: Option<PartNumbers>) -> Result<Self> {
        let compiled = Regex::new(&format!("^(?:{expression})"));
        let compiled = compiled.map_err(|_| malformed!("the expression {text:?} cannot be read"))?;
        Ok(Self { text: text.to_owned(), expression: Some(compiled), numbers })
    }

    pub(crate) fn matches(&self, module: &str) -> bool {
        if let Some(expression) = &self.expression {
            return expression.is_match(module);
        }
        module.match_indices(&self.text).any(|(at, text)| {
            let (before, after) = (&module[..at], &module[at + text.len()..]);
            (before.is_empty() || before.ends_with('.')) && (after.is_empty() || after.starts_with('.'))
        })
    }
}

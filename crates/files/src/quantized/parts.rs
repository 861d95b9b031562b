//! The parts of a weight: their names, and checks of their shapes and dtypes.

use super::matrix::{Encoding, LoadedBytes, Matrix};
use crate::storage::source::Source;
use tensorop_kernels::error::{Context, Error, Result, bail, ensure, malformed};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::meta::Order;
use tensorop_kernels::memory;

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
    /// MLX's mode.
    pub mode: Option<String>,
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
}

/// The names of the parts of a layout's weights. They are those of the module and an ending.
#[derive(Debug)]
pub(crate) struct PartNames {
    pub layout: &'static str,
    /// The ending of the codes' name, and their dtype.
    pub codes: &'static str,
    pub dtype: &'static Kind,
    /// The ending of the weight's name.
    pub weight: &'static str,
    /// The scales first.
    pub required: &'static [(Role, &'static str)],
    pub optional: &'static [(Role, &'static str)],
}

impl PartNames {
    /// The ending of the scales.
    pub(crate) fn scales(&self) -> &'static str {
        self.required[0].1
    }

    /// Whether the name of the scales alone shows that they are of a weight.
    pub(crate) fn is_sure(&self) -> bool {
        self.scales() != ".scale"
    }

    /// Whether the ending of a name alone shows that it is of a part.
    pub(crate) fn is_part(&self, name: &str) -> bool {
        let is_sure = |ending: &str| !matches!(ending, "" | ".weight" | ".scale");
        self.endings().any(|(_, ending)| is_sure(ending) && name.ends_with(ending))
    }

    pub(crate) fn endings(&self) -> impl Iterator<Item = (Role, &'static str)> {
        let codes = [(Role::Codes, self.codes)];
        codes.into_iter().chain(self.required.iter().copied()).chain(self.optional.iter().copied())
    }
}

/// The parts of a weight.
pub(crate) struct WeightParts<'a> {
    pub names: &'static PartNames,
    /// The names of parts begin with it.
    pub base: &'a str,
    /// The file that states numbers, for messages.
    pub config: &'a str,
    /// Opens a part; `None` if there is none of this role.
    pub open: &'a dyn Fn(Role) -> Option<Result<Source>>,
}

impl WeightParts<'_> {
    pub(crate) fn name(&self, role: Role) -> String {
        let ending = self.names.endings().find(|(of, _)| *of == role).map_or("", |(_, ending)| ending);
        format!("{}{ending}", self.base)
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
        format!("{} is missing", self.name(role))
    }

    pub(crate) fn expect_shape(&self, role: Role, found: &[usize], expected: &[usize]) -> Result<()> {
        ensure!(found == expected, "{} has shape {found:?}, expected {expected:?}", self.name(role));
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
        self.expect_dtype(Role::Codes, source.dtype(), std::slice::from_ref(self.names.dtype))?;
        let shape = source.shape();
        let Some(([rows, cols], before)) = shape.split_last_chunk::<2>().map(|(before, last)| (*last, before.to_vec()))
        else {
            bail!("{} has shape {shape:?}, expected two axes or more", self.name(Role::Codes))
        };
        Ok((source, before, rows, cols))
    }

    /// Scales, biases or codes that are numbers, in rows of `cols`.
    pub(crate) fn numbers(&self, role: Role, source: Source, cols: usize) -> Result<Matrix> {
        let encoding = Encoding::for_dtype(source.dtype());
        let what = || format!("{} is {}, expected numbers of 8 to 32 bits", self.name(role), source.dtype().name());
        let encoding = encoding.with_context(what)?;
        Ok(Matrix::new(source, encoding, cols))
    }

    /// One number.
    pub(crate) fn whole(&self, role: Role) -> Result<f32> {
        let source = self.required(role)?;
        let items = source.meta().items();
        ensure!(items == 1, "{} has {items} items, expected 1", self.name(role));
        let (matrix, mut loaded, mut number) = (self.numbers(role, source, 1)?, LoadedBytes::default(), [0.0]);
        matrix.load(&(0..1), &(0..1), &mut loaded)?;
        matrix.decode(0, 0..1, &loaded, &mut number);
        Ok(number[0])
    }

    /// A short list of counts; `None` without one, or if it is -1 throughout, as libraries leave an unset list.
    pub(crate) fn counts(&self, role: Role) -> Result<Option<Vec<usize>>> {
        let Some(source) = self.optional(role)? else { return Ok(None) };
        self.expect_dtype(role, source.dtype(), &[Kind::Int64, Kind::Int32])?;
        let mut bytes = memory::zeros(source.bytes())?;
        source.read_at(&mut bytes, 0)?;
        let numbers = bytes.chunks_exact(source.dtype().itemsize()).map(|item| match item.try_into() {
            Ok(wide) => i64::from_le_bytes(wide),
            Err(_) => i64::from(i32::from_le_bytes(item.try_into().expect("items of 4 or 8 bytes"))),
        });
        if !bytes.is_empty() && numbers.clone().all(|number| number == -1) {
            return Ok(None);
        }
        let numbers: Option<Vec<usize>> = numbers.map(|number| usize::try_from(number).ok()).collect();
        numbers.map(Some).with_context(|| format!("{} has a negative number", self.name(role)))
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

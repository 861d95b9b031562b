//! Casts items of one dtype to another: floats are rounded once, integers are exact or refused.
//!
//! A run of items is read into float64, int64 or uint64, whichever holds every number of the dtype, and written from
//! there. So there is one loop for each dtype on either side and not one for each pair.

mod integer;
mod middle;
mod read;
#[cfg(test)]
mod tests;
mod write;

use std::fmt;

use self::middle::Middle;
use self::read::{CastInput, NumberReader, load_narrow, single_text};
use self::write::Output;
use crate::error::{Advice, Error, Subject};
use crate::item::datetime;
use crate::item::dtype::{DType, Kind};
use crate::item::encoding::{Swap, code_points, unpadded};
use crate::item::python;
use crate::item::time_unit::TimeUnit;

/// How many numbers are converted at a time: few enough for the nearest cache (two runs of 8 bytes are 8 KiB, and the
/// items on either side take as much), and enough that the call for each run costs nothing.
const RUN: usize = 512;
/// How many characters of a string a message shows.
const SHOWN: usize = 40;

/// The first item of a run that a [`Cast`] cannot make, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CastFailure {
    /// The number of the item in the run, counted from 0.
    pub item: usize,
    /// One line that begins with the value.
    pub why: String,
}

impl CastFailure {
    fn new(item: usize, why: String) -> Self {
        Self { item, why }
    }
}

impl fmt::Display for CastFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "item {}: {}", self.item, self.why)
    }
}

/// How items of one dtype become items of another.
///
/// - To floats and complex numbers: the nearest, ties to even, rounded once from the exact value. What is too large
///   becomes infinity, or NaN or the largest number in a type that has no infinity
///   ([`Narrow::encode`](crate::item::dtype::Narrow::encode)). -0 stays -0, NaN becomes a quiet NaN of the same sign.
/// - To integers and bool: exact or an error. If the cast is lossy the fraction is dropped, what is out of range
///   becomes the end of the range, NaN becomes 0, and as a bool all but zero is true.
/// - Complex to real: the real part; if the imaginary one is not zero that is an error unless lossy.
/// - Strings to a width of the same kind, and dates to another unit: exact or an error, if lossy cut and rounded
///   down.
/// - Any dtype to the same in another byte order.
///
/// ```
/// use tensorop::{DType, item::cast::Cast};
/// let dtype = |name| DType::parse(name).unwrap();
/// let mut out = Vec::new();
/// let cast = Cast::new(&dtype("int16"), &dtype(">f4"), false)?;
/// cast.apply(&[1, 0, 0xff, 0xff], &mut out).unwrap();
/// assert_eq!(out, [1_f32.to_be_bytes(), (-1_f32).to_be_bytes()].concat());
///
/// let cast = Cast::new(&dtype("int16"), &dtype("uint8"), false)?;
/// let refused = cast.apply(&[1, 0, 0xff, 0xff], &mut out);
/// assert_eq!(refused.unwrap_err().to_string(), "item 1: -1 is out of range for uint8");
/// # Ok::<(), tensorop::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cast {
    from: DType,
    to: DType,
    lossy: bool,
    plan: CastPlan,
}

#[derive(Clone, Debug)]
enum CastPlan {
    /// The same items in another byte order.
    Swap(Vec<Swap>),
    Numbers {
        from: CastInput,
        to: Output,
        pairs: Pairs,
    },
    /// Strings of units of so many bytes.
    Strings(usize),
    Ticks {
        from: TimeUnit,
        to: TimeUnit,
        dates: bool,
    },
}

/// How the number of parts changes from one side to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pairs {
    /// Neither side is complex, or both are.
    Same,
    /// Imaginary parts are dropped.
    Drop,
    /// Imaginary parts of zero are added.
    Add,
}

/// Numbers to be cast.
struct Run<'a> {
    to: &'a Output,
    pairs: Pairs,
    items: &'a [u8],
    out: &'a mut [u8],
}

impl Cast {
    /// Prepares a cast from one dtype to another; the width of strings and the unit of dates are part of these.
    ///
    /// # Errors
    /// No values are cast between these dtypes: strings, dates, void, structured and long double items become only what
    /// the type's documentation says.
    pub fn new(from: &DType, to: &DType, lossy: bool) -> Result<Self, Error> {
        let refused = |why: &str| {
            let message = format!("{} is not cast to {}{why}", from.name(), to.name());
            Error::new(Subject::Dtype, message)
        };
        let ticks = |dtype: &DType| matches!(dtype.kind(), Kind::Datetime(_) | Kind::Timedelta(_));
        let plan = if from.same_kind(to) {
            CastPlan::Swap(from.swaps_to(to))
        } else {
            match (from.kind(), to.kind()) {
                (Kind::Bytes(0), Kind::Bytes(_)) | (Kind::Str(0), Kind::Str(_)) => {
                    return Err(refused(": its items have no bytes"));
                }
                (Kind::Bytes(_), Kind::Bytes(_)) => CastPlan::Strings(1),
                (Kind::Str(_), Kind::Str(_)) => CastPlan::Strings(4),
                (&Kind::Datetime(from), &Kind::Datetime(to)) if from.base.is_some() && to.base.is_some() => {
                    CastPlan::Ticks { from, to, dates: true }
                }
                // NaT is the same in all units, so this tells whether the units have a fixed ratio.
                (&Kind::Timedelta(from), &Kind::Timedelta(to)) if datetime::rescale(0, from, to, false).is_some() => {
                    CastPlan::Ticks { from, to, dates: false }
                }
                (Kind::Int64, _) if ticks(to) => return Err(refused("").advising(Advice::ReadBits)),
                (_, Kind::Int64) if ticks(from) => return Err(refused("").advising(Advice::ReadBits)),
                (Kind::Void(_), _) if from.is_ambiguous() => return Err(refused("").advising(Advice::NameItems)),
                _ => match (CastInput::of(from), Output::of(to)) {
                    (Some(from), Some(to)) => {
                        let pairs = match (from.complex, to.complex) {
                            (true, false) => Pairs::Drop,
                            (false, true) => Pairs::Add,
                            (true, true) | (false, false) => Pairs::Same,
                        };
                        CastPlan::Numbers { from, to, pairs }
                    }
                    _ => return Err(refused(": values are cast between numbers and bool only")),
                },
            }
        };
        Ok(Self { from: from.clone(), to: to.clone(), lossy, plan })
    }

    /// Returns whether items stay as they are, byte for byte.
    pub fn is_identity(&self) -> bool {
        matches!(&self.plan, CastPlan::Swap(swaps) if swaps.is_empty())
    }

    /// Returns the dtype that items are cast to.
    pub fn to(&self) -> &DType {
        &self.to
    }

    /// Returns the bytes of one item before the cast.
    pub fn from_size(&self) -> usize {
        self.from.itemsize()
    }

    /// Returns the bytes of one item after the cast.
    pub fn to_size(&self) -> usize {
        self.to.itemsize()
    }

    /// Casts `items.len() / from_size()` items. `out` takes on the length of the result.
    ///
    /// # Errors
    /// The first item that the dtype cannot hold, counted from 0, and why. `out` then holds nothing of use. Memory
    /// that is not there counts as an error of item 0.
    pub fn apply(&self, items: &[u8], out: &mut Vec<u8>) -> Result<(), CastFailure> {
        if let CastPlan::Swap(swaps) = &self.plan {
            out.clear();
            out.extend_from_slice(items);
            if self.from_size() > 0 {
                Swap::apply_all(swaps, out, self.from_size());
            }
            return Ok(());
        }
        let (per, size) = (self.from_size().max(1), self.to_size());
        let count = items.len() / per;
        let items = items.get(..count * per).unwrap_or_default();
        let enough = count.checked_mul(size).filter(|len| out.try_reserve(len.saturating_sub(out.len())).is_ok());
        let len =
            enough.ok_or_else(|| CastFailure::new(0, format!("no memory for {count} items of {}", self.to.name())))?;
        out.resize(len, 0);
        match &self.plan {
            CastPlan::Swap(_) => Ok(()),
            CastPlan::Numbers { from, to, pairs } => {
                let run = Run { to, pairs: *pairs, items, out };
                match &from.reader {
                    NumberReader::Float(read) => self.numbers(run, from.size, read.loader(from.big), read.text),
                    NumberReader::Signed(read) => self.numbers(run, from.size, read.loader(from.big), read.text),
                    NumberReader::Unsigned(read) => self.numbers(run, from.size, read.loader(from.big), read.text),
                    NumberReader::Narrow(narrow, values) if narrow.is_integer() => {
                        let load = |bytes: &[u8], numbers: &mut [i64]| {
                            load_narrow(bytes, numbers, values, |value| value as i64);
                        };
                        self.numbers(run, from.size, load, |number| number.to_string())
                    }
                    NumberReader::Narrow(_, values) => {
                        let load =
                            |bytes: &[u8], numbers: &mut [f64]| load_narrow(bytes, numbers, values, |value| value);
                        self.numbers(run, from.size, load, single_text)
                    }
                }
            }
            CastPlan::Strings(unit) => {
                let item = |at: usize| items.get(at * per..(at + 1) * per).unwrap_or_default();
                let mut swaps = Vec::new();
                if self.from.is_big_endian() != self.to.is_big_endian() {
                    swaps.push(Swap::Units { width: *unit, count: size / unit });
                }
                if size == 0 {
                    return match (0..count).find(|&at| !self.lossy && item(at).iter().any(|&byte| byte != 0)) {
                        Some(at) => Err(CastFailure::new(at, self.too_long(item(at)))),
                        None => Ok(()),
                    };
                }
                for (at, place) in out.chunks_exact_mut(size).enumerate() {
                    let item = item(at);
                    let (kept, cut) = item.split_at(item.len().min(size));
                    if !self.lossy && cut.iter().any(|&byte| byte != 0) {
                        return Err(CastFailure::new(at, self.too_long(item)));
                    }
                    let (text, padding) = place.split_at_mut(kept.len());
                    text.copy_from_slice(kept);
                    padding.fill(0);
                    swaps.iter().for_each(|swap| swap.apply(place));
                }
                Ok(())
            }
            CastPlan::Ticks { from, to, dates } => {
                let (source, target) = (items.as_chunks::<8>().0, out.as_chunks_mut::<8>().0);
                for (at, (item, place)) in source.iter().zip(target).enumerate() {
                    let ticks =
                        if self.from.is_big_endian() { i64::from_be_bytes(*item) } else { i64::from_le_bytes(*item) };
                    let refused = |why| CastFailure::new(at, self.no_ticks(ticks, *from, *dates, why));
                    let found = match datetime::rescale(ticks, *from, *to, *dates) {
                        Some((found, exact)) if exact || self.lossy => found,
                        Some(_) => return Err(refused("is no whole number of ticks of")),
                        // NaT is not a number of ticks
                        None if self.lossy => i64::MAX * ticks.signum(),
                        None => return Err(refused("is out of range for")),
                    };
                    *place = if self.to.is_big_endian() { found.to_be_bytes() } else { found.to_le_bytes() };
                }
                Ok(())
            }
        }
    }

    /// Casts numbers of `size` bytes by way of `M`, which holds every number of the source. `load` reads numbers from
    /// the front of its bytes, `text` prints one for messages.
    ///
    /// There are two loops for each run, one for the dtype on either side, which are vectorised. One loop for each pair
    /// of dtypes would be hundreds of loops. The numbers between the two stay in the nearest cache.
    fn numbers<M: Middle>(
        &self,
        Run { to, pairs, items, out }: Run<'_>,
        size: usize,
        load: impl Fn(&[u8], &mut [M]),
        text: impl Fn(M) -> String,
    ) -> Result<(), CastFailure> {
        let is_bool = *self.to.kind() == Kind::Bool;
        let mut run = [M::default(); 2 * RUN];
        let (ins, outs) = match pairs {
            Pairs::Same => (1, 1),
            Pairs::Drop => (2, 1),
            Pairs::Add => (1, 2),
        };
        let chunks = items.chunks(RUN * ins * size).zip(out.chunks_mut(RUN * outs * to.size));
        for (number, (chunk, place)) in chunks.enumerate() {
            let parts = chunk.len() / size;
            load(chunk, &mut run);
            // the first item with an imaginary part
            let mut imaginary = None;
            let numbers = match pairs {
                Pairs::Same => parts,
                Pairs::Drop => {
                    let mut at = 0;
                    while let Some(&[re, im]) = run.get(2 * at..2 * at + 2).filter(|_| 2 * at + 1 < parts) {
                        if im != M::default() && imaginary.is_none() {
                            imaginary = Some((at, re, im));
                        }
                        // as a bool a complex number is false if both parts are zero
                        let number = if is_bool && re == M::default() { im } else { re };
                        if let Some(place) = run.get_mut(at) {
                            *place = number;
                        }
                        at += 1;
                    }
                    at
                }
                Pairs::Add => {
                    for at in (0..parts).rev() {
                        let number = run.get(at).copied().unwrap_or_default();
                        if let Some([re, im]) = run.get_mut(2 * at..2 * at + 2) {
                            (*re, *im) = (number, M::default());
                        }
                    }
                    2 * parts
                }
            };
            let imaginary = imaginary.filter(|_| !self.lossy);
            let sure = imaginary.map_or(numbers, |(at, ..)| at);
            let stored = to.store(run.get(..sure).unwrap_or_default(), place, self.lossy);
            let first = number * RUN;
            if let Err(at) = stored {
                let value = run.get(at).copied().unwrap_or_default();
                // an item has two numbers only if all numbers fit, so `at` counts items
                return Err(CastFailure::new(first + at, self.misfit(value, &text(value))));
            }
            if let Some((at, re, im)) = imaginary {
                let (re, im) = (text(re), text(im));
                return Err(CastFailure::new(
                    first + at,
                    format!("[{re}, {im}] has an imaginary part ({})", self.to.name()),
                ));
            }
        }
        Ok(())
    }

    /// Returns why the target cannot hold a number.
    fn misfit<M: Middle>(&self, value: M, text: &str) -> String {
        let name = self.to.name();
        match value.float() {
            _ if *self.to.kind() == Kind::Bool => format!("{text} is neither 0 nor 1 ({name})"),
            float if float.is_nan() => format!("{text} is no integer ({name})"),
            float if float.is_finite() && float.fract() != 0.0 => format!("{text} is not an integer ({name})"),
            _ => format!("{text} is out of range for {name}"),
        }
    }

    fn too_long(&self, item: &[u8]) -> String {
        let mut text = Vec::new();
        if matches!(self.from.kind(), Kind::Bytes(_)) {
            python::repr_bytes(unpadded(item, 1), &mut text);
        } else {
            python::repr_code_points(code_points(item, self.from.is_big_endian()), &mut text);
        }
        let text = String::from_utf8_lossy(&text);
        let short: String = text.chars().take(SHOWN).collect();
        let dots = if short.len() < text.len() { "..." } else { "" };
        format!("{short}{dots} is longer than {}", self.to.name())
    }

    fn no_ticks(&self, ticks: i64, from: TimeUnit, dates: bool, why: &str) -> String {
        let text = if dates { datetime::format(ticks, from) } else { format!("{ticks} of {}", self.from.name()) };
        format!("{text} {why} {}", self.to.name())
    }
}

//! Casts between dtypes: floats are rounded once, integers are exact or refused.
//!
//! A run of items is read into float64, int64 or uint64, which holds every number of the source, and written from
//! there. So each dtype has one loop on either side, instead of one for each pair.

mod middle;
mod numbers;
mod overflow;
mod table;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::middle::Middle;
use self::numbers::{ByteValues, load, load_narrow, numbers_of, store, values_of};
use self::overflow::SpecialWords;
pub use self::overflow::{Overflow, Overflowed, is_floats, overflow_name};
use self::table::ByteTable;
use crate::error::{Advice, Error, Subject};
use crate::item::datetime::TimeUnit;
use crate::item::dtype::{DType, Kind};
use crate::item::element::{Element, match_kind, not_numbers};
use crate::item::encoding::{Swap, code_points, unpadded};
use crate::item::{datetime, python};

/// Few enough numbers for the L1 cache (two runs of 8 bytes are 8 KiB, and the items on either side take as much), and
/// enough to make the cost of the calls negligible.
const RUN: usize = 512;
type LoadRun<'a, M> = dyn Fn(bool, &[u8], &mut [M]) + 'a;

const SHOWN: usize = 40;

/// The first item of a run that cannot be cast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CastFailure {
    /// Its number in the run.
    pub item: usize,
    /// A line that begins with the value.
    pub why: String,
}

/// A cast between dtypes.
///
/// - To floats and complex numbers: nearest, ties to even, rounded once. Numbers that are too large are treated as in
///   [`Narrow::encode`](crate::item::dtype::Narrow::encode), or by [`Overflow`]. NaN becomes a quiet NaN of the same
///   sign.
/// - To integers and bool: exact or an error. A lossy cast drops fractions and clamps; NaN becomes 0, and a bool is
///   true except for zero.
/// - Complex to real: an imaginary part other than zero is an error unless lossy.
/// - Strings to another width, dates to another unit: exact or an error; if lossy, cut and rounded down.
/// - Any dtype to its other byte order.
///
/// ```
/// use tensorop_kernels::{DType, item::cast::Cast};
/// let dtype = |name| DType::parse(name).unwrap();
/// let mut out = Vec::new();
/// let cast = Cast::new(&dtype("int16"), &dtype(">f4"), false)?;
/// cast.apply(&[1, 0, 0xff, 0xff], &mut out).unwrap();
/// assert_eq!(out, [1_f32.to_be_bytes(), (-1_f32).to_be_bytes()].concat());
///
/// let cast = Cast::new(&dtype("int16"), &dtype("uint8"), false)?;
/// let refused = cast.apply(&[1, 0, 0xff, 0xff], &mut out);
/// assert_eq!(refused.unwrap_err().why, "-1 is out of range for uint8");
/// # Ok::<(), tensorop_kernels::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cast {
    from: DType,
    to: DType,
    lossy: bool,
    plan: CastPlan,
    overflow: Overflow,
    /// `None` if no number of the source overflows.
    special: Option<SpecialWords>,
    table: Option<Arc<ByteTable>>,
}

#[derive(Clone, Debug)]
enum CastPlan {
    Swap(Vec<Swap>),
    Numbers,
    NarrowIntegers(ByteValues),
    NarrowFloats(ByteValues),
    /// The bytes of a character.
    Strings(usize),
    Ticks {
        from: TimeUnit,
        to: TimeUnit,
        dates: bool,
    },
}

impl Cast {
    /// Prepares a cast.
    ///
    /// # Errors
    /// No values are cast between the dtypes.
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
                // NaT is the same in all units, so 0 is tested instead
                (&Kind::Timedelta(from), &Kind::Timedelta(to)) if datetime::rescale(0, from, to, false).is_some() => {
                    CastPlan::Ticks { from, to, dates: false }
                }
                (Kind::Int64, _) if ticks(to) => return Err(refused("").advising(Advice::ReadBits)),
                (_, Kind::Int64) if ticks(from) => return Err(refused("").advising(Advice::ReadBits)),
                (Kind::Void(_), _) if from.is_ambiguous() => return Err(from.advise(refused(""))),
                _ if numbers_of(from).is_none() || numbers_of(to).is_none() => {
                    return Err(refused(": values are cast between numbers and bool only"));
                }
                (&Kind::Narrow(narrow), _) if narrow.is_integer() => CastPlan::NarrowIntegers(values_of(narrow)),
                (&Kind::Narrow(narrow), _) => CastPlan::NarrowFloats(values_of(narrow)),
                _ => CastPlan::Numbers,
            }
        };
        let special = if matches!(plan, CastPlan::Swap(_)) { None } else { SpecialWords::for_cast(from, to) };
        let overflow = Overflow::default();
        let table = ByteTable::for_cast(from, to).map(Arc::new);
        Ok(Self { from: from.clone(), to: to.clone(), lossy, plan, overflow, special, table })
    }

    /// Sets the treatment of numbers that are too large.
    #[must_use]
    pub fn with_overflow(self, overflow: Overflow) -> Self {
        Self { overflow, ..self }
    }

    /// Whether items keep every byte.
    pub fn is_identity(&self) -> bool {
        matches!(&self.plan, CastPlan::Swap(swaps) if swaps.is_empty())
    }

    /// The target dtype.
    pub fn to(&self) -> &DType {
        &self.to
    }

    /// The itemsize before the cast.
    pub fn from_size(&self) -> usize {
        self.from.itemsize()
    }

    /// The itemsize after the cast.
    pub fn to_size(&self) -> usize {
        self.to.itemsize()
    }

    /// Casts `items`, and resizes `out`. Returns the finite items that became infinite or NaN.
    ///
    /// # Errors
    /// The first item that the dtype cannot hold, or item 0 if memory is short; `out` is then unspecified.
    pub fn apply(&self, items: &[u8], out: &mut Vec<u8>) -> Result<Overflowed, CastFailure> {
        let (count, size) = (items.len() / self.from_size().max(1), self.to_size());
        let enough = count.checked_mul(size).filter(|len| out.try_reserve(len.saturating_sub(out.len())).is_ok());
        let why = || format!("no memory for {count} items of {}", self.to.name());
        let len = enough.ok_or_else(|| CastFailure { item: 0, why: why() })?;
        out.resize(len, 0);
        self.apply_to(items, out)
    }

    /// `out` must have the right length.
    ///
    /// # Errors
    /// An item cannot be cast without a loss that the rule forbids.
    pub fn apply_to(&self, items: &[u8], out: &mut [u8]) -> Result<Overflowed, CastFailure> {
        let (per, size) = (self.from_size().max(1), self.to_size());
        let count = items.len() / per;
        let items = &items[..count * per];
        match &self.plan {
            CastPlan::Swap(swaps) => {
                out.copy_from_slice(items);
                if self.from_size() > 0 {
                    Swap::apply_all(swaps, out, self.from_size());
                }
                Ok(Overflowed::default())
            }
            CastPlan::Numbers => match_kind!(self.from.kind(), {
                number T => self.numbers(items, out, &load::<<T as Element>::Part>),
                Kind::Narrow(_) | not_numbers!() => unreachable!("these items are cast elsewhere"),
            }),
            CastPlan::NarrowIntegers(values) => self.numbers(items, out, &|_, bytes, run: &mut [i64]| {
                load_narrow(bytes, run, values, |value| value as i64);
            }),
            CastPlan::NarrowFloats(values) => self.numbers(items, out, &|_, bytes, run: &mut [f64]| {
                load_narrow(bytes, run, values, |value| value);
            }),
            CastPlan::Strings(unit) => {
                for at in 0..count {
                    let item = &items[at * per..][..per];
                    let (kept, cut) = item.split_at(per.min(size));
                    if !self.lossy && cut.iter().any(|&byte| byte != 0) {
                        return Err(CastFailure { item: at, why: self.too_long(item) });
                    }
                    let (text, padding) = out[at * size..][..size].split_at_mut(kept.len());
                    text.copy_from_slice(kept);
                    padding.fill(0);
                }
                if self.from.is_big_endian() != self.to.is_big_endian() {
                    Swap::Units { width: *unit, count: out.len() / unit }.apply(out);
                }
                Ok(Overflowed::default())
            }
            CastPlan::Ticks { from, to, dates } => {
                let (source, target) = (items.as_chunks::<8>().0, out.as_chunks_mut::<8>().0);
                for (at, (item, place)) in source.iter().zip(target).enumerate() {
                    let ticks =
                        if self.from.is_big_endian() { i64::from_be_bytes(*item) } else { i64::from_le_bytes(*item) };
                    let refused = |why| CastFailure { item: at, why: self.no_ticks(ticks, *from, *dates, why) };
                    let found = match datetime::rescale(ticks, *from, *to, *dates) {
                        Some((found, exact)) if exact || self.lossy => found,
                        Some(_) => return Err(refused("is not a whole number of ticks of")),
                        // NaT is not a number of ticks
                        None if self.lossy => i64::MAX * ticks.signum(),
                        None => return Err(refused("is out of range for")),
                    };
                    *place = if self.to.is_big_endian() { found.to_be_bytes() } else { found.to_le_bytes() };
                }
                Ok(Overflowed::default())
            }
        }
    }

    /// Each run takes two vectorised loops, one for the dtype on either side. One loop for each pair of dtypes would be
    /// hundreds. The numbers in between stay in the L1 cache.
    fn numbers<M: Middle>(
        &self,
        items: &[u8],
        out: &mut [u8],
        load: &LoadRun<'_, M>,
    ) -> Result<Overflowed, CastFailure> {
        let is_bool = *self.to.kind() == Kind::Bool;
        let [ins, outs] = [&self.from, &self.to].map(|dtype| numbers_of(dtype).expect("numbers are cast to numbers"));
        let [size, to_size] = [self.from_size() / ins, self.to_size() / outs];
        let (drops, adds) = (ins > outs, ins < outs);
        let parts = ins.min(outs);
        let (ins, outs) = (1 + usize::from(drops), 1 + usize::from(adds));
        let text = |number: M| number.text(size < size_of::<f64>());
        let plainly = |from: &DType, items: &[u8]| {
            let mut out = Vec::new();
            Self::new(from, &self.to, self.lossy).ok()?.apply(items, &mut out).ok().map(|_| out)
        };
        let table = self.table.as_ref().and_then(|table| Some((table, table.items(items.len() / size, plainly)?)));
        let has_nan =
            !matches!(self.to.kind(), Kind::Narrow(narrow) if is_floats(&self.to) && narrow.special_bits().is_none());
        let refuses_nan = self.overflow == Overflow::Refuse && !has_nan;
        let mut overflowed = Overflowed::default();
        let mut run = [M::default(); 2 * RUN];
        let chunks = items.chunks(RUN * ins * size).zip(out.chunks_mut(RUN * outs * to_size));
        for (number, (chunk, place)) in chunks.enumerate() {
            if let Some((table, items)) = table {
                table.look_up(items, chunk, place);
                if !refuses_nan && !self.special.as_ref().is_some_and(|special| special.is_in(place)) {
                    continue;
                }
            }
            load(self.from.is_big_endian(), chunk, &mut run);
            // lets the compiler see that all indices are in the run
            let (first, count) = (number * RUN, (chunk.len() / (ins * size)).min(RUN));
            let mut imaginary = None;
            if drops {
                for at in 0..count {
                    let (re, im) = (run[2 * at], run[2 * at + 1]);
                    if im != M::default() && imaginary.is_none() && !self.lossy {
                        imaginary = Some((at, re, im));
                    }
                    // as a bool a complex number is false if both parts are zero
                    run[at] = if is_bool && re == M::default() { im } else { re };
                }
            } else if adds {
                (0..count).rev().for_each(|at| (run[2 * at], run[2 * at + 1]) = (run[at], M::default()));
            }
            let sure = imaginary.map_or(outs * count, |(at, ..)| at);
            if table.is_none()
                && let Err(at) = store(&self.to, &run[..sure], place, self.lossy)
            {
                // items have two numbers only if all fit, so `at` counts items
                return Err(CastFailure { item: first + at, why: self.misfit(run[at], &text(run[at])) });
            }
            let item = |n: usize| (first + n / outs) / parts;
            if let Some(n) = run[..sure].iter().position(|number| refuses_nan && number.float().is_nan()) {
                return Err(CastFailure { item: item(n), why: format!("{} has no NaN", self.to.name()) });
            }
            if let Some(special) = self.special.as_ref().filter(|special| special.is_in(place))
                && let Err(n) = special.settle(&run[..sure], place, self.overflow, parts, item, &mut overflowed)
            {
                let (text, becomes) = (text(run[n]), overflow_name(&self.to));
                let why = format!("{text} becomes {becomes} as {}", self.to.name());
                return Err(CastFailure { item: item(n), why });
            }
            if let Some((at, re, im)) = imaginary {
                let why = format!("[{}, {}] has an imaginary part ({})", text(re), text(im), self.to.name());
                return Err(CastFailure { item: first + at, why });
            }
        }
        Ok(overflowed)
    }

    fn misfit<M: Middle>(&self, value: M, text: &str) -> String {
        let name = self.to.name();
        match value.float() {
            _ if *self.to.kind() == Kind::Bool => format!("{text} is neither 0 nor 1 ({name})"),
            float if float.is_nan() => format!("{text} is not an integer ({name})"),
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

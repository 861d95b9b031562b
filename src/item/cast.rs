//! Items of one dtype -> items of another: floats rounded once, integers exact or refused.
//!
//! A run of items is read into float64, int64 or uint64, of which one holds every number of its dtype, and written
//! from there; so there is one loop for a dtype on either side and not one for a pair.

use crate::error::{Advice, Error, Subject};
use crate::item::datetime;
use crate::item::decimal::{self, Decimal};
use crate::item::dtype::{DType, Kind, Narrow, Swap, TimeUnit};
use crate::item::python;

/// How many numbers are on their way at a time: few enough for the nearest cache.
const RUN: usize = 512;
/// How many characters of a string a message shows.
const SHOWN: usize = 40;

/// How items of one dtype become items of another.
///
/// - To floats and complex numbers: the nearest, ties to even, rounded once from the exact value. What is too large
///   becomes infinity, or NaN or the largest number in a type that has no infinity ([`Narrow::encode`]). -0 stays
///   -0, NaN becomes a quiet NaN of the same sign.
/// - To integers and bool: exact or an error. If the cast is lossy the fraction is dropped, what is out of range
///   becomes the end of the range, NaN becomes 0, and as a bool all but zero is true.
/// - Complex to real: the real part; if the imaginary one is not zero that is an error unless lossy.
/// - Strings to a width of the same kind, and dates to another unit: exact or an error, if lossy cut and rounded
///   down.
/// - Any dtype to the same in another byte order.
///
/// ```
/// use tensorop::{DType, cast::Cast};
/// let dtype = |name| DType::parse(name).unwrap();
/// let mut out = Vec::new();
/// let cast = Cast::new(&dtype("int16"), &dtype(">f4"), false)?;
/// cast.apply(&[1, 0, 0xff, 0xff], &mut out).unwrap();
/// assert_eq!(out, [1_f32.to_be_bytes(), (-1_f32).to_be_bytes()].concat());
///
/// let cast = Cast::new(&dtype("int16"), &dtype("uint8"), false)?;
/// let refused = cast.apply(&[1, 0, 0xff, 0xff], &mut out);
/// assert_eq!(refused, Err((1, "-1 is out of range for uint8".to_owned())));
/// # Ok::<(), tensorop::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cast {
    from: DType,
    to: DType,
    lossy: bool,
    plan: Plan,
}

#[derive(Clone, Debug)]
enum Plan {
    /// The same items in another byte order.
    Swap(Vec<Swap>),
    Numbers {
        from: Side,
        to: Side,
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

/// The numbers on one side of a cast: items, or the parts of complex items.
#[derive(Clone, Debug)]
struct Side {
    kind: Kind,
    size: usize,
    big: bool,
    /// The values of all bytes of a narrow type, else nothing.
    values: Vec<f64>,
}

/// What happens to imaginary parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pairs {
    /// There are none, or both sides have them.
    Keep,
    /// They are dropped.
    Drop,
    /// They are zero.
    Add,
}

impl Side {
    /// With whether items are complex; `None` if they are no numbers.
    fn of(dtype: &DType) -> Option<(Self, bool)> {
        let (kind, complex) = match dtype.kind() {
            Kind::Complex64 => (Kind::Float32, true),
            Kind::Complex128 => (Kind::Float64, true),
            kind @ (Kind::Bool | Kind::Narrow(_) | Kind::Float16 | Kind::BFloat16 | Kind::Float32 | Kind::Float64) => {
                (kind.clone(), false)
            }
            kind if dtype.is_integer() => (kind.clone(), false),
            _ => return None,
        };
        let values = match kind {
            Kind::Narrow(narrow) => (0..=u8::MAX).map(|item| narrow.value(item)).collect(),
            _ => Vec::new(),
        };
        let size = dtype.itemsize() / if complex { 2 } else { 1 };
        Some((Self { kind, size, big: dtype.is_big_endian(), values }, complex))
    }
}

impl Cast {
    /// From one dtype to another. Of strings the width counts, of dates the unit.
    ///
    /// # Errors
    /// Dtypes between which no values are cast: strings, dates, void, structured and long double items to anything
    /// but what the type says.
    pub fn new(from: &DType, to: &DType, lossy: bool) -> Result<Self, Error> {
        let refused = |why: &str| {
            let message = format!("{} is not cast to {}{why}", from.name(), to.name());
            Error::new(Subject::Dtype, message)
        };
        let ticks = |dtype: &DType| matches!(dtype.kind(), Kind::Datetime(_) | Kind::Timedelta(_));
        let plan = if from.same_kind(to) {
            Plan::Swap(from.swaps_to(to))
        } else {
            match (from.kind(), to.kind()) {
                (Kind::Bytes(0), Kind::Bytes(_)) | (Kind::Str(0), Kind::Str(_)) => {
                    return Err(refused(": its items have no bytes"));
                }
                (Kind::Bytes(_), Kind::Bytes(_)) => Plan::Strings(1),
                (Kind::Str(_), Kind::Str(_)) => Plan::Strings(4),
                (&Kind::Datetime(from), &Kind::Datetime(to)) if from.base.is_some() && to.base.is_some() => {
                    Plan::Ticks { from, to, dates: true }
                }
                // NaT is the same in all units, so this tells whether the units have a fixed ratio.
                (&Kind::Timedelta(from), &Kind::Timedelta(to)) if datetime::rescale(0, from, to, false).is_some() => {
                    Plan::Ticks { from, to, dates: false }
                }
                (Kind::Int64, _) if ticks(to) => return Err(refused("").advising(Advice::ReadBits)),
                (_, Kind::Int64) if ticks(from) => return Err(refused("").advising(Advice::ReadBits)),
                _ => match (Side::of(from), Side::of(to)) {
                    (Some((from, pairs)), Some((to, wanted))) => {
                        let pairs = match (pairs, wanted) {
                            (true, false) => Pairs::Drop,
                            (false, true) => Pairs::Add,
                            _ => Pairs::Keep,
                        };
                        Plan::Numbers { from, to, pairs }
                    }
                    _ => return Err(refused(": values are cast between numbers and bool only")),
                },
            }
        };
        Ok(Self { from: from.clone(), to: to.clone(), lossy, plan })
    }

    /// Whether items stay as they are, byte for byte.
    pub fn is_identity(&self) -> bool {
        matches!(&self.plan, Plan::Swap(swaps) if swaps.is_empty())
    }

    /// Bytes of one item before the cast.
    pub fn from_size(&self) -> usize {
        self.from.itemsize()
    }

    /// Bytes of one item after the cast.
    pub fn to_size(&self) -> usize {
        self.to.itemsize()
    }

    /// Casts items, of which there are `items.len() / from_size()`. `out` takes on the length of the result.
    ///
    /// # Errors
    /// The first item that the dtype cannot hold, counted from 0, and why. `out` then holds nothing of use. Memory
    /// that is not there counts as an error of item 0.
    pub fn apply(&self, items: &[u8], out: &mut Vec<u8>) -> Result<(), (usize, String)> {
        if let Plan::Swap(swaps) = &self.plan {
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
        let len = enough.ok_or_else(|| (0, format!("no memory for {count} items of {}", self.to.name())))?;
        out.resize(len, 0);
        match &self.plan {
            Plan::Swap(_) => Ok(()),
            Plan::Numbers { from, to, pairs } => match from.kind {
                Kind::Float16 | Kind::BFloat16 | Kind::Float32 | Kind::Float64 => {
                    self.numbers::<f64>(from, to, *pairs, items, out)
                }
                Kind::Narrow(narrow) if !narrow.is_integer() => self.numbers::<f64>(from, to, *pairs, items, out),
                Kind::UInt64 => self.numbers::<u64>(from, to, *pairs, items, out),
                _ => self.numbers::<i64>(from, to, *pairs, items, out),
            },
            Plan::Strings(unit) => {
                let item = |at: usize| items.get(at * per..(at + 1) * per).unwrap_or_default();
                let mut swaps = Vec::new();
                if self.from.is_big_endian() != self.to.is_big_endian() {
                    swaps.push(Swap::Units { width: *unit, count: size / unit });
                }
                if size == 0 {
                    return match (0..count).find(|&at| !self.lossy && item(at).iter().any(|&byte| byte != 0)) {
                        Some(at) => Err((at, self.too_long(item(at)))),
                        None => Ok(()),
                    };
                }
                for (at, place) in out.chunks_exact_mut(size).enumerate() {
                    let item = item(at);
                    let (kept, cut) = item.split_at(item.len().min(size));
                    if !self.lossy && cut.iter().any(|&byte| byte != 0) {
                        return Err((at, self.too_long(item)));
                    }
                    let (text, padding) = place.split_at_mut(kept.len());
                    text.copy_from_slice(kept);
                    padding.fill(0);
                    swaps.iter().for_each(|swap| swap.apply(place));
                }
                Ok(())
            }
            Plan::Ticks { from, to, dates } => {
                let (source, target) = (items.as_chunks::<8>().0, out.as_chunks_mut::<8>().0);
                for (at, (item, place)) in source.iter().zip(target).enumerate() {
                    let ticks =
                        if self.from.is_big_endian() { i64::from_be_bytes(*item) } else { i64::from_le_bytes(*item) };
                    let found = match datetime::rescale(ticks, *from, *to, *dates) {
                        Some((found, exact)) if exact || self.lossy => found,
                        Some(_) => {
                            return Err((at, self.no_ticks(ticks, *from, *dates, "is no whole number of ticks of")));
                        }
                        // NaT is not a number of ticks
                        None if self.lossy => {
                            if ticks < 0 {
                                -i64::MAX
                            } else {
                                i64::MAX
                            }
                        }
                        None => return Err((at, self.no_ticks(ticks, *from, *dates, "is out of range for"))),
                    };
                    *place = if self.to.is_big_endian() { found.to_be_bytes() } else { found.to_le_bytes() };
                }
                Ok(())
            }
        }
    }

    /// Casts numbers by way of `M`, which holds every number of the source.
    fn numbers<M: Middle>(
        &self,
        from: &Side,
        to: &Side,
        pairs: Pairs,
        items: &[u8],
        out: &mut [u8],
    ) -> Result<(), (usize, String)> {
        let mut run = [M::default(); 2 * RUN];
        let (ins, outs) = match pairs {
            Pairs::Keep => (1, 1),
            Pairs::Drop => (2, 1),
            Pairs::Add => (1, 2),
        };
        let chunks = items.chunks(RUN * ins * from.size).zip(out.chunks_mut(RUN * outs * to.size));
        for (number, (chunk, place)) in chunks.enumerate() {
            let parts = chunk.len() / from.size;
            M::load(from, chunk, &mut run);
            // The first item with an imaginary part.
            let mut imaginary = None;
            let numbers = match pairs {
                Pairs::Keep => parts,
                Pairs::Drop => {
                    let mut at = 0;
                    while let Some(&[re, im]) = run.get(2 * at..2 * at + 2).filter(|_| 2 * at + 1 < parts) {
                        if im != M::default() && imaginary.is_none() {
                            imaginary = Some((at, re, im));
                        }
                        // as a bool a complex number is false if both parts are zero
                        let number = if to.kind == Kind::Bool && re == M::default() { im } else { re };
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
            let stored = store(to, run.get(..sure).unwrap_or_default(), place, self.lossy);
            let first = number * RUN;
            if let Err(at) = stored {
                let value = run.get(at).copied().unwrap_or_default();
                // two numbers to an item only where all fit
                return Err((first + at, self.misfit(value, from)));
            }
            if let Some((at, re, im)) = imaginary {
                let (re, im) = (re.text(&from.kind), im.text(&from.kind));
                return Err((first + at, format!("[{re}, {im}] has an imaginary part ({})", self.to.name())));
            }
        }
        Ok(())
    }

    /// Why a number is none of the target's.
    fn misfit<M: Middle>(&self, value: M, from: &Side) -> String {
        let (text, name) = (value.text(&from.kind), self.to.name());
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
            let len = item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
            python::repr_bytes(item.get(..len).unwrap_or_default(), &mut text);
        } else {
            let words = item.as_chunks::<4>().0;
            let len = words.iter().rposition(|&word| word != [0; 4]).map_or(0, |last| last + 1);
            let big = self.from.is_big_endian();
            let point = |&word| if big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) };
            python::repr_code_points(words.iter().take(len).map(point), &mut text);
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

/// A number on its way.
trait Middle: Copy + Default + PartialEq {
    /// Reads numbers from the front of `bytes` into that of `run`. Only for kinds whose numbers it holds.
    fn load(from: &Side, bytes: &[u8], run: &mut [Self]);
    /// As `as` converts.
    fn float(self) -> f64;
    /// As `as` converts.
    fn single(self) -> f32;
    /// A float64 that rounds to any float of at most 16 bits as the number itself does.
    fn sticky(self) -> f64;
    /// Some integer, and whether it is the number.
    fn exact<const N: usize, T: Integer<N>>(self) -> (T, bool);
    /// The number without its fraction, as far as 128 bits go.
    fn whole(self) -> i128;
    /// The shortest text that reads back to the same item.
    fn text(self, kind: &Kind) -> String;
}

impl Middle for f64 {
    fn load(from: &Side, bytes: &[u8], run: &mut [Self]) {
        match from.kind {
            Kind::Float16 => read(from, bytes, run, |word| wide_f16(u16::from_le_bytes(word))),
            Kind::BFloat16 => {
                read(from, bytes, run, |word| f32::from_bits(u32::from(u16::from_le_bytes(word)) << 16).into());
            }
            Kind::Float32 => read(from, bytes, run, |word| f32::from_le_bytes(word).into()),
            Kind::Float64 => read(from, bytes, run, f64::from_le_bytes),
            _ => read(from, bytes, run, |[item]| from.values.get(usize::from(item)).copied().unwrap_or_default()),
        }
    }

    fn float(self) -> f64 {
        self
    }

    fn single(self) -> f32 {
        self as f32
    }

    fn sticky(self) -> f64 {
        self
    }

    fn exact<const N: usize, T: Integer<N>>(self) -> (T, bool) {
        let found = T::from_float(self);
        // The largest integer of 64 bits rounds up to the number above it.
        (found, found.float() == self && self < T::END)
    }

    fn whole(self) -> i128 {
        self as i128
    }

    fn text(self, kind: &Kind) -> String {
        let mut buffer = zmij::Buffer::new();
        let digits = |decimal: Decimal| zmij::Buffer::new().format(decimal.to_f64()).to_owned();
        let text = match kind {
            _ if self.is_nan() => "NaN".to_owned(),
            _ if self == f64::INFINITY => "Infinity".to_owned(),
            _ if self == f64::NEG_INFINITY => "-Infinity".to_owned(),
            Kind::Float32 => buffer.format(self as f32).to_owned(),
            Kind::Float16 => digits(decimal::shortest16(half::f16::from_bits(narrow_f16(self)))),
            Kind::BFloat16 => digits(decimal::shortest_bf16(half::bf16::from_bits(narrow_bf16(self)))),
            Kind::Narrow(narrow) => digits(narrow.digits(narrow.encode(self))),
            _ => buffer.format(self).to_owned(),
        };
        text.strip_suffix(".0").unwrap_or(&text).to_owned()
    }
}

/// `sticky` of a magnitude: what float64 has no room for is told by the bit above it.
fn sticky(magnitude: u64) -> f64 {
    const LOW: u64 = (1 << 12) - 1;
    let rest = u64::from(magnitude & LOW != 0) << 12;
    (if magnitude >> 52 == 0 { magnitude } else { magnitude & !LOW | rest }) as f64
}

macro_rules! integer_middle {
    ($middle:ty, $wrap:ident, $back:ident, $sticky:expr, $($kind:pat => $load:expr),+) => {
        impl Middle for $middle {
            fn load(from: &Side, bytes: &[u8], run: &mut [Self]) {
                match from.kind {
                    $($kind => read(from, bytes, run, $load),)+
                    _ => read(from, bytes, run, |[item]| {
                        from.values.get(usize::from(item)).copied().unwrap_or_default() as $middle
                    }),
                }
            }

            fn float(self) -> f64 {
                self as f64
            }

            fn single(self) -> f32 {
                self as f32
            }

            fn sticky(self) -> f64 {
                $sticky(self)
            }

            fn exact<const N: usize, T: Integer<N>>(self) -> (T, bool) {
                let found = T::$wrap(self);
                (found, found.$back() == self && found.negative() == (self < Self::default()))
            }

            fn whole(self) -> i128 {
                self.into()
            }

            fn text(self, _: &Kind) -> String {
                self.to_string()
            }
        }
    };
}

integer_middle!(
    i64, from_signed, signed,
    |value: i64| { let size = sticky(value.unsigned_abs()); if value < 0 { -size } else { size } },
    Kind::Bool => |[item]: [u8; 1]| (item != 0).into(),
    Kind::Int8 => |word| i8::from_le_bytes(word).into(),
    Kind::Int16 => |word| i16::from_le_bytes(word).into(),
    Kind::Int32 => |word| i32::from_le_bytes(word).into(),
    Kind::Int64 => i64::from_le_bytes,
    Kind::UInt8 => |word| u8::from_le_bytes(word).into(),
    Kind::UInt16 => |word| u16::from_le_bytes(word).into(),
    Kind::UInt32 => |word| u32::from_le_bytes(word).into()
);
integer_middle!(u64, from_unsigned, unsigned, sticky, Kind::UInt64 => u64::from_le_bytes);

/// An integer type of `N` bytes, to write.
trait Integer<const N: usize>: Copy {
    const LEAST: i128;
    const LARGEST: i128;
    /// One more than the largest.
    const END: f64;
    /// The nearest in range; 0 for NaN.
    fn from_float(value: f64) -> Self;
    /// The low bits.
    fn from_signed(value: i64) -> Self;
    /// The low bits.
    fn from_unsigned(value: u64) -> Self;
    /// The low bits.
    fn from_wide(value: i128) -> Self;
    fn float(self) -> f64;
    fn signed(self) -> i64;
    fn unsigned(self) -> u64;
    fn negative(self) -> bool;
    fn bytes(self) -> [u8; N];
}

macro_rules! integers {
    ($($type:ty),+) => {
        $(impl Integer<{ size_of::<$type>() }> for $type {
            const LEAST: i128 = <$type>::MIN as i128;
            const LARGEST: i128 = <$type>::MAX as i128;
            const END: f64 = (Self::LARGEST + 1) as f64;

            fn from_float(value: f64) -> Self {
                value as $type
            }

            fn from_signed(value: i64) -> Self {
                value as $type
            }

            fn from_unsigned(value: u64) -> Self {
                value as $type
            }

            fn from_wide(value: i128) -> Self {
                value as $type
            }

            fn float(self) -> f64 {
                self as f64
            }

            fn signed(self) -> i64 {
                self as i64
            }

            fn unsigned(self) -> u64 {
                self as u64
            }

            #[allow(unused_comparisons)]
            fn negative(self) -> bool {
                self < 0
            }

            fn bytes(self) -> [u8; size_of::<$type>()] {
                self.to_le_bytes()
            }
        })+
    };
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);

/// Reads words of `N` bytes, which `number` gets in little-endian order.
fn read<const N: usize, M>(from: &Side, bytes: &[u8], run: &mut [M], number: impl Fn([u8; N]) -> M) {
    let words = bytes.as_chunks::<N>().0.iter().zip(run);
    if from.big {
        words.for_each(|(&(mut word), place)| {
            word.reverse();
            *place = number(word);
        });
    } else {
        words.for_each(|(&word, place)| *place = number(word));
    }
}

/// Writes words of `N` bytes, which `word` makes in little-endian order.
fn write<const N: usize, M: Copy>(to: &Side, run: &[M], out: &mut [u8], word: impl Fn(M) -> [u8; N]) {
    let words = out.as_chunks_mut::<N>().0.iter_mut().zip(run);
    if to.big {
        words.for_each(|(place, &number)| {
            *place = word(number);
            place.reverse();
        });
    } else {
        words.for_each(|(place, &number)| *place = word(number));
    }
}

/// Writes numbers that may not fit; the first that does not, unless `lossy`, is the error.
fn write_exact<const N: usize, M: Middle>(
    to: &Side,
    run: &[M],
    out: &mut [u8],
    lossy: bool,
    exact: impl Fn(M) -> ([u8; N], bool),
    nearest: impl Fn(M) -> [u8; N],
) -> Result<(), usize> {
    let words = out.as_chunks_mut::<N>().0.iter_mut().zip(run);
    let mut all = true;
    words.for_each(|(place, &number)| {
        let (word, fits) = exact(number);
        *place = word;
        all &= fits;
    });
    match run.iter().position(|&number| !all && !exact(number).1) {
        Some(at) if !lossy => return Err(at),
        Some(_) => {
            let words = out.as_chunks_mut::<N>().0.iter_mut().zip(run);
            words.for_each(|(place, &number)| *place = nearest(number));
        }
        None => {}
    }
    if to.big {
        out.as_chunks_mut::<N>().0.iter_mut().for_each(|word| word.reverse());
    }
    Ok(())
}

fn write_integers<const N: usize, T: Integer<N>, M: Middle>(
    to: &Side,
    run: &[M],
    out: &mut [u8],
    lossy: bool,
) -> Result<(), usize> {
    let exact = |number: M| {
        let (found, fits) = number.exact::<N, T>();
        (found.bytes(), fits)
    };
    let nearest = |number: M| T::from_wide(number.whole().clamp(T::LEAST, T::LARGEST)).bytes();
    write_exact(to, run, out, lossy, exact, nearest)
}

/// Writes a run of numbers; in an error, which is the first that does not fit.
fn store<M: Middle>(to: &Side, run: &[M], out: &mut [u8], lossy: bool) -> Result<(), usize> {
    match to.kind {
        Kind::Float64 => write(to, run, out, |number| number.float().to_le_bytes()),
        Kind::Float32 => write(to, run, out, |number| number.single().to_le_bytes()),
        Kind::Float16 => write(to, run, out, |number| narrow_f16(number.sticky()).to_le_bytes()),
        Kind::BFloat16 => write(to, run, out, |number| narrow_bf16(number.sticky()).to_le_bytes()),
        Kind::Int8 => return write_integers::<1, i8, M>(to, run, out, lossy),
        Kind::Int16 => return write_integers::<2, i16, M>(to, run, out, lossy),
        Kind::Int32 => return write_integers::<4, i32, M>(to, run, out, lossy),
        Kind::Int64 => return write_integers::<8, i64, M>(to, run, out, lossy),
        Kind::UInt8 => return write_integers::<1, u8, M>(to, run, out, lossy),
        Kind::UInt16 => return write_integers::<2, u16, M>(to, run, out, lossy),
        Kind::UInt32 => return write_integers::<4, u32, M>(to, run, out, lossy),
        Kind::UInt64 => return write_integers::<8, u64, M>(to, run, out, lossy),
        Kind::Narrow(narrow) => return write_narrow(narrow, to, run, out, lossy),
        _ => {
            let truth = |number: M| [u8::from(number != M::default())];
            let exact = |number: M| {
                let (found, fits) = number.exact::<1, u8>();
                (truth(number), fits && found <= 1)
            };
            return write_exact(to, run, out, lossy, exact, truth);
        }
    }
    Ok(())
}

fn write_narrow<M: Middle>(narrow: Narrow, to: &Side, run: &[M], out: &mut [u8], lossy: bool) -> Result<(), usize> {
    let Some((least, largest)) = narrow.range() else {
        write(to, run, out, |number| [narrow.encode(number.sticky())]);
        return Ok(());
    };
    let mask = (1 << narrow.bits()) - 1;
    let exact = |number: M| {
        let (found, fits) = number.exact::<8, i64>();
        ([found as u8 & mask], fits && (least..=largest).contains(&found))
    };
    let nearest = |number: M| [number.whole().clamp(least.into(), largest.into()) as u8 & mask];
    write_exact(to, run, out, lossy, exact, nearest)
}

/// The value of a float16; of a NaN the sign only is kept.
fn wide_f16(bits: u16) -> f64 {
    let (sign, rest) = (u64::from(bits & 0x8000) << 48, u64::from(bits & 0x7fff));
    let normal = (rest << 42) + ((1023 - 15) << 52);
    // zero, and multiples of the least number
    let small = (f64::from((rest & 0x3ff) as u32 as i32) * f64::from_bits((1023 - 24) << 52)).to_bits();
    let magnitude = match rest {
        0..0x400 => small,
        0x400..0x7c00 => normal,
        0x7c00 => 0x7ff << 52,
        _ => 0xfff << 51,
    };
    f64::from_bits(sign | magnitude)
}

/// The bits of the float16 nearest to a float64.
fn narrow_f16(value: f64) -> u16 {
    nearest_16::<10, -14>(value)
}

/// The bits of the bfloat16 nearest to a float64.
fn narrow_bf16(value: f64) -> u16 {
    nearest_16::<7, -126>(value)
}

/// The bits of the nearest float of 16 bits, `BITS` of which are the fraction, and 2^`LEAST` the smallest normal
/// number; ties to even. Without branches.
fn nearest_16<const BITS: u32, const LEAST: i32>(value: f64) -> u16 {
    let infinity = ((2 - 2 * LEAST) as u64 + 1) << BITS;
    let power = |exponent: i32| f64::from_bits(((1023 + exponent) as u64) << 52);
    // 2 to the power that is beyond the largest number has the bits that infinity has.
    let size = value.abs().min(power(2 - LEAST));
    let bits = size.to_bits();
    // Half a unit less a little, and that little if the last bit is 1.
    let dropped = 52 - BITS;
    let rounded = bits + ((1 << (dropped - 1)) - 1) + ((bits >> dropped) & 1);
    let normal = (rounded >> dropped).wrapping_sub(((1022 + LEAST) as u64) << BITS);
    // Below the normal numbers an addition leaves as many bits as there are.
    let offset = power(LEAST + dropped as i32);
    let small = (size + offset).to_bits().wrapping_sub(offset.to_bits());
    let magnitude = if size < power(LEAST) { small } else { normal };
    let magnitude = if value.is_nan() { infinity | 1 << (BITS - 1) } else { magnitude };
    magnitude as u16 | ((value.to_bits() >> 48) as u16 & 0x8000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cast(from: &str, to: &str, lossy: bool) -> Cast {
        Cast::new(&DType::parse(from).unwrap(), &DType::parse(to).unwrap(), lossy).unwrap()
    }

    fn floats(numbers: &[f64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn singles(numbers: &[f32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn ticks(numbers: &[i64]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    #[test]
    fn items_that_do_not_fit() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let code_points = |text: &str| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<_>>();
        let many = floats(&(0..2000).map(|i| if i == 1500 { 0.5 } else { 1.0 }).collect::<Vec<_>>());
        // from, to, items, the item and the message
        let rows: Vec<(&str, &str, Vec<u8>, usize, &str)> = vec![
            ("float64", "int32", floats(&[1.0, 1.5, 2.5]), 1, "1.5 is not an integer (int32)"),
            ("float64", "uint8", floats(&[300.0]), 0, "300 is out of range for uint8"),
            ("float64", "int8", floats(&[0.0, -0.0, nan]), 2, "NaN is no integer (int8)"),
            (
                "float64",
                "int64",
                floats(&[9_223_372_036_854_775_808.0]),
                0,
                "9.223372036854776e+18 is out of range for int64",
            ),
            ("float64", "int64", floats(&[-inf]), 0, "-Infinity is out of range for int64"),
            ("float32", "int64", singles(&[0.1]), 0, "0.1 is not an integer (int64)"),
            ("float16", "int4", vec![0, 0x48, 0x66, 0x2e], 0, "8 is out of range for int4"),
            ("float16", "int4", vec![0x66, 0x2e], 0, "0.1 is not an integer (int4)"),
            ("bfloat16", "uint2", vec![0x80, 0xbf], 0, "-1 is out of range for uint2"),
            ("float8_e4m3fn", "int8", vec![0x38, 1], 1, "0.002 is not an integer (int8)"),
            ("uint64", "int64", vec![0xff; 8], 0, "18446744073709551615 is out of range for int64"),
            ("int64", "uint64", ticks(&[5, -5]), 1, "-5 is out of range for uint64"),
            ("int8", "bool", vec![0, 1, 2], 2, "2 is neither 0 nor 1 (bool)"),
            ("float64", "bool", floats(&[0.5]), 0, "0.5 is neither 0 nor 1 (bool)"),
            ("complex128", "float32", floats(&[1.0, 0.0, 2.0, -0.5]), 1, "[2, -0.5] has an imaginary part (float32)"),
            ("complex128", "int8", floats(&[1.5, 0.0, 2.0, 1.0]), 0, "1.5 is not an integer (int8)"),
            ("complex128", "int8", floats(&[1.0, nan, 1.5, 0.0]), 0, "[1, NaN] has an imaginary part (int8)"),
            ("float64", "int8", many, 1500, "0.5 is not an integer (int8)"),
            ("S3", "S2", b"ab\0a\0ca'b".to_vec(), 1, "b'a\\x00c' is longer than |S2"),
            ("S3", "S0", b"\0\0\0a\0\0".to_vec(), 1, "b'a' is longer than |S0"),
            ("U3", ">U1", code_points("é\0\0ab\0"), 1, "'ab' is longer than >U1"),
            ("<M8[s]", "<M8[D]", ticks(&[0, 1]), 1, "1970-01-01T00:00:01 is no whole number of ticks of <M8[D]"),
            ("<M8[D]", "<M8[as]", ticks(&[0, 1000]), 1, "1972-09-27 is out of range for <M8[as]"),
            ("<m8[s]", ">m8[h]", ticks(&[60]), 0, "60 of <m8[s] is no whole number of ticks of >m8[h]"),
        ];
        let mut failures = Vec::new();
        for (from, to, items, at, message) in rows {
            let got = cast(from, to, false).apply(&items, &mut Vec::new());
            if got != Err((at, message.to_owned())) {
                failures.push(format!("{from} to {to}: {got:?}, expected {at}, {message}"));
            }
            if cast(from, to, true).apply(&items, &mut Vec::new()).is_err() {
                failures.push(format!("{from} to {to}, lossy"));
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    #[test]
    fn lossy() {
        let nan = f64::NAN;
        let rows: Vec<(&str, &str, Vec<u8>, Vec<u8>)> = vec![
            ("float64", "int8", floats(&[1.9, -1.9, 1e9, -1e300, nan]), vec![1, 0xff, 127, 0x80, 0]),
            ("float64", "int4", floats(&[1.9, -9.0, 9.0, nan]), vec![1, 8, 7, 0]),
            ("float64", "bool", floats(&[0.1, nan, -0.0]), vec![1, 1, 0]),
            ("complex128", "bool", floats(&[0.0, 1.0, 0.0, 0.0]), vec![1, 0]),
            ("complex128", "uint8", floats(&[3.5, 1.0]), vec![3]),
            ("int64", "uint8", ticks(&[-1, 256, 7]), vec![0, 255, 7]),
            ("S3", "|S1", b"abc\0bc".to_vec(), b"a\0".to_vec()),
            ("<M8[s]", "<M8[D]", ticks(&[-1, i64::MIN]), ticks(&[-1, i64::MIN])),
            ("<m8[s]", ">m8[as]", ticks(&[-1000]), (-i64::MAX).to_be_bytes().to_vec()),
        ];
        let mut failures = Vec::new();
        for (from, to, items, expected) in rows {
            let mut out = vec![7; 3];
            let got = cast(from, to, true).apply(&items, &mut out);
            if got.is_err() || out != expected {
                failures.push(format!("{from} to {to}: {got:?} {out:?}, expected {expected:?}"));
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    #[test]
    fn widths_and_orders() {
        let rows: Vec<(&str, &str, Vec<u8>, Vec<u8>)> = vec![
            ("S1", "S3", b"ab".to_vec(), b"a\0\0b\0\0".to_vec()),
            ("S1", "S0", b"\0\0".to_vec(), vec![]),
            ("<U1", ">U2", vec![1, 2, 0, 0], vec![0, 0, 2, 1, 0, 0, 0, 0]),
            ("<U1", ">U1", vec![1, 2, 3, 4], vec![4, 3, 2, 1]),
            ("<f16", ">f16", (0..16).collect(), (0..16).rev().collect()),
            ("V3", "V3", vec![1, 2, 3], vec![1, 2, 3]),
            ("V0", "V0", vec![], vec![]),
            ("<M8[D]", ">M8[h]", ticks(&[1]), 24_i64.to_be_bytes().to_vec()),
            ("bool", "float16", vec![0, 1, 2], vec![0, 0, 0, 0x3c, 0, 0x3c]),
            ("int8", "complex64", vec![0xff], singles(&[-1.0, 0.0])),
            // what is not a whole item is left out
            ("int16", "int8", vec![1, 0, 2], vec![1]),
        ];
        let mut failures = Vec::new();
        for (from, to, items, expected) in rows {
            let mut out = vec![7; 30];
            let got = cast(from, to, false).apply(&items, &mut out);
            if got.is_err() || out != expected {
                failures.push(format!("{from} to {to}: {got:?} {out:?}, expected {expected:?}"));
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        assert!(cast("<f4", "<f4", false).is_identity() && !cast("<f4", ">f4", false).is_identity());
        assert!(!cast("<i4", "<u4", false).is_identity());
        assert_eq!((cast("U2", "U1", false).from_size(), cast("U2", "U1", false).to_size()), (8, 4));
    }

    #[test]
    fn rounded_once() {
        // Halfway between two of the target by way of a float64 that is rounded first, and above that in truth.
        let number = (1_i64 << 62) + (1 << 51) + 1;
        let mut out = Vec::new();
        cast("int64", "bfloat16", false).apply(&((1_i64 << 62) + (1 << 54) + 1).to_le_bytes(), &mut out).unwrap();
        assert_eq!(out, 0x5e81_u16.to_le_bytes());
        cast("int64", "float32", false).apply(&number.to_le_bytes(), &mut out).unwrap();
        assert_eq!(out, (number as f32).to_le_bytes());
        cast("float64", "float16", false).apply(&floats(&[2_049.000_000_000_001]), &mut out).unwrap();
        assert_eq!(out, 0x6801_u16.to_le_bytes());
        cast("float64", "float8_e4m3fn", false).apply(&floats(&[-1.062_500_000_000_001]), &mut out).unwrap();
        assert_eq!(out, [0xb9]);
        // a NaN with a payload
        cast("float32", "bfloat16", false).apply(&0xff80_0001_u32.to_le_bytes(), &mut out).unwrap();
        assert_eq!(out, 0xffc0_u16.to_le_bytes());
        cast("float16", "float32", false).apply(&0xfc01_u16.to_le_bytes(), &mut out).unwrap();
        assert_eq!(out, 0xffc0_0000_u32.to_le_bytes());
    }

    #[test]
    fn refused() {
        let rows = [
            ("S3", "int8", "|S3 is not cast to int8: values are cast between numbers and bool only"),
            ("U3", "S3", "<U3 is not cast to |S3"),
            ("S0", "S3", "|S0 is not cast to |S3: its items have no bytes"),
            ("V4", "float32", "|V4 is not cast to float32"),
            ("float32", "float128", "float32 is not cast to float128"),
            ("<M8[s]", "int64", "<M8[s] is not cast to int64"),
            ("int64", "<m8", "int64 is not cast to <m8"),
            ("<M8[s]", "<m8[s]", "is not cast"),
            ("<m8[M]", "<m8[D]", "is not cast"),
            ("<M8", "<M8[D]", "is not cast"),
        ];
        let mut failures = Vec::new();
        for (from, to, message) in rows {
            let error = Cast::new(&DType::parse(from).unwrap(), &DType::parse(to).unwrap(), true).map(drop);
            if !error.as_ref().is_err_and(|e| e.message().contains(message) && e.subject() == Subject::Dtype) {
                failures.push(format!("{from} to {to}: {error:?}"));
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
        for (from, to) in [("<M8[s]", "int64"), ("int64", "<m8")] {
            let error = Cast::new(&DType::parse(from).unwrap(), &DType::parse(to).unwrap(), true).map(drop);
            assert_eq!(error.unwrap_err().advice(), Some(Advice::ReadBits), "{from} to {to}");
        }
    }
}

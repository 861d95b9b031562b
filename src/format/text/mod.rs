//! Tensors as text: byte for byte what NumPy 2.4 prints, under `floatmode="unique"` and no limit on the number of
//! items (`threshold=sys.maxsize`), or with NumPy's options for both.
//!
//! Every item is made twice, first to find how wide the columns are and then to be written, so that memory is needed
//! for one block of the output only.

mod floats;
mod table;

use std::io::{self, Write};
use std::ops::Range;

pub(super) use self::table::TextWriter;
use crate::error::{Advice, Error, Subject};
pub use crate::format::interface::TextOptions;
use crate::item::datetime;
use crate::item::dtype::{DType, Kind, Narrow};
use crate::item::element::{Element, match_kind};
use crate::item::python;
use crate::item::tensor::Tensor;
use crate::item::time_unit::{TimeBase, TimeUnit};
use crate::memory;
use floats::{Role, complex_scalar, complexes, real_scalar, reals};

/// Bytes of text that are gathered before they are written: the output may be a pipe or a terminal, where each write
/// is a system call, and a line is too little for one.
const BLOCK: usize = 1 << 16;

/// Whether items of this dtype can be printed.
///
/// # Errors
/// Void, structured and long double items.
pub fn check(dtype: &DType) -> Result<(), Error> {
    match_kind!(dtype.kind(), {
        number T => Ok(()),
        Kind::Narrow(_) | Kind::Bytes(_) | Kind::Str(_) | Kind::Datetime(_) | Kind::Timedelta(_) => Ok(()),
        Kind::Void(_) | Kind::Struct(_) | Kind::LongDouble(_) | Kind::ComplexLongDouble(_) => {
            let message = format!("{} cannot be printed as text", dtype.name());
            let advice = if dtype.is_ambiguous() { Advice::WriteOrName } else { Advice::WriteNpy };
            Err(Error::new(Subject::Output, message).advising(advice))
        }
    })
}

/// Memory is made sure of for items of more bytes than this: the file says how long an item is, and a vector that
/// cannot grow ends the process. Shorter ones fit what the page has reserved already.
const LONG_ITEM: usize = 1 << 16;

/// Prints a tensor and the end of the line, as Python's `print` does.
///
/// # Errors
/// Those of `out`, and a dtype that [`check`] refuses.
pub fn write(out: &mut dyn Write, tensor: &Tensor, options: &TextOptions) -> io::Result<()> {
    write_shown(out, tensor, tensor.shape(), options)
}

/// The places of each axis, one or two ranges, whose items [`write_shown`] needs of a tensor of such dims; `None` if it
/// needs all: where nothing is left out, and where `edgeitems` is 0, for then NumPy fits columns to items that it does
/// not print.
pub fn shown(shape: &[usize], options: &TextOptions) -> Option<Vec<Vec<Range<usize>>>> {
    let edge = edge(shape, options).filter(|&edge| edge > 0)?;
    let places = |&dim: &usize| match ends(edge, dim, dim) {
        Some((head, tail)) => vec![head, tail],
        None => std::iter::once(0..dim).collect(),
    };
    let is_cut = shape.iter().any(|&dim| ends(edge, dim, dim).is_some());
    (is_cut && !shape.contains(&0)).then(|| shape.iter().map(places).collect())
}

/// Prints a tensor of dims `shape` as [`write`] does, from those of its items alone that [`shown`] names: `items` is
/// what is left of the tensor when all other places of each axis are taken out.
///
/// # Errors
/// Those of `out`, and a dtype that [`check`] refuses.
pub fn write_shown(out: &mut dyn Write, items: &Tensor, shape: &[usize], options: &TextOptions) -> io::Result<()> {
    check(items.dtype()).map_err(io::Error::other)?;
    let mut page = Page::new(out, items.shape(), shape, options);
    if items.dtype().itemsize() > LONG_ITEM {
        // an escape takes four times a byte, in the line and in what may be moved to the next
        let longest = items.dtype().itemsize().saturating_mul(4).saturating_add(2 * BLOCK);
        for text in [&mut page.text, &mut page.word] {
            memory::reserve(text, longest).map_err(|m| io::Error::new(io::ErrorKind::OutOfMemory, m))?;
        }
    }
    if shape.is_empty() {
        scalar(items, &mut page.text);
    } else if items.items() == 0 {
        page.text.extend(b"[]");
    } else {
        array(items, options, &mut page)?;
    }
    page.text.push(b'\n');
    page.flush()
}

/// How many items an axis keeps at either end, if a tensor of such dims is elided.
fn edge(shape: &[usize], options: &TextOptions) -> Option<usize> {
    let items = shape.iter().product::<usize>();
    options.threshold.is_some_and(|threshold| items > threshold).then_some(options.edgeitems)
}

/// The places before and after the gap of an axis of `dim` places; `None` if it has no gap. Of the axis only `held`
/// places are there, of those in the middle none need be.
fn ends(edge: usize, dim: usize, held: usize) -> Option<(Range<usize>, Range<usize>)> {
    // after the gap NumPy always prints an item, and `edge` may be 0
    (edge < dim.div_ceil(2)).then(|| (0..edge, held - edge.max(1)..held))
}

/// Prints a tensor that has axes and items.
fn array(tensor: &Tensor, options: &TextOptions, page: &mut Page<'_>) -> io::Result<()> {
    let size = tensor.dtype().itemsize();
    let item = |i: usize| &tensor.bytes()[i * size..][..size];
    let numbers = Numbers::new(tensor);
    match_kind!(tensor.dtype().kind(), {
        bool T => page.blocks(&mut |i, text| pad(if numbers.item(i) { b"True" } else { b"False" }, 5, text)),
        integer T => integers::<T>(&numbers, None, page),
        float T => reals(&numbers, Numbers::item::<T>, options, page),
        complex T => complexes(&numbers, Numbers::item::<<T as Element>::Part>, options, page),
        Kind::Datetime(unit) => datetimes(&numbers, *unit, page),
        Kind::Timedelta(_) => integers(&numbers, Some(i64::MIN), page),
        Kind::Narrow(narrow) if narrow.is_integer() => {
            // NumPy does not know these and puts no spaces before them.
            page.blocks(&mut |i, text| pad(narrow_integer(*narrow, numbers.item(i)).as_bytes(), 0, text))
        }
        Kind::Narrow(narrow) => {
            let known: [f32; 256] = std::array::from_fn(|item| narrow.value(item as u8) as f32);
            reals(&numbers, |numbers, i| known[usize::from(numbers.item::<u8>(i))], options, page)
        }
        Kind::Bytes(_) => page.blocks(&mut |i, text| python::repr_bytes(unpadded(item(i)), text)),
        Kind::Str(_) => {
            page.blocks(&mut |i, text| python::repr_code_points(code_points(item(i), tensor.dtype()), text))
        }
        // `check` refused these
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) | Kind::Void(_) | Kind::Struct(_) => Ok(()),
    })
}

/// Prints the one item of a tensor of rank 0, which NumPy does without regard to any option.
fn scalar(tensor: &Tensor, text: &mut Vec<u8>) {
    let item = tensor.bytes();
    let numbers = Numbers::new(tensor);
    match_kind!(tensor.dtype().kind(), {
        bool T => text.extend_from_slice(if numbers.item(0) { b"True" } else { b"False" }),
        integer T => text.extend_from_slice(itoa::Buffer::new().format(numbers.item::<T>(0)).as_bytes()),
        float T => real_scalar(numbers.item::<T>(0), Role::Whole, text),
        complex T => {
            let number: T = numbers.item(0);
            complex_scalar(number.re, number.im, text);
        },
        Kind::Narrow(narrow) if narrow.is_integer() => text.extend(narrow_integer(*narrow, numbers.item(0)).bytes()),
        Kind::Narrow(narrow) => real_scalar(narrow.value(numbers.item(0)) as f32, Role::Whole, text),
        Kind::Datetime(unit) => text.extend(datetime::format_as_numpy(numbers.item(0), *unit).bytes()),
        Kind::Timedelta(unit) => text.extend(timedelta(numbers.item(0), *unit).bytes()),
        Kind::Bytes(_) => {
            text.extend(b"np.bytes_(");
            python::repr_bytes(unpadded(item), text);
            text.push(b')');
        }
        Kind::Str(_) => python::print_code_points(code_points(item, tensor.dtype()), text),
        // `check` refused these
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) | Kind::Void(_) | Kind::Struct(_) => {}
    });
}

/// An integer of 4 bits or fewer.
fn narrow_integer(narrow: Narrow, item: u8) -> String {
    (narrow.value(item) as i64).to_string()
}

/// A single time difference.
fn timedelta(ticks: i64, unit: TimeUnit) -> String {
    if ticks == i64::MIN {
        return "NaT".to_owned();
    }
    let name = match unit.base {
        None => "generic time units",
        Some(TimeBase::Year) => "years",
        Some(TimeBase::Month) => "months",
        Some(TimeBase::Week) => "weeks",
        Some(TimeBase::Day) => "days",
        Some(TimeBase::Hour) => "hours",
        Some(TimeBase::Minute) => "minutes",
        Some(TimeBase::Second) => "seconds",
        Some(TimeBase::Millisecond) => "milliseconds",
        Some(TimeBase::Microsecond) => "microseconds",
        Some(TimeBase::Nanosecond) => "nanoseconds",
        Some(TimeBase::Picosecond) => "picoseconds",
        Some(TimeBase::Femtosecond) => "femtoseconds",
        Some(TimeBase::Attosecond) => "attoseconds",
    };
    format!("{} {name}", ticks.wrapping_mul(unit.count.into()))
}

/// Prints integers; of time differences one number is "not a time".
fn integers<T: Element + itoa::Integer + Ord>(
    numbers: &Numbers<'_>,
    nat: Option<T>,
    page: &mut Page<'_>,
) -> io::Result<()> {
    const NAT: &[u8] = b"'NaT'";
    let mut ends: Option<(T, T)> = None;
    let mut width = 0;
    page.each(&mut |i| match numbers.item(i) {
        number if Some(number) == nat => width = NAT.len(),
        number => ends = Some(ends.map_or((number, number), |(min, max)| (number.min(min), number.max(max)))),
    });
    if let Some((min, max)) = ends {
        let digits = |number: T| itoa::Buffer::new().format(number).len();
        width = width.max(digits(min)).max(digits(max));
    }
    page.blocks(&mut |i, text| match numbers.item(i) {
        number if Some(number) == nat => pad(NAT, width, text),
        number => pad(itoa::Buffer::new().format(number).as_bytes(), width, text),
    })
}

/// Prints points in time, in quotes.
fn datetimes(numbers: &Numbers<'_>, unit: TimeUnit, page: &mut Page<'_>) -> io::Result<()> {
    let quoted = |ticks| format!("'{}'", datetime::format_as_numpy(ticks, unit));
    let (mut min, mut max, mut width) = (i64::MAX, i64::MIN, 0);
    page.each(&mut |i| match numbers.item(i) {
        i64::MIN => width = "'NaT'".len(),
        ticks => (min, max) = (min.min(ticks), max.max(ticks)),
    });
    if min <= max {
        // NumPy, too, takes for granted that no text between is longer.
        width = width.max(quoted(min).len()).max(quoted(max).len());
    }
    page.blocks(&mut |i, text| pad(quoted(numbers.item(i)).as_bytes(), width, text))
}

/// Appends `word` with spaces before it up to `width`, and returns how many characters that is.
fn pad(word: &[u8], width: usize, text: &mut Vec<u8>) -> usize {
    spaces(width.saturating_sub(word.len()), text);
    text.extend_from_slice(word);
    width.max(word.len())
}

fn spaces(count: usize, text: &mut Vec<u8>) {
    text.resize(text.len() + count, b' ');
}

/// An item of `S` without its padding.
fn unpadded(item: &[u8]) -> &[u8] {
    &item[..item.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)]
}

/// The code points of an item of `U` without its padding.
fn code_points<'a>(item: &'a [u8], dtype: &DType) -> impl Iterator<Item = u32> + Clone + use<'a> {
    let big = dtype.is_big_endian();
    let words = item.as_chunks::<4>().0;
    let len = words.iter().rposition(|&word| word != [0; 4]).map_or(0, |last| last + 1);
    words[..len].iter().map(move |&word| if big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) })
}

/// The numbers of a tensor (of complex items also the parts), whatever their size and byte order.
struct Numbers<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl<'a> Numbers<'a> {
    fn new(tensor: &'a Tensor) -> Self {
        Self { bytes: tensor.bytes(), big: tensor.dtype().is_big_endian() }
    }

    /// The `i`th number.
    fn item<T: Element>(&self, i: usize) -> T {
        let word = T::chunks(self.bytes)[i];
        if self.big { T::from_big(word) } else { T::from_little(word) }
    }
}

/// What is being printed, and where to.
struct Page<'a> {
    out: &'a mut dyn Write,
    shape: &'a [usize],
    /// The places of each axis that are in memory: all, or those before and after the gap.
    held: &'a [usize],
    /// Items in memory from one index of an axis to the next.
    strides: Vec<usize>,
    /// How many items an axis keeps at either end, if the array is elided.
    edge: Option<usize>,
    /// A word that would end farther right begins a line.
    limit: usize,
    text: Vec<u8>,
    /// The word that is being moved to the next line.
    word: Vec<u8>,
}

impl<'a> Page<'a> {
    fn new(out: &'a mut dyn Write, held: &'a [usize], shape: &'a [usize], options: &TextOptions) -> Self {
        let mut strides = vec![1; held.len()];
        for axis in (1..held.len()).rev() {
            strides[axis - 1] = strides[axis] * held[axis];
        }
        Self {
            out,
            shape,
            held,
            strides,
            edge: edge(shape, options),
            // Every line keeps room for the brackets that may end it.
            limit: options.linewidth.saturating_sub(shape.len()),
            text: Vec::with_capacity(if held.iter().product::<usize>() < 1000 { 0 } else { 2 * BLOCK }),
            word: Vec::new(),
        }
    }

    /// The indices in memory of an axis that are shown: those before the gap, and those after it.
    fn shown(&self, axis: usize) -> Option<(Range<usize>, Range<usize>)> {
        ends(self.edge?, self.shape[axis], self.held[axis])
    }

    /// Calls `see` with every item that the layout depends on: those that are shown.
    fn each(&self, see: &mut impl FnMut(usize)) {
        match self.edge {
            // With no edges at all NumPy fits the columns to every item.
            None | Some(0) => (0..self.held.iter().product()).for_each(see),
            Some(_) => self.each_below(0, 0, see),
        }
    }

    fn each_below(&self, axis: usize, first: usize, see: &mut impl FnMut(usize)) {
        let Some(&dim) = self.held.get(axis) else { return see(first) };
        let (head, tail) = self.shown(axis).unwrap_or((0..0, 0..dim));
        for i in head.chain(tail) {
            self.each_below(axis + 1, first + i * self.strides[axis], see);
        }
    }

    /// Prints the whole array.
    fn blocks(&mut self, put: &mut impl FnMut(usize, &mut Vec<u8>) -> usize) -> io::Result<()> {
        self.block(0, 0, put)
    }

    /// Prints the sub-array that begins with item `first` and in which `axis` is the outermost.
    fn block(
        &mut self,
        axis: usize,
        first: usize,
        put: &mut impl FnMut(usize, &mut Vec<u8>) -> usize,
    ) -> io::Result<()> {
        self.text.push(b'[');
        let dim = self.held[axis];
        let gap = self.shown(axis);
        let (head, tail) = gap.clone().unwrap_or((0..0, 0..dim));
        if axis + 1 == self.shape.len() {
            let mut column = self.shape.len();
            for i in head {
                self.word(&mut column, |text| put(first + i, text))?;
            }
            if gap.is_some() {
                self.word(&mut column, |text| pad(b"...", 3, text))?;
            }
            for i in tail {
                self.word(&mut column, |text| put(first + i, text))?;
            }
        } else {
            let stride = self.strides[axis];
            let mut any = false;
            for i in head {
                self.next(axis, &mut any);
                self.block(axis + 1, first + i * stride, put)?;
            }
            if gap.is_some() {
                self.next(axis, &mut any);
                self.text.extend_from_slice(b"...");
            }
            for i in tail {
                self.next(axis, &mut any);
                self.block(axis + 1, first + i * stride, put)?;
            }
        }
        self.text.push(b']');
        Ok(())
    }

    /// Ends the lines between two sub-arrays along `axis`.
    fn next(&mut self, axis: usize, any: &mut bool) {
        if std::mem::replace(any, true) {
            let lines = self.shape.len() - axis - 1;
            self.text.resize(self.text.len() + lines, b'\n');
            spaces(axis + 1, &mut self.text);
        }
    }

    /// Prints a word of a row, whose line has `column` characters so far, on that line or on one more.
    fn word(&mut self, column: &mut usize, put: impl FnOnce(&mut Vec<u8>) -> usize) -> io::Result<()> {
        let indent = self.shape.len();
        if *column > indent {
            self.text.push(b' ');
            *column += 1;
        }
        let start = self.text.len();
        let width = put(&mut self.text);
        if *column + width > self.limit && *column > indent {
            self.word.clear();
            self.word.extend_from_slice(&self.text[start..]);
            let line = self.text[..start].trim_ascii_end().len();
            self.text.truncate(line);
            self.text.push(b'\n');
            spaces(indent, &mut self.text);
            self.text.append(&mut self.word);
            *column = indent;
        }
        *column += width;
        if self.text.len() > BLOCK {
            // Spaces at the end of a line go when the line is broken there.
            let len = self.text.trim_ascii_end().len();
            self.out.write_all(&self.text[..len])?;
            self.text.drain(..len);
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use half::{bf16, f16};

    use super::*;

    fn print(descr: &str, shape: &[usize], bytes: Vec<u8>, options: &TextOptions) -> String {
        let tensor = Tensor::new(DType::parse(descr).unwrap(), shape.to_vec(), bytes).unwrap();
        let mut out = Vec::new();
        write(&mut out, &tensor, options).unwrap();
        String::from_utf8(out).unwrap().strip_suffix('\n').unwrap().to_owned()
    }

    /// The bytes of numbers as the dtype stores them.
    fn encode(descr: &str, numbers: &[f64]) -> Vec<u8> {
        let bytes = |number: f64| match descr {
            "<f2" => f16::from_f64(number).to_le_bytes().to_vec(),
            "bfloat16" => bf16::from_f64(number).to_le_bytes().to_vec(),
            "<f4" | "<c8" => (number as f32).to_le_bytes().to_vec(),
            ">f8" => number.to_be_bytes().to_vec(),
            "|b1" | "|u1" | "int4" | "uint2" => vec![number as u8],
            _ if descr.starts_with("float") => vec![number as u8],
            "<i2" => (number as i16).to_le_bytes().to_vec(),
            _ => number.to_le_bytes().to_vec(),
        };
        numbers.iter().flat_map(|&number| bytes(number)).collect()
    }

    #[test]
    fn numbers() {
        let (nan, inf) = (f64::NAN, f64::INFINITY);
        let rows: &[(&str, &[usize], &[f64], &str)] = &[
            ("|b1", &[], &[1.0], "True"),
            ("|b1", &[3], &[0.0, 1.0, 2.0], "[False  True  True]"),
            ("<i2", &[], &[-5.0], "-5"),
            ("<i2", &[2, 2], &[1.0, -20.0, 3.0, 4.0], "[[  1 -20]\n [  3   4]]"),
            ("<f8", &[2, 0], &[], "[]"),
            ("<f8", &[], &[1e16], "1e+16"),
            ("<f8", &[], &[1e15], "1000000000000000.0"),
            ("<f8", &[3], &[1.0, 0.5, -0.25], "[ 1.    0.5  -0.25]"),
            (">f8", &[2], &[nan, -inf], "[ nan -inf]"),
            ("<f8", &[3], &[nan, inf, 1.0], "[nan inf  1.]"),
            ("<f8", &[2], &[-0.0, 99_999_999.0], "[      -0. 99999999.]"),
            ("<f8", &[2], &[1e-5, 0.1], "[1.e-05 1.e-01]"),
            ("<f8", &[2], &[1e100, 1.0], "[1.e+100 1.e+000]"),
            ("<f4", &[], &[1e-4], "1e-04"),
            ("<f4", &[2], &[3.25, 1e6], "[3.25e+00 1.00e+06]"),
            ("<f2", &[], &[1000.0], "1e+03"),
            ("<f2", &[1], &[999.5], "[999.5]"),
            // Filled with digits of the float, not with zeros.
            ("<f2", &[2], &[9832.0, 0.3333], "[9.832e+03 3.333e-01]"),
            ("bfloat16", &[], &[3.3], "3.296875"),
            ("bfloat16", &[2], &[0.1, 256.0], "[1.00097656e-01 2.56000000e+02]"),
            ("bfloat16", &[3], &[0.5, 100.0, nan], "[  0.5 100.    nan]"),
            // bytes of float8 and int4
            ("float8_e4m3fn", &[], &[1.0], "0.001953125"),
            ("float8_e4m3fn", &[4], &[56.0, 126.0, 255.0, 128.0], "[  1. 448.  nan  -0.]"),
            ("float8_e5m2", &[2], &[1.0, 124.0], "[1.5258789e-05           inf]"),
            ("float4_e2m1fn", &[2, 2], &[1.0, 2.0, 15.0, 8.0], "[[ 0.5  1. ]\n [-6.  -0. ]]"),
            ("float8_e8m0fnu", &[2], &[0.0, 127.0], "[5.877472e-39 1.000000e+00]"),
            ("int4", &[2, 2], &[1.0, 8.0, 15.0, 7.0], "[[1 -8]\n [-1 7]]"),
            ("uint2", &[], &[3.0], "3"),
            ("<c16", &[], &[0.0, -2.0], "-2j"),
            ("<c16", &[], &[-0.0, -1.0], "(-0-1j)"),
            ("<c16", &[], &[nan, inf], "(nan+infj)"),
            ("<c8", &[], &[0.5, 1e10], "(0.5+1e+10j)"),
            ("<c16", &[2], &[1.0, -2.5, nan, 0.0], "[ 1.-2.5j nan+0.j ]"),
        ];
        let mut failures = Vec::new();
        for (descr, shape, numbers, expected) in rows {
            let got = print(descr, shape, encode(descr, numbers), &TextOptions::default());
            if got != *expected {
                failures.push(format!("{descr} {shape:?} {numbers:?}:\n{got}\nexpected\n{expected}"));
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    #[test]
    fn texts_and_times() {
        let ticks = |numbers: &[i64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
        let codes = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<_>>();
        let rows: Vec<(&str, &[usize], Vec<u8>, &str)> = vec![
            ("|S3", &[], b"a'\0".to_vec(), r#"np.bytes_(b"a'")"#),
            ("|S3", &[2], b"\0b\0\xffcd".to_vec(), r"[b'\x00b' b'\xffcd']"),
            ("|S0", &[2], vec![], "[b'' b'']"),
            (">U2", &[], codes(&[0xd800, 0x0a]), "\\ud800\n"),
            (">U2", &[2], codes(&[0x27, 0, 0x11_0000, 0xe9]), r#"["'" '\U00110000é']"#),
            ("<M8[D]", &[], ticks(&[0]), "1970-01-01"),
            ("<M8[D]", &[2], ticks(&[0, i64::MIN]), "['1970-01-01'        'NaT']"),
            ("<M8", &[1], ticks(&[i64::MIN]), "['NaT']"),
            ("<m8[ns]", &[], ticks(&[3]), "3 nanoseconds"),
            ("<m8[7Y]", &[], ticks(&[-1]), "-7 years"),
            ("<m8", &[], ticks(&[i64::MIN]), "NaT"),
            ("<m8[7Y]", &[3], ticks(&[-1, i64::MIN, 100]), "[   -1 'NaT'   100]"),
        ];
        let mut failures = Vec::new();
        for (descr, shape, bytes, expected) in rows {
            let got = print(descr, shape, bytes, &TextOptions::default());
            if got != expected {
                failures.push(format!("{descr} {shape:?}:\n{got}\nexpected\n{expected}"));
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    #[test]
    fn options() {
        let default = TextOptions::default;
        let elide = |edgeitems| TextOptions { threshold: Some(5), edgeitems, ..default() };
        let wide = |linewidth| TextOptions { linewidth, ..default() };
        let round = |precision| TextOptions { precision: Some(precision), ..default() };
        let count = |n: u32| (0..n).map(f64::from).collect::<Vec<_>>();
        type Row<'a> = (&'a str, &'a [usize], Vec<f64>, TextOptions, &'a str);
        let rows: Vec<Row<'_>> = vec![
            ("|u1", &[5], count(5), elide(1), "[0 1 2 3 4]"),
            ("|u1", &[200], count(200), elide(2), "[  0   1 ... 198 199]"),
            ("|u1", &[200], count(200), elide(0), "[... 199]"),
            (
                "|u1",
                &[2, 3, 3],
                count(18),
                elide(1),
                "[[[ 0 ...  2]\n  ...\n  [ 6 ...  8]]\n\n [[ 9 ... 11]\n  ...\n  [15 ... 17]]]",
            ),
            ("|u1", &[3, 2], count(6), elide(1), "[[0 1]\n ...\n [4 5]]"),
            ("|u1", &[2, 4], count(8), wide(9), "[[0 1 2\n  3]\n [4 5 6\n  7]]"),
            ("|u1", &[2], count(2), wide(0), "[0\n 1]"),
            ("<f8", &[2], vec![1.0, 2.5], wide(1), "[1.\n 2.5]"),
            ("<f8", &[3], vec![0.006, 0.1, 0.96], round(1), "[0.  0.1 1. ]"),
            ("<f8", &[3], vec![0.5, 1.5, 2.5], round(0), "[0. 2. 2.]"),
            ("<f8", &[2], vec![9.99e10, 1.5e-7], round(1), "[1.0e+11 1.5e-07]"),
            ("<f8", &[], vec![1.234567], round(1), "1.234567"),
            ("<f8", &[1], vec![1.234567], round(usize::MAX), "[1.234567]"),
        ];
        let mut failures = Vec::new();
        for (descr, shape, numbers, options, expected) in rows {
            let got = print(descr, shape, encode(descr, &numbers), &options);
            if got != expected {
                failures.push(format!("{descr} {shape:?} {options:?}:\n{got}\nexpected\n{expected}"));
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    #[test]
    fn any_bytes() {
        let descrs = "|b1 |i1 >u2 <f2 bfloat16 <f4 >f8 <c8 >c16 |S3 <U1 >U2 <M8 <M8[7Y] >M8[W] <M8[2147483647as] <m8[ms] int4 \
             float8_e5m2 float8_e4m3b11fnuz float8_e8m0fnu float4_e2m1fn";
        for descr in descrs.split(' ') {
            let size = DType::parse(descr).unwrap().itemsize();
            for fill in [0, 0x7f, 0x80, 0xff] {
                for precision in [None, Some(0), Some(3)] {
                    let options = TextOptions { precision, ..TextOptions::default() };
                    print(descr, &[], vec![fill; size], &options);
                    print(descr, &[1; 64], vec![fill; size], &options);
                    let mixed = (0..9 * size).map(|i| fill ^ (i * i) as u8).collect();
                    print(descr, &[3, 3], mixed, &options);
                }
            }
        }
    }

    #[test]
    fn refused() {
        for name in ["V3", "float128", "complex256"] {
            let error = check(&DType::parse(name).unwrap()).unwrap_err();
            assert!(error.to_string().contains("cannot be printed as text"), "{error}");
        }
    }

    #[test]
    fn blocks_are_joined() {
        // More text than one block, with spaces to be dropped at the ends of lines.
        let numbers: Vec<f64> = (0..40_000).map(|i| f64::from(i % 8) / 8.0).collect();
        let text = print("<f8", &[40_000], encode("<f8", &numbers), &TextOptions::default());
        assert!(text.lines().all(|line| line.len() <= 75 && !line.ends_with(' ')));
        assert_eq!(text.split_ascii_whitespace().count(), 40_000);
    }
}

//! Tensors as text, as NumPy 2.4 prints them with `floatmode="unique"` and `threshold=sys.maxsize` or other print
//! options.
//!
//! Items are formatted twice, for widths and for output, so that memory holds one block of output.

mod decimal;
mod floats;
mod page;
#[cfg(test)]
mod tests;

use std::io::{self, Write};
use std::ops::Range;

use self::floats::{FLOAT16, FLOAT32, FLOAT64, FloatFormat, FloatType, ScalarPart, complex_scalar, real_scalar};
pub use self::page::elided_ranges;
use self::page::{BLOCK, Numbers, Page, pad};
use crate::container::file_options::LayoutRequest;
pub use crate::container::interface::TextOptions;
use crate::container::interface::{Layout, WholeTensor, WriteWhole, Writer};
use crate::untyped::check_text;
use tensorop_kernels::error::{Error, Result};
use tensorop_kernels::item::datetime::{self, TimeUnit};
use tensorop_kernels::item::dtype::{DType, Kind, Narrow};
use tensorop_kernels::item::element::{Element, Float, match_kind};
use tensorop_kernels::item::encoding::{code_points, unpadded};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::item::python;
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::memory;

/// The file sets the length of items, so memory for longer ones is reserved fallibly. Shorter ones fit the page.
const LONG_ITEM: usize = 1 << 16;

/// Checks that items of a dtype can be printed.
///
/// # Errors
/// The dtype is void, structured or long double.
pub fn check(dtype: &DType) -> Result<()> {
    check_text(dtype, || format!("{} cannot be printed as text", dtype.name()))
}

/// Prints a tensor of dims `shape` and a newline. `items` holds all items, or those in
/// [`elided_ranges`].
///
/// # Errors
/// Writing fails, or the dtype cannot be printed.
pub fn write_shown(out: &mut dyn Write, items: &Tensor, shape: &[usize], options: &TextOptions) -> io::Result<()> {
    check(items.dtype()).map_err(io::Error::other)?;
    let mut page = Page::new(out, items.shape(), shape, options);
    if items.dtype().itemsize() > LONG_ITEM {
        // An escape takes four bytes.
        let longest = items.dtype().itemsize().saturating_mul(4).saturating_add(2 * BLOCK);
        for text in [&mut page.text, &mut page.word] {
            memory::reserve(text, longest).map_err(Error::from)?;
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

fn array(tensor: &Tensor, options: &TextOptions, page: &mut Page<'_>) -> io::Result<()> {
    let size = tensor.dtype().itemsize();
    let item = |i: usize| &tensor.bytes()[i * size..][..size];
    let numbers = Numbers::new(tensor);
    let format = FloatFormat::new(float_type(tensor.dtype()), options.precision);
    match_kind!(tensor.dtype().kind(), {
        bool T => page.rows(&mut |mut items, page| {
            items.try_for_each(|i| page.word(|text| pad(if numbers.item(i) { b"True" } else { b"False" }, 5, text)))
        }),
        integer T => integers::<T>(&numbers, None, page),
        float T => format.print(page, &|i| numbers.item::<T>(i).wide()),
        complex T => format.print_complex(page, &|i| numbers.item::<<T as Element>::Part>(i).wide()),
        Kind::Datetime(unit) => datetimes(&numbers, *unit, page),
        Kind::Timedelta(_) => integers(&numbers, Some(i64::MIN), page),
        Kind::Narrow(narrow) if narrow.is_integer() => {
            // NumPy does not pad items of unknown dtypes.
            page.blocks(&mut |i, text| pad(narrow_integer(*narrow, numbers.item(i)).as_bytes(), 0, text))
        }
        Kind::Narrow(narrow) => {
            let known: [f64; 256] = std::array::from_fn(|item| narrow.value(item as u8));
            format.print(page, &|i| known[usize::from(numbers.item::<u8>(i))])
        }
        Kind::Bytes(_) => page.blocks(&mut |i, text| python::repr_bytes(unpadded(item(i), 1), text)),
        Kind::Str(_) => {
            page.blocks(&mut |i, text| python::repr_code_points(code_points(item(i), tensor.dtype().is_big_endian()), text))
        }
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) | Kind::Void(_) | Kind::Struct(_) => {
            unreachable!("`check` refused this dtype")
        }
    })
}

/// NumPy ignores print options for scalars.
fn scalar(tensor: &Tensor, text: &mut Vec<u8>) {
    let item = tensor.bytes();
    let numbers = Numbers::new(tensor);
    let float = float_type(tensor.dtype());
    match_kind!(tensor.dtype().kind(), {
        bool T => text.extend_from_slice(if numbers.item(0) { b"True" } else { b"False" }),
        integer T => text.extend_from_slice(itoa::Buffer::new().format(numbers.item::<T>(0)).as_bytes()),
        float T => real_scalar(float, numbers.item::<T>(0).wide(), ScalarPart::Whole, text),
        complex T => {
            let number: T = numbers.item(0);
            complex_scalar(float, number.re.wide(), number.im.wide(), text);
        },
        Kind::Narrow(narrow) if narrow.is_integer() => text.extend(narrow_integer(*narrow, numbers.item(0)).bytes()),
        Kind::Narrow(narrow) => real_scalar(float, narrow.value(numbers.item(0)), ScalarPart::Whole, text),
        Kind::Datetime(unit) => text.extend(datetime::format_as_numpy(numbers.item(0), *unit).bytes()),
        Kind::Timedelta(unit) => text.extend(timedelta(numbers.item(0), *unit).bytes()),
        Kind::Bytes(_) => {
            text.extend(b"np.bytes_(");
            python::repr_bytes(unpadded(item, 1), text);
            text.push(b')');
        }
        Kind::Str(_) => python::print_code_points(code_points(item, tensor.dtype().is_big_endian()), text),
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) | Kind::Void(_) | Kind::Struct(_) => {
            unreachable!("`check` refused this dtype")
        }
    });
}

/// Meaningless for other items.
fn float_type(dtype: &DType) -> &'static FloatType {
    match dtype.kind() {
        Kind::Float16 => &FLOAT16,
        Kind::Float64 | Kind::Complex128 => &FLOAT64,
        _ => &FLOAT32,
    }
}

fn narrow_integer(narrow: Narrow, item: u8) -> String {
    (narrow.value(item) as i64).to_string()
}

fn timedelta(ticks: i64, unit: TimeUnit) -> String {
    match ticks {
        i64::MIN => "NaT".to_owned(),
        _ => format!("{} {}", ticks.wrapping_mul(unit.count.into()), unit.plural()),
    }
}

const NAT: &[u8] = b"'NaT'";

/// Also the width of `nat`, if it occurs.
fn extent<T: Element + Ord>(numbers: &Numbers<'_>, nat: Option<T>, page: &Page<'_>) -> (Option<(T, T)>, usize) {
    let mut ends: Option<(T, T)> = None;
    let mut width = 0;
    page.each(&mut |items| {
        items.for_each(|i| match numbers.item(i) {
            number if Some(number) == nat => width = NAT.len(),
            number => ends = Some(ends.map_or((number, number), |(min, max)| (number.min(min), number.max(max)))),
        });
    });
    (ends, width)
}

/// `nat` means "not a time".
fn integers<T: Element + itoa::Integer + Ord>(
    numbers: &Numbers<'_>,
    nat: Option<T>,
    page: &mut Page<'_>,
) -> io::Result<()> {
    let (ends, mut width) = extent(numbers, nat, page);
    if let Some((min, max)) = ends {
        let digits = |number: T| itoa::Buffer::new().format(number).len();
        width = width.max(digits(min)).max(digits(max));
    }
    page.rows(&mut |mut items, page| {
        items.try_for_each(|i| {
            page.word(|text| match numbers.item(i) {
                number if Some(number) == nat => pad(NAT, width, text),
                number => pad(itoa::Buffer::new().format(number).as_bytes(), width, text),
            })
        })
    })
}

fn datetimes(numbers: &Numbers<'_>, unit: TimeUnit, page: &mut Page<'_>) -> io::Result<()> {
    let quoted = |ticks| format!("'{}'", datetime::format_as_numpy(ticks, unit));
    let (ends, mut width) = extent(numbers, Some(i64::MIN), page);
    if let Some((min, max)) = ends {
        // NumPy looks at no other times.
        width = width.max(quoted(min).len()).max(quoted(max).len());
    }
    page.blocks(&mut |i, text| pad(quoted(numbers.item(i)).as_bytes(), width, text))
}

/// Column widths depend on all items.
#[derive(Debug)]
pub(crate) struct TextWriter;

impl Writer for TextWriter {
    fn check(&self, dtype: &DType) -> Result<()> {
        check(dtype)
    }

    fn layout(&self, _: &[(&str, &Meta)], _: &LayoutRequest<'_>) -> Result<Layout> {
        Ok(Layout::Whole(&Self))
    }
}

impl WriteWhole for TextWriter {
    fn places(&self, meta: &Meta, options: &TextOptions) -> Option<Vec<Vec<Range<usize>>>> {
        elided_ranges(&meta.shape, options)
    }

    fn write_whole(&self, out: &mut dyn Write, tensor: WholeTensor<'_>, options: &TextOptions) -> Result<()> {
        Ok(write_shown(out, tensor.items, tensor.shape, options)?)
    }
}

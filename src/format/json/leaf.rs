//! One item of a known dtype: from a scalar of the text to bytes, and what is said of one that does not fit.

use super::strings::{short, string};
use super::walk::Leaf;
use crate::item::datetime;
use crate::item::dtype::{DType, Kind};
use crate::item::parse::{self, Misfit};

/// Puts one item of a dtype without width or pairs into `out`.
pub(super) fn read_leaf(leaf: Leaf<'_>, dtype: &DType, out: &mut [u8]) -> Result<(), String> {
    match (leaf, dtype.kind()) {
        (Leaf::Number(text), kind) => {
            let dates = matches!(kind, Kind::Datetime(_) | Kind::Timedelta(_));
            let ticks = dates.then(|| ticks_of(dtype));
            parse::parse_number(text, ticks.as_ref().unwrap_or(dtype), out)
                .map_err(|misfit| describe(text, dtype, misfit))
        }
        (Leaf::Bool(value), Kind::Bool) => {
            out[0] = value.into();
            Ok(())
        }
        (Leaf::Str(raw), Kind::Datetime(unit)) => {
            let ticks = string(raw).and_then(|text| datetime::parse(&text, *unit));
            let wrong = || format!("{} is no ISO 8601 date that {} holds exactly", short(raw), dtype.name());
            put_ticks(ticks.ok_or_else(wrong)?, dtype, out);
            Ok(())
        }
        (Leaf::Str(raw), Kind::Timedelta(_)) => {
            if !string(raw).is_some_and(|text| text.eq_ignore_ascii_case("nat")) {
                return Err(format!("{} is neither an integer nor \"NaT\"", short(raw)));
            }
            put_ticks(datetime::NAT, dtype, out);
            Ok(())
        }
        (Leaf::Str(raw), _) if parse::parse_special(raw.trim_matches('"'), dtype, out) => Ok(()),
        (leaf @ Leaf::Null, _) => Err(leaf.to_string()),
        (leaf, Kind::Bool) => Err(format!("{leaf}, expected true or false")),
        (leaf, _) => Err(format!("{leaf}, expected a number ({})", dtype.name())),
    }
}

fn put_ticks(ticks: i64, dtype: &DType, out: &mut [u8]) {
    let order = if dtype.is_big_endian() { i64::to_be_bytes } else { i64::to_le_bytes };
    out[..8].copy_from_slice(&order(ticks));
}

pub(super) fn describe(text: &str, dtype: &DType, misfit: Misfit) -> String {
    let (text, name) = (short(text), dtype.name());
    match misfit {
        Misfit::Malformed => format!("{text} is no number"),
        Misfit::NotNumeric if matches!(dtype.kind(), Kind::Bool) => {
            format!("{text} is a number, expected true or false")
        }
        Misfit::NotNumeric => format!("{text} is a number, which {name} does not hold"),
        Misfit::Fraction => format!("{text} is not an integer ({name})"),
        Misfit::OutOfRange => format!("{text} is out of range for {name}"),
        Misfit::TooLarge => format!("{text} is too large for {name}"),
    }
}

/// The dtype `kind`, in the byte order of `like`.
pub(super) fn in_order_of(descr: &str, like: &DType) -> DType {
    let order = if like.is_big_endian() { '>' } else { '<' };
    DType::parse(&format!("{order}{descr}")).unwrap_or_else(|_| like.clone())
}

/// The dtype of the real and the imaginary part.
pub(super) fn real_dtype(complex: &DType) -> DType {
    in_order_of(if matches!(complex.kind(), Kind::Complex64) { "f4" } else { "f8" }, complex)
}

/// The dtype of the ticks of dates.
pub(super) fn ticks_of(dates: &DType) -> DType {
    in_order_of("i8", dates)
}

/// A string dtype of width 0 with the width `longest`, at least 1; any other one as it is.
pub(super) fn with_width(dtype: &DType, longest: Option<usize>) -> DType {
    let width = longest.unwrap_or(0).max(1);
    if *dtype.kind() == Kind::Str(0) {
        in_order_of(&format!("U{width}"), dtype)
    } else if *dtype.kind() == Kind::Bytes(0) {
        Kind::Bytes(width).into()
    } else {
        dtype.clone()
    }
}

/// Puts a string into an item of NULs; in an error, what is wrong with it.
pub(super) fn put_string(points: impl Iterator<Item = u32>, dtype: &DType, item: &mut [u8]) -> Result<(), String> {
    let too_long = || format!("is longer than {}", dtype.name());
    if matches!(dtype.kind(), Kind::Bytes(_)) {
        let mut places = item.iter_mut();
        for point in points {
            let byte = u8::try_from(point)
                .map_err(|_| format!("holds U+{point:04X}, and items of {} go up to U+00FF", dtype.name()))?;
            *places.next().ok_or_else(too_long)? = byte;
        }
    } else {
        let mut places = item.as_chunks_mut::<4>().0.iter_mut();
        for point in points {
            *places.next().ok_or_else(too_long)? =
                if dtype.is_big_endian() { point.to_be_bytes() } else { point.to_le_bytes() };
        }
    }
    Ok(())
}

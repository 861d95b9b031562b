//! One item as it is typed in a shell, where quotes cost: JSON but for those.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::leaf::{put_string, read_leaf, real_dtype, with_width};
use super::strings::{points, short, string};
use super::walk::Leaf;
use super::{FREE_PADDING, holds};
use crate::error::{Error, Subject};
use crate::item::dtype::{DType, Kind};
use crate::item::element::match_kind;
use crate::item::parse;
use crate::layout::shape::bytes_of;
use crate::memory;

/// The one item that a shell argument stands for: a JSON scalar, but for bare `NaN`, `Infinity` and `-Infinity`,
/// strings and dates without quotes, and a complex number without an imaginary part. A string dtype of width 0
/// takes the width of the text.
///
/// ```
/// use tensorop::{DType, format::json};
/// let dtype = DType::parse("complex64").unwrap();
/// assert_eq!(json::parse_item("[1, -Infinity]", &dtype).unwrap(), [0, 0, 128, 63, 0, 0, 128, 255]);
/// ```
///
/// # Errors
/// What the dtype cannot hold.
pub fn parse_item(text: &str, dtype: &DType) -> Result<Vec<u8>, Error> {
    let error = |message: String| Error::new(Subject::Fill, message);
    if !holds(dtype) {
        return Err(error(format!("an item of dtype {} has no text", short(&dtype.name()))));
    }
    let fill = |text: &str, dtype: &DType, out: &mut [u8]| {
        let text = text.trim_matches([' ', '\n', '\r', '\t']);
        let text = string(text).map_or(Cow::Borrowed(text), Cow::Owned);
        let dates = matches!(dtype.kind(), Kind::Datetime(_) | Kind::Timedelta(_));
        let quoted;
        // serde_json knows what a number is, and `true`; anything else is taken for a string.
        let leaf = match serde_json::from_str::<&RawValue>(&text).map(RawValue::get) {
            Ok("true") => Leaf::Bool(true),
            Ok("false") => Leaf::Bool(false),
            Ok(raw) if !raw.starts_with(['"', '[', '{', 'n']) => Leaf::Number(raw),
            _ if dates || parse::is_special(&text) => {
                quoted = format!("\"{}\"", text.replace(['"', '\\'], "?"));
                Leaf::Str(&quoted)
            }
            _ => {
                let expected = if matches!(dtype.kind(), Kind::Bool) { "true or false" } else { "a number" };
                return Err(error(format!("found {}, expected {expected} ({})", short(&text), dtype.name())));
            }
        };
        read_leaf(leaf, dtype, out).map_err(error)
    };
    let one = || {
        let mut item = vec![0; dtype.itemsize()];
        fill(text, dtype, &mut item)?;
        Ok(item)
    };
    match_kind!(dtype.kind(), {
        bool T => one(),
        integer T => one(),
        float T => one(),
        complex T => {
            let real = real_dtype(dtype);
            let mut item = vec![0; dtype.itemsize()];
            let (re, im) = item.split_at_mut(real.itemsize());
            let inner = text.trim_matches([' ', '\n', '\r', '\t']).strip_prefix('[').and_then(|t| t.strip_suffix(']'));
            match inner.map(|t| t.split_once(',')) {
                None => fill(text, &real, re)?,
                Some(Some((a, b))) if !b.contains(',') => {
                    fill(a, &real, re)?;
                    fill(b, &real, im)?;
                }
                Some(_) => {
                    return Err(error(format!("found {}, expected a number or [re, im]", short(text))));
                }
            }
            Ok(item)
        },
        Kind::Str(_) | Kind::Bytes(_) => {
            let quoted = serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get).filter(|t| t.starts_with('"'));
            let points: Vec<u32> = match quoted {
                Some(raw) => points(raw).collect(),
                None => text.chars().map(u32::from).collect(),
            };
            let dtype = with_width(dtype, Some(points.len()));
            let fits = bytes_of(&[], dtype.itemsize()).filter(|&n| n <= FREE_PADDING);
            let bytes = fits.ok_or_else(|| error(format!("an item of {} is too much", dtype.name())))?;
            let mut item = memory::zeros(bytes).map_err(error)?;
            put_string(points.into_iter(), &dtype, &mut item).map_err(|why| error(format!("{} {why}", short(text))))?;
            Ok(item)
        }
        Kind::Narrow(_) | Kind::Datetime(_) | Kind::Timedelta(_) => one(),
        // `holds` refused these
        Kind::LongDouble(_) | Kind::ComplexLongDouble(_) | Kind::Void(_) | Kind::Struct(_) => one(),
    })
}

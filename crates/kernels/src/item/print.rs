//! Prints items as JSON, for tensors, reports and statistics alike.

use std::io::{self, Write};

use super::datetime;
use super::datetime::TimeUnit;
use super::dtype::{DType, Kind};
use super::element::{Element, Float, match_kind};
use super::encoding::{Swap, code_points, unpadded};
use crate::error::{Advice, Error, ErrorKind};
use crate::memory;

/// Appends an item of a JSON tensor.
///
/// # Errors
/// JSON cannot hold the item; a part may have been appended.
pub fn write_item(out: &mut Vec<u8>, dtype: &DType, item: &[u8]) -> io::Result<()> {
    let mut writer = ItemWriter { out: std::mem::take(out), ..ItemWriter::new(dtype) };
    let written = writer.item(item);
    *out = writer.out;
    written
}

/// Returns a float64 in JSON, a string if it is not finite.
pub fn float(value: f64) -> String {
    let mut text = Vec::new();
    write_item(&mut text, &Kind::Float64.into(), &value.to_le_bytes()).expect("a float has a text");
    String::from_utf8(text).expect("the text of a float is ASCII")
}

/// DEL and the C1 control characters are escaped too, since a terminal may obey them.
pub fn escape(c: char, out: &mut Vec<u8>) {
    match c {
        '"' | '\\' => out.extend_from_slice(&[b'\\', c as u8]),
        '\n' => out.extend_from_slice(b"\\n"),
        '\r' => out.extend_from_slice(b"\\r"),
        '\t' => out.extend_from_slice(b"\\t"),
        '\0'..='\x1f' | '\x7f'..='\u{9f}' => escape_code(c.into(), out),
        _ => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// Writes `\u` and the code point.
pub fn escape_code(point: u32, out: &mut Vec<u8>) {
    write!(out, "\\u{point:04x}").expect("writing into memory does not fail");
}

/// The user empties the buffer.
pub struct ItemWriter<'a> {
    kind: &'a Kind,
    swaps: Vec<Swap>,
    /// The text so far.
    pub out: Vec<u8>,
}

impl<'a> ItemWriter<'a> {
    /// Prints items of this dtype.
    pub fn new(dtype: &'a DType) -> Self {
        Self { kind: dtype.kind(), swaps: dtype.swaps_to(&dtype.native()), out: Vec::new() }
    }

    /// Prints an item.
    ///
    /// # Errors
    /// None, since writing into memory does not fail.
    pub fn item(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.swaps.is_empty() {
            return self.native_item(bytes);
        }
        let mut bytes = bytes.to_vec();
        self.swaps.iter().for_each(|swap| swap.apply(&mut bytes));
        self.native_item(&bytes)
    }

    fn native_item(&mut self, bytes: &[u8]) -> io::Result<()> {
        match_kind!(*self.kind, {
            bool T => self.text(if T::read_le(bytes) { "true" } else { "false" }),
            integer T => self.integer(T::read_le(bytes)),
            float T => self.float(T::read_le(bytes).wide(), T::SIZE),
            complex T => {
                let number = T::read_le(bytes);
                self.text("[");
                self.float(number.re.wide(), size_of_val(&number.re));
                self.text(", ");
                self.float(number.im.wide(), size_of_val(&number.im));
                self.text("]");
            },
            Kind::Narrow(narrow) => {
                let item = u8::read_le(bytes);
                let value = narrow.value(item);
                if narrow.is_integer() {
                    self.integer(value as i64);
                } else {
                    self.float(value, bytes.len());
                }
            }
            Kind::Bytes(_) => return self.string(unpadded(bytes, 1).iter().map(|&byte| byte.into())),
            Kind::Str(_) => return self.string(code_points(bytes, false)),
            Kind::Datetime(unit) => self.date(i64::read_le(bytes), unit),
            Kind::Timedelta(_) => match i64::read_le(bytes) {
                datetime::NAT => self.text("\"NaT\""),
                ticks => self.integer(ticks),
            },
            Kind::Void(_) | Kind::Struct(_) | Kind::LongDouble(_) | Kind::ComplexLongDouble(_) => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "JSON cannot hold such items"));
            }
        });
        Ok(())
    }

    fn text(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn integer(&mut self, value: impl itoa::Integer) {
        self.text(itoa::Buffer::new().format(value));
    }

    /// Floats of at most 16 bits are written as the equal float32: with fewer digits, readers that do not know the
    /// dtype would read another number (65500 for 65504).
    fn float(&mut self, value: f64, size: usize) {
        match value {
            v if v.is_nan() => self.text("\"NaN\""),
            f64::INFINITY => self.text("\"Infinity\""),
            f64::NEG_INFINITY => self.text("\"-Infinity\""),
            _ if size < size_of::<f64>() => self.text(zmij::Buffer::new().format_finite(value as f32)),
            _ => self.text(zmij::Buffer::new().format_finite(value)),
        }
    }

    /// Writes ISO text for four-digit years, else ticks, which always read back.
    fn date(&mut self, ticks: i64, unit: TimeUnit) {
        if ticks == datetime::NAT {
            self.text("\"NaT\"");
        } else if datetime::year(ticks, unit).is_some_and(|year| (0..=9999).contains(&year)) {
            let text = format!("\"{}\"", datetime::format(ticks, unit));
            self.text(&text);
        } else {
            self.integer(ticks);
        }
    }

    fn string(&mut self, points: impl Iterator<Item = u32>) -> io::Result<()> {
        let invalid =
            |message: String| Error::from_kind(ErrorKind::Unsupported, message).advising(Advice::WriteNpy).into();
        let mut after_high = false;
        self.text("\"");
        for point in points {
            // no code point takes more bytes
            memory::reserve(&mut self.out, 16).map_err(Error::from)?;
            match (char::from_u32(point), point) {
                (Some(c), _) => escape(c, &mut self.out),
                (None, 0xdc00..=0xdfff) if after_high => {
                    return Err(invalid("JSON cannot hold a surrogate pair as two code points".into()));
                }
                (None, 0xd800..=0xdfff) => escape_code(point, &mut self.out),
                (None, _) => return Err(invalid(format!("JSON cannot hold the code point {point:#x}"))),
            }
            after_high = (0xd800..0xdc00).contains(&point);
        }
        self.text("\"");
        Ok(())
    }
}

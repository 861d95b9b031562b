//! A TensorProto in a file. All fields except `raw_data` are kept in wire format.

use std::ops::Range;

use super::wire::{Fields, FileWindow, WireField, field};
use crate::storage::read_at::ReadAt;
use prost::encoding::WireType;
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use tensorop_kernels::memory;

/// Protobuf's limit.
pub(crate) const MAX_MESSAGE: u64 = i32::MAX as u64;

/// Two int64.
const LONGEST_SEGMENT: u64 = 22;

#[derive(Debug)]
pub(crate) struct Message {
    /// Offset and length of `raw_data`.
    pub(crate) raw: Option<(u64, u64)>,
    pub(crate) floats: Option<FloatField>,
    bytes: Vec<u8>,
    counts: [usize; field::DATA_LOCATION as usize + 1],
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EntryBytes<'a> {
    pub(crate) key: &'a str,
    pub(crate) value: &'a str,
}

impl Message {
    /// Reads the message at `place` of a file.
    pub(crate) fn read(file: &dyn ReadAt, place: Range<u64>) -> Result<Self> {
        let FoundFields { raw, runs, floats } = find_fields(file, place)?;
        let total: u64 = runs.iter().map(|(begin, end)| end - begin).sum();
        ensure!(total <= MAX_MESSAGE, "{total} bytes beside raw_data, expected at most {MAX_MESSAGE}");
        let mut bytes = memory::zeros(usize::try_from(total)?)?;
        let mut rest = &mut bytes[..];
        for (begin, end) in &runs {
            let (run, others) = rest.split_at_mut((end - begin) as usize);
            file.read_at(run, *begin)?;
            rest = others;
        }
        // these fields were complete before
        let changed = || Error::from_kind(ErrorKind::Changed, "was changed while it was read");
        let mut counts = [0; field::DATA_LOCATION as usize + 1];
        let mut fields = Fields(&bytes);
        for (field, value) in &mut fields {
            let items = match field.number {
                field::NAME => text(value).map(|_| 1),
                field::EXTERNAL_DATA => EntryBytes::read(value).map(|_| 1),
                _ => field.items(value),
            };
            *counts.get_mut(field.number as usize).ok_or_else(changed)? +=
                items.with_context(|| undecodable(field.number))?;
        }
        if !fields.0.is_empty() {
            return Err(changed());
        }
        if let Some(found @ FloatField { number, items, .. }) = &floats {
            let size = found.itemsize() as u64;
            let length = items.end - items.start;
            let is_whole = length.is_multiple_of(size);
            ensure!(is_whole, "{}: {length} bytes of numbers of {size} bytes", undecodable(*number));
            counts[*number as usize] = usize::try_from(length / size)?;
        }
        Ok(Self { raw, floats, bytes, counts })
    }

    pub(crate) fn count(&self, number: u32) -> usize {
        self.counts[number as usize]
    }

    fn fields(&self, number: u32) -> impl Iterator<Item = (WireField, &[u8])> + Clone {
        Fields(&self.bytes).filter(move |(field, _)| field.number == number)
    }

    pub(crate) fn values(&self, number: u32) -> impl Iterator<Item = &[u8]> + Clone {
        self.fields(number).map(|(_, value)| value)
    }

    /// The last of repeated fields counts.
    pub(crate) fn int32(&self, number: u32) -> Option<i32> {
        self.fields(number).last().map(|(field, _)| field.varint as i32)
    }

    pub(crate) fn name(&self) -> Result<&str> {
        self.values(field::NAME).last().map_or(Ok(""), text)
    }

    pub(crate) fn external_value(&self, key: &str) -> Result<Option<&str>> {
        let mut found = None;
        for value in self.values(field::EXTERNAL_DATA) {
            let entry = EntryBytes::read(value)?;
            let is_second = entry.key == key && found.replace(entry.value).is_some();
            ensure!(!is_second, "external_data has two entries {key}");
        }
        Ok(found)
    }
}

impl<'a> EntryBytes<'a> {
    pub(crate) fn read(message: &'a [u8]) -> Result<Self> {
        let (mut entry, mut fields) = (Self::default(), Fields(message));
        for (field, value) in &mut fields {
            let place = match field.number {
                1 => &mut entry.key,
                2 => &mut entry.value,
                _ => continue,
            };
            ensure!(field.wire == WireType::LengthDelimited, "an entry's field {} is not text", field.number);
            *place = text(value)?;
        }
        ensure!(fields.0.is_empty(), "an entry is cut off");
        Ok(entry)
    }
}

pub(crate) fn undecodable(number: u32) -> String {
    format!("not an ONNX TensorProto: failed to decode field {number}")
}

fn text(bytes: &[u8]) -> Result<&str> {
    std::str::from_utf8(bytes).map_err(|error| malformed!("{error}"))
}

#[derive(Default)]
struct FoundFields {
    raw: Option<(u64, u64)>,
    /// Other fields; adjacent ones share a run.
    runs: Vec<(u64, u64)>,
    floats: Option<FloatField>,
}

/// The only field of `float_data` or `double_data`: its items are stored as in `raw_data`.
#[derive(Debug)]
pub(crate) struct FloatField {
    number: u32,
    begin: u64,
    pub(crate) items: Range<u64>,
}

impl FloatField {
    pub(crate) fn itemsize(&self) -> usize {
        if self.number == field::FLOAT_DATA { size_of::<f32>() } else { size_of::<f64>() }
    }
}

impl FoundFields {
    fn add(&mut self, begin: u64, end: u64) {
        match self.runs.last_mut() {
            Some((_, last)) if *last == begin => *last = end,
            _ => self.runs.push((begin, end)),
        }
    }
}

/// Element kinds have the field number of a tensor's data type.
const MAX_KINDS: u64 = 5;

fn is_segment(file: &dyn ReadAt, start: u64, length: u64) -> Result<bool> {
    if length > LONGEST_SEGMENT {
        return Ok(false);
    }
    let mut value = vec![0; length as usize];
    file.read_at(&mut value, start)?;
    let mut fields = Fields(&value);
    let are_numbers = fields.by_ref().all(|(field, _)| field.number <= 2 && field.wire == WireType::Varint);
    Ok(are_numbers && fields.0.is_empty())
}

/// Names have the field number of a tensor's dims.
fn is_name(file: &dyn ReadAt, start: u64, length: u64) -> Result<bool> {
    const LONGEST: u64 = 1 << 10;
    if length > LONGEST {
        return Ok(false);
    }
    let mut value = vec![0; length as usize];
    file.read_at(&mut value, start)?;
    Ok(std::str::from_utf8(&value).is_ok_and(|name| !name.contains(char::is_control)))
}

fn no_tensor() -> Error {
    malformed!(
        "an ONNX sequence of tensors (a SequenceProto), or an optional one (an OptionalProto), expected one tensor (a \
         TensorProto)"
    )
}

/// A sequence and an optional reuse the field numbers of dims, data type and segment for name, element kind and
/// elements. A file is not a tensor if it has a segment and no dims, or neither numeric dims nor items.
fn find_fields(file: &dyn ReadAt, place: Range<u64>) -> Result<FoundFields> {
    let mut window = FileWindow::new(file, place.end);
    ensure!(!place.is_empty(), "an empty file, expected an ONNX TensorProto");
    let (mut found, mut begin, mut has_type) = (FoundFields::default(), place.start, false);
    let mut float_fields = 0;
    let (mut has_dims, mut may_be_sequence) = (false, true);
    while begin < place.end {
        let not_a_tensor = || format!("not an ONNX TensorProto at byte {begin}");
        let field = WireField::read(window.at(begin)?).with_context(not_a_tensor)?;
        let WireField { number, wire, before, length, .. } = field;
        let fits = field.fits();
        ensure!(fits != Some(false), "{}: field {number} cannot be {wire:?}", not_a_tensor());
        let is_group = matches!(wire, WireType::StartGroup | WireType::EndGroup);
        ensure!(!is_group, "{}: groups are not read", not_a_tensor());
        let start = begin + before as u64;
        let end = start.checked_add(length).filter(|end| *end <= place.end).ok_or_else(|| {
            let rest = place.end - start;
            malformed!("field {number} at byte {begin} has {length} bytes, and {rest} are in the file")
        })?;
        match number {
            field::DIMS => {
                let is_dims = wire != WireType::LengthDelimited || !is_name(file, start, length)?;
                (has_dims, may_be_sequence) = (has_dims | is_dims, may_be_sequence & !is_dims);
            }
            field::DATA_TYPE => may_be_sequence &= (1..=MAX_KINDS).contains(&field.varint),
            _ => may_be_sequence = false,
        }
        match number {
            field::SEGMENT if !has_dims || !is_segment(file, start, length)? => return Err(no_tensor()),
            field::SEGMENT => bail!("a segment of a larger tensor, expected a whole one"),
            field::RAW_DATA if found.raw.is_some() => bail!("raw_data occurs twice"),
            field::RAW_DATA => found.raw = Some((start, length)),
            field::DOC_STRING | field::METADATA_PROPS => {}
            _ if fits.is_none() => {}
            field::FLOAT_DATA | field::DOUBLE_DATA => {
                float_fields += 1;
                if float_fields == 1 {
                    found.floats = Some(FloatField { number, begin, items: start..end });
                } else {
                    if let Some(first) = found.floats.take() {
                        found.add(first.begin, first.items.end);
                    }
                    found.add(begin, end);
                }
            }
            _ => found.add(begin, end),
        }
        has_type |= number == field::DATA_TYPE;
        begin = end;
    }
    ensure!(has_type, "no data_type: not an ONNX TensorProto");
    if may_be_sequence { Err(no_tensor()) } else { Ok(found) }
}

//! The fields of a file by position: `raw_data` stays where it is, and prost decodes the others.

use prost::Message as _;

use super::message::{MAX_MESSAGE, Message};
use super::wire::{MOST_BEFORE, WireField, field, wire_types};
use crate::error::{Context, Result, bail, ensure, malformed};
use crate::memory;
use crate::storage::read_at::ReadAt;

/// The most bytes of a `Segment`: two numbers of int64.
const LONGEST_SEGMENT: u64 = 22;

/// Where the fields of a file lie.
#[derive(Debug, Default)]
pub(super) struct Scan {
    /// The byte at which `raw_data` begins, and how many bytes it has.
    pub(super) raw: Option<(u64, u64)>,
    /// The bytes at which the fields that prost decodes begin and end; neighbouring fields are one run.
    runs: Vec<(u64, u64)>,
}

impl Scan {
    /// Walks over all fields of a file.
    ///
    /// # Errors
    /// The file is empty, or not a TensorProto, or cut off; `raw_data` is there twice; it is a segment or a sequence.
    pub(super) fn of(file: &dyn ReadAt) -> Result<Self> {
        let mut window = FileWindow { file, size: file.size()?, buffer: Vec::new(), begin: 0 };
        ensure!(window.size > 0, "an empty file, expected an ONNX TensorProto");
        let mut scan = Self::default();
        let (mut has_type, mut begin) = (false, 0);
        while begin < window.size {
            let not_a_tensor = || format!("not an ONNX TensorProto at byte {begin}");
            let read = WireField::read(window.at(begin)?);
            let key = read.as_ref().map_or_else(|refused| refused.key, |field| Some((field.number, field.wire)));
            if let Some((number, wire)) = key
                && wire_types(number).is_some_and(|expected| !expected.contains(&wire))
            {
                bail!("{}: field {number} cannot be {wire:?}", not_a_tensor());
            }
            let WireField { number, before, length, .. } =
                read.map_err(|refused| refused.why).with_context(not_a_tensor)?;
            let start = begin + before as u64;
            let end = start.checked_add(length).filter(|end| *end <= window.size).ok_or_else(|| {
                let rest = window.size - start;
                malformed!("field {number} at byte {begin} has {length} bytes, and {rest} are in the file")
            })?;
            match number {
                // a segment is a message of two numbers; a sequence has its tensors in the field of this number
                field::SEGMENT if length > LONGEST_SEGMENT => {
                    bail!("an ONNX sequence of tensors (a SequenceProto), expected one tensor (a TensorProto)")
                }
                field::SEGMENT => bail!("a segment of a larger tensor, expected a whole one"),
                field::RAW_DATA if scan.raw.is_some() => bail!("raw_data stands there twice"),
                field::RAW_DATA => scan.raw = Some((start, length)),
                field::DOC_STRING | field::METADATA_PROPS => {}
                _ if wire_types(number).is_none() => {}
                _ => {
                    has_type |= number == field::DATA_TYPE;
                    match scan.runs.last_mut() {
                        Some((_, last)) if *last == begin => *last = end,
                        _ => scan.runs.push((begin, end)),
                    }
                }
            }
            begin = end;
        }
        ensure!(has_type, "no data_type: not an ONNX TensorProto");
        Ok(scan)
    }

    /// Decodes the message without `raw_data`.
    ///
    /// # Errors
    /// More than [`MAX_MESSAGE`] bytes, or than there is memory for; prost refuses a field; reading fails.
    pub(super) fn message(&self, file: &dyn ReadAt) -> Result<Message> {
        let total: u64 = self.runs.iter().map(|(begin, end)| end - begin).sum();
        ensure!(total <= MAX_MESSAGE, "{total} bytes beside raw_data, expected at most {MAX_MESSAGE}");
        let mut bytes = memory::zeros(usize::try_from(total)?)?;
        let mut rest = &mut bytes[..];
        for (begin, end) in &self.runs {
            let (run, others) = rest.split_at_mut((end - begin) as usize);
            file.read_at(run, *begin)?;
            rest = others;
        }
        let mut message = Message::with_capacity_for(&bytes)?;
        message.merge(&bytes[..]).map_err(|error| malformed!("not an ONNX TensorProto: {error}"))?;
        Ok(message)
    }
}

/// A file that is looked at in steps towards its end.
struct FileWindow<'a> {
    file: &'a dyn ReadAt,
    size: u64,
    /// The bytes of the file from byte `begin` on.
    buffer: Vec<u8>,
    begin: u64,
}

impl FileWindow<'_> {
    /// The most bytes that are read at once.
    const BUFFER: u64 = 1 << 16;

    /// Returns the bytes of the file from byte `at` on: as many as a field can have before its value, or up to the end.
    fn at(&mut self, at: u64) -> Result<&[u8]> {
        let end = self.begin + self.buffer.len() as u64;
        if at < self.begin || self.size.min(at + MOST_BEFORE as u64) > end {
            // after a value that was skipped another is likely to follow
            let most = if at > end || self.begin == end { 1 << 12 } else { Self::BUFFER };
            self.buffer.resize((self.size - at).min(most) as usize, 0);
            self.file.read_at(&mut self.buffer, at)?;
            self.begin = at;
        }
        Ok(&self.buffer[(at - self.begin) as usize..])
    }
}

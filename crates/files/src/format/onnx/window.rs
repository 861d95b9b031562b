//! Fields of a message in a file, which is walked by position: values are read only if they are wanted.

use std::ops::Range;

use super::wire::{MAX_BEFORE, WireField};
use crate::error::{Result, ensure, malformed};
use crate::memory;
use crate::storage::read_at::ReadAt;
use prost::encoding::WireType;

#[derive(Debug)]
pub(super) struct FileWindow<'a> {
    file: &'a dyn ReadAt,
    /// Where the file, or the message, ends.
    pub(super) end: u64,
    buffer: Vec<u8>,
    begin: u64,
    /// The bytes of the next read, which double while reads are consecutive.
    length: u64,
}

/// A field in the file.
#[derive(Clone, Debug)]
pub(super) struct PlacedField {
    pub(super) number: u32,
    pub(super) wire: WireType,
    /// 0 for other types.
    pub(super) varint: u64,
    pub(super) value: Range<u64>,
}

impl<'a> FileWindow<'a> {
    /// A value is likely to be skipped after the first field.
    const FIRST: u64 = 1 << 10;
    const LONGEST: u64 = 1 << 16;

    pub(super) fn new(file: &'a dyn ReadAt, end: u64) -> Self {
        Self { file, end, buffer: Vec::new(), begin: 0, length: Self::FIRST }
    }

    /// Returns the bytes from `at` on, which hold at least a key and a length, or all that remain.
    pub(super) fn at(&mut self, at: u64) -> Result<&[u8]> {
        let after = self.begin + self.buffer.len() as u64;
        let is_inside = (self.begin..=after).contains(&at);
        if !is_inside || after < self.end.min(at + MAX_BEFORE as u64) {
            let is_next = is_inside && !self.buffer.is_empty() || self.file.costs_requests();
            self.length = if is_next { (self.length * 2).min(Self::LONGEST) } else { Self::FIRST };
            self.buffer.resize((self.end - at).min(self.length) as usize, 0);
            self.file.read_at(&mut self.buffer, at)?;
            self.begin = at;
        }
        Ok(&self.buffer[(at - self.begin) as usize..])
    }

    /// Takes the first field of `rest`.
    pub(super) fn next(&mut self, rest: &mut Range<u64>) -> Result<Option<PlacedField>> {
        let begin = rest.start;
        if rest.is_empty() {
            return Ok(None);
        }
        let WireField { number, wire, before, length, varint } =
            WireField::read(self.at(begin)?).map_err(|error| malformed!("byte {begin}: {error}"))?;
        let is_group = matches!(wire, WireType::StartGroup | WireType::EndGroup);
        ensure!(!is_group, "byte {begin}: a group, expected a field of another type");
        let start = begin + before as u64;
        let left = rest.end.checked_sub(start).ok_or_else(|| malformed!("byte {begin}: a field is cut off"))?;
        ensure!(length <= left, "field {number} at byte {begin} has {length} bytes, and {left} are left");
        rest.start = start + length;
        Ok(Some(PlacedField { number, wire, varint, value: start..rest.start }))
    }

    /// Returns the bytes of a short value.
    pub(super) fn bytes(&mut self, value: &Range<u64>, most: u64) -> Result<Vec<u8>> {
        let length = value.end - value.start;
        ensure!(length <= most, "{length} bytes at byte {}, expected at most {most}", value.start);
        let mut bytes = memory::zeros(length as usize)?;
        let held = value.start.checked_sub(self.begin).and_then(|at| self.buffer.get(at as usize..));
        match held.and_then(|held| held.get(..bytes.len())) {
            Some(held) => bytes.copy_from_slice(held),
            None => self.file.read_at(&mut bytes, value.start)?,
        }
        Ok(bytes)
    }

    pub(super) fn text(&mut self, value: &Range<u64>, most: u64) -> Result<String> {
        let bytes = self.bytes(value, most)?;
        String::from_utf8(bytes).map_err(|error| malformed!("the text at byte {}: {error}", value.start))
    }
}

//! Stored bytes read as items of fewer than 8 bits: one item a byte, or several, unpacked along the last axis.

use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;

use super::narrow_view::{NarrowItems, Sharing};
use super::packed::{Packer, unpack};
use super::units::ByUnits;
use crate::storage::attachments::Attachments;
use crate::storage::chunked::{ChunkStyle, Chunked, PackedUnit};
use crate::storage::key_store::WritableStore;
use crate::storage::read_at::{Identity, ReadAt};
use crate::storage::source::{ByteReading, wrong_length};
use tensorop_kernels::error::{Result, malformed};
use tensorop_kernels::item::dtype::Narrow;
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::layout::axis::{Span, coordinates};
use tensorop_kernels::layout::window::Window;
use tensorop_kernels::memory::{self, Buffer};

const PIECE: usize = 1 << 16;

#[derive(Clone, Debug)]
pub(crate) struct NarrowBytes {
    pub narrow: Narrow,
    /// Items per byte.
    pub each: usize,
    pub stored: Meta,
    /// Whether checked bytes of one item keep their other bits.
    pub keeps: bool,
}

impl ByteReading for NarrowBytes {
    fn convert_bytes(&self, bytes: Arc<dyn ReadAt>, start: u64) -> Arc<dyn ReadAt> {
        let Self { narrow, each, ref stored, keeps } = *self;
        let column = stored.shape.split_last().map_or(1, |(_, others)| others.iter().product());
        let sharing = match (each, stored.order) {
            (1, _) => Sharing::Alone { keeps },
            (_, Order::Fortran) if column != 1 => Sharing::Across(column),
            (_, Order::C | Order::Fortran) => Sharing::Along,
        };
        let items = stored.items() * each;
        Arc::new(ByUnits(NarrowItems { bytes, start, counted_from: 0, items, narrow, sharing }))
    }

    fn convert_stream(&self, reader: Box<dyn Read + Send>) -> Box<dyn Read + Send> {
        Box::new(NarrowStream { reader, reading: self.clone(), at: 0, items: Cursor::default() })
    }

    fn convert_chunks(&self, chunks: Arc<dyn Chunked>) -> Arc<dyn Chunked> {
        let style = if self.keeps { Arc::clone(chunks.style()) } else { Arc::new(self.style(chunks.style())) };
        Arc::new(NarrowChunks { chunks, reading: self.clone(), style })
    }
}

impl NarrowBytes {
    fn style(&self, stored: &ChunkStyle) -> ChunkStyle {
        let mut style = ChunkStyle { is_exact: false, ..stored.clone() };
        for side in [&mut style.unit, &mut style.chunk].into_iter().filter_map(|sides| sides.last_mut()) {
            *side = side.saturating_mul(self.each);
        }
        // A fill value that is not one item becomes 0 here; missing chunks are still unpacked from the stored fill
        // value.
        let fill = |byte: u8| match self.each {
            1 => self.narrow.item_in(byte),
            each => {
                let mut items = vec![0; each];
                unpack(&[byte], self.narrow.bits(), &mut items);
                items.iter().all(|item| *item == items[0]).then_some(items[0])
            }
        };
        style.fill.iter_mut().for_each(|byte| *byte = fill(*byte).unwrap_or(0));
        style
    }
}

struct NarrowStream {
    reader: Box<dyn Read + Send>,
    reading: NarrowBytes,
    at: usize,
    items: Cursor<Vec<u8>>,
}

impl NarrowStream {
    fn refill(&mut self) -> io::Result<()> {
        let NarrowBytes { narrow, each, stored, .. } = &self.reading;
        let (mut bytes, expected) = (vec![0; PIECE], stored.bytes());
        let read = self.reader.read(&mut bytes)?;
        self.at += read;
        let wrong = |found: usize, more: &str| {
            malformed!("{more}{}", wrong_length(found as u64, expected as u64, stored)).into()
        };
        match read {
            0 if self.at < expected => return Err(wrong(self.at, "")),
            _ if self.at > expected => return Err(wrong(expected, "more than ")),
            _ => {}
        }
        self.items.set_position(0);
        let items = self.items.get_mut();
        items.resize(read * each, 0);
        unpack(&bytes[..read], narrow.bits(), items);
        Ok(())
    }
}

impl Read for NarrowStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let NarrowBytes { narrow, each, .. } = self.reading;
        if each > 1 {
            if !out.is_empty() && self.items.position() == self.items.get_ref().len() as u64 {
                self.refill()?;
            }
            return self.items.read(out);
        }
        let read = self.reader.read(out)?;
        let taken = narrow.take_items(&mut out[..read]);
        taken.map_err(|n| narrow.refuse((self.at + n) as u64, out[n]))?;
        self.at += read;
        Ok(read)
    }
}

#[derive(Debug)]
struct NarrowChunks {
    chunks: Arc<dyn Chunked>,
    reading: NarrowBytes,
    style: Arc<ChunkStyle>,
}

impl NarrowChunks {
    fn take(&self, places: &[Span], out: &mut [u8]) -> Result<()> {
        let NarrowBytes { narrow, ref stored, keeps, .. } = self.reading;
        let taken = match keeps {
            true => out.iter().position(|byte| narrow.item_in(*byte).is_none()).map_or(Ok(()), Err),
            false => narrow.take_items(out),
        };
        taken.map_err(|n| {
            let dims: Vec<usize> = places.iter().map(|span| span.len).collect();
            let place = |(at, span): (&usize, &Span)| span.start.wrapping_add_signed(*at as isize * span.step);
            let inside = coordinates(n, &dims);
            let number =
                inside.iter().zip(places).map(place).zip(&stored.shape).fold(0, |at, (place, dim)| at * dim + place);
            narrow.refuse(number as u64, out[n])
        })
    }

    /// Passes each row of bytes to `take` with its row of `out`, whose length is the second part of `out`.
    fn rows(
        &self,
        outer: &[Span],
        last: Span,
        out: (&mut [u8], usize),
        scratch: &mut Buffer,
        take: impl Fn(&[u8], &mut [u8]),
    ) -> Result<()> {
        let (out, row) = out;
        let mut bytes = memory::zeros(out.len() / row * last.len)?;
        let places: Vec<_> = outer.iter().copied().chain([last]).collect();
        self.chunks.read(&places, &mut bytes, scratch)?;
        bytes.chunks_exact(last.len).zip(out.chunks_exact_mut(row)).for_each(|(bytes, out)| take(bytes, out));
        Ok(())
    }

    fn unpack(&self, places: &[Span], out: &mut [u8], scratch: &mut Buffer) -> Result<()> {
        let (each, bits) = (self.reading.each, self.reading.narrow.bits());
        let item = |byte: u8, place: usize| byte >> ((place % each) as u32 * bits) & ((1 << bits) - 1);
        let Some((&last, outer)) = places.split_last().filter(|_| !out.is_empty()) else { return Ok(()) };
        let place = |n: usize| last.start.wrapping_add_signed(n as isize * last.step);
        if last.step.unsigned_abs() < each {
            let bytes = self.bytes_of(last);
            return self.rows(outer, bytes, (out, last.len), scratch, |bytes_of_row, out| {
                let byte = |n| bytes_of_row[place(n) / each - bytes.start];
                out.iter_mut().enumerate().for_each(|(n, out)| *out = item(byte(n), place(n)));
            });
        }
        // every `each`-th item has the same bits of bytes `last.step` apart: one strided read gives them all
        for first in 0..each.min(last.len) {
            let len = (last.len - first).div_ceil(each);
            let bytes = Span { start: place(first) / each, step: if len > 1 { last.step } else { 1 }, len };
            self.rows(outer, bytes, (&mut *out, last.len), scratch, |bytes, out| {
                let places = out.iter_mut().skip(first).step_by(each);
                places.zip(bytes).for_each(|(out, byte)| *out = item(*byte, place(first)));
            })?;
        }
        Ok(())
    }

    fn bytes_of(&self, span: Span) -> Span {
        let far = span.start.wrapping_add_signed((span.len as isize - 1).max(0) * span.step);
        let each = self.reading.each;
        let (low, high) = (span.start.min(far) / each, span.start.max(far) / each);
        Span { start: low, step: 1, len: if span.len == 0 { 0 } else { high - low + 1 } }
    }

    /// `None` if the box shares a byte with other items.
    fn stored(&self, window: &Window) -> Option<Window> {
        let (each, mut ranges) = (self.reading.each, window.ranges.clone());
        if let Some(last) = ranges.last_mut() {
            if last.start % each != 0 || last.end % each != 0 {
                return None;
            }
            *last = last.start / each..last.end / each;
        }
        Some(Window::new(ranges, &self.reading.stored.shape))
    }
}

impl Chunked for NarrowChunks {
    fn read(&self, places: &[Span], out: &mut [u8], scratch: &mut Buffer) -> Result<()> {
        if self.reading.each > 1 {
            return self.unpack(places, out, scratch);
        }
        self.chunks.read(places, out, scratch)?;
        self.take(places, out)
    }

    fn finish(&self) -> Result<()> {
        self.chunks.finish()
    }

    fn style(&self) -> &Arc<ChunkStyle> {
        &self.style
    }

    fn folder(&self) -> Option<PathBuf> {
        self.chunks.folder()
    }

    fn attachments(&self) -> Option<&Arc<dyn Attachments>> {
        self.chunks.attachments()
    }

    fn costs_requests(&self) -> bool {
        self.chunks.costs_requests()
    }

    fn is_unit(&self, window: &Window) -> bool {
        self.stored(window).is_some_and(|window| self.chunks.is_unit(&window))
    }

    fn value_of(&self, window: &Window) -> Result<Option<Arc<dyn ReadAt>>> {
        self.stored(window).map_or(Ok(None), |window| self.chunks.value_of(&window))
    }

    fn has(&self, window: &Window) -> bool {
        self.stored(window).is_some_and(|window| self.chunks.has(&window))
    }

    fn packed(&self, window: &Window, items: &[u8], stores_empty: bool) -> Result<PackedUnit> {
        let stored = self.stored(window).expect("a unit holds whole bytes, since its sides are those of one of bytes");
        if self.reading.each == 1 {
            return self.chunks.packed(&stored, items, stores_empty);
        }
        let mut packer = Packer::new(self.reading.narrow.bits());
        let mut bytes = memory::with_capacity(stored.items() + 1)?;
        packer.push(items, &mut bytes);
        self.chunks.packed(&stored, &bytes, stores_empty)
    }

    fn bytes_at(&self, places: &[Span]) -> u64 {
        let mut stored = places.to_vec();
        if let Some(last) = stored.last_mut().filter(|_| self.reading.each > 1) {
            *last = self.bytes_of(*last);
        }
        self.chunks.bytes_at(&stored)
    }

    fn store_identity(&self) -> Result<Identity> {
        self.chunks.store_identity()
    }

    fn edit(&self) -> Result<Box<dyn WritableStore>> {
        self.chunks.edit()
    }
}

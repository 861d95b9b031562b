//! The items of a tensor that consists of parts of others, in another order and perhaps after a computation.

use std::io;
use std::ops::Range;

use crate::narrow::units::{Origin, Units};
use crate::storage::read_at::Identity;
use crate::storage::source::{READ_AT_ONCE, Source};
use tensorop_kernels::error::{Result, malformed};
use tensorop_kernels::item::cast::Cast;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::layout::window::{boxes_of_run, fill_each};
use tensorop_kernels::memory::{self, Buffer};

/// A computation in float32. A checkpoint has the items before it, and a GGUF those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Formula {
    PlusOne,
    MinusExp,
    /// -0 becomes +0, which cannot be undone.
    PositiveZero,
}

impl Formula {
    /// The text in messages.
    pub(crate) fn text(self, to_gguf: bool) -> &'static str {
        match (self, to_gguf) {
            (Self::PlusOne, true) => " and rounded: plus 1",
            (Self::PlusOne, false) => " and rounded: minus 1",
            (Self::MinusExp, true) => " and rounded: -exp of the stored items",
            (Self::MinusExp, false) => " and rounded: log of the negated items",
            (Self::PositiveZero, _) => ": +0 in place of -0",
        }
    }

    fn apply(self, to_gguf: bool, item: f32) -> f32 {
        match (self, to_gguf) {
            (Self::PlusOne, true) => item + 1.0,
            (Self::PlusOne, false) => item - 1.0,
            (Self::MinusExp, true) => -f64::from(item).exp() as f32,
            (Self::MinusExp, false) => (-f64::from(item)).ln() as f32,
            (Self::PositiveZero, _) => item + 0.0,
        }
    }
}

/// The computation of a tensor's items from the stored ones.
#[derive(Debug)]
pub(crate) struct Computation {
    pub formula: Formula,
    pub to_gguf: bool,
    /// From the stored dtype to float32.
    pub cast: Cast,
}

/// Items of one of the tensors.
#[derive(Debug)]
pub(crate) struct Part {
    pub source: Source,
    /// In the order of the result, over the storage of the source.
    pub view: View,
    /// The consecutive items that each row of the result has from this part.
    pub items: usize,
}

impl Part {
    fn read(&self, run: Range<usize>, out: &mut [u8], scratch: &mut Buffer) -> Result<()> {
        let boxes = boxes_of_run(&self.view.shape(), run.start, run.end);
        fill_each(&boxes, self.source.dtype().itemsize(), out, |window, items| {
            self.source.read(&self.view.part(&window.ranges), items, scratch)
        })
    }
}

/// Rows of items, each with items from all parts.
#[derive(Debug)]
pub(crate) struct ComposedItems {
    identity: Identity,
    /// In the order of a row.
    parts: Vec<Part>,
    /// The items of a row, and those of all rows.
    row: usize,
    all: usize,
    stored: usize,
    computation: Option<Computation>,
}

impl ComposedItems {
    /// The sources have one dtype. `identity` is the identity of the first file.
    pub(crate) fn new(identity: Identity, parts: Vec<Part>, all: usize, computation: Option<Computation>) -> Self {
        let row = parts.iter().map(|part| part.items).sum();
        let stored = parts.first().map_or(1, |part| part.source.dtype().itemsize());
        Self { identity, parts, row, all, stored, computation }
    }

    fn read_stored(&self, out: &mut [u8], first: usize) -> Result<()> {
        let (size, mut scratch, mut piece) = (self.stored, Buffer::default(), Buffer::default());
        if let [part] = &self.parts[..] {
            return part.read(first..first + out.len() / size, out, &mut scratch);
        }
        let (mut rest, mut at) = (out, first);
        while !rest.is_empty() {
            let (row, col, left) = (at / self.row, at % self.row, rest.len() / size);
            let rows = if col == 0 { left / self.row } else { 0 };
            if rows > 0 {
                // rows may be short, so a read is for several
                let rows = rows.min((READ_AT_ONCE / size / self.row).max(1));
                let (whole, after) = rest.split_at_mut(rows * self.row * size);
                let mut start = 0;
                for part in self.parts.iter().filter(|part| part.items > 0) {
                    let items = piece.room(rows * part.items * size)?;
                    part.read(row * part.items..(row + rows) * part.items, items, &mut scratch)?;
                    let width = part.items * size;
                    for (row, items) in whole.chunks_exact_mut(self.row * size).zip(items.chunks_exact(width)) {
                        row[start..start + width].copy_from_slice(items);
                    }
                    start += width;
                }
                (rest, at) = (after, at + rows * self.row);
                continue;
            }
            let mut before = 0;
            for part in &self.parts {
                let wanted = col.max(before)..(col + left).min(before + part.items);
                if !wanted.is_empty() {
                    let (items, after) = rest.split_at_mut(wanted.len() * size);
                    let start = row * part.items + wanted.start - before;
                    part.read(start..start + items.len() / size, items, &mut scratch)?;
                    (rest, at) = (after, at + wanted.len());
                }
                before += part.items;
            }
        }
        Ok(())
    }
}

impl Units for ComposedItems {
    fn origin(&self) -> Origin<'_> {
        Origin::Tensors(self.identity, self.parts.iter().map(|part| &part.source).collect())
    }

    fn unit(&self) -> usize {
        if self.computation.is_some() { size_of::<f32>() } else { self.stored }
    }

    fn size(&self) -> io::Result<u64> {
        Ok((self.all * self.unit()) as u64)
    }

    fn compute(&self, out: &mut [u8], first: usize) -> Result<()> {
        let Some(Computation { formula, to_gguf, cast }) = &self.computation else {
            return self.read_stored(out, first);
        };
        let (mut at, most) = (first, READ_AT_ONCE / size_of::<f32>());
        for items in out.chunks_mut(most * size_of::<f32>()) {
            let count = items.len() / size_of::<f32>();
            let mut stored = memory::zeros(count * self.stored)?;
            self.read_stored(&mut stored, at)?;
            cast.apply_to(&stored, items).map_err(|failure| malformed!("{}", failure.why))?;
            for item in items.as_chunks_mut::<4>().0 {
                *item = formula.apply(*to_gguf, f32::from_le_bytes(*item)).to_le_bytes();
            }
            at += count;
        }
        Ok(())
    }
}

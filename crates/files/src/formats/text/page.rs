//! Arranges words on lines as NumPy does.

use std::io::{self, Write};
use std::ops::Range;

use crate::container::interface::TextOptions;
use tensorop_kernels::item::element::Element;
use tensorop_kernels::item::tensor::Tensor;

/// In bytes. Each write to a pipe or terminal is a system call.
pub(crate) const BLOCK: usize = 1 << 16;

const GAP: &[u8] = b"...";

/// Returns the ranges of each axis that [`write_shown`](super::write_shown) needs; `None` means all. If `edgeitems` is
/// 0, NumPy fits columns to all items.
pub fn elided_ranges(shape: &[usize], options: &TextOptions) -> Option<Vec<Vec<Range<usize>>>> {
    let edge = edge(shape, options).filter(|&edge| edge > 0)?;
    let places = |&dim: &usize| match ends(edge, dim, dim) {
        Some((head, tail)) => vec![head, tail],
        None => std::iter::once(0..dim).collect(),
    };
    let is_cut = shape.iter().any(|&dim| ends(edge, dim, dim).is_some());
    (is_cut && !shape.contains(&0)).then(|| shape.iter().map(places).collect())
}

/// The number of indices at either end of an elided axis.
fn edge(shape: &[usize], options: &TextOptions) -> Option<usize> {
    let items = shape.iter().product::<usize>();
    options.threshold.is_some_and(|threshold| items > threshold).then_some(options.edgeitems)
}

/// `held` indices of the axis are in memory.
fn ends(edge: usize, dim: usize, held: usize) -> Option<(Range<usize>, Range<usize>)> {
    // NumPy prints an item after the gap even if `edge` is 0.
    (edge < dim.div_ceil(2)).then(|| (0..edge, held - edge.max(1)..held))
}

#[inline]
pub(crate) fn pad(word: &[u8], width: usize, text: &mut Vec<u8>) -> usize {
    spaces(width.saturating_sub(word.len()), text);
    text.extend_from_slice(word);
    width.max(word.len())
}

/// A copy of constant length needs no call.
#[inline]
pub(crate) fn spaces(count: usize, text: &mut Vec<u8>) {
    let len = text.len() + count;
    if count <= 32 {
        text.extend_from_slice(&[b' '; 32]);
        text.truncate(len);
    } else {
        text.resize(len, b' ');
    }
}

/// Of any byte order; parts of complex numbers.
pub(crate) struct Numbers<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl<'a> Numbers<'a> {
    pub(crate) fn new(tensor: &'a Tensor) -> Self {
        Self { bytes: tensor.bytes(), big: tensor.dtype().is_big_endian() }
    }

    pub(crate) fn item<T: Element>(&self, i: usize) -> T {
        let word = T::chunks(self.bytes)[i];
        if self.big { T::from_big(word) } else { T::from_little(word) }
    }
}

type PutRun<'p> = dyn FnMut(Range<usize>, &mut Page<'_>) -> io::Result<()> + 'p;

pub(crate) struct Page<'a> {
    out: &'a mut dyn Write,
    shape: &'a [usize],
    /// The indices of each axis in memory.
    held: &'a [usize],
    /// In items.
    strides: Vec<usize>,
    /// The number of indices at either end, if elided.
    edge: Option<usize>,
    /// The maximum column of a word's end.
    limit: usize,
    column: usize,
    pub(crate) text: Vec<u8>,
    /// A word that moves to the next line.
    pub(crate) word: Vec<u8>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(out: &'a mut dyn Write, held: &'a [usize], shape: &'a [usize], options: &TextOptions) -> Self {
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
            // Leaves room for closing brackets.
            limit: options.linewidth.saturating_sub(shape.len()),
            column: 0,
            text: Vec::with_capacity(if held.iter().product::<usize>() < 1000 { 0 } else { 2 * BLOCK }),
            word: Vec::new(),
        }
    }

    /// The indices around the gap, and whether there is one.
    fn shown(&self, axis: usize) -> (Range<usize>, bool, Range<usize>) {
        match self.edge.and_then(|edge| ends(edge, self.shape[axis], self.held[axis])) {
            Some((head, tail)) => (head, true, tail),
            None => (0..0, false, 0..self.held[axis]),
        }
    }

    pub(crate) fn each(&self, see: &mut dyn FnMut(Range<usize>)) {
        match self.edge {
            // NumPy fits the columns to every item.
            None | Some(0) => see(0..self.held.iter().product()),
            Some(_) => self.each_below(0, 0, see),
        }
    }

    fn each_below(&self, axis: usize, first: usize, see: &mut dyn FnMut(Range<usize>)) {
        let (head, _, tail) = self.shown(axis);
        for part in [head, tail] {
            if axis + 1 == self.held.len() {
                see(first + part.start..first + part.end);
            } else {
                part.for_each(|i| self.each_below(axis + 1, first + i * self.strides[axis], see));
            }
        }
    }

    /// `put` appends an item and returns its width.
    pub(crate) fn blocks(&mut self, put: &mut dyn FnMut(usize, &mut Vec<u8>) -> usize) -> io::Result<()> {
        self.rows(&mut |mut items, page| items.try_for_each(|i| page.word(|text| put(i, text))))
    }

    pub(crate) fn rows(&mut self, put: &mut PutRun<'_>) -> io::Result<()> {
        self.block(0, 0, put)
    }

    /// Prints the sub-array of the axes from `axis` that begins with item `first`.
    fn block(&mut self, axis: usize, first: usize, put: &mut PutRun<'_>) -> io::Result<()> {
        self.text.push(b'[');
        let (head, gap, tail) = self.shown(axis);
        if axis + 1 == self.shape.len() {
            self.column = self.shape.len();
            put(first + head.start..first + head.end, self)?;
            if gap {
                self.word(|text| pad(GAP, 0, text))?;
            }
            put(first + tail.start..first + tail.end, self)?;
        } else {
            let shown = head.map(Some).chain(gap.then_some(None)).chain(tail.map(Some));
            for (n, i) in shown.enumerate() {
                if n > 0 {
                    self.text.resize(self.text.len() + self.shape.len() - axis - 1, b'\n');
                    spaces(axis + 1, &mut self.text);
                }
                match i {
                    Some(i) => self.block(axis + 1, first + i * self.strides[axis], put)?,
                    None => self.text.extend_from_slice(GAP),
                }
            }
        }
        self.text.push(b']');
        Ok(())
    }

    /// Prints an item or the gap; `put` appends it and returns its width.
    #[inline]
    pub(crate) fn word(&mut self, put: impl FnOnce(&mut Vec<u8>) -> usize) -> io::Result<()> {
        let indent = self.shape.len();
        if self.column > indent {
            self.text.push(b' ');
            self.column += 1;
        }
        let start = self.text.len();
        let width = put(&mut self.text);
        if self.column + width > self.limit && self.column > indent {
            self.break_line(start);
        }
        self.column += width;
        if self.text.len() > BLOCK {
            self.write_block()?;
        }
        Ok(())
    }

    fn break_line(&mut self, start: usize) {
        self.word.clear();
        self.word.extend_from_slice(&self.text[start..]);
        let line = self.text[..start].trim_ascii_end().len();
        self.text.truncate(line);
        self.text.push(b'\n');
        self.column = self.shape.len();
        spaces(self.column, &mut self.text);
        self.text.append(&mut self.word);
    }

    /// Keeps trailing spaces, which a line break there would remove.
    fn write_block(&mut self) -> io::Result<()> {
        let len = self.text.trim_ascii_end().len();
        self.out.write_all(&self.text[..len])?;
        self.text.drain(..len);
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

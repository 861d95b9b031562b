//! How words are laid out on lines, as NumPy does: rows of items, brackets, and a gap in the middle of long axes.

use std::io::{self, Write};
use std::ops::Range;

use crate::format::interface::TextOptions;
use crate::item::element::Element;
use crate::item::tensor::Tensor;

/// Bytes of text that are gathered before they are written: the output may be a pipe or a terminal, where each write
/// is a system call, and a line is too little for one.
pub(super) const BLOCK: usize = 1 << 16;

/// What is printed instead of the items that are left out.
const GAP: &[u8] = b"...";

/// Returns the places of each axis, one or two ranges, whose items [`write_shown`](super::write_shown)
/// needs of a tensor of such dims. It needs all (`None`) if nothing is left out, and if `edgeitems` is 0, because NumPy
/// then fits columns to items that it does not print.
pub fn shown(shape: &[usize], options: &TextOptions) -> Option<Vec<Vec<Range<usize>>>> {
    let edge = edge(shape, options).filter(|&edge| edge > 0)?;
    let places = |&dim: &usize| match ends(edge, dim, dim) {
        Some((head, tail)) => vec![head, tail],
        None => std::iter::once(0..dim).collect(),
    };
    let is_cut = shape.iter().any(|&dim| ends(edge, dim, dim).is_some());
    (is_cut && !shape.contains(&0)).then(|| shape.iter().map(places).collect())
}

/// Returns how many items an axis keeps at either end, if a tensor of such dims is elided.
fn edge(shape: &[usize], options: &TextOptions) -> Option<usize> {
    let items = shape.iter().product::<usize>();
    options.threshold.is_some_and(|threshold| items > threshold).then_some(options.edgeitems)
}

/// Returns the places before and after the gap of an axis of `dim` places; `None` if it has no gap. Only `held` places of
/// the axis are in memory, which may be none of those in the middle.
fn ends(edge: usize, dim: usize, held: usize) -> Option<(Range<usize>, Range<usize>)> {
    // after the gap NumPy always prints an item, and `edge` may be 0
    (edge < dim.div_ceil(2)).then(|| (0..edge, held - edge.max(1)..held))
}

/// Appends `word` with spaces before it up to `width`, and returns how many characters that is.
#[inline]
pub(super) fn pad(word: &[u8], width: usize, text: &mut Vec<u8>) -> usize {
    spaces(width.saturating_sub(word.len()), text);
    text.extend_from_slice(word);
    width.max(word.len())
}

/// Appends spaces. Copying them is shorter than filling with them, which the standard library does in a function of its own.
#[inline]
pub(super) fn spaces(count: usize, text: &mut Vec<u8>) {
    const SPACES: [u8; 32] = [b' '; 32];
    match SPACES.get(..count) {
        Some(spaces) => text.extend_from_slice(spaces),
        None => text.resize(text.len() + count, b' '),
    }
}

/// The numbers of a tensor (of complex items also the parts), whatever their size and byte order.
pub(super) struct Numbers<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl<'a> Numbers<'a> {
    pub(super) fn new(tensor: &'a Tensor) -> Self {
        Self { bytes: tensor.bytes(), big: tensor.dtype().is_big_endian() }
    }

    /// Returns the number at position `i`.
    pub(super) fn item<T: Element>(&self, i: usize) -> T {
        let word = T::chunks(self.bytes)[i];
        if self.big { T::from_big(word) } else { T::from_little(word) }
    }
}

/// What is being printed, and where to.
pub(super) struct Page<'a> {
    out: &'a mut dyn Write,
    shape: &'a [usize],
    /// The places of each axis that are in memory: all, or those before and after the gap.
    held: &'a [usize],
    /// Items in memory from one index of an axis to the next.
    strides: Vec<usize>,
    /// How many items an axis keeps at either end, if the array is elided.
    edge: Option<usize>,
    /// A word that would end farther right begins a line.
    limit: usize,
    pub(super) text: Vec<u8>,
    /// The word that is being moved to the next line.
    pub(super) word: Vec<u8>,
}

impl<'a> Page<'a> {
    pub(super) fn new(out: &'a mut dyn Write, held: &'a [usize], shape: &'a [usize], options: &TextOptions) -> Self {
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
            // every line keeps room for the brackets that may end it.
            limit: options.linewidth.saturating_sub(shape.len()),
            text: Vec::with_capacity(if held.iter().product::<usize>() < 1000 { 0 } else { 2 * BLOCK }),
            word: Vec::new(),
        }
    }

    /// Returns the indices in memory of an axis that are shown: those before the gap, `None` if there is a gap, and
    /// those after it.
    fn shown(&self, axis: usize) -> (Range<usize>, Option<Option<usize>>, Range<usize>) {
        match self.edge.and_then(|edge| ends(edge, self.shape[axis], self.held[axis])) {
            Some((head, tail)) => (head, Some(None), tail),
            None => (0..0, None, 0..self.held[axis]),
        }
    }

    /// Calls `see` with every run of items that the layout depends on: those that are shown.
    pub(super) fn each(&self, see: &mut dyn FnMut(Range<usize>)) {
        match self.edge {
            // with no edges at all NumPy fits the columns to every item
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

    /// Prints the whole array. `put` appends an item, and returns how many characters that is.
    pub(super) fn blocks(&mut self, put: &mut dyn FnMut(usize, &mut Vec<u8>) -> usize) -> io::Result<()> {
        self.block(0, 0, put)
    }

    /// Prints the sub-array that begins with item `first` and in which `axis` is the outermost.
    fn block(
        &mut self,
        axis: usize,
        first: usize,
        put: &mut dyn FnMut(usize, &mut Vec<u8>) -> usize,
    ) -> io::Result<()> {
        self.text.push(b'[');
        let (head, gap, tail) = self.shown(axis);
        let mut shown = head.map(Some).chain(gap).chain(tail.map(Some));
        if axis + 1 == self.shape.len() {
            let mut column = self.shape.len();
            // this is faster than a `for` loop, which has to find out for each item in which part of the chain it is
            shown.try_for_each(|i| self.word(&mut column, i.map(|i| first + i), put))?;
        } else {
            for (n, i) in shown.enumerate() {
                if n > 0 {
                    // the lines between two sub-arrays
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

    /// Prints an item of a row, or the gap, on the line that has `column` characters so far, or on a new one.
    #[inline]
    fn word(
        &mut self,
        column: &mut usize,
        item: Option<usize>,
        put: &mut dyn FnMut(usize, &mut Vec<u8>) -> usize,
    ) -> io::Result<()> {
        let indent = self.shape.len();
        if *column > indent {
            self.text.push(b' ');
            *column += 1;
        }
        let start = self.text.len();
        let width = match item {
            Some(i) => put(i, &mut self.text),
            None => pad(GAP, 0, &mut self.text),
        };
        if *column + width > self.limit && *column > indent {
            self.word.clear();
            self.word.extend_from_slice(&self.text[start..]);
            let line = self.text[..start].trim_ascii_end().len();
            self.text.truncate(line);
            self.text.push(b'\n');
            spaces(indent, &mut self.text);
            self.text.append(&mut self.word);
            *column = indent;
        }
        *column += width;
        if self.text.len() > BLOCK {
            // spaces at the end of a line go when the line is broken there.
            let len = self.text.trim_ascii_end().len();
            self.out.write_all(&self.text[..len])?;
            self.text.drain(..len);
        }
        Ok(())
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&self.text)?;
        self.text.clear();
        Ok(())
    }
}

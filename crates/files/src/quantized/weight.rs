//! A quantised weight as float32s by position: codes, less their zero points, times scales, plus biases.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::matrix::{LoadedBytes, Matrix};
use crate::narrow::units::{Origin, Units};
use crate::storage::read_at::{Identity, READ_AHEAD};
use tensorop_kernels::error::Result;

const ITEMSIZE: usize = size_of::<f32>();

/// The items that a thread decodes at once, except from servers.
const PIECE: usize = 1 << 16;

/// The same of a row with more items. The buffers are short enough to be reused by the allocator.
const PIECE_OF_ROW: usize = 1 << 14;

/// The items of a piece of a row that are decoded together.
const BLOCK_OF_ROW: usize = 1 << 11;

/// Numbers that several items share: scales, zero points, biases.
#[derive(Debug)]
pub(crate) struct SharedNumbers {
    pub matrix: Matrix,
    pub groups: Arc<Groups>,
}

/// Which items share a number.
#[derive(Debug)]
pub(crate) struct Groups {
    /// The rows of the last two axes of the weight, and the rows of numbers for them; 0 if all planes share theirs.
    pub plane: usize,
    pub rows_in_plane: usize,
    /// Consecutive rows and columns that share a number.
    pub rows: usize,
    pub cols: usize,
    /// The row of numbers of each row, or the column of each column, if the checkpoint lists them.
    pub listed_rows: Option<Vec<usize>>,
    pub listed_cols: Option<Vec<usize>>,
}

impl Groups {
    fn row(&self, row: usize) -> usize {
        match &self.listed_rows {
            Some(rows) => rows[row],
            None => row / self.plane * self.rows_in_plane + row % self.plane / self.rows,
        }
    }

    /// The number of rows from `row` on with consecutive numbers.
    fn rows_in_order(&self, row: usize) -> usize {
        if self.rows_in_plane == 0 { self.plane - row % self.plane } else { usize::MAX }
    }

    /// The numbers for a row of `cols` items.
    pub(crate) fn in_row(&self, cols: usize) -> usize {
        cols.div_ceil(self.cols)
    }

    fn columns(&self, cols: &Range<usize>) -> Range<usize> {
        match &self.listed_cols {
            Some(listed) => {
                let listed = &listed[cols.clone()];
                let (first, last) = (listed.iter().min(), listed.iter().max());
                first.copied().unwrap_or_default()..last.map_or(0, |last| last + 1)
            }
            None => cols.start / self.cols..cols.end.div_ceil(self.cols),
        }
    }
}

/// The sides of a matrix with the items of a tensor in their order, and the groups in it.
#[derive(Debug)]
pub(crate) struct Spread {
    pub rows: usize,
    pub cols: usize,
    pub groups: Arc<Groups>,
}

/// Blocks of `sides` along the axes of `shape`; `None` if no matrix has such groups.
pub(crate) fn spread(shape: &[usize], sides: &[usize]) -> Option<Spread> {
    // adjacent blocks of axes are joined
    let mut merged: Vec<(usize, usize)> = Vec::new();
    for (&len, &side) in shape.iter().zip(sides).filter(|(len, _)| **len != 1) {
        let is_whole = side >= len;
        match merged.last_mut() {
            Some((outer, each)) if is_whole => (*outer, *each) = (*outer * len, each.saturating_mul(len)),
            Some((outer, each)) if *each == 1 && len.is_multiple_of(side) => (*outer, *each) = (*outer * len, side),
            _ => merged.push((len, side.min(len))),
        }
    }
    let (before, rows, cols) = match merged[..] {
        [] => ((1, 1), (1, 1), (1, 1)),
        [all] => ((1, 1), (1, 1), all),
        [rows, cols] => ((1, 1), rows, cols),
        [planes, rows, cols] if planes.1 == 1 || planes.1 >= planes.0 => (planes, rows, cols),
        _ => return None,
    };
    let rows_in_plane = if before.0 > 1 && before.1 >= before.0 { 0 } else { rows.0.div_ceil(rows.1.max(1)) };
    let groups = Groups {
        plane: rows.0.max(1),
        rows_in_plane,
        rows: rows.1.max(1),
        cols: cols.1.max(1),
        listed_rows: None,
        listed_cols: None,
    };
    Some(Spread { rows: before.0 * rows.0, cols: cols.0, groups: Arc::new(groups) })
}

/// How a scale becomes the factor of an item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum WholeScale {
    None,
    Times(f32),
    DividedBy(f32),
}

/// A matrix of float32s, `(code - zero) * scale * factor + bias`, each operation rounded once.
#[derive(Debug)]
pub(crate) struct QuantizedItems {
    /// Of the file that holds the codes.
    pub identity: Identity,
    pub rows: usize,
    pub cols: usize,
    pub codes: Matrix,
    /// The zero point of all items; zero points that are stored are added to it.
    pub zero: f32,
    pub zeros: Option<SharedNumbers>,
    pub scales: SharedNumbers,
    pub whole_scale: WholeScale,
    pub factors: Option<SharedNumbers>,
    pub biases: Option<SharedNumbers>,
}

/// The numbers of a row that are shared, and the bytes that they are decoded from.
#[derive(Debug)]
struct SharedRow<'a> {
    shared: &'a SharedNumbers,
    loaded: LoadedBytes,
    /// The row of numbers, and its columns.
    at: Option<(usize, Range<usize>)>,
    numbers: Vec<f32>,
}

impl<'a> SharedRow<'a> {
    fn load(shared: &'a SharedNumbers, rows: &Range<usize>, cols: &Range<usize>) -> Result<Self> {
        let mut loaded = LoadedBytes::default();
        // listed rows may lie far apart
        if shared.groups.listed_rows.is_none() && !rows.is_empty() {
            let wanted = shared.groups.row(rows.start)..shared.groups.row(rows.end - 1) + 1;
            shared.matrix.load(&wanted, &shared.groups.columns(cols), &mut loaded)?;
        }
        Ok(Self { shared, loaded, at: None, numbers: Vec::new() })
    }

    /// Whether the numbers are others than before.
    fn seek(&mut self, row: usize, cols: &Range<usize>) -> Result<bool> {
        let SharedNumbers { matrix, groups } = self.shared;
        let wanted = (groups.row(row), groups.columns(cols));
        if self.at.as_ref() == Some(&wanted) {
            return Ok(false);
        }
        let (row, cols) = wanted.clone();
        if !matrix.is_loaded(row, &cols, &self.loaded) {
            matrix.load(&(row..row + 1), &cols, &mut self.loaded)?;
        }
        self.numbers.resize(cols.len(), 0.0);
        matrix.decode(row, cols, &self.loaded, &mut self.numbers);
        self.at = Some(wanted);
        Ok(true)
    }

    /// Combines the items of a row with the numbers of their groups.
    fn combine(&self, cols: &Range<usize>, items: &mut [f32], combine: impl Fn(f32, f32) -> f32) {
        let groups = &self.shared.groups;
        let first = self.at.as_ref().map_or(0, |(_, cols)| cols.start);
        if let Some(listed) = &groups.listed_cols {
            let items = items.iter_mut().zip(&listed[cols.clone()]);
            items.for_each(|(item, group)| *item = combine(*item, self.numbers[group - first]));
            return;
        }
        if groups.cols == 1 {
            items.iter_mut().zip(&self.numbers).for_each(|(item, number)| *item = combine(*item, *number));
            return;
        }
        let head = (groups.cols - cols.start % groups.cols).min(items.len());
        let (head, rest) = items.split_at_mut(head);
        let all = [head].into_iter().chain(rest.chunks_mut(groups.cols));
        for (items, number) in all.zip(&self.numbers) {
            items.iter_mut().for_each(|item| *item = combine(*item, *number));
        }
    }
}

impl QuantizedItems {
    /// Decodes some rows, or a part of one.
    fn decode(&self, rows: Range<usize>, cols: Range<usize>, out: &mut [u8]) -> Result<()> {
        let load = |shared| SharedRow::load(shared, &rows, &cols);
        let mut codes = LoadedBytes::default();
        self.codes.load(&rows, &cols, &mut codes)?;
        let mut scales = load(&self.scales)?;
        let (zeros, factors) = (self.zeros.as_ref().map(load), self.factors.as_ref().map(load));
        let (mut zeros, mut factors) = (zeros.transpose()?, factors.transpose()?);
        let mut biases = self.biases.as_ref().map(load).transpose()?;
        // Rows can share their numbers; those of a part of one row pass through the cache of a core.
        let block = if rows.len() > 1 { cols.len() } else { cols.len().min(BLOCK_OF_ROW) };
        let mut items = vec![0.0; block];
        let blocks = cols.clone().step_by(block).map(|start| start..cols.end.min(start + block));
        let blocks = rows.flat_map(|row| blocks.clone().map(move |cols| (row, cols)));
        for ((row, cols), out) in blocks.zip(out.chunks_mut(block * ITEMSIZE)) {
            let items = &mut items[..cols.len()];
            self.codes.decode(row, cols.clone(), &codes, items);
            if let Some(zeros) = &mut zeros {
                zeros.seek(row, &cols)?;
                let whole = self.zero;
                zeros.combine(&cols, items, |item, zero| item - (zero + whole));
            } else if self.zero != 0.0 {
                items.iter_mut().for_each(|item| *item -= self.zero);
            }
            if scales.seek(row, &cols)? {
                match self.whole_scale {
                    WholeScale::None => {}
                    WholeScale::Times(whole) => scales.numbers.iter_mut().for_each(|scale| *scale *= whole),
                    WholeScale::DividedBy(whole) => scales.numbers.iter_mut().for_each(|scale| *scale /= whole),
                }
            }
            scales.combine(&cols, items, |item, scale| item * scale);
            if let Some(factors) = &mut factors {
                factors.seek(row, &cols)?;
                factors.combine(&cols, items, |item, factor| item * factor);
            }
            if let Some(biases) = &mut biases {
                biases.seek(row, &cols)?;
                biases.combine(&cols, items, |item, bias| item + bias);
            }
            let (out, _) = out.as_chunks_mut::<ITEMSIZE>();
            out.iter_mut().zip(items).for_each(|(out, item)| *out = item.to_le_bytes());
        }
        Ok(())
    }

    fn shared(&self) -> impl Iterator<Item = &SharedNumbers> {
        let shared = [Some(&self.scales), self.zeros.as_ref(), self.factors.as_ref(), self.biases.as_ref()];
        shared.into_iter().flatten()
    }

    fn parts(&self) -> impl Iterator<Item = &Matrix> {
        [&self.codes].into_iter().chain(self.shared().map(|shared| &shared.matrix))
    }

    fn rows_in_order(&self, row: usize) -> usize {
        let shared = self.shared().map(|shared| shared.groups.rows_in_order(row)).min();
        self.codes.rows_in_order(row).min(shared.unwrap_or(usize::MAX))
    }
}

impl Units for QuantizedItems {
    fn origin(&self) -> Origin<'_> {
        Origin::Tensors(self.identity, self.parts().map(Matrix::source).collect())
    }

    fn unit(&self) -> usize {
        ITEMSIZE
    }

    fn size(&self) -> io::Result<u64> {
        Ok((self.rows * self.cols * ITEMSIZE) as u64)
    }

    fn compute(&self, out: &mut [u8], first: usize) -> Result<()> {
        let costs_requests = self.parts().any(|part| part.source().costs_requests());
        let most = if costs_requests { READ_AHEAD / ITEMSIZE } else { PIECE };
        let most_of_row = if costs_requests { most } else { PIECE_OF_ROW };
        let (mut rest, mut item) = (out, first);
        while !rest.is_empty() {
            let (row, col) = (item / self.cols, item % self.cols);
            let left = rest.len() / ITEMSIZE;
            let (rows, cols) = if col > 0 || left < self.cols || self.cols > most {
                (row..row + 1, col..self.cols.min(col + left.min(most_of_row)))
            } else {
                (row..row + (left / self.cols).min(most / self.cols).min(self.rows_in_order(row)), 0..self.cols)
            };
            let items = rows.len() * cols.len();
            let (piece, after) = rest.split_at_mut(items * ITEMSIZE);
            self.decode(rows, cols, piece)?;
            (rest, item) = (after, item + items);
        }
        Ok(())
    }
}

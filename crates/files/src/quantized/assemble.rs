//! How the parts of each layout make up a weight: the shapes that they must have, and what shares a scale.

use std::sync::Arc;

use super::matrix::{CodePacking, Encoding, Matrix};
use super::parts::{PartNumbers, Role, WeightParts};
use super::weight::{Groups, QuantizedItems, SharedNumbers, WholeScale};
use crate::storage::source::Source;
use tensorop_kernels::error::{Context, Result, bail, ensure};
use tensorop_kernels::item::dtype::{Kind, Narrow};
use tensorop_kernels::item::meta::{Meta, Order};
use tensorop_kernels::layout::axis::bytes_of;

pub(crate) const FLOAT8: &[Kind] = &[Kind::Narrow(Narrow::Float8E4M3FN)];

/// A weight of float32s.
#[derive(Debug)]
pub(crate) struct Weight {
    pub meta: Meta,
    pub items: QuantizedItems,
}

/// The items of a weight of some shape.
pub(crate) fn items_of(shape: &[usize]) -> Result<usize> {
    let bytes = bytes_of(shape, size_of::<f32>());
    bytes.map(|bytes| bytes / size_of::<f32>()).with_context(|| format!("shape {shape:?} is larger than memory can be"))
}

impl Weight {
    /// The same items in another shape.
    pub(crate) fn with_shape(self, shape: Vec<usize>, order: Order) -> Result<Self> {
        items_of(&shape)?;
        Ok(Self { meta: Meta::c_order(Kind::Float32.into(), shape).in_order(order), ..self })
    }
}

pub(crate) fn groups(plane: usize, rows: usize, cols: usize) -> Groups {
    let (rows, cols) = (rows.max(1), cols.max(1));
    let rows_in_plane = plane.div_ceil(rows);
    Groups { plane: plane.max(1), rows_in_plane, rows, cols, listed_rows: None, listed_cols: None }
}

pub(crate) fn shape_of(before: &[usize], rows: usize, cols: usize) -> Vec<usize> {
    [before, &[rows, cols]].concat()
}

/// The groups of scales for the last two axes: one scale, one a row, or one for each block or group that is stated. The
/// blocks of float8 follow from the shapes where none are stated.
pub(crate) fn groups_of_scales(
    parts: &WeightParts<'_>,
    scales: &[usize],
    (before, rows, cols): (&[usize], usize, usize),
    numbers: &PartNumbers,
) -> Result<Groups> {
    // some writers give a matrix of scales more axes
    let mut reduced = scales.to_vec();
    while before.is_empty()
        && reduced.len() > 2
        && let Some(axis) = reduced.iter().rposition(|len| *len == 1)
    {
        reduced.remove(axis);
    }
    let scales = &*reduced;
    if matches!(scales, [] | [1]) {
        let all = before.iter().product::<usize>() * rows;
        return Ok(groups(all, all, cols));
    }
    if let Some([high, wide]) = numbers.block.or(numbers.group.map(|group| [1, group])) {
        let expected = shape_of(before, rows.div_ceil(high), cols.div_ceil(wide));
        parts.expect_shape(Role::Scales, scales, &expected)?;
        return Ok(groups(rows, high, wide));
    }
    let untold = || {
        let what = format!("the size of a block of {} of shape {scales:?}", parts.name(Role::Scales));
        parts.untold(&what)
    };
    let (down, across) = match scales {
        [of_rows] if before.is_empty() => (*of_rows, 1),
        [outer @ .., down, across] if outer == before => (*down, *across),
        _ => return Err(untold()),
    };
    let is_free = parts.names.dtypes[0] == FLOAT8[0];
    let side = |len: usize, count: usize| side_of(len, count).filter(|_| is_free || count == 1 || count == len);
    let (high, wide) = side(rows, down).zip(side(cols, across)).ok_or_else(untold)?;
    Ok(groups(rows, high, wide))
}

/// The side of the blocks that divide an axis. `None` if blocks of a usual side with a shorter last one give the same count.
fn side_of(len: usize, count: usize) -> Option<usize> {
    if count == 1 || count == 0 || !len.is_multiple_of(count) {
        return (count == 1).then_some(len.max(1));
    }
    let side = len / count;
    let is_usual = (4..=12).any(|log| len.div_ceil(1 << log) == count);
    (side.is_power_of_two() || !is_usual).then_some(side)
}

/// A weight of codes and their scales, without more.
pub(crate) fn plain(shape: Vec<usize>, order: Order, codes: Matrix, scales: SharedNumbers) -> Result<Weight> {
    let cols = match order {
        Order::C => shape.last().copied().unwrap_or(1),
        Order::Fortran => shape.first().copied().unwrap_or(1),
    };
    let rows = items_of(&shape)?.checked_div(cols).unwrap_or(0);
    matrix_of(shape, order, (rows, cols), codes, scales)
}

/// A weight whose items are those of a matrix of other sides.
pub(crate) fn matrix_of(
    shape: Vec<usize>,
    order: Order,
    (rows, cols): (usize, usize),
    codes: Matrix,
    scales: SharedNumbers,
) -> Result<Weight> {
    let identity = codes.source().identity()?.context("codes are not read by position")?;
    let (zeros, factors, biases, whole_scale) = (None, None, None, WholeScale::None);
    let items = QuantizedItems { identity, rows, cols, codes, zero: 0.0, zeros, scales, whole_scale, factors, biases };
    Weight { meta: Meta::c_order(Kind::Float32.into(), Vec::new()), items }.with_shape(shape, order)
}

pub(crate) fn float4_codes(codes: Source, encoding: Encoding, cols: usize) -> Matrix {
    Matrix::coded(codes, encoding, cols, &|code| Narrow::Float4E2M1FN.value(code as u8) as f32)
}

/// The dtypes of scales: powers of two may be stored as bytes.
fn scale_dtypes(scale: Narrow) -> Vec<Kind> {
    let bytes = (scale == Narrow::Float8E8M0FNU).then_some(Kind::UInt8);
    [Kind::Narrow(scale)].into_iter().chain(bytes).collect()
}

/// Multiplies columns by the factors that the layout keeps for the inputs.
pub(crate) fn columns(parts: &WeightParts<'_>, weight: Weight) -> Result<Weight> {
    let Some(factors) = parts.optional(Role::Columns)? else { return Ok(weight) };
    let QuantizedItems { rows, cols, .. } = weight.items;
    parts.expect_items(Role::Columns, &factors, cols)?;
    let matrix = parts.numbers(Role::Columns, factors, cols)?;
    let factors = Some(SharedNumbers { matrix, groups: groups(rows, rows, 1).into() });
    Ok(Weight { items: QuantizedItems { factors, ..weight.items }, ..weight })
}

/// Codes that are numbers themselves.
pub(crate) fn scaled(parts: &WeightParts<'_>, numbers: &PartNumbers) -> Result<Weight> {
    let (codes, before, rows, cols) = parts.codes()?;
    let shape = parts.required(Role::Scales)?.shape().to_vec();
    let groups = groups_of_scales(parts, &shape, (&before, rows, cols), numbers)?;
    scaled_by(parts, codes, &shape_of(&before, rows, cols), groups)
}

fn scaled_by(parts: &WeightParts<'_>, codes: Source, shape: &[usize], groups: Groups) -> Result<Weight> {
    let (groups, cols) = (Arc::new(groups), shape.last().copied().unwrap_or(1));
    let (scales, per_row) = (parts.required(Role::Scales)?, cols.div_ceil(groups.cols));
    let zeros = parts.optional(Role::Zeros)?.map(|zeros| {
        parts.expect_dtype(Role::Zeros, zeros.dtype(), &[Kind::Int8])?;
        parts.expect_shape(Role::Zeros, zeros.shape(), scales.shape())?;
        parts.numbers(Role::Zeros, zeros, per_row)
    });
    let shared = |matrix| SharedNumbers { matrix, groups: Arc::clone(&groups) };
    let codes = parts.numbers(Role::Codes, codes, cols)?;
    let scales = shared(parts.numbers(Role::Scales, scales, per_row)?);
    let mut weight = plain(shape.to_vec(), Order::C, codes, scales)?;
    weight.items.zeros = zeros.transpose()?.map(shared);
    Ok(weight)
}

/// Codes with a power of two for each 32 of a row.
pub(crate) fn mxfp8(parts: &WeightParts<'_>, numbers: &PartNumbers) -> Result<Weight> {
    let scales = parts.required(Role::Scales)?;
    parts.expect_dtype(Role::Scales, scales.dtype(), &scale_dtypes(Narrow::Float8E8M0FNU))?;
    scaled(parts, &PartNumbers { group: numbers.group.or(Some(32)), block: None, ..numbers.clone() })
}

/// Codes of 6 bits in a stream from the low bits on, with a power of two for each 32 of a row.
pub(crate) fn mxfp6(parts: &WeightParts<'_>, _: &PartNumbers) -> Result<Weight> {
    const GROUP: [usize; 2] = [32, 24];
    let (codes, before, rows, bytes) = parts.codes()?;
    let [items, size] = GROUP;
    ensure!(
        bytes.is_multiple_of(size),
        "{} has {bytes} bytes a row, expected groups of {size}",
        parts.name(Role::Codes)
    );
    let (cols, scales) = (bytes / size * items, parts.required(Role::Scales)?);
    parts.expect_shape(Role::Scales, scales.shape(), &shape_of(&before, rows, cols / items))?;
    parts.expect_dtype(Role::Scales, scales.dtype(), &scale_dtypes(Narrow::Float8E8M0FNU))?;
    let words = Encoding::Words(CodePacking { bits: 6, is_dense: true });
    let codes = Matrix::coded(codes, words, cols, &|code| Narrow::Float6E2M3FN.value(code as u8) as f32);
    let matrix = parts.numbers(Role::Scales, scales, cols / items)?;
    let scales = SharedNumbers { matrix, groups: groups(rows, 1, items).into() };
    plain(shape_of(&before, rows, cols), Order::C, codes, scales)
}

/// Experts of fbgemm, whose scales of one row may have been transposed.
pub(crate) fn fused_fbgemm(parts: &WeightParts<'_>, numbers: &PartNumbers) -> Result<Weight> {
    let (codes, before, rows, cols) = parts.codes()?;
    match *parts.required(Role::Scales)?.shape() {
        [experts, side, 1] if before == [experts] && side == cols => {
            scaled_by(parts, codes, &shape_of(&before, rows, cols), groups(rows, rows, 1))
        }
        _ => fused_scaled(parts, numbers),
    }
}

/// Experts in one tensor of three axes. Their scales are one for each expert, or for each of its rows, columns or blocks.
pub(crate) fn fused_scaled(parts: &WeightParts<'_>, numbers: &PartNumbers) -> Result<Weight> {
    let (codes, before, rows, cols) = parts.codes()?;
    let (shape, scales) = (shape_of(&before, rows, cols), parts.required(Role::Scales)?.shape().to_vec());
    ensure!(before.len() == 1, "{} has shape {shape:?}, expected three axes", parts.name(Role::Codes));
    let experts = before[0];
    let (of, name) = ((&*before, rows, cols), parts.name(Role::Scales));
    let high = numbers.block.map_or(1, |[high, _]| high);
    let down_apart = if (rows / 2).is_multiple_of(high) { 0 } else { (rows / 2).div_ceil(high) * 2 };
    let groups = match scales[..] {
        [count] if count == experts => groups(rows, rows, cols),
        [count, side] if count == experts && (side == rows || side == cols) => {
            ensure!(rows != cols, "{name} of shape {scales:?} may be for rows or columns");
            if side == rows { groups(rows, 1, cols) } else { groups(rows, rows, 1) }
        }
        // gate and up, one behind the other, may have been quantised apart
        [_, down, _] if parts.base.contains("gate_up") && rows.is_multiple_of(2) && down == down_apart => {
            ensure!(down != rows.div_ceil(high), "{name} of shape {scales:?} may be for gate and up together or apart");
            groups_of_scales(parts, &[experts * 2, down / 2, scales[2]], (&[experts * 2], rows / 2, cols), numbers)?
        }
        _ => groups_of_scales(parts, &scales, of, numbers)?,
    };
    scaled_by(parts, codes, &shape, groups)
}

/// Experts of modelopt in one tensor of three axes, whose codes are packed along the rows or the columns.
pub(crate) fn fused_float4(parts: &WeightParts<'_>) -> Result<Weight> {
    const GROUP: usize = 16;
    let (codes, before, rows, bytes) = parts.codes()?;
    let scales = parts.required(Role::Scales)?;
    if scales.shape() != shape_of(&before, (rows * 2).div_ceil(GROUP), bytes) {
        return float4(parts, GROUP, Narrow::Float8E4M3FN, WholeScale::Times);
    }
    parts.expect_dtype(Role::Scales, scales.dtype(), &[Kind::Narrow(Narrow::Float8E4M3FN)])?;
    let (rows, cols) = (rows * 2, bytes);
    let codes = float4_codes(codes, Encoding::CodeColumns, cols);
    let scales =
        SharedNumbers { matrix: parts.numbers(Role::Scales, scales, cols)?, groups: groups(rows, GROUP, 1).into() };
    let mut weight = plain(shape_of(&before, rows, cols), Order::C, codes, scales)?;
    weight.items.whole_scale = WholeScale::Times(parts.whole(Role::Whole)?);
    Ok(weight)
}

/// Two codes of 4 bits a byte, and a scale for each `group` of a row.
pub(crate) fn float4(
    parts: &WeightParts<'_>,
    group: usize,
    scale: Narrow,
    whole_scale: fn(f32) -> WholeScale,
) -> Result<Weight> {
    let (codes, before, rows, bytes) = parts.codes()?;
    let (cols, scales) = (bytes * 2, parts.required(Role::Scales)?);
    parts.expect_groups(cols, group)?;
    parts.expect_shape(Role::Scales, scales.shape(), &shape_of(&before, rows, cols.div_ceil(group)))?;
    parts.expect_dtype(Role::Scales, scales.dtype(), &scale_dtypes(scale))?;
    let codes = float4_codes(codes, Encoding::LOW_FIRST, cols);
    let scales = parts.numbers(Role::Scales, scales, cols.div_ceil(group))?;
    let scales = SharedNumbers { matrix: scales, groups: groups(rows, 1, group).into() };
    let mut weight = plain(shape_of(&before, rows, cols), Order::C, codes, scales)?;
    if parts.names.endings().any(|(role, _)| role == Role::Whole) {
        weight.items.whole_scale = whole_scale(parts.whole(Role::Whole)?);
    }
    columns(parts, weight)
}

/// Blocks of 16 bytes along an axis of their own.
pub(crate) fn float4_blocks(parts: &WeightParts<'_>) -> Result<Weight> {
    const BYTES: usize = 16;
    let (codes, before, blocks, bytes) = parts.codes()?;
    ensure!(bytes == BYTES, "{} has blocks of {bytes} bytes, expected {BYTES}", parts.name(Role::Codes));
    let scales = parts.required(Role::Scales)?;
    parts.expect_shape(Role::Scales, scales.shape(), &[&*before, &[blocks]].concat())?;
    parts.expect_dtype(Role::Scales, scales.dtype(), &scale_dtypes(Narrow::Float8E8M0FNU))?;
    let cols = blocks * BYTES * 2;
    let codes = float4_codes(codes, Encoding::LOW_FIRST, cols);
    let scales = parts.numbers(Role::Scales, scales, blocks)?;
    let groups = groups(before.iter().product(), 1, BYTES * 2);
    plain([&*before, &[cols]].concat(), Order::C, codes, SharedNumbers { matrix: scales, groups: groups.into() })
}

/// Integers in words of 32 bits, with the shape as a part.
pub(crate) fn packed(parts: &WeightParts<'_>, numbers: &PartNumbers) -> Result<Weight> {
    let (codes, before, rows, words) = parts.codes()?;
    let bits = parts.bits(numbers)?;
    let listed = parts.counts(Role::Shape)?.with_context(|| parts.missing(Role::Shape))?;
    let [.., listed_rows, cols] = listed[..] else { bail!("{} is {listed:?}", parts.name(Role::Shape)) };
    parts.expect_shape(Role::Shape, &listed, &shape_of(&before, rows, cols))?;
    ensure!(listed_rows == rows, "{} has {listed_rows} rows, expected {rows}", parts.name(Role::Shape));
    let [dense, sparse] = [true, false].map(|is_dense| CodePacking { bits, is_dense });
    let is_dense = match (dense.words(cols) == words, sparse.words(cols) == words) {
        (true, true) if 32 % bits == 0 || words <= 1 => true,
        (true, true) => {
            let untold = || parts.untold("the version of compressed-tensors, on which the packing depends");
            numbers.is_dense.ok_or_else(untold)?
        }
        (is_dense, is_sparse) => {
            ensure!(is_dense || is_sparse, "{words} words a row do not hold {cols} items of {bits} bits");
            is_dense
        }
    };
    let packing = CodePacking { bits, is_dense };
    let scales = parts.required(Role::Scales)?;
    let listed = parts.counts(Role::Groups)?;
    let mut groups = match &listed {
        // the scales of listed groups are as many as the list needs
        Some(_) => Groups { cols: 1, ..groups(rows, 1, 1) },
        None => groups_of_scales(parts, scales.shape(), (&before, rows, cols), numbers)?,
    };
    let per_row =
        if listed.is_some() { scales.shape().last().copied().unwrap_or(1) } else { cols.div_ceil(groups.cols) };
    if let Some(listed) = listed {
        check_listed(parts, &listed, cols, per_row)?;
        parts.expect_shape(Role::Scales, scales.shape(), &shape_of(&before, rows, per_row))?;
        groups.listed_cols = Some(listed);
    }
    let groups = Arc::new(groups);
    let mut zero = f32::from(1_u16 << (bits - 1));
    let zeros = match parts.optional(Role::Zeros)? {
        // older releases did not pack them, and did not add half of the range
        Some(zeros) if *zeros.dtype().kind() == Kind::Int8 => {
            parts.expect_shape(Role::Zeros, zeros.shape(), scales.shape())?;
            Some(parts.numbers(Role::Zeros, zeros, per_row)?)
        }
        Some(zeros) => {
            zero = 0.0;
            parts.expect_dtype(Role::Zeros, zeros.dtype(), &[Kind::Int32])?;
            parts.expect_shape(Role::Zeros, zeros.shape(), &[packing.words(rows), per_row])?;
            Some(Matrix::new(zeros, Encoding::ColumnWords(packing), per_row))
        }
        None => None,
    };
    let shared = |matrix| SharedNumbers { matrix, groups: Arc::clone(&groups) };
    let codes = Matrix::new(codes, Encoding::Words(packing), cols);
    let scales = shared(parts.numbers(Role::Scales, scales, per_row)?);
    let mut weight = plain(shape_of(&before, rows, cols), Order::C, codes, scales)?;
    // codes, and zero points that are packed, are stored with half of their range added
    weight.items.zero = zero;
    weight.items.zeros = zeros.map(shared);
    Ok(weight)
}

fn check_listed(parts: &WeightParts<'_>, listed: &[usize], items: usize, groups: usize) -> Result<()> {
    let name = parts.name(Role::Groups);
    ensure!(listed.len() == items, "{name} has {} items, expected {items}", listed.len());
    match listed.iter().find(|group| **group >= groups) {
        Some(group) => bail!("{name} has group {group}, expected 0 to {}", groups.saturating_sub(1)),
        None => Ok(()),
    }
}

/// The bits of MLX are a stream from the low bits on; its modes beside `affine` are those of OCP and NVIDIA.
pub(crate) fn mlx(parts: &WeightParts<'_>, numbers: &PartNumbers) -> Result<Weight> {
    let (codes, before, rows, words) = parts.codes()?;
    let bits = parts.bits(numbers)?;
    let group = numbers.group.ok_or_else(|| parts.untold("group_size"))?;
    ensure!(words * 32 % bits == 0, "{words} words a row do not hold items of {bits} bits");
    let cols = words * 32 / bits;
    parts.expect_groups(cols, group)?;
    let scales = parts.required(Role::Scales)?;
    let per_row = cols.div_ceil(group);
    parts.expect_shape(Role::Scales, scales.shape(), &shape_of(&before, rows, per_row))?;
    let floats = [Kind::Float32, Kind::Float16, Kind::BFloat16];
    let (encoding, scale) = match (numbers.mode.as_deref().unwrap_or("affine"), bits) {
        ("affine", _) => (Encoding::Words(CodePacking { bits, is_dense: true }), None),
        ("mxfp4", 4) => (Encoding::LOW_FIRST, Some((Narrow::Float4E2M1FN, Narrow::Float8E8M0FNU))),
        ("nvfp4", 4) => (Encoding::LOW_FIRST, Some((Narrow::Float4E2M1FN, Narrow::Float8E4M3FN))),
        ("mxfp8", 8) => (Encoding::BYTES, Some((Narrow::Float8E4M3FN, Narrow::Float8E8M0FNU))),
        (mode, _) => bail!("mode {mode:?} of {bits} bits is not known"),
    };
    let expected = if scale.is_some() { &[Kind::UInt8][..] } else { &floats };
    parts.expect_dtype(Role::Scales, scales.dtype(), expected)?;
    let groups = Arc::new(groups(rows, 1, group));
    let shared = |matrix| SharedNumbers { matrix, groups: Arc::clone(&groups) };
    let narrow = |source, encoding, cols, narrow: Narrow| {
        Matrix::coded(source, encoding, cols, &|code| narrow.value(code as u8) as f32)
    };
    let (codes, scales) = match scale {
        Some((code, scale)) => (narrow(codes, encoding, cols, code), narrow(scales, Encoding::BYTES, per_row, scale)),
        None => (Matrix::new(codes, encoding, cols), parts.numbers(Role::Scales, scales, per_row)?),
    };
    let biases = match scale {
        None => {
            let biases = parts.required(Role::Biases)?;
            parts.expect_shape(Role::Biases, biases.shape(), &shape_of(&before, rows, per_row))?;
            parts.expect_dtype(Role::Biases, biases.dtype(), &floats)?;
            Some(shared(parts.numbers(Role::Biases, biases, per_row)?))
        }
        Some(_) => None,
    };
    let mut weight = plain(shape_of(&before, rows, cols), Order::C, codes, shared(scales))?;
    weight.items.biases = biases;
    Ok(weight)
}

/// `[in, out]` as it is stored, so `[out, in]` in Fortran order. Version 1 stores zero points less `zero`.
pub(crate) fn gptq(parts: &WeightParts<'_>, numbers: &PartNumbers, zero: f32) -> Result<Weight> {
    let (codes, before, words, cols) = parts.codes()?;
    let bits = parts.bits(numbers)?;
    ensure!(words * 32 % bits == 0, "{words} words a column do not hold items of {bits} bits");
    let (rows, packing) = (words * 32 / bits, CodePacking { bits, is_dense: true });
    let listed = parts.counts(Role::Groups)?;
    let codes = Matrix::new(codes, Encoding::ColumnWords(packing), cols);
    let mut weight = transposed(parts, (&before, rows, cols), codes, Encoding::Words(packing), listed, numbers)?;
    weight.items.zero = zero;
    Ok(weight)
}

pub(crate) fn awq(parts: &WeightParts<'_>, numbers: &PartNumbers) -> Result<Weight> {
    let (codes, before, rows, words) = parts.codes()?;
    let bits = numbers.bits.unwrap_or(4);
    ensure!(bits == 4, "{} states {bits} bits, expected 4", parts.config);
    let codes = Matrix::new(codes, Encoding::AwqWords, words * 8);
    transposed(parts, (&before, rows, words * 8), codes, Encoding::AwqWords, None, numbers)
}

/// A weight `[in, out]` with scales and zero points for groups of rows.
fn transposed(
    parts: &WeightParts<'_>,
    (before, rows, cols): (&[usize], usize, usize),
    codes: Matrix,
    zeros_encoding: Encoding,
    listed: Option<Vec<usize>>,
    numbers: &PartNumbers,
) -> Result<Weight> {
    ensure!(before.is_empty(), "{} has more than two axes", parts.name(Role::Codes));
    let (scales, zeros) = (parts.required(Role::Scales)?, parts.required(Role::Zeros)?);
    let [in_groups, _] = scales.shape() else {
        bail!("{} has shape {:?}, expected two axes", parts.name(Role::Scales), scales.shape())
    };
    let in_groups = *in_groups;
    let mut groups = match (&listed, numbers.group) {
        (_, Some(group)) => groups(rows, group, 1),
        (Some(_), None) => groups(rows, rows, 1),
        // all rows are one group
        (None, None) if parts.config.is_empty() => return Err(parts.untold("group_size")),
        (None, None) => groups(rows, rows, 1),
    };
    if let Some(listed) = listed {
        check_listed(parts, &listed, rows, in_groups)?;
        groups.listed_rows = Some(listed);
    } else {
        parts.expect_shape(Role::Scales, scales.shape(), &[rows.div_ceil(groups.rows), cols])?;
    }
    parts.expect_shape(Role::Scales, scales.shape(), &[in_groups, cols])?;
    parts.expect_dtype(Role::Zeros, zeros.dtype(), &[Kind::Int32])?;
    let words = zeros_encoding.row_bytes(cols) / 4;
    parts.expect_shape(Role::Zeros, zeros.shape(), &[in_groups, words])?;
    let groups = Arc::new(groups);
    let shared = |matrix| SharedNumbers { matrix, groups: Arc::clone(&groups) };
    let scales = shared(parts.numbers(Role::Scales, scales, cols)?);
    let mut weight = plain(vec![cols, rows], Order::Fortran, codes, scales)?;
    weight.items.zeros = Some(shared(Matrix::new(zeros, zeros_encoding, cols)));
    Ok(weight)
}

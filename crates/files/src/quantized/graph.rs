//! Quantised weights that nodes of a model compute: ONNX's operators and OpenVINO's chains.

use std::sync::Arc;

use super::assemble::{Weight, groups, items_of, matrix_of};
use super::matrix::{CodeBytes, Encoding, Matrix};
use super::parts::counts_of;
use super::weight::{Groups, SharedNumbers, Spread, WholeScale, spread};
use crate::container::content::{GraphForm, GraphWeight};
use crate::storage::read_at::MemoryBytes;
use crate::storage::source::Source;
use tensorop_kernels::error::{Context, Error, Result, bail, ensure};
use tensorop_kernels::item::dtype::Kind;
use tensorop_kernels::item::meta::Order;

/// The values of OpenVINO's nf4: quantiles of a normal distribution.
const NF4: [f32; 16] = [
    -1.0,
    -0.696_192_8,
    -0.525_073_05,
    -0.394_917_5,
    -0.284_441_38,
    -0.184_773_43,
    -0.091_050_036,
    0.0,
    0.079_580_3,
    0.160_930_2,
    0.246_112_3,
    0.337_915_24,
    0.440_709_83,
    0.562_617,
    0.722_956_84,
    1.0,
];

/// Opens a constant, which has a copy if it is in memory, so that all are read by position.
type Open<'a> = &'a dyn Fn(usize) -> Result<Source>;

fn open_at(open: Open<'_>, n: usize) -> Result<Source> {
    let source = open(n)?;
    ensure!(*source.dtype() == source.dtype().native(), "{}: expected little-endian items", source.label());
    match source.as_bytes() {
        Some(bytes) => {
            let bytes = Arc::new(MemoryBytes::new(bytes.to_vec()));
            Source::stored(source.meta().clone(), bytes, 0, source.label().to_owned())
        }
        None => {
            ensure!(source.identity()?.is_some(), "{}: expected items read by position", source.label());
            Ok(source)
        }
    }
}

fn numbers(source: Source, cols: usize) -> Result<Matrix> {
    let what = || format!("{} is {}, expected numbers of at most 32 bits", source.label(), source.dtype().name());
    let encoding = Encoding::for_dtype(source.dtype()).with_context(what)?;
    Ok(Matrix::new(source, encoding, cols))
}

/// Makes a weight of the constants of a model.
///
/// # Errors
/// They do not fit one another.
pub(crate) fn assemble(weight: &GraphWeight, open: Open<'_>) -> Result<Weight> {
    if let Some(fault) = &weight.fault {
        bail!("{fault}");
    }
    let codes = open_at(open, weight.stored_codes())?;
    let scales = open_at(open, weight.scales.with_context(|| format!("{} has no scales", weight.name))?)?;
    let zeros = weight.zeros.map(|zeros| open_at(open, zeros)).transpose()?;
    let own = codes.shape().to_vec();
    let mut made = match &weight.form {
        GraphForm::Axis { axis, block } => {
            let sides = sides_on_axis(&codes, &scales, *axis, *block)?;
            let zeros = zeros.map(|zeros| Ok::<_, Error>((sides_on_axis(&codes, &zeros, *axis, *block)?, zeros)));
            let zeros = zeros.transpose()?;
            let encoded = |cols| numbers(codes, cols);
            in_blocks(encoded, &own, own.clone(), (sides, scales), zeros)
        }
        GraphForm::Broadcast { shape, nf4 } => {
            let is_nf4 = nf4.is_some();
            let own = nf4.as_ref().map_or(own, |(own, _)| own.clone());
            let shape = shape.as_ref().map_or_else(|| own.clone(), |(shape, _)| shape.clone());
            let (items, label) = (items_of(&own)?, codes.label().to_owned());
            ensure!(items_of(&shape)? == items, "{label} of shape {own:?} is reshaped to {shape:?}");
            let (found, expected) = (codes.bytes(), items.div_ceil(2));
            ensure!(!is_nf4 || found == expected, "{label} has {found} bytes, expected {expected}");
            let sides = sides_by_length(&scales, &own)?;
            let zeros = zeros.map(|zeros| Ok::<_, Error>((sides_by_length(&zeros, &own)?, zeros)));
            let zeros = zeros.transpose()?;
            let encoded = |cols| match is_nf4 {
                true => Ok(Matrix::coded(codes, Encoding::LOW_FIRST, cols, &|code| NF4[code])),
                false => numbers(codes, cols),
            };
            in_blocks(encoded, &own, shape, (sides, scales), zeros)
        }
        GraphForm::Rows { bits, block, rows, cols } => {
            let listed = weight.groups.map(|groups| counts_of(&open_at(open, groups)?)).transpose()?.flatten();
            let made = in_rows(codes, scales, zeros, *bits, [*rows, *cols, *block], listed)?;
            made.with_shape(vec![*cols, *rows], Order::Fortran)
        }
        GraphForm::LastAxis { bits, block, axis } => {
            let last = own.len().checked_sub(1).with_context(|| format!("{} is a scalar", codes.label()))?;
            let is_last = *axis == -1 || usize::try_from(*axis) == Ok(last);
            ensure!(is_last, "{}: blocks along axis {axis} are not read, only along the last", codes.label());
            let mut shape = own;
            if *codes.dtype().kind() == Kind::UInt8 {
                shape[last] = shape[last].saturating_mul(8 / bits.clamp(&1, &8));
            }
            let rows = shape[..last].iter().product();
            in_rows(codes, scales, zeros, *bits, [rows, shape[last], *block], None)?.with_shape(shape, Order::C)
        }
    }?;
    if let Some(whole) = weight.whole {
        let source = open_at(open, whole)?;
        ensure!(source.meta().items() == 1, "{} has {} items, expected 1", source.label(), source.meta().items());
        made.items.whole_scale = WholeScale::Times(numbers(source, 1)?.number()?);
    }
    Ok(made)
}

/// The side of a block along each axis; the whole axis where it is not divided.
fn sides_on_axis(codes: &Source, scales: &Source, axis: i64, block: usize) -> Result<Vec<usize>> {
    let (shape, found, label) = (codes.shape(), scales.shape(), scales.label());
    if scales.meta().items() == 1 && block == 0 {
        return Ok(shape.to_vec());
    }
    let resolved = if axis < 0 { axis + shape.len() as i64 } else { axis };
    let at = usize::try_from(resolved).ok().filter(|at| *at < shape.len());
    let at = at.with_context(|| format!("axis {axis} of {} with shape {shape:?}", codes.label()))?;
    if block == 0 {
        // some writers add axes of length 1
        let len = found.iter().product::<usize>();
        ensure!(len == shape[at], "{label} has shape {found:?}, expected [{}]", shape[at]);
        let side = |axis: usize| if axis == at { 1 } else { shape[axis] };
        return Ok((0..shape.len()).map(side).collect());
    }
    let mut expected = shape.to_vec();
    expected[at] = expected[at].div_ceil(block);
    ensure!(found == expected, "{label} has shape {found:?}, expected {expected:?}");
    Ok((0..shape.len()).map(|axis| if axis == at { block } else { 1 }).collect())
}

fn sides_by_length(numbers: &Source, shape: &[usize]) -> Result<Vec<usize>> {
    let found = numbers.shape();
    let missing = shape.len().checked_sub(found.len());
    let lens = missing.map(|missing| [&vec![1; missing], found].concat());
    let fits = |lens: &Vec<usize>| lens.iter().zip(shape).all(|(len, whole)| *len == 1 || len == whole);
    let lens = lens.filter(fits);
    let lens = lens.with_context(|| format!("{} has shape {found:?}, for {shape:?}", numbers.label()))?;
    Ok(lens.iter().zip(shape).map(|(len, whole)| if *len == 1 { *whole } else { 1 }).collect())
}

/// Codes in the order of their items, with scales and zero points for blocks.
fn in_blocks(
    codes: impl FnOnce(usize) -> Result<Matrix>,
    own: &[usize],
    shape: Vec<usize>,
    (sides, scales): (Vec<usize>, Source),
    zeros: Option<(Vec<usize>, Source)>,
) -> Result<Weight> {
    let unread = || format!("{}: blocks of {sides:?} in {own:?} are not read", scales.label());
    let Spread { rows, cols, groups: blocks } = spread(own, &sides).with_context(unread)?;
    let shared = |source: Source, blocks: &Arc<Groups>| -> Result<SharedNumbers> {
        Ok(SharedNumbers { matrix: numbers(source, blocks.in_row(cols))?, groups: Arc::clone(blocks) })
    };
    let zeros = match zeros {
        None => None,
        Some((_, zeros)) if zeros.meta().items() == 1 => Some(shared(zeros, &groups(rows, rows, cols).into())?),
        Some((own, zeros)) if own == sides => Some(shared(zeros, &blocks)?),
        Some((_, zeros)) => bail!("{} and {} have other shapes", zeros.label(), scales.label()),
    };
    let scales = shared(scales, &blocks)?;
    let mut weight = matrix_of(shape, Order::C, (rows, cols), codes(cols)?, scales)?;
    weight.items.zeros = zeros;
    Ok(weight)
}

/// Reads packed codes in rows, with scales and zero points for blocks. If zero points are missing, codes in bytes have half of the
/// range as theirs.
fn in_rows(
    codes: Source,
    scales: Source,
    zeros: Option<Source>,
    bits: usize,
    [rows, cols, block]: [usize; 3],
    listed: Option<Vec<usize>>,
) -> Result<Weight> {
    ensure!(matches!(bits, 2 | 4 | 8), "{}: codes of {bits} bits are not read, only of 2, 4 and 8", codes.label());
    ensure!(block > 0, "{}: the node states no block_size", codes.label());
    let per_row = cols.div_ceil(block);
    let packing = Encoding::Codes(CodeBytes { bits, high_first: false });
    let expect = |source: &Source, found: usize, row: usize| -> Result<()> {
        let expected = rows.checked_mul(row);
        ensure!(Some(found) == expected, "{} has {found}, expected {rows} x {row}", source.label());
        Ok(())
    };
    let is_packed = !matches!(codes.dtype().kind(), Kind::Narrow(_));
    let codes = if is_packed {
        // most writers pad the last block of a row
        let whole = per_row * block;
        let width = if expect(&codes, codes.bytes(), packing.row_bytes(whole)).is_ok() { whole } else { cols };
        expect(&codes, codes.bytes(), packing.row_bytes(width))?;
        Matrix::new(codes, packing, width)
    } else {
        expect(&codes, codes.meta().items(), cols)?;
        numbers(codes, cols)?
    };
    expect(&scales, scales.meta().items(), per_row)?;
    let mut blocks = Groups { rows: 1, cols: block, ..groups(rows, 1, block) };
    if let Some(listed) = &listed {
        ensure!(
            listed.len() >= cols && listed[..cols].iter().all(|group| *group < per_row),
            "{}: groups of columns beyond {per_row}",
            scales.label()
        );
        blocks = Groups { listed_cols: Some(listed[..cols].to_vec()), cols: 1, ..blocks };
    }
    let blocks = Arc::new(blocks);
    let zeros = zeros.map(|zeros| -> Result<SharedNumbers> {
        let is_packed = *zeros.dtype().kind() == Kind::UInt8;
        let (found, row) =
            if is_packed { (zeros.bytes(), packing.row_bytes(per_row)) } else { (zeros.meta().items(), per_row) };
        expect(&zeros, found, row)?;
        let matrix = if is_packed { Matrix::new(zeros, packing, per_row) } else { numbers(zeros, per_row)? };
        Ok(SharedNumbers { matrix, groups: Arc::clone(&blocks) })
    });
    let zeros = zeros.transpose()?;
    let scales = SharedNumbers { matrix: numbers(scales, per_row)?, groups: blocks };
    let mut weight = matrix_of(vec![rows, cols], Order::C, (rows, cols), codes, scales)?;
    weight.items.zero = if zeros.is_none() && is_packed { f32::from(1_u16 << (bits - 1)) } else { 0.0 };
    weight.items.zeros = zeros;
    Ok(weight)
}

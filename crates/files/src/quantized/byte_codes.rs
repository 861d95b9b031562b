//! Layouts of codes in bytes that single programs write: bitsandbytes, ComfyUI, HQQ, torchao, BitNet, Gemma, and the AWQ
//! of modelopt.

use std::sync::Arc;

use serde_json::Value;

use super::assemble::{
    FLOAT8, Weight, columns, float4_codes, groups, groups_of_scales, items_of, matrix_of, plain, scaled, shape_of,
};
use super::matrix::{CodeBytes, CodePlanes, Encoding, LoadedBytes, Matrix};
use super::parts::{PartNumbers, Role, WeightParts};
use super::weight::{QuantizedItems, SharedNumbers, WholeScale, spread};
use crate::narrow::units::ByUnits;
use crate::storage::source::Source;
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, ensure};
use tensorop_kernels::item::dtype::{Kind, Narrow};
use tensorop_kernels::item::meta::Order;

fn unsupported(message: String) -> Error {
    Error::from_kind(ErrorKind::Unsupported, message)
}

/// A count of a description.
fn count(described: &Value, key: &str, name: &str) -> Result<usize> {
    let number = described[key].as_u64().and_then(|number| usize::try_from(number).ok());
    number.filter(|number| *number > 0).with_context(|| format!("{name} states no {key}"))
}

/// The values of codes.
fn codebook(parts: &WeightParts<'_>, role: Role, expected: usize) -> Result<Vec<f32>> {
    let source = parts.required(role)?;
    parts.expect_items(role, &source, expected)?;
    let (matrix, mut loaded, mut values) = (parts.numbers(role, source, expected)?, LoadedBytes::default(), Vec::new());
    values.resize(expected, 0.0);
    matrix.load(&(0..1), &(0..expected), &mut loaded)?;
    matrix.decode(0, 0..expected, &loaded, &mut values);
    Ok(values)
}

/// Codes of 4 bits through all rows, the first in the high bits, and a scale for each block, which may cross rows.
pub(crate) fn bitsandbytes_4bit(parts: &WeightParts<'_>, _: &PartNumbers) -> Result<Weight> {
    let state = parts.json(Role::State)?.with_context(|| parts.missing(Role::State))?;
    let name = parts.name(Role::State);
    let dim = |dim: &Value| dim.as_u64().and_then(|dim| usize::try_from(dim).ok());
    let shape: Option<Vec<usize>> = state["shape"].as_array().and_then(|shape| shape.iter().map(dim).collect());
    let shape = shape.with_context(|| format!("{name} states no shape"))?;
    let items = items_of(&shape)?;
    let side = count(&state, "blocksize", &name)?;
    let blocks = items.div_ceil(side);
    let codes = parts.required(Role::Codes)?;
    let (found, expected) = (codes.bytes(), items.div_ceil(2));
    ensure!(found == expected, "{} has {found} bytes, expected {expected} of {shape:?}", parts.name(Role::Codes));
    let values = codebook(parts, Role::Book, 16)?;
    let scales = parts.required(Role::Scales)?;
    parts.expect_items(Role::Scales, &scales, blocks)?;
    let scales = match scales.dtype().kind() {
        Kind::UInt8 => nested(parts, scales, &state, blocks)?,
        _ => parts.numbers(Role::Scales, scales, blocks)?,
    };
    let codes = Matrix::coded(codes, Encoding::HIGH_FIRST, items, &|code| values[code]);
    let scales = SharedNumbers { matrix: scales, groups: groups(1, 1, side).into() };
    matrix_of(shape, Order::C, (1, items), codes, scales)
}

/// Scales that are quantised in blocks themselves.
fn nested(parts: &WeightParts<'_>, codes: Source, state: &Value, blocks: usize) -> Result<Matrix> {
    let name = parts.name(Role::State);
    let side = count(state, "nested_blocksize", &name)?;
    let offset = state["nested_offset"].as_f64().with_context(|| format!("{name} states no nested_offset"))?;
    let values = codebook(parts, Role::NestedBook, 256)?;
    let scales = parts.required(Role::NestedScales)?;
    let expected = blocks.div_ceil(side);
    parts.expect_items(Role::NestedScales, &scales, expected)?;
    let codes = Matrix::coded(codes, Encoding::BYTES, blocks, &|code| values[code]);
    let matrix = parts.numbers(Role::NestedScales, scales, expected)?;
    let scales = SharedNumbers { matrix, groups: groups(1, 1, side).into() };
    let mut weight = matrix_of(vec![blocks], Order::C, (1, blocks), codes, scales)?;
    let offset = Matrix::constant(offset as f32)?;
    weight.items.biases = Some(SharedNumbers { matrix: offset, groups: groups(1, 1, blocks).into() });
    let Weight { meta, items } = weight;
    Ok(Matrix::new(
        Source::stored(meta, Arc::new(ByUnits(items)), 0, parts.name(Role::Scales))?,
        Encoding::Float32,
        blocks,
    ))
}

/// 1 / 127 as bitsandbytes has it.
const PER_CODE: f32 = 0.007_874_016;

/// A scale for each row, the largest magnitude in it.
pub(crate) fn bitsandbytes_int8(parts: &WeightParts<'_>, numbers: &PartNumbers) -> Result<Weight> {
    if let Some(format) = parts.counts(Role::State)?.filter(|format| *format != [0]) {
        return Err(unsupported(format!("{} is {format:?}: codes in tiles are not read", parts.name(Role::State))));
    }
    let (_, before, rows, _) = parts.codes()?;
    parts.expect_shape(Role::Scales, parts.required(Role::Scales)?.shape(), &[&*before, &[rows]].concat())?;
    let mut weight = scaled(parts, numbers)?;
    let QuantizedItems { rows, cols, .. } = weight.items;
    let groups = groups(rows, rows, cols).into();
    weight.items.factors = Some(SharedNumbers { matrix: Matrix::constant(PER_CODE)?, groups });
    Ok(weight)
}

/// The supported formats of ComfyUI and types of torchao.
pub(crate) const FORMATS: &[&str] = &[
    "float8_e4m3fn",
    "float8_e5m2",
    "int8_tensorwise",
    "mxfp8",
    "nvfp4",
    "Float8Tensor",
    "Int8Tensor",
    "IntxUnpackedToInt8Tensor",
];

/// A layer by its description in ComfyUI's form. A layer without a description has float8 codes and a scale.
pub(crate) fn comfy(parts: &WeightParts<'_>, numbers: &PartNumbers) -> Result<Weight> {
    let described = parts.json(Role::State)?;
    let own = described.as_ref().and_then(|described| described["format"].as_str());
    let format = own.or(numbers.mode.as_deref());
    let is_rotated = described.as_ref().is_some_and(|described| described["convrot"] == Value::Bool(true));
    let float8 = [FLOAT8[0].clone(), Kind::Narrow(Narrow::Float8E5M2)];
    let dtypes = match format {
        Some(format) if is_rotated => {
            return Err(unsupported(format!("the format {format} with convrot of ComfyUI is not read")));
        }
        None => &float8[..],
        Some("float8_e4m3fn" | "mxfp8") => &float8[..1],
        Some("float8_e5m2") => &float8[1..],
        Some("int8_tensorwise") => &[Kind::Int8],
        Some("nvfp4") => &[Kind::UInt8],
        Some(format) => return Err(unsupported(format!("the format {format:?} of ComfyUI is not read"))),
    };
    parts.expect_dtype(Role::Codes, parts.required(Role::Codes)?.dtype(), dtypes)?;
    let group = match format {
        Some("nvfp4") => 16,
        Some("mxfp8") => 32,
        _ => return scaled(parts, numbers),
    };
    let (codes, before, rows, bytes) = parts.codes()?;
    ensure!(before.is_empty(), "{} has more than two axes", parts.name(Role::Codes));
    let is_float4 = group == 16;
    let cols = if is_float4 { bytes * 2 } else { bytes };
    parts.expect_groups(cols, group)?;
    let (per_row, scales) = (cols / group, parts.required(Role::Scales)?);
    // tiles have 128 rows and 4 columns
    parts.expect_items(Role::Scales, &scales, rows.div_ceil(128) * per_row.div_ceil(4) * 512)?;
    let scale = if is_float4 { Narrow::Float8E4M3FN } else { Narrow::Float8E8M0FNU };
    parts.expect_dtype(Role::Scales, scales.dtype(), &[Kind::Narrow(scale), Kind::UInt8])?;
    let scales = Matrix::coded(scales, Encoding::Tiles, per_row, &|code| scale.value(code as u8) as f32);
    let scales = SharedNumbers { matrix: scales, groups: groups(rows, 1, group).into() };
    let codes = if is_float4 {
        float4_codes(codes, Encoding::HIGH_FIRST, cols)
    } else {
        Matrix::new(codes, Encoding::BYTES, cols)
    };
    let mut weight = matrix_of(vec![rows, cols], Order::C, (rows, cols), codes, scales)?;
    if is_float4 {
        weight.items.whole_scale = WholeScale::Times(parts.whole(Role::Whole)?);
    }
    Ok(weight)
}

/// A packing of HQQ: the bits of a code, the planes of a word and its bytes.
const PACKINGS: &[(&str, usize, usize, usize)] =
    &[("8bit_u8", 8, 1, 1), ("4bit_u8", 4, 2, 1), ("3bit_32", 3, 10, 4), ("2bit_u8", 2, 4, 1), ("1bit_u8", 1, 8, 1)];

/// Codes in planes of the rows of a matrix whose groups are rows (axis 1) or columns (axis 0).
pub(crate) fn hqq(parts: &WeightParts<'_>, _: &PartNumbers) -> Result<Weight> {
    let number = |role| {
        let counts = parts.counts(role)?.with_context(|| parts.missing(role))?;
        counts
            .first()
            .copied()
            .filter(|_| counts.len() == 1)
            .with_context(|| format!("{} is {counts:?}", parts.name(role)))
    };
    let shape = parts.counts(Role::Shape)?.with_context(|| parts.missing(Role::Shape))?;
    let items = items_of(&shape)?;
    let (axis, bits) = (number(Role::Axis)?, number(Role::Bits)?);
    let packing = parts.text(Role::Packing)?.with_context(|| parts.missing(Role::Packing))?;
    let known = PACKINGS.iter().find(|(name, own, ..)| *name == packing && *own == bits);
    let Some(&(_, bits, planes, word)) = known else {
        return Err(unsupported(format!(
            "{} is {packing:?} of {bits} bits, which is not read",
            parts.name(Role::Packing)
        )));
    };
    let side = number(Role::GroupSize)?;
    ensure!(axis < 2, "{} is {axis}, expected 0 or 1", parts.name(Role::Axis));
    ensure!(side > 0 && items.is_multiple_of(side), "{items} items of {shape:?} are not in groups of {side}");
    let (rows, cols) = if axis == 1 { (items / side, side) } else { (side, items / side) };
    let codes = parts.required(Role::Codes)?;
    let dtype = if word == 1 { Kind::UInt8 } else { Kind::Int32 };
    parts.expect_dtype(Role::Codes, codes.dtype(), &[dtype])?;
    let stored = rows.div_ceil(planes);
    parts.expect_shape(Role::Codes, codes.shape(), &[stored, cols])?;
    // rows that are groups are side by side, so that a plane is a row
    let (rows, cols, stored, (high, wide)) =
        if axis == 1 { (planes, stored * cols, 1, (1, side)) } else { (rows, cols, stored, (rows, 1)) };
    let planes = CodePlanes { rows: stored.max(1), bits, planes, word, high_first: true };
    let shared = |role| -> Result<_> {
        let source = parts.required(role)?;
        parts.expect_items(role, &source, items / side)?;
        let matrix = parts.numbers(role, source, cols.div_ceil(wide))?;
        Ok(SharedNumbers { matrix, groups: groups(rows, high, wide).into() })
    };
    let (zeros, scales) = (shared(Role::Zeros)?, shared(Role::Scales)?);
    let codes = Matrix::new(codes, Encoding::Planes(planes), cols);
    let mut weight = matrix_of(shape, Order::C, (rows, cols), codes, scales)?;
    weight.items.zeros = Some(zeros);
    Ok(weight)
}

/// A tensor of torchao: its codes less their zero points times scales, for blocks that its type states.
pub(crate) fn torchao(parts: &WeightParts<'_>, numbers: &PartNumbers) -> Result<Weight> {
    let codes = parts.required(Role::Codes)?;
    parts.expect_dtype(Role::Codes, codes.dtype(), parts.names.dtypes)?;
    let shape = codes.shape().to_vec();
    let sides = numbers.sides.as_ref().filter(|sides| sides.len() == shape.len());
    let sides = sides.ok_or_else(|| parts.untold("a block_size for each axis"))?;
    let blocks: Vec<usize> = shape.iter().zip(sides).map(|(len, side)| len.div_ceil(*side)).collect();
    let spread = spread(&shape, sides).with_context(|| format!("blocks of {sides:?} are not read"))?;
    let counted: usize = blocks.iter().product();
    let (rows, cols) = (spread.rows, spread.cols);
    let shared = |role, source: Source| {
        let (found, name) = (source.meta().items(), parts.name(role));
        ensure!(found == counted, "{name} has {found} items, expected {counted} of {blocks:?}");
        let matrix = parts.numbers(role, source, spread.groups.in_row(cols))?;
        Ok(SharedNumbers { matrix, groups: Arc::clone(&spread.groups) })
    };
    let scales = shared(Role::Scales, parts.required(Role::Scales)?)?;
    let zeros = parts.optional(Role::Zeros)?.map(|zeros| shared(Role::Zeros, zeros)).transpose()?;
    let codes = parts.numbers(Role::Codes, codes, cols)?;
    let mut weight = matrix_of(shape, Order::C, (rows, cols), codes, scales)?;
    weight.items.zeros = zeros;
    Ok(weight)
}

/// Codes of 2 bits in four planes of rows, less 1, divided by one number.
pub(crate) fn bitnet(parts: &WeightParts<'_>, _: &PartNumbers) -> Result<Weight> {
    const PLANES: usize = 4;
    let (codes, before, stored, cols) = parts.codes()?;
    ensure!(before.is_empty(), "{} has more than two axes", parts.name(Role::Codes));
    let rows = stored.saturating_mul(PLANES);
    let planes = CodePlanes { rows: stored.max(1), bits: 2, planes: PLANES, word: 1, high_first: false };
    let codes = Matrix::new(codes, Encoding::Planes(planes), cols);
    let one = SharedNumbers { matrix: Matrix::constant(1.0)?, groups: groups(rows, rows, cols).into() };
    let mut weight = plain(vec![rows, cols], Order::C, codes, one)?;
    weight.items.zero = 1.0;
    weight.items.whole_scale = WholeScale::DividedBy(parts.whole(Role::Scales)?);
    Ok(weight)
}

/// Codes of 8 bits, or of 2 or 4 with half of their range added, and scales for equal parts of each row.
pub(crate) fn gemma(parts: &WeightParts<'_>, numbers: &PartNumbers) -> Result<Weight> {
    let (codes, before, rows, bytes) = parts.codes()?;
    let is_signed = *codes.dtype().kind() == Kind::Int8;
    let bits = if is_signed { 8 } else { parts.bits(numbers)? };
    ensure!(is_signed || matches!(bits, 2 | 4), "{} states {bits} bits, expected 2 or 4 of uint8", parts.config);
    let (cols, scales) = (bytes.saturating_mul(8 / bits), parts.required(Role::Scales)?);
    let across = scales.shape().last().copied().unwrap_or(1).max(1);
    parts.expect_shape(Role::Scales, scales.shape(), &shape_of(&before, rows, across))?;
    ensure!(cols.is_multiple_of(across), "{} has {across} columns for {cols} items a row", parts.name(Role::Scales));
    let packing = Encoding::Codes(CodeBytes { bits, high_first: false });
    let codes = Matrix::new(codes, if is_signed { Encoding::Int8 } else { packing }, cols);
    let matrix = parts.numbers(Role::Scales, scales, across)?;
    let scales = SharedNumbers { matrix, groups: groups(rows, 1, cols / across).into() };
    let mut weight = plain(shape_of(&before, rows, cols), Order::C, codes, scales)?;
    weight.items.zero = if is_signed { 0.0 } else { f32::from(1_u16 << (bits - 1)) };
    Ok(weight)
}

/// Signed codes of 4 bits, of two rows a byte.
pub(crate) fn int4_columns(parts: &WeightParts<'_>, numbers: &PartNumbers) -> Result<Weight> {
    let (codes, before, bytes, cols) = parts.codes()?;
    let (rows, scales) = (bytes * 2, parts.required(Role::Scales)?);
    let groups = groups_of_scales(parts, scales.shape(), (&before, rows, cols), numbers)?;
    let codes = Matrix::coded(codes, Encoding::CodeColumns, cols, &|code| Narrow::Int4.value(code as u8) as f32);
    let matrix = parts.numbers(Role::Scales, scales, cols.div_ceil(groups.cols))?;
    let scales = SharedNumbers { matrix, groups: groups.into() };
    columns(parts, plain(shape_of(&before, rows, cols), Order::C, codes, scales)?)
}

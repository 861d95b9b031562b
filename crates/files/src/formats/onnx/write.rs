//! Writes TensorProtos, byte for byte like ONNX's Python package.

use prost::encoding::{self, WireType, encode_key, encode_varint};

use super::message::MAX_MESSAGE;
use super::proto::too_large;
use super::types::{STRING, data_type};
use super::wire::field;
use crate::narrow::packed::bytes_of_items;
use tensorop_kernels::error::{Advice, Error, Result, Subject, ensure, malformed};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::encoding::{code_points, unpadded};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::layout::shape::{MAX_RANK, bytes_of, coordinates};
use tensorop_kernels::memory;

/// Checks that ONNX has a data type.
///
/// # Errors
/// ONNX lacks dates, void, structured, long double, float8_e3m4, float8_e4m3 and float8_e4m3b11fnuz.
pub fn check(dtype: &DType) -> Result<(), Error> {
    if data_type(dtype).is_some() {
        return Ok(());
    }
    let message = format!("ONNX cannot hold items of dtype {}", dtype.name());
    Err(dtype.advise(Error::new(Subject::Output, message).advising(Advice::WriteNpy)))
}

/// Returns everything before the items, like `onnx.numpy_helper.from_array`.
///
/// # Errors
/// Strings, an unsupported dtype, more than [`MAX_RANK`] axes, or 2 GiB, protobuf's limit.
pub fn write_header(meta: &Meta, name: &str) -> Result<Vec<u8>> {
    let Meta { dtype, shape, .. } = meta;
    let mut out = begin(dtype, shape)?;
    ensure!(data_type(dtype) != Some(STRING), "strings have no raw_data");
    put_name(name, &mut out);
    ensure!(meta.is_addressable(), "{}", too_large(shape));
    let bytes = bytes_of_items(dtype, meta.items());
    encode_key(field::RAW_DATA, WireType::LengthDelimited, &mut out);
    encode_varint(bytes, &mut out);
    within_limit(bytes + out.len() as u64)?;
    Ok(out)
}

/// Returns a TensorProto of strings, without trailing NULs.
///
/// # Errors
/// Items are not strings or not UTF-8, the shape has another number of items, more than [`MAX_RANK`] axes, or 2 GiB,
/// protobuf's limit.
pub fn write_strings(shape: &[usize], name: &str, tensor: &Tensor) -> Result<Vec<u8>> {
    let dtype = tensor.dtype();
    ensure!(data_type(dtype) == Some(STRING), "items of dtype {}, expected strings", dtype.name());
    let mut out = begin(dtype, shape)?;
    let items = tensor.items();
    ensure!(bytes_of(shape, 1) == Some(items), "{items} items, expected those of shape {shape:?}");
    let size = dtype.itemsize();
    for n in 0..items {
        let item = &tensor.bytes()[n * size..][..size];
        let text = match dtype.kind() {
            Kind::Bytes(_) => str::from_utf8(unpadded(item, 1)).map(str::to_owned).map_err(|error| error.to_string()),
            _ => code_points(item, dtype.is_big_endian())
                .map(|code| char::from_u32(code).ok_or_else(|| format!("U+{code:04X} has no UTF-8")))
                .collect(),
        };
        let text = text.map_err(|why| malformed!("the string at {:?}: {why}", coordinates(n, shape)))?;
        memory::reserve(&mut out, text.len() + 16)?;
        encoding::string::encode(field::STRING_DATA, &text, &mut out);
        within_limit(out.len() as u64)?;
    }
    put_name(name, &mut out);
    within_limit(out.len() as u64)?;
    Ok(out)
}

fn begin(dtype: &DType, shape: &[usize]) -> Result<Vec<u8>> {
    check(dtype).map_err(Error::about_file)?;
    ensure!(shape.len() <= MAX_RANK, "{} axes, expected at most {MAX_RANK}", shape.len());
    let mut out = Vec::new();
    for dim in shape {
        encoding::uint64::encode(field::DIMS, &(*dim as u64), &mut out);
    }
    let number = data_type(dtype).expect("`check` refuses dtypes without a data type");
    encoding::int32::encode(field::DATA_TYPE, &number, &mut out);
    Ok(out)
}

fn put_name(name: &str, out: &mut Vec<u8>) {
    if !name.is_empty() {
        encoding::string::encode(field::NAME, &name.to_owned(), out);
    }
}

fn within_limit(bytes: u64) -> Result<()> {
    ensure!(bytes <= MAX_MESSAGE, "{bytes} bytes, expected at most {MAX_MESSAGE}, protobuf's limit");
    Ok(())
}

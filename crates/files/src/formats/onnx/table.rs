//! ONNX in the table of formats: recognising models and tensors, reading one tensor, and writing.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use prost::encoding::{self, WireType, encode_key, encode_varint};

use super::external::EXTERNAL;
use super::message::MAX_MESSAGE;
use super::proto::{Proto, too_large};
use super::types::{DataType, STRING, data_type};
use super::wire::{Fields, Varints, WireField, field};
use crate::container::content::{Content, Description};
use crate::container::file_options::LayoutRequest;
use crate::container::interface::{
    Confidence, ItemsPlace, Layout, Members, Places, ReadableFile, Reader, ReadsBack, TextOptions, WholeTensor,
    WriteWhole, Writer,
};
use crate::narrow::packed::bytes_of_items;
use crate::storage::read_at::ReadAt;
use crate::storage::source::Source;
use tensorop_kernels::error::{Advice, Error, Result, Subject, bail, ensure, malformed};
use tensorop_kernels::item::dtype::{DType, Kind};
use tensorop_kernels::item::encoding::{code_points, unpadded};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::item::tensor::Tensor;
use tensorop_kernels::layout::axis::{MAX_RANK, bytes_of, coordinates};
use tensorop_kernels::memory;

pub(crate) fn open(content: Content) -> Result<ReadableFile> {
    let (file, folder) = content.into_bytes()?;
    let proto = Proto::read(&*file)?;
    let own_name = Some(proto.name.clone()).filter(|name| !name.is_empty());
    let members = Members { own_name, ..Members::default() };
    Ok(ReadableFile::new(members, OnnxReader { file, proto, folder }))
}

#[derive(Debug)]
struct OnnxReader {
    file: Arc<dyn ReadAt>,
    proto: Proto,
    folder: Option<PathBuf>,
}

impl Reader for OnnxReader {
    fn describe(&self, _: usize) -> Result<Description> {
        let Proto { meta, bytes, offset, .. } = &self.proto;
        Ok(Description::new(meta.clone(), *bytes, *offset))
    }

    fn source(&self, _: usize, label: String) -> Result<Source> {
        self.proto.source(&self.file, self.folder.as_deref(), label)
    }
}

/// Strings vary in length and are written front to back.
#[derive(Debug)]
pub(crate) struct OnnxWriter;

impl Writer for OnnxWriter {
    fn check(&self, dtype: &DType) -> Result<()> {
        check(dtype)
    }

    fn reads_back(&self, meta: &Meta) -> ReadsBack {
        match meta.dtype.kind() {
            Kind::Str(_) | Kind::Bytes(_) => ReadsBack::ByItems,
            _ => ReadsBack::Same,
        }
    }

    fn layout(&self, tensors: &[(&str, &Meta)], _: &LayoutRequest<'_>) -> Result<Layout> {
        let [(name, meta)] = tensors else { bail!("{} tensors, and a TensorProto is one", tensors.len()) };
        if matches!(meta.dtype.kind(), Kind::Str(_) | Kind::Bytes(_)) {
            return Ok(Layout::Whole(&Self));
        }
        let header = write_header(meta, name)?;
        let place = ItemsPlace::packed(header.len() as u64, meta);
        Ok(Layout::Places(Places::new(header, vec![place])))
    }
}

impl WriteWhole for OnnxWriter {
    fn write_whole(&self, out: &mut dyn Write, tensor: WholeTensor<'_>, _: &TextOptions) -> Result<()> {
        Ok(out.write_all(&write_strings(tensor.shape, tensor.name, tensor.items)?)?)
    }
}

/// All visible fields must be valid in a TensorProto. An unknown data type suggests a later version of ONNX.
///
/// Text cannot match: the key of the data type is a control character that JSON forbids and other texts do not use.
pub(crate) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    const MAX_LATER: u64 = 127;
    let (mut fields, mut sure, mut dims) = (Fields(begin), Confidence::No, 0);
    for (field, value) in &mut fields {
        let fits = field.fits() == Some(true)
            && match field.number {
                field::DATA_TYPE => {
                    let is_known = |number| number == STRING || DataType::numbered(number).is_some();
                    sure = if i32::try_from(field.varint).is_ok_and(is_known) {
                        Confidence::Certain
                    } else {
                        Confidence::Likely
                    };
                    field.varint <= MAX_LATER
                }
                field::DATA_LOCATION => field.varint <= EXTERNAL as u64,
                field::DIMS => Varints(value).all(|dim| {
                    dims += 1;
                    dim.is_ok() && dims <= MAX_RANK
                }),
                field::NAME | field::DOC_STRING => std::str::from_utf8(value).is_ok(),
                field::FLOAT_DATA | field::DOUBLE_DATA => field.items(value).is_ok(),
                _ => true,
            };
        if !fits {
            return Confidence::No;
        }
    }
    // the last field may be cut off
    let rest = fields.0;
    let is_cut = WireField::read(rest).map_or_else(|_| WireField::is_cut(rest), |field| field.fits() == Some(true));
    if rest.is_empty() || is_cut { sure } else { Confidence::No }
}

/// Whether a file is certainly a TensorProto.
pub fn looks_like_onnx(begin: &[u8]) -> bool {
    sure(begin, None) == Confidence::Certain
}

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
    // the field and the length of each string
    within_limit((items as u64).saturating_mul(2))?;
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

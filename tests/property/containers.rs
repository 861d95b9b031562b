//! What must hold of any bytes taken for a file of whatever format: refused in one line, or tensors that are as they
//! are described, compare equal to themselves, and read back from what is written of them.

use std::io::{Cursor, Write};

use tensorop::diff::{self, Options};
use tensorop::internal::formats::{npy, npz, onnx, safetensors};
use tensorop::internal::info;
use tensorop::internal::narrow::packed;
use tensorop::internal::opening::input::{Input, OpenOptions};
use tensorop::internal::opening::located::Located;
use tensorop::internal::opening::table::Format;
use tensorop::internal::operators::fill::Limits;
use tensorop::internal::plans::scan::scan_in_order;
use tensorop::internal::storage::platform::write_at;
use tensorop::internal::storage::source::Source;
use tensorop::item::dtype::Kind;
use tensorop::item::meta::Meta;
use tensorop::layout::axis::{MAX_RANK, bytes_of};
use tensorop::{DType, Tensor};

use crate::checks::is_one_line;

/// More bytes than this are described but not read: a small file may hold much, deflated.
const MUCH: usize = 1 << 20;
/// Members after these are not read.
const MEMBERS: usize = 8;

/// What a reader says, which is one line.
fn refused<T>(result: tensorop::error::Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            is_one_line(&format!("{error}"));
            None
        }
    }
}

fn stream(bytes: &[u8], from: Option<Format>) -> tensorop::error::Result<Input> {
    let options = OpenOptions { format: from, ..OpenOptions::new("FILE") };
    options.open_stream(Box::new(Cursor::new(bytes.to_vec())))
}

/// All items in C order, little-endian.
fn read_all(source: &mut Source) -> tensorop::error::Result<Vec<u8>> {
    let mut all = Vec::new();
    scan_in_order(source, Limits::default(), &|_| {}, &mut |items| {
        all.extend_from_slice(items);
        Ok(())
    })?;
    Ok(all)
}

/// Whatever the bytes are, or are said to be.
pub(crate) fn any(bytes: &[u8], from: Option<Format>) -> Vec<(String, Tensor)> {
    opened(stream(bytes, from))
}

fn opened(input: tensorop::error::Result<Input>) -> Vec<(String, Tensor)> {
    let Some(input) = refused(input) else { return Vec::new() };
    let names = input.names().map(<[String]>::to_vec);
    let count = names.as_ref().map_or(1, Vec::len);
    if count == 0 {
        assert!(refused(input.pick(None)).is_none());
    }
    refused(input.pick(Some("nothing of this name")));
    let mut tensors = Vec::new();
    for n in 0..count.min(MEMBERS) {
        let name = names.as_ref().and_then(|names| names.get(n)).cloned();
        if let Some(name) = &name {
            assert!(matches!(input.pick(Some(name)), Ok(found) if found == n), "{name:?} is found as another");
        }
        let Some(described) = refused(input.describe(n)) else { continue };
        let Meta { dtype, shape, .. } = described.meta.clone();
        assert!(shape.len() <= MAX_RANK && bytes_of(&shape, dtype.itemsize()).is_some(), "{shape:?}");
        let Some(mut source) = refused(input.source(n)) else { continue };
        assert_eq!((source.dtype(), source.shape()), (&dtype, &shape[..]));
        assert_eq!(bytes_of(&shape, dtype.itemsize()), Some(source.bytes()));
        if source.bytes() > MUCH || dtype.itemsize() > MUCH {
            continue;
        }
        let Some(items) = refused(read_all(&mut source)) else { continue };
        assert_eq!(items.len(), source.bytes(), "of {described:?}");
        let tensor = Tensor::new(dtype.native(), shape, items).expect("a shape of such items");
        itself(&tensor);
        tensors.push((name.unwrap_or_default(), tensor));
    }
    tensors
}

/// A tensor has statistics and is equal to itself.
fn itself(tensor: &Tensor) {
    let source = || Source::memory(tensor.clone(), "FILE".to_owned());
    let stats = info::stats(&mut source(), true, Limits::default(), &|_| {}).expect("statistics of what is in memory");
    let inside = |index: &[usize]| index.iter().zip(tensor.shape()).all(|(at, dim)| at < dim);
    if let Some(stats) = stats {
        let extremes = [&stats.min, &stats.max].into_iter().flatten().map(|(_, index)| index);
        let mut indices = extremes.chain(&stats.first_nan);
        assert!(indices.all(|index| index.len() == tensor.shape().len() && inside(index)));
        assert!(stats.nan + stats.inf + stats.zero <= tensor.items() as u64);
        assert_eq!((stats.nan > 0, stats.min.is_some()), (stats.first_nan.is_some(), !stats.quantiles.is_empty()));
    }
    let hash = info::hash(&mut source(), Limits::default(), &|_| {}).expect("a hash of what is in memory");
    assert_eq!(hash.len(), 64);
    let found = diff::compare(tensor, tensor, &Options::default()).expect("a comparison");
    assert!(found.equal() && found.differing() == Some(0), "{}", found.verdict());
}

fn same(found: &[(String, Tensor)], expected: &[(String, Tensor)]) {
    let by_name = |tensors: &[(String, Tensor)]| {
        let mut tensors = tensors.to_vec();
        tensors.sort_by(|a, b| a.0.cmp(&b.0));
        tensors
    };
    assert!(by_name(found) == by_name(expected), "{found:?}, expected {expected:?}");
}

/// An `.npz` that holds the tensors.
pub(crate) fn write_npz(tensors: &[(String, Tensor)]) -> Option<Vec<u8>> {
    let header = |tensor: &Tensor| npy::write_header(tensor.meta());
    let of = |(name, tensor): &(String, Tensor)| (name.clone(), header(tensor), tensor.bytes().len() as u64);
    let writer = refused(npz::ArchiveWriter::new(tensors.iter().map(of).collect()))?;
    let mut file = tempfile::tempfile().expect("a temporary file");
    let sums = npz::WrittenSums::default();
    for (n, (_, tensor)) in tensors.iter().enumerate() {
        write_at(&file, tensor.bytes(), writer.items_at(n)).expect("written");
        sums.add(tensor.bytes(), writer.items_at(n));
    }
    writer.finish(&file, &sums).expect("finished");
    let mut bytes = Vec::new();
    std::io::Seek::rewind(&mut file).expect("the beginning");
    std::io::Read::read_to_end(&mut file, &mut bytes).expect("read");
    assert_eq!(bytes.len() as u64, writer.len());
    Some(bytes)
}

/// Items as the formats that pack those of fewer than 8 bits have them.
fn packed(dtype: &DType, items: &[u8]) -> Vec<u8> {
    let Kind::Narrow(narrow) = dtype.kind() else { return items.to_vec() };
    if narrow.bits() == 8 {
        return items.to_vec();
    }
    let (mut packer, mut out) = (packed::Packer::new(narrow.bits()), Vec::new());
    packer.push(items, &mut out);
    packer.finish(&mut out);
    out
}

/// A `.safetensors` file that holds the tensors, if it can.
pub(crate) fn write_safetensors(tensors: &[(String, Tensor)]) -> Option<Vec<u8>> {
    let of = |(name, tensor): &(String, Tensor)| (name.clone(), tensor.meta().clone());
    let (mut file, offsets) =
        refused(safetensors::write_header(&tensors.iter().map(of).collect::<Vec<_>>(), &Default::default()))?;
    let mut parts: Vec<_> = offsets.into_iter().zip(tensors).collect();
    parts.sort_by_key(|(offset, (_, tensor))| (*offset, tensor.bytes().len()));
    for (offset, (_, tensor)) in parts {
        assert_eq!(offset, file.len() as u64);
        file.write_all(&packed(tensor.dtype(), tensor.bytes())).expect("into memory");
    }
    Some(file)
}

/// A TensorProto that holds a tensor, if it can.
pub(crate) fn write_onnx(name: &str, tensor: &Tensor) -> Option<Vec<u8>> {
    if matches!(tensor.dtype().kind(), Kind::Str(_) | Kind::Bytes(_)) {
        return refused(onnx::write_strings(tensor.shape(), name, tensor));
    }
    let mut file = refused(onnx::write_header(tensor.meta(), name))?;
    file.extend(packed(tensor.dtype(), tensor.bytes()));
    Some(file)
}

/// A NumPy archive as it is, and with checksums that are right.
pub(crate) fn npz(bytes: &[u8]) {
    for bytes in [bytes.to_vec(), repaired(bytes)] {
        let tensors = any(&bytes, Some(Format::NPZ));
        // a name may be too much for the writer, which puts an ending to it
        if let Some(again) = write_npz(&tensors).filter(|_| !tensors.is_empty()) {
            same(&any(&again, Some(Format::NPZ)), &tensors);
        }
    }
}

/// A `.safetensors` file as it is, and with the length that its header has.
pub(crate) fn safetensors(bytes: &[u8]) {
    let header = bytes.get(8..).and_then(|rest| rest.iter().rposition(|byte| *byte == b'}'));
    let mut mended = bytes.to_vec();
    if let (Some(end), Some(length)) = (header, mended.first_chunk_mut::<8>()) {
        *length = (end as u64 + 1).to_le_bytes();
    }
    for bytes in [bytes, &mended] {
        let tensors = any(bytes, Some(Format::SAFETENSORS));
        if let Some(again) = write_safetensors(&tensors) {
            same(&any(&again, None), &tensors);
        }
    }
}

/// A PyTorch file, of either form.
pub(crate) fn pytorch(bytes: &[u8]) {
    let tensors = any(bytes, Format::named("pytorch"));
    if let Some(again) = write_npz(&tensors).filter(|_| !tensors.is_empty()) {
        same(&any(&again, Some(Format::NPZ)), &tensors);
    }
}

/// A TensorProto.
pub(crate) fn onnx(bytes: &[u8]) {
    for (_, tensor) in any(bytes, Some(Format::ONNX)) {
        let again = write_onnx("name", &tensor).unwrap_or_else(|| panic!("{tensor:?} was read and is not written"));
        // strings become as narrow as they are
        same(&any(&again, None), &[(String::new(), tensor)]);
    }
}

/// A GGUF model, which is not written.
pub(crate) fn gguf(bytes: &[u8]) {
    any(bytes, Format::named("gguf"));
}

/// An ONNX model as a file beside `m.bin`, and as a stream, which has no external data.
pub(crate) fn onnx_model(bytes: &[u8]) {
    let tensors = beside_bin("m.onnx", bytes);
    let of_stream = any(bytes, Format::named("onnx-model"));
    assert!(of_stream.iter().all(|tensor| tensors.contains(tensor)), "{of_stream:?}, of a file {tensors:?}");
}

/// OpenVINO IR, the `.xml` beside `m.bin`.
pub(crate) fn openvino(bytes: &[u8]) {
    beside_bin("m.xml", bytes);
}

/// The tensors of a model whose items may be in `m.bin`.
pub(crate) fn beside_bin(name: &str, bytes: &[u8]) -> Vec<(String, Tensor)> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).expect("written");
    let items: Vec<u8> = (0..1_u32 << 14).map(|i| (i * 37) as u8 & 0x7f).collect();
    std::fs::write(folder.path().join("m.bin"), items).expect("written");
    opened(OpenOptions::new("FILE").open(&Located::from_path(&path)))
}

/// Bytes of which nothing is said.
pub(crate) fn open(bytes: &[u8]) {
    any(bytes, None);
}

/// An archive in which the checksums of stored members are what they should be, as far as it is one.
fn repaired(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let number = |at: usize, len: usize| -> Option<usize> {
        let field = bytes.get(at..at.checked_add(len)?)?;
        Some(field.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    let records = bytes.windows(4).enumerate().filter(|(_, window)| window == b"PK\x01\x02").map(|(at, _)| at);
    for record in records {
        let repair = || {
            let (stored, local) = (number(record + 20, 4)?, number(record + 42, 4)?);
            let data = local.checked_add(30 + number(local + 26, 2)? + number(local + 28, 2)?)?;
            let mut crc = flate2::Crc::new();
            match number(record + 10, 2)? {
                0 => crc.update(bytes.get(data..data.checked_add(stored)?)?),
                8 => {
                    let packed = bytes.get(data..data.checked_add(stored)?)?;
                    let mut content = Vec::new();
                    let reader = flate2::bufread::DeflateDecoder::new(packed);
                    std::io::Read::read_to_end(&mut std::io::Read::take(reader, MUCH as u64), &mut content).ok()?;
                    crc.update(&content);
                }
                _ => return None,
            }
            Some((local, crc.sum().to_le_bytes()))
        };
        if let Some((local, crc)) = repair() {
            for at in [local + 14, record + 16] {
                if let Some(place) = out.get_mut(at..at + 4) {
                    place.copy_from_slice(&crc);
                }
            }
        }
    }
    out
}

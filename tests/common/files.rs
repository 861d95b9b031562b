//! Files of every format, as the library writes them or made by hand to hold what it would not write.

use std::io::{Read, Seek, Write};

use tensorop::DType;
use tensorop::internal::formats::npy::write_header;
use tensorop::internal::formats::{npz, onnx, safetensors};
use tensorop::internal::narrow::packed::Packer;
use tensorop::item::dtype::Kind;
use tensorop::item::meta::Meta;

/// Makes a `.npy` file of items in C order.
pub(crate) fn npy(descr: &str, shape: &[usize], items: &[u8]) -> Vec<u8> {
    let dtype = DType::parse(descr).expect("a dtype");
    let mut file = write_header(&Meta::c_order(dtype, shape.to_vec()));
    file.extend(items);
    file
}

/// Makes a `.npz` as the library writes it. Each member is the bytes of a `.npy`.
pub(crate) fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    // a whole `.npy` can stand for its header
    let whole = members.iter().map(|(name, npy)| ((*name).to_owned(), npy.clone(), 0)).collect();
    let mut file = tempfile::tempfile().expect("a file");
    let writer = npz::ArchiveWriter::new(whole).expect("an archive");
    writer.finish(&file, &npz::WrittenSums::default()).expect("an archive is written");
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("an archive is read");
    bytes
}

/// A member of a ZIP archive, as its records describe it, be that true or not.
#[derive(Clone)]
pub(crate) struct Zipped {
    pub name: String,
    /// 0 if the member is stored, 8 if it is deflated.
    pub method: u16,
    pub bytes: Vec<u8>,
    pub size: u32,
    pub crc: u32,
}

/// Deflates a member of a ZIP archive.
pub(crate) fn deflated(name: &str, content: &[u8]) -> Zipped {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(content).expect("deflates");
    let mut crc = flate2::Crc::new();
    crc.update(content);
    let bytes = encoder.finish().expect("deflates");
    Zipped { name: name.to_owned(), method: 8, bytes, size: content.len() as u32, crc: crc.sum() }
}

/// Stores a member of a ZIP archive as it is.
pub(crate) fn stored(name: &str, content: &[u8]) -> Zipped {
    let mut crc = flate2::Crc::new();
    crc.update(content);
    Zipped { name: name.to_owned(), method: 0, bytes: content.to_vec(), size: content.len() as u32, crc: crc.sum() }
}

/// Joins members to a ZIP archive.
pub(crate) fn zip(members: &[Zipped]) -> Vec<u8> {
    fn put(out: &mut Vec<u8>, shorts: &[u16], longs: &[u32]) {
        out.extend(shorts.iter().flat_map(|short| short.to_le_bytes()));
        out.extend(longs.iter().flat_map(|long| long.to_le_bytes()));
    }
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for Zipped { name, method, bytes, size, crc } in members {
        let at = out.len() as u32;
        let common = |out: &mut Vec<u8>| {
            put(out, &[20, 0, *method, 0, 0x21], &[*crc, bytes.len() as u32, *size]);
            put(out, &[name.len() as u16, 0], &[]);
        };
        out.extend(b"PK\x03\x04");
        common(&mut out);
        out.extend(name.as_bytes());
        out.extend(bytes);
        directory.extend(b"PK\x01\x02\x14\x00");
        common(&mut directory);
        put(&mut directory, &[0, 0, 0], &[0, at]);
        directory.extend(name.as_bytes());
    }
    let (at, count) = (out.len() as u32, members.len() as u16);
    out.extend(&directory);
    out.extend(b"PK\x05\x06");
    put(&mut out, &[0, 0, count, count], &[directory.len() as u32, at]);
    put(&mut out, &[0], &[]);
    out
}

/// A tensor with its name, as a container holds it.
#[derive(Clone)]
pub(crate) struct Member<'a> {
    pub name: &'a str,
    /// The name of the dtype.
    pub dtype: &'a str,
    pub shape: &'a [usize],
    /// The items, little-endian; each takes a byte or more.
    pub items: Vec<u8>,
}

/// A member of a container.
pub(crate) fn member<'a>(name: &'a str, dtype: &'a str, shape: &'a [usize], items: Vec<u8>) -> Member<'a> {
    Member { name, dtype, shape, items }
}

/// Packs items that take less than a byte, as safetensors and ONNX do; returns other items as they are.
pub(crate) fn packed(dtype: &DType, items: &[u8]) -> Vec<u8> {
    let Kind::Narrow(narrow) = dtype.kind() else { return items.to_vec() };
    let (mut packer, mut out) = (Packer::new(narrow.bits()), Vec::new());
    packer.push(items, &mut out);
    packer.finish(&mut out);
    out
}

/// Makes a safetensors file as the library writes it.
pub(crate) fn safetensors(members: &[Member<'_>]) -> Vec<u8> {
    let dtype = |member: &Member<'_>| DType::parse(member.dtype).expect("a dtype");
    let head = |member: &Member<'_>| (member.name.to_owned(), Meta::c_order(dtype(member), member.shape.to_vec()));
    let heads: Vec<_> = members.iter().map(head).collect();
    let (mut out, places) = safetensors::write_header(&heads, &Default::default()).expect("a header");
    for (member, place) in members.iter().zip(places) {
        let items = packed(&dtype(member), &member.items);
        out.resize(out.len().max(place as usize + items.len()), 0);
        out[place as usize..][..items.len()].copy_from_slice(&items);
    }
    out
}

/// Makes a safetensors file with any text as its header.
pub(crate) fn safetensors_with_header(header: &str, items: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), items].concat()
}

/// Makes an ONNX TensorProto as the library writes it.
pub(crate) fn pb(member: Member<'_>) -> Vec<u8> {
    let dtype = DType::parse(member.dtype).expect("a dtype");
    let meta = Meta::c_order(dtype.clone(), member.shape.to_vec());
    let mut out = onnx::write_header(&meta, member.name).expect("a header");
    out.extend(packed(&dtype, &member.items));
    out
}

/// Makes a protobuf message of fields, each with its number.
pub(crate) fn protobuf(fields: &[(u32, Field<'_>)]) -> Vec<u8> {
    use prost::encoding::{WireType, encode_key, encode_varint};
    let mut out = Vec::new();
    for (number, field) in fields {
        match field {
            Field::Number(value) => {
                encode_key(*number, WireType::Varint, &mut out);
                encode_varint(*value, &mut out);
            }
            Field::Bytes(bytes) => {
                encode_key(*number, WireType::LengthDelimited, &mut out);
                encode_varint(bytes.len() as u64, &mut out);
                out.extend_from_slice(bytes);
            }
            Field::Claims(length) => {
                encode_key(*number, WireType::LengthDelimited, &mut out);
                encode_varint(*length, &mut out);
            }
        }
    }
    out
}

/// The value of a field of a protobuf message.
pub(crate) enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// The length of bytes that do not follow.
    Claims(u64),
}

/// Makes a `.npy` file with any text as its header.
pub(crate) fn npy_with_header(header: &str, items: &[u8]) -> Vec<u8> {
    let mut file = b"\x93NUMPY\x02\x00".to_vec();
    file.extend((header.len() as u32 + 1).to_le_bytes());
    file.extend(header.as_bytes());
    file.push(b'\n');
    file.extend(items);
    file
}

/// Returns the header of a `.npy` file in the plainest form.
pub(crate) fn header(descr: &str, fortran_order: bool, shape: &[usize]) -> String {
    let dims: String = shape.iter().map(|dim| format!("{dim},")).collect();
    let order = if fortran_order { "True" } else { "False" };
    format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({dims}), }}")
}

//! Containers of every kind, made by the writers of the library, and mutants of them that stay whole enough to be
//! read far into.

use std::io::Write;

use proptest::prelude::*;
use tensorop::internal::formats::npy::write_header;
use tensorop::{DType, Tensor};

use crate::containers::{write_npz, write_onnx, write_safetensors};
use crate::mutants::{Change, changes};

fn tensor(dtype: &str, shape: &[usize]) -> Tensor {
    let dtype = DType::parse(dtype).expect("a dtype");
    let bytes = shape.iter().product::<usize>() * dtype.itemsize();
    let mask = if dtype.name() == "bool" { 1 } else { 0x7f };
    Tensor::new(dtype, shape.to_vec(), (0..bytes).map(|i| (i * 37) as u8 & mask).collect()).expect("such items")
}

fn named(tensors: &[(&str, Tensor)]) -> Vec<(String, Tensor)> {
    tensors.iter().map(|(name, tensor)| ((*name).to_owned(), tensor.clone())).collect()
}

/// Archives: one member, several of every kind, none.
pub(crate) fn npz() -> Vec<Vec<u8>> {
    let several = [
        ("a", tensor("<f4", &[2, 3])),
        ("b/c", tensor(">i2", &[3])),
        ("\u{e9}", tensor("<U2", &[1])),
        ("empty", tensor("<f8", &[0, 4])),
        ("number", tensor("|u1", &[])),
    ];
    let mut all: Vec<Vec<u8>> =
        [&several[..1], &several[..], &[]].into_iter().filter_map(|tensors| write_npz(&named(tensors))).collect();
    all.push(deflated(&named(&several)));
    all
}

/// PyTorch files of both forms, with an array, and with a pickle of protocol 0.
pub(crate) fn pytorch() -> Vec<Vec<u8>> {
    use crate::common::torch::{PRINTED, archive, array, items, pickle, stream};
    use crate::common::{stored, zip};
    let arrays = pickle(&[("a", array([1.5, 2.5])), ("b", array([0.0, -1.0]))]);
    let file = |pickle: &[u8]| zip(&[stored("x/data.pkl", pickle), stored("x/data/0", &items())]);
    vec![archive(), stream(), file(&arrays), file(PRINTED)]
}

/// Files with tensors of many dtypes, one tensor, none.
pub(crate) fn safetensors() -> Vec<Vec<u8>> {
    let several = [
        ("layer.0.weight", tensor("bfloat16", &[2, 2])),
        ("layer.0.bias", tensor("<f4", &[3])),
        ("mask", tensor("bool", &[5])),
        ("scalar", tensor("<i8", &[])),
        ("none", tensor("<f8", &[0])),
        ("small", tensor("float4_e2m1fn", &[4])),
        ("\u{e9}\"\\", tensor("<c8", &[1])),
    ];
    [&several[1..2], &several[..], &[]]
        .into_iter()
        .filter_map(|tensors| write_safetensors(&named(tensors)))
        .chain([with_header(
            br#"{"__metadata__":{"format":"pt"},"x":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}"#,
            &[1, 2],
        )])
        .collect()
}

fn with_header(header: &[u8], data: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes()[..], header, data].concat()
}

/// A model of the Python package gguf, and the parts of another, each of which has its own header.
pub(crate) fn gguf() -> Vec<Vec<u8>> {
    let parts = (1..=3).map(|n| format!("parts-0000{n}-of-00003.gguf"));
    let files: Vec<_> = [String::from("quantized.gguf")].into_iter().chain(parts).collect();
    golden("gguf", &files)
}

pub(crate) const GGUF_TOKENS: &[&str] = &[
    "\0",
    "\u{1}",
    "\u{9}",
    "\u{27}",
    "GGUF\u{2}",
    "general.alignment",
    "split.count",
    "\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}\u{7f}",
];

fn golden(folder: &str, names: &[impl AsRef<str>]) -> Vec<Vec<u8>> {
    let read = |name| std::fs::read(format!("tests/golden/{folder}/{name}")).expect("a golden file");
    names.iter().map(|name| read(name.as_ref())).collect()
}

/// Models of the Python package onnx, and one of every kind of member, whose last has its items in `m.bin`.
pub(crate) fn onnx_models() -> Vec<Vec<u8>> {
    let length = |bytes: &[u8]| [(bytes.len() & 0x7f) as u8 | 0x80, (bytes.len() >> 7) as u8];
    let field = |number: u8, value: &[u8]| [&[number << 3 | 2][..], &length(value), value].concat();
    let tensor = |name: &str| [b"\x08\x02\x10\x02", &field(8, name.as_bytes())[..], b"\x4a\x02\x05\x06"].concat();
    let node = |operator: &str, attribute: &[u8]| {
        field(1, &[field(2, b"y"), field(4, operator.as_bytes()), field(5, attribute)].concat())
    };
    let constant = node("Constant", &[field(1, b"value_ints"), field(8, b"\x01\x02\x03")].concat());
    let branch = [field(1, b"then_branch"), field(6, &field(5, &tensor("inner")))].concat();
    let sparse = field(15, &field(1, &tensor("sparse")));
    let location = field(13, &[field(1, b"location"), field(2, b"m.bin")].concat());
    let external = [b"\x08\x04\x10\x01", &field(8, b"far")[..], &location, b"\x70\x01"].concat();
    let graph = [field(5, &tensor("w")), constant, node("If", &branch), sparse, field(5, &external)].concat();
    let model = [&b"\x08\x08"[..], &field(7, &graph)].concat();
    [golden("onnx/models", &["0.onnx", "1.onnx", "2.onnx", "3.onnx", "4.onnx", "5.onnx"]), vec![model]].concat()
}

pub(crate) const MODEL_TOKENS: &[&str] = &[
    "\0",
    "\u{1}",
    "\u{7f}",
    "\n\u{1}",
    "*\u{2}\u{8}\u{1}",
    "2\u{2}:\0",
    "J\u{1}\u{1}",
    "p\u{1}",
    "Constant",
    "value_ints",
    "m.bin",
    "../m.bin",
    "offset",
    "9",
];

/// IR of OpenVINO. Its items are not those of `m.bin`, which is as long.
pub(crate) fn openvino() -> Vec<Vec<u8>> {
    golden("openvino", &["1.xml", "2.xml", "3.xml"])
}

pub(crate) const XML_TOKENS: &[&str] = &[
    "<",
    "/>",
    "\"",
    "&lt;",
    "&own;",
    "<!DOCTYPE a [<!ENTITY own \"x\">]>",
    "<![CDATA[",
    "<!--",
    "-->",
    "<body>",
    "</layer>",
    "<layer name=\"x\" type=\"Const\">",
    "18446744073709551615",
    "-1",
    ",",
    "f32",
    "u4",
    "u1",
    "element_type=\"i8\"",
];

/// Messages: raw items, packed ones, strings, typed fields, and what is only said to be elsewhere.
pub(crate) fn onnx() -> Vec<Vec<u8>> {
    let raw = [
        tensor("<f4", &[2, 3]),
        tensor("<i8", &[3, 1]),
        tensor("int4", &[3]),
        tensor("bfloat16", &[2]),
        tensor("bool", &[]),
        tensor("<f8", &[0, 2]),
    ];
    let mut all: Vec<Vec<u8>> = raw.iter().filter_map(|tensor| write_onnx("name", tensor)).collect();
    let text = Tensor::new(DType::parse("<U2").expect("a dtype"), vec![2], b"a\0\0\0b\0\0\0c\0\0\0\0\0\0\0".to_vec());
    all.extend(write_onnx("", &text.expect("a tensor")));
    // dims, data_type, then float_data, int32_data (packed and not), double_data, uint64_data
    all.push(b"\x08\x02\x10\x01\x22\x08\x00\x00\x80\x3f\x00\x00\x00\x40".to_vec());
    all.push(b"\x08\x03\x10\x03\x2a\x0c\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x07".to_vec());
    all.push(b"\x08\x02\x10\x09\x28\x01\x28\x00".to_vec());
    all.push(b"\x08\x01\x10\x0b\x52\x08\x00\x00\x00\x00\x00\x00\xf0\x3f".to_vec());
    all.push(b"\x08\x02\x10\x0c\x5a\x06\x05\xff\xff\xff\xff\x0f".to_vec());
    all.push(b"\x08\x03\x10\x16\x2a\x02\x21\x07".to_vec());
    all.push(b"\x08\x01\x10\x02\x6a\x0d\x0a\x08location\x12\x01x\x70\x01".to_vec());
    all
}

/// An archive with deflated members, as `numpy.savez_compressed` makes it.
fn deflated(tensors: &[(String, Tensor)]) -> Vec<u8> {
    let stored: Vec<Entry> = tensors.iter().map(|(name, tensor)| Entry::new(name, tensor, true)).collect();
    archive(&stored, stored.len(), 0)
}

/// A member of an archive, and what it says of itself.
#[derive(Clone, Debug)]
struct Entry {
    name: Vec<u8>,
    data: Vec<u8>,
    /// Flags, method, checksum, bytes in the archive, bytes: in the record before it and in the directory.
    local: [u64; 5],
    central: [u64; 5],
    /// What the directory adds to its place.
    shift: u64,
}

impl Entry {
    fn new(name: &str, tensor: &Tensor, deflate: bool) -> Self {
        let header = write_header(tensor.meta());
        Self::of(format!("{name}.npy").into_bytes(), [&header, tensor.bytes()].concat(), deflate)
    }

    fn of(name: Vec<u8>, content: Vec<u8>, deflate: bool) -> Self {
        let mut crc = flate2::Crc::new();
        crc.update(&content);
        let data = match deflate {
            true => {
                let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
                encoder.write_all(&content).and_then(|()| encoder.finish()).expect("into memory")
            }
            false => content.clone(),
        };
        let method = if deflate { 8 } else { 0 };
        let says = [0, method, crc.sum().into(), data.len() as u64, content.len() as u64];
        Self { name, data, local: says, central: says, shift: 0 }
    }
}

/// An archive of the members, whose end tells of `count`, `shift` bytes after where the directory is.
fn archive(entries: &[Entry], count: usize, shift: u64) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    let put = |out: &mut Vec<u8>, number: u64, bytes: usize| out.extend(&number.to_le_bytes()[..bytes]);
    let common = |out: &mut Vec<u8>, says: &[u64; 5], name: &[u8]| {
        let [flags, method, crc, stored, size] = *says;
        [20, flags, method, 0, 33].into_iter().for_each(|number| put(out, number, 2));
        [crc, stored, size].into_iter().for_each(|number| put(out, number, 4));
        [name.len() as u64, 0].into_iter().for_each(|number| put(out, number, 2));
    };
    for entry in entries {
        let at = out.len() as u64;
        out.extend(b"PK\x03\x04");
        common(&mut out, &entry.local, &entry.name);
        out.extend(&entry.name);
        out.extend(&entry.data);
        directory.extend(b"PK\x01\x02\x14\x03");
        common(&mut directory, &entry.central, &entry.name);
        put(&mut directory, 0, 6);
        put(&mut directory, 0, 4);
        put(&mut directory, at.wrapping_add(entry.shift), 4);
        directory.extend(&entry.name);
    }
    let at = (out.len() as u64).wrapping_add(shift);
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    [count as u64, count as u64].into_iter().for_each(|number| put(&mut out, number, 2));
    [directory.len() as u64, at].into_iter().for_each(|number| put(&mut out, number, 4));
    put(&mut out, 0, 2);
    out
}

/// Numbers that lie.
const LIES: [u64; 12] =
    [0, 1, 2, 7, 8, 255, 65_535, 65_536, (1 << 31) - 1, u32::MAX as u64, u32::MAX as u64 - 1, 1 << 30];

/// A lie about a number: near it, or anything.
fn lie(truth: u64, number: u16) -> u64 {
    match number % 4 {
        0 => truth.wrapping_add(1),
        1 => truth.wrapping_sub(1),
        _ => LIES[usize::from(number >> 2) % LIES.len()],
    }
}

/// An archive whose members are mutants of `.npy` files, with checksums that are right, and some lies.
pub(crate) fn lying_npz() -> impl Strategy<Value = Vec<u8>> {
    let member = (0..crate::mutants::npy().len(), changes(), any::<bool>(), any::<bool>());
    (prop::collection::vec(member, 0..4), changes(), 0..3_usize).prop_map(|(members, changes, lies)| {
        let mut entries: Vec<Entry> = members
            .iter()
            .enumerate()
            .map(|(n, (seed, changes, whole, deflate))| {
                let seed = &crate::mutants::npy()[*seed];
                let content = if *whole { seed.clone() } else { crate::mutants::npy_mutant(seed, changes) };
                Entry::of(format!("m{n}.npy").into_bytes(), content, *deflate)
            })
            .collect();
        let (mut count, mut shift) = (entries.len(), 0);
        for &(what, at, number) in changes.iter().take(lies) {
            let at = usize::from(at);
            let len = entries.len().max(1);
            match (what, entries.get_mut(at % len)) {
                (0, Some(entry)) => {
                    let said = &mut entry.central[at / len % 5];
                    *said = lie(*said, number);
                }
                (1, Some(entry)) => {
                    let said = &mut entry.local[at / len % 5];
                    *said = lie(*said, number);
                }
                (2, Some(entry)) => {
                    let which = at / len % 5;
                    let said = lie(entry.local[which], number);
                    (entry.local[which], entry.central[which]) = (said, said);
                }
                (3, Some(entry)) => entry.shift = lie(0, number),
                (4, Some(entry)) => {
                    entry.name = [b"m0.npy".to_vec(), b"\xff".to_vec(), b"a\0.npy".to_vec()][at % 3].clone()
                }
                (5, _) => count = lie(count as u64, number) as usize,
                (6, _) => shift = lie(0, number),
                _ => entries.extend_from_within(..len.min(entries.len())),
            }
        }
        archive(&entries, count, shift)
    })
}

/// A `.safetensors` file whose header is changed, and its length with it, and perhaps its data.
pub(crate) fn safetensors_mutant(seed: &[u8], changes: &[Change], whole: bool) -> Vec<u8> {
    let length = seed.first_chunk().map_or(0, |length| u64::from_le_bytes(*length)) as usize;
    let (header, data) = seed[8..].split_at(length);
    if whole {
        return crate::mutants::mutant(seed, changes, SAFETENSORS_TOKENS);
    }
    with_header(&crate::mutants::mutant(header, changes, SAFETENSORS_TOKENS), data)
}

pub(crate) const SAFETENSORS_TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\u0000",
    "0",
    "1",
    "2",
    "8",
    "18446744073709551615",
    "9223372036854775807",
    "4294967296",
    "-1",
    "1.5",
    "1e3",
    "\"dtype\":",
    "\"shape\":",
    "\"data_offsets\":",
    "\"F32\"",
    "\"F4\"",
    "\"F6_E2M3\"",
    "\"BF16\"",
    "\"U8\"",
    "\"__metadata__\":{\"a\":\"b\"},",
    "\"x\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},",
    "[4294967296,4294967296]",
    "[0,0]",
    "null",
    "{}",
    "[[[[[[[[[[",
    " ",
    "\u{e9}",
];

/// Fields of TensorProtos and parts of them.
pub(crate) const ONNX_TOKENS: &[&[u8]] = &[
    b"\x08\x00",
    b"\x08\x02",
    b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\x0a\x02\x02\x03",
    b"\x10\x01",
    b"\x10\x08",
    b"\x10\x16",
    b"\x10\x1b",
    b"\x10\x63",
    b"\x1a\x00",
    b"\x22\x04\0\0\0\0",
    b"\x25\0\0\0\0",
    b"\x28\x01",
    b"\x2a\x01\x01",
    b"\x32\x01a",
    b"\x32\x00",
    b"\x38\x07",
    b"\x3a\x01\x07",
    b"\x42\x01n",
    b"\x42\x02\xff\xfe",
    b"\x4a\x00",
    b"\x4a\x08\0\0\0\0\0\0\0\0",
    b"\x52\x00",
    b"\x58\x01",
    b"\x5a\x01\x01",
    b"\x62\x01d",
    b"\x6a\x00",
    b"\x6a\x0d\x0a\x08location\x12\x01x",
    b"\x70\x01",
    b"\x70\x02",
    b"\x82\x01\x00",
    b"\x0b",
    b"\x0c",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\xf8\xff\xff\xff\x0f\x00",
    b"\x80",
    b"\xff\xff\xff\xff\x07",
    b"\xff\xff\xff\xff\x0f",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
];

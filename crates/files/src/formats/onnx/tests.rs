use std::path::Path;
use std::sync::Arc;
use tensorop_kernels::item::meta::Meta;

use prost::encoding::{self, WireType, encode_key, encode_varint};
use tensorop_kernels::error::Result;

use super::wire::{Varints, field};
use super::{Proto, check, looks_like_onnx, message, write_header, write_strings};
use crate::storage::read_at::{MemoryBytes, ReadAt};
use crate::storage::source::{Hold, Source};
use tensorop_kernels::parallel::Threads;
use tensorop_kernels::{DType, Tensor};

#[derive(Default)]
struct Message {
    dims: Vec<i64>,
    data_type: Option<i32>,
    float_data: Vec<f32>,
    int32_data: Vec<i32>,
    string_data: Vec<Vec<u8>>,
    int64_data: Vec<i64>,
    name: String,
    double_data: Vec<f64>,
    uint64_data: Vec<u64>,
    external_data: Vec<(String, String)>,
    data_location: Option<i32>,
}

impl Message {
    fn encode_to_vec(&self) -> Vec<u8> {
        let mut out = Vec::new();
        encoding::int64::encode_packed(field::DIMS, &self.dims, &mut out);
        self.data_type.iter().for_each(|number| encoding::int32::encode(field::DATA_TYPE, number, &mut out));
        encoding::float::encode_packed(field::FLOAT_DATA, &self.float_data, &mut out);
        encoding::int32::encode_packed(field::INT32_DATA, &self.int32_data, &mut out);
        encoding::bytes::encode_repeated(field::STRING_DATA, &self.string_data, &mut out);
        encoding::int64::encode_packed(field::INT64_DATA, &self.int64_data, &mut out);
        if !self.name.is_empty() {
            encoding::string::encode(field::NAME, &self.name, &mut out);
        }
        encoding::double::encode_packed(field::DOUBLE_DATA, &self.double_data, &mut out);
        encoding::uint64::encode_packed(field::UINT64_DATA, &self.uint64_data, &mut out);
        for (key, value) in &self.external_data {
            let mut entry = Vec::new();
            encoding::string::encode(1, key, &mut entry);
            encoding::string::encode(2, value, &mut entry);
            out.extend(field_of_bytes(field::EXTERNAL_DATA, &entry));
        }
        self.data_location.iter().for_each(|number| encoding::int32::encode(field::DATA_LOCATION, number, &mut out));
        out
    }
}

fn items(mut source: Source) -> Result<Vec<u8>> {
    source.hold(Hold::Seekable, Threads::default())?;
    let mut out = vec![0; source.bytes()];
    source.read(&source.view(), &mut out, &mut Default::default())?;
    source.finish()?;
    Ok(out)
}

fn read_in(bytes: &[u8], folder: Option<&Path>) -> Result<(Proto, Vec<u8>)> {
    let bytes: Arc<dyn ReadAt> = Arc::new(MemoryBytes::new(bytes));
    let proto = Proto::read(&*bytes)?;
    let items = items(proto.source(&bytes, folder, "x".to_owned())?)?;
    Ok((proto, items))
}

fn read(bytes: &[u8]) -> Result<(Proto, Vec<u8>)> {
    read_in(bytes, None)
}

fn field_of_bytes(number: u32, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    encode_key(number, WireType::LengthDelimited, &mut out);
    encode_varint(bytes.len() as u64, &mut out);
    out.extend(bytes);
    out
}

fn raw(bytes: &[u8]) -> Vec<u8> {
    field_of_bytes(field::RAW_DATA, bytes)
}

fn begin(data_type: i32, dims: &[i64]) -> Message {
    Message { data_type: Some(data_type), dims: dims.to_vec(), ..Message::default() }
}

/// Sequences and optionals are refused by name, however small.
#[test]
fn sequences_and_optional_tensors() {
    let segment: &[u8] = &[0x1a, 4, 8, 0, 0x10, 1];
    let sequences: [&[u8]; 11] = [
        // without elements, with and without a name
        &[0x10, 1],
        &[0x10, 3],
        &[0x0a, 0, 0x10, 1],
        &[0x0a, 3, b'a', b'b', b'c', 0x10, 1],
        // an empty element, and one without items; these are not segments, which would have dims
        &[0x10, 1, 0x1a, 0],
        &[0x10, 1, 0x1a, 2, 0x10, 1],
        &[&[0x10, 1], segment].concat(),
        &[&[0x0a, 1, b's', 0x10, 1], segment].concat(),
        // the fields in another order
        &[segment, &[0x10, 1]].concat(),
        &[0x10, 1, 0x0a, 1, b's'],
        // two tensors
        &[&[0x10, 1], segment, segment].concat(),
    ];
    let rows =
        sequences.iter().map(|bytes| (bytes.to_vec(), "(a SequenceProto), or an optional one (an OptionalProto)"));
    let others: [(&[u8], &str); 4] = [
        (&[&[8, 4, 0x10, 1][..], segment].concat(), "a segment of a larger tensor"),
        (&[&[0x0a, 1, 4, 0x10, 1][..], segment].concat(), "a segment of a larger tensor"),
        (&[0x10, 6], "0 numbers in int32_data, expected 1 (INT32 [])"),
        (&[8, 1, 0x10, 1], "0 numbers in float_data, expected 1 (FLOAT [1])"),
    ];
    refused(rows.chain(others.map(|(bytes, what)| (bytes.to_vec(), what))).collect(), None);
    for empty in [&[8, 0, 0x10, 1][..], &[0x0a, 1, 0, 0x10, 1]] {
        let (proto, items) = read_in(empty, None).expect("an empty tensor");
        assert_eq!((proto.meta.shape, items), (vec![0], vec![]));
    }
}

/// A byte holds two items, the low bits first. It is the low 8 bits of a number, as in onnx.numpy_helper.
#[test]
fn packed_items_of_numbers() {
    for (data_type, dims, numbers, expected) in [
        (22, &[5][..], &[-52, 33, -1][..], &[0x0c, 0x0c, 1, 2, 0x0f][..]),
        (21, &[5], &[204, 33, 15], &[12, 12, 1, 2, 15]),
        (23, &[3], &[-52, 0x21], &[12, 12, 1]),
        (25, &[2, 3], &[-28, 0b0110], &[0, 1, 2, 3, 2, 1]),
        (26, &[4], &[228], &[0, 1, 2, 3]),
        (22, &[4], &[460, i32::MIN], &[0x0c, 0x0c, 0, 0]),
        (21, &[2], &[-308], &[0x0c, 0x0c]),
        (23, &[1], &[256 + 7], &[7]),
    ] {
        let message = Message { int32_data: numbers.to_vec(), ..begin(data_type, dims) }.encode_to_vec();
        let (_, items) = read_in(&message, None).expect("packed items");
        assert_eq!(items, expected, "{data_type} {numbers:?}");
    }
}

fn refused(rows: Vec<(Vec<u8>, &str)>, folder: Option<&Path>) {
    let mut failures = Vec::new();
    for (bytes, expected) in rows {
        let found =
            read_in(&bytes, folder).map_or_else(|error| format!("{error:#}"), |(proto, _)| format!("{proto:?}"));
        if !found.contains(expected) || found.contains('\n') {
            failures.push(format!("{found}, expected {expected}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn headers_that_are_refused() {
    let message = |message: Message| message.encode_to_vec();
    let with_raw = |message: Message, bytes: &[u8]| [message.encode_to_vec(), raw(bytes)].concat();
    let float = || begin(1, &[2]);
    let model = [[8, 10].to_vec(), field_of_bytes(2, b"maker"), field_of_bytes(7, b"graph")].concat();
    let segment = [message(float()), field_of_bytes(field::SEGMENT, &[8, 0])].concat();
    let named = |number, name: &[u8]| [message(float()), field_of_bytes(number, name), raw(&[0; 8])].concat();
    refused(
        vec![
            (Vec::new(), "an empty file, expected an ONNX TensorProto"),
            (b"{\"data\": 1}".to_vec(), "not an ONNX TensorProto at byte 0"),
            (b"plain text\n".to_vec(), "not an ONNX TensorProto at byte 2: field 12 cannot be SixtyFourBit"),
            (model, "not an ONNX TensorProto at byte 2: field 2 cannot be LengthDelimited"),
            (vec![8, 3], "no data_type: not an ONNX TensorProto"),
            (raw(&[1, 2, 3, 4]), "no data_type: not an ONNX TensorProto"),
            (message(begin(0, &[])), "an ONNX tensor of the data type 0 (UNDEFINED), expected 1 to 28"),
            (message(begin(29, &[])), "an ONNX tensor of an unknown data type 29, expected 1 to 28"),
            (message(begin(-1, &[])), "an unknown data type -1, expected"),
            (message(begin(1, &[2, -3])), "dims [2, -3]: dim 1 is negative"),
            (message(begin(1, &[1; 65])), "65 dims, expected at most 64"),
            (message(begin(1, &[1 << 40, 1 << 40])), "are larger than memory can be"),
            (message(begin(11, &[1 << 61])), "are larger than memory can be"),
            (message(begin(11, &[0, 1 << 61])), "are larger than memory can be"),
            (segment, "a segment of a larger tensor, expected a whole one"),
            (with_raw(float(), &[0; 7]), "7 bytes of data, expected 8 (float32 [2])"),
            (with_raw(float(), &[0; 9]), "9 bytes of data, expected 8 (float32 [2])"),
            (with_raw(begin(22, &[3]), &[0; 3]), "3 bytes of data, expected 2 (int4 [3])"),
            (with_raw(Message { float_data: vec![1.0], ..float() }, &[0; 8]), "raw_data, and float_data as well"),
            ([with_raw(float(), &[0; 8]), raw(&[0; 8])].concat(), "raw_data occurs twice"),
            (with_raw(begin(8, &[]), b"text"), "raw_data, expected string_data for STRING"),
            (
                [message(float()), vec![0x4a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]].concat(),
                "at byte 5",
            ),
            ([message(float()), vec![0x4a, 9, 0]].concat(), "field 9 at byte 5 has 9 bytes, and 1 are in the file"),
            ([message(float()), vec![0x22, 0xf8, 0xff, 0xff, 0xff, 0x7f, 0]].concat(), "bytes, and 1 are in the file"),
            ([message(float()), vec![0x4b]].concat(), "field 9 cannot be StartGroup"),
            ([message(float()), vec![0xa3, 1]].concat(), "groups are not read"),
            ([message(float()), vec![0xa6, 1]].concat(), "not an ONNX TensorProto at byte 5"),
            ([message(float()), vec![0]].concat(), "not an ONNX TensorProto at byte 5"),
            (named(field::NAME, &[0xff]), "not an ONNX TensorProto: failed to decode"),
            (message(Message { data_location: Some(2), ..float() }), "data_location 2, expected 0 or 1"),
            (message(Message { data_location: Some(1), ..float() }), "external_data has no location"),
            (
                message(Message { external_data: vec![Default::default()], ..float() }),
                "external_data, and a data_location that is not external",
            ),
        ],
        None,
    );
}

#[test]
fn items_that_are_refused() {
    let message = |message: Message| message.encode_to_vec();
    let int32 = |data_type, dims: &[i64], numbers: &[i32]| {
        message(Message { int32_data: numbers.to_vec(), ..begin(data_type, dims) })
    };
    let strings = |dims: &[i64], strings: &[&[u8]]| {
        let string_data = strings.iter().map(|text| text.to_vec()).collect();
        message(Message { string_data, ..begin(8, dims) })
    };
    let long = vec![b'x'; 1 << 16];
    let many: Vec<&[u8]> = std::iter::once(&long[..]).chain(std::iter::repeat_n(&b""[..], 4999)).collect();
    refused(
        vec![
            (int32(2, &[2], &[1, 256]), "256 at [1] is out of range for UINT8"),
            (int32(2, &[2], &[-1, 0]), "-1 at [0] is out of range for UINT8"),
            (int32(3, &[1, 2], &[127, 128]), "128 at [0, 1] is out of range for INT8"),
            (int32(4, &[], &[65536]), "65536 at [] is out of range for UINT16"),
            (int32(5, &[], &[-32769]), "-32769 at [] is out of range for INT16"),
            (int32(9, &[2], &[1, 2]), "2 at [1] is out of range for BOOL"),
            (int32(10, &[], &[-1]), "-1 at [] is out of range for FLOAT16"),
            (int32(16, &[], &[65536]), "65536 at [] is out of range for BFLOAT16"),
            (int32(17, &[], &[256]), "256 at [] is out of range for FLOAT8E4M3FN"),
            (int32(27, &[1], &[64]), "64 at [0] is out of range for FLOAT6E2M3"),
            (int32(2, &[3], &[1, 2]), "2 numbers in int32_data, expected 3 (UINT8 [3])"),
            (int32(2, &[1], &[1, 2]), "2 numbers in int32_data, expected 1 (UINT8 [1])"),
            (int32(2, &[0], &[1]), "1 numbers in int32_data, expected 0 (UINT8 [0])"),
            (int32(21, &[3], &[1]), "1 numbers in int32_data, expected 2 (UINT4 [3])"),
            (int32(1, &[1], &[1]), "int32_data, expected float_data for FLOAT"),
            (int32(1, &[1 << 40], &[]), "0 numbers in float_data, expected 1099511627776 (FLOAT [1099511627776])"),
            (int32(9, &[1 << 40], &[]), "0 numbers in int32_data, expected 1099511627776 (BOOL [1099511627776])"),
            (int32(22, &[1 << 40], &[]), "0 numbers in int32_data, expected 549755813888 (INT4 [1099511627776])"),
            (
                message(Message { uint64_data: vec![1 << 32], ..begin(12, &[1]) }),
                "4294967296 at [0] is out of range for UINT32",
            ),
            (
                message(Message { float_data: vec![1.0; 3], ..begin(14, &[2]) }),
                "3 numbers in float_data, expected 4 (COMPLEX64 [2])",
            ),
            (
                message(Message { double_data: vec![1.0; 3], int64_data: vec![1], ..begin(15, &[2]) }),
                "int64_data, expected double_data for COMPLEX128",
            ),
            (int32(8, &[1], &[1]), "int32_data, expected string_data for STRING"),
            (strings(&[2], &[b"a"]), "1 numbers in string_data, expected 2 (STRING [2])"),
            (strings(&[2], &[b"a", b"\xff"]), "the string at [1]: invalid utf-8"),
            (strings(&[2, 1], &[b"a", b"b\0"]), "the string at [1, 0] ends in U+0000"),
            (strings(&[1], &[b"\0"]), "the string at [0] ends in U+0000"),
            (strings(&[5000], &many), "5000 strings of 262144 bytes (<U65536) are too much"),
        ],
        None,
    );
}

#[test]
fn fields_in_any_order_and_form() {
    let numbers = |numbers: &[u64]| {
        let mut out = Vec::new();
        numbers.iter().for_each(|number| encode_varint(*number, &mut out));
        out
    };
    let dims = field_of_bytes(field::DIMS, &numbers(&[2, 2]));
    let kind = vec![0x10, 6];
    let minus_one = u64::MAX;
    let packed = |values: &[u64]| field_of_bytes(field::INT32_DATA, &numbers(values));
    let alone = |value: u64| [vec![0x28], numbers(&[value])].concat();
    let unknown = [
        field_of_bytes(99, b"what"),
        [&numbers(&[100 << 3 | 5])[..], &[1, 2, 3, 4]].concat(),
        [&numbers(&[101 << 3 | 1])[..], &[0; 8]].concat(),
        [&numbers(&[102 << 3])[..], &[0xff, 1]].concat(),
    ]
    .concat();
    let data = raw(&[1, 0, 0, 0, 255, 255, 255, 255, 3, 0, 0, 0, 4, 0, 0, 0]);
    let doc = field_of_bytes(field::DOC_STRING, b"\xff is no text");
    let rows: &[(&str, Vec<Vec<u8>>)] = &[
        ("raw", vec![dims.clone(), kind.clone(), data.clone()]),
        ("raw first", vec![data.clone(), kind.clone(), dims.clone()]),
        ("dims alone", vec![vec![8, 2, 8, 2], kind.clone(), data.clone()]),
        ("dims in both forms", vec![vec![8, 2], field_of_bytes(field::DIMS, &[2]), kind.clone(), data.clone()]),
        ("unknown fields", vec![unknown.clone(), dims.clone(), unknown.clone(), kind.clone(), data, unknown, doc]),
        ("packed", vec![dims.clone(), kind.clone(), packed(&[1, minus_one, 3, 4])]),
        ("in pieces", vec![dims.clone(), packed(&[1, minus_one]), kind.clone(), packed(&[]), packed(&[3]), alone(4)]),
        ("alone", vec![alone(1), alone(minus_one), alone(3), alone(4), dims, vec![0x10, 1], kind]),
    ];
    let mut failures = Vec::new();
    for (name, parts) in rows {
        let expected = [1, 0, 0, 0, 255, 255, 255, 255, 3, 0, 0, 0, 4, 0, 0, 0];
        match read(&parts.concat()) {
            Ok((proto, items)) if proto.meta.shape == [2, 2] && items == expected => {}
            found => failures.push(format!("{name}: {found:?}")),
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

fn external(entries: &[(&str, &str)], data_type: i32, dims: &[i64]) -> Vec<u8> {
    let external_data = entries.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    Message { external_data, data_location: Some(1), ..begin(data_type, dims) }.encode_to_vec()
}

#[test]
fn items_in_another_file() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::write(folder.path().join("outside"), [0; 4]).unwrap();
    std::fs::write(inner.join("data"), [9, 1, 2, 3, 4, 9]).unwrap();
    let outside = folder.path().join("outside").display().to_string();
    let place = |location, offset, length| [("location", location), ("offset", offset), ("length", length)];
    let read = |entries: &[(&str, &str)], data_type, dims: &[i64]| {
        read_in(&external(entries, data_type, dims), Some(&inner)).map(|(_, items)| items)
    };
    assert_eq!(read(&place("data", "1", "4"), 2, &[4]).unwrap(), [1, 2, 3, 4]);
    assert_eq!(read(&place("data", "1", "2"), 22, &[3]).unwrap(), [1, 0, 2]);
    assert_eq!(read(&[("location", "data"), ("checksum", "x"), ("basepath", "/")], 2, &[6]).unwrap().len(), 6);
    assert_eq!(read(&place("data", "6", "0"), 2, &[0]).unwrap(), [0; 0]);
    // without a length, or with 0, the dims determine the bytes
    assert_eq!(read(&[("location", "data")], 2, &[4]).unwrap(), [9, 1, 2, 3]);
    assert_eq!(read(&[("location", "./data"), ("offset", "1")], 22, &[3]).unwrap(), [1, 0, 2]);
    assert_eq!(read(&place(".//./data", "2", "0"), 2, &[2]).unwrap(), [2, 3]);
    let one = |entries: &[(&str, &str)]| external(entries, 2, &[4]);
    #[allow(unused_mut)]
    let mut rows = vec![
        (one(&[("location", "")]), "the items are in '', expected a file in the folder of this one"),
        (one(&[("location", ".")]), "the items are in '.', expected a file in the folder of this one"),
        (one(&[("location", "..")]), "the items are in '..', expected a file in the folder of this one"),
        (one(&[("location", "../outside")]), "expected a file in the folder of this one"),
        (one(&[("location", "./../outside")]), "expected a file in the folder of this one"),
        (one(&[("location", "./")]), "expected a file in the folder of this one"),
        (one(&[("location", "data/")]), "expected a file in the folder of this one"),
        (one(&[("location", "..\\outside")]), "expected a file in the folder of this one"),
        (one(&[("location", "data\0")]), "the items are in 'data\\x00', expected a file in the folder of this one"),
        (one(&[("location", &outside)]), "expected a file in the folder of this one"),
        (one(&[("location", "nowhere")]), "the items are in 'nowhere'"),
        (one(&[("location", "data"), ("location", "data")]), "external_data has two entries location"),
        (one(&[("offset", "0")]), "external_data has no location"),
        (one(&place("data", "1", "5")), "'data': 5 bytes of data, expected 4 (uint8 [4])"),
        (one(&place("data", "3", "4")), "4 bytes of items in 'data', and 3 bytes in that file"),
        (one(&place("data", "7", "4")), "the items begin at byte 7 of 'data', which has 6 bytes"),
        (one(&place("data", "-1", "4")), "external_data: offset '-1'"),
        (one(&place("data", "+1", "4")), "external_data: offset '+1'"),
        (one(&place("data", "1", "")), "external_data: length ''"),
        (one(&place("data", "1", "18446744073709551616")), "external_data: length '18446744073709551616'"),
        (one(&[("location", "data"), ("offset", "3")]), "4 bytes of items in 'data', and 3 bytes in that file"),
        ([one(&place("data", "1", "4")), raw(&[0; 4])].concat(), "raw_data, and external data as well"),
        (external(&place("data", "1", "4"), 8, &[4]), "external data, expected string_data for STRING"),
    ];
    std::fs::create_dir(inner.join("folder")).unwrap();
    rows.push((one(&[("location", "folder")]), "the items are in 'folder', expected a regular file, not a link"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("data", inner.join("link")).unwrap();
        rows.push((one(&place("link", "1", "4")), "the items are in 'link', expected a regular file, not a link"));
        // as in a cache of models
        let hash = folder.path().join("5d".repeat(32));
        std::fs::write(&hash, [9, 1, 2, 3, 4, 5]).unwrap();
        std::os::unix::fs::symlink(&hash, inner.join("cached")).unwrap();
        assert_eq!(read(&place("cached", "1", "4"), 2, &[4]).unwrap(), [1, 2, 3, 4]);
    }
    refused(rows, Some(&inner));
    let nowhere = "the items are in another file, 'data', and there is no folder to find it in";
    refused(vec![(one(&place("data", "1", "4")), nowhere)], None);
}

/// Damaged files are refused, without a panic.
#[test]
fn damaged_files() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("data"), [5; 4]).unwrap();
    let strings = [b"ab".to_vec(), "日本".into(), Vec::new()].to_vec();
    let whole = [
        [write_header(&Meta::c_order(DType::parse("int4").unwrap(), vec![3, 1]), "name").unwrap(), vec![0x21, 0x03]]
            .concat(),
        [write_header(&Meta::c_order(DType::parse("int16").unwrap(), vec![2]), "").unwrap(), vec![1, 2, 3, 4]].concat(),
        Message { float_data: vec![1.0, 2.0], name: "a".to_owned(), ..begin(14, &[1]) }.encode_to_vec(),
        Message { int32_data: vec![3, -1], ..begin(3, &[2]) }.encode_to_vec(),
        Message { uint64_data: vec![3, 1 << 31], ..begin(12, &[1, 2]) }.encode_to_vec(),
        Message { string_data: strings, ..begin(8, &[3]) }.encode_to_vec(),
        external(&[("location", "data"), ("offset", "0"), ("length", "4")], 2, &[4]),
    ];
    for bytes in whole {
        read_in(&bytes, Some(folder.path())).unwrap();
        for end in 0..bytes.len() {
            let _ = read_in(&bytes[..end], Some(folder.path()));
            let _ = looks_like_onnx(&bytes[..end]);
        }
        for at in 0..bytes.len() {
            for flip in (0..8).map(|bit| 1 << bit).chain([0xff]) {
                let mut damaged = bytes.clone();
                damaged[at] ^= flip;
                let _ = read_in(&damaged, Some(folder.path()));
                let _ = looks_like_onnx(&damaged);
            }
        }
    }
}

#[test]
fn what_looks_like_one() {
    let header = |dtype: &str, shape: &[usize]| {
        write_header(&Meta::c_order(DType::parse(dtype).unwrap(), shape.to_vec()), "x").unwrap()
    };
    let long = [header("float32", &[1 << 20]), vec![0xab; 4096]].concat();
    let typed = Message { double_data: vec![1.0; 100], ..begin(11, &[100]) }.encode_to_vec();
    let rows: Vec<(&str, Vec<u8>, bool)> = vec![
        ("scalar", [header("bool", &[]), vec![1]].concat(), true),
        ("zero dim", header("int64", &[0, 3]), true),
        ("data cut", long.clone(), true),
        ("cut in the dims of another field", typed[..40].to_vec(), true),
        ("64 dims", header("uint8", &[1; 64]), true),
        ("65 dims", Message { ..begin(2, &[1; 65]) }.encode_to_vec(), false),
        ("external", external(&[("location", "data")], 1, &[4]), true),
        ("data type 0", vec![0x10, 0], false),
        ("data type 29", vec![0x10, 29], false),
        ("no data type", vec![8, 2], false),
        ("empty", Vec::new(), false),
        ("JSON", b"{\"data\": [1, 2]}".to_vec(), false),
        ("JSON after lines", b"\n\n\n\n\n\n\n\n\n\n\n\n[1, 2]".to_vec(), false),
        ("JSON after spaces", [vec![b'\n'; 2], vec![b' '; 10], b"[1]".to_vec()].concat(), false),
        ("text", b"*hello* world\n".to_vec(), false),
        ("npy", crate::formats::npy::write_header(&Meta::c_order(DType::parse("<f4").unwrap(), vec![3])), false),
        ("zip", b"PK\x03\x04\x14\0\0\0\0\0".to_vec(), false),
        ("safetensors", b"\x10\0\0\0\0\0\0\0{              }".to_vec(), false),
        ("model", [vec![8, 10], field_of_bytes(2, b"maker")].concat(), false),
        ("node", [field_of_bytes(1, b"x"), field_of_bytes(2, b"y"), vec![0x10, 1]].concat(), false),
    ];
    let wrong = rows.iter().filter(|(_, bytes, expected)| looks_like_onnx(bytes) != *expected).map(|(name, ..)| name);
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<&&str>::new());
}

#[test]
fn what_cannot_be_written() {
    let dtype = |name: &str| DType::parse(name).unwrap();
    let mut failures = Vec::new();
    let unheld =
        ["datetime64[ns]", "<m8", "V3", "float128", "complex256", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz"];
    for name in unheld {
        let expected = format!("ONNX cannot hold items of dtype {}", dtype(name).name());
        if check(&dtype(name)).map_err(|error| error.message().to_owned()) != Err(expected) {
            failures.push(name.to_owned());
        }
    }
    let most = i32::MAX as usize;
    let limit = "2147483648 bytes, expected at most 2147483647, protobuf's limit";
    // before the items: 6 for the dim, 2 for the type, 6 for the key and the length
    let rows: &[(&str, &[usize], &str, &str)] = &[
        ("uint8", &[most - 14], "", ""),
        ("uint8", &[most - 13], "", limit),
        ("uint8", &[most - 17], "a", ""),
        ("uint8", &[most - 16], "a", limit),
        ("uint4", &[2 * (most - 14)], "", ""),
        ("uint4", &[2 * (most - 14) + 1], "", limit),
        ("float64", &[1 << 61], "", "are larger than memory can be"),
        ("float64", &[1; 65], "", "65 axes, expected at most 64"),
        ("<U3", &[1], "", "strings have no raw_data"),
        ("V1", &[1], "", "ONNX cannot hold items of dtype |V1"),
    ];
    for (name, shape, label, expected) in rows {
        match write_header(&Meta::c_order(dtype(name), shape.to_vec()), label) {
            Ok(_) if expected.is_empty() => {}
            Err(error) if !expected.is_empty() && error.to_string().contains(expected) => {}
            found => failures.push(format!("{name} {shape:?}: {found:?}")),
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn strings_that_are_written() {
    let tensor = |dtype: &str, shape: &[usize], items: Vec<u8>| {
        Tensor::new(DType::parse(dtype).unwrap(), shape.to_vec(), items).unwrap()
    };
    let points = |codes: &[u32], big: bool| {
        codes.iter().flat_map(|code| if big { code.to_be_bytes() } else { code.to_le_bytes() }).collect::<Vec<_>>()
    };
    let rows = [
        (tensor("S3", &[2], b"ab\0\0\0\0".to_vec()), Ok(&[&b"ab"[..], b""][..])),
        (tensor("S2", &[2], b"\0aab".to_vec()), Ok(&[b"\0a", b"ab"])),
        (tensor("<U2", &[2], points(&[0xe9, 0, 0x1f980, 0x61], false)), Ok(&["é".as_bytes(), "🦀a".as_bytes()])),
        (tensor(">U2", &[1, 1], points(&[0x65e5, 0x672c], true)), Ok(&["日本".as_bytes()])),
        (tensor("<U1", &[0], Vec::new()), Ok(&[])),
        (tensor("S0", &[2], Vec::new()), Ok(&[b"", b""])),
        (tensor("S1", &[2], b"a\xff".to_vec()), Err("the string at [1]: invalid utf-8")),
        (tensor("<U1", &[1, 1], points(&[0xd800], false)), Err("the string at [0, 0]: U+D800 has no UTF-8")),
        (tensor("<U1", &[], points(&[0x11_0000], false)), Err("the string at []: U+110000 has no UTF-8")),
        (tensor("int8", &[1], vec![1]), Err("items of dtype int8, expected strings")),
    ];
    let mut failures = Vec::new();
    for (tensor, expected) in rows {
        let found = write_strings(tensor.shape(), "name", &tensor);
        let right = match (&found, &expected) {
            (Ok(bytes), Ok(strings)) => {
                let message = message::Message::read(&MemoryBytes::new(&bytes[..]), 0..bytes.len() as u64).unwrap();
                let dims = tensor.shape().iter().map(|dim| *dim as u64);
                message.values(field::STRING_DATA).eq(strings.iter().copied())
                    && message.values(field::DIMS).flat_map(Varints).map(Result::unwrap).eq(dims)
                    && message.name() == Ok("name")
                    && read(bytes).is_ok()
            }
            (Err(error), Err(expected)) => format!("{error:#}").contains(expected),
            _ => false,
        };
        if !right {
            failures.push(format!("{tensor:?}: {found:?}"));
        }
    }
    let other = write_strings(&[2], "", &tensor("S1", &[3], b"abc".to_vec()));
    if !other.is_err_and(|error| error.to_string() == "3 items, expected those of shape [2]") {
        failures.push("another shape".to_owned());
    }
    let empty = write_strings(&[1 << 40], "", &tensor("S0", &[1 << 40], Vec::new()));
    if !empty.is_err_and(|error| error.to_string().contains("protobuf's limit")) {
        failures.push("more empty strings than a message holds".to_owned());
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

//! Models that are built field by field.

use std::io;
use std::sync::{Arc, Mutex};

use super::container;
use super::members::MAX_DEPTH;
use crate::container::content::{Content, Description};
use crate::container::interface::{Confidence, ReadableFile};
use crate::storage::read_at::{Identity, MemoryBytes, ReadAt, Stamp};
use crate::storage::source::Hold;
use tensorop_kernels::error::{ErrorKind, Result};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::parallel::Threads;

fn varint(number: u32, value: u64) -> Vec<u8> {
    let mut out = Vec::new();
    prost::encoding::uint64::encode(number, &value, &mut out);
    // protobuf omits the default
    if value == 0 { vec![(number << 3) as u8, 0] } else { out }
}

fn bytes(number: u32, value: impl AsRef<[u8]>) -> Vec<u8> {
    let mut out = Vec::new();
    prost::encoding::encode_key(number, prost::encoding::WireType::LengthDelimited, &mut out);
    prost::encoding::encode_varint(value.as_ref().len() as u64, &mut out);
    out.extend_from_slice(value.as_ref());
    out
}

/// A TensorProto of uint8.
fn tensor(name: &str, items: &[u8]) -> Vec<u8> {
    [varint(1, items.len() as u64), varint(2, 2), bytes(8, name), bytes(9, items)].concat()
}

fn attribute(name: &str, value: &[u8]) -> Vec<u8> {
    bytes(5, [&bytes(1, name), value].concat())
}

fn node(operator: &str, name: &str, output: &str, attributes: &[u8]) -> Vec<u8> {
    bytes(1, [&bytes(2, output), &bytes(3, name), &bytes(4, operator), attributes].concat())
}

fn model(graph: &[Vec<u8>]) -> Vec<u8> {
    [varint(1, 8), bytes(7, graph.concat()), bytes(8, varint(2, 17))].concat()
}

fn open(model: &[u8]) -> Result<ReadableFile> {
    container::open(Content::from_bytes(Arc::new(MemoryBytes::new(model)), Threads::default())?)
}

fn items(reader: &ReadableFile, n: usize) -> Result<(Meta, Vec<u8>)> {
    let mut source = reader.source(n, "x".to_owned())?;
    source.hold(Hold::Seekable, Threads::default())?;
    let mut out = vec![0; source.bytes()];
    source.read(&source.view(), &mut out, &mut Default::default())?;
    Ok((source.meta().clone(), out))
}

fn listed(model: &[u8]) -> String {
    match open(model) {
        Ok(reader) => reader.members.names().expect("a container").join(" "),
        Err(error) => format!("{error:#}"),
    }
}

#[test]
fn names_of_tensors() {
    let of = |items: &[u8]| bytes(5, tensor("ignored", items));
    let branch = [bytes(5, tensor("w", &[1])), node("Constant", "", "c", &attribute("value", &of(&[1])))].concat();
    let branches = [
        attribute("then_branch", &bytes(6, &branch)),
        attribute("else_branch", &bytes(6, node("If", "", "y", &attribute("then_branch", &bytes(6, &branch))))),
    ]
    .concat();
    let function = [bytes(1, "F"), bytes(7, &node("Constant", "", "c", &attribute("value", &of(&[1])))[2..])];
    let rows: &[(Vec<u8>, &str)] = &[
        (model(&[bytes(5, tensor("a", &[1])), bytes(5, tensor("b", &[])), bytes(5, tensor("a", &[]))]), "a b a#2"),
        (model(&[bytes(5, tensor("", &[1]))]), "initializer_0"),
        (model(&[node("Constant", "n", "out", &attribute("value", &of(&[1])))]), "out"),
        (model(&[node("Constant", "n", "", &attribute("value", &of(&[1])))]), "n"),
        (
            model(&[node("Add", "", "x", &[]), node("Constant", "", "", &attribute("value_int", &varint(3, 7)))]),
            "Constant_1",
        ),
        (
            model(&[node("Add", "", "x", &[]), node("If", "", "y", &branches)]),
            "If_1/then_branch/w If_1/then_branch/c If_1/else_branch/If_0/then_branch/w If_1/else_branch/If_0/then_branch/c",
        ),
        (
            model(&[node("If", "top", "y", &branches)]),
            "top/then_branch/w top/then_branch/c top/else_branch/If_0/then_branch/w top/else_branch/If_0/then_branch/c",
        ),
        ([model(&[]), bytes(25, function.concat())].concat(), "F/c"),
        (model(&[node("ConstantOfShape", "", "y", &attribute("value", &of(&[1])))]), "ConstantOfShape_0/value"),
        // the value of a function's attribute
        (model(&[node("Constant", "", "c", &attribute("value_int", &bytes(21, "n")))]), ""),
        (model(&[bytes(15, bytes(1, tensor("s", &[1])))]), "s"),
        (varint(1, 8), "not an ONNX model: it has no graph"),
        (model(&[vec![0x0b]]), "not an ONNX model: byte 4: a group, expected a field of another type"),
        (model(&[vec![0x2a, 0x05]]), "not an ONNX model: field 5 at byte 4 has 5 bytes, and 0 are left"),
    ];
    let mut failures = Vec::new();
    for (model, expected) in rows {
        let found = listed(model);
        if found != *expected {
            failures.push(format!("{found:?}, expected {expected:?}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn values_of_constants() {
    let floats =
        |values: &[f32]| values.iter().flat_map(|value| [&[0x3d][..], &value.to_le_bytes()].concat()).collect();
    let le = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let float: Vec<u8> = [&[0x15][..], &1.5_f32.to_le_bytes()].concat();
    let long = |values: &[i64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let text = |text: &str| text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect::<Vec<u8>>();
    type Expected = Result<(&'static str, Vec<usize>, Vec<u8>), &'static str>;
    let rows: [(&str, Vec<u8>, Expected); 12] = [
        ("value_float", float, Ok(("float32", vec![], le(&[1.5])))),
        ("value_floats", floats(&[1.0, 2.0]), Ok(("float32", vec![2], le(&[1.0, 2.0])))),
        ("value_floats", bytes(7, le(&[3.0, 4.0])), Ok(("float32", vec![2], le(&[3.0, 4.0])))),
        ("value_floats", Vec::new(), Ok(("float32", vec![0], Vec::new()))),
        ("value_int", varint(3, u64::MAX), Ok(("int64", vec![], long(&[-1])))),
        ("value_ints", [varint(8, 0), varint(8, 2)].concat(), Ok(("int64", vec![2], long(&[0, 2])))),
        ("value_ints", bytes(8, [1, 2, 3]), Ok(("int64", vec![3], long(&[1, 2, 3])))),
        ("value_string", bytes(4, "é"), Ok(("<U1", vec![], text("é")))),
        ("value_strings", [bytes(9, "a"), bytes(9, "bc")].concat(), Ok(("<U2", vec![2], text("a\0bc")))),
        ("value_int", Vec::new(), Err("value_int has 0 values, expected 1")),
        ("value_floats", varint(7, 1), Err("value_floats has a value of another type")),
        ("value_later", varint(3, 1), Err("a Constant of the attribute value_later, which is not known")),
    ];
    let (mut failures, mut located) = (Vec::new(), 0);
    for (name, value, expected) in rows {
        let late = bytes(5, [value.clone(), bytes(1, name), bytes(13, [b'd'; 100])].concat());
        for value in [attribute(name, &value), late] {
            let model = model(&[node("Constant", "", "c", &value)]);
            let reader = open(&model).expect("a model");
            let Ok(Description { bytes, offset: Some(at), .. }) = reader.describe(0) else { continue };
            let stored = &model[at as usize..(at + bytes) as usize];
            assert_eq!(items(&reader, 0).expect("items").1, stored, "{name}");
            located += 1;
        }
        let reader = open(&model(&[node("Constant", "", "c", &attribute(name, &value))])).expect("a model");
        let found = items(&reader, 0).map(|(meta, items)| (meta.dtype.name(), meta.shape, items));
        let described = reader.describe(0).map(|found| (found.meta.dtype.name(), found.meta.shape));
        let found = found.map_err(|error| error.to_string());
        let is_same = match (&found, &expected) {
            (Ok(found), Ok(expected)) => found.0 == expected.0 && found.1 == expected.1 && found.2 == expected.2,
            (Err(found), Err(expected)) => found == expected,
            _ => false,
        };
        if !is_same || described.is_ok() != expected.is_ok() {
            failures.push(format!("{name}: {found:?}, expected {expected:?}"));
        }
    }
    // a number, and packed numbers
    assert_eq!(located, 4);
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn what_is_not_known_is_told_apart_from_damage() {
    let later = [varint(1, 1), varint(2, 99), bytes(8, "later"), bytes(9, [0])].concat();
    let short = [varint(1, 9), varint(2, 2), bytes(8, "short"), bytes(9, [0])].concat();
    let graph =
        [bytes(5, later), bytes(15, bytes(1, tensor("sparse", &[]))), bytes(5, short), bytes(5, tensor("good", &[7]))];
    let reader = open(&model(&graph)).expect("a model");
    let kinds: Vec<_> = (0..4).map(|n| reader.describe(n).map(drop).map_err(|error| error.kind())).collect();
    assert_eq!(kinds, [Err(ErrorKind::Unsupported), Err(ErrorKind::Unsupported), Err(ErrorKind::Malformed), Ok(())]);
    assert_eq!(items(&reader, 3).expect("a tensor").1, [7]);
}

#[test]
fn damaged_models() {
    let branch = bytes(
        6,
        [bytes(5, tensor("w", &[1])), node("Constant", "", "c", &attribute("value_int", &varint(3, 7)))].concat(),
    );
    let whole = model(&[node("If", "", "y", &attribute("then_branch", &branch)), bytes(5, tensor("a", &[1, 2, 3]))]);
    let read_all = |model: &[u8]| {
        let Ok(reader) = open(model) else { return };
        for n in 0..reader.members.names().map_or(0, <[String]>::len) {
            let (described, found) = (reader.describe(n), items(&reader, n));
            assert_eq!(described.is_ok(), found.is_ok(), "{described:?} {found:?}");
        }
    };
    for end in 0..whole.len() {
        read_all(&whole[..end]);
    }
    for at in 0..whole.len() {
        for flip in (0..8).map(|bit| 1 << bit).chain([0xff]) {
            let mut damaged = whole.clone();
            damaged[at] ^= flip;
            read_all(&damaged);
        }
    }
    let deep = (0..=MAX_DEPTH).fold(Vec::new(), |graph, _| node("If", "", "", &attribute("g", &bytes(6, graph))));
    assert_eq!(listed(&model(&[deep])), "more than 64 graphs inside one another");
}

/// Counts the bytes that are read of a file that has only zeros after its head.
#[derive(Debug)]
struct Counted {
    head: Vec<u8>,
    size: u64,
    read: Mutex<u64>,
}

impl ReadAt for Counted {
    fn size(&self) -> io::Result<u64> {
        Ok(self.size)
    }

    fn read_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        *self.read.lock().expect("no thread panicked") += out.len() as u64;
        for (n, byte) in out.iter_mut().enumerate() {
            *byte = self.head.get(at as usize + n).copied().unwrap_or(0);
        }
        Ok(())
    }

    fn stamp(&self) -> io::Result<Stamp> {
        Ok(Stamp::Revision(0))
    }

    fn identity(&self) -> io::Result<Identity> {
        Ok(Identity::Memory(0))
    }
}

#[test]
fn items_are_not_read() {
    const ITEMS: u64 = 1 << 33;
    let mut tensor = [varint(1, ITEMS), varint(2, 2), bytes(8, "w"), vec![9 << 3 | 2]].concat();
    prost::encoding::encode_varint(ITEMS, &mut tensor);
    let mut graph = vec![5 << 3 | 2];
    prost::encoding::encode_varint(tensor.len() as u64 + ITEMS, &mut graph);
    graph.extend(tensor);
    let mut head = [varint(1, 8), vec![7 << 3 | 2]].concat();
    prost::encoding::encode_varint(graph.len() as u64 + ITEMS, &mut head);
    head.extend(graph);
    let file = Arc::new(Counted { size: head.len() as u64 + ITEMS, head, read: Mutex::default() });
    let shared: Arc<dyn ReadAt> = file.clone();
    let reader = container::open(Content::from_bytes(shared, Threads::default()).expect("bytes")).expect("a model");
    let found = reader.describe(0).expect("a tensor");
    assert_eq!((found.bytes, found.meta.shape), (ITEMS, vec![ITEMS as usize]));
    let read = *file.read.lock().expect("no thread panicked");
    assert!(read < 1 << 13, "{read} bytes");
}

#[test]
fn what_looks_like_a_model() {
    let rows: [(&[u8], Confidence); 8] = [
        (b"\x08\x0a\x12\x01p\x28\x01\x42\x02\x10\x12", Confidence::Certain),
        // a tensor [2] of the data type 99 with the name `x`
        (b"\x08\x02\x10\x63\x42\x01x\x4a\x01\x00", Confidence::No),
        (b"\x08\x08\x12\x07pytorch\x1a\x03 2.\x3a\x90\x01 the graph", Confidence::Certain),
        (b"\x08\x08\x42\x02\x10\x12", Confidence::Certain),
        (b"\x08\x02\x10\x01", Confidence::No),
        (b"\x3a\x01", Confidence::No),
        (b"\x08", Confidence::No),
        (b"", Confidence::No),
    ];
    for (begin, expected) in rows {
        assert_eq!(container::sure(begin, None), expected, "{begin:?}");
    }
}

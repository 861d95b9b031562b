use std::io::Write;
use std::sync::Arc;

use super::*;
use crate::storage::read_at::MemoryBytes;
use crate::storage::source::Hold;
use tensorop_kernels::error::ErrorKind;
use tensorop_kernels::layout::view::View;
use tensorop_kernels::parallel::Threads;

/// A value to pickle.
#[derive(Clone, Debug)]
enum V {
    None,
    Bool(bool),
    Int(i64),
    Long(i128),
    Float(f64),
    Text(String),
    Bytes(&'static [u8]),
    List(Vec<V>),
    Tuple(Vec<V>),
    Dict(Vec<(V, V)>),
    Global(&'static str, &'static str),
    Persistent(Box<V>),
    Call(Box<V>, Vec<V>),
    State(Box<V>, Box<V>),
}

impl V {
    /// Writes the opcodes of protocol 2.
    fn write(&self, out: &mut Vec<u8>) {
        let mut all = |begin: u8, items: &[&V], end: u8| {
            out.push(begin);
            out.push(b'(');
            items.iter().for_each(|item| item.write(out));
            out.push(end);
        };
        match self {
            V::None => out.push(b'N'),
            V::Bool(value) => out.push(if *value { 0x88 } else { 0x89 }),
            V::Int(number) => out.extend([&b"\x8a\x08"[..], &number.to_le_bytes()].concat()),
            V::Long(number) => out.extend([&b"\x8a\x10"[..], &number.to_le_bytes()].concat()),
            V::Float(number) => out.extend([&b"G"[..], &number.to_be_bytes()].concat()),
            V::Text(text) => out.extend([&b"X"[..], &(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()),
            V::Bytes(bytes) => out.extend([&b"B"[..], &(bytes.len() as u32).to_le_bytes(), bytes].concat()),
            V::List(items) => all(b']', &items.iter().collect::<Vec<_>>(), b'e'),
            V::Dict(pairs) => all(b'}', &pairs.iter().flat_map(|(key, value)| [key, value]).collect::<Vec<_>>(), b'u'),
            V::Tuple(items) => {
                out.push(b'(');
                items.iter().for_each(|item| item.write(out));
                out.push(b't');
            }
            V::Global(module, name) => out.extend(format!("c{module}\n{name}\n").into_bytes()),
            V::Persistent(id) => {
                id.write(out);
                out.push(b'Q');
            }
            V::Call(class, args) => {
                class.write(out);
                V::Tuple(args.clone()).write(out);
                out.push(b'R');
            }
            V::State(object, state) => {
                object.write(out);
                state.write(out);
                out.push(b'b');
            }
        }
    }

    fn pickle(&self) -> Vec<u8> {
        let mut out = b"\x80\x02".to_vec();
        self.write(&mut out);
        out.push(b'.');
        out
    }
}

fn text(text: &str) -> V {
    V::Text(text.to_owned())
}

fn dict<const N: usize>(pairs: [(&str, V); N]) -> V {
    V::Dict(pairs.into_iter().map(|(key, value)| (text(key), value)).collect())
}

fn ints(numbers: &[i64]) -> V {
    V::Tuple(numbers.iter().copied().map(V::Int).collect())
}

fn storage(class: &'static str, key: &str, items: i64, view: V) -> V {
    let fields = vec![text("storage"), V::Global("torch", class), text(key), text("cpu"), V::Int(items), view];
    V::Persistent(Box::new(V::Tuple(fields)))
}

fn call(module: &'static str, name: &'static str, args: Vec<V>) -> V {
    V::Call(Box::new(V::Global(module, name)), args)
}

fn state(object: V, state: V) -> V {
    V::State(Box::new(object), Box::new(state))
}

fn hooks() -> V {
    call("collections", "OrderedDict", vec![])
}

fn rebuilt(function: &'static str, storage: V, offset: i64, shape: &[i64], strides: &[i64]) -> V {
    let mut args = vec![storage, V::Int(offset), ints(shape), ints(strides)];
    if function != "_rebuild_tensor" {
        args.extend([V::Bool(false), hooks()]);
    }
    call("torch._utils", function, args)
}

/// A view of the 24 items of storage 0.
fn floats(offset: i64, shape: &[i64], strides: &[i64]) -> V {
    rebuilt("_rebuild_tensor_v2", storage("FloatStorage", "0", 24, V::None), offset, shape, strides)
}

fn storage_bytes() -> Vec<u8> {
    (0..24_u8).flat_map(|n| f32::from(n).to_le_bytes()).collect()
}

/// Stored or deflated files, without checksums.
fn zip(files: &[(&str, Vec<u8>)], deflates: bool) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in files {
        let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Default::default());
        encoder.write_all(content).expect("deflated");
        let stored = if deflates { encoder.finish().expect("deflated") } else { content.clone() };
        let at = (out.len() as u32).to_le_bytes();
        let method = if deflates { [8, 0] } else { [0, 0] };
        let lengths = [stored.len() as u32, content.len() as u32].map(u32::to_le_bytes).concat();
        let common = [&[20, 0, 0, 0][..], &method, &[0; 8], &lengths, &(name.len() as u32).to_le_bytes()].concat();
        out.extend([&b"PK\x03\x04"[..], &common, name.as_bytes(), &stored].concat());
        directory.extend([&b"PK\x01\x02\x14\0"[..], &common, &[0; 10], &at, name.as_bytes()].concat());
    }
    let counts = [(files.len() as u16).to_le_bytes(); 2].concat();
    let places = [directory.len() as u32, out.len() as u32].map(u32::to_le_bytes).concat();
    out.extend([&directory[..], b"PK\x05\x06\0\0\0\0", &counts, &places, &[0; 2]].concat());
    out
}

fn zipped(value: &V) -> Vec<u8> {
    zip(&[("x/data.pkl", value.pickle()), ("x/data/0", storage_bytes())], false)
}

fn legacy(value: &V, keys: &[(&str, u64, Vec<u8>)]) -> Vec<u8> {
    let mut out = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.".to_vec();
    out.extend(V::Int(1001).pickle());
    out.extend(dict([("little_endian", V::Int(1))]).pickle());
    out.extend(value.pickle());
    out.extend(V::List(keys.iter().map(|(key, ..)| text(key)).collect()).pickle());
    keys.iter().for_each(|(_, count, items)| out.extend([&count.to_le_bytes()[..], items].concat()));
    out
}

fn reader(bytes: &[u8]) -> Result<ReadableFile> {
    let content = Content::from_bytes(Arc::new(MemoryBytes::new(bytes)), Threads::default())?;
    assert_eq!(sure(&content.begin, None), Confidence::Certain);
    open(content)
}

fn items(reader: &ReadableFile, n: usize) -> Result<Vec<u8>> {
    let mut source = reader.source(n, "x".to_owned())?;
    source.hold(Hold::Seekable, Threads::default())?;
    let mut out = vec![0; source.bytes()];
    source.read(&source.meta().view(), &mut out, &mut Default::default())?;
    Ok(out)
}

/// Describes each tensor, with float32 items as integers.
fn listed(bytes: &[u8]) -> Result<Vec<String>> {
    let reader = reader(bytes)?;
    let names = reader.members.names().expect("a container").to_vec();
    let line = |(n, name): (usize, String)| match reader.describe(n) {
        Err(error) => format!("{name}: {:?}: {error}", error.kind()),
        Ok(found) => {
            let Meta { dtype, shape, .. } = &found.meta;
            let begin = format!("{name} {} {shape:?}", dtype.descr());
            if dtype.descr() != "'<f4'" {
                return begin;
            }
            let items = items(&reader, n).expect("items");
            let (items, _) = items.as_chunks();
            let items: Vec<_> = items.iter().map(|item| f32::from_le_bytes(*item) as i32).collect();
            format!("{begin} {items:?}")
        }
    };
    Ok(names.into_iter().enumerate().map(|(n, name)| line((n, name))).collect())
}

#[test]
fn views_of_storages() {
    let value = dict([
        ("run", floats(2, &[3], &[1])),
        ("scalar", floats(23, &[], &[])),
        ("fortran", floats(0, &[2, 3], &[1, 2])),
        ("permuted", floats(1, &[2, 2, 2], &[1, 6, 2])),
        ("stepped", floats(0, &[3], &[9])),
        ("expanded", floats(4, &[2, 2], &[0, 1])),
        ("overlapping", floats(0, &[3, 2], &[1, 1])),
        ("empty", floats(24, &[0, 3], &[3, 1])),
    ]);
    let expected = [
        "run '<f4' [3] [2, 3, 4]",
        "scalar '<f4' [] [23]",
        "fortran '<f4' [2, 3] [0, 2, 4, 1, 3, 5]",
        "permuted '<f4' [2, 2, 2] [1, 3, 7, 9, 2, 4, 8, 10]",
        "stepped '<f4' [3] [0, 9, 18]",
        "expanded '<f4' [2, 2] [4, 5, 4, 5]",
        "overlapping '<f4' [3, 2] [0, 1, 1, 2, 2, 3]",
        "empty '<f4' [0, 3] []",
    ];
    assert_eq!(listed(&zipped(&value)).expect("a file"), expected);
    assert_eq!(listed(&legacy(&value, &[("0", 24, storage_bytes())])).expect("a stream"), expected);
    let deflated = zip(&[("x/data.pkl", value.pickle()), ("x/data/0", storage_bytes())], true);
    let reader = reader(&deflated).expect("deflated");
    assert_eq!(items(&reader, 0).expect("a run"), [2.0_f32, 3.0, 4.0].map(f32::to_le_bytes).concat());
    let refused = reader.source(3, String::new()).expect_err("strided");
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
}

#[test]
fn reads_of_any_bytes_of_a_view() {
    let bytes: Vec<u8> = (0..=255).collect();
    let view = View::strided(vec![(3, 1), (4, 20), (2, 0), (5, 3)]);
    let all: Vec<u8> = view.places().into_iter().flat_map(|at| bytes[at * 2 + 6..][..2].to_vec()).collect();
    let bytes = Arc::new(MemoryBytes::new(bytes));
    let mask = vec![0, 0x80];
    let all: Vec<u8> = all.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    let items = ByUnits(StridedItems { bytes, start: 6, view, itemsize: 2, mask });
    for begin in 0..all.len() {
        for end in [begin, begin + 1, begin + 2, begin + 7, begin + 50, all.len()] {
            let end = end.min(all.len()).max(begin);
            let mut out = vec![0; end - begin];
            items.read_at(&mut out, begin as u64).expect("items");
            assert_eq!(out, all[begin..end], "{begin}..{end}");
        }
    }
    assert!(items.read_at(&mut [0; 2], all.len() as u64 - 1).is_err());
}

#[test]
fn containers_and_classes() {
    let parameter = call("torch._utils", "_rebuild_parameter", vec![floats(0, &[1], &[1]), V::Bool(true), hooks()]);
    let ordered = |args: Vec<V>| call("collections", "OrderedDict", args);
    let module = |parameters: V, buffers: V, left_out: V, modules: V| {
        let attributes = [
            ("training", V::Int(1)),
            ("_parameters", parameters),
            ("_buffers", buffers),
            ("_non_persistent_buffers_set", left_out),
            ("_modules", modules),
        ];
        state(call("a", "Net", vec![]), dict(attributes))
    };
    let set = |names: Vec<V>| call("__builtin__", "set", vec![V::List(names)]);
    let script =
        state(call("__torch__.a", "Net", vec![]), dict([("training", V::Int(0)), ("w", floats(1, &[1], &[1]))]));
    let thing = |args: Vec<V>| call("my.code", "Thing", args);
    let v3 = |dtype: &'static str| {
        let mut made = rebuilt("_rebuild_tensor_v3", storage("UntypedStorage", "0", 96, V::None), 4, &[2], &[1]);
        if let V::Call(_, args) = &mut made {
            args.push(V::Global("torch", dtype));
        }
        made
    };
    let value = dict([
        ("p", parameter),
        ("pairs", ordered(vec![V::List(vec![V::List(vec![text("k"), floats(2, &[1], &[1])])])])),
        (
            "net",
            module(
                dict([("w", floats(3, &[1], &[1])), ("cache", floats(7, &[1], &[1]))]),
                dict([("mean", floats(8, &[1], &[1])), ("cache", floats(9, &[1], &[1]))]),
                set(vec![text("cache")]),
                dict([(
                    "0",
                    module(
                        ordered(vec![V::List(vec![V::List(vec![text("b"), floats(4, &[1], &[1])])])]),
                        ordered(vec![V::List(vec![V::List(vec![text("ids"), floats(9, &[1], &[1])])])]),
                        V::List(vec![text("ids"), text("more")]),
                        dict([]),
                    ),
                )]),
            ),
        ),
        ("script", script),
        ("list", V::List(vec![V::Int(1), floats(5, &[1], &[1])])),
        ("f8", v3("float8_e4m3fn")),
        ("u16", v3("uint16")),
        ("bits", v3("bits8")),
        ("q", rebuilt("_rebuild_qtensor", storage("QInt8Storage", "0", 24, V::None), 0, &[1], &[1])),
        ("opaque", thing(vec![V::List(vec![floats(0, &[1], &[1])])])),
        ("plain", thing(vec![V::Int(1)])),
        ("epoch", V::Int(3)),
        ("lr", V::Float(1e-5)),
        ("betas", V::Tuple(vec![V::Float(0.9), V::Float(0.999)])),
        ("type", V::Global("torch", "float16")),
        ("none", V::None),
    ]);
    let value = V::Dict(match value {
        V::Dict(mut pairs) => {
            pairs.push((text("list"), V::Dict(vec![(V::Int(1), floats(6, &[1], &[1]))])));
            pairs
        }
        other => panic!("{other:?}"),
    });
    let expected = [
        "p '<f4' [1] [0]",
        "pairs.k '<f4' [1] [2]",
        "net.w '<f4' [1] [3]",
        "net.cache '<f4' [1] [7]",
        "net.mean '<f4' [1] [8]",
        "net.0.b '<f4' [1] [4]",
        "script.w '<f4' [1] [1]",
        "list.1 '<f4' [1] [5]",
        "f8 '<V1' [2]",
        "u16 '<u2' [2]",
        "bits: Unsupported: items of torch.bits8 are not read",
        "q: Unsupported: torch._utils._rebuild_qtensor of 6 arguments makes it, which is not read",
        "opaque: Unsupported: it is in an object of the class my.code.Thing, which is not known",
        "list.1#2 '<f4' [1] [6]",
    ];
    assert_eq!(listed(&zipped(&value)).expect("a file"), expected);
    let reader = reader(&zipped(&value)).expect("a file");
    let metadata = reader.file_of(0).expect("facts").metadata.expect("facts");
    let facts: Vec<_> = metadata.shown.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let expected = [
        "betas=[0.9, 0.999]",
        "classes passed over=my.code.Thing",
        "epoch=3",
        "list.0=1",
        "lr=1e-05",
        "type=torch.float16",
    ];
    assert_eq!(facts, expected);
}

/// Bytes have one identity in all protocols, and a text is kept whole.
#[test]
fn values_that_are_long() {
    let long = "x".repeat(1000);
    let facts = |bytes: V, hugest: u8| {
        let mut pickle = dict([("w", floats(0, &[1], &[1])), ("b", bytes), ("s", text(&long))]).pickle();
        pickle.pop();
        pickle.extend(b"X\x01\0\0\0h\x8a\x11");
        pickle.extend([[7; 16].as_slice(), &[hugest], b"s."].concat());
        let reader = reader(&zip(&[("x/data.pkl", pickle), ("x/data/0", storage_bytes())], false)).expect("a file");
        let metadata = reader.file_of(0).expect("facts").metadata.expect("facts");
        (metadata.shown.clone(), metadata.exact.values().expect("hashes"))
    };
    let encode = |chars: &str| call("_codecs", "encode", vec![text(chars), text("latin1")]);
    let (shown, exact) = facts(V::Bytes(b"a\xff"), 1);
    assert_eq!(shown.get("b").map(String::as_str), Some("2 bytes"));
    assert_eq!(shown.get("h").map(String::as_str), Some("integer of 17 bytes"));
    assert_eq!(shown.get("s"), Some(&long));
    assert_eq!(facts(encode("a\u{ff}"), 1).1, exact, "protocol 2");
    assert_ne!(facts(V::Bytes(b"a\xfe"), 1).1, exact, "other bytes");
    assert_ne!(facts(V::Bytes(b"a\xff"), 2).1, exact, "another integer");
}

/// The line of a tensor that is called `w`, without the name.
fn line_of(value: V) -> String {
    let lines = listed(&zipped(&dict([("w", value)]))).expect("a file");
    lines.first().map_or_else(|| "nothing".to_owned(), |line| line.trim_start_matches(['w', ' ', ':']).to_owned())
}

/// Checks a change of each argument of a call, by its place, against the beginning of a line.
fn check_arguments(module: &'static str, name: &'static str, args: &[V], unchanged: &str, rows: &[(usize, V, &str)]) {
    assert_eq!(line_of(call(module, name, args.to_vec())), unchanged, "{name}");
    for (place, value, expected) in rows {
        let mut changed = args.to_vec();
        changed.resize((*place + 1).max(args.len()), V::None);
        changed[*place] = value.clone();
        let line = line_of(call(module, name, changed));
        assert!(line.starts_with(expected), "{name}, argument {place}, {value:?}: {line}");
    }
    let unknown = format!("Unsupported: {module}.{name} of ");
    for count in [args.len() - 1, args.len() + 2] {
        let mut changed = args.to_vec();
        changed.resize(count, V::None);
        let line = line_of(call(module, name, changed));
        assert!(line.starts_with(&unknown) && line.ends_with("makes it, which is not read"), "{count}: {line}");
    }
    // a state or items that torch sets would bear on the numbers
    let set = line_of(state(call(module, name, args.to_vec()), V::Tuple(vec![])));
    assert!(set.starts_with("Unsupported: "), "{name}: {set}");
}

#[test]
fn arguments_of_constructors() {
    let parts = || vec![storage("FloatStorage", "0", 24, V::None), V::Int(2), ints(&[1]), ints(&[1])];
    let with = |more: Vec<V>| [parts(), more].concat();
    let read = "'<f4' [1] [2]";
    let flag = |place| (place, V::Int(1), "Unsupported: its requires_grad 1 is not known");
    let hook = |place| (place, V::Int(1), "Unsupported: its backward_hooks 1 is not known");
    let rows = [
        (0, text("x"), "Malformed: a tensor without a storage"),
        (1, V::Int(-1), "Malformed: an offset below 0"),
        (2, V::Int(1), "Malformed: its shape is not a list of dims"),
        (3, V::None, "Malformed: its strides are no list of numbers"),
    ];
    check_arguments("torch._utils", "_rebuild_tensor", &parts(), read, &rows);
    let unknown = "Unsupported: its metadata ";
    let bits = |bit| dict([(bit, V::Bool(true))]);
    let rows = [
        flag(4),
        hook(5),
        (4, V::Bool(true), read),
        (5, V::None, read),
        (5, call("collections", "OrderedDict", vec![V::List(vec![])]), read),
        (6, V::None, read),
        (6, dict([]), read),
        (6, bits("neg"), "'<f4' [1] [-2]"),
        (6, bits("conj"), "Unsupported: its metadata {'conj': True} is not known"),
        (6, bits("zero"), "Unsupported: its metadata {'zero': True} is not known"),
        (6, dict([("neg", V::Bool(false))]), unknown),
        (6, dict([("neg", V::Int(1))]), unknown),
        (6, dict([("neg", V::Bool(true)), ("x", V::Bool(true))]), unknown),
        (6, V::List(vec![]), unknown),
    ];
    check_arguments("torch._utils", "_rebuild_tensor_v2", &with(vec![V::Bool(false), hooks()]), read, &rows);
    let v3 = with(vec![V::Bool(false), hooks(), V::Global("torch", "float32")]);
    let rows = [
        flag(4),
        hook(5),
        (6, V::Global("torch", "int32"), "'<i4' [1]"),
        (6, V::Global("torch", "uint4"), "Unsupported: items of torch.uint4 are not read"),
        (6, V::Global("torch", "bits8"), "Unsupported: items of torch.bits8 are not read"),
        (7, bits("neg"), "'<f4' [1] [-2]"),
        (7, bits("zero"), unknown),
    ];
    check_arguments("torch._utils", "_rebuild_tensor_v3", &v3, read, &rows);
    let data = || floats(2, &[1], &[1]);
    let odd = (0, V::None, "Unsupported: it is made of an unknown object");
    let rows = [odd.clone(), (0, array(b"abcd", "f4"), "Unsupported: its data"), flag(1), hook(2)];
    check_arguments("torch._utils", "_rebuild_parameter", &[data(), V::Bool(true), hooks()], read, &rows);
    let holder = "Unsupported: its state";
    let rows = [
        flag(1),
        hook(2),
        (3, V::None, read),
        (3, dict([("sharded", V::Bool(true)), ("name", text("x"))]), read),
        (3, dict([("scale", data())]), holder),
        (3, dict([("scale", array(b"abcd", "f4"))]), holder),
        (3, dict([("real", V::Int(3))]), "Unsupported: its state {'real': 3} is not known"),
        (3, dict([("data", V::None)]), holder),
        (3, V::Dict(vec![(V::Int(1), V::Int(1))]), holder),
        (3, V::Int(1), "Unsupported: its state 1 is not known"),
    ];
    let args = [data(), V::Bool(true), hooks(), dict([])];
    check_arguments("torch._utils", "_rebuild_parameter_with_state", &args, read, &rows);
    check_arguments("torch.nn.parameter", "Parameter", &[data()], read, &[odd.clone(), flag(1)]);
    let dtype = |name| V::Global("torch", name);
    let rows = [
        odd,
        (0, array(b"abcd", "f4"), "Unsupported: its data"),
        (1, dtype("float16"), "Unsupported: its to_dtype torch.float16 is not known"),
        (2, text("meta"), "Unsupported: its device 'meta' is not known"),
        (2, V::Int(0), "Unsupported: its device 0 is not known"),
        flag(3),
    ];
    let args = [data(), dtype("float32"), text("xla:0"), V::Bool(false)];
    check_arguments("torch._utils", "_rebuild_device_tensor_from_cpu_tensor", &args, read, &rows);
    let read = "'<f4' [1] [2]";
    let args = [array(b"\0\0\0@", "f4"), dtype("float32"), text("xla:0"), V::Bool(false)];
    let rows = [
        (0, data(), "Unsupported: its array"),
        (0, scalar(b"\0\0\0@", "f4"), "Unsupported: its array"),
        (1, dtype("int32"), "Unsupported: its to_dtype torch.int32 is not known"),
        (2, text("meta"), "Unsupported: its device"),
        flag(3),
    ];
    for name in ["_rebuild_device_tensor_from_numpy", "_rebuild_xla_tensor"] {
        check_arguments("torch._utils", name, &args, read, &rows);
    }
    let function = |name| V::Global("torch._utils", name);
    let inner = with(vec![V::Bool(false), hooks()]);
    let args = [function("_rebuild_tensor_v2"), V::Global("torch", "Tensor"), V::Tuple(inner.clone()), dict([])];
    let rows = [
        (0, function("_rebuild_qtensor"), "Unsupported: torch._utils._rebuild_qtensor of 6 arguments"),
        (1, V::Global("torch.nn.parameter", "Parameter"), read),
        (1, V::Global("my.code", "Tensor"), "Unsupported: its new_type my.code.Tensor is not known"),
        (2, V::Tuple([inner, vec![bits("neg")]].concat()), "'<f4' [1] [-2]"),
        (2, V::Tuple(parts()), "Unsupported: torch._utils._rebuild_tensor_v2 of 4 arguments"),
        (3, V::None, read),
        (3, dict([("persistent", V::Bool(false))]), read),
        (3, dict([("scale", data())]), holder),
    ];
    check_arguments("torch._tensor", "_rebuild_from_type_v2", &args, read, &rows);
    // requires_grad is one of floats
    let longs = rebuilt("_rebuild_tensor", storage("LongStorage", "0", 12, V::None), 0, &[1], &[1]);
    let line = line_of(call("torch._utils", "_rebuild_parameter", vec![longs, V::Bool(true), hooks()]));
    assert_eq!(line, "Unsupported: its requires_grad True is not known");
    let deep = (0..20).fold(data(), |data, _| call("torch.nn.parameter", "Parameter", vec![data]));
    assert!(line_of(deep).starts_with("Unsupported: torch.nn.parameter.Parameter of 1 arguments"));
    let old = |parts: Vec<V>| state(call("torch.nn.parameter", "Parameter", vec![data()]), V::Tuple(parts));
    assert_eq!(line_of(old(vec![V::Bool(true), V::Bool(false), hooks()])), read);
    assert_eq!(line_of(old(vec![V::Int(1), V::Bool(false), hooks()])), "Unsupported: its requires_grad 1 is not known");
    // a class that makes tensors is listed, whatever it has
    for (module, name) in [
        ("torch._utils", "_rebuild_meta_tensor_no_storage"),
        ("torch._utils", "_rebuild_sparse_tensor"),
        ("torch._utils", "_rebuild_wrapper_subclass"),
        ("torch", "FloatTensor"),
        ("torch.storage", "_load_from_bytes"),
        ("torch.nn.parameter", "UninitializedParameter"),
        ("numpy.ma.core", "_mareconstruct"),
    ] {
        let expected = format!("Unsupported: {module}.{name} of 1 arguments makes it, which is not read");
        assert_eq!(line_of(call(module, name, vec![V::Int(1)])), expected);
    }
    let held = |value| line_of(call("my.code", "Thing", vec![value]));
    let expected = "Unsupported: it is in an object of the class my.code.Thing, which is not known";
    assert_eq!(held(array(b"abcd", "f4")), expected);
    assert_eq!(held(V::List(vec![scalar(b"abcd", "f4")])), expected);
}

#[test]
fn conjugated_and_negated_items() {
    let bits = |names: &[&str]| V::Dict(names.iter().map(|name| (text(name), V::Bool(true))).collect());
    let viewed = |class, offset: i64, shape: &[i64], strides: &[i64], names: &[&str]| {
        let args = vec![storage(class, "0", 12, V::None), V::Int(offset), ints(shape), ints(strides)];
        call("torch._utils", "_rebuild_tensor_v2", [args, vec![V::Bool(false), hooks(), bits(names)]].concat())
    };
    let value = dict([
        ("plain", viewed("ComplexFloatStorage", 0, &[2], &[1], &[])),
        ("conj", viewed("ComplexFloatStorage", 0, &[2], &[1], &["conj"])),
        ("neg", viewed("ComplexFloatStorage", 0, &[2], &[1], &["neg"])),
        ("both", viewed("ComplexFloatStorage", 0, &[2], &[1], &["neg", "conj"])),
        ("fortran", viewed("ComplexFloatStorage", 0, &[2, 2], &[1, 2], &["conj"])),
        ("bf16", viewed("BFloat16Storage", 1, &[2], &[2], &["neg"])),
        ("longs", viewed("LongStorage", 0, &[2], &[1], &["neg"])),
    ]);
    let floats: Vec<f32> = vec![1.0, 2.0, -3.0, f32::NAN, 0.0, -0.0, 7.0, 8.0];
    let expected: [(&str, Vec<f32>); 5] = [
        ("plain", vec![1.0, 2.0, -3.0, f32::NAN]),
        ("conj", vec![1.0, -2.0, -3.0, -f32::NAN]),
        ("neg", vec![-1.0, -2.0, 3.0, -f32::NAN]),
        ("both", vec![-1.0, 2.0, 3.0, f32::NAN]),
        ("fortran", vec![1.0, -2.0, 0.0, 0.0, -3.0, -f32::NAN, 7.0, -8.0]),
    ];
    for order in ["little", "big"] {
        let stored = |item: &f32| if order == "big" { item.to_be_bytes() } else { item.to_le_bytes() };
        let mut content = floats.iter().map(stored).collect::<Vec<_>>().concat();
        content.resize(96, 0);
        let files = [("x/data.pkl", value.pickle()), ("x/byteorder", order.into()), ("x/data/0", content)];
        let reader = reader(&zip(&files, false)).expect("a file");
        for (n, (name, expected)) in expected.iter().enumerate() {
            let expected = expected.iter().map(stored).collect::<Vec<_>>().concat();
            assert_eq!(items(&reader, n).expect("items"), expected, "{name}, {order}");
        }
        // the place says nothing of items that are not the stored ones
        assert_eq!(reader.describe(1).expect("a tensor").range(), None);
        let bf16: Vec<u8> = if order == "big" { vec![0, 0x80, 0, 0xc0] } else { vec![0x80, 0xbf, 0, 0xc0] };
        assert_eq!(items(&reader, 5).expect("items")[1] & 0x80, 0x80 & bf16[1], "{order}");
        let refused = reader.describe(6).expect_err("integers");
        assert_eq!(refused.message(), "its metadata {'neg': True} is not known");
    }
    let deflated = zip(&[("x/data.pkl", value.pickle()), ("x/data/0", vec![0; 96])], true);
    let reader = reader(&deflated).expect("a file");
    let refused = reader.describe(1).expect_err("deflated");
    assert_eq!(refused.message(), "it is deflated and conjugated or negated, which is not read");
}

fn numpy_dtype(kind: &str, order: &str, size: i64) -> V {
    let args = vec![text(kind), V::Bool(false), V::Bool(true)];
    let fields = vec![V::Int(3), text(order), V::None, V::None, V::None, V::Int(size), V::Int(-1), V::Int(0)];
    state(call("numpy", "dtype", args), V::Tuple(fields))
}

fn array_of(shape: V, dtype: V, is_fortran: V, items: V) -> V {
    let args = vec![V::Global("numpy", "ndarray"), ints(&[0]), V::Bytes(b"b")];
    let made = call("numpy.core.multiarray", "_reconstruct", args);
    state(made, V::Tuple(vec![V::Int(1), shape, dtype, is_fortran, items]))
}

/// An array of one item.
fn array(items: &'static [u8], kind: &str) -> V {
    array_of(ints(&[1]), numpy_dtype(kind, "<", -1), V::Bool(false), V::Bytes(items))
}

fn scalar(items: &'static [u8], kind: &str) -> V {
    call("numpy._core.multiarray", "scalar", vec![numpy_dtype(kind, "<", -1), V::Bytes(items)])
}

#[test]
fn arrays_of_numpy() {
    let latin1 = |text: &str| call("_codecs", "encode", vec![V::Text(text.to_owned()), V::Text("latin1".to_owned())]);
    let pair = |shape: &[i64], is_fortran, items| {
        array_of(ints(shape), numpy_dtype("f4", "<", -1), V::Bool(is_fortran), items)
    };
    let six: &[u8] = b"\0\0\x80?\0\0\0@\0\0@@\0\0\x80@\0\0\xa0@\0\0\xc0@";
    let six_as_text: String = six.iter().map(|byte| char::from(*byte)).collect();
    let buffer = |order: &str, items: V| {
        let args = vec![items, numpy_dtype("f4", "<", -1), ints(&[2, 3]), text(order)];
        call("numpy._core.numeric", "_frombuffer", args)
    };
    let date = |unit: V| {
        let V::State(made, fields) = numpy_dtype("M8", "<", -1) else { panic!("a state") };
        let V::Tuple(mut fields) = *fields else { panic!("a tuple") };
        fields[0] = V::Int(4);
        fields.push(V::Tuple(vec![V::None, unit]));
        V::State(made, V::Tuple(fields).into())
    };
    let unit = |name, count| date(V::Tuple(vec![V::Bytes(name), V::Int(count), V::Int(1), V::Int(1)]));
    let of = |dtype: V, shape: &[i64], items| array_of(ints(shape), dtype, V::Bool(false), V::Bytes(items));
    let rows = [
        (pair(&[2, 3], false, V::Bytes(six)), "'<f4' [2, 3] [1, 2, 3, 4, 5, 6]"),
        (pair(&[2, 3], true, V::Bytes(six)), "'<f4' [2, 3] [1, 3, 5, 2, 4, 6]"),
        (pair(&[2, 3], false, latin1(&six_as_text)), "'<f4' [2, 3] [1, 2, 3, 4, 5, 6]"),
        (pair(&[0, 3], true, call("__builtin__", "bytes", vec![])), "'<f4' [0, 3] []"),
        (scalar(b"\0\0\0@", "f4"), "'<f4' [] [2]"),
        (buffer("C", V::Bytes(six)), "'<f4' [2, 3] [1, 2, 3, 4, 5, 6]"),
        (buffer("F", V::Bytes(six)), "'<f4' [2, 3] [1, 3, 5, 2, 4, 6]"),
        (buffer("K", V::Bytes(six)), "Unsupported: its order 'K' is not known"),
        (of(numpy_dtype("i2", ">", -1), &[2], b"abcd"), "'>i2' [2]"),
        (of(numpy_dtype("b1", "|", -1), &[2], b"\0\x01"), "'|b1' [2]"),
        (of(numpy_dtype("c16", ">", -1), &[1], b"0123456789abcdef"), "'>c16' [1]"),
        (of(numpy_dtype("U2", "<", 8), &[1], b"a\0\0\0b\0\0\0"), "'<U2' [1]"),
        (of(numpy_dtype("S3", "|", 3), &[2], b"abcdef"), "'|S3' [2]"),
        (of(numpy_dtype("V3", "|", 3), &[1], b"abc"), "'|V3' [1]"),
        (of(unit(b"ns", 1), &[1], b"12345678"), "'<M8[ns]' [1]"),
        (of(unit(b"us", 25), &[1], b"12345678"), "'<M8[25us]' [1]"),
        (of(unit(b"generic", 1), &[1], b"12345678"), "'<M8' [1]"),
        (of(date(V::None), &[1], b"12345678"), "Unsupported: its dtype of NumPy is not known"),
        (of(numpy_dtype("U2", "<", 4), &[1], b"a\0\0\0"), "Unsupported: its dtype of NumPy is not known"),
        (of(numpy_dtype("f4", "<", 4), &[1], b"abcd"), "Unsupported: its dtype of NumPy is not known"),
        (of(numpy_dtype("V2", "<", 2), &[1], b"ab"), "Unsupported: its dtype of NumPy is not known"),
        (of(numpy_dtype("O8", "|", -1), &[1], b"12345678"), "Unsupported: its dtype of NumPy is not known"),
        (of(V::None, &[1], b"ab"), "Unsupported: its dtype of NumPy is not known"),
        (pair(&[2, 2], false, V::Bytes(six)), "Malformed: its items are not 16 bytes"),
        (pair(&[1], false, latin1("\u{100}\0\0\0")), "Malformed: its items are not 4 bytes"),
        (pair(&[1], false, V::List(vec![V::Int(1)])), "Malformed: its items are not 4 bytes"),
        (pair(&[-1], false, V::Bytes(six)), "Malformed: its shape is not a list of dims"),
        (pair(&[i64::MAX, 2], false, V::Bytes(six)), "Malformed: its shape is larger than memory can be"),
        (
            array_of(ints(&[1]), numpy_dtype("f4", "<", -1), V::Int(0), V::Bytes(b"abcd")),
            "Unsupported: its is_fortran 0",
        ),
    ];
    for (value, expected) in rows {
        let line = line_of(value.clone());
        assert!(line == expected || line.starts_with(expected) && line.ends_with("is not known"), "{value:?}: {line}");
    }
    let made = |args: Vec<V>, version: i64| {
        let fields = vec![V::Int(version), ints(&[1]), numpy_dtype("f4", "<", -1), V::Bool(false), V::Bytes(b"abcd")];
        line_of(state(call("numpy.core.multiarray", "_reconstruct", args), V::Tuple(fields)))
    };
    let class = |name| V::Global("numpy", name);
    assert_eq!(
        made(vec![class("matrix"), ints(&[0]), V::Bytes(b"b")], 1),
        "Unsupported: its subtype numpy.matrix is not known"
    );
    assert_eq!(made(vec![class("ndarray"), ints(&[1]), V::Bytes(b"b")], 1), "Unsupported: its empty (1,) is not known");
    assert_eq!(
        made(vec![class("ndarray"), ints(&[0]), V::Bytes(b"c")], 1),
        "Unsupported: its letter b'c' is not known"
    );
    assert_eq!(made(vec![class("ndarray"), ints(&[0]), V::Bytes(b"b")], 2), "Unsupported: its version 2 is not known");
    // the byte order of the file is that of its storages
    let value = dict([("w", of(numpy_dtype("i2", "<", -1), &[2], b"abcd"))]);
    let big = zip(&[("x/data.pkl", value.pickle()), ("x/byteorder", b"big".to_vec())], true);
    assert_eq!(listed(&big).expect("a file"), ["w '<i2' [2]"]);
    assert_eq!(items(&reader(&big).expect("a file"), 0).expect("items"), b"abcd");
}

#[test]
fn keys_are_names() {
    let key = |key: V| {
        let lines = listed(&zipped(&V::Dict(vec![(key, floats(0, &[1], &[1]))]))).expect("a file");
        lines[0].split(" '<f4'").next().unwrap_or_default().to_owned()
    };
    let latin1 = |text: &str| call("_codecs", "encode", vec![V::Text(text.to_owned()), V::Text("latin1".to_owned())]);
    let path = call("pathlib", "PosixPath", vec![text("a"), text("b")]);
    let rows = [
        (text("x"), "x"),
        (V::Bytes(b"x"), "b'x'"),
        (V::Bytes(b"it's\x00"), "b\"it's\\x00\""),
        (latin1("\u{e9}"), "b'\\xe9'"),
        (call("__builtin__", "bytes", vec![]), "b''"),
        (V::Int(3), "3"),
        (V::Int(-(1 << 40)), "-1099511627776"),
        (V::Long(-1 << 100), "-1267650600228229401496703205376"),
        (V::Float(0.5), "0.5"),
        (V::Float(1e-5), "1e-05"),
        (V::Float(1e16), "1e+16"),
        (V::Float(1.5e300), "1.5e+300"),
        (V::Float(f64::NEG_INFINITY), "-inf"),
        (V::Float(f64::NAN), "nan"),
        (V::Bool(true), "True"),
        (V::None, "None"),
        (V::Tuple(vec![]), "()"),
        (V::Tuple(vec![text("a")]), "('a',)"),
        (V::Tuple(vec![V::Int(1), V::Tuple(vec![V::Bytes(b"y"), V::None])]), "(1, (b'y', None))"),
        (V::Global("torch", "float16"), "torch.float16"),
        (path, "pathlib.PosixPath('a', 'b')"),
        (V::Bytes(&[b'x'; 300]), "0"),
    ];
    for (value, expected) in rows {
        assert_eq!(key(value.clone()), expected, "{value:?}");
    }
    // tuples that hold the one before them twice
    let mut bomb = b"\x80\x02}Nq\x000(h\x00".to_vec();
    (0..100).for_each(|_| bomb.extend(b"q\x01h\x01\x86"));
    bomb.extend(floats(0, &[1], &[1]).pickle()[2..].split_last().expect("a stop").1);
    bomb.extend(b"u.");
    let lines = listed(&zip(&[("x/data.pkl", bomb), ("x/data/0", storage_bytes())], false)).expect("a file");
    assert_eq!(lines, ["0 '<f4' [1] [0]"]);
    let both = V::Dict(vec![(text("3"), floats(0, &[1], &[1])), (V::Int(3), floats(1, &[1], &[1]))]);
    assert_eq!(listed(&zipped(&both)).expect("a file"), ["3 '<f4' [1] [0]", "3#2 '<f4' [1] [1]"]);
}

#[test]
fn pickles_of_protocols_0_and_1() {
    let one: &[u8] = b"}q\0(X\x01\0\0\0wq\x01ctorch._utils\n_rebuild_tensor_v2\nq\x02((X\x07\0\0\0storageq\x03ctorch\n\
        FloatStorage\nq\x04X\x01\0\0\x000q\x05X\x03\0\0\0cpuq\x06K\x18tq\x07QK\0(K\x02tq\x08(K\x01tq\tI00\nccollections\n\
        OrderedDict\nq\n)Rq\x0btq\x0cRq\rX\x01\0\0\0bL1180591620717411303424L\nu.";
    let zero = b"(dp0\nV\xe9\\u000a\\U0001f600\np1\nctorch._utils\n_rebuild_tensor_v2\np2\n(P('storage', <class 'torch.FloatStorage'>, \
        '0', 'cpu', 24)\nI1\n(I2\ntp3\n(I1\ntp4\nI00\nccollections\nOrderedDict\np5\n(tRp6\ntp7\nRp8\nsVl\n(lp9\nF1e-05\na\
        I01\naL3L\nasc_codecs\nencode\n(V\xff\\u0000\nVlatin1\ntR(ctorch.nn.parameter\nParameter\ng8\nos.";
    let file = |pickle: &[u8]| zip(&[("x/data.pkl", pickle.to_vec()), ("x/data/0", storage_bytes())], false);
    assert_eq!(listed(&file(one)).expect("protocol 1"), ["w '<f4' [2] [0, 1]"]);
    let names = ["\u{e9}\n\u{1f600} '<f4' [2] [1, 2]", "b'\\xff\\x00' '<f4' [2] [1, 2]"];
    assert_eq!(listed(&file(zero)).expect("protocol 0"), names);
    let reader = reader(&file(zero)).expect("protocol 0");
    let metadata = reader.file_of(0).expect("facts").metadata.expect("facts");
    assert_eq!(metadata.shown.get("l").map(String::as_str), Some("[1e-05, True, 3]"));
    for bad in ["('storage', 1, '0', 'cpu', 24)", "('x', <class 'torch.FloatStorage'>, '0', 'cpu', 24)", "", "('')"] {
        let pickle = [b"P", bad.as_bytes(), b"\n."].concat();
        let lines = listed(&file(&pickle)).expect("a file");
        assert!(lines[0].starts_with("tensor: Malformed: "), "{bad}: {}", lines[0]);
    }
    let stream =
        [b"L119547037146038801333356L\n.I1001\n.}.", one, b"](X\x01\0\0\x000e.", &24_u64.to_le_bytes()].concat();
    assert_eq!(listed(&[stream, storage_bytes()].concat()).expect("a stream"), ["w '<f4' [2] [0, 1]"]);
}

#[test]
fn files_of_an_archive() {
    let value = dict([("a", floats(0, &[2], &[1]))]).pickle();
    let constants = V::Tuple(vec![floats(1, &[2], &[1])]).pickle();
    let files = |byteorder: &str| {
        zip(
            &[
                ("x/", Vec::new()),
                ("x/data/0", storage_bytes()),
                ("x/data.pkl", value.clone()),
                ("x/constants.pkl", constants.clone()),
                ("x/constants/0", storage_bytes()),
                ("x/byteorder", byteorder.as_bytes().to_vec()),
            ],
            false,
        )
    };
    let expected = ["a '<f4' [2] [0, 1]", "constants.0 '<f4' [2] [1, 2]"];
    assert_eq!(listed(&files("little")).expect("a file"), expected);
    assert_eq!(listed(&files("big")).expect("a file"), ["a '>f4' [2]", "constants.0 '>f4' [2]"]);
    assert_eq!(listed(&files("odd")).expect_err("an order").message(), "byteorder is neither little nor big");
    let exported = zip(&[("x/archive_format", b"pt2".to_vec())], false);
    assert!(listed(&exported).expect_err("a .pt2").message().contains(".pt2"));
    // an `.npz` is not taken for one
    for name in ["a.npy", "x/a.npy", "data.pkl", "a/b/c"] {
        assert_eq!(sure(&zip(&[(name, Vec::new())], false), None), Confidence::No, "{name}");
    }
}

#[test]
fn views_in_a_stream() {
    let viewed = |offset: i64| V::Tuple(vec![text("1"), V::Int(offset), V::Int(4)]);
    let of = |offset: i64, first: i64| {
        rebuilt("_rebuild_tensor", storage("FloatStorage", "0", 24, viewed(offset)), first, &[2], &[1])
    };
    let value = dict([("a", of(0, 0)), ("b", of(20, 2)), ("cut", of(22, 0)), ("over", of(0, 3))]);
    let stream = legacy(&value, &[("0", 24, storage_bytes())]);
    let found = listed(&stream).expect("a stream");
    assert_eq!(found[..2], ["a '<f4' [2] [0, 1]", "b '<f4' [2] [22, 23]"]);
    assert_eq!(found[2], "cut: Malformed: its storage \"0\" has 96 bytes, expected 104");
    assert!(
        found[3].starts_with("over: Malformed: shape [2] with strides [1] from item 3 on ends beyond"),
        "{}",
        found[3]
    );
    let cut = listed(&stream[..stream.len() - 1]).expect("a stream");
    assert!(cut[0].contains("Malformed") && cut[0].contains("it is cut off"), "{}", cut[0]);
}

#[test]
fn damaged_tensors_are_named() {
    let mut on_meta = storage("FloatStorage", "0", 24, V::None);
    if let V::Persistent(id) = &mut on_meta
        && let V::Tuple(fields) = &mut **id
    {
        fields[3] = text("meta");
    }
    let value = dict([
        ("good", floats(0, &[1], &[1])),
        ("beyond", floats(0, &[25], &[1])),
        ("far", floats(0, &[2], &[i64::MAX])),
        ("negative", floats(0, &[2], &[-1])),
        ("huge", floats(0, &[i64::MAX, i64::MAX], &[0, 0])),
        ("axes", floats(0, &[1; 65], &[1; 65])),
        ("uneven", floats(0, &[1], &[])),
        ("large", rebuilt("_rebuild_tensor_v2", storage("FloatStorage", "0", 25, V::None), 0, &[25], &[1])),
        ("missing", rebuilt("_rebuild_tensor_v2", storage("FloatStorage", "1", 1, V::None), 0, &[1], &[1])),
        ("none", rebuilt("_rebuild_tensor_v2", V::None, 0, &[1], &[1])),
        ("meta", rebuilt("_rebuild_tensor_v2", on_meta, 0, &[1], &[1])),
    ]);
    let found = listed(&zipped(&value)).expect("a file");
    assert_eq!(found[0], "good '<f4' [1] [0]");
    for line in &found[1..] {
        assert!(line.contains(": Malformed: "), "{line}");
    }
    assert_eq!(found.len(), 11);
}

#[test]
fn hostile_pickles() {
    let repeat = |bytes: &[u8], count: usize| bytes.repeat(count);
    // each list has the one before it twice
    let mut bomb = b"\x80\x02]q\x000".to_vec();
    for n in 0..200_u8 {
        bomb.extend([b']', b'q', n + 1, b'(', b'h', n, b'h', n, b'e', b'0']);
    }
    bomb.extend(b"h\xc8.");
    let rows: Vec<(Vec<u8>, &str)> = vec![
        (b"".to_vec(), "cut off"),
        (b"S'a'\n.".to_vec(), "opcode 0x53"),
        (b"g1\n.".to_vec(), "value 1 of the memo is missing"),
        (b"gx\n.".to_vec(), "the number of a value is malformed"),
        (b"I1".to_vec(), "cut off"),
        (b"V\\u00\n.".to_vec(), "an escape in a text is malformed"),
        (b"V\\ud800\n.".to_vec(), "an escape in a text is malformed"),
        (b"(I1\nd.".to_vec(), "a key without a value"),
        (b"\x80\x02".to_vec(), "cut off"),
        (b"X\xff\xff\xff\xff".to_vec(), "cut off"),
        (b"\x8d\xff\xff\xff\xff\xff\xff\xff\xff.".to_vec(), "cut off"),
        (b".".to_vec(), "the stack is empty"),
        (b"(0.".to_vec(), "the stack is empty"),
        (b"N(0".to_vec(), "the stack is empty"),
        (b"t".to_vec(), "a mark is missing"),
        (b"N(\x85".to_vec(), "the stack is empty"),
        (b"h\x01.".to_vec(), "value 1 of the memo is missing"),
        (b"NNa.".to_vec(), "an item for a value that is not a container"),
        (b"}(Nu.".to_vec(), "a key without a value"),
        (b"NNR.".to_vec(), "the arguments of a class are no tuple"),
        (b"\x97".to_vec(), "opcode 0x97"),
        (bomb, "more than"),
        ([repeat(b"]", 300), repeat(b"a", 299), b".".to_vec()].concat(), "containers within one another"),
        (repeat(b"(", pickle::MAX_MARKS + 1), "marks"),
    ];
    for (pickle, expected) in rows {
        let shown = pickle[..pickle.len().min(20)].escape_ascii().to_string();
        let error = listed(&zip(&[("x/data.pkl", pickle)], false)).expect_err(&shown).to_string();
        assert!(error.contains(expected) && error.starts_with("data.pkl: "), "{shown}: {error}");
    }
    // a list that holds itself
    assert_eq!(listed(&zip(&[("x/data.pkl", b"]q\x00h\x00a.".to_vec())], false)).expect("a list"), [""; 0]);
}

#[test]
fn damaged_files() {
    let value = dict([
        ("a", floats(1, &[2, 2, 2], &[1, 6, 2])),
        ("b", V::Call(Box::new(V::Global("collections", "OrderedDict")), vec![V::List(vec![floats(0, &[24], &[1])])])),
    ]);
    let read = |bytes: &[u8]| {
        let content = Content::from_bytes(Arc::new(MemoryBytes::new(bytes)), Threads::default()).expect("bytes");
        let Ok(reader) = open(content) else { return };
        let count = reader.members.names().map_or(0, <[String]>::len);
        (0..count)
            .for_each(|n| drop(reader.describe(n).is_ok_and(|found| found.bytes < 1 << 20).then(|| items(&reader, n))));
    };
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for bytes in [zipped(&value), legacy(&value, &[("0", 24, storage_bytes())])] {
        (0..bytes.len()).for_each(|len| read(&bytes[..len]));
        for _ in 0..1000 {
            let mut mutant = bytes.clone();
            for _ in 0..=random(3) {
                let at = random(mutant.len());
                mutant[at] = [0, 1, 0xff, b'R', b'Q', random(256) as u8][random(6)];
            }
            read(&mutant);
        }
    }
}

use std::io::Write;
use std::sync::Arc;

use super::*;
use crate::error::ErrorKind;
use crate::layout::view::View;
use crate::parallel::Threads;
use crate::storage::read_at::MemoryBytes;
use crate::storage::source::Hold;

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

fn rebuilt(function: &'static str, storage: V, offset: i64, shape: &[i64], strides: &[i64]) -> V {
    let args = vec![storage, V::Int(offset), ints(shape), ints(strides), V::None, V::None];
    V::Call(Box::new(V::Global("torch._utils", function)), args)
}

fn call(module: &'static str, name: &'static str, args: Vec<V>) -> V {
    V::Call(Box::new(V::Global(module, name)), args)
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

fn reader(bytes: &[u8]) -> Result<Box<dyn Reader>> {
    let content = Content::from_bytes(Arc::new(MemoryBytes::new(bytes)), Threads::default())?;
    assert_eq!(sure(&content.begin, None), Confidence::Certain);
    open(content)
}

fn items(reader: &dyn Reader, n: usize) -> Result<Vec<u8>> {
    let mut source = reader.source(n, "x".to_owned())?;
    source.hold(Hold::Seekable, Threads::default())?;
    let mut out = vec![0; source.bytes()];
    source.read(&source.meta().view(), &mut out, &mut Default::default())?;
    Ok(out)
}

/// Describes each tensor, with float32 items as integers.
fn listed(bytes: &[u8]) -> Result<Vec<String>> {
    let reader = reader(bytes)?;
    let names = reader.names().expect("a container").to_vec();
    let line = |(n, name): (usize, String)| match reader.describe(n) {
        Err(error) => format!("{name}: {:?}: {error}", error.kind()),
        Ok(found) => {
            let Meta { dtype, shape, .. } = &found.meta;
            let begin = format!("{name} {} {shape:?}", dtype.descr());
            if dtype.descr() != "'<f4'" {
                return begin;
            }
            let items = items(&*reader, n).expect("items");
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
    assert_eq!(items(&*reader, 0).expect("a run"), [2.0_f32, 3.0, 4.0].map(f32::to_le_bytes).concat());
    let refused = reader.source(3, String::new()).expect_err("strided");
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
}

#[test]
fn reads_of_any_bytes_of_a_view() {
    let bytes: Vec<u8> = (0..=255).collect();
    let view = View::strided(vec![(3, 1), (4, 20), (2, 0), (5, 3)]);
    let all: Vec<u8> = view.places().into_iter().flat_map(|at| bytes[at * 2 + 6..][..2].to_vec()).collect();
    let bytes = Arc::new(MemoryBytes::new(bytes));
    let items = ByUnits(StridedItems { bytes, start: 6, view, itemsize: 2 });
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
    let parameter = V::Call(Box::new(V::Global("torch._utils", "_rebuild_parameter")), vec![floats(0, &[1], &[1])]);
    let ordered = |args: Vec<V>| V::Call(Box::new(V::Global("collections", "OrderedDict")), args);
    let module = |parameters: V, modules: V| {
        let state =
            [("training", V::Int(1)), ("_parameters", parameters), ("_buffers", dict([])), ("_modules", modules)];
        V::State(Box::new(V::Call(Box::new(V::Global("a", "Net")), vec![])), Box::new(dict(state)))
    };
    let script = V::State(
        Box::new(V::Call(Box::new(V::Global("__torch__.a", "Net")), vec![])),
        Box::new(dict([("training", V::Int(0)), ("w", floats(1, &[1], &[1]))])),
    );
    let thing = |args: Vec<V>| V::Call(Box::new(V::Global("my.code", "Thing")), args);
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
                dict([("w", floats(3, &[1], &[1]))]),
                dict([("0", module(dict([("b", floats(4, &[1], &[1]))]), dict([])))]),
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
        "net.0.b '<f4' [1] [4]",
        "script.w '<f4' [1] [1]",
        "list.1 '<f4' [1] [5]",
        "f8 '<V1' [2]",
        "u16 '<u2' [2]",
        "bits: Unsupported: items of torch.bits8 are not read",
        "q: Unsupported: torch._utils._rebuild_qtensor makes it, which is not read",
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
    assert_eq!(metadata.get("l").map(String::as_str), Some("[1e-05, True, 3]"));
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
    ]);
    let found = listed(&zipped(&value)).expect("a file");
    assert_eq!(found[0], "good '<f4' [1] [0]");
    for line in &found[1..] {
        assert!(line.contains(": Malformed: "), "{line}");
    }
    assert_eq!(found.len(), 10);
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
        (b"NNa.".to_vec(), "an item for what is no container"),
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
        let count = reader.names().map_or(0, <[String]>::len);
        (0..count).for_each(|n| {
            drop(reader.describe(n).is_ok_and(|found| found.bytes < 1 << 20).then(|| items(&*reader, n)))
        });
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

//! `tensorop convert`: every format from every format, names, casts, orders, and what is refused.

use std::cell::Cell;

use tensorop::internal::formats::npy::write_header;
use tensorop::internal::formats::safetensors::check as check_safetensors;
use tensorop::internal::formats::{json, onnx};
use tensorop::item::dtype::Kind;
use tensorop::{DType, Tensor};

use crate::common::{
    self, DIVISIONS, Folder, Refusal, bytes, deflated, difference, each, header, member, npy, npy_with_header, npz, pb,
    protobuf, refusals, safetensors, tensor, to_fortran, words, zip,
};

/// The endings of the formats, as `-o` knows them.
const FORMATS: [&str; 5] = ["npy", "npz", "safetensors", "pb", "json"];

/// Dtypes, as `--dtype` takes them.
const DTYPES: &[&str] = &[
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
    "float8_e3m4",
    "float8_e4m3",
    "float8_e4m3b11fnuz",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float6_e2m3fn",
    "float6_e3m2fn",
    "float4_e2m1fn",
    "int4",
    "uint4",
    "int2",
    "uint2",
    "<U3",
    "|S4",
    "<M8[D]",
    "<m8[ms]",
    "|V5",
    "<f16",
];

/// Items of any bits that are neither NaN nor infinite, whose bits JSON would not keep.
fn items(dtype: &DType, count: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    let mut out = Vec::new();
    for n in 0..count {
        match dtype.kind() {
            Kind::Bool => out.push(byte() & 1),
            Kind::Narrow(narrow) => {
                let mask = ((1_u16 << narrow.bits()) - 1) as u8;
                out.push((0..).map(|_| byte() & mask).find(|item| narrow.value(*item).is_finite()).unwrap_or(0));
            }
            Kind::Str(_) => out.extend(
                ["ab", "", "\u{e9}\u{1f600}x"][n % 3]
                    .chars()
                    .chain(['\0'; 3])
                    .take(3)
                    .flat_map(|c| (c as u32).to_le_bytes()),
            ),
            Kind::Bytes(_) => out.extend([*b"ab\0\0", *b"\0\0\0\0", *b"\xe9\xff~x"][n % 3]),
            Kind::Datetime(_) | Kind::Timedelta(_) => out.extend((n as i64 * 977 - 3000).to_le_bytes()),
            kind => {
                let size = dtype.itemsize();
                let part = if matches!(kind, Kind::Complex64 | Kind::Complex128) { size / 2 } else { size };
                let float =
                    matches!(kind, Kind::Float16 | Kind::BFloat16 | Kind::Float32 | Kind::Float64) || part < size;
                // the highest bit of an exponent
                out.extend((0..size).map(|at| if float && (at + 1) % part == 0 { byte() & 0xbf } else { byte() }));
            }
        }
    }
    out
}

/// A tensor as the library writes it in a format; `None` if that cannot hold it.
fn written(format: &str, dtype: &DType, shape: &[usize], items: &[u8]) -> Option<Vec<u8>> {
    let name = dtype.name();
    let tensor = Tensor::new(dtype.clone(), shape.to_vec(), items.to_vec()).ok()?;
    match format {
        "npy" => Some([write_header(tensor.meta()), items.to_vec()].concat()),
        "npz" => Some(npz(&[("arr_0", written("npy", dtype, shape, items)?)])),
        "safetensors" => {
            check_safetensors(dtype).ok()?;
            Some(safetensors(&[member("arr_0", &name, shape, items.to_vec())]))
        }
        // strings of ONNX are text
        "pb" if matches!(dtype.kind(), Kind::Bytes(_)) => None,
        "pb" if matches!(dtype.kind(), Kind::Str(_)) => onnx::write_strings(shape, "", &tensor).ok(),
        "pb" => {
            onnx::check(dtype).ok()?;
            Some(pb(member("", &name, shape, items.to_vec())))
        }
        _ => {
            let mut text = Vec::new();
            json::check(dtype).ok()?;
            json::write(&mut text, &tensor).ok()?;
            Some(text)
        }
    }
}

/// Each pair of formats, self included, gives the very bytes that the library writes.
#[test]
fn every_format_from_every_format() {
    let folder = Folder::new();
    let shape = [4, 2, 3];
    let turn = Cell::new(0_usize);
    each(
        DTYPES.iter().copied(),
        |dtype| (*dtype).to_owned(),
        |name| {
            let dtype = DType::parse(name).map_err(|e| e.message().to_owned())?;
            let items = items(&dtype, 24);
            let all = FORMATS.map(|format| (format, written(format, &dtype, &shape, &items)));
            let held: Vec<_> = all.into_iter().filter_map(|(format, file)| Some((format, file?))).collect();
            if held.len() < 2 {
                return Err(format!("only {held:?}"));
            }
            for (from, file) in &held {
                folder.put(format!("in.{from}"), file);
                for (to, expected) in &held {
                    turn.set(turn.get() + 1);
                    let division = DIVISIONS[turn.get() % DIVISIONS.len()];
                    let (input, output) = (format!("in.{from}"), format!("out.{to}"));
                    let mut args = vec!["convert", &input, "-o", &output, "-q", "--threads", division.threads];
                    if matches!(dtype.kind(), Kind::Narrow(_)) {
                        args.extend(["--dtype", *name]);
                    }
                    let printed = folder
                        .run_with(&args, division.window, None)
                        .printed()
                        .map_err(|e| format!("{from} to {to}: {e}"))?;
                    let found = folder.get(&output);
                    if found != *expected || !printed.is_empty() {
                        let what = difference(&found, expected);
                        return Err(format!("{from} to {to}, {division:?}: {printed}{what}"));
                    }
                }
            }
            Ok(())
        },
    );
    assert!(turn.get() > 600, "{} conversions", turn.get());
}

/// Rows of arguments and the file that they give, from any window and any number of threads, and through a pipe.
#[track_caller]
fn gives(folder: &Folder, to: &str, rows: &[(&str, Vec<u8>)]) {
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let args = [vec!["convert".to_owned()], words(args)].concat();
            let run = folder.always(&[args.clone(), vec!["--to".to_owned(), to.to_owned()]].concat(), None)?;
            if run.status != Some(0) || run.stdout != *expected {
                return Err(format!("to standard output: {}", difference(&run.stdout, expected)));
            }
            let output = format!("out.{to}");
            folder.run([args, vec!["-o".to_owned(), output.clone()]].concat()).printed()?;
            let found = folder.get(&output);
            if found == *expected { Ok(()) } else { Err(difference(&found, expected)) }
        },
    );
}

/// Some tensors, and containers of them.
fn folder() -> Folder {
    let folder = Folder::new();
    let (a, b) = (tensor::<f32>(&[2, 3], &[0., 1., 2., 3., 4., 5.]), tensor::<i64>(&[2], &[-1, 7]));
    folder.put("a.npy", a.npy()).put("b.npy", b.npy()).put("a-f.npy", a.npy_fortran()).put("a-b.npy", a.npy_big());
    folder.put("c.npz", npz(&[("z", a.npy()), ("k/m", b.npy())]));
    folder.put("z.npz", zip(&[deflated("q.npy", &a.npy()), deflated("p.npy", &b.npy())]));
    let stored = [member("w", "float32", &[2, 3], a.bytes()), member("b", "int64", &[2], b.bytes())];
    folder.put("s.safetensors", safetensors(&stored)).put("w.pb", pb(stored[0].clone()));
    folder
}

/// A path that exists is taken as it is, whatever it looks like.
#[test]
fn paths_with_colons() {
    let folder = folder();
    let (a, b) = (folder.get("a.npy"), folder.get("b.npy"));
    let one = |name: &str| npz(&[(name, a.clone())]);
    folder.put("x:y.npy", &a).put("x=y.npy", &b).put("p=q:r.npz", one("m"));
    gives(
        &folder,
        "npz",
        &[
            ("x:y.npy x=y.npy", npz(&[("x:y", a.clone()), ("x=y", b.clone())])),
            ("n=x:y.npy m=x=y.npy", npz(&[("m", b.clone()), ("n", a.clone())])),
            ("n=p=q:r.npz:m", one("n")),
            ("p=q:r.npz:m", one("m")),
            ("p=q:r.npz", one("m")),
        ],
    );
}

#[test]
fn names_and_whole_containers() {
    let folder = folder();
    let (a, b, b12) =
        (folder.get("a.npy"), folder.get("b.npy"), npy("<i8", &[2], &[1_u64, 2].map(u64::to_le_bytes).concat()));
    let two = |first: &str, second: &str| npz(&[(first, a.clone()), (second, b.clone())]);
    let one = |name: &str| npz(&[(name, a.clone())]);
    let numbered = npz(&[("arr_0", a.clone()), ("arr_1", b.clone())]);
    for (name, content) in [("s1/w.npy", &a), ("s2/w.npy", &b)] {
        std::fs::create_dir_all(folder.path(name).parent().expect("a folder")).expect("made");
        folder.put(name, content);
    }
    folder.put("w.npy", &a).put("w.json", "[-1, 7]");
    gives(
        &folder,
        "npz",
        &[
            ("a.npy", one("arr_0")),
            // one stem in two folders, and with two endings
            ("s1/w.npy s2/w.npy", numbered.clone()),
            ("w.npy w.json", numbered),
            ("s2/w.npy a.npy s1/w.npy", npz(&[("a", a.clone()), ("arr_0", b.clone()), ("arr_1", a.clone())])),
            ("a-f.npy", one("arr_0")),
            // several are called by their files, one alone is not, nor what no name tells apart
            ("a.npy b.npy", two("a", "b")),
            ("b.npy a.npy", two("a", "b")),
            ("a.npy ./a.npy", npz(&[("arr_0", a.clone()), ("arr_1", a.clone())])),
            ("./a.npy b.npy a.npy", npz(&[("arr_0", a.clone()), ("arr_1", a.clone()), ("b", b.clone())])),
            ("a.npy [1,2]", npz(&[("a", a.clone()), ("arr_0", b12.clone())])),
            ("z=b.npy a.npy b.npy", npz(&[("a", a.clone()), ("b", b.clone()), ("z", b.clone())])),
            ("a=b.npy a.npy b.npy", npz(&[("a", b.clone()), ("arr_0", a.clone()), ("b", b.clone())])),
            ("c.npz a.npy", npz(&[("arr_0", a.clone()), ("k/m", b.clone()), ("z", a.clone())])),
            ("c.npz:*", npz(&[("k/m", b.clone()), ("z", a.clone())])),
            ("x=a.npy y=b.npy", two("x", "y")),
            // sorted by name
            ("y=b.npy x=a.npy", two("x", "y")),
            ("y=b.npy a.npy", two("arr_0", "y")),
            ("c.npz", npz(&[("k/m", b.clone()), ("z", a.clone())])),
            ("z.npz", npz(&[("p", b.clone()), ("q", a.clone())])),
            ("s.safetensors", npz(&[("b", b.clone()), ("w", a.clone())])),
            // in place of the one that came with the whole
            ("c.npz z=b.npy", npz(&[("k/m", b.clone()), ("z", b.clone())])),
            ("z=b.npy c.npz", npz(&[("k/m", b.clone()), ("z", b.clone())])),
            ("s.safetensors b2=c.npz:k/m --add", npz(&[("b", b.clone()), ("b2", b.clone()), ("w", a.clone())])),
            ("c.npz:z", one("z")),
            ("n=c.npz:z", one("n")),
            ("w.pb", one("arr_0")),
            ("n=w.pb", one("n")),
            // names of any kind
            ("we:i/rd.name=a.npy", one("we:i/rd.name")),
            ("\u{e9}\u{4e2d}=a.npy", one("\u{e9}\u{4e2d}")),
            ("a.npy=a.npy", one("a.npy")),
            ("n=./a.npy", one("n")),
            ("n=[[0,1,2],[3,4,5]] --dtype float32", one("n")),
        ],
    );
    gives(
        &folder,
        "safetensors",
        &[
            ("a.npy", safetensors(&[member("arr_0", "float32", &[2, 3], a[128..].to_vec())])),
            (
                "c.npz",
                safetensors(&[
                    member("z", "float32", &[2, 3], a[128..].to_vec()),
                    member("k/m", "int64", &[2], b[128..].to_vec()),
                ]),
            ),
            ("s.safetensors", folder.get("s.safetensors")),
            ("w=a-b.npy b=z.npz:p", folder.get("s.safetensors")),
        ],
    );
    // a TensorProto has one name
    gives(
        &folder,
        "pb",
        &[
            ("w=a.npy", folder.get("w.pb")),
            ("w.pb", folder.get("w.pb")),
            ("a.npy", pb(member("", "float32", &[2, 3], a[128..].to_vec()))),
            ("v=w.pb", pb(member("v", "float32", &[2, 3], a[128..].to_vec()))),
        ],
    );
}

#[test]
fn standard_input() {
    let folder = folder();
    let (a, b) = (folder.get("a.npy"), folder.get("b.npy"));
    let both = npz(&[("x", a.clone()), ("y", b.clone())]);
    each(
        [
            ("x=- y=b.npy", "a.npy"),
            ("y=b.npy x=-", "a-f.npy"),
            ("x=- y=b.npy --byte-order little", "a-b.npy"),
            ("x=a.npy y=-", "b.npy"),
            ("x=- y=b.npy", "w.pb"),
        ],
        |(args, stdin)| format!("`{args}` < {stdin}"),
        |(args, stdin)| {
            let args = words(&format!("convert {args} --to npz"));
            let run = folder.always(&args, Some(&folder.get(stdin)))?;
            if run.stdout == both { Ok(()) } else { Err(difference(&run.stdout, &both)) }
        },
    );
    let run = folder.run_with(["convert", "-", "--to", "npz"], None, Some(&folder.get("c.npz")));
    assert_eq!(run.stdout, npz(&[("k/m", b.clone()), ("z", a.clone())]), "{}", run.stderr);
    let run = folder.run_with(["convert", "n=-", "-o", "-", "--to", "npz"], None, Some(b"[-1, 7]"));
    assert_eq!(run.stdout, npz(&[("n", b)]), "{}", run.stderr);
}

#[test]
#[cfg(target_os = "linux")]
fn names_that_are_not_unicode() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let folder = folder();
    let a = folder.get("a.npy");
    let os = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    folder.put(os(b"\xff.npz"), folder.get("c.npz")).put(os(b"\xfe:z.npy"), &a).put(os(b"q=\xfd.npy"), &a);
    let one = |name: &str| npz(&[(name, a.clone())]);
    each(
        [
            (&b"\xff.npz:z"[..], one("z")),
            (b"n=\xff.npz:z", one("n")),
            (b"\xfe:z.npy", one("arr_0")),
            (b"n=\xfe:z.npy", one("n")),
            (b"q=\xfd.npy", one("arr_0")),
            (b"n=q=\xfd.npy", one("n")),
        ],
        |(operand, _)| operand.escape_ascii().to_string(),
        |(operand, expected)| {
            let args = [os(b"convert"), os(operand), os(b"--to"), os(b"npz")];
            let run = folder.run(args);
            if run.stdout == *expected { Ok(()) } else { Err(run.stderr) }
        },
    );
    let out = os(b"\xfc.npz");
    folder.run([os(b"convert"), os(b"a.npy"), os(b"-o"), out.clone()]).printed().expect("written");
    assert_eq!(folder.get(out), one("arr_0"));
}

#[test]
fn casts() {
    let folder = folder();
    folder.put("half.npy", npy("<f2", &[3], &[0x00, 0x3c, 0x00, 0xc0, 0xff, 0x7b]));
    let rows: &[(&str, &str)] = &[
        ("[1,-2,3] --cast float32", r#"{"dtype": "float32", "shape": [3], "data": [1.0, -2.0, 3.0]}"#),
        // once, ties to even
        (
            "[16777217,16777219] --cast float32",
            r#"{"dtype": "float32", "shape": [2], "data": [16777216.0, 16777220.0]}"#,
        ),
        ("[2049,2051,-0.0] --cast float16", r#"{"dtype": "float16", "shape": [3], "data": [2048.0, 2052.0, -0.0]}"#),
        ("[1.00390625,1.01171875] --cast bfloat16", r#"{"dtype": "bfloat16", "shape": [2], "data": [1.0, 1.015625]}"#),
        ("[1.0,-3.0,1e9] --cast int64", r#"{"dtype": "int64", "shape": [3], "data": [1, -3, 1000000000]}"#),
        ("[0,1,1] --cast bool", r#"{"dtype": "bool", "shape": [3], "data": [false, true, true]}"#),
        ("[true,false] --cast uint8", r#"{"dtype": "uint8", "shape": [2], "data": [1, 0]}"#),
        ("[1.5] --cast complex64", r#"{"dtype": "complex64", "shape": [1], "data": [[1.5, 0.0]]}"#),
        ("[[2,0]] --dtype complex128 --cast int8", r#"{"dtype": "int8", "shape": [1], "data": [2]}"#),
        ("[1,-8,7] --cast int4", r#"{"dtype": "int4", "shape": [3], "data": [1, -8, 7]}"#),
        (
            "[1.0,1.06,448] --cast float8_e4m3fn",
            r#"{"dtype": "float8_e4m3fn", "shape": [3], "data": [1.0, 1.0, 448.0]}"#,
        ),
        ("half.npy --cast int32", r#"{"dtype": "int32", "shape": [3], "data": [1, -2, 65504]}"#),
        ("a-b.npy --cast uint8", r#"{"dtype": "uint8", "shape": [2, 3], "data": [[0, 1, 2], [3, 4, 5]]}"#),
        ("a-f.npy --cast int16", r#"{"dtype": "int16", "shape": [2, 3], "data": [[0, 1, 2], [3, 4, 5]]}"#),
        (
            "s.safetensors:w --cast float64",
            r#"{"dtype": "float64", "shape": [2, 3], "data": [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]}"#,
        ),
        // lossy: truncated, ended at the range, NaN as 0
        (
            "[1.9,-1.9,300,-300,\"NaN\",\"Infinity\"] --dtype float64 --cast int8 --lossy",
            r#"{"dtype": "int8", "shape": [6], "data": [1, -1, 127, -128, 0, 127]}"#,
        ),
        ("[-1,256] --cast uint8 --lossy", r#"{"dtype": "uint8", "shape": [2], "data": [0, 255]}"#),
        ("[-9,9] --cast int4 --lossy", r#"{"dtype": "int4", "shape": [2], "data": [-8, 7]}"#),
        // what the bits are
        ("[16256,16384] --dtype uint16", r#"{"dtype": "uint16", "shape": [2], "data": [16256, 16384]}"#),
        (
            "{\"dtype\":\"uint16\",\"data\":[16256,16384]} --dtype bfloat16",
            r#"{"dtype": "bfloat16", "shape": [2], "data": [1.0, 2.0]}"#,
        ),
        (
            "{\"dtype\":\"uint16\",\"data\":[16256,16384]} --dtype bfloat16 --cast int8",
            r#"{"dtype": "int8", "shape": [2], "data": [1, 2]}"#,
        ),
        (
            "{\"dtype\":\"uint32\",\"data\":[1065353216]} --dtype float32",
            r#"{"dtype": "float32", "shape": [1], "data": [1.0]}"#,
        ),
        (
            "{\"dtype\":\"float32\",\"data\":[-1]} --dtype int32",
            r#"{"dtype": "int32", "shape": [1], "data": [-1082130432]}"#,
        ),
        (
            "{\"dtype\":\"uint8\",\"data\":[56]} --dtype float8_e4m3fn",
            r#"{"dtype": "float8_e4m3fn", "shape": [1], "data": [1.0]}"#,
        ),
        ("{\"dtype\":\"uint8\",\"data\":[15]} --dtype int4", r#"{"dtype": "int4", "shape": [1], "data": [-1]}"#),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let run = folder.always(&words(&format!("convert {args} --to json")), None)?;
            let text = String::from_utf8_lossy(&run.stdout);
            if text.trim_end() == *expected { Ok(()) } else { Err(text.into_owned()) }
        },
    );
}

#[test]
fn orders() {
    let folder = folder();
    let items = bytes::<f32>(&[0., 1., 2., 3., 4., 5.]);
    let big: Vec<u8> = items.chunks(4).flat_map(|item| item.iter().rev().copied()).collect();
    // as numpy.save writes it, to the space
    let fortran = |descr: &str, items: &[u8]| {
        let head = header(descr, true, &[2, 3]).replace("(2,3,)", "(2, 3)");
        let head = format!("{head:<117}\n");
        [b"\x93NUMPY\x01\x00\x76\x00", head.as_bytes(), &to_fortran(items, &[2, 3], 4)].concat()
    };
    folder
        .put("line.npy", tensor::<u8>(&[3], &[1, 2, 3]).npy())
        .put("old.npy", npy_with_header(&header("<f4", true, &[2, 3]), &to_fortran(&items, &[2, 3], 4)));
    gives(
        &folder,
        "npy",
        &[
            ("a.npy --order F", fortran("<f4", &items)),
            ("a.npy --order f", fortran("<f4", &items)),
            ("old.npy --order F", fortran("<f4", &items)),
            ("old.npy", folder.get("a.npy")),
            ("a-f.npy --order C", folder.get("a.npy")),
            ("a.npy --byte-order big", folder.get("a-b.npy")),
            ("a-b.npy", folder.get("a-b.npy")),
            ("a-b.npy --byte-order little", folder.get("a.npy")),
            ("a-f.npy --byte-order big --order F", fortran(">f4", &big)),
            ("a-b.npy --order F --byte-order little", fortran("<f4", &items)),
            ("z.npz:q --order F", fortran("<f4", &items)),
            ("w.pb --byte-order big", folder.get("a-b.npy")),
            ("a.npy --cast int32 --order F", fortran("<i4", &bytes::<i32>(&[0, 1, 2, 3, 4, 5]))),
            // what is in both orders is said to be in C order, as NumPy says it
            ("line.npy --order F", folder.get("line.npy")),
            ("line.npy --byte-order big", folder.get("line.npy")),
        ],
    );
    gives(&folder, "npz", &[("n=a.npy --order F", npz(&[("n", fortran("<f4", &items))]))]);
}

/// A file may be its own input; what is there stays as it is until all is written, and for ever with --no-clobber.
#[test]
fn files_that_are_there() {
    let folder = folder();
    let a = folder.get("a.npy");
    let rows: &[(&str, &str, Vec<u8>)] = &[
        ("a.npy --byte-order big -o a.npy", "a.npy", folder.get("a-b.npy")),
        (
            "c.npz x=c.npz:z --add -o c.npz",
            "c.npz",
            npz(&[("k/m", folder.get("b.npy")), ("x", a.clone()), ("z", a.clone())]),
        ),
        ("s.safetensors -o s.safetensors --byte-order little", "s.safetensors", folder.get("s.safetensors")),
    ];
    each(
        rows,
        |(args, ..)| format!("`{args}`"),
        |(args, name, expected)| {
            folder.run(words(&format!("convert {args}"))).printed()?;
            let found = folder.get(name);
            if found == *expected { Ok(()) } else { Err(difference(&found, expected)) }
        },
    );
    let before = folder.content();
    let text = folder.run(words("convert n=b.npy w.pb -o a.npz --dry-run")).printed().expect("a dry run");
    let expected = "\
convert
  IN b.npy: int64 [2]
  IN w.pb: float32 [2, 3]
  output a.npz: \"arr_0\": npz of float32 [2, 3], 24 bytes of data
  output a.npz: \"n\": npz of int64 [2], 16 bytes of data
";
    assert_eq!(text, expected);
    let text = folder.run(words("convert [1,2,3] --cast int4 -o four.pb --dry-run")).printed().expect("a dry run");
    assert!(text.ends_with("output four.pb: pb of int4 [3], 2 bytes of data\n"), "{text}");
    assert_eq!(folder.content(), before);
    let refused = folder.refuses(words("convert b.npy -o c.npz --no-clobber"), &["output c.npz", "--no-clobber"]);
    assert!(refused.is_ok(), "{refused:?}");
    folder.run(words("convert b.npy -o new.npz --no-clobber")).printed().expect("a new file");
}

/// Python writes float8_e5m2 as `<f1`, which NumPy does not load.
#[test]
fn float8_e5m2_is_written_as_a_void() {
    let folder = Folder::new();
    folder.put("python.npy", npy_with_header(&header("<f1", false, &[2]), &[0x3c, 0xc0]));
    folder.put("void.npy", npy("float8_e4m3fn", &[2], &[0x3c, 0xc0]));
    assert!(String::from_utf8_lossy(&folder.get("void.npy")).contains("'descr': '<V1'"));
    assert_eq!(
        folder.run(words("show python.npy")).printed().as_deref(),
        Ok("python.npy: float8_e5m2 [2]\n[ 1. -2.]\n")
    );
    for input in ["python.npy", "[1,-2] --dtype float8_e5m2", "void.npy --dtype float8_e5m2"] {
        folder.run(words(&format!("convert {input} -o out.npy -q"))).printed().expect(input);
        assert_eq!(folder.get("out.npy"), folder.get("void.npy"), "{input}");
        folder.run(words(&format!("convert x={input} -o out.npz -q"))).printed().expect(input);
        assert_eq!(folder.get("out.npz"), npz(&[("x", folder.get("void.npy"))]), "{input}");
    }
    let hash = |file| folder.run(["info", "--hash", file]).printed().expect(file);
    let of = |text: String| text.lines().last().and_then(|line| line.split(' ').next()).map(str::to_owned);
    assert_eq!(of(hash("python.npy")), of(hash("void.npy")));
}

#[test]
fn refused() {
    let folder = folder();
    folder
        .put("nan.npy", npy("<f4", &[2], &[0, 0, 0x80, 0x3f, 0, 0, 0xc0, 0x7f]))
        .put("o.npy", npy("|V3", &[1], b"abc"));
    folder.put("big.npy", npy(">u2", &[1], &[0x3f, 0x80])).put("odd.npy", npy("|V1", &[3], &[1, 2, 3]));
    let mut damaged = folder.get("c.npz");
    let at = damaged.windows(8).position(|eight| eight == 7_i64.to_le_bytes()).expect("an item");
    damaged[at] ^= 1;
    folder.put("damaged.npz", damaged).put("none.safetensors", common::safetensors_with_header("{}", b""));
    let onnx_name = protobuf(&[(1, common::Field::Number(1)), (2, common::Field::Number(99))]);
    folder.put("unknown.pb", onnx_name);
    let rows: &[Refusal] = &[
        ("convert", &["[NAME=]IN"]),
        ("convert none.npy", &["IN none.npy", "(os error 2)"]),
        ("convert n=none.npy", &["none.npy", "(os error 2)"]),
        ("convert n=", &["(os error "]),
        ("convert =a.npy", &["IN =a.npy"]),
        ("convert a.npy b.npy", &["output out.npy", "2 tensors", ".npz, .safetensors and .zarr"]),
        ("convert c.npz", &["IN c.npz", "holds 2 tensors", "\"k/m\", \"z\""]),
        ("convert n=c.npz", &["IN c.npz", "holds 2 tensors"]),
        ("convert n=c.npz --to npz", &["IN c.npz", "holds 2 tensors"]),
        ("convert c.npz:y", &["no tensor \"y\""]),
        ("convert x=a.npy x=b.npy --to npz", &["output out.npy", "two tensors", "\"x\": IN a.npy and IN b.npy"]),
        ("convert c.npz c.npz:z --to npz", &["output out.npy", "two tensors", "\"z\": IN c.npz:z and IN c.npz:z"]),
        ("convert c.npz c.npz --to npz", &["two tensors", "\"z\""]),
        ("convert arr_0=b.npy a.npy --to safetensors", &["two tensors", "\"arr_0\""]),
        ("convert __metadata__=a.npy --to safetensors", &["output out.npy", "__metadata__"]),
        ("convert none.safetensors --to npz", &["no tensors"]),
        ("convert damaged.npz --to npz", &["IN damaged.npz:k/m", "damaged: CRC-32"]),
        ("convert - -", &["standard input can be one operand only"]),
        ("convert x=- y=- --to npz", &["standard input can be one operand only"]),
        ("convert -", &["IN (standard input)", "empty"]),
        ("convert unknown.pb --from pb", &["IN unknown.pb", "an unknown data type 99"]),
        // values
        ("convert [1.5] --cast int8", &["IN [1.5]", "1.5 is not an integer (int8) at [0]"]),
        ("convert [[1,2],[3,300]] --cast int8", &["300 is out of range for int8 at [1, 1]"]),
        ("convert [-1] --cast uint64", &["-1 is out of range for uint64 at [0]"]),
        ("convert nan.npy --cast int32", &["IN nan.npy", "nan", "int32", "[1]"]),
        ("convert [2] --cast bool", &["2", "bool", "[0]"]),
        ("convert [[1,2]] --dtype complex64 --cast float32", &["imaginary", "float32", "[0]"]),
        ("convert o.npy --cast int8", &["IN o.npy", "|V3", "int8"]),
        ("convert a.npy --cast <U5", &["IN a.npy", "<U5"]),
        ("convert a.npy --cast nope", &["--cast", "nope"]),
        ("convert a.npy --lossy", &["--cast"]),
        // bits
        ("convert a.npy --dtype int64", &["IN a.npy", "float32", "int64"]),
        ("convert a.npy --dtype bfloat16", &["IN a.npy", "float32", "bfloat16"]),
        ("convert big.npy --dtype bfloat16", &["IN big.npy", "big-endian", "--byte-order little"]),
        ("convert [300] --dtype uint8", &["300", "uint8"]),
        // what a format cannot hold
        ("convert o.npy --to safetensors", &["safetensors cannot hold", "|V3: use -o FILE.npy"]),
        ("convert o.npy --to pb", &["ONNX cannot hold", "|V3: use -o FILE.npy"]),
        ("convert o.npy --to json", &["|V3"]),
        ("convert a.npy --cast complex128 --to safetensors", &["safetensors cannot hold", "complex128"]),
        ("convert odd.npy --dtype float4_e2m1fn --to safetensors", &["float4_e2m1fn", "3 items"]),
        ("convert a.npy --order F --to json", &["output out.npy", "json is always in C order"]),
        ("convert a.npy --order F --to safetensors", &["always in C order"]),
        ("convert a.npy --byte-order big --to pb", &["pb is never big-endian"]),
        ("convert a.npy --order K", &["--order", "K"]),
        ("convert a.npy --byte-order middle", &["--byte-order", "middle"]),
        ("convert a.npy -i", &["-i"]),
    ];
    refusals(&folder, rows);
    each(
        [
            ("convert a.npy -o out.xyz", "output out.xyz"),
            ("convert a.npy -o out", "does not show the format"),
            ("convert a.npy --no-clobber", "--output"),
            ("convert c.npz", "holds 2 tensors"),
            ("convert a.npy b.npy", "standard output: 2 tensors"),
        ],
        |(args, _)| (*args).to_owned(),
        |(args, fragment)| folder.refuses(words(args), &[fragment]).map(drop),
    );
}

/// `--dry-run` makes the checks that the run makes, but for the values.
#[test]
fn a_dry_run_refuses_what_the_run_refuses() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<f32>(&[3], &[1., 2., 3.]).npy());
    let rows: [(&str, &[&str]); 3] = [
        ("convert d.npy --cast <U3 -o x.npy", &["IN d.npy"]),
        ("convert d.npy --cast float4_e2m1fn -o x.safetensors", &["output x.safetensors", "do not fill their bytes"]),
        ("convert __metadata__=d.npy -o x.safetensors", &["output x.safetensors", "__metadata__"]),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, fragments)| {
            folder.refuses(words(args), fragments)?;
            folder.refuses(words(&format!("{args} --dry-run")), fragments).map(drop)
        },
    );
}

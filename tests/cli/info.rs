//! `tensorop info`: tables, `--json`, `--stats`, `--members`, and where the items lie.

use std::fs;

use serde_json::Value;
use sha2::{Digest, Sha256};
use tensorop::DType;

use crate::common::{
    Field, Folder, Member, bytes, deflated, each, header, member, npy, npy_with_header, npz, packed, pb, protobuf,
    safetensors, tensor, to_fortran, words, zip,
};

/// A file of every format, and containers.
fn folder() -> Folder {
    let folder = Folder::new();
    let d = tensor::<f32>(&[2, 3], &[0., 1.5, -2., f32::NAN, f32::INFINITY, 4.]);
    folder.put("d.npy", d.npy()).put("f.npy", d.npy_fortran()).put("b.npy", d.npy_big());
    folder.put("d.json", r#"{"dtype": "int16", "shape": [2], "data": [1, 2]}"#);
    folder.put("k.json", r#"{"name": "k", "shape": [1], "datatype": "BYTES", "data": ["xy"]}"#);
    folder.put("d.pb", pb(member("w", "float32", &[2, 3], d.bytes())));
    let typed = [(1, Field::Number(2)), (2, Field::Number(1)), (4, Field::Bytes(&[0; 8]))];
    folder.put("typed.pb", protobuf(&typed));
    folder.put("p.pb", pb(member("", "int4", &[3], vec![1, 0xe, 7])));
    folder.put("d.npz", npz(&[("a/b", d.npy()), ("f", d.npy_fortran()), ("big", d.npy_big())]));
    folder.put("z.npz", zip(&[deflated("d.npy", &d.npy())]));
    folder.put("m.safetensors", safetensors(&members(d.bytes())));
    folder.put("i.npy", npy("|u1", &[3], &[1, 2, 3])).put("s.npy", npy("<U2", &[1], &[0x61, 0, 0, 0, 0, 0, 0, 0]));
    folder.put("v.npy", npy("|V3", &[1], b"abc"));
    folder
}

fn members<'a>(items: Vec<u8>) -> Vec<Member<'a>> {
    vec![
        member("layer.0.weight", "float32", &[2, 3], items),
        member("layer.0.bias", "bfloat16", &[2], vec![0x80, 0x3f, 0, 0x40]),
        member("scale", "float8_e4m3fn", &[], vec![0x38]),
        member("four", "float4_e2m1fn", &[4], vec![1, 2, 3, 0xf]),
        member("none", "int64", &[0, 3], vec![]),
    ]
}

/// Runs of `info`, and all that they print, whatever the windows and threads.
#[track_caller]
fn printed(folder: &Folder, rows: &[(&str, &str)]) {
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let run = folder.always(&[vec!["info".to_owned()], words(args)].concat(), None)?;
            let text = String::from_utf8_lossy(&run.stdout);
            if (run.status, text.as_ref()) == (Some(0), *expected) { Ok(()) } else { Err(format!("\n{text}")) }
        },
    );
}

#[test]
fn tables() {
    printed(
        &folder(),
        &[
            (
                "d.npy f.npy b.npy i.npy",
                "\
name   dtype    shape   size
d.npy  float32  [2, 3]  24 B
f.npy  float32  [2, 3]  24 B  Fortran order
b.npy  float32  [2, 3]  24 B  big-endian
i.npy  uint8    [3]      3 B
",
            ),
            (
                "z.npz m.safetensors:scale d.pb d.json 5",
                "\
name                 dtype          shape   size
z.npz:d              float32        [2, 3]  24 B
m.safetensors:scale  float8_e4m3fn  []       1 B
d.pb                 float32        [2, 3]  24 B
d.json               int16          [2]      4 B
5                    int64          []       8 B
",
            ),
            (
                "i.npy m.safetensors d.npz:*b*",
                "\
name              dtype          shape     size
i.npy             uint8          [3]        3 B
m.safetensors
  none            int64          [0, 3]     0 B
  layer.0.weight  float32        [2, 3]    24 B
  layer.0.bias    bfloat16       [2]        4 B
  scale           float8_e4m3fn  []         1 B
  four            float4_e2m1fn  [4]        2 B
  total           5 tensors      13 items  31 B
d.npz
  a/b             float32        [2, 3]    24 B
  big             float32        [2, 3]    24 B  big-endian
  total           2 tensors      12 items  48 B

dtype            tensors  items  size
m.safetensors
  float32              1      6  24 B
  bfloat16             1      2   4 B
  float4_e2m1fn        1      4   2 B
  float8_e4m3fn        1      1   1 B
  int64                1      0   0 B
",
            ),
            ("d.npz --members", "a/b\nf\nbig\n"),
            ("d.npy --members", ""),
            ("d.npz m.safetensors --members", "a/b\nf\nbig\nnone\nlayer.0.weight\nlayer.0.bias\nscale\nfour\n"),
            (
                "i.npy --stats",
                "\
name   dtype  shape  size
i.npy  uint8  [3]     3 B

name   min  max  mean         std  nan  inf  zero
i.npy    1    3     2  0.8164965…    0    0     0
",
            ),
            (
                "d.npz v.npy s.npy --stats",
                "\
name     dtype      shape     size
d.npz
  a/b    float32    [2, 3]    24 B
  f      float32    [2, 3]    24 B  Fortran order
  big    float32    [2, 3]    24 B  big-endian
  total  3 tensors  18 items  72 B
v.npy    |V3        [1]        3 B
s.npy    <U2        [1]        8 B

name   min  max   mean        std  nan  inf  zero
d.npz
  a/b   -2    4  0.875  2.190176…    1    1     1  first nan at [1, 0]
  f     -2    4  0.875  2.190176…    1    1     1  first nan at [1, 0]
  big   -2    4  0.875  2.190176…    1    1     1  first nan at [1, 0]
v.npy    -    -      -          -    -    -     -
s.npy    -    -      -          -    0    0     0
",
            ),
            (
                "i.npy v.npy --histogram",
                "\
name   dtype  shape  size
i.npy  uint8  [3]     3 B
v.npy  |V3    [1]     3 B

i.npy
  1  1  ########################################
  2  1  ########################################
  3  1  ########################################

v.npy
  -
",
            ),
            (
                "f.npy --by-axis -1",
                "\
name   dtype    shape   size
f.npy  float32  [2, 3]  24 B  Fortran order

f.npy, axis 1
  place  min  max  mean  std  nan  inf  zero
  0        0    0     0    0    1    0     1  first nan at [1, 0]
  1      1.5  1.5   1.5    0    0    1     0
  2       -2    4     1    3    0    0     0
",
            ),
            (
                "m.safetensors:none --by-axis 1 --hash",
                "\
name                dtype  shape   size
m.safetensors:none  int64  [0, 3]   0 B

09335c7d428a982a1579c2e4ed7b3c0906514ef4adc62fc1aa06cf7af47d2f32  m.safetensors:none

m.safetensors:none, axis 1
  place  min  max  mean  std  nan  inf  zero
  0        -    -     -    -    0    0     0
  1        -    -     -    -    0    0     0
  2        -    -     -    -    0    0     0
",
            ),
        ],
    );
}

#[test]
fn json_to_the_letter() {
    printed(
        &folder(),
        &[
            (
                "d.npy --json",
                "[{\"file\": \"d.npy\", \"name\": null, \"member\": null, \"format\": \"npy\", \"dtype\": \"float32\", \"shape\": [2, 3], \
                 \"order\": \"C\", \"byte_order\": \"little\", \"items\": 6, \"bytes\": 24, \"offset\": 128}]\n",
            ),
            (
                "f.npy d.npz:big --json --stats",
                "[{\"file\": \"f.npy\", \"name\": null, \"member\": null, \"format\": \"npy\", \"dtype\": \"float32\", \"shape\": [2, 3], \
                 \"order\": \"F\", \"byte_order\": \"little\", \"items\": 6, \"bytes\": 24, \"offset\": 71, \
                 \"stats\": {\"min\": {\"value\": -2.0, \"index\": [0, 2]}, \"max\": {\"value\": 4.0, \"index\": [1, 2]}, \
                 \"mean\": 0.875, \"std\": 2.190176933491904, \"nan\": 1, \"inf\": 1, \"zero\": 1, \
                 \"first_nan\": [1, 0], \"quantiles\": {\"0.001\": -2.0, \"0.01\": -2.0, \"0.05\": -2.0, \"0.25\": -2.0, \"0.5\": 0.0, \"0.75\": 1.5, \"0.95\": 4.0, \"0.99\": 4.0, \"0.999\": 4.0}}},\n \
                 {\"file\": \"d.npz\", \"name\": \"big\", \"member\": \"big\", \"format\": \"npz\", \"dtype\": \"float32\", \"shape\": [2, 3], \
                 \"order\": \"C\", \"byte_order\": \"big\", \"items\": 6, \"bytes\": 24, \"offset\": 484, \
                 \"stats\": {\"min\": {\"value\": -2.0, \"index\": [0, 2]}, \"max\": {\"value\": 4.0, \"index\": [1, 2]}, \
                 \"mean\": 0.875, \"std\": 2.190176933491904, \"nan\": 1, \"inf\": 1, \"zero\": 1, \
                 \"first_nan\": [1, 0], \"quantiles\": {\"0.001\": -2.0, \"0.01\": -2.0, \"0.05\": -2.0, \"0.25\": -2.0, \"0.5\": 0.0, \"0.75\": 1.5, \"0.95\": 4.0, \"0.99\": 4.0, \"0.999\": 4.0}}}]\n",
            ),
            (
                "p.pb --json --stats",
                "[{\"file\": \"p.pb\", \"name\": null, \"member\": null, \"format\": \"onnx\", \"dtype\": \"int4\", \"shape\": [3], \
                 \"order\": \"C\", \"byte_order\": null, \"items\": 3, \"bytes\": 2, \"offset\": 6, \"stats\": \
                 {\"min\": {\"value\": -2, \"index\": [1]}, \"max\": {\"value\": 7, \"index\": [2]}, \"mean\": 2.0, \
                 \"std\": 3.7416573867739413, \"nan\": 0, \"inf\": 0, \"zero\": 0, \
                 \"first_nan\": null, \"quantiles\": {\"0.001\": -2, \"0.01\": -2, \"0.05\": -2, \"0.25\": -2, \"0.5\": 1, \"0.75\": 7, \"0.95\": 7, \"0.99\": 7, \"0.999\": 7}}}]\n",
            ),
            (
                "typed.pb --json",
                "[{\"file\": \"typed.pb\", \"name\": null, \"member\": null, \"format\": \"onnx\", \"dtype\": \"float32\", \"shape\": [2], \
                 \"order\": \"C\", \"byte_order\": \"little\", \"items\": 2, \"bytes\": 8, \"offset\": 6}]\n",
            ),
            (
                "m.safetensors:none --json --stats",
                "[{\"file\": \"m.safetensors\", \"name\": \"none\", \"member\": \"none\", \"format\": \"safetensors\", \"dtype\": \"int64\", \
                 \"shape\": [0, 3], \"order\": \"C\", \"byte_order\": \"little\", \"items\": 0, \"bytes\": 0, \
                 \"offset\": 328, \"stats\": {\"min\": null, \"max\": null, \"mean\": null, \"std\": null, \"nan\": 0, \
                 \"inf\": 0, \"zero\": 0, \
                 \"first_nan\": null, \"quantiles\": {\"0.001\": null, \"0.01\": null, \"0.05\": null, \"0.25\": null, \"0.5\": null, \"0.75\": null, \"0.95\": null, \"0.99\": null, \"0.999\": null}}}]\n",
            ),
            (
                "k.json --json",
                "[{\"file\": \"k.json\", \"name\": null, \"member\": null, \"format\": \"json\", \"dtype\": \"<U2\", \"shape\": [1], \
                 \"order\": \"C\", \"byte_order\": \"little\", \"items\": 1, \"bytes\": 8, \"offset\": null}]\n",
            ),
        ],
    );
}

/// What `offset` and `bytes` tell is where the items are, to be read by anyone.
#[test]
fn the_items_are_where_it_says() {
    let folder = folder();
    let items = bytes::<f32>(&[0., 1.5, -2., f32::NAN, f32::INFINITY, 4.]);
    let big: Vec<u8> = items.chunks(4).flat_map(|item| item.iter().rev().copied()).collect();
    let fortran = to_fortran(&items, &[2, 3], 4);
    let mut expected = vec![
        ("d.npy".to_owned(), items.clone()),
        ("f.npy".to_owned(), fortran.clone()),
        ("b.npy".to_owned(), big.clone()),
        ("d.pb".to_owned(), items.clone()),
        ("p.pb".to_owned(), vec![0xe1, 0x07]),
        ("d.npz:a/b".to_owned(), items.clone()),
        ("d.npz:f".to_owned(), fortran),
        ("d.npz:big".to_owned(), big),
    ];
    for member in members(items) {
        let stored = packed(&DType::parse(member.dtype).unwrap(), &member.items);
        expected.push((format!("m.safetensors:{}", member.name), stored));
    }
    each(
        expected,
        |(file, _)| file.clone(),
        |(operand, expected)| {
            let text = folder.run(["info", "--json", operand]).printed()?;
            let told: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
            let number = |key: &str| told[0][key].as_u64().ok_or(format!("{key} in {text}")).map(|n| n as usize);
            let (offset, length) = (number("offset")?, number("bytes")?);
            let file = folder.get(told[0]["file"].as_str().unwrap_or_default());
            match file.get(offset..offset + length) {
                Some(found) if found == &expected[..] => Ok(()),
                found => Err(format!("{found:?}, expected {expected:?}")),
            }
        },
    );
}

#[test]
fn dtypes_as_asked() {
    let folder = folder();
    folder.put("bits.npy", npy("<u2", &[2], &[0x80, 0x3f, 0, 0x40]));
    folder.put("void.npy", npy("|V1", &[2], &[1, 0xf])).put("ml.npy", npy("<V2", &[1], &[0, 0]));
    let rows = [
        ("bits.npy", "uint16"),
        ("bits.npy --dtype bfloat16", "bfloat16"),
        ("bits.npy --dtype uint16", "uint16"),
        ("void.npy", "|V1"),
        ("void.npy --dtype int4", "int4"),
        ("void.npy --dtype float8_e5m2fnuz", "float8_e5m2fnuz"),
        ("ml.npy", "bfloat16"),
        ("i.npy --dtype float8_e4m3", "float8_e4m3"),
        ("[1] --dtype float16", "float16"),
        ("s.npy", "<U2"),
        ("v.npy", "|V3"),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let args = words(&format!("info --json {args}"));
            let told: Value = serde_json::from_str(&folder.run(args).printed()?).map_err(|e| e.to_string())?;
            if told[0]["dtype"] == *expected { Ok(()) } else { Err(told[0]["dtype"].to_string()) }
        },
    );
}

#[test]
fn standard_input() {
    let folder = folder();
    each(
        ["d.npy", "f.npy", "b.npy", "d.pb", "p.pb", "d.npz", "z.npz", "m.safetensors", "d.json", "k.json"],
        |file| (*file).to_owned(),
        |file| {
            let content = folder.get(file);
            for more in [&["--json"][..], &["--json", "--stats"], &["--members"]] {
                let named = folder.run([&["info", file], more].concat()).printed()?;
                let piped = folder.run_with([&["info", "-"], more].concat(), Some(24), Some(&content)).printed()?;
                if piped != named.replace(&format!("\"file\": \"{file}\""), "\"file\": \"-\"") {
                    return Err(format!("{more:?}: {piped}"));
                }
            }
            folder.run_with(["info", "-", "--stats"], Some(8), Some(&content)).printed()?;
            Ok(())
        },
    );
}

/// Only what is asked for is read: a file whose length is right, and no more than a header of it.
#[test]
fn headers_only() {
    let folder = folder();
    let long = npy_with_header(&header("<f4", false, &[1 << 14, 1 << 14]), b"");
    folder.put("long.npy", &long);
    let file = std::fs::OpenOptions::new().write(true).open(folder.path("long.npy")).expect("a file");
    file.set_len(long.len() as u64 + (1 << 30)).expect("a sparse file");
    let text = folder.run(["info", "--json", "long.npy"]).printed().expect("a description");
    assert!(text.contains("\"items\": 268435456, \"bytes\": 1073741824, \"offset\": "), "{text}");
    std::fs::remove_file(folder.path("long.npy")).expect("removed");
    // an archive's checksums are those of items
    let mut damaged = folder.get("d.npz");
    let at = damaged.windows(4).position(|four| four == 1.5_f32.to_le_bytes()).expect("an item");
    damaged[at] ^= 1;
    folder.put("damaged.npz", damaged);
    assert!(folder.run(["info", "damaged.npz"]).printed().is_ok());
    // one that is damaged stops neither the others nor, in JSON, their objects
    let run = folder.run(["info", "damaged.npz", "--stats"]);
    let table = String::from_utf8_lossy(&run.stdout);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(2), 1), "{}", run.stderr);
    assert!(run.stderr.starts_with("error: FILE damaged.npz:a/b: damaged: CRC-32"), "{}", run.stderr);
    assert_eq!(table.matches("2.190176…").count(), 2, "{table}");
    let run = folder.run(["info", "damaged.npz", "--hash", "--json"]);
    let json = String::from_utf8_lossy(&run.stdout);
    assert_eq!((run.status, json.matches("\"hash\"").count(), json.lines().count()), (Some(2), 2, 3), "{json}");
    let damaged = "\"shape\": [2, 3], \"order\": \"C\", \"byte_order\": \"little\", \"items\": 6, \"bytes\": 24";
    let object = json.lines().find(|line| line.contains("\"member\": \"a/b\"")).expect("an object");
    assert!(object.contains(damaged) && object.contains("\"error\": \"damaged: CRC-32"), "{object}");
}

#[test]
fn refused() {
    let folder = folder();
    folder.put("empty.npy", npy_with_header(&header("<f8", false, &[99_999_999_999, 0]), &[]));
    folder.put("void.npy", npy_with_header(&header("|V0", false, &[i64::MAX as usize]), &[]));
    folder.run(words("reshape void.npy --unsqueeze 0 -o out.npy")).printed().expect("items of no bytes");
    std::fs::remove_file(folder.path("out.npy")).expect("removed");
    for (name, cut) in [("d.npy", 150), ("d.npz", 400), ("m.safetensors", 300), ("d.pb", 20), ("z.npz", 60)] {
        folder.put(format!("cut-{name}"), &folder.get(name)[..cut]);
    }
    folder.put("long.npy", [&folder.get("d.npy")[..], &[0]].concat()).put("empty", b"").put("zero", [0_u8; 64]);
    let rows: &[(&str, &[&str])] = &[
        ("", &["<FILE>"]),
        ("d.npy:x", &["FILE d.npy:x", "no members"]),
        ("d.pb:w", &["FILE d.pb:w", "onnx", "no members"]),
        ("d.npz:A/b", &["FILE d.npz:A/b", "did you mean \"a/b\"?"]),
        ("d.npz:nothing", &["no tensor \"nothing\", but \"a/b\", \"big\", \"f\""]),
        ("m.safetensors:bias", &["did you mean \"layer.0.bias\"?"]),
        ("d.npz:", &["FILE d.npz:", "\"\""]),
        ("d.npz:f.npy", &["FILE d.npz:f.npy"]),
        ("cut-d.npy", &["FILE cut-d.npy", "22 bytes of data, expected 24"]),
        ("cut-d.npz", &["FILE cut-d.npz", "cut off"]),
        ("cut-z.npz", &["FILE cut-z.npz", "cut off"]),
        ("cut-m.safetensors", &["FILE cut-m.safetensors"]),
        ("cut-d.pb", &["FILE cut-d.pb", "24 bytes, and 9 are in the file"]),
        ("long.npy", &["FILE long.npy", "25 bytes of data, expected 24"]),
        ("empty", &["FILE empty", "empty"]),
        ("zero", &["FILE zero", "byte 0x00"]),
        ("- -", &["standard input"]),
        ("-", &["FILE (standard input)", "empty"]),
        ("d.npy --json --members", &["--json", "--members"]),
        ("d.npy --stats --members", &["--stats", "--members"]),
        ("d.npy --hash --members", &["--hash", "--members"]),
        ("d.npy --by-axis 2", &["FILE d.npy: --by-axis 2", "expected -2 to 1", "shape [2, 3]"]),
        ("d.npy --by-axis=-3", &["FILE d.npy: --by-axis -3", "expected -2 to 1"]),
        ("empty.npy --by-axis 0", &["FILE empty.npy", "99999999999 places of no bytes are too many to print"]),
        ("5 --by-axis 0", &["FILE 5: --by-axis 0", "shape [] has no axis"]),
        ("d.npy --by-axis x", &["--by-axis", "'x'", "expected a whole number"]),
        ("d.npy --dtype bfloat16", &["FILE d.npy", "float32", "bfloat16"]),
        ("m.safetensors:none --dtype bfloat16", &["FILE m.safetensors:none", "int64", "bfloat16"]),
        ("d.npy --from safetensors", &["FILE d.npy", ".safetensors"]),
        ("[[1],2]", &["FILE [[1],2]"]),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, fragments)| folder.refuses(words(&format!("info {args}")), fragments).map(drop),
    );
}

/// A hash is that of the canonical `.npy`, whatever the container, the order and the byte order.
#[test]
fn hashes() {
    let folder = folder();
    // NumPy's own file of the structured tensor
    const STRUCTURED: &str = "a516970df4afce54c112564ff1ea87ff925eb9e9e436947c6d1011e3fca20ff0";
    let expected = |name: &str| match name.len() == STRUCTURED.len() {
        true => name.to_owned(),
        false => Sha256::digest(folder.get(name)).iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    // bfloat16 is <V2 in a .npy, and types that NumPy has no name for are |V1
    folder.put("bf16.npy", npy("<V2", &[2], &[0x80, 0x3f, 0, 0x40])).put("int4.npy", npy("|V1", &[3], &[1, 0xe, 7]));
    folder.put("e4m3.npy", npy("|V1", &[], &[0x38])).put("half.npy", npy("<f2", &[2], &[0, 0x3c, 0, 0x40]));
    let strings = [b"a\0\0\0b\0\0\0".as_slice(), b"\0\0\0a\0\0\0b"];
    folder.put("u.npy", npy("<U2", &[1], strings[0])).put("big-u.npy", npy(">U2", &[1], strings[1]));
    let fields = |order| format!("[('a', '{order}i2'), ('b', '|V1')]");
    let structured = |order, items| npy_with_header(&header_of(&fields(order)), items);
    folder.put("t.npy", structured("<", b"\x01\x02v")).put("big-t.npy", structured(">", b"\x02\x01v"));
    let rows: &[(&str, &[&str])] = &[
        ("d.npy", &["d.npy", "f.npy", "b.npy", "d.pb", "d.npz:a/b", "d.npz:f", "d.npz:big", "z.npz:d"]),
        ("d.npy", &["m.safetensors:layer.0.weight"]),
        ("bf16.npy", &["bf16.npy", "m.safetensors:layer.0.bias"]),
        ("int4.npy", &["int4.npy", "p.pb"]),
        ("e4m3.npy", &["m.safetensors:scale"]),
        ("i.npy", &["i.npy", r#"{"dtype":"uint8","shape":[3],"data":[1,2,3]}"#]),
        ("half.npy", &["[1,2] --dtype float16"]),
        ("u.npy", &["u.npy", "big-u.npy"]),
        (STRUCTURED, &["t.npy", "big-t.npy"]),
        ("v.npy", &["v.npy"]),
    ];
    each(
        rows,
        |(name, _)| format!("as {name}"),
        |(name, equal)| {
            let hash = format!("\"hash\": \"{}\"}}", expected(name));
            for other in *equal {
                let args = [words("info --hash --json"), words(other)].concat();
                let text = String::from_utf8_lossy(&folder.always(&args, None)?.stdout).into_owned();
                if !text.contains(&hash) {
                    return Err(format!("{other}: {text}, expected {hash}"));
                }
            }
            Ok(())
        },
    );
}

/// The header of a `.npy` with one structured item.
fn header_of(descr: &str) -> String {
    format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}")
}

/// An axis of a great many places takes bounded memory, and each of them is there.
#[test]
fn a_long_axis() {
    let folder = Folder::new();
    let items: Vec<u8> = (0..30_000_u16).flat_map(u16::to_le_bytes).collect();
    folder.put("long.npy", npy("<u2", &[10_000, 3], &items));
    let run = folder.run(words("info long.npy --by-axis 0 --json")).printed().expect("JSON");
    let found: Value = serde_json::from_str(&run).expect("JSON");
    let places = found[0]["by_axis"].as_array().expect("places");
    assert_eq!(
        (places.len(), &places[9999]["max"]["value"], &places[9999]["max"]["index"][0]),
        (10_000, &29_999.into(), &9999.into())
    );
    assert_eq!(places[5]["quantiles"]["0.5"], 16);
    let table = folder.run(words("info long.npy --by-axis 0")).printed().expect("a table");
    // what is known of so many lines is not kept: headings come again
    let headings = table.lines().filter(|line| line.starts_with("  place")).count();
    assert_eq!((headings, table.lines().count()), (3, 4 + 3 + 10_000));
}

#[test]
#[cfg(unix)]
fn closed_pipes_and_full_devices() {
    let folder = folder();
    let files = "d.npy ".repeat(2000);
    for args in ["", "--json"] {
        let run = folder.status_before_pipe(&format!("info {files} {args}"), "true");
        assert_eq!((run.stdout.as_slice(), run.stderr.as_str()), (&b"0\n"[..], ""), "{args}");
        let run = folder.script(&format!("$T info d.npy {args} > /dev/full"));
        assert_eq!(run.status, Some(2), "{args}: {}", run.stderr);
        assert!(run.stderr.starts_with("error: standard output: "), "{args}: {}", run.stderr);
    }
}

/// What can be read is printed, in JSON, too; what cannot is told, a line each.
#[test]
fn an_error_beside_others() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<f32>(&[3], &[1., 2., 3.]).npy()).put("bad.npy", b"bad");
    let run = folder.run(["info", "missing.npy", "d.npy", "bad.npy"]);
    assert_eq!((run.status, run.stdout.iter().filter(|byte| **byte == b'\n').count()), (Some(2), 2));
    let said: Vec<_> = run.stderr.lines().map(|line| line.split(": ").nth(1)).collect();
    assert_eq!(said, [Some("FILE missing.npy"), Some("FILE bad.npy")], "{}", run.stderr);
    let told = |args: &str| -> (Option<i32>, Vec<Value>) {
        let run = folder.run(words(&format!("info --json {args}")));
        (run.status, serde_json::from_slice(&run.stdout).expect("an array"))
    };
    let alone = told("d.npy");
    assert_eq!((alone.0, alone.1.len()), (Some(0), 1));
    assert_eq!(told("missing.npy d.npy bad.npy"), (Some(2), alone.1));
    assert_eq!(told("missing.npy"), (Some(2), vec![]));
}

/// Containers that hold an array of Python objects, and a member whose record is damaged.
fn beside_broken() -> Folder {
    let folder = folder();
    let header = header("<f4", false, &[2]).replace("<f4", "|O");
    let objects = npy_with_header(&header, b"pickle");
    let d = folder.get("d.npy");
    let archive = npz(&[("good", d.clone()), ("objects", objects.clone()), ("broken", b"no npy".to_vec())]);
    folder.put("mixed.npz", archive).put("objects.npz", npz(&[("o", objects)]));
    folder
}

/// The tensors of a folder, and those of an index, lie in several files: each of these has its line, in every form.
#[test]
fn a_line_for_each_file() {
    let folder = beside_broken();
    let model =
        [("w", "1"), ("a", "2"), ("b", "2"), ("c", "3")].map(|(name, n)| format!("\"{name}\": \"m-{n}.safetensors\""));
    folder.put("m.safetensors.index.json", format!("{{\"weight_map\": {{{}}}}}", model.join(", ")));
    folder.put("m-1.safetensors", safetensors(&[member("w", "uint8", &[1], vec![1])]));
    fs::create_dir(folder.path("run")).expect("a folder");
    folder.put("run/mixed.npz", folder.get("mixed.npz")).put("run/t.npy", &folder.get("d.npy")[..50]);
    folder.put("run/good.npy", folder.get("d.npy"));
    let rows: [(&str, &[&str]); 2] = [
        (
            "m.safetensors.index.json",
            &[
                "error: FILE m.safetensors.index.json: 2 tensors cannot be read (\"a\", \"b\"): shard 'm-2.safetensors': No such file",
                "error: FILE m.safetensors.index.json:c: shard 'm-3.safetensors': No such file",
            ],
        ),
        (
            "run",
            &[
                "error: FILE run: 2 tensors cannot be read (\"mixed:broken\", \"mixed:objects\"); \"mixed:",
                "error: FILE run:t: file run/t.npy: ends after 50 bytes",
            ],
        ),
    ];
    for (args, expected) in rows {
        for form in ["", "--json", "--stats", "--tree", "--hash", "--members", "--by-axis 0", "--stats --json"] {
            let run = folder.run(words(&format!("info {args} {form}")));
            let mut lines: Vec<_> = run.stderr.lines().collect();
            lines.sort();
            let are_right =
                lines.len() == expected.len() && lines.iter().zip(expected).all(|(line, it)| line.starts_with(it));
            assert!(run.status == Some(2) && are_right && !run.stdout.is_empty(), "{args} {form}: {run:?}");
        }
    }
    // items that are damaged
    let mut damaged = npz(&[("a", folder.get("d.npy")), ("b", folder.get("d.npy"))]);
    let at = damaged
        .windows(8)
        .position(|window| window == &folder.get("d.npy")[folder.get("d.npy").len() - 8..])
        .expect("items");
    damaged[at] ^= 1;
    folder.put("damaged.npz", damaged);
    folder.run(words("info damaged.npz")).printed().expect("headers");
    let run = folder.run(words("info damaged.npz --stats"));
    assert!(run.status == Some(2) && run.stderr.starts_with("error: FILE damaged.npz:a: damaged: "), "{run:?}");
}

/// A member that cannot be read is listed with the reason, and stops nothing. A line for each file says so, with status 2.
#[test]
fn members_that_cannot_be_read() {
    let folder = beside_broken();
    const LINE: &str =
        "error: FILE mixed.npz: 2 tensors cannot be read (\"broken\", \"objects\"); \"objects\": object arrays ";
    let listed = |args: &str, line: &str| {
        let run = folder.run(words(&format!("info {args}")));
        let is_right = run.status == Some(2) && run.stderr.starts_with(line) && run.stderr.lines().count() == 1;
        assert!(is_right, "{args}: {run:?}");
        String::from_utf8(run.stdout).expect("text")
    };
    let table = listed("mixed.npz i.npy", LINE);
    let lines: Vec<_> = table.lines().map(|line| words(line).join(" ")).collect();
    assert_eq!(lines[1..3], ["mixed.npz", "good float32 [2, 3] 24 B"], "{table}");
    assert!(lines[3].starts_with("objects not read: "), "{table}");
    assert!(lines[3].contains("object"), "{table}");
    assert!(lines[4].starts_with("broken not read: "), "{table}");
    assert_eq!(lines[5..], ["total 1 tensor 6 items 24 B 2 not read", "i.npy uint8 [3] 3 B"], "{table}");
    // a file of which nothing can be read is an error, also beside others
    folder.refuses(["info", "objects.npz"], &["FILE objects.npz:o: object arrays"]).expect("an error");
    let run = folder.run(["info", "objects.npz", "i.npy"]);
    assert_eq!((run.status, run.stderr.lines().count()), (Some(2), 1), "{}", run.stderr);
    assert!(String::from_utf8_lossy(&run.stdout).contains("\ni.npy  uint8"), "{:?}", run.stdout);
    let tree = listed("mixed.npz --tree", LINE);
    assert!(tree.contains("  objects") && tree.contains("not read: "), "{tree}");
    for form in ["--hash", "--by-axis 0", "--histogram", "--sort size"] {
        assert!(listed(&format!("mixed.npz {form}"), LINE).contains("not read: "), "{form}");
    }
    assert_eq!(listed("mixed.npz --members", LINE), "good\nobjects\nbroken\n");
    assert!(listed("mixed.npz --stats --explain", LINE).contains("mixed.npz:good"));
    let stats = listed("mixed.npz:*o* --stats", "error: FILE mixed.npz:*o*: 2 tensors cannot be read (");
    assert!(stats.contains("2.190176…") && stats.contains("not read: "), "{stats}");
    // where it is asked for by its name, or there is no list, it is an error
    folder.refuses(["info", "mixed.npz:objects"], &["FILE mixed.npz:objects: ", "object"]).expect("an error");
    let run = folder.run(["info", "mixed.npz", "--json"]);
    let found: Vec<Value> = serde_json::from_slice(&run.stdout).expect("an array");
    assert_eq!((run.status, found.len(), run.stderr.starts_with(LINE)), (Some(2), 3, true), "{}", run.stderr);
    let told: Vec<_> = found.iter().map(|one| (one["member"].as_str(), one["error"].as_str().is_some())).collect();
    assert_eq!(told, [(Some("good"), false), (Some("objects"), true), (Some("broken"), true)]);
    assert!(found[1]["error"].as_str().is_some_and(|why| why.starts_with("object arrays")), "{}", found[1]);
    assert!(found[1]["shape"].is_null() && found[1]["format"] == "npz", "{}", found[1]);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
    let run = folder.run(["show", "mixed.npz"]);
    let shown = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(shown.starts_with("mixed.npz:good: float32 [2, 3]\n") && shown.lines().count() == 3, "{shown}");
    assert_eq!((run.status, run.stderr.lines().count()), (Some(2), 2), "{}", run.stderr);
    folder.refuses(["show", "mixed.npz:broken"], &["FILE mixed.npz:broken: "]).expect("an error");
    folder.run(["convert", "mixed.npz", "--only", "good", "-o", "good.npz"]).printed().expect("converted");
    let refused = folder.refuses(["convert", "mixed.npz", "-o", "all.npz"], &["IN mixed.npz:objects: "]);
    refused.expect("an error");
}

/// Names are grouped, and layers of one structure are one row.
#[test]
fn trees() {
    let folder = Folder::new();
    let mut members = Vec::new();
    for layer in 0..12 {
        // the last layer has another structure, and one before it another shape
        let (wide, more) = (if layer == 10 { 3 } else { 2 }, layer == 11);
        members.push((format!("model.layers.{layer}.attn.q"), npy("|u1", &[wide], &[1; 3][..wide])));
        members.push((format!("model.layers.{layer}.mlp.experts.0/w"), npy("|u1", &[2, 1], &[1; 2])));
        members.push((format!("model.layers.{layer}.mlp.experts.1/w"), npy("|u1", &[2, 1], &[1; 2])));
        if more {
            members.push((format!("model.layers.{layer}.extra"), npy("|u1", &[], &[1])));
        }
    }
    for (name, items) in [("model.norm", 2), ("head", 4), ("head.bias", 1), ("7", 1), ("8", 1)] {
        members.push((name.to_owned(), npy("<f4", &[items], &vec![0; 4 * items])));
    }
    let members: Vec<_> = members.iter().map(|(name, npy)| (name.as_str(), npy.clone())).collect();
    folder.put("m.npz", npz(&members)).put("d.npy", npy("|u1", &[2], &[1, 2]));
    let tree = folder.run(["info", "--tree", "d.npy", "m.npz"]).printed().expect("a tree");
    let expected = "\
name                          tensors  dtype    shape   items   size
d.npy                               1  uint8    [2]         2    2 B
m.npz                              42                      83  110 B  uint8 37 tensors 74 items 74 B, float32 5 tensors 9 items 36 B
  {7..8}                            2  float32  [1]         2    8 B
  head                              2                       5   20 B
    head                            1  float32  [4]         4   16 B
    bias                            1  float32  [1]         1    4 B
  model                            38                      76   82 B  uint8 37 tensors 74 items 74 B, float32 1 tensor 2 items 8 B
    layers                         37                      74   74 B
      layers.{0..9}                30                      60   60 B
        attn.q                     10  uint8    [2]        20   20 B
        mlp.experts.{0..1}/w       20  uint8    [2, 1]     40   40 B
      layers.10                     3                       7    7 B
        attn.q                      1  uint8    [3]         3    3 B
        mlp.experts.{0..1}/w        2  uint8    [2, 1]      4    4 B
      layers.11                     4                       7    7 B
        attn.q                      1  uint8    [2]         2    2 B
        extra                       1  uint8    []          1    1 B
        mlp.experts.{0..1}/w        2  uint8    [2, 1]      4    4 B
    norm                            1  float32  [2]         2    8 B
";
    assert_eq!(tree, expected, "\n{tree}");
    folder.refuses(["info", "--tree", "--hash", "d.npy"], &["--tree", "--hash"]).expect("an error");
}

/// A folder of files is a container: of all their tensors, or, if it holds one model, of that one's.
#[test]
fn folders() {
    let folder = folder();
    std::fs::create_dir_all(folder.path("run/sub")).expect("folders");
    for name in ["d.npy", "d.json", "d.npz"] {
        folder.put(format!("run/sub/{name}").replace("d.json", "j.json").replace("d.npz", "z.npz"), folder.get(name));
    }
    folder.put("run/i.npy", folder.get("i.npy")).put("run/bad.npz", b"bad").put("run/notes.txt", b"no tensor");
    folder.put("run/config.json", b"{\"layers\": 2}").put("run/.hidden.npy", b"");
    let listed = |args: &str| {
        let run = folder.run(words(args));
        let line = "error: FILE run:bad: file run/bad.npz: ";
        assert!(run.status == Some(2) && run.stderr.starts_with(line) && run.stderr.lines().count() == 1, "{run:?}");
        String::from_utf8(run.stdout).expect("text")
    };
    let table = listed("info run");
    let lines: Vec<_> = table.lines().map(|line| words(line).join(" ")).collect();
    assert!(lines[8].starts_with("bad not read: "), "{table}");
    let names: Vec<_> = lines[2..10].iter().map(|line| line.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(lines[1], "run");
    assert_eq!(names, ["i", "sub/d", "sub/j", "sub/z:a/b", "sub/z:big", "sub/z:f", "bad", "total"], "{table}");
    assert_eq!(lines[9], "total 6 tensors 29 items 103 B 1 not read", "{table}");
    // the files of a folder are no shards of a model
    assert_eq!(lines[10..], ["", "dtype tensors items size", "float32 4 24 96 B", "int16 1 2 4 B", "uint8 1 3 3 B"]);
    // the file is the folder as it was typed
    let told = folder.run(["info", "./run:sub/*", "--json"]).printed().expect("JSON");
    let told: Vec<Value> = serde_json::from_str(&told).expect("an array");
    let found: Vec<_> = told.iter().map(|one| (&one["file"], &one["member"], &one["format"])).collect();
    assert_eq!(found[0], (&"./run".into(), &"sub/d".into(), &"npy".into()));
    assert_eq!(found[2], (&"./run".into(), &"sub/z:a/b".into(), &"npz".into()));
    let rows = [
        ("show run:i", "run:i: uint8 [3]\n[1 2 3]\n"),
        ("show run:sub/z:f --at :1,:1", "run:sub/z:f: float32 [2, 3] at :1,:1 -> [1, 1]\n[[0.]]\n"),
        ("slice run:i --at ::-1", "[3 2 1]\n"),
        ("slice-scatter run:i run:i --at ::-1", "[3 2 1]\n"),
        ("info run/sub --members", "d\nj\nz:a/b\nz:big\nz:f\n"),
        ("convert run:sub/z:* -o out.npz", ""),
        ("info out.npz --members", "sub/z:a/b\nsub/z:big\nsub/z:f\n"),
        ("convert run --exclude bad --rename sub/*=* -o all.npz", ""),
        ("info all.npz --members", "d\ni\nj\nz:a/b\nz:big\nz:f\n"),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let printed = folder.run(words(args)).printed()?;
            if printed == *expected { Ok(()) } else { Err(printed) }
        },
    );
    folder.refuses(words("show run:bad"), &["FILE run:bad: ", "run/bad.npz"]).expect("an error");
    folder.refuses(words("show run:nope"), &["no tensor \"nope\""]).expect("an error");
    folder.put("run/i.json", "[1]");
    let run = folder.run(words("info run"));
    assert!(run.status == Some(2) && run.stderr.contains("\nerror: FILE run:i: two files of one name: "), "{run:?}");
    let table = String::from_utf8_lossy(&run.stdout);
    assert!(table.contains("not read: two files of one name: run/i.npy and run/i.json\n"), "{table}");
    folder.refuses(words("show run:i"), &["FILE run:i: two files of one name: run/i.npy and "]).expect("an error");
    std::fs::remove_file(folder.path("run/i.json")).expect("removed");
    // a folder without tensors says so
    std::fs::create_dir(folder.path("none")).expect("a folder");
    assert_eq!(folder.run(["info", "none"]).printed().as_deref(), Ok("none: holds no tensors\n"));
    // a model: one container, or one index with its shards, and no other tensor
    std::fs::create_dir(folder.path("model")).expect("a folder");
    folder.put("model/m.safetensors", folder.get("m.safetensors")).put("model/config.json", b"{\"layers\": 2}");
    let own = folder.run(["info", "m.safetensors", "--json", "--hash"]).printed().expect("JSON");
    let model = || String::from_utf8(folder.run(["info", "model", "--json", "--hash"]).stdout).expect("JSON");
    assert_eq!(model(), own.replace("\"file\": \"m.safetensors\"", "\"file\": \"model\""));
    let index = r#"{"weight_map": {"scale": "m.safetensors", "none": "m.safetensors"}}"#;
    folder.put("model/m.safetensors.index.json", index);
    let found: Vec<Value> = serde_json::from_str(&model()).expect("an array");
    let found: Vec<_> = found.iter().map(|one| (&one["member"], &one["format"])).collect();
    assert_eq!(found, [(&"scale".into(), &"index".into()), (&"none".into(), &"index".into())]);
    folder.put("model/i.npy", folder.get("i.npy"));
    let names = folder.run(["info", "model", "--members"]);
    assert_eq!((names.status, String::from_utf8_lossy(&names.stdout).as_ref()), (Some(0), "i\nm:none\nm:scale\n"));
    let unlisted = "FILE model: not in the index: m:layer.0.weight (m.safetensors), m:layer.0.bias (m.safetensors)";
    assert!(names.stderr.starts_with(unlisted), "{}", names.stderr);
}

/// A container without tensors says so, and is no mistake.
#[test]
fn no_tensors() {
    let folder = Folder::new();
    folder.put("a.npy", npy("|u1", &[2], &[1, 2])).put("no.npz", npz(&[])).put("no.safetensors", safetensors(&[]));
    let table = "name   dtype  shape  size\na.npy  uint8  [2]     2 B\n";
    let none = |file: &str, format: &str| {
        let start = format!(
            "{{\"file\": \"{file}\", \"name\": null, \"member\": null, \"format\": \"{format}\", \"dtype\": null, \"shape\": null"
        );
        format!("{start}, \"order\": null, \"byte_order\": null, \"items\": null, \"bytes\": null, \"offset\": null}}")
    };
    let rows = [
        ("info no.npz no.safetensors", "no.npz: holds no tensors\nno.safetensors: holds no tensors\n".to_owned()),
        ("info no.npz a.npy", format!("{table}no.npz: holds no tensors\n")),
        ("info no.npz --stats --hash", "no.npz: holds no tensors\n".to_owned()),
        ("info no.npz --json", format!("[{}]\n", none("no.npz", "npz"))),
        ("info no.safetensors --json", format!("[{}]\n", none("no.safetensors", "safetensors"))),
        ("info no.npz --members", String::new()),
    ];
    each(
        &rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let printed = folder.run(words(args)).printed()?;
            if printed == *expected { Ok(()) } else { Err(printed) }
        },
    );
    folder.refuses(words("show no.npz"), &["FILE no.npz", "holds no tensors"]).expect("a refusal");
}

//! Containers, models, ONNX tensors and KServe's JSON that no command can take.

use std::io::Write;

use crate::common::{header, npy, npy_with_header};

/// A member of an archive as it says it is, first in the record before it and then in the directory: method, checksum,
/// bytes in the archive, bytes.
struct Member {
    name: Vec<u8>,
    data: Vec<u8>,
    local: [u64; 4],
    central: [u64; 4],
    /// Where the directory says it begins, if not where it does.
    at: Option<u64>,
}

fn crc(bytes: &[u8]) -> u64 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum().into()
}

fn stored(name: &str, content: &[u8]) -> Member {
    let says = [0, crc(content), content.len() as u64, content.len() as u64];
    Member { name: name.into(), data: content.to_vec(), local: says, central: says, at: None }
}

fn deflated(name: &str, content: &[u8], size: u64) -> Member {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    let data = encoder.write_all(content).and_then(|()| encoder.finish()).expect("into memory");
    let says = [8, crc(content), data.len() as u64, size];
    Member { name: name.into(), data, local: says, central: says, at: None }
}

/// The archive, whose end says the numbers of `end` where they are given: members, bytes and place of the directory.
fn archive(members: &[Member], end: [Option<u64>; 3]) -> Vec<u8> {
    fn put(out: &mut Vec<u8>, numbers: &[u64], width: usize) {
        numbers.iter().for_each(|number| out.extend(&number.to_le_bytes()[..width]));
    }
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for Member { name, data, local, central, at } in members {
        let begin = out.len() as u64;
        let common = |out: &mut Vec<u8>, says: &[u64; 4]| {
            put(out, &[20, 0, says[0], 0, 33], 2);
            put(out, &says[1..], 4);
            put(out, &[name.len() as u64, 0], 2);
        };
        out.extend(b"PK\x03\x04");
        common(&mut out, local);
        out.extend(name.iter().chain(data));
        directory.extend(b"PK\x01\x02\x14\x03");
        common(&mut directory, central);
        put(&mut directory, &[0; 3], 2);
        put(&mut directory, &[0, at.unwrap_or(begin)], 4);
        directory.extend(name);
    }
    let (at, bytes) = (out.len() as u64, directory.len() as u64);
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    let count = end[0].unwrap_or(members.len() as u64);
    put(&mut out, &[count, count], 2);
    put(&mut out, &[end[1].unwrap_or(bytes), end[2].unwrap_or(at)], 4);
    out.extend([0; 2]);
    out
}

/// An archive of one member that is right but for what `change` does.
fn one(change: impl FnOnce(&mut Member)) -> Vec<u8> {
    let mut member = stored("a.npy", &npy("<f8", &[8], &[0; 64]));
    change(&mut member);
    archive(&[member], [None; 3])
}

fn npz() -> Vec<(&'static str, Vec<u8>)> {
    let whole = one(|_| {});
    let content = npy("<f8", &[8], &[0; 64]);
    let zip64 = |count: u64, bytes: u64, at: u64| {
        let head = &whole[..whole.len() - 22];
        let record = [44, 45 << 16 | 45, 0, count, count, bytes, at];
        let mut out = [head, b"PK\x06\x06"].concat();
        out.extend(44_u64.to_le_bytes());
        out.extend([45, 0, 45, 0].map(|byte: u8| byte));
        out.extend([0; 8]);
        record[3..].iter().for_each(|number| out.extend(number.to_le_bytes()));
        out.extend(b"PK\x06\x07\0\0\0\0");
        out.extend((head.len() as u64).to_le_bytes());
        out.extend(1_u32.to_le_bytes());
        out.extend(b"PK\x05\x06\0\0\0\0");
        out.extend([0xff; 12]);
        out.extend([0; 2]);
        out
    };
    let claims = |shape: &str, size: u64| {
        let header = npy_with_header(&format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}"), &[]);
        let content = [&header[..], &vec![0; 1 << 20]].concat();
        archive(&[deflated("a.npy", &content, header.len() as u64 + size)], [None; 3])
    };
    vec![
        ("npz-cut-in-end", whole[..whole.len() - 1].to_vec()),
        ("npz-cut-in-directory", whole[..whole.len() - 40].to_vec()),
        ("npz-cut-in-member", whole[..100].to_vec()),
        ("npz-one-byte-more", [&whole[..], b"x"].concat()),
        ("npz-one-byte-before", [b"PK\x03\x04", &whole[..]].concat()),
        ("npz-bomb", claims("(64,)", 64)),
        ("npz-bomb-of-terabytes", claims("(1099511627776,)", 0xffff_0000)),
        ("npz-inflates-to-less", claims("(4000000000,)", 4_000_000_000)),
        ("npz-deflated-garbage", one(|m| (m.local[0], m.central[0]) = (8, 8))),
        ("npz-method-99", one(|m| (m.local[0], m.central[0]) = (99, 99))),
        ("npz-wrong-checksum", one(|m| (m.local[1], m.central[1]) = (7, 7))),
        ("npz-other-checksum-in-record", one(|m| m.local[1] = 7)),
        ("npz-other-size-in-record", one(|m| m.local[3] += 1)),
        ("npz-size-4-gib", one(|m| m.central[2..].fill(0xffff_fff0))),
        ("npz-size-64-bits-missing", one(|m| m.central[2..].fill(0xffff_ffff))),
        ("npz-stored-in-fewer", one(|m| (m.local[2], m.central[2]) = (10, 10))),
        ("npz-at-end", one(|m| m.at = Some(0xffff_ff00))),
        ("npz-at-1", one(|m| m.at = Some(1))),
        ("npz-name-not-utf-8", one(|m| m.name = b"\xff.npy".to_vec())),
        ("npz-name-with-nul", one(|m| m.name = b"a\0.npy".to_vec())),
        ("npz-overlapping", {
            let mut second = stored("b.npy", &content);
            second.at = Some(0);
            archive(&[stored("a.npy", &content), second], [None; 3])
        }),
        ("npz-twice", archive(&[stored("a.npy", &content), stored("a.npy", &content)], [None; 3])),
        ("npz-65535-members", archive(&[stored("a.npy", &content)], [Some(65_535), None, None])),
        ("npz-no-members", archive(&[stored("a.npy", &content)], [Some(0), None, None])),
        ("npz-directory-beyond", archive(&[stored("a.npy", &content)], [None, None, Some(0xffff_fffe)])),
        ("npz-directory-at-0", archive(&[stored("a.npy", &content)], [None, None, Some(0)])),
        ("npz-64-many", zip64(u64::MAX, 51, whole.len() as u64 - 73)),
        ("npz-64-beyond", zip64(1, 51, u64::MAX - 10)),
        ("npz-64-long", zip64(1, u64::MAX, 0)),
        ("npz-in-npz", archive(&[stored("a.npy", &whole)], [None; 3])),
        ("npz-object", archive(&[stored("a.npy", &npy_with_header(&header("|O", false, &[8]), &[0; 64]))], [None; 3])),
    ]
}

fn safetensors() -> Vec<(&'static str, Vec<u8>)> {
    let file = |length: u64, json: &str, data: &[u8]| [&length.to_le_bytes()[..], json.as_bytes(), data].concat();
    let says = |json: &str, data: &[u8]| file(json.len() as u64, json, data);
    let tensor = |dtype: &str, shape: &str, offsets: &str| {
        format!(r#"{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}"#)
    };
    let a = |dtype: &str, shape: &str, offsets: &str| format!(r#"{{"a":{}}}"#, tensor(dtype, shape, offsets));
    let two = |first: &str, second: &str| {
        format!(r#"{{"a":{},"b":{}}}"#, tensor("U8", "[4]", first), tensor("U8", "[4]", second))
    };
    vec![
        ("st-length-beyond", file(1 << 20, &a("U8", "[4]", "[0,4]"), &[0; 4])),
        ("st-length-100-mb", file(100_000_000, &a("U8", "[4]", "[0,4]"), &[0; 4])),
        ("st-length-huge", file(u64::MAX, "{}", &[])),
        ("st-length-less", file(10, &a("U8", "[4]", "[0,4]"), &[0; 4])),
        ("st-data-of-nobody", says("{}", &[0; 4])),
        ("st-data-missing", says(&a("U8", "[4]", "[0,4]"), &[0; 3])),
        ("st-data-more", says(&a("U8", "[4]", "[0,4]"), &[0; 5])),
        ("st-overlapping", says(&two("[0,4]", "[2,6]"), &[0; 6])),
        ("st-the-same", says(&two("[0,4]", "[0,4]"), &[0; 4])),
        ("st-hole", says(&two("[0,4]", "[5,9]"), &[0; 9])),
        ("st-offsets-backward", says(&a("U8", "[4]", "[4,0]"), &[0; 4])),
        ("st-offsets-huge", says(&a("U8", "[4]", "[18446744073709551611,18446744073709551615]"), &[0; 4])),
        ("st-offsets-negative", says(&a("U8", "[4]", "[-4,0]"), &[0; 4])),
        ("st-shape-huge", says(&a("F64", "[9223372036854775807]", "[0,8]"), &[0; 8])),
        ("st-shape-product", says(&a("F64", "[4294967296,4294967296]", "[0,8]"), &[0; 8])),
        ("st-shape-zero-and-huge", says(&a("F64", "[0,9223372036854775807,4]", "[0,0]"), &[])),
        ("st-rank-65", says(&a("U8", &format!("[{}1]", "1,".repeat(64)), "[0,1]"), &[0])),
        ("st-rank-million", says(&a("U8", &format!("[{}1]", "1,".repeat(1_000_000)), "[0,1]"), &[0])),
        ("st-half-a-byte", says(&a("F4", "[3]", "[0,2]"), &[0; 2])),
        ("st-dtype-unknown", says(&a("F3", "[4]", "[0,4]"), &[0; 4])),
        ("st-nested", says(&format!("{{\"a\":{}", "[".repeat(1_000_000)), &[])),
        ("st-nested-unknown", says(&format!("{{\"a\":{{\"x\":{}", "{\"y\":".repeat(200_000)), &[])),
        (
            "st-twice",
            says(
                &format!(
                    "{{{0},{0}}}",
                    a("U8", "[0]", "[0,0]").trim_matches(['{']).trim_end_matches("}}").to_owned() + "}"
                ),
                &[],
            ),
        ),
        ("st-metadata-of-numbers", says(r#"{"__metadata__":{"a":1}}"#, &[])),
        ("st-not-utf-8", [&8_u64.to_le_bytes()[..], b"{\"\xff\xff\":{}"].concat()),
        ("st-huge-tensor-no-data", says(&a("U8", "[1099511627776]", "[0,1099511627776]"), &[])),
    ]
}

fn onnx() -> Vec<(&'static str, Vec<u8>)> {
    let external = |location: &str, more: &str| {
        let entry = |key: &str, value: &str| {
            let text = [&[0x0a, key.len() as u8][..], key.as_bytes(), &[0x12, value.len() as u8], value.as_bytes()];
            let text = text.concat();
            [&[0x6a, text.len() as u8][..], &text].concat()
        };
        let more = more.split_once('=').map(|(key, value)| entry(key, value)).unwrap_or_default();
        [b"\x08\x04\x10\x02".to_vec(), entry("location", location), more, b"\x70\x01".to_vec()].concat()
    };
    let of = |bytes: &[u8]| bytes.to_vec();
    vec![
        ("pb-raw-beyond", of(b"\x08\x02\x10\x01\x4a\xff\xff\xff\xff\x07\0\0\0\0")),
        ("pb-raw-64-bits", of(b"\x08\x02\x10\x01\x4a\xff\xff\xff\xff\xff\xff\xff\xff\x7f\0")),
        ("pb-raw-short", of(b"\x08\x02\x10\x01\x4a\x04\0\0\0\0")),
        ("pb-raw-long", of(b"\x08\x01\x10\x01\x4a\x08\0\0\0\0\0\0\0\0")),
        ("pb-raw-twice", of(b"\x08\x01\x10\x02\x4a\x01\0\x4a\x01\0")),
        ("pb-dim-huge", of(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x10\x01")),
        ("pb-dim-negative", of(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x10\x01\x4a\x00")),
        ("pb-dims-product", of(b"\x08\x80\x80\x80\x80\x10\x08\x80\x80\x80\x80\x10\x10\x01\x4a\x00")),
        ("pb-dims-million", [of(b"\x10\x01"), b"\x08\x01".repeat(1_000_000)].concat()),
        ("pb-varint-endless", [of(b"\x10\x02\x08"), vec![0xff; 1_000_000]].concat()),
        ("pb-groups", [of(b"\x10\x02"), vec![0x0b; 100_000]].concat()),
        ("pb-groups-unknown", [of(b"\x10\x02"), [0xa3, 0x01].repeat(100_000)].concat()),
        ("pb-type-unknown", of(b"\x08\x01\x10\x63\x4a\x00")),
        ("pb-type-missing", of(b"\x08\x01\x4a\x01\0")),
        ("pb-typed-fewer", of(b"\x08\x03\x10\x01\x22\x08\0\0\x80\x3f\0\0\0\x40")),
        ("pb-typed-more", of(b"\x08\x01\x10\x01\x22\x08\0\0\x80\x3f\0\0\0\x40")),
        ("pb-typed-none-of-many", of(b"\x08\x80\x80\x80\x80\x80\x01\x10\x07")),
        ("pb-typed-other", of(b"\x08\x01\x10\x01\x3a\x01\x07")),
        ("pb-typed-beyond", of(b"\x08\x01\x10\x02\x2a\x02\xff\x03")),
        ("pb-typed-and-raw", of(b"\x08\x01\x10\x02\x2a\x01\x03\x4a\x01\0")),
        ("pb-strings-fewer", of(b"\x08\x02\x10\x08\x32\x01a")),
        ("pb-strings-not-utf-8", of(b"\x08\x01\x10\x08\x32\x01\xff")),
        ("pb-segment", of(b"\x08\x01\x10\x02\x1a\x00\x4a\x01\0")),
        ("pb-external-above", external("../data.npy", "")),
        ("pb-external-root", external("/etc/hostname", "")),
        ("pb-external-device", external("/dev/zero", "")),
        ("pb-external-here", external(".", "")),
        ("pb-external-nothing", external("", "")),
        ("pb-external-missing", external("missing.bin", "")),
        ("pb-external-beyond", external("data.npy", "offset=18446744073709551615")),
        ("pb-external-long", external("data.npy", "length=99999999999")),
        ("pb-external-number", external("data.npy", "offset=-1")),
    ]
}

/// ONNX models, none of whose tensors can be read.
fn onnx_models() -> Vec<(&'static str, Vec<u8>)> {
    fn field(number: u8, value: impl AsRef<[u8]>) -> Vec<u8> {
        let (value, mut length) = (value.as_ref(), value.as_ref().len());
        let mut out = vec![number << 3 | 2];
        while length > 0x7f {
            out.push(length as u8 | 0x80);
            length >>= 7;
        }
        [&[&out[..], &[length as u8]].concat(), value].concat()
    }
    let model = |graph: &[u8]| [&b"\x08\x08"[..], &field(7, graph)].concat();
    let initializer = |tensor: &[u8]| model(&field(5, tensor));
    let external = |location: &str| {
        let entry = field(13, [field(1, "location"), field(2, location)].concat());
        initializer(&[b"\x08\x04\x10\x02", &field(8, "a")[..], &entry, b"\x70\x01"].concat())
    };
    let branch = |graph: Vec<u8>| field(1, field(5, field(6, graph)));
    let deep = (0..5000).fold(field(5, b"\x10\x02"), |graph, _| branch(graph));
    let list = |name: &str, values: &[u8]| {
        model(&field(1, [field(4, "Constant"), field(5, [&field(1, name)[..], values].concat())].concat()))
    };
    vec![
        ("om-cut", model(&field(5, b"\x08\x04\x10\x02\x4a\x04"))),
        ("om-beyond", b"\x08\x08\x3a\xff\xff\xff\xff\x07\x2a\x00".to_vec()),
        ("om-64-bits", b"\x08\x08\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f".to_vec()),
        ("om-varint-endless", [b"\x08\x08\x3a".to_vec(), vec![0xff; 1_000_000]].concat()),
        ("om-groups", model(&vec![0x0b; 100_000])),
        ("om-deep", model(&deep)),
        ("om-name-not-utf-8", initializer(&[&b"\x10\x02"[..], &field(8, b"\xff")].concat())),
        ("om-name-long", initializer(&[&b"\x10\x02"[..], &field(8, vec![b'a'; 1 << 20])].concat())),
        (
            "om-names-product",
            model(&field(1, [field(3, vec![b'n'; 60_000]), field(5, field(10, b"").repeat(2000))].concat())),
        ),
        ("om-raw-short", initializer(b"\x08\x02\x10\x01\x4a\x04\0\0\0\0")),
        ("om-dim-huge", initializer(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x10\x01")),
        ("om-no-graph", b"\x08\x08\x42\x02\x10\x11".to_vec()),
        ("om-list-other", list("value_floats", b"\x3a\x03\0\0\0")),
        ("om-list-endless", list("value_ints", &[&b"\x42\x05"[..], &[0xff; 5]].concat())),
        ("om-one-of-none", list("value_int", b"")),
        ("om-external-above", external("../data.npy")),
        ("om-external-root", external("/etc/hostname")),
        ("om-external-device", external("/dev/zero")),
        ("om-external-missing", external("missing.bin")),
    ]
}

/// IR of OpenVINO, none of whose constants can be read: no `.bin` lies beside them.
fn openvino() -> Vec<(&'static str, Vec<u8>)> {
    let net = |inner: &str| format!("<?xml version=\"1.0\"?><net name=\"n\">{inner}</net>").into_bytes();
    let of = |name: &str, data: &str| net(&format!("<layer name=\"{name}\" type=\"Const\"><data {data}/></layer>"));
    let good = "element_type=\"u8\" shape=\"1\" offset=\"0\" size=\"1\"";
    let attributes: String = (0..20_000).map(|n| format!(" a{n}=\"\"")).collect();
    vec![
        ("ir-no-bin", of("a", good)),
        ("ir-itself.bin", of("a", &good.replace("u8", "u16"))),
        ("ir-above", of("../data", good)),
        ("ir-entity", [&b"<?xml version=\"1.0\"?><net name=\"&a;\"/>"[..]].concat()),
        ("ir-file-entity", b"<net ><!DOCTYPE net [<!ENTITY a SYSTEM \"/etc/hostname\">]></net>".to_vec()),
        ("ir-laughs", of(&"&lol;".repeat(1000), good)),
        ("ir-deep", net(&"<a>".repeat(10_000))),
        ("ir-bodies", net(&"<layer name=\"aaaaaaaaaaaaaaaa\"><body>".repeat(10_000))),
        ("ir-attributes", net(&format!("<a{attributes}/><layer type=\"Const\"><data/></layer>"))),
        ("ir-long-name", net(&format!("<{}", "a".repeat(1 << 20)))),
        ("ir-lines", net("<a\n></b\n>")),
        ("ir-cut", b"<net name=\"n\"><layers><layer name=\"".to_vec()),
        ("ir-not-utf-8", b"<net name=\"\xff\"></net>".to_vec()),
    ]
}

fn kserve() -> Vec<(&'static str, Vec<u8>)> {
    let of = |shape: &str, datatype: &str, data: &str| {
        format!(r#"{{"name":"a","shape":{shape},"datatype":"{datatype}","data":{data}}}"#).into_bytes()
    };
    vec![
        ("kserve-shape-huge", of("[4611686018427387904]", "FP64", "[1]")),
        ("kserve-shape-product", of("[4294967296,4294967296]", "UINT8", "[1]")),
        ("kserve-shape-more", of("[5]", "UINT8", "[1,2,3,4]")),
        ("kserve-shape-negative", of("[-1]", "UINT8", "[1]")),
        ("kserve-type-unknown", of("[1]", "FP8", "[1]")),
        ("kserve-type-number", br#"{"shape":[1],"datatype":7,"data":[1]}"#.to_vec()),
        ("kserve-out-of-range", of("[1]", "UINT8", "[256]")),
        ("kserve-both-types", br#"{"dtype":"int8","datatype":"INT8","data":[1]}"#.to_vec()),
        ("kserve-no-data", br#"{"name":"a","shape":[1],"datatype":"INT8"}"#.to_vec()),
        ("kserve-name-alone", br#"{"name":"a","data":[1]}"#.to_vec()),
        ("kserve-name-deep", format!("{{\"name\":{}", "[".repeat(500_000)).into_bytes()),
    ]
}

/// Indexes of shards: none of them leads anywhere.
fn indexes() -> Vec<(&'static str, Vec<u8>)> {
    let of = |map: &str| format!(r#"{{"metadata": {{"total_size": 8}}, "weight_map": {map}}}"#).into_bytes();
    let one = |shard: &str| of(&format!(r#"{{"a": "{shard}"}}"#));
    vec![
        ("index-above", one("../x.safetensors")),
        ("index-root", one("/etc/hostname")),
        ("index-device", one("/dev/zero")),
        ("index-here", one(".")),
        ("index-nothing", one("")),
        ("index-folder", one("a/b.safetensors")),
        ("index-backslash", one(r"..\\x.safetensors")),
        ("index-nul", one(r"a\u0000b")),
        ("index-missing", one("missing.safetensors")),
        ("index-long", one(&"x".repeat(5000))),
        ("index-itself", one("index-itself")),
        ("index-other-format", one("data.npy")),
        ("index-of-numbers", of(r#"{"a": 7}"#)),
        ("index-list", of(r#"["a"]"#)),
        ("index-twice", of(r#"{"a": "x", "a": "y"}"#)),
        ("index-two-maps", br#"{"weight_map": {"a": "x"}, "weight_map": {"a": "x"}}"#.to_vec()),
        ("index-cut", br#"{"weight_map": {"a": "x"#.to_vec()),
        ("index-deep", format!(r#"{{"weight_map": {}"#, r#"{"a":"#.repeat(500_000)).into_bytes()),
        ("index-more-behind", br#"{"weight_map": {"a": "x"}} x"#.to_vec()),
        (
            "index-many-shards",
            of(&format!("{{{}}}", (0..6000).map(|n| format!(r#""{n}":"{n}""#)).collect::<Vec<_>>().join(","))),
        ),
    ]
}

fn gguf() -> Vec<(&'static str, Vec<u8>)> {
    let count = u64::to_le_bytes;
    let begin = |tensors: u64, keys: u64| [&b"GGUF\x03\0\0\0"[..], &count(tensors), &count(keys)].concat();
    let text = |text: &str| [&count(text.len() as u64)[..], text.as_bytes()].concat();
    let key = |kind: u32, value: &[u8]| [begin(0, 1), text("k"), kind.to_le_bytes().to_vec(), value.to_vec()].concat();
    let list = |kind: u32, length: u64| [&kind.to_le_bytes()[..], &count(length)].concat();
    let tensor = |dims: &[u64], kind: u32, offset: u64| {
        let dims: Vec<u8> = dims.iter().flat_map(|dim| count(*dim)).collect();
        let axes = (dims.len() as u32 / 8).to_le_bytes();
        [&begin(1, 0)[..], &text("w"), &axes, &dims, &kind.to_le_bytes(), &count(offset), &[0; 64]].concat()
    };
    vec![
        ("gguf-begin-alone", b"GGUF".to_vec()),
        ("gguf-version-1", b"GGUF\x01\0\0\0\0\0\0\0\0\0\0\0".to_vec()),
        ("gguf-tensors-beyond", begin(u64::MAX, 0)),
        ("gguf-tensors-none-there", begin(1 << 20, 0)),
        ("gguf-keys-beyond", begin(0, u64::MAX)),
        ("gguf-key-long", [begin(0, 1), count(1 << 60).to_vec()].concat()),
        ("gguf-text-beyond", key(8, &count(u64::MAX))),
        ("gguf-kind-unknown", key(99, b"")),
        ("gguf-list-beyond", key(9, &list(4, u64::MAX))),
        ("gguf-list-product", key(9, &list(10, 1 << 61))),
        ("gguf-lists-deep", key(9, &list(9, 1).repeat(100_000))),
        ("gguf-lists-wide", key(9, &[list(9, 1 << 40), list(0, 0).repeat(10_000)].concat())),
        ("gguf-strings-beyond", key(9, &[list(8, 1 << 50), vec![0; 100_000]].concat())),
        ("gguf-alignment", [&begin(0, 1)[..], &text("general.alignment"), &[4, 0, 0, 0, 3, 0, 0, 0]].concat()),
        ("gguf-axes", tensor(&[1; 65], 0, 0)),
        ("gguf-dim-huge", tensor(&[u64::MAX], 0, 0)),
        ("gguf-dims-product", tensor(&[1 << 40, 1 << 40], 0, 0)),
        ("gguf-row-of-blocks", tensor(&[33], 8, 0)),
        ("gguf-items-beyond", tensor(&[1 << 40], 0, 0)),
        ("gguf-offset-beyond", tensor(&[2], 0, u64::MAX)),
    ]
}

/// Streams of PyTorch.
fn pytorch() -> Vec<(&'static str, Vec<u8>)> {
    let stream = |object: &[u8]| {
        let front = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}.";
        [front, object, b"\x80\x02]X\x01\0\0\x000a.", &1_u64.to_le_bytes(), &[0; 4]].concat()
    };
    let storage = |items: &[u8]| {
        [&b"(X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpu"[..], items, b"NtQ"].concat()
    };
    let tensor = |storage: &[u8], numbers: &[u8]| {
        stream(&[&b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n("[..], storage, numbers, b"\x89NtR."].concat())
    };
    let one = storage(b"K\x01");
    // each list holds the one before it twice
    let doubled = [&b"\x80\x02]q\0"[..], &b"](h\0h\0eq\0".repeat(200), b"."].concat();
    // of 2 MiB, for one item less than each array has
    let text = [&b"X\0\0\x20\0"[..], "\u{e9}".repeat(1 << 20).as_bytes()].concat();
    let array = |items: &[u8], dims: &[u8]| {
        let made = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\0\x85C\x01btR(K\x01";
        let dtype = b"\x85cnumpy\ndtype\n(X\x02\0\0\0u1\x89\x88tR(K\x03X\x01\0\0\0|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\0tb\x89";
        [&made[..], dims, dtype, items, b"tb"].concat()
    };
    let encoded = [&b"\x80\x02c_codecs\nencode\n("[..], &text, b"X\x06\0\0\0latin1tRq\0"].concat();
    let arrays = [&encoded[..], b"](", &array(b"h\0", b"J\x01\0\x10\0").repeat(2000), b"e."].concat();
    let names = [&b"\x80\x02"[..], &text, b"q\x01](", &b"h\x01".repeat(2000), b"eq\x02"].concat();
    let module = b"cmy\nNet\n)\x81}(X\x0b\0\0\0_parameters}X\x08\0\0\0_buffers}X\x08\0\0\0_modules}\
        X\x1b\0\0\0_non_persistent_buffers_seth\x02ub.";
    vec![
        (
            "pt-array-shape-product",
            stream(&[&b"\x80\x02"[..], &array(b"C\x01a", b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"), b"."].concat()),
        ),
        ("pt-array-short", stream(&[&b"\x80\x02"[..], &array(b"C\x01a", b"K\x02"), b"."].concat())),
        ("pt-arrays-of-one-text", stream(&arrays)),
        ("pt-names-left-out", stream(&[&names[..], module].concat())),
        ("pt-escape", stream(b"V\\u00\n.")),
        ("pt-magic-alone", stream(b"")[..20].to_vec()),
        ("pt-object-cut", stream(b"\x80\x02(")),
        ("pt-text-beyond", stream(b"\x80\x02X\xff\xff\xff\xff.")),
        ("pt-text-beyond-64-bits", stream(b"\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff.")),
        ("pt-lists-deep", stream(&[&b"\x80\x02"[..], &b"]".repeat(100_000), &b"a".repeat(99_999), b"."].concat())),
        ("pt-lists-doubled", stream(&doubled)),
        ("pt-marks", stream(&b"(".repeat(300_000))),
        ("pt-copies", stream(&[&b"\x80\x02N"[..], &b"2".repeat(1_000_000), b"."].concat())),
        ("pt-memo", stream(b"\x80\x02j\xff\xff\xff\xff.")),
        ("pt-empty-stack", stream(b"\x80\x02R.")),
        ("pt-opcode", stream(b"\x80\x02\xff.")),
        ("pt-protocol", stream(b"\x80\xffN.")),
        ("pt-items-beyond", tensor(&storage(b"\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f"), b"K\0K\x01\x85K\x01\x85")),
        ("pt-offset-negative", tensor(&one, b"J\xff\xff\xff\xffK\x01\x85K\x01\x85")),
        ("pt-stride-beyond", tensor(&one, b"K\0K\x02\x85\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f\x85")),
        ("pt-shape-product", tensor(&one, b"K\0J\xff\xff\xff\x7fJ\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x87K\0K\0K\0\x87")),
        ("pt-strides-fewer", tensor(&one, b"K\0K\x01\x85)")),
        ("pt-storage-cut", tensor(&storage(b"K\x02"), b"K\0K\x02\x85K\x01\x85")),
    ]
}

/// Their names and contents.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>)> {
    [npz(), safetensors(), onnx(), onnx_models(), openvino(), gguf(), pytorch(), kserve(), indexes()].concat()
}

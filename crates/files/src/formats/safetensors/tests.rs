use super::*;
use crate::storage::read_at::MemoryBytes;
use crate::storage::source::Hold;
use tensorop_kernels::parallel::Threads;

fn stored(json: &str, items: usize) -> Vec<u8> {
    [&(json.len() as u64).to_le_bytes()[..], json.as_bytes(), &vec![0; items]].concat()
}

fn read(bytes: &[u8]) -> Result<Vec<Vec<u8>>> {
    let file: Arc<dyn ReadAt> = Arc::new(MemoryBytes::new(bytes));
    let index = HeaderIndex::read(&*file)?;
    let items = |n| {
        let mut source = index.source(&file, n, "x".to_owned())?;
        source.hold(Hold::Seekable, Threads::default())?;
        let mut out = vec![0; source.bytes()];
        source.read(&source.view(), &mut out, &mut Default::default())?;
        Ok(out)
    };
    (0..index.members.len()).map(items).collect()
}

#[test]
fn refusals() {
    let one = |dtype: &str, shape: &str, begin: &str, end: &str| {
        format!(r#"{{"a":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{begin},{end}]}}}}"#)
    };
    let two = |a: &str, b: &str| {
        let info = |place: &str| format!(r#"{{"dtype":"U8","shape":[2],"data_offsets":{place}}}"#);
        format!(r#"{{"a":{},"b":{}}}"#, info(a), info(b))
    };
    let tensor = r#"{"dtype":"U8","shape":[2],"data_offsets":[0,2]}"#;
    let axes = format!("[{}]", ["1"; 65].join(","));
    let rows: &[(String, usize, &str)] = &[
        (String::new(), 0, "a safetensors header that does not begin with {"),
        ("[]".to_owned(), 0, "a safetensors header that does not begin with {"),
        (" {".to_owned(), 0, "EOF while parsing"),
        ("{} x".to_owned(), 0, "trailing characters"),
        ("{\"a\":".to_owned(), 0, "EOF while parsing"),
        ("{}".to_owned(), 1, "1 bytes of data, expected 0 by the header"),
        (one("U8", "[2]", "0", "2"), 1, "1 bytes of data, expected 2 by the header"),
        (one("U8", "[2]", "0", "2"), 3, "3 bytes of data, expected 2 by the header"),
        (one("U8", "[2]", "0", "3"), 3, "3 bytes of data, expected 2 (uint8 [2])"),
        (one("F32", "[2]", "0", "2"), 2, "2 bytes of data, expected 8 (float32 [2])"),
        (one("U8", "[2]", "1", "3"), 3, "'a' begins at byte 1 of the data, expected 0"),
        (one("U8", "[2]", "2", "0"), 2, "'a': data from byte 2 to byte 0"),
        (one("U8", "[-1]", "0", "2"), 2, "invalid value: integer `-1`"),
        (one("U8", "[2.5]", "0", "2"), 2, "invalid type: floating point"),
        (one("U8", "2", "0", "2"), 2, "invalid type: integer `2`"),
        (one("U8", "[2]", "0", "18446744073709551616"), 2, "invalid type: floating point"),
        (one("X8", "[2]", "0", "2"), 2, "dtype 'X8' is not known"),
        (one("X8", "[2]", "2", "0"), 2, "'a': data from byte 2 to byte 0"),
        (one("X8", "[2]", "0", "2"), 3, "3 bytes of data, expected 2 by the header"),
        (one("U8\",\"dtype\":\"X8", "[2]", "0", "2"), 2, "dtype occurs twice"),
        (r#"{"a":{"dtype":8,"shape":[2],"data_offsets":[0,2]}}"#.to_owned(), 2, "invalid type: integer `8`"),
        (one("U8", "[4294967296,4294967296]", "0", "2"), 2, "is larger than memory can be"),
        (one("U8", "[0,4294967296,4294967296]", "0", "0"), 0, "is larger than memory can be"),
        (one("U8", &axes, "0", "1"), 1, "65 axes, expected at most 64"),
        (one("F4", "[3]", "0", "2"), 2, "3 items of 4 bits (float4_e2m1fn [3]) do not fill their bytes"),
        (one("F6_E2M3", "[2]", "0", "2"), 2, "2 items of 6 bits (float6_e2m3fn [2]) do not fill their bytes"),
        (one("F6_E3M2", "[4]", "0", "3"), 3, "packed in an order that safetensors does not define"),
        (two("[0,2]", "[1,3]"), 3, "'b' begins at byte 1 of the data, expected 2"),
        (two("[0,2]", "[3,5]"), 5, "'b' begins at byte 3 of the data, expected 2"),
        (two("[0,2]", "[0,2]"), 2, "'b' begins at byte 0 of the data, expected 2"),
        (format!(r#"{{"a":{tensor},"a":{tensor}}}"#), 2, "the header names 'a' twice"),
        (format!(r#"{{"a":{tensor},"\u0061":{tensor}}}"#), 2, "the header names 'a' twice"),
        (r#"{"__metadata__":{},"__metadata__":{}}"#.to_owned(), 0, "__metadata__ occurs twice"),
        (r#"{"__metadata__":{"a":1}}"#.to_owned(), 0, "'__metadata__': invalid type: integer `1`"),
        (format!(r#"{{"__metadata__":{tensor}}}"#), 0, "'__metadata__': invalid type: sequence"),
        (r#"{"a":{"dtype":"U8","shape":[2]}}"#.to_owned(), 2, "'a': missing field `data_offsets`"),
        (r#"{"a":{"dtype":"U8","dtype":"U8"}}"#.to_owned(), 2, "'a': dtype occurs twice"),
    ];
    let mut failures = Vec::new();
    for (json, items, expected) in rows {
        match read(&stored(json, *items)) {
            Ok(_) => failures.push(format!("{json}: read")),
            Err(error) => {
                let message = format!("{error:#}");
                if !message.contains(expected) || message.contains('\n') {
                    failures.push(format!("{json}: {message}"));
                }
            }
        }
    }
    let lengths: &[(&[u8], &str)] = &[
        (b"", "0 bytes, expected the 8 of a header's length"),
        (&[2, 0, 0, 0, 0, 0, 0], "7 bytes, expected the 8 of a header's length"),
        (&[2, 0, 0, 0, 0, 0, 0, 0, b'{'], "a header of 2 bytes, and 1 bytes in the file after its length"),
        (&[0, 0, 0, 0, 0, 0, 0, 1, b'{'], "a header of 72057594037927936 bytes, expected at most 100000000"),
    ];
    for (bytes, expected) in lengths {
        let found = read(bytes).map_or_else(|error| format!("{error:#}"), |_| "read".to_owned());
        if found != *expected {
            failures.push(format!("{bytes:?}: {found}"));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn valid_files() {
    let rows: &[(&str, usize, &[&str])] = &[
        ("{}", 0, &[]),
        (r#"{"__metadata__":{"a":"b"}}   "#, 0, &[]),
        (r#"{"__metadata__":null}"#, 0, &[]),
        (
            r#"{"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},"z":{"dtype":"U8","shape":[0],"data_offsets":[1,1]},
                "a":{"dtype":"BOOL","shape":[],"data_offsets":[0,1],"more":[1,{"a":2}]}}"#,
            3,
            &["a", "z", "b"],
        ),
    ];
    let mut failures = Vec::new();
    for (json, items, names) in rows {
        match HeaderIndex::read(&MemoryBytes::new(stored(json, *items))) {
            Ok(index) if index.members.iter().map(|member| &*member.name).eq(names.iter().copied()) => {}
            found => failures.push(format!("{json}: {found:?}")),
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_tensor_that_cannot_be_read_stops_no_other() {
    let good = r#""good":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}"#;
    let rows = [
        (r#"{"dtype":"U8","shape":[-1],"data_offsets":[2,4]}"#, "invalid value: integer `-1`, expected usize"),
        (r#"{"dtype":"U8","shape":[3],"data_offsets":[2,4]}"#, "2 bytes of data, expected 3 (uint8 [3])"),
        (r#"{"dtype":"U8","data_offsets":[2,4]}"#, "missing field `shape`"),
        (r#"{"shape":[2],"data_offsets":[2,4]}"#, "missing field `dtype`"),
        (r#"{"dtype":["U8"],"shape":[2],"data_offsets":[2,4]}"#, "invalid type: sequence, expected a string"),
        (r#"{"dtype":"U8","shape":[2],"shape":[1,2],"data_offsets":[2,4]}"#, "shape occurs twice"),
        (r#"{"dtype":"X9","shape":[2],"data_offsets":[2,4]}"#, "dtype 'X9' is not known"),
    ];
    for (bad, why) in rows {
        let file: Arc<dyn ReadAt> = Arc::new(MemoryBytes::new(stored(&format!("{{\"bad\":{bad},{good}}}"), 4)));
        let index = HeaderIndex::read(&*file).expect(bad);
        let found = index.members.iter().map(|member| (&*member.name, member.offset, member.bytes));
        let data = 8 + bad.len() as u64 + good.len() as u64 + 9;
        assert!(found.eq([("good", data, 2), ("bad", data + 2, 2)]), "{bad}: {:?}", index.members);
        assert!(index.source(&file, 0, String::new()).is_ok());
        let error = index.source(&file, 1, String::new()).expect_err(bad).to_string();
        assert!(error.contains(why) && !error.contains('\n'), "{bad}: {error}");
    }
}

#[test]
fn damaged_files() {
    let entry = |name: &str, dtype: &str, shape: &[usize]| {
        (name.to_owned(), Meta::c_order(DType::parse(dtype).unwrap(), shape.to_vec()))
    };
    let members = [entry("a", "float32", &[2]), entry("b", "float4_e2m1fn", &[3, 2]), entry("c", "bool", &[])];
    let (mut bytes, offsets) = write_header(&members, &Metadata::new()).unwrap();
    assert_eq!(offsets.iter().max(), Some(&(bytes.len() as u64 + 11)));
    bytes.extend([7; 8 + 1 + 3]);
    assert_eq!(read(&bytes).unwrap(), [vec![7; 8], vec![7, 0, 7, 0, 7, 0], vec![7]]);
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).is_err(), "{end} bytes");
    }
    for at in 0..bytes.len() {
        for flip in (0..8).map(|bit| 1 << bit).chain([0xff]) {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            let _ = read(&damaged);
        }
    }
}

#[test]
fn what_looks_like_one() {
    let begin = |length: u64, next: &str| [&length.to_le_bytes()[..], next.as_bytes()].concat();
    let rows: &[(Vec<u8>, Option<u64>, bool)] = &[
        (begin(2, "{}"), Some(10), true),
        (begin(2, "{"), None, true),
        (begin(2, "{}"), Some(9), false),
        (begin(2, ""), None, false),
        (begin(2, "[]"), None, false),
        (begin(MAX_HEADER, "{"), None, true),
        (begin(MAX_HEADER + 1, "{"), None, false),
        (b"{\"data\": {}}".to_vec(), None, false),
        (Vec::new(), None, false),
    ];
    let wrong = rows.iter().filter(|(begin, len, expected)| is_safetensors(begin, *len) != *expected);
    assert_eq!(wrong.collect::<Vec<_>>(), Vec::<&(Vec<u8>, Option<u64>, bool)>::new());
}

#[test]
fn what_cannot_be_written() {
    let entry = |name: &str, dtype: &str, shape: &[usize]| {
        (name.to_owned(), Meta::c_order(DType::parse(dtype).unwrap(), shape.to_vec()))
    };
    let huge = isize::MAX as usize;
    let rows = [
        (vec![entry("a", "complex128", &[])], "safetensors cannot hold items of dtype complex128"),
        (vec![entry("a", "<U3", &[])], "safetensors cannot hold items of dtype <U3"),
        (vec![entry("a", "int4", &[])], "safetensors cannot hold items of dtype int4"),
        (vec![entry("a", "float6_e2m3fn", &[4])], "safetensors cannot hold items of dtype float6_e2m3fn"),
        (vec![entry("a", "float4_e2m1fn", &[3])], "3 items of 4 bits (float4_e2m1fn [3]) do not fill their bytes"),
        (vec![entry("a", "bool", &[]), entry("a", "int8", &[])], "two tensors named 'a'"),
        (vec![entry("__metadata__", "bool", &[])], "safetensors keeps the name __metadata__ for itself"),
        (vec![entry("a", "bool", &[1; 65])], "65 axes, expected at most 64"),
        (vec![entry("a", "bool", &[huge]), entry("b", "bool", &[huge])], "more bytes than a file can have"),
    ];
    let mut failures = Vec::new();
    for (members, expected) in rows {
        let found = write_header(&members, &Metadata::new())
            .map_or_else(|error| format!("{error:#}"), |_| "written".to_owned());
        if found != expected {
            failures.push(found);
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

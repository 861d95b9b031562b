//! What can be an operand, an index list, a dtype: paths, standard input, inline JSON, and how JSON is typed.

use crate::common::{Folder, Refusal, each, header, npy, npy_with_header, npz, prints, refusals, tensor, words};

fn line(dtype: &str, shape: &str, data: &str) -> String {
    format!(r#"{{"dtype": "{dtype}", "shape": [{shape}], "data": {data}}}"#)
}

/// Arguments without blanks in them, and dtype, shape and data of what is printed.
#[track_caller]
fn results(folder: &Folder, rows: &[(&str, &str, &str, &str)]) {
    let rows: Vec<_> = rows.iter().map(|(args, dtype, shape, data)| (*args, line(dtype, shape, data))).collect();
    let rows: Vec<_> = rows.iter().map(|(args, expected)| (*args, expected.as_str())).collect();
    prints(folder, &rows);
}

#[test]
fn forms_of_an_operand() {
    let folder = Folder::new();
    let file = tensor::<i32>(&[3], &[1, 2, 3]).npy();
    // the format is in the content, not in the name
    folder.put("d.npy", &file).put("d.json", &file).put("d", &file).put("5", &file).put("[1].npy", &file);
    folder.put("j.npy", "[1,2,3]").put("j", "  \n\t[1,2,3]\r\n").put("t.txt", r#"{"data":[1,2,3],"dtype":"int32"}"#);
    folder
        .put("t2", r#"{"dtype":"int32","shape":[3],"data":[1,2,3]}"#)
        .put("big", npy(">i4", &[3], &[0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]));
    folder.put("-", "[4]").put("flat", r#"{"dtype":"int32","shape":[2,2],"data":[1,2,3,4]}"#);
    folder.put("nested", r#"{"dtype":"int32","shape":[2,2],"data":[[1,2],[3,4]]}"#);
    results(
        &folder,
        &[
            ("slice d.npy --at :", "int32", "3", "[1, 2, 3]"),
            ("slice d.json --at :", "int32", "3", "[1, 2, 3]"),
            ("slice d --at :", "int32", "3", "[1, 2, 3]"),
            ("slice ./d --at :", "int32", "3", "[1, 2, 3]"),
            ("slice ./5 --at :", "int32", "3", "[1, 2, 3]"),
            ("slice ./[1].npy --at :", "int32", "3", "[1, 2, 3]"),
            ("slice j.npy --at :", "int64", "3", "[1, 2, 3]"),
            ("slice j --at :", "int64", "3", "[1, 2, 3]"),
            ("slice t.txt --at :", "int32", "3", "[1, 2, 3]"),
            ("slice t2 --at :", "int32", "3", "[1, 2, 3]"),
            ("slice big --at :", "int32", "3", "[1, 2, 3]"),
            ("slice flat --at :", "int32", "2, 2", "[[1, 2], [3, 4]]"),
            ("slice nested --at :", "int32", "2, 2", "[[1, 2], [3, 4]]"),
            ("slice [1,2,3] --at :", "int64", "3", "[1, 2, 3]"),
            (r#"slice {"dtype":"int32","data":[1,2,3]} --at :"#, "int32", "3", "[1, 2, 3]"),
            ("slice ./- --at :", "int64", "1", "[4]"),
            ("slice d.npy --at : --from npy", "int32", "3", "[1, 2, 3]"),
            ("slice j.npy --at : --from json", "int64", "3", "[1, 2, 3]"),
            // inline operands stay JSON whatever --from says
            ("slice [1,2,3] --at : --from npy", "int64", "3", "[1, 2, 3]"),
            ("scatter-update d.npy -0 -5 --axis 0", "int32", "3", "[-5, 2, 3]"),
            ("scatter-update d.npy 0 5e0 --axis 0", "int32", "3", "[5, 2, 3]"),
        ],
    );
    each(
        [
            file.clone(),
            b"[1,2,3]".to_vec(),
            b"  [1,2,3]".to_vec(),
            npy_with_header(&header("<i4", true, &[3]), &file[128..]),
        ],
        |stdin| String::from_utf8_lossy(&stdin[..8]).into_owned(),
        |stdin| {
            for (args, data) in [
                ("slice - --at 1:", "2, 3"),
                ("slice-scatter - [9] --at 1:2", "1, 9, 3"),
                ("slice-scatter - --fill 9 --at 1:2", "1, 9, 3"),
                ("slice-scatter d.npy - --at :", "1, 2, 3"),
                ("scatter-nd d.npy [[2],[1],[0]] -", "3, 2, 1"),
                ("scatter-update [0,0,0,0] - [7,8,9] --axis 0 --dtype int32", "0, 7, 8, 9"),
            ] {
                if args.contains("int32") && stdin.starts_with(b" ") {
                    continue;
                }
                let args = words(args).into_iter().chain(words("--to json"));
                let printed = folder.run_with(args.clone(), Some(5), Some(stdin)).printed()?;
                if !printed.contains(&format!("\"data\": [{data}]")) {
                    return Err(format!("{:?} printed {printed}", args.collect::<Vec<_>>()));
                }
            }
            Ok(())
        },
    );
}

/// A plain JSON value takes `--dtype`, else the dtype of an operand that has one, else what its content tells.
#[test]
fn typing_of_json() {
    let folder = Folder::new();
    folder.put("f.npy", tensor::<f32>(&[2], &[1., 2.]).npy()).put("u.npy", npy("|u1", &[2], &[1, 2]));
    folder
        .put("big.npy", npy(">f4", &[2], &[0; 8]))
        .put("b.npy", npy("|b1", &[2], &[0, 1]))
        .put("s.npy", npy("<U2", &[1], &[0; 8]));
    folder.put("c.npy", npy("<c8", &[1], &[0; 8])).put("m.npy", npy("<M8[D]", &[2], &[0; 16]));
    results(
        &folder,
        &[
            // by content
            ("slice [1,-2] --at :", "int64", "2", "[1, -2]"),
            ("slice [1,2.5] --at :", "float64", "2", "[1.0, 2.5]"),
            ("slice [1,2.0] --at :", "float64", "2", "[1.0, 2.0]"),
            ("slice [1,1e3] --at :", "float64", "2", "[1.0, 1000.0]"),
            (
                r#"slice [1,"NaN","Infinity","-Infinity"] --at :"#,
                "float64",
                "4",
                r#"[1.0, "NaN", "Infinity", "-Infinity"]"#,
            ),
            (r#"slice ["NaN","a"] --at :"#, "<U3", "2", r#"["NaN", "a"]"#),
            ("slice [true,false] --at :", "bool", "2", "[true, false]"),
            (r#"slice ["a","bcd"] --at :"#, "<U3", "2", r#"["a", "bcd"]"#),
            ("slice [9223372036854775807] --at :", "int64", "1", "[9223372036854775807]"),
            ("slice [-9223372036854775808] --at :", "int64", "1", "[-9223372036854775808]"),
            ("slice [9223372036854775808] --at :", "uint64", "1", "[9223372036854775808]"),
            ("slice [0,18446744073709551615] --at :", "uint64", "2", "[0, 18446744073709551615]"),
            ("slice [] --at :", "float64", "0", "[]"),
            ("slice [[],[]] --at :", "float64", "2, 0", "[[], []]"),
            ("slice [-0.0] --at :", "float64", "1", "[-0.0]"),
            ("slice [1e-400] --at :", "float64", "1", "[0.0]"),
            // by --dtype
            ("slice [1,2] --at : --dtype float32", "float32", "2", "[1.0, 2.0]"),
            ("slice [2.0,1e2] --at : --dtype uint8", "uint8", "2", "[2, 100]"),
            ("slice [1,0] --at : --dtype float16", "float16", "2", "[1.0, 0.0]"),
            ("slice [0.1] --at : --dtype float32", "float32", "1", "[0.1]"),
            ("slice [0.1] --at : --dtype float16", "float16", "1", "[0.099975586]"),
            ("slice [0.1] --at : --dtype bfloat16", "bfloat16", "1", "[0.100097656]"),
            ("slice [[1,2],[3,4]] --at : --dtype complex64", "complex64", "2", "[[1.0, 2.0], [3.0, 4.0]]"),
            (r#"slice ["a","b"] --at : --dtype <U5"#, "<U5", "2", r#"["a", "b"]"#),
            (r#"slice ["a","é"] --at : --dtype S1"#, "|S1", "2", r#"["a", "é"]"#),
            (r#"slice ["2024-02-29"] --at : --dtype datetime64[D]"#, "<M8[D]", "1", r#"["2024-02-29"]"#),
            ("slice [5] --at : --dtype <m8[s]", "<m8[s]", "1", "[5]"),
            ("slice [16777217] --at : --dtype float32", "float32", "1", "[16777216.0]"),
            ("slice [9007199254740993] --at : --dtype float64", "float64", "1", "[9007199254740992.0]"),
            // halfway between two float32, but for the last of many digits: rounded once, to nearest even
            ("slice [1.00000005960464477539062500000000000001] --at : --dtype float32", "float32", "1", "[1.0000001]"),
            ("slice [1.000000059604644775390625] --at : --dtype float32", "float32", "1", "[1.0]"),
            ("slice [65519.99] --at : --dtype float16", "float16", "1", "[65504.0]"),
            // by the other operand
            ("slice-scatter f.npy [9] --at :1", "float32", "2", "[9.0, 2.0]"),
            ("slice-scatter [9,8] f.npy --at :", "float32", "2", "[1.0, 2.0]"),
            ("slice-scatter [9,8,7] u.npy --at :2", "uint8", "3", "[1, 2, 7]"),
            ("slice-scatter u.npy [3.0] --at 1:", "uint8", "2", "[1, 3]"),
            ("slice-scatter big.npy [1.5] --at 1:", "float32", "2", "[0.0, 1.5]"),
            ("slice-scatter b.npy [true] --at :1", "bool", "2", "[true, true]"),
            (r#"slice-scatter s.npy ["xy"] --at :"#, "<U2", "1", r#"["xy"]"#),
            ("slice-scatter c.npy [[1,-2]] --at :", "complex64", "1", "[[1.0, -2.0]]"),
            (r#"slice-scatter m.npy ["1970-01-02"] --at 1:"#, "<M8[D]", "2", r#"["1970-01-01", "1970-01-02"]"#),
            (r#"slice-scatter {"dtype":"int8","data":[1,2]} [3] --at :1"#, "int8", "2", "[3, 2]"),
            (r#"slice-scatter [1,2] {"dtype":"int8","data":[3]} --at :1"#, "int8", "2", "[3, 2]"),
            // two plain ones together
            ("slice-scatter [1,2] [0.5] --at :1", "float64", "2", "[0.5, 2.0]"),
            ("slice-scatter [1,2] [9223372036854775808] --at :1", "uint64", "2", "[9223372036854775808, 2]"),
            (r#"slice-scatter ["a"] ["xyz"] --at :"#, "<U3", "1", r#"["xyz"]"#),
            ("scatter-nd [1,2] [[0]] [5] --reduction add --dtype int8", "int8", "2", "[6, 2]"),
            // indices are integers whatever --dtype says
            ("scatter-elements [1,2] [0] [5] --reduction mean --dtype int8", "int8", "2", "[3, 2]"),
            ("scatter-nd [1,2] [[0]] [5] --dtype float32", "float32", "2", "[5.0, 2.0]"),
            ("slice f.npy --at : --dtype float32", "float32", "2", "[1.0, 2.0]"),
            ("slice u.npy --at : --dtype uint8", "uint8", "2", "[1, 2]"),
        ],
    );
}

#[test]
fn index_lists() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[3], &[1, 2, 3]).npy());
    folder.put("one.npy", tensor::<i64>(&[1], &[1]).npy()).put("one-u8.npy", npy("|u1", &[1], &[1]));
    folder.put("one-big.npy", npy(">i2", &[1], &[0, 1])).put("one.json", "[1]").put("one-1.0.json", "[1.0]");
    folder
        .put("one-t.json", r#"{"dtype":"int8","shape":[1],"data":[1]}"#)
        .put("none.npy", tensor::<i64>(&[0], &[]).npy());
    folder
        .put("none.json", "[]")
        .put("1", "[2]")
        .put("max.npy", tensor::<i64>(&[1], &[i64::MAX]).npy())
        .put("3,", "[0]");
    folder.put("u64.npy", npy("<u8", &[1], &[255, 255, 255, 255, 255, 255, 255, 127]));
    let tail = ("int32", "2", "[2, 3]");
    let rows: Vec<(String, (&str, &str, &str))> = [
        "--start 1 --stop 3",
        "--start=1 --stop=3",
        "--start [1] --stop [3]",
        "--start -2 --stop 3",
        "--start=-2 --stop=3",
        "--start [-2] --stop [3]",
        "--start one.npy --stop 3",
        "--start one-u8.npy --stop 3",
        "--start one-big.npy --stop 3",
        "--start one.json --stop 3",
        "--start one-1.0.json --stop 3",
        "--start one-t.json --stop 3",
        "--start ./one.npy --stop max.npy",
        "--start 1 --stop u64.npy",
        "--start 1 --stop INT_MAX",
        "--start 1 --stop 9223372036854775807",
        "--start one.npy --stop max.npy --step one.npy --axes 0",
        "--axes -1 --step 1 --stop 3 --start 1",
        "--at 1:",
        "--at -2:",
        "--at=-2:",
        "--at -2:3",
        "--at -2:INT_MAX:1",
        // what parses as a list is a list, a file of that name notwithstanding
        "--start 1 --stop INT_MAX --step 1",
    ]
    .iter()
    .map(|options| (format!("slice d.npy {options}"), tail))
    .chain([
        ("slice d.npy --start ./1 --stop 3".to_owned(), ("int32", "1", "[3]")),
        ("slice d.npy --start 3, --stop 1".to_owned(), ("int32", "1", "[1]")),
        ("slice d.npy --start none.npy --stop none.json".to_owned(), ("int32", "3", "[1, 2, 3]")),
        ("slice d.npy --start -1 --stop INT_MIN --step -1".to_owned(), ("int32", "3", "[3, 2, 1]")),
        ("slice d.npy --start -1 --stop -9223372036854775808 --step -2".to_owned(), ("int32", "2", "[3, 1]")),
    ])
    .collect();
    let rows: Vec<_> = rows.iter().map(|(args, (dtype, shape, data))| (args.as_str(), *dtype, *shape, *data)).collect();
    results(&folder, &rows);
    // blanks in a list
    for list in ["0, 1", " 0 ,1 ", "[0, 1]", "[ 0,1 ]"] {
        let args = ["slice", "[[1,2],[3,4]]", "--start", list, "--stop", "1, 2", "--to", "json"];
        assert_eq!(
            folder.run(args).printed().as_deref(),
            Ok(format!("{}\n", line("int64", "1, 1", "[[2]]")).as_str()),
            "{list:?}"
        );
    }
    let args = ["slice", "[[1,2],[3,4]]", "--at", " 0 : 1 , ... , : : -1 ", "--to", "json"];
    assert_eq!(folder.run(args).printed(), Ok(line("int64", "1, 2", "[[2, 1]]") + "\n"));
}

#[cfg(unix)]
#[test]
fn paths_need_not_be_utf8() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let (name, out) = (OsStr::from_bytes(b"d\xff\xfe.npy"), OsStr::from_bytes(b"out-\xff.npy"));
    let list = OsStr::from_bytes(b"list\xff");
    folder.put(name, tensor::<i32>(&[3], &[1, 2, 3]).npy()).put(list, "[1]");
    let text = OsStr::new;
    let args = [text("slice"), name, text("--start"), list, text("--stop"), text("3"), text("-o"), out];
    assert_eq!(folder.run(args).printed(), Ok(String::new()));
    assert_eq!(folder.get(out), tensor::<i32>(&[2], &[2, 3]).npy());
    let mut joined = OsStr::new("--start=").to_owned();
    joined.push(list);
    let args = [text("slice"), name, &joined, text("--stop=3"), text("-o"), out];
    assert_eq!(folder.run(args).printed(), Ok(String::new()));
    folder.refuses([text("slice"), OsStr::from_bytes(b"no\xff"), text("--at"), text(":")], &["DATA"]).expect("no file");
}

/// What is wrong with an operand is said with its name, its file and the position.
#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2], &[1, 2]).npy()).put("f.npy", tensor::<f32>(&[2], &[1., 2.]).npy());
    folder.put("empty", "").put("blank", " \n ").put("zeros", [0; 64]).put("text", "hello").put("half", "[1,");
    folder
        .put("not-utf8", b"[\"\xff\"]")
        .put("utf16", b"\xff\xfe[\0")
        .put("bom", b"\xef\xbb\xbf[1]")
        .put("word", "null");
    let file = tensor::<i32>(&[2], &[1, 2]).npy();
    folder.put("short.npy", &file[..file.len() - 1]).put("long.npy", [file.as_slice(), b"x"].concat());
    folder.put("cut.npy", &file[..40]).put("magic.npy", &file[..6]).put("cut-9.npy", &file[..9]);
    let changed = |at: usize, byte: u8| {
        let mut file = file.clone();
        file[at] = byte;
        file
    };
    folder
        .put("version-9.npy", changed(6, 9))
        .put("version-0.npy", changed(6, 0))
        .put("version-1.1.npy", changed(7, 1));
    folder.put("length.npy", changed(9, 255));
    let put = |name: &str, text: &str| {
        folder.put(name, npy_with_header(text, &[0; 8]));
    };
    put("object.npy", "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }");
    put("object-field.npy", "{'descr': [('a', '|O')], 'fortran_order': False, 'shape': (1,), }");
    put("descr.npy", "{'descr': '<q9', 'fortran_order': False, 'shape': (1,), }");
    put("negative.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (-2,), }");
    put("fraction.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (2.0,), }");
    put("huge.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807), }");
    put("petabyte.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (250000000000000,), }");
    put("key.npy", "{'desc': '<i4', 'fortran_order': False, 'shape': (2,), }");
    put("no-key.npy", "{'descr': '<i4', 'shape': (2,), }");
    put("more-keys.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), 'x': 1}");
    put("twice.npy", "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), 'shape': (1,)}");
    put("list.npy", "[1, 2]");
    put("order.npy", "{'descr': '<i4', 'fortran_order': 1, 'shape': (2,), }");
    put("fields.npy", "{'descr': [('a', '<i4'), ('a', '<i4')], 'fortran_order': False, 'shape': (1,), }");
    for (name, open, close) in [("lists.npy", "[", "]"), ("tuples.npy", "(", ")")] {
        let nested = format!("{}1{}", open.repeat(18), close.repeat(18));
        put(name, &format!("{{'descr': {nested}, 'fortran_order': False, 'shape': (2,), }}"));
    }
    put("rank-65.npy", &format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({}), }}", "1, ".repeat(65)));
    folder.put("v0.npy", npy("|V0", &[3], &[]));
    std::fs::create_dir(folder.path("folder")).expect("a folder");
    let rows: [Refusal; 87] = [
        ("slice none.npy --at :", &["DATA", "none.npy", "(os error 2)"]),
        ("slice folder --at :", &["DATA", "folder"]),
        ("slice '' --at :", &["DATA"]),
        ("slice empty --at :", &["DATA", "empty"]),
        ("slice blank --at :", &["DATA", "blank", "empty"]),
        ("slice - --at :", &["DATA", "standard input", "empty"]),
        ("slice zeros --at :", &["DATA", "zeros", "0x00"]),
        ("slice text --at :", &["DATA", "text", "not a tensor: begins with"]),
        ("slice word --at :", &["DATA", "word", "null"]),
        ("slice half --at :", &["DATA", "half", "JSON", "line 1"]),
        ("slice not-utf8 --at :", &["DATA", "not-utf8", "UTF-8"]),
        ("slice utf16 --at :", &["DATA", "utf16", "UTF-16"]),
        ("slice bom --at :", &["DATA", "bom", "byte order mark"]),
        ("slice d.npy --at : --from json", &["DATA", "d.npy"]),
        ("slice half --at : --from npy", &["DATA", "half", "NUMPY"]),
        (
            "slice d.npy --at : --from hdf5",
            &[
                "--from",
                "csv",
                "npy, pytorch, npz, safetensors, index, pb, onnx-model, openvino, zarr, gguf, json, csv, tsv",
            ],
        ),
        ("scatter-nd d.npy - - ", &["UPDATES", "standard input", "one operand"]),
        ("scatter-elements d.npy - - ", &["UPDATES", "standard input", "one operand"]),
        ("scatter-nd - - [1] ", &["INDICES", "standard input", "one operand"]),
        ("slice short.npy --at :", &["DATA", "short.npy", "7 bytes", "expected 8"]),
        ("slice long.npy --at :", &["DATA", "long.npy", "9 bytes", "expected 8"]),
        ("slice cut.npy --at :", &["DATA", "cut.npy", "40 bytes", "128"]),
        ("slice magic.npy --at :", &["DATA", "magic.npy", "6 bytes"]),
        ("slice cut-9.npy --at :", &["DATA", "cut-9.npy", "9 bytes"]),
        ("slice version-9.npy --at :", &["DATA", "version-9.npy", "9.0"]),
        ("slice version-0.npy --at :", &["DATA", "version-0.npy", "0.0"]),
        ("slice version-1.1.npy --at :", &["DATA", "version-1.1.npy", "1.1"]),
        ("slice length.npy --at :", &["DATA", "length.npy", "136 bytes"]),
        ("slice object.npy --at :", &["DATA", "object.npy", "object", "pickled"]),
        ("slice object-field.npy --at :", &["DATA", "object-field.npy", "object", "pickled"]),
        ("slice descr.npy --at :", &["DATA", "descr.npy", "<q9"]),
        ("slice negative.npy --at :", &["DATA", "negative.npy", "shape"]),
        ("slice fraction.npy --at :", &["DATA", "fraction.npy", "shape"]),
        ("slice huge.npy --at :", &["DATA", "huge.npy", "9223372036854775807"]),
        ("slice petabyte.npy --at :", &["DATA", "petabyte.npy", "8 bytes", "1000000000000000"]),
        ("slice key.npy --at :", &["DATA", "key.npy", "key"]),
        ("slice no-key.npy --at :", &["DATA", "no-key.npy", "fortran_order"]),
        ("slice more-keys.npy --at :", &["DATA", "more-keys.npy", "key"]),
        ("slice twice.npy --at :", &["DATA", "twice.npy", "key"]),
        ("slice list.npy --at :", &["DATA", "list.npy", "dictionary"]),
        ("slice order.npy --at :", &["DATA", "order.npy", "fortran_order"]),
        ("slice fields.npy --at :", &["DATA", "fields.npy", "'a'"]),
        ("slice lists.npy --at :", &["DATA", "lists.npy"]),
        ("slice tuples.npy --at :", &["DATA", "tuples.npy"]),
        ("slice rank-65.npy --at :", &["DATA", "rank-65.npy", "65", "64"]),
        ("slice [1,[2]] --at :", &["DATA", "[1]"]),
        ("slice [[1,2],[3]] --at :", &["DATA", "[1]"]),
        ("slice [[[1],[2]],[[3]]] --at :", &["DATA", "[1]"]),
        ("slice [[1],2] --at :", &["DATA", "[1]"]),
        ("slice [1,true] --at :", &["DATA", "[1]", "true"]),
        (r#"slice [1,"a"] --at :"#, &["DATA", "[1]", "\"a\""]),
        ("slice [1,null] --at :", &["DATA", "[1]", "null"]),
        ("slice [1,{}] --at :", &["DATA", "[1]"]),
        ("slice [1,NaN] --at :", &["DATA", "NaN", "\"NaN\""]),
        ("slice [Infinity] --at :", &["DATA", "Infinity", "\"Infinity\""]),
        ("slice [-Infinity] --at :", &["DATA", "-Infinity", "\"-Infinity\""]),
        ("slice [1e400] --at :", &["DATA", "[0]", "1e400", "float64"]),
        ("slice [-1,9223372036854775808] --at :", &["DATA", "[1]", "9223372036854775808"]),
        ("slice [18446744073709551616] --at :", &["DATA", "[0]", "18446744073709551616"]),
        ("slice [1,300] --at : --dtype uint8", &["DATA", "[1]", "300", "uint8"]),
        ("slice [[1],[-1]] --at : --dtype uint8", &["DATA", "[1][0]", "-1", "uint8"]),
        ("slice [1,1.5] --at : --dtype int32", &["DATA", "[1]", "1.5", "int32"]),
        ("slice [1e-1] --at : --dtype int32", &["DATA", "[0]", "1e-1", "int32"]),
        ("slice [70000] --at : --dtype float16", &["DATA", "[0]", "70000", "float16"]),
        ("slice [65520] --at : --dtype float16", &["DATA", "[0]", "65520", "float16"]),
        ("slice [1] --at : --dtype bool", &["DATA", "[0]", "1", "true or false"]),
        ("slice [true] --at : --dtype int8", &["DATA", "[0]", "true", "int8"]),
        (r#"slice ["NaN"] --at : --dtype int8"#, &["DATA", "[0]", "NaN", "int8"]),
        (r#"slice ["ab"] --at : --dtype <U1"#, &["DATA", "[0]", "ab", "<U1"]),
        (r#"slice ["Ā"] --at : --dtype S1"#, &["DATA", "[0]", "U+0100", "S1"]),
        ("slice [1,2,3] --at : --dtype complex64", &["DATA", "complex64", "[re, im]"]),
        (r#"slice ["yesterday"] --at : --dtype <M8[D]"#, &["DATA", "[0]", "yesterday", "<M8[D]"]),
        ("slice [1] --at : --dtype int33", &["--dtype", "int33"]),
        ("slice [1] --at : --dtype O", &["--dtype", "object"]),
        ("slice [1] --at : --dtype V4", &["DATA", "V4"]),
        ("slice f.npy --at : --dtype int32", &["DATA", "f.npy", "float32", "int32"]),
        ("slice-scatter d.npy f.npy --at : --dtype int32", &["UPDATES", "f.npy", "float32", "int32"]),
        (r#"slice {"dtype":"int8","data":[1]} --at : --dtype int16"#, &["DATA", "int8", "int16"]),
        (r#"slice {"dtype":"int8","shape":[3],"data":[1,2]} --at :"#, &["DATA", "[2]", "[3]"]),
        (r#"slice {"dtype":"int8","shape":[2]} --at :"#, &["DATA", "\"data\""]),
        (r#"slice {"dtype":"int8","data":[1],"x":1} --at :"#, &["DATA", "\"x\""]),
        (r#"slice {"dtype":"int8","dtype":"int8","data":[1]} --at :"#, &["DATA", "\"dtype\"", "twice"]),
        (r#"slice {"dtype":"int9","data":[1]} --at :"#, &["DATA", "int9"]),
        (r#"slice {"dtype":"|V4","data":[1]} --at :"#, &["DATA", "V4"]),
        (r#"slice {"dtype":"int8","data":[1,200]} --at :"#, &["DATA", "[1]", "200", "int8"]),
        ("slice-scatter [1] [true] --at :", &["true"]),
        ("slice [1,2 --at :", &["DATA", "JSON"]),
    ];
    refusals(&folder, &rows);
}

/// A few bytes that ask for very much: refused, or answered, at once and in little memory.
#[cfg(target_os = "linux")]
#[test]
fn small_inputs_take_little_memory() {
    let folder = Folder::new();
    folder
        .put("d.npy", tensor::<i32>(&[2], &[1, 2]).npy())
        .put("deep", "[".repeat(1 << 20))
        .put("deeper", "{\"data\":".repeat(1 << 16));
    folder.put(
        "long-name.npy",
        npy_with_header(
            &format!("{{'descr': '{}', 'fortran_order': False, 'shape': (2,), }}", "x".repeat(900_000)),
            b"",
        ),
    );
    folder.put(
        "dims.npy",
        npy_with_header(
            &format!("{{'descr': '<i4', 'fortran_order': False, 'shape': ({}), }}", "1,".repeat(400_000)),
            b"",
        ),
    );
    folder.put(
        "braces.npy",
        npy_with_header(
            &format!("{{'descr': {}1{}, 'fortran_order': False, 'shape': (2,), }}", "{".repeat(18), "}".repeat(18)),
            b"",
        ),
    );
    folder
        .put("whole.npy", npy("<i8", &[1_000_000_000_000, 0], b""))
        .put("digits", format!("[{}]", "1".repeat(1 << 20)));
    let program = crate::common::binary();
    each(
        [
            "slice /dev/zero --at :",
            "slice /dev/zero --at : --from json",
            "slice deep --at :",
            "slice deeper --at :",
            "slice digits --at : --dtype int8",
            "slice long-name.npy --at :",
            "slice dims.npy --at :",
            "slice braces.npy --at :",
            "slice '[\"a\"]' --at : --dtype '<U100000000000'",
            "slice '[\"a\"]' --at : --dtype S1000000000",
            "scatter-nd d.npy whole.npy --fill 7 --on-duplicate error",
            "scatter-nd d.npy whole.npy --fill 7 --reduction add",
        ],
        |args| (*args).to_owned(),
        |args| {
            // 256 MiB, 10 s
            let script = format!("ulimit -v 262144; exec timeout 10 {} {args}", program.display());
            let output = std::process::Command::new("sh")
                .args(["-c", &script])
                .current_dir(folder.path(""))
                .output()
                .map_err(|e| e.to_string())?;
            let message = String::from_utf8_lossy(&output.stderr);
            match output.status.code() {
                Some(0) => Ok(()),
                Some(2) if message.starts_with("error: ") && message.lines().count() == 1 && message.len() < 500 => {
                    Ok(())
                }
                code => Err(format!("status {code:?}, {} bytes of message: {:.300}", message.len(), message)),
            }
        },
    );
}

#[test]
fn what_is_nearly_an_address_is_told_so() {
    let folder = Folder::new();
    for path in ["htp://host/x.npy", "file:///x.npy", "gs://bucket/x.npy", "s3:/bucket/x.npy", "http:/host/x.npz:a"] {
        for args in [&["info", path][..], &["show", path], &["diff", "1", path], &["convert", path, "-o", "o.npy"]] {
            let run = folder.run(args);
            let told = "; addresses begin with http://, https://, s3:// or hf://\n";
            let is_it = run.status == Some(2) && run.stderr.contains(path) && run.stderr.ends_with(told);
            assert!(is_it && run.stderr.lines().count() == 1, "{args:?}: {run:?}");
        }
    }
    assert!(folder.tree(".").is_empty());
}

#[cfg(not(feature = "remote"))]
#[test]
fn a_build_without_a_network_says_so() {
    let folder = Folder::new();
    folder.put("x.npy", tensor::<f32>(&[3], &[1.0, 2.0, 3.0]).npy());
    let rows = [
        ("info https://me:secret@host/x.npy?key=secret", "FILE https://host/x.npy"),
        ("show s3://bucket/x.npz:a", "FILE s3://bucket/x.npz:a"),
        ("slice HF://org/repo/m.safetensors:a --at :1", "DATA HF://org/repo/m.safetensors:a"),
        ("diff x.npy http://host/x.npy", "ACTUAL http://host/x.npy"),
        ("convert x.npy -o s3://bucket/x.zarr", "output s3://bucket/x.zarr"),
        ("convert x.npy -o s3://bucket/x.zarr --part 1/2", "output s3://bucket/x.zarr"),
        ("convert s3://bucket/x.npy -o x.zarr --part 1/2", "IN s3://bucket/x.npy"),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, place)| {
            let run = folder.run(words(args));
            let told = "this build has no network: the feature remote is off";
            let is_it = run.status == Some(2) && run.stdout.is_empty();
            match is_it && run.stderr == format!("error: {place}: {told}\n") && folder.tree(".").len() == 1 {
                true => Ok(()),
                false => Err(format!("{run:?}")),
            }
        },
    );
}

/// Strings of JSON, CSV and ONNX tensors have no width, so that the output is as wide as the widest item; in `.npy` the width
/// is part of the dtype.
#[test]
fn strings_without_a_width_become_wider() {
    let folder = Folder::new();
    let json = r#"{"dtype": "<U1", "shape": [2], "data": ["a", "b"]}"#;
    folder.put("d.json", json).put("big.json", json.replace("<U1", ">U1")).put("d.csv", "a\nb\n");
    folder.put("s.json", json.replace("<U1", "|S1")).put("d.npy", npy("<U1", &[2], b"a\0\0\0b\0\0\0"));
    folder.put("wide.npy", npy(">U3", &[1], b"\0\0\0x\0\0\0y\0\0\0z"));
    folder.put("d.npz", npz(&[("x", npy("<U1", &[2], b"a\0\0\0b\0\0\0"))]));
    folder.run(["convert", "d.json", "-o", "d.pb"]).printed().expect("a tensor of strings");
    let wide = r#"{"dtype": "<U3", "shape": [2], "data": ["xyz", "b"]}"#;
    let rows = ["d.json", "big.json", "d.csv", "d.pb", r#"["a","b"]"#].into_iter().flat_map(|data| {
        [
            format!("slice-scatter {data} [\"xyz\"] --at :1"),
            format!("slice-scatter {data} wide.npy --at :1"),
            format!("slice-scatter {data} --fill xyz --at :1"),
            format!("slice-scatter {data} --fill xyz --where ==a -q"),
            format!("scatter-update {data} [0] [\"xyz\"] --axis 0"),
            format!("scatter-nd {data} [[0]] [\"xyz\"]"),
            format!("scatter-elements {data} [0] [\"xyz\"]"),
        ]
    });
    let rows: Vec<_> = rows.map(|line| (line, wide)).collect();
    let rows: Vec<_> = rows.iter().map(|(line, expected)| (line.as_str(), *expected)).collect();
    prints(&folder, &rows);
    prints(
        &folder,
        &[
            (
                "pad d.json --before 1 --after 0 --fill xyz",
                r#"{"dtype": "<U3", "shape": [3], "data": ["xyz", "a", "b"]}"#,
            ),
            ("concat d.npy [\"xyz\"]", r#"{"dtype": "<U3", "shape": [3], "data": ["a", "b", "xyz"]}"#),
            ("slice-scatter s.json [\"xyz\"] --at :1", r#"{"dtype": "|S3", "shape": [2], "data": ["xyz", "b"]}"#),
            // no wider than it was where nothing is longer
            ("slice-scatter d.json [\"x\"] --at :1", r#"{"dtype": "<U1", "shape": [2], "data": ["x", "b"]}"#),
            ("slice-scatter wide.npy [\"x\"] --at :1", r#"{"dtype": "<U3", "shape": [1], "data": ["x"]}"#),
        ],
    );
    refusals(
        &folder,
        &[
            ("slice-scatter d.npy [\"xyz\"] --at :1", &["UPDATES [\"xyz\"]: the item at [0] is longer than <U1"]),
            ("slice-scatter d.npy --fill xyz --at :1", &["--fill: xyz is longer than <U1"]),
            ("slice-scatter d.npz:x [\"xyz\"] --at :1", &["UPDATES [\"xyz\"]", "longer than <U1"]),
            ("slice-scatter d.json [\"xyz\"] --at :1 --dtype <U1", &["UPDATES [\"xyz\"]", "longer than <U1"]),
        ],
    );
    let before = folder.get("d.npy");
    let run = folder.run(["slice-scatter", "d.npy", "[\"xyz\"]", "--at", ":1", "--in-place"]);
    assert_eq!((run.status, run.stderr.contains("longer than <U1")), (Some(2), true), "{}", run.stderr);
    assert!(folder.get("d.npy") == before);
}

//! CSV and TSV as operands and as outputs.

use crate::common::{Folder, npy, prints, refusals};

#[test]
fn operands() {
    let folder = Folder::new();
    folder.put("t.csv", "1,2\n3,4\n").put("h.csv", "x,y\n1,2\n").put("t.tsv", "1\t2\n").put("i.csv", "1\n0\n");
    folder.put("other", "1.5,nan\n").put("d.npy", npy("<f4", &[2], &[0; 8])).put("n.csv", npy("<i1", &[1], &[5]));
    let rows = [
        ("slice t.csv --at 1:", r#"{"dtype": "int64", "shape": [1, 2], "data": [[3, 4]]}"#),
        ("slice t.csv --at 1: --dtype uint8", r#"{"dtype": "uint8", "shape": [1, 2], "data": [[3, 4]]}"#),
        ("slice h.csv --at : --skip-rows 1", r#"{"dtype": "int64", "shape": [1, 2], "data": [[1, 2]]}"#),
        ("convert t.tsv", r#"{"dtype": "int64", "shape": [1, 2], "data": [[1, 2]]}"#),
        ("convert other --from csv", r#"{"dtype": "float64", "shape": [1, 2], "data": [[1.5, "NaN"]]}"#),
        ("slice-scatter d.npy i.csv --at :", r#"{"dtype": "float32", "shape": [2], "data": [1.0, 0.0]}"#),
        ("scatter-update d.npy i.csv [7,8] --axis 0", r#"{"dtype": "float32", "shape": [2], "data": [8.0, 7.0]}"#),
        ("slice-scatter i.csv [0.5] --at :1", r#"{"dtype": "float64", "shape": [2], "data": [0.5, 0.0]}"#),
        ("slice t.csv --start i.csv --stop 2,2", r#"{"dtype": "int64", "shape": [1, 2], "data": [[3, 4]]}"#),
        // what is no text is told by its content
        ("convert n.csv", r#"{"dtype": "int8", "shape": [1], "data": [5]}"#),
    ];
    prints(&folder, &rows);
}

#[test]
fn from_is_for_standard_input_if_it_is_read() {
    let folder = Folder::new();
    folder.put("d.npy", npy("<f4", &[2], &[0; 8])).put("c.csv", "1\n2\n").put("t", "1\t2\n");
    let rows: [(&[&str], &str, &str); 6] = [
        (&["slice-scatter", "d.npy", "-", "--at", ":", "--from", "csv"], "5\n7\n", "[5.0, 7.0]"),
        (&["slice-scatter", "-", "c.csv", "--at", ":", "--from", "tsv"], "5\n7\n", "[1, 2]"),
        (&["scatter-update", "c.csv", "-", "d.npy", "--axis", "0", "--from", "csv"], "1\n0\n", "[0.0, 0.0]"),
        (&["slice", "-", "--start", "c.csv", "--stop", "3,3", "--from", "tsv"], "1\t2\t3\n4\t5\t6\n", "[[6]]"),
        (&["convert", "-", "--from", "tsv"], "1\t2\n", "[[1, 2]]"),
        // without standard input it is for all files
        (&["slice", "t", "--at", ":", "--from", "tsv"], "", "[[1, 2]]"),
    ];
    for (args, stdin, expected) in rows {
        let args = [args, &["--to", "json"]].concat();
        let found = folder.run_with(&args, None, Some(stdin.as_bytes())).printed().expect("a tensor");
        assert!(found.trim_end().ends_with(&format!("\"data\": {expected}}}")), "{args:?}: {found}");
    }
    let run = folder.run_with(["diff", "d.npy", "-", "--from", "csv", "--ignore-dtype"], None, Some(b"0\n0\n"));
    assert_eq!(run.status, Some(0), "{}", run.stderr);
}

/// Standard input has no name that tells CSV: the refusal ends in the options that read it.
#[test]
fn standard_input_that_looks_like_csv() {
    let folder = Folder::new();
    for (stdin, options) in [
        ("1,2\n3,4\n", "--from csv"),
        ("a,b\n1,2\n", "--from csv --skip-rows 1"),
        ("1\t2\n", "--from tsv"),
        ("a, m\tb\n1\t2\n", "--from tsv --skip-rows 1"),
    ] {
        for command in [&["show", "-"][..], &["info", "-"], &["slice", "-", "--at", ":"]] {
            let refused = folder.run_with(command, None, Some(stdin.as_bytes()));
            let (status, said) = (refused.status, refused.stderr);
            assert!(status == Some(2) && said.lines().count() == 1, "{command:?} {stdin:?}: {said}");
            assert!(
                said.ends_with(&format!(": this looks like CSV: use {options}\n")),
                "{command:?} {stdin:?}: {said}"
            );
            let typed = command.iter().copied().chain(options.split(' ')).collect::<Vec<_>>();
            let run = folder.run_with(&typed, None, Some(stdin.as_bytes()));
            assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{typed:?} {stdin:?}");
        }
    }
}

#[test]
fn cells_without_a_value() {
    let folder = Folder::new();
    folder.put("m.csv", "1,,NA\nn/a,null,6.5\n\"\",-NaN, \n").put("i.csv", "1,na\nNULL,4\n").put("h.csv", "x,\n1,2\n");
    folder.put("s.csv", "ab,NA\n,nano\n").put("e.csv", "1,,3\n4,5,6\n").put("d.npy", npy("<f4", &[1], &[0; 4]));
    let rows = [
        (
            "convert m.csv --missing nan",
            r#"{"dtype": "float64", "shape": [3, 3], "data": [[1.0, "NaN", "NaN"], ["NaN", "NaN", 6.5], ["NaN", "NaN", "NaN"]]}"#,
        ),
        (
            "convert m.csv --missing -1 --dtype float32",
            r#"{"dtype": "float32", "shape": [3, 3], "data": [[1.0, -1.0, -1.0], [-1.0, -1.0, 6.5], [-1.0, -1.0, -1.0]]}"#,
        ),
        ("convert i.csv --missing 0", r#"{"dtype": "int64", "shape": [2, 2], "data": [[1, 0], [0, 4]]}"#),
        (
            "convert s.csv --missing none",
            r#"{"dtype": "<U4", "shape": [2, 2], "data": [["ab", "none"], ["none", "nano"]]}"#,
        ),
        // of what is no table nothing is missing
        ("convert d.npy --missing 7", r#"{"dtype": "float32", "shape": [1], "data": [0.0]}"#),
    ];
    prints(&folder, &rows);
    refusals(
        &folder,
        &[
            ("convert e.csv", &["IN e.csv: line 1 column 2: an empty cell, among numbers; --missing nan"]),
            ("convert i.csv", &["line 1 column 2: na is a string, among numbers; --missing nan"]),
            ("convert e.csv --missing x", &["line 1 column 2: x is a string, among numbers"]),
            ("convert i.csv --missing nan --dtype int8", &["line 1 column 2: NaN", "int8"]),
            ("convert h.csv", &["line 1 column 1: x is a string, among numbers; --skip-rows 1"]),
        ],
    );
}

#[test]
fn outputs() {
    let folder = Folder::new();
    for (args, expected) in [
        (["convert", "[[1.5,\"NaN\"],[2,3]]", "--to", "csv"], "1.5,nan\n2.0,3.0\n"),
        (["convert", "[\"a,b\",\"\"]", "--to", "csv"], "\"a,b\"\n\"\"\n"),
        (["convert", "[[true,false]]", "--to", "tsv"], "true\tfalse\n"),
        (["convert", "7", "--to", "csv"], "7\n"),
    ] {
        assert_eq!(folder.run(args).printed().as_deref(), Ok(expected), "{args:?}");
    }
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("h.csv", "x,y\n1,2\n").put("r.csv", "1,2\n\n3\n").put("w.csv", "300\n").put("b.csv", b"1\n\xff\n");
    folder
        .put("q.csv", "1\n\"2\n")
        .put("z.csv", "1\n\0\n")
        .put("c.csv", ",".repeat(1 << 16))
        .put("d.npy", npy("<c8", &[1], &[0; 8]));
    refusals(
        &folder,
        &[
            ("slice h.csv --at :", &["DATA h.csv: line 1 column 1: x is a string, among numbers; --skip-rows 1"]),
            ("convert h.csv", &["IN h.csv: line 1 column 1"]),
            ("slice r.csv --at :", &["line 3 column 2: a row of 1 cell, line 1 has 2"]),
            ("slice w.csv --at : --dtype uint8", &["line 1 column 1: 300 is out of range for uint8"]),
            ("slice b.csv --at :", &["not UTF-8", "line 2"]),
            ("slice q.csv --at :", &["line 2: a quote is not closed"]),
            ("slice w.csv --at : --skip-rows 5", &["holds no cells after the lines left out"]),
            ("slice z.csv --at : --from csv", &["NUL"]),
            ("slice c.csv --at : --dtype int8", &["line 1 column 1: an empty cell"]),
            ("convert d.npy --to csv", &["CSV cannot hold items of dtype complex64: use -o FILE.npy"]),
            ("convert [[[1]]] --to csv", &["more than 2 axes", "use -o FILE.npy"]),
            ("convert [] --to tsv", &["without items", "use -o FILE.npy"]),
            ("scatter-update w.csv 0 --fill 1 --axis 0 -i", &["--in-place"]),
        ],
    );
}

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

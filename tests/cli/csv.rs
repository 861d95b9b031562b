//! CSV and TSV as operands and as outputs.

use crate::common::{Folder, each, npy, prints, refusals};

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
            ("convert e.csv --missing x", &["line 1 column 2 (--missing): x is a string, among numbers"]),
            ("convert i.csv --missing nan --dtype int8", &["line 1 column 2 (--missing): NaN", "int8"]),
            ("convert h.csv", &["line 1 column 1: x is a string, among numbers; --skip-rows 1"]),
        ],
    );
}

#[test]
fn delimiters() {
    let folder = Folder::new();
    folder
        .put("s.csv", "1;2\n3;4\n")
        .put("b.csv", "1  2\n 3\t4 \n")
        .put("t.csv", "1\t2\n3\t4\n")
        .put("c.tsv", "1,2\n3,4\n");
    folder.put("p.csv", "x|y\n1|2\n3|4\n").put("q.csv", "\"a  b\"  c\nd \"e\"\n").put("w.csv", "one two\nthree four\n");
    folder
        .put("d.csv", "2020-01-01 00:00\n")
        .put("h.csv", "a title\n1;2\n3;4\n")
        .put("data", "1;2\n3;4\n")
        .put("o.csv", "1;2;3\n4;5\n");
    folder.put("n.npy", npy("<i8", &[2, 2], &[1_i64, 2, 3, 4].map(i64::to_le_bytes).concat()));
    let square = r#"{"dtype": "int64", "shape": [2, 2], "data": [[1, 2], [3, 4]]}"#;
    let args = |line: &str| line.split(' ').map(|word| word.replace('_', " ")).collect::<Vec<_>>();
    // a blank is written as _
    let rows: [(&str, &str); 14] = [
        ("convert s.csv --delimiter ;", square),
        ("convert b.csv --delimiter _", square),
        ("convert t.csv --delimiter \t", square),
        ("convert t.csv --delimiter \\t", square),
        ("convert c.tsv --delimiter ,", square),
        ("convert p.csv --delimiter | --skip-rows 1", square),
        ("convert h.csv --delimiter ; --skip-rows 1", square),
        ("convert data --from csv --delimiter ;", square),
        ("slice s.csv --at : --delimiter ;", square),
        ("convert q.csv --delimiter _", r#"{"dtype": "<U4", "shape": [2, 2], "data": [["a  b", "c"], ["d", "e"]]}"#),
        // strings that no delimiter makes numbers of, or that are asked for
        ("convert w.csv", r#"{"dtype": "<U10", "shape": [2], "data": ["one two", "three four"]}"#),
        ("convert d.csv", r#"{"dtype": "<U16", "shape": [1], "data": ["2020-01-01 00:00"]}"#),
        ("convert o.csv", r#"{"dtype": "<U5", "shape": [2], "data": ["1;2;3", "4;5"]}"#),
        ("convert s.csv --dtype str", r#"{"dtype": "<U3", "shape": [2], "data": ["1;2", "3;4"]}"#),
    ];
    for (line, expected) in rows {
        let args = [args(line), args("--to json")].concat();
        assert_eq!(folder.run(&args).printed().as_deref(), Ok(&*format!("{expected}\n")), "{line}");
    }
    for line in ["diff s.csv n.npy --delimiter ;", "show s.csv --delimiter ;", "info s.csv --delimiter ;"] {
        assert_eq!(folder.run(args(line)).status, Some(0), "{line}");
    }
    let hint = |cell: &str, delimiter: &str, option: &str| {
        format!(
            "error: IN FILE: line 1 column 1: all cells are strings such as {cell}, which {delimiter} would divide into \
             numbers: --delimiter {option} reads numbers, --dtype str strings\n"
        )
    };
    for (file, expected) in [
        ("s.csv", hint("1;2", "';'", "';'")),
        ("b.csv", hint("1  2", "' '", "' '")),
        ("t.csv", hint("1 2", "'\\t'", "'\\t'")),
        ("c.tsv", hint("1,2", "','", ",")),
        ("p.csv", hint("x|y", "'|'", "'|' --skip-rows 1")),
    ] {
        for more in [&[][..], &["--dtype", "float32"]] {
            let run = folder.run([&["convert", file, "-o", "out.npy"], more].concat());
            assert_eq!((run.status, run.stderr), (Some(2), expected.replace("FILE", file)), "{file} {more:?}");
            assert!(!folder.path("out.npy").exists(), "{file}");
        }
    }
    for character in ["", ";;", "1", "e", "-", ".", "\"", "é"] {
        let run = folder.run(["convert", "s.csv", "--delimiter", character]);
        assert!(
            run.status == Some(2) && run.stderr.contains("expected one character"),
            "{character:?}: {}",
            run.stderr
        );
    }
}

/// Strings that look like items of another dtype, or that are read as none. Numbers and bools are what they look like.
#[test]
fn texts_say_what_they_are_read_as() {
    let folder = Folder::new();
    let rows = [
        ("<U3", r#"["007", "1e3"]"#, "reads back as float64 [2]; --dtype str reads strings"),
        ("<U3", r#"["7", "8"]"#, "reads back as int64 [2]; --dtype str reads strings"),
        ("<U5", r#"[["true", "false"]]"#, "reads back as bool [1, 2]; --dtype str reads strings"),
        ("<U3", r#"["nan", "inf"]"#, "reads back as float64 [2]; --dtype str reads strings"),
        (
            "<U4",
            r#"["true", "x"]"#,
            "does not read back: line 2 column 1: x is a string, among bools; --dtype str reads strings",
        ),
        (
            "<U4",
            r#"["x", "1"]"#,
            "does not read back: line 1 column 1: x is a string, among numbers; --skip-rows 1 skips possible headings, \
             --dtype str reads strings",
        ),
        (
            "<U4",
            r#"["", "1"]"#,
            "does not read back: line 1 column 1: an empty cell, among numbers; --missing nan (or another value) reads it, \
             --dtype str strings",
        ),
        ("<U2", r#"[["a"], ["bc"]]"#, "reads back as [2]"),
        ("<U2", r#"["a", "bc"]"#, ""),
        ("<U3", r#"["a", "bc"]"#, "reads back as <U2 [2]"),
        ("|S2", r#"["a", "bc"]"#, "reads back as <U2 [2]"),
        ("<M8[D]", r#"["2020-01-02"]"#, "reads back as <U10 [1]"),
        ("<m8[s]", "[5]", "reads back as int64 [1]"),
        ("bool", "[true, false]", ""),
        ("int8", "[1, -2]", ""),
        ("uint64", "[18446744073709551615]", ""),
        ("float16", r#"[1, "NaN", "-Infinity", 0.1]"#, ""),
        ("float8_e4m3fn", "[1, 448]", ""),
    ];
    each(
        rows,
        |(dtype, data, _)| format!("{dtype} {data}"),
        |(dtype, data, note)| {
            folder.put("in.json", format!(r#"{{"dtype": "{dtype}", "data": {data}}}"#));
            for output in ["o.csv", "o.tsv", "split-0.csv"] {
                let args: &[&str] = match output {
                    "split-0.csv" => &["split", "in.json", "--parts", "1", "-o", "split-*.csv"],
                    _ => &["convert", "in.json", "-o", output],
                };
                let line = if note.is_empty() { String::new() } else { format!("output {output}: {note}\n") };
                for (quiet, said) in [(&["--quiet"][..], ""), (&[], &*line)] {
                    let run = folder.run([args, quiet].concat());
                    if (run.status, &*run.stderr) != (Some(0), said) {
                        return Err(format!("{args:?} {quiet:?}: {run:?}, expected {said:?}"));
                    }
                }
                // beside a tensor with a dtype, and with the one that the note tells, all are what they were
                for dtype in [&[][..], if note.ends_with(" strings") { &["--dtype", "str"] } else { &[] }] {
                    let run = folder.run([&["diff", output, "in.json"][..], dtype].concat());
                    if run.status != Some(i32::from(*note == "reads back as [2]")) {
                        return Err(format!("{output} {dtype:?}: {run:?}"));
                    }
                }
            }
            Ok(())
        },
    );
}

/// What would differ from what it was made of is not accepted, and nothing is written; outputs say what they are read as.
#[test]
fn what_reads_back_as_something_else() {
    let folder = Folder::new();
    let three = [1_f32, 2.0, 3.0].map(f32::to_le_bytes).concat();
    folder.put("n1.npy", npy("<f4", &[3, 1], &three)).put("r0.npy", npy("<f4", &[], &three[..4]));
    folder.put("n.npy", npy("<f4", &[3], &three)).put("w.npy", npy("<U9", &[1], &[b"a\0\0\0", &[0; 32][..]].concat()));
    folder.put("s.npy", npy("|S2", &[1], b"a\0")).put("e.bin", [0x38_u8, 0x40]).put("old.csv", "4.0\n5.0\n6.0\n");
    folder.put("m.npy", npy("<f4", &[1, 3], &three)).put("head.csv", "x\n7\n8\n9\n").put("semi.csv", "7;8;9\n");
    let float8 = "e.bin:float8_e4m3fn";
    for (from, file, back) in [
        ("n1.npy", "o.csv", "[3]"),
        ("r0.npy", "o.csv", "[1]"),
        ("r0.npy", "o.tsv", "[1]"),
        ("w.npy", "o.pb", "<U1 [1]"),
        ("s.npy", "o.pb", "<U1 [1]"),
        ("n1.npy", "o.tsv", "[3]"),
        ("m.npy", "o.csv", ""),
        ("n.npy", "o.csv", ""),
        ("n1.npy", "o.json", ""),
        (float8, "o.safetensors", ""),
    ] {
        let output = file.split(':').next().expect("a file");
        let run = folder.run(["convert", from, "-o", output]);
        let line = if back.is_empty() { String::new() } else { format!("output {file}: reads back as {back}\n") };
        assert_eq!((run.status, run.stderr), (Some(0), line), "{from} {file}");
        let quiet = folder.run(["convert", from, "-o", output, "-q"]);
        assert_eq!((quiet.status, &*quiet.stderr), (Some(0), ""), "{from} {file}");
        let equal = folder.run(["diff", output, from]).status == Some(0);
        assert_eq!(equal, back.is_empty(), "{from} {file}");
        std::fs::remove_file(folder.path(output)).expect("an output");
        // a golden file that is not there, and one that is
        let run = folder.run(["diff", output, from, "--accept"]);
        assert_eq!(run.status, Some(if equal { 0 } else { 2 }), "{from} {file}: {}", run.stderr);
        assert!(equal || run.stderr.contains(" back as "), "{from} {file}: {}", run.stderr);
        assert_eq!(folder.path(output).exists(), equal, "{from} {file}");
        std::fs::remove_file(folder.path(output)).ok();
    }
    // an output says nothing of void items, since every command that reads them asks for their dtype; accepting them is refused
    for output in ["v.npy", "v.npz"] {
        folder.run(["convert", float8, "-o", output]).printed().expect("an output");
        std::fs::remove_file(folder.path(output)).expect("an output");
        let run = folder.run(["diff", output, float8, "--accept"]);
        assert!(run.status == Some(2) && run.stderr.contains("back as |V1 [2]"), "{}", run.stderr);
        assert!(!folder.path(output).exists(), "{output}");
    }
    // standard output is read by another command
    folder.run(["convert", "n1.npy", "--to", "csv"]).printed().expect("a text");
    for (args, refused) in [
        ("diff old.csv n1.npy --accept", "EXPECTED old.csv: csv reads float32 [3, 1] back as float32 [3]"),
        ("diff old.csv r0.npy --accept", "EXPECTED old.csv: csv reads float32 [] back as float32 [1]"),
        // with these options the rows and cells that are written would not be those that are read
        ("diff head.csv n.npy --skip-rows 1 --accept", "csv reads float32 [3] back as float32 [2]"),
        (
            "diff semi.csv m.npy --delimiter ; --accept",
            "csv would not read it back: line 1 column 1: all cells are strings",
        ),
    ] {
        let before = ["old.csv", "head.csv", "semi.csv"].map(|name| folder.get(name));
        let run = folder.run(args.split(' ').collect::<Vec<_>>());
        let said = run.stderr;
        assert!(
            run.status == Some(2) && said.contains(refused) && said.contains("name a file of another format"),
            "{args}: {said}"
        );
        assert_eq!(["old.csv", "head.csv", "semi.csv"].map(|name| folder.get(name)), before, "{args}");
    }
    // who says the dtype of void items reads them as they were
    for args in ["diff g.npy e.bin:float8_e4m3fn --dtype float8_e4m3fn --accept", "diff old.csv n.npy --accept"] {
        let run = folder.run(args.split(' ').collect::<Vec<_>>());
        assert_eq!(run.status, Some(0), "{args}: {}", run.stderr);
        let again = folder.run(args.trim_end_matches(" --accept").split(' ').collect::<Vec<_>>());
        assert_eq!(again.status, Some(0), "{args}: {}", again.stderr);
    }
}

#[test]
fn outputs() {
    let folder = Folder::new();
    for (args, expected) in [
        (["convert", "[[1.5,\"NaN\"],[2,3]]", "--to", "csv"], "1.5,nan\n2.0,3.0\n"),
        (["convert", "[\"a,b\",\"\"]", "--to", "csv"], "\"a,b\"\n\"\"\n"),
        (["convert", "[[true,false]]", "--to", "tsv"], "true\tfalse\n"),
        (["convert", "[7]", "--to", "csv"], "7\n"),
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
            ("slice b.csv --at :", &["invalid UTF-8", "line 2"]),
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

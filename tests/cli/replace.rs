//! `tensorop slice-scatter --fill VALUE --where COND`: items that are replaced where a condition holds.

use std::fs;
use std::time::{Duration, SystemTime};

use crate::common::{Folder, divisions, each, items_replaced, npy, refusals, tensor, words};

const NAN: f32 = f32::NAN;
const INF: f32 = f32::INFINITY;

/// A folder with the same six float32 in every layout and format.
fn folder() -> Folder {
    let folder = Folder::new();
    let data = tensor::<f32>(&[2, 3], &[1.0, NAN, -0.0, INF, 5.5, NAN]);
    folder.put("d.npy", data.npy()).put("f.npy", data.npy_fortran()).put("b.npy", data.npy_big());
    for name in ["d.npz", "d.safetensors", "d.json"] {
        folder.run(["convert", "d.npy", "-o", name]).printed().expect("a copy");
    }
    folder.put("d.bin", data.bytes());
    folder
}

/// What a run left: its status, and both streams as text.
fn left(folder: &Folder, args: &[&str], stdin: Option<&[u8]>, window: Option<usize>) -> (Option<i32>, String, String) {
    let run = folder.run_with(args, window, stdin);
    (run.status, String::from_utf8_lossy(&run.stdout).into_owned(), run.stderr)
}

#[test]
fn conditions_in_every_format_and_layout() {
    let folder = folder();
    let operands = ["d.npy", "f.npy", "b.npy", "d.npz", "d.safetensors", "d.json", "d.bin:float32[2,3]", "-"];
    // condition, slice, how many, and the items then
    let rows = [
        ("nan", "", 2, "1.0,9.0,-0.0\ninf,5.5,9.0\n"),
        ("inf", "", 1, "1.0,nan,-0.0\n9.0,5.5,nan\n"),
        ("finite", "", 3, "9.0,nan,9.0\ninf,9.0,nan\n"),
        ("==0", "", 1, "1.0,nan,9.0\ninf,5.5,nan\n"),
        ("!=1", "", 3, "1.0,nan,9.0\n9.0,9.0,nan\n"),
        ("<1", "", 1, "1.0,nan,9.0\ninf,5.5,nan\n"),
        ("<=1", "", 2, "9.0,nan,9.0\ninf,5.5,nan\n"),
        (">5.5", "", 1, "1.0,nan,-0.0\n9.0,5.5,nan\n"),
        (">=5.5", "", 2, "1.0,nan,-0.0\n9.0,9.0,nan\n"),
        // V is rounded once: this is no float32, and the nearest is 5.5
        ("==5.50000000000000000001", "", 1, "1.0,nan,-0.0\ninf,9.0,nan\n"),
        ("nan", "--at :1", 1, "1.0,9.0,-0.0\ninf,5.5,nan\n"),
        ("nan", "--at :,::-2", 1, "1.0,nan,-0.0\ninf,5.5,9.0\n"),
        ("!=7", "--start 1 --stop 2 --axes 1", 1, "1.0,nan,-0.0\ninf,9.0,nan\n"),
        ("finite", "--at 2:", 0, "1.0,nan,-0.0\ninf,5.5,nan\n"),
        ("==7", "", 0, "1.0,nan,-0.0\ninf,5.5,nan\n"),
    ];
    let stdin = folder.get("d.npy");
    let all = operands.iter().flat_map(|operand| rows.iter().map(move |row| (operand, row)));
    each(
        all,
        |(operand, row)| format!("{operand} {row:?}"),
        |(operand, (condition, slice, count, expected))| {
            for division in divisions() {
                let mut args = vec!["slice-scatter", operand, "--fill", "9", "--where", condition, "--to", "csv"];
                args.extend(slice.split_whitespace().chain(["--threads", division.threads]));
                let found = left(&folder, &args, Some(&stdin), division.window);
                if found != (Some(0), (*expected).to_owned(), items_replaced(*count)) {
                    return Err(format!("{division:?}: {found:?}"));
                }
            }
            Ok(())
        },
    );
}

#[test]
fn the_line_goes_where_the_tensor_does_not() {
    let folder = folder();
    let base = ["slice-scatter", "d.npy", "--fill", "0", "--where", "nan"];
    let rows: [(&[&str], &str, &str); 7] = [
        (&["-o", "out.npy"], "2 items replaced\n", ""),
        (&["-o", "out.npz", "--at", ":0"], "0 items replaced\n", ""),
        (&["-o", "out.npy", "-q"], "", ""),
        (&["-o", "-", "-q", "--to", "csv"], "1.0,0.0,-0.0\ninf,5.5,0.0\n", ""),
        (&["-o", "-", "--to", "csv"], "1.0,0.0,-0.0\ninf,5.5,0.0\n", "2 items replaced\n"),
        // text that leaves items out does not leave them out of the number
        (&["--threshold", "1", "--edgeitems", "1"], "[[ 1. ... -0.]\n [inf ...  0.]]\n", "2 items replaced\n"),
        (&["--in-place"], "2 items replaced\n", ""),
    ];
    for (more, stdout, stderr) in rows {
        let found = left(&folder, &[&base[..], more].concat(), None, None);
        assert_eq!(found, (Some(0), stdout.to_owned(), stderr.to_owned()), "{more:?}");
    }
    let data = tensor::<f32>(&[2, 3], &[1.0, NAN, -0.0, INF, 5.5, NAN]).npy();
    let elided = ["slice-scatter", "-", "--fill", "0", "--where", "nan", "--threshold", "1", "--edgeitems", "1"];
    for data in [data, folder.get("f.npy")] {
        let (status, _, said) = left(&folder, &elided, Some(&data), Some(4));
        assert_eq!((status, said.as_str()), (Some(0), "2 items replaced\n"));
    }
}

#[test]
fn a_dry_run_says_how_many() {
    let folder = folder();
    let before = folder.content();
    for operand in ["d.npy", "d.safetensors", "-"] {
        for more in [&["-o", "out.npy"][..], &["--in-place"], &[]] {
            if operand == "-" && more.len() == 1 {
                continue;
            }
            let base = ["slice-scatter", operand, "--fill", "0", "--where", "!=1", "--at", ":,1:", "--dry-run"];
            let data = folder.get("d.npy");
            let (status, text, said) = left(&folder, &[&base[..], more].concat(), Some(&data), Some(4));
            assert_eq!((status, said.as_str()), (Some(0), ""), "{operand} {more:?}");
            let lines = "\n  --fill 0 where !=1\n  axis 0 of 2: all 2\n  axis 1 of 3: 2 from 1 to 2 by 1\n";
            assert!(text.contains(&format!("{lines}  2 items would be replaced\n")), "{text}");
        }
    }
    assert_eq!(folder.content(), before);
}

/// In place only what changes is written.
#[test]
fn in_place_nothing_else_is_written() {
    let folder = folder();
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let set = |name: &str| fs::File::options().append(true).open(folder.path(name)).unwrap().set_modified(old).unwrap();
    let time = |name: &str| fs::metadata(folder.path(name)).unwrap().modified().unwrap();
    let operands = ["d.npy", "f.npy", "b.npy", "d.safetensors", "d.bin:float32[2,3]"];
    for operand in operands {
        let file = operand.split(':').next().expect("a name");
        let (before, args) = (folder.get(file), ["slice-scatter", operand, "--fill", "7", "-i", "--where"]);
        set(file);
        for condition in ["==3", "<-1"] {
            let said = folder.run([&args[..], &[condition]].concat()).printed();
            assert_eq!(said.as_deref(), Ok("0 items replaced\n"), "{operand} {condition}");
        }
        assert!(folder.get(file) == before && time(file) == old, "{operand} was written");
        let said = folder.run([&args[..], &["nan"]].concat()).printed();
        assert_eq!(said.as_deref(), Ok("2 items replaced\n"), "{operand}");
        let shown = folder.run(["convert", operand, "--to", "csv"]).printed();
        assert_eq!(shown.as_deref(), Ok("1.0,7.0,-0.0\ninf,5.5,7.0\n"), "{operand}");
    }
}

/// Of a store only the chunks with an item that matches are written, and of a part those that are its own.
#[test]
#[cfg(feature = "zarr")]
fn in_place_no_other_chunk_is_written() {
    let folder = folder();
    folder.run(["convert", "d.npy", "-o", "c.zarr", "--chunks", "1,1"]).printed().expect("a store");
    let chunks = |folder: &Folder| -> Vec<(String, Vec<u8>)> {
        let names = (0..2).flat_map(|i| (0..3).map(move |j| format!("c.zarr/c/{i}/{j}")));
        let there = names.filter(|name| folder.path(name).exists());
        there.map(|name| (fs::read(folder.path(&name)).unwrap(), name)).map(|(bytes, name)| (name, bytes)).collect()
    };
    let before = chunks(&folder);
    let args = ["slice-scatter", "c.zarr", "--fill", "8", "-i", "--where"];
    assert_eq!(folder.run([&args[..], &["==7"]].concat()).printed().as_deref(), Ok("0 items replaced\n"));
    assert_eq!(chunks(&folder), before);
    assert_eq!(folder.run([&args[..], &[">7.5", "-q"]].concat()).printed().as_deref(), Ok(""));
    for (part, count) in [("1/2", 0), ("2/2", 1)] {
        let said = folder.run([&args[..], &["==5.5", "--part", part]].concat()).printed();
        assert_eq!(said, Ok(items_replaced(count)), "{part}");
    }
    let after = chunks(&folder);
    let changed = before.iter().filter(|one| !after.contains(one)).map(|(name, _)| name.as_str());
    assert_eq!(changed.collect::<Vec<_>>(), ["c.zarr/c/1/0", "c.zarr/c/1/1"]);
    let shown = folder.run(["convert", "c.zarr", "--to", "csv"]).printed();
    assert_eq!(shown.as_deref(), Ok("1.0,nan,-0.0\n8.0,8.0,nan\n"));
    // a new store, and chunks as an operand of any other output
    let said = folder.run(["slice-scatter", "c.zarr", "--fill", "0", "--where", "nan", "-o", "n.zarr"]).printed();
    assert_eq!(said.as_deref(), Ok("2 items replaced\n"));
    let said = folder.run(["slice-scatter", "n.zarr", "--fill", "1", "--where", "==8", "-o", "n.npy"]).printed();
    assert_eq!(said.as_deref(), Ok("2 items replaced\n"));
    let shown = folder.run(["convert", "n.npy", "--to", "csv"]).printed();
    assert_eq!(shown.as_deref(), Ok("1.0,0.0,-0.0\n1.0,1.0,0.0\n"));
}

#[test]
#[cfg(feature = "zarr")]
fn parts_give_what_the_whole_does() {
    let folder = folder();
    let args = ["slice-scatter", "d.npy", "--fill", "0", "--where", "nan"];
    for name in ["o.zarr", "o.npy"] {
        for last in [["--part", "1/3"], ["--part", "2/3"], ["--part", "3/3"], ["--finish", "3"]] {
            let said = folder.run([&args[..], &["-o", name], &last].concat()).printed();
            assert_eq!(said.as_deref(), Ok(""), "{name} {last:?}");
        }
        let shown = folder.run(["convert", name, "--to", "csv"]).printed();
        assert_eq!(shown.as_deref(), Ok("1.0,0.0,-0.0\ninf,5.5,0.0\n"), "{name}");
    }
}

#[test]
fn other_dtypes() {
    let folder = Folder::new();
    folder.put("i.npy", npy("|i1", &[3], &[0x80, 0, 5])).put("q.npy", npy("?", &[2], &[0, 1]));
    let most = [[0xff; 8], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe]].concat();
    folder.put("u.npy", npy(">u8", &[2], &most)).put("s.npy", npy("|S2", &[3], b"ab\0\0a\0"));
    folder.put("c.json", r#"{"dtype": "complex64", "data": [[1, 2], ["NaN", 2], [0, "-Infinity"]]}"#);
    folder.put("t.json", r#"{"dtype": "<M8[D]", "data": ["2020-01-01", "NaT"]}"#);
    folder.put("e.npy", npy("|V1", &[4], &[0x7f, 0x38, 0xff, 0x80]));
    let rows = [
        ("i.npy --fill 1 --where nan", 0, "[-128, 0, 5]"),
        ("i.npy --fill 1 --where inf", 0, "[-128, 0, 5]"),
        ("i.npy --fill 1 --where finite", 3, "[1, 1, 1]"),
        ("i.npy --fill 1 --where <-127", 1, "[1, 0, 5]"),
        ("i.npy --fill 1 --where <-128", 0, "[-128, 0, 5]"),
        ("i.npy --fill 1 --where ==-0", 1, "[-128, 1, 5]"),
        ("i.npy --fill 1 --where ==5.0", 1, "[-128, 0, 1]"),
        ("q.npy --fill false --where ==true", 1, "[false, false]"),
        ("u.npy --fill 0 --where ==18446744073709551615", 1, "[0, 18446744073709551614]"),
        ("u.npy --fill 0 --where >=18446744073709551615", 1, "[0, 18446744073709551614]"),
        ("s.npy --fill xy --where ==", 1, r#"["ab", "xy", "a"]"#),
        ("s.npy --fill xy --where !=a", 2, r#"["xy", "xy", "a"]"#),
        ("c.json --fill 0 --where nan", 1, r#"[[1.0, 2.0], [0.0, 0.0], [0.0, "-Infinity"]]"#),
        ("c.json --fill 0 --where inf", 1, r#"[[1.0, 2.0], ["NaN", 2.0], [0.0, 0.0]]"#),
        ("c.json --fill 0 --where ==[1,2]", 1, r#"[[0.0, 0.0], ["NaN", 2.0], [0.0, "-Infinity"]]"#),
        ("c.json --fill 0 --where !=[1,2]", 1, r#"[[1.0, 2.0], ["NaN", 2.0], [0.0, 0.0]]"#),
        ("t.json --fill 2021-02-03 --where nan", 1, r#"["2020-01-01", "2021-02-03"]"#),
        ("t.json --fill 2021-02-03 --where <2020-01-02", 1, r#"["2021-02-03", "NaT"]"#),
        ("e.npy --dtype float8_e4m3fn --fill 0 --where nan", 2, "[0.0, 1.0, 0.0, -0.0]"),
        ("e.npy --dtype float8_e4m3fn --fill 2 --where ==0", 1, r#"["NaN", 1.0, "NaN", 2.0]"#),
    ];
    each(
        rows,
        |(args, ..)| (*args).to_owned(),
        |(args, count, expected)| {
            let args = words(&format!("slice-scatter {args} --to json"));
            let run = folder.run(args);
            let text = String::from_utf8_lossy(&run.stdout).into_owned();
            let right = text.trim_end().ends_with(&format!("\"data\": {expected}}}"));
            let said = run.stderr == items_replaced(*count);
            if run.status == Some(0) && right && said { Ok(()) } else { Err(format!("{text} {}", run.stderr)) }
        },
    );
}

#[test]
fn refused() {
    let folder = folder();
    folder.put("v.npy", npy("|V3", &[1], &[0; 3])).put("s.npy", npy("<U1", &[1], &[0; 4]));
    folder.put("c.npy", npy("<c8", &[1], &[0; 8])).put("zero.npy", npy("<f4", &[], &[0; 4]));
    folder.put("i.npy", npy("|i1", &[1], &[1]));
    let rows: [(&str, &[&str]); 20] = [
        ("slice-scatter d.npy --fill 0", &["DATA d.npy: shape [2, 3]", "--at ... puts it in every place"]),
        ("slice-scatter d.npy f.npy --where nan", &["UPDATES", "--where"]),
        ("slice-scatter d.npy --where nan", &["UPDATES", "--fill"]),
        ("slice-scatter d.npy --fill 0 --where ''", &["--where", "expected nan, inf, finite, ==V"]),
        ("slice-scatter d.npy --fill 0 --where =1", &["--where", "expected nan, inf, finite, ==V"]),
        ("slice-scatter d.npy --fill 0 --where -inf", &["--where", "==-inf only one"]),
        ("slice-scatter d.npy --fill 0 --where ==", &["--where: found , expected a number (float32)"]),
        ("slice-scatter d.npy --fill 0 --where ==x", &["--where: found x, expected a number (float32)"]),
        ("slice-scatter d.npy --fill 0 --where ==1e39", &["--where: 1e39 is too large for float32"]),
        ("slice-scatter d.npy --fill x --where ==1", &["--fill: found x"]),
        ("slice-scatter d.npy --fill 0 --where nan --at 1", &["--at", "use 1:2"]),
        ("slice-scatter d.npy --fill 0 --where nan --at ''", &["--at", "no slices"]),
        ("slice-scatter d.npy --fill 0 --where nan --start 0", &["--stop"]),
        ("slice-scatter i.npy --fill 0 --where ==300", &["--where: 300 is out of range for int8"]),
        ("slice-scatter i.npy --fill 0 --where <1.5", &["--where: 1.5 is not an integer (int8)"]),
        ("slice-scatter c.npy --fill 0 --where >0", &["--where: complex numbers have no order"]),
        ("slice-scatter s.npy --fill x --where <a", &["--where: strings are compared by ==V and !=V only"]),
        ("slice-scatter s.npy --fill x --where ==ab", &["--where: ab is longer than <U1"]),
        ("slice-scatter v.npy --fill x --where nan", &["--fill: an item of dtype |V3 has no text"]),
        ("slice-scatter zero.npy --fill 0 --where nan --at :", &["DATA zero.npy: rank 0"]),
    ];
    refusals(&folder, &rows);
    let args = ["slice-scatter", "d.npz", "--fill", "0", "--where", "nan", "-i"];
    folder.refuses(args, &["--in-place", "d.npz"]).expect("refused");
}

//! `tensorop concat`: ONNX Concat, OpenVINO Concat-1 and ONNX ConcatFromSequence from the command line.

use crate::common::{Folder, each, header, npy, npy_with_header, npz, prints, refusals, tensor, words};

fn json(dtype: &str, shape: &str, data: &str) -> String {
    format!(r#"{{"dtype": "{dtype}", "shape": {shape}, "data": {data}}}"#)
}

/// ONNX's own tests of Concat: two tensors of one, two and three axes along each of them, counted from either end; and the
/// example of ConcatFromSequence with and without a new axis.
#[test]
fn examples_of_onnx() {
    let folder = Folder::new();
    let (a1, b1, a2, b2) = ("[1.0, 2.0]", "[3.0, 4.0]", "[[1.0, 2.0], [3.0, 4.0]]", "[[5.0, 6.0], [7.0, 8.0]]");
    let rows = [
        (a1, b1, "--axis 0", "[4]", "[1.0, 2.0, 3.0, 4.0]"),
        (a1, b1, "--axis -1", "[4]", "[1.0, 2.0, 3.0, 4.0]"),
        (a2, b2, "--axis 0", "[4, 2]", "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]"),
        (a2, b2, "--axis=-2", "[4, 2]", "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]"),
        (a2, b2, "--axis 1", "[2, 4]", "[[1.0, 2.0, 5.0, 6.0], [3.0, 4.0, 7.0, 8.0]]"),
        (a2, b2, "--axis -1", "[2, 4]", "[[1.0, 2.0, 5.0, 6.0], [3.0, 4.0, 7.0, 8.0]]"),
        (a1, b1, "--stack --axis 0", "[2, 2]", "[[1.0, 2.0], [3.0, 4.0]]"),
        (a1, b1, "--stack --axis 1", "[2, 2]", "[[1.0, 3.0], [2.0, 4.0]]"),
        (a1, b1, "--stack --axis -1", "[2, 2]", "[[1.0, 3.0], [2.0, 4.0]]"),
        (a1, b1, "--stack --axis -2", "[2, 2]", "[[1.0, 2.0], [3.0, 4.0]]"),
    ];
    each(
        rows,
        |(a, b, options, ..)| format!("{a} {b} {options}"),
        |(a, b, options, shape, data)| {
            let args: Vec<_> = ["concat", a, b].into_iter().chain(options.split(' ')).chain(["--to", "json"]).collect();
            let found = folder.run(args).printed()?;
            let expected = json("float64", shape, data) + "\n";
            if found == expected { Ok(()) } else { Err(format!("printed {found}, expected {expected}")) }
        },
    );
}

#[test]
fn results() {
    let folder = Folder::new();
    folder
        .put("a.npy", tensor::<i32>(&[2, 2], &[0, 1, 2, 3]).npy())
        .put("b.npy", tensor::<i32>(&[1, 2], &[4, 5]).npy());
    folder.put("none.npy", tensor::<i32>(&[0, 2], &[]).npy()).put("zero.npy", tensor::<i32>(&[], &[7]).npy());
    folder.put("short.npy", npy("<U1", &[1], b"a\0\0\0")).put("long.npy", npy(">U2", &[1], b"\0\0\0b\0\0\0c"));
    let names = ["l.2.w", "l.10.w", "l.1.w", "other"];
    let members: Vec<_> = (0..4).map(|n| (names[n as usize], tensor::<i32>(&[1], &[n]))).collect();
    folder.put("m.npz", npz(&members.iter().map(|(name, one)| (*name, one.npy())).collect::<Vec<_>>()));
    folder.run(words("convert m.npz -o m.safetensors")).printed().expect("a container");
    let all = json("int32", "[3, 2]", "[[0, 1], [2, 3], [4, 5]]");
    let rows: [(&str, &str); 19] = [
        ("concat a.npy b.npy", &all),
        ("concat a.npy none.npy b.npy none.npy", &all),
        ("concat none.npy none.npy", &json("int32", "[0, 2]", "[]")),
        ("concat a.npy", &json("int32", "[2, 2]", "[[0, 1], [2, 3]]")),
        ("concat a.npy [[4],[5]] --axis [1]", &json("int32", "[2, 3]", "[[0, 1, 4], [2, 3, 5]]")),
        // plain JSON takes the dtype of whichever operand has one, else that of all together
        ("concat [[4,5]] a.npy", &json("int32", "[3, 2]", "[[4, 5], [0, 1], [2, 3]]")),
        ("concat [1] [2.5]", &json("float64", "[2]", "[1.0, 2.5]")),
        ("concat [1] [2] --dtype uint8", &json("uint8", "[2]", "[1, 2]")),
        (r#"concat ["a"] ["bcd"]"#, &json("<U3", "[2]", r#"["a", "bcd"]"#)),
        ("concat short.npy long.npy", &json("<U2", "[2]", r#"["a", "bc"]"#)),
        ("concat 1 2 3 --stack", &json("int64", "[3]", "[1, 2, 3]")),
        ("concat zero.npy zero.npy --stack --axis -1", &json("int32", "[2]", "[7, 7]")),
        ("concat a.npy --stack", &json("int32", "[1, 2, 2]", "[[[0, 1], [2, 3]]]")),
        ("concat none.npy none.npy --stack --axis 1", &json("int32", "[0, 2, 2]", "[]")),
        ("concat m.npz:l.*.w", &json("int32", "[3]", "[2, 0, 1]")),
        ("concat m.npz:other m.npz:l.* m.npz:l.1.w", &json("int32", "[5]", "[3, 2, 0, 1, 2]")),
        ("concat m.safetensors:l.[12].w", &json("int32", "[2]", "[2, 0]")),
        ("concat m.npz:* --stack --axis 1", &json("int32", "[1, 4]", "[[2, 0, 1, 3]]")),
        ("concat a.npy b.npy:int32[1,2]@128", &all),
    ];
    prints(&folder, &rows);
}

/// Stores of Zarr with chunks that meet the ends of operands and that do not, whole and in parts.
#[test]
fn from_zarr_to_zarr() {
    let folder = Folder::new();
    let run = |args: &str| folder.run(words(args)).printed().expect(args);
    let part = |name: &str, rows: usize| {
        let items: Vec<i32> = (0..rows as i32 * 15).map(|n| if n % 4 == 0 { 0 } else { n * rows as i32 }).collect();
        folder.put(format!("{name}.npy"), tensor::<i32>(&[rows, 5, 3], &items).npy());
        run(&format!("convert {name}.npy -o {name}.zarr --chunks 2,5,2 --dims time,lat,lon"));
    };
    part("a", 4);
    part("b", 3);
    part("c", 4);
    for (operands, axis) in [("a b c", 0), ("b a", 0), ("a c", 1), ("c a a", 2), ("c a a", -1)] {
        let of = |ending: &str| operands.split(' ').map(|name| format!("{name}.{ending} ")).collect::<String>();
        run(&format!("concat {} --axis {axis} -o o.npy", of("npy")));
        for threads in [1, 3] {
            run(&format!("concat {} --axis {axis} -o o.zarr --threads {threads}", of("zarr")));
            run("diff o.npy o.zarr -q");
            run(&format!("concat {} --axis {axis} -o again.npy --threads {threads}", of("zarr")));
            assert_eq!(folder.get("again.npy"), folder.get("o.npy"), "{operands} {axis}");
        }
        let info = run("info o.zarr --json").replace(": ", ":").replace(", ", ",");
        assert!(info.contains(r#""dimension_names":["time","lat","lon"]"#) && info.contains("[2,5,2]"), "{info}");
        for part in 1..=3 {
            run(&format!("concat {} --axis {axis} -o p{axis}.zarr --part {part}/3", of("zarr")));
        }
        run(&format!("concat {} --axis {axis} -o p{axis}.zarr --finish 3", of("zarr")));
        assert_eq!(folder.tree(format!("p{axis}.zarr")), folder.tree("o.zarr"), "{operands} {axis}");
        std::fs::remove_dir_all(folder.path(format!("p{axis}.zarr"))).expect("a store");
    }
    run("concat a.npy c.npy --stack --axis 1 -o o.npy");
    run("concat a.zarr c.zarr --stack --axis 1 -o o.zarr");
    run("diff o.npy o.zarr -q");
}

/// More operands than files that a process may have open.
#[test]
#[cfg(unix)]
fn more_operands_than_open_files() {
    let folder = Folder::new();
    let mut names = String::new();
    for n in 0..300 {
        let name = format!("{n:03}.npy");
        folder.put(&name, tensor::<i32>(&[1, 2], &[n, -n]).npy());
        names += &format!(" {name}");
    }
    for axis in [0, 1] {
        let unlimited = folder.script(&format!("exec $T concat{names} --axis {axis} -o all.npy"));
        assert_eq!(unlimited.printed().as_deref(), Ok(""));
        // the lower limit can be raised, the upper one cannot
        for limit in ["-S -n 100", "-n 100", "-n 64"] {
            let run = folder.script(&format!("ulimit {limit}; exec $T concat{names} --axis {axis} -o limited.npy"));
            assert_eq!(run.printed().as_deref(), Ok(""), "{limit}");
            assert_eq!(folder.get("limited.npy"), folder.get("all.npy"), "{limit}");
        }
    }
    folder
        .refuses(words("concat missing.npy 000.npy -o no.npy"), &["DATA missing.npy", "(os error 2)"])
        .expect("refused");
}

#[test]
fn dry_runs_of_a_stack() {
    let folder = Folder::new();
    folder.put("a.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy());
    let stacked = folder.run(words("concat a.npy a.npy --stack --axis -1 -o out.npy --dry-run")).printed();
    assert!(stacked.is_ok_and(
        |text| text.contains("concat (ONNX ConcatFromSequence-11)") && text.contains("new axis 2: 2 places")
    ));
    assert_eq!(folder.names().len(), 1);
    folder.refuses(words("concat a.npy [1] -o out.npy --dry-run"), &["DATA [1]", "shape [1]"]).expect("a refusal");
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("a.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy()).put("f.npy", tensor::<f32>(&[2, 3], &[0.; 6]).npy());
    folder.put("u.npy", npy("<u4", &[1, 3], &[0; 12])).put("zero.npy", tensor::<i32>(&[], &[1]).npy());
    folder.put("w.npz", npz(&[("x", tensor::<i32>(&[1], &[1]).npy()), ("y", tensor::<i32>(&[1], &[2]).npy())]));
    folder.put("wide.npy", npy_with_header(&header("|V0", false, &[1 << 62, 1]), &[]));
    let rows: [(&str, &[&str]); 15] = [
        ("concat a.npy [[1,2]]", &["DATA [[1,2]]", "shape [1, 2]", "expected [2, 3]", "except on axis 0"]),
        ("concat a.npy a.npy [1,2,3]", &["DATA [1,2,3]", "shape [3]", "expected [2, 3]"]),
        ("concat a.npy u.npy --axis 1", &["DATA u.npy", "shape [1, 3]", "except on axis 1"]),
        ("concat a.npy u.npy", &["DATA u.npy", "dtype uint32", "expected int32"]),
        ("concat a.npy a.npy f.npy", &["DATA f.npy", "dtype float32", "expected int32"]),
        ("concat a.npy [[1.5,2,3]]", &["DATA [[1.5,2,3]]", "1.5", "int32"]),
        ("concat [1] [true]", &["DATA", "bool"]),
        ("concat zero.npy", &["DATA zero.npy", "rank 0", "--stack"]),
        ("concat a.npy --axis 2", &["--axis", "2", "[-2, 1]"]),
        ("concat a.npy --stack --axis -4", &["--axis", "-4", "[-3, 2]"]),
        ("concat a.npy [[1,2,3]] --stack", &["DATA [[1,2,3]]", "shape [1, 3]", "expected [2, 3]"]),
        ("concat w.npz", &["w.npz", "x"]),
        ("concat w.npz:z*", &["w.npz", "z*"]),
        ("concat wide.npy wide.npy", &["DATA wide.npy", "more items than can be counted"]),
        ("concat a.npy --in-place --stack", &["--in-place"]),
    ];
    refusals(&folder, &rows);
}

/// Appending gives, byte for byte, the file that a new output would be, in both orders of storage, and from any operands.
#[test]
#[cfg(unix)]
fn appended() {
    let folder = Folder::new();
    let int = |shape: &[usize], first: i32| {
        tensor(shape, &(first..first + shape.iter().product::<usize>() as i32).collect::<Vec<_>>())
    };
    folder.put("row.npy", int(&[1, 3], 50).npy()).put("col.npy", int(&[2, 1], 70).npy());
    folder.put("big.npy", int(&[2, 3], 90).npy_big()).put("f.npy", int(&[2, 3], 20).npy_fortran());
    folder.put("none.npy", tensor::<i32>(&[0, 3], &[]).npy());
    let c_order = [
        "row.npy",
        "row.npy row.npy row.npy",
        "big.npy f.npy",
        "[[7,8,9]]",
        "none.npy",
        "data.npy",
        "data.npy row.npy data.npy",
        "./data.npy",
        "link.npy",
        "hard.npy row.npy",
        "row.npy --axis 0",
        "row.npy --axis -2",
        "data.npy:int32[-1,3]@128 row.npy",
        "",
    ];
    let fortran = [
        "col.npy",
        "col.npy col.npy",
        "f.npy big.npy",
        "[[7],[8]]",
        "data.npy",
        "link.npy col.npy",
        "col.npy --axis 1",
        "col.npy --axis -1",
    ];
    let rows = c_order.map(|rows| (rows, false)).into_iter().chain(fortran.map(|rows| (rows, true)));
    each(
        rows,
        |(rows, fortran)| format!("{rows}, Fortran order {fortran}"),
        |&(rows, fortran)| {
            let (order, axis) = if fortran { ("F", " --axis 1") } else { ("C", "") };
            folder.put("plain.npy", int(&[2, 3], 0).npy());
            folder.run(words(&format!("convert plain.npy -o ordered.npy --order {order}"))).printed()?;
            let data = folder.get("ordered.npy");
            for link in ["data.npy", "link.npy", "hard.npy"] {
                let _ = std::fs::remove_file(folder.path(link));
            }
            folder.put("data.npy", &data);
            std::os::unix::fs::symlink("data.npy", folder.path("link.npy")).map_err(|e| e.to_string())?;
            std::fs::hard_link(folder.path("data.npy"), folder.path("hard.npy")).map_err(|e| e.to_string())?;
            let axis = if rows.contains("--axis") { "" } else { axis };
            folder.run(words(&format!("concat data.npy {rows}{axis} -o whole.npy"))).printed()?;
            folder.run(words(&format!("convert whole.npy -o expected.npy --order {order}"))).printed()?;
            for (window, threads) in [(None, "1"), (Some(8), "3")] {
                folder.put("data.npy", &data);
                let args = words(&format!("concat data.npy {rows} --in-place --threads {threads}"));
                folder.run_with(args, window, None).printed()?;
                if folder.get("data.npy") != folder.get("expected.npy") {
                    return Err(format!("another file with windows of {window:?}"));
                }
            }
            folder.put("data.npy", &data);
            let said = folder.run(words(&format!("concat data.npy {rows} -i --dry-run"))).printed()?;
            if folder.get("data.npy") != data || !said.contains(" bytes appended to DATA data.npy, ") {
                return Err(format!("the dry run changed it, or said {said}"));
            }
            Ok(())
        },
    );
    // one byte is counted as one
    let folder = Folder::new();
    folder.put("one.npy", npy("|u1", &[1], &[7]));
    let said = folder.run(words("concat one.npy one.npy -i --dry-run")).printed().expect("said");
    assert!(said.ends_with("  output: 1 byte appended to DATA one.npy, 1 of its header changed\n"), "{said}");
}

/// Strings that are narrower become wider, and a row of standard input comes as it is read.
#[test]
fn appended_strings_and_streams() {
    let folder = Folder::new();
    folder.put("s.npy", npy("|S3", &[1], b"abc")).put("t.npy", npy("|S1", &[2], b"de"));
    folder.run(words("concat s.npy t.npy -i")).printed().expect("appended");
    assert_eq!(folder.get("s.npy"), npy("|S3", &[3], b"abcd\0\0e\0\0"));
    folder.put("n.npy", tensor::<i32>(&[1], &[1]).npy());
    let run = folder.run_with(words("concat n.npy - [3] -i"), None, Some(&tensor::<i32>(&[1], &[2]).npy()[..]));
    run.printed().expect("appended");
    assert_eq!(folder.get("n.npy"), tensor::<i32>(&[3], &[1, 2, 3]).npy());
}

/// What a stopped append leaves is no part of the tensor, in a file and in a pipe, and the next append drops it.
#[test]
fn after_an_append_that_was_stopped() {
    let folder = Folder::new();
    let before = tensor::<i32>(&[2, 3], &[0, 1, 2, 3, 4, 5]).npy();
    let mut stopped = before.clone();
    stopped[126] = b'\t';
    stopped.extend([9; 30]);
    folder.put("data.npy", &stopped).put("before.npy", &before);
    folder.run(words("diff before.npy data.npy -q")).printed().expect("as before");
    let piped = folder.run_with(words("slice - --at : --to npy"), None, Some(&stopped[..]));
    assert_eq!(piped.stdout, before);
    folder.run(words("slice-scatter data.npy --fill 5 --at :1,:1 -i")).printed().expect("changed");
    folder.run(words("slice-scatter data.npy --fill 0 --at :1,:1 -i")).printed().expect("changed");
    folder.run(words("reshape data.npy --shape 3,2 -i")).printed().expect("reshaped");
    folder.run(words("reshape data.npy --shape 2,3 -i")).printed().expect("reshaped");
    folder.run(words("concat data.npy [[6,7,8]] -i")).printed().expect("appended");
    assert_eq!(folder.get("data.npy"), tensor::<i32>(&[3, 3], &[0, 1, 2, 3, 4, 5, 6, 7, 8]).npy());
    // of any other file they are refused
    folder.put("longer.npy", [&before[..], &[0; 12]].concat());
    folder
        .refuses(words("concat longer.npy [[6,7,8]] -i"), &["longer.npy", "36 bytes", "expected 24"])
        .expect("refused");
}

#[test]
fn what_cannot_be_appended() {
    let folder = Folder::new();
    folder
        .put("a.npy", tensor::<i32>(&[9, 3], &[0; 27]).npy())
        .put("f.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy_fortran());
    folder.put("s.npy", npy("|S1", &[1], b"a")).put("w.npz", npz(&[("x", tensor::<i32>(&[1], &[1]).npy())]));
    let tight = |text: &str| {
        let mut file = b"\x93NUMPY\x01\0".to_vec();
        file.extend((text.len() as u16).to_le_bytes());
        file.extend(text.as_bytes());
        file.extend([0; 36]);
        file
    };
    folder.put("tight.npy", tight("{'descr': '<i4', 'fortran_order': False, 'shape': (9,), }\n"));
    folder.put("narrow.npy", tight("{'descr': '<i4', 'fortran_order': False, 'shape': (9,), } \n"));
    folder.run(words("convert a.npy -o a.zarr")).printed().expect("a store");
    folder.run(words("convert a.npy -o a.safetensors")).printed().expect("a container");
    let rows: [(&str, &[&str]); 14] = [
        ("concat a.npy [[1,2]] -i", &["DATA [[1,2]]", "shape [1, 2]", "expected [9, 3]"]),
        ("concat a.npy [[1]] --axis 1 -i", &["DATA [[1]]", "shape [1, 1]"]),
        ("concat a.npy a.npy --axis 1 -i", &["--axis: 1", "along axis 0", "use -o"]),
        ("concat f.npy f.npy --axis 0 -i", &["--axis: 0", "along axis 1", "use -o"]),
        (r#"concat s.npy ["bc"] --dtype S2 -i"#, &["DATA", "|S2", "|S1", "use -o"]),
        ("concat tight.npy [1] -i", &["DATA tight.npy", "has no room", "use -o"]),
        ("concat narrow.npy [1] -i", &["DATA narrow.npy", "has no room", "use -o"]),
        ("concat w.npz:x [1] -i", &["DATA w.npz:x", "--in-place"]),
        ("concat a.zarr [[1,2,3]] -i", &["DATA a.zarr", "--in-place"]),
        ("concat a.safetensors [[1,2,3]] -i", &["DATA a.safetensors", "--in-place"]),
        ("concat - [1] -i", &["DATA", "--in-place changes a file"]),
        ("concat [1] [2] -i", &["DATA", "--in-place changes a file"]),
        ("concat a.npy missing.npy -i", &["DATA missing.npy"]),
        ("concat a.npy a.npy -i -o b.npy", &["--in-place", "--output"]),
    ];
    let before = folder.content();
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, fragments)| {
            folder.refuses(words(args), fragments)?;
            if folder.content() == before { Ok(()) } else { Err("something was written".to_owned()) }
        },
    );
    // the narrow one has room for itself
    folder.run(words("concat narrow.npy -i")).printed().expect("nothing to append");
}

//! What a cast to floats says of finite items that become infinite or NaN, `--saturate` and `--strict`, in every format of
//! the output.

use crate::common::{Folder, Run, bytes, each, member, npy, npz, safetensors, words};

fn folder() -> Folder {
    let folder = Folder::new();
    let singles = bytes::<f32>(&[1e5, 1.0, -7e4, 65519.0]);
    folder.put("w.npy", npy("<f4", &[4], &singles));
    folder.put("square.npy", npy("<f4", &[2, 2], &bytes::<f32>(&[1.0, 2.0, 3e9, f32::INFINITY])));
    folder.put("wide.npy", npy("<f8", &[3], &bytes::<f64>(&[1e300, f64::NAN, f64::NEG_INFINITY])));
    folder.put("pairs.npy", npy("<c16", &[3], &bytes::<f64>(&[1e300, -1e300, 1.0, 1.0, 0.0, 1e39])));
    folder.put("nan.npy", npy("<f4", &[3], &bytes::<f32>(&[0.5, f32::NAN, 7.0])));
    folder.put("i.npy", npy("<i8", &[4], &bytes::<i64>(&[1, 70_000, -65_520, 65_519])));
    let ids = npy("<i8", &[1], &bytes::<i64>(&[70_000]));
    folder.put("m.npz", npz(&[("w", folder.get("w.npy")), ("ids", ids), ("v", folder.get("square.npy"))]));
    folder.put("m.safetensors", safetensors(&[member("w", "float32", &[4], singles)]));
    let rows = (0..300_u16).flat_map(|n| if n % 100 == 7 { 1e39_f64 } else { f64::from(n) }.to_le_bytes());
    folder.put("rows.npy", npy("<f8", &[100, 3], &rows.collect::<Vec<_>>()));
    folder
}

/// Returns what a run said, if it ended with 0.
fn said(run: &Run) -> Result<&str, String> {
    if run.status == Some(0) { Ok(&run.stderr) } else { Err(format!("{run:?}")) }
}

#[test]
fn items_that_overflow_are_counted() {
    let folder = folder();
    const W: &str = "w: 2 of 4 items became infinite, the first at [0]\n";
    // the arguments, and the lines on standard error
    let rows = [
        ("m.safetensors --cast float16 -o o.safetensors", W),
        ("m.safetensors --cast float16 -o o.npz", W),
        ("m.safetensors --cast float16 -o o.npz --compress", W),
        ("m.safetensors --cast float16 -o o.safetensors.index.json", W),
        ("m.safetensors:w --cast float16 -o o.npz", W),
        ("w.npy --cast float16 -o o.npy", "w.npy: 2 of 4 items became infinite, the first at [0]\n"),
        ("w.npy --cast float16 -o o.npy --byte-order big", "w.npy: 2 of 4 items became infinite, the first at [0]\n"),
        ("w.npy --cast float16 -o o.json", "w.npy: 2 of 4 items became infinite, the first at [0]\n"),
        ("w.npy --cast float16 -o o.csv", "w.npy: 2 of 4 items became infinite, the first at [0]\n"),
        ("w.npy --cast float16 -o o.pb", "w.npy: 2 of 4 items became infinite, the first at [0]\n"),
        ("w.npy --cast float16", "w.npy: 2 of 4 items became infinite, the first at [0]\n"),
        ("w.npy --cast float16 --to npy", "w.npy: 2 of 4 items became infinite, the first at [0]\n"),
        ("w.npy --cast float16 -q", ""),
        ("w.npy --cast float16 -o o.npy --dry-run", ""),
        // a dtype without infinity, and one in which all numbers are finite
        ("w.npy --cast float8_e4m3fn -o o.safetensors", "w.npy: 3 of 4 items became NaN, the first at [0]\n"),
        ("w.npy --cast float8_e5m2 -o o.safetensors", "w.npy: 3 of 4 items became infinite, the first at [0]\n"),
        ("w.npy --cast float4_e2m1fn -o o.safetensors", ""),
        ("[0,-1,3,1e39] --cast float8_e8m0fnu", "[0,-1,3,1e39]: 3 of 4 items became NaN, the first at [0]\n"),
        // integers and complex numbers
        ("i.npy --cast float16 -o o.npy", "i.npy: 2 of 4 items became infinite, the first at [1]\n"),
        ("i.npy --cast complex64 -o o.npy", ""),
        ("pairs.npy --cast complex64 -o o.npy", "pairs.npy: 2 of 3 items became infinite, the first at [0]\n"),
        ("pairs.npy --cast float32 --lossy -o o.npy", "pairs.npy: 1 of 3 items became infinite, the first at [0]\n"),
        // what is not finite before is no news, and what stays finite is none either
        ("wide.npy --cast float32 -o o.npy", "wide.npy: 1 of 3 items became infinite, the first at [0]\n"),
        ("square.npy --cast bfloat16 -o o.npy", ""),
        ("square.npy --cast float64 -o o.npy", ""),
        // the index is that of the tensor, whatever the order of storage
        ("square.npy --cast float16 -o o.npy", "square.npy: 1 of 4 items became infinite, the first at [1, 0]\n"),
        (
            "square.npy --cast float16 --order F -o o.npy",
            "square.npy: 1 of 4 items became infinite, the first at [1, 0]\n",
        ),
        // a line for each tensor
        (
            "m.npz --cast float16 -o o.npz",
            "w: 2 of 4 items became infinite, the first at [0]\nv: 1 of 4 items became infinite, the first at [1, 0]\n",
        ),
        (
            "m.npz x=w.npy --only ids --add --cast float16 -o o.npz",
            "w.npy: 2 of 4 items became infinite, the first at [0]\n",
        ),
        ("m.npz --cast ids=float16 --rename ids=n -o o.npz", "ids: 1 of 1 items became infinite, the first at [0]\n"),
        ("rows.npy --cast float32 -o o.npy", "rows.npy: 3 of 300 items became infinite, the first at [2, 1]\n"),
        (
            // the first as the output is stored
            "rows.npy --cast float32 --order F -o o.npy",
            "rows.npy: 3 of 300 items became infinite, the first at [69, 0]\n",
        ),
    ];
    each(
        rows.iter().flat_map(|row| [None, Some(24)].map(|window| (row, window))),
        |((args, _), window)| format!("`{args}` in windows of {window:?}"),
        |((args, expected), window)| {
            let run = folder.run_with(words(&format!("convert {args}")), *window, None);
            if said(&run)? == *expected { Ok(()) } else { Err(format!("{:?}", run.stderr)) }
        },
    );
}

#[test]
fn saturated() {
    let folder = folder();
    let rows = [
        ("w.npy --cast float16", "float16", "[65504.0, 1.0, -65504.0, 65504.0]"),
        ("w.npy --cast float8_e4m3fn", "float8_e4m3fn", "[448.0, 1.0, -448.0, 448.0]"),
        ("i.npy --cast float16", "float16", "[1.0, 65504.0, -65504.0, 65504.0]"),
        // what is infinite stays so, or becomes what it becomes without the option
        ("square.npy --cast float16", "float16", r#"[[1.0, 2.0], [65504.0, "Infinity"]]"#),
        ("square.npy --cast float8_e4m3fn", "float8_e4m3fn", r#"[[1.0, 2.0], [448.0, "NaN"]]"#),
        ("wide.npy --cast float32", "float32", r#"[3.4028235e+38, "NaN", "-Infinity"]"#),
        (
            "pairs.npy --cast complex64",
            "complex64",
            "[[3.4028235e+38, -3.4028235e+38], [1.0, 1.0], [0.0, 3.4028235e+38]]",
        ),
        ("[0,-1,3,1e39] --cast float8_e8m0fnu", "float8_e8m0fnu", "[5.877472e-39, 5.877472e-39, 4.0, 1.7014118e+38]"),
        ("[7,-9] --cast float4_e2m1fn", "float4_e2m1fn", "[6.0, -6.0]"),
        // a tensor that has the dtype already
        ("w.npy --cast float32", "float32", "[100000.0, 1.0, -70000.0, 65519.0]"),
    ];
    each(
        &rows,
        |(args, ..)| format!("`{args}`"),
        |(args, dtype, items)| {
            let printed = folder.run(words(&format!("convert {args} --saturate --to json"))).printed()?;
            let is_right =
                printed.contains(&format!("\"dtype\": \"{dtype}\"")) && printed.contains(&format!("\"data\": {items}"));
            if is_right { Ok(()) } else { Err(printed) }
        },
    );
    let big = "convert w.npy --cast float16 --saturate --byte-order big -o big.npy";
    folder.run(words(big)).printed().expect("written");
    let items = [0x7bff_u16, 0x3c00, 0xfbff, 0x7bff].map(u16::to_be_bytes).concat();
    assert_eq!(folder.get("big.npy"), npy(">f2", &[4], &items));
}

#[test]
fn strict() {
    let folder = folder();
    let rows: &[(&str, &[&str])] = &[
        ("w.npy --cast float16 --strict -o o.npy", &["IN w.npy: 100000 becomes infinite as float16 at [0]"]),
        ("w.npy --cast float16 --strict", &["100000 becomes infinite as float16 at [0]"]),
        ("w.npy --cast float8_e4m3fn --strict -o o.json", &["100000 becomes NaN as float8_e4m3fn at [0]"]),
        ("i.npy --cast float16 --strict -o o.npz", &["IN i.npy: 70000 becomes infinite as float16 at [1]"]),
        (
            "pairs.npy --cast complex64 --strict -o o.npy",
            &["IN pairs.npy: 1e+300 becomes infinite as complex64 at [0]"],
        ),
        (
            "square.npy --cast float16 --order F --strict -o o.npy",
            &["3000000000 becomes infinite as float16 at [1, 0]"],
        ),
        ("m.npz --cast float16 --strict -o o.npz", &["IN m.npz:", "becomes infinite as float16 at ["]),
        ("rows.npy --cast float32 --strict -o o.npy", &["IN rows.npy: 1e+39 becomes infinite as float32 at [2, 1]"]),
        ("nan.npy --cast float4_e2m1fn --strict -o o.npy", &["IN nan.npy: float4_e2m1fn has no NaN at [1]"]),
        ("nan.npy --cast float6_e2m3fn --strict", &["IN nan.npy: float6_e2m3fn has no NaN at [1]"]),
        ("w.npy --cast float16 --strict --saturate -o o.npy", &["--strict", "--saturate", "cannot be used with"]),
        // options that change nothing
        ("w.npy --strict -o o.npy", &["--cast"]),
        ("w.npy --saturate -o o.npy", &["--cast"]),
        ("i.npy --cast int32 --strict -o o.npy", &["--strict: is for a cast to floats"]),
        ("m.npz --cast int32 --saturate -o o.npz", &["--saturate: is for a cast to floats"]),
    ];
    let before = folder.content();
    for (args, fragments) in rows {
        for window in [None, Some(24)] {
            let run = folder.run_with(words(&format!("convert {args}")), window, None);
            let has = fragments.iter().all(|fragment| run.stderr.contains(fragment));
            assert!(run.status == Some(2) && run.stdout.is_empty() && has, "{args}: {run:?}");
        }
    }
    assert_eq!(folder.content(), before);
    for args in
        ["square.npy --cast bfloat16", "w.npy --cast float32", "wide.npy --cast float64", "[7,9] --cast float4_e2m1fn"]
    {
        folder.run(words(&format!("convert {args} --strict -o o.safetensors"))).printed().expect("nothing overflows");
    }
}

/// Chunks are cast one by one, parts each by another process, which tells its own.
#[test]
#[cfg(feature = "zarr")]
fn chunks_and_parts() {
    let folder = folder();
    let expected = "rows.npy: 3 of 300 items became infinite, the first at [2, 1]\n";
    for args in ["--chunks 7,2", "--chunks 10,2 --shards 20,4 --threads 3", "--chunks 100,3 --codec none"] {
        let run = folder.run(words(&format!("convert rows.npy --cast float32 {args} -o o.zarr")));
        assert_eq!(said(&run), Ok(expected), "{args}");
        let run = folder.run(words(&format!("convert rows.npy --cast float32 --strict {args} -o s.zarr")));
        assert!(run.status == Some(2) && run.stderr.contains(" becomes infinite as float32 at ["), "{run:?}");
        assert!(!folder.path("s.zarr").exists());
        // from chunks to chunks across them, by way of others
        let run = folder.run(words("convert o.zarr --cast float16 --chunks 50,1 -o across.zarr"));
        assert_eq!(said(&run), Ok(""), "what was infinite before");
    }
    let part = |n| folder.run(words(&format!("convert rows.npy --cast float32 --chunks 50,3 -o p.zarr --part {n}/2")));
    let lines = [
        "rows.npy: 2 of 150 items became infinite, the first at [2, 1]\n",
        "rows.npy: 1 of 150 items became infinite, the first at [69, 0]\n",
    ];
    for (n, line) in (1..).zip(lines) {
        assert_eq!(said(&part(n)), Ok(line));
    }
    // with another treatment it is another output
    let other = folder.run(words("convert rows.npy --cast float32 --saturate --chunks 50,3 -o p.zarr --part 1/2"));
    assert!(other.status == Some(2) && other.stderr.contains("--saturate"), "{other:?}");
    folder.run(words("convert rows.npy --cast float32 --chunks 50,3 -o p.zarr --finish 2")).printed().expect("whole");
}

/// A value of `--cast` that later or more exact ones leave no tensor is an error, and nothing is written.
#[test]
fn values_that_cast_nothing() {
    let folder = folder();
    let rows: &[(&str, &str)] = &[
        ("m.npz --cast int8 --cast ids=float64 -o o.npz", "--cast int8: casts no tensor: other values of --cast"),
        ("m.npz --cast ids=float64 --cast int8 -o o.npz", "--cast int8: casts no tensor"),
        ("m.npz --cast w=float16 --cast *=float64 -o o.npz", "--cast w=float16: casts no tensor"),
        ("m.npz --cast float16 --cast float64 -o o.npz", "--cast float16: casts no tensor"),
        ("w.npy --cast float16 --cast float64 -o o.npy", "--cast float16: casts no tensor"),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, part)| folder.refuses(words(&format!("convert {args}")), &[part]).map(drop),
    );
    for args in ["m.npz --cast *=float64 --cast w=float32 -o o.npz", "m.npz --cast float64 --cast w=float32 -o p.npz"] {
        folder.run(words(&format!("convert {args}"))).printed().expect(args);
    }
}

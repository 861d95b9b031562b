//! `tensorop transpose`: ONNX Transpose and OpenVINO Transpose-1 from the command line.

use crate::common::{Example, Folder, examples, npy, prints, refusals, tensor, words};

/// The items of a tensor in C order, with its axes in another order.
fn moved(items: &[u8], shape: &[usize], order: &[usize], size: usize) -> Vec<u8> {
    let mut strides = vec![1; shape.len()];
    (0..shape.len()).rev().skip(1).for_each(|axis| strides[axis] = strides[axis + 1] * shape[axis + 1]);
    let places = order.iter().fold(vec![0], |places, &axis| {
        places
            .iter()
            .flat_map(|place| (0..shape[axis]).map(move |at| (place, at)))
            .map(|(place, at)| place + at * strides[axis])
            .collect()
    });
    places.into_iter().flat_map(|place: usize| &items[place * size..][..size]).copied().collect()
}

/// ONNX's own tests of the operator: the axes reversed, and all orders of three axes; and the examples of Transpose-1,
/// which are shapes only.
#[test]
fn examples_of_onnx_and_openvino() {
    let rows: [(&[usize], Option<&[usize]>); 10] = [
        (&[2, 3, 4], None),
        (&[2, 3, 4], Some(&[0, 1, 2])),
        (&[2, 3, 4], Some(&[0, 2, 1])),
        (&[2, 3, 4], Some(&[1, 0, 2])),
        (&[2, 3, 4], Some(&[1, 2, 0])),
        (&[2, 3, 4], Some(&[2, 0, 1])),
        (&[2, 3, 4], Some(&[2, 1, 0])),
        (&[2, 3, 4, 2], Some(&[0, 3, 1, 2])),
        (&[2, 3, 4, 2], Some(&[2, 0, 1, 3])),
        (&[6], Some(&[0])),
    ];
    let example = |(shape, order): (&[usize], Option<&[usize]>)| {
        let bytes: Vec<u8> = (0..shape.iter().product::<usize>() as u8).collect();
        let reversed: Vec<usize> = (0..shape.len()).rev().collect();
        let axes = order.unwrap_or(&reversed);
        let dims: Vec<usize> = axes.iter().map(|&axis| shape[axis]).collect();
        let floats = |bytes: &[u8]| bytes.iter().copied().map(f32::from).collect::<Vec<_>>();
        Example::of(
            "transpose",
            tensor(shape, &floats(&bytes)),
            order.map(|axes| format!("--axes {axes:?}").replace(", ", ",")).unwrap_or_default(),
            tensor(&dims, &floats(&moved(&bytes, shape, axes, 1))),
        )
    };
    examples(rows.map(example).into());
}

#[test]
fn results() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0, 1, 2, 3, 4, 5]).npy());
    folder.put("none.npy", tensor::<i32>(&[2, 0, 3], &[]).npy()).put("zero.npy", tensor::<i32>(&[], &[7]).npy());
    folder.put("axes.npy", tensor::<i64>(&[2], &[-1, 0]).npy());
    folder.put("empty.npy", tensor::<i64>(&[0], &[]).npy());
    folder.put("bf16.npy", npy("<V2", &[1, 2], &[0x80, 0x3f, 0x40, 0xc0]));
    let turned = "int32 [3, 2] [[0, 3], [1, 4], [2, 5]]";
    let same = "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]";
    let rows = [
        ("transpose d.npy", turned),
        ("transpose d.npy --axes 1,0", turned),
        ("transpose d.npy --axes -1,0", turned),
        ("transpose d.npy --axes=[-1,-2]", turned),
        ("transpose d.npy --axes axes.npy", turned),
        // Transpose-1: an empty list reverses the axes
        ("transpose d.npy --axes=", turned),
        ("transpose d.npy --axes empty.npy", turned),
        ("transpose d.npy --axes 0,1", same),
        ("transpose none.npy", "int32 [3, 0, 2] [[], [], []]"),
        ("transpose none.npy --axes 1,2,0", "int32 [0, 3, 2] []"),
        ("transpose zero.npy", "int32 [] 7"),
        ("transpose zero.npy --axes=", "int32 [] 7"),
        ("transpose 7", "int64 [] 7"),
        ("transpose [1,2,3]", "int64 [3] [1, 2, 3]"),
        ("transpose [1,2,3] --axes -1", "int64 [3] [1, 2, 3]"),
        (r#"transpose [["a","xyz"]]"#, r#"<U3 [2, 1] [["a"], ["xyz"]]"#),
        ("transpose [[1,0]] --dtype uint8", "uint8 [2, 1] [[1], [0]]"),
        ("transpose bf16.npy", "bfloat16 [2, 1] [[1.0], [-3.0]]"),
    ];
    prints(&folder, &rows);
}

/// From a Zarr store into one: chunks, shards, attributes and the names of dimensions go along with their axes, and what is
/// in no chunk of the data is in none of the output.
#[test]
fn from_zarr_to_zarr() {
    let folder = Folder::new();
    let items: Vec<i32> = (0..5 * 7 * 3).map(|n| if n < 42 { n } else { 0 }).collect();
    folder.put("d.npy", tensor::<i32>(&[5, 7, 3], &items).npy());
    let run = |args: &str| folder.run(words(args)).printed().expect(args);
    for (name, more) in [("plain", "--codec none"), ("packed", "--codec zstd"), ("shards", "--shards 4,4,2")] {
        run(&format!("convert d.npy -o {name}.zarr --chunks 2,4,1 --dims time,lat,lon {more}"));
        for (axes, dims, chunk) in [
            ("2,0,1", r#"["lon","time","lat"]"#, "[1, 2, 4]"),
            ("2,1,0", r#"["lon","lat","time"]"#, "[1, 4, 2]"),
            ("0,2,1", r#"["time","lon","lat"]"#, "[2, 1, 4]"),
        ] {
            for threads in [1, 3] {
                run(&format!("transpose {name}.zarr --axes {axes} -o t.zarr --threads {threads}"));
                run(&format!("transpose d.npy --axes {axes} -o t.npy"));
                run("diff t.npy t.zarr -q");
                run(&format!("transpose {name}.zarr --axes {axes} -o again.npy --threads {threads}"));
                assert_eq!(folder.get("again.npy"), folder.get("t.npy"), "{name} {axes}");
                let info = run("info t.zarr --json").replace(": ", ":").replace(", ", ",");
                assert!(info.contains(&format!("\"dimension_names\":{dims}")), "{name} {axes}: {info}");
                assert!(info.contains(&chunk.replace(", ", ",")), "{name} {axes}: {info}");
                for part in 1..=3 {
                    run(&format!("transpose {name}.zarr --axes {axes} -o p.zarr --part {part}/3 --restart")
                        .replace(" --restart", if part == 1 { " --restart" } else { "" }));
                }
                run(&format!("transpose {name}.zarr --axes {axes} -o p.zarr --finish 3"));
                assert_eq!(folder.tree("p.zarr"), folder.tree("t.zarr"), "{name} {axes}");
            }
        }
    }
    // asked for, they are as asked
    run("transpose plain.zarr -o t.zarr --chunks 3,3,3 --dims a,b,c");
    let info = run("info t.zarr --json");
    assert!(info.contains("[\"a\", \"b\", \"c\"]") || info.contains("[\"a\",\"b\",\"c\"]"), "{info}");
    // there and back again it is the same store
    run("transpose plain.zarr --axes 2,0,1 -o t.zarr");
    run("transpose t.zarr --axes 1,2,0 -o back.zarr");
    assert_eq!(folder.tree("back.zarr"), folder.tree("plain.zarr"));
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy());
    folder.put("zero.npy", tensor::<i32>(&[], &[1]).npy());
    folder.put("i-huge.npy", npy("<u8", &[1], &[0, 0, 0, 0, 0, 0, 0, 0x80]));
    let rows: [(&str, &[&str]); 11] = [
        ("transpose d.npy --axes 0", &["--axes", "1 axis", "axis 1 is missing", "[2, 3]"]),
        ("transpose d.npy --axes 0,0", &["--axes", "axis 0 is named twice"]),
        ("transpose d.npy --axes 1,-1", &["--axes", "axis 1 is named twice", "-1 at position 1"]),
        ("transpose d.npy --axes 0,1,2", &["--axes", "axis 2 at position 2", "[-2, 1]"]),
        ("transpose d.npy --axes 0,-3", &["--axes", "axis -3 at position 1", "[-2, 1]"]),
        ("transpose d.npy --axes INT_MAX,0", &["--axes", "9223372036854775807"]),
        ("transpose d.npy --axes 9223372036854775808", &["--axes", "beyond int64"]),
        ("transpose d.npy --axes i-huge.npy", &["--axes", "i-huge.npy", "9223372036854775808"]),
        ("transpose zero.npy --axes 0", &["--axes", "a scalar has no axes"]),
        ("transpose d.npy 1,0", &["1,0"]),
        ("transpose d.npy --axis 0", &["--axis", "--axes"]),
    ];
    refusals(&folder, &rows);
}

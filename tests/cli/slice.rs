//! `tensorop slice`: OpenVINO Slice-8 from the command line.

use crate::common::{Example, Folder, Tensor, examples, npy, prints, refusals, tensor, words};

fn count(shape: &[usize]) -> Tensor<f32> {
    let items: Vec<f32> = (0..shape.iter().product::<usize>()).map(|i| i as f32).collect();
    tensor(shape, &items)
}

/// The twelve examples of the document; the lists are its text's, not the dims it prints beside them.
#[test]
fn examples_of_the_specification() {
    let line = count(&[10]);
    let rows: [(&str, &str, &[f32]); 9] = [
        ("1", "--start 1 --stop 8 --step 1 --axes 0", &[1., 2., 3., 4., 5., 6., 7.]),
        ("2: axes by default", "--start 1 --stop 8 --step 1", &[1., 2., 3., 4., 5., 6., 7.]),
        ("3: step 2", "--start 1 --stop 8 --step 2 --axes 0", &[1., 3., 5., 7.]),
        ("4: beyond the dim", "--start -100 --stop 100 --step 1 --axes 0", &[0., 1., 2., 3., 4., 5., 6., 7., 8., 9.]),
        ("5: backwards", "--start 9 --stop -11 --step -1 --axes 0", &[9., 8., 7., 6., 5., 4., 3., 2., 1., 0.]),
        ("6: backwards to 0", "--start 9 --stop 0 --step -1 --axes 0", &[9., 8., 7., 6., 5., 4., 3., 2., 1.]),
        ("7: backwards to -10", "--start 9 --stop -10 --step -1 --axes 0", &[9., 8., 7., 6., 5., 4., 3., 2., 1.]),
        ("8: step -2", "--start 9 --stop -11 --step -2 --axes 0", &[9., 7., 5., 3., 1.]),
        (
            "9: beyond, backwards",
            "--start 100 --stop -100 --step -1 --axes 0",
            &[9., 8., 7., 6., 5., 4., 3., 2., 1., 0.],
        ),
    ];
    let example = |name: &str, data: &Tensor<f32>, options: &str, expected: Tensor<f32>| Example {
        name: name.to_owned(),
        ..Example::of("slice", data.clone(), options, expected)
    };
    let mut all: Vec<_> = rows
        .iter()
        .map(|(name, options, expected)| example(name, &line, options, tensor(&[expected.len()], expected)))
        .collect();
    all.push(example(
        "10",
        &count(&[2, 5]),
        "--start 0,1 --stop 2,4 --step 1,2 --axes 0,1",
        tensor(&[2, 2], &[1., 3., 6., 8.]),
    ));
    let (block, first) = (count(&[20, 10, 5]), count(&[4, 10, 5]));
    all.push(example("11", &block, "--start 0,0,0 --stop 4,10,5 --step 1,1,1 --axes 0,1,2", first.clone()));
    all.push(example("12", &block, "--start 0,0 --stop 4,10 --step 1,1 --axes 0,1", first));
    examples(all);
}

/// Python's rules at their edges, on `[0, 1, 2, 3, 4]`.
#[test]
fn edges_of_one_axis() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i64>(&[5], &[0, 1, 2, 3, 4]).npy()).put("beyond.json", "[9223372036854775808]");
    let rows = [
        ("0 INT_MAX 1", "0,1,2,3,4"),
        ("INT_MIN INT_MAX 1", "0,1,2,3,4"),
        ("INT_MAX INT_MIN -1", "4,3,2,1,0"),
        ("-1 INT_MIN -1", "4,3,2,1,0"),
        // INT_MAX of 32 bits are numbers like others
        ("0 2147483647 1", "0,1,2,3,4"),
        ("4 -2147483648 -1", "4,3,2,1,0"),
        // before the first with a negative step: nothing
        ("-6 INT_MIN -1", ""),
        ("INT_MIN INT_MIN -1", ""),
        ("4 INT_MAX -1", ""),
        ("INT_MIN INT_MAX -1", ""),
        ("5 5 1", ""),
        ("3 3 1", ""),
        ("3 2 1", ""),
        ("0 5 INT_MAX", "0"),
        ("4 INT_MIN INT_MIN", "4"),
        ("INT_MAX 0 INT_MIN", "4"),
        ("-5 -1 3", "0,3"),
        ("-100 3 2", "0,2"),
        ("4 -6 -1", "4,3,2,1,0"),
        ("4 -5 -1", "4,3,2,1"),
        ("4 0 -4", "4"),
        ("4 -6 -4", "4,0"),
        ("2 100 100", "2"),
        // integers beyond int64 are clamped, in a file too
        ("1 9223372036854775808 1", "1,2,3,4"),
        ("-18446744073709551616 99999999999999999999 1", "0,1,2,3,4"),
        ("9223372036854775808 -9223372036854775809 -1", "4,3,2,1,0"),
        ("9223372036854775808 99999999999999999999 1", ""),
        ("1 5 99999999999999999999", "1"),
        ("3 INT_MIN -99999999999999999999", "3"),
        ("0 beyond.json 1", "0,1,2,3,4"),
        ("beyond.json 1 -1", "4,3,2"),
        ("2 5 beyond.json", "2"),
    ];
    let rows = rows.map(|(range, items)| {
        let [start, stop, step] = range.split(' ').collect::<Vec<_>>().try_into().expect("three numbers");
        let items: Vec<&str> = items.split(',').filter(|item| !item.is_empty()).collect();
        (
            format!("slice d.npy --start {start} --stop {stop} --step {step}"),
            format!(r#"{{"dtype": "int64", "shape": [{}], "data": [{}]}}"#, items.len(), items.join(", ")),
        )
    });
    prints(&folder, &rows.each_ref().map(|(args, expected)| (args.as_str(), expected.as_str())));
}

#[test]
fn shapes_axes_and_notation() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0, 1, 2, 3, 4, 5]).npy());
    folder.put("none.npy", tensor::<i32>(&[2, 0, 3], &[]).npy());
    folder.put("deep.npy", tensor::<u8>(&[1; 64], &[7]).npy());
    let whole = "int32 [2, 3] [[0, 1, 2], [3, 4, 5]]";
    let turned = "int32 [2, 3] [[5, 4, 3], [2, 1, 0]]";
    let empty = "int32 [2, 0, 3] [[], []]";
    let deep = format!(
        r#"{{"dtype": "uint8", "shape": [{}1], "data": {}7{}}}"#,
        "1, ".repeat(63),
        "[".repeat(64),
        "]".repeat(64)
    );
    let rows = [
        ("slice d.npy --start= --stop=", whole),
        ("slice d.npy --start= --stop= --step= --axes=", whole),
        ("slice d.npy --start [] --stop []", whole),
        ("slice d.npy --at +0:+2,:+3:+1", whole),
        ("slice d.npy --start +0,+0 --stop [+2,+3]", whole),
        ("slice d.npy --at ...", whole),
        ("slice d.npy --at :,:", whole),
        ("slice d.npy --at ::-1,::-1", turned),
        ("slice d.npy --start -1,-1 --stop INT_MIN,INT_MIN --step -1,-1", turned),
        ("slice d.npy --start -1,-1 --stop INT_MIN,INT_MIN --step -1,-1 --axes 1,0", turned),
        ("slice d.npy --start -1,-1 --stop INT_MIN,INT_MIN --step -1,-1 --axes -1,-2", turned),
        ("slice d.npy --start 1 --stop 2 --axes -1", "int32 [2, 1] [[1], [4]]"),
        ("slice d.npy --start 1 --stop 2", "int32 [1, 3] [[3, 4, 5]]"),
        ("slice d.npy --start 0,2 --stop 1,3", "int32 [1, 1] [[2]]"),
        ("slice d.npy --start 2,0 --stop 3,1 --axes 1,0", "int32 [1, 1] [[2]]"),
        ("slice d.npy --at ...,1:", "int32 [2, 2] [[1, 2], [4, 5]]"),
        ("slice d.npy --at -1:", "int32 [1, 3] [[3, 4, 5]]"),
        ("slice d.npy --at=-1:", "int32 [1, 3] [[3, 4, 5]]"),
        ("slice d.npy --at 1:1", "int32 [0, 3] []"),
        ("slice d.npy --at :,1:1", "int32 [2, 0] [[], []]"),
        ("slice none.npy --at ::-1", empty),
        ("slice none.npy --start 0,0,0 --stop 9,9,9 --step 1,-1,2", "int32 [2, 0, 2] [[], []]"),
        ("slice deep.npy --at ...,::-1", &deep),
        ("slice [] --at :", "float64 [0] []"),
    ];
    prints(&folder, &rows);
}

#[test]
fn refused() {
    let folder = Folder::new();
    folder.put("d.npy", tensor::<i32>(&[2, 3], &[0; 6]).npy());
    folder.put("none.npy", tensor::<i32>(&[2, 0], &[]).npy());
    folder.put("zero.npy", tensor::<i32>(&[], &[1]).npy());
    folder.put("half.npy", tensor::<f32>(&[1], &[0.5]).npy());
    folder.put("two.npy", tensor::<i64>(&[1, 1], &[0]).npy());
    folder.put("beyond.json", "[9223372036854775808]");
    let rows: [(&str, &[&str]); 35] = [
        ("slice d.npy --start 0 --stop 1 --step 0", &["--step", "0", "position 0"]),
        ("slice d.npy --start 0,0 --stop 1,1 --step 1,0", &["--step", "0", "position 1"]),
        ("slice none.npy --start 0 --stop 1 --step 0 --axes 1", &["--step", "0"]),
        ("slice d.npy --at ::0", &["--at", "0"]),
        ("slice d.npy --start 0,0 --stop 1", &["--stop", "1", "2"]),
        ("slice d.npy --start 0 --stop 1,1", &["--stop", "2", "1"]),
        ("slice d.npy --start 0 --stop 1 --step 1,1", &["--step", "2", "1"]),
        ("slice d.npy --start 0 --stop 1 --axes 0,1", &["--axes", "2", "1"]),
        ("slice d.npy --start 0 --stop 1 --axes=", &["--axes", "0", "1"]),
        ("slice d.npy --start= --stop= --step 1", &["--step", "1", "0"]),
        ("slice d.npy --start 0,0,0 --stop 1,1,1", &["--start", "3", "[2, 3]"]),
        ("slice d.npy --at :,:,:", &["--at", "3", "[2, 3]"]),
        ("slice d.npy --start 0 --stop 1 --axes 2", &["--axes", "2", "position 0", "[-2, 1]"]),
        ("slice d.npy --start 0 --stop 1 --axes -3", &["--axes", "-3", "position 0", "[-2, 1]"]),
        ("slice d.npy --start 0 --stop 1 --axes INT_MIN", &["--axes", "[-2, 1]"]),
        ("slice d.npy --start 0 --stop 1 --axes 9223372036854775808", &["--axes", "9223372036854775808", "int64"]),
        (
            "slice d.npy --start 0 --stop 1 --axes beyond.json",
            &["--axes", "beyond.json", "9223372036854775808", "int64"],
        ),
        ("slice d.npy --start 0,0 --stop 1,1 --axes 1,1", &["--axes", "twice", "1"]),
        ("slice d.npy --start 0,0 --stop 1,1 --axes 1,-1", &["--axes", "twice", "-1"]),
        ("slice zero.npy --start= --stop=", &["DATA", "zero.npy", "rank 0"]),
        ("slice zero.npy --at :", &["DATA", "zero.npy", "rank 0"]),
        ("slice 5 --at ::-1", &["DATA", "rank 0"]),
        ("slice d.npy --at ''", &["--at", "no slices: `:` takes every axis whole"]),
        ("slice d.npy --at 3", &["--at", "3", "use 3:4"]),
        ("slice d.npy --at :,-1", &["--at", "-1", "use -1:"]),
        ("slice d.npy --at 0:1:2:3", &["--at", "0:1:2:3"]),
        ("slice d.npy --at a:", &["--at", "'a'"]),
        ("slice d.npy --at ...,...", &["--at", "..."]),
        ("slice d.npy --start half.npy --stop 1", &["--start", "half.npy", "float32", "integers"]),
        ("slice d.npy --start 0 --stop two.npy", &["--stop", "two.npy", "[1, 1]", "1 axis"]),
        ("slice d.npy --start 0 --stop zero.npy", &["--stop", "zero.npy", "[]", "1 axis"]),
        ("slice d.npy --start x,y --stop 1", &["--start", "x,y"]),
        ("slice d.npy --start 0", &["--stop"]),
        ("slice d.npy --stop 0", &["--start"]),
        ("slice d.npy --at : --step 1", &["--at", "--step"]),
    ];
    refusals(&folder, &rows);
}

/// Axes by the names of dimensions, of one tensor and of all of a group.
#[test]
fn axes_by_name() {
    let folder = Folder::new();
    let items: Vec<u8> = (0..24).collect();
    folder.put("a.npy", npy("|u1", &[2, 3, 4], &items));
    let run = |args: &str| folder.run(words(args));
    run("convert a.npy -o t.zarr --dims time,lat,lon").printed().unwrap();
    for (names, places) in [("time=1:,lon=::2", "1:,:,::2"), ("lon=:1", "...,:1"), ("lat=::-1,time=:1", ":1,::-1")] {
        let expected = run(&format!("slice a.npy --at {places} --to json")).printed().unwrap();
        assert_eq!(run(&format!("slice t.zarr --at {names} --to json")).printed().unwrap(), expected, "{names}");
    }
    assert!(run("show t.zarr --at time=:1,lat=:1").printed().unwrap().contains("[[[0 1 2 3]]]"));
    run("slice-scatter t.zarr --fill 9 --at lon=1: -o filled.npy").printed().unwrap();
    run("slice-scatter a.npy --fill 9 --at ...,1: -o expected.npy").printed().unwrap();
    assert_eq!(folder.get("filled.npy"), folder.get("expected.npy"));
    // a group
    run("convert a=t.zarr b=a.npy -o set.zarr").printed().unwrap();
    run("slice set.zarr --at time=1:,lat=:1 -o part.zarr").printed().unwrap();
    for (name, at) in [("a", "1:,:1"), ("b", "...")] {
        let expected = run(&format!("slice a.npy --at {at} --to json")).printed().unwrap();
        assert_eq!(run(&format!("slice part.zarr:{name} --at ... --to json")).printed().unwrap(), expected, "{name}");
    }
    run("slice set.zarr --at time=1: -o part.npz").printed().unwrap();
    let rows = [
        (
            "slice a.npy --at time=1: -o o.npy",
            "--at: DATA a.npy: its dimensions have no names: slice by position, as in 2:4, ::2",
        ),
        (
            "slice t.zarr --at lat=1:,x=2: -o o.npy",
            "--at: DATA t.zarr: no dimension is called x: there are time, lat, lon",
        ),
        (
            "slice set.zarr --at x=2: -o o.npz",
            "--at: DATA set.zarr: no dimension is called x: there are time, lat, lon",
        ),
    ];
    for (args, expected) in rows {
        assert_eq!(run(args).stderr, format!("error: {expected}\n"), "{args}");
    }
    // a folder, whose stores have names and whose other files have none; files of containers have none
    std::fs::create_dir(folder.path("all")).unwrap();
    folder.put("all/b.npy", folder.get("a.npy"));
    run("convert t.zarr -o all/a.zarr").printed().unwrap();
    run("slice all --at time=1:,lat=:1 -o from_folder.zarr").printed().unwrap();
    assert_eq!(folder.tree("from_folder.zarr"), folder.tree("part.zarr"));
    run("convert a=a.npy b=a.npy -o both.npz").printed().unwrap();
    run("convert both.npz -o both.safetensors").printed().unwrap();
    std::fs::create_dir(folder.path("plain")).unwrap();
    folder.put("plain/a.npy", folder.get("a.npy")).put("plain/b.npy", folder.get("a.npy"));
    for name in ["both.npz", "both.safetensors", "plain"] {
        let expected =
            format!("error: --at: DATA {name}: none of its tensors has dimension names: slice one by position\n");
        assert_eq!(run(&format!("slice {name} --at time=1: -o o.npz")).stderr, expected);
    }
    // some of the tensors, one of which cannot be read
    run("convert a=t.zarr b=a.npy bad=t.zarr -o bad.zarr").printed().unwrap();
    let metadata = String::from_utf8(folder.get("bad.zarr/bad/zarr.json")).unwrap();
    folder.put("bad.zarr/bad/zarr.json", metadata.replace("uint8", "string"));
    let why = "DATA bad.zarr:bad: zarr.json: data_type \"string\" is not known; --exclude bad leaves it out";
    assert_eq!(run("slice bad.zarr --at time=1: -o o.npz").stderr, format!("error: {why}\n"));
    let why = why.replace("DATA", "IN");
    assert_eq!(run("convert bad.zarr -o o.npz").stderr, format!("error: {why}\n"));
    for left in ["--exclude bad", "--only a --only b"] {
        run(&format!("slice bad.zarr --at time=1:,lat=:1 -o left.zarr {left}")).printed().unwrap();
        assert_eq!(folder.tree("left.zarr"), folder.tree("part.zarr"), "{left}");
    }
    let one = "--only and --exclude choose among the tensors of a whole container, which is sliced by the names";
    assert!(
        run("slice bad.zarr:a --at time=1: --only a").stderr.starts_with(&format!("error: DATA bad.zarr:a: {one}"))
    );
    let none = "error: --only c: matches no tensor of a whole container: there are \"a\", \"b\", \"bad\"\n";
    assert_eq!(run("slice bad.zarr --at time=1: --only c -o o.npz").stderr, none);
    let left = "error: DATA bad.zarr: --only and --exclude leave no tensor\n";
    assert_eq!(run("slice bad.zarr --at time=1: --only a --exclude a -o o.npz").stderr, left);
    let usage = |args: &str| run(args).stderr;
    assert!(usage("slice t.zarr --at time=1:,2:").contains("'2:' has no name: slices by name and by position do not"));
    assert!(usage("slice t.zarr --at time=1:,time=2:").contains("time is named twice"));
    assert!(usage("slice t.zarr --at time=1").contains("time: an integer alone would drop its axis: for 1 use 1:2"));
    assert!(!folder.path("o.npy").exists() && !folder.path("o.npz").exists());
}

//! Tensors without axes: where nothing is sliced, the commands take the one item, in every format and in place.

use crate::common::{Folder, each, npy, npz, words};

fn single(value: f32) -> Vec<u8> {
    npy("<f4", &[], &value.to_le_bytes())
}

fn folder() -> Folder {
    let folder = Folder::new();
    folder.put("five.npy", single(5.0)).put("nan.npy", single(f32::NAN));
    folder.put("s.npz", npz(&[("x", single(5.0)), ("y", single(6.0))]));
    folder.put("row.npy", npy("<f4", &[2], &[0; 8]));
    folder
}

#[test]
fn the_one_item_is_taken() {
    let folder = folder();
    let rows = [
        ("slice five.npy --at ...", "5.0"),
        ("slice 5 --at ... --to json", r#"{"dtype": "int64", "shape": [], "data": 5}"#),
        ("slice s.npz:y --at ...", "6.0"),
        ("show five.npy --at ...", "five.npy: float32 [] at ... -> []\n5.0"),
        ("slice-scatter five.npy 7 --at ...", "7.0"),
        ("slice-scatter five.npy -.5 --at ...", "-0.5"),
        ("slice-scatter five.npy --fill -.5", "-0.5"),
        ("concat .5 -.5 +1 -2. --stack", "[ 0.5 -0.5  1.  -2. ]"),
        ("slice-scatter five.npy --fill 7 --at ...", "7.0"),
        ("slice-scatter five.npy --fill 7", "7.0"),
        ("slice-scatter five.npy --fill 7 --threads 3 --to json", r#"{"dtype": "float32", "shape": [], "data": 7.0}"#),
    ];
    each(
        &rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let printed = folder.run(words(args)).printed()?;
            if printed.trim_end() == *expected { Ok(()) } else { Err(printed) }
        },
    );
    folder.refuses(words("concat 1_000 2 --stack"), &["DATA 1_000: ", "; write 1000"]).expect("refused");
    // what is replaced is said
    for (args, item, line) in [
        ("five.npy --fill 7 --where >4", "7.0\n", "1 item replaced\n"),
        ("five.npy --fill 7 --where <4", "5.0\n", "0 items replaced\n"),
        ("nan.npy --fill 7 --where nan --at ...", "7.0\n", "1 item replaced\n"),
    ] {
        let run = folder.run(words(&format!("slice-scatter {args}")));
        assert_eq!((&*run.stdout, &*run.stderr), (item.as_bytes(), line), "{args}");
    }
}

#[test]
fn in_place_and_to_files() {
    let folder = folder();
    for (args, expected) in [
        ("five.npy --fill 8 --in-place", 8.0),
        ("five.npy --fill 9 --where ==8 --in-place", 9.0),
        ("five.npy --fill 1 --where ==8 --in-place", 9.0),
        ("five.npy 2 --at ... --in-place", 2.0),
        ("five.npy --fill 3 -o five.npy", 3.0),
    ] {
        let run = folder.run(words(&format!("slice-scatter {args}")));
        assert_eq!(run.status, Some(0), "{args}: {run:?}");
        assert_eq!(folder.get("five.npy"), single(expected), "{args}");
    }
    folder.run(words("slice five.npy --at ... -o copy.npy")).printed().expect("copied");
    assert_eq!(folder.get("copy.npy"), single(3.0));
    if cfg!(feature = "zarr") {
        folder.run(words("convert five.npy -o s.zarr")).printed().expect("a store");
        folder.run(words("slice-scatter s.zarr --fill 4 --in-place")).printed().expect("changed");
        folder.run(words("slice-scatter s.zarr --fill 5 --part 1/1 -o p.npy")).printed().expect("a part");
        folder.run(words("slice-scatter s.zarr --fill 5 --finish 1 -o p.npy")).printed().expect("finished");
        assert_eq!(folder.get("p.npy"), single(5.0));
        folder.run(words("slice s.zarr --at ... -o out.npy")).printed().expect("copied");
        assert_eq!(folder.get("out.npy"), single(4.0));
    }
}

#[test]
fn refused() {
    let folder = folder();
    let before = folder.content();
    let rank = "rank 0, expected at least 1 axis";
    let rows: &[(&str, &[&str])] = &[
        ("slice five.npy --at :", &["DATA five.npy", rank]),
        ("slice five.npy --start= --stop=", &["DATA five.npy", rank]),
        ("slice-scatter five.npy --fill 7 --start= --stop=", &["DATA five.npy", rank]),
        ("slice-scatter five.npy 7 --at 0:1", &["DATA five.npy", rank]),
        (
            "slice-scatter five.npy [7] --at ... -o o.npy",
            &["UPDATES [7]: shape [1], expected [] (data [] with no slice)"],
        ),
        // a tensor with axes needs a slice, or a condition
        ("slice-scatter row.npy --fill 7 -o o.npy", &["DATA row.npy: shape [2]", "--at ... puts it in every place"]),
        ("slice-scatter row.npy --fill 7 --in-place", &["DATA row.npy: shape [2]", "--at ... puts it in every place"]),
        ("slice-scatter five.npy 7", &["required", "--at"]),
        ("slice-scatter five.npy", &["required", "UPDATES"]),
        ("slice five.npy", &["--at"]),
        ("scatter-update five.npy 0 --fill 1 --axis 0", &["DATA five.npy"]),
    ];
    for (args, fragments) in rows {
        folder.refuses(words(args), fragments).unwrap_or_else(|why| panic!("{args}: {why}"));
    }
    assert_eq!(folder.content(), before);
}

//! Changes in place of a tensor that is named by its folder, and of all tensors that a pattern matches.

#![cfg(not(windows))]

use std::fs;

use crate::common::{Folder, Run, each, member, npz, safetensors, tensor, words};

fn text(run: &Run) -> String {
    format!("{}{}", String::from_utf8_lossy(&run.stdout), run.stderr)
}

/// A file of tensors of two items each.
fn file(tensors: &[(&'static str, [i32; 2])]) -> Vec<u8> {
    let bytes = |items: [i32; 2]| items.map(i32::to_le_bytes).concat();
    let members: Vec<_> = tensors.iter().map(|(name, items)| member(name, "int32", &[2], bytes(*items))).collect();
    safetensors(&members)
}

fn npy(items: [i32; 2]) -> Vec<u8> {
    tensor::<i32>(&[2], &items).npy()
}

/// A model of two shards, a folder of single tensors and a container, and one with a single container.
fn folders() -> Folder {
    let folder = Folder::new();
    for name in ["model", "dump", "alone"] {
        fs::create_dir(folder.path(name)).expect("a folder");
    }
    folder.put("model/1.safetensors", file(&[("w.0", [1, 2]), ("b.0", [3, 4])]));
    folder.put("model/2.safetensors", file(&[("w.1", [5, 6])]));
    let map = r#"{"weight_map": {"w.0": "1.safetensors", "b.0": "1.safetensors", "w.1": "2.safetensors"}}"#;
    folder.put("model/m.safetensors.index.json", map);
    folder
        .put("dump/x.npy", npy([1, 2]))
        .put("dump/y.npy", npy([3, 4]))
        .put("dump/c.safetensors", file(&[("z", [5, 6])]));
    folder.put("alone/m.safetensors", file(&[("w", [1, 2])]));
    folder
}

/// Runs a command that changes files, and compares all files with those before, in which some are others.
#[track_caller]
fn changes(args: &str, printed: &str, changed: &[(&str, Vec<u8>)]) {
    let folder = folders();
    let trees = |folder: &Folder| ["model", "dump", "alone"].map(|name| folder.tree(name));
    let mut expected = trees(&folder);
    for (path, bytes) in changed {
        let (name, file) = path.split_once('/').expect("a file in a folder");
        let at = ["model", "dump", "alone"].iter().position(|other| *other == name).expect("one of them");
        expected[at].insert(file.to_owned(), bytes.clone());
    }
    let run = folder.run(words(args));
    assert_eq!((run.status, text(&run).as_str()), (Some(0), printed), "{args}");
    assert_eq!(trees(&folder), expected, "{args}");
}

#[test]
fn a_tensor_of_a_folder() {
    changes("slice-scatter model:w.1 --fill 9 --at :1 -i", "", &[("model/2.safetensors", file(&[("w.1", [9, 6])]))]);
    changes("slice-scatter dump:x [9] --at :1 -i", "", &[("dump/x.npy", npy([9, 2]))]);
    changes("slice-scatter dump:c:z --fill 9 --at :1 -i", "", &[("dump/c.safetensors", file(&[("z", [9, 6])]))]);
    changes("scatter-update alone:w [1] [9] --axis 0 -i", "", &[("alone/m.safetensors", file(&[("w", [1, 9])]))]);
    changes("scatter-nd dump:y [[0]] [9] -i", "", &[("dump/y.npy", npy([9, 4]))]);
    changes(
        "scatter-elements model:b.0 [0] [9] -i",
        "",
        &[("model/1.safetensors", file(&[("w.0", [1, 2]), ("b.0", [9, 4])]))],
    );
    changes("slice-scatter dump:x --fill 9 --where ==2 -i", "1 item replaced\n", &[("dump/x.npy", npy([1, 9]))]);
}

#[test]
fn all_that_a_pattern_matches() {
    let both = |first: [i32; 2], second: [i32; 2]| {
        let first = file(&[("w.0", first), ("b.0", [3, 4])]);
        [("model/1.safetensors", first), ("model/2.safetensors", file(&[("w.1", second)]))]
    };
    for data in ["model:w.*", "model/m.safetensors.index.json:w.{0..1}"] {
        let args = format!("slice-scatter {data} --fill 9 --at :1 -i");
        changes(&args, "2 tensors changed\n", &both([9, 2], [9, 6]));
    }
    changes("scatter-update model:w.* [1] --fill 9 --axis 0 -i", "2 tensors changed\n", &both([1, 9], [5, 9]));
    changes("scatter-nd model:w.* [[1]] --fill 9 --reduction add -i", "2 tensors changed\n", &both([1, 11], [5, 15]));
    changes("scatter-elements model:w.* [1] --fill 9 -i", "2 tensors changed\n", &both([1, 9], [5, 9]));
    changes("slice-scatter model:w.* --fill 9 --where >1 -i", "3 items replaced in 2 tensors\n", &both([1, 9], [9, 9]));
    changes("slice-scatter model:w.* --fill 9 --where >1 -i -q", "", &both([1, 9], [9, 9]));
    changes(
        "slice-scatter model/1.safetensors:?.0 --fill 9 --at :1 -i",
        "2 tensors changed\n",
        &[("model/1.safetensors", file(&[("w.0", [9, 2]), ("b.0", [9, 4])]))],
    );
    changes(
        "slice-scatter model:b* --fill 9 --at :1 -i",
        "1 tensor changed\n",
        &[("model/1.safetensors", file(&[("w.0", [1, 2]), ("b.0", [9, 4])]))],
    );
    changes(
        "slice-scatter dump:* --fill 9 --at :1 -i",
        "3 tensors changed\n",
        &[("dump/x.npy", npy([9, 2])), ("dump/y.npy", npy([9, 4])), ("dump/c.safetensors", file(&[("z", [9, 6])]))],
    );
}

#[test]
fn all_checks_come_first() {
    let folder = folders();
    fs::create_dir(folder.path("mixed")).expect("a folder");
    // the last in every order cannot be changed
    folder.put("mixed/a.npy", npy([1, 2])).put("mixed/b.npy", tensor::<i32>(&[2, 1], &[1, 2]).npy());
    folder.put("mixed/z.npy", tensor::<u8>(&[2], &[1, 2]).npy()).put("z.npz", npz(&[("a", npy([1, 2]))]));
    let trees = |folder: &Folder| ["model", "dump", "mixed"].map(|name| folder.tree(name));
    let before = trees(&folder);
    let rows: &[(&str, &[&str])] = &[
        ("slice-scatter mixed:{a,b} --fill 9 --at :1,:1 -i", &["DATA mixed:a: --at: 2 entries for data of rank 1"]),
        ("slice-scatter mixed:{a,z} --fill 256 --at :1 -i", &["DATA mixed:z: ", "256"]),
        ("slice-scatter mixed:{a,z} --fill -1 --where ==1 -i", &["DATA mixed:z: ", "-1"]),
        ("scatter-update mixed:{a,b} [1] --fill 9 --axis 1 -i", &["DATA mixed:a"]),
        ("scatter-nd mixed:* [[1,0]] --fill 9 -i", &["mixed:"]),
        ("slice-scatter model:nope* --fill 9 --at :1 -i", &["DATA model:nope*: has no tensor that \"nope*\" matches"]),
        // several tensors are one value's, and only in place
        ("slice-scatter model:w.* [9] --at :1 -i", &["has no tensor \"w.*\""]),
        ("slice-scatter model:w.* --fill 9 --at :1 -o o.npy", &["has no tensor \"w.*\""]),
        (
            "slice-scatter model --fill 9 --at :1 -i",
            &["DATA model: --in-place changes one tensor: name it after a colon"],
        ),
        ("slice-scatter model:nope --fill 9 --at :1 -i", &["DATA model:nope: has no tensor \"nope\""]),
        ("slice-scatter model:w.* --fill 9 --at :1 -i --part 1/2", &["--part", "DATA model:w.*"]),
        (
            "slice-scatter z.npz:* --fill 9 --at :1 -i",
            &["DATA z.npz:a: --in-place changes", "tensorop convert z.npz a=NEW.npy -o z.npz"],
        ),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, fragments)| {
            folder.refuses(words(args), fragments)?;
            if trees(&folder) == before { Ok(()) } else { Err("something was changed".to_owned()) }
        },
    );
    let run = folder.script("echo '[0]' | \"$T\" scatter-update 'model:w.*' - --fill 9 --axis 0 -i");
    assert!(run.status == Some(2) && run.stderr.contains("standard input is read once"), "{run:?}");
    let run = folder.run(words("slice-scatter model:w.* --fill 9 --at :1 -i --dry-run"));
    let reports = text(&run).matches("changed in place, int32 [2]").count();
    assert_eq!((run.status, reports), (Some(0), 2), "{}", text(&run));
    assert_eq!(trees(&folder), before);
}

#[test]
fn each_of_several_is_explained() {
    let folder = folders();
    let trees = |folder: &Folder| ["model", "dump"].map(|name| folder.tree(name));
    let before = trees(&folder);
    let explained = |args: &str| folder.run(words(&format!("{args} -i --explain"))).printed();
    // the names, the bytes of a tensor that are read in all, and what is replaced
    type Row = (&'static str, &'static [&'static str], usize, Option<usize>);
    let rows: [Row; 5] = [
        ("slice-scatter model:w.* --fill 9 --at :1", &["w.0", "w.1"], 8, None),
        ("slice-scatter model/1.safetensors:* --fill 9 --where >0", &["b.0", "w.0"], 16, Some(2)),
        ("scatter-update dump:* [1] --fill 9 --axis 0", &["c:z", "x", "y"], 8, None),
        ("scatter-nd model:b* [[1]] --fill 9", &["b.0"], 8, None),
        ("scatter-elements model:w.* [1] --fill 9", &["w.0", "w.1"], 8, None),
    ];
    let check = |(args, names, least, replaced): &Row| {
        let said = explained(args)?;
        // each plan follows the report of its tensor
        let reports: Vec<_> = said.split("changed in place, int32 [2]\n").skip(1).collect();
        let of_its_name = |(report, name): (&&str, &&str)| report.starts_with(&format!("  plan {name:?}:\n"));
        if reports.len() != names.len() || !reports.iter().zip(*names).all(of_its_name) {
            return Err(said);
        }
        let lines = said.matches("items would be replaced").count();
        let plans: serde_json::Value =
            serde_json::from_str(&explained(&format!("{args} --json"))?).map_err(|error| error.to_string())?;
        let plans = plans.as_array().ok_or("no array")?;
        let found: Vec<_> = plans.iter().map(|plan| plan["tensor"].as_str().unwrap_or_default()).collect();
        let is_priced = plans.iter().all(|plan| {
            plan["route"] == "in place"
                && plan["cost"]["writes"] == 1
                && plan["cost"]["bytes_read"].as_u64().is_some_and(|bytes| bytes >= *least as u64)
        });
        if found == *names && is_priced && lines == replaced.map_or(0, |_| names.len()) {
            Ok(())
        } else {
            Err(format!("{plans:?}\n{said}"))
        }
    };
    each(rows, |(args, ..)| (*args).to_owned(), check);
    assert_eq!(trees(&folder), before);
}

#[test]
fn what_an_edit_reads_is_read_before_the_first_change() {
    let folder = Folder::new();
    let items = |items: [i32; 4]| tensor::<i32>(&[4], &items).npy();
    let names = ["l.1", "l.2", "l.10"];
    folder.put("m.npz", npz(&names.map(|name| (name, items([1, 2, 3, 4])))));
    let run = folder.run(words("convert m.npz -o m.zarr --chunks 2"));
    assert_eq!(run.status, Some(0), "{run:?}");
    let run = folder.run(words("slice-scatter m.zarr:* --fill 9 --at :1 -i --dry-run"));
    let printed = text(&run);
    let at = names.map(|name| printed.find(&format!("{name} changed in place")).expect("a line of each tensor"));
    assert!(at.is_sorted(), "{printed}");
    // the last of them
    folder.put("m.zarr/l.10/c/0", "damaged");
    let before = folder.tree("m.zarr");
    each(
        [
            "slice-scatter m.zarr:* --fill 9 --at :1 -i",
            "slice-scatter m.zarr:* --fill 9 --where >2 -i",
            "scatter-update m.zarr:* [1] --fill 9 --axis 0 -i",
        ],
        |args| (*args).to_owned(),
        |args| {
            folder.refuses(words(args), &["DATA m.zarr:l.10", "chunk"])?;
            if folder.tree("m.zarr") == before { Ok(()) } else { Err("something was changed".to_owned()) }
        },
    );
    let run = folder.run(words("slice-scatter m.zarr:* --fill 9 --at 2:3 -i"));
    assert_eq!((run.status, text(&run).as_str()), (Some(0), "3 tensors changed\n"));
}

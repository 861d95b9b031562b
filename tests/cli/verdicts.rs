//! `tensorop diff` of many tensors of which some cannot be read, and of sides without any: no verdict says more than was
//! compared.

use std::fs;

use crate::common::{
    Folder, Run, deflated, each, header, member, npy_with_header, npz, safetensors, tensor, words, zip,
};

/// What a run printed and said.
fn text(run: &Run) -> String {
    format!("{}{}", String::from_utf8_lossy(&run.stdout), run.stderr)
}

/// A `.npy` of Python objects, which is not read.
fn objects() -> Vec<u8> {
    npy_with_header(&header("|O", false, &[2]), b"pickled")
}

/// A deflated member whose checksum is wrong, which shows only when its items are read.
fn broken(name: &str, items: &[f32]) -> crate::common::Zipped {
    let mut member = deflated(&format!("{name}.npy"), &tensor::<f32>(&[items.len()], items).npy());
    member.crc ^= 1;
    member
}

#[test]
fn what_cannot_be_read_stops_nothing() {
    let folder = Folder::new();
    let (w, v) = (tensor::<f32>(&[2], &[1., 2.]).npy(), tensor::<f32>(&[2], &[1., 5.]).npy());
    let good = |name: &str, npy: &[u8]| deflated(&format!("{name}.npy"), npy);
    folder.put("e.npz", npz(&[("a", w.clone()), ("objects", objects()), ("z", w.clone())]));
    folder.put("a.npz", npz(&[("a", w.clone()), ("objects", w.clone()), ("z", v.clone())]));
    folder.put("same.npz", npz(&[("a", w.clone()), ("objects", w.clone()), ("z", w.clone())]));
    folder.put("crc.npz", zip(&[good("a", &w), broken("objects", &[1., 2.]), good("z", &w)]));
    folder.put("more.npz", npz(&[("a", w.clone()), ("objects", w.clone()), ("x", objects()), ("z", w.clone())]));
    for (name, tensors) in [("ef", ["a", "z"]), ("af", ["a", "z"])] {
        fs::create_dir_all(folder.path(format!("{name}/sub"))).unwrap();
        for tensor in tensors {
            folder.put(format!("{name}/sub/{tensor}.npy"), &w);
        }
        folder.put(format!("{name}/m.npz"), npz(&[("k", w.clone())])).put(format!("{name}/t.json"), "[1, 2]");
    }
    folder.put("af/sub/z.npy", &w[..100]).put("af/m.npz", b"PK\x03\x04, and no more").put("af/t.json", "[1, 2");
    let rows: &[(&str, &str, &[&str])] = &[
        (
            "e.npz a.npz",
            "different: 1 same, 0 within, 1 different, 0 missing, 0 extra, 1 unreadable\n",
            &[
                "\n  unreadable ",
                "objects: EXPECTED e.npz:objects: ",
                // the table has the reason, which is not told twice
                "error: 1 of 3 tensors cannot be read\n",
            ],
        ),
        // but told where the table does not have its line
        (
            "e.npz a.npz --limit 1",
            "different: 1 same, ",
            &["error: 1 of 3 tensors cannot be read: EXPECTED e.npz:objects: "],
        ),
        (
            "e.npz a.npz -q",
            "different: 1 same, ",
            &["\nerror: 1 of 3 tensors cannot be read: EXPECTED e.npz:objects: "],
        ),
        (
            "same.npz e.npz",
            "unreadable: 2 same, ",
            &["objects: ACTUAL e.npz:objects: ", "error: 1 of 3 tensors cannot be read\n"],
        ),
        ("same.npz crc.npz", "unreadable: 2 same, ", &["ACTUAL crc.npz:objects: ", "CRC-32"]),
        (
            "same.npz more.npz",
            "unreadable: 3 same, ",
            &["x: ACTUAL more.npz:x: ", "error: 1 of 4 tensors cannot be read\n"],
        ),
        (
            "more.npz e.npz --only x --only objects -q",
            "unreadable: 0 same, ",
            &["error: 2 of 2 tensors cannot be read, the first: "],
        ),
        (
            "e.npz a.npz --json",
            "{\"equal\": false, \"counts\": {\"same\": 1, \"within\": 0, \"different\": 1, \"missing\": 0, \"extra\": 0, \"unreadable\": 1}, ",
            &[
                "{\"name\": \"objects\", \"verdict\": \"unreadable\", \"error\": \"EXPECTED e.npz:objects: ",
                ", \"equal\": false, \"reason\": null, ",
            ],
        ),
        ("same.npz e.npz --json", "{\"equal\": false, ", &["\"unreadable\": 1}", "\nerror: 1 of 3 "]),
        (
            "ef af",
            "unreadable: 1 same, ",
            &["sub/z: ACTUAL af/sub/z.npy: ", "m:k: ACTUAL af/m.npz: ", "t: ACTUAL af/t.json: "],
        ),
    ];
    each(
        rows,
        |(args, ..)| (*args).to_owned(),
        |(args, first, fragments)| {
            let run = folder.run(words(&format!("diff {args}")));
            let lacks = fragments.iter().find(|fragment| !text(&run).contains(**fragment));
            let is_right = run.status == Some(2) && text(&run).starts_with(first) && run.stderr.lines().count() == 1;
            if is_right && lacks.is_none() { Ok(()) } else { Err(format!("{run:?} lacks {lacks:?}")) }
        },
    );
    // what is left out cannot be unreadable
    folder.run(words("diff same.npz e.npz --exclude objects")).printed().unwrap();
    // what was read is accepted, and the status still says that something was not
    let run = folder.run(words("diff a.npz crc.npz --accept"));
    assert!(run.status == Some(2) && text(&run).contains("\nwrote a.npz: 1 of 3 tensors\n"), "{run:?}");
    folder.run(words("diff a.npz same.npz")).printed().unwrap();
}

#[test]
fn nothing_compared_is_not_equal() {
    let folder = Folder::new();
    ["none", "also", "full", "other"].iter().for_each(|name| fs::create_dir(folder.path(name)).unwrap());
    folder.put("none/a.md", b"x").put("also/.hidden.npy", b"x").put("full/w.npy", tensor::<u8>(&[1], &[1]).npy());
    folder.put("other/config.json", b"{}").put("other/a.txt", b"x");
    folder
        .put("no.npz", npz(&[]))
        .put("no.safetensors", safetensors(&[]))
        .put("w.npz", npz(&[("w", folder.get("full/w.npy"))]));
    let none = |sides: &str| {
        let (expected, actual) = sides.split_once(' ').expect("two sides");
        format!("EXPECTED {expected} and ACTUAL {actual}: there is no tensor in either")
    };
    for sides in ["none also", "none none", "none other", "no.npz no.npz", "no.npz no.safetensors", "other no.npz"] {
        for more in ["", " -q", " --json", " --accept"] {
            folder.refuses(words(&format!("diff {sides}{more}")), &[&none(sides)]).unwrap();
        }
    }
    for (args, fragment) in [
        ("full full --exclude w", "EXPECTED full and ACTUAL full: --only and --exclude leave no tensor"),
        ("w.npz w.npz --exclude *", "--exclude: leaves no tensor to compare"),
        ("none also --only w", "--only w: matches no tensor"),
        ("other also", "there is no tensor in either; 2 files left alone, such as other/a.txt"),
        ("also none", "there is no tensor in either; 1 file left alone, such as none/a.md"),
    ] {
        folder.refuses(words(&format!("diff {args}")), &[fragment]).unwrap();
    }
    for (args, counts) in [
        ("full none", "different: 0 same, 0 within, 0 different, 1 missing, 0 extra\n"),
        ("none full", "different: 0 same, 0 within, 0 different, 0 missing, 1 extra\n"),
        ("no.npz full", "different: 0 same, 0 within, 0 different, 0 missing, 1 extra\n"),
    ] {
        let run = folder.run(words(&format!("diff {args}")));
        assert!(run.status == Some(1) && text(&run).starts_with(counts), "{args}: {run:?}");
    }
}

/// Files that hold no tensors are counted, hidden ones are not, and nothing is opened that is left out.
#[test]
fn what_is_not_looked_into() {
    let folder = Folder::new();
    let w = tensor::<f32>(&[2], &[1., 2.]).npy();
    for name in ["e", "a"] {
        fs::create_dir_all(folder.path(format!("{name}/sub"))).unwrap();
        folder.put(format!("{name}/sub/w.npy"), &w).put(format!("{name}/m.npz"), npz(&[("k", w.clone())]));
        folder.put(format!("{name}/sub/config.json"), b"{}").put(format!("{name}/.hidden"), b"x");
    }
    folder.put("e/notes.md", b"x").put("a/m.npz", b"PK\x03\x04, and no more");
    fs::create_dir(folder.path("none")).unwrap();
    folder.put("none/README.md", b"x");
    let rows: &[(&str, i32, &str)] = &[
        ("e e", 0, "equal: 2 same, 0 within, 0 different, 0 missing, 0 extra\n  4 files left alone (-v names them)\n"),
        ("a/sub e/sub -q", 0, "equal: 1 same, 0 within, 0 different, 0 missing, 0 extra\n"),
        (
            "e/sub a/sub -v",
            0,
            "equal: 1 same, 0 within, 0 different, 0 missing, 0 extra\n  left alone: e/sub/config.json\n  left alone: a/sub/config.json\n",
        ),
        ("e a --only sub/*", 0, "equal: 1 same, 0 within, 0 different, 0 missing, 0 extra\n  3 files left alone"),
        ("e a --exclude m:*", 0, "equal: 1 same, "),
        ("e a --exclude m*", 0, "equal: 1 same, "),
        ("e a --rename sub/w=sub/w --exclude m:*", 0, "equal: 1 same, "),
        ("e a --only m:k", 2, "unreadable: 0 same, 0 within, 0 different, 0 missing, 0 extra, 1 unreadable\n"),
    ];
    each(
        rows,
        |(args, ..)| (*args).to_owned(),
        |(args, status, printed)| {
            let run = folder.run(words(&format!("diff {args}")));
            let is_right = run.status == Some(*status) && text(&run).starts_with(printed);
            if is_right { Ok(()) } else { Err(text(&run)) }
        },
    );
    let run = folder.run(words("diff e/sub a/sub --json")).printed().unwrap();
    assert!(
        run.ends_with(
            "], \"left_alone\": [\"e/sub/config.json\", \"a/sub/config.json\"], \"metadata\": [], \"content\": [], \"unlisted\": []}\n"
        ),
        "{run}"
    );
    folder.refuses(words("diff e a -q -v"), &["-v"]).unwrap();
    // a pattern in a folder without tensors
    folder
        .refuses(words("diff none:float32[2] none:float32[2]"), &["EXPECTED none", "none:float32[2]: holds no tensors"])
        .unwrap();
    // a shard of which nothing is wanted may be missing
    let index = |y: &str| format!(r#"{{"weight_map": {{"x": "1.safetensors", "y": "{y}"}}}}"#);
    let shard = safetensors(&[member("x", "float32", &[1], vec![0; 4]), member("y", "float32", &[1], vec![0; 4])]);
    folder.put("1.safetensors", shard);
    folder.put("good.safetensors.index.json", index("1.safetensors"));
    folder.put("bad.safetensors.index.json", index("2.safetensors"));
    let both = "diff good.safetensors.index.json bad.safetensors.index.json";
    folder.run(words(&format!("{both} --only x"))).printed().unwrap();
    let run = folder.run(words(both));
    assert!(run.status == Some(2) && text(&run).starts_with("unreadable: 1 same, "), "{run:?}");
}

/// A folder of one model has the names of its tensors, but beside a folder of more it has those of its files.
#[test]
fn folders_that_are_models() {
    let folder = Folder::new();
    let (w, v) = (tensor::<f32>(&[2], &[1., 2.]).npy(), tensor::<f32>(&[2], &[1., 5.]).npy());
    ["e", "a", "more"].iter().for_each(|name| fs::create_dir(folder.path(name)).unwrap());
    folder.put("e/model.npz", npz(&[("k", w.clone()), ("l", w.clone())])).put("e/config.json", b"{}");
    folder.put("a/other.npz", npz(&[("k", w.clone()), ("l", v.clone())]));
    folder.put("more/model.npz", npz(&[("k", w.clone()), ("l", w.clone())])).put("more/x.npy", &w);
    let rows: &[(&str, i32, &str)] = &[
        ("e a", 1, "different: 1 same, 0 within, 1 different, 0 missing, 0 extra\n"),
        ("e a/other.npz --only k", 0, "equal: 1 same, "),
        (
            "e/model.npz e",
            0,
            "equal: 2 same, 0 within, 0 different, 0 missing, 0 extra\n  1 file left alone (-v names it)\n",
        ),
        ("e more", 1, "different: 2 same, 0 within, 0 different, 0 missing, 1 extra\n"),
        ("more e --only model:k", 0, "equal: 1 same, "),
        ("e a --accept", 0, "different: 1 same, "),
        ("e a", 0, "equal: 2 same, "),
    ];
    for (args, status, printed) in rows {
        let run = folder.run(words(&format!("diff {args}")));
        assert!(run.status == Some(*status) && text(&run).starts_with(printed), "{args}: {}", text(&run));
    }
}

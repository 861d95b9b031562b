//! `tensorop textconv`. What docs/git.md shows of it in a repository is run by tests/cli/readme.rs.
use crate::common::{Folder, each, member, npy, npz, safetensors, tensor, words};

/// One tensor, in many forms.
fn folder() -> Folder {
    let folder = Folder::new();
    let d = tensor::<f32>(&[2, 3], &[0., 1.5, -2., f32::NAN, f32::INFINITY, 4.]);
    folder.put("d.npy", d.npy()).put("f.npy", d.npy_fortran()).put("b.npy", d.npy_big());
    folder.put("v.npy", npy("|V3", &[1], b"abc")).put("long.npy", npy("|u1", &[1001], &[7; 1001]));
    folder.put("i.npz", npz(&[("b", npy("|u1", &[3], &[1, 2, 3])), ("a", d.npy_fortran())]));
    let members = [member("b", "uint8", &[3], vec![1, 2, 3]), member("a", "float32", &[2, 3], d.bytes())];
    folder.put("i.safetensors", safetensors(&members));
    folder.put("empty.npz", npz(&[])).put("broken.npy", &d.npy()[..140]);
    folder
}

const D: &str = "float32 [2, 3]
  sha256  07fb4647de4e58933794b2ab5ee2286efef6626bcac5a8307e3161f1aa2cc4a3
  min     -2 at [0, 2]
  max     4 at [1, 2]
  mean    0.875
  std     2.190176933491904
  nan     1, the first at [1, 0]
  inf     1
  zero    1
  q0.001  -2
  q0.01   -2
  q0.05   -2
  q0.25   -2
  q0.5    0
  q0.75   1.5
  q0.95   4
  q0.99   4
  q0.999  4
[[ 0.   1.5 -2. ]
 [ nan  inf  4. ]]
";

const B: &str = "uint8 [3]
  sha256  9b51e50e6538e600111c668630bcc863f4130bb169a779525990001fc1ef9e3a
  min     1 at [0]
  max     3 at [2]
  mean    2
  std     0.816496580927726
  nan     0
  inf     0
  zero    0
  q0.001  1
  q0.01   1
  q0.05   1
  q0.25   1
  q0.5    2
  q0.75   3
  q0.95   3
  q0.99   3
  q0.999  3
[1 2 3]
";

#[test]
fn the_same_tensors_print_the_same() {
    let folder = folder();
    let both = format!("a: {D}\nb: {B}");
    let rows: &[(&str, &str)] = &[
        ("d.npy", D),
        ("f.npy", D),
        ("b.npy", D),
        ("i.npz", &both),
        ("i.safetensors", &both),
        ("i.npz:b", &both[both.find("b: ").expect("b")..]),
        ("empty.npz", "holds no tensors\n"),
        ("v.npy", "|V3 [1]\n  sha256  1386af2311bc639c30db771c90e13cb0ea13b30e4ce20c8f7c03c211a37b16af\n"),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let run = folder.always(&[vec!["textconv".to_owned()], words(args)].concat(), None)?;
            let text = String::from_utf8_lossy(&run.stdout);
            if text.as_ref() == *expected { Ok(()) } else { Err(format!("\n{text}")) }
        },
    );
    let piped = folder.run_with(["textconv", "-"], None, Some(&folder.get("i.npz"))).printed();
    assert_eq!(piped.as_deref(), Ok(both.as_str()));
    let long = folder.run(["textconv", "long.npy"]).printed().expect("elided text");
    assert!(long.ends_with("[7 7 7 ... 7 7 7]\n"), "{long}");
}

#[test]
fn refused() {
    let folder = folder();
    let rows: &[(&str, &[&str])] = &[
        ("", &["<FILE>"]),
        ("d.npy f.npy", &["f.npy"]),
        ("missing.npy", &["FILE missing.npy", "(os error 2)"]),
        ("i.npz:c", &["FILE i.npz:c"]),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, fragments)| folder.refuses(words(&format!("textconv {args}")), fragments).map(drop),
    );
}

/// What is no tensor, or a member that is not in order, is one line, which changes when its bytes do.
#[test]
fn what_cannot_be_read_is_a_line() {
    let folder = folder();
    let sha = |bytes: &[u8]| -> String {
        use sha2::{Digest, Sha256};
        Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    folder.put("notes.npy", b"no tensor").put("none.npy", b"");
    for name in ["broken.npy", "notes.npy", "none.npy"] {
        let bytes = folder.get(name);
        let printed = folder.run(["textconv", name]).printed().expect("a line");
        assert!(
            printed.starts_with("not read: ") && !printed.contains(name) && printed.lines().count() == 1,
            "{printed}"
        );
        assert!(printed.ends_with(&format!(", {} bytes, sha256 {}\n", bytes.len(), sha(&bytes))), "{printed}");
        let piped = folder.run_with(["textconv", "-"], None, Some(&bytes)).printed();
        assert_eq!(piped.as_deref(), Ok(printed.as_str()), "{name}");
    }
    let mixed = |bad: &[u8]| {
        folder.put("mixed.npz", npz(&[("good", folder.get("d.npy")), ("bad", bad.to_vec())]));
        folder.run(["textconv", "mixed.npz"]).printed().expect("all members")
    };
    let (one, other) = (mixed(b"no npy"), mixed(b"no npz"));
    assert!(one.starts_with("bad: not read: ") && one.ends_with(&format!("\n\ngood: {D}")), "{one}");
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert_ne!(lines(&one)[0], lines(&other)[0]);
    assert_eq!(lines(&one)[1..], lines(&other)[1..]);
    // a file alone is shown
    let shown = folder.run(["show", "d.npy"]).printed();
    assert_eq!(folder.run(["d.npy"]).printed(), shown);
    assert_eq!(
        folder.run(["i.npz:b", "--at", ":1"]).printed().as_deref(),
        Ok("i.npz:b: uint8 [3] at :1 -> [1]\n[1]\n")
    );
}

/// A member of a store or of a folder that cannot be read is a line as well, which changes with the bytes of its files.
#[test]
fn members_of_folders_that_cannot_be_read_are_lines() {
    let folder = folder();
    let of = |args: &str| folder.run(words(args)).printed().unwrap_or_else(|why| panic!("{args}: {why}"));
    of("convert good=i.npz:b bad=i.npz:b chunk=i.npz:b -o s.zarr --chunks 2 --codec none");
    let metadata = String::from_utf8(folder.get("s.zarr/bad/zarr.json")).expect("JSON");
    folder.put("s.zarr/bad/zarr.json", metadata.replace("uint8", "string")).put("s.zarr/chunk/c/0", b"too many");
    let before = of("textconv s.zarr");
    let lines: Vec<_> = before.lines().collect();
    assert!(lines[0].starts_with("bad: not read: ") && lines[0].contains("string"), "{before}");
    assert!(lines[2].starts_with("chunk: not read: chunk c/0: 8 bytes, expected 2, "), "{before}");
    assert!(before.ends_with(&format!("\n\ngood: {B}")), "{before}");
    // one item in another chunk than the broken one
    folder.put("s.zarr/chunk/c/1", b"\x09");
    let after = of("textconv s.zarr");
    let differ: Vec<_> = before.lines().zip(after.lines()).enumerate().filter(|(_, (a, b))| a != b).collect();
    assert_eq!(differ.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [2], "{after}");
    // files of a folder: cut off, none, an archive of which nothing can be read, a store whose group is damaged
    std::fs::create_dir(folder.path("all")).expect("a folder");
    for name in ["d.npy", "broken.npy"] {
        folder.put(format!("all/{name}"), folder.get(name));
    }
    folder.put("all/cut.npz", &folder.get("i.npz")[..100]);
    std::fs::create_dir(folder.path("all/g.zarr")).expect("a folder");
    folder.put("all/g.zarr/zarr.json", b"{");
    let printed = of("textconv all");
    let starts: Vec<_> = printed.lines().filter(|line| line.contains("not read: ")).collect();
    assert_eq!(starts.len(), 3, "{printed}");
    for (line, name) in starts.iter().zip(["broken", "cut", "g"]) {
        assert!(line.starts_with(&format!("{name}: not read: ")) && line.contains(" bytes, sha256 "), "{line}");
    }
    assert!(
        starts[2].contains(", 1 bytes, sha256 021fb596db81e6d02bf3d2586ee3981fe519f275c0ac9ca76bbcf2ebb4097d96"),
        "{printed}"
    );
    assert!(printed.contains(&format!("\n\nd: {D}")), "{printed}");
}

//! `--dtype` of several tensors: which ones it means without a pattern, and `GLOB=DTYPE`.

use crate::common::{Folder, each, npy, npz, words};

/// A model of void items, `v.npz`, one of their bits as integers, `u.npz`, and one as ml_dtypes saves bfloat16, `n.npz`. All have
/// indices.
fn folder() -> Folder {
    let folder = Folder::new();
    let (ones, ids) = ([0x80, 0x3f, 0x00, 0x40], [1, 0, 2, 0]);
    let single = npy("<f4", &[1], &1_f32.to_le_bytes());
    let model = |descr: &str| {
        npz(&[
            ("w", npy(descr, &[2], &ones)),
            ("b", npy(descr, &[1], &ones[..2])),
            ("ids", npy("<u2", &[2], &ids)),
            ("f", single.clone()),
        ])
    };
    folder.put("v.npz", model("|V2")).put("u.npz", model("<u2")).put("n.npz", model("<V2"));
    folder.put("v.npy", npy("|V2", &[2], &ones)).put("u.npy", npy("<u2", &[2], &ones)).put("f.npy", single);
    folder.put("bytes.npz", npz(&[("q", npy("|V1", &[1], &[0x21])), ("mask", npy("|u1", &[2], &[1, 0x12]))]));
    folder
}

/// Void items are meant before unsigned ones, those of all tensors of a run.
#[test]
fn which_items_are_meant() {
    let folder = folder();
    // the arguments of info, and the dtypes in the order of the tensors
    let rows = [
        ("v.npz --dtype bfloat16", "bfloat16 bfloat16 uint16 float32"),
        ("u.npz --dtype bfloat16", "bfloat16 bfloat16 bfloat16 float32"),
        ("v.npz u.npz --dtype bfloat16", "bfloat16 bfloat16 uint16 float32 uint16 uint16 uint16 float32"),
        ("u.npy v.npy --dtype bfloat16", "uint16 bfloat16"),
        ("u.npy f.npy --dtype bfloat16", "bfloat16 float32"),
        // bfloat16 is recognised in NumPy's files, and is meant there
        ("n.npz --dtype bfloat16", "bfloat16 bfloat16 uint16 float32"),
        // void items of another size are not
        ("u.npz bytes.npz --dtype bfloat16", "bfloat16 bfloat16 bfloat16 float32 |V1 uint8"),
        ("bytes.npz --dtype int4x2", "int4 uint8"),
        // a tensor that is left out decides nothing
        ("v.npz --only ids --dtype bfloat16", "bfloat16"),
        ("v.npz:ids --dtype bfloat16", "bfloat16"),
        // patterns, the last of which decides
        ("v.npz --dtype *=bfloat16", "bfloat16 bfloat16 bfloat16 float32"),
        ("u.npz --dtype [wb]=bfloat16", "bfloat16 bfloat16 uint16 float32"),
        ("v.npz --dtype bfloat16 --dtype b=float16", "bfloat16 float16 uint16 float32"),
        ("v.npz --dtype [wb]=float16 --dtype w=bfloat16 --dtype ids=float16", "bfloat16 float16 float16 float32"),
        ("v.npz --dtype w=float16 --dtype [wb]=bfloat16", "bfloat16 bfloat16 uint16 float32"),
        // where patterns name all void items, the value without one is for the others
        ("v.npz --dtype [wb]=bfloat16 --dtype float16", "bfloat16 bfloat16 float16 float32"),
    ];
    let dtypes = |json: &str| {
        let all = json.split("\"dtype\": \"").skip(1).filter_map(|rest| rest.split('"').next());
        all.collect::<Vec<_>>().join(" ")
    };
    each(
        &rows,
        |(args, _)| format!("`info {args}`"),
        |(args, expected)| {
            let found = dtypes(&folder.run(words(&format!("info --json {args}"))).printed()?);
            if found != *expected {
                return Err(found);
            }
            if expected.contains("|V1") {
                return Ok(());
            }
            // what is shown has these dtypes, too
            let shown = folder.run(words(&format!("show {args}"))).printed()?;
            let titles: Vec<_> = shown.lines().filter_map(|line| line.split_once(": ")?.1.split_once(" [")).collect();
            let shown: Vec<_> = titles.iter().map(|(dtype, _)| *dtype).collect();
            if shown.join(" ") == *expected { Ok(()) } else { Err(shown.join(" ")) }
        },
    );
    let convert = [
        ("v.npz --dtype bfloat16", "bfloat16 bfloat16 uint16 float32"),
        ("u.npz --dtype [wb]=bfloat16", "bfloat16 bfloat16 uint16 float32"),
        ("v.npz i=u.npz:ids --add --dtype bfloat16", "bfloat16 bfloat16 uint16 float32 uint16"),
        ("u.npz:ids --dtype float16", "float16"),
    ];
    for (args, expected) in convert {
        folder.run(words(&format!("convert {args} -o o.safetensors"))).printed().expect(args);
        let mut found: Vec<_> = dtypes(&folder.run(words("info --json o.safetensors")).printed().expect("read"))
            .split(' ')
            .map(str::to_owned)
            .collect();
        let mut expected: Vec<_> = expected.split(' ').collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{args}");
    }
}

/// Two tensors that are compared are read alike, whichever of them says what is meant.
#[test]
fn pairs() {
    let folder = folder();
    const SAME: &str = "equal: 4 same, 0 within, 0 different, 0 missing, 0 extra\n";
    folder.run(words("convert v.npz --dtype bfloat16 -o w.safetensors")).printed().expect("written");
    let rows = [
        ("v.npz u.npz --dtype bfloat16", SAME),
        ("u.npz v.npz --dtype bfloat16", SAME),
        ("u.npz w.safetensors --dtype [wb]=bfloat16", SAME),
        ("v.npz w.safetensors --dtype bfloat16", SAME),
        ("w.safetensors v.npz --dtype bfloat16", SAME),
        ("u.npz v.npz --dtype float16 --dtype [wb]=bfloat16", SAME),
        ("v.npy u.npy --dtype bfloat16", "equal: 2 items of bfloat16 [2]\n"),
        ("v.npz:w u.npz:w --dtype w=bfloat16", "equal: 2 items of bfloat16 [2]\n"),
        // patterns are matched with the names that are compared
        ("v.npz:w u.npz:w --rename w=x --dtype x=bfloat16", "equal: 2 items of bfloat16 [2]\n"),
    ];
    each(
        &rows,
        |(args, _)| format!("`diff {args}`"),
        |(args, expected)| {
            let printed = folder.run(words(&format!("diff {args}"))).printed()?;
            if printed == *expected { Ok(()) } else { Err(printed) }
        },
    );
}

#[test]
fn refused() {
    let folder = folder();
    let before = folder.content();
    let rows: &[(&str, &[&str])] = &[
        ("info v.npz --dtype x*=bfloat16", &["error: --dtype x*=bfloat16: x* matches no tensor: there are \"b\""]),
        ("info v.npz --dtype i=bfloat16 --dtype bfloat16", &["--dtype i=bfloat16: i matches no tensor"]),
        ("diff v.npz u.npz --dtype bfloat16 --dtype wb=float16", &["--dtype wb=float16: wb matches no tensor"]),
        ("convert v.npz --dtype wb=float16 -o o.npz", &["--dtype wb=float16: wb matches no tensor"]),
        // a dtype that no tensor takes
        ("info v.npz --dtype f=bfloat16", &["FILE v.npz:f: dtype float32, but --dtype says bfloat16"]),
        ("info v.npz --dtype bfloat16 --dtype f=float64", &["FILE v.npz:f: dtype float32, but --dtype says float64"]),
        // a tensor that has a dtype of its own is cast
        (
            "convert f.npy --dtype float16 -o o.npy",
            &["IN f.npy: dtype float32", "; --cast float16 converts the values"],
        ),
        (
            "convert f.npy u.npz:f --dtype int8 -o o.npz",
            &["IN f.npy: dtype float32", "; --cast int8 converts the values"],
        ),
        ("convert f.npy --dtype int4x2 -o o.npy", &["IN f.npy: dtype float32, but --dtype says int4x2"]),
        // operators have no patterns
        ("slice v.npy --at : --dtype v=bfloat16", &["--dtype", "unknown dtype 'v=bfloat16'"]),
        ("slice v.npy --at : --dtype bfloat16 --dtype float16", &["--dtype", "cannot be used multiple times"]),
        ("info v.npz --dtype w=floaty", &["--dtype", "unknown dtype 'floaty'"]),
    ];
    for (args, fragments) in rows {
        folder.refuses(words(args), fragments).unwrap_or_else(|why| panic!("{args}: {why}"));
    }
    assert_eq!(folder.content(), before);
}

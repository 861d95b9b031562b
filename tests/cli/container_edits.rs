//! Containers made from containers: names kept, chosen, changed and replaced, casts by class and by pattern, metadata,
//! compression, and the indexes of shards.

use crate::common::{
    self, Folder, Refusal, bytes, commands, difference, each, file_of, member, named, npy, npz, prints, put_operands,
    refusals, safetensors, safetensors_with_header, tensor, words,
};

fn w() -> Vec<u8> {
    bytes::<f32>(&[1., 2., 3.])
}

fn ids() -> Vec<u8> {
    bytes::<i64>(&[256, 257])
}

/// A shard as Python's package writes it: two tensors at most, and metadata.
fn with_metadata(metadata: &str, tensors: &[common::Member<'_>]) -> Vec<u8> {
    let plain = safetensors(tensors);
    let length = u64::from_le_bytes(plain[..8].try_into().expect("8 bytes")) as usize;
    let header = std::str::from_utf8(&plain[8..8 + length]).expect("UTF-8").trim_end();
    let mut header = format!("{{\"__metadata__\":{metadata},{}", &header[1..]);
    header += &" ".repeat(header.len().next_multiple_of(8) - header.len());
    safetensors_with_header(&header, &plain[8 + length..])
}

fn folder() -> Folder {
    let folder = Folder::new();
    let model: Vec<common::Member<'_>> = vec![
        member("model.h.0.w", "float32", &[3], w()),
        member("model.h.0.b", "float16", &[1], vec![0, 0x3c]),
        member("model.ids", "int64", &[2], ids()),
        member("model.mask", "bool", &[2], vec![1, 0]),
    ];
    folder.put("m.safetensors", with_metadata(r#"{"format":"pt","k":"1"}"#, &model));
    folder.put("plain.safetensors", safetensors(&model));
    folder.put("other.safetensors", with_metadata(r#"{"k":"2","z":"ü\"\n"}"#, &[member("x", "float32", &[3], w())]));
    folder.put("a.npy", npy("<f4", &[3], &w())).put("i.npy", npy("<i8", &[2], &ids()));
    folder.put("z.npz", npz(&[("a", folder.get("i.npy")), ("b", folder.get("a.npy")), ("c", folder.get("i.npy"))]));
    folder.put("s1.safetensors", with_metadata(r#"{"format":"pt"}"#, &[member("model.w", "float32", &[3], w())]));
    folder.put(
        "s2.safetensors",
        safetensors(&[member("ids", "int64", &[2], ids()), member("more", "int8", &[1], vec![5])]),
    );
    let map =
        r#"{"metadata": {"total_size": 28}, "weight_map": {"model.w": "s1.safetensors", "ids": "s2.safetensors"}}"#;
    folder.put("m.safetensors.index.json", map);
    folder
}

/// The names, dtypes and metadata that `info` tells of a file.
fn told(folder: &Folder, file: &str) -> Result<(Vec<String>, String), String> {
    let run = folder.run(["info", "--json", file]);
    let json = String::from_utf8_lossy(&run.stdout);
    let told: serde_json::Value = serde_json::from_str(&json).map_err(|error| error.to_string())?;
    let rows = told.as_array().ok_or("no array")?;
    let text = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
    let mut members: Vec<_> =
        rows.iter().map(|row| format!("{} {}", text(row, "member"), text(row, "dtype"))).collect();
    members.sort();
    let metadata = rows.first().map(|row| row["metadata"].to_string()).unwrap_or_default();
    Ok((members, metadata))
}

/// What a conversion makes: its members with their dtypes, and its metadata as JSON ("null" for none).
#[track_caller]
fn makes(rows: &[(&str, &[&str], &str)]) {
    each(
        rows,
        |(args, ..)| format!("`{args}`"),
        |(args, members, metadata)| {
            let folder = folder();
            let words = words(args);
            let out = words.iter().position(|word| word == "-o").map(|at| words[at + 1].clone()).ok_or("no -o")?;
            folder.run(&words).printed()?;
            let found = told(&folder, &out)?;
            let expected = (members.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>(), (*metadata).to_owned());
            if found == expected { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) }
        },
    );
}

const MODEL: [&str; 4] = ["model.h.0.b float16", "model.h.0.w float32", "model.ids int64", "model.mask bool"];
const PT: &str = r#"{"format":"pt","k":"1"}"#;

/// The output has the name of DATA and the metadata of all operands.
#[test]
fn names_are_kept_by_every_operator() {
    let folder = folder();
    put_operands(&folder, "<f4", [4, 5], 3, |n| (n as f32).to_le_bytes().to_vec());
    folder.run(words("convert first=d.npy last=a.npy --metadata k=1 -o n.safetensors")).printed().expect("written");
    folder.run(words("convert first=d.npy last=a.npy -o n.npz")).printed().expect("written");
    each(
        commands().enumerate(),
        |(_, line)| line.clone(),
        |(n, line)| {
            let (data, metadata) = [("n.npz", "null"), ("n.safetensors", r#"{"k":"1"}"#)][n % 2];
            let name = |letter: &str| if letter == "D" { format!("{data}:first") } else { file_of(letter) };
            folder.run(words(&format!("{} -o o.safetensors", named(line, name)))).printed()?;
            let found = told(&folder, "o.safetensors")?;
            let expected = (vec!["first float32".to_owned()], metadata.to_owned());
            if found == expected { Ok(()) } else { Err(format!("{found:?}, expected {expected:?}")) }
        },
    );
}

#[test]
fn names_are_kept() {
    makes(&[
        ("split m.safetensors:model.ids --parts 2 -o o.safetensors", &["0 int64", "1 int64"], PT),
        ("split z.npz:b --lengths 1,-1 --names a,b -o o.npz", &["a float32", "b float32"], "null"),
        ("convert z.npz:b m.safetensors:model.ids -o o.npz", &["b float32", "model.ids int64"], "null"),
        ("slice a.npy --at :1 -o o.npz", &["arr_0 float32"], "null"),
        ("slice-scatter a.npy z.npz:b --at : -o o.npz", &["arr_0 float32"], "null"),
        ("slice m.safetensors.index.json:ids --at :1 -o o.npz", &["ids int64"], "null"),
    ]);
}

#[test]
fn tensors_of_whole_containers() {
    makes(&[
        ("convert plain.safetensors -o o.npz --only *.ids --only *.0.*", &[MODEL[0], MODEL[1], MODEL[2]], "null"),
        ("convert plain.safetensors -o o.npz --only model* --exclude *.0.?", &[MODEL[2], MODEL[3]], "null"),
        ("convert plain.safetensors -o o.npz --exclude *[ws]", &[MODEL[0], MODEL[3]], "null"),
        (
            "convert plain.safetensors -o o.npz --exclude *.mask --rename model.h.*=l/* --rename model.*=*",
            &["ids int64", "l/0.b float16", "l/0.w float32"],
            "null",
        ),
        // patterns look at the names before, and NAME= at those after
        ("convert z.npz -o o.npz --only a --rename a=b --rename b=c", &["c int64"], "null"),
    ]);
    makes(&[
        ("convert z.npz a=a.npy -o o.npz", &["a float32", "b float32", "c int64"], "null"),
        ("convert z.npz --rename a=q q=a.npy -o o.npz", &["b float32", "c int64", "q float32"], "null"),
        ("convert z.npz a=a.npy --only a -o z.npz", &["a float32"], "null"),
        ("convert z.npz other.safetensors --exclude [bc] -o o.npz", &["a int64", "x float32"], "null"),
        // of what holds one tensor
        ("convert z.npz --only b -o o.npy", &[" float32"], "null"),
        ("convert m.safetensors.index.json --only ids -o o.npz", &["ids int64"], "null"),
    ]);
}

#[test]
fn casts_by_class_and_by_name() {
    let cast = |dtypes: [&'static str; 4]| {
        MODEL.iter().zip(dtypes).map(|(row, dtype)| format!("{} {dtype}", row.split(' ').next().unwrap_or_default()))
    };
    let rows: [(&str, [&str; 4]); 7] = [
        ("--cast bfloat16", ["bfloat16", "bfloat16", "int64", "bool"]),
        ("--cast int32", ["float16", "float32", "int32", "bool"]),
        ("--cast bfloat16 --cast int32", ["bfloat16", "bfloat16", "int32", "bool"]),
        ("--cast *=float64 --cast *.ids=int16", ["float64", "float64", "int16", "float64"]),
        ("--cast *.w=float64 --cast bfloat16", ["bfloat16", "float64", "int64", "bool"]),
        // what has the dtype already is no reason to stop a script that runs again
        ("--cast int64", ["float16", "float32", "int64", "bool"]),
        ("--cast *.mask=bool --cast *.w=f32", ["float16", "float32", "int64", "bool"]),
    ];
    for (args, dtypes) in rows {
        let (args, members) = (format!("convert plain.safetensors {args} -o o.npz"), cast(dtypes).collect::<Vec<_>>());
        makes(&[(&args, &members.iter().map(String::as_str).collect::<Vec<_>>(), "null")]);
    }
    makes(&[
        ("convert plain.safetensors --only *.ids --cast float64 -o o.npz", &["model.ids float64"], "null"),
        ("convert i.npy --cast arr_0=int16 -o o.npz", &["arr_0 int16"], "null"),
        ("convert n=i.npy b=a.npy --cast n=bool --lossy -o o.npz", &["b float32", "n bool"], "null"),
    ]);
    let shown =
        folder().run(words("convert m.safetensors --cast int16 --exclude *.0.* --rename *.ids=i -o o.npz --dry-run"));
    let expected = "\
convert
  IN m.safetensors:model.ids: int64 [2] -> \"i\" int16
  IN m.safetensors:model.mask: bool [2]
  output o.npz: \"i\": npz of int16 [2], 4 bytes of data
  output o.npz: \"model.mask\": npz of bool [2], 2 bytes of data
";
    assert_eq!(shown.printed().as_deref(), Ok(expected));
}

#[test]
fn metadata() {
    let both = r#"{"format":"pt","k":"2","z":"ü\"\n"}"#;
    let other = ["model.h.0.b float16", "model.h.0.w float32", "model.ids int64", "model.mask bool", "x float32"];
    makes(&[
        ("convert m.safetensors -o o.safetensors", &MODEL, PT),
        ("convert plain.safetensors -o o.safetensors", &MODEL, "null"),
        ("convert m.safetensors other.safetensors -o o.safetensors", &other, both),
        ("convert other.safetensors m.safetensors -o o.safetensors", &other, r#"{"format":"pt","k":"1","z":"ü\"\n"}"#),
        ("convert other.safetensors x=a.npy -o other.safetensors", &["x float32"], r#"{"k":"2","z":"ü\"\n"}"#),
        ("convert q=m.safetensors:model.ids -o o.safetensors", &["q int64"], PT),
        ("convert m.safetensors -o o.npz", &MODEL, "null"),
        (
            "convert m.safetensors --metadata k=3 --metadata e==f -o o.safetensors",
            &MODEL,
            r#"{"e":"=f","format":"pt","k":"3"}"#,
        ),
        ("convert m.safetensors --no-metadata -o o.safetensors", &MODEL, "null"),
        ("convert m.safetensors --no-metadata --metadata a= -o o.safetensors", &MODEL, r#"{"a":""}"#),
        ("slice a.npy --at : --metadata format=np -o o.safetensors", &["arr_0 float32"], r#"{"format":"np"}"#),
    ]);
    makes(&[
        ("slice m.safetensors:model.ids --at :1 -o o.safetensors", &["model.ids int64"], PT),
        (
            "slice-scatter m.safetensors:model.h.0.w other.safetensors:x --at : -o o.safetensors",
            &["model.h.0.w float32"],
            both,
        ),
        (
            "scatter-update m.safetensors:model.ids 0 --fill 1 --axis 0 --no-metadata -o o.safetensors",
            &["model.ids int64"],
            "null",
        ),
    ]);
    let folder = folder();
    // without it, byte for byte what there was before
    folder.run(words("convert m.safetensors --no-metadata -o o.safetensors")).printed().expect("written");
    assert_eq!(folder.get("o.safetensors"), folder.get("plain.safetensors"));
    folder.run(words("convert m.safetensors -o o.safetensors")).printed().expect("written");
    assert_eq!(folder.get("o.safetensors"), folder.get("m.safetensors"));
    let text = folder.run(words("info m.safetensors")).printed().expect("a table");
    assert!(text.ends_with("\nmetadata format = pt\nmetadata k = 1\n"), "{text}");
    let text = folder.run(words("info other.safetensors plain.safetensors")).printed().expect("a table");
    assert!(text.ends_with("\nother.safetensors:\nmetadata k = 2\nmetadata z = ü\"\\n\n"), "{text}");
}

#[test]
fn compressed() {
    let folder = folder();
    let items: Vec<f32> = (0..50_000).map(|n| (n / 100) as f32).collect();
    folder.put("long.npy", npy("<f4", &[50_000], &bytes(&items)));
    folder.run(words("convert long.npy z.npz -o c.npz --compress")).printed().expect("written");
    let whole = folder.get("c.npz");
    assert!(whole.len() < 20_000, "{} bytes", whole.len());
    for (window, threads) in [(Some(16), "1"), (Some(1000), "4"), (None, "2")] {
        let args = words(&format!("convert long.npy z.npz --to npz --compress --threads {threads}"));
        let again = folder.run_with(args, window, None);
        assert!(again.stdout == whole, "window {window:?}: {}", difference(&again.stdout, &whole));
    }
    folder.run(words("convert c.npz -o s.npz")).printed().expect("written");
    folder.run(words("convert long.npy z.npz -o t.npz")).printed().expect("written");
    assert!(folder.get("s.npz") == folder.get("t.npz"));
    folder.run(words("slice z.npz:a --at : --compress -o one.npz")).printed().expect("written");
    prints(&folder, &[("slice one.npz --at :", r#"{"dtype": "int64", "shape": [2], "data": [256, 257]}"#)]);
    folder.run(words("convert z.npz --compress -o z.npz --dry-run")).printed().expect("a dry run");
}

/// A file is replaced by one that is made from it, if nothing is lost that the command does not name.
#[test]
fn replaced() {
    makes(&[
        ("convert a=a.npy b=z.npz:b c=z.npz:c -o z.npz", &["a float32", "b float32", "c int64"], "null"),
        ("convert a=z.npz:c b=z.npz:b c=z.npz:a -o z.npz", &["a int64", "b float32", "c int64"], "null"),
        ("convert x=z.npz:a y=z.npz:b z=z.npz:c -o z.npz", &["x int64", "y float32", "z int64"], "null"),
        ("convert z.npz --exclude b -o z.npz", &["a int64", "c int64"], "null"),
        ("convert z.npz --rename a=q q=a.npy -o z.npz", &["b float32", "c int64", "q float32"], "null"),
        ("convert z.npz --only b -o z.npz", &["b float32"], "null"),
        ("convert z.npz --rename *=x.* -o z.npz", &["x.a int64", "x.b float32", "x.c int64"], "null"),
        ("convert other.safetensors --cast float16 -o other.safetensors", &["x float16"], r#"{"k":"2","z":"ü\"\n"}"#),
        ("slice other.safetensors --at :1 -o other.safetensors", &["x float32"], r#"{"k":"2","z":"ü\"\n"}"#),
    ]);
    let rows: &[Refusal] = &[
        (
            "convert b=z.npz:b c=z.npz:c -o z.npz",
            &["output z.npz", "1 more tensor,", "convert z.npz b=NEW.npz:b c=NEW.npz:c -o z.npz"],
        ),
        ("slice z.npz:a --at : -o z.npz", &["output z.npz", "2 more tensors", "lost"]),
        ("convert z.npz:a other.safetensors --only x -o other.safetensors", &[]),
        ("convert m.safetensors.index.json:ids --to npy -o m.safetensors.index.json", &["index", "lost"]),
        ("convert m.safetensors.index.json:ids -o s2.safetensors", &["output s2.safetensors", "1 more"]),
    ];
    let folder = folder();
    let before = folder.content();
    for (args, fragments) in rows.iter().filter(|(_, fragments)| !fragments.is_empty()) {
        folder.refuses(words(args), fragments).expect("refused");
    }
    assert_eq!(folder.content(), before);
}

/// Beside a whole container a name is that of one of its tensors, by its old or its new name and whether or not it is taken.
#[test]
fn names_that_replace_nothing() {
    makes(&[
        ("convert z.npz d=a.npy --add -o out.npz", &["a int64", "b float32", "c int64", "d float32"], "null"),
        ("convert z.npz --only b a=a.npy -o out.npz", &["a float32", "b float32"], "null"),
        ("convert d=a.npy e=z.npz:a -o out.npz", &["d float32", "e int64"], "null"),
    ]);
    let folder = folder();
    let rows: &[Refusal] = &[
        (
            "convert z.npz d=a.npy --to npz",
            &["IN z.npz: has no tensor \"d\" to be replaced (--add adds one): there are \"a\""],
        ),
        ("convert m.safetensors model.id=a.npy --to npz", &["did you mean \"model.ids\""]),
        ("convert z.npz --exclude * d=a.npy --to npz", &["no tensor \"d\" to be replaced"]),
        ("convert z.npz --rename a=d A=a.npy --to npz", &["no tensor \"A\" to be replaced"]),
    ];
    refusals(&folder, rows);
}

#[test]
fn refused() {
    let folder = folder();
    let rows: &[Refusal] = &[
        ("convert z.npz --only q* --to npz", &["--only q*", "matches no tensor of a whole container: there are \"a\""]),
        ("convert z.npz --only a --only A --to npz", &["--only A", "matches no tensor"]),
        ("convert z.npz --exclude q --to npz", &["--exclude q", "matches no tensor"]),
        ("convert z.npz --rename q=r --to npz", &["--rename q=r", "matches no tensor"]),
        ("convert a.npy --only a --to npz", &["--only a", "matches no tensor"]),
        ("convert z.npz --only a --exclude a --to npz", &["IN z.npz", "no tensors"]),
        ("convert z.npz --rename a", &["--rename", "expected OLD=NEW"]),
        ("convert z.npz --rename *.*=*.*.*", &["--rename", "NEW has 3 * and OLD has 2: expected 2 or none in NEW"]),
        ("convert z.npz --rename a=*", &["--rename", "NEW has 1 * and OLD has 0: expected none in NEW"]),
        ("convert z.npz --rename a=b --to npz", &["two tensors", "\"b\": IN z.npz:a and IN z.npz:b"]),
        ("convert z.npz --rename *=x --to npz", &["two tensors", "\"x\": IN z.npz:a and IN z.npz:b"]),
        ("convert z.npz a=a.npy a=i.npy --to npz", &["two tensors", "\"a\": IN a.npy and IN i.npy"]),
        ("convert z.npz --cast q=int8 --to npz", &["--cast q=int8", "matches no tensor"]),
        ("convert z.npz --cast bool --to npz", &["--cast bool", "GLOB=bool"]),
        (
            "convert z.npz --cast complex64 --to npz",
            &[
                "--cast complex64: converts complex numbers of several tensors, and these are float32 and int64: ",
                "GLOB=complex64",
            ],
        ),
        ("convert z.npz --only [ac] --cast int8 --cast bfloat16 --to npz", &["--cast bfloat16: converts floats"]),
        // a rule of --rename that only matches what is left out, and one whose turn comes too late
        ("convert z.npz --only a --rename b=q --to npz", &["--rename b=q: matches no tensor"]),
        ("convert z.npz --rename a=q --rename a=r --to npz", &["--rename a=r: matches no tensor"]),
        ("convert z.npz --cast a=int --lossy --cast floaty --to npz", &["--cast", "floaty"]),
        ("convert z.npz --exclude b", &["2 tensors", "only .npz, .safetensors and .zarr"]),
        ("convert z.npz --metadata a=b --to npz", &["--metadata", "npz", ".safetensors"]),
        ("convert z.npz --metadata a --to safetensors", &["--metadata", "KEY=VALUE"]),
        ("convert z.npz --to safetensors --compress", &["--compress", "safetensors", ".npz"]),
        ("slice a.npy --at : --compress --to text", &["--compress", "text"]),
    ];
    refusals(&folder, rows);
}

#[test]
fn shards() {
    let folder = folder();
    let index = "m.safetensors.index.json";
    prints(
        &folder,
        &[
            (&format!("slice {index}:ids --at :"), r#"{"dtype": "int64", "shape": [2], "data": [256, 257]}"#),
            (
                &format!("slice-scatter a.npy {index}:model.w --at :"),
                r#"{"dtype": "float32", "shape": [3], "data": [1.0, 2.0, 3.0]}"#,
            ),
        ],
    );
    let (members, metadata) = told(&folder, index).expect("a list");
    assert_eq!(
        (members, &metadata[..]),
        (vec!["ids int64".to_owned(), "model.w float32".to_owned()], r#"{"format":"pt"}"#)
    );
    // what the index does not name is no tensor of it
    makes(&[(
        &format!("convert {index} -o one.safetensors -q"),
        &["ids int64", "model.w float32"],
        r#"{"format":"pt"}"#,
    )]);
    let before = folder.content();
    folder.run(words(&format!("slice-scatter {index}:ids --fill 7 --at :1 --in-place"))).printed().expect("an edit");
    let mut expected = before.clone();
    let shard = expected.get_mut(std::ffi::OsStr::new("s2.safetensors")).expect("a shard");
    let at = shard.len() - 17;
    shard[at..at + 8].copy_from_slice(&7_i64.to_le_bytes());
    assert_eq!(folder.content(), expected);
    // a shard that is not there matters to its own tensors only
    folder.put("half.index.json", r#"{"weight_map": {"model.w": "s1.safetensors", "b": "gone.safetensors", "c": "s1.safetensors", "d": "half.index.json"}}"#);
    prints(
        &folder,
        &[("slice half.index.json:model.w --at :1", r#"{"dtype": "float32", "shape": [1], "data": [1.0]}"#)],
    );
    let rows: &[Refusal] = &[
        ("slice half.index.json:b --at :", &["DATA half.index.json:b: shard 'gone.safetensors'", "(os error 2)"]),
        (
            "slice half.index.json:c --at :",
            &["DATA half.index.json:c", "'c' is in 's1.safetensors', which has no tensor"],
        ),
        (
            "slice half.index.json:d --at :",
            &["DATA half.index.json:d: shard 'half.index.json'", "not a .safetensors file"],
        ),
        ("slice half.index.json:e --at :", &["DATA half.index.json:e", "no tensor \"e\""]),
        ("slice half.index.json --at :", &["DATA half.index.json", "holds 4 tensors"]),
        ("convert half.index.json --to npz", &["IN half.index.json", "shard 'gone.safetensors'"]),
        ("convert a.npy --to index", &["--to", "invalid value 'index'"]),
    ];
    refusals(&folder, rows);
    let rows: [Refusal; 3] = [
        ("slice-scatter half.index.json:b --fill 1 --at : -i", &["DATA half.index.json:b: shard 'gone.safetensors'"]),
        ("info half.index.json:b", &["FILE half.index.json:b", "shard 'gone.safetensors'"]),
        ("slice-scatter m.safetensors:model.ids --fill 1 --at : -i --metadata a=b", &["--metadata", "--in-place"]),
    ];
    for (args, fragments) in rows {
        folder.refuses(words(args), fragments).expect("refused");
    }
    let piped = folder.run_with(words("convert -  --to npz"), None, Some(&folder.get(index)));
    assert!(piped.stderr.contains("the folder of the index is not known"), "{}", piped.stderr);
    assert_eq!(tensor::<i64>(&[2], &[256, 257]).bytes(), ids());
}

/// Downloads are kept under names of their own, and linked into the folder of a model.
#[test]
#[cfg(unix)]
fn shards_may_be_links() {
    let folder = folder();
    std::fs::create_dir_all(folder.path("snapshot")).expect("a folder");
    for name in ["m.safetensors.index.json", "s1.safetensors", "s2.safetensors"] {
        std::os::unix::fs::symlink(folder.path(name), folder.path("snapshot").join(name)).expect("a link");
    }
    let args = "slice snapshot/m.safetensors.index.json:ids --at :1";
    prints(&folder, &[(args, r#"{"dtype": "int64", "shape": [1], "data": [256]}"#)]);
    std::os::unix::fs::symlink("round.safetensors", folder.path("round.safetensors")).expect("a link");
    folder.put("round.json", r#"{"weight_map": {"a": "round.safetensors"}}"#);
    refusals(&folder, &[("slice round.json:a --at :", &["DATA round.json:a: shard 'round.safetensors'"])]);
}

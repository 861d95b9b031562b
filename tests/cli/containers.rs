//! Members of containers and ONNX tensors as operands of the operators, edits of a member in place, and files
//! that lie.

use crate::common::{
    self, Field, Folder, Member, Refusal, Zipped, bytes, commands, deflated, difference, each, file_of, member, named,
    npy, npz, pb, prints, protobuf, put_operands, refusals, safetensors, safetensors_with_header, tensor, words, zip,
};

const SHAPE: [usize; 2] = [2, 3];

/// 0 to 5 as float32 [2, 3].
fn data() -> common::Tensor<f32> {
    tensor(&SHAPE, &[0., 1., 2., 3., 4., 5.])
}

/// A model of several tensors.
fn model() -> Vec<Member<'static>> {
    vec![
        member("w", "float32", &[2, 3], data().bytes()),
        member("u", "float32", &[2, 1], bytes::<f32>(&[10., 20.])),
        member("row", "float32", &[1, 3], bytes::<f32>(&[7., 8., 9.])),
        member("half", "bfloat16", &[4], vec![0x80, 0x3f, 0, 0x40, 0x40, 0x40, 0x80, 0x40]),
        member("i", "int64", &[2], bytes::<i64>(&[2, 0])),
        member("eight", "float8_e4m3fn", &[3], vec![0x38, 0x40, 0x44]),
        member("four", "float4_e2m1fn", &[4], vec![2, 4, 5, 6]),
    ]
}

fn folder() -> Folder {
    let folder = Folder::new();
    let (starts, stops) = (tensor::<i64>(&[2], &[0, 1]), tensor::<i32>(&[2], &[2, 3]));
    let one = tensor::<i64>(&[1], &[1]);
    let tuples = tensor::<i64>(&[2, 2], &[0, 1, 1, -1]);
    let updates = tensor::<f32>(&[2], &[77., 88.]);
    let members = [
        ("data", data().npy_fortran()),
        ("starts", starts.npy()),
        ("stops", stops.npy_big()),
        ("axis", one.npy()),
        ("tuples", tuples.npy_fortran()),
        ("updates", updates.npy_big()),
        ("patch", tensor::<f32>(&[2, 1], &[10., 20.]).npy()),
        ("rows", tensor::<f32>(&[1, 3], &[7., 8., 9.]).npy()),
    ];
    folder.put("s.npz", npz(&members));
    let members = members.map(|(name, npy)| deflated(&format!("{name}.npy"), &npy));
    folder.put("z.npz", zip(&members)).put("m.safetensors", safetensors(&model()));
    folder.put("d.npy", data().npy()).put("one.npz", npz(&[("only", data().npy())]));
    folder.put("d.pb", pb(member("d", "float32", &SHAPE, data().bytes())));
    let typed =
        [(1, Field::Number(2)), (1, Field::Number(3)), (2, Field::Number(1)), (4, Field::Bytes(&data().bytes()))];
    folder.put("typed.pb", protobuf(&typed));
    folder.put("tuples.pb", pb(member("", "int64", &[2, 2], tuples.bytes())));
    let numbers: Vec<u8> = vec![1, 0];
    let typed = [(1, Field::Number(2)), (2, Field::Number(7)), (7, Field::Bytes(&numbers))];
    folder.put("indices.pb", protobuf(&typed)).put("updates.pb", pb(member("", "float32", &[2], updates.bytes())));
    folder.put("int4.pb", pb(member("", "int4", &[5], vec![1, 2, 0xf, 4, 5])));
    folder
}

/// A line of `--to json` of float32.
fn float32(shape: &str, data: &str) -> String {
    format!(r#"{{"dtype": "float32", "shape": {shape}, "data": {data}}}"#)
}

#[test]
fn members_as_operands() {
    let folder = folder();
    let sliced = float32("[2, 2]", "[[1.0, 2.0], [4.0, 5.0]]");
    let added = float32("[2, 3]", "[[0.0, 78.0, 2.0], [3.0, 4.0, 93.0]]");
    let row = float32("[2, 3]", "[[7.0, 8.0, 9.0], [3.0, 4.0, 5.0]]");
    let both = float32("[2, 1]", "[[20.0], [10.0]]");
    prints(
        &folder,
        &[
            ("slice s.npz:data --start s.npz:starts --stop s.npz:stops", &sliced),
            ("slice z.npz:data --start 0,1 --stop 2,3 --axes z.npz:starts --step 1,1", &sliced),
            ("scatter-nd typed.pb tuples.pb z.npz:updates --reduction add", &added),
            ("scatter-update m.safetensors:u indices.pb m.safetensors:u --axis 0", &both),
            ("slice-scatter one.npz m.safetensors:row --at :1", &row),
            ("slice-scatter typed.pb [[7,8,9]] --at :1", &row),
            ("slice-scatter m.safetensors:w m.safetensors:row --at :1", &row),
            ("slice m.safetensors:half --at ::-1", "bfloat16 [4] [4.0, 3.0, 2.0, 1.0]"),
            ("slice m.safetensors:four --at ::-2", "float4_e2m1fn [2] [4.0, 2.0]"),
            ("slice int4.pb --at ::-1", "int4 [5] [5, 4, -1, 2, 1]"),
            ("slice-scatter int4.pb [7,-8] --at 1:3", "int4 [5] [1, 7, -8, 4, 5]"),
            ("scatter-nd m.safetensors:half [[0],[0]] [1,2] --reduction add", "bfloat16 [4] [4.0, 2.0, 3.0, 4.0]"),
            ("pad int4.pb --before 1 --after 0 --fill -8", "int4 [6] [-8, 1, 2, -1, 4, 5]"),
            ("tile m.safetensors:eight --repeats 2", "float8_e4m3fn [6] [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]"),
            ("slice-scatter m.safetensors:eight --fill 2 --at :1", "float8_e4m3fn [3] [2.0, 2.0, 3.0]"),
        ],
    );
}

/// Every operator does with the dtypes of models what it does with numbers that all of them have.
#[test]
fn every_operator_on_dtypes_of_models() {
    // a dtype, one that is wider, and the formats that hold it
    let rows = [
        ("bfloat16", "float32", ["safetensors", "pb"]),
        ("float8_e4m3fn", "float32", ["safetensors", "pb"]),
        ("float4_e2m1fn", "float32", ["safetensors", "pb"]),
        ("int4", "int64", ["pb", "zarr"]),
        ("uint2", "int64", ["pb", "zarr"]),
    ];
    each(
        rows.into_iter().flat_map(|row| commands().enumerate().map(move |(n, line)| (row, row.2[n % 2], line))),
        |((dtype, ..), format, line)| format!("`{line}` of {dtype} in {format}"),
        |((dtype, wide, _), format, line)| {
            // sums of fewer bits are rounded, or there are none
            if line.contains("--reduction") && !(*dtype == "bfloat16" && line.contains("add")) {
                return Ok(());
            }
            let folder = Folder::new();
            let item = |n: usize| {
                if *wide == "int64" { bytes(&[(n * n % 7 % 2) as i64]) } else { bytes(&[(n * n % 7 % 2) as f32]) }
            };
            put_operands(&folder, wide, [4, 6], 3, item);
            let expected = folder.run(words(&format!("{} --to json", named(line, file_of))));
            for letter in ["d", "u", "v"] {
                let cast = format!("convert {letter}={letter}.npy --cast {dtype} -o narrow-{letter}.{format}");
                folder.run(words(&cast)).printed()?;
            }
            let file = |letter: &str| match letter {
                "D" | "U" | "V" => format!("narrow-{}.{format}", letter.to_lowercase()),
                _ => file_of(letter),
            };
            for window in [None, Some(3)] {
                let args = words(&format!("{} --to json", named(line, file)));
                let found = folder.run_with(args, window, None).printed()?;
                let expected = expected.printed()?.replace(wide, dtype);
                if found != expected {
                    return Err(format!("window {window:?}: {found}, expected {expected}"));
                }
            }
            Ok(())
        },
    );
}

/// The output of an operator in every format.
#[test]
fn outputs() {
    let folder = folder();
    let line = bytes::<f32>(&[3., 4., 5.]);
    let rows = [
        ("npz", npz(&[("data", npy("<f4", &[1, 3], &line))])),
        ("safetensors", safetensors(&[member("data", "float32", &[1, 3], line.clone())])),
        ("pb", pb(member("", "float32", &[1, 3], line))),
    ];
    each(
        rows,
        |(format, _)| (*format).to_owned(),
        |(format, expected)| {
            let output = format!("out.{format}");
            folder.run(["slice", "z.npz:data", "--at", "1:", "-o", &output]).printed()?;
            let piped = folder.always(&["slice", "s.npz:data", "--at", "1:", "--to", format], None)?;
            let found = folder.get(&output);
            if found != *expected {
                return Err(difference(&found, expected));
            }
            if piped.stdout == *expected { Ok(()) } else { Err(difference(&piped.stdout, expected)) }
        },
    );
    // packed again
    folder.run(["slice", "int4.pb", "--at", "1:4", "-o", "four.pb"]).printed().expect("written");
    assert_eq!(folder.get("four.pb"), pb(member("", "int4", &[3], vec![2, 0xf, 4])));
}

/// Edits of one member: the bytes of that tensor are those that `-o` gives, and no other byte has changed.
#[test]
fn in_place() {
    let folder = folder();
    let original = folder.get("m.safetensors");
    // the member, and the rest of the command
    let rows: &[(&str, &str, &str)] = &[
        ("w", "slice-scatter", "m.safetensors:row --at 1:"),
        ("w", "slice-scatter", "s.npz:patch --at :,1:2"),
        ("w", "slice-scatter", "m.safetensors:w --at ::-1,::-1"),
        ("w", "slice-scatter", "--fill -1 --at ::-1,::2"),
        ("w", "scatter-update", "m.safetensors:i s.npz:data --axis 1 --fill 3"),
        ("w", "scatter-update", "[2,0] [[1,2],[3,4]] --axis 1"),
        ("w", "scatter-nd", "s.npz:tuples z.npz:updates"),
        ("w", "scatter-nd", "s.npz:tuples [1,2] --reduction mul"),
        ("w", "scatter-nd", "[[1],[0]] m.safetensors:w"),
        ("w", "scatter-elements", "[[1,0,1]] [[5,6,7]] --reduction mean"),
        ("half", "slice-scatter", "m.safetensors:half --at ::-1"),
        ("half", "scatter-nd", "[[3],[3]] [1,2] --reduction add"),
        ("i", "scatter-nd", "[[0],[1]] m.safetensors:i --reduction add"),
        ("i", "scatter-update", "[1,0] m.safetensors:i --axis 0"),
        ("eight", "slice-scatter", "--fill 1 --at 1:"),
    ];
    each(
        rows,
        |(member, operator, rest)| format!("{operator} {member} {rest}"),
        |(member, operator, rest)| {
            let rest = rest.replace("s.npz:data --axis 1 --fill 3", "--axis 1 --fill 3");
            let operand = format!("m.safetensors:{member}");
            folder.put("m.safetensors", &original);
            let described = folder.run(["info", "--json", &operand]).printed()?;
            let told: serde_json::Value = serde_json::from_str(&described).map_err(|e| e.to_string())?;
            let number = |key: &str| told[0][key].as_u64().unwrap_or(u64::MAX) as usize;
            let place = number("offset")..number("offset") + number("bytes");
            let command = [vec![(*operator).to_owned(), operand], words(&rest)].concat();
            folder.run([command.clone(), words("-q -o out.npy")].concat()).printed()?;
            let out = folder.get("out.npy");
            let mut expected = original.clone();
            expected[place.clone()].copy_from_slice(&out[out.len() - place.len()..]);
            for (window, threads) in [(None, "1"), (Some(1), "2"), (Some(8), "3"), (Some(24), "1")] {
                folder.put("m.safetensors", &original);
                let args = [command.clone(), words(&format!("-i --threads {threads}"))].concat();
                folder.run_with(args, window, None).printed()?;
                let found = folder.get("m.safetensors");
                if found != expected {
                    return Err(format!("window {window:?}: {}", difference(&found, &expected)));
                }
            }
            Ok(())
        },
    );
}

/// Edits of several members of one file at once: each is done, none is lost.
#[test]
fn many_edits_at_once() {
    let folder = Folder::new();
    let names: Vec<String> = (0..8).map(|n| format!("t{n}")).collect();
    let file = |value: fn(usize) -> f32| {
        let tensor = |n: usize| member(&names[n], "float32", &[64, 16], bytes(&vec![value(n); 1024]));
        safetensors(&(0..8).map(tensor).collect::<Vec<_>>())
    };
    folder.put("m.safetensors", file(|_| 0.0));
    std::thread::scope(|scope| {
        for (n, name) in names.iter().enumerate() {
            let folder = &folder;
            scope.spawn(move || {
                let operand = format!("m.safetensors:{name}");
                for rows in ["::2", "1::2"] {
                    let args = ["slice-scatter", &operand, "--fill", &n.to_string(), "--at", rows, "-i"];
                    folder.run_with(args, Some(64), None).printed().expect("an edit");
                }
            });
        }
    });
    let (found, expected) = (folder.get("m.safetensors"), file(|n| n as f32));
    assert!(found == expected, "{}", difference(&found, &expected));
}

#[test]
fn a_file_that_would_lose_members_is_answered_with_what_keeps_them() {
    let folder = folder();
    let kept = |count: usize, line: &str| {
        let noun = if count == 1 { "tensor" } else { "tensors" };
        format!("holds {count} more {noun}, which would be lost: make NEW.npy with -o NEW.npy, then {line}")
    };
    let rows: Vec<(&str, String)> = vec![
        (
            "slice-scatter s.npz:data --fill 1 --at :1 -o s.npz",
            format!("output s.npz: {}", kept(7, "tensorop convert s.npz data=NEW.npy -o s.npz")),
        ),
        (
            "slice z.npz:data --at :1 -o z.npz",
            format!("output z.npz: {}", kept(7, "tensorop convert z.npz data=NEW.npy -o z.npz --compress")),
        ),
        (
            "convert s.npz:data --cast float16 -o s.npz",
            format!("output s.npz: {}", kept(7, "tensorop convert s.npz data=NEW.npy -o s.npz")),
        ),
        // of an operand that is not DATA
        (
            "slice-scatter d.npy s.npz:rows --at :1 -o s.npz",
            format!("output s.npz: {}", kept(8, "tensorop convert s.npz arr_0=NEW.npy --add -o s.npz")),
        ),
        (
            "slice-scatter m.safetensors:w --fill 1 --at :1 -o m.safetensors",
            format!(
                "output m.safetensors: {} (or --in-place)",
                kept(6, "tensorop convert m.safetensors w=NEW.npy -o m.safetensors")
            ),
        ),
        (
            "transpose m.safetensors:w -o m.safetensors",
            format!("output m.safetensors: {}", kept(6, "tensorop convert m.safetensors w=NEW.npy -o m.safetensors")),
        ),
        (
            "convert m.safetensors:w a=m.safetensors:u -o m.safetensors",
            "output m.safetensors: holds 5 more tensors, which would be lost: make NEW.safetensors with -o NEW.safetensors, \
             then tensorop convert m.safetensors a=NEW.safetensors:a w=NEW.safetensors:w --add -o m.safetensors"
                .to_owned(),
        ),
    ];
    let before = folder.content();
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let run = folder.run(words(args));
            assert_eq!((run.status, run.stderr), (Some(2), format!("error: {expected}\n")));
            assert!(folder.content() == before, "something was written");
            // and the line does what it says
            let (before_cure, cure) = expected.split_once("then tensorop ").expect("a command");
            let cure = cure.trim_end_matches(" (or --in-place)");
            let (_, new) = before_cure.trim_end_matches(", ").rsplit_once(' ').expect("a name");
            let (command, _) = args.split_once(" -o ").expect("an output");
            folder.run(words(&format!("{command} -o {new}"))).printed()?;
            folder.run(words(cure)).printed()?;
            let (_, file) = args.rsplit_once(' ').expect("a file");
            let (_, name) = cure.split_once(' ').expect("a file").1.split_once(' ').expect("a name");
            let name = name.split('=').next().expect("a name");
            let made = if new == "NEW.npy" { new.to_owned() } else { format!("{new}:{name}") };
            folder.run(["diff", &made, &format!("{file}:{name}")]).printed()?;
            let names = folder.run(["info", file, "--json"]).printed()?.matches("\"dtype\"").count();
            let all = 7 + usize::from(file.ends_with("npz")) + usize::from(cure.contains("--add"));
            assert_eq!(names, all, "{file}");
            for (name, content) in &before {
                folder.put(std::path::Path::new(name), content);
            }
            std::fs::remove_file(folder.path(new)).expect("removed");
            Ok(())
        },
    );
}

#[test]
fn in_place_is_refused() {
    let folder = folder();
    let rows: &[(&str, &[&str])] = &[
        (
            "s.npz:data",
            &[
                "DATA s.npz:data",
                "--in-place",
                "make NEW.npy with -o NEW.npy, then tensorop convert s.npz data=NEW.npy -o s.npz",
            ],
        ),
        ("one.npz", &["DATA one.npz", "--in-place", "convert one.npz only=NEW.npy -o one.npz"]),
        ("s.npz", &["DATA s.npz", "--in-place", "convert s.npz NAME=NEW.npy -o s.npz"]),
        ("d.pb", &["DATA d.pb", "--in-place", "ONNX"]),
        ("m.safetensors:four", &["DATA m.safetensors:four", "--in-place", "fewer than 8 bits"]),
        ("m.safetensors", &["DATA m.safetensors", "holds 7 tensors"]),
        ("m.safetensors:x", &["DATA m.safetensors:x", "no tensor \"x\""]),
        ("d.npy:x", &["DATA d.npy:x", "no members"]),
        ("-", &["DATA (standard input)", "--in-place"]),
    ];
    each(
        rows,
        |(data, _)| (*data).to_owned(),
        |(data, fragments)| {
            folder.refuses(["slice-scatter", data, "--fill", "1", "--at", ":1", "-i"], fragments).map(drop)
        },
    );
    let rows: &[(&str, &[&str])] = &[
        ("m.safetensors:i m.safetensors:w --at :1", &["UPDATES m.safetensors:w", "shape [2, 3]"]),
        ("m.safetensors:half m.safetensors:i --at 2:", &["UPDATES m.safetensors:i", "dtype int64, expected bfloat16"]),
        ("m.safetensors:w m.safetensors:u --at :1", &["UPDATES m.safetensors:u", "shape [2, 1], expected [1, 3]"]),
        ("m.safetensors:w m.safetensors:none --at :1", &["UPDATES m.safetensors:none", "no tensor"]),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, fragments)| folder.refuses(words(&format!("slice-scatter {args} -i")), fragments).map(drop),
    );
}

#[test]
fn names() {
    let folder = folder();
    folder.put("none.npz", npz(&[])).put("none.safetensors", safetensors_with_header("{}", b""));
    folder.put(
        "odd:name.npz",
        npz(&[("a:b", data().npy()), ("", data().npy())].map(|(n, f)| (if n.is_empty() { " " } else { n }, f))),
    );
    folder.put("a.npz", npz(&[("x", data().npy())])).put("a.npz:x", tensor::<i64>(&[1], &[5]).npy());
    folder.put("n.npz", zip(&[deflated("w.npy", &data().npy()), deflated("notes.txt", b"not a tensor")]));
    prints(
        &folder,
        &[
            // a path that exists wins
            ("slice a.npz:x --at :", r#"{"dtype": "int64", "shape": [1], "data": [5]}"#),
            ("slice ./a.npz:x --at :", r#"{"dtype": "int64", "shape": [1], "data": [5]}"#),
            ("slice odd:name.npz:a:b --at :1,:1", &float32("[1, 1]", "[[0.0]]")),
            // what is no .npy is no member
            ("slice n.npz --at :1,:1", &float32("[1, 1]", "[[0.0]]")),
        ],
    );
    let stdin = |operand: &str| folder.run_with(["slice", operand, "--at", "-1:"], None, Some(&folder.get("s.npz")));
    let file = folder.run(words("slice s.npz:starts --at -1:"));
    assert_eq!((stdin("-:starts").status, stdin("-:starts").stdout), (Some(0), file.stdout));
    assert!(stdin("-:start").stderr.contains("did you mean \"starts\"?"));
    let rows: &[Refusal] = &[
        ("slice s.npz --at :", &["DATA s.npz", "holds 8 tensors", "\"axis\", \"data\"", "and 3 more"]),
        ("slice s.npz:Data --at :", &["DATA s.npz:Data", "did you mean \"data\"?"]),
        ("slice s.npz:start --at :", &["did you mean \"starts\"?"]),
        ("slice s.npz:data.npy --at :", &["no tensor \"data.npy\"", "\"data\""]),
        ("slice m.safetensors:row. --at :", &["no tensor \"row.\"", "\"row\""]),
        ("slice none.npz --at :", &["DATA none.npz", "no tensors"]),
        ("slice none.npz:x --at :", &["DATA none.npz:x", "no tensors"]),
        ("slice none.safetensors --at :", &["DATA none.safetensors", "no tensors"]),
        ("slice d.npy:x --at :", &["DATA d.npy:x", "npy", "no members"]),
        ("slice d.pb:d --at :", &["DATA d.pb:d", "onnx", "no members"]),
        ("slice missing.npz:x --at :", &["DATA missing.npz:x", "(os error 2)"]),
        ("slice n.npz:notes.txt --at :", &["no tensor \"notes.txt\""]),
        ("scatter-nd d.npy s.npz:tuple s.npz:updates", &["INDICES s.npz:tuple", "did you mean \"tuples\"?"]),
        ("roll s.npz:dat --shift 1", &["DATA s.npz:dat", "did you mean \"data\" or \"updates\"?"]),
        ("scatter-nd d.npy s.npz:tuples s.npz:update", &["UPDATES s.npz:update", "did you mean \"updates\"?"]),
        ("scatter-nd d.npy m.safetensors:u s.npz:updates", &["INDICES m.safetensors:u", "float32, expected integers"]),
        ("slice d.npy --start 0,0 --stop z.npz:tuples", &["--stop z.npz:tuples", "expected 1 axis"]),
        ("scatter-update d.npy 0 --fill 1 --axis s.npz:starts", &["--axis: 2 integers, expected one"]),
        ("slice d.npy --start z:no --stop 1", &["--start z:no", "neither a list"]),
    ];
    refusals(&folder, rows);
}

/// Names and bytes of files that are no such archive, and what is said of them.
fn hostile_archives() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let (npy, whole) = (data().npy(), npz(&[("a", data().npy())]));
    let stored = |name: &str, bytes: Vec<u8>| {
        let mut crc = flate2::Crc::new();
        crc.update(&bytes);
        Zipped { name: name.to_owned(), method: 0, size: bytes.len() as u32, crc: crc.sum(), bytes }
    };
    let good = deflated("a.npy", &npy);
    let other = |change: fn(&mut Zipped)| {
        let mut member = good.clone();
        change(&mut member);
        zip(&[member])
    };
    let mut huge_directory = whole.clone();
    let end = huge_directory.len() - 22;
    huge_directory[end + 8..end + 12].copy_from_slice(&[0xfe, 0xff, 0xfe, 0xff]);
    let mut damaged = whole.clone();
    let at = damaged.windows(4).position(|four| four == 4_f32.to_le_bytes()).expect("an item");
    damaged[at] ^= 0x10;
    vec![
        ("cut", whole[..whole.len() - 30].to_vec(), "cut off"),
        ("head", whole[..40].to_vec(), "cut off"),
        ("more", [&whole[..], b"more"].concat(), "ZIP archive"),
        ("before", [b"PK\x03\x04 and more", &whole[..]].concat(), "ZIP archive"),
        ("twice", zip(&[good.clone(), good.clone()]), "several members named \"a.npy\""),
        ("directory", huge_directory, "directory"),
        ("crc", damaged, "damaged: CRC-32"),
        ("crc-z", other(|member| member.crc ^= 1), "CRC-32"),
        ("larger", other(|member| member.size += 4), "expected"),
        ("smaller", other(|member| member.size -= 4), "expected"),
        ("method", other(|member| member.method = 12), "method"),
        ("broken", other(|member| member.bytes[30..].fill(0xff)), ":"),
        ("stump", other(|member| member.bytes.truncate(60)), ":"),
        ("stored", zip(&[Zipped { size: 1 << 30, ..stored("a.npy", npy.clone()) }]), "expected its size"),
        ("text", zip(&[stored("a.npy", b"no tensor".to_vec())]), "\\x93NUMPY"),
        ("short", zip(&[stored("a.npy", npy[..npy.len() - 4].to_vec())]), "20 bytes of data, expected 24"),
        ("long", zip(&[stored("a.npy", [&npy[..], &[0; 4]].concat())]), "28 bytes of data, expected 24"),
        (
            "object",
            zip(&[stored("a.npy", common::npy_with_header(&common::header("|O", false, &[1]), b"x"))]),
            "object",
        ),
    ]
}

fn hostile_safetensors() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let entry = |offsets: &str| format!(r#"{{"dtype":"F32","shape":[2],"data_offsets":{offsets}}}"#);
    let one = |offsets: &str| format!(r#"{{"a":{}}}"#, entry(offsets));
    let two = |a: &str, b: &str| format!(r#"{{"a":{},"b":{}}}"#, entry(a), entry(b));
    let whole = safetensors(&model());
    let file = |header: &str, items: usize| safetensors_with_header(header, &vec![0; items]);
    vec![
        ("overlap", file(&two("[0,8]", "[4,12]"), 12), ""),
        ("same", file(&two("[0,8]", "[0,8]"), 8), ""),
        ("hole", file(&two("[0,8]", "[12,20]"), 20), ""),
        ("beyond", file(&one("[0,8]"), 4), "4 bytes of data, expected 8"),
        ("extra", file(&one("[0,8]"), 12), "12 bytes of data, expected 8"),
        ("back", file(&one("[8,0]"), 8), ""),
        ("huge", file(&one("[0,18446744073709551615]"), 8), ""),
        ("wrong", file(&one("[0,4]"), 4), "expected 8"),
        ("twice", file(&format!(r#"{{"a":{},"a":{}}}"#, entry("[0,8]"), entry("[8,16]")), 16), "'a' twice"),
        ("dtype", file(r#"{"a":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}}"#, 4), "F33"),
        ("dims", file(r#"{"a":{"dtype":"F32","shape":[4294967296,4294967296,4],"data_offsets":[0,0]}}"#, 0), "a"),
        ("negative", file(r#"{"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}}"#, 4), "-1"),
        ("json", file("{\"a\":", 4), ""),
        ("cut", whole[..200].to_vec(), ""),
        ("length", [&(1_u64 << 60).to_le_bytes()[..], b"{\"a\":1}"].concat(), ""),
    ]
}

fn hostile_protobufs() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    use Field::{Bytes, Claims, Number};
    let whole = pb(member("", "float32", &SHAPE, data().bytes()));
    let one =
        |dim: u64, more: &[(u32, Field<'_>)]| [protobuf(&[(1, Number(dim)), (2, Number(1))]), protobuf(more)].concat();
    let many = protobuf(&(0..65).map(|_| (1, Number(1))).chain([(2, Number(1))]).collect::<Vec<_>>());
    vec![
        ("cut", whole[..whole.len() - 1].to_vec(), "24 bytes, and 23 are in the file"),
        ("claims", one(2, &[(9, Claims(1 << 31))]), "2147483648 bytes"),
        ("absurd", one(2, &[(9, Claims(u64::MAX))]), ""),
        ("packed", one(2, &[(4, Claims(1 << 40))]), ""),
        ("name", one(2, &[(8, Claims(1 << 50))]), ""),
        ("dims", one(1 << 62, &[(9, Bytes(&[0; 8]))]), "larger than memory"),
        ("negative", one(u64::MAX, &[(9, Bytes(&[0; 8]))]), "negative"),
        ("many", many, ""),
        ("few", one(3, &[(9, Bytes(&[0; 8]))]), "8 bytes of data, expected 12"),
        ("few-typed", one(3, &[(4, Bytes(&[0; 8]))]), "float_data"),
        ("both", one(2, &[(9, Bytes(&[0; 8])), (4, Bytes(&[0; 8]))]), "raw_data, and float_data as well"),
        ("other", one(2, &[(7, Bytes(&[0; 2]))]), "int64_data, expected float_data for FLOAT"),
        ("unknown", protobuf(&[(1, Number(1)), (2, Number(77)), (9, Bytes(&[0; 8]))]), "data type 77"),
        ("undefined", protobuf(&[(1, Number(1)), (2, Number(0)), (9, Bytes(&[0; 8]))]), "UNDEFINED"),
        ("segment", one(2, &[(3, Bytes(b"\x08\x00")), (9, Bytes(&[0; 8]))]), "segment"),
        ("external", one(2, &[(14, Number(1)), (9, Bytes(&[0; 8]))]), "external"),
    ]
}

/// Whatever is wrong with a file, one line says so, nothing is written, and what is there stays.
#[test]
fn files_that_lie() {
    let folder = folder();
    let mut rows = Vec::new();
    let all = [("npz", hostile_archives()), ("safetensors", hostile_safetensors()), ("pb", hostile_protobufs())];
    for (format, files) in all {
        for (name, content, said) in files {
            let file = format!("{name}.{format}");
            folder.put(&file, content);
            rows.push((file, format, said));
        }
    }
    folder.put("out.npy", b"what was there before").put("out.npz", b"and this");
    each(
        &rows,
        |(file, ..)| file.clone(),
        |(file, format, said)| {
            let named = if *format == "pb" { file.clone() } else { format!("{file}:a") };
            let operand = |role: &str| format!("{role} {file}");
            for (args, role) in [
                (format!("slice {named} --at : --from {format} -o out.npy"), "DATA"),
                (format!("slice-scatter d.npy {named} --at : -o out.npy"), "UPDATES"),
                (format!("slice-scatter {named} --fill 0 --at : -i"), "DATA"),
                (format!("convert {file} --from {format} -o out.npz"), "IN"),
                (format!("diff {named} {named} --from {format}"), "EXPECTED"),
                (format!("info {named} --stats --from {format}"), "FILE"),
            ] {
                // a file that is not even taken for what it was meant to be is refused in other words
                let said = if args.contains("--from") { *said } else { "" };
                folder.refuses(words(&args), &[&operand(role), said]).map_err(|e| format!("`{args}`: {e}"))?;
            }
            Ok(())
        },
    );
}

/// A TensorProto whose items, those of `data()`, are in another file.
fn external(location: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let entry = |(key, value): &(&str, &str)| {
        protobuf(&[(1, Field::Bytes(key.as_bytes())), (2, Field::Bytes(value.as_bytes()))])
    };
    let entries: Vec<_> = [("location", location)].iter().chain(more).map(entry).collect();
    let mut fields = vec![(1, Field::Number(2)), (1, Field::Number(3)), (2, Field::Number(1))];
    fields.extend(entries.iter().map(|entry| (13, Field::Bytes(entry))));
    fields.push((14, Field::Number(1)));
    protobuf(&fields)
}

/// Only a file beside the message is read, and it is no link to another.
#[test]
#[cfg(unix)]
fn external_data_behind_a_link() {
    let (folder, outside) = (folder(), Folder::new());
    outside.put("items.bin", data().bytes());
    std::os::unix::fs::symlink(outside.path("items.bin"), folder.path("link.bin")).expect("a link");
    folder.put("bad.pb", external("link.bin", &[]));
    for (args, operand) in [("slice bad.pb --at 1: -o out.npy", "DATA"), ("convert bad.pb -o out.npz", "IN")] {
        let operand = format!("{operand} bad.pb");
        folder.refuses(words(args), &[&operand, "expected a regular file, not a link"]).expect(args);
    }
}

/// A TensorProto with its items in another file: only in one in its folder.
#[test]
fn external_data() {
    let folder = folder();
    let outside = Folder::new();
    outside.put("items.bin", data().bytes());
    std::fs::create_dir(folder.path("sub")).expect("a folder");
    folder.put("items.bin", [&[0; 16][..], &data().bytes()].concat()).put("sub/items.bin", data().bytes());
    let absolute = outside.path("items.bin").display().to_string();
    folder.put("good.pb", external("items.bin", &[("offset", "16"), ("length", "24")]));
    folder.put("sub/good.pb", external("items.bin", &[]));
    folder.put("below.pb", external("sub/items.bin", &[]));
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path("sub"), folder.path("link")).expect("a link");
    let expected = float32("[1, 3]", "[[3.0, 4.0, 5.0]]");
    prints(&folder, &[("slice good.pb --at 1:", &expected), ("slice sub/good.pb --at 1:", &expected)]);
    prints(&folder, &[("slice below.pb --at 1:", &expected)]);
    prints(
        &folder,
        &[("slice-scatter d.npy good.pb --at ::-1,::-1", &float32("[2, 3]", "[[5.0, 4.0, 3.0], [2.0, 1.0, 0.0]]"))],
    );
    let run = folder.run_with(["slice", "-", "--at", "1:"], None, Some(&folder.get("good.pb")));
    assert!(run.status == Some(2) && run.stderr.contains("no folder to find it in"), "{run:?}");
    let up = format!("../{}/items.bin", outside.path("").file_name().unwrap_or_default().display());
    each(
        [
            (up.as_str(), &[][..], "expected a file in the folder of this one"),
            ("../items.bin", &[], "expected a file in the folder of this one"),
            (absolute.as_str(), &[], "expected a file in the folder of this one"),
            ("sub/./items.bin", &[], "expected a file in the folder of this one"),
            #[cfg(unix)]
            ("link/items.bin", &[], "expected folders, not links, before its name"),
            ("sub/../items.bin", &[], "expected a file in the folder of this one"),
            ("./../items.bin", &[], "expected a file in the folder of this one"),
            ("..", &[], "expected a file in the folder of this one"),
            ("", &[], "expected a file in the folder of this one"),
            ("sub", &[], "expected a regular file"),
            ("nothing.bin", &[], "(os error 2)"),
            ("items.bin", &[("offset", "20")], "24 bytes of items in 'items.bin', and 20 bytes in that file"),
            ("items.bin", &[("offset", "16"), ("length", "25")], "25 bytes"),
            ("items.bin", &[("offset", "18446744073709551615")], "18446744073709551615"),
            ("items.bin", &[("offset", "-1")], "offset"),
            ("items.bin", &[("offset", "0"), ("offset", "16")], "two entries offset"),
        ],
        |(location, more, _)| format!("{location} {more:?}"),
        |(location, more, said)| {
            folder.put("bad.pb", external(location, more));
            folder.refuses(words("slice bad.pb --at 1: -o out.npy"), &["DATA bad.pb", said])?;
            folder.refuses(words("convert bad.pb -o out.npz"), &["IN bad.pb", said])?;
            Ok(())
        },
    );
}

/// Members that are much larger than their files, and than the memory that is allowed.
#[test]
#[cfg(target_os = "linux")]
fn bombs() {
    use std::io::Write;

    const GIB: u32 = 1 << 30;
    let folder = Folder::new();
    let head = npy("<f4", &[1 << 14, 1 << 14], b"");
    // 1 GiB of zeros: one piece of a stream that is whole bytes, and refers to nothing before it, many times
    let zeros = vec![0_u8; 1 << 20];
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(&head).and_then(|()| encoder.flush()).expect("deflates");
    let begin = encoder.get_ref().len();
    encoder.write_all(&zeros).and_then(|()| encoder.flush()).expect("deflates");
    let first = encoder.get_ref().len();
    encoder.write_all(&zeros).and_then(|()| encoder.flush()).expect("deflates");
    let piece = encoder.get_ref()[first..].to_vec();
    let mut stream = encoder.get_ref()[..first].to_vec();
    assert!(begin < first);
    (1..1024).for_each(|_| stream.extend(&piece));
    // an empty last block
    stream.extend([0x03, 0x00]);
    let mut crc = flate2::Crc::new();
    crc.update(&head);
    let mut part = flate2::Crc::new();
    part.update(&zeros);
    // the checksum of 2^10 parts, by doubling
    for _ in 0..10 {
        let mut double = flate2::Crc::new();
        double.combine(&part);
        double.combine(&part);
        part = double;
    }
    crc.combine(&part);
    let member =
        Zipped { name: "a.npy".to_owned(), method: 8, bytes: stream, size: GIB + head.len() as u32, crc: crc.sum() };
    folder.put("bomb.npz", zip(std::slice::from_ref(&member)));
    folder.put("small.npz", zip(&[Zipped { size: 1000, ..member }]));
    assert!(folder.get("bomb.npz").len() < 8 << 20);
    let limited = |args: &str| folder.script(&format!("ulimit -v 131072; exec timeout 60 $T {args}"));
    let run = limited("slice bomb.npz --at 9000:9001,:3 --to json");
    assert_eq!(run.printed(), Ok(format!("{}\n", float32("[1, 3]", "[[0.0, 0.0, 0.0]]"))));
    let run = limited("info bomb.npz:a --json");
    assert!(run.printed().is_ok_and(|text| text.contains("1073741824")), "a header");
    let run = limited("slice small.npz --at :1");
    assert!(run.status == Some(2) && run.stderr.starts_with("error: DATA small.npz: "), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}

/// What is written over an input that holds other tensors would lose them.
#[test]
fn other_tensors_are_not_lost() {
    let folder = folder();
    folder.put("copy.npz", folder.get("z.npz"));
    let refused: [(&str, &[&str]); 2] = [
        (
            "slice d.npy --at : -o m.safetensors:w --to npy",
            &["output m.safetensors:w", "a tensor in a file is not an output"],
        ),
        ("slice d.npy --at : -o z.npz:data", &["output z.npz:data", "a tensor in a file is not an output"]),
    ];
    each(refused, |(args, _)| (*args).to_owned(), |(args, fragments)| folder.refuses(words(args), fragments).map(drop));
    // nothing is lost: of one tensor, of all with one more, and of a file that is no input
    let kept = [
        "slice one.npz --at : -o one.npz",
        "convert copy.npz new=d.npy --add -o copy.npz",
        "slice d.npy --at : -o s.npz",
    ];
    each(kept, |args| (*args).to_owned(), |args| folder.run(words(args)).printed().map(drop));
    let names = folder.run(["info", "--members", "copy.npz"]).printed().unwrap();
    assert_eq!(names.lines().collect::<Vec<_>>().join(" "), "axis data new patch rows starts stops tuples updates");
}

/// Many inputs are open at once, whatever the system allows at first, and those that are inflated wait for their turn.
#[test]
#[cfg(target_os = "linux")]
fn many_inputs() {
    let folder = Folder::new();
    let item = tensor::<f32>(&[1], &[1.5]).npy();
    for n in 0..700 {
        folder.put(format!("{n}.npy"), &item);
    }
    let run = folder.script("ulimit -S -n 300; $T convert *.npy -o all.npz && $T info --members all.npz | wc -l");
    assert_eq!(run.printed(), Ok("700\n".to_owned()));
    let members: Vec<_> = (0..5000).map(|n| deflated(&format!("{n}.npy"), &item)).collect();
    folder.put("many.npz", zip(&members));
    let run = folder.script(
        "ulimit -v 400000; $T convert many.npz -o all.safetensors && $T diff many.npz:4999 '[1.5]' --dtype float32 -q",
    );
    assert_eq!(run.printed(), Ok("equal: 1 item of float32 [1]\n".to_owned()));
}

/// A tensor of a dtype that is not known stops nobody who wants another one of its file.
#[test]
fn an_unknown_dtype_hides_no_other_tensor() {
    let folder = Folder::new();
    let header = |dtype: &str| {
        format!(
            r#"{{"b":{{"dtype":"U8","shape":[2],"data_offsets":[0,2]}},"x":{{"dtype":"{dtype}","shape":[2],"data_offsets":[2,5]}},"z":{{"dtype":"I8","shape":[1],"data_offsets":[5,6]}}}}"#
        )
    };
    folder.put("x.safetensors", safetensors_with_header(&header("F12"), &[1, 2, 3, 4, 5, 6]));
    folder.put(
        "known.safetensors",
        safetensors(&[member("b", "uint8", &[2], vec![1, 2]), member("z", "int8", &[1], vec![6])]),
    );
    folder.put("i.safetensors.index.json", r#"{"weight_map": {"b": "x.safetensors", "x": "x.safetensors"}}"#);
    let why = "dtype 'F12' is not known";
    let table = "name     dtype      shape    size
x.safetensors
  b      uint8      [2]       2 B
  z      int8       [1]       1 B
  x                                not read: dtype 'F12' is not known
  total  2 tensors  3 items   3 B  1 not read

dtype  tensors  items  size
uint8        1      2   2 B
int8         1      1   1 B
";
    let run = folder.run(words("info x.safetensors"));
    let line = "error: FILE x.safetensors:x: dtype 'F12' is not known\n";
    assert_eq!((run.status, &*run.stdout, &*run.stderr), (Some(2), table.as_bytes(), line));
    let rows = [
        ("show x.safetensors:z", "x.safetensors:z: int8 [1]\n[6]\n"),
        ("slice x.safetensors:b --at 1:", "[2]\n"),
        ("show i.safetensors.index.json:b", "i.safetensors.index.json:b: uint8 [2]\n[1 2]\n"),
        (
            "diff x.safetensors known.safetensors --exclude x",
            "equal: 2 same, 0 within, 0 different, 0 missing, 0 extra\n",
        ),
        ("convert x.safetensors --exclude x -o out.safetensors", ""),
        ("slice-scatter x.safetensors:z [7] --at : -i", ""),
        ("show x.safetensors:z", "x.safetensors:z: int8 [1]\n[7]\n"),
    ];
    for (args, expected) in rows {
        assert_eq!(folder.run(words(args)).printed().as_deref(), Ok(expected), "{args}");
    }
    assert_eq!(folder.get("out.safetensors"), folder.get("known.safetensors"));
    // its bytes are told where texts are compared, of an index those of the shard
    let hash = "sha256 2848698aa4b3431e3db06c343ca2cb0455f8aaf16c85cdd828c92ddf7dc134f8";
    let line = format!("x: not read: {why}, 3 bytes, {hash}\n");
    for name in ["x.safetensors", "i.safetensors.index.json"] {
        let text = folder.run(["textconv", name]).printed().expect("texts");
        assert!(text.contains(&line), "{text}");
    }
    let run = folder.run(words("diff x.safetensors known.safetensors"));
    let text = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status == Some(2)
            && text.starts_with("different: 1 same, 0 within, 1 different, 0 missing, 0 extra, 1 unreadable\n"),
        "{run:?}"
    );
    for args in ["show x.safetensors:x", "convert x.safetensors -o o.npz", "slice x.safetensors:x --at :1"] {
        folder.refuses(words(args), &["x.safetensors:x: ", why]).expect(args);
    }
}

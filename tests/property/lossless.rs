//! Containers with content of all kinds through every command that writes: nothing that was there is gone unless the command
//! named it.
//!
//! A [`Kind`] makes a container and lists what is in it without the program: the bytes of each tensor and of everything else, by
//! name. A command may change what it names. Where it fails, no byte of any file changes.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Folder, Random, SPECS, deflated, header, named, npy_with_header, rounds, stored, words, zip};

/// What a container holds: bytes by name.
type Content = BTreeMap<String, Vec<u8>>;

/// A kind of container.
struct Kind {
    /// The name of the file or folder.
    file: &'static str,
    /// Makes a container, in which at least one tensor can be read.
    make: fn(&mut Random, &Folder) -> Tensors,
    /// Lists all that is in a container: of a tensor something that tells its dtype, shape and items.
    content: fn(&Folder) -> Content,
}

const KINDS: &[Kind] = &[
    Kind { file: "c.npz", make: make_archive, content: archive_content },
    Kind { file: "c.npy", make: make_arrays, content: arrays_content },
    Kind { file: "c.json", make: make_body, content: body_content },
    Kind { file: "c.safetensors", make: make_safetensors, content: safetensors_content },
    #[cfg(feature = "zarr")]
    Kind { file: "c.zarr", make: make_store, content: store_content },
];

/// The names of the tensors of a container.
#[derive(Default)]
struct Tensors {
    /// Those of `uint8` and one axis.
    whole: Vec<String>,
    /// Those that cannot be read.
    broken: Vec<String>,
}

/// A command, and what it names.
struct Command {
    args: String,
    /// The tensors that it may change or remove.
    named: BTreeSet<String>,
}

/// The items of a tensor.
fn items(random: &mut Random) -> Vec<u8> {
    let count = 2 + random.below(5);
    random.bytes(count)
}

fn array(items: &[u8]) -> Vec<u8> {
    npy_with_header(&header("|u1", false, &[items.len()]), items)
}

/// Makes an archive of arrays with and without the ending, other files and folders.
fn make_archive(random: &mut Random, folder: &Folder) -> Tensors {
    let (mut members, mut tensors) = (Vec::new(), Vec::new());
    for n in 0..1 + random.below(4) {
        let name = format!("{}{n}", random.of(&["a", "in/b", "d.e"]));
        let file = if random.chance(60) { format!("{name}.npy") } else { name.clone() };
        members.push((file, array(&items(random))));
        tensors.push(name);
    }
    if random.chance(10) {
        // of the two the file without the ending has the name
        let name = tensors[0].clone();
        members.retain(|(file, _)| *file != name && *file != format!("{name}.npy"));
        members.extend([(name.clone(), array(&items(random))), (format!("{name}.npy"), array(&items(random)))]);
        tensors.push(format!("{name}.npy"));
    }
    for (file, content) in [("meta.json", &b"{}"[..]), ("notes.txt", b"text"), ("empty", b""), ("in/x.bin", b"\x93NUM")]
    {
        if random.chance(20) {
            members.push((file.to_owned(), content.to_vec()));
        }
    }
    let broken: Vec<_> = random.chance(10).then(|| "broken".to_owned()).into_iter().collect();
    members.extend(broken.iter().map(|name| (format!("{name}.npy"), b"not an array".to_vec())));
    if random.chance(20) {
        members.push(("in/".to_owned(), Vec::new()));
    }
    let begin = random.below(members.len());
    members.rotate_left(begin);
    let mut member = |(name, bytes): &(String, Vec<u8>)| {
        if random.chance(30) { deflated(name, bytes) } else { stored(name, bytes) }
    };
    folder.put("c.npz", zip(&members.iter().map(&mut member).collect::<Vec<_>>()));
    Tensors { whole: tensors, broken }
}

/// Lists an archive by the records before its members, which are not written to a pipe.
fn archive_content(folder: &Folder) -> Content {
    let bytes = folder.get("c.npz");
    let number =
        |at: usize, len: usize| bytes[at..at + len].iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    let (mut at, mut files) = (0, BTreeMap::new());
    while bytes[at..].starts_with(b"PK\x03\x04") {
        let (method, stored, name, extra) =
            (number(at + 8, 2), number(at + 18, 4), number(at + 26, 2), number(at + 28, 2));
        let begin = at + 30 + name + extra;
        let content = &bytes[begin..begin + stored];
        let content = match method {
            0 => content.to_vec(),
            _ => {
                let mut out = Vec::new();
                std::io::copy(&mut flate2::read::DeflateDecoder::new(content), &mut out).expect("inflates");
                out
            }
        };
        files.insert(String::from_utf8(bytes[at + 30..][..name].to_vec()).expect("a name"), content);
        at = begin + stored;
    }
    let names: BTreeSet<String> = files.keys().cloned().collect();
    // a file without the ending has its own name, so that `a.npy` beside `a` keeps its whole name
    let is_taken = |name: &str| {
        let mut shorter = std::iter::successors(Some(name), |name| name.strip_suffix(".npy"));
        shorter.all(|name| names.contains(name))
    };
    let name = |file: String| match file.strip_suffix(".npy") {
        Some(name) if !is_taken(name) => name.to_owned(),
        _ => file,
    };
    let folders = |file: &String| !file.ends_with('/');
    files.into_iter().filter(|(file, _)| folders(file)).map(|(file, bytes)| (name(file), tensor_of(&bytes))).collect()
}

/// Returns the shape and the items of an array, whatever the form of its header; other bytes as they are.
fn tensor_of(npy: &[u8]) -> Vec<u8> {
    if !npy.starts_with(b"\x93NUMPY") {
        return npy.to_vec();
    }
    let (prefix, digits) = if npy[6] == 1 { (10, &npy[8..10]) } else { (12, &npy[8..12]) };
    let len = digits.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    let (header, items) = npy[prefix..].split_at(len);
    let header: Vec<u8> =
        header.iter().copied().filter(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase()).collect();
    [&header[..], b"\n", items].concat()
}

/// Makes a `.npy` of one array or several.
fn make_arrays(random: &mut Random, folder: &Folder) -> Tensors {
    let count = 2 + random.below(3);
    let arrays: Vec<_> = (0..count).map(|_| array(&items(random))).collect();
    let mut bytes = arrays.concat();
    let has_more = random.chance(15);
    if has_more {
        bytes.extend(b"\x93NUMPY and more");
    }
    folder.put("c.npy", bytes);
    let broken = has_more.then(|| count.to_string()).into_iter().collect();
    Tensors { whole: (0..count).map(|n| n.to_string()).collect(), broken }
}

fn arrays_content(folder: &Folder) -> Content {
    let bytes = folder.get("c.npy");
    let starts: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at..].starts_with(b"\x93NUMPY")).collect();
    let ends = starts.iter().skip(1).copied().chain([bytes.len()]);
    let arrays = starts.iter().zip(ends).map(|(&start, end)| bytes[start..end].to_vec());
    arrays.enumerate().map(|(n, bytes)| (n.to_string(), bytes)).collect()
}

/// Makes a request or a response of KServe.
fn make_body(random: &mut Random, folder: &Folder) -> Tensors {
    let tensors: Vec<_> = (0..1 + random.below(3)).map(|n| format!("t{n}")).collect();
    let parameters = |random: &mut Random| if random.chance(20) { ", \"parameters\": {\"x\": 1}" } else { "" };
    let text = |name: &String| {
        let items = items(random);
        let (count, more) = (items.len(), parameters(random));
        format!("{{\"name\": \"{name}\", \"shape\": [{count}], \"datatype\": \"UINT8\", \"data\": {items:?}{more}}}")
    };
    let texts: Vec<_> = tensors.iter().map(text).collect();
    let more = random.of(&["", "\"id\": \"7\", ", "\"model_name\": \"m\", \"parameters\": {\"a\": true}, "]);
    let key = random.of(&["inputs", "outputs"]);
    folder.put("c.json", format!("{{{more}\"{key}\": [{}]}}", texts.join(", ")));
    Tensors { whole: tensors, ..Tensors::default() }
}

fn body_content(folder: &Folder) -> Content {
    let body: serde_json::Value = serde_json::from_slice(&folder.get("c.json")).expect("JSON");
    let mut content = Content::new();
    for (key, value) in body.as_object().into_iter().flatten() {
        let tensors = value.as_array().filter(|_| ["inputs", "outputs"].contains(&&**key));
        match tensors {
            None => drop(content.insert(key.clone(), value.to_string().into_bytes())),
            Some(tensors) => content.extend(tensors.iter().map(|tensor| {
                let name = tensor["name"].as_str().expect("a name").to_owned();
                (name, tensor.to_string().into_bytes())
            })),
        }
    }
    content
}

/// Makes a safetensors file, in which a tensor may have a dtype that is not known.
fn make_safetensors(random: &mut Random, folder: &Folder) -> Tensors {
    let (mut entries, mut data, mut tensors) = (Vec::new(), Vec::new(), Tensors::default());
    for n in 0..1 + random.below(4) {
        let (name, items, begin) = (format!("w{n}"), items(random), data.len());
        data.extend(&items);
        let dtype = if n > 0 && random.chance(10) { "X8" } else { "U8" };
        let (count, end) = (items.len(), data.len());
        entries.push(format!(r#""{name}":{{"dtype":"{dtype}","shape":[{count}],"data_offsets":[{begin},{end}]}}"#));
        if dtype == "U8" { &mut tensors.whole } else { &mut tensors.broken }.push(name);
    }
    if random.chance(50) {
        entries.push(r#""__metadata__":{"format":"pt"}"#.to_owned());
    }
    folder.put("c.safetensors", crate::common::safetensors_with_header(&format!("{{{}}}", entries.join(",")), &data));
    tensors
}

fn safetensors_content(folder: &Folder) -> Content {
    let bytes = folder.get("c.safetensors");
    let len = u64::from_le_bytes(bytes[..8].try_into().expect("a length")) as usize;
    let (header, data) = bytes[8..].split_at(len);
    let header: serde_json::Value = serde_json::from_slice(header).expect("JSON");
    let entry = |(name, entry): (&String, &serde_json::Value)| {
        let place = |n: usize| entry["data_offsets"][n].as_u64().map(|at| at as usize);
        let items = place(0).zip(place(1)).map_or(&[][..], |(begin, end)| &data[begin..end]);
        let about = match items {
            [] => entry.to_string(),
            _ => format!("{} {}", entry["dtype"], entry["shape"]),
        };
        (name.clone(), [about.as_bytes(), items].concat())
    };
    header.as_object().expect("an object").iter().map(entry).collect()
}

/// Makes a store: a group, or an array that holds others. Arrays lie below folders without metadata and in other arrays, and
/// files that are not of the store lie anywhere.
#[cfg(feature = "zarr")]
fn make_store(random: &mut Random, folder: &Folder) -> Tensors {
    let put = |path: &str, bytes: &[u8]| {
        let path = folder.path("c.zarr").join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, bytes).expect("written");
    };
    let mut names = vec!["x"];
    names.extend(["foo/bar/b", "x/in", "y", "x/deep/er", "foo/n7"].into_iter().filter(|_| random.chance(40)));
    let is_array = random.chance(15);
    if is_array {
        names.push(".");
    } else if random.chance(50) {
        put("zarr.json", br#"{"zarr_format": 3, "node_type": "group", "attributes": {"a": NaN}}"#);
    } else {
        put(".zgroup", br#"{"zarr_format": 2}"#);
    }
    for name in &names {
        let items = items(random);
        let (count, side, prefix) =
            (items.len(), 1 + random.below(3), if *name == "." { "" } else { &format!("{name}/") });
        let is_old = random.chance(30);
        if is_old {
            let metadata = format!(
                r#"{{"zarr_format": 2, "shape": [{count}], "chunks": [{side}], "dtype": "|u1", "compressor": null,
                    "filters": null, "order": "C", "fill_value": 0}}"#
            );
            put(&format!("{prefix}.zarray"), metadata.as_bytes());
        } else {
            let metadata = format!(
                r#"{{"zarr_format": 3, "node_type": "array", "shape": [{count}], "data_type": "uint8", "fill_value": 0,
                    "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [{side}]}}}},
                    "chunk_key_encoding": {{"name": "default"}}, "codecs": [{{"name": "bytes"}}]}}"#
            );
            put(&format!("{prefix}zarr.json"), metadata.as_bytes());
        }
        for (n, chunk) in items.chunks(side).enumerate() {
            let mut chunk = chunk.to_vec();
            chunk.resize(side, 0);
            put(&if is_old { format!("{prefix}{n}") } else { format!("{prefix}c/{n}") }, &chunk);
        }
    }
    for (file, chance) in
        [("README", 10), ("foo/notes.txt", 10), ("x/c/0.partial", 5), (".git/HEAD", 5), ("y/in/z.json", 5)]
    {
        if random.chance(chance) {
            put(file, b"text");
        }
    }
    let broken: Vec<_> = random.chance(10).then(|| "broken".to_owned()).into_iter().collect();
    broken.iter().for_each(|name| put(&format!("{name}/zarr.json"), b"{"));
    Tensors { whole: names.into_iter().map(str::to_owned).collect(), broken }
}

/// Lists a store: the shape and the items of each array of one axis, and all files that belong to no array.
#[cfg(feature = "zarr")]
fn store_content(folder: &Folder) -> Content {
    let files = folder.tree("c.zarr");
    let mut content = Content::new();
    let mut arrays = Vec::new();
    for (path, bytes) in &files {
        let (prefix, file) = path.rsplit_once('/').map_or(("", path.as_str()), |(prefix, file)| (prefix, file));
        if !["zarr.json", ".zarray"].contains(&file) {
            continue;
        }
        let name = if prefix.is_empty() { "." } else { prefix };
        match serde_json::from_slice::<serde_json::Value>(bytes) {
            Ok(metadata) if metadata.get("shape").is_some() => arrays.push((name, prefix, metadata)),
            // the attributes of groups are not even JSON
            _ if String::from_utf8_lossy(bytes).contains("group") => {}
            _ => drop(content.insert(name.to_owned(), bytes.clone())),
        }
    }
    let mut chunks = BTreeSet::new();
    for (name, prefix, metadata) in &arrays {
        let before = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let is_old = metadata.get("chunks").is_some();
        let sides = if is_old { &metadata["chunks"] } else { &metadata["chunk_grid"]["configuration"]["chunk_shape"] };
        let (count, side) = (&metadata["shape"][0], &sides[0]);
        let [count, side] = [count, side].map(|number| number.as_u64().unwrap_or_default() as usize);
        let mut items = vec![0; count];
        for (path, bytes) in &files {
            let Some(key) = path.strip_prefix(&before) else { continue };
            let key = if is_old { Some(key) } else { key.strip_prefix("c/") };
            let is_key = |key: &&str| key.bytes().all(|byte| byte.is_ascii_digit() || b"/.".contains(&byte));
            let Some(key) = key.filter(is_key) else { continue };
            chunks.insert(path.clone());
            // what is named may have other codecs and dtypes
            let begin = key.parse::<usize>().map_or(usize::MAX, |n| n * side);
            items.iter_mut().skip(begin).zip(bytes).for_each(|(item, byte)| *item = *byte);
        }
        content.insert((*name).to_owned(), [metadata["shape"].to_string().as_bytes(), &items].concat());
    }
    let is_metadata =
        |path: &str| [".zarray", "zarr.json", ".zgroup", ".zattrs"].iter().any(|name| path.ends_with(name));
    let others = files.into_iter().filter(|(path, _)| !chunks.contains(path) && !is_metadata(path));
    content.extend(others);
    content
}

/// Draws a command that writes, on the container `file` with these tensors.
fn command(random: &mut Random, file: &str, Tensors { whole: tensors, broken }: &Tensors) -> Command {
    let one = random.of(tensors).clone();
    let other = random.of(tensors).clone();
    let (c, m) = (file, format!("{file}:{one}"));
    let others = [
        format!("gather new.npy {m} --axis 0 --out-of-range zero"),
        format!("concat {m} {c}:{other}"),
        format!("concat {c}:*"),
        format!("concat new.npy {m}"),
        format!("split {m} --lengths 1,-1"),
        format!("convert {m}"),
        format!("convert {c}"),
        format!("convert {c} --compress"),
        format!("convert {c} --cast int16"),
        format!("convert {c} new={m} --add"),
    ];
    let places = SPECS.iter().filter(|spec| !spec.has_several_outputs()).map(|spec| spec.lines(spec.places));
    let of_operators = places.flatten().map(|line| named(&line, |_| m.clone()));
    let operators: Vec<String> = of_operators.chain(others).collect();
    let alone = |name: &String| BTreeSet::from([name.clone()]);
    let rest = || tensors.iter().chain(broken).filter(|name| **name != one).cloned().collect();
    // values change where a cast names all of them
    let all = || tensors.iter().cloned().collect();
    let named = |args: String, named: BTreeSet<String>| Command { args, named };
    match random.below(14) {
        // onto the container
        0..=4 => {
            let args = format!("{} -o {c}", random.of(&operators));
            let names = if args.contains("--cast") { all() } else { alone(&one) };
            named(args, names)
        }
        // elsewhere
        5 => {
            let to = random.of(&["out.npz", "out.npy", "out.safetensors", "out.json", "out.zarr", "out.csv"]);
            named(format!("{} -o {to}", random.of(&operators)), BTreeSet::new())
        }
        6 => named(format!("convert {c} {one}=new.npy -o {c}"), alone(&one)),
        7 => named(format!("convert {c} --exclude {one} -o {c}"), alone(&one)),
        8 => named(format!("convert {c} --only {one} -o {c}"), rest()),
        9 => named(format!("convert {c} --rename {one}=renamed -o {c}"), alone(&one)),
        10 => named(format!("slice-scatter {m} --fill 3 --at :1 --in-place"), alone(&one)),
        11 => named(format!("diff {m} new.npy --accept"), alone(&one)),
        12 => named(format!("diff {c} new.npz --accept"), BTreeSet::from(["a0", "t0", "w0", "0"].map(str::to_owned))),
        _ => named(format!("diff other.npz {m} --accept"), BTreeSet::new()),
    }
}

/// Runs one command on one container.
///
/// # Errors
/// What is gone, or has changed, and was not named.
fn run(random: &mut Random, kind: &Kind) -> Result<bool, String> {
    let folder = Folder::new();
    let tensors = (kind.make)(random, &folder);
    folder.put("new.npy", array(&[1, 2, 3]));
    let new = ["a0", "t0", "w0", "0"].map(|name| stored(&format!("{name}.npy"), &array(&[5, 6])));
    folder.put("new.npz", zip(&new)).put("other.npz", zip(&[stored("x.npy", &array(&[4]))]));
    let before = ((kind.content)(&folder), folder.tree("."));
    let Command { args, named } = command(random, kind.file, &tensors);
    let run = folder.run(words(&args));
    let about =
        |what: String| format!("{args}: {what}\nstatus {:?}: {}\nbefore: {:?}", run.status, run.stderr, before.0);
    if run.status != Some(0) && run.status != Some(1) {
        return if folder.tree(".") == before.1 {
            Ok(false)
        } else {
            Err(about("an error after a file has changed".into()))
        };
    }
    let is_changed = folder.tree(kind.file)
        != before.1.iter().fold(BTreeMap::new(), |mut files, (name, bytes)| {
            if let Some(rest) = name.strip_prefix(kind.file) {
                files.insert(rest.trim_start_matches('/').to_owned(), bytes.clone());
            }
            files
        });
    if !is_changed {
        return Ok(true);
    }
    let after = (kind.content)(&folder);
    let lost = before.0.iter().find(|(name, bytes)| !named.contains(*name) && after.get(*name) != Some(bytes));
    match lost {
        None => Ok(true),
        Some((name, _)) => Err(about(format!("{name} is gone or has changed: {after:?}"))),
    }
}

#[test]
fn nothing_is_gone_that_was_not_named() {
    let cases = rounds(120);
    let (mut done, mut refused, mut failed) = (0, 0, Vec::new());
    for case in 0..cases {
        let mut random = Random(case as u64);
        let kind = &KINDS[case % KINDS.len()];
        match run(&mut random, kind) {
            Ok(true) => done += 1,
            Ok(false) => refused += 1,
            Err(why) => failed.push(format!("case {case}: {why}")),
        }
    }
    println!("{done} of {cases} commands wrote, {refused} were refused");
    assert!(failed.is_empty(), "{} of {cases} failed:\n{}", failed.len(), failed[..failed.len().min(5)].join("\n\n"));
    // each side is tested
    assert!(done > cases / 5 && refused > cases / 5, "{done} wrote, {refused} were refused");
}

//! Stores that are made from stores: groups from groups, chunks by the names of dimensions and tensors, and what is copied
//! because it is not read.

use serde_json::{Value, json};

use crate::common::{Folder, each, npy, words};

fn done(folder: &Folder, args: &str) -> String {
    folder.run(words(args)).printed().unwrap_or_else(|why| panic!("{args}: {why}"))
}

fn metadata(folder: &Folder, key: &str) -> Value {
    serde_json::from_slice(&folder.get(key)).expect("JSON")
}

/// A store of a group with attributes: temp [9, 4, 6] and mask [4, 6] with named dimensions, time [9], and bare [4].
fn climate(folder: &Folder) {
    for (name, shape) in [("temp", &[9, 4, 6][..]), ("mask", &[4, 6]), ("time", &[9]), ("bare", &[4])] {
        let items: Vec<u8> =
            (0..shape.iter().product::<usize>()).flat_map(|i| (i as f32 + 1.0).to_le_bytes()).collect();
        folder.put(format!("{name}.npy"), npy("<f4", shape, &items));
    }
    done(folder, "convert temp.npy -o temp.zarr --dims time,lat,lon --chunks 2,3,6");
    done(folder, "convert mask.npy -o mask.zarr --dims lat,lon --chunks 2,2 --shards 4,4");
    done(folder, "convert time.npy -o time.zarr --dims time");
    done(folder, "convert temp=temp.zarr mask=mask.zarr time=time.zarr bare=bare.npy -o g.zarr");
    let text = String::from_utf8(folder.get("g.zarr/zarr.json")).expect("a text");
    folder.put("g.zarr/zarr.json", text.replace(r#""attributes": {}"#, r#""attributes": {"title": "x"}"#));
}

#[test]
fn what_is_made_of_a_group_is_a_group() {
    let folder = Folder::new();
    climate(&folder);
    let rows = [
        ("convert g.zarr --only temp", Some("temp")),
        ("convert g.zarr --only temp --rename temp=t", Some("t")),
        ("slice g.zarr --only temp --at time=:4", Some("temp")),
        // of a group of one tensor, too, that need not be named
        ("slice one.zarr --at time=:4", Some("temp")),
        ("slice one.zarr --at :4", Some("temp")),
        ("slice-scatter one.zarr --fill 1 --at :4", Some("temp")),
        ("transpose one.zarr", Some("temp")),
        ("convert g.zarr:temp --group", Some("temp")),
        ("convert g.zarr:temp", None),
        ("convert one.zarr:temp", None),
        ("slice g.zarr:temp --at time=:4", None),
        ("slice one.zarr:temp --at :4", None),
        ("convert g.zarr:te*", None),
        ("convert temp.zarr", None),
    ];
    done(&folder, "convert g.zarr --only temp -o one.zarr");
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, name)| {
            folder.run(words(&format!("{args} -o o.zarr"))).printed()?;
            let top = metadata(&folder, "o.zarr/zarr.json");
            match name {
                Some(name) => {
                    assert_eq!(top["node_type"], "group");
                    assert_eq!(metadata(&folder, &format!("o.zarr/{name}/zarr.json"))["node_type"], "array");
                    assert_eq!(top["attributes"], json!({"title": "x"}));
                }
                None => assert_eq!(top["node_type"], "array"),
            }
            Ok(())
        },
    );
}

/// The chunks of each tensor of a store, and their shards.
fn sides_of(folder: &Folder, store: &str) -> String {
    let info: Value = serde_json::from_str(&done(folder, &format!("info {store} --json"))).expect("JSON");
    let told = |one: &Value| match &one["shards"] {
        Value::Null => one["chunks"].to_string(),
        shards => format!("{} in {shards}", one["chunks"]),
    };
    info.as_array().expect("a list").iter().map(told).collect::<Vec<_>>().join(" ")
}

#[test]
fn chunks_by_the_names_of_dimensions_and_of_tensors() {
    let folder = Folder::new();
    climate(&folder);
    assert_eq!(sides_of(&folder, "g.zarr"), "[4] [2,2] in [4,4] [2,3,6] [9]");
    // options, and the chunks of bare, mask, temp and time
    let rows = [
        ("--chunks time=4", "[4] [2,2] in [4,4] [4,3,6] [4]"),
        ("--chunks time=4,lon=-1", "[4] [2,6] [4,3,6] [4]"),
        ("--chunks time=4 --chunks lon=-1", "[4] [2,6] [4,3,6] [4]"),
        ("--chunks temp=time=4", "[4] [2,2] in [4,4] [4,3,6] [9]"),
        ("--chunks temp=4,4,4", "[4] [2,2] in [4,4] [4,4,4] [9]"),
        ("--chunks t*p=4,4,4 --chunks time=3", "[4] [2,2] in [4,4] [4,4,4] [3]"),
        // bare is no dimension, so it is a tensor
        ("--chunks bare=2", "[2] [2,2] in [4,4] [2,3,6] [9]"),
        ("--shards temp=time=4", "[4] [2,2] in [4,4] [2,3,6] in [4,3,6] [9]"),
        ("--chunks time=2 --shards time=-1", "[4] [2,2] in [4,4] [2,3,6] in [10,3,6] [2] in [10]"),
        ("--chunks mask=lat=1 --shards mask=lon=6", "[4] [1,2] in [4,6] [2,3,6] [9]"),
    ];
    each(
        rows,
        |(options, _)| (*options).to_owned(),
        |(options, expected)| {
            let plan = done(&folder, &format!("convert g.zarr -o o.zarr {options} --dry-run"));
            done(&folder, &format!("convert g.zarr -o o.zarr {options}"));
            assert_eq!(sides_of(&folder, "o.zarr"), *expected);
            for told in expected.replace(" in ", "@").split(' ') {
                let told = told.replace('@', ", shards ").replace(',', ", ").replace(",  ", ", ");
                assert!(plan.contains(&format!("data, chunks {told}\n")), "{told}: {plan}");
            }
            done(&folder, "diff g.zarr o.zarr");
            // a slice, and parts, which know one another however they are typed
            done(
                &folder,
                &format!(
                    "slice g.zarr --at lon=1: {options} -o s.zarr --only temp --only time --only mask --only bare"
                ),
            );
            done(&folder, &format!("convert g.zarr -o p.zarr {options} --part 1/2"));
            done(&folder, &format!("convert g.zarr -o p.zarr {} --part 2/2", options.replace("4,4,4", "[4,4,4]")));
            done(&folder, &format!("convert g.zarr -o p.zarr {options} --finish 2"));
            assert!(folder.tree("p.zarr") == folder.tree("o.zarr"));
            for name in ["o.zarr", "s.zarr", "p.zarr"] {
                std::fs::remove_dir_all(folder.path(name)).expect("removed");
            }
            Ok(())
        },
    );
    // names that the output itself gets, and those that go along with axes
    done(&folder, "convert temp.npy -o o.zarr --dims time,lat,lon --chunks lat=2");
    assert_eq!(sides_of(&folder, "o.zarr"), "[9,2,6]");
    done(&folder, "transpose temp.zarr -o o.zarr --chunks time=4");
    assert_eq!(sides_of(&folder, "o.zarr"), "[6,3,4]");
    done(&folder, "convert g.zarr --rename temp=air -o o.zarr --chunks temp=4,4,4");
    assert_eq!(sides_of(&folder, "o.zarr"), "[4,4,4] [4] [2,2] in [4,4] [9]");
    let tensors = "tensors are \"bare\", \"mask\", \"temp\", \"time\"";
    let invalid =
        "expected numbers of 1 or more, or -1 for all, with commas between them, or DIM=N,DIM=N, or either after GLOB=";
    let rows = [
        (
            "--chunks lta=4",
            format!(
                "--chunks: lta=4: lta is neither a dimension nor a tensor: dimensions are lat, lon, time, {tensors}"
            ),
        ),
        (
            "--chunks time=4,lta=4",
            "--chunks: time=4,lta=4: no dimension is called lta: there are lat, lon, time".to_owned(),
        ),
        ("--chunks tmp=4,4,4", "--chunks: tmp=4,4,4: tmp matches no tensor; did you mean \"temp\"?".to_owned()),
        ("--chunks mask=time=4", "--chunks: mask=time=4: no dimension is called time: there are lat, lon".to_owned()),
        ("--chunks 4,4,4", "--chunks: [4, 4, 4] for \"bare\", expected 1 number of 1 or more (shape [4])".to_owned()),
        ("--shards time=4", "--shards: [4] for \"time\" are not whole chunks of [9]".to_owned()),
        ("--chunks time=0", format!("invalid value 'time=0' for '--chunks <[GLOB=]N,N|DIM=N>': {invalid}")),
        (
            "--chunks time=4,time=5",
            "invalid value 'time=4,time=5' for '--chunks <[GLOB=]N,N|DIM=N>': time twice".to_owned(),
        ),
    ];
    let before = folder.content();
    each(
        rows,
        |(options, _)| (*options).to_owned(),
        |(options, expected)| {
            let run = folder.run(words(&format!("convert g.zarr -o q.zarr {options}")));
            assert_eq!((run.status, run.stderr.lines().next()), (Some(2), Some(&*format!("error: {expected}"))));
            assert_eq!(folder.content(), before);
            Ok(())
        },
    );
}

/// A group of float32 [4, 6] in chunks of [2, 6]: a is read, and of the others something is not known.
fn unread(folder: &Folder) {
    let items: Vec<u8> = (1..=24).flat_map(|i| (i as f32).to_le_bytes()).collect();
    folder.put("d.npy", npy("<f4", &[4, 6], &items));
    done(folder, "convert d.npy -o d.zarr --dims y,x --chunks 2,6");
    done(folder, "convert a=d.zarr text=d.zarr in/packed=d.zarr filtered=d.zarr -o g.zarr");
    let change = |name: &str, from: &str, to: &str| {
        let key = format!("g.zarr/{name}/zarr.json");
        let text = String::from_utf8(folder.get(&key)).expect("a text");
        assert!(text.contains(from), "{text}");
        folder.put(&key, text.replacen(from, to, 1));
    };
    change("text", r#""data_type": "float32""#, r#""data_type": "string""#);
    change("in/packed", r#""name": "zstd""#, r#""name": "numcodecs.lz4""#);
    change("filtered", r#""codecs": ["#, r#""codecs": [{"name": "numcodecs.delta", "configuration": {}},"#);
    let text = String::from_utf8(folder.get("g.zarr/zarr.json")).expect("a text");
    folder.put("g.zarr/zarr.json", text.replace(r#""attributes": {}"#, r#""attributes": {"title": "x"}"#));
}

/// The files of a store in a folder of it.
fn within(folder: &Folder, store: &str, name: &str) -> std::collections::BTreeMap<String, Vec<u8>> {
    let files = folder.tree(format!("{store}/{name}"));
    assert!(files.len() == 3 && files.contains_key("zarr.json"), "{:?}", files.keys());
    files
}

#[test]
fn what_is_not_read_goes_over_as_it_is_stored() {
    let folder = Folder::new();
    unread(&folder);
    // the names that it has in the output
    let rows = [
        ("convert g.zarr", ["text", "in/packed", "filtered"]),
        ("convert g.zarr --threads 1", ["text", "in/packed", "filtered"]),
        ("convert g.zarr --chunks a=4,4 --cast a=float64", ["text", "in/packed", "filtered"]),
        ("convert g.zarr --cast float64 --rename text=names --rename in/*=*", ["names", "packed", "filtered"]),
        ("convert g.zarr b=d.npy --add", ["text", "in/packed", "filtered"]),
        ("slice b.zarr --at z=:1", ["text", "in/packed", "filtered"]),
    ];
    done(&folder, "convert d.npy -o z.zarr --dims z,x");
    done(&folder, "convert g.zarr z=z.zarr --add -o b.zarr");
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, names)| {
            let plan = folder.run(words(&format!("{args} -o o.zarr --dry-run"))).printed()?;
            folder.run(words(&format!("{args} -o o.zarr"))).printed()?;
            for (own, name) in ["text", "in/packed", "filtered"].iter().zip(names) {
                assert!(within(&folder, "o.zarr", name) == within(&folder, "g.zarr", own), "{name}");
                let line = format!("output o.zarr: \"{name}\": copied as stored, unread, 2 files of data\n");
                assert!(plan.contains(&line), "{plan}");
            }
            assert_eq!(metadata(&folder, "o.zarr/zarr.json")["attributes"], json!({"title": "x"}));
            // in parts, of which the first has what is not read
            if !args.contains("--threads") {
                for part in 1..=3 {
                    folder.run(words(&format!("{args} -o p.zarr --part {part}/3"))).printed()?;
                }
                let [lost, _, _] = names;
                std::fs::remove_file(folder.path(format!(".p.zarr.tensorop/store/{lost}/c/1/0"))).expect("removed");
                let finish = folder.run(words(&format!("{args} -o p.zarr --finish 3")));
                assert_eq!((finish.status, &*finish.stdout), (Some(1), &b"1\n"[..]));
                folder.run(words(&format!("{args} -o p.zarr --part 1/3"))).printed()?;
                folder.run(words(&format!("{args} -o p.zarr --finish 3"))).printed()?;
                assert!(folder.tree("p.zarr") == folder.tree("o.zarr"));
                std::fs::remove_dir_all(folder.path("p.zarr")).expect("removed");
            }
            std::fs::remove_dir_all(folder.path("o.zarr")).expect("removed");
            Ok(())
        },
    );
    // over itself, and one alone: as an array and in a group
    let before = folder.tree("g.zarr");
    done(&folder, "convert g.zarr -o g.zarr");
    assert!(folder.tree("g.zarr") == before);
    done(&folder, "convert g.zarr:text -o t.zarr");
    assert!(folder.tree("t.zarr") == within(&folder, "g.zarr", "text"));
    done(&folder, "convert t.zarr -o u.zarr");
    assert!(folder.tree("u.zarr") == folder.tree("t.zarr"));
    done(&folder, "convert g.zarr --only text -o u.zarr");
    assert!(within(&folder, "u.zarr", "text") == folder.tree("t.zarr"));
    assert_eq!(metadata(&folder, "u.zarr/zarr.json")["attributes"], json!({"title": "x"}));
    // the list of all metadata has it, too
    let text = String::from_utf8(folder.get("g.zarr/zarr.json")).expect("a text");
    let list = r#""consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": {}}, "attributes""#;
    folder.put("g.zarr/zarr.json", text.replace(r#""attributes""#, list));
    done(&folder, "convert g.zarr -o o.zarr");
    let all = metadata(&folder, "o.zarr/zarr.json");
    for name in ["a", "text", "in/packed", "filtered"] {
        let own = metadata(&folder, &format!("o.zarr/{name}/zarr.json"));
        assert_eq!(all["consolidated_metadata"]["metadata"][name], own, "{name}");
    }
}

#[test]
fn all_that_stops_the_conversion_of_a_store_is_named_at_once() {
    let folder = Folder::new();
    unread(&folder);
    let codec = |name: &str| format!("codec \"numcodecs.{name}\" is not known");
    let (text, packed, filtered) = ("data_type \"string\" is not known", codec("lz4"), codec("delta"));
    let label = |role: &str, name: &str| format!("{role} g.zarr:{name}: zarr.json: ");
    let plain = |role: &str| {
        let (one, two, three) = (label(role, "filtered"), label(role, "in/packed"), label(role, "text"));
        format!(
            "{one}{filtered}; {two}{packed}; {three}{text}; --exclude filtered --exclude in/packed --exclude text leave them out"
        )
    };
    let changed = |role: &str, option: &str| {
        let why = format!(", so it is only copied as stored, and {option} would change it; ");
        plain(role).replace(" is not known; ", &format!(" is not known{why}"))
    };
    let one = |option: &str| {
        format!(
            "{}{text}, so it is only copied as stored, and {option} would change it; --exclude text leaves it out",
            label("IN", "text")
        )
    };
    let rows = [
        ("convert g.zarr -o q.npz", plain("IN")),
        ("slice g.zarr --at y=:2 -o q.npz", plain("DATA")),
        ("slice g.zarr --at y=:2 -o q.zarr", changed("DATA", "--at")),
        ("convert g.zarr -o q.zarr --chunks 4,4", changed("IN", "--chunks")),
        ("convert g.zarr -o q.zarr --chunks y=4", changed("IN", "--chunks")),
        ("convert g.zarr -o q.zarr --shards y=4", changed("IN", "--shards")),
        ("convert g.zarr -o q.zarr --codec gzip", changed("IN", "--codec")),
        ("convert g.zarr -o q.zarr --store-empty", changed("IN", "--store-empty")),
        ("convert g.zarr -o q.zarr --dims u,v", changed("IN", "--dims")),
        ("convert g.zarr -o q.zarr --chunks text=4,4", one("--chunks")),
        ("convert g.zarr -o q.zarr --chunks t*t=y=4", one("--chunks")),
        ("convert g.zarr -o q.zarr --cast te*=int8", one("--cast")),
        ("convert g.zarr:text -o q.npy", format!("{}{text}", label("IN", "text"))),
    ];
    let before = folder.content();
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let run = folder.run(words(args));
            assert_eq!((run.status, run.stderr), (Some(2), format!("error: {expected}\n")));
            assert_eq!(folder.content(), before);
            Ok(())
        },
    );
    // what is damaged is not copied as if it were whole, nor is what a group of version 3 cannot hold
    let text = String::from_utf8(folder.get("g.zarr/text/zarr.json")).expect("a text");
    let damaged = text.replace("\"fill_value\": 0.0", "\"fill_value\": \"no\"").replace("\"string\"", "\"float32\"");
    folder.put("g.zarr/text/zarr.json", damaged);
    folder.put("g.zarr/in/packed/zarr.json", "{");
    std::fs::remove_file(folder.path("g.zarr/filtered/zarr.json")).expect("removed");
    let array = json!({"zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "|O", "compressor": null,
        "filters": [{"id": "vlen-utf8"}], "order": "C", "fill_value": ""});
    folder.put("g.zarr/filtered/.zarray", array.to_string());
    let run = folder.run(words("convert g.zarr -o q.zarr"));
    let begins = "error: IN g.zarr:filtered: .zarray: dtype \"|O\" is not read; IN g.zarr:in/packed: zarr.json: ";
    assert!(run.status == Some(2) && run.stderr.starts_with(begins), "{}", run.stderr);
    let ends = "; --exclude filtered --exclude in/packed --exclude text leave them out\n";
    assert!(run.stderr.ends_with(ends), "{}", run.stderr);
    assert_eq!(folder.content(), before);
    // the list is told to its end, however long it is
    for n in 0..40 {
        let key = format!("g.zarr/a variable of number {n:02}/zarr.json");
        std::fs::create_dir(folder.path(key.trim_end_matches("/zarr.json"))).expect("a folder");
        folder.put(key, text.replace("\"string\"", "\"strings\""));
    }
    let run = folder.run(words("convert g.zarr -o q.npz"));
    for n in 0..40 {
        assert!(run.stderr.contains(&format!("--exclude 'a variable of number {n:02}'")), "{n}: {}", run.stderr);
    }
    assert_eq!(run.stderr.lines().count(), 1);
}

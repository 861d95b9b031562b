//! Stores that are made from stores: groups from groups, and chunks by the names of dimensions and tensors.

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
        ("--shards time=4", "--shards: [4] for \"time\" are no whole chunks of [9]".to_owned()),
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

//! Stores that are made from stores: groups from groups.

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

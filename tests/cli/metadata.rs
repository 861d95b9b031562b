//! `tensorop diff` and what describes tensors: attributes, fill values and names of dimensions of Zarr arrays, and what files
//! say of themselves.

use std::fs;

use crate::common::{Folder, Run, divisions, each, words};

/// A file in folders that are made.
fn put(folder: &Folder, name: &str, content: impl AsRef<[u8]>) {
    fs::create_dir_all(folder.path(name).parent().expect("a folder")).expect("a folder");
    folder.put(name, content);
}

/// A store of one array of `[1, 2]`, whose metadata hold some more members.
fn array(folder: &Folder, name: &str, dtype: &str, fill: &str, more: &str) {
    let json = format!(
        "{{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [2], \"data_type\": \"{dtype}\", \"fill_value\": {fill}, \
         \"chunk_grid\": {{\"name\": \"regular\", \"configuration\": {{\"chunk_shape\": [2]}}}}, \
         \"chunk_key_encoding\": {{\"name\": \"default\"}}, \
         \"codecs\": [{{\"name\": \"bytes\", \"configuration\": {{\"endian\": \"little\"}}}}]{more}}}"
    );
    let items: Vec<u8> = match dtype {
        "int16" => [1_i16, 2].iter().flat_map(|item| item.to_le_bytes()).collect(),
        "float64" => [1_f64, 2.0].iter().flat_map(|item| item.to_le_bytes()).collect(),
        _ => [1_f32, 2.0].iter().flat_map(|item| item.to_le_bytes()).collect(),
    };
    put(folder, &format!("{name}/zarr.json"), json);
    put(folder, &format!("{name}/c/0"), items);
}

fn group(folder: &Folder, name: &str, attributes: &str) {
    let json = format!("{{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {attributes}}}");
    put(folder, &format!("{name}/zarr.json"), json);
}

/// Stores and files that differ in what describes their tensors, and in no item.
fn described() -> Folder {
    let folder = Folder::new();
    let kelvin = r#", "attributes": {"units": "K", "run": 7, "at": {"x": 1, "y": [2]}}, "dimension_names": ["t"]"#;
    let celsius = r#", "attributes": {"at":{"y":[2.0],"x":1},"units":"degC","run":7}, "dimension_names": ["time"]"#;
    array(&folder, "k.zarr", "float32", "0.0", kelvin);
    array(&folder, "c.zarr", "float32", "\"NaN\"", celsius);
    array(&folder, "none.zarr", "float32", "0.0", r#", "dimension_names": [null]"#);
    array(&folder, "wide.zarr", "float64", "0.0", kelvin);
    array(&folder, "int.zarr", "int16", "3", kelvin);
    let v2 = r#"{"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<f4", "fill_value": 0, "order": "C",
        "compressor": null, "filters": null}"#;
    put(&folder, "old.zarr/.zarray", v2);
    put(&folder, "old.zarr/0", [1_f32.to_le_bytes(), 2_f32.to_le_bytes()].concat());
    let attributes = r#"{"run": 7, "at": {"x": 1, "y": [2]}, "units": "K", "_ARRAY_DIMENSIONS": ["t"]}"#;
    put(&folder, "old.zarr/.zattrs", attributes);
    for (name, history, more) in [("one.zarr", "x", kelvin), ("other.zarr", "y", celsius)] {
        group(&folder, name, &format!("{{\"title\": \"T\", \"history\": \"{history}\"}}"));
        group(&folder, &format!("{name}/in"), &format!("{{\"step\": \"{history}\"}}"));
        array(&folder, &format!("{name}/a"), "float32", "0.0", more);
        array(&folder, &format!("{name}/b"), "float32", "0.0", more);
        array(&folder, &format!("{name}/in/c"), "float32", "0.0", kelvin);
    }
    for args in [
        "convert w=[1.0,2.0] v=[3.0,4.0] --metadata units=K --metadata run=7 -o k.safetensors",
        "convert w=[1.0,2.0] v=[3.0,4.5] --metadata units=C --metadata run=7 --metadata more=1 -o c.safetensors",
        "convert w=[1.0,2.0] v=[3.0,4.0] -o plain.npz",
        "convert w=[1.0,2.0] v=[3.0,4.0] -o plain.safetensors",
    ] {
        assert_eq!(folder.run(words(args)).status, Some(0), "{args}");
    }
    for (name, file) in [("one/m.safetensors", "k"), ("one/n.safetensors", "k"), ("two/m.safetensors", "c")] {
        put(&folder, name, folder.get(format!("{file}.safetensors")));
    }
    put(&folder, "two/n.safetensors", folder.get("k.safetensors"));
    folder
}

#[test]
fn what_differs_is_named() {
    let folder = described();
    let (pair, several) = ("equal: 2 items of float32 [2]", "equal: 2 same, 0 within, 0 different, 0 missing, 0 extra");
    let three = "equal: 3 same, 0 within, 0 different, 0 missing, 0 extra";
    let differs = |verdict: &str, names: &str| format!("{verdict}\n  metadata differs: {names}\n");
    let rows = [
        ("k.zarr c.zarr", 0, differs(pair, "dimension_names, fill_value, units")),
        ("k.zarr c.zarr -q", 0, format!("{pair}; metadata differs: dimension_names, fill_value, units\n")),
        ("k.zarr c.zarr --metadata", 1, {
            differs("different: metadata dimension_names, fill_value, units", "dimension_names, fill_value, units")
        }),
        ("k.zarr c.zarr --metadata -q", 1, "different: metadata dimension_names, fill_value, units\n".to_owned()),
        ("k.zarr none.zarr", 0, differs(pair, "at, dimension_names, run, units")),
        // no name of an axis is as good as no names, and version 2 as version 3
        ("k.zarr k.zarr --metadata", 0, format!("{pair}\n")),
        ("k.zarr old.zarr --metadata", 0, format!("{pair}\n")),
        ("old.zarr c.zarr --metadata -q", 1, "different: metadata dimension_names, fill_value, units\n".to_owned()),
        // fill values of two dtypes are compared as items are
        ("k.zarr wide.zarr --ignore-dtype --metadata", 0, "equal: 2 items of float32 and float64 [2]\n".to_owned()),
        ("k.zarr int.zarr --ignore-dtype", 0, differs("equal: 2 items of float32 and int16 [2]", "fill_value")),
        ("k.zarr int.zarr --metadata -q", 1, {
            "different: dtype int16, expected float32; metadata differs: fill_value\n".to_owned()
        }),
        // what one side has no place for
        ("k.zarr [1.0,2.0] --metadata --dtype float32", 0, format!("{pair}\n")),
        ("k.safetensors plain.npz --metadata", 0, format!("{several}\n")),
        (
            "k.safetensors:w one.zarr:a --metadata --ignore-dtype",
            0,
            "equal: 2 items of float64 and float32 [2]\n".to_owned(),
        ),
        // groups: all of several tensors, and of a pair those around it
        ("one.zarr other.zarr", 0, {
            differs(three, "history, in/step") + "  metadata differs: dimension_names, units (of a and 1 more)\n"
        }),
        ("one.zarr other.zarr -q", 0, format!("{three}; metadata differs: dimension_names, history, in/step, units\n")),
        ("one.zarr:a other.zarr:a", 0, differs(pair, "dimension_names, history, units")),
        ("one.zarr:in/c other.zarr:in/c", 0, differs(pair, "history, in/step")),
        ("one.zarr other.zarr --metadata -q", 1, {
            "different: 1 same, 0 within, 2 different, 0 missing, 0 extra; worst a: metadata dimension_names, units; \
             metadata differs: dimension_names, history, in/step, units\n"
                .to_owned()
        }),
        // files, whatever their tensors
        ("k.safetensors c.safetensors --only w", 0, {
            differs("equal: 1 same, 0 within, 0 different, 0 missing, 0 extra", "more, units")
        }),
        ("k.safetensors c.safetensors --only w --metadata", 1, {
            differs("different: 1 same, 0 within, 0 different, 0 missing, 0 extra", "more, units")
        }),
        ("k.safetensors c.safetensors --only w --metadata -q", 1, {
            "different: 1 same, 0 within, 0 different, 0 missing, 0 extra; metadata differs: more, units\n".to_owned()
        }),
        ("k.safetensors plain.safetensors", 0, differs(several, "run, units")),
        ("k.safetensors:w c.safetensors:w", 0, differs("equal: 2 items of float64 [2]", "more, units")),
        ("one two --only *:w", 0, {
            differs("equal: 2 same, 0 within, 0 different, 0 missing, 0 extra", "m:more, m:units")
        }),
    ];
    each(
        rows,
        |(args, ..)| format!("`{args}`"),
        |(args, status, expected)| {
            for division in divisions() {
                let args = [vec!["diff".to_owned()], words(args)].concat();
                let Run { status: found, stdout, stderr } = folder.run_with(&args, division.window, None);
                let text = String::from_utf8_lossy(&stdout).into_owned();
                if (found, &text, &*stderr) != (Some(*status), expected, "") {
                    return Err(format!("status {found:?}, {text}{stderr}expected {expected}"));
                }
            }
            Ok(())
        },
    );
}

#[test]
fn json_has_the_names() {
    let folder = described();
    let json = |args: &str| -> serde_json::Value {
        serde_json::from_slice(&folder.run(words(&format!("diff --json {args}"))).stdout).expect("JSON")
    };
    let pair = json("k.zarr c.zarr");
    assert_eq!((&pair["equal"], &pair["reason"]), (&true.into(), &serde_json::Value::Null));
    assert_eq!(pair["metadata"], serde_json::json!(["dimension_names", "fill_value", "units"]));
    let pair = json("k.zarr c.zarr --metadata");
    assert_eq!((&pair["equal"], &pair["reason"]), (&false.into(), &"metadata".into()));
    let several = json("one.zarr other.zarr");
    assert_eq!((&several["equal"], &several["metadata"]), (&true.into(), &serde_json::json!(["history", "in/step"])));
    let own = |n: usize| (several["tensors"][n]["name"].as_str(), several["tensors"][n]["metadata"].clone());
    assert_eq!(own(0), (Some("a"), serde_json::json!(["dimension_names", "units"])));
    assert_eq!(own(2), (Some("in/c"), serde_json::json!([])));
    let several = json("k.safetensors c.safetensors --metadata --only w");
    assert_eq!((&several["equal"], &several["tensors"][0]["equal"]), (&false.into(), &true.into()));
    assert_eq!(several["metadata"], serde_json::json!(["more", "units"]));
    // values count before metadata
    assert_eq!(json("k.zarr [1.0,3.0] --dtype float32 --metadata")["reason"], "values");
}

#[test]
fn what_is_accepted_are_tensors() {
    let folder = described();
    let before = folder.tree(".");
    let run = folder.run(words("diff k.safetensors c.safetensors --metadata --accept"));
    assert!(run.status == Some(2) && run.stderr.contains("'--metadata' cannot be used with '--accept'"), "{run:?}");
    let mut command = folder.command();
    command.args(words("diff k.safetensors c.safetensors --metadata --golden")).env("TENSOROP_UPDATE_GOLDEN", "1");
    let output = command.output().expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let expected =
        "error: --metadata: TENSOROP_UPDATE_GOLDEN=1 accepts tensors, not metadata: leave one of the two out\n";
    assert_eq!((output.status.code(), &*said), (Some(2), expected));
    assert_eq!(folder.tree("."), before);
    // and the metadata stay what they are
    assert_eq!(folder.run(words("diff k.safetensors c.safetensors --accept")).status, Some(0));
    let text = "equal: 2 same, 0 within, 0 different, 0 missing, 0 extra\n  metadata differs: more, units\n";
    assert_eq!(String::from_utf8_lossy(&folder.run(words("diff k.safetensors c.safetensors")).stdout), text);
}

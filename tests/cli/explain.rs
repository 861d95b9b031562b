//! What `--explain` prints: the plan of a run, which writes nothing. The plan is that of the run, whose calls are counted elsewhere.

use crate::common::{Folder, each, npz, tensor, words};

/// Bytes without a header in files that are not stored, however long they are.
fn folder() -> Folder {
    let folder = Folder::new();
    for (name, bytes) in [("square", 64 << 20), ("columns", 32 << 20)] {
        std::fs::File::create(folder.path(name)).and_then(|file| file.set_len(bytes)).expect("a sparse file");
    }
    folder.put("i.npy", tensor::<i64>(&[3], &[5, 0, 7]).npy()).put("u.npy", tensor::<f32>(&[3, 2], &[1.0; 6]).npy());
    folder.put("d.npy", tensor::<f32>(&[9, 2], &[0.0; 18]).npy());
    folder
}

const SQUARE: &str = "square:float32[4096,4096]";

#[test]
fn plans_for_people() {
    let folder = folder();
    let rows: [(&str, &[&str]); 18] = [
        (
            "convert square:float32[4096,4096] -o o.npy",
            &[
                "plan:\n    IN square:float32[4096,4096]: along the output, 64.0 MiB in pieces of 512 KiB, read once\n",
                "cut: runs that fill blocks of 512 KiB of the file, 129 of them\n",
                "calls: about 129 reads of 64.0 MiB in all, 129 writes of 64.0 MiB\n",
                "2 threads, 2.00 MiB of memory",
            ],
        ),
        (
            "transpose square:float32[4096,4096] -o o.npy",
            &["across the output, 64.0 MiB in pieces of 2.00 KiB", "cut: boxes [512, 4096] of 8.00 MiB, 8 of them\n"],
        ),
        (
            "slice square:float32[4096,4096] --at ::2,:1000 -o o.npy",
            &["along the output, 7.81 MiB in pieces of 3.91 KiB"],
        ),
        ("scatter-update d.npy i.npy u.npy --axis 0 -o o.npy", &["UPDATES u.npy: ", "1 thread, "]),
        (
            "gather d.npy i.npy -o o.npy",
            // the index tensor has 24 bytes
            &["DATA d.npy: by indices, 24 B, ", "calls: about 2 reads of 96 B in all, 1 write of 24 B\n"],
        ),
        (
            "gather square:float32[4096,4096] i.npy -o o.npy",
            &["DATA square:float32[4096,4096]: by indices, 48.0 KiB, as often as the indices name it\n"],
        ),
        ("convert d.npy i.npy -o o.npz", &["plan \"d\":\n", "plan \"i\":\n"]),
        ("roll square:float32[4096,4096] --shift 5 -o o.npy", &["64.0 MiB in pieces of 512 KiB, read once\n"]),
        ("tile square:float32[4096,4096] --repeats 2,1 -o o.npy", &["64.0 MiB in pieces of 512 KiB, read 2.0 times\n"]),
        ("convert d.npy i.npy -o - --to npz", &["then read in order from a temporary file\n"]),
        ("convert d.npy -o - --to npy", &["cut: boxes [9, 2] of 72 B, 1 of them\n"]),
        // of a text that leaves items out only the others are read
        (
            "slice square:float32[4096,4096] --at :9 --threshold 100 --edgeitems 2",
            &["cut: 8 runs of 2 items at most\n", "8 writes"],
        ),
        ("slice-scatter d.npy u.npy --at :3 --in-place", &["cut: boxes [9, 2] of 72 B, 1 of 1 change\n"]),
        (
            "scatter-update d.npy i.npy u.npy --axis 0 --in-place",
            &["boxes [9, 2] of 72 B, 1 of 1 change\n", "calls: about 2 reads of 120 B in all, 1 write of 64 B\n"],
        ),
        // one reading finds the items, and another one changes them
        (
            "slice-scatter d.npy --fill 1 --where ==0 --in-place",
            &["calls: about 2 reads of 144 B in all, 1 write of 72 B\n", "18 items would be replaced"],
        ),
        ("concat d.npy u.npy --in-place", &["calls: about 1 read of 24 B in all, 4 writes of "]),
        ("reshape d.npy --shape 6,3 --in-place", &["cut: nothing, since nothing changes\n    calls: 1 write of 4 B\n"]),
        // a text needs all items in order
        ("slice d.npy --at :2", &["cut: boxes [2, 2] of 16 B, 1 of them\n"]),
    ];
    let check = |(args, expected): &&(&str, &[&str])| {
        let args = words(&format!("{args} --explain --threads 2"));
        let said = folder.run(args).printed()?;
        let missing: Vec<_> = expected.iter().filter(|text| !said.contains(**text)).collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("lacks {missing:?}: {said}")) }
    };
    each(&rows, |(args, _)| format!("`{args}`"), check);
    assert!(!folder.path("o.npy").exists() && !folder.path("o.npz").exists(), "nothing is written");
}

/// All items of chunks are rolled as one axis, and each of them is read once.
#[cfg(feature = "zarr")]
#[test]
fn items_that_are_counted_are_read_once() {
    let folder = folder();
    folder.run(words("convert d.npy -o d.zarr --chunks 2,2")).printed().expect("written");
    let said = folder.run(words("roll d.zarr --shift 5 -o o.npy --explain")).printed().expect("a plan");
    assert!(said.contains("DATA d.zarr: along the output, 72 B in chunks of 16 B, read once\n"), "{said}");
}

#[test]
fn plans_as_json() {
    let folder = folder();
    let said = folder
        .run(["transpose", SQUARE, "-o", "o.npy", "--explain", "--json", "--threads", "2"])
        .printed()
        .expect("a plan");
    let plans: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    let plan = &plans[0];
    assert_eq!(plan["operands"][0]["reading"], "across the output", "{said}");
    assert_eq!(plan["cut"]["sides"], serde_json::json!([512, 4096]), "{said}");
    assert_eq!((&plan["threads"], &plan["tensor"]), (&serde_json::json!(2), &serde_json::Value::Null), "{said}");
    let cost = &plan["cost"];
    assert_eq!((&cost["reads"], &cost["writes"]), (&serde_json::json!(32768), &serde_json::json!(8)), "{said}");
    // how many items would be replaced is in the report for people
    let args = "slice-scatter d.npy --fill 1 --where ==0 --in-place --explain --json";
    let said = folder.run(words(args)).printed().expect("a plan");
    assert!(serde_json::from_str::<serde_json::Value>(&said).is_ok(), "{said}");
    folder.refuses(["transpose", SQUARE, "-o", "o.npy", "--json"], &["--explain"]).expect("refused");
    assert!(!folder.path("o.npy").exists(), "nothing is written");
}

/// Of chunks that are rows, columns are held together, and the plan says what reading them by themselves would cost.
#[test]
fn the_next_best_plan() {
    let folder = folder();
    let rows = "convert square:float32[4096,4096] -o rows.zarr --chunks 1,4096 --codec none --threads 2";
    folder.run(words(rows)).printed().expect("a store");
    let said = folder
        .run(words("convert rows.zarr -o columns.zarr --chunks 4096,64 --explain --threads 2"))
        .printed()
        .expect("a plan");
    assert!(
        said.contains("held: boxes ") && said.contains("instead of boxes [4096, 64] of 1.00 MiB, 64 of them: "),
        "{said}"
    );
    assert!(said.contains("; that costs as much as copying "), "{said}");
}

/// Plans of what only looks at items. The tensors differ, so a status of 0 shows that nothing was compared.
#[test]
fn plans_of_comparisons_and_statistics() {
    let folder = folder();
    let x = tensor::<f32>(&[3], &[1.0; 3]).npy();
    let other = tensor::<f32>(&[3], &[2.0; 3]).npy();
    folder.put("a.npz", npz(&[("x", x.clone()), ("y", x.clone()), ("z", x.clone())]));
    folder.put("b.npz", npz(&[("x", other.clone()), ("y", tensor::<f32>(&[2], &[1.0; 2]).npy()), ("w", x)]));
    folder.put("one.npy", other).put("bytes.npy", tensor::<u8>(&[4], &[0; 4]).npy());
    folder.put("strings.npy", crate::common::npy("<U1", &[1], &[97, 0, 0, 0]));
    std::fs::File::create(folder.path("more")).and_then(|file| file.set_len(64 << 20)).expect("a sparse file");
    folder.put("small.npy", tensor::<f32>(&[512, 256], &[1.0; 512 * 256]).npy());
    for run in [
        "convert small.npy -o across.npy --order F",
        "convert square:float32[4096,4096] -o rows.zarr --chunks 64,4096 --codec none --store-empty",
        "convert square:float32[4096,4096] -o fortran.npy --order F",
    ] {
        folder.run(words(run)).printed().expect("an operand");
    }
    let rows: [(&str, &[&str]); 12] = [
        (
            "diff square:float32[4096,4096] more:float32[4096,4096]",
            &[
                "diff\n  EXPECTED square:float32[4096,4096]: float32 [4096, 4096]\n  ACTUAL more",
                "  plan:\n    EXPECTED square:float32[4096,4096]: along the windows, 64.0 MiB in pieces of 256 KiB, read once\n",
                "    ACTUAL more:float32[4096,4096]: along the windows, 64.0 MiB in pieces of 256 KiB, read once\n",
                "cut: boxes [16, 4096] of 256 KiB, 256 of them\n    calls: about 512 reads of 128 MiB in all\n",
                "    2 threads, 2.00 MiB of memory for reads\n",
                "read again for the metrics if a later one differs: up to 512 reads of 134217728 bytes more\n",
                "    --json reads a sample for quantiles first: ",
            ],
        ),
        (
            "diff fortran.npy square:float32[4096,4096]",
            &[
                "EXPECTED fortran.npy: across the windows, 64.0 MiB in pieces of 2.00 KiB, read once\n",
                "cut: boxes [512, 4096] of 8.00 MiB, 8 of them\n",
            ],
        ),
        (
            "diff fortran.npy fortran.npy",
            &["EXPECTED fortran.npy: along the windows, 64.0 MiB in pieces of 256 KiB, read once\n"],
        ),
        (
            "diff small.npy across.npy",
            &[
                "EXPECTED small.npy: along the windows, 512 KiB in pieces of 256 KiB, read once\n",
                "ACTUAL across.npy: in memory, 512 KiB\n",
                "first: 512 KiB of ACTUAL across.npy is read into memory\n",
                "calls: about 3 reads of 1.00 MiB in all\n",
            ],
        ),
        ("diff rows.zarr square:float32[4096,4096]", &["in chunks of 1.00 MiB, read once\n", "cut: boxes [64, 4096] "]),
        (
            "diff square:float32[4096,4096] columns:float32[4096,2048]",
            &["  plan: nothing is read: different: shape [4096, 2048], expected [4096, 4096]\n"],
        ),
        ("diff one.npy a.npz:x", &["EXPECTED one.npy: along the windows, 12 B", "1 thread, "]),
        (
            "diff a.npz b.npz",
            &[
                "diff\n  2 pairs of tensors by name\n  2 pairs of less than 8.00 MiB, compared by one thread each",
                "tensors that one side alone has may be read",
                "plan \"w\": nothing is read: only ACTUAL has it\n  plan \"x\":\n    EXPECTED a.npz:x: along",
                "plan \"y\": nothing is read: different: shape [2], expected [3]\n",
                "plan \"z\": nothing is read: only EXPECTED has it\n",
            ],
        ),
        (
            "info --stats square:float32[4096,4096] strings.npy",
            &[
                "info\n  plan \"square:float32[4096,4096]\":\n    FILE square:float32[4096,4096]: along the windows, ",
                "read 2.0 times\n    cut: boxes [16, 4096] of 256 KiB, 256 of them\n    calls: about 512 reads of 128 MiB",
                "the first pass finds all but the quantiles, which take one more as a rule, unless nearly all items are equal\n",
                "plan \"strings.npy\": nothing is read: its items have no statistics\n",
            ],
        ),
        ("info --stats fortran.npy", &["along the windows, 64.0 MiB in pieces of 256 KiB, read 2.0 times\n"]),
        ("info --stats rows.zarr", &["in chunks of 1.00 MiB, read 2.0 times\n", "cut: boxes [64, 4096] of 1.00 MiB"]),
        (
            "info --stats bytes.npy",
            &["along the windows, 4 B in pieces of 4 B, read once\n", "calls: about 1 read of 4 B"],
        ),
    ];
    let check = |(args, expected): &&(&str, &[&str])| {
        let said = folder.run(words(&format!("{args} --explain --threads 2"))).printed()?;
        let missing: Vec<_> = expected.iter().filter(|text| !said.contains(**text)).collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("lacks {missing:?}: {said}")) }
    };
    each(&rows, |(args, _)| format!("`{args}`"), check);
    let said = folder.run(words("diff a.npz b.npz --explain --json")).printed().expect("plans");
    let plans: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!(plans[0], serde_json::json!({"tensor": "w", "unread": "only ACTUAL has it"}), "{said}");
    assert_eq!((&plans[1]["cut"]["count"], &plans[1]["cost"]["writes"]), (&1.into(), &0.into()), "{said}");
    assert_eq!(plans[1]["operands"][1]["reading"], "along the windows", "{said}");
    let said = folder.run(words("info a.npz:x --stats --explain --json")).printed().expect("a plan");
    let plans: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    assert_eq!((&plans[0]["tensor"], &plans[0]["operands"][0]["times"]), (&"a.npz:x".into(), &1.into()), "{said}");
}

#[test]
fn scans_are_explained_by_themselves() {
    let folder = folder();
    let refused = [
        ("diff d.npy u.npy --explain --accept", "--accept"),
        ("diff d.npy u.npy --explain --map", "--map"),
        ("diff d.npy u.npy --explain -q", "--summary"),
        ("info d.npy --explain", "--stats"),
        ("info d.npy --stats --hash --explain", "--hash"),
        ("diff d.npy absent.npy --explain", "ACTUAL absent.npy: "),
        ("info absent.npy --stats --explain", "FILE absent.npy: "),
    ];
    let check = |(args, said): &(&str, &str)| folder.refuses(words(args), &[said]).map(drop);
    each(refused, |(args, _)| format!("`{args}`"), check);
    // the environment accepts what differs, but an explanation writes nothing
    let before = folder.get("d.npy");
    let run = folder
        .command()
        .args(["diff", "d.npy", "u.npy", "--golden", "--explain"])
        .env("TENSOROP_UPDATE_GOLDEN", "1")
        .output()
        .expect("a run");
    assert!(run.status.success(), "{run:?}");
    assert_eq!(folder.get("d.npy"), before);
}

//! What `--explain` prints: the plan of a run, which writes nothing. The plan is that of the run, whose calls are counted elsewhere.

use crate::common::{Folder, each, tensor, words};

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
    let rows: [(&str, &[&str]); 8] = [
        (
            "convert square:float32[4096,4096] -o o.npy",
            &[
                "plan:\n    IN square:float32[4096,4096]: along the output, 64.0 MiB in pieces of 512 KiB, read once\n",
                "cut: runs that fill blocks of 512 KiB of the file, 128 of them\n",
                "calls: about 128 reads of 64.0 MiB in all, 128 writes of 64.0 MiB\n",
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
        ("gather d.npy i.npy -o o.npy", &["DATA d.npy: in memory, 24 B\n"]),
        (
            "gather square:float32[4096,4096] i.npy -o o.npy",
            &["DATA square:float32[4096,4096]: by indices, 48.0 KiB, as often as the indices name it\n"],
        ),
        ("convert d.npy i.npy -o o.npz", &["plan \"d\":\n", "plan \"i\":\n"]),
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

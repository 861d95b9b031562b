//! `tensorop diff` of tensors as a whole, and of many by their names: metrics, limits, reports, what is accepted.

use std::fs;

use serde_json::json;

use crate::common::{Folder, each, member, npz, safetensors, skip, tensor, words};

/// Rows of arguments, exit status and what is printed, of which each line is looked for.
#[track_caller]
fn prints(folder: &Folder, rows: &[(&str, i32, &[&str])]) {
    each(
        rows,
        |(args, ..)| format!("`{args}`"),
        |(args, status, fragments)| {
            let run = folder.always(&[vec!["diff".to_owned()], words(args)].concat(), None)?;
            let text = String::from_utf8_lossy(&run.stdout);
            let lacks = fragments.iter().find(|fragment| !text.contains(**fragment));
            match (run.status == Some(*status), lacks) {
                (true, None) => Ok(()),
                _ => Err(format!("status {:?}, {text}{} lacks {lacks:?}", run.status, run.stderr)),
            }
        },
    );
}

#[test]
fn metrics() {
    let none = "\"metrics\": {\"mean_abs\": null, \"rmse\": null, \"cosine\": null, \"snr_db\": null, \"psnr_db\": null, \"pearson\": null}";
    let rows: &[(&str, i32, &[&str])] = &[
        (
            "[3,4] [4,3]",
            1,
            &[
                "\"mean_abs\": 1.0, \"rmse\": 1.0, \"cosine\": 0.96, \"snr_db\": 10.969100130080564, \"psnr_db\": 0.0, \"pearson\": -1.0",
            ],
        ),
        (
            "[1,2] [1,2]",
            0,
            &[
                "\"cosine\": 1.0, \"snr_db\": \"Infinity\", \"psnr_db\": \"Infinity\", \"pearson\": 1.0",
                "\"0.999\": 0}",
            ],
        ),
        (
            "[0.0,0] [0.0,0]",
            0,
            &["\"cosine\": 1.0, \"snr_db\": \"Infinity\", \"psnr_db\": \"Infinity\", \"pearson\": null"],
        ),
        (
            "[0.0,0] [1.0,0]",
            1,
            &["\"cosine\": 0.0, \"snr_db\": \"-Infinity\", \"psnr_db\": \"-Infinity\", \"pearson\": null"],
        ),
        ("[5.0,5] [5.0,6]", 1, &["\"psnr_db\": \"-Infinity\", \"pearson\": null"]),
        ("[\"NaN\",1.0] [2.0,1.0]", 1, &["\"mean_abs\": 0.0, \"rmse\": 0.0, \"cosine\": 1.0", "\"pearson\": null"]),
        ("[\"NaN\"] [\"NaN\"]", 0, &[none, "\"0.5\": null"]),
        ("[] []", 0, &[none, "\"axes\": []"]),
        ("[\"a\"] [\"b\"]", 1, &[none]),
        ("[1] [[1]]", 1, &["\"metrics\": null, \"quantiles\": null, \"axes\": [], \"metadata\": [], \"content\": []}"]),
        // what float64 alone would lose
        (
            "[9007199254740993,9007199254740992] [9007199254740992,9007199254740993]",
            1,
            &["\"mean_abs\": 1.0", "\"pearson\": -1.0"],
        ),
        ("[1e200,2e200] [1e200,2.5e200]", 1, &["\"rmse\": 3.535533905932739e+199", "\"pearson\": 1.0"]),
        ("[1e-200,2e-200] [1e-200,2.5e-200]", 1, &["\"rmse\": 3.5355339059327375e-201"]),
        (
            "[[3,4]] [[3,5]] --dtype complex64",
            1,
            &["\"mean_abs\": 1.0, \"rmse\": 1.0", "\"psnr_db\": null, \"pearson\": null"],
        ),
        (
            "[1,2,3,4,5,6,7,8,9,10] [1,2,3,4,5,6,7,8,9,20]",
            1,
            &["{\"0.5\": 0, \"0.9\": 0, \"0.99\": 10, \"0.999\": 10}"],
        ),
        (
            "[[1,2,3],[4,5,6]] [[1,0,0],[4,5,6]]",
            1,
            &[
                "\"axes\": [{\"axis\": 0, \"places\": 1, \"of\": 2, \"ranges\": [[0, 1]]}, {\"axis\": 1, \"places\": 2, \"of\": 3, \"ranges\": [[1, 3]]}]",
            ],
        ),
        (
            "[1,2,3,\"NaN\"] [1,4,9,5] --worst 2",
            1,
            &["\"worst\": [{\"index\": [3], ", "{\"index\": [2], \"flat\": 2, \"expected\": 3.0, \"actual\": 9.0"],
        ),
    ];
    let rows: Vec<_> = rows.iter().map(|(args, status, found)| (format!("{args} --json"), *status, *found)).collect();
    let rows: Vec<_> = rows.iter().map(|(args, status, found)| (args.as_str(), *status, *found)).collect();
    prints(&Folder::new(), &rows);
}

#[test]
fn limits() {
    let within = "equal within the limits: 1 of 4 items (25 %) of float64 [4] differ";
    prints(
        &Folder::new(),
        &[
            ("[1.0,2,3,4] [1.0,2,3,5] --allow 1", 0, &[within]),
            ("[1.0,2,3,4] [1.0,2,3,5] --allow 25%", 0, &[within]),
            ("[1.0,2,3,4] [1.0,2,3,5] --allow 24.9999999999999%", 1, &["different: 1 of 4 items"]),
            ("[1.0,2,3,4] [1.0,2,3,5] --allow 0", 1, &["different: 1 of 4 items"]),
            ("[1.0,2,3,4] [1.0,2,3,5] --min-cosine 0.99", 0, &[within]),
            (
                "[1.0,2,3,4] [1.0,2,3,5] --min-cosine 0.999",
                1,
                &["cosine 0.9939990885479664 is below --min-cosine 0.999"],
            ),
            ("[1.0,2,3,4] [1.0,2,3,5] --min-cosine 0.99 --atol 0.5", 1, &["different: 1 of 4 items"]),
            ("[1.0,2,3,4] [1.0,2,3,5] --min-cosine 0.99 --allow 1", 0, &[within]),
            ("[1.0,2,3,4] [1.0,2,3,5] --atol 1 --max-rmse 0.4", 1, &["different: rmse 0.5 of float64 [4]"]),
            ("[1.0,2,3,4] [1.0,2,3,5] --max-mean-abs 0.25 --min-snr 10 --min-psnr 15", 0, &[within]),
            (
                "[1.0,2,3,4] [1.0,2,3,5] --max-mean-abs 0.2 -q",
                1,
                &["; largest |a - e| 1, mean_abs 0.25 (above --max-mean-abs 0.2), rmse 0.5, cosine 0.994\n"],
            ),
            // what is not finite must be the same; a metric that is undefined is within no limit
            (
                "[1.0,2] [1.0,\"NaN\"] --min-cosine -1",
                1,
                &[
                    "different: 1 of 2 items",
                    "\n  [1] is NaN, infinite or not a number, and differs, which passes no limit on a metric\n",
                    "\n  absolute     none  none\n  relative     none  none\n",
                ],
            ),
            (
                "[1.0,2] [1.0,\"NaN\"] --max-rmse 1 --max-mismatch 0",
                1,
                &["\n  an item is NaN, infinite or not a number"],
            ),
            // no relative error of items that are the same stands for that of one that has none
            ("[0.0,1] [5.0,1]", 1, &["\n  relative                 none       none\n"]),
            ("[0.0,1] [5.0,1.5]", 1, &["\n  relative                  0.5  [1]  none\n"]),
            ("[0.0,1] [5.0,1] --json", 1, &["\"max_rel\": {\"value\": 0.0, \"index\": [1]}"]),
            ("[1.0,\"NaN\"] [1.5,\"NaN\"] --min-cosine -1", 0, &["equal within the limits"]),
            ("[\"a\"] [\"a\"] --min-cosine 1", 0, &["equal: 1 item"]),
            ("[\"a\"] [\"b\"] --min-cosine 0", 1, &["cosine undefined is not within --min-cosine 0"]),
            ("[1.0,2,3] [2.0,4,9] --worst 1", 1, &["[2]         3.0     9.0", "and 2 more"]),
        ],
    );
}

/// Two checkpoints that differ in every way, as containers and as folders.
fn models() -> Folder {
    let folder = Folder::new();
    let (w, near, far) =
        (tensor::<f32>(&[3], &[1., 2., 3.]), tensor(&[3], &[1., 2., 3.0001]), tensor(&[3], &[1., 0., 0.]));
    let ids = tensor::<i64>(&[2], &[1, 2]);
    let named = |tensors: &[(&'static str, &crate::common::Tensor<f32>)]| -> Vec<(String, Vec<u8>)> {
        tensors.iter().map(|(name, tensor)| ((*name).to_owned(), tensor.npy())).collect()
    };
    let mut expected = named(&[("a.w", &w), ("b.w", &w), ("c.w", &w), ("d.w", &w)]);
    expected.push(("ids".to_owned(), ids.npy()));
    let mut actual = named(&[("a.w", &w), ("b.w", &near), ("c.w", &far), ("e.w", &w)]);
    actual.push(("ids".to_owned(), tensor::<i32>(&[2], &[1, 2]).npy()));
    for (name, tensors) in [("e", &expected), ("a", &actual)] {
        let members: Vec<_> = tensors.iter().map(|(name, npy)| (name.as_str(), npy.clone())).collect();
        folder.put(format!("{name}.npz"), npz(&members));
        fs::create_dir_all(folder.path(format!("{name}/sub/.hidden"))).unwrap();
        for (member, npy) in tensors {
            folder.put(format!("{name}/sub/{member}.npy"), npy);
        }
        folder.put(format!("{name}/two.npz"), npz(&members[..2]));
        folder.put(format!("{name}/config.json"), b"{\"layers\": 2}").put(format!("{name}/notes.md"), b"no tensor");
        folder.put(format!("{name}/.x.npy"), b"hidden").put(format!("{name}/sub/.hidden/y.npy"), b"hidden");
    }
    folder.put("w.npy", w.npy());
    folder
}

const COUNTS: &str = "different: 1 same, 0 within, 3 different, 1 missing, 1 extra\n";

#[test]
fn tensors_by_name() {
    let folder = models();
    let report = "\
different: 1 same, 0 within, 3 different, 1 missing, 1 extra

  verdict         mismatches        abs        rel     snr     cosine  tensor
  different                                                            ids: dtype int32, expected int64
  different  2 of 3 (66.7 %)          3          1  0.3218     0.2673  c.w: axis 0 at 1-2
  different  1 of 3 (33.3 %)  0.0000999  0.0000333   91.47  1-1.3e-10  b.w: axis 0 at 2
  missing                                                              d.w: float32 [3], renamed to e.w
  extra                                                                e.w: float32 [3], renamed from d.w
  --ignore-dtype compares the values
";
    let run = folder.run(["diff", "e.npz", "a.npz"]);
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let spaced = |text: &str| -> Vec<String> { text.lines().map(|line| words(line).join(" ")).collect() };
    assert_eq!((run.status, spaced(&text)), (Some(1), spaced(report)), "{text}");
    // errors of the items that are the same hide none that has no number
    folder.put("nan.npy", tensor::<f32>(&[3], &[1., f32::NAN, 3.]).npy());
    folder.put("zero.npy", tensor::<f32>(&[3], &[1., 0., 3.]).npy());
    folder.run(words("convert n=w.npy z=zero.npy -o one.npz")).printed().unwrap();
    folder.run(words("convert n=nan.npy z=w.npy -o other.npz")).printed().unwrap();
    let run = folder.run(["diff", "one.npz", "other.npz"]);
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let lines: Vec<_> = text.lines().skip(3).map(|line| words(line).join(" ")).collect();
    let expected = [
        "different 1 of 3 (33.3 %) nan/inf nan/inf - - n: axis 0 at 1",
        "different 1 of 3 (33.3 %) 2 none 3.979 0.8452 z: axis 0 at 1",
    ];
    assert_eq!(lines, expected, "{text}");
    prints(
        &folder,
        &[
            ("e.npz a.npz", 1, &[COUNTS]),
            ("e.npz a.npz -q", 1, &[COUNTS.trim_end(), "; worst ids: dtype int32, expected int64\n"]),
            ("e.npz e.npz", 0, &["equal: 5 same, 0 within, 0 different, 0 missing, 0 extra\n"]),
            ("e.npz a.npz --ignore-dtype --rtol 1 --rename d.*=e.*", 0, &["equal: 3 same, 2 within"]),
            ("e.npz a.npz --atol b.*=1 --atol c.*=5", 1, &["2 within, 1 different"]),
            ("e.npz a.npz --atol *=5 --atol c.*=0", 1, &["1 within, 2 different"]),
            ("e.npz a.npz --only a* --only b* --atol 1", 0, &["equal: 1 same, 1 within, 0 different"]),
            ("e.npz a.npz --exclude [b-e]* --exclude ids", 0, &["equal: 1 same, 0 within"]),
            ("e.npz a.npz --min-cosine 0.9 --only b.w", 0, &["0 same, 1 within"]),
            ("e a", 1, &["different: 2 same, 0 within, 4 different, 1 missing, 1 extra", "sub/ids: dtype", "two:b.w"]),
            ("e/sub a.npz", 1, &[COUNTS]),
            ("e.npz:a.w w.npy", 0, &["equal: 3 items"]),
            (
                "e.npz a.npz --json",
                1,
                &[
                    "{\"equal\": false, \"counts\": {\"same\": 1, \"within\": 0, \"different\": 3, \"missing\": 1, \"extra\": 1, \"unreadable\": 0}, \"tensors\": [{\"name\": \"a.w\", \"verdict\": \"same\", \"equal\": true, ",
                    "{\"name\": \"d.w\", \"verdict\": \"missing\"",
                ],
            ),
        ],
    );
    let rows: &[(&str, &[&str])] = &[
        ("e.npz w.npy", &["EXPECTED e.npz", "holds 5 tensors", "name one"]),
        ("e w.npy", &["EXPECTED e", "is a folder", "name a member"]),
        ("w.npy e", &["ACTUAL e", "is a folder"]),
        ("e.npz a.npz --only nope", &["--only nope"]),
        ("e.npz a.npz --exclude nope", &["--exclude nope"]),
        ("e.npz a.npz --rename nope=x", &["--rename nope=x"]),
        ("e.npz a.npz --rename a.w=b.w", &["EXPECTED e.npz", "two tensors", "\"b.w\""]),
        ("e.npz a.npz --atol nope*=1", &["--atol nope*"]),
        ("e.npz a.npz --atol a.w=x", &["--atol", "a.w=x"]),
        ("e.npz a.npz --map", &["--map", "one tensor"]),
        ("e.npz a.npz --heatmap x.png", &["--heatmap", "one tensor"]),
        ("w.npy w.npy --allow 1.5", &["--allow", "1.5"]),
        ("w.npy w.npy --allow 101%", &["--allow", "100%"]),
        ("w.npy w.npy --allow -1%", &["--allow", "-1%"]),
        ("w.npy w.npy --worst 1 --max-mismatch 2", &["--worst", "--max-mismatch"]),
        ("5 5 --heatmap x.png", &["EXPECTED 5", "axis"]),
        ("[] [] --heatmap x.png", &["EXPECTED []", "items"]),
        ("[\"a\"] [\"b\"] --heatmap x.png", &["has no error to draw"]),
        ("[1] [2] --heatmap x.jpg", &["x.jpg", ".png"]),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, found)| folder.refuses(words(&format!("diff {args}")), found).map(drop),
    );
}

/// The shards of an index in a folder, and what else may lie there.
#[test]
#[cfg(unix)]
fn folders() {
    let folder = Folder::new();
    let shard =
        |name: &'static str, item: f32| safetensors(&[member(name, "float32", &[1], item.to_le_bytes().to_vec())]);
    for (name, item) in [("e", 1.0), ("a", 2.0)] {
        fs::create_dir(folder.path(name)).unwrap();
        folder.put(format!("{name}/model-1.safetensors"), shard("x", 1.0));
        folder.put(format!("{name}/model-2.safetensors"), shard("y", item));
        let index = r#"{"weight_map": {"x": "model-1.safetensors", "y": "model-2.safetensors"}}"#;
        folder.put(format!("{name}/model.safetensors.index.json"), index);
        std::os::unix::fs::symlink("..", folder.path(format!("{name}/up"))).unwrap();
        std::os::unix::fs::symlink("loop", folder.path(format!("{name}/loop"))).unwrap();
        folder.put(format!("{name}/new\nline\u{1b}.npy"), tensor::<u8>(&[1], &[item as u8]).npy());
    }
    prints(
        &folder,
        &[
            ("e a --exclude up/*", 1, &["different: 1 same, 0 within, 2 different", "model:y", "new\\nline\\u{1b}"]),
            (
                "e/model.safetensors.index.json a/model.safetensors.index.json",
                1,
                &["1 same, 0 within, 1 different", "  y"],
            ),
            ("e e", 0, &["equal: "]),
        ],
    );
    // a shard that cannot be read is no reason to take it for a file of its own, nor to leave out the others
    folder.put("a/model-1.safetensors", b"");
    let run = folder.run(["diff", "a", "a"]);
    let report = String::from_utf8_lossy(&run.stdout);
    assert_eq!(run.status, Some(2), "{report}");
    assert!(report.contains("  model:x") && !report.contains("model-1:"), "{report}");
    folder.put("e/model.npy", b"");
    // two files of one name are one tensor that cannot be read, and stop no other
    let run = folder.run(words("diff e a"));
    let report = String::from_utf8_lossy(&run.stdout);
    let why = "two files of one name: e/model.safetensors.index.json and e/model.npy";
    assert!(run.status == Some(2) && report.contains(", 4 unreadable\n") && report.contains(why), "{run:?}");
    assert!(report.lines().any(|line| line.starts_with("  different  ")), "{report}");
    // so is a folder that cannot be read, with all that the other side has in it
    for side in ["p", "q"] {
        std::fs::create_dir_all(folder.path(side).join("sub/deep")).expect("folders");
        folder.put(format!("{side}/x.json"), "[1]").put(format!("{side}/sub/y.json"), "[2]");
        folder.put(format!("{side}/sub/deep/z.json"), "[3]");
    }
    use std::os::unix::fs::PermissionsExt;
    let allow = |mode| {
        std::fs::set_permissions(folder.path("p/sub"), std::fs::Permissions::from_mode(mode)).expect("permissions");
    };
    allow(0);
    if std::fs::read_dir(folder.path("p/sub")).is_ok() {
        allow(0o700);
        return skip("this user may read every folder");
    }
    let run = folder.run(words("diff p q"));
    let info = folder.run(words("info p")).printed();
    allow(0o700);
    let report = String::from_utf8_lossy(&run.stdout);
    assert!(
        report.starts_with("unreadable: 1 same, 0 within, 0 different, 0 missing, 0 extra, 2 unreadable\n"),
        "{report}"
    );
    assert_eq!(run.status, Some(2));
    assert!(info.expect("a table").contains("  sub  "), "the folder is listed");
}

/// A folder with one container, or one index, and no other tensor is compared as that file is.
#[test]
fn folders_that_are_models() {
    let folder = models();
    for name in ["e", "a"] {
        fs::create_dir(folder.path(format!("{name}.folder"))).unwrap();
        folder.put(format!("{name}.folder/m.npz"), folder.get(format!("{name}.npz")));
        folder.put(format!("{name}.folder/config.json"), b"{\"layers\": 2}");
    }
    fs::create_dir(folder.path("one")).unwrap();
    folder.put("one/w.npz", npz(&[("w", folder.get("w.npy"))]));
    prints(
        &folder,
        &[
            ("e.folder a.npz", 1, &[COUNTS, "c.w: axis 0"]),
            ("e.npz a.folder", 1, &[COUNTS]),
            ("e.folder a.folder --only b.w --atol 1", 0, &["equal: 0 same, 1 within"]),
            ("e.folder:a.w w.npy", 0, &["equal: 3 items"]),
        ],
    );
    // no folder is a single tensor
    folder.refuses(words("diff one w.npy"), &["EXPECTED one"]).expect("a folder");
    let run = folder.run(words("diff --accept e.folder a.folder"));
    let said = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(said.contains("wrote e.folder/m.npz: 4 of 6 tensors\n"), "{said}{}", run.stderr);
    assert!(said.contains("left e.folder/m.npz:d.w: only EXPECTED has it\n"), "{said}");
    prints(&folder, &[("e.folder a.npz --exclude d.w", 0, &["equal: 5 same"])]);
}

#[test]
fn accepted() {
    let folder = models();
    let accept = |args: &str, lines: &[&str]| {
        let run = folder.run([vec!["diff".to_owned(), "--accept".to_owned()], words(args)].concat());
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert_eq!(run.status, Some(0), "{args}: {text}{}", run.stderr);
        let said: Vec<_> = text.lines().filter(|line| line.starts_with("wrote") || line.starts_with("left")).collect();
        assert_eq!(said, lines, "{args}");
    };
    let same = |args: &str| {
        let run = folder.run([vec!["diff".to_owned(), "-q".to_owned()], words(args)].concat());
        assert_eq!(run.status, Some(0), "{args}: {}", String::from_utf8_lossy(&run.stdout));
    };
    // one tensor, in its own format; nothing where it passes
    folder.put("golden.json", "{\"dtype\": \"float32\", \"data\": [1, 2, 4]}");
    accept("golden.json w.npy --atol 2", &[]);
    assert_eq!(folder.get("golden.json"), b"{\"dtype\": \"float32\", \"data\": [1, 2, 4]}");
    accept("golden.json w.npy", &["wrote golden.json: 1 tensor"]);
    assert_eq!(folder.get("golden.json"), b"{\"dtype\": \"float32\", \"shape\": [3], \"data\": [1.0, 2.0, 3.0]}\n");
    // what is not there
    accept("new/x.npy w.npy", &["wrote new/x.npy: 1 tensor"]);
    assert_eq!(folder.get("new/x.npy"), folder.get("w.npy"));
    accept("new.npz:v w.npy", &["wrote new.npz: 1 tensor"]);
    same("new.npz:v w.npy");
    accept("all.safetensors a.npz", &["wrote all.safetensors: 5 tensors"]);
    same("all.safetensors a.npz");
    // containers and folders: what only one side has
    let before = folder.get("a.npz");
    accept("e.npz a.npz", &["wrote e.npz: 4 of 6 tensors", "left e.npz:d.w: only EXPECTED has it"]);
    same("e.npz a.npz --exclude d.w");
    assert_eq!(folder.get("a.npz"), before);
    let hidden = folder.get("e/.x.npy");
    accept(
        "e a",
        &[
            "wrote e/sub/b.w.npy: 1 tensor",
            "wrote e/sub/c.w.npy: 1 tensor",
            "wrote e/sub/e.w.npy: 1 tensor",
            "wrote e/sub/ids.npy: 1 tensor",
            "wrote e/two.npz: 1 of 2 tensors",
            "left e/sub/d.w.npy: only EXPECTED has it",
        ],
    );
    same("e a --exclude sub/d.w");
    assert_eq!(folder.get("e/.x.npy"), hidden);
    accept(
        "made a",
        &[
            "wrote made/sub/a.w.npy: 1 tensor",
            "wrote made/sub/b.w.npy: 1 tensor",
            "wrote made/sub/c.w.npy: 1 tensor",
            "wrote made/sub/e.w.npy: 1 tensor",
            "wrote made/sub/ids.npy: 1 tensor",
            "wrote made/two.npz: 2 tensors",
        ],
    );
    same("made a");
    // what cannot be written
    each(
        [("[1] [2]", "--accept needs a file"), ("text.csv [[[1]]]", "more than 2 axes")],
        |(args, _)| (*args).to_owned(),
        |(args, found)| {
            folder.put("text.csv", "1\n").put("dump.bin", [0; 8]);
            let run = folder.run([vec!["diff".to_owned(), "--accept".to_owned()], words(args)].concat());
            let kept = (folder.get("text.csv"), folder.get("dump.bin")) == (b"1\n".to_vec(), vec![0; 8]);
            let as_expected =
                run.status == Some(2) && kept && run.stderr.starts_with("error: ") && run.stderr.contains(found);
            if as_expected { Ok(()) } else { Err(format!("{run:?}")) }
        },
    );
}

/// In every format: what is told, what is written and what stays, and that it is written once.
#[test]
fn accepted_in_every_format() {
    let folder = Folder::new();
    let (old, new, other) = (tensor::<f32>(&[2], &[1., 2.]), tensor::<f32>(&[2], &[1., 5.]), tensor::<i64>(&[1], &[7]));
    folder.put("new.npy", new.npy_fortran());
    let part = |name: &'static str, tensor: &crate::common::Tensor<f32>| member(name, "float32", &[2], tensor.bytes());
    let kept = member("z", "int64", &[1], other.bytes());
    let single = ["g.npy", "g.json", "g.pb", "g.csv", "g.safetensors", "g.npz"];
    for name in single {
        folder.put("old.npy", old.npy()).run(["convert", "g=old.npy", "-o", name]).printed().unwrap();
    }
    fs::create_dir(folder.path("dir")).unwrap();
    folder.put("dir/w.npy", old.npy()).put("dir/z.npy", other.npy()).put("dir/notes.txt", "notes");
    let metadata = r#"{"__metadata__":{"format":"pt"},"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"z":{"dtype":"I64","shape":[1],"data_offsets":[8,16]}}"#;
    folder
        .put("m.safetensors", crate::common::safetensors_with_header(metadata, &[old.bytes(), other.bytes()].concat()));
    folder.put("m.npz", npz(&[("w", old.npy()), ("z", other.npy())]));
    folder
        .put("m-1.safetensors", safetensors(&[part("w", &old)]))
        .put("m-2.safetensors", safetensors(std::slice::from_ref(&kept)));
    folder.put(
        "m.safetensors.index.json",
        r#"{"metadata":{"total_size":16},"weight_map":{"w":"m-1.safetensors","z":"m-2.safetensors"}}"#,
    );
    folder.put("both.safetensors", safetensors(&[part("w", &new), kept]));
    fs::create_dir(folder.path("both")).unwrap();
    folder.put("both/w.npy", new.npy()).put("both/z.npy", other.npy());
    let mut rows: Vec<_> =
        single.iter().map(|name| (*name, "new.npy", vec![*name], format!("wrote {name}: 1 tensor"))).collect();
    rows.extend([
        ("m.safetensors:w", "new.npy", vec!["m.safetensors"], "wrote m.safetensors: 1 of 2 tensors".to_owned()),
        ("m.npz", "both.safetensors", vec!["m.npz"], "wrote m.npz: 1 of 2 tensors".to_owned()),
        (
            "m.safetensors.index.json",
            "both.safetensors",
            vec!["m-1.safetensors"],
            "wrote m-1.safetensors: 1 tensor".to_owned(),
        ),
        ("dir", "both", vec!["dir/w.npy"], "wrote dir/w.npy: 1 tensor".to_owned()),
    ]);
    let files = || {
        let mut all = folder.content();
        all.extend(["dir/w.npy", "dir/z.npy", "dir/notes.txt"].map(|name| (name.into(), folder.get(name))));
        all
    };
    each(
        &rows,
        |(expected, actual, ..)| format!("{expected} {actual}"),
        |(expected, actual, written, line)| {
            let before = files();
            let args = ["diff", expected, actual, "--accept", "--ignore-dtype"];
            let run = folder.run(args);
            let text = String::from_utf8_lossy(&run.stdout).into_owned();
            if run.status != Some(0) || !run.stderr.is_empty() || text.lines().last() != Some(line) {
                return Err(format!("{text}{run:?}"));
            }
            let changed: Vec<_> = files().into_iter().filter(|(name, file)| before.get(name) != Some(file)).collect();
            let names: Vec<_> = changed.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
            if names != *written || files().len() != before.len() {
                return Err(format!("changed {names:?}"));
            }
            // it passes now, and nothing is written again
            folder.run(["diff", expected, actual, "--ignore-dtype", "-q"]).printed()?;
            let inode = |name: &str| fs::metadata(folder.path(name)).map(|file| file.modified().ok()).ok();
            let once = inode(written[0]);
            let again = folder.run(args).printed()?;
            let told = again.contains("wrote") || inode(written[0]) != once;
            if told { Err(format!("written again: {again}")) } else { Ok(()) }
        },
    );
    assert_eq!(folder.get("g.npy"), new.npy(), "C order");
    let info = folder.run(["info", "m.safetensors"]).printed().unwrap();
    assert!(info.contains("metadata format = pt"), "{info}");
    folder.run(["diff", "m.safetensors:z", "dir/z.npy"]).printed().unwrap();
    // told beside JSON
    folder.put("g.npy", old.npy());
    let run = folder.run(["diff", "g.npy", "new.npy", "--json", "--accept"]);
    assert_eq!((run.status, run.stderr.as_str()), (Some(0), "wrote g.npy: 1 tensor\n"));
    assert!(run.stdout.starts_with(b"{\"equal\": false, "));
    folder.put("g.npy", old.npy());
    // what the user may not write (root may write all)
    let mut permissions = fs::metadata(folder.path("g.npy")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(folder.path("g.npy"), permissions).unwrap();
    if fs::OpenOptions::new().write(true).open(folder.path("g.npy")).is_err() {
        let run = folder.run(["diff", "g.npy", "new.npy", "--accept"]);
        assert!(run.status == Some(2) && run.stderr.starts_with("error: EXPECTED g.npy: "), "{run:?}");
        assert_eq!(folder.get("g.npy"), old.npy());
    }
}

/// What is not accepted: one line before any report, and nothing is written.
#[test]
fn not_accepted() {
    let folder = models();
    folder.put("dump.bin", [0; 12]);
    let old = json!({"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "<f4", "compressor": null,
        "filters": null, "order": "C", "fill_value": 0});
    fs::create_dir_all(folder.path("old.zarr/x")).unwrap();
    folder.put("old.zarr/.zgroup", r#"{"zarr_format": 2}"#);
    folder.put("old.zarr/x/.zarray", old.to_string()).put("old.zarr/x/0", [0; 12]);
    let version =
        "in a Zarr store of version 2 only items are changed: tensorop convert STORE -o NAME.zarr makes version 3";
    let endings = format!(
        "end it in .npy, .npz, .safetensors, .pb, {}.json, .csv or .tsv",
        if cfg!(feature = "zarr") { ".zarr, " } else { "" }
    );
    let zarr = [
        ("old.zarr:x [[1]]", format!("EXPECTED old.zarr:x: float32 [3], and ACTUAL is float32 [1, 1]; {version}")),
        (
            "old.zarr:x [1.5,2.5] --dtype float32",
            format!("EXPECTED old.zarr:x: float32 [3], and ACTUAL is float32 [2]; {version}"),
        ),
        ("old.zarr:y w.npy", format!("EXPECTED old.zarr: has no such tensor; {version}")),
        ("old.zarr a.npz", format!("EXPECTED old.zarr: has no such tensor; {version}")),
    ];
    let mut rows = vec![
        ("new.txt w.npy", format!("EXPECTED new.txt: text is written, but not read again: {endings}")),
        ("new.bin w.npy", format!("EXPECTED new.bin: raw is written, but not read again: {endings}")),
        ("new.xyz w.npy", format!("EXPECTED new.xyz: the name does not show the format: {endings}")),
        ("new w.npy --json", format!("EXPECTED new: the name does not show the format: {endings}")),
        ("new a.npz", format!("EXPECTED new: the name does not show the format: {endings}")),
        (
            "dump.bin:float32 [[1],[2],[3]]",
            "EXPECTED dump.bin:float32: float32 [3], and ACTUAL is float32 [3, 1]; bytes without a header: only items can \
             be changed; name a file of another format"
                .to_owned(),
        ),
        (
            "dump.bin:float32[]@0 2.5 --dtype float32",
            "EXPECTED dump.bin:float32[]@0: a tensor without axes cannot be changed in place".to_owned(),
        ),
        (
            "dump.bin:int32 w.npy -q",
            "EXPECTED dump.bin:int32: int32 [3], and ACTUAL is float32 [3]; bytes without a header: only items can be \
             changed; name a file of another format"
                .to_owned(),
        ),
    ];
    rows.extend(zarr.into_iter().filter(|_| cfg!(feature = "zarr")));
    each(
        &rows,
        |(args, _)| (*args).to_owned(),
        |(args, message)| {
            let before = (folder.content(), folder.tree("old.zarr"));
            let run = folder.run([vec!["diff".to_owned(), "--accept".to_owned()], words(args)].concat());
            let is_refused =
                run.status == Some(2) && run.stdout.is_empty() && run.stderr == format!("error: {message}\n");
            let is_kept = (folder.content(), folder.tree("old.zarr")) == before;
            if is_refused && is_kept { Ok(()) } else { Err(format!("kept {is_kept}: {run:?}")) }
        },
    );
}

/// What is not written as it is takes items where it lies, and a compressed archive stays one.
#[test]
fn accepted_as_it_is() {
    let folder = Folder::new();
    let (old, new) = (tensor::<f32>(&[2], &[1., 2.]), tensor::<f32>(&[2], &[1., 5.]));
    folder.put("old.npy", old.npy()).put("new.npy", new.npy_fortran());
    let accept = |args: &str, line: &str| {
        let run = folder.run(words(&format!("diff --accept {args}")));
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(
            run.status == Some(0) && run.stderr.is_empty() && text.ends_with(&format!("\n{line}\n")),
            "{text}{run:?}"
        );
        let again = folder.run(words(&format!("diff --accept {args} -q"))).printed().unwrap();
        assert_eq!(again, "equal: 2 items of float32 [2]\n", "{args}");
    };
    // only the bytes of the view, of whatever order
    let big = |tensor: &crate::common::Tensor<f32>| {
        tensor.bytes().chunks(4).flat_map(|item| item.iter().rev().copied().collect::<Vec<_>>()).collect::<Vec<u8>>()
    };
    folder.put("dump.bin", [&[7; 5][..], &big(&old), &[9; 3]].concat());
    accept("dump.bin:>f4[2]@5 new.npy", "wrote dump.bin:>f4[2]@5: 1 tensor");
    assert_eq!(folder.get("dump.bin"), [&[7; 5][..], &big(&new), &[9; 3]].concat());
    // from its own file
    folder.put("dump.bin", [old.bytes(), new.bytes()].concat());
    accept("dump.bin:float32[2]@0 dump.bin:float32[2]@8", "wrote dump.bin:float32[2]@0: 1 tensor");
    assert_eq!(folder.get("dump.bin"), [new.bytes(), new.bytes()].concat());
    for (packed, method) in [("--compress", 8), ("", 0)] {
        folder.run(words(&format!("convert a=old.npy b=old.npy {packed} -o m.npz"))).printed().unwrap();
        accept("m.npz:b new.npy", "wrote m.npz: 1 of 2 tensors");
        folder.run(words(&format!("convert a=old.npy b=new.npy {packed} -o again.npz"))).printed().unwrap();
        assert_eq!((folder.get("m.npz"), folder.get("m.npz")[8]), (folder.get("again.npz"), method));
    }
    if !cfg!(feature = "zarr") {
        return;
    }
    let array = json!({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": "<f4", "compressor": null,
        "filters": null, "order": "C", "fill_value": 0});
    for (name, tensor) in [("x", &old), ("y", &new)] {
        fs::create_dir_all(folder.path(format!("v2.zarr/{name}"))).unwrap();
        folder.put(format!("v2.zarr/{name}/.zarray"), array.to_string());
        folder.put(format!("v2.zarr/{name}/0"), tensor.bytes());
    }
    folder.put("v2.zarr/.zgroup", r#"{"zarr_format": 2}"#);
    let mut tree = folder.tree("v2.zarr");
    accept("v2.zarr:x new.npy", "wrote v2.zarr:x: 1 tensor");
    tree.iter_mut().filter(|(name, _)| name.as_str() == "x/0").for_each(|(_, file)| *file = new.bytes().to_vec());
    assert!(folder.tree("v2.zarr") == tree);
    // by names, of which one does not pass
    folder.put(
        "both.safetensors",
        safetensors(&[member("x", "float32", &[2], old.bytes()), member("y", "float32", &[2], new.bytes())]),
    );
    let run = folder.run(words("diff --accept v2.zarr both.safetensors")).printed().unwrap();
    assert!(run.ends_with("\nwrote v2.zarr: 1 tensor\n"), "{run}");
    tree.iter_mut().filter(|(name, _)| name.as_str() == "x/0").for_each(|(_, file)| *file = old.bytes().to_vec());
    assert!(folder.tree("v2.zarr") == tree);
}

#[test]
fn drawn() {
    let folder = Folder::new();
    let run = folder.run(words("diff [[1,2,3],[4,5,6]] [[1,2,0],[4,0,0]] --map"));
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let map = "\n  density of mismatches (axis 0: 2 down, axis 1: 3 across): . few to @ all\n  +---+\n  |  @|\n  | @@|\n  +---+\n";
    assert!(run.status == Some(1) && text.ends_with(map), "{text}");
    for (args, status) in [
        ("[[1.0,2,3]] [[1.0,2,\"NaN\"]]", 1),
        ("[[1.0,2,3]] [[1.0,2,3]]", 0),
        ("[[[1],[2]],[[3],[4]]] [[[1],[2]],[[3],[9]]]", 1),
    ] {
        let run = folder.run(words(&format!("diff {args} --heatmap out.png")));
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(run.status == Some(status) && text.contains("out.png: "), "{args}: {text}{}", run.stderr);
        assert!(folder.get("out.png").starts_with(b"\x89PNG"), "{args}");
        fs::remove_file(folder.path("out.png")).unwrap();
    }
    // the verdict only, one line
    for (args, lines) in [("[[1.0,2]] [[1.0,3]]", 1), ("[1] [1,2]", 1)] {
        let run = folder.run(words(&format!("diff {args} -q --heatmap quiet.png")));
        assert_eq!(run.stdout.iter().filter(|&&byte| byte == b'\n').count(), lines, "{run:?}");
    }
    assert!(folder.get("quiet.png").starts_with(b"\x89PNG"));
}

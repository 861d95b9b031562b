//! Folders of files as containers: what their tensors are called, in every sub-command that reads one.

use std::fs;

use crate::common::{Folder, Run, deflated, each, lfs_pointer, npz, tensor, words, zip};

/// What a run printed and said.
fn text(run: &Run) -> String {
    format!("{}{}", String::from_utf8_lossy(&run.stdout), run.stderr)
}

/// A folder of one model beside texts of all kinds, one of the model and an adapter, one of a dump, and the model alone.
fn folders() -> Folder {
    let folder = Folder::new();
    let w = tensor::<f32>(&[2], &[1., 2.]).npy();
    let model = npz(&[("enc.w", w.clone()), ("enc.b", w.clone()), ("head", w.clone())]);
    folder.put("m.npz", &model).put("w.npy", &w);
    for name in ["texts", "adapter", "dump"] {
        fs::create_dir_all(folder.path(name).join("1_Pooling")).unwrap();
        folder.put(format!("{name}/model.npz"), &model);
        folder.put(format!("{name}/modules.json"), br#"[{"idx": 0, "type": "Transformer"}]"#);
        folder.put(format!("{name}/1_Pooling/config.json"), br#"{"dim": 2}"#);
        folder.put(format!("{name}/results.csv"), "epoch,loss\n1,0.5\n").put(format!("{name}/ids.json"), "[1, 2]");
        folder.put(format!("{name}/README.md"), "x");
    }
    folder.put("adapter/lora.npz", npz(&[("enc.w", w.clone()), ("lora.a", w.clone())]));
    folder.put("dump/x.npy", &w);
    // what is no JSON at all would stop a comparison in which it is a tensor
    folder.put("texts/broken.json", "{");
    folder
}

#[test]
fn one_model_has_its_own_names() {
    let folder = folders();
    let names = |operand: &str, more: &str| {
        let run =
            folder.run([vec!["info".to_owned(), "--members".to_owned(), operand.to_owned()], words(more)].concat());
        // names of what cannot be read are names, too
        String::from_utf8_lossy(&run.stdout).lines().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let rows = [
        ("texts", "enc.b enc.w head"),
        ("texts:enc.*", "enc.b enc.w"),
        ("texts:head", "head"),
        // a text is found where it is named by itself
        ("texts:ids", "ids"),
        ("adapter:ids", "ids"),
        ("adapter", "lora:enc.w lora:lora.a model:enc.b model:enc.w model:head"),
        ("adapter:model:*", "model:enc.b model:enc.w model:head"),
        // beside single tensors a text is one, too, unless it holds none
        ("dump", "ids model:enc.b model:enc.w model:head modules results x"),
    ];
    each(
        rows,
        |(operand, _)| (*operand).to_owned(),
        |(operand, expected)| {
            let mut found: Vec<_> = names(operand, "").split(' ').map(str::to_owned).collect();
            found.sort();
            if found.join(" ") == *expected { Ok(()) } else { Err(found.join(" ")) }
        },
    );
    let shown = folder.run(["show", "texts:head"]).printed().unwrap();
    assert!(shown.starts_with("texts:head: float32 [2]\n"), "{shown}");
    // what names begin with in a folder of several models is no name in this one
    folder.refuses(["show", "texts:model:head"], &["FILE texts:model:head", "did you mean \"head\"?"]).unwrap();
    // what is converted has the names that patterns leave
    for (args, expected) in [
        ("texts", "enc.b enc.w head"),
        ("texts --only enc.*", "enc.b enc.w"),
        ("texts --only model:enc.*", "enc.b enc.w"),
        ("texts --exclude model:head", "enc.b enc.w"),
        ("texts --exclude m*", "enc.b enc.w head"),
        ("texts --only ids", "ids"),
        ("adapter --exclude lora:*", "enc.b enc.w head"),
        ("adapter --exclude lora* --only enc.*", "enc.b enc.w"),
        ("adapter --exclude lora* --exclude enc.b", "enc.w head"),
        ("adapter --only model*", "enc.b enc.w head"),
        ("adapter --only model:* --rename enc.*=*", "b head w"),
        ("adapter --only *.w --prefix-names", "lora:enc.w model:enc.w"),
        ("adapter --exclude lora:enc.w --rename model:*=* --rename lora:*=*", "enc.b enc.w head lora.a"),
        ("dump --only model:enc.*", "enc.b enc.w"),
        ("dump --exclude x --exclude enc.b", "enc.w head"),
    ] {
        let run = folder.run(words(&format!("convert {args} -o out.safetensors")));
        assert!(run.status == Some(0), "{args}: {run:?}");
        let mut found: Vec<_> = names("out.safetensors", "").split(' ').map(str::to_owned).collect();
        found.sort();
        assert_eq!(found.join(" "), expected, "{args}");
    }
    fs::remove_file(folder.path("out.safetensors")).unwrap();
    for (args, fragment) in [
        ("convert adapter --only enc.* -o o.npz", "--only enc.*: matches no tensor"),
        ("convert texts --exclude lora:* -o o.npz", "--exclude lora:*: matches no tensor"),
        ("convert adapter --exclude lora:* --exclude nope -o o.npz", "--exclude nope: matches no tensor"),
        (
            "convert adapter -o o.npz",
            "IN adapter: tensors of \"lora\", \"model\" would be called FILE:NAME, such as \"lora:enc.w\": --prefix-names writes \
             these names, --rename 'lora:*=*' drops the file's, and --only 'lora:*' takes one file",
        ),
        ("convert adapter --rename lora:*=* -o o.npz", "tensors of \"model\" would be called FILE:NAME"),
        ("convert adapter -o o.safetensors.index.json", "would be called FILE:NAME"),
    ] {
        folder.refuses(words(args), &[fragment]).unwrap();
    }
}

#[test]
fn models_are_compared_by_their_own_names() {
    let folder = folders();
    fs::create_dir(folder.path("plain")).unwrap();
    folder.put("plain/weights.npz", folder.get("m.npz"));
    let equal = |count: usize| format!("equal: {count} same, 0 within, 0 different, 0 missing, 0 extra\n");
    let rows: &[(&str, i32, &str)] = &[
        ("texts m.npz", 0, &equal(3)),
        ("m.npz texts", 0, &equal(3)),
        ("texts plain", 0, &equal(3)),
        ("texts texts", 0, &equal(3)),
        ("plain texts --only enc.*", 0, &equal(2)),
        ("adapter m.npz --exclude lora:*", 0, &equal(3)),
        ("adapter plain --exclude lora:*", 0, &equal(3)),
        ("plain adapter --exclude lora:* --exclude head", 0, &equal(2)),
        ("m.npz adapter --only model:*", 0, &equal(3)),
        ("texts adapter --only model:enc.*", 0, &equal(2)),
        ("dump m.npz --only model:*", 0, &equal(3)),
        ("texts dump --only ids", 0, &equal(1)),
        // beside several models a model is called by its file, too
        ("texts adapter", 1, "different: 3 same, 0 within, 0 different, 0 missing, 2 extra\n"),
    ];
    each(
        rows,
        |(args, ..)| (*args).to_owned(),
        |(args, status, printed)| {
            let run = folder.run(words(&format!("diff {args}")));
            let is_right = run.status == Some(*status) && text(&run).starts_with(printed);
            if is_right { Ok(()) } else { Err(text(&run)) }
        },
    );
    let run = folder.run(words("diff texts m.npz -v"));
    for left in ["modules.json", "1_Pooling/config.json", "results.csv", "ids.json", "broken.json", "README.md"] {
        assert!(text(&run).contains(&format!("\n  left alone: texts/{left}\n")), "{left}: {}", text(&run));
    }
    // a model that is damaged has nothing that could be missing
    folder.put("plain/weights.npz", b"PK\x03\x04, and no more").put("plain/a.json", "[1]");
    for args in ["texts plain", "plain m.npz"] {
        let run = folder.run(words(&format!("diff {args}")));
        let counts = "unreadable: 0 same, 0 within, 0 different, 0 missing, 0 extra, 3 unreadable\n";
        assert!(run.status == Some(2) && text(&run).starts_with(counts), "{args}: {}", text(&run));
    }
    // what is accepted goes into the model's own file
    let other = tensor::<f32>(&[2], &[1., 3.]).npy();
    folder.put("new.npz", npz(&[("enc.w", other)]));
    let run = folder.run(words("diff adapter new.npz --only model:enc.w --accept"));
    assert!(text(&run).ends_with("wrote adapter/model.npz: 1 of 3 tensors\n"), "{}", text(&run));
}

/// Files that hold tensors and are not read, and what they are called.
const NOT_READ: [(&str, &[u8], &str); 17] = [
    ("a.pt", b"x", "a PyTorch file"),
    ("sub/a.PTH", b"x", "a PyTorch file"),
    ("a.pt2", b"x", "a PyTorch file"),
    ("a.pkl", b"x", "a Python pickle"),
    ("a.parquet", b"x", "a Parquet file"),
    ("a.tif", b"x", "a TIFF image"),
    ("sub/a.TIFF", b"x", "a TIFF image"),
    ("a.ckpt", b"x", "a checkpoint of PyTorch or TensorFlow"),
    ("tf_model.h5", b"x", "an HDF5 file"),
    ("a.hdf5", b"x", "an HDF5 file"),
    ("a.nc", b"x", "a netCDF file"),
    ("a.tflite", b"x", "a TensorFlow Lite model"),
    ("a.ort", b"x", "a model in ONNX Runtime's own format"),
    ("a.pte", b"x", "an ExecuTorch program"),
    ("a.mat", b"x", "a MATLAB file"),
    ("a.zarr.zip", b"x", "a Zarr store in a ZIP archive"),
    ("g.bin", b"GGUF\x03\0\0\0", "a GGUF model"),
];

/// What `torch.save` writes of settings.
fn torch() -> Vec<u8> {
    let files = [("data.pkl", &b"\x80\x02}q\x00."[..]), ("version", b"3\n")];
    zip(&files.map(|(name, bytes)| deflated(&format!("pytorch_model/{name}"), bytes)))
}

#[test]
fn what_is_not_read_is_not_equal() {
    let folder = folders();
    let put = |name: &str, bytes: &[u8]| {
        fs::create_dir_all(folder.path(name).parent().unwrap()).unwrap();
        folder.put(name, bytes);
    };
    let equal = "equal: 3 same, 0 within, 0 different, 0 missing, 0 extra\n";
    let unreadable = "unreadable: 3 same, 0 within, 0 different, 0 missing, 0 extra, 1 unreadable\n";
    let pointer = lfs_pointer();
    let all = NOT_READ.into_iter().chain([
        (
            "adapter_model.safetensors",
            pointer.as_bytes(),
            "a Git LFS pointer in place of the file: git lfs pull fetches it",
        ),
        ("sub/embeddings.npy", pointer.as_bytes(), "a Git LFS pointer"),
        ("pytorch_model-00001-of-00002.bin", pointer.as_bytes(), "a Git LFS pointer"),
    ]);
    each(
        all,
        |(name, ..)| (*name).to_owned(),
        |(name, bytes, what)| {
            put(&format!("texts/{name}"), bytes);
            let check = |args: &str, status: i32, first: &str, fragments: &[&str]| {
                let run = folder.run(words(args));
                let is_right = run.status == Some(status) && text(&run).starts_with(first);
                let lacks = fragments.iter().find(|fragment| !text(&run).contains(**fragment));
                if is_right && lacks.is_none() {
                    Ok(())
                } else {
                    Err(format!("{args}: {} lacks {lacks:?}", text(&run)))
                }
            };
            // the model keeps its names, on either side
            let said = format!("{name}: EXPECTED texts/{name}: {what}");
            check("diff texts m.npz", 2, unreadable, &[&said, "error: 1 of 4 tensors cannot be read"])?;
            check("diff texts texts", 0, "equal: 4 same, ", &[])?;
            check("diff m.npz texts -q", 2, "unreadable: 3 same", &[])?;
            check("diff texts texts --only model:*", 0, equal, &[])?;
            check(&format!("diff texts m.npz --exclude {name}"), 0, equal, &[])?;
            let said = format!("{{\"name\": \"{name}\", \"verdict\": \"unreadable\", \"error\": ");
            check("diff texts m.npz --json", 2, "{\"equal\": false, ", &["\"unreadable\": 1}", &said])?;
            check("info texts", 0, "name ", &["enc.w"])?;
            check("convert texts -o o.npz --dry-run", 0, "", &[])?;
            // alone it is an error
            put(&format!("alone/{name}"), bytes);
            let said = format!("FILE alone: holds no readable tensor; {name}: {what}");
            folder.refuses(["info", "alone"], &[&said])?;
            folder.refuses(["show", "alone"], &[&said])?;
            check("diff alone m.npz", 2, "", &[": 0 same, ", " tensors cannot be read"])?;
            fs::remove_dir_all(folder.path("alone")).unwrap();
            fs::remove_file(folder.path(format!("texts/{name}"))).unwrap();
            Ok(())
        },
    );
    // bytes of any kind, settings that torch.save wrote, and files that are empty hold no tensors
    for (name, bytes) in [("dump.bin", vec![1; 64]), ("training_args.bin", torch()), ("empty.bin", vec![])] {
        put(&format!("texts/{name}"), &bytes);
    }
    let run = folder.run(words("diff texts m.npz -v"));
    assert!(run.status == Some(0) && text(&run).contains("left alone: texts/dump.bin"), "{}", text(&run));
    // what is there on both sides is one, and is excluded by a pattern
    put("texts/model.pt", b"x");
    put("adapter/model.pt", b"x");
    // on one side alone, bytes without a header are unreadable where both are folders
    let run = folder.run(words("diff texts adapter --exclude lora:*"));
    let said = "unreadable  dump.bin: EXPECTED texts/dump.bin: bytes without a header, with no dtype and shape given: --shapes";
    assert!(run.status == Some(2) && text(&run).contains(said), "{}", text(&run));
    ["dump.bin", "empty.bin"].iter().for_each(|name| fs::remove_file(folder.path(format!("texts/{name}"))).unwrap());
    for (args, status, first) in [
        // files of the same bytes are the same, whatever they hold
        ("texts adapter --exclude lora:*", 0, "equal: 4 same, "),
        ("texts adapter --exclude lora:* --exclude *.pt", 0, equal),
        ("texts m.npz --accept", 2, unreadable),
    ] {
        let run = folder.run(words(&format!("diff {args}")));
        assert!(run.status == Some(status) && text(&run).starts_with(first), "{args}: {}", text(&run));
    }
}

#[test]
fn foreign_content_behind_known_endings() {
    let folder = Folder::new();
    let foreign: &[u8] = b"CDF\x01\0\0\0\0";
    for name in ["q.npy", "q.safetensors", "q.npz"] {
        for side in ["one", "other", "third"] {
            fs::create_dir_all(folder.path(side)).expect("a folder");
            folder.put(format!("{side}/{name}"), [foreign, if side == "third" { b"3" } else { b"1" }].concat());
        }
        let diff = |args: &str, status: i32, first: &str| {
            let run = folder.run(words(&format!("diff {args}")));
            assert!(run.status == Some(status) && text(&run).starts_with(first), "{name}: {args}: {}", text(&run));
        };
        diff("one other", 0, "equal: 1 same, ");
        diff("one third", 2, "unreadable: 0 same, ");
        // what is cut off is not foreign
        folder.put(format!("one/{name}"), b"\x93NUM").put(format!("other/{name}"), b"\x93NUM");
        diff("one other", 2, "unreadable: 0 same, ");
        for side in ["one", "other", "third"] {
            fs::remove_dir_all(folder.path(side)).expect("removed");
        }
    }
}

#[test]
fn clones_without_their_files() {
    let folder = folders();
    for name in ["clone", "other", "sharded"] {
        fs::create_dir(folder.path(name)).unwrap();
        folder.put(format!("{name}/config.json"), "{}");
    }
    let map = ["enc.b", "enc.w", "head"].map(|name| {
        folder.run(words(&format!("convert m.npz --only {name} -o sharded/{name}.safetensors"))).printed().unwrap();
        format!("\"{name}\": \"{name}.safetensors\"")
    });
    folder.put("sharded/model.safetensors.index.json", format!("{{\"weight_map\": {{{}}}}}", map.join(", ")));
    for name in ["clone/model.safetensors", "other/a.npz", "other/b.npy", "other/c.pt"] {
        folder.put(name, lfs_pointer());
    }
    folder.put("clone/tokenizer.json", lfs_pointer());
    let pointer = "a Git LFS pointer in place of the file: git lfs pull fetches it";
    for (folder_name, named) in [
        ("clone", format!("holds no readable tensor; model.safetensors: {pointer}")),
        ("other", format!("a.npz: {pointer}; b.npy: {pointer}; c.pt: a PyTorch file, which is not read")),
    ] {
        folder.refuses(["info", folder_name], &[&format!("FILE {folder_name}: "), &named]).unwrap();
    }
    let rows: &[(&str, &str, &[&str])] = &[
        // all that the other side has may lie in the file that is not there, and the text is left alone
        (
            "clone m.npz",
            "unreadable: 0 same, 0 within, 0 different, 0 missing, 0 extra, 3 unreadable\n",
            &["enc.w: EXPECTED clone/model.safetensors: a Git LFS pointer"],
        ),
        (
            "sharded clone",
            "unreadable: 0 same, 0 within, 0 different, 0 missing, 0 extra, 3 unreadable\n",
            &["head: ACTUAL clone/model.safetensors: "],
        ),
        (
            "other changed",
            "unreadable: 1 same, 0 within, 0 different, 0 missing, 0 extra, 2 unreadable\n",
            &["  b: ", "  c.pt: "],
        ),
    ];
    fs::create_dir(folder.path("changed")).unwrap();
    folder.put("changed/a.npz", lfs_pointer());
    for name in ["b.npy", "c.pt"] {
        folder.put(format!("changed/{name}"), lfs_pointer().replace("size ", "size 1"));
    }
    // pointers to the same content are the same
    for (args, count) in [("clone clone", 1), ("other other", 3)] {
        let run = folder.run(words(&format!("diff {args}")));
        assert!(run.status == Some(0) && text(&run).starts_with(&format!("equal: {count} same, ")), "{}", text(&run));
        let run = folder.run(words(&format!("diff {args} --json")));
        assert!(
            run.status == Some(0) && text(&run).contains("\"verdict\": \"same\", \"equal\": true, "),
            "{}",
            text(&run)
        );
    }
    each(
        rows,
        |(args, ..)| (*args).to_owned(),
        |(args, first, fragments)| {
            let run = folder.run(words(&format!("diff {args}")));
            let lacks = fragments.iter().find(|fragment| !text(&run).contains(**fragment));
            let is_right = run.status == Some(2) && text(&run).starts_with(first) && lacks.is_none();
            if is_right { Ok(()) } else { Err(format!("{} lacks {lacks:?}", text(&run))) }
        },
    );
    // a shard that is not there is told of each of its tensors
    folder.run(words("diff sharded m.npz")).printed().unwrap();
    folder.put("sharded/head.safetensors", lfs_pointer());
    let run = folder.run(words("diff sharded m.npz"));
    assert!(text(&run).starts_with("unreadable: 2 same, "), "{}", text(&run));
    assert!(text(&run).contains(pointer), "{}", text(&run));
}

#[test]
fn what_was_renamed() {
    let folder = folders();
    let npy = |items: &[f32]| tensor::<f32>(&[items.len()], items).npy();
    let (a, b, c, zeros) = (npy(&[1., 2.]), npy(&[3., 4.]), npy(&[5.]), npy(&[0.; 3]));
    folder.put("e.npz", npz(&[("net.a", a.clone()), ("net.b", b.clone()), ("net.c", c.clone())]));
    folder.put("p.npz", npz(&[("a", a.clone()), ("b", c.clone()), ("c", b.clone())]));
    folder.put("q.npz", npz(&[("x", a.clone()), ("same", c.clone()), ("z1", zeros.clone()), ("z2", zeros.clone())]));
    folder.put("r.npz", npz(&[("y", a.clone()), ("same", c.clone()), ("u", zeros.clone()), ("v", b.clone())]));
    fs::create_dir(folder.path("two")).unwrap();
    folder.put("two/other.npz", folder.get("adapter/model.npz")).put("two/lora.npz", folder.get("adapter/lora.npz"));
    let rows: &[(&str, &[&str])] = &[
        // the prefix, and on each line what has the same bytes
        (
            "e.npz p.npz",
            &[
                "different: 0 same, 0 within, 0 different, 3 missing, 3 extra\n",
                "  missing  net.a: float32 [2], renamed to a\n",
                "  missing  net.b: float32 [2], renamed to c\n",
                "  extra    b: float32 [1], renamed from net.c\n",
                "\n  --rename 'net.*=*' joins missing and extra tensors\n",
            ],
        ),
        ("p.npz e.npz", &["  --rename '*=net.*' joins missing and extra tensors\n"]),
        // two that are alike are told once each, in the order of their names
        (
            "q.npz r.npz",
            &[
                "different: 1 same, 0 within, 0 different, 3 missing, 3 extra\n",
                "  missing  x: float32 [2], renamed to y\n",
                "  missing  z1: float32 [3], renamed to u\n",
                "  missing  z2: float32 [3]\n",
                "  extra    v: float32 [2]\n",
            ],
        ),
        // what is alike is paired by the prefix first
        (
            "m.npz two",
            &[
                "  missing  enc.b: float32 [2], renamed to other:enc.b\n",
                "  missing  enc.w: float32 [2], renamed to other:enc.w\n",
                "  extra    lora:enc.w: float32 [2]\n",
                "\n  --rename '*=other:*' joins missing and extra tensors\n",
            ],
        ),
        (
            "adapter two",
            &["2 same, 0 within, 0 different, 3 missing, 3 extra\n", "\n  --rename 'model:*=other:*' joins "],
        ),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, fragments)| {
            let run = folder.run(words(&format!("diff {args}")));
            let lacks = fragments.iter().find(|fragment| !text(&run).contains(**fragment));
            let ends = fragments
                .last()
                .is_none_or(|last| !last.contains("--rename") || text(&run).trim_end().ends_with("tensors"));
            if run.status == Some(1) && lacks.is_none() && ends {
                Ok(())
            } else {
                Err(format!("{} lacks {lacks:?}", text(&run)))
            }
        },
    );
    // the rule that is told is one that joins
    for (args, rule) in [("e.npz p.npz", "net.*=*"), ("m.npz two", "*=other:*"), ("adapter two", "model:*=other:*")] {
        let run = folder.run([words(&format!("diff {args} --rename")), vec![rule.to_owned()]].concat());
        assert!(text(&run).contains(" 0 missing, ") && !text(&run).contains("--rename"), "{args}: {}", text(&run));
    }
    let run = folder.run(words("diff e.npz p.npz --json"));
    for part in [
        "{\"name\": \"net.a\", \"verdict\": \"missing\", \"renamed\": \"a\", \"equal\": false, ",
        "{\"name\": \"c\", \"verdict\": \"extra\", \"renamed\": \"net.b\", ",
        "], \"left_alone\": [], \"rename\": \"net.*=*\", ",
    ] {
        assert!(text(&run).contains(part), "{}", text(&run));
    }
    let run = folder.run(words("diff q.npz r.npz --json"));
    assert!(text(&run).contains("], \"left_alone\": [], \"metadata\": "), "{}", text(&run));
    // tensors of more than a GiB together are not read, and it is said
    for (name, member) in [("big.e", "v"), ("big.a", "w")] {
        let length: u64 = 600 << 20;
        let of = |shape: u64, begin: u64| {
            format!("{{\"dtype\":\"U8\",\"shape\":[{shape}],\"data_offsets\":[{begin},{}]}}", begin + shape)
        };
        let header = format!("{{\"{member}\":{},\"same\":{}}}", of(length - 1, 0), of(1, length - 1));
        let path = folder.path(format!("{name}.safetensors"));
        fs::write(&path, [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat()).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_len(8 + header.len() as u64 + length).unwrap();
    }
    let run = folder.run(words("diff big.e.safetensors big.a.safetensors"));
    let unread = "\n  2 missing and extra tensors were not read to find renames: ";
    assert!(run.status == Some(1) && text(&run).contains(unread), "{}", text(&run));
}

#[test]
fn a_name_is_that_of_both_sides() {
    let folder = folders();
    let other = tensor::<f32>(&[2], &[1., 3.]).npy();
    folder.put("o.npz", npz(&[("enc.w", other.clone()), ("head", folder.get("w.npy"))]));
    folder.run(words("convert m.npz -o m.zarr")).printed().unwrap();
    let rows: &[(&str, i32, &str)] = &[
        ("m.npz:head o.npz", 0, "equal: 2 items of float32 [2]\n"),
        ("m.npz o.npz:head", 0, "equal: 2 items of float32 [2]\n"),
        ("m.npz:enc.w o.npz", 1, "different: 1 of 2 items"),
        ("m.npz:head texts", 0, "equal: 2 items of float32 [2]\n"),
        ("texts m.npz:head", 0, "equal: 2 items of float32 [2]\n"),
        ("m.zarr:head o.npz", 0, "equal: 2 items of float32 [2]\n"),
        ("o.npz m.zarr:enc.w -q", 1, "different: 1 of 2 items"),
        // of one tensor and of patterns nothing is named
        ("m.npz:head w.npy", 0, "equal: 2 items of float32 [2]\n"),
    ];
    each(
        rows,
        |(args, ..)| (*args).to_owned(),
        |(args, status, printed)| {
            let run = folder.run(words(&format!("diff {args}")));
            let is_right = run.status == Some(*status) && text(&run).starts_with(printed);
            if is_right { Ok(()) } else { Err(text(&run)) }
        },
    );
    for (args, fragments) in [
        ("m.npz:enc.b o.npz", &["ACTUAL o.npz: has no tensor \"enc.b\""][..]),
        ("m.npz:head texts:enc.*", &["ACTUAL texts:enc.*: enc.* matches 2 tensors, and EXPECTED m.npz:head is one"]),
        ("m.npz:head adapter", &["ACTUAL adapter: has no tensor \"head\"; did you mean \"model:head\"?"]),
        ("w.npy o.npz", &["ACTUAL o.npz: holds 2 tensors: name one after a colon"]),
    ] {
        folder.refuses(words(&format!("diff {args}")), fragments).unwrap();
    }
    // what is accepted is the tensor of that name, and no other
    for (expected, wrote) in [("m.npz", "wrote m.npz: 1 of 3 tensors\n"), ("m.zarr", "wrote m.zarr: 1 of 3 tensors\n")]
    {
        let run = folder.run(words(&format!("diff {expected} o.npz:enc.w --accept")));
        assert!(run.status == Some(0) && text(&run).ends_with(wrote), "{}", text(&run));
        folder.run(words(&format!("diff {expected}:enc.w o.npz"))).printed().unwrap();
        for name in ["enc.b", "head"] {
            folder.run(words(&format!("diff {expected}:{name} w.npy"))).printed().unwrap();
        }
    }
}

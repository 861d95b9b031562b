//! Folders of files as containers: what their tensors are called, in every sub-command that reads one.

use std::fs;

use crate::common::{Folder, Run, each, npz, tensor, words};

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
        text(&run).lines().map(str::to_owned).collect::<Vec<_>>().join(" ")
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
        ("adapter --only *.w", "lora:enc.w model:enc.w"),
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

//! Names of tensors, whatever the sub-command: their order, how they are chosen, and what they are called after `--rename`.

use crate::common::{Folder, each, member, npy, npz, safetensors, tensor, words};

/// The numbers of layers in natural order, whose alphabetical order is another one.
const LAYERS: [u8; 5] = [0, 1, 2, 10, 11];

/// Dumps of a model in every form. Those of a container and of a safetensors file lie in the alphabetical order of the names.
fn folder() -> Folder {
    let folder = Folder::new();
    let mut layers = LAYERS;
    layers.sort_by_key(u8::to_string);
    let name = |layer: u8| format!("layers.{layer}");
    let (mut first, mut second, mut tensors) = (Vec::new(), Vec::new(), Vec::new());
    for layer in layers {
        let (one, other) = (tensor::<u8>(&[1], &[layer]), tensor::<u8>(&[1], &[layer + 1]));
        for run in ["one", "other"] {
            std::fs::create_dir_all(folder.path(run)).expect("a folder");
        }
        folder.put(&format!("one/{}.npy", name(layer)), one.npy());
        folder.put(&format!("other/{}.npy", name(layer)), other.npy());
        let items = vec![layer; usize::from(layer) + 1];
        tensors.push((name(layer), [items.len()], items));
        first.push((name(layer), one.npy()));
        second.push((name(layer), other.npy()));
    }
    let archive = |members: &[(String, Vec<u8>)]| {
        npz(&members.iter().map(|(name, npy)| (name.as_str(), npy.clone())).collect::<Vec<_>>())
    };
    folder.put("one.npz", archive(&first)).put("other.npz", archive(&second));
    let members: Vec<_> =
        tensors.iter().map(|(name, dims, items)| member(name, "uint8", dims, items.clone())).collect();
    folder.put("one.safetensors", safetensors(&members));
    folder
}

/// Returns the numbers of all layers that a text names, in their order.
fn layers(text: &str) -> Vec<u8> {
    let number = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    text.split("layers.").skip(1).filter_map(number).collect()
}

/// Whatever lists tensors by their names has `layers.2` before `layers.10`.
#[test]
fn natural_order() {
    let folder = folder();
    if cfg!(feature = "zarr") {
        folder.run(words("convert one.npz -o one.zarr")).printed().expect("a store");
    }
    // the arguments, and the status
    let rows = [
        ("diff one other --sort name", 1),
        ("diff one other --json", 1),
        ("diff one.npz other.npz --sort name", 1),
        ("diff one.npz other.npz --json", 1),
        ("diff one.npz one.npz --json", 0),
        ("textconv one.npz", 0),
        ("textconv one.safetensors", 0),
        ("textconv one", 0),
        ("info one", 0),
        ("info one --members", 0),
        ("info one:*", 0),
        ("show one", 0),
        ("info one.zarr", 0),
        ("show one.zarr", 0),
        // names are listed in errors
        ("convert one.npz -o one.npy", 2),
        ("convert one.npz --only nothing -o new.npz", 2),
    ];
    each(
        rows.iter().filter(|(args, _)| cfg!(feature = "zarr") || !args.contains(".zarr")),
        |(args, _)| format!("`{args}`"),
        |(args, status)| {
            let run = folder.run(words(args));
            let text = String::from_utf8_lossy(&run.stdout).into_owned() + &run.stderr;
            let is_right = run.status == Some(*status) && layers(&text) == LAYERS;
            if is_right { Ok(()) } else { Err(format!("{:?}: {text}", run.status)) }
        },
    );
    // what is accepted, too, is found by its name in that order
    folder.run(words("diff one other --accept")).printed().expect("accepted");
    folder.run(words("diff one other")).printed().expect("equal");
    // of names that differ only by a number in a word, a tree has the lower one first
    folder.run(words("convert a_10=[1] a_2=[1] b=[1] -o words.npz")).printed().expect("written");
    let tree = folder.run(words("info words.npz --tree")).printed().expect("a tree");
    let names: Vec<_> = tree.lines().skip(2).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["a_2", "a_10", "b"], "{tree}");
}

/// Each `*` of NEW is what that of the same number in OLD stood for, in `convert` and in `diff`.
#[test]
fn renames_with_several_stars() {
    let folder = Folder::new();
    let named = |names: &[&str]| npz(&names.iter().map(|name| (*name, npy("|u1", &[1], &[1]))).collect::<Vec<_>>());
    folder.put("old.npz", named(&["encoder.2.attn.q.weight", "encoder.10.attn.k.weight", "head"]));
    folder.put("new.npz", named(&["enc.2.a.q.w", "enc.10.a.k.w", "head"]));
    let rule = "encoder.*.attn.*.weight=enc.*.a.*.w";
    let rows = [
        (format!("convert old.npz --rename {rule} -o made.npz"), 0, ""),
        ("info made.npz --members".into(), 0, "enc.10.a.k.w\nenc.2.a.q.w\nhead\n"),
        (
            format!("diff old.npz new.npz --rename {rule}"),
            0,
            "equal: 3 same, 0 within, 0 different, 0 missing, 0 extra\n",
        ),
        // the first * stands for as little as it can
        ("convert new.npz --exclude head --rename *.*=*/* -o made.npz".into(), 0, ""),
        ("info made.npz --members".into(), 0, "enc/10.a.k.w\nenc/2.a.q.w\n"),
        // the other way round, the message has the rule that is meant
        (
            format!("diff new.npz old.npz --rename {rule}"),
            2,
            "error: --rename encoder.*.attn.*.weight=enc.*.a.*.w: matches tensors of ACTUAL only, and it changes the names of \
             EXPECTED: use --rename 'enc.*.a.*.w=encoder.*.attn.*.weight'\n",
        ),
    ];
    each(
        &rows,
        |(args, _, _)| format!("`{args}`"),
        |(args, status, expected)| {
            let run = folder.run(words(args));
            let text = String::from_utf8_lossy(&run.stdout).into_owned() + &run.stderr;
            if (run.status, &*text) == (Some(*status), *expected) { Ok(()) } else { Err(format!("{run:?}")) }
        },
    );
    for args in ["convert old.npz -o no.npz", "diff old.npz new.npz"] {
        let args = format!("{args} --rename encoder.*.attn.*.weight=enc.*.w");
        folder
            .refuses(words(&args), &["--rename", "NEW has 1 * and OLD has 2: expected 2 or none in NEW"])
            .expect("refused");
    }
    assert!(!folder.path("no.npz").exists());
}

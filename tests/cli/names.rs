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
        folder.put(format!("one/{}.npy", name(layer)), one.npy());
        folder.put(format!("other/{}.npy", name(layer)), other.npy());
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
    let mut numbers: Vec<_> = text.split("layers.").skip(1).filter_map(number).collect();
    // JSON has each name under two keys
    numbers.dedup();
    numbers
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

/// Files whose tensors are chosen by their names.
fn chosen() -> Folder {
    let folder = folder();
    folder.put("d.npy", tensor::<u8>(&[2], &[7, 8]).npy()).put("empty.npz", npz(&[]));
    std::fs::create_dir(folder.path("run")).expect("a folder");
    folder.put("run/bad.npz", b"bad").put("run/w.npy", b"bad").put("run/v.npy", folder.get("d.npy"));
    folder
}

/// `--only` and `--exclude` choose what `info` and `show` look at, and nothing else is read.
#[test]
fn looking_at_some() {
    let folder = chosen();
    let one = "one.npz\n  layers.1   uint8      [1]       1 B\n  layers.10  uint8      [1]       1 B\n";
    let total = "  total      2 tensors  2 items   2 B\n";
    let head = "name         dtype      shape    size\n";
    let rows: &[(&str, String)] = &[
        ("info one.npz --only layers.1* --exclude *.11", format!("{head}{one}{total}")),
        ("info one.npz:layers.1* --exclude *.11", format!("{head}{one}{total}")),
        ("info one.npz --only *.0 --only *.2 --members", "layers.0\nlayers.2\n".into()),
        // a tensor without a name is taken in any case, and of a file of which nothing is taken nothing is said
        ("info d.npy one.npz --only *.2 --members", "layers.2\n".into()),
        (
            "info d.npy one.npz other.npz --only *.2",
            "name              dtype  shape  size\nd.npy             uint8  [2]     2 B\n\
             one.npz:layers.2    uint8  [1]     1 B\nother.npz:layers.2  uint8  [1]     1 B\n"
                .replace("name  ", "name    ").replace("d.npy  ", "d.npy    "),
        ),
        (
            "info one.npz --exclude *.? --tree",
            "name               tensors  dtype  shape  items  size\none.npz                  2                    2   2 B\n  \
             layers.{10..11}        2  uint8  [1]        2   2 B\n"
                .into(),
        ),
        ("show one.npz --only *.1?", "one.npz:layers.10: uint8 [1]\n[10]\none.npz:layers.11: uint8 [1]\n[11]\n".into()),
        ("show d.npy one.npz --only *.2", "d.npy: uint8 [2]\n[7 8]\none.npz:layers.2: uint8 [1]\n[2]\n".into()),
        ("info run --exclude bad* --exclude w", "name   dtype  shape  size\nrun:v  uint8  [2]     2 B\n".into()),
        ("show run --only v", "run:v: uint8 [2]\n[7 8]\n".into()),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let printed = folder.run(words(args)).printed()?;
            if printed == *expected { Ok(()) } else { Err(format!("\n{printed}")) }
        },
    );
    let stats = folder.run(words("info one.npz --only *.11 --json --stats --hash")).printed().expect("JSON");
    assert!(layers(&stats) == [11] && stats.contains("\"max\": {\"value\": 11, "), "{stats}");
    folder.run(words("show one.npz --image --only *.2 -o out.png")).printed().expect("a picture of one");
    // a pattern that matches nothing, or no tensor that is left, is an error before anything is printed
    let refused: &[(&str, &[&str])] = &[
        (
            "one.npz --only *.2 --only nope",
            &["--only nope: matches no tensor of a whole container: there are \"layers.0\""],
        ),
        ("one.npz --exclude layer.2", &["--exclude layer.2: matches no tensor", "did you mean \"layers.2\""]),
        ("one.npz --only *.2 --exclude layers*", &["FILE one.npz: --only and --exclude leave no tensor"]),
        ("one.npz other.npz --exclude *", &["FILE one.npz, FILE other.npz: --only and --exclude leave no tensor"]),
        ("d.npy --only d", &["--only d: matches no tensor of a whole container"]),
        ("one.npz:layers.2 --only layers.2", &["--only layers.2: matches no tensor of a whole container"]),
    ];
    each(
        refused.iter().flat_map(|row| ["info", "show"].map(|command| (command, row))),
        |(command, (args, _))| format!("`{command} {args}`"),
        |(command, (args, fragments))| folder.refuses(words(&format!("{command} {args}")), fragments).map(drop),
    );
    // what is left out is not opened: of what a container holds nothing is known, not even that it is broken
    folder.refuses(words("info run --only nope"), &["there are \"bad:\", \"v\", \"w\""]).expect("an error");
    // beside a file that cannot be opened nobody knows what a pattern may match, and the rest is looked at
    let run = folder.run(words("info nothing.npz one.npz --only *.2 --members --only other.*"));
    assert_eq!((run.status, &*String::from_utf8_lossy(&run.stdout)), (Some(2), "layers.2\n"), "{}", run.stderr);
    assert_eq!(run.stderr.lines().count(), 1, "{}", run.stderr);
}

/// Braces hold several patterns or a range of numbers, wherever patterns are taken; other braces are letters of a name.
#[test]
fn patterns_with_braces() {
    let folder = folder();
    folder.put("braces.npz", npz(&["{a}", "{a,b}", "a"].map(|name| (name, npy("|u1", &[1], &[7])))));
    let all = "layers.0\nlayers.1\nlayers.2\nlayers.10\nlayers.11\n";
    let without =
        |names: &[&str]| all.lines().filter(|line| !names.contains(line)).map(|line| format!("{line}\n")).collect();
    let rows: &[(&str, String)] = &[
        ("info one.npz:layers.{1..10} --members", "layers.1\nlayers.10\nlayers.2\n".into()),
        ("info one.npz --only layers.{00..11} --members", "layers.10\nlayers.11\n".into()),
        (
            "info one.npz --sort name --exclude layers.{1,1?} --members",
            without(&["layers.1", "layers.10", "layers.11"]),
        ),
        ("info one.npz --sort name --only layers.{0..999999999} --members", all.into()),
        ("show one:layers.{0,2}", "one:layers.0: uint8 [1]\n[0]\none:layers.2: uint8 [1]\n[2]\n".into()),
        ("concat one.npz:{layers.{0..2},layers.11}", "[ 0  1  2 11]\n".into()),
        ("info braces.npz:{a} --members", "{a}\n".into()),
        // a name that is written like the pattern comes first
        ("info braces.npz:{a,b} --members", "{a,b}\n".into()),
        ("info braces.npz:{a,b}* --members", "a\n".into()),
        (
            "diff one.npz other.npz --only layers.{2,10} --atol layers.{2..10}=1 -q",
            "equal: 0 same, 2 within, 0 different, 0 missing, 0 extra".into(),
        ),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let printed = folder.run(words(args)).printed()?;
            if printed.starts_with(expected) { Ok(()) } else { Err(format!("\n{printed}")) }
        },
    );
    folder
        .run(words("convert one.npz --only layers.{0..1} --cast layers.{1..2}=int16 -o cast.npz"))
        .printed()
        .expect("cast");
    assert_eq!(folder.run(words("show cast.npz --at 0")).printed().expect("both").matches("int16").count(), 1);
    folder.refuses(words("info one.npz:layers.{3..9}"), &["layers.{3..9}", "matches"]).expect("nothing matches");
}

/// `info --sort` sorts files, and the tensors of each.
#[test]
fn sorted_lists() {
    let folder = folder();
    folder.put("d10.npy", tensor::<u8>(&[9], &[0; 9]).npy()).put("d2.npy", tensor::<u8>(&[3], &[0; 3]).npy());
    let two = ["b2", "b10", "a"].map(|name| (name, npy("|u1", &[2], &[0; 2])));
    folder
        .put("two.npz", npz(&two))
        .put("bad.npz", npz(&[("x10", b"bad".to_vec()), ("x2", b"bad".to_vec()), two[2].clone()]));
    // the arguments, and the names in their order, as far as they have no member before them
    let titles = |args: &str| {
        let text = folder.run(words(args)).printed().expect("tensors");
        let titles: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("two.npz:")?.split_once(':')).collect();
        titles.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(titles("show two.npz"), "b2 b10 a");
    assert_eq!(titles("show two.npz --sort file"), "b2 b10 a");
    assert_eq!(titles("show two.npz --sort name"), "a b2 b10");
    let rows = [
        ("one.safetensors --members", "layers.0 layers.1 layers.10 layers.11 layers.2"),
        ("one.safetensors --members --sort name", "layers.0 layers.1 layers.2 layers.10 layers.11"),
        ("one.safetensors --members --sort size", "layers.11 layers.10 layers.2 layers.1 layers.0"),
        ("one.safetensors --sort name", "one.safetensors layers.0 layers.1 layers.2 layers.10 layers.11 total"),
        ("one.safetensors --sort size", "one.safetensors layers.11 layers.10 layers.2 layers.1 layers.0 total"),
        ("one.safetensors --sort size --only *.1*", "one.safetensors layers.11 layers.10 layers.1 total"),
        ("two.npz --sort size", "two.npz a b2 b10 total"),
        ("two.npz", "two.npz b2 b10 a total"),
        ("two.npz --sort file", "two.npz b2 b10 a total"),
        ("two.npz d10.npy d2.npy", "two.npz b2 b10 a total d10.npy d2.npy"),
        ("two.npz d10.npy d2.npy --sort name", "d2.npy d10.npy two.npz a b2 b10 total"),
        ("d2.npy two.npz d10.npy --sort size", "d10.npy two.npz a b2 b10 total d2.npy"),
        ("bad.npz --sort name", "bad.npz a x2 x10 total"),
        ("bad.npz --members --sort size", "a x2 x10"),
    ];
    each(
        rows,
        |(args, _)| format!("`{args}`"),
        |(args, expected)| {
            let run = folder.run(words(&format!("info {args}")));
            let is_right = run.status == Some(if args.contains("bad.npz") { 2 } else { 0 });
            let table = String::from_utf8_lossy(&run.stdout);
            if !is_right {
                return Err(format!("{run:?}"));
            }
            let names: Vec<_> = table.lines().filter_map(|line| line.split_whitespace().next()).collect();
            let names = names.strip_prefix(&["name"]).unwrap_or(&names).join(" ");
            if names == *expected { Ok(()) } else { Err(format!("{names}\n{table}")) }
        },
    );
    let json = folder.run(words("info one.safetensors --json --sort size")).printed().expect("JSON");
    assert_eq!(layers(&json), [11, 10, 2, 1, 0], "{json}");
    let stats = folder.run(words("info one.safetensors --stats --hash --sort name")).printed().expect("tables");
    assert_eq!(layers(&stats), LAYERS.repeat(3), "{stats}");
    folder.refuses(words("info one.npz --tree --sort size"), &["--tree", "--sort"]).expect("an error");
    folder.refuses(words("info one.npz --sort bytes"), &["--sort", "name, size"]).expect("an error");
}

//! PyTorch files, which are only read.

use std::fs;

use crate::common::torch::{PRINTED, archive, array, dict, items, pickle, stream, text, view, weights};
use crate::common::{Folder, deflated, each, says, stored, words, zip};

/// A file of a pickle, without the mark of its protocol and its end.
fn file(opcodes: &[u8]) -> Vec<u8> {
    let pickle = [b"\x80\x02", opcodes, b"."].concat();
    zip(&[stored("x/data.pkl", &pickle), stored("x/data/0", &items())])
}

#[test]
fn files_are_containers() {
    let folder = Folder::new();
    let squeezed = zip(&[deflated("x/data.pkl", &weights()), stored("x/data/0", &items())]);
    folder.put("m.pt", archive()).put("old.pth", stream()).put("m.bin", archive()).put("squeezed.ckpt", squeezed);
    folder.put("w.npy", folder.run(words("convert m.pt:model.w --to npy -o -")).stdout);
    for file in ["m.pt", "old.pth", "m.bin", "squeezed.ckpt"] {
        let rows = [
            ("slice FILE:model.w --at : --to csv", "0.0,1.0,2.0\n3.0,4.0,5.0\n"),
            ("slice FILE:model.t --at ::-1 --to csv", "2.0,5.0\n1.0,4.0\n0.0,3.0\n"),
            ("slice FILE:model.s --at : --to csv", "1.0,3.0\n3.0,5.0\n"),
            ("diff FILE:model.w w.npy", "equal: 6 items of float32 [2, 3]\n"),
            ("diff FILE m.pt --only model.*", "equal: 3 same, 0 within, 0 different, 0 missing, 0 extra\n"),
        ];
        each(
            rows,
            |(args, _)| format!("{file}: {args}"),
            |(args, expected)| {
                let printed = folder.run(words(&args.replace("FILE", file))).printed()?;
                if printed == *expected { Ok(()) } else { Err(format!("{printed:?}, expected {expected:?}")) }
            },
        );
    }
}

#[test]
fn what_is_not_read_is_listed() {
    let folder = Folder::new();
    folder.put("m.pt", archive());
    let run = folder.run(words("info m.pt"));
    let listed = String::from_utf8(run.stdout.clone()).expect("text");
    assert_eq!((run.status, &*run.stderr), (Some(0), ""), "{listed}");
    for line in [
        "not read: it is in an object of the class my.code.Thing, which is not known",
        "1 not read",
        "metadata epoch = 3",
        "metadata classes passed over = my.code.Thing",
    ] {
        assert!(listed.contains(line), "{line}: {listed}");
    }
    let named = "m.pt:opaque: it is in an object of the class my.code.Thing";
    folder.refuses(["info", "m.pt:opaque"], &[named]).unwrap();
    let whole = folder.run(words("convert m.pt -o m.safetensors"));
    assert_eq!(whole.status, Some(0));
    assert!(whole.stderr.contains(named) && whole.stderr.ends_with("not read, left out\n"), "{}", whole.stderr);
    let convert = folder.run(words("convert m.pt --exclude opaque -o m.safetensors"));
    assert_eq!(convert.printed().as_deref(), Ok(""));
    let diff = folder.run(words("diff m.pt m.safetensors --exclude opaque")).printed();
    assert_eq!(diff.as_deref(), Ok("equal: 3 same, 0 within, 0 different, 0 missing, 0 extra\n"));
    folder
        .refuses(words("slice-scatter m.pt:model.w --fill 0 --at : --in-place"), &["a PyTorch file is only read"])
        .unwrap();
}

#[test]
fn shared_bytes_are_told() {
    let folder = Folder::new();
    let storages = [deflated("x/data.pkl", &weights()), deflated("x/data/0", &items())];
    folder.put("m.pt", archive()).put("old.pth", stream()).put("squeezed.pt", zip(&storages));
    let rows = [
        ("info m.pt", "  24 B  Fortran order, = model.w\n"),
        ("info old.pth", "  16 B  shares bytes of model.w\n"),
        ("info squeezed.pt", "  24 B  Fortran order, = model.w\n"),
        ("info squeezed.pt", "not read: it is deflated and its items are not contiguous"),
        ("info m.pt --json", "\"member\": \"model.s\", \"format\": \"pytorch\""),
        ("info m.pt --json", "\"offset\": null, \"shares\": \"model.w\""),
    ];
    each(
        rows,
        |(args, _)| (*args).to_owned(),
        |(args, expected)| {
            let run = folder.run(words(args));
            let printed = String::from_utf8(run.stdout.clone()).expect("text");
            if run.status == Some(0) && printed.contains(expected) { Ok(()) } else { Err(format!("{run:?} {printed}")) }
        },
    );
    let alone = folder.run(words("info m.pt:model.t")).printed().expect("a line");
    assert!(!alone.contains("model.w"), "{alone}");
    // tensors that are not read come last
    let json = folder.run(words("info m.pt --json")).printed().expect("JSON");
    let objects: Vec<serde_json::Value> = serde_json::from_str(&json).expect("JSON");
    let told: Vec<_> = objects.iter().map(|object| (object["member"].as_str(), object["shares"].as_str())).collect();
    let tied = Some("model.w");
    assert_eq!(told, [(tied, None), (Some("model.t"), tied), (Some("model.s"), tied), (Some("opaque"), None)]);
}

#[test]
fn big_endian_bfloat16() {
    let folder = Folder::new();
    // a character for each byte
    let text: String = weights().into_iter().map(char::from).collect();
    let text = text.replace("FloatStorage", "BFloat16Storage");
    let pickle: Vec<u8> = text.chars().map(|c| u8::try_from(c).expect("a byte")).collect();
    let items: Vec<u8> = (0..6_u8).flat_map(|n| f32::from(n).to_be_bytes()[..2].to_vec()).collect();
    folder
        .put("m.pt", zip(&[stored("x/data.pkl", &pickle), stored("x/byteorder", b"big"), stored("x/data/0", &items)]));
    for (args, expected) in [
        ("slice m.pt:model.w --at : --to csv", "0.0,1.0,2.0\n3.0,4.0,5.0\n"),
        ("slice m.pt:model.s --at 1: --to csv", "3.0,5.0\n"),
    ] {
        assert_eq!(folder.run(words(args)).printed().as_deref(), Ok(expected), "{args}");
    }
    let info = folder.run(words("info m.pt --json")).printed().expect("JSON");
    assert!(info.contains("\"byte_order\": \"little\"") && !info.contains("\"byte_order\": \"big\""), "{info}");
    assert!(info.contains("\"offset\": null, \"shares\": \"model.w\""), "{info}");
}

#[test]
fn damage_is_named() {
    let folder = Folder::new();
    folder.put("cut.pt", &stream()[..stream().len() - 4]);
    folder.put("less.pt", zip(&[stored("x/data.pkl", &weights()), stored("x/data/0", &items()[..20])]));
    folder.put("none.pt", zip(&[stored("x/data.pkl", &weights())]));
    folder.put("plain.pt", pickle(&[("a", b"K\x01".to_vec())]));
    let tar = [&[b'x'; 257][..], b"ustar\0", &[0; 300]].concat();
    folder.put("tar.pt", tar).put("new.pt2", zip(&[stored("x/archive_format", b"pt2")]));
    let rows = [
        ("cut.pt", "its storage of 6 items at byte "),
        ("less.pt", "its storage \"x/data/0\" has 20 bytes, expected 24"),
        ("none.pt", "its storage \"x/data/0\" is missing"),
        ("plain.pt", "a Python pickle that torch.save did not write"),
        ("tar.pt", "a TAR archive"),
        ("new.pt2", "an exported program (.pt2)"),
    ];
    each(
        rows,
        |(file, _)| (*file).to_owned(),
        |(file, expected)| folder.refuses(["show", &format!("{file}:model.w")], &[file, expected]).map(drop),
    );
}

#[test]
fn folders_know_them_by_content() {
    let folder = Folder::new();
    fs::create_dir(folder.path("run")).expect("a folder");
    folder.put("run/pytorch_model.bin", archive()).put("run/dump.bin", [1; 64]);
    folder.put("m.pt", archive());
    let diff = folder.run(words("diff run m.pt --exclude opaque")).printed();
    assert_eq!(
        diff.as_deref(),
        Ok("equal: 3 same, 0 within, 0 different, 0 missing, 0 extra\n  1 file left alone (-v names it)\n")
    );
    // raw bytes are what the command says that they are
    assert_eq!(folder.run(words("slice run/dump.bin:u1[64] --at :2 --to csv")).printed().as_deref(), Ok("1\n1\n"));
}

#[test]
fn arrays_of_numpy_are_tensors() {
    let folder = Folder::new();
    let scaler =
        |items| [&b"csklearn.preprocessing\nScaler\n)\x81"[..], &dict(&[(text("mean_"), array(items))]), b"b"].concat();
    let with = |mean, inner| {
        file(&dict(&[
            (text("w"), view(0, [1, 2], [2, 1])),
            (text("mean"), array(mean)),
            (text("scaler"), scaler(inner)),
        ]))
    };
    folder.put("a.pt", with([1.5, 2.5], [0.0, 1.0])).put("b.pt", with([1.5, 3.5], [0.0, 1.0]));
    folder.put("c.pt", with([1.5, 2.5], [0.0, 2.0])).put("squeezed.pt", {
        let pickle = [b"\x80\x02", &dict(&[(text("mean"), array([1.5, 2.5]))])[..], b"."].concat();
        zip(&[deflated("x/data.pkl", &pickle)])
    });
    says(
        &folder,
        &[
            ("info a.pt", 0, "  mean    float32    [2]       8 B\n", ""),
            (
                "info a.pt",
                0,
                "not read: it is in an object of the class sklearn.preprocessing.Scaler, which is not known",
                "",
            ),
            ("show a.pt:mean", 0, "[1.5 2.5]", ""),
            ("slice squeezed.pt:mean --at 1: --to csv", 0, "2.5\n", ""),
            ("diff a.pt b.pt --exclude scaler", 1, "different: 1 same, 0 within, 1 different", ""),
            ("diff a.pt b.pt --exclude scaler", 1, "mean: axis 0 at 1", ""),
            // a tensor that is not read is not called equal
            ("diff a.pt c.pt", 2, "unreadable  scaler", ""),
            ("diff a.pt c.pt", 2, "2 same", ""),
            ("convert a.pt -o a.npz", 0, "", "a.pt:scaler: it is in an object"),
            ("diff a.npz a.pt --exclude scaler", 0, "equal: 2 same", ""),
            ("slice-scatter a.pt:mean --fill 0 --at : --in-place", 2, "", "a PyTorch file is only read"),
        ],
    );
}

#[test]
fn keys_name_their_tensors() {
    let folder = Folder::new();
    let bytes = |text: &[u8]| [b"C", &[text.len() as u8][..], text].concat();
    let of = |first: u8, second: u8| {
        let row = |first| view(first, [1, 2], [2, 1]);
        let three = (b"K\x03".to_vec(), row(4));
        file(&dict(&[(bytes(b"x"), row(first)), (bytes(b"y"), row(second)), three.clone(), (text("3"), row(0))]))
    };
    folder.put("a.pt", of(0, 2)).put("b.pt", of(2, 0));
    says(
        &folder,
        &[
            ("info a.pt --members", 0, "b'x'\nb'y'\n3\n3#2\n", ""),
            ("slice a.pt:b'y' --at : --to csv", 0, "2.0,3.0\n", ""),
            ("slice a.pt:3 --at : --to csv", 0, "4.0,5.0\n", ""),
            ("slice a.pt:3#2 --at : --to csv", 0, "0.0,1.0\n", ""),
            ("diff a.pt b.pt", 1, "2 same, 0 within, 2 different", ""),
            ("diff a.pt b.pt", 1, "  b'x'\n", ""),
        ],
    );
}

#[test]
fn arguments_bear_on_tensors() {
    let folder = Folder::new();
    // 3 items of complex64
    let complex = |metadata: &[(Vec<u8>, Vec<u8>)]| {
        let storage =
            b"(X\x07\0\0\0storagectorch\nComplexFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpuK\x03tQK\0K\x03\x85K\x01\x85";
        let made = [&b"ctorch._utils\n_rebuild_tensor_v2\n("[..], storage, b"\x89N"].concat();
        [&made[..], &dict(metadata), b"tR"].concat()
    };
    let bit = |name: &str| (text(name), b"\x88".to_vec());
    let device = |data: Vec<u8>, function: &str, dtype: &str| {
        let function = format!("ctorch._utils\n_rebuild_device_tensor_from_{function}\n(").into_bytes();
        let rest = [format!("ctorch\n{dtype}\n").as_bytes(), &text("xla:0"), b"\x89tR"].concat();
        [function, data, rest].concat()
    };
    let row = || view(0, [1, 2], [2, 1]);
    let members = [
        ("plain", complex(&[])),
        ("conj", complex(&[bit("conj")])),
        ("neg", complex(&[bit("neg")])),
        ("zero", complex(&[bit("zero")])),
        ("cpu", device(row(), "cpu_tensor", "float32")),
        ("numpy", device(array([1.5, 2.5]), "numpy", "float32")),
        ("half", device(row(), "cpu_tensor", "float16")),
    ];
    folder.put("a.pt", file(&dict(&members.map(|(name, value)| (text(name), value)))));
    says(
        &folder,
        &[
            ("show a.pt:plain", 0, "[0.+1.j 2.+3.j 4.+5.j]", ""),
            ("show a.pt:conj", 0, "[0.-1.j 2.-3.j 4.-5.j]", ""),
            ("show a.pt:neg", 0, "[-0.-1.j -2.-3.j -4.-5.j]", ""),
            ("slice a.pt:conj --at ::-2", 0, "[4.-5.j 0.-1.j]", ""),
            ("diff a.pt:plain a.pt:conj", 1, "different", ""),
            ("show a.pt:cpu", 0, "[[0. 1.]]", ""),
            ("show a.pt:numpy", 0, "[1.5 2.5]", ""),
            ("info a.pt", 0, "not read: its metadata {'zero': True} is not known", ""),
            ("info a.pt", 0, "2 not read", ""),
            ("show a.pt:zero", 2, "", "a.pt:zero: its metadata {'zero': True} is not known"),
            ("show a.pt:half", 2, "", "a.pt:half: its to_dtype torch.float16 is not known"),
        ],
    );
    // they have no items of another
    let info = folder.run(words("info a.pt --only plain --only *n*")).printed().expect("a list");
    assert!(!info.contains("plain\n"), "{info}");
}

#[test]
fn buffers_of_a_state_dict() {
    let folder = Folder::new();
    let row = |first| view(first, [1, 2], [2, 1]);
    let set = |name: &str| [&b"c__builtin__\nset\n]"[..], &text(name), b"a\x85R"].concat();
    let module = |modules: Vec<u8>| {
        let attributes = [
            ("_parameters", dict(&[(text("weight"), row(0))])),
            ("_buffers", dict(&[(text("scale"), row(2)), (text("ids"), row(4))])),
            ("_non_persistent_buffers_set", set("ids")),
            ("_modules", modules),
        ];
        [&b"cmy.net\nNet\n)\x81"[..], &dict(&attributes.map(|(name, value)| (text(name), value))), b"b"].concat()
    };
    folder.put("model.pt", file(&module(dict(&[(text("inner"), module(dict(&[])))]))));
    let names = ["weight", "scale", "inner.weight", "inner.scale"];
    let state: Vec<_> = names.iter().zip([0, 2, 0, 2]).map(|(name, first)| (text(name), row(first))).collect();
    folder.put("state.pt", file(&dict(&state)));
    says(
        &folder,
        &[
            ("info model.pt --members", 0, "weight\nscale\ninner.weight\ninner.scale\n", ""),
            ("diff state.pt model.pt", 0, "equal: 4 same, 0 within, 0 different, 0 missing, 0 extra", ""),
        ],
    );
}

#[test]
fn pickles_of_old_protocols() {
    let folder = Folder::new();
    let one = b"}(X\x01\0\0\0wctorch._utils\n_rebuild_tensor\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\x000X\x03\0\0\0cpu\
        K\x06tQI1\n(I2\nt(I1\nttRu.";
    for (name, pickle) in [("one.pt", &one[..]), ("zero.pt", PRINTED)] {
        folder.put(name, zip(&[stored("x/data.pkl", pickle), stored("x/data/0", &items())]));
    }
    says(&folder, &[("show one.pt:w", 0, "[1. 2.]", ""), ("show zero.pt", 0, "[1. 2.]", "")]);
}

#[test]
fn distributed_checkpoints_are_named() {
    let folder = Folder::new();
    let several = [archive(), archive()].concat();
    fs::create_dir(folder.path("run")).expect("a folder");
    folder.put("__0_0.distcp", &several).put("run/__0_0.distcp", several).put("run/a.pt", archive());
    let named = "a PyTorch distributed checkpoint (.distcp), which is not read";
    says(
        &folder,
        &[
            ("info __0_0.distcp", 2, "", named),
            ("show __0_0.distcp:model.w", 2, "", named),
            ("diff run run --exclude opaque", 0, "4 same", ""),
            ("info run/__0_0.distcp", 2, "", named),
        ],
    );
}

//! GGUF models on the command line. The files of `tests/golden/gguf` are those of the Python package gguf.

use std::fs;

use crate::common::{Folder, says, words};

/// The model `m.gguf` with all types, its items in `m.npz`, and a model in three files.
fn folder() -> Folder {
    let folder = Folder::new();
    let golden = |name: &str| fs::read(format!("tests/golden/gguf/{name}")).expect("a golden file");
    folder.put("m.gguf", golden("types.gguf")).put("m.npz", golden("types.npz"));
    folder.put("q.gguf", golden("quantized.gguf"));
    for n in 1..=3 {
        let name = format!("parts-0000{n}-of-00003.gguf");
        folder.put(&name, golden(&name));
    }
    folder
}

/// A header and the numbers of types, of which each tensor has 64 bytes.
fn model(tensors: &[(&str, u32, u64)], bytes: usize) -> Vec<u8> {
    let mut out = b"GGUF\x03\0\0\0".to_vec();
    out.extend((tensors.len() as u64).to_le_bytes());
    out.extend(0_u64.to_le_bytes());
    for (n, (name, number, items)) in tensors.iter().enumerate() {
        out.extend((name.len() as u64).to_le_bytes());
        out.extend(name.as_bytes());
        out.extend(1_u32.to_le_bytes());
        out.extend(items.to_le_bytes());
        out.extend(number.to_le_bytes());
        out.extend((64 * n as u64).to_le_bytes());
    }
    out.resize(out.len().next_multiple_of(32) + bytes, 0);
    out
}

#[test]
fn big_endian_bfloat16() {
    let folder = folder();
    let mut file = b"GGUF\0\0\0\x03".to_vec();
    file.extend([1_u64, 0, 1].map(u64::to_be_bytes).concat());
    file.push(b'w');
    file.extend(1_u32.to_be_bytes());
    file.extend(2_u64.to_be_bytes());
    file.extend(30_u32.to_be_bytes());
    file.extend(0_u64.to_be_bytes());
    file.resize(file.len().next_multiple_of(32), 0);
    folder.put("big.gguf", [&file[..], &[0x3f, 0x80, 0xc0, 0x40]].concat());
    let rows: &[(&str, i32, &str, &str)] = &[
        ("show big.gguf:w", 0, "bfloat16 [2]\n[ 1. -3.]\n", ""),
        ("info big.gguf --json", 0, "\"offset\": null", ""),
        ("slice-scatter big.gguf:w --fill 0.5 --at 1: --in-place", 0, "", ""),
        ("show big.gguf:w", 0, "bfloat16 [2]\n[1.  0.5]\n", ""),
        ("slice-scatter big.gguf:w big.gguf:w --at ::-1 --in-place", 0, "", ""),
    ];
    says(&folder, rows);
    // nothing but the items changed
    file.extend([0x3f, 0, 0x3f, 0x80]);
    assert!(folder.get("big.gguf") == file);
}

#[test]
fn what_is_printed() {
    let folder = folder();
    fs::create_dir(folder.path("in")).expect("a new folder");
    folder.put("in/m.gguf", folder.get("m.gguf")).put("in/q.gguf", folder.get("q.gguf"));
    let rows: &[(&str, i32, &str, &str)] = &[
        ("info m.gguf:blk.q4_k.weight --dtype uint8", 0, "m.gguf:blk.q4_k.weight  uint8  [2, 144]  288 B", ""),
        ("info m.gguf", 0, "  blk.q4_k.weight     q4_K        [2, 256]       288 B", ""),
        ("info m.gguf", 0, "metadata test.tokens = [100 strings]\n", ""),
        ("info m.gguf", 0, "metadata test.short = [1, 2, 3]\n", ""),
        ("info m.gguf --json", 0, "\"dtype\": \"iq2_xxs\", \"shape\": [2, 256], \"order\": \"C\"", ""),
        ("diff m.gguf m.npz", 0, "equal: 33 same", ""),
        // equal blocks are not decoded
        ("diff m.gguf:blk.q4_k.weight m.gguf:blk.q4_k.weight --explain", 0, "compared as stored, up to the first", ""),
        ("info parts-00001-of-00003.gguf", 0, "total  8 tensors", ""),
        ("info parts-00002-of-00003.gguf", 0, "total  3 tensors", ""),
        ("diff q.gguf parts-00001-of-00003.gguf", 0, "equal: 8 same", ""),
        ("diff m.gguf:blk.q4_0.weight m.gguf:blk.q4_0.weight --dtype uint8", 0, "uint8 [2, 18]", ""),
        ("info in:m:blk.q4_k.weight --dtype uint8", 0, "in:m:blk.q4_k.weight  uint8  [2, 144]  288 B", ""),
        ("show in:m:blk.q4_k.weight --dtype uint8", 0, "uint8 [2, 144]", ""),
    ];
    says(&folder, rows);
}

#[test]
fn more_axes_than_ggml_has() {
    let folder = Folder::new();
    let mut file = b"GGUF\x03\0\0\0".to_vec();
    file.extend([2_u64, 0, 1].map(u64::to_le_bytes).concat());
    file.push(b'a');
    file.extend(5_u32.to_le_bytes());
    file.extend([2_u64, 1, 2, 1, 3].map(u64::to_le_bytes).concat());
    file.extend([[0; 4], [0; 4], [0; 4]].concat());
    file.extend([&1_u64.to_le_bytes()[..], b"b", &1_u32.to_le_bytes(), &1_u64.to_le_bytes(), &[0; 4]].concat());
    file.extend(64_u64.to_le_bytes());
    file.resize(file.len().next_multiple_of(32), 0);
    file.extend((0..13_u8).flat_map(|n| f32::from(n).to_le_bytes()));
    // 12 items, up to the alignment, and one
    let items = file.len() - 52;
    file.splice(items + 48..items + 48, [0; 16]);
    folder.put("m.gguf", file);
    let rows: &[(&str, i32, &str, &str)] = &[
        ("info m.gguf", 0, "  a      float32    [3, 1, 2, 1, 2]  48 B\n", ""),
        ("show m.gguf:a --at 2,0,1,0", 0, "[10. 11.]\n", ""),
        ("show m.gguf:b", 0, "[12.]\n", ""),
    ];
    says(&folder, rows);
}

/// The number of tensors in the header counts those of all files.
#[test]
fn tensors_that_a_divided_model_lacks() {
    let folder = folder();
    let file = folder.get("parts-00001-of-00003.gguf");
    let key = b"split.tensors.count";
    let at = file.windows(key.len()).position(|window| window == key).expect("the key") + key.len() + 4;
    let mut more = file.clone();
    more[at] += 1;
    folder.put("parts-00001-of-00003.gguf", more);
    let said = "parts-00001-of-00003.gguf: split.tensors.count is 9, expected 8\n";
    for (args, printed) in [
        ("info parts-00001-of-00003.gguf", "total  8 tensors"),
        ("info parts-00001-of-00003.gguf --json", "\"member\": "),
        ("convert parts-00001-of-00003.gguf -o all.npz", ""),
    ] {
        let run = folder.run(words(args));
        let stdout = String::from_utf8_lossy(&run.stdout);
        assert!(run.status == Some(0) && run.stderr.contains(said) && stdout.contains(printed), "{args}: {run:?}");
    }
    let printed = folder.run(words("diff q.gguf parts-00001-of-00003.gguf")).printed().expect("equal");
    assert!(printed.contains("split.tensors.count is 9, expected 8"), "{printed}");
    // a file of a divided model alone has fewer than all
    folder.put("one.gguf", folder.get("parts-00001-of-00003.gguf"));
    assert_eq!(folder.run(words("info one.gguf")).stderr, "");
}

#[test]
fn factors_are_named() {
    let folder = folder();
    // the type nvfp4 has 36 bytes for 64 items
    let names = ["a.weight", "a.scale", "b.weight", "b.weight.scale", "c.weight", "d"];
    let types = [40, 0, 40, 0, 40, 40];
    let items = [64, 16, 64, 16, 64, 64];
    let tensors: Vec<_> = (0..6).map(|n| (names[n], types[n], items[n])).collect();
    folder.put("n.gguf", model(&tensors, 6 * 64));
    let listed = folder.run(words("info n.gguf")).printed().expect("a list");
    let notes: Vec<_> = listed.lines().filter_map(|line| line.split_once("not multiplied by ")).collect();
    let noted: Vec<_> = notes.iter().map(|(row, factor)| (row.split_whitespace().next(), *factor)).collect();
    assert_eq!(noted, [(Some("a.weight"), "a.scale"), (Some("b.weight"), "b.weight.scale")], "{listed}");
}

#[test]
fn values_told_by_their_lengths_are_not_kept() {
    let folder = folder();
    folder.run(words("convert m.gguf --only plain.f32 -o m.safetensors")).printed().expect("converted");
    let printed = folder.run(words("info m.safetensors")).printed().expect("a list");
    assert!(printed.contains("metadata test.short = [1, 2, 3]\n") && !printed.contains("test.tokens"), "{printed}");
}

#[test]
fn blocks_are_converted_or_copied() {
    let folder = folder();
    let run = folder.run(words("convert m.gguf -o all.safetensors"));
    assert_eq!(
        run.stderr,
        "26 tensors of iq1_m, iq1_s, iq2_s, iq2_xs, iq2_xxs, iq3_s, iq3_xxs, iq4_nl, iq4_xs, mxfp4, \
        nvfp4, q1_0, q2_0, q2_K, q3_K, q4_0, q4_1, q4_K, q5_0, q5_1, q5_K, q6_K, q8_0, q8_K, tq1_0, tq2_0 are written as \
        float32\n"
    );
    for (args, stderr) in [
        ("convert m.gguf:blk.q4_k.weight --dtype uint8 -o b.npy", ""),
        ("convert m.gguf:blk.q4_k.weight -o f.npy", "1 tensor of q4_K is written as float32\n"),
        ("convert m.gguf:blk.q4_k.weight --cast float16 -o h.npy", ""),
        ("diff all.safetensors m.npz", ""),
        ("slice m.gguf:blk.q6_k.weight --at 1:,::-3 -o s.npy", ""),
    ] {
        let run = folder.run(words(args));
        assert_eq!((run.status, run.stderr.as_str()), (Some(0), stderr), "{args}");
    }
    let (blocks, file) = (folder.get("b.npy"), folder.get("m.gguf"));
    assert_eq!(blocks.len(), 128 + 288);
    assert!(file.windows(288).any(|window| window == &blocks[128..]));
}

#[test]
fn plain_tensors_are_edited_in_place() {
    let folder = folder();
    let before = folder.get("m.gguf");
    let run = folder.run(words("slice-scatter m.gguf:plain.f32 [[[7.0]]] --at 1:2,1:2,4: --in-place"));
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let after = folder.get("m.gguf");
    let changed: Vec<_> = (0..before.len()).filter(|&at| before[at] != after[at]).collect();
    assert!(!changed.is_empty() && changed.last().zip(changed.first()).is_some_and(|(last, first)| last - first < 4));
    let run = folder.run(words("slice-scatter parts-00001-of-00003.gguf:q4_0 [[7.0]] --at :1,:1 --in-place"));
    let refused =
        "FILE DATA parts-00001-of-00003.gguf:q4_0: --in-place cannot change items of q4_0, whose blocks share scales";
    assert_eq!((run.status, run.stderr.contains(&refused[10..])), (Some(2), true), "{}", run.stderr);
    let run = folder.run(words("slice-scatter m.gguf:plain.f32 [[[7.0]]] --at 1:2,1:2,4: -o x.gguf"));
    assert_eq!(run.status, Some(2), "{}", run.stderr);
}

/// A type that is not known is no fault of the file; a tensor of a wrong size is.
#[test]
fn tensors_that_are_not_read() {
    let folder = Folder::new();
    folder.put("unknown.gguf", model(&[("a", 0, 16), ("b", 156, 16), ("c", 0, 16)], 192));
    folder.put("short.gguf", model(&[("a", 0, 32), ("b", 0, 16), ("c", 0, 16)], 192));
    folder.put("cut.gguf", model(&[("a", 0, 16), ("b", 0, 16)], 100));
    let short = "64 bytes up to the next tensor, expected 128 (f32 [32])";
    let cut = "64 bytes (f32 [16]) from byte 64 of the data on, which end after the";
    let rows: &[(&str, i32, &str, &str)] = &[
        ("info unknown.gguf", 0, "not read: type 156 is not known", ""),
        ("info unknown.gguf --members", 0, "a\nb\nc\n", ""),
        ("info unknown.gguf --json", 0, "\"c\"", ""),
        ("diff unknown.gguf unknown.gguf", 0, "equal: 3 same, ", ""),
        ("info unknown.gguf:b", 2, "", "unknown.gguf:b: type 156 is not known"),
        ("show unknown.gguf:b", 2, "", "type 156 is not known"),
        ("convert unknown.gguf -o u.npz", 0, "", "unknown.gguf:b: type 156 is not known: not read, left out"),
        ("info u.npz --members", 0, "a\nc\n", ""),
        ("info short.gguf", 2, short, short),
        ("convert short.gguf -o s.npz", 2, "", "--exclude a leaves it out"),
        ("info cut.gguf", 2, cut, cut),
        ("show cut.gguf:a", 0, "0", ""),
    ];
    says(&folder, rows);
}

#[test]
fn a_missing_part_is_named() {
    let folder = folder();
    fs::remove_file(folder.path("parts-00002-of-00003.gguf")).expect("removed");
    let run = folder.run(words("info parts-00001-of-00003.gguf"));
    let text = String::from_utf8_lossy(&run.stdout);
    assert_eq!(run.status, Some(2));
    assert!(text.contains("total                      5 tensors") && text.contains("1 not read"), "{text}");
    assert!(run.stderr.contains("parts-00002-of-00003.gguf"), "{}", run.stderr);
}

/// In a folder the first file stands for all.
#[test]
fn parts_in_a_folder() {
    let folder = folder();
    fs::create_dir(folder.path("model")).expect("a folder");
    for n in 1..=3 {
        let name = format!("parts-0000{n}-of-00003.gguf");
        fs::rename(folder.path(&name), folder.path(format!("model/{name}"))).expect("moved");
    }
    says(&folder, &[("diff q.gguf model", 0, "equal: 8 same", ""), ("info model", 0, "8 tensors", "")]);
    fs::remove_file(folder.path("model/parts-00001-of-00003.gguf")).expect("removed");
    says(&folder, &[("info model", 0, "parts-00002-of-00003", "")]);
}

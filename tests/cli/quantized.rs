//! Quantised weights as numbers. The folders of `tests/golden/quantized` and their numbers are those of
//! `tests/oracle/quantized.py`.

use std::fs;

use crate::common::{Folder, each, member, safetensors, says, words};

const LAYOUTS: [&str; 13] = [
    "awq",
    "deepseek-fp4",
    "float-quantized",
    "fp8-block",
    "gptq",
    "gptq-v2",
    "int-quantized",
    "mlx",
    "mlx-modes",
    "mxfp4",
    "nvfp4",
    "nvfp4-ct",
    "pack-quantized",
];

fn golden(name: &str) -> Vec<u8> {
    fs::read(format!("tests/golden/quantized/{name}")).expect("a golden file")
}

/// A folder for each layout, and a file of its numbers.
fn folder() -> Folder {
    let folder = Folder::new();
    for layout in LAYOUTS {
        fs::create_dir(folder.path(layout)).expect("a folder");
        for file in ["config.json", "model.safetensors"] {
            folder.put(format!("{layout}/{file}"), golden(&format!("{layout}/{file}")));
        }
        folder.put(format!("{layout}.safetensors"), golden(&format!("{layout}.safetensors")));
    }
    folder
}

#[test]
fn the_numbers_of_every_layout() {
    let folder = folder();
    each(
        LAYOUTS,
        |layout| (*layout).to_owned(),
        |layout| {
            for args in [
                format!("diff {layout}.safetensors {layout} --dequantize"),
                format!("diff {layout}.safetensors {layout}/model.safetensors --dequantize --threads 1"),
            ] {
                let printed = folder.run(words(&args)).printed()?;
                if !printed.starts_with("equal: ") {
                    return Err(printed);
                }
            }
            let out = format!("convert {layout} --dequantize -o {layout}.out.safetensors --quiet");
            folder.run(words(&out)).printed()?;
            let same = format!("diff {layout}.out.safetensors {layout}.safetensors");
            folder.run(words(&same)).printed().map(drop)
        },
    );
}

#[test]
fn what_is_printed() {
    let folder = folder();
    let line = "nvfp4: 6 tensors make up 2 nvfp4 weights: --dequantize reads them as numbers\n";
    let rows: &[(&str, i32, &str, &str)] = &[
        ("info nvfp4", 0, line, ""),
        ("info nvfp4 --dequantize", 0, "  l.0.weight       nvfp4      [4, 80]    184 B\n", ""),
        ("info nvfp4 --dequantize", 0, "  l.0.input_scale  float32    []           4 B\n", ""),
        ("info nvfp4 --dequantize --members", 0, "norm.weight\nl.0.weight\nl.0.input_scale\n", ""),
        ("info mxfp4 --dequantize", 0, "  mlp.experts.up  mxfp4", ""),
        ("info gptq --dequantize", 0, "gptq", ""),
        ("convert nvfp4 --cast bfloat16 -o cast.npz", 0, "", "their scales are not applied without --dequantize"),
        ("convert nvfp4 --dequantize -o out.npz", 0, "", "2 tensors of nvfp4 are written as float32"),
        ("convert nvfp4 --dequantize --cast bfloat16 -o half.npz --quiet", 0, "", ""),
        ("slice nvfp4:l.0.weight --dequantize --at :1,:2 --to json", 0, "\"dtype\": \"float32\"", ""),
        ("diff nvfp4.safetensors nvfp4 --dequantize=nvfp4", 0, "equal", ""),
        ("diff half.npz nvfp4 --dequantize --rtol 0.01", 0, "equal", ""),
        ("diff nvfp4.safetensors nvfp4", 1, "", ""),
        // a file without such tensors is read as it is
        ("info nvfp4.safetensors --dequantize", 0, "l.0.weight", ""),
    ];
    says(&folder, rows);
}

/// The parts of a weight may lie in different files.
#[test]
fn parts_in_several_files() {
    let folder = folder();
    for layout in ["nvfp4", "gptq"] {
        let split = format!("convert {layout} -o {layout}-split/m.safetensors.index.json --max-shard-size 0.3KB");
        folder.run(words(&split)).printed().expect("shards");
        folder.put(format!("{layout}-split/config.json"), golden(&format!("{layout}/config.json")));
        let rows = ["", "/m.safetensors.index.json"]
            .map(|file| format!("diff {layout}.safetensors {layout}-split{file} --dequantize"));
        for args in rows {
            let printed = folder.run(words(&args)).printed();
            assert!(printed.as_ref().is_ok_and(|printed| printed.starts_with("equal")), "{args}: {printed:?}");
        }
    }
}

#[test]
fn what_is_refused() {
    let folder = folder();
    folder.put("alone.safetensors", golden("nvfp4/model.safetensors"));
    folder.put("blocks.safetensors", golden("fp8-block/model.safetensors"));
    fs::create_dir(folder.path("other")).expect("a folder");
    folder.put("other/model.safetensors", golden("nvfp4/model.safetensors"));
    folder.put("other/config.json", r#"{"quantization_config": {"quant_method": "bitsandbytes"}}"#);
    let rows: &[(&str, i32, &str, &str)] = &[
        (
            "info alone.safetensors --dequantize",
            2,
            "",
            "no config.json beside the tensors states how they are quantised",
        ),
        ("info alone.safetensors --dequantize", 2, "", "their names fit nvfp4\n"),
        ("diff nvfp4.safetensors alone.safetensors --dequantize=nvfp4", 0, "equal", ""),
        ("info blocks.safetensors --dequantize=fp8-block", 2, "", "fp8-block needs the size of a block of layers.0.up"),
        ("info nvfp4 --dequantize=awq", 2, "", "--dequantize=awq: config.json states nvfp4"),
        ("info nvfp4 --dequantize=nvfp5", 2, "", "invalid value 'nvfp5'"),
        ("info other --dequantize", 2, "", "config.json states the layout \"bitsandbytes\", which is not read"),
        ("info other", 0, "l.0.weight", ""),
        (
            "slice-scatter nvfp4/model.safetensors:l.0.weight --dequantize --at : --fill 0 --in-place",
            2,
            "",
            "--in-place cannot change the numbers that --dequantize reads",
        ),
    ];
    says(&folder, rows);
    assert_eq!(folder.get("nvfp4/model.safetensors"), golden("nvfp4/model.safetensors"));
}

/// A weight whose parts do not fit is named, and stops nothing else.
#[test]
fn weights_with_broken_parts() {
    let folder = Folder::new();
    let float = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let all = safetensors(&[
        member("good.weight", "float8_e4m3fn", &[2, 2], vec![0x38; 4]),
        member("good.weight_scale_inv", "float32", &[1, 1], float(&[2.0])),
        member("lone.weight", "float8_e4m3fn", &[2, 2], vec![0x38; 4]),
        member("short.weight", "float8_e4m3fn", &[2, 2], vec![0x38; 4]),
        member("short.weight_scale_inv", "float32", &[1, 2], float(&[2.0, 1.0])),
        member("codes.weight_scale_inv", "float32", &[1, 1], float(&[2.0])),
        member("wide.weight", "float32", &[1, 1], float(&[2.0])),
        member("wide.weight_scale_inv", "float32", &[1, 1], float(&[2.0])),
        member("norm.weight", "float32", &[1], float(&[2.0])),
    ]);
    fs::create_dir(folder.path("m")).expect("a folder");
    folder.put("m/model.safetensors", all);
    folder.put("m/config.json", r#"{"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}}"#);
    let rows: &[(&str, i32, &str, &str)] = &[
        ("info m --dequantize", 2, "not read: lone.weight_scale_inv is missing", "4 tensors cannot be read"),
        ("info m --dequantize", 2, "not read: short.weight_scale_inv has shape [1, 2], expected [1, 1]", ""),
        ("info m --dequantize", 2, "not read: codes.weight is missing", ""),
        ("info m --dequantize", 2, "not read: wide.weight is float32, expected float8_e4m3fn", ""),
        ("show m:good.weight --dequantize", 0, "2. 2.", ""),
        ("show m:lone.weight --dequantize", 2, "", "lone.weight_scale_inv is missing"),
        ("convert m --dequantize -o m.npz", 2, "", "--exclude"),
        ("info m.npz", 2, "", "No such file"),
        (
            "convert m --dequantize -o m.npz --exclude lone.weight --exclude short.weight --exclude codes.weight --exclude wide.weight",
            0,
            "",
            "1 tensor of fp8-block is written as float32",
        ),
        ("info m.npz --members", 0, "good.weight\nnorm.weight\n", ""),
    ];
    says(&folder, rows);
}

/// Files beside the tensors are not trusted.
#[test]
fn configurations_of_every_kind() {
    let folder = folder();
    let config = |numbers: &str| format!(r#"{{"quantization_config": {{"quant_method": "gptq", {numbers}}}}}"#);
    let rows: [(&str, String, i32, &str); 10] = [
        ("gptq", "{".to_owned(), 2, "config.json: EOF while parsing"),
        ("gptq", String::new(), 2, "config.json: EOF while parsing"),
        ("gptq", "[]".to_owned(), 2, "no config.json beside the tensors states"),
        ("gptq", config("\"bits\": 0"), 2, "gptq needs the number of bits, which config.json does not state"),
        ("gptq", config("\"bits\": 40"), 2, "config.json states 40 bits, expected 1 to 8"),
        ("gptq", config("\"bits\": 4, \"group_size\": 18446744073709551615"), 2, "g_idx has 96 items, expected 72"),
        ("gptq", config("\"bits\": 4, \"group_size\": 7"), 2, "g_idx has 96 items, expected 72"),
        ("gptq", config("\"bits\": \"4\""), 2, "gptq needs the number of bits"),
        ("gptq", "[".repeat(100_000), 2, "config.json: recursion limit exceeded"),
        ("awq", r#"{"quantization_config": {"quant_method": "awq", "version": "marlin"}}"#.to_owned(), 2, "awq marlin"),
    ];
    each(
        rows,
        |(layout, text, ..)| format!("{layout}: {}", text.chars().take(80).collect::<String>()),
        |(layout, text, status, expected)| {
            folder.put(format!("{layout}/config.json"), text);
            let run = folder.run(words(&format!("info {layout} --dequantize")));
            let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), run.stderr);
            // a hint is no reason to fail
            let plain = folder.run(words(&format!("info {layout}")));
            match run.status == Some(*status) && said.contains(expected) && plain.status == Some(0) {
                true => Ok(()),
                false => Err(format!("status {:?} and {:?}: {said}", run.status, plain.status)),
            }
        },
    );
}

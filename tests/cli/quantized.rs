//! Quantised weights as numbers. The folders of `tests/golden/quantized` and their numbers are those of
//! `tests/oracle/quantized.py`.

use std::fs;

use crate::common::{Field, Folder, each, member, pb, protobuf, safetensors, says, words};

const LAYOUTS: [&str; 41] = [
    "auto-round",
    "awq",
    "awq-file",
    "bitnet",
    "bnb-fp4",
    "bnb-int8",
    "bnb-nf4",
    "comfy",
    "comfy-old",
    "ct-group",
    "ct-int",
    "ct-mixed",
    "deepseek-fp4",
    "float-quantized",
    "fp8-block",
    "fp8-static",
    "fused-fbgemm",
    "fused-fp8",
    "fused-nvfp4",
    "gemma",
    "gptq",
    "gptq-act",
    "gptq-dynamic",
    "gptq-file",
    "gptq-v2",
    "hqq",
    "int-quantized",
    "metal",
    "mlx",
    "mlx-modes",
    "mxfp4",
    "mxfp4-ct",
    "mxfp6",
    "mxfp8",
    "mxfp8-inv",
    "nvfp4",
    "nvfp4-awq",
    "nvfp4-ct",
    "pack-quantized",
    "torchao",
    "w4a16-awq",
];

fn golden(name: &str) -> Vec<u8> {
    fs::read(format!("tests/golden/quantized/{name}")).expect("a golden file")
}

/// A folder for each layout, and a file of its numbers.
fn folder() -> Folder {
    let folder = Folder::new();
    for layout in LAYOUTS {
        fs::create_dir(folder.path(layout)).expect("a folder");
        for entry in fs::read_dir(format!("tests/golden/quantized/{layout}")).expect("a golden folder") {
            let file = entry.expect("a file").file_name().into_string().expect("a name");
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
                let run = folder.run(words(&args));
                let printed = String::from_utf8_lossy(&run.stdout);
                if run.status != Some(0) || !printed.starts_with("equal: ") {
                    return Err(format!("{printed}{}", run.stderr));
                }
            }
            let out = format!("convert {layout} --dequantize -o {layout}.out.safetensors --quiet");
            folder.run(words(&out)).printed()?;
            let same = format!("diff {layout}.out.safetensors {layout}.safetensors --exclude *.input_scale");
            let run = folder.run(words(&same));
            // of most layouts no weight has such a scale
            if run.stderr.contains("matches no tensor") {
                let same = format!("diff {layout}.out.safetensors {layout}.safetensors");
                return folder.run(words(&same)).printed().map(drop);
            }
            run.printed().map(drop)
        },
    );
}

#[test]
fn what_is_printed() {
    let folder = folder();
    let line = "nvfp4: 6 tensors make up 2 nvfp4 weights: --dequantize reads them as numbers\n";
    let rows: &[(&str, i32, &str, &str)] = &[
        ("info nvfp4", 0, line, ""),
        ("info nvfp4 --dequantize", 0, "  l.0.weight   nvfp4      [4, 80]    184 B\n", ""),
        ("info nvfp4 --dequantize --members", 0, "norm.weight\nl.0.weight\nl.1.weight\n", ""),
        ("info mxfp4 --dequantize", 0, "  mlp.experts.up  mxfp4", ""),
        ("info gptq --dequantize", 0, "gptq", ""),
        ("convert nvfp4 --cast bfloat16 -o cast.npz", 0, "", "their scales are not applied without --dequantize"),
        ("convert nvfp4 --dequantize -o out.npz", 0, "", "2 tensors of nvfp4 are written as float32"),
        ("convert nvfp4 --dequantize --cast bfloat16 -o half.npz --quiet", 0, "", ""),
        ("slice nvfp4:l.0.weight --dequantize --at :1,:2 --to json", 0, "\"dtype\": \"float32\"", ""),
        ("diff nvfp4.safetensors nvfp4 --dequantize=nvfp4", 0, "equal", ""),
        ("diff half.npz nvfp4 --dequantize --rtol 0.01", 0, "equal", ""),
        ("diff nvfp4.safetensors nvfp4", 1, "", ""),
        ("info nvfp4 nvfp4.safetensors --dequantize", 0, "l.0.weight", ""),
    ];
    says(&folder, rows);
}

/// What several tensors make up is never written back as one.
#[test]
fn weights_are_not_accepted() {
    let folder = folder();
    folder.put("zeros.safetensors", safetensors(&[member("l.0.weight", "float32", &[1], vec![0; 4])]));
    let before = folder.content();
    let why = "--accept writes the tensors of a file, which --dequantize and --names read as others: leave one of the two out";
    let rows = [
        "diff nvfp4 zeros.safetensors --dequantize --accept",
        "diff nvfp4/model.safetensors zeros.safetensors --dequantize --accept --dry-run",
        "diff nvfp4:l.0.weight zeros.safetensors --dequantize --accept",
    ];
    says(&folder, &rows.map(|args| (args, 2, "", why)));
    assert!(folder.content() == before);
    // a file that has the numbers is written
    folder.run(words("slice-scatter nvfp4.safetensors:l.0.weight --fill 9 --at :1 -i")).printed().expect("edited");
    let rows = [
        ("diff nvfp4.safetensors nvfp4 --dequantize --accept", 0, "wrote nvfp4.safetensors: 1 of 5 tensors", ""),
        ("diff nvfp4.safetensors nvfp4 --dequantize", 0, "equal", ""),
    ];
    says(&folder, &rows);
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
            let run = folder.run(words(&args));
            assert!(run.status == Some(0) && run.stdout.starts_with(b"equal"), "{args}: {run:?}");
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
    folder.put("other/config.json", r#"{"quantization_config": {"quant_method": "quark"}}"#);
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
        ("info other --dequantize", 2, "", "config.json states the layout \"quark\", which is not read"),
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

/// What is wrong with a checkpoint, the options of `convert` that make it so, and the message.
type Fault = (&'static str, &'static str, &'static str);

/// Each part that a config demands is missed by its name: in codes nothing is written.
#[test]
fn parts_that_a_config_demands() {
    let folder = folder();
    let rows: [Fault; 16] = [
        ("ct-group", "--exclude l.0.weight_g_idx", "l.0.weight_g_idx is missing, and config.json demands it"),
        ("ct-group", "--exclude l.1.weight_zero_point", "l.1.weight_zero_point is missing, and config.json demands it"),
        ("ct-group", "--exclude l.1.weight_shape", "l.1.weight_shape is missing"),
        ("ct-int", "--exclude l.0.weight_zero_point", "l.0.weight_zero_point is missing, and config.json demands it"),
        ("gptq-act", "--exclude k.g_idx", "k.g_idx is missing, and config.json demands it"),
        ("gptq-act", "--rename k.g_idx=k.g_index", "k.g_idx is missing, and config.json demands it"),
        ("gptq-act", "--exclude k.qweight --exclude k.scales", "k.qweight is missing"),
        ("awq-file", "--exclude q.qzeros", "q.qzeros is missing"),
        ("mxfp4", "--exclude *_blocks", "mlp.experts.up_blocks is missing"),
        ("mxfp4", "--exclude *_scales", "mlp.experts.up_scales is missing"),
        ("nvfp4", "--exclude l.0.weight_scale_2", "l.0.weight_scale_2 is missing"),
        (
            "fp8-static",
            "--exclude l.0.weight_scale --exclude l.1.*",
            "l.0.qscale_weight or l.0.weight_scale is missing",
        ),
        ("fused-fbgemm", "--exclude experts.down_proj", "experts.down_proj_scale is float32, and no weight of"),
        (
            "fused-fp8",
            "--exclude experts.*_proj_*",
            "experts.down_proj_scale_inv or experts.down_proj_weight_scale is missing",
        ),
        ("fused-nvfp4", "--exclude experts.down_proj_weight_scale", "experts.down_proj_weight_scale is missing"),
        ("fp8-static", "--rename l.0.weight_scale=l.0.scale_weight", "l.0.weight_scale is missing"),
    ];
    fs::create_dir(folder.path("bad")).expect("a folder");
    each(
        rows,
        |(layout, options, _)| format!("{layout} {options}"),
        |(layout, options, expected)| {
            for entry in fs::read_dir(folder.path(layout)).expect("a folder") {
                let file = entry.expect("a file").file_name();
                fs::copy(folder.path(layout).join(&file), folder.path("bad").join(&file)).expect("a copy");
            }
            let make = format!("convert {layout}/model.safetensors {options} -o bad/model.safetensors -q");
            folder.run(words(&make)).printed()?;
            for args in ["convert bad --dequantize -o out.npz", "info bad --dequantize", "show bad --dequantize"] {
                let run = folder.run(words(args));
                let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), run.stderr);
                if run.status != Some(2) || !said.contains(expected) || folder.path("out.npz").exists() {
                    return Err(format!("{args}: status {:?}: {said}", run.status));
                }
            }
            for file in fs::read_dir(folder.path("bad")).expect("a folder") {
                fs::remove_file(file.expect("a file").path()).expect("removed");
            }
            Ok(())
        },
    );
}

/// A part that has another name is missed by its own, in layouts whose weights describe themselves and in others.
#[test]
fn parts_under_other_names() {
    let folder = folder();
    let rows: Vec<(&str, Vec<&str>)> = vec![
        ("bnb-nf4", vec!["l.0.weight.absmax", "l.0.weight.quant_map", "l.0.weight", "l.2.weight", "l.2.weight.absmax"]),
        ("bnb-nf4", vec!["l.1.weight.nested_absmax", "l.1.weight.nested_quant_map"]),
        ("bnb-nf4", vec!["l.0.weight.quant_state.bitsandbytes__nf4", "l.1.weight.quant_state.bitsandbytes__nf4"]),
        ("bnb-fp4", vec!["l.0.weight.quant_state.bitsandbytes__fp4", "l.0.weight.absmax"]),
        ("bnb-int8", vec!["l.0.SCB", "l.0.weight"]),
        ("comfy-old", vec!["model.l.0.scale_weight", "model.l.0.weight"]),
        ("comfy", vec!["model.diffusion_model.l.0.weight_scale", "model.diffusion_model.l.3.weight_scale_2"]),
        ("comfy", vec!["model.diffusion_model.l.4.weight", "model.diffusion_model.l.2.weight_scale"]),
        ("mxfp4-ct", vec!["l.0.weight_packed", "l.0.weight_scale"]),
        ("mxfp6", vec!["l.0.weight_packed", "l.0.weight_scale"]),
        ("mxfp8", vec!["l.0.weight_scale", "l.0.weight"]),
        ("ct-mixed", vec!["l.a.weight_scale", "l.b.weight_scale", "l.b.weight_packed"]),
        ("fused-fbgemm", vec!["experts.down_proj_scale", "experts.gate_up_proj_scale"]),
        ("metal", vec!["l.weight", "l.scales", "l.qbiases"]),
        ("bitnet", vec!["l.weight_scale", "l.weight"]),
        ("gemma", vec!["embed.embedding_scale", "embed.embedding_quantized", "l.0.q_proj.weight_scale"]),
        ("w4a16-awq", vec!["l.weight_scale", "l.weight"]),
        ("nvfp4-awq", vec!["l.0.weight_scale", "l.0.weight_scale_2"]),
        ("hqq", vec!["l.0.W_q", "l.0.scale", "l.0.zero", "l.0.nbits", "l.0.group_size", "l.0.axis", "l.0.packing"]),
        ("hqq", vec!["l.1.shape"]),
        ("torchao", vec!["0._weight_qdata", "0._weight_scale", "2.0._weight_zero_point"]),
    ];
    let rows = rows.into_iter().flat_map(|(layout, parts)| parts.into_iter().map(move |part| (layout, part)));
    each(
        rows,
        |(layout, part)| format!("{layout} {part}"),
        |(layout, part)| {
            let (bytes, name) = (golden(&format!("{layout}/model.safetensors")), format!("\"{part}\""));
            let at = bytes.windows(name.len()).position(|text| text == name.as_bytes()).expect("a name in the header");
            let mut renamed = bytes.clone();
            renamed[at + part.len()] = b'~';
            folder.put(format!("{layout}/model.safetensors"), renamed);
            let run = folder.run(words(&format!("info {layout} --dequantize")));
            folder.put(format!("{layout}/model.safetensors"), bytes);
            let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), run.stderr);
            let is_named = said
                .lines()
                .any(|line| line.contains("is missing") && line.split([' ', ',']).any(|word| word == *part));
            if run.status == Some(2) && is_named { Ok(()) } else { Err(format!("status {:?}: {said}", run.status)) }
        },
    );
}

/// What a config excludes may lack its parts, and is left as it is. Entries that match nothing are told.
#[test]
fn what_a_config_excludes() {
    let folder = folder();
    let make = "convert fp8-static/model.safetensors --exclude l.0.weight_scale -o plain/model.safetensors -q";
    folder.run(words(make)).printed().expect("a checkpoint without a scale");
    let fp8 = |more: &str| format!(r#"{{"quantization_config": {{"quant_method": "fp8", {more}}}}}"#);
    let dynamic = |text: &str| {
        format!(
            r#"{{"quantization_config": {{"quant_method": "gptq", "checkpoint_format": "gptq", "bits": 4, "group_size": 32,
                "dynamic": {{"^b$": {{"bits": 8}}, {text}}}}}}}"#
        )
    };
    let rows: Vec<(&str, String, i32, &str)> = vec![
        ("plain", fp8(r#""ignored_layers": ["l.0"]"#), 0, ""),
        ("plain", fp8(r#""modules_to_not_convert": ["l.0", "lm_head"]"#), 0, ""),
        ("plain", fp8(r#""ignore": ["re:l\\.0"]"#), 0, ""),
        ("plain", fp8(r#""ignore": ["*.0"]"#), 0, ""),
        ("plain", fp8(r#""ignore": ["l.00", "re:(?=x)"]"#), 2, "the expression \"re:(?=x)\" cannot be read"),
        ("plain", fp8(r#""ignore": ["l"]"#), 2, "config.json states that l.1 is not quantised"),
        (
            "plain",
            fp8(r#""ignore": ["l.0", "l.00", ".0"]"#),
            0,
            "config.json: no tensor matches l.00, nor 1 other entry",
        ),
        ("plain", fp8(r#""ignore": ["0"]"#), 0, ""),
        ("plain", fp8(r#""ignore": [".0"]"#), 2, "l.0.weight_scale is missing"),
        ("gptq-dynamic", dynamic(r#""-:lm_head": {}"#), 0, ""),
        ("gptq-dynamic", dynamic(r#""-:^a": {}"#), 2, "config.json states that a is not quantised"),
        ("gptq-dynamic", dynamic(r#""+:a$": {"group_size": 64}"#), 2, "a.scales has shape"),
        ("gptq-dynamic", dynamic(r#""c": {"bits": 8}"#), 0, "config.json: no tensor matches c\n"),
    ];
    each(
        rows,
        |(layout, config, ..)| format!("{layout}: {config}"),
        |(layout, config, status, expected)| {
            folder.put(format!("{layout}/config.json"), config);
            let run = folder.run(words(&format!("convert {layout} --dequantize -o out.safetensors")));
            if run.status != Some(*status) || !run.stderr.contains(expected) {
                return Err(format!("status {:?}: {}", run.status, run.stderr));
            }
            if *status == 0 && *layout == "plain" {
                let listed = folder.run(words("info out.safetensors")).printed()?;
                let is_left =
                    listed.contains("l.0.weight      float8_e4m3fn") && listed.contains("l.1.weight      float32");
                return if is_left { Ok(()) } else { Err(listed) };
            }
            Ok(())
        },
    );
}

/// A layout that is stated, or that names of tensors show, and is not read ends every command.
#[test]
fn layouts_that_are_not_read() {
    let folder = Folder::new();
    fs::create_dir(folder.path("m")).expect("a folder");
    let config = |text: &str| format!(r#"{{"quantization_config": {text}}}"#);
    let rows: Vec<(&str, String, &str)> = vec![
        ("norm", config(r#"{"quant_method": "quanto"}"#), "\"quanto\", which is not read"),
        (
            "norm",
            config(r#"{"quant_method": "gptq", "checkpoint_format": "gptq_p"}"#),
            "\"gptq gptq_p\", which is not read",
        ),
        ("norm", config(r#"{"quant_method": "fp_quant"}"#), "\"fp_quant\", which is not read"),
        ("norm", config(r#"{"quant_type": "int4"}"#), "\"no quant_method\", which is not read"),
        ("norm", config(r#"{"quant_method": "modelopt"}"#), "\"modelopt\", which is not read"),
        ("norm", config(r#"{"quant_method": "compressed-tensors"}"#), "\"compressed-tensors without a format\""),
        ("norm", config(r#"{"config_groups": {}, "format": "marlin-24"}"#), "\"compressed-tensors marlin-24\""),
        (
            "norm",
            config(
                r#"{"config_groups": {}, "format": "pack-quantized", "sparsity_config": {"format": "sparse-bitmask"}}"#,
            ),
            "\"compressed-tensors sparse-bitmask\"",
        ),
        ("norm", config(r#"{"quant_method": "gptq", "is_marlin_format": true}"#), "\"gptq marlin\""),
        ("norm", config(r#"{"quant_method": "auto-round", "packing_format": "fake"}"#), "\"auto-round fake\""),
        ("l.scale_weight", "{}".to_owned(), "l.weight is missing"),
        ("l.weight.absmax", "{}".to_owned(), "l.weight is missing"),
        ("l.W_q", "{}".to_owned(), "l.W_q is float32, and no weight of hqq has it as a part"),
        ("l.trellis", "{}".to_owned(), "l.trellis is a part of a weight of exl3, which is not read"),
        ("l.weight._data", "{}".to_owned(), "is a part of a weight of quanto, which is not read"),
        ("norm", "{}".to_owned(), "--dequantize: no operand has a quantised weight"),
        // a shard of the norms alone, and codes of another layout
        ("norm", config(r#"{"quant_method": "fp8"}"#), "--dequantize: no operand has a quantised weight"),
        ("l.qweight", config(r#"{"quant_method": "fp8"}"#), "l.qweight is float32, and no weight of fp8-block"),
        ("l.absmax", config(r#"{"quant_method": "fp8"}"#), "l.absmax is float32, and no weight of fp8-block"),
    ];
    each(
        rows,
        |(name, config, _)| format!("{name}: {config}"),
        |(name, config, expected)| {
            folder.put("m/config.json", config);
            folder.put("m/model.safetensors", safetensors(&[member(name, "float32", &[1], vec![0; 4])]));
            for args in [
                "info m --dequantize",
                "diff m m --dequantize",
                "convert m --dequantize -o out.npz",
                "show m --dequantize",
            ] {
                let run = folder.run(words(args));
                let said = format!("{}{}", String::from_utf8_lossy(&run.stdout), run.stderr);
                if run.status != Some(2) || !said.contains(expected) || folder.path("out.npz").exists() {
                    return Err(format!("{args}: status {:?}: {said}", run.status));
                }
            }
            Ok(())
        },
    );
    // the header's metadata, too
    let layer = r#"{\"layers\": {\"l\": {\"format\": \"FORMAT\"MORE}}}"#;
    let of_type = r#""tensor_names": "[\"l.weight\"]", "l.weight": "{\"_type\": \"Int4TilePackedTo4dTensor\"}""#;
    let comfy = |format: &str, more: &str| {
        format!(r#""_quantization_metadata": "{}""#, layer.replace("FORMAT", format).replace("MORE", more))
    };
    let rows = [
        (comfy("svdquant_w4a4", ""), "\"ComfyUI svdquant_w4a4\", which is not read"),
        (comfy("int8_tensorwise", r#", \"convrot\": true"#), "\"ComfyUI int8_tensorwise with convrot\""),
        (of_type.to_owned(), "\"torchao Int4TilePackedTo4dTensor\", which is not read"),
    ];
    for (metadata, expected) in rows {
        let header = format!(
            r#"{{"__metadata__": {{{metadata}}}, "l": {{"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}}}"#
        );
        folder.put("stated.safetensors", crate::common::safetensors_with_header(&header, &[0]));
        let expected = format!("the header states the layout {expected}");
        says(&folder, &[("info stated.safetensors --dequantize", 2, "", &expected)]);
    }
}

/// An output does not state the layout that its weights had.
#[test]
fn outputs_state_no_layout() {
    let folder = folder();
    for layout in ["comfy", "torchao"] {
        let convert = format!("convert {layout}/model.safetensors --dequantize -o {layout}.out.safetensors -q");
        folder.run(words(&convert)).printed().expect("converted");
        let rows: &[(&str, i32, &str, &str)] = &[
            (&format!("diff {layout}.out.safetensors {layout} --dequantize"), 0, "equal", ""),
            (&format!("info {layout}.out.safetensors --dequantize"), 2, "", "no operand has a quantised weight"),
        ];
        says(&folder, rows);
        let listed = folder.run(words(&format!("info {layout}.out.safetensors"))).printed().expect("a list");
        assert!(!listed.contains("metadata"), "{listed}");
    }
}

#[test]
fn numbers_on_the_command_line() {
    let folder = folder();
    fs::create_dir(folder.path("bare")).expect("a folder");
    folder.put("bare/model.safetensors", golden("gptq-file/model.safetensors"));
    folder.put("blocks.safetensors", golden("fp8-block/model.safetensors"));
    folder.put("metal.st", golden("metal/model.safetensors"));
    let rows: &[(&str, i32, &str, &str)] = &[
        ("diff gptq-file.safetensors bare --dequantize=gptq,bits=3,group_size=-1", 0, "equal", ""),
        ("diff gptq-file.safetensors bare --dequantize=gptq,w_bit=3,q_group_size=-1,desc_act=true", 0, "equal", ""),
        (
            "diff fp8-block.safetensors blocks.safetensors --dequantize=fp8-block,weight_block_size=128x128",
            0,
            "equal",
            "",
        ),
        ("show bare:q.weight --dequantize=gptq", 2, "", "gptq needs the number of bits"),
        ("diff gptq-file.safetensors bare --dequantize=gptq,bits", 2, "", "\"bits\": expected KEY=VALUE"),
        (
            "diff gptq-file.safetensors bare --dequantize=gptq,bit=3",
            2,
            "",
            "\"bit\" is not known: expected bits, num_bits,",
        ),
        ("diff metal.safetensors metal.st --dequantize=metal,bits=2,group_size=32", 0, "equal", ""),
        ("info metal.st --dequantize", 2, "", "metal needs the number of bits, which l.qbiases does not state"),
        ("info gptq --dequantize=gptq,bits=4", 2, "", "--dequantize: config.json states the numbers of the layout"),
        ("info bare --dequantize=gptq3", 2, "", "invalid value 'gptq3'"),
    ];
    says(&folder, rows);
}

/// What a config of compressed-tensors demands or states in other words.
#[test]
fn words_of_compressed_tensors() {
    let folder = folder();
    let config = String::from_utf8(golden("ct-group/config.json")).expect("a text");
    for (part, word, other, expected) in [
        (
            "--exclude l.0.weight_g_idx",
            r#""group""#,
            r#""GROUP""#,
            "l.0.weight_g_idx is missing, and config.json demands it",
        ),
        (
            "--exclude l.0.weight_g_idx",
            r#""group""#,
            r#""foo""#,
            "l.0.weight_g_idx is missing, and config.json demands it",
        ),
        (
            "--exclude l.1.weight_zero_point",
            "false",
            r#""false""#,
            "l.1.weight_zero_point is missing, and config.json demands it",
        ),
        (
            "--exclude l.1.weight_zero_point",
            "false",
            "0",
            "l.1.weight_zero_point is missing, and config.json demands it",
        ),
        (
            "",
            r#""ignore""#,
            r#""transform_config": {"config_groups": {"R1": {"type": "hadamard"}}}, "ignore""#,
            "config.json states the layout \"compressed-tensors transform_config\", which is not read",
        ),
        // a name is nearer than an expression, and has other numbers here
        (
            "",
            r#""config_groups": {"#,
            r#""config_groups": {"a": {"targets": ["re:.*"], "weights": {"num_bits": 8}},
                "b": {"targets": ["l.0"], "weights": {"num_bits": 2}}, "#,
            "16 words a row do not hold 64 items of 2 bits",
        ),
    ] {
        let make = format!("convert ct-group/model.safetensors {part} -o m/model.safetensors -q");
        let _ = fs::remove_dir_all(folder.path("m"));
        fs::create_dir(folder.path("m")).expect("a folder");
        folder.run(words(&make)).printed().expect("a checkpoint");
        folder.put("m/config.json", config.replace(word, other));
        let run = folder.run(words("convert m --dequantize -o out.npz"));
        assert!(run.status == Some(2) && run.stderr.contains(expected), "{other}: {}", run.stderr);
    }
}

/// A format is stated by any of the words that programs have for it, or in the file of the quantiser.
#[test]
fn words_for_a_format() {
    let folder = folder();
    let config = |more: &str| {
        format!(r#"{{"quantization_config": {{"quant_method": "gptq", "bits": 3, "group_size": 32, {more}"x": 0}}}}"#)
    };
    fs::create_dir(folder.path("m")).expect("a folder");
    let make = "convert gptq-file/model.safetensors --exclude *.g_idx -o m/model.safetensors -q";
    folder.run(words(make)).printed().expect("columns in order");
    let rows: &[(&str, &str, i32, &str)] = &[
        ("", "", 0, "no checkpoint_format is given"),
        (r#""checkpoint_format": "gptq_v2", "#, "", 0, " of gptq-v2 "),
        (r#""format": "gptq_v2", "#, "", 0, " of gptq-v2 "),
        (r#""version": "GPTQ_V2", "format": "gptq_v2", "#, "", 0, " of gptq-v2 "),
        (r#""format": "marlin", "#, "", 2, "config.json states the layout \"gptq marlin\", which is not read"),
        (r#""format": "gptq", "version": "gptq_v2", "#, "", 2, "the layout \"gptq gptq and gptq_v2\""),
        ("", r#"{"bits": 3, "checkpoint_format": "gptq_v2"}"#, 0, " of gptq-v2 "),
        ("", r#"{"bits": 3, "checkpoint_format": "bitblas"}"#, 2, "the layout \"gptq bitblas\""),
        ("", r#"{"quant_method": "awq", "version": "gemm"}"#, 0, "no checkpoint_format is given"),
        (
            r#""checkpoint_format": "gptq", "#,
            r#"{"checkpoint_format": "gptq_v2"}"#,
            2,
            "config.json: checkpoint_format is \"gptq\", and \"gptq_v2\" in quantize_config.json",
        ),
        (r#""checkpoint_format": 2, "#, "", 2, "the layout \"gptq 2\""),
        (r#""desc_act": "True", "#, "", 2, "config.json demands it"),
        (r#""desc_act": 1, "#, "", 2, "config.json demands it"),
        (r#""desc_act": "false", "#, "", 0, " of gptq "),
        ("", r#"{"desc_act": true}"#, 2, "config.json demands it"),
        (r#""desc_act": false, "#, r#"{"desc_act": true}"#, 2, "desc_act is false, and true in quantize_config.json"),
        // the first entry that matches decides, in the order of the file
        (r#""desc_act": true, "dynamic": {".+": {"desc_act": false}, ".*": {}}, "#, "", 0, " of gptq "),
        (r#""desc_act": true, "dynamic": {"zz|.*": {"bits": 3}, ".*": {"desc_act": false}}, "#, "", 2, "demands it"),
    ];
    each(
        rows.iter(),
        |(more, beside, ..)| format!("{more}{beside}"),
        |(more, beside, status, expected)| {
            folder.put("m/config.json", config(more));
            let beside = if beside.is_empty() { "{}" } else { beside };
            folder.put("m/quantize_config.json", beside);
            let run = folder.run(words("convert m --dequantize -o out.npz"));
            if run.status == Some(*status) && run.stderr.contains(expected) { Ok(()) } else { Err(run.stderr) }
        },
    );
    for (format, layout) in [(r#""checkpoint_format": "gemv""#, "gemv"), (r#""backend": "llm-awq""#, "llm-awq")] {
        folder
            .put("awq-file/config.json", format!(r#"{{"quantization_config": {{"quant_method": "awq", {format}}}}}"#));
        says(&folder, &[("info awq-file --dequantize", 2, "", &format!("the layout \"awq {layout}\""))]);
    }
}

/// A folder is never one tensor, and its files that cannot be read are not forgotten.
#[test]
fn whole_folders() {
    let folder = Folder::new();
    let one = |name: &str| safetensors(&[member(name, "float32", &[1, 2], vec![0; 8])]);
    for (path, name) in [("a", "l.up_proj.weight"), ("b", "l.down_proj.weight")] {
        fs::create_dir(folder.path(path)).expect("a folder");
        folder.put(format!("{path}/config.json"), r#"{"quantization_config": {"quant_method": "fp8"}}"#);
        let mut members = vec![member("k.weight", "float8_e4m3fn", &[1, 2], vec![0x38; 2])];
        members.push(member("k.weight_scale", "float32", &[], 0.5_f32.to_le_bytes().to_vec()));
        folder.put(format!("{path}/one.safetensors"), one(name));
        folder.put(format!("{path}/two.safetensors"), safetensors(&members));
    }
    let rows: &[(&str, i32, &str, &str)] = &[
        ("diff a b --dequantize", 1, "1 same, 0 within, 0 different, 1 missing, 1 extra", ""),
        ("diff a b --dequantize --exclude one:*", 0, "equal: 1 same", ""),
        ("diff a b --dequantize --json", 1, "\"missing\": 1", ""),
        ("diff a [1] --dequantize", 2, "", "EXPECTED a: is a folder, and ACTUAL [1] is one tensor"),
        ("diff a b --dequantize --exclude nothing", 2, "", "matches no tensor"),
    ];
    says(&folder, rows);
    folder.put("a/x.h5", b"\x89HDF\r\n\x1a\n");
    folder.put("b/y.bin", [1, 2, 3]);
    let rows: &[(&str, i32, &str, &str)] = &[
        ("diff a b --dequantize", 2, "unreadable  x.h5: EXPECTED a/x.h5: an HDF5 file, which is not read", ""),
        ("diff a b --dequantize", 2, "unreadable  y.bin: ACTUAL b/y.bin: bytes without a header", ""),
        ("diff a b --dequantize --exclude x.h5 --exclude y.*", 1, "1 missing, 1 extra", ""),
    ];
    says(&folder, rows);
}

/// Scales of activations do not make a quantised model different from its base.
#[test]
fn scales_of_activations() {
    let folder = folder();
    let expected = safetensors(&[member(
        "l.weight",
        "float32",
        &[1, 2],
        [0.5_f32, 0.5].iter().flat_map(|item| item.to_le_bytes()).collect(),
    )]);
    folder.put("base.safetensors", expected);
    fs::create_dir(folder.path("m")).expect("a folder");
    folder.put("m/config.json", r#"{"quantization_config": {"quant_method": "fp8"}}"#);
    let scales = [
        "l.input_scale",
        "l.k_scale",
        "l.attn.v_scale",
        "experts.up_input_scale",
        "l.input_global_scale",
        "l.qscale_act",
    ];
    let mut members = vec![
        member("l.weight", "float8_e4m3fn", &[1, 2], vec![0x38; 2]),
        member("l.weight_scale", "float32", &[], 0.5_f32.to_le_bytes().to_vec()),
    ];
    members.extend(scales.map(|name| member(name, "float32", &[], vec![0; 4])));
    folder.put("m/model.safetensors", safetensors(&members));
    let rows: &[(&str, i32, &str, &str)] = &[
        ("diff base.safetensors m --dequantize", 0, "equal", "ACTUAL m: 6 scales of activations left alone\n"),
        ("diff base.safetensors m --dequantize -v", 0, "equal", "ACTUAL m: l.k_scale is left alone\n"),
        ("diff base.safetensors m --dequantize --exclude *_scale", 0, "equal", ""),
        ("diff base.safetensors m --dequantize --only l.* --only *_scale", 1, "5 extra", ""),
        ("info m --dequantize --members", 0, "l.weight\n", "FILE m: 6 scales of activations left alone\n"),
        (
            "info m --dequantize --members --only *.input_scale",
            0,
            "l.input_scale\n",
            "5 scales of activations left alone",
        ),
        ("info m --dequantize -v", 0, "", "FILE m: experts.up_input_scale is left alone\n"),
        ("show m:l.input_scale --dequantize", 0, "m:l.input_scale: float32 []\n0.0", ""),
        ("convert m --dequantize -o out.npz", 0, "", "6 scales of activations left alone"),
        ("info out.npz --members", 0, "l.weight\n", ""),
        ("info m --members", 0, "l.input_scale", ""),
    ];
    says(&folder, rows);
    let run = folder.run(words("convert m --dequantize -o quiet.npz --quiet"));
    assert_eq!((run.status, &*run.stderr), (Some(0), ""));
}

/// Weights that the nodes of a model compute. The models are those of `tests/oracle/quantized_models.py`.
#[test]
fn weights_of_models() {
    let folder = Folder::new();
    for (model, files) in [("nodes", ["nodes.onnx", "nodes.onnx"]), ("chains", ["chains.xml", "chains.bin"])] {
        fs::create_dir(folder.path(model)).expect("a folder");
        for file in files {
            folder.put(format!("{model}/{file}"), golden(&format!("models/{file}")));
        }
        folder.put(format!("{model}.safetensors"), golden(&format!("models/{model}.safetensors")));
    }
    let blocks =
        "nodes/nodes.onnx: 9 tensors make up 3 GatherBlockQuantized weights: --dequantize reads them as numbers\n";
    let rows: &[(&str, i32, &str, &str)] = &[
        (
            "diff nodes.safetensors nodes/nodes.onnx --dequantize",
            0,
            "equal: 16 same",
            "1 scale of activations left alone",
        ),
        ("diff nodes.safetensors nodes --dequantize --threads 1", 0, "equal: 16 same", ""),
        ("diff chains.safetensors chains/chains.xml --dequantize", 0, "equal: 12 same", ""),
        ("diff chains.safetensors chains --dequantize", 0, "equal: 12 same", ""),
        ("info nodes/nodes.onnx", 0, blocks, ""),
        ("info nodes/nodes.onnx --dequantize", 0, "  w4.weight   GatherBlockQuantized  ", ""),
        ("info nodes/nodes.onnx --dequantize --members --only image_scale", 0, "image_scale\n", ""),
        ("info chains/chains.xml --dequantize", 0, "w4.weight   compressed  ", ""),
        ("convert nodes/nodes.onnx --dequantize -o nodes.npz", 0, "", "15 tensors of DequantizeLinear,"),
        ("info chains/chains.xml --dequantize=mlx", 2, "", "the nodes of a model state its layout"),
    ];
    says(&folder, rows);
    // the window of a weight is that of the whole
    let whole = folder.run(words("slice nodes/nodes.onnx:w3 --dequantize --at : --to npy")).stdout;
    folder.put("w3.npy", whole);
    for at in ["1:5,1:", ":,0", "7,:", "::3,::2"] {
        let slice = |file: &str| folder.run(words(&format!("slice {file} --at {at} --to json"))).stdout;
        assert_eq!(slice("nodes/nodes.onnx:w3 --dequantize"), slice("w3.npy"), "{at}");
    }
}

/// A model of some nodes and initializers.
fn onnx_model(nodes: &[Vec<u8>], initializers: &[Vec<u8>]) -> Vec<u8> {
    let nodes = nodes.iter().map(|node| (1, Field::Bytes(node)));
    let graph = protobuf(&nodes.chain(initializers.iter().map(|tensor| (5, Field::Bytes(tensor)))).collect::<Vec<_>>());
    protobuf(&[(1, Field::Number(10)), (7, Field::Bytes(&graph))])
}

/// A node with attributes that are integers.
fn onnx_node(domain: &str, operator: &str, inputs: &[&str], attributes: &[(&str, u64)]) -> Vec<u8> {
    let attributes: Vec<_> = attributes
        .iter()
        .map(|(name, value)| protobuf(&[(1, Field::Bytes(name.as_bytes())), (3, Field::Number(*value))]))
        .collect();
    let mut fields: Vec<_> = inputs.iter().map(|name| (1, Field::Bytes(name.as_bytes()))).collect();
    fields.extend([
        (2, Field::Bytes(b"out")),
        (4, Field::Bytes(operator.as_bytes())),
        (7, Field::Bytes(domain.as_bytes())),
    ]);
    fields.extend(attributes.iter().map(|attribute| (5, Field::Bytes(attribute))));
    protobuf(&fields)
}

/// What makes a weight of a model unreadable is named, and nothing is written.
#[test]
fn models_whose_weights_are_not_read() {
    let folder = Folder::new();
    let float = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
    let tensors = || {
        vec![
            pb(member("w_quantized", "int8", &[2, 4], (0..8).collect())),
            pb(member("s", "float32", &[2], float(&[1.0, 2.0]))),
            pb(member("t", "float32", &[4], float(&[1.0, 2.0, 3.0, 4.0]))),
            pb(member("b", "uint8", &[2, 1, 8], vec![0x98; 16])),
        ]
    };
    const MS: &str = "com.microsoft";
    let linear = |inputs: &[&str], attributes: &[(&str, u64)]| onnx_node("", "DequantizeLinear", inputs, attributes);
    let rows = |more: &[(&str, u64)]| {
        onnx_node(MS, "MatMulNBits", &["x", "b", "s"], &[&[("N", 2), ("K", 16), ("block_size", 16)][..], more].concat())
    };
    let cases: Vec<(Vec<Vec<u8>>, i32, &str)> = vec![
        (vec![linear(&["w_quantized", "s"], &[("axis", 0)])], 0, ""),
        (vec![linear(&["w_quantized", "t"], &[])], 0, ""),
        (vec![rows(&[("bits", 4)])], 0, ""),
        (vec![linear(&["w_quantized", "s"], &[("axis", 1)])], 2, "s has shape [2], expected [4]"),
        (vec![linear(&["w_quantized", "s"], &[("axis", 2)])], 2, "axis 2 of w_quantized with shape [2, 4]"),
        (vec![linear(&["w_quantized", "t"], &[("block_size", 2)])], 2, "t has shape [4], expected [2, 2]"),
        (
            vec![linear(&["w_quantized", "x"], &[])],
            2,
            "w_quantized are codes of DequantizeLinear, whose other inputs are not constant",
        ),
        (
            vec![linear(&["w_quantized", "t", "z"], &[])],
            2,
            "w_quantized are codes of DequantizeLinear, whose other inputs are not constant",
        ),
        (
            vec![onnx_node(MS, "MatMulNBits", &["x", "b", "s", "", "g"], &[("N", 2), ("K", 16), ("block_size", 16)])],
            2,
            "b are codes of MatMulNBits, whose other inputs are not constant",
        ),
        (
            vec![linear(&["w_quantized", "t"], &[]), linear(&["w_quantized", "s"], &[("axis", 0)])],
            2,
            "w_quantized has scales of two nodes",
        ),
        (vec![linear(&["x", "s"], &[])], 2, "--dequantize: no operand has a quantised weight"),
        (vec![rows(&[("bits", 3)])], 2, "b: codes of 3 bits are not read, only of 2, 4 and 8"),
        (vec![rows(&[("bits", 8)])], 2, "b has 16, expected 2 x 16"),
        (vec![rows(&[("weight_prepacked", 1)])], 2, "b is packed for one kind of processor"),
        (
            vec![onnx_node(MS, "MatMulNBits", &["x", "b", "s"], &[("N", 1 << 62), ("K", 1 << 62), ("block_size", 16)])],
            2,
            "b has 16, expected",
        ),
        (
            vec![onnx_node(MS, "MatMulNBits", &["x", "b", "s"], &[("N", 2), ("K", 16)])],
            2,
            "b: the node states no block_size",
        ),
        (
            vec![onnx_node(MS, "GatherBlockQuantized", &["b", "x", "s"], &[("quantize_axis", 0)])],
            2,
            "b: blocks along axis 0 are not read, only along the last",
        ),
        (vec![onnx_node(MS, "MatMulBnb4", &["x", "b", "s"], &[])], 2, "b are codes of MatMulBnb4, which is not read"),
        (
            vec![onnx_node("", "MatMulInteger", &["x", "w_quantized"], &[])],
            2,
            "w_quantized are codes of MatMulInteger, whose other inputs are not constant",
        ),
    ];
    each(
        cases.into_iter().enumerate(),
        |(n, (_, _, expected))| format!("{n}: {expected}"),
        |(_, (nodes, status, expected))| {
            folder.put("m.onnx", onnx_model(nodes, &tensors()));
            let run = folder.run(words("convert m.onnx --dequantize -o out.npz"));
            let is_written = fs::remove_file(folder.path("out.npz")).is_ok();
            let is_right = run.status == Some(*status) && run.stderr.contains(expected) && is_written == (*status == 0);
            if is_right { Ok(()) } else { Err(format!("status {:?}: {}", run.status, run.stderr)) }
        },
    );
}

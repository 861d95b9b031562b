//! `--names`: GGUFs under the names of their checkpoints, and checkpoints under those of their GGUFs. The models of
//! `tests/golden/names` are those of `tests/oracle/names.py`, which converts them by rules of its own.

use std::fs;

use crate::common::{Folder, each, member, safetensors, says, words};

fn golden(folder: &Folder) -> Vec<String> {
    let mut kinds = Vec::new();
    for entry in fs::read_dir("tests/golden/names").expect("golden models") {
        let name = entry.expect("a file").file_name().into_string().expect("a name");
        let Some(kind) = name.strip_suffix(".gguf") else { continue };
        fs::create_dir(folder.path(kind)).expect("a folder");
        for file in [name.clone(), format!("{kind}/config.json"), format!("{kind}/model.safetensors")] {
            folder.put(&file, fs::read(format!("tests/golden/names/{file}")).expect("a golden file"));
        }
        kinds.push(kind.to_owned());
    }
    kinds
}

#[test]
fn every_architecture() {
    let folder = Folder::new();
    let kinds = golden(&folder);
    assert!(kinds.len() > 30, "{kinds:?}");
    each(
        kinds,
        |kind| kind.clone(),
        |kind| {
            let gguf = format!("diff {kind} {kind}.gguf --names gguf --ignore-dtype --rtol 3e-7");
            let hf = format!("diff {kind}.gguf {kind} --names hf --ignore-dtype --atol 1e-6");
            // positions of the padding, and how experts were stored, are lost
            let is_lost = matches!(kind.as_str(), "roberta" | "qwen3moe-fused");
            for args in [Some(gguf), Some(hf).filter(|_| !is_lost)].into_iter().flatten() {
                for window in [None, Some(24)] {
                    let run = folder.run_with(words(&args), window, None);
                    let printed = String::from_utf8_lossy(&run.stdout);
                    if run.status != Some(0) || !printed.starts_with("equal: ") {
                        return Err(format!("{args}: {printed}{}", run.stderr));
                    }
                }
            }
            // and back: what is not computed has the same bits
            let out = format!("convert {kind}.gguf --names hf -o {kind}-back/model.safetensors --quiet");
            fs::create_dir(folder.path(format!("{kind}-back"))).expect("a folder");
            folder.put(format!("{kind}-back/config.json"), folder.get(format!("{kind}/config.json")));
            folder.run(words(&out)).printed()?;
            let computed = ["ssm_a", "*norm.weight", "position_embd.weight"].map(|name| format!(" --exclude *{name}"));
            let computed: String = computed
                .into_iter()
                .filter(|option| {
                    let back = format!("info {kind}.gguf --members{}", option.replace("exclude", "only"));
                    folder.run(words(&back)).status == Some(0)
                })
                .collect();
            let run = folder.run(words(&format!("diff {kind}.gguf {kind}-back --names gguf{computed}")));
            let printed = String::from_utf8_lossy(&run.stdout);
            if run.status == Some(0) && printed.starts_with("equal: ") { Ok(()) } else { Err(printed.into_owned()) }
        },
    );
}

enum Key {
    Text(&'static str),
    Number(u32),
    Numbers(Vec<u32>),
}

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

/// A GGUF of float32s: the items of tensor `n` are `n`, `n` + 1/64, and so on, and those of the output are those of tensor 0.
fn gguf(keys: &[(&str, Key)], tensors: &[(&str, &[u64])]) -> Vec<u8> {
    let mut out = b"GGUF\x03\0\0\0".to_vec();
    out.extend([tensors.len() as u64, keys.len() as u64].map(u64::to_le_bytes).concat());
    for (key, value) in keys {
        out.extend(text(key));
        match value {
            Key::Text(value) => out.extend([&8_u32.to_le_bytes()[..], &text(value)].concat()),
            Key::Number(value) => out.extend([4_u32.to_le_bytes(), value.to_le_bytes()].concat()),
            Key::Numbers(all) => {
                out.extend([9_u32.to_le_bytes(), 4_u32.to_le_bytes()].concat());
                out.extend((all.len() as u64).to_le_bytes());
                out.extend(all.iter().flat_map(|value| value.to_le_bytes()));
            }
        }
    }
    let mut items = Vec::new();
    for (n, (name, shape)) in tensors.iter().enumerate() {
        out.extend([text(name), (shape.len() as u32).to_le_bytes().to_vec()].concat());
        out.extend(shape.iter().rev().flat_map(|dim| dim.to_le_bytes()));
        out.extend([&0_u32.to_le_bytes()[..], &(items.len() as u64).to_le_bytes()].concat());
        let (count, n) = (shape.iter().product::<u64>(), if *name == "output.weight" { 0 } else { n });
        items.extend((0..count).flat_map(|item| (n as f32 + item as f32 / 64.0).to_le_bytes()));
        items.resize(items.len().next_multiple_of(32), 0);
    }
    out.resize(out.len().next_multiple_of(32), 0);
    out.extend(items);
    out
}

/// The keys of a Llama of two layers with two heads, of which `kv` have keys.
fn llama(kv: Key) -> [(&'static str, Key); 4] {
    [
        ("general.architecture", Key::Text("llama")),
        ("llama.block_count", Key::Number(2)),
        ("llama.attention.head_count", Key::Number(2)),
        ("llama.attention.head_count_kv", kv),
    ]
}

const TENSORS: [(&str, &[u64]); 5] = [
    ("token_embd.weight", &[4, 2]),
    ("blk.0.attn_q.weight", &[8, 2]),
    ("blk.0.attn_k.weight", &[4, 2]),
    ("blk.1.ffn_gate_exps.weight", &[2, 2, 2]),
    ("rope_freqs.weight", &[2]),
];

const CONFIG: &str = r#"{"model_type": "mixtral", "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 1, "tie_word_embeddings": true}"#;

/// `x.gguf`, and its checkpoint `hf`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.put("x.gguf", gguf(&llama(Key::Number(1)), &TENSORS));
    fs::create_dir(folder.path("hf")).expect("a folder");
    folder.put("hf/config.json", CONFIG);
    folder.put("hf/model.safetensors", checkpoint(&[0, 2, 1, 3, 4, 6, 5, 7]));
    folder
}

/// The rows of the queries as given.
fn checkpoint(rows: &[usize]) -> Vec<u8> {
    let items = |n: usize, items: &mut dyn Iterator<Item = usize>| -> Vec<u8> {
        items.flat_map(|item| (n as f32 + item as f32 / 64.0).to_le_bytes()).collect()
    };
    let of_rows = |n, rows: &[usize]| items(n, &mut rows.iter().flat_map(|row| [row * 2, row * 2 + 1]));
    let expert = "model.layers.1.block_sparse_moe.experts";
    safetensors(&[
        member("model.embed_tokens.weight", "float32", &[4, 2], of_rows(0, &[0, 1, 2, 3])),
        member("lm_head.weight", "float32", &[4, 2], of_rows(0, &[0, 1, 2, 3])),
        member("model.layers.0.self_attn.q_proj.weight", "float32", &[8, 2], of_rows(1, rows)),
        member("model.layers.0.self_attn.k_proj.weight", "float32", &[4, 2], of_rows(2, &[0, 2, 1, 3])),
        member(&format!("{expert}.0.w1.weight"), "float32", &[2, 2], of_rows(3, &[0, 1])),
        member(&format!("{expert}.1.w1.weight"), "float32", &[2, 2], of_rows(3, &[2, 3])),
        member("model.layers.0.self_attn.rotary_emb.inv_freq", "float32", &[2], of_rows(0, &[0])),
    ])
}

#[test]
fn all_commands_know_the_other_names() {
    let folder = folder();
    folder.put("i.json", "[[0]]");
    let q = "model.layers.0.self_attn.q_proj.weight";
    let rows: &[(&str, i32, &str, &str)] = &[
        (
            "info x.gguf --names hf",
            0,
            "self_attn.q_proj.weight",
            "x.gguf: 1 tensor keeps its name: rope_freqs.weight\n",
        ),
        ("info x.gguf --names hf -v", 0, "", "x.gguf: rope_freqs.weight keeps its name\n"),
        ("info x.gguf --names hf --members", 0, "model.layers.1.block_sparse_moe.experts.1.w1.weight\nrope_freqs", ""),
        (
            "info hf --names gguf",
            0,
            "  blk.1.ffn_gate_exps.weight ",
            "hf: 1 tensor keeps its name: model.layers.0.self_attn.rotary_emb.inv_freq\n",
        ),
        ("info hf --names gguf", 0, "float32    [2, 2, 2]   32 B\n", ""),
        ("info x.gguf --names gguf --members x.gguf", 2, "", "--names gguf: no operand is a checkpoint of other names"),
        ("info hf --names hf", 2, "", "--names hf: no operand is a GGUF\n"),
        (&format!("show x.gguf:{q} --names hf --at 1:3"), 0, "[1.0625   1.078125]\n [1.03125  1.046875]", ""),
        (&format!("slice x.gguf:{q} --names hf --at 1:2 --to json"), 0, "[1.0625, 1.078125]", ""),
        ("slice hf:blk.0.attn_q.weight --names gguf --at 1:2 --to json", 0, "[1.03125, 1.046875]", ""),
        (&format!("gather x.gguf:{q} [2] --axis 0 --names hf"), 0, "1.03125", ""),
        (&format!("split x.gguf:{q} --input-names hf --parts 2 --names a,b -o s.npz"), 0, "", ""),
        ("show s.npz:a --at 1:2", 0, "1.0625", ""),
        (&format!("diff x.gguf:{q} hf/model.safetensors:{q} --names hf"), 0, "equal", ""),
        ("convert x.gguf --names hf --cast bfloat16 -o half.safetensors", 0, "", "1 tensor keeps its name"),
        ("info half.safetensors", 0, "self_attn.q_proj.weight ", ""),
        ("convert x.gguf --names hf --only *experts.1* -o one.npz --quiet", 0, "", ""),
        ("show one.npz", 0, "[3.0625   3.078125]\n [3.09375  3.109375]", ""),
        ("info x.gguf --names bert", 2, "", "invalid value 'bert'"),
        (
            &format!("slice-scatter x.gguf:{q} --names hf --at : --fill 0 --in-place"),
            2,
            "",
            "--in-place changes tensors under their own names, without --names",
        ),
    ];
    says(&folder, rows);
    assert!(folder.get("x.gguf") == gguf(&llama(Key::Number(1)), &TENSORS));
}

#[test]
fn what_one_side_has_by_design() {
    let folder = folder();
    let lines = "  3 tensors are on one side by design, such as lm_head.weight (-v names them)\n";
    let rows: &[(&str, i32, &str, &str)] = &[
        ("diff hf x.gguf --names hf", 0, "equal: 5 same", ""),
        ("diff hf x.gguf --names hf", 0, lines, ""),
        ("diff hf x.gguf --names hf -v", 0, "  on one side by design: rope_freqs.weight\n", ""),
        ("diff x.gguf hf --names gguf", 0, "such as model.layers.0.self_attn.rotary_emb.inv_freq (-v", ""),
        ("diff x.gguf x.gguf --names hf", 0, "equal: 6 same", ""),
        ("diff hf x.gguf --names hf --first", 0, lines, ""),
        ("diff hf x.gguf --names hf --json", 0, "\"equal\": true", lines.trim_start()),
        // an output of its own is missed
        ("diff own x.gguf --names hf", 1, "  missing  lm_head.weight", ""),
        // a tied one is that of the embedding
        ("diff tied output.gguf --names hf", 0, "equal: 6 same", ""),
        ("diff tied output.gguf --names gguf", 0, "equal: 5 same", ""),
        ("diff tied wrong.gguf --names hf", 1, "  lm_head.weight: axis 0", ""),
        ("diff wrong.gguf tied --names gguf", 1, "  output.weight: axis 0", ""),
        ("diff tied x.gguf --names hf", 0, "equal: 5 same", ""),
        ("info tied --names gguf", 0, "5 tensors", ""),
    ];
    fs::create_dir(folder.path("tied")).expect("a folder");
    folder
        .run(words("convert hf/model.safetensors --exclude lm_head.weight -o tied/model.safetensors -q"))
        .printed()
        .expect("a copy");
    folder.put("tied/config.json", CONFIG);
    let mut tied = gguf(&llama(Key::Number(1)), &[&TENSORS[..], &[("output.weight", &[4, 2])]].concat());
    folder.put("output.gguf", &tied);
    *tied.last_mut().expect("an item") ^= 1;
    folder.put("wrong.gguf", tied);
    fs::create_dir(folder.path("own")).expect("a folder");
    folder.put("own/model.safetensors", folder.get("hf/model.safetensors"));
    folder.put("own/config.json", CONFIG.replace("true", "false"));
    says(&folder, rows);
}

#[test]
fn a_checkpoint_gets_no_names_of_a_gguf() {
    let folder = folder();
    let before = folder.tree("hf");
    let refused = ["EXPECTED hf", "--dequantize and --names read as others: leave one of the two out"];
    folder.refuses(words("diff hf x.gguf --names gguf --accept"), &refused).expect("refused");
    assert!(folder.tree("hf") == before);
}

#[test]
fn rows_that_were_not_permuted() {
    let folder = folder();
    folder.put("hf/model.safetensors", checkpoint(&[0, 1, 2, 3, 4, 5, 6, 7]));
    let q = "model.layers.0.self_attn.q_proj.weight";
    let line =
        |name: &str| format!("  1 tensor fits better with the rows as stored, not permuted for RoPE: \"{name}\"\n");
    let rows: &[(&str, i32, &str, &str)] = &[
        ("diff hf x.gguf --names hf", 1, &line(q), ""),
        ("diff x.gguf hf --names gguf", 1, &line("blk.0.attn_q.weight"), ""),
        ("diff x.gguf hf --names gguf --first", 1, &line("blk.0.attn_q.weight"), ""),
        ("diff x.gguf hf --names gguf --json", 1, "", "1 tensor fits better with the rows as stored"),
        (
            &format!("diff hf/model.safetensors:{q} x.gguf:{q} --names hf"),
            1,
            "\n1 tensor fits better with the rows as stored",
            "",
        ),
    ];
    says(&folder, rows);
    // another difference is none of the order
    folder.put("hf/model.safetensors", checkpoint(&[7, 6, 5, 4, 0, 1, 2, 3]));
    let run = folder.run(words("diff hf x.gguf --names hf"));
    assert!(run.status == Some(1) && !String::from_utf8_lossy(&run.stdout).contains("as stored"), "{run:?}");
}

#[test]
fn what_is_missing_is_named() {
    let folder = folder();
    let keys = |arch: &'static str| [("general.architecture", Key::Text(arch))];
    folder.put("clip.gguf", gguf(&keys("clip"), &TENSORS));
    folder.put("bare.gguf", gguf(&[], &TENSORS));
    folder.put("heads.gguf", gguf(&keys("llama"), &TENSORS));
    folder.put("layers.gguf", gguf(&llama(Key::Numbers([vec![1, 1], vec![9; 30]].concat())), &TENSORS));
    folder.put("short.gguf", gguf(&llama(Key::Numbers(Vec::new())), &TENSORS));
    folder.put("odd.gguf", gguf(&llama(Key::Number(3)), &TENSORS));
    folder.put("alone.safetensors", folder.get("hf/model.safetensors"));
    for (name, config) in [
        ("other", CONFIG.replace("mixtral", "whisper")),
        ("untyped", CONFIG.replace("model_type", "type")),
        ("text", format!(r#"{{"model_type": "llava", "text_config": {CONFIG}}}"#)),
        ("headless", CONFIG.replace("num_attention_heads", "heads")),
        ("words", CONFIG.replace("\"num_attention_heads\": 2", "\"num_attention_heads\": \"two\"")),
        ("broken", "{".to_owned()),
        ("fewer", CONFIG.replacen('{', "{\"num_local_experts\": 3, ", 1)),
    ] {
        fs::create_dir(folder.path(name)).expect("a folder");
        folder.put(format!("{name}/config.json"), config);
        folder.put(format!("{name}/model.safetensors"), folder.get("hf/model.safetensors"));
    }
    let lost = |n: usize| format!("model.layers.1.block_sparse_moe.experts.{n}.w1.weight");
    fs::create_dir(folder.path("lost")).expect("a folder");
    folder.put("lost/config.json", CONFIG);
    let one = |n| member("", "float32", &[2, 2], vec![n; 16]);
    let (first, third) = (lost(0), lost(2));
    let members = [(&first, 0), (&third, 2)].map(|(name, n)| crate::common::Member { name, ..one(n) });
    folder.put("lost/model.safetensors", safetensors(&members));
    let rows: &[(&str, i32, &str, &str)] = &[
        ("info clip.gguf --names hf", 2, "", "the architecture \"clip\" has no table of names, only bert, deepseek2, "),
        ("info bare.gguf --names hf", 2, "", "bare.gguf: the key general.architecture is missing"),
        ("info heads.gguf --names hf", 2, "blk.0.attn_q.weight: llama.attention.head_count is missing", ""),
        ("convert heads.gguf --names hf -o out.npz", 2, "", "llama.attention.head_count is missing"),
        ("show layers.gguf:model.layers.0.self_attn.k_proj.weight --names hf", 0, "[4, 2]", ""),
        ("diff layers.gguf hf --names hf", 0, "equal: 5 same", ""),
        ("info short.gguf --names hf", 2, "llama.attention.head_count_kv is missing, for layer 0", ""),
        ("info odd.gguf --names hf", 2, "blk.0.attn_k.weight: an axis of 4 does not fit 3 * d * 2", ""),
        ("info alone.safetensors --names gguf", 2, "", "no config.json beside the tensors states their architecture"),
        (
            "info other --names gguf",
            2,
            "",
            "config.json: the architecture \"whisper\" has no table of names, only bert",
        ),
        ("info untyped --names gguf", 2, "", "config.json: model_type is missing"),
        ("info headless --names gguf", 2, "self_attn.q_proj.weight: num_attention_heads is missing, for layer 0", ""),
        ("info words --names gguf", 2, "num_attention_heads is \"two\", expected a whole number", ""),
        ("info broken --names gguf", 2, "", "config.json"),
        ("diff text x.gguf --names gguf", 0, "equal", ""),
        // no architecture is needed to compare with the names of a GGUF
        ("diff alone.safetensors x.gguf --names hf", 1, "5 same, 0 within, 0 different", ""),
        ("info fewer --names gguf", 2, "blk.0.attn_q.weight", &format!("{} is missing", lost(2))),
        ("info lost --names gguf", 2, "", &format!("{} is missing", lost(1))),
        ("convert lost --names gguf -o out.npz", 2, "", &format!("{} is missing", lost(1))),
    ];
    says(&folder, rows);
    assert!(!folder.path("out.npz").exists());
}

/// What a GGUF lies beside, and what is made of one, have the names of a checkpoint, too.
#[test]
fn files_beside_and_after_a_gguf() {
    let folder = folder();
    folder.put("hf/x.gguf", folder.get("x.gguf"));
    fs::create_dir(folder.path("alone")).expect("a folder");
    folder.put("alone/x.gguf", folder.get("x.gguf"));
    let rows: &[(&str, i32, &str, &str)] = &[
        ("diff hf hf/x.gguf --names hf", 0, "equal: 5 same", ""),
        ("diff hf/x.gguf hf --names gguf", 0, "equal: 4 same", ""),
        ("diff hf alone --names hf", 0, "equal: 5 same", ""),
        ("info alone --names hf", 0, "self_attn.q_proj.weight", ""),
        ("show hf:blk.0.attn_q.weight --names gguf --at :1", 0, "[1.       1.015625]", ""),
        ("convert x.gguf --names hf -o y.safetensors --quiet", 0, "", ""),
        // the header has the keys of the GGUF
        ("diff x.gguf y.safetensors --names gguf", 0, "equal: 5 same", ""),
        ("convert y.safetensors --names gguf -o z.safetensors --quiet", 0, "", ""),
        ("diff x.gguf z.safetensors", 0, "equal: 5 same", ""),
    ];
    says(&folder, rows);
}

/// Items in blocks of MXFP4 are rows, and plain ones columns.
#[test]
fn weights_of_mxfp4() {
    let folder = Folder::new();
    fs::create_dir(folder.path("hf")).expect("a folder");
    for (from, to) in
        [("x.gguf", "x.gguf"), ("config.json", "hf/config.json"), ("model.safetensors", "hf/model.safetensors")]
    {
        folder.put(to, fs::read(format!("tests/golden/names/mxfp4/{from}")).expect("a golden file"));
    }
    let rows: &[(&str, i32, &str, &str)] = &[
        (
            "diff hf x.gguf --names gguf --dequantize",
            0,
            "equal: ",
            "6 tensors are computed in float32: +0 in place of -0",
        ),
        ("diff hf x.gguf --names hf --dequantize --atol 0", 0, "equal: ", ""),
        ("info x.gguf --names hf", 0, "  model.layers.0.mlp.experts.gate_up_proj         mxfp4       [3, 64, 32]", ""),
    ];
    says(&folder, rows);
}

/// A norm plus 1 is computed, and blocks of a GGUF are read as numbers.
#[test]
fn what_is_computed_is_said() {
    let folder = Folder::new();
    golden(&folder);
    let rows: &[(&str, i32, &str, &str)] = &[
        ("info gemma2.gguf --names hf", 0, "", "gemma2.gguf: 9 tensors are computed in float32 and rounded: minus 1\n"),
        ("info gemma2 --names gguf", 0, "", "gemma2: 9 tensors are computed in float32 and rounded: plus 1\n"),
        ("info mamba --names gguf", 0, "", "2 tensors are computed in float32 and rounded: -exp of the stored items\n"),
        ("info gemma2 --names gguf --json", 0, "\"member\": \"blk.0.attn_norm.weight\"", ""),
    ];
    says(&folder, rows);
}

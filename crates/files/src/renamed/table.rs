//! The names of tensors in checkpoints and in their GGUFs, by architecture.
//!
//! In a name `{i}` is the number of a layer, `{e}` that of an expert, and `{w}` is `weight` or `bias`. If only the name in
//! the checkpoint has `{e}`, the GGUF has all experts in one tensor, on a new first axis. Rows are tried in their order.

use std::collections::HashMap;
use std::fmt::Write;

use super::facts::ModelFacts;
use super::rules::{KEY_ROWS, QUERY_ROWS, Rule};

/// The tensors of some architectures that have the same two names.
#[derive(Debug)]
pub(crate) struct Row {
    /// The architectures, with spaces between them.
    pub archs: &'static str,
    /// The name in a checkpoint of Hugging Face.
    pub hf: &'static str,
    /// The names of the tensors of a GGUF that hold its items.
    pub gguf: &'static [&'static str],
    pub rule: Rule,
    /// The row is only for a GGUF that has this tensor, too.
    pub beside: Option<&'static str>,
}

/// All that call their layers `model.layers.{i}`.
const LAYERS: &str = "\
    llama qwen2 qwen3 qwen2moe qwen3moe gemma gemma2 gemma3 phi3 deepseek2 gpt-oss qwen3next qwen35 qwen35moe \
    gemma3n gemma4 glm4 glm4moe llama4 olmo olmo2 stablelm";

const PERMUTED: &str = "llama olmo";
const MOE: &str = "qwen2moe qwen3moe qwen3next qwen35moe";
const POST_NORMS: &str = "gemma2 gemma3 gemma3n gemma4";
const POST_ATTENTION: &str = "gemma2 gemma3 gemma3n gemma4 gpt-oss qwen3next qwen35 qwen35moe olmo2 glm4moe";
const FUSED_UP: &str = "phi3 glm4";
const GATED: &str = "deepseek2 glm4moe";
const EXPERTS: &str = "qwen2moe qwen3moe deepseek2 qwen3next qwen35moe glm4moe";
const SHARED: &str = "qwen2moe qwen3next qwen35moe";
const QWEN35: &str = "qwen35 qwen35moe";
const LINEAR: &str = "qwen3next qwen35 qwen35moe";
const PREDICTING: &str = "glm4 glm4moe qwen35 qwen35moe";

const fn row(archs: &'static str, hf: &'static str, gguf: &'static [&'static str], rule: Rule) -> Row {
    Row { archs, hf, gguf, rule, beside: None }
}

impl Row {
    const fn beside(self, name: &'static str) -> Self {
        Self { beside: Some(name), ..self }
    }
}

/// A module of each layer in `model.layers.{i}`.
macro_rules! layer {
    ($archs:expr, $hf:literal, $gguf:literal, $rule:expr) => {
        row($archs, concat!("model.layers.{i}.", $hf), &[concat!("blk.{i}.", $gguf)], $rule)
    };
    ($archs:expr, $hf:literal, [$($gguf:literal),+], $rule:expr) => {
        row($archs, concat!("model.layers.{i}.", $hf), &[$(concat!("blk.{i}.", $gguf)),+], $rule)
    };
}

/// A module of each layer of T5.
macro_rules! t5 {
    ($hf:literal, $layer:literal, $module:literal, $gguf:literal, $name:literal) => {
        row(
            "t5",
            concat!($hf, ".block.{i}.layer.", $layer, ".", $module, ".weight"),
            &[concat!($gguf, ".blk.{i}.", $name, ".weight")],
            Rule::Same,
        )
    };
}

pub(crate) static ROWS: &[Row] = &[
    // gate and up in one
    layer!("phi3", "self_attn.qkv_proj.{w}", "attn_qkv.{w}", Rule::Same),
    layer!(FUSED_UP, "mlp.gate_up_proj.{w}", "ffn_up.{w}", Rule::Same),
    // norms of other places
    layer!("glm4", "post_self_attn_layernorm.{w}", "post_attention_norm.{w}", Rule::Same),
    layer!("glm4", "post_mlp_layernorm.{w}", "post_ffw_norm.{w}", Rule::Same),
    layer!("olmo2", "post_feedforward_layernorm.{w}", "post_ffw_norm.{w}", Rule::Same),
    layer!("stablelm", "self_attn.q_layernorm.norms.{e}.{w}", "attn_q_norm.{w}", Rule::Same),
    layer!("stablelm", "self_attn.k_layernorm.norms.{e}.{w}", "attn_k_norm.{w}", Rule::Same),
    // layers of Llama 4 without experts
    layer!("llama4", "feed_forward.gate_proj.{w}", "ffn_gate.{w}", Rule::Same),
    layer!("llama4", "feed_forward.up_proj.{w}", "ffn_up.{w}", Rule::Same),
    layer!("llama4", "feed_forward.down_proj.{w}", "ffn_down.{w}", Rule::Same),
    // the pairs of a head that RoPE rotates, in two halves in a GGUF
    layer!("mrope", "self_attn.q_proj.{w}", "attn_q.{w}", Rule::View("N:A.2|x * = N:2.A * + x *")),
    layer!("mrope", "self_attn.k_proj.{w}", "attn_k.{w}", Rule::View("K:A.2|x * = K:2.A * + x *")),
    // layers that predict further tokens
    layer!(PREDICTING, "eh_proj.{w}", "nextn.eh_proj.{w}", Rule::Same),
    layer!(PREDICTING, "enorm.{w}", "nextn.enorm.{w}", Rule::Norm),
    layer!(PREDICTING, "hnorm.{w}", "nextn.hnorm.{w}", Rule::Norm),
    layer!(PREDICTING, "embed_tokens.{w}", "nextn.embed_tokens.{w}", Rule::Same),
    layer!(PREDICTING, "shared_head.head.{w}", "nextn.shared_head_head.{w}", Rule::Same),
    layer!(PREDICTING, "shared_head.norm.{w}", "nextn.shared_head_norm.{w}", Rule::Norm),
    // most
    row(LAYERS, "model.embed_tokens.{w}", &["token_embd.{w}"], Rule::Same),
    row(LAYERS, "model.norm.{w}", &["output_norm.{w}"], Rule::Norm),
    row(LAYERS, "lm_head.{w}", &["output.{w}"], Rule::Same),
    layer!(LAYERS, "input_layernorm.{w}", "attn_norm.{w}", Rule::Norm),
    layer!(POST_ATTENTION, "post_attention_layernorm.{w}", "post_attention_norm.{w}", Rule::Norm),
    layer!(POST_NORMS, "pre_feedforward_layernorm.{w}", "ffn_norm.{w}", Rule::Norm),
    layer!(POST_NORMS, "post_feedforward_layernorm.{w}", "post_ffw_norm.{w}", Rule::Norm),
    layer!(LAYERS, "post_attention_layernorm.{w}", "ffn_norm.{w}", Rule::Norm),
    layer!(PERMUTED, "self_attn.q_proj.{w}", "attn_q.{w}", QUERY_ROWS),
    layer!(PERMUTED, "self_attn.k_proj.{w}", "attn_k.{w}", KEY_ROWS),
    layer!(LAYERS, "self_attn.q_proj.{w}", "attn_q.{w}", Rule::Same),
    layer!(LAYERS, "self_attn.k_proj.{w}", "attn_k.{w}", Rule::Same),
    layer!(LAYERS, "self_attn.v_proj.{w}", "attn_v.{w}", Rule::Same),
    layer!(LAYERS, "self_attn.o_proj.{w}", "attn_output.{w}", Rule::Same),
    layer!(LAYERS, "self_attn.q_norm.{w}", "attn_q_norm.{w}", Rule::Norm),
    layer!(LAYERS, "self_attn.k_norm.{w}", "attn_k_norm.{w}", Rule::Norm),
    layer!(LAYERS, "mlp.gate_proj.{w}", "ffn_gate.{w}", Rule::Same),
    layer!(LAYERS, "mlp.up_proj.{w}", "ffn_up.{w}", Rule::Same),
    layer!(LAYERS, "mlp.down_proj.{w}", "ffn_down.{w}", Rule::Same),
    // experts
    layer!(EXPERTS, "mlp.gate.{w}", "ffn_gate_inp.{w}", Rule::Same),
    layer!(EXPERTS, "mlp.experts.{e}.gate_proj.{w}", "ffn_gate_exps.{w}", Rule::Same),
    layer!(EXPERTS, "mlp.experts.{e}.up_proj.{w}", "ffn_up_exps.{w}", Rule::Same),
    layer!(EXPERTS, "mlp.experts.{e}.down_proj.{w}", "ffn_down_exps.{w}", Rule::Same),
    layer!(
        MOE,
        "mlp.experts.gate_up_proj",
        ["ffn_gate_exps.weight", "ffn_up_exps.weight"],
        Rule::View("e f|f h = e f h ; e f h")
    ),
    layer!(MOE, "mlp.experts.gate_up_proj", "ffn_gate_up_exps.weight", Rule::Same),
    layer!(MOE, "mlp.experts.down_proj", "ffn_down_exps.weight", Rule::Same),
    layer!(SHARED, "mlp.shared_expert.gate_proj.{w}", "ffn_gate_shexp.{w}", Rule::Same),
    layer!(SHARED, "mlp.shared_expert.up_proj.{w}", "ffn_up_shexp.{w}", Rule::Same),
    layer!(SHARED, "mlp.shared_expert.down_proj.{w}", "ffn_down_shexp.{w}", Rule::Same),
    layer!(SHARED, "mlp.shared_expert_gate.weight", "ffn_gate_inp_shexp.weight", Rule::View("1 h = 1 h")),
    // Mixtral
    layer!("llama", "block_sparse_moe.gate.{w}", "ffn_gate_inp.{w}", Rule::Same),
    layer!("llama", "block_sparse_moe.experts.{e}.w1.{w}", "ffn_gate_exps.{w}", Rule::Same),
    layer!("llama", "block_sparse_moe.experts.{e}.w2.{w}", "ffn_down_exps.{w}", Rule::Same),
    layer!("llama", "block_sparse_moe.experts.{e}.w3.{w}", "ffn_up_exps.{w}", Rule::Same),
    layer!("llama", "block_sparse_moe.experts.{e}.w1.{w}", "ffn_gate.{e}.{w}", Rule::Same),
    layer!("llama", "block_sparse_moe.experts.{e}.w2.{w}", "ffn_down.{e}.{w}", Rule::Same),
    layer!("llama", "block_sparse_moe.experts.{e}.w3.{w}", "ffn_up.{e}.{w}", Rule::Same),
    // DeepSeek
    layer!("deepseek2", "self_attn.q_a_proj.{w}", "attn_q_a.{w}", Rule::Same),
    layer!("deepseek2", "self_attn.q_b_proj.{w}", "attn_q_b.{w}", Rule::Same),
    layer!("deepseek2", "self_attn.q_a_layernorm.{w}", "attn_q_a_norm.{w}", Rule::Same),
    layer!("deepseek2", "self_attn.kv_a_proj_with_mqa.{w}", "attn_kv_a_mqa.{w}", Rule::Same),
    layer!("deepseek2", "self_attn.kv_a_layernorm.{w}", "attn_kv_a_norm.{w}", Rule::Same),
    layer!(
        "deepseek2",
        "self_attn.kv_b_proj.weight",
        ["attn_k_b.weight", "attn_v_b.weight"],
        Rule::View("N:P|V r = N r P ; N V r")
    ),
    layer!("deepseek2", "self_attn.kv_b_proj.weight", "attn_kv_b.weight", Rule::Same),
    layer!(GATED, "mlp.shared_experts.gate_proj.{w}", "ffn_gate_shexp.{w}", Rule::Same),
    layer!(GATED, "mlp.shared_experts.up_proj.{w}", "ffn_up_shexp.{w}", Rule::Same),
    layer!(GATED, "mlp.shared_experts.down_proj.{w}", "ffn_down_shexp.{w}", Rule::Same),
    layer!(GATED, "mlp.gate.e_score_correction_bias", "exp_probs_b.bias", Rule::Same),
    // linear attention of Qwen
    layer!(
        "qwen3next",
        "linear_attn.in_proj_qkvz.weight",
        ["attn_qkv.weight", "attn_gate.weight"],
        Rule::View("L:D|D|R.E|R.E h = L.D h + L.D h + L.R.E h ; L.R.E h")
    ),
    layer!("qwen3next", "linear_attn.in_proj_qkvz.weight", "ssm_in.weight", Rule::Same),
    layer!("qwen3next", "linear_attn.in_proj_ba.weight", "ssm_ba.weight", Rule::Same),
    layer!("qwen3next", "linear_attn.A_log", "ssm_a", Rule::MinusExp("* = *")),
    layer!("qwen3next", "linear_attn.dt_bias", "ssm_dt.bias", Rule::Same),
    layer!("qwen3next", "linear_attn.conv1d.weight", "ssm_conv1d.weight", Rule::View("c 1 k = c k")),
    layer!("qwen3next", "linear_attn.out_proj.weight", "ssm_out.weight", Rule::Same),
    layer!(QWEN35, "linear_attn.in_proj_qkv.weight", "attn_qkv.weight", Rule::View("x|L.R.E h = x h + R.L.E h")),
    layer!(QWEN35, "linear_attn.in_proj_z.weight", "attn_gate.weight", Rule::View("L.R.d * = R.L.d *")),
    layer!(QWEN35, "linear_attn.in_proj_a.weight", "ssm_alpha.weight", Rule::View("L.R.d * = R.L.d *")),
    layer!(QWEN35, "linear_attn.in_proj_b.weight", "ssm_beta.weight", Rule::View("L.R.d * = R.L.d *")),
    layer!(QWEN35, "linear_attn.A_log", "ssm_a", Rule::MinusExp("L.R.d * = R.L.d *")),
    layer!(QWEN35, "linear_attn.dt_bias", "ssm_dt.bias", Rule::View("L.R.d * = R.L.d *")),
    layer!(QWEN35, "linear_attn.conv1d.weight", "ssm_conv1d.weight", Rule::View("x|L.R.E 1 k = x k + R.L.E k")),
    layer!(QWEN35, "linear_attn.out_proj.weight", "ssm_out.weight", Rule::View("r L.R.d = r R.L.d")),
    layer!(LINEAR, "linear_attn.norm.weight", "ssm_norm.weight", Rule::Same),
    // Llama 4
    layer!("llama4", "feed_forward.router.{w}", "ffn_gate_inp.{w}", Rule::Same),
    layer!("llama4", "feed_forward.shared_expert.gate_proj.{w}", "ffn_gate_shexp.{w}", Rule::Same),
    layer!("llama4", "feed_forward.shared_expert.up_proj.{w}", "ffn_up_shexp.{w}", Rule::Same),
    layer!("llama4", "feed_forward.shared_expert.down_proj.{w}", "ffn_down_shexp.{w}", Rule::Same),
    layer!(
        "llama4",
        "feed_forward.experts.gate_up_proj",
        ["ffn_gate_exps.weight", "ffn_up_exps.weight"],
        Rule::View("e h f|f = e f h ; e f h")
    ),
    layer!("llama4", "feed_forward.experts.down_proj", "ffn_down_exps.weight", Rule::View("e r c = e c r")),
    // gpt-oss
    layer!("gpt-oss", "self_attn.sinks", "attn_sinks.weight", Rule::Same),
    layer!("gpt-oss", "mlp.router.{w}", "ffn_gate_inp.{w}", Rule::Same),
    layer!(
        "gpt-oss",
        "mlp.experts.gate_up_proj",
        ["ffn_gate_exps.weight", "ffn_up_exps.weight"],
        Rule::Blocks("e h f:1|1 = e f h ; e f h", "e f:1|1 h = e f h ; e f h")
    ),
    layer!(
        "gpt-oss",
        "mlp.experts.gate_up_proj_bias",
        ["ffn_gate_exps.bias", "ffn_up_exps.bias"],
        Rule::View("e f:1|1 = e f ; e f")
    ),
    layer!("gpt-oss", "mlp.experts.down_proj", "ffn_down_exps.weight", Rule::Blocks("e r c = e c r", "* = *")),
    layer!("gpt-oss", "mlp.experts.down_proj_bias", "ffn_down_exps.bias", Rule::Same),
    // BERT
    row("bert", "embeddings.word_embeddings.{w}", &["token_embd.{w}"], Rule::Same),
    row("bert", "embeddings.token_type_embeddings.{w}", &["token_types.{w}"], Rule::Same),
    row("bert", "embeddings.position_embeddings.{w}", &["position_embd.{w}"], Rule::View("Z|p * = - + p *")),
    row("bert", "embeddings.LayerNorm.{w}", &["token_embd_norm.{w}"], Rule::Same),
    row("bert", "encoder.layer.{i}.attention.self.query.{w}", &["blk.{i}.attn_q.{w}"], Rule::Same),
    row("bert", "encoder.layer.{i}.attention.self.key.{w}", &["blk.{i}.attn_k.{w}"], Rule::Same),
    row("bert", "encoder.layer.{i}.attention.self.value.{w}", &["blk.{i}.attn_v.{w}"], Rule::Same),
    row("bert", "encoder.layer.{i}.attention.output.dense.{w}", &["blk.{i}.attn_output.{w}"], Rule::Same),
    row("bert", "encoder.layer.{i}.attention.output.LayerNorm.{w}", &["blk.{i}.attn_output_norm.{w}"], Rule::Same),
    row("bert", "encoder.layer.{i}.intermediate.dense.{w}", &["blk.{i}.ffn_up.{w}"], Rule::Same),
    row("bert", "encoder.layer.{i}.output.dense.{w}", &["blk.{i}.ffn_down.{w}"], Rule::Same),
    row("bert", "encoder.layer.{i}.output.LayerNorm.{w}", &["blk.{i}.layer_output_norm.{w}"], Rule::Same),
    // Falcon
    row("falcon", "transformer.word_embeddings.{w}", &["token_embd.{w}"], Rule::Same),
    row("falcon", "transformer.ln_f.{w}", &["output_norm.{w}"], Rule::Same),
    row("falcon", "lm_head.{w}", &["output.{w}"], Rule::Same),
    row("falcon", "transformer.h.{i}.ln_mlp.{w}", &["blk.{i}.attn_norm.{w}"], Rule::Same)
        .beside("blk.{i}.attn_norm_2.weight"),
    row("falcon", "transformer.h.{i}.input_layernorm.{w}", &["blk.{i}.attn_norm.{w}"], Rule::Same),
    row("falcon", "transformer.h.{i}.ln_attn.{w}", &["blk.{i}.attn_norm_2.{w}"], Rule::Same),
    row(
        "falcon",
        "transformer.h.{i}.self_attention.query_key_value.{w}",
        &["blk.{i}.attn_qkv.{w}"],
        Rule::View("K:G.d|d|d * = K.G.d * + K.d * + K.d *"),
    ),
    row("falcon", "transformer.h.{i}.self_attention.dense.{w}", &["blk.{i}.attn_output.{w}"], Rule::Same),
    row("falcon", "transformer.h.{i}.mlp.dense_h_to_4h.{w}", &["blk.{i}.ffn_up.{w}"], Rule::Same),
    row("falcon", "transformer.h.{i}.mlp.dense_4h_to_h.{w}", &["blk.{i}.ffn_down.{w}"], Rule::Same),
    // GPT-2
    row("gpt2", "wte.weight", &["token_embd.weight"], Rule::Same),
    row("gpt2", "wpe.weight", &["position_embd.weight"], Rule::Same),
    row("gpt2", "ln_f.{w}", &["output_norm.{w}"], Rule::Same),
    row("gpt2", "lm_head.weight", &["output.weight"], Rule::Same),
    row("gpt2", "h.{i}.ln_1.{w}", &["blk.{i}.attn_norm.{w}"], Rule::Same),
    row("gpt2", "h.{i}.ln_2.{w}", &["blk.{i}.ffn_norm.{w}"], Rule::Same),
    row("gpt2", "h.{i}.attn.c_attn.weight", &["blk.{i}.attn_qkv.weight"], Rule::View("r c = c r")),
    row("gpt2", "h.{i}.attn.c_attn.bias", &["blk.{i}.attn_qkv.bias"], Rule::Same),
    row("gpt2", "h.{i}.attn.c_proj.weight", &["blk.{i}.attn_output.weight"], Rule::View("r c = c r")),
    row("gpt2", "h.{i}.attn.c_proj.bias", &["blk.{i}.attn_output.bias"], Rule::Same),
    row("gpt2", "h.{i}.mlp.c_fc.weight", &["blk.{i}.ffn_up.weight"], Rule::View("r c = c r")),
    row("gpt2", "h.{i}.mlp.c_fc.bias", &["blk.{i}.ffn_up.bias"], Rule::Same),
    row("gpt2", "h.{i}.mlp.c_proj.weight", &["blk.{i}.ffn_down.weight"], Rule::View("r c = c r")),
    row("gpt2", "h.{i}.mlp.c_proj.bias", &["blk.{i}.ffn_down.bias"], Rule::Same),
    // T5
    row("t5", "shared.weight", &["token_embd.weight"], Rule::Same),
    row("t5", "lm_head.weight", &["output.weight"], Rule::Same),
    row("t5", "encoder.final_layer_norm.weight", &["enc.output_norm.weight"], Rule::Same),
    row("t5", "decoder.final_layer_norm.weight", &["dec.output_norm.weight"], Rule::Same),
    t5!("encoder", 0, "SelfAttention.q", "enc", "attn_q"),
    t5!("encoder", 0, "SelfAttention.k", "enc", "attn_k"),
    t5!("encoder", 0, "SelfAttention.v", "enc", "attn_v"),
    t5!("encoder", 0, "SelfAttention.o", "enc", "attn_o"),
    t5!("encoder", 0, "SelfAttention.relative_attention_bias", "enc", "attn_rel_b"),
    t5!("encoder", 0, "layer_norm", "enc", "attn_norm"),
    t5!("encoder", 1, "DenseReluDense.wi_0", "enc", "ffn_gate"),
    t5!("encoder", 1, "DenseReluDense.wi_1", "enc", "ffn_up").beside("enc.blk.{i}.ffn_gate.weight"),
    t5!("encoder", 1, "DenseReluDense.wi", "enc", "ffn_up"),
    t5!("encoder", 1, "DenseReluDense.wo", "enc", "ffn_down"),
    t5!("encoder", 1, "layer_norm", "enc", "ffn_norm"),
    t5!("decoder", 0, "SelfAttention.q", "dec", "attn_q"),
    t5!("decoder", 0, "SelfAttention.k", "dec", "attn_k"),
    t5!("decoder", 0, "SelfAttention.v", "dec", "attn_v"),
    t5!("decoder", 0, "SelfAttention.o", "dec", "attn_o"),
    t5!("decoder", 0, "SelfAttention.relative_attention_bias", "dec", "attn_rel_b"),
    t5!("decoder", 0, "layer_norm", "dec", "attn_norm"),
    t5!("decoder", 1, "EncDecAttention.q", "dec", "cross_attn_q"),
    t5!("decoder", 1, "EncDecAttention.k", "dec", "cross_attn_k"),
    t5!("decoder", 1, "EncDecAttention.v", "dec", "cross_attn_v"),
    t5!("decoder", 1, "EncDecAttention.o", "dec", "cross_attn_o"),
    t5!("decoder", 1, "EncDecAttention.relative_attention_bias", "dec", "cross_attn_rel_b"),
    t5!("decoder", 1, "layer_norm", "dec", "cross_attn_norm"),
    t5!("decoder", 2, "DenseReluDense.wi_0", "dec", "ffn_gate"),
    t5!("decoder", 2, "DenseReluDense.wi_1", "dec", "ffn_up").beside("dec.blk.{i}.ffn_gate.weight"),
    t5!("decoder", 2, "DenseReluDense.wi", "dec", "ffn_up"),
    t5!("decoder", 2, "DenseReluDense.wo", "dec", "ffn_down"),
    t5!("decoder", 2, "layer_norm", "dec", "ffn_norm"),
    // Mamba
    row("mamba", "backbone.embeddings.weight", &["token_embd.weight"], Rule::Same),
    row("mamba", "backbone.norm_f.weight", &["output_norm.weight"], Rule::Same),
    row("mamba", "lm_head.weight", &["output.weight"], Rule::Same),
    row("mamba", "backbone.layers.{i}.norm.weight", &["blk.{i}.attn_norm.weight"], Rule::Same),
    row("mamba", "backbone.layers.{i}.mixer.in_proj.{w}", &["blk.{i}.ssm_in.{w}"], Rule::Same),
    row("mamba", "backbone.layers.{i}.mixer.x_proj.{w}", &["blk.{i}.ssm_x.{w}"], Rule::Same),
    row("mamba", "backbone.layers.{i}.mixer.dt_proj.{w}", &["blk.{i}.ssm_dt.{w}"], Rule::Same),
    row("mamba", "backbone.layers.{i}.mixer.out_proj.{w}", &["blk.{i}.ssm_out.{w}"], Rule::Same),
    row("mamba", "backbone.layers.{i}.mixer.conv1d.weight", &["blk.{i}.ssm_conv1d.weight"], Rule::View("c 1 k = c k")),
    row("mamba", "backbone.layers.{i}.mixer.conv1d.bias", &["blk.{i}.ssm_conv1d.bias"], Rule::Same),
    row("mamba", "backbone.layers.{i}.mixer.A_log", &["blk.{i}.ssm_a"], Rule::MinusExp("* = *")),
    row("mamba", "backbone.layers.{i}.mixer.D", &["blk.{i}.ssm_d"], Rule::Same),
];

/// Endings of names of tensors that a GGUF never has, with spaces between them: buffers, and heads of training.
pub(crate) const ONLY_HF: &str = "\
    .rotary_emb.inv_freq .attn.bias .attention.bias .attn.masked_bias .attention.masked_bias position_ids \
    pooler.dense.weight pooler.dense.bias encoder.embed_tokens.weight decoder.embed_tokens.weight";

/// Beginnings of names of tensors that the GGUF of a language model never has, with spaces between them.
pub(crate) const PARTS_ONLY_HF: &str = "\
    cls. mtp. vision_tower. vision_model. visual. multi_modal_projector. audio_tower. embed_vision. embed_audio.";

/// Tensors of a GGUF that its converter computes from the config.
pub(crate) const ONLY_GGUF: &[&str] = &["rope_freqs.weight", "rope_factors_long.weight", "rope_factors_short.weight"];

/// Whose names tensors get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameStyle {
    /// Those of a checkpoint of Hugging Face.
    Hf,
    Gguf,
}

impl NameStyle {
    /// The values of `--names`.
    pub const ALL: [(&'static str, Self); 2] = [("hf", Self::Hf), ("gguf", Self::Gguf)];
}

/// The numbers in a name, and its ending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct NameNumbers<'n> {
    pub layer: Option<usize>,
    pub expert: Option<usize>,
    pub ending: &'n str,
}

impl<'n> NameNumbers<'n> {
    /// Reads the numbers of a name that a template fits.
    pub(crate) fn read(template: &str, name: &'n str) -> Option<Self> {
        let (mut numbers, mut parts) = (Self::default(), name.split('.'));
        for wanted in template.split('.') {
            let part = parts.next()?;
            let number = || part.parse().ok().filter(|_| part == "0" || !part.starts_with('0'));
            match wanted {
                "{i}" => numbers.layer = Some(number()?),
                "{e}" => numbers.expert = Some(number()?),
                "{w}" => numbers.ending = Some(part).filter(|part| matches!(*part, "weight" | "bias"))?,
                wanted if wanted != part => return None,
                _ => {}
            }
        }
        parts.next().is_none().then_some(numbers)
    }

    pub(crate) fn name(&self, template: &str) -> String {
        let mut name = String::with_capacity(template.len() + 8);
        for part in template.split('.') {
            let number = match part {
                "{i}" => self.layer,
                "{e}" => self.expert,
                _ => None,
            };
            name.push_str(if name.is_empty() { "" } else { "." });
            match number {
                Some(number) => write!(name, "{number}").expect("memory takes all that is written"),
                None => name.push_str(if part == "{w}" { self.ending } else { part }),
            }
        }
        name
    }
}

/// The rows of an architecture by the names of one side.
pub(crate) struct NameTable {
    /// By names without their numbers and endings.
    rows: HashMap<String, Vec<(&'static Row, usize)>>,
}

impl NameTable {
    pub(crate) fn new(facts: &ModelFacts, by: NameStyle) -> Self {
        let mut rows: HashMap<_, Vec<_>> = HashMap::new();
        let is_of = |row: &&Row| row.archs.split(' ').any(|known| facts.kinds().any(|kind| kind == known));
        for row in ROWS.iter().filter(is_of) {
            let templates = if by == NameStyle::Hf { std::slice::from_ref(&row.hf) } else { row.gguf };
            for (slot, template) in templates.iter().enumerate() {
                rows.entry(Self::key(template)).or_default().push((row, slot));
            }
        }
        Self { rows }
    }

    fn key(name: &str) -> String {
        let mut key = String::with_capacity(name.len());
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        for part in name.split('.') {
            if !matches!(part, "{i}" | "{e}" | "{w}" | "weight" | "bias") && !is_number(part) {
                key.push_str(part);
                key.push('.');
            }
        }
        key
    }

    /// The rows with a name, the place of the name in the row, and the numbers in the name.
    pub(crate) fn rows_of<'n>(
        &self,
        by: NameStyle,
        name: &'n str,
    ) -> impl Iterator<Item = (&'static Row, usize, NameNumbers<'n>)> {
        self.rows.get(&Self::key(name)).into_iter().flatten().filter_map(move |(row, slot)| {
            let template = if by == NameStyle::Hf { row.hf } else { row.gguf[*slot] };
            Some((*row, *slot, NameNumbers::read(template, name)?))
        })
    }

    /// Finds a name of a checkpoint, which may be that of a part of a larger model, or lack the name of the model. Returns
    /// the name in the table's form, too.
    pub(crate) fn find_hf(&self, name: &str) -> Option<(&'static Row, String)> {
        const OUTER: [&str; 4] = ["bert.", "roberta.", "transformer.", "model."];
        let mut plain = name.replace("language_model.", "");
        for (old, new) in [(".gamma", ".weight"), (".beta", ".bias")] {
            if let Some(module) = plain.strip_suffix(old) {
                plain = format!("{module}{new}");
            }
        }
        let cut = OUTER.iter().filter_map(|outer| plain.strip_prefix(outer)).map(str::to_owned);
        let mut names = [plain.clone()].into_iter().chain(cut).chain([format!("model.{plain}")]);
        names.find_map(|name| {
            let row = self.rows_of(NameStyle::Hf, &name).next().map(|(row, ..)| row);
            row.map(|row| (row, name))
        })
    }
}

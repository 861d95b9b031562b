"""Compares `--names hf` and `--names gguf` with models that the rules of converters make in NumPy.

    python tests/oracle/names.py golden              writes tests/golden/names/
    python tests/oracle/names.py PROGRAM [N] [SEED]  compares N random models of each kind

For each architecture N random checkpoints are written with the GGUF that a converter makes of them: names by gguf-py's
`tensor_mapping`, rows, experts and norms by the functions below. Both directions must be equal, in float32 and bfloat16, and
with blocks of q8_0 and q4_K as exact as these are. One row order, expert or norm is then wrong, which must be found and named.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

import gguf
import ml_dtypes
import numpy as np
from gguf.tensor_mapping import get_tensor_name_map

from quantized import write_safetensors

BF16 = ml_dtypes.bfloat16
GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "names"
LAYERS = 2
SIZE = 16  # of a head
PLAIN = {"float32": gguf.GGMLQuantizationType.F32, "bfloat16": gguf.GGMLQuantizationType.BF16}


class Model:
    """The tensors of a checkpoint in float32, its config, and the keys of its GGUF."""

    def __init__(self, arch, rng, hidden=64, wide=96, vocabulary=128):
        self.arch, self.rng, self.hidden, self.wide, self.vocabulary = arch, rng, hidden, wide, vocabulary
        self.tensors, self.skipped, self.only_gguf = {}, set(), {}
        self.config = {"num_hidden_layers": LAYERS, "hidden_size": hidden, "intermediate_size": wide}
        self.keys = {"block_count": LAYERS, "embedding_length": hidden}

    def add(self, name, *shape):
        self.tensors[name] = self.rng.standard_normal(shape, "f4").astype(BF16).astype("f4")

    def heads(self, count, keys, size):
        self.config |= {"num_attention_heads": count, "num_key_value_heads": keys, "head_dim": size}
        self.keys |= {"attention.head_count": count, "attention.head_count_kv": keys}
        self.count, self.kv, self.size = count, keys, size

    def attention(self, layer, bias=False, norms=False):
        h, at = self.hidden, f"model.layers.{layer}.self_attn."
        for name, rows in ("q", self.count), ("k", self.kv), ("v", self.kv):
            self.add(f"{at}{name}_proj.weight", rows * self.size, h)
            if bias:
                self.add(f"{at}{name}_proj.bias", rows * self.size)
        self.add(f"{at}o_proj.weight", h, self.count * self.size)
        if norms:
            self.add(f"{at}q_norm.weight", self.size)
            self.add(f"{at}k_norm.weight", self.size)

    def mlp(self, at, wide=None):
        for name in "gate", "up":
            self.add(f"{at}.{name}_proj.weight", wide or self.wide, self.hidden)
        self.add(f"{at}.down_proj.weight", self.hidden, wide or self.wide)

    def frame(self, norms=("input_layernorm", "post_attention_layernorm"), output=True):
        self.add("model.embed_tokens.weight", self.vocabulary, self.hidden)
        for layer in range(LAYERS):
            for norm in norms:
                self.add(f"model.layers.{layer}.{norm}.weight", self.hidden)
        self.add("model.norm.weight", self.hidden)
        if output:
            self.add("lm_head.weight", self.vocabulary, self.hidden)


def dense(arch, model_type, parts=1, **attention):
    def make(rng, **sides):
        model = Model(arch, rng, **sides)
        model.config["model_type"] = model_type
        model.heads(4, 2, SIZE // parts)
        model.frame()
        for layer in range(LAYERS):
            model.attention(layer, **attention)
            model.mlp(f"model.layers.{layer}.mlp")
        if arch == "llama":
            model.only_gguf["rope_freqs.weight"] = np.ones(model.size // 2, "f4")
        return model

    return make


def mixtral(rng, **sides):
    model = Model("llama", rng, **sides)
    model.config |= {"model_type": "mixtral", "num_local_experts": 3}
    model.heads(4, 2, SIZE)
    model.frame()
    for layer in range(LAYERS):
        model.attention(layer)
        at = f"model.layers.{layer}.block_sparse_moe"
        model.add(f"{at}.gate.weight", 3, model.hidden)
        for expert in range(3):
            model.add(f"{at}.experts.{expert}.w1.weight", model.wide, model.hidden)
            model.add(f"{at}.experts.{expert}.w3.weight", model.wide, model.hidden)
            model.add(f"{at}.experts.{expert}.w2.weight", model.hidden, model.wide)
    return model


def experts(arch, model_type, fused=False, shared=False, **attention):
    def make(rng, **sides):
        model = Model(arch, rng, **sides)
        model.config |= {"model_type": model_type, "num_experts": 3}
        model.heads(4, 2, SIZE)
        model.frame()
        for layer in range(LAYERS):
            model.attention(layer, **attention)
            at = f"model.layers.{layer}.mlp"
            model.add(f"{at}.gate.weight", 3, model.hidden)
            if shared:
                model.mlp(f"{at}.shared_expert")
                model.add(f"{at}.shared_expert_gate.weight", 1, model.hidden)
            if fused:
                model.add(f"{at}.experts.gate_up_proj", 3, 2 * model.wide, model.hidden)
                model.add(f"{at}.experts.down_proj", 3, model.hidden, model.wide)
            for expert in range(0 if fused else 3):
                model.mlp(f"{at}.experts.{expert}")
        return model

    return make


def gemma(arch, model_type, post=True, norms=False):
    def make(rng, **sides):
        model = Model(arch, rng, **sides)
        model.config["model_type"] = model_type
        model.heads(4, 2, SIZE)
        more = ("pre_feedforward_layernorm", "post_feedforward_layernorm") if post else ()
        model.frame(("input_layernorm", "post_attention_layernorm", *more), output=False)
        for layer in range(LAYERS):
            model.attention(layer, norms=norms)
            model.mlp(f"model.layers.{layer}.mlp")
        return model

    return make


def phi3(rng, **sides):
    model = Model("phi3", rng, **sides)
    model.config["model_type"] = "phi3"
    model.heads(4, 2, SIZE)
    model.frame()
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        model.add(f"{at}self_attn.qkv_proj.weight", 8 * SIZE, model.hidden)
        model.add(f"{at}self_attn.o_proj.weight", model.hidden, 4 * SIZE)
        model.add(f"{at}mlp.gate_up_proj.weight", 2 * model.wide, model.hidden)
        model.add(f"{at}mlp.down_proj.weight", model.hidden, model.wide)
    return model


def deepseek(rng, **sides):
    model = Model("deepseek2", rng, **sides)
    model.config |= {"model_type": "deepseek_v3", "n_routed_experts": 3, "qk_nope_head_dim": 16, "v_head_dim": 12}
    model.heads(4, 4, 20)
    model.keys["attention.head_count_kv"] = 1
    model.frame()
    h, rank = model.hidden, model.hidden
    for layer in range(LAYERS):
        at = f"model.layers.{layer}.self_attn."
        model.add(f"{at}q_a_proj.weight", 24, h)
        model.add(f"{at}q_a_layernorm.weight", 24)
        model.add(f"{at}q_b_proj.weight", 4 * 20, 24)
        model.add(f"{at}kv_a_proj_with_mqa.weight", rank + 4, h)
        model.add(f"{at}kv_a_layernorm.weight", rank)
        model.add(f"{at}kv_b_proj.weight", 4 * (16 + 12), rank)
        model.add(f"{at}o_proj.weight", h, 4 * 12)
        at = f"model.layers.{layer}.mlp"
        if layer == 0:
            model.mlp(at)
            continue
        model.add(f"{at}.gate.weight", 3, h)
        model.add(f"{at}.gate.e_score_correction_bias", 3)
        model.mlp(f"{at}.shared_experts")
        for expert in range(3):
            model.mlp(f"{at}.experts.{expert}")
    # a layer that predicts more tokens
    model.add(f"model.layers.{LAYERS}.eh_proj.weight", h, 2 * h)
    model.skipped.add(f"model.layers.{LAYERS}.eh_proj.weight")
    return model


def gpt_oss(rng, **sides):
    model = Model("gpt-oss", rng, **sides)
    model.config |= {"model_type": "gpt_oss", "num_local_experts": 3}
    model.heads(4, 2, SIZE)
    model.frame()
    for layer in range(LAYERS):
        model.attention(layer, bias=True)
        model.add(f"model.layers.{layer}.self_attn.o_proj.bias", model.hidden)
        model.add(f"model.layers.{layer}.self_attn.sinks", 4)
        at = f"model.layers.{layer}.mlp"
        model.add(f"{at}.router.weight", 3, model.hidden)
        model.add(f"{at}.router.bias", 3)
        model.add(f"{at}.experts.gate_up_proj", 3, model.hidden, 2 * model.wide)
        model.add(f"{at}.experts.gate_up_proj_bias", 3, 2 * model.wide)
        model.add(f"{at}.experts.down_proj", 3, model.wide, model.hidden)
        model.add(f"{at}.experts.down_proj_bias", 3, model.hidden)
    return model


def bert(model_type, outer=""):
    def make(rng, **sides):
        model = Model("bert", rng, **sides)
        model.config |= {"model_type": model_type, "pad_token_id": 1}
        model.heads(4, 4, SIZE)
        h = model.hidden
        model.add("embeddings.word_embeddings.weight", model.vocabulary, h)
        model.add("embeddings.position_embeddings.weight", 34, h)
        model.add("embeddings.token_type_embeddings.weight", 2, h)
        shapes = {"attention.self.query": (h, h), "attention.self.key": (h, h), "attention.self.value": (h, h)}
        shapes |= {"attention.output.dense": (h, h), "attention.output.LayerNorm": (h,)}
        shapes |= {"intermediate.dense": (model.wide, h), "output.dense": (h, model.wide), "output.LayerNorm": (h,)}
        modules = {f"encoder.layer.{layer}.{name}": shape for layer in range(LAYERS) for name, shape in shapes.items()}
        for name, shape in {"embeddings.LayerNorm": (h,), **modules}.items():
            model.add(f"{name}.weight", *shape)
            model.add(f"{name}.bias", shape[0])
        model.add("pooler.dense.weight", h, h)
        model.tensors = {outer + name: value for name, value in model.tensors.items()}
        model.skipped.add(f"{outer}pooler.dense.weight")
        return model

    return make


def linear_attention(arch, model_type, experts=False):
    """Qwen3-Next, of which the first layer has linear attention, and Qwen3.5."""

    def make(rng, **sides):
        model = Model(arch, rng, **sides)
        h, keys, values, key, value = model.hidden, 2, 6, 4, 3
        model.linear = keys, values, key, value
        model.config |= {"model_type": model_type, "num_experts": 3}
        model.config |= {"linear_num_key_heads": keys, "linear_num_value_heads": values}
        model.config |= {"linear_key_head_dim": key, "linear_value_head_dim": value}
        model.keys |= {"ssm.group_count": keys, "ssm.time_step_rank": values, "ssm.state_size": key}
        model.keys["ssm.inner_size"] = values * value
        model.heads(4, 2, SIZE)
        model.frame()
        at, all_keys, all_values = "model.layers.0.linear_attn.", 2 * keys * key, values * value
        if arch == "qwen3next":
            model.add(f"{at}in_proj_qkvz.weight", all_keys + 2 * all_values, h)
            model.add(f"{at}in_proj_ba.weight", 2 * values, h)
        else:
            model.add(f"{at}in_proj_qkv.weight", all_keys + all_values, h)
            model.add(f"{at}in_proj_z.weight", all_values, h)
            model.add(f"{at}in_proj_a.weight", values, h)
            model.add(f"{at}in_proj_b.weight", values, h)
        model.add(f"{at}A_log", values)
        model.add(f"{at}dt_bias", values)
        model.add(f"{at}conv1d.weight", all_keys + all_values, 1, 4)
        model.add(f"{at}norm.weight", value)
        model.add(f"{at}out_proj.weight", h, all_values)
        model.attention(1, norms=True)
        for layer in range(LAYERS):
            at = f"model.layers.{layer}.mlp"
            if not experts:
                model.mlp(at)
                continue
            model.add(f"{at}.gate.weight", 3, h)
            model.mlp(f"{at}.shared_expert")
            model.add(f"{at}.shared_expert_gate.weight", 1, h)
            for expert in range(3):
                model.mlp(f"{at}.experts.{expert}")
        return model

    return make


def glm4(rng, parts=1, **sides):
    model = Model("glm4", rng, **sides)
    model.config["model_type"] = "glm4"
    model.heads(4, 2, SIZE * parts)
    model.frame(("input_layernorm", "post_attention_layernorm", "post_self_attn_layernorm", "post_mlp_layernorm"))
    for layer in range(LAYERS):
        model.attention(layer)
        model.add(f"model.layers.{layer}.mlp.gate_up_proj.weight", 2 * model.wide, model.hidden)
        model.add(f"model.layers.{layer}.mlp.down_proj.weight", model.hidden, model.wide)
    return model


def glm4_mrope(rng, **sides):
    """The text of GLM-4V, of which half of each head is rotated."""
    model = glm4(rng, parts=2, **sides)
    model.rotated = model.size // 2
    model.config["rope_parameters"] = {"mrope_section": [1, 1, 1], "partial_rotary_factor": 0.5}
    model.config = {"model_type": "glm4v", "text_config": model.config}
    model.keys |= {"rope.dimension_sections": [1, 1, 1, 0], "rope.dimension_count": model.rotated}
    return model


def glm4moe(rng, **sides):
    model = experts("glm4moe", "glm4_moe", norms=True)(rng, **sides)
    for layer in range(LAYERS):
        model.add(f"model.layers.{layer}.mlp.gate.e_score_correction_bias", 3)
        model.mlp(f"model.layers.{layer}.mlp.shared_experts")
    # a layer that predicts more tokens
    h, at = model.hidden, f"model.layers.{LAYERS}."
    shapes = {"eh_proj": (h, 2 * h), "enorm": (h,), "hnorm": (h,), "embed_tokens": (model.vocabulary, h)}
    for name, shape in {**shapes, "shared_head.norm": (h,), "shared_head.head": (model.vocabulary, h)}.items():
        model.add(f"{at}{name}.weight", *shape)
    model.add(f"{at}input_layernorm.weight", h)
    model.attention(LAYERS, norms=True)
    model.keys |= {"block_count": LAYERS + 1, "nextn_predict_layers": 1}
    return model


def qwen35_mtp(rng, **sides):
    model = linear_attention("qwen35", "qwen3_5_text")(rng, **sides)
    h = model.hidden
    for name, shape in {"fc": (h, 2 * h), "pre_fc_norm_embedding": (h,), "pre_fc_norm_hidden": (h,), "norm": (h,)}.items():
        model.add(f"mtp.{name}.weight", *shape)
    model.add("mtp.layers.0.input_layernorm.weight", h)
    model.mlp("mtp.layers.0.mlp")
    model.keys |= {"block_count": LAYERS + 1, "nextn_predict_layers": 1}
    return model


def llama4(rng, **sides):
    model = Model("llama4", rng, **sides)
    model.config |= {"model_type": "llama4_text", "num_local_experts": 3}
    model.heads(4, 2, SIZE)
    model.frame()
    for layer in range(LAYERS):
        model.attention(layer)
        at = f"model.layers.{layer}.feed_forward"
        if layer == 0:
            model.mlp(at)
            continue
        model.add(f"{at}.router.weight", 3, model.hidden)
        model.mlp(f"{at}.shared_expert")
        model.add(f"{at}.experts.gate_up_proj", 3, model.hidden, 2 * model.wide)
        model.add(f"{at}.experts.down_proj", 3, model.wide, model.hidden)
    # the whole model has pictures, too
    model.tensors = {f"language_model.{name}": value for name, value in model.tensors.items()}
    model.add("vision_model.patch_embedding.linear.weight", 4, 4)
    model.skipped.add("vision_model.patch_embedding.linear.weight")
    model.config = {"model_type": "llama4", "text_config": model.config}
    return model


def olmo2(rng, **sides):
    model = Model("olmo2", rng, **sides)
    model.config["model_type"] = "olmo2"
    model.heads(4, 4, SIZE)
    model.frame(("post_attention_layernorm", "post_feedforward_layernorm"))
    for layer in range(LAYERS):
        model.attention(layer)
        model.add(f"model.layers.{layer}.self_attn.q_norm.weight", 4 * SIZE)
        model.add(f"model.layers.{layer}.self_attn.k_norm.weight", 4 * SIZE)
        model.mlp(f"model.layers.{layer}.mlp")
    return model


def olmo(rng, **sides):
    model = Model("olmo", rng, **sides)
    model.config["model_type"] = "olmo"
    model.heads(4, 2, SIZE)
    model.add("model.embed_tokens.weight", model.vocabulary, model.hidden)
    for layer in range(LAYERS):
        model.attention(layer)
        model.mlp(f"model.layers.{layer}.mlp")
    return model


def stablelm(rng, **sides):
    model = Model("stablelm", rng, **sides)
    model.config["model_type"] = "stablelm"
    model.heads(4, 2, SIZE)
    model.frame()
    for layer in range(LAYERS):
        model.attention(layer)
        model.mlp(f"model.layers.{layer}.mlp")
        for name, count in ("q", 4), ("k", 2):
            for head in range(count):
                model.add(f"model.layers.{layer}.self_attn.{name}_layernorm.norms.{head}.weight", SIZE)
    return model


def falcon(rng, keys=2, **sides):
    model = Model("falcon", rng, **sides)
    model.config["model_type"] = "falcon"
    model.heads(6, keys, SIZE)
    h = model.hidden
    model.add("transformer.word_embeddings.weight", model.vocabulary, h)
    for layer in range(LAYERS):
        at = f"transformer.h.{layer}."
        for norm in "ln_attn", "ln_mlp":
            model.add(f"{at}{norm}.weight", h)
            model.add(f"{at}{norm}.bias", h)
        model.add(f"{at}self_attention.query_key_value.weight", (6 + 2 * keys) * SIZE, h)
        model.add(f"{at}self_attention.dense.weight", h, 6 * SIZE)
        model.add(f"{at}mlp.dense_h_to_4h.weight", model.wide, h)
        model.add(f"{at}mlp.dense_4h_to_h.weight", h, model.wide)
    model.add("transformer.ln_f.weight", h)
    model.add("transformer.ln_f.bias", h)
    return model


def falcon_mqa(rng, **sides):
    """A config that states the heads of the queries as those of the only key."""
    model = falcon(rng, keys=1, **sides)
    del model.config["num_key_value_heads"]
    model.config |= {"multi_query": True, "new_decoder_architecture": False, "num_kv_heads": 6}
    return model


def gpt2(rng, **sides):
    model = Model("gpt2", rng, **sides)
    model.config |= {"model_type": "gpt2", "n_head": 4, "n_layer": LAYERS}
    model.heads(4, 4, SIZE)
    h = model.hidden
    model.add("wte.weight", model.vocabulary, h)
    model.add("wpe.weight", 32, h)
    for layer in range(LAYERS):
        shapes = {"attn.c_attn": (h, 3 * h), "attn.c_proj": (h, h), "mlp.c_fc": (h, model.wide)}
        for name, shape in {**shapes, "mlp.c_proj": (model.wide, h), "ln_1": (h,), "ln_2": (h,)}.items():
            model.add(f"h.{layer}.{name}.weight", *shape)
            model.add(f"h.{layer}.{name}.bias", shape[-1])
        model.add(f"h.{layer}.attn.bias", 1, 1, 4, 4)
        model.skipped.add(f"h.{layer}.attn.bias")
    model.add("ln_f.weight", h)
    model.add("ln_f.bias", h)
    return model


def t5(rng, **sides):
    model = Model("t5", rng, **sides)
    model.config |= {"model_type": "t5", "num_heads": 4, "num_layers": LAYERS}
    model.heads(4, 4, SIZE)
    h = model.hidden
    model.add("shared.weight", model.vocabulary, h)
    model.add("encoder.embed_tokens.weight", model.vocabulary, h)
    model.skipped.add("encoder.embed_tokens.weight")
    model.add("lm_head.weight", model.vocabulary, h)
    model.config["tie_word_embeddings"] = False
    for side, last in ("encoder", 1), ("decoder", 2):
        for layer in range(LAYERS):
            at = f"{side}.block.{layer}.layer."
            for number, name in (0, "SelfAttention"), (1, "EncDecAttention"):
                for part in "qkvo" if number < last else "":
                    model.add(f"{at}{number}.{name}.{part}.weight", h, h)
            if layer == 0:
                model.add(f"{at}0.SelfAttention.relative_attention_bias.weight", 8, 4)
            for name, shape in ("wi_0", (model.wide, h)), ("wi_1", (model.wide, h)), ("wo", (h, model.wide)):
                model.add(f"{at}{last}.DenseReluDense.{name}.weight", *shape)
            for number in range(last + 1):
                model.add(f"{at}{number}.layer_norm.weight", h)
        model.add(f"{side}.final_layer_norm.weight", h)
    return model


def t5_encoder(rng, **sides):
    """Without the tensor that encoder and decoder share."""
    model = t5(rng, **sides)
    model.tensors["encoder.embed_tokens.weight"] = model.tensors.pop("shared.weight")
    model.add("decoder.embed_tokens.weight", model.vocabulary, model.hidden)
    model.skipped = {"decoder.embed_tokens.weight"}
    return model


def mamba(rng, **sides):
    model = Model("mamba", rng, **sides)
    model.config["model_type"] = "mamba"
    h, inner = model.hidden, 2 * model.hidden
    model.add("backbone.embeddings.weight", model.vocabulary, h)
    for layer in range(LAYERS):
        at = f"backbone.layers.{layer}."
        model.add(f"{at}norm.weight", h)
        shapes = {"in_proj.weight": (2 * inner, h), "x_proj.weight": (36, inner), "dt_proj.weight": (inner, 4)}
        shapes |= {"dt_proj.bias": (inner,), "out_proj.weight": (h, inner), "conv1d.weight": (inner, 1, 4)}
        for name, shape in {**shapes, "conv1d.bias": (inner,), "A_log": (inner, 16), "D": (inner,)}.items():
            model.add(f"{at}mixer.{name}", *shape)
    model.add("backbone.norm_f.weight", h)
    return model


MODELS = {
    "llama": dense("llama", "llama"),
    "mistral": dense("llama", "mistral", parts=2),
    "mixtral": mixtral,
    "qwen2": dense("qwen2", "qwen2", bias=True),
    "qwen3": dense("qwen3", "qwen3", norms=True),
    "qwen2moe": experts("qwen2moe", "qwen2_moe", shared=True, bias=True),
    "qwen3moe": experts("qwen3moe", "qwen3_moe", norms=True),
    "qwen3moe-fused": experts("qwen3moe", "qwen3_moe", norms=True, fused=True),
    "gemma": gemma("gemma", "gemma", post=False),
    "gemma2": gemma("gemma2", "gemma2"),
    "gemma3": gemma("gemma3", "gemma3_text", norms=True),
    "phi3": phi3,
    "deepseek2": deepseek,
    "gpt-oss": gpt_oss,
    "bert": bert("bert"),
    "bert-outer": bert("bert", "bert."),
    "roberta": bert("roberta", "roberta."),
    "qwen3next": linear_attention("qwen3next", "qwen3_next", experts=True),
    "qwen35": linear_attention("qwen35", "qwen3_5_text"),
    "qwen35-mtp": qwen35_mtp,
    "qwen35moe": linear_attention("qwen35moe", "qwen3_5_moe_text", experts=True),
    "gemma4": gemma("gemma4", "gemma4_text", norms=True),
    "glm4": glm4,
    "glm4-mrope": glm4_mrope,
    "glm4moe": glm4moe,
    "llama4": llama4,
    "olmo": olmo,
    "olmo2": olmo2,
    "stablelm": stablelm,
    "falcon": falcon,
    "falcon-mqa": falcon_mqa,
    "gpt2": gpt2,
    "t5": t5,
    "t5-encoder": t5_encoder,
    "mamba": mamba,
}


def permute(rows, heads):
    half = rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:])
    return half.swapaxes(1, 2).reshape(rows.shape)


def by_place(model, rows):
    """Heads of values in the order of a GGUF."""
    keys, values, _, _ = model.linear
    heads = rows.reshape(keys, values // keys, rows.shape[0] // values, *rows.shape[1:])
    return heads.swapaxes(0, 1).reshape(rows.shape)


def linear_attention_converted(model, name, value):
    keys, values, key, size = model.linear
    if name.endswith("in_proj_qkvz.weight"):
        each = values // keys * size
        groups = value.reshape(keys, 2 * key + 2 * each, -1)
        q, k, v, z = np.split(groups, [key, 2 * key, 2 * key + each], axis=1)
        qkv = np.concatenate([part.reshape(-1, value.shape[1]) for part in (q, k, v)])
        return [(name.replace("in_proj_qkvz", "in_proj_qkv"), qkv), (name.replace("in_proj_qkvz", "in_proj_z"), z.reshape(-1, value.shape[1]))]
    is_new = model.arch != "qwen3next"
    before = 2 * keys * key
    if "conv1d" in name:
        value = value.squeeze(1)
    if "out_proj" in name and is_new:
        value = by_place(model, value.T).T
    elif "in_proj_qkv" in name or "conv1d" in name:
        value = np.concatenate([value[:before], by_place(model, value[before:])]) if is_new else value
    elif is_new and any(part in name for part in ("in_proj", "A_log", "dt_bias")):
        value = by_place(model, value)
    if "A_log" in name:
        value = -np.exp(value)
    return [(name.replace("dt_bias", "dt_proj.bias"), value)]


def converted(model, name, value):
    """The names in the mapping, and the values, of a tensor of the checkpoint."""
    name = name.removeprefix("language_model.")
    if name == "encoder.embed_tokens.weight":
        return [("shared.weight", value)]
    if name.startswith("mtp."):
        modules = {"fc": "eh_proj", "pre_fc_norm_embedding": "enorm", "pre_fc_norm_hidden": "hnorm", "norm": "shared_head_norm"}
        module, rest = name.split(".")[1], name.removeprefix("mtp.layers.0.")
        name = f"blk.{LAYERS}.nextn.{modules[module]}.weight" if module in modules else f"model.layers.{LAYERS}.{rest}"
        return [(name, value + np.float32(1) if name.endswith("norm.weight") else value)]
    if hasattr(model, "rotated") and name.endswith(("q_proj.weight", "k_proj.weight")):
        heads = value.reshape(-1, model.size, value.shape[-1])
        pairs, rest = heads[:, : model.rotated], heads[:, model.rotated :]
        value = np.concatenate([pairs[:, 0::2], pairs[:, 1::2], rest], 1).reshape(value.shape)
    if "linear_attn" in name:
        return linear_attention_converted(model, name, value)
    if model.arch == "olmo" and name.endswith(("q_proj.weight", "k_proj.weight")):
        value = permute(value, model.count if "q_proj" in name else model.kv)
    if model.arch == "llama4" and name.endswith("experts.gate_up_proj"):
        value = value.swapaxes(1, 2)
    if model.arch == "llama4" and name.endswith("experts.down_proj"):
        value = value.swapaxes(1, 2)
    if name.endswith("query_key_value.weight"):
        groups = value.reshape(model.kv, 6 // model.kv + 2, SIZE, -1)
        parts = groups[:, :-2], groups[:, -2], groups[:, -1]
        value = np.concatenate([part.reshape(-1, value.shape[1]) for part in parts])
    if model.arch == "gpt2" and name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
        value = value.T
    if model.arch == "mamba" and "A_log" in name:
        value = -np.exp(value)
    if model.arch == "mamba" and "conv1d.weight" in name:
        value = value.squeeze(1)
    if model.arch == "llama" and name.endswith(("q_proj.weight", "k_proj.weight")):
        value = permute(value, model.count if "q_proj" in name else model.kv)
    if model.arch in ("gemma", "gemma2", "gemma3", "qwen3next", "qwen35", "qwen35moe") and name.endswith("norm.weight"):
        value = value + np.float32(1)
    if name.endswith("kv_b_proj.weight"):
        heads = value.reshape(4, 16 + 12, -1)
        keys, values = heads[:, :16], heads[:, 16:]
        return [(name.replace("kv_b", "k_b"), keys.swapaxes(1, 2)), (name.replace("kv_b", "v_b"), values)]
    if model.arch == "gpt-oss" and name.endswith("gate_up_proj"):
        value = value.swapaxes(1, 2)
        return [(name.replace("gate_up_proj", f"{part}_proj.weight"), value[:, n::2]) for n, part in enumerate(["gate", "up"])]
    if name.endswith("gate_up_proj_bias"):
        return [(name.replace("gate_up_proj_bias", f"{part}_proj.bias"), value[:, n::2]) for n, part in enumerate(["gate", "up"])]
    if model.arch == "gpt-oss" and name.endswith("experts.down_proj"):
        return [(f"{name}.weight", value.swapaxes(1, 2))]
    if name.endswith("down_proj_bias"):
        return [(name.replace("_bias", ".bias"), value)]
    if name.endswith("experts.gate_up_proj"):
        half = value.shape[1] // 2
        parts = {"gate": value[:, :half], "up": value[:, half:]}
        return [(name.replace("gate_up_proj", f"{part}_proj.weight"), rows) for part, rows in parts.items()]
    if name.endswith("experts.down_proj"):
        return [(f"{name}.weight", value)]
    if name.endswith("e_score_correction_bias"):
        return [(name.replace("_bias", ".bias"), value)]
    if model.config["model_type"] == "roberta" and "position_embeddings" in name:
        value = value[model.config["pad_token_id"] + 1 :]
    return [(name, value)]


def gguf_tensors(model):
    arch = next(number for number, name in gguf.MODEL_ARCH_NAMES.items() if name == model.arch)
    mapping, found, stacks = get_tensor_name_map(arch, LAYERS + 1), dict(model.only_gguf), {}
    for name, value in model.tensors.items():
        if name in model.skipped:
            continue
        for new, part in converted(model, name.removeprefix("bert.").removeprefix("roberta."), value):
            words = new.split(".")
            of_many = next((word for word in ("experts", "norms") if word in words), None)
            place = words.index(of_many) + 1 if of_many else 0
            expert = words.pop(place) if of_many and words[place].isdigit() else None
            words = [word for word in words if word != "norms"]
            plain = ".".join(words)
            plain = plain if plain.startswith("blk.") else mapping.get_name(plain, try_suffixes=(".weight", ".bias"))
            assert plain, f"{model.arch}: gguf has no name for {name}"
            # the mapping adds no ending to names without one
            plain = plain + ".weight" if plain.endswith("attn_sinks") else plain
            plain = plain.removesuffix(".weight") if plain.endswith(("ssm_a.weight", "ssm_d.weight")) else plain
            if expert is None:
                found[plain] = part
            else:
                stacks.setdefault(plain, {})[int(expert)] = part
    return found | {name: np.stack([parts[n] for n in range(len(parts))]) for name, parts in stacks.items()}


def q4_k(value):
    """Blocks of q4_K, near to the values."""
    blocks = value.reshape(-1, 8, 32).astype("f8")
    low, high = np.minimum(blocks.min(-1), 0), blocks.max(-1)
    scales, mins = (high - low) / 15, -low
    d, dmin = ((part.max(-1) / 63).astype("f2") for part in (scales, mins))
    codes = [np.clip(np.round(part / np.maximum(whole.astype("f8"), 1e-9)[:, None]), 0, 63).astype("u1") for part, whole in ((scales, d), (mins, dmin))]
    step = d.astype("f8")[:, None] * codes[0]
    least = dmin.astype("f8")[:, None] * codes[1]
    items = np.clip(np.round((blocks + least[..., None]) / np.maximum(step, 1e-9)[..., None]), 0, 15).astype("u1")
    packed = np.zeros((len(blocks), 12), "u1")
    for n in range(4):
        packed[:, n] = codes[0][:, n] | (codes[0][:, n + 4] >> 4) << 6
        packed[:, n + 4] = codes[1][:, n] | (codes[1][:, n + 4] >> 4) << 6
        packed[:, n + 8] = codes[0][:, n + 4] & 15 | (codes[1][:, n + 4] & 15) << 4
    pairs = (items[:, 0::2] | items[:, 1::2] << 4).reshape(len(blocks), 128)
    whole = np.stack([d, dmin], -1).view("u1").reshape(len(blocks), 4)
    rows = np.concatenate([whole, packed, pairs], 1)
    return rows.reshape(*value.shape[:-1], value.shape[-1] // 256 * 144)


def write_gguf(path, model, tensors, dtype):
    writer = gguf.GGUFWriter(path, model.arch)
    for key, value in model.keys.items():
        name = f"{model.arch}.{key}"
        (writer.add_array if isinstance(value, list) else writer.add_uint32)(name, value)
    for name, value in tensors.items():
        value = np.ascontiguousarray(value, "f4")
        is_plain = value.ndim == 1 or "norm" in name or not name.endswith(".weight") or "conv1d" in name
        is_plain = is_plain or "gate_inp" in name or "embd" in name
        if dtype == "q8_0" and not is_plain and value.shape[-1] % 32 == 0:
            kind = gguf.GGMLQuantizationType.Q8_0
            writer.add_tensor(name, gguf.quantize(value, kind), raw_dtype=kind)
        elif dtype == "q4_K" and not is_plain and value.shape[-1] % 256 == 0:
            writer.add_tensor(name, q4_k(value), raw_dtype=gguf.GGMLQuantizationType.Q4_K)
        elif dtype == "bfloat16" and not is_plain:
            kind = gguf.GGMLQuantizationType.BF16
            writer.add_tensor(name, gguf.quantize(value, kind), raw_dtype=kind)
        else:
            writer.add_tensor(name, value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class Checks:
    def __init__(self, program, folder):
        self.program, self.folder, self.count, self.wrong = str(program), folder, 0, 0

    def run(self, *args):
        return subprocess.run([self.program, *map(str, args)], capture_output=True, text=True, cwd=self.folder)

    def expect(self, status, texts, *args):
        self.count += 1
        run = self.run(*args)
        found = run.stdout + run.stderr
        if run.returncode != status or any(text not in found for text in texts):
            self.wrong += 1
            print(f"{' '.join(map(str, args))}: status {run.returncode}, expected {status} with {texts}\n{found[:3000]}")


def write_checkpoint(folder, model, dtype):
    folder.mkdir(exist_ok=True)
    kind = BF16 if dtype == "bfloat16" else "f4"
    write_safetensors(folder / "model.safetensors", {name: value.astype(kind) for name, value in model.tensors.items()})
    (folder / "config.json").write_text(json.dumps(model.config))


def planted(model, tensors):
    """GGUFs with one error each, and the two names of the tensor that has it."""
    name = next((name for name in tensors if name.endswith("attn_q.weight")), None)
    if name and model.arch != "bert":
        rows = tensors[name]
        wrong = rows.reshape(model.count, -1, 2, rows.shape[-1]).swapaxes(1, 2).reshape(rows.shape)
        yield tensors | {name: wrong}, ("SelfAttention.q" if model.arch == "t5" else "self_attn.q_proj.weight", name)
    name = next((name for name in tensors if name.endswith("ffn_up_exps.weight")), None)
    if name:
        layer = name.split(".")[1]
        yield tensors | {name: tensors[name][[1, 0, 2]]}, (f"model.layers.{layer}.", name)
    if model.arch in ("gemma", "gemma2", "gemma3"):
        name = "blk.1.attn_norm.weight"
        yield tensors | {name: tensors[name] - 1}, ("model.layers.1.input_layernorm.weight", name)


def check_model(checks, kind, rng, dtype):
    model = MODELS[kind](rng)
    tensors = gguf_tensors(model)
    write_checkpoint(checks.folder / "hf", model, dtype)
    write_gguf(checks.folder / "x.gguf", model, tensors, dtype)
    is_fused, is_cut = kind.endswith("fused"), kind == "roberta"
    has_exp = model.arch in ("qwen3next", "qwen35", "qwen35moe", "mamba")
    is_computed = has_exp or model.arch in ("gemma", "gemma2", "gemma3")
    close = ["--atol", "1e-6", "--rtol", "1e-6"] if is_computed else []
    ulp = ["--rtol", "3e-7"] if has_exp else []
    if not is_fused and not is_cut:
        checks.expect(0, ["equal: "], "diff", "hf", "x.gguf", "--names", "hf", "--ignore-dtype", *close)
        checks.expect(0, ["equal: "], "diff", "x.gguf", "hf", "--names", "hf", "--ignore-dtype", *close, "--threads", 1)
    checks.expect(0, ["equal: "], "diff", "hf", "x.gguf", "--names", "gguf", "--ignore-dtype", *ulp)
    back = checks.folder / "back"
    back.mkdir(exist_ok=True)
    (back / "config.json").write_text(json.dumps(model.config))
    less = ["--exclude", "rope_freqs.weight"] if model.only_gguf else []
    checks.expect(0, [], "convert", "x.gguf", "--names", "hf", "-o", "back/model.safetensors", *less)
    if not is_computed and not is_cut:
        checks.expect(0, ["equal: "], "diff", "back", "x.gguf", "--names", "gguf")
        checks.expect(0, ["equal: "], "diff", "x.gguf", "back", "--names", "gguf")
    for wrong, (hf, own) in planted(model, tensors) if dtype == "float32" else ():
        write_gguf(checks.folder / "wrong.gguf", model, wrong, dtype)
        more = ["better with the rows as stored"] if "attn_q" in own and model.arch == "llama" else []
        if not is_fused:
            checks.expect(1, ["different: ", hf, *more], "diff", "hf", "wrong.gguf", "--names", "hf", "--ignore-dtype", *close)
        checks.expect(1, ["different: ", own], "diff", "hf", "wrong.gguf", "--names", "gguf", *ulp)


def check_blocks(checks, kind, rng):
    for dtype, snr, width in ("q8_0", 35, {}), ("q4_K", 18, {"hidden": 256, "wide": 512}):
        model = MODELS[kind](rng, **width)
        tensors = gguf_tensors(model)
        write_checkpoint(checks.folder / "hf", model, "bfloat16")
        write_gguf(checks.folder / "x.gguf", model, tensors, dtype)
        if not kind.endswith("fused") and kind != "roberta":
            checks.expect(0, ["equal: "], "diff", "hf", "x.gguf", "--names", "hf", "--ignore-dtype", "--min-snr", snr)
        checks.expect(0, ["equal: "], "diff", "hf", "x.gguf", "--names", "gguf", "--ignore-dtype", "--min-snr", snr)


def write_mxfp4(folder, path, rng, **sides):
    """gpt-oss as it is published, in blocks of MXFP4, and a GGUF with the same values."""
    model = gpt_oss(rng, **sides)
    tensors, blocks, own = gguf_tensors(model), {}, {}
    for name in [name for name in model.tensors if name.endswith(("experts.gate_up_proj", "experts.down_proj"))]:
        experts, cols, rows = model.tensors[name].shape
        codes = rng.integers(0, 16, (experts, rows, cols // 32, 32), "u1")
        scales = rng.integers(120, 130, (experts, rows, cols // 32), "u1")
        blocks[f"{name}_blocks"] = codes[..., 0::2] | codes[..., 1::2] << 4
        blocks[f"{name}_scales"] = scales
        layer = name.split(".")[2]
        # of a block the first half of the items is in the low bits
        halves = codes[..., :16] | codes[..., 16:] << 4
        raw = np.concatenate([scales[..., None], halves], -1).reshape(experts, rows, -1)
        if "gate_up" in name:
            own |= {f"blk.{layer}.ffn_{part}_exps.weight": raw[:, n::2] for n, part in enumerate(["gate", "up"])}
        else:
            own[f"blk.{layer}.ffn_down_exps.weight"] = raw
        del model.tensors[name]
    folder.mkdir(exist_ok=True)
    plain = {name: value.astype(BF16) for name, value in model.tensors.items()}
    write_safetensors(folder / "model.safetensors", plain | blocks)
    config = model.config | {"quantization_config": {"quant_method": "mxfp4"}}
    (folder / "config.json").write_text(json.dumps(config))
    writer = gguf.GGUFWriter(path, model.arch)
    for key, value in model.keys.items():
        writer.add_uint32(f"{model.arch}.{key}", value)
    for name, value in tensors.items():
        if name in own:
            writer.add_tensor(name, np.ascontiguousarray(own[name]), raw_dtype=gguf.GGMLQuantizationType.MXFP4)
        else:
            writer.add_tensor(name, np.ascontiguousarray(value, "f4"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def check_mxfp4(checks, rng):
    write_mxfp4(checks.folder / "hf", checks.folder / "x.gguf", rng)
    for style, zero in ("hf", ["--atol", "0"]), ("gguf", []):
        checks.expect(0, ["equal: "], "diff", "hf", "x.gguf", "--names", style, "--dequantize", *zero)


def check_time(checks):
    """`info` of 1,000 tensors under other names against plain `info`."""
    model = Model("llama", np.random.default_rng(0))
    model.heads(4, 2, SIZE)
    tensors = {f"blk.{layer}.{name}.weight": np.zeros((64, 64), "f4") for layer in range(111) for name in "attn_q attn_k attn_v attn_output ffn_gate ffn_up ffn_down attn_norm ffn_norm".split()}
    write_gguf(checks.folder / "x.gguf", model, tensors, "float32")
    times = {"plain": [], "hf": []}
    for _ in range(15):
        for how, options in ("plain", []), ("hf", ["--names", "hf"]):
            start = time.perf_counter()
            checks.run("info", "x.gguf", *options)
            times[how].append(time.perf_counter() - start)
    plain, renamed = (min(times[how]) for how in ("plain", "hf"))
    checks.count += 1
    checks.wrong += renamed > 1.2 * plain
    print(f"info of {len(tensors)} tensors: {plain * 1000:.1f} ms, {renamed * 1000:.1f} ms with --names hf")


def golden():
    global SIZE
    SIZE = 4
    for kind in MODELS:
        model = MODELS[kind](np.random.default_rng(0), hidden=8, wide=4, vocabulary=4)
        folder = GOLDEN / kind
        folder.mkdir(parents=True, exist_ok=True)
        write_checkpoint(folder, model, "bfloat16")
        write_gguf(GOLDEN / f"{kind}.gguf", model, gguf_tensors(model), "bfloat16")
    # not named like the models that have no blocks
    folder = GOLDEN / "mxfp4"
    write_mxfp4(folder, folder / "x.gguf", np.random.default_rng(0), hidden=32, wide=32, vocabulary=4)


def main():
    if sys.argv[1] == "golden":
        return golden()
    program, count, seed = pathlib.Path(sys.argv[1]).resolve(), *(map(int, (sys.argv[2:] + ["3", "1"][len(sys.argv) - 2 :])[:2]))
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(program, pathlib.Path(folder))
        for number in range(count):
            for kind in MODELS:
                rng = np.random.default_rng([seed, number])
                for dtype in "float32", "bfloat16":
                    check_model(checks, kind, rng, dtype)
                check_blocks(checks, kind, rng)
            check_mxfp4(checks, rng)
        check_time(checks)
    print(f"{checks.count} comparisons of {len(MODELS)} models, {checks.wrong} wrong")
    sys.exit(checks.wrong > 0)


if __name__ == "__main__":
    main()

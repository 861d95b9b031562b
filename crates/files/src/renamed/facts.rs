//! The architecture of a model, and the numbers that rules need: keys of a GGUF, or those of `config.json`.

use std::sync::Arc;

use serde_json::Value;

use crate::storage::source::Metadata;
use tensorop_kernels::error::{Context, Result, ensure};

/// The architectures of the table, with the names that `config.json` has for them as `model_type`.
pub(crate) const ARCHITECTURES: &[(&str, &[&str])] = &[
    ("bert", &["bert", "roberta", "xlm-roberta", "camembert"]),
    ("deepseek2", &["deepseek_v2", "deepseek_v3", "kimi_k2"]),
    ("falcon", &["falcon"]),
    ("gemma", &["gemma"]),
    ("gemma2", &["gemma2"]),
    ("gemma3", &["gemma3", "gemma3_text"]),
    ("gemma3n", &["gemma3n", "gemma3n_text"]),
    ("gemma4", &["gemma4", "gemma4_text"]),
    ("glm4", &["glm4"]),
    ("glm4moe", &["glm4_moe"]),
    ("gpt-oss", &["gpt_oss"]),
    ("gpt2", &["gpt2"]),
    ("llama", &["llama", "mistral", "mixtral"]),
    ("llama4", &["llama4", "llama4_text"]),
    ("mamba", &["mamba"]),
    ("olmo", &["olmo"]),
    ("olmo2", &["olmo2"]),
    ("phi3", &["phi3"]),
    ("qwen2", &["qwen2"]),
    ("qwen2moe", &["qwen2_moe"]),
    ("qwen3", &["qwen3"]),
    ("qwen35", &["qwen3_5", "qwen3_5_text"]),
    ("qwen35moe", &["qwen3_5_moe", "qwen3_5_moe_text"]),
    ("qwen3moe", &["qwen3_moe"]),
    ("qwen3next", &["qwen3_next"]),
    ("stablelm", &["stablelm"]),
    ("t5", &["t5", "mt5", "umt5"]),
];

/// Architectures whose norms have 1 added in a GGUF.
pub(crate) const PLUS_ONE: &[&str] = &["gemma", "gemma2", "gemma3", "qwen3next", "qwen35", "qwen35moe"];

/// Architectures that have no output of their own unless `config.json` says so.
pub(crate) const TIED: &[&str] = &["gemma", "gemma2", "gemma3", "gemma3n", "gemma4", "gpt2", "mamba", "t5", "falcon"];

/// The letter of a number, its key in a GGUF behind the architecture, and its keys in a config.
type NumberKeys = (&'static str, &'static str, &'static [&'static str]);

/// A number without a key follows from the shapes of a GGUF.
const NUMBERS: &[NumberKeys] = &[
    ("N", "attention.head_count", &["num_attention_heads", "n_head", "num_heads"]),
    ("K", "attention.head_count_kv", &["num_key_value_heads", "n_head_kv", "num_kv_heads"]),
    // keys and values of a head
    ("P", "", &["qk_nope_head_dim"]),
    ("V", "", &["v_head_dim"]),
    // heads of keys and of values of linear attention, and the sizes of a key and of a value
    ("L", "ssm.group_count", &["linear_num_key_heads"]),
    ("H", "ssm.time_step_rank", &["linear_num_value_heads"]),
    ("D", "ssm.state_size", &["linear_key_head_dim"]),
    ("E", "", &["linear_value_head_dim"]),
    ("I", "ssm.inner_size", &[]),
    (EXPERTS, "expert_count", &["num_local_experts", "num_experts", "n_routed_experts"]),
    (LAYERS, "block_count", &["num_hidden_layers", "n_layer", "num_layers"]),
];

pub(crate) const LAYERS: &str = "layers";

pub(crate) const EXPERTS: &str = "experts";

pub(crate) const ARCHITECTURE: &str = "general.architecture";

/// The architecture and the numbers of a model.
#[derive(Debug)]
pub(crate) struct ModelFacts {
    /// One of the table.
    pub arch: &'static str,
    /// The row of the first position, if the checkpoint has rows for the padding before it.
    pub first_position: Option<usize>,
    source: FactSource,
}

#[derive(Debug)]
enum FactSource {
    Gguf(Arc<Metadata>),
    Config(Value),
}

/// Keys of a config under which a model of several kinds of input has that of its text.
const TEXT_CONFIGS: [&str; 2] = ["text_config", "llm_config"];

impl ModelFacts {
    /// # Errors
    /// The keys lack the architecture, or it is not in the table.
    pub(crate) fn from_gguf(keys: Arc<Metadata>) -> Result<Self> {
        let arch = keys.get(ARCHITECTURE).with_context(|| format!("the key {ARCHITECTURE} is missing"))?;
        let arch = known(&[arch])?;
        Ok(Self { arch, first_position: None, source: FactSource::Gguf(keys) })
    }

    /// # Errors
    /// The config lacks the architecture, or it is not in the table.
    pub(crate) fn from_config(config: Value) -> Result<Self> {
        let text = TEXT_CONFIGS.iter().map(|key| &config[key]);
        let types: Vec<_> =
            [&config].into_iter().chain(text).filter_map(|config| config["model_type"].as_str()).collect();
        ensure!(!types.is_empty(), "model_type is missing");
        let arch = known(&types)?;
        let padding = config["pad_token_id"].as_u64().and_then(|id| usize::try_from(id).ok());
        let first_position = padding.filter(|_| arch == "bert" && types[0] != "bert").and_then(|id| id.checked_add(1));
        Ok(Self { arch, first_position, source: FactSource::Config(config) })
    }

    /// A number of the model, by its letter in rules.
    ///
    /// # Errors
    /// The number is missing, or is not a whole number.
    pub(crate) fn number(&self, letter: &str, layer: Option<usize>) -> Result<usize> {
        let per = |all, of| {
            let (all, of) = (self.number(all, layer)?, self.number(of, layer)?);
            ensure!(of > 0 && all.is_multiple_of(of), "{all} is not a multiple of {of}");
            Ok(all / of)
        };
        match letter {
            // the heads of a group, and the row of the first position
            "G" => return per("N", "K"),
            "R" => return per("H", "L"),
            // a GGUF has the items of all heads
            "E" if matches!(self.source, FactSource::Gguf(_)) => return per("I", "H"),
            "Z" => return Ok(self.first_position.unwrap_or(0)),
            _ => {}
        }
        let (_, key, names) = NUMBERS.iter().find(|(of, ..)| *of == letter).expect("a letter of the rules");
        let (found, name) = match &self.source {
            FactSource::Gguf(keys) => {
                let name = if key.is_empty() { names[0].to_owned() } else { format!("{}.{key}", self.arch) };
                (keys.get(&name).map(|text| serde_json::from_str(text).unwrap_or_else(|_| text.as_str().into())), name)
            }
            FactSource::Config(config) => {
                let found = names.iter().find_map(|name| value_in(config, name));
                (found.cloned(), names[0].to_owned())
            }
        };
        let found = match found {
            Some(Value::Array(list)) => layer.and_then(|layer| list.get(layer).cloned()),
            None | Some(Value::Null) if letter == "K" && self.arch == "falcon" => return Ok(1),
            None | Some(Value::Null) if letter == "K" => return self.number("N", layer),
            found => found,
        };
        let found = found.with_context(|| match layer {
            Some(layer) => format!("{name} is missing, for layer {layer}"),
            None => format!("{name} is missing"),
        })?;
        let count = found.as_u64().and_then(|count| usize::try_from(count).ok());
        count.with_context(|| format!("{name} is {found}, expected a whole number"))
    }

    /// Whether a config states that the output is tied.
    pub(crate) fn is_tied(&self) -> Option<bool> {
        match &self.source {
            FactSource::Gguf(_) => None,
            FactSource::Config(config) => value_in(config, "tie_word_embeddings")?.as_bool(),
        }
    }
}

fn value_in<'c>(config: &'c Value, name: &str) -> Option<&'c Value> {
    let text = TEXT_CONFIGS.iter().map(|key| &config[key]);
    text.chain([config]).map(|config| &config[name]).find(|value| !value.is_null())
}

/// The first name that the table has, of an architecture or a type of model.
fn known<T: AsRef<str>>(names: &[T]) -> Result<&'static str> {
    let is_known =
        |name: &T| ARCHITECTURES.iter().find(|(arch, types)| *arch == name.as_ref() || types.contains(&name.as_ref()));
    names.iter().find_map(is_known).map(|(arch, _)| *arch).with_context(|| {
        let all: Vec<_> = ARCHITECTURES.iter().map(|(arch, _)| *arch).collect();
        format!("the architecture {:?} has no table of names, only {}", names[0].as_ref(), all.join(", "))
    })
}

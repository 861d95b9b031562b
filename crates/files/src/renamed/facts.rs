//! The architecture of a model, and the numbers that rules need: keys of a GGUF, or those of `config.json`.

use std::borrow::Cow;
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
    ("glm4", &["glm4", "glm4v", "glm4v_text"]),
    ("glm4moe", &["glm4_moe", "glm4v_moe", "glm4v_moe_text"]),
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
    (PREDICTED, "nextn_predict_layers", &[]),
    (ROTATED, "rope.dimension_count", &[]),
    ("hidden", "", &["hidden_size"]),
    ("head", "", &["head_dim"]),
];

pub(crate) const LAYERS: &str = "layers";

pub(crate) const EXPERTS: &str = "experts";

/// The layers at the end of a GGUF that predict further tokens.
const PREDICTED: &str = "predicted";

/// The items of a head that RoPE rotates.
const ROTATED: &str = "rotated";

/// The name in the table of rows that are only for models whose positions have several parts.
const MROPE: &str = "mrope";

/// The factor of GLM-4 where its config has none.
const ROTATED_PART: f64 = 0.5;

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

/// T5 writes its one embedding under several names. A GGUF holds the first of these that the checkpoint has.
const SHARED: [&str; 3] = ["shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"];

/// Keys of a config under which it describes RoPE.
const ROPE_CONFIGS: [&str; 2] = ["rope_parameters", "rope_scaling"];

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
            // the pairs that RoPE rotates
            "A" => return Ok(self.rotated(layer)? / 2),
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
                (found.cloned(), names.first().unwrap_or(key).to_string())
            }
        };
        let found = match found {
            Some(Value::Array(list)) => layer.and_then(|layer| list.get(layer).cloned()),
            _ if letter == "K" && self.arch == "falcon" && self.has_one_key() => return Ok(1),
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

    /// Falcon's first models have one key and value for all queries, and may state the heads of the queries as their number.
    fn has_one_key(&self) -> bool {
        let FactSource::Config(config) = &self.source else { return false };
        let is = |name: &str| value_in(config, name).is_some_and(|value| value == &Value::Bool(true));
        is("multi_query") && !is("new_decoder_architecture")
    }

    fn rotated(&self, layer: Option<usize>) -> Result<usize> {
        let FactSource::Config(config) = &self.source else { return self.number(ROTATED, layer) };
        let head = match self.number("head", layer) {
            Ok(head) => head,
            Err(_) => self.number("hidden", layer)? / self.number("N", layer)?.max(1),
        };
        let of_rope = ROPE_CONFIGS.iter().filter_map(|key| value_in(config, key)).chain([config]);
        let factor = of_rope.map(|of| &of["partial_rotary_factor"]).find_map(Value::as_f64);
        Ok((head as f64 * factor.unwrap_or(ROTATED_PART)) as usize)
    }

    /// The names in the table of the rows for this model.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &'static str> {
        let has_parts = match &self.source {
            FactSource::Gguf(keys) => keys.contains_key(&format!("{}.rope.dimension_sections", self.arch)),
            FactSource::Config(config) => {
                ROPE_CONFIGS.iter().filter_map(|key| value_in(config, key)).any(|rope| !rope["mrope_section"].is_null())
            }
        };
        [self.arch].into_iter().chain((self.arch == "glm4" && has_parts).then_some(MROPE))
    }

    /// The layers before those that predict further tokens, if these have names of their own in a checkpoint.
    fn plain_layers(&self) -> Option<usize> {
        let predicted = || self.number(PREDICTED, None).unwrap_or(0);
        let all = self.arch.starts_with("qwen35").then(|| self.number(LAYERS, None).ok()).flatten()?;
        Some(all.saturating_sub(predicted()))
    }

    /// The name in a checkpoint of a name in the table.
    pub(crate) fn own_name(&self, name: String) -> String {
        self.plain_layers().and_then(|layers| to_predicting(&name, layers)).unwrap_or(name)
    }

    /// The name in the table of one of the `names` in a checkpoint.
    pub(crate) fn table_name<'n>(&self, name: &'n str, names: &[String]) -> Cow<'n, str> {
        let is_embedding = || SHARED.iter().find(|shared| names.iter().any(|name| name == *shared)) == Some(&name);
        if self.arch == "t5" && is_embedding() {
            return SHARED[0].into();
        }
        self.plain_layers().and_then(|layers| from_predicting(name, layers)).map_or(name.into(), Cow::from)
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

/// Qwen's names for the modules of the first layer that predicts further tokens, and those in the table.
const PREDICTING_MODULES: [(&str, &str); 4] = [
    ("fc", "eh_proj"),
    ("pre_fc_norm_embedding", "enorm"),
    ("pre_fc_norm_hidden", "hnorm"),
    ("norm", "shared_head.norm"),
];

/// Returns the table's form of a name such as `mtp.layers.0.…` or `mtp.fc.weight`, of a layer behind the plain ones.
fn from_predicting(name: &str, plain_layers: usize) -> Option<String> {
    let rest = name.strip_prefix("model.").unwrap_or(name).strip_prefix("mtp.")?;
    if let Some((layer, module)) = rest.strip_prefix("layers.").and_then(|rest| rest.split_once('.')) {
        return Some(format!("model.layers.{}.{module}", plain_layers.checked_add(layer.parse().ok()?)?));
    }
    let (module, ending) = rest.rsplit_once('.')?;
    let (_, known) = PREDICTING_MODULES.iter().find(|(own, _)| *own == module)?;
    Some(format!("model.layers.{plain_layers}.{known}.{ending}"))
}

/// The opposite of [`from_predicting`].
fn to_predicting(name: &str, plain_layers: usize) -> Option<String> {
    let (layer, module) = name.strip_prefix("model.layers.")?.split_once('.')?;
    let layer = layer.parse::<usize>().ok()?.checked_sub(plain_layers)?;
    let own = PREDICTING_MODULES.iter().find_map(|(own, known)| Some((own, module.strip_prefix(known)?)));
    Some(match own.filter(|_| layer == 0) {
        Some((own, ending)) => format!("mtp.{own}{ending}"),
        None => format!("mtp.layers.{layer}.{module}"),
    })
}

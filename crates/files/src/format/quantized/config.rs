//! What the files beside a checkpoint say of its layout: `config.json` of Hugging Face and of MLX, and modelopt's
//! `hf_quant_config.json`.

use std::collections::BTreeMap;
use std::io::ErrorKind as IoErrorKind;
use std::path::Path;

use serde_json::{Map, Value};

use super::parts::Numbers;
use super::rules::{
    AWQ, DEEPSEEK_FP4, FLOAT_QUANTIZED, FP8_BLOCK, GPTQ, GPTQ_V2, INT_QUANTIZED, MLX, MXFP4, NVFP4, NVFP4_CT,
    PACK_QUANTIZED,
};
use crate::error::{Context, ErrorKind, Result, ensure, malformed};
use crate::format::beside::{join, open_beside};
use crate::format::json_object::one_line;
use crate::memory;
use crate::storage::requests::RequestOptions;
use crate::storage::source::Metadata;

/// The limit on the bytes of such a file.
const MAX_CONFIG: u64 = 1 << 26;

const FILES: [&str; 2] = ["config.json", "hf_quant_config.json"];

/// The first release of compressed-tensors that packs 3, 5, 6 and 7 bits densely.
const DENSE_SINCE: [u64; 2] = [0, 20];

/// What a checkpoint says.
#[derive(Clone, Debug, Default)]
pub(super) struct Stated {
    /// The file that says it; empty if none does.
    pub file: String,
    pub layouts: Vec<&'static str>,
    /// Alternatives, of which the shapes of a weight fit one.
    pub numbers: Vec<Numbers>,
    /// Numbers of single modules; `None` for a module that is not quantised.
    pub modules: BTreeMap<String, Option<Numbers>>,
    /// A layout that is not known.
    pub unknown: Option<String>,
    /// What was taken because nothing is said, for a message.
    pub assumed: Option<&'static str>,
}

impl Stated {
    /// Reads the files in a folder, or the metadata of the header.
    ///
    /// # Errors
    /// A file cannot be read, is too long or is not JSON.
    pub(super) fn read(
        folder: Option<&Path>,
        metadata: Option<&Metadata>,
        requests: RequestOptions,
    ) -> Result<Option<Self>> {
        for file in FILES {
            let Some(folder) = folder else { break };
            let Some(config) = read_json(&join(folder, file), requests).with_context(|| file.to_owned())? else {
                continue;
            };
            if let Some(stated) = Self::of_config(&config) {
                return Ok(Some(Self { file: file.to_owned(), ..stated }));
            }
        }
        for key in ["quantization_config", "quantization"] {
            let Some(text) = metadata.and_then(|metadata| metadata.get(key)) else { continue };
            let value: Value =
                serde_json::from_str(text).map_err(|error| malformed!("metadata {key}: {}", one_line(&error)))?;
            if let Some(stated) = Self::of_config(&Value::Object(Map::from_iter([(key.to_owned(), value)]))) {
                return Ok(Some(Self { file: "the header".to_owned(), ..stated }));
            }
        }
        Ok(None)
    }

    fn of_config(config: &Value) -> Option<Self> {
        let within = [config, &config["text_config"]];
        let of_key = |key: &str| within.iter().find_map(|config| config[key].as_object());
        let quantized = ["quantization", "quantization_config", "compression_config"].into_iter().find_map(of_key)?;
        let text = |key: &str| quantized.get(key).and_then(Value::as_str);
        let number = |key: &str| quantized.get(key).and_then(number);
        let simple = |layout| Self { layouts: vec![layout], numbers: vec![Numbers::default()], ..Self::default() };
        let stated = match text("quant_method") {
            Some("fp8") => {
                let block = quantized.get("weight_block_size").and_then(block);
                let numbers = vec![Numbers { block, ..Numbers::default() }];
                let is_fp4 = config["expert_dtype"] == "fp4" || text("expert_dtype") == Some("fp4");
                Self { numbers, ..simple(if is_fp4 { DEEPSEEK_FP4 } else { FP8_BLOCK }) }
            }
            Some("mxfp4") => simple(MXFP4),
            Some("compressed-tensors") => Self::of_compressed_tensors(quantized),
            Some(method @ ("gptq" | "awq")) => {
                let group = number("group_size");
                let numbers = vec![Numbers { bits: number("bits"), group, ..Numbers::default() }];
                let (layout, assumed) = match (method, text("checkpoint_format"), text("version")) {
                    ("awq", _, Some(version)) if !version.eq_ignore_ascii_case("gemm") => {
                        return Some(Self::other(format!("awq {version}")));
                    }
                    ("awq", ..) => (AWQ, None),
                    (_, Some("gptq_v2"), _) => (GPTQ_V2, None),
                    (_, Some("gptq"), _) => (GPTQ, None),
                    (_, Some(other), _) => return Some(Self::other(format!("gptq {other}"))),
                    (_, None, _) => {
                        (GPTQ, Some("no checkpoint_format is given, so zero points are those of version 1"))
                    }
                };
                Self { numbers, assumed, ..simple(layout) }
            }
            Some("modelopt") | None if text("quant_algo").is_some() => match text("quant_algo") {
                Some("NVFP4") => simple(NVFP4),
                Some("FP8") => simple(FLOAT_QUANTIZED),
                Some("MIXED_PRECISION") => Self { layouts: vec![NVFP4, FLOAT_QUANTIZED], ..simple(NVFP4) },
                other => Self::other(format!("modelopt {}", other.unwrap_or_default())),
            },
            // hf_quant_config.json says more
            Some("modelopt") => return None,
            Some(other) => Self::other(other.to_owned()),
            None if quantized.contains_key("bits") => Self::of_mlx(quantized),
            None => return None,
        };
        Some(stated)
    }

    fn other(unknown: String) -> Self {
        Self { unknown: Some(unknown), ..Self::default() }
    }

    fn of_compressed_tensors(quantized: &Map<String, Value>) -> Self {
        let version = quantized.get("version").and_then(Value::as_str);
        let is_dense = version.and_then(|version| {
            let mut numbers = version.split('.').map(|part| part.parse::<u64>().ok());
            Some([numbers.next()??, numbers.next()??] >= DENSE_SINCE)
        });
        let mut stated = Self::default();
        let mut formats: Vec<&str> = quantized.get("format").and_then(Value::as_str).into_iter().collect();
        let groups = quantized.get("config_groups").and_then(Value::as_object);
        for group in groups.into_iter().flat_map(Map::values) {
            let weights = &group["weights"];
            if weights.is_object() {
                stated.numbers.push(Numbers {
                    bits: number(&weights["num_bits"]),
                    group: number(&weights["group_size"]),
                    block: block(&weights["block_structure"]),
                    is_dense,
                    mode: None,
                });
            }
            formats.extend(group["format"].as_str());
        }
        for format in formats {
            match format {
                "nvfp4-pack-quantized" => stated.layouts.push(NVFP4_CT),
                "pack-quantized" => stated.layouts.push(PACK_QUANTIZED),
                "int-quantized" => stated.layouts.push(INT_QUANTIZED),
                "float-quantized" => stated.layouts.push(FLOAT_QUANTIZED),
                "naive-quantized" => stated.layouts.extend([INT_QUANTIZED, FLOAT_QUANTIZED]),
                // it says that the groups have formats of their own
                "mixed-precision" => {}
                other => stated.unknown = Some(format!("compressed-tensors {other}")),
            }
        }
        if stated.numbers.is_empty() {
            stated.numbers.push(Numbers { is_dense, ..Numbers::default() });
        }
        stated
    }

    fn of_mlx(quantized: &Map<String, Value>) -> Self {
        let numbers = |of: &Map<String, Value>| Numbers {
            bits: of.get("bits").and_then(number),
            group: of.get("group_size").and_then(number),
            mode: of.get("mode").and_then(Value::as_str).map(str::to_owned),
            ..Numbers::default()
        };
        let own = |value: &Value| match value {
            Value::Object(of) => Some(Some(numbers(of))),
            Value::Bool(false) => Some(None),
            _ => None,
        };
        let modules = quantized.iter().filter_map(|(name, value)| Some((name.clone(), own(value)?))).collect();
        Self { layouts: vec![MLX], numbers: vec![numbers(quantized)], modules, ..Self::default() }
    }
}

/// A count; -1 means all, like a missing count.
fn number(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|number| usize::try_from(number).ok()).filter(|number| *number > 0)
}

fn block(value: &Value) -> Option<[usize; 2]> {
    let sides: Vec<_> = value.as_array()?.iter().filter_map(number).collect();
    sides.try_into().ok()
}

/// Returns `None` if there is no such file.
fn read_json(path: &Path, requests: RequestOptions) -> Result<Option<Value>> {
    let file = match open_beside(path, requests) {
        Err(error) if error.kind() == ErrorKind::Io(IoErrorKind::NotFound) => return Ok(None),
        file => file?,
    };
    let size = file.size()?;
    ensure!(size <= MAX_CONFIG, "{size} bytes, expected at most {MAX_CONFIG}");
    let mut bytes = memory::zeros(usize::try_from(size)?)?;
    file.read_at(&mut bytes, 0)?;
    serde_json::from_slice(&bytes).map(Some).map_err(|error| malformed!("{}", one_line(&error)))
}

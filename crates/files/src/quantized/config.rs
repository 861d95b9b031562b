//! The layout that a checkpoint states, in the files beside it or in the metadata of its header.

use std::borrow::Cow;
use std::io::ErrorKind as IoErrorKind;
use std::path::Path;

use serde_json::{Map, Value};

use super::byte_codes::FORMATS;
use super::methods::{format_keys, layouts_of};
use super::parts::{ModuleEntry, PartNumbers, Role};
use super::rules::{COMFY, TORCHAO};
use super::values::{as_text, is_true, names_in, number, sides_of};
use crate::storage::requests::RequestOptions;
use crate::storage::sidecar::{join, open_beside};
use crate::storage::source::Metadata;
use crate::untyped::python_json::{entries, one_line};
use tensorop_kernels::error::{Context, ErrorKind, Result, ensure, malformed};
use tensorop_kernels::memory;

/// The limit on the bytes of such a file.
const MAX_CONFIG: u64 = 1 << 26;

/// A file, the keys under which it may state a layout (an empty one is the whole file), and the method of one that names
/// none.
type ConfigFile = (&'static str, &'static [&'static str], &'static str);

pub(crate) const CONFIG: &str = "config.json";

/// The surest first: that of modelopt beside a `config.json` states more.
const FILES: [ConfigFile; 4] = [
    ("hf_quant_config.json", &["quantization"], ""),
    (CONFIG, &["quantization", "quantization_config", "compression_config"], ""),
    ("quantize_config.json", &[""], "gptq"),
    ("quant_config.json", &[""], "awq"),
];

/// The keys in the metadata of a header.
const HEADER_KEYS: [&str; 2] = ["quantization_config", "quantization"];

/// The keys under which a header states layouts of single layers.
const OF_COMFY: &str = "_quantization_metadata";
const OF_TORCHAO: &str = "tensor_names";

/// The names that programs give to the same thing.
const BITS: &[&str] = &["bits", "num_bits", "w_bit", "wbits"];
const GROUP: &[&str] = &["group_size", "q_group_size"];
const BLOCK: &[&str] = &["weight_block_size", "block_structure"];
const REORDERED: &[&str] = &["desc_act", "actorder"];
const SYMMETRIC: &[&str] = &["symmetric", "sym"];
const EXCLUDED: &[&str] = &[
    "ignore",
    "ignored_layers",
    "modules_to_not_convert",
    "modules_to_not_quantize",
    "exclude_modules",
    "llm_int8_skip_modules",
    "skip_modules",
];

/// The keys that can be given with `--dequantize=LAYOUT`.
const GIVEN: [&[&str]; 6] = [BITS, GROUP, BLOCK, REORDERED, SYMMETRIC, &["mode", "zero_point"]];

/// The first release of compressed-tensors that packs 3, 5, 6 and 7 bits densely.
const DENSE_SINCE: [u64; 2] = [0, 20];

/// The layout that a checkpoint states.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stated {
    /// The file that states it; empty if none does.
    pub file: String,
    pub layouts: Vec<&'static str>,
    /// Alternatives, of which the shapes of a weight fit one.
    pub numbers: Vec<PartNumbers>,
    /// The first that matches a module decides.
    pub modules: Vec<ModuleEntry>,
    /// A layout that is not known.
    pub unknown: Option<String>,
    /// The assumption made where the checkpoint states nothing.
    pub assumed: Option<&'static str>,
}

impl Stated {
    /// Reads the files in a folder, or the metadata of the header.
    ///
    /// # Errors
    /// A file cannot be read, is too long or is not JSON.
    pub(crate) fn read(
        folder: Option<&Path>,
        metadata: Option<&Metadata>,
        requests: RequestOptions,
    ) -> Result<Option<Self>> {
        let layers = metadata.map(Self::from_layers).transpose()?.flatten();
        for (file, keys, method) in FILES {
            let Some(folder) = folder else { break };
            let beside = || if file == CONFIG { of_quantiser(folder, requests) } else { Ok(None) };
            let config = read_text(&join(folder, file), requests).with_context(|| file.to_owned())?;
            let stated = config.and_then(|config| Self::from_config(&config, keys, method, &beside).transpose());
            if let Some(mut stated) = stated.transpose().with_context(|| file.to_owned())? {
                if let Some(layers) = layers.filter(|layers| layers.layouts == stated.layouts) {
                    stated.modules.extend(layers.modules);
                    stated.unknown = stated.unknown.or(layers.unknown);
                }
                return Ok(Some(Self { file: file.to_owned(), ..stated }));
            }
        }
        for key in HEADER_KEYS {
            let Some(text) = metadata.and_then(|metadata| metadata.get(key)) else { continue };
            let stated = Self::from_config(text, &[""], "", &|| Ok(None));
            if let Some(stated) = stated.with_context(|| format!("metadata {key}"))? {
                return Ok(Some(Self { file: "the header".to_owned(), ..stated }));
            }
        }
        Ok(layers.map(|stated| Self { file: "the header".to_owned(), ..stated }))
    }

    /// Reads the formats of single layers: ComfyUI's under a key of the header, torchao's under the name of each tensor.
    fn from_layers(metadata: &Metadata) -> Result<Option<Self>> {
        let json = |key: &str| -> Result<Value> {
            let text = metadata.get(key).map_or("null", |text| text);
            serde_json::from_str(text).map_err(|error| malformed!("metadata {key}: {}", one_line(&error)))
        };
        let (mut stated, mut layers) = (Self { numbers: vec![PartNumbers::default()], ..Self::default() }, Vec::new());
        if metadata.contains_key(OF_COMFY) {
            stated.layouts.push(COMFY);
            let described = json(OF_COMFY)?;
            let of_layers = described["layers"].as_object().into_iter().flatten();
            layers.extend(of_layers.map(|(name, layer)| {
                let is_rotated = layer["convrot"] == Value::Bool(true);
                let format = layer["format"].as_str().unwrap_or_default();
                (
                    name.clone(),
                    if is_rotated { format!("{format} with convrot") } else { format.to_owned() },
                    None,
                    false,
                )
            }));
        } else if metadata.contains_key(OF_TORCHAO) {
            stated.layouts.push(TORCHAO);
            for name in json(OF_TORCHAO)?.as_array().into_iter().flatten().filter_map(Value::as_str) {
                let described = json(name)?;
                let kind = described["_type"].as_str().filter(|kind| *kind != "Tensor");
                let sides = described["_data"]["block_size"].as_array();
                let sides = sides.map(|sides| sides.iter().filter_map(number).collect());
                let module = name.strip_suffix(".weight").unwrap_or(name);
                let listed = described["_tensor_data_names"].as_array().into_iter().flatten();
                let has_zeros = listed.filter_map(Value::as_str).any(|part| part == "zero_point");
                let demands = |kind: &str| has_zeros || kind == "IntxUnpackedToInt8Tensor";
                layers.extend(kind.map(|kind| (module.to_owned(), kind.to_owned(), sides, demands(kind))));
            }
        } else {
            return Ok(None);
        }
        let writer = if stated.layouts == [COMFY] { "ComfyUI" } else { "torchao" };
        let unread = layers.iter().find(|(_, mode, ..)| !FORMATS.contains(&&**mode));
        stated.unknown = unread.map(|(_, mode, ..)| format!("{writer} {mode}").trim_end().to_owned());
        // the longest name that a module ends with is its own
        layers.sort_by_key(|(name, ..)| std::cmp::Reverse(name.len()));
        for (name, mode, sides, has_zeros) in layers {
            let demanded = has_zeros.then_some(Role::Zeros).into_iter().collect();
            let numbers = PartNumbers { mode: Some(mode), sides, demanded, ..PartNumbers::default() };
            stated.modules.push(ModuleEntry { text: name, expression: None, numbers: Some(numbers) });
        }
        Ok(Some(stated))
    }

    /// Reads the text of a config. `beside` reads the second config of GPTQ, if there is one.
    fn from_config(
        config_text: &str,
        keys: &[&str],
        default_method: &str,
        beside: &dyn Fn() -> Result<Option<Map<String, Value>>>,
    ) -> Result<Option<Self>> {
        let config = &serde_json::from_str::<Value>(config_text).map_err(|error| malformed!("{}", one_line(&error)))?;
        let within = [config, &config["text_config"], &config["llm_config"]];
        let of_key = |key: &str| {
            if key.is_empty() {
                config
            } else {
                within.map(|of| &of[key]).into_iter().find(|of| of.is_object()).unwrap_or(&Value::Null)
            }
        };
        let Some(quantized) = keys.iter().find_map(|key| of_key(key).as_object()) else { return Ok(None) };
        let text = |key: &str| quantized.get(key).and_then(Value::as_str);
        let has = |key: &str| quantized.get(key).is_some_and(|value| !value.is_null());
        let method = match text("quant_method") {
            Some("intel/auto-round") => "auto-round",
            Some(method) => method,
            None if has("quant_algo") => "modelopt",
            None if has("config_groups") => "compressed-tensors",
            None if has("load_in_4bit") || has("load_in_8bit") => "bitsandbytes",
            None if !default_method.is_empty() => default_method,
            None if has("bits") => "mlx",
            // modelopt, for the cache alone
            None if quantized.contains_key("quant_algo") || quantized.is_empty() => return Ok(None),
            None => "no quant_method",
        };
        let mut whole = quantized.clone();
        if let Some(more) = if method == "gptq" { beside()? } else { None } {
            complete(&mut whole, &more)?;
        }
        let quantized = &whole;
        let of_experts = config["expert_dtype"].as_str().filter(|_| method == "fp8");
        let of_backend = text("backend").filter(|backend| method == "awq" && *backend == "llm-awq");
        let words = format_keys(method).iter().filter_map(|key| quantized.get(*key)).filter(|word| !word.is_null());
        let mut formats: Vec<_> = words.map(as_text).collect();
        formats.extend(of_experts.into_iter().chain(of_backend).map(str::to_owned));
        formats.dedup_by(|next, format| next.eq_ignore_ascii_case(format));
        // formats that contradict each other are an unknown one
        let format = &*formats.join(" and ");
        let mut stated = match method {
            "compressed-tensors" => Self::from_compressed_tensors(quantized, format)?,
            "gptq" if quantized.get("is_marlin_format") == Some(&Value::Bool(true)) => {
                Self::from_method(method, "marlin")
            }
            _ => Self::from_method(method, format),
        };
        if stated.numbers.is_empty() {
            stated.numbers.push(PartNumbers::of(quantized));
        }
        if (method, format) == ("gptq", "") {
            stated.assumed = Some("no checkpoint_format is given, so zero points are those of version 1");
        }
        let excluded = EXCLUDED.iter().filter_map(|key| quantized.get(*key)?.as_array()).flatten();
        let excluded = excluded.filter_map(Value::as_str).map(|text| ModuleEntry::parse(text, None));
        let mut modules = excluded.collect::<Result<Vec<_>>>()?;
        modules.append(&mut stated.modules);
        modules.extend(Self::entries(method, quantized, config_text)?);
        Ok(Some(Self { modules, ..stated }))
    }

    fn from_method(method: &str, format: &str) -> Self {
        match layouts_of(method, format) {
            Some(layouts) => Self { layouts: layouts.to_vec(), ..Self::default() },
            None => Self { unknown: Some(format!("{method} {format}").trim_end().to_owned()), ..Self::default() },
        }
    }

    /// Reads the entries for single modules, which each method writes in its own way. Their order is that in `text`.
    fn entries(method: &str, quantized: &Map<String, Value>, text: &str) -> Result<Vec<ModuleEntry>> {
        let of_key = |key: &str| {
            let mut entries: Vec<_> = quantized.get(key).and_then(Value::as_object).into_iter().flatten().collect();
            if entries.len() > 1 {
                let order = names_in(text, key).unwrap_or_default();
                entries.sort_by_cached_key(|(name, _)| order.iter().position(|of| of == *name));
            }
            entries.into_iter()
        };
        // a module inherits the numbers of all
        let own = |value: &Value| {
            let own = value.as_object().cloned().unwrap_or_default();
            PartNumbers::of(&quantized.clone().into_iter().chain(own).collect())
        };
        let of_all = |key: &str, entry: &dyn Fn(&str, &Value) -> Result<ModuleEntry>| {
            of_key(key).map(|(text, value)| entry(text, value)).collect()
        };
        match method {
            "mlx" => {
                let numbers = |value: &Value| match value {
                    Value::Object(of) => Some(Some(PartNumbers::of(of))),
                    Value::Bool(false) => Some(None),
                    _ => None,
                };
                let entries = quantized.iter().filter_map(|(name, value)| Some((name, numbers(value)?)));
                entries.map(|(name, numbers)| ModuleEntry::parse(name, numbers)).collect()
            }
            "gptq" => of_all("dynamic", &|text, value| match text.strip_prefix("-:") {
                Some(expression) => ModuleEntry::expression(text, expression, None),
                None => ModuleEntry::expression(text, text.strip_prefix("+:").unwrap_or(text), Some(own(value))),
            }),
            "auto-round" => of_all("extra_config", &|text, value| {
                let numbers = Some(own(value)).filter(|numbers| numbers.bits.is_none_or(|bits| bits < 16));
                match text.contains(['*', '+', '?', '(', '[', '|', '^', '$', '\\']) {
                    true => ModuleEntry::expression(text, text, numbers),
                    false => ModuleEntry::parse(text, numbers),
                }
            }),
            "gemma" => of_all("module_quant_configs", &|text, value| {
                ModuleEntry::expression(text, &format!(".*?(?:{text})"), Some(own(value)))
            }),
            "modelopt" => of_all("quantized_layers", &|name, value| ModuleEntry::parse(name, Some(own(value)))),
            _ => Ok(Vec::new()),
        }
    }

    fn from_compressed_tensors(quantized: &Map<String, Value>, format: &str) -> Result<Self> {
        const METHOD: &str = "compressed-tensors";
        let version = quantized.get("version").and_then(Value::as_str);
        let is_dense = version.and_then(|version| {
            let mut numbers = version.split('.').map(|part| part.parse::<u64>().ok());
            Some([numbers.next()??, numbers.next()??] >= DENSE_SINCE)
        });
        let sparse = quantized.get("sparsity_config").and_then(|sparse| sparse["format"].as_str());
        if let Some(sparse) = sparse.filter(|sparse| *sparse != "dense") {
            return Ok(Self::from_method(METHOD, sparse));
        }
        let transforms = quantized.get("transform_config").map(|of| of.get("config_groups").unwrap_or(of));
        if transforms.and_then(Value::as_object).is_some_and(|transforms| !transforms.is_empty()) {
            return Ok(Self::from_method(METHOD, "transform_config"));
        }
        let mut stated = Self::default();
        let mut formats = vec![format];
        let groups = quantized.get("config_groups").and_then(Value::as_object);
        for group in groups.into_iter().flat_map(Map::values) {
            if let Some(weights) = group["weights"].as_object() {
                let numbers = PartNumbers { is_dense, ..PartNumbers::of(weights) };
                // others are names of classes
                let is_named = |target: &&str| target.starts_with("re:") || target.contains('.');
                let targets = group["targets"].as_array().into_iter().flatten().filter_map(Value::as_str);
                for target in targets.filter(is_named) {
                    stated.modules.push(ModuleEntry::parse(target, Some(numbers.clone()))?);
                }
                stated.numbers.push(numbers);
            }
            formats.extend(group["format"].as_str());
        }
        // a name is nearer than an expression
        stated.modules.sort_by_key(|entry| entry.expression.is_some());
        // it says that the groups have formats of their own
        let is_own = |format: &&str| !matches!(*format, "" | "mixed-precision");
        for format in formats.iter().copied().filter(is_own) {
            let Self { layouts, unknown, .. } = Self::from_method(METHOD, format);
            stated.layouts.extend(layouts);
            stated.unknown = stated.unknown.or(unknown);
        }
        if stated.layouts.is_empty() && stated.unknown.is_none() {
            stated.unknown = Some(format!("{METHOD} without a format"));
        }
        if stated.numbers.is_empty() {
            stated.numbers.push(PartNumbers { is_dense, ..PartNumbers::default() });
        }
        Ok(stated)
    }

    /// The entry that decides about a module.
    pub(crate) fn entry(&self, module: &str) -> Option<&ModuleEntry> {
        self.modules.iter().find(|entry| entry.matches(module))
    }

    pub(crate) fn excludes(&self, module: &str) -> bool {
        self.entry(module).is_some_and(|entry| entry.numbers.is_none())
    }
}

impl PartNumbers {
    fn of(quantized: &Map<String, Value>) -> Self {
        let value =
            |names: &[&str]| names.iter().find_map(|name| quantized.get(*name)).filter(|value| !value.is_null());
        // `weight` and `static` order columns while scales are computed, and store them in order
        let is_in_order = |order: &Value| matches!(&*as_text(order).to_lowercase(), "weight" | "static");
        let mut demanded = Vec::new();
        if value(REORDERED).is_some_and(|order| is_true(order) && !is_in_order(order)) {
            demanded.push(Role::Groups);
        }
        if value(SYMMETRIC).is_some_and(|value| !is_true(value)) || value(&["zero_point"]).is_some_and(is_true) {
            demanded.push(Role::Zeros);
        }
        Self {
            bits: value(BITS).and_then(number),
            group: value(GROUP)
                .and_then(|group| if group.as_i64() == Some(-1) { Some(usize::MAX) } else { number(group) }),
            block: value(BLOCK).and_then(sides_of),
            is_dense: None,
            mode: value(&["mode"]).and_then(Value::as_str).map(str::to_owned),
            sides: None,
            demanded,
        }
    }

    /// Reads `KEY=VALUE,…` as a config would state it.
    ///
    /// # Errors
    /// A key is not known.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut given = Map::new();
        for pair in text.split(',').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').with_context(|| format!("{pair:?}: expected KEY=VALUE"))?;
            let known = GIVEN.concat();
            ensure!(known.contains(&key), "{key:?} is not known: expected {}", known.join(", "));
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
            let is_whole = number(&value).is_some() || GROUP.contains(&key) && value.as_i64() == Some(-1);
            ensure!(
                is_whole || ![BITS, GROUP].concat().contains(&key),
                "{key}={value}: expected a whole number, 1 or more"
            );
            given.insert(key.to_owned(), value);
        }
        Ok(Self::of(&given))
    }
}

/// Reads the config that a quantiser of GPTQ writes beside that of the model. `None` without one, or of another method.
fn of_quantiser(folder: &Path, requests: RequestOptions) -> Result<Option<Map<String, Value>>> {
    let (file, ..) = FILES.iter().find(|(.., method)| *method == "gptq").expect("a file of GPTQ");
    let config = read_json(&join(folder, file), requests).with_context(|| (*file).to_owned())?;
    let is_gptq = |config: &Map<String, Value>| {
        config.get("quant_method").and_then(Value::as_str).is_none_or(|method| method == "gptq")
    };
    Ok(config.and_then(|config| config.as_object().cloned()).filter(is_gptq))
}

/// Adds the settings that only the second config has.
///
/// # Errors
/// They state different things.
fn complete(config: &mut Map<String, Value>, more: &Map<String, Value>) -> Result<()> {
    for names in [format_keys("gptq"), REORDERED, SYMMETRIC, BITS, GROUP, &["is_marlin_format"], &["dynamic"]] {
        let stated = |of: &Map<String, Value>| {
            let mut values = names.iter().filter_map(|name| Some(((*name).to_owned(), of.get(*name)?.clone())));
            values.find(|(_, value)| !value.is_null())
        };
        let Some((name, other)) = stated(more) else { continue };
        match stated(config) {
            None => drop(config.insert(name, other)),
            Some((name, own)) => ensure!(
                as_text(&own).eq_ignore_ascii_case(&as_text(&other)),
                "{name} is {own}, and {other} in quantize_config.json"
            ),
        }
    }
    Ok(())
}

/// Removes the keys that state a layout from the metadata of a header. `None` if it has no such key.
pub(crate) fn metadata_without_layout(metadata: &Metadata) -> Option<Metadata> {
    let names = metadata.get(OF_TORCHAO).and_then(|names| serde_json::from_str::<Vec<String>>(names).ok());
    let names = names.unwrap_or_default();
    let states = |key: &str| [OF_COMFY, OF_TORCHAO].contains(&key) || HEADER_KEYS.contains(&key);
    let states = |key: &String| states(key) || names.contains(key);
    let kept = || metadata.iter().filter(|(key, _)| !states(key));
    (kept().count() < metadata.len()).then(|| kept().map(|(key, text)| (key.clone(), text.clone())).collect())
}

/// Whether a file of this name beside a checkpoint may state a layout.
pub fn is_layout_file(name: &str) -> bool {
    FILES.iter().any(|(file, ..)| *file == name)
}

/// Removes the layout from the text of a file beside a checkpoint. `None` if the file states nothing else.
///
/// # Errors
/// A `config.json` is not a JSON object.
pub fn without_layout(file: &str, text: String) -> Result<Option<String>> {
    if file != CONFIG {
        return Ok(Some(text).filter(|_| !is_layout_file(file)));
    }
    let keys = FILES.iter().find(|(name, ..)| *name == CONFIG).map_or(&[][..], |(_, keys, _)| keys);
    let less = without(&text, keys, 2).map_err(|error| malformed!("{}", one_line(&error)))?;
    Ok(Some(less.map_or(text, |less| less + "\n")))
}

/// Removes keys from an object, whose other values keep their text. `None` if no key is there.
fn without(text: &str, keys: &[&str], indent: usize) -> serde_json::Result<Option<String>> {
    let (mut kept, mut has_any) = (Vec::new(), false);
    for (key, value) in entries(text)? {
        if keys.contains(&&*key) {
            has_any = true;
            continue;
        }
        let inner = if matches!(&*key, "text_config" | "llm_config") && value.starts_with('{') {
            without(value, keys, indent + 2)?
        } else {
            None
        };
        has_any |= inner.is_some();
        let value = inner.map_or(Cow::Borrowed(value), Cow::Owned);
        kept.push(format!("{:indent$}{}: {value}", "", Value::from(key)));
    }
    Ok(has_any.then(|| format!("{{\n{}\n{:2$}}}", kept.join(",\n"), "", indent - 2)))
}

/// Returns `None` if there is no such file.
pub(crate) fn read_json(path: &Path, requests: RequestOptions) -> Result<Option<Value>> {
    let value = |text: String| serde_json::from_str(&text).map_err(|error| malformed!("{}", one_line(&error)));
    read_text(path, requests)?.map(value).transpose()
}

fn read_text(path: &Path, requests: RequestOptions) -> Result<Option<String>> {
    let file = match open_beside(path, requests) {
        Err(error) if error.kind() == ErrorKind::Io(IoErrorKind::NotFound) => return Ok(None),
        file => file?,
    };
    let size = file.size()?;
    ensure!(size <= MAX_CONFIG, "{size} bytes, expected at most {MAX_CONFIG}");
    let mut bytes = memory::zeros(usize::try_from(size)?)?;
    file.read_at(&mut bytes, 0)?;
    String::from_utf8(bytes).map(Some).map_err(|_| malformed!("it is not UTF-8"))
}

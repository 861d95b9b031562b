//! Descriptions of how an array is stored.

use serde_json::{Value, json};

use super::dtypes::{fill_text, has_order};
use super::metadata::{ArrayMetadata, V2_ARRAY};
use super::sharding::SHARDING;
use crate::format::content::ChunkDescription;
use crate::format::python_json::{compact, quoted};
use crate::storage::conversion::Conversion;

impl ArrayMetadata {
    pub(super) fn description(&self) -> ChunkDescription {
        let Self { meta, style, .. } = self;
        let native = meta.dtype.native();
        let mut fill = style.fill.clone();
        Conversion::new(&meta.dtype, &native).expect("byte orders of one kind").swap(&mut fill);
        let names: Vec<_> = self.codecs.iter().filter_map(|codec| name_of(codec, has_order(&meta.dtype))).collect();
        let dimension_names = style.dimension_names.as_deref();
        ChunkDescription {
            chunks: style.chunk.clone(),
            shards: self.shards.is_some().then(|| style.unit.clone()),
            codecs: json!(self.codecs).to_string(),
            codec_names: if names.is_empty() { "none".to_owned() } else { names.join("+") },
            fill_value: if self.has_fill { fill_text(&fill, &native) } else { "null".to_owned() },
            dimension_names: dimension_names.and_then(|names| serde_json::from_str(names).ok()),
            attributes: style.attributes.as_deref().map_or_else(|| "{}".to_owned(), |text| compact(&quoted(text))),
            version: if self.file == V2_ARRAY { 2 } else { 3 },
        }
    }
}

/// Such as `gzip:5`; `None` without effect on usual items.
fn name_of(codec: &Value, has_order: bool) -> Option<String> {
    let name = codec.as_str().or_else(|| codec["name"].as_str()).unwrap_or("?");
    let field = |key: &str| &codec["configuration"][key];
    let level = |key: &str| field(key).as_i64().map_or_else(String::new, |level| format!(":{level}"));
    match name {
        "bytes" | "endian" if has_order && field("endian") == "big" => Some("big-endian".to_owned()),
        "bytes" | "endian" => None,
        "transpose" => Some(format!("transpose{}", field("order"))),
        SHARDING => Some(format!("shards of {}", field("chunk_shape"))),
        "blosc" => Some(format!("blosc:{}{}", field("cname").as_str().unwrap_or("lz4"), level("clevel"))),
        name => Some(format!("{}{}", name.strip_prefix("numcodecs.").unwrap_or(name), level("level"))),
    }
}

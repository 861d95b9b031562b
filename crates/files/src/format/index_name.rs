//! File names of indices of shards.

use std::path::Path;

const ENDING: &str = ".safetensors.index";

/// Of PyTorch files, which are only read.
const ENDING_OF_TORCH: &str = ".bin.index";

const JSON: &str = ".json";

/// Returns the common stem of the shards of an index that can be written.
pub fn stem(path: &Path) -> Option<String> {
    stem_before(ENDING, path.file_name()?.to_str()?)
}

/// Returns the common stem of an index's shards.
pub(super) fn stem_of_name(name: &str) -> Option<String> {
    stem_before(ENDING, name).or_else(|| stem_before(ENDING_OF_TORCH, name))
}

/// `m` of `m.safetensors.index.json`, and `m.fp16` of `m.safetensors.index.fp16.json`, which diffusers writes. Case
/// does not matter.
fn stem_before(ending: &str, name: &str) -> Option<String> {
    let begin = name.len().checked_sub(JSON.len())?;
    let (name, json) = name.split_at_checked(begin)?;
    let at = name.to_ascii_lowercase().rfind(ending).filter(|at| *at > 0 && json.eq_ignore_ascii_case(JSON))?;
    let (stem, variant) = (&name[..at], &name[at + ending.len()..]);
    match variant.strip_prefix('.') {
        None if variant.is_empty() => Some(stem.to_owned()),
        Some(variant) if !variant.is_empty() && !variant.contains('.') => Some(format!("{stem}.{variant}")),
        Some(_) | None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_indexes() {
        let rows = [
            ("a/m.safetensors.index.json", Some("m")),
            ("Model.SafeTensors.Index.JSON", Some("Model")),
            (".safetensors.index.json", None),
            ("m.index.json", None),
            ("é.json", None),
            ("m.safetensors.index.fp16.json", Some("m.fp16")),
            ("a.b.safetensors.INDEX.FP16.json", Some("a.b.FP16")),
            ("m.safetensors.index..json", None),
            ("m.safetensors.index.a.b.json", None),
            ("m.safetensors.indexes.json", None),
            (".safetensors.index.fp16.json", None),
            ("é", None),
        ];
        for (path, wanted) in rows {
            assert_eq!(stem(Path::new(path)).as_deref(), wanted, "{path}");
        }
    }
}

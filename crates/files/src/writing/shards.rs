//! Divides tensors among several safetensors files and writes their index, as `huggingface_hub`'s
//! `split_torch_state_dict_into_shards` does.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::OutputTensor;
use crate::formats::index;
use crate::formats::safetensors::bytes_of_shape;
use crate::opening::table::Format;
use crate::storage::read_at::Identity;
use tensorop_kernels::error::Result;

const METADATA: &str = "metadata";

/// The default bytes of items in a shard.
pub const MAX_BYTES: u64 = 5_000_000_000;

/// A file of a sharded output.
#[derive(Debug)]
pub struct Shard {
    /// Relative to the index.
    pub name: String,
    /// In input order.
    pub tensors: Vec<OutputTensor>,
}

/// A sharded output.
#[derive(Debug)]
pub struct Divided {
    pub shards: Vec<Shard>,
    pub index: String,
}

/// Divides named tensors into shards of at most `most` bytes of items; a larger tensor has its own.
///
/// # Errors
/// The items of a tensor do not fill their bytes.
pub fn divide(tensors: Vec<OutputTensor>, stem: &str, most: u64) -> Result<Divided> {
    let (mut shards, mut current, mut filled, mut total) = (Vec::new(), Vec::new(), 0, 0);
    for tensor in tensors {
        let meta = tensor.meta(Format::SAFETENSORS);
        let bytes = bytes_of_shape(&meta.dtype, &meta.shape)?;
        total += u128::from(bytes);
        if bytes > most {
            shards.push(vec![tensor]);
            continue;
        }
        if filled + u128::from(bytes) > u128::from(most) {
            shards.push(std::mem::take(&mut current));
            filled = 0;
        }
        current.push(tensor);
        filled += u128::from(bytes);
    }
    if !current.is_empty() || shards.is_empty() {
        shards.push(current);
    }
    let of = shards.len();
    let name = |n: usize| match of {
        1 => format!("{stem}.safetensors"),
        of => format!("{stem}-{:05}-of-{of:05}.safetensors", n + 1),
    };
    let shards: Vec<_> = shards.into_iter().enumerate().map(|(n, tensors)| Shard { name: name(n), tensors }).collect();
    let rows = shards.iter().flat_map(|shard| shard.tensors.iter().map(|tensor| (tensor, &shard.name)));
    let rows = rows.map(|(tensor, file)| {
        let tensor = tensor.name.as_deref().unwrap_or_default();
        format!("\n    {}: {}", ascii_json(tensor), ascii_json(file))
    });
    let rows = rows.collect::<Vec<_>>().join(",");
    let map = if rows.is_empty() { "{}".to_owned() } else { format!("{{{rows}\n  }}") };
    let index = format!("{{\n  \"metadata\": {{\n    \"total_size\": {total}\n  }},\n  \"weight_map\": {map}\n}}");
    Ok(Divided { shards, index })
}

fn ascii_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    let mut out = String::with_capacity(quoted.len());
    for c in quoted.chars() {
        match c {
            c if c.is_ascii() => out.push(c),
            c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    out
}

/// An index to be replaced.
#[derive(Debug)]
pub struct OldIndex {
    path: PathBuf,
    /// Whether there is an index, and it is valid; else it names nothing.
    pub is_there: bool,
    pub tensors: Vec<String>,
    files: Vec<String>,
}

impl OldIndex {
    pub fn read(path: PathBuf) -> Self {
        let found = fs::read(&path).ok().and_then(|bytes| index::listed(&bytes));
        let (is_there, (tensors, files)) = (found.is_some(), found.unwrap_or_default());
        Self { path, is_there, tensors, files }
    }

    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.files.iter().map(|name| self.path.with_file_name(name))
    }

    /// Adds the keys that only this index has to the text of its successor. The number of parameters, which transformers writes,
    /// is counted again.
    pub fn add_own_keys(&self, divided: &mut Divided) {
        let object = |text: &[u8]| serde_json::from_slice::<Map<String, Value>>(text).ok();
        let old = fs::read(&self.path).ok().and_then(|text| object(&text));
        let (Some(mut old), Some(mut new)) = (old, object(divided.index.as_bytes())) else { return };
        let mut is_changed = false;
        let mut add = |new: &mut Map<String, Value>, old: Map<String, Value>| {
            for (key, value) in old.into_iter().filter(|(key, _)| !new.contains_key(key)).collect::<Vec<_>>() {
                is_changed = true;
                new.insert(key, value);
            }
        };
        if let (Some(Value::Object(mut own)), Some(Value::Object(metadata))) =
            (old.remove(METADATA), new.get_mut(METADATA))
        {
            let tensors = divided.shards.iter().flat_map(|shard| &shard.tensors);
            let items: usize = tensors.map(|tensor| tensor.fill.meta().items()).sum();
            own.get_mut("total_parameters").into_iter().for_each(|parameters| *parameters = items.into());
            add(metadata, own);
        }
        add(&mut new, old);
        if is_changed {
            divided.index = format!("{:#}", Value::from(new));
        }
    }

    /// Returns existing shards that `divided` does not replace.
    pub fn left(&self, divided: &Divided) -> Vec<String> {
        let is_new = |name: &String| divided.shards.iter().any(|shard| shard.name == *name);
        let is_left = |name: &&String| self.path.with_file_name(name).is_file() && !is_new(name);
        self.files.iter().filter(is_left).cloned().collect()
    }

    /// Returns whether the index names a file.
    pub fn has_file(&self, name: &str) -> bool {
        self.files.iter().any(|own| own == name)
    }

    /// Returns the tensors in a shard that the index does not list.
    pub fn unlisted_in(&self, file: &str) -> Vec<String> {
        let listed: HashSet<&String> = self.tensors.iter().collect();
        let names = index::names_in(&self.path.with_file_name(file)).unwrap_or_default();
        names.into_iter().filter(|name| !listed.contains(name)).collect()
    }

    /// Removes from `files`, and returns, the shards that no other index names.
    pub fn removable(&self, files: &mut Vec<String>) -> Vec<String> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_other = |other: &PathBuf| index::stem(other).is_some() && other.file_name() != self.path.file_name();
        let others = entries.map(|entry| entry.path()).filter(is_other);
        let named: HashSet<_> = others.map(Self::read).flat_map(|other| other.files).collect();
        let is_shard = |name: &String| !named.contains(name) && index::names_in(&folder.join(name)).is_some();
        files.extract_if(.., |name| is_shard(name)).collect()
    }

    /// Returns the tensors in all readable shards.
    pub fn tensors_of_files(&self) -> Vec<String> {
        self.paths().filter_map(|shard| index::names_in(&shard)).flatten().collect()
    }

    /// Returns whether `file` is a shard.
    pub fn names_file(&self, file: Identity) -> bool {
        let mut found = self.paths().filter_map(|shard| fs::metadata(shard).ok());
        found.any(|metadata| Identity::from_metadata(&metadata) == file)
    }

    /// Returns the item bytes of the largest of several shards.
    pub fn largest(&self) -> Option<u64> {
        let sizes = self.paths().filter_map(|shard| index::bytes_of_items(&shard));
        sizes.max().filter(|_| self.files.len() > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::fill::Limits;
    use crate::storage::source::Source;
    use tensorop_kernels::item::tensor::Tensor;

    #[test]
    fn as_hugging_face_divides() {
        type Row<'a> = (&'a [usize], u64, &'a [&'a [usize]]);
        let rows: [Row<'_>; 6] = [
            (&[6, 6, 2, 6, 2, 2], 10, &[&[0], &[1, 2], &[3, 4, 5]]),
            (&[3, 20, 3], 10, &[&[1], &[0, 2]]),
            (&[5, 5, 1], 10, &[&[0, 1], &[2]]),
            (&[20], 10, &[&[0]]),
            (&[0, 0], 1, &[&[0, 1]]),
            (&[], 10, &[&[]]),
        ];
        for (sizes, most, expected) in rows {
            let tensor = |(n, &size): (usize, &usize)| {
                let tensor =
                    Tensor::new(tensorop_kernels::DType::parse("int8").expect("a dtype"), vec![size], vec![0; size])
                        .expect("a tensor");
                let tensor = OutputTensor::copy(Source::memory(tensor, "data".to_owned()), Limits::default());
                OutputTensor { name: Some(n.to_string()), ..tensor }
            };
            let divided = divide(sizes.iter().enumerate().map(tensor).collect(), "m", most).expect("shards");
            let names = |shard: &Shard| shard.tensors.iter().filter_map(|w| w.name.as_ref()?.parse().ok()).collect();
            let found: Vec<Vec<usize>> = divided.shards.iter().map(names).collect();
            assert_eq!(found, expected, "{sizes:?}");
        }
    }
}

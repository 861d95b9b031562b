//! Divides the tensors of an output among several files (shards) of safetensors, and writes the index that names them, both
//! as `huggingface_hub` does: `split_torch_state_dict_into_shards` and the file beside its shards.

use std::fs;
use std::path::{Path, PathBuf};

use super::index;
use super::safetensors::bytes_of_shape;
use super::table::Format;
use super::write::OutputTensor;
use crate::error::Result;

/// The ending of the name of an index.
const ENDING: &str = ".safetensors.index.json";

/// The bytes of items that a shard has at most where nobody asks for another number: 5 GB.
pub const MOST_BYTES: u64 = 5_000_000_000;

/// Returns what the names of an index and of its shards begin with; `None` if the name is not that of an index. Its ending may be
/// in capitals, as that of any format.
pub fn stem(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let (stem, ending) = name.split_at_checked(name.len().checked_sub(ENDING.len())?)?;
    (!stem.is_empty() && ending.eq_ignore_ascii_case(ENDING)).then_some(stem)
}

/// A file of a divided output.
#[derive(Debug)]
pub struct Shard {
    /// Its name, in the folder of the index.
    pub name: String,
    /// Its tensors, in the order in which they were given.
    pub works: Vec<OutputTensor>,
}

/// Tensors that are divided among files.
#[derive(Debug)]
pub struct Divided {
    /// The files, at least one.
    pub shards: Vec<Shard>,
    /// The text of the index.
    pub index: String,
}

/// Divides tensors that have names and are checked. Each goes into the file that is being filled, unless that would then
/// have more than `most` bytes of items: then another is begun. A tensor of more bytes has a file of its own, which comes
/// before the one that is being filled.
///
/// # Errors
/// The items of a tensor do not fill their bytes.
pub fn divide(works: Vec<OutputTensor>, stem: &str, most: u64) -> Result<Divided> {
    let (mut shards, mut current, mut filled, mut total) = (Vec::new(), Vec::new(), 0, 0);
    for work in works {
        let meta = work.meta(Format::SAFETENSORS);
        let bytes = bytes_of_shape(&meta.dtype, &meta.shape)?;
        total += u128::from(bytes);
        if bytes > most {
            shards.push(vec![work]);
            continue;
        }
        if filled + u128::from(bytes) > u128::from(most) {
            shards.push(std::mem::take(&mut current));
            filled = 0;
        }
        current.push(work);
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
    let shards: Vec<_> = shards.into_iter().enumerate().map(|(n, works)| Shard { name: name(n), works }).collect();
    let rows = shards.iter().flat_map(|shard| shard.works.iter().map(|work| (work, &shard.name)));
    let rows = rows.map(|(work, file)| {
        let tensor = work.name.as_deref().unwrap_or_default();
        format!("\n    {}: {}", ascii_json(tensor), ascii_json(file))
    });
    let rows = rows.collect::<Vec<_>>().join(",");
    let map = if rows.is_empty() { "{}".to_owned() } else { format!("{{{rows}\n  }}") };
    let index = format!("{{\n  \"metadata\": {{\n    \"total_size\": {total}\n  }},\n  \"weight_map\": {map}\n}}");
    Ok(Divided { shards, index })
}

/// Returns a text as JSON of ASCII alone, as Python writes it.
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

/// Returns the names of files that the index at `path` names, `divided` does not, and that are there.
pub fn left(path: &Path, divided: &Divided) -> Vec<String> {
    let Ok(text) = fs::read(path) else { return Vec::new() };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut old = index::locations(&text);
    old.retain(|name| folder.join(name).is_file() && divided.shards.iter().all(|shard| shard.name != *name));
    old
}

/// Returns the path of a shard beside the index.
pub fn path_of(index: &Path, shard: &Shard) -> PathBuf {
    index.with_file_name(&shard.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::tensor::Tensor;
    use crate::ops::fill::Limits;
    use crate::storage::source::Source;

    #[test]
    fn names_of_indexes() {
        let rows = [
            ("a/m.safetensors.index.json", Some("m")),
            ("Model.SafeTensors.Index.JSON", Some("Model")),
            (".safetensors.index.json", None),
            ("m.index.json", None),
            ("é.json", None),
        ];
        for (path, wanted) in rows {
            assert_eq!(stem(Path::new(path)), wanted, "{path}");
        }
    }

    #[test]
    fn as_hugging_face_divides() {
        // its own example: [6, 6, 2, 6, 2, 2] with 10, and a tensor that is larger than that
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
            let work = |(n, &size): (usize, &usize)| {
                let tensor = Tensor::new(crate::DType::parse("int8").expect("a dtype"), vec![size], vec![0; size])
                    .expect("a tensor");
                let work = OutputTensor::copy(Source::memory(tensor, "data".to_owned()), Limits::default());
                OutputTensor { name: Some(n.to_string()), ..work }
            };
            let divided = divide(sizes.iter().enumerate().map(work).collect(), "m", most).expect("shards");
            let names = |shard: &Shard| shard.works.iter().filter_map(|w| w.name.as_ref()?.parse().ok()).collect();
            let found: Vec<Vec<usize>> = divided.shards.iter().map(names).collect();
            assert_eq!(found, expected, "{sizes:?}");
        }
    }
}

//! The index of safetensors or PyTorch shards of Hugging Face: `weight_map` in a JSON object maps tensors to files in the
//! same folder. Shards are opened on demand, so that a model with missing shards can be inspected.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::{iter, slice};

use serde::de::{Error as _, IgnoredAny, MapAccess};
use serde_json::Value;

use super::safetensors::{self, HeaderIndex, MAX_HEADER, MAX_MEMBERS, SafetensorsReader};
use super::torch;
use crate::container::content::{Content, Description, IndexFaults, MemberFile, UnlistedTensor};
use crate::container::foreign;
use crate::container::interface::{Confidence, Members, ReadableFile, Reader, ShownLater, StoredMember};
use crate::storage::read_at::Identity;
use crate::storage::requests::RequestOptions;
use crate::storage::sidecar::{is_plain_name, join, open_beside};
use crate::storage::source::Source;
use crate::untyped::python_json::{FromObject, JsonObject, one_line};
use tensorop_kernels::error::{Context, Result, bail, ensure, malformed};
use tensorop_kernels::item::python;
use tensorop_kernels::parallel::{Threads, made_once};

const FORMAT: &str = "safetensors";

const TORCH: &str = "pytorch";

const MAP: &str = "weight_map";

const METADATA: &str = "metadata";

const TOTAL: &str = "total_size";

pub(crate) fn sure(begin: &[u8], _: Option<u64>) -> Confidence {
    let key = format!("\"{MAP}\"").into_bytes();
    let next = |at: usize| begin.get(at..).unwrap_or_default().iter().find(|byte| !byte.is_ascii_whitespace());
    let is_key = |(at, found): (usize, &[u8])| found == key && next(at + key.len()) == Some(&b':');
    Confidence::certain_if(next(0) == Some(&b'{') && begin.windows(key.len()).enumerate().any(is_key))
}

pub(crate) fn open(content: Content) -> Result<ReadableFile> {
    let requests = content.requests;
    let (bytes, folder) = content.into_bytes()?;
    let size = bytes.size()?;
    ensure!(size <= MAX_HEADER, "an index of {size} bytes, expected at most {MAX_HEADER}");
    let mut text = tensorop_kernels::memory::zeros(usize::try_from(size)?)?;
    bytes.read_at(&mut text, 0)?;
    let read = serde_json::from_slice(&text);
    let JsonObject(Top { map: Map(map), total }) = read.map_err(|error| malformed!("index: {}", one_line(&error)))?;
    let mut numbers = HashMap::new();
    let (mut seen, mut shards) = (HashSet::with_capacity(map.len()), Vec::new());
    let (mut names, mut places) = (Vec::new(), Vec::new());
    for (name, location) in map {
        ensure!(seen.insert(name.clone()), "the index names {} twice", python::repr_str(&name));
        let next = shards.len();
        let shard = *numbers.entry(location).or_insert_with_key(|location: &String| {
            shards.push(IndexShard { location: location.clone(), opened: OnceLock::new() });
            next
        });
        names.push(name);
        places.push(shard);
    }
    let names = names.into();
    Ok(Index { identity: Some(bytes.identity()?), folder, requests, shards, names, places, total }.into_file())
}

/// An unreadable shard is listed as one tensor with the name of the file.
pub(crate) fn from_shards(folder: PathBuf, locations: &[String], requests: RequestOptions) -> Result<ReadableFile> {
    let shard = |location: &String| IndexShard { location: location.clone(), opened: OnceLock::new() };
    let shards = locations.iter().map(shard).collect();
    let (names, places) = (Arc::default(), Vec::new());
    let mut index = Index { identity: None, folder: Some(folder), requests, shards, names, places, total: None };
    let (mut seen, mut names, mut places) = (HashMap::new(), Vec::new(), Vec::new());
    for (place, shard) in index.shards.iter().enumerate() {
        let opened = made_once(&shard.opened, || index.open(shard));
        let own = slice::from_ref(&shard.location);
        let found = opened.map_or(own, |opened| opened.names());
        for name in found {
            if let Some(other) = seen.insert(name.clone(), place) {
                let [one, two] = [other, place].map(|place| &index.shards[place].location);
                return Err(malformed!(
                    "{one} and {two} both hold {}, and no index says which counts",
                    python::repr_str(name)
                ));
            }
        }
        places.extend(iter::repeat_n(place, found.len()));
        names.extend(found.iter().cloned());
    }
    (index.names, index.places) = (names.into(), places);
    Ok(index.into_file())
}

pub(crate) fn listed(text: &[u8]) -> Option<(Vec<String>, Vec<String>)> {
    let JsonObject(Top { map: Map(map), .. }) = serde_json::from_slice(text).ok()?;
    let (tensors, files): (_, BTreeSet<String>) = map.into_iter().unzip();
    Some((tensors, files.into_iter().filter(|name| is_plain_name(name)).collect()))
}

pub(crate) fn names_in(path: &Path) -> Option<Vec<String>> {
    let index = HeaderIndex::read(&File::open(path).ok()?).ok()?;
    Some(index.members.into_iter().map(|member| member.name).collect())
}

pub(crate) fn bytes_of_items(path: &Path) -> Option<u64> {
    let index = HeaderIndex::read(&File::open(path).ok()?).ok()?;
    Some(index.members.iter().fold(0, |sum: u64, member| sum.saturating_add(member.bytes)))
}

#[derive(Debug)]
struct Index {
    /// `None` without an index.
    identity: Option<Identity>,
    /// `None` if the index is not a file.
    folder: Option<PathBuf>,
    requests: RequestOptions,
    shards: Vec<IndexShard>,
    names: Arc<Vec<String>>,
    places: Vec<usize>,
    /// The `total_size` of the index.
    total: Option<u64>,
}

#[derive(Debug)]
struct IndexShard {
    location: String,
    opened: OnceLock<OpenIndexShard>,
}

#[derive(Debug)]
struct OpenIndexShard {
    file: ReadableFile,
    /// PyTorch counts tensors with the same bytes once in `total_size`.
    is_torch: bool,
    numbers: HashMap<String, usize>,
}

impl OpenIndexShard {
    fn names(&self) -> &[String] {
        self.file.members.names().unwrap_or_default()
    }

    fn bytes_of(&self, n: usize) -> Option<u64> {
        self.file.describe(n).ok().filter(|_| !self.is_torch).map(|described| described.bytes)
    }
}

impl Index {
    fn shard(&self, n: usize) -> &IndexShard {
        &self.shards[self.places[n]]
    }

    fn find(&self, n: usize) -> Result<(&OpenIndexShard, usize)> {
        let (shard, name) = (self.shard(n), &self.names[n]);
        let open = || self.open(shard).with_context(|| format!("shard {}", python::repr_str(&shard.location)));
        let opened = made_once(&shard.opened, open)?;
        let there = opened.numbers.get(name).ok_or_else(|| {
            let (name, shard) = (python::repr_str(name), python::repr_str(&shard.location));
            malformed!("the index says that {name} is in {shard}, which has no tensor of that name")
        })?;
        Ok((opened, *there))
    }

    fn into_file(self) -> ReadableFile {
        let files = self.shards.iter().filter_map(|shard| self.path(shard).ok()).collect();
        let (names, file_numbers, index) = (Some(Arc::clone(&self.names)), (&*self.places).into(), Arc::new(self));
        let later = Some(Arc::clone(&index) as _);
        ReadableFile::new(Members { names, file_numbers, files, later, ..Members::default() }, index)
    }

    fn path(&self, shard: &IndexShard) -> Result<PathBuf> {
        ensure!(is_plain_name(&shard.location), "expected the name of a file in the folder of the index");
        let folder = self.folder.as_deref().context("the folder of the index is not known")?;
        Ok(join(folder, &shard.location))
    }

    fn open(&self, shard: &IndexShard) -> Result<OpenIndexShard> {
        let path = self.path(shard)?;
        let bytes = open_beside(&path, self.requests)?;
        let content = Content::from_bytes(Arc::clone(&bytes), Threads::default())?;
        let is_torch = torch::sure(&content.begin, None) == Confidence::Certain;
        if !is_torch && safetensors::sure(&content.begin, Some(bytes.size()?)) == Confidence::No {
            let instead = foreign::stand_in(&content.begin);
            bail!("{}", instead.unwrap_or("not a .safetensors file: does not begin with a length and {"));
        }
        let mut file = match is_torch {
            true => torch::open(content)?,
            false => SafetensorsReader::open(bytes)?,
        };
        if let Some(container) = &mut file.members.container {
            Arc::make_mut(container).index = self.identity;
        }
        let numbers =
            file.members.names().into_iter().flatten().cloned().enumerate().map(|(n, name)| (name, n)).collect();
        Ok(OpenIndexShard { file, is_torch, numbers })
    }
}

impl ShownLater for Index {
    fn index_faults(&self) -> IndexFaults {
        let opened: Vec<_> = self.shards.iter().map(|shard| shard.opened.get()).collect();
        let mut listed = vec![0; opened.len()];
        let mut total = Some(0_u64);
        for (name, &place) in self.names.iter().zip(&self.places) {
            let found = opened[place].and_then(|shard| Some((shard, *shard.numbers.get(name)?)));
            listed[place] += usize::from(found.is_some());
            let bytes = found.and_then(|(shard, there)| shard.bytes_of(there));
            total = total.zip(bytes).map(|(sum, bytes)| sum.saturating_add(bytes));
        }
        let (mut unlisted, mut more) = (Vec::new(), 0_u64);
        for (place, shard) in opened.iter().enumerate() {
            let Some(opened) = shard.filter(|shard| shard.numbers.len() > listed[place]) else { continue };
            let Ok(path) = self.path(&self.shards[place]) else { continue };
            let of_shard = self.names.iter().zip(&self.places).filter(|(_, other)| **other == place);
            let named: HashSet<_> = of_shard.map(|(name, _)| name).collect();
            for (n, name) in opened.names().iter().enumerate() {
                if !named.contains(name) {
                    more = more.saturating_add(opened.bytes_of(n).unwrap_or_default());
                    unlisted.push(UnlistedTensor { name: name.clone(), member: name.clone(), shard: path.clone() });
                }
            }
        }
        // Some writers count all tensors of the shards.
        let differs = |(said, right): &(u64, u64)| said != right && *said != right.saturating_add(more);
        let total = self.total.zip(total).filter(differs).map(|(said, right)| (TOTAL, [said, right]));
        IndexFaults { unlisted, total }
    }
}

impl Reader for Arc<Index> {
    fn describe(&self, n: usize) -> Result<Description> {
        let (shard, there) = self.find(n)?;
        Ok(Description { offset: None, ..shard.file.describe(there)? })
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let (shard, there) = self.find(n)?;
        shard.file.source(there, label)
    }

    fn file_of(&self, n: usize) -> Result<MemberFile> {
        // Errors of the shard appear here, with the name in the index.
        let (shard, there) = self.find(n)?;
        let path = Some(self.path(self.shard(n))?);
        let format = if shard.is_torch { Some(TORCH) } else { self.identity.is_none().then_some(FORMAT) };
        Ok(MemberFile { path, member: Some(self.names[n].clone()), format, ..shard.file.file_of(there)? })
    }

    fn stored(&self, n: usize) -> StoredMember {
        self.find(n).map_or_else(|_| StoredMember::default(), |(shard, there)| shard.file.stored(there))
    }
}

struct Top {
    map: Map,
    total: Option<u64>,
}

impl<'de> FromObject<'de> for Top {
    const EXPECTED: &'static str = "an object with a weight_map";

    fn read<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let (mut found, mut total): (Option<JsonObject<Map>>, _) = (None, None);
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                MAP if found.replace(map.next_value()?).is_some() => {
                    return Err(A::Error::custom(format_args!("{MAP} occurs twice")));
                }
                MAP => {}
                METADATA => {
                    let metadata: Value = map.next_value()?;
                    total = metadata.get(TOTAL).and_then(whole_number);
                }
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        let JsonObject(map) = found.ok_or_else(|| A::Error::custom(format_args!("has no {MAP}")))?;
        Ok(Self { map, total })
    }
}

/// Some writers have `40.0`.
fn whole_number(value: &Value) -> Option<u64> {
    /// 2^53: larger integers may not be float64s.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let float = || value.as_f64().filter(|number| (0.0..=EXACT).contains(number) && number.fract() == 0.0);
    value.as_u64().or_else(|| float().map(|number| number as u64))
}

/// In the order of the text.
struct Map(Vec<(String, String)>);

impl<'de> FromObject<'de> for Map {
    const EXPECTED: &'static str = "an object with the name of a file for each tensor";

    fn read<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            if entries.len() == MAX_MEMBERS {
                return Err(A::Error::custom(format_args!("more than {MAX_MEMBERS} tensors")));
            }
            entries.push(entry);
        }
        Ok(Self(entries))
    }
}

const ENDING: &str = ".safetensors.index";

/// Of PyTorch files, which are only read.
const ENDING_OF_TORCH: &str = ".bin.index";

const JSON: &str = ".json";

/// Returns the common stem of the shards of an index that can be written.
pub fn stem(path: &Path) -> Option<String> {
    stem_before(ENDING, path.file_name()?.to_str()?)
}

/// Returns the common stem of an index's shards.
pub(crate) fn stem_of_name(name: &str) -> Option<String> {
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

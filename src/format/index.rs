//! The index of safetensors in several files (shards), as Hugging Face writes it: a JSON object whose `weight_map` has the
//! name of a file in the same folder for the name of each tensor.
//!
//! A shard is opened when something of it is wanted, so that a model of which some shards are missing can be looked at.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::Read;
use std::path::PathBuf;
use std::sync::OnceLock;

use serde::de::{Error as _, IgnoredAny, MapAccess};

use super::beside::{is_plain_name, join, open_beside};
use super::content::{Content, Description, FileFacts, MemberFile};
use super::foreign;
use super::interface::{Reader, Sure};
use super::json_object::{FromObject, JsonObject, one_line};
use super::safetensors::{self, MAX_HEADER, MAX_MEMBERS, SafetensorsReader};
use crate::error::{Context, Result, bail, ensure, malformed};
use crate::item::python;
use crate::parallel::made_once;
use crate::storage::read_at::Identity;
use crate::storage::requests::RequestOptions;
use crate::storage::source::Source;

/// The key of the object that says where tensors are.
const MAP: &str = "weight_map";

/// Returns how sure it is that a text that begins with `begin` is an index: certain if it is an object with the key
/// [`MAP`].
pub(super) fn sure(begin: &[u8], _: Option<u64>) -> Sure {
    let key = format!("\"{MAP}\"").into_bytes();
    let next = |at: usize| begin.get(at..).unwrap_or_default().iter().find(|byte| !byte.is_ascii_whitespace());
    let is_key = |(at, found): (usize, &[u8])| found == key && next(at + key.len()) == Some(&b':');
    Sure::certain_if(next(0) == Some(&b'{') && begin.windows(key.len()).enumerate().any(is_key))
}

/// Reads an index. The files that it names are not opened yet.
///
/// # Errors
/// An index that is longer than a header of safetensors may be, that is no JSON or no such object, that names a tensor
/// twice, or that names more tensors than one file may hold; failure to read it.
pub(super) fn open(content: Content) -> Result<Box<dyn Reader>> {
    let requests = content.requests;
    let (bytes, folder) = content.into_bytes()?;
    let size = bytes.size()?;
    ensure!(size <= MAX_HEADER, "an index of {size} bytes, expected at most {MAX_HEADER}");
    let mut text = crate::memory::zeros(usize::try_from(size)?)?;
    bytes.read_at(&mut text, 0)?;
    let read = serde_json::from_slice(&text);
    let JsonObject(Top(Map(map))) = read.map_err(|error| malformed!("index: {}", one_line(&error)))?;
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
    let files = Vec::new();
    let mut reader = IndexReader { identity: bytes.identity()?, folder, requests, shards, files, names, places };
    reader.files = reader.shards.iter().filter_map(|shard| reader.path(shard).ok()).collect();
    Ok(Box::new(reader))
}

/// Returns the names of the files in its own folder that an index names, each once; none of what is no index.
pub(super) fn locations(text: &[u8]) -> Vec<String> {
    let map = serde_json::from_slice(text).map_or(Vec::new(), |JsonObject(Top(Map(map)))| map);
    let names: BTreeSet<_> = map.into_iter().map(|(_, location)| location).filter(|name| is_plain_name(name)).collect();
    names.into_iter().collect()
}

/// An index: the tensors that it names, and the shards that they lie in.
#[derive(Debug)]
struct IndexReader {
    /// The index itself.
    identity: Identity,
    /// The folder that all files lie in; `None` if the index did not come from a file.
    folder: Option<PathBuf>,
    /// How a server is asked for shards, if they lie on one.
    requests: RequestOptions,
    shards: Vec<IndexShard>,
    /// The paths of the shards, but for those that no shard may have.
    files: Vec<PathBuf>,
    /// The names of the tensors.
    names: Vec<String>,
    /// The number of the shard of each tensor.
    places: Vec<usize>,
}

/// A file of safetensors that an index names.
#[derive(Debug)]
struct IndexShard {
    location: String,
    opened: OnceLock<OpenIndexShard>,
}

#[derive(Debug)]
struct OpenIndexShard {
    reader: SafetensorsReader,
    /// The numbers of its tensors by their names, since all tensors of an index are looked up.
    numbers: HashMap<String, usize>,
}

impl IndexReader {
    fn shard(&self, n: usize) -> &IndexShard {
        &self.shards[self.places[n]]
    }

    /// Returns the shard that holds tensor number `n`, and the number of the tensor in it. Opens the shard if it is not open.
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

    /// Returns the path of a shard.
    fn path(&self, shard: &IndexShard) -> Result<PathBuf> {
        ensure!(is_plain_name(&shard.location), "expected the name of a file in the folder of the index");
        let folder = self.folder.as_deref().context("the folder of the index is not known")?;
        Ok(join(folder, &shard.location))
    }

    fn open(&self, shard: &IndexShard) -> Result<OpenIndexShard> {
        let path = self.path(shard)?;
        let bytes = open_beside(&path, self.requests)?;
        let len = bytes.size()?;
        let mut begin = [0; 9];
        let filled = begin.len().min(usize::try_from(len).unwrap_or(usize::MAX));
        bytes.read_at(&mut begin[..filled], 0)?;
        if safetensors::sure(&begin[..filled], Some(len)) == Sure::No {
            let mut begin = [0; 64];
            let filled = begin.len().min(usize::try_from(len).unwrap_or(usize::MAX));
            bytes.read_at(&mut begin[..filled], 0)?;
            let instead = foreign::stand_in(&begin[..filled]);
            bail!("{}", instead.unwrap_or("no .safetensors file: does not begin with a length and {"));
        }
        let reader = SafetensorsReader::read(bytes, Some(self.identity))?;
        let numbers = reader.names().into_iter().flatten().cloned().enumerate().map(|(n, name)| (name, n)).collect();
        Ok(OpenIndexShard { reader, numbers })
    }
}

impl Reader for IndexReader {
    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn file_of(&self, n: usize) -> Result<MemberFile> {
        // an error in the shard is reported here, where it is known which name the index has for it
        let (shard, there) = self.find(n)?;
        Ok(MemberFile { path: Some(self.path(self.shard(n))?), ..shard.reader.file_of(there)? })
    }

    fn facts(&self) -> FileFacts<'_> {
        FileFacts { files: &self.files, ..FileFacts::default() }
    }

    fn raw(&self, n: usize) -> Option<Box<dyn Read>> {
        let (shard, there) = self.find(n).ok()?;
        shard.reader.raw(there)
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let (shard, there) = self.find(n)?;
        // the items do not lie in this file
        Ok(Description { offset: None, ..shard.reader.describe(there)? })
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let (shard, there) = self.find(n)?;
        shard.reader.source(there, label)
    }
}

/// The whole JSON object of an index.
struct Top(Map);

impl<'de> FromObject<'de> for Top {
    const EXPECTED: &'static str = "an object with a weight_map";

    fn read<A: MapAccess<'de>>(mut map: A) -> Result<Self, A::Error> {
        let mut found = None;
        while let Some(key) = map.next_key::<String>()? {
            if key != MAP {
                map.next_value::<IgnoredAny>()?;
            } else if found.replace(map.next_value()?).is_some() {
                return Err(A::Error::custom(format_args!("{MAP} occurs twice")));
            }
        }
        let found: Option<JsonObject<Map>> = found;
        found.map(|JsonObject(map)| Self(map)).ok_or_else(|| A::Error::custom(format_args!("there is no {MAP}")))
    }
}

/// The names of tensors and of the files that they lie in, in the order of the text.
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

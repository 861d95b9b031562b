//! Zarr: a store is a chunked tensor (*array*) or a *group* of arrays and groups. Versions 3 and 2 are read, version
//! 3 is written.

mod blosc;
mod codecs;
mod dtypes;
mod known;
mod members;
mod metadata;
mod read;
mod sharding;
#[cfg(test)]
mod tests;
mod write;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

use serde_json::{Value, json};

use self::dtypes::{fill_text, has_order};
use self::known::KnownStore;
use self::members::{FoundArrays, ROOT, StoreFiles, is_path};
use self::metadata::{ArrayMetadata, StoreNode, V2_ARRAY, V2_GROUP, V3};
use self::read::ZarrChunks;
use self::sharding::SHARDING;
use crate::container::content::{ChunkDescription, Content, ContentSource, Description};
use crate::container::interface::{Members, ReadableFile, Reader, ShownLater, StoredMember};
use crate::storage::attachments::Attachments;
use crate::storage::key_store::{AllValues, KeyStore, Lock, join};
use crate::storage::source::{Container, Source};
use crate::storage::unread::UnreadArray;
use crate::untyped::python_json::{compact, quoted};
use tensorop_kernels::error::{Advice, Error, ErrorKind, Result, bail, ensure, malformed};
use tensorop_kernels::item::encoding::Conversion;
use tensorop_kernels::parallel::locked;

pub(crate) use self::write::ZarrWriter;

pub(crate) const MARKS: &[&str] = &[V3, V2_ARRAY, V2_GROUP];

/// A named array is opened without a search for others.
pub(crate) fn open(content: Content) -> Result<ReadableFile> {
    let ContentSource::Folder(store) = content.opened else { bail!("is a file, expected the folder of a Zarr store") };
    let store: Arc<dyn KeyStore> = if store.costs_requests() { Arc::new(KnownStore::new(store)) } else { store };
    let (root, damage) = match metadata::node(&*store, "") {
        Ok(Some(root)) => (root, None),
        Ok(None) => bail!("not a Zarr store: has neither {V3} nor {V2_ARRAY}"),
        Err(why) if matches!(why.kind(), ErrorKind::Io(_)) => return Err(why),
        // damage around an array does not affect it
        Err(why) => (StoreNode { is_group: true, is_v2: store.size(V3)?.is_none(), attributes: None }, Some(why)),
    };
    let is_consolidated = root.is_group && damage.is_none() && metadata::is_consolidated(&*store)?;
    let named = content.member.map(|name| FoundArrays::one(&*store, &root, &name)).transpose()?.flatten();
    // a remote search would cost many requests
    let lists_files = named.is_none() && !store.costs_requests();
    let attachments = lists_files.then(|| Arc::new(StoreFiles::new(Arc::clone(&store))) as Arc<dyn Attachments>);
    let identity = store.identity()?;
    let listed = match named {
        None if root.is_group => Some(FoundArrays::all(&*store, &root, damage)?),
        named => named,
    };
    let is_array = !root.is_group && listed.is_none();
    let has_v2 = listed.as_ref().map_or(root.is_v2, |listed| listed.has_v2);
    let (searched, beside) = (Arc::clone(&store), attachments.clone());
    let found = LazyLock::new(Box::new(move || {
        let listed = listed.unwrap_or_else(|| FoundArrays::all_or_why(&*searched, &root));
        let FoundArrays { names, groups, refused, .. } = listed;
        let is_container = !is_array || !names.is_empty();
        let container = Container { attachments: beside, ..Container::new(identity, names) };
        ListedArrays { container: is_container.then(|| container.into()), groups: groups.into(), refused }
    }) as Box<_>);
    let (own, lock) = (attachments.clone(), Mutex::default());
    let arrays = Arc::new(StoreArrays { store, is_array, is_consolidated, found, attachments: own, lock });
    let unwritten = has_v2.then(|| {
        let message = "in a Zarr store of version 2 only items are changed";
        Error::from_kind(ErrorKind::Unsupported, message).advising(Advice::ConvertStore)
    });
    let container = if is_array { None } else { arrays.found.container.clone() };
    let members = Members {
        names: container.as_ref().map(|container| Arc::clone(&container.names)),
        container,
        itself: is_array.then_some(0),
        attachments,
        unwritten,
        later: is_array.then(|| Arc::clone(&arrays) as _),
        ..Members::default()
    };
    Ok(ReadableFile::new(members, arrays))
}

/// The arrays of a store.
#[derive(Debug)]
struct StoreArrays {
    store: Arc<dyn KeyStore>,
    /// Whether the store is itself member 0.
    is_array: bool,
    is_consolidated: bool,
    /// Searched only when the names are needed.
    found: LazyLock<ListedArrays, Box<dyn FnOnce() -> ListedArrays + Send>>,
    /// `None` if remote or one array was named.
    attachments: Option<Arc<dyn Attachments>>,
    /// Held while an array changes.
    lock: Mutex<Option<Lock>>,
}

#[derive(Debug)]
struct ListedArrays {
    /// `None` for a store that is a single array.
    container: Option<Arc<Container>>,
    groups: Arc<BTreeMap<String, String>>,
    refused: BTreeMap<String, Error>,
}

impl ShownLater for StoreArrays {
    fn names(&self) -> Option<&[String]> {
        Some(&self.found.container.as_ref()?.names)
    }
}

impl StoreArrays {
    fn prefix(&self, n: usize) -> Result<&str> {
        if self.is_array && n == 0 {
            return Ok("");
        }
        let names = self.names().unwrap_or_default();
        let name = names.get(n).ok_or_else(|| malformed!("tensor {n} of {}", names.len()))?;
        if name == ROOT {
            return Ok("");
        }
        ensure!(is_path(name), "no tensor {name:?}");
        Ok(name)
    }

    fn array(&self, n: usize) -> Result<ArrayMetadata> {
        let prefix = self.prefix(n)?;
        let is_itself = self.is_array && n == 0;
        let name = if prefix.is_empty() { ROOT } else { prefix };
        let refused = if is_itself { None } else { self.found.refused.get(name) };
        refused.map_or_else(|| metadata::array(&*self.store, prefix), |why| Err(why.clone()))
    }

    fn groups(&self, n: usize) -> Arc<BTreeMap<String, String>> {
        if self.is_array && n == 0 { Arc::default() } else { Arc::clone(&self.found.groups) }
    }

    fn unread(&self, n: usize) -> Result<Option<UnreadArray>> {
        let prefix = self.prefix(n)?;
        match self.array(n) {
            // Damage is not copied, and version 3 stores cannot hold version 2 arrays.
            Err(error) if error.kind() == ErrorKind::Unsupported => {}
            Ok(_) | Err(_) => return Ok(None),
        }
        let Some(found) = metadata::unread(&*self.store, prefix)? else { return Ok(None) };
        let mut array = UnreadArray::new(Arc::clone(&self.store), prefix, V3, found.text, found.dims)?;
        (array.groups, array.is_consolidated) = (self.groups(n), self.is_consolidated);
        Ok(Some(array))
    }
}

impl Reader for Arc<StoreArrays> {
    fn describe(&self, n: usize) -> Result<Description> {
        let array = self.array(n)?;
        let (bytes, chunks) = (array.meta.bytes() as u64, Some(array.description()));
        Ok(Description { chunks, ..Description::new(array.meta, bytes, None) })
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let mut array = self.array(n)?;
        let style = Arc::make_mut(&mut array.style);
        (style.groups, style.is_consolidated) = (self.groups(n), self.is_consolidated);
        let (meta, lock) = (array.meta.clone(), locked(&self.lock).clone());
        let chunks = ZarrChunks::new(Arc::clone(&self.store), self.prefix(n)?, array, lock)?;
        let source = |chunks| Source::chunks(meta, Arc::new(chunks), label);
        if self.is_array && n == 0 {
            return Ok(source(chunks.beside(self.attachments.clone())));
        }
        let container = self.found.container.as_ref().expect("a member has a container");
        Ok(source(chunks).one_of(Arc::clone(container), n))
    }

    fn stored(&self, n: usize) -> StoredMember {
        let values = |prefix: &str| Box::new(AllValues::new(Arc::clone(&self.store), prefix)) as _;
        let (bytes, arrays) = (self.prefix(n).ok().map(values), Arc::clone(self));
        StoredMember { bytes, unread: Some(Box::new(move || arrays.unread(n))), ..StoredMember::default() }
    }

    fn lock(&self, n: usize, shared: bool) -> Result<()> {
        let lock = self.store.lock(&join(self.prefix(n)?, self.array(n)?.file), shared)?;
        *locked(&self.lock) = Some(lock);
        Ok(())
    }
}

impl ArrayMetadata {
    pub(crate) fn description(&self) -> ChunkDescription {
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

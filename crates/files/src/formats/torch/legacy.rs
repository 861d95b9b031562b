//! The stream that `torch.save` wrote before version 1.6: pickles of a magic number, a version, facts about the system,
//! the object and the keys of its storages; then for each key the number of items (int64) and the items. Both are
//! little-endian on every machine.

use std::collections::HashMap;

use super::MAX_PICKLE;
use super::objects::dtype_of_storage;
use super::pickle::{Id, Node, Pickle};
use super::walk::Found;
use crate::formats::npz::table::ZipPlace;
use crate::storage::read_at::ReadAt;
use tensorop_kernels::error::{Context, Error, Result, ensure};
use tensorop_kernels::item::dtype::DType;
use tensorop_kernels::memory;

/// 0x1950a86a20f9469cfc6c, as a pickle has it.
const MAGIC: [u8; 12] = *b"\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19";
const VERSION: i64 = 1001;
/// As protocols before 2 have it.
const PRINTED_MAGIC: &[u8] = b"L119547037146038801333356L\n.";
/// The bytes before the magic number: a version, and a length from version 4 on.
const BEFORE_MAGIC: usize = 11;

pub(crate) fn is_legacy(begin: &[u8]) -> bool {
    let front = &begin[..begin.len().min(BEFORE_MAGIC + MAGIC.len())];
    let is_binary = begin.starts_with(b"\x80") && front.windows(MAGIC.len()).any(|bytes| bytes == MAGIC);
    is_binary || begin.starts_with(PRINTED_MAGIC)
}

/// The last may be an error: no later one can be found.
pub(crate) type Places = HashMap<String, Result<ZipPlace>>;

/// Adds the tensors to `found`, and returns the places of the storages.
pub(crate) fn read(file: &dyn ReadAt, found: &mut Found) -> Result<Places> {
    let (len, mut at) = (file.size()?, 0);
    let mut next = |what: &str| {
        let pickle = pickle_at(file, at, len).with_context(|| what.to_owned())?;
        at += pickle.len as u64;
        Ok::<_, Error>(pickle)
    };
    next("magic number")?;
    let version = next("version")?;
    ensure!(*version.node(version.root) == Node::Int(VERSION), "a version that is not known, expected {VERSION}");
    next("system")?;
    let (object, keys) = (next("object")?, next("keys")?);
    found.add(&object, "", "")?;
    let ids = (0..object.nodes.len() as Id).filter(|id| matches!(object.node(*id), Node::Persistent(_)));
    let storages = ids.filter_map(|id| object.storage(id).ok());
    let classes: HashMap<_, _> = storages.map(|storage| (storage.key, storage.class)).collect();
    let mut places = HashMap::new();
    for key in keys.items(keys.root) {
        let key = keys.key(*key).context("the key of a storage is not text")?;
        let dtype = classes.get(&key).and_then(|class| dtype_of_storage(class));
        let place = place_of(file, at, len, dtype);
        let end = place.as_ref().map(|place| place.at + place.size).ok();
        places.insert(key, place);
        // no later storage can be found
        let Some(end) = end else { break };
        at = end;
    }
    Ok(places)
}

fn place_of(file: &dyn ReadAt, at: u64, len: u64, dtype: Option<DType>) -> Result<ZipPlace> {
    let itemsize = dtype.context("the type of the items is not known")?.itemsize() as u64;
    let mut count = [0; 8];
    let begin = at.checked_add(8).filter(|begin| *begin <= len).context("its storage is cut off")?;
    file.read_at(&mut count, at)?;
    let count = u64::from_le_bytes(count);
    let size = count.checked_mul(itemsize).filter(|size| *size <= len - begin).with_context(|| {
        format!("its storage of {count} items at byte {at} ends beyond the {len} bytes of the file: it is cut off")
    })?;
    Ok(ZipPlace { at: begin, stored: size, size, is_deflated: false })
}

/// The length of a pickle is known when it has been read, so it is read again with more bytes.
fn pickle_at(file: &dyn ReadAt, at: u64, len: u64) -> Result<Pickle> {
    let most = (len - at).min(MAX_PICKLE);
    let mut window = most.min(1 << 16);
    loop {
        let mut bytes = memory::zeros(window as usize)?;
        file.read_at(&mut bytes, at)?;
        match Pickle::read(bytes) {
            Err(_) if window < most => window = (4 * window).min(most),
            read => return read,
        }
    }
}

//! The stream that `torch.save` wrote before version 1.6: pickles of a magic number, a version, facts about the system,
//! the object and the keys of its storages; then for each key the number of items (int64) and the items. Both are
//! little-endian on every machine.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use super::pickle::{Node, Pickle};
use super::walk::Found;
use super::{MAX_PICKLE, StoragePlace};
use crate::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use crate::memory;
use crate::storage::read_at::ReadAt;

/// 0x1950a86a20f9469cfc6c, as a pickle has it.
const MAGIC: [u8; 12] = *b"\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19";
const VERSION: i64 = 1001;
/// The bytes before the magic number: a version, and a length from version 4 on.
const BEFORE_MAGIC: usize = 11;

pub(super) fn is_legacy(begin: &[u8]) -> bool {
    let front = &begin[..begin.len().min(BEFORE_MAGIC + MAGIC.len())];
    begin.starts_with(b"\x80") && front.windows(MAGIC.len()).any(|bytes| bytes == MAGIC)
}

#[derive(Debug)]
pub(super) struct LegacyStorages(HashMap<String, Result<StoragePlace>>);

impl LegacyStorages {
    pub(super) fn read(file: &Arc<dyn ReadAt>, found: &mut Found) -> Result<Self> {
        let (len, mut at) = (file.size()?, 0);
        let mut next = |what: &str| {
            let pickle = pickle_at(&**file, at, len).with_context(|| what.to_owned())?;
            at += pickle.len as u64;
            Ok::<_, Error>((pickle, at))
        };
        next("magic number")?;
        let (version, _) = next("version")?;
        ensure!(*version.node(version.root) == Node::Int(VERSION), "a version that is not known, expected {VERSION}");
        next("system")?;
        let (object, _) = next("object")?;
        let (keys, at) = next("keys")?;
        found.add(&object, "")?;
        let mut itemsizes = HashMap::new();
        for id in (0..).take(object.nodes.len()) {
            if matches!(object.node(id), Node::Persistent(_))
                && let Ok(storage) = object.storage(id)
            {
                itemsizes.insert(storage.key, storage.itemsize);
            }
        }
        let Node::List(keys_in_order) = keys.node(keys.root) else { bail!("the keys of the storages are no list") };
        let (mut places, mut at) = (HashMap::with_capacity(keys_in_order.len()), at);
        for key in keys_in_order {
            let key = keys.key(*key).context("the key of a storage is no text")?;
            let place = place_of(&**file, at, len, itemsizes.get(&key).copied().flatten());
            // no later storage can be found
            let Ok(StoragePlace { at: begin, bytes, .. }) = place else {
                places.insert(key, place);
                break;
            };
            at = begin + bytes;
            places.insert(key, place);
        }
        Ok(Self(places))
    }

    pub(super) fn place(&self, storage: &str) -> Result<StoragePlace> {
        let place = self.0.get(storage);
        place.cloned().unwrap_or_else(|| Err(malformed!("its storage {storage:?} is missing")))
    }
}

fn place_of(file: &dyn ReadAt, at: u64, len: u64, itemsize: Option<usize>) -> Result<StoragePlace> {
    let itemsize = itemsize.context("the type of the items is not known")?;
    let mut count = [0; 8];
    let begin = at.checked_add(8).filter(|begin| *begin <= len).context("its storage is cut off")?;
    file.read_at(&mut count, at)?;
    let count = i64::from_le_bytes(count);
    let bytes = u64::try_from(count).ok().and_then(|count| count.checked_mul(itemsize as u64));
    let bytes = bytes.filter(|bytes| *bytes <= len - begin).with_context(|| {
        format!("its storage of {count} items at byte {at} ends beyond the {len} bytes of the file: it is cut off")
    })?;
    Ok(StoragePlace { at: begin, bytes, deflated: None })
}

/// The length of a pickle is known when it has been read, so it is read again with more bytes.
fn pickle_at(file: &dyn ReadAt, at: u64, len: u64) -> Result<Pickle> {
    let most = (len - at).min(MAX_PICKLE);
    let mut window = most.min(1 << 16);
    loop {
        let mut bytes = memory::zeros(window as usize)?;
        file.read_at(&mut bytes, at)?;
        match Pickle::read(bytes) {
            Err(error) if error.kind() == ErrorKind::Io(io::ErrorKind::UnexpectedEof) => {
                if window == most {
                    return Err(error.with_kind(ErrorKind::Malformed));
                }
                window = window.saturating_mul(4).min(most);
            }
            read => return read,
        }
    }
}

//! Items in another file.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::message::Message;
use super::wire::field;
use crate::container::content::StoredRange;
use crate::storage::platform::same_file;
use crate::storage::read_at::{Identity, ReadAt, ReopenedFile};
use crate::storage::requests::{RequestOptions, as_address};
use crate::storage::sidecar::{is_plain_name, join, lock_beside, open_beside};
use crate::storage::source::wrong_length;
use crate::storage::targets::target::{hashed_target, refuse_hashed};
use tensorop_kernels::error::{Context, Error, Result, bail, ensure};
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::item::python;
use tensorop_kernels::parallel::locked;

#[derive(Clone, Debug)]
pub(crate) struct Elsewhere {
    location: String,
    offset: u64,
    /// ONNX Runtime treats a missing length and 0 alike.
    length: Option<u64>,
}

impl Message {
    pub(crate) fn external(&self) -> Result<Option<Elsewhere>> {
        // protobuf omits default values
        match self.int32(field::DATA_LOCATION).unwrap_or(DEFAULT) {
            EXTERNAL => {}
            DEFAULT if self.count(field::EXTERNAL_DATA) == 0 => return Ok(None),
            DEFAULT => bail!("external_data, and a data_location that is not external"),
            other => bail!("data_location {other}, expected {DEFAULT} or {EXTERNAL}"),
        }
        let number = |key: &str| {
            let Some(text) = self.external_value(key)? else { return Ok(None) };
            // Rust would also parse a plus sign
            let number = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
            let number = number.with_context(|| format!("external_data: {key} {}", python::repr_str(text)))?;
            Ok::<_, Error>(Some(number))
        };
        let location = self.external_value("location")?.context("external_data has no location")?;
        Ok(Some(Elsewhere {
            location: without_dots(location).to_owned(),
            offset: number("offset")?.unwrap_or(0),
            length: number("length")?.filter(|length| *length > 0),
        }))
    }
}

/// Some writers prefix `./`.
fn without_dots(location: &str) -> &str {
    let mut rest = location;
    while let Some(after) = rest.strip_prefix("./") {
        rest = after.trim_start_matches('/');
    }
    rest
}

const DEFAULT: i32 = 0;
pub(crate) const EXTERNAL: i32 = 1;

/// Opens each other file once, when its items are wanted.
#[derive(Debug)]
pub(crate) struct ExternalFiles {
    folder: Option<PathBuf>,
    requests: RequestOptions,
    opened: Mutex<HashMap<String, Arc<dyn ReadAt>>>,
}

/// Files that stay open; an old exporter writes one for each tensor.
const MAX_OPEN: usize = 64;

impl ExternalFiles {
    pub(crate) fn new(folder: Option<&Path>, requests: RequestOptions) -> Self {
        Self { folder: folder.map(Path::to_owned), requests, opened: Mutex::default() }
    }

    /// Returns the file, and the offset of the items, of which there are `bytes` bytes.
    pub(crate) fn open(&self, items: &Elsewhere, bytes: u64, meta: &Meta) -> Result<(Arc<dyn ReadAt>, u64)> {
        let quoted = python::repr_str(&items.location);
        let Some(folder) = &self.folder else {
            bail!("the items are in another file, {quoted}, and there is no folder to find it in");
        };
        ensure!(is_inside(&items.location), "the items are in {quoted}, expected a file in the folder of this one");
        let mut opened = locked(&self.opened);
        let file = match opened.get(&items.location) {
            Some(file) => Arc::clone(file),
            None => {
                let file = self.file(folder, &items.location, opened.len() < MAX_OPEN)?;
                opened.insert(items.location.clone(), Arc::clone(&file));
                file
            }
        };
        drop(opened);
        let size = file.size()?;
        let rest = size.checked_sub(items.offset);
        let rest = rest
            .with_context(|| format!("the items begin at byte {} of {quoted}, which has {size} bytes", items.offset))?;
        let length = items.length.unwrap_or(bytes);
        ensure!(length <= rest, "{length} bytes of items in {quoted}, and {rest} bytes in that file");
        if length != bytes {
            bail!("{quoted}: {}", wrong_length(length, bytes, meta));
        }
        Ok((file, items.offset))
    }

    pub(crate) fn range(&self, items: &Elsewhere, bytes: u64, meta: &Meta) -> Result<StoredRange> {
        let (_, start) = self.open(items, bytes, meta)?;
        Ok(StoredRange { holder: Some(items.location.as_str().into()), bytes: start..start + bytes })
    }

    fn file(&self, folder: &Path, location: &str, stays_open: bool) -> Result<Arc<dyn ReadAt>> {
        let quoted = || format!("the items are in {}", python::repr_str(location));
        if as_address(folder).is_some() {
            return open_beside(&join(folder, location), self.requests).with_context(quoted);
        }
        let (path, found) = regular_file(folder, location)?;
        let file = File::open(&path).with_context(quoted)?;
        let is_same = same_file(&found, &file.metadata()?);
        ensure!(is_same, "{}, which changed while it was opened", quoted());
        Ok(match stays_open {
            true => Arc::new(file),
            false => Arc::new(ReopenedFile::new(&path, file.identity()?)),
        })
    }

    /// Opens the file of a tensor for changes in place, and locks it. `own` is the file of the model.
    pub(crate) fn lock(&self, items: &Elsewhere, own: Identity) -> Result<()> {
        let location = &items.location;
        let Some(folder) = self.folder.as_ref().filter(|folder| is_inside(location) && as_address(folder).is_none())
        else {
            return Ok(());
        };
        let quoted = || format!("the items are in {}", python::repr_str(location));
        refuse_hashed(&folder.join(location)).with_context(quoted)?;
        let (path, found) = regular_file(folder, location)?;
        let file = lock_beside(&path, own).with_context(quoted)?;
        let is_same = same_file(&found, &file.metadata()?);
        ensure!(is_same, "{}, which changed while it was opened", quoted());
        locked(&self.opened).insert(location.clone(), Arc::new(file));
        Ok(())
    }
}

/// The author of the name may be malicious, so the path has no `..`.
fn is_inside(location: &str) -> bool {
    location.split('/').all(is_plain_name)
}

/// The author may have made links, too. Only those to files named by their own hashes are followed, as download caches
/// link the files of a model.
fn regular_file(folder: &Path, location: &str) -> Result<(PathBuf, Metadata)> {
    let quoted = || format!("the items are in {}", python::repr_str(location));
    let mut path = folder.to_owned();
    let (folders, name) = location.rsplit_once('/').unwrap_or(("", location));
    for part in folders.split('/').filter(|part| !part.is_empty()) {
        path.push(part);
        let found = path.symlink_metadata().with_context(quoted)?;
        ensure!(found.is_dir(), "{}, expected folders, not links, before its name", quoted());
    }
    path.push(name);
    let path = hashed_target(&path).unwrap_or(path);
    let found = path.symlink_metadata().with_context(quoted)?;
    ensure!(found.is_file(), "{}, expected a regular file, not a link", quoted());
    Ok((path, found))
}

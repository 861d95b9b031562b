//! The archive: `NAME/data.pkl`, a file `NAME/data/KEY` for each storage, `NAME/byteorder`; of TorchScript also
//! `NAME/constants.pkl` with `NAME/constants/KEY`.

use std::collections::HashMap;
use std::sync::Arc;

use super::pickle::Pickle;
use super::walk::Found;
use super::{MAX_PICKLE, Storages};
use crate::error::{Context, Result, bail, ensure};
use crate::format::foreign;
use crate::format::npz::files::{ZipFiles, ZipPlace};
use crate::format::npz::is_npz;
use crate::storage::read_at::ReadAt;

/// Files beside the storages, of which one is the first of an archive.
const FILES: [&str; 8] = [
    "data.pkl",
    "constants.pkl",
    "version",
    "byteorder",
    ".format_version",
    ".storage_alignment",
    "serialization_id",
    EXPORTED,
];

/// The file of a `.pt2`, which may have the others, too.
const EXPORTED: &str = "archive_format";

/// Returns whether a ZIP archive that begins so has the files of PyTorch.
pub(super) fn names_torch(begin: &[u8]) -> bool {
    let mut rest = begin;
    while is_npz(rest) {
        let Some((record, after)) = rest.split_at_checked(30) else { return false };
        let number = |at: usize| usize::from(u16::from_le_bytes([record[at], record[at + 1]]));
        let (stored, name, extra) = (number(18) | number(20) << 16, number(26), number(28));
        let Some(name) = after.get(..name).and_then(|name| std::str::from_utf8(name).ok()) else { return false };
        if let Some((folder, file)) = name.rsplit_once('/').filter(|(_, file)| !file.is_empty()) {
            let is_key = file.bytes().all(|byte| byte.is_ascii_digit());
            return FILES.contains(&file) || is_key && (folder.ends_with("/data") || folder.ends_with("/constants"));
        }
        // the entry of a folder, as zip writes it
        let Some(next) = after.get(name.len() + extra + stored..).filter(|_| name.ends_with('/')) else { return false };
        rest = next;
    }
    false
}

#[derive(Debug)]
pub(super) struct ZippedStorages {
    files: ZipFiles,
    numbers: HashMap<String, usize>,
}

impl ZippedStorages {
    pub(super) fn read(file: &Arc<dyn ReadAt>, found: &mut Found) -> Result<Self> {
        let files = ZipFiles::read(Arc::clone(file))?;
        let numbers: HashMap<_, _> = files.paths().map(str::to_owned).zip(0..).collect();
        let pickle =
            files.paths().filter(|path| path.rsplit('/').next() == Some("data.pkl")).min_by_key(|path| path.len());
        let Some(root) = pickle.and_then(|path| path.strip_suffix("data.pkl")) else {
            ensure!(!numbers.keys().any(|path| path.ends_with(EXPORTED)), "{}", foreign::EXPORTED);
            bail!("a ZIP archive without data.pkl, which PyTorch needs");
        };
        let read = |name: &str| match numbers.get(&format!("{root}{name}")) {
            Some(n) => files.place(*n)?.read(file, MAX_PICKLE).map(Some),
            None => Ok(None),
        };
        // files without it were written by versions that knew no other order
        found.is_big_endian = match read("byteorder").context("byteorder")?.as_deref().map(<[u8]>::trim_ascii) {
            None | Some(b"little") => false,
            Some(b"big") => true,
            Some(_) => bail!("byteorder is neither little nor big"),
        };
        for (name, prefix) in [("data", ""), ("constants", "constants")] {
            let file_name = format!("{name}.pkl");
            let mut add = || match read(&file_name)? {
                Some(bytes) => found.add(&Pickle::read(bytes)?, prefix, &format!("{root}{name}/")),
                None => Ok(()),
            };
            add().with_context(|| file_name.clone())?;
        }
        Ok(Self { files, numbers })
    }
}

impl Storages for ZippedStorages {
    fn place(&self, storage: &str) -> Result<Option<ZipPlace>> {
        let place = self.numbers.get(storage).map(|n| self.files.place(*n)).transpose();
        place.with_context(|| storage.to_owned())
    }
}

//! The archive: `NAME/data.pkl`, a file `NAME/data/KEY` for each storage, `NAME/byteorder`; of TorchScript also
//! `NAME/constants.pkl` with `NAME/constants/KEY`.

use std::sync::Arc;

use super::MAX_PICKLE;
use super::pickle::Pickle;
use super::walk::Found;
use crate::error::{Context, Result, bail, ensure};
use crate::format::foreign;
use crate::format::npz::files::ZipFiles;
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

/// Adds the tensors to `found`, and returns the files.
pub(super) fn read(file: &Arc<dyn ReadAt>, found: &mut Found) -> Result<ZipFiles> {
    let files = ZipFiles::read(Arc::clone(file))?;
    let pickles = files.paths().filter(|path| path.rsplit('/').next() == Some("data.pkl"));
    let Some(root) = pickles.min_by_key(|path| path.len()).and_then(|path| path.strip_suffix("data.pkl")) else {
        ensure!(!files.paths().any(|path| path.ends_with(EXPORTED)), "{}", foreign::EXPORTED);
        bail!("a ZIP archive without data.pkl, which PyTorch needs");
    };
    let content = |name: &str| match files.find(&format!("{root}{name}"))? {
        Some(place) => place.read(file, MAX_PICKLE).map(Some),
        None => Ok(None),
    };
    // files without it were written by versions that knew no other order
    found.is_big_endian = match content("byteorder").context("byteorder")?.as_deref().map(<[u8]>::trim_ascii) {
        None | Some(b"little") => false,
        Some(b"big") => true,
        Some(_) => bail!("byteorder is neither little nor big"),
    };
    for (name, prefix) in [("data", ""), ("constants", "constants")] {
        let pickle = format!("{name}.pkl");
        let mut add = || match content(&pickle)? {
            Some(bytes) => found.add(&Pickle::read(bytes)?, prefix, &format!("{root}{name}/")),
            None => Ok(()),
        };
        add().with_context(|| pickle.clone())?;
    }
    Ok(files)
}

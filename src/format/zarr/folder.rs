//! Files in the folder of a store, which anybody may have filled with anything.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Context, Error, Result, bail, ensure, malformed};
use crate::memory;

/// Opens a regular file; `None` if there is nothing of that name.
///
/// # Errors
/// A folder or something else in its place; of opening.
pub(super) fn open(path: &Path) -> Result<Option<(File, u64)>> {
    // what is no file may not be opened: a pipe would wait for a writer
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => bail!("is a folder, expected a file"),
        Ok(found) if !found.is_file() => bail!("is no regular file"),
        Ok(_) => {}
        // whoever keeps large files elsewhere leaves links to what is not here yet: these are no items of the fill value
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::symlink_metadata(path) {
            Ok(_) => bail!("is a link to what is not there"),
            Err(_) => return Ok(None),
        },
        Err(error) => return Err(error.into()),
    }
    match File::open(path) {
        Ok(file) => {
            let len = file.metadata()?.len();
            Ok(Some((file, len)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// All of a file of at most so many bytes, if there is one.
///
/// # Errors
/// Those of [`open`]; a longer file; of reading.
pub(super) fn read(path: &Path, most: u64) -> Result<Option<Vec<u8>>> {
    let Some((file, len)) = open(path)? else { return Ok(None) };
    ensure!(len <= most, "{len} bytes, at most {most} are read");
    let mut bytes = memory::of(usize::try_from(len)? + 1).map_err(Error::memory)?;
    file.take(most + 1).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Reads a part of a file.
///
/// # Errors
/// Of reading; a file that ends before.
pub(super) fn read_part(file: &File, at: u64, bytes: usize) -> Result<Vec<u8>> {
    let len = file.metadata()?.len();
    let end = at.checked_add(bytes as u64).filter(|&end| end <= len);
    end.ok_or_else(|| malformed!("{len} bytes, and something is said to be at {at} of {bytes} bytes"))?;
    let mut out = memory::zeros(bytes).map_err(Error::memory)?;
    crate::storage::platform::read_at(file, &mut out, at).context("cannot be read")?;
    Ok(out)
}

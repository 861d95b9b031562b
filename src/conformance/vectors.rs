//! The program's own cases, which are a part of it: the files of `conformance/`, packed.
//!
//! `conformance/make.py` makes them with plain loops that share nothing with the kernels.

use std::io::Read;

use flate2::read::ZlibDecoder;

use crate::error::{Context, Result};

/// The cases of all files of `conformance/`, one after the other, each file a text of its own behind a NUL.
static PACKED: &[u8] = include_bytes!("../../conformance/vectors.zlib");

/// Returns the texts, each a list of cases as JSON.
///
/// # Errors
/// Not enough memory.
pub(crate) fn texts() -> Result<Vec<String>> {
    let mut all = String::new();
    ZlibDecoder::new(PACKED).read_to_string(&mut all).context("vectors")?;
    Ok(all.split('\0').filter(|text| !text.is_empty()).map(str::to_owned).collect())
}

//! The program's own cases: `conformance/`, packed. `conformance/make.py` computes them with plain loops, independently
//! of the kernels.

use std::io::Read;

use flate2::read::ZlibDecoder;

use crate::error::{Context, Result};

/// Each file is preceded by a NUL.
static PACKED: &[u8] = include_bytes!("../vectors.zlib");

/// Returns the cases that are built in.
///
/// # Errors
/// There is not enough memory.
pub fn texts() -> Result<Vec<String>> {
    let mut all = String::new();
    ZlibDecoder::new(PACKED).read_to_string(&mut all).context("vectors")?;
    Ok(all.split('\0').filter(|text| !text.is_empty()).map(str::to_owned).collect())
}

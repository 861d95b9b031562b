//! What must hold of any bytes taken for a Zarr store: refused in one line, or a tensor that reads back from what is
//! written of it.

use std::fs;

use tensorop::internal::opening::input::OpenOptions;
use tensorop::internal::opening::located::Located;
use tensorop::{Tensor, read, write};

use crate::checks::is_one_line;

/// More bytes than this are not read: a few bytes of metadata may stand for any number of items.
const MUCH: usize = 1 << 16;

/// What a reader says, which is one line.
fn refused<T>(result: tensorop::error::Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            is_one_line(&format!("{error}"));
            None
        }
    }
}

/// The metadata of an array, from the second byte to one of 0, and what comes after it as its first chunk. The first byte
/// tells the version: of an even one it is 3.
pub(crate) fn zarr(bytes: &[u8]) {
    let Some((version, rest)) = bytes.split_first() else { return };
    let mut parts = rest.splitn(2, |&byte| byte == 0);
    let (metadata, chunk) = (parts.next().unwrap_or_default(), parts.next());
    let folder = tempfile::tempdir().expect("a folder");
    let store = folder.path().join("s.zarr");
    fs::create_dir(&store).expect("a folder");
    let file = if version.is_multiple_of(2) { "zarr.json" } else { ".zarray" };
    fs::write(store.join(file), metadata).expect("written");
    // whatever names of chunks are asked for, the first chunk has one of these
    let rank = serde_json::from_slice::<serde_json::Value>(metadata)
        .ok()
        .and_then(|all| all.get("shape")?.as_array().map(Vec::len))
        .unwrap_or(2)
        .min(8);
    let zeros = vec!["0"; rank.max(1)];
    for key in [format!("c/{}", zeros.join("/")), zeros.join("."), zeros.join("/"), format!("c.{}", zeros.join("."))] {
        let path = store.join(&key);
        let Some(chunk) = chunk.filter(|_| !path.exists()) else { continue };
        // the names of one axis are in each other's way
        if path.parent().is_some_and(|parent| fs::create_dir_all(parent).is_ok()) {
            let _ = fs::write(path, chunk);
        }
    }
    let Some(input) = refused(OpenOptions::new("FILE").open(&Located::from_path(&store))) else { return };
    let Some(described) = refused(input.describe(0)) else { return };
    let Some(source) = refused(input.source(0)) else { return };
    assert_eq!((source.dtype(), source.shape()), (&described.meta.dtype, &described.meta.shape[..]));
    let chunk_bytes = source.as_chunks().map_or(0, |chunks| {
        chunks.style().unit.iter().fold(source.dtype().itemsize(), |bytes, &side| bytes.saturating_mul(side))
    });
    if source.bytes() > MUCH || chunk_bytes > MUCH {
        return;
    }
    let Some(tensor) = refused(read(&store)) else { return };
    assert_eq!(tensor.meta().bytes(), source.bytes());
    reads_back(&tensor, &folder.path().join("again.zarr"));
}

fn reads_back(tensor: &Tensor, path: &std::path::Path) {
    if refused(write(path, tensor)).is_some() {
        let again = read(path).expect("what was written is read");
        assert_eq!((again.dtype(), again.shape()), (&tensor.dtype().native(), tensor.shape()));
        assert!(tensor.dtype().is_big_endian() || again.bytes() == tensor.bytes(), "{tensor:?}, then {again:?}");
    }
}

/// The metadata and the first chunk of stores that other programs wrote, one or all of several shapes.
pub(crate) fn seeds() -> Vec<Vec<u8>> {
    let golden = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/zarr");
    let mut stores: Vec<_> =
        fs::read_dir(golden).expect("golden files").map(|entry| entry.expect("one").path()).collect();
    stores.sort();
    let seed = |store: &std::path::PathBuf| {
        let versions = [(2, "zarr.json"), (3, ".zarray")];
        let (version, text) = versions.iter().find_map(|(v, name)| Some((*v, fs::read(store.join(name)).ok()?)))?;
        let keys = ["c/0/0", "c/0/0/0", "c", "0.0", "0.0.0", "0/0", "c.0.0"];
        let chunk = keys.iter().find_map(|key| fs::read(store.join(key)).ok()).unwrap_or_default();
        (chunk.len() < MUCH).then(|| [&[version], &text[..], &[0], &chunk].concat())
    };
    stores.iter().filter_map(seed).collect()
}

/// What is put into metadata.
pub(crate) const TOKENS: &[&str] = &[
    "0",
    "-1",
    "1",
    "3",
    "255",
    "4294967296",
    "9223372036854775807",
    "18446744073709551616",
    "1e3",
    "null",
    "true",
    "[]",
    "[0]",
    "{}",
    "\"\"",
    "\"NaN\"",
    "\"0x7fc00001\"",
    "\"gzip\"",
    "\"zstd\"",
    "\"crc32c\"",
    "\"blosc\"",
    "\"transpose\"",
    "\"sharding_indexed\"",
    "{\"name\":\"crc32c\"}",
    "{\"name\":\"transpose\",\"configuration\":{\"order\":[1,0]}}",
    "\"int8\"",
    "\"complex128\"",
    "\"raw_bytes\"",
    "\"big\"",
    "\"|V3\"",
    "\">U2\"",
    "\"<M8[s]\"",
    "\"F\"",
    ",",
    ":",
    "\0",
];

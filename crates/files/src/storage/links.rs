//! Symbolic links.
//!
//! Model caches link to files that are named by the hash of their content: `snapshots/REVISION/model.safetensors` to
//! `blobs/HASH` in that of Hugging Face, and to `SHA256E-s1048576--HASH.npy` in git-annex. Several links may share a
//! file, so it must not change.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::stage::folder_of;
use crate::error::{Error, ErrorKind, Result};

/// Resolves links, also to a missing file. Returns `None` for a file descriptor, such as `/dev/stdout`.
pub(super) fn follow(name: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = name.to_owned();
    // Linux reports a loop after 40 links.
    for _ in 0..40 {
        if path.starts_with("/proc") {
            return Ok(None);
        }
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) if folder_of(&path) == Path::new("/dev/fd") => return Ok(None),
            Err(_) => return Ok(Some(path)),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Returns the file that a link leads to, if that file is named by its own hash. Who makes a malicious link can hardly
/// know the hash of a file of the user.
pub fn hashed_target(name: &Path) -> Option<PathBuf> {
    // Opening the file reports links that cannot be resolved.
    let path = follow(name).ok()??;
    let is_hashed = path.file_name().and_then(|own| own.to_str()).is_some_and(is_hash);
    (path != name && is_hashed).then_some(path)
}

/// Refuses a link to a file that is named by its own hash. The file may still be changed under that name.
pub fn refuse_hashed(name: &Path) -> Result<()> {
    let Some(path) = hashed_target(name) else { return Ok(()) };
    let path = path.display();
    let message = format!(
        "is a link to {path}, which is named by its own hash, as in a cache of models: write a copy under another name, or name \
         that file itself"
    );
    Err(Error::from_kind(ErrorKind::Unsupported, message))
}

/// A hash has 40 or 64 hexadecimal digits, or is a key of git-annex.
fn is_hash(name: &str) -> bool {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_key = |(head, rest): (&str, &str)| {
        let (backend, _) = head.split_once('-').unwrap_or((head, ""));
        let hash = rest.split('.').next().unwrap_or_default();
        let is_backend = backend.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
        is_backend && !backend.is_empty() && hash.len() >= 32 && is_hex(hash)
    };
    is_hex(name) && matches!(name.len(), 40 | 64) || name.split_once("--").is_some_and(is_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_hashes() {
        let hex = |count| "0123456789abcdef".repeat(count);
        let (short, git, long) = (hex(2), format!("{}01234567", hex(2)), hex(4));
        for name in [git.clone(), long.clone(), format!("SHA256E-s12--{long}.npy"), format!("MD5-s3--{short}")] {
            assert!(is_hash(&name), "{name}");
        }
        let others = [
            String::new(),
            short.clone(),
            format!("{long}.npy"),
            format!("{git}g"),
            "model.safetensors".to_owned(),
            format!("models--{short}"),
            "SHA256E-s12--abc.npy".to_owned(),
            format!("--{short}"),
        ];
        for name in others {
            assert!(!is_hash(&name), "{name}");
        }
    }
}

//! Symbolic links: where they lead, and those that lead to what nobody should change.
//!
//! A cache of models names a file by a hash of its content, and gives it its own name by a link: that of Hugging Face has
//! `snapshots/REVISION/model.safetensors`, which leads to `blobs/HASH`, and git-annex has links to `SHA256E-s1048576--HASH.npy`.
//! Several links may lead to one such file, and whoever has the hash believes that the content is what it says.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::stage::folder_of;
use crate::error::{Error, ErrorKind, Result};

/// Follows symbolic links, also to a file that does not exist yet. Returns `None` if they lead to a file by its descriptor,
/// as `/dev/stdout` and `/dev/fd/3` do.
pub(super) fn follow(name: &Path) -> io::Result<Option<PathBuf>> {
    let mut path = name.to_owned();
    // Linux follows as many links before it reports a loop.
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

/// Checks that a name is no link to a file that is named by its own hash. Who names that file itself may change it.
///
/// # Errors
/// It is such a link.
pub fn refuse_hashed(name: &Path) -> Result<()> {
    // what cannot be followed is told where it is opened
    let Ok(Some(path)) = follow(name) else { return Ok(()) };
    let is_hashed = path.file_name().and_then(|own| own.to_str()).is_some_and(is_hash);
    if path == name || !is_hashed {
        return Ok(());
    }
    let path = path.display();
    let message = format!(
        "is a link to {path}, which is named by its own hash, as in a cache of models: write a copy under another name, or name \
         that file itself"
    );
    Err(Error::from_kind(ErrorKind::Unsupported, message))
}

/// Returns whether the name of a file is the hash of its content: 40 or 64 hexadecimal digits, or a key of git-annex.
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

//! What every build knows of addresses: what one looks like, and how it is asked for. Whether it can be is the matter of
//! `remote`.

use std::path::Path;
use std::time::Duration;

/// The beginnings that make a text an address, whatever is on the disk.
const SCHEMES: [&str; 4] = ["http://", "https://", "s3://", "hf://"];

/// How servers are asked for what lies behind addresses. The default values suit most callers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestOptions {
    /// How long a server may take for its next byte: 30 seconds if `None`.
    pub timeout: Option<Duration>,
    /// Whether requests to buckets are not signed, although there is a key.
    pub unsigned: bool,
}

/// Returns the text of a path that is an address.
pub fn as_address(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let has = |scheme: &&str| text.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    SCHEMES.iter().any(has).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_an_address() {
        for text in ["http://h/x", "HTTPS://h", "s3://b/k", "hf://o/r/p"] {
            assert_eq!(as_address(Path::new(text)), Some(text));
        }
        for text in ["", "http:/h", "file:///x", "x/http://h", "s3:b", "é", "./http://h/x"] {
            assert_eq!(as_address(Path::new(text)), None, "{text}");
        }
    }
}

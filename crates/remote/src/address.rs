//! Addresses of objects on servers.

use std::fmt;

use url::{Position, Url};

use tensorop_kernels::error::{Result, ensure, malformed};

/// The address of an object. `Display` omits the user, the password and the query, because the query of a signed URL is
/// a key.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// `http://` or `https://`.
    Web(Url),
    /// `s3://BUCKET/KEY`.
    Bucket {
        /// The name of the bucket.
        bucket: String,
        /// Without escapes.
        key: String,
    },
    /// `hf://ORG/REPO[@REVISION]/PATH`, also after `datasets/` and `spaces/`.
    Hub {
        /// `models`, `datasets` or `spaces`.
        kind: &'static str,
        /// `ORG/REPO`.
        repository: String,
        /// A branch, a tag or a commit.
        revision: String,
        /// The path in the repository.
        path: String,
    },
}

impl Address {
    /// Parses an address.
    ///
    /// # Errors
    /// The text has no scheme, an unknown one, or lacks a part.
    pub fn parse(text: &str) -> Result<Self> {
        // Schemes are case-insensitive.
        let (scheme, rest) = text.split_once("://").ok_or_else(|| malformed!("no address"))?;
        match scheme.to_ascii_lowercase().as_str() {
            // The text may contain a password, so messages do not quote it.
            "http" | "https" => {
                // Otherwise the first part of the path would become the host.
                ensure!(!rest.starts_with(['/', '\\']), "invalid URL: empty host");
                let mut url = Url::parse(text).map_err(|error| malformed!("invalid URL: {error}"))?;
                url.set_fragment(None);
                Ok(Self::Web(url))
            }
            "s3" => {
                let (bucket, key) = rest.split_once('/').unwrap_or((rest, ""));
                ensure!(!bucket.is_empty(), "expected s3://BUCKET/KEY");
                // URLs normalize dots, so the key would lead elsewhere.
                let is_plain = key.split('/').all(|part| part != "." && part != "..");
                ensure!(is_plain, "a key cannot have . or .. in it");
                Ok(Self::Bucket { bucket: bucket.to_owned(), key: key.to_owned() })
            }
            "hf" => Self::parse_hub(rest),
            _ => Err(malformed!("not an address: expected http://, https://, s3:// or hf://")),
        }
    }

    fn parse_hub(rest: &str) -> Result<Self> {
        let kinds = [("datasets/", "datasets/"), ("spaces/", "spaces/"), ("models/", "")];
        let (kind, rest) =
            kinds.into_iter().find_map(|(prefix, kind)| Some((kind, rest.strip_prefix(prefix)?))).unwrap_or(("", rest));
        let mut parts = rest.splitn(3, '/');
        let (organisation, repository) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let (repository, revision) = repository.split_once('@').unwrap_or((repository, "main"));
        let path = parts.next().unwrap_or_default();
        let complete = ![organisation, repository, revision].contains(&"");
        ensure!(complete, "expected hf://ORG/REPO[@REVISION]/PATH");
        let is_plain =
            [organisation, repository].into_iter().chain(path.split('/')).all(|part| part != "." && part != "..");
        ensure!(is_plain, "a path cannot have . or .. in it");
        Ok(Self::Hub {
            kind,
            repository: format!("{organisation}/{repository}"),
            // Branch names encode a slash as %2F, as the Hub does.
            revision: revision.replace("%2F", "/").replace("%2f", "/"),
            path: path.to_owned(),
        })
    }

    /// Appends a name to the path. The query of a URL stays.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        let mut below = self.clone();
        match &mut below {
            Self::Web(url) => {
                if let Ok(mut segments) = url.path_segments_mut() {
                    segments.pop_if_empty().extend(name.split('/'));
                }
            }
            Self::Bucket { key: path, .. } | Self::Hub { path, .. } => {
                path.truncate(path.trim_end_matches('/').len());
                if !path.is_empty() {
                    path.push('/');
                }
                path.push_str(name);
            }
        }
        below
    }

    /// Removes the last name of the path.
    #[must_use]
    pub fn parent(&self) -> Self {
        let mut above = self.clone();
        match &mut above {
            Self::Web(url) => {
                if let Ok(mut segments) = url.path_segments_mut() {
                    segments.pop_if_empty().pop();
                }
            }
            Self::Bucket { key: path, .. } | Self::Hub { path, .. } => {
                path.truncate(path.trim_end_matches('/').rfind('/').unwrap_or(0));
            }
        }
        above
    }

    /// The address with its secrets, not for messages.
    pub fn text(&self) -> String {
        match self {
            Self::Web(url) => url.as_str().to_owned(),
            Self::Bucket { .. } | Self::Hub { .. } => self.to_string(),
        }
    }

    /// The text before the slash and name of objects beside this one, without this object's query.
    pub fn parent_text(&self) -> String {
        let mut parent = self.parent();
        if let Self::Web(url) = &mut parent {
            url.set_query(None);
        }
        parent.text().trim_end_matches('/').to_owned()
    }

    /// Returns the path on the server, the key in the bucket or the path in the repository.
    pub fn path(&self) -> &str {
        match self {
            Self::Web(url) => url.path(),
            Self::Bucket { key, .. } => key,
            Self::Hub { path, .. } => path,
        }
    }
}

/// The host, with the port if the URL has one, without secrets.
pub(crate) fn host(url: &Url) -> &str {
    &url[Position::BeforeHost..Position::AfterPort]
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Web(url) => write!(f, "{}://{}{}", url.scheme(), host(url), url.path()),
            Self::Bucket { bucket, key } => write!(f, "s3://{bucket}/{key}"),
            Self::Hub { kind, repository, revision, path } => {
                let at = if revision == "main" { String::new() } else { format!("@{}", revision.replace('/', "%2F")) };
                write!(f, "hf://{kind}{repository}{at}/{path}")
            }
        }
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_has_no_secrets() {
        let rows = [
            ("https://me:secret@host:8443/a%20b/x.npy?X-Amz-Signature=secret#f", "https://host:8443/a%20b/x.npy"),
            ("HTTP://Host/x", "http://host/x"),
            ("s3://bucket/a b/c:d.npy", "s3://bucket/a b/c:d.npy"),
            ("hf://org/repo/m.safetensors", "hf://org/repo/m.safetensors"),
            ("hf://models/org/repo@main/m.safetensors", "hf://org/repo/m.safetensors"),
            ("hf://datasets/org/repo@refs%2Fpr%2F1/a/b.npy", "hf://datasets/org/repo@refs%2Fpr%2F1/a/b.npy"),
        ];
        for (text, shown) in rows {
            let address = Address::parse(text).expect(text);
            assert_eq!(address.to_string(), shown);
            assert_eq!(format!("{address:?}"), shown);
        }
    }

    #[test]
    fn what_is_no_address() {
        for text in [
            "",
            "x",
            "file:///etc/passwd",
            "ftp://h/x",
            "http://",
            "http:///x.npy",
            "HTTPS://\\h",
            "s3://",
            "s3:///key",
            "s3://b/../c",
        ] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
        for text in ["hf://org", "hf://org/", "hf:///repo/x", "hf://org/repo@/x", "hf://../api/x", "hf://org/repo/../x"]
        {
            assert!(Address::parse(text).is_err(), "{text}");
        }
        let error = Address::parse("http://me:secret@:99999999/").expect_err("no URL");
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn names_below_and_above() {
        let rows = [
            ("https://h/a/x.zarr?key=1", "https://h/a/x.zarr/c/0/1", "https://h/a"),
            ("https://h/a/x.zarr/", "https://h/a/x.zarr/c/0/1", "https://h/a"),
            ("s3://b/a/x.zarr", "s3://b/a/x.zarr/c/0/1", "s3://b/a"),
            ("s3://b", "s3://b/c/0/1", "s3://b/"),
            ("hf://o/r/x", "hf://o/r/x/c/0/1", "hf://o/r/"),
        ];
        for (text, below, above) in rows {
            let address = Address::parse(text).expect(text);
            assert_eq!(address.join("c/0/1").to_string(), below);
            assert_eq!(address.parent().to_string(), above);
        }
        let Address::Web(url) = Address::parse("https://h/x?key=1").expect("an address").join("y") else { panic!() };
        assert_eq!(url.as_str(), "https://h/x/y?key=1");
    }
}

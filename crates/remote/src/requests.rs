//! Addresses and requests, as far as builds without a client know them.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tensorop_kernels::parallel::locked;

/// Paths with these prefixes are addresses, even if such files exist.
const SCHEMES: [&str; 4] = ["http://", "https://", "s3://", "hf://"];

/// Options of requests to servers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestOptions {
    /// The maximum wait for the next byte; 30 seconds if `None`.
    pub timeout: Option<Duration>,
    /// Whether requests to buckets are never signed.
    pub unsigned: bool,
}

/// Returns the text of a path that is an address.
pub fn as_address(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    let has = |scheme: &&str| text.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
    SCHEMES.iter().any(has).then_some(text)
}

/// Returns whether a path looks like a mistyped address: an unknown scheme, or missing slashes.
pub fn may_be_meant_as_address(path: &Path) -> bool {
    let Some((scheme, rest)) = path.to_str().and_then(|text| text.split_once(':')) else { return false };
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let is_known = || SCHEMES.iter().any(|known| known.trim_end_matches("://").eq_ignore_ascii_case(scheme));
    as_address(path).is_none() && (is_scheme && rest.starts_with("//") || is_known())
}

/// A part of an object of unknown size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// So many bytes from the start.
    First(u64),
    /// So many bytes before the end.
    Last(u64),
}

/// An event of a request.
#[derive(Clone, Copy, Debug)]
pub enum RequestEvent<'a> {
    /// So many bytes came.
    Came(usize),
    /// A request is about to be repeated.
    AskedAgain(&'a AskedAgain<'a>),
}

/// A failed request that is repeated.
#[derive(Clone, Copy, Debug)]
pub struct AskedAgain<'a> {
    /// The number of the coming try.
    pub number: u32,
    /// The most tries.
    pub most: u32,
    /// Contains no secrets.
    pub why: &'a str,
    /// The server.
    pub host: &'a str,
}

impl fmt::Display for AskedAgain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { number, most, why, host } = self;
        write!(f, "asking again ({number} of {most}): {why}")?;
        let is_status = why.split(' ').next().is_some_and(|word| word.len() == 3 && word.parse::<u16>().is_ok());
        match host {
            _ if is_status => write!(f, " from {host}"),
            // The reason of a failed connection begins with its host.
            host if why.starts_with(host) => Ok(()),
            host => write!(f, " ({host})"),
        }
    }
}

type Told = dyn Fn(RequestEvent<'_>) + Send + Sync;

/// Global, because any thread makes requests, far below the code that shows progress.
static WATCHES: Mutex<Vec<Arc<Told>>> = Mutex::new(Vec::new());

/// Reports events until it is dropped.
#[must_use]
pub struct Watch(Arc<Told>);

impl Watch {
    /// Begins to report.
    pub fn begin(told: impl Fn(RequestEvent<'_>) + Send + Sync + 'static) -> Self {
        let told: Arc<Told> = Arc::new(told);
        locked(&WATCHES).push(Arc::clone(&told));
        Self(told)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        locked(&WATCHES).retain(|other| !Arc::ptr_eq(other, &self.0));
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Watch")
    }
}

/// Reports an event to all watches.
pub fn tell(event: RequestEvent<'_>) {
    let watches = locked(&WATCHES).clone();
    watches.iter().for_each(|told| told(event));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_meant_as_an_address() {
        for text in ["htp://h/x", "file:///x", "gs://b/k", "s3:b/k", "S3:/b/k", "http:/h"] {
            assert!(may_be_meant_as_address(Path::new(text)), "{text}");
        }
        for text in ["", "x", "http://h", "x.npz:a", "a/b://c", "://x", "C:\\x", "./s3:b"] {
            assert!(!may_be_meant_as_address(Path::new(text)), "{text}");
        }
    }

    #[test]
    fn what_looks_like_an_address() {
        for text in ["http://h/x", "HTTPS://h", "s3://b/k", "hf://o/r/p"] {
            assert_eq!(as_address(Path::new(text)), Some(text));
        }
        for text in ["", "http:/h", "file:///x", "x/http://h", "s3:b", "é", "./http://h/x"] {
            assert_eq!(as_address(Path::new(text)), None, "{text}");
        }
    }

    #[test]
    fn what_comes_is_told_until_nobody_asks() {
        let sum = Arc::new(Mutex::new(0));
        let told = Arc::clone(&sum);
        let watch = Watch::begin(move |event| match event {
            RequestEvent::Came(bytes) => *locked(&told) += bytes,
            RequestEvent::AskedAgain(again) => *locked(&told) += again.number as usize,
        });
        tell(RequestEvent::Came(1 << 40));
        tell(RequestEvent::AskedAgain(&AskedAgain { number: 2, most: 6, why: "503 Of a test", host: "h" }));
        drop(watch);
        tell(RequestEvent::Came(2));
        // Other tests may make requests at the same time.
        assert!(*locked(&sum) >= (1 << 40) + 2 && Arc::strong_count(&sum) == 1);
    }

    #[test]
    fn what_is_said_of_a_request_that_is_made_again() {
        let rows = [
            ("503 Service Unavailable", "h:81", "asking again (2 of 6): 503 Service Unavailable from h:81"),
            ("429", "h", "asking again (2 of 6): 429 from h"),
            ("the answer broke off", "h", "asking again (2 of 6): the answer broke off (h)"),
            (
                "127.0.0.1:9: the answer broke off",
                "127.0.0.1:9",
                "asking again (2 of 6): 127.0.0.1:9: the answer broke off",
            ),
        ];
        for (why, host, expected) in rows {
            assert_eq!(AskedAgain { number: 2, most: 6, why, host }.to_string(), expected);
        }
    }
}

//! Answers of servers: the range of a body, the version of an object, and errors.

use std::io::{self, Read};
use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimeParser;
use sha2::{Digest, Sha256};
use ureq::http::{HeaderMap, StatusCode, header};
use ureq::{Body, Timeout};
use url::Url;

use crate::address::{Address, host};
use tensorop_kernels::error::{Advice, Error, ErrorKind, Result, malformed};

/// The S3 header for the mark.
pub(crate) const MARK: header::HeaderName = header::HeaderName::from_static("x-amz-meta-tensorop");

pub(crate) type Response = ureq::http::Response<Body>;

#[derive(Debug)]
pub enum RequestFailure {
    /// A retry may succeed, after the delay that the server may have given.
    Passing(Error, Option<Duration>),
    /// A retry would fail again.
    Lasting(Error),
}

impl RequestFailure {
    fn passing(kind: io::ErrorKind, message: impl Into<String>) -> Self {
        Self::Passing(Error::from_kind(ErrorKind::Io(kind), message), None)
    }

    fn lasting(kind: io::ErrorKind, message: impl Into<String>) -> Self {
        Self::Lasting(Error::from_kind(ErrorKind::Io(kind), message))
    }

    /// For addresses that do not name the server.
    pub fn with_server(self, url: &Url) -> Self {
        let named = |error: Error| Error::from_kind(error.kind(), format!("{}: {}", host(url), error.message()));
        match self {
            Self::Passing(error, after) => Self::Passing(named(error), after),
            Self::Lasting(error) => Self::Lasting(named(error)),
        }
    }
}

impl From<Error> for RequestFailure {
    fn from(error: Error) -> Self {
        Self::Lasting(error)
    }
}

/// The version of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The bytes of the object.
    pub size: u64,
    tag: Option<String>,
    modified: Option<String>,
    /// The mark of the object, which does not depend on its bytes.
    pub mark: Option<String>,
}

impl Version {
    pub(crate) fn of(headers: &HeaderMap, size: u64) -> Self {
        let [tag, modified, mark] =
            [header::ETAG, header::LAST_MODIFIED, MARK].map(|name| text(headers, name).map(str::to_owned));
        Self { size, tag, modified, mark }
    }

    /// Weak tags never match in a comparison by the server.
    pub(crate) fn strong_tag(&self) -> Option<&str> {
        self.tag.as_deref().filter(|tag| tag.starts_with('"'))
    }

    /// The tag without `W/`, which proxies may add.
    fn plain_tag(&self) -> Option<&str> {
        self.tag.as_deref().map(|tag| tag.trim_start_matches("W/"))
    }

    pub(crate) fn check(&self, other: &Self) -> Result<()> {
        let is_same = self.size == other.size
            && match (self.plain_tag(), other.plain_tag()) {
                (Some(own), Some(other)) => own == other,
                _ => self.modified.is_none() || other.modified.is_none() || self.modified == other.modified,
            };
        if is_same { Ok(()) } else { Err(changed()) }
    }

    /// A hash that differs between versions.
    pub fn digest(&self) -> [u64; 2] {
        let told = self.plain_tag().or(self.modified.as_deref()).unwrap_or_default();
        digest(&format!("{} {told}", self.size))
    }

    /// Contains no secrets.
    pub fn text(&self) -> String {
        let [one, two] = self.digest();
        format!("{} bytes, version {one:016x}{two:016x}", self.size)
    }
}

/// The error for an object that has another version now.
pub fn changed() -> Error {
    Error::from_kind(ErrorKind::Changed, "changed while it was read")
}

/// A hash that does not reveal the text, which may be secret.
pub fn digest(text: &str) -> [u64; 2] {
    let hash = Sha256::digest(text.as_bytes());
    let (words, _) = hash.as_chunks::<8>();
    [words[0], words[1]].map(u64::from_le_bytes)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContentRange {
    pub first: u64,
    pub end: u64,
    pub size: u64,
}

impl ContentRange {
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self> {
        let found = text(headers, header::CONTENT_RANGE);
        let parse = |text: &str| {
            let (range, size) = text.strip_prefix("bytes ")?.split_once('/')?;
            let (first, last) = range.split_once('-')?;
            let (first, end, size) =
                (first.parse().ok()?, last.parse::<u64>().ok()?.checked_add(1)?, size.parse().ok()?);
            (first < end && end <= size).then_some(Self { first, end, size })
        };
        found.and_then(parse).ok_or_else(|| match found {
            Some(found) => malformed!("answers with an invalid part {:?}", excerpt(found)),
            None => malformed!("answers with a part, and does not say which"),
        })
    }
}

/// The size of an object that is shorter than the requested range.
pub(crate) fn size_of_unsatisfied(headers: &HeaderMap) -> Option<u64> {
    text(headers, header::CONTENT_RANGE)?.strip_prefix("bytes */")?.parse().ok()
}

/// Returns the length, if known. Fails for compressed bodies.
pub(crate) fn plain_length(headers: &HeaderMap) -> Result<Option<u64>> {
    let names = headers.get_all(header::CONTENT_ENCODING).iter().map(|value| value.to_str().unwrap_or("?"));
    if let Some(name) = names.map(str::trim).find(|name| !name.is_empty() && !name.eq_ignore_ascii_case("identity")) {
        return Err(malformed!("the bytes come encoded as {:?}, which was not requested", excerpt(name)));
    }
    let parse = |text: &str| text.parse().map_err(|_| malformed!("answers with the length {:?}", excerpt(text)));
    text(headers, header::CONTENT_LENGTH).map(parse).transpose()
}

pub(crate) fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

/// Limits a server's text to 60 characters, without control characters.
fn excerpt(text: &str) -> String {
    text.chars().take(60).map(|c| if c.is_control() { '?' } else { c }).collect()
}

pub(crate) fn refusal(response: Response, address: &Address, is_signed: bool) -> RequestFailure {
    let (status, headers) = (response.status(), response.headers().clone());
    let code = error_code(response.into_body());
    let reason = status.canonical_reason().map(|reason| format!(" {reason}")).unwrap_or_default();
    let code = code.map(|code| format!(" ({code})")).unwrap_or_default();
    let message = format!("{}{reason}{code}", status.as_u16());
    let denied = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    let kind = match status {
        _ if denied => io::ErrorKind::PermissionDenied,
        StatusCode::NOT_FOUND => io::ErrorKind::NotFound,
        _ => io::ErrorKind::Other,
    };
    let note = match address {
        Address::Bucket { .. } if denied && is_signed => ": the credentials that were given do not allow it",
        Address::Bucket { .. } if denied => ": no credentials were given; AWS_ACCESS_KEY_ID",
        Address::Hub { .. } if denied && is_signed => ": HF_TOKEN does not allow it",
        Address::Hub { .. } if denied => ": no token was given; HF_TOKEN",
        _ => "",
    };
    let error = Error::from_kind(ErrorKind::Io(kind), message + note);
    let error = match address {
        Address::Bucket { .. } if denied && is_signed => error.advising(Advice::AskUnsigned),
        _ => error,
    };
    let passing = status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT);
    if passing {
        RequestFailure::Passing(error, retry_after(&headers, Timestamp::now()))
    } else {
        RequestFailure::Lasting(error)
    }
}

/// Parses `Retry-After`, in seconds or as a date. A date is relative to the `Date` of the answer, because clocks
/// differ.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text_of_wait = text(headers, header::RETRY_AFTER)?;
    if let Ok(seconds) = text_of_wait.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let begin = text(headers, header::DATE).and_then(date).unwrap_or(now);
    Some(date(text_of_wait)?.duration_since(begin).try_into().unwrap_or_default())
}

/// Parses dates such as `Sun, 06 Nov 1994 08:49:37 GMT`. The day of the week is not checked, and the two forms from
/// before 1994 are not supported.
fn date(text: &str) -> Option<Timestamp> {
    DateTimeParser::new().relaxed_weekday(true).parse_timestamp(text).ok()
}

fn error_code(body: Body) -> Option<String> {
    let mut begin = Vec::new();
    body.into_reader().take(4096).read_to_end(&mut begin).ok()?;
    let text = String::from_utf8_lossy(&begin);
    let code = text.split_once("<Code>")?.1.split_once("</Code>")?.0;
    (code.len() < 60 && code.bytes().all(|byte| byte.is_ascii_alphanumeric())).then(|| code.to_owned())
}

pub(crate) fn broken(error: ureq::Error, timeout: Duration) -> RequestFailure {
    use io::ErrorKind as Kind;
    match error {
        ureq::Error::Timeout(of) => {
            let is_connecting = matches!(of, Timeout::Resolve | Timeout::Connect);
            let lacking = if is_connecting { "no connection" } else { "no data" };
            RequestFailure::passing(Kind::TimedOut, format!("{lacking} in {} seconds", timeout.as_secs_f64()))
        }
        ureq::Error::HostNotFound => unknown_host(),
        ureq::Error::Io(error) => from_connection(error),
        ureq::Error::Rustls(error) => insecure(Kind::Other, &error.to_string()),
        ureq::Error::Tls(error) => RequestFailure::lasting(Kind::Other, format!("no secure connection: {error}")),
        ureq::Error::BodyStalled => RequestFailure::passing(Kind::UnexpectedEof, "the answer broke off"),
        // The proxy's URL may contain a password.
        ureq::Error::InvalidProxyUrl => RequestFailure::lasting(Kind::Other, "the address of the proxy is not a URL"),
        ureq::Error::ConnectProxyFailed(_) => RequestFailure::passing(Kind::Other, "the proxy refused the connection"),
        ureq::Error::ConnectionFailed => RequestFailure::passing(Kind::Other, "no connection"),
        ureq::Error::LargeResponseHeader(..) => {
            RequestFailure::lasting(Kind::Other, "the headers of the answer are too long")
        }
        ureq::Error::Protocol(error) => {
            RequestFailure::passing(Kind::Other, format!("invalid answer: {}", excerpt(&error.to_string())))
        }
        // The other errors do not occur here, or may quote the request.
        _ => RequestFailure::passing(Kind::Other, "the request failed"),
    }
}

fn unknown_host() -> RequestFailure {
    RequestFailure::lasting(io::ErrorKind::NotFound, "the host is not known")
}

fn insecure(kind: io::ErrorKind, told: &str) -> RequestFailure {
    let message = match told {
        _ if told.contains("InvalidContentType") => {
            "the server has no secure connection at this port; try http://".to_owned()
        }
        _ if told.contains("certificate") => {
            format!("no secure connection: {told}; set SSL_CERT_FILE for your own certificates")
        }
        _ => format!("no secure connection: {told}"),
    };
    RequestFailure::lasting(kind, message)
}

fn from_connection(error: io::Error) -> RequestFailure {
    use io::ErrorKind as Kind;
    let kind = error.kind();
    // TLS reports alerts and bad certificates as errors of reading.
    if kind == Kind::InvalidData {
        return insecure(kind, &error.to_string());
    }
    // The standard library has no error kind for unknown hosts, so the message decides.
    let text = error.to_string();
    if let Some(told) = text.strip_prefix("failed to lookup address information: ") {
        return match told.contains("emporary") {
            true => RequestFailure::passing(kind, format!("the host is not found: {told}")),
            false => unknown_host(),
        };
    }
    let message = match kind {
        Kind::UnexpectedEof => "the answer broke off".to_owned(),
        Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe => "the connection was reset".to_owned(),
        Kind::ConnectionRefused => "the connection was refused".to_owned(),
        _ => text,
    };
    let lasting =
        matches!(kind, Kind::ConnectionRefused | Kind::HostUnreachable | Kind::NetworkUnreachable | Kind::NotFound);
    if lasting { RequestFailure::lasting(kind, message) } else { RequestFailure::passing(kind, message) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(rows: &[(header::HeaderName, &str)]) -> HeaderMap {
        rows.iter().map(|(name, value)| (name.clone(), value.parse().expect("a header"))).collect()
    }

    #[test]
    fn parts() {
        let part = |text: &str| ContentRange::of(&headers(&[(header::CONTENT_RANGE, text)]));
        assert_eq!(part("bytes 0-9/10").expect("a part"), ContentRange { first: 0, end: 10, size: 10 });
        let greatest = format!("bytes 0-{}/{}", u64::MAX - 1, u64::MAX);
        assert_eq!(part(&greatest).expect("a part").end, u64::MAX);
        let overflow = format!("bytes 0-{0}/{0}", u64::MAX);
        for text in ["", "bytes 0-9/*", "bytes 5-4/10", "bytes 0-10/10", "items 0-9/10", "bytes -9/10", &overflow] {
            assert!(part(text).is_err(), "{text}");
        }
        assert!(ContentRange::of(&HeaderMap::new()).is_err());
    }

    #[test]
    fn waits_that_servers_ask_for() {
        let now = Timestamp::from_second(784_111_777).expect("a date");
        let rows = [
            ("7", "", Some(7)),
            ("18446744073709551615", "", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:50:00 GMT", "", Some(23)),
            ("Sun, 06 Nov 1994 08:49:00 GMT", "", Some(0)),
            // the server's clock is 20 seconds ahead
            ("Sun, 06 Nov 1994 08:50:00 GMT", "Sun, 06 Nov 1994 08:49:57 GMT", Some(3)),
            ("Sun, 06 Nov 1994 08:50:00 GMT", "yesterday", Some(23)),
            ("-1", "", None),
            ("1.5", "", None),
            ("soon", "", None),
            ("", "", None),
        ];
        for (after, date, seconds) in rows {
            let given = [(header::RETRY_AFTER, after), (header::DATE, date)];
            let given: Vec<_> = given.into_iter().filter(|(_, value)| !value.is_empty()).collect();
            assert_eq!(retry_after(&headers(&given), now), seconds.map(Duration::from_secs), "{after} {date}");
        }
    }

    #[test]
    fn dates() {
        let rows = [
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Mon, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Thu, 29 Feb 2024 23:59:59 GMT", Some(1_709_251_199)),
            ("Sun, 29 Feb 2026 00:00:00 GMT", None),
            ("Sun, 06 Nov 1994 24:00:00 GMT", None),
            // zones that RFC 2822 does not name count as GMT
            ("Sun, 06 Nov 1994 08:49:37 CET", Some(784_111_777)),
            ("Sun, 06 Nov 1994 08:49:37", None),
            ("Sun, 06 Nov -994 08:49:37 GMT", None),
            ("Sunday, 06-Nov-94 08:49:37 GMT", None),
            ("Sun Nov  6 08:49:37 1994", None),
            ("120", None),
            ("", None),
        ];
        for (text, seconds) in rows {
            assert_eq!(date(text).map(Timestamp::as_second), seconds, "{text}");
        }
    }

    #[test]
    fn connections_that_fail() {
        let lookup = |told: &str| io::Error::other(format!("failed to lookup address information: {told}"));
        let rows = [
            (lookup("Name or service not known"), "the host is not known", true),
            (lookup("nodename nor servname provided, or not known"), "the host is not known", true),
            (lookup("Temporary failure in name resolution"), "Temporary failure in name resolution", false),
            (io::ErrorKind::ConnectionRefused.into(), "the connection was refused", true),
            (io::ErrorKind::ConnectionReset.into(), "the connection was reset", false),
            (
                io::Error::new(io::ErrorKind::InvalidData, "invalid peer certificate: UnknownIssuer"),
                "set SSL_CERT_FILE for your own certificates",
                true,
            ),
            (io::Error::new(io::ErrorKind::InvalidData, "corrupt: InvalidContentType"), "try http://", true),
        ];
        let server = Url::parse("https://me:secret@host:8443/x?key=secret").expect("a URL");
        for (error, told, is_lasting) in rows {
            let (error, lasting) = match from_connection(error).with_server(&server) {
                RequestFailure::Lasting(error) => (error, true),
                RequestFailure::Passing(error, _) => (error, false),
            };
            let text = error.to_string();
            assert!(text.starts_with("host:8443: ") && text.ends_with(told) && lasting == is_lasting, "{text}");
        }
    }

    #[test]
    fn versions() {
        let version = |tag: &str, modified: &str| {
            let rows = [(header::ETAG, tag), (header::LAST_MODIFIED, modified)];
            let given: Vec<_> = rows.into_iter().filter(|(_, value)| !value.is_empty()).collect();
            Version::of(&headers(&given), 5)
        };
        let rows = [
            (version("\"a\"", "x"), version("\"a\"", "y"), true),
            (version("\"a\"", ""), version("W/\"a\"", ""), true),
            (version("\"a\"", "x"), version("\"b\"", "x"), false),
            (version("", "x"), version("", "y"), false),
            (version("", "x"), version("", ""), true),
            (version("", ""), Version { size: 6, tag: None, modified: None, mark: None }, false),
        ];
        for (a, b, same) in rows {
            assert_eq!(a.check(&b).is_ok(), same, "{a:?} {b:?}");
        }
        assert_eq!(version("W/\"a\"", "").strong_tag(), None);
        assert_ne!(version("\"a\"", "").digest(), version("\"b\"", "").digest());
    }
}

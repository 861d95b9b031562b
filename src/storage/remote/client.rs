//! Asks servers for objects: [`Client`].

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use rusty_s3::actions::ListObjectsV2;
use rusty_s3::{Bucket, S3Action, UrlStyle};
use ureq::http::{Method, Request, StatusCode, header};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Proxy};
use url::Url;

use super::address::Address;
use super::answer::{self, ContentRange, Failure, Response, Version};
use super::credentials::{BucketAccess, HubAccess};
use crate::error::{Context, Error, ErrorKind, Result, bail, ensure, malformed};
use crate::memory;
use crate::parallel::{locked, wait};
use crate::storage::platform::unnamed_file;
use crate::storage::read_at::{MemoryBytes, Part, ReadAt};
use crate::storage::requests::RequestOptions;
use crate::storage::source::fill_from;

/// How long a server may take for its next byte, unless another time is given.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How often a request that failed is made again.
const RETRIES: u32 = 5;

/// The pause before a request is made again for the first time; every other one is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The most addresses to which one request is sent on.
const REDIRECTS: usize = 10;

/// How long the signature of a request is valid, which is made anew for each.
const SIGNED_FOR: Duration = Duration::from_secs(900);

/// The most bytes of an object that are taken from a server that gives whole objects only.
const MOST_WHOLE: u64 = 1 << 28;

/// The most of these that are kept in memory; others are kept in a file without a name.
const MOST_IN_MEMORY: u64 = 1 << 24;

/// The most bytes of an answer that is no object: a list of names.
const MOST_LIST: u64 = 1 << 24;

/// What asks servers for objects. It is shared by all threads of a run, and keeps connections open.
pub struct Client {
    plain: Agent,
    secure: Agent,
    timeout: Duration,
    unsigned: bool,
    buckets: OnceLock<Result<BucketAccess>>,
    hub: OnceLock<Result<HubAccess>>,
    /// The regions of buckets that do not lie in the usual one.
    regions: Mutex<HashMap<String, String>>,
    /// Where objects lie to which another address leads: a server that sends every request on would double their number.
    targets: Mutex<HashMap<String, Url>>,
}

/// A condition for a value to be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// There is none: what is there is replaced.
    None,
    /// There is no object of that name yet.
    Absent,
}

/// What is known of an object without its bytes.
#[derive(Clone, Debug)]
pub struct Facts {
    pub(super) version: Version,
    /// The mark that it was put with.
    pub(super) mark: Option<String>,
}

impl Facts {
    /// Reads what the headers of an answer tell of an object of `size` bytes.
    fn of(headers: &header::HeaderMap, size: u64) -> Self {
        let mark = answer::text(headers, MARK).map(str::to_owned);
        Self { version: Version::of(headers, size), mark }
    }

    /// Returns the size in bytes.
    pub fn size(&self) -> u64 {
        self.version.size
    }

    /// Returns the version as a short text, from which nothing secret can be found.
    pub fn text(&self) -> String {
        let [one, two] = self.version.digest();
        format!("{} bytes, version {one:016x}{two:016x}", self.version.size)
    }

    /// Returns the version.
    pub fn stamp(&self) -> crate::storage::read_at::Stamp {
        self.version.stamp()
    }
}

/// The header by which an object is put with a mark, and told of it: a text of the user's, in the words of S3.
const MARK: header::HeaderName = header::HeaderName::from_static("x-amz-meta-tensorop");

/// What lies below a prefix in a bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub objects: Vec<ListedObject>,
    /// The names that are prefixes of objects themselves, as folders are, without a slash; none if all are listed.
    pub prefixes: Vec<String>,
    /// Whether there is no more than what is here.
    pub is_whole: bool,
}

/// An object in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedObject {
    /// Its name from behind the prefix and its slash on.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
}

/// Which names below a prefix are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// Those of all objects.
    All,
    /// Those of some objects, if there are any: as many as the server gives at once.
    Some,
    /// Those up to the next slash, as a folder is listed.
    Folder,
}

/// The first answer about an object.
pub(super) struct Begun {
    pub version: Version,
    /// The byte that the part begins at.
    pub at: u64,
    /// The part.
    pub bytes: Vec<u8>,
    /// All bytes, if the server gives no parts.
    pub whole: Option<Arc<dyn ReadAt>>,
}

/// One request, as it is made again and again until there is an answer.
struct Ask<'a> {
    method: Method,
    address: &'a Address,
    headers: Vec<(header::HeaderName, String)>,
    body: &'a [u8],
    /// What a list of names is to begin with, and from where on it goes on.
    list: Option<(String, bool, Option<String>)>,
}

impl<'a> Ask<'a> {
    fn new(method: Method, address: &'a Address) -> Self {
        Self { method, address, headers: Vec::new(), body: &[], list: None }
    }

    fn with(mut self, name: header::HeaderName, value: String) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Returns whether it changes nothing and asks for an object.
    fn reads(&self) -> bool {
        self.list.is_none() && matches!(self.method, Method::GET | Method::HEAD)
    }
}

/// Where a request goes.
struct Target {
    url: Url,
    token: Option<String>,
    is_signed: bool,
}

impl Client {
    /// Returns the client of this process for these options.
    ///
    /// # Errors
    /// Certificates or a proxy that the environment names are none.
    pub fn shared(options: RequestOptions) -> Result<Arc<Self>> {
        static CLIENTS: Mutex<Vec<(RequestOptions, Arc<Client>)>> = Mutex::new(Vec::new());
        let mut clients = locked(&CLIENTS);
        if let Some((_, client)) = clients.iter().find(|(other, _)| *other == options) {
            return Ok(Arc::clone(client));
        }
        let client = Arc::new(Self::new(options)?);
        clients.push((options, Arc::clone(&client)));
        Ok(client)
    }

    fn new(options: RequestOptions) -> Result<Self> {
        let timeout = options.timeout.unwrap_or(TIMEOUT);
        let certificates = certificates()?;
        let agent = |scheme| -> Result<Agent> {
            let tls = TlsConfig::builder().root_certs(certificates.clone()).build();
            let config = Agent::config_builder()
                .http_status_as_error(false)
                .max_redirects(0)
                .max_redirects_will_error(false)
                .proxy(proxy(scheme)?)
                .tls_config(tls)
                .user_agent(concat!("tensorop/", env!("CARGO_PKG_VERSION")))
                .accept_encoding("identity")
                .timeout_resolve(Some(timeout))
                .timeout_connect(Some(timeout))
                .timeout_per_read(Some(timeout))
                .timeout_per_write(Some(timeout));
            Ok(config.build().new_agent())
        };
        Ok(Self {
            plain: agent("http")?,
            secure: agent("https")?,
            timeout,
            unsigned: options.unsigned,
            buckets: OnceLock::new(),
            hub: OnceLock::new(),
            regions: Mutex::default(),
            targets: Mutex::default(),
        })
    }

    /// Asks for the first part of an object, of which nothing is known yet; `None` if there is no such object.
    pub(super) fn begin(&self, address: &Address, part: Part) -> Result<Option<Begun>> {
        let range = match part {
            Part::First(bytes) => format!("bytes=0-{}", bytes.max(1) - 1),
            Part::Last(bytes) => format!("bytes=-{}", bytes.max(1)),
        };
        self.repeat(|| {
            let ask = Ask::new(Method::GET, address).with(header::RANGE, range.clone());
            let Some(response) = self.answer(&ask)? else { return Ok(None) };
            answer::check_encoding(response.headers())?;
            let length = answer::content_length(response.headers())?;
            match response.status() {
                StatusCode::PARTIAL_CONTENT => {
                    let found = ContentRange::of(response.headers())?;
                    let is_it = match part {
                        Part::First(bytes) => found.first == 0 && found.end <= bytes.max(1),
                        Part::Last(bytes) => found.end == found.size && found.end - found.first <= bytes.max(1),
                    };
                    if !is_it {
                        return Err(other_part(&range, found).into());
                    }
                    let version = Version::of(response.headers(), found.size);
                    let mut bytes = memory::zeros(usize::try_from(found.end - found.first).map_err(Error::from)?)
                        .map_err(Error::from)?;
                    self.fill(response, &mut bytes, length, &mut 0)?;
                    Ok(Some(Begun { version, at: found.first, bytes, whole: None }))
                }
                StatusCode::RANGE_NOT_SATISFIABLE => match answer::size_of_unsatisfied(response.headers()) {
                    Some(0) => {
                        let version = Version::of(response.headers(), 0);
                        Ok(Some(Begun { version, at: 0, bytes: Vec::new(), whole: None }))
                    }
                    _ => Err(malformed!("has no part {range}").into()),
                },
                _ => self.begin_whole(response, length).map(Some),
            }
        })
    }

    /// Takes all of an object from a server that gives no parts.
    fn begin_whole(&self, response: Response, length: Option<u64>) -> Result<Begun, Failure> {
        let headers = response.headers().clone();
        let too_long = |bytes: u64| {
            let message = format!("the server gives whole files only: {bytes} bytes, at most {MOST_WHOLE} are taken");
            Failure::Lasting(Error::of(ErrorKind::Unsupported, message))
        };
        if let Some(length) = length.filter(|length| *length > MOST_WHOLE) {
            return Err(too_long(length));
        }
        let mut body = response.into_body().into_reader();
        let mut bytes = Vec::new();
        let read = (&mut body).take(MOST_IN_MEMORY).read_to_end(&mut bytes);
        read.map_err(|error| answer::broken_off(error, self.timeout))?;
        let mut next = [0];
        let more = fill_from(&mut body, &mut next).map_err(|error| answer::broken_off(error, self.timeout))?;
        if more == 0 {
            let size = check_length(bytes.len() as u64, length)?;
            let (version, whole) = (Version::of(&headers, size), Some(Arc::new(MemoryBytes::new(bytes)) as Arc<_>));
            return Ok(Begun { version, at: 0, bytes: Vec::new(), whole });
        }
        let place = || format!("cannot be kept in {}", std::env::temp_dir().display());
        let file = unnamed_file().with_context(place)?;
        let mut at = 0;
        bytes.push(next[0]);
        while !bytes.is_empty() {
            crate::storage::platform::write_at(&file, &bytes, at).with_context(place)?;
            at += bytes.len() as u64;
            if at > MOST_WHOLE {
                return Err(too_long(length.unwrap_or(at)));
            }
            bytes.clear();
            let read = (&mut body).take(1 << 20).read_to_end(&mut bytes);
            read.map_err(|error| answer::broken_off(error, self.timeout))?;
        }
        let version = Version::of(&headers, check_length(at, length)?);
        Ok(Begun { version, at: 0, bytes, whole: Some(Arc::new(file)) })
    }

    /// Fills `out` with the bytes of an object from byte `at` on.
    ///
    /// # Errors
    /// It has another version by now; another part came; no answer.
    pub(super) fn read(&self, address: &Address, version: &Version, out: &mut [u8], at: u64) -> Result<()> {
        let mut filled = 0;
        self.repeat(|| {
            while filled < out.len() {
                self.read_some(address, version, out, at, &mut filled)?;
            }
            Ok(())
        })
    }

    /// Reads a part that begins behind what is `filled` already, and counts what came of it.
    fn read_some(
        &self,
        address: &Address,
        version: &Version,
        out: &mut [u8],
        at: u64,
        filled: &mut usize,
    ) -> Result<(), Failure> {
        let (first, end) = (at + *filled as u64, at + out.len() as u64);
        let range = format!("bytes={first}-{}", end - 1);
        let mut ask = Ask::new(Method::GET, address).with(header::RANGE, range.clone());
        if let Some(tag) = version.strong_tag() {
            ask = ask.with(header::IF_MATCH, tag.to_owned());
        }
        let response = self.answer(&ask)?.ok_or_else(answer::changed)?;
        answer::check_encoding(response.headers())?;
        let length = answer::content_length(response.headers())?;
        let rest = &mut out[*filled..];
        match response.status() {
            StatusCode::PARTIAL_CONTENT => {
                let found = ContentRange::of(response.headers())?;
                version.check(&Version::of(response.headers(), found.size))?;
                if found.first != first || found.end > end {
                    return Err(other_part(&range, found).into());
                }
                let count = usize::try_from(found.end - found.first).map_err(Error::from)?;
                self.fill(response, &mut rest[..count], length, filled)
            }
            StatusCode::PRECONDITION_FAILED => Err(answer::changed().into()),
            StatusCode::RANGE_NOT_SATISFIABLE => Err(answer::changed().into()),
            _ if version.size <= MOST_WHOLE => {
                // it gave a part before, and now gives all: what stands before is read in vain
                version.check(&Version::of(response.headers(), length.unwrap_or(version.size)))?;
                let mut body = response.into_body().into_reader();
                let skipped = std::io::copy(&mut (&mut body).take(first), &mut std::io::sink());
                let skipped = skipped.map_err(|error| answer::broken_off(error, self.timeout))?;
                self.take(&mut body, rest, filled)?;
                if skipped == first { Ok(()) } else { Err(broke_off()) }
            }
            _ => Err(malformed!("the server no longer gives parts of the file").into()),
        }
    }

    /// Fills `out` with all of a body, and counts what came of it.
    fn fill(&self, response: Response, out: &mut [u8], length: Option<u64>, filled: &mut usize) -> Result<(), Failure> {
        if let Some(length) = length.filter(|length| *length != out.len() as u64) {
            return Err(malformed!("answers with a part of {} bytes as if it had {length}", out.len()).into());
        }
        let mut body = response.into_body().into_reader();
        self.take(&mut body, out, filled)?;
        // the end has to be read, too, before the connection may serve again
        match fill_from(&mut body, &mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(malformed!("answers with more than the part that it names").into()),
            Err(error) => Err(answer::broken_off(error, self.timeout)),
        }
    }

    /// Fills `out` from a body, and counts what came of it.
    fn take(&self, body: &mut impl Read, out: &mut [u8], filled: &mut usize) -> Result<(), Failure> {
        let mut came = 0;
        while came < out.len() {
            match body.read(&mut out[came..]) {
                Ok(0) => return Err(broke_off()),
                Ok(count) => {
                    came += count;
                    *filled += count;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(answer::broken_off(error, self.timeout)),
            }
        }
        Ok(())
    }

    /// Returns all bytes of an object and its version; `None` if there is no such object.
    ///
    /// # Errors
    /// It has more than `most` bytes; no answer.
    pub fn get(&self, address: &Address, most: u64) -> Result<Option<(Vec<u8>, Facts)>> {
        self.repeat(|| {
            let Some(response) = self.answer(&Ask::new(Method::GET, address))? else { return Ok(None) };
            if response.status() != StatusCode::OK {
                return Err(malformed!("answers with the status {}", response.status().as_u16()).into());
            }
            answer::check_encoding(response.headers())?;
            let (length, headers) = (answer::content_length(response.headers())?, response.headers().clone());
            let too_long = |size: u64| Failure::Lasting(malformed!("{size} bytes, at most {most} are read"));
            if let Some(length) = length.filter(|length| *length > most) {
                return Err(too_long(length));
            }
            let mut bytes = Vec::new();
            let limit = most.saturating_add(1);
            let read = response.into_body().into_reader().take(limit).read_to_end(&mut bytes);
            read.map_err(|error| answer::broken_off(error, self.timeout))?;
            if bytes.len() as u64 > most {
                return Err(too_long(bytes.len() as u64));
            }
            let size = check_length(bytes.len() as u64, length)?;
            Ok(Some((bytes, Facts::of(&headers, size))))
        })
    }

    /// Returns what is known of an object without its bytes; `None` if there is no such object.
    ///
    /// # Errors
    /// The server does not tell the size; no answer.
    pub fn head(&self, address: &Address) -> Result<Option<Facts>> {
        self.repeat(|| {
            let Some(response) = self.answer(&Ask::new(Method::HEAD, address))? else { return Ok(None) };
            answer::check_encoding(response.headers())?;
            let size = answer::content_length(response.headers())?;
            let size = size.ok_or_else(|| malformed!("the server does not tell the size"))?;
            Ok(Some(Facts::of(response.headers(), size)))
        })
    }

    /// Gives an object its bytes, and a mark if there is one. Returns whether it did, which it does not if the condition does
    /// not hold.
    ///
    /// # Errors
    /// No answer, or a refusal.
    pub fn put(&self, address: &Address, bytes: &[u8], condition: Condition, mark: Option<&str>) -> Result<bool> {
        self.repeat(|| {
            let mut ask = Ask { body: bytes, ..Ask::new(Method::PUT, address) };
            if let Some(mark) = mark {
                ask = ask.with(MARK, mark.to_owned());
            }
            if condition == Condition::Absent {
                ask = ask.with(header::IF_NONE_MATCH, "*".to_owned());
            }
            let target = self.target(&ask)?;
            let is_signed = target.is_signed;
            let response = self.send_on(&ask, target)?;
            match response.status() {
                StatusCode::PRECONDITION_FAILED if condition == Condition::Absent => Ok(false),
                // another process puts the same object at this moment: who was first shows when it is asked again
                StatusCode::CONFLICT if condition == Condition::Absent => {
                    Err(Failure::Passing(malformed!("409 Conflict"), None))
                }
                status if status.is_success() => {
                    drain(response);
                    Ok(true)
                }
                _ => Err(answer::refusal(response, address, is_signed)),
            }
        })
    }

    /// Takes an object away, if it is there.
    ///
    /// # Errors
    /// No answer, or a refusal.
    pub fn delete(&self, address: &Address) -> Result<()> {
        self.repeat(|| self.answer(&Ask::new(Method::DELETE, address)).map(|response| response.map(drain)))?;
        Ok(())
    }

    /// Lists what lies below an address in a bucket.
    ///
    /// # Errors
    /// The address is in no bucket, since other servers have no lists; no answer, or one that is no list.
    pub fn list(&self, address: &Address, listed: Listed) -> Result<Listing> {
        let Address::Bucket { bucket, key } = address else {
            return Err(Error::of(ErrorKind::Unsupported, "the server has no lists of names"));
        };
        let prefix = if key.is_empty() || key.ends_with('/') { key.clone() } else { format!("{key}/") };
        let root = Address::Bucket { bucket: bucket.clone(), key: String::new() };
        let (mut listing, mut next) = (Listing::default(), None);
        loop {
            let text = self.repeat(|| {
                let list = Some((prefix.clone(), listed == Listed::Folder, next.clone()));
                let ask = Ask { list, ..Ask::new(Method::GET, &root) };
                let response = self.answer(&ask)?.ok_or_else(|| malformed!("there is no such bucket"))?;
                answer::check_encoding(response.headers())?;
                let mut text = String::new();
                let read = response.into_body().into_reader().take(MOST_LIST).read_to_string(&mut text);
                read.map_err(|error| answer::broken_off(error, self.timeout))?;
                Ok(text)
            })?;
            let page = ListObjectsV2::parse_response(&text).map_err(|_| malformed!("answers with no list of names"))?;
            let below = |name: &str| name.strip_prefix(&prefix).filter(|name| !name.is_empty()).map(str::to_owned);
            for object in &page.contents {
                let size = object.size.ok_or_else(|| malformed!("lists an object without its size"))?;
                listing.objects.extend(below(&object.key).map(|name| ListedObject { name, size }));
            }
            let folder = |name: &str| below(name.trim_end_matches('/'));
            listing.prefixes.extend(page.common_prefixes.iter().filter_map(|found| folder(&found.prefix)));
            let last = std::mem::replace(&mut next, page.next_continuation_token);
            match &next {
                None => return Ok(Listing { is_whole: true, ..listing }),
                Some(_) if listed == Listed::Some && !listing.objects.is_empty() => return Ok(listing),
                Some(token) if last.as_ref() == Some(token) => bail!("the list of names begins again and again"),
                Some(_) => {}
            }
        }
    }

    /// Makes a request until there is an answer of use.
    fn repeat<T>(&self, mut attempt: impl FnMut() -> Result<T, Failure>) -> Result<T> {
        let mut pause = FIRST_PAUSE;
        for retry in 0.. {
            match attempt() {
                Ok(done) => return Ok(done),
                Err(Failure::Lasting(error)) => return Err(error),
                Err(Failure::Passing(error, after)) => {
                    // who has to wait for longer than for a byte is told so
                    if let Some(after) = after.filter(|after| *after > self.timeout.max(TIMEOUT)) {
                        return Err(with_note(&error, &format!("to be asked again in {} seconds", after.as_secs())));
                    }
                    if retry == RETRIES {
                        return Err(with_note(&error, &format!("asked {} times", RETRIES + 1)));
                    }
                    wait(after.unwrap_or(pause));
                    pause *= 2;
                }
            }
        }
        unreachable!("the last attempt returns")
    }

    /// Makes a request once, and returns an answer that is a success or tells of ranges and versions; `None` if there is no
    /// such object.
    fn answer(&self, ask: &Ask<'_>) -> Result<Option<Response>, Failure> {
        let target = self.target(ask)?;
        let (url, is_signed) = (target.url.clone(), target.is_signed);
        // a server that sends requests on does so by an address that is valid for some time
        let known = if ask.reads() { locked(&self.targets).get(url.as_str()).cloned() } else { None };
        let mut response = match known {
            None => self.send_on(ask, target)?,
            Some(known) => {
                let response = self.send_on(ask, Target { url: known, token: None, is_signed: false })?;
                match response.status().is_client_error() && !is_told(response.status()) {
                    false => response,
                    true => {
                        locked(&self.targets).remove(url.as_str());
                        self.send_on(ask, target)?
                    }
                }
            }
        };
        let status = response.status();
        match status {
            StatusCode::NOT_FOUND | StatusCode::GONE => {
                let is_bucket = matches!(ask.address, Address::Bucket { .. });
                if is_bucket && ask.method != Method::HEAD {
                    // a bucket that does not exist is no object that does not
                    let refusal = answer::refusal(response, ask.address, is_signed);
                    return match &refusal {
                        Failure::Lasting(error) if error.message().contains("NoSuchBucket") => Err(refusal),
                        _ => Ok(None),
                    };
                }
                let _ = response.body_mut().with_config().limit(1 << 14).read_to_vec();
                Ok(None)
            }
            _ if status.is_success() || is_told(status) => Ok(Some(response)),
            _ => Err(answer::refusal(response, ask.address, is_signed)),
        }
    }

    /// Makes a request once, and goes where it is sent on.
    fn send_on(&self, ask: &Ask<'_>, target: Target) -> Result<Response, Failure> {
        let first = target.url.clone();
        let Target { mut url, mut token, is_signed } = target;
        for _ in 0..=REDIRECTS {
            let response = self.send(ask, &url, token.as_deref())?;
            let status = response.status();
            let region = response.headers().get("x-amz-bucket-region").and_then(|value| value.to_str().ok());
            if let (Address::Bucket { bucket, .. }, Some(region)) = (ask.address, region)
                && (status.is_redirection() || status == StatusCode::BAD_REQUEST)
                && self.region(bucket)? != region
            {
                locked(&self.regions).insert(bucket.clone(), region.to_owned());
                drain(response);
                url = self.target(ask)?.url;
                continue;
            }
            let keeps_method = ask.body.is_empty() && ask.method != Method::PUT
                || matches!(status, StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
            let location = response.headers().get(header::LOCATION).and_then(|value| value.to_str().ok());
            let Some(location) = location.filter(|_| status.is_redirection() && status != StatusCode::NOT_MODIFIED)
            else {
                if ask.reads() && status.is_success() && url != first && !is_signed {
                    locked(&self.targets).insert(first.into(), url);
                }
                return Ok(response);
            };
            let next = url.join(location).ok().filter(|next| matches!(next.scheme(), "http" | "https"));
            let mut next = next.ok_or_else(|| malformed!("is sent on to what is no address"))?;
            if !keeps_method {
                return Err(malformed!("answers with the status {}", status.as_u16()).into());
            }
            drain(response);
            if next.origin() == url.origin() {
                let _ = next.set_username(url.username());
                let _ = next.set_password(url.password());
            } else {
                // keys are for the host that they were given for
                token = None;
            }
            url = next;
        }
        Err(malformed!("is sent on more than {REDIRECTS} times").into())
    }

    /// Sends a request to one address.
    fn send(&self, ask: &Ask<'_>, url: &Url, token: Option<&str>) -> Result<Response, Failure> {
        let mut request = Request::builder().method(ask.method.clone()).uri(url.as_str());
        for (name, value) in &ask.headers {
            request = request.header(name, value);
        }
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        let agent = if url.scheme() == "https" { &self.secure } else { &self.plain };
        // what is wrong with a request may be quoted, and with it a key
        let invalid = |_| Failure::Lasting(malformed!("is no address, or HF_TOKEN is no token"));
        let answer = match ask.method {
            Method::PUT => agent.run(request.body(ask.body).map_err(invalid)?),
            _ => agent.run(request.body(()).map_err(invalid)?),
        };
        answer.map_err(|error| answer::broken(error, self.timeout))
    }

    /// Returns where a request goes first, signed for this moment.
    fn target(&self, ask: &Ask<'_>) -> Result<Target> {
        match ask.address {
            Address::Web(url) => Ok(Target {
                url: url.clone(),
                token: None,
                is_signed: url.has_authority() && !url.username().is_empty(),
            }),
            Address::Hub { kind, repository, revision, path } => {
                let hub = self.hub.get_or_init(HubAccess::find).as_ref().map_err(Error::clone)?;
                let mut url = hub.endpoint.clone();
                if let Ok(mut segments) = url.path_segments_mut() {
                    segments
                        .pop_if_empty()
                        .extend(kind.trim_end_matches('/').split('/').filter(|part| !part.is_empty()));
                    segments.extend(repository.split('/')).extend(["resolve", revision]).extend(path.split('/'));
                }
                Ok(Target { url, token: hub.token.clone(), is_signed: hub.token.is_some() })
            }
            Address::Bucket { bucket, key } => {
                let access = self.buckets()?;
                let credentials = access.credentials.as_ref();
                let bucket = self.bucket(access, bucket)?;
                ensure!(!key.is_empty() || ask.list.is_some(), "expected s3://BUCKET/KEY");
                let url = match (&ask.list, &ask.method) {
                    (Some((prefix, folders, next)), _) => {
                        let mut action = bucket.list_objects_v2(credentials);
                        action.with_prefix(prefix.as_str());
                        if *folders {
                            action.with_delimiter("/");
                        }
                        if let Some(next) = next {
                            action.with_continuation_token(next.as_str());
                        }
                        action.sign(SIGNED_FOR)
                    }
                    (None, &Method::HEAD) => bucket.head_object(credentials, key).sign(SIGNED_FOR),
                    (None, &Method::PUT) => {
                        let mut action = bucket.put_object(credentials, key);
                        // what is not signed of these is refused
                        for (name, value) in ask.headers.iter().filter(|(name, _)| *name == MARK) {
                            action.headers_mut().insert(name.as_str(), value.as_str());
                        }
                        action.sign(SIGNED_FOR)
                    }
                    (None, &Method::DELETE) => bucket.delete_object(credentials, key).sign(SIGNED_FOR),
                    (None, _) => bucket.get_object(credentials, key).sign(SIGNED_FOR),
                };
                Ok(Target { url, token: None, is_signed: credentials.is_some() })
            }
        }
    }

    fn buckets(&self) -> Result<&BucketAccess> {
        self.buckets.get_or_init(|| BucketAccess::find(self.unsigned)).as_ref().map_err(Error::clone)
    }

    /// Returns the region that a bucket lies in, as far as it is known.
    fn region(&self, bucket: &str) -> Result<String> {
        let known = locked(&self.regions).get(bucket).cloned();
        Ok(known.unwrap_or(self.buckets()?.region.clone()))
    }

    /// Returns how a bucket is asked.
    fn bucket(&self, access: &BucketAccess, name: &str) -> Result<Bucket> {
        let region = self.region(name)?;
        // it is part of the name of a host, which neither a variable nor an answer may choose otherwise
        let is_region = region.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        ensure!(is_region && !region.is_empty(), "what is said to be the region of the bucket is none");
        let usual = || Url::parse(&format!("https://s3.{region}.amazonaws.com")).ok();
        let endpoint = access.endpoint.clone().or_else(usual).ok_or_else(|| malformed!("AWS_REGION is no region"))?;
        // a name with a dot has no certificate as the name of a host
        let by_host = access.endpoint.is_none() && !name.contains('.');
        let style = if by_host { UrlStyle::VirtualHost } else { UrlStyle::Path };
        Bucket::new(endpoint, style, name.to_owned(), region).map_err(|_| malformed!("{name:?} is no bucket"))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// Returns whether a status is not an error, but tells of the range or the version that was asked for.
fn is_told(status: StatusCode) -> bool {
    matches!(status, StatusCode::RANGE_NOT_SATISFIABLE | StatusCode::PRECONDITION_FAILED)
}

/// Reads the body of an answer that nobody wants, so that its connection serves again, unless it is long.
fn drain(mut response: Response) {
    let _ = response.body_mut().with_config().limit(1 << 14).read_to_vec();
}

fn broke_off() -> Failure {
    Failure::Passing(Error::of(ErrorKind::Io(std::io::ErrorKind::UnexpectedEof), "the answer broke off"), None)
}

/// Checks that as many bytes came as the answer said, and returns them.
fn check_length(came: u64, length: Option<u64>) -> Result<u64, Failure> {
    if length.is_some_and(|length| length != came) { Err(broke_off()) } else { Ok(came) }
}

/// Returns the error that an answer is another part than the one that was asked for.
fn other_part(asked: &str, found: ContentRange) -> Error {
    malformed!("asked for {asked}, and got the bytes {}-{} of {}", found.first, found.end - 1, found.size)
}

/// Returns an error with a note behind it.
fn with_note(error: &Error, note: &str) -> Error {
    Error::of(error.kind(), format!("{} ({note})", error.message()))
}

/// Returns the certificates that servers are checked by: those that SSL_CERT_FILE and SSL_CERT_DIR name, in the place of
/// those that the program has in it. Both are variables of OpenSSL, which most programs heed; the program has Mozilla's
/// certificates in it, since it also runs where the system has none, as in a container.
///
/// # Errors
/// A file that cannot be read, or has none in it.
fn certificates() -> Result<RootCerts> {
    let file = std::env::var_os("SSL_CERT_FILE").filter(|name| !name.is_empty()).map(PathBuf::from);
    let folder = std::env::var_os("SSL_CERT_DIR").filter(|name| !name.is_empty()).map(PathBuf::from);
    if file.is_none() && folder.is_none() {
        return Ok(RootCerts::WebPki);
    }
    let mut found: Vec<Certificate<'static>> = Vec::new();
    let mut add = |text: &[u8]| {
        found.extend(parse_pem(text).filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        }));
    };
    if let Some(file) = file {
        add(&fs::read(&file).with_context(|| format!("SSL_CERT_FILE {}", file.display()))?);
    }
    if let Some(folder) = folder {
        let entries = fs::read_dir(&folder).with_context(|| format!("SSL_CERT_DIR {}", folder.display()))?;
        for text in entries.filter_map(|entry| fs::read(entry.ok()?.path()).ok()) {
            add(&text);
        }
    }
    ensure!(!found.is_empty(), "SSL_CERT_FILE and SSL_CERT_DIR: no certificate in them");
    Ok(RootCerts::from(found))
}

/// Returns the proxy for URLs of a scheme, by the variables that curl heeds: of a proxy for http only the name in small
/// letters, since the other one may have come with a request to a server that runs this program.
///
/// # Errors
/// The variable holds no address.
fn proxy(scheme: &str) -> Result<Option<Proxy>> {
    let names: &[&str] = match scheme {
        "https" => &["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        _ => &["http_proxy", "all_proxy", "ALL_PROXY"],
    };
    let value = |name: &&str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    let Some((name, text)) = names.iter().find_map(|name| Some((*name, value(name)?))) else { return Ok(None) };
    // the text may have a password in it
    let invalid = || malformed!("{name}: expected the address of a proxy");
    let parsed = Proxy::new(text.trim()).map_err(|_| invalid())?;
    let mut builder = Proxy::builder(parsed.protocol()).host(parsed.host()).port(parsed.port());
    if let Some(user) = parsed.username() {
        builder = builder.username(user);
    }
    if let Some(password) = parsed.password() {
        builder = builder.password(password);
    }
    let exceptions = ["no_proxy", "NO_PROXY"].iter().find_map(value).unwrap_or_default();
    // what runs on this machine is none of a proxy's business, whatever the variables say
    for host in ["localhost", "127.0.0.1", "::1"] {
        builder = builder.no_proxy(host);
    }
    for host in exceptions.split(',').map(str::trim).filter(|host| !host.is_empty()) {
        builder = builder.no_proxy(host);
        // as in curl, a name stands for the hosts below it, too
        if !host.starts_with(['.', '*']) {
            builder = builder.no_proxy(&format!(".{host}"));
        }
    }
    builder.build().map(Some).map_err(|_| invalid())
}

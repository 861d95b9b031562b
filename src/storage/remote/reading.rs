//! How objects are read: in parts, or whole, and always of one version.

use std::io::Read;
use std::sync::Arc;

use ureq::BodyReader;
use ureq::http::{Method, StatusCode, header};

use super::address::Address;
use super::answer::{self, ContentRange, Failure, Response, Version};
use super::client::{Ask, Client, MARK};
use crate::error::{Context, Error, ErrorKind, Result, malformed};
use crate::memory;
use crate::storage::platform::{unnamed_file, write_at};
use crate::storage::read_at::{MemoryBytes, Part, ReadAt, Stamp};
use crate::storage::requests::{RequestEvent, tell};
use crate::storage::source::fill_from;

/// The most bytes of an object that are taken from a server that gives whole objects only.
const MOST_WHOLE: u64 = 1 << 28;

/// The most of these that are kept in memory; others are kept in a file without a name.
const MOST_IN_MEMORY: u64 = 1 << 24;

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
    pub fn stamp(&self) -> Stamp {
        self.version.stamp()
    }
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

impl Client {
    /// Asks for the first part of an object, of which nothing is known yet; `None` if there is no such object.
    pub(super) fn begin(&self, address: &Address, part: Part) -> Result<Option<Begun>> {
        let range = match part {
            Part::First(bytes) => format!("bytes=0-{}", bytes.max(1) - 1),
            Part::Last(bytes) => format!("bytes=-{}", bytes.max(1)),
        };
        self.repeat(address, || {
            let ask = Ask::new(Method::GET, address).with(header::RANGE, range.clone());
            let Some(response) = self.answer(&ask)? else { return Ok(None) };
            let length = answer::plain_length(response.headers())?;
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
                StatusCode::OK => self.begin_whole(response, length).map(Some),
                status => Err(other_status(status).into()),
            }
        })
    }

    /// Takes all of an object from a server that gives no parts.
    fn begin_whole(&self, response: Response, length: Option<u64>) -> Result<Begun, Failure> {
        let headers = response.headers().clone();
        let too_long = |bytes: Option<u64>| {
            let bytes = bytes.map_or_else(|| format!("more than {MOST_WHOLE}"), |bytes| bytes.to_string());
            let message = format!("the server gives whole files only: {bytes} bytes, at most {MOST_WHOLE} are taken");
            Failure::Lasting(Error::of(ErrorKind::Unsupported, message))
        };
        if length.is_some_and(|length| length > MOST_WHOLE) {
            return Err(too_long(length));
        }
        let mut body = body_of(response);
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
            write_at(&file, &bytes, at).with_context(place)?;
            at += bytes.len() as u64;
            if at > MOST_WHOLE {
                return Err(too_long(length));
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
        self.repeat(address, || {
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
        let length = answer::plain_length(response.headers())?;
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
            StatusCode::PRECONDITION_FAILED | StatusCode::RANGE_NOT_SATISFIABLE => Err(answer::changed().into()),
            StatusCode::OK if version.size <= MOST_WHOLE => {
                // it gave a part before, and now gives all: what stands before is read in vain
                version.check(&Version::of(response.headers(), length.unwrap_or(version.size)))?;
                let mut body = body_of(response);
                let skipped = std::io::copy(&mut (&mut body).take(first), &mut std::io::sink());
                let skipped = skipped.map_err(|error| answer::broken_off(error, self.timeout))?;
                self.take(&mut body, rest, filled)?;
                if skipped == first { Ok(()) } else { Err(broke_off()) }
            }
            StatusCode::OK => Err(malformed!("the server no longer gives parts of the file").into()),
            status => Err(other_status(status).into()),
        }
    }

    /// Fills `out` with all of a body, and counts what came of it.
    fn fill(&self, response: Response, out: &mut [u8], length: Option<u64>, filled: &mut usize) -> Result<(), Failure> {
        if let Some(length) = length.filter(|length| *length != out.len() as u64) {
            return Err(malformed!("answers with a part of {} bytes as if it had {length}", out.len()).into());
        }
        let mut body = body_of(response);
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
        self.repeat(address, || {
            let Some(response) = self.answer(&Ask::new(Method::GET, address))? else { return Ok(None) };
            if response.status() != StatusCode::OK {
                return Err(other_status(response.status()).into());
            }
            let (length, headers) = (answer::plain_length(response.headers())?, response.headers().clone());
            let too_long = |size: u64| Failure::Lasting(malformed!("{size} bytes, at most {most} are read"));
            if let Some(length) = length.filter(|length| *length > most) {
                return Err(too_long(length));
            }
            let mut bytes = Vec::new();
            let limit = most.saturating_add(1);
            let read = body_of(response).take(limit).read_to_end(&mut bytes);
            read.map_err(|error| answer::broken_off(error, self.timeout))?;
            if bytes.len() as u64 > most {
                return Err(too_long(bytes.len() as u64));
            }
            let size = check_length(bytes.len() as u64, length)?;
            Ok(Some((bytes, Facts::of(&headers, size))))
        })
    }

    /// Returns what is known of an object without its bytes; `None` if there is no such object. A server that does not tell the
    /// size without bytes is asked for the first byte, whose answer tells it, or is all of the object.
    ///
    /// # Errors
    /// No answer, or one that is of no use.
    pub fn head(&self, address: &Address) -> Result<Option<Facts>> {
        let Some((size, headers)) = self.headers(address)? else { return Ok(None) };
        match size {
            Some(size) => Ok(Some(Facts::of(&headers, size))),
            None => {
                let begun = self.begin(address, Part::First(1))?;
                Ok(begun.map(|begun| Facts { version: begun.version, ..Facts::of(&headers, 0) }))
            }
        }
    }

    /// Returns the size of an object, if the server tells it without the bytes, and what else it tells.
    pub(super) fn headers(&self, address: &Address) -> Result<Option<(Option<u64>, header::HeaderMap)>> {
        self.repeat(address, || {
            let Some(response) = self.answer(&Ask::new(Method::HEAD, address))? else { return Ok(None) };
            Ok(Some((answer::plain_length(response.headers())?, response.headers().clone())))
        })
    }
}

/// A body, which tells how much of it has come.
struct Body(BodyReader<'static>);

impl Read for Body {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(out).inspect(|count| tell(RequestEvent::Came(*count)))
    }
}

/// Returns what reads the body of an answer.
fn body_of(response: Response) -> Body {
    Body(response.into_body().into_reader())
}

fn broke_off() -> Failure {
    Failure::Passing(Error::of(ErrorKind::Io(std::io::ErrorKind::UnexpectedEof), "the answer broke off"), None)
}

/// Checks that as many bytes came as the answer said, and returns them.
fn check_length(came: u64, length: Option<u64>) -> Result<u64, Failure> {
    if length.is_some_and(|length| length != came) { Err(broke_off()) } else { Ok(came) }
}

/// Returns the error that an answer is no object, although its status is that of a success.
fn other_status(status: StatusCode) -> Error {
    malformed!("answers with the status {}", status.as_u16())
}

/// Returns the error that an answer is another part than the one that was asked for.
fn other_part(asked: &str, found: ContentRange) -> Error {
    malformed!("asked for {asked}, and got the bytes {}-{} of {}", found.first, found.end - 1, found.size)
}

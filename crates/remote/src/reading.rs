//! Reading objects in parts or whole, always in one version.

use std::fs::File;
use std::io::{self, Read, Write};

use tempfile::{SpooledData, SpooledTempFile};
use ureq::BodyReader;
use ureq::http::{Method, StatusCode, header};

use crate::address::Address;
use crate::answer::{self, ContentRange, RequestFailure, Response, Version};
use crate::client::{Ask, Client};
use crate::requests::{Part, RequestEvent, tell};
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, malformed};
use tensorop_kernels::memory::{self, fill_from};

const MAX_WHOLE: u64 = 1 << 28;

/// The maximum in memory; larger ones go to an unnamed file.
const MAX_IN_MEMORY: usize = 1 << 24;

/// The answer to the first request for an object.
#[derive(Debug)]
pub struct FirstAnswer {
    /// The version that later requests must have, too.
    pub version: Version,
    /// The offset of the part.
    pub at: u64,
    /// The part; empty if only the version was requested.
    pub bytes: Vec<u8>,
    /// All bytes, if the server has no ranges.
    pub whole: Option<KeptBytes>,
}

/// The bytes of an object, in memory or in an unnamed file.
#[derive(Debug)]
pub enum KeptBytes {
    /// At most 16 MiB.
    Memory(Vec<u8>),
    /// More than that.
    File(File),
}

impl FirstAnswer {
    fn of(version: Version) -> Self {
        Self { version, at: 0, bytes: Vec::new(), whole: None }
    }
}

impl Client {
    /// Requests the first part; `None` if the object does not exist.
    ///
    /// # Errors
    /// A request fails.
    pub fn begin(&self, address: &Address, part: Part) -> Result<Option<FirstAnswer>> {
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
                    Ok(Some(FirstAnswer { at: found.first, bytes, ..FirstAnswer::of(version) }))
                }
                StatusCode::RANGE_NOT_SATISFIABLE => match answer::size_of_unsatisfied(response.headers()) {
                    Some(0) => Ok(Some(FirstAnswer::of(Version::of(response.headers(), 0)))),
                    _ => Err(malformed!("has no part {range}").into()),
                },
                StatusCode::OK => self.begin_whole(response, length).map(Some),
                status => Err(other_status(status).into()),
            }
        })
    }

    fn begin_whole(&self, response: Response, length: Option<u64>) -> Result<FirstAnswer, RequestFailure> {
        let headers = response.headers().clone();
        let too_long = |bytes: Option<u64>| {
            let bytes = bytes.map_or_else(|| format!("more than {MAX_WHOLE}"), |bytes| bytes.to_string());
            let message = format!("the server sends only whole files: {bytes} bytes, expected at most {MAX_WHOLE}");
            RequestFailure::Lasting(Error::from_kind(ErrorKind::Unsupported, message))
        };
        if length.is_some_and(|length| length > MAX_WHOLE) {
            return Err(too_long(length));
        }
        let place = || format!("cannot be kept in {}", std::env::temp_dir().display());
        let (mut body, mut kept, mut size) = (body_of(response), SpooledTempFile::new(MAX_IN_MEMORY), 0);
        loop {
            let mut bytes = Vec::new();
            (&mut body).take(1 << 20).read_to_end(&mut bytes).map_err(|error| self.broken_off(error))?;
            size += bytes.len() as u64;
            if size > MAX_WHOLE {
                return Err(too_long(length));
            }
            if bytes.is_empty() {
                break;
            }
            kept.write_all(&bytes).with_context(place)?;
        }
        let version = Version::of(&headers, check_length(size, length)?);
        let whole = match kept.into_inner() {
            SpooledData::InMemory(bytes) => KeptBytes::Memory(bytes.into_inner()),
            SpooledData::OnDisk(file) => KeptBytes::File(file),
        };
        Ok(FirstAnswer { whole: Some(whole), ..FirstAnswer::of(version) })
    }

    /// Fails if the object has another version now.
    ///
    /// # Errors
    /// A request fails.
    pub fn read(&self, address: &Address, version: &Version, out: &mut [u8], at: u64) -> Result<()> {
        let mut filled = 0;
        self.repeat(address, || {
            while filled < out.len() {
                self.read_some(address, version, out, at, &mut filled)?;
            }
            Ok(())
        })
    }

    /// Continues after `filled` bytes and updates the count.
    fn read_some(
        &self,
        address: &Address,
        version: &Version,
        out: &mut [u8],
        at: u64,
        filled: &mut usize,
    ) -> Result<(), RequestFailure> {
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
            StatusCode::OK if version.size <= MAX_WHOLE => {
                // The server gave ranges before and now sends everything, so the front is skipped.
                version.check(&Version::of(response.headers(), length.unwrap_or(version.size)))?;
                let mut body = body_of(response);
                let skipped = io::copy(&mut (&mut body).take(first), &mut io::sink());
                let skipped = skipped.map_err(|error| self.broken_off(error))?;
                self.take(&mut body, rest, filled)?;
                if skipped == first { Ok(()) } else { Err(broke_off()) }
            }
            StatusCode::OK => Err(malformed!("the server no longer gives parts of the file").into()),
            status => Err(other_status(status).into()),
        }
    }

    fn fill(
        &self,
        response: Response,
        out: &mut [u8],
        length: Option<u64>,
        filled: &mut usize,
    ) -> Result<(), RequestFailure> {
        if let Some(length) = length.filter(|length| *length != out.len() as u64) {
            return Err(malformed!("answers a part of {} bytes with {length}", out.len()).into());
        }
        let mut body = body_of(response);
        self.take(&mut body, out, filled)?;
        // The connection can be reused only after the end of the body.
        match fill_from(&mut body, &mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(malformed!("answers with more than the part that it names").into()),
            Err(error) => Err(self.broken_off(error)),
        }
    }

    fn take(&self, body: &mut Body, out: &mut [u8], filled: &mut usize) -> Result<(), RequestFailure> {
        let before = body.came;
        let read = fill_from(body, out);
        *filled += body.came - before;
        if read.map_err(|error| self.broken_off(error))? == out.len() { Ok(()) } else { Err(broke_off()) }
    }

    pub(crate) fn broken_off(&self, error: io::Error) -> RequestFailure {
        answer::broken(ureq::Error::from(error), self.timeout)
    }

    /// Returns all bytes; `None` if the object does not exist. Fails beyond `most` bytes.
    ///
    /// # Errors
    /// A request fails.
    pub fn get(&self, address: &Address, most: u64) -> Result<Option<(Vec<u8>, Version)>> {
        self.repeat(address, || {
            let Some(response) = self.answer(&Ask::new(Method::GET, address))? else { return Ok(None) };
            if response.status() != StatusCode::OK {
                return Err(other_status(response.status()).into());
            }
            let (length, headers) = (answer::plain_length(response.headers())?, response.headers().clone());
            let too_long = |size: u64| RequestFailure::Lasting(malformed!("{size} bytes, expected at most {most}"));
            if let Some(length) = length.filter(|length| *length > most) {
                return Err(too_long(length));
            }
            let mut bytes = Vec::new();
            let limit = most.saturating_add(1);
            body_of(response).take(limit).read_to_end(&mut bytes).map_err(|error| self.broken_off(error))?;
            if bytes.len() as u64 > most {
                return Err(too_long(bytes.len() as u64));
            }
            let size = check_length(bytes.len() as u64, length)?;
            Ok(Some((bytes, Version::of(&headers, size))))
        })
    }

    /// Returns the version; `None` if the object does not exist. If HEAD has no size, the first byte is requested.
    ///
    /// # Errors
    /// A request fails.
    pub fn head(&self, address: &Address) -> Result<Option<Version>> {
        Ok(self.look(address)?.map(|begun| begun.version))
    }

    /// Requests the version alone; `None` if the object does not exist.
    ///
    /// # Errors
    /// A request fails.
    pub fn look(&self, address: &Address) -> Result<Option<FirstAnswer>> {
        let told = self.repeat(address, || {
            let Some(response) = self.answer(&Ask::new(Method::HEAD, address))? else { return Ok(None) };
            let size = answer::plain_length(response.headers())?;
            Ok(Some(size.map(|size| Version::of(response.headers(), size))))
        })?;
        match told {
            None => Ok(None),
            Some(Some(version)) => Ok(Some(FirstAnswer::of(version))),
            Some(None) => self.begin(address, Part::First(1)),
        }
    }
}

/// A body that counts and reports its bytes.
struct Body {
    reader: BodyReader<'static>,
    came: usize,
}

impl Read for Body {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(out)?;
        self.came += count;
        tell(RequestEvent::Came(count));
        Ok(count)
    }
}

fn body_of(response: Response) -> Body {
    Body { reader: response.into_body().into_reader(), came: 0 }
}

fn broke_off() -> RequestFailure {
    RequestFailure::Passing(Error::from_kind(ErrorKind::Io(io::ErrorKind::UnexpectedEof), "the answer broke off"), None)
}

fn check_length(came: u64, length: Option<u64>) -> Result<u64, RequestFailure> {
    if length.is_some_and(|length| length != came) { Err(broke_off()) } else { Ok(came) }
}

fn other_status(status: StatusCode) -> Error {
    malformed!("answers with the status {}", status.as_u16())
}

/// Other ranges than the requested one are errors.
fn other_part(asked: &str, found: ContentRange) -> Error {
    malformed!("requested {asked}, got the bytes {}-{} of {}", found.first, found.end - 1, found.size)
}

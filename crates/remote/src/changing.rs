//! Putting, removing and listing objects of a bucket.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

use rusty_s3::actions::ListObjectsV2;
use ureq::http::{Method, StatusCode, header};

use crate::address::Address;
use crate::answer::{self, MARK, RequestFailure, Response};
use crate::client::{Ask, Client, drain};
use tensorop_kernels::error::{Error, ErrorKind, Result, bail, malformed};

/// The maximum bytes of a list.
const MAX_LIST: u64 = 1 << 24;

/// When an object may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutCondition<'a> {
    /// Replaces any object.
    None,
    /// Fails if the object exists. The new one gets the mark.
    Absent(Option<&'a str>),
}

/// The objects below a prefix.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    pub objects: Vec<ListedObject>,
    /// Names with objects below, like folders, without a slash; empty if all are listed.
    pub prefixes: Vec<String>,
    pub is_whole: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedObject {
    /// Relative to the prefix.
    pub name: String,
    pub size: u64,
}

/// The names of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedNames {
    /// All objects.
    All,
    /// Some objects: one page.
    Some,
    /// Up to the next slash, like a folder.
    Folder,
}

impl Client {
    /// Writes an object, replacing any.
    ///
    /// # Errors
    /// The server refuses it, or the request fails.
    pub fn put(&self, address: &Address, bytes: &[u8]) -> Result<()> {
        self.put_if(PutCondition::None, address, bytes, &AtomicBool::default()).map(drop)
    }

    /// Returns false if the condition fails. Sets `may_be_there` unless all requests were refused: a server may carry
    /// out a request without an answer, or after it has refused the retry.
    ///
    /// # Errors
    /// A request fails.
    pub fn put_if(
        &self,
        condition: PutCondition<'_>,
        address: &Address,
        bytes: &[u8],
        may_be_there: &AtomicBool,
    ) -> Result<bool> {
        let mut ask = Ask { body: bytes, ..Ask::new(Method::PUT, address) };
        if let PutCondition::Absent(mark) = condition {
            ask.headers.extend(mark.map(|mark| (MARK, mark.to_owned())));
            ask = ask.with(header::IF_NONE_MATCH, "*".to_owned());
        }
        self.repeat(address, || {
            let target = self.target(&ask)?;
            let is_signed = target.is_signed;
            let response = self.send_on(&ask, target);
            let status = response.as_ref().map(Response::status).ok();
            let is_there = status == Some(StatusCode::PRECONDITION_FAILED) && condition != PutCondition::None;
            if is_there || !status.is_some_and(|status| status.is_client_error()) {
                may_be_there.store(true, Ordering::Relaxed);
            }
            let response = response?;
            match response.status() {
                _ if is_there => Ok(false),
                // Another process is putting the object. The retry shows which was first.
                StatusCode::CONFLICT if condition != PutCondition::None => {
                    Err(RequestFailure::Passing(malformed!("409 Conflict"), None))
                }
                status if status.is_success() => {
                    drain(response);
                    Ok(true)
                }
                _ => Err(answer::refusal(response, address, is_signed)),
            }
        })
    }

    /// Removes an object, if it exists.
    ///
    /// # Errors
    /// The server refuses it, or the request fails.
    pub fn delete(&self, address: &Address) -> Result<()> {
        self.repeat(address, || self.answer(&Ask::new(Method::DELETE, address)).map(|response| response.map(drain)))?;
        Ok(())
    }

    /// Only buckets have lists.
    ///
    /// # Errors
    /// A request fails.
    pub fn list(&self, address: &Address, listed: ListedNames) -> Result<Listing> {
        let Address::Bucket { key, .. } = address else {
            return Err(Error::from_kind(ErrorKind::Unsupported, "the server has no lists of names"));
        };
        let prefix = if key.is_empty() || key.ends_with('/') { key.clone() } else { format!("{key}/") };
        let (mut listing, mut next) = (Listing::default(), None);
        loop {
            let text = self.repeat(address, || {
                let list = Some((prefix.clone(), listed == ListedNames::Folder, next.clone()));
                let ask = Ask { list, ..Ask::new(Method::GET, address) };
                let response = self.answer(&ask)?.ok_or_else(|| malformed!("there is no such bucket"))?;
                answer::plain_length(response.headers())?;
                let mut text = String::new();
                let read = response.into_body().into_reader().take(MAX_LIST).read_to_string(&mut text);
                read.map_err(|error| self.broken_off(error))?;
                Ok(text)
            })?;
            let page =
                ListObjectsV2::parse_response(&text).map_err(|_| malformed!("answers without a list of names"))?;
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
                Some(_) if listed == ListedNames::Some && !listing.objects.is_empty() => return Ok(listing),
                Some(token) if last.as_ref() == Some(token) => bail!("the list of names repeats"),
                Some(_) => {}
            }
        }
    }
}

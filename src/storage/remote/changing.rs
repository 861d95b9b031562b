//! What is done with the objects of a bucket beside reading them: they are put, removed and listed.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

use rusty_s3::actions::ListObjectsV2;
use ureq::http::{Method, StatusCode, header};

use super::address::Address;
use super::answer::{self, MARK, RequestFailure, Response};
use super::client::{Ask, Client, drain};
use crate::error::{Error, ErrorKind, Result, bail, malformed};

/// The most bytes of an answer that is no object: a list of names.
const MAX_LIST: u64 = 1 << 24;

/// A condition for a value to be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PutCondition<'a> {
    /// There is none: what is there is replaced.
    None,
    /// There is no object of that name yet. The one that is put gets the mark, if there is one.
    Absent(Option<&'a str>),
}

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
pub enum ListedNames {
    /// Those of all objects.
    All,
    /// Those of some objects, if there are any: as many as the server gives at once.
    Some,
    /// Those up to the next slash, as a folder is listed.
    Folder,
}

impl Client {
    /// Gives an object its bytes.
    ///
    /// # Errors
    /// No answer, or a refusal.
    pub(super) fn put(&self, address: &Address, bytes: &[u8]) -> Result<()> {
        self.put_if(PutCondition::None, address, bytes, &AtomicBool::default()).map(drop)
    }

    /// Gives an object its bytes, and returns whether it did, which it does not if the condition does not hold. `may_be_there`
    /// becomes true unless all requests were refused: a server may do what it is asked for and give no answer, or do it later
    /// than the answer came that refused the same request when it was made again.
    ///
    /// # Errors
    /// No answer, or a refusal.
    pub(super) fn put_if(
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
                // another process puts the same object at this moment: who was first shows when it is asked again
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

    /// Takes an object away, if it is there.
    ///
    /// # Errors
    /// No answer, or a refusal.
    pub fn delete(&self, address: &Address) -> Result<()> {
        self.repeat(address, || self.answer(&Ask::new(Method::DELETE, address)).map(|response| response.map(drain)))?;
        Ok(())
    }

    /// Lists what lies below an address in a bucket.
    ///
    /// # Errors
    /// The address is in no bucket, since other servers have no lists; no answer, or one that is no list.
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
                Some(_) if listed == ListedNames::Some && !listing.objects.is_empty() => return Ok(listing),
                Some(token) if last.as_ref() == Some(token) => bail!("the list of names begins again and again"),
                Some(_) => {}
            }
        }
    }
}

//! Items in another file.

use std::fs::File;
use std::path::Path;

use super::message::Message;
use super::wire::field;
use crate::error::{Context, Error, Result, bail, ensure};
use crate::format::beside::is_plain_name;
use crate::item::meta::Meta;
use crate::item::python;
use crate::storage::platform::same_file;
use crate::storage::source::wrong_length;

#[derive(Clone, Debug)]
pub(super) struct Elsewhere {
    location: String,
    offset: u64,
    /// ONNX Runtime treats a missing length and 0 alike.
    length: Option<u64>,
}

impl Message {
    pub(super) fn external(&self) -> Result<Option<Elsewhere>> {
        // protobuf omits default values
        match self.int32(field::DATA_LOCATION).unwrap_or(DEFAULT) {
            EXTERNAL => {}
            DEFAULT if self.count(field::EXTERNAL_DATA) == 0 => return Ok(None),
            DEFAULT => bail!("external_data, and a data_location that is not external"),
            other => bail!("data_location {other}, expected {DEFAULT} or {EXTERNAL}"),
        }
        let number = |key: &str| {
            let Some(text) = self.external_value(key)? else { return Ok(None) };
            // Rust would also parse a plus sign
            let number = text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()));
            let number = number.with_context(|| format!("external_data: {key} {}", python::repr_str(text)))?;
            Ok::<_, Error>(Some(number))
        };
        let location = self.external_value("location")?.context("external_data has no location")?;
        Ok(Some(Elsewhere {
            location: without_dots(location).to_owned(),
            offset: number("offset")?.unwrap_or(0),
            length: number("length")?.filter(|length| *length > 0),
        }))
    }
}

/// Some writers prefix `./`.
fn without_dots(location: &str) -> &str {
    let mut rest = location;
    while let Some(after) = rest.strip_prefix("./") {
        rest = after.trim_start_matches('/');
    }
    rest
}

const DEFAULT: i32 = 0;
pub(super) const EXTERNAL: i32 = 1;

impl Elsewhere {
    pub(super) fn open(&self, folder: Option<&Path>, bytes: u64, meta: &Meta) -> Result<(File, u64)> {
        let quoted = python::repr_str(&self.location);
        let Some(folder) = folder else {
            bail!("the items are in another file, {quoted}, and there is no folder to find it in");
        };
        ensure!(is_plain_name(&self.location), "the items are in {quoted}, expected a file in the same folder");
        let path = folder.join(&self.location);
        let found = path.symlink_metadata().with_context(|| format!("the items are in {quoted}"))?;
        ensure!(found.is_file(), "the items are in {quoted}, expected a regular file, not a link");
        let file = File::open(&path).with_context(|| format!("the items are in {quoted}"))?;
        let opened = file.metadata()?;
        ensure!(same_file(&found, &opened), "the items are in {quoted}, which changed while it was opened");
        let rest = opened.len().checked_sub(self.offset);
        let rest = rest.with_context(|| {
            format!("the items begin at byte {} of {quoted}, which has {} bytes", self.offset, opened.len())
        })?;
        let length = self.length.unwrap_or(bytes);
        ensure!(length <= rest, "{length} bytes of items in {quoted}, and {rest} bytes in that file");
        if length != bytes {
            bail!("{quoted}: {}", wrong_length(length, bytes, meta));
        }
        Ok((file, self.offset))
    }
}

//! Errors about content of a container that an output would lose.

use std::sync::Arc;

use crate::error::{Advice, Error, ErrorKind, Result};
use crate::format::name_order::list;
use crate::storage::attachments::Attachments;
use crate::storage::target::Target;

pub(super) fn lost_content(target: &Target, tensors: Option<String>, attachments: Option<String>) -> Result<()> {
    let refuse = |message: String| Err(Error::from_kind(ErrorKind::Unsupported, message).within(target.label()));
    match (tensors, attachments) {
        (None, None) => Ok(()),
        (Some(tensors), None) => {
            let message = format!("holds {tensors}, which would be lost");
            Err(Error::from_kind(ErrorKind::Unsupported, message).within(target.label()).advising(Advice::KeepOthers))
        }
        (None, Some(attachments)) => refuse(lost_attachments(&attachments)),
        (Some(tensors), Some(attachments)) => refuse(lost_attachments(&format!("{tensors} and {attachments}"))),
    }
}

/// Refuses to rewrite a container with attachments, because no writer writes attachments.
///
/// # Errors
/// The container has attachments, or they cannot be listed.
pub fn check_attachments(attachments: Option<&Arc<dyn Attachments>>) -> Result<()> {
    match listed_attachments(attachments)? {
        None => Ok(()),
        Some(attachments) => Err(Error::from_kind(ErrorKind::Unsupported, lost_attachments(&attachments))),
    }
}

pub(super) fn listed_attachments(attachments: Option<&Arc<dyn Attachments>>) -> Result<Option<String>> {
    let names = attachments.map_or(Ok(&[][..]), |attachments| attachments.names())?;
    let text = || list(&names.iter().map(String::as_str).collect::<Vec<_>>());
    Ok(match names.len() {
        0 => None,
        1 => Some(format!("{}, not a tensor", text())),
        _ => Some(format!("{}, not tensors", text())),
    })
}

fn lost_attachments(content: &str) -> String {
    format!("holds {content}, which would be lost: choose another file")
}

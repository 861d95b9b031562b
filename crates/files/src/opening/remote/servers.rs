//! Objects and stores on servers.

use std::path::Path;
use std::sync::Arc;

use tensorop_remote::{Address, Client, ListedNames};

use crate::container::content::{Content, ContentSource};
use crate::container::glob::Glob;
use crate::opening::input::{Input, OpenOptions};
use crate::opening::table::Format;
use crate::storage::key_store::KeyStore;
use crate::storage::read_at::ReadAt;
use crate::storage::remote_store::{RemoteObject, RemoteStore};
use crate::storage::requests::{Part, RequestOptions};
use crate::storage::sidecar::{FIRST_BYTES, not_found};
use crate::storage::targets::bucket::BucketTarget;
use crate::storage::targets::target::Target;
use tensorop_kernels::error::{Context, Error, ErrorKind, Result, unsupported};

/// Returns the version of an object, or of a store's metadata.
///
/// # Errors
/// Neither exists, or the request fails.
pub fn version_at(address: &str, requests: RequestOptions) -> Result<String> {
    let client = Client::shared(requests)?;
    let address = Address::parse(address)?;
    let is_folder = address.path().ends_with('/') || address.path().is_empty();
    let mut found = if is_folder { None } else { client.head(&address)? };
    if found.is_none()
        && let Some(format) = Format::all().find(|format| format.is_folder())
        && let Some(mark) = mark_at(&client, &address, format)?
    {
        found = client.head(&address.join(mark))?;
    }
    found.map(|version| version.text()).ok_or_else(not_found)
}

pub(crate) fn target_at(
    address: &str,
    label: String,
    format: Format,
    no_clobber: bool,
    requests: RequestOptions,
) -> Result<Target> {
    let address = Address::parse(address).with_context(|| label.clone())?;
    let client = Client::shared(requests).with_context(|| label.clone())?;
    let bucket = BucketTarget::resolve(client, &address, label, format.all_marks(), no_clobber)?;
    Ok(Target::Bucket(Box::new(bucket)))
}

/// A store is recognised by its name or a trailing slash; an address without an object is also tried as a store.
pub(crate) fn open(options: &OpenOptions, text: &str, after: Option<String>) -> Result<Input> {
    let context = || options.label.clone();
    let client = Client::shared(options.requests).with_context(context)?;
    let address = Address::parse(text).with_context(context)?;
    let by_name = Format::from_path(Path::new(address.path()));
    let name = address.path().trim_end_matches('/');
    let has_name = |format: Format| Format::from_file_name(name).is_some_and(|(own, _)| own == format);
    let store = Format::all().find(|format| format.is_folder());
    let is_store =
        |format: &Format| options.format == Some(*format) || has_name(*format) || name.len() < address.path().len();
    if let Some(format) = store.filter(is_store) {
        return open_store(options, &client, &address, format, after);
    }
    let found = RemoteObject::open(&client, address.clone(), Part::First(FIRST_BYTES)).with_context(context)?;
    let Some(found) = found else {
        let may_be_store = by_name.is_none() && Format::from_file_name(name).is_none();
        if let Some(format) = store.filter(|_| may_be_store)
            && mark_at(&client, &address, format).with_context(context)?.is_some()
        {
            return open_store(options, &client, &address, format, after);
        }
        return Err(absent(&client, &address, not_found()).within(context()));
    };
    let folder = address.parent_text();
    let content = |bytes: Arc<dyn ReadAt>| {
        let mut content = Content::from_bytes(bytes, options.threads)?;
        if let ContentSource::Bytes { folder: place, .. } = &mut content.opened {
            *place = Some(folder.clone().into());
        }
        let name = address.path().rsplit('/').next().unwrap_or_default();
        Ok(Content { path: Some(format!("{folder}/{name}").into()), ..content })
    };
    let container = |bytes: &mut Arc<dyn ReadAt>| {
        let input = options.content(content(Arc::clone(bytes)).ok()?, None).ok();
        input.filter(|input| input.names().is_some())
    };
    options.open_or_view(Arc::new(found) as Arc<dyn ReadAt>, after, by_name, container, content)
}

fn open_store(
    options: &OpenOptions,
    client: &Arc<Client>,
    address: &Address,
    format: Format,
    after: Option<String>,
) -> Result<Input> {
    let open = |address: Address, member: Option<String>| {
        let store: Arc<dyn KeyStore> = Arc::new(RemoteStore::at_one_version(client, address));
        format.open(Content { member, ..Content::from_store(store, options.threads) })
    };
    let name = after.as_deref().filter(|name| !Glob::new(name).is_pattern());
    match (open(address.clone(), after.clone()), name) {
        (Ok(file), _) => Ok(Input { member: after, ..options.input(format, file) }),
        // without a listing of the group an array can still be opened by name
        (Err(error), Some(name)) if error.kind() == ErrorKind::Unsupported => {
            Ok(options.input(format, open(address.join(name), None).with_context(|| options.label.clone())?))
        }
        (Err(error), None) if error.kind() == ErrorKind::Unsupported => Err(unsupported!(
            "the group has no consolidated metadata, and the server lists no names: name an array behind a colon"
        )
        .within(&*options.label)),
        (Err(error), _) => {
            let is_none = matches!(mark_at(client, address, format), Ok(None));
            let error = if is_none { absent(client, address, error) } else { error };
            Err(error.within(&*options.label))
        }
    }
}

fn mark_at(client: &Arc<Client>, address: &Address, format: Format) -> Result<Option<&'static str>> {
    let root = RemoteStore::new(client, address.clone());
    for &mark in format.all_marks() {
        if root.size(mark)?.is_some() {
            return Ok(Some(mark));
        }
    }
    Ok(None)
}

/// Objects with longer names suggest a folder.
fn absent(client: &Client, address: &Address, error: Error) -> Error {
    let is_bucket = matches!(address, Address::Bucket { .. });
    let listed = if is_bucket { client.list(address, ListedNames::Some).ok() } else { None };
    let Some(first) = listed.and_then(|listing| listing.objects.into_iter().next()) else { return error };
    let message = format!(
        "is neither an object nor a Zarr store, but a prefix of objects such as {:?}: a bucket gives objects and \
         stores, not folders of files",
        first.name
    );
    Error::from_kind(ErrorKind::Io(std::io::ErrorKind::NotFound), message)
}

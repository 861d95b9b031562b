//! Changes a tensor in place, in its own file or store.

use std::sync::Mutex;

use super::output::Work;
use super::plan::Share;
use crate::engine::job::{Job, Progress};
use crate::engine::sink::FileSink;
use crate::error::{Context, Error, ErrorKind, Result, malformed};
use crate::layout::order::sort_by;
use crate::layout::window::{Window, Windows};
use crate::ops::fill::Patch;
use crate::storage::key_store::Commit;
use crate::storage::signals;

/// Changes the data of a work that is [in place](Work::is_in_place): only the windows in which something changes are read
/// and written, and of a store in chunks only those of `share`, if there is one. After the last check and before the first
/// change `expect` is called once with the number of bytes that `progress` will add up to.
///
/// # Errors
/// A share of data that is not stored in chunks; data that is in no local file; of reading and writing.
pub fn edit(work: Work, share: Option<Share>, expect: &dyn Fn(usize), progress: Progress<'_>) -> Result<()> {
    let label = work.label();
    let job = Job::new(work.fill, work.limits)?;
    let patch = job.fill().as_patch().expect("what changes data where it lies is a patch");
    if patch.base().source.as_chunks().is_some() {
        return edit_chunks(&job, patch, &label, share, expect, progress);
    }
    if share.is_some() {
        return Err(
            Error::of(ErrorKind::Unsupported, "parts of it are changed in place only in a Zarr store").within(label)
        );
    }
    let (file, start) = patch.base().source.as_local_file().ok_or_else(|| malformed!("{label}: no file"))?;
    signals::survive_size_limit();
    job.edit(patch, &FileSink::new(file, start, job.meta(), &label), expect, progress)
}

/// Writes the chunks in which something changes anew, those of `share` if there is one. All of them are first written
/// beside the store, so that nothing has changed if one of them cannot be read or written; then each takes its name.
fn edit_chunks(
    job: &Job,
    patch: &dyn Patch,
    label: &str,
    share: Option<Share>,
    expect: &dyn Fn(usize),
    progress: Progress<'_>,
) -> Result<()> {
    let chunks = patch.base().source.as_chunks().expect("the data lies in chunks");
    let windows = Windows::boxes(&job.meta().shape, &chunks.style().unit);
    let own = share.map_or(0..windows.count(), |share| share.of(windows.count()));
    let touched: Vec<usize> = patch.touched(&windows)?.into_iter().filter(|number| own.contains(number)).collect();
    let store = chunks.edit().with_context(|| format!("{label}: nothing can be written beside it"))?;
    let itemsize = job.meta().dtype.itemsize();
    expect(touched.iter().map(|&number| windows.get(number).items().saturating_mul(itemsize)).sum());
    let written = Mutex::new(Vec::with_capacity(touched.len()));
    let put = |window: &Window, items: &[u8]| -> Result<()> {
        // A chunk is not read if all of its items change; a folder in its place must be refused before others change.
        chunks.value_of(window).with_context(|| label.to_owned())?;
        let (key, bytes) = chunks.packed(window, items).with_context(|| label.to_owned())?;
        let value = store.prepare(&key, &bytes);
        let value = value.with_context(|| format!("{label}: chunk {key}: cannot be written"))?;
        written.lock().expect("no thread panicked").push((key, value));
        Ok(())
    };
    job.each(&windows, &touched, &put, progress)?;
    patch.finish_updates()?;
    let mut written = written.into_inner().expect("no thread panicked");
    sort_by(&mut written, |(a, _), (b, _)| a.cmp(b));
    let commit = |(_, commit): (_, Commit)| commit();
    written.into_iter().try_for_each(commit).with_context(|| format!("{label}: a chunk cannot be put in its place"))
}

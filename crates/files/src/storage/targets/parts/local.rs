//! Parts of an output on a disk. An unfinished output is in `.NAME.tensorop` beside its target. Only
//! [`begin`](PartsPlace::begin) creates that folder, so a process that outlives it cannot write any more.

use std::fs::{self, File, OpenOptions};
use std::io;

use super::{DONE, LOCK, Ledger, Parts, PartsPlace, Record};
use crate::storage::key_store::{KeyStore, WritableStore};
use crate::storage::local_store::LocalStore;
use crate::storage::platform::{copy_mode, mark, marked, marked_with, open_folder, sync_folder};
use crate::storage::targets::draft::StoreDraft;
use crate::storage::targets::stage::{NamedTarget, OwnFolder, Stage, folder_of, hidden_name, remove, sum_of_sizes};
use tensorop_kernels::error::{Context, Result};

/// The name of an output that is one file.
const FILE: &str = "file";

#[derive(Debug)]
struct LocalParts<'a> {
    target: &'a NamedTarget,
    is_folder: bool,
    /// The stage of an output that is a folder.
    stage: Stage,
    /// The process's own folder for new files.
    own: Option<OwnFolder>,
}

pub fn parts(target: &NamedTarget, is_folder: bool, record: Record) -> Result<Parts<'_>> {
    let folder = hidden_name(&target.path, "tensorop")?;
    let writer = Box::new(Stage::shared(folder.clone()).into_writer(folder.clone()));
    let ledger = Ledger::new(Box::new(LocalStore::new(&folder)), writer, record);
    let beside = folder.display().to_string();
    let place = LocalParts { target, is_folder, stage: Stage::shared(folder), own: None };
    Ok(Parts { label: &target.label, beside, place: Box::new(place), ledger })
}

impl PartsPlace for LocalParts<'_> {
    fn is_marked(&self, mark: u64) -> Result<bool> {
        Ok(marked(&self.target.path, mark))
    }

    fn is_as_finished(&self) -> Result<bool> {
        let path = &self.target.path;
        marked_with(path).map_or(Ok(true), |then| Ok(sum_of_sizes(path)? == then))
    }

    fn begin_anew(&self, own: u64) -> Result<()> {
        if marked(&self.target.path, own) { Ok(mark(&self.target.path, 0, 0)?) } else { Ok(()) }
    }

    fn begin(&mut self, part: usize) -> Result<Box<dyn WritableStore>> {
        fs::create_dir_all(self.stage.path().join(DONE))?;
        self.stage.make_folders()?;
        let own = OwnFolder::take(self.stage.path(), &part.to_string())?;
        self.stage = self.stage.within(&own);
        let writer = self.stage.within(&own).into_writer(self.stage.path().to_owned());
        self.own = Some(own);
        if !self.stage.path().join(LOCK).exists() {
            writer.put_if_absent(LOCK, b"")?;
        }
        Ok(Box::new(writer))
    }

    fn store(&self) -> &dyn StoreDraft {
        &self.stage
    }

    fn file(&self, bytes: u64, lost: &dyn Fn(u64) -> io::Result<()>) -> io::Result<File> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(self.stage.path().join(FILE))?;
        if file.metadata()?.len() != bytes {
            let _lock = LocalStore::new(self.stage.path()).lock(LOCK, false).ok();
            let length = file.metadata()?.len();
            if length < bytes {
                lost(length)?;
            }
            file.set_len(bytes)?;
        }
        Ok(file)
    }

    fn file_length(&self) -> Option<u64> {
        fs::metadata(self.stage.path().join(FILE)).ok().map(|found| found.len())
    }

    fn publish(&self, own: u64) -> Result<()> {
        self.take_name(own).with_context(|| self.target.failed())
    }

    /// Renames the folder first, so that no process finds it half removed. The new name is fixed, so that the remains
    /// of a killed process are found.
    fn forget(&self) -> Result<()> {
        let gone = hidden_name(&self.target.path, "tensorop.gone")?;
        remove(&gone);
        match fs::rename(self.stage.path(), &gone) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Another process has just renamed it.
            Err(_) if !self.stage.path().exists() => {}
            renamed => renamed?,
        }
        remove(&gone);
        Ok(())
    }
}

impl LocalParts<'_> {
    /// The mark is set before the name.
    fn take_name(&self, own: u64) -> Result<()> {
        let NamedTarget { path: target, existing, .. } = self.target;
        if self.is_folder {
            mark(&self.stage.store(), own, sum_of_sizes(&self.stage.store())?)?;
            return self.stage.publish(self.target);
        }
        let path = self.stage.path().join(FILE);
        let file = File::open(&path)?;
        if let Some(existing) = existing {
            copy_mode(&file, existing)?;
        }
        mark(&path, own, sum_of_sizes(&path)?)?;
        fs::rename(&path, target)?;
        Ok(open_folder(folder_of(target))?.map_or(Ok(()), |folder| sync_folder(&folder))?)
    }
}

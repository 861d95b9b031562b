//! `.npz` in the table of formats.

use std::fs::File;
use std::io::Read;
use std::sync::Arc;

use super::deflate;
use super::read::Archive;
use super::records::WrittenSums;
use super::write::ArchiveWriter;
use crate::container::content::{Content, Description};
use crate::container::file_options::LayoutRequest;
use crate::container::interface::{
    BegunSeal, Items, ItemsPlace, Layout, Members, Places, ReadableFile, Reader, ReadsBack, Seal, StoredMember,
    WriteSequence, Writer,
};
use crate::container::lazy_content::LazyContent;
use crate::formats::npy;
use crate::plans::sink::Written;
use crate::storage::attachments::Attachments;
use crate::storage::source::{Container, Source};
use tensorop_kernels::error::Result;
use tensorop_kernels::item::meta::Meta;
use tensorop_kernels::parallel::Threads;

pub(crate) fn open(content: Content) -> Result<ReadableFile> {
    let threads = content.threads;
    let file = content.into_bytes()?.0;
    let archive = Arc::new(Archive::read(Arc::clone(&file))?);
    let names = archive.others.iter().map(|other| other.full_name.clone()).collect();
    let others = OtherMembers { archive: Arc::clone(&archive), names, threads };
    let container = Container {
        attachments: Some(Arc::new(others)),
        ..Container::new(file.identity()?, archive.names().map(str::to_owned).collect())
    };
    let members = Members { is_compressed: archive.is_deflated(), ..Members::of(container) };
    Ok(ReadableFile::new(members, NpzReader { archive, threads }))
}

#[derive(Debug)]
struct OtherMembers {
    archive: Arc<Archive>,
    names: Vec<String>,
    threads: Threads,
}

impl Attachments for OtherMembers {
    fn names(&self) -> Result<&[String]> {
        Ok(&self.names)
    }

    fn open(&self, n: usize) -> Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.archive.open_other(n, self.threads)?))
    }

    fn open_stored(&self, n: usize) -> Result<Option<Box<dyn Read + '_>>> {
        Ok(Some(Box::new(self.archive.open_stored(n, self.threads)?)))
    }
}

#[derive(Debug)]
struct NpzReader {
    archive: Arc<Archive>,
    threads: Threads,
}

impl Reader for NpzReader {
    fn stored(&self, n: usize) -> StoredMember {
        let archive = Arc::clone(&self.archive);
        // a search of all members finds the end
        let bytes = LazyContent::new(move || Ok(Box::new(archive.raw(n))));
        StoredMember { bytes: Some(Box::new(bytes)), ..StoredMember::default() }
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let (header, offset) = self.archive.header(n)?;
        Ok(Description::new(header.meta, header.bytes as u64, offset))
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        self.archive.source(n, label, self.threads)
    }
}

#[derive(Debug)]
pub(crate) struct NpzWriter;

impl Writer for NpzWriter {
    fn reads_back(&self, meta: &Meta) -> ReadsBack {
        npy::reads_back(meta)
    }

    fn layout(&self, tensors: &[(&str, &Meta)], request: &LayoutRequest<'_>) -> Result<Layout> {
        let member = |(name, meta): &(&str, &Meta)| ((*name).to_owned(), npy::write_header(meta), meta.bytes() as u64);
        let writer = ArchiveWriter::new(tensors.iter().map(member).collect())?;
        if request.options.compress {
            return Ok(Layout::Sequence(Box::new(writer)));
        }
        let place = |(n, (_, meta)): (usize, &(&str, &Meta))| ItemsPlace::bytewise(writer.items_at(n), meta);
        // items determine everything around them, so the layout has no header
        let places = Places::new(Vec::new(), tensors.iter().enumerate().map(place).collect());
        Ok(Layout::Places(Places { bytes: writer.len(), seal: Some(Box::new(writer)), ..places }))
    }
}

impl Seal for ArchiveWriter {
    fn begin(&self) -> Box<dyn BegunSeal + '_> {
        let checksums = vec![0; self.count()];
        Box::new(Sealing { archive: self, sums: WrittenSums::default(), checksums })
    }
}

#[derive(Debug)]
struct Sealing<'a> {
    archive: &'a ArchiveWriter,
    /// Of the items.
    sums: WrittenSums,
    /// Of the members.
    checksums: Vec<u32>,
}

impl Written for Sealing<'_> {
    fn add(&self, bytes: &[u8], at: u64) {
        self.sums.add(bytes, at);
    }
}

impl BegunSeal for Sealing<'_> {
    fn before_items(&mut self, n: usize) -> Vec<u8> {
        let (checksum, bytes) = self.archive.before_items(n, &self.sums);
        self.checksums[n] = checksum;
        bytes
    }

    fn end(&self) -> Result<Vec<u8>> {
        self.archive.end(&self.checksums)
    }
}

impl WriteSequence for ArchiveWriter {
    fn write_sequence(&self, file: &File, items: &mut Items<'_>) -> Result<()> {
        deflate::write(self.clone(), file, items)
    }
}

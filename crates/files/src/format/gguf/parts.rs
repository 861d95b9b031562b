//! A model in several files, as `llama-gguf-split` divides it: the first file, `NAME-00001-of-00003.gguf`, stands for all
//! of them. Each has its own header; keys of the model are in the first.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::GgufReader;
use crate::error::Result;
use crate::format::beside::{join, open_beside};
use crate::format::content::{Description, FileFacts, MemberFile};
use crate::format::interface::Reader;
use crate::format::repeated_names::numbered;
use crate::storage::requests::RequestOptions;
use crate::storage::source::{Metadata, Source};

/// The maximum number of files of a model.
pub const MAX_FILES: u32 = 10_000;

/// Returns the names of the other files of which the file of this name is the first.
pub(super) fn others(name: &str, files: u32) -> Option<Vec<String>> {
    let (stem, extension) = name.rsplit_once('.')?;
    let stem = stem.strip_suffix(&format!("-00001-of-{files:05}"))?;
    Some((2..=files).map(|n| format!("{stem}-{n:05}-of-{files:05}.{extension}")).collect())
}

#[derive(Debug)]
pub(super) struct PartsReader {
    /// The first is the file that was opened.
    files: Vec<Result<GgufReader>>,
    /// Those of the other files.
    paths: Vec<PathBuf>,
    names: Vec<String>,
    /// The file, and the number of the tensor there.
    places: Vec<(usize, usize)>,
    metadata: Arc<Metadata>,
    kept: Arc<Metadata>,
}

impl PartsReader {
    /// A file that cannot be read is listed as one tensor with its name.
    pub(super) fn new(first: GgufReader, folder: &Path, others: &[String], requests: RequestOptions) -> Self {
        let [metadata, kept] = [&first.metadata, &first.kept].map(Arc::clone);
        let paths: Vec<_> = others.iter().map(|name| join(folder, name)).collect();
        let mut files = vec![Ok(first)];
        files.extend(paths.iter().map(|path| GgufReader::read(open_beside(path, requests)?)));
        let (mut names, mut places) = (Vec::new(), Vec::new());
        for (n, file) in files.iter().enumerate() {
            let own = match file {
                Ok(reader) => reader.names().unwrap_or_default(),
                Err(_) => &others[n - 1..n],
            };
            places.extend((0..own.len()).map(|there| (n, there)));
            names.extend(own.iter().cloned());
        }
        let names = numbered(names);
        Self { files, paths, names, places, metadata, kept }
    }

    fn find(&self, n: usize) -> Result<(&GgufReader, usize)> {
        let (file, there) = self.places[n];
        match &self.files[file] {
            Ok(reader) => Ok((reader, there)),
            Err(error) => Err(error.clone()),
        }
    }
}

impl Reader for PartsReader {
    fn names(&self) -> Option<&[String]> {
        Some(&self.names)
    }

    fn facts(&self) -> FileFacts<'_> {
        FileFacts { files: &self.paths, ..FileFacts::default() }
    }

    fn file_of(&self, n: usize) -> Result<MemberFile> {
        let (reader, there) = self.find(n)?;
        let path = self.places[n].0.checked_sub(1).map(|other| self.paths[other].clone());
        let member = path.is_some().then(|| reader.container.names[there].clone());
        let (metadata, said) = (Some(Arc::clone(&self.kept)), Some(Arc::clone(&self.metadata)));
        Ok(MemberFile { path, member, metadata, said, ..MemberFile::default() })
    }

    fn file_number(&self, n: usize) -> usize {
        self.places[n].0
    }

    fn is_passed_over(&self, n: usize) -> bool {
        self.find(n).is_ok_and(|(reader, there)| reader.is_passed_over(there))
    }

    fn raw(&self, n: usize) -> Option<Box<dyn Read>> {
        let (reader, there) = self.find(n).ok()?;
        reader.raw(there)
    }

    fn whole(&self, n: usize) -> Option<Box<dyn Read>> {
        let (reader, there) = self.find(n).ok()?;
        reader.whole(there)
    }

    fn describe(&self, n: usize) -> Result<Description> {
        let (reader, there) = self.find(n)?;
        reader.describe(there)
    }

    fn source(&self, n: usize, label: String) -> Result<Source> {
        let (reader, there) = self.find(n)?;
        reader.source(there, label)
    }

    fn blocks(&self, n: usize, label: String) -> Result<Option<Source>> {
        let (reader, there) = self.find(n)?;
        reader.blocks(there, label)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_files() {
        let two = vec!["m-00002-of-00003.gguf".to_owned(), "m-00003-of-00003.gguf".to_owned()];
        let rows = [
            ("m-00001-of-00003.gguf", 3, Some(two)),
            ("m-00001-of-00003.gguf", 2, None),
            ("m-00002-of-00003.gguf", 3, None),
            ("m.gguf", 3, None),
            ("m-00001-of-00001.gguf", 1, Some(Vec::new())),
        ];
        for (name, files, expected) in rows {
            assert_eq!(others(name, files), expected, "{name}");
        }
    }
}

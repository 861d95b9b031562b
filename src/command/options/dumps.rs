//! The options for tensors that a runtime dumps layer by layer.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use clap::{Args, ValueHint};

use super::passing::check_patterns;
use super::slices::IndexList;
use super::values::{ByName, parse_path};
use crate::container::names::list;
use crate::layout::axis::BeyondInt64;
use crate::opening::dump_views::DumpShapes;

/// Options for reading dumps, for the order of comparing, and for the tensors in the report.
#[derive(Args)]
#[command(next_help_heading = "Dumps of layers")]
pub(crate) struct DumpOptions {
    /// A JSON file with the dtype and shape of each file without a header, by its path in the folders
    ///
    /// It is an object such as {"layer_33.bin": {"dtype": "float32", "shape": [1, 8, 6, 5]}}. Each entry may have an "offset",
    /// the byte at which the items begin, and an "order", C or F; another key is an error. The entries are for files of both
    /// folders. An entry without a file is an error. A file without an entry whose ending is .bin, or that of an entry, is
    /// unreadable. Without this option, a .json beside a file can hold its entry: layer_33.bin.json or layer_33.json, without
    /// "data".
    #[arg(long, value_name = "FILE.json", value_parser = parse_path(), value_hint = ValueHint::FilePath)]
    pub shapes: Option<PathBuf>,
    /// Compare ACTUAL with its axes in this order, as transpose --axes gives it; with GLOB=I only matching tensors
    ///
    /// 0,3,1,2 compares ACTUAL's [N, H, W, C] with EXPECTED's [N, C, H, W]. Indices and shapes in the report are those of
    /// EXPECTED. Can be given several times: the last one that matches the name of a tensor decides. If shapes differ by the
    /// order of their axes only, the report gives the axes under which the values agree.
    #[arg(id = "actual_axes", long = "axes", value_name = "I", value_parser = parse_axes, value_hint = ValueHint::Other)]
    pub axes: Vec<ByName<Vec<i64>>>,
    /// Stop at the first tensor in EXPECTED's order that does not pass, and report it alone
    ///
    /// The order is that of storage in a container, and the natural order of names in a folder. Tensors that only ACTUAL has
    /// come last. No later tensor is read. A tensor that cannot be read also ends the comparison, with status 2.
    #[arg(long, conflicts_with_all = ["explain", "junit"])]
    pub first: bool,
    /// A text file with the order of tensors for --first: a name on each line
    ///
    /// Tensors that the file does not name come last, in natural order. Blank lines, and # at the beginning of a line or after
    /// a blank with the rest of its line, are left out.
    #[arg(long, value_name = "FILE", value_parser = parse_path(), value_hint = ValueHint::FilePath, requires = "first")]
    pub order: Option<PathBuf>,
    /// Leave out tensors that are the same or within the tolerance, also with --json; the counts include them
    #[arg(long)]
    pub only_different: bool,
}

fn parse_axes(text: &str) -> Result<ByName<Vec<i64>>, String> {
    ByName::parse(text, |text| match IndexList::parse(text.into(), BeyondInt64::Refused)? {
        IndexList::List(axes) if !axes.is_empty() => Ok(axes),
        IndexList::List(_) | IndexList::File(_) => {
            Err("expected the axes in their new order, such as 0,3,1,2".to_owned())
        }
    })
}

impl DumpOptions {
    pub(crate) fn axes(&self, name: &str) -> Option<Vec<i64>> {
        ByName::last(&self.axes, name).cloned()
    }

    pub(crate) fn shapes(&self) -> Result<Option<Arc<DumpShapes>>> {
        let Some(path) = &self.shapes else { return Ok(None) };
        let label = || format!("--shapes {}", path.display());
        let text = fs::read(path).with_context(label)?;
        Ok(Some(Arc::new(DumpShapes::parse(&text).with_context(label)?)))
    }

    pub(crate) fn check_shapes(&self, shapes: Option<&Arc<DumpShapes>>) -> Result<()> {
        let unused = shapes.map_or_else(Vec::new, |shapes| shapes.unused());
        if let (Some(path), false) = (&self.shapes, unused.is_empty()) {
            bail!("--shapes {}: no compared folder has a file {}", path.display(), list(&unused));
        }
        Ok(())
    }

    pub(crate) fn check_accepting(&self, accepts: bool) -> Result<()> {
        match [(self.first, "--first"), (!self.axes.is_empty(), "--axes")].into_iter().find(|(is_given, _)| *is_given) {
            Some((_, option)) if accepts => {
                bail!(
                    "{option}: --accept writes every different tensor of ACTUAL, with its own axes: leave one of the two out"
                )
            }
            Some(_) | None => Ok(()),
        }
    }

    pub(crate) fn check_globs(&self, names: &[&str]) -> Result<()> {
        check_patterns(ByName::globs("--axes", &self.axes), names)
    }
}

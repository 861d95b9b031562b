//! A note on tensors that change when the output is read back: CSV has no axis of length 1 and no dtypes, and strings of ONNX
//! have no width.

use std::path::Path;

use anyhow::Result;

use super::io::{Run, note};
use super::messages::advised;
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::format::interface::ReadsBack;
use crate::format::located::Located;
use crate::format::open::OpenOptions;
use crate::format::write::LaidOut;
use crate::item::dtype::Kind;
use crate::item::meta::Meta;

pub(super) struct ReadBack {
    format: Format,
    others: Vec<(Option<String>, Meta, ReadsBack)>,
}

impl ReadBack {
    pub(super) fn of(plan: &LaidOut) -> Self {
        let other = |(name, meta, _): (&str, &Meta, u64)| {
            let back = plan.format().writer().reads_back(meta);
            let name = Some(name.to_owned()).filter(|_| plan.format().is_container());
            (back != ReadsBack::Same).then(|| (name, meta.clone(), back))
        };
        Self { format: plan.format(), others: plan.tensors().filter_map(other).collect() }
    }

    /// Prints a note if a tensor changes.
    pub(super) fn tell(self, run: Run<'_>, label: &str, path: &Path) -> Result<()> {
        if run.quiet {
            return Ok(());
        }
        let others = self.others.into_iter().filter_map(|(name, meta, back)| {
            let back = match back {
                ReadsBack::Same => return None,
                ReadsBack::As(back) => Ok(back),
                ReadsBack::ByItems => described(path, self.format),
            };
            Some((name, difference(&meta, back)?))
        });
        let others: Vec<_> = others.collect();
        let Some((name, back)) = others.first() else { return Ok(()) };
        let name = name.as_ref().map_or_else(String::new, |name| format!(":{name}"));
        let more =
            if others.len() > 1 { format!(", and {} more tensors as others", others.len() - 1) } else { String::new() };
        let line = format!("{label}{name}: {back}{more}");
        note(&run.io.stderr, &line)
    }
}

/// Commands ask for the dtype of void items, whose bits are the same.
fn difference(meta: &Meta, back: Result<Meta, Error>) -> Option<String> {
    let is_text = |meta: &Meta| matches!(meta.dtype.kind(), Kind::Str(_));
    match back {
        Ok(back) if back.dtype.is_ambiguous() || back.dtype.native() == meta.dtype.native() => {
            (back.shape != meta.shape).then(|| format!("reads back as {:?}", back.shape))
        }
        Ok(back) => {
            let advice = if is_text(meta) && !is_text(&back) { "; --dtype str reads strings" } else { "" };
            Some(format!("reads back as {} {:?}{advice}", back.dtype.name(), back.shape))
        }
        Err(error) => (error.kind() == ErrorKind::Malformed)
            .then(|| format!("does not read back: {}", advised(error.message().to_owned(), error.advice()))),
    }
}

fn described(path: &Path, format: Format) -> Result<Meta, Error> {
    let options = OpenOptions { format: Some(format), ..OpenOptions::default() };
    Ok(options.open(&Located::from_path(path))?.describe(0)?.meta)
}

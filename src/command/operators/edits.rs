//! In-place changes of several tensors.
//!
//! All files are locked first, in the order of their paths, so that two commands cannot wait for each other. All checks
//! come before the first change.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, anyhow, bail};

use super::operation::{Edited, Operation};
use crate::command::messages::{counted, message as message_of, unless_closed};
use crate::command::operands::member::Member;
use crate::command::operands::operand_reader::{OperandReader, check_format_changeable, check_items_changeable};
use crate::command::options::{ChangeOptions, Operand, UpdatesOptions};
use crate::command::outputs::dry_run::Report;
use crate::command::process::io::{Io, Outcome};
use crate::container::content::MemberFile;
use crate::container::glob::Glob;
use crate::container::name_filter::NameFilter;
use crate::container::name_order::by_numbers;
use crate::error::Context;
use crate::opening::collection;
use crate::opening::input::OpenOptions;
use crate::opening::located::{Located, Place};
use crate::untyped::delimiter::TableOptions;

/// `line` makes the final message from the number of tensors.
pub(crate) fn run_for_each(
    io: &Io,
    operands: (&Operand, Option<&Operand>),
    updates: &UpdatesOptions,
    options: &ChangeOptions,
    line: &dyn Fn(usize) -> String,
    run: &dyn Fn(Operation<'_>) -> Result<Outcome>,
) -> Result<Outcome> {
    let (data, indices) = operands;
    let is_pattern = data.located.suffix.as_deref().is_some_and(|after| Glob::new(after).is_pattern());
    let may_be_several = is_pattern && options.edit.in_place && updates.fill.is_some();
    let members = match may_be_several {
        true => OperandReader::new(io, &options.input, &options.run)?.find_all_locked(data)?,
        false => None,
    };
    let Some(members) = members else {
        return run(Operation::begin_change(io, data, indices, updates, options, None)?);
    };
    if let Some(indices) = indices.filter(|indices| indices.located.is_stdin()) {
        bail!("{}: standard input is read once, and DATA is several tensors: name a file", indices.label);
    }
    if options.output.parts.is_given() {
        bail!("--part: takes one tensor, and {} has several", data.label);
    }
    let count = members.len();
    let reports = RefCell::new(Report::default());
    let all = |is_check: bool| {
        members.iter().try_for_each(|(member, name)| {
            let edited = Edited { member: member.clone(), name, is_check, reports: &reports };
            let done = run(Operation::begin_change(io, data, indices, updates, options, Some(edited))?);
            // errors about options do not name the tensor
            done.map(drop).map_err(|error| match message_of(&error) {
                message if message.contains(&member.label) => error,
                message => anyhow!("{}: {message}", member.label),
            })
        })
    };
    let is_dry_run = options.output.is_dry_run();
    all(!is_dry_run)?;
    if is_dry_run {
        return reports.into_inner().print(io);
    }
    all(false)?;
    if !options.run.quiet {
        use std::io::Write as _;
        unless_closed(writeln!(io.stdout.clone(), "{}", line(count))).context("standard output")?;
    }
    Ok(Outcome::Done)
}

pub(crate) fn changed(count: usize) -> String {
    format!("{} changed", counted(count, "tensor", "tensors"))
}

impl OperandReader<'_> {
    /// Resolves `FOLDER:NAME`. Other operands stay unchanged.
    pub(crate) fn in_its_file<'o>(&self, operand: &'o Operand, options: &OpenOptions) -> Result<Cow<'o, Located>> {
        let located = &operand.located;
        if !matches!(located.place, Place::Folder(_)) {
            return Ok(Cow::Borrowed(located));
        }
        if located.suffix.is_none() {
            bail!("{}: --in-place changes one tensor: name it after a colon", operand.label);
        }
        let input =
            collection::open(&OpenOptions { locked: false, ..options.clone() }, located, NameFilter::default())?;
        let MemberFile { path, member, .. } = input.file_of(input.chosen()?)?;
        let path = path.expect("a tensor of a folder is in a file");
        Ok(Cow::Owned(Located::from_path(path).with_member(member)))
    }

    /// Returns `None` if the suffix is not a pattern.
    fn find_all_locked(&self, operand: &Operand) -> Result<Option<Vec<(Member, String)>>> {
        let Operand { located, label, .. } = operand;
        let options = OpenOptions { table: TableOptions::default(), ..self.open_options(label) };
        let input = match &located.place {
            Place::File(_) | Place::Store(..) | Place::Folder(_) => {
                collection::open(&options, located, NameFilter::default())?
            }
            Place::Stdin | Place::Json(_) | Place::Pipe(_) | Place::Object(_) | Place::Absent(_) => return Ok(None),
        };
        if input.glob().is_none() {
            return Ok(None);
        }
        let own = located.file().expect("it is a file or a folder");
        let mut files: BTreeMap<PathBuf, Vec<(Option<String>, String, String)>> = BTreeMap::new();
        for n in input.select()? {
            let MemberFile { path, member, .. } = input.file_of(n)?;
            let name = input.name(n);
            let (path, member) = match path {
                Some(path) => (path, member),
                None => (own.clone(), name.map(str::to_owned)),
            };
            files.entry(path).or_default().push((member, input.label_of(name), name.unwrap_or_default().to_owned()));
        }
        drop(input);
        let mut members = Vec::new();
        for (path, tensors) in files {
            let options = OpenOptions { locked: true, format: None, ..options.clone() };
            let file = path.display().to_string();
            let input = Arc::new(options.open(&Located::from_path(path))?);
            for (member, label, name) in tensors {
                let n = input.pick(member.as_deref())?;
                check_format_changeable(&input, Some(n), &file, &label)?;
                check_items_changeable(&input, n, &label)?;
                input.lock(n, false)?;
                members.push((Member { input: Arc::clone(&input), n, label }, name));
            }
        }
        // from the order of the locks to that of names
        members.sort_by(|(a, _), (b, _)| by_numbers(&a.label, &b.label));
        Ok(Some(members))
    }
}

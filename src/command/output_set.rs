//! The tensors of an output, and the content that comes with them from the files of the operands.

use anyhow::{Result, anyhow};

use super::asked::DTypeOption;
use super::dry_run::Report;
use super::io::note;
use super::member::Member;
use super::messages::message;
use super::options::members::UnreadableMembers;
use crate::format::file_options::NamedCopy;
use crate::format::write::OutputTensor;
use crate::format::{Format, Inherited};
use crate::storage::source::Source;
use crate::storage::stream::OutputStream;
use crate::storage::unread::UnreadArray;

/// The tensors of an output, and the content that comes with them.
pub(super) struct OutputSet<'a> {
    pub tensors: Vec<OutputTensor>,
    pub inherited: Inherited,
    /// Whether the user left out the tensor of a name.
    pub left_out: Box<dyn Fn(&str) -> bool + 'a>,
    pub report: Report,
    format: Option<Format>,
    unreadable: UnreadableMembers,
    /// Why members are left out, each with its name.
    passed_over: Vec<String>,
}

impl<'a> OutputSet<'a> {
    pub(super) fn new(format: Option<Format>, report: Report) -> Self {
        let (tensors, inherited) = (Vec::new(), Inherited::default());
        let (unreadable, passed_over) = (UnreadableMembers::default(), Vec::new());
        Self { tensors, inherited, left_out: Box::new(|_| false), report, format, unreadable, passed_over }
    }

    pub(super) fn push(&mut self, tensor: OutputTensor) {
        self.inherited.is_group |= tensor.fill.data().name_in_group().is_some();
        self.tensors.push(tensor);
    }

    /// Opens the items of a member, whose old and new names are given. A member of a store that cannot be read becomes a copy,
    /// unless `changes` returns an option that would change it; then there is no source. If `is_one_of_many`, a member that
    /// cannot be described is refused by [`check_readable`](Self::check_readable), together with all others.
    pub(super) fn add(
        &mut self,
        member: &Member,
        (old, new): (&str, &str),
        dtype: DTypeOption<'_>,
        is_one_of_many: bool,
        changes: impl Fn(&UnreadArray) -> Option<&'static str>,
    ) -> Result<Option<Source>> {
        let Member { input, n, .. } = member;
        let why = match member.source(dtype) {
            Err(why) => why,
            source => return source.map(Some),
        };
        let is_copied = self.format.is_some_and(|format| format.can().chunks);
        let why = match if is_copied { input.unread(*n) } else { Ok(None) } {
            Ok(None) => why,
            Ok(Some(array)) => match changes(&array) {
                None => {
                    self.inherited.is_group |= array.is_of_group;
                    self.inherited.copies.push(NamedCopy { name: new.to_owned(), array });
                    return Ok(None);
                }
                Some(option) => {
                    let message = message(&why);
                    anyhow!("{message}, so it is only copied as stored, and {option} would change it")
                }
            },
            Err(error) => {
                anyhow!("{}, and it cannot be copied as stored: {}", message(&why), error.message())
            }
        };
        if !is_one_of_many || input.describe(*n).is_ok() {
            return Err(why);
        }
        match input.reader().is_passed_over(*n) {
            true => self.passed_over.push(message(&why)),
            false => self.unreadable.add(old, message(&why)),
        }
        Ok(None)
    }

    /// Refuses the members that cannot be described, and notes those of unknown kinds, which are left out.
    pub(super) fn check_readable(&mut self, stderr: &OutputStream) -> Result<()> {
        std::mem::take(&mut self.unreadable).finish()?;
        self.passed_over.iter().try_for_each(|why| note(stderr, &format!("{why}: not read, left out")))
    }
}

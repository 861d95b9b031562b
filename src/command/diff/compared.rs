//! An operand of a comparison, opened as far as it can be without the other one.

use std::sync::Arc;

use anyhow::{Result, bail};

use super::acceptance::is_absent;
use crate::command::operands::member::Member;
use crate::command::operands::operand_reader::{OpenMode, OperandReader};
use crate::command::options::Operand;
use crate::container::names::NameFilter;
use crate::diff::{self, Difference, Effort, Options, Reason};
use crate::opening::folder::Folder;
use crate::opening::input::Input;
use crate::opening::located::{Located, Place};
use crate::storage::source::Source;

/// An operand of a comparison.
pub(crate) enum ComparedOperand {
    Opened(Arc<Input>),
    /// A whole folder, whose files are opened once both operands are known.
    Folder(Folder),
    /// A whole folder, and the tensors that are computed from its members.
    Made(Folder, Arc<Input>),
    /// Does not exist, but may be made.
    Absent,
}

pub(crate) fn find(
    reader: &OperandReader<'_>,
    operand: &Operand,
    may_be_made: bool,
    taken: NameFilter<'_>,
) -> Result<ComparedOperand> {
    match &operand.located {
        located if may_be_made && is_absent(located) => return Ok(ComparedOperand::Absent),
        Located { place: Place::Folder(folder), suffix: None, .. } => {
            if may_be_made && folder.is_pattern() {
                bail!(
                    "{}: --accept: EXPECTED is a pattern of files without a header, which are not written",
                    operand.label
                );
            }
            return Ok(match reader.options.makes_members() {
                false => ComparedOperand::Folder(folder.clone()),
                true => {
                    let made = reader.open(operand, OpenMode::Taking(taken))?;
                    check_written_back(&made, may_be_made)?;
                    ComparedOperand::Made(folder.clone(), made)
                }
            });
        }
        _ => {}
    }
    // only the scales of activations depend on the filter here
    let mode = if reader.options.makes_members() { OpenMode::Taking(taken) } else { OpenMode::Plain };
    let input = reader.open(operand, mode)?;
    input.select()?;
    check_written_back(&input, may_be_made)?;
    if let Some(glob) = input.glob().filter(|_| may_be_made) {
        let pattern = glob.text();
        bail!("{}: --accept: {pattern} is a pattern: name the whole, and give --only {pattern}", input.label());
    }
    Ok(ComparedOperand::Opened(input))
}

/// Checks that an accepted tensor would be the one that the next run compares.
fn check_written_back(expected: &Input, accepts: bool) -> Result<()> {
    match accepts && expected.members().are_made {
        true => bail!(
            "{}: --accept writes the tensors of a file, which --dequantize and --names read as others: leave one of the two out",
            expected.label()
        ),
        false => Ok(()),
    }
}

impl ComparedOperand {
    /// Whether it names a tensor, or its format holds only one.
    pub(crate) fn is_meant(&self) -> bool {
        matches!(self, Self::Opened(input) if input.names().is_none() || input.member().is_some() && input.glob().is_none())
    }

    /// Also the only tensor of a container or of a pattern, which counts as one only if the other side is one, too.
    pub(crate) fn is_one(&self) -> bool {
        match self {
            Self::Opened(input) => {
                let may_be_one = input.glob().is_some() || !input.format().names_files();
                self.is_meant() || may_be_one && input.select().is_ok_and(|selected| selected.len() == 1)
            }
            Self::Folder(_) | Self::Made(..) => false,
            Self::Absent => true,
        }
    }

    /// Returns the only tensor, or the one that the other side names.
    pub(crate) fn one(&self, reader: &OperandReader<'_>, operand: &Operand, other: (&str, &Self)) -> Result<Member> {
        let (label, (other, named)) = (&operand.label, other);
        let name = match named {
            Self::Opened(input) if named.is_meant() => input.member(),
            _ => None,
        };
        let advice = "name a member after a colon, or a file";
        let input = match (self, name) {
            (Self::Opened(input), _) | (Self::Made(_, input), Some(_)) => Arc::clone(input),
            (Self::Folder(_), Some(_)) => reader.open(operand, OpenMode::Plain)?,
            (Self::Folder(_) | Self::Made(..), None) => {
                bail!("{label}: is a folder, and {other} is one tensor: {advice}")
            }
            (Self::Absent, _) => bail!("{label}: does not exist"),
        };
        let n = match (input.glob(), name) {
            (Some(glob), _) => match input.select()?[..] {
                [n] => n,
                ref all => {
                    bail!("{label}: {} matches {} tensors, and {other} is one: {advice}", glob.text(), all.len())
                }
            },
            (None, Some(_)) if !self.is_one() => input.pick(name)?,
            // fails for zero or several tensors
            (None, _) => match input.chosen()? {
                n if self.is_one() => n,
                _ => bail!("{label}: an index names all of its tensors, and {other} is one: {advice}"),
            },
        };
        Ok(Member::from_input(input, n))
    }
}

/// Whether a pair fits better if the rows of one side stay in the stored order.
pub(crate) fn fits_as_stored(
    found_in: [(&Input, usize); 2],
    open: impl FnOnce() -> Result<[Source; 2]>,
    found: &Difference,
    options: &Options,
    effort: Effort,
) -> Result<bool> {
    if found.reason() != Some(Reason::Values) {
        return Ok(false);
    }
    let others = found_in.map(|(input, n)| input.as_stored(n));
    let effort = Effort { quantiles: false, of_files: false, permutations: false, ..effort };
    let [mut expected, mut actual] = match others {
        [Some(stored), None] => {
            let stored = stored?;
            let [_, actual] = open()?;
            [stored, actual]
        }
        [None, Some(stored)] => {
            let [expected, _] = open()?;
            [expected, stored?]
        }
        _ => return Ok(false),
    };
    let compared = diff::compare_sources(&mut expected, &mut actual, options, effort, &|_| ())?;
    let snr = |found: &Difference| found.metrics().and_then(|metrics| metrics.snr_db).unwrap_or(f64::NEG_INFINITY);
    Ok(compared.equal() || snr(&compared) > snr(found))
}

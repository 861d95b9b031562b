//! The arguments of a command line as far as the processes that make parts of one output must agree on them.

use std::any::Any;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use clap::ArgMatches;
use clap::parser::ValueSource;

use super::options::{IndexList, NamedOperand, OperandArg, file_of};
use crate::storage::platform::same_file;
use crate::storage::stage;
use crate::storage::target::Target;

/// The arguments that say how an output is made and not what it holds: parts that differ in them fit together.
const IRRELEVANT: [&str; 8] = ["part", "finish", "threads", "output", "restart", "quiet", "dry_run", "no_clobber"];

/// What a command line asks for.
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    /// The sub-command, and each option and operand with its text, in alphabetical order.
    command: String,
    /// The files and folders that are read.
    operands: Vec<PathBuf>,
    reads_stdin: bool,
}

impl Arguments {
    /// Returns the arguments of a parsed command line that asks for a part, or for all to be put in place, or says which
    /// format it reads; of any other, nothing. An operand is known by the type that it was parsed into.
    pub(super) fn of(matches: &ArgMatches) -> Self {
        let Some((name, matches)) = matches.subcommand() else { return Self::default() };
        if !["part", "finish", "from"].iter().any(|id| matches.try_contains_id(id).is_ok_and(|given| given)) {
            return Self::default();
        }
        let mut found = Self { command: name.to_owned(), ..Self::default() };
        let is_typed = |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        let mut ids: Vec<_> = matches.ids().filter(is_typed).map(clap::Id::as_str).collect();
        ids.sort_unstable();
        for id in ids {
            // the values of a group are the names of its arguments
            if IRRELEVANT.contains(&id) || matches.try_get_many::<clap::Id>(id).is_ok() {
                continue;
            }
            found.command.push_str(&format!(" {id}"));
            for text in matches.try_get_raw(id).ok().flatten().into_iter().flatten() {
                found.command.push_str(&format!(" {:?}", OsStr::to_string_lossy(text)));
            }
            let named = values::<NamedOperand>(matches, id).into_iter().map(|operand| operand.meant().arg);
            for operand in values(matches, id).into_iter().chain(named) {
                match operand {
                    OperandArg::Stdin | OperandArg::StdinAs(_) => found.reads_stdin = true,
                    OperandArg::Path(path) => found.operands.push(path),
                    OperandArg::Inline(_) => {}
                }
            }
            found.operands.extend(values(matches, id).into_iter().filter_map(IndexList::into_file));
        }
        found
    }

    /// Returns whether an operand is standard input, if the command line says which format it reads.
    pub(super) fn reads_stdin(&self) -> bool {
        self.reads_stdin
    }

    /// Refuses standard input, which every part would read.
    ///
    /// # Errors
    /// An operand is standard input.
    pub(super) fn refuse_stdin(&self) -> Result<()> {
        ensure!(!self.reads_stdin, "--part: standard input cannot be read by every part: name a file");
        Ok(())
    }

    /// Describes what `parts` parts of an output are made from, in lines: the version of the program, the command, the
    /// number of parts, and for each operand a stamp that changes when its file does.
    ///
    /// # Errors
    /// An operand is the output, or is not there.
    pub(super) fn record(&self, parts: usize, target: &Target) -> Result<String> {
        let mut record = format!("tensorop {}\ncommand {}\nparts {parts}\n", env!("CARGO_PKG_VERSION"), self.command);
        for path in self.operands.iter().map(|path| file_of(path).unwrap_or_else(|| path.clone())) {
            let label = path.display().to_string();
            let found = std::fs::metadata(&path).with_context(|| label.clone())?;
            if target.existing().is_some_and(|existing| same_file(existing, &found)) {
                bail!("--part: {label} is an operand and the output: parts of it would be made from what others made");
            }
            let stamp = stage::stamp(&path).with_context(|| label.clone())?;
            writeln!(record, "operand {label:?} {stamp}").expect("a String takes any text");
        }
        Ok(record)
    }
}

/// Returns the values of an argument, if they are of that type.
fn values<T: Any + Clone + Send + Sync>(matches: &ArgMatches, id: &str) -> Vec<T> {
    matches.try_get_many(id).ok().flatten().into_iter().flatten().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::grammar;

    /// Returns the arguments of a command line, whose words are parted by blanks.
    fn arguments(line: &str) -> Arguments {
        let words = std::iter::once("tensorop").chain(line.split(' '));
        Arguments::of(&grammar().try_get_matches_from(words).expect("a command line"))
    }

    #[test]
    fn what_parts_agree_on() {
        let same = [
            "slice a.npy --part 1/4 -o out.npy --at :1 --threads=3 -q",
            "slice a.npy --finish=4 --at :1 -oout.npy --dry-run",
            "slice --at :1 -qo out.npy a.npy --threads 3 --part 2/4 --restart",
            "slice --at :1 -o out.npy a.npy --no-clobber --part 3/4",
        ];
        for line in same {
            assert_eq!(arguments(line).command, "slice at \":1\" data \"a.npy\"", "{line}");
        }
        assert_eq!(
            arguments("slice a.npy --at :1 --finish 2 --compress").command,
            "slice at \":1\" compress \"true\" data \"a.npy\""
        );
    }

    #[test]
    fn what_is_an_operand() {
        let rows: [(&str, &[&str], bool); 7] = [
            ("slice-scatter a.npy - --at : --from csv", &["a.npy"], true),
            ("diff a.npy - --from csv", &["a.npy"], true),
            ("convert x=- b.npy --from csv", &["b.npy"], true),
            ("slice 0.npy --part 1/2 --start 0 --stop stop.npy --to npy", &["0.npy", "stop.npy"], false),
            ("scatter-update a.npy [0] - --axis 0 --finish 3", &["a.npy"], true),
            ("convert x=a.npy b.npy --part 1/2 --rename a.npy=b.npy", &["a.npy", "b.npy"], false),
            ("scatter-nd a.zarr i.npy u.npz:u --part 1/2", &["a.zarr", "i.npy", "u.npz:u"], false),
        ];
        for (line, operands, reads_stdin) in rows {
            let mut found = arguments(line);
            found.operands.sort();
            assert_eq!(found.operands, operands.iter().map(PathBuf::from).collect::<Vec<_>>(), "{line}");
            assert_eq!(found.reads_stdin, reads_stdin, "{line}");
        }
    }
}

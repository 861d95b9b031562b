//! `--part` and `--finish`: what is made, told so that other processes can see that they make the same.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use super::Outcome;
use super::dry_run::Report;
use super::options::parts::PartOptions;
use crate::engine::job::Progress;
use crate::error::Context;
use crate::format::open::{files_before_colons, folders_before_colons};
use crate::format::write::{Plan, Share};
use crate::storage::parts::Parts;
use crate::storage::platform::same_file;
use crate::storage::stage;
use crate::storage::target::Target;

/// Options with a value that say how it is made and not what, and whether the next argument is that value.
const LEFT_OUT: [(&str, bool); 8] = [
    ("--part", true),
    ("--finish", true),
    ("--threads", true),
    ("--output", true),
    ("-o", true),
    ("--restart", false),
    ("--quiet", false),
    ("-q", false),
];

/// The arguments that say what is made.
fn asked(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut asked = Vec::new();
    let mut args = args.skip(1);
    while let Some(arg) = args.next() {
        let bytes = arg.as_encoded_bytes();
        let is = |name: &str| {
            let attached = bytes.strip_prefix(name.as_bytes()).is_some_and(|rest| match name.starts_with("--") {
                true => rest.starts_with(b"="),
                false => name == "-o" && !rest.is_empty(),
            });
            (arg == OsStr::new(name), attached)
        };
        match LEFT_OUT.iter().find(|(name, _)| is(name) != (false, false)) {
            Some((name, true)) if is(name).0 => drop(args.next()),
            Some(_) => {}
            None if arg == "--dry-run" => {}
            None => asked.push(arg),
        }
    }
    asked
}

/// The file or folder that an argument names, if it does: all of it, or what comes before a member or after a `=`.
fn operand(arg: &OsStr) -> Option<PathBuf> {
    let whole = Path::new(arg);
    if whole.exists() {
        return Some(whole.to_owned());
    }
    let before = files_before_colons(whole).next().or_else(|| folders_before_colons(whole).next());
    before.map(|(file, _)| file).or_else(|| operand(OsStr::new(arg.to_str()?.split_once('=')?.1)))
}

/// What is made, a line each: the program, the command, how many parts, and of each operand what tells that it changes.
fn record(of: usize, target: &Target) -> Result<String> {
    let args = asked(std::env::args_os());
    let shown: Vec<_> = args.iter().map(|arg| format!("{:?}", arg.to_string_lossy())).collect();
    let mut record = format!("tensorop {}\ncommand {}\nparts {of}\n", env!("CARGO_PKG_VERSION"), shown.join(" "));
    let existing = target.existing();
    for path in args.iter().skip(1).filter_map(|arg| operand(arg)) {
        let found = std::fs::metadata(&path)?;
        let label = path.display();
        let own = existing.is_some_and(|existing| same_file(existing, &found));
        ensure!(!own, "--part: {label} is an operand and the output: parts of it would be made from what others made");
        let _ = writeln!(
            record,
            "operand {:?} {}",
            label.to_string(),
            stage::stamp(&path).with_context(|| label.to_string())?
        );
    }
    Ok(record)
}

/// Refuses standard input, which each part would read.
fn refuse_stdin() -> Result<()> {
    let is_stdin = |arg: &OsString| {
        let bytes = arg.as_encoded_bytes();
        bytes == b"-" || bytes.starts_with(b"-:") || bytes.ends_with(b"=-")
    };
    match std::env::args_os().skip(1).any(|arg| is_stdin(&arg)) {
        true => bail!("--part: standard input cannot be read by every part: name a file"),
        false => Ok(()),
    }
}

/// Makes the part that the options name, or puts all of them in place. `plan` has made every check.
pub(super) fn run(
    plan: &Plan,
    target: &Target,
    options: &PartOptions,
    (dry_run, mut report): (bool, Report),
    progress: Progress<'_>,
) -> Result<Outcome> {
    refuse_stdin()?;
    let of = options.part.map(|share| share.of).or(options.finish.map(usize::from)).unwrap_or(1);
    // what cannot be made in parts is not begun
    plan.describe_share(options.part.unwrap_or(Share { number: 1, of })).map(drop)?;
    let parts = Parts::new(target, record(of, target)?)?;
    if let Some(share) = options.part.filter(|_| dry_run) {
        let (own, units, writes, reads) = plan.describe_share(share)?;
        let number = share.number;
        report.line(match own.is_empty() {
            true => format!("part {number} of {of}: none of {units} units"),
            false => format!(
                "part {number} of {of}: units {} to {} of {units}, reads {reads} bytes of data, writes {writes}",
                own.start + 1,
                own.end
            ),
        });
        report.print()?;
        return Ok(Outcome::Done);
    }
    let Some(share) = options.part else { return finish(&parts, of, dry_run) };
    if options.restart {
        parts.restart().with_context(|| target.label())?;
    } else if parts.is_finished() {
        return Ok(Outcome::Done);
    }
    parts.begin()?;
    // all parts have been put in place while this one looked
    if !options.restart && parts.was_finished() {
        parts.forget().with_context(|| target.label())?;
        return Ok(Outcome::Done);
    }
    if parts.is_done(share.number) {
        return Ok(Outcome::Done);
    }
    let done = plan
        .write_share(&parts, share, progress)
        .and_then(|()| parts.set_done(share.number).with_context(|| format!("{}: cannot be written", target.label())));
    match done {
        // another process has made this part, and all have been put in place meanwhile
        Err(_) if parts.is_finished() => Ok(Outcome::Done),
        done => Ok(done.map(|()| Outcome::Done)?),
    }
}

/// Puts the output in its place, or prints the parts that are missing.
fn finish(parts: &Parts<'_>, of: usize, dry_run: bool) -> Result<Outcome> {
    if parts.is_finished() {
        return Ok(Outcome::Done);
    }
    if parts.has_begun() {
        parts.compare()?;
    }
    let missing: Vec<usize> = (1..=of).filter(|&part| !parts.is_done(part)).collect();
    if missing.is_empty() {
        if !dry_run {
            match parts.finish() {
                // another process has put it in place
                Err(_) if parts.is_finished() => {}
                done => done?,
            }
        }
        return Ok(Outcome::Done);
    }
    writeln!(io::stdout(), "{}", listed(&missing)).context("standard output")?;
    Ok(Outcome::Different)
}

/// Ascending numbers with commas between them, three or more in a row as a range.
fn listed(numbers: &[usize]) -> String {
    let mut out = Vec::new();
    for run in numbers.chunk_by(|a, b| a + 1 == *b) {
        match run {
            [first, _, .., last] => out.push(format!("{first}-{last}")),
            few => out.extend(few.iter().map(usize::to_string)),
        }
    }
    out.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_parts() {
        for (numbers, expected) in
            [(&[3, 7, 12, 13, 14][..], "3,7,12-14"), (&[1, 2], "1,2"), (&[1, 2, 3, 4], "1-4"), (&[5], "5"), (&[], "")]
        {
            assert_eq!(listed(numbers), expected);
        }
    }

    #[test]
    fn what_is_asked_for() {
        let all = ["tensorop", "slice", "a.npy", "--part", "1/4", "-o", "out.npy", "--at", ":1", "--threads=3", "-q"];
        let other = ["tensorop", "slice", "a.npy", "--finish=4", "--at", ":1", "-oout.npy", "--dry-run", "--restart"];
        let expected = ["slice", "a.npy", "--at", ":1"].map(OsString::from);
        assert_eq!(asked(all.into_iter().map(OsString::from)), expected);
        assert_eq!(asked(other.into_iter().map(OsString::from)), expected);
    }
}

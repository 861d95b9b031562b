//! `--part` and `--finish`: what is made, told so that other processes can see that they make the same.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail, ensure};

use super::dry_run::Report;
use super::io::Io;
use super::options::parts::PartOptions;
use super::outcome::Outcome;
use crate::engine::job::Progress;
use crate::error::Context;
use crate::format::open::{files_before_colons, folders_before_colons};
use crate::format::write::{Plan, Share, ShareReport, Shares};
use crate::storage::parts::Parts;
use crate::storage::platform::same_file;
use crate::storage::stage;
use crate::storage::target::Target;

/// Options that say how it is made and not what, and whether they have a value.
const LEFT_OUT: [(&str, bool); 7] = [
    ("--part", true),
    ("--finish", true),
    ("--threads", true),
    ("--output", true),
    ("--restart", false),
    ("--quiet", false),
    ("--dry-run", false),
];

/// How many arguments an option takes, itself among them, that says how it is made; 0 of what says what is made.
fn left_out(arg: &OsStr) -> usize {
    let bytes = arg.as_encoded_bytes();
    if let Some(letters) =
        bytes.strip_prefix(b"-").filter(|letters| letters.first().is_some_and(|&first| first != b'-'))
    {
        // -q, -o FILE, and both in one
        return match letters.strip_prefix(b"q").unwrap_or(letters) {
            [] | [b'o', _, ..] => 1,
            [b'o'] => 2,
            _ => 0,
        };
    }
    let long = |(name, takes): &(&str, bool)| match bytes.strip_prefix(name.as_bytes())? {
        [] => Some(1 + usize::from(*takes)),
        [b'=', ..] => Some(1),
        _ => None,
    };
    LEFT_OUT.iter().find_map(long).unwrap_or(0)
}

/// The arguments that say what is made.
fn asked(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut asked = Vec::new();
    let mut args = args.skip(1);
    while let Some(arg) = args.next() {
        match left_out(&arg) {
            0 => asked.push(arg),
            taken => drop(args.by_ref().take(taken - 1).last()),
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

/// Makes the part that the options name, or puts all of them in place. `plan` has made every check but that an existing
/// output is kept, if it is to be: the one that these parts have made is none of those.
pub(super) fn run(
    plan: &Plan,
    io: &Io,
    target: &Target,
    options: &PartOptions,
    no_clobber: bool,
    (dry_run, mut report): (bool, Report),
    progress: Progress<'_>,
) -> Result<Outcome> {
    refuse_stdin()?;
    let of = options.part.map(|share| share.of).or(options.finish.map(usize::from)).unwrap_or(1);
    // what cannot be made in parts is not begun
    let shares = plan.shares()?;
    let ShareReport { own, units, writes, reads } = shares.describe(options.part.unwrap_or(Share { number: 1, of }));
    let parts = Parts::new(target, record(of, target)?)?;
    let forget = || parts.forget().with_context(|| target.label());
    let finished = !options.restart && parts.is_finished()?;
    if finished && !dry_run {
        forget()?;
        return Ok(Outcome::Done);
    }
    let kept = no_clobber && !finished && target.existing().is_some();
    ensure!(!kept, "{}: exists, and --no-clobber keeps it", target.label());
    if let Some(share) = options.part.filter(|_| dry_run) {
        let number = share.number;
        report.line(match own.is_empty() {
            true => format!("part {number} of {of}: none of {units} units"),
            false => format!(
                "part {number} of {of}: units {} to {} of {units}, reads {reads} bytes of data, writes {writes}",
                own.start + 1,
                own.end
            ),
        });
        report.print(io)?;
        return Ok(Outcome::Done);
    }
    let Some(share) = options.part else { return finish(&parts, io, units.clamp(1, of), dry_run) };
    if options.restart {
        parts.restart().with_context(|| target.label())?;
    }
    match make(&shares, &parts, share, target, progress) {
        // all parts have been put in place meanwhile, this one by another process
        _ if parts.is_finished().is_ok_and(|finished| finished) => forget()?,
        made => made?,
    }
    Ok(Outcome::Done)
}

/// Makes a part, if it is not there.
fn make(
    shares: &Shares<'_>,
    parts: &Parts<'_>,
    share: Share,
    target: &Target,
    progress: Progress<'_>,
) -> crate::error::Result<()> {
    parts.begin()?;
    if parts.is_done(share.number) || parts.is_finished()? {
        return Ok(());
    }
    shares.write(parts, share, progress)?;
    parts.set_done(share.number).with_context(|| format!("{}: cannot be written", target.label()))
}

/// Puts the output in its place, or prints the parts that are missing of so many, the first: there is nothing to be made in
/// those beyond the number of units. (Of an output without units the first one still makes what says so.)
fn finish(parts: &Parts<'_>, io: &Io, wanted: usize, dry_run: bool) -> Result<Outcome> {
    let lock = parts.lock();
    let missing: Vec<usize> = (1..=wanted).filter(|&number| !parts.is_done(number)).collect();
    // another process may have put it in place while this one waited or looked
    let finished = parts.is_finished()?;
    if !finished && !missing.is_empty() {
        writeln!(io.stdout.clone(), "{}", listed(&missing)).context("standard output")?;
        return Ok(Outcome::Different);
    }
    if !finished && !dry_run {
        parts.finish(lock)?;
    }
    Ok(Outcome::Done)
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
        let third =
            ["tensorop", "slice", "-qo", "out.npy", "a.npy", "--output=o", "--at", ":1", "--threads", "3", "-qoo"];
        let expected = ["slice", "a.npy", "--at", ":1"].map(OsString::from);
        assert_eq!(asked(all.into_iter().map(OsString::from)), expected);
        assert_eq!(asked(other.into_iter().map(OsString::from)), expected);
        assert_eq!(asked(third.into_iter().map(OsString::from)), expected);
    }
}

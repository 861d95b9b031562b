//! Makes one part of an output for `--part`, and puts all parts in place for `--finish`.

use std::io::Write as _;

use anyhow::{Result, ensure};

use super::dry_run::Report;
use super::io::Io;
use super::options::OutputOptions;
use super::outcome::Outcome;
use crate::engine::job::Progress;
use crate::error::Context;
use crate::format::write::{Plan, Share, ShareReport, Shares};
use crate::storage::parts::Parts;
use crate::storage::target::Target;

/// Makes the part that the options name, or puts all parts in place. `plan` has passed every check but that of
/// `--no-clobber`, which is made here: an output that these same parts have made does not count as existing.
///
/// # Errors
/// An output that is not made in parts; parts that were begun with other arguments; of reading and writing.
pub(super) fn run(
    plan: &Plan,
    target: &Target,
    output: &OutputOptions,
    io: &Io,
    mut report: Report,
    progress: Progress<'_>,
) -> Result<Outcome> {
    let (options, dry_run) = (&output.parts, output.dry_run);
    let of = options.part.map(|share| share.of).or(options.finish.map(usize::from)).expect("--part or --finish");
    // an output that cannot be made in parts is refused before anything is begun
    let shares = plan.shares()?;
    let ShareReport { own, units, writes, reads } = shares.describe(options.part.unwrap_or(Share { number: 1, of }));
    let parts = Parts::new(target, io.arguments.record(of, target)?)?;
    let forget = || parts.forget().with_context(|| target.label());
    let finished = !options.restart && parts.is_finished()?;
    if finished && !dry_run {
        forget()?;
        return Ok(Outcome::Done);
    }
    let kept = output.no_clobber && !finished && target.existing().is_some();
    ensure!(!kept, "{}: exists, and --no-clobber keeps it", target.label());
    if let Some(share) = options.part.filter(|_| dry_run) {
        let number = share.number;
        match (own.start + 1, own.end) {
            (first, last) if first > last => report.line(format_args!("part {number} of {of}: none of {units} units")),
            (first, last) => report.line(format_args!(
                "part {number} of {of}: units {first} to {last} of {units}, reads {reads} bytes of data, writes {writes}"
            )),
        }
        report.print(io)?;
        return Ok(Outcome::Done);
    }
    let Some(share) = options.part else { return finish(&parts, io, units.clamp(1, of), dry_run) };
    if options.restart {
        parts.restart().with_context(|| target.label())?;
    }
    match make(&shares, &parts, share, target, progress) {
        // another process has made this part meanwhile, and all parts have been put in place
        _ if parts.is_finished().is_ok_and(|finished| finished) => forget()?,
        made => made?,
    }
    Ok(Outcome::Done)
}

/// Makes a part, unless it is there already.
fn make(
    shares: &Shares<'_>,
    parts: &Parts<'_>,
    share: Share,
    target: &Target,
    progress: Progress<'_>,
) -> crate::error::Result<()> {
    parts.begin()?;
    if parts.ledger.is_done(share.number) || parts.is_finished()? {
        return Ok(());
    }
    shares.write(parts, share, progress)?;
    parts.ledger.set_done(share.number).with_context(|| format!("{}: cannot be written", target.label()))
}

/// Puts the output in its place, or prints which of the first `wanted` parts are missing: those beyond the number of units
/// are empty. (Of an output without units, the first part still makes what lies beside the items.)
fn finish(parts: &Parts<'_>, io: &Io, wanted: usize, dry_run: bool) -> Result<Outcome> {
    let lock = parts.lock();
    let missing: Vec<usize> = (1..=wanted).filter(|&number| !parts.ledger.is_done(number)).collect();
    // another process may have put the output in place while this one waited or looked
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

/// Lists ascending numbers with commas between them, three or more in a row as a range.
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
}

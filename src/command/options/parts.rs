//! The options for making one output in several processes.

use std::num::NonZero;

use clap::{ArgGroup, Args};

use crate::format::write::Share;

const MAX_PARTS: usize = 1_000_000;

/// The options of parts.
#[derive(Args)]
#[command(next_help_heading = "Parts", group = ArgGroup::new("parts").args(["part", "finish"]))]
pub(crate) struct PartOptions {
    /// Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder
    ///
    /// A part is a contiguous range of whole chunks (in a .npy: of bytes, divided at multiples of 1 MiB). It is the same for
    /// any number of threads and on any machine. Parts differ by at most one chunk (or MiB); if there are more parts than
    /// chunks, the last ones are empty. All parts together give the same bytes as the command without --part. A part may run
    /// any number of times, at once or after it was killed; it does not make finished chunks again.
    ///
    /// Unfinished work is beside the output in .NAME.tensorop/. Another command, another N or a changed operand is an error
    /// that names the difference (operands are compared by identity, not by the spelling of their path). --finish moves the
    /// output into place. In a bucket (s3://BUCKET/NAME.zarr) the chunks are put under their final keys, so --restart has to
    /// remove an existing store first; end parts of another command before that.
    ///
    /// With --in-place (on a Zarr store) only the chunks of this part are changed, without a record, and --finish is not
    /// needed. Standard input cannot be an operand of a part, since every part would have to read it.
    #[arg(long, value_name = "K/N", value_parser = parse_part)]
    pub part: Option<Share>,
    /// With the same command: move the output into place if all N parts are done, or print the missing parts (status 1)
    ///
    /// Nothing is computed. The missing parts are printed in the form that Slurm's --array takes, such as 3,7,12-14. If the
    /// output is already finished, the status is 0, or 2 if its files were lost, added or resized since then.
    #[arg(long, value_name = "N", value_parser = parse_count, conflicts_with = "restart")]
    pub finish: Option<NonZero<usize>>,
    /// With --part: discard unfinished work and begin again; give it to one process before the others start
    #[arg(long, requires = "part")]
    pub restart: bool,
}

impl PartOptions {
    /// Also true for `--finish`.
    pub(crate) fn is_given(&self) -> bool {
        self.count().is_some()
    }

    pub(crate) fn count(&self) -> Option<usize> {
        self.part.map(|share| share.of).or(self.finish.map(usize::from))
    }
}

fn parse_count(text: &str) -> Result<NonZero<usize>, String> {
    let count = text.parse::<NonZero<usize>>().ok().filter(|count| count.get() <= MAX_PARTS);
    count.ok_or_else(|| format!("expected a number of parts, 1 to {MAX_PARTS}"))
}

fn parse_part(text: &str) -> Result<Share, String> {
    let (number, of) = text.split_once('/').ok_or("expected K/N, such as 3/16")?;
    let of = parse_count(of)?.get();
    let number: usize = number.parse().map_err(|_| "expected K/N, such as 3/16".to_owned())?;
    match number {
        0 => Err("parts are counted from 1: if yours begin at 0, write $((JOB_COMPLETION_INDEX+1))".to_owned()),
        number if number > of => Err(format!("part {number} of {of}")),
        number => Ok(Share { number, of }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts() {
        let rows = [
            ("1/1", Ok((1, 1))),
            ("3/16", Ok((3, 16))),
            ("0/4", Err("$((JOB_COMPLETION_INDEX+1))")),
            ("5/4", Err("part 5 of 4")),
            ("1/0", Err("expected a number of parts")),
            ("1", Err("expected K/N")),
            ("-1/4", Err("expected K/N")),
            ("1/2/3", Err("expected a number of parts")),
        ];
        for (text, expected) in rows {
            match (parse_part(text), expected) {
                (Ok(share), Ok(expected)) => assert_eq!((share.number, share.of), expected),
                (Err(message), Err(part)) => assert!(message.contains(part), "{text}: {message}"),
                (found, _) => panic!("{text}: {found:?}"),
            }
        }
    }
}

//! The options by which several processes make the parts of one output.

use std::num::NonZero;

use clap::{ArgGroup, Args};

use crate::format::write::Share;

/// The most parts that an output may be made in.
const MOST_PARTS: usize = 1_000_000;

/// The options of parts.
#[derive(Args)]
#[command(next_help_heading = "Parts", group = ArgGroup::new("parts").args(["part", "finish"]))]
pub(crate) struct PartOptions {
    /// Make only part K of N (K from 1) of a .zarr or .npy, on any machine that has its folder
    ///
    /// A part is a contiguous range of whole chunks (of a .npy of bytes that meet at multiples of 1 MiB), the same for any
    /// threads and machines; parts differ by one chunk (or MiB) at most, and those beyond their number are empty. Together
    /// they are, byte for byte, what the command without --part writes. Any part may run any number of times, at once or
    /// after it was killed: what it finds done it leaves. What is under way lies beside the output in .NAME.tensorop/;
    /// another command, another N or an operand that has changed is an error that says what differs (operands count by what
    /// they are, not by the spelling of their path). --finish puts the output in its place. In a bucket (s3://BUCKET/NAME.zarr)
    /// the chunks are put where they stay, so that a store that is there has to be removed first, by --restart; end parts of
    /// another command before that.
    ///
    /// With --in-place (on a Zarr store) only the chunks of this part are changed; there is no record then, and --finish is
    /// not needed. Standard input is no operand of a part, since each part reads it.
    #[arg(long, value_name = "K/N", value_parser = parse_part)]
    pub part: Option<Share>,
    /// With the same command: put the output in place if all N parts are done, else print those that are missing (status 1)
    ///
    /// Nothing is computed. The missing parts are printed as Slurm's --array takes them, such as 3,7,12-14. Run again it is 0,
    /// unless the finished output has lost, gained or resized files since then (status 2).
    #[arg(long, value_name = "N", value_parser = parse_count, conflicts_with = "restart")]
    pub finish: Option<NonZero<usize>>,
    /// With --part: forget what is under way, and begin anew; for one process before the others
    #[arg(long, requires = "part")]
    pub restart: bool,
}

impl PartOptions {
    /// Returns whether the command makes a part, or puts all parts in place.
    pub(crate) fn is_given(&self) -> bool {
        self.part.is_some() || self.finish.is_some()
    }
}

fn parse_count(text: &str) -> Result<NonZero<usize>, String> {
    let count = text.parse::<NonZero<usize>>().ok().filter(|count| count.get() <= MOST_PARTS);
    count.ok_or_else(|| format!("expected a number of parts, 1 to {MOST_PARTS}"))
}

fn parse_part(text: &str) -> Result<Share, String> {
    let (number, of) = text.split_once('/').ok_or("expected K/N, such as 3/16")?;
    let of = parse_count(of)?.get();
    let number: usize = number.parse().map_err(|_| "expected K/N, such as 3/16".to_owned())?;
    match number {
        0 => Err("parts are counted from 1: where they come from 0 write $((JOB_COMPLETION_INDEX+1))".to_owned()),
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

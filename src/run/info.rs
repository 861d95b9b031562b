//! `info`: what files hold.

use std::io::{self, BufWriter, Write};

use anyhow::{Context, Result, anyhow};
use tensorop::format::Format;
use tensorop::format::open::{Description, Input};
use tensorop::info::{self, Info};

use super::meter::Meter;
use super::operands::{self, Reading, as_asked, plain_as, read_as};
use super::style;
use crate::cli::info::Info as Args;
use crate::cli::operand::OperandArg;

/// Describes the tensors of all files.
pub fn info(args: &Args) -> Result<()> {
    operands::one_stdin(args.files.iter().map(|file| ("FILE", file)))?;
    let stdout = io::stdout();
    let style = style(&stdout);
    let mut out = BufWriter::new(stdout.lock());
    let mut infos = Vec::new();
    let mut names = Vec::new();
    let found = args.files.iter().try_for_each(|file| {
        if args.members { members(file, args, &mut names) } else { describe_all(file, args, &mut infos) }
    });
    // what was found before an error is worth showing, but not as JSON that looks whole
    let printed = match (&found, args.json) {
        _ if args.members => out.write_all(names.concat().as_bytes()),
        (Ok(()), true) => info::write_json(&mut out, &infos),
        (Err(_), true) => Ok(()),
        (Err(_), false) if infos.is_empty() => Ok(()),
        (_, false) => info::write_table(&mut out, &infos, style),
    };
    printed.and_then(|()| out.flush()).context("standard output")?;
    found
}

/// The names of a file's members, each with the end of its line. Control characters in them are escaped: they are
/// shown to people, too.
fn members(file: &OperandArg, args: &Args, found: &mut Vec<String>) -> Result<()> {
    let (input, member) = operands::open(file, &operands::label("FILE", file), args.input.from)?;
    if member.is_some() {
        input.pick(member.as_deref())?;
    }
    let names = member.as_deref().map_or_else(|| input.names().unwrap_or_default(), |member| vec![member]);
    found.extend(names.iter().map(|name| {
        let shown = name.chars().map(|c| if c.is_control() { c.escape_default().to_string() } else { c.to_string() });
        shown.collect::<String>() + "\n"
    }));
    Ok(())
}

/// What is to be said of a file, or of all its members.
fn describe_all(file: &OperandArg, args: &Args, infos: &mut Vec<Info>) -> Result<()> {
    let (input, member) = operands::open(file, &operands::label("FILE", file), args.input.from)?;
    let names = input.names();
    let numbers = match (&member, &names) {
        (None, Some(names)) => 0..names.len(),
        _ => {
            let n = input.pick(member.as_deref())?;
            n..n + 1
        }
    };
    let file = named(file, member.as_deref());
    for n in numbers {
        let member = names.as_ref().and_then(|names| names.get(n).map(|name| (*name).to_owned()));
        infos.push(describe(&input, n, file.clone(), member, args)?);
    }
    Ok(())
}

/// The file as it was named, without the name of a member.
fn named(file: &OperandArg, member: Option<&str>) -> String {
    match file {
        OperandArg::Stdin => "-".to_owned(),
        OperandArg::Inline(text) => text.clone(),
        OperandArg::Path(path) => {
            let text = path.display().to_string();
            match member {
                Some(name) => {
                    text.strip_suffix(name).and_then(|t| t.strip_suffix(':')).map_or(text.clone(), str::to_owned)
                }
                None => text,
            }
        }
    }
}

/// What is to be said of member number `n`, which is called `member`, of a file.
fn describe(input: &Input, n: usize, file: String, member: Option<String>, args: &Args) -> Result<Info> {
    let asked = args.input.dtype.as_ref();
    let label = member.as_ref().map_or_else(|| input.label().to_owned(), |name| input.member_label(name));
    let plain = plain_as(input, asked, &label)?;
    let found = match &plain {
        Some(source) => Description {
            dtype: source.dtype().clone(),
            shape: source.shape().to_vec(),
            fortran_order: false,
            bytes: source.bytes() as u64,
            offset: None,
        },
        None => input.describe(n)?,
    };
    let dtype = read_as(&found.dtype, asked, Reading::Unsigned).map_err(|message| anyhow!("{label}: {message}"))?;
    let mut info = Info {
        file,
        member,
        format: input.format(),
        dtype,
        shape: found.shape,
        fortran_order: found.fortran_order,
        bytes: found.bytes,
        offset: found.offset,
        stats: None,
        histogram: None,
    };
    if args.stats {
        let threads = args.threads.threads()?;
        let open = || as_asked(input.source_as(n, label.clone())?, asked, Reading::Unsigned);
        let mut source = plain.map_or_else(open, Ok)?;
        let meter = Meter::new(Some(source.bytes()), false);
        let progress = |bytes| meter.add(bytes);
        if !args.json && input.format() == Format::Npy {
            // what comes from a pipe comes once
            source.settle()?;
        }
        let once = source.is_stream();
        let stats = info::stats(&mut source, threads, &progress)?;
        if !args.json {
            let mut source = if once { open()? } else { source };
            info.histogram = info::histogram(&mut source, &stats, threads, &progress)?;
        }
        info.stats = Some(stats);
    }
    Ok(info)
}

//! `convert`: from one container, format or dtype to another.

use anyhow::{Result, bail};
use tensorop::exec::{Change, Options};
use tensorop::open::Input;
use tensorop::parallel::Threads;
use tensorop::source::Source;

use super::emit::{Recast, Report, Work, emit};
use super::operands::{self, Reading, as_asked, plain_as};
use crate::cli::convert::{ByteOrder, Convert, NamedOperand, Order};

/// Writes tensors in another form.
pub fn convert(args: &Convert) -> Result<()> {
    operands::one_stdin(args.inputs.iter().map(|input| ("IN", &input.operand)))?;
    allow_open_files(args.inputs.len());
    let recast = Recast {
        cast: args.cast.clone().map(|dtype| (dtype, args.lossy)),
        big_endian: args.byte_order.map(|order| order == ByteOrder::Big),
        fortran_order: args.order == Order::F,
    };
    let options = args.run.options(false)?;
    let container = args.output.format()?.is_container();
    let mut report = Report::new("convert");
    let mut works = Vec::new();
    for NamedOperand { name, operand } in &args.inputs {
        let label = operands::label("IN", operand);
        let (input, member) = operands::open(operand, &label, args.input.from, options.threads)?;
        let members = input.names();
        if let (None, None, true, Some(members)) = (name, &member, container, members) {
            // a whole container goes over with its names
            for (n, member) in members.into_iter().enumerate() {
                let data = source(&input, n, input.member_label(member), args, options.threads)?;
                report.source(&data);
                works.push((Some(member.to_owned()), work(data, &recast, options)));
            }
            continue;
        }
        let n = input.pick(member.as_deref())?;
        let data = source(&input, n, label.clone(), args, options.threads)?;
        report.source(&data);
        let own_name = input.own_name().filter(|_| !container);
        works.push((name.as_deref().or(own_name).map(str::to_owned), work(data, &recast, options)));
    }
    if works.is_empty() {
        let empty: Vec<_> = args.inputs.iter().map(|input| operands::label("IN", &input.operand)).collect();
        bail!("{}: no tensors", empty.join(", "));
    }
    emit(works, &args.output, args.run.quiet, report)
}

/// All inputs are open at once: where that is more than the system lets a program have at first, asks for as many as
/// it may have at all.
#[cfg(target_os = "linux")]
fn allow_open_files(count: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const USUAL: usize = 512;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if count > USUAL && current != maximum {
        // without it, opening says what is wrong
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
}

#[cfg(not(target_os = "linux"))]
fn allow_open_files(_: usize) {}

fn work(data: Source, recast: &Recast, options: Options) -> Work {
    let mut view = data.view();
    if recast.fortran_order {
        view = view.with_axes(&(0..data.shape().len()).rev().collect::<Vec<_>>());
    }
    Work { data, view, change: Change::None, options, recast: recast.clone() }
}

/// A tensor of an input, read as `--dtype` says.
fn source(input: &Input, n: usize, label: String, args: &Convert, threads: Threads) -> Result<Source> {
    let asked = args.input.dtype.as_ref();
    if let Some(plain) = plain_as(input, asked, &label, threads)? {
        return Ok(plain);
    }
    as_asked(input.source_as(n, label)?, asked, Reading::Bits)
}

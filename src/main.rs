//! The program `tensorop`. All of it is [`tensorop::command`], so that it sees what the library keeps to itself.

#![forbid(unsafe_code)]

use std::process::ExitCode;

use tensorop::command::{self, Io};
use tensorop::storage::signals;

fn main() -> ExitCode {
    signals::handle();
    command::run(std::env::args_os(), &Io::from_process()).into()
}

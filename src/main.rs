//! The program `tensorop`, implemented by [`tensorop::command`].

#![forbid(unsafe_code)]

use std::process::ExitCode;

use tensorop::command::{self, Io};
use tensorop::internal::storage::targets::signals;

fn main() -> ExitCode {
    signals::handle();
    command::run(std::env::args_os(), &Io::from_process()).into()
}

//! The program `tensorop`. All of it is [`tensorop::command`], so that it sees what the library keeps to itself.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    tensorop::command::main()
}

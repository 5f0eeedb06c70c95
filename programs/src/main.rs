//! The command `loggp`.

#![allow(non_snake_case)] // L, G and P are the papers' names

mod command;

fn main() -> std::process::ExitCode {
    command::main()
}

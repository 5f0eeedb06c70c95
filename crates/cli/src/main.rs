//! The command `loggp`, which is a library, with its allocator.

use std::process::ExitCode;

use loggp_command::ExitingAllocator;

#[global_allocator]
static ALLOCATOR: ExitingAllocator = ExitingAllocator;

fn main() -> ExitCode {
    loggp_cli::main(std::env::args_os()).into()
}

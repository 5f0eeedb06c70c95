//! What the command line asks for: its words, options, machines and files.

pub mod arguments;
pub mod choice;
pub mod completion_values;
pub mod format;
pub mod levels;
pub mod lookup;
pub mod machine_file;
pub mod mpi_program;
pub mod options;
pub mod output;
pub mod program_args;
pub mod real_machine;
pub mod shard;
pub mod trace_input;
pub mod trace_outputs;
pub mod words;

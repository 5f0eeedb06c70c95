//! What the command line asks for: its words, options, machines and files.

pub(crate) mod arguments;
pub(crate) mod choice;
pub(crate) mod completion_values;
pub(crate) mod format;
pub(crate) mod levels;
pub(crate) mod lookup;
pub(crate) mod machine_file;
pub(crate) mod mpi_program;
pub(crate) mod options;
pub(crate) mod output;
pub(crate) mod program_args;
pub(crate) mod real_machine;
pub(crate) mod shard;
pub(crate) mod short_help;
pub(crate) mod trace_input;
pub(crate) mod trace_outputs;
pub(crate) mod words;

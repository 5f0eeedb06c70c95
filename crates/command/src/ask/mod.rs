//! What the command line asks for: its words, options, machines and files.

pub mod arguments;
pub mod choice;
pub mod completion_values;
pub mod format;
pub mod goal_output;
pub mod levels;
pub mod lookup;
pub mod machine_file;
pub mod options;
pub mod orders;
pub mod output;
pub mod program_args;
pub mod rank_machine;
pub mod real_machine;
pub mod shard;
pub mod short_help;
pub mod trace_input;
pub mod trace_outputs;
pub mod words;

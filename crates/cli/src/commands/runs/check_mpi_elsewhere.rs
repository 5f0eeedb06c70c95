//! `loggp check -- mpirun ...` where it cannot run.

pub(crate) use crate::commands::schedules::emulate::EmulateCommand as CheckMpiCommand;

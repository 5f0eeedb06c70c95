//! `loggp check -- mpirun ...` where it cannot run.

pub(crate) use crate::emulate::EmulateCommand as CheckMpiCommand;

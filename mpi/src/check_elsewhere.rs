//! `loggp check -n 4 ./app` where it cannot run.

pub(crate) use crate::emulate::EmulateCommand as CheckMpiCommand;

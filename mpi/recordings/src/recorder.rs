//! The source of the recorder, which is built for the MPI of a program.

/// The files of the source, each with its name. Those that end with `.c` are compiled:
/// `mpicc -O2 -fPIC -shared -o libloggp-mpi.so *.c`.
pub const SOURCE: &[(&str, &str)] = &[
    ("recorder.c", include_str!("../recorder/recorder.c")),
    ("communicators.c", include_str!("../recorder/communicators.c")),
    ("endings.c", include_str!("../recorder/endings.c")),
    ("forks.c", include_str!("../recorder/forks.c")),
    ("groups.c", include_str!("../recorder/groups.c")),
    ("topologies.c", include_str!("../recorder/topologies.c")),
    ("shared.h", include_str!("../recorder/shared.h")),
    ("write.h", include_str!("../recorder/write.h")),
    ("emulate.h", include_str!("../recorder/emulate.h")),
    ("tables.h", include_str!("../recorder/tables.h")),
    ("record.h", include_str!("../recorder/record.h")),
    ("emulated.h", include_str!("../recorder/emulated.h")),
    ("emulated_collectives.h", include_str!("../recorder/emulated_collectives.h")),
    ("counted.h", include_str!("../recorder/counted.h")),
    ("collectives.h", include_str!("../recorder/collectives.h")),
    ("generalized.h", include_str!("../recorder/generalized.h")),
    ("partitioned.h", include_str!("../recorder/partitioned.h")),
    ("calls.h", include_str!("../recorder/calls.h")),
    ("communicators.h", include_str!("../recorder/communicators.h")),
    ("names.h", include_str!("../recorder/names.h")),
    ("others.h", include_str!("../recorder/others.h")),
    ("checks.h", include_str!("../recorder/checks.h")),
    ("signatures.h", include_str!("../recorder/signatures.h")),
    ("watch.h", include_str!("../recorder/watch.h")),
    ("threads.h", include_str!("../recorder/threads.h")),
    ("objects.h", include_str!("../recorder/objects.h")),
    ("emulated_process.h", include_str!("../recorder/emulated_process.h")),
    ("accesses.h", include_str!("../recorder/accesses.h")),
    ("windows.h", include_str!("../recorder/windows.h")),
    ("files.h", include_str!("../recorder/files.h")),
    ("process.h", include_str!("../recorder/process.h")),
    ("sessions.h", include_str!("../recorder/sessions.h")),
];

/// Returns for whose MPI a built recorder is: `openmpi`, `mpich`, or `mpi` for another one; `None` if it is no
/// recorder.
pub fn built_for(library: &[u8]) -> Option<&str> {
    const MARK: &[u8] = b"loggp records calls of ";
    let at = library.windows(MARK.len()).position(|bytes| bytes == MARK)? + MARK.len();
    let name = library[at..].split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(name).ok().filter(|name| name.len() < 32)
}

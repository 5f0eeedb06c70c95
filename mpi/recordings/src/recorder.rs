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
    ("tables.h", include_str!("../recorder/tables.h")),
    ("record.h", include_str!("../recorder/record.h")),
    ("process.h", include_str!("../recorder/process.h")),
    ("data.h", include_str!("../recorder/data.h")),
    ("emulate.h", include_str!("../recorder/emulate.h")),
    ("handles.h", include_str!("../recorder/handles.h")),
    ("together.h", include_str!("../recorder/together.h")),
    ("made.h", include_str!("../recorder/made.h")),
    ("emulation/emulated.h", include_str!("../recorder/emulation/emulated.h")),
    ("emulation/emulated_collectives.h", include_str!("../recorder/emulation/emulated_collectives.h")),
    ("emulation/emulated_process.h", include_str!("../recorder/emulation/emulated_process.h")),
    ("emulation/generalized.h", include_str!("../recorder/emulation/generalized.h")),
    ("emulation/threads.h", include_str!("../recorder/emulation/threads.h")),
    ("checks/accesses.h", include_str!("../recorder/checks/accesses.h")),
    ("checks/checks.h", include_str!("../recorder/checks/checks.h")),
    ("checks/signatures.h", include_str!("../recorder/checks/signatures.h")),
    ("checks/watch.h", include_str!("../recorder/checks/watch.h")),
    ("wrappers/calls.h", include_str!("../recorder/wrappers/calls.h")),
    ("wrappers/collectives.h", include_str!("../recorder/wrappers/collectives.h")),
    ("wrappers/communicators.h", include_str!("../recorder/wrappers/communicators.h")),
    ("wrappers/counted.h", include_str!("../recorder/wrappers/counted.h")),
    ("wrappers/files.h", include_str!("../recorder/wrappers/files.h")),
    ("wrappers/names.h", include_str!("../recorder/wrappers/names.h")),
    ("wrappers/objects.h", include_str!("../recorder/wrappers/objects.h")),
    ("wrappers/others.h", include_str!("../recorder/wrappers/others.h")),
    ("wrappers/partitioned.h", include_str!("../recorder/wrappers/partitioned.h")),
    ("wrappers/sessions.h", include_str!("../recorder/wrappers/sessions.h")),
    ("wrappers/windows.h", include_str!("../recorder/wrappers/windows.h")),
    ("wrappers/wrap.h", include_str!("../recorder/wrappers/wrap.h")),
];

/// Returns for whose MPI a built recorder is: `openmpi`, `mpich`, or `mpi` for another one; `None` if it is no
/// recorder.
pub fn built_for(library: &[u8]) -> Option<&str> {
    const MARK: &[u8] = b"loggp records calls of ";
    let at = library.windows(MARK.len()).position(|bytes| bytes == MARK)? + MARK.len();
    let name = library[at..].split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(name).ok().filter(|name| name.len() < 32)
}

/* Records the calls of an MPI program, or emulates it. It is preloaded, and writes the file $LOGGP_RECORD.RANK at each rank, in the
 * form that ../README.md describes; or each rank talks with the command by the file that $LOGGP_EMULATE names.
 *
 * It stands before MPI_X and PMPI_X alike: whichever of them the bindings of Fortran call, a call is seen once, since calls
 * from inside of a recorded one are not looked at. No call of Fortran is thus taken apart here; only where it came from is
 * noted, in names.h. */

#include "shared.h"

#include <endian.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "write.h"

#include "emulate.h"

#include "tables.h"

#include "made.h"

#include "record.h"

#include "handles.h"

#include "data.h"

#include "together.h"

#include "checks/checks.h"

#include "checks/signatures.h"

#include "checks/watch.h"

#include "checks/accesses.h"

#include "emulation/threads.h"

#include "emulation/generalized.h"

#include "emulation/emulated.h"

#include "emulation/emulated_collectives.h"

#include "wrappers/wrap.h"

/* Functions with counts, and in the second round the same ones with large counts. */
#define COUNT int
#define OFFSET int
#define NAME(name) name
#include "wrappers/counted.h"

#include "wrappers/collectives.h"
#undef COUNT
#undef OFFSET
#undef NAME

#if defined(HAS_LARGE)
#define COUNT MPI_Count
#define OFFSET MPI_Aint
#define NAME(name) name##_c
#define LARGE
#include "wrappers/counted.h"

#include "wrappers/collectives.h"
#endif

#include "wrappers/calls.h"

#include "wrappers/communicators.h"

#include "wrappers/names.h"

#if defined(HAS_FOUR)
#include "wrappers/partitioned.h"
#endif

#include "emulation/emulated_process.h"

#include "wrappers/windows.h"

#include "wrappers/files.h"

#include "wrappers/objects.h"

#include "process.h"

#if defined(HAS_FOUR)
#include "wrappers/sessions.h"
#endif

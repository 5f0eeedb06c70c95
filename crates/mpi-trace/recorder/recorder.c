/* Records the calls of an MPI program. It is preloaded, and writes the file $LOGGP_RECORD.RANK at each rank, in the form
 * that ../README.md describes.
 *
 * It stands before MPI_X and PMPI_X alike: whichever of them the bindings of Fortran call, a call is seen once, since calls
 * from inside of a recorded one are not looked at. No call of Fortran is thus taken apart here; only where it came from is
 * noted, in names.h. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "write.h"

#include "tables.h"

#include "record.h"

/* Functions with counts, and in the second round the same ones with large counts. */
#define COUNT int
#define OFFSET int
#define NAME(name) name
#include "counted.h"

#include "collectives.h"
#undef COUNT
#undef OFFSET
#undef NAME
#define COUNT MPI_Count
#define OFFSET MPI_Aint
#define NAME(name) name##_c
#define LARGE
#include "counted.h"

#include "collectives.h"

#include "calls.h"

#include "communicators.h"

#include "names.h"

#include "process.h"

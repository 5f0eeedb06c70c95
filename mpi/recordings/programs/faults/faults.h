/* What the programs of the gallery share: see faults.c. */

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define WORLD MPI_COMM_WORLD
#define IGNORED MPI_STATUS_IGNORE

static int rank, ranks, one = 1, other, many[8];
static MPI_Request request;

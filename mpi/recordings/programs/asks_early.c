/* A library whose constructor asks whether MPI has begun, as Open MPI's for C++ does. */

#include <mpi.h>
#include <stdio.h>

__attribute__((constructor)) static void ask(void)
{
    int is_initialized, is_finalized;
    MPI_Initialized(&is_initialized);
    MPI_Finalized(&is_finalized);
    printf("initialized %d, finalized %d\n", is_initialized, is_finalized);
}

/* A program that has sessions and no MPI_Init. */

#include <mpi.h>

int main(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Session_finalize(&session);
#endif
}

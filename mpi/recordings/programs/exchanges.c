/* A program that exchanges so many messages, in files of at most so many bytes from MPI_Init on. */

#include <mpi.h>
#include <stdlib.h>
#include <sys/resource.h>

int main(int count, char **words)
{
    int in, out = 0, rank, ranks;
    MPI_Init(&count, &words);
    if (count != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    struct rlimit limit = {(rlim_t)atol(words[2]), RLIM_INFINITY};
    setrlimit(RLIMIT_FSIZE, &limit);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (long i = atol(words[1]); i > 0; i--)
        MPI_Sendrecv(&out, 1, MPI_INT, (rank + 1) % ranks, 1, &in, 1, MPI_INT, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}

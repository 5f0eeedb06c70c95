/* Sends around a ring and adds up, five times: the program of examples/mpi/ring.mpi. */

#include <mpi.h>
#include <stdio.h>

static double cells[4096];

static double relax(int from, int to)
{
    MPI_Request requests[2];
    double edge = 0, sum = 0;
    MPI_Irecv(&edge, 1, MPI_DOUBLE, from, 7, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(&cells[4095], 1, MPI_DOUBLE, to, 7, MPI_COMM_WORLD, &requests[1]);
    for (int i = 1; i < 4096; i++)
        sum += cells[i] = (cells[i - 1] + cells[i]) / 2;
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    cells[0] = edge;
    return sum;
}

int main(int count, char **words)
{
    int rank, ranks;
    double sum = 0, all = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    cells[0] = rank;
    for (int round = 0; round < 5; round++) {
        sum = relax((rank + ranks - 1) % ranks, (rank + 1) % ranks);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%g\n", all);
    MPI_Finalize();
    return 0;
}

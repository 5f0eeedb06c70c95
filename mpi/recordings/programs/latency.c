/* Prints the time that a message takes from rank 0 to rank 1, in us, for messages of some sizes: half of a round trip, by MPI_Wtime. With
 * a further argument it ends otherwise: with "spin" rank 1 computes for ever, with "wait" all wait for what nobody sends, with "abort" rank 0
 * aborts, and with "die" rank 1 is killed. */

#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 10

int main(int count, char **words)
{
    static const int sizes[] = {1, 8, 1000, 1000000};
    int rank;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *data = calloc(1, (size_t)sizes[i]);
        if (data == NULL)
            return 1;
        MPI_Barrier(MPI_COMM_WORLD);
        double begin = 0;
        for (int message = -2; message < 2 * ROUNDS && rank < 2; message++) {
            if (message == 0) /* Now both are there. */
                begin = MPI_Wtime();
            if (rank == (message & 1))
                MPI_Send(data, sizes[i], MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD);
            else
                MPI_Recv(data, sizes[i], MPI_CHAR, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        if (rank == 0)
            printf("%d %.3f\n", sizes[i], (MPI_Wtime() - begin) / 2 / ROUNDS * 1e6);
        free(data);
    }
    fflush(stdout);
    const char *end = count > 1 ? words[1] : "";
    if (strcmp(end, "spin") == 0 && rank == 1)
        for (volatile int i = 0;; i++)
            ;
    if (strcmp(end, "abort") == 0 && rank == 0)
        MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(end, "die") == 0 && rank == 1)
        raise(SIGKILL);
    if (strcmp(end, "wait") == 0)
        MPI_Recv(&rank, 1, MPI_INT, rank == 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

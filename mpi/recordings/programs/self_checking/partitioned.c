/* Partitioned messages, which arrive whole, and match in the order of their calls. It checks itself. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(is_right)                                                                                              \
    if (!(is_right)) {                                                                                               \
        fprintf(stderr, "rank %d: line %d: %s\n", rank, __LINE__, #is_right);                                        \
        exit(1);                                                                                                     \
    }
#define PARTS 4
#define N 3

static int rank, ranks;

int main(int count, char **words)
{
    int out[2][PARTS * N], in[2][PARTS * N], to, from, flag, list[2] = {3, 1};
    MPI_Request sends[2], receives[2];
    MPI_Status statuses[2];
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    to = (rank + 1) % ranks;
    from = (rank + ranks - 1) % ranks;
    for (int i = 0; i < 2; i++) {
        MPI_Psend_init(out[i], PARTS, N, MPI_INT, to, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &sends[i]);
        /* As many elements in other parts. */
        MPI_Precv_init(in[i], N, PARTS, MPI_INT, from, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &receives[i]);
    }
    for (int round = 0; round < 3; round++) {
        MPI_Startall(2, receives);
        /* The second one begins first. */
        for (int i = 1; i >= 0; i--) {
            MPI_Start(&sends[i]);
            MPI_Test(&sends[i], &flag, MPI_STATUS_IGNORE);
            CHECK(!flag);
            for (int j = 0; j < PARTS * N; j++)
                out[i][j] = 1000 * rank + 100 * round + 50 * i + j;
            MPI_Pready(2, sends[i]);
            MPI_Pready_list(2, list, sends[i]);
            MPI_Pready_range(0, 0, sends[i]);
        }
        for (flag = 0; !flag;)
            MPI_Parrived(receives[0], 1, &flag);
        CHECK(in[0][PARTS] == 1000 * from + 100 * round + PARTS);
        MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
        MPI_Waitall(2, receives, statuses);
        for (int i = 0; i < 2; i++) {
            CHECK(statuses[i].MPI_SOURCE == from && statuses[i].MPI_TAG == 5);
            for (int j = 0; j < PARTS * N; j++)
                CHECK(in[i][j] == 1000 * from + 100 * round + 50 * i + j);
        }
    }
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&sends[i]);
        MPI_Request_free(&receives[i]);
    }
    MPI_Finalize();
}

/* A program that aborts. What it called before is there. */

#include "expect.h"

int main(int count, char **words)
{
    int in, out = 0;
    begin(count, words);
    MPI_Sendrecv(&out, 1, MPI_INT, right(), 1, &in, 1, MPI_INT, left(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("sendrecv to=%d tag=1 comm=0 bytes=4 from=%d tag=1 comm=0 most=4", right(), left());
    expect_taken(left(), 1, 0, 4);
    expect("aborted");
    close_at_all(words[1]);
    if (rank == 0)
        for (;;) /* MPICH 5.0 comes back before the end. */
            MPI_Abort(MPI_COMM_WORLD, 7), sleep(1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

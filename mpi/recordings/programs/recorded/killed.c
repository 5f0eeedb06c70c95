/* A program of which one process is killed at once. What it called before is there, at all ranks. */

#include <signal.h>

#include "expect.h"

int main(int count, char **words)
{
    int in, out = 0;
    begin(count, words);
    for (int i = 0; i < 100; i++) {
        MPI_Sendrecv(&out, 1, MPI_INT, right(), 1, &in, 1, MPI_INT, left(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect("sendrecv to=%d tag=1 comm=0 bytes=4 from=%d tag=1 comm=0 most=4", right(), left());
        expect_taken(left(), 1, 0, 4);
    }
    barrier();
    expect("aborted");
    close_at_all(words[1]);
    if (rank == 1)
        kill(getpid(), SIGKILL);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

/* Receives that get no message: cancelled long after they were posted, or never completed. Other communicators' messages and those
 * of collectives are not theirs, though they would take any. */

#include "expect.h"

/* More than a reader has at once. */
#define MANY 1100
static int out[4], in[4];

/* Sends to the right and receives from the left. */
static void exchange(MPI_Comm comm, int number, int tag)
{
    MPI_Sendrecv(out, 4, MPI_BYTE, right(), tag, in, 4, MPI_BYTE, left(), tag, comm, MPI_STATUS_IGNORE);
    expect("sendrecv to=%d tag=%d comm=%d bytes=4 from=%d tag=%d comm=%d most=4", right(), tag, number, left(), tag, number);
    expect_taken(left(), tag, number, 4);
}

static void cancel(MPI_Request *request)
{
    MPI_Status status;
    int cancelled;
    MPI_Cancel(request);
    MPI_Wait(request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    expect(cancelled ? "cancelled" : "not cancelled");
}

/* Of three receives only the first one gets a message. */
static void cancelled_late(void)
{
    MPI_Request lost, found, any;
    MPI_Irecv(in, 4, MPI_BYTE, left(), 1, MPI_COMM_WORLD, &found);
    expect_recv(left(), 1, 0, 4);
    MPI_Irecv(in, 4, MPI_BYTE, left(), 1, MPI_COMM_WORLD, &lost);
    expect_recv(left(), 1, 0, 4);
    MPI_Irecv(in, 4, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any);
    expect("recv from=any tag=any comm=0 most=4");
    for (int i = 0; i < MANY && rank == 0; i++) {
        MPI_Barrier(MPI_COMM_SELF);
        expect("barrier comm=1 sent=0 received=0");
    }
    MPI_Send(out, 3, MPI_BYTE, right(), 1, MPI_COMM_WORLD);
    expect_send("standard", right(), 1, 0, 3);
    MPI_Wait(&found, MPI_STATUS_IGNORE);
    expect_taken(left(), 1, 0, 3);
    cancel(&any);
    cancel(&lost);
    barrier();
    exchange(MPI_COMM_WORLD, 0, 1);
}

int main(int count, char **words)
{
    MPI_Request of_self, of_dup, freed;
    MPI_Comm self, dup;
    begin(count, words);
    MPI_Barrier(MPI_COMM_SELF);
    expect("communicator number=1 parent=0 order=4294967296 members=[%d]", rank);
    expect("barrier comm=1 sent=0 received=0");
    cancelled_late();
    MPI_Comm_dup(MPI_COMM_SELF, &self);
    expect("communicator number=2 parent=1 order=0 members=[%d]", rank);
    expect("new parent=1 comm=2");
    MPI_Irecv(in, 4, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, self, &of_self);
    expect("recv from=any tag=any comm=2 most=16");
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    char members[64] = "0", *end_of = members + 1;
    for (int other = 1; other < ranks; other++)
        end_of += sprintf(end_of, ",%d", other);
    expect("communicator number=3 parent=0 order=0 members=[%s]", members);
    expect("new parent=0 comm=3");
    MPI_Irecv(in, 4, MPI_INT, MPI_ANY_SOURCE, 9, dup, &of_dup);
    expect("recv from=any tag=9 comm=3 most=16");
    MPI_Irecv(in, 4, MPI_INT, MPI_ANY_SOURCE, 9, dup, &freed);
    expect("recv from=any tag=9 comm=3 most=16");
    MPI_Request_free(&freed);
    expect("forget");
    for (int i = 0; i < 3; i++) {
        exchange(MPI_COMM_WORLD, 0, 9);
        exchange(dup, 3, 8);
        barrier();
    }
    return end();
}

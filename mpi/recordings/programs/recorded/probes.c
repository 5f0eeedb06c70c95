/* Probes of all kinds. */

#include "expect.h"

static char out[64], in[64];

static void send(int tag, int bytes)
{
    MPI_Send(out, bytes, MPI_CHAR, right(), tag, MPI_COMM_WORLD);
    expect_send("standard", right(), tag, 0, bytes);
}

static void receive(int tag, int bytes)
{
    MPI_Recv(in, sizeof in, MPI_CHAR, left(), tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_recv(left(), tag, 0, sizeof in);
    expect_taken(left(), tag, 0, bytes);
}

int main(int count, char **words)
{
    int flag = 0;
    MPI_Message message;
    MPI_Request request;
    begin(count, words);
    send(1, 10);
    MPI_Probe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect("probe from=%d tag=1 comm=0 bytes=10", left());
    receive(1, 10);
    send(2, 20);
    while (!flag)
        MPI_Iprobe(left(), MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    expect("iprobe from=%d tag=2 comm=0 bytes=20", left());
    receive(2, 20);
    send(3, 30);
    MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    expect("probe from=%d tag=3 comm=0 bytes=30", left());
    MPI_Mrecv(in, 31, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    expect_recv(left(), 3, 0, 31);
    expect_taken(left(), 3, 0, 30);
    send(4, 40);
    for (flag = 0; !flag;)
        MPI_Improbe(left(), 4, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
    expect("iprobe from=%d tag=4 comm=0 bytes=40", left());
    MPI_Imrecv(in, 41, MPI_CHAR, &message, &request);
    expect_recv(left(), 4, 0, 41);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_taken(left(), 4, 0, 40);
    MPI_Probe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return end();
}

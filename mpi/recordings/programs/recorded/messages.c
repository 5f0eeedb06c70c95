/* Sends in all modes, with and without requests, and both ways at once. */

#include "expect.h"

static char out[1000], in[1000];
typedef int send_call(const void *, int, MPI_Datatype, int, int, MPI_Comm);
typedef int isend_call(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static send_call *sends[4];
static isend_call *isends[4];
static const char *modes[4] = {"standard", "buffered", "synchronous", "ready"};

static void blocking(int mode)
{
    MPI_Request request;
    int bytes = 100 + rank;
    MPI_Irecv(in, 900, MPI_CHAR, left(), mode, MPI_COMM_WORLD, &request);
    expect_recv(left(), mode, 0, 900);
    barrier();
    sends[mode](out, bytes, MPI_CHAR, right(), mode, MPI_COMM_WORLD);
    expect_send(modes[mode], right(), mode, 0, bytes);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect_taken(left(), mode, 0, 100 + left());
}

static void immediate(int mode)
{
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(in, 10, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
    expect("recv from=any tag=any comm=0 most=80");
    barrier();
    isends[mode](out, rank, MPI_DOUBLE, right(), 10 + mode, MPI_COMM_WORLD, &requests[1]);
    expect_send(modes[mode], right(), 10 + mode, 0, 8 * rank);
    MPI_Waitall(2, requests, mode % 2 ? statuses : MPI_STATUSES_IGNORE);
    expect_taken(left(), 10 + mode, 0, 8 * left());
    barrier();
}

static void both_ways(void)
{
    MPI_Status status;
    int lower = rank == 0 ? MPI_PROC_NULL : rank - 1, higher = rank == ranks - 1 ? MPI_PROC_NULL : rank + 1;
    char to[64] = "", from[64] = "";
    MPI_Sendrecv(out, 5, MPI_INT, right(), 20, in, 6, MPI_INT, left(), 20, MPI_COMM_WORLD, &status);
    expect("sendrecv to=%d tag=20 comm=0 bytes=20 from=%d tag=20 comm=0 most=24", right(), left());
    expect_taken(left(), 20, 0, 20);
    MPI_Sendrecv_replace(in, 7, MPI_SHORT, higher, 21, lower, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (higher != MPI_PROC_NULL)
        snprintf(to, sizeof to, " to=%d tag=21 comm=0 bytes=14", higher);
    if (lower != MPI_PROC_NULL) {
        snprintf(from, sizeof from, " from=%d tag=any comm=0 most=14", lower);
        expect_taken(lower, 21, 0, 14);
    }
    expect("sendrecv%s%s", to, from);
}

static void nobody(void)
{
    MPI_Request requests[2];
    MPI_Send(out, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Isend(out, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 1, in, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void types(void)
{
    MPI_Datatype column;
    MPI_Request request;
    static double matrix[16];
    MPI_Type_vector(4, 1, 4, MPI_DOUBLE, &column);
    MPI_Type_commit(&column);
    MPI_Isend(matrix, 1, column, right(), 30, MPI_COMM_WORLD, &request);
    expect_send("standard", right(), 30, 0, 32);
    MPI_Type_free(&column);
    MPI_Recv(in, 4, MPI_DOUBLE, left(), 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect_recv(left(), 30, 0, 32);
    expect_taken(left(), 30, 0, 32);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("done");
}

int main(int count, char **words)
{
    static char buffer[100000];
    send_call *all[4] = {MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend};
    isend_call *all_immediate[4] = {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
    int bytes;
    void *attached;
    begin(count, words);
    memcpy(sends, all, sizeof sends);
    memcpy(isends, all_immediate, sizeof isends);
    MPI_Buffer_attach(buffer, sizeof buffer);
    for (int mode = 0; mode < 4; mode++) {
        blocking(mode);
        immediate(mode);
        expect("done");
    }
    MPI_Buffer_detach(&attached, &bytes);
    both_ways();
    nobody();
    types();
    return end();
}

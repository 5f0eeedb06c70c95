/* All ways to wait for requests and to test them, and persistent ones. */

#include "expect.h"

#define MESSAGES 6
static int out[MESSAGES], in[MESSAGES];
static MPI_Request requests[2 * MESSAGES];

/* Posts receives from the left and sends to the right, of other lengths each. */
static void post(int tag)
{
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Irecv(&in[i], 4, MPI_BYTE, left(), tag + i, MPI_COMM_WORLD, &requests[i]);
        expect_recv(left(), tag + i, 0, 4);
    }
    for (int i = 0; i < MESSAGES; i++) {
        MPI_Isend(&out[i], i % 5, MPI_BYTE, right(), tag + i, MPI_COMM_WORLD, &requests[MESSAGES + i]);
        expect_send("standard", right(), tag + i, 0, i % 5);
    }
}

/* Notes that a request is complete. */
static void done(int index, int tag)
{
    if (index < MESSAGES)
        expect_taken(left(), tag + index, 0, index % 5);
    else
        expect("done");
}

static void one_by_one(void)
{
    int index, flag, count, indices[2 * MESSAGES];
    post(100);
    for (int i = 0; i < 2 * MESSAGES; i++) {
        MPI_Waitany(2 * MESSAGES, requests, &index, MPI_STATUS_IGNORE);
        done(index, 100);
    }
    post(200);
    for (int left_over = 2 * MESSAGES; left_over > 0; left_over -= count) {
        MPI_Waitsome(2 * MESSAGES, requests, &count, indices, MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; i++)
            done(indices[i], 200);
    }
    post(300);
    for (int i = 0; i < 2 * MESSAGES; i += flag) {
        MPI_Testany(2 * MESSAGES, requests, &index, &flag, MPI_STATUS_IGNORE);
        if (flag)
            done(index, 300);
    }
    post(400);
    for (int left_over = 2 * MESSAGES; left_over > 0; left_over -= count) {
        MPI_Testsome(2 * MESSAGES, requests, &count, indices, MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; i++)
            done(indices[i], 400);
    }
}

static void all_at_once(void)
{
    int flag;
    post(500);
    do
        MPI_Testall(2 * MESSAGES, requests, &flag, MPI_STATUSES_IGNORE);
    while (!flag);
    for (int i = 0; i < 2 * MESSAGES; i++)
        done(i, 500);
    post(600);
    for (int i = 0; i < 2 * MESSAGES; i++) {
        do
            MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
        while (!flag);
        do
            MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
        while (!flag);
        done(i, 600);
    }
    /* These are complete already. */
    MPI_Waitall(2 * MESSAGES, requests, MPI_STATUSES_IGNORE);
    MPI_Testall(2 * MESSAGES, requests, &flag, MPI_STATUSES_IGNORE);
}

static void many(void)
{
    enum { MANY = 200 };
    MPI_Request all[2 * MANY];
    static char from[MANY], to[MANY];
    for (int i = 0; i < MANY; i++) {
        MPI_Irecv(&from[i], 1, MPI_CHAR, left(), 1000, MPI_COMM_WORLD, &all[i]);
        MPI_Isend(&to[i], 1, MPI_CHAR, right(), 1000, MPI_COMM_WORLD, &all[MANY + i]);
        expect_recv(left(), 1000, 0, 1);
        expect_send("standard", right(), 1000, 0, 1);
        expect_taken(left(), 1000, 0, 1);
        expect("done");
    }
    MPI_Waitall(2 * MANY, all, MPI_STATUSES_IGNORE);
}

static void given_up(void)
{
    MPI_Request request;
    int cancelled;
    MPI_Status status;
    MPI_Isend(out, 3, MPI_BYTE, right(), 700, MPI_COMM_WORLD, &request);
    expect_send("standard", right(), 700, 0, 3);
    MPI_Request_free(&request);
    expect("forget");
    MPI_Recv(in, 4, MPI_BYTE, left(), 700, MPI_COMM_WORLD, &status);
    expect_recv(left(), 700, 0, 4);
    expect_taken(left(), 700, 0, 3);
    MPI_Irecv(in, 4, MPI_BYTE, left(), 701, MPI_COMM_WORLD, &request);
    expect_recv(left(), 701, 0, 4);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    expect(cancelled ? "cancelled" : "not cancelled");
}

static void persistent(void)
{
    MPI_Request all[4];
    barrier();
    MPI_Recv_init(in, 2, MPI_INT, left(), 800, MPI_COMM_WORLD, &all[0]);
    MPI_Recv_init(in + 2, 2, MPI_INT, MPI_PROC_NULL, 800, MPI_COMM_WORLD, &all[1]);
    MPI_Send_init(out, 1, MPI_INT, right(), 800, MPI_COMM_WORLD, &all[2]);
    MPI_Ssend_init(out, 2, MPI_INT, right(), 801, MPI_COMM_WORLD, &all[3]);
    for (int round = 0; round < 3; round++) {
        MPI_Startall(3, all);
        MPI_Start(&all[3]);
        expect("start recv from=%d tag=800 comm=0 most=8", left());
        expect("start send mode=standard to=%d tag=800 comm=0 bytes=4", right());
        expect("start send mode=synchronous to=%d tag=801 comm=0 bytes=8", right());
        MPI_Recv(in + 4, 2, MPI_INT, left(), 801, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect_recv(left(), 801, 0, 8);
        expect_taken(left(), 801, 0, 8);
        MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
        expect_taken(left(), 800, 0, 4);
        expect("done");
        expect("done");
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&all[i]);
}

int main(int count, char **words)
{
    begin(count, words);
    one_by_one();
    all_at_once();
    many();
    given_up();
    persistent();
    return end();
}

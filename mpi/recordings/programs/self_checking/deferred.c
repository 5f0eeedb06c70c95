/* What takes effect later than it is called: immediate duplicates of communicators, persistent collectives that are started in
 * another order than they were made, sends that are cancelled, and receives that are freed. It checks itself. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

#define CHECK(condition)                                                                                             \
    do {                                                                                                             \
        if (!(condition)) {                                                                                          \
            fprintf(stderr, "rank %d: line %d: %s\n", rank, __LINE__, #condition);                                   \
            MPI_Abort(MPI_COMM_WORLD, 9);                                                                            \
        }                                                                                                            \
    } while (0)

static int keyval;

/* A duplicate is begun before the others begin it, and its parent is freed before it is there. */
static void duplicate(void)
{
    MPI_Comm made[3], parent;
    MPI_Request requests[3];
    int result, *value, is_there, token = 0, number = 7;
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keyval, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &parent);
    MPI_Comm_set_attr(parent, keyval, &number);
    if (rank > 0) /* Only rank 0 has begun its duplicates when the next rank goes on. */
        MPI_Recv(&token, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_idup(parent, &made[0], &requests[0]);
    MPI_Comm_idup(MPI_COMM_WORLD, &made[1], &requests[1]);
    MPI_Comm_idup(parent, &made[2], &requests[2]);
    if (rank < ranks - 1)
        MPI_Send(&token, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
    MPI_Comm_free(&parent);
    CHECK(parent == MPI_COMM_NULL);
    if (rank % 2)
        MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 3; i++) {
        int sum = 0;
        MPI_Comm_compare(made[i], MPI_COMM_WORLD, &result);
        CHECK(result == MPI_CONGRUENT);
        MPI_Comm_get_attr(made[i], keyval, &value, &is_there);
        CHECK(is_there == (i != 1) && (i == 1 || *value == 7));
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made[i]);
        CHECK(sum == ranks * (ranks - 1) / 2);
        MPI_Comm_free(&made[i]);
    }
    MPI_Comm_free_keyval(&keyval);
}

/* Two groups of which each rank waits for the whole other one. */
static void duplicate_between_groups(void)
{
    MPI_Comm half, between, made;
    MPI_Request request;
    int size, sum = 0;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 3, &between);
    MPI_Comm_idup(between, &made, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_remote_size(made, &size);
    CHECK(size == (rank % 2 ? (ranks + 1) / 2 : ranks / 2));
    MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, made);
    CHECK(sum == size);
    MPI_Comm_free(&made);
    /* The vectors of one group are divided among the other one: parts are as long as their receivers say. */
    int own, total = ranks % 2 ? ranks * ranks - 1 : ranks * ranks, counts[64], *data = malloc(sizeof(int) * (size_t)total), into[4096];
    MPI_Comm_size(half, &own);
    total = own * size;
    for (int i = 0; i < own; i++)
        counts[i] = size + (i == 0) - (i == own - 1);
    if (own == 1)
        counts[0] = size;
    for (int i = 0; i < total; i++)
        data[i] = i + 1000 * rank;
    int me, before = 0, expected_base = 0;
    MPI_Comm_rank(half, &me);
    for (int i = 0; i < me; i++)
        before += counts[i];
    for (int other = 0; other < ranks; other++)
        if (other % 2 != rank % 2)
            expected_base += 1000 * other;
    MPI_Reduce_scatter(data, into, counts, MPI_INT, MPI_SUM, between);
    for (int i = 0; i < counts[me]; i++)
        CHECK(into[i] == size * (before + i) + expected_base);
    MPI_Reduce_scatter_block(data, into, size, MPI_INT, MPI_SUM, between);
    for (int i = 0; i < size; i++)
        CHECK(into[i] == size * (me * size + i) + expected_base);
    free(data);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
}

#if MPI_VERSION >= 4
static void start_in_another_order(void)
{
    MPI_Request requests[2];
    int value, sum;
    MPI_Bcast_init(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
    MPI_Allreduce_init(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
    for (int i = 0; i < 3; i++) {
        value = rank == 0 ? 40 + i : -1;
        MPI_Start(&requests[rank % 2]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Start(&requests[1 - rank % 2]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        CHECK(value == 40 + i && sum == ranks * (ranks - 1) / 2);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}
#endif

/* One that nobody receives is cancelled, and nobody sees it; one that is received is not. */
static void cancel(void)
{
    int value = rank, found, is_cancelled;
    MPI_Request request;
    MPI_Status status;
    if (rank == 0) {
        MPI_Issend(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &is_cancelled);
        CHECK(is_cancelled);
        MPI_Issend(&value, 1, MPI_INT, 1, 6, MPI_COMM_WORLD, &request);
        MPI_Recv(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Cancel(&request);
        MPI_Wait(&request, &status);
        MPI_Test_cancelled(&status, &is_cancelled);
        CHECK(!is_cancelled);
        value = 8;
        MPI_Send(&value, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(&value, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Iprobe(0, 5, MPI_COMM_WORLD, &found, &status);
        CHECK(!found);
        MPI_Send(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
        CHECK(value == 8 && status.MPI_SOURCE == 0);
    }
}

/* Data come to a receive that was freed before it was complete: as soon as they are there, and before MPI_Finalize ends. */
static int late = -1, other = -1;
static void free_receives(void)
{
    MPI_Request request;
    int value = 11;
    if (rank == 1) {
        MPI_Irecv(&other, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
        CHECK(request == MPI_REQUEST_NULL);
        MPI_Recv(&value, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(other == 11);
        MPI_Irecv(&late, 1, MPI_INT, 0, 10, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    } else if (rank == 0) {
        MPI_Send(&value, 1, MPI_INT, 1, 8, MPI_COMM_WORLD);
        MPI_Send(&value, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
        MPI_Ssend(&value, 1, MPI_INT, 1, 10, MPI_COMM_WORLD);
    }
}

/* Calls for one message leave the error of a status as it was; that of no request says that there is none. */
static void keep_errors(void)
{
    int value = 3, is_right, is_there;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    if (rank == 0) {
        for (int i = 0; i < 3; i++)
            MPI_Send(&value, 1, MPI_INT, 1, 11, MPI_COMM_WORLD);
    } else if (rank == 1) {
        status.MPI_ERROR = MPI_ERR_DIMS;
        MPI_Mprobe(0, 11, MPI_COMM_WORLD, &message, &status);
        is_right = status.MPI_ERROR == MPI_ERR_DIMS;
        MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
        CHECK(is_right && status.MPI_ERROR == MPI_ERR_DIMS);
        MPI_Probe(0, 11, MPI_COMM_WORLD, &status);
        MPI_Recv(&value, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, &status);
        CHECK(status.MPI_ERROR == MPI_ERR_DIMS);
        MPI_Irecv(&value, 1, MPI_INT, 0, 11, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
        CHECK(status.MPI_ERROR == MPI_ERR_DIMS);
        MPI_Wait(&request, &status);
        is_right = status.MPI_ERROR == MPI_SUCCESS;
        status.MPI_ERROR = MPI_ERR_DIMS;
        MPI_Request_get_status(request, &is_there, &status);
        CHECK(is_right && is_there && status.MPI_ERROR == MPI_SUCCESS);
    }
}

/* Rank 0 makes communicators with one rank after another, of which the first one comes last. */
static void make_pairs(void)
{
    int value = 0, got;
    MPI_Group all, pair;
    MPI_Comm comm;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    for (int i = 0; i < 20 && rank == 1; i++)
        MPI_Sendrecv(&value, 1, MPI_INT, 1, 12, &got, 1, MPI_INT, 1, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int other = 1; other < ranks; other++) {
        if (rank != 0 && rank != other)
            continue;
        MPI_Group_incl(all, 2, (int[]){0, other}, &pair);
        MPI_Comm_create_group(MPI_COMM_WORLD, pair, 0, &comm);
        MPI_Group_free(&pair);
        value = other;
        MPI_Bcast(&value, 1, MPI_INT, 0, comm);
        CHECK(value == other);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&all);
}

/* All ranks are in it at once. */
static void set_info(void)
{
    MPI_Win win;
    MPI_Info info;
    int cell = 0;
    MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
    MPI_Win_free(&win);
}

/* A program that only looks at the clock comes to a time that is far away. */
static void wait_for_a_time(void)
{
    double begin = MPI_Wtime();
    while (MPI_Wtime() - begin < 2)
        continue;
    CHECK(MPI_Wtime() - begin < 2.01);
}

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    keep_errors();
    make_pairs();
    set_info();
    cancel();
    duplicate();
    duplicate_between_groups();
#if MPI_VERSION >= 4
    start_in_another_order();
#endif
    if (count > 1)
        wait_for_a_time();
    free_receives();
    MPI_Finalize();
    CHECK(rank != 1 || late == 11);
}

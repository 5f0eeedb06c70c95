/* Many immediate collectives on several communicators, messages among them, and ranks that complete them in other orders and by other
 * calls: whatever a rank waits for, its immediate collectives go on. It checks itself. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COMMS = 3, OPEN = 12, ROUNDS = 400, KINDS = 12, MOST = 64, TAG = 5 };

static int rank, ranks;

#define CHECK(condition)                                                                                             \
    do {                                                                                                             \
        if (!(condition)) {                                                                                          \
            fprintf(stderr, "rank %d: line %d: %s\n", rank, __LINE__, #condition);                                   \
            MPI_Abort(MPI_COMM_WORLD, 9);                                                                            \
        }                                                                                                            \
    } while (0)

/* Random numbers, the same on all ranks if they begin with the same state. */
static unsigned next(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* An operation under way, with its seed. */
struct operation {
    int kind, seed, sent[MOST], got[MOST];
};

static struct operation all[OPEN];
static MPI_Request requests[OPEN];

static void start(int at, MPI_Comm comm, int kind, int seed)
{
    struct operation *one = &all[at];
    MPI_Request *request = &requests[at];
    int *sent = one->sent, *got = one->got, root = seed % ranks;
    one->kind = kind;
    one->seed = seed;
    for (int i = 0; i < MOST; i++) {
        sent[i] = seed + 100 * rank + i;
        got[i] = -1;
    }
    switch (kind) {
    case 0: MPI_Ibarrier(comm, request); break;
    case 1:
        got[0] = rank == root ? seed : -1;
        MPI_Ibcast(got, 1, MPI_INT, root, comm, request);
        break;
    case 2: MPI_Ireduce(sent, got, 2, MPI_INT, MPI_SUM, root, comm, request); break;
    case 3: MPI_Iallreduce(sent, got, 2, MPI_INT, MPI_SUM, comm, request); break;
    case 4: MPI_Igather(sent, 1, MPI_INT, got, 1, MPI_INT, root, comm, request); break;
    case 5: MPI_Iscatter(sent, 1, MPI_INT, got, 1, MPI_INT, root, comm, request); break;
    case 6: MPI_Iallgather(sent, 1, MPI_INT, got, 1, MPI_INT, comm, request); break;
    case 7: MPI_Ialltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm, request); break;
    case 8: MPI_Iscan(sent, got, 1, MPI_INT, MPI_SUM, comm, request); break;
    case 9: MPI_Ireduce_scatter_block(sent, got, 1, MPI_INT, MPI_SUM, comm, request); break;
    case 10: MPI_Iexscan(sent, got, 1, MPI_INT, MPI_SUM, comm, request); break;
    default: /* Of two neighbours the first sends. */
        if (rank % 2)
            MPI_Irecv(got, 1, MPI_INT, rank - 1, TAG, comm, request);
        else if (rank + 1 < ranks)
            MPI_Isend(sent, 1, MPI_INT, rank + 1, TAG, comm, request);
    }
}

/* Returns what ranks from 0 to `count` have sent at a place, together. */
static int sum(const struct operation *one, int count, int place)
{
    return count * (one->seed + place) + 100 * count * (count - 1) / 2;
}

static void check(const struct operation *one)
{
    const int *got = one->got, root = one->seed % ranks;
    int is_root = rank == root;
    for (int i = 0; i < ranks; i++)
        switch (one->kind) {
        case 4: CHECK(!is_root || got[i] == one->seed + 100 * i); break;
        case 6: CHECK(got[i] == one->seed + 100 * i); break;
        case 7: CHECK(got[i] == one->seed + 100 * i + rank); break;
        default: break;
        }
    switch (one->kind) {
    case 1: CHECK(got[0] == one->seed); break;
    case 2: CHECK(!is_root || (got[0] == sum(one, ranks, 0) && got[1] == sum(one, ranks, 1))); break;
    case 3: CHECK(got[0] == sum(one, ranks, 0) && got[1] == sum(one, ranks, 1)); break;
    case 5: CHECK(got[0] == one->seed + 100 * root + rank); break;
    case 8: CHECK(got[0] == sum(one, rank + 1, 0)); break;
    case 9: CHECK(got[0] == sum(one, ranks, rank)); break;
    case 10: CHECK(rank == 0 || got[0] == sum(one, rank, 0)); break;
    case 11: CHECK(rank % 2 == 0 || got[0] == one->seed + 100 * (rank - 1)); break;
    default: break;
    }
}

/* Completes some of the operations, as each rank likes. */
static void complete(unsigned *own)
{
    int place = (int)next(own, OPEN), count = 0, is_done, places[OPEN];
    switch (next(own, 9)) {
    case 0: MPI_Wait(&requests[place], MPI_STATUS_IGNORE); break;
    case 1: MPI_Test(&requests[place], &is_done, MPI_STATUS_IGNORE); break;
    case 2:
        for (is_done = 0; !is_done;)
            MPI_Test(&requests[place], &is_done, MPI_STATUS_IGNORE);
        break;
    case 3: MPI_Waitany(OPEN, requests, &place, MPI_STATUS_IGNORE); break;
    case 4: MPI_Waitsome(OPEN, requests, &count, places, MPI_STATUSES_IGNORE); break;
    case 5: MPI_Testany(OPEN, requests, &place, &is_done, MPI_STATUS_IGNORE); break;
    case 6: MPI_Testsome(OPEN, requests, &count, places, MPI_STATUSES_IGNORE); break;
    case 7: MPI_Waitall((int)next(own, OPEN), requests, MPI_STATUSES_IGNORE); break;
    default: MPI_Testall(OPEN, requests, &is_done, MPI_STATUSES_IGNORE);
    }
    for (int at = 0; at < OPEN; at++)
        if (requests[at] == MPI_REQUEST_NULL && all[at].kind >= 0) {
            check(&all[at]);
            all[at].kind = -1;
        }
}

static void run_mixed(void)
{
    MPI_Comm comms[COMMS];
    unsigned common = 7, own = 1000u + (unsigned)rank;
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int at = 0; at < OPEN; at++)
        all[at].kind = -1, requests[at] = MPI_REQUEST_NULL;
    for (int round = 0; round < ROUNDS; round++) {
        int comm = (int)next(&common, COMMS), kind = (int)next(&common, KINDS), place = -1;
        while (place < 0) {
            for (int at = 0; at < OPEN; at++)
                if (all[at].kind < 0)
                    place = at;
            if (place < 0)
                complete(&own);
        }
        start(place, comms[comm], kind, round);
        if (next(&own, 3) == 0)
            complete(&own);
    }
    MPI_Waitall(OPEN, requests, MPI_STATUSES_IGNORE);
    for (int at = 0; at < OPEN; at++)
        check(&all[at]);
    for (int i = 0; i < COMMS; i++)
        MPI_Comm_free(&comms[i]);
}

/* Each rank is in something else while the last one waits for the collective first. */
static void wait_for_the_last(void)
{
    int last = ranks - 1, value = 0, total, is_there = 0;
    MPI_Request sum;
    MPI_Comm half;
    for (int way = 0; way < 9; way++) {
        MPI_Iallreduce(&rank, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &sum);
        if (rank == last)
            MPI_Wait(&sum, MPI_STATUS_IGNORE);
        for (int other = 0; rank == last && other < last; other++)
            if (way < 4)
                MPI_Send(&other, 1, MPI_INT, other, TAG, MPI_COMM_WORLD);
            else if (way == 4)
                MPI_Recv(&value, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else if (way == 5)
                MPI_Sendrecv(&other, 1, MPI_INT, other, TAG, &value, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank != last) {
            if (way == 1)
                MPI_Probe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (way == 2)
                while (!is_there)
                    MPI_Iprobe(last, TAG, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
            if (way < 3)
                MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (way == 3) {
                MPI_Request got;
                MPI_Irecv(&value, 1, MPI_INT, last, TAG, MPI_COMM_WORLD, &got);
                MPI_Wait(&got, MPI_STATUS_IGNORE);
            }
            if (way == 4)
                MPI_Ssend(&rank, 1, MPI_INT, last, TAG, MPI_COMM_WORLD);
            if (way == 5)
                MPI_Sendrecv(&rank, 1, MPI_INT, last, TAG, &value, 1, MPI_INT, last, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(way == 4 || way > 5 || value == rank);
        }
        if (way == 6)
            MPI_Barrier(MPI_COMM_WORLD);
        if (way == 7) {
            MPI_Allreduce(&rank, &value, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            CHECK(value == last);
        }
        if (way == 8) {
            MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
            MPI_Comm_free(&half);
        }
        MPI_Wait(&sum, MPI_STATUS_IGNORE);
        CHECK(total == ranks * last / 2);
    }
}

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    run_mixed();
    wait_for_the_last();
    MPI_Finalize();
    return 0;
}

/* All collectives, blocking, immediate and, where the MPI has them, persistent. */

#include "expect.h"

#define MOST 4
static int out[64], in[64], counts[MOST], offsets[MOST], backwards[MOST], bytes[MOST];
static MPI_Datatype ints[MOST];
static MPI_Request request;

/* The same collective in all ways, of which `text` is expected. */
#define BLOCKING(name, ...) MPI_##name(__VA_ARGS__, MPI_COMM_WORLD)
#define WAIT                                                                                                         \
    MPI_Wait(&request, MPI_STATUS_IGNORE);                                                                           \
    expect("done")
#if MPI_VERSION >= 4
#define PERSISTENT(name, ...)                                                                                        \
    MPI_##name##_init(__VA_ARGS__, MPI_COMM_WORLD, MPI_INFO_NULL, &request);                                         \
    for (int round = 0; round < 2; round++) {                                                                        \
        MPI_Start(&request);                                                                                         \
        expect("start %s", text);                                                                                    \
        WAIT;                                                                                                        \
    }                                                                                                                \
    MPI_Request_free(&request)
#else
#define PERSISTENT(name, ...) (void)text
#endif
#define ALL_WAYS(name, ...)                                                                                          \
    TWO_WAYS(name, __VA_ARGS__);                                                                                     \
    PERSISTENT(name, __VA_ARGS__)
#define TWO_WAYS(name, ...)                                                                                          \
    BLOCKING(name, __VA_ARGS__);                                                                                     \
    expect("%s", text);                                                                                              \
    MPI_I##name(__VA_ARGS__, MPI_COMM_WORLD, &request);                                                              \
    expect("%s", text);                                                                                              \
    WAIT
/* The names of immediate collectives have small letters behind the I. */
#define MPI_IBcast MPI_Ibcast
#define MPI_IReduce MPI_Ireduce
#define MPI_IAllreduce MPI_Iallreduce
#define MPI_IScan MPI_Iscan
#define MPI_IExscan MPI_Iexscan
#define MPI_IGather MPI_Igather
#define MPI_IGatherv MPI_Igatherv
#define MPI_IScatter MPI_Iscatter
#define MPI_IScatterv MPI_Iscatterv
#define MPI_IAllgather MPI_Iallgather
#define MPI_IAllgatherv MPI_Iallgatherv
#define MPI_IAlltoall MPI_Ialltoall
#define MPI_IAlltoallv MPI_Ialltoallv
#define MPI_IAlltoallw MPI_Ialltoallw
#define MPI_IReduce_scatter MPI_Ireduce_scatter
#define MPI_IReduce_scatter_block MPI_Ireduce_scatter_block

/* Returns the bytes of counts, as the list has them. */
static const char *list(char *text, const int *of)
{
    char *to = text + sprintf(text, "[");
    for (int i = 0; i < ranks; i++)
        to += sprintf(to, "%s%d", i ? "," : "", 4 * of[i]);
    strcpy(to, "]");
    return text;
}

static void rooted(int root)
{
    char text[200], each[100];
    int is_root = rank == root;
    list(each, counts);
    sprintf(text, "bcast comm=0 root=%d sent=%d received=%d", root, is_root ? 12 : 0, is_root ? 0 : 12);
    ALL_WAYS(Bcast, out, 3, MPI_INT, root);
    sprintf(text, "reduce comm=0 root=%d sent=8 received=%d", root, is_root ? 8 : 0);
    ALL_WAYS(Reduce, out, in, 2, MPI_INT, MPI_SUM, root);
    ALL_WAYS(Reduce, is_root ? MPI_IN_PLACE : out, in, 2, MPI_INT, MPI_SUM, root);
    sprintf(text, "gather comm=0 root=%d sent=4 received=%d", root, is_root ? 4 : 0);
    ALL_WAYS(Gather, out, 1, MPI_INT, in, 1, MPI_INT, root);
    ALL_WAYS(Gather, is_root ? MPI_IN_PLACE : out, 1, MPI_INT, in, 1, MPI_INT, root);
    sprintf(text, "gatherv comm=0 root=%d sent=%d received=%s", root, 4 * counts[rank], is_root ? each : "0");
    ALL_WAYS(Gatherv, out, counts[rank], MPI_INT, in, counts, offsets, MPI_INT, root);
    ALL_WAYS(Gatherv, is_root ? MPI_IN_PLACE : out, counts[rank], MPI_INT, in, counts, offsets, MPI_INT, root);
    sprintf(text, "scatter comm=0 root=%d sent=%d received=4", root, is_root ? 4 : 0);
    /* A persistent one that is started again fails in MPICH 4.0. */
    TWO_WAYS(Scatter, out, 1, MPI_INT, in, 1, MPI_INT, root);
    TWO_WAYS(Scatter, out, 1, MPI_INT, is_root ? MPI_IN_PLACE : in, 1, MPI_INT, root);
    sprintf(text, "scatterv comm=0 root=%d sent=%s received=%d", root, is_root ? each : "0", 4 * counts[rank]);
    ALL_WAYS(Scatterv, out, counts, offsets, MPI_INT, in, counts[rank], MPI_INT, root);
    ALL_WAYS(Scatterv, out, counts, offsets, MPI_INT, is_root ? MPI_IN_PLACE : in, counts[rank], MPI_INT, root);
}

static void of_all(void)
{
    char text[300], each[100], other[100];
    list(each, counts);
    sprintf(text, "allreduce comm=0 sent=16 received=16");
    ALL_WAYS(Allreduce, out, in, 4, MPI_INT, MPI_SUM);
    ALL_WAYS(Allreduce, MPI_IN_PLACE, in, 4, MPI_INT, MPI_SUM);
    sprintf(text, "scan comm=0 sent=4 received=4");
    ALL_WAYS(Scan, out, in, 1, MPI_INT, MPI_SUM);
    sprintf(text, "exscan comm=0 sent=4 received=4");
    ALL_WAYS(Exscan, out, in, 1, MPI_INT, MPI_SUM);
    sprintf(text, "allgather comm=0 sent=8 received=8");
    ALL_WAYS(Allgather, out, 2, MPI_INT, in, 2, MPI_INT);
    ALL_WAYS(Allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT);
    sprintf(text, "allgatherv comm=0 sent=%d received=%s", 4 * counts[rank], each);
    ALL_WAYS(Allgatherv, out, counts[rank], MPI_INT, in, counts, offsets, MPI_INT);
    ALL_WAYS(Allgatherv, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, offsets, MPI_INT);
    sprintf(text, "alltoall comm=0 sent=4 received=4");
    ALL_WAYS(Alltoall, out, 1, MPI_INT, in, 1, MPI_INT);
    ALL_WAYS(Alltoall, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT);
    sprintf(text, "reducescatter comm=0 sent=%s received=%d", each, 4 * counts[rank]);
    ALL_WAYS(Reduce_scatter, out, in, counts, MPI_INT, MPI_SUM);
    sprintf(text, "reducescatterblock comm=0 sent=8 received=8");
    ALL_WAYS(Reduce_scatter_block, out, in, 2, MPI_INT, MPI_SUM);
    /* Rank r sends r + 1 to each, and gets i + 1 from rank i. */
    for (int i = 0; i < ranks; i++)
        backwards[i] = rank + 1;
    for (int i = 0; i < ranks; i++)
        counts[i] = i + 1;
    sprintf(text, "alltoallv comm=0 sent=%s received=%s", list(each, backwards), list(other, counts));
    ALL_WAYS(Alltoallv, out, backwards, offsets, MPI_INT, in, counts, offsets, MPI_INT);
    sprintf(text, "alltoallw comm=0 sent=%s received=%s", list(each, backwards), list(other, counts));
    ALL_WAYS(Alltoallw, out, backwards, bytes, ints, in, counts, bytes, ints);
}

int main(int count, char **words)
{
    begin(count, words);
    for (int i = 0; i < ranks; i++) {
        counts[i] = 2 * i;
        offsets[i] = 8 * i;
        bytes[i] = 32 * i;
        ints[i] = MPI_INT;
    }
    barrier();
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    expect("barrier comm=0 sent=0 received=0");
    WAIT;
    rooted(0);
    rooted(ranks - 1);
    of_all();
    return end();
}

/* Writes what it receives by calls of all kinds to the file that its first argument names, with the rank at its end: an emulated run has
 * to receive what a real one does. It does not depend on who is first. */

#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CELLS 400
#define LONG 300000
static FILE *file;
static int rank, ranks, out[CELLS], in[CELLS];
static int *many, *more;

static void note(const char *name, const int *cells, int count)
{
    unsigned long sum = 0;
    fprintf(file, "%s:", name);
    for (int i = 0; i < count; i++) {
        sum = sum * 31 + (unsigned)cells[i];
        if (i < 40)
            fprintf(file, " %d", cells[i]);
    }
    fprintf(file, " %lx\n", sum);
    memset(in, -1, sizeof in);
}

static void note_status(MPI_Status *status, MPI_Datatype type)
{
    int count, elements, cancelled;
    MPI_Get_count(status, type, &count);
    MPI_Get_elements(status, type, &elements);
    MPI_Test_cancelled(status, &cancelled);
    fprintf(file, "status %d %d %d %d %d\n", status->MPI_SOURCE, status->MPI_TAG, count, elements, cancelled);
}

static int left(int size, int own)
{
    return (own + size - 1) % size;
}

/* (a, b) and (c, d) make (c a, c b + d): the order matters. */
static void compose(void *first, void *second, int *count, MPI_Datatype *type)
{
    int *a = first, *b = second, step = 2;
    MPI_Aint low, extent;
    MPI_Type_get_extent(*type, &low, &extent);
    step = (int)(extent / (MPI_Aint)sizeof(int));
    for (int i = 0; i < *count; i++, a += step, b += step) {
        int factor = b[0];
        b[1] += factor * a[1];
        b[0] = factor * a[0];
    }
}

/* Types with holes, that begin elsewhere, and of several parts. */
static MPI_Datatype holes, shifted, mixed;

static void make_types(void)
{
    int lengths[2] = {1, 3};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype types[2] = {MPI_SHORT, MPI_INT}, packed;
    MPI_Type_vector(2, 1, 2, MPI_INT, &holes);
    MPI_Type_commit(&holes);
    places[0] = 4;
    MPI_Type_create_hindexed(1, lengths + 1, places, MPI_INT, &packed);
    MPI_Type_create_resized(packed, 0, 24, &shifted);
    MPI_Type_commit(&shifted);
    MPI_Type_free(&packed);
    places[0] = 0;
    MPI_Type_create_struct(2, lengths, places, types, &packed);
    MPI_Type_create_resized(packed, -4, 28, &mixed);
    MPI_Type_commit(&mixed);
    MPI_Type_free(&packed);
}

static void messages(MPI_Comm comm, int own, int size)
{
    MPI_Status status, statuses[4];
    MPI_Request requests[4];
    MPI_Datatype types[5] = {MPI_INT, holes, shifted, mixed, MPI_DOUBLE_INT};
    MPI_Message message;
    int to = (own + 1) % size, from = left(size, own), flag, index;
    for (int i = 0; i < 5; i++) {
        MPI_Sendrecv(out + 10, 5, types[i], to, i, in + 10, 7, types[i], from, i, comm, &status);
        note("sendrecv", in, 60);
        note_status(&status, types[i]);
        MPI_Irecv(in + 10, 4, types[i], MPI_ANY_SOURCE, i, comm, &requests[0]);
        MPI_Issend(out + 10, i % 3, types[i], to, i, comm, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        note("irecv", in, 60);
        note_status(&statuses[0], types[i]);
        memcpy(in, out, sizeof in);
        MPI_Sendrecv_replace(in + 10, 3, types[i], to, 9, from, MPI_ANY_TAG, comm, &status);
        note("replace", in, 60);
        note_status(&status, types[i]);
    }
    /* A part of an element. */
    MPI_Sendrecv(out, 5, MPI_INT, to, 1, in, 3, holes, from, 1, comm, &status);
    note("part", in, 20);
    note_status(&status, holes);
    MPI_Isend(many, LONG, MPI_INT, to, 2, comm, &requests[0]);
    MPI_Recv(more, LONG, MPI_INT, from, 2, comm, &status);
    note("long", more, LONG);
    note_status(&status, MPI_INT);
    MPI_Wait(&requests[0], &status);
    MPI_Isend(many, LONG / 6, shifted, to, 2, comm, &requests[0]);
    MPI_Recv(more, LONG / 6, shifted, from, 2, comm, &status);
    note("long with holes", more, LONG);
    MPI_Wait(&requests[0], &status);
    /* Types that are freed while the messages are under way. */
    MPI_Datatype type;
    MPI_Type_dup(holes, &type);
    MPI_Irecv(in, 4, type, from, 3, comm, &requests[0]);
    MPI_Recv_init(in + 100, 4, type, from, 4, comm, &requests[1]);
    MPI_Send_init(out, 4, type, to, 4, comm, &requests[2]);
    MPI_Send(out, 4, type, to, 3, comm);
    MPI_Type_free(&type);
    MPI_Startall(2, &requests[1]);
    MPI_Waitall(3, requests, statuses);
    note("freed", in, 120);
    out[0]++;
    MPI_Start(&requests[2]);
    MPI_Start(&requests[1]);
    do
        MPI_Testall(3, requests, &flag, statuses);
    while (!flag);
    note("again", in, 120);
    note_status(&statuses[0], MPI_INT);
    note_status(&statuses[1], MPI_INT);
    MPI_Request_free(&requests[1]);
    MPI_Request_free(&requests[2]);
    /* What is absolute. */
    int lengths[2] = {2, 3};
    MPI_Aint places[2];
    MPI_Get_address(out, &places[0]);
    MPI_Get_address(out + 50, &places[1]);
    MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Isend(MPI_BOTTOM, 1, type, to, 5, comm, &requests[0]);
    MPI_Recv(in, 5, MPI_INT, from, 5, comm, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Type_free(&type);
    note("absolute", in, 10);
    /* Probes. */
    MPI_Isend(out, 7, MPI_INT, to, 6, comm, &requests[0]);
    MPI_Isend(out + 7, 8, MPI_INT, to, 6, comm, &requests[1]);
    MPI_Mprobe(from, 6, comm, &message, &status);
    note_status(&status, MPI_INT);
    MPI_Probe(from, 6, comm, &status);
    note_status(&status, MPI_INT);
    MPI_Recv(in + 20, 8, MPI_INT, from, 6, comm, &status);
    note_status(&status, MPI_INT);
    MPI_Mrecv(in, 10, MPI_INT, &message, &status);
    note_status(&status, MPI_INT);
    note("matched", in, 30);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Isend(out, 3, holes, to, 7, comm, &requests[0]);
    do
        MPI_Improbe(MPI_ANY_SOURCE, 7, comm, &flag, &message, &status);
    while (!flag);
    MPI_Imrecv(in, 4, holes, &message, &requests[1]);
    MPI_Waitall(2, requests, statuses);
    note_status(&statuses[1], holes);
    note("matched", in, 30);
    /* Nobody, and nothing. */
    MPI_Recv(in, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &status);
    note_status(&status, MPI_INT);
    MPI_Irecv(in, 1, MPI_INT, MPI_PROC_NULL, 1, comm, &requests[0]);
    requests[1] = MPI_REQUEST_NULL;
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    fprintf(file, "any %d\n", index);
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    fprintf(file, "any %d\n", index == MPI_UNDEFINED);
    MPI_Mprobe(MPI_PROC_NULL, 1, comm, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 1, MPI_INT, from, 2000, comm, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    fprintf(file, "cancelled %d\n", flag);
    MPI_Sendrecv(out, 2, MPI_INT, to, 8, in, 2, MPI_INT, from, 8, comm, &status);
    note("after it", in, 5);
    /* More than can be completed at once. */
    enum { MANY = 1500 };
    static MPI_Request all[2 * MANY];
    static MPI_Status all_statuses[2 * MANY];
    for (int round = 0; round < 3; round++) {
        int left_over = 2 * MANY, count, indices[2 * MANY];
        for (int i = 0; i < MANY; i++) {
            MPI_Irecv(more + i, 1, MPI_INT, from, i, comm, &all[i]);
            MPI_Isend(many + i + round, 1, MPI_INT, to, i, comm, &all[MANY + i]);
        }
        if (round == 0)
            MPI_Waitall(2 * MANY, all, all_statuses);
        for (flag = round != 1; !flag;)
            MPI_Testall(2 * MANY, all, &flag, all_statuses);
        for (; round == 2 && left_over > 0; left_over -= count)
            MPI_Waitsome(2 * MANY, all, &count, indices, all_statuses);
        note("many", more, MANY);
    }
}

static void reductions(MPI_Comm comm, int own, int size)
{
    MPI_Op composed, summed;
    MPI_Datatype pair, loose;
    MPI_Request request;
    int counts[64], root = size - 1;
    (void)own;
    MPI_Op_create(compose, 0, &composed);
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_create_resized(pair, 0, 12, &loose);
    MPI_Type_commit(&loose);
    MPI_Datatype types[2] = {pair, loose};
    for (int i = 0; i < 2; i++) {
        MPI_Allreduce(out, in, 4, types[i], composed, comm);
        note("allreduce", in, 16);
        MPI_Reduce(out, in, 4, types[i], composed, root, comm);
        note("reduce", in, 16);
        MPI_Scan(out, in, 4, types[i], composed, comm);
        note("scan", in, 16);
        MPI_Exscan(out, in, 4, types[i], composed, comm);
        note("exscan", own == 0 ? out : in, 16);
        /* MPICH 4.0 takes elements with holes for shorter ones here. */
        MPI_Reduce_scatter_block(out, in, 2, types[0], composed, comm);
        note("reduce_scatter_block", in, 16);
        memcpy(in, out, sizeof in);
        MPI_Allreduce(MPI_IN_PLACE, in, 4, types[i], composed, comm);
        note("allreduce in place", in, 16);
        memcpy(in, out, sizeof in);
        MPI_Reduce(own == root ? MPI_IN_PLACE : in, in, 4, types[i], composed, root, comm);
        note("reduce in place", in, 16);
        memcpy(in, out, sizeof in);
        MPI_Scan(MPI_IN_PLACE, in, 4, types[i], composed, comm);
        note("scan in place", in, 16);
        memcpy(in, out, sizeof in);
        MPI_Exscan(MPI_IN_PLACE, in, 4, types[i], composed, comm);
        note("exscan in place", in, 16);
        for (int j = 0; j < size; j++)
            counts[j] = j;
        MPI_Reduce_scatter(out, in, counts, types[i], composed, comm);
        note("reduce_scatter", in, 3 * own);
    }
    MPI_Allreduce(many, more, LONG, MPI_INT, MPI_SUM, comm);
    note("long", more, LONG);
    MPI_Allreduce(out, in, 5, MPI_2INT, MPI_MINLOC, comm);
    note("minloc", in, 10);
    struct {
        double value;
        int place;
    } mine = {own % 2, own}, best = {0, 0};
    MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    fprintf(file, "maxloc %g %d\n", best.value, best.place);
    /* An operation and a type that are freed while they are used. */
    MPI_Op_create(compose, 0, &summed);
    MPI_Iallreduce(out, in, 4, loose, summed, comm, &request);
    MPI_Op_free(&summed);
    MPI_Type_free(&pair);
    MPI_Type_free(&loose);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note("iallreduce", in, 16);
    MPI_Op_free(&composed);
}

static void vectors(MPI_Comm comm, int own, int size)
{
    int counts[64], places[64], backwards[64], bytes[64], ones[64];
    MPI_Datatype all_types[64];
    MPI_Request request;
    for (int root = 0; root < size; root += size - 1 > 0 ? size - 1 : 1) {
        memcpy(in, out, sizeof in);
        MPI_Bcast(in + 4, 3, mixed, root, comm);
        note("bcast", in, 40);
        MPI_Gather(out, 3, holes, in, 2, shifted, root, comm);
        note("gather", in, 80);
        memcpy(in, out, sizeof in);
        MPI_Gather(own == root ? MPI_IN_PLACE : out, 3, MPI_INT, in, 1, shifted, root, comm);
        note("gather in place", in, 80);
        MPI_Scatter(out, 1, shifted, in, 3, MPI_INT, root, comm);
        note("scatter", in, 20);
        MPI_Scatter(out, 3, MPI_INT, own == root ? MPI_IN_PLACE : in, 1, shifted, root, comm);
        note("scatter in place", in, 20);
        for (int i = 0; i < size; i++) {
            counts[i] = i % 3;
            places[i] = 3 * (size - i);
        }
        MPI_Gatherv(out, counts[own], holes, in, counts, places, holes, root, comm);
        note("gatherv", in, 100);
        memcpy(in, out, sizeof in);
        MPI_Gatherv(own == root ? MPI_IN_PLACE : out, counts[own], holes, in, counts, places, holes, root, comm);
        note("gatherv in place", in, 100);
        MPI_Scatterv(out, counts, places, holes, in, 2 * counts[own], MPI_INT, root, comm);
        note("scatterv", in, 20);
        MPI_Iscatterv(out, counts, places, holes, own == root ? MPI_IN_PLACE : in, 2 * counts[own], MPI_INT, root, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        note("iscatterv in place", in, 20);
    }
    MPI_Allgather(out, 3, MPI_INT, in, 1, shifted, comm);
    note("allgather", in, 80);
    memcpy(in, out, sizeof in);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, shifted, comm);
    note("allgather in place", in, 80);
    MPI_Allgatherv(out, 2 * counts[own], MPI_INT, in, counts, places, holes, comm);
    note("allgatherv", in, 100);
    memcpy(in, out, sizeof in);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, holes, comm);
    note("allgatherv in place", in, 100);
    MPI_Alltoall(out, 3, MPI_INT, in, 1, shifted, comm);
    note("alltoall", in, 80);
    memcpy(in, out, sizeof in);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, shifted, comm);
    note("alltoall in place", in, 80);
    for (int i = 0; i < size; i++) {
        backwards[i] = own % 3;
        bytes[i] = 12 * i;
        ones[i] = 1;
        all_types[i] = i % 2 == own % 2 ? holes : MPI_2INT;
    }
    MPI_Alltoallv(out, backwards, places, holes, in, counts, places, holes, comm);
    note("alltoallv", in, 100);
    MPI_Alltoallw(out, ones, bytes, all_types, in, ones, bytes, all_types, comm);
    note("alltoallw", in, 100);
    memcpy(in, out, sizeof in);
    for (int i = 0; i < size; i++)
        all_types[i] = holes;
    MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, in, ones, bytes, all_types, comm);
    note("alltoallw in place", in, 100);
    MPI_Ialltoallw(out, ones, bytes, all_types, in, ones, bytes, all_types, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    note("ialltoallw", in, 100);
    MPI_Allgather(many, LONG / size, MPI_INT, more, LONG / size, MPI_INT, comm);
    note("long allgather", more, LONG / size * size);
    MPI_Alltoall(many, LONG / 6 / size, shifted, more, LONG / 6 / size, shifted, comm);
    note("long alltoall", more, LONG / 6 / size * size * 6);
}

static void neighbours(void)
{
    MPI_Comm comm;
    int sizes[2] = {0, 0}, periods[2] = {0, 1}, counts[4] = {1, 2, 1, 2}, gets[4] = {2, 1, 2, 1}, places[4] = {0, 3, 6, 9};
    MPI_Aint bytes[4] = {0, 12, 24, 36};
    MPI_Datatype types[4] = {holes, MPI_2INT, holes, MPI_2INT}, got[4] = {MPI_2INT, holes, MPI_2INT, holes};
    int ones[4] = {1, 1, 1, 1};
    MPI_Dims_create(ranks, 2, sizes);
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periods, 0, &comm);
    MPI_Neighbor_allgather(out, 3, MPI_INT, in, 1, shifted, comm);
    note("neighbor_allgather", in, 40);
    MPI_Neighbor_allgatherv(out, 1, MPI_INT, in, ones, places, MPI_INT, comm);
    note("neighbor_allgatherv", in, 40);
    if (sizes[0] > 2 && sizes[1] > 2) /* Two edges between the same ones are taken in one order or the other. */
        MPI_Neighbor_alltoall(out, 3, MPI_INT, in, 1, shifted, comm);
    MPI_Comm_free(&comm);
    int to[2] = {(rank + 1) % ranks, (rank + 2) % ranks}, from[2] = {left(ranks, rank), (rank + 2 * ranks - 2) % ranks};
    int degree = ranks > 2 ? 2 : 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, degree, from, MPI_UNWEIGHTED, degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    MPI_Neighbor_alltoall(out, 3, MPI_INT, in, 1, shifted, comm);
    note("neighbor_alltoall", in, 40);
    MPI_Neighbor_alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, comm);
    note("neighbor_alltoallv", in, 40);
    MPI_Neighbor_alltoallw(out, ones, bytes, types, in, ones, bytes, got, comm);
    note("neighbor_alltoallw", in, 40);
    (void)gets;
    MPI_Comm_free(&comm);
}

static void between(void)
{
    MPI_Comm half, inter, merged, again;
    int is_odd = rank % 2, own, size, remote, counts[64], places[64];
    MPI_Comm_split(MPI_COMM_WORLD, is_odd, -rank, &half);
    MPI_Comm_rank(half, &own);
    MPI_Comm_size(half, &size);
    messages(half, own, size);
    reductions(half, own, size);
    MPI_Intercomm_create(half, size - 1, MPI_COMM_WORLD, !is_odd, 3, &inter);
    MPI_Comm_remote_size(inter, &remote);
    int root = is_odd ? 0 : own == 0 ? MPI_ROOT : MPI_PROC_NULL;
    memcpy(in, out, sizeof in);
    MPI_Bcast(in, 5, MPI_INT, root, inter);
    note("bcast between", in, 10);
    MPI_Reduce(out, in, 5, MPI_INT, MPI_SUM, root, inter);
    note("reduce between", in, 10);
    MPI_Gather(out, 3, MPI_INT, in, 1, shifted, root, inter);
    note("gather between", in, 60);
    MPI_Scatter(out, 1, shifted, in, 3, MPI_INT, root, inter);
    note("scatter between", in, 10);
    MPI_Allreduce(out, in, 5, MPI_INT, MPI_MAX, inter);
    note("allreduce between", in, 10);
    MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, inter);
    note("allgather between", in, 2 * remote);
    MPI_Alltoall(out, 2, MPI_INT, in, 2, MPI_INT, inter);
    note("alltoall between", in, 2 * remote);
    for (int i = 0; i < remote; i++) {
        counts[i] = 1;
        places[i] = 2 * i;
    }
    MPI_Alltoallv(out, counts, places, MPI_INT, in, counts, places, MPI_INT, inter);
    note("alltoallv between", in, 2 * remote);
    if (own < remote && own < size) {
        MPI_Status status;
        MPI_Sendrecv(out, 3, MPI_INT, own, 1, in, 4, MPI_INT, own, MPI_ANY_TAG, inter, &status);
        note("sendrecv between", in, 5);
        note_status(&status, MPI_INT);
    }
    MPI_Comm_dup(inter, &again);
    MPI_Barrier(again);
    MPI_Comm_free(&again);
    MPI_Intercomm_merge(inter, is_odd, &merged);
    MPI_Allgather(&rank, 1, MPI_INT, in, 1, MPI_INT, merged);
    note("merged", in, ranks);
    MPI_Comm_disconnect(&merged);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* Ranks are in real calls while others wait for their messages. */
static void parts(void)
{
    MPI_Group world, group;
    MPI_Comm comm, other;
    MPI_Request request;
    int members[64], size = 0;
    for (int i = rank % 2; i < ranks; i += 2)
        members[size++] = i;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, size, members, &group);
    if (rank % 2) { /* The odd ones make theirs when the even ones have. */
        MPI_Recv(in, 1, MPI_INT, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm);
    } else {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm);
        if (rank + 1 < ranks)
            MPI_Send(out, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
    }
    note("groups", in, 2);
    MPI_Comm_idup(comm, &other, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, in, 1, MPI_INT, MPI_SUM, other);
    note("idup", in, 1);
    MPI_Comm_free(&other);
    MPI_Comm_create(comm, rank % 2 ? MPI_GROUP_EMPTY : group, &other);
    fprintf(file, "none %d\n", other == MPI_COMM_NULL);
    if (other != MPI_COMM_NULL)
        MPI_Comm_free(&other);
    MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

/* A matched message has the first handle that a program gets. */
static void first_handle(void)
{
    int value = rank * 10;
    MPI_Message message;
    MPI_Status status;
    if (rank % 2 == 0 && rank + 1 < ranks)
        MPI_Send(&value, 1, MPI_INT, rank + 1, 1, MPI_COMM_WORLD);
    if (rank % 2 == 1) {
        MPI_Mprobe(rank - 1, 1, MPI_COMM_WORLD, &message, &status);
        MPI_Mrecv(&value, 1, MPI_INT, &message, &status);
    }
    note("matched", &value, 1);
}

int main(int count, char **words)
{
    char path[4096];
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(path, sizeof path, "%s.%d", words[1], rank);
    file = fopen(path, "w");
    many = malloc(2 * LONG * sizeof *many);
    more = calloc(2 * LONG, sizeof *more);
    for (int i = 0; i < 2 * LONG; i++)
        many[i] = rank * 1000003 + i * 7;
    for (int i = 0; i < CELLS; i++)
        out[i] = (rank + 2) * 100 + i;
    memset(in, -1, sizeof in);
    first_handle();
    make_types();
    messages(MPI_COMM_WORLD, rank, ranks);
    reductions(MPI_COMM_WORLD, rank, ranks);
    vectors(MPI_COMM_WORLD, rank, ranks);
    neighbours();
    between();
    parts();
    MPI_Type_free(&holes);
    MPI_Type_free(&shifted);
    MPI_Type_free(&mixed);
    fclose(file);
    MPI_Finalize();
    return 0;
}

/* Communicators of all makes, and messages and collectives in them. Each is expected with its number, as they are made in order. */

#include "expect.h"

static int number;

/* Returns ranks as the list has them. */
static const char *list(const int *of, int count)
{
    static char texts[4][200];
    static int next;
    char *text = texts[next++ % 4], *to = text + sprintf(text, "[");
    for (int i = 0; i < count; i++)
        to += of[i] == MPI_PROC_NULL ? sprintf(to, "%s-", i ? "," : "") : sprintf(to, "%s%d", i ? "," : "", of[i]);
    strcpy(to, "]");
    return text;
}

/* Expects a communicator of these members and returns its number. */
static int made(int parent, long long order, const int *members, int count, const char *more)
{
    number++;
    expect("communicator number=%d parent=%d order=%lld members=%s%s", number, parent, order, list(members, count), more);
    expect("new parent=%d comm=%d", parent, number);
    return number;
}

/* Sends around a communicator, whose members' ranks in the world are given. */
static void send_around(MPI_Comm comm, int at, const int *members)
{
    int own, size, in, out = 0;
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &size);
    MPI_Sendrecv(&out, 1, MPI_INT, (own + 1) % size, 1, &in, 1, MPI_INT, (own + size - 1) % size, 1, comm, MPI_STATUS_IGNORE);
    expect("sendrecv to=%d tag=1 comm=%d bytes=4 from=%d tag=1 comm=%d most=4", members[(own + 1) % size], at,
           members[(own + size - 1) % size], at);
    expect_taken(members[(own + size - 1) % size], 1, at, 4);
    MPI_Bcast(&out, 1, MPI_INT, 0, comm);
    expect("bcast comm=%d root=0 sent=%d received=%d", at, own == 0 ? 4 : 0, own == 0 ? 0 : 4);
}

static int all[16], halves[2][16], half_sizes[2];

static void of_world(void)
{
    MPI_Comm comm, second;
    MPI_Request request;
    MPI_Group world, group;
    int at, half = rank % 2;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    at = made(0, 0, all, ranks, "");
    send_around(comm, at, all);
    MPI_Comm_split(MPI_COMM_WORLD, half, 0, &second);
    at = made(0, 1, halves[half], half_sizes[half], "");
    send_around(second, at, halves[half]);
    MPI_Comm_free(&second);
    /* Only the even ones are in it. */
    MPI_Comm_split(MPI_COMM_WORLD, half ? MPI_UNDEFINED : 0, 0, &second);
    if (half) {
        expect("new parent=0");
    } else {
        at = made(0, 2, halves[0], half_sizes[0], "");
        send_around(second, at, halves[0]);
        MPI_Comm_free(&second);
    }
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, half_sizes[half], halves[half], &group);
    MPI_Comm_create(MPI_COMM_WORLD, group, &second);
    at = made(0, 3, halves[half], half_sizes[half], "");
    send_around(second, at, halves[half]);
    MPI_Comm_free(&second);
    for (int i = 0; i < 2; i++) {
        MPI_Comm_create_group(MPI_COMM_WORLD, group, 9, &second);
        at = made(0, (1LL << 32) + i, halves[half], half_sizes[half], "");
        send_around(second, at, halves[half]);
        MPI_Comm_free(&second);
    }
#if MPI_VERSION >= 4
    MPI_Comm_create_from_group(group, "half", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
    at = made(0, (1LL << 32) + 2, halves[half], half_sizes[half], "");
    send_around(second, at, halves[half]);
    MPI_Comm_free(&second);
#endif
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &second);
    at = made(0, 4, all, ranks, "");
    send_around(second, at, all);
    MPI_Comm_free(&second);
    MPI_Comm_idup(comm, &second, &request);
    number++;
    expect("communicator number=%d parent=1 order=0 members=%s", number, list(all, ranks));
    expect("allgather comm=1 sent=4 received=4");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("done");
    send_around(second, number, all);
    MPI_Comm_free(&second);
    MPI_Comm_free(&comm);
    send_around(MPI_COMM_WORLD, 0, all);
}

static void topologies(void)
{
    MPI_Comm comm, part;
    int size = ranks, periodic = 1, open = 0, keep = 1, at, in[8], out = 7;
    char more[300];
    int wrapped[2] = {left(), right()};
    int edges[2] = {rank == 0 ? MPI_PROC_NULL : rank - 1, rank == ranks - 1 ? MPI_PROC_NULL : rank + 1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &comm);
    snprintf(more, sizeof more, " to=%s from=%s", list(wrapped, 2), list(wrapped, 2));
    at = made(0, 5, all, ranks, more);
    MPI_Neighbor_allgather(&out, 1, MPI_INT, in, 1, MPI_INT, comm);
    expect("neighborallgather comm=%d sent=4 received=4", at);
    MPI_Cart_sub(comm, &keep, &part);
    made(at, 0, all, ranks, more);
    MPI_Comm_free(&part);
    MPI_Comm_free(&comm);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &open, 0, &comm);
    snprintf(more, sizeof more, " to=%s from=%s", list(edges, 2), list(edges, 2));
    at = made(0, 6, all, ranks, more);
    int counts[2] = {1, 2}, gets[2] = {2, 1}, offsets[2] = {0, 2}, outs[4] = {0};
    MPI_Neighbor_alltoallv(outs, counts, offsets, MPI_INT, in, gets, offsets, MPI_INT, comm);
    expect("neighboralltoallv comm=%d sent=[4,8] received=[8,4]", at);
    MPI_Comm_free(&comm);
    /* Each sends to the right only. */
    int from = left(), to = right();
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    snprintf(more, sizeof more, " to=[%d] from=[%d]", to, from);
    at = made(0, 7, all, ranks, more);
    MPI_Request request;
    MPI_Ineighbor_alltoall(&out, 1, MPI_INT, in, 1, MPI_INT, comm, &request);
    expect("neighboralltoall comm=%d sent=4 received=4", at);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect("done");
    MPI_Neighbor_allgatherv(&out, 1, MPI_INT, in, counts, offsets, MPI_INT, comm);
    expect("neighborallgatherv comm=%d sent=4 received=[4]", at);
    MPI_Comm_free(&comm);
    int index[16], targets[16];
    for (int i = 0; i < ranks; i++) {
        index[i] = i + 1;
        targets[i] = (i + 1) % ranks;
    }
    MPI_Graph_create(MPI_COMM_WORLD, ranks, index, targets, 0, &comm);
    snprintf(more, sizeof more, " to=[%d] from=[%d]", to, to);
    made(0, 8, all, ranks, more);
    MPI_Comm_free(&comm);
    int degree = 1;
    MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
    snprintf(more, sizeof more, " to=[%d] from=[%d]", to, from);
    at = made(0, 9, all, ranks, more);
    MPI_Aint places[1] = {0};
    MPI_Datatype type = MPI_INT;
    MPI_Neighbor_alltoallw(outs, counts, places, &type, in, counts, places, &type, comm);
    expect("neighboralltoallw comm=%d sent=[4] received=[4]", at);
    MPI_Comm_free(&comm);
}

static void between(void)
{
    MPI_Comm half_comm, inter, merged;
    int half = rank % 2, own, size, in, out = 1, at, halves_at;
    char more[200];
    MPI_Comm_split(MPI_COMM_WORLD, half, 0, &half_comm);
    halves_at = made(0, 10, halves[half], half_sizes[half], "");
    MPI_Comm_rank(half_comm, &own);
    MPI_Intercomm_create(half_comm, 0, MPI_COMM_WORLD, !half, 3, &inter);
    snprintf(more, sizeof more, " remote=%s", list(halves[!half], half_sizes[!half]));
    at = made(halves_at, 1LL << 32, halves[half], half_sizes[half], more);
    MPI_Comm_remote_size(inter, &size);
    if (own == 0) {
        MPI_Sendrecv(&out, 1, MPI_INT, 0, 5, &in, 1, MPI_INT, 0, 5, inter, MPI_STATUS_IGNORE);
        expect("sendrecv to=%d tag=5 comm=%d bytes=4 from=%d tag=5 comm=%d most=4", !half, at, !half, at);
        expect_taken(!half, 5, at, 4);
    }
    /* From rank 0 to the odd ones. */
    int root = half ? 0 : own == 0 ? MPI_ROOT : MPI_PROC_NULL;
    MPI_Bcast(&in, 1, MPI_INT, root, inter);
    expect("bcast comm=%d root=%s sent=%d received=%d", at, half ? "0" : own == 0 ? "this" : "nobody",
           !half && own == 0 ? 4 : 0, half ? 4 : 0);
    MPI_Intercomm_merge(inter, half, &merged);
    int order[16];
    memcpy(order, halves[0], sizeof(int) * (size_t)half_sizes[0]);
    memcpy(order + half_sizes[0], halves[1], sizeof(int) * (size_t)half_sizes[1]);
    at = made(at, 0, order, ranks, "");
    send_around(merged, at, order);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&inter);
#if MPI_VERSION >= 4
    MPI_Group world, groups[2];
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, half_sizes[half], halves[half], &groups[0]);
    MPI_Group_incl(world, half_sizes[!half], halves[!half], &groups[1]);
    MPI_Intercomm_create_from_groups(groups[0], 0, groups[1], 0, "both", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &inter);
    at = made(0, (1LL << 32) + 1, halves[half], half_sizes[half], more);
    MPI_Bcast(&in, 1, MPI_INT, root, inter);
    expect("bcast comm=%d root=%s sent=%d received=%d", at, half ? "0" : own == 0 ? "this" : "nobody",
           !half && own == 0 ? 4 : 0, half ? 4 : 0);
    MPI_Comm_free(&inter);
    MPI_Group_free(&groups[0]);
    MPI_Group_free(&groups[1]);
    MPI_Group_free(&world);
#endif
    MPI_Comm_free(&half_comm);
}

static void alone(void)
{
    int in, out = 0;
    MPI_Sendrecv(&out, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    number++;
    /* Groups of one rank were made before it. */
    const int from_groups = MPI_VERSION >= 4 ? 3 : 2;
    expect("communicator number=%d parent=0 order=%lld members=[%d]", number,
           (1LL << 32) + (half_sizes[rank % 2] == 1 ? from_groups : 0), rank);
    expect("sendrecv to=%d tag=1 comm=%d bytes=4 from=%d tag=1 comm=%d most=4", rank, number, rank, number);
    expect_taken(rank, 1, number, 4);
}

int main(int count, char **words)
{
    begin(count, words);
    for (int i = 0; i < ranks; i++) {
        all[i] = i;
        halves[i % 2][half_sizes[i % 2]++] = i;
    }
    of_world();
    topologies();
    between();
    alone();
    return end();
}

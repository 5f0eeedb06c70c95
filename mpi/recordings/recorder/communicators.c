/* The communicators of an emulated program: what they are, and how they are made. The real MPI knows this rank alone: below each one
 * is a communicator of this rank, which has the attributes, the name, the error handler and the hints. */

#include "shared.h"

/* A communicator of this rank without attributes, and its group: what has no others is made of it. */
static MPI_Comm blank = MPI_COMM_NULL;
/* True if the real MPI knows the other ranks: its MPI_COMM_WORLD is then duplicated by nobody. */
static int is_world_shared;

/* The library's own calls, which are never looked at. */
#define OWN(name) ((__typeof__(&MPI_##name))own_##name)
static void *own_Comm_size, *own_Comm_create, *own_Comm_group, *own_Group_free;

__attribute__((constructor)) static void find_own(void)
{
    own_Comm_size = dlsym(RTLD_NEXT, "PMPI_Comm_size");
    own_Comm_create = dlsym(RTLD_NEXT, "PMPI_Comm_create");
    own_Comm_group = dlsym(RTLD_NEXT, "PMPI_Comm_group");
    own_Group_free = dlsym(RTLD_NEXT, "PMPI_Group_free");
}

void begin_making_communicators(void)
{
    int size = 1;
    PMPI_Comm_dup(MPI_COMM_SELF, &blank);
    PMPI_Comm_set_errhandler(blank, MPI_ERRORS_RETURN);
    OWN(Comm_size)(MPI_COMM_WORLD, &size);
    is_world_shared = size > 1;
}

MPI_Comm blank_communicator(void)
{
    return blank;
}

/* Makes what is below a communicator: nothing of its parent but the error handler. */
static MPI_Comm make_below(MPI_Comm parent)
{
    MPI_Comm made = MPI_COMM_NULL;
    MPI_Group group;
    MPI_Errhandler handler;
    OWN(Comm_group)(blank, &group);
    OWN(Comm_create)(blank, group, &made);
    OWN(Group_free)(&group);
    PMPI_Comm_get_errhandler(parent, &handler);
    PMPI_Comm_set_errhandler(made, handler);
    PMPI_Errhandler_free(&handler);
    return made;
}

int copy_below(MPI_Comm parent, MPI_Info info, MPI_Comm *made)
{
    if (parent == MPI_COMM_WORLD && is_world_shared) {
        *made = make_below(parent);
        return MPI_SUCCESS;
    }
    return info == MPI_INFO_NULL ? PMPI_Comm_dup(parent, made) : PMPI_Comm_dup_with_info(parent, info, made);
}

/* Defines a communicator with these members of the world, which it owns. This rank is one of them. */
static struct communicator *define_of(MPI_Comm handle, uint32_t parent, uint64_t number_at_parent, int *members, int size, int *remote,
                                      int remote_size, struct topology *topology)
{
    struct communicator *made = calloc(1, sizeof *made);
    int *sources, *destinations;
    if (made == NULL)
        abort();
    *made = (struct communicator){.handle = handle, .members = members, .size = size, .remote = remote, .remote_size = remote_size,
                                  .topology = topology};
    while (made->rank < size && members[made->rank] != own_rank)
        made->rank++;
    neighbours_of(made, &sources, &destinations);
    define_communicator(made, parent, number_at_parent, sources, destinations);
    free(sources);
    free(destinations);
    return made;
}

struct communicator *define_copy(MPI_Comm made, const struct communicator *of, uint64_t number_at_parent)
{
    return define_of(made, of->number, number_at_parent, members_of(of), of->size, of->remote_size < 0 ? NULL : remote_members_of(of),
                     of->remote_size, copy_topology(of->topology));
}

struct communicator *make_like(struct communicator *parent, uint64_t number_at_parent)
{
    return define_copy(make_below(parent->handle), parent, number_at_parent);
}

/* Ends a call that makes a communicator: this rank is among the members, or gets none. */
static int end_making(MPI_Comm comm, uint64_t number, int *members, int size, int *remote, int remote_size, struct topology *topology,
                      MPI_Comm *made)
{
    struct communicator *parent = find_communicator(comm);
    *made = MPI_COMM_NULL;
    if (size == 0) {
        free(members);
        free(remote);
        return MPI_SUCCESS;
    }
    *made = make_below(comm);
    note_communicator(*made);
    define_of(*made, parent->number, number, members, size, remote, remote_size, topology);
    return MPI_SUCCESS;
}

/* Waits until all ranks of a communicator have called, and its remote ones. */
static struct parts gather_all(const struct communicator *parent, const void *own, uint64_t bytes)
{
    return gather_parts(parent, NULL, 0, own, bytes);
}

static void wait_for_all(const struct communicator *parent)
{
    struct parts parts = gather_all(parent, NULL, 0);
    free_parts(&parts);
}

static int compare_ints(const void *one, const void *other)
{
    return *(const int *)one < *(const int *)other ? -1 : *(const int *)one > *(const int *)other;
}

/* Parts are in the order of ranks in the world, those of both groups. */
int *places_of_parts(const struct communicator *parent, const int *members, int size)
{
    int remote = parent->remote_size > 0 ? parent->remote_size : 0, count = parent->size + remote, *all = members_of(parent);
    int *place_of = room(sizeof *place_of * (size_t)world_size), *places = room(sizeof *places * (size_t)size);
    if ((all = realloc(all, sizeof *all * (size_t)(count + 1))) == NULL)
        abort();
    if (remote > 0)
        memcpy(all + parent->size, parent->remote, sizeof *all * (size_t)remote);
    qsort(all, (size_t)count, sizeof *all, compare_ints);
    for (int i = 0; i < count; i++)
        place_of[all[i]] = i;
    for (int i = 0; i < size; i++)
        places[i] = place_of[members[i]];
    free(place_of);
    free(all);
    return places;
}

int make_dup(MPI_Comm comm, MPI_Info info, MPI_Comm *made)
{
    struct communicator *parent = find_communicator(comm);
    uint64_t number = parent->children++;
    wait_for_all(parent);
    int error = copy_below(comm, info, made);
    if (error != MPI_SUCCESS)
        return error;
    note_communicator(*made);
    define_copy(*made, parent, number);
    return MPI_SUCCESS;
}

struct choice {
    int color, key, place, rank;
};

static int compare_choices(const void *one, const void *other)
{
    const struct choice *first = one, *second = other;
    if (first->key != second->key)
        return first->key < second->key ? -1 : 1;
    return first->place - second->place;
}

/* Returns those of the members that have chosen a color, in the order of their keys. */
static int *members_with(const struct parts *parts, const struct communicator *parent, int *members, int size, int color, int *count)
{
    struct choice *choices = room(sizeof *choices * (size_t)size);
    int *places = places_of_parts(parent, members, size);
    *count = 0;
    for (int i = 0; i < size; i++) {
        int given[2];
        memcpy(given, parts->data[places[i]], sizeof given);
        if (given[0] == color)
            choices[(*count)++] = (struct choice){given[0], given[1], i, members[i]};
    }
    qsort(choices, (size_t)*count, sizeof *choices, compare_choices);
    for (int i = 0; i < *count; i++)
        members[i] = choices[i].rank;
    free(choices);
    free(places);
    return members;
}

int make_split(MPI_Comm comm, int color, int key, MPI_Comm *made)
{
    struct communicator *parent = find_communicator(comm);
    uint64_t number = parent->children++;
    int chosen[2] = {color, key}, size = 0, remote_size = -1, *remote = NULL;
    struct parts parts = gather_all(parent, chosen, sizeof chosen);
    int *members = members_with(&parts, parent, members_of(parent), parent->size, color, &size);
    if (parent->remote_size >= 0)
        remote = members_with(&parts, parent, remote_members_of(parent), parent->remote_size, color, &remote_size);
    free_parts(&parts);
    if (color == MPI_UNDEFINED || remote_size == 0)
        size = 0;
    return end_making(comm, number, members, size, remote, remote_size, NULL, made);
}

/* All ranks share the memory of one computer. Of parts of it nothing is known. */
int make_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made)
{
    int is_together = type != MPI_UNDEFINED;
#if defined(HAS_FOUR) && defined(MPI_COMM_TYPE_HW_GUIDED)
    char value[64] = "";
    int is_there = 0;
    if (type == MPI_COMM_TYPE_HW_GUIDED && info != MPI_INFO_NULL)
        PMPI_Info_get(info, "mpi_hw_resource_type", sizeof value - 1, value, &is_there);
    if (type == MPI_COMM_TYPE_HW_UNGUIDED || (type == MPI_COMM_TYPE_HW_GUIDED && strcmp(value, "mpi_shared_memory") != 0))
        is_together = 0;
#endif
#if defined(MPICH_NUMVERSION)
    if (type == MPIX_COMM_TYPE_NEIGHBORHOOD)
        is_together = 0;
#endif
    (void)info;
    return make_split(comm, is_together ? 0 : MPI_UNDEFINED, key, made);
}

/* True if all of a group are in the communicator's. */
static int is_within(const struct group *group, const struct communicator *parent)
{
    int *members = members_of(parent), is_in = 1;
    char *is_member = calloc(1, (size_t)world_size);
    for (int i = 0; i < parent->size; i++)
        is_member[members[i]] = 1;
    for (int i = 0; i < group->size; i++)
        is_in = is_in && is_member[group->ranks[i]];
    free(is_member);
    free(members);
    return is_in;
}

static int check_group(const char *name, MPI_Comm comm, const struct group *group, const struct communicator *parent)
{
    if (group == NULL)
        return reject(comm, MPI_ERR_GROUP, "calls %s with what is no group, or one that has been freed", name);
    if (!is_within(group, parent))
        return reject(comm, MPI_ERR_GROUP, "calls %s with a group of which not all are in the communicator", name);
    return MPI_SUCCESS;
}

int make_create(MPI_Comm comm, MPI_Group handle, MPI_Comm *made)
{
    struct communicator *parent = find_communicator(comm);
    const struct group *group = find_group(handle);
    int error = check_group("MPI_Comm_create", comm, group, parent);
    if (error != MPI_SUCCESS)
        return error;
    uint64_t number = parent->children++;
    int is_in = place_in_group(group, own_rank) != MPI_UNDEFINED, *remote = NULL, remote_size = -1;
    if (parent->remote_size >= 0) {
        /* The first rank of each group says who of it is in. */
        int *ranks = remote_members_of(parent), *first = places_of_parts(parent, ranks, parent->remote_size > 0);
        struct parts parts = gather_all(parent, group->ranks, parent->rank == 0 ? sizeof(int) * (uint64_t)group->size : 0);
        remote_size = (int)(parts.bytes[*first] / sizeof(int));
        remote = copy_of((const int *)(const void *)parts.data[*first], remote_size);
        free_parts(&parts);
        free(ranks);
        free(first);
    } else {
        wait_for_all(parent);
    }
    return end_making(comm, number, copy_of(group->ranks, group->size), is_in && remote_size != 0 ? group->size : 0, remote, remote_size,
                      NULL, made);
}

int make_of_group(MPI_Comm comm, const char *name, MPI_Group handle, MPI_Comm *made)
{
    struct communicator *parent = find_communicator(comm);
    const struct group *group = find_group(handle);
    int error = check_group(name, comm, group, parent);
    if (error != MPI_SUCCESS)
        return error;
    /* A rank that gets no communicator waits for nobody. */
    int size = group->size > 0 ? group->size : 1, *ranks = group->size > 0 ? copy_of(group->ranks, size) : copy_of(&own_rank, 1);
    qsort(ranks, (size_t)size, sizeof *ranks, compare_ints);
    struct parts parts = gather_parts(parent, ranks, size, NULL, 0);
    free_parts(&parts);
    free(ranks);
    return end_making(comm, OUT_OF_ORDER, copy_of(group->ranks, group->size), group->size, NULL, -1, NULL, made);
}

/* Makes a communicator with a topology of the first ranks. */
static int make_of_first(MPI_Comm comm, int nodes, struct topology *topology, MPI_Comm *made)
{
    struct communicator *parent = find_communicator(comm);
    uint64_t number = parent->children++;
    wait_for_all(parent);
    return end_making(comm, number, members_of(parent), parent->rank < nodes ? nodes : 0, NULL, -1, topology, made);
}

int make_cart(MPI_Comm comm, int dimensions, const int *sizes, const int *periods, MPI_Comm *made)
{
    int nodes;
    struct topology *cart = cart_of(dimensions, sizes, periods, &nodes);
    return make_of_first(comm, nodes, cart, made);
}

int make_graph(MPI_Comm comm, int nodes, const int *index, const int *edges, MPI_Comm *made)
{
    int size = find_communicator(comm)->size;
    if (nodes < 0 || nodes > size)
        return reject(comm, MPI_ERR_ARG, "calls MPI_Graph_create for %d nodes in a communicator of %d ranks", nodes, size);
    for (int i = 0; i < nodes; i++)
        for (int j = i > 0 ? index[i - 1] : 0; j < index[i]; j++)
            if (edges[j] < 0 || edges[j] >= nodes)
                return reject(comm, MPI_ERR_ARG, "calls MPI_Graph_create with an edge to %d in a graph of %d nodes", edges[j], nodes);
    return make_of_first(comm, nodes, graph_of(nodes, index, edges), made);
}

int make_cart_sub(MPI_Comm comm, const int *remain, MPI_Comm *made)
{
    struct communicator *parent = find_communicator(comm);
    const struct topology *cart = parent->topology;
    if (cart == NULL || cart->kind != MPI_CART)
        return reject(comm, MPI_ERR_TOPOLOGY, "calls MPI_Cart_sub with a communicator that MPI_Cart_create has not made");
    size_t bytes = sizeof(int) * (size_t)cart->count;
    int *own = room(bytes), *other = room(bytes), *sizes = room(bytes), *periods = room(bytes), dimensions = 0, nodes, size = 0;
    uint64_t number = parent->children++;
    for (int i = 0; i < cart->count; i++)
        if (remain[i]) {
            sizes[dimensions] = cart->sizes[i];
            periods[dimensions++] = cart->periods[i];
        }
    wait_for_all(parent);
    int *members = members_of(parent);
    cart_coordinates(cart, parent->rank, own);
    for (int rank = 0; rank < parent->size; rank++) {
        int is_in = 1;
        cart_coordinates(cart, rank, other);
        for (int i = 0; i < cart->count; i++)
            is_in = is_in && (remain[i] || own[i] == other[i]);
        if (is_in)
            members[size++] = members[rank];
    }
    struct topology *topology = cart_of(dimensions, sizes, periods, &nodes);
    free(own);
    free(other);
    free(sizes);
    free(periods);
    return end_making(comm, number, members, size, NULL, -1, topology, made);
}

int make_adjacent(MPI_Comm comm, int in, const int *sources, const int *source_weights, int out, const int *destinations,
                  const int *weights, MPI_Comm *made)
{
    struct topology *graph = adjacent_of(in, sources, source_weights, out, destinations, weights);
    return make_of_first(comm, find_communicator(comm)->size, graph, made);
}

/* An edge of a distributed graph. */
struct edge {
    int from, to, weight;
};

int make_dist_graph(MPI_Comm comm, int n, const int *nodes, const int *degrees, const int *targets, const int *weights, MPI_Comm *made)
{
    struct communicator *parent = find_communicator(comm);
    int number_of_edges = 0, in = 0, out = 0, is_weighted = weights != MPI_UNWEIGHTED;
    for (int i = 0; i < n; i++)
        number_of_edges += degrees[i];
    struct edge *own = room(sizeof *own * (size_t)number_of_edges), *end = own;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < degrees[i]; j++, end++)
            *end = (struct edge){nodes[i], targets[end - own], is_weighted && weights != MPI_WEIGHTS_EMPTY ? weights[end - own] : 0};
    for (const struct edge *edge = own; edge < end; edge++)
        if (edge->from < 0 || edge->from >= parent->size || edge->to < 0 || edge->to >= parent->size) {
            int error = reject(comm, MPI_ERR_ARG, "calls MPI_Dist_graph_create with an edge from %d to %d in a communicator of %d ranks",
                               edge->from, edge->to, parent->size);
            free(own);
            return error;
        }
    uint64_t number = parent->children++, all = 0;
    struct parts parts = gather_all(parent, own, sizeof *own * (uint64_t)number_of_edges);
    int *members = members_of(parent), *places = places_of_parts(parent, members, parent->size);
    for (int i = 0; i < parts.count; i++)
        all += parts.bytes[i] / sizeof *own;
    int *ranks = room(sizeof *ranks * 4 * ((size_t)all + 1));
    int *sources = ranks, *source_weights = sources + all, *destinations = source_weights + all, *out_weights = destinations + all;
    for (int i = 0; i < parent->size; i++) {
        const unsigned char *next = parts.data[places[i]];
        for (uint64_t j = 0; j < parts.bytes[places[i]] / sizeof *own; j++) {
            struct edge edge;
            memcpy(&edge, next + j * sizeof edge, sizeof edge);
            if (edge.to == parent->rank) {
                sources[in] = edge.from;
                source_weights[in++] = edge.weight;
            }
            if (edge.from == parent->rank) {
                destinations[out] = edge.to;
                out_weights[out++] = edge.weight;
            }
        }
    }
    struct topology *graph = adjacent_of(in, sources, is_weighted ? source_weights : MPI_UNWEIGHTED, out, destinations,
                                         is_weighted ? out_weights : MPI_UNWEIGHTED);
    free_parts(&parts);
    free(own);
    free(places);
    free(ranks);
    return end_making(comm, number, members, parent->size, NULL, -1, graph, made);
}

int make_inter(MPI_Comm comm, const int *remote, int remote_size, MPI_Comm *made)
{
    struct communicator *parent = find_communicator(comm);
    int count = parent->size + remote_size, *own = members_of(parent), *all = room(sizeof *all * (size_t)count);
    memcpy(all, own, sizeof *all * (size_t)parent->size);
    memcpy(all + parent->size, remote, sizeof *all * (size_t)remote_size);
    qsort(all, (size_t)count, sizeof *all, compare_ints);
    struct parts parts = gather_parts(parent, all, count, NULL, 0);
    free_parts(&parts);
    free(all);
    return end_making(comm, OUT_OF_ORDER, own, parent->size, copy_of(remote, remote_size), remote_size, NULL, made);
}

/* Of two groups that want the same the one whose first rank comes first is first. */
int make_merged(MPI_Comm comm, int high, MPI_Comm *made)
{
    struct communicator *parent = find_communicator(comm);
    if (parent->remote_size < 0)
        return reject(comm, MPI_ERR_COMM, "calls MPI_Intercomm_merge with what is no intercommunicator");
    uint64_t number = parent->children++;
    unsigned char is_high = high != 0, is_other_high = 0;
    struct parts parts = gather_all(parent, &is_high, 1);
    int *own = members_of(parent), *remote = remote_members_of(parent), *first = places_of_parts(parent, remote, 1);
    is_other_high = parts.data[*first][0];
    int is_first = is_high != is_other_high ? !is_high : own[0] < remote[0], size = parent->size + parent->remote_size;
    int *all = room(sizeof *all * (size_t)size);
    memcpy(all + (is_first ? 0 : parent->remote_size), own, sizeof *all * (size_t)parent->size);
    memcpy(all + (is_first ? parent->size : 0), remote, sizeof *all * (size_t)parent->remote_size);
    free_parts(&parts);
    free(own);
    free(remote);
    free(first);
    return end_making(comm, number, all, size, NULL, -1, NULL, made);
}

/* What a communicator is: of one that is not known, or where nothing is emulated, the MPI says it. */
static struct communicator *find_answered(MPI_Comm comm)
{
    return is_answered ? find_communicator(comm) : NULL;
}

/* A call that asks for something of a communicator, which is here unless only the MPI can say it. */
#define ANSWER(name, type, is_here, value)                                                                           \
    CALL(name, (MPI_Comm comm, type *result))                                                                        \
    {                                                                                                                \
        const struct communicator *with = find_answered(comm);                                                       \
        if (with == NULL || result == NULL || !(is_here))                                                            \
            return REAL(name)(comm, result);                                                                         \
        *result = value;                                                                                             \
        return MPI_SUCCESS;                                                                                          \
    }

ANSWER(Comm_size, int, 1, with->size)
ANSWER(Comm_rank, int, 1, with->rank)
ANSWER(Comm_test_inter, int, 1, with->remote_size >= 0)
ANSWER(Comm_group, MPI_Group, 1, make_group(members_of(with), with->size, "MPI_Comm_group", PLACE))
/* The MPI refuses what is no intercommunicator. */
ANSWER(Comm_remote_size, int, with->remote_size >= 0, with->remote_size)
ANSWER(Comm_remote_group, MPI_Group, with->remote_size >= 0,
       make_group(remote_members_of(with), with->remote_size, "MPI_Comm_remote_group", PLACE))

CALL(Comm_compare, (MPI_Comm comm, MPI_Comm with, int *result))
{
    const struct communicator *one = find_answered(comm), *other = find_answered(with);
    if (one == NULL || other == NULL || result == NULL)
        return REAL(Comm_compare)(comm, with, result);
    if ((one->remote_size < 0) != (other->remote_size < 0)) {
        *result = MPI_UNEQUAL;
        return MPI_SUCCESS;
    }
    int *members = members_of(one), *others = members_of(other);
    *result = compare_groups(members, one->size, others, other->size);
    free(members);
    free(others);
    if (one->remote_size >= 0) {
        int remote = compare_groups(one->remote, one->remote_size, other->remote, other->remote_size);
        *result = *result == MPI_UNEQUAL || remote == MPI_UNEQUAL ? MPI_UNEQUAL
                  : *result == MPI_IDENT && remote == MPI_IDENT   ? MPI_IDENT
                                                                  : MPI_SIMILAR;
    }
    if (*result == MPI_IDENT && one != other)
        *result = MPI_CONGRUENT;
    return MPI_SUCCESS;
}

/* Communicators and requests by their handles. */

#define COMMUNICATOR_SLOTS 256
static struct communicator world, *communicators[COMMUNICATOR_SLOTS], *last_communicator;
/* All that were ever made; those that were freed stay, for their numbers. */
static struct communicator *all_communicators[1 << 16];
static uint32_t communicator_count;

static size_t hash(uintptr_t handle)
{
    return (size_t)((uint64_t)handle * 0x9E3779B97F4A7C15u >> 32);
}

static int *world_ranks(MPI_Group group, int *size)
{
    MPI_Group all;
    PMPI_Group_size(group, size);
    int *own = malloc(((size_t)*size + 1) * sizeof *own), *translated = malloc(((size_t)*size + 1) * sizeof *own);
    if (own == NULL || translated == NULL)
        abort();
    for (int i = 0; i < *size; i++)
        own[i] = i;
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_translate_ranks(group, *size, own, all, translated);
    PMPI_Group_free(&all);
    free(own);
    for (int i = 0; i < *size; i++)
        if (translated[i] == MPI_UNDEFINED) {
            free(translated);
            return NULL;
        }
    return translated;
}

static int in_world(const struct communicator *communicator, int rank)
{
    const int *ranks = communicator->remote_size >= 0 ? communicator->remote : communicator->members;
    return ranks == NULL ? rank : ranks[rank];
}

/* How many ranks a collective is with, and the other end of a message may be. */
static int peers(const struct communicator *communicator)
{
    return communicator->remote_size >= 0 ? communicator->remote_size : communicator->size;
}

static unsigned char *put_ranks(unsigned char *to, const int *ranks, int count)
{
    int last = -1;
    to = put(to, (uint64_t)count);
    for (int i = 0; i < count; i++) {
        to = put_signed(to, (int64_t)ranks[i] - last - 1);
        last = ranks[i];
    }
    return to;
}

static unsigned char *put_neighbours(unsigned char *to, const struct communicator *communicator, const int *ranks, int count)
{
    to = put(to, (uint64_t)count);
    for (int i = 0; i < count; i++)
        to = put(to, ranks[i] < 0 || ranks[i] == MPI_PROC_NULL ? 0 : (uint64_t)in_world(communicator, ranks[i]) + 1);
    return to;
}

/* Asks for the neighbours in a topology. The caller frees both arrays. */
static void find_neighbours(struct communicator *of, int **sources, int **destinations)
{
    int kind = MPI_UNDEFINED;
    *sources = *destinations = NULL;
    if (of->remote_size >= 0 || PMPI_Topo_test(of->handle, &kind) != MPI_SUCCESS)
        return;
    if (kind == MPI_CART) {
        int dimensions = 0;
        PMPI_Cartdim_get(of->handle, &dimensions);
        *sources = malloc(((size_t)dimensions * 2 + 1) * sizeof(int));
        for (int i = 0; i < dimensions; i++)
            PMPI_Cart_shift(of->handle, i, 1, &(*sources)[2 * i], &(*sources)[2 * i + 1]);
        of->in_degree = of->out_degree = 2 * dimensions;
    } else if (kind == MPI_GRAPH) {
        int count = 0;
        PMPI_Graph_neighbors_count(of->handle, of->rank, &count);
        *sources = malloc(((size_t)count + 1) * sizeof(int));
        PMPI_Graph_neighbors(of->handle, of->rank, count, *sources);
        of->in_degree = of->out_degree = count;
    } else if (kind == MPI_DIST_GRAPH) {
        int in = 0, out = 0, is_weighted;
        PMPI_Dist_graph_neighbors_count(of->handle, &in, &out, &is_weighted);
        *sources = malloc(((size_t)in + 1) * sizeof(int));
        *destinations = malloc(((size_t)out + 1) * sizeof(int));
        int *weights = malloc(((size_t)in + (size_t)out + 1) * sizeof(int));
        PMPI_Dist_graph_neighbors(of->handle, in, *sources, weights, out, *destinations, weights + in);
        free(weights);
        of->in_degree = in;
        of->out_degree = out;
    }
    if (*sources != NULL && *destinations == NULL) {
        *destinations = malloc(((size_t)of->out_degree + 1) * sizeof(int));
        memcpy(*destinations, *sources, (size_t)of->out_degree * sizeof(int));
    }
}

static void insert_communicator(struct communicator *made)
{
    size_t slot = hash((uintptr_t)made->handle) % COMMUNICATOR_SLOTS;
    made->next = communicators[slot];
    communicators[slot] = made;
}

static int same_ranks(const int *one, int one_size, const int *other, int other_size)
{
    return one_size == other_size && (one_size <= 0 || memcmp(one, other, (size_t)one_size * sizeof *one) == 0);
}

int has_room_for_communicators(void)
{
    return communicator_count + 1 < sizeof all_communicators / sizeof *all_communicators;
}

void define_communicator(struct communicator *made, uint32_t parent, uint64_t number_at_parent, const int *sources,
                         const int *destinations)
{
    int is_inter = made->remote_size >= 0;
    made->number = ++communicator_count;
    made->parent = parent;
    if (number_at_parent == OUT_OF_ORDER)
        for (uint32_t i = 1; i < made->number; i++) {
            const struct communicator *other = all_communicators[i];
            if (other->number_at_parent >= OUT_OF_ORDER && (is_inter || other->parent == parent) &&
                same_ranks(other->members, other->size, made->members, made->size) &&
                same_ranks(other->remote, other->remote_size, made->remote, made->remote_size))
                number_at_parent = other->number_at_parent + 1;
        }
    made->number_at_parent = number_at_parent;
    all_communicators[made->number] = made;
    insert_communicator(made);
    if (look.count > 0)
        write_look();
    reserve(RECORD_BYTES + 10 * ((size_t)made->size + (size_t)(is_inter ? made->remote_size : 0) +
                                 (size_t)made->in_degree + (size_t)made->out_degree));
    *at++ = RECORD_COMMUNICATOR;
    at = put(at, parent);
    at = put(at, number_at_parent);
    *at++ = (unsigned char)(is_inter + (sources != NULL ? 2 : 0));
    at = put_ranks(at, made->members, made->size);
    if (is_inter)
        at = put_ranks(at, made->remote, made->remote_size);
    if (sources != NULL) {
        at = put_neighbours(at, made, destinations, made->out_degree);
        at = put_neighbours(at, made, sources, made->in_degree);
    }
}

/* Defines a communicator of a recorded program. Returns NULL if a member is not in the world. */
static struct communicator *define_recorded(MPI_Comm handle, uint32_t parent, uint64_t number_at_parent)
{
    MPI_Group group;
    int is_inter = 0, *sources, *destinations;
    if (!has_room_for_communicators())
        return NULL;
    struct communicator *made = calloc(1, sizeof *made);
    if (made == NULL)
        abort();
    made->handle = handle;
    made->remote_size = -1;
    PMPI_Comm_rank(handle, &made->rank);
    PMPI_Comm_group(handle, &group);
    made->members = world_ranks(group, &made->size);
    PMPI_Group_free(&group);
    PMPI_Comm_test_inter(handle, &is_inter);
    if (is_inter) {
        PMPI_Comm_remote_group(handle, &group);
        made->remote = world_ranks(group, &made->remote_size);
        PMPI_Group_free(&group);
    }
    if (made->members == NULL || (is_inter && made->remote == NULL)) {
        free(made->members);
        free(made->remote);
        free(made);
        return NULL;
    }
    find_neighbours(made, &sources, &destinations);
    define_communicator(made, parent, number_at_parent, sources, destinations);
    free(sources);
    free(destinations);
    return made;
}

/* Defines MPI_COMM_SELF of an emulated program. */
static struct communicator *define_self(void)
{
    struct communicator *made = room(sizeof *made);
    *made = (struct communicator){.handle = MPI_COMM_SELF, .members = room(sizeof own_rank), .size = 1, .remote_size = -1};
    *made->members = own_rank;
    define_communicator(made, 0, OUT_OF_ORDER, NULL, NULL);
    return made;
}

static struct communicator *look_for_communicator(MPI_Comm handle)
{
    struct communicator *found = communicators[hash((uintptr_t)handle) % COMMUNICATOR_SLOTS];
    while (found != NULL && found->handle != handle)
        found = found->next;
    return found;
}

struct communicator *find_communicator(MPI_Comm handle)
{
    if (handle == MPI_COMM_WORLD)
        return &world;
    struct communicator *last = last_communicator; /* Another thread may look for another one. */
    if (last != NULL && last->handle == handle)
        return last;
    struct communicator *found = look_for_communicator(handle);
    if (found == NULL && is_emulated && handle == MPI_COMM_SELF) {
        found = define_self();
    } else if (found == NULL && !is_answered) {
        found = define_recorded(handle, 0, OUT_OF_ORDER);
    }
    last_communicator = found;
    return found;
}

/* Forgets the handle: another communicator may get the same one. */
static void free_communicator(MPI_Comm handle)
{
    struct communicator **slot = &communicators[hash((uintptr_t)handle) % COMMUNICATOR_SLOTS];
    while (*slot != NULL && (*slot)->handle != handle)
        slot = &(*slot)->next;
    if (*slot != NULL)
        *slot = (*slot)->next;
    last_communicator = NULL;
}

/* REQUEST_ACCESS is of a file: it is complete as soon as it is made. REQUEST_GENERALIZED is the program's own. */
enum request_kind { REQUEST_NOTHING, REQUEST_SEND, REQUEST_RECV, REQUEST_ACCESS, REQUEST_GENERALIZED };

struct request {
    struct request *next;
    MPI_Request handle;
    uint64_t number;
    uint32_t communicator;
    unsigned char kind;
    unsigned char is_persistent, is_active, is_cancelled, was_awaited_idle;
    void *place; /* of the call that made it, if the program is emulated */
    /* What a start of a persistent request records, and by which record. */
    unsigned char start_code;
    unsigned char *start;
    size_t start_bytes;
    /* The data of one that is emulated. */
    struct collective *exchange;
    uint64_t bytes; /* that went to a file or came from there */
    struct generalized *generalized;
    struct partitions *partitions;
    /* What its buffers were when it began. */
    uint64_t sums[2];
};

static struct request **requests, *free_requests;
static size_t request_slots, request_count;
/* Number of the next request: they are counted as their records are written. */
static uint64_t next_request;

static size_t request_slot(MPI_Request handle)
{
    return hash((uintptr_t)handle) & (request_slots - 1);
}

static struct request *insert_request(MPI_Request handle, enum request_kind kind, uint32_t communicator)
{
    if (request_count >= request_slots) {
        size_t slots = request_slots;
        struct request **before = requests;
        request_slots = slots ? 2 * slots : 1024;
        requests = calloc(request_slots, sizeof *requests);
        if (requests == NULL)
            abort();
        for (size_t i = 0; i < slots; i++)
            for (struct request *request = before[i], *next; request != NULL; request = next) {
                next = request->next;
                request->next = requests[request_slot(request->handle)];
                requests[request_slot(request->handle)] = request;
            }
        free(before);
    }
    if (free_requests == NULL) {
        struct request *more = malloc(256 * sizeof *more);
        if (more == NULL)
            abort();
        for (int i = 0; i < 256; i++) {
            more[i].next = free_requests;
            free_requests = &more[i];
        }
    }
    struct request *request = free_requests;
    free_requests = request->next;
    *request = (struct request){.handle = handle, .kind = (unsigned char)kind, .communicator = communicator,
                                 .place = call.place};
    request->next = requests[request_slot(handle)];
    requests[request_slot(handle)] = request;
    request_count++;
    return request;
}

/* Returns where the request is linked, or NULL. Several may have one handle: libraries have one for all that are complete as
 * soon as they are posted, so that it does not matter which is which. But where a handle has been freed and given out again
 * before another thread came to say so, the older one is meant. */
static struct request **find_request(MPI_Request handle)
{
    struct request **found = NULL;
    if (request_slots == 0)
        return NULL;
    for (struct request **link = &requests[request_slot(handle)]; *link != NULL; link = &(*link)->next)
        if ((*link)->handle == handle) {
            found = link;
            if (!is_multiple)
                break;
        }
    return found;
}

static void remove_request(struct request **link)
{
    struct request *request = *link;
    *link = request->next;
    free(request->start);
    request->next = free_requests;
    free_requests = request;
    request_count--;
}

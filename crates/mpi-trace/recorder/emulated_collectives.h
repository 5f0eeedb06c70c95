/* What an emulated program's collectives do, and what it does before a communicator is made. */

/* Combines elements of `from`, before those of `into`, with these. */
static void combine(char *from, char *into, uint64_t count, MPI_Datatype type, MPI_Op op)
{
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    while (count > 0) {
        int piece = (int)(count < 1 << 30 ? count : 1 << 30);
        PMPI_Reduce_local(from, into, piece, type, op);
        from += piece * extent;
        into += piece * extent;
        count -= (uint64_t)piece;
    }
}

/* Takes the parts and combines them in their order. Each is combined where it came to, so that what is before it is first: they come
 * by turns to the program's own buffer and to another one, the last one to the program's. */
static void take_combined(const struct collective *collective, uint64_t parts)
{
    struct counts buffers[2] = {collective->received, collective->received};
    MPI_Aint low, extent, true_low, true_extent;
    if (parts == 0 || collective->received.count == 0) {
        for (uint64_t i = 0; i < parts; i++)
            word();
        return;
    }
    PMPI_Type_get_extent(buffers[0].type, &low, &extent);
    PMPI_Type_get_true_extent(buffers[0].type, &true_low, &true_extent);
    char *other = calloc(1, (size_t)true_extent + (size_t)(buffers[0].count - 1) * (size_t)extent);
    if (other == NULL)
        abort();
    buffers[parts % 2].data = other - true_low;
    for (uint64_t i = 0; i < parts; i++) {
        const struct counts *before = &buffers[(i + 1) % 2], *next = &buffers[i % 2];
        if (word() != next->same)
            report("parameter matching", "calls %s with vectors whose lengths differ; those of all ranks have to be the same",
                   collective->name);
        take(next, next->same);
        if (i > 0)
            combine(before->data, next->data, next->count, next->type, collective->op);
    }
    free(other);
}

/* Takes what the answer has for this rank: nothing, parts for the program's buffer, or parts that are combined. */
static void take_collective(const struct collective *collective)
{
    enum { FORM_NOTHING, FORM_PARTS, FORM_COMBINED } form = word();
    uint64_t parts = word(), before = 0;
    if (form == FORM_COMBINED)
        take_combined(collective, parts);
    for (uint64_t i = 0; i < parts && form == FORM_PARTS; i++) {
        uint64_t bytes = word();
        struct counts part = {.same = 0};
        if (i < (uint64_t)collective->received.n)
            part = part_behind(&collective->received, (int)i, before);
        if (bytes > part.same)
            report("parameter matching",
                   "calls %s and gets %llu bytes as part %llu where %llu are received; counts have to be the same at both ends",
                   collective->name, (unsigned long long)bytes, (unsigned long long)i, (unsigned long long)part.same);
        take(&part, bytes);
        before += part.count;
    }
}

static int check_collective(const struct communicator *with, const struct collective *collective)
{
    int root = collective->root, is_scatter = collective->kind == COLLECTIVE_Scatter || collective->kind == COLLECTIVE_Scatterv;
    if (collective->has_root && !(with->remote_size >= 0 && (root == MPI_ROOT || root == MPI_PROC_NULL)) &&
        (root < 0 || root >= peers(with)))
        return reject(with->handle, MPI_ERR_ROOT, "calls %s with root %d in a communicator of %d ranks; its ranks are 0 to %d",
                      collective->name, root, peers(with), peers(with) - 1);
    CHECK(check_data(collective->name, with->handle, &collective->sent, 0));
    CHECK(check_data(collective->name, with->handle, &collective->received, is_scatter));
    if (has_operation(collective))
        CHECK(check_operation(collective->name, with->handle, collective->op,
                              collective->sent.n > 0 ? &collective->sent : &collective->received));
    look_at_data(collective->name, &collective->sent, &collective->received);
    operation = has_operation(collective) ? operation_number(collective->op) : 0;
    return MPI_SUCCESS;
}

static int emulate_collective(const struct communicator *with, const struct collective *collective, MPI_Request *request,
                              int is_persistent)
{
    CHECK(check_collective(with, collective));
    if (request != NULL)
        *request = (MPI_Request)new_handle();
    record_collective(&call, collective, with, request, is_persistent);
    if (request != NULL)
        keep(*request, collective);
    if (!is_persistent) {
        give_all(&collective->sent);
        end_record(request == NULL);
    }
    if (request == NULL)
        take_collective(collective);
    return MPI_SUCCESS;
}

/* Waits until all ranks that make a communicator can do so: those of `parent`, or these. */
static int ask_to_make(const struct communicator *parent, const int *ranks, int count)
{
    begin_record(RECORD_NEW_COMMUNICATOR, &call, 10 * (size_t)count);
    at = put(at, parent->number);
    *at++ = ranks != NULL;
    if (ranks != NULL)
        at = put_ranks(at, ranks, count);
    end_record(1);
    return 0;
}

static int compare_ranks(const void *one, const void *other)
{
    return *(const int *)one - *(const int *)other;
}

/* Asks for all ranks of both groups. */
static int ask_both(const struct communicator *parent, const int *remote, int remote_size)
{
    int count = parent->size + remote_size, *ranks = room((size_t)count * sizeof *ranks);
    for (int i = 0; i < parent->size; i++)
        ranks[i] = parent->members ? parent->members[i] : i;
    memcpy(ranks + parent->size, remote, (size_t)remote_size * sizeof *ranks);
    qsort(ranks, (size_t)count, sizeof *ranks, compare_ranks);
    ask_to_make(parent, ranks, count);
    free(ranks);
    return 0;
}

static int ask_parent(MPI_Comm handle)
{
    const struct communicator *parent = find_communicator(handle);
    if (parent->remote_size >= 0)
        return ask_both(parent, parent->remote, parent->remote_size);
    return ask_to_make(parent, NULL, 0);
}

static int ask_group(MPI_Comm handle, MPI_Group group)
{
    int count, *ranks = world_ranks(group, &count);
    if (count == 0) /* This rank gets no communicator. */
        ranks[count++] = own_rank;
    qsort(ranks, (size_t)count, sizeof *ranks, compare_ranks);
    ask_to_make(find_communicator(handle), ranks, count);
    free(ranks);
    return 0;
}

/* The leaders of two groups tell each other who is in them, and then the others, as libraries do. */
static int ask_leaders(MPI_Comm handle, int leader, MPI_Comm peer, int remote_leader, int tag)
{
    const struct communicator *parent = find_communicator(handle);
    int *remote = room(((size_t)world_size + 1) * sizeof *remote), *own = room((size_t)parent->size * sizeof *own);
    struct counts all = message_of(remote, (uint64_t)world_size + 1, MPI_INT);
    struct collective tell = {.kind = COLLECTIVE_Bcast, .name = "MPI_Intercomm_create", .has_root = 1, .root = leader};
    memset(remote, 0, ((size_t)world_size + 1) * sizeof *remote);
    for (int i = 0; i < parent->size; i++)
        own[i] = parent->members ? parent->members[i] : i;
    if (parent->rank == leader) {
        MPI_Status status;
        emulate_exchange(tell.name, message_of(own, (uint64_t)parent->size, MPI_INT), remote_leader, tag,
                         message_of(remote + 1, (uint64_t)world_size, MPI_INT), remote_leader, tag, peer, &status, NULL);
        remote[0] = (int)(status_bytes(&status) / sizeof *remote);
        tell.sent = all;
    } else {
        tell.received = all;
    }
    emulate_collective(parent, &tell, NULL, 0);
    ask_both(parent, remote + 1, remote[0]);
    free(remote);
    free(own);
    return 0;
}

/* Says which communicator was made, if one was. */
static int end_making(int error, MPI_Comm parent_handle, const MPI_Comm *made, int is_out_of_order)
{
    struct communicator *parent = find_communicator(parent_handle), *new = NULL;
    uint64_t number = is_out_of_order ? OUT_OF_ORDER : parent->children++;
    if (error == MPI_SUCCESS && *made != MPI_COMM_NULL)
        note_made(OBJECT_COMMUNICATOR, (uintptr_t)*made, making_name, call.place);
    if (error == MPI_SUCCESS && *made != MPI_COMM_NULL && (new = define(*made, parent->number, number)) == NULL)
        refuse("makes more communicators than an emulated program can, which are %zu",
               sizeof all_communicators / sizeof *all_communicators);
    begin_record(CALL_MADE, &call, 0);
    at = put(at, new ? (uint64_t)new->number + 1 : 0);
    end_record(1);
    return error;
}

/* An immediate one is made at once: all ranks have to be awake for it. */
static int emulate_idup(MPI_Comm comm, MPI_Info info, int has_info, MPI_Comm *made, MPI_Request *request)
{
    CHECK(check_making("MPI_Comm_idup", comm));
    ask_parent(comm);
    int error = has_info ? PMPI_Comm_dup_with_info(comm, info, made) : PMPI_Comm_dup(comm, made);
    *request = (MPI_Request)new_handle();
    add_nothing(*request);
    return end_making(error, comm, made, 0);
}

/* To disconnect is to free: a library would wait for others. */
static int emulate_comm_free(MPI_Comm *handle)
{
    MPI_Comm before = *handle;
    CHECK(check_communicator("MPI_Comm_free", before));
    int error = PMPI_Comm_free(handle);
    if (error != MPI_SUCCESS)
        return error;
    free_communicator(before);
    note_freed(OBJECT_COMMUNICATOR, (uintptr_t)before);
    return error;
}

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

static int emulate_collective(struct communicator *with, const struct collective *collective, MPI_Request *request,
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
    struct communicator *parent = find_communicator(handle);
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

static struct communicator *define_or_refuse(MPI_Comm made, uint32_t parent, uint64_t number_at_parent)
{
    struct communicator *new = define(made, parent, number_at_parent);
    if (new == NULL)
        refuse("makes more communicators than an emulated program can, which are %zu",
               sizeof all_communicators / sizeof *all_communicators);
    return new;
}

/* Says which communicator was made, if one was. */
static int end_making(int error, MPI_Comm parent_handle, const MPI_Comm *made, int is_out_of_order)
{
    struct communicator *parent = find_communicator(parent_handle), *new = NULL;
    uint64_t number = is_out_of_order ? OUT_OF_ORDER : parent->children++;
    if (error == MPI_SUCCESS && *made != MPI_COMM_NULL) {
        note_made(OBJECT_COMMUNICATOR, (uintptr_t)*made, making_name, call.place);
        new = define_or_refuse(*made, parent->number, number);
    }
    begin_record(CALL_MADE, &call, 0);
    at = put(at, new ? (uint64_t)new->number + 1 : 0);
    end_record(1);
    return error;
}

/* An immediate duplicate that is not complete. All ranks that take part make it when the first one completes its request: the
 * command has them do so in whatever calls they wait. */
struct duplicate {
    struct duplicate *next;
    uint32_t number; /* how many the rank has begun before */
    MPI_Comm parent, made, *to;
    MPI_Fint *fortran_to;
    MPI_Info info; /* MPI_INFO_NULL: that of the parent */
    uint32_t parent_number;
    uint64_t number_at_parent;
    int is_made, error;
    int frees_parent; /* the program has freed it meanwhile */
    const char *name;
    void *place;
};
static struct duplicate *duplicates;
static uint32_t duplicate_count;

/* Returns one of this communicator that is still to be made. */
static struct duplicate *find_unmade(MPI_Comm parent)
{
    struct duplicate *duplicate = duplicates;
    while (duplicate != NULL && (duplicate->is_made || duplicate->parent != parent))
        duplicate = duplicate->next;
    return duplicate;
}

static int emulate_idup(const char *name, MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request)
{
    CHECK(check_making(name, comm));
    struct communicator *parent = find_communicator(comm);
    struct duplicate *new = room(sizeof *new);
    *new = (struct duplicate){.next = duplicates, .number = duplicate_count++, .parent = comm, .to = made,
                              .fortran_to = fortran_made, .info = MPI_INFO_NULL, .parent_number = parent->number,
                              .number_at_parent = parent->children++, .name = name, .place = call.place};
    if (info != MPI_INFO_NULL)
        PMPI_Info_dup(info, &new->info);
    duplicates = new;
    *request = (MPI_Request)new_handle();
    begin_record(CALL_IDUP, &call, 0);
    at = put(at, parent->number);
    add_request(*request, REQUEST_SEND, parent);
    (*find_request(*request))->duplicate = new;
    end_record(0);
    return MPI_SUCCESS;
}

/* Makes a duplicate, which all its ranks do now. */
static void make_duplicate(uint32_t number)
{
    struct duplicate *duplicate = duplicates;
    while (duplicate->number != number)
        duplicate = duplicate->next;
    duplicate->error = duplicate->info == MPI_INFO_NULL ? PMPI_Comm_dup(duplicate->parent, &duplicate->made)
                                                        : PMPI_Comm_dup_with_info(duplicate->parent, duplicate->info, &duplicate->made);
    duplicate->is_made = 1;
    struct duplicate *next = find_unmade(duplicate->parent);
    if (duplicate->frees_parent && next != NULL)
        next->frees_parent = 1;
    else if (duplicate->frees_parent)
        PMPI_Comm_free(&duplicate->parent);
}

/* Gives the program its duplicate, which is made. */
static void end_duplicate(struct duplicate *duplicate)
{
    struct duplicate **link = &duplicates;
    while (*link != duplicate)
        link = &(*link)->next;
    *link = duplicate->next;
    if (duplicate->error == MPI_SUCCESS) {
        *duplicate->to = duplicate->made;
        if (duplicate->fortran_to != NULL)
            *duplicate->fortran_to = PMPI_Comm_c2f(duplicate->made);
        note_made(OBJECT_COMMUNICATOR, (uintptr_t)duplicate->made, duplicate->name, duplicate->place);
        define_or_refuse(duplicate->made, duplicate->parent_number, duplicate->number_at_parent);
    }
    if (duplicate->info != MPI_INFO_NULL)
        PMPI_Info_free(&duplicate->info);
    free(duplicate);
}

/* To disconnect is to free: a library would wait for others. */
static int emulate_comm_free(MPI_Comm *handle)
{
    MPI_Comm before = *handle;
    CHECK(check_communicator("MPI_Comm_free", before));
    struct duplicate *unmade = find_unmade(before);
    int error = MPI_SUCCESS;
    if (unmade != NULL) {
        unmade->frees_parent = 1;
        *handle = MPI_COMM_NULL;
    } else {
        error = PMPI_Comm_free(handle);
    }
    if (error != MPI_SUCCESS)
        return error;
    free_communicator(before);
    note_freed(OBJECT_COMMUNICATOR, (uintptr_t)before);
    return error;
}

#if defined(HAS_FOUR)
static MPI_Comm make_from_group(MPI_Group group, const char *tag, MPI_Errhandler errors)
{
    MPI_Comm made = MPI_COMM_NULL;
    ask_group(MPI_COMM_WORLD, group);
    end_making(PMPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, errors, &made), MPI_COMM_WORLD, &made, 1);
    return made;
}

/* Only the leader need know the other group. It tells its own one by communicators that no program sees, as libraries do. */
static int ask_groups(MPI_Group own, int leader, MPI_Group remote, int remote_leader, const char *tag, MPI_Errhandler errors)
{
    MPI_Comm local = make_from_group(own, tag, errors), both = MPI_COMM_NULL;
    int leads = find_communicator(local)->rank == leader, is_first = 0;
    if (leads) {
        MPI_Group world_group, pair;
        int count, *others = world_ranks(remote, &count), other = others[remote_leader];
        is_first = own_rank < other;
        PMPI_Comm_group(MPI_COMM_WORLD, &world_group);
        PMPI_Group_incl(world_group, 2, is_first ? (int[]){own_rank, other} : (int[]){other, own_rank}, &pair);
        both = make_from_group(pair, tag, errors);
        PMPI_Group_free(&pair);
        PMPI_Group_free(&world_group);
        free(others);
    }
    ask_leaders(local, leader, both, is_first, 0);
    if (leads)
        emulate_comm_free(&both);
    emulate_comm_free(&local);
    return 0;
}
#endif

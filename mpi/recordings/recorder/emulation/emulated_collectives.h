/* What an emulated program's collectives do, and what it does before a communicator is made. */

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
    if (!collective->is_in_place)
        look_for_own_overlap(collective->name, &collective->sent, &collective->received, "MPI_IN_PLACE is to be given");
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

/* The leaders of two groups tell each other who is in them, and then the others, as libraries do. */
static int emulate_intercomm_create(MPI_Comm handle, int leader, MPI_Comm peer, int remote_leader, int tag, MPI_Comm *made)
{
    struct communicator *parent = find_communicator(handle);
    int *remote = room(((size_t)world_size + 1) * sizeof *remote), *own = members_of(parent);
    struct counts all = message_of(remote, (uint64_t)world_size + 1, MPI_INT);
    struct collective tell = {.kind = COLLECTIVE_Bcast, .name = "MPI_Intercomm_create", .has_root = 1, .root = leader};
    memset(remote, 0, ((size_t)world_size + 1) * sizeof *remote);
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
    int error = make_inter(handle, remote + 1, remote[0], made);
    free(remote);
    free(own);
    return error;
}

/* An immediate duplicate has its attributes from the moment of its call on, and is told to the others when it is complete. */
static int emulate_idup(const char *name, MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request)
{
    CHECK(check_making(name, comm));
    struct communicator *parent = find_communicator(comm);
    uint64_t number = parent->children++;
    CHECK(copy_below(comm, info, made));
    *request = (MPI_Request)new_handle();
    begin_record(CALL_IDUP, &call, 0);
    at = put(at, parent->number);
    add_request(*request, REQUEST_SEND, parent);
    end_record(0);
    note_communicator(*made);
    define_copy(*made, parent, number);
    return MPI_SUCCESS;
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

#if defined(HAS_FOUR)
static int emulate_create_from_group(const char *name, MPI_Group group, MPI_Errhandler errors, MPI_Comm *made)
{
    making_name = name;
    CHECK(make_of_group(MPI_COMM_WORLD, name, group, made));
    if (*made != MPI_COMM_NULL)
        PMPI_Comm_set_errhandler(*made, errors);
    return MPI_SUCCESS;
}

/* Only the leader need know the other group. It tells its own one by communicators that no program sees, as libraries do. */
static int emulate_create_from_groups(MPI_Group own, int leader, MPI_Group remote, int remote_leader, MPI_Errhandler errors,
                                      MPI_Comm *made)
{
    const char *name = "MPI_Intercomm_create_from_groups";
    MPI_Comm local = MPI_COMM_NULL, both = MPI_COMM_NULL;
    CHECK(emulate_create_from_group(name, own, errors, &local));
    int leads = find_communicator(local)->rank == leader, is_first = 0;
    if (leads) {
        const struct group *others = find_group(remote);
        if (others == NULL || remote_leader < 0 || remote_leader >= others->size)
            return reject(MPI_COMM_WORLD, MPI_ERR_GROUP, "calls %s with a remote leader that is not in the remote group", name);
        int other = others->ranks[remote_leader];
        is_first = own_rank < other;
        MPI_Group pair = make_group(copy_of(is_first ? (int[]){own_rank, other} : (int[]){other, own_rank}, 2), 2, name, NULL);
        emulate_create_from_group(name, pair, errors, &both);
        PMPI_Group_free(&pair);
    }
    int error = emulate_intercomm_create(local, leader, both, is_first, 0, made);
    if (leads)
        emulate_comm_free(&both);
    emulate_comm_free(&local);
    return error;
}
#endif

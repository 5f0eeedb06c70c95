/* Calls that make communicators. */

/* Records that `parent` made `made`, or nothing for this rank. */
static void record_new(const struct span *span, const char *name, MPI_Comm parent_handle, MPI_Comm made, int is_out_of_order)
{
    struct communicator *parent = find_communicator(parent_handle), *new = NULL;
    if (parent == NULL) {
        count_unmodelled(name, span->end - span->begin);
        return;
    }
    uint64_t number = is_out_of_order ? OUT_OF_ORDER : parent->children++;
    if (made != MPI_COMM_NULL && (new = define_recorded(made, parent->number, number)) == NULL)
        count_unmodelled(name, span->end - span->begin);
    begin_record(RECORD_NEW_COMMUNICATOR, span, 0);
    at = put(at, parent->number);
    at = put(at, new ? (uint64_t)new->number + 1 : 0);
}

#define MAKE(name, parent, emulated, is_out_of_order, parameters, arguments)                                         \
    CALL(name, parameters)                                                                                           \
    {                                                                                                                \
        BEGIN(REAL(name) arguments, check_making("MPI_" #name, parent) ?: emulated);                                 \
        if (error == MPI_SUCCESS)                                                                                    \
            record_new(&span, "MPI_" #name, parent, *made, is_out_of_order);                                         \
        return error;                                                                                                \
    }

MAKE(Comm_dup, comm, make_dup(comm, MPI_INFO_NULL, made), 0, (MPI_Comm comm, MPI_Comm *made), (comm, made))
MAKE(Comm_dup_with_info, comm, make_dup(comm, info, made), 0, (MPI_Comm comm, MPI_Info info, MPI_Comm *made), (comm, info, made))
MAKE(Comm_split, comm, check_color(comm, color) ?: make_split(comm, color, key, made), 0,
     (MPI_Comm comm, int color, int key, MPI_Comm *made), (comm, color, key, made))
MAKE(Comm_split_type, comm, make_split_type(comm, type, key, info, made), 0,
     (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made), (comm, type, key, info, made))
MAKE(Comm_create, comm, make_create(comm, group, made), 0, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
MAKE(Comm_create_group, comm, make_of_group(comm, "MPI_Comm_create_group", group, made), 1,
     (MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *made), (comm, group, tag, made))
MAKE(Cart_create, comm, check_dimensions(comm, dimensions, sizes) ?: make_cart(comm, dimensions, sizes, periods, made), 0,
     (MPI_Comm comm, int dimensions, const int *sizes, const int *periods, int reorder, MPI_Comm *made),
     (comm, dimensions, sizes, periods, reorder, made))
MAKE(Cart_sub, comm, make_cart_sub(comm, remain, made), 0, (MPI_Comm comm, const int *remain, MPI_Comm *made), (comm, remain, made))
MAKE(Graph_create, comm, make_graph(comm, nodes, index, edges, made), 0,
     (MPI_Comm comm, int nodes, const int *index, const int *edges, int reorder, MPI_Comm *made),
     (comm, nodes, index, edges, reorder, made))
MAKE(Dist_graph_create, comm, make_dist_graph(comm, n, nodes, degrees, targets, weights, made), 0,
     (MPI_Comm comm, int n, const int *nodes, const int *degrees, const int *targets, const int *weights, MPI_Info info,
      int reorder, MPI_Comm *made),
     (comm, n, nodes, degrees, targets, weights, info, reorder, made))
MAKE(Dist_graph_create_adjacent, comm, make_adjacent(comm, in, sources, source_weights, out, destinations, weights, made), 0,
     (MPI_Comm comm, int in, const int *sources, const int *source_weights, int out, const int *destinations,
      const int *weights, MPI_Info info, int reorder, MPI_Comm *made),
     (comm, in, sources, source_weights, out, destinations, weights, info, reorder, made))
MAKE(Intercomm_create, comm, emulate_intercomm_create(comm, leader, peer, remote_leader, tag, made), 1,
     (MPI_Comm comm, int leader, MPI_Comm peer, int remote_leader, int tag, MPI_Comm *made),
     (comm, leader, peer, remote_leader, tag, made))
MAKE(Intercomm_merge, comm, make_merged(comm, high, made), 0, (MPI_Comm comm, int high, MPI_Comm *made), (comm, high, made))
#if defined(HAS_FOUR)
MAKE(Comm_create_from_group, MPI_COMM_WORLD, emulate_create_from_group("MPI_Comm_create_from_group", group, errors, made), 1,
     (MPI_Group group, const char *tag, MPI_Info info, MPI_Errhandler errors, MPI_Comm *made), (group, tag, info, errors, made))
MAKE(Intercomm_create_from_groups, MPI_COMM_WORLD, emulate_create_from_groups(own, leader, remote, remote_leader, errors, made), 1,
     (MPI_Group own, int leader, MPI_Group remote, int remote_leader, const char *tag, MPI_Info info, MPI_Errhandler errors,
      MPI_Comm *made),
     (own, leader, remote, remote_leader, tag, info, errors, made))
#endif

/* An immediate one is an all-gather of a word, with a request. Both libraries say at once which handle it will be. */
static void record_idup(const struct span *span, const char *name, MPI_Comm parent_handle, MPI_Comm made, MPI_Request *request)
{
    struct communicator *parent = find_communicator(parent_handle);
    struct collective gather = {.kind = COLLECTIVE_Allgather, .name = name, .sent.same = 4, .received.same = 4};
    if (parent != NULL) {
        uint64_t number = parent->children++;
        if (made != MPI_COMM_NULL)
            define_recorded(made, parent->number, number);
    }
    record_collective(span, &gather, parent, request, 0);
}

CALL(Comm_idup, (MPI_Comm comm, MPI_Comm *made, MPI_Request *request))
{
    *made = MPI_COMM_NULL;
    BEGIN(REAL(Comm_idup)(comm, made, request), emulate_idup("MPI_Comm_idup", comm, MPI_INFO_NULL, made, given("MPI_Comm_idup", request)));
    if (error == MPI_SUCCESS)
        record_idup(&span, "MPI_Comm_idup", comm, *made, request);
    return error;
}

#if defined(HAS_FOUR)
CALL(Comm_idup_with_info, (MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request))
{
    *made = MPI_COMM_NULL;
    BEGIN(REAL(Comm_idup_with_info)(comm, info, made, request),
          emulate_idup("MPI_Comm_idup_with_info", comm, info, made, given("MPI_Comm_idup_with_info", request)));
    if (error == MPI_SUCCESS)
        record_idup(&span, "MPI_Comm_idup_with_info", comm, *made, request);
    return error;
}
#endif

#define FREE(name)                                                                                                   \
    CALL(name, (MPI_Comm *comm))                                                                                     \
    {                                                                                                                \
        MPI_Comm handle = *comm;                                                                                     \
        BEGIN(REAL(name)(comm), emulate_comm_free(comm));                                                            \
        if (error == MPI_SUCCESS)                                                                                    \
            free_communicator(handle);                                                                               \
        return error;                                                                                                \
    }

FREE(Comm_free)
FREE(Comm_disconnect)
#undef FREE

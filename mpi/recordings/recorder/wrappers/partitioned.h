/* Partitioned messages: persistent ones that are sent once all their parts are ready. */

/* Those of one tag match in the order in which they are made, and match no other messages: so the tags of their messages are others. */
#define PARTITIONED_TAG (1 << 30)

static int partitioned_tag(int is_receive, int peer, int tag, uint32_t communicator)
{
    static struct made {
        struct made *next;
        int is_receive, peer, tag;
        uint32_t communicator;
        uint64_t count;
    } *all;
    struct made *made = all;
    while (made != NULL && (made->is_receive != is_receive || made->peer != peer || made->tag != tag || made->communicator != communicator))
        made = made->next;
    if (made == NULL) {
        made = room(sizeof *made);
        *made = (struct made){all, is_receive, peer, tag, communicator, 0};
        all = made;
    }
    return PARTITIONED_TAG | (int)(hash((uintptr_t)(made->count++ << 32 | (uint32_t)tag)) & (PARTITIONED_TAG - 1));
}

static int make_partitioned(const char *name, int is_receive, void *data, int partitions, int64_t count, MPI_Datatype type, int peer,
                            int tag, MPI_Comm comm, MPI_Request *request)
{
    struct counts message = message_of(data, (uint64_t)(partitions * count), type);
    struct collective exchange = {.name = name};
    CHECK(check_peer(name, comm, peer, tag, 0) ?: check_data(name, comm, &message, 0));
    if (partitions < 1)
        return reject(comm, MPI_ERR_ARG, "calls %s for %d partitions; 1 is the least", name, partitions);
    *(is_receive ? &exchange.received : &exchange.sent) = message;
    look_at_data(name, &exchange.sent, &exchange.received);
    int own_tag = partitioned_tag(is_receive, peer, tag, find_communicator(comm)->number);
    *request = (MPI_Request)new_handle();
    if (is_receive)
        record_receive(&call, name, message.same, peer, own_tag, comm, NULL, request, 1);
    else
        record_send(&call, SEND_STANDARD, name, message.same, peer, own_tag, comm, request, 1);
    keep(*request, &exchange);
    struct partitions *made = calloc(1, sizeof *made + (size_t)partitions);
    if (made == NULL)
        abort();
    made->tag = tag;
    made->count = partitions;
    made->left = is_receive ? -1 : 0;
    (*find_request(*request))->partitions = made;
    return MPI_SUCCESS;
}

/* Returns the partitions of a request that has some. */
static struct partitions *find_partitions(const char *name, MPI_Request request, int is_receive)
{
    struct request **link = find_request(request);
    struct partitions *partitions = link ? (*link)->partitions : NULL;
    if (partitions == NULL || (partitions->left < 0) != is_receive)
        report("request lifecycle", "calls %s for what is no partitioned %s", name, is_receive ? "receive" : "send");
    return partitions;
}

static int check_partition(const char *name, const struct partitions *partitions, int partition)
{
    if (partition >= 0 && partition < partitions->count)
        return MPI_SUCCESS;
    return reject(MPI_COMM_WORLD, MPI_ERR_ARG, "calls %s for partition %d of %d", name, partition, partitions->count);
}

/* Notes that partitions are ready: those in the list, or so many from the first on. */
static int make_ready(const char *name, MPI_Request handle, int first, int count, const int *list)
{
    struct partitions *partitions = find_partitions(name, handle, 0);
    for (int i = 0; i < count; i++) {
        int partition = list ? list[i] : first + i;
        CHECK(check_partition(name, partitions, partition));
        if (state_of(handle) != STATE_OPEN || partitions->is_ready[partition])
            report("request lifecycle", "calls %s for partition %d of a send that has not been started, or that is ready", name, partition);
        partitions->is_ready[partition] = 1;
        if (--partitions->left == 0)
            start_request(handle);
    }
    return MPI_SUCCESS;
}

/* All partitions arrive at once, and are in the buffer then. */
static int look_for_partition(MPI_Request handle, int partition, int *flag)
{
    const char *name = "MPI_Parrived";
    struct partitions *partitions = find_partitions(name, handle, 1);
    CHECK(check_partition(name, partitions, partition));
    *flag = state_of(handle) != STATE_POSTED;
    if (*flag || !ask(RECORD_TEST, 1, &handle))
        return MPI_SUCCESS;
    take_completions(name, &handle, 0, NULL, &partitions->status);
    (*find_request(handle))->is_active = partitions->has_arrived = *flag = 1;
    return MPI_SUCCESS;
}

UNMODELLED(Psend_init, (const void *data, int partitions, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Info info, MPI_Request *request), (data, partitions, count, type, to, tag, comm, info, request),
            make_partitioned("MPI_Psend_init", 0, (void *)data, partitions, count, type, to, tag, comm, given("MPI_Psend_init", request)))
UNMODELLED(Precv_init, (void *data, int partitions, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Info info,
                         MPI_Request *request), (data, partitions, count, type, from, tag, comm, info, request),
            make_partitioned("MPI_Precv_init", 1, data, partitions, count, type, from, tag, comm, given("MPI_Precv_init", request)))
UNMODELLED(Pready, (int partition, MPI_Request request), (partition, request), make_ready("MPI_Pready", request, partition, 1, NULL))
UNMODELLED(Pready_range, (int first, int last, MPI_Request request), (first, last, request),
            make_ready("MPI_Pready_range", request, first, last - first + 1, NULL))
UNMODELLED(Parrived, (MPI_Request request, int partition, int *flag), (request, partition, flag), look_for_partition(request, partition, flag))

/* Headers differ in whether the list is constant. */
int pready_list(int count, const int *list, MPI_Request request) __asm__("MPI_Pready_list");
int profiled_pready_list(int count, const int *list, MPI_Request request) __asm__("PMPI_Pready_list")
    __attribute__((alias("MPI_Pready_list")));
int pready_list(int count, const int *list, MPI_Request request)
{
    static int (*real)(int, const int *, MPI_Request);
    if (real == NULL)
        real = (__typeof__(real))find_symbol("PMPI_Pready_list");
    BEGIN(real(count, list, request), make_ready("MPI_Pready_list", request, 0, count, list));
    count_unmodelled("MPI_Pready_list", span.end - span.begin);
    return error;
}

/* What is recorded of calls. A call that is emulated writes the same. */

static inline uint64_t type_bytes(MPI_Datatype type)
{
    int bytes = 0;
    if (is_emulated && is_freed_type(type))
        return 0;
    if (type == MPI_BYTE || type == MPI_DATATYPE_NULL)
        return type == MPI_BYTE;
    PMPI_Type_size(type, &bytes);
    if (bytes < 0) {
        MPI_Count large = 0;
        PMPI_Type_size_x(type, &large);
        return (uint64_t)large;
    }
    return (uint64_t)bytes;
}

/* Returns the bytes of a message. The fields of statuses are the same in all versions of a library's binary interface. */
static inline uint64_t status_bytes(const MPI_Status *status)
{
#if defined(OPEN_MPI)
    return status->_ucount;
#elif defined(MPICH_VERSION)
    return (uint64_t)(uint32_t)status->count_lo | (uint64_t)((uint32_t)status->count_hi_and_cancelled >> 1) << 32;
#else
    MPI_Count bytes = 0;
    PMPI_Get_elements_x(status, MPI_BYTE, &bytes);
    return bytes < 0 ? 0 : (uint64_t)bytes;
#endif
}

/* Writes a message of peer, tag, communicator and bytes. */
static inline unsigned char *put_message(unsigned char *to, uint32_t peer, int tag, uint32_t communicator, uint64_t bytes)
{
    to = put(to, peer);
    to = put_signed(to, tag);
    to = put(to, communicator);
    return put(to, bytes);
}

static unsigned char *put_send(unsigned char *to, const struct communicator *communicator, int peer, int tag, uint64_t bytes)
{
    return put_message(to, (uint32_t)in_world(communicator, peer), tag, communicator->number, bytes);
}

/* Writes what a receive asks for. */
static unsigned char *put_receive(unsigned char *to, const struct communicator *communicator, int from, int tag, uint64_t bytes)
{
    to = put(to, from == MPI_ANY_SOURCE ? 0 : (uint64_t)in_world(communicator, from) + 1);
    to = put(to, tag == MPI_ANY_TAG ? 0 : (uint64_t)tag + 1);
    to = put(to, communicator->number);
    return put(to, bytes);
}

/* The same, and of which types the data are. */
static unsigned char *put_typed_send(unsigned char *to, const struct communicator *communicator, int peer, int tag, uint64_t bytes)
{
    return put_checked(put_send(to, communicator, peer, tag, bytes), signatures[0]);
}

static unsigned char *put_typed_receive(unsigned char *to, const struct communicator *communicator, int from, int tag, uint64_t bytes)
{
    return put_checked(put_receive(to, communicator, from, tag, bytes), signatures[1]);
}

/* Writes the message that a receive took. One that is emulated has none yet. */
static unsigned char *put_taken(unsigned char *to, const struct communicator *communicator, const MPI_Status *status)
{
    return is_emulated ? to : put_send(to, communicator, status->MPI_SOURCE, status->MPI_TAG, status_bytes(status));
}

enum send_mode { SEND_STANDARD, SEND_BUFFERED, SEND_SYNCHRONOUS, SEND_READY };

/* A request that its record has just been written for. */
static void add_request(MPI_Request handle, enum request_kind kind, const struct communicator *communicator)
{
    struct request *request = insert_request(handle, kind, communicator->number);
    request->is_active = 1;
    request->number = next_request++;
}

/* A request of a call that has no record: its completion is none either. */
static void add_nothing(MPI_Request handle)
{
    insert_request(handle, REQUEST_NOTHING, 0)->is_active = 1;
}

/* Keeps what each start of a persistent request records: `bytes` from `start`. */
static struct request *add_persistent(MPI_Request handle, enum request_kind kind, const struct communicator *communicator,
                           const unsigned char *start, size_t bytes)
{
    struct request *request = insert_request(handle, kind, communicator ? communicator->number : 0);
    request->is_persistent = 1;
    if (bytes > 0 && (request->start = malloc(bytes)) != NULL) {
        memcpy(request->start, start, bytes);
        request->start_bytes = bytes;
    }
    request->start_code = RECORD_START;
    return request;
}

/* Keeps the request, if there is one, of a message that is not recorded: to or from nobody, or of a communicator that is not
 * known. */
static void skip_message(const struct span *span, const char *name, int peer, MPI_Request *request, int is_persistent)
{
    if (peer != MPI_PROC_NULL)
        count_unmodelled(name, span->end - span->begin);
    if (is_persistent)
        add_persistent(*request, REQUEST_NOTHING, NULL, NULL, 0);
    else if (request != NULL)
        add_nothing(*request);
}

/* Records a send to another rank of the world. A request, if it has one, is written through `request`. */
static void record_send(const struct span *span, enum send_mode mode, const char *name, uint64_t bytes, int to, int tag,
                        MPI_Comm handle, MPI_Request *request, int is_persistent)
{
    unsigned char start[RECORD_BYTES];
    const struct communicator *communicator = to == MPI_PROC_NULL ? NULL : find_communicator(handle);
    int code = RECORD_SEND + 2 * (int)mode + (request != NULL);
    if (communicator == NULL) {
        skip_message(span, name, to, request, is_persistent);
    } else if (is_persistent) {
        start[0] = (unsigned char)code;
        add_persistent(*request, REQUEST_SEND, communicator, start,
                       (size_t)(put_typed_send(start + 1, communicator, to, tag, bytes) - start));
    } else {
        begin_record(code, span, 0);
        at = put_typed_send(at, communicator, to, tag, bytes);
        if (request != NULL)
            add_request(*request, REQUEST_SEND, communicator);
    }
}

/* Records a receive, which has a status if it has no request. */
static void record_receive(const struct span *span, const char *name, uint64_t bytes, int from, int tag, MPI_Comm handle,
                           const MPI_Status *status, MPI_Request *request, int is_persistent)
{
    unsigned char start[RECORD_BYTES];
    const struct communicator *communicator = from == MPI_PROC_NULL ? NULL : find_communicator(handle);
    int code = RECORD_RECV + (request != NULL);
    if (communicator == NULL) {
        skip_message(span, name, from, request, is_persistent);
    } else if (is_persistent) {
        start[0] = (unsigned char)code;
        add_persistent(*request, REQUEST_RECV, communicator, start,
                       (size_t)(put_typed_receive(start + 1, communicator, from, tag, bytes) - start));
    } else {
        begin_record(code, span, 0);
        at = put_typed_receive(at, communicator, from, tag, bytes);
        if (request == NULL)
            at = put_taken(at, communicator, status);
        else
            add_request(*request, REQUEST_RECV, communicator);
    }
}

/* Records a send and a receive in one call. */
static void record_exchange(const struct span *span, const char *name, uint64_t sent, int to, int send_tag, uint64_t received,
                            int from, int tag, MPI_Comm handle, const MPI_Status *status, MPI_Request *request)
{
    const struct communicator *communicator = find_communicator(handle);
    int has_send = to != MPI_PROC_NULL, has_receive = from != MPI_PROC_NULL;
    if (communicator == NULL || (!has_send && !has_receive)) {
        if (communicator == NULL)
            count_unmodelled(name, span->end - span->begin);
        if (request != NULL)
            add_nothing(*request);
        return;
    }
    begin_record(RECORD_SENDRECV + (request != NULL), span, 0);
    *at++ = (unsigned char)(has_send + 2 * has_receive);
    if (has_send)
        at = put_send(at, communicator, to, send_tag, sent);
    if (has_receive) {
        at = put_receive(at, communicator, from, tag, received);
        if (request == NULL)
            at = put_taken(at, communicator, status);
    }
    if (has_send)
        at = put_checked(at, signatures[0]);
    if (has_receive)
        at = put_checked(at, signatures[1]);
    if (request != NULL)
        add_request(*request, has_receive ? REQUEST_RECV : REQUEST_SEND, communicator);
}

/* Messages that a matched probe found, until they are received. */
static struct matched {
    MPI_Message handle;
    const struct communicator *communicator;
    int from, tag;
    uint64_t number; /* by which the command knows it */
} *matched;
static size_t matched_count, matched_slots;

static void add_matched(MPI_Message handle, const struct communicator *communicator, const MPI_Status *status)
{
    if (matched_count == matched_slots) {
        matched_slots = 2 * matched_slots + 16;
        matched = realloc(matched, matched_slots * sizeof *matched);
        if (matched == NULL)
            abort();
    }
    matched[matched_count++] =
        (struct matched){.handle = handle, .communicator = communicator, .from = status->MPI_SOURCE, .tag = status->MPI_TAG};
}

/* Takes the message out of those matched; its communicator is NULL if it is none of them. */
static struct matched take_matched(MPI_Message handle)
{
    for (size_t i = 0; i < matched_count; i++)
        if (matched[i].handle == handle) {
            struct matched found = matched[i];
            matched[i] = matched[--matched_count];
            return found;
        }
    return (struct matched){.communicator = NULL};
}

/* How many bytes go to each rank, or come from each, and which data these are. */
struct counts {
    uint64_t same; /* with each, if `each` is NULL */
    const void *each;
    int n;
    int is_large; /* they are MPI_Count */
    uint64_t bytes; /* of an element */
    const MPI_Datatype *types; /* instead of `bytes` and `type` */
    void *data;
    MPI_Datatype type;
    uint64_t count; /* elements with each, if `each` is NULL */
    /* Where those with each begin, in elements, or in bytes if there are `types`; if NULL, they lie one after another. */
    const void *offsets;
    int has_long_offsets; /* they are MPI_Aint */
};

static uint64_t count_of(const struct counts *counts, int i)
{
    return counts->is_large ? (uint64_t)((const MPI_Count *)counts->each)[i] : (uint64_t)((const int *)counts->each)[i];
}

/* Returns part `i` alone, where others of `before` elements lie before it if none have offsets. */
static struct counts part_behind(const struct counts *of, int i, uint64_t before)
{
    MPI_Datatype type = of->types ? of->types[i] : of->type;
    uint64_t count = of->each ? count_of(of, i) : of->count;
    MPI_Aint low, extent = 1, offset = (MPI_Aint)before;
    if (of->offsets != NULL)
        offset = of->has_long_offsets ? ((const MPI_Aint *)of->offsets)[i] : (MPI_Aint)((const int *)of->offsets)[i];
    if (of->types == NULL && count > 0 && of->data != MPI_IN_PLACE)
        PMPI_Type_get_extent(type, &low, &extent);
    return (struct counts){.same = count == 0 ? 0 : count * type_bytes(type), .n = 1, .data = (char *)of->data + offset * extent,
                           .type = type, .count = count};
}

/* The same of those that have offsets, or are of one length. */
static struct counts part_of(const struct counts *of, int i)
{
    return part_behind(of, i, (uint64_t)i * of->count);
}

static unsigned char *put_counts(unsigned char *to, const struct counts *counts)
{
    if (counts->each == NULL)
        return put(to, counts->same + 1);
    to = put(to, 0);
    to = put(to, (uint64_t)counts->n);
    for (int i = 0; i < counts->n; i++) {
        uint64_t count = count_of(counts, i);
        to = put(to, count == 0 ? 0 : count * (counts->types ? type_bytes(counts->types[i]) : counts->bytes));
    }
    return to;
}

/* In the order of CollectiveKind. */
enum collective_kind {
    COLLECTIVE_Barrier,
    COLLECTIVE_Bcast,
    COLLECTIVE_Reduce,
    COLLECTIVE_Allreduce,
    COLLECTIVE_Scan,
    COLLECTIVE_Exscan,
    COLLECTIVE_Gather,
    COLLECTIVE_Gatherv,
    COLLECTIVE_Scatter,
    COLLECTIVE_Scatterv,
    COLLECTIVE_Allgather,
    COLLECTIVE_Allgatherv,
    COLLECTIVE_Alltoall,
    COLLECTIVE_Alltoallv,
    COLLECTIVE_Alltoallw,
    COLLECTIVE_Reduce_scatter,
    COLLECTIVE_Reduce_scatter_block,
    COLLECTIVE_Neighbor_allgather,
    COLLECTIVE_Neighbor_allgatherv,
    COLLECTIVE_Neighbor_alltoall,
    COLLECTIVE_Neighbor_alltoallv,
    COLLECTIVE_Neighbor_alltoallw,
};

/* A collective, as it is recorded. */
struct collective {
    enum collective_kind kind;
    const char *name;
    int has_root, root;
    MPI_Op op;
    struct counts sent, received;
    int is_in_place; /* the program says that they are one buffer */
};

static unsigned char *put_collective(unsigned char *to, const struct collective *collective, uint32_t communicator)
{
    int root = collective->root;
    *to++ = (unsigned char)collective->kind;
    to = put(to, communicator);
    to = put(to, !collective->has_root ? 0 : root == MPI_ROOT ? 1 : root == MPI_PROC_NULL ? 2 : (uint64_t)root + 3);
    to = put_counts(to, &collective->sent);
    to = put_counts(to, &collective->received);
    to = put_checked(put_checked(to, signatures[0]), signatures[1]);
    return put_checked(to, operation);
}

static void record_collective(const struct span *span, const struct collective *collective,
                              struct communicator *communicator, MPI_Request *request, int is_persistent)
{
    size_t bytes = 10 * ((size_t)collective->sent.n + (size_t)collective->received.n);
    int code = RECORD_COLLECTIVE + (request != NULL);
    if (communicator == NULL) {
        count_unmodelled(collective->name, span->end - span->begin);
        if (is_persistent)
            add_persistent(*request, REQUEST_NOTHING, NULL, NULL, 0);
        else if (request != NULL)
            add_nothing(*request);
    } else if (is_persistent) {
        unsigned char *start = malloc(RECORD_BYTES + bytes);
        if (start == NULL)
            abort();
        /* Starts belong together by the order in which their requests were made. */
        unsigned char *end = put(start, communicator->persistent++);
        *end++ = (unsigned char)code;
        end = put_collective(end, collective, communicator->number);
        add_persistent(*request, REQUEST_SEND, communicator, start, (size_t)(end - start))->start_code = RECORD_START_COLLECTIVE;
        free(start);
    } else {
        begin_record(code, span, bytes);
        at = put_collective(at, collective, communicator->number);
        if (request != NULL)
            add_request(*request, REQUEST_SEND, communicator);
    }
}

static void record_start(const struct span *span, MPI_Request handle)
{
    struct request **link = find_request(handle), *request;
    if (link == NULL || !(*link)->is_persistent) {
        count_unmodelled("MPI_Start of an unknown request", span->end - span->begin);
        return;
    }
    request = *link;
    request->is_active = 1;
    if (request->kind == REQUEST_NOTHING)
        return;
    request->number = next_request++;
    begin_record(request->start_code, span, request->start_bytes);
    memcpy(at, request->start, request->start_bytes);
    at += request->start_bytes;
}

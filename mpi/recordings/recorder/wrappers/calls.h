/* Completions, probes and starts. */

/* A request that was found completed, until it is written. */
struct done {
    uint64_t number;
    unsigned char has_taken, is_cancelled;
    uint32_t from, communicator;
    int tag;
    uint64_t bytes;
};

/* More handles than that are copied to memory of their own. */
#define MOST_ON_STACK 64

/* Takes note that the request has been completed. Returns false if it has no record. */
static int complete(struct done *done, MPI_Request handle, const MPI_Status *status)
{
    struct request **link = find_request(handle), *request;
    if (link == NULL || (*link)->is_active == 0)
        return 0;
    request = *link;
    int is_nothing = request->kind == REQUEST_NOTHING, cancelled = 0;
    if (!is_nothing) {
        *done = (struct done){.number = request->number};
        if (request->is_cancelled)
            PMPI_Test_cancelled(status, &cancelled);
        done->is_cancelled = (unsigned char)(cancelled != 0);
        if (request->kind == REQUEST_RECV && !cancelled) {
            const struct communicator *communicator =
                request->communicator == 0 ? &world : all_communicators[request->communicator];
            done->has_taken = 1;
            done->from = (uint32_t)in_world(communicator, status->MPI_SOURCE);
            done->tag = status->MPI_TAG;
            done->communicator = request->communicator;
            done->bytes = status_bytes(status);
        }
    }
    if (request->is_persistent)
        request->is_active = request->is_cancelled = 0;
    else
        remove_request(link);
    return !is_nothing;
}

static unsigned char *put_done(unsigned char *to, const struct done *done)
{
    to = put(to, (next_request - done->number) << 2 | (uint64_t)(done->is_cancelled << 1) | done->has_taken);
    if (done->has_taken)
        to = put_message(to, done->from, done->tag, done->communicator, done->bytes);
    return to;
}

/* Records a call that completed one request. */
static void record_done(const struct span *span, int code, MPI_Request handle, const MPI_Status *status)
{
    struct done done;
    if (!complete(&done, handle, status))
        return;
    begin_record(code, span, 0);
    at = put(at, 1);
    at = put_done(at, &done);
}

/* Records a call that completed several: those at `indices`, or all if that is NULL. */
static void record_all_done(const struct span *span, int code, int count, const int *indices, const MPI_Request *handles,
                            const MPI_Status *statuses)
{
    static struct done *done;
    static int room;
    int number = 0;
    if (count > room) {
        room = 2 * count;
        free(done);
        done = malloc((size_t)room * sizeof *done);
        if (done == NULL)
            abort();
    }
    for (int i = 0; i < count; i++)
        number += complete(&done[number], handles[indices ? indices[i] : i], &statuses[i]);
    if (number == 0)
        return;
    begin_record(code, span, 48 * (size_t)number);
    at = put(at, (uint64_t)number);
    for (int i = 0; i < number; i++)
        at = put_done(at, &done[i]);
}

/* Copies of the handles, which the call overwrites, and statuses if the program wants none. */
#define HANDLES                                                                                                      \
    MPI_Request handles_here[MOST_ON_STACK], *handles = handles_here;                                                \
    if (is_on && !inside) {                                                                                          \
        if (count > MOST_ON_STACK && (handles = malloc((size_t)count * sizeof *handles)) == NULL)                    \
            abort();                                                                                                 \
        for (int i = 0; i < count; i++)                                                                              \
            handles[i] = requests_given[i];                                                                          \
    }

#define STATUSES                                                                                                     \
    MPI_Status statuses_here[MOST_ON_STACK], *statuses_made = NULL;                                                  \
    if (is_on && !inside && statuses == MPI_STATUSES_IGNORE) {                                                       \
        statuses = statuses_here;                                                                                    \
        if (count > MOST_ON_STACK) {                                                                                 \
            statuses = statuses_made = malloc((size_t)count * sizeof *statuses);                                     \
            if (statuses == NULL)                                                                                    \
                abort();                                                                                             \
        }                                                                                                            \
    }

#define FREE_HANDLES                                                                                                 \
    if (handles != handles_here)                                                                                     \
    free(handles)

CALL(Wait, (MPI_Request *request, MPI_Status *status))
{
    MPI_Status own;
    MPI_Request handle = request ? *request : MPI_REQUEST_NULL;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    BEGIN(REAL(Wait)(request, status), emulate_all(RECORD_WAIT, 1, request, NULL, status));
    if (error == MPI_SUCCESS)
        record_done(&span, RECORD_WAIT, handle, status);
    return error;
}

CALL(Test, (MPI_Request *request, int *flag, MPI_Status *status))
{
    MPI_Status own;
    MPI_Request handle = request ? *request : MPI_REQUEST_NULL;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    BEGIN(REAL(Test)(request, flag, status), emulate_all(RECORD_TEST, 1, request, flag, status));
    if (error == MPI_SUCCESS && *flag)
        record_done(&span, RECORD_TEST, handle, status);
    else if (error == MPI_SUCCESS)
        add_look(&span);
    return error;
}

CALL(Waitall, (int count, MPI_Request *requests_given, MPI_Status *statuses))
{
    HANDLES;
    STATUSES;
    BEGIN(REAL(Waitall)(count, requests_given, statuses),
          emulate_all(RECORD_WAITALL, count, requests_given, NULL, statuses));
    if (error == MPI_SUCCESS)
        record_all_done(&span, RECORD_WAITALL, count, NULL, handles, statuses);
    FREE_HANDLES;
    free(statuses_made);
    return error;
}

CALL(Testall, (int count, MPI_Request *requests_given, int *flag, MPI_Status *statuses))
{
    HANDLES;
    STATUSES;
    BEGIN(REAL(Testall)(count, requests_given, flag, statuses),
          emulate_all(RECORD_TESTALL, count, requests_given, flag, statuses));
    if (error == MPI_SUCCESS && *flag)
        record_all_done(&span, RECORD_TESTALL, count, NULL, handles, statuses);
    else if (error == MPI_SUCCESS)
        add_look(&span);
    FREE_HANDLES;
    free(statuses_made);
    return error;
}

CALL(Waitany, (int count, MPI_Request *requests_given, int *index, MPI_Status *status))
{
    MPI_Status own;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    HANDLES;
    BEGIN(REAL(Waitany)(count, requests_given, index, status),
          emulate_any(RECORD_WAITANY, count, requests_given, index, NULL, status));
    if (error == MPI_SUCCESS && *index != MPI_UNDEFINED)
        record_done(&span, RECORD_WAITANY, handles[*index], status);
    FREE_HANDLES;
    return error;
}

CALL(Testany, (int count, MPI_Request *requests_given, int *index, int *flag, MPI_Status *status))
{
    MPI_Status own;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    HANDLES;
    BEGIN(REAL(Testany)(count, requests_given, index, flag, status),
          emulate_any(RECORD_TESTANY, count, requests_given, index, flag, status));
    if (error == MPI_SUCCESS && *flag && *index != MPI_UNDEFINED)
        record_done(&span, RECORD_TESTANY, handles[*index], status);
    else if (error == MPI_SUCCESS && !*flag)
        add_look(&span);
    FREE_HANDLES;
    return error;
}

CALL(Waitsome, (int count, MPI_Request *requests_given, int *done, int *indices, MPI_Status *statuses))
{
    HANDLES;
    STATUSES;
    BEGIN(REAL(Waitsome)(count, requests_given, done, indices, statuses),
          emulate_some(RECORD_WAITSOME, count, requests_given, done, indices, statuses));
    if (error == MPI_SUCCESS && *done != MPI_UNDEFINED)
        record_all_done(&span, RECORD_WAITSOME, *done, indices, handles, statuses);
    FREE_HANDLES;
    free(statuses_made);
    return error;
}

CALL(Testsome, (int count, MPI_Request *requests_given, int *done, int *indices, MPI_Status *statuses))
{
    HANDLES;
    STATUSES;
    BEGIN(REAL(Testsome)(count, requests_given, done, indices, statuses),
          emulate_some(RECORD_TESTSOME, count, requests_given, done, indices, statuses));
    if (error == MPI_SUCCESS && *done > 0 && *done != MPI_UNDEFINED)
        record_all_done(&span, RECORD_TESTSOME, *done, indices, handles, statuses);
    else if (error == MPI_SUCCESS && *done == 0)
        add_look(&span);
    FREE_HANDLES;
    free(statuses_made);
    return error;
}

/* It completes nothing: if it says that the request is complete, the next call that completes says so again. */
CALL(Request_get_status, (MPI_Request request, int *flag, MPI_Status *status))
{
    BEGIN(REAL(Request_get_status)(request, flag, status), emulate_get_status(request, flag, status));
    if (error == MPI_SUCCESS && !*flag)
        add_look(&span);
    return error;
}

static void record_probe(const struct span *span, int code, const char *name, MPI_Comm handle, const MPI_Status *status,
                         MPI_Message *message)
{
    const struct communicator *communicator = status->MPI_SOURCE == MPI_PROC_NULL ? NULL : find_communicator(handle);
    if (communicator == NULL) {
        if (status->MPI_SOURCE != MPI_PROC_NULL)
            count_unmodelled(name, span->end - span->begin);
        return;
    }
    begin_record(code, span, 0);
    at = put_taken(at, communicator, status);
    if (message != NULL)
        add_matched(*message, communicator, status);
}

CALL(Probe, (int from, int tag, MPI_Comm comm, MPI_Status *status))
{
    MPI_Status own;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    BEGIN(REAL(Probe)(from, tag, comm, status),
          emulate_probe(RECORD_PROBE, "MPI_Probe", from, tag, comm, NULL, NULL, status));
    if (error == MPI_SUCCESS)
        record_probe(&span, RECORD_PROBE, "MPI_Probe", comm, status, NULL);
    return error;
}

CALL(Iprobe, (int from, int tag, MPI_Comm comm, int *flag, MPI_Status *status))
{
    MPI_Status own;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    BEGIN(REAL(Iprobe)(from, tag, comm, flag, status),
          emulate_probe(RECORD_IPROBE, "MPI_Iprobe", from, tag, comm, flag, NULL, status));
    if (error == MPI_SUCCESS && *flag)
        record_probe(&span, RECORD_IPROBE, "MPI_Iprobe", comm, status, NULL);
    else if (error == MPI_SUCCESS)
        add_look(&span);
    return error;
}

CALL(Mprobe, (int from, int tag, MPI_Comm comm, MPI_Message *message, MPI_Status *status))
{
    MPI_Status own;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    BEGIN(REAL(Mprobe)(from, tag, comm, message, status),
          emulate_probe(CALL_MPROBE, "MPI_Mprobe", from, tag, comm, NULL, message, status));
    if (error == MPI_SUCCESS)
        record_probe(&span, RECORD_PROBE, "MPI_Mprobe", comm, status, message);
    return error;
}

CALL(Improbe, (int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message, MPI_Status *status))
{
    MPI_Status own;
    status = status == MPI_STATUS_IGNORE ? &own : status;
    BEGIN(REAL(Improbe)(from, tag, comm, flag, message, status),
          emulate_probe(CALL_IMPROBE, "MPI_Improbe", from, tag, comm, flag, message, status));
    if (error == MPI_SUCCESS && *flag)
        record_probe(&span, RECORD_IPROBE, "MPI_Improbe", comm, status, message);
    else if (error == MPI_SUCCESS)
        add_look(&span);
    return error;
}

CALL(Start, (MPI_Request *request))
{
    BEGIN(REAL(Start)(request), emulate_start(1, request));
    if (error == MPI_SUCCESS)
        record_start(&span, *request);
    return error;
}

/* As many starts, of which the first one takes the whole time. */
CALL(Startall, (int count, MPI_Request *requests_given))
{
    BEGIN(REAL(Startall)(count, requests_given), emulate_start(count, requests_given));
    for (int i = 0; i < count && error == MPI_SUCCESS; i++) {
        record_start(&span, requests_given[i]);
        span.begin = span.end;
    }
    return error;
}

CALL(Cancel, (MPI_Request *request))
{
    BEGIN(REAL(Cancel)(request), emulate_cancel(request));
    struct request **link = find_request(*request);
    if (error == MPI_SUCCESS && link != NULL)
        (*link)->is_cancelled = 1;
    return error;
}

CALL(Request_free, (MPI_Request *request))
{
    MPI_Request handle = request ? *request : MPI_REQUEST_NULL;
    BEGIN(REAL(Request_free)(request), emulate_request_free(request));
    struct request **link = find_request(handle);
    if (error == MPI_SUCCESS && link != NULL) {
        uint64_t number = (*link)->number;
        int is_recorded = (*link)->is_active && (*link)->kind != REQUEST_NOTHING;
        remove_request(link);
        if (is_recorded) {
            begin_record(RECORD_FORGET, &span, 0);
            at = put(at, next_request - number);
        }
    }
    return error;
}

UNMODELLED(Grequest_start, (MPI_Grequest_query_function * query, MPI_Grequest_free_function *free, MPI_Grequest_cancel_function *cancel,
                            void *extra, MPI_Request *request), (query, free, cancel, extra, request),
           emulate_grequest_start(query, free, cancel, extra, given("MPI_Grequest_start", request)))

CALL(Grequest_complete, (MPI_Request request))
{
    EMULATED(emulate_grequest_complete(request));
    return REAL(Grequest_complete)(request);
}

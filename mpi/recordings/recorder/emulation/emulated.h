/* What an emulated program's messages, requests and probes do. */

/* No more requests can be completed at once: the words of an answer have room for so many. */
#define MOST_AT_ONCE 1000

/* Keeps what the request sends at each start and what it receives. */
static void keep(MPI_Request handle, const struct collective *exchange)
{
    struct request *request = *find_request(handle);
    request->exchange = room(sizeof *exchange);
    *request->exchange = *exchange;
    if (!request->is_persistent && !is_checked())
        request->exchange->sent = (struct counts){.n = 0};
    keep_counts(&request->exchange->sent);
    keep_counts(&request->exchange->received);
    if (!request->is_persistent)
        watch(request);
}

/* Makes a request of an access to a file, which has been made. */
static void add_access(MPI_Request handle, const char *name, const struct counts *data, int is_write, const MPI_Status *status)
{
    struct request *request = insert_request(handle, REQUEST_ACCESS, 0);
    struct collective exchange = {.name = name};
    *(is_write ? &exchange.sent : &exchange.received) = *data;
    request->is_active = 1;
    request->bytes = status_bytes(status);
    keep(handle, &exchange);
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses == NULL ? NULL : &statuses[i];
}

/* Says what came of one request or message. Calls for one leave MPI_ERROR as it is. */
static void set_status(MPI_Status *status, int source, int tag, uint64_t bytes, int is_cancelled)
{
    if (status == MPI_STATUS_IGNORE)
        return;
    if (status == NULL)
        report("invalid parameter", "gives NULL as a status; where none is wanted it is MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE");
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    PMPI_Status_set_elements_x(status, MPI_BYTE, (MPI_Count)bytes);
    PMPI_Status_set_cancelled(status, is_cancelled);
}

/* Says of several requests that no error is in their statuses. */
static void clear_errors(int count, MPI_Status *statuses)
{
    for (int i = 0; i < count && statuses != MPI_STATUSES_IGNORE; i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
}

/* Of a request that is none, or inactive. */
static void set_empty(MPI_Status *status)
{
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, 0);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = MPI_SUCCESS;
}

/* Of what is to or from nobody. */
static void set_nobody(MPI_Status *status)
{
    set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, 0);
}

/* Takes the message that the answer says, and notes it in `status`. */
static void take_message(const struct counts *into, MPI_Status *status, int is_cancelled)
{
    int source = (int)word(), tag = (int)word();
    uint64_t bytes = word();
    if (bytes > into->same)
        report("parameter matching",
               "receives a message of %llu bytes, from rank %d with tag %d, into a buffer of %llu; it has to have room for all of it",
               (unsigned long long)bytes, source, tag, (unsigned long long)into->same);
    take(into, bytes);
    set_status(status, source, tag, bytes, is_cancelled);
}

/* Ends a receive that blocks: of nobody, or of the message that came. */
static void take_received(const struct counts *into, int is_nobody, MPI_Status *status)
{
    if (is_nobody)
        set_nobody(status);
    else
        take_message(into, status, 0);
}

static int emulate_send(enum send_mode mode, const char *name, struct counts message, int to, int tag, MPI_Comm comm,
                        MPI_Request *request, int is_persistent)
{
    CHECK(check_peer(name, comm, to, tag, 0) ?: check_data(name, comm, &message, 0));
    look_at_data(name, &message, &(struct counts){.n = 0});
    if (request != NULL)
        *request = (MPI_Request)new_handle();
    record_send(&call, mode, name, message.same, to, tag, comm, request, is_persistent);
    if (is_persistent || (request != NULL && is_checked()))
        keep(*request, &(struct collective){.name = name, .sent = message});
    if (!is_persistent && to != MPI_PROC_NULL) {
        give(&message);
        end_record(0);
    }
    return MPI_SUCCESS;
}

static int emulate_receive(const char *name, struct counts message, int from, int tag, MPI_Comm comm, MPI_Status *status,
                           MPI_Request *request, int is_persistent)
{
    CHECK(check_peer(name, comm, from, tag, 1) ?: check_data(name, comm, &message, 0));
    look_at_data(name, &(struct counts){.n = 0}, &message);
    if (request != NULL)
        *request = (MPI_Request)new_handle();
    record_receive(&call, name, message.same, from, tag, comm, status, request, is_persistent);
    if (request != NULL)
        keep(*request, &(struct collective){.name = name, .received = message});
    if (from != MPI_PROC_NULL && !is_persistent)
        end_record(request == NULL);
    if (request == NULL)
        take_received(&message, from == MPI_PROC_NULL, status);
    return MPI_SUCCESS;
}

static int emulate_exchange(const char *name, struct counts sent, int to, int send_tag, struct counts received, int from, int tag,
                            MPI_Comm comm, MPI_Status *status, MPI_Request *request)
{
    CHECK(check_peer(name, comm, to, send_tag, 0) ?: check_data(name, comm, &sent, 0));
    CHECK(check_peer(name, comm, from, tag, 1) ?: check_data(name, comm, &received, 0));
    look_at_data(name, &sent, &received);
    if (sent.data != received.data || strstr(name, "replace") == NULL)
        look_for_own_overlap(name, &sent, &received, "MPI_Sendrecv_replace is to be called");
    if (request != NULL)
        *request = (MPI_Request)new_handle();
    record_exchange(&call, name, sent.same, to, send_tag, received.same, from, tag, comm, status, request);
    if (to != MPI_PROC_NULL)
        give(&sent);
    if (request != NULL && (from != MPI_PROC_NULL || is_checked()))
        keep(*request, &(struct collective){.name = name, .sent = sent, .received = received});
    if (to != MPI_PROC_NULL || from != MPI_PROC_NULL)
        end_record(request == NULL);
    if (request == NULL)
        take_received(&received, from == MPI_PROC_NULL, status);
    return MPI_SUCCESS;
}

/* Receives a message that was matched. */
static int emulate_matched(struct counts message, MPI_Message *handle, MPI_Status *status, MPI_Request *request)
{
    int is_nobody = *handle == MPI_MESSAGE_NO_PROC;
    const char *name = request ? "MPI_Imrecv" : "MPI_Mrecv";
    CHECK(check_data(name, MPI_COMM_WORLD, &message, 0));
    look_at_data(name, &(struct counts){.n = 0}, &message);
    struct matched found = take_matched(*handle);
    if (request != NULL)
        *request = (MPI_Request)new_handle();
    if (!is_nobody && found.communicator == NULL)
        report("invalid parameter", "receives a message that no MPI_Mprobe or MPI_Improbe has matched");
    if (!is_nobody) {
        free_handle((intptr_t)*handle);
        begin_record(CALL_MRECV + (request != NULL), &call, 0);
        at = put(at, found.number);
        at = put(at, message.same);
        if (request != NULL)
            add_request(*request, REQUEST_RECV, found.communicator);
        end_record(1);
    } else if (request != NULL) {
        add_nothing(*request);
    }
    *handle = MPI_MESSAGE_NULL;
    if (request != NULL)
        keep(*request, &(struct collective){.name = name, .received = message});
    else
        take_received(&message, is_nobody, status);
    return MPI_SUCCESS;
}

static int emulate_probe(int code, const char *name, int from, int tag, MPI_Comm comm, int *flag, MPI_Message *message,
                         MPI_Status *status)
{
    int is_found = 1;
    CHECK(check_peer(name, comm, from, tag, 1));
    if (from == MPI_PROC_NULL) {
        set_nobody(status);
    } else {
        const struct communicator *communicator = find_communicator(comm);
        begin_record(code, &call, 0);
        at = put_receive(at, communicator, from, tag, 0);
        end_record(1);
        is_found = code == RECORD_PROBE || word() != 0;
        int source = (int)word(), its_tag = (int)word();
        uint64_t bytes = word();
        if (is_found)
            set_status(status, source, its_tag, bytes, 0);
        if (is_found && message != NULL) {
            *message = (MPI_Message)new_handle();
            add_matched(*message, communicator, status);
            matched[matched_count - 1].number = word();
        }
    }
    if (message != NULL && from == MPI_PROC_NULL)
        *message = MPI_MESSAGE_NO_PROC;
    if (flag != NULL)
        *flag = is_found;
    return MPI_SUCCESS;
}

struct partitions {
    int tag, count, left; /* left are those that are not ready; -1 of a receive */
    int has_arrived; /* and what came of it, before the program waits for it */
    MPI_Status status;
    unsigned char is_ready[];
};

static int has_open_partitions(const struct request *request)
{
    return request->partitions != NULL && request->partitions->left > 0;
}

static int has_arrived(const struct request *request)
{
    return request->partitions != NULL && request->partitions->has_arrived;
}

/* Begins to wait for the partitions of a send. Returns whether there are any. */
static int open_partitions(struct request *request)
{
    struct partitions *partitions = request->partitions;
    if (partitions == NULL || partitions->left < 0)
        return 0;
    partitions->left = partitions->count;
    memset(partitions->is_ready, 0, (size_t)partitions->count);
    request->is_active = 1;
    return 1;
}

/* What has to be done that a request completes: nothing if it is none or not active, nothing by the command if it is of nobody, of a
 * file or the program's own, which it may have to complete. */
enum state { STATE_IDLE, STATE_OWN, STATE_OPEN, STATE_POSTED };

static enum state state_of(MPI_Request handle)
{
    if (handle == MPI_REQUEST_NULL)
        return STATE_IDLE;
    struct request **link = find_request(handle);
    if (link == NULL)
        report("request lifecycle", "names a request that no call has made, or that is complete; after that it is MPI_REQUEST_NULL");
    const struct request *request = *link;
    if (!request->is_active)
        return STATE_IDLE;
    if (request->kind == REQUEST_GENERALIZED)
        return request->generalized->is_complete ? STATE_OWN : STATE_OPEN;
    if (has_open_partitions(request))
        return STATE_OPEN;
    if (has_arrived(request))
        return STATE_OWN;
    return request->kind == REQUEST_NOTHING || request->kind == REQUEST_ACCESS ? STATE_OWN : STATE_POSTED;
}

/* Returns how many requests are in a state. */
static int number_in(enum state state, int count, const MPI_Request *requests)
{
    int number = 0;
    for (int i = 0; i < count; i++)
        number += state_of(requests[i]) == state;
    return number;
}

/* Says what came of a request that the command does not know. */
static int set_own(MPI_Request handle, MPI_Status *status)
{
    const struct request *request = *find_request(handle);
    if (request->kind == REQUEST_GENERALIZED)
        return query(request, status);
    if (!has_arrived(request))
        set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, request->bytes, 0);
    else if (status != MPI_STATUS_IGNORE)
        *status = request->partitions->status;
    return MPI_SUCCESS;
}

static void end_request(MPI_Request *handle)
{
    struct request *request = *find_request(*handle);
    end_watch(request);
    if (request->is_persistent)
        request->is_active = 0;
    else
        drop(handle);
}

/* The same of one that the command does not know. */
static int end_own(const char *name, MPI_Request *handle, MPI_Status *status)
{
    int error = set_own(*handle, status);
    if ((*find_request(*handle))->kind == REQUEST_GENERALIZED) {
        int freed = free_generalized(handle);
        return error != MPI_SUCCESS ? error : freed;
    }
    if (has_arrived(*find_request(*handle)))
        (*find_request(*handle))->partitions->has_arrived = 0;
    else
        look_for_writes(name, *find_request(*handle));
    end_request(handle);
    return error;
}

/* Returns the function that asks with this code. */
static const char *wait_name(int code)
{
    static const char *const names[] = {
        [RECORD_WAIT] = "MPI_Wait",         [RECORD_TEST] = "MPI_Test",
        [RECORD_WAITALL] = "MPI_Waitall",   [RECORD_TESTALL] = "MPI_Testall",
        [RECORD_WAITANY] = "MPI_Waitany",   [RECORD_TESTANY] = "MPI_Testany",
        [RECORD_WAITSOME] = "MPI_Waitsome", [RECORD_TESTSOME] = "MPI_Testsome",
    };
    return names[code];
}

/* Asks the command for requests, and returns whether it found what was asked for. */
static int ask(int code, int count, const MPI_Request *requests)
{
    begin_record(code, &call, 5 * (size_t)count);
    at = put(at, (uint64_t)count);
    for (int i = 0; i < count; i++)
        at = put(at, state_of(requests[i]) == STATE_POSTED ? next_request - (*find_request(requests[i]))->number : 0);
    end_record(1);
    return word() != 0;
}

/* Takes the completions that the answer says, of requests from the `first` on. Their places go to `indices` if there are any. */
static int take_completions(const char *name, MPI_Request *given, int first, int *indices, MPI_Status *statuses)
{
    int number = (int)word();
    for (int i = 0; i < number; i++) {
        int index = first + (int)word(), kind = (int)word(), is_cancelled = (int)word();
        MPI_Status *status = status_at(statuses, indices ? i : index);
        const struct request *request = *find_request(given[index]);
        look_for_writes(name, request);
        if (kind == 1)
            take_message(&request->exchange->received, status, is_cancelled);
        else
            set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, is_cancelled);
        if (request->partitions != NULL && status != MPI_STATUS_IGNORE)
            status->MPI_TAG = request->partitions->tag;
        if (kind == 2)
            take_collective(request->exchange);
        end_request(&given[index]);
        if (indices != NULL)
            indices[i] = index;
    }
    return number;
}

static int emulate_all(int code, int count, MPI_Request *given, int *flag, MPI_Status *statuses)
{
    int is_done = 1;
    CHECK(check_requests(wait_name(code), count, given));
    if (flag == NULL)
        look_at_wait(wait_name(code), count, given);
    for (int i = 0; i < count; i++) {
        enum state state = state_of(given[i]);
        if (state == STATE_IDLE)
            set_empty(status_at(statuses, i));
        else if (state == STATE_OPEN && flag != NULL)
            is_done = 0;
        else if (state == STATE_POSTED && flag != NULL && count > MOST_AT_ONCE)
            is_done = is_done && ask(CALL_GET_STATUS, 1, &given[i]);
    }
    while (is_done && number_in(STATE_OPEN, count, given) > 0)
        yield_turn();
    for (int first = 0; first < count && is_done; first += MOST_AT_ONCE) {
        int next = count - first < MOST_AT_ONCE ? count - first : MOST_AT_ONCE;
        if (number_in(STATE_POSTED, next, given + first) == 0)
            continue;
        is_done = ask(code, next, given + first);
        if (is_done)
            take_completions(wait_name(code), given, first, NULL, statuses);
    }
    if (is_done && (code == RECORD_WAITALL || code == RECORD_TESTALL))
        clear_errors(count, statuses);
    int error = MPI_SUCCESS;
    for (int i = 0; i < count && is_done; i++)
        if (state_of(given[i]) == STATE_OWN)
            error = end_own(wait_name(code), &given[i], status_at(statuses, i)) ?: error;
    if (flag != NULL)
        *flag = is_done;
    return error;
}

/* Completes those that the command does not know, up to `most`, and returns how many that are. */
static int complete_own(const char *name, int most, int count, MPI_Request *given, int *indices, MPI_Status *statuses)
{
    int number = 0;
    for (int i = 0; i < count && number < most; i++)
        if (state_of(given[i]) == STATE_OWN) {
            end_own(name, &given[i], status_at(statuses, number));
            indices[number++] = i;
        }
    return number;
}

static int emulate_any(int code, int count, MPI_Request *given, int *index, int *flag, MPI_Status *status)
{
    int is_done = 1;
    CHECK(check_requests(wait_name(code), count, given));
    *index = MPI_UNDEFINED;
    while (flag == NULL && number_in(STATE_OPEN, count, given) > 0 &&
           number_in(STATE_OWN, count, given) + number_in(STATE_POSTED, count, given) == 0)
        yield_turn();
    if (complete_own(wait_name(code), 1, count, given, index, status) == 0) {
        if (number_in(STATE_POSTED, count, given) == 0 && number_in(STATE_OPEN, count, given) > 0)
            is_done = 0;
        else if (number_in(STATE_POSTED, count, given) == 0)
            set_empty(status);
        else if ((is_done = ask(code, count, given)))
            take_completions(wait_name(code), given, 0, index, status);
    }
    if (flag != NULL)
        *flag = is_done;
    return MPI_SUCCESS;
}

static int emulate_some(int code, int count, MPI_Request *given, int *done, int *indices, MPI_Status *statuses)
{
    CHECK(check_requests(wait_name(code), count, given));
    while (code == RECORD_WAITSOME && number_in(STATE_OPEN, count, given) > 0 &&
           number_in(STATE_OWN, count, given) + number_in(STATE_POSTED, count, given) == 0)
        yield_turn();
    int posted = number_in(STATE_POSTED, count, given), own = number_in(STATE_OWN, count, given);
    *done = posted + own + number_in(STATE_OPEN, count, given) == 0 ? MPI_UNDEFINED : complete_own(wait_name(code), count, count, given, indices, statuses);
    if (posted > 0 && ask(own > 0 ? RECORD_TESTSOME : code, count, given))
        *done += take_completions(wait_name(code), given, 0, indices + own,
                                  statuses == MPI_STATUSES_IGNORE ? statuses : statuses + own);
    clear_errors(*done == MPI_UNDEFINED ? 0 : *done, statuses);
    return MPI_SUCCESS;
}

static int emulate_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    enum state state = state_of(request);
    *flag = 1;
    if (state == STATE_OWN) {
        return set_own(request, status);
    } else if (state == STATE_OPEN) {
        *flag = 0;
    } else if (state == STATE_IDLE) {
        set_empty(status);
    } else if ((*flag = ask(CALL_GET_STATUS, 1, &request)) && (*find_request(request))->kind == REQUEST_RECV) {
        int source = (int)word(), tag = (int)word();
        set_status(status, source, tag, word(), 0);
    } else if (*flag) {
        set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, 0);
    }
    return MPI_SUCCESS;
}

/* Starts a persistent request, whose data are there. */
static void start_request(MPI_Request handle)
{
    struct request *request = *find_request(handle);
    watch(request);
    record_start(&call, handle);
    if (request->kind == REQUEST_NOTHING)
        return;
    give_all(&request->exchange->sent);
    end_record(0);
}

static int emulate_start(int count, MPI_Request *given)
{
    CHECK(check_requests("MPI_Start", count, given));
    for (int i = 0; i < count; i++) {
        if (given[i] == MPI_REQUEST_NULL || state_of(given[i]) != STATE_IDLE || !(*find_request(given[i]))->is_persistent)
            report("request lifecycle", "starts a request that is no persistent one, or has been started and is not complete");
        struct request *request = *find_request(given[i]);
        look_at_data("MPI_Start", &request->exchange->sent, &request->exchange->received);
        if (!open_partitions(request))
            start_request(given[i]);
    }
    return MPI_SUCCESS;
}

static int emulate_cancel(MPI_Request *handle)
{
    CHECK(check_requests("MPI_Cancel", 1, handle));
    if (state_of(*handle) == STATE_POSTED) {
        begin_record(CALL_CANCEL, &call, 0);
        at = put(at, next_request - (*find_request(*handle))->number);
        end_record(1);
    }
    struct request **link = find_request(*handle);
    if (link != NULL && (*link)->kind == REQUEST_GENERALIZED) {
        const struct generalized *generalized = (*link)->generalized;
        return CALL_BACK(generalized->cancel(generalized->extra, generalized->is_complete));
    }
    return MPI_SUCCESS;
}

/* Requests that were freed before they were complete, and of which the program gets something: it does when it is there. */
static MPI_Request *left;
static int left_count, left_slots;

static int has_result(const struct request *request)
{
    return request->exchange != NULL && request->exchange->received.n > 0;
}

static void leave_request(MPI_Request handle)
{
    if (left_count == left_slots) {
        left_slots = 2 * left_slots + 16;
        if ((left = realloc(left, (size_t)left_slots * sizeof *left)) == NULL)
            abort();
    }
    left[left_count++] = handle;
}

/* Takes what has come of them, or waits for it. */
static void take_left(int code)
{
    static int is_taking;
    int count = left_count;
    if (is_taking)
        return;
    is_taking = 1;
    for (int first = 0, next; first < count; first += next) {
        next = count - first < MOST_AT_ONCE ? count - first : MOST_AT_ONCE;
        if (ask(code, next, left + first))
            take_completions("MPI_Request_free", left, first, NULL, MPI_STATUSES_IGNORE);
    }
    left_count = 0;
    for (int i = 0; i < count; i++)
        if (left[i] != MPI_REQUEST_NULL)
            left[left_count++] = left[i];
    is_taking = 0;
}

/* Ends a call, after a look at what has come of requests that were freed. */
static void leave_call(void)
{
    if (left_count > 0)
        take_left(CALL_LEFT);
    leave();
}

static int emulate_request_free(MPI_Request *handle)
{
    CHECK(check_requests("MPI_Request_free", 1, handle));
    enum state state = state_of(*handle);
    struct request **link = find_request(*handle);
    if (link == NULL)
        report("invalid parameter", "calls MPI_Request_free with MPI_REQUEST_NULL, which is no request");
    if ((*link)->kind == REQUEST_GENERALIZED && state == STATE_OWN)
        return free_generalized(handle);
    if ((*link)->kind == REQUEST_GENERALIZED) {
        (*link)->generalized->is_left = 1;
        *handle = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    look_at_free(*link);
    end_watch(*link);
    if (state == STATE_POSTED && has_result(*link)) {
        (*link)->is_persistent = 0;
        leave_request(*handle);
        *handle = MPI_REQUEST_NULL;
        return MPI_SUCCESS;
    }
    if (state == STATE_POSTED) {
        begin_record(RECORD_FORGET, &call, 0);
        at = put(at, next_request - (*link)->number);
        end_record(0);
    }
    drop(handle);
    return MPI_SUCCESS;
}

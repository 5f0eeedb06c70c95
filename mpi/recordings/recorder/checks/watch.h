/* What is checked where the command asks for it: types of both ends of a message, buffers of requests, and what is left at the end. */

/* So much of a buffer is looked at. */
#define MOST_SUMMED 65536

static uint64_t sum_bytes(uint64_t sum, const unsigned char *from, size_t bytes)
{
    for (; bytes > 0; from += 8) {
        uint64_t next = 0;
        size_t part = bytes < 8 ? bytes : 8;
        memcpy(&next, from, part);
        sum = (sum ^ next) * 0x9E3779B97F4A7C15u;
        sum ^= sum >> 32;
        bytes -= part;
    }
    return sum;
}

/* Adds data of one part: all of them, or pieces that are as far from each other. */
static uint64_t sum_part(uint64_t sum, const struct counts *part, uint64_t most)
{
    if (is_plain(part->type)) {
        uint64_t pieces = most / 64 > 1 ? most / 64 : 2, step = (part->same - 1) / pieces;
        if (part->same <= most || part->same <= 128)
            return sum_bytes(sum, part->data, part->same);
        for (uint64_t i = 0; i < pieces; i++)
            sum = sum_bytes(sum, (const unsigned char *)part->data + i * step, step < 64 ? step : 64);
        return sum_bytes(sum, (const unsigned char *)part->data + part->same - 64, 64);
    }
    uint64_t each = type_bytes(part->type), elements = most / each > 0 ? most / each : 1, step = (part->count - 1) / elements + 1;
    uint64_t at_once = step == 1 ? part->count : 1;
    unsigned char *packed = room(at_once * each);
    for (uint64_t i = 0; i < part->count; i += step == 1 ? part->count : step) {
        pack(part, i, at_once, packed, 0);
        sum = sum_bytes(sum, packed, at_once * each);
    }
    free(packed);
    return sum;
}

/* Returns a number that is another one when the data are. */
static uint64_t sum_of(const struct counts *data)
{
    uint64_t sum = 1, before = 0, most = data->n > 0 ? MOST_SUMMED / (uint64_t)data->n : 0;
    for (int i = 0; i < data->n && data->data != MPI_IN_PLACE; i++) {
        struct counts part = part_behind(data, i, before);
        if (part.same > 0)
            sum = sum_part(sum, &part, most);
        before += part.count;
    }
    return sum;
}

/* Memory that an open request has. */
static struct range {
    const char *low, *high;
    const struct request *of;
    int receives;
} *ranges;
static size_t range_count, range_slots;

/* Finds where a part lies; what has holes is nowhere. */
static int find_range(const struct counts *part, const char **low, const char **high)
{
    MPI_Aint lower, extent, true_lower = 0, true_extent;
    if (part->same == 0 || part->data == MPI_IN_PLACE)
        return 0;
    if (!is_plain(part->type)) {
        uint64_t bytes = type_bytes(part->type);
        PMPI_Type_get_extent(part->type, &lower, &extent);
        PMPI_Type_get_true_extent(part->type, &true_lower, &true_extent);
        if ((uint64_t)true_extent != bytes || (part->count > 1 && (uint64_t)extent != bytes))
            return 0;
    }
    *low = (const char *)part->data + true_lower;
    *high = *low + part->same;
    return 1;
}

/* Calls what is behind for each part that has a range. */
#define EACH_RANGE(data, low, high, what)                                                                            \
    do {                                                                                                             \
        uint64_t before = 0;                                                                                         \
        const char *low, *high;                                                                                      \
        for (int i = 0; i < (data)->n; i++) {                                                                        \
            struct counts part = part_behind(data, i, before);                                                       \
            before += part.count;                                                                                    \
            if (find_range(&part, &low, &high))                                                                      \
                what;                                                                                                \
        }                                                                                                            \
    } while (0)

/* Returns a place as the command replaces it by the function and the line. */
static const char *place_text(void *place)
{
    static char text[32];
    snprintf(text, sizeof text, "{%u}", find_place(place));
    return text;
}

static void look_for_overlap(const char *name, const struct counts *data, int receives)
{
    if (range_count == 0)
        return;
    EACH_RANGE(data, low, high, {
        for (const struct range *other = ranges; other < ranges + range_count; other++)
            if (low < other->high && other->low < high && (receives || other->receives))
                report("local concurrency", "calls %s, which %s memory that %s%s still %s; complete that first", name,
                       receives ? "receives into" : "sends", other->of->exchange->name, place_text(other->of->place),
                       other->receives ? "receives into" : "sends");
    });
}

static void add_range(const char *low, const char *high, const struct request *of, int receives)
{
    if (range_count == range_slots) {
        range_slots = 2 * range_slots + 64;
        ranges = realloc(ranges, range_slots * sizeof *ranges);
        if (ranges == NULL)
            abort();
    }
    ranges[range_count++] = (struct range){low, high, of, receives};
}

/* Returns whether a part of the data lies in a range. */
static int is_within(const struct counts *data, const char *first, const char *end)
{
    EACH_RANGE(data, low, high, {
        if (low < end && first < high)
            return 1;
    });
    return 0;
}

/* Looks for parts that are sent and received at once. */
static void look_for_own_overlap(const char *name, const struct counts *sent, const struct counts *received, const char *instead)
{
    const char *first = (const char *)UINTPTR_MAX, *end = NULL;
    if (!is_checked() || received->n == 0)
        return;
    EACH_RANGE(sent, low, high, {
        first = low < first ? low : first;
        end = high > end ? high : end;
    });
    if (end == NULL || !is_within(received, first, end))
        return;
    EACH_RANGE(sent, low, high, {
        if (is_within(received, low, high))
            report("invalid parameter", "calls %s with a send buffer and a receive buffer that overlap; they have to be distinct, or %s",
                   name, instead);
    });
}

/* Returns whether a request has buffers that are not the program's until it ends. */
static int is_watched(const struct request *request)
{
    return is_checked() && request->exchange != NULL && request->kind != REQUEST_NOTHING;
}

/* Notes the buffers of a request that begins. */
static void watch(struct request *request)
{
    if (!is_watched(request))
        return;
    const struct collective *data = request->exchange;
    request->sums[0] = sum_of(&data->sent);
    request->sums[1] = sum_of(&data->received);
    EACH_RANGE(&data->sent, low, high, add_range(low, high, request, 0));
    EACH_RANGE(&data->received, low, high, add_range(low, high, request, 1));
}

static void end_watch(const struct request *request)
{
    for (size_t i = range_count; i-- > 0;)
        if (ranges[i].of == request)
            ranges[i] = ranges[--range_count];
}

/* Looks whether the buffers are as they were when the request began, before it gets its data. */
static void look_for_writes(const char *name, const struct request *request)
{
    if (!is_watched(request))
        return;
    const struct collective *data = request->exchange;
    for (int side = 0; side < 2 && !request->is_cancelled; side++)
        if (sum_of(side ? &data->received : &data->sent) != request->sums[side])
            report("local concurrency", "completes by %s what %s%s began, and has written to its %s buffer meanwhile; "
                   "the buffer is the program's again after %s", name, data->name, place_text(request->place),
                   side ? "receive" : "send", name);
}

static const char *name_of(const struct request *request)
{
    return request->exchange ? request->exchange->name : "MPI_Comm_idup";
}

/* Frees are right that come before something which tells that the message has come. */
static void look_at_free(const struct request *request)
{
    if (!is_checked() || !request->is_active || request->kind == REQUEST_NOTHING)
        return;
    if (request->is_persistent || strstr(name_of(request), "send") == NULL || request->exchange->received.n > 0)
        report("request lifecycle", "frees the request of %s%s, which is not complete; wait for it before", name_of(request),
               place_text(request->place));
    left_send.name = request->exchange->name;
    left_send.place = request->place;
}

/* A wait does not wait if nothing is started of what it is called for. */
static void look_at_wait(const char *name, int count, const MPI_Request *given)
{
    struct request *first = NULL;
    if (!is_checked())
        return;
    for (int i = 0; i < count; i++) {
        struct request **link = find_request(given[i]);
        if (link != NULL && (!(*link)->is_persistent || (*link)->is_active))
            return;
        first = first == NULL && link != NULL ? *link : first;
    }
    if (first == NULL || first->was_awaited_idle)
        return;
    first->was_awaited_idle = 1;
    note("request lifecycle", "calls %s for the request of %s%s, which is not started, so that it does not wait", name, name_of(first),
         place_text(first->place));
}

/* Looks for requests that the program has left, active ones or others. */
static void look_for_requests(int is_active)
{
    for (size_t i = 0; i < request_slots; i++)
        for (const struct request *request = requests[i]; request != NULL; request = request->next) {
            if (request->is_active != is_active)
                continue;
            call.place = request->place;
            if (is_active)
                report("request lifecycle", "calls %s%s and never completes its request; wait for it before MPI_Finalize",
                       name_of(request), place_text(request->place));
            note("resource leak", "makes a request by %s%s and never frees it; call MPI_Request_free before MPI_Finalize",
                 name_of(request), place_text(request->place));
        }
}

/* Returns the first object that is left. */
static struct object *find_left(void)
{
    struct object *first = NULL;
    for (size_t i = 0; i < OBJECT_SLOTS; i++)
        for (struct object *object = objects[i]; object != NULL; object = object->next)
            if (object->references > 0 && object->name != NULL &&
                (first == NULL || object->kind < first->kind || (object->kind == first->kind && object->number < first->number)))
                first = object;
    return first;
}

/* Looks for what the program has left: of all that one line makes it says so once. */
static void look_for_leaks(void)
{
    if (!is_checked())
        return;
    look_for_requests(1);
    if (left_send.name != NULL) {
        call.place = left_send.place;
        report("request lifecycle", "calls %s%s and frees its request, and nothing before MPI_Finalize tells that it is complete; "
               "wait for it", left_send.name, place_text(left_send.place));
    }
    for (struct object *first; (first = find_left()) != NULL;) {
        call.place = first->place;
        note("resource leak", "makes %s by %s%s and never frees it; call %s before MPI_Finalize", object_names[first->kind], first->name,
             place_text(first->place), free_names[first->kind]);
        for (size_t i = 0; i < OBJECT_SLOTS; i++)
            for (struct object *object = objects[i]; object != NULL; object = object->next)
                if (object != first && object->kind == first->kind && object->place == first->place)
                    object->references = 0;
        first->references = 0;
    }
    look_for_requests(0);
}

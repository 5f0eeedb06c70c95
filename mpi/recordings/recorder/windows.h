/* One-sided calls: how much goes to which rank's memory and comes from there. An emulated rank moves its data itself, at the call; below
 * each of its windows is one of this rank alone in the real MPI. Each window has a communicator of its own for what its ranks tell
 * each other. */

#include <sys/prctl.h>
#include <sys/uio.h>

/* No more pieces of memory are named at once. */
#define MOST_PIECES 512

/* The window of one rank. */
struct part {
    uint64_t base, unit, size;
    int64_t process, file; /* of memory that ranks share: its file, in this process */
};

/* Ranks in the window's communicator. */
struct ranks {
    int count, *ranks;
};

struct window {
    struct window *next;
    MPI_Win handle;
    MPI_Comm comm;
    /* Of an emulated program: */
    struct part *parts;
    int flavor, unit;
    MPI_Aint size;
    void *shared; /* memory that ranks share, and how much of it there is */
    size_t shared_bytes;
    struct ranks exposed_to, accessed;
};
static struct window *windows;

enum { WORD_POSTED, WORD_COMPLETE };
#define ALL_RANKS INT32_MIN

static struct window *look_for_window(MPI_Win handle)
{
    struct window *window = windows;
    while (window != NULL && window->handle != handle)
        window = window->next;
    return window;
}

static struct window *find_window(const char *name, MPI_Win handle)
{
    struct window *window = look_for_window(handle);
    if (window == NULL)
        report("invalid parameter", "calls %s with a window that no call has made, or that is freed", name);
    return window;
}

/* Makes a window of a recorded program known, whose ranks are all awake. */
static void record_window(MPI_Comm comm, MPI_Win made)
{
    struct window *window = calloc(1, sizeof *window);
    if (window == NULL)
        abort();
    PMPI_Comm_dup(comm, &window->comm);
    window->handle = made;
    window->next = windows;
    windows = window;
    call.end = now();
    record_new(&call, "MPI_Win_create", comm, window->comm, 0);
}

/* Maps the memory that all ranks share, of which each has its part behind that of the rank before. The first one has made the file. */
static void map_shared(struct window *window, int size)
{
    char path[64];
    struct part *parts = window->parts;
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)parts[0].process, (long long)parts[0].file);
    int shared = open(path, O_RDWR | O_CLOEXEC);
    for (int i = 0; i < size; i++)
        window->shared_bytes += parts[i].size;
    window->shared_bytes += window->shared_bytes == 0;
    if (shared < 0 || posix_fallocate(shared, 0, (off_t)window->shared_bytes) != 0 ||
        (window->shared = mmap(NULL, window->shared_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0)) == MAP_FAILED)
        refuse("makes a window of %zu bytes that its ranks share, for which there is no room: %s", window->shared_bytes, strerror(errno));
    close(shared);
    for (uint64_t i = 0, before = 0; i < (uint64_t)size; i++) {
        parts[i].base = parts[i].size > 0 ? (uintptr_t)window->shared + before : 0;
        parts[i].process = process;
        before += parts[i].size;
    }
}

/* Makes a window known that is one of this rank alone so far. Where the MPI makes none there, it is another one, of which the program
 * sees only the handle. */
static int emulate_window(const char *name, int error, MPI_Comm comm, int flavor, MPI_Aint size, uint64_t unit, void *base, MPI_Win *made)
{
    struct communicator *parent = find_communicator(comm);
    struct window *window = calloc(1, sizeof *window);
    int is_shared = flavor == MPI_WIN_FLAVOR_SHARED;
    struct part own = {.base = (uintptr_t)base, .unit = unit, .size = (uint64_t)size, .process = process, .file = -1};
    void *none;
    if (window == NULL)
        abort();
    if (is_shared && parent->rank == 0)
        own.file = memfd_create("loggp window", MFD_CLOEXEC);
    uint64_t number = parent->children++;
    struct parts parts = gather_parts(parent, NULL, 0, &own, sizeof own);
    int *members = members_of(parent), *places = places_of_parts(parent, members, parent->size);
    window->parts = room((size_t)parent->size * sizeof own);
    for (int i = 0; i < parent->size; i++)
        memcpy(&window->parts[i], parts.data[places[i]], sizeof own);
    free_parts(&parts);
    free(members);
    free(places);
    if (is_shared) {
        map_shared(window, parent->size);
        base = (void *)(uintptr_t)window->parts[parent->rank].base;
        error = PMPI_Win_create(base, size, (int)unit, MPI_INFO_NULL, blank_communicator(), made);
    }
    if (error != MPI_SUCCESS && PMPI_Win_allocate(0, 1, MPI_INFO_NULL, blank_communicator(), &none, made) != MPI_SUCCESS)
        refuse("calls %s, for which its MPI makes no window", name);
    window->comm = make_like(parent, number)->handle;
    window->handle = *made;
    window->flavor = flavor;
    window->size = size;
    window->unit = (int)unit;
    window->next = windows;
    windows = window;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    return MPI_SUCCESS;
}

static int rank_in_world(const struct window *window, int rank)
{
    const struct communicator *with = find_communicator(window->comm);
    if (rank < 0 || rank >= with->size)
        report("invalid parameter", "names rank %d of a window of %d ranks; they are 0 to %d", rank, with->size, with->size - 1);
    return with->members ? with->members[rank] : rank;
}

/* Waits until all is there that was put, or come that was asked for, of one rank or of all. */
static void flush(const struct window *window, int rank, int is_local)
{
    int to = rank == ALL_RANKS ? -1 : rank_in_world(window, rank);
    if (to == own_rank)
        return;
    begin_record(CALL_FLUSH, &call, 0);
    at = put(at, (uint64_t)(to + 1));
    *at++ = (unsigned char)is_local;
    end_record(1);
}

/* Waits until all earlier calls of all ranks have been made. */
static void await_order(void)
{
    begin_record(CALL_IN_ORDER, &call, 0);
    end_record(1);
}

/* Waits until all of a window is there, and all ranks are. */
static void fence(const struct window *window)
{
    begin_record(CALL_FENCE, &call, 0);
    at = put(at, find_communicator(window->comm)->number);
    end_record(1);
}

static void forget_window(struct window *window)
{
    struct window **link = &windows;
    free_communicator(window->comm);
    PMPI_Comm_free(&window->comm);
    if (window->shared != NULL)
        munmap(window->shared, window->shared_bytes);
    while (*link != window)
        link = &(*link)->next;
    *link = window->next;
    free(window->parts);
    free(window);
}

/* Waits until all ranks of a window have called. */
static void await_all(const struct window *window)
{
    struct parts parts = gather_parts(find_communicator(window->comm), NULL, 0, NULL, 0);
    free_parts(&parts);
}

/* A library may let all ranks of the window wait for each other in it. */
static int emulate_win_set_info(MPI_Win handle, MPI_Info info)
{
    await_all(find_window("MPI_Win_set_info", handle));
    return PMPI_Win_set_info(handle, info);
}

static int emulate_win_free(MPI_Win *handle)
{
    struct window *window = find_window("MPI_Win_free", *handle);
    flush(window, ALL_RANKS, 0);
    await_all(window);
    if (window->parts[find_communicator(window->comm)->rank].file >= 0)
        close((int)window->parts[find_communicator(window->comm)->rank].file);
    int error = PMPI_Win_free(handle);
    forget_window(window);
    return error;
}

/* Moves bytes between pieces of this process and of another one. */
static void move(const struct part *part, const struct iovec *own, const struct iovec *other, size_t count, int is_write)
{
    for (size_t i = 0; i < count; i += MOST_PIECES) {
        size_t n = count - i < MOST_PIECES ? count - i : MOST_PIECES, bytes = 0;
        for (size_t j = i; j < i + n; j++)
            bytes += own[j].iov_len;
        ssize_t moved = is_write ? process_vm_writev((pid_t)part->process, own + i, n, other + i, n, 0)
                                 : process_vm_readv((pid_t)part->process, own + i, n, other + i, n, 0);
        if (moved != (ssize_t)bytes)
            refuse("reaches for %zu bytes at %p of process %lld, and gets %zd: %s; they have to lie in the window", bytes,
                   other[i].iov_base, (long long)part->process, moved, moved < 0 ? strerror(errno) : "the rest is not there");
    }
}

/* Copies elements of another rank to `packed`, or from there. */
static void reach(const struct window *window, int rank, MPI_Aint place, uint64_t count, MPI_Datatype type, unsigned char *packed,
                  int is_write)
{
    const struct part *part = &window->parts[rank];
    char *base = (char *)(uintptr_t)(part->base + (uint64_t)place * part->unit);
    uint64_t bytes = count * type_bytes(type);
    MPI_Aint low, extent, true_low, true_extent;
    if (bytes == 0)
        return;
    if (is_plain(type)) {
        for (uint64_t i = 0, piece; i < bytes; i += piece) {
            piece = bytes - i < 1 << 30 ? bytes - i : 1 << 30;
            move(part, &(struct iovec){packed + i, piece}, &(struct iovec){base + i, piece}, 1, is_write);
        }
        return;
    }
    PMPI_Type_get_extent(type, &low, &extent);
    PMPI_Type_get_true_extent(type, &true_low, &true_extent);
    MPI_Aint first = extent < 0 ? (MPI_Aint)(count - 1) * extent : 0;
    size_t span = (size_t)((MPI_Aint)(count - 1) * (extent < 0 ? -extent : extent) + true_extent), n = 0;
    char *copy = calloc(1, span), *mask = calloc(1, span);
    unsigned char *ones = memset(room(bytes), 1, bytes);
    struct iovec *own = room((span / 2 + 1) * sizeof *own), *other = room((span / 2 + 1) * sizeof *other);
    if (copy == NULL || mask == NULL)
        abort();
    struct counts at_copy = message_of(copy - true_low - first, count, type), at_mask = message_of(mask - true_low - first, count, type);
    pack(&at_mask, 0, count, ones, 1);
    for (size_t i = 0; i < span; i++)
        if (mask[i] && (i == 0 || !mask[i - 1])) {
            own[n] = (struct iovec){copy + i, 1};
            other[n++] = (struct iovec){base + true_low + first + i, 1};
        } else if (mask[i]) {
            other[n - 1].iov_len = ++own[n - 1].iov_len;
        }
    if (is_write)
        pack(&at_copy, 0, count, packed, 1);
    move(part, own, other, n, is_write);
    if (!is_write)
        pack(&at_copy, 0, count, packed, 0);
    free(copy);
    free(mask);
    free(ones);
    free(own);
    free(other);
}

/* Packs data or unpacks them. */
static void repack(const struct counts *data, unsigned char *packed, int is_unpacked)
{
    if (data->same == 0)
        return;
    if (!is_plain(data->type))
        pack(data, 0, data->count, packed, is_unpacked);
    else if (is_unpacked)
        memcpy(data->data, packed, data->same);
    else
        memcpy(packed, data->data, data->same);
}

/* Returns the type of which all parts of a type are. */
static MPI_Datatype base_type(MPI_Datatype type)
{
    while (!is_named(type)) {
        int integers, addresses, count, combiner;
        PMPI_Type_get_envelope(type, &integers, &addresses, &count, &combiner);
        int *numbers = room(sizeof(int) * (size_t)integers);
        MPI_Aint *places = room(sizeof *places * (size_t)addresses);
        MPI_Datatype *types = room(sizeof *types * (size_t)count), inner = MPI_BYTE;
        if (count > 0 && PMPI_Type_get_contents(type, integers, addresses, count, numbers, places, types) == MPI_SUCCESS)
            inner = types[0];
        free(numbers);
        free(places);
        free(types);
        type = inner;
    }
    return type;
}

/* Combines packed elements with those of a memory, where they go in place of these. */
static void combine_packed(unsigned char *from, unsigned char *into, uint64_t bytes, MPI_Datatype type, MPI_Op op)
{
    MPI_Datatype base = base_type(type);
    uint64_t count = bytes / type_bytes(base);
    MPI_Aint low, extent;
    if (is_plain(base)) {
        combine((char *)from, (char *)into, count, base, op);
        return;
    }
    PMPI_Type_get_extent(base, &low, &extent);
    struct counts own = message_of(calloc(count + 1, (size_t)extent), count, base), other = message_of(calloc(count + 1, (size_t)extent), count, base);
    pack(&own, 0, count, from, 1);
    pack(&other, 0, count, into, 1);
    combine(own.data, other.data, count, base, op);
    pack(&other, 0, count, into, 0);
    free(own.data);
    free(other.data);
}

/* What a call does to the memory of another rank. */
struct transfer {
    MPI_Win win;
    int rank;
    MPI_Aint place;
    uint64_t count;
    MPI_Datatype type;
    struct counts sent, received;
    MPI_Op op; /* MPI_OP_NULL: it puts or gets */
    const void *compared;
    MPI_Request *request;
};

static void record_transfer(const struct window *window, const struct transfer *transfer, int is_get)
{
    int to = rank_in_world(window, transfer->rank);
    uint64_t sent = transfer->sent.same * (transfer->compared ? 2 : 1);
    if (to == own_rank || (!is_get && transfer->request != NULL))
        if (transfer->request != NULL)
            add_nothing(*transfer->request);
    if (to == own_rank)
        return;
    begin_record(is_get ? CALL_GET + (transfer->request != NULL) : CALL_PUT, &call, 0);
    at = put(at, (uint64_t)to);
    at = put(at, sent);
    if (is_get) {
        at = put(at, transfer->received.same);
        if (transfer->request != NULL)
            add_request(*transfer->request, REQUEST_SEND, find_communicator(window->comm));
    }
    end_record(0);
}

static int transfer_data(const char *name, struct transfer transfer)
{
    int is_get = transfer.received.n > 0, is_atomic = transfer.op != MPI_OP_NULL || transfer.compared != NULL;
    const struct window *window = find_window(name, transfer.win);
    if (transfer.request != NULL && is_emulated)
        *transfer.request = (MPI_Request)new_handle();
    if (transfer.rank == MPI_PROC_NULL) {
        if (transfer.request != NULL)
            add_nothing(*transfer.request);
        return MPI_SUCCESS;
    }
    record_transfer(window, &transfer, is_get);
    if (!is_emulated)
        return MPI_SUCCESS;
    if (is_atomic)
        await_order();
    uint64_t bytes = transfer.count * type_bytes(transfer.type);
    unsigned char *before = room(bytes), *sent = room(transfer.sent.same + 1);
    if (transfer.op != MPI_NO_OP && transfer.sent.same != bytes && transfer.sent.n > 0)
        report("parameter matching", "calls %s with %llu bytes here and %llu there; they have to be as many", name,
               (unsigned long long)transfer.sent.same, (unsigned long long)bytes);
    repack(&transfer.sent, sent, 0);
    if (is_get || (is_atomic && transfer.op != MPI_REPLACE))
        reach(window, transfer.rank, transfer.place, transfer.count, transfer.type, before, 0);
    if (is_get)
        repack(&transfer.received, before, 1);
    if (is_atomic && transfer.op != MPI_REPLACE && transfer.op != MPI_NO_OP && transfer.compared == NULL) {
        combine_packed(sent, before, bytes, transfer.type, transfer.op);
        reach(window, transfer.rank, transfer.place, transfer.count, transfer.type, before, 1);
    } else if (transfer.op == MPI_REPLACE || (!is_get && !is_atomic) ||
               (transfer.compared != NULL && memcmp(before, transfer.compared, bytes) == 0)) {
        reach(window, transfer.rank, transfer.place, transfer.count, transfer.type, sent, 1);
    }
    free(before);
    free(sent);
    return MPI_SUCCESS;
}

/* Returns the ranks of a group in the window's communicator. */
static struct ranks ranks_of(const struct window *window, MPI_Group group)
{
    struct ranks ranks;
    MPI_Group all;
    PMPI_Group_size(group, &ranks.count);
    ranks.ranks = room((size_t)ranks.count * sizeof(int));
    int *own = room((size_t)ranks.count * sizeof *own);
    for (int i = 0; i < ranks.count; i++)
        own[i] = i;
    PMPI_Comm_group(window->comm, &all);
    PMPI_Group_translate_ranks(group, ranks.count, own, all, ranks.ranks);
    PMPI_Group_free(&all);
    free(own);
    return ranks;
}

static void tell(const char *name, const struct window *window, struct ranks to, int word)
{
    for (int i = 0; i < to.count; i++)
        if (is_emulated)
            emulate_send(SEND_STANDARD, name, message_of(NULL, 0, MPI_BYTE), to.ranks[i], word, window->comm, NULL, 0);
        else {
            record_send(&call, SEND_STANDARD, name, 0, to.ranks[i], word, window->comm, NULL, 0);
            end_record(0);
        }
}

static void hear(const char *name, const struct window *window, struct ranks from, int word)
{
    for (int i = 0; i < from.count; i++) {
        MPI_Status status = {.MPI_SOURCE = from.ranks[i], .MPI_TAG = word};
        if (is_emulated)
            emulate_receive(name, message_of(NULL, 0, MPI_BYTE), from.ranks[i], word, window->comm, MPI_STATUS_IGNORE, NULL, 0);
        else {
            record_receive(&call, name, 0, from.ranks[i], word, window->comm, &status, NULL, 0);
            end_record(0);
        }
    }
}

static void forget_ranks(struct ranks *ranks)
{
    free(ranks->ranks);
    *ranks = (struct ranks){0};
}

static int win_fence(MPI_Win win)
{
    fence(find_window("MPI_Win_fence", win));
    return MPI_SUCCESS;
}

static int win_post(MPI_Group group, MPI_Win win)
{
    struct window *window = find_window("MPI_Win_post", win);
    window->exposed_to = ranks_of(window, group);
    tell("MPI_Win_post", window, window->exposed_to, WORD_POSTED);
    return MPI_SUCCESS;
}

static int win_start(MPI_Group group, MPI_Win win)
{
    struct window *window = find_window("MPI_Win_start", win);
    window->accessed = ranks_of(window, group);
    hear("MPI_Win_start", window, window->accessed, WORD_POSTED);
    return MPI_SUCCESS;
}

static int win_complete(MPI_Win win)
{
    struct window *window = find_window("MPI_Win_complete", win);
    flush(window, ALL_RANKS, 0);
    tell("MPI_Win_complete", window, window->accessed, WORD_COMPLETE);
    forget_ranks(&window->accessed);
    return MPI_SUCCESS;
}

/* Ends the exposure of a window, unless a look finds that someone is not through. */
static int end_exposure(const char *name, MPI_Win win, int *flag)
{
    struct window *window = find_window(name, win);
    int is_over = is_emulated || flag == NULL || *flag;
    for (int i = 0; i < window->exposed_to.count && flag != NULL && is_over; i++) {
        MPI_Status status = {.MPI_SOURCE = window->exposed_to.ranks[i], .MPI_TAG = WORD_COMPLETE};
        if (is_emulated) {
            emulate_probe(RECORD_IPROBE, name, status.MPI_SOURCE, WORD_COMPLETE, window->comm, &is_over, NULL, &status);
        } else {
            record_probe(&call, RECORD_IPROBE, name, window->comm, &status, NULL);
            end_record(0);
        }
    }
    if (is_over) {
        hear(name, window, window->exposed_to, WORD_COMPLETE);
        forget_ranks(&window->exposed_to);
    } else if (!is_emulated) {
        add_look(&call);
    }
    if (flag != NULL)
        *flag = is_over;
    return MPI_SUCCESS;
}

/* Locks the window of a rank, or of all, or unlocks it. */
static int win_lock(int code, const char *name, int is_exclusive, int rank, MPI_Win win)
{
    const struct window *window = find_window(name, win);
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int to = rank == ALL_RANKS ? -1 : rank_in_world(window, rank);
    begin_record(code, &call, 0);
    at = put(at, find_communicator(window->comm)->number);
    at = put(at, (uint64_t)(to + 1));
    *at++ = (unsigned char)is_exclusive;
    end_record(1);
    return MPI_SUCCESS;
}

static int win_flush(const char *name, int rank, MPI_Win win, int is_local)
{
    const struct window *window = find_window(name, win);
    if (rank != MPI_PROC_NULL)
        flush(window, rank, is_local);
    return MPI_SUCCESS;
}

/* A program that waits for what others write must let them go on. */
static int win_sync(MPI_Win win)
{
    find_window("MPI_Win_sync", win);
    if (!is_emulated)
        return MPI_SUCCESS;
    begin_record(CALL_CLOCK, &call, 0);
    end_record(1);
    return MPI_SUCCESS;
}

/* A call on a window, which is `noted` after it was made, or while it is emulated. */
#define ONE_SIDED(name, parameters, arguments, noted)                                                                \
    CALL(name, parameters)                                                                                           \
    {                                                                                                                \
        BEGIN(REAL(name) arguments, noted);                                                                          \
        call = span;                                                                                                 \
        if (error == MPI_SUCCESS && look_for_window(win) == NULL)                                                    \
            count_unmodelled("MPI_" #name, span.end - span.begin);                                                   \
        else if (error == MPI_SUCCESS)                                                                               \
            noted;                                                                                                   \
        END;                                                                                                         \
    }

/* The end of a call that makes a window. */
#define END_MAKING_WINDOW                                                                                            \
    call = span;                                                                                                     \
    if (error == MPI_SUCCESS && find_communicator(comm) != NULL)                                                     \
        record_window(comm, *win);                                                                                   \
    END

/* A call that makes a window of a communicator, with the memory and the unit that it has then. */
#define MAKE_WINDOW(name, parameters, arguments, flavor, size, base, unit)                                           \
    CALL(name, parameters)                                                                                           \
    {                                                                                                                \
        BEGIN(REAL(name) arguments, check_making("MPI_" #name, comm) ?: ({                                           \
            MPI_Comm with = comm;                                                                                    \
            int made = MPI_SUCCESS;                                                                                  \
            if (flavor != MPI_WIN_FLAVOR_SHARED) {                                                                   \
                MPI_Comm comm = blank_communicator();                                                                \
                made = ASK(REAL(name) arguments);                                                                    \
            }                                                                                                        \
            emulate_window("MPI_" #name, made, with, flavor, size, unit, base, win);                                 \
        }));                                                                                                         \
        END_MAKING_WINDOW;                                                                                           \
    }

/* One whose ranks share memory: the program gets where its part is. */
#define MAKE_SHARED(name, DISP)                                                                                      \
    CALL(name, (MPI_Aint size, DISP unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win))                   \
    {                                                                                                                \
        BEGIN(REAL(name)(size, unit, info, comm, base, win), check_making("MPI_" #name, comm) ?: ({                  \
            int made = emulate_window("MPI_" #name, MPI_SUCCESS, comm, MPI_WIN_FLAVOR_SHARED, size, (uint64_t)unit, NULL, win); \
            *(void **)base = (void *)(uintptr_t)look_for_window(*win)->parts[find_communicator(comm)->rank].base;    \
            made;                                                                                                    \
        }));                                                                                                         \
        END_MAKING_WINDOW;                                                                                           \
    }

/* Where a rank's part of shared memory is; that of nobody is the first that there is. */
#define SHARED_QUERY(name, DISP)                                                                                     \
    CALL(name, (MPI_Win win, int rank, MPI_Aint *size, DISP *unit, void *base))                                      \
    {                                                                                                                \
        const struct window *window = is_answered ? look_for_window(win) : NULL;                                     \
        if (window == NULL || window->flavor != MPI_WIN_FLAVOR_SHARED)                                               \
            return REAL(name)(win, rank, size, unit, base);                                                          \
        int last = find_communicator(window->comm)->size - 1, found = rank == MPI_PROC_NULL ? 0 : rank;              \
        while (rank == MPI_PROC_NULL && found < last && window->parts[found].size == 0)                              \
            found++;                                                                                                 \
        if (found < 0 || found > last)                                                                               \
            return reject_at(PLACE, MPI_COMM_WORLD, MPI_ERR_RANK, "calls MPI_" #name " with rank %d of a window of %d ranks", rank, \
                             last + 1);                                                                              \
        *size = (MPI_Aint)window->parts[found].size;                                                                 \
        *unit = (DISP)window->parts[found].unit;                                                                     \
        *(void **)base = (void *)(uintptr_t)window->parts[found].base;                                               \
        return MPI_SUCCESS;                                                                                          \
    }

CALL(Win_get_group, (MPI_Win win, MPI_Group *group))
{
    const struct window *window = is_answered ? look_for_window(win) : NULL;
    if (window == NULL || group == NULL)
        return REAL(Win_get_group)(win, group);
    const struct communicator *with = find_communicator(window->comm);
    *group = make_group(members_of(with), with->size, "MPI_Win_get_group", PLACE);
    return MPI_SUCCESS;
}

CALL(Win_get_attr, (MPI_Win win, int key, void *value, int *flag))
{
    struct window *window = is_answered ? look_for_window(win) : NULL;
    if (window == NULL || (key != MPI_WIN_BASE && key != MPI_WIN_SIZE && key != MPI_WIN_DISP_UNIT && key != MPI_WIN_CREATE_FLAVOR))
        return REAL(Win_get_attr)(win, key, value, flag);
    *(void **)value = key == MPI_WIN_BASE        ? (void *)(uintptr_t)window->parts[find_communicator(window->comm)->rank].base
                      : key == MPI_WIN_SIZE      ? (void *)&window->size
                      : key == MPI_WIN_DISP_UNIT ? (void *)&window->unit
                                                 : (void *)&window->flavor;
    *flag = 1;
    return MPI_SUCCESS;
}

#define TRANSFER(...) (struct transfer){.win = win, .rank = rank, .place = place, __VA_ARGS__}
#define PLAIN .op = MPI_OP_NULL
#define THERE .count = (uint64_t)there, .type = type
#define SENDS .sent = message_of(data, (uint64_t)count, own)
#define TAKES(result, count, own) .received = message_of(result, (uint64_t)count, own)

#define TRANSFERS(suffix, COUNT, DISP)                                                                               \
    ONE_SIDED(Put##suffix, (const void *data, COUNT count, MPI_Datatype own, int rank, MPI_Aint place, COUNT there,  \
              MPI_Datatype type, MPI_Win win), (data, count, own, rank, place, there, type, win),                    \
              transfer_data("MPI_Put", TRANSFER(PLAIN, THERE, SENDS)))                                                   \
    ONE_SIDED(Rput##suffix, (const void *data, COUNT count, MPI_Datatype own, int rank, MPI_Aint place, COUNT there, \
              MPI_Datatype type, MPI_Win win, MPI_Request *request), (data, count, own, rank, place, there, type, win, request), \
              transfer_data("MPI_Rput", TRANSFER(PLAIN, THERE, SENDS, .request = request)))                              \
    ONE_SIDED(Get##suffix, (void *data, COUNT count, MPI_Datatype own, int rank, MPI_Aint place, COUNT there,        \
              MPI_Datatype type, MPI_Win win), (data, count, own, rank, place, there, type, win),                    \
              transfer_data("MPI_Get", TRANSFER(PLAIN, THERE, TAKES(data, count, own))))                                 \
    ONE_SIDED(Rget##suffix, (void *data, COUNT count, MPI_Datatype own, int rank, MPI_Aint place, COUNT there,       \
              MPI_Datatype type, MPI_Win win, MPI_Request *request), (data, count, own, rank, place, there, type, win, request), \
              transfer_data("MPI_Rget", TRANSFER(PLAIN, THERE, TAKES(data, count, own), .request = request)))            \
    ONE_SIDED(Accumulate##suffix, (const void *data, COUNT count, MPI_Datatype own, int rank, MPI_Aint place,        \
              COUNT there, MPI_Datatype type, MPI_Op with, MPI_Win win), (data, count, own, rank, place, there, type, with, win), \
              transfer_data("MPI_Accumulate", TRANSFER(THERE, SENDS, .op = with)))                                \
    ONE_SIDED(Raccumulate##suffix, (const void *data, COUNT count, MPI_Datatype own, int rank, MPI_Aint place,       \
              COUNT there, MPI_Datatype type, MPI_Op with, MPI_Win win, MPI_Request *request),                       \
              (data, count, own, rank, place, there, type, with, win, request),                                      \
              transfer_data("MPI_Raccumulate", TRANSFER(THERE, SENDS, .op = with, .request = request)))           \
    ONE_SIDED(Get_accumulate##suffix, (const void *data, COUNT count, MPI_Datatype own, void *result, COUNT results, \
              MPI_Datatype as, int rank, MPI_Aint place, COUNT there, MPI_Datatype type, MPI_Op with, MPI_Win win),  \
              (data, count, own, result, results, as, rank, place, there, type, with, win),                          \
              transfer_data("MPI_Get_accumulate", with == MPI_NO_OP                                               \
                                   ? TRANSFER(THERE, TAKES(result, results, as), .op = with)                         \
                                   : TRANSFER(THERE, SENDS, TAKES(result, results, as), .op = with)))                \
    ONE_SIDED(Rget_accumulate##suffix, (const void *data, COUNT count, MPI_Datatype own, void *result, COUNT results, \
              MPI_Datatype as, int rank, MPI_Aint place, COUNT there, MPI_Datatype type, MPI_Op with, MPI_Win win,   \
              MPI_Request *request),                                                                                 \
              (data, count, own, result, results, as, rank, place, there, type, with, win, request),                 \
              transfer_data("MPI_Rget_accumulate", with == MPI_NO_OP                                              \
                                   ? TRANSFER(THERE, TAKES(result, results, as), .op = with, .request = request)     \
                                   : TRANSFER(THERE, SENDS, TAKES(result, results, as), .op = with, .request = request))) \
    MAKE_WINDOW(Win_create##suffix, (void *base, MPI_Aint size, DISP unit, MPI_Info info, MPI_Comm comm, MPI_Win *win), \
                (base, size, unit, info, comm, win), MPI_WIN_FLAVOR_CREATE, size, base, (uint64_t)unit)              \
    MAKE_WINDOW(Win_allocate##suffix, (MPI_Aint size, DISP unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win), \
                (size, unit, info, comm, base, win), MPI_WIN_FLAVOR_ALLOCATE, size, *(void **)base, (uint64_t)unit)  \
    MAKE_SHARED(Win_allocate_shared##suffix, DISP)                                                                   \
    SHARED_QUERY(Win_shared_query##suffix, DISP)

TRANSFERS(, int, int)
#if defined(HAS_LARGE)
TRANSFERS(_c, MPI_Count, MPI_Aint)
#endif

ONE_SIDED(Fetch_and_op, (const void *data, void *result, MPI_Datatype type, int rank, MPI_Aint place, MPI_Op with, MPI_Win win),
          (data, result, type, rank, place, with, win),
          transfer_data("MPI_Fetch_and_op", with == MPI_NO_OP
                               ? TRANSFER(.count = 1, .type = type, TAKES(result, 1, type), .op = with)
                               : TRANSFER(.count = 1, .type = type, .sent = message_of(data, 1, type), TAKES(result, 1, type), .op = with)))
ONE_SIDED(Compare_and_swap, (const void *data, const void *compared, void *result, MPI_Datatype type, int rank, MPI_Aint place, MPI_Win win),
          (data, compared, result, type, rank, place, win),
          transfer_data("MPI_Compare_and_swap", TRANSFER(PLAIN, .count = 1, .type = type, .sent = message_of(data, 1, type),
                                                            TAKES(result, 1, type), .compared = compared)))
MAKE_WINDOW(Win_create_dynamic, (MPI_Info info, MPI_Comm comm, MPI_Win *win), (info, comm, win), MPI_WIN_FLAVOR_DYNAMIC, 0, NULL, 1)

CALL(Win_free, (MPI_Win * win))
{
    MPI_Win handle = *win;
    BEGIN(REAL(Win_free)(win), emulate_win_free(win));
    struct window *window = error == MPI_SUCCESS ? look_for_window(handle) : NULL;
    call = span;
    if (window != NULL) {
        fence(window);
        forget_window(window);
    }
    END;
}

CALL(Win_set_info, (MPI_Win win, MPI_Info info))
{
    EMULATED(emulate_win_set_info(win, info));
    return REAL(Win_set_info)(win, info);
}

ONE_SIDED(Win_fence, (int assert, MPI_Win win), (assert, win), win_fence(win))
ONE_SIDED(Win_post, (MPI_Group group, int assert, MPI_Win win), (group, assert, win), win_post(group, win))
ONE_SIDED(Win_start, (MPI_Group group, int assert, MPI_Win win), (group, assert, win), win_start(group, win))
ONE_SIDED(Win_complete, (MPI_Win win), (win), win_complete(win))
ONE_SIDED(Win_wait, (MPI_Win win), (win), end_exposure("MPI_Win_wait", win, NULL))
ONE_SIDED(Win_test, (MPI_Win win, int *flag), (win, flag), end_exposure("MPI_Win_test", win, flag))
ONE_SIDED(Win_lock, (int type, int rank, int assert, MPI_Win win), (type, rank, assert, win),
          win_lock(CALL_LOCK, "MPI_Win_lock", type == MPI_LOCK_EXCLUSIVE, rank, win))
ONE_SIDED(Win_lock_all, (int assert, MPI_Win win), (assert, win), win_lock(CALL_LOCK, "MPI_Win_lock_all", 0, ALL_RANKS, win))
ONE_SIDED(Win_unlock, (int rank, MPI_Win win), (rank, win), win_lock(CALL_UNLOCK, "MPI_Win_unlock", 0, rank, win))
ONE_SIDED(Win_unlock_all, (MPI_Win win), (win), win_lock(CALL_UNLOCK, "MPI_Win_unlock_all", 0, ALL_RANKS, win))
ONE_SIDED(Win_flush, (int rank, MPI_Win win), (rank, win), win_flush("MPI_Win_flush", rank, win, 0))
ONE_SIDED(Win_flush_all, (MPI_Win win), (win), win_flush("MPI_Win_flush_all", ALL_RANKS, win, 0))
ONE_SIDED(Win_flush_local, (int rank, MPI_Win win), (rank, win), win_flush("MPI_Win_flush_local", rank, win, 1))
ONE_SIDED(Win_flush_local_all, (MPI_Win win), (win), win_flush("MPI_Win_flush_local_all", ALL_RANKS, win, 1))
ONE_SIDED(Win_sync, (MPI_Win win), (win), win_sync(win))

/* One-sided calls: how much goes to which rank's memory and comes from there. An emulated rank moves its data itself, at the call; below
 * each of its windows is one of this rank alone in the real MPI. Each window has a communicator of its own for what its ranks tell
 * each other. */

#include <sys/prctl.h>
#include <sys/uio.h>

/* No more pieces of memory are named at once. */
#define MOST_PIECES 512

enum { WORD_POSTED, WORD_COMPLETE };
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
    own.shadow = make_shadow(flavor, size, base);
    void *none;
    if (window == NULL)
        abort();
    if (is_shared && parent->rank == 0)
        own.file = memfd_create("loggp window", MFD_CLOEXEC);
    uint64_t number = parent->children++;
    struct parts parts = gather_parts(parent, NULL, 0, &own, sizeof own);
    int *members = members_of(parent), *places = places_of_parts(parent, members, parent->size);
    window->parts = room((size_t)parent->size * sizeof own);
    window->held = memset(room((size_t)parent->size), HELD_NOT, (size_t)parent->size);
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
    note_made(OBJECT_WINDOW, (uintptr_t)*made, name, call.place);
    return MPI_SUCCESS;
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
    free(window->held);
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
    struct part *own = &window->parts[own_part(window)];
    look_for_open_epochs("MPI_Win_free", window);
    if (window->is_exposed)
        report("epoch lifecycle", "calls MPI_Win_free in an epoch of MPI_Win_post; call MPI_Win_wait before");
    end_accesses(window, "MPI_Win_free", ALL_RANKS);
    record_end_of_accesses(window, ALL_RANKS, BEGIN_FREE);
    flush(window, ALL_RANKS, 0);
    await_all(window);
    record_end_of_accesses(window, ALL_RANKS, END_WINDOW);
    free_shadow(own->shadow);
    if (own->file >= 0)
        close((int)own->file);
    note_freed(OBJECT_WINDOW, (uintptr_t)*handle);
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

/* Another rank's window is as it has to be before it is written to: else that rank stores meanwhile. */
static void look_for_remote_stores(const char *name, const struct window *window, int rank, const struct piece *pieces, size_t count)
{
    const struct part *part = &window->parts[rank];
    for (size_t i = 0; i < count && part->shadow != 0 && rank != own_part(window); i++) {
        struct piece piece = pieces[i];
        unsigned char *now = room(2 * piece.bytes), *before = now + piece.bytes, is_set_up;
        struct iovec own[] = {{now, piece.bytes}, {before, piece.bytes}, {&is_set_up, 1}};
        struct iovec other[] = {{(void *)(uintptr_t)(part->base + piece.from), piece.bytes},
                                {(void *)(uintptr_t)(part->shadow + piece.from), piece.bytes},
                                {(void *)(uintptr_t)(part->shadow - SHADOW_HEAD), 1}};
        move(part, own, other, 3, 0);
        if (is_set_up && memcmp(now, before, piece.bytes) != 0)
            report("global concurrency", "calls %s for bytes %llu to %llu of the window of rank %d, to which that rank stores meanwhile; "
                   "let them wait for each other", name, (unsigned long long)piece.from,
                   (unsigned long long)(piece.from + piece.bytes), rank);
        free(now);
    }
}

/* The shadow of a window gets what is put there. */
static void put_into_shadow(const struct part *part, const struct iovec *own, const struct iovec *other, size_t count)
{
    struct iovec there[MOST_PIECES];
    for (size_t i = 0; i < count && part->shadow != 0; i += MOST_PIECES) {
        size_t n = count - i < MOST_PIECES ? count - i : MOST_PIECES;
        for (size_t j = 0; j < n; j++)
            there[j] = (struct iovec){(char *)other[i + j].iov_base - part->base + part->shadow, other[i + j].iov_len};
        move(part, own + i, there, n, 1);
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
            if (is_write)
                put_into_shadow(part, &(struct iovec){packed + i, piece}, &(struct iovec){base + i, piece}, 1);
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
    if (is_write)
        put_into_shadow(part, own, other, n);
    else
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
    while (!is_predefined(type)) {
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

/* Finds which bytes of a window a call reaches for. Returns how many pieces there are. */
static size_t find_pieces(const char *name, const struct window *window, const struct transfer *transfer, struct piece *pieces, size_t most)
{
    const struct part *part = &window->parts[transfer->rank];
    MPI_Aint low, extent, true_low = 0, true_extent, last = (MPI_Aint)transfer->count - 1;
    uint64_t bytes = transfer->count * type_bytes(transfer->type);
    MPI_Aint first = transfer->place * (MPI_Aint)part->unit;
    if (bytes == 0)
        return 0;
    PMPI_Type_get_extent(transfer->type, &low, &extent);
    PMPI_Type_get_true_extent(transfer->type, &true_low, &true_extent);
    MPI_Aint begin = first + true_low + (extent < 0 ? last * extent : 0), end = first + true_low + true_extent + (extent > 0 ? last * extent : 0);
    if (begin < 0 || end > (MPI_Aint)part->size)
        report("invalid parameter", "calls %s for bytes %lld to %lld of the window of rank %d, which has %llu; they have to lie in it", name,
               (long long)begin, (long long)end, transfer->rank, (unsigned long long)part->size);
    if ((uint64_t)(end - begin) == bytes) {
        pieces[0] = (struct piece){(uint64_t)begin, bytes};
        return 1;
    }
    /* What the type covers, from the first byte on. */
    unsigned char *ones = memset(room(bytes), 1, bytes);
    char *mask = calloc(1, (size_t)(end - begin));
    size_t n = 0;
    if (mask == NULL)
        abort();
    struct counts at_mask = message_of(mask + (first - begin), transfer->count, transfer->type);
    pack(&at_mask, 0, transfer->count, ones, 1);
    for (MPI_Aint i = 0; i < end - begin && n <= most; i++)
        if (mask[i] && (i == 0 || !mask[i - 1])) {
            if (n++ < most)
                pieces[n - 1] = (struct piece){(uint64_t)(begin + i), 1};
        } else if (mask[i]) {
            pieces[n - 1].bytes++;
        }
    free(mask);
    free(ones);
    return n <= most ? n : 0;
}

/* Looks at what a call does to another rank's memory. */
static int check_transfer(const char *name, struct window *window, const struct transfer *transfer, int is_get, int is_atomic)
{
    const char *fault = transfer->count > 0 ? type_fault(transfer->type) : NULL;
    if (find_communicator(window->comm)->size <= transfer->rank || transfer->rank < 0)
        rank_in_world(window, transfer->rank);
    if ((int64_t)transfer->count < 0)
        return reject(MPI_COMM_WORLD, MPI_ERR_COUNT, "calls %s for %lld elements there; 0 is the least", name, (long long)transfer->count);
    if (fault != NULL)
        return reject(MPI_COMM_WORLD, MPI_ERR_TYPE, "calls %s with %s; it takes a predefined type, or one that is committed and not freed",
                      name, fault);
    CHECK(check_data(name, MPI_COMM_WORLD, &transfer->sent, 0) ?: check_data(name, MPI_COMM_WORLD, &transfer->received, 0));
    if (is_atomic && transfer->compared == NULL && transfer->op != MPI_NO_OP && transfer->op != MPI_REPLACE) {
        struct counts of_base = transfer->sent;
        of_base.type = base_type(transfer->type);
        CHECK(check_operation(name, MPI_COMM_WORLD, transfer->op, &of_base));
        if (operation_number(transfer->op) >= 100)
            return reject(MPI_COMM_WORLD, MPI_ERR_OP, "calls %s with an operation of the program; it takes predefined ones", name);
    }
    if (transfer->place < 0 && window->flavor != MPI_WIN_FLAVOR_DYNAMIC)
        return reject(MPI_COMM_WORLD, MPI_ERR_DISP, "calls %s with %lld as the displacement; 0 is the least", name,
                      (long long)transfer->place);
    if (!is_checked())
        return MPI_SUCCESS;
    look_at_data(name, &transfer->sent, &transfer->received);
    enum guard guard = find_epoch(name, window, transfer->rank);
    struct piece pieces[MOST_PIECES];
    size_t count = window->flavor == MPI_WIN_FLAVOR_DYNAMIC ? 0 : find_pieces(name, window, transfer, pieces, MOST_PIECES);
    if (count > 0) {
        record_access(window, name, transfer->rank, is_atomic ? ACCESS_ACCUMULATE : is_get ? ACCESS_GET : ACCESS_PUT, guard, pieces, count);
        if (is_atomic || !is_get)
            look_for_remote_stores(name, window, transfer->rank, pieces, count);
    }
    return MPI_SUCCESS;
}

static int transfer_data(const char *name, struct transfer transfer)
{
    int is_get = transfer.received.n > 0, is_atomic = transfer.op != MPI_OP_NULL || transfer.compared != NULL;
    struct window *window = find_window(name, transfer.win);
    if (is_emulated && transfer.rank != MPI_PROC_NULL)
        CHECK(check_transfer(name, window, &transfer, is_get, is_atomic));
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
    if (transfer.request == NULL)
        watch_access(window, name, transfer.rank, &transfer.sent, &transfer.received);
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
            emulate_send(is_checked() ? SEND_BUFFERED : SEND_STANDARD, name, message_of(NULL, 0, MPI_BYTE), to.ranks[i], word, window->comm, NULL, 0);
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

static int win_fence(int assert, MPI_Win win)
{
    struct window *window = find_window("MPI_Win_fence", win);
    if (is_emulated) {
        begin_fence(window, assert);
        end_accesses(window, "MPI_Win_fence", ALL_RANKS);
    }
    fence(window);
    if (is_emulated) {
        record_end_of_accesses(window, ALL_RANKS, END_FENCE);
        window->fences++;
        window->is_closed = (assert & MPI_MODE_NOSUCCEED) != 0;
        window->in_fence = window->beside_fence = 0;
    }
    return MPI_SUCCESS;
}

static int win_post(MPI_Group group, MPI_Win win)
{
    struct window *window = find_window("MPI_Win_post", win);
    if (is_checked() && window->is_exposed)
        report("epoch lifecycle", "calls MPI_Win_post in an epoch of MPI_Win_post; call MPI_Win_wait before");
    window->is_exposed = 1;
    window->exposed_to = ranks_of(window, group);
    tell("MPI_Win_post", window, window->exposed_to, WORD_POSTED);
    return MPI_SUCCESS;
}

static int win_start(MPI_Group group, MPI_Win win)
{
    struct window *window = find_window("MPI_Win_start", win);
    look_for_open_epochs("MPI_Win_start", window);
    window->is_started = 1;
    window->accessed = ranks_of(window, group);
    hear("MPI_Win_start", window, window->accessed, WORD_POSTED);
    return MPI_SUCCESS;
}

static int win_complete(MPI_Win win)
{
    struct window *window = find_window("MPI_Win_complete", win);
    if (is_checked() && !window->is_started)
        report("epoch lifecycle", "calls MPI_Win_complete and has not called MPI_Win_start");
    window->is_started = 0;
    if (is_emulated)
        end_accesses(window, "MPI_Win_complete", ALL_RANKS);
    flush(window, ALL_RANKS, 0);
    tell("MPI_Win_complete", window, window->accessed, WORD_COMPLETE);
    forget_ranks(&window->accessed);
    return MPI_SUCCESS;
}

/* Ends the exposure of a window, unless a look finds that someone is not through. */
static int end_exposure(const char *name, MPI_Win win, int *flag)
{
    struct window *window = find_window(name, win);
    if (is_checked() && !window->is_exposed)
        report("epoch lifecycle", "calls %s and has not called MPI_Win_post", name);
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
        window->is_exposed = 0;
        if (is_emulated)
            record_end_of_accesses(window, ALL_RANKS, END_EXPOSURE);
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
    struct window *window = find_window(name, win);
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    int to = rank == ALL_RANKS ? -1 : rank_in_world(window, rank);
    if (is_emulated && code == CALL_LOCK)
        note_lock(window, name, rank, is_exclusive ? HELD_EXCLUSIVE : HELD_SHARED);
    if (is_emulated && code == CALL_UNLOCK) {
        note_unlock(window, name, rank);
        end_accesses(window, name, rank);
    }
    begin_record(code, &call, 0);
    at = put(at, find_communicator(window->comm)->number);
    at = put(at, (uint64_t)(to + 1));
    *at++ = (unsigned char)is_exclusive;
    end_record(1);
    if (is_emulated && code == CALL_UNLOCK)
        record_end_of_accesses(window, rank, END_CALLS);
    return MPI_SUCCESS;
}

static int win_flush(const char *name, int rank, MPI_Win win, int is_local)
{
    struct window *window = find_window(name, win);
    if (rank == MPI_PROC_NULL)
        return MPI_SUCCESS;
    if (is_emulated) {
        look_for_lock(window, name, rank);
        end_accesses(window, name, rank);
    }
    flush(window, rank, is_local);
    if (is_emulated && !is_local)
        record_end_of_accesses(window, rank, END_CALLS);
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
        return error;                                                                                                \
    }

/* The end of a call that makes a window. */
#define END_MAKING_WINDOW                                                                                            \
    call = span;                                                                                                     \
    if (error == MPI_SUCCESS && find_communicator(comm) != NULL)                                                     \
        record_window(comm, *win);                                                                                   \
    return error

/* A call that makes a window of a communicator, with the memory and the unit that it has then. */
#define MAKE_WINDOW(name, parameters, arguments, flavor, size, base, unit)                                           \
    CALL(name, parameters)                                                                                           \
    {                                                                                                                \
        BEGIN(REAL(name) arguments, check_making("MPI_" #name, comm) ?:                                              \
              check_window("MPI_" #name, comm, flavor, size, unit, base) ?: ({                                       \
            MPI_Comm with = comm;                                                                                    \
            int made = MPI_SUCCESS;                                                                                  \
            if (flavor != MPI_WIN_FLAVOR_SHARED) {                                                                   \
                MPI_Comm comm = blank_communicator();                                                                \
                made = ASK(REAL(name) arguments);                                                                    \
            }                                                                                                        \
            emulate_window("MPI_" #name, made, with, flavor, size, (uint64_t)unit, base, win);                                 \
        }));                                                                                                         \
        END_MAKING_WINDOW;                                                                                           \
    }

/* One whose ranks share memory: the program gets where its part is. */
#define MAKE_SHARED(name, DISP)                                                                                      \
    CALL(name, (MPI_Aint size, DISP unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win))                   \
    {                                                                                                                \
        BEGIN(REAL(name)(size, unit, info, comm, base, win), check_making("MPI_" #name, comm) ?:                     \
              check_window("MPI_" #name, comm, MPI_WIN_FLAVOR_SHARED, size, unit, NULL) ?: ({                        \
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
                (base, size, unit, info, comm, win), MPI_WIN_FLAVOR_CREATE, size, base, unit)              \
    MAKE_WINDOW(Win_allocate##suffix, (MPI_Aint size, DISP unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win), \
                (size, unit, info, comm, base, win), MPI_WIN_FLAVOR_ALLOCATE, size, *(void **)base, unit)  \
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
    return error;
}

CALL(Win_set_info, (MPI_Win win, MPI_Info info))
{
    EMULATED(emulate_win_set_info(win, info));
    return REAL(Win_set_info)(win, info);
}

ONE_SIDED(Win_fence, (int assert, MPI_Win win), (assert, win), win_fence(assert, win))
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

/* What ranks do with each other's memory, and with their own while others may. Where the command asks for checks it hears which
 * bytes of a window each call reaches, and finds those that nothing orders; what one rank can see is looked for here. */

/* The window of one rank. */
struct part {
    uint64_t base, unit, size;
    int64_t process, file; /* of memory that ranks share: its file, in this process */
    uint64_t shadow; /* where the rank keeps what its memory has to be if the program does not store into it; 0 if nowhere */
};

/* Ranks in the window's communicator. */
struct ranks {
    int count, *ranks;
};

/* A one-sided call whose buffers are not the program's again yet. */
struct open_access {
    struct open_access *next;
    int rank;
    struct request as;
    struct collective exchange;
};

enum held { HELD_NOT, HELD_SHARED, HELD_EXCLUSIVE };

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
    /* Of a checked one: */
    int is_started, is_exposed;
    int fences, is_closed;          /* how many there were, and whether the last one has MPI_MODE_NOSUCCEED */
    int in_fence, beside_fence;     /* calls since the last fence: of its epoch, and of others */
    unsigned char *held, all_held;  /* the lock of each rank's window */
    struct open_access *open;
    int open_count;
};
static struct window *windows;

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

static int rank_in_world(const struct window *window, int rank)
{
    const struct communicator *with = find_communicator(window->comm);
    if (rank < 0 || rank >= with->size)
        report("invalid parameter", "names rank %d of a window of %d ranks; they are 0 to %d", rank, with->size, with->size - 1);
    return with->members ? with->members[rank] : rank;
}

static int own_part(const struct window *window)
{
    return find_communicator(window->comm)->rank;
}

static int check_window(const char *name, MPI_Comm comm, int flavor, MPI_Aint size, int64_t unit, const void *base)
{
    if (size < 0)
        return reject(comm, MPI_ERR_SIZE, "calls %s for a window of %lld bytes; 0 is the least", name, (long long)size);
    if (unit <= 0)
        return reject(comm, MPI_ERR_DISP, "calls %s with %lld as the unit of displacements; 1 is the least", name, (long long)unit);
    if (flavor == MPI_WIN_FLAVOR_CREATE && base == NULL && size > 0)
        return reject(comm, MPI_ERR_BASE, "calls %s with NULL as the memory of %lld bytes; it has to have room for all of them", name,
                      (long long)size);
    return MPI_SUCCESS;
}

/* Windows of more bytes are not looked at for what the program stores. */
#define MOST_SHADOWED 65536

/* Before the bytes of a shadow stands whether the rank has made a call since it has the window: what it stores before sets its memory
 * up. */
#define SHADOW_HEAD 8

static uint64_t make_shadow(int flavor, MPI_Aint size, const void *base)
{
    if (!is_checked() || size == 0 || size > MOST_SHADOWED ||
        (flavor != MPI_WIN_FLAVOR_CREATE && flavor != MPI_WIN_FLAVOR_ALLOCATE))
        return 0;
    unsigned char *shadow = memset(room(SHADOW_HEAD + (size_t)size), 0, SHADOW_HEAD);
    return (uintptr_t)memcpy(shadow + SHADOW_HEAD, base, (size_t)size);
}

static void free_shadow(uint64_t shadow)
{
    if (shadow != 0)
        free((char *)(uintptr_t)shadow - SHADOW_HEAD);
}

/* What the command knows by these numbers. */
enum access { ACCESS_GET, ACCESS_PUT, ACCESS_ACCUMULATE, ACCESS_LOAD, ACCESS_STORE };
enum guard { GUARD_FENCE, GUARD_SHARED, GUARD_EXCLUSIVE, GUARD_START, GUARD_NONE };
enum end { END_CALLS, END_FENCE, END_EXPOSURE, END_WINDOW, BEGIN_FREE };

/* Bytes of a rank's window. */
struct piece {
    uint64_t from, bytes;
};

/* Tells the command of an access to the window of a rank. */
static void record_access(const struct window *window, const char *name, int rank, enum access what, enum guard guard,
                          const struct piece *pieces, size_t count)
{
    begin_record(CALL_ACCESS, &call, 128 + 20 * count);
    at = put(at, find_communicator(window->comm)->number);
    at = put(at, (uint64_t)rank_in_world(window, rank));
    *at++ = (unsigned char)what;
    *at++ = (unsigned char)guard;
    at = put(at, (uint64_t)window->fences);
    at = put_text(at, name, 64);
    at = put(at, count);
    for (size_t i = 0; i < count; i++)
        at = put(put(at, pieces[i].from), pieces[i].bytes);
    end_record(0);
}

/* Tells the command which accesses of this rank's are over. */
static void record_end_of_accesses(const struct window *window, int rank, enum end how)
{
    if (!is_checked())
        return;
    begin_record(CALL_ACCESS_END, &call, 0);
    at = put(at, find_communicator(window->comm)->number);
    at = put(at, rank == ALL_RANKS ? 0 : (uint64_t)rank_in_world(window, rank) + 1);
    *at++ = (unsigned char)how;
    at = put(at, (uint64_t)window->fences);
    end_record(0);
}

/* Returns what guards this rank's own memory. */
static enum guard own_guard(const struct window *window)
{
    int held = window->held[own_part(window)];
    if (window->is_exposed)
        return GUARD_START;
    return held == HELD_EXCLUSIVE ? GUARD_EXCLUSIVE : held == HELD_SHARED || window->all_held ? GUARD_SHARED : GUARD_NONE;
}

/* Looks for what the program has stored into its windows since its last call. */
static void look_for_stores(void)
{
    for (const struct window *window = is_checked() ? windows : NULL; window != NULL; window = window->next) {
        const struct part *part = &window->parts[own_part(window)];
        unsigned char *now = (unsigned char *)(uintptr_t)part->base, *before = (unsigned char *)(uintptr_t)part->shadow;
        if (before == NULL)
            continue;
        int is_set_up = before[-SHADOW_HEAD];
        before[-SHADOW_HEAD] = 1;
        if (memcmp(now, before, part->size) == 0)
            continue;
        struct piece pieces[64] = {{0}};
        size_t count = 0, i = 0;
        for (; i < part->size; i++) {
            if (now[i] == before[i])
                continue;
            if (count > 0 && pieces[count - 1].from + pieces[count - 1].bytes == i)
                pieces[count - 1].bytes++;
            else if (count < 64)
                pieces[count++] = (struct piece){i, 1};
        }
        memcpy(before, now, part->size);
        if (is_set_up)
            record_access(window, "a store", own_part(window), ACCESS_STORE, own_guard(window), pieces, count);
    }
}

static void note_own_access(const char *name, const char *low, const char *high, enum access what)
{
    for (const struct window *window = windows; window != NULL; window = window->next) {
        const struct part *part = &window->parts[own_part(window)];
        const char *base = (const char *)(uintptr_t)part->base, *end = base + part->size;
        struct piece piece = {low > base ? (uint64_t)(low - base) : 0, 0};
        if (part->size == 0 || low >= end || base >= high)
            continue;
        piece.bytes = (uint64_t)((high < end ? high : end) - base) - piece.from;
        record_access(window, name, own_part(window), what, own_guard(window), &piece, 1);
    }
}

/* Tells the command where a call's buffers lie in windows of this rank. */
static void look_at_windows(const char *name, const struct counts *data, int is_store)
{
    if (windows != NULL)
        EACH_RANGE(data, low, high, note_own_access(name, low, high, is_store ? ACCESS_STORE : ACCESS_LOAD));
}

/* Looks at the buffers of a call, and at their types. */
static void look_at_data(const char *name, const struct counts *sent, const struct counts *received)
{
    if (!is_checked())
        return;
    look_for_overlap(name, sent, 0);
    look_for_overlap(name, received, 1);
    look_at_windows(name, sent, 0);
    look_at_windows(name, received, 1);
    signatures[0] = signature_of(sent);
    signatures[1] = signature_of(received);
}

/* Returns whose epoch a call on a rank's window is in. */
static enum guard find_epoch(const char *name, struct window *window, int rank)
{
    if (window->held[rank] != HELD_NOT || window->all_held) {
        window->beside_fence++;
        return window->held[rank] == HELD_EXCLUSIVE ? GUARD_EXCLUSIVE : GUARD_SHARED;
    }
    for (int i = 0; i < window->accessed.count && window->is_started; i++)
        if (window->accessed.ranks[i] == rank) {
            window->beside_fence++;
            return GUARD_START;
        }
    if (window->fences == 0 || window->is_closed || window->is_started)
        report("epoch lifecycle", "calls %s for the memory of rank %d outside of an epoch; call MPI_Win_fence, MPI_Win_lock or "
               "MPI_Win_start for it before", name, rank);
    window->in_fence++;
    return GUARD_FENCE;
}

/* Returns how many ranks' windows this rank has the lock of. */
static int count_held(const struct window *window)
{
    int count = window->all_held;
    for (int i = 0; i < find_communicator(window->comm)->size; i++)
        count += window->held[i] != HELD_NOT;
    return count;
}

/* Another epoch begins, or the window is freed: none is open. */
static void look_for_open_epochs(const char *name, const struct window *window)
{
    if (!is_checked())
        return;
    if (count_held(window) > 0)
        report("epoch lifecycle", "calls %s while it has the lock of the window; call MPI_Win_unlock%s before", name,
               window->all_held ? "_all" : "");
    if (window->is_started)
        report("epoch lifecycle", "calls %s in an epoch of MPI_Win_start; call MPI_Win_complete before", name);
    if (window->in_fence > 0)
        report("epoch lifecycle", "calls %s in an epoch of MPI_Win_fence, in which it has reached for memory; call MPI_Win_fence before",
               name);
}

static void begin_fence(const struct window *window, int assert)
{
    if (!is_checked())
        return;
    if (window->in_fence == 0)
        look_for_open_epochs("MPI_Win_fence", window);
    else if (assert & MPI_MODE_NOPRECEDE)
        report("epoch lifecycle", "calls MPI_Win_fence with MPI_MODE_NOPRECEDE, and has reached for memory since the fence before");
    if (window->beside_fence > 0 && window->fences > 0 && !window->is_closed && !(assert & MPI_MODE_NOPRECEDE))
        report("epoch lifecycle", "calls MPI_Win_fence, and has reached for memory in another epoch since the fence before, which is open "
               "meanwhile; give MPI_MODE_NOSUCCEED there, or MPI_MODE_NOPRECEDE here");
}

static void note_lock(struct window *window, const char *name, int rank, enum held how)
{
    if (!is_checked())
        return;
    if (rank == ALL_RANKS ? count_held(window) > 0 : window->all_held || window->held[rank] != HELD_NOT)
        report("epoch lifecycle", "calls %s for a window of which it has the lock; call MPI_Win_unlock%s before", name,
               window->all_held ? "_all" : "");
    if (window->in_fence > 0 || window->is_started) {
        int held = window->all_held;
        window->all_held = 0;
        look_for_open_epochs(name, window);
        window->all_held = (unsigned char)held;
    }
    if (rank == ALL_RANKS)
        window->all_held = 1;
    else
        window->held[rank] = how;
}

static void note_unlock(struct window *window, const char *name, int rank)
{
    if (!is_checked())
        return;
    if (rank == ALL_RANKS ? !window->all_held : window->held[rank] == HELD_NOT)
        report("epoch lifecycle", "calls %s for a window of which it does not have the lock", name);
    if (rank == ALL_RANKS)
        window->all_held = 0;
    else
        window->held[rank] = HELD_NOT;
}

static void look_for_lock(const struct window *window, const char *name, int rank)
{
    if (is_checked() && (rank == ALL_RANKS ? count_held(window) == 0 : !window->all_held && window->held[rank] == HELD_NOT))
        report("epoch lifecycle", "calls %s for a window of which it does not have the lock", name);
}

/* No more calls are watched at once. */
#define MOST_OPEN 1000

/* The buffers of a call are the program's again when its epoch ends. */
static void watch_access(struct window *window, const char *name, int rank, const struct counts *sent, const struct counts *received)
{
    if (!is_checked() || window->open_count >= MOST_OPEN)
        return;
    struct open_access *open = room(sizeof *open);
    *open = (struct open_access){.next = window->open, .rank = rank, .exchange = {.name = name, .sent = *sent, .received = *received}};
    open->as = (struct request){.kind = REQUEST_SEND, .place = call.place, .exchange = &open->exchange};
    keep_counts(&open->exchange.sent);
    keep_counts(&open->exchange.received);
    watch(&open->as);
    window->open = open;
    window->open_count++;
}

/* Ends the calls for a rank's memory, or for all. */
static void end_accesses(struct window *window, const char *name, int rank)
{
    for (struct open_access **link = &window->open, *open; (open = *link) != NULL;) {
        if (rank != ALL_RANKS && open->rank != rank) {
            link = &open->next;
            continue;
        }
        look_for_writes(name, &open->as);
        end_watch(&open->as);
        forget_counts(&open->exchange.sent);
        forget_counts(&open->exchange.received);
        *link = open->next;
        window->open_count--;
        free(open);
    }
}

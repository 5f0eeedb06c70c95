/* The file: a buffer that is written in blocks, numbers in it, and the clock. */

#if defined(OPEN_MPI)
#define LOGGP_MPI "openmpi"
#elif defined(MPICH_VERSION) || defined(MPICH)
#define LOGGP_MPI "mpich"
#else
#define LOGGP_MPI "mpi"
#endif

/* By this the command tells for which MPI a library was built. */
__attribute__((used)) static const char library_mark[] = "loggp records calls of " LOGGP_MPI "\n";

#define FORMAT_VERSION 1
#define BLOCK_HEADER 36
#define BLOCK_BYTES 65536
/* No record without a list is longer. */
#define RECORD_BYTES 192
/* So much of the file is mapped at once, and there is so much behind the end of a block. */
#define WINDOW_BYTES (1 << 20)
#define SLACK_BYTES (CALL_NAMES * 96)
/* A block ends after so long: within it clocks are taken to run evenly. */
#define BLOCK_NS 1000000000

enum record_code {
    RECORD_PLACE = 1,
    RECORD_COMMUNICATOR = 2,
    RECORD_THREAD = 3,
    RECORD_OFFSET = 5,
    RECORD_FINALIZE = 6,
    RECORD_UNMODELLED = 7,
    RECORD_STOPPED = 8,
    RECORD_SEND = 16, /* + 2 * mode + has a request */
    RECORD_RECV = 24, /* + has a request */
    RECORD_SENDRECV = 26, /* + has a request */
    RECORD_COLLECTIVE = 28, /* + has a request */
    RECORD_START = 30,
    RECORD_WAIT = 31,
    RECORD_TEST = 32,
    RECORD_LOOK = 33,
    RECORD_PROBE = 34,
    RECORD_IPROBE = 35,
    RECORD_NEW_COMMUNICATOR = 36,
    RECORD_FORGET = 37,
    RECORD_WAITALL = 38,
    RECORD_WAITANY = 39,
    RECORD_WAITSOME = 40,
    RECORD_TESTALL = 41,
    RECORD_TESTANY = 42,
    RECORD_TESTSOME = 43,
    RECORD_START_COLLECTIVE = 44,
};

/* True between MPI_Init and MPI_Finalize, if calls are recorded. */
static volatile int is_on;
volatile int is_emulated, is_answered;
/* What the processor did for an emulated program since its last record, in nanoseconds. */
static uint64_t work;
/* True if several threads may be in MPI at once. */
static int is_multiple;
/* What MPI lets threads do, and the one that initialized it. */
static int thread_level;
static pthread_t first_thread;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* True inside of a call of MPI: what it calls of MPI itself is not recorded. */
static __thread int inside __attribute__((tls_model("initial-exec")));
__thread void *fortran_caller __attribute__((tls_model("initial-exec")));
static __thread int thread_number __attribute__((tls_model("initial-exec"))) = -1;
static int threads;

static int file = -1;
static pid_t process;
int own_rank, world_size;

/* Ticks are those of the processor's counter if the kernel trusts it, or nanoseconds. */
static int has_ticks;
static uint64_t ticks_per_block = BLOCK_NS;

/* The block that is being written, where the next record goes, and where the block's last one has to end. It lies in the file,
 * which is mapped, so that nothing is lost when the program is killed; where that cannot be, in memory. */
static unsigned char *buffer, *at, *buffer_end;
static unsigned char *window, *window_end;
static int is_mapped;
/* Where the block begins in the file. */
static off_t position;
static uint64_t block_ticks, last_end, first_ticks;
static int64_t block_ns, first_ns;
static int last_thread;

void *room(size_t bytes)
{
    void *made = malloc(bytes ? bytes : 1);
    if (made == NULL) {
        fprintf(stderr, "loggp: rank %d has no memory for %zu bytes\n", own_rank, bytes);
        abort();
    }
    return made;
}

static pthread_mutex_t tables_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void lock_tables(void)
{
    if (is_multiple)
        pthread_mutex_lock(&tables_mutex);
}

void unlock_tables(void)
{
    if (is_multiple)
        pthread_mutex_unlock(&tables_mutex);
}

static int64_t monotonic_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline uint64_t now(void)
{
#if defined(__x86_64__)
    if (has_ticks)
        return __rdtsc();
#endif
    return (uint64_t)monotonic_ns();
}

/* Reads both clocks at one time. */
static void read_clocks(uint64_t *ticks, int64_t *ns)
{
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 5; i++) {
        uint64_t before = now();
        int64_t between = monotonic_ns();
        uint64_t after = now();
        if (after - before < least) {
            least = after - before;
            *ticks = has_ticks ? before + (after - before) / 2 : (uint64_t)between;
            *ns = between;
        }
    }
}

static void choose_clock(void)
{
#if defined(__x86_64__)
    char name[16] = "";
    int source = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (source >= 0) {
        ssize_t bytes = read(source, name, sizeof name - 1);
        has_ticks = bytes >= 4 && memcmp(name, "tsc\n", 4) == 0;
        close(source);
    }
#endif
}

static inline unsigned char *put(unsigned char *to, uint64_t value)
{
    while (value >= 128) {
        *to++ = (unsigned char)(value | 128);
        value >>= 7;
    }
    *to++ = (unsigned char)value;
    return to;
}

static inline unsigned char *put_signed(unsigned char *to, int64_t value)
{
    return put(to, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

static unsigned char *put_text(unsigned char *to, const char *text, size_t most)
{
    size_t length = strlen(text);
    length = length < most ? length : most;
    to = put(to, length);
    memcpy(to, text, length);
    return to + length;
}

static inline void put_fixed(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (unsigned char)(value >> 8 * i);
}

#define CALL_NAMES 512
/* Names of calls that are not modelled, how often they were made, and how often at the last time they were written; and the ticks
 * inside of them. */
static struct {
    const char *name;
    uint64_t count, written, ticks;
} unmodelled[CALL_NAMES];
static int unmodelled_names;

/* False if a file may not be so long (`ulimit -f`): writing there would end the program by a signal. */
static int is_allowed(off_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || (rlim_t)bytes <= limit.rlim_cur;
}

/* Says why the recording ends here, in the file too, which has room for it where it was mapped. The program goes on. */
static void stop_recording(const char *why)
{
    unsigned char block[BLOCK_HEADER + 256], *to = block + BLOCK_HEADER;
    uint64_t ticks = 0;
    int64_t ns = 0;
    fprintf(stderr, "loggp: rank %d cannot write what it records: %s\n", own_rank, why);
    read_clocks(&ticks, &ns);
    *to++ = RECORD_STOPPED;
    to = put_text(to, why, 200);
    put_fixed(block, (uint64_t)(to - block - BLOCK_HEADER), 4);
    for (int i = 4; i < BLOCK_HEADER; i += 16) {
        put_fixed(block + i, ticks, 8);
        put_fixed(block + i + 8, (uint64_t)ns, 8);
    }
    /* What is behind the last whole block goes. */
    if (position > 0 && (is_mapped || ftruncate(file, position) == 0) && is_allowed(position + (to - block)) &&
        pwrite(file, block, (size_t)(to - block), position) < 0)
        errno = 0; /* It is said above. */
    close(file);
    file = -1;
    is_on = 0;
}

static void write_whole(const unsigned char *from, size_t bytes)
{
    while (bytes > 0 && file >= 0) {
        ssize_t written = is_allowed(position + (off_t)bytes) ? write(file, from, bytes) : (errno = EFBIG, -1);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            stop_recording(strerror(errno));
            return;
        }
        from += written;
        bytes -= (size_t)written;
    }
}

/* Makes room for blocks from `position` on. */
static void make_window(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), before = (size_t)position % page;
    void *mapped = MAP_FAILED;
    int error = ENOSPC;
    if (window != NULL && is_mapped)
        munmap(window, (size_t)(window_end - window));
    else
        free(window);
    /* The room on the disk is taken here: where there is none, a mapped file would end the program. */
    if (!is_allowed(position + (off_t)bytes))
        error = EFBIG;
    else if (file >= 0 && (window == NULL || is_mapped) && (error = posix_fallocate(file, position, (off_t)bytes)) == 0)
        mapped = mmap(NULL, before + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, position - (off_t)before);
    if (mapped == MAP_FAILED && is_mapped && file >= 0)
        stop_recording(strerror(error ? error : errno));
    is_mapped = mapped != MAP_FAILED;
    before = is_mapped ? before : 0;
    window = is_mapped ? mapped : malloc(bytes);
    if (window == NULL) {
        fprintf(stderr, "loggp: rank %d has no memory to record\n", own_rank);
        abort();
    }
    window_end = window + before + bytes;
    buffer = window + before;
}

/* Begins a block with room for a record of `bytes`. */
static void begin_block(uint64_t ticks, int64_t ns, size_t bytes)
{
    double rate = ticks - first_ticks > ticks_per_block / 100 ? (double)(ns - first_ns) / (double)(ticks - first_ticks)
                                                              : (double)BLOCK_NS / (double)ticks_per_block;
    if (bytes < BLOCK_BYTES)
        bytes = BLOCK_BYTES;
    if (window == NULL || (size_t)(window_end - buffer) < BLOCK_HEADER + bytes + SLACK_BYTES)
        make_window(BLOCK_HEADER + bytes + SLACK_BYTES + WINDOW_BYTES);
    block_ticks = last_end = ticks;
    block_ns = ns;
    at = buffer + BLOCK_HEADER;
    buffer_end = at + bytes;
    put_fixed(buffer, 0, 4);
    put_fixed(buffer + 4, block_ticks, 8);
    put_fixed(buffer + 12, (uint64_t)block_ns, 8);
    /* As well as it is known, for the case that the program is killed. */
    put_fixed(buffer + 20, block_ticks + ticks_per_block, 8);
    put_fixed(buffer + 28, (uint64_t)block_ns + (uint64_t)(rate * (double)ticks_per_block), 8);
}

/* Says that the block's records are whole up to here: at any moment at which the process may be killed they are. */
static inline void commit(void)
{
    uint32_t length = htole32((uint32_t)(at - buffer - BLOCK_HEADER));
    __atomic_signal_fence(__ATOMIC_RELEASE);
    memcpy(buffer, &length, sizeof length);
}

/* Ends the block and begins another one. */
static void flush_block(size_t bytes)
{
    uint64_t ticks = 0;
    int64_t ns = 0;
    for (int i = 0; i < unmodelled_names; i++) {
        if (unmodelled[i].written == unmodelled[i].count)
            continue;
        unmodelled[i].written = unmodelled[i].count;
        *at++ = RECORD_UNMODELLED;
        at = put_text(at, unmodelled[i].name, 64);
        at = put(at, unmodelled[i].count);
        at = put(at, unmodelled[i].ticks);
    }
    read_clocks(&ticks, &ns);
    if (at > buffer + BLOCK_HEADER) {
        put_fixed(buffer + 20, ticks, 8);
        put_fixed(buffer + 28, (uint64_t)ns, 8);
        commit();
        if (!is_mapped)
            write_whole(buffer, (size_t)(at - buffer));
        position += at - buffer;
        buffer = is_mapped ? at : window;
    }
    begin_block(ticks, ns, bytes);
}

/* What takes the records away where the next one has no room: those of an emulated program are posted. */
static void (*make_room)(size_t bytes) = flush_block;

/* Makes room for a record. */
static inline void reserve(size_t bytes)
{
    if (at + bytes > buffer_end)
        make_room(bytes);
}

/* Counts a call of so many ticks. */
static void count_unmodelled(const char *name, uint64_t ticks)
{
    int i = 0;
    while (i < unmodelled_names && unmodelled[i].name != name && strcmp(unmodelled[i].name, name) != 0)
        i++;
    if (i == unmodelled_names) {
        if (i == CALL_NAMES)
            return;
        unmodelled[i].name = name;
        unmodelled_names++;
    }
    unmodelled[i].count++;
    unmodelled[i].ticks += ticks;
}

/* Places from which the program called, by address. */
static struct {
    void *address;
    uint32_t number;
} *places;
static size_t place_slots;
static uint32_t place_count;

static size_t place_slot(void *address)
{
    size_t slot = ((uintptr_t)address * 0x9E3779B97F4A7C15u >> 20) & (place_slots - 1);
    while (places[slot].address != NULL && places[slot].address != address)
        slot = (slot + 1) & (place_slots - 1);
    return slot;
}

static uint32_t define_place(void *address)
{
    Dl_info module;
    struct link_map *map = NULL;
    const char *name = "";
    char path[4096];
    uintptr_t bias = 0;
    if (2 * (place_count + 1) > place_slots) {
        size_t slots = place_slots;
        __typeof__(places) before = places, more = calloc(slots ? 2 * slots : 1024, sizeof *places);
        if (more == NULL)
            return 0;
        places = more;
        place_slots = slots ? 2 * slots : 1024;
        for (size_t i = 0; i < slots; i++)
            if (before[i].address != NULL)
                places[place_slot(before[i].address)] = before[i];
        free(before);
    }
    if (dladdr1(address, &module, (void **)&map, RTLD_DL_LINKMAP) != 0 && map != NULL) {
        bias = map->l_addr;
        name = map->l_name;
        if (name == NULL || name[0] == 0) {
            ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
            path[length > 0 ? length : 0] = 0;
            name = path;
        }
    }
    reserve(RECORD_BYTES + 4096);
    *at++ = RECORD_PLACE;
    at = put_text(at, name, 4095);
    at = put(at, (uintptr_t)address - bias);
    size_t slot = place_slot(address);
    places[slot].address = address;
    places[slot].number = ++place_count;
    return place_count;
}

static inline uint32_t find_place(void *address)
{
    static void *last;
    static uint32_t last_number;
    if (address == last)
        return last_number;
    size_t slot = place_slots ? place_slot(address) : 0;
    uint32_t number = place_slots && places[slot].address ? places[slot].number : define_place(address);
    last = address;
    last_number = number;
    return number;
}

/* A call, while it is recorded. */
struct span {
    uint64_t begin, end;
    void *place;
};

/* Calls that tested or probed and found nothing, and are not written yet. */
static struct {
    uint64_t count, inside;
    struct span span;
    int thread;
} look;

static void write_head(int code, const struct span *span, uint32_t place, int thread)
{
    if (is_emulated) {
        *at++ = (unsigned char)code;
        at = put(at, work);
        at = put(at, place);
        work = 0;
        return;
    }
    if (thread != last_thread) {
        *at++ = RECORD_THREAD;
        at = put(at, (uint64_t)thread);
        last_thread = thread;
    }
    *at++ = (unsigned char)code;
    at = put_signed(at, (int64_t)(span->begin - last_end));
    at = put(at, span->end - span->begin);
    at = put(at, place);
    last_end = span->end;
}

static void write_look(void)
{
    uint32_t place = find_place(look.span.place);
    reserve(RECORD_BYTES);
    write_head(RECORD_LOOK, &look.span, place, look.thread);
    at = put(at, look.count);
    at = put(at, look.inside);
    look.count = 0;
}

static inline int this_thread(void)
{
    if (thread_number < 0)
        thread_number = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
    return thread_number;
}

/* Begins the record of a call, for which there is room for `bytes` more. */
static inline void begin_record(int code, const struct span *span, size_t bytes)
{
    if (look.count > 0)
        write_look();
    if (span->end - block_ticks > ticks_per_block)
        flush_block(0);
    uint32_t place = find_place(span->place);
    reserve(RECORD_BYTES + bytes);
    write_head(code, span, place, this_thread());
}

/* Notes a call that found nothing. */
static void add_look(const struct span *span)
{
    int thread = this_thread();
    if (look.count > 0 && look.thread != thread)
        write_look();
    if (look.count == 0) {
        look.span = *span;
        look.inside = 0;
        look.thread = thread;
    }
    look.span.end = span->end;
    look.count++;
    look.inside += span->end - span->begin;
    if (span->end - block_ticks > ticks_per_block)
        flush_block(0);
}

/* A rank that is emulated: it says what it calls through shared memory and stops until the machine has come so far. Records of
 * calls are written as when they are recorded, into the rank's slot of the file that LOGGP_EMULATE names. */

#define HEADER_BYTES 4096
#define AREA_BYTES 61440
#define DATA_BYTES 327680
#define EMULATION_VERSION 6

/* Where a record goes is `at`, from `buffer` on, as in a file. */
struct slot {
    uint32_t turn; /* 0: the rank's, 1: the command's */
    int32_t pid;
    uint32_t ranks, attached, kind, record_bytes;
    uint64_t data_bytes, all_bytes;
    int64_t now; /* picoseconds */
    uint32_t words, threads; /* what is wrong with its threads, whoever has the turn */
    uint64_t unaccounted;
    struct ending ending;
    unsigned char area[AREA_BYTES], data[DATA_BYTES];
};
_Static_assert(sizeof(struct slot) == 393216 && offsetof(struct slot, area) == 4096 && offsetof(struct slot, unaccounted) == 56 &&
                   offsetof(struct slot, ending) == 64 && offsetof(struct ending, frames) == 16,
               "a slot is as the command has it");

struct header {
    char magic[8];
    uint32_t version, slots, flags;
    int32_t command;
    uint32_t gone;
    uint32_t refused; /* 1: a process writes why, 2: it is there */
    unsigned char unused[64 - 32];
    char why[HEADER_BYTES - 64];
};
_Static_assert(offsetof(struct header, why) == 64, "the header is as the command has it");

enum { HAS_CLOCKS = 1, WORK_IS_NONE = 2, CAN_DEFER = 4, HAS_CHECKS = 8 };
enum post { POST_CALLS, POST_CHUNK, POST_NEXT };
/* Codes of records that no recording has. */
enum emulated_code {
    CALL_SIGNATURE = 9,
    CALL_MPROBE = 48,
    CALL_IMPROBE = 49,
    CALL_MRECV = 50, /* + has a request */
    CALL_CANCEL = 53,
    CALL_ABORT = 54,
    CALL_CLOCK = 55,
    CALL_REFUSED = 56,
    CALL_GET_STATUS = 57,
    CALL_EXITED = 58,
    CALL_FINDING = 59,
    CALL_IDUP = 60,
    CALL_LEFT = 61,
    CALL_ON_FILE = 62,
    CALL_AT_FILE = 63,
    CALL_ACCESS = 80,
    CALL_ACCESS_END = 81,
    CALL_NOTE = 82,
};
/* Codes of what goes to another rank's memory, which recordings have too. */
enum one_sided_code {
    CALL_PUT = 64,
    CALL_GET = 65, /* + has a request */
    CALL_FLUSH = 67,
    CALL_LOCK = 68,
    CALL_UNLOCK = 69,
    CALL_FENCE = 70,
    CALL_IN_ORDER = 71, /* of an emulated program */
};

static const volatile struct header *header;
static struct slot *slot;
/* Bytes in the window that are to be posted, and of those there after an answer, how many have been taken. */
static size_t data_given, data_taken;
/* The words of the last answer. */
static uint64_t answer[AREA_BYTES / 8];
static size_t answer_words, next_word;
/* The call that a rank is in: where it was called. */
static struct span call;
/* When the last call ended, and what it costs to ask for that. */
static int64_t last_process_ns, reading_ns;
/* How often in a row the program asked for the time. */
static int polls;

/* Of which types the call's data are, sent and received, and by which operation they are combined: what a checked program says too. */
static uint64_t signatures[2], operation;

static int is_checked(void)
{
    return is_emulated && (header->flags & HAS_CHECKS);
}

static unsigned char *put_checked(unsigned char *to, uint64_t value)
{
    return is_checked() ? put(to, value) : to;
}

static int64_t process_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Ends the process if the command has given up, or is no more. */
static void look_for_command(int is_late)
{
    if (__atomic_load_n(&header->gone, __ATOMIC_SEQ_CST) || (is_late && kill(header->command, 0) != 0 && errno == ESRCH))
        _exit(1);
}

/* It does not spin: the command may need this core. A fork ends with its keeper, which looks for the command; a timer for each
 * wait would take half a microsecond. A command that gives up says so, and then changes the word on which this waits. */
static void await_turn(void)
{
    const struct timespec second = {.tv_sec = 1};
    look_for_command(0);
    while (__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) != 0) {
        long error = syscall(SYS_futex, &slot->turn, FUTEX_WAIT, 1, is_fork ? NULL : &second, NULL, 0);
        look_for_command(error != 0 && errno == ETIMEDOUT);
    }
}

static void give_turn(void)
{
    __atomic_store_n(&slot->turn, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &slot->turn, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void post(enum post kind, int is_answered)
{
    slot->kind = kind;
    slot->data_bytes = data_given;
    data_given = data_taken = 0;
    if (kind == POST_CALLS) {
        slot->record_bytes = (uint32_t)(at - buffer);
        at = buffer;
    }
    give_turn();
    if (!is_answered)
        return;
    await_turn();
    if (kind == POST_CALLS) {
        answer_words = slot->words;
        next_word = 0;
        memcpy(answer, slot->area, 8 * answer_words);
    }
}

/* Returns the next word of the answer. */
static uint64_t word(void)
{
    return next_word < answer_words ? answer[next_word++] : 0;
}

static void record_sentence(int code, const char *kind, const char *form, va_list arguments)
{
    char sentence[1024];
    vsnprintf(sentence, sizeof sentence, form, arguments);
    begin_record(code, &call, 2 * sizeof sentence);
    if (kind != NULL)
        at = put_text(at, kind, 64);
    at = put_text(at, sentence, sizeof sentence);
}

/* Says a sentence, of a kind if there is one, with which the command ends the run. */
__attribute__((noreturn)) static void say(const char *kind, const char *form, va_list arguments)
{
    record_sentence(kind ? CALL_FINDING : CALL_REFUSED, kind, form, arguments);
    post(POST_CALLS, 0);
    for (;;) {
        await_turn();
        usleep(1000);
        look_for_command(1);
    }
}

/* Refuses what the program calls. */
__attribute__((noreturn, format(printf, 1, 2))) static void refuse(const char *form, ...)
{
    va_list arguments;
    va_start(arguments, form);
    say(NULL, form, arguments);
}

/* Says what is wrong with the program. */
__attribute__((noreturn, format(printf, 2, 3))) static void report(const char *kind, const char *form, ...)
{
    va_list arguments;
    va_start(arguments, form);
    say(is_checked() ? kind : NULL, form, arguments);
}

/* Says what is wrong or odd with a checked program and does not end its run. */
__attribute__((format(printf, 2, 3))) static void note(const char *kind, const char *form, ...)
{
    va_list arguments;
    va_start(arguments, form);
    record_sentence(CALL_NOTE, kind, form, arguments);
    va_end(arguments);
    post(POST_CALLS, 1);
}

/* Makes room for a record of `bytes`: what was deferred goes first. */
static void post_deferred(size_t bytes)
{
    if (at > buffer)
        post(POST_CALLS, 1);
    if (bytes > AREA_BYTES)
        refuse("describes a call by %zu bytes, which an emulated program cannot; up to %d are possible, so it has to name fewer "
               "ranks or requests at once", bytes, AREA_BYTES);
}

/* A send whose request was freed before it was complete, while nothing that came after can say that it is: how it was called. */
static struct {
    const char *name;
    void *place;
} left_send;

/* Ends the record of a call, which stays here until another one needs an answer if this one needs none. The next record of a call
 * that was made has no time of its own. */
static void end_record(int needs_answer)
{
    if (!is_emulated) {
        call.begin = call.end;
        return;
    }
    polls = 0;
    if (needs_answer)
        left_send.name = NULL;
    if (needs_answer || !(header->flags & CAN_DEFER))
        post(POST_CALLS, 1);
}

/* Gives the data of the record that is being written. */
static void give_bytes(const void *from, size_t bytes)
{
    while (bytes > 0) {
        if (data_given == DATA_BYTES)
            post(POST_CHUNK, 1);
        size_t part = bytes < DATA_BYTES - data_given ? bytes : DATA_BYTES - data_given;
        memcpy(slot->data + data_given, from, part);
        data_given += part;
        from = (const char *)from + part;
        bytes -= part;
    }
}

/* Takes the next of the answer's data, or leaves it if `to` is MPI_IN_PLACE. */
static void take_bytes(void *to, size_t bytes)
{
    while (bytes > 0) {
        if (data_taken == slot->data_bytes)
            post(POST_NEXT, 1);
        size_t part = slot->data_bytes - data_taken;
        if (part == 0) {
            fprintf(stderr, "loggp: rank %d got %zu bytes less than it was told\n", own_rank, bytes);
            abort();
        }
        part = bytes < part ? bytes : part;
        if (to != MPI_IN_PLACE) {
            memcpy(to, slot->data + data_taken, part);
            to = (char *)to + part;
        }
        data_taken += part;
        bytes -= part;
    }
}

/* Begins a call. What the processor has done for the program since the last one is work. */
static void enter(void *place)
{
    inside = 1;
    pthread_mutex_lock(&mutex); /* Another thread may ask for the time. */
    call.place = place;
    if (!(header->flags & WORK_IS_NONE)) {
        int64_t passed = process_ns() - last_process_ns - reading_ns;
        work += passed > 0 ? (uint64_t)passed : 0;
    }
}

static void leave(void)
{
    if (!(header->flags & WORK_IS_NONE))
        last_process_ns = process_ns();
    pthread_mutex_unlock(&mutex);
    inside = 0;
}

/* The begin and the end of an emulated program, its clocks, and what its handles are in Fortran. */

#define CLOCKS 12
/* The clocks of the host that tell the time, and what they were when the program began. */
static const int is_clock_of_time[CLOCKS] = {
    [CLOCK_REALTIME] = 1, [CLOCK_MONOTONIC] = 1,    [CLOCK_MONOTONIC_RAW] = 1, [CLOCK_REALTIME_COARSE] = 1,
    [CLOCK_BOOTTIME] = 1, [CLOCK_MONOTONIC_COARSE] = 1, [CLOCK_TAI] = 1,
};
static int64_t clock_base[CLOCKS];
/* By how much these are ahead after the program's end, so that no time is shown twice. */
static int64_t clocks_ahead;

/* Says in the file of the emulation why a process cannot be a rank, and ends when the command has given up. The first one says it for
 * all. */
__attribute__((noreturn)) static void refuse_unattached(const char *path, const char *sentence)
{
    int shared = open(path, O_RDWR | O_CLOEXEC);
    struct header *all = mmap(NULL, HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0);
    uint32_t none = 0;
    if (shared < 0 || all == MAP_FAILED) {
        fprintf(stderr, "loggp: %s\n", sentence);
        _exit(2);
    }
    header = all;
    if (__atomic_compare_exchange_n(&all->refused, &none, 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        snprintf(all->why, sizeof all->why, "%s", sentence);
        __atomic_store_n(&all->refused, 2, __ATOMIC_RELEASE);
    }
    for (;;) {
        usleep(1000);
        look_for_command(1);
    }
}

__attribute__((noreturn, format(printf, 2, 3))) static void fail_to_attach(const char *path, const char *form, ...)
{
    char sentence[1024], all[1280];
    va_list arguments;
    va_start(arguments, form);
    vsnprintf(sentence, sizeof sentence, form, arguments);
    va_end(arguments);
    snprintf(all, sizeof all, "rank %d cannot be emulated: %s", own_rank, sentence);
    refuse_unattached(path, all);
}

/* A process that was forked is no rank. */
static void leave_child(void)
{
    is_emulated = 0;
}

/* The least time between two looks at the clock is what one costs. */
static void measure_reading(void)
{
    reading_ns = INT64_MAX;
    for (int i = 0; i < 200; i++) {
        int64_t before = process_ns(), after = process_ns();
        reading_ns = after - before < reading_ns ? after - before : reading_ns;
    }
}

/* Begins to be emulated, at the end of MPI_Init. */
static void attach(const char *path)
{
    struct stat status;
    int shared = open(path, O_RDWR | O_CLOEXEC), none = 0, error;
    off_t place = HEADER_BYTES + (off_t)own_rank * (off_t)sizeof *slot;
    if (shared < 0 || fstat(shared, &status) != 0)
        fail_to_attach(path, "%s, which LOGGP_EMULATE names, cannot be opened: %s", path, strerror(errno));
    header = mmap(NULL, HEADER_BYTES, PROT_READ, MAP_SHARED, shared, 0);
    if (header == MAP_FAILED || status.st_size < HEADER_BYTES || memcmp((const char *)header->magic, "LOGGPEMU", 8) != 0) {
        fprintf(stderr, "loggp: %s, which LOGGP_EMULATE names, is no file of loggp emulate\n", path);
        _exit(2);
    }
    if (header->version != EMULATION_VERSION)
        fail_to_attach(path, "this library speaks version %d and the command %u; build it with `loggp record --build`",
                       EMULATION_VERSION, header->version);
    if ((uint32_t)world_size > header->slots)
        fail_to_attach(path, "%d ranks are more than the %u that the command has room for", world_size, header->slots);
    /* Memory that is not there would end the program by a signal later. */
    if ((error = posix_fallocate(shared, place, sizeof *slot)) != 0)
        fail_to_attach(path, "/dev/shm has no room for %zu bytes: %s; take fewer ranks, or give it more", sizeof *slot, strerror(error));
    slot = mmap(NULL, sizeof *slot, PROT_READ | PROT_WRITE, MAP_SHARED, shared, place);
    if (slot == MAP_FAILED)
        fail_to_attach(path, "%s cannot be mapped: %s", path, strerror(errno));
    close(shared);
    process = getpid();
    if (!__atomic_compare_exchange_n(&slot->pid, &none, process, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        fail_to_attach(path, "another process is rank %d of %d too; start the program as its MPI expects", own_rank, world_size);
    slot->ranks = (uint32_t)world_size;
    buffer = at = slot->area;
    buffer_end = slot->area + AREA_BYTES;
    make_room = post_deferred;
    pthread_atfork(NULL, NULL, leave_child);
    this_thread();
    measure_reading();
    begin_endings(&slot->ending);
    slot->turn = 1;
    __atomic_store_n(&slot->attached, 1, __ATOMIC_RELEASE);
    give_turn();
    await_turn();
    for (int clock = 0; clock < CLOCKS; clock++) {
        struct timespec time;
        if (is_clock_of_time[clock] && clock_gettime(clock, &time) == 0)
            clock_base[clock] = (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
    }
    last_process_ns = process_ns();
    is_emulated = is_answered = 1;
}

/* Posts the last record of the program, and is no longer emulated. */
static void detach(int code, int is_answered)
{
    begin_record(code, &call, 0);
    post(POST_CALLS, is_answered);
    is_emulated = 0;
    clocks_ahead = clock_base[CLOCK_MONOTONIC] + slot->now / 1000 - monotonic_ns();
}

/* Returns the machine's time. A program that does nothing but ask lets time pass in the end. */
static int64_t ask_time(void)
{
    if (!(header->flags & WORK_IS_NONE) || at > buffer || ++polls > 1000) {
        begin_record(CALL_CLOCK, &call, 0);
        post(POST_CALLS, 1);
    }
    return slot->now;
}

/* The seconds of MPI_Wtime in a second of the machine, if the program is checked. */
#define CHECKED_SECONDS 1000

CALL_(double, Wtime, (void))
{
    if (!is_emulated || inside)
        return REAL(Wtime)();
    if (is_multiple)
        begin_call(PLACE);
    else
        enter(PLACE); /* Any thread may ask for the time. */
    int64_t time = ask_time();
    if (is_multiple)
        end_call();
    else
        leave_call();
    /* In a checked program a message may be late by more than the program waits for by its clock. */
    return (double)time / 1e12 * (is_checked() ? CHECKED_SECONDS : 1);
}

CALL_(double, Wtick, (void))
{
    return is_emulated && !inside ? 1e-12 : REAL(Wtick)();
}

/* Where the host's clocks are the machine's, they are so outside of MPI for threads that call MPI. While one thread is in MPI the
 * others see when it entered. */
int tell_clock(clockid_t clock, struct timespec *time) __asm__("clock_gettime");
int tell_clock(clockid_t clock, struct timespec *time)
{
    static int (*real)(clockid_t, struct timespec *);
    if (real == NULL)
        real = (__typeof__(real))dlsym(RTLD_NEXT, "clock_gettime");
    if (header == NULL || !(header->flags & HAS_CLOCKS) || inside || thread_number < 0 || clock < 0 || clock >= CLOCKS ||
        !is_clock_of_time[clock] || (!is_emulated && clocks_ahead == 0))
        return real(clock, time);
    int64_t ns = 0;
    if (is_emulated && pthread_mutex_trylock(&mutex) != 0) {
        ns = clock_base[clock] + slot->now / 1000;
    } else if (is_emulated) {
        pthread_mutex_unlock(&mutex);
        enter(PLACE);
        ns = clock_base[clock] + ask_time() / 1000;
        leave_call();
    } else if (real(clock, time) == 0) {
        ns = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec + clocks_ahead;
    }
    *time = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    return 0;
}

int tell_time_of_day(struct timeval *restrict time, void *restrict zone) __asm__("gettimeofday");
int tell_time_of_day(struct timeval *restrict time, void *restrict zone)
{
    struct timespec now;
    int error = tell_clock(CLOCK_REALTIME, &now);
    (void)zone;
    *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
    return error;
}

time_t tell_seconds(time_t *into) __asm__("time");
time_t tell_seconds(time_t *into)
{
    struct timespec now;
    tell_clock(CLOCK_REALTIME, &now);
    if (into != NULL)
        *into = now.tv_sec;
    return now.tv_sec;
}

/* Keys of attributes of MPI_COMM_SELF and MPI_COMM_WORLD: these go before a rank that was forked ends, since its MPI does not end. */
static struct {
    MPI_Comm comm;
    int key;
} *last_attributes;
static int last_attribute_count;

static void note_attribute(MPI_Comm comm, int key)
{
    if (!is_fork || (comm != MPI_COMM_SELF && comm != MPI_COMM_WORLD))
        return;
    last_attributes = realloc(last_attributes, sizeof *last_attributes * (size_t)(last_attribute_count + 1));
    if (last_attributes == NULL)
        abort();
    last_attributes[last_attribute_count].comm = comm;
    last_attributes[last_attribute_count++].key = key;
}

static void delete_attributes(MPI_Comm comm)
{
    for (int i = last_attribute_count - 1; i >= 0; i--) {
        void *value;
        int is_there = 0;
        if (last_attributes[i].comm == comm &&
            ASK(PMPI_Comm_get_attr(comm, last_attributes[i].key, &value, &is_there)) == MPI_SUCCESS && is_there)
            PMPI_Comm_delete_attr(comm, last_attributes[i].key);
    }
}

#define SETS_ATTRIBUTE(name)                                                                                         \
    CALL(name, (MPI_Comm comm, int key, void *value))                                                                \
    {                                                                                                                \
        int error = REAL(name)(comm, key, value);                                                                    \
        if (error == MPI_SUCCESS && is_emulated && !inside)                                                          \
            note_attribute(comm, key);                                                                               \
        return error;                                                                                                \
    }
SETS_ATTRIBUTE(Comm_set_attr)
SETS_ATTRIBUTE(Attr_put)

/* Bindings of Fortran set attributes by no function of C. */
#define SETS_IN_FORTRAN(name)                                                                                        \
    long set_##name(WORDS) __asm__(#name);                                                                           \
    long set_##name(WORDS)                                                                                           \
    {                                                                                                                \
        static any_call *real;                                                                                       \
        if (real == NULL)                                                                                            \
            real = (any_call *)find_real(#name, (void *)set_##name);                                                 \
        long returned = real(SAME_WORDS);                                                                            \
        if (is_emulated && !inside)                                                                                  \
            note_attribute(PMPI_Comm_f2c(*(MPI_Fint *)a), *(MPI_Fint *)b);                                           \
        return returned;                                                                                             \
    }
SETS_IN_FORTRAN(mpi_comm_set_attr_)
SETS_IN_FORTRAN(mpi_comm_set_attr_f08_)
SETS_IN_FORTRAN(mpi_attr_put_)

/* The MPI of a rank knows no others: how many there are, and of which program of the launcher's line this is one. */
static int application, universe;

static int is_of_start(MPI_Comm comm, int key, void *value, int *flag)
{
    if (!is_answered || find_communicator(comm) == NULL || (key != MPI_UNIVERSE_SIZE && key != MPI_APPNUM))
        return 0;
    universe = world_size;
    const char *said = getenv("OMPI_MCA_orte_app_num"); /* Open MPI's launcher says it so, and MPICH's does not. */
    application = said ? atoi(said) : 0;
    *(int **)value = key == MPI_APPNUM ? &application : &universe;
    *flag = 1;
    return 1;
}

#define GETS_ATTRIBUTE(name)                                                                                         \
    CALL(name, (MPI_Comm comm, int key, void *value, int *flag))                                                     \
    {                                                                                                                \
        return is_of_start(comm, key, value, flag) ? MPI_SUCCESS : REAL(name)(comm, key, value, flag);               \
    }
GETS_ATTRIBUTE(Comm_get_attr)
GETS_ATTRIBUTE(Attr_get)

/* Immediate reductions may need it still. */
CALL(Op_free, (MPI_Op * op))
{
    if (is_emulated && !inside)
        note_freed(OBJECT_OP, (uintptr_t)*op);
    if (!is_emulated || inside || request_count == 0)
        return REAL(Op_free)(op);
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
}

#if defined(OPEN_MPI)
/* Bindings of Fortran ask for the numbers of handles, of which the library does not know ours. */
#define NUMBERS(Type, name, is_ours)                                                                                 \
    CALL_(MPI_Fint, name##_c2f, (Type handle))                                                                       \
    {                                                                                                                \
        return is_ours ? *(MPI_Fint *)handle : REAL(name##_c2f)(handle);                                             \
    }                                                                                                                \
    CALL_(Type, name##_f2c, (MPI_Fint number))                                                                       \
    {                                                                                                                \
        int is_own = number >= FIRST_HANDLE && number < FIRST_HANDLE + handle_count;                                 \
        return is_own ? (Type)handle_of(number - FIRST_HANDLE) : REAL(name##_f2c)(number);                           \
    }

static int is_matched(MPI_Message handle)
{
    size_t i = 0;
    while (i < matched_count && matched[i].handle != handle)
        i++;
    return i < matched_count;
}

NUMBERS(MPI_Request, Request, is_emulated && find_request(handle) != NULL)
NUMBERS(MPI_Group, Group, is_answered && is_group_number(handle))
NUMBERS(MPI_Message, Message, is_emulated && is_matched(handle))
#endif

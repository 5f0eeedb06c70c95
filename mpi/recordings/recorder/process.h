/* The begin and the end of the program, and the clocks of hosts. */

static uint64_t mix(uint64_t identity, const char *text)
{
    for (const char *next = text; *next != 0; next++)
        identity = (identity ^ (unsigned char)*next) * 1099511628211u;
    return identity;
}

/* A number that is the same for all processes with one clock: those of one start of a kernel, and of one namespace of time. */
static uint64_t clock_identity(void)
{
    char text[256] = "", namespace[256] = "";
    int boot = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t bytes = boot >= 0 ? read(boot, text, sizeof text - 1) : 0;
    if (boot >= 0)
        close(boot);
    if (bytes <= 0)
        gethostname(text, sizeof text - 1);
    if (readlink("/proc/self/ns/time", namespace, sizeof namespace - 1) < 0)
        namespace[0] = 0;
    return mix(mix(14695981039346656037u, text), namespace);
}

#define ROUND_TRIPS 200

/* When it was measured by how much rank 0's clock is ahead, this, and the round trip. */
static int64_t offset[3];
static int has_offset;

static void record_offset(void)
{
    if (!has_offset)
        return;
    reserve(RECORD_BYTES);
    *at++ = RECORD_OFFSET;
    for (int i = 0; i < 3; i++)
        at = put_signed(at, offset[i]);
    commit();
}

/* Measures by how much rank 0's clock is ahead of that of each host: one rank of each host asks it. */
static void measure_offset(void)
{
    uint64_t own = clock_identity(), *all = malloc((size_t)world_size * sizeof *all);
    MPI_Comm comm, host;
    int first = own_rank, is_several = 0;
    if (all == NULL || PMPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS)
        return;
    PMPI_Allgather(&own, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, comm);
    for (int rank = world_size - 1; rank >= 0; rank--) {
        first = all[rank] == own ? rank : first;
        is_several |= all[rank] != all[0];
    }
    for (int rank = 1; rank < world_size && is_several; rank++) {
        int is_first = all[rank] != all[0];
        for (int before = 1; before < rank && is_first; before++)
            is_first = all[before] != all[rank];
        if (!is_first || (own_rank != 0 && own_rank != rank))
            continue;
        int64_t least = INT64_MAX, time;
        for (int i = 0; i < ROUND_TRIPS; i++) {
            if (own_rank == 0) {
                PMPI_Recv(&time, 1, MPI_INT64_T, rank, 1, comm, MPI_STATUS_IGNORE);
                time = monotonic_ns();
                PMPI_Send(&time, 1, MPI_INT64_T, rank, 2, comm);
            } else {
                int64_t before = monotonic_ns();
                PMPI_Send(&before, 1, MPI_INT64_T, 0, 1, comm);
                PMPI_Recv(&time, 1, MPI_INT64_T, 0, 2, comm, MPI_STATUS_IGNORE);
                int64_t after = monotonic_ns();
                if (after - before < least) {
                    least = offset[2] = after - before;
                    offset[0] = before + (after - before) / 2;
                    offset[1] = time - offset[0];
                }
            }
        }
    }
    if (is_several) {
        PMPI_Comm_split(comm, first, own_rank, &host);
        PMPI_Bcast(offset, 3, MPI_INT64_T, 0, host);
        PMPI_Comm_free(&host);
        has_offset = first != 0;
    }
    PMPI_Comm_free(&comm);
    free(all);
}

/* True if the program called MPI_Init by a function of this library. */
static int is_seen;
/* True from MPI_Init on, also where nothing can be written: what all ranks do together, each does. */
static int has_begun;

static void open_file(void)
{
    const char *prefix = getenv("LOGGP_RECORD");
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", prefix && *prefix ? prefix : "loggp-mpi", own_rank);
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    /* Processes that do not know each other are all rank 0. One empties no file that another one has mapped. */
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        fprintf(stderr,
                "loggp: a process is not recorded, since another one is rank %d of %d too; start the program as its MPI expects "
                "(`srun --mpi=list` says how srun can)\n",
                own_rank, world_size);
    else if (file < 0 || ftruncate(file, 0) != 0)
        fprintf(stderr, "loggp: rank %d is not recorded, since %s cannot be written: %s\n", own_rank, path, strerror(errno));
    else
        return;
    if (file >= 0)
        close(file);
    file = -1;
}

static void write_header(uint64_t ticks, int64_t ns)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", host[256] = "", program[4096] = "";
    unsigned char header[MPI_MAX_LIBRARY_VERSION_STRING + 8192], *to = header + 16;
    int length = 0;
    PMPI_Get_library_version(library, &length);
    gethostname(host, sizeof host - 1);
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        program[0] = 0;
    library[strcspn(library, "\n")] = 0;
    memcpy(header, "LOGGPREC", 8);
    put_fixed(header + 8, FORMAT_VERSION, 4);
    to = put(to, (uint64_t)own_rank);
    to = put(to, (uint64_t)world_size);
    to = put(to, ticks);
    to = put_signed(to, ns);
    to = put_text(to, LOGGP_MPI, 32);
    to = put_text(to, library, MPI_MAX_LIBRARY_VERSION_STRING);
    to = put_text(to, host, 256);
    to = put_text(to, program, 4096);
    put_fixed(header + 12, (uint64_t)(to - header - 16), 4);
    write_whole(header, (size_t)(to - header));
    position = to - header;
}

static void begin_recording(void);

/* At the end of MPI_Init. */
static void begin_program(void)
{
    const char *emulation = getenv("LOGGP_EMULATE"), *forked;
    MPI_Comm parent = MPI_COMM_NULL;
    int is_alone = end_alone();
    is_seen = 1;
    /* Processes that a program has spawned have a world of their own, whose ranks have the same numbers. */
    if (PMPI_Comm_get_parent(&parent) != MPI_SUCCESS || parent != MPI_COMM_NULL)
        return;
    PMPI_Query_thread(&thread_level);
    is_multiple = thread_level == MPI_THREAD_MULTIPLE;
    first_thread = pthread_self();
    if (is_alone || (emulation != NULL && *emulation != 0)) {
        begin_making_communicators();
        handle_errors();
        if ((forked = become_ranks()) != NULL)
            emulation = forked;
    }
    if (!is_alone) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &own_rank);
        PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
    }
    world.handle = MPI_COMM_WORLD;
    world.rank = own_rank;
    world.size = world_size;
    world.remote_size = -1;
    if (emulation != NULL && *emulation != 0)
        attach(emulation);
    else
        begin_recording();
}

static void begin_recording(void)
{
    uint64_t ticks = 0;
    int64_t ns = 0;
    open_file();
    choose_clock();
    measure_offset();
    this_thread();
    read_clocks(&ticks, &ns);
    if (has_ticks) {
        uint64_t later = ticks;
        int64_t later_ns = ns;
        while (later_ns - ns < 200000)
            read_clocks(&later, &later_ns);
        ticks_per_block = (uint64_t)((double)(later - ticks) / (double)(later_ns - ns) * BLOCK_NS);
        read_clocks(&ticks, &ns);
    }
    write_header(ticks, ns);
    first_ticks = ticks;
    first_ns = ns;
    begin_block(ticks, ns, 0);
    record_offset();
    process = getpid();
    has_begun = 1;
    is_on = file >= 0;
}

/* Writes what is left. */
static void end_recording(void)
{
    if (look.count > 0)
        write_look();
    flush_block(0);
    if (is_mapped && file >= 0 && ftruncate(file, position) != 0)
        stop_recording(strerror(errno));
}

/* Whether the program has called MPI_Init and MPI_Finalize. */
static int is_initialized, is_finalized;
/* Whether the first session has started the MPI, and how many are open. */
static int is_of_session, session_count;

CALL(Init, (int *words, char ***arguments))
{
    is_initialized = 1;
    if (is_of_session)
        return MPI_SUCCESS;
    inside = 1;
    begin_alone();
    int error = REAL(Init)(words, arguments);
    if (error == MPI_SUCCESS)
        begin_program();
    inside = 0;
    return error;
}

static int start_mpi(int *words, char ***arguments, int required, int *provided);

CALL(Init_thread, (int *words, char ***arguments, int required, int *provided))
{
    is_initialized = 1;
    if (is_of_session)
        return PMPI_Query_thread(provided);
    return start_mpi(words, arguments, required, provided);
}

static int start_mpi(int *words, char ***arguments, int required, int *provided)
{
    inside = 1;
    begin_alone();
    int error = REAL(Init_thread)(words, arguments, required, provided);
    if (error == MPI_SUCCESS)
        begin_program();
    inside = 0;
    return error;
}

/* The constructors of other libraries ask these, perhaps before those of this one have found the real functions. */
#define REAL_AT_ONCE(name) (real_##name == NULL ? find_##name() : (void)0, REAL(name))

CALL(Initialized, (int *flag))
{
    if (!is_of_session || inside)
        return REAL_AT_ONCE(Initialized)(flag);
    *flag = is_initialized;
    return MPI_SUCCESS;
}

/* Ends what is recorded or emulated. The clock was at these ticks when MPI_Finalize was called, or what ends instead of it. */
static void end_program(void *place, uint64_t ticks)
{
    if (is_emulated) {
        enter(place);
        take_left(RECORD_WAITALL);
        look_for_leaks();
        detach(RECORD_FINALIZE, 1);
    } else if (has_begun) {
        inside = 1;
        lock();
        if (look.count > 0)
            write_look();
        measure_offset();
        record_offset();
        reserve(RECORD_BYTES);
        *at++ = RECORD_FINALIZE;
        at = put_signed(at, (int64_t)(ticks - last_end));
        end_recording();
        is_on = 0;
        unlock();
        if (file >= 0)
            close(file);
        file = -1;
    }
}

CALL(Finalize, (void))
{
    uint64_t ticks = now();
    if (inside)
        return REAL(Finalize)();
    if (is_emulated && is_fork) {
        delete_attributes(MPI_COMM_SELF);
        delete_attributes(MPI_COMM_WORLD);
    }
    is_finalized = 1;
    if (session_count > 0)
        return MPI_SUCCESS;
    end_program(PLACE, ticks);
    int error = is_fork ? MPI_SUCCESS : REAL(Finalize)();
    inside = 0;
    return error;
}

/* The MPI of a rank that was forked ends with the keeper, and one that has sessions may go on. */
CALL(Finalized, (int *flag))
{
    if (!is_fork && session_count == 0)
        return REAL_AT_ONCE(Finalized)(flag);
    *flag = is_finalized;
    return MPI_SUCCESS;
}

CALL(Abort, (MPI_Comm comm, int code))
{
    if (is_emulated && !inside) {
        enter(PLACE);
        begin_record(CALL_ABORT, &call, 0);
        at = put_signed(at, code);
        post(POST_CALLS, 0);
        is_emulated = 0;
    }
    if (is_fork) {
        fflush(NULL);
        _exit(code);
    }
    if (is_on && !inside) {
        lock();
        is_on = 0;
        end_recording();
        unlock();
    }
    return REAL(Abort)(comm, code);
}

/* Notes by a file that the program has called MPI by functions for which it asked dlsym, and so past this library. */
static void note_unseen(void)
{
    const char *prefix = getenv("LOGGP_RECORD");
    char path[4096];
    int is_initialized = 0;
    if (prefix == NULL || PMPI_Initialized(&is_initialized) != MPI_SUCCESS || !is_initialized)
        return;
    snprintf(path, sizeof path, "%s.unseen", prefix);
    int note = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (note >= 0)
        close(note);
}

/* A program that exits without MPI_Finalize has been recorded up to here. */
__attribute__((destructor)) static void finish(void)
{
    if (is_on && getpid() == process) {
        is_on = 0;
        end_recording();
    }
    if (is_emulated && getpid() == process) {
        inside = 1;
        detach(CALL_EXITED, 0);
    }
    if (!is_seen)
        note_unseen();
}

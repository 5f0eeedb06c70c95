/* Sessions of MPI 4. What is recorded or emulated begins with the first one, which starts the MPI as MPI_Init does if the program has
 * not, and ends with the process, since other sessions may follow. The real MPI has the handles and what they are asked for; which
 * ranks are in a set of processes is the library's to say. */

/* Where and when the last session was finalized. */
static void *last_session;
static uint64_t last_session_ticks;

static int level_in(MPI_Info info)
{
    static const char *const levels[] = {
        [MPI_THREAD_SINGLE] = "MPI_THREAD_SINGLE",
        [MPI_THREAD_FUNNELED] = "MPI_THREAD_FUNNELED",
        [MPI_THREAD_SERIALIZED] = "MPI_THREAD_SERIALIZED",
        [MPI_THREAD_MULTIPLE] = "MPI_THREAD_MULTIPLE",
    };
    char value[32] = "";
    int length = sizeof value, is_there = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get_string(info, "thread_level", &length, value, &is_there);
    for (int level = 0; level < (int)(sizeof levels / sizeof *levels) && is_there; level++)
        if (strcmp(levels[level], value) == 0)
            return level;
    return MPI_THREAD_MULTIPLE;
}

/* A program that exits with a session, or between MPI_Init and MPI_Finalize, exits as one without MPI_Finalize does. */
static void end_sessions(void)
{
    int is_over = (is_emulated || is_on) && getpid() == process;
    if (!is_over || session_count > 0 || (is_initialized && !is_finalized))
        return;
    last_process_ns = process_ns(); /* What came after the last call is not the program's time in MPI. */
    end_program(last_session, last_session_ticks);
    if (!is_fork)
        REAL(Finalize)();
    inside = 0;
}

CALL(Session_init, (MPI_Info info, MPI_Errhandler handler, MPI_Session *session))
{
    static int has_end;
    int provided, error = MPI_SUCCESS;
    if (inside)
        return REAL(Session_init)(info, handler, session);
    if (is_answered && !is_emulated) {
        fprintf(stderr, "loggp: rank %d calls MPI_Session_init after MPI_Finalize, which an emulated program cannot\n", own_rank);
        exit(2);
    }
    if (!is_seen) {
        error = start_mpi(NULL, NULL, level_in(info), &provided);
        is_of_session = 1;
    }
    if (!has_end)
        atexit(end_sessions);
    has_end = 1;
    inside = 1;
    if (error == MPI_SUCCESS)
        error = REAL(Session_init)(info, handler, session);
    inside = 0;
    session_count += error == MPI_SUCCESS;
    return error;
}

CALL(Session_finalize, (MPI_Session *session))
{
    if (inside)
        return REAL(Session_finalize)(session);
    last_session = PLACE;
    last_session_ticks = now();
    if (is_emulated)
        begin_call(last_session);
    inside = 1;
    int error = REAL(Session_finalize)(session);
    session_count -= error == MPI_SUCCESS;
    inside = 0;
    if (is_emulated)
        end_call();
    return error;
}

/* Returns how many ranks a set of an emulated program has, or 0 if the MPI is to be asked. */
static int ranks_in(const char *name)
{
    int is_known = is_emulated && !inside;
    return is_known && strcasecmp(name, "mpi://WORLD") == 0 ? world_size : is_known && strcasecmp(name, "mpi://SELF") == 0;
}

CALL(Group_from_session_pset, (MPI_Session session, const char *name, MPI_Group *group))
{
    int count = ranks_in(name);
    if (count == 0)
        return REAL(Group_from_session_pset)(session, name, group);
    int *ranks = room(sizeof *ranks * (size_t)count);
    for (int i = 0; i < count; i++)
        ranks[i] = count == 1 ? own_rank : i;
    *group = make_group(ranks, count, "MPI_Group_from_session_pset", PLACE);
    return MPI_SUCCESS;
}

CALL(Session_get_pset_info, (MPI_Session session, const char *name, MPI_Info *info))
{
    int count = ranks_in(name);
    if (count == 0)
        return REAL(Session_get_pset_info)(session, name, info);
    char size[16];
    snprintf(size, sizeof size, "%d", count);
    int error = MPI_Info_create(info);
    return error != MPI_SUCCESS ? error : PMPI_Info_set(*info, "mpi_size", size);
}

/* Files. Each rank opens a file itself, as one of this rank alone in the real MPI, and moves its data itself. What the ranks do together
 * with it waits for all of them, as a barrier does; the shared file pointer is here. */

/* What all ranks of a file have in their memory. */
struct shared_pointer {
    uint32_t is_held; /* by one who reaches for the file, or for what is here */
    uint64_t moves;   /* how often all ranks together have moved it */
    int64_t place, before; /* in elementary types of the view, and where it was before the last of these moves */
};

struct file {
    struct file *next;
    MPI_File handle;
    MPI_Comm comm; /* of its own, for what its ranks tell each other */
    int mode;
    char *path;
    struct shared_pointer *pointer;
    uint64_t moves;
    uint64_t unit; /* bytes of the view's elementary type */
    /* The split collective that has begun: its data are moved then. */
    const char *begun;
    MPI_Status status;
};

static struct file *files;

/* Modes that have to do with the other ranks. */
#define MODES_OF_ALL (MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_SEQUENTIAL | MPI_MODE_UNIQUE_OPEN)

static struct file *look_for_file(MPI_File handle)
{
    struct file *file = files;
    while (file != NULL && file->handle != handle)
        file = file->next;
    return file;
}

/* Whoever asks for a handler has one more, but for predefined ones. */
static void forget_handler(MPI_Errhandler handler)
{
    if (handler != MPI_ERRORS_RETURN && !is_fatal(handler))
        PMPI_Errhandler_free(&handler);
}

static int64_t processor_ns(void)
{
    return header->flags & WORK_IS_NONE ? 0 : process_ns();
}

/* Adds what the processor has done since then to the rank's work. */
static void add_work(int64_t since)
{
    int64_t passed = processor_ns() - since - reading_ns;
    work += passed > 0 ? (uint64_t)passed : 0;
}

/* Calls the MPI, which returns what is wrong and does nothing else. What the processor does for that is the rank's work. */
#define ASK_FILE(handle, asked)                                                                                      \
    ({                                                                                                               \
        MPI_Errhandler kept;                                                                                         \
        PMPI_File_get_errhandler(handle, &kept);                                                                     \
        PMPI_File_set_errhandler(handle, MPI_ERRORS_RETURN);                                                         \
        int64_t asked_at = processor_ns();                                                                           \
        int asked_error = asked;                                                                                     \
        add_work(asked_at);                                                                                          \
        PMPI_File_set_errhandler(handle, kept);                                                                      \
        forget_handler(kept);                                                                                        \
        asked_error;                                                                                                 \
    })

/* Error handlers of the program: Open MPI calls none of a file that is none. */
static struct file_handler {
    struct file_handler *next;
    MPI_Errhandler handle;
    MPI_File_errhandler_function *function;
} *file_handlers;

CALL(File_create_errhandler, (MPI_File_errhandler_function * function, MPI_Errhandler *handler))
{
    int error = REAL(File_create_errhandler)(function, handler);
    if (error != MPI_SUCCESS || !is_emulated || inside)
        return error;
    struct file_handler *made = room(sizeof *made);
    *made = (struct file_handler){file_handlers, *handler, function};
    file_handlers = made;
    note_made(OBJECT_ERRHANDLER, (uintptr_t)*handler, "MPI_File_create_errhandler", PLACE);
    return error;
}

static void call_handler(MPI_Errhandler handler, MPI_File handle, int error)
{
    const struct file_handler *known = file_handlers;
    while (known != NULL && known->handle != handler)
        known = known->next;
    if (known != NULL)
        known->function(&handle, &error);
    else
        PMPI_File_call_errhandler(handle, error);
}

/* Does what the file's error handler does, and returns the error. */
static int raise_error(const char *name, MPI_File handle, int error)
{
    MPI_Errhandler handler;
    if (error == MPI_SUCCESS)
        return error;
    PMPI_File_get_errhandler(handle, &handler);
    if (is_fatal(handler)) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length;
        PMPI_Error_string(error, text, &length);
        report("invalid parameter", "calls %s, which fails: %s", name, text);
    }
    forget_handler(handler);
    if (handler == MPI_ERRORS_RETURN)
        return error;
    void *place = call.place;
    leave();
    call_handler(handler, handle, error);
    enter(place);
    return error;
}

static int class_of(int error)
{
    int class = MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        PMPI_Error_class(error, &class);
    return class;
}

#define MOST_OF_NAME 40

/* What each rank says of a call that ranks make together. */
struct said {
    char name[MOST_OF_NAME];
    int64_t value; /* the same at all, or how many elementary types */
    int64_t process, memory; /* where the first one has what all share */
    int32_t whence, error;
};

/* Waits until all ranks of a communicator have called the function. Returns what each has said; the caller frees it. */
static struct said *call_together(const char *name, const struct communicator *with, struct said own)
{
    int *members = members_of(with), *places = places_of_parts(with, members, with->size);
    struct said *all = room(sizeof *all * (size_t)with->size);
    snprintf(own.name, sizeof own.name, "%s", name);
    begin_record(CALL_ON_FILE, &call, MOST_OF_NAME);
    at = put(at, with->number);
    at = put_text(at, name, MOST_OF_NAME);
    struct parts parts = give_part(&own, sizeof own);
    for (int i = 0; i < with->size; i++) {
        if (parts.bytes[places[i]] != sizeof own)
            report("call ordering", "calls %s where rank %d makes another call", name, members[i]);
        memcpy(&all[i], parts.data[places[i]], sizeof own);
        if (strcmp(all[i].name, name) != 0)
            report("call ordering", "calls %s where rank %d calls %s; all ranks of a file call the same", name, members[i], all[i].name);
    }
    free_parts(&parts);
    free(members);
    free(places);
    return all;
}

/* The same, for no more than an error: returns that of the first rank that has one. */
static int agree_on_error(const char *name, const struct communicator *with, int error)
{
    struct said *all = call_together(name, with, (struct said){.error = class_of(error)});
    for (int i = 0; i < with->size && error == MPI_SUCCESS; i++)
        error = all[i].error;
    free(all);
    return error;
}

static int differs(const struct said *all, int count)
{
    int is_other = 0;
    for (int i = 1; i < count; i++)
        is_other = is_other || all[i].value != all[0].value || all[i].whence != all[0].whence;
    return is_other;
}

static struct communicator *ranks_of_file(const struct file *file)
{
    return find_communicator(file->comm);
}

static void hold(const struct file *file)
{
    while (__atomic_exchange_n(&file->pointer->is_held, 1, __ATOMIC_ACQUIRE) != 0) {
        usleep(100);
        look_for_command(1);
    }
}

static void let_go(const struct file *file)
{
    __atomic_store_n(&file->pointer->is_held, 0, __ATOMIC_RELEASE);
}

/* Returns where the shared pointer was, which this rank moves by so much. */
static int64_t take_place(const struct file *file, int64_t count)
{
    hold(file);
    int64_t place = file->pointer->place;
    file->pointer->place += count;
    let_go(file);
    return place;
}

/* The same of a move that all ranks make together, and the first one that comes here for all. */
static int64_t move_together(struct file *file, int64_t first, int64_t count)
{
    struct shared_pointer *pointer = file->pointer;
    file->moves++;
    hold(file);
    if (pointer->moves != file->moves) {
        int64_t to = (first < 0 ? pointer->place : first) + count;
        pointer->before = pointer->place;
        pointer->place = to < 0 ? pointer->place : to;
        pointer->moves = file->moves;
    }
    int64_t before = pointer->before;
    let_go(file);
    return before;
}

/* Waits until all earlier calls of all ranks have been made. What it finds then may depend on which rank comes first. */
static void await_turn_at(const char *name, int depends)
{
    begin_record(CALL_AT_FILE, &call, MOST_OF_NAME);
    at = put_text(at, name, MOST_OF_NAME);
    *at++ = (unsigned char)depends;
    end_record(1);
}

/* Maps what all ranks share. The first one has made it. */
static void map_pointer(struct file *file, const struct said *first)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)first->process, (long long)first->memory);
    int shared = open(path, O_RDWR | O_CLOEXEC);
    if (shared < 0 || posix_fallocate(shared, 0, sizeof *file->pointer) != 0 ||
        (file->pointer = mmap(NULL, sizeof *file->pointer, PROT_READ | PROT_WRITE, MAP_SHARED, shared, 0)) == MAP_FAILED)
        refuse("opens a file, and has no memory for its shared pointer: %s", strerror(errno));
    close(shared);
}

static void forget_file(struct file *file)
{
    if (file->comm != MPI_COMM_NULL) {
        free_communicator(file->comm);
        PMPI_Comm_free(&file->comm);
    }
    munmap(file->pointer, sizeof *file->pointer);
    free(file->path);
    free(file);
}

/* Opens the file here. Only the first rank creates it. */
static int open_own(const char *path, int mode, int is_first, MPI_Info info, MPI_File *made)
{
    if ((mode & MPI_MODE_SEQUENTIAL) && (mode & MPI_MODE_RDWR))
        return MPI_ERR_UNSUPPORTED_OPERATION;
    mode &= ~(is_first ? MODES_OF_ALL : MODES_OF_ALL | MPI_MODE_CREATE | MPI_MODE_EXCL);
    return ASK_FILE(MPI_FILE_NULL, PMPI_File_open(blank_communicator(), path, mode, info, made));
}

static int emulate_file_open(MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *made)
{
    const char *name = "MPI_File_open";
    CHECK(check_communicator(name, comm));
    struct communicator *parent = find_communicator(comm);
    struct said own = {.value = mode, .process = process};
    int is_first = parent->rank == 0;
    *made = MPI_FILE_NULL;
    if (parent->remote_size >= 0)
        return raise_error(name, MPI_FILE_NULL, MPI_ERR_COMM);
    if (is_first) {
        own.error = open_own(path, mode, 1, info, made);
        own.memory = memfd_create("loggp file", MFD_CLOEXEC);
    }
    int error = own.error;
    own.error = class_of(error);
    struct said *all = call_together(name, parent, own);
    struct file *file = calloc(1, sizeof *file);
    if (file == NULL)
        abort();
    *file = (struct file){.mode = mode, .path = strdup(path), .unit = 1, .comm = MPI_COMM_NULL};
    map_pointer(file, &all[0]);
    if (error == MPI_SUCCESS)
        error = differs(all, parent->size) ? MPI_ERR_NOT_SAME : all[0].error;
    free(all);
    if (error == MPI_SUCCESS && !is_first)
        error = open_own(path, mode, 0, info, made);
    MPI_Offset size = 0;
    if (error == MPI_SUCCESS && is_first && (mode & MPI_MODE_APPEND) && PMPI_File_get_size(*made, &size) == MPI_SUCCESS)
        file->pointer->place = size;
    error = agree_on_error(name, parent, error);
    if (is_first)
        close((int)own.memory);
    if (error != MPI_SUCCESS) {
        if (*made != MPI_FILE_NULL)
            PMPI_File_close(made);
        *made = MPI_FILE_NULL;
        forget_file(file);
        return raise_error(name, MPI_FILE_NULL, error);
    }
    file->comm = make_like(parent, parent->children++)->handle;
    file->handle = *made;
    file->next = files;
    files = file;
    note_made(OBJECT_FILE, (uintptr_t)*made, name, call.place);
    return MPI_SUCCESS;
}

/* Finds the file of a call. */
#define FIND_FILE(name, handle)                                                                                      \
    struct file *file = look_for_file(handle);                                                                       \
    if (file == NULL)                                                                                                \
        return raise_error(name, MPI_FILE_NULL, MPI_ERR_FILE)

static int emulate_file_close(MPI_File *handle)
{
    const char *name = "MPI_File_close";
    FIND_FILE(name, *handle);
    if (file->begun != NULL)
        return raise_error(name, *handle, MPI_ERR_OTHER);
    struct communicator *with = ranks_of_file(file);
    struct file **link = &files;
    while (*link != file)
        link = &(*link)->next;
    *link = file->next;
    note_freed(OBJECT_FILE, (uintptr_t)*handle);
    int error = ASK_FILE(MPI_FILE_NULL, PMPI_File_close(handle));
    /* Who has it still open does not miss its name. */
    if (with->rank == 0 && (file->mode & MPI_MODE_DELETE_ON_CLOSE))
        error = error != MPI_SUCCESS ? error : ASK_FILE(MPI_FILE_NULL, PMPI_File_delete(file->path, MPI_INFO_NULL));
    error = agree_on_error(name, with, error);
    forget_file(file);
    return raise_error(name, MPI_FILE_NULL, error);
}

/* What one rank does for all, before they go on. */
#define DONE_BY_FIRST(file_call, done)                                                                               \
    ({                                                                                                               \
        struct communicator *with = ranks_of_file(file);                                                             \
        int done_error = with->rank == 0 ? ASK_FILE(handle, done) : MPI_SUCCESS;                                     \
        raise_error(file_call, handle, agree_on_error(file_call, with, done_error));                                 \
    })

static int emulate_file_resize(const char *name, MPI_File handle, MPI_Offset size, int is_allocated)
{
    FIND_FILE(name, handle);
    return DONE_BY_FIRST(name, is_allocated ? PMPI_File_preallocate(handle, size) : PMPI_File_set_size(handle, size));
}

/* What all ranks do once all have called. */
static int emulate_file_atomicity(MPI_File handle, int flag)
{
    const char *name = "MPI_File_set_atomicity";
    FIND_FILE(name, handle);
    struct communicator *with = ranks_of_file(file);
    struct said *all = call_together(name, with, (struct said){.value = flag != 0});
    int is_same = !differs(all, with->size);
    free(all);
    return raise_error(name, handle, is_same ? ASK_FILE(handle, PMPI_File_set_atomicity(handle, flag)) : MPI_ERR_NOT_SAME);
}

static int emulate_file_info(MPI_File handle, MPI_Info info)
{
    const char *name = "MPI_File_set_info";
    FIND_FILE(name, handle);
    int error = ASK_FILE(handle, PMPI_File_set_info(handle, info));
    return raise_error(name, handle, agree_on_error(name, ranks_of_file(file), error));
}

static int emulate_file_sync(MPI_File handle)
{
    const char *name = "MPI_File_sync";
    FIND_FILE(name, handle);
    int error = ASK_FILE(handle, PMPI_File_sync(handle));
    return raise_error(name, handle, agree_on_error(name, ranks_of_file(file), error));
}

static int emulate_file_view(MPI_File handle, MPI_Offset begin, MPI_Datatype unit, MPI_Datatype type, const char *form, MPI_Info info)
{
    const char *name = "MPI_File_set_view";
    FIND_FILE(name, handle);
    struct communicator *with = ranks_of_file(file);
    int is_wrong = type_fault(unit) != NULL || type_fault(type) != NULL;
    struct said *all = call_together(name, with, (struct said){.value = is_wrong ? 0 : (int64_t)type_bytes(unit)});
    if (is_checked() && differs(all, with->size))
        report("parameter matching", "calls %s with an elementary type of another size than other ranks; that of all is the same", name);
    free(all);
    int64_t before = move_together(file, 0, 0);
    if (is_wrong)
        return raise_error(name, handle, MPI_ERR_TYPE);
    if (begin == MPI_DISPLACEMENT_CURRENT && (file->mode & MPI_MODE_SEQUENTIAL))
        PMPI_File_get_byte_offset(handle, before, &begin);
    int error = ASK_FILE(handle, PMPI_File_set_view(handle, begin, unit, type, form, info));
    if (error == MPI_SUCCESS)
        file->unit = type_bytes(unit);
    return raise_error(name, handle, error);
}

/* Returns where a file ends in its view. */
static int find_end(MPI_File handle, MPI_Offset *end)
{
    MPI_Offset own;
    CHECK(ASK_FILE(handle, PMPI_File_get_position(handle, &own)));
    CHECK(ASK_FILE(handle, PMPI_File_seek(handle, 0, MPI_SEEK_END)));
    CHECK(ASK_FILE(handle, PMPI_File_get_position(handle, end)));
    return ASK_FILE(handle, PMPI_File_seek(handle, own, MPI_SEEK_SET));
}

static int emulate_seek_shared(MPI_File handle, MPI_Offset offset, int whence)
{
    const char *name = "MPI_File_seek_shared";
    FIND_FILE(name, handle);
    struct communicator *with = ranks_of_file(file);
    struct said *all = call_together(name, with, (struct said){.value = offset, .whence = whence});
    int is_other = differs(all, with->size);
    MPI_Offset from = 0;
    free(all);
    if (is_other)
        return raise_error(name, handle, MPI_ERR_NOT_SAME);
    if (whence != MPI_SEEK_SET && whence != MPI_SEEK_CUR && whence != MPI_SEEK_END)
        return raise_error(name, handle, MPI_ERR_ARG);
    if (whence == MPI_SEEK_END)
        CHECK(raise_error(name, handle, find_end(handle, &from)));
    int64_t before = move_together(file, whence == MPI_SEEK_CUR ? -1 : from, offset);
    return raise_error(name, handle, (whence == MPI_SEEK_CUR ? before : from) + offset < 0 ? MPI_ERR_ARG : MPI_SUCCESS);
}

static int emulate_position_shared(MPI_File handle, MPI_Offset *offset)
{
    FIND_FILE("MPI_File_get_position_shared", handle);
    await_turn_at("MPI_File_get_position_shared", 1);
    *offset = take_place(file, 0);
    return MPI_SUCCESS;
}

static int emulate_seek(MPI_File handle, MPI_Offset offset, int whence)
{
    const char *name = "MPI_File_seek";
    FIND_FILE(name, handle);
    if (file->mode & MPI_MODE_SEQUENTIAL)
        return raise_error(name, handle, MPI_ERR_UNSUPPORTED_OPERATION);
    if (whence == MPI_SEEK_END)
        await_turn_at(name, 0);
    return raise_error(name, handle, ASK_FILE(handle, PMPI_File_seek(handle, offset, whence)));
}

/* Where a call reads or writes: at this rank's pointer, at an offset, at the shared pointer, or there in the order of ranks. */
enum file_place { AT_OWN, AT_OFFSET, AT_SHARED, IN_RANKS };

struct file_access {
    const char *name;
    MPI_File handle;
    int is_write, is_collective;
    enum file_place place;
    MPI_Offset offset;
    void *data;
    int64_t count;
    MPI_Datatype type;
};

#if defined(HAS_LARGE)
#define MOVE(name, ...) (is_large ? PMPI_##name##_c(__VA_ARGS__) : PMPI_##name(__VA_ARGS__))
#else
#define MOVE(name, ...) PMPI_##name(__VA_ARGS__)
#endif

/* Moves the data by the MPI. */
static int move_data(const struct file_access *access, MPI_Status *status)
{
    MPI_File file = access->handle;
    int64_t is_large = access->count > INT32_MAX, count = access->count;
    (void)is_large;
#define DATA access->data, (__typeof__(count))count, access->type, status
    if (access->place == AT_OWN)
        return access->is_write ? MOVE(File_write, file, DATA) : MOVE(File_read, file, DATA);
    return access->is_write ? MOVE(File_write_at, file, access->offset, DATA) : MOVE(File_read_at, file, access->offset, DATA);
#undef DATA
}

static int check_access(const struct file *file, const struct file_access *access)
{
    struct counts data = message_of(access->data, (uint64_t)access->count, access->type);
    const struct counts none = {.n = 0};
    if (access->count < 0)
        return MPI_ERR_COUNT;
    if (access->count > 0 && type_fault(access->type) != NULL)
        return MPI_ERR_TYPE;
    if ((file->mode & MPI_MODE_SEQUENTIAL) && (access->place == AT_OWN || access->place == AT_OFFSET))
        return MPI_ERR_UNSUPPORTED_OPERATION;
    look_at_data(access->name, access->is_write ? &data : &none, access->is_write ? &none : &data);
    return MPI_SUCCESS;
}

/* Reads or writes. */
static int access_file(struct file_access access, MPI_Status *status)
{
    FIND_FILE(access.name, access.handle);
    struct communicator *with = ranks_of_file(file);
    uint64_t bytes = access.count > 0 && type_fault(access.type) == NULL ? (uint64_t)access.count * type_bytes(access.type) : 0;
    int64_t units = file->unit > 0 ? (int64_t)(bytes / file->unit) : 0, before = 0, sum = 0;
    if (access.is_collective) {
        struct said *all = call_together(access.name, with, (struct said){.value = units});
        for (int i = 0; i < with->size; i++) {
            before += i < with->rank ? all[i].value : 0;
            sum += all[i].value;
        }
        free(all);
    } else {
        await_turn_at(access.name, access.place == AT_SHARED);
    }
    if (access.place == AT_SHARED)
        access.offset = take_place(file, units);
    else if (access.place == IN_RANKS)
        access.offset = move_together(file, -1, sum) + before;
    int error = check_access(file, &access);
    if (error == MPI_SUCCESS) {
        hold(file); /* A library may write more than it has to, which it has read before. */
        error = ASK_FILE(access.handle, move_data(&access, status));
        let_go(file);
    }
    return raise_error(access.name, access.handle, error);
}

/* An immediate access is made at the call: its request is complete. */
static int begin_access(struct file_access access, MPI_Request *request)
{
    MPI_Status status;
    *request = MPI_REQUEST_NULL;
    CHECK(access_file(access, &status));
    *request = (MPI_Request)new_handle();
    struct counts data = message_of(access.data, (uint64_t)access.count, access.type);
    add_access(*request, access.name, &data, access.is_write, &status);
    return MPI_SUCCESS;
}

/* A split collective waits for all, and moves its data, at its begin. */
static int begin_split(struct file_access access)
{
    FIND_FILE(access.name, access.handle);
    if (file->begun != NULL)
        return raise_error(access.name, access.handle, MPI_ERR_OTHER);
    access.is_collective = 1;
    CHECK(access_file(access, &file->status));
    file->begun = access.name;
    return MPI_SUCCESS;
}

static int end_split(const char *name, MPI_File handle, MPI_Status *status)
{
    FIND_FILE(name, handle);
    /* The names differ in what is behind the last underscore. */
    size_t same = (size_t)(strrchr(name, '_') - name);
    if (file->begun == NULL || strncmp(file->begun, name, same) != 0 || strcmp(file->begun + same, "_begin") != 0)
        return raise_error(name, handle, MPI_ERR_OTHER);
    file->begun = NULL;
    if (status != MPI_STATUS_IGNORE)
        *status = file->status;
    return MPI_SUCCESS;
}

UNMODELLED(File_open, (MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *made), (comm, path, mode, info, made),
        emulate_file_open(comm, path, mode, info, made))
UNMODELLED(File_close, (MPI_File * file), (file), emulate_file_close(file))
UNMODELLED(File_delete, (const char *path, MPI_Info info), (path, info),
        raise_error("MPI_File_delete", MPI_FILE_NULL, ASK_FILE(MPI_FILE_NULL, PMPI_File_delete(path, info))))
UNMODELLED(File_set_size, (MPI_File file, MPI_Offset size), (file, size), emulate_file_resize("MPI_File_set_size", file, size, 0))
UNMODELLED(File_preallocate, (MPI_File file, MPI_Offset size), (file, size), emulate_file_resize("MPI_File_preallocate", file, size, 1))
UNMODELLED(File_set_info, (MPI_File file, MPI_Info info), (file, info), emulate_file_info(file, info))
UNMODELLED(File_set_atomicity, (MPI_File file, int flag), (file, flag), emulate_file_atomicity(file, flag))
UNMODELLED(File_sync, (MPI_File file), (file), emulate_file_sync(file))
UNMODELLED(File_set_view, (MPI_File file, MPI_Offset begin, MPI_Datatype unit, MPI_Datatype type, const char *form, MPI_Info info),
        (file, begin, unit, type, form, info), emulate_file_view(file, begin, unit, type, form, info))
UNMODELLED(File_seek, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence), emulate_seek(file, offset, whence))
UNMODELLED(File_seek_shared, (MPI_File file, MPI_Offset offset, int whence), (file, offset, whence), emulate_seek_shared(file, offset, whence))
UNMODELLED(File_get_position_shared, (MPI_File file, MPI_Offset *offset), (file, offset), emulate_position_shared(file, offset))

/* Calls that ask for what this rank knows, of the file as it is then. */
#define ASKS_FILE(name, parameters, arguments)                                                                       \
    CALL(name, parameters)                                                                                           \
    {                                                                                                                \
        EMULATED(ask_file("MPI_" #name, file) ?: raise_error("MPI_" #name, file, ASK_FILE(file, REAL(name) arguments))); \
        return REAL(name) arguments;                                                                                 \
    }

static int ask_file(const char *name, MPI_File handle)
{
    FIND_FILE(name, handle);
    await_turn_at(name, 0);
    return MPI_SUCCESS;
}

ASKS_FILE(File_get_size, (MPI_File file, MPI_Offset *size), (file, size))
ASKS_FILE(File_get_position, (MPI_File file, MPI_Offset *place), (file, place))
ASKS_FILE(File_get_byte_offset, (MPI_File file, MPI_Offset place, MPI_Offset *bytes), (file, place, bytes))
ASKS_FILE(File_get_type_extent, (MPI_File file, MPI_Datatype type, MPI_Aint *extent), (file, type, extent))
ASKS_FILE(File_get_atomicity, (MPI_File file, int *flag), (file, flag))
#if defined(HAS_LARGE)
ASKS_FILE(File_get_type_extent_c, (MPI_File file, MPI_Datatype type, MPI_Count *extent), (file, type, extent))
#endif

static int emulate_get_view(MPI_File file, MPI_Offset *begin, MPI_Datatype *unit, MPI_Datatype *type, char *form)
{
    const char *name = "MPI_File_get_view";
    CHECK(ask_file(name, file));
    CHECK(raise_error(name, file, ASK_FILE(file, PMPI_File_get_view(file, begin, unit, type, form))));
    note_contents(name, 1, unit, call.place);
    note_contents(name, 1, type, call.place);
    return MPI_SUCCESS;
}

static int emulate_get_info(MPI_File file, MPI_Info *info)
{
    const char *name = "MPI_File_get_info";
    CHECK(ask_file(name, file));
    CHECK(raise_error(name, file, ASK_FILE(file, PMPI_File_get_info(file, info))));
    note_made(OBJECT_INFO, (uintptr_t)*info, name, call.place);
    return MPI_SUCCESS;
}

CALL(File_get_view, (MPI_File file, MPI_Offset *begin, MPI_Datatype *unit, MPI_Datatype *type, char *form))
{
    EMULATED(emulate_get_view(file, begin, unit, type, form));
    return REAL(File_get_view)(file, begin, unit, type, form);
}

CALL(File_get_info, (MPI_File file, MPI_Info *info))
{
    EMULATED(emulate_get_info(file, info));
    return REAL(File_get_info)(file, info);
}

CALL(File_get_amode, (MPI_File handle, int *mode))
{
    const struct file *file = is_answered ? look_for_file(handle) : NULL;
    if (file == NULL)
        return REAL(File_get_amode)(handle, mode);
    *mode = file->mode;
    return MPI_SUCCESS;
}

CALL(File_get_group, (MPI_File handle, MPI_Group *group))
{
    const struct file *file = is_answered ? look_for_file(handle) : NULL;
    if (file == NULL)
        return REAL(File_get_group)(handle, group);
    const struct communicator *with = ranks_of_file(file);
    *group = make_group(members_of(with), with->size, "MPI_File_get_group", PLACE);
    return MPI_SUCCESS;
}

#define ACCESS(called, writes, where, begin, all)                                                                    \
    (struct file_access){.name = "MPI_" #called, .handle = file, .is_write = writes, .is_collective = all, .place = where, .offset = begin, \
                         .data = (void *)data, .count = (int64_t)count, .type = type}

/* A way to read and to write: by a call that waits, one that has a request, and one in two parts. */
#define MOVES(name, suffix, TYPE, COUNT, writes, at, all)                                                            \
    UNMODELLED(File_##name##suffix, (MPI_File file, TYPE data, COUNT count, MPI_Datatype type, MPI_Status *status),  \
            (file, data, count, type, status), access_file(ACCESS(File_##name, writes, at, 0, all), status))
#define MOVES_AT(name, suffix, TYPE, COUNT, writes, all)                                                             \
    UNMODELLED(File_##name##suffix, (MPI_File file, MPI_Offset offset, TYPE data, COUNT count, MPI_Datatype type, MPI_Status *status), \
            (file, offset, data, count, type, status), access_file(ACCESS(File_##name, writes, AT_OFFSET, offset, all), status))
#define BEGINS(name, suffix, TYPE, COUNT, writes, at)                                                                \
    UNMODELLED(File_##name##suffix, (MPI_File file, TYPE data, COUNT count, MPI_Datatype type, MPI_Request *request), \
            (file, data, count, type, request), begin_access(ACCESS(File_##name, writes, at, 0, 0), request))
#define BEGINS_AT(name, suffix, TYPE, COUNT, writes)                                                                 \
    UNMODELLED(File_##name##suffix, (MPI_File file, MPI_Offset offset, TYPE data, COUNT count, MPI_Datatype type, MPI_Request *request), \
            (file, offset, data, count, type, request), begin_access(ACCESS(File_##name, writes, AT_OFFSET, offset, 0), request))
#define SPLITS(name, suffix, TYPE, COUNT, writes, at)                                                                \
    UNMODELLED(File_##name##_begin##suffix, (MPI_File file, TYPE data, COUNT count, MPI_Datatype type), (file, data, count, type), \
            begin_split(ACCESS(File_##name##_begin, writes, at, 0, 1)))
#define SPLITS_AT(name, suffix, TYPE, COUNT, writes)                                                                 \
    UNMODELLED(File_##name##_begin##suffix, (MPI_File file, MPI_Offset offset, TYPE data, COUNT count, MPI_Datatype type), \
            (file, offset, data, count, type), begin_split(ACCESS(File_##name##_begin, writes, AT_OFFSET, offset, 1)))
#define ENDS(name, TYPE)                                                                                             \
    UNMODELLED(File_##name##_end, (MPI_File file, TYPE data, MPI_Status *status), (file, data, status),              \
            end_split("MPI_File_" #name "_end", file, status))

#define ALL_MOVES(what, suffix, TYPE, COUNT, writes)                                                                 \
    MOVES(what, suffix, TYPE, COUNT, writes, AT_OWN, 0)                                                              \
    MOVES(what##_all, suffix, TYPE, COUNT, writes, AT_OWN, 1)                                                        \
    MOVES(what##_shared, suffix, TYPE, COUNT, writes, AT_SHARED, 0)                                                  \
    MOVES(what##_ordered, suffix, TYPE, COUNT, writes, IN_RANKS, 1)                                                  \
    MOVES_AT(what##_at, suffix, TYPE, COUNT, writes, 0)                                                              \
    MOVES_AT(what##_at_all, suffix, TYPE, COUNT, writes, 1)                                                          \
    BEGINS(i##what, suffix, TYPE, COUNT, writes, AT_OWN)                                                             \
    BEGINS(i##what##_all, suffix, TYPE, COUNT, writes, AT_OWN)                                                       \
    BEGINS(i##what##_shared, suffix, TYPE, COUNT, writes, AT_SHARED)                                                 \
    BEGINS_AT(i##what##_at, suffix, TYPE, COUNT, writes)                                                             \
    BEGINS_AT(i##what##_at_all, suffix, TYPE, COUNT, writes)                                                         \
    SPLITS(what##_all, suffix, TYPE, COUNT, writes, AT_OWN)                                                          \
    SPLITS(what##_ordered, suffix, TYPE, COUNT, writes, IN_RANKS)                                                    \
    SPLITS_AT(what##_at_all, suffix, TYPE, COUNT, writes)
#define ALL_ENDS(what, TYPE) ENDS(what##_all, TYPE) ENDS(what##_ordered, TYPE) ENDS(what##_at_all, TYPE)

ALL_MOVES(read, , void *, int, 0)
ALL_MOVES(write, , const void *, int, 1)
ALL_ENDS(read, void *)
ALL_ENDS(write, const void *)
#if defined(HAS_LARGE)
ALL_MOVES(read, _c, void *, MPI_Count, 0)
ALL_MOVES(write, _c, const void *, MPI_Count, 1)
#endif

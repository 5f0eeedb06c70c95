/* Faults that one rank can see: arguments that no call takes, buffers that are written while a request has them, and what is left at
 * the end. The first are looked for in all emulated programs, the others where the command asks for checks. */

/* What the library says of an error has no other effect between these two. */
static MPI_Errhandler kept_handlers[2];

static void begin_asking(void)
{
    PMPI_Comm_get_errhandler(MPI_COMM_WORLD, &kept_handlers[0]);
    PMPI_Comm_get_errhandler(MPI_COMM_SELF, &kept_handlers[1]);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static int end_asking(int error)
{
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, kept_handlers[0]);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, kept_handlers[1]);
    PMPI_Errhandler_free(&kept_handlers[0]);
    PMPI_Errhandler_free(&kept_handlers[1]);
    return error;
}
#define ASK(asked) (begin_asking(), end_asking(asked))

/* The handler of the program's communicators that have none of its own: errors that the library finds end the run too. */
static MPI_Errhandler fatal_handler;

/* Returns where the program called the library. */
static void *find_caller(void)
{
    void *frames[64];
    int count = backtrace(frames, 64), i = 0;
    Dl_info module, own;
    dladdr(objects, &own);
    while (i + 1 < count && dladdr(frames[i], &module) != 0 &&
           (module.dli_fbase == own.dli_fbase || strstr(module.dli_fname, "/libmpi") != NULL))
        i++;
    return frames[i];
}

static void fail(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    const char *name = "a function of MPI";
    int length = 0;
    PMPI_Error_string(*code, text, &length);
#if defined(OPEN_MPI)
    va_list arguments;
    va_start(arguments, code);
    name = va_arg(arguments, const char *);
    va_end(arguments);
#endif
    if (!is_emulated) {
        fprintf(stderr, "loggp: rank %d calls %s, which fails: %s\n", own_rank, name, text);
        PMPI_Abort(*comm, *code);
    }
    if (!inside)
        enter(find_caller());
    for (char *end = text; (end = strpbrk(end, "\n\t")) != NULL;)
        *end = ' ';
    report("invalid parameter", "calls %s, which fails: %s", name, text);
}

static void handle_errors(void)
{
    PMPI_Comm_create_errhandler(fail, &fatal_handler);
    PMPI_Comm_set_errhandler(MPI_COMM_WORLD, fatal_handler);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, fatal_handler);
}

static int is_fatal(MPI_Errhandler handler)
{
#if defined(HAS_FOUR)
    if (handler == MPI_ERRORS_ABORT)
        return 1;
#endif
    return handler == fatal_handler || handler == MPI_ERRORS_ARE_FATAL;
}

static int reject_with(MPI_Comm comm, int class, const char *form, va_list arguments)
{
    MPI_Errhandler handler;
    PMPI_Comm_get_errhandler(comm, &handler);
    int ends = is_fatal(handler);
    PMPI_Errhandler_free(&handler);
    if (ends) {
        char sentence[1024];
        vsnprintf(sentence, sizeof sentence, form, arguments);
        report("invalid parameter", "%s", sentence);
    }
    void *place = call.place;
    leave();
    PMPI_Comm_call_errhandler(comm, class);
    enter(place);
    return class;
}

int reject(MPI_Comm comm, int class, const char *form, ...)
{
    va_list arguments;
    va_start(arguments, form);
    int error = reject_with(comm, class, form, arguments);
    va_end(arguments);
    return error;
}

/* A call from inside of the library, or after the end, has no place in the program. */
int reject_at(void *place, MPI_Comm comm, int class, const char *form, ...)
{
    if (inside || !is_emulated)
        return class;
    va_list arguments;
    va_start(arguments, form);
    enter(place);
    int error = reject_with(comm, class, form, arguments);
    leave();
    va_end(arguments);
    return error;
}

/* Each check returns 0 or the class of an error. */
#define CHECK(check)                                                                                                 \
    do {                                                                                                             \
        int checked = check;                                                                                         \
        if (checked != MPI_SUCCESS)                                                                                  \
            return checked;                                                                                          \
    } while (0)

static int check_communicator(const char *name, MPI_Comm comm)
{
    if (find_communicator(comm) != NULL)
        return MPI_SUCCESS;
    return reject(MPI_COMM_WORLD, MPI_ERR_COMM,
                  "calls %s with %s; it takes MPI_COMM_WORLD, or a communicator that was made from it and is not freed", name,
                  comm == MPI_COMM_NULL                                  ? "MPI_COMM_NULL"
                  : is_freed(OBJECT_COMMUNICATOR, (uintptr_t)comm) ? "a communicator that has been freed"
                                                                         : "what is no communicator");
}

static const char *type_fault(MPI_Datatype type)
{
    const struct object *object = find_object(OBJECT_DATATYPE, (uintptr_t)type);
    if (type == MPI_DATATYPE_NULL)
        return "MPI_DATATYPE_NULL";
    if (object == NULL || (object->references > 0 && object->is_committed))
        return NULL;
    return object->references == 0 ? "a datatype that has been freed" : "a datatype that has not been committed";
}

/* True if the type has no absolute addresses, for which MPI_BOTTOM is the buffer. */
static int is_relative(MPI_Datatype type)
{
    MPI_Aint low = 0, extent = 0;
    PMPI_Type_get_true_extent(type, &low, &extent);
    return extent > 0 && low < 4096;
}

static int check_data(const char *name, MPI_Comm comm, const struct counts *data, int may_be_in_place)
{
    const char *fault;
    for (int i = 0; i < data->n; i++) {
        int64_t count = (int64_t)(data->each ? count_of(data, i) : data->count);
        MPI_Datatype type = data->types ? data->types[i] : data->type;
        if (count < 0)
            return reject(comm, MPI_ERR_COUNT, "calls %s for %lld elements; 0 is the least", name, (long long)count);
        if (count > 0 && data->data == MPI_IN_PLACE && !may_be_in_place)
            return reject(comm, MPI_ERR_BUFFER, "calls %s with MPI_IN_PLACE where a buffer has to be", name);
        if (count > 0 && (fault = type_fault(type)) != NULL)
            return reject(comm, MPI_ERR_TYPE, "calls %s with %s; it takes a predefined type, or one that is committed and not freed",
                          name, fault);
        if (count > 0 && data->data == NULL && is_relative(type))
            return reject(comm, MPI_ERR_BUFFER, "calls %s with NULL as the buffer of %lld elements; it has to have room for all of them",
                          name, (long long)count);
        if (data->each == NULL)
            break;
    }
    return MPI_SUCCESS;
}

static int last_tag(void)
{
    static int last = -1;
    int *value, is_there = 0;
    if (last < 0) {
        PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &value, &is_there);
        last = is_there ? *value : 32767;
    }
    return last;
}

static int check_peer(const char *name, MPI_Comm comm, int peer, int tag, int is_receive)
{
    CHECK(check_communicator(name, comm));
    int number = peers(find_communicator(comm)), is_any = is_receive && peer == MPI_ANY_SOURCE;
    if ((tag < 0 || tag > last_tag()) && !(is_receive && tag == MPI_ANY_TAG))
        return reject(comm, MPI_ERR_TAG, "calls %s with tag %d; tags are 0 to %d%s", name, tag, last_tag(),
                      is_receive ? ", or MPI_ANY_TAG" : "");
    if (peer != MPI_PROC_NULL && !is_any && (peer < 0 || peer >= number))
        return reject(comm, MPI_ERR_RANK, "calls %s with rank %d of a communicator of %d ranks; its ranks are 0 to %d", name, peer,
                      number, number - 1);
    return MPI_SUCCESS;
}

static int has_operation(const struct collective *collective)
{
    enum collective_kind kind = collective->kind;
    return (kind >= COLLECTIVE_Reduce && kind <= COLLECTIVE_Exscan) || kind == COLLECTIVE_Reduce_scatter ||
           kind == COLLECTIVE_Reduce_scatter_block;
}

/* Returns the same on all ranks that made as many operations before, or 0 if it is none. */
static uint64_t operation_number(MPI_Op op)
{
    const MPI_Op all[] = {MPI_MAX, MPI_MIN,  MPI_SUM,  MPI_PROD,   MPI_LAND,   MPI_BAND,    MPI_LOR,
                          MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE, MPI_NO_OP};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] == op)
            return i + 1;
    const struct object *object = find_object(OBJECT_OP, (uintptr_t)op);
    return object ? 100 + object->number : 0;
}

/* Libraries do more than the standard has: logical operations are for integers and logical types. */
static int is_logical_of_real(uint64_t number, MPI_Datatype type)
{
    const MPI_Datatype reals[] = {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_COMPLEX, MPI_DOUBLE_COMPLEX,
                                  MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX};
    const MPI_Op logical[] = {MPI_LAND, MPI_LOR, MPI_LXOR};
    int is_logical = 0, is_real = 0;
    for (size_t i = 0; i < sizeof logical / sizeof *logical; i++)
        is_logical = is_logical || number == operation_number(logical[i]);
    for (size_t i = 0; i < sizeof reals / sizeof *reals && is_logical; i++)
        is_real = is_real || (reals[i] != MPI_DATATYPE_NULL && type == reals[i]);
    return is_real;
}

/* The library knows which of its operations are for which types. */
static int check_operation(const char *name, MPI_Comm comm, MPI_Op op, const struct counts *data)
{
    static struct {
        MPI_Op op;
        MPI_Datatype type;
    } right[64];
    double one[16] = {0}, other[16] = {0};
    uint64_t number = op == MPI_OP_NULL ? 0 : operation_number(op);
    if (op == MPI_OP_NULL || is_freed(OBJECT_OP, (uintptr_t)op))
        return reject(comm, MPI_ERR_OP, "calls %s with %s; it takes a predefined operation, or one that MPI_Op_create made", name,
                      op == MPI_OP_NULL ? "MPI_OP_NULL" : "an operation that has been freed");
    if (number == 0 || number >= 100 || data->n == 0)
        return MPI_SUCCESS;
    size_t slot = hash((uintptr_t)data->type + number) % 64;
    if (right[slot].op == op && right[slot].type == data->type)
        return MPI_SUCCESS;
    if (is_logical_of_real(number, data->type) || ASK(PMPI_Reduce_local(one, other, 0, data->type, op)) != MPI_SUCCESS)
        return reject(comm, MPI_ERR_OP, "calls %s with an operation that is not for its datatype", name);
    right[slot].op = op;
    right[slot].type = data->type;
    return MPI_SUCCESS;
}

static int check_color(MPI_Comm comm, int color)
{
    if (color >= 0 || color == MPI_UNDEFINED)
        return MPI_SUCCESS;
    return reject(comm, MPI_ERR_ARG, "calls MPI_Comm_split with color %d; colors are 0 or more, or MPI_UNDEFINED", color);
}

static int check_dimensions(MPI_Comm comm, int count, const int *sizes)
{
    int64_t nodes = 1;
    int number = find_communicator(comm)->size;
    for (int i = 0; i < count; i++) {
        if (sizes[i] <= 0)
            return reject(comm, MPI_ERR_DIMS, "calls MPI_Cart_create with %d as size of dimension %d; 1 is the least", sizes[i], i);
        nodes = nodes * sizes[i] < INT32_MAX ? nodes * sizes[i] : INT32_MAX;
    }
    if (nodes > number)
        return reject(comm, MPI_ERR_TOPOLOGY, "calls MPI_Cart_create for %lld nodes in a communicator of %d ranks", (long long)nodes,
                      number);
    return MPI_SUCCESS;
}

static int check_making(const char *name, MPI_Comm parent)
{
    making_name = name;
    return check_communicator(name, parent);
}

/* Returns where a request goes. */
static MPI_Request *given(const char *name, MPI_Request *request)
{
    if (request == NULL)
        report("invalid parameter", "calls %s with NULL where it puts its request", name);
    return request;
}

static int check_requests(const char *name, int count, const MPI_Request *requests)
{
    if (count < 0)
        return reject(MPI_COMM_WORLD, MPI_ERR_COUNT, "calls %s for %d requests; 0 is the least", name, count);
    if (count > 0 && requests == NULL)
        return reject(MPI_COMM_WORLD, MPI_ERR_REQUEST, "calls %s with NULL where its requests have to be", name);
    return MPI_SUCCESS;
}

/* What an emulated program has made, and what it has freed of it. */

enum object_kind {
    OBJECT_COMMUNICATOR,
    OBJECT_GROUP,
    OBJECT_DATATYPE,
    OBJECT_OP,
    OBJECT_WINDOW,
    OBJECT_INFO,
    OBJECT_ERRHANDLER,
    OBJECT_KEYVAL,
    OBJECT_FILE,
    OBJECT_KINDS
};
static const char *const object_names[] = {"a communicator", "a group", "a datatype", "an operation",
                                           "a window", "an info", "an error handler", "a key of attributes",
                                           "a file"};
static const char *const free_names[] = {"MPI_Comm_free", "MPI_Group_free", "MPI_Type_free", "MPI_Op_free",
                                         "MPI_Win_free", "MPI_Info_free", "MPI_Errhandler_free", "its MPI_..._free_keyval",
                                         "MPI_File_close"};

/* What the program made. It stays when it is freed, until its handle is given out again. */
struct object {
    struct object *next;
    uintptr_t handle;
    enum object_kind kind;
    int references; /* 0: it is freed. A library may give a group several times. */
    int is_committed;
    uint64_t number; /* how many of its kind were made before */
    uint64_t signature; /* + 1; 0: it is not known */
    const char *name; /* of the call that made it */
    void *place;
};

#define OBJECT_SLOTS 4096
static struct object *objects[OBJECT_SLOTS];
static uint64_t objects_made[OBJECT_KINDS];
/* The call that makes a communicator. */
static const char *making_name;

static struct object *find_object(enum object_kind kind, uintptr_t handle)
{
    struct object *object = objects[hash(handle + kind) % OBJECT_SLOTS];
    while (object != NULL && (object->handle != handle || object->kind != kind))
        object = object->next;
    return object;
}

static struct object *note_made(enum object_kind kind, uintptr_t handle, const char *name, void *place)
{
    lock_tables();
    struct object *object = find_object(kind, handle), **slot = &objects[hash(handle + kind) % OBJECT_SLOTS];
    if (object == NULL) {
        if ((object = calloc(1, sizeof *object)) == NULL)
            abort();
        *object = (struct object){.next = *slot, .handle = handle, .kind = kind};
        *slot = object;
    }
    if (object->references++ == 0) {
        object->is_committed = 0;
        object->signature = 0;
        object->number = objects_made[kind]++;
        object->name = name;
        object->place = place;
    }
    unlock_tables();
    return object;
}

static void note_freed(enum object_kind kind, uintptr_t handle)
{
    lock_tables();
    struct object *object = find_object(kind, handle);
    if (object != NULL && object->references > 0)
        object->references--;
    unlock_tables();
}

/* A type that no call was seen to make may have got the handle of a freed one. */
static void note_committed(MPI_Datatype type)
{
    struct object *object = find_object(OBJECT_DATATYPE, (uintptr_t)type);
    if (object != NULL && object->references == 0)
        object->handle = 0;
    else if (object != NULL)
        object->is_committed = 1;
}

static int is_freed(enum object_kind kind, uintptr_t handle)
{
    const struct object *object = find_object(kind, handle);
    return object != NULL && object->references == 0;
}

static int is_freed_type(MPI_Datatype type)
{
    return is_freed(OBJECT_DATATYPE, (uintptr_t)type);
}

void note_group(MPI_Group made, const char *name, void *place)
{
    if (is_emulated && !inside)
        note_made(OBJECT_GROUP, (uintptr_t)made, name, place);
}

void note_freed_group(MPI_Group freed)
{
    note_freed(OBJECT_GROUP, (uintptr_t)freed);
}

void note_communicator(MPI_Comm made)
{
    note_made(OBJECT_COMMUNICATOR, (uintptr_t)made, making_name, call.place);
}

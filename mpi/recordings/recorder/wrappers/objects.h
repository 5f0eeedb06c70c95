/* Calls that make datatypes and operations, and that free them: an emulated program's are counted, with its groups and
 * communicators. */

#define MAKES(kind, name, result) MAKES_(kind, name, result, "MPI_" #name)
#define MAKES_(kind, name, result, called)                                                                           \
    WRAPPED(name, {                                                                                                  \
        if (returned == MPI_SUCCESS)                                                                                 \
            note_made(kind, (uintptr_t)*(MPI_Datatype *)result, called, place);                                      \
    })
/* Handles of all kinds are as long. */
#define FREES(kind, name)                                                                                            \
    WRAPPED_(name, uintptr_t handle = (uintptr_t)*(MPI_Datatype *)a, {                                               \
        if (returned == MPI_SUCCESS)                                                                                 \
            note_freed(kind, handle);                                                                                \
    })
#define WRAPPED(name, after) WRAPPED_(name, (void)0, after)
#define WRAPPED_(name, before, after)                                                                                \
    long make_##name(WORDS) __asm__("MPI_" #name);                                                                   \
    long make_P##name(WORDS) __asm__("PMPI_" #name) __attribute__((alias("MPI_" #name)));                            \
    long make_##name(WORDS)                                                                                          \
    {                                                                                                                \
        static any_call *real;                                                                                       \
        if (real == NULL)                                                                                            \
            real = (any_call *)find_real("PMPI_" #name, (void *)make_##name);                                        \
        if (!is_emulated || inside)                                                                                  \
            return real(SAME_WORDS);                                                                                 \
        void *place = PLACE;                                                                                         \
        before;                                                                                                      \
        int returned = (int)real(SAME_WORDS);                                                                        \
        (void)place;                                                                                                 \
        after;                                                                                                       \
        return returned;                                                                                             \
    }
/* The same with large counts, where there are any. */
#if defined(HAS_LARGE)
#define MAKES_TYPE(name, result) MAKES(OBJECT_DATATYPE, name, result) MAKES(OBJECT_DATATYPE, name##_c, result)
#else
#define MAKES_TYPE(name, result) MAKES(OBJECT_DATATYPE, name, result)
#endif
/* These are never freed, and need no commit. */
#define MAKES_FOR_EVER(name, result)                                                                                 \
    WRAPPED(name, {                                                                                                  \
        if (returned == MPI_SUCCESS)                                                                                 \
            note_made(OBJECT_DATATYPE, (uintptr_t)*(MPI_Datatype *)result, NULL, place)->is_committed = 1;           \
    })

MAKES_TYPE(Type_contiguous, c)
MAKES_TYPE(Type_vector, e)
MAKES_TYPE(Type_create_hvector, e)
MAKES_TYPE(Type_indexed, e)
MAKES_TYPE(Type_create_hindexed, e)
MAKES_TYPE(Type_create_indexed_block, e)
MAKES_TYPE(Type_create_hindexed_block, e)
MAKES_TYPE(Type_create_struct, e)
MAKES_TYPE(Type_create_subarray, g)
MAKES_TYPE(Type_create_darray, j)
MAKES_TYPE(Type_create_resized, d)
MAKES_FOR_EVER(Type_create_f90_integer, b)
MAKES_FOR_EVER(Type_create_f90_real, c)
MAKES_FOR_EVER(Type_create_f90_complex, c)
FREES(OBJECT_DATATYPE, Type_free)
WRAPPED(Type_commit, note_committed(*(MPI_Datatype *)a))

/* The copy is committed if the original is. */
WRAPPED(Type_dup, {
    if (returned == MPI_SUCCESS)
        note_made(OBJECT_DATATYPE, (uintptr_t)*(MPI_Datatype *)b, "MPI_Type_dup", place)->is_committed =
            type_fault((MPI_Datatype)a) == NULL;
})

/* Returns of how many types a type consists. */
static int types_in(MPI_Datatype type)
{
    int combiner;
#if defined(HAS_LARGE)
    MPI_Count count, integers, addresses, large;
    PMPI_Type_get_envelope_c(type, &integers, &addresses, &large, &count, &combiner);
#else
    int count, integers, addresses;
    PMPI_Type_get_envelope(type, &integers, &addresses, &count, &combiner);
#endif
    return (int)count;
}

WRAPPED(Type_get_contents, {
    if (returned == MPI_SUCCESS)
        note_contents("MPI_Type_get_contents", types_in((MPI_Datatype)a), (const MPI_Datatype *)g, place);
})
#if defined(HAS_LARGE)
WRAPPED(Type_get_contents_c, {
    if (returned == MPI_SUCCESS)
        note_contents("MPI_Type_get_contents", types_in((MPI_Datatype)a), (const MPI_Datatype *)i, place);
})
#endif

MAKES(OBJECT_OP, Op_create, c)
#if defined(HAS_LARGE)
MAKES(OBJECT_OP, Op_create_c, c)
#endif

MAKES(OBJECT_INFO, Info_create, a)
MAKES(OBJECT_INFO, Info_dup, b)
FREES(OBJECT_INFO, Info_free)

/* Whoever asks for an error handler has one more to free. */
MAKES(OBJECT_ERRHANDLER, Comm_create_errhandler, b)
MAKES(OBJECT_ERRHANDLER, Win_create_errhandler, b)
FREES(OBJECT_ERRHANDLER, Errhandler_free)

/* Keys are integers. */
#define MAKES_KEYVAL(name)                                                                                           \
    WRAPPED(name, {                                                                                                  \
        if (returned == MPI_SUCCESS)                                                                                 \
            note_made(OBJECT_KEYVAL, (uintptr_t)*(int *)c, "MPI_" #name, place);                                     \
    })
#define FREES_KEYVAL(name)                                                                                           \
    WRAPPED_(name, uintptr_t handle = (uintptr_t)*(int *)a, {                                                        \
        if (returned == MPI_SUCCESS)                                                                                 \
            note_freed(OBJECT_KEYVAL, handle);                                                                       \
    })
MAKES_KEYVAL(Comm_create_keyval)
MAKES_KEYVAL(Type_create_keyval)
MAKES_KEYVAL(Win_create_keyval)
FREES_KEYVAL(Comm_free_keyval)
FREES_KEYVAL(Type_free_keyval)
FREES_KEYVAL(Win_free_keyval)

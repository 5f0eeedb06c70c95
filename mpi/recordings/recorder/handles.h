/* The handles that this library gives out itself. */

/* Requests and matched messages have handles that no library has seen: numbers from this one on, behind what MPICH has for the
 * message of nobody. */
#define FIRST_HANDLE 0x6d000000
#define MOST_HANDLES (1 << 24)

static int *free_handles, free_handle_count, handle_count;

#if defined(OPEN_MPI)
/* Handles are pointers, and bindings of Fortran read a request's number at a place in it that differs by version: all of it is the
 * number. */
struct fabricated {
    MPI_Fint numbers[64];
};
static struct fabricated *fabricated[MOST_HANDLES / 256];
#endif

/* Returns the handle of this number as it is, or as a pointer to it. */
static intptr_t handle_of(int number)
{
#if defined(OPEN_MPI)
    struct fabricated **block = &fabricated[number / 256];
    if (*block == NULL) {
        *block = room(256 * sizeof **block);
        for (int i = 0; i < 256 * 64; i++)
            (*block)->numbers[i] = FIRST_HANDLE + number / 256 * 256 + i / 64;
    }
    return (intptr_t)(*block)[number % 256].numbers;
#else
    return FIRST_HANDLE + number;
#endif
}

static intptr_t take_handle(void)
{
    if (free_handle_count > 0)
        return handle_of(free_handles[--free_handle_count]);
    if (handle_count == MOST_HANDLES)
        refuse("has %d requests at once, and an emulated program no more; wait for some of them first", MOST_HANDLES);
    if (handle_count % 1024 == 0 && (free_handles = realloc(free_handles, sizeof(int) * (size_t)(handle_count + 1024))) == NULL)
        abort();
    return handle_of(handle_count++);
}

intptr_t new_handle(void)
{
    lock_tables();
    intptr_t handle = take_handle();
    unlock_tables();
    return handle;
}

void free_handle(intptr_t handle)
{
#if defined(OPEN_MPI)
    handle = *(MPI_Fint *)handle;
#endif
    lock_tables();
    free_handles[free_handle_count++] = (int)handle - FIRST_HANDLE;
    unlock_tables();
}

/* What the wrappers of all calls have in common. */

/* Begins a call that one thread makes at once. While a thread waits until the one before has returned, the slot says so: that one may
 * never return. */
static void begin_call(void *place)
{
    static int waiting;
    enum threads wrong = look_for_threads();
    if (wrong != THREADS_RIGHT) {
        __atomic_add_fetch(&waiting, 1, __ATOMIC_ACQ_REL);
        __atomic_store_n(&slot->threads, wrong, __ATOMIC_RELEASE);
    }
    enter(place);
    if (wrong != THREADS_RIGHT && __atomic_sub_fetch(&waiting, 1, __ATOMIC_ACQ_REL) == 0)
        __atomic_store_n(&slot->threads, THREADS_RIGHT, __ATOMIC_RELEASE);
    if (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) > 0)
        __atomic_store_n(&slot->threads, wrong, __ATOMIC_RELEASE);
    if (wrong == THREADS_OTHER)
        report("thread level", "calls MPI%s in another thread than the one that called MPI_Init or MPI_Init_thread, and has %s; "
               "only with MPI_THREAD_SERIALIZED or more may others call", place_text(place),
               thread_level == MPI_THREAD_SINGLE ? "MPI_THREAD_SINGLE" : "MPI_THREAD_FUNNELED");
    if (wrong == THREADS_AT_ONCE)
        report("thread level", "calls MPI%s while another thread is in MPI, and has MPI_THREAD_SERIALIZED; with that one calls after "
               "the other has returned", place_text(place));
    calling = this_thread() + 1;
    look_for_stores();
}

static void end_call(void)
{
    calling = 0;
    leave_call();
}

/* Does what is `emulated`, if the program is. */
#define EMULATED(emulated)                                                                                           \
    if (is_emulated && !inside) {                                                                                    \
        begin_call(PLACE);                                                                                           \
        int emulated_error = emulated;                                                                               \
        end_call();                                                                                                  \
        return emulated_error;                                                                                       \
    }

static inline void lock(void)
{
    if (is_multiple)
        pthread_mutex_lock(&mutex);
}

static inline void unlock(void)
{
    if (is_multiple)
        pthread_mutex_unlock(&mutex);
}

/* Ends a call that is recorded, however it returns. */
static inline void end_recorded(const int *is_begun)
{
    (void)is_begun;
    commit();
    unlock();
    inside = 0;
}

/* Calls what is recorded or emulated, unless this is no time to, and returns. What follows records as `error` says, and owns the
 * lock until it returns. */
#define BEGIN(real, emulated)                                                                                        \
    EMULATED(emulated)                                                                                               \
    if (!is_on || inside)                                                                                            \
        return real;                                                                                                 \
    struct span span = {.place = PLACE};                                                                             \
    inside = 1;                                                                                                      \
    span.begin = now();                                                                                              \
    int error = real;                                                                                                \
    span.end = now();                                                                                                \
    (void)span;                                                                                                      \
    lock();                                                                                                          \
    __attribute__((cleanup(end_recorded), unused)) const int is_begun = 1

/* A call of which a recording has only how often it was made, and how long it took. */
#define UNMODELLED(name, parameters, arguments, emulated)                                                            \
    CALL(name, parameters)                                                                                           \
    {                                                                                                                \
        BEGIN(REAL(name) arguments, emulated);                                                                       \
        count_unmodelled("MPI_" #name, span.end - span.begin);                                                       \
        return error;                                                                                                \
    }

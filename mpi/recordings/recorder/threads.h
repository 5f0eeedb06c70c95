static void look_for_stores(void);

/* Threads of an emulated program that call MPI: they take turns. */

/* The command has the same numbers. */
enum threads { THREADS_RIGHT, THREADS_SEVERAL, THREADS_OTHER, THREADS_AT_ONCE };

/* The number of the thread that is in a call, + 1; 0 if none is. */
static volatile int calling;

/* Returns what is wrong with a call of this thread, or that it waits for another one. */
static enum threads look_for_threads(void)
{
    int is_first = pthread_equal(pthread_self(), first_thread);
    if (is_multiple)
        return THREADS_SEVERAL;
    if (!is_checked())
        return THREADS_RIGHT;
    if (thread_level < MPI_THREAD_SERIALIZED)
        return is_first ? THREADS_RIGHT : THREADS_OTHER;
    return calling != 0 && calling != this_thread() + 1 ? THREADS_AT_ONCE : THREADS_RIGHT;
}

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
    leave();
}

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


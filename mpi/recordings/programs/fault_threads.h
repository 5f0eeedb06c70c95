/* Programs in which other threads call MPI, and what level of threads they ask for. */

#include <pthread.h>

static volatile int is_received;

static void *send_one(void *nothing)
{
    MPI_Send(&one, 1, MPI_INT, 1 - rank, 0, WORLD); /* HERE */
    return nothing;
}

static void *receive_one(void *nothing)
{
    MPI_Recv(&other, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, IGNORED); /* HERE */
    is_received = 1;
    return nothing;
}

/* Another thread calls, and no two of them at once. */
static void send_elsewhere(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, send_one, NULL);
    pthread_join(thread, NULL);
    receive_one(NULL);
}

/* One thread waits, and another one lets it go on. */
static void receive_elsewhere(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, receive_one, NULL);
    send_one(NULL);
    pthread_join(thread, NULL);
}

/* One thread waits, and another one looks all the while. */
static void look_meanwhile(void)
{
    pthread_t thread;
    int flag;
    pthread_create(&thread, NULL, receive_one, NULL);
    while (!is_received)
        MPI_Iprobe(1 - rank, 1, WORLD, &flag, IGNORED);
    pthread_join(thread, NULL);
}

static const struct level {
    const char *name;
    int level;
    void (*run)(void);
} threaded[] = {
    {"funneled", MPI_THREAD_FUNNELED, send_elsewhere},     {"serialized", MPI_THREAD_SERIALIZED, send_elsewhere},
    {"two_at_once", MPI_THREAD_SERIALIZED, look_meanwhile}, {"multiple", MPI_THREAD_MULTIPLE, receive_elsewhere},
};

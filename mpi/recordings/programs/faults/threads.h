/* Programs in which other threads call MPI, and what level of threads they ask for. */

#include <pthread.h>
#include <unistd.h>

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
    usleep(100000);
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

static void *send_and_ask(void *number)
{
    int flag, value = *(int *)number;
    MPI_Datatype type;
    MPI_Group group;
    for (int i = 0; i < 20; i++) {
        MPI_Type_contiguous(1, MPI_INT, &type);
        MPI_Type_commit(&type);
        MPI_Comm_group(WORLD, &group);
        MPI_Send(&value, 1, type, 1 - rank, value, WORLD);
        MPI_Iprobe(1 - rank, 100, WORLD, &flag, IGNORED);
        MPI_Group_free(&group);
        MPI_Type_free(&type);
    }
    return NULL;
}

/* Threads call at once, and none waits for what another one does. */
static void call_in_turns(void)
{
    pthread_t all[4];
    int numbers[4];
    for (int i = 0; i < 4; i++) {
        numbers[i] = i;
        pthread_create(&all[i], NULL, send_and_ask, &numbers[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(all[i], NULL);
    for (int i = 0; i < 80; i++) {
        MPI_Recv(&other, 1, MPI_INT, 1 - rank, i % 4, WORLD, IGNORED);
        if (other != i % 4)
            abort();
    }
}

static const struct level {
    const char *name;
    int level;
    void (*run)(void);
} threaded[] = {
    {"funneled", MPI_THREAD_FUNNELED, send_elsewhere},     {"serialized", MPI_THREAD_SERIALIZED, send_elsewhere},
    {"two_at_once", MPI_THREAD_SERIALIZED, look_meanwhile}, {"multiple", MPI_THREAD_MULTIPLE, receive_elsewhere},
    {"in_turns", MPI_THREAD_MULTIPLE, call_in_turns},
};

/* Threads that call at once. */

#include <pthread.h>

#include "expect.h"

enum { THREADS = 3, ROUNDS = 200 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *exchange(void *number)
{
    int tag = (int)(long)number, in, out = 0;
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Request requests[2];
        MPI_Irecv(&in, 1, MPI_INT, left(), tag, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&out, 1, MPI_INT, right(), tag, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        pthread_mutex_lock(&mutex);
        expect_recv(left(), tag, 0, 4);
        expect_send("standard", right(), tag, 0, 4);
        expect_taken(left(), tag, 0, 4);
        expect("done");
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];
    int level;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);
    open_expected(words[1]);
    for (long i = 0; i < THREADS && level == MPI_THREAD_MULTIPLE; i++)
        pthread_create(&threads[i], NULL, exchange, (void *)i);
    for (int i = 0; i < THREADS && level == MPI_THREAD_MULTIPLE; i++)
        pthread_join(threads[i], NULL);
    return end();
}

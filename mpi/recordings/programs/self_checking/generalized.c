/* Generalized requests: the program completes them, by the same thread or by another one. It checks itself. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(is_right)                                                                                              \
    if (!(is_right)) {                                                                                               \
        fprintf(stderr, "line %d: %s\n", __LINE__, #is_right);                                                       \
        exit(1);                                                                                                     \
    }

static int queried, freed, cancelled, rank;
static MPI_Request request;

static int query(void *extra, MPI_Status *status)
{
    int own; /* The functions may call MPI. */
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Status_set_elements(status, MPI_INT, *(int *)extra);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = own;
    queried++;
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    (void)extra;
    freed++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int is_complete)
{
    (void)extra;
    cancelled += !is_complete;
    return MPI_SUCCESS;
}

static void *complete_later(void *nothing)
{
    usleep(50000);
    MPI_Grequest_complete(request);
    return nothing;
}

int main(int count, char **words)
{
    int level, seven = 7, flag, elements, index, sent = 3, received = 0;
    MPI_Status status;
    MPI_Request both[2];
    pthread_t thread;
    MPI_Init_thread(&count, &words, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);

    MPI_Grequest_start(query, release, cancel, &seven, &request);
    MPI_Test(&request, &flag, &status);
    CHECK(!flag && queried == 0);
    MPI_Grequest_complete(request);
    MPI_Request_get_status(request, &flag, &status);
    CHECK(flag && freed == 0);
    MPI_Test(&request, &flag, &status);
    MPI_Get_count(&status, MPI_INT, &elements);
    CHECK(flag && elements == 7 && status.MPI_SOURCE == rank && request == MPI_REQUEST_NULL && freed == 1);

    /* Beside another request, completed by another thread. */
    MPI_Grequest_start(query, release, cancel, &seven, &request);
    MPI_Cancel(&request);
    CHECK(cancelled == 1);
    both[0] = request;
    MPI_Irecv(&received, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, &both[1]);
    MPI_Send(&sent, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
    MPI_Waitany(2, both, &index, &status);
    CHECK(index == 1 && received == 3);
    if (level == MPI_THREAD_MULTIPLE)
        pthread_create(&thread, NULL, complete_later, NULL);
    else
        MPI_Grequest_complete(request);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    if (level == MPI_THREAD_MULTIPLE)
        pthread_join(thread, NULL);
    CHECK(both[0] == MPI_REQUEST_NULL && freed == 2);

    MPI_Grequest_start(query, release, cancel, &seven, &request);
    both[0] = request;
    MPI_Request_free(&both[0]);
    CHECK(freed == 2);
    MPI_Grequest_complete(request);
    CHECK(freed == 3);
    MPI_Finalize();
}

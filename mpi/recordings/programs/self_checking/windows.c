/* One-sided calls: each kind, in each kind of epoch. Ends with 1 if a rank finds something else than what was put there. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define N 8

static int rank, ranks, wrong;

static void expect(int is_right, const char *what)
{
    if (!is_right)
        fprintf(stderr, "rank %d finds something else after %s\n", rank, what);
    wrong += !is_right;
}

/* Puts, gets of a type with holes, and sums, between fences. */
static void fences(MPI_Win window, double *own, const double *mine)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    double got[N] = {0};
    MPI_Datatype every_other;
    MPI_Type_vector(N / 2, 1, 2, MPI_DOUBLE, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Win_fence(0, window);
    for (int i = 0; i < ranks; i++)
        MPI_Put(mine, N, MPI_DOUBLE, i, N * rank, N, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < N * ranks; i++)
        expect(own[i] == i / N * 10 + i % N, "a put");
    MPI_Win_fence(0, window);
    MPI_Get(got, N / 2, MPI_DOUBLE, next, N * rank, 1, every_other, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < N / 2; i++)
        expect(got[i] == rank * 10 + 2 * i, "a get of every other element");
    MPI_Accumulate(mine, 1, every_other, next, 0, 1, every_other, MPI_SUM, window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < N; i++)
        expect(own[i] == (i % 2 ? i : 10 * before + 2 * i), "a sum of every other element");
    MPI_Type_free(&every_other);
}

/* What is posted, started, completed and tested; and requests. */
static void groups(MPI_Win window, double *own, const double *mine)
{
    int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, is_over = 0;
    double got[N] = {0};
    MPI_Group all, to, from;
    MPI_Request request;
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, 1, &next, &to);
    MPI_Group_incl(all, 1, &before, &from);
    MPI_Win_post(from, 0, window);
    MPI_Win_start(to, 0, window);
    MPI_Put(mine, N, MPI_DOUBLE, next, 0, N, MPI_DOUBLE, window);
    MPI_Win_complete(window);
    while (!is_over)
        MPI_Win_test(window, &is_over);
    for (int i = 0; i < N; i++)
        expect(own[i] == before * 10 + i, "an epoch of groups");
    MPI_Group_free(&all);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Win_lock_all(0, window);
    MPI_Rget(got, N, MPI_DOUBLE, next, 0, N, MPI_DOUBLE, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < N; i++)
        expect(got[i] == rank * 10 + i, "a get with a request");
    MPI_Rput(got, N, MPI_DOUBLE, next, 0, N, MPI_DOUBLE, window, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Win_unlock_all(window);
}

/* A counter of all, with shared locks and atomics and with exclusive ones and without. */
static void locks(MPI_Win window, const long *counter)
{
    const int times = 5;
    long one = 1, old, value, zero = 0, all = 2 * times * ranks;
    for (int i = 0; i < times; i++) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
        MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, 0, MPI_SUM, window);
        MPI_Win_unlock(0, window);
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        MPI_Get(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
        MPI_Win_flush(0, window);
        value++;
        MPI_Put(&value, 1, MPI_LONG, 0, 0, 1, MPI_LONG, window);
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
    MPI_Compare_and_swap(&zero, &all, &old, MPI_LONG, 0, 0, window);
    MPI_Win_unlock(0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    expect(rank != 0 || *counter == 0, "locks and atomics");
    expect(old == all || old == 0, "a swap");
}

/* Memory that all ranks share, of which every second one has none. */
static void shared(void)
{
    int *own, *other, unit;
    MPI_Aint size;
    MPI_Win window;
    MPI_Win_allocate_shared(rank % 2 ? 0 : sizeof *own, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
    if (rank % 2 == 0)
        *own = rank + 1;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
        MPI_Win_shared_query(window, i, &size, &unit, &other);
        expect(size == (i % 2 ? 0 : sizeof *own) && unit == sizeof *own, "a query of shared memory");
        expect(i % 2 || *other == i + 1, "a store into shared memory");
#if defined(MPICH_NUMVERSION)
        expect(i % 2 == 0 || other == NULL, "a query of shared memory that a rank has none of");
#endif
    }
    MPI_Win_free(&window);
}

int main(int count, char **arguments)
{
    double *own, mine[N];
    long *counter;
    int of_all;
    MPI_Win window, counted;
    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < N; i++)
        mine[i] = rank * 10 + i;
    MPI_Win_allocate((MPI_Aint)sizeof *own * N * ranks, sizeof *own, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &window);
    MPI_Win_allocate(sizeof *counter, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &counted);
    *counter = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    fences(window, own, mine);
    groups(window, own, mine);
    locks(counted, counter);
    MPI_Win_free(&counted);
    MPI_Win_free(&window);
    shared();
    MPI_Allreduce(&wrong, &of_all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%.3f us\n", MPI_Wtime() * 1e6);
    MPI_Finalize();
    return of_all > 0;
}

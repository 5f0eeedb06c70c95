/* Programs that end badly, or that read what they are given. */

#include <assert.h>
#include <signal.h>
#include <unistd.h>

static int *volatile nowhere;

static void write_nowhere(void)
{
    *nowhere = 1; /* HERE */
}

static void segfault(void)
{
    MPI_Barrier(WORLD); /* THERE */
    if (rank == 0)
        write_nowhere();
    MPI_Barrier(WORLD);
}

static void assertion(void)
{
    assert(rank > 0); /* HERE */
}

static int recurse(volatile int depth)
{
    volatile char much[4096];
    much[0] = (char)depth;
    return depth < 0 ? 0 : recurse(depth + 1) + much[0];
}

static void full_stack(void)
{
    if (rank == 0)
        other = recurse(0);
}

static void killed(void)
{
    if (rank == 0)
        raise(SIGKILL);
    MPI_Barrier(WORLD);
}

/* Right: Fortran opens /dev/null for its unit 6 only where the output is not that file already. */
static void prints_nowhere(void)
{
    struct stat null, own;
    stat("/dev/null", &null);
    fstat(1, &own);
    if (own.st_rdev == null.st_rdev)
        exit(2);
}

static void exits(void)
{
    if (rank == 0)
        exit(3); /* HERE */
    MPI_Barrier(WORLD);
}

static void exits_at_once(void)
{
    if (rank == 0)
        _exit(3);
    MPI_Barrier(WORLD);
}

static void aborts(void)
{
    if (rank == 0) {
        for (int i = 0; i < 20; i++)
            fprintf(stderr, "step %d\n", i);
        fprintf(stderr, "no input\n");
        MPI_Abort(WORLD, 7); /* HERE */
    }
    MPI_Barrier(WORLD);
}

/* It takes a message of anyone, and is wrong whoever is first. */
static void always_fails(void)
{
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, WORLD);
    for (int i = 1; i < ranks && rank == 0; i++)
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, IGNORED);
    if (rank == 0)
        abort(); /* HERE */
}

/* In the usual order rank 1 is first. */
static void usually_fails(void)
{
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, WORLD);
    for (int i = 1; i < ranks && rank == 0; i++) {
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, IGNORED);
        if (i == 1 && one == 1)
            abort(); /* HERE */
    }
}

static void waits_always(void)
{
    if (rank == 0)
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, IGNORED); /* HERE */
}

static void reads(void)
{
    int first = 0, second = 0, read = rank == 0 ? scanf("%d %d", &first, &second) : 2;
    assert(rank > 0 || (read == 2 && first == 12 && second == 30));
}

static void crashes_late(void)
{
    MPI_Finalize();
    write_nowhere();
}

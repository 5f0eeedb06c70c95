/* Each program writes to the file that its first argument names, with the rank at its end, what `loggp record --list` has to
 * print of its calls: it counts by itself what it sends. */

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *expected;
static int rank, ranks;

/* Expects a line of this rank. */
static void expect(const char *form, ...)
{
    va_list arguments;
    va_start(arguments, form);
    fprintf(expected, "%d ", rank);
    vfprintf(expected, form, arguments);
    fputc('\n', expected);
    va_end(arguments);
}

static void open_expected(const char *prefix)
{
    char path[4096];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    snprintf(path, sizeof path, "%s.%d", prefix, rank);
    expected = fopen(path, "w");
    if (expected == NULL)
        MPI_Abort(MPI_COMM_WORLD, 3);
}

static inline void begin(int count, char **words)
{
    MPI_Init(&count, &words);
    open_expected(words[1]);
}

static inline int end(void)
{
    fclose(expected);
    MPI_Finalize();
    return 0;
}

/* Closes the files of all ranks, without a call of MPI: the first one that aborts cannot end another that still writes. */
static inline void close_at_all(const char *prefix)
{
    char path[4096];
    fclose(expected);
    snprintf(path, sizeof path, "%s.%d.closed", prefix, rank);
    fclose(fopen(path, "w"));
    for (int other = 0; other < ranks; other++) {
        snprintf(path, sizeof path, "%s.%d.closed", prefix, other);
        while (access(path, F_OK) != 0)
            usleep(1000);
    }
}

static inline int left(void)
{
    return (rank + ranks - 1) % ranks;
}

static inline int right(void)
{
    return (rank + 1) % ranks;
}

static inline void barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    expect("barrier comm=0 sent=0 received=0");
}

static inline void expect_send(const char *mode, int to, int tag, int comm, int bytes)
{
    expect("send mode=%s to=%d tag=%d comm=%d bytes=%d", mode, to, tag, comm, bytes);
}

static inline void expect_recv(int from, int tag, int comm, int most)
{
    expect("recv from=%d tag=%d comm=%d most=%d", from, tag, comm, most);
}

static inline void expect_taken(int from, int tag, int comm, int bytes)
{
    expect("took from=%d tag=%d comm=%d bytes=%d", from, tag, comm, bytes);
}

/* What ranks find that are forks of one process: each its own variables and standard input, and what came before MPI_Init once.
 * `forked threads` has a thread before MPI_Init, `forked status` ends with the rank as exit status, and `forked stopped` stops a rank
 * for ever, while the others wait. */

#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int deleted;

static int delete(MPI_Comm comm, int key, void *value, void *more)
{
    int rank;
    (void)key, (void)more;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    deleted = comm == MPI_COMM_SELF && *(int *)value == rank;
    return MPI_SUCCESS;
}

static int number(const char *name)
{
    const char *value = getenv(name);
    return value ? atoi(value) : -1;
}

static void *wait(void *arguments)
{
    pthread_mutex_lock(arguments);
    return NULL;
}

int main(int count, char **words)
{
    const char *what = count > 1 ? words[1] : "", *ranks_by[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"};
    int rank, ranks, key, is_there = 0, wrong = 0;
    char line[64] = "";
    pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    printf("before\n");
    if (strcmp(what, "threads") == 0) {
        pthread_mutex_lock(&never);
        pthread_create(&thread, NULL, wait, &never);
    }
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 3 && strcmp(what, "threads") != 0; i++)
        wrong |= number(ranks_by[i]) != rank;
    /* What the others have where a launcher starts them is the launcher's. */
    char *read = rank == 0 || strcmp(what, "threads") != 0 ? fgets(line, sizeof line, stdin) : NULL;
    wrong |= rank == 0 ? read == NULL || strcmp(line, "input\n") != 0 : read != NULL;
    if (strcmp(what, "stopped") == 0 && rank == 1)
        raise(SIGSTOP);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &rank);
    if (wrong)
        fprintf(stderr, "rank %d of %d finds what is not its own\n", rank, ranks);
    MPI_Finalize();
    MPI_Finalized(&is_there);
    if (!is_there || !deleted)
        fprintf(stderr, "rank %d does not end as MPI says\n", rank);
    return strcmp(what, "status") == 0 ? rank : wrong || !is_there || !deleted;
}

/* Sessions of MPI 4 and no MPI_Init: ranks find each other by sets of processes. A word lets the program call MPI_Init and MPI_Finalize
 * beside them, or exit with an open session. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
static void print_set(MPI_Session session, const char *name)
{
    MPI_Group group;
    MPI_Info info;
    char text[16];
    int size, rank, length = sizeof text, is_there;
    MPI_Group_from_session_pset(session, name, &group);
    MPI_Group_size(group, &size);
    MPI_Group_rank(group, &rank);
    MPI_Group_free(&group);
    MPI_Session_get_pset_info(session, name, &info);
    MPI_Info_get_string(info, "mpi_size", &length, text, &is_there);
    MPI_Info_free(&info);
    printf("%s: %d of %d, mpi_size %s\n", name, rank, size, text);
}

/* Sums the ranks of all that are not the last one, and passes the sum to that one. */
static void sum_ranks(MPI_Session session)
{
    MPI_Group world, others;
    MPI_Comm all, most = MPI_COMM_NULL;
    int rank, size, sum = -1;
    MPI_Group_from_session_pset(session, "mpi://WORLD", &world);
    MPI_Comm_create_from_group(world, "all", MPI_INFO_NULL, MPI_ERRORS_RETURN, &all);
    MPI_Comm_rank(all, &rank);
    MPI_Comm_size(all, &size);
    int last = size - 1;
    MPI_Group_excl(world, 1, &last, &others);
    if (rank < last)
        MPI_Comm_create_from_group(others, "most", MPI_INFO_NULL, MPI_ERRORS_RETURN, &most);
    if (most != MPI_COMM_NULL) {
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, most);
        MPI_Comm_free(&most);
    }
    if (rank == 0)
        MPI_Send(&sum, 1, MPI_INT, last, 7, all);
    if (rank == last)
        MPI_Recv(&sum, 1, MPI_INT, 0, 7, all, MPI_STATUS_IGNORE);
    printf("rank %d of %d: %d\n", rank, size, sum);
    MPI_Group_free(&others);
    MPI_Group_free(&world);
    MPI_Comm_free(&all);
}

int main(int count, char **words)
{
    const char *word = count > 1 ? words[1] : "";
    MPI_Session first, second;
    int is_there;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &first);
    MPI_Initialized(&is_there);
    printf("initialized: %d\n", is_there);
    print_set(first, "mpi://WORLD");
    print_set(first, "mpi://SELF");
    sum_ranks(first);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
    MPI_Session_finalize(&first);
    sum_ranks(second);
    if (strcmp(word, "world") == 0) {
        int rank, sum;
        MPI_Init(NULL, NULL);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        printf("in the world: %d\n", sum);
        MPI_Finalize();
        MPI_Finalized(&is_there);
        printf("finalized: %d\n", is_there);
    }
    if (strcmp(word, "open") == 0)
        return 0;
    MPI_Session_finalize(&second);
    /* MPICH 4.0 itself has no session after all others. */
    if (strcmp(word, "again") == 0) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &second);
        sum_ranks(second);
        MPI_Session_finalize(&second);
    }
    return 0;
}
#else
int main(void)
{
}
#endif

/* Processes that the program starts itself, and a message to one of them and back. They are not recorded. */

#include <mpi.h>

int main(int count, char **words)
{
    MPI_Comm parent, children;
    int rank, number = 1;
    MPI_Init(&count, &words);
    MPI_Comm_get_parent(&parent);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(words[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            MPI_Send(&number, 1, MPI_INT, 1, 5, children);
            MPI_Recv(&number, 1, MPI_INT, 1, 6, children, MPI_STATUS_IGNORE);
        }
        MPI_Comm_disconnect(&children);
    } else {
        if (rank == 1) {
            MPI_Recv(&number, 1, MPI_INT, 0, 5, parent, MPI_STATUS_IGNORE);
            MPI_Send(&number, 1, MPI_INT, 0, 6, parent);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_disconnect(&parent);
    }
    MPI_Finalize();
    return 0;
}

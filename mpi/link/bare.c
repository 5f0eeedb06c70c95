/* The round trips and floods of `loggp calibrate --on mpi` in bare MPI, which show the cost of loggp's calls:
   mpicc -O2 bare.c -o bare && mpirun -n 2 ./bare. A line has the bytes, half of a round trip
   and a step of a flood, both in ns. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLD = 10, LONG = 64 << 10, LONGEST = 4 << 20, FLOOD = 64 };

static int later(const void *a, const void *b) {
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

static double median(double *times, int n) {
    qsort(times, (size_t)n, sizeof *times, later);
    return 1e9 * times[n / 2];
}

int main(int argc, char **argv) {
    int id;
    static double times[256];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &id);
    for (int bytes = 8; bytes <= LONGEST; bytes *= 2) {
        int repeats = bytes < LONG ? 201 : 25, messages = FLOOD * LONG / (bytes > LONG ? bytes : LONG);
        char *data = malloc((size_t)bytes), done = 0;
        if (messages < 2) messages = 2;
        char **flood = malloc((size_t)messages * sizeof *flood);
        memset(data, 1, (size_t)bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < COLD + repeats; i++) {
            double start = MPI_Wtime();
            if (id == 0) {
                MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (i >= COLD) times[i - COLD] = (MPI_Wtime() - start) / 2;
            } else if (id == 1) {
                MPI_Recv(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(data, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
        }
        double way = median(times, repeats);
        for (int i = 0; i < messages; i++) memset(flood[i] = malloc((size_t)bytes), 1, (size_t)bytes);
        for (int i = 0; i < COLD + repeats; i++) {
            // The data are written before they are sent, as a program would do.
            for (int m = 0; id == 0 && m < messages; m++) memset(flood[m], i, (size_t)bytes);
            double start = MPI_Wtime();
            if (id == 0) {
                for (int m = 0; m < messages; m++) MPI_Send(flood[m], bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
                MPI_Recv(&done, 1, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (i >= COLD) times[i - COLD] = (MPI_Wtime() - start) / messages;
            } else if (id == 1) {
                for (int m = 0; m < messages; m++)
                    MPI_Recv(flood[m], bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(&done, 1, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
        }
        if (id == 0) printf("%d %.0f %.0f\n", bytes, way, median(times, repeats));
        for (int i = 0; i < messages; i++) free(flood[i]);
        free(flood);
        free(data);
    }
    MPI_Finalize();
    return 0;
}

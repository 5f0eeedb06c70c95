/* Round trips between two processes of MPI, without an imbalance and behind one (LogGPS, figure 3), as CSV:

       mpicc -O2 rtt.c -o rtt && mpirun -n 2 ./rtt > rtt.csv
       loggp calibrate --from rtt.csv

   Process 0 sends k bytes, computes for w and receives k bytes; process 1 receives and sends. A line has k, w and the median of the
   whole time, w included. On two nodes (mpirun --map-by node) it measures the network, on one the memory. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef REPEATS
#define REPEATS 401
#endif
enum { FIRST = 20, MOST = REPEATS, LONGEST = 1 << 20 };

static int later(const void *a, const void *b) {
    double d = *(const double *)a - *(const double *)b;
    return (d > 0) - (d < 0);
}

static void compute(double w) {
    for (double start = MPI_Wtime(); MPI_Wtime() - start < w;) {
    }
}

/* The median round trip of k bytes with w between the send and the receive, in seconds. */
static double round_trip(int id, char *data, int k, double w, int repeats) {
    static double times[MOST];
    for (int i = 0; i < FIRST + repeats; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        if (id == 0) {
            MPI_Send(data, k, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            if (w > 0) compute(w);
            MPI_Recv(data, k, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (id == 1) {
            MPI_Recv(data, k, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, k, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
        if (i >= FIRST) times[i - FIRST] = MPI_Wtime() - start;
    }
    qsort(times, (size_t)repeats, sizeof *times, later);
    return times[repeats / 2];
}

int main(int argc, char **argv) {
    int id, processes;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &id);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    if (processes < 2) {
        if (id == 0) fprintf(stderr, "start two processes: mpirun -n 2 ./rtt\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    char *data = malloc(LONGEST);
    memset(data, 1, LONGEST);
    /* An imbalance must be longer than the longest round trip. */
    double longest = 4 * round_trip(id, data, LONGEST, 0, 21);
    MPI_Bcast(&longest, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (id == 0) printf("k,w_us,time_us\n");
    for (int imbalance = 0; imbalance < 2; imbalance++) {
        double w = imbalance * longest;
        for (int k = 0, step = 256; k <= LONGEST; k += step, step = k < 4096 ? 256 : k / 8) {
            double time = round_trip(id, data, k, w, k < LONGEST / 8 && !imbalance ? MOST : MOST / 8);
            if (id == 0) printf("%d,%.3f,%.3f\n", k, 1e6 * w, 1e6 * time);
        }
    }
    free(data);
    return MPI_Finalize();
}

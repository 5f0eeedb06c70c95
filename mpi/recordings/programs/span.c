/* A library that is preloaded, and measures how long an MPI program takes from the end of MPI_Init to the beginning of MPI_Finalize,
   as a recording counts it, and nothing else: mpicc -O2 -fPIC -shared span.c -o span.so. Rank 0 adds a line to the file that LOGGP_SPAN
   names: the longest time of all ranks, in seconds. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double begin = 0;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The first message opens a connection, which no model knows; a recorder has compared clocks by then. */
static void start(void) {
    PMPI_Barrier(MPI_COMM_WORLD);
    begin = now();
}

static void report(void) {
    double own = now() - begin, longest = 0;
    int id = 0;
    if (begin == 0) return; // Fortran's call may go through C's
    begin = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &id);
    PMPI_Reduce(&own, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    const char *path = getenv("LOGGP_SPAN");
    FILE *file = id == 0 && path != NULL ? fopen(path, "a") : NULL;
    if (file != NULL) {
        fprintf(file, "%.6f\n", longest);
        fclose(file);
    }
}

int MPI_Init(int *argc, char ***argv) {
    int status = PMPI_Init(argc, argv);
    start();
    return status;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int status = PMPI_Init_thread(argc, argv, required, provided);
    start();
    return status;
}

int MPI_Finalize(void) {
    report();
    return PMPI_Finalize();
}

/* Fortran's names, which are not found where an MPI has no Fortran. */
void mpi_init_(MPI_Fint *status) {
    void (*next)(MPI_Fint *) = (void (*)(MPI_Fint *))dlsym(RTLD_NEXT, "mpi_init_");
    if (next == NULL) abort();
    next(status);
    start();
}

void mpi_init_thread_(MPI_Fint *required, MPI_Fint *provided, MPI_Fint *status) {
    void (*next)(MPI_Fint *, MPI_Fint *, MPI_Fint *) =
        (void (*)(MPI_Fint *, MPI_Fint *, MPI_Fint *))dlsym(RTLD_NEXT, "mpi_init_thread_");
    if (next == NULL) abort();
    next(required, provided, status);
    start();
}

void mpi_finalize_(MPI_Fint *status) {
    void (*next)(MPI_Fint *) = (void (*)(MPI_Fint *))dlsym(RTLD_NEXT, "mpi_finalize_");
    if (next == NULL) abort();
    report();
    next(status);
}

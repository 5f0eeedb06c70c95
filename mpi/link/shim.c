/* The calls to MPI that the link needs. They are in C so that Rust needs no handles of MPI. */

#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

enum { BYTES = 1, REST = 2, SLICE = 3, ROOM = 4096 + 128 };

static MPI_Request sends[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};

/* The next message of any process is received into this buffer: MPI is faster where a receive is posted. If the message fills the
   buffer, the rest of it follows. */
static char room[ROOM];
static MPI_Request next = MPI_REQUEST_NULL;

static void wait_for_next(void) {
    MPI_Irecv(room, ROOM, MPI_BYTE, MPI_ANY_SOURCE, BYTES, MPI_COMM_WORLD, &next);
}

/* For each process, whether it has ended; the number of the others that have not; the thread that may call MPI. A message without
   bytes is the last one of its process. */
static char *ended = NULL;
static int others = 0;
static pthread_t starter;

int loggp_mpi_has_message(int *from, int *n);
void loggp_mpi_take(int from, char *into, int n);

static void end(void) {
    int finalized = 0, id = 0, p = 0, from = 0, n = 0;
    MPI_Finalized(&finalized);
    /* If a signal ends the process from another thread, mpirun ends all processes. */
    if (finalized || !pthread_equal(starter, pthread_self())) return;
    MPI_Comm_rank(MPI_COMM_WORLD, &id);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    for (int to = 0; to < p; to++)
        if (to != id) MPI_Send(NULL, 0, MPI_BYTE, to, BYTES, MPI_COMM_WORLD);
    while (others > 0)
        if (loggp_mpi_has_message(&from, &n)) {
            char *rest = malloc((size_t)n);
            if (rest == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
            loggp_mpi_take(from, rest, n);
            free(rest);
        }
    MPI_Cancel(&next);
    MPI_Wait(&next, MPI_STATUS_IGNORE);
    MPI_Finalize();
}

/* Starts MPI. Writes the number of this process, the number of processes, the number of those on this computer, and the number of
   this computer's cores, whether this process may use them or not. Returns 0 if all went well. */
int loggp_mpi_start(int *id, int *p, int *here, int *cores) {
    int provided = 0, ok = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
    if (ok != MPI_SUCCESS || provided < MPI_THREAD_FUNNELED) return 1;
#ifdef __GLIBC__
    /* Freed memory is kept for the next message: new pages from the system cost more than copying the message. */
    mallopt(M_MMAP_THRESHOLD, INT_MAX);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
#endif
    MPI_Comm node;
    MPI_Comm_rank(MPI_COMM_WORLD, id);
    MPI_Comm_size(MPI_COMM_WORLD, p);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, here);
    MPI_Comm_free(&node);
    wait_for_next();
    starter = pthread_self();
    others = *p - 1;
    ended = calloc((size_t)*p, 1);
    if (ended == NULL) return 1;
    *cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
    return atexit(end);
}

static void compute_until(double end) {
    while (MPI_Wtime() < end)
        ;
}

/* Process 0 begins to send, and computes for so many seconds; a quarter later the other one begins to receive. Returns how long the
   least of some such receives took, as a part of the time that was left to compute, in all processes. */
double loggp_mpi_wait_while_sender_computes(int other, int bytes, double seconds) {
    enum { REPEATS = 5 };
    double least = 1e9;
    int id = 0;
    MPI_Comm all;
    MPI_Request sent;
    char *data = calloc((size_t)bytes, 1);
    if (data == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(all, &id);
    for (int i = 0; i < REPEATS; i++) {
        MPI_Barrier(all);
        double begin = MPI_Wtime();
        if (id == 0) {
            MPI_Isend(data, bytes, MPI_BYTE, other, 0, all, &sent);
            compute_until(begin + seconds);
            MPI_Wait(&sent, MPI_STATUS_IGNORE);
        } else if (id == other) {
            compute_until(begin + seconds / 4);
            begin = MPI_Wtime();
            MPI_Recv(data, bytes, MPI_BYTE, 0, 0, all, MPI_STATUS_IGNORE);
            double took = (MPI_Wtime() - begin) / (0.75 * seconds);
            if (took < least) least = took;
        }
    }
    MPI_Bcast(&least, 1, MPI_DOUBLE, other, all);
    MPI_Comm_free(&all);
    free(data);
    return least;
}

/* Writes the first line of the library's version, cut to the room. */
void loggp_mpi_version(char *text, int room) {
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(version, &length);
    version[strcspn(version, "\n,")] = 0;
    strncpy(text, version, (size_t)room - 1);
    text[room - 1] = 0;
}

/* Starts to send a message, and the slice behind it if there is one. */
void loggp_mpi_send(int to, const void *bytes, int n, const void *slice, int length) {
    MPI_Isend(bytes, n < ROOM ? n : ROOM, MPI_BYTE, to, BYTES, MPI_COMM_WORLD, &sends[0]);
    if (n >= ROOM)
        MPI_Isend((const char *)bytes + ROOM, n - ROOM, MPI_BYTE, to, REST, MPI_COMM_WORLD, &sends[1]);
    if (length > 0) MPI_Isend(slice, length, MPI_BYTE, to, SLICE, MPI_COMM_WORLD, &sends[2]);
}

/* Returns whether the message is sent, so that its memory may be changed. */
int loggp_mpi_is_sent(void) {
    int done = 0;
    MPI_Testall(3, sends, &done, MPI_STATUSES_IGNORE);
    return done;
}

/* Returns whether a process has ended. */
int loggp_mpi_has_ended(int id) {
    return ended[id];
}

/* Returns whether a message has arrived. If so, writes its sender and its length. */
int loggp_mpi_has_message(int *from, int *n) {
    int came = 0;
    MPI_Status status;
    MPI_Test(&next, &came, &status);
    if (!came) return 0;
    *from = status.MPI_SOURCE;
    MPI_Get_count(&status, MPI_BYTE, n);
    if (*n == 0) {
        ended[*from] = 1;
        others--;
        wait_for_next();
        return 0;
    }
    if (*n == ROOM) {
        int rest = 0;
        MPI_Probe(*from, REST, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_BYTE, &rest);
        *n += rest;
    }
    return 1;
}

/* Takes the message that has arrived. */
void loggp_mpi_take(int from, char *into, int n) {
    memcpy(into, room, (size_t)(n < ROOM ? n : ROOM));
    wait_for_next();
    if (n >= ROOM) MPI_Recv(into + ROOM, n - ROOM, MPI_BYTE, from, REST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Receives the slice behind the message. */
void loggp_mpi_take_slice(int from, void *into, int n) {
    MPI_Recv(into, n, MPI_BYTE, from, SLICE, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

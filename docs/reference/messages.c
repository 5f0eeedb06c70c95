/* The messages that Open MPI and MPICH really send in collectives, to hold them against the tables of `loggp`:

       mpicc -O1 -rdynamic messages.c -o messages
       mpirun -n 4 --mca pml_monitoring_enable 1 ./messages out 70000

   With MPICH (of UCX, as Debian has it), whose library must be a static one, each process as if on a node of its own:

       gcc -O1 -DMPICH -I/usr/include/x86_64-linux-gnu/mpich messages.c -o messages \
           -Wl,--wrap=MPIC_Send,--wrap=MPIC_Ssend,--wrap=MPIC_Isend,--wrap=MPIC_Issend \
           -Wl,--wrap=MPIC_Sendrecv,--wrap=MPIC_Sendrecv_replace -l:libmpich.a -lucp -lucs -lhwloc -lm
       MPIR_CVAR_NOLOCAL=1 mpirun -n 4 ./messages out 70000

   Every rank writes a file, out.4.0 to out.4.3. A line is a collective: its name, the number of ranks, the root, the
   bytes, the rank that writes, and the messages that this sent in their order, each as receiver:bytes. The last
   argument is the most bytes. Names that begin with i are of immediate collectives, and those that end with -ordered
   have an operation that does not commute. */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_MESSAGES = 1 << 17 };

enum kind {
    BARRIER, BCAST, REDUCE, ALLREDUCE, SCAN, EXSCAN, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV,
    ALLTOALLW, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, KINDS
};

static const char *const names[KINDS] = {
    "barrier", "bcast", "reduce", "allreduce", "scan", "exscan", "gather", "gatherv", "scatter", "scatterv", "allgather",
    "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce_scatter", "reduce_scatter_block"};

static const int sizes[] = {
    0, 1, 4, 7, 8, 12, 24, 40, 64, 120, 130, 256, 264, 300, 512, 800, 1024, 2048, 2056, 3000, 4096, 5000,
    8192, 9000, 12288, 12296, 16384, 20000, 32768, 32776, 40000, 65536, 70000, 140000, 270000, 524288, 524296,
    540000, 1100000};

/* The messages since the last collective. */
static struct {
    int to;
    size_t bytes;
} sent[MOST_MESSAGES];
static int sent_count;

static void add(int to, size_t bytes) {
    sent[sent_count].to = to;
    sent[sent_count++ % MOST_MESSAGES].bytes = bytes;
}

#ifdef MPICH
/* Collectives of MPICH send by these functions alone. The linker takes ours for them, and theirs get another name. */
static void add_own(MPI_Aint count, MPI_Datatype type, int to) {
    MPI_Count size;
    MPI_Type_size_x(type, &size);
    if (to != MPI_PROC_NULL) add(to, (size_t)(count * size));
}

#define SEND(name, parameters, arguments) \
    int __real_##name parameters;         \
    int __wrap_##name parameters;         \
    int __wrap_##name parameters {        \
        add_own(count, type, to);         \
        return __real_##name arguments;   \
    }

SEND(MPIC_Send, (const void *buffer, MPI_Aint count, MPI_Datatype type, int to, int tag, void *comm, void *error),
     (buffer, count, type, to, tag, comm, error))
SEND(MPIC_Ssend, (const void *buffer, MPI_Aint count, MPI_Datatype type, int to, int tag, void *comm, void *error),
     (buffer, count, type, to, tag, comm, error))
SEND(MPIC_Isend, (const void *buffer, MPI_Aint count, MPI_Datatype type, int to, int tag, void *comm, void *request, void *error),
     (buffer, count, type, to, tag, comm, request, error))
SEND(MPIC_Issend, (const void *buffer, MPI_Aint count, MPI_Datatype type, int to, int tag, void *comm, void *request, void *error),
     (buffer, count, type, to, tag, comm, request, error))
SEND(MPIC_Sendrecv,
     (const void *buffer, MPI_Aint count, MPI_Datatype type, int to, int tag, void *taken, MPI_Aint taken_count,
      MPI_Datatype taken_type, int from, int taken_tag, void *comm, MPI_Status *status, void *error),
     (buffer, count, type, to, tag, taken, taken_count, taken_type, from, taken_tag, comm, status, error))
SEND(MPIC_Sendrecv_replace,
     (void *buffer, MPI_Aint count, MPI_Datatype type, int to, int tag, int from, int taken_tag, void *comm, MPI_Status *status,
      void *error),
     (buffer, count, type, to, tag, from, taken_tag, comm, status, error))
#else
/* Open MPI's component `monitoring` calls this for every message that it sends, and finds it here first. */
void mca_common_monitoring_record_pml(int to, size_t bytes, int tag);
void mca_common_monitoring_record_pml(int to, size_t bytes, int tag) {
    (void)tag;
    add(to, bytes);
}
#endif

static void combine(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)in, (void)inout, (void)n, (void)type;
}

/* What one rank gives another one. In lists it is not the same for all. */
static int given(enum kind kind, int bytes, int from, int to) {
    switch (kind) {
    case SCATTERV: case REDUCE_SCATTER: return bytes * (to % 3);
    case GATHERV: case ALLGATHERV: return bytes * (from % 3);
    case ALLTOALLV: case ALLTOALLW: return bytes * ((from + 2 * to) % 3);
    default: return bytes;
    }
}

/* What a rank gives and gets. */
static char *in, *out;
static int P, id, *in_counts, *in_places, *out_counts, *out_places;
static MPI_Datatype *types;

static void call(enum kind kind, int root, int n, MPI_Datatype type, MPI_Op op) {
    MPI_Comm all = MPI_COMM_WORLD;
    switch (kind) {
    case BARRIER: MPI_Barrier(all); break;
    case BCAST: MPI_Bcast(in, n, type, root, all); break;
    case REDUCE: MPI_Reduce(in, out, n, type, op, root, all); break;
    case ALLREDUCE: MPI_Allreduce(in, out, n, type, op, all); break;
    case SCAN: MPI_Scan(in, out, n, type, op, all); break;
    case EXSCAN: MPI_Exscan(in, out, n, type, op, all); break;
    case GATHER: MPI_Gather(in, n, type, out, n, type, root, all); break;
    case GATHERV: MPI_Gatherv(in, in_counts[0], type, out, out_counts, out_places, type, root, all); break;
    case SCATTER: MPI_Scatter(in, n, type, out, n, type, root, all); break;
    case SCATTERV: MPI_Scatterv(in, in_counts, in_places, type, out, out_counts[0], type, root, all); break;
    case ALLGATHER: MPI_Allgather(in, n, type, out, n, type, all); break;
    case ALLGATHERV: MPI_Allgatherv(in, in_counts[0], type, out, out_counts, out_places, type, all); break;
    case ALLTOALL: MPI_Alltoall(in, n, type, out, n, type, all); break;
    case ALLTOALLV: MPI_Alltoallv(in, in_counts, in_places, type, out, out_counts, out_places, type, all); break;
    case ALLTOALLW: MPI_Alltoallw(in, in_counts, in_places, types, out, out_counts, out_places, types, all); break;
    case REDUCE_SCATTER: MPI_Reduce_scatter(in, out, in_counts, type, op, all); break;
    default: MPI_Reduce_scatter_block(in, out, n, type, op, all); break;
    }
}

static void call_immediate(enum kind kind, int root, int n, MPI_Datatype type, MPI_Op op) {
    MPI_Comm all = MPI_COMM_WORLD;
    MPI_Request request;
    switch (kind) {
    case BARRIER: MPI_Ibarrier(all, &request); break;
    case BCAST: MPI_Ibcast(in, n, type, root, all, &request); break;
    case REDUCE: MPI_Ireduce(in, out, n, type, op, root, all, &request); break;
    case ALLREDUCE: MPI_Iallreduce(in, out, n, type, op, all, &request); break;
    case SCAN: MPI_Iscan(in, out, n, type, op, all, &request); break;
    case EXSCAN: MPI_Iexscan(in, out, n, type, op, all, &request); break;
    case GATHER: MPI_Igather(in, n, type, out, n, type, root, all, &request); break;
    case GATHERV: MPI_Igatherv(in, in_counts[0], type, out, out_counts, out_places, type, root, all, &request); break;
    case SCATTER: MPI_Iscatter(in, n, type, out, n, type, root, all, &request); break;
    case SCATTERV: MPI_Iscatterv(in, in_counts, in_places, type, out, out_counts[0], type, root, all, &request); break;
    case ALLGATHER: MPI_Iallgather(in, n, type, out, n, type, all, &request); break;
    case ALLGATHERV: MPI_Iallgatherv(in, in_counts[0], type, out, out_counts, out_places, type, all, &request); break;
    case ALLTOALL: MPI_Ialltoall(in, n, type, out, n, type, all, &request); break;
    case ALLTOALLV: MPI_Ialltoallv(in, in_counts, in_places, type, out, out_counts, out_places, type, all, &request); break;
    case ALLTOALLW: MPI_Ialltoallw(in, in_counts, in_places, types, out, out_counts, out_places, types, all, &request); break;
    case REDUCE_SCATTER: MPI_Ireduce_scatter(in, out, in_counts, type, op, all, &request); break;
    default: MPI_Ireduce_scatter_block(in, out, n, type, op, all, &request); break;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    char path[4096];
    MPI_Op ordered;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &P);
    MPI_Comm_rank(MPI_COMM_WORLD, &id);
    if (argc != 3) {
        if (id == 0) fprintf(stderr, "give the beginning of the files' names, and the most bytes: ./messages out 70000\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    int most = atoi(argv[2]);
    snprintf(path, sizeof path, "%s.%d.%d", argv[1], P, id);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Op_create(combine, 0, &ordered);
    in = calloc((size_t)most * 2 + 64, (size_t)P), out = calloc((size_t)most * 2 + 64, (size_t)P);
    in_counts = calloc((size_t)P * 4, sizeof(int));
    in_places = in_counts + P, out_counts = in_places + P, out_places = out_counts + P;
    types = calloc((size_t)P, sizeof *types);
    for (int form = 0; form < 4; form++) {
        int is_immediate = form / 2, is_ordered = form % 2;
        for (int kind = 0; kind < KINDS; kind++) {
            int has_root = kind == BCAST || kind == REDUCE || (kind >= GATHER && kind <= SCATTERV);
            int is_reduction = (kind >= REDUCE && kind <= EXSCAN) || kind >= REDUCE_SCATTER;
            if (is_ordered && !is_reduction) continue;
            for (size_t size = 0; size < (kind == BARRIER ? 1 : sizeof sizes / sizeof *sizes) && sizes[size] <= most; size++) {
                /* MPICH does this as if it were a block for each, which no table says. */
                if (is_ordered && kind == REDUCE_SCATTER && sizes[size] == 0) continue;
                int bytes = sizes[size], element = bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 1;
                MPI_Datatype type = element == 8 ? MPI_DOUBLE : element == 4 ? MPI_INT : MPI_BYTE;
                MPI_Op op = is_ordered ? ordered : element == 1 ? MPI_BOR : MPI_SUM;
                /* The places of MPI_Alltoallw are in bytes. */
                int unit = kind == ALLTOALLW ? element : 1, in_all = 0, out_all = 0;
                for (int i = 0; i < P; i++) {
                    in_counts[i] = given(kind, bytes, id, i) / element, in_places[i] = in_all * unit, in_all += in_counts[i];
                    out_counts[i] = given(kind, bytes, i, id) / element, out_places[i] = out_all * unit, out_all += out_counts[i];
                    types[i] = type;
                }
                for (int root = 0; root < (has_root ? P : 1); root += 1 + P / 2) {
                    sent_count = 0;
                    (is_immediate ? call_immediate : call)(kind, root, bytes / element, type, op);
                    fprintf(file, "%s%s%s %d %d %d %d", is_immediate ? "i" : "", names[kind], is_ordered ? "-ordered" : "", P, root,
                            bytes, id);
                    for (int i = 0; i < sent_count; i++) fprintf(file, " %d:%zu", sent[i].to, sent[i].bytes);
                    fprintf(file, "\n");
                }
            }
        }
    }
    fclose(file);
    MPI_Finalize();
    return 0;
}

/* What the files of the library share. Each name is hidden: programs have names of their own. */

#ifndef LOGGP_SHARED_H
#define LOGGP_SHARED_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Programs ask by weak symbols whether their MPI has a function, so what it has not is not here either: functions with large
 * counts, and others of MPI 4, of which Open MPI 5 has some. */
#if MPI_VERSION >= 4
#define HAS_LARGE
#endif
#if MPI_VERSION >= 4 || (defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5)
#define HAS_FOUR
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

/* Defines MPI_name and PMPI_name, and finds what they stand before. */
#define CALL(name, arguments) CALL_(int, name, arguments)
#define CALL_(type, name, arguments) CALL_OF(type, name, arguments)
#define CALL_OF(type, name, arguments)                                                                               \
    static void *real_##name;                                                                                        \
    __attribute__((constructor)) static void find_##name(void) { real_##name = dlsym(RTLD_NEXT, "PMPI_" #name); }    \
    type MPI_##name arguments;                                                                                       \
    type PMPI_##name arguments __attribute__((alias("MPI_" #name)));                                                 \
    type MPI_##name arguments

#define REAL(name) REAL_(name)
#define REAL_(name) ((__typeof__(&MPI_##name))real_##name)

#define PLACE (fortran_caller ? fortran_caller : __builtin_return_address(0))

#pragma GCC visibility push(hidden)

/* True between MPI_Init and MPI_Finalize, if calls are emulated. */
extern volatile int is_emulated;
/* True from then on to the end: who asks what a communicator is hears what it is in the emulation. */
extern volatile int is_answered;
/* Where the program called a binding of Fortran, if it did. */
extern __thread void *fortran_caller __attribute__((tls_model("initial-exec")));
extern int own_rank, world_size;

/* How the ranks of a communicator lie. */
struct topology {
    int kind; /* MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH */
    int count, *sizes, *periods; /* dimensions; or nodes, whose neighbours end at these of `edges` */
    int *edges;
    int in, out, *sources, *destinations, *source_weights, *weights, is_weighted;
};

/* A communicator by its handle. One of an emulated program is one of this rank alone in the real MPI, for attributes, names, error
 * handlers and hints. */
struct communicator {
    struct communicator *next;
    MPI_Comm handle;
    uint32_t number;
    /* Number of this rank in its group. */
    int rank;
    int size;
    int *members; /* ranks in the world; NULL in the world, where they are the same */
    int remote_size; /* -1 if it is no intercommunicator */
    int *remote;
    uint64_t children, persistent; /* how many it has made, and persistent collectives it has begun */
    int in_degree, out_degree; /* in neighbours' collectives */
    struct topology *topology; /* of an emulated program */
    /* By which `number_at_parent` is counted where the parent cannot: */
    uint32_t parent;
    uint64_t number_at_parent;
};

/* Numbers at the parent begin here for communicators that not all ranks of the parent make. */
#define OUT_OF_ORDER (UINT64_C(1) << 32)

/* Returns the communicator, or NULL if it has members outside of the world or is none. */
struct communicator *find_communicator(MPI_Comm handle);
/* Numbers a communicator, and writes what it is. If `number_at_parent` is OUT_OF_ORDER, it is counted among those with the same
 * members. The neighbours are NULL if it has no topology. */
void define_communicator(struct communicator *made, uint32_t parent, uint64_t number_at_parent, const int *sources,
                         const int *destinations);
/* Notes that a call of the program at present has made a communicator. */
void note_communicator(MPI_Comm made);
int has_room_for_communicators(void);

/* Ranks of the world, in their order in a group. */
struct group {
    struct group *next;
    MPI_Group handle;
    int size, *ranks;
};

/* Returns the group, or NULL if it is none. */
const struct group *find_group(MPI_Group handle);
/* Makes a group, which has the array then, for a call at a place. */
MPI_Group make_group(int *ranks, int size, const char *name, void *place);
/* Returns the place of a rank of the world, or MPI_UNDEFINED. */
int place_in_group(const struct group *group, int rank);
int compare_groups(const int *one, int one_size, const int *other, int other_size);
/* Returns the ranks of a communicator as an array that the caller frees. */
int *members_of(const struct communicator *communicator);
int *remote_members_of(const struct communicator *communicator);
int is_group_number(MPI_Group handle);

/* What each rank has given in a call that ranks make together, in the order of their ranks in the world. */
struct parts {
    int count;
    uint64_t *bytes;
    unsigned char **data, *all;
};

/* Waits until all have called: the ranks of a communicator and of its remote group, or these, which are in their order. */
struct parts gather_parts(const struct communicator *parent, const int *ranks, int count, const void *own, uint64_t bytes);
/* The end of such a call, whose record has begun: gives a part, and waits for the others. */
struct parts give_part(const void *own, uint64_t bytes);
void free_parts(struct parts *parts);

/* Returns for each of these members of a communicator the place of its part. The caller frees it. */
int *places_of_parts(const struct communicator *parent, const int *members, int size);

/* The ends of calls that make communicators. Each returns 0 or the class of an error. */
int make_dup(MPI_Comm comm, MPI_Info info, MPI_Comm *made);
int make_split(MPI_Comm comm, int color, int key, MPI_Comm *made);
int make_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made);
int make_create(MPI_Comm comm, MPI_Group group, MPI_Comm *made);
int make_of_group(MPI_Comm comm, const char *name, MPI_Group group, MPI_Comm *made);
int make_cart(MPI_Comm comm, int dimensions, const int *sizes, const int *periods, MPI_Comm *made);
int make_cart_sub(MPI_Comm comm, const int *remain, MPI_Comm *made);
int make_graph(MPI_Comm comm, int nodes, const int *index, const int *edges, MPI_Comm *made);
int make_dist_graph(MPI_Comm comm, int n, const int *nodes, const int *degrees, const int *targets, const int *weights,
                    MPI_Comm *made);
int make_adjacent(MPI_Comm comm, int in, const int *sources, const int *source_weights, int out, const int *destinations,
                  const int *weights, MPI_Comm *made);
int make_inter(MPI_Comm comm, const int *remote, int remote_size, MPI_Comm *made);
int make_merged(MPI_Comm comm, int high, MPI_Comm *made);
/* Makes a communicator with the members of another one, as `MPI_Comm_dup` does, and what is below it: for what takes no attributes. */
struct communicator *make_like(struct communicator *parent, uint64_t number_at_parent);
/* The same with attributes and hints. `info` may be MPI_INFO_NULL. */
int copy_below(MPI_Comm parent, MPI_Info info, MPI_Comm *made);
struct communicator *define_copy(MPI_Comm made, const struct communicator *parent, uint64_t number_at_parent);
/* A communicator of this rank alone, without attributes. */
MPI_Comm blank_communicator(void);
/* Prepares to make communicators, before the program can. */
void begin_making_communicators(void);

/* Gives the neighbours in a topology as arrays that the caller frees, or NULL if there is none. */
void neighbours_of(struct communicator *of, int **sources, int **destinations);
struct topology *copy_topology(const struct topology *topology);
/* Returns a cartesian topology, and how many nodes it has. */
struct topology *cart_of(int dimensions, const int *sizes, const int *periods, int *nodes);
struct topology *graph_of(int nodes, const int *index, const int *edges);
struct topology *adjacent_of(int in, const int *sources, const int *source_weights, int out, const int *destinations,
                             const int *weights);
void cart_coordinates(const struct topology *cart, int rank, int *coordinates);

/* Hides what a launcher says, before MPI_Init: then the MPI knows this process alone. Afterwards it is there again; returns whether it
 * was hidden. */
void begin_alone(void);
int end_alone(void);
/* True in a rank that was forked. */
extern int is_fork;
/* Where the command wants forks, returns in each rank's process, of which it says which one it is, the path of the emulation's file.
 * Otherwise NULL. */
const char *become_ranks(void);

/* How a rank ends, in its slot. The rank writes it, whoever has the turn. */
struct ending {
    uint32_t signal;  /* that ends it, or 0 */
    uint32_t status;  /* + 1, of its exit */
    uint32_t is_told; /* 1: the places are there, where the command has asked for them */
    uint32_t bytes;   /* of the places: each an address of 8 bytes, and the path of its module with a 0 behind it */
    unsigned char frames[4096 - 80];
};
/* Notes from now on how this rank ends. */
void begin_endings(struct ending *in);

/* Memory, or the end of the program. */
void *room(size_t bytes);
int *copy_of(const int *array, int count);
/* What threads have in common and reach for outside of their calls: tables of handles, groups and objects. */
void lock_tables(void);
void unlock_tables(void);
/* A handle that no MPI has seen. */
intptr_t new_handle(void);
void free_handle(intptr_t handle);
/* What the program made of groups. */
void note_group(MPI_Group made, const char *name, void *place);
void note_freed_group(MPI_Group freed);
/* Ends the run, since an argument is wrong, or returns the error's class if the communicator's handler says so. It is for calls that
 * are in the library; the other one is for those that the library only answers. */
int reject(MPI_Comm comm, int class, const char *form, ...) __attribute__((format(printf, 3, 4)));
int reject_at(void *place, MPI_Comm comm, int class, const char *form, ...) __attribute__((format(printf, 4, 5)));

#pragma GCC visibility pop

#endif

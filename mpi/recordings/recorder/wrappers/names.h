/* Calls of which only is recorded how many there are and how long they take, and the bindings of Fortran. What they are given is
 * handed on as it came: all of it are integers and pointers, and reading more of them than were given does no harm. */

#define WORDS                                                                                                        \
    long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l, long m, long n,  \
        long o, long p
#define SAME_WORDS a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p
typedef long any_call(WORDS);

static void *find_symbol(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        found = dlsym(RTLD_DEFAULT, name);
    if (found == NULL) {
        fprintf(stderr, "loggp: the program calls %s, and no library of it is found\n", name);
        abort();
    }
    return found;
}

#define REFUSED(name)                                                                                                \
    long count_##name(WORDS) __asm__(#name);                                                                         \
    long count_P##name(WORDS) __asm__("P" #name) __attribute__((alias(#name)));                                      \
    long count_##name(WORDS)                                                                                         \
    {                                                                                                                \
        static any_call *real;                                                                                       \
        if (real == NULL)                                                                                            \
            real = (any_call *)find_real("P" #name, (void *)count_##name);                                           \
        if (is_emulated && !inside)                                                                                  \
            refuse_call(#name, PLACE);                                                                               \
        if (!is_on || inside)                                                                                        \
            return real(SAME_WORDS);                                                                                 \
        inside = 1;                                                                                                  \
        uint64_t begin = now();                                                                                      \
        long returned = real(SAME_WORDS);                                                                            \
        uint64_t ticks = now() - begin;                                                                              \
        lock();                                                                                                      \
        count_unmodelled(#name, ticks);                                                                              \
        unlock();                                                                                                    \
        inside = 0;                                                                                                  \
        return returned;                                                                                             \
    }

#define CANNOT                                                                                                       \
    "calls %s, which an emulated program cannot; it has MPI 3.1, and of MPI 4.0 large counts, persistent collectives, " \
    "sessions, partitioned messages and MPI_Isendrecv, without other processes than those of the start"

__attribute__((noreturn)) static void refuse_call(const char *name, void *place)
{
    enter(place);
    refuse(CANNOT, name);
}

static void *find_real(const char *name, void *own)
{
    void *found = find_symbol(name);
    if (found == own) {
        fprintf(stderr, "loggp: this MPI has no %s\n", name);
        abort();
    }
    return found;
}

#include "others.h"

/* A binding of Fortran: it notes where it was called, and calls what it stands before. That calls the functions of C. */
#define BINDING(name)                                                                                                \
    long from_##name(WORDS) __asm__(#name);                                                                          \
    long from_##name(WORDS)                                                                                          \
    {                                                                                                                \
        static any_call *real;                                                                                       \
        if (real == NULL)                                                                                            \
            real = (any_call *)find_real(#name, (void *)from_##name);                                                \
        void *before = fortran_caller;                                                                               \
        fortran_caller = __builtin_return_address(0);                                                                \
        long returned = real(SAME_WORDS);                                                                            \
        fortran_caller = before;                                                                                     \
        return returned;                                                                                             \
    }
/* That of mpif.h and of the module mpi, that of mpi_f08 in Open MPI, and that in MPICH, where counts may be large. */
#define FORTRAN(name)                                                                                                \
    BINDING(mpi_##name##_) BINDING(mpi_##name##_f08_) BINDING(mpi_##name##_f08ts_) BINDING(mpi_##name##_f08ts_large_)
#define FORTRAN_COLLECTIVE(name) FORTRAN(name) FORTRAN(i##name) FORTRAN(name##_init)

FORTRAN(send)
FORTRAN(bsend)
FORTRAN(ssend)
FORTRAN(rsend)
FORTRAN(isend)
FORTRAN(ibsend)
FORTRAN(issend)
FORTRAN(irsend)
FORTRAN(send_init)
FORTRAN(bsend_init)
FORTRAN(ssend_init)
FORTRAN(rsend_init)
FORTRAN(recv)
FORTRAN(irecv)
FORTRAN(recv_init)
FORTRAN(mrecv)
FORTRAN(imrecv)
FORTRAN(sendrecv)
FORTRAN(sendrecv_replace)
FORTRAN(isendrecv)
FORTRAN(isendrecv_replace)
FORTRAN(wait)
FORTRAN(test)
FORTRAN(waitall)
FORTRAN(testall)
FORTRAN(waitany)
FORTRAN(testany)
FORTRAN(waitsome)
FORTRAN(testsome)
FORTRAN(request_get_status)
FORTRAN(probe)
FORTRAN(iprobe)
FORTRAN(mprobe)
FORTRAN(improbe)
FORTRAN(start)
FORTRAN(startall)
FORTRAN(request_free)
FORTRAN_COLLECTIVE(barrier)
FORTRAN_COLLECTIVE(bcast)
FORTRAN_COLLECTIVE(reduce)
FORTRAN_COLLECTIVE(allreduce)
FORTRAN_COLLECTIVE(scan)
FORTRAN_COLLECTIVE(exscan)
FORTRAN_COLLECTIVE(gather)
FORTRAN_COLLECTIVE(gatherv)
FORTRAN_COLLECTIVE(scatter)
FORTRAN_COLLECTIVE(scatterv)
FORTRAN_COLLECTIVE(allgather)
FORTRAN_COLLECTIVE(allgatherv)
FORTRAN_COLLECTIVE(alltoall)
FORTRAN_COLLECTIVE(alltoallv)
FORTRAN_COLLECTIVE(alltoallw)
FORTRAN_COLLECTIVE(reduce_scatter)
FORTRAN_COLLECTIVE(reduce_scatter_block)
FORTRAN_COLLECTIVE(neighbor_allgather)
FORTRAN_COLLECTIVE(neighbor_allgatherv)
FORTRAN_COLLECTIVE(neighbor_alltoall)
FORTRAN_COLLECTIVE(neighbor_alltoallv)
FORTRAN_COLLECTIVE(neighbor_alltoallw)
FORTRAN(comm_dup)
FORTRAN(comm_dup_with_info)
FORTRAN(comm_idup)
FORTRAN(comm_idup_with_info)
FORTRAN(comm_split)
FORTRAN(comm_split_type)
FORTRAN(comm_create)
FORTRAN(comm_create_group)
FORTRAN(cart_create)
FORTRAN(cart_sub)
FORTRAN(graph_create)
FORTRAN(dist_graph_create)
FORTRAN(dist_graph_create_adjacent)
FORTRAN(intercomm_create)
FORTRAN(intercomm_merge)
FORTRAN(comm_create_from_group)
FORTRAN(intercomm_create_from_groups)
FORTRAN(session_finalize)
FORTRAN(group_from_session_pset)
FORTRAN(psend_init)
FORTRAN(precv_init)
FORTRAN(pready)
FORTRAN(pready_range)
FORTRAN(pready_list)
FORTRAN(parrived)
FORTRAN(grequest_start)
FORTRAN(file_read)
FORTRAN(file_read_all)
FORTRAN(file_read_at)
FORTRAN(file_read_at_all)
FORTRAN(file_read_shared)
FORTRAN(file_read_ordered)
FORTRAN(file_iread)
FORTRAN(file_iread_all)
FORTRAN(file_iread_at)
FORTRAN(file_iread_at_all)
FORTRAN(file_iread_shared)
FORTRAN(file_read_all_begin)
FORTRAN(file_read_all_end)
FORTRAN(file_read_at_all_begin)
FORTRAN(file_read_at_all_end)
FORTRAN(file_read_ordered_begin)
FORTRAN(file_read_ordered_end)
FORTRAN(file_write)
FORTRAN(file_write_all)
FORTRAN(file_write_at)
FORTRAN(file_write_at_all)
FORTRAN(file_write_shared)
FORTRAN(file_write_ordered)
FORTRAN(file_iwrite)
FORTRAN(file_iwrite_all)
FORTRAN(file_iwrite_at)
FORTRAN(file_iwrite_at_all)
FORTRAN(file_iwrite_shared)
FORTRAN(file_write_all_begin)
FORTRAN(file_write_all_end)
FORTRAN(file_write_at_all_begin)
FORTRAN(file_write_at_all_end)
FORTRAN(file_write_ordered_begin)
FORTRAN(file_write_ordered_end)
FORTRAN(file_open)
FORTRAN(file_close)
FORTRAN(file_delete)
FORTRAN(file_set_size)
FORTRAN(file_preallocate)
FORTRAN(file_set_info)
FORTRAN(file_set_atomicity)
FORTRAN(file_sync)
FORTRAN(file_set_view)
FORTRAN(file_seek)
FORTRAN(file_seek_shared)
FORTRAN(file_get_position_shared)

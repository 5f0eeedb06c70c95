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

#define UNMODELLED(name)                                                                                             \
    long count_##name(WORDS) __asm__("MPI_" #name);                                                                  \
    long count_P##name(WORDS) __asm__("PMPI_" #name) __attribute__((alias("MPI_" #name)));                           \
    long count_##name(WORDS)                                                                                         \
    {                                                                                                                \
        static any_call *real;                                                                                       \
        if (real == NULL)                                                                                            \
            real = (any_call *)find_real("PMPI_" #name, (void *)count_##name);                                       \
        if (is_emulated && !inside)                                                                                  \
            refuse_call("MPI_" #name, PLACE);                                                                        \
        if (!is_on || inside)                                                                                        \
            return real(SAME_WORDS);                                                                                 \
        inside = 1;                                                                                                  \
        uint64_t begin = now();                                                                                      \
        long returned = real(SAME_WORDS);                                                                            \
        uint64_t ticks = now() - begin;                                                                              \
        lock();                                                                                                      \
        count_unmodelled("MPI_" #name, ticks);                                                                       \
        unlock();                                                                                                    \
        inside = 0;                                                                                                  \
        return returned;                                                                                             \
    }

__attribute__((noreturn)) static void refuse_call(const char *name, void *place)
{
    enter(place);
    refuse("calls %s, which an emulated program cannot; it has MPI 3.1 without files, generalized requests "
           "and other processes than those of the start", name);
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

UNMODELLED(Comm_spawn)
UNMODELLED(Comm_spawn_multiple)
UNMODELLED(Comm_accept)
UNMODELLED(Comm_connect)
UNMODELLED(Comm_join)

UNMODELLED(Grequest_start)

#if defined(HAS_FOUR)
UNMODELLED(Psend_init)
UNMODELLED(Precv_init)
UNMODELLED(Pready)
UNMODELLED(Pready_range)
UNMODELLED(Pready_list)
UNMODELLED(Parrived)
UNMODELLED(Intercomm_create_from_groups)
UNMODELLED(Comm_create_from_group)
UNMODELLED(Session_init)
#endif

#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
UNMODELLED(Request_get_status_all)
UNMODELLED(Request_get_status_any)
UNMODELLED(Request_get_status_some)
#endif

#define FILE_CALLS(name) UNMODELLED(File_##name) UNMODELLED(File_##name##_all) UNMODELLED(File_i##name)
UNMODELLED(File_open)
UNMODELLED(File_close)
UNMODELLED(File_delete)
UNMODELLED(File_set_size)
UNMODELLED(File_preallocate)
UNMODELLED(File_set_view)
UNMODELLED(File_sync)
FILE_CALLS(read)
FILE_CALLS(write)
FILE_CALLS(read_at)
FILE_CALLS(write_at)
UNMODELLED(File_iread_all)
UNMODELLED(File_iwrite_all)
UNMODELLED(File_iread_at_all)
UNMODELLED(File_iwrite_at_all)
UNMODELLED(File_read_shared)
UNMODELLED(File_write_shared)
UNMODELLED(File_iread_shared)
UNMODELLED(File_iwrite_shared)
UNMODELLED(File_read_ordered)
UNMODELLED(File_write_ordered)
UNMODELLED(File_read_all_begin)
UNMODELLED(File_read_all_end)
UNMODELLED(File_write_all_begin)
UNMODELLED(File_write_all_end)
UNMODELLED(File_read_at_all_begin)
UNMODELLED(File_read_at_all_end)
UNMODELLED(File_write_at_all_begin)
UNMODELLED(File_write_at_all_end)
UNMODELLED(File_read_ordered_begin)
UNMODELLED(File_read_ordered_end)
UNMODELLED(File_write_ordered_begin)
UNMODELLED(File_write_ordered_end)

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
#define FORTRAN(name) BINDING(mpi_##name##_) BINDING(mpi_##name##_f08_) BINDING(mpi_##name##_f08ts_) BINDING(mpi_##name##_f08ts_large_)
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

/* Collectives, with counts of the type COUNT; included once for each type. */

#ifndef EACH_TIME
#define EACH_TIME
/* A collective blocking, immediate and persistent. `fill` says what is exchanged, of the communicator `with`; `small` is the name as
 * it stands behind the I. */
#define COLLECTIVE(name, small, parameters, arguments, fill)                                                         \
    COLLECTIVE_(name, NAME(name), NAME(I##small), NAME(name##_init), parameters, arguments, fill)
#define OPEN(...) __VA_ARGS__
#define COLLECTIVE_(title, name, immediate, persistent, parameters, arguments, fill)                                 \
    CALL(name, (OPEN parameters))                                                                                    \
    {                                                                                                                \
        BEGIN(REAL(name)(OPEN arguments), EMULATE(title, CALLED(name), fill, NULL, 0));                                            \
        RECORD(title, fill, NULL, 0);                                                                                \
    }                                                                                                                \
    CALL(immediate, (OPEN parameters, MPI_Request *request))                                                         \
    {                                                                                                                \
        BEGIN(REAL(immediate)(OPEN arguments, request), EMULATE(title, CALLED(immediate), fill, given(CALLED(immediate), request), 0));                           \
        RECORD(title, fill, request, 0);                                                                             \
    }                                                                                                                \
    PERSISTENT(title, persistent, parameters, arguments, fill)

#if defined(HAS_FOUR)
#define PERSISTENT(title, persistent, parameters, arguments, fill)                                                   \
    CALL(persistent, (OPEN parameters, MPI_Info info, MPI_Request *request))                                         \
    {                                                                                                                \
        BEGIN(REAL(persistent)(OPEN arguments, info, request), EMULATE(title, CALLED(persistent), fill, given(CALLED(persistent), request), 1));                    \
        RECORD(title, fill, request, 1);                                                                             \
    }
#else
#define PERSISTENT(title, persistent, parameters, arguments, fill)
#endif

#define DESCRIBE(title, fill)                                                                                        \
    struct communicator *with = find_communicator(comm);                                                             \
    struct collective to_record = {.kind = COLLECTIVE_##title, .name = "MPI_" #title};                               \
    if (with != NULL) {                                                                                              \
        fill;                                                                                                        \
    }
#define CALLED(name) CALLED_(name)
#define CALLED_(name) "MPI_" #name
#define EMULATE(title, called, fill, request, is_persistent)                                                         \
    ({                                                                                                               \
        DESCRIBE(title, fill)                                                                                        \
        to_record.name = called;                                                                                     \
        check_communicator(called, comm) ?: emulate_collective(with, &to_record, request, is_persistent);            \
    })
#define RECORD(title, fill, request, is_persistent)                                                                  \
    if (error == MPI_SUCCESS) {                                                                                      \
        DESCRIBE(title, fill)                                                                                        \
        record_collective(&span, &to_record, with, request, is_persistent);                                          \
    }                                                                                                                \
    return error

#define SENT to_record.sent
#define RECEIVED to_record.received
/* So many parts of as many elements each. */
#define SAME(of, buffer, parts, number, element)                                                                     \
    to_record.of = ((struct counts){.same = (uint64_t)(number)*type_bytes(element), .n = parts, .data = (void *)(buffer), \
                                    .type = element, .count = (uint64_t)(number)})
/* In place is what the program has where it receives. */
#define IN_PLACE(buffer) (to_record.is_in_place = (buffer) == MPI_IN_PLACE)
#define FROM (IN_PLACE(data) ? into : data)
/* True at the root: in an intercommunicator it says so, in another one it is the rank. */
#define IS_ROOT (root == (with->remote_size >= 0 ? MPI_ROOT : with->rank))
/* True where only others of the root's group are in it. */
#define ROOT                                                                                                         \
    to_record.has_root = 1;                                                                                          \
    to_record.root = root
#define IS_OUT (with->remote_size >= 0 && root == MPI_PROC_NULL)
#define EACH(side, buffer, counts, places, parts)                                                                    \
    to_record.side.data = (void *)(buffer);                                                                          \
    to_record.side.each = counts;                                                                                    \
    to_record.side.n = parts;                                                                                        \
    to_record.side.is_large = IS_LARGE;                                                                              \
    to_record.side.offsets = places;                                                                                 \
    to_record.side.has_long_offsets = sizeof *(places) == sizeof(MPI_Aint)
#define EACH_OF(side, buffer, counts, places, parts, element)                                                        \
    EACH(side, buffer, counts, places, parts);                                                                       \
    to_record.side.bytes = type_bytes(element);                                                                      \
    to_record.side.type = element
#define EACH_W(side, buffer, counts, places, parts, elements)                                                        \
    EACH(side, buffer, counts, places, parts);                                                                       \
    to_record.side.types = elements
#endif

#undef IS_LARGE
#ifdef LARGE
#define IS_LARGE 1
#else
#define IS_LARGE 0
COLLECTIVE(Barrier, barrier, (MPI_Comm comm), (comm), (void)with)
#endif

COLLECTIVE(Bcast, bcast, (void *data, COUNT count, MPI_Datatype type, int root, MPI_Comm comm), (data, count, type, root, comm), {
    ROOT;
    if (IS_ROOT)
        SAME(sent, data, 1, count, type);
    else if (!IS_OUT)
        SAME(received, data, 1, count, type);
})

COLLECTIVE(Reduce, reduce, (const void *data, void *into, COUNT count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
           (data, into, count, type, op, root, comm), {
    ROOT;
    to_record.op = op;
    if (IS_ROOT)
        SAME(received, into, 1, count, type);
    if (!IS_OUT && (with->remote_size < 0 || !IS_ROOT))
        SAME(sent, FROM, 1, count, type);
})

#define ALL(name, small, parts)                                                                                             \
    COLLECTIVE(name, small, (const void *data, void *into, COUNT count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),       \
               (data, into, count, type, op, comm), {                                                                \
        to_record.op = op;                                                                                           \
        SAME(sent, FROM, parts, count, type);                                                                        \
        SAME(received, into, 1, count, type);                                                                        \
    })
ALL(Allreduce, allreduce, 1)
ALL(Scan, scan, 1)
ALL(Exscan, exscan, 1)
ALL(Reduce_scatter_block, reduce_scatter_block, with->size)
#undef ALL

COLLECTIVE(Reduce_scatter, reduce_scatter, (const void *data, void *into, const COUNT *counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
           (data, into, counts, type, op, comm), {
    to_record.op = op;
    EACH_OF(sent, FROM, counts, (int *)NULL, with->size, type);
    SAME(received, into, 1, counts[with->rank], type);
})

COLLECTIVE(Gather, gather, (const void *data, COUNT count, MPI_Datatype type, void *into, COUNT each, MPI_Datatype into_type, int root,
                    MPI_Comm comm),
           (data, count, type, into, each, into_type, root, comm), {
    ROOT;
    if (IS_ROOT)
        SAME(received, into, peers(with), each, into_type);
    if (IS_ROOT && with->remote_size < 0 && IN_PLACE(data))
        SENT = part_of(&RECEIVED, with->rank);
    else if (!IS_OUT && (with->remote_size < 0 || !IS_ROOT))
        SAME(sent, data, 1, count, type);
})

COLLECTIVE(Gatherv, gatherv, (const void *data, COUNT count, MPI_Datatype type, void *into, const COUNT *each, const OFFSET *offsets,
                     MPI_Datatype into_type, int root, MPI_Comm comm),
           (data, count, type, into, each, offsets, into_type, root, comm), {
    ROOT;
    if (IS_ROOT) {
        EACH_OF(received, into, each, offsets, peers(with), into_type);
    }
    if (IS_ROOT && with->remote_size < 0 && IN_PLACE(data))
        SENT = part_of(&RECEIVED, with->rank);
    else if (!IS_OUT && (with->remote_size < 0 || !IS_ROOT))
        SAME(sent, data, 1, count, type);
})

/* The root in place receives what it has: that is left there. */
COLLECTIVE(Scatter, scatter, (const void *data, COUNT each, MPI_Datatype type, void *into, COUNT count, MPI_Datatype into_type, int root,
                     MPI_Comm comm),
           (data, each, type, into, count, into_type, root, comm), {
    ROOT;
    if (IS_ROOT)
        SAME(sent, data, peers(with), each, type);
    if (IS_ROOT && with->remote_size < 0 && IN_PLACE(into))
        SAME(received, into, 1, SENT.same, MPI_BYTE);
    else if (!IS_OUT && (with->remote_size < 0 || !IS_ROOT))
        SAME(received, into, 1, count, into_type);
})

COLLECTIVE(Scatterv, scatterv, (const void *data, const COUNT *each, const OFFSET *offsets, MPI_Datatype type, void *into, COUNT count,
                      MPI_Datatype into_type, int root, MPI_Comm comm),
           (data, each, offsets, type, into, count, into_type, root, comm), {
    ROOT;
    if (IS_ROOT) {
        EACH_OF(sent, data, each, offsets, peers(with), type);
    }
    if (IS_ROOT && with->remote_size < 0 && IN_PLACE(into))
        SAME(received, into, 1, count_of(&SENT, with->rank) * SENT.bytes, MPI_BYTE);
    else if (!IS_OUT && (with->remote_size < 0 || !IS_ROOT))
        SAME(received, into, 1, count, into_type);
})

#define TO_ALL(name, small, to, from, in_place)                                                                             \
    COLLECTIVE(name, small, (const void *data, COUNT count, MPI_Datatype type, void *into, COUNT each,                      \
                      MPI_Datatype into_type, MPI_Comm comm),                                                        \
               (data, count, type, into, each, into_type, comm), {                                                   \
        SAME(received, into, from, each, into_type);                                                                 \
        if (IN_PLACE(data))                                                                                          \
            SENT = in_place;                                                                                         \
        else                                                                                                         \
            SAME(sent, data, to, count, type);                                                                       \
    })
TO_ALL(Allgather, allgather, 1, peers(with), part_of(&RECEIVED, with->rank))
TO_ALL(Alltoall, alltoall, peers(with), peers(with), RECEIVED)
TO_ALL(Neighbor_allgather, neighbor_allgather, 1, with->in_degree, RECEIVED)
TO_ALL(Neighbor_alltoall, neighbor_alltoall, with->out_degree, with->in_degree, RECEIVED)
#undef TO_ALL

#define GATHER_EACH(name, small, from)                                                                                      \
    COLLECTIVE(name, small, (const void *data, COUNT count, MPI_Datatype type, void *into, const COUNT *each,               \
                      const OFFSET *offsets, MPI_Datatype into_type, MPI_Comm comm),                                 \
               (data, count, type, into, each, offsets, into_type, comm), {                                          \
        EACH_OF(received, into, each, offsets, from, into_type);                                                     \
        if (IN_PLACE(data))                                                                                          \
            SENT = part_of(&RECEIVED, with->rank);                                                                   \
        else                                                                                                         \
            SAME(sent, data, 1, count, type);                                                                        \
    })
GATHER_EACH(Allgatherv, allgatherv, peers(with))
GATHER_EACH(Neighbor_allgatherv, neighbor_allgatherv, with->in_degree)
#undef GATHER_EACH

#define TO_EACH(name, small, to, from)                                                                                      \
    COLLECTIVE(name, small, (const void *data, const COUNT *counts, const OFFSET *from_offsets, MPI_Datatype type,          \
                      void *into, const COUNT *each, const OFFSET *offsets, MPI_Datatype into_type, MPI_Comm comm),  \
               (data, counts, from_offsets, type, into, each, offsets, into_type, comm), {                           \
        EACH_OF(received, into, each, offsets, from, into_type);                                                     \
        if (IN_PLACE(data)) {                                                                                        \
            SENT = RECEIVED;                                                                                         \
        } else {                                                                                                     \
            EACH_OF(sent, data, counts, from_offsets, to, type);                                                     \
        }                                                                                                            \
    })
TO_EACH(Alltoallv, alltoallv, peers(with), peers(with))
TO_EACH(Neighbor_alltoallv, neighbor_alltoallv, with->out_degree, with->in_degree)
#undef TO_EACH

#define TO_EACH_TYPE(name, small, DISPLACEMENT, to, from)                                                                   \
    COLLECTIVE(name, small, (const void *data, const COUNT *counts, const DISPLACEMENT *from_offsets,                       \
                      const MPI_Datatype *types, void *into, const COUNT *each, const DISPLACEMENT *offsets,         \
                      const MPI_Datatype *into_types, MPI_Comm comm),                                                \
               (data, counts, from_offsets, types, into, each, offsets, into_types, comm), {                         \
        EACH_W(received, into, each, offsets, from, into_types);                                                     \
        if (IN_PLACE(data)) {                                                                                        \
            SENT = RECEIVED;                                                                                         \
        } else {                                                                                                     \
            EACH_W(sent, data, counts, from_offsets, to, types);                                                     \
        }                                                                                                            \
    })
TO_EACH_TYPE(Alltoallw, alltoallw, OFFSET, peers(with), peers(with))
TO_EACH_TYPE(Neighbor_alltoallw, neighbor_alltoallw, MPI_Aint, with->out_degree, with->in_degree)
#undef TO_EACH_TYPE

/* One fault of each kind that `loggp check` finds, and what is right. The word behind the program's name says which. What is found, and
 * where, is in mpi/tests/command/check/cases.rs, which knows lines by their comments HERE and THERE. */

#include "faults.h"

#include "orders.h"

#include "threads.h"

#include "types.h"

#include "ends.h"

#include "windows.h"

#include "files.h"

static void deadlock(void)
{
    MPI_Recv(&one, 1, MPI_INT, 1 - rank, 0, WORLD, IGNORED); /* HERE */
    MPI_Send(&one, 1, MPI_INT, 1 - rank, 0, WORLD);
}

static void buffering(void)
{
    MPI_Send(&one, 1, MPI_INT, 1 - rank, 0, WORLD); /* HERE */
    MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, WORLD, IGNORED);
}

static void unreceived(void)
{
    if (rank == 0)
        MPI_Send(&one, 1, MPI_INT, 1, 0, WORLD); /* HERE */
}

static void other_collective(void)
{
    if (rank == 0)
        MPI_Barrier(WORLD); /* HERE */
    else
        MPI_Allreduce(&one, &other, 1, MPI_INT, MPI_SUM, WORLD); /* THERE */
}

static void other_root(void)
{
    MPI_Bcast(&one, 1, MPI_INT, rank, WORLD); /* HERE */
}

static void other_size(void)
{
    MPI_Bcast(many, 2 + rank, MPI_INT, 0, WORLD); /* HERE */
}

static void other_operation(void)
{
    MPI_Allreduce(&one, &other, 1, MPI_INT, rank ? MPI_SUM : MPI_MAX, WORLD); /* HERE */
}

static void other_collective_type(void)
{
    MPI_Bcast(&one, 1, rank ? MPI_INT : MPI_FLOAT, 0, WORLD); /* HERE */
}

static void other_type(void)
{
    if (rank == 0)
        MPI_Send(many, 2, MPI_INT, 1, 0, WORLD);
    else
        MPI_Recv(many, 2, MPI_FLOAT, 0, 0, WORLD, IGNORED); /* HERE */
}

static void other_tag(void)
{
    if (rank == 0)
        MPI_Send(many, 2, MPI_INT, 1, 0, WORLD);
    else
        MPI_Recv(many, 2, MPI_INT, 0, 1, WORLD, IGNORED); /* HERE */
}

static void truncation(void)
{
    if (rank == 0)
        MPI_Send(many, 2, MPI_INT, 1, 0, WORLD);
    else
        MPI_Recv(many, 1, MPI_INT, 0, 0, WORLD, IGNORED); /* HERE */
}

static void request_not_awaited(void)
{
    if (rank == 0)
        MPI_Isend(&one, 1, MPI_INT, 1, 0, WORLD, &request); /* HERE */
    else
        MPI_Recv(&one, 1, MPI_INT, 0, 0, WORLD, IGNORED);
}

/* Odd: a wait that does not wait. */
static void request_not_started(void)
{
    MPI_Send_init(&one, 1, MPI_INT, 1 - rank, 0, WORLD, &request); /* THERE */
    MPI_Wait(&request, IGNORED);                                   /* HERE */
    MPI_Request_free(&request);
}

static void message_not_started(void)
{
    MPI_Send_init(&one, 1, MPI_INT, 1 - rank, 0, WORLD, &request); /* THERE */
    MPI_Wait(&request, IGNORED);                                   /* HERE */
    MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, WORLD, IGNORED);
    MPI_Request_free(&request);
}

/* Odd: the first wait does not wait. */
static void awaited_before_start(void)
{
    MPI_Send_init(&one, 1, MPI_INT, 1 - rank, 0, WORLD, &request); /* THERE */
    for (int i = 0; i < 2; i++) {
        MPI_Wait(&request, IGNORED); /* HERE */
        MPI_Start(&request);
        MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, WORLD, IGNORED);
    }
    MPI_Wait(&request, IGNORED);
    MPI_Request_free(&request);
}

static void reduced_into_itself(void)
{
    MPI_Allreduce(many, many, 4, MPI_INT, MPI_SUM, WORLD); /* HERE */
}

static void gathered_into_itself(void)
{
    MPI_Gather(many + rank, 1, MPI_INT, many, 1, MPI_INT, 0, WORLD); /* HERE */
}

/* Right: what lies beside each other, or is one buffer by name. */
static void reduced_in_place(void)
{
    MPI_Allreduce(MPI_IN_PLACE, many, 4, MPI_INT, MPI_SUM, WORLD);
    MPI_Allreduce(many, many + 4, 4, MPI_INT, MPI_SUM, WORLD);
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : many, 1, MPI_INT, many, 1, MPI_INT, 0, WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 1, MPI_INT, many, 1, MPI_INT, WORLD);
    MPI_Reduce(many, rank == 0 ? many + 4 : many, 4, MPI_INT, MPI_SUM, 0, WORLD);
}

static void request_not_freed(void)
{
    MPI_Send_init(&one, 1, MPI_INT, 1 - rank, 0, WORLD, &request); /* HERE */
    MPI_Start(&request);
    MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, WORLD, IGNORED);
    MPI_Wait(&request, IGNORED);
}

static void communicator_not_freed(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(WORLD, &comm); /* HERE */
}

static void group_not_freed(void)
{
    MPI_Group group;
    MPI_Comm_group(WORLD, &group); /* HERE */
}

static void type_not_freed(void)
{
    MPI_Datatype type;
    MPI_Type_contiguous(2, MPI_INT, &type); /* HERE */
    MPI_Type_commit(&type);
}

/* Of all that a line makes it is said once that it leaks, and the other orders are tried. */
static void leaks_and_race(void)
{
    MPI_Comm comm;
    MPI_Datatype type;
    race();
    for (int i = 0; i < 3; i++)
        MPI_Comm_dup(WORLD, &comm);         /* THERE */
    MPI_Type_contiguous(2, MPI_INT, &type); /* HERE */
}

static void window_not_freed(void)
{
    MPI_Win window;
    MPI_Win_create(many, sizeof many, 1, MPI_INFO_NULL, WORLD, &window); /* HERE */
}

static void info_not_freed(void)
{
    MPI_Info info;
    MPI_Info_create(&info); /* HERE */
}

static void handle(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
}

static void handler_not_freed(void)
{
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(handle, &handler); /* HERE */
}

static void key_not_freed(void)
{
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL); /* HERE */
}

static void all_freed(void)
{
    MPI_Win window;
    MPI_Info info, copy;
    MPI_Errhandler handler, again;
    int keys[2];
    MPI_Info_create(&info);
    MPI_Info_dup(info, &copy);
    MPI_Win_allocate(sizeof many, 1, info, WORLD, &(int *){NULL}, &window);
    MPI_Comm_create_errhandler(handle, &handler);
    MPI_Comm_set_errhandler(WORLD, handler);
    MPI_Comm_get_errhandler(WORLD, &again);
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keys[0], NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &keys[1], NULL);
    MPI_Comm_free_keyval(&keys[0]);
    MPI_Type_free_keyval(&keys[1]);
    MPI_Errhandler_free(&again);
    MPI_Errhandler_free(&handler);
    MPI_Info_free(&copy);
    MPI_Info_free(&info);
    MPI_Win_free(&window);
}

static void logical_of_floats(void)
{
    float in = 1, out;
    MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_LXOR, WORLD); /* HERE */
}

/* MPI_STATUS_IGNORE is NULL in Open MPI, and not in MPICH. */
static void null_status(void)
{
    if (rank == 0)
        MPI_Send(&one, 1, MPI_INT, 1, 0, WORLD);
    else
        MPI_Recv(&other, 1, MPI_INT, 0, 0, WORLD, NULL); /* HERE */
}

static void opens_port(void)
{
    char name[MPI_MAX_PORT_NAME];
    MPI_Open_port(MPI_INFO_NULL, name);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

static void operation_not_freed(void)
{
    MPI_Op op;
    MPI_Op_create(add, 1, &op); /* HERE */
    MPI_Allreduce(&one, &other, 1, MPI_INT, op, WORLD);
}

static void send_buffer_written(void)
{
    MPI_Isend(&one, 1, MPI_INT, 1 - rank, 0, WORLD, &request); /* HERE */
    MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, WORLD, IGNORED);
    one = 2;
    MPI_Wait(&request, IGNORED);
}

static void receive_buffer_written(void)
{
    MPI_Irecv(&other, 1, MPI_INT, 1 - rank, 0, WORLD, &request); /* HERE */
    MPI_Send(&one, 1, MPI_INT, 1 - rank, 0, WORLD);
    other = 2;
    MPI_Wait(&request, IGNORED);
}

static void receive_buffer_sent(void)
{
    MPI_Irecv(&one, 1, MPI_INT, 1 - rank, 0, WORLD, &request); /* THERE */
    MPI_Send(&one, 1, MPI_INT, 1 - rank, 0, WORLD);            /* HERE */
    MPI_Wait(&request, IGNORED);
}

static void invalid_rank(void)
{
    MPI_Send(&one, 1, MPI_INT, 2, 0, WORLD); /* HERE */
}

static void invalid_tag(void)
{
    MPI_Send(&one, 1, MPI_INT, 1 - rank, -5, WORLD); /* HERE */
}

static void invalid_count(void)
{
    MPI_Send(&one, -1, MPI_INT, 1 - rank, 0, WORLD); /* HERE */
}

static void invalid_communicator(void)
{
    MPI_Barrier(MPI_COMM_NULL); /* HERE */
}

static void receives_from_nobody(void)
{
    MPI_Request request;
    MPI_Recv_init(&one, 1, MPI_INT, MPI_PROC_NULL, 0, WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
}

static void wrong_result(void)
{
    MPI_Finalize();
    exit(3); /* HERE */
}

static void endless(void)
{
    MPI_Barrier(WORLD); /* HERE */
    for (volatile int i = 0;; i++) /* THERE */
        ;
}

#define CASE(name) {#name, name}
static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    CASE(deadlock), CASE(buffering), CASE(unreceived), CASE(other_collective), CASE(other_root),
    CASE(other_size), CASE(other_operation), CASE(other_type), CASE(other_collective_type), CASE(other_tag),
    CASE(truncation), CASE(request_not_awaited), CASE(request_not_started), CASE(message_not_started), CASE(request_not_freed),
    CASE(awaited_before_start), CASE(receives_from_nobody),
    CASE(reduced_into_itself), CASE(gathered_into_itself), CASE(reduced_in_place),
    CASE(types_of_kinds), CASE(padding_written), CASE(member_written),
    CASE(communicator_not_freed), CASE(group_not_freed), CASE(type_not_freed), CASE(operation_not_freed),
    CASE(send_buffer_written), CASE(receive_buffer_written), CASE(receive_buffer_sent), CASE(invalid_rank),
    CASE(invalid_tag), CASE(invalid_count), CASE(invalid_communicator), CASE(race), CASE(wildcards),
    CASE(probed_any), CASE(looked_any), CASE(probed_sender), CASE(probed_either),
    CASE(probed_later), CASE(probed_unreceived),
    CASE(same_order), CASE(other_order), CASE(other_communicator), CASE(lock_kept), CASE(lock_left),
    CASE(lock_given_back), CASE(struct_as_numbers), CASE(other_struct), CASE(vector_as_floats),
    CASE(other_struct_for_all), CASE(same_signatures), CASE(wrong_result), CASE(endless),
    CASE(leaks_and_race), CASE(halo_of_sends), CASE(halo_of_requests), CASE(sent_and_awaited), CASE(sent_to_itself_and_awaited),
    CASE(sent_to_itself_beside_another_receive), CASE(received_from_itself), CASE(tested_50_times),
    CASE(tested_500_times), CASE(probed_50_times), CASE(some_tested_50_times), CASE(any_tested_50_times),
    CASE(tested_for_5_seconds), CASE(tested_until_there),
    CASE(segfault), CASE(assertion), CASE(full_stack), CASE(killed), CASE(exits), CASE(prints_nowhere),
    CASE(exits_at_once), CASE(aborts), CASE(always_fails), CASE(usually_fails), CASE(waits_always),
    CASE(reads), CASE(crashes_late),
    CASE(two_puts), CASE(put_and_get), CASE(sum_and_get), CASE(put_and_store), CASE(get_and_store),
    CASE(put_and_receive), CASE(shared_locks), CASE(two_started), CASE(no_epoch), CASE(epoch_left_open),
    CASE(locked_and_freed), CASE(locked_twice), CASE(unlocked_twice), CASE(locked_in_fences),
    CASE(fence_while_locked), CASE(fence_left_out), CASE(never_started), CASE(never_posted),
    CASE(outside_of_window), CASE(freed_window), CASE(negative_unit), CASE(negative_size), CASE(no_memory),
    CASE(no_such_rank), CASE(null_type_there), CASE(put_buffer_written), CASE(get_buffer_sent),
    CASE(kept_apart), CASE(told_without_data), CASE(counted_first), CASE(locked_first), CASE(window_not_freed), CASE(info_not_freed), CASE(handler_not_freed), CASE(key_not_freed),
    CASE(all_freed), CASE(logical_of_floats), CASE(null_status), CASE(opens_port),
    CASE(file_not_closed), CASE(file_calls_differ), CASE(file_modes_differ), CASE(file_buffer_written),
    CASE(file_in_any_order), CASE(file_type_not_committed),
};

int main(int count, char **words)
{
    int level = MPI_THREAD_SINGLE;
    for (size_t i = 0; i < sizeof threaded / sizeof *threaded; i++)
        if (strcmp(words[1], threaded[i].name) == 0)
            level = threaded[i].level;
    MPI_Init_thread(&count, &words, level, &level);
    MPI_Comm_rank(WORLD, &rank);
    MPI_Comm_size(WORLD, &ranks);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(words[1], cases[i].name) == 0)
            cases[i].run();
    for (size_t i = 0; i < sizeof threaded / sizeof *threaded; i++)
        if (strcmp(words[1], threaded[i].name) == 0)
            threaded[i].run();
    MPI_Finalize();
    return 0;
}

/* Generalized requests, which the program completes itself. */

struct generalized {
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra;
    volatile int is_complete;
    int is_left; /* freed before it was complete */
};

/* Does what is `called`, a function of the program, which may call MPI. */
#define CALL_BACK(called)                                                                                            \
    ({                                                                                                               \
        void *place = call.place;                                                                                    \
        int before = calling;                                                                                        \
        calling = 0;                                                                                                 \
        leave();                                                                                                     \
        int returned = called;                                                                                       \
        enter(place);                                                                                                \
        calling = before;                                                                                            \
        returned;                                                                                                    \
    })

/* Lets other threads call: one of them may complete a request. */
static void yield_turn(void)
{
    CALL_BACK(usleep(50));
}

static int emulate_grequest_start(MPI_Grequest_query_function *query, MPI_Grequest_free_function *free,
                                  MPI_Grequest_cancel_function *cancel, void *extra, MPI_Request *request)
{
    if (fortran_caller != NULL)
        refuse("calls MPI_Grequest_start from Fortran, which an emulated program cannot; one in C can");
    *request = (MPI_Request)new_handle();
    struct request *made = insert_request(*request, REQUEST_GENERALIZED, 0);
    made->is_active = 1;
    made->generalized = room(sizeof *made->generalized);
    *made->generalized = (struct generalized){query, free, cancel, extra, 0, 0};
    return MPI_SUCCESS;
}

static int free_generalized(MPI_Request *handle)
{
    struct generalized *generalized = (*find_request(*handle))->generalized;
    int error = CALL_BACK(generalized->free(generalized->extra));
    free(generalized);
    (*find_request(*handle))->generalized = NULL;
    drop(handle);
    return error;
}

static int emulate_grequest_complete(MPI_Request request)
{
    struct request **link = find_request(request);
    if (link == NULL || (*link)->kind != REQUEST_GENERALIZED || (*link)->generalized->is_complete)
        report("request lifecycle", "calls MPI_Grequest_complete for what is no generalized request, or is complete");
    (*link)->generalized->is_complete = 1;
    return (*link)->generalized->is_left ? free_generalized(&request) : MPI_SUCCESS;
}

/* Says what came of one that is complete. */
static int query(const struct request *request, MPI_Status *status)
{
    MPI_Status own;
    const struct generalized *generalized = request->generalized;
    MPI_Status *into = status == MPI_STATUS_IGNORE ? &own : status;
    into->MPI_SOURCE = MPI_UNDEFINED;
    into->MPI_TAG = MPI_UNDEFINED;
    PMPI_Status_set_elements_x(into, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(into, 0);
    return CALL_BACK(generalized->query(generalized->extra, into));
}

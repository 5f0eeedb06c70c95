/* Programs that are right or wrong by the order of messages, of collectives, or of locks. */

/* Rank 0 waits for rank 2 after a message that may be rank 2's. */
static void race(void)
{
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, WORLD);
    else {
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, IGNORED);
        MPI_Recv(&other, 1, MPI_INT, 2, 0, WORLD, IGNORED); /* HERE */
    }
}

/* What comes first is added first: the sum is the same. */
static void wildcards(void)
{
    int sum = 0;
    for (int i = 1; i < ranks && rank == 0; i++) {
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, IGNORED);
        sum += one;
    }
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, rank, WORLD);
    else if (sum != ranks * (ranks - 1) / 2)
        abort();
}

/* Each rank sends to its neighbours before it receives from them, as works while messages are short. */
static void halo_of_sends(void)
{
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Send(&one, 1, MPI_INT, right, 0, WORLD); /* HERE */
    MPI_Send(&one, 1, MPI_INT, left, 1, WORLD);
    MPI_Recv(&other, 1, MPI_INT, left, 0, WORLD, IGNORED);
    MPI_Recv(&other, 1, MPI_INT, right, 1, WORLD, IGNORED);
}

/* Right: the receives are posted first. */
static void halo_of_requests(void)
{
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Request requests[4];
    MPI_Irecv(&many[0], 1, MPI_INT, left, 0, WORLD, &requests[0]);
    MPI_Irecv(&many[1], 1, MPI_INT, right, 1, WORLD, &requests[1]);
    MPI_Isend(&one, 1, MPI_INT, right, 0, WORLD, &requests[2]);
    MPI_Isend(&one, 1, MPI_INT, left, 1, WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* Requests that are waited for rely on buffers too. */
static void sent_and_awaited(void)
{
    MPI_Isend(&one, 1, MPI_INT, 1 - rank, 0, WORLD, &request);
    MPI_Wait(&request, IGNORED); /* HERE */
    MPI_Recv(&other, 1, MPI_INT, 1 - rank, 0, WORLD, IGNORED);
}

/* So are those of a rank to itself. */
static void sent_to_itself_and_awaited(void)
{
    MPI_Isend(&one, 1, MPI_INT, rank, 0, WORLD, &request);
    MPI_Wait(&request, IGNORED); /* HERE */
    MPI_Recv(&other, 1, MPI_INT, rank, 0, WORLD, IGNORED);
}

/* A receive of another message does not help. */
static void sent_to_itself_beside_another_receive(void)
{
    MPI_Irecv(&other, 1, MPI_INT, rank, 1, WORLD, &request);
    MPI_Send(&one, 1, MPI_INT, rank, 0, WORLD); /* HERE */
    MPI_Recv(&many[0], 1, MPI_INT, rank, 0, WORLD, IGNORED);
    MPI_Send(&one, 1, MPI_INT, rank, 1, WORLD);
    MPI_Wait(&request, IGNORED);
}

/* Right: each receive is posted before its send is waited for. */
static void received_from_itself(void)
{
    MPI_Request requests[2];
    int index;
    MPI_Irecv(&other, 1, MPI_INT, rank, 0, WORLD, &requests[1]);
    MPI_Issend(&one, 1, MPI_INT, rank, 0, WORLD, &requests[0]);
    MPI_Waitany(2, requests, &index, IGNORED);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Isend(&one, 1, MPI_INT, rank, 0, WORLD, &request);
    MPI_Recv(&other, 1, MPI_INT, rank, 0, WORLD, IGNORED);
    MPI_Wait(&request, IGNORED);
}

enum look { LOOK_TEST, LOOK_PROBE, LOOK_SOME, LOOK_ANY, LOOK_CLOCK };

/* Rank 0 looks for a message so many times, or for five seconds, and gives up then. */
static void look_often(enum look look, int most)
{
    int flag = 0, index;
    double begin = MPI_Wtime();
    if (rank > 0) {
        MPI_Send(&one, 1, MPI_INT, 0, 0, WORLD);
        return;
    }
    if (look != LOOK_PROBE)
        MPI_Irecv(&other, 1, MPI_INT, 1, 0, WORLD, &request);
    for (int i = 0; !flag && (look == LOOK_CLOCK ? MPI_Wtime() < begin + 5 : most == 0 || i < most); i++)
        if (look == LOOK_TEST || look == LOOK_CLOCK)
            MPI_Test(&request, &flag, IGNORED);
        else if (look == LOOK_PROBE)
            MPI_Iprobe(1, 0, WORLD, &flag, IGNORED);
        else if (look == LOOK_SOME)
            MPI_Testsome(1, &request, &flag, &index, MPI_STATUSES_IGNORE);
        else
            MPI_Testany(1, &request, &index, &flag, IGNORED);
    if (!flag)
        abort();
    if (look == LOOK_PROBE)
        MPI_Recv(&other, 1, MPI_INT, 1, 0, WORLD, IGNORED);
}

static void tested_50_times(void)
{
    look_often(LOOK_TEST, 50);
}

static void tested_500_times(void)
{
    look_often(LOOK_TEST, 500);
}

static void probed_50_times(void)
{
    look_often(LOOK_PROBE, 50);
}

static void some_tested_50_times(void)
{
    look_often(LOOK_SOME, 50);
}

static void any_tested_50_times(void)
{
    look_often(LOOK_ANY, 50);
}

static void tested_for_5_seconds(void)
{
    look_often(LOOK_CLOCK, 0);
}

/* Right: rank 0 looks until the message is there, and again. */
static void tested_until_there(void)
{
    for (int i = 0; i < 3; i++) {
        look_often(LOOK_TEST, 0);
        look_often(LOOK_PROBE, 0);
    }
}

/* What a probe has seen and what a receive of anyone takes are two messages. */
static void probed_any(void)
{
    MPI_Status status;
    for (int i = 1; i < ranks && rank == 0; i++) {
        MPI_Probe(MPI_ANY_SOURCE, 0, WORLD, &status);
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, IGNORED);
        if (one != status.MPI_SOURCE)
            abort();
    }
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, WORLD);
}

static void look_for(int tag, MPI_Status *status)
{
    int flag = 0;
    while (!flag)
        MPI_Iprobe(MPI_ANY_SOURCE, tag, WORLD, &flag, status);
}

/* The same with a look, and with messages of different tags. */
static void looked_any(void)
{
    MPI_Status status;
    for (int i = 1; i < ranks && rank == 0; i++) {
        look_for(MPI_ANY_TAG, &status);
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, IGNORED);
        if (one != status.MPI_TAG)
            abort();
    }
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, rank, WORLD);
}

/* Right: the message that was seen is received; or another one, of which its own status tells. */
static void probed_sender(void)
{
    MPI_Status status;
    for (int i = 1; i < ranks && rank == 0; i++) {
        if (i % 2)
            look_for(MPI_ANY_TAG, &status);
        else
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &status);
        MPI_Recv(&one, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, WORLD, IGNORED);
        if (one != status.MPI_SOURCE)
            abort();
    }
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, rank, WORLD);
}

static void probed_either(void)
{
    MPI_Status status;
    for (int i = 1; i < ranks && rank == 0; i++) {
        MPI_Probe(MPI_ANY_SOURCE, 0, WORLD, &status);
        MPI_Recv(&one, 1, MPI_INT, MPI_ANY_SOURCE, 0, WORLD, &status);
        if (one != status.MPI_SOURCE)
            abort();
    }
    if (rank > 0)
        MPI_Send(&rank, 1, MPI_INT, 0, 0, WORLD);
}

/* Right: messages of one sender are received in their order, whichever of them a probe has seen. */
static void probed_later(void)
{
    MPI_Status status;
    for (int i = 1; i < 4 && rank == 1; i++)
        MPI_Send(&i, 1, MPI_INT, 0, i, WORLD);
    if (rank != 0)
        return;
    MPI_Probe(1, 2, WORLD, &status);
    MPI_Probe(1, 3, WORLD, &status);
    MPI_Probe(1, MPI_ANY_TAG, WORLD, &status);
    if (status.MPI_TAG != 1)
        abort();
    for (int i = 1; i < 4; i++) {
        MPI_Recv(&one, 1, MPI_INT, i % 2 ? 1 : MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, IGNORED);
        if (one != i)
            abort();
    }
}

static void probed_unreceived(void)
{
    if (rank == 0)
        MPI_Send(&one, 1, MPI_INT, 1, 0, WORLD); /* HERE */
    else
        MPI_Probe(0, 0, WORLD, IGNORED);
}

/* The barriers of two communicators, in this order. */
static void enter_both(MPI_Comm first, MPI_Comm second)
{
    MPI_Barrier(first);
    MPI_Barrier(second);
}

static void same_order(void)
{
    MPI_Comm own;
    MPI_Comm_dup(WORLD, &own);
    enter_both(WORLD, own);
    MPI_Comm_free(&own);
}

static void other_order(void)
{
    MPI_Comm own;
    MPI_Comm_dup(WORLD, &own);
    if (rank == 0) {
        MPI_Barrier(WORLD); /* HERE */
        MPI_Barrier(own);
    } else {
        MPI_Barrier(own); /* THERE */
        MPI_Barrier(WORLD);
    }
    MPI_Comm_free(&own);
}

static void other_communicator(void)
{
    MPI_Comm own;
    MPI_Comm_dup(WORLD, &own);
    MPI_Barrier(rank == 0 ? WORLD : own); /* HERE */
    MPI_Comm_free(&own);
}

static int memory;

static void lock_kept(void)
{
    MPI_Win window;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, WORLD, &window);
    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window); /* HERE */
    MPI_Barrier(WORLD);
    if (rank == 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window); /* THERE */
        MPI_Win_unlock(1, window);
    }
    MPI_Barrier(WORLD);
    if (rank == 0)
        MPI_Win_unlock(1, window);
    MPI_Win_free(&window);
}

/* Nobody waits for it. */
static void lock_left(void)
{
    MPI_Win window;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, WORLD, &window);
    if (rank == 0)
        MPI_Win_lock_all(0, window); /* HERE */
}

static void lock_given_back(void)
{
    MPI_Win window;
    MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, WORLD, &window);
    for (int i = 0; i < 3; i++) {
        MPI_Win_lock(i ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 1, 0, window);
        MPI_Accumulate(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, window);
        MPI_Win_unlock(1, window);
    }
    MPI_Win_lock_all(0, window);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}

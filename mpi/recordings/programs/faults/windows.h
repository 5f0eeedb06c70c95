/* Programs that are right or wrong by what they do with each other's memory. */

static int cells[16];
static MPI_Win win;

static void make_window(void)
{
    MPI_Win_create(cells, sizeof cells, sizeof(int), MPI_INFO_NULL, WORLD, &win);
}

static void put(int to, int place)
{
    MPI_Put(&one, 1, MPI_INT, to, place, 1, MPI_INT, win);
}

static void two_puts(void)
{
    make_window();
    MPI_Win_fence(0, win);
    MPI_Put(&rank, 1, MPI_INT, 0, 3, 1, MPI_INT, win); /* HERE */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void put_and_get(void)
{
    make_window();
    MPI_Win_fence(0, win);
    MPI_Put(many, 4, MPI_INT, 1 - rank, 0, 4, MPI_INT, win); /* THERE */
    MPI_Get(&other, 1, MPI_INT, 1 - rank, 2, 1, MPI_INT, win); /* HERE */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void sum_and_get(void)
{
    make_window();
    MPI_Win_fence(0, win);
    if (rank == 0)
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win); /* THERE */
    else
        MPI_Get(&other, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* HERE */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void put_and_store(void)
{
    make_window();
    MPI_Win_fence(0, win);
    if (rank == 0)
        MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* HERE */
    else
        cells[0] = 7;
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void get_and_store(void)
{
    make_window();
    MPI_Win_fence(0, win);
    if (rank == 0)
        MPI_Get(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* HERE */
    else
        cells[0] = 7;
    MPI_Win_fence(0, win); /* THERE */
    MPI_Win_free(&win);
}

static void put_and_receive(void)
{
    make_window();
    MPI_Win_fence(0, win);
    if (rank == 0) {
        MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win); /* THERE */
        MPI_Send(&one, 1, MPI_INT, 1, 0, WORLD);
    } else
        MPI_Recv(cells, 1, MPI_INT, 0, 0, WORLD, IGNORED); /* HERE */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void shared_locks(void)
{
    make_window();
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* HERE */
    MPI_Win_unlock(0, win);
    MPI_Win_free(&win);
}

/* Two write into one exposure. */
static void two_started(void)
{
    MPI_Group all, target;
    make_window();
    MPI_Comm_group(WORLD, &all);
    MPI_Group_incl(all, 1, (int[]){0}, &target);
    if (rank == 0)
        MPI_Win_post(all, 0, win);
    MPI_Win_start(target, 0, win);
    MPI_Put(&rank, 1, MPI_INT, 0, 0, 1, MPI_INT, win); /* HERE */
    MPI_Win_complete(win);
    if (rank == 0)
        MPI_Win_wait(win);
    MPI_Group_free(&all);
    MPI_Group_free(&target);
    MPI_Win_free(&win);
}

static void no_epoch(void)
{
    make_window();
    MPI_Put(&one, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win); /* HERE */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void epoch_left_open(void)
{
    make_window();
    MPI_Win_fence(0, win);
    put(1 - rank, 0);
    MPI_Win_free(&win); /* HERE */
}

static void locked_and_freed(void)
{
    make_window();
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Win_free(&win); /* HERE */
}

static void locked_twice(void)
{
    make_window();
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win); /* HERE */
}

static void unlocked_twice(void)
{
    make_window();
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Win_unlock(1, win);
    MPI_Win_unlock(1, win); /* HERE */
}

static void locked_in_fences(void)
{
    make_window();
    MPI_Win_fence(0, win);
    put(1 - rank, 0);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win); /* HERE */
}

static void fence_while_locked(void)
{
    make_window();
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    MPI_Win_fence(0, win); /* HERE */
}

static void fence_left_out(void)
{
    make_window();
    MPI_Win_fence(0, win);
    if (rank == 0)
        MPI_Win_fence(0, win); /* HERE */
    MPI_Win_free(&win);        /* THERE */
}

static void never_started(void)
{
    make_window();
    MPI_Win_complete(win); /* HERE */
}

static void never_posted(void)
{
    make_window();
    MPI_Win_wait(win); /* HERE */
}

static void outside_of_window(void)
{
    make_window();
    MPI_Win_fence(0, win);
    MPI_Put(many, 4, MPI_INT, 1 - rank, 13, 4, MPI_INT, win); /* HERE */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void freed_window(void)
{
    MPI_Win before;
    make_window();
    before = win;
    MPI_Win_free(&win);
    MPI_Win_fence(0, before); /* HERE */
}

static void negative_unit(void)
{
    MPI_Win_create(cells, sizeof cells, -1, MPI_INFO_NULL, WORLD, &win); /* HERE */
}

static void negative_size(void)
{
    MPI_Win_create(cells, -4, 1, MPI_INFO_NULL, WORLD, &win); /* HERE */
}

static void no_memory(void)
{
    MPI_Win_create(NULL, sizeof cells, 1, MPI_INFO_NULL, WORLD, &win); /* HERE */
}

static void no_such_rank(void)
{
    make_window();
    MPI_Win_fence(0, win);
    MPI_Put(&one, 1, MPI_INT, ranks, 0, 1, MPI_INT, win); /* HERE */
}

static void null_type_there(void)
{
    make_window();
    MPI_Win_fence(0, win);
    MPI_Put(&one, 1, MPI_INT, 1 - rank, 0, 1, MPI_DATATYPE_NULL, win); /* HERE */
}

static void put_buffer_written(void)
{
    make_window();
    MPI_Win_fence(0, win);
    MPI_Put(&one, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win); /* HERE */
    one = 2;
    MPI_Win_fence(0, win); /* THERE */
    MPI_Win_free(&win);
}

static void get_buffer_sent(void)
{
    make_window();
    MPI_Win_fence(0, win);
    MPI_Get(&other, 1, MPI_INT, 1 - rank, 0, 1, MPI_INT, win); /* THERE */
    MPI_Bcast(&other, 1, MPI_INT, 0, WORLD);                  /* HERE */
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

/* Right: that a synchronous send is over tells what its receiver did before, and that a duplicate is there what all did. */
static void told_without_data(void)
{
    MPI_Comm duplicate;
    make_window();
    MPI_Win_lock_all(0, win);
    if (rank == 1) {
        put(0, 1);
        MPI_Win_flush(0, win);
        MPI_Recv(&other, 1, MPI_INT, 0, 0, WORLD, IGNORED);
    } else if (rank == 0) {
        MPI_Ssend(&one, 1, MPI_INT, 1, 0, WORLD);
        put(0, 1);
        MPI_Win_flush(0, win);
    }
    MPI_Comm_idup(WORLD, &duplicate, &request);
    MPI_Wait(&request, IGNORED);
    if (rank == 1)
        put(0, 1);
    MPI_Win_flush(0, win);
    if (rank == 1)
        MPI_Recv(&other, 1, MPI_INT, 0, 0, WORLD, IGNORED);
    if (rank == 0) {
        MPI_Issend(&one, 1, MPI_INT, 1, 0, WORLD, &request);
        MPI_Wait(&request, IGNORED);
        put(0, 1);
    }
    MPI_Win_unlock_all(win);
    MPI_Comm_free(&duplicate);
    MPI_Win_free(&win);
}

/* Right only where rank 1 counts first. */
static void counted_first(void)
{
    int before = 0;
    make_window();
    MPI_Win_lock_all(0, win);
    if (rank > 0)
        MPI_Fetch_and_op(&one, &before, MPI_INT, 0, 0, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    if (rank == 2 && before == 0)
        abort(); /* HERE */
    MPI_Win_free(&win);
}

/* The same by a lock. */
static void locked_first(void)
{
    int before = 0;
    make_window();
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&before, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    if (rank > 0)
        MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    if (rank == 2 && before == 0)
        abort(); /* HERE */
    MPI_Win_free(&win);
}

/* Right: what is reached for at once are other bytes, or it is summed, read, ordered by locks, or by messages. */
static void kept_apart(void)
{
    MPI_Datatype every_other;
    MPI_Group all;
    int got[4], sums[2];
    cells[15] = 5;
    make_window();
    MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
    put(0, rank);
    MPI_Get(got, 1, MPI_INT, 0, 15, 1, MPI_INT, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 4, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_fence(0, win);
    cells[0] = cells[1] + 1;
    MPI_Win_fence(0, win);
    /* One writes the even elements, one the odd ones. */
    MPI_Type_vector(4, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    if (rank < 2)
        MPI_Put(many, 4, MPI_INT, 0, rank, 1, every_other, win);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    MPI_Type_free(&every_other);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_flush(0, win);
    got[0]++;
    MPI_Put(got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
    MPI_Barrier(WORLD);
    MPI_Win_lock_all(0, win);
    if (rank == 0) {
        put(1, 7);
        MPI_Win_flush(1, win);
        MPI_Send(&one, 1, MPI_INT, 1, 0, WORLD);
    } else if (rank == 1) {
        MPI_Recv(&other, 1, MPI_INT, 0, 0, WORLD, IGNORED);
        put(1, 7);
        MPI_Win_flush(1, win);
        cells[7] = 3;
    }
    MPI_Fetch_and_op(&one, &sums[0], MPI_INT, 0, 8, MPI_SUM, win);
    MPI_Win_flush(0, win);
    MPI_Fetch_and_op(&one, &sums[0], MPI_INT, 0, 8, MPI_SUM, win);
    MPI_Win_unlock_all(win);
    MPI_Barrier(WORLD);
    cells[8] = 0;
    MPI_Comm_group(WORLD, &all);
    for (int i = 0; i < 2; i++) {
        cells[3]++;
        MPI_Win_post(all, 0, win);
        MPI_Win_start(all, 0, win);
        put(0, 9 + rank);
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        cells[9] = 0;
    }
    MPI_Group_free(&all);
    MPI_Win_free(&win);
}

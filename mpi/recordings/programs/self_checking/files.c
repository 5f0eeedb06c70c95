/* Files: what ranks write there is what they and others read. `files PATH`; it removes the file. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(is_right)                                                                                              \
    do {                                                                                                             \
        if (!(is_right)) {                                                                                           \
            fprintf(stderr, "rank %d of %d: line %d: %s\n", rank, ranks, __LINE__, #is_right);                       \
            exit(1);                                                                                                 \
        }                                                                                                            \
    } while (0)
#define RIGHT(call) CHECK((call) == MPI_SUCCESS)
#define N 5

static int rank, ranks, handled;
static const char *path;
static MPI_Status status;

static int class_of(int error)
{
    int class = MPI_SUCCESS;
    if (error != MPI_SUCCESS)
        MPI_Error_class(error, &class);
    return class;
}

static int count_of(MPI_Datatype type)
{
    int count;
    MPI_Get_count(&status, type, &count);
    return count;
}

static void handle(MPI_File *file, int *error, ...)
{
    int size; /* A handler may call MPI. */
    (void)file;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    handled += *error != MPI_SUCCESS && size == ranks;
}

static MPI_File open_file(int mode)
{
    MPI_File file;
    RIGHT(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &file));
    return file;
}

/* The value of element `i` of a rank. */
static int element(int of, int i)
{
    return 1000 * of + i;
}

static void fill(int *data)
{
    for (int i = 0; i < N; i++)
        data[i] = element(rank, i);
}

static int is_of(const int *data, int of)
{
    int is_right = 1;
    for (int i = 0; i < N; i++)
        is_right = is_right && data[i] == element(of, i);
    return is_right;
}

/* Only one rank creates a file, and errors are the same at all. */
static void modes(void)
{
    MPI_File file;
    MPI_Group group, world;
    MPI_Errhandler handler, old;
    int mode, compared, flag;
    MPI_Offset size;
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) == MPI_ERR_NO_SUCH_FILE);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file)) != MPI_SUCCESS);
    MPI_File_get_errhandler(MPI_FILE_NULL, &old);
    CHECK(old == MPI_ERRORS_RETURN);
    MPI_File_create_errhandler(handle, &handler);
    MPI_File_set_errhandler(MPI_FILE_NULL, handler);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file)) == MPI_ERR_NO_SUCH_FILE);
    CHECK(handled == 1);
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
    file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL);
    RIGHT(MPI_File_get_amode(file, &mode));
    CHECK(mode == (MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL));
    RIGHT(MPI_File_get_group(file, &group));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &compared);
    CHECK(compared == MPI_IDENT);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
    RIGHT(MPI_File_set_size(file, 100));
    RIGHT(MPI_File_get_size(file, &size));
    CHECK(size == 100);
    MPI_Barrier(MPI_COMM_WORLD);
    RIGHT(MPI_File_preallocate(file, 200));
    RIGHT(MPI_File_get_size(file, &size));
    CHECK(size == 200);
    RIGHT(MPI_File_set_atomicity(file, 1));
    RIGHT(MPI_File_get_atomicity(file, &flag));
    CHECK(flag);
    MPI_File_set_errhandler(file, handler);
    CHECK(MPI_File_seek(file, -5, MPI_SEEK_SET) != MPI_SUCCESS);
    CHECK(handled == 2);
    MPI_Errhandler_free(&handler);
    RIGHT(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(class_of(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &file)) ==
          MPI_ERR_FILE_EXISTS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        RIGHT(MPI_File_delete(path, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank writes its part by calls of each kind, and reads that of the next one. */
static void parts(void)
{
    MPI_File file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
    int data[N], other[N], next = (rank + 1) % ranks, begin;
    MPI_Offset bytes = N * sizeof(int), place, whole = bytes * ranks;
    MPI_Request requests[2];
    MPI_Status two[2];
    fill(data);
    RIGHT(MPI_File_write_at(file, rank * bytes, data, N, MPI_INT, &status));
    CHECK(count_of(MPI_INT) == N);
    RIGHT(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    RIGHT(MPI_File_sync(file));
    RIGHT(MPI_File_read_at_all(file, next * bytes, other, N, MPI_INT, &status));
    CHECK(is_of(other, next) && count_of(MPI_INT) == N);
    begin = 1;
    RIGHT(MPI_File_seek(file, begin * whole + rank * bytes, MPI_SEEK_SET));
    RIGHT(MPI_File_write_all(file, data, 2, MPI_INT, &status));
    RIGHT(MPI_File_write(file, data + 2, N - 2, MPI_INT, &status));
    RIGHT(MPI_File_get_position(file, &place));
    CHECK(place == begin * whole + (rank + 1) * bytes);
    begin = 2;
    RIGHT(MPI_File_iwrite_at(file, begin * whole + rank * bytes, data, 3, MPI_INT, &requests[0]));
    RIGHT(MPI_File_seek(file, begin * whole + rank * bytes + 3 * (MPI_Offset)sizeof(int), MPI_SEEK_SET));
    RIGHT(MPI_File_iwrite(file, data + 3, N - 3, MPI_INT, &requests[1]));
    MPI_Waitall(2, requests, two);
    status = two[0];
    CHECK(count_of(MPI_INT) == 3);
    begin = 3;
    RIGHT(MPI_File_write_at_all_begin(file, begin * whole + rank * bytes, data, N, MPI_INT));
    RIGHT(MPI_File_write_at_all_end(file, data, &status));
    CHECK(count_of(MPI_INT) == N);
    RIGHT(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    RIGHT(MPI_File_sync(file));
    for (begin = 1; begin <= 3; begin++) {
        memset(other, 0, sizeof other);
        if (begin == 1) {
            RIGHT(MPI_File_seek(file, begin * whole + next * bytes, MPI_SEEK_SET));
            RIGHT(MPI_File_read_all_begin(file, other, N, MPI_INT));
            RIGHT(MPI_File_read_all_end(file, other, &status));
        } else {
            int index;
            RIGHT(MPI_File_iread_at(file, begin * whole + next * bytes, other, N, MPI_INT, &requests[0]));
            requests[1] = MPI_REQUEST_NULL;
            if (begin == 2)
                MPI_Wait(&requests[0], &status);
            else
                MPI_Waitany(2, requests, &index, &status);
            CHECK(requests[0] == MPI_REQUEST_NULL);
        }
        CHECK(is_of(other, next) && count_of(MPI_INT) == N);
    }
    /* Behind the end there is nothing. */
    RIGHT(MPI_File_read_at(file, 4 * whole - sizeof(int), other, N, MPI_INT, &status));
    CHECK(count_of(MPI_INT) == 1);
    RIGHT(MPI_File_close(&file));
}

/* Each rank sees each so many blocks of two. */
static void views(void)
{
    MPI_File file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
    MPI_Datatype blocks, unit, type;
    int data[6], all[6 * 64], sizes[1] = {2 * ranks}, own[1] = {2}, starts[1] = {2 * rank};
    char form[MPI_MAX_DATAREP_STRING];
    MPI_Aint extent;
    MPI_Offset begin, place;
    for (int i = 0; i < 6; i++)
        data[i] = element(rank, i);
    MPI_Type_create_subarray(1, sizes, own, starts, MPI_ORDER_C, MPI_INT, &blocks);
    MPI_Type_commit(&blocks);
    RIGHT(MPI_File_set_view(file, 8, MPI_INT, blocks, "native", MPI_INFO_NULL));
    RIGHT(MPI_File_get_view(file, &begin, &unit, &type, form));
    CHECK(begin == 8 && unit == MPI_INT && strcmp(form, "native") == 0);
    MPI_Type_free(&type);
    RIGHT(MPI_File_get_type_extent(file, MPI_INT, &extent));
    CHECK(extent == sizeof(int));
    RIGHT(MPI_File_write_all(file, data, 6, MPI_INT, &status));
    CHECK(count_of(MPI_INT) == 6);
    RIGHT(MPI_File_get_position(file, &place));
    RIGHT(MPI_File_get_byte_offset(file, place, &begin));
    CHECK(place == 6 && begin == 8 + 4 * (3 * 2 * ranks + 2 * rank));
    RIGHT(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_sync(file);
    if (ranks <= 64) {
        RIGHT(MPI_File_read_at_all(file, 8, all, 6 * ranks, MPI_INT, &status));
        for (int i = 0; i < 6 * ranks; i++)
            CHECK(all[i] == element(i / 2 % ranks, i / (2 * ranks) * 2 + i % 2));
    }
    MPI_Type_free(&blocks);
    RIGHT(MPI_File_close(&file));
}

/* The shared pointer: each element comes once, and in the order of ranks where the call says so. */
static void shared(void)
{
    MPI_File file = open_file(MPI_MODE_RDWR | MPI_MODE_CREATE);
    int one = element(rank, 7), found, sum, right, mine[3];
    MPI_Offset place;
    MPI_Request request;
    RIGHT(MPI_File_set_size(file, 0));
    RIGHT(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < 3; i++)
        RIGHT(MPI_File_write_shared(file, &one, 1, MPI_INT, &status));
    MPI_Barrier(MPI_COMM_WORLD);
    RIGHT(MPI_File_get_position_shared(file, &place));
    CHECK(place == 3 * ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    RIGHT(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int i = 0, sums = 0; i < 3; i++) {
        if (i < 2)
            RIGHT(MPI_File_read_shared(file, &found, 1, MPI_INT, &status));
        else {
            RIGHT(MPI_File_iread_shared(file, &found, 1, MPI_INT, &request));
            MPI_Wait(&request, &status);
        }
        CHECK(count_of(MPI_INT) == 1);
        sums += found;
        MPI_Allreduce(&sums, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    right = 3 * (1000 * (ranks - 1) * ranks / 2 + 7 * ranks);
    CHECK(sum == right);
    /* As many as its number and one more. */
    for (int i = 0; i < 3; i++)
        mine[i] = element(rank, i);
    RIGHT(MPI_File_seek_shared(file, 2, MPI_SEEK_SET));
    RIGHT(MPI_File_write_ordered(file, mine, rank % 3 + 1, MPI_INT, &status));
    RIGHT(MPI_File_write_ordered_begin(file, &one, 1, MPI_INT));
    RIGHT(MPI_File_write_ordered_end(file, &one, &status));
    RIGHT(MPI_File_seek_shared(file, -ranks, MPI_SEEK_CUR));
    RIGHT(MPI_File_read_ordered(file, &found, 1, MPI_INT, &status));
    CHECK(found == one);
    place = 2;
    for (int i = 0; i < rank; i++)
        place += i % 3 + 1;
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    RIGHT(MPI_File_read_at(file, place + rank % 3, &found, 1, MPI_INT, &status));
    CHECK(found == element(rank, rank % 3));
    RIGHT(MPI_File_seek_shared(file, 0, MPI_SEEK_END));
    RIGHT(MPI_File_read_shared(file, &found, 1, MPI_INT, &status));
    CHECK(count_of(MPI_INT) == 0);
    RIGHT(MPI_File_close(&file));
}

/* Half of the ranks have a file, which is gone when it is closed. */
static void half(void)
{
    MPI_File file;
    MPI_Comm comm;
    FILE *there;
    char name[4096], value = (char)('a' + rank % 26), read;
    int place;
    snprintf(name, sizeof name, "%s.%d", path, rank % 2);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
    MPI_Comm_rank(comm, &place);
    RIGHT(MPI_File_open(comm, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    RIGHT(MPI_File_write_ordered(file, &value, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    RIGHT(MPI_File_read_at(file, place, &read, 1, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK(read == value);
    RIGHT(MPI_File_close(&file));
    MPI_Barrier(comm);
    there = fopen(name, "r");
    CHECK(there == NULL);
    MPI_Comm_free(&comm);
    /* What is written behind what is there. */
    file = open_file(MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_APPEND);
    RIGHT(MPI_File_close(&file));
}

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    path = words[1];
    modes();
    parts();
    views();
    shared();
    half();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        RIGHT(MPI_File_delete(path, MPI_INFO_NULL));
    MPI_Finalize();
}

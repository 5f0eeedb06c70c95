/* Faults of calls on files. */

static void file_not_closed(void)
{
    MPI_File file;
    MPI_File_open(WORLD, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file); /* HERE */
}

static void file_calls_differ(void)
{
    MPI_File file;
    MPI_File_open(WORLD, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    if (rank == 0)
        MPI_File_write_all(file, &one, 1, MPI_INT, IGNORED); /* HERE */
    else
        MPI_File_read_all(file, &other, 1, MPI_INT, IGNORED);
    MPI_File_close(&file);
}

static void file_buffer_written(void)
{
    MPI_File file;
    MPI_File_open(WORLD, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_iwrite(file, &one, 1, MPI_INT, &request); /* HERE */
    one = 2;
    MPI_Wait(&request, IGNORED);
    MPI_File_close(&file);
}

/* Who comes first gets what lies first. */
static void file_in_any_order(void)
{
    MPI_File file;
    int from[2] = {0, 1}, mine;
    MPI_File_open(WORLD, "/tmp/loggp-faults.data", MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    if (rank == 0)
        MPI_File_write(file, from, 2, MPI_INT, IGNORED);
    MPI_Barrier(WORLD);
    MPI_File_read_shared(file, &mine, 1, MPI_INT, IGNORED);
    MPI_File_close(&file);
    if (mine != rank)
        MPI_Abort(WORLD, 1); /* HERE */
}

/* A file's errors are returned, unless the program says otherwise. */
static void file_modes_differ(void)
{
    MPI_File file;
    MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    MPI_File_open(WORLD, "/dev/null", rank == 0 ? MPI_MODE_RDWR : MPI_MODE_RDONLY, MPI_INFO_NULL, &file); /* HERE */
    MPI_File_close(&file);
}

static void file_type_not_committed(void)
{
    MPI_File file;
    MPI_Datatype type;
    MPI_File_open(WORLD, "/dev/null", MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    MPI_Type_contiguous(1, MPI_INT, &type);
    MPI_File_write(file, &one, 1, type, IGNORED); /* HERE */
    MPI_File_close(&file);
}

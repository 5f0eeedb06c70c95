/* What is only counted: one-sided calls, and files. */

#include "expect.h"

int main(int count, char **words)
{
    double own = 0, value = 1;
    MPI_Win window;
    MPI_File file;
    char path[4096];
    begin(count, words);
    MPI_Win_create(&own, sizeof own, sizeof own, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_fence(0, window);
    for (int i = 0; i < 3; i++)
        MPI_Put(&value, 1, MPI_DOUBLE, right(), 0, 1, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    snprintf(path, sizeof path, "%s.data", words[1]);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, rank, "a", 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    barrier();
    expect("unmodelled call=MPI_Win_create count=1");
    expect("unmodelled call=MPI_Win_fence count=2");
    expect("unmodelled call=MPI_Put count=3");
    expect("unmodelled call=MPI_Win_free count=1");
    expect("unmodelled call=MPI_File_open count=1");
    expect("unmodelled call=MPI_File_write_at count=1");
    expect("unmodelled call=MPI_File_close count=1");
    return end();
}

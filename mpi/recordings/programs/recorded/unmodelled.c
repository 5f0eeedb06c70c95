/* What is only counted: files. */

#include "expect.h"

int main(int count, char **words)
{
    MPI_File file;
    char path[4096];
    begin(count, words);
    snprintf(path, sizeof path, "%s.data", words[1]);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, rank, "a", 1, MPI_CHAR, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    barrier();
    expect("unmodelled call=MPI_File_open count=1");
    expect("unmodelled call=MPI_File_write_at count=1");
    expect("unmodelled call=MPI_File_close count=1");
    return end();
}

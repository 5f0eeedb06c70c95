! Files by a binding of Fortran: mpif.h, or with -DMODULE the module mpi, or with -DF08 mpi_f08. `files PATH`; it checks itself.
program files
#if defined(F08)
  use mpi_f08
#elif defined(MODULE)
  use mpi
#endif
  implicit none
#if !defined(F08) && !defined(MODULE)
  include 'mpif.h'
#endif
#ifdef F08
  type(MPI_File) :: file
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  type(MPI_Datatype) :: blocks
#else
  integer :: file, request, status(MPI_STATUS_SIZE), blocks
#endif
  integer :: ierr, rank, ranks, next, mode, class, count, i
  integer :: out(6), in(6)
  integer(kind=MPI_OFFSET_KIND) :: place, bytes
  character(len=400) :: path

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  call get_command_argument(1, path)
  next = mod(rank + 1, ranks)
  out = [(1000 * rank + i, i = 1, 6)]

  ! By default errors are returned.
  call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
  call MPI_Error_class(ierr, class, i)
  call right(class == MPI_ERR_NO_SUCH_FILE, __LINE__)
  mode = ior(MPI_MODE_RDWR, ior(MPI_MODE_CREATE, MPI_MODE_DELETE_ON_CLOSE))
  call MPI_File_open(MPI_COMM_WORLD, trim(path), mode, MPI_INFO_NULL, file, ierr)
  call right(ierr == MPI_SUCCESS, __LINE__)

  bytes = 24
  call MPI_File_write_at_all(file, rank * bytes, out, 6, MPI_INTEGER, status, ierr)
  call MPI_Get_count(status, MPI_INTEGER, count, ierr)
  call right(count == 6, __LINE__)
  call MPI_File_sync(file, ierr)
  call MPI_File_iread_at(file, next * bytes, in, 6, MPI_INTEGER, request, ierr)
  call MPI_Wait(request, status, ierr)
  call MPI_Get_count(status, MPI_INTEGER, count, ierr)
  call right(count == 6 .and. all(in == [(1000 * next + i, i = 1, 6)]), __LINE__)

  ! Each sees one of so many.
  call MPI_Type_create_subarray(1, [ranks], [1], [rank], MPI_ORDER_FORTRAN, MPI_INTEGER, blocks, ierr)
  call MPI_Type_commit(blocks, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  place = 0
  call MPI_File_set_view(file, place, MPI_INTEGER, blocks, 'native', MPI_INFO_NULL, ierr)
  call MPI_File_write_all(file, out, 6, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
  call MPI_File_set_view(file, place, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  do i = 0, ranks - 1
    call MPI_File_read_at(file, int(ranks + i, MPI_OFFSET_KIND), in, 1, MPI_INTEGER, status, ierr)
    call right(in(1) == 1000 * i + 2, __LINE__)
  end do
  call MPI_Type_free(blocks, ierr)

  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  call MPI_File_write_ordered(file, out, 2, MPI_INTEGER, status, ierr)
  call MPI_File_get_position_shared(file, place, ierr)
  call right(place == 2 * ranks, __LINE__)
  place = 2 * rank + 1
  call MPI_File_read_at(file, place, in, 1, MPI_INTEGER, status, ierr)
  call right(in(1) == out(2), __LINE__)
  call MPI_File_close(file, ierr)
  call MPI_Finalize(ierr)

contains

  subroutine right(is_right, line)
    logical, intent(in) :: is_right
    integer, intent(in) :: line
    if (is_right) return
    print '(a,i0,a,i0)', 'rank ', rank, ': files.F90, line ', line
    error stop
  end subroutine
end program

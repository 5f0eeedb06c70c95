! Attributes of MPI_COMM_SELF are deleted by MPI_Finalize.
module deletion
contains
  subroutine delete(comm, key, value, extra, ierr)
    use mpi
    integer :: comm, key, ierr, rank
    integer(kind=MPI_ADDRESS_KIND) :: value, extra
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    print '(a,i0,a,i0)', 'deleted ', value, ' at rank ', rank
    ierr = MPI_SUCCESS
  end subroutine
end module

program attributes
  use mpi
  use deletion
  integer :: ierr, key, i
  integer(kind=MPI_ADDRESS_KIND) :: value, extra
  call MPI_Init(ierr)
  extra = 0
  do i = 11, 12
    call MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, key, extra, ierr)
    value = i
    call MPI_Comm_set_attr(MPI_COMM_SELF, key, value, ierr)
  end do
  call MPI_Finalize(ierr)
end program

! Calls of all kinds by a binding of Fortran: mpif.h, or with -DMODULE the module mpi, or with -DF08 mpi_f08. It writes what
! `loggp record --list` has to print, as the programs in C do.
program calls
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
#define COMM type(MPI_Comm)
#define REQUEST type(MPI_Request)
  type(MPI_Status) :: status, statuses(4)
#else
#define COMM integer
#define REQUEST integer
  integer :: status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 4)
#endif
  REQUEST :: requests(4)
  COMM :: half, line
  integer :: ierr, rank, ranks, left, right, index, count, indices(4), i, got, other
  integer :: counts(8), offsets(8), members(8), sizes(1)
  integer :: out(64), in(64)
  double precision :: x(8), y(8)
  logical :: flag, periods(1)
  character(len=400) :: path, text, text2

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  left = mod(rank + ranks - 1, ranks)
  right = mod(rank + 1, ranks)
  call get_command_argument(1, path)
  write (text, '(a,".",i0)') trim(path), rank
  open (unit=10, file=trim(text), status='replace')
  out = rank
  x = rank

  ! Blocking, with a status and without.
  if (mod(rank, 2) == 0) then
    call MPI_Send(out, 3, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierr)
    call MPI_Recv(in, 4, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status, ierr)
  else
    call MPI_Recv(in, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Send(out, 3, MPI_INTEGER, right, 1, MPI_COMM_WORLD, ierr)
  end if
  call sent('standard', right, 1, 12)
  if (mod(rank, 2) == 0) then
    call posted(left, 1, 16)
  else
    write (10, '(i0,a)') rank, ' recv from=any tag=any comm=0 most=16'
  end if
  call taken(left, 1, 12)
  call MPI_Send(out, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, ierr)

  ! Immediate, and all ways to wait.
  call post(10)
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
  call all_done(10)
  call post(20)
  call MPI_Waitall(4, requests, statuses, ierr)
  call all_done(20)
  call post(30)
  do i = 1, 4
    call MPI_Waitany(4, requests, index, status, ierr)
  end do
  call all_done(30)
  call post(40)
  got = 0
  do while (got < 4)
    call MPI_Testsome(4, requests, count, indices, MPI_STATUSES_IGNORE, ierr)
    got = got + count
  end do
  call all_done(40)
  call post(50)
  flag = .false.
  do while (.not. flag)
    call MPI_Testall(4, requests, flag, statuses, ierr)
  end do
  call all_done(50)
  call post(60)
  do i = 1, 3
    call MPI_Wait(requests(i), MPI_STATUS_IGNORE, ierr)
  end do
  flag = .false.
  do while (.not. flag)
    call MPI_Test(requests(4), flag, MPI_STATUS_IGNORE, ierr)
  end do
  call all_done(60)

  call MPI_Issend(x, 2, MPI_DOUBLE_PRECISION, right, 70, MPI_COMM_WORLD, requests(1), ierr)
  call sent('synchronous', right, 70, 16)
  call MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, status, ierr)
  write (10, '(i0,a,i0,a)') rank, ' probe from=', left, ' tag=70 comm=0 bytes=16'
  call MPI_Recv(y, 2, MPI_DOUBLE_PRECISION, left, 70, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call posted(left, 70, 16)
  call taken(left, 70, 16)
  call MPI_Wait(requests(1), status, ierr)
  call done()

  call MPI_Sendrecv(out, 2, MPI_INTEGER, right, 80, in, 3, MPI_INTEGER, left, 80, MPI_COMM_WORLD, status, ierr)
  write (10, '(i0,a,i0,a,i0,a)') rank, ' sendrecv to=', right, ' tag=80 comm=0 bytes=8 from=', left, ' tag=80 comm=0 most=12'
  call taken(left, 80, 8)

  ! Persistent requests.
  call MPI_Recv_init(in, 5, MPI_INTEGER, left, 90, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Send_init(out, 5, MPI_INTEGER, right, 90, MPI_COMM_WORLD, requests(2), ierr)
  do i = 1, 2
    call MPI_Startall(2, requests, ierr)
    write (10, '(i0,a,i0,a)') rank, ' start recv from=', left, ' tag=90 comm=0 most=20'
    write (10, '(i0,a,i0,a)') rank, ' start send mode=standard to=', right, ' tag=90 comm=0 bytes=20'
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
    call taken(left, 90, 20)
    call done()
  end do
  call MPI_Request_free(requests(1), ierr)
  call MPI_Request_free(requests(2), ierr)

  ! Collectives.
  call MPI_Barrier(MPI_COMM_WORLD, ierr)
  write (10, '(i0,a)') rank, ' barrier comm=0 sent=0 received=0'
  call MPI_Bcast(x, 4, MPI_DOUBLE_PRECISION, 1, MPI_COMM_WORLD, ierr)
  write (10, '(i0,a,i0,a,i0)') rank, ' bcast comm=0 root=1 sent=', merge(32, 0, rank == 1), ' received=', merge(0, 32, rank == 1)
  call MPI_Allreduce(MPI_IN_PLACE, x, 3, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  write (10, '(i0,a)') rank, ' allreduce comm=0 sent=24 received=24'
  call MPI_Iallreduce(x, y, 3, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, requests(1), ierr)
  write (10, '(i0,a)') rank, ' allreduce comm=0 sent=24 received=24'
  call MPI_Wait(requests(1), MPI_STATUS_IGNORE, ierr)
  call done()
  do i = 1, ranks
    counts(i) = i
    offsets(i) = 4*i
  end do
  call MPI_Gatherv(out, rank + 1, MPI_INTEGER, in, counts, offsets, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
  text = '0'
  if (rank == 0) call list(counts, ranks, 4, text)
  write (10, '(i0,a,i0,a,a)') rank, ' gatherv comm=0 root=0 sent=', 4*(rank + 1), ' received=', trim(text)
  call list(counts, ranks, 4, text)
  call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INTEGER, in, counts, offsets, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  write (10, '(i0,a,i0,a,a)') rank, ' allgatherv comm=0 sent=', 4*(rank + 1), ' received=', trim(text)
  call MPI_Alltoall(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, MPI_COMM_WORLD, ierr)
  write (10, '(i0,a)') rank, ' alltoall comm=0 sent=8 received=8'

  ! Communicators.
  other = mod(rank, 2)
  call MPI_Comm_split(MPI_COMM_WORLD, other, 0, half, ierr)
  count = 0
  do i = other, ranks - 1, 2
    count = count + 1
    members(count) = i
  end do
  call list(members, count, 1, text)
  write (10, '(i0,a,a)') rank, ' communicator number=1 parent=0 order=0 members=', trim(text)
  write (10, '(i0,a)') rank, ' new parent=0 comm=1'
  call MPI_Reduce(x, y, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, half, ierr)
  write (10, '(i0,a,i0)') rank, ' reduce comm=1 root=0 sent=8 received=', merge(8, 0, rank < 2)
  call MPI_Comm_free(half, ierr)
  sizes(1) = ranks
  periods(1) = .true.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periods, .false., line, ierr)
  do i = 1, ranks
    members(i) = i - 1
  end do
  call list(members, ranks, 1, text)
  members(1) = left
  members(2) = right
  call list(members, 2, 1, text2)
  write (10, '(i0,7a)') rank, ' communicator number=2 parent=0 order=1 members=', trim(text), ' to=', trim(text2), ' from=', &
    trim(text2)
  write (10, '(i0,a)') rank, ' new parent=0 comm=2'
  call MPI_Neighbor_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, line, ierr)
  write (10, '(i0,a)') rank, ' neighboralltoall comm=2 sent=4 received=4'
  call MPI_Comm_free(line, ierr)

  close (10)
  call MPI_Finalize(ierr)

contains

  subroutine sent(mode, to, tag, bytes)
    character(len=*), intent(in) :: mode
    integer, intent(in) :: to, tag, bytes
    write (10, '(i0,3a,i0,a,i0,a,i0)') rank, ' send mode=', mode, ' to=', to, ' tag=', tag, ' comm=0 bytes=', bytes
  end subroutine

  subroutine posted(from, tag, most)
    integer, intent(in) :: from, tag, most
    write (10, '(i0,a,i0,a,i0,a,i0)') rank, ' recv from=', from, ' tag=', tag, ' comm=0 most=', most
  end subroutine

  subroutine taken(from, tag, bytes)
    integer, intent(in) :: from, tag, bytes
    write (10, '(i0,a,i0,a,i0,a,i0)') rank, ' took from=', from, ' tag=', tag, ' comm=0 bytes=', bytes
  end subroutine

  subroutine done()
    write (10, '(i0,a)') rank, ' done'
  end subroutine

  ! Posts two receives and two sends.
  subroutine post(tag)
    integer, intent(in) :: tag
    integer :: n
    do n = 1, 2
      call MPI_Irecv(in(8*n), 8, MPI_INTEGER, left, tag + n, MPI_COMM_WORLD, requests(n), ierr)
      call posted(left, tag + n, 32)
    end do
    do n = 1, 2
      call MPI_Isend(out(8*n), n, MPI_INTEGER, right, tag + n, MPI_COMM_WORLD, requests(2 + n), ierr)
      call sent('standard', right, tag + n, 4*n)
    end do
  end subroutine

  subroutine all_done(tag)
    integer, intent(in) :: tag
    call taken(left, tag + 1, 4)
    call taken(left, tag + 2, 8)
    call done()
    call done()
  end subroutine

  ! Writes numbers as the list has them, each multiplied.
  subroutine list(numbers, length, by, into)
    integer, intent(in) :: numbers(:), length, by
    character(len=*), intent(out) :: into
    character(len=20) :: item
    integer :: n
    into = '['
    do n = 1, length
      write (item, '(i0)') by*numbers(n)
      if (n > 1) into = trim(into)//','
      into = trim(into)//trim(item)
    end do
    into = trim(into)//']'
  end subroutine
end program

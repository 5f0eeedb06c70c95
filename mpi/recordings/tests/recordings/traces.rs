//! Traces of MPI by liballprof, of which each rank has a file. Here they are one input, with a form feed between two ranks.

use loggp_mpi_trace::allprof::{AllprofProgram, MpiLibrary};
use loggp_mpi_trace::schedule::{self, ScheduleOptions};

/// A real program's.
const JACOBI: [&str; 4] = [
    include_str!("../../../../examples/mpi/jacobi-0.txt"),
    include_str!("../../../../examples/mpi/jacobi-1.txt"),
    include_str!("../../../../examples/mpi/jacobi-2.txt"),
    include_str!("../../../../examples/mpi/jacobi-3.txt"),
];

/// Calls of a rank of two, `{r}`, with the other one, `{o}`.
const CALLS: [&str; 2] = [
    "MPI_Init:1000.00:0:0:1500.00\nMPI_Irecv:1520.00:4096:2048:11,8,8:{o}:7:1,{r},2:640:1521.00\n\
     MPI_Isend:1521.00:8192:2048:11,8,8:{o}:7:1,{r},2:648:1523.00\nMPI_Waitall:1623.00:2:640:0:1663.00\n\
     MPI_Allreduce:1663.00:0:0:1:11,8,8:3:1,{r},2:1693.00\nMPI_Finalize:1694.50:-\n",
    "MPI_Barrier:1:1,{r},2:2\nMPI_Bcast:3:0:4:3,8,8:1:1,{r},2:4\nMPI_Reduce:5:0:0:4:3,8,8:3:1:1,{r},2:6\n\
     MPI_Allreduce:7:0:0:4:3,8,8:3:1,{r},2:8\nMPI_Scan:9:0:0:4:3,8,8:3:1,{r},2:10\n\
     MPI_Gather:11:0:4:3,8,8:0:4:3,8,8:1:1,{r},2:12\nMPI_Scatter:13:0:4:3,8,8:0:4:3,8,8:0:1,{r},2:14\n\
     MPI_Allgather:15:0:4:3,8,8:0:4:3,8,8:1,{r},2:16\nMPI_Alltoall:17:0:4:3,8,8:0:4:3,8,8:1,{r},2:18\n\
     MPI_Sendrecv:19:0:4:3,8,8:{o}:0:0:4:3,8,8:-1:-1:1,{r},2:0:20\n\
     MPI_Sendrecv_replace:21:0:4:3,8,8:{o}:0:{o}:0:1,{r},2:0:22\nMPI_Finalize:30:-\n",
];

/// Reads an input and makes its schedule, or returns the error as a sentence.
pub(crate) fn read(bytes: &[u8]) -> Result<(), String> {
    let ranks: Vec<&[u8]> = bytes.split(|byte| *byte == 0x0c).collect();
    let read = |skips| {
        let mpi = MpiLibrary::default();
        let mut program = AllprofProgram::new(ranks.len(), mpi, skips, |rank| Ok(ranks[rank]));
        schedule::read(&mut program, ScheduleOptions { has_spans: true, ..ScheduleOptions::default() })
    };
    // What is skipped is no error, and all else is the same.
    let _ = read(true);
    let program = read(false).map_err(|why| why.to_string())?;
    assert_eq!(program.schedule.ranks(), ranks.len());
    Ok(())
}

/// Returns the inputs that tests change.
pub(crate) fn inputs() -> Vec<Vec<u8>> {
    let ranks =
        |calls: &str| [["0", "1"], ["1", "0"]].map(|[r, o]| calls.replace("{r}", r).replace("{o}", o));
    let mut all = vec![JACOBI.join("\u{c}"), "MPI_Put:1:2\n\u{c}MPI_Send:5:0:1:3,8,8:9:0:1,0,2:4\n".into()];
    all.extend(CALLS.map(|calls| ranks(calls).join("\u{c}")));
    all.into_iter().map(String::into_bytes).collect()
}

//! Schedules from the traces of MPI programs.

use loggp::schedule::{CostModel, Operation, Player, Schedule};
use loggp::{NS, Params, US};
use loggp_goal::patterns::pattern_schedule;
use loggp_mpi::loggp_mpi_trace::allprof::{AllprofProgram, MpiLibrary};
use loggp_mpi::loggp_mpi_trace::schedule::{self, ScheduleOptions};

use crate::requests::{assert_refused, stdout_of};

/// Reads traces as a schedule.
fn read(traces: &[String]) -> Result<Schedule, String> {
    read_as(traces, MpiLibrary::OpenMpi)
}

fn read_as(traces: &[String], mpi: MpiLibrary) -> Result<Schedule, String> {
    let mut program = AllprofProgram::new(traces.len(), mpi, false, |rank| Ok(traces[rank].as_bytes()));
    schedule::read(&mut program, ScheduleOptions::default())
        .map(|read| read.schedule)
        .map_err(|why| why.to_string())
}

fn player() -> Player {
    Player::new(Params::builder(1).set("L=6us,o=2us,g=4us").unwrap().word(8).build().unwrap())
}

/// Returns the time at which each rank ends, in ps.
fn finishes(schedule: &Schedule) -> Vec<i64> {
    let params = Params::builder(1).set("L=6us,o=2us,g=4us,G=3ns,word=1").unwrap().build().unwrap();
    let played = Player::new(params).rules(CostModel::Papers).run(schedule).unwrap();
    played.finishes.iter().map(|time| time.as_ps()).collect()
}

/// A collective takes as long as its pattern, for each root.
#[test]
fn a_collective_takes_the_time_of_its_pattern() {
    for (call, pattern, has_root) in [
        ("MPI_Bcast:1:0:25:3,8,8:ROOT:COMM:2", "binomial-broadcast", true),
        ("MPI_Reduce:1:0:0:25:3,8,8:5:ROOT:COMM:2", "binomial-reduce", true),
        ("MPI_Allreduce:1:0:0:25:3,8,8:5:COMM:2", "dissemination", false),
        ("MPI_Barrier:1:COMM:2", "dissemination", false),
        ("MPI_Scan:1:0:0:25:3,8,8:5:COMM:2", "ring", false),
        ("MPI_Gather:1:0:25:3,8,8:0:0:3,8,8:ROOT:COMM:2", "binomial-gather", true),
        ("MPI_Scatter:1:0:0:3,8,8:0:25:3,8,8:ROOT:COMM:2", "binomial-scatter", true),
        ("MPI_Allgather:1:0:25:3,8,8:0:25:3,8,8:COMM:2", "all-gather", false),
        ("MPI_Alltoall:1:0:25:3,8,8:0:25:3,8,8:COMM:2", "all-to-all", false),
    ] {
        for P in [2, 5, 8] {
            let bytes = if call.starts_with("MPI_Barrier") { 1 } else { 200 };
            let expected = finishes(&pattern_schedule(pattern, P, bytes, &[]).unwrap().unwrap());
            for root in if has_root { 0..P } else { 0..1 } {
                let trace = |id: usize| {
                    let call =
                        call.replace("ROOT", &root.to_string()).replace("COMM", &format!("9,{id},{P}"));
                    format!("# {id}\nMPI_Init:0:0:0:1\n{call}\nMPI_Finalize:2:-\n")
                };
                let all: Vec<String> = (0..P).map(trace).collect();
                let mut rotated = finishes(&read(&all).unwrap());
                rotated.rotate_left(root);
                assert_eq!(rotated, expected, "{call}, P = {P}, root {root}");
            }
        }
    }
}

/// The binomial gather and Bruck's algorithm by hand: without G, rounds follow each other directly.
#[test]
fn gathers_take_the_time_by_hand() {
    let params = Params::builder(1).set("L=6us,o=2us,g=4us").unwrap().build().unwrap();
    let time = |name: &str, P| {
        let schedule = pattern_schedule(name, P, 1, &[]).unwrap().unwrap();
        Player::new(params).run(&schedule).unwrap().time
    };
    // A message is received after L + 2o = 10; then the next round starts.
    assert_eq!((time("all-gather", 8), time("binomial-gather", 8)), (30 * US, 30 * US));
    assert_eq!(time("binomial-gather", 2), 10 * US);
}

/// Time between calls is computation, and requests overlap with it until their wait.
#[test]
fn requests_overlap_with_computing() {
    let rank = |id: usize, compute: usize| {
        let (other, comm) = (1 - id, format!("9,{id},2"));
        format!(
            "MPI_Init:0:0:0:10\nMPI_Irecv:10:0:1:3,8,8:{other}:5:{comm}:640:10\nMPI_Isend:10:0:1:3,8,8:{other}:5:{comm}:648:10\n\
             MPI_Waitall:{}:2:640:0:900\nMPI_Finalize:907.25:-\n",
            10 + compute
        )
    };
    // The longer computation hides the message. The reception takes o after it, and 7.25 us follow.
    let both = read(&[rank(0, 50), rank(1, 80)]).unwrap();
    let us = |time: f64| (time * US.as_ps() as f64) as i64;
    assert_eq!(finishes(&both), [us(2.0 + 50.0 + 2.0 + 7.25), us(2.0 + 80.0 + 2.0 + 7.25)]);
}

/// Any source, the null process, and both at once: each MPI library has its own numbers for them.
#[test]
fn any_source_and_the_null_process_are_read() {
    for (mpi, any, nobody, apart) in [(MpiLibrary::OpenMpi, -1, -2, 8), (MpiLibrary::Mpich, -2, -1, 4)] {
        let comm = |id: usize| format!("9,{id},2");
        let zero = format!(
            "MPI_Init:0:0:0:1\nMPI_Sendrecv:1:0:8:3,8,8:1:0:0:8:3,8,8:{any}:-1:{c}:0:2\n\
             MPI_Sendrecv:2:0:8:3,8,8:{nobody}:0:0:8:3,8,8:{nobody}:0:{c}:0:3\n\
             MPI_Irecv:3:0:1:3,8,8:1:5:{c}:96:3\nMPI_Irecv:3:0:1:3,8,8:{any}:6:{c}:{}:3\nMPI_Waitall:3:2:96:0:4\n\
             MPI_Sendrecv_replace:4:0:8:3,8,8:1:9:1:9:{c}:0:5\nMPI_Finalize:7:-\n",
            96 + apart,
            c = comm(0)
        );
        let one = format!(
            "MPI_Init:0:0:0:1\nMPI_Recv:1:0:8:3,8,8:0:0:{c}:0:2\nMPI_Send:2:0:8:3,8,8:0:3:{c}:3\n\
             MPI_Send:3:0:1:3,8,8:0:6:{c}:4\nMPI_Send:4:0:1:3,8,8:0:5:{c}:5\n\
             MPI_Sendrecv_replace:5:0:8:3,8,8:0:9:0:9:{c}:0:6\nMPI_Finalize:6:-\n",
            c = comm(1)
        );
        let traces = [zero, one];
        let schedule = read_as(&traces, mpi).unwrap();
        let params = Params::builder(1).set("L=6us,o=2us,g=4us").unwrap().build().unwrap();
        let played = Player::new(params).run(&schedule).unwrap();
        // There are no messages to and from the null process, and the last computation starts when both
        // requests are done.
        assert_eq!((schedule.len(), played.messages), (13, 6), "{mpi:?}");
    }
}

/// A file as liballprof writes it: comments about the host, no times before `MPI_Init` and after
/// `MPI_Finalize`, and times without decimals.
#[test]
fn a_trace_is_read_as_its_tracer_writes_it() {
    let head = "# htor's PMPI Tracer 0.1 Output File\n# time: Thu Nov 26 11:31:00 2026\n# hostname: node.(none)\n\
                # uname: Linux node 6.1.0 #1 SMP x86_64\n# clockdiff: 0.000000 s (relative to rank 0)\n\n";
    for init in
        ["MPI_Init:-:140737488340112:140737488340120:971", "MPI_Init:-:971", "MPI_Init_thread:-:0:0:3:64:971"]
    {
        let rank = |id| {
            format!(
                "{head}{init}\nMPI_Comm_rank:972:5641280,{id},2:64:973\nMPI_Barrier:975:5641280,{id},2:980\n\
                 # Finalize clockdiff: 0.000002\nMPI_Finalize:983:-\n"
            )
        };
        let schedule = read(&[rank(0), rank(1)]).unwrap();
        // 4 us before the barrier, L + 2o for it, and 3 us after it.
        assert_eq!(finishes(&schedule), [17 * US.as_ps(); 2], "{init}");
    }
}

#[test]
fn an_error_names_rank_and_line() {
    let good = "MPI_Barrier:1:9,0,2:2\nMPI_Finalize:2:-\n".to_string();
    for (wrong, part) in [
        ("\n# x\nMPI_Put:1:2", "rank 1, line 3: MPI_Put cannot be read; calls that can are sends"),
        ("MPI_Barrier:1:9,1,3:2", "line 1: MPI_Barrier is on a communicator of 3 ranks, and there are 2"),
        ("MPI_Barrier:1:9,0,2:2", "is on a communicator in which this is rank 0"),
        ("MPI_Barrier:1:9,1:2", "a communicator is name,rank,size, and argument 1 is \"9,1\""),
        ("MPI_Send:1:0:1:3,8,8:7:0:9,1,2:2", "there is no rank 7; there are traces of ranks 0 to 1"),
        ("MPI_Send:1:0:1:3,8,8:0:-7:9,1,2:2", "-7 is no tag"),
        ("MPI_Send:1:0:x:3,8,8:0:0:9,1,2:2", "a count is a number, and argument 2 is \"x\""),
        ("MPI_Send:1:0:1:3:0:0:9,1,2:2", "a datatype is kind,size,extent, and argument 3 is \"3\""),
        ("MPI_Send:1:0:1", "MPI_Send has 3 arguments"),
        ("MPI_Barrier:soon:9,1,2:2", "a time is in microseconds, and \"soon\" is none"),
        ("MPI_Barrier:5:9,1,2:4", "MPI_Barrier ends before it begins"),
        ("MPI_Barrier:5:9,1,2:6\nMPI_Barrier:4:9,1,2:6", "line 2: the call begins before the last one ended"),
        ("hello", "a line is a call"),
        ("MPI_Init:5:0:0:2", "MPI_Init ends before it begins"),
        ("MPI_Init:5:0:0:-", "a time is in microseconds, and \"-\" is none"),
        ("MPI_Barrier:-:9,1,2:2", "a time is in microseconds, and \"-\" is none"),
        ("MPI_Finalize:1:-\nMPI_Wtime:2:3", "line 2: a call comes after MPI_Finalize"),
        ("", "the trace ends here, without MPI_Finalize"),
        ("MPI_Barrier:1:9,1,2:2\n", "line 2: the trace ends here"),
    ] {
        let error = read(&[good.clone(), wrong.into()]).unwrap_err();
        assert!(error.starts_with("rank 1, line ") && error.contains(part), "{wrong:?}: {error}");
    }
}

/// The command with the example traces.
#[test]
fn mpi2goal_finds_all_ranks() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mpi/");
    let line = |ranks: &[&str]| {
        let files = ranks.iter().map(|rank| format!(" {folder}jacobi-{rank}.txt"));
        format!("mpi2goal{}", files.collect::<String>())
    };
    let goal = stdout_of(&line(&["3", "0", "2", "1"]));
    let schedule = loggp_goal::read(goal.as_bytes(), NS).unwrap();
    assert_eq!((schedule.ranks(), schedule.len()), (4, 160));
    for (ranks, part) in [
        (&["0", "2"][..], "the trace of rank 1 is not there"),
        (&["0", "0"], "are both of rank 0"),
        (&["0", "1"], "rank 0, line 6: MPI_Bcast is on a communicator of 4 ranks, and there are 2"),
    ] {
        assert_refused(&[(line(ranks), part)]);
    }
}

/// Returns the trace of a rank with these calls, in which % is the rank and @ the world.
fn trace(id: usize, P: usize, calls: &str) -> String {
    let world = format!("44,{id},{P}");
    let calls = calls.replace('%', &id.to_string()).replace('@', &world);
    format!("MPI_Init:-:0:0:0\n{calls}\nMPI_Finalize:1000:-\n").replace(' ', "\n")
}

/// Ranks 0 and 2, and 1 and 3 in the other order, are groups of their own, of which each rank knows only its number.
#[test]
fn split_communicators_have_the_members_that_follow() {
    let rank = |id: usize| {
        let (color, key) = (id % 2, [0, 1, 1, 0][id]);
        // Within the group: which number this rank has.
        let me = key;
        let group = format!("9{id},{me},2");
        let exchange = match me {
            0 => format!("MPI_Send:1:0:1:3,8,8:1:5:{group}:1"),
            _ => format!("MPI_Recv:1:0:1:3,8,8:0:5:{group}:0:1"),
        };
        trace(
            id,
            4,
            &format!(
                "MPI_Comm_split:0:@:{color}:{key}:4444:0 MPI_Comm_rank:0:{group}:77:0 {exchange} MPI_Barrier:1:{group}:1"
            ),
        )
    };
    let schedule = read(&(0..4).map(rank).collect::<Vec<_>>()).unwrap();
    let sends = |rank: usize| -> Vec<u32> {
        let operations = schedule.operations(rank).map(|placed| placed.operation);
        operations
            .filter_map(|operation| if let Operation::Send { to, .. } = operation { Some(to) } else { None })
            .collect()
    };
    // Two to make the communicator, then the message, and the barrier.
    let expected = [[2, 2], [3, 3], [0, 0], [1, 1]];
    for (rank, expected) in expected.into_iter().enumerate() {
        let count = if rank == 0 || rank == 3 { 2 } else { 1 };
        assert_eq!(sends(rank)[2..], expected[..count], "rank {rank}");
    }
    player().run(&schedule).unwrap();
}

#[test]
fn persistent_requests_and_waits_for_one_of_several_are_read() {
    let zero = "MPI_Send_init:0:0:1:3,8,8:1:5:@:640:0 MPI_Recv_init:0:0:1:3,8,8:1:6:@:648:0 MPI_Startall:0:2:640:0 \
                MPI_Waitany:0:2:640:77:0:0 MPI_Waitsome:10:2:640:7:77:0:10 MPI_Start:10:640:10 MPI_Wait:20:640:0:20 \
                MPI_Irecv:20:0:1:3,8,8:1:9:@:656:20 MPI_Cancel:20:656:20 MPI_Wait:20:656:0:20";
    let one = "MPI_Probe:0:0:5:@:0:0 MPI_Recv:0:0:1:3,8,8:0:5:@:0:0 MPI_Ssend:0:0:1:3,8,8:0:6:@:0 \
               MPI_Recv:0:0:1:3,8,8:0:5:@:0:0";
    let traces = [trace(0, 2, zero), trace(1, 2, one)];
    let mut program = AllprofProgram::new(2, MpiLibrary::OpenMpi, false, |rank| Ok(traces[rank].as_bytes()));
    let read = schedule::read(&mut program, ScheduleOptions::default()).unwrap();
    // The send that was started first is there at 10 with the probe, and its receive has it. The synchronous send is there
    // at 20; the answer goes at once.
    assert_eq!(player().run(&read.schedule).unwrap().messages, 4);
    assert_eq!(
        read.warnings,
        ["1 calls of MPI_Waitany and MPI_Waitsome do not say what was completed, and are taken to wait \
                                for the request that was started first"]
    );
}

#[test]
fn collectives_with_counts_and_immediate_ones_are_read() {
    let calls = |id: usize| {
        let counts = ["0,1,2", "3,0,4", "5,6,0"];
        let back = ["0,3,5", "1,0,6", "2,4,0"];
        let (sent, received) = (counts[id], back[id]);
        trace(
            id,
            3,
            &format!(
                "MPI_Alltoallv:0:0:7:{sent}:8:0,0,0:3,8,8:0:7:{received}:8:0,0,0:3,8,8:@:1 \
                               MPI_Ibarrier:1:@:640:1 MPI_Wait:2:640:0:3 \
                               MPI_Gatherv:3:0:%:3,8,8:0:7:0,1,2:8:0,0,0:3,8,8:0:@:4"
            ),
        )
    };
    let schedule = read(&[calls(0), calls(1), calls(2)]).unwrap();
    let bytes = |rank: usize| -> Vec<(u32, u64)> {
        let operations = schedule.operations(rank).map(|placed| placed.operation);
        operations
            .filter_map(|operation| match operation {
                Operation::Send { to, bytes, .. } => Some((to, bytes)),
                _ => None,
            })
            .collect()
    };
    assert_eq!(bytes(1), [(2, 32), (0, 24), (2, 1), (0, 1), (0, 8)]);
    player().run(&schedule).unwrap();
}

/// A receive with any tag takes no message of a collective or of another communicator, where its rank receives on its own with
/// any tag only.
#[test]
fn a_receive_with_any_tag_takes_messages_of_its_communicator() {
    let any = |at: i64| format!("MPI_Irecv:{at}:0:1:3,8,8:-1:-1:@:77:{at}");
    let zero = format!("{} MPI_Barrier:1:@:2 MPI_Wait:3:77:0:20 {} MPI_Wait:21:77:0:30", any(1), any(20));
    let one = "MPI_Barrier:1:@:2 MPI_Send:9:0:1:3,8,8:0:5:@:10 MPI_Send:11:0:1:3,8,8:0:6:@:12";
    let traces = [trace(0, 2, &zero), trace(1, 2, one)];
    assert_eq!(player().run(&read(&traces).unwrap()).unwrap().messages, 4);
}

#[test]
fn calls_that_cannot_be_read_are_counted_or_skipped() {
    let traces = [
        trace(0, 2, "MPI_Put:1:2:3 MPI_Win_fence:4:5 MPI_Put:6:7 MPI_Barrier:10:@:11"),
        trace(1, 2, "MPI_Put:1:2:3 MPI_Barrier:10:@:11 MPI_Bcast:12:0:1:3,8,8:0:9,1,1:13"),
    ];
    let error = read(&traces).unwrap_err();
    let (first, other) =
        ("rank 0, line 2: MPI_Put cannot be read;", "--skip makes time of it. Rank 0, line 3: MPI_Win_fence");
    assert!(error.starts_with(first) && error.contains(", 3 times") && error.contains(other), "{error}");
    let mut program = AllprofProgram::new(2, MpiLibrary::OpenMpi, true, |rank| Ok(traces[rank].as_bytes()));
    let skipped = schedule::read(&mut program, ScheduleOptions::default()).unwrap();
    assert_eq!(skipped.warnings.len(), 3, "{:?}", skipped.warnings);
    let unseen: Vec<_> = skipped.unseen.calls.iter().map(|calls| (&*calls.name, calls.count)).collect();
    assert_eq!(unseen, [("MPI_Put", 3), ("MPI_Win_fence", 1), ("MPI_Bcast", 1)]);
    // The time until the barrier is computing, also in what was skipped.
    let first = skipped.schedule.operations(0).next().unwrap().operation;
    assert_eq!(first, Operation::Calc(10 * US));
}

//! The collectives of MPI libraries as schedules. Nothing here knows how they are written: messages and what
//! depends on what are read off the schedule.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use loggp::schedule::{CostModel, Operation, Player, Schedule, ScheduleBuilder};
use loggp::{Params, Ports, Time, US};
use loggp_goal::patterns::CollectiveKind::{self, *};
use loggp_goal::patterns::{
    CollectiveCall, CollectiveRules, CollectiveTable, METHODS, Member, Method, Sizes, pattern_schedule,
};
use loggp_mpi_trace::libraries::{LIBRARIES, open_mpi, parse_table, table_named};

/// A collective of all ranks, whose sizes are those that a rank knows.
struct Case {
    kind: CollectiveKind,
    P: usize,
    root: usize,
    /// What each rank gives each other one.
    sizes: Vec<Vec<u64>>,
    is_commutative: bool,
    is_immediate: bool,
}

impl Case {
    /// Returns a case in which every rank gives every other one as much. Lists of lengths vary by rank.
    fn new(kind: CollectiveKind, P: usize, root: usize, bytes: u64) -> Case {
        let sizes = |from: usize| (0..P).map(move |to| Case::size(kind, bytes, from, to)).collect();
        Case { kind, P, root, sizes: (0..P).map(sizes).collect(), is_commutative: true, is_immediate: false }
    }

    fn size(kind: CollectiveKind, bytes: u64, from: usize, to: usize) -> u64 {
        match kind {
            Barrier => 0,
            // The part of a rank, whoever gives it.
            ReduceScatter | Scatterv => bytes * (to as u64 % 3),
            Gatherv | Allgatherv => bytes * (from as u64 % 3),
            Alltoallv | Alltoallw => bytes * ((from + 2 * to) as u64 % 3),
            _ => bytes,
        }
    }

    fn table(method: &Method, kind: CollectiveKind, segment: u64) -> CollectiveTable {
        let segment = if method.has_segments { segment.to_string() } else { String::new() };
        parse_table(&format!("{} 1 0 {} {segment}", kind.name(), method.name)).unwrap()
    }

    /// Returns the schedule of this collective, with the number of each rank's last operation.
    fn schedule(&self, table: &CollectiveTable, combine: Time) -> (Schedule, Vec<u32>) {
        let mut builder = ScheduleBuilder::new(self.P).unwrap();
        let members: Vec<u32> = (0..self.P as u32).collect();
        let mut ends = Vec::new();
        for id in 0..self.P {
            builder.begin_rank(id).unwrap();
            let combine = |bytes: u64| bytes as i64 * combine;
            let sent = &self.sizes[id];
            let received: Vec<u64> = (0..self.P).map(|from| self.sizes[from][id]).collect();
            let is_list =
                matches!(self.kind, ReduceScatter | Scatterv | Gatherv | Allgatherv | Alltoallv | Alltoallw);
            let sizes = |all| if is_list { Sizes::Each(all) } else { Sizes::Same(all[0]) };
            let call = CollectiveCall {
                root: self.root,
                sent: sizes(sent),
                received: sizes(&received),
                is_commutative: self.is_commutative,
                is_immediate: self.is_immediate,
                ..CollectiveCall::new(self.kind)
            };
            let rules = CollectiveRules { table, combine: &combine };
            let member = Member { members: &members, id, tag: 7, before: &[] };
            ends.push(rules.write(&mut builder, member, &call).unwrap());
        }
        (builder.build().unwrap(), ends)
    }

    /// Returns whether there is nothing to send.
    fn is_empty(&self) -> bool {
        self.kind != Barrier && self.sizes.iter().flatten().all(|size| *size == 0)
    }

    /// Returns whether a rank's result must depend on what another one gives.
    fn needs(&self, rank: usize, of: usize) -> bool {
        let (root, length) = (self.root, self.sizes[of][rank]);
        match self.kind {
            Bcast => of == root,
            Scatter | Scatterv => of == root && length > 0,
            Reduce | Gather => rank == root,
            Gatherv => rank == root && length > 0,
            Scan => of <= rank,
            Exscan => of < rank,
            Alltoallv | Alltoallw | Allgatherv => length > 0,
            ReduceScatter => self.sizes[0][rank] > 0,
            _ => true,
        }
    }

    /// Returns the least bytes that must come into a rank.
    fn least(&self, rank: usize) -> u64 {
        let others = || (0..self.P).filter(move |other| *other != rank);
        let (root, own) = (self.root, self.sizes[0][rank]);
        match self.kind {
            _ if self.P == 1 => 0,
            Bcast | Scatter | Scatterv if rank != root => self.sizes[root][rank],
            Reduce if rank == root => own,
            Gather | Gatherv if rank == root => others().map(|from| self.sizes[from][rank]).sum(),
            Allreduce | ReduceScatter | ReduceScatterBlock => own,
            Scan | Exscan if rank > 0 => own,
            Allgather | Allgatherv | Alltoall | Alltoallv | Alltoallw => {
                others().map(|from| self.sizes[from][rank]).sum()
            }
            _ => 0,
        }
    }
}

/// The messages of a schedule, for each pair of ranks in the order in which they are sent or received.
#[derive(Default, PartialEq, Debug)]
struct Messages {
    sent: HashMap<(usize, usize), Vec<u64>>,
    received: HashMap<(usize, usize), Vec<u64>>,
}

fn messages(schedule: &Schedule) -> Messages {
    let mut all = Messages::default();
    for rank in 0..schedule.ranks() {
        for placed in schedule.operations(rank) {
            match placed.operation {
                Operation::Send { to, bytes, .. } => {
                    all.sent.entry((rank, to as usize)).or_default().push(bytes);
                }
                Operation::Recv { from, bytes, .. } => {
                    all.received.entry((from.unwrap() as usize, rank)).or_default().push(bytes);
                }
                _ => {}
            }
        }
    }
    all
}

/// Returns for each rank the ranks on which its last operation depends, by messages and by what waits for what.
fn reached(schedule: &Schedule, ends: &[u32]) -> Vec<u64> {
    let P = schedule.ranks();
    // The operations on which each one depends, a receive on the send of the same place in the order of the pair.
    let mut earlier: HashMap<(usize, u32), Vec<(usize, u32)>> = HashMap::new();
    let mut sends: HashMap<(usize, usize), Vec<(usize, u32)>> = HashMap::new();
    let mut receives = sends.clone();
    for rank in 0..P {
        for (number, placed) in (0..).zip(schedule.operations(rank)) {
            match placed.operation {
                Operation::Send { to, .. } => {
                    sends.entry((rank, to as usize)).or_default().push((rank, number))
                }
                Operation::Recv { from, .. } => {
                    receives.entry((from.unwrap() as usize, rank)).or_default().push((rank, number));
                }
                _ => {}
            }
        }
        for requirement in schedule.requirements_of(rank) {
            earlier.entry((rank, requirement.later)).or_default().push((rank, requirement.earlier));
        }
    }
    for (pair, receives) in receives {
        for (receive, send) in receives.into_iter().zip(&sends[&pair]) {
            earlier.entry(receive).or_default().push(*send);
        }
    }
    let reached = |rank: usize| {
        let (mut open, mut seen, mut ranks) = (vec![(rank, ends[rank])], HashSet::new(), 0);
        while let Some(operation) = open.pop() {
            if seen.insert(operation) {
                ranks |= 1_u64 << operation.0;
                open.extend(earlier.get(&operation).into_iter().flatten());
            }
        }
        ranks
    };
    (0..P).map(reached).collect()
}

/// Checks a schedule: every message is received with its length, all end under every model, and the results depend
/// on what they must.
fn check(case: &Case, schedule: &Schedule, ends: &[u32], what: &str) {
    let P = case.P;
    let Messages { sent, received } = messages(schedule);
    assert_eq!(sent, received, "{what}");
    let params = Params::builder(P).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    // Every message waits for its receiver.
    let text = "L=9us,o=2us,S=1,s=1,O_s=3ns,O_r=3ns,G_s=7ns,G_l=7ns,word=1";
    let synchronous = Params::builder(P).set(text).unwrap().build().unwrap();
    for (params, rules) in
        [(params, CostModel::Papers), (synchronous, CostModel::Papers), (synchronous, CostModel::LogGOPSim)]
    {
        let played = Player::new(params).rules(rules).run(schedule);
        let played = played.unwrap_or_else(|error| panic!("{what}: {error}"));
        // A message that waits for its receiver takes others that tell of it.
        let count = sent.values().map(Vec::len).sum::<usize>();
        assert!(played.messages as usize >= count, "{what}");
    }
    let reached = reached(schedule, ends);
    for (rank, reached) in reached.into_iter().enumerate() {
        let missing: Vec<usize> =
            (0..P).filter(|of| case.needs(rank, *of) && reached >> of & 1 == 0).collect();
        assert!(missing.is_empty() || case.is_empty(), "{what}: rank {rank} has nothing of {missing:?}");
        let came: u64 = received.iter().filter(|((_, to), _)| *to == rank).flat_map(|(_, all)| all).sum();
        let least = case.least(rank);
        assert!(came >= least, "{what}: {came} bytes came to rank {rank}, and {least} must");
    }
}

/// Every algorithm sends what it must, over any number of ranks, with any root.
#[test]
fn every_algorithm_is_whole() {
    for method in METHODS {
        for kind in method.kinds.iter().copied().filter(|kind| !kind.is_of_neighbors()) {
            for P in (1..=9).chain([12, 15, 16, 17]) {
                let roots = match kind {
                    Bcast | Reduce | Gather | Gatherv | Scatter | Scatterv => vec![0, P - 1 - P / 3],
                    _ => vec![0],
                };
                for root in roots {
                    for bytes in [0, 1, 8 * P as u64, 4093] {
                        for segment in [0, 1, 100] {
                            if segment > 0 && (!method.has_segments || bytes / segment > 100) {
                                continue;
                            }
                            let case = Case::new(kind, P, root, bytes);
                            let table = Case::table(method, kind, segment);
                            let (schedule, ends) = case.schedule(&table, Time::ZERO);
                            let what = format!(
                                "{} by {}, {P} ranks, root {root}, {bytes} bytes, segments of {segment}",
                                kind.name(),
                                method.name
                            );
                            check(&case, &schedule, &ends, &what);
                        }
                    }
                }
            }
        }
    }
}

/// Both libraries do every collective, of any size and any number of ranks.
#[test]
fn libraries_do_every_collective() {
    for table in ["openmpi", "mpich"].map(|name| table_named(name).unwrap()) {
        for kind in CollectiveKind::ALL.into_iter().filter(|kind| !kind.is_of_neighbors()) {
            for P in [1, 2, 3, 7, 8, 13, 33] {
                let few = [8, 5000, 600_000].to_vec();
                let sizes =
                    if P > 30 { few } else { vec![0, 1, 8, 24, 300, 5000, 40_000, 600_000, 3_000_000] };
                for bytes in sizes {
                    for (is_commutative, is_immediate) in [(true, false), (false, false), (true, true)] {
                        let case = Case { is_commutative, is_immediate, ..Case::new(kind, P, P / 3, bytes) };
                        let (schedule, ends) = case.schedule(table, Time::ZERO);
                        check(&case, &schedule, &ends, &format!("{}, {P} ranks, {bytes} bytes", kind.name()));
                    }
                }
            }
        }
    }
}

/// Returns the time of a collective by its name, with L = 6, o = 2, g = 4 and G = 0.1 us, in us.
fn time(name: &str, P: usize, bytes: u64) -> f64 {
    let params = Params::builder(P).set("L=6us,o=2us,g=4us,G=0.1us,word=1").unwrap().build().unwrap();
    let schedule = pattern_schedule(name, P, bytes, LIBRARIES).unwrap().unwrap();
    Player::new(params).ports(Ports::Dual).run(&schedule).unwrap().time.as_ps() as f64 / 1e6
}

/// Formulas by hand: a message of k bytes takes L + 2o + (k-1)G = 10 + (k-1)/10 us.
#[test]
fn times_are_the_formulas() {
    let way = |bytes: u64| 10.0 + 0.1 * (bytes - 1) as f64;
    let all: &[(&str, usize, u64, f64)] = &[
        // ceil(log2 P) rounds of empty messages, each of which takes a word.
        ("barrier:dissemination", 13, 0, 4.0 * way(1)),
        ("barrier:double-ring", 5, 0, 10.0 * way(1)),
        ("barrier:tree", 8, 0, 6.0 * way(1)),
        // (P-1) messages, one after the other.
        ("bcast:pipeline", 6, 11, 5.0 * way(11)),
        ("scan:linear", 9, 11, 8.0 * way(11)),
        ("allgather:ring", 7, 21, 6.0 * way(21)),
        // Rounds with 1, 2 and 4 blocks.
        ("allgather:recursive-doubling", 8, 10, way(10) + way(20) + way(40)),
        ("allgather:bruck", 8, 10, way(10) + way(20) + way(40)),
        ("gather:binomial", 8, 10, way(10) + way(20) + way(40)),
        ("scatter:binomial", 8, 10, way(40) + way(20) + way(10)),
        // 2(P-1) rounds with a part each; halves, quarters, and back.
        ("allreduce:ring", 8, 640, 14.0 * way(80)),
        ("allreduce:recursive-doubling", 8, 80, 3.0 * way(80)),
        ("allreduce:rabenseifner", 8, 64, 2.0 * (way(32) + way(16) + way(8))),
        ("reduce_scatter_block:recursive-halving", 8, 8, way(32) + way(16) + way(8)),
        // In each of 3 rounds 4 of the 8 blocks.
        ("alltoall:bruck", 8, 10, 3.0 * way(40)),
        ("alltoall:pairwise", 8, 10, 7.0 * way(10)),
        // The last rank of 8 gets the third message of the root's child, or the first of the root.
        ("bcast:binomial", 8, 1, 30.0),
        ("bcast:knomial:2", 8, 1, 30.0),
        ("bcast:linear", 8, 1, 6.0 * 4.0 + way(1)),
    ];
    for (name, P, bytes, expected) in all {
        let time = time(name, *P, *bytes);
        assert!((time - expected).abs() < 1e-6, "{name} over {P} ranks takes {time} us, and not {expected}");
    }
}

/// The messages of some algorithms by hand, as the papers draw them: rank, receiver and bytes.
#[test]
fn messages_are_those_of_the_papers() {
    let messages = |name: &str, P: usize, bytes: u64| {
        let schedule = pattern_schedule(name, P, bytes, LIBRARIES).unwrap().unwrap();
        let all = (0..P).flat_map(|rank| {
            let sends = schedule.operations(rank).filter_map(move |placed| match placed.operation {
                Operation::Send { to, bytes, .. } => Some((rank, to as usize, bytes)),
                _ => None,
            });
            sends.collect::<Vec<_>>()
        });
        all.collect::<Vec<_>>()
    };
    assert_eq!(messages("bcast:binomial", 6, 3), [(0, 1, 3), (0, 2, 3), (0, 4, 3), (1, 3, 3), (1, 5, 3)]);
    assert_eq!(messages("bcast:knomial:2", 6, 3), [(0, 4, 3), (0, 2, 3), (0, 1, 3), (2, 3, 3), (4, 5, 3)]);
    assert_eq!(messages("bcast:chain:2", 6, 3), [(0, 1, 3), (0, 4, 3), (1, 2, 3), (2, 3, 3), (4, 5, 3)]);
    assert_eq!(messages("bcast:pipeline", 3, 8), [(0, 1, 8), (1, 2, 8)]);
    // 3 ranks too many send all to their partners, and get all back.
    let all = messages("allreduce:recursive-doubling", 3, 5);
    assert_eq!(all, [(0, 1, 5), (1, 2, 5), (1, 0, 5), (2, 1, 5)]);
    // Three elements of 8 bytes in halves: the lower rank keeps one of them and sends two.
    assert_eq!(messages("allreduce:rabenseifner", 2, 24), [(0, 1, 16), (0, 1, 8), (1, 0, 8), (1, 0, 16)]);
    assert_eq!(
        messages("allgather:bruck", 3, 5),
        [(0, 2, 5), (0, 1, 5), (1, 0, 5), (1, 2, 5), (2, 1, 5), (2, 0, 5)]
    );
    assert_eq!(messages("scatter:binomial", 5, 2), [(0, 4, 2), (0, 2, 4), (0, 1, 2), (2, 3, 2)]);
}

/// A group of a larger world exchanges messages by the members' own numbers, waits for what was before, and combines.
#[test]
fn members_have_numbers_of_their_own() {
    let mut builder = ScheduleBuilder::new(6).unwrap();
    let members = [5, 1, 3];
    let combine = |bytes: u64| bytes as i64 * US;
    let rules = CollectiveRules { table: open_mpi(), combine: &combine };
    let sizes = Sizes::Same(8);
    let call = CollectiveCall { root: 2, sent: sizes, received: sizes, ..CollectiveCall::new(Reduce) };
    for rank in 0..6 {
        builder.begin_rank(rank).unwrap();
        let Some(id) = members.iter().position(|member| *member == rank as u32) else { continue };
        let before = builder.add(Operation::Calc(100 * US)).unwrap();
        let member = Member { members: &members, id, tag: 9, before: &[(before, false)] };
        rules.write(&mut builder, member, &call).unwrap();
    }
    let schedule = builder.build().unwrap();
    // Open MPI takes a binary tree: member 2, which is rank 3, gets 8 bytes of both others and combines twice.
    let sent = messages(&schedule).sent;
    assert_eq!(sent, HashMap::from([((5, 3), vec![8]), ((1, 3), vec![8])]));
    let params = Params::builder(6).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let played = Player::new(params).run(&schedule).unwrap();
    // The second one waits until it has combined the first one.
    assert_eq!(played.finishes[3], (100 + 10 + 8 + 2 + 8) * US);
}

/// Errors of tables say the line, and what would be right.
#[test]
fn tables_are_refused_with_a_line() {
    for (text, error) in [
        ("bcast 2 0", "line 1: a line has 4 or 5 words, and here are 3; give collective min-ranks min-bytes"),
        (
            "\n# all\nbroadcast 2 0 linear",
            "line 3: \"broadcast\" is no collective; give one of barrier, bcast,",
        ),
        ("bcast-ordered 2 0 linear", "line 1: \"bcast-ordered\" is no collective; give one of"),
        ("bcast two 0 linear", "line 1: \"two\" is not a number of ranks, such as 16 or pow2:16"),
        ("bcast 2 all:7 linear", "line 1: \"all:7\" is not a number of bytes, such as 4096 or total:4096"),
        ("scan 2 0 tree", "line 1: scan cannot be done by \"tree\"; give linear, recursive-doubling"),
        ("bcast 2 0 linear:3", "line 1: linear has no fan-out; give linear alone"),
        (
            "bcast 2 0 knomial:1",
            "line 1: \"knomial:1\" has too small a fan-out; give at least 2, as in knomial:4",
        ),
        ("bcast 2 0 knomial:x", "line 1: \"knomial:x\" is not an algorithm and a number, such as knomial:4"),
        ("bcast 2 0 linear 5", "line 1: linear does not divide messages into segments; give linear alone"),
        ("bcast 2 0 binary -5", "line 1: \"-5\" is not a number of bytes for segments, such as 8192"),
        (
            "scan 2 0 linear\nscan 2 0 linear",
            "line 2: scan has two lines for the same ranks and bytes; give one",
        ),
        (
            "communicator bcast:4",
            "line 1: a communicator is not made by \"bcast:4\"; give barrier, allgather or allreduce with bytes",
        ),
        ("communicator allreduce", "line 1: a communicator is not made by \"allreduce\"; give barrier,"),
        (
            "communicator barrier:0\ncommunicator",
            "line 2: there are two lines that say how a communicator is made; give one",
        ),
    ] {
        let refusal = parse_table(text).unwrap_err().to_string();
        assert!(refusal.starts_with(error), "{refusal}");
    }
    let refusal = pattern_schedule("bcast:tree", 8, 1, LIBRARIES).unwrap().unwrap_err();
    assert!(refusal.ends_with("chain-swapped, openmpi or mpich"), "{refusal}");
    assert!(pattern_schedule("tree", 8, 1, LIBRARIES).is_none());
    let long = parse_table("bcast 2 0 pipeline 1").unwrap();
    let mut builder = ScheduleBuilder::new(2).unwrap();
    builder.begin_rank(0).unwrap();
    let call = CollectiveCall { sent: Sizes::Same(1 << 40), ..CollectiveCall::new(Bcast) };
    let rules = CollectiveRules { table: &long, combine: &|_| Time::ZERO };
    let member = Member { members: &[0, 1], id: 0, tag: 0, before: &[] };
    let refusal = rules.write(&mut builder, member, &call).unwrap_err().to_string();
    assert!(refusal.ends_with("at most 16777216 segments; give longer ones"), "{refusal}");
    let call = CollectiveCall { sent: Sizes::Same(u64::MAX), ..CollectiveCall::new(Alltoall) };
    let refusal = rules.write(&mut builder, member, &call).unwrap_err().to_string();
    assert!(refusal.ends_with("over 2 ranks; give fewer"), "{refusal}");
    let refusal = pattern_schedule("alltoall:linear", 1 << 17, 8, LIBRARIES).unwrap().unwrap_err();
    assert!(refusal.contains("give fewer ranks"), "{refusal}");
}

/// A table has lines for powers of 2, for totals and for the immediate form, and the closest ones count.
#[test]
fn closest_lines_of_a_table_count() {
    let table = "allgather 2 0 bruck\nallgather 2 total:800 ring\nallgather pow2:2 0 recursive-doubling\n\
                 iallgather 5 0 linear-at-once\nreduce-ordered 2 0 linear\nreduce 2 0 binary";
    let table = parse_table(table).unwrap();
    let named = |kind, P, bytes, is_immediate, is_commutative| {
        let sizes = Sizes::Same(bytes);
        let call = CollectiveCall {
            sent: sizes,
            received: sizes,
            is_immediate,
            is_commutative,
            ..CollectiveCall::new(kind)
        };
        table.choose(&call, P).unwrap().method.name
    };
    assert_eq!(named(Allgather, 5, 100, false, true), "bruck");
    assert_eq!(named(Allgather, 7, 115, false, true), "ring");
    assert_eq!(named(Allgather, 8, 115, false, true), "recursive-doubling");
    assert_eq!(named(Allgather, 8, 115, true, true), "linear-at-once");
    assert_eq!(named(Allgather, 3, 10, true, true), "bruck");
    assert_eq!(named(Reduce, 3, 10, true, false), "linear");
    assert_eq!(named(Reduce, 3, 10, false, true), "binary");
    // It says nothing about others.
    assert_eq!(named(Barrier, 5, 0, false, true), "linear");
}

/// The messages of a library are those that it really sends. `LOGGP_MPI_MESSAGES` names files in which every line is a
/// collective of one rank, as `bcast 4 1 800 0 2:800 3:800`: of 4 ranks, with root 1 and 800 bytes, rank 0 sends 800
/// bytes to 2 and then to 3. `docs/reference/messages.c` writes them. `LOGGP_MPI_TABLE` is the name of a table [Open
/// MPI's], or a table for a library that was told what to do.
#[test]
#[ignore = "needs files from an MPI: see .ci/mpi"]
fn messages_are_those_of_the_library() {
    let files = std::env::var("LOGGP_MPI_MESSAGES").expect("LOGGP_MPI_MESSAGES names files");
    let table = std::env::var("LOGGP_MPI_TABLE").unwrap_or("openmpi".into());
    let table = table_named(&table).cloned().unwrap_or_else(|| parse_table(&table).unwrap());
    let mut wrong: BTreeMap<String, (BTreeSet<u64>, u32, String)> = BTreeMap::new();
    let mut right = 0;
    for file in files.split_whitespace() {
        for line in std::fs::read_to_string(file).unwrap().lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |place: usize| words[place].parse::<usize>().unwrap();
            let (P, root, bytes, rank) = (number(1), number(2), number(3) as u64, number(4));
            let base = words[0].strip_suffix("-ordered").unwrap_or(words[0]);
            let is_commutative = base == words[0];
            let blocking = CollectiveKind::find(base);
            let kind = blocking.or_else(|| CollectiveKind::find(&base[1..])).unwrap();
            let is_immediate = blocking.is_none();
            let case = Case { is_commutative, is_immediate, ..Case::new(kind, P, root, bytes) };
            let (schedule, _) = case.schedule(&table, Time::ZERO);
            let sends = schedule.operations(rank).filter_map(|placed| match placed.operation {
                Operation::Send { to, bytes, .. } => Some(format!("{to}:{bytes}")),
                _ => None,
            });
            let sends: Vec<String> = sends.collect();
            // To itself a rank sends no message.
            let itself = format!("{rank}:");
            if sends.iter().eq(words[5..].iter().filter(|word| !word.starts_with(&itself))) {
                right += 1;
            } else {
                let first = || (BTreeSet::new(), 0, format!("{line}, and not {}", sends.join(" ")));
                let (sizes, count, _) = wrong.entry(format!("{} of {P}", words[0])).or_insert_with(first);
                sizes.insert(bytes);
                *count += 1;
            }
        }
    }
    println!("{right} lists of messages are as the table says");
    let all = wrong
        .iter()
        .map(|(what, (sizes, count, one))| format!("{count} {what} ranks, {sizes:?} bytes, as {one}"));
    let all: Vec<String> = all.collect();
    assert!(wrong.is_empty() && right > 0, "{right} are right, and wrong are:\n{}", all.join("\n"));
}

//! Communicators and collectives.

use std::collections::HashMap;

use super::*;

pub(super) fn copies(mut rank: RankCalls, members: &[&[u32]]) -> RankCalls {
    for (number, members) in members.iter().enumerate() {
        let number_at_parent = number as u64;
        rank.communicators.push(Communicator {
            members: members.to_vec(),
            number_at_parent,
            ..Communicator::default()
        });
    }
    rank
}

/// Messages with the same tag on two communicators of the same ranks are not mixed up.
#[test]
fn communicators_are_told_apart() {
    let on = |communicator| Envelope { communicator, ..message(1, 0) };
    let send = |communicator| Send { mode: SendMode::Standard, message: on(communicator), request: None };
    let recv = |communicator| {
        let receive = Receive { communicator, taken: None, ..receive(0, 0) };
        Recv { receive, request: None }
    };
    let both: &[&[u32]] = &[&[0, 1], &[0, 1]];
    let zero = copies(rank(2, vec![(0, 0, send(2)), (0, 0, send(1))], 0), both);
    let one = copies(rank(2, vec![(0, 0, recv(1)), (0, 0, recv(2))], 0), both);
    // Sent by 2 and 6, received from 12 and from 16 on: the second one first.
    assert_eq!(ends(vec![zero, one]), [6, 18]);
}

/// A barrier of two of four ranks, and a communicator of them that takes an all-gather of all.
#[test]
fn collectives_are_of_their_communicator() {
    let barrier = || collective(CollectiveKind::Barrier, 1, 0);
    let part: &[&[u32]] = &[&[1, 3]];
    let ranks = |new: bool| {
        (0..4).map(move |id| {
            let is_in = id % 2 == 1;
            let mut calls = Vec::new();
            if new {
                calls.push((0, 0, NewCommunicator { parent: 0, new: is_in.then_some(1) }));
            }
            calls.extend(is_in.then(|| (0, 0, barrier())));
            let rank = rank(4, calls, 0);
            if is_in { copies(rank, part) } else { rank }
        })
    };
    assert_eq!(ends(ranks(false).collect()), [0, 10, 0, 10]);
    // Two rounds before: one word, and two words, of which the second one comes g later.
    assert_eq!(ends(ranks(true).collect()), [24, 34, 24, 34]);
}

/// Only the two ranks of a group call, and exchange a word.
#[test]
fn a_communicator_of_some_is_made_by_these() {
    let ranks = (0..4).map(|id| {
        let is_in = id % 2 == 1;
        let make = NewCommunicator { parent: 0, new: Some(1) };
        let mut rank = rank(4, if is_in { vec![(0, 0, make)] } else { Vec::new() }, 0);
        if is_in {
            let (members, number_at_parent) = (vec![1, 3], 1 << 32);
            rank.communicators.push(Communicator { members, number_at_parent, ..Communicator::default() });
        }
        rank
    });
    assert_eq!(ends(ranks.collect()), [0, 10, 0, 10]);
}

/// By a table a communicator is made by the collectives that the table names.
#[test]
fn a_communicator_is_made_as_the_library_makes_it() {
    let table = Some(open_mpi());
    let end = |first: &[MpiCallKind]| {
        let ranks = (0..3).map(|_| {
            let calls = first.iter().cloned().map(|kind| (0, 0, kind)).collect();
            copies(rank(3, calls, 0), &[&[0, 1, 2]])
        });
        let options = ScheduleOptions { table, ..ScheduleOptions::default() };
        let mut ranks: Vec<RankCalls> = ranks.collect();
        finishes(&schedule::read(&mut ranks, options).unwrap().schedule)
    };
    let made = end(&[NewCommunicator { parent: 0, new: Some(1) }]);
    let step = |number| {
        let MpiCallKind::Collective { kind, communicator, root, sent, received, .. } =
            collective(CollectiveKind::Allreduce, 0, 4)
        else {
            unreachable!("it is a collective")
        };
        MpiCallKind::Collective { kind, communicator, root, sent, received, request: Some(number) }
    };
    let steps: Vec<MpiCallKind> = (0..3).flat_map(|number| [step(number), wait(&[number])]).collect();
    assert_eq!(made, end(&steps));
    assert_ne!(made, end(&steps[..2]));
}

/// What goes to another rank's memory takes that one no time; locks are there at once.
#[test]
fn one_sided_calls_are_puts_gets_and_flushes() {
    let put = MpiCallKind::OneSided(OneSided::Put { to: 1, bytes: 8 });
    let get = |request| MpiCallKind::OneSided(OneSided::Get { to: 1, bytes: 0, back: 8, request });
    let flush = |is_local| MpiCallKind::OneSided(OneSided::Flush { to: Some(1), is_local });
    let fence = || (0, 0, MpiCallKind::OneSided(OneSided::Fence { window: 0 }));
    let of_one = |calls: &[MpiCallKind]| {
        let calls = calls.iter().cloned().map(|kind| (0, 0, kind)).collect();
        ends(vec![rank(2, calls, 0), rank(2, vec![], 0)])
    };
    // It enters at 2 and is there at 8, which is known at 14.
    assert_eq!(of_one(std::slice::from_ref(&put)), [2, 0]);
    assert_eq!(of_one(&[put.clone(), flush(true)]), [2, 0]);
    assert_eq!(of_one(&[put.clone(), flush(false)]), [14, 0]);
    // The answer is there at 14, and received by 16; that of the second one comes 4 later.
    assert_eq!(of_one(&[get(None), flush(true)]), [16, 0]);
    assert_eq!(of_one(&[get(Some(1)), get(Some(2)), wait(&[1, 2])]), [20, 0]);
    let lock = MpiCallKind::OneSided(OneSided::Lock { window: 0, to: Some(1), is_exclusive: true });
    let unlock = MpiCallKind::OneSided(OneSided::Unlock { window: 0, to: Some(1) });
    // 16 for the lock, 16 to 18 for the put, which is known to be there at 30; and 2 to give the lock back.
    assert_eq!(of_one(&[lock, put.clone(), unlock]), [32, 0]);
    // Rank 0 comes to the barrier at 14, and its word to rank 1 at 22.
    let calls = vec![(0, 0, put), fence()];
    assert_eq!(ends(vec![rank(2, calls, 0), rank(2, vec![fence()], 0)]), [18, 24]);
}

/// A persistent collective that is started does what an immediate one does.
#[test]
fn persistent_collectives_are_immediate_ones() {
    let barrier = |request| MpiCallKind::Collective {
        kind: CollectiveKind::Barrier,
        communicator: 0,
        root: Root::None,
        sent: Counts::Same(0),
        received: Counts::Same(0),
        request: Some(request),
    };
    let calls = |start: &dyn Fn(MpiCallKind) -> MpiCallKind, computes: i64| {
        vec![
            (0, 1, start(barrier(1))),
            (1 + computes, 30, wait(&[1])),
            (30, 31, start(barrier(2))),
            (31, 40, wait(&[2])),
        ]
    };
    let both = |start: &dyn Fn(MpiCallKind) -> MpiCallKind| {
        ends(vec![rank(2, calls(start, 5), 40), rank(2, calls(start, 0), 40)])
    };
    let persistent = both(&|kind| Start(vec![kind]));
    assert_eq!(persistent, both(&|kind| kind));
    // Rank 0 has sent by 2 and computes until 7, when it waits for the message that is there at 8. The second one is sent
    // at 10 by rank 0 and at 10 by rank 1, which had the first one at 10.
    assert_eq!(persistent, [20, 20]);
    let program =
        read(vec![rank(2, calls(&|kind| Start(vec![kind]), 5), 40), rank(2, calls(&|kind| kind, 0), 40)]);
    let group = collective_group(CollectiveKind::Barrier);
    assert!(
        program
            .ranks
            .iter()
            .all(|rank| rank.inside_ns.iter().any(|(found, ns)| *found == group && *ns == 2000))
    );
}

/// Ranks may start two persistent collectives in different orders: they belong together by the calls that made them.
#[test]
fn persistent_collectives_belong_together_by_the_calls_that_made_them() {
    let start = |made: u64, request| {
        let kind = if made == 0 { CollectiveKind::Barrier } else { CollectiveKind::Bcast };
        let root = if made == 0 { Root::None } else { Root::Rank(0) };
        let each = || Counts::Same(made);
        let collective = MpiCallKind::Collective {
            kind,
            communicator: 0,
            root,
            sent: each(),
            received: each(),
            request: Some(request),
        };
        MpiCallKind::StartCollective { made, collective: Box::new(collective) }
    };
    let calls = |first: u64| {
        let round = |number: i64| {
            let (at, request) = (20 * number, 2 * number as u64);
            vec![
                (at, at, start(first, request)),
                (at, at, start(1 - first, request + 1)),
                (at, at + 20, wait(&[request, request + 1])),
            ]
        };
        [round(0), round(1)].concat()
    };
    let two = |second: u64| vec![rank(2, calls(0), 40), rank(2, calls(second), 40)];
    // Rank 0 sends by 2 and 6, has the word of the barrier at 10 and sends again by 12 and 16; rank 1 has the broadcast at 14.
    assert_eq!(ends(two(1)), [24, 24]);
    // One that others never start is an error.
    let mut one = calls(0);
    one.retain(|(.., kind)| !matches!(kind, MpiCallKind::StartCollective { made: 1, .. }));
    one.iter_mut().for_each(|(.., kind)| {
        if let MpiCallKind::Complete { requests, .. } = kind {
            requests.truncate(1);
        }
    });
    let mut ranks = vec![rank(2, calls(0), 40), rank(2, one, 40)];
    let mistaken = schedule::read(&mut ranks, ScheduleOptions::default()).unwrap_err().to_string();
    assert!(
        mistaken.contains("started a persistent collective of all ranks 2 times, and others never did"),
        "{mistaken}"
    );
}

/// Returns how many bytes each rank sends to each other, and receives from it by the lengths of its receives.
pub(super) fn traffic(schedule: &Schedule) -> [HashMap<(u32, u32), u64>; 2] {
    let mut all = [HashMap::new(), HashMap::new()];
    for rank in 0..schedule.ranks() {
        for placed in schedule.operations(rank) {
            let (side, pair, bytes) = match placed.operation {
                Operation::Send { to, bytes, .. } => (0, (rank as u32, to), bytes),
                Operation::Recv { from, bytes, .. } => (1, (from.unwrap(), rank as u32), bytes),
                _ => continue,
            };
            *all[side].entry(pair).or_insert(0) += bytes;
        }
    }
    all
}

#[test]
fn collectives_with_counts_send_these() {
    let kinds = [
        CollectiveKind::Gatherv,
        CollectiveKind::Scatterv,
        CollectiveKind::Allgatherv,
        CollectiveKind::Alltoallv,
        CollectiveKind::Alltoallw,
        CollectiveKind::ReduceScatter,
    ];
    let count = |from: u64, to: u64| 10 * from + to;
    for (kind, table) in kinds.into_iter().flat_map(|kind| [(kind, None), (kind, Some(open_mpi()))]) {
        let P = 3_u64;
        let ranks = (0..P).map(|id| {
            let each = |of: &dyn Fn(u64) -> u64| Counts::Each((0..P).map(of).collect());
            let (sent, received) = match kind {
                CollectiveKind::Gatherv if id == 1 => {
                    (Counts::Same(count(id, 1)), each(&|from| count(from, 1)))
                }
                CollectiveKind::Gatherv => (Counts::Same(count(id, 1)), Counts::Same(0)),
                CollectiveKind::Scatterv if id == 1 => (each(&|to| count(1, to)), Counts::Same(count(1, id))),
                CollectiveKind::Scatterv => (Counts::Same(0), Counts::Same(count(1, id))),
                CollectiveKind::Allgatherv => (Counts::Same(5 + id), each(&|from| 5 + from)),
                CollectiveKind::ReduceScatter => (each(&|to| 5 + to), Counts::Same(5 + id)),
                _ => (each(&|to| count(id, to)), each(&|from| count(from, id))),
            };
            let root = if kind.has_root() { Root::Rank(1) } else { Root::None };
            let kind = MpiCallKind::Collective { kind, communicator: 0, root, sent, received, request: None };
            rank(P as usize, vec![(0, 0, kind)], 0)
        });
        let mut ranks: Vec<RankCalls> = ranks.collect();
        let options = ScheduleOptions { table, ..ScheduleOptions::default() };
        let program = schedule::read(&mut ranks, options).unwrap();
        let [sent, received] = traffic(&program.schedule);
        player().run(&program.schedule).unwrap_or_else(|error| panic!("{kind:?}: {error}"));
        let whole = |traffic: &HashMap<_, u64>| traffic.values().sum::<u64>();
        assert!(whole(&sent) > 0 && sent == received, "{kind:?}: {sent:?} {received:?}");
        if matches!(kind, CollectiveKind::Alltoallv | CollectiveKind::Alltoallw) {
            let pairs =
                (0..3).flat_map(|from| (0..3).map(move |to| (from, to))).filter(|(from, to)| from != to);
            let expected: HashMap<_, _> =
                pairs.map(|(from, to)| ((from, to), count(from.into(), to.into()))).collect();
            assert_eq!(sent, expected, "{kind:?}");
        }
    }
}

/// Neighbours of a ring, of which the last one has nobody after it.
#[test]
fn neighbours_exchange_with_each_other() {
    for table in [None, Some(open_mpi())] {
        let ranks = (0..3_u32).map(|id| {
            let (after, before) = ((id < 2).then_some(id + 1), id.checked_sub(1));
            let (sent, received) = (Counts::Each(vec![u64::from(id) + 1]), Counts::Each(vec![u64::from(id)]));
            let kind = CollectiveKind::NeighborAlltoallv;
            let kind = MpiCallKind::Collective {
                kind,
                communicator: 0,
                root: Root::None,
                sent,
                received,
                request: None,
            };
            let mut rank = rank(3, vec![(0, 0, kind)], 0);
            rank.communicators[0].destinations = vec![after];
            rank.communicators[0].sources = vec![before];
            rank
        });
        let options = ScheduleOptions { table, ..ScheduleOptions::default() };
        let program = schedule::read(&mut ranks.collect::<Vec<_>>(), options).unwrap();
        let [sent, received] = traffic(&program.schedule);
        assert_eq!(sent, HashMap::from([((0, 1), 1), ((1, 2), 2)]));
        assert_eq!(sent, received);
    }
}

/// Two groups, each of which names the other one.
#[test]
fn groups_exchange_with_each_other() {
    let program = |kind: CollectiveKind, roots: [Root; 3]| {
        let ranks = (0..3_u32).zip(roots).map(|(id, root)| {
            let (members, remote) = if id < 1 { (vec![0], vec![1, 2]) } else { (vec![1, 2], vec![0]) };
            let (sent, received) = (Counts::Same(4), Counts::Same(4));
            let call = MpiCallKind::Collective { kind, communicator: 1, root, sent, received, request: None };
            let mut rank = rank(3, vec![(0, 0, call)], 0);
            let number_at_parent = 1 << 32;
            rank.communicators.push(Communicator {
                members,
                remote: Some(remote),
                number_at_parent,
                ..Communicator::default()
            });
            rank
        });
        let schedule = read(ranks.collect()).schedule;
        let [sent, received] = traffic(&schedule);
        assert_eq!(sent, received);
        player().run(&schedule).unwrap();
        sent
    };
    let down = HashMap::from([((0, 1), 4), ((0, 2), 4)]);
    assert_eq!(program(CollectiveKind::Bcast, [Root::This, Root::Rank(0), Root::Rank(0)]), down);
    let one = program(CollectiveKind::Reduce, [Root::Rank(1), Root::Nobody, Root::This]);
    assert_eq!(one, HashMap::from([((0, 2), 4)]));
    let all = program(CollectiveKind::Allgather, [Root::None; 3]);
    assert_eq!(all, HashMap::from([((0, 1), 4), ((0, 2), 4), ((1, 0), 4), ((2, 0), 4)]));
}

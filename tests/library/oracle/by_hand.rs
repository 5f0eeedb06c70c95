//! Programs small enough for hand-computed times.

use loggp::{PS, Params, Ports, Protocol};

use crate::drawn::program::Op::*;
use crate::drawn::program::{Case, Op, Pattern, RequestKind};

/// A program and a machine, with the time at which each processor finishes, and the times for which it stalls
/// and waits for its port.
pub(crate) struct ByHand {
    pub case: Case,
    pub finish: Vec<i64>,
    pub stall: Vec<i64>,
    pub port: Vec<i64>,
}

/// Creates a case that neither stalls nor waits for a port.
pub(crate) fn by_hand(parameters: &str, program: &[&[Op]], finish: &[i64]) -> ByHand {
    let params = Params::builder(program.len()).cycle(PS).word(1).set(parameters).unwrap().build().unwrap();
    let none = vec![0; program.len()];
    let case = Case { barrier: Some(3), ..Case::new(params, program) };
    ByHand { case, finish: finish.to_vec(), stall: none.clone(), port: none }
}

impl ByHand {
    fn dual(mut self) -> ByHand {
        self.case.ports = Ports::Dual;
        self
    }

    fn pull(mut self) -> ByHand {
        self.case.rendezvous = Protocol::Pull;
        self
    }

    fn stall(self, stall: &[i64]) -> ByHand {
        ByHand { stall: stall.to_vec(), ..self }
    }

    fn port(self, port: &[i64]) -> ByHand {
        ByHand { port: port.to_vec(), ..self }
    }
}

fn short(to: usize) -> Op {
    Send { to, tag: 0, words: 1 }
}

pub(crate) fn long(to: usize, words: usize) -> Op {
    Send { to, tag: 0, words }
}

pub(crate) fn all_by_hand() -> Vec<ByHand> {
    let look = |looks| Poll { pattern: Pattern { from: None, tag: Some(0) }, looks };
    let self_send = || by_hand("L=1, G=1", &[&[long(0, 6)]], &[10]);
    let beside = |finish: &[i64]| {
        let sends = [Wait(5), long(2, 5), long(2, 11)];
        by_hand("L=10, G=1", &[&sends, &[long(0, 11)], &[]], finish)
    };
    vec![
        // 1's second message asks only at 12, when the gap is over; so 2's enters at 5 without a stall.
        by_hand("L=2, o=2, g=10", &[&[], &[short(2), short(0)], &[Work(3), short(0)]], &[19, 12, 7]),
        // Messages that ask at the same moment are served by number. With a capacity of 1 the other stalls.
        by_hand("L=4, g=4", &[&[], &[short(0)], &[short(0)]], &[8, 0, 4]).stall(&[0, 0, 4]),
        by_hand("L=8, g=4", &[&[], &[short(0)], &[short(0)]], &[12, 0, 0]),
        // Long messages to one processor arrive one after the other; from one, they are also a gap apart.
        by_hand(
            "L=100, o=2, g=20, G=1",
            &[&[], &[long(0, 101)], &[long(0, 101)], &[long(0, 101)]],
            &[404, 2, 2, 2],
        ),
        by_hand("L=100, o=2, g=20, G=1", &[&[long(1, 101), long(1, 101), long(1, 101)], &[]], &[242, 444]),
        // Where L = 0 a word is never in transit, so it needs no capacity; a long message does.
        by_hand("L=0, g=4, G=1", &[&[], &[long(0, 11)], &[short(0)], &[long(0, 11)]], &[20, 0, 0, 10])
            .stall(&[0, 0, 0, 10]),
        // 0's port receives in [10, 20): the shorter message fits before that and the longer one does not.
        beside(&[20, 0, 40]).port(&[11, 0, 0]),
        beside(&[20, 0, 29]).dual(),
        // 2's message enters at 14, after its receptions. Before that there is capacity for two messages from
        // 3, and for the third when 2's has arrived.
        by_hand(
            "L=4, g=4, G=1",
            &[&[], &[long(2, 11)], &[Wait(3), long(0, 3)], &[Wait(5), short(0), short(0), short(0)]],
            &[24, 0, 14, 20],
        )
        .port(&[0, 0, 11, 0])
        .stall(&[0, 0, 0, 7]),
        // A processor that sends to itself needs a single port twice.
        self_send(),
        by_hand("L=1, G=1", &[&[long(0, 6)]], &[6]).dual(),
        // A message that takes no time is seen from the next moment on, whichever processor is first by
        // number; one from the processor itself is seen at once.
        by_hand("", &[&[Wait(5), short(1)], &[Wait(5), look(3)]], &[5, 6]),
        by_hand("", &[&[Wait(5), look(3)], &[Wait(5), short(0)]], &[6, 5]),
        by_hand("", &[&[short(0), look(3)]], &[0]),
        // A look that starts in time may end late; one within the gap finds nothing.
        by_hand(
            "L=4, o=3",
            &[&[short(1)], &[Until { pattern: Pattern { from: None, tag: Some(0) }, wait: 7 }]],
            &[3, 10],
        ),
        by_hand(
            "L=4, o=3, g=9",
            &[
                &[short(1), short(1)],
                &[Until { pattern: Pattern { from: None, tag: Some(0) }, wait: 20 }, look(9)],
            ],
            &[12, 19],
        ),
        // Two messages arrive at 8, and their receptions are a gap apart; after a pause the gap is over.
        by_hand("L=6, o=2, g=4", &[&[], &[short(0)], &[short(0)], &[Work(20), short(0)]], &[30, 2, 2, 22]),
        // The message of the larger number arrives first, at 28, though announced last; the other one at 46.
        by_hand("L=6, o=2", &[&[], &[Wait(30), short(2)], &[Wait(20), short(0)]], &[30, 32, 40]),
        // While its gap runs, 0 receives from 10 to 12.
        by_hand(
            "L=8, o=2, g=20",
            &[&[short(1), SendReceiving { to: 1, tag: 0, words: 1, taking: 0 }], &[short(0)]],
            &[22, 32],
        ),
        // The machine's own barrier costs 3.
        by_hand("", &[&[Work(5), Barrier], &[Barrier, Work(1)]], &[8, 9]),
        // The request arrives at 6, the reply at 13, and the data, which stream for 3, at 26.
        by_hand("L=5, o=1, s=2, S=2, O_s=1, O_r=1, G_s=1, G_l=1", &[&[long(1, 3)], &[]], &[18, 30]),
        // It arrives at 6, before its overhead is over.
        by_hand("L=1, o=1, s=0, O_s=2, G_l=-1", &[&[long(1, 4)], &[]], &[9, 7]),
    ]
    .into_iter()
    .chain(exchanges_by_hand())
    .chain(requests_by_hand())
    .collect()
}

/// A message that arrives while the gap runs is received there if that is over before the send at 20.
fn exchanges_by_hand() -> impl Iterator<Item = ByHand> {
    [(0, 22, 30), (10, 22, 30), (12, 24, 32), (13, 24, 30), (40, 50, 44)].into_iter().map(
        |(sends_at, one, other)| {
            let exchange = SendRecv { to: 1, tag: 0, words: 1, from: 1 };
            let program: [&[Op]; 3] =
                [&[Send { to: 2, tag: 1, words: 1 }, exchange], &[Wait(sends_at), short(0)], &[]];
            by_hand("L=6, o=2, g=20", &program, &[one, other, 10])
        },
    )
}

fn isend(to: usize, words: usize) -> Op {
    Isend { to, tag: 0, words }
}

fn irecv(from: Option<usize>) -> Op {
    Irecv(Pattern { from, tag: Some(0) })
}

fn requests_by_hand() -> Vec<ByHand> {
    let exchange = |other| [isend(other, 3), Recv { pattern: Pattern { from: None, tag: Some(0) }, upto: 1 }];
    vec![
        // o for the request, 100 of work, and o for the wait: the message arrived at 8, and was received at
        // 10.
        by_hand(
            "L=6ps, o=2ps, g=4ps",
            &[
                &[isend(1, 1), Work(100), WaitAll(RequestKind::Isend)],
                &[irecv(None), Work(100), WaitAll(RequestKind::Irecv)],
            ],
            &[104, 104],
        ),
        // The message arrives at 28 and is received at 30, which a test sees, for o.
        by_hand(
            "L=6ps, o=2ps, g=4ps",
            &[&[Work(20), short(1)], &[irecv(None), Test { how: RequestKind::Irecv, place: 0, looks: 40 }]],
            &[22, 32],
        ),
        // 2's message is received at 15, and 1's, which arrives at 58, at 60.
        by_hand(
            "L=6ps, o=2ps, g=4ps",
            &[
                &[
                    irecv(Some(1)),
                    irecv(Some(2)),
                    WaitAny(RequestKind::IrecvFrom),
                    WaitAny(RequestKind::IrecvFrom),
                ],
                &[Work(50), short(0)],
                &[Work(5), short(0)],
            ],
            &[60, 52, 7],
        ),
        // The request arrives at 6 and is received at 7, the reply at 13 and 14, and the data arrive at 20.
        // The wait takes o.
        by_hand("L=5ps, o=1ps, s=2, S=2", &[&exchange(1), &exchange(0)], &[22, 22]),
        // The request arrives at 8 and is received at 10. The reader spends o, and L until 18. The data arrive at 34
        // and are received at 36, which takes o more to say, until 38; and that arrives at 44.
        by_hand("L=6ps, o=2ps, g=0, G_s=1ps, G_l=1ps, s=4, S=4", &[&[long(1, 10)], &[]], &[46, 38]).pull(),
        // The sender computes meanwhile. If it is pushed, its request does what the sender would do.
        by_hand(
            "L=6ps, o=2ps, g=0, G_s=1ps, G_l=1ps, s=4, S=4",
            &[&[isend(1, 10), Work(100), WaitAll(RequestKind::Isend)], &[]],
            &[104, 38],
        )
        .pull(),
        // Both could read at 18, and each has one port. 1's data leave then, and come to 0 from 24 to 34; so 0's leave
        // at 34, and arrive at 50. 1 says at 54 that it has them, and then takes what 0 said at 38.
        by_hand(
            "L=6ps, o=2ps, g=0, G_s=1ps, G_l=1ps, s=4, S=4",
            &[
                &[SendRecv { to: 1, tag: 0, words: 10, from: 1 }],
                &[SendRecv { to: 0, tag: 0, words: 10, from: 0 }],
            ],
            &[62, 56],
        )
        .pull()
        .port(&[0, 16]),
        // Each processor receives from its left neighbour.
        by_hand(
            "L=6ps, o=2ps, g=4ps",
            &[
                &[SendRecv { to: 1, tag: 0, words: 1, from: 2 }],
                &[SendRecv { to: 2, tag: 0, words: 1, from: 0 }],
                &[SendRecv { to: 0, tag: 0, words: 1, from: 1 }],
            ],
            &[10, 10, 10],
        ),
        // The message arrives at 8, and a look costs 1.
        by_hand(
            "L=6ps, o=2ps",
            &[&[short(1)], &[Probe { pattern: Pattern { from: None, tag: Some(0) }, looks: 9 }]],
            &[2, 11],
        ),
        // The request enters first, at 2; so the second message enters at 6, and one that arrives at 4 is
        // received by then.
        by_hand(
            "L=2ps, o=2ps, g=4ps, G=0",
            &[&[isend(0, 1), SendReceiving { to: 1, tag: 1, words: 1, taking: 0 }], &[]],
            &[10, 12],
        ),
        // Three messages arrive at 9. The first goes to the second request, and the next to the call that is
        // made meanwhile, at 11: so its work ends at 16. The third is received at 13, by the first request.
        by_hand(
            "L=9ps, o=0, g=2ps",
            &[
                &[short(3)],
                &[short(3)],
                &[short(3)],
                &[
                    Irecv(Pattern { from: Some(2), tag: Some(0) }),
                    Irecv(Pattern { from: None, tag: Some(0) }),
                    Recv { pattern: Pattern { from: None, tag: Some(0) }, upto: 1 },
                    Work(5),
                ],
            ],
            &[0, 0, 0, 16],
        ),
        // An answer and a message of the memory's processor, of the same number, arrive at 14. The message is received
        // until 16, and the answer from 18 on.
        by_hand(
            "L=6ps, o=2ps, g=4ps",
            &[
                &[
                    PostGet { to: 1, asked: 1, back: 1 },
                    Recv { pattern: Pattern { from: Some(1), tag: None }, upto: 1 },
                    WaitFor { how: RequestKind::Get, place: 0 },
                ],
                &[Put { to: 0, words: 1 }, Wait(4), short(0)],
            ],
            &[20, 8],
        ),
    ]
}

//! Tests of the rules of the network, first by the papers' examples, then by brute force on random traffic.

use proptest::prelude::*;

use super::*;
use crate::params::LogGps;
use crate::time::PS;

/// A network with the sending sides of its processors. Times are in picoseconds, which stand for cycles.
struct TestNetwork {
    network: Network,
    ingresses: Vec<Ingress>,
    egresses: Vec<Egress>,
}

impl TestNetwork {
    fn new(params: Params, ports: Ports, latency: Latency) -> TestNetwork {
        let network = Network::new(params, &[], ports, latency);
        let egresses = (0..params.P).map(|x| network.new_egress(x)).collect();
        let ingresses = (0..network.ingress_count()).map(|_| Ingress::default()).collect();
        TestNetwork { network, ingresses, egresses }
    }

    /// Creates a network of eight processors, with the parameters in cycles.
    fn with_params(parameters: &str) -> TestNetwork {
        TestNetwork::new(params(parameters), Ports::Single, Latency::Exact)
    }

    /// Sends k words from `x` to `y` at `t`. Calls must be in the order in which messages are ready.
    fn send(&mut self, x: usize, y: usize, k: usize, t: i64) -> Passage {
        let departure = self.network.prepare_departure(&mut self.egresses[x], y, k, t * PS);
        self.network.serve(&mut *self.ingresses, &mut self.egresses[x], y, &departure)
    }

    /// Sends a message, and returns its entry and its arrival.
    fn send_times(&mut self, x: usize, y: usize, k: usize, t: i64) -> (i64, i64) {
        let passage = self.send(x, y, k, t);
        (passage.enter.as_ps(), passage.arrival.as_ps())
    }
}

fn params(parameters: &str) -> Params {
    Params::builder(8).cycle(PS).set(parameters).unwrap().build().unwrap()
}

#[test]
fn passage_notes_a_message_served_after_a_later_entry() {
    let mut net = TestNetwork::with_params("L=6, o=2, g=4");
    let out_of_order = [(0, 10), (2, 0), (3, 10), (4, 11)].map(|(x, t)| net.send(x, 1, 1, t).out_of_order);
    assert_eq!(out_of_order, [false, true, false, false]);
}

#[test]
fn surcharge_is_for_longer_messages_only() {
    let surcharge = Surcharge { above: 3, send: 5 * PS, stream: 7 * PS, ..Surcharge::default() };
    let params = params("L=6, o=2, g=4, G=1");
    let choice = Arc::new(Choice::new(&params, Latency::Exact, Ties::default()));
    let network = Network::with_choice(params, Transport::default(), &[], choice, surcharge);
    let costs = [1, 3, 4]
        .map(|k| network.levels.iter().next().unwrap().message_costs(k))
        .map(|costs| (costs.send, costs.stream));
    assert_eq!(costs, [(2, 0), (2, 2), (7, 10)].map(|(send, stream)| (send * PS, stream * PS)));
}

/// An act can cause another in the same instant only if a message may take no time. Then all messages are visible, as
/// they are where the capacity is limited.
#[test]
fn lookahead_is_zero_if_messages_may_take_no_time() {
    let lookahead = |parameters: &str, P: usize, latency: Latency| {
        let network = TestNetwork::new(Params { P, ..params(parameters) }, Ports::Single, latency).network;
        (network.lookahead().as_ps(), network.is_always_visible)
    };
    assert_eq!(lookahead("L=6, o=2, g=4", 8, Latency::Exact), (8, true));
    assert_eq!(lookahead("L=6, o=2, g=0", 8, Latency::Exact), (8, false));
    assert_eq!(lookahead("L=6, o=2, g=0", 8, Latency::Random { seed: 1 }), (2, false));
    assert_eq!(lookahead("L=6, o=0, g=0", 8, Latency::Random { seed: 1 }), (0, true));
    assert_eq!(lookahead("L=0, o=0, g=0", 2, Latency::Exact), (0, true));
}

/// LogP, figure 3: the source's children have the datum at 10, 14, 18 and 22.
#[test]
fn short_message_takes_o_and_l_and_the_next_enters_after_g() {
    let mut net = TestNetwork::with_params("L=6, o=2, g=4");
    let mut t = 0;
    for (child, label) in [(1, 10), (2, 14), (3, 18), (4, 22)] {
        let (enter, arrival) = net.send_times(0, child, 1, t);
        assert_eq!((enter, arrival + 2), (label - 8, label));
        t = enter;
    }
}

/// The overhead may be longer than the gap, which it overlaps: one message every max(g, o).
#[test]
fn messages_enter_every_o_if_that_is_more_than_g() {
    let mut net = TestNetwork::with_params("L=6, o=5, g=4");
    assert_eq!(net.send_times(0, 1, 1, 0), (5, 11));
    assert_eq!(net.send_times(0, 1, 1, 5), (10, 16));
    // After a pause the gap is long over.
    assert_eq!(net.send_times(0, 1, 1, 50), (55, 61));
}

/// LogGP, figure 1: the first word of the second message enters at o + (k1-1)G + g.
#[test]
fn two_long_messages_in_a_row() {
    let mut net = TestNetwork::with_params("L=7, o=1, g=5, G=2");
    let (o, L, g, G, k1, k2) = (1, 7, 5, 2, 4, 3);
    let first = net.send_times(0, 1, k1 as usize, 0);
    assert_eq!(first, (o, o + (k1 - 1) * G + L));
    let second = net.send_times(0, 1, k2 as usize, first.0);
    let enter = o + (k1 - 1) * G + g;
    assert_eq!(second, (enter, enter + (k2 - 1) * G + L));
    assert_eq!(second, (12, 23));
}

/// LogP, section 3: at most ceil(L/g) messages are in transit to a processor; the sender of one more stalls.
#[test]
fn the_third_message_stalls_until_the_first_arrives() {
    let mut net = TestNetwork::with_params("L=6, o=2, g=4");
    assert_eq!(net.network.params().capacity(), Some(2));
    assert_eq!(net.send_times(1, 0, 1, 0), (2, 8));
    assert_eq!(net.send_times(2, 0, 1, 0), (2, 8));
    let third = net.send(3, 0, 1, 0);
    assert_eq!((third.ready, third.admitted, third.enter), (2 * PS, 8 * PS, 8 * PS));
    // Both slots are free again at 8, so the fourth message enters with the third, and the fifth waits for
    // these two.
    assert_eq!(net.send_times(4, 0, 1, 1), (8, 14));
    assert_eq!(net.send_times(5, 0, 1, 2), (14, 20));
    // Messages to another processor do not stall.
    assert_eq!(net.send_times(6, 7, 1, 2), (4, 10));
    assert_eq!(net.ingresses[0].most_in_transit(), 2);
    assert_eq!(net.ingresses[7].most_in_transit(), 1);
}

/// The capacity holds at the sender too: a message that its receiver's port holds back keeps its slot.
#[test]
fn message_held_up_at_its_receiver_stalls_its_sender() {
    let mut net = TestNetwork::with_params("L=4, o=0, g=2, G=1");
    assert_eq!(net.send_times(1, 0, 21, 0), (0, 24)); // at processor 0's port during [4, 24)
    assert_eq!(net.send_times(2, 0, 6, 0), (0, 29)); // during [24, 29)
    assert_eq!(net.send_times(2, 3, 1, 0), (7, 11));
    let third = net.send(2, 3, 1, 8);
    assert_eq!((third.ready, third.enter), (9 * PS, 11 * PS)); // the first still holds one of two slots
    assert_eq!(net.egresses[2].most_in_transit(), 2);
}

/// LogGP, section 2: with a single port a processor sends or receives, but not both at once.
#[test]
fn single_port_serves_one_direction_at_a_time_and_dual_ports_both() {
    for (ports, enter) in [(Ports::Single, 14), (Ports::Dual, 6)] {
        let mut net = TestNetwork::new(params("L=4, g=1, G=1"), ports, Latency::Exact);
        assert_eq!(net.send_times(0, 1, 11, 0), (0, 14)); // at processor 1 during [4, 14)
        let answer = net.send(1, 2, 4, 6);
        assert_eq!((answer.ready, answer.admitted), (6 * PS, 6 * PS));
        assert_eq!(answer.enter, enter * PS, "{ports:?}");
    }
}

#[test]
fn short_message_occupies_no_port() {
    let mut net = TestNetwork::with_params("L=4, g=1, G=1");
    assert_eq!(net.send_times(0, 1, 11, 0), (0, 14));
    assert_eq!(net.send_times(1, 2, 1, 6), (6, 10));
    assert_eq!(net.send_times(3, 1, 1, 6), (6, 10));
}

/// A message takes the earliest free interval of its receiver's port that is long enough.
#[test]
fn message_fits_into_a_free_interval() {
    let mut net = TestNetwork::with_params("L=4, g=1, G=1");
    assert_eq!(net.send(1, 0, 4, 0).first, 4 * PS); // [4, 7)
    assert_eq!(net.send_times(2, 5, 16, 0), (0, 19));
    assert_eq!(net.send(2, 0, 11, 0).first, 20 * PS); // [20, 30)
    assert_eq!(net.send(3, 0, 4, 1).first, 7 * PS); // [7, 10)
    assert_eq!(net.send(4, 0, 15, 2).first, 30 * PS); // 14 cycles: not in [10, 20)
}

/// LogGPS, table 5: the Cenju-4, Myrinet and Fast Ethernet.
const TABLE_5: [&str; 3] = [
    "L=0.64us, o=7.82us, O_s=7.63ns, O_r=12.77ns, G_s=0.57ns, G_l=-12.74ns, s=1028, S=1028, word=1",
    "L=1.16us, o=6.55us, O_s=6.86ns, O_r=2.57ns, G_s=15.48ns, G_l=-0.74ns, s=8191, S=16383, word=1",
    "L=35.22us, o=20.59us, O_s=10.67ns, O_r=5.87ns, G_s=191.89ns, G_l=74.95ns, s=1023, S=16383, word=1",
];

/// LogGPS, table 3: T1 + T2 + T3 up to s words, T1 + T2' + T3 up to S.
#[test]
fn loggps_table_3() {
    for name in TABLE_5 {
        let params = Params::builder(16).set(name).unwrap().build().unwrap();
        let gps = params.gps().unwrap();
        for k in [0, 1, 100, gps.s - 1, gps.s, gps.s + 1, gps.S - 1, gps.S] {
            let k = k.min(gps.S);
            let mut net = TestNetwork::new(params, Ports::Single, Latency::Exact);
            let passage = net.send(0, 1, k, 0);
            let (n, s) = (k as i64, gps.s as i64);
            let t_1 = params.o + n * gps.O_s;
            let t_2 = params.L + if n <= s { n * gps.G_s } else { s * gps.G_s + (n - s) * gps.G_l };
            let t_3 = params.o + n * gps.O_r;
            assert_eq!(passage.enter, t_1, "{name}, {k}");
            assert_eq!(passage.arrival + params.recv_overhead(k), t_1 + t_2 + t_3, "{name}, {k}");
            assert!(!params.is_synchronous(k) && params.is_synchronous(gps.S + 1));
        }
    }
}

#[test]
fn cm5_has_two_messages_in_transit() {
    let cm5 = Params::builder(128).set("L=6us, o=2us, g=4us, word=16").unwrap().build().unwrap();
    let mut net = TestNetwork::new(cm5, Ports::Single, Latency::Exact);
    let entries: Vec<Time> = (1..8).map(|x| net.send(x, 0, 1, 0).enter).collect();
    let us = |n: i64| n * crate::time::US;
    assert_eq!(entries, [us(2), us(2), us(8), us(8), us(14), us(14), us(20)]);
    assert_eq!(net.ingresses[0].most_in_transit(), 2);
}

/// With G_l below 0 a message may arrive before its send overhead ends, but not before its send.
#[test]
fn longest_message_arrives_when_it_is_sent() {
    let cenju4 = Params::builder(16).set(TABLE_5[0]).unwrap().build().unwrap();
    let longest = cenju4.longest_message().unwrap();
    assert_eq!(longest, 4333);
    let mut net = TestNetwork::new(cenju4, Ports::Single, Latency::Exact);
    let passage = net.send(0, 1, longest, 0);
    assert!(Time::ZERO <= passage.arrival && passage.arrival < passage.enter);
    let one_more = TestNetwork::new(cenju4, Ports::Single, Latency::Exact).send(0, 1, longest + 1, 0);
    assert!(one_more.arrival < Time::ZERO);
}

/// A message that arrives before it enters, by a negative G_l, is never in transit. It takes no room, and
/// must not hide the room that another message takes.
#[test]
fn message_that_is_never_in_transit_takes_no_room() {
    let mut net = TestNetwork::with_params("L=10, o=0, g=10, s=1, O_s=4, G_l=-5");
    assert_eq!(net.network.params().capacity(), Some(1));
    assert_eq!(net.send_times(1, 0, 1, 0), (4, 14));
    assert_eq!(net.send_times(2, 0, 4, 0), (16, 11));
    assert_eq!(net.send_times(3, 0, 1, 1), (14, 24));
}

#[test]
fn random_latencies_depend_on_seed_and_sender() {
    let draw = |seed: u64, x: usize| -> Vec<i64> {
        let mut net = TestNetwork::new(params("L=1000000"), Ports::Single, Latency::Random { seed });
        (0..100).map(|_| net.send_times(x, 7, 1, 0).1).collect()
    };
    assert_eq!(draw(1, 0), draw(1, 0));
    assert_ne!(draw(1, 0), draw(2, 0));
    assert_ne!(draw(1, 0), draw(1, 1));
    let (least, most) = (draw(1, 0).into_iter().min().unwrap(), draw(1, 0).into_iter().max().unwrap());
    assert!((0..100_000).contains(&least) && (900_000..=1_000_000).contains(&most));
}

/// A machine and its sends: sender, receiver, words, and the sender's pause before.
#[derive(Clone, Debug)]
struct RandomTraffic {
    params: Params,
    ports: Ports,
    latency: Latency,
    sends: Vec<(usize, usize, usize, i64)>,
}

/// A message that was sent at `t`.
#[derive(Clone, Debug, PartialEq)]
struct ServedMessage {
    x: usize,
    y: usize,
    k: usize,
    t: Time,
    passage: Passage,
}

impl ServedMessage {
    /// Returns the time for which the message occupies the port at each of its ends.
    fn stream(&self) -> Time {
        (self.passage.arrival - self.passage.first).max(Time::ZERO)
    }

    /// Returns the end of the last reservation of the message.
    fn end(&self) -> Time {
        self.passage.arrival.max(self.passage.enter + self.stream())
    }

    fn shares_an_end_with(&self, other: &ServedMessage) -> bool {
        [self.x, self.y].iter().any(|end| [other.x, other.y].contains(end))
    }
}

prop_compose! {
    fn gps()(s in 0_usize..8, more in 0_usize..8, O_s in 0_i64..3, O_r in 0_i64..3, G_s in 0_i64..4,
             G_l in -3_i64..4) -> LogGps {
        LogGps { s, S: s + more, O_s: O_s * PS, O_r: O_r * PS, G_s: G_s * PS, G_l: G_l * PS }
    }
}

prop_compose! {
    fn machine()(P in 2_usize..6, L in 0_i64..40, o in 0_i64..6, g in 0_i64..12, G in 0_i64..5,
                 gps in proptest::option::weighted(0.2, gps())) -> Option<Params> {
        let loggp = Params::builder(P).cycle(PS).L(L * PS).o(o * PS).g(g * PS).G(G * PS);
        match gps {
            Some(gps) => loggp.gps(gps),
            None => loggp,
        }
        .build()
        .ok()
    }
}

fn traffic() -> impl Strategy<Value = RandomTraffic> {
    let machine = machine().prop_filter_map("no machine has such parameters", |params| params);
    let ports = prop_oneof![Just(Ports::Single), Just(Ports::Dual)];
    let latency = prop_oneof![Just(Latency::Exact), any::<u64>().prop_map(|seed| Latency::Random { seed })];
    (machine, ports, latency).prop_flat_map(|(params, ports, latency)| {
        let longest = params.longest_message().unwrap_or(usize::MAX).min(30);
        // Half of the messages are short, and most senders are in a hurry.
        let words = prop_oneof![Just(1_usize), 1..=longest.max(1)];
        let pause = prop_oneof![Just(0_i64), 0_i64..30];
        proptest::collection::vec((0..params.P, 0..params.P, words, pause), 1..60)
            .prop_map(move |sends| RandomTraffic { params, ports, latency, sends })
    })
}

impl RandomTraffic {
    /// Sends all messages. Each processor sends its own in order, and the earliest processor goes first, as
    /// on a clock.
    fn play(&self) -> (Vec<ServedMessage>, TestNetwork) {
        let mut net = TestNetwork::new(self.params, self.ports, self.latency);
        let mut queues = vec![std::collections::VecDeque::new(); self.params.P];
        for &(x, y, k, pause) in &self.sends {
            queues[x].push_back((y, k, pause * PS));
        }
        // The send that each processor has called, with its departure.
        let mut called: Vec<Option<(Departure, usize, usize, Time)>> = vec![None; self.params.P];
        let mut call = |net: &mut TestNetwork, x: usize, free: Time| {
            let (y, k, pause) = queues[x].pop_front()?;
            let t = free + pause;
            Some((net.network.prepare_departure(&mut net.egresses[x], y, k, t), y, k, t))
        };
        (0..self.params.P).for_each(|x| called[x] = call(&mut net, x, Time::ZERO));
        let mut sent = Vec::new();
        loop {
            let turns =
                called.iter().enumerate().filter_map(|(x, call)| Some((call.as_ref()?.0.asked_at, x)));
            let Some((_, x)) = turns.min() else { return (sent, net) };
            let (departure, y, k, t) = called[x].take().unwrap();
            let passage = net.network.serve(&mut *net.ingresses, &mut net.egresses[x], y, &departure);
            called[x] = call(&mut net, x, passage.enter);
            sent.push(ServedMessage { x, y, k, t, passage });
        }
    }

    /// Returns (k-1)G, or LogGPS's sum of G_s and G_l, added up word by word.
    fn stream(&self, k: usize) -> Time {
        match self.params.gps() {
            None => (1..k).map(|_| self.params.G().unwrap()).sum(),
            Some(gps) => (1..=k).map(|word| if word <= gps.s { gps.G_s } else { gps.G_l }).sum(),
        }
    }
}

/// Returns the largest number of these messages in transit at once, counted whenever one enters.
fn most_at_once(messages: &[&ServedMessage]) -> usize {
    let during =
        |at: Time| messages.iter().filter(|m| m.passage.enter <= at && at < m.passage.arrival).count();
    messages.iter().map(|m| during(m.passage.enter)).max().unwrap_or(0)
}

/// Returns the intervals in which a processor's port, or one direction of it, is occupied.
fn busy_intervals(
    sent: &[ServedMessage],
    x: usize,
    out: bool,
    r#in: bool,
) -> Vec<(Time, Time, &ServedMessage)> {
    let leaves = sent.iter().filter(|m| out && m.x == x).map(|m| (m.passage.enter, m));
    let comes = sent.iter().filter(|m| r#in && m.y == x).map(|m| (m.passage.first, m));
    let mut taken: Vec<_> = leaves.chain(comes).map(|(at, m)| (at, at + m.stream(), m)).collect();
    taken.retain(|(start, end, _)| start < end);
    taken.sort_by_key(|(start, ..)| *start);
    taken
}

proptest! {
    #![proptest_config(crate::cases::cases(500))]

    /// Each message's times come in the order of rules 1 to 3, and each step takes at least what the rules
    /// say.
    #[test]
    fn message_times_are_in_order(traffic in traffic()) {
        let L = traffic.params.L;
        for m in traffic.play().0 {
            let p = m.passage;
            prop_assert!(m.t + traffic.params.send_overhead(m.k) <= p.ready);
            prop_assert!(p.ready <= p.admitted && p.admitted <= p.enter);
            prop_assert_eq!(p.arrival - p.first, traffic.stream(m.k));
            match traffic.latency {
                Latency::Exact => prop_assert!(p.enter + L <= p.first),
                _ => prop_assert!(p.enter <= p.first),
            }
            prop_assert!(m.t <= p.arrival, "it arrived before its send");
        }
    }

    #[test]
    fn capacity_holds_and_is_counted(traffic in traffic()) {
        let (sent, net) = traffic.play();
        for id in 0..traffic.params.P {
            let from: Vec<&ServedMessage> = sent.iter().filter(|m| m.x == id).collect();
            let to: Vec<&ServedMessage> = sent.iter().filter(|m| m.y == id).collect();
            match traffic.params.capacity() {
                None => prop_assert_eq!(net.ingresses[id].most_in_transit(), 0),
                Some(capacity) => {
                    prop_assert!(most_at_once(&from) <= capacity && most_at_once(&to) <= capacity);
                    prop_assert_eq!(net.egresses[id].most_in_transit(), most_at_once(&from), "from {}", id);
                    prop_assert_eq!(net.ingresses[id].most_in_transit(), most_at_once(&to), "to {}", id);
                }
            }
        }
    }

    #[test]
    fn senders_do_not_stall_while_both_ends_have_room(traffic in traffic()) {
        let Some(capacity) = traffic.params.capacity() else { return Ok(()) };
        let sent = traffic.play().0;
        for (i, m) in sent.iter().enumerate() {
            let open = |same: &dyn Fn(&ServedMessage) -> bool| {
                sent[..i].iter().filter(|e| same(e) && e.passage.arrival > m.passage.ready).count()
            };
            if open(&|e| e.x == m.x) < capacity && open(&|e| e.y == m.y) < capacity {
                prop_assert_eq!(m.passage.admitted, m.passage.ready);
            }
        }
    }

    #[test]
    fn port_is_never_shared_by_two_messages(traffic in traffic()) {
        let sent = traffic.play().0;
        let directions: &[(bool, bool)] = match traffic.ports {
            Ports::Single => &[(true, true)],
            Ports::Dual => &[(true, false), (false, true)],
        };
        for id in 0..traffic.params.P {
            for &(out, r#in) in directions {
                for pair in busy_intervals(&sent, id, out, r#in).windows(2) {
                    prop_assert!(pair[0].1 <= pair[1].0, "at {}: {:?} and {:?}", id, pair[0], pair[1]);
                }
            }
        }
    }

    #[test]
    fn entries_are_a_gap_apart(traffic in traffic()) {
        let sent = traffic.play().0;
        for id in 0..traffic.params.P {
            let mine: Vec<&ServedMessage> = sent.iter().filter(|m| m.x == id).collect();
            for pair in mine.windows(2) {
                let after = pair[0].passage.enter + pair[0].stream() + traffic.params.g;
                prop_assert!(after <= pair[1].passage.enter);
                let free = pair[1].t + traffic.params.send_overhead(pair[1].k);
                prop_assert_eq!(pair[1].passage.ready, after.max(free), "nothing but the gap");
            }
        }
    }

    /// A message takes o + L + (k-1)G without contention.
    #[test]
    fn message_takes_the_papers_time_without_contention(traffic in traffic()) {
        let sent = traffic.play().0;
        for (i, m) in sent.iter().enumerate() {
            let free = m.t + traffic.params.send_overhead(m.k);
            let quiet = |e: &ServedMessage| !e.shares_an_end_with(m) || e.end() + traffic.params.g <= free;
            if sent[..i].iter().all(quiet) {
                prop_assert_eq!(m.passage.enter, free);
                if traffic.latency == Latency::Exact && (m.x != m.y || traffic.ports == Ports::Dual) {
                    let takes = traffic.params.L + traffic.stream(m.k);
                    // With a negative G_l it could overtake the one before, so it waits: MPI keeps their
                    // order.
                    let ahead = sent[..i].iter().filter(|e| (e.x, e.y) == (m.x, m.y) && traffic.params.gps().is_some());
                    let ahead = ahead.map(|e| e.passage.arrival).max().unwrap_or(Time::ZERO);
                    prop_assert_eq!(m.passage.arrival, ahead.max(m.passage.enter + takes));
                }
            }
        }
    }

    /// A message waits only for messages that were served before it, so at most for the sum of their times.
    #[test]
    fn messages_do_not_starve(traffic in traffic()) {
        let Params { L, g, .. } = traffic.params;
        let (mut horizon, mut sum, mut overhead) = (Time::ZERO, Time::ZERO, Time::ZERO);
        for m in traffic.play().0 {
            let p = m.passage;
            prop_assert!(p.enter <= p.ready.max(horizon));
            // Through a single port a message to oneself comes in only when all of it has gone out.
            horizon = horizon.max(p.enter + m.stream());
            // With a negative G_l it may have to let the message before it arrive first.
            prop_assert!(p.first <= (p.enter + L).max(horizon) || p.arrival <= horizon);
            horizon = horizon.max(m.end());
            sum += L + 2 * m.stream() + g;
            overhead = overhead.max(traffic.params.send_overhead(m.k));
            prop_assert!(p.arrival <= m.t + overhead + sum);
        }
    }

    /// Two idle processors send messages of the same length to a third one: the first to ask enters first.
    /// (A shorter message may fit where a longer one does not.)
    #[test]
    fn first_come_first_served(traffic in traffic()) {
        let sent = traffic.play().0;
        let g = traffic.params.g;
        // No earlier message from or to this processor is in its way.
        let idle = |i: usize| {
            let m = &sent[i];
            let away = |e: &ServedMessage| (e.x != m.x && e.y != m.x) || e.end() + g <= m.passage.ready;
            sent[..i].iter().all(away)
        };
        for j in 0..sent.len() {
            for i in 0..j {
                let (a, b) = (&sent[i], &sent[j]);
                let alike = traffic.latency == Latency::Exact && a.k == b.k;
                if alike && a.y == b.y && a.x != b.x && a.passage.ready <= b.passage.ready && idle(i) && idle(j) {
                    prop_assert!(a.passage.enter <= b.passage.enter, "{:?} was overtaken by {:?}", a, b);
                }
            }
        }
    }

    #[test]
    fn same_traffic_always_has_the_same_times(traffic in traffic()) {
        prop_assert_eq!(traffic.play().0, traffic.play().0);
    }
}

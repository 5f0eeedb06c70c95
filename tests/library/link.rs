//! Machines whose processors are processes: in these tests, threads with channels between them.

use std::alloc::Layout;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use loggp::link::{Channels, Incoming, Link};
use loggp::params::LogGps;
use loggp::{
    Cause, Group, Machine, Params, Payload, Proc, Run, RunError, Slice, Tag, Time, US, Work, collectives,
};

use crate::cases::seeds;
use crate::drawn::{Note, draw, run_live};

/// Runs a program on a thread for each processor. Returns the result of each thread.
fn run_on_threads<R: Payload>(
    params: Params,
    program: impl Fn(&mut Proc) -> R + Sync,
) -> Vec<Result<Run<R>, RunError>> {
    on_threads(Channels::between(params.P), |link| {
        let patience = Duration::from_millis(200);
        Machine::new(params).with_link(link).patience(patience).measure_across(&program)
    })
}

/// Runs `live` on a thread for each link, and returns the results.
fn on_threads<L: Link + 'static, T: Send>(links: Vec<L>, live: impl Fn(Arc<L>) -> T + Sync) -> Vec<T> {
    std::thread::scope(|scope| {
        let live = &live;
        let ranks: Vec<_> = links.into_iter().map(|link| scope.spawn(move || live(Arc::new(link)))).collect();
        ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
    })
}

/// Returns the run, on whose results, time and accounts all ranks must agree.
fn agreed_run<R: Payload + PartialEq + fmt::Debug>(ranks: Vec<Result<Run<R>, RunError>>) -> Run<R> {
    let mut runs: Vec<Run<R>> = ranks.into_iter().map(Result::unwrap).collect();
    let first = runs.swap_remove(0);
    for run in runs {
        assert_eq!(
            (&run.results, run.time, &run.processors),
            (&first.results, first.time, &first.processors)
        );
    }
    first
}

/// Returns the error, on which all ranks must agree.
fn agreed_error<R: Payload + fmt::Debug>(ranks: Vec<Result<Run<R>, RunError>>) -> String {
    let mut said: Vec<String> = ranks.into_iter().map(|rank| rank.unwrap_err().to_string()).collect();
    said.dedup();
    assert_eq!(said.len(), 1, "{said:?}");
    said.remove(0)
}

fn params(P: usize) -> Params {
    Params::builder(P).L(6 * US).o(2 * US).g(4 * US).build().unwrap()
}

const DATA: Tag<Vec<f64>> = Tag::named(0, "data");
const TEXT: Tag<(String, Option<u8>)> = Tag::named(1, "text");

#[test]
fn messages_across_a_link_arrive_unchanged() {
    let long: Vec<f64> = (0..5000).map(f64::from).collect();
    let run = agreed_run(run_on_threads(params(3), |p| {
        let (next, before) = ((p.id() + 1) % 3, (p.id() + 2) % 3);
        p.send(next, DATA, long.clone());
        p.send(next, TEXT, ("from".into(), Some(p.id() as u8)));
        p.send(p.id(), DATA, vec![0.5]);
        let own = p.recv(DATA.from(p.id()));
        let text = p.recv(TEXT);
        (own, p.recv(DATA.from(before)) == long, text.1, p.now() > Time::ZERO, *p.params() == params(3))
    }));
    assert_eq!(run.results[1], (vec![0.5], true, Some(0), true, true));
    assert!(run.time > Time::ZERO && run.processors.iter().all(|stats| stats.finish <= run.time));
    assert_eq!((run.messages(), run.processors[2].received), (9, 3));
}

/// Collectives, groups, requests and looks have the same results as on the virtual clock.
#[test]
fn all_calls_work_across_a_link() {
    let program = |p: &mut Proc| {
        let (id, P) = (p.id(), p.P());
        let sum = collectives::all_reduce(p, id as u64, |a, b| a + b);
        let table = collectives::broadcast(p, P - 1, (id == P - 1).then(|| vec![1.5_f64; 900]));
        let parts = collectives::all_to_all(p, (0..P).map(|to| vec![(id * P + to) as u32; 2]).collect());
        let odd = Group::new((id % 2..P).step_by(2));
        let most = collectives::all_max(&mut p.within(&odd), id as f64, id, id);
        p.barrier();
        let requests: Vec<_> = (0..P).map(|from| p.irecv(DATA.from(from))).collect();
        let sends: Vec<_> = (0..P).map(|to| p.isend(to, DATA, vec![id as f64; 1000])).collect();
        let came: Vec<f64> = p.wait_all(requests).into_iter().map(|data| data[999]).collect();
        p.wait_all(sends);
        let right = p.send_recv((id + 1) % P, (id + P - 1) % P, Tag::new(7), id);
        p.send((id + 1) % P, TEXT, (id.to_string(), None));
        while p.probe(TEXT.from((id + P - 1) % P)).is_none() {}
        let (mut looks, mut text) = (0, None);
        while text.is_none() {
            text = p.try_recv(TEXT.with_sender());
            looks += 1;
        }
        assert_eq!((looks, p.recv_deadline(TEXT, p.now() + 5 * US)), (1, None));
        let right = (right, text.map(|(from, text)| (from, text.0)));
        (sum, table[899], (parts, came), (most.value, most.place, right))
    };
    for P in [1, 2, 5] {
        let run = agreed_run(run_on_threads(params(P), program));
        assert_eq!(run.results, Machine::new(params(P)).run(program).unwrap().results);
    }
}

/// A message above S waits for its receiver, and two processors that send such messages to each other
/// deadlock, which all ranks report.
#[test]
fn long_messages_wait_for_their_receivers() {
    let [O_s, O_r, G_s, G_l] = [Time::ZERO; 4];
    let gps = LogGps { s: 100, S: 100, O_s, O_r, G_s, G_l };
    let params = Params::builder(2).gps(gps).build().unwrap();
    let run = agreed_run(run_on_threads(params, |p| match p.id() {
        0 => {
            p.send(1, DATA, vec![1.5; 10_000]);
            p.now()
        }
        _ => {
            std::thread::sleep(Duration::from_millis(20));
            p.recv(DATA.from(0));
            p.now()
        }
    }));
    assert!(run.results[0] > 20_000 * US, "{:?}", run.results);
    let said = agreed_error(run_on_threads(params, |p| {
        p.send(1 - p.id(), DATA, vec![1.5; 10_000]);
        p.recv_with_sender(DATA).0
    }));
    assert!(said.starts_with("deadlock: 2 of 2 processors wait"), "{said}");
    assert!(said.contains("\n  processor 1 at "), "{said}");
    assert!(
        said.contains("waited to send 10000 words, more than S = 100, until processor 0 receives"),
        "{said}"
    );
}

#[test]
fn failure_of_one_process_ends_all() {
    struct Own;
    impl Payload for Own {
        fn bytes(&self) -> usize {
            1
        }
    }
    let all = |program: &(dyn Fn(&mut Proc) + Sync)| agreed_error(run_on_threads(params(3), program));
    let waits = |p: &mut Proc| _ = p.recv(DATA);
    let said = all(&|p| if p.id() == 1 { panic!("no more") } else { waits(p) });
    assert_eq!(said, "processor 1 panicked: no more");
    let said = all(&|p| if p.id() == 2 { p.send(0, Tag::new(0), 7_u8) } else { waits(p) });
    assert!(
        said.starts_with("processor 0 asked processor 2 for a Vec<f64> with tag 0 (data), and"),
        "{said}"
    );
    let said = all(&|p| if p.id() == 2 { p.send(0, Tag::new(0), Own) } else { waits(p) });
    assert!(said.contains("Own to another process, and it does not say how it is packed; derive"), "{said}");
    let said = all(&|p| if p.id() > 0 { p.send(0, DATA, vec![]) } else { waits(p) });
    assert_eq!(said, "1 messages to processor 0 were never received");
    let said = all(&|p| {
        if p.id() == 0 {
            waits(p)
        }
    });
    assert!(
        said.starts_with(
            "deadlock: 1 of 3 processors waits for messages that nobody sends\n  processor 0 at "
        ),
        "{said}"
    );
}

#[test]
fn unsupported_settings_of_a_real_machine_are_refused() {
    let refused = |machine: &(dyn Fn(Machine) -> Machine + Sync)| {
        agreed_error(on_threads(Channels::between(2), |link| {
            machine(Machine::new(params(2)).with_link(link)).measure_across(|_| ())
        }))
    };
    let charged = refused(&|machine| machine.work(Work::Charged));
    assert_eq!(charged, "a real machine has no charged work to set; let it be measured");
    assert_eq!(refused(&|machine| machine.trace(true)), "a real machine has no trace to set; leave it out");
    let other = Machine::new(params(3)).with_link(Arc::new(Channels::between(2).remove(0)));
    assert_eq!(
        other.measure_across(|_| ()).unwrap_err().to_string(),
        "P = 3, and there are 2 processes; give P = 2, or start 3"
    );
    let alone = Machine::new(params(1)).with_link(Arc::new(Channels::between(1).remove(0)));
    let said = alone.run(|_| ()).unwrap_err().to_string();
    assert_eq!(said, "its processors are processes, whose results must travel; call measure_across");
}

/// If one process would run something else than the others, none starts.
#[test]
fn processes_must_run_the_same_program() {
    let refused = |machine: &(dyn Fn(Machine, usize) -> Machine + Sync)| {
        let ranks = on_threads(Channels::between(2), |link| {
            let id = link.id();
            machine(Machine::new(params(2)).with_link(link), id).measure_across(|p| p.barrier())
        });
        self::agreed_error(ranks)
    };
    let said = "processes 0 and 1 are to run different things; give all the same arguments";
    assert_eq!(refused(&|machine, id| machine.job_id(&("fft", 1024 << id))), said);
    let said = on_threads(Channels::between(2), |link| {
        let L = (1 + link.id() as i64) * US;
        let error = Machine::new(Params { L, ..params(2) }).with_link(link).measure_across(|p| p.barrier());
        error.unwrap_err().cause
    });
    assert!(said.iter().all(|cause| matches!(cause, Cause::Params(_))), "{said:?}");
}

/// A process that runs more often than the others gets an error and does not wait for ever, whichever starts
/// its runs later.
#[test]
fn processes_must_run_equally_often() {
    for last in [0, 1] {
        let said = on_threads(Channels::between(2), |link| {
            let id = link.id();
            let machine = Machine::new(params(2)).with_link(link).patience(Duration::from_millis(1));
            let run = || {
                std::thread::sleep(Duration::from_millis(10 * id as u64));
                machine.measure_across(|p| p.barrier()).map(drop)
            };
            run().and_then(|()| run()).unwrap();
            if id == last { run().unwrap_err().to_string() } else { String::new() }
        });
        let other = 1 - last;
        let why =
            format!("process {other} has ended, and process {last} is to go on; give all the same arguments");
        assert_eq!(said[last], why);
    }
}

/// A link that cannot carry long messages.
#[derive(Debug)]
struct Narrow(Channels);

impl Link for Narrow {
    fn id(&self) -> usize {
        self.0.id()
    }

    fn P(&self) -> usize {
        self.0.P()
    }

    fn send(&self, to: usize, bytes: &[u8], slice: Option<Slice>) {
        assert!(slice.map_or(0, |slice| slice.bytes.len()).max(bytes.len()) <= self.max_bytes());
        self.0.send(to, bytes, slice);
    }

    fn poll(&self) -> Option<Incoming> {
        self.0.poll()
    }

    fn has_ended(&self, id: usize) -> bool {
        self.0.has_ended(id)
    }

    fn max_bytes(&self) -> usize {
        8000
    }

    fn is_crowded(&self) -> bool {
        self.0.is_crowded()
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

#[test]
fn no_message_is_longer_than_the_link_takes() {
    let run = |program: &(dyn Fn(&mut Proc) -> Vec<f64> + Sync)| {
        on_threads(Channels::between(2).into_iter().map(Narrow).collect(), |link| {
            Machine::new(params(2)).with_link(link).measure_across(program)
        })
    };
    let send = |p: &mut Proc, n: usize| match p.id() {
        0 => p.recv(DATA.from(1)),
        _ => {
            p.send(0, DATA, vec![0.5; n]);
            Vec::new()
        }
    };
    let refused = |program: &(dyn Fn(&mut Proc) -> Vec<f64> + Sync), said: &str| {
        let ranks = run(program);
        let is_refused =
            |rank: &Result<_, RunError>| matches!(rank, Err(RunError { cause: Cause::Params(_), .. }));
        assert!(ranks.iter().all(is_refused));
        let rest = "at once, and 2 threads take at most 8000; give a smaller size, or start more processes";
        let why = self::agreed_error(ranks);
        assert!(why.starts_with(said) && why.ends_with(rest), "{why}");
    };
    agreed_run(run(&|p| {
        send(p, 1000);
        vec![0.5; 470]
    }));
    refused(&|p| send(p, 1001), "processor 1 sent 8008 bytes");
    refused(&|p| vec![0.5; p.id() * 1001], "the results have ");
    refused(&|_| vec![0.5; 600], "the results have ");
}

/// Processor 1 waits long and then resumes, when no message seems to be under way to it or from it. That is
/// no deadlock.
#[test]
fn resumed_processor_is_in_no_deadlock() {
    let run = agreed_run(run_on_threads(params(3), |p| match p.id() {
        0 => p.recv(DATA.from(1)).len() + p.recv(DATA.from(1)).len(),
        1 => {
            let data = p.recv(DATA.from(2));
            p.send(0, DATA, data);
            std::thread::sleep(Duration::from_millis(700));
            (0..=2).step_by(2).for_each(|to| p.send(to, DATA, vec![0.5]));
            0
        }
        _ => {
            std::thread::sleep(Duration::from_millis(350));
            p.send(1, DATA, vec![1.5; 2]);
            p.recv(DATA.from(1)).len()
        }
    }));
    assert_eq!(run.results, [3, 0, 1]);
}

/// Random programs with all kinds of calls end with no message left in any order, or deadlock because a look
/// found something else than in another order. Programs without looks and wildcards do not depend on the
/// order: they end if they end on the virtual clock, and receive the same messages.
#[test]
fn random_programs_receive_all_messages() {
    let (mut ended, mut deadlocks) = (0, [0; 2]);
    for seed in seeds(120) {
        let mut case = draw(seed);
        if case.params.P > 6 {
            continue;
        }
        let decided = seed % 2 == 0;
        if decided {
            case.program.iter_mut().for_each(|calls| calls.retain(|op| !op.depends_on_order()));
        }
        let ranks = run_on_threads(case.params, |p| run_live(p, &case));
        let virtually = Machine::new(case.params).run(|p| run_live(p, &case));
        if ranks[0].is_err() {
            assert!(agreed_error(ranks).starts_with("deadlock: "), "seed {seed}");
            assert!(!decided || virtually.is_err(), "seed {seed}: {case:?}");
            deadlocks[usize::from(decided)] += 1;
            continue;
        }
        let run = agreed_run(ranks);
        ended += 1;
        if decided {
            let came = |notes: &Vec<Note>| {
                let mut came: Vec<_> = notes.iter().filter_map(|note| note.came).collect();
                came.sort_by_key(|message| (message.from, message.tag, message.words));
                came
            };
            let came = |results: &[Vec<Note>]| results.iter().map(came).collect::<Vec<_>>();
            assert_eq!(came(&run.results), came(&virtually.unwrap().results), "seed {seed}");
        }
    }
    println!("{ended} ended, {deadlocks:?} deadlocks");
    assert!(ended > 20 && deadlocks[0] > 0 && deadlocks[1] > 0);
}

/// A replacement for a message: other bytes, the slice behind them or not, and after that the bytes that were
/// to be sent, or not.
struct Instead {
    bytes: Vec<u8>,
    with_slice: bool,
    and_again: bool,
}

/// Makes what is sent in place of a message from its bytes.
type Exchange = Box<dyn FnMut(&[u8]) -> Instead + Send>;

/// A link over which one message is another than the program's: its bytes are changed, or some are sent before it.
struct Foreign {
    channels: Channels,
    instead: Mutex<Exchange>,
    /// The number of messages before that one; none is changed if that is never.
    left: AtomicUsize,
}

/// Returns other bytes than these, in some way.
fn change(rng: &mut fastrand::Rng, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let any =
        |rng: &mut fastrand::Rng, most| (0..rng.usize(0..most)).map(|_| rng.u8(..)).collect::<Vec<u8>>();
    match rng.u8(0..7) {
        0 => bytes.truncate(rng.usize(1..=bytes.len())),
        1 => bytes.extend(any(rng, 40)),
        2 => bytes = [vec![rng.u8(0..6)], any(rng, 80)].concat(),
        3 => {
            // A number is the largest, or nearly so.
            let at = 8 * rng.usize(0..bytes.len().div_ceil(8));
            bytes[at..].iter_mut().take(8).for_each(|byte| *byte = 0xFF);
        }
        4 => bytes[0] = rng.u8(..6),
        _ => {
            let at = rng.usize(0..bytes.len());
            bytes[at] ^= 1 << rng.u8(0..8);
        }
    }
    bytes
}

impl Link for Foreign {
    fn id(&self) -> usize {
        self.channels.id()
    }

    fn P(&self) -> usize {
        self.channels.P()
    }

    fn send(&self, to: usize, bytes: &[u8], slice: Option<Slice>) {
        if self.left.fetch_sub(1, Ordering::Relaxed) != 0 {
            return self.channels.send(to, bytes, slice);
        }
        let Instead { bytes: changed, with_slice, and_again } = self.instead.lock().unwrap()(bytes);
        _ = Slice::announced_layout(&changed);
        self.channels.send(to, &changed, slice.filter(|_| with_slice));
        if and_again {
            self.channels.send(to, bytes, None);
        }
    }

    fn poll(&self) -> Option<Incoming> {
        self.channels.poll()
    }

    fn has_ended(&self, id: usize) -> bool {
        self.channels.has_ended(id)
    }

    fn is_crowded(&self) -> bool {
        true
    }

    fn name(&self) -> String {
        self.channels.name()
    }
}

/// The parameters of two processors, with messages that wait for their receivers or without.
fn two(has_rendezvous: bool) -> Params {
    if !has_rendezvous {
        return params(2);
    }
    let [O_s, O_r, G_s, G_l] = [Time::ZERO; 4];
    Params::builder(2).gps(LogGps { s: 100, S: 100, O_s, O_r, G_s, G_l }).build().unwrap()
}

/// Two processors send each other short messages and long ones.
fn send_both_ways(p: &mut Proc) -> (String, usize, usize) {
    let other = 1 - p.id();
    p.send(other, TEXT, ("text".into(), Some(3)));
    let sent = p.isend(other, DATA, vec![0.5; if p.id() == 0 { 2 } else { 1000 }]);
    let units = collectives::broadcast(p, 0, (p.id() == 0).then(|| vec![(); 5]));
    let (text, data) = (p.recv(TEXT), p.recv(DATA));
    p.wait(sent);
    (text.0, data.len(), units.len())
}

/// Runs them over links, one of which sends something else in place of a message. Returns what each process says, and
/// fails if one says nothing.
fn run_with_foreign(
    params: Params,
    (from, left): (usize, usize),
    instead: impl FnMut(&[u8]) -> Instead + Clone + Send + 'static,
    about: &str,
) -> Vec<Result<(), String>> {
    let (sender, receiver) = std::sync::mpsc::channel();
    for channels in Channels::between(2) {
        let left = AtomicUsize::new(if channels.id() == from { left } else { usize::MAX });
        let link = Foreign { channels, instead: Mutex::new(Box::new(instead.clone())), left };
        let sender = sender.clone();
        std::thread::spawn(move || {
            let machine = Machine::new(params).with_link(Arc::new(link)).patience(Duration::from_millis(2));
            let ran = machine.measure_across(send_both_ways);
            _ = sender
                .send(ran.map(|run| assert_eq!(run.results.len(), 2)).map_err(|error| error.to_string()));
        });
    }
    let said =
        |_| receiver.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|why| panic!("{about}: {why}"));
    (0..2).map(said).collect()
}

/// A seed by which a process counts at its end what it has not sent, so that both would wait for it.
const ONCE_ENDLESS: [u64; 1] = [438];

/// Whatever bytes another process sends, the run ends, with an error if it is not the program's message.
#[test]
fn any_bytes_of_another_process_end_the_run_with_an_error() {
    let (mut failed, mut foreign) = (0, 0);
    for seed in seeds(400).chain(ONCE_ENDLESS) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (from, left) = (rng.usize(0..2), rng.usize(0..8));
        let mut own = rng.fork();
        let instead = move |bytes: &[u8]| Instead {
            bytes: change(&mut own, bytes),
            with_slice: own.bool(),
            and_again: own.bool(),
        };
        let said = run_with_foreign(two(rng.bool()), (from, left), instead, &format!("seed {seed}"));
        for error in said.into_iter().filter_map(Result::err) {
            failed += 1;
            foreign += u32::from(error.contains("let all processes run the same program"));
        }
    }
    assert!(failed > 100 && foreign > 50, "{failed} {foreign}");
}

/// A message whose tag says that it announces another one, or is granted, or grants: where no message can wait for its
/// receiver nobody sends that, and where one can, both processes would wait for the rest of it.
#[test]
fn message_that_claims_to_be_of_a_rendezvous_ends_the_run_with_an_error() {
    for has_rendezvous in [false, true] {
        for and_again in [false, true] {
            for from in [0, 1] {
                for bits in [0x80, 0x40, 0x20, 0xC0, 0xA0] {
                    // The program's first message comes after the two questions before a run, or the two answers.
                    let instead = move |bytes: &[u8]| {
                        let mut changed = bytes.to_vec();
                        assert!(bytes.len() >= 40 && bytes[0] == 0, "{bytes:?}");
                        changed[15] |= bits;
                        Instead { bytes: changed, with_slice: false, and_again }
                    };
                    let about = format!("{has_rendezvous} {and_again} {from} {bits:x}");
                    let said = run_with_foreign(two(has_rendezvous), (from, 2), instead, &about);
                    assert!(said.iter().all(Result::is_err), "{about}: {said:?}");
                    if !has_rendezvous || and_again {
                        let foreign = |said: &Result<(), String>| {
                            said.as_ref().is_err_and(|error| error.contains("no message of this program"))
                        };
                        assert!(said.iter().all(foreign), "{about}: {said:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn announced_layouts_can_be() {
    for head in
        [0_u64, u64::MAX, 1 << 16, 1 << 16 | 63 << 8, 1 << 16 | 64 << 8, 1 << 16 | 255 << 8, !0xFF, !0xFFFF]
    {
        let layout = Slice::announced_layout(&head.to_le_bytes());
        assert!(
            layout.is_none_or(|(length, align)| Layout::from_size_align(length, align).is_ok()),
            "{head:x}"
        );
    }
    assert_eq!(Slice::announced_layout(&(5_u64 << 16 | 3 << 8).to_le_bytes()), Some((5, 8)));
    assert_eq!(Slice::announced_layout(&[0; 7]), None);
}

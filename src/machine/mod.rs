//! The machine: its parameters and its settings, and a run of a program on it.

mod computer;
mod host;
pub(crate) mod limits;
mod names;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use loggp_model::error::{Cause, ProcStatus, RunError};
use loggp_model::message::{Pack, Payload, Tag, Unpack, stable_hash};
use loggp_model::panics::contain;
use loggp_model::params::{
    Latency, Level, Noise, Params, ParamsError, Ports, Surcharge, Ties, Work, innermost_params,
};
use loggp_model::rules::Stats;
use loggp_model::rules::choice::Choice;
use loggp_model::rules::network::Network;
use loggp_model::time::{MS, NS, Time, US};
use loggp_model::transport::{Capacity, Protocol, Transport};
use loggp_trace::{Faults, Order, Recording, Trace};
use parking_lot::Mutex;

use crate::clock::wall::carrier::Carrier;
use crate::clock::wall::cores::HostCores;
use crate::clock::wall::dilation::{self, Dilation, DilationChoice, SwitchCosts};
use crate::clock::wall::{self, cores};
use crate::clock::watchdog::{Patience, Unresponsive};
use crate::clock::{
    ClockKind, FaultyClock, ProgramClock, RunEnd, RunInfo, RunOutcome, StackSettings, linked, virtual_time,
};
use crate::link::Link;
use crate::proc::{Groups, Proc, Rates, Setup};

pub use computer::Computer;
pub use host::{Host, Lateness};
pub use limits::ProcessorLimit;

/// A parallel machine on which programs run.
///
/// ```
/// use loggp::{Machine, Params, Tag, US};
///
/// const DATUM: Tag<u64> = Tag::new(0);
///
/// // The beginning of LogP's figure 3: the source sends, and the datum is received after L + 2o.
/// let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let machine = Machine::new(params);
/// let run = machine.run(|p| match p.id() {
///     0 => { p.send(1, DATUM, 42); 0 }
///     _ => p.recv(DATUM.from(0)),
/// })?;
/// assert_eq!(run.results, [0, 42]);
/// assert_eq!(run.time, 10 * US);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a setting returns the changed machine"]
pub struct Machine {
    params: Params,
    clock: ClockKind,
    pub(crate) transport: Transport,
    order: Order,
    work: Work,
    rates: Rates,
    levels: Arc<[Level]>,
    barrier: Option<Time>,
    surcharge: Surcharge,
    trace: bool,
    stack: usize,
    may_be_unguarded: bool,
    cores: usize,
    is_oversubscribed: bool,
    carrier: Carrier,
    dilation: Dilation,
    patience: Patience,
    link: Option<Arc<dyn Link>>,
    job_id: u64,
    end: RunEnd,
}

/// The results of a run that has succeeded.
#[derive(Debug)]
#[non_exhaustive]
pub struct Run<R> {
    /// The results of the processors' programs.
    pub results: Vec<R>,
    /// The account of each processor's time.
    pub processors: Vec<Stats>,
    /// The time at which the last processor finished: in the model on the virtual clock, and really on the
    /// wall clock.
    pub time: Time,
    /// The time at which the last processor finishes in the model, where that is known: on the virtual clock,
    /// and on the wall clock where work is charged. A run on the wall clock takes longer by the host's
    /// lateness at the end.
    pub model: Option<Time>,
    /// The host's part in a run on the wall clock; `None` on other clocks.
    pub host: Option<Host>,
    /// The trace, if the machine was set to [trace](Machine::trace).
    pub trace: Option<Trace>,
    /// The logs that the trace is made from, until it is.
    recording: Option<Recording>,
}

/// The number of runs in this process.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// The number of times that a program runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RunCount {
    /// Exactly once.
    Once,
    /// As often as the wall clock needs to find a dilation at which the run is on time.
    AsNeeded,
}

/// A program. Without R it stores its results itself.
type ProgramFn<'a, R = ()> = &'a (dyn Fn(&mut Proc) -> R + Sync);

impl Setup {
    /// Runs the program on one processor. Returns the account of its time.
    fn run_processor(&self, id: usize, clock: &mut dyn ProgramClock, program: ProgramFn) -> Stats {
        match self.faults.is_empty() {
            true => self.run_on_clock(id, clock, program),
            false => self.run_with_faults(id, clock, program),
        }
    }

    /// Runs the program on one processor of a machine with faults.
    // The frames below a program are small, so that with its own it fits into a page of its stack: what only some
    // runs need, or what comes after the program, has frames of its own.
    #[cold]
    #[inline(never)]
    fn run_with_faults(&self, id: usize, clock: &mut dyn ProgramClock, program: ProgramFn) -> Stats {
        let mut clock = FaultyClock::new(id, clock, &self.faults, &self.observed_faults);
        self.run_on_clock(id, &mut clock, program)
    }

    /// Runs the program on one processor, on a clock with or without faults.
    fn run_on_clock(&self, id: usize, clock: &mut dyn ProgramClock, program: ProgramFn) -> Stats {
        let mut proc = Proc::new(id, clock, self);
        proc.register_with_clock();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            program(&mut proc);
            proc.end();
        }));
        self.finish(id, proc, outcome)
    }

    /// Finishes a processor, whose program has returned or unwound.
    #[inline(never)]
    fn finish(&self, id: usize, proc: Proc, mut outcome: std::thread::Result<()>) -> Stats {
        if outcome.is_err() && (proc.is_cut() || self.observed_faults.lock().crashed.contains_key(&id)) {
            let payload = std::mem::replace(&mut outcome, Ok(())); // a crash is a regular end
            contain(|| drop(payload));
        }
        let (stats, log) = proc.finish(outcome.is_ok());
        // The log is kept also if the run fails.
        if let Some(log) = log {
            self.logs.lock().push((id, log));
        }
        outcome.map_or_else(|payload| resume_unwind(payload), |()| stats)
    }
}

impl Machine {
    /// The least stack of a processor, in bytes. With less, not even a panic could print its message.
    pub const LEAST_STACK: usize = 32 << 10;

    /// Makes a machine with these parameters, on the virtual clock, with exact latency, single ports and
    /// charged work. Its runs are exact, and the same every time.
    pub fn new(params: Params) -> Machine {
        Machine {
            params,
            clock: ClockKind::default(),
            transport: Transport::default(),
            order: Order::default(),
            work: Work::default(),
            rates: Rates::default(),
            levels: Arc::default(),
            barrier: None,
            surcharge: Surcharge::default(),
            trace: false,
            stack: limits::USUAL_STACK,
            may_be_unguarded: false,
            cores: usize::MAX,
            is_oversubscribed: false,
            carrier: Carrier::default(),
            dilation: Dilation::default(),
            patience: Patience::default(),
            link: None,
            job_id: 0,
            end: RunEnd::default(),
        }
    }

    /// Returns the machine's parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Returns the parameters between two processors, as [`Proc::params_to`] does.
    pub fn params_between(&self, one: usize, other: usize) -> &Params {
        innermost_params(&self.params, &self.levels, one, other)
    }

    /// Gives the machine levels, from the outermost to the innermost, two at most: nodes, and sockets within
    /// nodes. Messages within a group of a level cost what the level says, and messages between the outermost
    /// groups what the machine's own parameters say. A processor keeps one gap, which is that of the level of
    /// its last message. Each level has a capacity and ports of its own.
    ///
    /// Broadcast, reduce, all-gather and the barrier go [level by level](crate::collectives). Programs plan
    /// by the machine's own [parameters](Proc::params); [`Proc::params_to`] returns those between two
    /// processors.
    pub fn levels(self, levels: impl IntoIterator<Item = Level>) -> Machine {
        Machine { levels: levels.into_iter().collect(), ..self }
    }

    /// Sets the clock.
    pub fn clock(self, clock: ClockKind) -> Machine {
        Machine { clock, ..self }
    }

    /// Sets the number of long messages that a processor's interface handles at once.
    pub fn ports(self, ports: Ports) -> Machine {
        Machine { transport: Transport { ports, ..self.transport }, ..self }
    }

    /// Sets who moves messages of more than S words (LogGPS).
    ///
    /// ```
    /// use loggp::{Machine, Params, Protocol, Tag, US};
    ///
    /// const WORDS: Tag<Vec<u8>> = Tag::new(0);
    ///
    /// let params = Params::builder(2).word(1).set("L=6us,o=2us,g=0,O_s=0,O_r=0,G_s=1us,G_l=1us,s=4,S=4")?;
    /// let machine = Machine::new(params.build()?);
    /// let program = |p: &mut loggp::Proc| match p.id() {
    ///     0 => p.send(1, WORDS, vec![0; 10]),
    ///     _ => _ = p.recv(WORDS),
    /// };
    /// // Both take the announcement, and then the grant: o + L + o each. Then 0 sends: o + 10G + L + o.
    /// assert_eq!(machine.clone().run(program)?.time, 40 * US);
    ///
    /// // 1 reads the words from 0's memory: o + L for its request, then 10G + L + o; and says so, in o + L + o.
    /// let run = machine.rendezvous(Protocol::Pull).run(program)?;
    /// assert_eq!((run.processors[1].finish, run.time), (38 * US, 46 * US));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn rendezvous(self, protocol: Protocol) -> Machine {
        Machine { transport: Transport { rendezvous: protocol, ..self.transport }, ..self }
    }

    /// Sets until when a message is in transit, where at most C are: see
    /// [`Params::capacity`](crate::Params::capacity).
    ///
    /// ```
    /// use loggp::{Capacity, Machine, Params, Tag, US};
    ///
    /// const WORD: Tag<u64> = Tag::new(0);
    ///
    /// // At most ceil(6/4) = 2 messages are in transit to processor 0, and seven processors have one for it.
    /// let machine = Machine::new(Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build()?);
    /// let gather = |p: &mut loggp::Proc| match p.id() {
    ///     0 => (1..8).map(|_| p.recv(WORD)).sum(),
    ///     _ => { p.send(0, WORD, 1); 0 }
    /// };
    /// let run = machine.clone().run(gather)?;
    /// assert_eq!((run.results[0], run.time, run.processors[7].finish), (7, 34 * US, 20 * US)); // two in each L
    ///
    /// // Processor 0 receives one every g = 4 us, and for each it receives one more enters.
    /// let run = machine.capacity(Capacity::Received).run(gather)?;
    /// assert_eq!((run.results[0], run.time, run.processors[7].finish), (7, 34 * US, 24 * US));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn capacity(self, until: Capacity) -> Machine {
        Machine { transport: Transport { capacity: until, ..self.transport }, ..self }
    }

    /// Sets all that the machine does with messages on their way.
    pub(crate) fn with_transport(self, transport: Transport) -> Machine {
        Machine { transport, ..self }
    }

    /// Sets the latency of messages: exact or drawn.
    pub fn latency(self, latency: Latency) -> Machine {
        Machine { order: Order { latency, rule: None, is_unbounded: false, ..self.order }, ..self }
    }

    /// Sets the order of processors that act at the same time.
    pub fn ties(self, ties: Ties) -> Machine {
        Machine { order: Order { ties, precedence: Arc::default(), ..self.order }, ..self }
    }

    /// Sets the noise of the processors, which lengthens their work and the overhead of messages and
    /// requests.
    pub fn noise(self, noise: impl Into<Option<Noise>>) -> Machine {
        Machine { order: Order { noise: noise.into(), ..self.order }, ..self }
    }

    pub(crate) fn has_noise(&self) -> bool {
        self.order.noise.is_some()
    }

    /// Sets an order of messages: one under which a [check](loggp_check::Check) failed, or that of the
    /// [trace](Trace) of a run. It replaces the [latency](Machine::latency) and the [ties](Machine::ties), and
    /// the [noise](Machine::noise) if it has any.
    ///
    /// The order of a trace repeats that run: every message gets the latency that it had there, processors that
    /// act at the same time do so in the same order, and they have the same noise. The parameters and all other
    /// settings are this machine's.
    ///
    /// ```
    /// use loggp::{Latency, Machine, Params, Ties, US};
    ///
    /// let machine = Machine::new(Params::builder(4).L(6 * US).o(2 * US).g(4 * US).build()?);
    /// let program = |p: &mut loggp::Proc| loggp::collectives::all_to_all(p, vec![p.id(); p.P()]);
    /// let drawn = machine.clone().latency(Latency::Random { seed: 7 }).ties(Ties::Random { seed: 8 });
    /// let trace = drawn.trace(true).run(program)?.trace.unwrap();
    ///
    /// let again = machine.order(&trace).trace(true).run(program)?.trace.unwrap();
    /// assert_eq!(again, trace);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn order(self, order: impl Into<Order>) -> Machine {
        let mut order = order.into();
        order.noise = order.noise.or(self.order.noise);
        Machine { order, ..self }
    }

    /// Sets the faults of a run, in place of those of the order: lost messages, messages that come twice, and crashes.
    pub fn faults(self, faults: Faults) -> Machine {
        Machine { order: Order { faults: Arc::new(faults), ..self.order }, ..self }
    }

    /// Returns the machine's order of messages.
    pub(crate) fn message_order(&self) -> Order {
        Order { noise: None, is_unbounded: false, observer: None, ..self.order.clone() }
    }

    /// Sets whether work is charged or measured. The default is charged.
    pub fn work(self, work: Work) -> Machine {
        Machine { work, ..self }
    }

    /// Sets the cost of a unit of one kind of work, where work is charged. The default is a cycle. It must be
    /// 0 or more.
    pub fn rate(mut self, kind: &'static str, unit: Time) -> Machine {
        self.rates.set(kind, unit);
        self
    }

    /// Gives the machine a barrier in hardware, such as that of the CM-5's control network: every processor
    /// goes on once the time `cost` has passed since the last one reached the barrier. See [`Proc::barrier`].
    pub fn barrier(self, cost: Time) -> Machine {
        Machine { barrier: Some(cost), ..self }
    }

    /// Sets an additional cost of longer messages.
    pub(crate) fn surcharge(self, surcharge: Surcharge) -> Machine {
        Machine { surcharge, ..self }
    }

    /// Sets whether a run records a trace.
    pub fn trace(self, trace: bool) -> Machine {
        Machine { trace, ..self }
    }

    /// Sets the size of each processor's stack in bytes, without its guard page: 256 KiB by default, and 32
    /// KiB at least. A program that needs more ends the process, with a message that names the processor, by a
    /// [handler of signals](crate#signals-of-the-process).
    pub fn stack(self, bytes: usize) -> Machine {
        Machine { stack: bytes, ..self }
    }

    /// Sets whether a run may have processors whose stacks have no guard page. By default it is refused.
    ///
    /// Only runs of many processors as coroutines do: Linux before 6.13 guards as many stacks as half of
    /// `vm.max_map_count`, about 32,000 unless it is raised.
    ///
    /// # Safety
    ///
    /// No processor may overflow its stack. On a stack without a guard page an overflow overwrites memory of
    /// others. It is noticed only when its processor next waits, if at all, and ends the process then.
    pub unsafe fn unguarded_stacks(self, allowed: bool) -> Machine {
        Machine { may_be_unguarded: allowed, ..self }
    }

    /// Sets the number of the host's cores that a run may use, at least 1. By default the wall clock uses one
    /// thread of each fast core, and the virtual clock uses one core.
    ///
    /// On the virtual clock the results, accounts and the trace are the same on several cores as on one.
    /// Programs that compute for long between their messages take less of the host's time on several cores.
    /// Programs that mostly send take more, because a message that other processors can see waits until all
    /// earlier ones on other cores have been sent.
    ///
    /// ```
    /// use loggp::{Machine, Params, US, collectives};
    ///
    /// let machine = Machine::new(Params::builder(64).L(6 * US).o(2 * US).g(4 * US).build()?).trace(true);
    /// let program = |p: &mut loggp::Proc| {
    ///     let sum = p.work("add", 1000, || (0..1000_u64).map(|i| i * i).sum::<u64>());
    ///     collectives::all_reduce(p, sum, |a, b| a + b)
    /// };
    /// let (one, two) = (machine.clone().run(program)?, machine.cores(2).run(program)?);
    /// assert_eq!((one.results, one.trace), (two.results, two.trace));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cores(self, cores: usize) -> Machine {
        Machine { cores, ..self }
    }

    /// Lets a run use as many cores as are [set](Machine::cores), even where the host has fewer: then some of
    /// them share a core. Such a run cannot be on time, but all else is the same. This is for tests that need
    /// many cores.
    #[doc(hidden)]
    pub fn oversubscribed(self, oversubscribed: bool) -> Machine {
        Machine { is_oversubscribed: oversubscribed, ..self }
    }

    /// Sets the carrier of processors on the wall clock: a thread by default.
    ///
    /// ```
    /// use loggp::{Carrier, ClockKind, Machine, Params, US};
    ///
    /// // A thousand processors act at once. Threads could hardly hand over the cores on time.
    /// let machine = Machine::new(Params::builder(1000).L(6 * US).o(2 * US).g(4 * US).build()?)
    ///     .clock(ClockKind::Wall)
    ///     .carrier(Carrier::Coroutine);
    /// let run = machine.run(|p| loggp::collectives::all_reduce(p, p.id() as u64, |a, b| a + b))?;
    /// assert!(run.results.iter().all(|sum| *sum == 499_500));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn carrier(self, carrier: Carrier) -> Machine {
        Machine { carrier, ..self }
    }

    /// Returns the number of processors that compute at the same time, which is the number of the host's
    /// [cores](Machine::cores) that a run uses.
    ///
    /// ```
    /// use loggp::{ClockKind, Machine, Params};
    ///
    /// let machine = Machine::new(Params::builder(64).build()?);
    /// assert_eq!(machine.parallelism(), 1);
    /// assert_eq!(machine.clock(ClockKind::Wall).cores(1).parallelism(), 1);
    /// # Ok::<(), loggp::ParamsError>(())
    /// ```
    pub fn parallelism(&self) -> usize {
        match self.clock {
            ClockKind::Virtual if self.cores == usize::MAX => 1,
            _ => cores::cores_for(self.params.P, self.cores),
        }
    }

    /// Sets the factor by which the machine runs slower on the wall clock than its parameters say. By default
    /// [`run`](Machine::run) runs at 1, full speed, and [`measure`](Machine::measure) finds a factor at which
    /// the host keeps up, for which it runs a program several times.
    pub fn dilation(self, dilation: Dilation) -> Machine {
        Machine { dilation, ..self }
    }

    /// Sets the time without a call to the machine after which a processor is
    /// [reported](Machine::on_unresponsive), in the host's time. The default is 10 s.
    pub fn patience(mut self, patience: Duration) -> Machine {
        self.patience.limit = patience;
        self
    }

    /// Sets the function that is called when a processor has made no call to the machine for too long: it may
    /// wait for something that no other processor can do meanwhile. By default a line on stderr names the
    /// processor. The function is called once, from a thread that belongs to no run, and the run goes on.
    ///
    /// ```
    /// use std::sync::{Mutex, mpsc};
    /// use std::time::Duration;
    /// use loggp::{Machine, Params};
    ///
    /// let (sender, receiver) = mpsc::channel();
    /// let machine = Machine::new(Params::builder(1).build()?)
    ///     .patience(Duration::from_millis(100))
    ///     .on_unresponsive(move |processor| sender.send(processor.id).unwrap());
    /// let receiver = Mutex::new(receiver);
    /// let run = machine.run(|_| receiver.lock().unwrap().recv().unwrap())?;
    /// assert_eq!(run.results, [0]); // the processor waited until it was reported
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_unresponsive(mut self, report: impl Fn(&Unresponsive) + Send + Sync + 'static) -> Machine {
        self.patience.report = Arc::new(report);
        self
    }

    /// Runs a program once on every processor, and returns when all have finished. The program may borrow from
    /// its caller.
    ///
    /// On the wall clock it runs at the [dilation](Machine::dilation) that is fixed, and at 1, full speed,
    /// with [`Dilation::Auto`]. [`Host::on_time`] tells whether the host kept up;
    /// [`measure`](Machine::measure) sees to that.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use loggp::{ClockKind, Machine, Params, US};
    ///
    /// let machine = Machine::new(Params::builder(4).L(6 * US).o(2 * US).build()?).clock(ClockKind::Wall);
    /// let calls = AtomicUsize::new(0);
    /// let run = machine.run(|_| calls.fetch_add(1, Ordering::Relaxed))?;
    /// assert_eq!(calls.into_inner(), 4);
    /// assert_eq!(run.host.unwrap().dilation, 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run<R: Send>(&self, program: impl Fn(&mut Proc) -> R + Sync) -> Result<Run<R>, RunError> {
        self.execute_to_end(RunCount::Once, &program)
    }

    /// Runs a program on every processor as often as a measurement on the wall clock needs: once on the virtual
    /// clock to find the [dilation](Machine::dilation), and up to four times on the wall clock until a run is
    /// on time. Results, times and the trace are those of the last run, but the program's effects outside the
    /// machine (it prints, counts, takes from a queue) happen each time.
    ///
    /// Where the dilation is fixed, and on the virtual clock, it runs once, as with [`run`](Machine::run).
    pub fn measure<R: Send>(&self, program: impl Fn(&mut Proc) -> R + Sync) -> Result<Run<R>, RunError> {
        self.execute_to_end(RunCount::AsNeeded, &program)
    }

    /// Lets a run on one core of the virtual clock end at a time, before its programs, and leave messages that nobody
    /// received.
    pub fn ending(self, at: Option<Time>, may_leave_messages: bool) -> Machine {
        let may_leave_messages = may_leave_messages || at.is_some();
        Machine { end: RunEnd { at: at.unwrap_or(Time::MAX), may_leave_messages }, ..self }
    }

    /// Runs a program [once](Machine::run). Returns the run without its trace, and what the trace is made from.
    /// A processor whose program has not ended, or which has crashed, has the result `None`.
    pub fn run_recorded<R: Send>(
        &self,
        program: impl Fn(&mut Proc) -> R + Sync,
    ) -> Result<(Run<Option<R>>, Option<Recording>), RunError> {
        let (mut run, results) = self.execute(RunCount::Once, &program)?;
        let recording = run.recording.take();
        Ok((run.with_results(results), recording))
    }

    /// Runs a program once on every processor, under an [order](Machine::order) in which some may crash. A
    /// processor that has crashed has the result `None`.
    pub fn run_surviving<R: Send>(
        &self,
        program: impl Fn(&mut Proc) -> R + Sync,
    ) -> Result<Run<Option<R>>, RunError> {
        let (run, results) = self.execute(RunCount::Once, &program)?;
        Ok(run.with_trace().with_results(results))
    }

    /// Runs a program with an input for each processor, which is moved to it. There must be P inputs. As they
    /// can be moved only once, the program runs once on every clock.
    ///
    /// ```
    /// use loggp::{Machine, Params, US};
    ///
    /// let machine = Machine::new(Params::builder(2).L(6 * US).o(2 * US).build()?);
    /// let parts = vec![vec![3, 1, 2], vec![6, 5, 4]];
    /// let run = machine.run_with(parts, |p, mut part: Vec<u32>| {
    ///     p.work("sort", part.len() as u64, || part.sort());
    ///     part
    /// })?;
    /// assert_eq!(run.results, [[1, 2, 3], [4, 5, 6]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_with<I: Send, R: Send>(
        &self,
        inputs: Vec<I>,
        program: impl Fn(&mut Proc, I) -> R + Sync,
    ) -> Result<Run<R>, RunError> {
        let (n, P) = (inputs.len(), self.params.P);
        if n != P {
            let sentence = format!("{n} inputs are not one for each of {P} processors; give {P}");
            return Err(ParamsError::new(sentence).into());
        }
        let inputs: Vec<Mutex<Option<I>>> = inputs.into_iter().map(|input| Mutex::new(Some(input))).collect();
        self.run(|p| {
            let input = inputs[p.id()].lock().take().expect("it runs once");
            program(p, input)
        })
    }

    /// Sets a link, so that programs run on a real machine: each processor is a process of its own, which
    /// calls [`measure_across`](Machine::measure_across), and the link carries its messages. Time really passes,
    /// and work is measured. Programs plan by the parameters, but messages cost what they cost on the real
    /// machine.
    pub fn with_link(self, link: Arc<dyn Link>) -> Machine {
        Machine { link: Some(link), work: Work::Measured, ..self }
    }

    /// Sets an identifier of the job: all that the machine's parameters and the program's type do not tell,
    /// such as a problem size. Processes that share a [link](Machine::with_link) begin a run only if their
    /// jobs are the same.
    pub fn job_id(self, job: &impl Hash) -> Machine {
        Machine { job_id: stable_hash(job), ..self }
    }

    /// Runs a program on all processors, and returns the results of all to each process. On a machine with a
    /// [link](Machine::with_link) all processes must call it with the same program, and the results are sent
    /// over the link; it runs once. On any other machine it is the same as [`measure`](Machine::measure), so a
    /// program that uses it runs on both.
    pub fn measure_across<R: Payload>(
        &self,
        program: impl Fn(&mut Proc) -> R + Sync,
    ) -> Result<Run<R>, RunError> {
        self.measure_across_map(program, |result| result)
    }

    /// Runs a program like [`measure_across`](Machine::measure_across), but each result is mapped by `map` after
    /// the processor's program has ended, and only the mapped result is sent.
    pub fn measure_across_map<T: Send, R: Payload>(
        &self,
        program: impl Fn(&mut Proc) -> T + Sync,
        map: impl Fn(T) -> R,
    ) -> Result<Run<R>, RunError> {
        match self.link {
            Some(_) => self.measure_linked(std::any::type_name_of_val(&program), &program, &map),
            None => {
                let (run, results) = self.measure(program)?.take_results();
                Ok(run.with_results(results.into_iter().map(map).collect()))
            }
        }
    }

    /// Runs a program on the machine's link. It is compiled for the results, and not for each program.
    fn measure_linked<T: Send, R: Payload>(
        &self,
        program_type: &str,
        program: ProgramFn<T>,
        map: &dyn Fn(T) -> R,
    ) -> Result<Run<R>, RunError> {
        let result = Mutex::new(None);
        let store_result = |p: &mut Proc| *result.lock() = Some(program(p));
        let mut pack_end = |stats: Stats| {
            let end = (stats, map(result.lock().take().expect("it has ended")));
            let mut pack = Pack::with_copied_slices();
            end.pack(&mut pack);
            bytes_to_bring_home(pack)
        };
        let packed = self.execute_linked(program_type, &store_result, &mut pack_end)?;
        let unpack = |packed: &Vec<u8>| <(Stats, R)>::unpack(&mut Unpack::new(packed, None));
        let all = packed.iter().map(unpack).collect::<Option<Vec<(Stats, R)>>>();
        let (processors, results): (Vec<Stats>, Vec<R>) =
            all.ok_or_else(results_of_another_program)?.into_iter().unzip();
        let time = processors.iter().map(|stats| stats.finish).max().unwrap_or_default();
        Ok(Run { results, processors, time, model: None, host: None, trace: None, recording: None })
    }

    /// Runs a program on the processor that is this process. Returns how each processor has ended, packed by
    /// `pack_end`.
    fn execute_linked(
        &self,
        program_type: &str,
        program: ProgramFn,
        pack_end: &mut dyn FnMut(Stats) -> Result<Vec<u8>, Cause>,
    ) -> Result<Vec<Vec<u8>>, RunError> {
        self.check_settings()?;
        let link = self.link.as_deref().expect("it has one");
        let setup = self.setup();
        let job = stable_hash(&(format!("{:?}", self.params), program_type, self.job_id));
        let mut body =
            |clock: &mut dyn ProgramClock| pack_end(setup.run_processor(link.id(), clock, program));
        let packed = linked::run(link, self.run_info(&setup), job, &mut body)?;
        if packed.len() == link.P() { Ok(packed) } else { Err(results_of_another_program()) }
    }

    /// Runs a program on the machine's clock. It is an error if a processor has crashed.
    // Inlined, it would be compiled for each program, and not for the results.
    #[inline(never)]
    fn execute_to_end<R: Send>(&self, runs: RunCount, program: ProgramFn<R>) -> Result<Run<R>, RunError> {
        let (run, results) = self.execute(runs, program)?;
        let mut all = Vec::with_capacity(results.len());
        for (id, result) in results.into_iter().enumerate() {
            all.push(result.ok_or(Cause::Crashed { id })?);
        }
        Ok(run.with_trace().with_results(all))
    }

    /// Runs a program on the machine's clock. Returns the run, and each processor's result; one that has crashed has
    /// none.
    fn execute<R: Send>(
        &self,
        runs: RunCount,
        program: ProgramFn<R>,
    ) -> Result<(Run<()>, Vec<Option<R>>), RunError> {
        self.check_can_run()?;
        let results: Vec<Mutex<Option<R>>> = (0..self.params.P).map(|_| Mutex::default()).collect();
        let store_result = |p: &mut Proc| *results[p.id()].lock() = Some(program(p));
        let forget_result = |id: usize| contain(|| drop(results[id].lock().take()));
        let mut run = self.execute_program(runs, &store_result, &forget_result)?;
        let results: Vec<_> = results.into_iter().map(Mutex::into_inner).collect();
        if self.end.at < Time::MAX && results.iter().any(Option::is_none) {
            (run.time, run.model) = (self.end.at, Some(self.end.at)); // programs have not ended
        }
        Ok((run, results))
    }

    /// Runs a program that stores its results. This is compiled once, not once for every program.
    fn execute_program(
        &self,
        runs: RunCount,
        program: ProgramFn,
        forget_result: &(dyn Fn(usize) + Sync),
    ) -> Result<Run<()>, RunError> {
        let forget_results = || (0..self.params.P).for_each(forget_result);
        let run = || match self.clock {
            ClockKind::Virtual => {
                let setup = self.setup();
                let body = |id: usize, clock: &mut dyn ProgramClock| setup.run_processor(id, clock, program);
                let outcome = match self.cores_used() {
                    1 => virtual_time::run(self.run_info(&setup), false, &body).map(|(outcome, _)| outcome),
                    cores => wall::run(self.run_info(&setup), Carrier::Coroutine, cores, None, &body)
                        .map(|(outcome, _)| outcome),
                };
                let outcome = outcome.map_err(|mut error| {
                    if let Some(observer) = &self.order.observer {
                        observer.record(self.recording(&setup));
                    }
                    let crashed = &setup.observed_faults.lock().crashed;
                    let those = error.processors.iter_mut().filter(|state| crashed.contains_key(&state.id));
                    those.for_each(|state| state.status = ProcStatus::Crashed);
                    error
                })?;
                // A program may have caught the panic of its crash.
                setup.observed_faults.lock().crashed.keys().for_each(|id| forget_result(*id));
                Ok(self.report(outcome, &setup))
            }
            ClockKind::Wall => self.run_on_wall_clock(runs, program, &forget_results),
        };
        if std::thread::panicking() {
            // A destructor runs the program. On a thread that unwinds, the processors would seem to unwind
            // too.
            let run = std::thread::scope(|scope| scope.spawn(run).join());
            run.unwrap_or_else(|panic| resume_unwind(panic))
        } else {
            run()
        }
        .inspect_err(|_| forget_results())
    }

    /// Refuses a run that cannot be on this computer.
    fn check_can_run(&self) -> Result<(), RunError> {
        self.check_settings()?;
        if self.link.is_some() {
            let sentence = "its processors are processes, whose results must travel; call measure_across";
            return Err(ParamsError::new(sentence).into());
        }
        limits::check(self.clock, self.carrier, self.params.P, self.stack, self.may_be_unguarded)?;
        Ok(())
    }

    /// Refuses a machine with impossible settings.
    fn check_settings(&self) -> Result<(), ParamsError> {
        self.params.check()?;
        Level::check(&self.params, &self.levels)?;
        self.transport.check(self.all_params(), !self.order.faults.is_empty())?;
        let sentence = if let Some((kind, unit)) = self.rates.negative() {
            format!("a unit of the work {kind:?} cannot cost {unit}; give 0 or more")
        } else if self.cores == 0 {
            "0 cores cannot run anything; give at least 1".into()
        } else if self.stack < Machine::LEAST_STACK {
            let least = Machine::LEAST_STACK;
            format!("a stack of {} bytes is too small; give at least {least} (32 KiB)", self.stack)
        } else if let Dilation::Fixed(dilation) = self.dilation
            && !(dilation.is_finite() && dilation > 0.0)
        {
            format!("a dilation of {dilation} cannot be; give a number above 0")
        } else if let Some(why) = self.link.as_deref().and_then(|link| self.link_conflict(link)) {
            why
        } else if self.clock == ClockKind::Wall && !self.order.faults.is_empty() {
            "messages are lost or come twice, and processors crash, on the virtual clock only; leave out the wall clock"
                .into()
        } else if cfg!(panic = "abort") && !self.order.faults.crashed.is_empty() {
            "a processor cannot crash where panics abort the process; let them unwind".into()
        } else if let Some(cost) = self.barrier.filter(|cost| *cost < Time::ZERO) {
            format!("a barrier that costs {cost} cannot be; give 0 or more")
        } else {
            return Ok(());
        };
        Err(ParamsError::new(sentence))
    }

    /// Iterates over the machine's own parameters, and those of each level.
    fn all_params(&self) -> impl Iterator<Item = &Params> + Clone {
        [&self.params].into_iter().chain(self.levels.iter().map(|level| &level.params))
    }

    /// Returns the reason why the machine cannot run over a link: another P, or a setting that only an
    /// emulated machine has.
    fn link_conflict(&self, link: &dyn Link) -> Option<String> {
        let P = self.params.P;
        if link.P() != P {
            let p = link.P();
            return Some(format!("P = {P}, and there are {p} processes; give P = {p}, or start {P}"));
        }
        let settings = [
            ("charged work", self.work == Work::Charged, "let it be measured"),
            ("trace", self.is_traced(), "leave it out"),
            ("levels", !self.levels.is_empty(), "leave them out"),
            ("ports", self.transport.ports != Ports::default(), "leave them out"),
            ("rendezvous", self.transport.rendezvous != Protocol::default(), "leave it out"),
            ("capacity", self.transport.capacity != Capacity::default(), "leave it out"),
            ("latency", self.order.latency != Latency::default(), "leave it out"),
            ("ties", self.order.ties != Ties::default(), "leave them out"),
            ("noise", self.order.noise.is_some(), "leave it out"),
            ("faults", !self.order.faults.is_empty(), "leave them out"),
            ("dilation", self.dilation != Dilation::default(), "leave it out"),
            ("barrier", self.barrier.is_some(), "leave it out"),
        ];
        let (what, _, remedy) = settings.into_iter().find(|(_, is_set, _)| *is_set)?;
        Some(format!("a real machine has no {what} to set; {remedy}"))
    }

    /// Returns the number of cores that a run uses.
    fn cores_used(&self) -> usize {
        if self.is_oversubscribed { self.cores.min(self.params.P) } else { self.parallelism() }
    }

    /// Runs a program on the wall clock, at the dilation that is set or that the host needs. `clear` drops
    /// the results of an earlier try.
    fn run_on_wall_clock(
        &self,
        runs: RunCount,
        program: ProgramFn,
        clear: &dyn Fn(),
    ) -> Result<Run<()>, RunError> {
        let P = self.params.P;
        let cores = self.cores_used();
        let notes = self.core_notes(cores);
        let may_run_again = runs == RunCount::AsNeeded && self.dilation == Dilation::Auto;
        let mut choice = match self.dilation {
            Dilation::Fixed(dilation) => DilationChoice { dilation, why: "as asked".into() },
            Dilation::Auto if runs == RunCount::Once => {
                DilationChoice { dilation: 1.0, why: "it was to run only once".into() }
            }
            Dilation::Auto => {
                let setup = self.setup();
                let body = |id: usize, clock: &mut dyn ProgramClock| setup.run_processor(id, clock, program);
                let (_, waits) = virtual_time::run(self.run_info(&setup), true, &body)?;
                let costs = switch_costs(self.carrier, P.div_ceil(cores));
                dilation::choose(&waits, cores, costs, self.work == Work::Measured)
            }
        };
        /// The largest number of runs with `auto` if no run is on time. The dilation is doubled each time.
        const TRIES: usize = 4;
        /// The largest number of runs with `auto` if a run is on time, but not close.
        const TRIES_TO_BE_CLOSE: usize = 3;
        let mut attempt = 0;
        loop {
            attempt += 1;
            clear();
            let setup = self.setup();
            let body = |id: usize, clock: &mut dyn ProgramClock| setup.run_processor(id, clock, program);
            let (outcome, host_report) =
                wall::run(self.run_info(&setup), self.carrier, cores, Some(choice.dilation), &body)?;
            let mut run = self.report(outcome, &setup);
            let late_requests: u64 = run.processors.iter().map(|stats| stats.out_of_order).sum();
            let out_of_order = host_report.out_of_order + late_requests;
            let host = Host::new(&host_report, run.time, out_of_order, cores, &choice, &notes);
            let tries = if host.on_time && !host.is_close { TRIES_TO_BE_CLOSE } else { TRIES };
            let is_good_enough = host.on_time && (host.is_close || self.work == Work::Measured);
            if is_good_enough || !may_run_again || attempt >= tries {
                if self.work == Work::Measured {
                    run.model = None; // its local times include the host's delays
                }
                if let Some(recording) = &mut run.recording {
                    recording.set_out_of_order(out_of_order);
                }
                return Ok(Run { time: host_report.finish, host: Some(host), ..run });
            }
            let at = choice.dilation;
            choice.dilation *= 2.0;
            let what = match host.out_of_order {
                0 => format!("the run ended {} ms late", three_digits(host.lateness.finish.in_units(MS))),
                n => format!("the host let {n} acts happen out of order"),
            };
            let [at, twice] = [at, choice.dilation].map(three_digits);
            choice.why = format!("at a dilation of {at} {what}, so it was doubled to {twice}");
        }
    }

    /// Returns notes on cores that the host does not offer.
    fn core_notes(&self, cores: usize) -> Vec<String> {
        let (P, parallelism) = (self.params.P, self.parallelism());
        let mut notes = Vec::new();
        if cores > parallelism {
            notes.push(format!("the host offers {parallelism} of {cores} cores, so some share one"));
        }
        if self.cores != usize::MAX && cores < self.cores.min(P) {
            notes.push(format!("the host offers {cores} of the {} cores asked for", self.cores));
        }
        if self.cores == usize::MAX && cores < P {
            notes.extend(HostCores::detect().why.map(String::from));
        }
        notes
    }

    /// Makes the state that the processors of one run share.
    fn setup(&self) -> Setup {
        let Order { latency, ties, precedence, rule, .. } = &self.order;
        let choice = Choice::new(&self.params, *latency, *ties);
        let choice = Arc::new(choice.with_precedence(precedence).with_rule(rule.clone()));
        let (mut rules, mut levels) = (self.params, Cow::Borrowed(&*self.levels));
        if self.link.is_some() {
            rules = self.params.without_costs();
        } else if self.order.is_unbounded {
            rules = self.params.without_network_limits();
            levels.to_mut().iter_mut().for_each(|level| level.params = level.params.without_network_limits());
        }
        let network = Network::with_choice(rules, self.transport, &levels, choice, self.surcharge)
            .with_noise(self.order.noise.clone());
        Setup {
            params: self.params,
            levels: self.levels.clone(),
            network,
            work: self.work,
            rates: self.rates.clone(),
            barrier: self.barrier,
            groups: if self.link.is_some() { Groups::for_processes() } else { Groups::default() },
            names: Arc::default(),
            observed_faults: Mutex::default(),
            end: self.end,
            faults: self.order.faults.clone(),
            is_traced: self.is_traced(),
            keeps_locations: self.order.observer.is_some(),
            logs: Mutex::default(),
            time_asked: AtomicBool::new(false),
            run: RUNS.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Returns the facts about a run that a clock needs.
    fn run_info(&self, setup: &Setup) -> RunInfo {
        let network = &setup.network;
        RunInfo {
            P: self.params.P,
            stack: StackSettings { size: self.stack, may_be_unguarded: self.may_be_unguarded },
            patience: self.patience.clone(),
            places: network.places(),
            lookahead: network.lookahead(),
            signals_are_acts: self.barrier == Some(Time::ZERO) || network.has_rooms(),
            is_instant_pair: network.is_instant_pair() && setup.faults.is_empty(),
            has_rendezvous: network.may_be_synchronous(usize::MAX),
            cost: network.reception_costs(),
            ingress_count: network.ingress_count(),
            tag_names: setup.names.clone(),
            faults: setup.faults.clone(),
            end: self.end,
        }
    }

    /// Puts together the report of a run from the processors' accounts and logs.
    fn report(&self, outcome: RunOutcome<Stats>, setup: &Setup) -> Run<()> {
        let RunOutcome { results: mut processors, most_to } = outcome;
        for (id, (stats, most_to)) in processors.iter_mut().zip(most_to).enumerate() {
            stats.most_to = most_to;
            if setup.network.has_rooms() {
                [stats.most_from, stats.most_to] = setup.network.most_in_rooms(id);
            }
        }
        let time = processors.iter().map(|stats| stats.finish).max().unwrap_or_default();
        let mut run = Run {
            results: Vec::new(),
            processors,
            time,
            model: Some(time),
            host: None,
            trace: None,
            recording: None,
        };
        if let Some(observer) = &self.order.observer {
            let recording = self.recording(setup);
            run.recording = self.trace.then(|| recording.clone());
            observer.record(recording);
        } else if self.trace {
            run.recording = Some(self.recording(setup));
        }
        run
    }

    /// Returns whether a run is traced: for its report, or for the observer.
    fn is_traced(&self) -> bool {
        self.trace || self.order.observer.is_some()
    }

    /// Returns what a run has written.
    fn recording(&self, setup: &Setup) -> Recording {
        let trace = Trace {
            levels: self.levels.to_vec(),
            latency: self.order.latency,
            ties: self.order.ties,
            precedence: (*self.order.precedence).clone(),
            noise: self.order.noise.clone(),
            faults: Faults {
                ended_early: self.end.may_leave_messages,
                ..setup.observed_faults.lock().clone()
            },
            barrier: self.barrier,
            ..Trace::empty(self.params)
        };
        let trace = trace.with_transport(self.transport);
        let logs = std::mem::take(&mut *setup.logs.lock());
        let asks_time = setup.time_asked.load(Ordering::Relaxed);
        Recording::new(trace, logs, setup.groups.sorted_numbers()).with_time_asked(asks_time)
    }
}

/// Returns the bytes of a result that is sent to all processes.
fn bytes_to_bring_home(mut pack: Pack) -> Result<Vec<u8>, Cause> {
    match pack.refused_type {
        None => Ok(std::mem::take(&mut pack.bytes)),
        Some(type_name) => Err(Cause::OtherProcess(format!(
            "a {type_name} cannot be brought home, as it does not say how it is packed; derive `Payload`"
        ))),
    }
}

fn results_of_another_program() -> RunError {
    let why = "the results that came over the link are not those of this program; let all processes run it";
    Cause::OtherProcess(why.into()).into()
}

/// Returns a number with three digits, or more before the point.
fn three_digits(number: f64) -> String {
    let decimals = (2 - number.abs().max(1e-3).log10().floor() as i32).max(0) as usize;
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').into() } else { text }
}

/// Returns the times that a core of this computer needs to let its processors go on, by their number and
/// carrier. They are measured once in a process, on a run that is late from its beginning to its end.
fn switch_costs(carrier: Carrier, processors: usize) -> SwitchCosts {
    /// The more processors share a core, the less of each is in its cache. With more than this number it
    /// changes little.
    const MOST: usize = 256;
    /// The least number of messages in a measurement.
    const MESSAGES: usize = 1024;
    /// The number of measurements, of which the median is taken.
    const TIMES: usize = 3;
    static MEASURED: Mutex<BTreeMap<(Carrier, usize), SwitchCosts>> = Mutex::new(BTreeMap::new());

    let message = |processors: usize| {
        let params = Params::builder(processors).L(3 * US).o(US).g(US).build().expect("it can be");
        let machine = Machine::new(params).clock(ClockKind::Wall).carrier(carrier).cores(1);
        let rounds = MESSAGES.div_ceil(processors).max(4);
        let ring = |p: &mut Proc| {
            for _ in 0..rounds {
                p.send((p.id() + 1) % p.P(), Tag::<u64>::new(0), 0);
                p.recv(Tag::<u64>::new(0));
            }
        };
        let once = || {
            let host = machine.clone().dilation(Dilation::Fixed(1e-6)).run(ring).ok()?.host?;
            Some(host.lateness.finish / (rounds * processors) as i64)
        };
        let mut times: Vec<Time> = (0..TIMES).filter_map(|_| once()).collect();
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or(Time::ZERO)
    };
    let processors = processors.next_power_of_two().clamp(2, MOST);
    let key = (carrier, processors);
    if let Some(costs) = MEASURED.lock().get(&key) {
        return *costs;
    }
    // Each message is two waits, and one hand-over where a core has several processors.
    let (alone, shared) = (message(1), message(processors));
    let rounded = |time: Time| time / (10 * NS).as_ps() * (10 * NS).as_ps();
    let costs =
        SwitchCosts { wait: rounded(alone / 2), hand_over: rounded((shared - alone).max(Time::ZERO)) };
    MEASURED.lock().insert(key, costs);
    costs
}

impl Run<()> {
    /// Returns the run with results.
    fn with_results<R>(self, results: Vec<R>) -> Run<R> {
        let Run { results: _, processors, time, model, host, trace, recording } = self;
        Run { results, processors, time, model, host, trace, recording }
    }

    /// Returns the run with its trace, if it was traced.
    fn with_trace(mut self) -> Run<()> {
        if let Some(recording) = self.recording.take() {
            self.trace = Some(recording.into_trace());
        }
        self
    }
}

impl<R> Run<R> {
    /// Splits the run into a run without results, and the results.
    pub fn take_results(self) -> (Run<()>, Vec<R>) {
        let Run { results, processors, time, model, host, trace, recording } = self;
        (Run { results: Vec::new(), processors, time, model, host, trace, recording }, results)
    }

    /// Returns the number of messages sent.
    pub fn messages(&self) -> u64 {
        self.processors.iter().map(|stats| stats.sent).sum()
    }

    /// Returns the number of stalls of all processors.
    pub fn stalls(&self) -> u64 {
        self.processors.iter().map(|stats| stats.stalls).sum()
    }

    /// Returns the sum of all processors' stall times.
    pub fn stalled(&self) -> Time {
        self.processors.iter().map(|stats| stats.stall).sum()
    }

    /// Returns the largest number of messages that were in transit from one processor, or to one, at once. It
    /// is 0 where the capacity is unlimited.
    pub fn most_in_transit(&self) -> usize {
        self.processors.iter().map(Stats::most_in_transit).max().unwrap_or(0)
    }
}

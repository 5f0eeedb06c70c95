//! The machine: its parameters and its settings, and a run of a program on it.

mod host;
pub(crate) mod limits;
mod names;
mod order;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::Hash;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use crate::clock::wall::carrier::Carrier;
use crate::clock::wall::cores::Cores;
use crate::clock::wall::dilation::{self, Chosen, Dilation, Effort, Recorder};
use crate::clock::wall::{self, cores};
use crate::clock::watchdog::{Patience, Silence};
use crate::clock::{Clock, ClockKind, Faulty, Foreknown, linked, virtual_time};
use crate::error::{Cause, Doing, RunError};
use crate::link::Link;
use crate::message::{Pack, Payload, Tag, Unpack, number_of};
use crate::params::{Latency, Level, Noise, Params, ParamsError, Ports, Precedence, Surcharge, Ties};
use crate::proc::{Groups, Proc, Rates, Setup, Work};
use crate::rules::Stats;
use crate::rules::choice::{Choice, Drawn, Rule, Ruled};
use crate::rules::network::Network;
use crate::time::{MS, NS, Time, US};
use crate::trace::{Faults, Trace};

pub use host::{Host, Lateness};
pub use order::Order;
pub(crate) use order::{Seen, Sight};

/// A parallel machine on which programs run.
///
/// ```
/// use loggp::{Machine, Params, Tag, US};
///
/// const DATUM: Tag<u64> = Tag::new(0);
///
/// // LogP's figure 3 begins like this: the source sends, and the datum is there after L + 2o.
/// let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build()?;
/// let machine = Machine::new(params);
/// let run = machine.run(|p| match p.id() {
///     0 => { p.send(1, DATUM, 42); 0 }
///     _ => p.recv_from(0, DATUM),
/// })?;
/// assert_eq!(run.results, [0, 42]);
/// assert_eq!(run.time, 10 * US);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a setting gives back the machine that has it"]
pub struct Machine {
    params: Params,
    clock: ClockKind,
    ports: Ports,
    latency: Latency,
    ties: Ties,
    /// Who goes first at some moments, whatever the ties say.
    precedence: Arc<Precedence>,
    /// The noise of the processors.
    noise: Option<Noise>,
    /// What goes wrong.
    faults: Arc<Faults>,
    rule: Option<Rule>,
    is_unbounded: bool,
    sight: Option<Sight>,
    work: Work,
    rates: Rates,
    levels: Arc<[Level]>,
    barrier: Option<Time>,
    surcharge: Surcharge,
    trace: bool,
    stack: usize,
    cores: usize,
    oversubscribed: bool,
    carrier: Carrier,
    dilation: Dilation,
    patience: Patience,
    over: Option<Arc<dyn Link>>,
    case: u64,
}

/// A run that came to its end.
#[derive(Debug)]
#[non_exhaustive]
pub struct Run<R> {
    /// What each processor's program returned.
    pub results: Vec<R>,
    /// Where each processor's time went.
    pub processors: Vec<Stats>,
    /// When the last processor finished: in the model on the virtual clock, and really on the wall clock.
    pub time: Time,
    /// When the last processor finishes in the model, where that is known: on the virtual clock, and on the wall clock
    /// where work is charged. A run on the wall clock takes longer by as much as the host was late at the end.
    pub model: Option<Time>,
    /// How the host held a run on the wall clock.
    pub host: Option<Host>,
    /// What happened, if the machine was told to [trace](Machine::trace).
    pub trace: Option<Trace>,
}

/// How many runs there were in this process.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// How often a program runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    /// Exactly once.
    Once,
    /// As often as the wall clock needs to find a dilation at which the host holds it.
    AsNeeded,
}

/// A program, its results aside.
type Program<'a> = &'a (dyn Fn(&mut Proc) + Sync);

/// What a processor does on its clock, by its number.
type LifeOf<'a, T> = &'a (dyn Fn(usize, &mut dyn Clock) -> T + Sync);

impl Setup {
    /// What the network's rules say of the order of acts, and of what a reception takes.
    fn known(&self) -> Foreknown {
        let (places, lookahead) = (self.network.places(), self.network.lookahead());
        Foreknown {
            places,
            lookahead,
            cost: self.network.reception_cost(),
            entrances: self.network.entrances(),
            names: self.names.clone(),
            faults: self.faults.clone(),
        }
    }

    /// Lives one processor's life. Returns where its time went.
    fn live(&self, id: usize, clock: &mut dyn Clock, program: Program) -> Stats {
        match self.faults.is_empty() {
            true => self.live_on(id, clock, program),
            false => self.live_on(id, &mut Faulty::new(id, clock, &self.faults, &self.happened), program),
        }
    }

    /// The same, whether things go wrong on the clock or not.
    fn live_on(&self, id: usize, clock: &mut dyn Clock, program: Program) -> Stats {
        let mut proc = Proc::new(id, clock, self);
        proc.tells_clock();
        let mut lived = catch_unwind(AssertUnwindSafe(|| {
            program(&mut proc);
            proc.ends();
        }));
        if lived.is_err() && self.happened.lock().crashed.contains_key(&id) {
            lived = Ok(()); // it is over, as it was to be
        }
        let (stats, log) = proc.finish(lived.is_ok());
        // What it did is seen also if the run fails.
        if let Some(log) = log {
            self.logs.lock().push((id, log));
        }
        lived.map_or_else(|payload| resume_unwind(payload), |()| stats)
    }
}

impl Machine {
    /// The least stack of a processor, in bytes. With less, a program could not even end in good order: a panic needs
    /// some to say what is wrong.
    pub const LEAST_STACK: usize = 32 << 10;

    /// A machine with these parameters: on the virtual clock, with exact latency, single ports and charged work. Its
    /// runs are exact, and the same every time.
    pub fn new(params: Params) -> Machine {
        Machine {
            params,
            clock: ClockKind::default(),
            ports: Ports::default(),
            latency: Latency::default(),
            ties: Ties::default(),
            precedence: Arc::default(),
            noise: None,
            faults: Arc::default(),
            rule: None,
            is_unbounded: false,
            sight: None,
            work: Work::default(),
            rates: Rates::default(),
            levels: Arc::default(),
            barrier: None,
            surcharge: Surcharge::default(),
            trace: false,
            stack: 256 << 10,
            cores: usize::MAX,
            oversubscribed: false,
            carrier: Carrier::default(),
            dilation: Dilation::default(),
            patience: Patience::default(),
            over: None,
            case: 0,
        }
    }

    /// The machine's parameters.
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Gives the machine levels, from the outermost to the innermost, two at most: nodes, and sockets within nodes. Messages
    /// within a group of a level cost what the level says; those between its outermost groups what the machine's own
    /// parameters say. A processor keeps one gap: after a message that of the level at which it went. Each level has a
    /// capacity and ports of its own.
    ///
    /// Broadcast, reduce, all-gather and the barrier go [level by level](crate::collectives). What programs plan by are the
    /// machine's own [parameters](Proc::params), and [`Proc::params_to`] has those between two processors.
    pub fn levels(self, levels: impl IntoIterator<Item = Level>) -> Machine {
        Machine { levels: levels.into_iter().collect(), ..self }
    }

    /// Sets the clock.
    pub fn clock(self, clock: ClockKind) -> Machine {
        Machine { clock, ..self }
    }

    /// Sets how many long messages a processor's interface handles at once.
    pub fn ports(self, ports: Ports) -> Machine {
        Machine { ports, ..self }
    }

    /// Sets how long a word is under way.
    pub fn latency(self, latency: Latency) -> Machine {
        Machine { latency, rule: None, is_unbounded: false, ..self }
    }

    /// Sets who goes first among processors that act at the same time.
    pub fn ties(self, ties: Ties) -> Machine {
        Machine { ties, precedence: Arc::default(), ..self }
    }

    /// Gives the processors noise: it lengthens their work, and the overhead of messages and requests.
    pub fn noise(self, noise: impl Into<Option<Noise>>) -> Machine {
        Machine { noise: noise.into(), ..self }
    }

    /// Whether the processors have noise.
    pub(crate) fn has_noise(&self) -> bool {
        self.noise.is_some()
    }

    /// Repeats a run that was traced: every message gets the latency that it had there, who acts at the same time does so
    /// in the same order, and the processors have the noise that they had. The parameters and all other settings are this machine's.
    ///
    /// ```
    /// use loggp::{Latency, Machine, Params, Ties, US};
    ///
    /// let machine = Machine::new(Params::builder(4).L(6 * US).o(2 * US).g(4 * US).build()?);
    /// let program = |p: &mut loggp::Proc| loggp::collectives::all_to_all(p, vec![p.id(); p.p()]);
    /// let drawn = machine.clone().latency(Latency::Random { seed: 7 }).ties(Ties::Random { seed: 8 });
    /// let trace = drawn.trace(true).run(program)?.trace.unwrap();
    ///
    /// let again = machine.repeat(&trace).trace(true).run(program)?.trace.unwrap();
    /// assert_eq!(again, trace);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn repeat(self, trace: &Trace) -> Machine {
        self.ordered(&Order::of(trace))
    }

    /// Sets an order of messages, such as one under which a [check](Machine::check) failed. It takes the place of the
    /// [latency](Machine::latency) and the [ties](Machine::ties).
    pub fn ordered(self, order: &Order) -> Machine {
        let Order { latency, ties, precedence, noise, rule, faults, is_unbounded, sight } = order.clone();
        let (noise, trace) = (noise.or(self.noise), self.trace || sight.is_some());
        Machine { latency, ties, precedence, noise, rule, faults, is_unbounded, trace, sight, ..self }
    }

    /// The order of messages that the machine has.
    pub(crate) fn order(&self) -> Order {
        let Machine { latency, ties, precedence, rule, faults, .. } = self.clone();
        Order { latency, ties, precedence, rule, faults, ..Order::default() }
    }

    /// Sets what computing costs; it is charged, unless told.
    pub fn work(self, work: Work) -> Machine {
        Machine { work, ..self }
    }

    /// Sets what a unit of one kind of work costs where work is charged; a cycle, unless told. It may be 0, and not
    /// less.
    pub fn rate(mut self, kind: &'static str, unit: Time) -> Machine {
        self.rates.set(kind, unit);
        self
    }

    /// Gives the machine a barrier of its own, such as the CM-5's control network has: every processor goes
    /// on this long after the last one has come to it. See [`Proc::barrier`].
    pub fn barrier(self, cost: Time) -> Machine {
        Machine { barrier: Some(cost), ..self }
    }

    /// Sets what longer messages cost beside what the parameters say.
    pub(crate) fn surcharge(self, surcharge: Surcharge) -> Machine {
        Machine { surcharge, ..self }
    }

    /// Sets whether a run records what happens.
    pub fn trace(self, trace: bool) -> Machine {
        Machine { trace, ..self }
    }

    /// Sets how many bytes of stack each processor has, above its guard page: 256 KiB unless told, and 32 KiB at least.
    /// A program that needs more ends the process, with a word on which processor it was.
    pub fn stack(self, bytes: usize) -> Machine {
        Machine { stack: bytes, ..self }
    }

    /// Sets how many of the host's cores a run may use, at least 1. Unless told the wall clock uses one thread of each fast
    /// core, and the virtual clock one.
    ///
    /// On the virtual clock all is the same on several cores as on one: results, accounts and the trace. Programs that compute
    /// for long between their messages take less of the host's time. Those that do little but send take more, because a
    /// message that others can see waits until all earlier ones on other cores have been sent.
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

    /// Lets a run use as many cores as are [set](Machine::cores), even where the host has fewer: then some of them share a core.
    /// No run can be in time so, but all else is the same. Tests try in this way what needs many cores.
    #[doc(hidden)]
    pub fn oversubscribed(self, oversubscribed: bool) -> Machine {
        Machine { oversubscribed, ..self }
    }

    /// Sets what carries a processor on the wall clock: a thread, unless told.
    ///
    /// ```
    /// use loggp::{Carrier, ClockKind, Machine, Params, US};
    ///
    /// // A thousand processors act at once, which as threads could hardly hand their cores to each other in time.
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

    /// How many processors compute at the same time: as many as there are [cores](Machine::cores) for them.
    ///
    /// ```
    /// use loggp::{ClockKind, Machine, Params};
    ///
    /// let machine = Machine::new(Params::builder(64).build()?);
    /// assert_eq!(machine.at_once(), 1);
    /// assert_eq!(machine.clock(ClockKind::Wall).cores(1).at_once(), 1);
    /// # Ok::<(), loggp::ParamsError>(())
    /// ```
    pub fn at_once(&self) -> usize {
        match self.clock {
            ClockKind::Virtual if self.cores == usize::MAX => 1,
            _ => cores::cores_for(self.params.P, self.cores),
        }
    }

    /// Sets how much slower than it should the machine runs on the wall clock. Unless told it is found, and for that
    /// [`run`](Machine::run) runs a program several times.
    pub fn dilation(self, dilation: Dilation) -> Machine {
        Machine { dilation, ..self }
    }

    /// Sets how long a processor may stay away from the machine's calls, in the host's time, before somebody is
    /// [told](Machine::on_silence); 10 s unless told.
    pub fn patience(mut self, patience: Duration) -> Machine {
        self.patience.lasts = patience;
        self
    }

    /// Sets who is told when a processor has stayed away from the machine's calls for too long: it may wait for something
    /// that no other processor can do meanwhile. Unless told, a line on stderr says which one and since when. It is told
    /// once, from a thread that belongs to no run. The run goes on.
    ///
    /// ```
    /// use std::sync::{Mutex, mpsc};
    /// use std::time::Duration;
    /// use loggp::{Machine, Params};
    ///
    /// let (tell, told) = mpsc::channel();
    /// let machine = Machine::new(Params::builder(1).build()?)
    ///     .patience(Duration::from_millis(100))
    ///     .on_silence(move |silence| tell.send(silence.id).unwrap());
    /// let told = Mutex::new(told);
    /// let run = machine.run(|_| told.lock().unwrap().recv().unwrap())?;
    /// assert_eq!(run.results, [0]); // it waited until it was noticed
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_silence(mut self, tell: impl Fn(&Silence) + Send + Sync + 'static) -> Machine {
        self.patience.tell = Arc::new(tell);
        self
    }

    /// Runs a program on every processor, and returns when all have finished.
    ///
    /// The program may borrow from its caller.
    ///
    /// On the wall clock it **may run several times**, unless its [dilation](Machine::dilation) is fixed: once on the
    /// virtual clock to find the dilation, and up to four times on the wall clock until the host holds it. Results,
    /// times and the trace are of the last one, but what a program does outside the machine (it prints, counts, takes
    /// from a queue) it does each time. [`run_once`](Machine::run_once) runs it once.
    pub fn run<R: Send>(&self, program: impl Fn(&mut Proc) -> R + Sync) -> Result<Run<R>, RunError> {
        self.execute(Runs::AsNeeded, program)?.of_all()
    }

    /// Runs a program exactly once on every processor, whatever the clock.
    ///
    /// On the wall clock it runs at the [dilation](Machine::dilation) that is fixed, and at 1, full speed, with
    /// [`Dilation::Auto`]. Whether the host could hold that is told by [`Host::held`].
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use loggp::{ClockKind, Machine, Params, US};
    ///
    /// let machine = Machine::new(Params::builder(4).L(6 * US).o(2 * US).build()?).clock(ClockKind::Wall);
    /// let calls = AtomicUsize::new(0);
    /// let run = machine.run_once(|_| calls.fetch_add(1, Ordering::Relaxed))?;
    /// assert_eq!(calls.into_inner(), 4);
    /// assert_eq!(run.host.unwrap().dilation, 1.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_once<R: Send>(&self, program: impl Fn(&mut Proc) -> R + Sync) -> Result<Run<R>, RunError> {
        self.execute(Runs::Once, program)?.of_all()
    }

    /// Runs a program exactly once on every processor, under an [order](Machine::ordered) in which some may crash: these have
    /// no result.
    pub fn run_surviving<R: Send>(
        &self,
        program: impl Fn(&mut Proc) -> R + Sync,
    ) -> Result<Run<Option<R>>, RunError> {
        self.execute(Runs::Once, program)
    }

    /// Runs a program with an input for each processor, which it gets as its own. There must be P inputs. As they can
    /// be moved only once, it runs as with [`run_once`](Machine::run_once).
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
        self.run_once(|p| {
            let input = inputs[p.id()].lock().take().expect("it runs once");
            program(p, input)
        })
    }

    /// The program runs on a real machine: each processor is a process of its own, which calls
    /// [`run_across`](Machine::run_across), and the link carries its messages. Time is the time that passes, and work what it
    /// takes. The parameters are what programs plan by; the real machine costs what it costs.
    pub fn over(self, link: Arc<dyn Link>) -> Machine {
        Machine { over: Some(link), work: Work::Measured, ..self }
    }

    /// Sets what the program is to do, as far as its parameters and its type do not say it: its size, say. Processes that are to
    /// do different things [over](Machine::over) a link do not begin.
    pub fn case(self, case: &impl Hash) -> Machine {
        Machine { case: number_of(case), ..self }
    }

    /// Runs a program on all processors, and gives all their results to each of them. On a machine [over](Machine::over) a link
    /// all processes must call it, with the same program; the results travel too. On any other it is
    /// [`run`](Machine::run), so a program that uses it runs on both.
    pub fn run_across<R: Payload>(
        &self,
        program: impl Fn(&mut Proc) -> R + Sync,
    ) -> Result<Run<R>, RunError> {
        self.run_home(program, |result| result)
    }

    /// The same, but `home` says what of a processor's result is brought home, once the processor's time is over.
    pub fn run_home<T: Send, R: Payload>(
        &self,
        program: impl Fn(&mut Proc) -> T + Sync,
        home: impl Fn(T) -> R,
    ) -> Result<Run<R>, RunError> {
        let Some(link) = &self.over else {
            let (run, results) = self.run(program)?.take_results();
            return Ok(run.exchange_results(results.into_iter().map(home).collect()).0);
        };
        self.can_be()?;
        let setup = self.setup();
        let case = (format!("{:?}", self.params), std::any::type_name_of_val(&program), self.case);
        let mut body = |clock: &mut dyn Clock| {
            let result = Mutex::new(None);
            let stats = setup.live(link.id(), clock, &|p| *result.lock() = Some(program(p)));
            let brought = (stats, home(result.into_inner().expect("it has ended")));
            let mut pack = Pack::whole();
            brought.pack(&mut pack);
            match pack.refused {
                None => Ok(std::mem::take(&mut pack.bytes)),
                Some(of) => Err(Cause::Elsewhere(format!(
                    "a {of} cannot be brought home, as it does not say how it is packed; derive `Payload`"
                ))),
            }
        };
        let brought = linked::run(&**link, setup.known(), &self.patience, number_of(&case), &mut body)?;
        let unpack = |brought: &Vec<u8>| <(Stats, R)>::unpack(&mut Unpack::new(brought, None));
        let all: Vec<(Stats, R)> = brought.iter().map(unpack).collect::<Option<_>>().expect("it was packed");
        let (processors, results): (Vec<Stats>, Vec<R>) = all.into_iter().unzip();
        let time = processors.iter().map(|stats| stats.finish).max().unwrap_or_default();
        Ok(Run { results, processors, time, model: None, host: None, trace: None })
    }

    /// Runs a program as often as it may and must. Who has crashed has no result.
    fn execute<R: Send>(
        &self,
        runs: Runs,
        program: impl Fn(&mut Proc) -> R + Sync,
    ) -> Result<Run<Option<R>>, RunError> {
        self.can_be()?;
        if self.over.is_some() {
            let sentence = "its processors are processes, whose results must travel; call run_across";
            return Err(ParamsError::new(sentence).into());
        }
        limits::check(self.clock, self.carrier, self.params.P, self.stack)?;
        // All else is compiled once, not once for every program.
        let results: Vec<Mutex<Option<R>>> = (0..self.params.P).map(|_| Mutex::default()).collect();
        let clear = || results.iter().for_each(|result| *result.lock() = None);
        let live = |p: &mut Proc| *results[p.id()].lock() = Some(program(p));
        let run = || match self.clock {
            ClockKind::Virtual => {
                let setup = self.setup();
                let lives =
                    self.emulate(&setup, self.cores_at_once(), &|id, clock| setup.live(id, clock, &live));
                let lives = lives.map_err(|mut error| {
                    drop(self.report(Vec::new(), &setup));
                    let crashed = &setup.happened.lock().crashed;
                    let those = error.processors.iter_mut().filter(|state| crashed.contains_key(&state.id));
                    those.for_each(|state| state.doing = Doing::Crashed);
                    error
                })?;
                // A program may have caught that its processor crashed.
                setup.happened.lock().crashed.keys().for_each(|id| *results[*id].lock() = None);
                Ok(self.report(lives, &setup))
            }
            ClockKind::Wall => self.measure(runs, &live, &clear),
        };
        let run: Run<()> = if std::thread::panicking() {
            // A destructor runs it. On a thread that unwinds, the processors would take themselves to unwind.
            let run = std::thread::scope(|scope| scope.spawn(run).join());
            run.unwrap_or_else(|panic| resume_unwind(panic))?
        } else {
            run()?
        };
        let results = results.into_iter().map(Mutex::into_inner).collect();
        Ok(run.exchange_results(results).0)
    }

    /// Refuses a machine that cannot be.
    fn can_be(&self) -> Result<(), ParamsError> {
        self.params.check()?;
        Level::check(&self.params, &self.levels)?;
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
        } else if let Some(why) = self.over.as_deref().and_then(|link| self.cannot_run_over(link)) {
            why
        } else if self.clock == ClockKind::Wall && !self.faults.is_empty() {
            "messages are lost or come twice, and processors crash, on the virtual clock only; leave out the wall clock"
                .into()
        } else if cfg!(panic = "abort") && !self.faults.crashed.is_empty() {
            "a processor cannot crash where panics abort the process; let them unwind".into()
        } else if let Some(cost) = self.barrier.filter(|cost| *cost < Time::ZERO) {
            format!("a barrier that costs {cost} cannot be; give 0 or more")
        } else {
            return Ok(());
        };
        Err(ParamsError::new(sentence))
    }

    /// Why the machine cannot run over a link: it has another P, or what only an emulated machine has.
    fn cannot_run_over(&self, link: &dyn Link) -> Option<String> {
        let P = self.params.P;
        if link.p() != P {
            let p = link.p();
            return Some(format!("P = {P}, and there are {p} processes; give P = {p}, or start {P}"));
        }
        let settings = [
            ("charged work", self.work == Work::Charged, "let it be measured"),
            ("trace", self.trace, "leave it out"),
            ("levels", !self.levels.is_empty(), "leave them out"),
            ("ports", self.ports != Ports::default(), "leave them out"),
            ("latency", self.latency != Latency::default(), "leave it out"),
            ("ties", self.ties != Ties::default(), "leave them out"),
            ("noise", self.noise.is_some(), "leave it out"),
            ("faults", !self.faults.is_empty(), "leave them out"),
            ("dilation", self.dilation != Dilation::default(), "leave it out"),
            ("barrier", self.barrier.is_some(), "leave it out"),
        ];
        let (what, _, remedy) = settings.into_iter().find(|(_, is_set, _)| *is_set)?;
        Some(format!("a real machine has no {what} to set; {remedy}"))
    }

    /// Runs on the virtual clock, on so many cores. Returns what each processor's `body` returns.
    fn emulate<T: Send>(&self, setup: &Setup, cores: usize, body: LifeOf<T>) -> Result<Vec<T>, RunError> {
        let (P, stack, known, patience) = (self.params.P, self.stack, setup.known(), self.patience.clone());
        match cores {
            1 => virtual_time::run(P, stack, known, patience, body),
            _ => wall::run(P, Carrier::Coroutine, stack, cores, known, patience, None, body)
                .map(|(results, _)| results),
        }
    }

    /// How many cores a run uses.
    fn cores_at_once(&self) -> usize {
        if self.oversubscribed { self.cores.min(self.params.P) } else { self.at_once() }
    }

    /// Runs on the wall clock, at the dilation that was asked for or that the host needs. `clear` drops what
    /// an earlier try returned, before time runs again.
    fn measure(&self, runs: Runs, program: Program, clear: &dyn Fn()) -> Result<Run<()>, RunError> {
        let P = self.params.P;
        let cores = self.cores_at_once();
        let mut notes = Vec::new();
        if cores > self.at_once() {
            notes.push(format!("the host offers {} of {cores} cores, so some share one", self.at_once()));
        }
        if self.cores != usize::MAX && cores < self.cores.min(P) {
            notes.push(format!("the host offers {cores} of the {} cores asked for", self.cores));
        }
        if self.cores == usize::MAX && cores < P {
            notes.extend(Cores::here().why.map(String::from));
        }
        let may_run_again = runs == Runs::AsNeeded && self.dilation == Dilation::Auto;
        let mut choice = match self.dilation {
            Dilation::Fixed(dilation) => Chosen { dilation, why: "as asked".into() },
            Dilation::Auto if runs == Runs::Once => {
                Chosen { dilation: 1.0, why: "it was to run only once".into() }
            }
            Dilation::Auto => {
                let setup = self.setup();
                let body = |id: usize, clock: &mut dyn Clock| {
                    let mut recorder = Recorder::new(clock, setup.network.reception_cost());
                    setup.live(id, &mut recorder, program);
                    recorder.waits
                };
                let waits = self.emulate(&setup, 1, &body)?;
                let effort = effort(self.carrier, P.div_ceil(cores));
                dilation::choose(&waits, cores, effort, self.work == Work::Measured)
            }
        };
        /// How often `auto` runs if the dilation was not enough for the host to hold it; it doubles it each time.
        const TRIES: usize = 4;
        /// How often `auto` runs if the host held the dilation, but not as closely as it could.
        const TRIES_TO_BE_CLOSE: usize = 3;
        let mut attempt = 0;
        loop {
            attempt += 1;
            clear();
            let setup = self.setup();
            let body = |id: usize, clock: &mut dyn Clock| setup.live(id, clock, program);
            let (lives, findings) = wall::run(
                P,
                self.carrier,
                self.stack,
                cores,
                setup.known(),
                self.patience.clone(),
                Some(choice.dilation),
                &body,
            )?;
            let mut run = self.report(lives, &setup);
            let late_requests: u64 = run.processors.iter().map(|stats| stats.out_of_order).sum();
            let out_of_order = findings.out_of_order + late_requests;
            let host = Host::new(&findings, run.time, out_of_order, cores, &choice, &notes);
            let tries = if host.held && !host.close { TRIES_TO_BE_CLOSE } else { TRIES };
            let content = host.held && (host.close || self.work == Work::Measured);
            if content || !may_run_again || attempt >= tries {
                if self.work == Work::Measured {
                    run.model = None; // its local times contain what the host took
                }
                if let Some(trace) = &mut run.trace {
                    trace.out_of_order = out_of_order;
                }
                return Ok(Run { time: findings.finish, host: Some(host), ..run });
            }
            let at = choice.dilation;
            choice.why = match host.out_of_order {
                0 => format!("at {at:.3} it ended {:.3} ms late", host.lateness.finish.in_units(MS)),
                n => format!("at {at:.3} the host let {n} acts happen out of order"),
            };
            choice.dilation *= 2.0;
        }
    }

    /// What the processors of one run share.
    fn setup(&self) -> Setup {
        let drawn = Drawn::new(&self.params, self.latency, self.ties).preceded_by(&self.precedence);
        let choice: Arc<dyn Choice> = match self.rule.clone() {
            Some(rule) => Arc::new(Ruled { rule, drawn }),
            None => Arc::new(drawn),
        };
        let (mut rules, mut levels) = (self.params, Cow::Borrowed(&*self.levels));
        if self.over.is_some() {
            rules = self.params.free();
        } else if self.is_unbounded {
            rules = self.params.unbounded();
            levels.to_mut().iter_mut().for_each(|level| level.params = level.params.unbounded());
        }
        let network = Network::settled_by(rules, self.ports, &levels, choice, self.surcharge)
            .with_noise(self.noise.clone());
        Setup {
            params: self.params,
            levels: self.levels.clone(),
            network,
            work: self.work,
            rates: self.rates.clone(),
            barrier: self.barrier,
            groups: if self.over.is_some() { Groups::apart() } else { Groups::default() },
            names: Arc::default(),
            happened: Mutex::default(),
            faults: self.faults.clone(),
            trace: self.trace,
            logs: Mutex::default(),
            run: RUNS.fetch_add(1, Ordering::Relaxed),
        }
    }

    /// Puts together what the processors brought home; of a run that has failed, what they did.
    fn report(&self, processors: Vec<Stats>, setup: &Setup) -> Run<()> {
        let mut trace = Trace {
            params: self.params,
            levels: self.levels.to_vec(),
            ports: self.ports,
            latency: self.latency,
            ties: self.ties,
            precedence: (*self.precedence).clone(),
            noise: self.noise.clone(),
            faults: setup.happened.lock().clone(),
            barrier: self.barrier,
            out_of_order: 0,
            caption: None,
            activities: Vec::new(),
            progress: Vec::new(),
            messages: Vec::new(),
            calls: Vec::new(),
        };
        let mut places = Vec::new();
        let mut logs = std::mem::take(&mut *setup.logs.lock());
        logs.sort_unstable_by_key(|(id, _)| *id);
        for (_, log) in logs {
            trace.activities.extend(log.activities);
            trace.progress.extend(log.progress);
            trace.messages.extend(log.messages);
            places.extend(log.places.into_iter().map(|(call, at)| (trace.calls.len() + call, at)));
            trace.calls.extend(log.calls);
        }
        let groups = setup.groups.in_order();
        trace.calls.iter_mut().for_each(|call| call.what.regroup(&groups));
        let time = processors.iter().map(|stats| stats.finish).max().unwrap_or_default();
        if let Some(sight) = &self.sight {
            sight.set(Seen { trace: trace.clone(), places });
        }
        let trace = self.trace.then_some(trace);
        Run { results: Vec::new(), processors, time, model: Some(time), host: None, trace }
    }
}

/// How long a core of this computer takes to let its processors go on, by their number and by what carries them. It is
/// measured once in a process, on a run that is late from its beginning to its end.
fn effort(carrier: Carrier, processors: usize) -> Effort {
    /// The more share a core, the less of each is in its cache; with more than this it changes little.
    const MOST: usize = 256;
    /// How many messages go round at least.
    const MESSAGES: usize = 1024;
    /// How often it is measured; the median counts.
    const TIMES: usize = 3;
    static MEASURED: Mutex<BTreeMap<(Carrier, usize), Effort>> = Mutex::new(BTreeMap::new());

    let message = |processors: usize| {
        let params = Params::builder(processors).L(3 * US).o(US).g(US).build().expect("it can be");
        let machine = Machine::new(params).clock(ClockKind::Wall).carrier(carrier).cores(1);
        let rounds = MESSAGES.div_ceil(processors).max(4);
        let ring = |p: &mut Proc| {
            for _ in 0..rounds {
                p.send((p.id() + 1) % p.p(), Tag::<u64>::new(0), 0);
                p.recv(Tag::<u64>::new(0));
            }
        };
        let once = || {
            let host = machine.clone().dilation(Dilation::Fixed(1e-6)).run_once(ring).ok()?.host?;
            Some(host.lateness.finish / (rounds * processors) as i64)
        };
        let mut times: Vec<Time> = (0..TIMES).filter_map(|_| once()).collect();
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or(Time::ZERO)
    };
    let processors = processors.next_power_of_two().clamp(2, MOST);
    let key = (carrier, processors);
    if let Some(effort) = MEASURED.lock().get(&key) {
        return *effort;
    }
    // Each message is two waits, and one hand-over where a core has several processors.
    let (alone, shared) = (message(1), message(processors));
    let rounded = |time: Time| time / (10 * NS).as_ps() * (10 * NS).as_ps();
    let effort = Effort { wait: rounded(alone / 2), hand_over: rounded((shared - alone).max(Time::ZERO)) };
    MEASURED.lock().insert(key, effort);
    effort
}

impl<R> Run<Option<R>> {
    /// Returns the run with the results of all, unless somebody has none.
    fn of_all(self) -> Result<Run<R>, RunError> {
        let (run, results) = self.take_results();
        match results.iter().position(Option::is_none) {
            Some(id) => Err(Cause::Crashed { id }.into()),
            None => Ok(run.exchange_results(results.into_iter().flatten().collect()).0),
        }
    }
}

impl<R> Run<R> {
    /// The run without its results, and the results.
    pub fn take_results(self) -> (Run<()>, Vec<R>) {
        self.exchange_results(Vec::new())
    }

    /// The run with other results, and its own.
    fn exchange_results<S>(self, others: Vec<S>) -> (Run<S>, Vec<R>) {
        let Run { results, processors, time, model, host, trace } = self;
        (Run { results: others, processors, time, model, host, trace }, results)
    }

    /// How many messages were sent.
    pub fn messages(&self) -> u64 {
        self.processors.iter().map(|stats| stats.sent).sum()
    }

    /// How often a processor stalled.
    pub fn stalls(&self) -> u64 {
        self.processors.iter().map(|stats| stats.stalls).sum()
    }

    /// How long the processors stalled, all together.
    pub fn stalled(&self) -> Time {
        self.processors.iter().map(|stats| stats.stall).sum()
    }

    /// The most messages that were in transit from one processor, or to one, at once; 0 where the capacity is
    /// unlimited.
    pub fn most_in_transit(&self) -> usize {
        self.processors.iter().map(Stats::most_in_transit).max().unwrap_or(0)
    }
}

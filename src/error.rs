//! Why a run ended before it was done.

use std::any::Any;
use std::fmt;
use std::panic::Location;

use crate::message::RecvFilter;
use crate::params::ParamsError;
use crate::time::Time;

/// Why a run did not come to its end, and what every processor was doing.
///
/// `Display` and `Debug` say the same, so what `unwrap` prints can be read: the cause, and a line for each of the first
/// processors.
///
/// ```
/// use loggp::{Machine, Params, Tag};
///
/// const DATUM: Tag<u64> = Tag::named(0, "datum");
///
/// let machine = Machine::new(Params::builder(2048).build()?);
/// let error = machine.run(|p| p.recv(DATUM)).unwrap_err();
/// let said = format!("{error:?}");
/// assert!(said.starts_with("deadlock: 2048 of 2048 processors wait for messages that nobody sends"));
/// assert!(said.contains("\n  processor 7 at 0 us waited for a message with tag 0 (datum)\n"));
/// assert!(said.ends_with("  ... and 2040 more"));
/// # Ok::<(), loggp::ParamsError>(())
/// ```
#[non_exhaustive]
pub struct RunError {
    /// What went wrong.
    pub cause: Cause,
    /// What each processor was doing, by its number; empty if the run did not begin.
    pub processors: Vec<ProcessorState>,
}

/// What ended a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// The parameters make no machine, or there is not an input for each of its processors.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// This computer cannot hold the machine.
    #[error("{0}")]
    Host(String),
    /// Every processor waits, and no message that one of them waits for is under way.
    #[error("deadlock: {waiting} of {of} processors wait for messages that nobody sends")]
    Deadlock {
        /// How many processors wait.
        waiting: usize,
        /// How many there are.
        of: usize,
    },
    /// A processor looks for messages again and again, all others look too, wait or have finished, and no message is
    /// under way.
    #[error(
        "deadlock: processor {id} looks for messages again and again, and nobody is left who could send one"
    )]
    Forsaken {
        /// The processor.
        id: usize,
    },
    /// A processor's program panicked.
    #[error("processor {id} panicked: {message}")]
    Panic {
        /// The processor.
        id: usize,
        /// What the panic said.
        message: String,
    },
    /// The receiver asked for another type than the sender sent.
    #[error("processor {id} asked processor {from} for a {asked} {about}, and it sent a {sent} (at {at})")]
    WrongType {
        /// The receiver.
        id: usize,
        /// The sender.
        from: usize,
        /// The type that the receiver named.
        asked: &'static str,
        /// What the message is about, in words: the tag, or the collective.
        about: String,
        /// The type that the sender sent.
        sent: &'static str,
        /// The receiver's call.
        at: &'static Location<'static>,
    },
    /// A processor named a processor that is not there.
    #[error("processor {id} named processor {other}, and there are 0 to {last} (at {at})")]
    NoSuchProcessor {
        /// The processor whose call it was.
        id: usize,
        /// The number that it named.
        other: usize,
        /// The highest number of a processor.
        last: usize,
        /// Where in the program its call is.
        at: &'static Location<'static>,
    },
    /// A processor called a collective with something that it cannot take.
    #[error("processor {id} {why} (at {at})")]
    Misused {
        /// The processor.
        id: usize,
        /// What the processor gave, and what it should have given.
        why: String,
        /// Where in the program its call is.
        at: &'static Location<'static>,
    },
    /// A message has more words than the machine's parameters allow, or than can be counted.
    #[error("processor {id} sent {words} words at once, and a message on this machine has at most {longest}")]
    TooLong {
        /// The sender.
        id: usize,
        /// The length of the message.
        words: usize,
        /// The most words that a message may have.
        longest: usize,
    },
    /// Messages were sent and never received.
    #[error(
        "{}processor {from} to processor {to} {about}, there at {arrival}",
        if *count == 1 { "a message was never received: from ".into() } else { format!("{count} messages were never received, the first from ") }
    )]
    NotReceived {
        /// How many messages were never received.
        count: usize,
        /// The first one's sender.
        from: usize,
        /// Who should have received the first one.
        to: usize,
        /// What the first one was about, in words: its tag, or the collective that it belongs to.
        about: String,
        /// When the first one arrived.
        arrival: Time,
    },
    /// A processor's program ended before it had waited for its requests.
    #[error(
        "processor {id} ended and had not waited for its {first}{}",
        match count { 1 => String::new(), 2 => ", nor for one other".into(), _ => format!(", nor for {} others", count - 1) }
    )]
    NotWaited {
        /// The processor.
        id: usize,
        /// How many requests the processor had not waited for.
        count: usize,
        /// The first one, in words.
        first: String,
    },
    /// A processor crashed, as the order of the run says, and its result was asked for.
    #[error("processor {id} crashed, so that it has no result")]
    Crashed {
        /// The processor.
        id: usize,
    },
    /// On a machine of processes another one has failed, or all together; this is what was said of it.
    #[error("{0}")]
    Elsewhere(String),
    /// The run would have lasted longer than can be counted.
    #[error("processor {id} came to the end of time, {}", Time::MAX)]
    EndOfTime {
        /// The processor.
        id: usize,
    },
}

/// What a processor was doing when the run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProcessorState {
    /// The processor.
    pub id: usize,
    /// Its local time.
    pub at: Time,
    /// What it was doing.
    pub status: ProcStatus,
}

/// What a processor can be doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcStatus {
    /// Its program has not begun.
    #[default]
    NotStarted,
    /// Running its program.
    Running,
    /// Looking for messages, again and again.
    Looking,
    /// Waiting for a message.
    WaitingFor(WantedMessage),
    /// Waiting for a request, in words.
    WaitingForRequest(String),
    /// Waiting to send a message of more than S words: its receiver has to receive first (LogGPS, section 3.1).
    WaitingToSend {
        /// The receiver.
        to: usize,
        /// The length of the message.
        words: usize,
        /// The machine's S: no longer message is sent before its receiver waits for it.
        S: usize,
    },
    /// Nothing: its program has finished.
    Finished,
    /// Nothing: it has crashed, as the order of the run says.
    Crashed,
}

/// The message that a processor waits for, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedMessage {
    pub(crate) want: RecvFilter,
    /// The name of the message's tag, if it has one.
    pub(crate) name: Option<String>,
}

impl fmt::Display for WantedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.want.describe(self.name.as_deref()))
    }
}

impl fmt::Display for ProcStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProcStatus::NotStarted => f.write_str("had not started"),
            ProcStatus::Running => f.write_str("was running"),
            ProcStatus::Crashed => f.write_str("had crashed"),
            ProcStatus::Looking => f.write_str("looked for messages again and again"),
            ProcStatus::WaitingFor(wanted) => write!(f, "waited for {wanted}"),
            ProcStatus::WaitingForRequest(request) => write!(f, "waited for {request}"),
            ProcStatus::WaitingToSend { to, words, S } => write!(
                f,
                "waited to send {words} words, more than S = {S}, until processor {to} receives them"
            ),
            ProcStatus::Finished => f.write_str("had finished"),
        }
    }
}

/// How many processors an error lists: the others are in [`RunError::processors`].
const LISTED: usize = 8;

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)?;
        for ProcessorState { id, at, status: doing } in self.processors.iter().take(LISTED) {
            write!(f, "\n  processor {id} at {at} {doing}")?;
        }
        match self.processors.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, "\n  ... and {more} more"),
        }
    }
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `source` does not give the cause, because `Display` prints it: an error printed with its sources would print it twice.
impl std::error::Error for RunError {}

impl From<Cause> for RunError {
    fn from(cause: Cause) -> RunError {
        RunError { cause, processors: Vec::new() }
    }
}

impl From<ParamsError> for RunError {
    fn from(error: ParamsError) -> RunError {
        Cause::Params(error).into()
    }
}

/// The panic payload that unwinds a processor's program when the run has failed elsewhere.
pub(crate) struct RunStopped;

/// How often a program may catch [`Stopped`] before it is taken to catch it for ever.
const MAX_CATCHES: u32 = 10_000;

/// Unwinds the program of processor `id`, since the run has failed elsewhere; does nothing if it unwinds already. `times`
/// counts the calls: a program that always catches the panic would never end.
#[cold]
pub(crate) fn stop(id: usize, times: &mut u32) {
    if std::thread::panicking() {
        return;
    }
    *times += 1;
    if *times > MAX_CATCHES {
        eprintln!(
            "the run has failed, and processor {id} caught what should end it {MAX_CATCHES} times; giving up"
        );
        std::process::abort();
    }
    std::panic::resume_unwind(Box::new(RunStopped))
}

/// Ends a processor's program with this cause, for code that cannot reach the processor's clock.
#[cold]
pub(crate) fn raise(cause: Cause) -> ! {
    print_before_abort(&cause);
    std::panic::resume_unwind(Box::new(cause))
}

/// Prints the cause before it is raised, if panics abort the process: afterwards nobody could.
pub(crate) fn print_before_abort(cause: &Cause) {
    if cfg!(panic = "abort") {
        eprintln!("{cause}");
    }
}

/// What ended the program of processor `id`, from the panic's payload.
pub(crate) fn cause_from_panic(id: usize, payload: Box<dyn Any + Send>) -> Cause {
    let payload = match payload.downcast::<Cause>() {
        Ok(cause) => return *cause,
        Err(payload) => payload,
    };
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    Cause::Panic { id, message: text.unwrap_or("it did not say why").into() }
}

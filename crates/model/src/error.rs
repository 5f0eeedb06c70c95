//! The error of a run that did not finish.

use std::any::Any;
use std::fmt;
use std::panic::Location;

use crate::message::RecvFilter;
use crate::panics::contain;
use crate::params::{Params, ParamsError};
use crate::text::short_type;
use crate::time::Time;

/// Says why no longer message than this can be sent, where the machine limits it.
fn why_limited(longest: usize) -> &'static str {
    match longest {
        ..Params::NO_LIMIT => ", because a longer one would arrive before it is sent, by G_l",
        _ => "",
    }
}

/// The error of a run that did not finish: its cause, and the state of every processor.
///
/// `Display` and `Debug` print the same text, so that `unwrap` prints it too: the cause, and a line for each
/// of the first processors.
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
pub struct RunError {
    /// The cause of the error.
    pub cause: Cause,
    /// The state of each processor, by its number; empty if the run did not start.
    pub processors: Vec<ProcessorState>,
}

/// The cause that ended a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Cause {
    /// No machine can have these parameters, or the number of inputs is not that of its processors.
    #[error(transparent)]
    Params(#[from] ParamsError),
    /// This computer cannot hold the machine.
    #[error("{0}")]
    Host(String),
    /// Every processor waits, and no message that one of them waits for is under way.
    #[error("deadlock: {waiting} of {of} processors wait{} for messages that nobody sends", if *waiting == 1 { "s" } else { "" })]
    Deadlock {
        /// Number of processors that wait.
        waiting: usize,
        /// Number of all processors.
        of: usize,
    },
    /// A processor looks for messages again and again, all others look too, wait or have finished, and no
    /// message is in transit.
    #[error(
        "deadlock: processor {id} looks for messages again and again, and nobody is left who could send one"
    )]
    PollingDeadlock {
        /// The processor.
        id: usize,
    },
    /// A processor's program panicked.
    #[error("processor {id} panicked: {message}")]
    Panic {
        /// The processor.
        id: usize,
        /// The panic message.
        message: String,
    },
    /// The receiver asked for another type than the sender sent.
    #[error(
        "processor {id} asked processor {from} for a {} {about}, and it sent a {} (at {at})",
        short_type(.asked),
        short_type(.sent)
    )]
    WrongType {
        /// The receiver.
        id: usize,
        /// The sender.
        from: usize,
        /// The type that the receiver named.
        asked: &'static str,
        /// A description of the message: its tag, or its collective.
        about: String,
        /// The type that the sender sent.
        sent: &'static str,
        /// The receiver's call.
        at: &'static Location<'static>,
    },
    /// A processor named a processor that does not exist.
    #[error("processor {id} named processor {other}, and there are 0 to {last} (at {at})")]
    NoSuchProcessor {
        /// The processor whose call it was.
        id: usize,
        /// The number that it named.
        other: usize,
        /// The highest number of a processor.
        last: usize,
        /// The call in the program.
        at: &'static Location<'static>,
    },
    /// A processor called a function with an argument that it does not accept.
    #[error("processor {id} {why} (at {at})")]
    Misused {
        /// The processor.
        id: usize,
        /// The wrong argument, and a right one.
        why: String,
        /// The call in the program.
        at: &'static Location<'static>,
    },
    /// A message has more words than the machine's parameters allow, or than can be counted.
    #[error("processor {id} sent {words} words at once, and a message on this machine has at most {longest}{}",
        why_limited(*longest))]
    TooLong {
        /// The sender.
        id: usize,
        /// The length of the message, in words.
        words: usize,
        /// The longest message allowed, in words.
        longest: usize,
    },
    /// Messages were sent and never received.
    #[error(
        "{}processor {from} to processor {to} {about}, there at {arrival}",
        if *count == 1 { "a message was never received: from ".into() } else { format!("{count} messages were never received, the first from ") }
    )]
    NotReceived {
        /// Number of these messages.
        count: usize,
        /// The sender of the first one.
        from: usize,
        /// The processor to which the first one was sent.
        to: usize,
        /// A description of the first one: its tag, or its collective.
        about: String,
        /// The arrival of the first one.
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
        /// Number of requests that it had not waited for.
        count: usize,
        /// A description of the first one.
        first: String,
    },
    /// A processor crashed, as the order of the run demands, and its result was asked for.
    #[error("processor {id} crashed, so that it has no result")]
    Crashed {
        /// The processor.
        id: usize,
    },
    /// On a machine of processes another process failed, or all of them; this is its error.
    #[error("{0}")]
    OtherProcess(String),
    /// The run would have lasted longer than [`Time::MAX`].
    #[error("processor {id} came to the end of time, {}", Time::MAX)]
    EndOfTime {
        /// The processor.
        id: usize,
    },
}

/// The state of a processor when the run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessorState {
    /// The processor.
    pub id: usize,
    /// Its local time.
    pub at: Time,
    /// Its status.
    pub status: ProcStatus,
    /// The line of its program, where the one who runs the machine knows it.
    pub place: Option<String>,
}

/// The status of a processor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcStatus {
    /// Its program has not started.
    #[default]
    NotStarted,
    /// Running its program.
    Running,
    /// Looking for messages, again and again.
    Looking,
    /// Waiting for a message.
    WaitingFor(WantedMessage),
    /// Waiting for a request, which this describes.
    WaitingForRequest(String),
    /// Waiting to send a message of more than S words: its receiver has to receive first (LogGPS, section
    /// 3.1).
    WaitingToSend {
        /// The receiver.
        to: usize,
        /// The length of the message, in words.
        words: usize,
        /// The machine's S: a longer message is not sent before its receiver is ready to receive. [`usize::MAX`] if the send
        /// waits for its receiver whatever the length.
        S: usize,
    },
    /// Waiting until a message may enter the network: its capacity is used up by messages that were not
    /// received, from the processor itself or to the receiver.
    WaitingForRoom {
        /// The receiver.
        to: usize,
    },
    /// Its program has finished.
    Finished,
    /// It has crashed, as the order of the run demands.
    Crashed,
}

/// A description of the message that a processor waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedMessage {
    #[doc(hidden)]
    pub filter: RecvFilter,
    /// The name of the message's tag, or `None`.
    #[doc(hidden)]
    pub name: Option<String>,
}

impl fmt::Display for WantedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.filter.describe(self.name.as_deref()))
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
            // A send that waits for its receiver whatever its length.
            ProcStatus::WaitingToSend { to, words, S: usize::MAX } => {
                write!(f, "waited to send {words} words until processor {to} receives them")
            }
            ProcStatus::WaitingToSend { to, words, S } => write!(
                f,
                "waited to send {words} words, more than S = {S}, until processor {to} receives them"
            ),
            ProcStatus::WaitingForRoom { to } => write!(
                f,
                "stalled with a message to processor {to}, until one from itself or to {to} is received"
            ),
            ProcStatus::Finished => f.write_str("had finished"),
        }
    }
}

/// Number of processors that an error lists; the others are in [`RunError::processors`].
const LISTED: usize = 8;

/// Writes times as text.
#[doc(hidden)]
pub type ShowTime<'a> = &'a dyn Fn(Time) -> String;

impl RunError {
    /// Writes the text of `Display`, with times as `show` writes them.
    #[doc(hidden)]
    pub fn write(&self, f: &mut dyn fmt::Write, show: ShowTime) -> fmt::Result {
        let cause = self.cause.to_string();
        match &self.cause {
            Cause::NotReceived { arrival, .. } => {
                write!(f, "{}{}", cause.trim_end_matches(&arrival.to_string()), show(*arrival))?;
            }
            _ => f.write_str(&cause)?,
        }
        for ProcessorState { id, at, status, place } in self.processors.iter().take(LISTED) {
            write!(f, "\n  processor {id} at {} {status}", show(*at))?;
            if let Some(place) = place {
                write!(f, ", at {place}")?;
            }
        }
        match self.processors.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, "\n  ... and {more} more"),
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &|time| time.to_string())
    }
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `source` does not give the cause, because `Display` prints the cause: an error printed with its sources
/// would print it twice.
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
pub struct RunStopped;

/// Number of times that a program may catch [`RunStopped`] before it is taken to catch it for ever.
const MAX_CATCHES: u32 = 10_000;

/// Unwinds the program of processor `id`, since the run has failed elsewhere; does nothing if it unwinds
/// already. `times` counts the calls: a program that always catches the panic would never end.
#[cold]
pub fn stop(id: usize, times: &mut u32) {
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
pub fn raise(cause: Cause) -> ! {
    print_before_abort(&cause);
    std::panic::resume_unwind(Box::new(cause))
}

/// Prints the cause before it is raised, if panics abort the process: afterwards it would be too late.
pub fn print_before_abort(cause: &Cause) {
    if cfg!(panic = "abort") {
        eprintln!("{cause}");
    }
}

/// Returns the cause that ended the program of processor `id`, from the panic's payload.
pub fn cause_from_panic(id: usize, payload: Box<dyn Any + Send>) -> Cause {
    let payload = match payload.downcast::<Cause>() {
        Ok(cause) => return *cause,
        Err(payload) => payload,
    };
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
    let message = text.unwrap_or("it did not say why").into();
    contain(|| drop(payload));
    Cause::Panic { id, message }
}

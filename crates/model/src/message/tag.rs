//! Tags: those of programs, schedules and collectives, and of the machine's own messages.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

/// The subject of a message and the type of its value. A program's tags are its protocol: the compiler
/// refuses to send a value of another type with a tag, and a receive needs no type annotation.
///
/// ```
/// use loggp::{Machine, Params, Tag, US};
///
/// const ROW: Tag<Vec<f64>> = Tag::named(0, "row");
/// const SUM: Tag<f64> = Tag::new(1);
///
/// let machine = Machine::new(Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build()?);
/// let run = machine.run(|p| match p.id() {
///     0 => { p.send(1, ROW, vec![1.5; 4]); p.recv(SUM.from(1)) }
///     _ => { let (from, row) = p.recv_with_sender(ROW); p.send(from, SUM, row.iter().sum()); 0.0 }
/// })?;
/// assert_eq!(run.results[0], 6.0);
/// # Ok::<(), loggp::RunError>(())
/// ```
///
/// ```compile_fail,E0308
/// # use loggp::{Proc, Tag};
/// const ROW: Tag<Vec<f64>> = Tag::new(0);
///
/// fn program(p: &mut Proc) {
///     p.send(1, ROW, 7_u32);
/// }
/// ```
///
/// Tags differ by their numbers. The compiler does not notice two tags of different types with the same
/// number: if a message sent with one is received with the other, the run ends with an error that names both
/// types.
pub struct Tag<T> {
    #[doc(hidden)]
    pub raw: RawTag,
    /// The name in errors.
    #[doc(hidden)]
    pub name: Option<&'static str>,
    /// The type of the messages. A tag can be copied and shared even if that type cannot.
    marker: PhantomData<fn() -> T>,
}

impl<T> Tag<T> {
    /// Creates the tag with this number.
    pub const fn new(number: u16) -> Tag<T> {
        Tag::from_raw(RawTag::user(number), None)
    }

    /// Creates the tag with this number, and a name for errors.
    pub const fn named(number: u16, name: &'static str) -> Tag<T> {
        Tag::from_raw(RawTag::user(number), Some(name))
    }

    /// Returns the tag for one of several similar steps, in which some processors may be ahead of others. It
    /// differs from the tags of all other steps, from the tag without a step, and from every step of another
    /// tag.
    ///
    /// ```
    /// use loggp::{Machine, Params, Tag, US};
    ///
    /// const HALF: Tag<u64> = Tag::new(0);
    ///
    /// // A sum for all, in steps.
    /// let machine = Machine::new(Params::builder(8).L(6 * US).o(2 * US).g(4 * US).build()?);
    /// let run = machine.run(|p| {
    ///     let mut sum = p.id() as u64;
    ///     for step in 0..3 {
    ///         let other = p.id() ^ 1 << step;
    ///         p.send(other, HALF.step(step), sum);
    ///         sum += p.recv(HALF.step(step).from(other));
    ///     }
    ///     sum
    /// })?;
    /// assert_eq!((run.results, run.time), (vec![28; 8], 30 * US));
    /// # Ok::<(), loggp::RunError>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If `step` is above 2^32 - 1.
    #[track_caller]
    pub const fn step(self, step: usize) -> Tag<T> {
        assert!(step <= RawTag::LAST_STEP, "a step of a tag is a number up to 4294967295");
        Tag::from_raw(self.raw.with_step(step), self.name)
    }

    /// Creates a tag from one without a type, and its name for errors.
    pub const fn from_raw(raw: RawTag, name: Option<&'static str>) -> Tag<T> {
        Tag { raw, name, marker: PhantomData }
    }
}

impl<T> Clone for Tag<T> {
    fn clone(&self) -> Tag<T> {
        *self
    }
}

impl<T> Copy for Tag<T> {}

/// Tags are equal if their numbers and steps are; names do not matter.
impl<T> PartialEq for Tag<T> {
    fn eq(&self, other: &Tag<T>) -> bool {
        self.raw == other.raw
    }
}

impl<T> Eq for Tag<T> {}

impl<T> Hash for Tag<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.raw.0.hash(state);
    }
}

impl<T> fmt::Debug for Tag<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tag<{}>({})", std::any::type_name::<T>(), self.raw.display(self.name))
    }
}

/// A tag without the type of its messages, in one word: what it is [about](Subject), and whether it announces a message
/// about that. The machine's own messages have tags that no program can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RawTag(u64);

/// The subject of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A program's tag with this number, in one of several similar steps or without.
    Program { number: u16, step: Option<u32> },
    /// A schedule's tag.
    Schedule(u32),
    /// A number in a scope, such as a communicator of MPI; in a filter `None` for any.
    Scope { scope: u32, number: Option<u32> },
    /// A step of a group's collective, whose kind has this number. Group 0 is all processors.
    Collective { kind: u8, step: u8, group: u32, number: u32 },
    /// The grant of the announcement of this number among its sender's messages (LogGPS's reply).
    Grant(u32),
    /// The message whose announcement has this number.
    Granted(u32),
    /// The answer of a processor's memory to the request of this number.
    Answer(u32),
    /// In a filter, any message of a program or schedule.
    Any,
    /// In a filter, no message.
    Nothing,
}

/// The words of tags, as traces have them.
impl RawTag {
    /// Marks the announcement of a message (LogGPS's request); the rest is the tag of the message.
    const ANNOUNCE: u64 = 1 << 63;
    /// The marks of what else is none of a program's or schedule's messages, from the highest bit down.
    const GRANT: u64 = 1 << 62;
    const GRANTED: u64 = 1 << 61;
    const ANSWER: u64 = RawTag::GRANT | RawTag::GRANTED;
    const COLLECTIVE: u64 = 1 << 60;
    const SCOPED: u64 = 1 << 59;
    const SCHEDULED: u64 = 1 << 49;
    /// Marks a program's tag that has a step; the number of the tag lies below.
    const HAS_STEP: u64 = 1 << 16;
    /// The lowest bits: of a collective's group, above the number of the call; of its step; of its kind; of a
    /// program's step or a schedule's number; and of a scope, above its number.
    const GROUP: u32 = 26;
    const STEP: u32 = 50;
    const KIND: u32 = 56;
    const USER_STEP: u32 = 17;
    const SCOPE: u32 = 32;
    /// The highest number of a group.
    pub const LAST_GROUP: u32 = (1 << (RawTag::STEP - RawTag::GROUP)) - 1;
    /// The last step of a program's tag.
    const LAST_STEP: usize = u32::MAX as usize;
    /// The last scope.
    pub const LAST_SCOPE: u32 = (1 << 27) - 1;

    /// Makes the tag of a subject. The number of a collective's call is cut to the bits that a tag has for it, as only
    /// collectives that run at the same time must differ.
    #[inline]
    pub const fn of(subject: Subject) -> RawTag {
        RawTag(match subject {
            Subject::Program { number, step: None } => number as u64,
            Subject::Program { number, step: Some(step) } => {
                number as u64 | RawTag::HAS_STEP | (step as u64) << RawTag::USER_STEP
            }
            Subject::Schedule(number) => RawTag::SCHEDULED | (number as u64) << RawTag::USER_STEP,
            Subject::Scope { scope, number } => {
                debug_assert!(scope <= RawTag::LAST_SCOPE);
                let number = if let Some(number) = number { number } else { u32::MAX };
                RawTag::SCOPED | (scope as u64) << RawTag::SCOPE | number as u64
            }
            Subject::Collective { kind, step, group, number } => {
                debug_assert!(step < 1 << (RawTag::KIND - RawTag::STEP) && group <= RawTag::LAST_GROUP);
                let bits = (step as u64) << RawTag::STEP | (group as u64) << RawTag::GROUP;
                let number = number as u64 & ((1 << RawTag::GROUP) - 1);
                RawTag::COLLECTIVE | (kind as u64) << RawTag::KIND | bits | number
            }
            Subject::Grant(number) => RawTag::GRANT | number as u64,
            Subject::Granted(number) => RawTag::GRANTED | number as u64,
            Subject::Answer(number) => RawTag::ANSWER | number as u64,
            Subject::Any => u64::MAX - 1,
            Subject::Nothing => u64::MAX,
        })
    }

    /// Returns what the tag is about; an announcement is about its message.
    pub fn subject(self) -> Subject {
        let (bits, low) = (self.without_announce().0, self.0 as u32);
        let part = |from: u32, until: u32| (bits >> from & ((1 << (until - from)) - 1)) as u32;
        match self {
            RawTag::ANY => Subject::Any,
            RawTag::NOTHING => Subject::Nothing,
            _ if bits & RawTag::ANSWER == RawTag::ANSWER => Subject::Answer(low),
            _ if bits & RawTag::GRANT != 0 => Subject::Grant(low),
            _ if bits & RawTag::GRANTED != 0 => Subject::Granted(low),
            _ if bits & RawTag::COLLECTIVE != 0 => Subject::Collective {
                kind: part(RawTag::KIND, RawTag::KIND + 4) as u8,
                step: part(RawTag::STEP, RawTag::KIND) as u8,
                group: part(RawTag::GROUP, RawTag::STEP),
                number: part(0, RawTag::GROUP),
            },
            _ if bits & RawTag::SCOPED != 0 => {
                let number = Some(low).filter(|number| *number != u32::MAX);
                Subject::Scope { scope: part(RawTag::SCOPE, RawTag::SCOPE + 27), number }
            }
            _ if bits & RawTag::SCHEDULED != 0 => Subject::Schedule((bits >> RawTag::USER_STEP) as u32),
            _ => {
                let step = (bits & RawTag::HAS_STEP != 0).then_some((bits >> RawTag::USER_STEP) as u32);
                Subject::Program { number: bits as u16, step }
            }
        }
    }

    /// Returns the tag's number in traces.
    pub fn number(self) -> u64 {
        self.0
    }

    /// Returns the tag with this number in traces.
    pub fn from_number(number: u64) -> RawTag {
        RawTag(number)
    }
}

impl RawTag {
    /// The step of the signals that admit messages to the network, which is none of the barrier's, whose tags are signals
    /// too.
    const ROOM_STEP: usize = 2;
    /// The tag of what is put into a processor's memory.
    pub(crate) const PUT: RawTag = RawTag::collective(Collective::OneSided, 0, 0, 0);
    /// The tag of a request for what is in a processor's memory.
    pub const GET: RawTag = RawTag::collective(Collective::OneSided, 0, 0, 1);
    /// In a filter, any message of a program or schedule. No message has this tag.
    pub const ANY: RawTag = RawTag::of(Subject::Any);
    /// In a filter, no message.
    pub const NOTHING: RawTag = RawTag::of(Subject::Nothing);

    /// Creates a program's tag.
    pub const fn user(number: u16) -> RawTag {
        RawTag::of(Subject::Program { number, step: None })
    }

    /// Returns the program's tag with this step.
    const fn with_step(self, step: usize) -> RawTag {
        RawTag::of(Subject::Program { number: self.user_number(), step: Some(step as u32) })
    }

    /// Creates a schedule's tag, or [`ANY`](RawTag::ANY) for `None`.
    #[inline]
    pub fn from_schedule(tag: Option<u32>) -> RawTag {
        tag.map_or(RawTag::ANY, |tag| RawTag::of(Subject::Schedule(tag)))
    }

    /// Creates the tag of this number in a scope, or the one that in a filter takes any message of the scope for
    /// `None`. No message has the number `u32::MAX`.
    #[inline]
    pub const fn scoped(scope: u32, number: Option<u32>) -> RawTag {
        RawTag::of(Subject::Scope { scope, number })
    }

    /// Creates the tag of a step of a group's collective. Steps are few: a collective takes about log2 P.
    pub const fn collective(kind: Collective, group: u32, number: u32, step: usize) -> RawTag {
        RawTag::of(Subject::Collective { kind: kind as u8, step: step as u8, group, number })
    }

    /// Creates the tag of the signal that admits its receiver's message of this number to the network.
    pub(crate) fn room(number: u32) -> RawTag {
        RawTag(RawTag::collective(Collective::HardwareBarrier, 0, 0, RawTag::ROOM_STEP).0 | u64::from(number))
    }

    /// Creates the tag of the grant of the announcement with this number among its sender's messages.
    pub(crate) fn grant(number: u32) -> RawTag {
        RawTag::of(Subject::Grant(number))
    }

    /// Creates the tag of the message whose announcement has this number among its sender's messages.
    pub(crate) fn granted(number: u32) -> RawTag {
        RawTag::of(Subject::Granted(number))
    }

    /// Creates the tag of a memory's answer to the request of this number.
    pub fn answer(number: u32) -> RawTag {
        RawTag::of(Subject::Answer(number))
    }

    /// Returns the tag of the announcement of a message with this tag.
    pub(crate) fn announce(self) -> RawTag {
        RawTag(self.0 | RawTag::ANNOUNCE)
    }

    /// Returns the tag of the announced message, or this tag if it announces none.
    pub fn without_announce(self) -> RawTag {
        RawTag(self.0 & !RawTag::ANNOUNCE)
    }

    /// Returns this tag with the new number of its group, which `numbers` has at the index of the old one.
    /// Tags of no collective are returned unchanged.
    pub(crate) fn with_renumbered_group(self, numbers: &[u32]) -> RawTag {
        let Some(group) = self.group() else { return self };
        match numbers.get(group as usize) {
            Some(number) => RawTag(self.0 ^ u64::from(group ^ *number) << RawTag::GROUP),
            None => self,
        }
    }

    /// Returns the group whose collective the tag belongs to, or `None`. Group 0 is all processors.
    pub(crate) fn group(self) -> Option<u32> {
        match self.subject() {
            Subject::Collective { group, .. } => Some(group),
            _ => None,
        }
    }

    /// Returns the number of a program's tag.
    pub const fn user_number(self) -> u16 {
        self.0 as u16
    }

    /// Returns the scope of the tag, if it has one.
    #[inline]
    const fn scope(self) -> Option<u32> {
        let marks = RawTag::GRANT | RawTag::GRANTED | RawTag::COLLECTIVE | RawTag::SCOPED;
        let is_scoped = self.0 & marks == RawTag::SCOPED;
        if is_scoped { Some((self.0 >> RawTag::SCOPE) as u32 & RawTag::LAST_SCOPE) } else { None }
    }

    /// Returns whether a program that came from elsewhere sent with this tag: its sends may be synchronous, whatever their
    /// length, and its receives may be withdrawn.
    pub fn is_scoped(self) -> bool {
        self.scope().is_some()
    }

    /// Returns the tags of the filters that take a message with this tag.
    #[inline]
    pub fn filters(self) -> [RawTag; 3] {
        let of_scope = self.scope().map_or(RawTag::ANY, |scope| RawTag::scoped(scope, None));
        [self, of_scope, RawTag::ANY]
    }

    /// Returns whether this is the tag of the signal that admits a message to the network.
    pub(crate) fn is_room(self) -> bool {
        self.0 >> RawTag::STEP == RawTag::room(0).0 >> RawTag::STEP
    }

    /// Returns whether this is the tag of a signal: of the machine's own barrier, or of room for a message.
    #[inline]
    pub fn is_signal(self) -> bool {
        self.0 >> RawTag::KIND == (RawTag::COLLECTIVE >> RawTag::KIND) | Collective::HardwareBarrier as u64
    }

    pub fn is_announce(self) -> bool {
        self.0 & RawTag::ANNOUNCE != 0
    }

    pub(crate) fn is_grant(self) -> bool {
        self.0 & RawTag::ANSWER == RawTag::GRANT
    }

    pub fn is_answer(self) -> bool {
        self.0 & (RawTag::ANNOUNCE | RawTag::ANSWER) == RawTag::ANSWER
    }

    /// Returns whether a message with this tag goes to a processor's memory, which no receive takes.
    #[inline]
    pub fn is_one_sided(self) -> bool {
        self == RawTag::PUT || self == RawTag::GET
    }

    /// Returns whether a message with this tag starts a send: grants, and the messages that waited for a grant, do
    /// not.
    pub fn is_start_of_send(self) -> bool {
        self.0 & (RawTag::GRANT | RawTag::GRANTED) == 0
    }

    /// Returns whether a program or collective can send with this tag, so that it is not of the machine's own
    /// messages.
    pub fn can_be_sent(self) -> bool {
        self.is_start_of_send() && !self.is_announce() && !self.is_signal()
    }

    /// Returns the tag with this number if a processor can send it to another process: one of a program or of a
    /// collective or, where messages wait for their receivers, one of a rendezvous.
    pub fn between_processes(number: u64, has_rendezvous: bool) -> Option<RawTag> {
        let tag = RawTag(number);
        let is_reply = tag == RawTag::grant(number as u32) || tag == RawTag::granted(number as u32);
        let is_sent = match tag.subject() {
            Subject::Collective { kind, .. } => {
                kind != Collective::HardwareBarrier as u8 && kind < Collective::OneSided as u8
            }
            Subject::Scope { number, .. } => number.is_some(),
            Subject::Program { .. } | Subject::Schedule(_) => true,
            _ => false,
        };
        match has_rendezvous {
            true => is_sent || is_reply,
            false => is_sent && !tag.is_announce(),
        }
        .then_some(tag)
    }

    /// Returns whether a message with this tag has no words: it announces another one, or grants it.
    pub fn is_empty(self) -> bool {
        self.is_announce() || self.is_grant()
    }

    /// Returns a displayable description for errors; `name` is the tag's name.
    pub fn display(self, name: Option<&str>) -> TagDescription<'_> {
        TagDescription(self, name)
    }

    /// Returns a description of this tag together with all its steps; `name` is the tag's name.
    pub(crate) fn description(self, name: Option<&str>) -> String {
        let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
        match self.subject() {
            Subject::Collective { kind, .. } => Collective::name_of(kind).into(),
            Subject::Scope { number, .. } => format!("tag {}{name}", number.unwrap_or(u32::MAX)),
            _ => format!("tag {}{name}", self.user_number()),
        }
    }

    /// Returns whether a receive with this tag can take a message or an announcement with the tag `of`.
    #[inline]
    pub fn can_take(self, of: RawTag) -> bool {
        of.without_announce() == self || (self.is_wild() && self.takes_any_like(of))
    }

    /// Returns whether a receive with this tag, which is wild, takes a message with the tag `of`.
    fn takes_any_like(self, of: RawTag) -> bool {
        of.is_user() && (self == RawTag::ANY || of.scope() == self.scope())
    }

    /// Returns whether a receive with this tag takes messages with different tags.
    #[inline]
    pub fn is_wild(self) -> bool {
        self == RawTag::ANY || (self.0 as u32 == u32::MAX && self.scope().is_some())
    }

    /// Returns whether this is a tag of a program or schedule, or of the announcement of such a message.
    fn is_user(self) -> bool {
        self.0 & (RawTag::GRANT | RawTag::GRANTED | RawTag::COLLECTIVE) == 0
    }
}

/// A tag without the type of its messages, and its name for errors.
pub(crate) type NamedTag = (RawTag, Option<&'static str>);

/// The kinds of collectives. The kind is part of the tag, so that calls of different kinds never take each
/// other's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collective {
    /// The machine's own barrier.
    HardwareBarrier,
    /// A barrier made of messages.
    Barrier,
    Broadcast,
    Reduce,
    AllReduce,
    Scan,
    ExclusiveScan,
    Gather,
    AllToAll,
    Scatter,
    AllGather,
    ReduceScatter,
    /// None, but what goes to a processor's memory.
    OneSided,
}

impl Collective {
    /// Returns the name for errors.
    pub fn name(self) -> &'static str {
        Collective::name_of(self as u8)
    }

    /// Returns the name for errors of the kind with this number.
    fn name_of(kind: u8) -> &'static str {
        const NAMES: [&str; 13] = [
            "the machine's barrier",
            "a barrier",
            "a broadcast",
            "a reduce",
            "an all-reduce",
            "a scan",
            "an exclusive scan",
            "a gather",
            "an all-to-all",
            "a scatter",
            "an all-gather",
            "a reduce-scatter",
            "a one-sided message",
        ];
        NAMES.get(kind as usize).copied().unwrap_or("of no kind")
    }
}

/// The description of a tag in errors.
pub struct TagDescription<'a>(RawTag, Option<&'a str>);

impl fmt::Display for TagDescription<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TagDescription(tag, name) = *self;
        let name = name.map(|name| format!(" ({name})")).unwrap_or_default();
        match tag.subject() {
            Subject::Any | Subject::Nothing => f.write_str("with any tag"),
            Subject::Scope { scope, number: None } => write!(f, "with any tag of scope {scope}"),
            Subject::Scope { scope, number: Some(number) } => {
                write!(f, "with tag {number} of scope {scope}")
            }
            Subject::Answer(_) => f.write_str("that it has asked for"),
            Subject::Grant(_) => write!(f, "that lets it send{name}"),
            Subject::Granted(_) => write!(f, "that it agreed to take{name}"),
            Subject::Schedule(number) => write!(f, "with tag {number}"),
            Subject::Collective { kind, step, group, number } => {
                let (kind, of_group) =
                    (Collective::name_of(kind), if group == 0 { "" } else { " of a group" });
                write!(f, "in collective {number}{of_group}, {kind}, step {step}")
            }
            Subject::Program { number, step: None } => write!(f, "with tag {number}{name}"),
            Subject::Program { number, step: Some(step) } => {
                write!(f, "with tag {number}{name}, step {step}")
            }
        }
    }
}

impl fmt::Display for RawTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.display(None).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equality_needs_nothing_of_the_type() {
        struct Bare;
        let tags = [Tag::<Bare>::new(1), Tag::named(1, "one"), Tag::new(2), Tag::new(1).step(0)];
        assert_eq!(tags.map(|tag| tag == tags[0]), [true, true, false, false]);
        assert_eq!(std::collections::HashSet::from(tags).len(), 3);
    }

    #[test]
    fn collective_tags_clash_with_no_others() {
        let tag = RawTag::collective(Collective::Barrier, 0, 5, 3);
        let others = [
            RawTag::user(5),
            RawTag::user(5).with_step(3),
            RawTag::grant(5),
            RawTag::granted(5),
            RawTag::collective(Collective::HardwareBarrier, 0, 5, 3),
            RawTag::collective(Collective::Barrier, 0, 6, 3),
            RawTag::collective(Collective::Barrier, 0, 5, 2),
            RawTag::collective(Collective::Barrier, 1, 5, 3),
            RawTag::collective(Collective::Barrier, RawTag::LAST_GROUP, 5, 3),
        ];
        for other in others {
            assert!(!tag.can_take(other) && !other.can_take(tag), "{other}");
        }
        assert!(tag.can_take(tag) && tag.can_take(tag.announce()));
        assert_eq!(tag.to_string(), "in collective 5, a barrier, step 3");
        assert_eq!(tag.announce().to_string(), tag.to_string());
    }

    #[test]
    fn tag_is_about_the_subject_of_which_it_was_made() {
        let (number, step) = (7, Some(u32::MAX));
        let subjects = [
            Subject::Program { number, step },
            Subject::Program { number, step: None },
            Subject::Schedule(u32::MAX),
            Subject::Scope { scope: RawTag::LAST_SCOPE, number: Some(3) },
            Subject::Scope { scope: 0, number: None },
            Subject::Collective { kind: 11, step: 63, group: RawTag::LAST_GROUP, number: 9 },
            Subject::Grant(u32::MAX),
            Subject::Granted(0),
            Subject::Answer(5),
        ];
        for subject in subjects {
            let tag = RawTag::of(subject);
            assert_eq!([tag.subject(), tag.announce().subject()], [subject; 2]);
        }
        assert_eq!([RawTag::ANY, RawTag::NOTHING].map(RawTag::subject), [Subject::Any, Subject::Nothing]);
    }

    #[test]
    fn tags_between_processes_are_those_that_processors_send() {
        let sent = [
            RawTag::user(7),
            RawTag::user(7).with_step(u32::MAX as usize),
            RawTag::collective(Collective::ReduceScatter, 3, 9, 2),
        ];
        let of_rendezvous =
            [sent[0].announce(), sent[2].announce(), RawTag::grant(u32::MAX), RawTag::granted(5)];
        let never = [
            RawTag::ANY,
            RawTag::NOTHING,
            RawTag::scoped(3, None),
            RawTag::PUT,
            RawTag::GET,
            RawTag::answer(4),
            RawTag::room(4),
            RawTag(RawTag::grant(1).0 | 1 << 32),
            RawTag(RawTag::granted(1).0 | RawTag::ANNOUNCE),
            RawTag(RawTag::COLLECTIVE | 15 << RawTag::KIND),
        ];
        let can_be =
            |tag: RawTag| [false, true].map(|has| RawTag::between_processes(tag.0, has) == Some(tag));
        assert!(sent.into_iter().all(|tag| can_be(tag) == [true, true]));
        assert!(of_rendezvous.into_iter().all(|tag| can_be(tag) == [false, true]));
        assert!(never.into_iter().all(|tag| can_be(tag) == [false, false]));
    }

    #[test]
    fn step_tags_clash_with_no_others() {
        let tags: [Tag<u8>; 7] = [
            Tag::new(0),
            Tag::new(1),
            Tag::new(u16::MAX),
            Tag::new(0).step(0),
            Tag::new(0).step(1),
            Tag::new(1).step(0),
            Tag::new(u16::MAX).step(u32::MAX as usize),
        ];
        for (i, one) in tags.iter().enumerate() {
            for (j, other) in tags.iter().enumerate() {
                assert_eq!(one.raw.can_take(other.raw), i == j, "{one:?} {other:?}");
                assert_eq!(one.raw.can_take(other.raw.announce()), i == j, "{one:?} {other:?}");
            }
            let own = RawTag::ANNOUNCE | RawTag::GRANT | RawTag::GRANTED | RawTag::COLLECTIVE;
            assert_eq!(one.raw.0 & own, 0);
        }
        assert_eq!(Tag::<u8>::new(3).step(7).step(5).raw, RawTag::user(3).with_step(5));
    }

    #[test]
    fn display_gives_number_name_and_step() {
        let last: Tag<u8> = Tag::named(65535, "word").step(u32::MAX as usize);
        assert_eq!(format!("{last:?}"), "Tag<u8>(with tag 65535 (word), step 4294967295)");
        assert_eq!(RawTag::user(2).with_step(0).to_string(), "with tag 2, step 0");
        assert_eq!(RawTag::from_schedule(Some(u32::MAX - 1)).to_string(), "with tag 4294967294");
        assert_eq!(RawTag::from_schedule(None).to_string(), "with any tag");
        assert_eq!(RawTag::grant(1).display(last.name).to_string(), "that lets it send (word)");
    }

    /// A tag can be copied and shared even if the type of its messages cannot.
    #[test]
    fn tag_can_be_copied_and_shared() {
        fn shared<T: Copy + Send + Sync + 'static>(_: T) {}
        const CELLS: Tag<std::cell::Cell<Box<u8>>> = Tag::new(0);
        shared(CELLS);
    }
}

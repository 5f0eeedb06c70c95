//! Costs by group: sends and receives by tag and length of the messages, and work by kind.

use std::collections::HashMap;
use std::rc::Rc;

use loggp::path::Events;
use loggp::trace::ActivityKind;

use super::accounts::{Account, Accounts};
use super::pieces::TimePiece;
use super::rendezvous::MessageRoles;

/// Calls of one kind, and their cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostGroup {
    pub activity: GroupActivity,
    /// Shortest and longest message in words, if the group is about messages.
    pub words: Option<(usize, usize)>,
    /// Number of messages or calls.
    pub count: usize,
    /// Cost at all processors together.
    pub accounts: Accounts,
}

/// The activity of processors in a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupActivity {
    /// Sending messages with this text of their tag, if the trace has it, and of these lengths.
    Send(Option<Rc<str>>, LengthClass),
    /// Receiving such messages.
    Receive(Option<Rc<str>>, LengthClass),
    /// Computing this kind of work.
    Work(String),
    /// Waiting in the machine's own barrier.
    Barrier,
    /// Waiting for a time.
    Wait,
}

/// A class of lengths: those up to a power of two and above half of it, either announced or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LengthClass {
    log2: u32,
    /// True if such messages wait for their receiver.
    pub is_synchronous: bool,
}

/// The names of a run's messages, by their indices: the texts of their tags, or the calls that sent and received
/// them.
#[derive(Clone, Debug, Default)]
pub struct MessageNames {
    pub sent: Vec<Option<Rc<str>>>,
    pub received: Vec<Option<Rc<str>>>,
    /// True if they are calls, and the kinds of work say [before which](super::BEFORE) it came, or
    /// [in which](super::IN).
    pub are_calls: bool,
}

/// Returns for each message how its tag is described, if the trace has the call of its send.
pub(super) fn tag_texts(events: &Events) -> Vec<Option<Rc<str>>> {
    let mut about = vec![None; events.message_count()];
    let mut texts: HashMap<u64, Rc<str>> = HashMap::new();
    for (id, tag, _) in events.trace.sent() {
        if let Some(message) = events.message_index(id) {
            let text = texts.entry(tag.number).or_insert_with(|| tag.about().into());
            about[message] = Some(text.clone());
        }
    }
    about
}

/// Groups to which the pieces of the processors' time are added.
pub(super) struct CallGroups<'e, 'a> {
    events: &'e Events<'a>,
    names: MessageNames,
    groups: HashMap<GroupActivity, CostGroup>,
}

impl<'e, 'a> CallGroups<'e, 'a> {
    /// Makes groups with counted messages and no cost.
    pub(super) fn new(
        events: &'e Events<'a>,
        roles: &MessageRoles,
        names: MessageNames,
    ) -> CallGroups<'e, 'a> {
        let mut all = CallGroups { events, names, groups: HashMap::new() };
        for message in (0..events.message_count()).filter(|message| roles.data(*message) == *message) {
            let words = events.message(message).words;
            for sends in [true, false] {
                let group = all.group(all.message_activity(message, sends));
                let (least, most) = group.words.unwrap_or((words, words));
                group.words = Some((least.min(words), most.max(words)));
                group.count += 1;
            }
        }
        all
    }

    /// Adds a piece of a processor's time.
    pub(super) fn add(&mut self, piece: &TimePiece) {
        let event = piece.event;
        let activity = match (piece.message, event.kind) {
            (Some(message), _) => {
                let sends =
                    self.events.message(message).id.from == event.id && !self.is_reception_from_itself(piece);
                self.message_activity(message, sends)
            }
            (None, ActivityKind::Work(kind)) => GroupActivity::Work(kind.to_string()),
            (None, ActivityKind::Barrier) => GroupActivity::Barrier,
            (None, _) => GroupActivity::Wait,
        };
        let group = self.group(activity);
        group.accounts[piece.account] += piece.time();
        group.count += usize::from(piece.message.is_none());
    }

    /// Returns the activity of sending or receiving a message.
    fn message_activity(&self, message: usize, sends: bool) -> GroupActivity {
        let class = self.length_class(message);
        match sends {
            true => GroupActivity::Send(self.names.sent[message].clone(), class),
            false => GroupActivity::Receive(self.names.received[message].clone(), class),
        }
    }

    fn group(&mut self, activity: GroupActivity) -> &mut CostGroup {
        self.groups.entry(activity.clone()).or_insert_with(|| CostGroup {
            activity,
            words: None,
            count: 0,
            accounts: Accounts::default(),
        })
    }

    /// Returns what the messages are called.
    pub(super) fn names(&self) -> &MessageNames {
        &self.names
    }

    /// Returns the groups by cost, the highest first.
    pub(super) fn finish(self) -> Vec<CostGroup> {
        let mut groups: Vec<CostGroup> = self.groups.into_values().collect();
        groups.sort_by(|a, b| {
            b.accounts.total().cmp(&a.accounts.total()).then_with(|| a.activity.cmp(&b.activity))
        });
        groups
    }

    /// Returns whether a piece belongs to the reception of a message that a processor sent to itself.
    fn is_reception_from_itself(&self, piece: &TimePiece) -> bool {
        let to_itself = |message: usize| self.events.message(message).to == piece.event.id;
        piece.message.is_some_and(to_itself)
            && matches!(piece.account, Account::Receive | Account::ReceiverSync)
    }

    /// Returns the class of a message's length.
    fn length_class(&self, message: usize) -> LengthClass {
        let words = self.events.message(message).words;
        let log2 = words.checked_next_power_of_two().map_or(usize::BITS, usize::trailing_zeros);
        let log2 = if words == 0 { 0 } else { log2 + 1 };
        LengthClass { log2, is_synchronous: self.events.is_synchronous(message) }
    }
}

//! What costs the most: sends and receives by their tags and the lengths of their messages, and work by its kind.

use std::collections::HashMap;
use std::rc::Rc;

use loggp::ActivityKind;
use loggp::path::Events;

use super::accounts::{Account, Accounts};
use super::pieces::Piece;
use super::rendezvous::Roles;

/// Calls of one kind, and what they cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What the processors did.
    pub what: What,
    /// The shortest and the longest message, in words, if it is about messages.
    pub words: Option<(usize, usize)>,
    /// How many messages there are, or how often it was done.
    pub count: usize,
    /// What it cost at all processors together.
    pub accounts: Accounts,
}

/// What processors do in a group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum What {
    /// Send messages about this, if the trace says what about, and of such a length.
    Send(Option<Rc<str>>, Class),
    /// Receive such messages.
    Receive(Option<Rc<str>>, Class),
    /// Compute: this kind of work.
    Work(String),
    /// Wait in the machine's own barrier.
    Barrier,
    /// Wait for a moment.
    Wait,
}

/// The lengths that are one line: those up to a power of two and above half of it, and of these those that are announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class {
    /// The power of two.
    log2: u32,
    /// Whether such messages wait for their receiver.
    pub is_synchronous: bool,
}

/// Groups to which the pieces of the processors' times are added.
pub struct Groups<'e, 'a> {
    /// The events.
    events: &'e Events<'a>,
    /// For each message what its sender said that it is about, if the trace has its call.
    about: Vec<Option<Rc<str>>>,
    /// What was found until now.
    groups: HashMap<What, Group>,
}

impl<'e, 'a> Groups<'e, 'a> {
    /// Groups that cost nothing yet, in which the messages are counted.
    pub fn of(events: &'e Events<'a>, roles: &Roles) -> Groups<'e, 'a> {
        let mut about = vec![None; events.messages()];
        let mut texts: HashMap<u64, Rc<str>> = HashMap::new();
        for (id, tag, _) in events.trace.sent() {
            if let Some(message) = events.named(id) {
                let text = texts.entry(tag.number).or_insert_with(|| tag.about().into());
                about[message] = Some(text.clone());
            }
        }
        let mut all = Groups { events, about, groups: HashMap::new() };
        for message in (0..events.messages()).filter(|message| roles.data(*message) == *message) {
            let words = events.message(message).words;
            for sends in [true, false] {
                let group = all.group(all.about_message(message, sends));
                let (least, most) = group.words.unwrap_or((words, words));
                group.words = Some((least.min(words), most.max(words)));
                group.count += 1;
            }
        }
        all
    }

    /// Adds a piece of a processor's time.
    pub fn add(&mut self, piece: &Piece) {
        let event = piece.event;
        let what = match (piece.message, event.what) {
            (Some(message), _) => {
                let sends = self.events.message(message).id.from == event.id && !self.is_own_reception(piece);
                self.about_message(message, sends)
            }
            (None, ActivityKind::Work(kind)) => What::Work(kind.to_string()),
            (None, ActivityKind::Barrier) => What::Barrier,
            (None, _) => What::Wait,
        };
        let group = self.group(what);
        group.accounts[piece.account] += piece.time();
        group.count += usize::from(piece.message.is_none());
    }

    /// What sending or receiving a message is.
    fn about_message(&self, message: usize, sends: bool) -> What {
        let (about, class) = (self.about[message].clone(), self.class(self.events.message(message).words));
        if sends { What::Send(about, class) } else { What::Receive(about, class) }
    }

    /// The group of what was done.
    fn group(&mut self, what: What) -> &mut Group {
        self.groups.entry(what.clone()).or_insert_with(|| Group {
            what,
            words: None,
            count: 0,
            accounts: Accounts::default(),
        })
    }

    /// The groups, those that cost the most first.
    pub fn finish(self) -> Vec<Group> {
        let mut groups: Vec<Group> = self.groups.into_values().collect();
        groups.sort_by(|a, b| b.accounts.total().cmp(&a.accounts.total()).then_with(|| a.what.cmp(&b.what)));
        groups
    }

    /// Whether a piece belongs to the reception of a message that a processor sent to itself.
    fn is_own_reception(&self, piece: &Piece) -> bool {
        let to_itself = |message: usize| self.events.message(message).to == piece.event.id;
        piece.message.is_some_and(to_itself)
            && matches!(piece.account, Account::Receive | Account::ReceiverSync)
    }

    /// The lengths with which a length is one line.
    fn class(&self, words: usize) -> Class {
        let log2 = words.checked_next_power_of_two().map_or(usize::BITS, usize::trailing_zeros);
        let log2 = if words == 0 { 0 } else { log2 + 1 };
        Class { log2, is_synchronous: self.events.trace.params.is_synchronous(words) }
    }
}

//! Where a rank's messages find its receives.
//!
//! A message goes to the receive that was posted first of those that take it, and a receive takes the message that
//! arrived first. Nearly always few wait, and lists are all that is needed; where one would have to be searched for long,
//! an index takes its place.

use std::collections::{HashMap, VecDeque};

use super::progress::Progress;
use super::queue::{Links, NONE, Queue};
use crate::schedule::ANY;
use crate::time::Time;

/// A message at its receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mail {
    /// When it is there.
    pub arrival: Time,
    /// When it is there and its receive posted.
    pub ready: Time,
    /// Its sender.
    pub from: u32,
    /// The operation that sent it.
    pub sent_by: u32,
    /// Its tag.
    pub tag: u32,
    /// Its length.
    pub words: u32,
    /// The receive that takes it.
    pub receive: u32,
    /// The one before it in its list.
    before: u32,
    /// The one after it.
    after: u32,
    /// What it says.
    pub about: About,
}

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// It is what is sent.
    Data,
    /// It asks to send a long one.
    Request,
    /// It follows from a request, and goes to an operation that waits for it.
    Answer,
}

impl Mail {
    /// A message that was not delivered yet.
    pub fn new(arrival: Time, from: u32, sent_by: u32, tag: u32, words: u32, about: About) -> Mail {
        let (receive, before, after) = (NONE, NONE, NONE);
        Mail { arrival, ready: arrival, from, sent_by, tag, words, receive, before, after, about }
    }

    /// By arrival, and then by sender.
    fn key(&self) -> (Time, u32) {
        (self.arrival, self.from)
    }
}

/// Messages in an order.
#[derive(Clone, Copy, Debug)]
struct List {
    head: u32,
    tail: u32,
}

impl Default for List {
    fn default() -> List {
        List { head: NONE, tail: NONE }
    }
}

/// A rank's receives and messages.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Desk {
    /// Receives that have no message, as they were posted.
    posted: Queue,
    /// Messages that have no receive, by arrival.
    mail: List,
    /// Messages that have one, by the time at which both are there.
    paired: List,
    /// The greatest arrival so far: mostly messages come in order.
    latest: Time,
    /// The sender of that message.
    latest_from: u32,
    /// Whether it has an index.
    has_index: bool,
}

/// All messages and receives that wait.
#[derive(Debug)]
pub(super) struct Desks {
    /// The messages, and those places that are free.
    mails: Vec<Mail>,
    /// The first free place.
    free: u32,
    /// The indexes of ranks that have many.
    indexes: HashMap<u32, Index>,
    /// How many receives are looked at before there is an index.
    pub few: usize,
}

/// So many are looked at faster than an index.
const FEW: usize = 32;

/// A rank's receives and messages, by what they name.
#[derive(Debug, Default)]
struct Index {
    /// Receives by sender and tag, as they were posted, each with the time.
    posted: HashMap<(u32, u32), VecDeque<(Time, u32)>>,
    /// How many of those that are left take any sender or any tag.
    wild: usize,
    /// Messages by sender and tag, by arrival.
    mail: HashMap<(u32, u32), VecDeque<u32>>,
}

impl Index {
    fn post(&mut self, receive: u32, since: Time, key: (u32, u32)) {
        let (queue, turn) = (self.posted.entry(key).or_default(), (since, receive));
        let place = queue.len() - queue.iter().rev().take_while(|other| **other > turn).count();
        queue.insert(place, turn);
        self.wild += usize::from(key.0 == ANY || key.1 == ANY);
    }

    /// The receive that was posted first of those that take such a message: since when and which, and what it names.
    fn first_posted(&self, from: u32, tag: u32) -> Option<((Time, u32), (u32, u32))> {
        let keys = [(from, tag), (ANY, tag), (from, ANY), (ANY, ANY)];
        let keys = if self.wild == 0 { &keys[..1] } else { &keys[..] };
        let first = |key: &(u32, u32)| Some((*self.posted.get(key)?.front()?, *key));
        keys.iter().filter_map(first).min()
    }

    /// Takes that receive.
    fn take_posted(&mut self, from: u32, tag: u32) -> Option<u32> {
        let (_, key) = self.first_posted(from, tag)?;
        let queue = self.posted.get_mut(&key)?;
        let (_, receive) = queue.pop_front()?;
        if queue.is_empty() {
            self.posted.remove(&key);
        }
        self.wild -= usize::from(key.0 == ANY || key.1 == ANY);
        Some(receive)
    }
}

impl Desks {
    /// Nothing waits.
    pub fn new() -> Desks {
        Desks { mails: Vec::new(), free: NONE, indexes: HashMap::new(), few: FEW }
    }

    /// A message.
    #[inline]
    pub fn mail(&self, mail: u32) -> &Mail {
        &self.mails[mail as usize]
    }

    /// Takes in a message, which is in no list yet.
    #[inline]
    fn insert(&mut self, mail: Mail) -> u32 {
        match self.free {
            NONE => {
                self.mails.push(mail);
                (self.mails.len() - 1) as u32
            }
            place => {
                self.free = self.mails[place as usize].after;
                self.mails[place as usize] = mail;
                place
            }
        }
    }

    /// Forgets a message that is in no list.
    #[inline]
    fn remove(&mut self, mail: u32) -> Mail {
        let gone = self.mails[mail as usize];
        self.mails[mail as usize].after = self.free;
        self.free = mail;
        gone
    }

    /// Delivers a message that any receive may take, in the order of its arrival, and after those that were there before.
    /// Returns whether one of the rank's receives has another message than before.
    #[inline]
    pub fn deliver(
        &mut self,
        desk: &mut Desk,
        rank: u32,
        links: &mut Links,
        progress: &Progress,
        mail: Mail,
    ) -> bool {
        let (key, tag) = (mail.key(), mail.tag);
        let here = self.insert(mail);
        if key < (desk.latest, desk.latest_from) {
            return self.deliver_late(desk, rank, links, progress, here);
        }
        (desk.latest, desk.latest_from) = key;
        match self.take_posted(desk, rank, links, progress, key.1, tag) {
            Some(receive) => self.pair(desk, here, receive, progress.ready_since(receive)),
            None => self.put(desk, rank, here),
        }
        desk.paired.tail == here
    }

    /// Delivers a message that arrives before others that have been delivered, so that one of them may have its receive.
    fn deliver_late(
        &mut self,
        desk: &mut Desk,
        rank: u32,
        links: &mut Links,
        progress: &Progress,
        mut here: u32,
    ) -> bool {
        loop {
            let Mail { arrival, from, tag, .. } = *self.mail(here);
            let takes = |receive: u32| takes(progress, receive, from, tag);
            let turn = |receive: u32| (progress.ready_since(receive), receive);
            let mut other = desk.paired.tail;
            let mut best = NONE;
            while other != NONE && self.mail(other).ready >= arrival {
                let mail = self.mail(other);
                let later = mail.about != About::Answer && mail.key() > (arrival, from);
                if later && takes(mail.receive) {
                    let earlier = best == NONE || turn(mail.receive) < turn(self.mail(best).receive);
                    best = if earlier { other } else { best };
                }
                other = mail.before;
            }
            // Of those that have no message the first one, unless one was posted earlier that has a later message.
            let posted = self.first_posted(desk, rank, links, progress, from, tag);
            match posted {
                Some(receive) if best == NONE || turn(receive) < turn(self.mail(best).receive) => {
                    self.take_posted(desk, rank, links, progress, from, tag);
                    self.pair(desk, here, receive, progress.ready_since(receive));
                    return true;
                }
                None if best == NONE => {
                    self.put(desk, rank, here);
                    return false;
                }
                _ => (),
            }
            let receive = self.mail(best).receive;
            self.unlink(&mut desk.paired, best);
            self.pair(desk, here, receive, progress.ready_since(receive));
            here = best;
        }
    }

    /// Delivers a message for which an operation waits.
    pub fn deliver_to(&mut self, desk: &mut Desk, mail: Mail, operation: u32, since: Time) {
        let here = self.insert(mail);
        self.pair(desk, here, operation, since);
    }

    /// A receive is posted. Returns whether it has a message.
    #[inline]
    pub fn post(
        &mut self,
        desk: &mut Desk,
        rank: u32,
        links: &mut Links,
        progress: &Progress,
        receive: u32,
    ) -> bool {
        let operation = progress.operation(receive);
        match self.take_mail(desk, rank, operation.peer, operation.tag) {
            Some(mail) => {
                self.pair(desk, mail, receive, progress.ready_since(receive));
                true
            }
            None => {
                self.unpost(desk, rank, links, progress, receive);
                false
            }
        }
    }

    /// A receive waits for a message.
    #[inline]
    fn unpost(&mut self, desk: &mut Desk, rank: u32, links: &mut Links, progress: &Progress, receive: u32) {
        match self.index(desk, rank) {
            None => desk.posted.push(links, receive, |other| progress.ready_since(other)),
            Some(index) => {
                let operation = progress.operation(receive);
                index.post(receive, progress.ready_since(receive), (operation.peer, operation.tag));
            }
        }
    }

    /// A rank's index, if it has one.
    #[inline]
    fn index(&mut self, desk: &Desk, rank: u32) -> Option<&mut Index> {
        if desk.has_index { self.indexes.get_mut(&rank) } else { None }
    }

    /// The receive that was posted first of those that take such a message; it stays.
    fn first_posted(
        &mut self,
        desk: &mut Desk,
        rank: u32,
        links: &mut Links,
        progress: &Progress,
        from: u32,
        tag: u32,
    ) -> Option<u32> {
        if let Some(index) = self.index(desk, rank) {
            return index.first_posted(from, tag).map(|((_, receive), _)| receive);
        }
        let fits = |receive: u32| takes(progress, receive, from, tag);
        desk.posted.iter(links).find(|receive| fits(*receive))
    }

    /// Takes the receive that was posted first of those that take such a message.
    #[inline]
    pub fn take_posted(
        &mut self,
        desk: &mut Desk,
        rank: u32,
        links: &mut Links,
        progress: &Progress,
        from: u32,
        tag: u32,
    ) -> Option<u32> {
        if let Some(index) = self.index(desk, rank) {
            return index.take_posted(from, tag);
        }
        let (receive, all) = desk.posted.take(links, self.few, |receive| takes(progress, receive, from, tag));
        if receive.is_some() || all {
            return receive;
        }
        self.make_index(desk, rank, links, progress).take_posted(from, tag)
    }

    /// Puts what waits into an index.
    #[cold]
    fn make_index(
        &mut self,
        desk: &mut Desk,
        rank: u32,
        links: &mut Links,
        progress: &Progress,
    ) -> &mut Index {
        desk.has_index = true;
        let mut index = Index::default();
        while let Some(receive) = desk.posted.pop(links) {
            let operation = progress.operation(receive);
            index.post(receive, progress.ready_since(receive), (operation.peer, operation.tag));
        }
        let mut mail = desk.mail.head;
        while mail != NONE {
            let Mail { from, tag, after, .. } = *self.mail(mail);
            index.mail.entry((from, tag)).or_default().push_back(mail);
            mail = after;
        }
        self.indexes.entry(rank).insert_entry(index).into_mut()
    }

    /// Puts a message to those that have no receive, after those that arrived before it.
    pub fn put(&mut self, desk: &mut Desk, rank: u32, mail: u32) {
        let Mail { arrival, from, tag, .. } = *self.mail(mail);
        let mut before = desk.mail.tail;
        while before != NONE && self.mail(before).key() > (arrival, from) {
            before = self.mail(before).before;
        }
        self.link(&mut desk.mail, before, mail);
        if desk.has_index
            && let Some(index) = self.indexes.get_mut(&rank)
        {
            let mails = &self.mails;
            let queue = index.mail.entry((from, tag)).or_default();
            let later = |other: &&u32| mails[**other as usize].key() > (arrival, from);
            let place = queue.len() - queue.iter().rev().take_while(later).count();
            queue.insert(place, mail);
        }
    }

    /// Takes the message that arrived first of those that a receive takes.
    #[inline]
    fn take_mail(&mut self, desk: &mut Desk, rank: u32, from: u32, tag: u32) -> Option<u32> {
        let fits = |mail: &Mail| (from == ANY || from == mail.from) && (tag == ANY || tag == mail.tag);
        let is_wild = from == ANY || tag == ANY;
        let mut mail = desk.mail.head;
        if desk.has_index && !is_wild {
            let index = self.indexes.get(&rank)?;
            mail = *index.mail.get(&(from, tag))?.front()?;
        } else {
            while mail != NONE && !fits(self.mail(mail)) {
                mail = self.mail(mail).after;
            }
        }
        if mail == NONE {
            return None;
        }
        self.unlink(&mut desk.mail, mail);
        if desk.has_index
            && let Some(index) = self.indexes.get_mut(&rank)
        {
            let Mail { from, tag, .. } = self.mails[mail as usize];
            if let Some(queue) = index.mail.get_mut(&(from, tag)) {
                queue.retain(|other| *other != mail);
                if queue.is_empty() {
                    index.mail.remove(&(from, tag));
                }
            }
        }
        Some(mail)
    }

    /// A message has found a receive that was posted at a time.
    #[inline]
    fn pair(&mut self, desk: &mut Desk, mail: u32, receive: u32, posted: Time) {
        let ready = self.mail(mail).arrival.max(posted);
        (self.mails[mail as usize].ready, self.mails[mail as usize].receive) = (ready, receive);
        let mut before = desk.paired.tail;
        while before != NONE && (self.mail(before).ready, self.mail(before).receive) > (ready, receive) {
            before = self.mail(before).before;
        }
        self.link(&mut desk.paired, before, mail);
    }

    /// The message whose reception comes first: both it and its receive are there first, or that was written first.
    #[inline]
    pub fn first(&self, desk: &Desk) -> Option<&Mail> {
        if desk.paired.head == NONE { None } else { Some(self.mail(desk.paired.head)) }
    }

    /// Takes that message.
    #[inline]
    pub fn take_first(&mut self, desk: &mut Desk) -> Option<Mail> {
        let first = desk.paired.head;
        if first == NONE {
            return None;
        }
        self.unlink(&mut desk.paired, first);
        Some(self.remove(first))
    }

    /// Whether a message that comes now can find a receive, or one has.
    #[inline]
    pub fn expects(&self, desk: &Desk) -> bool {
        !desk.posted.is_empty() || desk.paired.head != NONE || desk.has_index
    }

    /// The messages that no receive has taken, in the order of their arrival.
    pub fn left(&self, desk: &Desk) -> impl Iterator<Item = &Mail> {
        let next = |place: u32| (place != NONE).then(|| self.mail(place));
        std::iter::successors(next(desk.mail.head), move |mail| next(mail.after))
    }

    /// Puts a message behind another one.
    #[inline]
    fn link(&mut self, list: &mut List, before: u32, mail: u32) {
        let after = match before {
            NONE => std::mem::replace(&mut list.head, mail),
            before => std::mem::replace(&mut self.mails[before as usize].after, mail),
        };
        match after {
            NONE => list.tail = mail,
            after => self.mails[after as usize].before = mail,
        }
        (self.mails[mail as usize].before, self.mails[mail as usize].after) = (before, after);
    }

    /// Takes a message out of its list.
    #[inline]
    fn unlink(&mut self, list: &mut List, mail: u32) {
        let Mail { before, after, .. } = *self.mail(mail);
        match before {
            NONE => list.head = after,
            before => self.mails[before as usize].after = after,
        }
        match after {
            NONE => list.tail = before,
            after => self.mails[after as usize].before = before,
        }
    }

    /// Puts a message for which no receive was posted behind all others.
    pub fn hold(&mut self, desk: &mut Desk, rank: u32, mail: Mail) {
        let (here, before) = (self.insert(mail), desk.mail.tail);
        self.link(&mut desk.mail, before, here);
        if let Some(index) = self.index(desk, rank) {
            index.mail.entry((mail.from, mail.tag)).or_default().push_back(here);
        }
    }

    /// A receive takes a message that waits, or is posted.
    pub fn take_or_post(
        &mut self,
        desk: &mut Desk,
        rank: u32,
        links: &mut Links,
        progress: &Progress,
        receive: u32,
    ) -> Option<Mail> {
        let operation = progress.operation(receive);
        let Some(mail) = self.take_mail(desk, rank, operation.peer, operation.tag) else {
            self.unpost(desk, rank, links, progress, receive);
            return None;
        };
        Some(self.remove(mail))
    }
}

/// Whether a receive takes a message.
#[inline]
fn takes(progress: &Progress, receive: u32, from: u32, tag: u32) -> bool {
    let operation = progress.operation(receive);
    (operation.peer == ANY || operation.peer == from) && (operation.tag == ANY || operation.tag == tag)
}

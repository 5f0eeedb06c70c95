//! One-sided calls. The rank moves the data itself; here is what that costs, and who has which lock.

use loggp::{Proc, Tag};
use loggp_goal::patterns::AgreementStep;
use loggp_model::message::RawTag;
use loggp_mpi_trace::call::OneSided;

use crate::failure::{Called, LastCall};
use crate::locks::Held;
use crate::pending::Pending;
use crate::plan::{Blank, BlankTag};
use crate::rank::EmulatedRank;
use crate::reply::Reply;

/// The bytes of what asks for a lock or gives one back.
const WORD: usize = 8;

impl EmulatedRank<'_> {
    /// Makes a one-sided call.
    pub(crate) fn one_sided(&mut self, p: &mut Proc, what: OneSided) -> Reply {
        match what {
            OneSided::Put { to, bytes } => p.put(to as usize, bytes as usize),
            OneSided::Get { to, bytes, back, request } => {
                let get = p.post_get(to as usize, bytes as usize, back as usize);
                match request {
                    Some(request) => _ = self.requests.insert(request, Pending::Send(get, None)),
                    None => self.gets.push((to, get)),
                }
            }
            OneSided::Flush { to, is_local } => {
                self.finish_gets(p, to);
                if !is_local {
                    p.flush(to.map(|to| to as usize));
                }
            }
            OneSided::Lock { window, to, is_exclusive } => self.lock(p, window, to, is_exclusive),
            OneSided::Unlock { window, to } => self.unlock(p, window, to),
            OneSided::Fence { window } => {
                self.finish_gets(p, None);
                p.flush(None);
                self.agree(p, window, &AgreementStep::BARRIER);
            }
            OneSided::InOrder => p.wait_to_act(),
        }
        Reply::NOTHING
    }

    /// Waits for what was asked of one memory, or of all.
    pub(crate) fn finish_gets(&mut self, p: &mut Proc, of: Option<u32>) {
        let is_meant = |(to, _): &mut (u32, _)| of.is_none_or(|of| of == *to);
        for (_, get) in self.gets.extract_if(.., is_meant) {
            p.wait(get);
        }
    }

    /// Returns the ranks whose windows a lock is of: one, or all of the window.
    fn locked(&mut self, window: u32, to: Option<u32>) -> Vec<u32> {
        to.map_or_else(|| self.communicator(window).members.clone(), |to| vec![to])
    }

    /// Returns a lock's window for all ranks, and the tag of the word by which it is handed on.
    fn lock_name(&mut self, window: u32, of: u32) -> ((u32, u32), BlankTag) {
        let number = self.communicator(window).number;
        let tag = RawTag::scoped(2 * number + 1, Some(1 << 31 | of));
        ((number, of), Tag::from_raw(tag, None))
    }

    /// Asks for a lock, and waits for it: a word goes there and comes back. That of all windows is asked of the first.
    fn lock(&mut self, p: &mut Proc, window: u32, to: Option<u32>, is_exclusive: bool) {
        let me = self.id as u32;
        let all = self.locked(window, to);
        if all[0] != me {
            p.get(all[0] as usize, WORD, WORD);
        }
        p.wait_to_act();
        for of in all {
            let (name, tag) = self.lock_name(window, of);
            let has_it = {
                let mut locks = self.shared.locks.lock();
                let lock = locks.entry(name).or_default();
                let has_it = lock.waiting.is_empty() && lock.take(is_exclusive);
                if !has_it {
                    lock.waiting.push_back((me, is_exclusive));
                }
                has_it
            };
            if !has_it {
                self.backgrounds.receive(p, tag);
                p.wait_to_act();
            }
            self.learn_of_lock(name, is_exclusive);
        }
        self.held.push(Held { window, of: to, is_exclusive, place: self.call.place });
    }

    /// Returns a sentence on each lock that the rank has.
    pub(crate) fn describe_locks(&self) -> Vec<String> {
        let text = |held: &Held| {
            let (what, of) = match held.of {
                Some(of) => (Called::Named("MPI_Win_lock"), format!("the window of rank {of}")),
                None => (Called::Named("MPI_Win_lock_all"), "a window of all ranks".into()),
            };
            let call = LastCall { what, address: self.link.address(held.place), ..LastCall::default() };
            format!("rank {} has the lock of {of}, taken{}, and has not given it back", self.id, call.text())
        };
        self.held.iter().map(text).collect()
    }

    /// Gives a lock back once all is there: who waits for it gets it by a word.
    fn unlock(&mut self, p: &mut Proc, window: u32, to: Option<u32>) {
        self.finish_gets(p, to);
        p.flush(to.map(|to| to as usize));
        let is_this = |held: &Held| (held.window, held.of) == (window, to);
        let is_exclusive = self.held.iter().any(|held| is_this(held) && held.is_exclusive);
        self.held.retain(|held| !is_this(held));
        let all = self.locked(window, to);
        if all[0] as usize != self.id {
            p.put(all[0] as usize, WORD);
        }
        for of in all {
            p.wait_to_act();
            let (name, tag) = self.lock_name(window, of);
            self.tell_lock(name, is_exclusive);
            let next = self.shared.locks.lock().entry(name).or_default().give_back();
            for rank in next {
                self.backgrounds.send(p, rank as usize, (tag, Blank::word()), false);
            }
        }
    }
}

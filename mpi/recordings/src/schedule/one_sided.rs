//! The operations of one-sided calls. Who has to wait for a lock is not known: each rank gets it at once.

use loggp_goal::patterns::AgreementStep;
use loggp_schedule::Operation;

use super::rank::{Posted, RankWriter};
use crate::call::OneSided;
use crate::error::ProgramError;

/// The bytes of what asks for a lock or gives one back.
const WORD: u32 = 8;

impl RankWriter<'_> {
    /// Adds the operations of a one-sided call.
    pub(super) fn one_sided(&mut self, thread: usize, what: &OneSided) -> Result<(), ProgramError> {
        match *what {
            OneSided::Put { to, bytes } => self.put(thread, to, bytes),
            OneSided::Get { to, bytes, back, request } => {
                let asked = u32::try_from(bytes).unwrap_or(u32::MAX);
                let get = self.add(thread, Operation::Get { from: to, asked, bytes: back })?;
                match request {
                    Some(request) => _ = self.requests.insert(request, Posted::new(get)),
                    None => self.threads[thread].gets.push((to, get)),
                }
                self.go_on_after(thread, [(get, true)]);
                Ok(())
            }
            OneSided::Flush { to, is_local } => self.flush(thread, to, is_local),
            OneSided::Fence { window } => {
                self.flush(thread, None, false)?;
                self.agree(thread, window, &AgreementStep::BARRIER)
            }
            OneSided::Lock { window, to, .. } => match self.lock_holder(window, to)? {
                Some(holder) => {
                    let word = Operation::Get { from: holder, asked: WORD, bytes: WORD.into() };
                    let got = self.add(thread, word)?;
                    self.go_on_after(thread, [(got, false)]);
                    Ok(())
                }
                None => Ok(()),
            },
            OneSided::Unlock { window, to } => {
                self.flush(thread, to, false)?;
                let holder = self.lock_holder(window, to)?;
                holder.map_or(Ok(()), |holder| self.put(thread, holder, WORD.into()))
            }
            OneSided::InOrder => Ok(()),
        }
    }

    fn put(&mut self, thread: usize, to: u32, bytes: u64) -> Result<(), ProgramError> {
        let put = self.add(thread, Operation::Put { to, bytes })?;
        self.go_on_after(thread, [(put, false)]);
        Ok(())
    }

    /// Waits for what was asked of a memory, or of all, and unless it is local also until all is there that was put.
    fn flush(&mut self, thread: usize, to: Option<u32>, is_local: bool) -> Result<(), ProgramError> {
        let own = &mut self.threads[thread];
        let got = own.gets.extract_if(.., |(of, _)| to.is_none_or(|to| to == *of));
        own.before.extend(got.map(|(_, get)| (get, false)));
        if !is_local {
            let flush = self.add(thread, Operation::Flush { to })?;
            self.go_on_after(thread, [(flush, false)]);
        }
        Ok(())
    }

    /// Returns the other rank that holds the lock of a rank's window; that of all is held by the first one.
    fn lock_holder(&mut self, window: u32, to: Option<u32>) -> Result<Option<u32>, ProgramError> {
        let first = self.communicators.get(window, self.rank)?.members[0];
        Ok(Some(to.unwrap_or(first)).filter(|holder| *holder as usize != self.rank))
    }
}

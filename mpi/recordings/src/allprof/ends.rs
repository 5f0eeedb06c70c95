//! Reads the ends of messages: ranks, tags and lengths.

use super::line::MpiLine;
use crate::call::{Envelope, Receive};

/// The number for any tag.
const ANY_TAG: i64 = -1;

/// Reads the ends of messages.
pub(super) struct EndReader<'a> {
    pub call: &'a MpiLine<'a>,
    pub communicator: u32,
    pub members: &'a [u32],
    pub any_source: i64,
}

impl EndReader<'_> {
    /// Returns a message, or `None` if it is to no process. The tag stands behind the rank.
    pub(super) fn send(&self, count: usize, to: usize) -> Result<Option<Envelope>, String> {
        let bytes = self.call.bytes(count)?;
        let Some(peer) = self.peer(to)? else { return Ok(None) };
        let tag = self.tag(to + 1)?.ok_or_else(|| format!("{}: no message has any tag", self.call.name()))?;
        Ok(Some(Envelope { peer, tag, communicator: self.communicator, bytes }))
    }

    /// Returns a receive, or `None` if it is from no process. The tag stands behind the rank.
    pub(super) fn receive(&self, count: usize, from: usize) -> Result<Option<Receive>, String> {
        self.receive_of(from, self.call.bytes(count)?)
    }

    pub(super) fn receive_of(&self, from: usize, bytes: u64) -> Result<Option<Receive>, String> {
        let tag = self.tag(from + 1)?;
        let from = if self.call.number(from, "a rank")? == self.any_source {
            None
        } else if let Some(from) = self.peer(from)? {
            Some(from)
        } else {
            return Ok(None);
        };
        Ok(Some(Receive { from, tag, communicator: self.communicator, bytes, taken: None }))
    }

    /// Returns the other rank of a send or receive, or `None` for no process.
    fn peer(&self, index: usize) -> Result<Option<u32>, String> {
        let peer = self.call.number(index, "a rank")?;
        if peer < 0 {
            return Ok(None);
        }
        let member = usize::try_from(peer).ok().and_then(|peer| self.members.get(peer));
        let last = self.members.len() - 1;
        let lacks = |name| match self.communicator {
            0 => format!("{name}: there is no rank {peer}; there are traces of ranks 0 to {last}"),
            _ => format!("{name}: there is no rank {peer} in its communicator, which has ranks 0 to {last}"),
        };
        member.map(|member| Some(*member)).ok_or_else(|| lacks(self.call.name()))
    }

    /// Returns a tag, or `None` for any.
    fn tag(&self, index: usize) -> Result<Option<i32>, String> {
        match self.call.number(index, "a tag")? {
            ANY_TAG => Ok(None),
            tag => match i32::try_from(tag) {
                Ok(tag) if tag >= 0 => Ok(Some(tag)),
                _ => {
                    let name = self.call.name();
                    Err(format!("{name}: {tag} is no tag; tags are from 0 to {}", i32::MAX))
                }
            },
        }
    }
}

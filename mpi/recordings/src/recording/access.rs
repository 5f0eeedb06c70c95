//! Accesses to windows that a checked program's ranks tell of.

use super::bytes::{Cursor, Wrong};
use super::known::Known;
use super::record::{read_communicator, read_rank, read_rank_or_all};

/// An access to the window of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The number of the window's communicator.
    pub window: u32,
    /// The rank whose memory it is.
    pub of: u32,
    pub kind: AccessKind,
    pub guard: Guard,
    /// The number of fences before.
    pub phase: u64,
    /// The function that it is of.
    pub name: String,
    /// Where the bytes begin in the window, and how many there are.
    pub pieces: Vec<(u64, u64)>,
}

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    Get,
    Put,
    Accumulate,
    /// The rank itself reads its memory, or writes to it.
    Load,
    Store,
}

/// What keeps an access apart from others: the epoch that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    Fence,
    Shared,
    Exclusive,
    Start,
    Nothing,
}

/// Which accesses of a rank end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessEnd {
    /// Its calls, by an unlock or a flush.
    Calls,
    Fence,
    /// Those of others to its memory, by the end of an exposure.
    Exposure,
    /// All of a window that is freed.
    Window,
    /// None yet: the rank is about to free the window, after so many fences.
    BeforeFree(u64),
}

impl Access {
    pub(super) fn read(cursor: &mut Cursor, known: &Known) -> Result<Access, Wrong> {
        use AccessKind::{Accumulate, Get, Load, Put, Store};
        use Guard::{Exclusive, Fence, Nothing, Shared, Start};
        let (window, of) = (read_communicator(cursor, known)?, read_rank(cursor, known)?);
        let kind = pick(cursor, &[Get, Put, Accumulate, Load, Store])?;
        let guard = pick(cursor, &[Fence, Shared, Exclusive, Start, Nothing])?;
        let (phase, name) = (cursor.number()?, cursor.text()?.into_owned());
        let count = cursor.length()?;
        let pieces = (0..count).map(|_| Ok((cursor.number()?, cursor.number()?)));
        let pieces = pieces.collect::<Result<_, Wrong>>()?;
        Ok(Access { window, of, kind, guard, phase, name, pieces })
    }
}

/// Reads which accesses end: of which window, and of which rank's memory if not of all.
pub(super) fn read_end(cursor: &mut Cursor, known: &Known) -> Result<(u32, Option<u32>, AccessEnd), Wrong> {
    use AccessEnd::{BeforeFree, Calls, Exposure, Fence, Window};
    let (window, of) = (read_communicator(cursor, known)?, read_rank_or_all(cursor, known)?);
    let which = pick(cursor, &[Calls, Fence, Exposure, Window, BeforeFree(0)])?;
    let fences = cursor.number()?;
    Ok((window, of, if which == BeforeFree(0) { BeforeFree(fences) } else { which }))
}

/// Reads the index of one among all.
fn pick<T: Copy>(cursor: &mut Cursor, all: &[T]) -> Result<T, Wrong> {
    let index = cursor.byte()?;
    match all.get(index as usize) {
        Some(one) => Ok(*one),
        None => cursor.wrong(format!("{index} is not among {}", all.len())),
    }
}

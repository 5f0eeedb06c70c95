//! A recording as a source of calls, in pieces that do not grow with the program.

use rustc_hash::FxHashSet;

use super::Recording;
use super::stream::RankReader;
use crate::call::{CallKind, RankCalls, RequestId};
use crate::error::ProgramError;
use crate::source::{CallSource, TakeCalls};

/// A piece has at least so many calls, unless it is the last one.
const PIECE: usize = 1024;

impl CallSource for Recording {
    fn ranks(&self) -> usize {
        Recording::ranks(self)
    }

    fn read_rank(&mut self, rank: usize, take: TakeCalls) -> Result<(), ProgramError> {
        let wrong = |error: super::RecordingError| match error {
            super::RecordingError::Rank { rank, byte, what } => {
                ProgramError::of_rank(rank, format!("byte {byte}: {what}"))
            }
            error => ProgramError::of_rank(rank, error.to_string()),
        };
        let mut reader = self.calls(rank).map_err(wrong)?;
        let mut piece = RankCalls { begin: reader.begin(), ..RankCalls::default() };
        let mut open = FxHashSet::default();
        while let Some(call) = reader.next_call().map_err(wrong)? {
            watch(&mut open, &call.kind);
            piece.calls.push(call);
            // A receive from any rank and the call that says whose message it took are in one piece.
            if piece.calls.len() >= PIECE && open.is_empty() {
                complete(&mut piece, &reader);
                take(&piece)?;
                piece.calls.clear();
            }
        }
        complete(&mut piece, &reader);
        piece.unmodelled = reader.unmodelled().to_vec();
        take(&piece)
    }
}

/// Adds to a piece what the reader has come to know since the one before.
fn complete(piece: &mut RankCalls, reader: &RankReader) {
    piece.communicators.extend_from_slice(&reader.communicators()[piece.communicators.len()..]);
    piece.places.extend_from_slice(&reader.places()[piece.places.len()..]);
    (piece.end, piece.is_whole) = (reader.end(), reader.is_whole());
}

/// Keeps the requests of receives whose message is not known yet.
fn watch(open: &mut FxHashSet<RequestId>, kind: &CallKind) {
    match kind {
        CallKind::Recv { receive, request: Some(request) }
        | CallKind::SendRecv { receive: Some(receive), request: Some(request), .. }
            if receive.from.is_none() || receive.tag.is_none() =>
        {
            open.insert(*request);
        }
        CallKind::Start(starts) => starts.iter().for_each(|start| watch(open, start)),
        CallKind::Complete { requests, .. } if !open.is_empty() => {
            requests.iter().for_each(|completed| _ = open.remove(&completed.request));
        }
        CallKind::Forget(request) => _ = open.remove(request),
        _ => (),
    }
}

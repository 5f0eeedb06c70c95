//! A rank's side of the talk: what it posts, with its data, and the answers.

use std::cell::Cell;

use loggp::Proc;
use loggp_mpi_trace::call::Communicator;
use loggp_mpi_trace::recording::post::{Address, Post, PostReader};

use crate::failure::place_text;
use crate::reply::RankAnswer;
use crate::segment::{PostForm, Slot, WINDOW_BYTES};
use crate::shared::Shared;

/// The link to one rank.
pub(crate) struct RankLink<'a> {
    slot: Slot<'a>,
    shared: &'a Shared<'a>,
    rank: usize,
    reader: PostReader,
    /// The data of the calls that come next.
    data: Vec<u8>,
}

thread_local! {
    /// The core to which this thread is bound.
    static CORE: Cell<Option<usize>> = const { Cell::new(None) };
}

impl<'a> RankLink<'a> {
    pub(crate) fn new(shared: &'a Shared<'a>, rank: usize) -> RankLink<'a> {
        let reader = PostReader::new(shared.ranks as u32, shared.settings.checks.is_some());
        RankLink { slot: shared.segment.slot(rank), shared, rank, reader, data: Vec::new() }
    }

    pub(crate) fn communicators(&self) -> &[Communicator] {
        self.reader.communicators()
    }

    /// Returns where a place of the rank is.
    pub(crate) fn address(&self, place: u32) -> Address {
        self.reader.address(place)
    }

    /// Returns a place of the rank as text with a mark, or nothing if it is not known.
    pub(crate) fn place_text(&self, place: u32) -> String {
        place_text(&self.address(place))
    }

    /// Binds the rank to the core of this thread: so the one that waits for the other leaves it the core, and nobody
    /// computes while another does.
    pub(crate) fn bind(&self) {
        let core = CORE.with(|core| {
            if core.get().is_none() {
                core.set(bind_thread());
            }
            core.get()
        });
        if let Some(core) = core {
            self.shared.watch.bind(self.rank, core);
        }
    }

    /// Waits for the rank's next posts, and returns them and their data. Ends the run if none can come.
    pub(crate) fn next(&mut self, p: &mut Proc) -> (Vec<Post>, Vec<u8>) {
        loop {
            self.wait(p);
            match self.slot.form() {
                PostForm::Chunk => {
                    self.data.extend_from_slice(self.slot.data());
                    self.slot.answer(p.local_time().as_ps(), &[], &[], 0);
                }
                PostForm::Calls | PostForm::Next => break,
            }
        }
        self.data.extend_from_slice(self.slot.data());
        match self.reader.read(self.slot.records()) {
            Ok(posts) => (posts, std::mem::take(&mut self.data)),
            Err(why) => p.fail_with(format!("rank {}: {why}", self.rank)),
        }
    }

    fn wait(&self, p: &mut Proc) {
        if let Err(fault) = self.shared.watch.wait(self.slot, self.rank) {
            self.shared.fail(p, fault);
        }
    }

    /// Answers the rank's last post.
    pub(crate) fn answer(&mut self, p: &mut Proc, answer: &RankAnswer) {
        let total: usize = answer.data.iter().map(|piece| piece.len()).sum();
        let now = p.local_time().as_ps();
        if total <= WINDOW_BYTES && answer.data.len() < 2 {
            let piece = answer.data.first().copied().unwrap_or_default();
            return self.slot.answer(now, &answer.words, piece, total);
        }
        let all = answer.data.concat();
        let mut windows = all.chunks(WINDOW_BYTES);
        self.slot.answer(now, &answer.words, windows.next().unwrap_or_default(), total);
        for window in windows {
            self.wait(p);
            debug_assert_eq!(self.slot.form(), PostForm::Next);
            self.slot.answer(now, &[], window, total);
        }
    }
}

/// Binds this thread to the core on which it is, unless it is bound to one. Returns the core.
fn bind_thread() -> Option<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
    let core = sched_getcpu();
    let may = sched_getaffinity(None).ok()?;
    if may.count() > 1 {
        let mut one = CpuSet::new();
        one.set(core);
        sched_setaffinity(None, &one).ok()?;
    }
    Some(core)
}

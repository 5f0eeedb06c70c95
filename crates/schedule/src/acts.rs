//! The loop of a run without programs: ranks act in the order of their turns, and a source of acts says what
//! each does next.

use loggp_model::agenda::{Agenda, AgendaEntry};

/// Says what each rank does next, and performs that.
pub(super) trait Acts {
    type Error;

    /// Prepares a rank that is planned for the first time.
    #[inline]
    fn start(&mut self, _rank: u32) {}

    /// Lets a rank do all that need not wait for a turn. Returns the turn of its next act, or `None` if the rank
    /// is done or must wait for another one.
    fn plan(&mut self, rank: u32) -> Option<AgendaEntry>;

    /// Performs the act whose turn it is. Returns its rank.
    fn act(&mut self, entry: AgendaEntry) -> Result<u32, Self::Error>;

    /// Returns a rank that is to be planned, because another one did what it may have waited for.
    fn next_awake(&mut self) -> Option<u32>;

    /// Returns whether an entry is its rank's last one.
    #[inline]
    fn is_current(&self, _: AgendaEntry) -> bool {
        true
    }

    /// Prepares for the entries that come next.
    #[inline]
    fn look_ahead(&self, _: &Agenda) {}
}

/// Lets ranks act until each is done or waits for another.
#[inline]
pub(super) fn run_acts<A: Acts>(acts: &mut A, ranks: u32) -> Result<(), A::Error> {
    let mut agenda = Agenda::default();
    for rank in 0..ranks {
        acts.start(rank);
        if let Some(entry) = acts.plan(rank) {
            agenda.insert(entry, |other| acts.is_current(other));
        }
    }
    let mut planned = None;
    loop {
        while let Some(rank) = acts.next_awake() {
            if let Some(entry) = acts.plan(rank) {
                agenda.insert(entry, |other| acts.is_current(other));
            }
        }
        let next = match planned.take() {
            // A rank that is still the first goes on at once.
            Some(entry) => agenda.exchange(entry, |other| acts.is_current(other)).or(Some(entry)),
            None => agenda.pop(),
        };
        let Some(entry) = next else { return Ok(()) };
        acts.look_ahead(&agenda);
        if acts.is_current(entry) {
            let rank = acts.act(entry)?;
            planned = acts.plan(rank);
        }
    }
}

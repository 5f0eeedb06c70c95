//! Logs of an elimination: the steps of each processor, and the phases of all together.

use loggp::{Payload, Proc, Time};

/// The steps for a panel, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PanelAct {
    /// Elimination of the panel: pivots are found, rows scaled.
    Pivot,
    /// Broadcast of the multipliers.
    Multipliers,
    /// Exchange of the pivot rows with others.
    Swap,
    /// Solution for the pivot rows; with panels of one column there is nothing to do.
    Solve,
    /// Broadcast of the pivot rows.
    PivotRows,
    /// Update of the rest of the matrix.
    Update,
}

/// The reported phases: each with its name and its steps.
pub(super) const PHASES: [(&str, &[PanelAct]); 4] = [
    ("pivot", &[PanelAct::Pivot]),
    ("swap", &[PanelAct::Swap]),
    ("broadcast", &[PanelAct::Multipliers, PanelAct::PivotRows]),
    ("update", &[PanelAct::Solve, PanelAct::Update]),
];

/// A processor's notes of a panel.
#[derive(Clone, Copy, Debug, Default, Payload)]
pub(super) struct PanelNote {
    /// End of each of the steps, if the processor took part.
    ended: [Time; 6],
    /// Number of multipliers and numbers of pivot rows received from others.
    pub received: usize,
    /// True if the processor had something to update.
    pub active: bool,
}

/// A processor's log.
#[derive(Clone, Debug, Default, Payload)]
pub(super) struct EliminationLog {
    /// Row numbers of the pivots that the processor knows.
    pub pivots: Vec<usize>,
    /// The processor's notes, panel by panel.
    notes: Vec<PanelNote>,
}

impl EliminationLog {
    /// Creates a log with room for n steps.
    pub(super) fn with_capacity(n: usize) -> EliminationLog {
        EliminationLog { pivots: Vec::with_capacity(n), notes: Vec::with_capacity(n) }
    }

    /// Returns the note of a panel.
    fn panel_note(&mut self, panel: usize) -> &mut PanelNote {
        if self.notes.len() <= panel {
            self.notes.resize(panel + 1, PanelNote::default());
        }
        &mut self.notes[panel]
    }

    /// Notes that a step ends now.
    pub(super) fn finish(&mut self, p: &Proc, panel: usize, act: PanelAct) {
        self.finish_at(panel, act, p.local_time());
    }

    /// Notes that a step ended at this time.
    pub(super) fn finish_at(&mut self, panel: usize, act: PanelAct, time: Time) {
        self.panel_note(panel).ended[act as usize] = time;
    }

    /// Notes numbers received from others.
    pub(super) fn add_received(&mut self, panel: usize, values: usize) {
        self.panel_note(panel).received += values;
    }

    /// Notes an update with this many flops.
    pub(super) fn mark_active(&mut self, panel: usize, flops: u64) {
        self.panel_note(panel).active |= flops > 0;
    }
}

/// The logs of all processors.
pub(super) struct EliminationLogs(pub Vec<EliminationLog>);

impl EliminationLogs {
    /// Returns the time of each phase, summed over all panels: a step lasts from when the last processor
    /// ended the step before until the last processor ends this one. Steps of other processors in the
    /// meantime hide it.
    pub(super) fn phases(&self) -> [Time; 4] {
        let mut spent = [Time::ZERO; 6];
        let mut now = Time::ZERO;
        for panel in 0..self.panels() {
            for (act, spent) in spent.iter_mut().enumerate() {
                let ended = self.notes(panel).map(|note| note.ended[act]).max().unwrap_or_default();
                *spent += (ended - now).max(Time::ZERO);
                now = now.max(ended);
            }
        }
        PHASES.map(|(_, acts)| acts.iter().map(|act| spent[*act as usize]).sum())
    }

    /// Returns the time at which the last processor ended the last panel.
    pub(super) fn end(&self) -> Time {
        let ended = (0..self.panels()).flat_map(|panel| self.notes(panel)).flat_map(|note| note.ended);
        ended.max().unwrap_or_default()
    }

    /// Returns the number of processors that had something to update, panel by panel.
    pub(super) fn active_counts(&self) -> Vec<usize> {
        (0..self.panels()).map(|panel| self.notes(panel).filter(|note| note.active).count()).collect()
    }

    /// Returns the number of panels with notes.
    fn panels(&self) -> usize {
        self.0.iter().map(|log| log.notes.len()).max().unwrap_or(0)
    }

    /// Returns the notes of a panel by all processors that have one.
    pub(super) fn notes(&self, panel: usize) -> impl Iterator<Item = &PanelNote> {
        self.0.iter().filter_map(move |log| log.notes.get(panel))
    }
}

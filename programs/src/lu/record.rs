//! What a processor notes of its elimination, and what all of them together show.

use loggp::{Payload, Proc, Time};

/// What is done for a panel, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The panel is eliminated: pivots are found, rows scaled.
    Pivot,
    /// The multipliers go to those who need them.
    Multipliers,
    /// Pivot rows and others change places.
    Swap,
    /// The pivot rows are solved for; with panels of a column there is nothing to do.
    Solve,
    /// The pivot rows go to those who need them.
    PivotRows,
    /// What is left of the matrix is updated.
    Update,
}

/// The phases that are reported: what is done, and its name.
pub const PHASES: [(&str, &[Act]); 4] = [
    ("pivot", &[Act::Pivot]),
    ("swap", &[Act::Swap]),
    ("broadcast", &[Act::Multipliers, Act::PivotRows]),
    ("update", &[Act::Solve, Act::Update]),
];

/// What a processor notes of a panel.
#[derive(Clone, Copy, Debug, Default, Payload)]
pub struct Noted {
    /// When each of the acts was over, if it took part.
    ended: [Time; 6],
    /// How many multipliers and numbers of pivot rows others sent it.
    pub received: usize,
    /// Whether it had something to update.
    pub active: bool,
}

/// What a processor notes, panel by panel.
#[derive(Clone, Debug, Default, Payload)]
pub struct Record(Vec<Noted>);

impl Record {
    /// A record with room for so many panels.
    pub fn with_capacity(panels: usize) -> Record {
        Record(Vec::with_capacity(panels))
    }

    /// What is noted of a panel.
    fn of(&mut self, panel: usize) -> &mut Noted {
        if self.0.len() <= panel {
            self.0.resize(panel + 1, Noted::default());
        }
        &mut self.0[panel]
    }

    /// The act is over.
    pub fn did(&mut self, p: &Proc, panel: usize, act: Act) {
        self.ended(panel, act, p.now());
    }

    /// The act was over at this time.
    pub fn ended(&mut self, panel: usize, act: Act, time: Time) {
        self.of(panel).ended[act as usize] = time;
    }

    /// Numbers came from others.
    pub fn received(&mut self, panel: usize, values: usize) {
        self.of(panel).received += values;
    }

    /// There was something to update.
    pub fn active(&mut self, panel: usize, flops: u64) {
        self.of(panel).active |= flops > 0;
    }
}

/// What all processors noted.
pub struct Records(pub Vec<Record>);

impl Records {
    /// How long each phase lasted, all panels together: from when the last processor was done with what comes before it
    /// until the last one was done with it. What others do meanwhile hides it.
    pub fn phases(&self) -> [Time; 4] {
        let mut spent = [Time::ZERO; 6];
        let mut now = Time::ZERO;
        for panel in 0..self.panels() {
            for (act, spent) in spent.iter_mut().enumerate() {
                let ended = self.at(panel).map(|noted| noted.ended[act]).max().unwrap_or_default();
                *spent += (ended - now).max(Time::ZERO);
                now = now.max(ended);
            }
        }
        PHASES.map(|(_, acts)| acts.iter().map(|act| spent[*act as usize]).sum())
    }

    /// When the last one was done with the last panel.
    pub fn end(&self) -> Time {
        let ended = (0..self.panels()).flat_map(|panel| self.at(panel)).flat_map(|noted| noted.ended);
        ended.max().unwrap_or_default()
    }

    /// How many processors had something to update, panel by panel.
    pub fn active(&self) -> Vec<usize> {
        (0..self.panels()).map(|panel| self.at(panel).filter(|noted| noted.active).count()).collect()
    }

    /// Of how many panels somebody noted something.
    fn panels(&self) -> usize {
        self.0.iter().map(|Record(noted)| noted.len()).max().unwrap_or(0)
    }

    /// What was noted of a panel, by those who noted something.
    pub fn at(&self, panel: usize) -> impl Iterator<Item = &Noted> {
        self.0.iter().filter_map(move |Record(noted)| noted.get(panel))
    }
}

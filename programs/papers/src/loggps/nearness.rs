//! How near measured times came to the model's, in a sentence.

use loggp_study::Answers;

/// How near measured times came to the model's.
#[derive(Default)]
pub struct Nearness {
    /// How many were measured.
    measured: usize,
    /// How many of these the host held.
    held: usize,
    /// How far the farthest of those is, as a part of the model's time.
    farthest: f64,
}

impl Nearness {
    /// Looks at one more run.
    pub fn see(&mut self, answers: &Answers) {
        let Some(host) = &answers.outcome.run.host else { return };
        self.measured += 1;
        if host.held {
            self.held += 1;
            self.farthest = self.farthest.max(answers.prediction.error_model().unwrap_or(0.0).abs());
        }
    }

    /// What came of it.
    pub fn sentence(&self) -> String {
        match self.measured {
            0 => "Nothing was measured.".into(),
            measured if self.held == 0 => {
                format!("This computer was too busy to hold any of {measured} measured runs.")
            }
            measured => format!(
                "This computer held {} of {measured} measured runs, and those took what the model says to within {:.2}%.",
                self.held,
                100.0 * self.farthest
            ),
        }
    }
}

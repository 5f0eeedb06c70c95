//! What-if replays of a recorded run: other parameters, messages in pieces, another model.

use loggp::RunError;
use loggp::params::{LeveledParams, Model};
use loggp::replay::Replay;
use loggp::trace::Trace;
use loggp_model::text::escaped;
use loggp_programs::Refusal;

/// A change, with which a recorded run is replayed.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    /// Text that it was parsed from.
    pub name: String,
    pub machine: LeveledParams,
    /// Longest piece of a message in words, if messages go in pieces (LogGPS, section 4.5, method M2).
    pub fragments: Option<usize>,
    /// Model (LogGPS, table 8).
    pub model: Model,
}

impl WhatIf {
    /// Parses `S=65536,L=2us,L_1=1us,fragments=16383,model=loggp-1`: parameters, as on a command line, those of
    /// levels, and two more names.
    pub fn read(text: &str, machine: impl Into<LeveledParams>) -> Result<WhatIf, Refusal> {
        let (mut fragments, mut model, mut rest) = (None, None, Vec::new());
        for part in text.split(',') {
            match part.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
                Some(("fragments", words)) if fragments.is_none() => {
                    let count = words.parse().ok().filter(|words| *words > 0);
                    let refuse = || {
                        Refusal::from(format!(
                            "fragments = {} is not a length; give a number of words from 1",
                            escaped(words)
                        ))
                    };
                    fragments = Some(count.ok_or_else(refuse)?);
                }
                Some(("model", name)) if model.is_none() => model = Some(name.parse().map_err(refused)?),
                Some((name @ ("fragments" | "model"), _)) => {
                    return Err(format!("{name} is given twice; give it once").into());
                }
                _ => rest.push(part),
            }
        }
        let machine = machine.into().set(&rest.join(",")).map_err(refused)?;
        Ok(WhatIf { name: text.trim().into(), machine, fragments, model: model.unwrap_or_default() })
    }

    /// Replays a recorded run with the change, and returns its trace.
    pub fn replay(&self, trace: &Trace) -> Result<Trace, RunError> {
        let replay = Replay::new(trace).machine(self.machine.clone()).model(self.model).trace(true);
        let replay = match self.fragments {
            Some(words) => replay.fragments(words),
            None => replay,
        };
        Ok(replay.run()?.trace.expect("it is traced"))
    }
}

fn refused(why: loggp::ParamsError) -> Refusal {
    why.to_string().into()
}

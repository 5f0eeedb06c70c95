//! What a recorded run would have taken if: other parameters, messages in pieces, another model.

use loggp::{Model, Params, ParamsBuilder, Replay, RunError, Trace, outside};

use loggp_programs::Refusal;

/// A change, under which a recorded run is made again.
#[derive(Clone, Debug, PartialEq)]
pub struct WhatIf {
    /// What it was asked as.
    pub name: String,
    /// The parameters.
    pub params: Params,
    /// The longest piece of a message in words, if messages go in pieces (LogGPS, section 4.5, method M2).
    pub fragments: Option<usize>,
    /// The model (LogGPS, table 8).
    pub model: Model,
}

impl WhatIf {
    /// Reads `S=65536,L=2us,fragments=16383,model=loggp-1`: parameters, as on a command line, and two more names.
    pub fn read(text: &str, params: Params) -> Result<WhatIf, Refusal> {
        let (mut fragments, mut model, mut rest) = (None, None, Vec::new());
        for part in text.split(',') {
            match part.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
                Some(("fragments", words)) if fragments.is_none() => {
                    let count = words.parse().ok().filter(|words| *words > 0);
                    let refuse = || {
                        Refusal::from(format!(
                            "fragments = {} is not a length; give a number of words from 1",
                            outside(words)
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
        let params = ParamsBuilder::from(params).set(&rest.join(",")).and_then(ParamsBuilder::build);
        let params = params.map_err(refused)?;
        Ok(WhatIf { name: text.trim().into(), params, fragments, model: model.unwrap_or_default() })
    }

    /// Makes a recorded run again, and traces it.
    pub fn replay(&self, trace: &Trace) -> Result<Trace, RunError> {
        let replay = Replay::of(trace).params(self.params).model(self.model).trace(true);
        let replay = match self.fragments {
            Some(words) => replay.fragments(words),
            None => replay,
        };
        Ok(replay.run()?.trace.expect("it is traced"))
    }
}

/// Parameters that cannot be are no request.
fn refused(why: loggp::ParamsError) -> Refusal {
    why.to_string().into()
}

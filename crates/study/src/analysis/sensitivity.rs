//! What a change of a parameter would change in the run: by the critical path, and by a replay.
//!
//! The path tells what each parameter does to it, as long as it stays the critical one. A replay tells what the whole run
//! does, and what becomes of it when a length crosses a threshold.

use loggp::{LongMessages, Parameter, Params, ParamsBuilder, Replay, RunError, Trace};

use super::formula::Formula;

/// What one parameter does to the run. Changes are in picoseconds, for a parameter that is 1% more: a time is whole
/// picoseconds, so what a larger step does is divided.
#[derive(Clone, Debug)]
pub struct Sensitivity {
    /// The parameter.
    pub parameter: &'static Parameter,
    /// How much longer the path would be; nothing for thresholds, of which no length follows.
    pub path: Option<f64>,
    /// How much longer the run is when it is made again; nothing if it was not.
    pub replay: Option<f64>,
}

/// A parameter that is a little more.
struct Step {
    /// The parameter.
    parameter: &'static Parameter,
    /// All parameters, of which this one is changed.
    params: Params,
    /// By what part of itself it is more.
    part: f64,
}

/// What the parameters do to the path.
pub fn sensitivities(formula: &Formula, params: &Params) -> Vec<Sensitivity> {
    let of_step = |Step { parameter, .. }: Step| {
        let value = parameter.number(params).unwrap_or(0) as f64;
        // What was drawn grows with what it was drawn from.
        let drawn = if parameter.name == "L" { formula.rest("drawn latency").as_ps() as f64 } else { 0.0 };
        let path = (formula.count(parameter.name) as f64 * value + drawn) / 100.0;
        Sensitivity { parameter, path: parameter.is_time().then_some(path), replay: None }
    };
    steps(params).into_iter().map(of_step).collect()
}

/// Makes a recorded run again with each parameter a little more, and notes what that changes.
pub fn replay(trace: &Trace, sensitivities: &mut [Sensitivity]) -> Result<(), RunError> {
    let time = Replay::of(trace).run()?.time;
    for Step { parameter, params, part } in steps(&trace.params) {
        let place = sensitivities.iter_mut().find(|one| one.parameter.name == parameter.name);
        let Some(sensitivity) = place else { continue };
        let change = Replay::of(trace).params(params).run()?.time - time;
        // What a threshold does is a jump: 1% of it is no hundredth of anything.
        let by = if parameter.is_time() { 100.0 * part } else { 1.0 };
        sensitivity.replay = Some(change.as_ps() as f64 / by);
    }
    Ok(())
}

/// Each parameter that says what messages cost, 1% more or, if that is less than it is counted in, one more.
fn steps(params: &Params) -> Vec<Step> {
    let step = |parameter: &'static Parameter| {
        let name = parameter.name;
        // With LogP the G is no parameter of its own, and some parameters say no costs.
        let is_cost = match name {
            "P" | "C" | "word" => false,
            "G" => matches!(params.long, LongMessages::LogGP { .. }),
            _ => true,
        };
        // A length without a limit has no hundredth.
        let is_limit = |value: &i64| *value != 0 && (parameter.is_time() || *value < Params::NO_LIMIT as i64);
        let value = parameter.number(params).filter(|value| is_cost && is_limit(value))?;
        let step = (value / 100).abs().max(1) * value.signum();
        let unit = if parameter.is_time() { "ps" } else { "" };
        let more = ParamsBuilder::from(*params).set(&format!("{name}={}{unit}", value + step));
        let params = more.and_then(ParamsBuilder::build).ok()?;
        Some(Step { parameter, params, part: step as f64 / value as f64 })
    };
    Parameter::ALL.iter().filter_map(step).collect()
}

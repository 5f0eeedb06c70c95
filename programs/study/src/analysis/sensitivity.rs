//! What a change of a parameter would change in the run: by the critical path, and by a replay.
//!
//! The path tells what each parameter does to it, as long as it stays the critical one. A replay tells what the whole run
//! does, and what becomes of it when a length crosses a threshold.

use loggp::path::{Cost, Path};
use loggp::{LongMessages, Parameter, Params, ParamsBuilder, Replay, RunError, Time, Trace};

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
pub fn sensitivities(path: &Path, params: &Params) -> Vec<Sensitivity> {
    steps(params)
        .iter()
        .map(|step| {
            let Step { parameter, params: more, part } = step;
            let change = |cost: &Cost| length(cost, more) - length(cost, params);
            let changes = path.hops.iter().map(|hop| match hop.cost {
                // What was drawn grows with what it was drawn from.
                Cost::Latency if parameter.name == "L" => hop.length().as_ps() as f64 * part,
                cost => change(&cost).as_ps() as f64,
            });
            let path = parameter.is_time().then(|| changes.sum::<f64>() / part / 100.0);
            Sensitivity { parameter, path, replay: None }
        })
        .collect()
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

/// How long a hop of the path is with these parameters, as far as it follows from them.
fn length(cost: &Cost, params: &Params) -> Time {
    match *cost {
        Cost::Fixed | Cost::Latency => Time::ZERO,
        Cost::Send(words) => params.send_overhead(words),
        Cost::Receive(words) => params.recv_overhead(words),
        Cost::Stream(words) => params.stream(words),
        Cost::Gap => params.g,
    }
}

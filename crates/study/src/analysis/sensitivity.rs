//! The effect of a change of a parameter on a run: by the critical path, and by a replay.
//!
//! The path gives the effect of each parameter as long as the path stays critical. A replay gives that on the
//! whole run, and shows what happens when a length crosses a threshold.

use loggp::params::{LevelParameter, LeveledParams, LongMessages};
use loggp::path::Formula;
use loggp::replay::Replay;
use loggp::trace::Trace;
use loggp::{Params, RunError, Time};

/// The effect of one parameter on the run: the change in picoseconds if the parameter grows by 1%. Times are
/// whole picoseconds, so the effect of a larger step is divided.
#[derive(Clone, Debug)]
pub struct Sensitivity {
    pub parameter: LevelParameter,
    /// Change of the path's length; `None` for thresholds, from which no length follows.
    pub path: Option<f64>,
    /// Change of the run's length in a replay; `None` if it was not replayed.
    pub replay: Option<f64>,
}

/// A small increase of a parameter.
struct ParameterStep {
    parameter: LevelParameter,
    /// All parameters, with this one changed.
    machine: LeveledParams,
    /// Relative increase.
    part: f64,
}

/// Returns the effects of the parameters on the path.
pub(super) fn sensitivities(formula: &Formula, machine: &LeveledParams) -> Vec<Sensitivity> {
    let of_step = |ParameterStep { parameter, .. }: ParameterStep| {
        let value = parameter.number(machine).unwrap_or(0) as f64;
        // A drawn latency grows with L.
        let drawn = if parameter.name() == "L" { formula.rest("drawn latency").as_ps() as f64 } else { 0.0 };
        let path = (formula.count(parameter.name()) as f64 * value + drawn) / 100.0;
        Sensitivity { parameter, path: parameter.is_time().then_some(path), replay: None }
    };
    steps(machine).map(of_step).collect()
}

/// Replays a recorded run with each parameter a little larger, and adds the changes.
pub fn add_replays(trace: &Trace, sensitivities: &mut [Sensitivity]) -> Result<(), RunError> {
    let time_of = |machine| Ok(Replay::new(trace).machine(machine).run()?.time);
    add_runs(&trace.machine(), sensitivities, &time_of)
}

/// Makes a run with each of the machine's parameters a little larger, and adds the changes.
pub fn add_runs(
    machine: &LeveledParams,
    sensitivities: &mut [Sensitivity],
    time_of: &dyn Fn(LeveledParams) -> Result<Time, RunError>,
) -> Result<(), RunError> {
    let time = time_of(machine.clone())?;
    for ParameterStep { parameter, machine, part } in steps(machine) {
        let known = sensitivities.iter_mut().find(|one| one.parameter.name() == parameter.name());
        let Some(sensitivity) = known else { continue };
        let change = time_of(machine)? - time;
        // A threshold has a jump as its effect, which is not scaled to 1%.
        let by = if parameter.is_time() { 100.0 * part } else { 1.0 };
        sensitivity.replay = Some(change.as_ps() as f64 / by);
    }
    Ok(())
}

/// Returns each parameter on which the cost of messages depends, 1% larger or, if that is less than its unit,
/// by one unit.
fn steps(machine: &LeveledParams) -> impl Iterator<Item = ParameterStep> {
    let step = |parameter: LevelParameter| {
        // With LogP the G is no parameter of its own, and some parameters have no cost.
        let is_cost = match parameter.parameter.name {
            "P" | "C" | "word" => false,
            "G" => matches!(machine.at(parameter.level).long, LongMessages::LogGP { .. }),
            _ => true,
        };
        // A length without a limit has no hundredth.
        let is_limit = |value: &i64| *value != 0 && (parameter.is_time() || *value < Params::NO_LIMIT as i64);
        let value = parameter.number(machine).filter(|value| is_cost && is_limit(value))?;
        let step = (value / 100).abs().max(1) * value.signum();
        let machine = machine.with(parameter, value + step).ok()?;
        Some(ParameterStep { parameter, machine, part: step as f64 / value as f64 })
    };
    machine.parameters().filter_map(step)
}

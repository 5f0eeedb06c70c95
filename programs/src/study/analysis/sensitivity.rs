//! What a change of a parameter would change in the critical path, as long as the path stays the critical one.

use loggp::{LongMessages, Parameter, Params, ParamsBuilder, Time};

use super::path::{Cost, Path};

/// What one parameter does to the path.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensitivity {
    /// The parameter.
    pub name: &'static str,
    /// How much longer the path would be if the parameter were 1% more, in picoseconds.
    pub per_cent: f64,
}

/// By how many parts of the path each of the machine's times counts; those that are 0 are left out.
pub fn sensitivities(path: &Path, params: &Params) -> Vec<Sensitivity> {
    let of_one = |parameter: &Parameter| {
        let name = parameter.name;
        // With LogP the G is no parameter of its own.
        let is_own = name != "G" || matches!(params.long, LongMessages::LogGP { .. });
        let value = parameter.number(params).filter(|value| parameter.is_time() && is_own && *value != 0)?;
        let hundredth = value as f64 / 100.0;
        // Whole picoseconds, in the direction in which it would grow.
        let step = (value / 100).abs().max(1) * value.signum();
        let changed = with(params, name, Time::from_ps(value + step))?;
        let change = |cost: &Cost| length(cost, &changed) - length(cost, params);
        let change: f64 = path.hops.iter().map(|hop| match hop.cost {
            // What was drawn grows with what it was drawn from.
            Cost::Latency if name == "L" => hop.length().as_ps() as f64 * step as f64 / value as f64,
            cost => change(&cost).as_ps() as f64,
        }).sum();
        Some(Sensitivity { name, per_cent: change * hundredth / step as f64 })
    };
    Parameter::ALL.iter().filter_map(of_one).collect()
}

/// The same parameters but for one time, if there can be such a machine.
pub fn with(params: &Params, name: &str, time: Time) -> Option<Params> {
    let builder = ParamsBuilder::from(*params).set(&format!("{name}={}ps", time.as_ps()));
    builder.and_then(ParamsBuilder::build).ok()
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

//! The names of a machine's settings in text and in the command.

use std::fmt;
use std::str::FromStr;

use loggp_model::params::ParamsError;
use loggp_model::text::names;

use crate::clock::ClockKind;
use crate::clock::wall::carrier::Carrier;
use crate::clock::wall::dilation::Dilation;

names!(Carrier: "thread" Thread "coroutine" Coroutine);
names!(ClockKind: "virtual" Virtual "wall" Wall);

/// Prints `auto` or the factor, as [`FromStr`] reads it.
impl fmt::Display for Dilation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dilation::Auto => f.pad("auto"),
            Dilation::Fixed(dilation) => dilation.fmt(f),
        }
    }
}

impl FromStr for Dilation {
    type Err = ParamsError;

    fn from_str(text: &str) -> Result<Dilation, ParamsError> {
        let number = text.parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0);
        match number {
            _ if text == "auto" => Ok(Dilation::Auto),
            Some(number) => Ok(Dilation::Fixed(number)),
            None => Err(ParamsError::new("give auto, or a number above 0")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt;
    use std::str::FromStr;

    use loggp_model::params::{Latency, ParamsError, Ports, Ties, Work};
    use loggp_model::transport::Protocol;
    use loggp_predict::Model;
    use loggp_schedule::CostModel;

    use crate::clock::ClockKind;
    use crate::clock::wall::carrier::Carrier;
    use crate::clock::wall::dilation::Dilation;

    #[test]
    fn settings_are_read_as_written() {
        fn check<T: FromStr<Err = ParamsError> + fmt::Display>(names: &[&str], refusal: &str) {
            for name in names {
                assert_eq!(name.parse::<T>().unwrap().to_string(), *name);
            }
            for wrong in ["", "rand", "random", "random:", "random:-1", "exactly", "exact:1", "wall:7", "-1"]
            {
                let refused = wrong.parse::<T>().err().unwrap().to_string();
                assert!(refused.ends_with(refusal), "{wrong}: {refused}");
            }
        }
        check::<Carrier>(&["thread", "coroutine"], "; give thread or coroutine");
        check::<ClockKind>(&["virtual", "wall"], "; give virtual or wall");
        check::<Dilation>(&["auto", "0.5", "20"], "give auto, or a number above 0");
        check::<Latency>(
            &["exact", "random:7", "exponential:8"],
            "give exact, random:SEED or exponential:SEED",
        );
        check::<Model>(&["loggps", "loggp-1", "loggp-2"], "give loggps, loggp-1 or loggp-2");
        check::<Ports>(&["single", "dual"], "; give single or dual");
        check::<Protocol>(&["push", "pull"], "; give push or pull");
        check::<CostModel>(&["papers", "loggopsim"], "; give papers or loggopsim");
        check::<Ties>(&["number", "rotation", "random:7"], "give number, rotation or random:SEED");
        check::<Work>(&["measured", "charged"], "; give measured or charged");
    }
}

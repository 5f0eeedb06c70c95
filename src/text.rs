//! Settings as text: each is written and read by the names that the command has for its values.

use std::fmt;
use std::str::FromStr;

use crate::clock::ClockKind;
use crate::clock::wall::carrier::Carrier;
use crate::clock::wall::dilation::Dilation;
use crate::params::{Latency, Model, ParamsError, Ports, Ties};
use crate::proc::Work;
use crate::schedule::Rules;

/// The names of a setting's values, and those of the values that are drawn by a seed.
macro_rules! names {
    ($type:ident: $($name:literal $value:ident)+ $(; $by_seed:literal $drawn:ident)*) => {
        #[doc = concat!("By name: ", $("`", $name, "` ",)+ $("`", $by_seed, ":7` ",)* "as [`FromStr`] reads it.")]
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($type::$value => f.pad($name),)+
                    $($type::$drawn { seed } => f.pad(&format!(concat!($by_seed, ":{}"), seed)),)*
                }
            }
        }

        impl FromStr for $type {
            type Err = ParamsError;

            fn from_str(text: &str) -> Result<$type, ParamsError> {
                let (name, seed) = text.split_once(':').map_or((text, None), |(name, seed)| (name, Some(seed)));
                match (name, seed.map(u64::from_str)) {
                    $(($name, None) => Ok($type::$value),)+
                    $(($by_seed, Some(Ok(seed))) => Ok($type::$drawn { seed }),)*
                    _ => Err(unknown(text, &[$($name,)+ $(concat!($by_seed, ":SEED"),)*])),
                }
            }
        }
    };
}

/// Refuses a name that none of the values has.
fn unknown(text: &str, names: &[&str]) -> ParamsError {
    let (last, others) = names.split_last().expect("a setting has values");
    ParamsError::new(format!("there is no {text}; give {} or {last}", others.join(", ")))
}

names!(Carrier: "thread" Thread "coroutine" Coroutine);
names!(ClockKind: "virtual" Virtual "wall" Wall);
names!(Latency: "exact" Exact; "random" Random; "exponential" Exponential);
names!(Model: "loggps" LogGPS "loggp-1" LogGP1 "loggp-2" LogGP2);
names!(Ports: "single" Single "dual" Dual);
names!(Rules: "papers" Papers "loggopsim" LogGOPSim);
names!(Ties: "number" Number "rotation" Rotation; "random" Random);
names!(Work: "measured" Measured "charged" Charged);

/// `auto`, or how many times slower the machine runs, as [`FromStr`] reads it.
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
        let number = |text: &str| text.parse().ok().filter(|n: &f64| n.is_finite() && *n > 0.0);
        match text {
            "auto" => Ok(Dilation::Auto),
            _ => number(text)
                .map(Dilation::Fixed)
                .ok_or_else(|| ParamsError::new("give auto, or a number above 0")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
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
        check::<Rules>(&["papers", "loggopsim"], "; give papers or loggopsim");
        check::<Ties>(&["number", "rotation", "random:7"], "give number, rotation or random:SEED");
        check::<Work>(&["measured", "charged"], "; give measured or charged");
    }
}

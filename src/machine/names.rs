//! The names of a machine's settings in text and in the command.

use std::fmt;
use std::str::FromStr;

use crate::clock::ClockKind;
use crate::clock::wall::carrier::Carrier;
use crate::clock::wall::dilation::Dilation;
use crate::params::ParamsError;
use crate::text::names;

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

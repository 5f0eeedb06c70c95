//! The checks of parameters.

use std::num::NonZeroUsize;

use super::builder::ParamsBuilder;
use super::params::{Params, ParamsError};
use super::table::{MachineSet, Parameter, ParameterValue, ValueKind};
use crate::time::{LONGEST, PS, Time};

impl ParamsBuilder {
    /// Creates a builder for `P` processors whose L, o and g are [open](ParamsBuilder::open_names).
    pub fn with_open_times(P: usize) -> ParamsBuilder {
        let must_be_known =
            |parameter: &&Parameter| parameter.machines == MachineSet::All && parameter.is_time();
        let open = Parameter::ALL.iter().filter(must_be_known).map(|parameter| parameter.name).collect();
        ParamsBuilder { open_names: open, ..Params::builder(P) }
    }

    /// Returns the names of the open parameters, which have no value yet and must be set.
    pub fn open_names(&self) -> &[&'static str] {
        &self.open_names
    }

    /// Returns the parameters, or an error if one is open or invalid.
    pub fn build(self) -> Result<Params, ParamsError> {
        if let [first, ..] = self.open_names[..] {
            return Err(ParamsError::new(format!(
                "the paper leaves {} open; give a value, as in {first}=6us",
                self.open_names.join(" and "),
            )));
        }
        self.check()?;
        let word = NonZeroUsize::new(self.word).expect("it is in its range");
        Ok(Params { word, C: self.C.and_then(NonZeroUsize::new), ..self.params })
    }

    /// Refuses invalid parameters.
    fn check(&self) -> Result<(), ParamsError> {
        let refuse = |sentence: String| Err(ParamsError::new(sentence));
        for parameter in Parameter::ALL.iter().chain([&Parameter::CYCLE]) {
            let name = parameter.name;
            match (parameter.value(self.clone()), &parameter.kind) {
                (Some(ParameterValue::Time(time)), _) if time < Time::ZERO && name != "G_l" => {
                    return refuse(format!("{name} = {time} is negative; only G_l may be"));
                }
                (Some(ParameterValue::Time(time)), _) if time > LONGEST || time < -LONGEST => {
                    return refuse(format!("{name} = {time} is too long; give at most {LONGEST}"));
                }
                (Some(ParameterValue::Count(n)), ValueKind::Counts(range, _)) if !range.contains(&n) => {
                    let what = if name == "P" { "not a number of processors" } else { "out of range" };
                    let (least, most) = (range.start(), range.end());
                    return refuse(format!("{name} = {n} is {what}; give one from {least} to {most}"));
                }
                _ => (),
            }
        }
        if self.params.cycle < PS {
            return refuse("cycle = 0 would let a processor poll for ever; give at least 1 ps".into());
        }
        if self.params.longest_message() == Some(0) {
            return refuse("o + L is shorter than what G_l takes back from a message of one word".into());
        }
        Ok(())
    }
}

impl Params {
    /// Refuses invalid parameters. The fields are public, so a program may have set them without a
    /// [`ParamsBuilder`].
    #[doc(hidden)]
    pub fn check(&self) -> Result<(), ParamsError> {
        ParamsBuilder::from(*self).check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{LogGps, LongMessages};
    use crate::time::US;

    fn refusal(text: &str) -> String {
        Params::builder(8).set(text).and_then(ParamsBuilder::build).unwrap_err().to_string()
    }

    #[test]
    fn refusals_are_one_sentence() {
        for (text, part) in [
            ("L=-1us", "negative"),
            ("L=99999999999999999999999999999999999999999s", "too long"),
            ("L=2000000s", "too long"),
            ("L=0.1ps", "finer than a picosecond"),
            ("L=6lightyears", "no unit lightyears"),
            ("L=6\u{b5}", "no unit \u{b5};"),
            ("L=\u{b5}s", "not a time"),
            ("L=1.2.3us", "not a time"),
            ("L=", "not a time"),
            ("L=us", "not a time"),
            ("L=1-2us", "not a time"),
            ("L=6,o=2,L=7", "L is given twice"),
            ("Q=6", "Q is not a parameter"),
            ("L", "write it as L=6us"),
            ("P=0", "P = 0 is not a number of processors"),
            ("P=1.5", "is not a number"),
            ("P=99999999999", "is not a number of processors"),
            ("word=0", "word = 0 is out of range"),
            ("C=0", "C = 0 is out of range; give one from 1 to 4294967295"),
            ("C=few", "C = few is not a number; give a whole one, without a unit, or none for no limit"),
            ("G_s=1ns,G=2ns", "G belongs to LogGP, and this is a LogGPS machine; give G_s and G_l"),
            ("G=2ns,G_s=1ns", "G_s belongs to LogGPS, and this machine has LogGP's G; give one of the two"),
            (
                "cycle=2us",
                "cycle is not a parameter; there are L, o, g, G, P, C, word, and LogGPS's O_s, O_r, ",
            ),
            ("s=99999999999", "s = 99999999999 is out of range; give one from 0 to 4294967295"),
            ("s=0,G_l=-2us,L=1us", "G_l takes back"),
        ] {
            let refusal = refusal(text);
            assert!(refusal.contains(part), "{text}: {refusal}");
            assert!(!refusal.contains('\n'), "{text}: {refusal}");
        }
    }

    #[test]
    fn open_parameters_must_be_set() {
        let refused = ParamsBuilder::with_open_times(8).o(US).build().unwrap_err().to_string();
        assert_eq!(refused, "the paper leaves L and g open; give a value, as in L=6us");
        assert!(ParamsBuilder::with_open_times(8).set("L=1,o=1,g=1").unwrap().build().is_ok());
    }

    /// Every parameter is read, written and read again, and a machine has exactly the parameters of its
    /// model.
    #[test]
    fn parameters_are_read_as_written() {
        for (text, names) in [
            ("L=1,o=2,g=3,P=4,word=5", "L o g G P word"),
            ("L=1,o=2,g=3,G=0,P=4,word=5", "L o g G P word"),
            ("L=1,o=2,g=3,P=4,C=none,word=5", "L o g G P C word"),
            ("L=1,o=2,g=3,S=7,s=6,R=5,P=4,word=5", "L o g O_s O_r G_s G_l R P word s S"),
            (
                "L=1,o=2,g=3,O_s=4,O_r=5,G_s=6,G_l=-7ns,P=8,word=9,s=10,S=11",
                "L o g O_s O_r G_s G_l P word s S",
            ),
        ] {
            let params = Params::builder(1).set(text).unwrap().build().unwrap();
            let said = params.times().map(|(name, time)| (name, time.to_string()));
            let said: Vec<_> = said.chain(params.counts().map(|(name, n)| (name, n.to_string()))).collect();
            assert_eq!(said.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" "), names);
            let said: Vec<String> = said.iter().map(|(name, value)| format!("{name}={value}")).collect();
            let again = Params::builder(1).set(&said.join(",")).unwrap().build().unwrap();
            let long = if params.long == LongMessages::LogP { again.long } else { params.long };
            assert_eq!(again, Params { long, ..params });
            assert_eq!(again.G(), params.G());
        }
    }

    #[test]
    fn no_G_differs_from_a_G_of_0() {
        let logp = Params::builder(2).o(2 * US).g(4 * US);
        let loggp = logp.clone().G(Time::ZERO).build().unwrap();
        let logp = logp.build().unwrap();
        assert_eq!((logp.G(), loggp.G()), (Some(4 * US), Some(Time::ZERO)));
        assert_eq!((logp.stream(3), loggp.stream(3)), (8 * US, Time::ZERO));
        // The G of a LogP machine follows from the gap of the copy.
        assert_eq!(Params { g: US, ..logp }.G(), Some(2 * US));
        let gps = loggp_gps(&logp);
        assert_eq!((gps.G(), gps.is_loggp()), (None, false));
    }

    #[test]
    fn stream_of_no_words_is_that_of_one_word_without_loggps() {
        let logp = Params::builder(2).o(2 * US).g(4 * US);
        for params in [logp.clone().G(US), logp].map(|params| params.build().unwrap()) {
            assert_eq!([0, 1].map(|k| params.stream(k)), [Time::ZERO; 2]);
        }
    }

    fn loggp_gps(params: &Params) -> Params {
        let (O_s, O_r, G_s, G_l) = (US, US, US, US);
        Params { long: LongMessages::LogGPS(LogGps { s: 1, S: 1, O_s, O_r, G_s, G_l }), ..*params }
    }

    #[test]
    fn G_of_logp_is_the_longer_of_g_and_o() {
        assert_eq!(Params::builder(2).g(4 * US).o(2 * US).build().unwrap().G(), Some(4 * US));
        assert_eq!(Params::builder(2).g(4 * US).o(5 * US).build().unwrap().G(), Some(5 * US));
    }
}

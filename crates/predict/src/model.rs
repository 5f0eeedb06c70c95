//! The models that LogGPS is compared with (LogGPS, section 4.6 and table 8): their parameters and costs.

use loggp_model::params::{LogGps, LongMessages, MAX_WORDS, Params, ParamsError, Surcharge};
use loggp_model::text::names;
use loggp_model::time::{NS, PS, Time, US};

names!(Model: "loggps" LogGPS "loggp-1" LogGP1 "loggp-2" LogGP2);

/// The model by which a recorded run is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Model {
    /// The model of the machine's own parameters: LogGPS, or LogGP or LogP if the machine is one of these.
    #[default]
    LogGPS,
    /// LogGP as Al-Tawil and Moritz apply it to MPI. No message waits for its receiver. For a message above S
    /// the sender's overhead is longer by the shortest synchronization (LogGPS, section 1): T_4 + T_5 of
    /// table 3 with a receiver that called before the request arrived, so 4o' + 2L. L, the other overheads
    /// and the gaps are LogGPS's for each length ("constants for every k", table 8), because the paper shows
    /// its own constants only as a picture, figure 7. There is no g (table 9).
    LogGP1,
    /// LogGP as Sundaram-Stukel and Vernon apply it, with table 9's numbers for Myrinet: L = 7.00 us, o =
    /// 3.83 us and G = 24.98 ns per byte up to 8,191 bytes, o = 72.88 us and G = 8.85 ns per byte for all
    /// bytes of a longer message. (Read like this, messages of 8,191 and 8,192 bytes take about as long: 219
    /// and 226 us.) Messages above the machine's S wait for their receivers as under LogGPS, as in the paper.
    /// There is no g (table 9).
    LogGP2,
}

impl Model {
    /// Returns the machine's parameters under this model, and the surcharge of its longer messages.
    #[doc(hidden)]
    pub fn apply(self, params: Params) -> Result<(Params, Surcharge), ParamsError> {
        if self == Model::LogGPS {
            return Ok((params, Surcharge::default()));
        }
        let Some(gps) = params.gps() else {
            return Err(ParamsError::new(format!(
                "the model {self} follows from LogGPS's parameters, and this machine has none; give O_s, O_r, G_s, G_l, \
                 s and S"
            )));
        };
        let params = Params { g: Time::ZERO, ..params };
        if self == Model::LogGP1 {
            let surcharge = Surcharge {
                above: gps.S,
                send: 4 * params.o + 2 * params.L + params.R,
                ..Surcharge::default()
            };
            let long = LongMessages::LogGPS(LogGps { S: MAX_WORDS, ..gps });
            return Ok((Params { long, ..params }, surcharge));
        }
        let (L, o, o_of_long) = (7 * US, 3830 * NS, 72_880 * NS);
        let bytes = params.word.get();
        let [G_s, G_l] = [24_980, 8850].map(|ps| bytes as i64 * (ps * PS));
        let s = 8191 / bytes;
        let gps = LogGps { s, S: gps.S, O_s: Time::ZERO, O_r: Time::ZERO, G_s, G_l };
        // Under LogGPS the first s words of a long message take G_s each; in this model all words take G_l.
        let stream = s as i64 * (G_l - G_s);
        let surcharge = Surcharge { above: s, send: o_of_long - o, recv: o_of_long - o, stream };
        Ok((Params { L, o, long: LongMessages::LogGPS(gps), ..params }, surcharge))
    }
}

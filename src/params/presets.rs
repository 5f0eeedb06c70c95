//! The papers' machines: what each paper says of each, and where it says so.
//!
//! The values stand here as the papers print them, as text; [`ParamsBuilder::set`] reads them exactly. What a paper
//! leaves open is open here too, and must be given before such a machine can be built.

use crate::params::{Parameter, Params, ParamsBuilder, ParamsError};
use crate::time::{Time, US};

/// A machine from one of the papers.
///
/// ```
/// use loggp::{US, preset};
///
/// let cm5 = preset("cm5")?.builder().P(8).build()?;
/// assert_eq!((cm5.L, cm5.o, cm5.g, cm5.P), (6 * US, 2 * US, 4 * US, 8));
/// # Ok::<(), loggp::ParamsError>(())
/// ```
#[derive(Debug)]
pub struct Preset {
    /// Its name on the command line.
    pub name: &'static str,
    /// Which machine it is, in one sentence.
    pub about: &'static str,
    /// What the paper says; the cycle first, because bare numbers after it count cycles.
    values: &'static [Value],
}

/// What a paper says of one parameter.
#[derive(Debug)]
struct Value {
    /// The parameter's name.
    name: &'static str,
    /// Its value in the paper's own units; `None` if the paper leaves it open.
    text: Option<&'static str>,
    /// Where the paper gives it, or why it is what it is.
    source: &'static str,
}

/// What is known of one parameter of a paper's machine, for people to read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PresetValue {
    /// The parameter, or `longest`: see [`Preset::longest`].
    pub name: &'static str,
    /// Its value; `None` if it is open and must be given.
    pub value: Option<String>,
    /// Where the value comes from, or why there is none.
    pub source: &'static str,
}

/// A value that a paper gives.
const fn given(name: &'static str, text: &'static str, source: &'static str) -> Value {
    Value { name, text: Some(text), source }
}

/// A value that a paper leaves open.
const fn open(name: &'static str, source: &'static str) -> Value {
    Value { name, text: None, source }
}

/// Why a machine from LogP has no G of its own.
const NO_G: &str = "LogP has no G: a long message is a train of short ones (LogGP, section 2.1)";
/// Why the machines from LogP's table 1 have no g.
const OPEN_GAP: &str =
    "LogP, section 5.2: M by the bisection bandwidth per processor, which table 1 does not give";
/// Where the overhead of the machines from LogP's table 1 comes from.
const HALF: &str = "LogP, section 5.2 and table 1: (Tsnd + Trcv) / 2";
/// Where their cycle comes from.
const CYCLE: &str = "LogP, table 1: cycle";
/// Where their word comes from.
const M: &str = "LogP, table 1: M = 160 bits";
/// Where their size comes from.
const P_1024: &str = "LogP, table 1: 1024 processors";
/// Where all numbers of the LogGPS machines come from.
const TABLE_5: &str = "LogGPS, table 5";
/// Why the LogGPS machines have no gap.
const NO_GAP: &str = "LogGPS, section 4.2: disregarded";
/// Why their word is a byte.
const BYTE: &str = "LogGPS, table 5: lengths in bytes";

/// The machines, in the order in which the papers have them.
static PRESETS: &[Preset] = &[
    Preset {
        name: "cm5",
        about: "Thinking Machines CM-5 with Active Messages and one of its two data networks",
        values: &[
            given("L", "6us", "LogP, section 4.1.4: unloaded network"),
            given("o", "2us", "LogP, section 4.1.4"),
            given("g", "4us", "LogP, section 4.1.4: 5 MB/s per processor, 20 bytes with the address"),
            given("P", "128", "LogP, figure 6"),
            given("word", "16", "LogP, section 4.1.4: 16 bytes of data"),
        ],
    },
    Preset {
        name: "cm5-double-net",
        about: "the same CM-5 with both of its data networks, which double the bandwidth",
        values: &[
            given("L", "6us", "LogP, section 4.1.4: unloaded network"),
            given("o", "2us", "LogP, section 4.1.4"),
            given("g", "2us", "LogP, section 4.1.4: twice the bandwidth of one network"),
            given("P", "128", "LogP, figure 6"),
            given("word", "16", "LogP, section 4.1.4: 16 bytes of data"),
        ],
    },
    Preset {
        name: "cs2-splitc",
        about: "Meiko CS-2 with Split-C on Active Messages",
        values: &[
            given("L", "8.6us", "LogGP, table 1"),
            given("o", "1.7us", "LogGP, table 1"),
            given("g", "14.2us", "LogGP, table 1"),
            given("G", "0.12us", "LogGP, table 1: 0.03 us per byte"),
            given("P", "64", "LogGP, section 3"),
            given("word", "4", "LogGP, section 3: 4-byte short messages"),
        ],
    },
    Preset {
        name: "cs2-elan",
        about: "Meiko CS-2 with Meiko's own Elan library",
        values: &[
            given("L", "10us", "LogGP, table 1"),
            given("o", "3.8us", "LogGP, table 1"),
            given("g", "13.8us", "LogGP, table 1"),
            given("G", "0.092us", "LogGP, table 1: 0.023 us per byte"),
            given("P", "64", "LogGP, section 3"),
            given("word", "4", "LogGP, section 3: 4-byte short messages"),
        ],
    },
    Preset {
        name: "cenju4",
        about: "NEC Cenju-4 with MPICH",
        values: &[
            given("L", "0.64us", TABLE_5),
            given("o", "7.82us", "LogGPS, table 5: o'"),
            given("g", "0", NO_GAP),
            given("O_s", "7.63ns", TABLE_5),
            given("O_r", "12.77ns", TABLE_5),
            given("G_s", "0.57ns", TABLE_5),
            given("G_l", "-12.74ns", TABLE_5),
            given("s", "1028", TABLE_5),
            given("S", "1028", TABLE_5),
            given("P", "16", "the paper does not say; as many as its cluster has (LogGPS, section 4.1)"),
            given("word", "1", BYTE),
        ],
    },
    Preset {
        name: "myrinet",
        about: "cluster of 450 MHz Pentium II on Myrinet with MPICH-SCore",
        values: &[
            given("L", "1.16us", TABLE_5),
            given("o", "6.55us", "LogGPS, table 5: o'"),
            given("g", "0", NO_GAP),
            given("O_s", "6.86ns", TABLE_5),
            given("O_r", "2.57ns", TABLE_5),
            given("G_s", "15.48ns", TABLE_5),
            given("G_l", "-0.74ns", TABLE_5),
            given("s", "8191", TABLE_5),
            given("S", "16383", TABLE_5),
            given("P", "16", "LogGPS, section 4.1"),
            given("word", "1", BYTE),
        ],
    },
    Preset {
        name: "fast-ethernet",
        about: "the same cluster on Fast Ethernet",
        values: &[
            given("L", "35.22us", TABLE_5),
            given("o", "20.59us", "LogGPS, table 5: o'"),
            given("g", "0", NO_GAP),
            given("O_s", "10.67ns", TABLE_5),
            given("O_r", "5.87ns", TABLE_5),
            given("G_s", "191.89ns", TABLE_5),
            given("G_l", "74.95ns", TABLE_5),
            given("s", "1023", TABLE_5),
            given("S", "16383", TABLE_5),
            given("P", "16", "LogGPS, section 4.1"),
            given("word", "1", BYTE),
        ],
    },
    Preset {
        name: "ncube2",
        about: "nCUBE/2, a hypercube, with its vendor's communication layer",
        values: &[
            given("cycle", "25ns", CYCLE),
            given("L", "360", "LogP, section 5.2 and table 1: H r + M/w = 5 * 40 + 160/1"),
            given("o", "3200", HALF),
            open("g", OPEN_GAP),
            given("P", "1024", P_1024),
            given("word", "20", M),
        ],
    },
    Preset {
        name: "cm5-cmmd",
        about: "CM-5, a fat tree, with its vendor's communication layer",
        values: &[
            given("cycle", "25ns", CYCLE),
            given("L", "114.4", "LogP, section 5.2 and table 1: H r + M/w = 9.3 * 8 + 160/4"),
            given("o", "1800", HALF),
            open("g", OPEN_GAP),
            given("P", "1024", P_1024),
            given("word", "20", M),
        ],
    },
    Preset {
        name: "dash",
        about: "Stanford Dash, a torus with shared memory",
        values: &[
            given("cycle", "30ns", CYCLE),
            given("L", "23.6", "LogP, section 5.2 and table 1: H r + M/w = 6.8 * 2 + 160/16"),
            given("o", "15", HALF),
            open("g", OPEN_GAP),
            given("P", "1024", P_1024),
            given("word", "20", M),
        ],
    },
    Preset {
        name: "j-machine",
        about: "MIT J-Machine, a three-dimensional mesh driven by messages",
        values: &[
            given("cycle", "31ns", CYCLE),
            given("L", "44.2", "LogP, section 5.2 and table 1: H r + M/w = 12.1 * 2 + 160/8"),
            given("o", "8", HALF),
            open("g", OPEN_GAP),
            given("P", "1024", P_1024),
            given("word", "20", M),
        ],
    },
    Preset {
        name: "monsoon",
        about: "Monsoon, a butterfly driven by data flow",
        values: &[
            given("cycle", "20ns", CYCLE),
            given("L", "20", "LogP, section 5.2 and table 1: H r + M/w = 5 * 2 + 160/16"),
            given("o", "5", HALF),
            open("g", OPEN_GAP),
            given("P", "1024", P_1024),
            given("word", "20", M),
        ],
    },
    Preset {
        name: "ncube2-am",
        about: "nCUBE/2, a hypercube, with Active Messages",
        values: &[
            given("cycle", "25ns", CYCLE),
            given("L", "360", "LogP, section 5.2 and table 1: H r + M/w = 5 * 40 + 160/1"),
            given("o", "500", HALF),
            open("g", OPEN_GAP),
            given("P", "1024", P_1024),
            given("word", "20", M),
        ],
    },
    Preset {
        name: "cm5-am",
        about: "CM-5, a fat tree, with Active Messages and the network timing of LogP's table 1",
        values: &[
            given("cycle", "25ns", CYCLE),
            given("L", "114.4", "LogP, section 5.2 and table 1: H r + M/w = 9.3 * 8 + 160/4"),
            given("o", "66", HALF),
            open("g", OPEN_GAP),
            given("P", "1024", P_1024),
            given("word", "20", M),
        ],
    },
];

/// The papers' machines.
pub fn presets() -> &'static [Preset] {
    PRESETS
}

/// The machine with this name.
///
/// ```
/// let refused = loggp::preset("cm6").unwrap_err().to_string();
/// assert_eq!(refused, "there is no machine cm6; the nearest name is cm5; `loggp machines` lists all");
/// ```
pub fn preset(name: &str) -> Result<&'static Preset, ParamsError> {
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
        let typed = name.to_lowercase();
        // Who types a part of a name means a name with that part.
        let distance =
            |preset: &&Preset| (!preset.name.contains(&typed), strsim::osa_distance(&typed, preset.name));
        let nearest = PRESETS.iter().min_by_key(distance).expect("there are machines").name;
        ParamsError::new(format!(
            "there is no machine {name}; the nearest name is {nearest}; `loggp machines` lists all"
        ))
    })
}

impl Preset {
    /// A builder that holds what the paper gives. What the paper leaves open, and whatever else shall be
    /// different, can be set before it builds.
    pub fn builder(&self) -> ParamsBuilder {
        let given = self.values.iter().filter_map(|value| Some((value.name, value.text?)));
        given.fold(ParamsBuilder::unknown(0), |builder, (name, text)| {
            builder.set_named(name, text).expect("the tests have read every preset")
        })
    }

    /// The longest message that this machine can carry, in words, if there is one and nothing is open: see
    /// [`Params::longest`].
    pub fn longest(&self) -> Option<usize> {
        self.builder().build().ok().as_ref().and_then(Params::longest)
    }

    /// What is known of the machine, parameter by parameter: its value or that it is open, and the source.
    pub fn values(&self) -> Vec<PresetValue> {
        let time = |text: &str, cycle| Time::parse(text, cycle).expect("the tests have read every preset");
        let cycle =
            self.values.iter().find(|value| value.name == Parameter::CYCLE.name).and_then(|value| value.text);
        let cycle = cycle.map_or(US, |text| time(text, US));
        let shown = |value: &Value, text: &str| match Parameter::named(value.name) {
            Some(parameter) if !parameter.is_time() => text.to_string(),
            _ => time(text, cycle).to_string(),
        };
        let known = |value: &Value| {
            let text = value.text.map(|text| shown(value, text));
            PresetValue { name: value.name, value: text, source: value.source }
        };
        let mut values: Vec<PresetValue> = self.values.iter().map(known).collect();
        if self.builder().is_logp() {
            let after_g =
                1 + values.iter().position(|value| value.name == "g").expect("every machine has a g");
            values.insert(after_g, PresetValue { name: "G", value: Some("max(g, o)".into()), source: NO_G });
        }
        if let Some(words) = self.longest() {
            let source =
                "follows from o, L, O_s, G_s, G_l and s: a longer message would arrive before its send";
            values.push(PresetValue { name: "longest", value: Some(words.to_string()), source });
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::LongMessages;
    use crate::time::NS;

    fn built(name: &str) -> Params {
        preset(name).unwrap().builder().build().unwrap()
    }

    /// LogP's table 1: name, cycle in ns, w in bits, Tsnd + Trcv, r, ten times H, T(M = 160).
    const TABLE_1: [(&str, i64, i64, i64, i64, i64, i64); 7] = [
        ("ncube2", 25, 1, 6400, 40, 50, 6760),
        ("cm5-cmmd", 25, 4, 3600, 8, 93, 3714),
        ("dash", 30, 16, 30, 2, 68, 53),
        ("j-machine", 31, 8, 16, 2, 121, 60),
        ("monsoon", 20, 16, 10, 2, 50, 30),
        ("ncube2-am", 25, 1, 1000, 40, 50, 1360),
        ("cm5-am", 25, 4, 132, 8, 93, 246),
    ];

    #[test]
    fn every_machine_is_complete_or_says_what_is_open() {
        for preset in presets() {
            let open: Vec<&str> =
                preset.values.iter().filter(|value| value.text.is_none()).map(|value| value.name).collect();
            match preset.builder().build() {
                Ok(params) => {
                    assert!(open.is_empty(), "{}", preset.name);
                    let given = preset.values.iter().filter(|value| value.name != "cycle").count();
                    let all = params.times().count() + params.counts().count();
                    assert_eq!(given + usize::from(params.long == LongMessages::LogP), all);
                }
                Err(refusal) => {
                    assert_eq!(open, ["g"], "{}", preset.name);
                    assert_eq!(refusal.to_string(), "the paper leaves g open; give a value, as in g=6us");
                }
            }
        }
    }

    #[test]
    fn names_are_unique() {
        for (i, preset) in presets().iter().enumerate() {
            assert!(presets()[..i].iter().all(|other| other.name != preset.name), "{}", preset.name);
            assert!(!preset.about.ends_with('.') && !preset.about.contains('\n'), "{}", preset.name);
        }
    }

    #[test]
    fn the_cm5_is_as_section_4_1_4_says() {
        let cm5 = built("cm5");
        assert_eq!((cm5.L, cm5.o, cm5.g, cm5.long), (6 * US, 2 * US, 4 * US, LongMessages::LogP));
        assert_eq!((cm5.P, cm5.word.get(), cm5.cycle, cm5.capacity()), (128, 16, US, Some(2)));
        let double = built("cm5-double-net");
        assert_eq!(double, Params { g: 2 * US, ..cm5 });
        assert_eq!((cm5.G(), double.G()), (Some(4 * US), Some(2 * US)));
    }

    /// Table 1's G is per byte, and its last column is the bandwidth 1/G.
    #[test]
    fn the_cs2_has_the_bandwidth_of_loggps_table_1() {
        for (name, ns_per_byte, tenths_of_mb_per_s) in [("cs2-splitc", 30, 333), ("cs2-elan", 23, 434)] {
            let cs2 = built(name);
            assert_eq!(cs2.G(), Some(cs2.word.get() as i64 * ns_per_byte * NS));
            assert_eq!(10_000 / ns_per_byte, tenths_of_mb_per_s);
            assert_eq!((cs2.P, cs2.word.get()), (64, 4));
        }
        let (splitc, elan) = (built("cs2-splitc"), built("cs2-elan"));
        assert_eq!((splitc.L, splitc.o, splitc.g), (8_600 * NS, 1_700 * NS, 14_200 * NS));
        assert_eq!((elan.L, elan.o, elan.g), (10 * US, 3_800 * NS, 13_800 * NS));
    }

    /// The table's last column is Tsnd + M/w + H r + Trcv, cut off to whole cycles: Dash's 53.6 is its 53.
    #[test]
    fn the_machines_of_table_1_take_the_time_of_table_1() {
        for (name, cycle, w, overheads, r, ten_h, total) in TABLE_1 {
            let params = preset(name).unwrap().builder().g(US).build().unwrap();
            let cycle = cycle * NS;
            let bits = (160 + w - 1) / w;
            assert_eq!(params.cycle, cycle, "{name}");
            assert_eq!(10 * params.L, (10 * bits + ten_h * r) * cycle, "{name}");
            assert_eq!(2 * params.o, overheads * cycle, "{name}");
            let time = params.L + 2 * params.o;
            assert_eq!(time.as_ps() / cycle.as_ps(), total, "{name}");
            assert_eq!((params.P, 8 * params.word.get()), (1024, 160), "{name}");
        }
        assert_eq!(TABLE_1.len(), presets().iter().filter(|preset| preset.values[0].name == "cycle").count());
    }

    /// Section 4.3 gives the sums from which table 5's values for Myrinet were derived.
    #[test]
    fn myrinet_solves_the_equations_of_section_4_3() {
        let myrinet = built("myrinet");
        let gps = myrinet.gps().unwrap();
        let near = |sum: Time, ns: f64| assert!((sum.as_ns() - ns).abs() < 0.1, "{sum} is not {ns} ns");
        near(4 * myrinet.o + 2 * myrinet.L, 28_520.0);
        near(gps.O_s + gps.O_r, 9.430108);
        near(2 * (gps.O_s + gps.O_r + gps.G_s), 49.81455);
        near(2 * (gps.O_s + gps.O_r + gps.G_l), 17.37150);
        near(2 * gps.O_s + gps.O_r + gps.G_l, 15.54669);
    }

    /// On the Cenju-4 a byte above s takes back 12.74 - 7.63 = 5.11 ns more than it costs to send. A message
    /// of s = 1028 bytes has 7820 + 640 + 1028 (7.63 + 0.57) = 16889.6 ns, enough for 3305 bytes more.
    #[test]
    fn the_cenju4_has_a_longest_message() {
        assert_eq!(preset("cenju4").unwrap().longest(), Some(1028 + 3305));
        assert!(presets().iter().all(|preset| preset.longest().is_none() || preset.name == "cenju4"));
        let params = built("cenju4");
        let slack = |k: usize| params.send_overhead(k) + params.stream(k) + params.L;
        assert!(slack(4333) >= Time::ZERO && slack(4334) < Time::ZERO);
    }

    #[test]
    fn lists_what_it_knows() {
        let known = |name, value: &str, source| PresetValue { name, value: Some(value.into()), source };
        let values = preset("cm5-cmmd").unwrap().values();
        assert_eq!(values[0], known("cycle", "25 ns", CYCLE));
        assert_eq!(values[1].value.as_deref(), Some("2.86 us"));
        assert_eq!(values[2], known("o", "45 us", HALF));
        assert_eq!(values[3], PresetValue { name: "g", value: None, source: OPEN_GAP });
        assert_eq!(values[4], known("G", "max(g, o)", NO_G));
        let last = |name: &str| preset(name).unwrap().values().pop().unwrap();
        assert_eq!((last("cenju4").name, last("cenju4").value.as_deref()), ("longest", Some("4333")));
        assert_eq!(last("cs2-elan").name, "word");
    }

    #[test]
    fn suggests_the_nearest_name() {
        for (typed, nearest) in
            [("CM5", "cm5"), ("ethernet", "fast-ethernet"), ("cs2", "cs2-elan"), ("jmachine", "j-machine")]
        {
            let refusal = preset(typed).unwrap_err().to_string();
            assert!(refusal.contains(&format!("the nearest name is {nearest};")), "{refusal}");
        }
    }
}

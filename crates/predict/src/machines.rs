//! The papers' machines: the parameters of each, and where the paper gives these values.
//!
//! The values are text, as the papers print them; [`ParamsBuilder::set`] reads them exactly. A parameter that
//! a paper leaves open is open here too, and must be set before such a machine can be built.

use loggp_model::params::{LongMessages, Parameter, Params, ParamsBuilder, ParamsError};
use loggp_model::text::nearest_name;
use loggp_model::time::{Time, US};

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
#[non_exhaustive]
pub struct Preset {
    /// The name on the command line.
    pub name: &'static str,
    /// A description in one sentence.
    pub about: &'static str,
    /// The parameters. The cycle comes first, because the bare numbers that follow count cycles.
    values: &'static [SourcedValue],
}

/// One parameter of a paper's machine.
#[derive(Debug)]
struct SourcedValue {
    name: &'static str,
    /// The value in the paper's own units; `None` if the paper leaves it open.
    text: Option<&'static str>,
    /// The place in the paper that gives the value, or the reason why it is open or chosen.
    source: &'static str,
}

/// One parameter of a paper's machine, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PresetValue {
    /// The parameter, or `longest`: see [`Preset::longest_message`].
    pub name: &'static str,
    /// The value; `None` if it is open and must be set.
    pub value: Option<String>,
    /// The source of the value, or the reason why there is none.
    pub source: &'static str,
}

const fn given(name: &'static str, text: &'static str, source: &'static str) -> SourcedValue {
    SourcedValue { name, text: Some(text), source }
}

const fn open(name: &'static str, source: &'static str) -> SourcedValue {
    SourcedValue { name, text: None, source }
}

/// The reason why LogP's machines have no G.
const NO_G: &str = "LogP has no G: a long message is a train of short ones (LogGP, section 2.1)";
/// The reason why the machines from LogP's table 1 have no g.
const OPEN_GAP: &str =
    "LogP, section 5.2: M by the bisection bandwidth per processor, which table 1 does not give";
/// The source of the overhead of the machines from LogP's table 1.
const HALF: &str = "LogP, section 5.2 and table 1: (Tsnd + Trcv) / 2";
/// The source of the cycle of the machines from LogP's table 1.
const CYCLE: &str = "LogP, table 1: cycle";
/// The source of the numbers of the LogGPS machines.
const TABLE_5: &str = "LogGPS, table 5";

/// A CM-5 with this gap, and the other values of LogP's section 4.1.4.
const fn cm5(g: &'static str, source_of_g: &'static str) -> [SourcedValue; 5] {
    [
        given("L", "6us", "LogP, section 4.1.4: unloaded network"),
        given("o", "2us", "LogP, section 4.1.4"),
        given("g", g, source_of_g),
        given("P", "128", "LogP, figure 6"),
        given("word", "16", "LogP, section 4.1.4: 16 bytes of data"),
    ]
}

/// A CS-2 from LogGP's table 1. G is per word here, and per byte in the table.
const fn cs2([L, o, g, G]: [&'static str; 4], source_of_G: &'static str) -> [SourcedValue; 6] {
    [
        given("L", L, "LogGP, table 1"),
        given("o", o, "LogGP, table 1"),
        given("g", g, "LogGP, table 1"),
        given("G", G, source_of_G),
        given("P", "64", "LogGP, section 3"),
        given("word", "4", "LogGP, section 3: 4-byte short messages"),
    ]
}

/// A machine from LogGPS's table 5.
const fn table_5(
    [L, o]: [&'static str; 2],
    [O_s, O_r, G_s, G_l]: [&'static str; 4],
    [s, S]: [&'static str; 2],
    source_of_P: &'static str,
) -> [SourcedValue; 11] {
    [
        given("L", L, TABLE_5),
        given("o", o, "LogGPS, table 5: o'"),
        given("g", "0", "LogGPS, section 4.2: disregarded"),
        given("O_s", O_s, TABLE_5),
        given("O_r", O_r, TABLE_5),
        given("G_s", G_s, TABLE_5),
        given("G_l", G_l, TABLE_5),
        given("s", s, TABLE_5),
        given("S", S, TABLE_5),
        given("P", "16", source_of_P),
        given("word", "1", "LogGPS, table 5: lengths in bytes"),
    ]
}

/// A machine from LogP's table 1, whose latency and overhead are in cycles.
const fn table_1(
    cycle: &'static str,
    L: &'static str,
    source_of_L: &'static str,
    o: &'static str,
) -> [SourcedValue; 6] {
    [
        given("cycle", cycle, CYCLE),
        given("L", L, source_of_L),
        given("o", o, HALF),
        open("g", OPEN_GAP),
        given("P", "1024", "LogP, table 1: 1024 processors"),
        given("word", "20", "LogP, table 1: M = 160 bits"),
    ]
}

/// The machines in the order of the papers.
static PRESETS: &[Preset] = &[
    Preset {
        name: "cm5",
        about: "Thinking Machines CM-5 with Active Messages and one of its two data networks",
        values: &cm5("4us", "LogP, section 4.1.4: 5 MB/s per processor, 20 bytes with the address"),
    },
    Preset {
        name: "cm5-double-net",
        about: "the same CM-5 with both of its data networks, which double the bandwidth",
        values: &cm5("2us", "LogP, section 4.1.4: twice the bandwidth of one network"),
    },
    Preset {
        name: "cs2-splitc",
        about: "Meiko CS-2 with Split-C on Active Messages",
        values: &cs2(["8.6us", "1.7us", "14.2us", "0.12us"], "LogGP, table 1: 0.03 us per byte"),
    },
    Preset {
        name: "cs2-elan",
        about: "Meiko CS-2 with Meiko's own Elan library",
        values: &cs2(["10us", "3.8us", "13.8us", "0.092us"], "LogGP, table 1: 0.023 us per byte"),
    },
    Preset {
        name: "cenju4",
        about: "NEC Cenju-4 with MPICH",
        values: &table_5(
            ["0.64us", "7.82us"],
            ["7.63ns", "12.77ns", "0.57ns", "-12.74ns"],
            ["1028", "1028"],
            "the paper does not say; as many as its cluster has (LogGPS, section 4.1)",
        ),
    },
    Preset {
        name: "myrinet",
        about: "cluster of 450 MHz Pentium II on Myrinet with MPICH-SCore",
        values: &table_5(
            ["1.16us", "6.55us"],
            ["6.86ns", "2.57ns", "15.48ns", "-0.74ns"],
            ["8191", "16383"],
            "LogGPS, section 4.1",
        ),
    },
    Preset {
        name: "fast-ethernet",
        about: "the same cluster on Fast Ethernet",
        values: &table_5(
            ["35.22us", "20.59us"],
            ["10.67ns", "5.87ns", "191.89ns", "74.95ns"],
            ["1023", "16383"],
            "LogGPS, section 4.1",
        ),
    },
    Preset {
        name: "ncube2",
        about: "nCUBE/2, a hypercube, with its vendor's communication layer",
        values: &table_1("25ns", "360", "LogP, section 5.2 and table 1: H r + M/w = 5 * 40 + 160/1", "3200"),
    },
    Preset {
        name: "cm5-cmmd",
        about: "CM-5, a fat tree, with its vendor's communication layer",
        values: &table_1(
            "25ns",
            "114.4",
            "LogP, section 5.2 and table 1: H r + M/w = 9.3 * 8 + 160/4",
            "1800",
        ),
    },
    Preset {
        name: "dash",
        about: "Stanford Dash, a torus with shared memory",
        values: &table_1("30ns", "23.6", "LogP, section 5.2 and table 1: H r + M/w = 6.8 * 2 + 160/16", "15"),
    },
    Preset {
        name: "j-machine",
        about: "MIT J-Machine, a three-dimensional mesh driven by messages",
        values: &table_1("31ns", "44.2", "LogP, section 5.2 and table 1: H r + M/w = 12.1 * 2 + 160/8", "8"),
    },
    Preset {
        name: "monsoon",
        about: "Monsoon, a butterfly driven by data flow",
        values: &table_1("20ns", "20", "LogP, section 5.2 and table 1: H r + M/w = 5 * 2 + 160/16", "5"),
    },
    Preset {
        name: "ncube2-am",
        about: "nCUBE/2, a hypercube, with Active Messages",
        values: &table_1("25ns", "360", "LogP, section 5.2 and table 1: H r + M/w = 5 * 40 + 160/1", "500"),
    },
    Preset {
        name: "cm5-am",
        about: "CM-5, a fat tree, with Active Messages and the network timing of LogP's table 1",
        values: &table_1("25ns", "114.4", "LogP, section 5.2 and table 1: H r + M/w = 9.3 * 8 + 160/4", "66"),
    },
];

/// Returns the papers' machines.
pub fn presets() -> &'static [Preset] {
    PRESETS
}

/// Returns the machine with this name, or an error that names the nearest one.
///
/// ```
/// let refused = loggp::preset("cm6").unwrap_err().to_string();
/// assert_eq!(refused, "there is no machine cm6; the nearest name is cm5; `loggp machines` lists all");
/// ```
pub fn preset(name: &str) -> Result<&'static Preset, ParamsError> {
    PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| {
        let near = nearest_name(name, PRESETS.iter().map(|preset| preset.name));
        ParamsError::new(format!("there is no machine {name}; {near}`loggp machines` lists all"))
    })
}

impl Preset {
    /// Returns a builder with the values from the paper. Parameters that the paper leaves open must be set
    /// before it builds, and any other can be changed.
    pub fn builder(&self) -> ParamsBuilder {
        let given = self.values.iter().filter_map(|value| Some((value.name, value.text?)));
        given.fold(ParamsBuilder::with_open_times(0), |builder, (name, text)| {
            let read = match name {
                "cycle" => Time::parse(text, US).map(|cycle| builder.cycle(cycle)).ok(),
                _ => builder.set(&format!("{name}={text}")).ok(),
            };
            read.expect("the tests have read every preset")
        })
    }

    /// Returns the length in words of the longest message that this machine can send, or `None` if there is
    /// no limit or a parameter is open: see [`Params::longest_message`].
    pub fn longest_message(&self) -> Option<usize> {
        self.builder().build().ok().as_ref().and_then(Params::longest_message)
    }

    /// Returns all parameters with their sources.
    pub fn values(&self) -> Vec<PresetValue> {
        let cycle = self.builder().so_far().cycle;
        let shown = |name: &str, text: &str| match Parameter::by_name(name) {
            Some(parameter) if !parameter.is_time() => text.to_string(),
            _ => Time::parse(text, cycle).expect("the tests have read every preset").to_string(),
        };
        let known = |&SourcedValue { name, text, source }: &SourcedValue| {
            let value = text.map(|text| shown(name, text));
            PresetValue { name, value, source }
        };
        let mut values: Vec<PresetValue> = self.values.iter().map(known).collect();
        if self.builder().so_far().long == LongMessages::LogP {
            let after_g =
                1 + values.iter().position(|value| value.name == "g").expect("every machine has a g");
            values.insert(after_g, PresetValue { name: "G", value: Some("max(g, o)".into()), source: NO_G });
        }
        if let Some(words) = self.longest_message() {
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
    use loggp_model::time::NS;

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
    fn machines_are_complete_or_leave_g_open() {
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
    fn cm5_has_the_values_of_section_4_1_4() {
        let cm5 = built("cm5");
        assert_eq!((cm5.L, cm5.o, cm5.g, cm5.long), (6 * US, 2 * US, 4 * US, LongMessages::LogP));
        assert_eq!((cm5.P, cm5.word.get(), cm5.cycle, cm5.capacity()), (128, 16, US, Some(2)));
        let double = built("cm5-double-net");
        assert_eq!(double, Params { g: 2 * US, ..cm5 });
        assert_eq!((cm5.G(), double.G()), (Some(4 * US), Some(2 * US)));
    }

    /// The G of LogGP's table 1 is per byte, and the table's last column is the bandwidth 1/G.
    #[test]
    fn cs2_has_the_bandwidth_of_loggp_table_1() {
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

    /// The last column of LogP's table 1 is Tsnd + M/w + H r + Trcv, cut off to whole cycles: 53 for Dash's
    /// 53.6.
    #[test]
    fn machines_of_table_1_take_the_time_of_table_1() {
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

    /// LogGPS's section 4.3 gives the sums from which table 5's values for Myrinet were derived.
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

    /// On the Cenju-4 every byte above s brings the arrival 12.74 - 7.63 = 5.11 ns nearer to the start of the
    /// send. A message of s = 1028 bytes takes 7820 + 640 + 1028 (7.63 + 0.57) = 16889.6 ns, enough for 3305
    /// bytes more.
    #[test]
    fn only_the_cenju4_has_a_longest_message() {
        assert_eq!(preset("cenju4").unwrap().longest_message(), Some(1028 + 3305));
        assert!(presets().iter().all(|preset| preset.longest_message().is_none() || preset.name == "cenju4"));
        let params = built("cenju4");
        let slack = |k: usize| params.send_overhead(k) + params.stream(k) + params.L;
        assert!(slack(4333) >= Time::ZERO && slack(4334) < Time::ZERO);
    }

    #[test]
    fn values_have_units_and_sources() {
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
    fn unknown_names_are_answered_with_the_nearest() {
        for (typed, nearest) in
            [("CM5", "cm5"), ("ethernet", "fast-ethernet"), ("cs2", "cs2-elan"), ("jmachine", "j-machine")]
        {
            let refusal = preset(typed).unwrap_err().to_string();
            assert!(refusal.contains(&format!("the nearest name is {nearest};")), "{refusal}");
        }
        let far = preset("mine").unwrap_err().to_string();
        assert_eq!(far, "there is no machine mine; `loggp machines` lists all");
    }
}

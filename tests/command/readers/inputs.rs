//! Inputs of each reader from which the tests and the fuzzer begin: short texts, files of the tests and the
//! documents, and what runs write.

use loggp::{Latency, NS, Ports, preset};
use loggp_goal::patterns::{PATTERNS, method_schedule};
use loggp_programs::broadcast::BROADCAST;
use loggp_programs::combining::COMBINING;
use loggp_programs::message::MESSAGE;
use loggp_programs::rtt::RTT;
use loggp_programs::transportation::TRANSPORTATION;
use loggp_programs::{Case, Emulation};

/// Texts of the readers that need no more than these. The last one of each is wrong.
const TEXTS: [(&str, &[&str]); 10] = [
    (
        "parameters",
        &[
            "L=6us,o=2us,g=4us",
            "L=6,o=2,g=4,G=0.03us,P=16,C=none,word=4",
            "L=1,o=2,g=3,O_s=4,O_r=5,G_s=6,G_l=-7ns,P=8,word=9,s=10,S=11",
            "L=6parsec,Q=1",
        ],
    ),
    ("times", &["6 cycles", "7.63 ns", "-12.74e-3us", "1e99 weeks"]),
    (
        "ranges",
        &["P=2,3,5,8", "L=1us..100us:10", "size=1..4096:log:13", "imbalance=0us..1ms:5", "size=9..1:2"],
    ),
    ("changes", &["S=65536,L=2us,model=loggp-1", "fragments=16383,o=1us", "model=loggp-2", "fragments=0"]),
    (
        "machines",
        &[
            r#"{"params": {"L": "6us", "o": 2000000, "g": "4", "word": 16}, "cycle_ns": 0.5, "ports": "dual"}"#,
            r#"{"machine": "two", "params": {"L": "6us", "o": "1us", "g": "1us", "P": 8},
                "levels": [{"params": {"L": "1us", "o": "1us", "g": "1us", "P": 4}, "one_port": true}]}"#,
            r#"{"program": "broadcast", "params": {"L": 640000, "o": 7820000, "g": 0, "O_s": 7630, "O_r": 12770,
                "G_s": 570, "G_l": -12740, "P": 2, "word": 1, "s": 1028, "S": 1028}, "barrier_ns": null}"#,
            r#"{"machine": "cm5", "about": "a text", "params": {"L": 6000000, "o": 2000000, "g": 4000000, "G": null,
                "P": 128, "word": 16}, "cycle_ns": 1000, "sources": {"L": "LogP, section 4.1.4"}}"#,
            r#"{"params": {"L": [1]}}"#,
        ],
    ),
    ("matrices", &["7\n", "1,2\n3,4294967295\n", "P0,P1,P2\n0,4,5\n1,0,2\n,3,0\n", "1,2\n3\n"]),
    (
        "noises",
        &[
            "1ms:25us,100ms:2.5ms,together",
            "# Netgauge, selfish detour\n1000\t25\n20300.5 1.2e3\n99000 310\n",
            "0 5\n3 5\n",
            "5 1\n4 1\n",
            "1 2\nnoise\n",
        ],
    ),
    (
        "entries",
        &[
            "1,0,0,0\n0,1,0,0\n0,0,1,0\n0,0,0,1\n",
            "\"1.5\",-2e3, 3 ,4\n5,6,7,8\n9,1,2,3\n4,5,6,7\n",
            "1,2\n",
            "1,2,3,nan\n",
        ],
    ),
    (
        "trips",
        &[
            include_str!("../../../docs/reference/rtt.csv"),
            "0,0,20\n8,5 us,30.5\n",
            "# of a library\n L=4.213 s=1 o_s=0.501 o_r=0.702 g=-nan G=-nan (nan GiB/s)\n \
             L=4.213  s=1025  o_s=1.525  o_r=2.75  g=2.0  G=0.013 (0.1 GiB/s) lsqu(g,G)=0.01\n \
             L=4.213  s=4097  o_s=4.597  o_r=8.894  g=2.0  G=0.013 (0.1 GiB/s) lsqu(g,G)=0.01\n\
             we detected a protocol change at 4097 bytes:\n L=4.213 s=8193 o_s=8.6 o_r=17.0 g=9 G=0.007\n",
            "# OSU MPI Latency Test v7.3\n# Size          Latency (us)\n1          0.30\n2          0.30\n\
             4          0.30\n64         0.31\n1024       0.50\n4096       1.12\n65536      13.41\n\
             # OSU MPI Bandwidth Test v7.3\n# Size      Bandwidth (MB/s)\n1          5.00\n2          9.99\n\
             4          19.96\n64         310.08\n1024       3386.24\n4096       6719.16\n65536      9703.86\n",
            "k,w,time_h\n",
        ],
    ),
    (
        "schedules",
        &[
            include_str!("../loggopsim/taken_once.goal"),
            include_str!("../loggopsim/order_of_requirements.goal"),
            "num_ranks 1\nrank 0 {\n}\n",
            "num_ranks 2\n\nrank 0 {\nl1: send 8b to 1 tag 5 cpu 1 nic 2\nl2: calc 100\nl3: recv 4b from -1 tag -1\n\
             l2 requires l1\nl3 irequires l2\n}\n/* a comment */\nrank 1 {\n recv 8b from 0 tag 5 // first\n x: calc 7\n \
             send 4b to 0\n}\n",
            "num_ranks 2\nrank 0 {\n send 8b to 2\n}\n",
        ],
    ),
];

/// Returns the inputs from which tests of the reader with this name begin.
pub(crate) fn inputs(reader: &str) -> Vec<Vec<u8>> {
    let texts = TEXTS.iter().filter(|(name, _)| *name == reader).flat_map(|(_, texts)| *texts);
    let texts = texts.map(|text| text.as_bytes().to_vec());
    match reader {
        "schedules" => texts.chain(schedules()).collect(),
        "traces" => traces(),
        _ => texts.collect(),
    }
}

/// Returns a schedule of each pattern, as text and in binary form.
fn schedules() -> impl Iterator<Item = Vec<u8>> {
    PATTERNS.iter().filter_map(|pattern| method_schedule(pattern, 3, 1).ok()).flat_map(|schedule| {
        let (mut text, mut binary) = (Vec::new(), Vec::new());
        loggp_goal::write(&schedule, &mut text, NS).expect("there is room");
        loggp_goal::write_binary(&schedule, &mut binary, NS).expect("there is room");
        [text, binary]
    })
}

/// Returns traces of programs on several machines in both forms.
fn traces() -> Vec<Vec<u8>> {
    let case = |program, algorithm, machine: &str, P, size| {
        let params = preset(machine).expect("it is one").builder().P(P).build().expect("it is a machine");
        Case { size, ..Case::new(program, algorithm, params) }
    };
    let drawn = Case {
        latency: Latency::Random { seed: 3 },
        ports: Ports::Dual,
        ..case(&BROADCAST, "flat", "cs2-elan", 3, 1)
    };
    let mut all = vec![br#"{"displayTimeUnit":"ns","otherData":{},"traceEvents":[]}"#.to_vec()];
    for case in [
        case(&BROADCAST, "optimal", "cs2-elan", 3, 1),
        drawn,
        case(&COMBINING, "optimal", "cs2-elan", 4, 1),
        case(&TRANSPORTATION, "random", "cs2-elan", 2, 8),
        case(&RTT, "blocking", "cs2-elan", 2, 8),
        case(&MESSAGE, "nonblocking", "cenju4", 2, 2000),
    ] {
        let plan = case.plan().expect("it is accepted");
        let outcome = plan.run(&Emulation::with_trace()).expect("it ends well");
        let trace = outcome.run.trace.expect("it is traced");
        let (mut text, mut compact) = (Vec::new(), Vec::new());
        trace.write(&mut text).expect("there is room");
        trace.write_compact(&mut compact).expect("there is room");
        all.extend([text, compact]);
    }
    all
}

//! Numbers that no closed form and no other test says: stalls with the times of their runs, and metrics.

use crate::requests::{row, rows};

/// Arguments of `compare`, and below them the rows that stall, with the times of all stalls and of the run in ns.
const STALLS: &str = "\
summation -P 5 --size 300 --machine cs2-splitc
binomial: 4 messages, 2 stalls, 12800 of 100400
remap -P 16 --size 40 --machine cm5
long-staggered: 240 messages, 8 stalls, 54000 of 326000
long-naive: 240 messages, 124 stalls, 2396000 of 528000
short-naive: 720 messages, 205 stalls, 2820000 of 484000
remap -P 8 --size 40 --latency random:8 --ports dual
long-naive: 56 messages, 24 stalls, 225400.071 of 186523.208
short-staggered: 560 messages, 1 stalls, 943.189 of 981210.171
short-synchronized: 728 messages, 4 stalls, 9019.111 of 1332387.385
short-naive: 560 messages, 264 stalls, 3196697.8 of 1935347.469
remap -P 8 --size 40 --params L=20us,o=1us,g=3us,G=0.01us,word=4
short-naive: 560 messages, 215 stalls, 2454000 of 724000
fft -P 8 --size 256 --params L=6,o=2,g=4,G=1
long-staggered: 56 messages, 1 stalls, 6000 of 755000
short-naive: 224 messages, 125 stalls, 975000 of 934000
radix-sort -P 8 --size 64 --seed 5
long: 320 messages, 25 stalls, 67784 of 5993284
short: 16113 messages, 763 stalls, 6948000 of 34524800
gauss -P 8 --size 64 --machine cm5
whole: 770 messages, 225 stalls, 5251340.8 of 13251927.2
fragmented: 770 messages, 225 stalls, 5251340.8 of 13251927.2
shared: 1145 messages, 82 stalls, 331668 of 9571760.8
shared-fragmented: 1145 messages, 82 stalls, 331668 of 9571760.8
lu -P 4 --size 64 --machine cs2-elan
grid-cyclic: 532 messages, 49 stalls, 160730 of 25342714
grid-cyclic-lookahead: 532 messages, 16 stalls, 59008 of 23003372
grid-blocked: 304 messages, 5 stalls, 27260 of 40791400
replicated: 1898 messages, 100 stalls, 454872 of 29587294
transportation -P 4 --size 1024 --machine cs2-elan
two-stage-scan: 109 messages, 2 stalls, 7200 of 850856
two-stage-alternate: 109 messages, 2 stalls, 10476 of 857408
two-stage-alternate-combine: 117 messages, 2 stalls, 10476 of 901160
random: 58 messages, 11 stalls, 401984 of 624952
random-improved: 52 messages, 12 stalls, 286784 of 482552
stress -P 4 --machine cs2-elan
all-to-one: 24 messages, 23 stalls, 370200 of 335000
bursts: 32 messages, 16 stalls, 204400 of 279800
fft-naive: 24 messages, 13 stalls, 140600 of 160400
h-relation: 32 messages, 9 stalls, 65800 of 151800
steady: 32 messages, 6 stalls, 17900 of 231500
";

#[test]
fn stalls_are_as_before() {
    let mut found = String::new();
    for line in STALLS.lines().filter(|line| line.contains(" -P ")) {
        found += &format!("{line}\n");
        for row in rows(&format!("compare {line} --work charged --clock virtual")) {
            let (algorithm, stalls) = (row["algorithm"].as_str().unwrap(), &row["stalls"]);
            if stalls["count"] != 0 {
                let [count, ns, messages, model] =
                    [&stalls["count"], &stalls["ns"], &row["messages"], &row["model_ns"]];
                found += &format!("{algorithm}: {messages} messages, {count} stalls, {ns} of {model}\n");
            }
        }
    }
    assert_eq!(found, STALLS);
}

/// Phases, each with its time by the model and by the formula in ns, and metrics.
#[test]
fn phases_and_metrics_are_as_before() {
    for (line, expected) in [
        (
            "lu grid-cyclic -P 4 --size 64",
            "pivot 2524840 2652918.254, swap 749524 629352.871, broadcast 2397950 2600136, \
             update 19670400 19670400, idle (%) 16.40, rate per processor (Mflops) 1.72, \
             received least (words) 3136.00, received mean (words) 3229.00, received most (words) 3292.00, \
             sent least (words) 3202.00, sent mean (words) 3229.00, sent most (words) 3256.00",
        ),
        (
            "transportation random-improved -P 4 --size 1024",
            "vectors 52800 null, transfer 429752 null, 1: busiest 1024.00, 1: least 85.00, 1: mean 256.00, \
             1: most 768.00, 1: variance 87381.50, rejected 2.00, requests 14.00, sleeps 0.00, \
             time / 2 t mu 1.28",
        ),
        (
            "fft short-naive -P 8 --size 256",
            "compute I 360000 360000, remap 1066116 null, compute III 216000 216000, \
             compute I per processor (Mflops) 2.22, compute III per processor (Mflops) 2.22, \
             remap per processor (MB/s) 0.48",
        ),
    ] {
        let row = row(&format!("run {line} --work charged --clock virtual"));
        let phases = row["phases"].as_array().unwrap().iter().map(|phase| {
            format!("{} {} {}", phase["phase"].as_str().unwrap(), phase["model_ns"], phase["formula_ns"])
        });
        let metrics = row["metrics"].as_object().unwrap().iter();
        let metrics = metrics.map(|(name, value)| format!("{name} {:.2}", value.as_f64().unwrap()));
        let found: Vec<String> = phases.chain(metrics).collect();
        assert_eq!(found.join(", "), expected, "{line}");
    }
}

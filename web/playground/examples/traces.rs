//! Writes traces of several programs as JSON into a folder, and prints for each its name, and of the library's answer to
//! `open`, which reads the file itself, the length and a hash: `.ci/playground` compares it with what the page says.

use std::path::PathBuf;

use loggp::{Level, Noise, Params, Ports, US};
use loggp_programs::{Case, Emulation, PROGRAMS};

/// Programs, algorithms, parameters, sizes, and other settings by a word.
const RUNS: &[(&str, &str, &str, usize, &str)] = &[
    ("broadcast", "optimal", "L=6,o=2,g=4,P=8", 1, ""),
    ("remap", "short-naive", "L=6,o=2,g=4,P=16", 16, ""),
    ("remap", "long-naive", "L=6,o=2,g=4,G=1,C=2,P=8", 64, "dual"),
    ("fft", "long-staggered", "L=6ns,o=2ns,g=4ns,G=1ns,P=4", 64, ""),
    ("lu", "grid-cyclic", "L=6,o=2,g=4,P=4", 12, "noise"),
    ("lu", "column-cyclic", "L=9us,o=2us,S=10,s=5,O_s=10ns,O_r=3ns,G_s=7ns,G_l=-1ns,P=4", 24, ""),
    ("gauss", "", "L=6,o=2,g=4,G=0.1,P=4", 12, "record"),
    ("broadcast", "binomial", "L=60us,o=20us,g=40us,P=16", 1, "levels"),
    ("transportation", "linear", "L=6,o=2,g=4,G=1,P=8", 64, ""),
    ("rtt", "", "L=6,o=2,g=4,P=2", 1, ""),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder: PathBuf = std::env::args().nth(1).ok_or("give a folder")?.into();
    for (number, (name, algorithm, params, size, more)) in RUNS.iter().enumerate() {
        let program = PROGRAMS.iter().find(|program| program.name == *name).ok_or(*name)?;
        let algorithm = if algorithm.is_empty() { program.algorithms[0].name } else { algorithm };
        let params = Params::builder(8).set(params)?.build()?;
        let mut case = Case { size: *size, ..Case::new(program, algorithm, params) };
        match *more {
            "dual" => case.ports = Ports::Dual,
            "noise" => case.noise = Some(Noise::from_periods([(100 * US, 7 * US), (US * 10, US)])?.seed(7)),
            "record" => case.noise = Some(Noise::from_record([(3 * US, US), (9 * US, 2 * US)])?.together()),
            "levels" => {
                let node = Params::builder(4).set("L=6us,o=2us,g=4us,P=4")?.build()?;
                case.levels = vec![Level::new(node).one_port(true)];
            }
            _ => {}
        }
        let outcome = case.plan()?.run(&Emulation::with_trace())?;
        let file = format!("{number}-{name}.json");
        let mut json = Vec::new();
        outcome.run.trace.ok_or("there is no trace")?.write(&mut json)?;
        std::fs::write(folder.join(&file), &json)?;
        let request = [format!("do open\nname {file}\npage true\n\n").as_bytes(), &json].concat();
        let words = loggp_playground::answer(&request).to_words();
        // FNV-1a.
        let hash = words
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .fold(0x811C_9DC5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
        println!("{file} {} {hash}", 8 * words.len());
    }
    Ok(())
}

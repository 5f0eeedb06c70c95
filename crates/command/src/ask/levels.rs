//! The levels within a machine, such as nodes and sockets, from its file or the command line.

use clap::Args;
use loggp::{Level, Params, ParamsBuilder};
use loggp_study::machine_file::LevelDraft;

/// The options that describe levels.
#[derive(Args, Default)]
#[command(next_display_order = 20)]
pub struct LevelOptions {
    /// How many groups each level has, from the outermost: 64x16 is 64 nodes of 16 processors
    #[arg(long, value_name = "NxN", value_parser = parse_sizes)]
    pub levels: Option<LevelSizes>,
    /// What messages cost within a group of the level, once for each level from the outermost: L=1us,o=0.2us,g=0.5us
    #[arg(long, value_name = "NAME=VALUE,...")]
    pub level: Vec<String>,
}

/// The number of groups of each level, such as `64x2x8`.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelSizes(Vec<usize>);

impl LevelSizes {
    /// Returns the number of processors.
    pub fn P(&self) -> usize {
        self.0.iter().product()
    }

    /// Returns the number of processors in a group of each level within the machine.
    fn groups(&self) -> Vec<usize> {
        (1..self.0.len()).map(|level| self.0[level..].iter().product()).collect()
    }
}

/// Reads sizes, such as `64x16`.
fn parse_sizes(text: &str) -> Result<LevelSizes, String> {
    let numbers: Option<Vec<usize>> = text.split('x').map(|number| number.parse().ok()).collect();
    let product = |all: &Vec<usize>| all.iter().try_fold(1_usize, |product, n| product.checked_mul(*n));
    match numbers {
        Some(all) if (2..=3).contains(&all.len()) && product(&all).is_some_and(|P| P > 0) => {
            Ok(LevelSizes(all))
        }
        _ => {
            Err("give two or three numbers from the outermost level, such as 64x16 for 64 nodes of 16".into())
        }
    }
}

impl LevelOptions {
    /// Returns the number of processors that `--levels` makes, if it is given.
    pub fn P(&self) -> Option<usize> {
        self.levels.as_ref().map(LevelSizes::P)
    }

    /// Builds the levels of a machine with these parameters, from the command line or else from its file.
    pub fn build(&self, file_levels: &[LevelDraft], params: &Params) -> Result<Vec<Level>, String> {
        let draft = |text: &String| {
            let builder = ParamsBuilder::with_open_times(1).cycle(params.cycle).set(text);
            let builder = builder.map_err(|why| format!("--level {text}: {why}"))?;
            Ok(LevelDraft::new(builder))
        };
        let given: Vec<LevelDraft> = self.level.iter().map(draft).collect::<Result<_, String>>()?;
        let drafts = if given.is_empty() { file_levels } else { &given };
        let groups = self.levels.as_ref().map(LevelSizes::groups);
        if let Some(sizes) = self.levels.as_ref().filter(|sizes| sizes.P() != params.P) {
            let (all, P) = (sizes.P(), params.P);
            return Err(format!(
                "--levels makes {all} processors, and P = {P}; give it so that both are the same"
            ));
        }
        match &groups {
            Some(groups) if groups.len() != drafts.len() => {
                let sizes = self
                    .levels
                    .iter()
                    .flat_map(|sizes| &sizes.0)
                    .map(usize::to_string)
                    .collect::<Vec<_>>()
                    .join("x");
                let (n, described) = (groups.len(), drafts.len());
                let s = if n == 1 { "" } else { "s" };
                return Err(format!(
                    "--levels {sizes} needs {n} --level{s} with the costs inside a group, and {described} given; give --level L=1us,o=0.2us,g=0.5us once for each"
                ));
            }
            None if !given.is_empty() => {
                return Err("--level is for --levels; give how many there are, as in --levels 64x16".into());
            }
            _ => (),
        }
        let P = |place: usize| groups.as_ref().map(|groups| groups[place]);
        let levels = drafts.iter().enumerate().map(|(place, draft)| draft.clone().finish(params, P(place)));
        levels.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_the_outermost() {
        let read = parse_sizes("64x2x8").unwrap();
        assert_eq!((read.P(), read.groups()), (1024, vec![16, 8]));
        for wrong in ["64", "64x", "x16", "0x4", "2x2x2x2", "64*16", "99999999999x99999999999"] {
            assert!(parse_sizes(wrong).unwrap_err().starts_with("give two or three numbers"), "{wrong}");
        }
    }
}

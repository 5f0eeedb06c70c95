//! `loggp merge`: merges the rows of shards, in the order in which one command would have written them.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value};

use crate::ask::output::extension;
use crate::error::{CliError, no_text};
use crate::host::draft::{Draft, is_stdout};
use crate::host::source::read_source;

/// Put together the rows of shards of one comparison or sweep
#[derive(Args)]
#[command(after_help = "Examples:
  loggp sweep broadcast --over P=2,4,8 --shard 2/2 -o part2.csv
  loggp merge part1.csv part2.csv -o all.csv")]
pub(crate) struct MergeCommand {
    /// The files that the shards 1/N, 2/N and so on have written, all of them and in this order: all .json, or all .csv; - is
    /// stdin
    #[arg(required = true)]
    shards: Vec<PathBuf>,
    /// Write it to a file, and not to stdout
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Limit of the bytes of a shard.
const LONGEST: u64 = 1 << 28;

impl MergeCommand {
    /// Reads all files, and writes their rows alternately, as they were dealt out to the shards.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        if self.shards.iter().collect::<HashSet<_>>().len() < self.shards.len() {
            return Err(CliError::request("a file is given twice; give each shard once, in their order"));
        }
        let mut titles: Option<String> = None;
        let (mut shards, mut are_csv) = (Vec::new(), None);
        for path in &self.shards {
            let refuse = |why: String| CliError::Request(format!("{}: {why}", path.display()));
            let text = read_source(path, LONGEST, ", and no shard is").map_err(refuse)?;
            let text = String::from_utf8(text).map_err(|why| refuse(no_text(&why.utf8_error())))?;
            let is_csv = match &*extension(path) {
                "csv" => true,
                "json" => false,
                _ => !text.starts_with('{'),
            };
            if *are_csv.get_or_insert(is_csv) != is_csv {
                return Err(refuse(
                    "shards are all in .csv, or all in .json, and the first is in the other; give files of one kind"
                        .into(),
                ));
            }
            let mut rows: Vec<String> = text.lines().map(String::from).collect();
            if is_csv && !rows.is_empty() {
                let title = rows.remove(0);
                match &titles {
                    Some(titles) if *titles != title => {
                        return Err(refuse(
                            "it has other columns than the files before it; merge one command's".into(),
                        ));
                    }
                    _ => titles = Some(title),
                }
            }
            let is_row = |line: &String| {
                serde_json::from_str::<Map<String, Value>>(line).is_ok_and(|row| !row.is_empty())
            };
            if !is_csv && let Some(line) = rows.iter().position(|line| !is_row(line)) {
                return Err(refuse(format!(
                    "line {}: it is no row of --format json; give what shards have written",
                    line + 1
                )));
            }
            shards.push(rows);
        }
        // Rows are dealt out in turn, so the number of rows can only fall from shard to shard, and by at most
        // 1 in all.
        let counts: Vec<usize> = shards.iter().map(Vec::len).collect();
        if counts.windows(2).any(|pair| pair[0] < pair[1]) || counts[0] - counts[counts.len() - 1] > 1 {
            return Err(CliError::Request(format!(
                "the files have {counts:?} rows, and shards in order have as many as the first, or one less; give all, in their order"
            )));
        }
        let lines = (0..counts[0]).flat_map(|turn| shards.iter().filter_map(move |rows| rows.get(turn)));
        let text: String = titles.iter().chain(lines).map(|line| format!("{line}\n")).collect();
        match self.output.as_deref().filter(|path| !is_stdout(path)) {
            None => Ok(out.write_all(text.as_bytes())?),
            Some(path) => Draft::create(path, "output")?.write(|mut file| file.write_all(text.as_bytes())),
        }
    }
}

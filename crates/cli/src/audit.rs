//! `loggp audit`: holds a trace against the rules of the machine.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use loggp::{Time, Trace, audit};
use loggp_document::{Block, Document, Table, plain};

use super::draft;
use super::failure::Failure;
use super::heading::{self, parameters};
use super::number::{Unit, count, thousands};
use super::stdout;

/// The arguments.
#[derive(Args)]
pub struct Audit {
    /// A file that `loggp run --trace` wrote
    trace: PathBuf,
}

/// So many violations are listed: where there are more, one mistake has made many.
const LISTED: usize = 20;

impl Audit {
    /// Reads the trace and says what it found.
    pub fn execute(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let trace = read(&self.trace)?;
        let audit = audit(&trace);
        let unit = Unit::usual(&trace.params);
        let of_capacity = |most: usize| match audit.capacity {
            Some(capacity) => format!("{} of {}", thousands(most), thousands(capacity)),
            None => format!("{} of any number", thousands(most)),
        };
        let show = |time: Option<Time>| time.map_or("none".into(), |time| unit.show(time));

        let mut table = Table::new("", "").text("").text("");
        for (what, value) in [
            ("finish", unit.show(audit.finish)),
            ("messages", thousands(audit.messages)),
            ("most in transit from a processor", of_capacity(audit.most_in_transit_from)),
            ("most in transit to a processor", of_capacity(audit.most_in_transit_to)),
            ("stalls", thousands(audit.stalls)),
            ("stalled, all together", unit.show(audit.stalled)),
            ("longest stall", show(audit.longest_stall)),
            ("shortest stall", show(audit.shortest_stall)),
        ] {
            table.push(vec![what.into(), value.into()]);
        }
        let mut blocks = vec![Block::Table(table)];
        if audit.out_of_order > 0 {
            let acts = count(audit.out_of_order as usize, "act");
            blocks.push(Block::Paragraph(plain(format!(
                "the host let {acts} happen out of order, so nobody can tell whose turn it was:\n\
                 stalls and waits for ports were not held against the order of the requests"
            ))));
        }
        let broken = count(audit.violations.len(), "violation");
        if audit.is_clean() {
            blocks.push(Block::Paragraph(plain("every rule holds")));
        } else {
            blocks.push(Block::Paragraph(plain(format!("{broken} of the rules:"))));
            let mut listed: Vec<_> = audit.violations.iter().take(LISTED).map(ToString::to_string).collect();
            let more = audit.violations.len() - listed.len();
            listed.extend((more > 0).then(|| format!("and {} more", thousands(more))));
            blocks.push(Block::List(listed.into_iter().map(plain).collect()));
        }
        let parameters = parameters(&trace.params, &unit).join(", ");
        let title = format!("{parameters}\n{}", heading::recorded(&trace));
        out.write_all(Document { title, blocks }.to_text(stdout::width()).as_bytes())?;
        if audit.is_clean() {
            return Ok(());
        }
        Err(Failure::Run(format!("the trace breaks the rules of the machine: {broken}")))
    }
}

/// Reads a trace.
pub fn read(path: &Path) -> Result<Trace, Failure> {
    let shown = path.display();
    let file = draft::source(path);
    let file = file.map_err(|error| Failure::Request(format!("{shown} cannot be read: {error}")))?;
    Trace::read(file).map_err(|error| {
        Failure::Request(match is_schedule(path) {
            true => {
                format!("{shown}: this is a schedule, and no trace of a run; `loggp replay {shown}` plays it")
            }
            false => format!("{shown}: {error}"),
        })
    })
}

/// Whether a file that is no trace is a schedule, by how it begins.
fn is_schedule(path: &Path) -> bool {
    let mut begin = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut begin));
    read.is_ok() && loggp_goal::is_schedule(&begin)
}

//! `loggp audit`: checks a trace against the rules of the machine.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use loggp::Time;
use loggp::audit::audit;
use loggp_document::{Document, DocumentBlock, Table, plain};

use crate::ask::trace_input::read_trace;
use crate::error::CliError;
use crate::host::stdout;
use crate::number::{Unit, count, thousands};
use crate::tell::heading::{self, parameters};
use crate::tell::style::is_quiet;

/// Check the trace of a run against the rules of the machine
#[derive(Args)]
#[command(after_help = "Examples:
  loggp run scatter -P 8 --trace scatter.json
  loggp audit scatter.json")]
pub(crate) struct AuditCommand {
    /// A file that `loggp run --trace` wrote
    trace: PathBuf,
}

/// Limit of the violations that are listed: where there are more, one mistake usually causes most of them.
const MOST_LISTED: usize = 20;

impl AuditCommand {
    /// Audits the trace and prints the result.
    pub(crate) fn execute(&self, out: &mut dyn Write) -> Result<(), CliError> {
        let trace = read_trace(&self.trace)?;
        let audit = audit(&trace);
        let unit = Unit::of_trace(&trace);
        let with_capacity = |most: usize| match audit.capacity {
            Some(capacity) => format!("{} of {}", thousands(most), thousands(capacity)),
            None => format!("{} of any number", thousands(most)),
        };
        let show = |time: Option<Time>| time.map_or("none".into(), |time| unit.show(time));

        let mut table = Table::new("", "").text("").text("");
        for (name, value) in [
            ("finish", unit.show(audit.finish)),
            ("messages", thousands(audit.messages)),
            ("most in transit from a processor", with_capacity(audit.most_in_transit_from)),
            ("most in transit to a processor", with_capacity(audit.most_in_transit_to)),
            ("stalls", thousands(audit.stalls)),
            ("stalled, all together", unit.show(audit.stalled)),
            ("longest stall", show(audit.longest_stall)),
            ("shortest stall", show(audit.shortest_stall)),
        ] {
            table.push(vec![name.into(), value.into()]);
        }
        let mut blocks = vec![DocumentBlock::Table(table)];
        if audit.out_of_order > 0 {
            let acts = count(audit.out_of_order as usize, "act");
            blocks.push(DocumentBlock::Paragraph(plain(format!(
                "the host let {acts} happen out of order, so nobody can tell whose turn it was:\n\
                 stalls and waits for ports were not checked against the order of the requests"
            ))));
        }
        let broken = count(audit.violations.len(), "violation");
        if audit.is_clean() {
            blocks.push(DocumentBlock::Paragraph(plain("every rule holds")));
        } else {
            blocks.push(DocumentBlock::Paragraph(plain(format!("{broken} of the rules:"))));
            let mut listed: Vec<_> =
                audit.violations.iter().take(MOST_LISTED).map(ToString::to_string).collect();
            let more = audit.violations.len() - listed.len();
            listed.extend((more > 0).then(|| format!("and {} more", thousands(more))));
            blocks.push(DocumentBlock::List(listed.into_iter().map(plain).collect()));
        }
        let parameters = parameters(&trace.params, &unit).join(", ");
        let cycles = heading::cycle_text(&trace.params, unit);
        let title =
            format!("{parameters}{cycles}\n{}, times in {}", heading::recorded_text(&trace), unit.name);
        let title = if is_quiet() { String::new() } else { title };
        let text = Document { title, blocks }.to_text(stdout::width());
        out.write_all(text.trim_start_matches('\n').as_bytes())?;
        if audit.is_clean() {
            return Ok(());
        }
        Err(CliError::Run(format!("the trace breaks the rules of the machine: {broken}")))
    }
}

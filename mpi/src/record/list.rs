//! `loggp record --list`: a recording as text, a line for each call.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use loggp_document::printable_line;
use loggp_mpi_trace::call::{
    Communicator, Completed, Counts, Envelope, MpiCall, MpiCallKind, OneSided, Place, Receive, Root,
    Unmodelled,
};

use crate::mpi_program::open_recording;
use loggp_command::error::CliError;

/// Prints a recording. Each line has the rank, the begin and the length of a call in nanoseconds, what it was, and
/// the place that called it.
pub(super) fn print(path: &Path, out: &mut dyn Write) -> Result<(), CliError> {
    let refuse = |error: &dyn std::fmt::Display| CliError::Request(format!("{}: {error}", path.display()));
    let name = printable_line;
    let recording = open_recording(path).map_err(|error| refuse(&error))?;
    let facts = recording.facts();
    writeln!(out, "# {}, {}, ranks={}", name(&facts.program), name(&facts.library), recording.ranks())?;
    let mut line = String::new();
    for rank in 0..recording.ranks() {
        let mut reader = recording.calls(rank).map_err(|error| refuse(&error))?;
        writeln!(out, "{rank} {} 0 init host={}", reader.begin(), name(&facts.hosts[rank]))?;
        let mut communicators = 1;
        while let Some(call) = reader.next_call().map_err(|error| refuse(&error))? {
            for (number, made) in reader.communicators().iter().enumerate().skip(communicators) {
                writeln!(out, "{rank} {} 0 communicator number={number}{}", call.end, members(made))?;
            }
            communicators = reader.communicators().len();
            line.clear();
            write_call(&mut line, rank, &call, &reader.places()[call.place as usize]);
            out.write_all(line.as_bytes())?;
        }
        for Unmodelled { name, count, inside_ns } in reader.unmodelled() {
            let inside = inside_ns.unwrap_or_default();
            writeln!(out, "{rank} {} {inside} unmodelled call={name} count={count}", reader.end())?;
        }
        let end = match reader.stopped() {
            Some(why) => format!("stopped why={why}"),
            None if reader.is_whole() => "finalize".into(),
            None => "aborted".into(),
        };
        writeln!(out, "{rank} {} 0 {end}", reader.end())?;
    }
    Ok(())
}

fn write_call(line: &mut String, rank: usize, call: &MpiCall, place: &Place) {
    let (name, mut kind) = (printable_line, String::new());
    write_kind(&mut kind, &call.kind);
    let length = call.end.saturating_sub(call.begin);
    let _ = write!(line, "{rank} {} {length} {kind}", call.begin);
    if call.thread > 0 {
        let _ = write!(line, " thread={}", call.thread);
    }
    let _ = write!(line, " at={}", name(&place.function));
    if let Some((file, number)) = &place.source {
        let _ = write!(line, " file={}:{number}", name(file));
    }
    line.push('\n');
}

/// Writes what a call does. What cannot be written to a string is nothing.
fn write_kind(line: &mut String, kind: &MpiCallKind) {
    let mut put = |text: String| line.push_str(&text);
    match kind {
        MpiCallKind::Send { mode, message, request } => {
            let mode = format!("{mode:?}").to_lowercase();
            put(format!("send mode={mode}{}{}", envelope("to", message), number("request", *request)));
        }
        MpiCallKind::Recv { receive, request } => {
            put(format!("recv{}{}", asked(receive), number("request", *request)));
        }
        MpiCallKind::SendRecv { message, receive, request } => {
            let message = message.as_ref().map(|message| envelope("to", message)).unwrap_or_default();
            let receive = receive.as_ref().map(asked).unwrap_or_default();
            put(format!("sendrecv{message}{receive}{}", number("request", *request)));
        }
        MpiCallKind::Start(starts) => {
            put("start".into());
            for start in starts {
                line.push(' ');
                write_kind(line, start);
            }
        }
        MpiCallKind::StartCollective { made, collective } => {
            put(format!("start made={made} "));
            write_kind(line, collective);
        }
        MpiCallKind::Complete { form, requests } => {
            put(form.name().into());
            requests.iter().for_each(|request| put(completed(request)));
        }
        MpiCallKind::Look { count, inside_ns } => put(format!("look count={count} inside={inside_ns}")),
        MpiCallKind::Probe { is_wait, message } => {
            put(format!("{}{}", if *is_wait { "probe" } else { "iprobe" }, envelope("from", message)));
        }
        MpiCallKind::Collective { kind, communicator, root, sent, received, request } => {
            let root = match root {
                Root::None => String::new(),
                Root::Rank(rank) => format!(" root={rank}"),
                Root::This => " root=this".into(),
                Root::Nobody => " root=nobody".into(),
            };
            let (name, request) = (format!("{kind:?}").to_lowercase(), number("request", *request));
            let (sent, received) = (counts(sent), counts(received));
            put(format!("{name} comm={communicator}{root} sent={sent} received={received}{request}"));
        }
        MpiCallKind::NewCommunicator { parent, new } => {
            put(format!("new parent={parent}{}", number("comm", new.map(u64::from))));
        }
        MpiCallKind::Forget(request) => put(format!("forget request={request}")),
        MpiCallKind::OneSided(what) => put(format!("{}{}", what.name(), one_sided(what))),
    }
}

fn one_sided(what: &OneSided) -> String {
    let memory = |to: Option<u32>| to.map_or("all".into(), |to| to.to_string());
    match *what {
        OneSided::Put { to, bytes } => format!(" to={to} bytes={bytes}"),
        OneSided::Get { to, bytes, back, request } => {
            format!(" from={to} asked={bytes} bytes={back}{}", number("request", request))
        }
        OneSided::Flush { to, is_local } => {
            format!(" of={}{}", memory(to), if is_local { " local" } else { "" })
        }
        OneSided::Lock { window, to, is_exclusive } => {
            format!(" of={} comm={window}{}", memory(to), if is_exclusive { " exclusive" } else { "" })
        }
        OneSided::Unlock { window, to } => format!(" of={} comm={window}", memory(to)),
        OneSided::Fence { window } => format!(" comm={window}"),
        OneSided::InOrder => String::new(),
    }
}

fn number(name: &str, number: Option<u64>) -> String {
    number.map(|number| format!(" {name}={number}")).unwrap_or_default()
}

fn envelope(end: &str, message: &Envelope) -> String {
    let Envelope { peer, tag, communicator, bytes } = message;
    format!(" {end}={peer} tag={tag} comm={communicator} bytes={bytes}")
}

fn asked(receive: &Receive) -> String {
    let any = |asked: Option<String>| asked.unwrap_or_else(|| "any".into());
    let (from, tag) =
        (any(receive.from.map(|rank| rank.to_string())), any(receive.tag.map(|tag| tag.to_string())));
    let taken = receive.taken.as_ref().map(|message| format!(" took{}", envelope("from", message)));
    let (communicator, bytes) = (receive.communicator, receive.bytes);
    format!(" from={from} tag={tag} comm={communicator} most={bytes}{}", taken.unwrap_or_default())
}

fn completed(completed: &Completed) -> String {
    let taken = completed.taken.as_ref().map(|message| format!(" took{}", envelope("from", message)));
    let cancelled = if completed.is_cancelled { " cancelled" } else { "" };
    format!(" request={}{cancelled}{}", completed.request, taken.unwrap_or_default())
}

fn join<T: ToString>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

fn counts(counts: &Counts) -> String {
    match counts {
        Counts::Same(bytes) => bytes.to_string(),
        Counts::Each(bytes) => format!("[{}]", join(bytes)),
    }
}

fn members(communicator: &Communicator) -> String {
    let Communicator { members, remote, destinations, sources, parent, number_at_parent } = communicator;
    let neighbour = |rank: &Option<u32>| rank.map_or_else(|| "-".into(), |rank| rank.to_string());
    let mut text = format!(" parent={parent} order={number_at_parent} members=[{}]", join(members));
    if let Some(remote) = remote {
        text += &format!(" remote=[{}]", join(remote));
    }
    if !destinations.is_empty() || !sources.is_empty() {
        let [to, from] = [destinations, sources].map(|ranks| ranks.iter().map(neighbour).collect::<Vec<_>>());
        text += &format!(" to=[{}] from=[{}]", join(&to), join(&from));
    }
    text
}

//! A trace as lines: the page reads the JSON, as a browser does that anyway, and says here what is in it.
//!
//! A line is a word, numbers, and behind them a text if one belongs there. README.md has all.

use std::str::Split;

use loggp_model::message::MessageId;
use loggp_model::params::{Level, Noise, Params, Ports};
use loggp_model::params::{LeveledParams, Parameter};
use loggp_model::time::Time;
use loggp_trace::{
    Activity, ActivityKind, Call, CallKind, CallTag, Caption, Message, Progress, Rendezvous, Trace, Transfer,
};

/// The first line.
pub(crate) const HEAD: &[u8] = b"trace\n";

/// Reads the lines of a trace.
pub(crate) fn read(lines: &str) -> Result<Trace, String> {
    // The machine is still to come.
    let machine = Params::builder(1).build().map_err(|why| why.to_string())?;
    let mut trace = Trace::empty(machine);
    for line in lines.lines().skip(1) {
        let mut parts = Parts { line, rest: line.split(' ') };
        match parts.word()? {
            "machine" => trace.params = parts.params()?,
            "ports" => trace.ports = parts.ports()?,
            "level" => {
                let (ports, one_port) = (parts.ports()?, parts.number::<u8>()? > 0);
                let level = Level::new(parts.params()?).ports(ports).one_port(one_port);
                trace.levels.push(level);
            }
            "noise" => trace.noise = Some(parts.noise()?),
            "title" => caption(&mut trace).title = parts.text(),
            "about" => caption(&mut trace).about = parts.text(),
            "unit" => caption(&mut trace).unit = parts.text(),
            "formula" => caption(&mut trace).formula = Some(parts.time()?),
            "activity" => {
                let (id, start, end) = (parts.number()?, parts.time()?, parts.time()?);
                trace.activities.push(Activity { id, start, end, kind: parts.kind()? });
            }
            "progress" => {
                let (request, id) = (parts.number()?, parts.number()?);
                let (start, end) = (parts.time()?, parts.time()?);
                trace.progress.push(Progress { id, request, start, end, kind: parts.kind()? });
            }
            "message" => trace.messages.push(Message {
                id: parts.id()?,
                to: parts.number()?,
                words: parts.number()?,
                place: parts.number()?,
                latency: parts.time()?,
                enter: parts.time()?,
                first: parts.time()?,
                arrival: parts.time()?,
            }),
            "call" => {
                let (id, kind) = (parts.number()?, parts.call()?);
                trace.calls.push(Call { id, start: Time::ZERO, end: Time::ZERO, kind });
            }
            _ => return Err(parts.refusal()),
        }
    }
    LeveledParams::new(trace.params, trace.levels.iter().copied()).check().map_err(|why| why.to_string())?;
    Ok(trace)
}

fn caption(trace: &mut Trace) -> &mut Caption {
    trace.caption.get_or_insert_default()
}

/// The parts of a line.
struct Parts<'a> {
    line: &'a str,
    rest: Split<'a, char>,
}

impl<'a> Parts<'a> {
    fn refusal(&self) -> String {
        let line: String = self.line.chars().take(100).collect();
        format!("a trace has no {line}, or it lacks something; give what `loggp run --trace FILE.json` wrote")
    }

    fn word(&mut self) -> Result<&'a str, String> {
        self.rest.next().ok_or_else(|| self.refusal())
    }

    /// Returns the rest of the line.
    fn text(&mut self) -> String {
        self.rest.by_ref().collect::<Vec<_>>().join(" ")
    }

    fn number<T: TryFrom<i64>>(&mut self) -> Result<T, String> {
        let number = self.word()?.parse::<i64>().ok();
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| self.refusal())
    }

    /// Reads a time, of which sums can be made.
    fn time(&mut self) -> Result<Time, String> {
        const MOST: u64 = 1 << 53;
        let time = self.number::<i64>()?;
        if time.unsigned_abs() > MOST { Err(self.refusal()) } else { Ok(Time::from_ps(time)) }
    }

    fn ports(&mut self) -> Result<Ports, String> {
        self.word()?.parse().map_err(|why| format!("its ports: {why}"))
    }

    /// Reads pairs of a parameter's name and its number.
    fn params(&mut self) -> Result<Params, String> {
        let (mut builder, mut text) = (Params::builder(0), String::new());
        while let Some(name) = self.rest.next() {
            if name == Parameter::CYCLE.name {
                builder = builder.cycle(self.time()?);
                continue;
            }
            let value = self.word()?;
            let is_time = Parameter::by_name(name).is_none_or(Parameter::is_time);
            // No limit is a number that has no room here.
            let is_none = !is_time && value.len() > 15;
            let value = if is_none { "none" } else { value };
            text += &format!("{name}={value}{},", if is_time { "ps" } else { "" });
        }
        builder.set(&text).and_then(|builder| builder.build()).map_err(|why| why.to_string())
    }

    fn noise(&mut self) -> Result<Noise, String> {
        let (seed, together) = (self.number()?, self.number::<u8>()? > 0);
        let is_record = self.number::<u8>()? > 0;
        let text = self.text();
        let times = text.split(' ').map(|time| time.parse().map(Time::from_ps).map_err(|_| self.refusal()));
        let times = times.collect::<Result<Vec<_>, _>>()?;
        let pairs = times.as_chunks().0.iter().map(|&[one, other]| (one, other));
        let noise = if is_record { Noise::from_record(pairs) } else { Noise::from_periods(pairs) };
        let noise = noise.map_err(|why| why.to_string())?.seed(seed);
        Ok(if together { noise.together() } else { noise })
    }

    fn id(&mut self) -> Result<MessageId, String> {
        Ok(MessageId { from: self.number()?, number: self.number()? })
    }

    /// Reads a kind of activity: its name, and what belongs to it.
    fn kind(&mut self) -> Result<ActivityKind, String> {
        Ok(match self.word()? {
            "work" => ActivityKind::Work(self.text().into()),
            "send" => ActivityKind::Send(self.id()?),
            "receive" => ActivityKind::Receive(self.id()?),
            "gap" => ActivityKind::Gap,
            "stall" => ActivityKind::Stall,
            "port" => ActivityKind::Port,
            "idle" => ActivityKind::Idle,
            "barrier" => ActivityKind::Barrier,
            "post" => ActivityKind::Post(self.number()?),
            "wait" => ActivityKind::Wait(self.number()?),
            _ => return Err(self.refusal()),
        })
    }

    /// Reads what a timeline shows of a call: the tag and the size of a message that is sent, or the tag alone.
    fn call(&mut self) -> Result<CallKind, String> {
        let to = 0;
        Ok(match self.word()? {
            "send" => CallKind::Send { to, bytes: self.number()?, sent: self.transfer()?, tag: self.tag()? },
            "isend" => {
                CallKind::Isend { to, request: self.number()?, bytes: self.number()?, tag: self.tag()? }
            }
            "wait" => CallKind::Wait { request: self.number()?, is_send: true, transfer: self.transfer()? },
            "tag" => CallKind::Probe { from: None, tag: self.tag()?, found: None },
            _ => return Err(self.refusal()),
        })
    }

    /// Reads a message, and the number of the messages of its rendezvous and these.
    fn transfer(&mut self) -> Result<Transfer, String> {
        let message = self.id()?;
        let rendezvous = match self.number::<u8>()? {
            0 => None,
            _ => Some(Box::new(Rendezvous { request: self.id()?, reply: self.id()? })),
        };
        Ok(Transfer { message, rendezvous })
    }

    fn tag(&mut self) -> Result<CallTag, String> {
        let number = u64::from_str_radix(self.word()?, 16).map_err(|_| self.refusal())?;
        let name = Some(self.text()).filter(|name| !name.is_empty());
        Ok(CallTag { number, name: name.map(Into::into) })
    }
}

//! A picture of a run: what each processor did when, and how the messages travelled, as in LogP's figure 3.

use std::fmt::Write;

use loggp::{Activity, ActivityKind, Time, Trace};

/// More than this would be a blur; a trace viewer can zoom.
const MOST_PROCESSORS: usize = 128;
/// As many slices and arrows as a browser draws without effort.
const MOST_SHAPES: usize = 50_000;

/// The width of the part that shows time.
const WIDTH: f64 = 960.0;
/// The room for the processors' names.
const LEFT: f64 = 60.0;
/// The room for the title and the legend.
const TOP: f64 = 64.0;

/// What a slice looks like: its fill, and its name in the legend. Told apart in black and white too.
fn look(what: &ActivityKind) -> Option<(&'static str, &'static str)> {
    Some(match what {
        ActivityKind::Send(_) => ("#1f4e79", "send overhead"),
        ActivityKind::Receive(_) => ("#e08214", "receive overhead"),
        ActivityKind::Work(_) => ("#8c8c8c", "work"),
        ActivityKind::Gap => ("#dcdcdc", "gap"),
        ActivityKind::Stall => ("#b2182b", "stall"),
        ActivityKind::Port => ("#c2a5cf", "port"),
        ActivityKind::Barrier => ("#e5f0d8", "barrier"),
        ActivityKind::Post(_) => ("#7fa7cc", "call for a request"),
        ActivityKind::Wait(_) => ("#f6e3c5", "wait for a request"),
        ActivityKind::Idle => return None,
    })
}

/// Draws a trace as SVG, with time in this unit; or says why it cannot.
pub fn timeline(trace: &Trace, title: &str, unit: (&str, Time)) -> Result<String, String> {
    let P = trace.params.P;
    if P > MOST_PROCESSORS {
        return Err(format!("a timeline shows at most {MOST_PROCESSORS} processors, and there are {P}"));
    }
    let shapes = trace.activities.len() + trace.messages.len();
    if shapes > MOST_SHAPES {
        return Err(format!(
            "a timeline shows at most {MOST_SHAPES} activities and messages, and there are {shapes}"
        ));
    }
    let arrivals = trace.messages.iter().map(|message| message.arrival);
    let end = trace.activities.iter().map(|activity| activity.end).chain(arrivals).max();
    let end = end.unwrap_or_default().max(Time::from_ps(1));
    let row = if P <= 32 { 26.0 } else { 14.0 };
    let height = TOP + row * P as f64 + 50.0;
    let x = |t: Time| LEFT + WIDTH * t.in_units(end);
    let y = |id: usize| TOP + row * (id as f64 + 0.5);

    let mut svg = String::new();
    let out = &mut svg;
    let full = LEFT + WIDTH + 30.0;
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full} {height}" font-family="sans-serif" font-size="12">
<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="#444"/></marker></defs>
<rect width="{full}" height="{height}" fill="white"/>
<text x="{LEFT}" y="20" font-size="14">{}</text>
"##,
        escaped(title)
    );
    legend(out, trace);
    axis(out, end, unit, TOP + row * P as f64, x);
    for id in 0..P {
        let (y, right) = (y(id), LEFT + WIDTH);
        let _ = writeln!(
            out,
            r##"<text x="{:.1}" y="{:.1}" text-anchor="end">P{id}</text><path d="M{LEFT} {y:.1}H{right}" stroke="#bbb"/>"##,
            LEFT - 8.0,
            y + 4.0
        );
    }
    for Activity { id, start, end, what } in &trace.activities {
        if let Some((fill, name)) = look(what) {
            let (left, width, high) = (x(*start), x(*end) - x(*start), row * 0.54);
            let top = y(*id) - high / 2.0;
            let _ = writeln!(
                out,
                r##"<rect x="{left:.2}" y="{top:.1}" width="{width:.2}" height="{high:.1}" fill="{fill}" stroke="black" stroke-width="0.4"><title>P{id} {name}: {start} to {end}</title></rect>"##
            );
        }
    }
    for message in &trace.messages {
        let (from, to) = (message.id.from, message.to);
        let _ = writeln!(
            out,
            r##"<path d="M{:.2} {:.1}L{:.2} {:.1}" stroke="#444" stroke-width="0.8" marker-end="url(#tip)"><title>P{from} to P{to}, {} words: {} to {}</title></path>"##,
            x(message.enter),
            y(from),
            x(message.arrival),
            y(to),
            message.words,
            message.enter,
            message.arrival
        );
    }
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// Names the looks that occur.
fn legend(out: &mut String, trace: &Trace) {
    let mut looks = Vec::new();
    for look in trace.activities.iter().filter_map(|activity| look(&activity.what)) {
        if !looks.contains(&look) {
            looks.push(look);
        }
    }
    for (place, (fill, name)) in looks.into_iter().enumerate() {
        let left = LEFT + 140.0 * place as f64;
        let _ = writeln!(
            out,
            r##"<rect x="{left}" y="34" width="14" height="12" fill="{fill}" stroke="black" stroke-width="0.4"/><text x="{}" y="44">{name}</text>"##,
            left + 20.0
        );
    }
}

/// Draws the axis of time, with about ten round marks.
fn axis(out: &mut String, end: Time, (name, unit): (&str, Time), bottom: f64, x: impl Fn(Time) -> f64) {
    let span = end.in_units(unit);
    let power = 10_f64.powf((span / 10.0).log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|digit| digit * power).find(|step| span / step <= 12.0);
    let step = step.unwrap_or(span);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let marks = (span / step) as usize;
    for mark in 0..=marks {
        let value = mark as f64 * step;
        let at = x(Time::from_ps((value * unit.as_ps() as f64) as i64));
        let _ = writeln!(
            out,
            r##"<path d="M{at:.1} {TOP}V{:.1}" stroke="#eee"/><text x="{at:.1}" y="{:.1}" text-anchor="middle">{value:.digits$}</text>"##,
            bottom + 4.0,
            bottom + 18.0
        );
    }
    let middle = LEFT + WIDTH / 2.0;
    let _ = writeln!(
        out,
        r#"<text x="{middle}" y="{}" text-anchor="middle">time ({name})</text>"#,
        bottom + 38.0
    );
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use loggp::{Machine, Params, Tag, US, Work};

    const WORD: Tag<u64> = Tag::new(0);

    fn picture(P: usize) -> Result<String, String> {
        let params = Params::new(P).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
        let run = Machine::new(params).work(Work::Charged).trace(true).run(|p| {
            p.send((p.id() + 1) % p.p(), WORD, 1);
            p.recv(WORD);
        });
        timeline(&run.unwrap().trace.unwrap(), "a < b & c", ("us", US))
    }

    #[test]
    fn shows_every_activity_and_every_message() {
        let svg = picture(5).unwrap();
        assert_eq!(svg.matches("send overhead: ").count(), 5);
        assert_eq!(svg.matches("receive overhead: ").count(), 5);
        assert_eq!(svg.matches("marker-end").count(), 5);
        assert!(svg.contains("a &lt; b &amp; c"));
        assert!(svg.contains("time (us)"));
    }

    #[test]
    fn refuses_what_would_be_a_blur() {
        assert!(picture(200).unwrap_err().contains("at most 128 processors, and there are 200"));
    }
}

//! An idle wave: in every step 256 processors compute and exchange a word with their neighbours, and from the middle on one
//! computes 50% longer. Who waits for it lets others wait. `cargo run --release --example idle_wave wave.svg` draws that.

use std::fmt::Write;

use loggp::trace::{Activity, ActivityKind};
use loggp::{Machine, Params, RunError, Tag, Time, US};

const LEFTWARD: Tag<u8> = Tag::named(0, "leftward");
const RIGHTWARD: Tag<u8> = Tag::named(1, "rightward");
const STEPS: usize = 120;
const SLOW: usize = 110;

const STYLE: &str = "text{font:14px sans-serif;fill:#777}#now{animation:pass 7s linear infinite}\
@keyframes pass{0%{transform:scaleX(0)}80%,100%{transform:none}}@media(prefers-reduced-motion:reduce){#now{animation:none}}\
@media(prefers-color-scheme:dark){text{fill:#aaa}}";

pub fn main() -> Result<(), RunError> {
    let params @ Params { P, .. } = Params::builder(256).L(6 * US).o(2 * US).g(4 * US).build()?;
    let run = Machine::new(params).rate("cell", US).trace(true).run(|p| {
        let (id, last) = (p.id(), p.P() - 1);
        for step in 0..STEPS {
            p.work("cell", if id == SLOW && step >= STEPS / 2 { 60 } else { 40 }, || ());
            if id > 0 {
                p.send(id - 1, LEFTWARD, 0);
            }
            if id < last {
                p.send(id + 1, RIGHTWARD, 0);
                p.recv(LEFTWARD.from(id + 1));
            }
            if id > 0 {
                p.recv(RIGHTWARD.from(id - 1));
            }
        }
    })?;

    // Nobody waits that long for a processor that is in time.
    let is_late = |one: &&Activity| one.kind == ActivityKind::Idle && one.end - one.start > 12 * US;
    let x = |time: Time| 960 * time.as_ps() / run.time.as_ps();
    let (mut path, mut count, mut reached) = (String::new(), 0, vec![false; P]);
    for Activity { id, start, end, .. } in run.trace.as_ref().unwrap().activities.iter().filter(is_late) {
        (count, reached[*id]) = (count + 1, true);
        _ = write!(path, "M{} {}h{w}v2h-{w}z", x(*start), 2 * id, w = x(*end) - x(*start));
    }
    let reached = reached.into_iter().filter(|one| *one).count();
    println!("processor {SLOW} is late, and {reached} others wait, {count} times");
    if let Some(file) = std::env::args().nth(1).filter(|name| name.ends_with(".svg")) {
        let svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 960 540'>\
             <title>A wave of waiting</title><style>{STYLE}</style>\
             <clipPath id='passed'><rect id='now' width='960' height='512'/></clipPath><g clip-path='url(#passed)'>\
             <rect width='960' height='512' fill='#1f4e79'/><path d='{path}' fill='#fff'/></g>\
             <text y='532'>{P} processors; time from left to right. Dark computes, white waits. Who is late?</text></svg>\n"
        );
        std::fs::write(&file, svg).unwrap_or_else(|why| println!("{file} cannot be written: {why}"));
    }
    Ok(())
}

//! A trace as a file in Chrome's trace event format, which <https://ui.perfetto.dev> and `chrome://tracing`
//! open.
//!
//! A processor is a thread, its activities are slices on its track, a message is an arrow from the slice that
//! sends it to the slice that receives it, and an asynchronous slice while it is in transit. The programs'
//! calls are slices of a second process, where each processor has another track. Viewers count in
//! microseconds and round, so each event also carries its times in whole picoseconds, which are read back; a file of
//! which a viewer would show other times is refused.

mod read;
mod write;

pub(super) use read::read;

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;

    use crate::any_trace::any_trace;
    use crate::{Activity, ActivityKind, Call, CallKind, Message, Progress, Trace};
    use loggp_model::message::MessageId;
    use loggp_model::params::{Latency, LongMessages, Params, Ports, Precedence, Ties};
    use loggp_model::time::{Time, US};
    use loggp_model::transport::{Capacity, Protocol};

    fn text(trace: &Trace) -> String {
        let mut text = Vec::new();
        trace.write(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    fn small() -> Trace {
        let id = MessageId { from: 0, number: 0 };
        let activity =
            |id, start, end, kind| Activity { id, start: start * US, end: Time::from_ps(end), kind };
        Trace {
            params: Params::builder(2).L(6 * US).o(2 * US).g(4 * US).build().unwrap(),
            levels: Vec::new(),
            ports: Ports::Single,
            rendezvous: Protocol::Push,
            capacity: Capacity::Arrived,
            latency: Latency::Exact,
            ties: Ties::Number,
            precedence: Precedence::new(),
            noise: None,
            faults: Default::default(),
            barrier: None,
            out_of_order: 0,
            reaches_memories: false,
            caption: None,
            activities: vec![
                activity(0, 0, 2_000_000, ActivityKind::Send(id)),
                activity(1, 0, 8_000_000, ActivityKind::Idle),
                activity(1, 8, 10_000_000, ActivityKind::Receive(id)),
                activity(1, 10, 10_007_630, ActivityKind::Work("\"quoted\"\n".into())),
            ],
            progress: Vec::new(),
            messages: vec![Message {
                id,
                to: 1,
                words: 1,
                latency: 6 * US,
                place: 0,
                enter: 2 * US,
                first: 8 * US,
                arrival: 8 * US,
            }],
            calls: Vec::new(),
        }
    }

    #[test]
    fn error_says_which_call_is_wrong_and_where() {
        let kind = CallKind::Barrier;
        let trace = Trace { calls: vec![Call { id: 1, start: US, end: 2 * US, kind }], ..small() };
        let good = text(&trace);
        for (what, by, part) in [
            (r#""call":"barrier""#, r#""call":"sleep""#, "there is no `sleep`; "),
            (r#""call":"barrier""#, r#""calls":"barrier""#, r#"an event lacks its "call""#),
        ] {
            let refusal = Trace::read(good.replacen(what, by, 1).as_bytes()).unwrap_err().to_string();
            assert!(refusal.contains(part) && refusal.contains("at line 1"), "{refusal}"); // 18, or after it
        }
    }

    #[test]
    fn file_saved_by_a_viewer_is_read() {
        let text = text(&small()).replacen('{', r#"{"metadata":{"who":["a viewer"]},"#, 1);
        let text = text.replace(r#""dur":0.007630,"#, r#""dur":7.6e-3,"#);
        assert_eq!(Trace::read(text.as_bytes()), Ok(small()));
    }

    /// Old files don't name the model, and always have a G.
    #[test]
    fn machine_without_a_model_is_read() {
        let text = text(&small()).replacen(r#""model":"LogP","#, "", 1);
        let params = Params { long: LongMessages::LogGP { G: 4 * US }, ..small().params };
        assert_eq!(Trace::read(text.as_bytes()), Ok(Trace { params, ..small() }));
    }

    /// What a viewer shows is what is read.
    #[test]
    fn other_times_for_viewers_are_refused() {
        let kind = ActivityKind::Send(MessageId { from: 0, number: 0 });
        let trace = Trace {
            calls: vec![Call { id: 1, start: US, end: 2 * US, kind: CallKind::Barrier }],
            progress: vec![Progress { id: 0, request: 0, start: US, end: 3 * US, kind }],
            ..small()
        };
        let good = text(&trace);
        assert_eq!(Trace::read(good.as_bytes()), Ok(trace));
        for (what, by, part) in [
            (r#""dur":2,"#, r#""dur":3,"#, r#""send" of processor 0 has "dur" 3 us"#),
            (
                r#""ts":8,"dur":2,"#,
                r#""ts":8.002,"dur":2,"#,
                r#"has "ts" 8.002 us, and its exact times say 8 us"#,
            ),
            (r#""ts":8,"dur":2,"#, r#""dur":2,"#, r#"an event lacks its "ts""#),
            (
                r#""ts":1,"dur":1,"cat":"call""#,
                r#""ts":1,"dur":2,"cat":"call""#,
                r#""barrier" of processor 1"#,
            ),
            (
                r#""ts":2,"cat":"message""#,
                r#""ts":3,"cat":"message""#,
                r#""message" of processor 0 has "ts" 3 us"#,
            ),
            (
                r#""ts":8,"cat":"message""#,
                r#""ts":9,"cat":"message""#,
                r#""message" of processor 1 has "ts" 9 us"#,
            ),
            (
                r#""ts":2,"cat":"transit""#,
                r#""ts":1,"cat":"transit""#,
                r#""0 to 1" of processor 0 has "ts" 1 us"#,
            ),
            (
                r#""ts":8,"cat":"transit""#,
                r#""ts":7,"cat":"transit""#,
                r#""0 to 1" of processor 0 has "ts" 7 us"#,
            ),
            (
                r#""ts":3,"cat":"request""#,
                r#""ts":4,"cat":"request""#,
                "has \"ts\" 4 us, and its exact times say 3 us",
            ),
            (r#""ph":"f""#, r#""ph":"s""#, "no send or receive is before it"),
        ] {
            assert!(good.contains(what), "{what}: {good}");
            let refusal = Trace::read(good.replacen(what, by, 1).as_bytes()).unwrap_err().to_string();
            assert!(refusal.contains(part) && !refusal.contains('\n'), "{refusal}");
        }
    }

    #[test]
    fn errors_are_one_sentence() {
        let good = text(&small());
        for (what, by, part) in [
            (&*good, "", "it is empty"),
            ("{", "[", "begins neither like JSON"),
            (
                "otherData",
                "otherdata",
                "it is JSON of another kind, without the machine of a run (otherData)",
            ),
            (r#""L":6000000"#, r#""L":-1"#, "L = -1 ps is negative"),
            (r#""L":6000000"#, r#""L":6.5"#, "its machine has \"L\" 6.5, no whole number of picoseconds"),
            (r#""g":4000000,"#, "", r#"its machine lacks its "g""#),
            (
                r#""model":"LogP""#,
                r#""model":"LogGPS""#,
                r#"is said to be one of "LogGPS", and has the parameters of LogGP"#,
            ),
            (r#""G":4000000"#, r#""G":4000001"#, "its machine is one of LogP, and its G is not max(g, o)"),
            (r#""P":2"#, r#""P":0"#, "P = 0 is not a number of processors"),
            ("single", "triple", "there is no `triple`; "),
            (r#""end":8000000"#, r#""done":8000000"#, r#"an event lacks its "end""#),
            (r#""words":1,"#, "", r#"an event lacks its "words""#),
            (
                r#""idle","name":"idle""#,
                r#""idle","name":"sleep""#,
                r#"a processor does not do "idle" "sleep""#,
            ),
            ("]}", "", "it ends too early: a ] is missing, at line "),
            ("]}", "]}]", "something stands behind the end, at line "),
        ] {
            let refusal = Trace::read(good.replacen(what, by, 1).as_bytes()).unwrap_err().to_string();
            assert!(refusal.starts_with("this is not the trace of a run: "), "{refusal}");
            assert!(refusal.contains(part) && !refusal.contains('\n'), "{refusal}");
        }
    }

    proptest! {
        #[test]
        fn trace_is_read_back_exactly(trace in any_trace()) {
            prop_assert_eq!(Trace::read(text(&trace).as_bytes()), Ok(trace));
        }

        /// Reading a damaged file gives a trace or an error of one line.
        #[test]
        fn any_text_is_survived(
            trace in any_trace(),
            edits in vec((any::<Index>(), any::<Index>(), any::<u8>(), 0..4_u8), 1..6),
        ) {
            let mut text = text(&trace).into_bytes();
            for (position, other, byte, kind) in edits {
                if text.is_empty() {
                    break;
                }
                let (position, other) = (position.index(text.len()), other.index(text.len()));
                match kind {
                    0 => text[position] = byte,
                    1 => text.truncate(position),
                    2 => drop(text.drain(position.min(other)..position.max(other))),
                    _ => text.swap(position, other),
                }
            }
            if let Err(error) = Trace::read(&*text) {
                prop_assert!(!error.to_string().contains('\n'), "{}", error);
            }
        }

        #[test]
        fn any_bytes_are_survived(bytes in vec(any::<u8>(), 0..200)) {
            prop_assert!(Trace::read(&*bytes).is_err());
        }
    }
}

//! Section 5.2: the vendor's protocol on the CM-5.

use loggp::{Machine, Tag};

use crate::prelude::*;

pub(super) const PROTOCOL: Exhibit = Exhibit {
    id: "logp-sec5.2",
    place: "section 5.2",
    title: "the vendor's protocol on the CM-5",
    notes: "A pair of messages goes before the data of a synchronous send. Here it is run on a CM-5.",
    formulas: &["3(L + 2o) + ng (section 5.2)"],
    show: show_protocol,
    ..Exhibit::USUAL
};

const ASK: Tag<u64> = Tag::named(0, "ask");
const WORD: Tag<u64> = Tag::named(1, "word");

fn show_protocol(sheet: &mut Sheet) -> Result<(), StudyError> {
    let params @ Params { L, o, g, .. } = cm5(2);
    let mut missing = Vec::new();
    for words in [1, 10, 100] {
        let run = Machine::new(params).run(|p| {
            // A request and a reply precede the data.
            if p.id() == 0 {
                p.send(1, ASK, words as u64);
                p.recv(ASK);
                (0..words).for_each(|word| p.send(1, WORD, word as u64));
            } else {
                let request = p.recv(ASK);
                p.send(0, ASK, request);
                (0..words).for_each(|word| assert_eq!(p.recv(WORD), word as u64));
            }
        })?;
        missing.push(run.ran(|run| (3 * (L + 2 * o) + words * g - run.time).in_units(US)));
    }
    let quote = "This protocol is easily modeled in terms of our parameters as 3(L + 2o) + ng, where n is the number of words sent.";
    let what = "how much less a run takes than that, n = 1, 10, 100 [us]";
    sheet.add_claim(what, "5.2", quote, exactly(0.0), missing).expect_difference(
        DifferenceCause::Misprint,
        "the first of the n words waits for no gap: it is 3(L + 2o) + (n - 1)g",
        "the first of n words is there after L + 2o, and each other one g later: it is 3(L + 2o) + (n - 1)g",
    );
    Ok(())
}

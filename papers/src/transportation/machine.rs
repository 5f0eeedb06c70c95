//! Section 4: the machine of all exhibits of this paper, and its models of messages, combines and scans.

use loggp::Proc;
use loggp::collectives::{all_reduce_vector, scan_vector};

use super::machine;
use crate::prelude::*;

pub(super) const SECTION_4: Exhibit = Exhibit {
    id: "transport-sec4",
    place: "section 4",
    title: "the CM-5 of all exhibits, and its models of messages, combines and scans",
    notes: "All exhibits of this paper have this machine: o = 1.65 us is the mean of the paper's 1.6 us for a send and 1.7 us for a reception; g = 4 \
            us for a packet, since 20 bytes at the paper's 5 MB/s take 4 us; L = 6 us is LogP's, and a barrier of 5 us ours, as the paper has \
            neither.\n\
            Ports carry both directions at once. The paper's formulas say so: an iteration in which a processor sends s and receives s \
            takes mu s (section 5), and two stages in which each sends and receives t take 2 mu t. Its packets say so too: a send and a \
            reception keep a processor busy for 1.6 + 1.7 = 3.3 us, and a packet comes every 4 us.\n\
            The paper's machine combines and scans in its control network. Here messages do.",
    formulas: &[
        "exact: tau + mu M for a message of M words (section 4.2), with tau = L + 2o + g/4 - mu and mu = g/4",
        "order: phi_2 n/p for a combine and phi_3 n/p for a scan of n/p elements (section 4.2)",
    ],
    show,
    ..Exhibit::USUAL
};

/// Lengths of vectors and messages, each twice the one before.
const LENGTHS: [usize; 4] = [1024, 2048, 4096, 8192];

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let machine = super::cm5(32);
    let [o, g] = [machine.o, machine.g].map(in_us);
    let is_same = [o - (1.6 + 1.7) / 2.0, g - 20.0 / 5.0, machine.word.get() as f64 - 16.0];
    let what = "o in us from 1.6 and 1.7, g in us from 20 bytes at 5 MB/s, and a packet's 16 bytes";
    sheet.add_read_back(what, "4.1", is_same.map(|off| off.abs() < 1e-9)).of_numbers(5);
    let quote = "a peak bandwidth of 20 megabytes per second and 10 megabytes per second, respectively, can be achieved";
    let why =
        "the model has one bandwidth for all pairs, and the paper's own analysis does too (section 4.2)";
    sheet.add_out_of_reach("faster ways within clusters of 4 and 16 nodes", "4.1", quote, why).of_numbers(2);
    let quote = "The time taken to send a message from one node on the CM-5 to another can be modeled as";
    let times = LENGTHS.iter().map(|words| message_time(sheet.lab, *words)).collect::<Result<Vec<_>, _>>()?;
    let more = |(pair, words): (&[Ran<Time>], usize)| {
        pair[1].map(|longer| in_us(longer - pair[0].value()) / words as f64)
    };
    let more = times.windows(2).zip(LENGTHS).map(more);
    let what = "what each word more adds to a message [us], from 1,024 to 8,192 words: mu = 1";
    sheet.add_claim(what, "4.2", quote, exactly(1.0), more);
    add_collective(
        sheet,
        "combine",
        "This operation can be completed in O(\u{3d5}_2 n/p) time on the CM-5",
        |p, vector| all_reduce_vector(p, vector, |a, b| a + b),
    )?;
    add_collective(
        sheet,
        "scan",
        "This operation can be completed in O(\u{3d5}_3 n/p) time on the CM-5",
        |p, vector| scan_vector(p, vector, |a, b| a + b),
    )
}

/// Returns the time of a message of some words.
fn message_time(lab: &Lab, words: usize) -> Result<Ran<Time>, StudyError> {
    const DATA: loggp::Tag<Vec<u32>> = loggp::Tag::named(0, "data");
    let run = machine(2).run(|p| match p.id() {
        0 => p.send(1, DATA, vec![0; words]),
        _ => assert_eq!(p.recv(DATA).len(), words),
    })?;
    lab.summary.borrow_mut().virtual_runs += 1;
    Ok(run.ran(|run| run.time))
}

/// Adds the time of a combine or a scan: in proportion to n/p, with a small constant, whatever p is.
fn add_collective(
    sheet: &mut Sheet,
    name: &str,
    quote: &str,
    collective: fn(&mut Proc, Vec<u32>) -> Vec<u32>,
) -> Result<(), StudyError> {
    let lab = sheet.lab;
    let time = |P: usize, length: usize| {
        let run = machine(P).run(|p| collective(p, vec![1; length]).len())?;
        lab.summary.borrow_mut().virtual_runs += 1;
        Ok::<_, StudyError>(run.ran(|run| in_us(run.time)))
    };
    let times = LENGTHS.iter().map(|length| time(32, *length)).collect::<Result<Vec<_>, _>>()?;
    let rule = between(1.8, 2.2).because("in proportion, but for the terms without n");
    let what = format!("time of a {name}, P = 32: n/p = 2,048, 4,096 and 8,192 over half as much");
    sheet.add_claim(what, "4.2", quote, rule, times.windows(2).map(|pair| pair[1] / pair[0]));
    let rule = between(1.0, 4.0).because("small is of the order of section 7.3's 2 to 3");
    let what = format!("time of a {name} for an element over mu, n/p = 1,024 to 8,192, P = 32");
    let ours = times.iter().zip(LENGTHS).map(|(time, length)| *time / length as f64);
    sheet.add_claim(what, "4.2", quote, rule, ours);
    let rule = between(0.8, 1.25).because("the paper's time does not depend on p");
    let what = format!("time of a {name} of n/p = 8,192 elements: P = 8 and 16 over P = 32");
    let ours = [8, 16].map(|P| time(P, 8192).map(|time| time / times[3]));
    sheet.add_claim(what, "4.2", quote, rule, ours.into_iter().collect::<Result<Vec<_>, _>>()?);
    Ok(())
}

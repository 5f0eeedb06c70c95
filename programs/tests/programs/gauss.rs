//! Gaussian elimination: messages and times by hand, and matrices that are hard or singular.

use loggp::{NS, PS, Params, Time, US, Work};
use loggp_programs::gauss::{FLOP, GAUSS};
use loggp_programs::lu::{self, LU};
use loggp_programs::math::dense::entries::{ENTRIES, Entries};
use loggp_programs::{Case, Emulation};
use loggp_study::Study;

use crate::case::{model, outcome, params};

fn case(algorithm: &str, params: Params, n: usize) -> Case {
    Case { size: n, ..Case::new(&GAUSS, algorithm, params) }
}

/// Returns machines of LogP, LogGP and LogGPS. On those of LogGPS rows wait for their receivers, and on the
/// last one pivots too.
fn machines(P: usize) -> [Params; 4] {
    let gps = "O_s=3ns,O_r=2ns,G_s=100ns,G_l=-1ns";
    ["", "G=100ns", &format!("{gps},s=40,S=80"), &format!("{gps},s=0,S=0")]
        .map(|more| params(format!("L=6,o=2,g=4,word=1,P={P},{more}").trim_end_matches(',')))
}

/// Each other processor is sent one message for a pivot, two for the four rows of a block, and one with a
/// block's unknowns.
#[test]
fn processors_send_what_the_others_need_and_no_more() {
    for (n, P) in [(64, 16), (64, 5), (61, 4), (7, 3), (3, 4), (64, 1)] {
        let run = outcome(&case("whole", machines(P)[1], n), &Emulation::default()).run;
        let (blocks, with_rows) = (n.div_ceil(4), (n - 1) / 4);
        assert_eq!(run.messages(), ((P - 1) * (n + 2 * with_rows + blocks)) as u64, "{n} {P}");
    }
}

/// Of a shared block each other processor is sent one message for a pivot, the three others who share it one
/// for a row, and each of the other fours four with the block. An unknown goes round alone.
#[test]
fn sharers_send_what_the_others_need_and_no_more() {
    for (n, P) in [(64, 16), (64, 8), (61, 4), (7, 12), (1, 4)] {
        let run = outcome(&case("shared", machines(P)[1], n), &Emulation::default()).run;
        let blocks = (n - 1) / 4 * (P - 4);
        assert_eq!(run.messages(), ((P - 1) * 2 * n + 3 * (n - 1) + blocks) as u64, "{n} {P}");
    }
}

/// Three quarters of 16 processors send one message of 16(n-4j) bytes for the j-th block.
#[test]
fn a_shared_block_travels_in_messages_of_16_bytes_a_column() {
    let run = outcome(&case("shared", machines(16)[2], 128), &Emulation::with_trace()).run;
    let messages = run.trace.unwrap().messages;
    // Shorter ones may be rows, of up to 4 * 127 bytes.
    for j in 1..24 {
        let bytes = 16 * (128 - 4 * j);
        assert_eq!(messages.iter().filter(|message| message.words == bytes).count(), 12, "{j}");
    }
}

/// The smallest case by hand: one block of one row, on two processors.
#[test]
fn one_equation_takes_as_long_as_by_hand() {
    let params = Params::builder(2).L(6 * US).o(2 * US).g(4 * US).G(US).word(8).build().unwrap();
    let case = case("whole", params, 1).with(&FLOP, US);
    // A search and a division take 2, and the pivot of two words takes o, G, L, o. The unknown takes no
    // flops, but waits for the gap after the pivot's second word: 2 + 2 + 1 + 4 = 9. It arrives at 9 + 6, and
    // is received 2 later.
    assert_eq!(model(&case), 17 * US);
}

/// Without pivoting a 1e-20 on the diagonal would ruin the rest, and a 0 would end the elimination.
#[test]
fn pivoting_keeps_small_diagonals_accurate() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("matrix.csv");
    let texts =
        ["1e-20, 1\n1, 1\n", "0, 1\n1, 0\n", "0, 0, 2\n1e-18, 3, 0\n5, 1, 1\n", "1e-300, 1\n1e-300, 2\n"];
    let machines_and_texts = [("whole", 1), ("whole", 2), ("whole", 5), ("shared", 4), ("shared", 8)];
    for ((algorithm, P), text) in machines_and_texts.into_iter().flat_map(|one| texts.map(|text| (one, text)))
    {
        std::fs::write(&file, text).unwrap();
        let case =
            case(algorithm, machines(P)[1], text.lines().count()).with(&ENTRIES, Entries::File(file.clone()));
        let residual = outcome(&case, &Emulation::default()).metric("scaled residual").unwrap();
        assert!(residual < 1.0, "{text}: {residual}");
    }
}

#[test]
fn a_singular_matrix_is_reported_in_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("singular.csv");
    std::fs::write(&file, "1, 0, 0, 4\n0, 2, 1, 0\n1, 2, 1, 4\n3, 1, 1, 0\n").unwrap();
    for (algorithm, P) in
        [("whole", 1), ("whole", 2), ("whole", 4), ("whole", 6), ("shared", 4), ("shared", 8)]
    {
        for (number, params) in machines(P).into_iter().enumerate() {
            let why =
                |case: Case| case.plan().unwrap().run(&Emulation::default()).unwrap().verified.unwrap_err();
            let zeros = case(algorithm, params, 30).with(&ENTRIES, Entries::Singular);
            let sentence = "A is singular, so there is no one solution: row 30 depends on those before it, and has no pivot";
            assert_eq!(why(zeros), sentence, "{P} {number}");
            let sum = case(algorithm, params, 4).with(&ENTRIES, Entries::File(file.clone()));
            assert_eq!(why(sum), sentence.replace("30", "3"), "{P} {number}");
        }
    }
}

/// If no message waits for its receiver there is nothing to fragment.
#[test]
fn fragments_take_the_same_time_without_S() {
    let time = |algorithm: &str, P: usize| {
        let case = case(algorithm, machines(P)[0], 50).with(&ENTRIES, Entries::Orthogonal);
        model(&case)
    };
    for P in [1, 3, 16] {
        assert_eq!(time("whole", P), time("fragmented", P));
    }
    assert_eq!(time("shared", 16), time("shared-fragmented", 16));
}

/// An option that programs share has a default for each.
#[test]
fn the_default_of_flop_differs_by_program() {
    let params = machines(4)[1];
    assert_eq!(Case::new(&GAUSS, "whole", params).get(&FLOP), 10_800 * PS);
    assert_eq!(Case::new(&LU, "grid-cyclic", params).get(&lu::FLOP), 450 * NS);
}

#[test]
fn measured_work_is_right_too() {
    for (algorithm, P) in [("whole", 3), ("fragmented", 3), ("shared", 8), ("shared-fragmented", 8)] {
        let case = Case { work: Work::Measured, ..case(algorithm, machines(P)[2], 120) };
        let answers = Study::new(case).run().unwrap();
        assert_eq!(answers.wrong, None);
        assert!(answers.prediction.model.is_some_and(|time| time > Time::ZERO));
    }
}

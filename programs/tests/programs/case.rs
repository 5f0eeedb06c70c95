//! Shorthands for cases of programs.

use loggp::{Params, Time};
use loggp_programs::math::dense::entries::{ENTRIES, Entries};
use loggp_programs::{Case, Emulation, FormKind, Outcome, PROGRAMS, Program};

/// Returns a case of a program, by its algorithm's name.
pub(crate) fn case(program: &'static Program, algorithm: &str, params: Params, size: usize) -> Case {
    Case { size, ..Case::new(program, algorithm, params) }
}

/// Returns the parameters in a text, such as `P=8,L=6us`.
pub(crate) fn params(text: &str) -> Params {
    Params::builder(1).set(text).unwrap().build().unwrap()
}

/// Returns the time by the paper's formula, or `None` if there is none.
pub(crate) fn formula(case: &Case) -> Option<Time> {
    case.plan().unwrap().formula()
}

/// Asserts that the model's time is what the closed form says of it. Returns the form's kind, and how much
/// more the model takes.
pub(crate) fn check_form(case: &Case) -> Option<(FormKind, Time)> {
    let form = case.plan().unwrap().form()?;
    let off = model(case) - form.time;
    let is_so = match form.kind {
        FormKind::Exact => off == Time::ZERO,
        FormKind::UpperBound => off <= Time::ZERO,
        FormKind::LowerBound => off >= Time::ZERO,
        FormKind::Estimate => true,
    };
    let Case { program, algorithm, params, levels, ports, ties, barrier, size, seed, .. } = case;
    assert!(
        is_so,
        "{form} of {}, and the model takes {off} more: {} {} of {size}, {params:?}, {levels:?}, {ports}, {ties}, \
         {barrier:?}, seed {seed}, {:?}",
        form.time,
        program.name,
        algorithm.name,
        case.options.iter().map(ToString::to_string).collect::<Vec<_>>(),
    );
    Some((form.kind, off))
}

/// Returns the time of a case on the virtual clock.
pub(crate) fn model(case: &Case) -> Time {
    outcome(case, &Emulation::default()).run.time
}

/// Runs a case, and checks that its result is right. Hilbert's matrix may be reported as singular.
pub(crate) fn outcome(case: &Case, emulation: &Emulation) -> Outcome {
    let outcome = case.plan().unwrap().run(emulation).unwrap_or_else(|e| panic!("{case:?}: {e}"));
    let is_nearly_singular =
        case.program.option("entries").is_some() && case.get(&ENTRIES) == Entries::Hilbert;
    let allowed = |why: &String| is_nearly_singular && why.starts_with("A is singular");
    assert!(outcome.verified.as_ref().err().is_none_or(allowed), "{case:?}: {:?}", outcome.verified);
    outcome
}

/// Returns why a case is refused, or an empty text. The words are a program, an algorithm, and the case's
/// parameters, size and options: `lu grid-cyclic P=6 size=9 grid=2x2`.
pub(crate) fn refusal(words: &str) -> String {
    let (names, settings): (Vec<&str>, Vec<&str>) = words.split(' ').partition(|word| !word.contains('='));
    let settings = || settings.iter().map(|word| word.split_once('=').unwrap());
    let setting = |wanted: &str| settings().find(|(name, _)| *name == wanted).map(|(_, value)| value);
    let machine = match (setting("machine"), setting("S")) {
        (Some(name), _) => loggp::preset(name).unwrap().builder(),
        (_, Some(S)) => Params::builder(1).set(&format!("L=6,o=2,g=4,G_s=1,s=0,S={S}")).unwrap(),
        _ => Params::builder(1).set("L=6,o=2,g=4,G=1,word=4").unwrap(),
    };
    let params = machine.set(&format!("P={}", setting("P").unwrap_or("4"))).unwrap().build().unwrap();
    let program = PROGRAMS.iter().find(|program| program.name == names[0]).unwrap();
    let mut case = Case::new(program, names[1], params);
    for (name, value) in settings() {
        match name {
            "P" | "S" | "machine" => (),
            "size" => case.size = value.parse().unwrap(),
            _ => match case.clone().with_text(name, value) {
                Ok(with_option) => case = with_option,
                Err(why) => return why.to_string(),
            },
        }
    }
    case.check().map_or_else(|why| why.to_string(), |()| String::new())
}

//! The fastest algorithm on a machine, and the fastest values of its options.

use std::slice;

use loggp::Time;
use loggp_programs::{Case, Emulation, FormKind, FormTime, OptionValue};

use super::parallel::run_in_order;
use super::{Study, StudyError, relative_error};

/// A case that may be the fastest.
#[derive(Debug)]
pub struct Candidate {
    pub case: Case,
    /// Values of the options that were chosen.
    pub choices: Vec<OptionValue>,
    /// Its closed form.
    pub form: Option<FormTime>,
    /// Time on the virtual clock; `None` if it was not run, as the formula is exact.
    pub model: Option<Time>,
    /// Error in the result of its run.
    pub wrong: Option<String>,
    /// Its number among all, in the order of algorithms and choices.
    number: usize,
}

/// Candidates by their time.
#[derive(Debug, Default)]
pub struct Tuning {
    /// From the fastest; among equals in the order of algorithms and choices.
    pub candidates: Vec<Candidate>,
    /// Cases whose run failed, and why.
    pub failed: Vec<(Case, StudyError)>,
}

impl Candidate {
    /// Returns its time: by the model, or by a formula that equals it.
    pub fn time(&self) -> Option<Time> {
        self.model.or(self.formula())
    }

    /// Returns its time by the closed form.
    pub fn formula(&self) -> Option<Time> {
        self.form.map(|form| form.time)
    }

    /// Returns by which part of the formula's time the model takes more, if the formula excludes that.
    pub fn contradiction(&self) -> Option<f64> {
        let form = self.form?;
        relative_error(self.model?, form.time).filter(|error| !form.kind.allows(*error))
    }

    fn is_exact(&self) -> bool {
        self.form.is_some_and(|form| form.kind == FormKind::Exact)
    }
}

impl Tuning {
    /// Finds the times of cases of several algorithms, each with all choices of its options whose names are
    /// `is_open`. Runs them on several threads, and calls `done` after each run.
    pub fn run(
        cases: &[Case],
        is_open: impl Fn(&str) -> bool,
        emulation: &Emulation,
        threads: usize,
        done: impl Fn(&Case) + Sync,
    ) -> Tuning {
        let mut tuning = Tuning::default();
        let mut groups: Vec<Vec<Candidate>> = cases.iter().map(|case| candidates(case, &is_open)).collect();
        groups.iter_mut().flatten().enumerate().for_each(|(number, candidate)| candidate.number = number);
        groups.iter_mut().for_each(|group| group.sort_by_key(Candidate::formula));
        // Of an algorithm the cases with the least and the greatest time by the formula are run, and all whose
        // formula is not exact, or is not the model's time in these two.
        let ends = groups.iter_mut().flat_map(take_ends).collect();
        tuning.add(ends, emulation, threads, &done);
        let contradicted = tuning.candidates.iter().filter(|candidate| candidate.contradiction().is_some());
        let contradicted: Vec<&str> = contradicted.map(|candidate| candidate.case.algorithm.name).collect();
        let is_contradicted = |candidate: &Candidate| contradicted.contains(&candidate.case.algorithm.name);
        let (believed, others): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .flatten()
            .partition(|candidate| candidate.is_exact() && !is_contradicted(candidate));
        tuning.add(others, emulation, threads, &done);
        tuning.candidates.extend(believed);
        tuning.candidates.sort_by_key(|candidate| (candidate.time(), candidate.number));
        tuning
    }

    /// Runs candidates, and adds their rows.
    fn add(
        &mut self,
        candidates: Vec<Candidate>,
        emulation: &Emulation,
        threads: usize,
        done: &(impl Fn(&Case) + Sync),
    ) {
        let run = |candidate: &Candidate| {
            let study = Study { emulation: emulation.clone(), ..Study::new(candidate.case.clone()) };
            let answers = study.run();
            done(&candidate.case);
            answers
        };
        let told: Result<(), ()> =
            run_in_order(candidates.into_iter(), threads, run, |candidate, answers| {
                match answers {
                    Ok(answers) => {
                        let (model, wrong) = (answers.prediction.model, answers.wrong);
                        self.candidates.push(Candidate { model, wrong, ..candidate });
                    }
                    Err(why) => self.failed.push((candidate.case, why)),
                }
                Ok(())
            });
        debug_assert!(told.is_ok());
    }
}

/// Takes the first and the last out of a group.
fn take_ends(group: &mut Vec<Candidate>) -> Vec<Candidate> {
    let last = if group.len() > 1 { group.pop() } else { None };
    let first = if group.is_empty() { None } else { Some(group.remove(0)) };
    first.into_iter().chain(last).collect()
}

/// Returns a case with all choices of its open options that can be run, the default ones first.
fn candidates(case: &Case, is_open: impl Fn(&str) -> bool) -> Vec<Candidate> {
    let mut all = vec![(case.clone(), Vec::new())];
    for value in &case.options {
        let (option, info) = (value.option(), value.option().info());
        let is_had = info.algorithms.is_empty() || info.algorithms.contains(&case.algorithm.name);
        let mut texts = (info.choices)(case.params.P, case.size);
        if !is_had || !is_open(option.name()) || texts.is_empty() {
            continue;
        }
        texts.sort_by_key(|text| *text != option.default().text());
        let values: Vec<OptionValue> = texts.iter().filter_map(|text| option.read(text).ok()).collect();
        let with = |(case, choices): &(Case, Vec<OptionValue>)| {
            let with = |value: &OptionValue| {
                (case.clone().with_value(value.clone()), [&choices[..], slice::from_ref(value)].concat())
            };
            values.iter().map(with).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    let candidate = |(case, choices): (Case, Vec<OptionValue>)| {
        let form = case.plan().ok().map(|plan| plan.form())?;
        Some(Candidate { case, choices, form, model: None, wrong: None, number: 0 })
    };
    all.into_iter().filter_map(candidate).collect()
}

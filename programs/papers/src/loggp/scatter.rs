//! Figures 11 and 12: the scatters on the Meiko CS-2 with its Elan library.

use loggp::US;

use super::super::{Answer, Check, Exhibit, Finding, Lab, Runs, Seconds};
use super::common::{amount, colour, cs2};
use crate::pictures::curves::curves;
use loggp_draw::digits::{exact, rough, rough_percent};
use loggp_draw::plot::{Plot, Scale};
use loggp_programs::Case;
use loggp_programs::scatter::{ALPHA, SCATTER};
use loggp_study::{Failed, Prediction};

/// Figure 11.
pub const FIGURE_11: Exhibit = Exhibit {
    id: "loggp-fig11",
    place: "figure 11",
    title: "three scatters on the Meiko CS-2",
    says: &[
        "Simple Long-Message, Binomial Tree and optimal algorithm on 64 processors with the Elan library, over the number of items.",
        "The predicted times closely match the measured ones.",
        "With the parameters of this machine the optimal algorithm is exactly the Binomial Tree; they differ slightly in the \
         measurement by experimental error, and it would take more processors to see a difference that is significant.",
    ],
    formulas: &[
        "Simple Long-Message: (P-2)((k-1)G + g) + (k-1)G + L + 2o (table 2)",
        "Binomial Tree: max(L + 2o, g)(log2 P - 1) + L + 2o + ((P-1)k - log2 P)G (table 2)",
        "optimal: t(n) = min over s of (sk-1)G + max(L + 2o + t(s), g + t(n-s)) (section 4.7)",
    ],
    commands: &["loggp compare scatter optimal binomial long --machine cs2-elan --size 128"],
    seconds: Seconds { quick: 2.0, full: 10.0 },
    make: three,
};

/// Figure 12.
pub const FIGURE_12: Exhibit = Exhibit {
    id: "loggp-fig12",
    place: "figure 12",
    title: "a scatter with a fixed splitting ratio",
    says: &[
        "k = 128 items (512 bytes) on 64 processors with the Elan library; every owner of n sets sends alpha n of them.",
        "Predicted and measured times match closely.",
        "The optimal alpha is 0.5, which is the Binomial Tree.",
    ],
    formulas: &[
        "t(n) = (sk-1)G + max(L + 2o + t(s), g + t(n-s)) with s = max(floor(n alpha), 1) (sections 4.6 and 4.7)",
    ],
    commands: &[
        "loggp compare scatter fixed --alpha 0.5 --machine cs2-elan --size 128",
        "loggp sweep scatter fixed --machine cs2-elan --size 128 --over alpha=0.1..0.9:9",
    ],
    seconds: Seconds { quick: 1.0, full: 8.0 },
    make: ratios,
};

const P: usize = 64;

fn three(lab: &Lab) -> Result<Finding, Failed> {
    let sizes: Vec<usize> =
        lab.pick(vec![1, 16, 64, 128, 256], vec![1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]);
    let params = cs2("cs2-elan", P);
    let mut runs = Runs::new("times", "How long the scatters take", &["algorithm", "items"], ("us", US));
    let mut lines = Vec::new();
    let mut all: Vec<Vec<Prediction>> = Vec::new();
    for (number, algorithm) in ["optimal", "binomial", "long"].into_iter().enumerate() {
        let mut points: Vec<(f64, Prediction)> = Vec::new();
        for (step, size) in sizes.iter().copied().enumerate() {
            let answers = lab.measured(Case { size, ..Case::new(&SCATTER, algorithm, params) })?;
            runs.push(&[algorithm, &size.to_string()], None, &answers);
            points.push((size as f64, answers.prediction));
            lab.done((number * sizes.len() + step + 1) as f64 / (3 * sizes.len()) as f64);
        }
        lines.extend(curves(algorithm, colour(algorithm), &points, |_, time| amount(time)));
        all.push(points.into_iter().map(|(_, times)| times).collect());
    }
    let faster = |(optimal, binomial): (&Prediction, &Prediction)| {
        Some(optimal.model?.in_units(binomial.model?) - 1.0)
    };
    let faster: Vec<f64> = all[0].iter().zip(&all[1]).filter_map(faster).collect();
    let (first, last) = (faster[0], faster[faster.len() - 1]);
    let errors = all.iter().flatten().filter_map(Prediction::error_formula);
    let farthest = errors.fold(0.0_f64, |most, error| most.max(error.abs()));
    let (way, g) = (exact(amount(params.L + 2 * params.o)), exact(amount(params.g)));
    let compared = format!(
        "{} with one item, {} with {}",
        rough_percent(first),
        rough_percent(last),
        sizes[sizes.len() - 1]
    );
    let checks = [
        Check::claim(
            "the optimal algorithm against the Binomial Tree",
            "exactly the same",
            compared.clone(),
            faster.iter().all(|part| *part == 0.0),
        )
        .because(&format!(
            "halves are optimal where L + 2o = g (section 4.6), and table 1 has {way} us and {g} us: the paper's own recurrence \
             splits other than in halves and is a little faster"
        )),
        Check::claim(
            "how much the two differ",
            "not significantly: slightly, in the measurement",
            compared.clone(),
            faster.iter().all(|part| part.abs() < 0.05),
        ),
        Check::claim(
            "the formulas against the model",
            "predicted times closely match",
            format!("within {:.2}%", 100.0 * farthest),
            farthest < 0.01,
        ),
    ];
    let verdict = format!(
        "The formulas are the model's times. With table 1's parameters the optimal algorithm is not quite the Binomial Tree, as L + 2o = \
         {way} us is more than g = {g} us; it takes {compared}, too little for the paper to have seen it."
    );
    let plot = Plot::new("Scatter on 64 processors of the CS-2", "")
        .x("items per processor, 4 bytes each", Scale::Linear)
        .y("time [us]", Scale::Linear)
        .lines(lines);
    let caption = "The time to give each processor its items. Optimal and binomial lie on each other.";
    Ok(Finding::new(verdict).picture("", caption, plot.svg()).checks(checks).table(runs.table()))
}

fn ratios(lab: &Lab) -> Result<Finding, Failed> {
    /// The ratios of the formula, in hundredths.
    const ALL: std::ops::RangeInclusive<usize> = 5..=95;
    let params = cs2("cs2-elan", P);
    let every = lab.pick(10, 5);
    let case = |algorithm| Case { size: 128, ..Case::new(&SCATTER, algorithm, params) };
    let mut runs = Runs::new("times", "How long the scatter takes", &["alpha"], ("us", US));
    let mut points: Vec<(f64, Prediction)> = Vec::new();
    for hundredths in ALL {
        let alpha = hundredths as f64 / 100.0;
        let case = case("fixed").with(&ALPHA, alpha);
        let answers = if hundredths % every == 0 { lab.measured(case)? } else { lab.model(case)? };
        if hundredths % every == 0 || hundredths == 49 {
            runs.push(&[&alpha.to_string()], None, &answers);
        }
        points.push((alpha, answers.prediction));
        lab.done((hundredths - ALL.start() + 1) as f64 / ALL.count() as f64);
    }
    let time = |times: &Prediction| times.model.unwrap_or_default();
    let (best, least) = points.iter().min_by_key(|(_, times)| time(times)).expect("there are ratios");
    let at = |alpha: f64| {
        points.iter().find(|(other, _)| *other == alpha).map(|(_, times)| time(times)).unwrap_or_default()
    };
    let (halves, binomial) = (at(0.5), lab.model(case("binomial"))?.prediction.model.unwrap_or_default());
    let tenths = points.iter().filter(|(alpha, _)| ((alpha * 10.0).round() - alpha * 10.0).abs() < 1e-9);
    let (best_tenth, _) = tenths.min_by_key(|(_, times)| time(times)).expect("there are tenths");
    let farthest = points
        .iter()
        .filter_map(|(_, times)| times.error_formula())
        .fold(0.0_f64, |most, error| most.max(error.abs()));
    let checks = [
        Check::equal("the best alpha of all tenths", "0.5", *best_tenth),
        Check::equal("the best alpha of all hundredths", "0.5", *best),
        Check::claim(
            "alpha = 0.5",
            "the Binomial Tree",
            format!("{} and {} us", exact(amount(halves)), exact(amount(binomial))),
            halves == binomial,
        ),
        Check::claim(
            "the formula against the model",
            "predicted and measured match closely",
            format!("within {:.2}%", 100.0 * farthest),
            farthest < 0.01,
        )
        .by(Answer::Model),
    ];
    let verdict = format!(
        "The best ratio is {} as the paper reads it off, to a tenth. In steps of a hundredth it is {}, {} from that of halves, since \
         L + 2o is a little more than g.",
        rough(*best_tenth),
        rough(*best),
        rough_percent(amount(time(least)) / amount(halves) - 1.0)
    );
    let plot = Plot::new("Scatter with a fixed splitting ratio, 64 processors of the CS-2, k = 128", "")
        .x("alpha", Scale::Linear)
        .y("time [us]", Scale::Linear)
        .lines(curves("fixed", colour("fixed"), &points, |_, time| amount(time)));
    let caption = "The time over the part of its sets that every source sends on.";
    Ok(Finding::new(verdict).picture("", caption, plot.svg()).checks(checks).table(runs.table()))
}

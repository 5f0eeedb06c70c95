//! What the paper's examples give, and that nothing else differs than what is known to.

use super::PAPER;
use crate::Emulation;
use crate::reproduce::{Lab, Outcome};

/// The exhibits that take a moment only.
#[test]
fn only_what_is_known_differs() {
    for exhibit in PAPER.exhibits {
        let lab = Lab {
            full: false,
            seed: 1,
            repeat: 1,
            emulation: Emulation::default(),
            progress: &|_| (),
            held: Default::default(),
        };
        let start = std::time::Instant::now();
        let finding = (exhibit.make)(&lab).unwrap();
        assert!(lab.held.borrow().wrong.is_empty(), "{}", exhibit.id);
        let differs = finding.checks.iter().filter(|check| check.outcome == Outcome::Differs);
        let differs: Vec<&str> = differs.map(|check| &*check.what).collect();
        if std::env::var("SHOW").is_ok() {
            println!("=== {} {:?} {}", exhibit.id, start.elapsed(), finding.verdict);
            for check in &finding.checks {
                println!(
                    "{:?} {} | {} | {} | {:?} {:?}",
                    check.outcome, check.what, check.paper, check.ours, check.by, check.reason
                );
            }
            for table in &finding.tables {
                println!("# {}", table.title);
                println!("{}", table.columns.iter().map(|c| c.heading()).collect::<Vec<_>>().join(" | "));
                for row in &table.rows {
                    println!(
                        "{}",
                        row.iter()
                            .zip(&table.columns)
                            .map(|(c, k)| k.shown(c))
                            .collect::<Vec<_>>()
                            .join(" | ")
                    );
                }
            }
            for picture in &finding.pictures {
                std::fs::write(format!("/tmp/tp/{}-{}.svg", exhibit.id, picture.name), &picture.svg).unwrap();
            }
            println!("differs {differs:?}");
        }
    }
}

//! The picture of a curve, as Shen et al. draw it (LLAMP, SC 2024): the time of the run and its slope, over
//! zones in which the run is up to 1, 2 and 5% longer.

use loggp::Time;
use loggp_draw::palette::{GREEN, Ink, ORANGE, VERMILLION, YELLOW};
use loggp_draw::zones::{Zone, ZonePanel, ZonePlot};
use loggp_study::rows::tolerance::{PARTS, ToleranceRow};

use crate::error::CliError;
use crate::number::Unit;

/// The colour of each zone, and that of what lies above.
const INKS: [Ink; 3] = [GREEN, YELLOW, ORANGE];
const ABOVE: Ink = VERMILLION;

/// Draws the first curve that is known in full.
pub(super) fn svg(rows: &[ToleranceRow], heading: &str, unit: Unit) -> Result<String, CliError> {
    let refuse = || {
        CliError::request(
            "a picture shows how one parameter grows; give --parameter L, say, and leave out --no-pieces",
        )
    };
    if rows.iter().any(|row| !row.is_known()) {
        return Err(CliError::request("there is no picture: how much the run tolerates is not known"));
    }
    let row = rows.iter().find(|row| row.is_whole).ok_or_else(refuse)?;
    let curve = &row.curve;
    let name = curve.parameter.name();
    let amount = |value: i64| unit.amount(Time::from_ps(value));
    let mut times = Vec::new();
    let mut slopes = Vec::new();
    for piece in &curve.pieces {
        for value in [piece.from, piece.until] {
            times.push((amount(value), unit.amount(piece.time_at(value))));
            slopes.push((amount(value), piece.slope as f64));
        }
    }
    let mut zones = Vec::new();
    let mut from = curve.value;
    for (part, ink) in PARTS.into_iter().zip(INKS) {
        let until = curve.tolerated(part).unwrap_or(curve.end).min(curve.end);
        if until > from {
            zones.push(Zone {
                label: format!("up to {part}% longer"),
                ink,
                range: amount(from)..amount(until),
            });
        }
        from = until;
    }
    if curve.end > from {
        let label = format!("more than {}% longer", PARTS[2]);
        zones.push(Zone { label, ink: ABOVE, range: amount(from)..amount(curve.end) });
    }
    let (title, subtitle) = heading.split_once('\n').unwrap_or((heading, ""));
    let panel = |y: String, height, has_zero, points| ZonePanel { y, height, has_zero, points };
    let plot = ZonePlot {
        title: format!("How much {name} {title} tolerates"),
        subtitle: subtitle.into(),
        x: format!("{name} [{}]", unit.name),
        panels: vec![
            panel(format!("time [{}]", unit.name), 250.0, false, times),
            panel(format!("{name} on the critical path"), 120.0, true, slopes),
        ],
        zones,
        mark: (
            amount(curve.value),
            format!("the machine's {name}, {}", unit.show(Time::from_ps(curve.value))),
        ),
    };
    Ok(plot.svg())
}

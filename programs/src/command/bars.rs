//! Where time went as stacked bars, as in LogGPS's figure 6: one for each processor of a run, or the mean of each run.

use loggp::Time;
use loggp_programs::plot::{Axis, Drawing, GREY, PALE, Scale, style};
use loggp_programs::study::analysis::accounts::{Account, Accounts};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::accounting::Row;
use super::failure::Failure;
use super::number::{Unit, rough};

/// A layer of every bar: what it shows, its colour, and the accounts that are in it.
struct Layer {
    /// What the legend says.
    name: &'static str,
    /// A colour that everyone can tell from those beside it (Okabe and Ito, 2008), or white for what is not used.
    colour: RGBColor,
    /// What it shows.
    accounts: &'static [Account],
}

/// From the bottom up: what is done, what LogGPS calls synchronization, and waits.
const LAYERS: [Layer; 8] = [
    Layer { name: "computation", colour: RGBColor(0, 114, 178), accounts: &[Account::Computation] },
    Layer { name: "overhead", colour: RGBColor(240, 228, 66), accounts: &[Account::Send, Account::Receive] },
    Layer { name: "handshake", colour: RGBColor(204, 121, 167), accounts: &[Account::Handshake] },
    Layer { name: "sender sync", colour: RGBColor(213, 94, 0), accounts: &[Account::SenderSync] },
    Layer { name: "receiver sync", colour: RGBColor(86, 180, 233), accounts: &[Account::ReceiverSync] },
    Layer {
        name: "stall, gap, port",
        colour: RGBColor(0, 0, 0),
        accounts: &[Account::Stall, Account::Gap, Account::Port],
    },
    Layer {
        name: "barrier, idle",
        colour: RGBColor(150, 150, 150),
        accounts: &[Account::Barrier, Account::Idle],
    },
    Layer { name: "end", colour: RGBColor(255, 255, 255), accounts: &[Account::End] },
];

/// A bar.
struct Bar {
    /// What stands below it.
    label: String,
    /// How high each layer is.
    heights: [f64; LAYERS.len()],
}

/// The height of the bars with their axis.
const HEIGHT: u32 = 430;
/// What is above the bars.
const HEAD: u32 = 66;
/// The width and the height of an entry of the legend.
const ENTRY: (u32, u32) = (138, 26);
/// The width of a letter, at most.
const LETTER: u32 = 8;
/// The room at the left for the numbers, and at the right.
const SIDES: (u32, u32) = (86, 24);
/// The least and the greatest width of the bars together.
const WIDTHS: (u32, u32) = (650, 1600);
/// The room for one bar, at least, so that it can be seen, and at most, so that few bars are no blocks.
const SLOT: (u32, u32) = (3, 110);

/// Draws runs as SVG: a single one by its processors, several by what each is on the mean.
pub fn svg(rows: &[Row], unit: Unit) -> Result<String, Failure> {
    let (bars, x, title) = match rows {
        [row] => {
            (of_processors(row, unit), "processor", format!("Where the time of {} went", row.short_name()))
        }
        _ => (rows.iter().map(|row| of_run(row, unit)).collect(), "", "Where the time went".into()),
    };
    let subtitle = match rows {
        [row] => format!("P = {}, {}", row.analysis.params.P, unit.show(row.analysis.time)),
        _ => "mean over the processors".into(),
    };
    let y = format!("time [{}]", unit.name);
    let most = (WIDTHS.1 / SLOT.0) as usize;
    if bars.len() > most {
        let n = bars.len();
        return Err(Failure::Request(format!("a plot shows at most {most} bars, and there are {n}")));
    }
    draw(&bars, [&title, &subtitle, x, &y])
        .map_err(|error| Failure::Run(format!("the plot cannot be drawn: {error}")))
}

/// A bar for each processor.
fn of_processors(row: &Row, unit: Unit) -> Vec<Bar> {
    let mut done = row.analysis.processors.iter().peekable();
    let bar = |id: usize| {
        let accounts = done.next_if(|(did, _)| *did == id).map(|(_, accounts)| *accounts);
        let mut silent = Accounts::default();
        silent[Account::End] = row.analysis.time;
        Bar { label: id.to_string(), heights: heights(&accounts.unwrap_or(silent), unit, |time| time) }
    };
    // One more than can be drawn is enough to be refused.
    (0..row.analysis.params.P.min(WIDTHS.1 as usize)).map(bar).collect()
}

/// A bar for a run.
fn of_run(row: &Row, unit: Unit) -> Bar {
    Bar { label: row.short_name().into(), heights: heights(&row.analysis.total, unit, |time| row.mean(time)) }
}

/// How high the layers are.
fn heights(accounts: &Accounts, unit: Unit, shown: impl Fn(Time) -> Time) -> [f64; LAYERS.len()] {
    LAYERS.map(|layer| unit.amount(shown(layer.accounts.iter().map(|account| accounts[*account]).sum())))
}

/// Draws bars below a title and a subtitle, over the name of what goes right, beside that of what goes up.
fn draw(bars: &[Bar], [title, subtitle, x, y]: [&str; 4]) -> Drawing<String> {
    let longest = bars.iter().map(|bar| bar.label.chars().count()).max().unwrap_or(0) as u32;
    let label = LETTER * (longest + 1);
    let n = bars.len().max(1) as u32;
    // Bars with names stand as far apart as these need; numbers may be left out.
    let is_numbered = bars.iter().all(|bar| bar.label.bytes().all(|byte| byte.is_ascii_digit()));
    let wanted = if is_numbered { 12 * n } else { label * n };
    let across = wanted.clamp(WIDTHS.0, WIDTHS.1);
    let slot = (f64::from(across) / f64::from(n)).min(f64::from(SLOT.1.max(label)));
    let width = SIDES.0 + across + SIDES.1;
    let layers: Vec<usize> =
        (0..LAYERS.len()).filter(|at| bars.iter().any(|bar| bar.heights[*at] > 0.0)).collect();
    let per_row = ((width - 40) / ENTRY.0).max(1) as usize;
    let rows = layers.len().div_ceil(per_row) as u32;
    let (left, bottom) = (SIDES.0 as i32, (HEAD + HEIGHT - 52) as i32);
    let high = bottom - HEAD as i32;
    let sum = |bar: &Bar| bar.heights.iter().sum::<f64>();
    let axis = Axis::new(Scale::Linear, bars.iter().map(sum).chain([0.0]));
    let range = 0.0..axis.room(0.04).end.max(f64::MIN_POSITIVE);
    let up = |value: f64| bottom - (f64::from(high) * value / range.end).round() as i32;

    let mut svg = String::new();
    {
        let size = (width, HEAD + HEIGHT + rows * ENTRY.1 + 10);
        let sheet = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        sheet.fill(&WHITE)?;
        let middle = width as i32 / 2;
        let at = |h, v| Pos::new(h, v);
        let centred = || at(HPos::Center, VPos::Center);
        sheet.draw(&Text::new(title, (middle, 22), style(20, BLACK, centred())))?;
        sheet.draw(&Text::new(subtitle, (middle, 46), style(14, GREY, centred())))?;
        for tick in axis.ticks(&range) {
            let ends = [(left, up(tick)), (left + across as i32, up(tick))];
            sheet.draw(&PathElement::new(ends, PALE.stroke_width(1)))?;
            let style = style(13, BLACK, at(HPos::Right, VPos::Center));
            sheet.draw(&Text::new(rough(tick), (left - 8, up(tick)), style))?;
        }
        let step = (f64::from(label) / slot).ceil().max(1.0) as usize;
        let start = f64::from(left) + (f64::from(across) - slot * f64::from(n)) / 2.0;
        for (number, bar) in bars.iter().enumerate() {
            let from = start + slot * number as f64;
            let (one, other) = ((from + 0.1 * slot).round() as i32, (from + 0.9 * slot).round() as i32);
            let mut below = 0.0;
            for &layer in &layers {
                let (low, top) = (up(below), up(below + bar.heights[layer]));
                below += bar.heights[layer];
                if top < low {
                    let ends = [(one, top), (other.max(one + 1), low)];
                    sheet.draw(&Rectangle::new(ends, LAYERS[layer].colour.filled()))?;
                    if slot >= 8.0 {
                        sheet.draw(&Rectangle::new(ends, BLACK.stroke_width(1)))?;
                    }
                }
            }
            if number % step == 0 || !is_numbered {
                let middle = ((one + other) / 2, bottom + 8);
                let style = style(13, BLACK, at(HPos::Center, VPos::Top));
                sheet.draw(&Text::new(bar.label.as_str(), middle, style))?;
            }
        }
        let axes = [(left, HEAD as i32), (left, bottom), (left + across as i32, bottom)];
        sheet.draw(&PathElement::new(axes, BLACK.stroke_width(1)))?;
        sheet.draw(&Text::new(x, (left + across as i32 / 2, bottom + 36), style(15, BLACK, centred())))?;
        let turned = style(15, BLACK, centred()).transform(FontTransform::Rotate270);
        sheet.draw(&Text::new(y, (18, (HEAD as i32 + bottom) / 2), turned))?;
        let first = middle - (layers.len().min(per_row) as i32 * ENTRY.0 as i32) / 2;
        for (number, layer) in layers.into_iter().enumerate() {
            let (row, column) = ((number / per_row) as i32, (number % per_row) as i32);
            let x = first + column * ENTRY.0 as i32;
            let y = (HEAD + HEIGHT) as i32 + row * ENTRY.1 as i32;
            let ends = [(x, y), (x + 16, y + 14)];
            sheet.draw(&Rectangle::new(ends, LAYERS[layer].colour.filled()))?;
            sheet.draw(&Rectangle::new(ends, BLACK.stroke_width(1)))?;
            let style = style(14, BLACK, at(HPos::Left, VPos::Center));
            sheet.draw(&Text::new(LAYERS[layer].name, (x + 24, y + 8), style))?;
        }
        sheet.present()?;
    }
    Ok(svg)
}

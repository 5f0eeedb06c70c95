//! Figure 7: how data lies in the source, intermediate and destination processors.

use loggp::Run;
use loggp_draw::canvas::{Anchor, Canvas, MARGIN, NORMAL, SMALL, ShapeStyle, WIDTH, lines_height};
use loggp_draw::palette::{GREY, PALE, SeriesStyle, TEXT};
use loggp_programs::transportation::{Delivery, Matrix, Scheme, TwoStageForm};

use super::{named_matrix, run_two_stage};
use crate::prelude::*;

pub(super) const FIGURE_7: Exhibit = Exhibit {
    id: "transport-fig7",
    place: "figure 7, section 7",
    title: "organization of data in the two-stage algorithm",
    notes: "The paper's drawing has no example of its own: here it is figure 9's matrix, p = 4, as a run of the program has it.",
    show,
    ..Exhibit::USUAL
};

/// Number of processors.
const P: usize = 4;

fn show(sheet: &mut Sheet) -> Result<(), StudyError> {
    let matrix = named_matrix("figure-9", P)?;
    let run = run_two_stage(sheet.lab, &matrix, TwoStageForm::new(Scheme::Local))?;
    let pairs = || (0..P * P).map(|n| (n / P, n % P));
    let parts = |run: &Run<Delivery>, (i, j): (usize, usize)| {
        (0..P).map(|k| run.results[i].parts[k][j]).sum::<usize>() == matrix.at(i, j)
    };
    let what = "messages whose parts at the intermediates together have all their elements";
    sheet.add_own_check(what, pairs().map(|pair| run.ran(|run| parts(run, pair))));
    let whole =
        |run: &Run<Delivery>, (i, j): (usize, usize)| run.results[j].messages[i].len() == matrix.at(i, j);
    let what = "messages that lie whole at their destination";
    sheet.add_own_check(what, pairs().map(|pair| run.ran(|run| whole(run, pair))));
    let quote = "each of these messages has to be padded with p lengths (and the sum of these p lengths, see figure 7)";
    let sums = pairs().map(|(i, k)| {
        run.ran(|run| run.results[i].parts[k].iter().sum::<usize>() == run.results[i].lengths[0][k])
    });
    let right = sums.reduce(|all, one| all.map(|all| all && one.value())).expect("there are messages");
    let rule = "the sum before each of the 16 messages of stage 1 is that of its 4 lengths";
    sheet.add_judged_claim("lengths before the messages", "7.1", quote, rule, right);
    let caption = "The rows are processors. Grey cells are numbers: the sum of a message's lengths, and its p lengths. Coloured cells are \
                   elements: in a source and an intermediate they have the colour of the processor that they go to next, and in a \
                   destination that of the intermediate that they came by.";
    sheet.add_picture("", caption, draw_layout(&matrix, &run.results));
    Ok(())
}

/// A run of cells of a row.
enum Cells {
    /// Numbers.
    Header(Vec<usize>),
    /// Elements with the colour of a processor.
    Elements(usize, usize),
    /// The end of a message.
    Gap,
}

/// Returns a message with its header, if it has one, and its parts, each with the processor of its colour.
fn message(header: bool, parts: impl Iterator<Item = (usize, usize)>) -> Vec<Cells> {
    let parts: Vec<(usize, usize)> = parts.collect();
    let lengths: Vec<usize> = parts.iter().map(|(_, elements)| *elements).collect();
    let header = header.then(|| Cells::Header([vec![lengths.iter().sum()], lengths].concat()));
    let elements = parts.into_iter().map(|(to, elements)| Cells::Elements(to, elements));
    header.into_iter().chain(elements).chain([Cells::Gap]).collect()
}

/// Returns the picture: the rows of all sources, intermediates and destinations.
fn draw_layout(matrix: &Matrix, deliveries: &[Delivery]) -> String {
    let part = |i: usize, k: usize, j: usize| deliveries[i].parts[k][j];
    // A source has its messages one after the other; the parts of each go to the intermediates in turn.
    let source = |i: usize| (0..P).flat_map(|j| message(false, (0..P).map(|k| (k, part(i, k, j))))).collect();
    let intermediate =
        |k: usize| (0..P).flat_map(|i| message(true, (0..P).map(|j| (j, part(i, k, j))))).collect();
    let destination =
        |j: usize| (0..P).flat_map(|i| message(false, (0..P).map(|k| (k, part(i, k, j))))).collect();
    let groups: [(&str, Vec<Vec<Cells>>); 3] = [
        (
            "source processors: a message for each destination, by the intermediate of each part",
            (0..P).map(source).collect(),
        ),
        (
            "intermediate processors: a message from each source, with p lengths before it, by destination",
            (0..P).map(intermediate).collect(),
        ),
        (
            "destination processors: the messages of the sources, put together of parts",
            (0..P).map(destination).collect(),
        ),
    ];
    let title = "Organization of data in the two-stage algorithm";
    let mut canvas = Canvas::new(WIDTH);
    let mut top =
        canvas.draw_head(title, &format!("figure 9's matrix, p = {P}, {} elements", matrix.total()));
    let mut x = MARGIN;
    for k in 0..P {
        canvas.draw_rectangle(SeriesStyle::for_number(k).ink, ShapeStyle::Area, (x, top), (CELL, CELL));
        canvas.draw_text(TEXT, (x + CELL + 4.0, top + CELL / 2.0), Anchor::Start, NORMAL, &format!("P{k}"));
        x += 60.0;
    }
    top += 2.0 * CELL;
    for (heading, rows) in &groups {
        canvas.draw_text_below(GREY, (MARGIN, top), Anchor::Start, NORMAL, heading);
        top += lines_height(1, NORMAL) + 4.0;
        for (n, row) in rows.iter().enumerate() {
            draw_row(&mut canvas, (MARGIN, top), &format!("P{n}"), row);
            top += CELL + 5.0;
        }
        top += CELL;
    }
    canvas.finish(top, title)
}

/// Width and height of a cell.
const CELL: f64 = 14.0;

/// Draws the row of a processor.
fn draw_row(canvas: &mut Canvas, (left, top): (f64, f64), name: &str, row: &[Cells]) {
    canvas.draw_text(TEXT, (left, top + CELL / 2.0), Anchor::Start, NORMAL, name);
    let mut x = left + 26.0;
    for cells in row {
        match cells {
            Cells::Gap => x += 6.0,
            Cells::Elements(to, elements) => {
                for _ in 0..*elements {
                    let ink = SeriesStyle::for_number(*to).ink;
                    canvas.draw_rectangle(ink, ShapeStyle::Area, (x, top), (CELL - 1.0, CELL));
                    x += CELL;
                }
            }
            Cells::Header(numbers) => {
                for number in numbers {
                    canvas.draw_rectangle(PALE, ShapeStyle::Area, (x, top), (CELL - 1.0, CELL));
                    let middle = (x + CELL / 2.0, top + CELL / 2.0);
                    canvas.draw_text(TEXT, middle, Anchor::Middle, SMALL, &number.to_string());
                    x += CELL;
                }
            }
        }
    }
}

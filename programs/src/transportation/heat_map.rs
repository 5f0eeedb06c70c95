//! A picture of a communication matrix: a square for each message, the darker the longer it is.

use std::fmt::Write;

use super::matrix::Matrix;

/// More processors than this would be a blur.
const MOST_PROCESSORS: usize = 512;
/// As many as have their traffic beside their rows and below their columns, and every number in its square.
const MOST_TRAFFICS: usize = 64;
const MOST_NUMBERS: usize = 16;

/// The side of the matrix.
const SIDE: f64 = 640.0;
/// The room for the title and the columns' names, and for the rows'.
const TOP: f64 = 84.0;
const LEFT: f64 = 64.0;
/// The room for what stands to the right and below.
const MARGIN: f64 = 90.0;
/// The scale's height and room.
const SCALE: f64 = 14.0;
const BELOW: f64 = 70.0;

/// From short to long, for people with any eyes: lighter is always shorter. Colours between are mixed.
const COLOURS: [[f64; 3]; 5] =
    [[237., 248., 251.], [179., 205., 227.], [140., 150., 198.], [136., 86., 167.], [77., 0., 75.]];

/// Draws a matrix as SVG; or says why it cannot.
pub fn heat_map(matrix: &Matrix, title: &str) -> Result<String, String> {
    let P = matrix.P();
    if P > MOST_PROCESSORS {
        return Err(format!("a heat map shows at most {MOST_PROCESSORS} processors, and there are {P}"));
    }
    let cell = SIDE / P as f64;
    let (width, height) = (LEFT + SIDE + MARGIN, TOP + SIDE + MARGIN + BELOW);
    let longest = matrix.entries().iter().copied().max().unwrap_or(0);
    let size = (cell * 0.42).clamp(5.0, 13.0);
    let mut svg = String::new();
    let out = &mut svg;
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">
<rect width="{width}" height="{height}" fill="white"/>
<text x="{LEFT}" y="22" font-size="15">{}</text>
<text x="{}" y="44" text-anchor="middle">to</text>
<text x="14" y="{}">from</text>
"##,
        title.replace('&', "&amp;").replace('<', "&lt;"),
        LEFT + SIDE / 2.0,
        TOP + SIDE / 2.0
    );
    let middle = |n: usize| cell * (n as f64 + 0.5);
    let mut text = |x: f64, y: f64, anchor: &str, size: f64, fill: &str, text: &dyn std::fmt::Display| {
        let _ = writeln!(
            out,
            r##"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" font-size="{size:.1}" fill="{fill}">{text}</text>"##
        );
    };
    let step = P.div_ceil(MOST_TRAFFICS);
    for n in (0..P).step_by(step) {
        text(LEFT - 6.0, TOP + middle(n) + size * 0.35, "end", size, "black", &format_args!("P{n}"));
        text(
            LEFT + middle(n),
            TOP - 8.0,
            "middle",
            size,
            "black",
            &format_args!("{}{n}", if P <= 16 { "P" } else { "" }),
        );
    }
    if P <= MOST_TRAFFICS {
        text(LEFT + SIDE + 8.0, TOP - 8.0, "start", 12.0, "black", &"r_i");
        text(LEFT - 6.0, TOP + SIDE + 18.0, "end", 12.0, "black", &"c_j");
        for n in 0..P {
            let y = TOP + middle(n) + size * 0.35;
            text(LEFT + SIDE + 8.0, y, "start", size, "black", &matrix.r_i(n));
            // One below the other where they would not fit side by side.
            let row = if P > 8 { (n % 4) as f64 } else { 0.0 };
            let y = TOP + SIDE + 18.0 + row * (size + 3.0);
            text(LEFT + middle(n), y, "middle", size, "black", &matrix.c_j(n));
        }
    }
    for i in 0..P {
        for j in (0..P).filter(|j| matrix.at(i, *j) > 0) {
            let elements = matrix.at(i, j);
            let (x, y) = (LEFT + cell * j as f64, TOP + cell * i as f64);
            let _ = writeln!(
                out,
                r##"<rect x="{x:.2}" y="{y:.2}" width="{cell:.2}" height="{cell:.2}" fill="{}"><title>P{i} to P{j}: {elements}</title></rect>"##,
                colour(darkness(elements, longest))
            );
            if P <= MOST_NUMBERS {
                let fill = if darkness(elements, longest) > 0.55 { "white" } else { "black" };
                let (x, y) = (x + cell / 2.0, y + cell / 2.0 + size * 0.35);
                let _ = writeln!(
                    out,
                    r##"<text x="{x:.1}" y="{y:.1}" text-anchor="middle" font-size="{size:.1}" fill="{fill}">{elements}</text>"##
                );
            }
        }
    }
    let _ = writeln!(
        out,
        r##"<rect x="{LEFT}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#444"/>"##
    );
    scale(out, longest);
    svg.push_str("</svg>\n");
    Ok(svg)
}

/// How dark a square is: by ratio, so that short messages are seen beside long ones.
fn darkness(elements: usize, longest: usize) -> f64 {
    if longest <= 1 { 0.5 } else { (elements as f64).ln() / (longest as f64).ln() }
}

/// The colour for a darkness from 0 to 1.
fn colour(darkness: f64) -> String {
    let place = darkness.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let n = (place as usize).min(COLOURS.len() - 2);
    let mixed =
        |c: usize| (COLOURS[n][c] + (place - n as f64) * (COLOURS[n + 1][c] - COLOURS[n][c])).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mixed(0), mixed(1), mixed(2))
}

/// Draws what the colours mean.
fn scale(out: &mut String, longest: usize) {
    let top = TOP + SIDE + MARGIN;
    if longest == 0 {
        let _ = writeln!(out, r##"<text x="{LEFT}" y="{top}">nobody sends</text>"##);
        return;
    }
    const STEPS: usize = 64;
    let steps = if longest == 1 { 1 } else { STEPS };
    let width = SIDE / 2.0 / steps as f64;
    for n in 0..steps {
        let x = LEFT + width * n as f64;
        let darkness = if longest == 1 { 0.5 } else { n as f64 / (steps - 1) as f64 };
        let _ = writeln!(
            out,
            r##"<rect x="{x:.2}" y="{top}" width="{:.2}" height="{SCALE}" fill="{}"/>"##,
            width + 0.3,
            colour(darkness)
        );
    }
    let mut marks: Vec<usize> = (0..=longest.ilog10()).map(|power| 10_usize.pow(power)).collect();
    if longest as f64 > 1.6 * marks[marks.len() - 1] as f64 {
        marks.push(longest);
    }
    for mark in marks {
        let share = if longest == 1 { 0.5 } else { darkness(mark, longest) };
        let _ = writeln!(
            out,
            r##"<text x="{:.1}" y="{:.1}" text-anchor="middle">{mark}</text>"##,
            LEFT + SIDE / 2.0 * share,
            top + SCALE + 16.0
        );
    }
    let _ = writeln!(
        out,
        r##"<text x="{:.1}" y="{:.1}">elements of a message; white: none</text>"##,
        LEFT + SIDE / 2.0 + 20.0,
        top + SCALE - 2.0
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_every_message_and_all_traffic() {
        let svg = heat_map(&Matrix::new(2, vec![0, 17, 4, 1]), "a < b & c").unwrap();
        assert_eq!(svg.matches("<title>").count(), 3);
        assert!(svg.contains("P0 to P1: 17") && svg.contains("a &lt; b &amp; c"));
        assert!([">17<", ">5<", ">4<", ">18<"].iter().all(|number| svg.contains(number)));
        assert!(svg.contains(&colour(1.0)) && svg.contains(&colour(0.0)));
    }

    #[test]
    fn refuses_what_would_be_a_blur() {
        assert!(heat_map(&Matrix::empty(513), "").unwrap_err().contains("at most 512 processors"));
        assert!(heat_map(&Matrix::empty(512), "").unwrap().contains("nobody sends"));
    }
}

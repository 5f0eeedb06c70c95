//! The palette of every picture: colours in light and dark mode, dashes and marks.
//!
//! The colours are those of Okabe and Ito (2008), which colour-blind readers can tell apart, with greys and
//! paler ones.

/// A colour of the palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ink {
    /// Name in the style of a picture.
    name: &'static str,
    /// Colour on white paper.
    light: &'static str,
    /// Colour on a dark screen.
    dark: &'static str,
}

/// The background.
pub const PAPER: Ink = Ink::new("paper", "#ffffff", "#16181d");
/// Text and axes.
pub const TEXT: Ink = Ink::new("ink", "#1a1a1a", "#ececec");
/// Text that matters less, and levels.
pub const GREY: Ink = Ink::new("grey", "#595959", "#b4b8bf");
/// The grid.
pub const PALE: Ink = Ink::new("pale", "#e4e4e4", "#32363e");
pub const STRONG: Ink = Ink::new("strong", "#000000", "#f4f4f4");
pub const BLUE: Ink = Ink::new("blue", "#0072b2", "#3f9fe0");
pub const VERMILLION: Ink = Ink::new("vermillion", "#d55e00", "#f0722a");
pub const GREEN: Ink = Ink::new("green", "#009e73", "#1fbf91");
pub const PURPLE: Ink = Ink::new("purple", "#cc79a7", "#e093c0");
const SKY: Ink = Ink::new("sky", "#56b4e9", "#9bd6fb");
pub const ORANGE: Ink = Ink::new("orange", "#e69f00", "#f0b429");
pub const YELLOW: Ink = Ink::new("yellow", "#f0e442", "#f0e442");
pub const MIST: Ink = Ink::new("mist", "#c4e3f5", "#2b5068");
pub const SILVER: Ink = Ink::new("silver", "#d4d4d4", "#50555e");
pub const SLATE: Ink = Ink::new("slate", "#8f8f8f", "#868c95");
pub const SAND: Ink = Ink::new("sand", "#f1e9da", "#3b362b");
pub const POWDER: Ink = Ink::new("powder", "#9cc3dc", "#39617d");
pub const PEACH: Ink = Ink::new("peach", "#f7ddb0", "#6b5426");

/// All inks but those of a heat map.
const INKS: [Ink; 18] = [
    PAPER, TEXT, GREY, PALE, STRONG, BLUE, VERMILLION, GREEN, PURPLE, SKY, ORANGE, YELLOW, MIST, SILVER,
    SLATE, SAND, POWDER, PEACH,
];

/// The inks of a heat map, from little to much: more is always further from the background.
pub const HEAT: [Ink; 10] = [
    Ink::new("h0", "#edf8fb", "#23212e"),
    Ink::new("h1", "#d2e3ef", "#332943"),
    Ink::new("h2", "#b9cfe5", "#443058"),
    Ink::new("h3", "#a3bbdb", "#58386c"),
    Ink::new("h4", "#94a3ce", "#6f437f"),
    Ink::new("h5", "#8c87bd", "#87538f"),
    Ink::new("h6", "#8967ad", "#a0679d"),
    Ink::new("h7", "#82469a", "#ba7fac"),
    Ink::new("h8", "#6c217a", "#d39dbe"),
    Ink::new("h9", "#4d004b", "#ecc2d6"),
];
/// The step from which a number on a square of a heat map has the background's colour.
const STRONG_HEAT: usize = 6;

/// The colours of series.
const SERIES: [Ink; 7] = [STRONG, BLUE, VERMILLION, GREEN, PURPLE, SKY, ORANGE];
/// The dashes of series, as SVG writes them; the first is a solid line.
const DASHES: [&str; 7] = ["", "10 5", "2 4", "18 4", "6 8", "12 3 2 3", "2 8"];
/// The marks of series.
const MARKS: [PointMark; 7] = [
    PointMark::Dot,
    PointMark::Up,
    PointMark::Square,
    PointMark::Cross,
    PointMark::Diamond,
    PointMark::Down,
    PointMark::Plus,
];

/// The shape that marks a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointMark {
    /// A filled circle.
    Dot,
    /// A triangle on its base.
    Up,
    /// A square.
    Square,
    /// Two lines, as an x.
    Cross,
    /// A square on its corner.
    Diamond,
    /// A triangle on its corner.
    Down,
    /// Two lines, as a +.
    Plus,
}

/// The look of a series. Series of the same colour have different marks and dashes.
#[derive(Clone, Copy, Debug)]
pub struct SeriesStyle {
    /// Colour.
    pub ink: Ink,
    /// Mark.
    pub mark: PointMark,
    /// Dash, as SVG writes it.
    pub dash: &'static str,
}

/// A kind of activity, which has the same name and colour in every picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActivityStyle {
    /// Name.
    pub name: &'static str,
    /// Colour.
    pub ink: Ink,
}

/// The bytes of a long message that pass through a port, which takes no time of a processor.
pub const BYTES: ActivityStyle = ActivityStyle { name: "bytes in the port", ink: SKY };

impl Ink {
    const fn new(name: &'static str, light: &'static str, dark: &'static str) -> Ink {
        Ink { name, light, dark }
    }

    /// Returns the class of the colour in a picture.
    pub fn class(self) -> String {
        format!("lg-{}", self.name)
    }

    /// Returns the colour of text on a square of a heat map.
    pub fn on_heat(step: usize) -> Ink {
        if step >= STRONG_HEAT { PAPER } else { TEXT }
    }
}

impl SeriesStyle {
    /// Returns the look of the series with this number.
    pub fn for_number(number: usize) -> SeriesStyle {
        let turn = number / SERIES.len();
        SeriesStyle {
            ink: SERIES[number % SERIES.len()],
            mark: MARKS[(number + turn) % MARKS.len()],
            dash: DASHES[(number + turn) % DASHES.len()],
        }
    }
}

/// Returns the style of a picture. It is the same in all, so that pictures on one page agree. Dark mode is
/// for screens only, so that paper stays light. The rules for shapes come after those for colours, and
/// override them.
pub fn style() -> String {
    let rules = |of: fn(&Ink) -> &'static str| -> String {
        let rule = |ink: &Ink| format!(".lg-{}{{fill:{1};stroke:{1}}}", ink.name, of(ink));
        INKS.iter().chain(&HEAT).map(rule).collect()
    };
    format!(
        "{}@media screen and (prefers-color-scheme:dark){{{}.lg-picture .lg-box{{stroke:#9aa0a8}}}}\
         .lg-picture{{max-width:100%;height:auto}}\
         .lg-text{{stroke:none;font-family:sans-serif}}\
         .lg-area{{stroke:none}}\
         .lg-line{{fill:none;stroke-width:2;stroke-linejoin:round}}\
         .lg-thin{{fill:none;stroke-width:1}}\
         .lg-ring{{fill:none;stroke-width:1.4}}\
         .lg-band{{stroke:none;fill-opacity:.22}}\
         .lg-box{{stroke:#444;stroke-width:.6}}\
         .lg-hit{{fill:none;stroke:none;pointer-events:all}}",
        rules(|ink| ink.light),
        rules(|ink| ink.dark)
    )
}

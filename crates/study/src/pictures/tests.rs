//! Properties of every picture: it is XML without ids that could clash, no text is cut off or covered by
//! another, and every look is in the legend.

use std::fs;
use std::path::PathBuf;

use crate::analysis::accounts::Account;
use loggp::trace::Trace;
use loggp::{Machine, Params, Tag, Time, US, Work};
use loggp_draw::bars::{Bar, Bars};
use loggp_draw::canvas::{text_width, wrap};
use loggp_draw::heat_map::heat_map;
use loggp_draw::page::Timeline;
use loggp_draw::palette::{HEAT, SeriesStyle, style};
use loggp_draw::plot::{Look, Plot, PlotLine, Scale};
use loggp_draw::timeline::TimelinePicture;
use loggp_draw::tree::{self, TreePicture};
use loggp_programs::transportation::Matrix;
use roxmltree::{Document, Node};

use super::styles;
use super::timeline::{Window, draw_timeline, timeline_from_trace};

/// A text that must be broken to fit, with characters that XML must not see.
const LONG: &str = "a <name> & \"another\" of_a_case_that_nobody_would_call_so_but_somebody_did_so_it_has_to_be_shown_in_full \
                    /with/a/path/to/some/file/that/is/far/away.json and \u{1}\u{394} = 13.8 us";

const WORDS: Tag<Vec<u64>> = Tag::new(0);

/// Returns the trace of a run in which every processor works and sends a message to processor 0, and some
/// wait for the capacity.
fn trace(P: usize, words: usize) -> Trace {
    let params = Params::builder(P).L(6 * US).o(2 * US).g(4 * US).G(US).build().unwrap();
    let run = Machine::new(params).work(Work::Charged).trace(true).run(|p| {
        p.work("step", 3, || ());
        if p.id() == 0 {
            for id in 1..p.P() {
                p.send(id, WORDS, vec![1; words]);
            }
        } else {
            p.recv(WORDS);
            p.send(0, WORDS, vec![1; words]);
        }
        if p.id() == 0 {
            for _ in 1..p.P() {
                p.recv(WORDS);
            }
        }
    });
    run.unwrap().trace.unwrap()
}

/// Draws a plot with these panels and levels.
fn plot(title: &str, [x, y]: [Scale; 2], panels: &[(&str, Vec<PlotLine>)], levels: &[(&str, f64)]) -> String {
    let plot = Plot::new(title, title).x("size [words]", x).y("time [us]", y);
    let with = |plot: Plot, (caption, lines): &(&str, Vec<PlotLine>)| {
        levels
            .iter()
            .fold(plot.panel(*caption, lines.iter().cloned()), |plot, (label, y)| plot.level(*label, *y))
    };
    panels.iter().fold(plot, with).svg()
}

/// Returns a line of each look through these points.
fn lines(label: &str, points: &[(f64, f64)]) -> Vec<PlotLine> {
    let line = |(number, look)| PlotLine::new(format!("{label} {number}"), number, look, points.to_vec());
    let looks = [Look::Both, Look::Line, Look::Marks, Look::Rings];
    let mut lines: Vec<PlotLine> = looks.into_iter().enumerate().map(line).collect();
    lines[3].spread = points.iter().map(|(x, y)| (*x, 0.9 * y, 1.2 * y)).collect();
    lines
}

fn plots() -> Vec<String> {
    let line: Vec<(f64, f64)> = (1..=20).map(|n| (n.into(), f64::from(n * n) * 1e3)).collect();
    let cases: [&[(f64, f64)]; 8] = [
        &line,
        &[],
        &[(3.0, 7.0)],
        &[(1.0, 0.0), (2.0, 0.0), (4.0, 0.0)],
        &[(1.0, 5.0), (2.0, 5.0), (4.0, 5.0)],
        &[(1e-9, 1e-12), (1.0, 1.0), (1e12, 1e15)],
        &[(0.0, -3.0), (7.0, 2.0), (1.0005, 1e3)],
        &[(1.0, f64::NAN), (2.0, f64::INFINITY), (3.0, 1.0)],
    ];
    let mut all = Vec::new();
    for scales in
        [Scale::Linear, Scale::Log, Scale::Points].map(|x| [Scale::Linear, Scale::Log].map(|y| [x, y]))
    {
        for scales in scales {
            for points in cases {
                all.push(plot("a plot", scales, &[("", lines("line", points))], &[]));
            }
            for n in 2..=6 {
                let panels: Vec<_> = (0..n).map(|_| ("P = 8", lines("line", &line))).collect();
                all.push(plot("panels", scales, &panels, &[]));
            }
        }
    }
    let levels = [("o = 3.8 us", 10.0), ("g = 3.9 us", 11.0), (LONG, 1e3), ("zero", 0.0), ("most", 4e5)];
    all.push(plot(LONG, [Scale::Points; 2], &[(LONG, lines(LONG, &line))], &levels));
    let panels = [LONG, "short"].map(|caption| (caption, lines(LONG, &line)));
    all.push(plot(LONG, [Scale::Linear; 2], &panels, &levels));
    let many = (0..30).map(|number| PlotLine::new(format!("{number}"), number, Look::Both, line.clone()));
    all.push(plot("many", [Scale::Linear; 2], &[("", many.collect())], &levels));
    let far = || ("far", lines("line", &[(1e6, 1.0), (2e6, 2.0), (4e6, 3.0), (8.388608e6, 4.0)]));
    all.push(plot("far", [Scale::Points; 2], &[far(), far(), far()], &[]));
    all.push(plot("nothing", [Scale::Log; 2], &[], &[]));
    all
}

fn timelines() -> Vec<String> {
    let mut all = Vec::new();
    for P in [2, 3, 8, 20, 33, 64, 128] {
        for words in [1, 10, 1000] {
            all.push(draw_timeline(&trace(P, words), "a timeline", ("us", US)).unwrap());
        }
    }
    let trace = trace(8, 1);
    let unit = ("a cycle of & < >", US);
    all.push(
        TimelinePicture {
            subtitle: LONG.into(),
            note: LONG.into(),
            ..timeline_from_trace(&trace, LONG, unit, &Window::default())
        }
        .svg()
        .unwrap(),
    );
    let mut quiet = trace;
    (quiet.activities, quiet.messages) = (Vec::new(), Vec::new());
    all.push(draw_timeline(&quiet, "", ("us", US)).unwrap());
    all
}

fn bars() -> Vec<String> {
    let layers = || Account::all().map(styles::account_style).into();
    let draw_bars = |labels: Vec<String>, groups: usize, height: f64| {
        let per = labels.len().div_ceil(groups.max(1)).max(1);
        let bar = |(number, label): (usize, String)| Bar {
            label,
            group: if groups == 0 { String::new() } else { format!("group {}", number / per) },
            heights: (0..12).map(|layer| height * f64::from((number as u32 + layer) % 5)).collect(),
        };
        let bars = labels.into_iter().enumerate().map(bar).collect();
        let text = || LONG.to_string();
        Bars { title: text(), subtitle: text(), x: text(), y: "time [s]".into(), layers: layers(), bars }
            .svg()
    };
    let numbers = |n: usize| (0..n).map(|n| n.to_string()).collect::<Vec<_>>();
    let mut all: Vec<String> = [0, 1, 8, 64, 200, 512].map(|n| draw_bars(numbers(n), 0, 1e3)).into();
    all.push(draw_bars(numbers(21), 3, 0.1));
    all.push(draw_bars(numbers(3), 0, 0.0));
    all.push(draw_bars(vec!["S=65536".into(), "model=loggp-1".into()], 0, 1.0));
    all.push(draw_bars([LONG; 5].map(String::from).into(), 2, 1e-9));
    all.push(draw_bars((0..30).map(|n| format!("fragments={n}")).collect(), 0, 1.0));
    all
}

fn map_of(matrix: &Matrix, title: &str) -> Result<String, String> {
    heat_map(matrix.P(), matrix.entries(), title)
}

fn heat_maps() -> Vec<String> {
    let matrix = |P: usize, elements: fn(usize) -> usize| Matrix::new(P, (0..P * P).map(elements).collect());
    let mut all = Vec::new();
    for P in [1, 2, 3, 8, 16, 17, 40, 64, 100, 128] {
        all.push(map_of(&matrix(P, |n| n % 7), LONG).unwrap());
        all.push(map_of(&matrix(P, |n| 1 << (n % 20)), "a heat map").unwrap());
        all.push(map_of(&matrix(P, |n| n % 2), "a heat map").unwrap());
    }
    all.push(map_of(&Matrix::empty(300), "").unwrap());
    all
}

fn trees() -> Vec<String> {
    let draw_tree = |n: usize,
                     parent: fn(usize) -> usize,
                     label: fn(usize) -> String,
                     note: fn(usize) -> String| {
        let node =
            |id| tree::TreeNode { parent: (id > 0).then(|| parent(id)), label: label(id), note: note(id) };
        let nodes = (0..n).map(node).collect();
        TreePicture { title: LONG.into(), subtitle: String::new(), nodes }.svg().unwrap()
    };
    let mut all = Vec::new();
    for n in [0, 1, 2, 8, 64, 200] {
        all.push(draw_tree(n, |id| (id - 1) / 2, |id| format!("{}", 3 * id), |_| String::new()));
        all.push(draw_tree(
            n,
            |id| id & (id - 1),
            |id| format!("P{id}\n{}", 7 * id),
            |id| format!("{id} words"),
        ));
        all.push(draw_tree(
            n,
            |id| id / 3,
            |id| if id == 5 { LONG.into() } else { "x".repeat(id % 9) },
            |_| String::new(),
        ));
    }
    all.push(draw_tree(10, |id| id - 1, |id| format!("{id}"), |_| LONG.into()));
    all.push(draw_tree(40, |_| 0, |id| format!("{id}"), |id| format!("{id}")));
    all
}

fn gallery() -> Vec<String> {
    [plots(), timelines(), bars(), heat_maps(), trees()].concat()
}

/// Returns the left, top, right and bottom of a text, by the measures of its font.
fn extent(text: &Node) -> [f64; 4] {
    let number = |name| text.attribute(name).unwrap().parse::<f64>().unwrap();
    let (x, y, size) = (number("x"), number("y"), number("font-size"));
    let width = text_width(text.text().unwrap(), size);
    let before = match text.attribute("text-anchor") {
        None => 0.0,
        Some("middle") => width / 2.0,
        Some(other) => {
            assert_eq!(other, "end");
            width
        }
    };
    // Heights of letters above and below their line.
    let (above, below) = (0.76 * size, 0.2 * size);
    match text.attribute("transform") {
        None => [x - before, y - above, x - before + width, y + below],
        Some(_) => [x - above, y - width + before, x + below, y + before],
    }
}

fn shown<'a>(text: &Node<'a, '_>) -> &'a str {
    text.text().unwrap_or_default()
}

/// Returns the title of a picture. It precedes all other titles: browsers take the first as the document's,
/// and search for it whenever there is another title, of which a timeline has thousands.
fn title<'a>(document: &'a Document) -> &'a str {
    let first = document.root_element().first_element_child().filter(|node| node.has_tag_name("title"));
    first.expect("a title stands before all shapes").text().unwrap_or_default()
}

/// Checks the pictures in the documents, written by commands or by hand.
#[test]
fn pictures_in_documents_have_titles_and_dark_colours() {
    let mut pictures = 0;
    let mut folders = vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs"))];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "svg" || end == "html") {
                let text = fs::read_to_string(&path).unwrap();
                let dark = text.replace(' ', "").contains("(prefers-color-scheme:dark)");
                assert!(dark, "{} has no colours for the dark", path.display());
                for picture in text.split("<svg ").filter(|part| part.contains("xmlns=")) {
                    let inside = picture.split_once('>').unwrap().1.trim_start();
                    let title = inside.strip_prefix("<title>").is_some_and(|title| !title.starts_with('<'));
                    assert!(title, "{}: {:.99}", path.display(), inside);
                    pictures += 1;
                }
            }
        }
    }
    assert!(pictures > 80, "{pictures}");
}

#[test]
fn texts_are_neither_cut_off_nor_covered() {
    for svg in gallery() {
        let document = Document::parse(&svg).unwrap();
        let root = document.root_element();
        let view: Vec<f64> =
            root.attribute("viewBox").unwrap().split(' ').map(|n| n.parse().unwrap()).collect();
        let texts: Vec<Node> = root.descendants().filter(|node| node.has_tag_name("text")).collect();
        let extents: Vec<[f64; 4]> = texts.iter().map(extent).collect();
        let title = title(&document);
        for (text, [left, top, right, bottom]) in texts.iter().zip(&extents) {
            let is_inside = *left >= 0.0 && *top >= 0.0 && *right <= view[2] && *bottom <= view[3];
            assert!(
                is_inside,
                "{title}: {} is cut off: {left} {top} {right} {bottom} of {view:?}",
                shown(text)
            );
        }
        for (n, one) in extents.iter().enumerate() {
            for (m, other) in extents[..n].iter().enumerate() {
                let is_over =
                    one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
                assert!(
                    !is_over,
                    "{title}: {} over {}: {one:?} {other:?}",
                    shown(&texts[n]),
                    shown(&texts[m])
                );
            }
        }
    }
}

#[test]
fn pictures_work_alone_and_beside_others() {
    let styles: Vec<String> = gallery()
        .iter()
        .map(|svg| {
            let document = Document::parse(svg).unwrap();
            for node in document.root_element().descendants().filter(Node::is_element) {
                assert_eq!(node.attribute("id"), None);
                assert!(!["script", "marker", "defs", "image", "use"].contains(&node.tag_name().name()));
                let classes = node.attribute("class").unwrap_or_default();
                assert!(
                    classes.split(' ').all(|class| class.is_empty() || class.starts_with("lg-")),
                    "{classes}"
                );
                let needs_class = !["g", "title", "style"].contains(&node.tag_name().name());
                assert!(!needs_class || !classes.is_empty(), "a shape without a colour");
                for attribute in node.attributes() {
                    assert!(
                        !attribute.value().contains("NaN") && !attribute.value().contains("inf"),
                        "{attribute:?}"
                    );
                }
            }
            let style = document.descendants().find(|node| node.has_tag_name("style")).unwrap();
            style.text().unwrap().to_string()
        })
        .collect();
    assert!(styles.iter().all(|style| *style == styles[0]), "a page has the same style from each");
    assert!(!styles[0].contains("var(") && !styles[0].contains("url("));
    assert_eq!(styles[0].matches("@media screen and (prefers-color-scheme:dark)").count(), 1);
}

#[test]
fn every_class_has_a_colour_in_the_style() {
    for svg in gallery() {
        let document = Document::parse(&svg).unwrap();
        let style = document.descendants().find(|node| node.has_tag_name("style")).unwrap().text().unwrap();
        for class in
            document.descendants().filter_map(|node| node.attribute("class")).flat_map(|c| c.split(' '))
        {
            assert!(style.contains(&format!(".{class}{{")), "{class}");
        }
    }
}

#[test]
fn every_look_is_in_the_legend() {
    let points = [(1.0, 2.0), (2.0, 3.0)];
    let other = vec![PlotLine::new("only here", 5, Look::Marks, points.into())];
    let panels = [("", lines("line", &points)), ("", lines("line", &points)), ("", other)];
    let svg = plot("", [Scale::Linear; 2], &panels, &[]);
    for label in ["line 0", "line 1", "line 2", "line 3", "only here"] {
        assert_eq!(svg.matches(&format!(">{label}</text>")).count(), 1, "{label}");
    }
    let trace = trace(4, 10);
    let svg = draw_timeline(&trace, "", ("us", US)).unwrap();
    let kinds = trace.activities.iter().filter_map(|activity| styles::activity_style(&activity.kind));
    let mut names: Vec<&str> = kinds.map(|kind| kind.name).collect();
    names.sort_unstable();
    names.dedup();
    assert!(names.len() >= 4, "{names:?}");
    for name in names.into_iter().chain(["bytes in the port"]) {
        assert_eq!(svg.matches(&format!(">{name}</text>")).count(), 1, "{name}");
    }
}

/// Noise, the parts of a rendezvous and idleness are drawn and in the legend, though they are no activities
/// of their own.
#[test]
fn noise_rendezvous_and_idleness_are_in_the_picture_and_the_legend() {
    let params = Params::builder(2).set("L=6us,o=2us,S=10,s=10,O_s=0,O_r=0,G_s=1ns,G_l=1ns").unwrap();
    let run = |noise: Option<&str>| {
        let machine = Machine::new(params.clone().build().unwrap()).work(Work::Charged).trace(true);
        let run = machine.noise(noise.map(|noise| noise.parse().unwrap())).run(|p| match p.id() {
            0 => p.send(1, WORDS, vec![1; 100]),
            _ => {
                p.work("step", 50, || ());
                p.recv(WORDS);
                drop(p.recv_deadline(WORDS, p.now() + 20 * US));
            }
        });
        draw_timeline(&run.unwrap().trace.unwrap(), "", ("us", US)).unwrap()
    };
    let has_text = |svg: &str, name: &str| svg.contains(&format!(">{name}</text>"));
    let quiet = run(None);
    assert!(["handshake", "sender sync", "idle"].iter().all(|name| has_text(&quiet, name)), "{quiet}");
    assert!(quiet.contains("<title>P0 sender sync: ") && !has_text(&quiet, "noise"));
    let noisy = run(Some("10us:2us"));
    assert!(has_text(&noisy, "noise") && noisy.matches("<title>P1 noise: ").count() > 4, "{noisy}");
    // Noise that is too fine to be seen is not drawn, and the picture says so.
    let fine = run(Some("1ns:1ps"));
    assert!(!has_text(&fine, "noise") && fine.contains("there is more noise than can be shown"));
}

/// The library's pages have the colours of the pictures, in the light and in the dark.
#[test]
fn pages_have_the_colours_of_pictures() {
    let mut page = Vec::new();
    Timeline::new(&trace(2, 1)).write(&mut page).unwrap();
    let (page, style) = (String::from_utf8(page).unwrap(), style());
    let in_pages = [
        ("work", Account::Computation),
        ("send", Account::Send),
        ("receive", Account::Receive),
        ("gap", Account::Gap),
        ("stall", Account::Stall),
        ("port", Account::Port),
        ("barrier", Account::Barrier),
        ("paper", Account::End),
    ];
    for (name, account) in in_pages {
        let rule = format!(".{}{{fill:", styles::account_style(account).ink.class());
        let colours: Vec<&str> = style.split(&rule).skip(1).map(|rest| &rest[..7]).collect();
        let own = format!("--{name}: ");
        assert_eq!(page.split(&own).skip(1).map(|rest| &rest[..7]).collect::<Vec<_>>(), colours, "{name}");
        assert_eq!(colours.len(), 2);
    }
}

/// Each stretch of a row shows its most frequent kind if a picture cannot hold all slices.
#[test]
fn too_many_slices_are_summarized() {
    let params = Params::builder(200).L(6 * US).o(2 * US).g(4 * US).build().unwrap();
    let run = Machine::new(params).trace(true).run(|p| {
        for _ in 0..100 {
            p.work("step", 30, || ());
            p.send((p.id() + 1) % p.P(), WORDS, vec![1]);
            p.recv(WORDS);
        }
    });
    let trace = run.unwrap().trace.unwrap();
    let timeline = timeline_from_trace(&trace, "", ("us", US), &Window::default());
    assert!(timeline.messages.is_empty() && timeline.slices.len() < 50_000);
    let until = timeline.slices.iter().map(|slice| slice.end).max().unwrap();
    let computes = timeline.slices.iter().filter(|slice| timeline.kinds[slice.kind].name == "computation");
    let part = computes.map(|slice| slice.end - slice.start).sum::<i64>() as f64 / (200.0 * until as f64);
    // A processor computes for at most 30 us of each 40.
    assert!(part > 0.7 && timeline.svg().unwrap().contains("what there is most of"), "{part}");
    let window = Window { from: Time::ZERO, until: 40 * US, only: Some(vec![7]) };
    assert_eq!(timeline_from_trace(&trace, "", ("us", US), &window).slices.len(), 4);
}

#[test]
fn series_differ_without_colours_too() {
    let looks: Vec<SeriesStyle> = (0..40).map(SeriesStyle::for_number).collect();
    for (n, one) in looks.iter().enumerate() {
        for other in &looks[..n] {
            assert!(
                (one.ink, one.mark) != (other.ink, other.mark)
                    && (one.ink, one.dash) != (other.ink, other.dash)
            );
        }
    }
    for (n, one) in looks[..7].iter().enumerate() {
        assert!(
            looks[..n]
                .iter()
                .all(|other| one.ink != other.ink && one.mark != other.mark && one.dash != other.dash)
        );
    }
    assert!(HEAT.windows(2).all(|pair| pair[0] != pair[1]));
}

#[test]
fn long_text_is_wrapped_without_loss() {
    let lines = wrap(LONG, 13.0, 200.0);
    assert!(lines.iter().all(|line| text_width(line, 13.0) <= 200.0));
    let letters = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>();
    assert_eq!(letters(&lines.concat()), letters(LONG));
    assert_eq!(wrap("one\ntwo three", 13.0, 1000.0), ["one", "two three"]);
}

#[test]
fn tree_refuses_a_late_parent_and_too_many_nodes() {
    let node = |parent| tree::TreeNode { parent, label: String::new(), note: String::new() };
    let draw_tree = |nodes| TreePicture { title: String::new(), subtitle: String::new(), nodes }.svg();
    assert!(
        draw_tree(vec![node(None), node(Some(2)), node(Some(0))])
            .unwrap_err()
            .contains("node 1 comes before its parent")
    );
    assert!(
        draw_tree((0..257).map(|_| node(None)).collect())
            .unwrap_err()
            .contains("at most 256 nodes, and there are 257")
    );
    assert!(draw_tree(vec![node(None), node(None), node(Some(1))]).is_ok());
}

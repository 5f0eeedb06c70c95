//! `loggp reproduce` as a user meets it: its files, its page, and the state after it was killed.

mod browser;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use loggp_papers::exhibits;
use serde_json::Value;

use crate::requests::{answer_of, loggp, refusal_of, rows};

/// Returns the command with the arguments of a line, for this folder.
fn reproduce(line: &str, folder: &Path) -> Command {
    let mut command = loggp(&format!("reproduce {line} -o"));
    command.arg(folder);
    command
}

/// Runs the command, which must succeed without warnings, and returns its stdout.
fn stdout_of(command: Command) -> String {
    let (status, stdout, stderr) = answer_of(command);
    assert_eq!((status, &*stderr), (Some(0), ""));
    stdout
}

/// Returns the path of a folder of this name, which does not exist.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("reproduce-{name}"));
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Makes a report of exhibits without measurements, and checks its files.
fn check_report(name: &str, names: &str) -> PathBuf {
    let folder = folder(name);
    let summary = folder.with_file_name(format!("reproduce-{name}-pages.md"));
    let _ = fs::remove_dir_all(summary.with_extension(""));
    let mut command = reproduce(&format!("{names} --clock virtual"), &folder);
    command.arg("-o").arg(&summary).arg("-o").arg(folder.with_extension("html"));
    // The status would be 1 if a row were not as expected.
    let lines = stdout_of(command);
    let [exhibits, sums, files] = lines.split("\n\n").collect::<Vec<_>>()[..] else { panic!("{lines}") };
    assert_eq!(exhibits.lines().count(), ids(&folder).len(), "{lines}");
    assert!(sums.contains("with --full"), "{sums}");
    let page = read(&summary);
    assert!(sums.lines().count() > 2 && sums.lines().all(|sum| page.contains(sum)), "{sums}");
    assert_eq!(files.lines().count(), 3, "{lines}");
    check_files_and_page(&folder);
    check_summary_and_pages(&folder, &summary);
    assert_eq!(read(&folder.join("index.html")), read(&folder.with_extension("html")));
    folder
}

/// Exhibits of every paper, with pictures and tables of all kinds. The papers' own tests make all exhibits.
#[test]
fn a_report_is_right() {
    let made =
        check_report("some", "logp-fig3 logp-table1 karp-broadcast transport-fig1 loggp-fig1 loggps-fig1");
    assert_eq!(ids(&made).len(), 6);
}

#[test]
#[ignore = "a minute for a report of everything"]
fn the_report_of_everything_is_right() {
    let all = check_report("all", "");
    assert_eq!(ids(&all).len(), exhibits().count());
}

/// Returns the ids of the exhibits in a folder.
fn ids(folder: &Path) -> Vec<String> {
    record_times(folder).keys().map(|file| file.strip_suffix(".json").unwrap().into()).collect()
}

/// Returns a record of a report.
fn record(folder: &Path, id: &str) -> Value {
    serde_json::from_str(&read(&folder.join(format!("{id}.json")))).unwrap()
}

fn check_files_and_page(folder: &Path) {
    let page = read(&folder.join("index.html"));
    let mut pictures = 0;
    for id in ids(folder) {
        let record = record(folder, &id);
        assert!(page.contains(&format!("<article id=\"{id}\"")), "{id}");
        assert!(!record["finding"]["rows"].as_array().unwrap().is_empty(), "{id}");
        let names = |of: &str| -> Vec<String> {
            let all = record["finding"][of].as_array().unwrap();
            all.iter().map(|one| one["name"].as_str().unwrap().to_string()).collect()
        };
        let (svgs, tables) = (names("pictures"), names("tables"));
        for names in [&svgs, &tables] {
            assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{id}: two of a name");
        }
        pictures += svgs.len();
        let file = |name: &str, extension: &str| match name {
            "" => format!("{id}.{extension}"),
            name => format!("{id}-{name}.{extension}"),
        };
        for name in svgs.iter().map(|name| file(name, "svg")) {
            // On the page the element may have further attributes.
            let svg = read(&folder.join(&name));
            assert!(page.contains(svg.trim_end().strip_prefix("<svg").unwrap()), "{name} is not on the page");
        }
        for name in tables.iter().map(|name| file(name, "csv")) {
            let mut rows = csv::Reader::from_path(folder.join(&name)).unwrap();
            assert!(rows.records().map(Result::unwrap).count() > 0, "{name} is empty");
            assert!(page.contains(&name), "{name}");
        }
    }
    assert_eq!(page.matches("<figure>").count(), pictures);
    assert!(page.ends_with("</html>\n"));
    for outside in ["<script ", "src=", "href=\"http", "url(", "@import"] {
        assert!(!page.contains(outside), "the page is not by itself: {outside}");
    }
    // Of the browser it asks for nothing but that nothing is fetched.
    assert_eq!(page.matches("http-equiv").count(), 1);
    assert!(page.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "));
}

/// Checks that the summary links to each exhibit on its paper's page, which has all its rows and pictures.
fn check_summary_and_pages(folder: &Path, path: &Path) {
    let summary = read(path);
    assert!(summary.len() < 60_000, "{} bytes are no summary", summary.len());
    let pages = path.with_extension("");
    let mut shown = BTreeSet::new();
    for (paper, exhibit) in exhibits().filter(|(_, exhibit)| ids(folder).iter().any(|id| id == exhibit.id)) {
        let (paper, id) = (paper.folder, exhibit.id);
        let pages_name = pages.file_name().unwrap().to_str().unwrap();
        assert!(summary.contains(&format!("]({pages_name}/{paper}.md#{id})")), "{summary}");
        let page = read(&pages.join(paper).with_extension("md"));
        assert!(page.len() < 200_000, "{} bytes are no page of Markdown", page.len());
        let article =
            page.split("<a id=\"").find_map(|part| part.strip_prefix(&format!("{id}\"></a>"))).unwrap();
        let plain = article.replace('\\', "");
        for row in record(folder, id)["finding"]["rows"].as_array().unwrap() {
            let text = |name: &str| row[name].as_str().unwrap();
            let line = plain.lines().find(|line| line.starts_with(&format!("| {} | ", text("what"))));
            assert!(
                line.is_some_and(|line| line.contains(text("ours")) && line.contains(text("rule"))),
                "{row}"
            );
        }
        shown.extend(article.lines().filter_map(|line| {
            Some(line.strip_prefix("![")?.split_once("](")?.1.strip_suffix(')')?.to_string())
        }));
    }
    let files = fs::read_dir(&pages).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(shown, files.filter(|file| file.ends_with(".svg")).collect());
}

/// The README has the sums of the report in `docs`, which is made at the papers' own sizes.
#[test]
fn readme_has_the_sums_of_the_report() {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let report = read(&root.join("docs/results/papers.md"));
    let readme = read(&root.join("README.md")).replace('\n', " ");
    let all = |table| report.lines().filter_map(|line| line.strip_prefix("| all | ")).nth(table).unwrap();
    let cells = |table| all(table).split(" | ").map(|cell| cell.trim_end_matches(" |")).collect::<Vec<_>>();
    let figures = format!("makes {} figures and tables again", cells(1)[0]);
    let sums: Vec<&str> = report.lines().filter(|line| line.starts_with("Of ")).collect();
    assert!(sums.len() == 3 && !report.contains("with --full"));
    for says in sums.into_iter().chain([&*figures]) {
        assert!(readme.contains(says), "the README does not say: {says}");
    }
    let fates: Vec<usize> = cells(0).iter().map(|number| number.parse().unwrap()).collect();
    assert_eq!(fates[0], fates[1..].iter().sum::<usize>(), "each number counts once");
}

/// Opens the page wide and narrow, light and dark.
#[test]
#[ignore = "needs Chromium"]
fn a_browser_shows_the_whole_page() {
    let browser = browser::find().expect("there is a Chromium");
    let all = check_report("seen", "");
    let page = read(&all.join("index.html"));
    let torn = browser.probe(&page.replacen("<h1>", "<h1 style=\"width:3000px\">", 1), 1280, false, &all);
    assert!(!torn.problems.is_empty(), "it would not see what is too wide");
    for (width, dark) in [(1280, false), (1280, true), (400, false), (400, true)] {
        let view = browser.probe(&page, width, dark, &all);
        assert_eq!(view.problems, Vec::<String>::new(), "{width} px, dark: {dark}");
        assert_eq!(view.figures, page.matches("<figure>").count());
        assert_eq!(view.is_dark, dark, "{width} px");
    }
}

/// Returns the time at which each record was written.
fn record_times(folder: &Path) -> BTreeMap<String, SystemTime> {
    let files = fs::read_dir(folder).into_iter().flatten().map(Result::unwrap);
    let records = files.filter(|file| file.path().extension().is_some_and(|extension| extension == "json"));
    let time = |file: &fs::DirEntry| file.metadata().unwrap().modified().unwrap();
    records.map(|file| (file.file_name().into_string().unwrap(), time(&file))).collect()
}

/// Checks that all files in the folder are complete.
fn assert_whole(folder: &Path) {
    for file in record_times(folder).into_keys() {
        let record: Value = serde_json::from_str(&read(&folder.join(&file))).unwrap();
        assert_eq!(record["id"].as_str().unwrap(), file.strip_suffix(".json").unwrap());
    }
    for file in fs::read_dir(folder).into_iter().flatten().map(|file| file.unwrap().path()) {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("html") => assert!(read(&file).ends_with("</html>\n")),
            Some("svg") => assert!(read(&file).trim_end().ends_with("</svg>")),
            Some("csv") => assert!(csv::Reader::from_path(&file).unwrap().records().all(|row| row.is_ok())),
            _ => (),
        }
    }
}

/// A command that is killed at any moment leaves complete files, and the next one continues from there.
/// `LOGGP_KILLS` sets the number of kills.
#[cfg(unix)]
#[test]
fn a_killed_command_resumes() {
    let kills = std::env::var("LOGGP_KILLS").map_or(8, |kills| kills.parse().unwrap());
    let folder = folder("killed");
    let line = "karp-* logp-fig3 logp-fig4 loggp-fig* --clock virtual";
    let mut random = fastrand::Rng::with_seed(1);
    let mut before = BTreeMap::new();
    for kill in 0..kills {
        let mut command = reproduce(line, &folder);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep(Duration::from_millis(random.u64(0..700)));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_whole(&folder);
        let now = record_times(&folder);
        for (id, time) in &before {
            assert_eq!(now.get(id), Some(time), "{id} was made anew after kill {kill}");
        }
        before = now;
        if before.len() > 12 {
            fs::remove_dir_all(&folder).unwrap(); // so that the next command runs for long enough
            before.clear();
        }
    }
    stdout_of(reproduce(line, &folder));
    assert_whole(&folder);
    let now = record_times(&folder);
    assert!(before.iter().all(|(id, time)| now[id] == *time));
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().file_name()).collect();
    let is_draft = |name: &&std::ffi::OsString| name.to_string_lossy().starts_with('.') && *name != ".lock";
    assert_eq!(left.iter().find(is_draft), None);
}

#[test]
fn exhibits_are_made_again_only_on_request() {
    let folder = folder("anew");
    let first = || record_times(&folder)["logp-fig3.json"];
    stdout_of(reproduce("logp-fig3 --clock virtual", &folder));
    let made = first();
    stdout_of(reproduce("logp-fig3 --clock virtual", &folder));
    assert_eq!(first(), made);
    stdout_of(reproduce("logp-fig3 --clock virtual --force", &folder));
    assert_ne!(first(), made);
    let made = first();
    stdout_of(reproduce("logp-fig3 --clock virtual --seed 2", &folder));
    assert_ne!(first(), made, "another seed is another report");
    stdout_of(reproduce("logp-fig4 --clock virtual", &folder));
    let page = read(&folder.join("index.html"));
    assert!(page.contains("<article id=\"logp-fig3\"") && page.contains("<article id=\"logp-fig4\""));
}

#[test]
fn the_list_has_every_exhibit() {
    let list = stdout_of(loggp("reproduce --list"));
    for (paper, exhibit) in exhibits() {
        let line = list.lines().find(|line| line.starts_with(&format!("{} ", exhibit.id))).unwrap();
        assert!(line.contains(paper.name) && line.contains(exhibit.title), "{line}");
    }
    let rows = rows("reproduce --list logp-fig*");
    assert!(rows.iter().all(|row| row["id"].as_str().unwrap().starts_with("logp-fig")) && rows.len() == 6);
}

#[test]
fn wrong_requests_are_refused() {
    let folder = folder("refused");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("file");
    fs::write(&file, "").unwrap();
    assert!(refusal_of(reproduce("logp-fig3", &file)).contains("it is not a folder"));
    let page = folder.join("index.html");
    fs::write(&page, "<html>a page of somebody else</html>").unwrap();
    assert!(refusal_of(reproduce("logp-fig3", &folder)).contains("its index.html is another page"));
    assert_eq!(read(&page), "<html>a page of somebody else</html>");
    let lock = fs::File::create(folder.join(".lock")).unwrap();
    fs::remove_file(&page).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert!(refusal_of(reproduce("logp-fig3", &folder)).contains("another command is writing to it"));
}

/// Returns the tags of a page that have an attribute twice. A browser ignores the second one.
fn tags_with_doubled_attributes(page: &str) -> Vec<&str> {
    let mut tags = Vec::new();
    for part in page.split('<').skip(1) {
        // Values are in quotes, so every other part has names.
        let between = part.split('"').step_by(2).take_while(|part| !part.contains('>'));
        let mut names: Vec<&str> =
            between.filter_map(|part| part.strip_suffix('=')?.split_whitespace().last()).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        if names.len() < all {
            tags.push(part.split_once('>').map_or(part, |(tag, _)| tag));
        }
    }
    tags
}

/// The filters of a page hide cards and entries of the contents together with their articles.
#[test]
fn no_element_of_a_page_has_an_attribute_twice() {
    assert_eq!(
        tags_with_doubled_attributes("<a class=\"b\" href=\"c\" class=\"d\">e</a><a class=\"b\">").len(),
        1
    );
    let file = folder("attributes").with_extension("html");
    let mut command =
        reproduce("logp-fig3 transport-fig1 loggp-table1 --clock virtual", &folder("attributes"));
    command.arg("-o").arg(&file);
    stdout_of(command);
    let page = read(&file);
    assert_eq!(tags_with_doubled_attributes(&page), [""; 0]);
    assert!(page.matches("<a class=\"card ").count() > 2);
    let hides = page.matches(":is(article, .card, .contents li):not(.").count();
    assert_eq!(hides, 2, "what is not chosen is hidden, and the way to it too");
}

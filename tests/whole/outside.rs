//! Texts from files: they never give orders to a terminal, and what JSON says of them can be read.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use loggp_draw::page::script_source;
use serde_json::Value;

use crate::requests::{answer_of, folder, loggp, stdout_of};

/// A title of the terminal's window, a cleared screen by C1, a turned direction, and a line of its own.
const ORDERS: &str = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\u{2066}\r\u{7f}\nerror: forged";

/// Runs a command in a folder, with the file last. No text in its output may give orders.
fn assert_printable(line: &str, folder: &Path, file: &str) {
    let mut command = loggp(line);
    command.current_dir(folder);
    if !file.is_empty() {
        command.arg(file);
    }
    let (status, stdout, stderr) = answer_of(command);
    assert!(status.is_some_and(|status| status < 3), "{line} {file:?}: {status:?}, {stderr}");
    for text in [&stdout, &stderr] {
        let is_order = |c: char| {
            c.is_control() && !matches!(c, '\n' | '\t')
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!text.contains(is_order), "{line} {file:?}: {text:?}");
        let is_forged = text.contains("\nerror: forged") && !line.starts_with("merge"); // which copies rows
        assert!(!is_forged, "{line} {file:?}: {text}");
    }
    if line.contains("--format json") {
        stdout.lines().for_each(|row| drop(serde_json::from_str::<Value>(row).expect(row)));
    }
}

/// Calls `with` for each text within a value, and each name of a field, at its first place.
fn collect_texts(value: &Value, texts: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => drop(texts.insert(text.clone())),
        Value::Array(values) => values.iter().for_each(|value| collect_texts(value, texts)),
        Value::Object(fields) => {
            texts.extend(fields.keys().cloned());
            fields.values().for_each(|value| collect_texts(value, texts));
        }
        _ => (),
    }
}

/// Every text of a trace, and every name of a field, is followed by orders, one after the other.
#[test]
fn texts_of_a_trace_give_no_orders() {
    let folder = folder("outside-trace");
    let path = folder.join("t.json");
    stdout_of(&format!("run gauss -P 2 --size 4 --work charged --trace {}", path.display()));
    let trace = fs::read_to_string(&path).unwrap();
    let mut texts = BTreeSet::new();
    collect_texts(&serde_json::from_str(&trace).unwrap(), &mut texts);
    let shown = ["gauss on cs2-elan, whole", "pivot", "unknowns", "calls", "10000", "flop", "about", "got"];
    let kept = |text: &&String| shown.contains(&&***text);
    let orders = serde_json::to_string(ORDERS).unwrap();
    for text in texts.iter().filter(kept) {
        let quoted = serde_json::to_string(text).unwrap();
        let changed = format!("{}{}", &quoted[..quoted.len() - 1], &orders[1..]);
        fs::write(&path, trace.replace(&quoted, &changed)).unwrap();
        for line in
            ["analyze --no-sensitivities --path", "audit", "trace2goal", "tolerance --no-pieces --runs 2"]
        {
            assert_printable(line, &folder, "t.json");
        }
    }
    let named =
        trace.replace("\"unknowns\"", &orders).replace("\"pivot\"", &orders).replace("\"flop\"", &orders);
    fs::write(&path, named).unwrap();
    for line in [
        "analyze",
        "analyze --format json",
        "analyze --format csv",
        "timeline -o x.html",
        "timeline -o x.svg",
        "tolerance --format json",
        "run gauss -P 2 --size 4 --repeat-from",
    ] {
        assert_printable(line, &folder, "t.json");
    }
    let page = fs::read_to_string(folder.join("x.html")).unwrap();
    assert_eq!(page.matches("</script>").count(), page.matches("<script").count());
}

/// A page runs its own script alone: its policy has the hash of that.
#[test]
fn pages_run_their_own_script_alone() {
    let folder = folder("outside-pages");
    let [report, timeline] = ["r.html", "t.html"].map(|name| folder.join(name));
    let exhibits = folder.join("exhibits");
    let line =
        format!("reproduce logp-fig3 --clock virtual -o {} -o {}", exhibits.display(), report.display());
    stdout_of(&line);
    stdout_of(&format!("run broadcast -P 2 -o {}", timeline.display()));
    for page in [report, timeline].map(|path| fs::read_to_string(path).unwrap()) {
        let scripts: Vec<&str> = page.split("<script>").skip(1).collect();
        let [script] = scripts[..] else { panic!("{} scripts", scripts.len()) };
        let (_, policy) = page.split_once("http-equiv=\"Content-Security-Policy\" content=\"").unwrap();
        let (policy, _) = policy.split_once('"').unwrap();
        let source = script_source(script.split_once("</script>").unwrap().0);
        assert!(
            policy.starts_with(&format!("default-src 'none'; script-src {source}; ")),
            "{policy}, {source}"
        );
    }
}

/// The program, its host, its MPI and its places.
#[test]
fn texts_of_a_recording_give_no_orders() {
    let folder = folder("outside-recording");
    let ring = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mpi/ring.mpi");
    let mut bytes = fs::read(ring).unwrap();
    // Of the same lengths, and so is the file.
    for (text, orders) in [
        ("/tmp/rec/ring", "\n\u{1b}]0;sum\u{7}\r\u{202e}"),
        ("relax", "\u{1b}[2J\n"),
        ("./ring.c", "\u{9b}31m\u{202e}"),
        ("Open MPI v4.1.4", "\u{1b}[31m\nerror: me"),
    ] {
        assert_eq!(text.len(), orders.len());
        for at in 0..=bytes.len() - text.len() {
            if bytes[at..].starts_with(text.as_bytes()) {
                bytes[at..at + text.len()].copy_from_slice(orders.as_bytes());
            }
        }
    }
    fs::write(folder.join("r.mpi"), bytes).unwrap();
    for line in [
        "record --list",
        "analyze --no-sensitivities --path",
        "analyze --no-sensitivities --format json",
        "analyze --no-sensitivities --format csv",
        "tolerance --no-pieces --runs 2",
        "replay",
        "replay --format json",
        "timeline -o x.html",
    ] {
        assert_printable(line, &folder, "r.mpi");
    }
}

/// Files of other kinds, whose texts are refused or left out, and names of files.
#[test]
fn texts_of_other_files_give_no_orders() {
    let folder = folder("outside-others");
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    let orders = serde_json::to_string(ORDERS).unwrap();
    let machine = r#"{"machine": "m", "params": {"L": "6us", "o": "2us", "g": "4us"}, "ports": "single"}"#;
    for text in ["\"m\"", "\"6us\"", "\"L\"", "\"ports\"", "\"single\"", "{\"machine\""] {
        let at = text.trim_start_matches('{');
        write("m.json", &machine.replacen(at, &format!("{}{}", &at[..at.len() - 1], &orders[1..]), 1));
        for line in
            ["run broadcast -P 2 --machine", "replay ring -P 2 --machine", "tolerance ring -P 2 --machine"]
        {
            assert_printable(line, &folder, "m.json");
        }
    }
    let goal = "num_ranks 2\nrank 0 {\nl1: send 1b to 1 tag 7\nl2: calc 5\nl2 requires l1\n}\nrank 1 {\nl1: recv 1b from 0 tag 7\n}\n";
    for text in ["num_ranks", "l1", "send", "1b", "calc", "requires", "recv", "tag"] {
        write("g.goal", &goal.replace(text, &format!("{text}{}", ORDERS.replace('\n', ""))));
        for line in ["replay", "tolerance", "analyze"] {
            assert_printable(line, &folder, "g.goal");
        }
    }
    for text in
        [ORDERS.to_string(), format!("1 2 {ORDERS}"), format!("# {ORDERS}\n1us 2us"), format!("1,{ORDERS}")]
    {
        for (name, line) in [
            ("n.txt", "run broadcast -P 2 --noise"),
            ("c.csv", "calibrate --from"),
            ("x.csv", "merge"),
            ("x.json", "merge"),
            ("m.csv", "run transportation -P 2 --matrix"),
            ("0.txt", "mpi2goal"),
            ("o.json", "run broadcast -P 2 --repeat-from"),
        ] {
            write(name, &text);
            assert_printable(line, &folder, name);
        }
    }
    let row = format!("{{\"a\": {orders}}}\n");
    write("x.json", &row);
    write("y.json", &row);
    write("x.csv", &format!("a,b\n{},1\n", ORDERS.replace('\n', " ")));
    assert_printable("merge --format json x.json", &folder, "y.json");
    assert_printable("merge x.csv", &folder, "x.csv");

    let name = ORDERS.replace(['\n', ']'], "");
    write(&format!("{name}.goal"), goal);
    for line in
        ["replay", "tolerance", "analyze", "audit", "timeline -o x.html", "record --list", "merge", "run"]
    {
        assert_printable(line, &folder, &format!("{name}.goal"));
    }
    assert_printable("run broadcast --machine", &folder, &name);
    assert_printable("run broadcast -o", &folder, &format!("{name}.json"));
    assert_printable("timeline broadcast -o", &folder, &format!("{name}.html"));
}

/// Inputs that never end are refused in a sentence, with little memory and no copy in a file.
#[test]
fn endless_inputs_are_refused() {
    let folder = folder("outside-endless");
    let link = |name: &str, to: &str| symlink(to, folder.join(name)).unwrap();
    ["0.csv", "0.json", "zeros"].iter().for_each(|name| link(name, "/dev/zero"));
    for line in [
        "run broadcast -P 2 --noise F",
        "run broadcast -P 2 --machine ./F",
        "run broadcast -P 2 --repeat-from F",
        "run transportation -P 2 --matrix F.csv",
        "run lu -P 2 --size 4 --entries F.csv",
        "calibrate --from F",
        "merge F.csv",
        "merge F.json",
        "replay F",
        "replay ring --collectives F",
        "replay -", // from a pipe
        "tolerance F",
        "analyze F",
        "audit F",
        "timeline F -o x.html",
        "trace2goal F",
        "mpi2goal F",
        "record --list F",
    ] {
        let line = line.replace("F.", "0.").replace('F', "zeros");
        let script = format!("cat /dev/zero 2>&- | (ulimit -v 2000000 && ulimit -f 0 && exec \"$0\" {line})");
        let mut command = Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_loggp")]).current_dir(&folder);
        let (status, stdout, stderr) = answer_of(command);
        assert_eq!((status, &*stdout), (Some(2), ""), "{line}: {stderr}");
        let is_sentence = stderr.starts_with("error: ") && stderr.lines().count() == 1;
        assert!(is_sentence && !stderr.contains("File too large"), "{line}: {stderr}");
    }
}

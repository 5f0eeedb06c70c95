//! A browser that opens a page and says what is wrong with how it looks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// A browser.
pub struct Browser(PathBuf);

/// What a browser saw of a page.
#[derive(Deserialize)]
pub struct PageView {
    /// How many pictures it shows.
    pub figures: usize,
    /// Whether the page is dark.
    pub is_dark: bool,
    /// What is cut off, is not there, or reaches over the side.
    pub problems: Vec<String>,
}

/// The names under which there may be one.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// Looks at the page in the frame.
const PROBE: &str = include_str!("probe.js");

/// The browser of this computer, if it has one.
pub fn find() -> Option<Browser> {
    let runs =
        |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|run| run.status.success());
    NAMES.iter().find(|name| runs(name)).map(|name| Browser(name.into()))
}

impl Browser {
    /// Opens a page in a frame of this width, since a window cannot be as narrow as a telephone.
    pub fn probe(&self, page: &str, width: u32, dark: bool, folder: &Path) -> PageView {
        let page = page.replace('&', "&amp;").replace('"', "&quot;");
        let html = format!(
            "<!DOCTYPE html><meta charset=\"utf-8\"><iframe srcdoc=\"{page}\" \
             style=\"width:{width}px;height:800px;border:0\"></iframe><script>{PROBE}</script>"
        );
        let file = folder.with_file_name(format!("reproduce-probe-{width}-{dark}.html"));
        fs::write(&file, html).unwrap();
        let output = Command::new(&self.0)
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--virtual-time-budget=20000",
                "--dump-dom",
            ])
            .arg(format!("--blink-settings=preferredColorScheme={}", if dark { 0 } else { 1 }))
            .arg(format!("file://{}", file.display()))
            .output()
            .unwrap();
        let dom = String::from_utf8(output.stdout).unwrap();
        let seen = dom.split_once("<pre>").and_then(|(_, rest)| rest.split_once("</pre>"));
        let (seen, _) = seen.unwrap_or_else(|| panic!("the probe said nothing: {dom:.500}"));
        serde_json::from_str(&seen.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).unwrap()
    }
}

//! A browser that opens a page and reports problems of its layout.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// The command of a browser.
pub(super) struct Browser(PathBuf);

/// The view of a page in a browser.
#[derive(Deserialize)]
pub(super) struct PageView {
    /// The number of visible pictures.
    pub figures: usize,
    pub is_dark: bool,
    /// Elements that are cut off, too small or too wide.
    pub problems: Vec<String>,
}

/// Commands of browsers.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// A script that inspects the page in a frame.
const PROBE: &str = include_str!("probe.js");

/// Returns a browser of this computer, or `None`.
pub(super) fn find() -> Option<Browser> {
    let is_there =
        |name: &&str| Command::new(name).arg("--version").output().is_ok_and(|run| run.status.success());
    NAMES.iter().find(|name| is_there(name)).map(|name| Browser(name.into()))
}

impl Browser {
    /// Opens a page in a frame of this width in px, since a window cannot be as narrow as a telephone.
    pub(super) fn probe(&self, page: &str, width: u32, dark: bool, folder: &Path) -> PageView {
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
        let view = dom.split_once("<pre>").and_then(|(_, rest)| rest.split_once("</pre>"));
        let (view, _) = view.unwrap_or_else(|| panic!("the probe said nothing: {dom:.500}"));
        serde_json::from_str(&view.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")).unwrap()
    }
}

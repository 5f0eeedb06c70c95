//! The browser that shows a page.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::executable::find_program;
use crate::error::CliError;

/// Programs that open a page, best first: the one that the desktop has set, then browsers.
const OPENERS: [&str; 8] = [
    "xdg-open",
    "wslview",
    "x-www-browser",
    "firefox",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "epiphany",
];

/// Returns the program that opens a page, or a sentence that says why there is none.
pub fn find() -> Result<PathBuf, &'static str> {
    let chosen = env::var("BROWSER").unwrap_or_default();
    if let Some(browser) = chosen.split(':').filter(|name| !name.is_empty()).find_map(find_program) {
        return Ok(browser);
    }
    if cfg!(target_os = "macos") {
        return find_program("open").ok_or("there is no `open`; name a browser in BROWSER");
    }
    let has = |name: &str| env::var_os(name).is_some_and(|value| !value.is_empty());
    if !["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].into_iter().any(has) {
        return Err(
            "there is no screen here; leave --open out and open the page on another computer, or name a browser in BROWSER",
        );
    }
    let found = OPENERS.into_iter().find_map(find_program);
    found
        .ok_or("no browser is found here; name one in BROWSER, or leave --open out and open the page by hand")
}

/// Opens a page, and does not wait until it is closed.
pub fn open(browser: &Path, page: &Path) -> Result<(), CliError> {
    let mut command = Command::new(browser);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0); // ^C is not for the browser
    let started = command.spawn().map_err(|error| {
        let name = browser.display();
        CliError::Run(format!("{name} does not open {}: {error}; name another in BROWSER", page.display()))
    });
    started.map(drop)
}

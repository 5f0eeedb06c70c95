//! The whole timeline page, and the parts of its script that draw the playground's picture too.

use loggp_draw::page::{SCRIPT as TIMELINE_SCRIPT, Timeline};

use super::answer::{NumberColumn, PageAnswer};
use super::play::PlaySubject;
use super::request::PageRequest;

/// Returns the answer to `timeline`.
pub(crate) fn answer(request: &PageRequest) -> Result<PageAnswer, String> {
    let subject = PlaySubject::find(&request.algorithm)?;
    let (_, trace) = subject.trace(request)?;
    let beside = request.beside.as_ref().map(|beside| {
        let subject = PlaySubject::find(&beside.algorithm)?;
        Ok::<_, String>((subject.title(), subject.trace(beside)?.1))
    });
    let beside = beside.transpose()?;
    let mut timeline = Timeline::new(&trace);
    if let Some((title, other)) = &beside {
        timeline = timeline.title(format!("{} and {title}", subject.title())).name(subject.title());
        timeline = timeline.beside(title, other);
        if let Some(formula) = other.caption.as_ref().and_then(|caption| caption.formula) {
            timeline = timeline.mark("formula", formula);
        }
    }
    let mut page = Vec::new();
    timeline.write(&mut page).map_err(|why| why.to_string())?;
    let mut answer = PageAnswer::default();
    answer.set_column("html", NumberColumn::U8(page));
    answer.set("name", format!("{}.html", subject.title().replace([' ', '/'], "-")));
    Ok(answer)
}

/// Returns the answer to `script`: the parts of the script with these names, in their order.
pub(crate) fn script(request: &PageRequest) -> Result<PageAnswer, String> {
    let mut text = Vec::new();
    for name in request.name.split(',') {
        let part = TIMELINE_SCRIPT.iter().find(|(other, _)| *other == name);
        let (_, part) = part.ok_or_else(|| format!("the timeline's script has no part {name}"))?;
        text.extend_from_slice(part.as_bytes());
    }
    let mut answer = PageAnswer::default();
    answer.set_column("script", NumberColumn::U8(text));
    Ok(answer)
}

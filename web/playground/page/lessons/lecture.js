// ---- For the lecture: `f` shows the picture alone, so large that the last row reads it. Space plays, arrows go through the links
// of the course.
const COURSE = ["#start=1", "#exercise=tree", "#figure-4", "#capacity", "#contention", "#long-messages"];
// Words of 12 pixels become as large as this.
const LARGE = 28 / 12;
const isLecture = () => "lecture" in document.documentElement.dataset;

function turnLecture(isOn) {
  document.documentElement.toggleAttribute("data-lecture", isOn);
  place.zoom = isOn ? LARGE : 1;
  tellHighest();
  if (isOn) document.documentElement.requestFullscreen?.().catch(() => {});
  else if (document.fullscreenElement) document.exitFullscreen();
  relay();
}

function listenToLecture() {
  addEventListener("keydown", (event) => {
    const { key, target } = event, way = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input:not([type=range]), textarea, select")) return;
    if (key === "f" || key === "Escape" && isLecture()) turnLecture(key === "f" && !isLecture());
    else if (!isLecture()) return;
    else if (key === " ") moment.frame ? stopPlay() : startPlay();
    else if (way) {
      const at = COURSE.indexOf(location.hash) + way;
      location.hash = COURSE[(at < 0 ? 0 : at) % COURSE.length];
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }, { capture: true });
  // The browser's own way out of a full screen.
  addEventListener("fullscreenchange", () => document.fullscreenElement || isLecture() && turnLecture(false));
}

// ---- What is seen before the machine and the page's script have come: the race, for who opens it by its link or comes the first
// time.
const isCalm = matchMedia("(prefers-reduced-motion: reduce)");
if (/^#start=?$/.test(location.hash) || location.hash.length < 2 && !kept.seen && kept.screen < 2) {
  const lesson = document.getElementById("lesson");
  document.documentElement.dataset.lesson = "race";
  lesson.hidden = false;
  lesson.append(worded("h2", QUESTION), worded("p", TOLD), makeRace());
}

// ---- What the browser keeps: whether "Start here" was seen, how far, and which exercises were tried. Some browsers keep
// nothing for a file.
const KEPT = "loggp-playground";
const kept = { seen: false, screen: 1, reached: 1, tried: {} };
try {
  Object.assign(kept, JSON.parse(localStorage[KEPT]));
} catch {}
kept.tried = Object(kept.tried);

function keep(more) {
  Object.assign(kept, more);
  try {
    localStorage[KEPT] = JSON.stringify(kept);
  } catch {}
}

// ---- The view in the page's address, so that a link opens it again. Times are in picoseconds.
let noted = 0;

function noteView() {
  clearTimeout(noted);
  noted = setTimeout(() => {
    const fields = addressed(), text = Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
    if (location.hash.slice(1) !== text) history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
  }, 300);
}

// The fields that differ from those with which the page opens.
function addressed() {
  const ps = (moment) => Math.round(moment * runs[0].quantum), fields = {}, { interval, chosen } = state;
  if (view.from > 0 || view.until < end) Object.assign(fields, { from: ps(view.from), until: ps(view.until) });
  if (view.rows < P) Object.assign(fields, { top: +view.top.toFixed(3), rows: +view.rows.toFixed(3) });
  if (state.order !== "number") fields.order = state.order;
  if (state.path) fields.path = 1;
  if (!state.arrows) fields.arrows = 0;
  if (!state.flight) fields.flight = 0;
  if ($("search").value) fields.find = $("search").value;
  if (chosen) fields.chosen = `${chosen.run.index}.${chosen.event !== undefined ? "e" + chosen.event : "m" + chosen.message}`;
  if (interval) fields.interval = [interval.index, ps(interval.from), ps(interval.until), interval.first, interval.last].join(".");
  return fields;
}

// Decodes a part of an address, which may be cut short.
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// Shows the view of the address, as far as this page has it.
function readAddress() {
  const fields = new Map(location.hash.slice(1).split("&").map((field) => field.split("=").map(decoded)));
  const number = (name, usual) => Number.isFinite(parseFloat(fields.get(name))) ? parseFloat(fields.get(name)) : usual, { quantum } = runs[0];
  const asked = fields.get("order"), option = [...$("order").options].find((option) => option.value === asked && !option.disabled);
  [state.order, $("order").value] = [option ? asked : "number", option ? asked : "number"];
  sortRows();
  for (const [name, usual] of [["path", 0], ["arrows", 1], ["flight", 1]]) $(name).setAttribute("aria-pressed", state[name] = number(name, usual) !== 0);
  const [from, until] = meta.window ?? [0, end * quantum];
  $("search").value = fields.get("find") ?? "";
  search($("search").value);
  const [, index, kind, i] = /^(\d+)\.([em])(\d+)$/.exec(fields.get("chosen") ?? "") ?? [], run = runs[index], there = run && +i < (kind === "e" ? run.events : run.messages);
  const [panel, a, b, first, last] = (fields.get("interval") ?? "").split(".").map(Number);
  const marked = { index: panel, from: a / quantum, until: b / quantum, first, last };
  if (there) choose(kind === "e" ? { run, event: +i } : { run, message: +i });
  else if (runs[panel] && a < b && first >= 0 && first < last && last <= runs[panel].P) mark(marked);
  else choose(null);
  moveTo(number("from", from) / quantum, Math.min(end, number("until", until) / quantum), number("top", 0), number("rows", P));
  resize();
}


// ---- Pointing at things and choosing them. A thing is an event or a message.

// The number of causes that are listed at once.
const LISTED = 100;

// The thing at a place: the activity there, or a message if one passes, or else the event of its processor.
function pick(x, y) {
  let near = null, least = 5;
  for (const { run, message, a, b } of state.drawn) {
    const [dx, dy] = [b[0] - a[0], b[1] - a[1]], part = ((x - a[0]) * dx + (y - a[1]) * dy) / (dx * dx + dy * dy || 1);
    const far = Math.hypot(x - a[0] - part * dx, y - a[1] - part * dy);
    if (far < least && part > 0.04 && part < 0.96) [least, near] = [far, { run, message }];
  }
  const index = place.panels.findIndex((panel) => y >= panel.top && y < panel.top + panel.height), run = runs[index];
  if (!run || x < place.left) return near;
  const row = Math.floor(view.top + (y - place.panels[index].top) / highOf(run)), own = trackOf(run, row), at = momentAt(x) / ratio(run);
  const middle = highOf(run) >= 14 && Math.abs(y - yOf(run, order[row])) < highOf(run) * 0.17;
  for (const track of own < 0 ? [] : [...(middle && run.beside.get(order[row]) || []), own]) {
    const event = firstAfter(run, track, at);
    if (event >= run.first[track + 1] || run.start[event] > at) continue;
    return near && (run.kind[event] === IDLE || Math.abs(y - yOf(run, order[row])) > highOf(run) * 0.3) ? near : { run, event };
  }
  return near;
}

// The event of a processor at a moment, or null.
function eventAt(run, id, at) {
  const track = run.own[id] ?? -1, event = track < 0 ? -1 : firstAfter(run, track, at / ratio(run));
  return track < 0 || event >= run.first[track + 1] ? null : { run, event };
}

// Shows these elements below the rows, or hides the box if there are none. On a phone it opens beside the tap, over what is there.
function showBeside(...parts) {
  const box = $("why"), wasBelow = !box.hidden && !box.style.position, { tap } = state, space = 26;
  box.hidden = !parts.length;
  box.style = "";
  if (tap && parts.length) {
    const low = tap < innerHeight / 2, high = low ? innerHeight - tap : tap;
    box.style = `position: fixed; z-index: 3; left: 6px; right: 6px; margin: 0; border: 1px solid; max-height: min(42vh, ${high - space - 6}px); ${low ? "top" : "bottom"}: ${(low ? tap : innerHeight - tap) + space}px`;
    parts.unshift(element("button", "\u00d7", { onclick: () => choose(null), ariaLabel: "close", style: "float: right" }));
  }
  box.replaceChildren(...parts);
  if (wasBelow !== (!box.hidden && !box.style.position)) resize();
  else drawOver();
}

// Chooses what is at a place, which was clicked or tapped at this height of the window.
function chooseAt(x, y, height) {
  state.tap = innerWidth < 600 ? height : 0;
  choose(pick(x, y));
  state.tap = 0;
}

function element(name, text, more = {}) {
  return Object.assign(document.createElement(name), { textContent: text, ...more });
}

// An item of a list that can be clicked.
const item = (text, act) => element("li", text, { tabIndex: 0, onclick: act, onkeydown: (event) => event.key === "Enter" && act(event) });

// Chooses a thing, and lists its causes.
function choose(thing) {
  state.chosen = thing;
  state.interval = null;
  if (!thing) return showBeside();
  const { run, event, message } = thing, list = element("ol", "");
  thing.chain = chain(run, event !== undefined ? [END, event] : [ARRIVAL, message]);
  listCauses(list, run, thing.chain, 0);
  showBeside(element("p", `${tell(run, thing)}\nback to the start: ${summary(run, thing.chain)}`), list);
  noteView();
}

function listCauses(list, run, way, first) {
  const { nodes, ids, times } = way, most = list.children.length + LISTED;
  let i = first;
  for (; i + 1 < nodes.length && list.children.length < most; i++) {
    const text = tellStep(run, nodes[i], nodes[i + 1], ids[i], told(run, times[i] - times[i + 1])), [id, at] = [ids[i], times[i]];
    if (text) list.append(item(`${told(run, at)}  ${text}`, () => show(run, id, at)));
  }
  if (i + 1 >= nodes.length) return;
  const more = list.appendChild(item(`and ${many(nodes.length - 1 - i, "step")} further back: show more`, () => {
    const place = [...list.children].indexOf(more);
    more.remove();
    listCauses(list, run, way, i);
    list.children[place]?.focus();
  }));
}

// Points at a thing, or at none, and shows its description at a place of the window.
function point(thing, left = 0, top = 0, text = thing ? tell(thing.run, thing) : "") {
  const tip = $("tip");
  state.hover = thing;
  tip.hidden = !text;
  tip.textContent = text;
  if (text) {
    const { offsetWidth: width, offsetHeight: height } = tip, y = top + height + 20 < innerHeight ? top + 16 : Math.max(4, top - height - 12);
    tip.style.translate = `${Math.max(4, Math.min(innerWidth - width - 4, left + 14))}px ${y}px`;
  }
}

function hover(x, y, left, top) {
  const thing = x === undefined ? null : pick(x, y), run = runs[place.panels.findIndex((panel) => y >= panel.top && y < panel.top + panel.height)];
  state.at = x;
  point(thing, left, top, x === undefined ? "" : [thing ? tell(thing.run, thing) : tellFlight(x, y), state.path && run && tellPath(run, momentAt(x))].filter(Boolean).join("\n"));
  drawOver();
}

// The thing on which keys act: the one pointed at, or chosen, or else in the middle of the view; where that row ends before,
// its last event, and where it has none, that of the whole run.
function here() {
  for (const thing of [state.hover, state.chosen]) if (thing && thing.event !== undefined) return [thing, true];
  const row = Math.min(P - 1, Math.floor(view.top + view.rows / 2)), run = runs[0], after = run.first[(run.own[order[row]] ?? -1) + 1];
  const last = after ? after - 1 : run.last;
  return [eventAt(run, order[row], (view.from + view.until) / 2) ?? (last === null ? null : { run, event: last }), false];
}

// Goes to another event by keys: the next one in its row, or the one of another row at that moment.
function walk(by, rows = 0) {
  let [thing, known] = here();
  if (thing && known) {
    const { run, event } = thing, track = run.track[event], row = rowOf[run.id[track]] + rows;
    let next = event;
    do next += by; while (by && run.track[next] === track && run.end[next] === run.start[next]);
    if (by && run.track[next] === track) thing = { run, event: next };
    if (rows && row >= 0 && row < run.P) thing = eventAt(run, order[row], (run.start[event] + run.end[event]) / 2 * ratio(run)) ?? thing;
  }
  if (thing) visit(thing);
}

function visit(thing) {
  const { run, event } = thing, id = run.id[run.track[event]], q = ratio(run);
  show(run, id, (run.start[event] + run.end[event]) / 2, run.end[event] - run.start[event]);
  frame();
  const box = $("plot").getBoundingClientRect(), x = Math.max(place.left, Math.min(place.width, xOf((run.start[event] + run.end[event]) / 2 * q)));
  point(thing, box.left + x, box.top + yOf(run, id) + highOf(run) / 2);
  $("said").textContent = $("tip").textContent;
  drawOver();
}

// Chooses the thing on which keys act.
function chooseHere() {
  const [thing] = here();
  if (thing) choose(thing);
}


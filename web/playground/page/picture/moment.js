// ---- A moment on the picture's axis, which is dragged, walks with the keys , and ., or plays: who has the datum then, and which
// messages are under way: they are dots on their arrows, and what is to come is pale.

// `at`: in ps, or null at the beginning, where nothing is shown. `frame`: of what plays.
const moment = { at: null, frame: 0, handle: null };
// A run plays so many milliseconds.
const PLAY = 8000;
const lastMoment = () => Math.max(0, ...runs.map((run) => run.finish * run.quantum));
const isMomentOn = () => runs.length > 0 && !isCovered() && !isPicture();

function makeMoment() {
  const handle = moment.handle = element("div", "", { id: "moment", tabIndex: 0 }), play = $("play");
  for (const [name, value] of Object.entries({ role: "slider", "aria-label": "Moment of the run", title: "Drag to a moment of the run", "aria-valuemin": 0 })) handle.setAttribute(name, value);
  handle.append(element("i", ""), element("b", ""));
  $("plot").append(handle);
  const go = (event) => setMoment(momentAt(event.clientX - $("plot").getBoundingClientRect().left) * runs[0].quantum);
  handle.addEventListener("pointerdown", (event) => { stopPlay(); handle.setPointerCapture(event.pointerId); event.stopPropagation(); });
  handle.addEventListener("pointermove", (event) => { event.stopPropagation(); if (event.buttons) go(event); });
  handle.addEventListener("click", (event) => event.stopPropagation());
  $("plot").addEventListener("keydown", (event) => {
    const { key } = event, isOwn = event.target === handle, way = { ",": -1, ".": 1, ...(isOwn ? { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10, Home: -Infinity, End: Infinity } : {}) }[key];
    if (!way || !isMomentOn() || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    stopPlay();
    const step = stepOfMoment();
    setMoment((Math.round((moment.at ?? 0) / step) + way) * step);
    if (!isOwn) $("said").textContent = wordsOfMoment();
  });
  const calm = matchMedia("(prefers-reduced-motion: reduce)"), allow = () => { play.hidden = calm.matches; if (calm.matches) stopPlay(); };
  calm.addEventListener("change", allow);
  allow();
  play.addEventListener("click", (event) => { event.stopPropagation(); if (moment.frame) stopPlay(); else startPlay(); });
}

// A cycle, or a hundredth of a long run.
function stepOfMoment() {
  const { length, suffix } = unitOfSetting(), many = 10 ** Math.floor(Math.log10((lastMoment() || length) / length / 100));
  return length * (suffix ? many : Math.max(1, many));
}

function setMoment(at) {
  moment.at = Math.max(0, Math.min(lastMoment(), at)) || null;
  showMoment();
  if (tree.shape && !$("tree").hidden) drawTree();
}

function startPlay() {
  if (!isMomentOn()) return;
  let before = performance.now();
  const last = lastMoment();
  if (moment.at === null || moment.at >= last) moment.at = 0;
  const step = (now) => {
    const at = (moment.at ?? 0) + (now - before) / PLAY * last;
    before = now;
    moment.frame = at < last && isMomentOn() ? requestAnimationFrame(step) : 0;
    setMoment(at);
    if (!moment.frame) stopPlay();
  };
  moment.frame = requestAnimationFrame(step);
  tellPlay();
}

function stopPlay() {
  cancelAnimationFrame(moment.frame);
  moment.frame = 0;
  tellPlay();
}

function tellPlay() {
  $("play").classList.toggle("pause", moment.frame > 0);
  $("play").ariaLabel = moment.frame ? "Pause" : "Play";
}

// Shows the moment on the picture, on the tree and in words.
function showMoment() {
  const { handle } = moment;
  handle.hidden = $("now").hidden = !isMomentOn();
  drawDots();
  if (handle.hidden) return;
  if (moment.at > lastMoment()) moment.at = lastMoment();
  const at = moment.at ?? 0, text = moment.at === null ? spoken(0) : wordsOfMoment();
  // The grip stays beside the axis's unit.
  const x = Math.min(place.width - 1, xOf(at / runs[0].quantum));
  handle.style.translate = `${x}px`;
  handle.lastChild.style.translate = `${Math.max(0, 42 - x)}px`;
  handle.firstChild.hidden = moment.at === null;
  for (const [name, value] of Object.entries({ "aria-valuemax": lastMoment() / meta.unit[1], "aria-valuenow": at / meta.unit[1], "aria-valuetext": text })) handle.setAttribute(name, value);
  $("now").textContent = moment.at === null ? "" : text;
}

// With more messages under way there are no dots.
const MOST_DOTS = 400;
function drawDots() {
  const canvas = $("dots"), { width, height, scale, left, lane, panels } = place, isOn = moment.at !== null && isMomentOn();
  canvas.hidden = !isOn;
  if (!isOn) return;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) Object.assign(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
  const context = canvas.getContext("2d"), x = Math.max(left, xOf(moment.at / runs[0].quantum));
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  for (const run of runs) {
    const { top, height } = panels[run.index], t = moment.at / run.quantum, half = halfOf(run), flying = [];
    Object.assign(context, { globalAlpha: 0.66, fillStyle: colours.css[IDLE] });
    context.fillRect(x, top - lane, width - x, height + lane);
    for (let m = 0; m < run.messages && flying.length < MOST_DOTS; m++) if (run.enter[m] <= t && t < run.arrival[m]) flying.push(m);
    Object.assign(context, { globalAlpha: 1, fillStyle: colours.letters.L, strokeStyle: colours.css[IDLE], lineWidth: 1.5 });
    if (flying.length < MOST_DOTS) drawDoor(context, run, t, x, flying);
    for (const m of flying.length < MOST_DOTS ? flying : []) {
      const from = yOf(run, run.from[m]), to = yOf(run, run.to[m]), side = half * Math.sign(to - from), part = Math.min(1, (t - run.enter[m]) / (run.out[m] - run.enter[m] || 1));
      context.beginPath();
      context.arc(x, from + side + part * (to - from - 2 * side), Math.max(3, Math.min(7, highOf(run) * 0.22)), 0, 7);
      context.fill();
      context.stroke();
    }
  }
}

// The capacity as slots at the door of who is sent to the most, full or empty, and a ring for each who waits before a full one.
function drawDoor(context, run, t, x, flying) {
  const { capacity } = run, to = new Int32Array(run.P), size = Math.min(14, highOf(run) * 0.4);
  for (const m of flying) to[run.to[m]]++;
  const id = to.indexOf(Math.max(...to));
  if (!setting.lesson && !run.shares[STALL] || !capacity || capacity > 12 || size < 5 || !to[id]) return;
  context.strokeStyle = context.fillStyle = colours.letters.L;
  for (let n = 0; n < capacity; n++) {
    const box = [x + 12 + n * (size + 4), yOf(run, id) - size / 2, size, size];
    if (n < to[id]) context.fillRect(...box);
    context.strokeRect(...box);
  }
  Object.assign(context, { fillStyle: colours.css[IDLE], strokeStyle: colours.css[STALL], lineWidth: 2.5 });
  for (let id = 0; id < run.P; id++) {
    const event = firstAfter(run, run.own[id], t);
    if (run.own[id] < 0 || event >= run.first[run.own[id] + 1] || run.start[event] > t || run.kind[event] !== STALL) continue;
    context.beginPath();
    context.arc(x, yOf(run, id), size / 2, 0, 7);
    context.fill();
    context.stroke();
  }
  Object.assign(context, { fillStyle: colours.letters.L, strokeStyle: colours.css[IDLE], lineWidth: 1.5 });
}

function wordsOfMoment() {
  const at = moment.at ?? 0, step = stepOfMoment(), told = +(Math.floor(at / step + 1e-9) * step / meta.unit[1]).toPrecision(9);
  const words = runs.map((run) => `${runs.length > 1 ? `\n${run.name}: ` : " "}${underWay(run, at / run.quantum)}`);
  return `At ${spelled(told)} ${meta.unit[0]}:${words.join("")}`;
}

// What is under way at a moment of a run, to whom the most of it, and who stalls.
function underWay(run, t) {
  const { capacity } = run, to = new Int32Array(run.P);
  let flying = 0, stalled = 0;
  for (let m = 0; m < run.messages; m++) if (run.enter[m] <= t && t < run.arrival[m]) { flying++; to[run.to[m]]++; }
  for (let id = 0; id < run.P; id++) {
    const track = run.own[id], i = firstAfter(run, track, t);
    if (i < run.first[track + 1] && run.start[i] <= t && run.kind[i] === STALL) stalled++;
  }
  const fullest = [...to.keys()].filter((id) => to[id]).sort((a, b) => to[b] - to[a]).slice(0, innerWidth < 780 ? 1 : 2);
  const bar = (n) => capacity && capacity <= 8 ? ` ${"\u25ae".repeat(n)}${"\u25af".repeat(Math.max(0, capacity - n))}` : "";
  const ends = fullest.map((id) => `, to P${id}${bar(to[id])} ${to[id]}${capacity ? ` of ${capacity}` : ""}`).join("");
  return `${flying ? many(flying, "message") : "no message"} under way${ends}${stalled ? `, ${many(stalled, "processor")} stalled` : ""}`;
}

// On the tree: a line at the moment, and a dot on it for each message that is sent, under way or received.
function drawMoment(context, at, radius, high) {
  const { parent, children, time, last } = tree.shape, index = answers.filter((one) => !one.error).findIndex(({ id }) => id === tree.id), run = runs[index];
  if (moment.at === null || !run?.enter) return;
  const y = high(Math.min(moment.at, last)), t = moment.at / run.quantum;
  Object.assign(context, { strokeStyle: colours.path, fillStyle: colours.bytes, lineWidth: 1 });
  context.setLineDash([4, 3]);
  stroke(context, colours.path, [0, y], [tree.width, y]);
  context.setLineDash([]);
  for (let m = 0; m < run.messages; m++) {
    const [a, b] = [run.from[m], run.to[m]];
    if (parent[b] !== a || !(t >= run.start[run.sent[m]] && t < run.end[run.got[m]])) continue;
    const [left, top] = at(a), [right, low] = at(b), part = (y - top) / (low - top);
    context.fillStyle = t < run.enter[m] ? colours.css[SEND] : t < run.arrival[m] ? colours.path : colours.css[RECEIVE];
    context.beginPath();
    context.arc(left + (right - left) * part, y, Math.max(4, radius * 0.6), 0, 7);
    context.fill();
  }
}

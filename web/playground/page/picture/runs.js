// ---- The runs: asked at each move, drawn as timelines, and told in words.

// `answers`: one for each algorithm. `machineParams`: what the machine has before a slider moves.
// `spent`: the milliseconds that the last answers took.
let answers = [], machineParams = {}, asking = 0, movedSlider = "", settling = 0, opened = null, spent = 0;
// Runs that take longer are not asked for hundreds of times; few messages take long only at first, or where much else runs.
const MOST_SPENT = 60, isLong = () => spent > MOST_SPENT && hasMany();

// Asks and draws once before the next frame, or what moves and is large as soon as it is there.
function refresh(moved = "") {
  movedSlider = moved;
  if (moved && isBeside()) askBeside(false);
  else {
    dropPictures();
    asking = asking || requestAnimationFrame(update);
  }
  noteView();
}

function answer(request) {
  try {
    return ask(request);
  } catch (error) {
    return { error: error.message, about: error.about };
  }
}

// While a slider moves and frames take too long, fewer pixels are drawn, and the tree less often.
const SLOW = 24, pace = { last: 0, gap: 0, turn: 0 };
function keepPace() {
  const now = performance.now(), gap = now - pace.last;
  pace.last = now;
  pace.turn++;
  if (gap < 300) pace.gap += (gap - pace.gap) / 8;
  if (!movedSlider || pace.gap < SLOW || state.coarse) return;
  state.coarse = true;
  if (devicePixelRatio > 1) resize();
}

// While a slider moves nobody asks for causes, which take a fifth of the time.
let haveCauses = true;
const runRequest = (id, causes) => ({ do: "run", ...requestFor(id), columns: false, page: true, causes });
function askRuns(causes) {
  const begun = performance.now();
  haveCauses = causes;
  answers = chosen().map((id) => ({ id, ...answer(runRequest(id, causes)) }));
  spent = performance.now() - begun;
}

function update() {
  asking = 0;
  keepPace();
  const isRested = taken?.isWhole;
  if (taken) {
    ({ answers, isWhole: haveCauses } = taken);
    spent = answers.reduce((sum, one) => sum + (one.spent ?? 0), 0);
    taken = null;
  } else askRuns(movedSlider === "");
  const good = answers.filter((one) => !one.error), bad = answers.find((one) => one.error);
  tellTrouble(bad ? bad.error : setting.strange);
  document.documentElement.toggleAttribute("data-trouble", !good.length);
  // What stands above the picture is there before it: the picture of a screen of the start ends with the window.
  showSliders(movedSlider);
  tellBet();
  if (good.length) showRuns(good);
  showResults();
  tellPast();
  tellLesson();
  if (!state.coarse || pace.turn % 3 === 0) showTree();
  if (isRested) return;
  clearTimeout(settling);
  settling = setTimeout(finishMove, 250);
}

// What takes longer, and what is said aloud, waits until the slider rests.
function finishMove() {
  clearTimeout(settling);
  if (asking || painters.busy) return settling = setTimeout(finishMove, 50);
  if (state.coarse) {
    state.coarse = false;
    pace.gap = 0;
    showTree();
  }
  // Whether letters fit above the rows is known once the run stays as it is.
  relay();
  if (haveCauses) startPainters();
  else if (isBeside()) askBeside(true);
  else showWhole();
  say();
  showTable();
  showGoal();
  showChangesLater();
  showZonesLater();
  movedSlider = "";
  tellLesson();
  $("sliders").classList.remove("stale");
}

// Asks and draws all at once.
function showWhole() {
  askRuns(true);
  const good = answers.filter((one) => !one.error);
  if (good.length) showRuns(good);
  startPainters();
}

// How much longer than the runs the axis is: one that is to be guessed does not tell, and stays for the guess beside the run.
const roomOnAxis = () => isCovered() || guessed.kept ? 1.7 : 1;

// What the height of the picture depends on, as it was drawn last.
let shapeShown = "";
function showRuns(good) {
  const unit = unitOfSetting(), goal = screenOf()?.goal;
  meta.unit = [unit.name, unit.length];
  for (const run of runs.splice(0)) run.painted?.close();
  for (const [index, one] of good.entries()) {
    const marks = one.formula?.time && !setting.lesson ? [[isEstimate(one) ? "our estimate" : "formula", one.formula.time]] : [];
    if (goal) marks.push(["goal", goal]);
    if (guessed.shown !== null) marks.push(["your guess", guessed.shown]);
    runs.push(Object.assign(one.run ?? decode(one.page.meta, one.page.bytes, haveCauses), { index, algorithm: one.id, name: setting.lesson ? "Time" : nameOfAlgorithm(one.id), about: setting.lesson ? "" : formulaOf(one), marks }));
  }
  Object.assign(state, { chosen: null, hover: null });
  $("why").hidden = true;
  viewAll();
  end = axisEnd(Math.max(goal ?? 0, grips.held * 0.98 / roomOnAxis(), (guessed.shown ?? 0) / roomOnAxis(), ...runs.map((run) => run.finish * run.quantum)), unit.length, roomOnAxis()) / runs[0].quantum;
  view.until = end;
  sortRows();
  const shape = [runs.length, P, runs.map(({ marks }) => marks.length), guessed.exercise?.id, setting.lesson].join();
  if (shape !== shapeShown || !place.panels.length) resize();
  else frame();
  shapeShown = shape;
  showLegend();
  placeGuess();
  showMoment();
  showGrips();
}

// The height of the timeline: enough for its rows, and on a narrow page so little that the sliders below it
// are seen too. In a lecture and on a screen of the start it ends with the window.
const freeBelow = (foot) => innerHeight - $("plot").getBoundingClientRect().top - scrollY - foot;
function freeHeight() {
  if (isLecture()) return Math.max(200, freeBelow(60) / place.zoom);
  if (innerWidth < 780) return setting.lesson ? Math.max(200, innerHeight * 0.33) : Math.max(230, innerHeight * 0.44);
  return setting.lesson ? Math.max(280, freeBelow(40)) : guessed.exercise ? Math.max(300, Math.min(innerHeight * 0.55, freeBelow(40))) : Math.max(380, innerHeight * 0.69);
}
// The playground has no overview: all is in view.
const drawMap = () => {};

// Points at the event of a processor at a moment, which an item of the list of causes names.
function show(run, id, at) {
  const box = $("plot").getBoundingClientRect(), q = ratio(run), thing = eventAt(run, id, Math.max(0, at * q - 0.001));
  point(thing, box.left + xOf(at * q), box.top + yOf(run, id));
  drawOver();
}

const spoken = titled;

// What each colour is.
const MEANINGS = {
  [WORK]: "computes", [SEND]: "sends: o", [RECEIVE]: "receives: o", [GAP]: "waits for its gap", [STALL]: "stalls: too many messages are under way",
  [PORT]: "waits for a port", [IDLE]: "idle", [BARRIER]: "in a barrier", [NOISE]: "noise", [RENDEZVOUS]: "asks before a long message",
};
let legendOf = "";
function showLegend() {
  const kinds = shownKinds(), long = runs.some(hasStreams), key = kinds.join() + long;
  if (key === legendOf) return;
  legendOf = key;
  $("legend").replaceChildren(...kinds.map((kind) => {
    const part = element("span", ""), chip = element("i", "", { className: "chip" });
    chip.style.background = `var(--${KINDS[kind][2]})`;
    part.append(chip, MEANINGS[kind] ?? KINDS[kind][0]);
    return part;
  }), element("span", "\u2192 a message: L"));
  if (!long) return;
  const part = element("span", ""), chip = element("i", "", { className: "chip" });
  chip.style.background = "var(--bytes)";
  part.append(chip, "further words: G");
  $("legend").append(part);
}

// Each algorithm of an operation has a colour, on the map and beside its name.
const colourOf = (id) => `var(--zone-${id === "file" ? 7 : Math.max(0, operationOf().algorithms.findIndex((one) => one.id === id)) % 8})`;
function chipOf(id) {
  const chip = element("i", "", { className: "chip" });
  chip.style.background = colourOf(id);
  return chip;
}

// The critical path as a sum of parameters, and of times in the unit that is shown: of each its name, its sign and its text.
const signOf = (n, i) => n < 0 ? i ? " \u2212 " : "\u2212" : i ? " + " : "";
function partsOf(one) {
  const { length, suffix } = unitOfSetting();
  const counted = (one.terms ?? []).map(([name, n]) => [name, n, `${Math.abs(n) === 1 ? "" : spelled(Math.abs(n)) + (name.length > 1 ? " " : "")}${name}`]);
  return [...counted, ...(one.rest ?? []).map(([name, ps]) => [name, ps, `${spelled(Math.abs(ps) / length)}${suffix && " "}${suffix} ${name}`])].map(([name, n, text], i) => [name, signOf(n, i), text]);
}
const formulaOf = (one, parts = partsOf(one)) => parts.length ? `T = ${parts.map(([, sign, text]) => sign + text).join("")}` : "";

// The number of each term, with its value: 2 L + 4 o is 2 x 6 + 4 x 2.
function numbersOf(one) {
  const { length } = unitOfSetting(), number = (ps) => spelled(ps / length);
  const counted = (one.terms ?? []).map(([name, n]) => [name, n, `${Math.abs(n) === 1 ? "" : spelled(Math.abs(n)) + "\u00d7"}${number(one.params[name])}`]);
  return [...counted, ...(one.rest ?? []).map(([name, ps]) => [name, ps, number(Math.abs(ps))])].map(([name, n, text], i) => [name, signOf(n, i), text]);
}

// The cards stay while a slider moves; only their texts change.
let cards = [];
function makeCards(ids) {
  cards = ids.map((id) => {
    const box = element("div", "", { className: "result" }), head = element("h2", ""), time = element("b", ""), facts = element("p", "", { className: "facts" });
    const first = element("p", "", { className: "time" }), terms = element("p", "", { className: "terms", title: "The critical path: the chain of things of which each waits for the one before" });
    const path = element("b", ""), numbers = element("span", "");
    head.append(chipOf(id), nameOfAlgorithm(id));
    first.append(time);
    terms.append(element("small", "The run's longest path: "), path, numbers);
    box.append(head, first, terms, facts);
    return { box, texts: [time, path, numbers, facts] };
  });
  $("results").dataset.key = ids.map(nameOfAlgorithm).join();
  $("results").replaceChildren(...cards.map(({ box }) => box));
}

function showResults() {
  const ids = answers.map(({ id }) => id), least = Math.min(...answers.filter((one) => !one.error).map((one) => one.time));
  if ($("results").dataset.key !== ids.map(nameOfAlgorithm).join()) makeCards(ids);
  for (const [i, one] of answers.entries()) {
    const { box, texts } = cards[i], path = one.error ? [] : partsOf(one), numbers = path.length ? numbersOf(one) : [], plain = (parts) => parts.map(([, sign, text]) => sign + text).join("");
    const said = one.error ? ["", "", "", ""] : [spoken(one.time), path.length ? `T = ${plain(path)}` : "", path.length ? ` = ${plain(numbers)}` : "", factsOf(one)];
    texts[1].parentElement.hidden = !said[1];
    box.classList.toggle("best", answers.length > 1 && one.time === least);
    for (const [k, text] of said.entries()) {
      if (texts[k].textContent === text) continue;
      if (k === 1 || k === 2) texts[k].replaceChildren(k === 1 ? "T = " : " = ", ...termsOf(one, k === 1 ? path : numbers));
      else texts[k].textContent = text;
    }
  }
  const text = verdict();
  if ($("summary").textContent !== text) $("summary").textContent = text;
}

// Where no paper has a formula, ours may be far off.
const isEstimate = ({ formula }) => formula?.source === "ours" && formula.kind === "estimate";

function factsOf(one) {
  const { time: paper, kind, source } = one.formula ?? {}, off = paper ? one.time / paper - 1 : 0;
  const says = Math.abs(off) < 5e-7 ? "the same" : `the run takes ${percent(Math.abs(off))} ${off > 0 ? "more" : "less"}`;
  const whence = isEstimate(one) ? "Our estimate" : source === "ours" ? `Our formula (${kind})` : kind ? `The paper's formula (${kind}; ${source})` : "The formula";
  const formula = paper === null || paper === undefined ? "" : `${whence}: ${spoken(paper)}, ${says}. `;
  const stalls = one.stalls ? `${many(one.stalls, "stall")} of ${spoken(one.stall_time)} in all.` : "no stalls.";
  // What a file's computations count is nowhere else.
  const calc = one.id === "file" && opened.kind === "schedule" ? ` calc counts ${machineOf() ? "ns" : "cycles"}.` : "";
  return `${formula}${many(one.messages, "message")}, ${stalls}${calc}`;
}

function verdict() {
  const good = answers.filter((one) => !one.error);
  if (good.length < 2) return good.length ? `${nameOfAlgorithm(good[0].id)} takes ${spoken(good[0].time)}.` : "";
  const [a, b] = good, off = b.time - a.time;
  if (!off) return `Both take ${spoken(a.time)}.`;
  // The percentage is that above the second picture: a part of the first one's time.
  return `${nameOfAlgorithm(b.id)} takes ${spoken(Math.abs(off))} ${off < 0 ? "less" : "more"} than ${nameOfAlgorithm(a.id)} (${percent(Math.abs(off) / a.time)} ${off < 0 ? "less" : "more"}).`;
}

function say() {
  if (isCovered()) return;
  const text = setting.lesson ? lessonWords() : answers.filter((one) => !one.error).map((one) => `${nameOfAlgorithm(one.id)}: ${spoken(one.time)}`).join(", ");
  if (text) $("said").textContent = text;
  tree.canvas.setAttribute("aria-label", tree.label);
}

// The picture as a table, for those who do not see it.
function showTable() {
  const holder = $("table").querySelector("div");
  if (!$("table").open || isCovered()) return;
  const parts = chosen().map((id) => {
    const one = answer({ do: "run", ...requestFor(id) });
    if (one.error) return element("p", one.error);
    const kinds = Object.keys(one.busy).filter((kind) => one.busy[kind].some((time) => time > 0)), table = element("table", ""), { name, length } = unitOfSetting();
    table.append(element("caption", `${nameOfAlgorithm(id)}: what each processor does, in ${name}`));
    const row = (cells, kind) => { const row = element("tr", ""); cells.forEach((cell, i) => row.append(kind || !i ? element("th", cell, { scope: kind || "row" }) : element("td", cell))); return row; };
    const head = table.createTHead(), body = table.createTBody();
    head.append(row(["processor", ...kinds, "done at"], "col"));
    one.finish.forEach((time, i) => i < 256 && body.append(row([`P${i}`, ...kinds.map((kind) => spelled(one.busy[kind][i] / length)), spelled(time / length)])));
    return table;
  });
  holder.replaceChildren(...parts);
}

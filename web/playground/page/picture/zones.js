// ---- The map: two parameters, and at each place the colour of the fastest algorithm.
const CELLS = 20, BATCH = 1, UNKNOWN = 254;
// `x` and `y`: the values along both axes; whole numbers may be fewer. `winner`: row by row from the lowest.
const zones = { turn: 0, key: "", algorithms: [], x: [], y: [], winner: [], times: {}, ready: 0, cursor: null, names: [], left: new Set() };

function makeZones() {
  const bar = element("div", "", { className: "bar" });
  for (const axis of ["x", "y"]) {
    const label = element("label", axis === "x" ? "across " : "up "), choice = element("select", "", { id: `zones-${axis}` });
    choice.addEventListener("change", () => { setting[axis] = choice.value; noteView(); showZonesLater(); });
    label.append(choice);
    bar.append(label);
  }
  const holder = element("div", "", { id: "field" }), canvas = element("canvas", "", { id: "zone", tabIndex: 0 });
  canvas.setAttribute("role", "application");
  holder.append(canvas);
  $("zones").append(element("h2", "Who is fastest where"), element("p", "Each place is a machine, and its colour says who is fastest there: the stronger, the more it wins by. Stripes are a tie. The circle is yours; a click takes another one."), bar, holder, element("div", "", { id: "winners" }), element("p", "", { id: "place" }));
  $("place").setAttribute("role", "status");
  const cellAt = (event) => {
    const box = canvas.getBoundingClientRect(), { left, low, wide, high } = fieldOf(canvas);
    const x = Math.floor((event.clientX - box.left - left) / wide * zones.x.length), y = Math.floor((low - (event.clientY - box.top)) / high * zones.y.length);
    return x >= 0 && x < zones.x.length && y >= 0 && y < zones.y.length ? [x, y] : null;
  };
  canvas.addEventListener("pointermove", (event) => { zones.cursor = cellAt(event); drawZones(); tellPlace(); });
  canvas.addEventListener("pointerleave", () => { zones.cursor = null; drawZones(); tellPlace(); });
  canvas.addEventListener("click", (event) => takePlace(cellAt(event)));
  canvas.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (event.key === "Enter") return takePlace(zones.cursor);
    if (!step) return;
    event.preventDefault();
    const most = [zones.x.length - 1, zones.y.length - 1];
    zones.cursor = (zones.cursor ?? most.map((last) => last >> 1)).map((at, i) => Math.max(0, Math.min(most[i], at + step[i])));
    drawZones();
    tellPlace();
  });
}

// The parameters that can be axes: those of sliders that move something.
const axes = () => [...sliders].filter(([, { box, input, list }]) => !box.hidden && !box.classList.contains("unused") && !input.disabled && list.length > 2).map(([name]) => name);

function showZonesLater() {
  const operation = operationOf(), comparable = setting.first !== "file" && !setting.lesson && !isCovered() && operation.algorithms.length > 1, names = axes();
  $("zones").hidden = !comparable || names.length < 2;
  if ($("zones").hidden) return dropQuestions("zones");
  const x = names.includes(setting.x) ? setting.x : names.includes("L") ? "L" : names[0], rest = names.filter((name) => name !== x);
  const y = rest.includes(setting.y) ? setting.y : rest.includes("g") ? "g" : rest[0];
  for (const [axis, value, all] of [["x", x, names], ["y", y, rest]]) {
    $(`zones-${axis}`).replaceChildren(...all.map((name) => element("option", name, { value: name })));
    $(`zones-${axis}`).value = value;
  }
  // Only the other parameters matter to the map, and where its axes begin and end.
  const others = Object.entries(setting.values).filter(([name]) => name !== x && name !== y);
  if (zones.of !== comparedNow()) leaveOut(operation);
  const algorithms = operation.algorithms.map((one) => one.id).filter((id) => !zones.left.has(id));
  const axis = (name) => {
    const list = sliders.get(name).list, suffix = isNumber(name) ? "" : unitOfSetting().suffix;
    return { over: name, from: `${list.find((one) => one > 0)}${suffix}`, to: `${name === "P" ? Math.min(list.at(-1), 64) : list.at(-1)}${suffix}`, points: CELLS, log: true };
  };
  const key = JSON.stringify([algorithms, setting.machine, others, axis(x), axis(y)]);
  if (key === zones.key) return drawZones();
  $("field").hidden = isLong();
  $("place").textContent = $("field").hidden ? "These runs have too many messages for a map: take fewer processors, or a smaller size." : "";
  if ($("field").hidden) return dropQuestions("zones", zones.key = "");
  dropQuestions("zones");
  const turn = ++zones.turn;
  Object.assign(zones, { key, algorithms, x: [], y: [], winner: [], times: {}, ready: 0, names: [x, y], cursor: null });
  showWinners();
  drawZones();
  tellProgress();
  for (let row = 0; row < CELLS; row += BATCH)
    askLater("zones", { do: "map", ...requestFor(algorithms[0]), algorithms, x: axis(x), y: axis(y), rows: [row, Math.min(CELLS, row + BATCH)] })
      .then((answer) => turn === zones.turn && takeRows(row, answer), (error) => { if (turn === zones.turn) $("place").textContent = error.message; });
}

// The map fills row by row, and says so until it is full.
function tellProgress() {
  const text = zones.ready && zones.ready === zones.winner.length ? "" : "The machines are computed, row by row from below.";
  if ($("place").textContent !== text) $("place").textContent = text;
}

function takeRows(row, { x, y, winner, times }) {
  if (!zones.x.length) Object.assign(zones, { x: [...x], y: [...y], winner: new Uint8Array(x.length * y.length).fill(UNKNOWN) });
  zones.winner.set(winner, row * x.length);
  for (const id in times) (zones.times[id] ??= new Float64Array(zones.winner.length).fill(NaN)).set(times[id], row * x.length);
  zones.ready += winner.length;
  if (!zones.cursor) tellProgress();
  drawZones();
  showWinners();
}

// What is compared at first: the two algorithms on the screen. Where there is one, all but what is best by its construction.
const comparedNow = () => [setting.operation, ...chosen().sort()].join();
function leaveOut({ algorithms }) {
  const ids = chosen(), two = ids.length > 1, best = algorithms.filter(({ id, name }) => two ? !ids.includes(id) : name === "optimal");
  zones.of = comparedNow();
  zones.left = new Set(algorithms.length - best.length > 1 ? best.map((one) => one.id) : []);
}

// The fastest two at a place, as places in the list of algorithms, and by which part the first one wins.
function winnersAt(i) {
  const time = (k) => zones.times[zones.algorithms[k]]?.[i], [a, b] = [...zones.algorithms.keys()].filter((k) => time(k) >= 0).sort((a, b) => time(a) - time(b));
  return [a, b, b === undefined ? Infinity : time(b) / time(a) - 1];
}

// The algorithms with their colours and their parts of the map. A click leaves one out, or takes it in again.
function showWinners() {
  const counts = zones.algorithms.map(() => 0), ties = new Set();
  for (const [i, winner] of zones.winner.entries()) {
    if (winner >= UNKNOWN) continue;
    const [a, b, by] = winnersAt(i);
    if (by) counts[a]++;
    else ties.add(a).add(b);
  }
  fillList($("winners"), operationOf().algorithms.map(({ id }) => {
    const i = zones.algorithms.indexOf(id), share = i < 0 ? ": left out" : !zones.ready ? "" : counts[i] ? `: ${percent(counts[i] / zones.ready)}` : ties.has(i) ? ": in ties only" : ": nowhere";
    return [id, nameOfAlgorithm(id) + share, i >= 0, chosen().includes(id)];
  }));
}

function fillList(holder, all) {
  if (holder.dataset.key !== all.map(([id]) => id).join()) {
    holder.dataset.key = all.map(([id]) => id).join();
    holder.replaceChildren(...all.map(([id]) => {
      const button = element("button", "", { title: "a click leaves it out, or takes it in" });
      button.append(chipOf(id), element("span", ""));
      button.addEventListener("click", () => {
        if (!zones.left.delete(id) && zones.algorithms.length > 1) zones.left.add(id);
        showZonesLater();
      });
      return button;
    }));
  }
  for (const [i, [, text, pressed, isShown]] of all.entries()) {
    holder.children[i].classList.toggle("shown", isShown);
    holder.children[i].lastChild.textContent = text;
    holder.children[i].setAttribute("aria-pressed", pressed);
  }
}

function fieldOf(canvas) {
  const left = 46, low = canvas.clientHeight - 34;
  return { left, low, wide: canvas.clientWidth - left - 12, high: low - 8 };
}

function drawZones() {
  const canvas = $("zone"), context = canvas.getContext("2d"), scale = Math.min(3, devicePixelRatio || 1), { left, low, wide, high } = fieldOf(canvas);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight].map((length) => Math.round(length * scale));
  if (!width) return;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
  const style = getComputedStyle(document.documentElement), colour = zones.algorithms.map((id) => style.getPropertyValue(colourOf(id).slice(4, -1)).trim()), columns = zones.x.length, step = [wide / columns, high / zones.y.length];
  zones.winner.forEach((winner, i) => {
    if (winner === UNKNOWN) return;
    const [a, b, by] = winnersAt(i);
    context.globalAlpha = by > 0 ? Math.min(1, 0.3 + Math.sqrt(by)) : 1;
    context.fillStyle = winner >= colour.length ? colours.pale : by ? colour[a] : striped(context, colour[a], colour[b]);
    // Whole pixels, so that there are no seams.
    const [x, right, y, top] = [left + i % columns * step[0], left + (i % columns + 1) * step[0], low - Math.floor(i / columns) * step[1], low - (Math.floor(i / columns) + 1) * step[1]].map(Math.round);
    context.fillRect(x, top, right - x, y - top);
  });
  Object.assign(context, { globalAlpha: 1, strokeStyle: colours.grey, fillStyle: colours.grey, lineWidth: 1, font: "12px system-ui, sans-serif", textBaseline: "middle" });
  context.strokeRect(left, low - high, wide, high);
  if (!columns) return;
  const unit = unitOfSetting(), length = (axis) => isNumber(zones.names[axis]) ? 1 : unit.length;
  // Powers of ten, and the ends where they are not near one.
  for (const [axis, values] of [zones.x, zones.y].entries()) {
    const ends = [values[0], values.at(-1)].map((value) => value / length(axis)), powers = range(-6, 12, 1).map((n) => 10 ** n).filter((n) => n >= ends[0] * 0.999 && n <= ends[1] * 1.001);
    const spot = (number) => (placeOn(values, number * length(axis)) + 0.5) * step[axis], far = ends.filter((end) => powers.every((power) => Math.abs(spot(power) - spot(end)) > 30));
    context.textAlign = axis ? "right" : "center";
    for (const number of [...powers, ...far]) {
      const [px, py] = axis ? [left - 7, low - spot(number)] : [left + spot(number), low + 11];
      context.fillText(spelled(isNumber(zones.names[axis]) ? Math.round(number) : +number.toPrecision(2)), px, py);
      context.fillRect(axis ? left - 4 : px, axis ? py : low, axis ? 4 : 1, axis ? 1 : 4);
    }
  }
  context.textAlign = "center";
  context.fillText(axisName(0), left + wide / 2, low + 24);
  context.save();
  context.translate(11, low - high / 2);
  context.rotate(-Math.PI / 2);
  context.fillText(axisName(1), 0, 0);
  context.restore();
  const [x, y] = zones.names.map((name, axis) => placeOn(axis ? zones.y : zones.x, numberOf(name) * (isNumber(name) ? 1 : unit.length)));
  const [px, py] = [left + (x + 0.5) * step[0], low - (y + 0.5) * step[1]];
  for (const [width, ink] of [[5, colours.halo], [2.5, colours.text]]) {
    context.beginPath();
    context.arc(px, py, 7, 0, 7);
    Object.assign(context, { lineWidth: width, strokeStyle: ink });
    context.stroke();
  }
  if (!zones.cursor) return;
  Object.assign(context, { lineWidth: 2, strokeStyle: colours.text });
  context.strokeRect(left + zones.cursor[0] * step[0], low - (zones.cursor[1] + 1) * step[1], step[0], step[1]);
}

// Stripes of two colours, of those who are as fast.
function striped(context, one, other) {
  const tile = element("canvas", "", { width: 8, height: 8 }), ink = tile.getContext("2d");
  for (const [i, colour] of [one, other].entries()) {
    ink.fillStyle = colour;
    for (let y = 0; y < 8; y++) for (let x = 0; x < 8; x++) if ((x + y >> 2) % 2 === i) ink.fillRect(x, y, 1, 1);
  }
  return context.createPattern(tile, "repeat");
}

const axisName = (axis) => {
  const name = zones.names[axis];
  return isNumber(name) ? name : `${name}, ${unitOfSetting().name}`;
};
function placeText([x, y]) {
  const at = y * zones.x.length + x, unit = unitOfSetting();
  if (!(zones.winner[at] < UNKNOWN)) return zones.winner[at] === UNKNOWN ? "" : "None of them can run there.";
  const say = (name, value) => `${name} = ${isNumber(name) ? spelled(Math.round(value)) : `${spelled(value / unit.length, 3)}${unit.suffix && " " + unit.suffix}`}`;
  const times = zones.algorithms.filter((id) => zones.times[id]?.[at] >= 0).sort((a, b) => zones.times[a][at] - zones.times[b][at]).slice(0, 3);
  // A part of the time of the first algorithm on the screen, as above the pictures.
  const base = times.includes(setting.first) ? setting.first : times[0], off = (id, part = zones.times[id][at] / zones.times[base][at] - 1) => id === base ? "" : part ? ` (${percent(Math.abs(part))} ${part < 0 ? "less" : "more"})` : " (as fast)";
  const without = zones.algorithms.filter((id) => zones.times[id] && !(zones.times[id][at] >= 0)).map(nameOfAlgorithm).join(", ");
  return `${say(zones.names[0], zones.x[x])}, ${say(zones.names[1], zones.y[y])}: ${times.map((id) => `${nameOfAlgorithm(id)} ${spelled(+(zones.times[id][at] / unit.length).toPrecision(4))} ${unit.name}${off(id)}`).join(", ")}${without && `; not compared, as it cannot run there: ${without}`}`;
}

function tellPlace() {
  if (zones.cursor) $("place").textContent = placeText(zones.cursor);
  else tellProgress();
}

// Takes the machine of a place, and the two algorithms that are fastest there.
function takePlace(cell) {
  if (!cell || !zones.x.length) return;
  for (const [axis, name] of zones.names.entries()) {
    const value = (axis ? zones.y : zones.x)[cell[axis]], unit = unitOfSetting();
    setting.values[name] = isNumber(name) ? String(Math.round(value)) : `${+(value / unit.length).toPrecision(3)}${unit.suffix}`;
  }
  const winner = zones.algorithms[zones.winner[cell[1] * zones.x.length + cell[0]]];
  if (winner && winner !== setting.first) [setting.first, setting.second] = [winner, setting.second === winner || !setting.second ? setting.first : setting.second];
  zones.of = comparedNow();
  showChoice();
  fitProcessors();
  forgetGuess();
  refresh();
}

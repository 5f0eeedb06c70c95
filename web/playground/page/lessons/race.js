// ---- The race: two ways to tell eight processors, side by side, before any letter. It is seen before the machine has come, so
// its messages stand here; a test holds them against the machine's.

// Who tells whom from which moment on, where L = 6, o = 2 and g = 4. A message takes TAKES.
const TAKES = 10, WAYS = {
  flat: [[0, 1, 0], [0, 2, 4], [0, 3, 8], [0, 4, 12], [0, 5, 16], [0, 6, 20], [0, 7, 24]],
  optimal: [[0, 1, 0], [0, 2, 4], [0, 3, 8], [0, 5, 12], [1, 4, 10], [1, 6, 14], [2, 7, 14]],
};
// What it says. It lasts so many milliseconds.
const QUESTION = "Who tells all eight first?", TOLD = "One of eight processors has news for all. A message takes its time, and so does saying it.", LASTS = 7000;
// `box`: the race while it is shown. `at`: the moment that is shown.
const race = { box: null, lanes: [], last: 0, frame: 0, at: 0 };

const part = (name, fields) => {
  const one = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in fields) one.setAttribute(key, fields[key]);
  return one;
};
const worded = (name, textContent) => Object.assign(document.createElement(name), { textContent });

// Eight stand in a ring, the first at the top, and a message is a dot that flies from one to another.
function makeLane(ways, words) {
  const figure = worded("figure", ""), picture = part("svg", { viewBox: "-100 -100 200 200", role: "img" }), ring = [...Array(8).keys()];
  const spots = ring.map((i) => [82 * Math.sin(i * Math.PI / 4), -82 * Math.cos(i * Math.PI / 4)]), time = Math.max(...ways.map(([, , sent]) => sent + TAKES));
  const lines = ways.map(() => part("line", {})), dots = ways.map(() => part("circle", { r: 6, class: "dot" }));
  const nodes = spots.map(([cx, cy]) => part("circle", { r: 15, cx, cy }));
  // When each knows stands in it.
  const times = spots.map(([x, y]) => part("text", { x, y }));
  picture.append(...lines, ...dots, ...nodes, ...times);
  picture.setAttribute("aria-label", `${words} All know at ${time}.`);
  const clock = worded("b", ""), caption = worded("figcaption", `${words} `);
  caption.append(clock);
  figure.append(picture, caption);
  return { figure, time, show(at) {
    for (const [m, [from, to, sent]] of ways.entries()) {
      const [[x, y], [right, low]] = [spots[from], spots[to]], share = Math.max(0, Math.min(1, (at - sent) / TAKES)), place = [x + (right - x) * share, y + (low - y) * share];
      for (const [key, value] of Object.entries({ x1: x, y1: y, x2: place[0], y2: place[1] })) lines[m].setAttribute(key, value);
      for (const [key, value] of Object.entries({ cx: place[0], cy: place[1], visibility: share > 0 && share < 1 ? "visible" : "hidden" })) dots[m].setAttribute(key, value);
      nodes[to].classList.toggle("knows", share === 1);
      times[to].textContent = share === 1 ? sent + TAKES : "";
    }
    nodes[0].classList.add("knows");
    times[0].textContent = "0";
    clock.textContent = Math.floor(Math.min(at, time) + 1e-9);
    figure.classList.toggle("done", at >= time);
  } };
}

// Returns the race, which begins unless it is shown already; where less motion is wanted, its end stands there.
function makeRace() {
  if (race.box) return race.box;
  race.box = Object.assign(worded("div", ""), { id: "race" });
  race.lanes = [makeLane(WAYS.flat, "One tells all."), makeLane(WAYS.optimal, "Each tells on.")];
  race.last = Math.max(...race.lanes.map(({ time }) => time));
  race.box.append(...race.lanes.map(({ figure }) => figure));
  runRace();
  return race.box;
}

function showRace(at) {
  race.at = at;
  for (const lane of race.lanes) lane.show(at);
  race.box.classList.toggle("over", at >= race.last);
}

function runRace() {
  let before = 0;
  cancelAnimationFrame(race.frame);
  const step = (now) => {
    showRace(Math.min(race.last, race.at + (before && Math.min(50, now - before)) / LASTS * race.last));
    before = now;
    race.frame = race.at < race.last ? requestAnimationFrame(step) : 0;
  };
  showRace(isCalm.matches ? race.last : 0);
  if (!isCalm.matches) race.frame = requestAnimationFrame(step);
}

function stopRace() {
  cancelAnimationFrame(race.frame);
  race.box = null;
}

// ---- The race: two ways to tell eight processors, side by side, before any letter. Their times are the machine's.

// `lanes`: the messages of a run and the parts of its picture. `at`: the moment that is shown, in ps.
const race = { lanes: [], frame: 0, at: 0 };
// It lasts so many milliseconds.
const RACE = 7000;
const isCalm = matchMedia("(prefers-reduced-motion: reduce)");

const part = (name, fields) => {
  const one = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in fields) one.setAttribute(key, fields[key]);
  return one;
};

// Eight stand in a ring, the first at the top, and a message is a dot that flies from one to another.
function makeLane(name, words) {
  const { message: { from, to, sent, received }, time, finish } = ask({ do: "run", ...requestFor(`broadcast/${name}`) });
  const figure = element("figure", ""), picture = part("svg", { viewBox: "-100 -100 200 200", role: "img" }), { length } = unitOfSetting();
  const spot = (i) => [82 * Math.sin(i * Math.PI * 2 / finish.length), -82 * Math.cos(i * Math.PI * 2 / finish.length)];
  const ways = [...from].map((_, m) => part("line", {})), dots = ways.map(() => part("circle", { r: 6, class: "dot" }));
  const nodes = [...finish].map((_, i) => part("circle", { r: 15, cx: spot(i)[0], cy: spot(i)[1] }));
  // When each knows stands in it.
  const times = [...finish].map((_, i) => part("text", { x: spot(i)[0], y: spot(i)[1] }));
  picture.append(...ways, ...nodes, ...times, ...dots);
  picture.setAttribute("aria-label", `${words} All know at ${spelled(time / length)}.`);
  const clock = element("b", ""), caption = element("figcaption", `${words} `);
  caption.append(clock);
  figure.append(picture, caption);
  return { figure, time, length, show(at) {
    for (const [m, way] of ways.entries()) {
      const [[x, y], [right, low]] = [spot(from[m]), spot(to[m])], share = Math.max(0, Math.min(1, (at - sent[m]) / (received[m] - sent[m]))), place = [x + (right - x) * share, y + (low - y) * share];
      for (const [key, value] of Object.entries({ x1: x, y1: y, x2: place[0], y2: place[1] })) way.setAttribute(key, value);
      for (const [key, value] of Object.entries({ cx: place[0], cy: place[1], visibility: share > 0 && share < 1 ? "visible" : "hidden" })) dots[m].setAttribute(key, value);
      nodes[to[m]].classList.toggle("knows", share === 1);
      times[to[m]].textContent = share === 1 ? spelled(received[m] / length) : "";
    }
    nodes[0].classList.add("knows");
    times[0].textContent = "0";
    clock.textContent = spelled(Math.floor(Math.min(at, time) / length + 1e-9));
    figure.classList.toggle("done", at >= time);
  } };
}

// Shows the race, and runs it; where less motion is wanted, its end stands there.
function makeRace() {
  const box = element("div", "", { id: "race" });
  race.lanes = [makeLane("flat", "One tells all."), makeLane("optimal", "Each tells on.")];
  box.append(...race.lanes.map(({ figure }) => figure));
  runRace();
  return box;
}

function runRace() {
  const last = Math.max(...race.lanes.map(({ time }) => time));
  let before = 0;
  stopRace();
  const show = (at) => {
    race.at = at;
    for (const lane of race.lanes) lane.show(at);
    $("lesson").classList.toggle("over", at >= last);
  };
  const step = (now) => {
    show(Math.min(last, race.at + (before && Math.min(50, now - before)) / RACE * last));
    before = now;
    race.frame = race.at < last ? requestAnimationFrame(step) : 0;
  };
  show(isCalm.matches ? last : 0);
  if (!isCalm.matches) race.frame = requestAnimationFrame(step);
}

function stopRace() {
  cancelAnimationFrame(race.frame);
}

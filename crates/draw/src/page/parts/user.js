// ---- User input.
const toggle = (name) => draw($(name).setAttribute("aria-pressed", state[name] = !state[name]));

function listenToPointers() {
  const plot = $("plot"), overview = $("map"), pointers = new Map();
  let moved = 0, marking = null;
  const inside = ({ clientX, clientY }, box = plot.getBoundingClientRect()) => [clientX - box.left, clientY - box.top];
  const turn = (event) => Math.exp(Math.max(-200, Math.min(200, (event.deltaY || event.deltaX) * (event.deltaMode === 1 ? 20 : 1))) * 0.002);
  const on = (element, acts) => Object.entries(acts).forEach(([name, act]) => element.addEventListener(name, act, { passive: false }));
  const up = (event) => {
    if (!pointers.delete(event.pointerId) || pointers.size) return;
    const interval = marking && moved > 4 && state.interval;
    marking = null;
    if (event.type !== "pointerup") return;
    if (interval) mark(interval);
    else if (moved <= 4) chooseAt(...inside(event), event.clientY);
  };
  on(plot, {
    wheel: (event) => {
      event.preventDefault();
      const [x, y] = inside(event);
      if (event.shiftKey) zoomRows(turn(event), place.panels.find((panel) => y < panel.top + panel.height), y);
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) shift(event.deltaX / place.width);
      else zoom(turn(event), x);
    },
    pointerdown: (event) => {
      const [x, y] = inside(event), index = place.panels.findIndex((panel) => y < panel.top + panel.height + panel.flight);
      pointers.set(event.pointerId, [x, y]);
      plot.setPointerCapture(event.pointerId);
      moved = pointers.size > 1 ? 99 : 0;
      marking = (event.shiftKey || state.mark) && pointers.size === 1 ? { index: Math.max(0, index), from: [x, y] } : null;
    },
    pointermove: (event) => {
      const [x, y] = inside(event), before = pointers.get(event.pointerId), panel = place.panels[0];
      if (!before) return event.pointerType === "mouse" && hover(x, y, event.clientX, event.clientY);
      moved += Math.abs(x - before[0]) + Math.abs(y - before[1]);
      if (moved <= 4) return;
      pointers.set(event.pointerId, [x, y]);
      if (marking) {
        state.interval = intervalOf(marking.index, marking.from, [x, y]);
        point(null);
        drawOver();
      } else if (pointers.size === 1) move(momentAt(before[0]) - momentAt(x), (before[1] - y) * view.rows / panel.height);
      else {
        // Two fingers zoom along the line between them.
        const other = [...pointers].find(([id]) => id !== event.pointerId)[1], far = (a, i) => Math.max(20, Math.abs(a[i] - other[i]));
        if (far([x, y], 0) >= far([x, y], 1)) zoom(far(before, 0) / far([x, y], 0), (x + other[0]) / 2);
        else zoomRows(far(before, 1) / far([x, y], 1), panel, (y + other[1]) / 2);
      }
    },
    pointerup: up,
    pointercancel: up,
    pointerleave: () => hover(),
  });
  const go = (event) => {
    const [x, y] = inside(event, overview.getBoundingClientRect()), half = (view.until - view.from) / 2, at = x / overview.clientWidth * end;
    moveTo(at - half, at + half, runs.length > 1 ? view.top : y / overview.clientHeight * P - view.rows / 2);
  };
  on(overview, {
    pointerdown: (event) => go(event, overview.setPointerCapture(event.pointerId)),
    pointermove: (event) => event.buttons && go(event),
    wheel: (event) => zoom(turn(event), undefined, event.preventDefault()),
  });
  for (const when of ["scroll", "blur"]) addEventListener(when, () => hover(), { capture: true, passive: true });
}

function listen() {
  listenToPointers();
  const help = () => resize($("help").setAttribute("aria-expanded", $("keys").toggleAttribute("hidden") === false));
  const flight = () => { toggle("flight"); resize(); };
  const clicks = {
    back: () => step(-1), next: () => step(1), path: () => toggle("path"), arrows: () => toggle("arrows"), flight, mark: () => toggle("mark"),
    in: () => zoom(0.6), out: () => zoom(1 / 0.6), all: showAll, save, help,
  };
  for (const [id, act] of Object.entries(clicks)) $(id).addEventListener("click", act);
  // Keys that work only while the rows have the focus, and keys that work everywhere but in a field.
  const keysOfPlot = { Enter: chooseHere };
  const keys = {
    ArrowLeft: () => shift(-0.2), ArrowRight: () => shift(0.2), Home: () => shift(-1e12), End: () => shift(1e12),
    ArrowUp: () => scroll(-Math.max(1, view.rows / 8)), ArrowDown: () => scroll(Math.max(1, view.rows / 8)),
    w: clicks.in, s: clicks.out, a: () => shift(-0.2), d: () => shift(0.2), "+": clicks.in, "=": clicks.in, "-": clicks.out, "[": () => zoomRows(0.6), "]": () => zoomRows(1 / 0.6), 0: showAll,
    ",": () => walk(-1), ".": () => walk(1), "<": () => walk(0, -1), ">": () => walk(0, 1), i: () => mark(wholeView()), f: flight, S: save,
    "/": () => $("search").focus(), n: clicks.next, N: clicks.back, p: clicks.path, m: clicks.arrows, "?": help,
    Escape: () => { choose(null); search($("search").value = ""); $("plot").focus(); },
  };
  addEventListener("keydown", (event) => {
    const typing = event.target === $("search") || event.target === $("order");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === $("search") && event.key === "Enter") return step(event.shiftKey ? -1 : 1);
    const act = keys[event.key] ?? (event.target === $("plot") ? keysOfPlot[event.key] : undefined);
    if (typing && event.key !== "Escape" || !act) return;
    event.preventDefault();
    act();
  });
  $("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => search($("search").value), 120); });
  $("order").addEventListener("change", () => { state.order = $("order").value; sortRows(); drawMap(); draw(); });
  addEventListener("hashchange", readAddress);
  // A print draws its own changes.
  new ResizeObserver(() => state.print || resize()).observe(document.body);
  const recolour = () => { readColours(); legend(); resize(); };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.print || recolour());
  listenToPrints(recolour);
}

// The height that the rest of the window leaves for the rows.
function freeHeight() {
  const why = $("why").hidden ? 0 : $("why").offsetHeight + 6;
  return innerHeight - $("plot").getBoundingClientRect().top - scrollY - $("map").offsetHeight - why - 18;
}

// Shows the kinds that occur, with their parts of all processors' time. A click searches for a kind.
function legend() {
  $("legend").replaceChildren();
  for (const kind of shownKinds()) {
    const [name] = KINDS[kind], button = $("legend").appendChild(document.createElement("button")), chip = button.appendChild(document.createElement("i"));
    chip.style.background = colours.css[kind];
    button.append(`${name} ${runs.map((run) => percent(run.shares[kind] / (run.finish * run.P || 1))).join(", ")}`);
    button.title = "of all processors' time; a click finds it";
    button.onclick = () => search($("search").value = name);
  }
}

async function open() {
  $("title").textContent = meta.title;
  for (const [index, text] of [...document.querySelectorAll("script.run")].entries()) {
    runs.push(Object.assign(decode(meta.runs[index], await bytesOf(text.textContent.trim())), { index }));
    text.remove();
  }
  const { quantum } = runs[0];
  viewAll();
  if (meta.window) Object.assign(view, { from: meta.window[0] / quantum, until: Math.min(end, meta.window[1] / quantum) });
  for (const act of [readColours, sortRows, offerOrders, legend, listen, resize]) act();
  if (location.hash) readAddress();
}

open().catch((error) => { $("title").textContent = "This page cannot be shown: " + error.message; throw error; });

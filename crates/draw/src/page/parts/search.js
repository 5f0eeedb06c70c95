// ---- Search.

// The most hits of a run that can be stepped through.
const MOST_HITS = 100000;

// Finds events by the name of their kind, of their work, or of their message's tag.
function search(text) {
  const wanted = text.trim().toLowerCase(), processor = /^p(\d+)$/.exec(wanted), has = (name) => name.toLowerCase().includes(wanted);
  state.hits = null;
  $("found").textContent = "";
  if (processor) {
    const id = +processor[1], rows = Math.min(8, view.rows);
    if (id < P) moveTo(view.from, view.until, rowOf[id] + 0.5 - rows / 2, rows);
    else $("found").textContent = `there are only P0 to P${P - 1}`;
  } else if (wanted) {
    const kinds = KINDS.map(([name, other]) => has(name) || other === wanted), of = [], all = [];
    let count = 0, time = 0;
    for (const run of runs) {
      const names = run.names.map(has), tags = run.tags.map(has), hits = [];
      for (let i = 0; i < run.events; i++) {
        const kind = run.kind[i], of = run.of[i], message = (kind === SEND || kind === RECEIVE) && of >= 0, noisy = kinds[NOISE] && takenOf(run, i) > 0;
        if (run.end[i] === run.start[i] || !(kinds[run.shown[i]] || noisy || kind === WORK && names[of] || message && tags[run.tag[of]])) continue;
        hits.push(i);
        time += (noisy && !kinds[run.shown[i]] ? takenOf(run, i) : run.end[i] - run.start[i]) * ratio(run);
      }
      count += of[of.push(hits) - 1].length;
      for (const event of hits.slice(0, MOST_HITS)) all.push({ run, event });
    }
    all.sort((a, b) => a.run.start[a.event] * a.run.quantum - b.run.start[b.event] * b.run.quantum);
    if (count) state.hits = { of, all, at: -1 };
    $("found").textContent = count ? `${spelled(count)} found, ${told(runs[0], time)} in all` : "nothing";
  }
  drawMap();
  draw();
}

// Goes to the next hit, or to the one before.
function step(by) {
  const { hits } = state;
  if (!hits) return;
  hits.at = (Math.max(hits.at, by < 0 ? 0 : -1) + by + hits.all.length) % hits.all.length;
  const { run, event } = hits.all[hits.at];
  choose({ run, event });
  show(run, run.id[run.track[event]], (run.start[event] + run.end[event]) / 2, run.end[event] - run.start[event]);
}


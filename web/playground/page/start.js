// ---- The page as a whole.
function fillSelect(select, options, value) {
  const key = JSON.stringify(options);
  if (select.dataset.key !== key) {
    select.dataset.key = key;
    select.replaceChildren(...options.map(([value, text]) => element("option", text, { value })));
  }
  select.value = value;
}

// Shows the setting in the fields for operation, algorithms and machine.
function showChoice() {
  const isFile = setting.first === "file", operation = operationOf(), algorithms = operation.algorithms.map(({ id, name }) => [id, name]);
  fillSelect($("operation"), [...catalog.operations.map(({ name }) => [name, name]), ...(opened ? [["file", opened.name === nameOfFile() ? `your file: ${opened.name}` : nameOfFile()]] : [])], isFile ? "file" : setting.operation);
  fillSelect($("first"), isFile ? [["file", nameOfFile()]] : algorithms, setting.first);
  fillSelect($("second"), isFile ? [["", "nothing"], ...catalog.operations.flatMap(({ name, algorithms }) => algorithms.map((one) => [one.id, `${name}: ${one.name}`]))] : [["", "nothing"], ...algorithms], setting.second);
  fillSelect($("machine"), [["", "own, in cycles"], ...catalog.machines.map(({ name }) => [name, name])], setting.machine);
  const machine = machineOf(), recorded = chosen().map(algorithmOf).find((one) => one?.recorded)?.recorded;
  $("papers").value = setting.paper;
  document.documentElement.toggleAttribute("data-paper", setting.paper !== "");
  $("about").replaceChildren(...[setting.paper ? PAPERS[setting.paper][2] : isFile ? "" : `${operation.name}: ${operation.about}.`, machine ? `${machine.name}: ${machine.about}.` : "", recorded ? `Recorded from: loggp run ${recorded}.` : ""].filter(Boolean).map((text) => { const one = element("span", ""); one.append(...lettered(text), " "); return one; }));
  if (!setting.paper && !setting.lesson) askBet();
  for (const which of ["first", "second"]) $(`chip-${which}`).style.background = setting[which] ? colourOf(setting[which]) : "none";
}

// Learns what a machine has before sliders move, so that these do not change their ends while they move.
function learnMachine() {
  const params = answer({ do: "run", ...requestFor(setting.first === "file" ? catalog.operations[0].algorithms[0].id : setting.first), columns: false }).params;
  machineParams = params ?? {};
}

function listenToChoice() {
  const changed = () => { forgetGuess(); setting.strange = setting.paper = ""; fitProcessors(); showChoice(); learnMachine(); clearChanges(); refresh(); };
  const act = {
    operation: () => {
      if (guessed.exercise) takeExercise("");
      if ($("operation").value === "file") Object.assign(setting, { first: "file", second: "" });
      else takeOperation($("operation").value);
    },
    first: () => { setting.first = $("first").value; },
    second: () => { setting.second = $("second").value; },
    machine: () => takeMachine($("machine").value),
  };
  for (const id in act) $(id).addEventListener("change", () => { act[id](); changed(); note(); });
  $("predict").addEventListener("click", () => takeExercise(guessed.exercise ? "" : (EXERCISES.find(({ id }) => !(id in kept.tried)) ?? EXERCISES[0]).id));
  $("start").addEventListener("click", () => turnTo(1));
  makePapers();
}

function listenToPicture() {
  const plot = $("plot"), isFixed = () => isCovered() || isPicture(), inside = ({ clientX, clientY }, box = plot.getBoundingClientRect()) => [clientX - box.left, clientY - box.top].map((far) => far / place.zoom);
  plot.addEventListener("pointermove", (event) => event.pointerType === "mouse" && !isFixed() && hover(...inside(event), event.clientX, event.clientY));
  plot.addEventListener("pointerleave", () => hover());
  plot.addEventListener("click", (event) => {
    if (isFixed()) return;
    chooseAt(...inside(event), event.clientY);
    if (innerWidth < 600) point(null);
    else if (state.chosen) point(state.chosen, event.clientX, event.clientY);
  });
  plot.addEventListener("keydown", (event) => {
    const walks = { ArrowLeft: [-1], ArrowRight: [1], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (isFixed() || event.target !== plot) return;
    if (event.key === "Enter") chooseHere();
    else if (event.key === "Escape") { choose(null); point(null); drawOver(); }
    else if (walks) walk(...walks);
    else return;
    event.preventDefault();
  });
  for (const when of ["scroll", "blur"]) addEventListener(when, () => hover(), { capture: true, passive: true });
  for (const id of ["path", "arrows"]) $(id).addEventListener("click", () => { $(id).setAttribute("aria-pressed", state[id] = !state[id]); draw(); });
  $("table").addEventListener("toggle", showTable);
}

// Opens what the address says, after Back too.
async function openAddress() {
  readAddress();
  if (setting.lesson) takeLesson(setting.lesson);
  else {
    showLessonOrNot();
    openPaper();
    takeExercise(setting.exercise);
    learnMachine();
    clearChanges();
    await openLink();
    noted = stepOf(addressOf());
  }
}

// Lays the page out anew.
function relay() {
  if (!runs.length) return;
  resize();
  placeGuess();
  showMoment();
  showGrips();
  if (tree.shape) drawTree();
  drawZones();
}

async function open() {
  catalog = ask({ do: "catalog" });
  // The helper is started when the first picture is there.
  setTimeout(startHelper, 300);
  for (const act of [readColours, makeSliders, makeTree, makeZones, readAddress, learnMachine, listenToChoice, listenToPicture, listenToGuesses, listenToMaking, listenToFiles, listenToGoal, listenToShare, listenToLecture, makeMoment, makeGrips]) act();
  Object.assign(state, { flight: false, path: false });
  $("version").textContent = `Version ${catalog.version}.`;
  const url = $("source") ? `  url = {${$("source").href}},\n` : "";
  $("cite").lastChild.textContent = `@software{loggp,\n  title = {loggp: an emulated parallel machine for the LogP family of models},\n  author = {{The loggp developers}},\n  version = {${catalog.version}},\n${url}}`;
  showChoice();
  showSliders();
  if (setting.lesson) takeLesson(setting.lesson);
  else if (setting.exercise) takeExercise(setting.exercise);
  else {
    openPaper();
    await openLink();
  }
  noted = stepOf(addressOf());
  update();
  let wide = innerWidth;
  // At once: a print waits for no frame.
  const recolour = () => { readColours(); resize(); placeGuess(); showTree(); drawZones(); };
  listenToPrints(recolour);
  // A print draws its own changes.
  new ResizeObserver(() => { if (runs.length && !state.print && (wide !== innerWidth || $("plot").clientWidth !== place.width)) { wide = innerWidth; relay(); } }).observe(document.body);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => state.print || recolour());
  addEventListener("hashchange", openAddress);
}

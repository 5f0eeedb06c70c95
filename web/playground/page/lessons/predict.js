// ---- Predict first: an exercise covers the run until a number is said or a mark is dragged.

// `at`: the guess, a time in ps or a number. `shown`: the guess that the picture marks. `open`: whether the
// run is shown. `kept`: whether it is on the axis of the guess still. `address`: that of the setting when it was shown.
const guessed = { exercise: null, at: null, shown: null, open: false, right: null, kept: false, address: "" };
const isCovered = () => !!guessed.exercise && !guessed.open && guessed.exercise.asks !== "who";

// While the run is covered, nothing but the guess can be changed.
function lock(isLocked) {
  for (const part of [...["sliders", "times", "tree", "zones", "more"].map($), ...$("choice").querySelectorAll("label")]) part.inert = isLocked;
  // What scrolls is reached by keys though nothing in it is.
  $("left").tabIndex = isLocked ? 0 : -1;
}

function forgetGuess() {
  Object.assign(guessed, { shown: null, kept: false });
  sketch.bars = [];
}

const exerciseOf = (id) => id === "own" ? setting.own : EXERCISES.find((one) => one.id === id);

function takeExercise(id) {
  const exercise = exerciseOf(id) ?? null;
  Object.assign(guessed, { exercise, at: null, open: false, right: null, address: "" });
  forgetGuess();
  sketch.row = 0;
  setting.exercise = exercise?.id ?? "";
  $("predict").setAttribute("aria-pressed", !!exercise);
  $("predict").textContent = exercise ? "Leave the exercises" : "Exercises";
  $("exercise").hidden = !exercise;
  lock(!!exercise);
  document.documentElement.toggleAttribute("data-covered", isCovered());
  if (exercise) {
    takeItsSetting(exercise);
    showExercise();
  } else if (setting.first === "file" && opened?.name.endsWith(".goal") && EXERCISES.some((one) => `${one.id}.goal` === opened.name)) takeOperation("broadcast");
  showChoice();
  refresh();
}

function takeItsSetting({ id, of = "broadcast", a, b = "", machine = "", values, goal }) {
  setting.paper = "";
  takeMachine(machine);
  takeOperation(of, a, b);
  Object.assign(setting.values, machine ? { size: "" } : { G: "", size: "" }, values);
  if (goal) openBytes(`${id}.goal`, new TextEncoder().encode(goal instanceof Function ? goal() : goal));
}

// The right answer, which the machine gives.
function rightAnswer({ asks, over }) {
  const [a, b] = [setting.first, setting.second];
  if (asks === "change") {
    const { changes } = ask({ do: "crossover", ...requestFor(a), algorithms: [a, b], over, from: "1", to: "100", points: 34, log: false });
    return changes.find((one) => one.after === a && !one.without.length)?.value ?? null;
  }
  if (asks === "who") {
    const { work } = ask({ do: "run", ...requestFor(a) }).busy;
    return work.indexOf(Math.max(...work));
  }
  if (asks === "work") {
    const [first, second] = [a, b].map((id) => Math.max(...ask({ do: "run", ...requestFor(id) }).busy.work));
    return Math.round(100 * second / first) / 100;
  }
  const one = ask({ do: "run", ...requestFor(a), columns: false });
  return asks === "stalls" ? one.stalls : asks === "sent" ? one.finish[0] : one.time;
}

// Guesses of times are numbers in the unit that is shown.
const isTime = ({ asks }) => !["stalls", "work", "who"].includes(asks);
const lengthOf = (exercise) => isTime(exercise) ? unitOfSetting().length : 1;

function showExercise() {
  const { exercise } = guessed, form = element("form", ""), select = element("select", "");
  select.setAttribute("aria-label", "Which exercise");
  const words = ({ id }) => id in kept.tried ? kept.tried[id] ? ": right" : ": tried" : "";
  select.append(...(exercise.id === "own" ? [element("option", exercise.title, { value: "own" })] : []), ...EXERCISES.map((one, i) => element("option", `${i + 1}. ${one.title}${words(one)}`, { value: one.id })));
  select.value = exercise.id;
  select.addEventListener("change", () => takeExercise(select.value));
  const values = guessed.values = Object.entries(setting.values).filter(([name, value]) => value && !(name === "P" && exercise.goal)).map(([name, value]) => `${name} = ${value}`).join(", ");
  const label = element("label", { stalls: "Your guess ", work: "Your guess, in times ", who: "Your guess: P", change: `Your guess: ${exercise.over} = ` }[exercise.asks] ?? `Your guess, in ${unitOfSetting().name} `);
  const input = element("input", "", { type: "number", id: "said-number", min: 0, step: "any", inputMode: "decimal", required: true });
  label.append(input);
  const hint = element("button", "Hint", { type: "button" }), told = element("p", "", { className: "hint" }), result = element("div", "", { id: "outcome" });
  result.setAttribute("aria-live", "polite");
  hint.addEventListener("click", () => { told.replaceChildren(...lettered(exercise.hint)); });
  form.append(label, element("button", exercise.asks === "who" ? "Is it right?" : "Show the run", { className: "main" }));
  if (exercise.hint) form.append(hint);
  input.addEventListener("input", () => { guessed.at = input.value === "" ? null : isTime(exercise) ? Math.round(Number(input.value) * lengthOf(exercise)) : Number(input.value); placeGuess(); });
  form.addEventListener("submit", (event) => { event.preventDefault(); reveal(); });
  $("exercise").replaceChildren(select, letteredLine(exercise.text), element("p", `${values}${exercise.asks === "time" ? ". Type a number, or sketch the run: drag along rows, or use arrows, Space and Delete. Where the last bar ends is your guess." : "."}`, { className: "given" }), form, told, result);
}

function sayAnswer({ asks, over }, number) {
  return asks === "who" ? `P${number}` : asks === "stalls" ? spelled(number) : asks === "work" ? `${spelled(number)} times` : asks === "change" ? `${over} = ${spelled(number / unitOfSetting().length)}` : spoken(number);
}

function reveal() {
  const { exercise } = guessed;
  if (guessed.at === null) return;
  // What is changed after it was shown does not change it.
  const right = guessed.right ??= rightAnswer(exercise), say = (number) => sayAnswer(exercise, number);
  // Within 1% is right: nobody types a time to the picosecond.
  const off = guessed.at === right ? 0 : right ? Math.abs(guessed.at / right - 1) : 1, isRight = off <= 0.01, words = isRight ? "Right: it is" : off < 0.1 ? "Close: it is" : "It is";
  Object.assign(guessed, { open: true, kept: exercise.asks !== "who", address: settingAddress(), shown: exercise.asks === "time" ? guessed.at : null });
  keep({ tried: { ...kept.tried, [exercise.id]: isRight || !!kept.tried[exercise.id] } });
  document.documentElement.toggleAttribute("data-covered", false);
  lock(false);
  const later = EXERCISES[EXERCISES.indexOf(exercise) + 1], more = element("button", later ? "Next exercise" : "Leave the exercises", { type: "button" });
  more.addEventListener("click", () => takeExercise(later?.id));
  const verdict = element("p", ""), past = element("p", `This was for ${guessed.values}; the setting is another one now. `, { id: "past", hidden: true }), back = element("button", "Back to it", { type: "button" });
  back.addEventListener("click", () => {
    takeItsSetting(exercise);
    Object.assign(guessed, { kept: true, shown: exercise.asks === "time" ? guessed.at : null });
    for (const act of [showChoice, learnMachine, clearChanges, refresh]) act();
  });
  past.append(back);
  verdict.append(element("b", `${words} ${say(right)}.`), guessed.at === right ? "" : ` You said ${say(guessed.at)}.`);
  $("outcome").replaceChildren(verdict, past, letteredLine(exercise.after), more);
  const done = EXERCISES.filter(({ id }) => kept.tried[id]).length;
  if (exercise.id !== "own") $("outcome").append(element("p", `${done} of ${EXERCISES.length} are right so far.`, { className: "given" }));
  refresh();
}

// A verdict is about the setting of the exercise.
function tellPast() {
  if ($("past")) $("past").hidden = own.packed === null || guessed.address === settingAddress();
}

// Shows the cover with the mark, if there is something to guess.
function placeGuess() {
  const cover = $("guess"), { exercise, at } = guessed;
  cover.hidden = !isCovered() && !sketch.bars.length;
  if (cover.hidden || !runs.length) return;
  cover.classList.toggle("over", !isCovered());
  drawSketch();
  if (!isCovered()) return ["role", "tabindex", "aria-label"].forEach((name) => cover.removeAttribute(name));
  const drag = exercise.asks === "time", moment = at === null ? null : at / runs[0].quantum;
  cover.classList.toggle("drag", drag);
  if (!cover.children[1]) cover.append(element("i", ""), element("span", ""));
  const [, line, words] = cover.children;
  line.hidden = !drag || moment === null;
  if (!line.hidden) line.style.translate = `${Math.min(place.width - 2, xOf(moment))}px`;
  words.textContent = drag ? moment === null ? hasRows() ? "Drag along rows: who is busy when? The last end is your guess." : "When is the last processor done? Drag here." : `You say ${spoken(at)}` : "The run is hidden until you guess.";
  if (!drag) return ["role", "tabindex"].forEach((name) => cover.removeAttribute(name));
  const fields = { role: "slider", tabindex: 0, "aria-label": "Your guess of the time", "aria-valuemin": 0, "aria-valuemax": end * runs[0].quantum / lengthOf(exercise), "aria-valuenow": (at ?? 0) / lengthOf(exercise), "aria-valuetext": spoken(at ?? 0) + (hasRows() ? `, row P${sketch.row}${sketch.from === null ? "" : ", a bar has begun"}` : "") };
  for (const name in fields) cover.setAttribute(name, fields[name]);
}

// A guess is a whole number of the unit, if the axis has not many of them.
function guess(moment) {
  const { length } = unitOfSetting(), ps = moment * runs[0].quantum;
  guessed.at = Math.max(0, Math.round(ps / length) * length);
  $("said-number").value = guessed.at / length;
  placeGuess();
}

function listenToGuesses() {
  const cover = $("guess"), inside = ({ clientX, clientY }, box = cover.getBoundingClientRect()) => [clientX - box.left, clientY - box.top].map((far) => far / place.zoom);
  const go = (event) => guess(momentAt(Math.max(place.left, inside(event)[0])));
  const isDragged = () => guessed.exercise?.asks === "time";
  cover.addEventListener("pointerdown", (event) => { if (isDragged()) { cover.setPointerCapture(event.pointerId); beginBar(...inside(event)) || go(event); } });
  cover.addEventListener("pointermove", (event) => { if (isDragged() && event.buttons) moveBar(inside(event)[0]) || go(event); });
  cover.addEventListener("pointerup", () => endBar());
  cover.addEventListener("pointercancel", () => endBar());
  cover.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowDown: -1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (event.key === "Enter") return reveal();
    if (!isDragged()) return;
    if (hasRows() && keyOfSketch(event.key)) return event.preventDefault();
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    guess(((guessed.at ?? 0) + step * unitOfSetting().length) / runs[0].quantum);
  });
}

// ---- The sliders, with typed values beside them and, on them, the values at which another algorithm wins.
const sliders = new Map();

function makeSliders() {
  $("sliders").append(...PARAMETERS.map(([name, word, about]) => {
    const id = `slider-${name}`, box = element("div", "", { className: "slider" });
    const label = element("label", "", { htmlFor: id });
    const letter = isLetter(name) ? hued(name, name) : element("b", name), more = element("span", about ? `${word}: ${about}` : "");
    label.append(letter, " ", more);
    const track = element("div", "", { className: "track" }), input = element("input", "", { type: "range", id, min: 0, step: 1 });
    const marks = element("div", "", { className: "marks" });
    marks.setAttribute("aria-hidden", "true");
    const curve = element("div", "", { className: "curve", hidden: true }), ends = element("span", "", { className: "ends" });
    track.append(curve, input, marks);
    const value = element("input", "", { type: "text", className: "value", autocomplete: "off", spellcheck: false, inputMode: "text" });
    value.setAttribute("aria-label", `${word} as a number`);
    const hint = element("p", "", { className: "change" });
    box.append(label, track, value, hint, ends);
    // `key`: of what the marks, the words and the curve are.
    const slider = { name, box, input, value, marks, curve, ends, hint, more, list: [], key: "" };
    input.addEventListener("input", () => { setValue(name, textAt(slider, slider.list[input.value]), name); });
    input.addEventListener("change", () => finishMove());
    value.addEventListener("change", () => { setValue(name, value.value.trim()); finishMove(); });
    value.addEventListener("keydown", (event) => event.key === "Enter" && value.blur());
    sliders.set(name, slider);
    if (name === "G") box.append(lengthChoice());
    return box;
  }));
}

// With G the machine is one of LogGP, without it one of LogP.
function lengthChoice() {
  const label = element("label", "", { className: "choice" }), box = element("input", "", { type: "checkbox", id: "long" });
  label.append(box, " long messages (LogGP); without them a long message is a train of short ones (LogP)");
  box.addEventListener("change", () => {
    const slider = sliders.get("G");
    setValue("G", box.checked ? ownTime("G") || textAt(slider, slider.list[1] ?? 1) : "");
    finishMove();
  });
  return label;
}

const textAt = (slider, number) => isNumber(slider.name) ? String(number) : `${number}${unitOfSetting().suffix}`;

function setValue(name, text, moved = "") {
  const most = operationOf().size?.most;
  if (name === "size" && !(Number.isInteger(Number(text)) && text > 0 && text <= most)) {
    sliders.get(name).value.setAttribute("aria-invalid", true);
    return tellTrouble(`size = ${text}: give a whole number from 1 to ${most}`);
  }
  setting.values[name] = text;
  setting.strange = "";
  forgetGuess();
  refresh(moved);
}

// The number at which a parameter is, in the unit that is shown, by the last answer.
function numberOf(name) {
  const answer = answers.find((answer) => answer.params);
  if (name === "size") return Number(setting.values.size || operationOf()?.size?.default || 1);
  if (!answer || answer.params[name] === undefined || answer.params[name] === null) return Number.parseFloat(setting.values[name]) || 0;
  return name === "P" ? answer.params.P : answer.params[name] / unitOfSetting().length;
}

// Shows the setting on the sliders; not on the one that is being moved, and not where a value is wrong.
function showSliders(moved = "") {
  const unit = unitOfSetting(), uses = new Set(chosen().flatMap((id) => algorithmOf(id)?.uses ?? TIMES)), failed = answers.length > 0 && !answers.some((one) => one.params);
  $("sliders").classList.toggle("stale", moved !== "");
  for (const [name, { box, value }] of sliders) {
    box.classList.toggle("moved", name === moved);
    const invalid = String(answers.some((one) => one.about === name));
    if (value.getAttribute("aria-invalid") !== invalid) value.setAttribute("aria-invalid", invalid);
  }
  if (failed) return;
  for (const [name, slider] of sliders) {
    if (moved && name !== moved) continue;
    const { input, value, box, more, hint } = slider, list = slider.list = valuesOf(name), number = numberOf(name), off = name === "G" && setting.values.G === "";
    const isFile = setting.first === "file", isCount = isNumber(name);
    box.hidden = setting.lesson ? !slidersOfScreen().includes(name) : isCount && (isFile || list.length < 2 || name === "size" && !operationOf()?.size);
    if (box.hidden) continue;
    box.classList.toggle("unused", !uses.has(name));
    box.classList.toggle("off", off);
    if (!uses.has(name)) hint.textContent = "changes nothing here";
    const place = placeOn(list, number), text = isCount ? spelled(number) : `${spelled(number)} ${unit.name}`;
    Object.assign(input, { max: list.length - 1, disabled: off || isBetOpen(name) });
    if (name !== moved) input.value = Math.round(place);
    input.setAttribute("aria-valuetext", off ? "off" : text);
    if (document.activeElement !== value) value.value = off ? "" : isCount ? String(number) : `${+number.toPrecision(9)}${unit.suffix && " "}${unit.suffix}`;
    value.disabled = input.disabled;
    if (name === "size") more.textContent = operationOf().size.meaning;
  }
  $("long").checked = setting.values.G !== "";
  $("long").disabled = ownTime("G") !== "";
  $("long").parentElement.title = $("long").disabled ? "This machine has a G." : "";
}

// Shows on a slider from where on which algorithm is the fastest. At equally fast ones the answer names the first.
function showChanges(name, { changes, values, times }) {
  const { marks, hint, list } = sliders.get(name), inside = changes.filter(({ value }) => value >= 0);
  const isTie = ({ value }, i = values.findIndex((one) => one >= value)) => i >= 0 && new Set(Object.values(times).map((all) => all[i])).size === 1;
  const shown = inside.map((change) => ({ ...change, tie: isTie(change), number: isNumber(name) ? change.value : change.value / unitOfSetting().length }));
  marks.replaceChildren(...shown.filter(({ after }) => after).map((change) => {
    const tick = element("i", "");
    tick.style.background = change.tie ? "var(--grey)" : colourOf(change.after);
    tick.style.setProperty("--at", placeOn(list, change.number) / Math.max(1, list.length - 1));
    return tick;
  }));
  // Another one wins from just above the values at which both are as fast.
  const round = (number) => +number.toPrecision(4), say = (number) => isNumber(name) ? spelled(number) : `${spelled(round(number))}${unitOfSetting().suffix ? " " + unitOfSetting().suffix : ""}`;
  hint.textContent = shown.slice(0, 2).map(({ number, after, without, tie }) => `from ${say(number)} on, ${!after ? "none of them can run" : without.length ? `${without.map(nameOfAlgorithm).join(", ")} cannot be compared` : tie ? "both are as fast" : `${nameOfAlgorithm(after)} wins`}`).join("; ") + (shown.length > 2 ? " \u2026" : "");
}

function clearChange(slider) {
  const { marks, hint, curve, ends, box } = slider;
  slider.key = ends.textContent = "";
  curve.hidden = true;
  marks.replaceChildren();
  if (!box.classList.contains("unused")) hint.textContent = "";
}

const clearChanges = () => sliders.forEach(clearChange);

// ---- The letters are things: each has one hue wherever it stands, a bracket on the picture is a handle of its parameter, and
// pointing at a term of T lights what it counts.
const isLetter = (name) => TIMES.includes(name);

// A text in whose place letters have their hues.
const lettered = (text) => text.split(/(?<![A-Za-z])([LogG])(?![A-Za-z])/).map((part, i) => i % 2 ? hued(part, part) : part).filter(Boolean);
function hued(name, text) {
  const one = element("b", text, { className: "letter" });
  one.style.color = `var(--${name})`;
  return one;
}
function letteredLine(text, className = "") {
  const line = element("p", "", { className });
  line.append(...lettered(text));
  return line;
}

// The bracket of the sender's o, of L and of g of the first run: the right end moves as much as the parameter. `held`: the axis
// does not become shorter while one is dragged.
const grips = { all: new Map(), held: 0 };

function makeGrips() {
  for (const name of ["o", "L", "g"]) {
    const grip = element("div", "", { className: "grip", title: `Drag ${name}`, hidden: true });
    let begun = null;
    grip.ariaHidden = true;
    grip.style.color = `var(--${name})`;
    grip.addEventListener("pointerdown", (event) => {
      event.stopPropagation();
      grip.setPointerCapture(event.pointerId);
      const per = (xOf(unitOfSetting().length / runs[0].quantum) - place.left) * place.zoom;
      begun = { x: event.clientX, value: numberOf(name), per };
      grips.held = end * runs[0].quantum;
      stopPlay();
    });
    grip.addEventListener("pointermove", (event) => {
      if (!begun || !event.buttons) return;
      const slider = sliders.get(name), wanted = begun.value + (event.clientX - begun.x) / begun.per, value = slider.list.reduce((best, one) => Math.abs(one - wanted) < Math.abs(best - wanted) ? one : best);
      if (value !== numberOf(name)) setValue(name, textAt(slider, value), name);
    });
    const drop = () => {
      if (!begun) return;
      begun = null;
      grips.held = 0;
      finishMove();
    };
    for (const how of ["pointerup", "pointercancel"]) grip.addEventListener(how, drop);
    grip.addEventListener("click", (event) => event.stopPropagation());
    grips.all.set(name, grip);
    $("plot").append(grip);
  }
}

function showGrips() {
  const seen = new Map(isMomentOn() ? placeLetters(runs[0]).map((one) => [one.text, one]).reverse() : []);
  for (const [name, grip] of grips.all) {
    const letter = seen.get(name), { box, input } = sliders.get(name);
    grip.hidden = !grips.held && (!letter || box.hidden || input.disabled || isBetOpen(name));
    if (letter) Object.assign(grip.style, { left: `${letter.x}px`, width: `${letter.right - letter.x}px`, top: `${letter.y - 11}px` });
  }
}

// The terms of T, of which each lights its steps of the run's longest path.
const HOPS = { L: "L", o: "o at ", g: "g", G: "G" };
function termsOf(one, texts) {
  return texts.map(([name, sign, text]) => {
    if (!isLetter(name)) return sign + text;
    const term = hued(name, text), holder = element("span", sign);
    term.classList.add("term");
    term.addEventListener("pointerenter", () => lightHops(one, name));
    term.addEventListener("pointerleave", () => lightHops());
    holder.append(term);
    return holder;
  });
}

// Lights the steps of the longest path that a letter counts; with none, puts the light out.
function lightHops(one, name) {
  drawOver();
  const run = runs.find(({ algorithm }) => algorithm === one?.id);
  if (!run || isPicture()) return;
  const { hops, hop_kinds: kinds } = answer({ do: "run", ...requestFor(one.id) });
  if (!hops) return;
  Object.assign(over, { lineWidth: 5, lineCap: "round" });
  isOverEmpty = false;
  within(over, run, () => hops.kind.forEach((kind, i) => {
    if (!kinds[kind].startsWith(HOPS[name])) return;
    const m = hops.message[i], [x, right] = [hops.start[i], hops.end[i]].map((ps) => xOf(ps / runs[0].quantum)), y = yOf(run, hops.processor[i]);
    if (name !== "L") return stroke(over, colours.letters[name], [x, y], [right, y]);
    over.fillStyle = colours.letters.L;
    if (m >= 0) arrow(over, colours.letters.L, run, m);
  }));
}

// ---- Under the slider in hand: T over its parameter, a line for each algorithm. The thumb marks the present value.

// Draws the times at the values of a slider. Both scales have as much room for small numbers as for large ones.
function showCurve(name, { values, times }) {
  const { curve, ends, list } = sliders.get(name), unit = unitOfSetting(), ids = chosen().filter((id) => times[id]?.some((time) => time > 0));
  const all = ids.flatMap((id) => [...times[id]].filter((time) => time > 0)), least = Math.min(...all), most = Math.max(...all);
  curve.hidden = !all.length;
  if (curve.hidden) return;
  const x = (value) => 100 * placeOn(list, isNumber(name) ? value : value / unit.length) / Math.max(1, list.length - 1), y = (time) => 28 - 26 * Math.log(time / least) / (Math.log(most / least) || 1);
  const lines = ids.map((id, i) => {
    let pen = "M";
    const path = [...times[id]].map((time, k) => time > 0 ? `${pen}${x(values[k]).toFixed(2)} ${y(time).toFixed(2)}${pen = "L", ""}` : (pen = "M", ""));
    return `<path d="${path.join("")}" style="stroke:${colourOf(id)}"${i ? ' stroke-dasharray="5 4"' : ""}/>`;
  });
  const say = (time) => spelled(+(time / unit.length).toPrecision(3));
  curve.innerHTML = `<svg viewBox="0 0 100 30" preserveAspectRatio="none" role="img">${lines.join("")}</svg>`;
  ends.textContent = `T ${say(least)}${least < most ? ` \u2013 ${say(most)}` : ""}`;
  curve.firstChild.setAttribute("aria-label", `T over ${name}, ${say(least)} to ${say(most)} ${unit.name}: ${ids.map(nameOfAlgorithm).join(", ")}`);
}

// Where on each slider another algorithm wins, and the curve of T: one question gives both. What only the slider itself changes
// stays.
function showChangesLater() {
  dropQuestions("changes");
  const ids = chosen(), turn = ++changesTurn, isFile = ids.includes("file"), isOpen = isFile ? own.text : true, silent = isCovered() || isLong() || !isOpen;
  let isTold = !isFile;
  for (const [name, slider] of sliders) {
    const { list, box, input } = slider, counts = isNumber(name), from = list.find((one) => one > 0), text = (number) => counts ? String(number) : `${number}${unitOfSetting().suffix}`;
    if (silent || box.hidden || input.disabled || list.length < 2 || !ids.some((id) => (algorithmOf(id)?.uses ?? TIMES).includes(name))) {
      clearChange(slider);
      continue;
    }
    const request = { do: "crossover", ...requestFor(ids[0]), algorithms: ids, over: name, from: text(from), to: text(list.at(-1)), points: counts ? 13 : 21, log: true };
    const others = Object.entries(setting.values).filter(([other]) => other !== name), key = JSON.stringify([{ ...request, params: "", size: "" }, others, isFile && own.text]);
    if (key === slider.key) continue;
    clearChange(slider);
    // The helper has files of its own.
    if (!isTold) askLater("changes", { do: "open", name: "file", ...requestFor("file") }, new TextEncoder().encode(own.text)).catch(() => {});
    isTold = true;
    askLater("changes", request).then((answer) => {
      if (turn !== changesTurn) return;
      slider.key = key;
      showChanges(name, answer);
      showCurve(name, answer);
    }, () => {});
  }
}
let changesTurn = 0;

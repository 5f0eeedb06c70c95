// ---- First a bet, then the drag: a screen of the start and a paper's setting can ask whether more of a parameter makes it faster, and
// its slider waits for the answer.

// `name`: the parameter. `said`: what was bet, or nothing. `time`: the run's before it was dragged.
const bet = { name: "", said: "", time: 0 };
const isBetOpen = (name = bet.name) => bet.name !== "" && name === bet.name && !bet.said;

// Asks for a bet on a parameter at the end of a part of the page, or with none for no bet.
function askBet(name, holder) {
  $("bet")?.remove();
  Object.assign(bet, { name: name ?? "", said: "" });
  if (!name) return;
  const bar = element("div", "", { className: "bar", id: "bet" }), words = element("b", "");
  bar.setAttribute("aria-live", "polite");
  words.append(...lettered(`Will more ${name} make it faster?`));
  bar.append(words, ...["Faster", "Not faster"].map((said) => {
    const button = element("button", said, { type: "button" });
    button.addEventListener("click", () => {
      Object.assign(bet, { said, time: answers[0].time });
      for (const one of bar.querySelectorAll("button")) one.remove();
      refresh();
      showSliders();
      sliders.get(name).input.focus();
    });
    return button;
  }));
  holder.append(bar);
}

// Says what was bet, and what the drag has shown.
function tellBet() {
  const { name, said, time } = bet, one = answers[0];
  if (!said || !one || one.error) return;
  const now = one.time === time ? `Drag ${name}.` : `With ${name} = ${spelled(numberOf(name))} it takes ${spoken(one.time)} instead of ${spoken(time)}: ${one.time < time ? "faster" : "slower"}.`, text = `You bet: ${said.toLowerCase()}. ${now}`;
  const words = $("bet").firstChild;
  if (words.textContent !== text) words.replaceChildren(...lettered(text));
}

// ---- Start here: five screens, each with a picture, a control, and something to do that unlocks the next.

// `now`: how far it is. `isDone`: whether the next one is unlocked. Each has 40 words at most.
const cyclesOf = (one) => spelled(one.time / 1e6);
const LESSON = [
  {
    title: "One message", of: "broadcast", a: "flat", values: { P: "2" }, sliders: ["L", "o"],
    text: "P0 sends P1 a message: it keeps P0 busy for o, is under way for L, then keeps P1 busy for o.",
    task: "Drag L and o until P1 is done at 20.", isDone: ({ time }) => time === 20e6,
    now: (one) => `Now at ${cyclesOf(one)}.`, after: "Right: o + L + o = 20.",
  },
  {
    title: "Two messages", of: "broadcast", a: "flat", values: { P: "3" }, sliders: ["g"],
    text: "P0 sends to P1, then to P2. Its second message cannot start before a gap of g has passed since the first one started.",
    task: "Drag g until P2 is done at 20.", isDone: ({ time }) => time === 20e6,
    now: (one) => `Now at ${cyclesOf(one)}.`, after: "Right: g + o + L + o = 20.",
  },
  {
    title: "All eight", of: "broadcast", a: "flat", values: {}, sliders: [],
    text: "P0 tells all eight itself, one in each g. The last one knows at 34. Can they be faster, if others help?",
    task: "Choose who helps.", isDone: ({ time }) => time < 34e6,
    now: (one) => `Now all know at ${cyclesOf(one)}.`, after: "Faster: all know at 30. And better is possible.",
    choice: ["Who sends", ["flat", "P0 alone"], ["binary", "each who knows, to two others"], ["binomial", "each who knows, in every round"]],
  },
  {
    title: "Your own tree", of: "broadcast", a: "flat", values: {}, sliders: [], tree: true,
    text: "A line is a message, a number the time at which a processor knows. Drag P7 from P0 to P1, so that P1 tells it.",
    task: "Move more, until all know at 24.", isDone: ({ time }) => time <= 24e6,
    now: (one) => `Now all know at ${cyclesOf(one)}.`, after: "Right: no tree is faster than 24.",
  },
  {
    title: "A hot spot", of: "hot-spot", a: "linear", values: {}, sliders: ["L"],
    text: "Seven send to P0. At most L/g messages, rounded up, may be under way to it; who must wait for room stalls: orange.",
    task: "Drag L until nobody stalls.", isDone: ({ stalls }) => stalls === 0,
    now: (one) => `Now ${one.stalls} stall.`, after: "Nobody stalls. You know L, o, g and P now.",
  },
];

const screenOf = () => LESSON[setting.lesson - 1];

// Opens a screen, or with none leaves them.
function takeLesson(n) {
  if (guessed.exercise) takeExercise("");
  const wasThere = !!setting.lesson;
  setting.lesson = LESSON[n - 1] ? n : 0;
  const screen = screenOf();
  showLessonOrNot();
  if (!screen && !wasThere) return;
  takeMachine("");
  takeOperation(screen?.of ?? "broadcast", screen?.a, screen && "");
  Object.assign(setting.values, START_VALUES, screen?.values);
  setting.strange = setting.paper = "";
  keep(screen ? { screen: n } : { seen: true, screen: 1 });
  if (screen) makeScreen(screen);
  forgetGuess();
  for (const act of [showChoice, learnMachine, clearChanges, refresh, note]) act();
}

function showLessonOrNot() {
  const root = document.documentElement.dataset;
  if (setting.lesson) root.lesson = setting.lesson;
  else delete root.lesson;
  $("lesson").hidden = !setting.lesson;
}

// Goes to a screen by one of its buttons, so that its title is read and the next key is about it.
function turnTo(n) {
  takeLesson(n);
  (setting.lesson ? $("lesson").querySelector("h2") : $("start")).focus();
}

function makeScreen({ title, text, task, choice }) {
  const n = setting.lesson, head = element("h2", title, { tabIndex: -1 }), bar = element("div", "", { className: "bar" });
  const button = (id, words, act) => {
    const one = element("button", words, { id, type: "button" });
    one.addEventListener("click", act);
    bar.append(one);
    return one;
  };
  if (n > 1) button("before", "Back", () => turnTo(n - 1));
  const next = button("next", "Next", () => turnTo(n + 1));
  next.className = "main";
  next.setAttribute("aria-describedby", "reached");
  button("skip", "Skip all this", () => turnTo(0));
  $("lesson").replaceChildren(element("p", `Start here, ${n} of ${LESSON.length}`, { className: "given" }), head, element("p", text), element("p", task, { className: "task" }));
  if (choice) $("lesson").append(makeChoice(choice));
  $("lesson").append(element("p", "", { id: "reached" }), bar);
}

function makeChoice([words, ...options]) {
  const label = element("label", `${words} `), select = element("select", "");
  select.append(...options.map(([value, text]) => element("option", text, { value })));
  select.addEventListener("change", () => { setting.first = `broadcast/${select.value}`; refresh(); });
  label.append(select);
  return label;
}

// What is reached on this screen, and what is to be done before the next one opens.
const lessonWords = () => {
  const screen = screenOf(), one = answers[0];
  return !one || one.error ? "" : screen.isDone(one) ? screen.after : screen.now(one);
};

function tellLesson() {
  const screen = screenOf(), one = answers[0];
  if (!screen || !one || one.error) return;
  const { lesson } = setting, isDone = screen.isDone(one), next = $("next");
  if (isDone && kept.reached <= lesson) keep({ reached: lesson + 1 });
  next.disabled = kept.reached <= lesson;
  next.textContent = lesson === LESSON.length ? "Open the playground" : next.disabled ? "Next, once this is done" : "Next";
  const words = lessonWords();
  if ($("reached").textContent !== words) $("reached").textContent = words;
  $("lesson").classList.toggle("done", isDone);
}

// ---- Start here: a race, and then five screens, each with a picture, a control, and something to do that unlocks the next.

// `now`: how far it is. `isDone`: whether the next one is unlocked. `goal`: the end that is wanted, which the picture shows from
// the beginning, so that its axis stays while a slider moves. Each has 40 words at most.
const cyclesOf = (one) => spelled(one.time / 1e6);
const LESSON = [
  {
    title: QUESTION, of: "broadcast", a: "flat", values: {}, sliders: [], isRace: true,
    text: TOLD,
    task: "", isDone: () => true, now: () => "", after: "Why is the right one faster? Four numbers say it.",
  },
  {
    title: "One message", of: "broadcast", a: "flat", values: { P: "2" }, sliders: ["L", "o"],
    text: "Processor P0 sends P1 a message: it keeps P0 busy for o, is under way for L, then keeps P1 busy for o.",
    task: "Move L and o until P1 is done at 20.", goal: 20e6, isDone: ({ time }) => time === 20e6,
    now: (one) => `Now at ${cyclesOf(one)}.`, after: "Right: o + L + o = 20.",
  },
  {
    title: "Two messages", of: "broadcast", a: "flat", values: { P: "3", g: "7" }, sliders: ["g"],
    text: "P0 sends to P1, then to P2. Its second message cannot start before a gap of g has passed since the first one started.",
    task: "Move g until P2 is done at 20.", goal: 20e6, isDone: ({ time }) => time === 20e6,
    now: (one) => `Now at ${cyclesOf(one)}.`, after: "Right: g + o + L + o = 20.",
  },
  {
    title: "News for eight", of: "broadcast", a: "flat", values: {}, sliders: [],
    text: "P0 has news for all and sends seven messages itself, one each g. The last one knows at 34. Is it faster if others help?",
    task: "Choose who helps.", isDone: ({ time }) => time < 34e6,
    now: (one) => `Now all know at ${cyclesOf(one)}.`, after: "Faster: all know at 30. And better is possible.",
    choice: ["Who sends", ["flat", "P0 alone"], ["binary", "each tells two others"], ["binomial", "each keeps telling"]],
  },
  {
    title: "Your own tree", of: "broadcast", a: "flat", values: {}, sliders: [], tree: true,
    text: "A line is a message; the number beside a node says when it knows. Drag node 7 onto node 1, so that P1 tells P7.",
    task: "Move more, until all know at 24.", goal: 24e6, isDone: ({ time }) => time <= 24e6,
    now: (one) => `Now all know at ${cyclesOf(one)}.`, after: "Right: no tree is faster than 24.",
  },
  {
    title: "A hot spot", of: "hot-spot", a: "linear", values: {}, sliders: ["L"], bet: "L", at: 3e6,
    text: "Seven send to P0. It takes one each g, so at most L/g, rounded up, may be under way to it: the capacity. Who must wait stalls.",
    task: "Move L until nobody stalls.", isDone: ({ stalls }) => stalls === 0,
    now: (one) => `Now ${one.stalls} stall.`, after: "Nobody stalls, and it is slower: P0 takes one each g still. L, o, g and P processors: LogP.",
  },
];

const screenOf = () => LESSON[setting.lesson - 1];
// A slider comes after the bet on it.
const slidersOfScreen = () => screenOf().sliders.filter((name) => !isBetOpen(name));

// Rows are higher where they are few, or far away.
const tellHighest = () => { place.highest = isLecture() ? 90 : setting.lesson ? 64 : 46; };

// Opens a screen, or with none leaves them.
function takeLesson(n) {
  if (guessed.exercise) takeExercise("");
  const wasThere = !!setting.lesson;
  setting.lesson = LESSON[n - 1] ? n : 0;
  const screen = screenOf();
  showLessonOrNot();
  if (!screen && !wasThere) return;
  stopPlay();
  Object.assign(tree, { most: 0, ghost: [] });
  moment.at = screen?.at ?? null;
  tellHighest();
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
  if (!screenOf()?.isRace) stopRace();
  if (setting.lesson) root.lesson = screenOf().isRace ? "race" : setting.lesson - 1;
  else delete root.lesson;
  $("lesson").hidden = !setting.lesson;
}

// Goes to a screen by one of its buttons, so that its title is read and the next key is about it.
function turnTo(n) {
  takeLesson(n);
  (setting.lesson ? $("lesson").querySelector("h2") : $("start")).focus();
}

function makeScreen({ title, text, task, choice, bet, isRace }) {
  const n = setting.lesson, head = element("h2", title, { tabIndex: -1 }), bar = element("div", "", { className: "bar" });
  const button = (id, words, act) => {
    const one = element("button", words, { id, type: "button" });
    one.addEventListener("click", act);
    bar.append(one);
    return one;
  };
  const next = button("next", "Next", () => turnTo(n + 1));
  next.className = "main";
  next.setAttribute("aria-describedby", "reached");
  if (n > 1) button("before", "Back", () => turnTo(n - 1));
  button("skip", "Skip all this", () => turnTo(0));
  $("lesson").replaceChildren(...(isRace ? [head, letteredLine(text), makeRace()] : [element("p", `Start here, ${n - 1} of ${LESSON.length - 1}`, { className: "given" }), head, letteredLine(text), letteredLine(task, "task")]));
  if (isRace && !isCalm.matches) button("again", "Once more", runRace);
  if (choice) $("lesson").append(makeChoice(choice));
  askBet(kept.reached > n ? "" : bet, $("lesson"));
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
  // What a slider only passes is not reached.
  if (isDone && !movedSlider && kept.reached <= lesson) {
    keep({ reached: lesson + 1 });
    // What was built is seen at work once.
    if (screen.tree && !isCalm.matches) startPlay();
  }
  next.disabled = kept.reached <= lesson;
  next.textContent = screen.isRace ? "See the four numbers" : lesson === LESSON.length ? "Open the playground" : "Next";
  const words = lessonWords();
  if ($("reached").textContent !== words) $("reached").replaceChildren(...lettered(words));
  $("lesson").classList.toggle("done", isDone);
}

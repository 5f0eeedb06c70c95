// ---- What is shown as a text in GOAL, which can be changed and run, and which a link has while it is short.

// `shown`: the text as it was written by the page. `link`: that of the address, as it stands there.
const goal = { shown: "", link: "" };
// A link has a third more letters than bytes.
const MOST_IN_LINK = 1500;
// These lines the page writes of a tree.
const OF_TREE = /^(num_ranks \d+|rank \d+ \{|\}|r: recv \d+b from \d+|s\d+: send \d+b to \d+|s\d+ requires [rs]\d*|)$/;
const ownName = (text) => text.split("\n").every((line) => OF_TREE.test(line)) ? "your-tree.goal" : "your-schedule.goal";

// Compresses the text for a link. Back goes back to what was shown before.
async function packText() {
  const { text } = own, isStep = !goal.link && !setting.exercise;
  own.packed = text ? null : "";
  if (!text) return;
  const packed = new Uint8Array(await new Response(new Blob([text]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer());
  if (text !== own.text) return;
  own.packed = packed.length > MOST_IN_LINK ? "" : btoa(String.fromCharCode(...packed)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (!isStep || !own.packed) noteView();
  else if (setting.first === "file" && location.hash === written && written !== addressOf()) writeAddress(addressOf(), true);
}

// Opens the schedule of the address.
async function openLink() {
  const { link } = goal, { second, values: { size } } = setting;
  if (!link) return;
  try {
    const text = new TextDecoder().decode(await bytesOf(link.replaceAll("-", "+").replaceAll("_", "/")));
    takeText(text, ownName(text), () => { setting.second = second; setting.values.size = size; });
  } catch {
    setting.strange = "The schedule in the link is damaged: this is shown without.";
    refresh();
  }
  goal.link = "";
}

// Shows the text of the first run, unless it is being changed.
function showGoal() {
  const field = $("goal"), id = setting.first;
  if (!$("text").open || isCovered() || field.value !== goal.shown) return;
  const one = id === "file" && own.text ? { text: own.text } : answer({ do: "goal", ...requestFor(id) });
  field.value = goal.shown = one.text ?? (one.goal ? new TextDecoder().decode(one.goal) : "");
  tellGoal(one.error ? `There is no GOAL of this: ${one.error.split("; give")[0]}.` : id.startsWith("remap") ? "Whoever could send and receive at once receives first in this program, which GOAL does not say: the text can take another time." : "");
}

function tellGoal(why = "") {
  $("goal-why").textContent = why;
  $("goal").setAttribute("aria-invalid", /line \d/.test(why));
}

// Runs the text beside the algorithm of which it was, and shows the place of an error in it.
function runGoal() {
  const field = $("goal"), { first, second, values: { size, P } } = setting;
  tellGoal();
  const isRun = takeText(field.value, ownName(field.value), () => {
    if (setting.values.P === P) setting.second = first === "file" ? second : first;
    setting.values.size = size;
  }, (why) => {
    const [, line, column] = /line (\d+), column (\d+)/.exec(why) ?? [];
    tellGoal(why.replace(/^your-\w+\.goal: /, ""));
    if (!line) return;
    const at = field.value.split("\n").slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0) + Number(column) - 1;
    field.focus();
    field.setSelectionRange(at, at + 1);
    field.scrollTop = (line - 4) * Number.parseFloat(getComputedStyle(field).lineHeight);
  });
  if (isRun) goal.shown = field.value;
}

function listenToGoal() {
  $("text").addEventListener("toggle", showGoal);
  $("goal-run").addEventListener("click", runGoal);
  $("goal-back").addEventListener("click", () => { $("goal").value = goal.shown; showGoal(); });
  $("goal").addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    runGoal();
  });
}

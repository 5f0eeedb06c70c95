// ---- An exercise of one's own: the setting, a question in own words and a hint, all in a link.
const MOST_WORDS = 600;

const ASKS = { time: "When is the last processor done?", stalls: "How many sends stall?", change: "From which L on is the first algorithm as fast as the second?" };
const exerciseAddress = () => `#${joined(setting.exercise === "own" ? { exercise: "own", asks: setting.own.asks, text: setting.own.text, hint: setting.own.hint } : { exercise: setting.exercise })}${setting.exercise === "own" ? "&" + (guessed.address || settingAddress()).slice(1) : ""}`;

// Reads an exercise from the fields of an address, whose setting is read already.
function readOwn(fields) {
  const [asks, text, hint] = ["asks", "text", "hint"].map((name) => { const value = fields.get(name) ?? ""; fields.delete(name); return value.slice(0, MOST_WORDS); });
  takeOwn(ASKS[asks] ? asks : "time", text, hint);
}

function takeOwn(asks, text, hint) {
  const { operation, first, second, machine, values } = setting;
  setting.own = { id: "own", title: "An exercise", of: operation, a: first, b: second, machine, values: { ...values }, asks, over: "L", text: text || ASKS[asks], hint, after: "" };
}

function listenToMaking() {
  const form = $("making"), label = (words, part) => { const one = element("label", words); one.append(part); return one; };
  const text = element("textarea", "", { rows: 3, maxLength: MOST_WORDS }), asks = element("select", ""), hint = element("input", "", { type: "text", maxLength: MOST_WORDS, autocomplete: "off" });
  const open = (isOpen) => { form.hidden = !isOpen; $("make").setAttribute("aria-expanded", isOpen); };
  form.append(label("Words of your own ", text), label("The question ", asks), label("A hint, if you like ", hint), element("button", "Copy its link", { className: "main" }), element("p", "", { id: "made" }));
  $("made").setAttribute("role", "status");
  $("make").addEventListener("click", () => {
    if (setting.first === "file") return tellDone("An exercise is about an operation of the list: a file is in no link.");
    open(form.hidden);
    fillSelect(asks, Object.entries(ASKS).filter(([name]) => name !== "change" || setting.second), "time");
    if (!form.hidden) text.focus();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    takeOwn(asks.value, text.value.trim(), hint.value.trim());
    const right = rightAnswer(setting.own), { exercise } = setting;
    if (right === null) return void ($("made").textContent = "There is no such L from 1 to 100: ask something else.");
    setting.exercise = "own";
    const link = location.href.replace(/#.*|$/, "") + exerciseAddress();
    setting.exercise = exercise;
    $("made").replaceChildren(`The answer is ${sayAnswer(setting.own, right)}. `, element("a", "Try it", { href: link }), ": this is the link, which has all of it.");
    try {
      await navigator.clipboard.writeText(link);
      $("made").append(" It is copied.");
    } catch {}
  });
}

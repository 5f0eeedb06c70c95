// ---- What leaves the page: a link, a command, the viewer, pictures; and what comes in: a file.
let didTimer = 0;
function tellDone(text) {
  clearTimeout(didTimer);
  $("did").textContent = text;
  didTimer = setTimeout(() => $("did").textContent = "", 6000);
}

async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    tellDone(`${what} is copied: ${text}`);
  } catch {
    tellDone(text);
  }
}

const commandOf = (id) => ask({ do: "command", ...requestFor(id) }).command;

function copyCommand() {
  try {
    copy(chosen().map(commandOf).join("\n"), "The command");
  } catch (error) {
    tellDone(error.message);
  }
}

function copyLink() {
  if (setting.first === "file" && !setting.exercise && !own.packed) return tellDone(`Your file ${own.text ? "is too long for a link" : "stays in your browser, so no link opens it"}: send the file.`);
  writeAddress(addressOf(), false);
  copy(location.href, "The link");
}

function openViewer() {
  const [a, b] = chosen();
  try {
    const { html } = ask({ do: "timeline", ...requestFor(a), ...(b ? { beside: requestFor(b) } : {}) });
    const url = URL.createObjectURL(new Blob([html], { type: "text/html" }));
    if (!window.open(url)) tellDone("The browser did not let a new tab open.");
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  } catch (error) {
    tellDone(error.message);
  }
}

const fileName = (ending) => `${setting.operation || "run"}-${chosen().map(nameOfAlgorithm).join("-")}.${ending}`.replace(/[^\w.-]+/g, "-");

function download(blob, name) {
  const link = element("a", "", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const titleOfPicture = () => `${setting.first === "file" ? opened?.name : setting.operation}: ${[...sliders].filter(([, { box, value }]) => !box.hidden && value.value).map(([name, { value }]) => `${name} = ${value.value}`).join(", ")}`;

function ownSheet() {
  if (isPicture()) showWhole();
  meta.title = titleOfPicture();
  return sheetOf();
}

function saveSvg() {
  download(new Blob([ownSheet()], { type: "image/svg+xml" }), fileName("svg"));
}

// A slide has the picture in its middle.
async function savePng(isSlide) {
  const image = new Image(), url = URL.createObjectURL(new Blob([ownSheet()], { type: "image/svg+xml" }));
  image.src = url;
  await image.decode();
  const { naturalWidth, naturalHeight } = image, [width, height] = isSlide ? [1920, 1080] : [2 * naturalWidth, 2 * naturalHeight], scale = Math.min(width / naturalWidth, height / naturalHeight) * (isSlide ? 0.94 : 1);
  const canvas = element("canvas", "", { width, height }), context = canvas.getContext("2d"), size = [naturalWidth * scale, naturalHeight * scale];
  context.fillStyle = colours.css[IDLE];
  context.fillRect(0, 0, width, height);
  context.drawImage(image, (width - size[0]) / 2, (height - size[1]) / 2, ...size);
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => download(blob, fileName("png")), "image/png");
}

// A page that has the frame shows what is shown here.
function copyFrame() {
  const src = location.href.replace(/#.*|$/, "") + addressOf();
  copy(`<iframe src="${src.replaceAll("&", "&amp;")}" title="LogP playground" width="960" height="640" loading="lazy"></iframe>`, "The frame");
}

function listenToShare() {
  const share = $("share"), acts = { viewer: openViewer, command: copyCommand, link: copyLink, embed: copyFrame, svg: saveSvg, png: () => savePng(false), slide: () => savePng(true) }, close = () => { share.open = false; };
  for (const id in acts) $(id).addEventListener("click", acts[id]);
  share.addEventListener("click", (event) => event.target.tagName === "BUTTON" && close());
  share.addEventListener("keydown", (event) => { if (event.key === "Escape" && share.open) { close(); share.querySelector("summary").focus(); } });
  addEventListener("pointerdown", (event) => share.contains(event.target) || close());
}

// ---- An own file.
const MOST_BYTES = 64 << 20;

async function openFile(file) {
  if (!file) return;
  if (file.size > MOST_BYTES) return tellTrouble(`${file.name} has ${spelled(Math.round(file.size / 2 ** 20))} MiB; up to ${MOST_BYTES >> 20} MiB can be opened here.`);
  if (setting.lesson) takeLesson(0);
  openBytes(file.name, new Uint8Array(await file.arrayBuffer()));
}

function openRequest(name) {
  const params = Object.entries(setting.values).filter(([name, value]) => TIMES.includes(name) && value !== "").map(([name, value]) => `${name}=${value}`).join(",");
  return { do: "open", name, params, ...(setting.machine ? { machine: setting.machine } : {}) };
}

// Opens a schedule or a trace. `more` changes the setting further.
function openBytes(name, bytes, more = () => {}, tell = tellTrouble) {
  try {
    if (bytes.find((byte) => byte > 32) === 123) bytes = new TextEncoder().encode(linesOfTrace(name, new TextDecoder().decode(bytes)));
    const { file } = ask(openRequest(name), bytes);
    opened = file;
    own.text = file.kind === "schedule" && bytes.length < 1e5 ? new TextDecoder().decode(bytes) : "";
    Object.assign(setting, { first: "file", second: "" });
    Object.assign(setting.values, { size: "", P: String(file.ranks) });
    more();
    packText();
    showChoice();
    refresh();
    return true;
  } catch (error) {
    tell(error.message);
    return false;
  }
}

function tellTrouble(text) {
  if ($("trouble").textContent !== text) $("trouble").textContent = text;
}

function listenToFiles() {
  $("file").addEventListener("change", () => openFile($("file").files[0]));
  addEventListener("dragover", (event) => { event.preventDefault(); document.documentElement.toggleAttribute("data-drop", true); });
  addEventListener("dragleave", (event) => event.relatedTarget || document.documentElement.toggleAttribute("data-drop", false));
  addEventListener("drop", (event) => {
    event.preventDefault();
    document.documentElement.toggleAttribute("data-drop", false);
    openFile(event.dataTransfer.files[0]);
  });
}

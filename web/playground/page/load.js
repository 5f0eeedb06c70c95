// Starts the module and then the page's script, which is in one scope with the parts of the timeline's that draw: the module
// has those, for the whole page of a timeline. The first of these parts need no page, and the others no window of their own.
const PARTS = ["kinds,run,rows,pixels", "canvas,causes,words,flight,letters,frame,chain,choice,sheet"];

function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// It begins while the page is read, before that is shown.
async function begin() {
  // What stands there already is seen first; a page behind others has no frames.
  const seen = new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); setTimeout(done, 200); });
  const unpacked = (id) => {
    const holder = document.getElementById(id), bytes = bytesOf(holder.textContent);
    holder.remove();
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  };
  const [bytes, scripts] = await Promise.all([unpacked("module").arrayBuffer(), unpacked("script").text()]), [script, helper] = scripts.split("\n//\n");
  const module = await WebAssembly.compile(bytes), ask = await load(module);
  const [painter, page] = PARTS.map((name) => new TextDecoder().decode(ask({ do: "script", name }).script));
  await seen;
  await new Function("ask", "module", "painter", "helpers", `"use strict"; ${painter}${page}${script}; return open();`)(ask, module, painter, helper);
}

begin().catch((error) => {
  document.getElementById("trouble").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});

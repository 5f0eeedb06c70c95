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
  const holder = document.getElementById("module"), script = document.getElementById("script");
  const bytes = bytesOf(holder.textContent.trim());
  holder.remove();
  const stream = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
  const module = await WebAssembly.compile(await stream.arrayBuffer()), ask = await load(module);
  const [painter, page] = PARTS.map((name) => new TextDecoder().decode(ask({ do: "script", name }).script));
  await new Function("ask", "module", "painter", `"use strict"; ${painter}${page}${script.textContent}; return open();`)(ask, module, painter);
}

begin().catch((error) => {
  document.getElementById("trouble").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});

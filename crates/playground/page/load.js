// Starts the module and then the page's script, which is in one scope with the parts of the timeline's that draw: the module
// has those, for the whole page of a timeline. Of the parts, these need no window of their own.
const SHARED = "kinds,run,rows,pixels,causes,words,flight,frame,choice,sheet";

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
  const module = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer(), ask = await load(module);
  const shared = new TextDecoder().decode(ask({ do: "script", name: SHARED }).script);
  await new Function("ask", "module", `"use strict"; ${shared}${script.textContent}; return open();`)(ask, module);
}

begin().catch((error) => {
  document.getElementById("trouble").textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});

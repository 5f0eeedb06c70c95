// ---- The page's elements.
const $ = (id) => document.getElementById(id);
const meta = JSON.parse($("meta").textContent);
// The canvases: the rows, the layer above them, and the overview below. While a picture is saved, it replaces
// the first two.
let base = $("base").getContext("2d"), over = $("over").getContext("2d");
const map = $("map").getContext("2d");

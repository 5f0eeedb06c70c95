// Draws the overview: all runs, one above the other, and the visible part.
function drawMap() {
  const { width, height } = map.canvas, each = Math.floor(height / runs.length);
  if (!width || !each) return;
  place.maps = runs.map((run) => {
    const image = map.createImageData(width, each);
    paint(run, new Uint32Array(image.data.buffer).fill(colours.paperPixel), width, each - (runs.length > 1 ? 2 : 0), 0, P, 0, end);
    return image;
  });
  drawWindow();
}

function drawWindow() {
  const { width, height } = map.canvas, x = view.from / end * width, right = view.until / end * width, one = runs.length === 1;
  const y = one ? view.top / P * height : 0, low = one ? (view.top + view.rows) / P * height : height;
  (place.maps || []).forEach((image, i) => map.putImageData(image, 0, i * image.height));
  Object.assign(map, { fillStyle: colours.text + "30", strokeStyle: colours.path, lineWidth: 2 * place.scale });
  map.fillRect(0, 0, x, height);
  map.fillRect(right, 0, width - right, height);
  map.strokeRect(x, y, Math.max(3, right - x), low - y);
}

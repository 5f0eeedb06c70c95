// ---- Runs of many messages, while a slider moves: two workers play, read and paint them, and the page draws the last picture
// that is there, once a frame. Where there are no workers, the page does it all.

// `busy`: whether the workers have a question, the last of which has the number `asked`. `wanted`: whether the setting has
// changed since. `got`: their answers.
const painters = { workers: null, ready: false, asked: 0, busy: false, wanted: false, got: [], isWhole: false };
// With fewer messages the page is as quick alone.
const MANY_MESSAGES = 1000;
const hasMany = () => answers.reduce((sum, one) => sum + (one.messages ?? 0), 0) > MANY_MESSAGES;
const isBeside = () => painters.ready && setting.first !== "file" && hasMany();
// Whether what is shown is a picture only, and no run at which one can point.
const isPicture = () => runs.some((run) => run.painted);

// Starts the workers once there is a run for which they are needed.
function startPainters() {
  if (painters.workers || !hasMany()) return;
  painters.workers = [];
  let left = 2;
  try {
    const { port1, port2 } = new MessageChannel();
    painters.workers = [port1, port2].map((port) => {
      const worker = startWorker();
      worker.onmessage = ({ data }) => data.isReady ? painters.ready = --left === 0 : takePicture(worker, data);
      worker.onerror = (event) => { event.preventDefault(); painters.ready = false; };
      worker.postMessage({ module, port }, [port]);
      return worker;
    });
  } catch {
    // The page does it all.
  }
}

// Asks for the picture of the setting, or for the whole runs once the slider rests. Only the newest setting is asked for.
function askBeside(isWhole) {
  painters.wanted = painters.busy;
  painters.isWhole = isWhole;
  if (painters.busy) return;
  const { scale, width, left, panels } = place, ids = chosen(), columns = Math.max(1, Math.round((width - left) * scale));
  const shape = {
    alone: ids.length < 2, unit: unitOfSetting().length, room: roomOnAxis(), most: (width - left) * MOST_ARROWS, columns,
    lines: Math.max(1, Math.round(panels[0].height * scale)), scale, ink: colours, isWhole,
  };
  Object.assign(painters, { busy: true, got: [] });
  painters.asked++;
  ids.forEach((id, i) => painters.workers[i].postMessage({ id: painters.asked, request: runRequest(id, isWhole), shape }));
}

// Whatever the workers still answer is not wanted.
function dropPictures() {
  painters.asked++;
  Object.assign(painters, { busy: false, wanted: false });
  taken = null;
}

function takePicture(worker, { id, answer, error }) {
  if (id !== painters.asked) return;
  const ids = chosen(), { got, isWhole } = painters;
  got[painters.workers.indexOf(worker)] = answer ?? { error };
  if (ids.some((_, i) => !got[i])) return;
  painters.busy = false;
  // The workers go on while the page draws.
  if (painters.wanted) askBeside(painters.isWhole);
  taken = { isWhole, answers: ids.map((id, i) => ({ id, ...got[i] })) };
  asking = asking || requestAnimationFrame(update);
}
// The answers that came, and are not shown yet.
let taken = null;

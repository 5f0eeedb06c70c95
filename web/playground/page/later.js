// ---- Longer questions, which are answered beside the page, one after the other.
let helper = null, waitingFor = null, asked = 0;
const queue = [];
// A question that nobody wants any more may take so many milliseconds before its helper is stopped.
const PATIENCE = 400;

const startWorker = () => new Worker(URL.createObjectURL(new Blob([painter, helpers], { type: "text/javascript" })));

function startHelper() {
  const answered = ({ data: { id, answer, error } }) => {
    if (waitingFor?.id === id) settleQuestion(answer, error);
  };
  try {
    helper = startWorker();
    helper.onmessage = answered;
    helper.onerror = (event) => { event.preventDefault(); stopHelper(); };
    helper.postMessage({ module });
  } catch {
    stopHelper();
  }
  next();
}

// Where there are no workers, the page itself answers, between frames.
function stopHelper() {
  helper = { postMessage: ({ id, request, bytes }) => setTimeout(() => {
    if (waitingFor?.id !== id) return;
    try {
      settleQuestion(ask(request, bytes));
    } catch (error) {
      settleQuestion(undefined, error.message);
    }
  }, 30) };
  if (waitingFor) helper.postMessage(waitingFor);
}

function settleQuestion(answer, error) {
  const { done, fail } = waitingFor;
  waitingFor = null;
  if (error !== undefined) fail(new Error(error));
  else done(answer);
  next();
}

function next() {
  if (!helper || waitingFor || !queue.length) return;
  waitingFor = queue.shift();
  waitingFor.since = performance.now();
  helper.postMessage({ id: waitingFor.id, request: waitingFor.request, bytes: waitingFor.bytes });
}

// Asks a longer question. Its answer is a promise, which stays open if the question is dropped.
const askLater = (subject, request, bytes) => new Promise((done, fail) => {
  queue.push({ id: ++asked, subject, request, bytes, done, fail });
  next();
});

// Drops the questions about a subject that have no answer yet.
function dropQuestions(subject) {
  for (let i = queue.length - 1; i >= 0; i--) if (queue[i].subject === subject) queue.splice(i, 1);
  if (waitingFor?.subject !== subject || !helper?.terminate || performance.now() - waitingFor.since < PATIENCE) return;
  helper.terminate();
  helper = waitingFor = null;
  startHelper();
}

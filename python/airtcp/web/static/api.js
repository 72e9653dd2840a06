// What the server is asked. A refusal is a Problem, whose message is meant for people.

const GONE = "The server does not answer: airtcp web has ended, or the network is gone. The scenario and all that is shown stay here,"
  + " and the address keeps the scenario. Start airtcp web again, or wait for the network; then go on where you were.";

/** Why there is no answer: a message, and the control that it is about. */
export class Problem extends Error {
  constructor({ message, key = "", field = "", more = [], text = null, line = null }, status = 0) {
    super(message);
    Object.assign(this, { key, field, more, text, line, status });
  }
}

/** GET. */
export function get(path) {
  return answered(fetch(path, { headers: { accept: "application/json" } }));
}

/** POST a body of JSON; `keepalive`: it arrives though the page is closed. */
export function post(path, body, signal = undefined, keepalive = false) {
  return answered(fetch(path, { ...asked(body, signal), keepalive }));
}

/** A POST of which the newest counts: earlier ones are aborted and never answered; `stop()` aborts the last one. */
export function newest() {
  let controller = null;
  const ask = (path, body) => {
    ask.stop();
    controller = new AbortController();
    return post(path, body, controller.signal).catch((error) => (isAbort(error) ? new Promise(() => {}) : Promise.reject(error)));
  };
  ask.stop = () => controller?.abort();
  return ask;
}

/** POST a body, and hand on each line of JSON that comes back as it comes. */
export async function stream(path, body, signal, take) {
  const response = await reached(fetch(path, asked(body, signal)));
  if (!response.ok) throw await refused(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) if (line) take(JSON.parse(line));
  }
}

/** Upload a file, as it is. */
export function upload(file) {
  const type = "application/octet-stream";
  return answered(fetch("/api/uploads", { method: "POST", headers: { "content-type": type }, body: file }));
}

/** Whether an error only says that nobody waits for the answer any more. */
export function isAbort(error) {
  return error.name === "AbortError";
}

function asked(body, signal) {
  const headers = { "content-type": "application/json" };
  return { method: "POST", headers, body: JSON.stringify(body), signal };
}

async function answered(request) {
  const response = await reached(request);
  if (!response.ok) throw await refused(response);
  return response.json();
}

async function reached(request) {
  try {
    return await request;
  } catch (error) {
    if (isAbort(error)) throw error;
    throw new Problem({ message: GONE });
  }
}

async function refused(response) {
  try {
    return new Problem((await response.json()).problem, response.status);
  } catch {
    return new Problem({ message: `The server answers with status ${response.status}.` }, response.status);
  }
}

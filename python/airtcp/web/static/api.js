// Requests to the server. A rejection is a Problem, whose message is meant for users.

const GONE = "The server does not respond: airtcp web has ended, or there is no network. This page keeps the scenario and the results,"
  + " and the address contains the scenario. Restart airtcp web, or wait for the network, and continue.";

/** An error: its message, and the control that it concerns. */
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

/** POST a JSON body; with `keepalive` it arrives even if the page is closed. */
export function post(path, body, signal = undefined, keepalive = false) {
  return answered(fetch(path, { ...asked(body, signal), keepalive }));
}

/** A POST that aborts the previous one, so that only the newest is answered; `stop()` aborts the last one. */
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

/** POST a body, and pass on each line of JSON of the response as it arrives. */
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

/** Upload a file unchanged. */
export function upload(file) {
  const type = "application/octet-stream";
  return answered(fetch("/api/uploads", { method: "POST", headers: { "content-type": type }, body: file }));
}

/** Whether an error only means that the request was aborted. */
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
    return new Problem({ message: `The server responded with status ${response.status}.` }, response.status);
  }
}

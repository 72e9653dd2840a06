// What the server does for the page, done in the browser: requests below /api/ go to two workers, one
// for questions and one for runs.

const RUN_S = 600;
const server = globalThis.fetch.bind(globalThis);
const here = (name) => new URL(name, import.meta.url);

globalThis.fetch = (path, options = {}) => {
  if (typeof path !== "string" || !path.startsWith("/api/")) return server(path, options);
  const { pathname, searchParams } = new URL(path, location.href);
  return answered(pathname.slice("/api/".length).split("/"), options, searchParams);
};

/** A worker, and the requests that wait for it: urgent ones first. */
class Python {
  #waiting = [];
  #busy = null;
  #worker = null;
  #uploads = [];

  constructor() {
    this.#start();
  }

  /** Ask for something; `told` receives the messages until the reply. An aborted request is dropped. */
  ask(kind, request, { signal, told, urgency = 1 } = {}) {
    return new Promise((resolve, reject) => {
      const one = { kind, request, told, urgency, resolve, reject };
      signal?.addEventListener("abort", () => {
        this.#waiting = this.#waiting.filter((other) => other !== one);
        reject(new DOMException("aborted", "AbortError"));
      });
      this.#waiting.push(one);
      this.#next();
    });
  }

  /** Give the worker a file, and every later one, too. */
  upload(content) {
    this.#uploads.push(content);
    return this.ask("upload", content);
  }

  /** End what runs, with a new worker for the next request. */
  restart() {
    this.#worker.terminate();
    this.#busy?.resolve(null);
    this.#start();
    this.#waiting = [...this.#uploads.map((request) => ({ kind: "upload", request, urgency: -1, resolve() {}, reject() {} })), ...this.#waiting];
    this.#next();
  }

  #start() {
    this.#busy = null;
    this.#worker = new Worker(here("worker.js"), { type: "module" });
    this.#worker.onmessage = ({ data }) => {
      const { told, resolve, reject } = this.#busy;
      if ("message" in data) return told(data.message);
      this.#busy = null;
      if ("error" in data) reject(new Error(data.error));
      else resolve(data.reply);
      this.#next();
    };
    this.#worker.onerror = (event) => this.#busy?.reject(new Error(event.message ?? "the browser cannot run Python"));
  }

  #next() {
    if (this.#busy || !this.#waiting.length) return;
    const least = Math.min(...this.#waiting.map((one) => one.urgency));
    const [one] = this.#waiting.splice(this.#waiting.findIndex(({ urgency }) => urgency === least), 1);
    this.#busy = one;
    this.#worker.postMessage({ kind: one.kind, request: one.request });
  }
}

const questions = new Python();
const runs = new Python();
const loading = document.createElement("p");
loading.className = "notice";
loading.role = "status";
loading.textContent = "Loading Python and the simulator into this browser: 30 MB, once …";
document.getElementById("layout").before(loading);
questions.ask("ready").then(() => loading.remove(), (error) => { loading.textContent = `This browser cannot run the simulator: ${error.message}`; });

/** How soon a question is answered, as the server orders them. */
const URGENCY = { predict: 0, point: 2 };

function asked(name, body, signal) {
  return questions.ask("answer", { name, body }, { signal, urgency: URGENCY[name] ?? 1 });
}

async function answered([name, ...rest], { body, signal }, query) {
  const json = typeof body === "string" ? JSON.parse(body) : body;
  try {
    if (name === "start") return server(here("start.json"));
    if (name === "uploads") return reply(await upload(body), 201);
    if (name === "jobs") return reply(...await job(rest, json, query));
    if (name === "curve") return curve(json, signal);
    return said(await asked(name, json, signal));
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return problem(error.message, 503);
  }
}

function reply(body, status = 200) {
  return new Response(JSON.stringify(body), { status });
}

function problem(message, status) {
  return reply({ problem: { message, key: "", field: "", more: [] } }, status);
}

function said(told) {
  if ("answer" in told) return reply(told.answer);
  return "problem" in told ? reply({ problem: told.problem }, 422) : problem(told.failed, 503);
}

async function upload(file) {
  const content = new Uint8Array(await file.arrayBuffer());
  const [id] = await Promise.all([questions.upload(content), runs.upload(content)]);
  return { id, bytes: content.length };
}

/** The answers along an axis, a line each. */
function curve({ values, ...about }, signal) {
  const encoder = new TextEncoder();
  const lines = new ReadableStream({
    async start(controller) {
      await Promise.all(values.map(async (value, index) => {
        const told = await asked("point", { ...about, values: [value] }, signal).catch(() => null);
        if (told) controller.enqueue(encoder.encode(`${JSON.stringify({ index, ...told })}\n`));
      }));
      if (!signal?.aborted) controller.close();
    },
  });
  return new Response(lines);
}

const jobs = [];

/** Submit, watch or stop a run: a body and its status. */
async function job([id, stop], body, query) {
  if (id === undefined) return [{ id: String(await submitted(body)) }, 202];
  const one = jobs[Number(id)];
  if (stop) {
    left(one);
    return [{ state: one.state }];
  }
  const { state, progress, words, messages } = one;
  const place = jobs.filter((other) => other.state === "waiting" && jobs.indexOf(other) < Number(id)).length;
  return [{ state, progress, words, place, messages: messages.slice(Number(query.get("seen"))), seen: messages.length }];
}

/** The number of a run. Equal runs are made once; a run that the page began by itself gives way to one that was requested. */
async function submitted(body) {
  const told = await asked("alike", body);
  const key = told.answer?.key ?? JSON.stringify(body);
  const alike = jobs.findIndex((one) => one.key === key && ["waiting", "running", "done"].includes(one.state));
  if (alike >= 0) {
    jobs[alike].auto &&= body.auto;
    return alike;
  }
  const running = jobs.find((one) => one.state === "running");
  const one = { key, body, auto: body.auto, state: "waiting", progress: 0, words: "", messages: [] };
  jobs.push(one);
  if (running?.auto && !body.auto) {
    Object.assign(running, { state: "waiting", progress: 0, messages: [] });
    runs.restart();
    perform(running);
  }
  perform(one);
  return jobs.length - 1;
}

async function perform(one) {
  const told = (message) => {
    if ("began" in message) one.state = "running";
    else if ("progress" in message) one.progress = message.progress;
    else if ("words" in message) one.words = message.words;
    else if ("failed" in message) failed(one, message.failed);
    else {
      one.messages.push(message);
      if ("problem" in message) one.state = "failed";
      else if ("result" in message) one.state = "done";
    }
  };
  one.leaves = new AbortController();
  try {
    await runs.ask("perform", { body: one.body, limit_s: RUN_S }, { told, signal: one.leaves.signal, urgency: one.auto ? 2 : 1 });
  } catch (error) {
    if (error.name !== "AbortError") failed(one, error.message);
  }
}

function failed(one, message) {
  one.messages.push({ problem: { message, key: "", field: "", more: [] } });
  one.state = "failed";
}

/** Stop a run; the worker cannot hear this while it simulates, so it ends. */
function left(one) {
  const { state } = one;
  if (state !== "running" && state !== "waiting") return;
  one.state = "stopped";
  one.leaves.abort();
  if (state === "running") runs.restart();
}

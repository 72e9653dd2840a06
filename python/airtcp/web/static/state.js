// Everything that a link shares: the scenario, what is looked at, and how. It is kept behind the # of
// the address, packed, so that it never reaches the server's log and a long scenario fits.
//
// The scenario is a file. A state has its text (or the example that it is) and, until the next text,
// values at key paths that the server writes into it with its comments kept; `app.scenario.toml` is
// the file as it now is, which the command line runs to equal numbers. Views change it so:
//
//   app.change({ "stations.desk.count": 40 }, "40 desks")    values at key paths, null to take out
//   app.edit(text, "another file")                           a whole text
//   await app.restructure({ op: "copy", path: "stations.desk" }, "desk copied")   groups and flows
//   app.undo(), app.redo()                                   app.history.past and .future tell of what
//
// restructure also sets a key to what --set would read: { op: "set", path, text }; it rejects with a
// Problem and leaves the scenario as it is where that is none. `app.trouble` is the Problem of a file
// that is no scenario, else null.
//
// Each is one entry of app.history: the source that was there before, and what was done to it.

const VERSION = "1";
// The views of extensions have such names, too; main.js knows which ones there are.
const VIEW = /^[a-z]{1,20}$/;

export const FIRST = {
  example: "office-wifi6", text: null, changes: {}, stations: null, files: {},
  view: "explore", axis: null, metric: null, remedies: [],
  until: "", planAxis: null, paper: null, paperValues: {},
  timeline: { at: 0, begin: 1000, length: 20 },
  store: { name: null, y: null, x: null, by: null, kind: "line", where: {} },
};

/** The part of a state that the server reads. */
export function source(state) {
  const { example, text, changes, stations, files } = state;
  return { example: text === null ? example : null, text, changes, stations, files };
}

/** What a link means that names no example: the first one of the pages that made such links. */
const UNNAMED = "web-hotspot";

// An address so long, or a shorter one, has a history: mail and chat cut off some that are longer.
const LONGEST_WITH_HISTORY = 2000;
// So many changes and trials, the last ones, are in an address if they fit.
const HISTORIES = [20, 5, 0];

/**
 * A state as text for an address, with the last changes and what was tried where they are short. It
 * names its example, whichever comes first later.
 */
export async function encode(state, past = [], tried = []) {
  const kept = Object.fromEntries(Object.entries(state).filter(([name, value]) =>
    name === "example" || JSON.stringify(value) !== JSON.stringify(FIRST[name])));
  for (const most of past.length || tried.length ? HISTORIES : [0]) {
    const history = most ? { past: past.slice(-most), tried: tried.slice(0, most).map((one) => one.line) } : {};
    const text = await packed({ ...kept, ...history });
    if (!most || text.length <= LONGEST_WITH_HISTORY) return text;
  }
}

async function packed(kept) {
  const bytes = new TextEncoder().encode(JSON.stringify(kept));
  return `${VERSION}${base64(await through(bytes, new CompressionStream("deflate-raw")))}`;
}

/** The state of an address, `past` and `tried` of its history, or an error that says what is wrong. */
export async function decode(text) {
  if (!text) return { state: structuredClone(FIRST), past: [], tried: [] };
  let kept;
  try {
    if (!text.startsWith(VERSION)) throw new Error("version");
    const bytes = await through(bytes64(text.slice(1)), new DecompressionStream("deflate-raw"));
    kept = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("This link is broken: what is behind its # cannot be read. Shown is the first scenario instead.");
  }
  const { past = [], tried = [], ...rest } = isTable(kept) ? kept : {};
  const state = { ...structuredClone(FIRST), example: UNNAMED, ...rest };
  if (!valid(state) || !isHistory(past, tried)) {
    throw new Error("This link is broken: it is of no scenario. Shown is the first scenario instead.");
  }
  return { state, past, tried: tried.map((line) => ({ line })) };
}

/** Set a key path of the scenario; what stood below it goes. */
export function change(state, path, value) {
  for (const key of Object.keys(state.changes)) {
    if (key === path || key.startsWith(`${path}.`)) delete state.changes[key];
  }
  state.changes[path] = value;
}

// What a control is moved by within so long a time is one entry of the history.
const ONE_MOVE_MS = 1500;
const MOST_KEPT = 200;

/** The scenarios that were there before, oldest first, and those that undo took back, next first. */
export class History {
  past = [];
  future = [];
  #last = { what: "", at: -Infinity };

  /** Keep the source that a change has replaced, and what the change was called. */
  push(before, what, now = performance.now()) {
    const on = what !== "" && what === this.#last.what && now - this.#last.at < ONE_MOVE_MS;
    this.#last = { what, at: now };
    this.future = [];
    if (on) return;
    this.past.push({ source: before, what });
    if (this.past.length > MOST_KEPT) this.past.shift();
  }

  /** The source before the last change in the place of `now`, or null. */
  undo(now) {
    return this.#step(this.past, this.future, now);
  }

  /** The source that undo took back last, or null. */
  redo(now) {
    return this.#step(this.future, this.past, now);
  }

  #step(from, to, now) {
    const one = from.pop();
    if (!one) return null;
    this.#last = { what: "", at: -Infinity };
    to.push({ source: now, what: one.what });
    return one.source;
  }
}

function valid(state) {
  return isSource(state) && isTable(state.timeline) && isTable(state.paperValues)
    && isTable(state.store) && isTable(state.store.where)
    && Array.isArray(state.remedies) && state.remedies.every((one) => typeof one === "string")
    && ["axis", "metric", "planAxis", "paper"].every((name) => state[name] === null || typeof state[name] === "string")
    && ["at", "begin", "length"].every((name) => Number.isFinite(state.timeline[name]))
    && typeof state.until === "string" && VIEW.test(state.view)
    && Object.keys(FIRST).every((name) => name in state);
}

function isSource(one) {
  return isTable(one) && isTable(one.changes) && isTable(one.files)
    && [one.text, one.example].every((text) => text === null || typeof text === "string")
    && (one.text !== null || one.example !== null) && (one.stations === null || Number.isInteger(one.stations));
}

function isHistory(past, tried) {
  return Array.isArray(past) && past.every((one) => isTable(one) && isSource(one.source) && typeof one.what === "string")
    && Array.isArray(tried) && tried.every((line) => typeof line === "string");
}

function isTable(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

async function through(bytes, transform) {
  const stream = new Blob([bytes]).stream().pipeThrough(transform);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function base64(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function bytes64(text) {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}

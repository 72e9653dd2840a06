// Everything that a link shares: the scenario, the view, and its settings. It is stored compressed in
// the fragment (#) of the address, so that it never reaches the server's log and a long scenario fits.
//
// The scenario is a file. A state has its text (or the name of an example) and changed values at key
// paths, which the server writes into the text, keeping comments. `app.scenario.toml` is the resulting
// file, for which the command line gives equal numbers. Views change it with:
//
//   app.change({ "stations.desk.count": 40 }, "40 desks")    values at key paths, null to remove
//   app.edit(text, "another file")                           a whole text
//   await app.restructure({ op: "copy", path: "stations.desk" }, "desk copied")   groups and flows
//   app.undo(), app.redo()                                   app.history.past and .future describe them
//
// restructure also sets a key from text as --set does: { op: "set", path, text }. If the result is not a
// scenario, it rejects with a Problem and changes nothing. `app.trouble` is the Problem of an invalid
// file, otherwise null.
//
// Each change is one entry of app.history: the previous source, and a description of the change.

const VERSION = "1";
// Views of extensions have names of this form, too; main.js has their list.
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

/** The example of a link without one: the first example of the pages that made such links. */
const UNNAMED = "web-hotspot";

// The longest address that contains a history; mail and chat programs truncate longer ones.
const LONGEST_WITH_HISTORY = 2000;
// Maximum number of latest changes and trials in an address.
const HISTORIES = [20, 5, 0];

/**
 * A state as text for an address, with the latest changes and trials if they are short enough. It names
 * its example, because the default example may change.
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

/** The state of an address, with `past` and `tried` of its history. Throws an error for a broken link. */
export async function decode(text) {
  if (!text) return { state: structuredClone(FIRST), past: [], tried: [] };
  let kept;
  try {
    if (!text.startsWith(VERSION)) throw new Error("version");
    const bytes = await through(bytes64(text.slice(1)), new DecompressionStream("deflate-raw"));
    kept = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("This link is broken: the part after # cannot be read. Showing the first scenario instead.");
  }
  const { past = [], tried = [], ...rest } = isTable(kept) ? kept : {};
  const state = { ...structuredClone(FIRST), example: UNNAMED, ...rest };
  if (!valid(state) || !isHistory(past, tried)) {
    throw new Error("This link is broken: it contains no scenario. Showing the first scenario instead.");
  }
  return { state, past, tried: tried.map((line) => ({ line })) };
}

/** Set a key path of the scenario; changes of keys below it are dropped. */
export function change(state, path, value) {
  for (const key of Object.keys(state.changes)) {
    if (key === path || key.startsWith(`${path}.`)) delete state.changes[key];
  }
  state.changes[path] = value;
}

// Moves of one control within this time are one entry of the history.
const ONE_MOVE_MS = 1500;
const MOST_KEPT = 200;

/** Previous scenarios, oldest first, and scenarios that were undone, next first. */
export class History {
  past = [];
  future = [];
  #last = { what: "", at: -Infinity };

  /** Store the source that a change has replaced, and the change's description. */
  push(before, what, now = performance.now()) {
    const on = what !== "" && what === this.#last.what && now - this.#last.at < ONE_MOVE_MS;
    this.#last = { what, at: now };
    this.future = [];
    if (on) return;
    this.past.push({ source: before, what });
    if (this.past.length > MOST_KEPT) this.past.shift();
  }

  /** Replace `now` by the source before the last change, or return null. */
  undo(now) {
    return this.#step(this.past, this.future, now);
  }

  /** The source that was undone last, or null. */
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

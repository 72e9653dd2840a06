// Everything that a link shares: the scenario, what is looked at, and how. It is kept behind the # of
// the address, packed, so that it never reaches the server's log and a long scenario fits.

const VERSION = "1";
const VIEWS = ["explore", "plan", "timeline", "papers", "store"];

export const FIRST = {
  example: "office-wifi6", text: null, changes: {}, stations: null, files: {},
  view: "explore", axis: null, metric: null, remedies: [],
  until: "p90 transfer_time > 2 s", planAxis: null, paper: null, paperValues: {},
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

/** A state as text for an address. It names its example, whichever comes first later. */
export async function encode(state) {
  const kept = Object.fromEntries(Object.entries(state).filter(([name, value]) =>
    name === "example" || JSON.stringify(value) !== JSON.stringify(FIRST[name])));
  const bytes = new TextEncoder().encode(JSON.stringify(kept));
  return `${VERSION}${base64(await through(bytes, new CompressionStream("deflate-raw")))}`;
}

/** The state of an address, or an error that says what is wrong with it. */
export async function decode(text) {
  if (!text) return structuredClone(FIRST);
  let kept;
  try {
    if (!text.startsWith(VERSION)) throw new Error("version");
    const bytes = await through(bytes64(text.slice(1)), new DecompressionStream("deflate-raw"));
    kept = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw new Error("This link is broken: what is behind its # cannot be read. Shown is the first scenario instead.");
  }
  const state = { ...structuredClone(FIRST), example: UNNAMED, ...(isTable(kept) ? kept : {}) };
  if (!valid(state)) {
    throw new Error("This link is broken: it is of no scenario. Shown is the first scenario instead.");
  }
  return state;
}

/** Set a key path of the scenario; what stood below it goes. */
export function change(state, path, value) {
  for (const key of Object.keys(state.changes)) {
    if (key === path || key.startsWith(`${path}.`)) delete state.changes[key];
  }
  state.changes[path] = value;
}

function valid(state) {
  return isTable(state.changes) && isTable(state.files) && isTable(state.timeline) && isTable(state.paperValues)
    && isTable(state.store) && isTable(state.store.where)
    && Array.isArray(state.remedies) && state.remedies.every((one) => typeof one === "string")
    && ["text", "example", "axis", "metric", "planAxis", "paper"].every((name) => state[name] === null || typeof state[name] === "string")
    && (state.text !== null || state.example !== null)
    && ["at", "begin", "length"].every((name) => Number.isFinite(state.timeline[name]))
    && (state.stations === null || Number.isInteger(state.stations))
    && typeof state.until === "string" && VIEWS.includes(state.view)
    && Object.keys(FIRST).every((name) => name in state);
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

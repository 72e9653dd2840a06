// The page: one state, stored in the address, and the views that show it.

import { put } from "./advice.js";
import { get, isAbort, post, upload } from "./api.js";
import { controls } from "./controls.js";
import { announce, bad, h, replace } from "./dom.js";
import { editor } from "./editor.js";
import { explore } from "./explore.js";
import { BLANK, file } from "./file.js";
import { plan } from "./plan.js";
import { change, decode, encode, FIRST, History, source } from "./state.js";
import { store } from "./store.js";
import { timeline } from "./timeline.js";

const VIEWS = { scenario: ["Scenario", editor], explore: ["Explore", explore], plan: ["Plan", plan], timeline: ["Timeline", timeline], store: ["Store", store] };

const app = {
  state: structuredClone(FIRST),
  start: null,
  scenario: null,
  // The scenario's key for cached results, by source as JSON.
  keys: new Map(),
  notice: "",
  history: new History(),
  trouble: null,
};
const main = document.getElementById("main");
let view = null;
let asking = null;
let address = "";
// The file or example from which the controls were made.
let described = "";
let remembering = 0;
let rebuilding = Promise.resolve();

const panel = controls({ changed: fieldChanged });
const problemBox = h("div", { class: "problem", role: "alert" });
app.file = file(app);
const fileHere = h("details", { class: "section file" }, h("summary", {}, h("span", {}, "Scenario file")));
const filesHere = h("div");
const undoButton = h("button", { type: "button", class: "quiet", onclick: () => app.undo() }, "Undo");
const chooser = h("select", { id: "example", onchange: () => begin({ example: chooser.value }, "another example") });

/**
 * Change the state and update everything. `local`: the scenario does not change. `what` describes the
 * change in the history.
 */
app.update = (edit, { local = false, what = "" } = {}) => {
  const before = structuredClone(source(app.state));
  edit(app.state);
  if (JSON.stringify(source(app.state)) !== JSON.stringify(before)) app.history.push(before, what);
  remember();
  if (local) view?.show();
  else refresh();
};
/** Set values at key paths; null removes a key. */
app.change = (changes, what) => app.update((state) => {
  for (const [path, value] of Object.entries(changes)) change(state, path, value);
}, { what });
/** Replace the scenario's text. */
app.edit = (text, what) => app.update((state) => {
  Object.assign(state, { text, example: null, changes: {}, stations: null });
}, { what });
/** Add, copy, remove or rename a group or a flow. Rejects with a Problem if that is impossible. */
app.restructure = (edit, what) => {
  const mine = rebuilding.then(async () => {
    for (;;) {
      const before = JSON.stringify(app.source());
      const { text, path } = await post("/api/edit", { source: JSON.parse(before), edit });
      // The scenario has changed in the meantime: repeat the edit on the new one.
      if (JSON.stringify(app.source()) !== before) continue;
      app.edit(text, what);
      return path;
    }
  });
  rebuilding = mine.catch(() => {});
  return mine;
};
app.undo = () => step(app.history.undo(structuredClone(app.source())));
app.redo = () => step(app.history.redo(structuredClone(app.source())));
/** Load another state, including its view. */
app.go = (state) => {
  app.history.push(structuredClone(app.source()), "another scenario");
  app.state = state;
  remember();
  showView();
  refresh();
  main.focus();
};
app.source = () => source(app.state);
/** True while the controls belong to another file: this one may lack their keys. */
app.isPending = () => described !== origin();
const origin = () => JSON.stringify([app.state.text, app.state.example]);
app.problem = showProblem;
app.move = fieldChanged;
app.copied = copied;

await boot();

async function boot() {
  try {
    app.start = await get("/api/start");
  } catch (error) {
    replace(main, bad(error.message));
    return;
  }
  await addViews(app.start.views);
  replace(chooser, h("option", { value: "", disabled: true, hidden: true }, "your own file"),
    app.start.examples.map((one) => h("option", { value: one.name, title: one.description }, one.title)));
  const all = h("details", { class: "all-controls fold" }, h("summary", {}, "Change values"), panel.element, fileHere);
  replace(document.getElementById("controls"), h("div", { class: "start" },
    h("label", { for: "example", class: "visually-hidden" }, "Scenario"), chooser,
    h("div", { class: "buttons" }, h("button", { type: "button", onclick: blank }, "Blank"), uploadButton(), undoButton),
    filesHere, problemBox), all);
  document.getElementById("share").addEventListener("click", share);
  main.addEventListener("click", pressed);
  // The fragment (#) is the state, so a jump within the page must not replace it.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  window.addEventListener("hashchange", () => location.hash.slice(1) !== address && follow());
  await follow();
}

/** A button of a part that the server described: it applies a change to the file, or copies a text. */
function pressed({ target }) {
  const button = target.closest("[data-apply], [data-copy]");
  if (button?.dataset.copy) copied(button.dataset.copy, button);
  if (!button?.dataset.apply) return;
  put(app, JSON.parse(button.dataset.apply), button.dataset.what);
  announce(`Applied: ${button.dataset.what}. Undo reverts it.`);
}

/** Load the views of installed extensions. They come before the store. */
async function addViews(views) {
  const { store: last } = VIEWS;
  delete VIEWS.store;
  for (const { name, title, script } of views) VIEWS[name] = [title, (await import(`./${script}`)).view];
  VIEWS.store = last;
}

/** Load the state from the address. */
async function follow() {
  let broken = "";
  try {
    const { state, past, tried } = await decode(location.hash.slice(1));
    app.state = state;
    if (past.length) app.history.past = past;
    if (tried.length) app.tried = tried;
  } catch (error) {
    app.state = structuredClone(FIRST);
    broken = error.message;
  }
  address = location.hash.slice(1);
  if (!Object.hasOwn(VIEWS, app.state.view)) {
    broken = `This link is broken: there is no view "${app.state.view}". Showing Explore instead.`;
    app.state.view = "explore";
  }
  showView();
  await refresh();
  if (broken) replace(problemBox, bad(broken));
}

/** Load a source from the history. */
function step(before) {
  if (!before) return;
  Object.assign(app.state, structuredClone(before));
  remember();
  refresh();
}

function begin(part, what) {
  app.update((state) => {
    const { view: now } = state;
    Object.assign(state, structuredClone(FIRST), { view: now, text: null }, part);
  }, { what });
}

/** Start a scenario with one group, in the view to edit scenarios. */
function blank() {
  begin({ text: BLANK, example: null, view: "scenario" }, "a blank scenario");
  showView();
  main.focus();
  // Focus the number of stations, which users type first.
  view.begin();
}

/** A control was moved. An option also removes conflicting keys, and restores them once they are valid. */
function fieldChanged(path, value, field, option = {}) {
  if (app.isPending()) return;
  app.update((state) => {
    if (path === "stations") { state.stations = value; return; }
    if (path.endsWith(".count") && state.stations !== null) {
      // Other groups keep the numbers that the common slider set.
      for (const one of app.scenario.fields) if (one.path.endsWith(".count")) state.changes[one.path] = one.value;
      state.stations = null;
    }
    for (const other of option.back ?? []) if (state.changes[other] === null) delete state.changes[other];
    for (const other of [...field.also ?? [], ...option.also ?? []]) change(state, other, null);
    change(state, path, value);
  }, { what: path });
}

/** Request the scenario's description; the newest request wins. */
async function refresh() {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  app.file.element.ariaBusy = true;
  undoButton.disabled = !app.history.past.length;
  chooser.value = app.state.text === null ? app.state.example : "";
  showFiles();
  view?.moved?.(signal);
  try {
    const asked = app.source();
    const scenario = await post("/api/scenario", { source: asked }, signal);
    app.scenario = scenario;
    app.keys.set(JSON.stringify(asked), scenario.key);
    described = origin();
    trouble(null);
    replace(problemBox);
    panel.clear();
    panel.show(scenario);
    app.file.show(scenario.toml);
    app.file.element.ariaBusy = null;
    document.title = `${scenario.title} – airtcp`;
    view?.show();
  } catch (error) {
    if (isAbort(error)) return;
    described = origin();
    trouble(error);
    app.file.problem(error);
    app.file.element.ariaBusy = null;
    // The file shows its error at the line, so the page does not repeat it.
    if (app.file.element.checkVisibility()) {
      panel.problem(error);
      replace(problemBox);
    } else showProblem(error);
  }
}

/** Grey out old content while the scenario is invalid. */
function trouble(error) {
  app.trouble = error;
  document.getElementById("layout").classList.toggle("stale", error !== null);
}

function showProblem(error) {
  const there = panel.problem(error);
  const text = error.key ? `${error.key}: ${error.message}` : error.message;
  replace(problemBox, bad(there ? `The scenario is not valid: ${text}` : text));
}

function showView() {
  const names = Object.keys(VIEWS);
  replace(document.getElementById("views"), names.map((name) => h("button", {
    type: "button", "aria-current": name === app.state.view ? "page" : null,
    onclick: () => {
      app.state.view = name;
      remember();
      showView();
      if (app.scenario || view.alone) view.show();
    },
  }, VIEWS[name][0])));
  view?.leave?.();
  app.file.take();
  view = VIEWS[app.state.view][1](app);
  document.getElementById("layout").classList.toggle("alone", Boolean(view.alone));
  document.getElementById("layout").classList.toggle("editing", Boolean(view.hasFile));
  // The file is next to every view: in its own view inside, otherwise on the left.
  fileHere.hidden = Boolean(view.hasFile);
  if (!view.hasFile) fileHere.append(app.file.element);
  replace(main, view.element);
}

function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(written, 120);
}

/** Store the state in the address. */
async function written() {
  address = await encode(app.state, app.history.past, app.tried);
  history.replaceState(null, "", `#${address}`);
}

// Mail and chat programs truncate longer links.
const LONGEST_LINK = 8000;

async function share() {
  await written();
  await copied(location.href, document.getElementById("share"));
  const uploaded = Object.keys(app.state.files);
  const care = [
    location.href.length > LONGEST_LINK && `This link has ${location.href.length} characters, and many programs truncate it. Send the scenario file instead, which can be opened on the page.`,
    uploaded.length > 0 && `Not in the link: ${uploaded.join(", ")}. Whoever opens the link has to upload them again.`,
  ].filter(Boolean);
  if (care.length) replace(problemBox, care.map((line) => h("p", { class: "notice" }, line)));
}

/** Copy a text, and confirm on the button. */
async function copied(text, button) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Copy it from the address bar";
  }
  announce(button.textContent);
  setTimeout(() => { button.textContent = label; }, 1600);
}

function uploadButton() {
  const input = h("input", { type: "file", id: "upload", class: "visually-hidden", onchange: async () => {
    const [chosen] = input.files;
    input.value = "";
    if (chosen) await take(chosen);
  } });
  return h("span", {}, input, h("label", { for: "upload", class: "button" }, "Open a file …"));
}

/** Open a scenario file; upload any other file, for a scenario that names it. */
async function take(chosen) {
  replace(problemBox);
  try {
    if (chosen.name.endsWith(".toml")) {
      if (chosen.size > 1e6) throw new Error("the file is too large; allowed: a scenario of 1 MB at most");
      begin({ text: await chosen.text(), example: null }, chosen.name);
      return;
    }
    if (chosen.size > app.start.limits.upload_bytes) {
      throw new Error(`the file is too large; allowed: ${app.start.limits.upload_bytes / 2 ** 20} MiB`);
    }
    const { id } = await upload(chosen);
    app.update((state) => { state.files[chosen.name] = id; useFile(state, chosen.name); });
    announce(`Uploaded ${chosen.name}`);
  } catch (error) {
    showProblem(error);
  }
}

/** List uploaded files, and how a scenario can use them. */
function showFiles() {
  const names = Object.keys(app.state.files);
  const used = (name) => JSON.stringify(app.state.changes).includes(JSON.stringify(name)) || Boolean(app.state.text?.includes(`"${name}"`));
  replace(filesHere, names.length > 0 && h("ul", { class: "files" }, names.map((name) => h("li", {}, h("strong", {}, name),
    used(name) ? " is in the scenario."
      : h("span", { class: "muted" }, " is here. The scenario file may name it: ", h("code", {}, `size = { distribution = "empirical", file = "${name}" }`))))));
}

/** Use an uploaded log for the sizes of the first web flow, if there is one. */
function useFile(state, name) {
  const field = app.scenario?.fields.find((one) => one.path.endsWith(".application") && one.text === "web");
  if (field && !name.toLowerCase().includes(".csv")) {
    change(state, `${field.path}.size`, { distribution: "empirical", file: name });
  }
}

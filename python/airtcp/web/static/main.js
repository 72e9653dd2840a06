// The page: one state, which the address keeps, and the views that show it.

import { get, isAbort, post, upload } from "./api.js";
import { controls } from "./controls.js";
import { announce, h, replace } from "./dom.js";
import { explore } from "./explore.js";
import { papers } from "./papers.js";
import { plan } from "./plan.js";
import { change, decode, encode, FIRST, source } from "./state.js";
import { store } from "./store.js";
import { timeline } from "./timeline.js";

const VIEWS = { explore: ["Explore", explore], plan: ["Plan", plan], timeline: ["Timeline", timeline], papers: ["Papers", papers], store: ["Store", store] };

const app = {
  state: structuredClone(FIRST),
  start: null,
  scenario: null,
  notice: "",
};
const main = document.getElementById("main");
let view = null;
let asking = null;
let address = "";
let remembering = 0;

const panel = controls({ changed: fieldChanged });
const problemBox = h("div", { class: "problem", role: "alert" });
const scenarioFile = file();
const filesHere = h("div");
const chooser = h("select", { id: "example", onchange: () => begin({ example: chooser.value }) });

/** Change the state, then have everything follow it. `local`: the scenario stays as it is. */
app.update = (edit, { local = false } = {}) => {
  edit(app.state);
  remember();
  if (local) view?.show();
  else refresh();
};
/** Take another state as a whole, its view included. */
app.go = (state) => {
  app.state = state;
  remember();
  showView();
  refresh();
  main.focus();
};
app.source = () => source(app.state);
app.problem = showProblem;

await boot();

async function boot() {
  try {
    app.start = await get("/api/start");
  } catch (error) {
    replace(main, h("p", { class: "notice bad" }, error.message));
    return;
  }
  replace(chooser, h("option", { value: "", disabled: true, hidden: true }, "your own file"),
    app.start.examples.map((one) => h("option", { value: one.name, title: one.description }, one.title)));
  const wide = window.matchMedia("(min-width: 60.01rem)");
  const all = h("details", { class: "all-controls", open: wide.matches }, h("summary", {}, "Change the scenario"),
    panel.element, scenarioFile.element);
  wide.addEventListener("change", () => { all.open = wide.matches; });
  replace(document.getElementById("controls"), h("div", { class: "start" },
    h("div", { class: "field" }, h("div", { class: "field-head" }, h("label", { for: "example" }, "Scenario")), chooser),
    h("div", { class: "buttons" }, uploadButton(), h("button", { type: "button", class: "quiet", onclick: reset }, "Undo changes")),
    filesHere, problemBox), all);
  document.getElementById("share").addEventListener("click", share);
  // What is behind the # is the state: a jump within the page must not take its place.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    main.focus();
  });
  window.addEventListener("hashchange", () => location.hash.slice(1) !== address && follow());
  await follow();
}

/** Take the state from the address. */
async function follow() {
  let broken = "";
  try {
    app.state = await decode(location.hash.slice(1));
  } catch (error) {
    app.state = structuredClone(FIRST);
    broken = error.message;
  }
  address = location.hash.slice(1);
  if (!VIEWS[app.state.view]) app.state.view = "explore";
  showView();
  await refresh();
  if (broken) replace(problemBox, h("p", { class: "notice bad" }, broken));
}

function begin(part) {
  app.update((state) => {
    const { view: now } = state;
    Object.assign(state, structuredClone(FIRST), { view: now, text: null }, part);
  });
}

function reset() {
  app.update((state) => Object.assign(state, { changes: {}, stations: null }));
}

/** A control was moved. What an option cannot stand beside goes with it, and comes back when it may. */
function fieldChanged(path, value, field, option = {}) {
  app.update((state) => {
    if (path.endsWith(".count") && state.stations !== null) {
      // The others stay where the common slider has put them.
      for (const one of app.scenario.fields) if (one.path.endsWith(".count")) state.changes[one.path] = one.value;
      state.stations = null;
    }
    for (const other of option.back ?? []) if (state.changes[other] === null) delete state.changes[other];
    for (const other of [...field.also ?? [], ...option.also ?? []]) change(state, other, null);
    change(state, path, value);
  });
}

/** Ask what the scenario is now; the newest question wins. */
async function refresh() {
  asking?.abort();
  asking = new AbortController();
  const { signal } = asking;
  chooser.value = app.state.text === null ? app.state.example : "";
  showFiles();
  view?.moved?.(signal);
  try {
    const scenario = await post("/api/scenario", { source: app.source() }, signal);
    app.scenario = scenario;
    replace(problemBox);
    panel.clear();
    panel.show(scenario);
    scenarioFile.show(scenario.toml);
    document.title = `${scenario.title} – airtcp`;
    view?.show();
  } catch (error) {
    if (!isAbort(error)) showProblem(error);
  }
}

function showProblem(error) {
  const there = panel.problem(error);
  const text = error.key ? `${error.key}: ${error.message}` : error.message;
  replace(problemBox, h("p", { class: "notice bad" }, there ? `Not a scenario that can be asked about: ${text}` : text));
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
  view = VIEWS[app.state.view][1](app);
  document.getElementById("layout").classList.toggle("alone", Boolean(view.alone));
  replace(main, view.element);
}

function remember() {
  clearTimeout(remembering);
  remembering = setTimeout(async () => {
    address = await encode(app.state);
    history.replaceState(null, "", `#${address}`);
  }, 120);
}

async function share() {
  address = await encode(app.state);
  history.replaceState(null, "", `#${address}`);
  const button = document.getElementById("share");
  await copied(location.href, button);
}

/** Copy a text, and say on the button that it is done. */
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
app.copied = copied;

function uploadButton() {
  const input = h("input", { type: "file", id: "upload", class: "visually-hidden", onchange: async () => {
    const [chosen] = input.files;
    input.value = "";
    if (chosen) await take(chosen);
  } });
  return h("span", {}, input, h("label", { for: "upload", class: "button" }, "Open a file …"));
}

/** A scenario file is shown; any other is kept on the server for a scenario that names it. */
async function take(chosen) {
  replace(problemBox);
  try {
    if (chosen.name.endsWith(".toml")) {
      if (chosen.size > 1e6) throw new Error("the file is too large; allowed: a scenario of 1 MB at most");
      begin({ text: await chosen.text(), example: null });
      return;
    }
    if (chosen.size > app.start.limits.upload_bytes) {
      throw new Error(`the file is too large; allowed: ${app.start.limits.upload_bytes / 2 ** 20} MiB`);
    }
    const { id } = await upload(chosen);
    app.update((state) => { state.files[chosen.name] = id; useFile(state, chosen.name); });
    announce(`${chosen.name} is here`);
  } catch (error) {
    showProblem(error);
  }
}

/** Which uploaded files a scenario may name, and how it does. */
function showFiles() {
  const names = Object.keys(app.state.files);
  const used = (name) => JSON.stringify(app.state.changes).includes(JSON.stringify(name)) || Boolean(app.state.text?.includes(`"${name}"`));
  replace(filesHere, names.length > 0 && h("ul", { class: "files" }, names.map((name) => h("li", {}, h("strong", {}, name),
    used(name) ? " is in the scenario."
      : h("span", { class: "muted" }, " is here. The scenario file may name it: ", h("code", {}, `size = { distribution = "empirical", file = "${name}" }`))))));
}

/** Put an uploaded log in the place of the sizes of the first flow of web pages, if there is one. */
function useFile(state, name) {
  const field = app.scenario?.fields.find((one) => one.path.endsWith(".application") && one.text === "web");
  if (field && !name.toLowerCase().includes(".csv")) {
    change(state, `${field.path}.size`, { distribution: "empirical", file: name });
  }
}

/** The text of the scenario: to read, copy, change and take along. */
function file() {
  const area = h("textarea", { id: "toml", spellcheck: "false", rows: 18, "aria-label": "Scenario file (TOML)" });
  const copy = h("button", { type: "button", class: "quiet", onclick: () => copied(area.value, copy) }, "Copy");
  const element = h("details", { class: "section file" }, h("summary", {}, h("span", {}, "Scenario file")), area,
    h("div", { class: "buttons" },
      h("button", { type: "button", onclick: () => begin({ text: area.value, example: null, files: app.state.files }) }, "Use this text"),
      copy,
      h("button", { type: "button", class: "quiet", onclick: () => download(area.value) }, "Download")));
  return { element, show: (text) => { if (document.activeElement !== area) area.value = text; } };
}

function download(text) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: "application/toml" })), download: "scenario.toml" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

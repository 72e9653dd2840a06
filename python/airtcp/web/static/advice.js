// The cause of missed targets and the changes tried, with a history. The server describes the changes; a button
// applies one to the scenario file, and undo reverts it.

import { fold, h, replace } from "./dom.js";
import { made } from "./parts.js";
import { change } from "./state.js";

/** The card of the cause and the changes, with `show(advice, { busy })`. */
export function advice(app) {
  const body = h("div");
  const history = h("details", { class: "history", hidden: true });
  const element = fold("Causes and fixes", body, history);
  element.hidden = true;
  let shown = null;

  function show(told, { busy = false } = {}) {
    element.hidden = !told && !busy && !app.tried?.length;
    if (shown !== told || busy) {
      shown = told;
      for (const one of told?.remedies ?? []) tried(app, { title: one.title, line: one.line, words: one.words });
      replace(body, busy && h("p", { class: "muted loading" }, "Trying changes on the same random numbers …"), made(told?.parts));
    }
    showHistory();
  }

  function showHistory() {
    const done = (app.history?.past ?? []).slice().reverse();
    const list = app.tried ?? [];
    history.hidden = !done.length && !list.length;
    replace(history, h("summary", {}, "History: what was changed and tried"),
      done.length > 0 && [h("h3", {}, "Changes, newest first"),
        h("ol", {}, done.slice(0, 20).map((one) => h("li", {}, one.what || "a change"))),
        h("div", { class: "buttons" }, h("button", { type: "button", onclick: () => app.undo() }, "Undo the last change"),
          app.history.future.length > 0 && h("button", { type: "button", onclick: () => app.redo() }, "Redo"))],
      list.length > 0 && [h("h3", {}, "Tried"), h("ul", {}, list.map((one) => h("li", {}, one.line)))]);
  }

  return { element, show };
}

/** Add a tried change and its result to the history: newest first, each once. */
export function tried(app, one) {
  app.tried = [one, ...(app.tried ?? []).filter((other) => other.line !== one.line)].slice(0, 40);
}

/** Apply changes to the file. A number set for all stations is written to the groups first. */
export function put(app, changes, what) {
  if (app.state.stations === null) { app.change(changes, what); return; }
  const text = app.scenario.toml;
  app.update((state) => {
    Object.assign(state, { text, example: null, changes: {}, stations: null });
    for (const [path, value] of Object.entries(changes)) change(state, path, value);
  }, { what });
}

// The cause of missed targets and the changes tried: values before and after, effects on groups, and
// configuration lines. Applying a change edits the scenario file; undo reverts it.

import { bars } from "./bars.js";
import { announce, fold, h, replace } from "./dom.js";
import { change } from "./state.js";

/** The card of the cause and the changes, with `show(advice, state)`. */
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
      if (told) for (const one of told.remedies) tried(app, { title: one.title, line: one.line, words: one.words });
      replace(body, busy && h("p", { class: "muted loading" }, "Trying changes on the same random numbers …"),
        told && told.causes.map((line) => h("p", {}, `Cause: ${line}`)),
        told && !told.remedies.length && h("p", {}, told.tried ? `None of the ${told.tried} changes tried helps.` : "No change was tried."),
        told && told.remedies.map((one) => remedy(app, {
          ...one, best: one.name === told.best, what: one.label,
          picture: one.before.mean !== null && one.after.mean !== null && bars([
            { name: "before", ...one.before },
            { name: "after", ...one.after, tone: tone(one.outcome) },
          ], `${one.label}, before and after ${one.title}`),
        }, "h3")),
        told?.unfit.length > 0 && h("details", {}, h("summary", {}, `${told.unfit.length} that ${told.unfit.length === 1 ? "does" : "do"} not apply`), h("ul", {}, told.unfit.map((line) => h("li", {}, line)))));
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

// Number of changes on the first screen.
const MOST = 3;

/** The cause and the best changes, each with the targets that it meets and its cost. */
export function changes(app, told, busy) {
  if (busy) return h("p", { class: "muted loading" }, "Trying changes …");
  if (!told) return null;
  return [told.causes.map((line) => h("p", { class: "cause" }, `Cause: ${line}`)),
    !told.remedies.length && told.tried > 0 && h("p", { class: "muted" }, `None of the ${told.tried} changes tried helps.`),
    h("ol", { class: "changes" }, told.remedies.slice(0, MOST).map((one) => h("li", {},
      h("span", { class: one.name === told.best ? "best" : null }, one.title), h("span", { class: `verdict ${one.outcome}` }, one.words),
      h("span", { class: "harms" }, one.costs), applies(app, one))))];
}

/** The button that applies a change to the file. */
function applies(app, one) {
  return h("button", { type: "button", class: one.best ? "primary" : "", "aria-label": `Apply: ${one.title}`, onclick: () => {
    put(app, one.set, one.title);
    announce(`Applied: ${one.title}. Undo reverts it.`);
  } }, "Apply");
}

/** Add a tried change and its result to the history: newest first, each once. */
export function tried(app, one) {
  app.tried = [one, ...(app.tried ?? []).filter((other) => other.line !== one.line)].slice(0, 40);
}

/** A change with its picture, its effects on groups, and how to apply it, under a heading of a level. */
export function remedy(app, one, level = "h3") {
  return h("article", { class: `remedy ${one.outcome ? `is-${one.outcome.split(" ")[0]}` : ""}` },
    h("div", { class: "card-head" }, h(level, {}, one.best && h("span", { class: "best" }, "Best: "), one.title), h("span", { class: `verdict ${one.outcome ?? ""}` }, one.words)),
    one.what && h("p", { class: "muted" }, one.what), one.picture,
    one.suffices && h("p", {}, one.suffices),
    felt("Also better", one.wins), felt("Worse", one.loses),
    one.cost && h("p", { class: "harms" }, one.cost),
    one.hurts?.length > 0 && h("p", { class: "harms" }, `Makes worse: ${one.hurts.join(", ")}`),
    h("div", { class: "buttons" }, Object.keys(one.set ?? {}).length > 0 && applies(app, one),
      h("span", { class: "muted" }, [...(one.where ?? []), one.research ? "research idea, no product has it" : "", one.source].filter(Boolean).join("; "))),
    h("details", {}, h("summary", {}, one.equipment?.length ? "Configuration lines" : "Command-line option"),
      one.equipment?.length > 0 && lines(app, "Configuration", one.equipment.join("\n")),
      one.settings && lines(app, "Command-line option", one.settings)));
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

/** Lines to copy, under a heading of a level. */
export function lines(app, label, text, level = "h4") {
  const button = h("button", { type: "button", class: "quiet", onclick: () => app.copied(text, button) }, "Copy");
  return h("div", { class: "code" }, h("div", { class: "code-head" }, h(level, {}, label), button), h("pre", { tabindex: "0", "aria-label": label }, h("code", {}, text)));
}

function felt(word, effects) {
  if (!effects?.length) return null;
  return h("div", { class: word === "Worse" ? "felt harms" : "felt helps" }, h("p", {}, `${word}:`),
    h("ul", {}, effects.map((one) => h("li", {}, `${one.label}: ${one.before_text} → ${one.after_text}`))));
}

function tone(outcome) {
  return { helps: "good", "costs others": "mixed", harms: "bad" }[outcome] ?? "";
}

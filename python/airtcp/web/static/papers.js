// The papers: figures whose parameters can be moved, and all figures as they are reproduced.

import { isAbort, post } from "./api.js";
import { curves, legend, responsive } from "./chart.js";
import { slider } from "./controls.js";
import { fresh, h, replace, table } from "./dom.js";
import { runner } from "./jobs.js";

let known = null;
const made = new Map();
const answers = new Map();

export function papers(app) {
  const choose = h("select", { id: "figure", onchange: () => app.update((state) => { state.paper = choose.value; state.paperValues = {}; }, { local: true }) });
  const title = h("h2");
  const caption = h("p", { class: "muted" });
  const sliders = h("div", { class: "row" });
  const words = h("p", { class: "lead" });
  const key = h("div");
  const item = h("select", { id: "item", onchange: () => shownItem() });
  const about = h("div");
  const result = h("div");
  let shown = null;
  let moving = new Map();
  let asking = null;
  let told = null;
  const picture = responsive((width, height) => (told ? drawn(width, height) : h("p", { class: "empty" }, "Asking the models …")), 340);

  const element = h("div", {},
    h("section", { class: "card first" }, h("h1", { class: "title" }, "The papers"),
      h("p", { class: "muted" }, "Figures of the papers that airtcp is built on. Move a parameter, and the model's curve follows; dashed is what the paper has."),
      h("div", { class: "field" }, h("div", { class: "field-head" }, h("label", { for: "figure" }, "Figure")), choose)),
    h("section", { class: "card" }, title, caption, words, picture, key, sliders),
    h("section", { class: "card" }, h("h2", {}, "As they are reproduced"),
      h("p", { class: "muted" }, "Every figure and table with its simulations, in a quick version: a quarter of the time, ten replications at most."),
      h("div", { class: "field" }, h("div", { class: "field-head" }, h("label", { for: "item" }, "Figure or table")), item),
      about, h("div", { class: "actions" }, runner({
        label: "Make it", body: () => ({ kind: "figure", names: [item.value] }),
        take: (message, asked) => {
          if (!message.result) return;
          made.set(asked.names[0], message.result);
          shownItem();
        },
      })), result));
  load();

  async function load() {
    try {
      known ??= await post("/api/papers", {});
    } catch (error) {
      replace(caption, error.message);
      return;
    }
    replace(choose, known.figures.map((one) => h("option", { value: one.item }, `${one.item}: ${one.title}`)));
    replace(item, known.items.map((one) => h("option", { value: one.item }, `${one.item}: ${one.title}`)));
    show();
    shownItem();
  }

  function show() {
    if (!known) return;
    const figure = known.figures.find((one) => one.item === app.state.paper) ?? known.figures[0];
    choose.value = figure.item;
    if (shown !== figure) {
      shown = figure;
      told = null;
      title.textContent = `${figure.item}: ${figure.title}`;
      caption.textContent = `${figure.caption} ${known.papers[figure.paper] ? `${known.papers[figure.paper]}.` : ""}`;
      moving = new Map();
      replace(sliders, figure.sliders.map((one) => {
        const made_ = slider(field(one), (path, value) => app.update((state) => { state.paper = figure.item; state.paperValues[path] = value; }, { local: true }));
        moving.set(one.name, made_);
        return made_.element;
      }));
    }
    for (const one of figure.sliders) moving.get(one.name).update(field(one));
    ask();
  }

  function field(one) {
    const value = app.state.paperValues[one.name] ?? one.values[one.start];
    return { path: one.name, label: one.label, value, options: one.values.map((number) => ({ value: number, text: String(number), number })) };
  }

  async function ask() {
    const body = { item: shown.item, values: app.state.paperValues };
    const text = JSON.stringify(body);
    asking?.abort();
    asking = new AbortController();
    try {
      if (!answers.has(text)) answers.set(text, await post("/api/figure", body, asking.signal));
      told = answers.get(text);
      words.textContent = told.words;
      replace(key, legend(told.series));
      picture.redraw();
    } catch (error) {
      if (!isAbort(error)) words.textContent = error.message;
    }
  }

  function drawn(width, height) {
    return curves({
      series: told.series, x: told.x, y: told.y,
      label: `${shown.title}: ${told.y.label} over ${told.x.label}. ${told.words}`,
    }, width, height);
  }

  function shownItem() {
    const one = known.items.find((other) => other.item === item.value);
    replace(about, h("p", {}, one.caption), h("p", { class: "muted" }, "The paper: ", one.states));
    const outcome = made.get(one.item);
    if (!outcome) { replace(result); return; }
    const id = fresh("data");
    replace(result, outcome.svg && h("img", { class: "reproduced", alt: `${one.title}: ${outcome.found}`, src: `data:image/svg+xml;base64,${btoa(unescape(encodeURIComponent(outcome.svg)))}` }),
      h("p", {}, outcome.found),
      h("details", { id }, h("summary", {}, "The numbers"), table(outcome.head, outcome.rows.map((row) => row.map((cell) => (typeof cell === "number" ? String(Number(cell.toPrecision(6))) : String(cell)))), { caption: one.title })));
  }

  return { element, show, alone: true, leave: () => asking?.abort() };
}

// The papers: every figure and table, with sliders for the models' parameters, the paper's own curves,
// points that are simulated on demand, and the figure's scenario for the explorer.

import { isAbort, post } from "./api.js";
import { curves, legend, responsive } from "./chart.js";
import { slider } from "./controls.js";
import { field, h, options, replace, table } from "./dom.js";
import { runner } from "./jobs.js";
import { FIRST } from "./state.js";

let known = null;
const made = new Map();
const answers = new Map();

export function view(app) {
  const choose = h("select", { id: "figure", onchange: () => app.update((state) => { state.paper = choose.value; state.paperValues = {}; }, { local: true }) });
  const title = h("h2", {}, "Figures");
  const caption = h("p", { class: "muted" });
  const states = h("p", { class: "muted" });
  const sliders = h("div", { class: "row" });
  const words = h("p", { class: "lead" });
  const key = h("div");
  const result = h("div", { class: "made" });
  const reset = h("button", { type: "button", class: "quiet", onclick: () => app.update((state) => { state.paperValues = {}; }, { local: true }) }, "As in the paper");
  const open = h("button", { type: "button", class: "quiet", onclick: openScenario }, "Open the scenario");
  const running = h("div");
  const board = h("div");
  let shown = null;
  let movable = null;
  let moving = new Map();
  let asking = null;
  let answering = Promise.resolve();
  let told = null;
  const picture = responsive((width, height) => drawn(width, height), 340);

  const element = h("div", {},
    h("section", { class: "card first" }, h("h1", { class: "title" }, "The papers"),
      h("p", { class: "muted" }, "Every figure and table of the papers that airtcp is built on. Move a parameter, and the models' curves follow. Dashed lines and hollow diamonds are the paper's own numbers; dots are simulated."),
      field("Figure or table", choose)),
    h("div", { class: "board" },
      h("section", { class: "card" }, title, caption, states, words, picture, key, sliders,
        h("div", { class: "actions" }, running, reset, open), result),
      h("section", { class: "card", tabindex: "0", "aria-label": "Scoreboard" }, h("h2", {}, "Scoreboard: claims of the papers, reproduced here"), board)));
  load();

  async function load() {
    try {
      known ??= await post("/api/papers", {});
    } catch (error) {
      replace(caption, h("span", { class: "bad-field", role: "alert" }, error.message));
      return;
    }
    replace(choose, known.papers.map((paper) => h("optgroup", { label: paper.heading },
      options(known.items.filter((one) => one.paper === paper.paper).map((one) => [one.item, `${one.item}: ${one.title}`])))));
    replace(board, known.papers.map(scores));
    show();
  }

  /** The figures and tables of a paper, with the verdicts on their claims; a click shows one. */
  function scores(paper) {
    const mine = known.items.filter((one) => one.paper === paper.paper && Object.keys(one.verdicts).length);
    if (!mine.length) return null;
    const total = {};
    for (const one of mine) for (const [verdict, count] of Object.entries(one.verdicts)) total[verdict] = (total[verdict] ?? 0) + count;
    return h("details", {}, h("summary", {}, h("strong", {}, paper.heading), " ", counted(total)),
      h("div", { class: "scroll" }, h("table", {}, h("tbody", {}, mine.map((one) => h("tr", {},
        h("td", {}, h("button", { type: "button", class: "quiet", onclick: () => app.update((state) => { state.paper = one.item; state.paperValues = {}; }, { local: true }) }, one.item), " ", one.title,
          h("div", {}, counted(one.verdicts)), h("div", { class: "muted" }, one.line)),
        h("td", {}, one.picture && h("img", { alt: one.title, width: 120, loading: "lazy", src: `data:image/png;base64,${one.picture}` }))))))));
  }

  function counted(verdicts) {
    return Object.entries(verdicts).map(([verdict, count], place) => h("span", {}, place ? ", " : "", h("span", { class: `verdict ${verdict.replaceAll(" ", "-")}` }, `${count} ${verdict}`)));
  }

  function show() {
    if (!known) return;
    const item = known.items.find((one) => one.item === app.state.paper) ?? known.items[0];
    choose.value = item.item;
    if (shown !== item) begin(item);
    for (const one of movable?.sliders ?? []) moving.get(one.name).update(sliderOf(one));
    reset.hidden = !movable?.curves;
    reset.disabled = !Object.keys(app.state.paperValues).length;
    answering = ask();
  }

  /** Show another figure. */
  function begin(item) {
    shown = item;
    told = null;
    movable = known.figures.find((one) => one.item === item.item) ?? null;
    title.textContent = `${item.item}: ${item.title}`;
    caption.textContent = item.caption;
    const { citation } = known.papers.find((one) => one.paper === item.paper);
    replace(states, h("strong", {}, "The paper: "), item.states, ` (${citation}.)`);
    words.textContent = "";
    moving = new Map();
    replace(sliders, (movable?.sliders ?? []).map((one) => {
      const made_ = slider(sliderOf(one), (path, value) => app.update((state) => {
        state.paper = item.item;
        if (value === one.paper) delete state.paperValues[path];
        else state.paperValues[path] = value;
      }, { local: true }));
      moving.set(one.name, made_);
      return made_.element;
    }));
    open.hidden = !movable?.scenario;
    open.textContent = movable?.view === "timeline" ? "Open the scenario in the timeline" : "Open the scenario in the explorer";
    replace(running, runner({
      label: /table/.test(item.item) ? "Make the table" : movable?.curves ? "Simulate the paper's points" : "Simulate the paper's figure",
      body: () => ({ kind: "figure", names: [item.item] }),
      take: (message) => {
        if (!message.result) return;
        made.set(item.item, message.result);
        if (shown === item) { draw(); showMade(); }
      },
    }));
    draw();
    showMade();
  }

  function sliderOf(one) {
    const value = app.state.paperValues[one.name] ?? one.paper;
    return { path: one.name, label: one.label, value, options: one.values.map((number, place) => ({ value: number, text: one.texts[place], number })) };
  }

  async function ask() {
    if (!movable) {
      words.textContent = `No sliders: ${shown.still}.`;
      return;
    }
    const text = question();
    asking?.abort();
    asking = new AbortController();
    try {
      if (!answers.has(text)) answers.set(text, await post("/api/figure", JSON.parse(text), asking.signal));
      told = answers.get(text);
      words.textContent = told.words;
      draw();
    } catch (error) {
      if (!isAbort(error)) words.textContent = error.message;
    }
  }

  /** The request for the figure with the sliders' current values. */
  function question() {
    return JSON.stringify({ item: shown.item, values: app.state.paperValues });
  }

  function points() {
    return made.get(shown.item)?.points ?? [];
  }

  function draw() {
    const empty = told && !told.series.length && !points().length;
    picture.hidden = !movable || !movable.curves || Boolean(empty);
    replace(key, told && !picture.hidden && legend([...told.series, ...points()]));
    picture.redraw();
  }

  function drawn(width, height) {
    if (!told) return h("p", { class: "empty" }, "Computing models …");
    return curves({
      series: [...told.series, ...points()], x: told.x, y: told.y,
      label: `${shown.title}: ${told.y.label} over ${told.x.label}. ${told.words}`,
    }, width, height);
  }

  /** Open the figure's scenario, with the sliders' current values, in the explorer. */
  async function openScenario() {
    // A fast user clicks before the answer to the last move arrives; `told` is from an earlier move.
    for (let waited = null; waited !== answering;) {
      waited = answering;
      await waited;
    }
    const now = answers.get(question());
    if (!now?.open) return;
    const { text, changes, axis, metric, view } = now.open;
    app.go({ ...structuredClone(FIRST), example: null, text, changes: structuredClone(changes), axis, metric, view });
  }

  function showMade() {
    const outcome = made.get(shown.item);
    if (!outcome) { replace(result); return; }
    // Do not repeat points that the picture above shows.
    const twice = outcome.points.length > 0 && movable?.curves;
    replace(result, h("h3", {}, "Reproduction"),
      h("p", {}, outcome.found),
      outcome.svg && !twice && h("img", { class: "reproduced", alt: `${shown.title}: ${outcome.found}`, src: `data:image/svg+xml;base64,${btoa(unescape(encodeURIComponent(outcome.svg)))}` }),
      h("details", {}, h("summary", {}, "Values"), table(outcome.head, outcome.rows.map((row) => row.map((cell) => (typeof cell === "number" ? String(Number(cell.toPrecision(6))) : String(cell)))), { caption: shown.title })));
  }

  return { element, show, alone: true, leave: () => asking?.abort() };
}

// A store of a sweep: a metric over its axes, as lines with intervals or as a heat map.

import { newest, post } from "./api.js";
import { announce, bad, field, h, options, replace } from "./dom.js";
import { made } from "./parts.js";

const FIRST_SHOWN = ["transfer_time_s", "goodput_bps", "flow_goodput_bps"];
const MOST_LINES = 6;
const KINDS = [["line", "lines"], ["heat", "a heat map"]];

export function store(app) {
  const title = h("p", { class: "muted" }, "Reading …");
  const choices = h("div", { class: "row" });
  const result = h("section", { class: "card", hidden: true });
  const problem = h("div", { role: "alert" });
  const element = h("div", {},
    h("section", { class: "card first" }, h("h1", { class: "title" }, "A sweep's results"), title, choices, problem), result);
  let known = null;
  let isSample = false;
  const newestLook = newest();
  load();

  async function load() {
    try {
      ({ stores: known, sample: isSample } = await post("/api/stores", {}));
    } catch (error) {
      replace(problem, bad(error.message));
      return;
    }
    show();
  }

  function set(edit) {
    app.update((state) => edit(state.store), { local: true });
  }

  function show() {
    if (!known) return;
    const asked = app.state.store;
    const here = known.find((one) => one.name === asked.name) ?? known[0];
    if (asked.name && asked.name !== here.name) {
      replace(problem, bad(`There is no store "${asked.name}". Showing ${here.name} instead.`));
    } else replace(problem);
    if (here.problem || !here.axes.length || !here.metrics.length) {
      replace(title, here.problem ?? "This store has no rows yet.");
      replace(choices, storeChoice(here), again());
      result.hidden = true;
      return;
    }
    const now = filled(here, asked);
    replace(title, isSample && [h("strong", {}, "A sample. "), "Your own: ", h("code", {}, "airtcp sweep scenario.toml --to out/store --axis 'stations.laptop.count=[1, 2, 5, 10]'"), ", then ", h("code", {}, "airtcp web --store out/store"), ". "],
      `${here.rows} rows of ${here.points} points over ${here.axes.map((one) => one.name).join(", ")}; made by airtcp ${here.version}.`);
    const others = here.axes.filter((one) => one.name !== now.x && one.name !== now.by && one.count > 1 && one.steps.length);
    const held = document.activeElement?.dataset?.role;
    replace(choices,
      known.length > 1 && storeChoice(here),
      choice("metric", "Show", here.metrics.map((one) => [one.name, one.label]), now.y, (value) => { asked.y = value; }),
      choice("x", "Over", here.axes.map((one) => [one.name, one.name]), now.x, (value) => { asked.x = value; asked.by = now.by === value ? now.x : now.by; }),
      here.axes.length > 1 && choice("by", now.kind === "heat" ? "Vertical axis" : "One line per", [
        ...(now.kind === "heat" ? [] : [["", "none (average)"]]),
        ...here.axes.filter((one) => one.name !== now.x && (now.kind === "heat" || one.count <= MOST_LINES)).map((one) => [one.name, one.name]),
      ], now.by ?? "", (value) => { asked.by = value; }),
      here.axes.length > 1 && choice("kind", "As", KINDS, now.kind, (value) => { asked.kind = value; }),
      others.map((one) => choice(`where ${one.name}`, `Where ${one.name} is`, [["", "all (average)"], ...one.steps.map((step, index) => [String(index), step.text])],
        one.name in now.where ? String(one.steps.findIndex((step) => step.value === now.where[one.name])) : "",
        (value) => {
          if (value === "") delete asked.where[one.name];
          else asked.where[one.name] = one.steps[Number(value)].value;
        })),
      again());
    if (held) choices.querySelector(`[data-role="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
    ask(now);
  }

  function storeChoice(here) {
    return choice("store", "Store", known.map((one) => [one.name, one.name]), here.name, (value, asked) => {
      Object.assign(asked, { name: value, y: null, x: null, by: null, where: {} });
    });
  }

  function choice(role, label, listed, value, change) {
    const select = h("select", { "data-role": role, onchange: () => set((asked) => change(select.value, asked)) }, options(listed, value));
    return field(label, select);
  }

  function again() {
    return h("div", { class: "field last" }, h("button", { type: "button", class: "quiet", "data-role": "again", onclick: load }, "Reload"));
  }

  async function ask(now) {
    if (result.hidden) {
      replace(result, h("p", { class: "loading" }, "Reading the store …"));
      result.hidden = false;
    }
    try {
      const told = await newestLook("/api/look", now);
      draw(told);
      announce(told.caption);
    } catch (error) {
      result.hidden = true;
      replace(problem, bad(error.message));
    }
  }

  function draw(told) {
    const open = result.querySelector("details")?.open ?? false;
    result.hidden = false;
    // A sample has no folder that a command could name.
    replace(result, made(isSample ? told.parts.slice(0, -1) : told.parts));
    result.querySelector("details").open = open;
  }

  return { element, show, alone: true, leave: newestLook.stop };
}

/** The current choices, with defaults for open ones. */
function filled(here, { y, x, by, kind, where }) {
  const axes = here.axes.map((one) => one.name);
  const metrics = here.metrics.map((one) => one.name);
  const over = axes.includes(x) ? x : axes[0];
  const others = here.axes.filter((one) => one.name !== over);
  const map = kind === "heat" && others.length > 0;
  let lines = others.some((one) => one.name === by) ? by : null;
  if (lines === null && (map || by === null)) lines = others.find((one) => map || (one.count > 1 && one.count <= MOST_LINES))?.name ?? null;
  if (!map && lines !== null && here.axes.find((one) => one.name === lines).count > MOST_LINES) lines = null;
  const kept = Object.entries(where).filter(([name, value]) => {
    const axis = others.find((one) => one.name === name && name !== lines);
    return axis?.steps.some((step) => step.value === value);
  });
  return {
    store: here.name, x: over, by: lines, kind: map ? "heat" : "line", where: Object.fromEntries(kept),
    y: metrics.includes(y) ? y : FIRST_SHOWN.find((one) => metrics.includes(one)) ?? metrics[0],
  };
}

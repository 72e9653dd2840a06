// Capacity: choose a stop condition and what to increase; shows the answer as a picture, with the
// changes that raise the capacity.

import { tried } from "./advice.js";
import { newest } from "./api.js";
import { builder, parts } from "./condition.js";
import { curve, TARGET } from "./curve.js";
import { bad, field, h, options, replace } from "./dom.js";
import { runner } from "./jobs.js";
import { made } from "./parts.js";

const found = new Map();
const conditionsOf = new Map();

export function plan(app) {
  const form = builder({ broken: true, changed: () => choose() });
  const targets = h("select", { id: "plan-target", onchange: () => { form.set(broken(targets.value)); choose(); } });
  const fromTarget = field("From a target of the scenario", targets);
  const sentence = h("p", { class: "asked", "aria-live": "polite" });
  const problem = h("div", { role: "alert" });
  const axisOf = h("select", { id: "plan-axis", onchange: () => app.update((state) => { state.planAxis = axisOf.value; }, { local: true }) });
  const begin = h("select", { id: "plan-from", onchange: () => showCommand() });
  const end = h("select", { id: "plan-to", onchange: () => showCommand() });
  const ends = h("div", { class: "row" }, field("from (condition does not hold)", begin), field("to", end));
  const withRemedies = h("input", { type: "checkbox", id: "plan-remedies", checked: true, onchange: () => showCommand() });
  const result = h("div");
  // Before the search: the curve of the condition's metric, from models and quick simulations.
  const before = curve(app, { chosen: () => ({ axis: axis?.path, metric: targetOf.has(app.state.until) ? TARGET + targetOf.get(app.state.until) : null }) });
  let axis = null;
  let asked = null;
  // Targets by their stop conditions.
  let targetOf = new Map();
  const asking = newest();
  const search = runner({
    label: "Find the capacity", body,
    take: (message, from) => {
      if (!message.result) return;
      found.set(keyOf(from.source, from.until, from.axis), message.result);
      for (const one of message.result.remedies) tried(app, { line: `${one.title}: ${one.answer ? `capacity ${one.answer.value_text}` : one.words}` });
      show();
    },
  });
  // The stop condition may be that of another scenario, until this one's are known.
  search.ready(false);

  const element = h("div", {},
    h("section", { class: "card first" }, h("h1", { class: "title" }, "Capacity"),
      h("p", { class: "muted" }, "The largest number of stations, or the last value of a slider, before the stop condition holds. The simulator decides."),
      fromTarget, h("h2", {}, "Stop condition"), form.element, problem,
      h("div", { class: "row" }, field("Increase", axisOf)), ends,
      h("div", { class: "switch" }, withRemedies, h("label", { for: "plan-remedies" }, "Also try changes that raise the capacity (takes longer)")),
      sentence,
      h("div", { class: "actions" }, search)),
    before.element, result);

  function body() {
    if (!said()) throw new Error("The bound is not valid: see the message at its field.");
    const job = { kind: "plan", source: app.source(), until: app.state.until, axis: axis.path, values: [], names: withRemedies.checked ? ["all"] : [] };
    if (!counts(axis)) job.values = [begin, end].map((one) => axis.options[Number(one.value)].value);
    return job;
  }

  /** Store the chosen condition in the state. */
  function choose() {
    const text = said();
    targets.value = targetOf.get(text) ?? "";
    if (text) app.update((state) => { state.until = text; }, { local: true });
  }

  /** The condition in the form as a text, "" while it is not complete. */
  function said() {
    const one = form.value();
    return one ? `${one.name} ${one.limit}` : "";
  }

  /** Offer the conditions that this scenario can measure. */
  function offer() {
    const id = JSON.stringify(app.source());
    const listed = conditionsOf.get(id);
    search.ready(listed);
    if (listed) {
      const all = listed.targets.length ? listed.targets : listed.usual;
      fromTarget.hidden = !all.length;
      replace(targets, options([["", "choose …"], ...all.map((one) => one.text)]));
      form.show(listed.scopes);
      targetOf = new Map(all.map((one) => [form.set(broken(one.text)) && said(), one.text]));
      // The condition of another scenario may not exist here, so use a target, first one that has a curve at once.
      const first = all.find((one) => one.metric.startsWith("packet_delay")) ?? all[0];
      if (!app.state.until || !form.set(parts(app.state.until))) {
        if (first) form.set(broken(first.text));
        app.state.until = said();
      }
      targets.value = targetOf.get(app.state.until) ?? "";
      replace(problem);
      return;
    }
    if (asked === id) return;
    asked = id;
    asking("/api/conditions", { source: app.source() }).then((told) => {
      conditionsOf.set(id, told);
      if (id === JSON.stringify(app.source())) show();
    }).catch((error) => {
      asked = null;
      // Pressing it now shows the error.
      search.ready(true);
      replace(problem, bad(error.message));
    });
  }

  function show() {
    const { axes } = app.scenario;
    axis = axes.find((one) => one.path === app.state.planAxis) ?? axes[0];
    if (!element.contains(document.activeElement) || !form.element.contains(document.activeElement)) offer();
    replace(axisOf, options(axes.map((one) => [one.path, `${one.section}: ${one.label}`]), axis.path));
    ends.hidden = counts(axis);
    // Both ends of a search are numbers, so leave out "unbounded".
    const values = axis.options.flatMap((one, index) => (one.number === null ? [] : [[String(index), one.text]]));
    if (begin.dataset.path !== axis.path) {
      begin.dataset.path = axis.path;
      replace(begin, options(values));
      replace(end, options(values));
      end.selectedIndex = values.length - 1;
    }
    showCommand();
    showResult();
  }

  /** The command that gives the answer of the page. */
  function showCommand() {
    const reach = counts(axis) ? "" : [["--from", begin], ["--to", end]].map(([option, one]) => ` ${option} "${axis.options[Number(one.value)].value}"`).join("");
    const without = withRemedies.checked ? "" : " --no-remedies";
    sentence.textContent = app.state.until ? `As a command: airtcp plan scenario.toml --vary ${axis.path}${reach} --until "${app.state.until}"${without}` : "";
  }

  function showResult() {
    const told = found.get(keyOf(app.source(), app.state.until, axis.path));
    before.element.hidden = Boolean(told);
    if (!told) { replace(result); before.show(); return; }
    replace(result, made(told.parts));
  }

  return { element, show, leave: () => { asking.stop(); before.leave(); } };
}

/** The stop condition that is the opposite of a target. */
function broken(text) {
  const { name, limit } = parts(text);
  return { name, limit: limit.startsWith("<") ? `>${limit.slice(1)}` : `<${limit.slice(1)}` };
}

function keyOf(source, until, path) {
  return JSON.stringify([source, until, path]);
}

function counts(axis) {
  return axis.path === "stations" || /^stations\.[^.]+\.count$/.test(axis.path);
}

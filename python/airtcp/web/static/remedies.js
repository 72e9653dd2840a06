// Remedies as switches: the scenario before and after, on common random numbers.

import { isAbort, post } from "./api.js";
import { airtime } from "./chart.js";
import { fresh, h, replace, table } from "./dom.js";
import { runner } from "./jobs.js";

const found = new Map();

export function remedies(app) {
  const list = h("div", { class: "switches" });
  const result = h("div");
  const details = h("details", { class: "card fold", ontoggle: () => details.open && ask() },
    h("summary", {}, h("h2", {}, "What would help?")),
    h("p", { class: "muted" }, "Switch on what you could change; then the scenario is simulated without and with it, on the same random numbers."),
    list,
    runner({
      label: "Simulate before and after",
      body: () => ({ kind: "remedies", source: app.source(), names: app.state.remedies }),
      take: (message, asked) => {
        if (!message.result) return;
        found.set(JSON.stringify([asked.source, asked.names]), message.result);
        show();
      },
    }), result);
  let asked = null;
  let controller = null;

  function ask() {
    const from = app.source();
    const text = JSON.stringify(from);
    if (asked === text) return;
    asked = text;
    controller?.abort();
    controller = new AbortController();
    post("/api/remedies", { source: from }, controller.signal).then((told) => switches(told.remedies))
      .catch((error) => { asked = null; if (!isAbort(error)) app.problem(error); });
  }

  function switches(listed) {
    const fitting = listed.filter((one) => one.fits);
    const others = listed.filter((one) => !one.fits);
    replace(list, fitting.map((one) => {
      const id = fresh("remedy");
      return h("div", { class: "switch" },
        h("input", { type: "checkbox", role: "switch", id, checked: app.state.remedies.includes(one.name), onchange: (event) => app.update((state) => {
          state.remedies = state.remedies.filter((name) => name !== one.name);
          if (event.target.checked) state.remedies.push(one.name);
        }, { local: true }) }),
        h("label", { for: id }, one.title, h("span", { class: "muted" }, ` ${one.where.join(", ")}; ${one.source}`)));
    }), others.length > 0 && h("details", {}, h("summary", {}, `${others.length} that do not fit`),
      h("ul", {}, others.map((one) => h("li", {}, `${one.title}: ${one.reason}`)))));
  }

  function show() {
    if (!details.open && app.state.remedies.length) details.open = true;
    if (details.open) ask();
    const told = found.get(JSON.stringify([app.source(), app.state.remedies]));
    if (!told) { replace(result); return; }
    const rows = Object.values(told.headline).map((one) => [one.label, one.a.text, one.b.text, one.difference.text, verdict(one)]);
    replace(result, h("h3", {}, "Before and after"),
      table(["metric", "before", "after", "paired difference", ""], rows, { numbers: [1, 2, 3], mark: 4, caption: "Before and after" }),
      airtime([{ name: "before", parts: told.airtime.a }, { name: "after", parts: told.airtime.b }]),
      h("p", { class: "muted" }, `${told.pairs} pairs of replications. ${told.sets.map((one) => `--set ${one}`).join(" ")}`));
  }

  return { element: details, show };
}

function verdict(one) {
  if (one.unsteady) return "cannot tell yet";
  if (!one.separated) return "not separated";
  if (!one.better) return "different";
  return (one.difference.mean > 0) === (one.better === "higher") ? "better" : "worse";
}

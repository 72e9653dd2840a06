// Try any remedies, alone or together: the scenario before and after, on common random numbers.

import { tried } from "./advice.js";
import { newest } from "./api.js";
import { fresh, h, replace } from "./dom.js";
import { runner } from "./jobs.js";
import { made } from "./parts.js";

const found = new Map();

export function remedies(app) {
  const list = h("div", { class: "switches" });
  const result = h("div");
  const details = h("details", { class: "card fold", ontoggle: () => details.open && ask() },
    h("summary", {}, h("h2", {}, "Try more remedies")),
    h("p", { class: "muted" }, "Select changes. The scenario is simulated without and with them, on the same random numbers."),
    list,
    runner({
      label: "Try: simulate before and after",
      body: () => ({ kind: "remedies", source: app.source(), names: app.state.remedies }),
      take: (message, asked) => {
        if (!message.result) return;
        found.set(JSON.stringify([asked.source, asked.names]), message.result);
        show();
      },
    }), result);
  let asked = null;
  const asking = newest();

  function ask() {
    const from = app.source();
    const text = JSON.stringify(from);
    if (asked === text) return;
    asked = text;
    asking("/api/remedies", { source: from }).then((told) => switches(told.remedies)).catch((error) => { asked = null; app.problem(error); });
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
    }), others.length > 0 && h("details", {}, h("summary", {}, `${others.length} that ${others.length === 1 ? "does" : "do"} not apply`),
      h("ul", {}, others.map((one) => h("li", {}, `${one.title}: ${one.reason}`)))));
  }

  function show() {
    if (!details.open && app.state.remedies.length) details.open = true;
    if (details.open) ask();
    const told = found.get(JSON.stringify([app.source(), app.state.remedies]));
    if (told) tried(app, { line: told.line });
    replace(result, made(told?.parts));
  }

  return { element: details, show };
}

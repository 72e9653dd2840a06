// A store of a sweep: a metric over its axes, as lines with intervals or as a heat map. The server says what can be
// chosen, and what each choice changes.

import { newest } from "./api.js";
import { announce, bad, field, h, options, replace } from "./dom.js";
import { made } from "./parts.js";

export function store(app) {
  const title = h("p", { class: "muted" }, "Reading …");
  const choices = h("div", { class: "row" });
  const result = h("section", { class: "card", hidden: true });
  const problem = h("div", { role: "alert" });
  const again = h("div", { class: "field last" }, h("button", { type: "button", class: "quiet", onclick: show }, "Reload"));
  const element = h("div", {},
    h("section", { class: "card first" }, h("h1", { class: "title" }, "A sweep's results"), title, choices, problem), result);
  const [listing, looking] = [newest(), newest()];
  show();

  async function show() {
    try {
      const told = await listing("/api/stores", { asked: app.state.store });
      replace(problem, told.problem && bad(told.problem));
      replace(title, made(told.title));
      replace(choices, told.pickers.map(picker), again);
      if (!told.now) { result.hidden = true; return; }
      if (result.hidden) replace(result, h("p", { class: "loading" }, "Reading the store …"));
      result.hidden = false;
      draw(await looking("/api/look", told.now), told.sample);
    } catch (error) {
      result.hidden = true;
      replace(problem, bad(error.message));
    }
  }

  function picker({ label, value, options: listed }) {
    const select = h("select", { onchange: () => {
      app.update((state) => { Object.assign(state.store, listed[select.selectedIndex][2]); }, { local: true });
    } }, options(listed.map(([name, text]) => [name, text]), value));
    return field(label, select);
  }

  function draw(told, isSample) {
    const open = result.querySelector("details")?.open ?? false;
    // A sample has no folder that a command could name.
    replace(result, made(isSample ? told.parts.slice(0, -1) : told.parts));
    result.querySelector("details").open = open;
    announce(told.caption);
  }

  return { element, show, alone: true, leave: () => { listing.stop(); looking.stop(); } };
}

// The view to edit a scenario: its groups and flows, all of its keys, and its file next to them.

import { announce, fresh, h, replace } from "./dom.js";
import { entry } from "./entry.js";
import { floor } from "./floor.js";
import { keys } from "./keys.js";

/** The view. It also exists before a scenario is loaded, and if the file is not a scenario. */
export function editor(app) {
  const groups = h("div", { class: "groups" });
  const map = floor(app);
  const all = keys(app);
  const refused = h("p", { class: "bad-field", role: "alert" });
  const adding = h("div", { class: "adding" });
  const element = h("div", { class: "maker" },
    h("div", { class: "making" },
      h("section", { class: "card", "aria-labelledby": "groups-head" },
        h("h1", { id: "groups-head", class: "title" }, "Stations and their traffic"),
        groups, adding, refused), map.element,
      all.element),
    app.file.element);
  let shown = "";
  let rows = new Map();
  let beginning = false;

  function show() {
    const { scenario } = app;
    if (app.trouble || !scenario) return;
    const { structure } = scenario;
    const names = JSON.stringify([structure.groups.map((one) => one.path), structure.flows.map((one) => [one.path, one.words])]);
    if (names !== shown) rebuild(structure, names);
    for (const group of structure.groups) rows.get(group.path)(group);
    if (beginning && groups.querySelector('[data-key="stations.laptop.count"]')) {
      beginning = false;
      groups.querySelector('[data-key$=".count"]').select();
    }
    map.show(structure.map);
    all.show();
  }

  function rebuild(structure, names) {
    const { path, action, key } = document.activeElement?.dataset ?? {};
    const place = [...groups.querySelectorAll("[data-action]")].indexOf(document.activeElement);
    shown = names;
    rows = new Map();
    replace(groups, structure.groups.map((group) => row(group, structure.flows.filter((flow) => flow.stations === group.name))));
    if (!adding.childElementCount) replace(adding, devices());
    if (key) groups.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
    if (path && action) {
      // If the focused element is gone, focus the next one.
      const next = [...groups.querySelectorAll("[data-action]")];
      (element.querySelector(`[data-path="${CSS.escape(path)}"][data-action="${action}"]`) ?? next[Math.min(place, next.length - 1)])?.focus();
    }
  }

  function row(group, flows) {
    const { profiles } = app.start;
    const id = fresh("group");
    const name = entry(app, { path: `${group.path}.name`, label: "Name", take: (value) => edit({ op: "rename", path: group.path, name: value }, `${group.name} is ${value}`) });
    const count = entry(app, { path: `${group.path}.count`, label: "Stations", number: { min: 1, step: 1, inputmode: "numeric" } });
    const device = entry(app, { path: `${group.path}.profile`, label: "Device", options: [["", "of its own keys"], ...profiles.device.map((one) => one.name)] });
    const place = entry(app, { path: `${group.path}.place`, label: "Place", options: [["", "as the device"], ...profiles.place.map((one) => one.name)] });
    rows.set(group.path, (now) => {
      name.update(now.name);
      count.update(String(now.count));
      device.update(now.profile ?? "");
      place.update(now.place ?? "");
    });
    return h("div", { class: "group", role: "group", "aria-labelledby": id },
      h("h2", { id, class: "visually-hidden" }, `Stations ${group.name}`),
      h("div", { class: "group-keys" }, name.element, count.element, device.element, place.element,
        h("div", { class: "buttons" }, button("Copy", "copy", group.path, group.name), button("Remove", "remove", group.path, group.name))),
      h("ul", { class: "flows" }, flows.map((flow) => h("li", {},
        h("span", {}, h("strong", {}, flow.name), ` ${flow.words}`),
        h("span", { class: "buttons" }, button("Copy", "copy", flow.path, flow.name), button("Remove", "remove", flow.path, flow.name)))),
      flows.length === 0 && h("li", { class: "muted" }, "no traffic")),
      traffic(group));
  }

  function button(label, op, path, name) {
    return h("button", {
      type: "button", class: "quiet small", "data-path": path, "data-action": op, "aria-label": `${label} ${name}`,
      onclick: () => told(edit({ op, path }, `${name} ${op === "copy" ? "copied" : "removed"}`)),
    }, label);
  }

  /** A choice of traffic to add to a group. */
  function traffic(group) {
    const id = fresh("traffic");
    const select = h("select", { id }, app.start.profiles.traffic.map((one) => h("option", { value: one.name, title: one.meaning }, `${one.name}: ${one.meaning}`)));
    return h("div", { class: "line" }, h("label", { for: id, class: "visually-hidden" }, `Traffic for ${group.name}`), select,
      h("button", {
        type: "button", class: "quiet small", "data-path": group.path, "data-action": "traffic", "aria-label": `Add traffic to ${group.name}`,
        onclick: () => told(edit({ op: "add", path: "flows", entry: { stations: group.name, profile: select.value } }, `${select.value} for ${group.name}`)),
      }, "Add traffic"));
  }

  /** The line that adds a group of devices. */
  function devices() {
    const [device, count, place] = [fresh("device"), fresh("count"), fresh("place")];
    const { profiles } = app.start;
    const which = h("select", { id: device }, profiles.device.map((one) => h("option", { value: one.name, title: one.meaning }, one.name)));
    const many = h("input", { id: count, type: "number", min: 1, step: 1, value: "1", required: true, inputmode: "numeric" });
    const where = h("select", { id: place }, h("option", { value: "" }, "as the device"),
      profiles.place.map((one) => h("option", { value: one.name, title: one.meaning }, one.name)));
    const about = h("p", { class: "muted" });
    const tell = () => replace(about, profiles.device.find((one) => one.name === which.value)?.meaning ?? "");
    which.addEventListener("change", tell);
    tell();
    return h("form", { class: "add", onsubmit: (event) => {
      event.preventDefault();
      const wanted = { profile: which.value, count: many.valueAsNumber };
      if (where.value) wanted.place = where.value;
      told(edit({ op: "add", path: "stations", entry: wanted }, `${many.value} of ${which.value}`));
    } },
    h("h2", {}, "Add devices"),
    h("div", { class: "group-keys" },
      h("div", { class: "entry" }, h("label", { for: count }, "How many"), many),
      h("div", { class: "entry" }, h("label", { for: device }, "Which"), which),
      h("div", { class: "entry" }, h("label", { for: place }, "Where"), where),
      h("button", { type: "submit", class: "primary", "data-path": "stations", "data-action": "add" }, "Add")), about);
  }

  async function edit(asked, what) {
    const path = await app.restructure(asked, what);
    announce(what);
    return path;
  }

  async function told(edited) {
    replace(refused);
    try {
      await edited;
    } catch (error) {
      replace(refused, error.key ? `${error.key}: ${error.message}` : error.message);
    }
  }

  return { element, show, begin: () => { beginning = true; }, hasFile: true };
}

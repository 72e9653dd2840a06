// Search all keys of a scenario: one line per key, which expands to its meaning, values and a field.

import { newest } from "./api.js";
import { announce, h, replace } from "./dom.js";
import { entry } from "./entry.js";

const REST_MS = 150;

/** The card of the keys, with `show()`. */
export function keys(app) {
  const input = h("input", { type: "search", id: "key-search", placeholder: "such as congestion, queue limit, desk mcs", autocomplete: "off", spellcheck: "false" });
  const found = h("ul", { class: "keys" });
  const count = h("p", { class: "muted", role: "status" });
  const element = h("section", { class: "card", "aria-labelledby": "keys-head" },
    h("h2", { id: "keys-head" }, "All keys"),
    h("div", { class: "entry" }, h("label", { for: "key-search" }, "Search keys by name or description"), input),
    count, found);
  let fields = new Map();
  const asking = newest();
  let resting = 0;
  let open = false;

  input.addEventListener("input", () => {
    open = true;
    clearTimeout(resting);
    resting = setTimeout(ask, REST_MS);
  });
  input.addEventListener("focus", () => {
    if (open) return;
    open = true;
    ask();
  });

  async function ask() {
    try {
      list(await asking("/api/keys", { source: app.source(), words: input.value }));
    } catch (error) {
      if (!error.key) replace(count, error.message);
    }
  }

  function list(told) {
    const words = input.value.trim();
    const names = told.keys.map((one) => one.path).join("\n");
    if (found.dataset.names !== names) {
      found.dataset.names = names;
      fields = new Map();
      replace(found, told.keys.map(row));
    }
    for (const one of told.keys) fields.get(one.path).update(one.text ?? "");
    const more = told.count > told.keys.length ? `, of ${told.count}` : "";
    const noun = told.keys.length === 1 ? "key" : "keys";
    const kind = words ? `${told.keys.length} ${noun}${more}` : `${told.keys.length} ${noun} of the file${more}`;
    replace(count, told.count ? kind : `No key matches “${words}”.`);
    if (!told.count) announce(count.textContent);
  }

  function row(one) {
    const options = one.options.length ? [["", `default: ${one.default}`], ...one.options] : null;
    const field = entry(app, { path: one.path, label: one.path, options, placeholder: one.default });
    fields.set(one.path, field);
    const [line] = one.meaning.split(/(?<=[.;]) /);
    return h("li", {}, h("details", {}, h("summary", {}, h("code", {}, one.path), h("span", { class: "key-line" }, line)),
      field.element,
      h("p", { class: "muted" }, one.meaning, " ",
        h("span", { class: "holds" }, [`Value: ${one.holds}`, `default: ${one.default}`, one.source].filter(Boolean).join("; "), "."))));
  }

  return { element, show: () => { if (open) ask(); } };
}

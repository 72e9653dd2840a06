// The scenario file as an editor. Text is applied after a pause in typing; an error marks its line.

import { completion } from "./complete.js";
import { fresh, h, replace, save } from "./dom.js";

const REST_MS = 500;
const EMPTY = "# An office, a home, a class: one group of stations to begin with.\n\n";

/** The text of a new scenario. */
export const BLANK = `${EMPTY}phy = { standard = "802.11ax", channel_width = "40 MHz" }
stations = [
  { profile = "office-laptop", name = "laptop", count = 1 },
]
`;

/** The card of the file, with `show(text)`, `problem(error)` and `take()`. */
export function file(app) {
  const said = fresh("file");
  const area = h("textarea", {
    id: "toml", spellcheck: "false", rows: 26, autocapitalize: "off", autocomplete: "off",
    "aria-label": "Scenario file (TOML)", "aria-describedby": said, oninput: typed,
    onscroll: () => { mirror.scrollTop = area.scrollTop; },
  });
  // The same text below the area, with the same line breaks: it marks a line and knows where the caret is.
  const mirror = h("pre", { "aria-hidden": "true" });
  const trouble = h("div", { id: said });
  const copy = h("button", { type: "button", class: "quiet", onclick: () => app.copied(area.value, copy) }, "Copy");
  const element = h("section", { class: "card file-card", "aria-labelledby": "file-head" },
    h("div", { class: "card-head" }, h("h2", { id: "file-head" }, "The file"),
      h("div", { class: "buttons" }, copy,
        h("button", { type: "button", class: "quiet", onclick: () => save(area.value, "scenario.toml", "application/toml") }, "Download"))),
    h("div", { class: "code-area" }, mirror, area, completion(area, caret)), trouble);
  let marked = null;
  let resting = 0;

  function typed() {
    // The mark stays at its line until the text was read again.
    mark(marked);
    clearTimeout(resting);
    resting = setTimeout(take, REST_MS);
  }

  /** Apply typed text at once, if there is any. */
  function take() {
    if (!resting) return;
    clearTimeout(resting);
    resting = 0;
    app.edit(area.value, "the file");
  }

  function show(text) {
    mark(null);
    replace(trouble);
    put(text);
  }

  /** Replace the text, unless the user is typing. */
  function put(text) {
    if (resting || area.value === text) return;
    const { selectionStart, selectionEnd, scrollTop } = area;
    area.value = text;
    if (document.activeElement === area) area.setSelectionRange(selectionStart, selectionEnd);
    area.scrollTop = scrollTop;
    mark(marked);
  }

  function problem(error) {
    const text = error.text ?? app.state.text;
    if (text !== null) put(text);
    mark(error.line ?? null);
    const key = error.key ? `${error.key}: ` : "";
    replace(trouble, h("p", { class: "bad-field" },
      error.line ? h("button", { type: "button", class: "line", onclick: () => go(error.line) }, `Line ${error.line}`) : null,
      ` ${key}${error.message}`));
  }

  function mark(line) {
    marked = line;
    area.ariaInvalid = line === null ? null : "true";
    const [begin, end] = ends(line ?? 1);
    const lit = h("mark", {}, area.value.slice(begin, end));
    replace(mirror, line !== null && [area.value.slice(0, begin), lit, area.value.slice(end), "\n"]);
    const isSeen = lit.offsetTop >= area.scrollTop && lit.offsetTop < area.scrollTop + area.clientHeight - lit.offsetHeight;
    if (line !== null && document.activeElement !== area && !isSeen) area.scrollTop = Math.max(0, lit.offsetTop - area.clientHeight / 2);
    mirror.scrollTop = area.scrollTop;
  }

  /** The place below the caret, and the height of its line, in pixels. */
  function caret() {
    const at = h("span", {}, "\u200b");
    replace(mirror, area.value.slice(0, area.selectionStart), at, area.value.slice(area.selectionStart), "\n");
    const spot = { x: at.offsetLeft, y: at.offsetTop + at.offsetHeight - area.scrollTop, line: at.offsetHeight };
    mark(marked);
    return spot;
  }

  /** Begin and end of a line in the text. */
  function ends(line) {
    const lines = area.value.split("\n");
    const begin = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
    return [begin, begin + (lines[line - 1] ?? "").length];
  }

  function go(line) {
    area.focus();
    area.setSelectionRange(...ends(line));
  }

  return { element, show, problem, take };
}

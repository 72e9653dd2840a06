// Create elements from tags, attributes and children. Text is never parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";
let count = 0;

/** An HTML element; `on...` attributes are listeners, `null` and `false` attributes are omitted. */
export function h(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** The same in SVG. */
export function s(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** An identifier that no other element has. */
export function fresh(prefix) {
  count += 1;
  return `${prefix}-${count}`;
}

/**
 * Replace the children of an element; the focus moves to the new child with the same name. A child that stays is
 * never removed, even for a moment, because that would lose a press in progress on it.
 */
export function replace(element, ...children) {
  const held = document.activeElement !== element && element.contains(document.activeElement) ? document.activeElement : null;
  // Get the name now: a removed choice has no label any more.
  const wanted = held && name(held);
  const equals = () => [...element.querySelectorAll(held.tagName)].filter((one) => name(one) === wanted);
  const place = held && equals().indexOf(held);
  const nodes = children.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false)
    .map((one) => (one instanceof Node ? one : document.createTextNode(one)));
  for (const child of [...element.childNodes]) if (!nodes.includes(child)) child.remove();
  nodes.forEach((node, index) => { if (element.childNodes[index] !== node) element.insertBefore(node, element.childNodes[index] ?? null); });
  // A child that was reinserted has lost the focus.
  if (held && document.activeElement !== held) (held.isConnected ? held : equals()[place])?.focus({ preventScroll: true });
}

/** A name that identifies an element after it was recreated, independent of its current options. */
function name(element) {
  const label = element.labels?.[0]?.textContent.replace(element.textContent, "");
  return element.ariaLabel ?? label ?? element.textContent;
}

/** A part of a view that is collapsed at first. */
export function fold(title, ...children) {
  return h("details", { class: "card fold" }, h("summary", {}, h("h2", {}, title)), children);
}

/** An input below its label, with more in the line of the label or below. */
export function field(label, input, { beside = null, below = null, large = false } = {}) {
  input.id ||= fresh("field");
  return h("div", { class: large ? "field large" : "field" }, h("div", { class: "field-head" }, h("label", { for: input.id }, label), beside), input, below);
}

/** A function that shows an error at a field, whose `message` describes it; "" if there is none. */
export function marker(element, input, message) {
  return (text) => {
    element.classList.toggle("bad", Boolean(text));
    message.textContent = text;
    if (text) input.setAttribute("aria-invalid", "true");
    else input.removeAttribute("aria-invalid");
  };
}

/** Choices of a list: texts, or pairs of value and text. */
export function options(list, chosen = null) {
  return list.map((one) => [one].flat()).map(([value, text = value]) => h("option", { value, selected: chosen === null ? null : value === chosen }, text));
}

/** An error message. */
export function bad(text) {
  return h("p", { class: "notice bad" }, text);
}

/** Save content as a file through the browser's download. */
export function save(content, name, type) {
  const link = h("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A file name without its extension, made from a title. */
export function fileName(title) {
  return title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").toLowerCase() || "airtcp";
}

/** Follow a pressed pointer: `drag` for each move, and `drop` once at the end. */
export function dragging(drag, drop) {
  const end = (event) => {
    removeEventListener("pointermove", drag);
    for (const kind of ["pointerup", "pointercancel"]) removeEventListener(kind, end);
    drop(event);
  };
  addEventListener("pointermove", drag);
  for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, end);
}

/** Announce a change to screen readers. */
export function announce(text) {
  document.getElementById("status").textContent = text;
}

/** A table of text; columns in `numbers` are right-aligned. */
export function table(head, rows, { numbers = [], caption = "" } = {}) {
  const cell = (tag, column, text) => h(tag, {
    class: numbers.includes(column) ? "number" : null, ...tag === "th" ? { scope: "col" } : { "data-head": head[column] || null } }, text);
  return h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    h("table", {},
      h("caption", { class: "visually-hidden" }, caption),
      // A column without a name has no header: an empty one is read aloud as nothing.
      h("thead", {}, h("tr", {}, head.map((text, column) => (text ? cell("th", column, text) : h("td"))))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((text, column) => cell("td", column, text)))))));
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && ["value", "checked", "disabled", "selected", "open", "hidden"].includes(name)) {
      element[name] = value;
    } else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

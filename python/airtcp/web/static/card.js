// A result as an image to share: title, verdict, three numbers with one line each, a picture of the network, and the
// reliability. It always has the colours of the light theme. A page loaded without TLS from another machine has no
// clipboard, so the image is saved instead.

import { announce, fileName, h, save } from "./dom.js";

const WIDTH = 1200, HEIGHT = 630, EDGE = 60, MUTED = "#56606c";
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";
const INKS = { holds: "#11734b", fails: "#b3261e", unknown: MUTED };
// Position of the picture of the network.
const PICTURE = { x: EDGE, y: 290, width: WIDTH - 2 * EDGE, height: 260 };

/** Two buttons to share a card, with `show(card)`; hidden before a simulation. `picture()` is an SVG element or null. */
export function sendable(picture) {
  let card = null;
  const button = (id, label, act) => {
    const made = h("button", { type: "button", id, onclick: async () => {
      made.textContent = await act(card, await image(card, picture()));
      announce(made.textContent);
      setTimeout(() => { made.textContent = label; }, 2500);
    } }, label);
    return made;
  };
  const element = h("div", { class: "buttons", hidden: true, role: "group", "aria-label": "Share the result" },
    button("copy-card", "Copy card", copy), button("save-card", "Save card", keep));
  return { element, show: (now) => { card = now; element.hidden = !now; } };
}

/** Copy the image and the text of a card together, or save the image if the browser cannot copy it. */
async function copy(card, drawn) {
  try {
    await navigator.clipboard.write([new ClipboardItem({
      "image/png": drawn, "text/plain": new Blob([card.text], { type: "text/plain" }),
    })]);
    return "Copied";
  } catch {
    keep(card, drawn);
    return "Saved: images cannot be copied here";
  }
}

function keep(card, drawn) {
  save(drawn, `${fileName(card.title)}.png`, "image/png");
  return "Saved";
}

/** A card as the content of a PNG file. */
async function image(card, picture) {
  const canvas = h("canvas", { width: WIDTH, height: HEIGHT });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, WIDTH, HEIGHT);
  const colour = INKS[card.state] ?? "#0b5c92";
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 18, HEIGHT);
  put(card.title, 72, { size: 32, weight: 700 });
  put(card.verdict || card.question, 128, { size: 42, weight: 700, colour });
  const wide = (WIDTH - 2 * EDGE) / 3;
  card.numbers.forEach((one, index) => {
    const place = { x: EDGE + index * wide, wide: wide - 32 };
    put(one.text, 202, { size: 44, weight: 650, ...place });
    put(one.label, 236, { size: 22, colour: MUTED, ...place });
    put(one.wanted, 264, { size: 22, colour: MUTED, ...place });
  });
  if (picture) {
    const drawn = await light(picture);
    const factor = Math.min(PICTURE.width / drawn.width, PICTURE.height / drawn.height);
    pen.drawImage(drawn, PICTURE.x + (PICTURE.width - factor * drawn.width) / 2, PICTURE.y, factor * drawn.width, factor * drawn.height);
  }
  card.sure.split(/ (?=Note: )/).forEach((line, index) => put(line, HEIGHT - 44 + 24 * index, { size: 18, colour: MUTED }));
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });

  /** A text in one line: smaller if it is long, and truncated if it does not fit at two thirds of the size. */
  function put(text, y, { size, weight = 400, colour: ink = "#1c2127", x = EDGE, wide = WIDTH - 2 * EDGE }) {
    const set = (now) => { pen.font = `${weight} ${now}px ${FONT}`; };
    set(size);
    set(Math.max(size / 1.5, Math.min(size, Math.floor(size * wide / pen.measureText(text).width))));
    let shown = text;
    while (shown.length > 1 && pen.measureText(shown).width > wide) shown = `${shown.slice(0, -2)}…`;
    pen.fillStyle = ink;
    pen.fillText(shown, x, y);
  }
}

/** An SVG of the page as a separate image, in the colours of the light theme: rules of a theme are within @media. */
async function light(picture) {
  const svg = picture.cloneNode(true);
  const { width, height } = picture.viewBox.baseVal;
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule.type === CSSRule.STYLE_RULE);
  const style = document.createElementNS(svg.namespaceURI, "style");
  style.textContent = `${rules.map((rule) => rule.cssText).join("\n")}\ntext { font-family: ${FONT}; }`;
  svg.prepend(style);
  svg.setAttribute("width", 2 * width);
  svg.setAttribute("height", 2 * height);
  const drawn = new Image();
  drawn.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  await drawn.decode();
  return drawn;
}

// A result on a card, as an image: title, question, verdict, three numbers, how sure they are. It is
// drawn in the colours of the light page, whatever the reader has, since it goes elsewhere. A page that
// came without TLS from another machine has no clipboard: the image is saved there instead.

import { announce, fileName, h, save } from "./dom.js";

const WIDTH = 1200, HEIGHT = 630, EDGE = 60;
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";
const INKS = { holds: "#11734b", fails: "#b3261e", unknown: "#56606c" };

/** Two buttons that send a card on, with `show(card)`; there is none before a simulation. */
export function sendable() {
  let card = null;
  const button = (id, label, act) => {
    const made = h("button", { type: "button", id, onclick: async () => {
      made.textContent = await act(card, await image(card));
      announce(made.textContent);
      setTimeout(() => { made.textContent = label; }, 2500);
    } }, label);
    return made;
  };
  const element = h("div", { class: "buttons", hidden: true, role: "group", "aria-label": "Send the result on" },
    button("copy-card", "Copy card", copy), button("save-card", "Save card", keep));
  return { element, show: (now) => { card = now; element.hidden = !now; } };
}

/** Copy the image and the text of a card together, or save the image where a browser refuses. */
async function copy(card, picture) {
  try {
    await navigator.clipboard.write([new ClipboardItem({
      "image/png": picture, "text/plain": new Blob([card.text], { type: "text/plain" }),
    })]);
    return "Copied";
  } catch {
    keep(card, picture);
    return "Saved: no image can be copied here";
  }
}

function keep(card, picture) {
  save(picture, `${fileName(card.title)}.png`, "image/png");
  return "Saved";
}

/** A card drawn. */
function drawn(card) {
  const canvas = h("canvas", { width: WIDTH, height: HEIGHT });
  const pen = canvas.getContext("2d");
  pen.fillStyle = "#ffffff";
  pen.fillRect(0, 0, WIDTH, HEIGHT);
  const colour = INKS[card.state] ?? "#0b5c92";
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 18, HEIGHT);
  let y = 76;
  y = put(card.title, y, { size: 40, weight: 700, most: 1 });
  y = put(card.about, y, { size: 22, colour: "#56606c", most: 2 });
  y = put(card.question, y + 16, { size: 28, most: 2 });
  if (card.verdict) y = put(card.verdict, y + 6, { size: 30, weight: 650, colour, most: 3 });
  numbers(Math.max(y + 6, 350));
  put(card.sure, HEIGHT - 62, { size: 18, colour: "#56606c", most: 2 });
  return canvas;

  /** A text in lines that fit, from a base line on; where the next one may stand. */
  function put(text, from, { size, weight = 400, colour: ink = "#1c2127", most, x = EDGE, wide = WIDTH - 2 * EDGE }) {
    pen.font = `${weight} ${size}px ${FONT}`;
    pen.fillStyle = ink;
    const lines = wrapped(pen, text, wide, most);
    lines.forEach((line, index) => pen.fillText(line, x, from + index * size * 1.3));
    return from + lines.length * size * 1.3;
  }

  function numbers(from) {
    const wide = (WIDTH - 2 * EDGE) / 3;
    pen.fillStyle = "#dbe0e6";
    pen.fillRect(EDGE, from - 14, WIDTH - 2 * EDGE, 2);
    card.numbers.forEach((one, index) => {
      const place = { x: EDGE + index * wide, wide: wide - 24 };
      const next = put(one.text, from + 38, { size: 30, weight: 650, most: 2, ...place });
      const under = put(one.label, next - 4, { size: 20, colour: "#56606c", most: 2, ...place });
      if (one.wanted) put(one.wanted, under, { size: 20, colour: "#56606c", most: 1, ...place });
    });
  }
}

/** A card as the content of a PNG file. */
function image(card) {
  return new Promise((resolve) => { drawn(card).toBlob(resolve, "image/png"); });
}

/** Lines of words that fit a width; what does not fit the last one ends in an ellipsis. */
function wrapped(pen, text, wide, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const longer = lines.at(-1) ? `${lines.at(-1)} ${word}` : word;
    if (pen.measureText(longer).width <= wide || !lines.at(-1)) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  if (lines.length <= most) return lines;
  let last = lines[most - 1];
  while (last && pen.measureText(`${last} …`).width > wide) last = last.slice(0, last.lastIndexOf(" "));
  return [...lines.slice(0, most - 1), `${last} …`];
}

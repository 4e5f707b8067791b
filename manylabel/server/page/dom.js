// Elements. Whatever comes from outside becomes text, never markup.

const SVG = "http://www.w3.org/2000/svg";

/** Return the element of an id in index.html. */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`index.html has no #${id}`);
  return found;
}

/** Return a new element; `facts` are its text, its class and its attributes. */
export function make(tag, facts = {}, ...children) {
  return fill(document.createElement(tag), facts, children);
}

/** Return a new element of a drawing. */
export function draw(tag, facts = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), facts, children);
}

function fill(element, facts, children) {
  for (const [name, value] of Object.entries(facts)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.textContent = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** Return a button that does something. */
export function button(text, act, facts = {}) {
  const made = make("button", { type: "button", text, ...facts });
  made.addEventListener("click", act);
  return made;
}

/** Tell a screen reader what has happened. */
export function say(text) {
  byId("spoken").textContent = text;
}

/** Return the beginning of a text, on one line. */
export function shorten(text, length = 120) {
  const line = text.slice(0, 4 * length).replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}

/** Return a count with its noun: 1 label, 2,000 labels. */
export function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

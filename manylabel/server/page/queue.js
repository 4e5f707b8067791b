// Texts of which the model would learn most, the most telling first.

import { byId, make, shorten } from "./dom.js";

/** Show items to label next; return those that have a text. */
export function showQueue(items, open) {
  const texts = items
    .map((item) => ({ text: item.text ?? item.item?.text, labels: item.labels ?? [] }))
    .filter(({ text }) => typeof text === "string");
  byId("queue").replaceChildren(...texts.map((each) => entry(each, open)));
  byId("queue-hint").textContent = texts.length
    ? "Texts of which the model would learn most."
    : "Nothing yet. Texts that were predicted and not corrected wait here.";
  return texts;
}

function entry({ text, labels }, open) {
  const guess = labels.slice(0, 2).map((it) => it.label ?? it[0]).join(", ");
  const made = make(
    "button",
    { type: "button", class: "item" },
    make("span", { text: shorten(text) }),
    make("span", { class: "quiet", text: guess }),
  );
  made.addEventListener("click", () => open(text));
  return make("li", {}, made);
}

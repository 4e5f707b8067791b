// Shortcuts. Those of one letter rest while somebody types, and can be turned off.

import { byId, make } from "./dom.js";
import { keep, recall } from "./session.js";

const HELP = [
  ["Ctrl Enter", "in the text: suggest labels; elsewhere: submit, then the next text"],
  ["↑ ↓", "go through the labels"],
  ["A", "accept the label, once more: undecided"],
  ["R", "reject the label"],
  ["/", "add another label"],
  ["C", "these are all its labels"],
  ["T", "go to the text"],
  ["N", "open the next text that waits"],
  ["1 2 3", "label, figures, versions"],
  ["?", "this list"],
];

/** Listen to keys; `actions` are called by their key. */
export function startKeys(actions) {
  byId("shortcuts").replaceChildren(
    ...HELP.flatMap(([keys, what]) => [
      make("dt", {}, ...keys.split(" ").map((key) => make("kbd", { text: key }))),
      make("dd", { text: what }),
    ]),
  );
  const single = byId("single-keys");
  single.checked = recall("single-keys", true);
  single.addEventListener("change", () => keep("single-keys", single.checked));
  byId("help-open").addEventListener("click", () => byId("help-dialog").showModal());
  document.addEventListener("keydown", (event) => press(event, actions));
}

function press(event, actions) {
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const isControl = event.ctrlKey || event.metaKey;
  const isTyping = event.target.closest?.("textarea, select, input:not([type=checkbox])");
  if (isControl && event.key === "Enter") {
    event.preventDefault();
    if (event.target.id === "text") byId("text-form").requestSubmit();
    else actions.submit();
    return;
  }
  if (isControl || event.altKey || isTyping || !byId("single-keys").checked) return;
  const act = actions[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
}

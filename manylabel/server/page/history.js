// The corrections of this session, so that they can be taken back.

import { keep, recall } from "./session.js";

const MOST = 100;

/** Return the corrections of a model, the last first. */
export function corrections(model) {
  return recall("corrections", []).filter((each) => each.model === model);
}

/** Note a correction that the server has acknowledged. */
export function addCorrection(facts) {
  const others = recall("corrections", []).filter((each) => !isSame(each, facts));
  keep("corrections", [{ ...facts, text: facts.text.slice(0, 500) }, ...others].slice(0, MOST));
}

/** Forget a correction that was taken back. */
export function dropCorrection(model, sequence) {
  keep("corrections", recall("corrections", []).filter((each) => !isSame(each, { model, sequence })));
}

/** Forget the corrections after an event, which no longer count. */
export function dropAfter(model, last) {
  keep("corrections", recall("corrections", []).filter((each) => each.model !== model || each.sequence <= last));
}

function isSame(one, other) {
  return one.model === other.model && one.sequence === other.sequence;
}

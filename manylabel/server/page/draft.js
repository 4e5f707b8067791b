// What a person is about to say of a text. It is kept at each change, so that neither a
// reload nor a server that restarts loses it. Labels are any strings, so what belongs to
// them is kept in pairs, not in objects.

import { keep, recall } from "./session.js";

const SHOWN = {
  asked: null, // the text whose labels are shown
  prediction: null, // its id, by which feedback names the text
  labels: [], // {label, score} as suggested
  before: null, // [label, score] of an earlier prediction of the same text
  isProbability: true,
  verdicts: [], // [label, "accepted" or "rejected"], in the order they were said
  complete: false,
  learnt: null, // the number under which the verdicts were learnt
};

/** The draft; change it by `change` only. */
export const draft = {
  text: "", // as typed
  sent: null, // {model, key, text, about, verdicts}: sent, not yet acknowledged
  ...SHOWN,
  ...recall("draft", {}),
};

/** Change the draft and keep it. */
export function change(facts) {
  Object.assign(draft, facts);
  keep("draft", draft);
}

/** Forget what was shown and said of a text. */
export function forgetLabels() {
  change(SHOWN);
}

/** Say of a label that it is accepted or rejected; return false if that was taken back. */
export function toggle(label, verdict) {
  const old = verdictOf(label);
  const verdicts = draft.verdicts.filter(([name]) => name !== label);
  if (old !== verdict) verdicts.push([label, verdict]);
  change({ verdicts, learnt: null });
  return old !== verdict;
}

/** Return what was said of a label, if anything. */
export function verdictOf(label) {
  return draft.verdicts.find(([name]) => name === label)?.[1];
}

/** Return the labels of a verdict. */
export function said(verdict) {
  return draft.verdicts.filter(([, its]) => its === verdict).map(([label]) => label);
}

/** Return whether something was said that was not submitted. */
export function isUnsaved() {
  return !draft.sent && draft.learnt === null && (draft.complete || draft.verdicts.length > 0);
}

// The view in which texts are labelled: suggest, decide, submit, and see what changed.

import { of, post, remove } from "./api.js";
import { Combobox } from "./combobox.js";
import { button, byId, count, say } from "./dom.js";
import { change, draft, forgetLabels, isUnsaved, said, toggle, verdictOf } from "./draft.js";
import { tookBack } from "./history.js";
import { confirm, forgive, report } from "./notices.js";
import { Predictions } from "./predictions.js";
import { Queue } from "./queue.js";
import { Rows } from "./rows.js";

export class LabelView {
  /** `model()` names the model that is chosen. */
  constructor(model) {
    this.model = model;
    this.predictions = new Predictions(model);
    this.rows = new Rows((label, verdict) => this.decide(label, verdict));
    this.words = new Map(); // label -> words for and against it, of the text shown
    this.queue = new Queue(model, (text, id) => this.open(text, id), () => draft.asked);
    this.box = new Combobox(model, (label) => this.add(label), report);
    this.listen();
  }

  listen() {
    const text = byId("text");
    text.value = draft.text;
    text.addEventListener("input", () => {
      change({ text: text.value });
      hint("text", "");
      this.render();
    });
    text.addEventListener("paste", () => setTimeout(() => this.suggest()));
    byId("text-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.suggest({ then: () => this.rows.focusFirst() });
    });
    byId("add").addEventListener("input", () => this.summarise());
    byId("clear").addEventListener("click", () => this.open(""));
    byId("complete").addEventListener("change", (event) => {
      change({ complete: event.target.checked, learnt: null });
      this.render();
    });
    byId("decide").addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit();
    });
  }

  /** Show the model that was chosen: what was typed stays. */
  async start({ isNew }) {
    this.asking?.abort();
    this.explaining?.abort();
    this.words.clear();
    if (isNew) this.forget();
    else if (draft.asked !== null) this.predictions.note(draft.asked, { id: draft.prediction, labels: draft.labels });
    this.render();
    this.queue.refresh();
    if (draft.sent && !this.isSending) this.send();
    if (draft.text.trim() && draft.asked === null) await this.suggest();
    else if (draft.asked !== null) this.explain();
  }

  /** Take another text, unless what was said of this one would be lost. */
  async open(text, prediction = null) {
    if (!(await mayLeave())) return;
    if (prediction && !this.predictions.known(text)) this.predictions.note(text, { id: prediction });
    byId("text").value = text;
    change({ text });
    this.forget();
    this.render();
    if (text) await this.suggest({ then: () => this.rows.focusFirst() });
    else byId("text").focus();
  }

  /** Open the first text of the queue, or make room for another. */
  async openNext() {
    const { text, prediction } = this.queue.next() ?? { text: "" };
    await this.open(text, prediction);
  }

  /** Forget what was shown, said and half typed of a text. */
  forget() {
    forgetLabels();
    hint("decide", "");
    this.box.clear();
  }

  async suggest({ after, then } = {}) {
    const { text } = draft;
    hint("text", text.trim() ? "" : "There is no text: paste or type one first.");
    if (!text.trim()) return byId("text").focus();
    if (draft.asked !== text && !(await mayLeave())) return;
    this.asking?.abort();
    const asking = (this.asking = new AbortController());
    this.setBusy(true);
    try {
      const found = await this.predictions.ask(text, after, asking.signal);
      if (draft.asked !== text) this.forget();
      change(found);
      forgive();
      this.render();
      then?.();
      if (after === undefined) say(`${count(draft.labels.length, "label")} suggested.`);
      this.explain();
      this.queue.refresh();
    } catch (error) {
      if (error.name !== "AbortError") report(error, () => this.suggest({ after, then }));
    } finally {
      if (this.asking === asking) this.setBusy(false);
    }
  }

  async explain() {
    const { asked: text, labels } = draft;
    this.words.clear();
    this.explaining?.abort();
    this.explaining = new AbortController();
    const body = { item: { text }, labels: labels.map(({ label }) => label) };
    try {
      const { signal } = this.explaining;
      const { reasons } = await post(of(this.model(), "explain"), body, { signal });
      for (const { label, words } of reasons) this.words.set(label, words);
      this.render();
    } catch {
      // Labels can be judged without the words.
    }
  }

  decide(label, verdict) {
    const isNew = toggle(label, verdict);
    say(isNew ? `${label} ${verdict}` : `${label} undecided`);
    this.render();
    return isNew;
  }

  add(label) {
    if (verdictOf(label) !== "accepted") this.decide(label, "accepted");
  }

  async submit() {
    if (draft.sent) return;
    if (draft.asked !== draft.text) return this.suggest();
    if (this.box.typed && !(await this.box.finish())) return;
    if (draft.sent) return; // a second press while the box was looked at
    if (draft.learnt !== null) return this.openNext();
    if (!isUnsaved()) {
      hint("decide", "Nothing to submit: accept or reject a label, or say that these are all its labels.");
      return;
    }
    const about = draft.prediction ? { prediction_id: draft.prediction } : { item: { text: draft.asked } };
    change({ sent: { model: this.model(), key: newKey(), text: draft.asked, about, verdicts: verdicts() } });
    await this.send();
  }

  /** Send what was said until it is acknowledged, always under the same key. */
  async send() {
    const { sent } = draft;
    this.isSending = true;
    this.render();
    try {
      const { sequence } = await this.deliver(sent);
      change({ sent: null });
      await this.showLearnt(sent, sequence);
      this.queue.settle(sent.text);
      this.queue.refresh();
    } catch (error) {
      change({ sent: null });
      report(error, () => this.submit());
    }
    this.isSending = false;
    this.render();
  }

  /** Show what a correction has changed, if its text is still at hand. */
  async showLearnt({ model, text, verdicts: learnt }, sequence) {
    const isShown = model === this.model() && text === draft.asked && text === draft.text;
    if (!isShown) return;
    // What was said while it was on its way is still to be submitted.
    if (JSON.stringify(learnt) === JSON.stringify(verdicts())) change({ learnt: sequence });
    await this.suggest({ after: sequence });
    say(`Learnt as event ${sequence}.`);
  }

  async deliver({ model, key, text, about, verdicts: body }) {
    const path = of(model, "feedback");
    try {
      return await post(path, { ...about, ...body }, { key });
    } catch (error) {
      if (error.title !== "Unknown prediction") throw error;
      // The server remembers predictions for a while only; the text is still here.
      return post(path, { item: { text }, ...body }, { key });
    }
  }

  async undo() {
    const { learnt } = draft;
    try {
      const { sequence } = await remove(of(this.model(), `feedback/${learnt}`));
      change({ learnt: null });
      await this.suggest({ after: sequence });
      say(tookBack(learnt));
    } catch (error) {
      report(error);
    }
  }

  /** Ask again after an event that changed the model; what it was taught is done with. */
  async relearn(after) {
    if (draft.learnt !== null) change({ learnt: null, verdicts: [], complete: false });
    if (draft.asked !== null && draft.asked === draft.text) await this.suggest({ after });
    this.render();
  }

  setBusy(isBusy) {
    byId("labels").setAttribute("aria-busy", String(isBusy));
    byId("suggest").textContent = isBusy ? "Looking…" : "Suggest labels";
  }

  render() {
    if (isUnsaved() || draft.sent) hint("decide", "");
    byId("labels").hidden = draft.asked === null;
    byId("labels").classList.toggle("stale", draft.text !== draft.asked);
    if (draft.asked === null) return;
    const before = new Map(draft.before ?? []);
    const suggested = new Map(draft.labels.map(({ label, score }) => [label, score]));
    const shown = [...suggested.keys(), ...draft.verdicts.map(([label]) => label)];
    const entries = [...new Set(shown)].map((label) => ({
      label,
      score: suggested.get(label) ?? null,
      before: draft.before && suggested.has(label) ? (before.get(label) ?? "new") : null,
      verdict: verdictOf(label),
      words: this.words.get(label),
    }));
    this.rows.show(entries, draft.isProbability);
    const gone = [...before.keys()].filter((label) => !shown.includes(label));
    byId("gone").hidden = gone.length === 0;
    byId("gone").textContent = `No longer suggested: ${gone.join(", ")}`;
    byId("complete").checked = draft.complete;
    this.renderOutcome();
    this.summarise();
  }

  renderOutcome() {
    const place = byId("outcome");
    place.hidden = draft.learnt === null;
    if (place.hidden) return;
    place.replaceChildren(
      `Learnt as event ${draft.learnt}. The line on a bar shows where it was.`,
      button("Undo", () => this.undo(), { class: "plain" }),
    );
  }

  /** Return what a press of the button does now. */
  nextStep() {
    if (draft.sent) return "Sending…";
    if (draft.text !== draft.asked) return "Suggest again";
    return draft.learnt === null || this.box.typed ? "Submit" : "Next text";
  }

  summarise() {
    const parts = ["accepted", "rejected"].map((verdict) => [said(verdict).length, verdict]);
    const counts = parts.filter(([n]) => n).map(([n, verdict]) => `${n} ${verdict}`);
    const submit = byId("submit");
    submit.textContent = this.nextStep();
    submit.setAttribute("aria-disabled", String(Boolean(draft.sent)));
    byId("summary").textContent = draft.learnt === null ? counts.join(", ") : "";
  }
}

/** Say below a form why nothing was done; an empty sentence takes that away. */
function hint(form, sentence) {
  byId(`${form}-hint`).textContent = sentence;
  if (sentence) say(sentence);
}

/** Return whether the text shown may be left: nothing was said, or a person agrees. */
async function mayLeave() {
  if (!isUnsaved()) return true;
  return confirm({
    title: "Leave the text before?",
    text: "What you said of its labels has not been submitted.",
    yes: "Leave it",
  });
}

/** Return what was said of the labels shown, as feedback has it. */
function verdicts() {
  return { accepted: said("accepted"), rejected: said("rejected"), complete: draft.complete };
}

/** Return a key that no other feedback has; randomUUID is for secure pages only. */
function newKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

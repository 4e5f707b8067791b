// Predictions of texts, and the last of each, so that changes can be shown.

import { Problem, of, post } from "./api.js";

const DEPTH = 8; // labels that are suggested
const MOST_KNOWN = 200; // texts

export class Predictions {
  constructor(model) {
    this.model = model;
    this.last = new Map(); // model and text -> the id and the labels
    this.scoresOnly = new Set(); // models that have no probabilities
  }

  /** Return the last prediction of a text in this session, `{id, labels}`. */
  known(text) {
    return this.last.get(JSON.stringify([this.model(), text]));
  }

  /** Note a prediction of a text, also one that somebody else asked for. */
  note(text, prediction) {
    const name = JSON.stringify([this.model(), text]);
    this.last.delete(name); // so that the oldest stands first
    this.last.set(name, prediction);
    if (this.last.size > MOST_KNOWN) this.last.delete(this.last.keys().next().value);
  }

  /** Return what the draft says of a text, as soon as the event `after` is learnt. */
  async ask(text, after, signal) {
    const { predictions: [found], proba } = await this.send(text, after, signal);
    const last = this.known(text);
    const prediction = last?.id ?? found.id;
    const before = last?.labels?.map(({ label, score }) => [label, score]) ?? null;
    this.note(text, { id: prediction, labels: found.labels });
    return { asked: text, prediction, labels: found.labels, before, isProbability: proba };
  }

  /** Return an answer, by scores where the model has no probabilities. */
  async send(text, after, signal) {
    const model = this.model();
    const path = of(model, after === undefined ? "predict" : `predict?after=${after}`);
    const proba = !this.scoresOnly.has(model);
    // Once is enough: what is remembered twice would wait twice to be labelled.
    const remember = !this.known(text)?.id;
    const body = { items: [{ text }], k: DEPTH, proba, remember };
    try {
      return { ...(await post(path, body, { signal })), proba };
    } catch (error) {
      if (!(proba && error instanceof Problem && /\bproba\b/.test(error.message))) throw error;
      this.scoresOnly.add(model);
      return this.send(text, after, signal);
    }
  }
}

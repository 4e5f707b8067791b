// The corrections of a model, by whoever, as the log has them: the last first, by pages.

import { get, of } from "./api.js";
import { button, byId, make, say, shorten } from "./dom.js";
import { report } from "./notices.js";

const PAGE = 20; // corrections that are asked for at once
const MOST = 100; // that the server lists at once
const NOTES = { learnt: "", contained: "in the active version", "left out": "no longer counts" };

/** Return what is said of a correction that was taken back, wherever that was done. */
export const tookBack = (sequence) => `Event ${sequence} is taken back.`;

export class History {
  /** `takeBack(correction)` and `rollBack(sequence)` do what the buttons say. */
  constructor(model, { takeBack, rollBack }) {
    Object.assign(this, { model, takeBack, rollBack, shown: [] });
    byId("history-older").addEventListener("click", () => this.more());
  }

  /** Show the last corrections, as they are after an event. */
  async refresh(after) {
    const limit = Math.min(Math.max(this.shown.length, PAGE), MOST);
    await this.load([], { limit, ...(after !== undefined && { after }) });
  }

  /** Show the page before what is shown. */
  async more() {
    await this.load(this.shown, { limit: PAGE, before: this.shown.at(-1).sequence });
  }

  async load(newer, asked) {
    this.asking?.abort();
    const { signal } = (this.asking = new AbortController());
    try {
      const { corrections } = await get(of(this.model(), `feedback?${new URLSearchParams(asked)}`), { signal });
      this.shown = [...newer, ...corrections];
      byId("history-older").hidden = corrections.length < asked.limit;
      byId("history-empty").hidden = this.shown.length > 0;
      byId("history").replaceChildren(...this.shown.map((each) => this.row(each)));
    } catch (error) {
      if (error.name !== "AbortError") report(error, () => this.load(newer, asked));
    }
  }

  /** Forget another model's corrections. */
  clear() {
    this.shown = [];
    byId("history").replaceChildren();
    this.tell("");
  }

  /** Say what was done to a correction, to the eye and to the ear. */
  tell(text) {
    byId("history-said").textContent = text;
    if (text) say(text);
  }

  row(correction) {
    const { sequence, text, accepted, rejected, complete, state } = correction;
    const acts = [
      button("Take back", () => this.takeBack(correction), { "aria-label": `Take back event ${sequence}` }),
      button("Roll back", () => this.rollBack(sequence - 1), { "aria-label": `Roll back to before event ${sequence}`, title: `To before event ${sequence}` }),
    ];
    const what = make(
      "span",
      { class: "what" },
      make("span", { text: text === null ? "A row of features" : shorten(text, 80) }),
      make("span", { class: "quiet", text: describeLabels(accepted, rejected, complete) }),
      make("span", { class: "quiet", text: describeEvent(correction) }),
    );
    return make(
      "li",
      { "data-state": state },
      make("span", { class: "event", text: sequence }),
      what,
      make("span", { class: "act" }, ...(state === "left out" ? [] : acts)),
    );
  }
}

function describeEvent({ at, who, state }) {
  const when = new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return [when, who === "local" ? "" : who, NOTES[state]].filter(Boolean).join(" · ");
}

function describeLabels(accepted, rejected, complete) {
  const parts = [...accepted.map((label) => `+ ${label}`), ...rejected.map((label) => `− ${label}`)];
  return shorten([...parts, ...(complete ? ["no others"] : [])].join("  "), 80);
}

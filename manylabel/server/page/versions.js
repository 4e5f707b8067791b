// Versions side by side, and what takes learning back.

import { get, of, post, remove } from "./api.js";
import { button, byId, make } from "./dom.js";
import { COSTS } from "./figures.js";
import { History, tookBack } from "./history.js";
import { confirm, report } from "./notices.js";
import { startRetraining } from "./retrain.js";

const PAUSE = 500; // milliseconds between looks at a version that is being loaded
const LOOKS = 40;
const LEAST_DIFFERENCE = 0.0005; // below which costs are shown as the same number

export class VersionsView {
  /** `changed(sequence)` is called after an event that changes what the model says. */
  constructor(model, changed) {
    Object.assign(this, { model, changed });
    this.history = new History(model, {
      takeBack: (correction) => this.retract(correction),
      rollBack: (sequence) => this.rollBack(sequence),
    });
    startRetraining(model, () => this.refresh());
    byId("rollback").addEventListener("submit", (event) => {
      event.preventDefault();
      this.rollBack(byId("rollback-to").valueAsNumber);
    });
  }

  /** Show another model, or what is new of this one. */
  start() {
    this.history.clear();
    this.refresh();
  }

  async refresh(after) {
    await Promise.all([this.refreshVersions(), this.history.refresh(after)]);
  }

  async refreshVersions() {
    const model = this.model();
    try {
      const { active, versions } = await get(of(model, "versions"));
      if (model === this.model()) this.renderVersions(active, versions);
    } catch (error) {
      report(error, () => this.refreshVersions());
    }
  }

  renderVersions(active, versions) {
    this.versions = versions;
    const names = Object.keys(COSTS).filter((name) => versions.some(({ costs }) => costs?.[name]?.count));
    const costs = names.map((name) => make("th", { scope: "col", class: "number", text: COSTS[name].short }));
    const head = [make("th", { scope: "col", text: "Version" }), ...costs, make("th", { scope: "col" }, make("span", { class: "unseen", text: "Action" }))];
    const rows = versions.map((each) => this.row(each, active, names));
    byId("versions").replaceChildren(make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  }

  row(each, active, names) {
    const isActive = each.version === active;
    const title = make("th", { scope: "row" }, make("code", { text: each.version }), make("span", { class: "quiet", text: describe(each) }));
    const cells = names.map((name) => cell(name, each.costs, each.served));
    const acts = isActive ? [make("span", { class: "badge", text: "active" })] : this.acts(each);
    return make("tr", {}, title, ...cells, make("td", { class: "act" }, ...acts));
  }

  /** Return what can be done with a version that is not active, if its folder is there. */
  acts({ version, scored_since: since, is_there: isThere }) {
    if (!isThere) return [];
    const isOn = since !== null;
    const word = isOn ? "Stop comparing" : "Compare";
    return [
      button(word, () => this.compare(version, !isOn), { "aria-label": `${word} ${version}`, title: "Score it on each correction to come" }),
      button("Activate", () => this.activate(version), { "aria-label": `Activate ${version}` }),
    ];
  }

  /** Score a version on each correction to come, or stop that. */
  async compare(version, isOn) {
    await this.act(() => post(of(this.model(), "shadow"), { version, is_on: isOn }, { again: false }));
    for (let look = 0; look < LOOKS; look++) {
      const found = this.versions.find((each) => each.version === version);
      if (!found || (found.scored_since !== null) === isOn) return;
      await new Promise((resolve) => setTimeout(resolve, PAUSE)); // while it is loaded
      await this.refreshVersions();
    }
  }

  async activate(version) {
    const isMeant = await confirm({
      title: `Activate ${version}?`,
      text: "It answers from now on, here and for everybody who uses this model.",
      yes: "Activate",
    });
    if (isMeant) await this.act(() => post(of(this.model(), "activate"), { version }, { again: false }));
  }

  async rollBack(sequence) {
    if (!Number.isInteger(sequence)) return;
    const isMeant = await confirm({
      title: `Roll back to event ${sequence}?`,
      text: `All that anybody taught this model after event ${sequence} no longer counts.`,
      yes: "Roll back",
    });
    if (!isMeant) return;
    const done = await this.act(() => this.sendBack(sequence));
    if (done) this.history.tell(`What was learnt after event ${sequence} no longer counts.`);
  }

  async sendBack(sequence) {
    try {
      return await post(of(this.model(), "rollback"), { sequence }, { again: false });
    } catch (error) {
      if (error.title !== "Unknown sequence") throw error;
      // The API's sentence is of a parameter that nobody has typed.
      throw new Error(`There is no event ${sequence} to roll back to: ${error.message.replace(/^sequence must/, "it must").replace(/ Got \d+\.$/, "")}`);
    }
  }

  async retract({ sequence, state }) {
    const done = await this.act(() => remove(of(this.model(), `feedback/${sequence}`)));
    if (!done) return;
    const more = state === "contained" ? " The active version was trained on it: retrain to be rid of it." : "";
    this.history.tell(tookBack(sequence) + more);
  }

  async act(send) {
    try {
      const { sequence } = await send();
      await this.changed(sequence);
      await this.refresh(sequence);
      return true;
    } catch (error) {
      report(error, () => this.refresh());
      return false;
    }
  }
}

function cell(name, costs, beside) {
  const value = costs?.[name]?.mean;
  if (typeof value !== "number") return make("td", { class: "number", "data-name": COSTS[name].short, text: "–" });
  const made = make("td", { class: "number", "data-name": COSTS[name].short, text: value.toFixed(3) });
  const other = beside?.[name]?.mean;
  if (typeof other === "number") made.append(contrast(value - other, other, COSTS[name].better));
  return made;
}

/** Return what the active version had on the same corrections. */
function contrast(difference, other, better) {
  const isLike = Math.abs(difference) < LEAST_DIFFERENCE;
  const word = isLike ? "the same" : difference * better > 0 ? "better" : "worse";
  const kind = { better: "up", worse: "down" }[word] ?? "quiet";
  return make("span", { class: kind, text: `active ${other.toFixed(3)}: ${word}` });
}

function describe({ about, at, contains, scored_since: since }) {
  const parts = [about, at.slice(0, 10)];
  if (contains) parts.push(`contains event ${contains}`);
  if (since !== null) parts.push(`compared since event ${since}`);
  return parts.filter(Boolean).join(" · ");
}

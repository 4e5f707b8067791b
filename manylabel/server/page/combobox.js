// Type-ahead over the vocabulary of a model, however large: the server searches.

import { get, of } from "./api.js";
import { byId, count, make, say } from "./dom.js";
import { confirm } from "./notices.js";

const PAUSE = 60; // milliseconds without a key before the server is asked
const MOST = 20;
const FEW = 3; // labels that begin as a new one, and may be meant

export class Combobox {
  /** `model()` names the model, `choose(label)` takes what was chosen. */
  constructor(model, choose, fail) {
    this.input = byId("add");
    this.list = byId("add-options");
    Object.assign(this, { model, choose, fail, active: -1, options: [] });
    this.input.addEventListener("input", () => this.plan());
    this.input.addEventListener("keydown", (event) => this.press(event));
    this.input.addEventListener("blur", () => this.close());
    // The press of a mouse must not take the focus away before its click is seen.
    this.list.addEventListener("mousedown", (event) => event.preventDefault());
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.take(Number(option.dataset.at));
    });
  }

  /** What is typed, as a label is written: runs of blanks look like one, and are. */
  get typed() {
    return this.input.value.trim().replace(/\s+/g, " ");
  }

  plan() {
    clearTimeout(this.timer);
    this.asking?.abort();
    if (!this.typed) return this.close();
    this.timer = setTimeout(() => this.ask(), PAUSE);
  }

  /** Show the labels that begin as what is typed; `isWished` takes the first of them. */
  async ask({ isWished = false } = {}) {
    clearTimeout(this.timer);
    this.asking?.abort();
    const { typed } = this;
    const labels = await this.search(typed);
    if (!labels) return;
    this.show(typed, labels);
    if (isWished) this.take(this.active);
  }

  /** Return the labels that begin so, null if that is no longer wished or failed. */
  async search(typed) {
    this.asking = new AbortController();
    const query = new URLSearchParams({ prefix: typed, limit: MOST });
    try {
      const path = of(this.model(), `labels?${query}`);
      return (await get(path, { signal: this.asking.signal })).labels;
    } catch (error) {
      if (error.name !== "AbortError") this.fail(error);
      return null;
    }
  }

  /** Choose the label that is typed, if one is; return false if that should not be. */
  async finish() {
    const { typed } = this;
    if (!typed) return true;
    this.close();
    const labels = await this.search(typed);
    if (!labels || typed !== this.typed) return false;
    if (!labels.some(({ label }) => label === typed)) {
      const like = labels.slice(0, FEW).map(({ label }) => `“${label}”`).join(", ");
      const isMeant = await confirm({
        title: `Add “${typed}”?`,
        text: `It is a new label.${like ? ` There is ${like}.` : ""}`,
        yes: "Add and submit",
      });
      if (!isMeant) {
        this.input.focus();
        return false;
      }
    }
    this.clear();
    this.choose(typed);
    return true;
  }

  clear() {
    this.input.value = "";
    this.input.dispatchEvent(new Event("input")); // as if somebody had emptied it
  }

  show(typed, labels) {
    this.shown = typed;
    this.options = labels.map(({ label, count: n }) => ({ label, note: n ? n.toLocaleString("en") : "" }));
    if (!labels.some(({ label }) => label === typed)) {
      this.options.push({ label: typed, note: "new label", isNew: true });
    }
    const items = this.options.map(({ label, note, isNew }, at) =>
      make(
        "li",
        { role: "option", id: `add-option-${at}`, "data-at": at, class: isNew ? "fresh" : null },
        make("span", { text: isNew ? `Add “${label}”` : label }),
        make("span", { class: "quiet", text: note }),
      ),
    );
    this.list.replaceChildren(...items);
    this.list.hidden = false;
    this.input.setAttribute("aria-expanded", "true");
    this.move(0);
    this.list.scrollIntoView({ block: "nearest" });
    say(labels.length === MOST ? `The first ${MOST} labels` : count(labels.length, "label"));
  }

  move(to) {
    const { length } = this.options;
    this.active = length ? (to + length) % length : -1;
    [...this.list.children].forEach((item, at) => {
      item.setAttribute("aria-selected", String(at === this.active));
      if (at === this.active) {
        this.input.setAttribute("aria-activedescendant", item.id);
        item.scrollIntoView({ block: "nearest" });
      }
    });
  }

  press(event) {
    if (event.isComposing || event.ctrlKey || event.metaKey) return;
    const isOpen = !this.list.hidden;
    if (event.key === "Enter") {
      event.preventDefault(); // does not submit the labels
      // What is shown may be of fewer letters than were typed since.
      if (isOpen && this.shown === this.typed) this.take(this.active);
      else if (this.typed) this.ask({ isWished: true });
    } else if (event.key === "Escape" && (isOpen || this.input.value)) {
      event.preventDefault();
      this.clear();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      if (!isOpen) this.plan();
      else this.move(this.active + (event.key === "ArrowDown" ? 1 : -1));
    }
  }

  take(at) {
    const option = this.options[at];
    if (!option) return;
    this.clear();
    this.choose(option.label);
  }

  close() {
    clearTimeout(this.timer);
    this.asking?.abort();
    this.options = [];
    this.list.replaceChildren();
    this.list.hidden = true;
    this.input.setAttribute("aria-expanded", "false");
    this.input.removeAttribute("aria-activedescendant");
  }
}

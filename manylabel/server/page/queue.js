// Texts of which the model would learn most: among those that were predicted and not
// corrected, or among the lines of a file.

import { get, of, post } from "./api.js";
import { byId, count, make, shorten } from "./dom.js";
import { forgive, report } from "./notices.js";
import { keep, recall } from "./session.js";

const MOST = 8; // that are shown
const MOST_LINES = 10_000; // of a file

/** Return letters that are UTF-8, UTF-16 with its mark, or else those of Windows. */
function decode(bytes) {
  const [first, second] = new Uint8Array(bytes.slice(0, 2));
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("windows-1252").decode(bytes);
  }
}

/** Tell whether each of the first lines has as many tabs or semicolons, and some. */
function isTable(lines) {
  const numbers = (mark) => lines.slice(0, 20).map((line) => line.split(mark).length);
  const isEven = ([first, ...others]) => first > 1 && others.length && others.every((n) => n === first);
  return ["\t", ";"].some((mark) => isEven(numbers(mark)));
}

export class Queue {
  /** `open(text, prediction)` is called with what was chosen, `current()` is at hand. */
  constructor(model, open, current) {
    Object.assign(this, { model, open, current, items: [] });
    this.file = recall("file"); // {name, texts}
    byId("file").addEventListener("change", (event) => this.read(event.target));
    byId("no-file").addEventListener("click", () => this.use(null));
  }

  /** Return the first that is not at hand, if there is one. */
  next() {
    return this.items.find(({ text }) => text !== this.current());
  }

  /** Forget a text of the file, since it was labelled. */
  settle(text) {
    if (!this.file?.texts.includes(text)) return;
    this.file.texts = this.file.texts.filter((each) => each !== text);
    keep("file", this.file);
  }

  async read(input) {
    const [file] = input.files;
    if (!file) return;
    const lines = decode(await file.arrayBuffer()).split(/\r?\n/).map((line) => line.trim());
    const texts = [...new Set(lines.filter(Boolean))].slice(0, MOST_LINES);
    input.value = ""; // so that the same file can be chosen again
    forgive(); // what was said of another file
    if (!texts.length) {
      report(new Error(`${shorten(file.name, 40)} is empty: there is no text in it.`));
      return;
    }
    if (/\.(csv|tsv)$/i.test(file.name) || isTable(texts)) {
      const way = "Save the column of texts alone as a text file.";
      report(new Error(`${shorten(file.name, 40)} is a table, and a text a line is read here. ${way}`));
      return;
    }
    this.use({ name: file.name, texts });
  }

  use(file) {
    this.file = file;
    keep("file", file);
    this.refresh();
  }

  async refresh() {
    this.asking?.abort();
    const { signal } = (this.asking = new AbortController());
    try {
      const { items } = await this.ask(signal);
      this.items = items
        .filter(({ item }) => typeof item.text === "string")
        .map(({ item, labels, prediction_id: prediction }) => ({ text: item.text, labels, prediction }));
      this.render();
    } catch (error) {
      if (error.name !== "AbortError") report(error, () => this.refresh());
    }
  }

  ask(signal) {
    const limit = MOST + 1; // one of them may be at hand
    if (!this.file) return get(of(this.model(), `queue?limit=${limit}`), { signal });
    const items = this.file.texts.map((text) => ({ text }));
    return items.length ? post(of(this.model(), "queue"), { items, limit }, { signal }) : { items };
  }

  render() {
    const shown = this.items.filter(({ text }) => text !== this.current()).slice(0, MOST);
    byId("queue").replaceChildren(...shown.map((each) => this.entry(each)));
    byId("queue-hint").textContent = this.describe(shown.length);
    byId("no-file").hidden = !this.file;
  }

  describe(number) {
    if (this.file) return `${count(this.file.texts.length, "text")} left of ${shorten(this.file.name, 40)}.`;
    return number
      ? "Texts of which the model would learn most."
      : "Nothing yet. Texts that were suggested labels and not corrected wait here.";
  }

  entry({ text, labels, prediction }) {
    const guess = labels.slice(0, 2).map(({ label }) => label).join(", ");
    const made = make(
      "button",
      { type: "button", class: "item" },
      make("span", { text: shorten(text) }),
      make("span", { class: "quiet", text: shorten(guess, 60) }),
    );
    made.addEventListener("click", () => this.open(text, prediction));
    return make("li", {}, made);
  }
}

// The list of labels: a row each, with its probability, the words for and against, and
// two buttons. One row takes the focus; arrows go on to the next.

import { button, byId, make } from "./dom.js";

const MOST_FOR = 5; // words of a row
const MOST_AGAINST = 3;
const LEAST_WEIGHT = 0.1; // of a word, as a share of the greatest that is shown
const LEAST_CHANGE = 0.005; // of a bar, to be worth a word

const VERDICTS = {
  accepted: { verb: "Accept", sign: "✓", key: "a" },
  rejected: { verb: "Reject", sign: "✕", key: "r" },
};

export class Rows {
  /** `decide(label, verdict)` is called with what a person says of a label. */
  constructor(decide) {
    this.list = byId("rows");
    this.decide = decide;
    this.rows = new Map();
    this.list.addEventListener("keydown", (event) => this.press(event));
    this.list.addEventListener("focusin", (event) => this.enter(event.target));
  }

  /** Show entries `{label, score, before, verdict, words}` in their order. */
  show(entries, isProbability) {
    const focused = document.activeElement?.closest?.("#rows .row");
    const weights = entries.flatMap(({ words }) => (words ?? []).map(({ weight }) => Math.abs(weight)));
    const least = LEAST_WEIGHT * weights.reduce((most, weight) => Math.max(most, weight), 0);
    const scale = isProbability ? { least: 0, span: 1 } : span(entries);
    const known = this.rows;
    this.rows = new Map();
    const items = entries.map((entry) => {
      const row = known.get(entry.label) ?? this.build(entry.label);
      this.rows.set(entry.label, row);
      update(row, entry, scale, isProbability);
      showWords(row.words, (entry.words ?? []).filter(({ weight }) => Math.abs(weight) >= least));
      return row.item;
    });
    this.list.replaceChildren(...items);
    if (focused?.isConnected) focused.focus();
    this.enter(focused?.isConnected ? focused : null);
  }

  focusFirst() {
    this.list.querySelector(".row")?.focus();
  }

  build(label) {
    const name = make("span", { class: "name", text: label });
    const fill = make("span", { class: "fill" });
    const ghost = make("span", { class: "ghost" });
    const score = make("span", { class: "score" });
    const change = make("span", { class: "change" });
    const words = make("p", { class: "words" });
    const verdicts = {};
    for (const [verdict, { verb, sign, key }] of Object.entries(VERDICTS)) {
      verdicts[verdict] = button(sign, () => this.decide(label, verdict), {
        class: `verdict ${verdict}`,
        "aria-label": `${verb} ${label}`,
        title: `${verb} (${key.toUpperCase()})`,
        tabindex: "-1",
      });
    }
    const group = make(
      "div",
      { class: "row", role: "group", tabindex: "-1" },
      make("span", { class: "verdicts" }, verdicts.accepted, verdicts.rejected),
      name,
      make("span", { class: "track", "aria-hidden": "true" }, fill, ghost),
      score,
      change,
      words,
    );
    group.dataset.label = label;
    const item = make("li", {}, group);
    return { item, group, fill, ghost, score, change, words, verdicts };
  }

  /** Make one row, and its buttons, the place where Tab stops. */
  enter(target) {
    const all = [...this.list.querySelectorAll(".row")];
    const current = target?.closest?.(".row") ?? all[0];
    for (const row of all) {
      const stop = row === current ? "0" : "-1";
      row.setAttribute("tabindex", stop);
      for (const each of row.querySelectorAll(".verdict")) each.setAttribute("tabindex", stop);
    }
  }

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = event.target.closest(".row");
    const all = [...this.list.querySelectorAll(".row")];
    const at = all.indexOf(row);
    const places = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 };
    if (event.key in places) {
      event.preventDefault();
      all[Math.min(Math.max(places[event.key], 0), all.length - 1)]?.focus();
      return;
    }
    const key = event.key.toLowerCase();
    for (const [verdict, facts] of Object.entries(VERDICTS)) {
      if (key !== facts.key) continue;
      event.preventDefault();
      event.stopPropagation();
      const isNew = this.decide(row.dataset.label, verdict);
      if (isNew) all[at + 1]?.focus(); // on to the next that is to be judged
    }
  }
}

/** Return what bars of scores stand for: from the least to the best, or from 0. */
function span(entries) {
  const scores = entries.map(({ score }) => score ?? 0);
  const least = Math.min(0, ...scores);
  return { least, span: Math.max(...scores, least + 1e-9) - least };
}

/** Return where on a bar a score stands, in percent. */
function place(score, { least, span }) {
  return `${Math.min(100, Math.max(0, (100 * (score - least)) / span))}%`;
}

function update(row, { label, score, before, verdict }, scale, isProbability) {
  row.fill.style.width = score === null ? "0" : place(score, scale);
  row.score.textContent = score === null ? "–" : format(score, isProbability);
  row.item.className = verdict ?? "";
  for (const [name, each] of Object.entries(row.verdicts)) {
    each.setAttribute("aria-pressed", String(name === verdict));
  }
  showChange(row, score, before, scale, isProbability);
  const said = [label, row.score.textContent, row.change.textContent, verdict];
  row.group.setAttribute("aria-label", said.filter(Boolean).join(", "));
}

function showChange(row, score, before, scale, isProbability) {
  const by = typeof before === "number" && score !== null ? score - before : 0;
  const isChanged = Math.abs(by) >= LEAST_CHANGE * scale.span;
  const direction = by > 0 || before === "new" ? "up" : "down";
  row.ghost.hidden = !isChanged;
  row.change.className = `change ${direction}`;
  row.change.textContent = before === "new" ? "new" : "";
  if (!isChanged) return;
  row.ghost.style.left = place(before, scale);
  const amount = isProbability ? Math.max(1, Math.round(100 * Math.abs(by))) : Number(Math.abs(by).toPrecision(2));
  row.change.textContent = `${by > 0 ? "▲" : "▼"} ${amount}`;
}

function showWords(place, words) {
  const strongest = (sign, most) => words.filter(({ weight }) => sign * weight > 0).slice(0, most);
  const chips = [
    ...strongest(1, MOST_FOR).map(({ word }) => chip("for", "+", "for", word)),
    ...strongest(-1, MOST_AGAINST).map(({ word }) => chip("against", "−", "against", word)),
  ];
  place.replaceChildren(...chips);
  place.hidden = chips.length === 0;
}

function chip(kind, sign, spoken, word) {
  return make(
    "span",
    { class: `word ${kind}`, title: `speaks ${spoken} it` },
    make("span", { class: "sign", "aria-hidden": "true", text: `${sign}\u2009` }),
    make("span", { class: "unseen", text: `${spoken}: ` }),
    word,
  );
}

/** Return a score as people read it. */
export function format(score, isProbability) {
  if (!isProbability) return Number(score.toPrecision(3)).toString();
  if (score > 0 && score < 0.01) return "<1 %";
  return `${Math.round(100 * score)} %`;
}

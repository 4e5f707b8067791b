// Running costs, label frequencies and drift; the curves grow with each correction.

import { follow, get, of } from "./api.js";
import { bar, curve } from "./chart.js";
import { byId, make } from "./dom.js";
import { report } from "./notices.js";

const PAUSE = 500; // milliseconds between two looks at the figures
const MOST_POINTS = 1000; // of a curve that is kept
const MOST_LABELS = 15;
const LITTLE_DRIFT = 0.1; // of the population stability index, as is usual
const MUCH_DRIFT = 0.25;

/** The costs in words; whether more is better. */
export const COSTS = {
  "P@1": { title: "Precision at 1", short: "P@1", better: 1 },
  "P@5": { title: "Precision at 5", short: "P@5", better: 1 },
  f1: { title: "F1 loss", short: "F1 loss", better: -1 },
  hamming: { title: "Hamming loss", short: "Hamming loss", better: -1 },
};

export class FiguresView {
  constructor(model) {
    this.model = model;
    // A stream takes one of the few connections that a browser allows to a server.
    document.addEventListener("visibilitychange", () => {
      if (document.hidden) this.stop();
      else if (model()) this.start();
    });
  }

  /** Show the model that was chosen and follow its events. */
  start() {
    this.stop();
    this.points = [];
    const { signal } = (this.following = new AbortController());
    this.refresh();
    follow(of(this.model(), "events"), (event) => this.take(event), signal).catch(() => {});
  }

  stop() {
    this.following?.abort();
    this.asking?.abort();
    clearTimeout(this.timer);
    this.timer = null;
  }

  async refresh() {
    this.asking?.abort();
    const { signal } = (this.asking = new AbortController());
    try {
      this.figures = await get(of(this.model(), "figures"), { signal });
      this.begin(this.figures.curve);
      this.note(this.figures);
      this.render();
    } catch (error) {
      if (error.name !== "AbortError") report(error, () => this.refresh());
    }
  }

  /** Take an event: the curves grow at once, all is shown a moment later. */
  take(event) {
    this.note(event);
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.refresh();
    }, PAUSE);
  }

  /** Begin the curves with what the log has, and go on with what was seen since. */
  begin(curve) {
    const known = curve.map((point) => ({ ...point, count: judged(point.costs) }));
    const last = known.at(-1)?.applied ?? 0;
    this.points = [...known, ...this.points.filter(({ applied }) => applied > last)];
  }

  /** Add a point to the curves, if something was judged since the last. */
  note({ applied, costs }) {
    const count = judged(costs);
    if (!count || this.points.at(-1)?.count === count) return;
    const kept = this.points.filter((point) => point.count < count && point.applied < applied);
    this.points = thin([...kept, { applied, count, costs }]);
  }

  render() {
    this.renderCosts();
    this.renderFrequencies();
    this.renderDrift();
  }

  renderCosts() {
    const { points } = this;
    const charts = Object.entries(COSTS).map(([name, { title, better }]) => {
      const own = points
        .filter(({ costs }) => costs[name]?.count)
        .map(({ applied, costs }) => ({ at: applied, ...costs[name] }));
      const last = own.at(-1);
      if (!last) return null;
      const now = last.recent.toFixed(3);
      const mean = last.mean.toFixed(3);
      return make(
        "figure",
        {},
        make("figcaption", {}, make("span", { text: title }), make("strong", { text: now })),
        curve(own, `${title}: ${now} of late, ${mean} in all, after ${last.count} corrections`),
        make("p", { class: "quiet", text: `of late · ${mean} in all · ${better > 0 ? "more" : "less"} is better` }),
      );
    });
    const shown = charts.filter(Boolean);
    byId("costs").replaceChildren(...shown);
    byId("costs-empty").hidden = shown.length > 0;
  }

  renderFrequencies() {
    const labels = frequent(this.figures.labels);
    const most = Math.max(1, ...labels.map(([, n]) => n));
    byId("frequencies").replaceChildren(...labels.map(([name, n]) => bar(name, n, most)));
    byId("frequencies-empty").hidden = labels.length > 0;
  }

  renderDrift() {
    const { drift } = this.figures;
    byId("drift").replaceChildren(...describeDrift(drift));
    const { applied, acknowledged, unknown_labels: unknown, trouble } = this.figures;
    const facts = { "Event learnt": applied, "Event recorded": acknowledged, "Labels that the model does not know": unknown.length };
    if (trouble) facts[trouble] = "";
    byId("facts").replaceChildren(
      ...Object.entries(facts).flatMap(([name, value]) => [make("dt", { text: name }), make("dd", { text: value.toLocaleString("en") })]),
    );
  }
}

/** Return the most frequent labels and their counts. */
function frequent(labels) {
  const pairs = Object.entries(labels).sort((one, other) => other[1] - one[1]);
  return pairs.slice(0, MOST_LABELS);
}

function describeDrift(drift) {
  if (typeof drift !== "number") return ["Not known yet: it takes some thousand predictions."];
  const words = drift < LITTLE_DRIFT ? "The scores are as they were." : drift < MUCH_DRIFT ? "The scores begin to differ." : "The texts are not what they were.";
  return [make("strong", { text: drift.toFixed(3) }), ` ${words}`];
}

/** Return at most so many points, the older ones the sparser. */
function thin(points) {
  if (points.length <= MOST_POINTS) return points;
  const half = points.length >> 1;
  return [...points.slice(0, half).filter((_, at) => at % 2 === 0), ...points.slice(half)];
}

/** Return how many feedbacks costs are of. */
function judged(costs) {
  return Math.max(0, ...Object.values(costs).map(({ count }) => count));
}

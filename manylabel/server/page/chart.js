// Small drawings: a curve over the numbers of events, and bars.

import { draw, make } from "./dom.js";

const WIDTH = 320;
const HEIGHT = 110;
const EDGE = { top: 8, right: 6, bottom: 18, left: 32 };

/**
 * Return a curve of points `{at, mean, recent}`: what is recent strong, the mean thin.
 *
 * `name` is read to those who do not see it.
 */
export function curve(points, name) {
  const drawing = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": name, class: "curve" });
  if (!points.length) return drawing;
  const [first, last] = [points[0].at, points.at(-1).at];
  const high = Math.max(...points.flatMap(({ mean, recent }) => [mean, recent]));
  const top = high > 0.5 ? 1 : high > 0.2 ? 0.5 : high > 0.1 ? 0.2 : 0.1;
  const x = (at) => EDGE.left + ((at - first) / Math.max(1, last - first)) * (WIDTH - EDGE.left - EDGE.right);
  const y = (value) => HEIGHT - EDGE.bottom - (value / top) * (HEIGHT - EDGE.top - EDGE.bottom);
  for (const value of [0, top / 2, top]) {
    drawing.append(
      draw("line", { class: "grid", x1: EDGE.left, x2: WIDTH - EDGE.right, y1: y(value), y2: y(value) }),
      draw("text", { class: "axis end", x: EDGE.left - 6, y: y(value) + 4, text: String(value) }),
    );
  }
  for (const which of ["mean", "recent"]) drawing.append(line(points, which, x, y));
  const dot = points.at(-1);
  drawing.append(
    draw("circle", { class: "dot", cx: x(dot.at), cy: y(dot.recent), r: 3.5 }),
    draw("text", { class: "axis", x: EDGE.left, y: HEIGHT - 4, text: `event ${first}` }),
    draw("text", { class: "axis end", x: WIDTH - EDGE.right, y: HEIGHT - 4, text: String(last) }),
  );
  return drawing;
}

function line(points, which, x, y) {
  const way = points.map((point) => `${x(point.at).toFixed(1)},${y(point[which]).toFixed(1)}`);
  return draw("polyline", { class: which, points: way.join(" ") });
}

/** Return a bar beside a name and a number, as an item of a list. */
export function bar(name, number, most) {
  const filled = make("span", { class: "fill" });
  filled.style.width = `${(100 * number) / most}%`;
  return make(
    "li",
    {},
    make("span", { class: "name", text: name }),
    make("span", { class: "track", "aria-hidden": "true" }, filled),
    make("span", { class: "score", text: number.toLocaleString("en") }),
  );
}

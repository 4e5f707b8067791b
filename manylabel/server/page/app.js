// The page: which model, which view, and whether the server answers.

import { connection, get } from "./api.js";
import { byId, make } from "./dom.js";
import { FiguresView } from "./figures.js";
import { startKeys } from "./keys.js";
import { LabelView } from "./label.js";
import { forgive, report, startNotices } from "./notices.js";
import { keep, recall } from "./session.js";
import { VersionsView } from "./versions.js";

const VIEWS = ["label", "figures", "versions"];
const STATES = {
  online: "Connected",
  busy: "The server is busy: trying again",
  offline: "The server does not answer: trying again, nothing typed is lost",
};

const model = () => byId("model").value;
const labels = new LabelView(model);
const figures = new FiguresView(model);
const versions = new VersionsView(model, (after) => labels.relearn(after));

/** List the models and show the one that was chosen last. */
async function start() {
  let models;
  try {
    ({ models } = await get("models"));
  } catch (error) {
    report(error, start);
    return;
  }
  byId("model").replaceChildren(...models.map((name) => make("option", { value: name, text: name })));
  if (!models.length) {
    report(new Error("The server has no model yet: save one below its folder of models."), start);
    return;
  }
  const last = recall("model");
  if (models.includes(last)) byId("model").value = last;
  choose({ isNew: model() !== last });
}

function choose({ isNew }) {
  keep("model", model());
  labels.start({ isNew });
  figures.start();
  if (view() === "versions") versions.start();
}

/** Return the view that the address names. */
function view() {
  const name = location.hash.slice(1);
  return VIEWS.includes(name) ? name : VIEWS[0];
}

function showView() {
  for (const name of VIEWS) {
    const isShown = name === view();
    byId(`view-${name}`).hidden = !isShown;
    if (isShown) byId(`to-${name}`).setAttribute("aria-current", "page");
    else byId(`to-${name}`).removeAttribute("aria-current");
  }
  if (!model()) return;
  if (view() === "figures") figures.refresh();
  if (view() === "versions") versions.start();
}

function showConnection() {
  const place = byId("connection");
  place.className = `connection ${connection.state}`;
  place.textContent = STATES[connection.state] ?? "Connecting";
}

function openToken() {
  byId("token").value = recall("token", "");
  byId("token-dialog").showModal();
}

function takeToken() {
  keep("token", byId("token").value.trim() || null);
  byId("token").value = "";
  start();
}

const go = (name) => () => {
  location.hash = name;
};
const inLabels = (act) => () => {
  location.hash = "label";
  showView();
  act();
};

startNotices(openToken);
startKeys({
  submit: () => view() === "label" && labels.submit(),
  "/": inLabels(() => byId("add").focus()),
  t: inLabels(() => byId("text").focus()),
  c: inLabels(() => byId("complete").click()),
  n: inLabels(() => labels.openNext()),
  "?": () => byId("help-dialog").showModal(),
  1: go("label"),
  2: go("figures"),
  3: go("versions"),
});
byId("model").addEventListener("change", () => choose({ isNew: true }));
byId("token-open").addEventListener("click", openToken);
byId("token-cancel").addEventListener("click", () => byId("token-dialog").close());
byId("token-form").addEventListener("submit", takeToken);
connection.addEventListener("change", showConnection);
window.addEventListener("hashchange", () => {
  if (model()) forgive(); // it was about the view before, unless there is nothing to view
  showView();
});
showView();
start();

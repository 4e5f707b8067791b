// What went wrong, in one sentence, with a way out; and questions before what is grave.

import { byId } from "./dom.js";

let wayOut = null;
let askForToken = () => {};

/** Listen to the notice; `openToken` lets a person enter a token. */
export function startNotices(openToken) {
  askForToken = openToken;
  byId("notice-close").addEventListener("click", forgive);
  byId("notice-action").addEventListener("click", () => {
    const act = wayOut;
    forgive();
    act?.();
  });
}

/** Show an error, and what can be done: enter a token, or what `retry` does. */
export function report(error, retry = null) {
  const needsToken = error.status === 401 || error.status === 403;
  wayOut = needsToken ? askForToken : retry;
  byId("notice-text").textContent = error.message;
  byId("notice-action").textContent = needsToken ? "Enter a token" : "Try again";
  byId("notice-action").hidden = wayOut === null;
  byId("notice").hidden = false;
}

/** Take the notice away. */
export function forgive() {
  byId("notice").hidden = true;
  wayOut = null;
}

/** Return whether a person agrees. */
export function confirm({ title, text, yes }) {
  const dialog = byId("confirm-dialog");
  byId("confirm-title").textContent = title;
  byId("confirm-text").textContent = text;
  byId("confirm-yes").textContent = yes;
  dialog.returnValue = "no";
  dialog.showModal();
  byId("confirm-no").focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

// Calls of the service: the token, errors as problem details, and patience.
//
// A call that is lost, or refused because the server is busy, is sent again until it is
// answered or aborted, if to send it twice does no harm.

import { recall } from "./session.js";

const LATER = new Set([429, 502, 503, 504]);
const FIRST_PAUSE = 300; // milliseconds before a call is sent again, then doubled
const LONGEST_PAUSE = 4000;

// What a person may have typed, by the part of a request that it became.
const TYPED = { text: "A text", accepted: "A label", rejected: "A label", prefix: "What is searched for", sequence: "The number of an event" };

/** An answer that says no, in one sentence. */
export class Problem extends Error {
  constructor(status, details) {
    const [fault] = details.errors ?? [];
    super(fault ? describe(fault) : details.detail || details.title || `The server answered ${status}.`);
    this.status = status;
    this.title = details.title || "";
  }
}

/** Return what is wrong with a request in words for those who see the page alone. */
function describe({ where, what }) {
  const thing = where.split(".").map((part) => TYPED[part]).find(Boolean);
  const most = /at most (\d+) characters/.exec(what)?.[1];
  if (thing && most) return `${thing} may have at most ${Number(most).toLocaleString("en")} characters.`;
  if (thing) return `${thing} is not what the server takes.`;
  return "The server does not take what this page sends: reload the page, it may be older than the server.";
}

/** Tells on "change" whether the server answers; `state` is the last that was told. */
export const connection = new EventTarget();
connection.state = "connecting";

function tell(state) {
  if (state === connection.state) return;
  connection.state = state;
  connection.dispatchEvent(new Event("change"));
}

/** Return the path of a model's resource. */
export function of(model, resource = "") {
  const path = `models/${encodeURIComponent(model)}`;
  return resource ? `${path}/${resource}` : path;
}

export const get = (path, options) => call("GET", path, options);
export const post = (path, body, options) => call("POST", path, { body, ...options });
export const remove = (path, options) => call("DELETE", path, options);

/**
 * Return the answer to a call as JSON.
 *
 * `key` is its Idempotency-Key, `again` whether it may be sent twice.
 */
async function call(method, path, { body, key, signal, again = true } = {}) {
  const headers = authorization();
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  const request = { method, headers, signal, body: JSON.stringify(body) };
  for (let pause = FIRST_PAUSE; ; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    const response = await send(path, request);
    if (response && !(again && LATER.has(response.status))) return read(response);
    if (!again) throw new Problem(0, { detail: "The server did not answer: look whether it was done before you try again." });
    const told = 1000 * Number(response?.headers.get("Retry-After") ?? 0);
    await sleep(Math.max(pause, told || 0), signal);
  }
}

function authorization() {
  const token = recall("token");
  return token ? { Authorization: `Bearer ${token}` } : {};
}

/** Return a response, or null if none came. */
async function send(path, request) {
  try {
    const response = await fetch(`v1/${path}`, { cache: "no-store", ...request });
    tell(LATER.has(response.status) ? "busy" : "online");
    return response;
  } catch (error) {
    if (error.name === "AbortError") throw error;
    tell("offline");
    return null;
  }
}

async function read(response) {
  const text = await response.text();
  let content = {};
  try {
    content = text ? JSON.parse(text) : {};
  } catch {
    // Something between us and the server answered in its own words.
  }
  if (!response.ok) throw new Problem(response.status, content);
  return content;
}

function sleep(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** Call `take` with each server-sent event of a path, until aborted. */
export async function follow(path, take, signal) {
  for (let pause = FIRST_PAUSE; !signal.aborted; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
    const response = await send(path, { headers: authorization(), signal });
    if (response?.ok) {
      pause = FIRST_PAUSE;
      await drain(response.body, take).catch((error) => {
        if (error.name !== "AbortError") tell("offline");
      });
    } else if (response && !LATER.has(response.status)) {
      return; // no events here: the figures are asked for instead
    }
    await sleep(pause, signal);
  }
}

// EventSource cannot send a token, so the stream is read here.
async function drain(body, take) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (rest + value).split(/\r?\n\r?\n/);
    rest = events.pop();
    for (const event of events) {
      const data = event.split(/\r?\n/).filter((line) => line.startsWith("data:"));
      if (data.length) take(JSON.parse(data.map((line) => line.slice(5)).join("\n")));
    }
  }
}

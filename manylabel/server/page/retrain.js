// A new version, learnt in the background from the original data and all corrections.

import { get, of, post } from "./api.js";
import { byId, say } from "./dom.js";
import { report } from "./notices.js";

const PAUSE = 1000; // milliseconds between looks at a job
const ENDED = new Set(["done", "failed"]);

/** Let a person retrain the model; `done` is called when there is a new version. */
export function startRetraining(model, done) {
  byId("retrain").addEventListener("submit", (event) => {
    event.preventDefault();
    retrain(model(), done);
  });
}

async function retrain(model, done) {
  show("Beginning", null);
  try {
    const quality = byId("quality").value;
    let job = await post(of(model, "retrain"), { quality }, { again: false });
    while (!ENDED.has(job.state)) {
      show(job.message || job.state, job.share);
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      job = await get(of(model, `jobs/${encodeURIComponent(job.id)}`));
    }
    if (job.state === "failed") throw new Error(job.message);
    show(`Version ${job.version} is there. It answers when you activate it.`, 1);
    done();
  } catch (error) {
    show("", null);
    report(error);
  }
}

function show(text, share) {
  const bar = byId("retrain-share");
  byId("retrain-state").textContent = text;
  bar.hidden = !text;
  if (share === null) bar.removeAttribute("value");
  else bar.value = share;
  say(text);
}

// Search from disk: browsers start no workers for files, so a hidden frame does the work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((loaded) => (frame.onload = loaded)).then(() => frame.contentWindow);
      frame.srcdoc = `<script>postMessage = (data) => frameElement.worker.receive(data)</script>
        <script src="${url}"></script>`;
      frame.worker = this;
      document.documentElement.append(frame);
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    receive(data) {
      this.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {}
  };
}

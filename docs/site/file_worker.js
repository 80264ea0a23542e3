// Lets the search run from file://, where browsers refuse to start a worker: the worker's script
// runs in a hidden frame of the page instead. Pages from a web server use real workers.
"use strict";
if (location.protocol === "file:") {
  window.Worker = class {
    onmessage = null;
    onerror = null;

    constructor(url) {
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      this.receive = (event) => {
        if (event.source === inside) this.onmessage?.({ data: event.data });
      };
      window.addEventListener("message", this.receive);
      inside.document.open();
      inside.document.write(
        "<!doctype html><script>postMessage = (data) => parent.postMessage(data, '*');</" +
          `script><script src="${new URL(url, location.href)}"></` + "script>");
      // The empty page has loaded already; what counts is the page with the script.
      this.loaded = new Promise((resolve) => this.frame.addEventListener("load", resolve));
      inside.document.close();
    }

    postMessage(data) {
      this.loaded.then(() => {
        const inside = this.frame.contentWindow;
        inside?.dispatchEvent(new inside.MessageEvent("message", { data }));
      });
    }

    terminate() {
      window.removeEventListener("message", this.receive);
      this.frame.remove();
    }
  };
}

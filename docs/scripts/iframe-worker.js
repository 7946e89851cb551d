// Search in pages that are opened from a folder. Browsers start no workers there, so the script of the worker runs in a
// frame that nobody sees: it has the origin of the page, and messages are handed over as events.
// (mkdocs-material takes this file for the one that it would fetch from elsewhere, by its name.)
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      this.frame.srcdoc = `<script src="${url}"><${""}/script>`
      this.frame.addEventListener("load", () => this.begin(this.frame.contentWindow))
      document.body.append(this.frame)
    }

    begin(inside) {
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }))
      inside.importScripts = (...urls) => urls.reduce((before, url) => before.then(() => loaded(inside, url)), Promise.resolve())
      this.inside = inside
      this.waiting.splice(0).forEach((data) => this.postMessage(data))
    }

    postMessage(data) {
      if (this.inside) this.inside.dispatchEvent(new MessageEvent("message", { data }))
      else this.waiting.push(data)
    }

    terminate() {
      this.frame.remove()
    }
  }

  function loaded(inside, url) {
    return new Promise((resolve, reject) => {
      const script = inside.document.createElement("script")
      script.src = url
      script.onload = resolve
      script.onerror = () => reject(new Error(`${url} was not found`))
      inside.document.head.append(script)
    })
  }
}

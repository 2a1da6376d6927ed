// A person's browser without JavaScript: cookies, forms, redirects within the service.

export class Browser {
  #cookies = new Map();
  #origin;

  constructor(origin) {
    this.#origin = origin;
  }

  // Where the browser ends: a page of the service, or the URL elsewhere that it was sent to.
  async go(url, options = {}) {
    for (let hops = 0; hops < 20; hops += 1) {
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const response = await fetch(url, { ...options, redirect: "manual", headers: { cookie } });
      this.#keep(response);
      const location = response.headers.get("location");
      if (location === null) return { url: new URL(url), status: response.status, text: await response.text() };
      url = new URL(location, url);
      if (url.origin !== this.#origin) return { url, status: response.status, text: "" };
      options = {};
    }
    throw new Error("the service redirects in a circle");
  }

  // Send the page's first form as it stands, with these fields filled in.
  async submit(page, fields) {
    const action = page.text.match(/<form[^>]* action="([^"]*)"/)[1];
    const body = hidden(page);
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    return this.go(new URL(unescape(action), page.url), { method: "POST", body });
  }

  async signIn(page) {
    return this.submit(page, { username: "alice", password: "alice", action: "login" });
  }

  #keep(response) {
    for (const line of response.headers.getSetCookie()) {
      const [pair, ...attributes] = line.split(";");
      const [name, ...value] = pair.split("=");
      if (attributes.some((one) => /^\s*max-age=0$/i.test(one))) this.#cookies.delete(name);
      else this.#cookies.set(name, value.join("="));
    }
  }
}

// The hidden fields of a page's form.
export function hidden(page) {
  const fields = page.text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g);
  return new URLSearchParams([...fields].map(([, name, value]) => [name, unescape(value)]));
}

function unescape(text) {
  const characters = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&#34;": '"', "&#39;": "'" };
  return text.replace(/&(amp|lt|gt|#34|#39);/g, (entity) => characters[entity]);
}

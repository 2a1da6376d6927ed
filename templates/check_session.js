"use strict";
/* Tells clients whether their person's login has changed (OpenID Connect Session Management 1.0, section 3.2). */

const COOKIE = "$cookie=";

/* Frames of other origins have no business here; some browsers do not tell which page this frame is in. */
function isExpected(origin) {
  const parent = location.ancestorOrigins ? location.ancestorOrigins[0] : undefined;
  return parent === undefined || parent === "null" || parent === origin;
}

function browserState() {
  const found = document.cookie.split("; ").find((cookie) => cookie.startsWith(COOKIE));
  return found === undefined ? "" : found.slice(COOKIE.length);
}

async function sha256(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function statusOf(message, origin) {
  const parts = /^([^]+) ([0-9a-f]{64})\.([\w-]+)$$/.exec(message);
  if (parts === null || !isExpected(origin)) {
    return "error";
  }
  const [, clientId, hash, salt] = parts;
  const current = await sha256(`$${clientId} $${origin} $${browserState()} $${salt}`);
  return current === hash ? "unchanged" : "changed";
}

addEventListener("message", async ({ data, origin, source }) => {
  if (typeof data === "string" && origin !== "null" && source !== null && source !== window) {
    source.postMessage(await statusOf(data, origin).catch(() => "error"), origin);
  }
});

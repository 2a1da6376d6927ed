"use strict";
/* Tells keycloak-js whether the session of its tokens is still that of this browser, as Keycloak's own frame does. */

const COOKIE = "$cookie=";
const allowed = new Map();

/* Any page can frame this one: only those of a client may learn whether anybody is signed in. */
function mayAsk(clientId, origin) {
  const key = `$${clientId} $${origin}`;
  if (!allowed.has(key)) {
    const query = new URLSearchParams({ client_id: clientId, origin });
    allowed.set(key, fetch(`$${location.pathname}/init?$${query}`).then((answer) => answer.ok));
  }
  return allowed.get(key);
}

function browserState() {
  const found = document.cookie.split("; ").find((cookie) => cookie.startsWith(COOKIE));
  return found === undefined ? "" : found.slice(COOKIE.length);
}

async function stateOf(sid) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`browser state of $${sid}`));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function statusOf(clientId, sid, origin) {
  const seesCookies = !("hasStorageAccess" in document) || (await document.hasStorageAccess());
  if (!seesCookies || !(await mayAsk(clientId, origin))) {
    return "error";
  }
  const expected = sid === "" ? "" : await stateOf(sid);
  return browserState() === expected ? "unchanged" : "changed";
}

addEventListener("message", async ({ data, origin, source }) => {
  const parts = typeof data === "string" ? data.split(" ") : [];
  if (parts.length === 2 && origin !== "null" && source !== null && source !== window) {
    source.postMessage(await statusOf(parts[0], parts[1], origin).catch(() => "error"), origin);
  }
});

"use strict";
/* Tells keycloak-js whether this browser lets a frame of another site use cookies: one page sets one, the next looks for it. */

const COOKIE = "third_party_cookie";

function tell(isSupported) {
  parent.postMessage(isSupported ? "supported" : "unsupported", "*");
}

async function set() {
  if ("hasStorageAccess" in document && !(await document.hasStorageAccess())) {
    tell(false);
    return;
  }
  document.cookie = `$${COOKIE}_of_site=1; Max-Age=60; SameSite=None; Secure`;
  document.cookie = `$${COOKIE}=1; Max-Age=60`;
  location.replace("step2.html");
}

function find() {
  const isThere = document.cookie.includes(COOKIE);
  document.cookie = `$${COOKIE}_of_site=; Max-Age=0; SameSite=None; Secure`;
  document.cookie = `$${COOKIE}=; Max-Age=0`;
  tell(isThere);
}

$step();

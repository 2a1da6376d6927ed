/* Passkeys (WebAuthn Level 3 §5.1). Without this file, or in a browser without passkeys, its buttons stay hidden.
   <form> with <input type="hidden" name="passkey">, <button type="button" data-passkey="get or create" data-options="JSON" hidden>,
   and elements [data-passkey-error="name of a DOMException, or nothing for all others"], hidden, those for all others first.
   With data-takes-focus the button has the focus; with data-asks-at-once nobody has to press it. */
"use strict";

/* The JSON methods of PublicKeyCredential are missing in older browsers, and in what some password managers put in its place. */
const decode = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0));
const encode = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

const read = (text) => {
  const options = JSON.parse(text);
  options.challenge = decode(options.challenge);
  if (options.user) options.user.id = decode(options.user.id);
  for (const known of options.allowCredentials ?? options.excludeCredentials) known.id = decode(known.id);
  return options;
};

const write = ({ id, type, response }) => {
  const sent = { transports: response.getTransports?.() };
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (response[name]) sent[name] = encode(response[name]);
  }
  return JSON.stringify({ id, type, response: sent });
};

const prepare = async (button) => {
  const form = button.form;
  const waiting = new AbortController();
  const ask = async (more) => {
    const publicKey = read(button.dataset.options);
    const answer = await navigator.credentials[button.dataset.passkey]({ publicKey, ...more });
    form.querySelector('input[name="passkey"]').value = write(answer);
    form.submit(); // without the other fields being checked
  };
  const show = (error) => {
    const texts = [...form.querySelectorAll("[data-passkey-error]")];
    const shown = texts.find((text) => text.dataset.passkeyError === error) ?? texts[0];
    for (const text of texts) text.hidden = text !== shown;
  };
  button.addEventListener("click", () => {
    waiting.abort();
    ask({}).catch((error) => show(error.name));
  });
  button.hidden = false;
  if ("takesFocus" in button.dataset) button.focus();
  if ("asksAtOnce" in button.dataset) {
    // The browser may want a press of the button first.
    ask({}).catch((error) => error.name === "NotAllowedError" || show(error.name));
  }
  if (!form.querySelector('[autocomplete~="webauthn"]')) return;
  if (await PublicKeyCredential.isConditionalMediationAvailable?.()) {
    ask({ mediation: "conditional", signal: waiting.signal }).catch(() => {}); // the user has chosen another way
  }
};

if (window.PublicKeyCredential) document.querySelectorAll("[data-passkey]").forEach(prepare);

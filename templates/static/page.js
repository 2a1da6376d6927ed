/* What pages can do beyond their forms. Without it everything works, and these buttons stay hidden. */
"use strict";

/* <button data-shows="id of a password field"> */
for (const button of document.querySelectorAll("[data-shows]")) {
  const field = document.getElementById(button.dataset.shows);
  const show = (shown) => {
    field.type = shown ? "text" : "password";
    button.setAttribute("aria-pressed", String(shown));
  };
  button.addEventListener("click", () => {
    show(field.type === "password");
    field.focus();
  });
  field.form.addEventListener("submit", () => show(false)); // or browsers remember it as plain text
  button.hidden = false;
}

/* <button data-copy="text" data-done="what the button says afterwards" data-failed="or if the browser refuses"> */
for (const button of document.querySelectorAll("[data-copy]")) {
  const status = document.createElement("div"); // for screen readers, which do not read the new text of a button
  status.role = "status";
  status.style.cssText = "position: absolute; clip-path: inset(50%)";
  document.body.append(status);
  const say = (text) => {
    button.textContent = status.textContent = text;
  };
  const { copy, done, failed = "" } = button.dataset;
  button.addEventListener("click", () => {
    navigator.clipboard.writeText(copy).then(() => say(done), () => say(failed || button.textContent));
  });
  button.hidden = navigator.clipboard === undefined; // which plain http has on loopback only
}

/* <button data-print>; the browser's own menu prints the same */
for (const button of document.querySelectorAll("[data-print]")) {
  button.addEventListener("click", () => print());
  button.hidden = false;
}

/* A second click on the button of a form, while the first one is not answered yet, would take the place of its answer. */
let sent = new WeakSet();
document.addEventListener("submit", (event) => {
  if (sent.has(event.target)) event.preventDefault();
  sent.add(event.target);
});
addEventListener("pageshow", () => (sent = new WeakSet())); // the user has come back to the page

/* The open list of languages covers what is behind it, so it closes by Escape and where the focus goes on. */
const languages = document.querySelector(".languages");
languages?.addEventListener("keydown", ({ key }) => {
  if (key !== "Escape") return;
  languages.open = false;
  languages.querySelector("summary").focus();
});
languages?.addEventListener("focusout", ({ relatedTarget }) => {
  if (relatedTarget !== null && !languages.contains(relatedTarget)) languages.open = false;
});

/* <time data-local>, written in UTC by the server */
for (const time of document.querySelectorAll("time[data-local]")) {
  const style = { dateStyle: "medium", timeStyle: "short" };
  time.textContent = new Date(time.dateTime).toLocaleString(document.documentElement.lang, style);
}

/* A logo that does not load gives way to the letter that the page would show without one: <img data-letter="L"> */
for (const logo of document.querySelectorAll("img[data-letter]")) {
  const letter = document.createElement("span");
  letter.className = `${logo.className} monogram`;
  letter.textContent = logo.dataset.letter;
  letter.setAttribute("aria-hidden", "true");
  logo.decode().catch(() => logo.replaceWith(letter));
}

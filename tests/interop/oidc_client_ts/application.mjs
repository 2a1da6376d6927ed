// A single-page application as oidc-client-ts wants it: one page, whose path says what came back from the provider.

/* global oidc */
const settings = await (await fetch("/settings.json")).json();
const manager = new oidc.UserManager({
  ...settings,
  redirect_uri: `${location.origin}/callback`,
  silent_redirect_uri: `${location.origin}/silent`,
  post_logout_redirect_uri: `${location.origin}/signed-out`,
  scope: "openid profile email api1",
  loadUserInfo: true,
  automaticSilentRenew: false,
  monitorSession: true,
  checkSessionIntervalInSeconds: 1,
});

const ANSWERS = {
  "/callback": () => manager.signinRedirectCallback(),
  "/silent": () => manager.signinSilentCallback(),
  "/signed-out": () => manager.signoutRedirectCallback(),
};

// What came of it is on the page, for whoever looks at it.
function show(outcome) {
  const page = document.createElement("pre");
  page.id = "arrived";
  page.textContent = JSON.stringify(outcome ?? {});
  document.body.append(page);
}

document.getElementById("sign-in").onclick = () => manager.signinRedirect({ state: { from: "here" } });
document.getElementById("sign-in-offline").onclick = () =>
  manager.signinRedirect({ scope: `${manager.settings.scope} offline_access` });
document.getElementById("sign-out").onclick = () => manager.signoutRedirect({ state: { from: "here" } });

window.manager = manager;
try {
  show(await ANSWERS[location.pathname]?.());
} catch (error) {
  show({ error: error.error ?? error.message });
}

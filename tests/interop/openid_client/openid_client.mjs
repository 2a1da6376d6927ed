// openid-client (https://github.com/panva/openid-client) through its natural flow: what it validates, we need not.

import assert from "node:assert/strict";
import * as client from "openid-client";
import { ISSUER, REDIRECT_URI, SIGNED_OUT, SUBJECT, begin, discovered, refusedWith, signIn } from "./flow.mjs";
import { visit } from "./person.mjs";
import { finish, step } from "./steps.mjs";

console.log(`openid-client at ${ISSUER}`);
let web, spa, machine, api1, api2, tokens, refreshed;

await step("discovery: the metadata names this issuer", async () => {
  web = await discovered("web", "web-secret", client.ClientSecretBasic("web-secret"));
  spa = await discovered("spa", undefined, client.None());
  machine = await discovered("machine", "machine-secret", client.ClientSecretPost("machine-secret"));
  api1 = await discovered("api1", "api1-secret", client.ClientSecretBasic("api1-secret"));
  api2 = await discovered("api2", "api2-secret", client.ClientSecretBasic("api2-secret"));
  assert.equal(web.serverMetadata().issuer, ISSUER);
  assert.equal(web.serverMetadata().supportsPKCE(), true);
});

await step("authorize, sign in, code: tokens with a valid id_token", async () => {
  tokens = await signIn(web);
  assert.equal(tokens.claims().sub, SUBJECT);
  assert.equal(tokens.token_type, "bearer");
  assert.ok(tokens.refresh_token);
});

await step("the id_token's signature is one of the published keys'", async () => {
  const strict = await discovered("web", "web-secret", client.ClientSecretBasic("web-secret"));
  client.enableNonRepudiationChecks(strict);
  assert.ok((await signIn(strict, { prompt: "none", max_age: "3600" })).claims().auth_time);
});

await step("userinfo: of the same subject, with the claims of its scopes", async () => {
  const claims = await client.fetchUserInfo(web, tokens.access_token, SUBJECT);
  assert.equal(claims.name, "Alice Smith");
  assert.equal(claims.email, "alice@example.com");
});

await step("refresh: new tokens for the same subject", async () => {
  refreshed = await client.refreshTokenGrant(web, tokens.refresh_token);
  assert.notEqual(refreshed.access_token, tokens.access_token);
  assert.notEqual(refreshed.refresh_token, tokens.refresh_token);
  assert.equal(refreshed.claims().sub, SUBJECT);
});

await step("introspection: active for its client, inactive for another API", async () => {
  assert.equal((await client.tokenIntrospection(web, refreshed.access_token)).active, true);
  assert.deepEqual(await client.tokenIntrospection(api2, refreshed.access_token), { active: false });
});

await step("device: tokens once the person has allowed it", async () => {
  const tv = await discovered("tv", undefined, client.None());
  const codes = await client.initiateDeviceAuthorization(tv, { scope: "openid api1 offline_access" });
  const polling = client.pollDeviceAuthorizationGrant(tv, codes);
  await visit(codes.verification_uri_complete);
  const granted = await polling;
  assert.equal(granted.claims().sub, SUBJECT);
  assert.ok(granted.refresh_token);
});

await step("delegation: API 1 exchanges the token for one of its own", async () => {
  const delegated = await client.genericGrantRequest(api1, "delegation", {
    token: refreshed.access_token,
    scope: "api2",
  });
  const known = await client.tokenIntrospection(api2, delegated.access_token);
  assert.equal(known.sub, SUBJECT);
  assert.deepEqual(known.act, { sub: "api1" });
});

await step("a refresh token that comes again ends the whole family", async () => {
  await assert.rejects(client.refreshTokenGrant(web, tokens.refresh_token), refusedWith("invalid_grant", 400));
  assert.equal((await client.tokenIntrospection(web, refreshed.access_token)).active, false);
});

await step("revocation: the refresh token takes its grant with it", async () => {
  const fresh = await signIn(web, { prompt: "none" });
  await client.tokenRevocation(web, fresh.refresh_token);
  assert.equal((await client.tokenIntrospection(web, fresh.access_token)).active, false);
  await assert.rejects(client.refreshTokenGrant(web, fresh.refresh_token), refusedWith("invalid_grant"));
});

await step("form_post: the answer comes as a form", async () => {
  const { url, checks } = await begin(web, { prompt: "none", response_mode: "form_post" });
  const { form } = await visit(url);
  const posted = new Request(REDIRECT_URI, { method: "POST", body: form });
  tokens = await client.authorizationCodeGrant(web, posted, checks);
  assert.equal(tokens.claims().sub, SUBJECT);
});

await step("hybrid: the id_token beside the code has its hashes", async () => {
  const hybrid = await discovered("web", "web-secret", client.ClientSecretBasic("web-secret"));
  client.useCodeIdTokenResponseType(hybrid);
  assert.equal((await signIn(hybrid, { prompt: "none" })).claims().sub, SUBJECT);
});

await step("implicit: an id_token alone", async () => {
  const implicit = await discovered("web", "web-secret", client.ClientSecretBasic("web-secret"));
  client.useIdTokenResponseType(implicit);
  const { url, checks } = await begin(implicit, { prompt: "none", scope: "openid profile" });
  const { expectedNonce, expectedState } = checks;
  const answer = await visit(url);
  const claims = await client.implicitAuthentication(implicit, answer.url, expectedNonce, { expectedState });
  assert.equal(claims.sub, SUBJECT);
});

await step("a public client: PKCE alone, a reference token, userinfo", async () => {
  const issued = await signIn(spa, { prompt: "none", scope: "openid api1" });
  assert.match(issued.access_token, /^at_/);
  await client.fetchUserInfo(spa, issued.access_token, SUBJECT);
});

await step("client_credentials: a token that introspects as the machine's", async () => {
  const issued = await client.clientCredentialsGrant(machine, { scope: "api1" });
  assert.equal(issued.scope, "api1");
  assert.equal((await client.tokenIntrospection(machine, issued.access_token)).client_id, "machine");
});

await step("logout: ends the session and comes back with the state", async () => {
  const state = client.randomState();
  const url = client.buildEndSessionUrl(web, {
    id_token_hint: tokens.id_token,
    post_logout_redirect_uri: SIGNED_OUT,
    state,
  });
  assert.equal((await visit(url)).url.href, `${SIGNED_OUT}?state=${state}`);
  const again = await begin(web, { prompt: "none" });
  const answer = await visit(again.url);
  await assert.rejects(client.authorizationCodeGrant(web, answer.url, again.checks), refusedWith("login_required"));
});

await step("cancel: the refusal comes to the client", async () => {
  const { url, checks } = await begin(web);
  const answer = await visit(url, { cancel: "yes" });
  await assert.rejects(client.authorizationCodeGrant(web, answer.url, checks), refusedWith("access_denied"));
});

await step("a wrong code_verifier is invalid_grant", async () => {
  const { url, checks } = await begin(web);
  const answer = await visit(url);
  const wrong = { ...checks, pkceCodeVerifier: client.randomPKCECodeVerifier() };
  await assert.rejects(client.authorizationCodeGrant(web, answer.url, wrong), refusedWith("invalid_grant", 400));
});

await step("a wrong secret is invalid_client with 401", async () => {
  const wrong = await discovered("machine", "wrong", client.ClientSecretPost("wrong"));
  await assert.rejects(client.clientCredentialsGrant(wrong), refusedWith("invalid_client", 401));
});

await import("./signing.mjs");
await import("./encryption.mjs");
await import("./sealed_requests.mjs");
await import("./assurance.mjs");
await import("./ciba.mjs");
await import("./registration.mjs");
finish();

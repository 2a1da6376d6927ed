// Clients that register themselves (RFC 7591 §3.1, OpenID Connect Registration §3.1).

import assert from "node:assert/strict";
import * as client from "openid-client";
import { ISSUER, REDIRECT_URI, SUBJECT, refusedWith, signIn } from "./flow.mjs";
import { step } from "./steps.mjs";

const METADATA = {
  client_name: "A client that registered itself",
  redirect_uris: [REDIRECT_URI],
  grant_types: ["authorization_code", "refresh_token"],
  token_endpoint_auth_method: "client_secret_post",
};

const registered = (metadata, initialAccessToken = "interop-initial-access-token") =>
  client.dynamicClientRegistration(new URL(ISSUER), metadata, undefined, {
    initialAccessToken,
    execute: [client.allowInsecureRequests],
  });

await step("registration: a client that registered itself signs in and refreshes", async () => {
  const config = await registered(METADATA);
  const tokens = await signIn(config, { scope: "openid email offline_access", prompt: "consent" });
  assert.equal((await client.refreshTokenGrant(config, tokens.refresh_token)).claims().sub, SUBJECT);
});

await step("registration: what it registered for the identity token is so", async () => {
  const config = await registered({ ...METADATA, id_token_signed_response_alg: "RS256", subject_type: "public" });
  assert.equal(config.clientMetadata().id_token_signed_response_alg, "RS256");
  client.enableNonRepudiationChecks(config);
  assert.equal((await signIn(config, { scope: "openid" })).claims().sub, SUBJECT);
});

await step("registration: a wrong initial access token is refused", async () => {
  await assert.rejects(registered(METADATA, "wrong"), (thrown) => thrown.cause[0].parameters.error === "invalid_token");
});

await step("registration: a redirect URI with a fragment is refused by name", async () => {
  const bad = { ...METADATA, redirect_uris: [`${REDIRECT_URI}#fragment`] };
  await assert.rejects(registered(bad), refusedWith("invalid_redirect_uri", 400));
});

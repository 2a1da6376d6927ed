// The beginning of every flow: a client that knows its provider, and a request that its answer is checked against.

import assert from "node:assert/strict";
import * as client from "openid-client";
import { visit } from "./person.mjs";

export const { ISSUER } = process.env;
export const REDIRECT_URI = `${process.env.ERRANDS}/callback`;
export const SIGNED_OUT = `${process.env.ERRANDS}/signed-out`;
export const SUBJECT = "818727";

export const discovered = (client_id, secret, authentication) =>
  client.discovery(new URL(ISSUER), client_id, secret, authentication, { execute: [client.allowInsecureRequests] });

// An authorization request with everything that the answer is checked against.
export async function begin(config, parameters = {}, build = client.buildAuthorizationUrl) {
  const checks = {
    pkceCodeVerifier: client.randomPKCECodeVerifier(),
    expectedState: client.randomState(),
    expectedNonce: client.randomNonce(),
  };
  const url = await build(config, {
    redirect_uri: REDIRECT_URI,
    scope: "openid profile email api1 offline_access",
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: "S256",
    state: checks.expectedState,
    nonce: checks.expectedNonce,
    ...parameters,
  });
  return { url, checks };
}

// What `assert.rejects` asks of a refusal.
export const refusedWith = (error, status) => (thrown) => {
  assert.equal(thrown.error, error);
  if (status !== undefined) assert.equal(thrown.status, status);
  return true;
};

// The whole authorization code flow; whoever is not signed in yet signs in.
export async function signIn(config, parameters, build) {
  const { url, checks } = await begin(config, parameters, build);
  return client.authorizationCodeGrant(config, (await visit(url)).url, { ...checks, idTokenExpected: true });
}

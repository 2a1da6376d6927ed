// Clients that sign: assertions in place of a secret (RFC 7523 §2.2), and what they ask for (RFC 9101).

import assert from "node:assert/strict";
import * as client from "openid-client";
import { SUBJECT, discovered, refusedWith, signIn } from "./flow.mjs";
import { privateKey } from "./keys.mjs";
import { step } from "./steps.mjs";

const HMAC_SECRET = "web-with-hmac-secret-of-more-than-32-bytes";
const key = await privateKey("signing-key.json", "ECDSA", "sign");

const METHODS = {
  private_key_jwt: ["web-with-key", client.PrivateKeyJwt(key)],
  client_secret_jwt: ["web-with-hmac", client.ClientSecretJwt(HMAC_SECRET)],
};

for (const [method, [client_id, authentication]] of Object.entries(METHODS)) {
  await step(`${method}: at the token, introspection and revocation endpoints`, async () => {
    const config = await discovered(client_id, undefined, authentication);
    const tokens = await signIn(config);
    const { access_token, refresh_token } = await client.refreshTokenGrant(config, tokens.refresh_token);
    assert.equal((await client.tokenIntrospection(config, access_token)).sub, SUBJECT);
    await client.tokenRevocation(config, refresh_token);
    assert.equal((await client.tokenIntrospection(config, access_token)).active, false);
  });

  await step(`${method}: client_credentials`, async () => {
    const config = await discovered(client_id, undefined, authentication);
    assert.equal((await client.clientCredentialsGrant(config, { scope: "api1" })).scope, "api1");
  });

  await step(`${method}: an assertion for somebody else is refused`, async () => {
    const config = await discovered("machine", undefined, authentication);
    await assert.rejects(client.clientCredentialsGrant(config), refusedWith("invalid_client", 401));
  });
}

const inRequestObject = (config, parameters) => client.buildAuthorizationUrlWithJAR(config, parameters, key);

for (const client_id of ["web-with-key", "web-with-requests"]) {
  await step(`request object: signed, from ${client_id}`, async () => {
    const config = await discovered(client_id, undefined, client.PrivateKeyJwt(key));
    assert.equal((await signIn(config, {}, inRequestObject)).claims().sub, SUBJECT);
  });
}

// The same, but the provider has to fetch it (RFC 9101 §5.2).
async function atRequestUri(config, parameters) {
  const { searchParams } = await inRequestObject(config, parameters);
  const request_uri = `${process.env.ERRANDS}/request.jwt`;
  await fetch(request_uri, { method: "PUT", body: searchParams.get("request") });
  return client.buildAuthorizationUrl(config, { request_uri });
}

await step("request object: signed, at a registered request_uri", async () => {
  const config = await discovered("web-with-requests", undefined, client.PrivateKeyJwt(key));
  assert.equal((await signIn(config, {}, atRequestUri)).claims().sub, SUBJECT);
});

await step("request object: a client that signs everything gets nothing unsigned", async () => {
  const config = await discovered("web-with-requests", undefined, client.PrivateKeyJwt(key));
  await assert.rejects(signIn(config), refusedWith("invalid_request"));
});

// Requests that are pushed, answers that are signed, and tokens that are bound to a key (RFC 9126, JARM, RFC 9449).

import assert from "node:assert/strict";
import * as client from "openid-client";
import { REDIRECT_URI, SUBJECT, begin, discovered, refusedWith, signIn } from "./flow.mjs";
import { privateKey } from "./keys.mjs";
import { visit } from "./person.mjs";
import { step } from "./steps.mjs";

const signing = await privateKey("signing-key.json", "ECDSA", "sign");
const decrypting = await privateKey("encryption-key.json", "ECDH", "deriveBits");

await step("PAR: the browser carries a name of the request only", async () => {
  const config = await discovered("web", "web-secret", client.ClientSecretBasic("web-secret"));
  const { url } = await begin(config, {}, client.buildAuthorizationUrlWithPAR);
  assert.deepEqual([...url.searchParams.keys()].sort(), ["client_id", "request_uri"]);
  assert.equal((await signIn(config, {}, client.buildAuthorizationUrlWithPAR)).claims().sub, SUBJECT);
});

await step("PAR: a wrong request is refused at once", async () => {
  const config = await discovered("web", "web-secret", client.ClientSecretBasic("web-secret"));
  const wrong = begin(config, { scope: "unknown" }, client.buildAuthorizationUrlWithPAR);
  await assert.rejects(wrong, refusedWith("invalid_scope", 400));
});

const parametersIn = {
  "jwt": ({ url }) => url.searchParams,
  "query.jwt": ({ url }) => url.searchParams,
  "fragment.jwt": ({ url }) => new URLSearchParams(url.hash.slice(1)),
  "form_post.jwt": ({ form }) => form,
};

for (const [response_mode, find] of Object.entries(parametersIn)) {
  await step(`JARM: the answer to ${response_mode} is a valid JWT`, async () => {
    const config = await discovered("web", "web-secret", client.ClientSecretBasic("web-secret"));
    client.useJwtResponseMode(config);
    client.enableNonRepudiationChecks(config);
    const { url, checks } = await begin(config);
    assert.equal(url.searchParams.get("response_mode"), "jwt");
    url.searchParams.set("response_mode", response_mode);
    const parameters = find(await visit(url));
    assert.deepEqual([...parameters.keys()], ["response"]);
    // The library itself asks for `jwt` alone, and reads the query.
    const read = new URL(`${REDIRECT_URI}?${parameters}`);
    assert.equal((await client.authorizationCodeGrant(config, read, checks)).claims().sub, SUBJECT);
  });
}

await step("JARM: a refusal is a valid JWT, too", async () => {
  const config = await discovered("web", "web-secret", client.ClientSecretBasic("web-secret"));
  client.useJwtResponseMode(config);
  const { url, checks } = await begin(config, { scope: "openid unknown" });
  const answer = await visit(url);
  assert.ok(answer.url.searchParams.has("response"));
  await assert.rejects(client.authorizationCodeGrant(config, answer.url, checks), refusedWith("invalid_scope"));
});

await step("JARM: an answer that only this client can read", async () => {
  const config = await discovered("web-sealed", {}, client.PrivateKeyJwt(signing));
  client.useJwtResponseMode(config);
  client.enableDecryptingResponses(config, ["A256GCM"], decrypting);
  const { url, checks } = await begin(config, { scope: "openid email" });
  const answer = await visit(url);
  assert.equal(answer.url.searchParams.get("response").split(".").length, 5);
  assert.equal((await client.authorizationCodeGrant(config, answer.url, checks)).claims().sub, SUBJECT);
});

await step("DPoP: code, refresh and userinfo by proofs with the service's nonces", async () => {
  const config = await discovered("web-assured", undefined, client.PrivateKeyJwt(signing));
  client.useJwtResponseMode(config);
  const DPoP = client.getDPoPHandle(config, await client.randomDPoPKeyPair("ES256"));
  const push = (...request) => client.buildAuthorizationUrlWithPAR(...request, { DPoP });
  const { url, checks } = await begin(config, {}, push);
  let tokens = await client.authorizationCodeGrant(config, (await visit(url)).url, checks, undefined, { DPoP });
  assert.equal(tokens.token_type, "dpop");
  tokens = await client.refreshTokenGrant(config, tokens.refresh_token, undefined, { DPoP });
  assert.equal((await client.fetchUserInfo(config, tokens.access_token, SUBJECT, { DPoP })).name, "Alice Smith");
  const known = await client.tokenIntrospection(config, tokens.access_token);
  assert.deepEqual([known.token_type, known.cnf.jkt], ["DPoP", await DPoP.calculateThumbprint()]);
});

await step("DPoP: a token is worth nothing with another key, or without", async () => {
  const config = await discovered("web-assured", undefined, client.PrivateKeyJwt(signing));
  const own = client.getDPoPHandle(config, await client.randomDPoPKeyPair("ES256"));
  const other = client.getDPoPHandle(config, await client.randomDPoPKeyPair("PS256"));
  const { access_token } = await client.clientCredentialsGrant(config, { scope: "api1" }, { DPoP: own });
  for (const options of [{ DPoP: other }, {}]) {
    const thrown = await client.fetchUserInfo(config, access_token, client.skipSubjectCheck, options).catch((e) => e);
    const named = thrown.cause.map(({ parameters }) => parameters.error).filter(Boolean);
    assert.deepEqual(named, ["invalid_token"]);
  }
});

await step("DPoP: a client that has to prove its key gets nothing without a proof", async () => {
  const config = await discovered("web-assured", undefined, client.PrivateKeyJwt(signing));
  await assert.rejects(client.clientCredentialsGrant(config, { scope: "api1" }), refusedWith("invalid_dpop_proof", 400));
});

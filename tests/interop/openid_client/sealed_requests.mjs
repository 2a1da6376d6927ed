// Request objects that only the provider can read, by jose: every algorithm that discovery names (OIDC Core §6.1, §10.2, RFC 9101 §4).

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as jose from "jose";
import * as client from "openid-client";
import { ISSUER, REDIRECT_URI, SUBJECT, discovered, refusedWith, signIn } from "./flow.mjs";
import { step } from "./steps.mjs";

const ENCODE = new TextEncoder();
const CLIENT = "web-with-hmac";
const SECRET = "web-with-hmac-secret-of-more-than-32-bytes";
const OCTETS = {
  A128KW: 16,
  A256KW: 32,
  "A128CBC-HS256": 32,
  "A192CBC-HS384": 48,
  "A256CBC-HS512": 64,
  A128GCM: 16,
  A192GCM: 24,
  A256GCM: 32,
};
const HASHES = { 16: "sha256", 24: "sha256", 32: "sha256", 48: "sha384", 64: "sha512" };
const config = await discovered(CLIENT, undefined, client.ClientSecretJwt(SECRET));
const metadata = config.serverMetadata();
const algorithms = metadata.request_object_encryption_alg_values_supported;
const encs = metadata.request_object_encryption_enc_values_supported;
const { keys } = await (await fetch(metadata.jwks_uri)).json();
const published = (alg) => keys.find((key) => key.use === "enc" && key.alg === alg);

// The secret's hash, cut to what the algorithm needs (OIDC Core §10.2).
function ofSecret(alg, enc) {
  const length = OCTETS[alg] ?? OCTETS[enc];
  return createHash(HASHES[length]).update(SECRET).digest().subarray(0, length);
}

const USUAL = {
  client_id: CLIENT,
  response_type: "code",
  redirect_uri: REDIRECT_URI,
  scope: "openid",
  code_challenge: await client.calculatePKCECodeChallenge(client.randomPKCECodeVerifier()),
  code_challenge_method: "S256",
};

const signed = (parameters) =>
  new jose.SignJWT({ ...USUAL, ...parameters })
    .setProtectedHeader({ alg: "HS256", typ: "oauth-authz-req+jwt" })
    .setIssuer(CLIENT)
    .setAudience(ISSUER)
    .setIssuedAt()
    .setExpirationTime("1 minute")
    .sign(ENCODE.encode(SECRET));

const encrypted = (text, header, key) =>
  new jose.CompactEncrypt(ENCODE.encode(text)).setProtectedHeader({ cty: "JWT", ...header }).encrypt(key);

// To the published key, named or not, or by the secret.
async function sealed(alg, enc, { parameters, named = true } = {}) {
  const jwk = published(alg);
  const header = { alg, enc, ...(named && jwk ? { kid: jwk.kid } : {}) };
  return encrypted(await signed(parameters), header, jwk ? await jose.importJWK(jwk, alg) : ofSecret(alg, enc));
}

// Pushed, so that the answer says whether the service could read it.
const push = (request) => client.buildAuthorizationUrlWithPAR(config, { request });

const refused = async (...request) => {
  for (const one of request) await assert.rejects(push(one), refusedWith("invalid_request_object", 400));
};

for (const alg of algorithms) {
  await step(`sealed request: ${alg} with each of ${encs.length} content encryptions, with and without kid`, async () => {
    for (const enc of encs) {
      for (const named of [true, false]) {
        assert.ok((await push(await sealed(alg, enc, { named }))).searchParams.get("request_uri"));
      }
    }
  });
}

await step("sealed request: the person signs in", async () => {
  const sealing = async (asking, parameters) => {
    const request = await sealed("ECDH-ES", "A256GCM", { parameters });
    return client.buildAuthorizationUrl(asking, { request, scope: "openid" });
  };
  assert.equal((await signIn(config, { scope: "openid" }, sealing)).claims().sub, SUBJECT);
});

await step("sealed request: one for another key, or by another secret, is refused", async () => {
  const text = await signed();
  const enc = "A128GCM";
  const { publicKey } = await jose.generateKeyPair("ECDH-ES");
  const { kid } = published("ECDH-ES");
  const rsa = { ...published("RSA-OAEP-256"), alg: undefined };
  await refused(
    await encrypted(text, { alg: "ECDH-ES", enc, kid }, publicKey),
    await encrypted(text, { alg: "ECDH-ES", enc }, publicKey),
    await encrypted(text, { alg: "ECDH-ES", enc, kid: rsa.kid }, await jose.importJWK(published("ECDH-ES"), "ECDH-ES")),
    await encrypted(text, { alg: "RSA-OAEP-384", enc, kid: rsa.kid }, await jose.importJWK(rsa, "RSA-OAEP-384")),
    await encrypted(text, { alg: "dir", enc }, crypto.getRandomValues(new Uint8Array(16))),
  );
});

await step("sealed request: compression and passwords are refused before any work", async () => {
  const bomb = " ".repeat(20_000_000);
  const key = await jose.importJWK(published("ECDH-ES"), "ECDH-ES");
  const compressed = await encrypted(bomb, { alg: "ECDH-ES", enc: "A128GCM", zip: "DEF" }, key);
  const password = { alg: "PBES2-HS256+A128KW", enc: "A128GCM", p2s: "c2FsdHNhbHQ", p2c: 2 ** 31 - 1 };
  const [, ...parts] = (await sealed("A128KW", "A128GCM")).split(".");
  const slow = [jose.base64url.encode(JSON.stringify(password)), ...parts].join(".");
  const began = performance.now();
  await refused(compressed, slow);
  assert.ok(performance.now() - began < 2000);
});

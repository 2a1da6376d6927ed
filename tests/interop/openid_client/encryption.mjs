// A client for which everything is signed, and then encrypted to its key (OIDC Core §10.2, §5.3.2).

import assert from "node:assert/strict";
import * as client from "openid-client";
import { SUBJECT, discovered, signIn } from "./flow.mjs";
import { privateKey } from "./keys.mjs";
import { step } from "./steps.mjs";

const signing = await privateKey("signing-key.json", "ECDSA", "sign");
const decrypting = await privateKey("encryption-key.json", "ECDH", "deriveBits");
const metadata = { userinfo_signed_response_alg: "RS256" };
let config, tokens;

await step("encryption: an identity token that only this client can read", async () => {
  config = await discovered("web-sealed", metadata, client.PrivateKeyJwt(signing));
  client.enableDecryptingResponses(config, ["A256GCM"], decrypting);
  client.enableNonRepudiationChecks(config);
  tokens = await signIn(config, { scope: "openid email" });
  assert.equal(tokens.id_token.split(".").length, 5);
  assert.equal(tokens.claims().sub, SUBJECT);
});

await step("encryption: userinfo that only this client can read", async () => {
  assert.equal((await client.fetchUserInfo(config, tokens.access_token, SUBJECT)).email, "alice@example.com");
});

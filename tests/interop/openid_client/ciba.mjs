// Authentication that the person confirms elsewhere (CIBA Core): asked for here, allowed in the person's own browser, polled for here.

import assert from "node:assert/strict";
import * as client from "openid-client";
import { ISSUER, SUBJECT, discovered, refusedWith } from "./flow.mjs";
import { visit } from "./person.mjs";
import { step } from "./steps.mjs";

const config = await discovered("till", "till-secret", client.ClientSecretBasic("till-secret"));

await step("CIBA: the person allows it elsewhere, and polling brings tokens", async () => {
  const asked = await client.initiateBackchannelAuthentication(config, {
    scope: "openid api1 offline_access",
    login_hint: "alice",
    binding_message: "receipt 4711",
  });
  assert.ok(asked.expires_in > 0);
  const polling = client.pollBackchannelAuthenticationGrant(config, asked);
  await visit(`${ISSUER}/account/requests/${asked.auth_req_id.slice(3, 19)}`);
  const tokens = await polling;
  assert.equal(tokens.claims().sub, SUBJECT);
  assert.equal((await client.refreshTokenGrant(config, tokens.refresh_token)).claims().sub, SUBJECT);
});

await step("CIBA: a user whom nobody knows is refused at once", async () => {
  const wrong = client.initiateBackchannelAuthentication(config, { scope: "openid", login_hint: "nobody" });
  await assert.rejects(wrong, refusedWith("unknown_user_id", 400));
});

await step("CIBA: what the person has not allowed yet cannot be had", async () => {
  const asked = await client.initiateBackchannelAuthentication(config, { scope: "openid", login_hint: "alice" });
  const poll = client.genericGrantRequest(config, "urn:openid:params:grant-type:ciba", { auth_req_id: asked.auth_req_id });
  await assert.rejects(poll, refusedWith("authorization_pending", 400));
});

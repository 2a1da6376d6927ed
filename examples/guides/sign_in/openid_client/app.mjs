// A web application in Express that signs people in and out with openid-client (OIDC Core §3.1, RFC 7636).
//
// npm install
// npm start
import { randomBytes } from "node:crypto";
import express from "express";
import session from "express-session";
import * as client from "openid-client";

const ISSUER = new URL("http://localhost:8080");
const APPLICATION = "http://localhost:3000";
const { SESSION_KEY = randomBytes(32).toString("hex") } = process.env; // the same in every process

const service = await client.discovery(ISSUER, "web", "web-secret", undefined, {
  execute: ISSUER.protocol === "http:" ? [client.allowInsecureRequests] : [],
});

const app = express();
app.use(session({ secret: SESSION_KEY, resave: false, saveUninitialized: false, cookie: { sameSite: "lax" } }));

app.get("/", async (request, response) => {
  if (request.session.person) {
    return response.json(request.session.person);
  }
  const verifier = client.randomPKCECodeVerifier();
  const checks = { state: client.randomState(), nonce: client.randomNonce() };
  request.session.checks = { verifier, ...checks };
  response.redirect(client.buildAuthorizationUrl(service, {
    redirect_uri: `${APPLICATION}/callback`,
    scope: "openid profile email",
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...checks,
  }).href);
});

app.get("/callback", async (request, response) => {
  const { verifier, state, nonce } = request.session.checks ?? {};
  const tokens = await client.authorizationCodeGrant(service, new URL(request.originalUrl, APPLICATION), {
    pkceCodeVerifier: verifier,
    expectedState: state,
    expectedNonce: nonce,
  });
  const { sub } = tokens.claims();
  const { name } = await client.fetchUserInfo(service, tokens.access_token, sub);
  request.session.regenerate(() => { // a new session id for who has signed in
    request.session.person = { subject: sub, name, signOut: "/logout" };
    request.session.idToken = tokens.id_token;
    response.redirect("/");
  });
});

app.get("/logout", (request, response) => { // here, and at the service (RP-Initiated Logout 1.0 §2)
  const { idToken } = request.session;
  request.session.destroy(() => response.redirect(client.buildEndSessionUrl(service, {
    post_logout_redirect_uri: `${APPLICATION}/`,
    ...(idToken && { id_token_hint: idToken }),
  }).href));
});

app.listen(3000, "localhost");

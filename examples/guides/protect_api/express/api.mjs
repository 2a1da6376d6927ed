// An API in Express that accepts access tokens for api1 (RFC 9068, RFC 6750).
//
// npm install
// npm start
import express from "express";
import { auth, requiredScopes } from "express-oauth2-jwt-bearer";

const app = express();

// Finds the keys by the issuer's metadata; `strict` accepts nothing but at+jwt, so no ID token.
app.use(auth({ issuerBaseURL: "http://localhost:8080", audience: "api1", strict: true }));

app.get("/", requiredScopes("api1"), (request, response) => {
  const { sub, client_id } = request.auth.payload;
  response.json({ subject: sub, client: client_id });
});

// What goes wrong has its status and challenge already (RFC 6750 §3).
app.use((error, request, response, next) => {
  response.status(error.status ?? 500).set(error.headers ?? {}).json({ error: error.code });
});

app.listen(3001, "localhost");

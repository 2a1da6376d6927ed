// A webhook: verifies each event with the library of Standard Webhooks, and reads it with the SDK of CloudEvents.
import { createServer } from "node:http";
import { once } from "node:events";
import { HTTP } from "cloudevents";
import { Webhook } from "standardwebhooks";

const { ISSUER, WEBHOOK } = process.env;
const NEW = "whsec_aW50ZXJvcCBzZWNyZXQgb2YgMjQgYnl0ZXMuLi4=";
const OLD = "whsec_dGhlIHNlY3JldCBiZWZvcmUgdGhlIG5ldyBvbmU=";
const ANOTHER = "whsec_bm9ib2R5IGhhcyBzaWduZWQgd2l0aCB0aGlzIG9uZQ==";
let failed = 0;

function check(what, holds) {
  console.log(holds ? `  ok    ${what}` : `  FAIL  ${what}`);
  failed += holds ? 0 : 1;
}

function verifies(secret, { body, headers }) {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

const came = [];
const statuses = [503, 204];
const server = createServer(async (request, response) => {
  const parts = [];
  for await (const part of request) parts.push(part);
  const body = Buffer.concat(parts).toString();
  const isOurs = body.includes('"client_id":"announced"'); // others have made events before
  if (isOurs) came.push({ headers: request.headers, body });
  response.writeHead(isOurs ? (statuses.shift() ?? 204) : 204).end();
  server.emit("event");
});
server.listen(new URL(WEBHOOK).port, "127.0.0.1");
await once(server, "listening");

const answer = await fetch(`${ISSUER}/connect/token`, {
  method: "POST",
  headers: { Authorization: `Basic ${btoa("announced:announced-secret")}` },
  body: new URLSearchParams({ grant_type: "client_credentials", scope: "api1" }),
});
check("a client gets a token", answer.status === 200);
while (came.length < 2) await once(server, "event", { signal: AbortSignal.timeout(30_000) });

const [first, again] = came;
check("the event that was not accepted comes again with its id", first.headers["webhook-id"] === again.headers["webhook-id"]);
check("the signature of the new secret verifies", verifies(NEW, again));
check("the signature of the old secret verifies", verifies(OLD, again));
check("that of another secret does not", !verifies(ANOTHER, again));
check("nor does that of another body", !verifies(NEW, { ...again, body: again.body.replace("announced", "unannounced") }));
const event = HTTP.toEvent({ headers: again.headers, body: again.body });
event.validate();
check("the SDK of CloudEvents reads it", event.type === "token_issued" && event.source === ISSUER);
check("it has the members of the audit event", event.data.client_id === "announced" && event.data.scope[0] === "api1");
check("the request is the one in the log", event.requestid === answer.headers.get("x-request-id"));
server.close();
server.closeAllConnections();
process.exit(failed ? 1 : 0);

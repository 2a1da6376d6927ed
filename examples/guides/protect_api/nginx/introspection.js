// Asks the token service about the token of a request (RFC 7662), for nginx's auth_request.
async function check(r) {
  const token = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(r.headersIn.Authorization || "");
  if (token === null) {
    return refuse(r, "Bearer");
  }
  const answer = await r.subrequest("/_token_service", {
    method: "POST",
    body: `token=${encodeURIComponent(token[1])}`,
  });
  if (answer.status !== 200) {
    return r.return(500); // the token service is away, or does not know this API: nobody gets in
  }
  const claims = JSON.parse(answer.responseText);
  if (!claims.active) {
    return refuse(r, 'Bearer error="invalid_token"');
  }
  r.headersOut["Token-Subject"] = claims.sub;
  r.headersOut["Token-Client"] = claims.client_id;
  r.return(204);
}

function refuse(r, challenge) {
  r.headersOut["WWW-Authenticate"] = challenge;
  r.return(401);
}

export default { check };

-- Asks the token service about a request: its status, the challenge, and what the API may be told become variables.
core.register_action("check", { "http-req" }, function(txn, url, origin)
  local came, sent = txn.http:req_get_headers(), {}
  for _, name in ipairs({ "authorization", "dpop" }) do
    for _, value in pairs(came[name] or {}) do
      sent[name] = sent[name] or {}
      table.insert(sent[name], value)
    end
  end
  sent["x-original-method"] = { txn.f:method() }
  sent["x-original-url"] = { origin .. txn.f:pathq() }
  if txn.f:ssl_fc() == 1 and txn.f:ssl_c_used() == 1 then
    sent["client-cert"] = { ":" .. txn.c:base64(txn.f:ssl_c_der()) .. ":" }
  end
  local answer = core.httpclient():get({ url = url, headers = sent, timeout = 5000 })
  txn:set_var("txn.status", answer and answer.status or 503)
  local told = answer and answer.headers or {}
  for variable, name in pairs({
    challenge = "www-authenticate", subject = "x-token-subject", client = "x-token-client", scope = "x-token-scope",
    authorization = "authorization", txn_token = "txn-token", dpop_nonce = "dpop-nonce",
  }) do
    txn:set_var("txn." .. variable, told[name] and told[name][0] or "")
  end
end, 2)

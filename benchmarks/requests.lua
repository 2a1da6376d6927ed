-- The requests of a benchmark: arguments are the Authorization header, a body, a file of bodies used once each (a DPoP
-- proof and a cookie may follow, each behind a tab), whether they begin again, a cookie, and whether they are queries.
local bodies, position, fixed, again, queries = {}, 0, nil, false, false

function init(args)
   if args[1] and args[1] ~= "" then wrk.headers["Authorization"] = args[1] end
   if args[5] and args[5] ~= "" then wrk.headers["Cookie"] = args[5] end
   queries = args[6] == "queries"
   if args[3] and args[3] ~= "" then
      for line in io.lines(args[3]) do bodies[#bodies + 1] = line end
   end
   if not queries and (#bodies > 0 or (args[2] and args[2] ~= "")) then
      wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
      wrk.method, wrk.body = "POST", args[2]
   end
   again = args[4] == "in turns"
   if #bodies == 0 then fixed = wrk.format() end
end

function request()
   if fixed then return fixed end
   position = again and position % #bodies + 1 or position + 1
   local body, proof, cookie = (bodies[position] or "used=up"):match("^([^\t]*)\t?([^\t]*)\t?(.*)$")
   if proof ~= "" then wrk.headers["DPoP"] = proof end
   if cookie ~= "" then wrk.headers["Cookie"] = cookie end
   if queries then return wrk.format(nil, wrk.path .. "?" .. body) end
   return wrk.format(nil, nil, nil, body)
end

-- The requests of a benchmark: arguments are the Authorization header, a body, a file of bodies used once each (a DPoP
-- proof may follow behind a tab), and whether they begin again.
local bodies, position, fixed, again = {}, 0, nil, false

function init(args)
   if args[1] and args[1] ~= "" then wrk.headers["Authorization"] = args[1] end
   if args[3] and args[3] ~= "" then
      for line in io.lines(args[3]) do bodies[#bodies + 1] = line end
   end
   if #bodies > 0 or (args[2] and args[2] ~= "") then
      wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
      wrk.method, wrk.body = "POST", args[2]
   end
   again = args[4] == "in turns"
   if #bodies == 0 then fixed = wrk.format() end
end

function request()
   if fixed then return fixed end
   position = again and position % #bodies + 1 or position + 1
   local body, proof = (bodies[position] or "used=up"):match("^([^\t]*)\t?(.*)$")
   if proof ~= "" then wrk.headers["DPoP"] = proof end
   return wrk.format(nil, nil, nil, body)
end

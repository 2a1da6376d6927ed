// A web application in Express that signs people in with Auth.js.
//
// npm install
// AUTH_SECRET=$(openssl rand -hex 32) npm start
import { ExpressAuth, getSession } from "@auth/express";
import { getToken } from "@auth/core/jwt";
import express from "express";
import { settings, signOutUrl } from "./token-service.mjs";

const app = express();
app.use("/auth", ExpressAuth(settings));

app.get("/", async (request, response) => {
  const session = await getSession(request, settings);
  if (!session) {
    return response.redirect("/auth/signin");
  }
  response.json({ subject: session.user.subject, name: session.user.name, signOut: "/logout" });
});

app.get("/logout", async (request, response) => {
  const token = await getToken({ req: request, secret: settings.secret });
  response.redirect(signOutUrl(token, "http://localhost:3000/"));
});

app.listen(3000, "localhost");

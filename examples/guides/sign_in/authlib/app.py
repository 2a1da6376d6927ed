"""A web application in FastAPI that signs people in and out with Authlib (OIDC Core §3.1, RFC 7636).

pip install fastapi uvicorn authlib httpx2 itsdangerous
uvicorn --host localhost --port 3000 app:app
"""

from __future__ import annotations

import os

from authlib.integrations.starlette_client import OAuth
from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse, Response
from starlette.middleware.sessions import SessionMiddleware

app = FastAPI()
# The session is in a signed cookie: the key has to be secret, and the same in every process.
app.add_middleware(
    SessionMiddleware, secret_key=os.environ.get("SESSION_KEY", os.urandom(32).hex())
)

oauth = OAuth()
oauth.register(
    "token_service",
    server_metadata_url="http://localhost:8080/.well-known/openid-configuration",
    client_id="web",
    client_secret="web-secret",
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)


@app.get("/", response_model=None)
async def show_person(request: Request) -> dict[str, str] | Response:
    """Show the signed-in user, or sign in first."""
    person = request.session.get("person")
    if person is None:
        return await oauth.token_service.authorize_redirect(request, request.url_for("callback"))
    return {"subject": person["sub"], "name": person["name"], "sign_out": "/logout"}


@app.get("/callback", name="callback")
async def callback(request: Request) -> Response:
    """Redeem the code; Authlib checks state, nonce and the ID token."""
    tokens = await oauth.token_service.authorize_access_token(request)
    request.session["person"] = await oauth.token_service.userinfo(token=tokens)
    request.session["id_token"] = tokens["id_token"]
    return RedirectResponse("/")


@app.get("/logout")
async def sign_out(request: Request) -> Response:
    """Sign out here and at the service (RP-Initiated Logout 1.0 §2), and come back."""
    id_token = request.session.get("id_token")
    request.session.clear()
    return await oauth.token_service.logout_redirect(request, "http://localhost:3000/", id_token)

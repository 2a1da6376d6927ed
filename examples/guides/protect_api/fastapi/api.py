"""An API in FastAPI that accepts access tokens for api1 (RFC 9068, RFC 6750).

pip install fastapi uvicorn 'pyjwt[crypto]'
uvicorn --port 3001 api:app
"""

from __future__ import annotations

from typing import Annotated, Any

import jwt
from fastapi import Depends, FastAPI, HTTPException
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

ISSUER = "http://localhost:8080"
AUDIENCE = "api1"
SCOPE = "api1"

app = FastAPI()
signing_keys = jwt.PyJWKClient(f"{ISSUER}/.well-known/jwks.json")  # fetched once, and for a new kid
Bearer = Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]


def refuse(status: int, error: str) -> HTTPException:
    """Say in the header what is wrong with the token (RFC 6750 §3)."""
    return HTTPException(status, error, {"WWW-Authenticate": f'Bearer error="{error}"'})


def verified_claims(bearer: Bearer) -> dict[str, Any]:
    """Return the claims of an access token of the issuer for this API (RFC 9068 §4)."""
    if bearer is None:
        raise HTTPException(401, "unauthorized", {"WWW-Authenticate": "Bearer"})
    try:
        token = jwt.decode_complete(
            bearer.credentials,
            signing_keys.get_signing_key_from_jwt(bearer.credentials),
            algorithms=["RS256", "ES256"],
            issuer=ISSUER,
            audience=AUDIENCE,
            options={"require": ["exp", "sub", "client_id"]},
        )
    except jwt.PyJWTError as error:
        raise refuse(401, "invalid_token") from error
    if token["header"].get("typ") != "at+jwt":  # an ID token is no access token
        raise refuse(401, "invalid_token")
    claims: dict[str, Any] = token["payload"]
    if SCOPE not in claims.get("scope", "").split():
        raise refuse(403, "insufficient_scope")
    return claims


@app.get("/")
def show_caller(claims: Annotated[dict[str, Any], Depends(verified_claims)]) -> dict[str, str]:
    """Say who calls."""
    return {"subject": claims["sub"], "client": claims["client_id"]}

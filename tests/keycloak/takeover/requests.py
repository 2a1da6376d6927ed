"""Requests of clients of the realm without a browser, in the same words at Keycloak and here."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx2
from joserfc import jwt
from joserfc.jwk import OctKey

from tests.driving.service import claims_in, header_of
from tests.keycloak.takeover.parties import (
    HMAC_SECRET,
    Addresses,
    password_of,
    secret_of,
    signer_key,
)

ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
OF_ONE_TOKEN = frozenset(
    {
        *(
            "exp",
            "iat",
            "nbf",
            "jti",
            "auth_time",
            "sid",
            "session_state",
            "nonce",
            "at_hash",
            "s_hash",
        ),
        *("acr", "amr", "idp", "scope", "client_id", "aud", "allowed-origins", "typ", "azp"),
    }
)
"""Claims that no two tokens share, or that docs/migrating.md names as changed."""


OF_AN_ACCOUNT = ("resource_access", "realm_access", "preferred_username", "clientId", "plan")
"""Claims by which APIs know and judge a service account."""


def facts(claims: Mapping[str, Any]) -> dict[str, Any]:
    """The claims that an application reads of a user, in one order."""
    kept = {name: value for name, value in claims.items() if name not in OF_ONE_TOKEN}
    ordered: dict[str, Any] = _ordered(kept)
    return ordered


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(each) for key, each in sorted(value.items())}
    return sorted(value) if isinstance(value, list) else value


@dataclass
class Server:
    """The realm, at either server."""

    at: Addresses
    http: httpx2.Client = field(default_factory=lambda: httpx2.Client(timeout=120))

    def token(self, client: str | None, **form: str) -> tuple[int, dict[str, Any]]:
        """A token request by a client with a secret."""
        auth = (client, secret_of(client)) if client else httpx2.USE_CLIENT_DEFAULT
        answer = self.http.post(self.at.endpoint("token"), data=form, auth=auth)
        return answer.status_code, answer.json()

    def granted(self, client: str | None, **form: str) -> dict[str, Any]:
        """The response to a token request that is granted."""
        status, answer = self.token(client, **form)
        assert status == httpx2.codes.OK, answer
        return answer

    def sign_in(self, name: str, **form: str) -> dict[str, Any]:
        """Tokens by the password grant."""
        usual = {"grant_type": "password", "scope": "openid department to-stock"}
        usual |= {"username": name, "password": password_of(name)}
        return self.granted("passwords", **usual | form)

    def introspect(self, client: str, token: str) -> dict[str, Any]:
        """The introspection response."""
        url, auth = self.at.endpoint("token/introspect"), (client, secret_of(client))
        answer: dict[str, Any] = self.http.post(url, data={"token": token}, auth=auth).json()
        return answer

    def userinfo(self, token: str) -> tuple[int, dict[str, Any]]:
        """The userinfo response, whose body counts only where it is one."""
        headers = {"Authorization": f"Bearer {token}"}
        answer = self.http.get(self.at.endpoint("userinfo"), headers=headers)
        return answer.status_code, facts(answer.json()) if answer.is_success else {}


def signs_in(server: Server, name: str = "alice") -> object:
    """Tokens and userinfo of a user; an ID token comes by the password grant at Keycloak only."""
    tokens = server.sign_in(name)
    access = claims_in(tokens["access_token"])
    assert access["azp"] == "passwords"
    assert "stock" in access["aud"]
    typ = header_of(tokens["access_token"])["typ"], access["typ"]
    return typ, facts(access), server.userinfo(tokens["access_token"])


def is_refused(server: Server) -> object:
    """A wrong password, an unknown user, a disabled user, and a wrong secret; Keycloak's status of most is 401."""
    form = {"grant_type": "password", "scope": "openid"}
    answers = [
        server.token("passwords", username=name, password=password, **form)
        for name, password in (
            ("alice", "wrong"),
            ("nobody", password_of("alice")),
            ("erin", password_of("erin")),
        )
    ]
    form = {"grant_type": "client_credentials", "client_id": "machine", "client_secret": "wrong"}
    answers.append(server.token(None, **form))
    return [(status in {400, 401}, answer["error"] != "server_error") for status, answer in answers]


def refreshes(server: Server) -> object:
    """A refresh token without offline_access, and the end of it by revocation."""
    first = server.sign_in("alice")
    form = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    second = server.granted("passwords", **form)
    auth = ("passwords", secret_of("passwords"))
    token = second["refresh_token"]
    revoked = server.http.post(server.at.endpoint("revoke"), data={"token": token}, auth=auth)
    again = server.token("passwords", grant_type="refresh_token", refresh_token=token)
    return (
        facts(claims_in(second["access_token"])),
        revoked.status_code,
        again[1]["error"],
    )


def acts_for_itself(server: Server) -> object:
    """A service account, whose secret may be in the header or in the form."""
    form = {"grant_type": "client_credentials", "scope": "to-orders"}
    in_form = {"client_id": "machine", "client_secret": secret_of("machine")}
    tokens = [server.granted("machine", **form), server.granted(None, **form, **in_form)]
    return [_own_facts(each) for each in tokens]


def _own_facts(tokens: Mapping[str, Any]) -> object:
    claims = claims_in(tokens["access_token"])
    return "orders" in claims["aud"], [_ordered(claims.get(each)) for each in OF_AN_ACCOUNT]


def asserts(server: Server, client: str) -> object:
    """A client with a key, or with a secret that only signs."""
    claims: dict[str, Any] = {
        "iss": client,
        "sub": client,
        "aud": server.at.issuer,
        "jti": f"{client}-{time.time()}",
    }
    claims |= {"iat": int(time.time()), "exp": int(time.time()) + 50}
    if client == "signer":
        assertion = jwt.encode({"alg": "ES256", "kid": "signer-1"}, claims, signer_key())
    else:
        assertion = jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(HMAC_SECRET))
    form = {"client_assertion_type": ASSERTION, "client_assertion": assertion}
    status, answer = server.token(None, grant_type="client_credentials", scope="to-orders", **form)
    return status, answer.get("token_type")


def exchanges(server: Server) -> object:
    """A token of a user's for the next API, by the API that it was for; and its introspection."""
    token = server.sign_in("alice")["access_token"]
    form = {"subject_token": token, "subject_token_type": ACCESS_TOKEN, "scope": "to-orders"}
    exchanged = server.granted("stock", grant_type=EXCHANGE, **form)["access_token"]
    claims, active = claims_in(exchanged), server.introspect("stock", token)
    assert "orders" in claims["aud"]
    read = [active[name] for name in ("active", "sub", "username", "realm_access", "department")]
    return (
        claims["sub"],
        _ordered(read[3]),
        [*read[:3], read[4]],
        server.introspect("orders", exchanged)["active"],
    )


def keeps_its_keys(server: Server) -> list[str]:
    """The keys that tokens of Keycloak are verified by."""
    keys = server.http.get(server.at.endpoint("certs")).json()["keys"]
    return sorted(key["kid"] for key in keys if key["use"] == "sig")


REQUESTS: Mapping[str, Callable[[Server], object]] = {
    "a user's tokens and userinfo": signs_in,
    "a password of PBKDF2 with SHA-1": lambda server: signs_in(server, "dave"),
    "sign-in by the address, in any case": lambda server: signs_in(server, "ALICE@example.com"),
    "refusals": is_refused,
    "refresh and revocation": refreshes,
    "a service account": acts_for_itself,
    "private_key_jwt": lambda server: asserts(server, "signer"),
    "client_secret_jwt": lambda server: asserts(server, "hmac"),
    "token exchange and introspection": exchanges,
}

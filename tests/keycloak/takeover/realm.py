"""Builds the realm `shop` in a running Keycloak, by the admin API: every kind of client, mapper, password hash and factor."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Generator, Mapping
from typing import Any

import httpx2
from fido2 import cbor
from fido2.utils import websafe_encode

from tests.keycloak.takeover.parties import (
    ADMIN,
    HMAC_SECRET,
    SEEDS,
    Addresses,
    Passkey,
    password_of,
    secret_of,
    signer_jwk,
)

NAME = "shop"
HASHES = {
    "bob": ("pbkdf2-sha256", "sha256", 32, 27_500),
    "carol": ("pbkdf2-sha512", "sha512", 64, 30_000),
    "dave": ("pbkdf2", "sha1", 64, 20_000),
}
"""By user: the algorithm in Keycloak's words, the hash function, the bytes of the digest, the iterations."""
TWIN = "-twin"
"""The end of the name of a user who never signs in at Keycloak, which would make another hash of the password then."""
CONFIDENTIAL: dict[str, Any] = {"publicClient": False, "clientAuthenticatorType": "client-secret"}
NO_FLOW = {"standardFlowEnabled": False, "directAccessGrantsEnabled": False}


class FreshToken(httpx2.Auth):
    """A token of the administrator's for each request, because one ends after a minute, which a busy machine needs for the realm alone."""

    requires_response_body = True

    def __init__(self, url: str) -> None:
        form = {"grant_type": "password", "client_id": "admin-cli"} | ADMIN
        endpoint = f"{url}/realms/master/protocol/openid-connect/token"
        self._ask = httpx2.Request("POST", endpoint, data=form)

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response]:
        """Send the request with the token that another one has got."""
        answer = yield self._ask
        token = answer.raise_for_status().json()["access_token"]
        request.headers["Authorization"] = f"Bearer {token}"
        yield request


class Keycloak:
    """The admin API."""

    def __init__(self, url: str) -> None:
        base = f"{url}/admin/realms"
        self.http = httpx2.Client(base_url=base, auth=FreshToken(url), timeout=120)

    def build(self, at: Addresses, passkey: Passkey) -> None:
        """Make the realm; client scopes of one's own come last, because a realm that names some gets no others."""
        self._post("", _realm(at, passkey))
        for scope in _scopes():
            self._post(f"/{NAME}/client-scopes", scope)
        scopes = {each["name"]: each["id"] for each in self._get(f"/{NAME}/client-scopes")}
        clients = {each["clientId"]: each["id"] for each in self._get(f"/{NAME}/clients")}
        for client, kind, name in (
            ("spa", "default", "to-orders"),
            ("spa", "optional", "department"),
            ("passwords", "optional", "department"),
            ("passwords", "optional", "to-stock"),
            ("stock", "optional", "to-orders"),
            *((client, "optional", "to-orders") for client in ("machine", "signer", "hmac")),
        ):
            path = f"/{NAME}/clients/{clients[client]}/{kind}-client-scopes/{scopes[name]}"
            self.http.put(path).raise_for_status()
        self._give_roles_to_machine(clients)
        self._ask_for_passkeys()

    def _give_roles_to_machine(self, clients: Mapping[str, str]) -> None:
        account = self._get(f"/{NAME}/clients/{clients['machine']}/service-account-user")
        role = self._get(f"/{NAME}/clients/{clients['orders']}/roles/read")
        self._post(
            f"/{NAME}/users/{account['id']}/role-mappings/clients/{clients['orders']}", [role]
        )

    def _ask_for_passkeys(self) -> None:
        """A passkey is a second factor in the usual flow, for users that have one."""
        path = f"/{NAME}/authentication/flows/browser/executions"
        for execution in self._get(path):
            if execution.get("providerId") == "webauthn-authenticator":
                self.http.put(
                    path, json=execution | {"requirement": "ALTERNATIVE"}
                ).raise_for_status()

    def _get(self, path: str) -> Any:
        return self.http.get(path).raise_for_status().json()

    def _post(self, path: str, content: object) -> None:
        answer = self.http.post(path, json=content)
        assert answer.status_code < httpx2.codes.BAD_REQUEST, answer.text


def _realm(at: Addresses, passkey: Passkey) -> dict[str, Any]:
    return {
        "realm": NAME,
        "enabled": True,
        "accessTokenLifespan": 3600,
        "roles": _roles(),
        "groups": [
            {
                "name": "staff",
                "realmRoles": ["clerk"],
                "subGroups": [{"name": "leads", "clientRoles": {"orders": ["write"]}}],
            }
        ],
        "clients": [*_clients(at)],
        "users": [*_users(passkey)],
        "identityProviders": [_provider()],
    }


def _roles() -> dict[str, Any]:
    manager = {"realm": ["clerk"], "client": {"orders": ["read"]}}
    return {
        "realm": [{"name": "clerk"}, {"name": "manager", "composite": True, "composites": manager}],
        "client": {
            "orders": [{"name": "read"}, {"name": "write"}],
            "grafana": [{"name": "admin"}, {"name": "editor"}],
        },
    }


def _provider() -> dict[str, Any]:
    urls = dict.fromkeys(("authorizationUrl", "tokenUrl", "issuer"), "https://partner.example/x")
    config = urls | {"clientId": "shop", "clientSecret": "partner-secret"}
    config |= {"jwksUrl": "https://partner.example/jwks", "useJwksUrl": "true"}
    return {"alias": "partner", "providerId": "oidc", "enabled": True, "config": config}


def _mapper(name: str, kind: str, **config: str) -> dict[str, Any]:
    return {
        "name": name,
        "protocol": "openid-connect",
        "protocolMapper": f"oidc-{kind}-mapper",
        "config": {key.replace("__", "."): value for key, value in config.items()},
    }


def _into(*tokens: str, **config: str) -> dict[str, str]:
    places = {
        f"{each}__token__claim": str(each in tokens).lower()
        for each in ("id", "access", "userinfo")
    }
    return places | config


def _of_role(client: str, claim: str) -> dict[str, Any]:
    """A mapper of the roles at a client, as Grafana's documentation asks for it."""
    config = {"usermodel__clientRoleMapping__clientId": client, "multivalued": "true"}
    return _mapper(
        claim, "usermodel-client-role", **_into("id", "userinfo", claim__name=claim), **config
    )


def _audience(client: str) -> dict[str, Any]:
    config = {"included__client__audience": client, "access__token__claim": "true"}
    return _mapper(f"audience {client}", "audience", **config)


def _scopes() -> list[dict[str, Any]]:
    department = _mapper(
        "department",
        "usermodel-attribute",
        **_into("id", "access", "userinfo", claim__name="department"),
        user__attribute="department",
    )
    shared = {"protocol": "openid-connect", "attributes": {"include.in.token.scope": "true"}}
    return [
        {"name": "department", "protocolMappers": [department], **shared},
        {"name": "to-orders", "protocolMappers": [_audience("orders")], **shared},
        {"name": "to-stock", "protocolMappers": [_audience("stock")], **shared},
    ]


def _clients(at: Addresses) -> list[dict[str, Any]]:
    after = {"post.logout.redirect.uris": "+"}
    pages = {"publicClient": True, "webOrigins": ["+"], "attributes": after}
    level = _mapper(
        "level",
        "hardcoded-claim",
        **_into("id", claim__name="level", claim__value="7"),
        jsonType__label="int",
    )
    groups = _mapper(
        "groups", "group-membership", **_into("id", "access", "userinfo", claim__name="groups")
    )
    return [
        {
            "clientId": "spa",
            "redirectUris": [f"{at.pages}/keycloak", f"{at.pages}/silent"],
            **pages,
        },
        {
            "clientId": "oidc",
            "redirectUris": [f"{at.pages}/oidc", f"{at.pages}/oidc-silent"],
            **pages,
        },
        _confidential(
            "spring", [f"{at.spring}/login/oauth2/code/keycloak"], protocolMappers=[level]
        ),
        _confidential(
            "proxy", [f"{at.proxy}/oauth2/callback"], protocolMappers=[_audience("proxy"), groups]
        ),
        _confidential(
            "grafana",
            [f"{at.pages}/login/generic_oauth"],
            protocolMappers=[_of_role("grafana", "roles")],
        ),
        _confidential("wiki", [f"{at.pages}/wiki"], protocolMappers=[_of_role("orders", "roles")]),
        _confidential("orders", [], **NO_FLOW),
        _confidential(
            "stock", [], **NO_FLOW, serviceAccountsEnabled=True, attributes=_exchanging()
        ),
        _confidential(
            "machine",
            [],
            **NO_FLOW,
            serviceAccountsEnabled=True,
            protocolMappers=_claims_of_an_account(),
        ),
        _confidential(
            "passwords", [], directAccessGrantsEnabled=True, protocolMappers=[_audience("stock")]
        ),
        *_other_clients(at),
    ]


def _claims_of_an_account() -> list[dict[str, Any]]:
    """The id of the client as older realms have it, and a fixed claim within another one, with a dot in its name."""
    note = {"user__session__note": "clientId", "claim__name": "clientId"}
    plan = {"claim__name": "plan.of\\.this", "claim__value": '{"tier": 3}'}
    return [
        _mapper("id", "usersessionmodel-note", **_into("access", **note)),
        _mapper("plan", "hardcoded-claim", **_into("access", **plan), jsonType__label="JSON"),
    ]


def _other_clients(at: Addresses) -> list[dict[str, Any]]:
    keys = {"use.jwks.string": "true", "jwks.string": json.dumps({"keys": [signer_jwk()]})}
    by_key = {"clientAuthenticatorType": "client-jwt", "attributes": keys}
    by_secret = {"clientAuthenticatorType": "client-secret-jwt", "secret": HMAC_SECRET}
    device = {"oauth2.device.authorization.grant.enabled": "true"}
    implicit = {"implicitFlowEnabled": True, "standardFlowEnabled": False, "publicClient": True}
    subject = _mapper("pairwise", "sha256-pairwise-sub")
    return [
        _confidential("signer", [], **NO_FLOW, serviceAccountsEnabled=True) | by_key,
        _confidential("hmac", [], **NO_FLOW, serviceAccountsEnabled=True) | by_secret,
        {"clientId": "tv", "publicClient": True, **NO_FLOW, "attributes": device},
        {"clientId": "legacy", "redirectUris": [f"{at.pages}/legacy"], **implicit},
        _confidential("bank", [], **NO_FLOW, attributes={"oidc.ciba.grant.enabled": "true"}),
        {"clientId": "saml", "protocol": "saml", "redirectUris": [f"{at.pages}/saml"]},
        _confidential("pairwise", [f"{at.pages}/pairwise"], protocolMappers=[subject]),
    ]


def _confidential(name: str, redirect_uris: list[str], **more: Any) -> dict[str, Any]:
    usual = {"clientId": name, "secret": secret_of(name), "redirectUris": redirect_uris}
    return usual | CONFIDENTIAL | more


def _exchanging() -> dict[str, str]:
    return {"standard.token.exchange.enabled": "true"}


def _users(passkey: Passkey) -> list[dict[str, Any]]:
    plain = {"type": "password", "value": password_of("alice"), "temporary": False}
    users = [
        _user(
            "alice",
            plain,
            groups=["/staff/leads"],
            realmRoles=["manager", "offline_access"],
            clientRoles={"grafana": ["admin"]},
            attributes={"department": ["Sales"], "street": ["1 Main Street"], "country": ["NL"]},
            federatedIdentities=[
                {"identityProvider": "partner", "userId": "p-1", "userName": "alice"}
            ],
        ),
        _user("erin", plain | {"value": password_of("erin")}, enabled=False),
        _user("hank", plain | {"value": password_of("hank")}, _webauthn(passkey)),
    ]
    for name in HASHES:
        for end in ("", TWIN):
            factors = [_otp(name)] if name in SEEDS else []
            users.append(_user(name + end, _hashed(name), *factors, realmRoles=["clerk"]))
    return users


def _user(name: str, *credentials: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    usual = {
        "username": name,
        "enabled": True,
        "email": f"{name}@example.com",
        "emailVerified": True,
    }
    usual |= {"firstName": name.title(), "lastName": "Smith", "credentials": list(credentials)}
    return usual | more


def _hashed(name: str) -> dict[str, str]:
    algorithm, function, size, iterations = HASHES[name]
    salt = hashlib.sha256(name.encode()).digest()[:16]
    digest = hashlib.pbkdf2_hmac(function, password_of(name).encode(), salt, iterations, size)
    parts = {"value": _base64(digest), "salt": _base64(salt), "additionalParameters": {}}
    how = {"hashIterations": iterations, "algorithm": algorithm, "additionalParameters": {}}
    return {"type": "password", "secretData": json.dumps(parts), "credentialData": json.dumps(how)}


def _otp(name: str) -> dict[str, str]:
    seed, encoding = SEEDS[name]
    how = {"subType": "totp", "digits": 6, "period": 30, "algorithm": "HmacSHA1", "counter": 0}
    how |= {"secretEncoding": encoding} if encoding else {}
    secret = json.dumps({"value": seed})
    return {"type": "otp", "secretData": secret, "credentialData": json.dumps(how)}


def _webauthn(passkey: Passkey) -> dict[str, str]:
    how = {
        "aaguid": "00000000-0000-0000-0000-000000000000",
        "credentialId": _base64(passkey.credential_id),
        "counter": 0,
        "attestationStatementFormat": "none",
        "credentialPublicKey": websafe_encode(cbor.encode(passkey.public_key())),
        "transports": ["USB"],
    }
    return {"type": "webauthn", "secretData": "{}", "credentialData": json.dumps(how)}


def _base64(octets: bytes) -> str:
    return base64.b64encode(octets).decode()

"""Clients of a realm of Keycloak find the endpoints where they have always been."""

from __future__ import annotations

import base64
import re
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.clients.signing import Signer, key_of
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.registry import client_in
from tests.driving.service import RunningService

BELOW = "/protocol/openid-connect"
ORIGIN = "https://web.example"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The issuer is that of a realm."""
    config["issuer"] = "http://localhost:0/realms/shop"
    config["path_aliases"] = ["keycloak"]
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid", "api1"]}
    client_in(config, "web")["token_endpoint_auth_method"] = None
    config["clients"] += [
        {
            "client_id": name,
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks": {"keys": [key_of("ES256").public_jwk]},
            "allowed_grant_types": ["client_credentials"],
            "allowed_scopes": ["api1"],
            **changes,
        }
        for name, changes in {
            "signer": {},
            "fapi": {
                "profile": "fapi2_security",
                "tls_client_certificate_bound_access_tokens": False,
                "dpop_bound_access_tokens": True,
            },
        }.items()
    ]
    return config


async def test_discovery_names_the_services_own_paths(service: RunningService) -> None:
    metadata = (await service.get("/.well-known/openid-configuration")).json
    assert metadata["issuer"] == service.issuer
    assert metadata["token_endpoint"] == f"{service.issuer}/connect/token"
    assert "/protocol/" not in str(metadata)


async def test_a_whole_sign_in_uses_keycloaks_paths(
    app: ClientApp, service: RunningService
) -> None:
    url = f"{service.issuer}{BELOW}/auth?{urlencode(app.parameters())}"
    page = await app.browser.log_in(await app.browser.get(url))
    form: dict[str, Any] = {
        "grant_type": "authorization_code",
        "code": page.parameters["code"],
        "redirect_uri": app.redirect_uri,
        "code_verifier": app.code_verifier,
    }
    tokens = await service.post(f"{BELOW}/token", auth="web", **form)
    access_token = tokens["access_token"]
    headers = {"Authorization": f"Bearer {access_token}"}
    assert (await service.get(f"{BELOW}/userinfo", headers=headers))["sub"] == "818727"
    introspect = f"{BELOW}/token/introspect"
    assert (await service.post(introspect, auth="api1", token=access_token))["active"]
    await service.post(f"{BELOW}/revoke", auth="web", token=access_token)
    assert not (await service.post(introspect, auth="api1", token=access_token))["active"]
    bye = f"{ORIGIN}/bye"
    query = {"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": bye}
    page = await app.browser.get(f"{service.issuer}{BELOW}/logout?{urlencode(query)}")
    assert page.url == bye


async def test_the_keys_are_where_keycloak_has_them(service: RunningService) -> None:
    usual = await service.get("/.well-known/jwks.json")
    assert (await service.get(f"{BELOW}/certs")).body == usual.body


async def test_requests_are_pushed_and_devices_and_clients_begin_at_keycloaks_paths(
    service: RunningService, app: ClientApp
) -> None:
    asked: dict[str, Any] = {**app.parameters()}
    pushed = await service.post(f"{BELOW}/ext/par/request", auth="web", **asked)
    assert (pushed.status, pushed["request_uri"][:4]) == (201, "urn:")
    for path, error in (("auth/device", "unauthorized_client"), ("ext/ciba/auth", None)):
        refused = await service.post(f"{BELOW}/{path}", auth="web", scope="openid")
        assert refused.status == 400
        assert error in {None, refused.error}


async def test_a_client_registers_and_reads_itself_at_keycloaks_path(
    service: RunningService,
) -> None:
    path = "/clients-registrations/openid-connect"
    made = await service.request("POST", path, json={"redirect_uris": ["https://x.example/cb"]})
    assert made.status == 201
    headers = {"Authorization": f"Bearer {made['registration_access_token']}"}
    read = await service.get(f"{path}/{made['client_id']}", headers=headers)
    assert (read.status, read["client_id"]) == (200, made["client_id"])


@pytest.mark.rfc("9449#4.3")
@pytest.mark.parametrize("named", ["/connect/token", f"{BELOW}/token"])
@pytest.mark.parametrize("sent_to", ["/connect/token", f"{BELOW}/token"])
async def test_a_dpop_proof_names_the_endpoint_or_its_alias(
    service: RunningService, named: str, sent_to: str
) -> None:
    headers = DpopKey(service.issuer).header(named)
    form = {"grant_type": "client_credentials", "scope": "api1"}
    answer = await service.post(sent_to, auth="machine", headers=headers, **form)
    assert (answer.status, answer["token_type"]) == (200, "DPoP")


@pytest.mark.rfc("9449#4.3")
@pytest.mark.parametrize("named", [f"{BELOW}/userinfo", "/oauth2/token", "/token"])
async def test_a_dpop_proof_for_another_endpoint_is_refused(
    service: RunningService, named: str
) -> None:
    headers = DpopKey(service.issuer).header(named)
    form = {"grant_type": "client_credentials", "scope": "api1"}
    answer = await service.post(f"{BELOW}/token", auth="machine", headers=headers, **form)
    assert answer.refusal == (400, "invalid_dpop_proof")


@pytest.mark.rfc("7523#3")
@pytest.mark.parametrize("audience", ["", "/connect/token", f"{BELOW}/token"])
async def test_an_assertion_is_for_the_token_endpoint_or_its_alias(
    service: RunningService, audience: str
) -> None:
    signer = Signer(service, "signer", "ES256")
    form = await assertion(signer, service.issuer + audience)
    answer = await service.post(f"{BELOW}/token", **form, scope="api1")
    assert answer.status == 200


async def assertion(signer: Signer, audience: str) -> dict[str, Any]:
    """The parameters by which a client authenticates."""
    signed = await key_of("ES256").sign(signer.claims(aud=audience), typ="JWT")
    return {
        "grant_type": "client_credentials",
        "client_assertion": signed,
        "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    }


@pytest.mark.rfc("7523#3")
async def test_an_assertion_for_another_alias_is_refused(service: RunningService) -> None:
    signer = Signer(service, "signer", "ES256")
    form = await assertion(signer, f"{service.issuer}{BELOW}/userinfo")
    assert (await service.post(f"{BELOW}/token", **form)).refusal == (401, "invalid_client")


async def test_a_client_of_fapi_addresses_the_issuer_alone(service: RunningService) -> None:
    signer = Signer(service, "fapi", "ES256")
    for audience, status in ((f"{BELOW}/token", 401), ("", 200)):
        headers = DpopKey(service.issuer).header(f"{BELOW}/token")
        form = await assertion(signer, service.issuer + audience)
        answer = await service.post(f"{BELOW}/token", headers=headers, scope="api1", **form)
        assert answer.status == status


async def test_scripts_of_a_client_may_read_answers_though_they_sent_cookies(
    service: RunningService,
) -> None:
    headers = {"Origin": ORIGIN, "Cookie": "sid=x"}
    form = {"grant_type": "authorization_code", "code": "x", "client_id": "web"}
    answer = await service.post(f"{BELOW}/token", headers=headers, **form)
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert answer.headers["Access-Control-Allow-Credentials"] == "true"
    other = await service.post(f"{BELOW}/token", headers={"Origin": "https://evil.example"}, **form)
    assert "Access-Control-Allow-Credentials" not in other.headers
    answer = await service.get(f"{BELOW}/userinfo", headers={"Origin": ORIGIN})
    assert "Access-Control-Allow-Credentials" not in answer.headers


async def test_a_preflight_of_an_alias_is_answered(service: RunningService) -> None:
    headers = {"Origin": ORIGIN, "Access-Control-Request-Method": "POST"}
    answer = await service.request("OPTIONS", f"{BELOW}/token", headers=headers)
    assert (answer.status, answer.headers["Access-Control-Allow-Methods"]) == (204, "POST")


async def test_metrics_have_the_endpoints_own_name(service: RunningService) -> None:
    await service.post(f"{BELOW}/token", auth="machine", grant_type="client_credentials")
    root = service.issuer.removesuffix("/realms/shop")
    async with service.http.get(f"{root}/metrics") as answer:
        metrics = await answer.text()
    assert 'endpoint="/connect/token"' in metrics
    assert "openid-connect" not in metrics


async def test_without_the_issuers_path_an_alias_works_behind_a_proxy_that_strips_it(
    service: RunningService,
) -> None:
    async with service.http.get(
        service.issuer.removesuffix("/realms/shop") + f"{BELOW}/certs"
    ) as answer:
        assert answer.status == 200


@pytest.mark.parametrize(
    "path",
    [
        f"{BELOW}/",
        f"{BELOW}/tokens",
        f"{BELOW}/token/",
        "/broker//endpoint",
        "/oauth2/token",
        "/token",
    ],
)
async def test_other_paths_lead_nowhere(service: RunningService, path: str) -> None:
    assert (await service.get(path)).status == 404


def script_of(body: bytes) -> str:
    (script,) = re.findall(r"<script>(.*?)</script>", body.decode(), re.DOTALL)
    return str(script)


@pytest.mark.parametrize(
    "path", ["login-status-iframe.html", "3p-cookies/step1.html", "3p-cookies/step2.html"]
)
async def test_any_page_may_frame_the_pages_of_keycloak_js_which_run_their_own_script_only(
    service: RunningService, path: str
) -> None:
    answer = await service.get(f"{BELOW}/{path}")
    digest = base64.b64encode(sha256(script_of(answer.body).encode()).digest()).decode()
    policy = answer.headers["Content-Security-Policy"]
    assert policy == f"default-src 'none'; connect-src 'self'; script-src 'sha256-{digest}'"
    assert (answer.status, "X-Frame-Options" in answer.headers) == (200, False)
    assert answer.headers["Cache-Control"] == "public, max-age=3600"


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"client_id": "web", "origin": ORIGIN}, 204),
        ({"client_id": "web", "origin": "https://evil.example"}, 403),
        ({"client_id": "nobody", "origin": ORIGIN}, 403),
        ({"client_id": "web"}, 403),
        ({}, 403),
    ],
)
async def test_only_origins_of_a_client_learn_of_the_session(
    service: RunningService, query: dict[str, str], status: int
) -> None:
    answer = await service.get(f"{BELOW}/login-status-iframe.html/init?{urlencode(query)}")
    assert answer.status == status


async def test_the_cookie_that_the_frame_reads_is_made_of_the_sid_of_tokens(
    app: ClientApp, browser: Browser, service: RunningService
) -> None:
    access_token = (await app.tokens())["access_token"]
    claims = (await service.introspect(access_token)).json
    expected = sha256(f"browser state of {claims['sid']}".encode()).hexdigest()
    assert browser.cookies["browser_state"] == expected
    script = script_of((await service.get(f"{BELOW}/login-status-iframe.html")).body)
    assert "`browser state of ${sid}`" in script

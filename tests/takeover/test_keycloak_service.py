"""Requests that worked at the real Keycloak work at this service, once its realm is taken over."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pyotp
import pytest
from fido2 import cbor
from fido2.utils import websafe_encode
from joserfc import jwt
from joserfc.jwk import ECKey, OctKey

from tests.conftest import ENCRYPTION_KEY, redis_running
from tests.driving.authenticator import Authenticator
from tests.driving.browser import Browser
from tests.driving.ports import lasting_ports
from tests.driving.program import program_running
from tests.driving.service import claims_in, header_of
from tests.factors.keyring import use
from tests.takeover.conftest import invoke
from tests.takeover.hashes_of_pbkdf2 import copy_with_pbkdf2

HERE = Path(__file__).parent / "keycloak"
ANSWERS: dict[str, Any] = json.loads((HERE / "answers.json").read_text())
BEARER = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"

COUNTED_THERE = 7
"""Uses of Grace's passkey at Keycloak."""
SIGN_IN = {
    "client_id": "web",
    "response_type": "code",
    "redirect_uri": "https://shop.example.com/callback",
    "scope": "openid",
}

pytestmark = pytest.mark.needs("redis-server")


@pytest.fixture(scope="module")
def issuer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The issuer of the realm, served from what the import has written; second factors are loaded."""
    folder = tmp_path_factory.mktemp("service")
    (port,) = lasting_ports(1)
    issuer, out = f"http://localhost:{port}/realms/shop", folder / "out"
    export = copy_with_pbkdf2(HERE / "export", folder)
    replace_passkey(export)
    invoke("import", "keycloak", str(export), "--out", str(out), "--issuer", issuer)
    config = out / "config.yaml"
    keyed = config.read_text().replace("signing:", f"signing:\n  encryption_key: {ENCRYPTION_KEY}")
    with redis_running(folder) as (store, _):
        config.write_text(f"{keyed}store: {{url: '{store}'}}\n")
        loaded = invoke("factors", "load", str(out / "factors.json"), "--config", str(config))
        assert loaded.exit_code == 0, loaded.output
        with program_running(config, ("--port", str(port)), {}) as program:
            program.url()
            yield issuer


PASSKEY = Authenticator(origin="", credential_id=b"made at Keycloak", count=COUNTED_THERE)


def replace_passkey(export: Path) -> None:
    """Let the passkey of Grace in the export be one whose private key is known, used as often as it was."""
    file = export / "shop-users-1.json"
    content: dict[str, Any] = json.loads(file.read_text())
    grace = next(user for user in content["users"] if user["username"] == "grace")
    (passkey,) = [each for each in grace["credentials"] if each["type"] == "webauthn"]
    how = json.loads(passkey["credentialData"])
    assert how["counter"] == COUNTED_THERE
    how["credentialId"] = base64.b64encode(PASSKEY.credential_id).decode()
    how["credentialPublicKey"] = websafe_encode(cbor.encode(PASSKEY.key))
    passkey["credentialData"] = json.dumps(how)
    file.write_text(json.dumps(content))


class Realm:
    """The endpoints of the realm, at the paths that its clients know."""

    def __init__(self, issuer: str) -> None:
        self.issuer = issuer
        self.http = httpx2.Client(timeout=60)

    def url(self, name: str) -> str:
        """The URL of an endpoint."""
        return f"{self.issuer}/protocol/openid-connect/{name}"

    def token(self, client: str | None = None, **form: str) -> tuple[int, dict[str, Any]]:
        """A token request by a client with a secret."""
        credentials = {"client_id": client, "client_secret": secret_of(client)} if client else {}
        answer = self.http.post(self.url("token"), data={**credentials, **form})
        return answer.status_code, answer.json()

    def sign_in(self, username: str, password: str, **form: str) -> tuple[int, dict[str, Any]]:
        """The password grant."""
        usual = {"scope": "openid orders:read department to-stock roles"}
        sent = {"grant_type": "password", "username": username, "password": password}
        return self.token("passwords", **usual, **sent, **form)


@pytest.fixture(scope="module")
def realm(issuer: str) -> Iterator[Realm]:
    """The realm here."""
    realm = Realm(issuer)
    with realm.http:
        yield realm


def secret_of(client: str) -> str:
    """The secret that the realm was made with."""
    whole = {
        "passwords": "passwords-secret-passwords-secret",
        "machine": "machine-secret-machine-secret-12",
    }
    return whole.get(client, "stock-secret-stock-secret-stock-s")


@pytest.mark.parametrize(
    ("name", "user"),
    [
        pytest.param("alice", "alice", id="argon2"),
        pytest.param("ALICE", "alice", id="in capitals"),
        pytest.param("Alice@Example.com", "alice", id="by address"),
        pytest.param("dave", "dave", id="pbkdf2 with sha1"),
        pytest.param("dave@example.com", "dave", id="by an address that is not verified"),
    ],
)
def test_a_password_works_as_before(realm: Realm, name: str, user: str) -> None:
    status, answer = realm.sign_in(name, f"{user}-password")
    assert status == 200, answer
    token, theirs = claims_in(answer["access_token"]), ANSWERS["users"][user]["access"]
    assert token["sub"] == theirs["sub"]
    assert token["iss"] == realm.issuer
    assert header_of(answer["access_token"])["typ"] == "JWT"
    for claim in ("realm_access", "resource_access", "department", "email", "preferred_username"):
        assert ordered(token.get(claim)) == ordered(theirs.get(claim)), claim


def ordered(value: Any) -> Any:
    """The value with all lists in one order."""
    if isinstance(value, dict):
        return {key: ordered(each) for key, each in value.items()}
    return sorted(value) if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("name", "password"),
    [("alice", "wrong"), ("erin", "erin-password"), ("nobody", "nobody-password")],
)
def test_a_sign_in_that_failed_before_fails(realm: Realm, name: str, password: str) -> None:
    status, answer = realm.sign_in(name, password)
    assert (status, answer["error"]) == (400, "invalid_grant")


def test_a_refresh_token_comes_without_offline_access_and_works(realm: Realm) -> None:
    _, answer = realm.sign_in("alice", "alice-password")
    renewed = realm.token(
        "passwords", grant_type="refresh_token", refresh_token=answer["refresh_token"]
    )
    assert renewed[0] == 200, renewed


def test_userinfo_has_the_claims_of_before(realm: Realm) -> None:
    _, answer = realm.sign_in("alice", "alice-password")
    headers = {"Authorization": f"Bearer {answer['access_token']}"}
    claims = realm.http.get(realm.url("userinfo"), headers=headers).json()
    assert ANSWERS["users"]["alice"]["userinfo"].items() <= claims.items()


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        pytest.param("bob", "IRVTGU3FIVSDAZSCN5RDCMRTGQ2TMNZYHEYA", id="text, pbkdf2 with sha256"),
        pytest.param("carol", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", id="base32, pbkdf2 with sha512"),
    ],
)
async def test_a_code_of_the_app_is_asked_for_and_works(realm: Realm, name: str, seed: str) -> None:
    browser = Browser(realm.issuer.partition("/realms")[0])
    try:
        page = await browser.get(f"{realm.url('auth')}?{httpx2.QueryParams(SIGN_IN)}")
        page = await browser.log_in(page, name)
        assert page.path.endswith("/account/second-factor"), page.text
        page = await browser.submit(page, otp=next_code(seed))
        assert page.status in {200, 302, 303}
        assert page.path.endswith("/account/consent"), page.text
    finally:
        await browser.close()


@pytest.mark.rfc("webauthn#7.2")
async def test_a_passkey_is_the_second_factor_and_its_counter_goes_on(realm: Realm) -> None:
    PASSKEY.origin = realm.issuer.partition("/realms")[0]
    browser = Browser(PASSKEY.origin)
    try:
        page = await browser.get(f"{realm.url('auth')}?{httpx2.QueryParams(SIGN_IN)}")
        page = await browser.log_in(page, "grace")
        assert page.path.endswith("/account/second-factor"), page.text
        page = await use(browser, page, PASSKEY)  # a copy of it, by its counter
        assert page.path.endswith("/account/second-factor"), page.text
        PASSKEY.count = COUNTED_THERE + 1
        page = await use(browser, page, PASSKEY)
        assert page.path.endswith("/account/consent"), page.text
    finally:
        await browser.close()


def next_code(seed: str) -> str:
    """The code after the present one, which might have been used at the other server just before."""
    return pyotp.TOTP(seed).generate_otp(int(time.time()) // 30 + 1)


def test_a_machine_keeps_its_secret_and_its_roles(realm: Realm) -> None:
    status, answer = realm.token("machine", grant_type="client_credentials", scope="orders:read")
    assert status == 200, answer
    token = claims_in(answer["access_token"])
    theirs = ANSWERS["machine"]
    for claim in ("realm_access", "preferred_username"):
        assert ordered(token[claim]) == ordered(theirs[claim])
    assert (token["sub"], token["aud"]) == ("machine", "orders")
    refused = realm.token(
        None, grant_type="client_credentials", client_id="machine", client_secret="x"
    )
    assert (refused[0], refused[1]["error"]) == (401, "invalid_client")


@pytest.mark.parametrize(
    ("client", "secret"),
    [
        pytest.param("hmac", "hmac-secret-hmac-secret-hmac-secret-hmac", id="one that only signs"),
        pytest.param("signer", "never-was-a-credential", id="one of another method"),
    ],
)
def test_a_secret_in_the_form_is_refused_where_it_never_was_a_credential(
    realm: Realm, client: str, secret: str
) -> None:
    form = {"grant_type": "client_credentials", "client_id": client, "client_secret": secret}
    status, answer = realm.token(None, scope="orders:read", **form)
    assert (status, answer["error"]) == (401, "invalid_client")


async def test_a_loopback_redirect_uri_keeps_its_port(realm: Realm) -> None:
    asked = {"client_id": "spa", "response_type": "code", "scope": "openid"}
    asked |= {"code_challenge": "E" * 43, "code_challenge_method": "S256"}
    browser = Browser(realm.issuer.partition("/realms")[0])
    try:
        for port, status in ((5173, 200), (5174, 400)):
            query = httpx2.QueryParams(asked | {"redirect_uri": f"http://localhost:{port}/cb"})
            page = await browser.get(f"{realm.url('auth')}?{query}")
            assert page.status == status, page.text
    finally:
        await browser.close()


@pytest.mark.parametrize("client", ["signer", "hmac"])
def test_a_client_keeps_its_key(realm: Realm, client: str) -> None:
    secret = b"hmac-secret-hmac-secret-hmac-secret-hmac"
    pem = (HERE / "signer.pem").read_bytes()
    key: Any = ECKey.import_key(pem) if client == "signer" else OctKey.import_key(secret)
    header = {"alg": "ES256", "kid": "signer-1"} if client == "signer" else {"alg": "HS256"}
    claims = {
        "iss": client,
        "sub": client,
        "aud": realm.issuer,
        "jti": client,
        "exp": int(time.time()) + 60,
    }
    form = {"client_assertion_type": BEARER, "client_assertion": jwt.encode(header, claims, key)}
    status, answer = realm.token(grant_type="client_credentials", scope="orders:read", **form)
    assert status == 200, answer


def test_a_token_is_exchanged_and_introspected_as_before(realm: Realm) -> None:
    _, answer = realm.sign_in("alice", "alice-password")
    token, theirs = answer["access_token"], ANSWERS["exchange"]
    kind = "urn:ietf:params:oauth:token-type:access_token"
    form = {"subject_token": token, "subject_token_type": kind, "scope": "orders:read"}
    status, exchanged = realm.token("stock", grant_type=EXCHANGE, **form)
    assert status == 200, exchanged
    claims = claims_in(exchanged["access_token"])
    assert (claims["sub"], claims["aud"]) == (theirs["sub"], "orders")
    form = {"token": token, "client_id": "stock", "client_secret": secret_of("stock")}
    introspected = realm.http.post(realm.url("token/introspect"), data=form).json()
    assert introspected["active"] is ANSWERS["introspection"]["active"] is True
    assert "stock" in introspected["aud"]


def test_the_keys_of_before_are_published(realm: Realm) -> None:
    ours = {key["kid"] for key in realm.http.get(realm.url("certs")).json()["keys"]}
    assert {key["kid"] for key in ANSWERS["jwks"]["keys"] if key["use"] == "sig"} <= ours

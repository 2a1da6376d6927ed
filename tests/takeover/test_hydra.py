"""Clients of Hydra, from the admin API, the command line and the rows of its database, become clients here (RFC 7591 §2).

`hydra_client.json` and `hydra-list.json` are what Hydra 2.3.0, built from the Go module proxy, wrote: by `sqlite3 -json` and by
`hydra list oauth2-clients --format json`, for the clients worker, web and spa.
"""

from __future__ import annotations

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import bcrypt
import pytest

from service.model.polling import DEVICE_CODE
from tests.clients.signing import key_of
from tests.conftest import Start
from tests.driving.service import claims_in
from tests.takeover.importing import FILES, Imported, run_import

ORDERS, STOCK = "https://orders.example.com", "https://stock.example.com"


def pbkdf2_of(secret: str, function: str = "sha256") -> str:
    """The hash that Hydra writes (hasherx.PBKDF2), by Python's own implementation."""
    salt = b"0123456789abcdef"
    digest = hashlib.pbkdf2_hmac(function, secret.encode(), salt, 25000, 32)
    encoded = (base64.b64encode(each).rstrip(b"=").decode() for each in (salt, digest))
    return f"$pbkdf2-{function}$i=25000,l=32${'$'.join(encoded)}"


def row(client_id: str, **columns: Any) -> dict[str, Any]:
    """A row of hydra_client as `SELECT *` writes it: JSON in texts, 0 and 1, nanoseconds."""
    usual: dict[str, Any] = {
        "id": client_id,
        "nid": "24704dcb-0ab9-4bfa-a84c-405932ae53fe",
        "client_name": "",
        "client_secret": pbkdf2_of(f"{client_id}-secret"),
        "redirect_uris": [f"https://{client_id}.example.com/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "scope": "openid offline",
        "owner": "",
        "client_secret_expires_at": 0,
        "jwks": {},
        "jwks_uri": "",
        "request_uris": [],
        "token_endpoint_auth_method": "client_secret_basic",
        "userinfo_signed_response_alg": "none",
        "subject_type": "public",
        "allowed_cors_origins": [],
        "audience": [],
        "metadata": {},
        "frontchannel_logout_session_required": 0,
        "backchannel_logout_session_required": 0,
        "post_logout_redirect_uris": [],
        "skip_consent": 0,
        "skip_logout_consent": None,
        "access_token_strategy": "",
        "authorization_code_grant_access_token_lifespan": None,
    }
    return {
        key: json.dumps(value) if isinstance(value, list | dict) else value
        for key, value in (usual | columns).items()
    }


def api_client(client_id: str, **members: Any) -> dict[str, Any]:
    """A client as `GET /admin/clients` answers it, without its secret."""
    usual: dict[str, Any] = {
        "client_id": client_id,
        "client_name": "",
        "redirect_uris": [f"https://{client_id}.example.com/callback"],
        "grant_types": ["authorization_code"],
        "response_types": ["code"],
        "scope": "openid",
        "audience": [],
        "owner": "",
        "contacts": None,
        "jwks": {},
        "metadata": {},
        "skip_consent": False,
        "token_endpoint_auth_method": "none",
        "created_at": "2026-01-01T00:00:00Z",
        "authorization_code_grant_access_token_lifespan": None,
    }
    return usual | members


def take_over(folder: Path, content: object) -> Imported:
    """Import what Hydra exported."""
    source = folder / "clients.json"
    source.write_text(json.dumps(content))
    return run_import("hydra", source, folder / "out", "--issuer", "https://id.example.com")


@pytest.mark.parametrize(
    "stored",
    [
        pytest.param(pbkdf2_of("batch-secret"), id="pbkdf2"),
        pytest.param(bcrypt.hashpw(b"batch-secret", bcrypt.gensalt(4)).decode(), id="bcrypt"),
    ],
)
@pytest.mark.parametrize(("secret", "status"), [("batch-secret", 200), ("another-secret", 401)])
async def test_a_client_authenticates_with_the_secret_that_it_has_at_hydra(
    tmp_path: Path, start: Start, stored: str, secret: str, status: int
) -> None:
    columns = {"grant_types": ["client_credentials"], "response_types": [], "scope": "orders.read"}
    hydra = take_over(tmp_path, [row("batch", client_secret=stored, **columns)])
    service = await start(hydra.configuration)
    tokens = await service.token(("batch", secret), grant_type="client_credentials")
    assert tokens.status == status
    assert status == 200 or tokens.error == "invalid_client"


async def test_a_scope_leads_to_the_audience_that_all_its_clients_have(
    tmp_path: Path, start: Start
) -> None:
    machine = {"grant_types": ["client_credentials"], "response_types": []}
    rows = [
        row("one", scope="read write", audience=[ORDERS], access_token_strategy="jwt", **machine),
        row("two", scope="read", audience=[ORDERS, STOCK], **machine),
        row("three", scope="write", **machine),
    ]
    service = await start(take_over(tmp_path, rows).configuration)
    tokens = [
        await service.token(("one", "one-secret"), grant_type="client_credentials", scope=scope)
        for scope in ("read", "write")
    ]
    audiences = [claims_in(each["access_token"])["aud"] for each in tokens]
    assert audiences == [ORDERS, service.issuer]


def test_an_audience_without_a_scope_of_its_own_is_reported(tmp_path: Path) -> None:
    rows = [row("one", scope="read", audience=[ORDERS]), row("two", scope="read", audience=[])]
    hydra = take_over(tmp_path, rows)
    assert "nothing leads to it" in hydra.left_out["[0].audience"]


def test_rows_have_json_in_texts_and_lifetimes_in_nanoseconds(tmp_path: Path) -> None:
    columns: dict[str, Any] = {
        "client_name": "Shop",
        "skip_consent": 1,
        "metadata": {"team": "shop"},
        "owner": "alice",
        "authorization_code_grant_access_token_lifespan": 1800 * 10**9,
        "refresh_token_grant_access_token_lifespan": 1800 * 10**9,
        "refresh_token_grant_refresh_token_lifespan": 7200 * 10**9,
        "authorization_code_grant_refresh_token_lifespan": 7200 * 10**9,
        "backchannel_logout_uri": "https://shop.example.com/logout",
    }
    client = take_over(tmp_path, [row("shop", **columns)]).client("shop")
    assert client["redirect_uris"] == ["https://shop.example.com/callback"]
    assert (client["client_name"], client["require_consent"]) == ("Shop", False)
    assert client["properties"] == {"owner": "alice", "team": "shop"}
    assert (client["access_token_lifetime"], client["identity_token_lifetime"]) == (1800, 3600)
    assert client["sliding_refresh_token_lifetime"] == 7200
    assert client["backchannel_logout_session_required"] is False
    assert client["access_token_type"] == "reference"
    assert (client["allowed_scopes"], client["allow_offline_access"]) == (["openid"], True)


async def test_clients_of_a_real_hydra_keep_their_secrets(tmp_path: Path, start: Start) -> None:
    hydra = run_import("hydra", FILES / "hydra_client.json", tmp_path / "out")
    service = await start(hydra.configuration)
    tokens = await service.token(("worker", "worker-secret-1"), grant_type="client_credentials")
    assert (hydra.exit_code, tokens.status, tokens["expires_in"]) == (0, 200, 5400)
    wrong = await service.token(("worker", "web-secret-12"), grant_type="client_credentials")
    assert wrong.refusal == (401, "invalid_client")


def test_the_list_of_a_real_hydra_has_its_public_clients(tmp_path: Path) -> None:
    hydra = run_import("hydra", FILES / "hydra-list.json", tmp_path / "out")
    assert [each["client_id"] for each in hydra.configuration["clients"]] == ["spa"]
    assert set(hydra.left_out) == {"items[1].client_secret", "items[2].client_secret"}


def test_lifetimes_that_differ_by_grant_become_the_shortest(tmp_path: Path) -> None:
    lifetimes = {"authorization_code_grant_access_token_lifespan": "1h30m0s"}
    listed = [api_client("a", grant_types=["authorization_code", "implicit"], **lifetimes)]
    hydra = take_over(tmp_path, listed)
    assert hydra.client("a")["access_token_lifetime"] == 3600
    place = "[0].authorization_code_grant_access_token_lifespan"
    assert "the shortest counts" in hydra.reasons(place)[0]


def test_lifetimes_of_the_device_grant_count_as_those_of_others(tmp_path: Path) -> None:
    kinds = {"access": 600, "id": 300, "refresh": 7200}
    lifetimes = {
        f"device_authorization_grant_{kind}_token_lifespan": seconds * 10**9
        for kind, seconds in kinds.items()
    }
    grants = {"grant_types": [DEVICE_CODE, "refresh_token"], "response_types": []}
    client = take_over(tmp_path, [row("tv", **grants, **lifetimes)]).client("tv")
    assert (client["access_token_lifetime"], client["identity_token_lifetime"]) == (600, 300)
    assert client["sliding_refresh_token_lifetime"] == 7200


def test_the_command_line_writes_items_and_the_token_of_the_next_page(tmp_path: Path) -> None:
    page = {"items": [api_client("a")], "next_page_token": "eyJ", "is_last_page": False}
    hydra = take_over(tmp_path, page)
    assert (hydra.exit_code, hydra.report["taken"]["clients"]) == (4, 1)
    assert "there are more pages" in hydra.left_out["next_page_token"]


def test_a_last_page_is_complete(tmp_path: Path) -> None:
    page = {"items": [api_client("a")], "next_page_token": "", "is_last_page": True}
    assert take_over(tmp_path, page).exit_code == 0


def test_the_api_does_not_say_secrets_so_its_confidential_clients_are_not_taken(
    tmp_path: Path,
) -> None:
    listed = [api_client("a"), api_client("b", token_endpoint_auth_method="client_secret_post")]
    hydra = take_over(tmp_path, listed)
    assert [each["client_id"] for each in hydra.configuration["clients"]] == ["a"]
    assert "does not say the hash" in hydra.left_out["[1].client_secret"]


async def test_a_secret_that_is_written_for_hydra_to_import_is_hashed(
    tmp_path: Path, start: Start
) -> None:
    members = {
        "grant_types": ["client_credentials"],
        "token_endpoint_auth_method": "client_secret_post",
    }
    written = api_client("job", client_secret="written-by-hand", scope="read", **members)
    hydra = take_over(tmp_path, [written])
    assert "written-by-hand" not in (hydra.folder / "registry.yaml").read_text()
    service = await start(hydra.configuration)
    form = {"client_id": "job", "client_secret": "written-by-hand"}
    assert (await service.token(None, grant_type="client_credentials", **form)).status == 200


def test_a_hash_of_another_method_is_no_credential(tmp_path: Path) -> None:
    public = key_of("RS256").public_jwk
    key = {**public, "d": "private"}
    keys = {"token_endpoint_auth_method": "private_key_jwt", "jwks": {"keys": [key]}}
    client = take_over(tmp_path, [row("signer", **keys)]).client("signer")
    assert "client_secrets" not in client
    assert client["token_endpoint_auth_signing_alg"] == "RS256"
    assert client["jwks"] == {"keys": [public]}


@pytest.mark.parametrize(
    ("columns", "place", "reason"),
    [
        ({"scope": "openid orders.*"}, "[0].scope", "are patterns"),
        ({"grant_types": ["authorization_code", "password"]}, "[0].grant_types", "no grant"),
        ({"response_types": ["code", "magic"]}, "[0].response_types", "unknown"),
        ({"subject_type": "pairwise"}, "[0].subject_type", "would become others"),
        (
            {"client_secret": pbkdf2_of("a").replace("sha256", "sha384")},
            "[0].client_secret",
            "SHA-3",
        ),
        ({"client_secret": "plain"}, "[0].client_secret", "no hash in a known format"),
        (
            {"client_secret": pbkdf2_of("a").replace("25000", "99000000")},
            "[0].client_secret",
            "takes more",
        ),
        ({"redirect_uris": "https://a|https://b"}, "[0].redirect_uris", "no list"),
        ({"skip_consent": "perhaps"}, "[0].skip_consent", "neither true nor false"),
        (
            {"refresh_token_grant_access_token_lifespan": "soon"},
            "[0].refresh_token_grant_access_token_lifespan",
            "duration",
        ),
        ({"id": None}, "[0].client_id", "is missing"),
    ],
)
def test_what_has_no_meaning_here_is_not_taken(
    tmp_path: Path, columns: dict[str, Any], place: str, reason: str
) -> None:
    hydra = take_over(tmp_path, [row("client", **columns)])
    assert hydra.exit_code == 4
    assert reason in hydra.left_out[place]

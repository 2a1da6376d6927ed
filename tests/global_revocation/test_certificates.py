"""A client with a certificate ends a user's access, and names itself in the body (RFC 8705 §2, §5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.authority import Certified, root, self_signed
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService, basic
from tests.global_revocation.conftest import tool
from tests.global_revocation.okta import PATH, ask, opaque

pytestmark = pytest.mark.rfc("8705#2", "global-token-revocation#3.2")

ALICE = "818727"
NAME = "global_token_revocation_endpoint"


@pytest.fixture(scope="module")
def authority() -> Certified:
    return root()


@pytest.fixture(scope="module")
def own() -> Certified:
    """The certificate that the client `registered` has made itself."""
    return self_signed("CN=anything")


@pytest.fixture
def config(
    config: dict[str, Any], authority: Certified, own: Certified, tmp_path: Any
) -> dict[str, Any]:
    file = tmp_path / "ca.pem"
    file.write_text(authority.pem)
    config["server"] = {
        "trusted_proxies": ["127.0.0.1"],
        "client_certificate_header": "Client-Cert",
        "mtls_base_url": "https://mtls.example",
    }
    config["mtls"] = {"client_ca": str(file)}
    config["clients"] += [
        tool(
            "issued",
            client_secrets=[],
            token_endpoint_auth_method="tls_client_auth",
            tls_client_auth_subject_dn="CN=issued",
        ),
        tool(
            "registered",
            client_secrets=[],
            token_endpoint_auth_method="self_signed_tls_client_auth",
            self_signed_certificates=[own.pem],
        ),
    ]
    return config


@pytest.fixture
def certificates(authority: Certified, own: Certified) -> dict[str, Certified]:
    """The certificate of each client."""
    return {"issued": authority.issue("CN=issued"), "registered": own}


async def ask_with(service: RunningService, shown: Certified, **members: Any) -> Answer:
    return await ask(service, opaque(ALICE) | members, authorization=None, **shown.headers())


@pytest.mark.parametrize("client", ["issued", "registered"])
async def test_a_client_with_a_certificate_ends_all_that_a_user_has(
    app: ClientApp, certificates: dict[str, Certified], client: str
) -> None:
    tokens = await app.tokens()
    answer = await ask_with(app.service, certificates[client], client_id=client)
    assert answer.status == 204
    assert not await app.service.is_active(tokens["access_token"])


@pytest.mark.parametrize(
    "members",
    [{"client_id": "registered"}, {}, {"client_id": 7}, {"client_id": ""}, {"client_id": "nobody"}],
    ids=["another client's", "none", "a number", "empty", "unknown"],
)
async def test_a_certificate_without_the_client_id_of_its_client_is_refused(
    app: ClientApp, certificates: dict[str, Certified], members: dict[str, Any]
) -> None:
    tokens = await app.tokens()
    answer = await ask_with(app.service, certificates["issued"], **members)
    assert answer.refusal == (401, "invalid_client")
    assert await app.service.is_active(tokens["access_token"])


async def test_a_body_that_names_another_client_than_its_credentials_is_refused(
    app: ClientApp, certificates: dict[str, Certified]
) -> None:
    service, body = app.service, opaque(ALICE) | {"client_id": "issued"}
    tokens = await app.tokens()
    by_secret = basic("siem", "siem-secret")
    assert (await ask(service, body, authorization=by_secret)).refusal == (400, "invalid_request")
    shown = certificates["issued"].headers()
    both = await ask(service, opaque(ALICE), authorization=by_secret, **shown)
    assert both.status == 204
    assert not await service.is_active(tokens["access_token"])


async def test_a_certificate_with_a_body_that_is_no_object_is_refused(
    service: RunningService, certificates: dict[str, Certified]
) -> None:
    shown = certificates["issued"].headers()
    answer = await ask(service, "[]", authorization=None, **shown)
    assert answer.refusal == (400, "invalid_request")


@pytest.mark.rfc("8705#5")
async def test_metadata_name_both_methods_and_the_alias(service: RunningService) -> None:
    listed = (await service.get("/.well-known/openid-configuration")).json
    assert {"tls_client_auth", "self_signed_tls_client_auth"} <= set(
        listed[f"{NAME}_auth_methods_supported"]
    )
    assert listed["mtls_endpoint_aliases"][NAME] == "https://mtls.example" + PATH


async def test_methods_without_certificates_are_not_listed(
    start: Start, config: dict[str, Any]
) -> None:
    config["clients"] = config["clients"][:-2]
    config["server"], config["mtls"] = {}, {}
    listed = (await (await start(config)).get("/.well-known/openid-configuration")).json
    methods = listed[f"{NAME}_auth_methods_supported"]
    assert methods == ["client_secret_basic", "private_key_jwt", "global-token-revocation+jwt"]

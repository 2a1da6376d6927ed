"""3rd Party-Init Login OP (oidcc-3rdparty-init-login-certification-test-plan)."""

from __future__ import annotations

import pytest

from tests.certification.plan import Plan
from tests.certification.provider import ALIAS
from tests.certification.registration import Registrar


@pytest.fixture
def initiate_login_uri(registrar: Registrar) -> str:
    """The URL at which the suite wants logins to begin; its client authenticates by client_secret_basic."""
    registrar.auth_method = "client_secret_basic"
    return f"{registrar.provider.suite.base}{ALIAS}/initiate_login"


@pytest.mark.rfc("openid-core#4", "openid-registration#2")
class TestThirdPartyLogin:
    """A client registers where a third party may start a login."""

    plan = Plan(response_type="code")

    @pytest.mark.conformance("oidcc-3rd_party-init-login")
    @pytest.mark.rfc("openid-registration#3.2", "openid-registration#4.3", "7592#2.1")
    async def test_the_uri_is_registered_and_can_be_read_again(
        self, registrar: Registrar, initiate_login_uri: str
    ) -> None:
        await registrar.register(initiate_login_uri=initiate_login_uri)
        answer = await registrar.manage("GET", registrar.registered[0])
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
        assert answer["initiate_login_uri"] == initiate_login_uri

    @pytest.mark.conformance("oidcc-3rd_party-init-login-nohttps")
    @pytest.mark.rfc("openid-registration#3.3")
    async def test_a_uri_that_is_not_https_is_refused(
        self, registrar: Registrar, initiate_login_uri: str
    ) -> None:
        plain = initiate_login_uri.replace("https://", "http://")
        answer = await registrar.ask(initiate_login_uri=plain)
        assert answer.refusal == (400, "invalid_client_metadata")

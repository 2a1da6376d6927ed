"""The places of the claims about a person (OIDC Core §5.4, §5.5)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.certification.flow import Flow
from tests.certification.identity_token import unrequested
from tests.certification.provider import Provider
from tests.certification.relying_party import RelyingParty

ADDRESS = {"formatted", "street_address", "locality", "region", "postal_code", "country"}
CLAIMS: Mapping[str, set[str]] = {
    "profile": {
        *("name", "given_name", "family_name", "middle_name", "nickname", "preferred_username"),
        *("profile", "picture", "website", "gender", "birthdate", "zoneinfo", "locale"),
        "updated_at",
    },
    "email": {"email", "email_verified"},
    "address": {"address"},
    "phone": {"phone_number", "phone_number_verified"},
}
_NOT_TEXT = {
    "email_verified": bool,
    "phone_number_verified": bool,
    "updated_at": int,
    "address": dict,
}
_NAME = {"name": {"essential": True}}


def check_told(told: Mapping[str, Any], *scope: str) -> None:
    """All claims of these scope values are there, in the type of OIDC Core §5.1, and no more."""
    wanted = set().union(*(CLAIMS[value] for value in scope))
    assert unrequested(told) == wanted
    for name in wanted:
        assert type(told[name]) is _NOT_TEXT.get(name, str)
        assert told[name] != ""
    assert set(told.get("address", ADDRESS)) == ADDRESS


class ScopesAtUserinfo:
    """With an access token the claims are at userinfo, and only there."""

    @pytest.mark.conformance("oidcc-scope-profile")
    @pytest.mark.rfc("openid-core#5.1", "openid-core#5.4")
    async def test_userinfo_returns_the_profile(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        await told_at_userinfo(provider, await party.complete(scope="openid profile"), "profile")

    @pytest.mark.conformance("oidcc-scope-email")
    @pytest.mark.rfc("openid-core#5.1", "openid-core#5.4")
    async def test_userinfo_returns_the_email(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        await told_at_userinfo(provider, await party.complete(scope="openid email"), "email")

    @pytest.mark.conformance("oidcc-scope-address")
    @pytest.mark.rfc("openid-core#5.1.1", "openid-core#5.4")
    async def test_userinfo_returns_the_address(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        await told_at_userinfo(provider, await party.complete(scope="openid address"), "address")

    @pytest.mark.conformance("oidcc-scope-phone")
    @pytest.mark.rfc("openid-core#5.1", "openid-core#5.4")
    async def test_userinfo_returns_the_phone(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        await told_at_userinfo(provider, await party.complete(scope="openid phone"), "phone")

    @pytest.mark.conformance("oidcc-scope-all")
    @pytest.mark.rfc("openid-core#5.1", "openid-core#5.4")
    async def test_userinfo_returns_the_claims_of_all_scopes(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        flow = await party.complete(scope="openid email phone address profile")
        await told_at_userinfo(provider, flow, *CLAIMS)

    @pytest.mark.conformance("oidcc-claims-essential")
    @pytest.mark.rfc("openid-core#5.5", "openid-core#5.5.1")
    async def test_a_claim_requested_for_userinfo_is_returned_by_userinfo(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        flow = await party.complete(claims=json.dumps({"userinfo": _NAME}))
        userinfo = (await provider.userinfo(flow.access_token)).json
        assert unrequested(userinfo) == {"name"}
        assert unrequested(flow.claims or {}) == set()


async def told_at_userinfo(provider: Provider, flow: Flow, *scope: str) -> None:
    """Userinfo has these claims, and the ID token has none of them."""
    userinfo = (await provider.userinfo(flow.access_token)).json
    assert userinfo["sub"] == (flow.claims or {})["sub"]
    check_told(userinfo, *scope)
    assert unrequested(flow.claims or {}) == set()


class ScopesInIdentityToken:
    """Without one they stand in the identity token."""

    @pytest.mark.conformance("oidcc-scope-profile")
    @pytest.mark.rfc("openid-core#5.1", "openid-core#5.4")
    async def test_the_id_token_contains_the_profile(self, party: RelyingParty) -> None:
        check_told((await party.complete(scope="openid profile")).claims or {}, "profile")

    @pytest.mark.conformance("oidcc-scope-email")
    @pytest.mark.rfc("openid-core#5.1", "openid-core#5.4")
    async def test_the_id_token_contains_the_email(self, party: RelyingParty) -> None:
        check_told((await party.complete(scope="openid email")).claims or {}, "email")

    @pytest.mark.conformance("oidcc-scope-address")
    @pytest.mark.rfc("openid-core#5.1.1", "openid-core#5.4")
    async def test_the_id_token_contains_the_address(self, party: RelyingParty) -> None:
        check_told((await party.complete(scope="openid address")).claims or {}, "address")

    @pytest.mark.conformance("oidcc-scope-phone")
    @pytest.mark.rfc("openid-core#5.1", "openid-core#5.4")
    async def test_the_id_token_contains_the_phone(self, party: RelyingParty) -> None:
        check_told((await party.complete(scope="openid phone")).claims or {}, "phone")

    @pytest.mark.conformance("oidcc-scope-all")
    @pytest.mark.rfc("openid-core#5.1", "openid-core#5.4")
    async def test_the_id_token_contains_the_claims_of_all_scopes(
        self, party: RelyingParty
    ) -> None:
        flow = await party.complete(scope="openid email phone address profile")
        check_told(flow.claims or {}, *CLAIMS)

    @pytest.mark.conformance("oidcc-claims-essential")
    @pytest.mark.rfc("openid-core#5.5", "openid-core#5.5.1")
    async def test_a_claim_requested_for_the_id_token_is_in_the_id_token(
        self, party: RelyingParty
    ) -> None:
        flow = await party.complete(claims=json.dumps({"id_token": _NAME}))
        assert unrequested(flow.claims or {}) == {"name"}

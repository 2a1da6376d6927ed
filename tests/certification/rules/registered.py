"""The metadata that a client registers, and the response."""

from __future__ import annotations

import re
from uuid import uuid4

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from tests.certification.html import attributes_in
from tests.certification.provider import ALIAS, ISSUER, Provider
from tests.certification.registration import REDIRECT_URI, Registrar, jwks_of, published
from tests.certification.relying_party import RelyingParty
from tests.certification.rules.codes import refreshed
from tests.conftest import Clock
from tests.driving.browser import Page
from tests.driving.service import header_of

_LOCAL_SUBJECT = "248289761001"


class Registration:
    """Clients are registered, shown to people, and let in by the keys that they publish."""

    @pytest.mark.conformance("oidcc-server")
    @pytest.mark.rfc("openid-registration#3.1", "openid-registration#3.2", "7591#3", "7592#2.3")
    async def test_a_registered_client_completes_its_flow(self, registrar: Registrar) -> None:
        await (await registrar.register()).complete()

    @pytest.mark.conformance("oidcc-idtoken-rs256")
    @pytest.mark.rfc("openid-registration#2", "openid-core#3.1.3.7")
    async def test_identity_tokens_are_signed_as_registered(self, registrar: Registrar) -> None:
        party = await registrar.register(id_token_signed_response_alg="RS256")
        header = header_of((await party.complete()).id_token)
        assert (header["alg"], bool(header["kid"])) == ("RS256", True)

    @pytest.mark.conformance("oidcc-idtoken-unsigned")
    @pytest.mark.rfc("openid-registration#2", "openid-registration#3.3", "8725#3.1")
    async def test_unsigned_identity_tokens_cannot_be_registered(
        self, registrar: Registrar
    ) -> None:
        listed = registrar.provider.metadata["id_token_signing_alg_values_supported"]
        assert "none" not in listed
        refusal = (await registrar.ask(id_token_signed_response_alg="none")).refusal
        assert refusal == (400, "invalid_client_metadata")

    @pytest.mark.conformance("oidcc-userinfo-rs256")
    @pytest.mark.rfc("openid-core#5.3.2", "openid-registration#2")
    async def test_userinfo_is_signed_as_registered(
        self, registrar: Registrar, provider: Provider
    ) -> None:
        party = await registrar.register(userinfo_signed_response_alg="RS256")
        flow = await party.complete()
        answer = await provider.userinfo(flow.access_token)
        assert (answer.status, answer.headers["Content-Type"]) == (200, "application/jwt")
        keys = KeySet.import_key_set({"keys": (await provider.jwks())["keys"]})
        claims = jwt.decode(answer.body.decode(), keys, algorithms=["RS256"]).claims
        assert (claims["iss"], claims["aud"]) == (ISSUER, party.client_id)
        assert claims["sub"] == (flow.claims or {})["sub"]
        assert "nonce" not in claims

    @pytest.mark.conformance("oidcc-registration-logo-uri")
    @pytest.mark.rfc("openid-registration#2")
    async def test_login_and_consent_show_the_logo(self, registrar: Registrar) -> None:
        logo = f"{registrar.provider.suite.base}/images/openid.png"
        for page in await pages_of(await registrar.register(logo_uri=logo)):
            assert logo in attributes_in(page.text, "img", "src")
            allowed = re.search(r"img-src ([^;]*)", page.headers["Content-Security-Policy"])
            assert allowed is not None
            assert registrar.provider.suite.base in allowed[1]

    @pytest.mark.conformance("oidcc-registration-policy-uri")
    @pytest.mark.rfc("openid-registration#2")
    async def test_login_and_consent_link_to_the_policy(self, registrar: Registrar) -> None:
        policy = f"{registrar.provider.suite.base}/login.html"
        for page in await pages_of(await registrar.register(policy_uri=policy)):
            assert policy in attributes_in(page.text, "a", "href")

    @pytest.mark.conformance("oidcc-registration-tos-uri")
    @pytest.mark.rfc("openid-registration#2")
    async def test_login_and_consent_link_to_the_terms(self, registrar: Registrar) -> None:
        terms = "https://openid.net/wordpress-content/uploads/terms.html"
        for page in await pages_of(await registrar.register(tos_uri=terms)):
            assert terms in attributes_in(page.text, "a", "href")

    @pytest.mark.conformance("oidcc-registration-jwks-uri")
    @pytest.mark.rfc("openid-registration#2", "openid-core#9", "7523#3")
    async def test_a_client_authenticates_by_keys_that_it_publishes(
        self, registrar: Registrar, provider: Provider
    ) -> None:
        uri = published(provider, f"{ALIAS}/{uuid4()}", jwks_of(registrar.key))
        party = await registrar.register(jwks=None, jwks_uri=uri)
        await party.complete()

    @pytest.mark.conformance("oidcc-refresh-token-rp-key-rotation")
    @pytest.mark.rfc("openid-core#10.1.1", "openid-core#12.1")
    async def test_a_client_may_change_its_keys(
        self, registrar: Registrar, suite_keys: tuple[RSAKey, RSAKey], clock: Clock
    ) -> None:
        site, path = registrar.provider, f"{ALIAS}/{uuid4()}"
        first, second = (named(key, name) for key, name in zip(suite_keys, "12", strict=True))
        uri, registrar.key = published(site, path, jwks_of(first)), first
        party = await registrar.register(
            jwks=None, jwks_uri=uri, grant_types=registrar.grant_types("refresh_token")
        )
        refresh_token = await refreshed(party, site)
        published(site, path, jwks_of(second))
        clock.forward(seconds=31)
        party.key = second
        assert (await party.refresh(refresh_token)).status == 200

    @pytest.mark.conformance("oidcc-ensure-client-assertion-with-iss-aud-succeeds")
    @pytest.mark.rfc("7523#3", "openid-core#9")
    @pytest.mark.parametrize("audience", ["issuer", "token_endpoint"])
    async def test_an_assertion_may_be_for_the_issuer(
        self, registrar: Registrar, provider: Provider, audience: str
    ) -> None:
        party = await registrar.register()
        party.assertion_audience = provider.metadata[audience]
        await party.complete()

    @pytest.mark.conformance("oidcc-refresh-token")
    @pytest.mark.rfc("openid-core#11", "openid-core#12.2", "6749#6")
    async def test_a_refresh_token_gives_new_tokens_to_its_own_client_only(
        self, registrar: Registrar, provider: Provider
    ) -> None:
        grant_types = registrar.grant_types("refresh_token")
        first = await registrar.register(grant_types=grant_types)
        second = await registrar.register(grant_types=grant_types)
        await refreshed(first, provider)
        others = await refreshed(second, provider)
        assert (await first.refresh(others)).refusal == (400, "invalid_grant")


class RedirectUris:
    """Exactly what was registered, query and all."""

    @pytest.mark.conformance("oidcc-ensure-redirect-uri-in-authorization-request")
    @pytest.mark.rfc("openid-core#3.1.2.1")
    async def test_a_request_without_a_redirect_uri_gets_an_error_page(
        self, registrar: Registrar
    ) -> None:
        uris = [REDIRECT_URI, REDIRECT_URI + "/second"]
        party = await registrar.register(redirect_uris=uris)
        page = await party.authorize(party.request(redirect_uri=None))
        assert (page.status, page.error) == (400, "invalid_request")

    @pytest.mark.conformance("oidcc-redirect-uri-query-OK")
    @pytest.mark.rfc("6749#3.1.2", "openid-core#3.1.2.1")
    async def test_a_registered_query_is_kept(self, registrar: Registrar) -> None:
        uri = REDIRECT_URI + "?foo=bar"
        await (await registrar.register(redirect_uris=[uri])).complete()

    @pytest.mark.conformance("oidcc-redirect-uri-query-mismatch")
    @pytest.mark.rfc("6749#3.1.2.4", "openid-core#3.1.2.1")
    async def test_another_query_gets_an_error_page(self, registrar: Registrar) -> None:
        party = await registrar.register(redirect_uris=[REDIRECT_URI + "?foo=bar"])
        page = await party.authorize(party.request(redirect_uri=REDIRECT_URI + "?bar=foo"))
        assert (page.status, page.error) == (400, "invalid_request")

    @pytest.mark.conformance("oidcc-redirect-uri-query-added")
    @pytest.mark.rfc("6749#3.1.2.4", "openid-core#3.1.2.1")
    async def test_an_added_query_gets_an_error_page(self, registrar: Registrar) -> None:
        party = await registrar.register()
        page = await party.authorize(party.request(redirect_uri=party.redirect_uri + "?foo=bar"))
        assert (page.status, page.error) == (400, "invalid_request")

    @pytest.mark.conformance("oidcc-redirect-uri-regfrag")
    @pytest.mark.rfc("6749#3.1.2", "openid-registration#3.3")
    async def test_a_fragment_cannot_be_registered(self, registrar: Registrar) -> None:
        uri = REDIRECT_URI + "#foobar"
        refusal = (await registrar.ask(redirect_uris=[uri])).refusal
        assert refusal == (400, "invalid_redirect_uri")


class Sectors:
    """A sector document holds the redirect URIs of every client of the sector."""

    @pytest.mark.conformance("oidcc-registration-sector-uri")
    @pytest.mark.rfc("openid-registration#5", "openid-core#8.1")
    async def test_clients_of_a_sector_know_people_by_an_identifier_of_their_own(
        self, registrar: Registrar, provider: Provider
    ) -> None:
        uris = [REDIRECT_URI, "https://other.example/callback"]
        sector = published(provider, f"{ALIAS}/{uuid4()}", uris)
        party = await registrar.register(subject_type="pairwise", sector_identifier_uri=sector)
        flow = await party.complete()
        userinfo = (await provider.userinfo(flow.access_token)).json
        assert userinfo["sub"] == (flow.claims or {})["sub"] != _LOCAL_SUBJECT

    @pytest.mark.conformance("oidcc-registration-sector-bad")
    @pytest.mark.rfc("openid-registration#5", "openid-registration#3.3")
    async def test_a_sector_that_does_not_know_the_client_is_refused(
        self, registrar: Registrar, provider: Provider
    ) -> None:
        sector = published(provider, f"{ALIAS}/{uuid4()}", ["https://other.example/callback"])
        answer = await registrar.ask(subject_type="pairwise", sector_identifier_uri=sector)
        assert answer.refusal == (400, "invalid_client_metadata")


async def pages_of(party: RelyingParty) -> tuple[Page, Page]:
    """The pages of login and consent on the way to a client."""
    login = await party.authorize(party.request())
    consent = await party.browser.log_in(login)
    assert (login.has("login"), consent.has("consent-allow")) == (True, True)
    return login, consent


def named(key: RSAKey, kid: str) -> RSAKey:
    """The same key under a name."""
    return RSAKey.import_key(key.as_dict(private=True) | {"kid": kid})

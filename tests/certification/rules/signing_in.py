"""The login is asked when and as OIDC Core §3.1.2.1 says."""

from __future__ import annotations

import pytest

from tests.certification.flow import Flow
from tests.certification.provider import Provider
from tests.certification.relying_party import RelyingParty
from tests.conftest import Clock


def who_and_when(flow: Flow) -> tuple[str, int]:
    """The subject of an ID token, and the time of the sign-in."""
    assert flow.claims is not None
    return flow.claims["sub"], flow.claims["auth_time"]


class SigningIn:
    """prompt, max_age, hints, and what is only taste."""

    @pytest.mark.conformance("oidcc-prompt-login")
    @pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#3.1.2.3")
    async def test_prompt_login_asks_for_the_login_again(
        self, party: RelyingParty, clock: Clock
    ) -> None:
        subject, first = who_and_when(await party.complete())
        clock.forward(seconds=1)
        request = party.request(prompt="login")
        page = await party.authorize(request)
        assert page.has("login")
        again = who_and_when(await party.finish(await party.follow(request, page)))
        assert (again[0], again[1] > first) == (subject, True)

    @pytest.mark.conformance("oidcc-prompt-none-not-logged-in")
    @pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#3.1.2.6")
    async def test_prompt_none_is_refused_without_a_session(self, party: RelyingParty) -> None:
        (await party.respond(prompt="none", state="s" * 128)).check_error("login_required")

    @pytest.mark.conformance("oidcc-prompt-none-logged-in")
    @pytest.mark.rfc("openid-core#3.1.2.1")
    async def test_prompt_none_succeeds_where_someone_is(self, party: RelyingParty) -> None:
        first = who_and_when(await party.complete())
        assert who_and_when(await party.complete(prompt="none")) == first

    @pytest.mark.conformance("oidcc-max-age-1")
    @pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#2")
    async def test_a_login_older_than_max_age_is_asked_for_again(
        self, party: RelyingParty, clock: Clock
    ) -> None:
        subject, first = who_and_when(await party.complete())
        clock.forward(seconds=2)
        request = party.request(max_age="1")
        page = await party.authorize(request)
        assert page.has("login")
        again = who_and_when(await party.finish(await party.follow(request, page)))
        assert (again[0], again[1] >= first + 2) == (subject, True)

    @pytest.mark.conformance("oidcc-max-age-10000")
    @pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#2")
    async def test_a_login_within_max_age_counts(self, party: RelyingParty) -> None:
        first = who_and_when(await party.complete(max_age="15000"))
        page = await party.authorize(party.request(max_age="10000"))
        assert not page.has("login")
        assert who_and_when(await party.complete(max_age="10000")) == first

    @pytest.mark.conformance("oidcc-id-token-hint")
    @pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#3.1.2.2")
    async def test_the_person_whom_the_hint_names_is_not_asked(self, party: RelyingParty) -> None:
        flow = await party.complete()
        again = await party.complete(prompt="none", id_token_hint=flow.id_token)
        assert who_and_when(again) == who_and_when(flow)

    @pytest.mark.conformance("oidcc-login-hint")
    @pytest.mark.rfc("openid-core#3.1.2.1")
    async def test_the_login_hint_fills_the_user_name(self, party: RelyingParty) -> None:
        request = party.request(login_hint="buffy@provider.test")
        page = await party.authorize(request)
        assert page.element("username")["value"] == "buffy@provider.test"
        await party.finish(await party.follow(request, page))

    @pytest.mark.conformance("oidcc-display-page")
    @pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#15.1")
    async def test_display_page_is_accepted(self, party: RelyingParty) -> None:
        await party.complete(display="page")

    @pytest.mark.conformance("oidcc-display-popup")
    @pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#15.1")
    async def test_display_popup_is_accepted(self, party: RelyingParty) -> None:
        await party.complete(display="popup")

    @pytest.mark.conformance("oidcc-ui-locales")
    @pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#15.1")
    async def test_an_unknown_ui_locale_is_accepted(self, party: RelyingParty) -> None:
        await party.complete(ui_locales="se")

    @pytest.mark.conformance("oidcc-claims-locales")
    @pytest.mark.rfc("openid-core#5.2", "openid-core#15.1")
    async def test_an_unknown_claims_locale_is_accepted(self, party: RelyingParty) -> None:
        await party.complete(claims_locales="se")

    @pytest.mark.conformance("oidcc-ensure-request-with-acr-values-succeeds")
    @pytest.mark.rfc("openid-core#3.1.2.1", "openid-core#2")
    async def test_the_acr_is_one_of_those_asked_for(
        self, party: RelyingParty, provider: Provider
    ) -> None:
        supported = provider.metadata["acr_values_supported"]
        flow = await party.complete(acr_values=" ".join(supported))
        assert (flow.claims or {})["acr"] in supported

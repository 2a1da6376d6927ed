"""The steps of a sign-in and of the pages after it; no step knows another (OIDC Core §3.1.2.3, §3.1.2.4)."""

from __future__ import annotations

from collections.abc import Mapping

from service.authorize.interaction import Interaction, Step
from service.authorize.request import AuthorizeRequest
from service.authorize.second_factor import SECOND_FACTOR
from service.identity.password_sign_in import AMR
from service.model.registry import Registry
from service.model.tenant import LinkName
from service.protocol.authorization_request import CREATE, NO_RESPONSE
from service.protocol.errors import (
    AccessDenied,
    AccountSelectionRequired,
    ConsentRequired,
    InteractionRequired,
    LoginRequired,
)

CREATE_ACCOUNT_PATH = "/account/create"

Links = Mapping[LinkName, str]


def _needs_account(interaction: Interaction) -> bool:
    """Ask once per request; without a session the login page asks anyway."""
    return (
        "select_account" in interaction.request.prompt
        and interaction.session is not None
        and not interaction.answers.account_selected
        and not interaction.answers.authenticated
    )


def find_provider(request: AuthorizeRequest, registry: Registry) -> str | None:
    """Return the provider that the request names, else the only one that can meet its acr."""
    if request.idp is not None or not request.acr.essential:
        return request.idp
    trusted = [
        name
        for name in registry.identity_providers
        if request.accepts_users_of(name, registry) and registry.trusts_methods_of(name)
    ]
    return trusted[0] if len(trusted) == 1 else None


def _provider_can_meet_acr(interaction: Interaction) -> bool:
    """Return whether a provider whose acr and amr count can authenticate the user again."""
    if interaction.session is None or interaction.answers.authenticated:
        return False
    provider = find_provider(interaction.request, interaction.registry)
    return provider is not None and interaction.registry.trusts_methods_of(provider)


def _password_can_meet_acr(interaction: Interaction) -> bool:
    return (
        not interaction.answers.authenticated
        and interaction.request.client.enable_local_login
        and interaction.request.idp is None
        and interaction.is_acr_met_by(AMR)
    )


def _needs_consent(interaction: Interaction) -> bool:
    """Return whether the request or the client's registration demands a consent that is missing.

    One for authorization_details is never remembered: each of them may be another payment.
    """
    is_of_device = interaction.request.response_type is NO_RESPONSE  # whose own page asks
    if is_of_device or interaction.answers.consented_scope is not None:
        return False
    request, client = interaction.request, interaction.request.client
    if "consent" in request.prompt or request.authorization_details:
        return True
    is_remembered = (
        client.allow_remember_consent
        and request.scope <= interaction.consented_scope
        and request.claims.beyond_scope <= interaction.consented_claims
    )
    return client.require_consent and not is_remembered


def make_create_account(links: Links) -> Step:
    """Return the step at which a client asks for a new account (Initiating User Registration via OpenID Connect 1.0 §4).

    It leads to that page until the user has signed in; it is needed nowhere without such a page.
    """

    def is_needed(interaction: Interaction) -> bool:
        request = interaction.request
        return (
            CREATE in request.prompt
            and not interaction.answers.authenticated
            and request.find_link("register", links) is not None
        )

    return Step(path=CREATE_ACCOUNT_PATH, refusal=InteractionRequired, is_needed=is_needed)


SELECT_ACCOUNT = Step(
    path="/account/select", refusal=AccountSelectionRequired, is_needed=_needs_account
)
IDENTITY_PROVIDER = Step(
    path="/account/provider",
    refusal=LoginRequired,
    is_needed=lambda interaction: interaction.request.idp is not None and interaction.needs_login,
    can_meet_acr=_provider_can_meet_acr,
)
"""Sends the user to an identity provider without a page of this service (acr_values=idp:<name>)."""
LOGIN = Step(
    path="/account/login",
    refusal=LoginRequired,
    is_needed=lambda interaction: interaction.needs_login,
    can_meet_acr=_password_can_meet_acr,
)
NOT_ALLOWED = Step(
    path="/account/not-allowed",
    refusal=AccessDenied,
    reason="the user may not use the client",
    is_needed=lambda interaction: not interaction.may_use_client,
)
CONSENT = Step(path="/account/consent", refusal=ConsentRequired, is_needed=_needs_consent)

BUILTIN_STEPS: tuple[Step, ...] = (
    SELECT_ACCOUNT,
    IDENTITY_PROVIDER,
    LOGIN,
    SECOND_FACTOR,
    NOT_ALLOWED,
    CONSENT,
)
"""In this order; each has its page in `endpoints/`."""

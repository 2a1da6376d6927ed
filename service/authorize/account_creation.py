"""The step at which a client asks for a new account (Initiating User Registration via OpenID Connect 1.0 §4)."""

from __future__ import annotations

from collections.abc import Mapping

from service.authorize.interaction import Interaction, Step
from service.model.tenant import LinkName, Tenant
from service.protocol.authorization_request import CREATE
from service.protocol.errors import InteractionRequired

PATH = "/account/create"

Links = Mapping[LinkName, str]


def find_register_link(links: Links, tenant: Tenant | None) -> str | None:
    """Return the operator's page at which accounts are created, or the tenant's own."""
    own: Links = tenant.links if tenant else {}
    return own.get("register") or links.get("register")


def make_step(links: Links) -> Step:
    """Return the step, which leads to that page until the user has signed in; it is needed nowhere without such a page."""

    def is_needed(interaction: Interaction) -> bool:
        request = interaction.request
        return (
            CREATE in request.prompt
            and not interaction.answers.authenticated
            and find_register_link(links, request.tenant) is not None
        )

    return Step(path=PATH, refusal=InteractionRequired, is_needed=is_needed)

"""Lists the endpoints for people who come without a client's request: start page, account and logout."""

from __future__ import annotations

from service.edge import Edge
from service.endpoints.account import AccountEndpoint
from service.endpoints.change_password import ChangePasswordEndpoint
from service.endpoints.check_session import CheckSessionEndpoint
from service.endpoints.demonstration import DemonstrationEndpoint
from service.endpoints.end_session import EndSessionEndpoint
from service.endpoints.error import ErrorEndpoint
from service.endpoints.home import HomeEndpoint
from service.http.endpoint import Endpoint
from service.parts import Parts


def account_endpoints(parts: Parts, edge: Edge) -> tuple[Endpoint, ...]:
    """For people who end what they began: they sign out, or take back what clients may do."""
    return (
        EndSessionEndpoint(
            clients=parts.clients,
            hints=parts.id_token_hints,
            front_channel=parts.front_channel,
            parking=parts.parked_logouts,
            visits=edge.visits,
            pages=edge.pages,
            client_address=edge.client_address,
            errors=edge.errors,
            emit=parts.emit,
        ),
        AccountEndpoint(
            issuer=parts.issuer,
            sign_in=edge.sign_in_pages,
            sessions=parts.sessions,
            front_channel=parts.front_channel,
            access=parts.granted_access,
            registry=parts.registry,
            clients=parts.clients,
            errors=edge.errors,
            emit=parts.emit,
        ),
        CheckSessionEndpoint.reading(edge.visits.cookies.browser_state_name),
        home_endpoint(parts, edge),
        ChangePasswordEndpoint(location=parts.configuration.ui.links.get("forgot_password")),
        ErrorEndpoint(errors=edge.errors),
    )


def home_endpoint(parts: Parts, edge: Edge) -> Endpoint:
    """For people who type the address of the service."""
    if not parts.configuration.is_development:
        return HomeEndpoint(pages=edge.pages)
    return DemonstrationEndpoint(
        issuer=parts.issuer,
        registry=parts.registry,
        sign_in=edge.sign_in_pages,
        passwords=parts.local_sign_in.passwords,
        errors=edge.errors,
        now=parts.now,
    )

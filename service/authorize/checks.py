"""The rules that an authorization request must meet before anybody is asked anything, in their order."""

from __future__ import annotations

from collections.abc import Callable

from service.authorize.request import AuthorizeRequest
from service.model.registry import Registry
from service.protocol.errors import InvalidRequest, InvalidScope, UnauthorizedClient
from service.protocol.pkce import PLAIN
from service.protocol.refused_value import RefusedValue
from service.protocol.scope import OFFLINE_ACCESS, OPENID
from service.tokens.requested_scope import check_allowed, check_resources

Check = Callable[[AuthorizeRequest, Registry], None]


def response_type_is_allowed(request: AuthorizeRequest, _: Registry) -> None:
    """The client registered this response type (RFC 7591 §2)."""
    if request.response_type.name not in request.client.allowed_response_types:
        raise UnauthorizedClient(
            "the client is not registered for this response_type",
            refused=RefusedValue(
                "response_type", request.response_type.name, request.client.client_id
            ),
        )


def features_that_the_client_requires_are_supported(request: AuthorizeRequest, _: Registry) -> None:
    """A registration that asks for more protection than is served here gets nothing less."""
    feature = request.client.unsupported_feature
    if feature is not None:
        raise UnauthorizedClient(
            f"the client requires {feature}, which this server does not support"
        )


def tokens_may_go_through_the_browser(request: AuthorizeRequest, _: Registry) -> None:
    """The client lets access tokens be seen by the browser (RFC 9700 §2.1.2)."""
    if request.response_type.token and not request.client.allow_access_tokens_via_browser:
        raise UnauthorizedClient("the client may not receive access tokens through the browser")


def code_challenge_is_sent_where_required(request: AuthorizeRequest, _: Registry) -> None:
    """PKCE protects the code (RFC 7636 §4.4.1, RFC 9700 §2.1.1)."""
    challenge = request.code_challenge
    if request.response_type.code and challenge is None and request.client.require_pkce:
        raise InvalidRequest("code_challenge is missing")
    if challenge and challenge.method == PLAIN and not request.client.allow_plain_text_pkce:
        raise InvalidRequest("code_challenge_method has to be S256")


def scope_is_allowed(request: AuthorizeRequest, registry: Registry) -> None:
    """Every scope value is known and in the client's registration (RFC 6749 §3.3)."""
    if not request.scope - {OFFLINE_ACCESS}:
        raise InvalidScope("scope holds nothing to give access to")
    check_allowed(request.scope, request.client, registry)


def scope_fits_response_type(request: AuthorizeRequest, registry: Registry) -> None:
    """An identity token needs openid; alone it tells of identity only, a token alone of APIs only."""
    kind = request.response_type
    identity = request.scope & frozenset(registry.identity_resources)
    if kind.id_token and OPENID not in request.scope:
        raise InvalidScope("scope does not hold openid, which an identity token needs")
    if kind.id_token and not kind.token and not kind.code and identity != request.scope:
        raise InvalidScope("scope holds an API scope, which an identity token alone cannot carry")
    if kind.token and not kind.id_token and not kind.code and identity:
        raise InvalidScope("scope holds an identity scope, which needs an identity token")


def resources_fit_scope(request: AuthorizeRequest, registry: Registry) -> None:
    """Every resource is known and understands some of the scope (RFC 8707 §2.1)."""
    check_resources(registry, request.resources, request.scope)


def nonce_is_sent_for_id_token(request: AuthorizeRequest, _: Registry) -> None:
    """An identity token through the browser is bound to the client's session (OIDC Core §3.2.2.1)."""
    if request.response_type.id_token and request.nonce is None:
        raise InvalidRequest("nonce is missing")


def userinfo_claims_can_be_fetched(request: AuthorizeRequest, _: Registry) -> None:
    """Claims at userinfo take an access token to ask there with (OIDC Core §5.5)."""
    kind = request.response_type
    if request.claims.at_userinfo and not kind.code and not kind.token:
        raise InvalidRequest("claims.userinfo needs a response_type that brings an access token")


CHECKS: tuple[Check, ...] = (
    response_type_is_allowed,
    features_that_the_client_requires_are_supported,
    tokens_may_go_through_the_browser,
    code_challenge_is_sent_where_required,
    scope_is_allowed,
    scope_fits_response_type,
    resources_fit_scope,
    nonce_is_sent_for_id_token,
    userinfo_claims_can_be_fetched,
)


def check(request: AuthorizeRequest, registry: Registry) -> None:
    """Raise the first refusal."""
    for each in CHECKS:
        each(request, registry)

"""The clients of the realm."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import cast

import msgspec

from service.model.polling import CIBA, DEVICE_CODE
from service.protocol.token_types import GRANT_TYPE as TOKEN_EXCHANGE
from service.takeover.found import Found
from service.takeover.keycloak.client_credentials import (
    NoCredential,
    credentials_of,
    keys_of,
)
from service.takeover.keycloak.known_entries import CLIENT, CLIENT_ATTRIBUTES, UMA
from service.takeover.keycloak.lifetimes import lifetimes
from service.takeover.keycloak.mappers import Mapped, Mappers
from service.takeover.keycloak.scopes import OFFLINE, Scopes
from service.takeover.keycloak.urls import ClientUris, needs_http, read_uris, web_host
from service.takeover.node import Node, quoted
from service.takeover.report import Report

BUILT_IN = frozenset(
    {
        *("account", "account-console", "admin-cli", "broker", "realm-management"),
        "security-admin-console",
    }
)
"""The clients that every realm has for itself."""
_TRANSLATED = re.compile(r"\$\{.*\}", re.DOTALL)
"""A name that stands for a text in each language."""
_LEVELS = {
    "acr.loa.map": "authentication_contexts",
    "default.acr.values": "default_acr_values",
    "minimum.acr.value": "required_acr",
}
_LIGHTWEIGHT = "client.use.lightweight.access.token.enabled"
_FOR_USERS = frozenset({"authorization_code", "implicit", "password", DEVICE_CODE, CIBA})
_ALGORITHMS = {
    "id_token_signed_response_alg": "id.token.signed.response.alg",
    "userinfo_signed_response_alg": "user.info.response.signature.alg",
    "userinfo_encrypted_response_alg": "user.info.encrypted.response.alg",
    "userinfo_encrypted_response_enc": "user.info.encrypted.response.enc",
    "id_token_encrypted_response_alg": "id.token.encrypted.response.alg",
    "id_token_encrypted_response_enc": "id.token.encrypted.response.enc",
    "authorization_signed_response_alg": "authorization.signed.response.alg",
    "authorization_encrypted_response_alg": "authorization.encrypted.response.alg",
    "authorization_encrypted_response_enc": "authorization.encrypted.response.enc",
    "request_object_encryption_alg": "request.object.encryption.alg",
    "request_object_encryption_enc": "request.object.encryption.enc",
}
_OPEN = frozenset({None, "", "any", "unsigned"})
_SWITCHES = {
    "require_pushed_authorization_requests": "require.pushed.authorization.requests",
    "tls_client_certificate_bound_access_tokens": "tls.client.certificate.bound.access.tokens",
    "dpop_bound_access_tokens": "dpop.bound.access.tokens",
}


class FoundClient(msgspec.Struct, kw_only=True):
    """A client in the making."""

    client_id: str
    place: str
    entry: dict[str, object]
    places: dict[tuple[str, str], str]
    grant_types: list[str]
    default_scopes: list[str]
    optional_scopes: list[str]
    mapped: Mapped
    has_full_scope: bool
    exchanges: bool

    @property
    def is_for_users(self) -> bool:
        """Whether it gets tokens of users."""
        return not _FOR_USERS.isdisjoint(self.grant_types)


class Clients:
    """Reads the clients; what has no place here is reported."""

    def __init__(self, realm: Node, scopes: Scopes, mappers: Mappers, found: Found) -> None:
        """Take what the clients refer to."""
        self._realm, self._scopes, self._mappers, self._found = realm, scopes, mappers, found
        self.receivers: dict[str, tuple[str, object]] = {}
        """Clients that may introspect tokens, with their places and secrets."""

    def read(self, nodes: list[Node]) -> Iterator[FoundClient]:
        """Yield the clients that get tokens."""
        for node in nodes:
            with self._found.taking(node.place):
                client = self._read_one(node)
                if client is not None:
                    yield client

    def _read_one(self, node: Node) -> FoundClient | None:
        client_id, report = node.required_text("clientId"), self._found.report
        report.name(node.place, client_id)
        if client_id in BUILT_IN:
            return None
        if (node.text("protocol") or "openid-connect") != "openid-connect":
            report.leave_out(
                node.place, "a client of SAML", "there is no SAML here: use OpenID Connect"
            )
            return None
        is_public, only_receives = node.flag("publicClient"), node.flag("bearerOnly")
        try:
            credentials = {} if is_public else dict(credentials_of(node))
        except NoCredential as missing:
            if only_receives:
                self.receivers[client_id] = (node.place, None)
            else:
                report.leave_out(*missing.args)
            return None
        if not is_public:
            self.receivers[client_id] = (node.place, credentials.get("client_secrets"))
        if only_receives:
            return None
        mapped = self._mappers.read(node.items("protocolMappers"), client_id)
        if mapped.is_pairwise:
            remedy = (
                "write the client by hand with subject_type: pairwise; its users get other subjects"
            )
            report.leave_out(
                node.place, "its subjects are pairwise, and computed otherwise here", remedy
            )
            return None
        return self._make(node, client_id, credentials, mapped)

    def _make(
        self, node: Node, client_id: str, credentials: Mapping[str, object], mapped: Mapped
    ) -> FoundClient:
        uris, grant_types = read_uris(node, self._found.report), _grant_types(node)
        optional, default = node.texts("optionalClientScopes"), node.texts("defaultClientScopes")
        offline = OFFLINE in {*optional, *default}
        keys = _keys(node, credentials)
        entry: dict[str, object] = {
            "client_id": client_id,
            "enabled": None if node.flag("enabled", True) else False,
            **_appearance(node),
            "require_client_secret": False if node.flag("publicClient") else None,
            **keys,
            **_request_objects(node.below("attributes"), keys, self._found.report),
            "allowed_grant_types": grant_types,
            "allow_offline_access": True if offline else None,
            **self._uris(uris),
            **_protocol(node),
            **lifetimes(
                self._realm,
                node.below("attributes"),
                offline=offline,
                is_implicit=grant_types == ["implicit"],
            ),
            "refresh_without_offline_access": True if "refresh_token" in grant_types else None,
        }
        self._report_what_is_left(node)
        return FoundClient(
            client_id=client_id,
            place=node.place,
            entry=entry,
            places=uris.places,
            grant_types=grant_types,
            default_scopes=default,
            optional_scopes=optional,
            mapped=mapped,
            has_full_scope=node.flag("fullScopeAllowed", True),
            exchanges=TOKEN_EXCHANGE in grant_types,
        )

    def _uris(self, uris: ClientUris) -> Mapping[str, object]:
        insecure = [*needs_http(uris)]
        for place in insecure:
            message = "http to another host is allowed by allow_insecure_redirect_uris"
            self._found.report.change(place, message)
        return {
            "redirect_uris": [*uris.redirect_uris] or None,
            "allow_insecure_redirect_uris": True if insecure else None,
            "post_logout_redirect_uris": [*uris.post_logout_redirect_uris] or None,
            "allowed_cors_origins": [*uris.origins] or None,
        }

    def _report_what_is_left(self, node: Node) -> None:
        report, attributes = self._found.report, node.below("attributes")
        CLIENT.report(node, report)
        signed = {"access.token.signed.response.alg": self._realm.text("defaultSignatureAlgorithm")}
        CLIENT_ATTRIBUTES.report(attributes, report, usual=signed)
        flows = [
            key
            for key, each in node.below("authenticationFlowBindingOverrides").members()
            if each.value
        ]
        if flows:
            place = f"{node.place}.authenticationFlowBindingOverrides"
            report.leave_out(
                place, "flows of its own", "see mfa_required, required_acr, allowed_users"
            )
        if node.has("authorizationSettings") or node.flag("authorizationServicesEnabled"):
            place = f"{node.place}.authorizationSettings"
            report.leave_out(place, UMA.reason, UMA.what_to_do)
        report_levels(attributes, report)
        if attributes.flag(_LIGHTWEIGHT):
            message = "its access tokens have all claims, also those that its lightweight ones had at introspection only"
            report.change(f"{attributes.place}[{quoted(_LIGHTWEIGHT)}]", message)
        if attributes.flag("oauth2.jwt.authorization.grant.enabled"):
            place = f"{attributes.place}[{quoted('oauth2.jwt.authorization.grant.enabled')}]"
            report.leave_out(place, "assertions of other issuers", "write trusted_issuers")


def report_levels(attributes: Node, report: Report) -> None:
    """Report the levels of authentication that a client or the realm has and asks for."""
    for name, remedy in _LEVELS.items():
        if (attributes.text(name) or "{}") != "{}":
            place = f"{attributes.place}[{quoted(name)}]"
            report.leave_out(place, "levels of authentication", f"write {remedy}")


def _appearance(node: Node) -> Mapping[str, object]:
    """Return what users see of a client."""
    name, attributes = node.text("name"), node.below("attributes")
    return {
        "client_name": name if name and not _TRANSLATED.fullmatch(name) else None,
        "client_uri": _link(node, node.text("baseUrl")),
        "logo_uri": attributes.text("logoUri") or None,
        "policy_uri": attributes.text("policyUri") or None,
        "tos_uri": attributes.text("tosUri") or None,
        "require_consent": True if node.flag("consentRequired") else None,
    }


def _keys(node: Node, credentials: Mapping[str, object]) -> Mapping[str, object]:
    """Return the credentials of a client, and the keys that it signs requests with or that are encrypted to."""
    if "jwks" in credentials or "jwks_uri" in credentials:
        return credentials
    return {**credentials, **keys_of(node, required=False)}


def _protocol(node: Node) -> Mapping[str, object]:
    """Return the keys on requests, responses and logout."""
    attributes = node.below("attributes")
    return {
        **_pkce(attributes),
        **_logout(node),
        **_ciba(attributes),
        **{key: _algorithm(attributes, name) for key, name in _ALGORITHMS.items()},
        **{key: True if attributes.flag(name) else None for key, name in _SWITCHES.items()},
        "access_token_typ": None if attributes.flag("access.token.header.type.rfc9068") else "JWT",
    }


def _algorithm(attributes: Node, name: str) -> str | None:
    """Return an algorithm; the console writes words of its own where the client leaves it open."""
    algorithm = attributes.text(name)
    return algorithm if algorithm not in _OPEN else None


def _request_objects(
    attributes: Node, keys: Mapping[str, object], report: Report
) -> Mapping[str, object]:
    """Return what counts for request objects; a requirement that unsigned ones met is reported, as it is one of a signature here (RFC 9101 §10.5)."""
    algorithm = _algorithm(attributes, "request.object.signature.alg")
    is_required = (attributes.text("request.object.required") or "not required") != "not required"
    is_signed = is_required and (algorithm != "none" if algorithm else _can_verify_requests(keys))
    if is_required and not is_signed:
        report.leave_out(
            f"{attributes.place}[{quoted('request.object.required')}]",
            "requests without a request object are refused there, but unsigned ones count; here both count",
            "let the client sign its request objects: add jwks and require_signed_request_object",
        )
    uris = attributes.text("request.uris")
    return {
        "request_object_signing_alg": algorithm,
        "require_signed_request_object": True if is_signed else None,
        "request_uris": uris.split("##") if uris else None,
    }


def _can_verify_requests(keys: Mapping[str, object]) -> bool:
    """Return whether there is a key, or a readable secret, to verify request objects by."""
    secrets = cast("list[Mapping[str, object]]", keys.get("client_secrets") or [])
    return not {"jwks", "jwks_uri"}.isdisjoint(keys) or any("value" in each for each in secrets)


def _grant_types(node: Node) -> list[str]:
    attributes, is_public = node.below("attributes"), node.flag("publicClient")
    switches = {
        "authorization_code": node.flag("standardFlowEnabled", True),
        "implicit": node.flag("implicitFlowEnabled"),
        "password": node.flag("directAccessGrantsEnabled"),
        "client_credentials": node.flag("serviceAccountsEnabled") and not is_public,
        DEVICE_CODE: attributes.flag("oauth2.device.authorization.grant.enabled"),
        CIBA: attributes.flag("oidc.ciba.grant.enabled"),
        TOKEN_EXCHANGE: attributes.flag("standard.token.exchange.enabled"),
    }
    types = [name for name, is_on in switches.items() if is_on]
    refreshes = not _FOR_USERS.isdisjoint([*types]) and types != ["implicit"]
    if refreshes and attributes.flag("use.refresh.tokens", True):
        types.append("refresh_token")
    return types


def _link(node: Node, url: str | None) -> str | None:
    root = node.text("rootUrl") or ""
    absolute = f"{root}{url}" if url and url.startswith("/") else url
    return absolute if absolute and web_host(absolute) else None


def _pkce(attributes: Node) -> Mapping[str, object]:
    method = attributes.text("pkce.code.challenge.method")
    if method == "S256":
        return {}
    return (
        {"require_pkce": True, "allow_plain_text_pkce": True}
        if method == "plain"
        else {"require_pkce": False}
    )


def _logout(node: Node) -> Mapping[str, object]:
    attributes, keys = node.below("attributes"), dict[str, object]()
    front = attributes.text("frontchannel.logout.url")
    if node.flag("frontchannelLogout") and front:
        keys["frontchannel_logout_uri"] = front
        if not attributes.flag("frontchannel.logout.session.required", True):
            keys["frontchannel_logout_session_required"] = False
    back = attributes.text("backchannel.logout.url")
    if back:
        keys["backchannel_logout_uri"] = back
        if not attributes.flag("backchannel.logout.session.required", True):
            keys["backchannel_logout_session_required"] = False
    return keys


def _ciba(attributes: Node) -> Mapping[str, object]:
    if not attributes.flag("oidc.ciba.grant.enabled"):
        return {}
    return {
        "backchannel_token_delivery_mode": attributes.text("ciba.backchannel.token.delivery.mode")
        or "poll",
        "backchannel_client_notification_endpoint": attributes.text(
            "ciba.backchannel.client.notification.endpoint"
        )
        or None,
        "backchannel_authentication_request_signing_alg": attributes.text(
            "ciba.backchannel.auth.request.signing.alg"
        )
        or None,
    }

"""The certification profiles: the suite's plans for each, and the modules that they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.certification.fapi2.modules import FAPI_CIBA, MESSAGE_SIGNING, SECURITY_PROFILE


@dataclass(frozen=True, kw_only=True)
class Profile:
    """One profile that the OpenID Foundation certifies; its rules stand in the folder of its name."""

    title: str
    plans: tuple[str, ...]
    modules: tuple[str, ...]
    clients: tuple[str, ...] = ()
    """client, client2 and, where a plan wants it, the one of client_secret_post; none: they register themselves."""
    has_keys: bool = False
    """Whether its clients have keys and no secrets: two for each pair of client_auth_type and sender_constrain."""


def secret_of(client_id: str) -> str:
    """The secret of a static client, as the first lines of config.conformance.yaml say."""
    return f"{client_id}-secret-for-the-conformance-suite"


INITIAL_ACCESS_TOKEN = "initial-access-token-for-the-conformance-suite"
"""What opens registration."""

_EVERY_RUN = (
    "oidcc-server",
    "oidcc-response-type-missing",
    "oidcc-idtoken-signature",
    "oidcc-scope-profile",
    "oidcc-scope-email",
    "oidcc-scope-address",
    "oidcc-scope-phone",
    "oidcc-scope-all",
    "oidcc-alternate-happy-flow",
    "oidcc-display-page",
    "oidcc-display-popup",
    "oidcc-prompt-login",
    "oidcc-prompt-none-not-logged-in",
    "oidcc-prompt-none-logged-in",
    "oidcc-max-age-1",
    "oidcc-max-age-10000",
    "oidcc-ensure-request-with-unknown-parameter-succeeds",
    "oidcc-id-token-hint",
    "oidcc-login-hint",
    "oidcc-ui-locales",
    "oidcc-claims-locales",
    "oidcc-ensure-request-with-acr-values-succeeds",
    "oidcc-ensure-registered-redirect-uri",
    "oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported",
    "oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported",
    "oidcc-ensure-request-object-with-redirect-uri",
    "oidcc-claims-essential",
    "oidcc-userinfo-get",
    "oidcc-userinfo-post-header",
    "oidcc-userinfo-post-body",
)
_NONCE_OPTIONAL = ("oidcc-ensure-request-without-nonce-succeeds-for-code-flow",)
_NONCE_REQUIRED = ("oidcc-ensure-request-without-nonce-fails",)
_CODES = (
    "oidcc-codereuse",
    "oidcc-codereuse-30seconds",
    "oidcc-server-client-secret-post",
    "oidcc-refresh-token",
    "oidcc-ensure-request-with-valid-pkce-succeeds",
)
_BASIC = (
    *_EVERY_RUN,
    *_NONCE_OPTIONAL,
    *_CODES,
    "oidcc-ensure-post-request-succeeds",
    "oidcc-idtoken-unsigned",
)
_IMPLICIT = (*_EVERY_RUN, *_NONCE_REQUIRED)
_HYBRID = (*_EVERY_RUN, *_NONCE_REQUIRED, *_NONCE_OPTIONAL, *_CODES)

PROFILES: Mapping[str, Profile] = {
    "basic": Profile(
        title="Basic OP",
        plans=("oidcc-basic-certification-test-plan",),
        modules=_BASIC,
        clients=("basic", "basic-2", "basic-post"),
    ),
    "implicit": Profile(
        title="Implicit OP",
        plans=("oidcc-implicit-certification-test-plan",),
        modules=_IMPLICIT,
        clients=("implicit", "implicit-2"),
    ),
    "hybrid": Profile(
        title="Hybrid OP",
        plans=("oidcc-hybrid-certification-test-plan",),
        modules=_HYBRID,
        clients=("hybrid", "hybrid-2", "hybrid-post"),
    ),
    "config": Profile(
        title="Config OP",
        plans=("oidcc-config-certification-test-plan",),
        modules=("oidcc-discovery-endpoint-verification",),
    ),
    "form_post": Profile(
        title="Form Post OP",
        plans=(
            "oidcc-formpost-basic-certification-test-plan",
            "oidcc-formpost-implicit-certification-test-plan",
            "oidcc-formpost-hybrid-certification-test-plan",
        ),
        modules=tuple(dict.fromkeys((*_BASIC, *_IMPLICIT, *_HYBRID))),
        clients=("form-post", "form-post-2", "form-post-post"),
    ),
    "dynamic": Profile(
        title="Dynamic OP",
        plans=("oidcc-dynamic-certification-test-plan",),
        modules=(
            "oidcc-idtoken-rs256",
            "oidcc-idtoken-unsigned",
            "oidcc-userinfo-rs256",
            "oidcc-ensure-redirect-uri-in-authorization-request",
            "oidcc-redirect-uri-query-OK",
            "oidcc-redirect-uri-query-mismatch",
            "oidcc-redirect-uri-query-added",
            "oidcc-redirect-uri-regfrag",
            "oidcc-discovery-endpoint-verification",
            "oidcc-server",
            "oidcc-registration-logo-uri",
            "oidcc-registration-policy-uri",
            "oidcc-registration-tos-uri",
            "oidcc-registration-jwks-uri",
            "oidcc-registration-sector-uri",
            "oidcc-registration-sector-bad",
            "oidcc-server-rotate-keys",
            "oidcc-refresh-token-rp-key-rotation",
            "oidcc-request-uri-unsigned",
            "oidcc-request-uri-signed-rs256",
            "oidcc-ensure-request-object-with-redirect-uri",
            "oidcc-refresh-token",
            "oidcc-ensure-client-assertion-with-iss-aud-succeeds",
        ),
    ),
    "rp_initiated_logout": Profile(
        title="RP-Initiated Logout OP",
        plans=("oidcc-rp-initiated-logout-certification-test-plan",),
        modules=(
            "oidcc-rp-initiated-logout-discovery-endpoint-verification",
            "oidcc-rp-initiated-logout",
            "oidcc-rp-initiated-logout-bad-id-token-hint",
            "oidcc-rp-initiated-logout-bad-post-logout-redirect-uri",
            "oidcc-rp-initiated-logout-modified-id-token-hint",
            "oidcc-rp-initiated-logout-no-id-token-hint",
            "oidcc-rp-initiated-logout-no-params",
            "oidcc-rp-initiated-logout-no-post-logout-redirect-uri",
            "oidcc-rp-initiated-logout-no-state",
            "oidcc-rp-initiated-logout-only-state",
            "oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri",
        ),
        clients=("rp-initiated-logout", "rp-initiated-logout-2"),
    ),
    "back_channel_logout": Profile(
        title="Back-Channel Logout OP",
        plans=("oidcc-backchannel-rp-initiated-logout-certification-test-plan",),
        modules=(
            "oidcc-backchannel-logout-discovery-endpoint-verification",
            "oidcc-backchannel-rp-initiated-logout",
        ),
        clients=("back-channel-logout", "back-channel-logout-2"),
    ),
    "front_channel_logout": Profile(
        title="Front-Channel Logout OP",
        plans=("oidcc-frontchannel-rp-initiated-logout-certification-test-plan",),
        modules=(
            "oidcc-frontchannel-logout-discovery-endpoint-verification",
            "oidcc-frontchannel-rp-initiated-logout",
        ),
        clients=("front-channel-logout", "front-channel-logout-2"),
    ),
    "session_management": Profile(
        title="Session Management OP",
        plans=("oidcc-session-management-certification-test-plan",),
        modules=(
            "oidcc-session-management-discovery-endpoint-verification",
            "oidcc-session-management-rp-initiated-logout",
        ),
        clients=("session-management", "session-management-2"),
    ),
    "third_party_login": Profile(
        title="3rd Party-Init Login OP",
        plans=("oidcc-3rdparty-init-login-certification-test-plan",),
        modules=("oidcc-3rd_party-init-login", "oidcc-3rd_party-init-login-nohttps"),
    ),
    "fapi2_security_profile": Profile(
        title="FAPI 2.0 Security Profile OP",
        plans=("fapi2-security-profile-final-test-plan",),
        modules=SECURITY_PROFILE,
        clients=(
            "fapi2-private-key-jwt-dpop",
            "fapi2-private-key-jwt-dpop-2",
            "fapi2-private-key-jwt-mtls",
            "fapi2-private-key-jwt-mtls-2",
            "fapi2-mtls-dpop",
            "fapi2-mtls-dpop-2",
            "fapi2-mtls-mtls",
            "fapi2-mtls-mtls-2",
            "fapi2-tls-client-auth",
            "fapi2-tls-client-auth-2",
        ),
        has_keys=True,
    ),
    "fapi2_message_signing": Profile(
        title="FAPI 2.0 Message Signing OP",
        plans=("fapi2-message-signing-final-test-plan",),
        modules=MESSAGE_SIGNING,
        clients=(
            "fapi2-message-signing",
            "fapi2-message-signing-2",
            "fapi2-message-signing-mtls",
            "fapi2-message-signing-mtls-2",
        ),
        has_keys=True,
    ),
    "fapi_ciba": Profile(
        title="FAPI-CIBA OP",
        plans=("fapi-ciba-id1-test-plan",),
        modules=FAPI_CIBA,
        clients=(
            *("ciba-poll", "ciba-poll-2", "ciba-ping", "ciba-ping-2"),
            *("ciba-poll-mtls", "ciba-poll-mtls-2"),
        ),
        has_keys=True,
    ),
}

"""Knows keys of other servers' configurations, and what is written here instead."""

from __future__ import annotations

from collections.abc import Mapping

from service.config.problem import Location

_CORS = "browsers are let in by clients[].allowed_cors_origins, client by client"
_CLAIM = "it is a claim: write it below `claims:` of the user"
_LIFETIMES = "lifetimes are those of each client, such as clients[].access_token_lifetime"
_LOG = "the level of the log is set by SERVICE_LOG_LEVEL or `serve --log-level`"
_LOGS: Mapping[str, str] = dict.fromkeys(("log", "log_level", "logging", "loglevel", "logs"), _LOG)
_NAMES: Mapping[str, str] = {"description": "display_name", "label": "display_name"}

FAMILIAR: Mapping[str, Mapping[str, str]] = {
    "": {
        **dict.fromkeys(("cors", "allowed_origins", "cors_origins"), _CORS),
        **dict.fromkeys(("apis", "resources", "resource_servers", "audiences"), "api_resources"),
        **dict.fromkeys(("scopes", "client_scopes"), "api_scopes"),
        **dict.fromkeys(("connectors", "providers", "identityproviders"), "identity_providers"),
        **dict.fromkeys(("database", "db", "storage", "redis", "cache"), "store"),
        **dict.fromkeys(("http", "listen", "host", "port", "tls", "web"), "server"),
        **dict.fromkeys(("keys", "jwks", "signing_keys"), "signing"),
        **dict.fromkeys(("rate_limits", "ratelimit", "throttling"), "limits"),
        **dict.fromkeys(("issuer_url", "base_url", "public_url", "url"), "issuer"),
        **dict.fromkeys(("theme", "branding", "frontend", "pages"), "ui"),
        **dict.fromkeys(("realms", "realm", "organizations"), "tenants"),
        **dict.fromkeys(("static_clients", "staticclients", "relying_parties"), "clients"),
        **dict.fromkeys(("accounts", "static_passwords", "staticpasswords", "people"), "users"),
        **dict.fromkeys(("ttl", "expiry", "lifetimes", "lifespans"), _LIFETIMES),
    },
    "server": {
        **dict.fromkeys(("cors", "allowed_origins", "cors_allowed_origins"), _CORS),
        **dict.fromkeys(("address", "bind", "listen", "addr"), "host"),
        **dict.fromkeys(("admin_port", "metrics_port", "health_port"), "management_port"),
        **dict.fromkeys(("proxies", "forwarded_allow_ips", "proxy"), "trusted_proxies"),
        **dict.fromkeys(
            ("base_url", "public_url", "url", "external_url"),
            "the URL of the service is the issuer, at the top of the file",
        ),
        **dict.fromkeys(("threads", "processes"), "workers"),
    },
    "clients": {
        **dict.fromkeys(("scope", "scopes", "default_scopes"), "allowed_scopes"),
        **dict.fromkeys(("name", "display_name", "title", "description"), "client_name"),
        **dict.fromkeys(("id", "clientid"), "client_id"),
        **dict.fromkeys(
            ("public", "is_public", "public_client", "publicclient"),
            "write require_client_secret: false for a public client",
        ),
        "confidential": "write require_client_secret: true, which is the default",
        **dict.fromkeys(("secret", "client_secret", "secrets"), "client_secrets"),
        **dict.fromkeys(
            ("access_token_ttl", "access_token_lifespan", "access_token_expiry", "token_lifetime"),
            "access_token_lifetime",
        ),
        **dict.fromkeys(("id_token_ttl", "id_token_lifetime"), "identity_token_lifetime"),
        **dict.fromkeys(
            ("refresh_token_ttl", "refresh_token_lifetime", "refresh_token_expiry"),
            "absolute_refresh_token_lifetime",
        ),
        **dict.fromkeys(("code_ttl", "code_lifetime"), "authorization_code_lifetime"),
        **dict.fromkeys(("consent_mode", "consent", "consent_required"), "require_consent"),
        **dict.fromkeys(
            ("skip_consent", "skip_approval_screen", "trusted"),
            "write require_consent: false, which is the default",
        ),
        **dict.fromkeys(("grant_types", "grants", "flows"), "allowed_grant_types"),
        "response_types": "allowed_response_types",
        **dict.fromkeys(("redirect_uri", "callbacks", "callback_urls"), "redirect_uris"),
        **dict.fromkeys(("allowed_callback_urls", "valid_redirect_uris"), "redirect_uris"),
        **dict.fromkeys(
            ("logout_uri", "logout_urls", "logout_redirect_uris"), "post_logout_redirect_uris"
        ),
        **dict.fromkeys(
            ("cors", "web_origins", "weborigins", "allowed_origins"), "allowed_cors_origins"
        ),
        **dict.fromkeys(("pkce", "pkce_enforcement", "require_proof_key"), "require_pkce"),
        **dict.fromkeys(
            ("audience", "audiences", "resources", "aud"),
            "the audience of a token follows from its scopes: allowed_scopes, and scopes of api_resources",
        ),
        **dict.fromkeys(
            ("authorization_policy", "groups", "roles"),
            "allowed_users restricts the users of a client",
        ),
        **dict.fromkeys(("home_page", "homepage", "base_url", "root_url"), "client_uri"),
        **dict.fromkeys(("token_type", "token_format"), "access_token_type"),
    },
    "api_resources": {
        **dict.fromkeys(("scope", "allowed_scopes", "permissions"), "scopes"),
        **dict.fromkeys(("audience", "aud", "id", "identifier", "api"), "name"),
        **dict.fromkeys(("secret", "client_secret", "client_secrets"), "secrets"),
        **dict.fromkeys(("claims", "mappers"), "user_claims"),
        **dict.fromkeys(("resource", "uri", "base_url"), "url"),
        **_NAMES,
    },
    "api_scopes": {"claims": "user_claims", "scope": "name", "id": "name"},
    "identity_resources": {"claims": "user_claims", "scope": "name", "id": "name"},
    "users.list": {
        **dict.fromkeys(
            ("email", "name", "given_name", "family_name", "groups", "roles", "phone_number"),
            _CLAIM,
        ),
        **dict.fromkeys(("email_verified", "locale", "picture", "preferred_username"), _CLAIM),
        **dict.fromkeys(("login", "user", "user_name"), "username"),
        **dict.fromkeys(("id", "user_id", "userid", "subject", "uid"), "sub"),
        **dict.fromkeys(("hash", "password_hash", "secret"), "password"),
        **dict.fromkeys(("disabled", "active"), "write enabled: false for one who is disabled"),
    },
    "store": {
        **dict.fromkeys(("type", "backend", "host", "address", "uri", "dsn"), "url"),
        "prefix": "key_prefix",
    },
}
"""By section and key: the key that is meant, or a sentence."""


def find_familiar(location: Location) -> str | None:
    """Return the key, or the sentence, for a key that people know from elsewhere."""
    *section, key = [part for part in location if isinstance(part, str)]
    return FAMILIAR.get(".".join(section), {}).get(key.lower()) or _LOGS.get(key.lower())

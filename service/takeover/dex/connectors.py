"""Makes identity providers of dex's connectors, and a directory of users of the one for LDAP."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from service.model.user import LOCAL
from service.takeover.dex.directory import read_directory
from service.takeover.dex.document import Environment
from service.takeover.dex.known_settings import CONNECTOR, CONNECTORS
from service.takeover.found import PROMPTS, Found, SecretText
from service.takeover.node import Misplaced, quoted
from service.takeover.record import Record

GITHUB = "github.com"
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")
_UNSAFE_OPENID = (
    "issuerAlias",
    "providerDiscoveryOverrides",
    "insecureSkipVerify",
    "claimModifications",
    "overrideClaimMapping",
)
"""Settings without a counterpart here: sign-ins would fail, or accept other users or groups."""


class Connectors:
    """The connectors that have been read: clients restrict sign-in by them."""

    def __init__(self, found: Found, environment: Environment) -> None:
        self._found = found
        self._environment = environment
        self.providers: dict[str, str] = {}
        """The names of the identity providers here, by the ids of their connectors."""
        self.directories: list[Record] = []

    def read(self, record: Record, at: int) -> None:
        """Add the provider of a connector; keep a directory for later, because there can be one source of users only."""
        kind, connector_id = record.text("type"), record.text("id")
        if kind is None or connector_id is None:
            raise Misplaced(record.place, "has no type or no id")
        self._found.report.name(record.place, connector_id)
        expanded = self._environment.expand(record.get("config") or {}, record.below("config"))
        config = Record(record.below("config"), expanded)
        CONNECTOR.report(record, self._found.report)
        if kind in CONNECTORS:
            CONNECTORS[kind].report(config, self._found.report)
        if kind == "ldap":
            self.directories.append(Record(record.place, {**record.members(), "config": expanded}))
            return
        read = _KINDS.get(kind)
        if read is None:
            raise Misplaced(
                record.place, f"a connector of the type {quoted(kind)} has no counterpart"
            )
        name = connector_id if _is_name(connector_id) else f"connector-{at}"
        entry = {
            "name": name,
            "connector_id": connector_id if connector_id != name else None,
            "display_name": record.text("name"),
            "client_id": config.text("clientID") or "",
            "client_secret": _secret(config.text("clientSecret")),
            "trust_email": True,
            "subject_format": "dex",
            **read(config, self._found),
        }
        if record.texts("grantTypes"):
            reason = "the grants of single connectors are not restricted here"
            self._found.report.change(record.below("grantTypes"), reason)
        self._report_callback(config)
        self._found.add("identity_providers", record.place, entry)
        self.providers[connector_id] = name

    def _report_callback(self, config: Record) -> None:
        uri, issuer = config.text("redirectURI"), self._found.issuer
        if uri is not None and issuer is not None and uri != f"{issuer.rstrip('/')}/callback":
            reason = "register the redirect URI of this service at the provider, too"
            self._found.report.change(config.below("redirectURI"), reason)

    def read_directories(self, *, has_users: bool) -> frozenset[str]:
        """Set the users to those of the directory if it is the only place of passwords; return its id."""
        for each in self.directories:
            with self._found.taking(each.place):
                if has_users or len(self.directories) > 1:
                    raise Misplaced(
                        each.place,
                        "there is one source of users here, and dex has several places of passwords",
                        "choose one, and move the other users there",
                    )
                self._found.set("users", read_directory(each, self._found))
                return frozenset({each.text("id") or ""})
        return frozenset()


def _is_name(connector_id: str) -> bool:
    return _NAME.fullmatch(connector_id) is not None and connector_id != LOCAL


def _secret(text: str | None) -> SecretText | None:
    return None if text is None else SecretText(text)


def _openid(config: Record, found: Found) -> dict[str, object]:
    for key in _UNSAFE_OPENID:
        if config.get(key) not in (None, "", False, {}, []):
            reason = (
                "this setting has no counterpart: add the provider by hand, if it works without"
            )
            raise Misplaced(config.below(key), reason)
    if config.text("userIDKey") not in (None, "sub"):
        reason = "users are known by sub here, so that those of this provider would become others"
        raise Misplaced(config.below("userIDKey"), reason)
    _report_certificates(config, "rootCAs", found)
    if config.flag("insecureSkipEmailVerified", default=False):
        reason = "an e-mail address counts as verified only where the provider says so"
        found.report.change(config.below("insecureSkipEmailVerified"), reason)
    entry: dict[str, object] = {
        "issuer": config.text("issuer"),
        "scopes": ["openid", *_scopes(config)],
        "acr_values": list(config.texts("acrValues")) or None,
        "claims": _openid_claims(config) or None,
    }
    if config.flag("basicAuthUnsupported", default=False):
        entry["token_endpoint_auth_method"] = "client_secret_post"
    claim = config.record("claimMapping").text("groups") or "groups"
    conditions = {claim: config.texts("allowedGroups"), "hd": config.texts("hostedDomains")}
    needed = {name: list(values) for name, values in conditions.items() if values}
    return entry | {"prompt": _prompts(config), "allowed_claims": [needed] if needed else None}


def _prompts(config: Record) -> list[str] | None:
    return [word for word in (config.text("promptType") or "").split() if word in PROMPTS] or None


def _scopes(config: Record) -> list[str]:
    return [each for each in config.texts("scopes") or ("profile", "email") if each != "openid"]


def _openid_claims(config: Record) -> dict[str, str]:
    mapping = config.record("claimMapping")
    names = {
        config.text("userNameKey"): "name",
        mapping.text("preferred_username"): "preferred_username",
        mapping.text("email"): "email",
    }
    if config.flag("insecureEnableGroups", default=False):
        names[mapping.text("groups") or "groups"] = "groups"
    return {
        theirs: ours
        for theirs, ours in names.items()
        if theirs is not None and (theirs != ours or ours == "groups")
    }


def _google(config: Record, _: Found) -> dict[str, object]:
    """Return the provider of the connector for Google, which is OpenID Connect and domains."""
    for key in ("groups", "serviceAccountFilePath"):
        if config.get(key):
            reason = "groups of Google's directory are not read: restrict users by allowed_claims"
            raise Misplaced(config.below(key), reason)
    domains = config.texts("hostedDomains")
    return {
        "issuer": "https://accounts.google.com",
        "scopes": ["openid", *_scopes(config)],
        "prompt": _prompts(config),
        "allowed_claims": [{"hd": list(domains)}] if domains else None,
    }


def _github(config: Record, found: Found) -> dict[str, object]:
    for key in ("org", "orgs"):
        if config.get(key):
            reason = "membership in organisations is not asked for, so that everybody at GitHub could sign in"
            raise Misplaced(config.below(key), reason)
    _report_certificates(config, "rootCA", found)
    host = config.text("hostName") or GITHUB
    api = "https://api.github.com" if host == GITHUB else f"https://{host}/api/v3"
    reason = "e-mail is the public one of the profile, and not verified; groups are not read"
    found.report.change(config.place, reason)
    return {
        "kind": "oauth2",
        "authorization_endpoint": f"https://{host}/login/oauth/authorize",
        "token_endpoint": f"https://{host}/login/oauth/access_token",
        "userinfo_endpoint": f"{api}/user",
        "subject_claim": "login" if config.flag("useLoginAsID", default=False) else "id",
        "scopes": ["user:email"],
        "claims": {"login": "preferred_username"},
        "trust_email": None,
    }


def _report_certificates(config: Record, key: str, found: Found) -> None:
    if config.get(key):
        reason = "authorities of this service's requests stand in outgoing.ca_file, for all of them"
        found.report.change(config.below(key), reason)


_KINDS: Mapping[str, Callable[[Record, Found], dict[str, object]]] = {
    "oidc": _openid,
    "google": _google,
    "github": _github,
}

"""Makes the section users.ldap of dex's connector for LDAP."""

from __future__ import annotations

import re

from service.takeover.dex.known_settings import GROUP_SEARCH, USER_SEARCH
from service.takeover.found import Found, SecretText
from service.takeover.node import Misplaced
from service.takeover.record import Record

_PLAIN_PORTS, _TLS_PORT = 389, 636


def read_directory(connector: Record, found: Found) -> dict[str, object]:
    """Return the section users, whose subjects are those of dex."""
    config = connector.record("config")
    search = config.record("userSearch")
    _refuse_unsafe(config, search)
    USER_SEARCH.report(search, found.report)
    GROUP_SEARCH.report(config.record("groupSearch"), found.report)
    suffix = search.text("emailSuffix")
    if suffix is not None:
        reason = "e-mail addresses are not made of a suffix: name an attribute in users.ldap.claims"
        found.report.leave_out(search.below("emailSuffix"), reason, "add the attribute email")
    claims = {
        "name": search.text("nameAttr"),
        "preferred_username": search.text("preferredUsernameAttr"),
        "email": None if suffix else search.text("emailAttr") or "mail",
    }
    names = search.texts("username") if isinstance(search.get("username"), list) else None
    ldap: dict[str, object] = {
        **_server(config, found),
        "bind_dn": config.text("bindDN"),
        "bind_password": _secret(config.text("bindPW")),
        "base": search.text("baseDN"),
        "filter": search.text("filter") or "(objectClass=*)",
        "username": list(names or [search.text("username") or "uid"]),
        "sub": _subject(search.text("idAttr") or "uid"),
        "subject_format": "dex",
        "connector_id": connector.text("id"),
        "claims": {name: attribute for name, attribute in claims.items() if attribute},
        "fixed_claims": {"email_verified": True},
        "groups": _groups(config.record("groupSearch"), search, found),
    }
    present = {key: value for key, value in ldap.items() if value is not None}
    return {"source": "ldap", "ldap": present}


def _subject(attribute: str) -> str:
    return "DN" if attribute.lower() == "dn" else attribute


def _refuse_unsafe(config: Record, search: Record) -> None:
    if config.flag("insecureSkipVerify", default=False):
        reason = (
            "certificates are always verified here: give the directory one, or name its authority"
        )
        raise Misplaced(config.below("insecureSkipVerify"), reason)
    if config.record("kerberos").flag("enabled", default=False):
        raise Misplaced(config.below("kerberos"), "Kerberos is not supported")
    if search.text("scope") == "one":
        reason = "the whole tree below base is searched here, so that more users could sign in"
        raise Misplaced(search.below("scope"), reason)


def _server(config: Record, found: Found) -> dict[str, object]:
    host = config.text("host")
    if host is None:
        raise Misplaced(config.below("host"), "is missing")
    plain = config.flag("insecureNoSSL", default=False)
    starttls = config.flag("startTLS", default=False)
    has_port = re.search(r":[0-9]+$", host) is not None
    scheme, port = ("ldap", _PLAIN_PORTS) if plain or starttls else ("ldaps", _TLS_PORT)
    for key in ("rootCAData", "clientCert"):
        if config.get(key):
            reason = "certificates stand in files here, and this service has none of its own at a directory"
            remedy = "write the authorities into a file, and name it in users.ldap.ca_file"
            found.report.leave_out(config.below(key), reason, remedy)
    return {
        "urls": [f"{scheme}://{host}" if has_port else f"{scheme}://{host}:{port}"],
        "starttls": (starttls or not plain) if scheme == "ldap" else None,
        "ca_file": config.text("rootCA"),
    }


def _secret(text: str | None) -> SecretText | None:
    return None if text is None else SecretText(text)


def _groups(groups: Record, search: Record, found: Found) -> dict[str, object] | None:
    """Return the groups of a user, which dex finds by pairs of an attribute of the user and one of the group."""
    base = groups.text("baseDN")
    if base is None:
        return None
    matchers = [*groups.records("userMatchers")] or [groups]
    names = {"dn": "{dn}", (search.text("username") or "uid").lower(): "{username}"}
    found_by = list[str]()
    for matcher in matchers:
        wanted, attribute = (matcher.text("userAttr") or "").lower(), matcher.text("groupAttr")
        if wanted not in names or not attribute or matcher.text("recursionGroupAttr"):
            reason = "groups are found by the user's DN or name here, and not through other groups"
            remedy = "write users.ldap.groups.filter by hand"
            found.report.leave_out(matcher.place, reason, remedy)
            return None
        found_by.append(f"({attribute}={names[wanted]})")
    either = found_by[0] if len(found_by) == 1 else f"(|{''.join(found_by)})"
    own = groups.text("filter")
    return {
        "attribute": None,
        "base": base,
        "filter": f"(&{own}{either})" if own else either,
        "name": groups.text("nameAttr") or "cn",
    }

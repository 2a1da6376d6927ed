"""Reads dex's config.yaml."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from service.model.user import LOCAL
from service.takeover.dex.clients import AUDIENCE, identify, read_client, read_rules
from service.takeover.dex.connectors import Connectors
from service.takeover.dex.document import Environment, read_document
from service.takeover.dex.known_settings import ROOT, SESSIONS
from service.takeover.dex.people import read_users
from service.takeover.found import Found, FoundUser
from service.takeover.reading import unreadable
from service.takeover.record import Record, each_record

_IDENTITY_RESOURCES: Mapping[str, tuple[str, ...]] = {
    "groups": ("groups",),
    "federated:id": ("federated_claims",),
}
_IDLE, _LONGEST = 3600, 86400
"""Dex's own lifetimes of sessions."""


def read(path: Path, found: Found) -> Iterator[FoundUser]:
    """Put everything but the users into `found`, and return these."""
    root = Record("", read_document(path))
    if not any(ROOT.knows(key.lower()) for key in root.members()):
        raise unreadable(path, "", "there is nothing of dex here")
    environment = Environment(os.environ)
    found.issuer = root.text("issuer")
    connectors = Connectors(found, environment)
    for at, record in enumerate(each_record(root.items("connectors"), found)):
        with found.taking(record.place):
            connectors.read(record, at)
    has_passwords = root.flag("enablePasswordDB", default=False)
    has_users = any(True for _ in root.items("staticPasswords"))
    if has_users and not has_passwords:
        reason = "staticPasswords are not taken without it, and dex does not start with them"
        found.report.leave_out("enablePasswordDB", reason, "set it to true, and import again")
        has_users = False
    local = connectors.read_directories(has_users=has_users)
    if has_passwords and not local:
        local = frozenset({LOCAL})
    rules = read_rules(root, found, providers=connectors.providers, local=local)
    for name, claims in _IDENTITY_RESOURCES.items():
        found.add("identity_resources", "", {"name": name, "user_claims": list(claims)})
    clients = _identify_clients(root, found, environment)
    audiences = _audiences(clients, found)
    for client_id, record in clients:
        with found.taking(record.place):
            scopes = audiences.get(client_id, ())
            read_client(record, rules, found, environment, audiences=scopes)
    _report_rest(root, found)
    return read_users(root, found, environment) if has_passwords else iter(())


def _identify_clients(
    root: Record, found: Found, environment: Environment
) -> list[tuple[str, Record]]:
    clients = list[tuple[str, Record]]()
    for record in each_record(root.items("staticClients"), found):
        with found.taking(record.place):
            client_id = identify(record, environment)
            found.report.name(record.place, client_id)
            clients.append((client_id, record))
    return clients


def _audiences(clients: Sequence[tuple[str, Record]], found: Found) -> Mapping[str, Sequence[str]]:
    """Add an API for each client that trusts peers; return the scope values that each client gets by it.

    A peer asks by the scope value audience:server:client_id:ID for tokens that this client accepts.
    """
    granted: dict[str, list[str]] = {}
    for client_id, record in clients:
        with found.taking(record.below("trustedPeers")):
            peers = record.texts("trustedPeers")
            if not peers:
                continue
            scope = AUDIENCE + client_id
            api = {"name": client_id, "display_name": record.text("name"), "scopes": [scope]}
            found.add("api_resources", record.below("trustedPeers"), api)
            for peer in dict.fromkeys((client_id, *peers)):
                granted.setdefault(peer, []).append(scope)
            reason = "peers get access tokens with this client in aud; aud of their ID tokens is the peer"
            found.report.change(record.below("trustedPeers"), reason)
    return granted


def _report_rest(root: Record, found: Found) -> None:
    """Report what is not in the file, or has another place here."""
    report = found.report
    if root.record("storage").text("type") not in (None, "memory"):
        reason = "clients, users, keys and refresh tokens in dex's storage are not in this file"
        report.change(
            "storage", f"{reason}; fetch its keys from /keys, and name the file by --jwks"
        )
    reason = "an access token is a JWT of its own (RFC 9068), and not the same as the ID token"
    report.change("staticClients", reason)
    reason = "users sign in once more, because refresh tokens of dex are not taken"
    report.change("staticClients", reason)
    _read_sessions(root, found)
    if "frontend" in root:
        report.change("frontend", "the look of the pages is set by ui")
    ROOT.report(root, report)


def _read_sessions(root: Record, found: Found) -> None:
    """Set how long sessions last; without the section dex has none, and asks for a login each time."""
    if "sessions" not in root:
        reason = "dex asks for a login each time; here a sign-in counts until the session ends"
        found.report.change("sessions", reason)
        return
    sessions = root.record("sessions")
    SESSIONS.report(sessions, found.report)
    with found.taking(sessions.place):
        idle, longest = (
            sessions.duration(key) for key in ("validIfNotUsedFor", "absoluteLifetime")
        )
        lifetimes = {"lifetime": idle or _IDLE, "max_lifetime": longest or _LONGEST}
        found.set("session", lifetimes)
        reason = "one sign-in counts for all clients"
        found.report.change(sessions.place, reason)

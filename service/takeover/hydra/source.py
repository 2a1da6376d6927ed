"""Reads the clients of Hydra: an array of the admin API, `{"items": …}` of the command line, or rows of hydra_client."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from service.model.resources import IDENTITY_RESOURCES
from service.takeover.found import Found, FoundUser
from service.takeover.hydra.clients import OFFLINE, client_id_of, read_client, scopes_of
from service.takeover.node import quoted
from service.takeover.reading import read_members, unreadable
from service.takeover.record import Record

_ITEMS, _NEXT, _LAST = "items", "next_page_token", "is_last_page"


def read(path: Path, found: Found) -> Iterator[FoundUser]:
    """Put the clients and their APIs into `found`; Hydra has no users."""
    records = [*_read_records(path, found)]
    scopes = _add_apis(records, found)
    for record in records:
        with found.taking(record.place):
            own = [
                name for name in scopes_of(record) if name in scopes or name in IDENTITY_RESOURCES
            ]
            read_client(record, found, scopes=own)
    _report_rest(records, found)
    return iter(())


def _read_records(path: Path, found: Found) -> Iterator[Record]:
    """Yield the clients whose scope and audience can be read."""
    is_empty = True
    for node in read_members(path):
        if node.key == _ITEMS and node.value is None:  # how Go writes a list without items
            continue
        if node.key in {"", _ITEMS}:
            is_empty = False
            with found.taking(node.place):
                record = Record(node.place, node.value)
                found.report.name(node.place, client_id_of(record))
                scopes_of(record)
                record.texts("audience")
                yield record
        elif node.key == _NEXT:
            if node.value:
                reason = "there are more pages of clients, which are not in this file"
                found.report.leave_out(_NEXT, reason, "list the clients with a larger --page-size")
        elif node.key != _LAST:
            reason = "this is neither a JSON array of clients nor what `hydra list oauth2-clients --format json` prints"
            raise unreadable(path, node.place, reason)
    if is_empty:
        raise unreadable(path, "", "there is no client of Hydra here")


def _add_apis(records: Sequence[Record], found: Found) -> frozenset[str]:
    """Add an API for each audience, with the scope values that are of it alone; return all scope values.

    Hydra checks scope and audience apart, and here a scope leads to its API. So a value belongs to the audiences that all clients
    with this value may ask for: no client gets tokens for an API by it that Hydra would not have given it.
    """
    owners = _owners(records)
    apis: dict[str, list[str]] = {}
    places: dict[str, str] = {}
    for record in records:
        for api in record.texts("audience"):
            apis.setdefault(api, [])
            places.setdefault(api, record.below("audience"))
    for name, audiences in owners.items():
        for api in audiences:
            apis[api].append(name)
        if not audiences:
            found.add("api_scopes", "scope", {"name": name})
    for api, names in apis.items():
        _add_api(api, names, places[api], found)
    return frozenset(owners)


def _owners(records: Sequence[Record]) -> dict[str, frozenset[str]]:
    """Return each scope value with the audiences that all of its clients have."""
    owners: dict[str, frozenset[str]] = {}
    for record in records:
        listed = frozenset(record.texts("audience"))
        for name in scopes_of(record):
            if name not in IDENTITY_RESOURCES:
                owners[name] = owners.get(name, listed) & listed
    return owners


def _add_api(name: str, scopes: Sequence[str], place: str, found: Found) -> None:
    if scopes:
        entry = {"name": name, "url": _url(name), "scopes": sorted(scopes)}
        found.add("api_resources", place, entry)
        return
    reason = (
        f"no scope value is of the audience {quoted(name)} alone, so that nothing leads to it here"
    )
    remedy = (
        "add an API of this name with scope values of its own, and let its clients ask for them"
    )
    found.report.leave_out(place, reason, remedy)


def _url(name: str) -> str | None:
    return name if name.startswith(("https://", "http://")) else None


def _report_rest(records: Sequence[Record], found: Found) -> None:
    """Report what is different for all clients."""
    report = found.report
    if any(record.texts("audience") for record in records):
        reason = "an API is chosen by scope, or by the parameter resource (RFC 8707), and not by audience"
        report.change("audience", reason)
    if any(not OFFLINE.isdisjoint((record.text("scope") or "").split()) for record in records):
        reason = "applications that ask for the scope offline have to ask for offline_access"
        report.change("scope", reason)
        reason = (
            "Hydra's refresh tokens have no absolute end; here they end a year after the sign-in"
        )
        report.change("refresh_tokens", reason)
    reason = "clients that name none get opaque access tokens, as is Hydra's default"
    report.change("access_token_strategy", reason)
    reason = "APIs introspect at /connect/introspect with secrets of their own, which you add"
    report.change("introspection", reason)
    reason = "login and consent are pages of this service; Hydra has no users: see users"
    report.change("login", reason)

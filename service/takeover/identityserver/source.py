"""Reads IdentityServer's configuration and tables: a JSON file, or a folder with one for each section or table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from service.takeover.found import Found, FoundUser
from service.takeover.identityserver.clients import DEFAULT_FLOW, Generation, read_client
from service.takeover.identityserver.known_settings import OPTIONS
from service.takeover.identityserver.people import People
from service.takeover.identityserver.resources import add_providers, add_resources
from service.takeover.identityserver.sections import GRANTS, Sections
from service.takeover.identityserver.signing_keys import add_keys
from service.takeover.node import Misplaced
from service.takeover.record import Record


def read(path: Path, found: Found) -> Iterator[FoundUser]:
    """Put everything but the users into `found`, and return these."""
    sections = Sections(path, found)
    issuer = sections.values.get("issueruri")
    found.issuer = issuer if isinstance(issuer, str) and issuer else None
    providers = add_providers(sections, found)
    scopes = add_resources(sections, found)
    generation = _generation(sections)
    for record in sections.records("clients"):
        with found.taking(record.place):
            _set_flow(record, generation, found)
            read_client(record, found, generation=generation, providers=providers, scopes=scopes)
    add_keys(sections, found)
    _set_algorithms(found)
    _report_rest(sections, generation, found)
    return People(sections, found, providers).users()


def _generation(sections: Sections) -> Generation:
    """Return the version, whose defaults differ: by scopes that are objects, as they were up to IdentityServer4 3, or by flows."""
    if any("Flow" in each for each in sections.records("clients")) or "scopes" in sections:
        return Generation(name="IdentityServer3")
    if any(map(_has_scopes_of_its_own, sections.records("apiresources"))):
        return Generation(name="IdentityServer4 before version 4")
    return Generation(name="IdentityServer4 and Duende")


def _set_flow(client: Record, generation: Generation, found: Found) -> None:
    """Write the flow of a client that names none, which is version 3's default."""
    if generation.has_flows and "Flow" not in client and "AllowedGrantTypes" not in client:
        client.set("Flow", DEFAULT_FLOW)
        found.report.change(client.below("Flow"), "no flow is named: it is the implicit one there")


def _has_scopes_of_its_own(record: Record) -> bool:
    try:
        return any("Name" in each for each in record.records("Scopes"))
    except Misplaced:  # texts, or what is reported where it is read
        return False


def _set_algorithms(found: Found) -> None:
    """Let the service sign by each algorithm that a client or an API asks for."""
    clients, apis = (found.sections.get(name, []) for name in ("clients", "api_resources"))
    named = [each.values.get("id_token_signed_response_alg") for each in clients]
    named += [each.values.get("access_token_signing_algorithm") for each in apis]
    asked = [str(name) for name in named if name]
    if asked:
        found.set("signing", {"algorithms": list(dict.fromkeys(("RS256", *asked)))})


def _report_rest(sections: Sections, generation: Generation, found: Found) -> None:
    report = found.report
    report.change("Clients", f"keys that are left out mean what they mean in {generation.name}")
    report.change(
        "Clients",
        "a code lives 60 seconds where AuthorizationCodeLifetime says nothing, and device codes and refresh tokens have other forms",
    )
    report.change(
        "ApiResources", "aud never has ISSUER/resources; a token of no API has the issuer in aud"
    )
    for key in sorted(OPTIONS & sections.values.keys()):
        report.change(key, "options of the old server are not read: see docs/configuration.md")
    if GRANTS in sections:
        reason = "refresh tokens are loaded by `token-service grants load`, after the old server has stopped"
        report.change("PersistedGrants", reason)

"""Rules on names: each is registered once, and refers to something that is registered or supported (RFC 9068 §3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from service.config.problem import Finding, Location, nearest, report_unknown, warning
from service.config.reading.source import LISTS
from service.config.schema.file import ConfigurationFile
from service.model.admin import SCOPES
from service.model.catalogue import Catalogue
from service.model.client_entry import ClientEntry, Mark
from service.model.client_metadata import marked
from service.model.resources import IDENTITY_RESOURCES, Scope, api_scope_names
from service.model.user import fold_username
from service.protocol.redirect_uri import redirect_hosts
from service.protocol.scope import OFFLINE_ACCESS
from service.protocol.uris import normalize_url


def _scopes_of_apis(file: ConfigurationFile) -> Iterator[tuple[Location, str, str]]:
    """Yield the location of every scope value of an API, the value, and the name of the API."""
    for at, api in enumerate(file.api_resources):
        if api.scopes is None:
            yield ("api_resources", at, "name"), api.name, api.name
        for name in sorted(api.scopes or ()):
            yield ("api_resources", at, "scopes", name), name, api.name


def names_are_registered_once(file: ConfigurationFile) -> Iterator[Finding]:
    """No list has two entries of one name."""
    for section, key in ((section, key) for section, keys in LISTS.items() for key in keys):
        entries: Iterable[object] = file.users.list if len(section) > 1 else getattr(file, *section)
        first: dict[str, int] = {}
        for at, entry in enumerate(entries):
            name: str = getattr(entry, key)
            name = fold_username(name) if key == "username" else name
            if name in first:
                yield Finding(
                    (*section, at, key),
                    f"{name} is registered twice",
                    "give each its own, or remove one",
                    first=(*section, first[name], key),
                )
            first.setdefault(name, at)


def urls_are_of_one_api(file: ConfigurationFile) -> Iterator[Finding]:
    """`resource` identifies one API: no URL is that of another one, or its name, or has a fragment (RFC 8707 §2, RFC 3986 §6.2)."""
    owners: dict[str, tuple[int, str]] = {
        normalize_url(api.name) or api.name: (at, "name")
        for at, api in enumerate(file.api_resources)
    }
    for at, api in enumerate(file.api_resources):
        if api.url is None:
            continue
        location = ("api_resources", at, "url")
        if "#" in api.url:
            yield Finding(location, "it has a fragment (RFC 8707 §2)", "leave out what follows #")
        owner, key = owners.setdefault(normalize_url(api.url) or api.url, (at, "url"))
        if owner != at:
            message = f"{api.url} identifies {file.api_resources[owner].name} already"
            hint = "give each API a URL of its own"
            yield Finding(location, message, hint, first=("api_resources", owner, key))


def scopes_are_of_one_kind(file: ConfigurationFile) -> Iterator[Finding]:
    """A scope value is for an API or for claims of the user, and offline_access for neither (OIDC Core §11)."""
    identity = {*IDENTITY_RESOURCES, *(entry.name for entry in file.identity_resources)}
    named: list[tuple[Location, str]] = [
        ((section, at, "name"), entry.name)
        for section in ("api_scopes", "identity_resources")
        for at, entry in enumerate[Scope](getattr(file, section))
    ]
    named += [(location, name) for location, name, _ in _scopes_of_apis(file)]
    for location, name in named:
        if name in identity and location[0] != "identity_resources":
            yield Finding(location, f"{name} is an identity resource already", "take another name")
        if name == OFFLINE_ACCESS:
            message = "offline_access asks for refresh tokens (OIDC Core §11)"
            yield Finding(location, message, "take another name")


def scopes_belong_to_one_api(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of a scope value of no API, or of two, because a token with it is addressed to both (RFC 9068 §3)."""
    owners: dict[str, tuple[Location, str]] = {}
    for location, name, api in _scopes_of_apis(file):
        if name in owners:
            first, owner = owners[name]
            message = f"{name} is a scope of {owner} too, so a token with it is for both APIs"
            found = warning(location, message, "give each API scopes of its own")
            yield replace(found, first=first)
        owners.setdefault(name, (location, api))
    for at, entry in enumerate(file.api_scopes):
        if entry.name not in owners:
            message = "no API resource has this scope, so no API accepts a token with it"
            hint = "add it to the scopes of an API resource"
            yield warning(("api_scopes", at, "name"), message, hint)


def references_are_registered(file: ConfigurationFile) -> Iterator[Finding]:
    """Scopes, API resources and identity providers that are referred to are registered."""
    scopes = _known_scopes(file)
    resources = {resource.name for resource in file.api_resources}
    providers = {provider.name for provider in file.identity_providers}
    details_types = {each.type for each in file.authorization_details_types}
    for at, client in enumerate(file.clients):
        own = frozenset([client.api_resource] if client.api_resource else [])
        restrictions = frozenset(client.identity_provider_restrictions)
        details = frozenset(client.authorization_details_types or ())
        for key, names, known, what in (
            ("allowed_scopes", client.allowed_scopes, scopes, "scope"),
            ("api_resource", own, resources, "API resource"),
            ("identity_provider_restrictions", restrictions, providers, "identity provider"),
            ("authorization_details_types", details, details_types, "authorization details type"),
        ):
            for name in sorted(names - known):
                within = () if key == "api_resource" else (name,)
                yield report_unknown(("clients", at, key, *within), name, known, what)
        if not client.enable_local_login and not providers:
            message = "there is no identity provider, so nobody can sign in to this client"
            yield warning(("clients", at, "enable_local_login"), message)
    for at, kind in enumerate(file.authorization_details_types):
        if kind.api_resource not in resources:
            location = ("authorization_details_types", at, "api_resource")
            yield report_unknown(location, kind.api_resource, resources, "API resource")


def added_scopes_are_of_apis(file: ConfigurationFile) -> Iterator[Finding]:
    """Scope values that a client gets unasked are those of APIs that it may ask for."""
    scopes = api_scope_names(file.api_resources)
    for at, client in enumerate(file.clients):
        for name in sorted(client.added_scopes - (client.allowed_scopes & scopes)):
            message = "is not a scope of an API that the client may ask for"
            hint = "add it to allowed_scopes of the client, and to scopes of an API resource"
            yield Finding(("clients", at, "added_scopes", name), message, hint)


def scopes_for_dynamic_clients_are_registered(file: ConfigurationFile) -> Iterator[Finding]:
    """Scope values that clients without an entry may ask for exist."""
    scopes = _known_scopes(file)
    for section in ("registration", "client_id_metadata"):
        allowed: frozenset[str] = getattr(file, section).allowed_scopes
        for name in sorted(allowed - scopes):
            yield report_unknown((section, "allowed_scopes", name), name, scopes, "scope")


def checks_ask_for_scopes_of_their_api(file: ConfigurationFile) -> Iterator[Finding]:
    """A check asks for scope values of its own API, because it sees no other ones of a token."""
    for at, api in enumerate(file.api_resources):
        known = {api.name} if api.scopes is None else set(api.scopes)
        for check, demand in api.checks.items():
            for name in sorted(demand.scope - known):
                location = ("api_resources", at, "checks", check, "scope", name)
                yield report_unknown(location, name, known, "scope of this API")


def _known_scopes(file: ConfigurationFile) -> set[str]:
    described = (*file.identity_resources, *file.api_scopes)
    names = {*IDENTITY_RESOURCES, *(one.name for one in described), OFFLINE_ACCESS}
    names |= SCOPES if file.admin else set()
    return names | api_scope_names(file.api_resources)


def names_are_supported(client: ClientEntry, catalogue: Catalogue) -> Iterator[Finding]:
    """The authentication method and the response mode are in the catalogue; `extensions.py` knows all grant types."""
    for key, known in (
        ("token_endpoint_auth_method", catalogue.client_auth_methods),
        ("default_response_mode", catalogue.response_modes),
    ):
        name: str | None = getattr(client, key)
        if name is not None and name not in known:
            hint = nearest(name, known) or f"known: {', '.join(sorted(known))}"
            yield Finding((key,), "this value is not supported", hint)


def algorithms_have_keys(file: ConfigurationFile) -> Iterator[Finding]:
    """The service keeps keys for every algorithm that it is to sign by."""
    signed = {
        "api_resources": ("access_token_signing_algorithm",),
        "clients": marked(Mark.SIGNED_RESPONSE),
    }
    for section, keys in signed.items():
        for at, entry in enumerate[object](getattr(file, section)):
            for key in keys:
                alg: str | None = getattr(entry, key)
                if alg and alg not in file.signing.algorithms and not alg.startswith("HS"):
                    message = f"{alg} is not one of signing.algorithms"
                    yield Finding((section, at, key), message, "add it there")


def pairwise_subjects_can_be_made(file: ConfigurationFile) -> Iterator[Finding]:
    """A pairwise subject identifier needs a salt and one sector (OIDC Core §8.1)."""
    for at, client in enumerate(file.clients):
        if client.subject_type != "pairwise":
            continue
        if file.pairwise_salt is None:
            message = "pairwise needs pairwise_salt at the top of the file"
            yield Finding(("clients", at, "subject_type"), message, "openssl rand -base64 24")
        if client.sector_identifier_uri is None and len(redirect_hosts(client.redirect_uris)) > 1:
            message = "redirect_uris of several hosts need it for pairwise (OIDC Core §8.1)"
            yield Finding(("clients", at, "sector_identifier_uri"), message)
        if client.access_token_type == "jwt":
            message = "the client can read the local subject in its access tokens"
            yield warning(("clients", at, "access_token_type"), message, "set reference")


FILE_RULES = (
    names_are_registered_once,
    urls_are_of_one_api,
    scopes_are_of_one_kind,
    scopes_belong_to_one_api,
    references_are_registered,
    added_scopes_are_of_apis,
    scopes_for_dynamic_clients_are_registered,
    checks_ask_for_scopes_of_their_api,
    algorithms_have_keys,
    pairwise_subjects_can_be_made,
)

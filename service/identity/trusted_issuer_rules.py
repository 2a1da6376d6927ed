"""Rules on the issuers whose assertions are accepted (RFC 7521 §8, RFC 7523 §3)."""

from __future__ import annotations

from collections.abc import Iterator

from service.clients.rules.keys_and_secrets import jwks_holds_public_keys
from service.config.problem import Finding, Location, nearest, warning
from service.config.schema.file import ConfigurationFile
from service.model.trusted_issuer import TrustedIssuer
from service.model.user import LOCAL
from service.protocol.templates import find_claim_names, has_fixed_text
from service.protocol.token_types import GRANT_TYPE as TOKEN_EXCHANGE
from service.protocol.token_types import JWT_BEARER
from service.protocol.uris import is_unencrypted

_FORGED = "should be https; otherwise anyone on the way could speak about any user"


def issuers_are_told_apart(file: ConfigurationFile) -> Iterator[Finding]:
    """An assertion is of one issuer, and the `idp` claim names one place that users come from."""
    first: dict[tuple[str, bool], int] = {}
    providers = {provider.name for provider in file.identity_providers}
    for at, entry in enumerate(file.trusted_issuers):
        location, kind = ("trusted_issuers", at), (entry.issuer, entry.id_jag)
        if entry.name == LOCAL:
            message = "local is the idp claim of the users of this service itself"
            yield Finding((*location, "name"), message, "take another name")
        if entry.name in providers and entry.name != entry.identity_provider:
            message = "is the name of an identity provider, whose users have it as their idp claim"
            yield Finding((*location, "name"), message, "take another name")
        if entry.issuer == file.issuer:
            message = "is this service itself, whose tokens need no trusted issuer"
            yield Finding((*location, "issuer"), message)
        if kind in first:
            message = "is listed twice; only an entry with id_jag may stand beside one without"
            earlier = ("trusted_issuers", first[kind], "issuer")
            yield Finding((*location, "issuer"), message, first=earlier)
        first.setdefault(kind, at)


def keys_can_be_found(file: ConfigurationFile) -> Iterator[Finding]:
    """Keys are registered or fetched, and nobody on the way can change them."""
    for at, entry in enumerate(file.trusted_issuers):
        location = ("trusted_issuers", at)
        if entry.jwks is not None and entry.jwks_uri is not None:
            message = "jwks is given too; only one may be"
            yield Finding((*location, "jwks_uri"), message)
        for finding in jwks_holds_public_keys(entry):
            yield finding.below(*location)
        if entry.jwks_uri is not None and is_unencrypted(entry.jwks_uri):
            yield warning((*location, "jwks_uri"), _FORGED)
        if entry.jwks is None and entry.jwks_uri is None:
            yield from _judge_metadata_url(entry, (*location, "issuer"))


def _judge_metadata_url(entry: TrustedIssuer, location: Location) -> Iterator[Finding]:
    if not entry.issuer.startswith(("https://", "http://")):
        message = "is no URL below which metadata could be read"
        yield Finding(location, message, "add jwks_uri or jwks")
    elif is_unencrypted(entry.issuer):
        yield warning(location, _FORGED)


def subjects_are_clear(file: ConfigurationFile) -> Iterator[Finding]:
    """Every assertion leads to one user, and no issuer can name the users of another one."""
    issuers = {provider.name: provider.issuer for provider in file.identity_providers}
    for at, entry in enumerate(file.trusted_issuers):
        location = ("trusted_issuers", at)
        if entry.identity_provider is None:
            yield from _judge_template(entry, (*location, "subject"))
            continue
        if entry.subject is not None:
            message = "identity_provider is given too, which says who the users are"
            yield Finding((*location, "subject"), message, "remove one of the two")
        if entry.existing_user:
            message = "has no effect with identity_provider"
            yield warning((*location, "existing_user"), message)
        if entry.identity_provider not in issuers:
            message = f"there is no identity provider {entry.identity_provider}"
            hint = nearest(entry.identity_provider, issuers)
            yield Finding((*location, "identity_provider"), message, hint)
        elif issuers[entry.identity_provider] != entry.issuer:
            message = "has another issuer; this one could speak about all its users"
            yield warning((*location, "identity_provider"), message)


def _judge_template(entry: TrustedIssuer, location: Location) -> Iterator[Finding]:
    try:
        names = find_claim_names(entry.subject_template)
    except ValueError as error:
        yield Finding(location, str(error), 'write a claim in braces, as in "partner:{sub}"')
        return
    if not names:
        message = "names no claim, so all users of this issuer are one user here"
        yield warning(location, message, 'write a claim in braces, as in "partner:{sub}"')
    if not has_fixed_text(entry.subject_template) and not entry.existing_user:
        message = "has nothing but claims, so the issuer can name users of other issuers"
        yield warning(location, message, f'write "{entry.name}:{entry.subject_template}"')


def clients_are_registered(file: ConfigurationFile) -> Iterator[Finding]:
    """A client that may present assertions exists, unless it may register itself."""
    known = {client.client_id for client in file.clients}
    for at, entry in enumerate(file.trusted_issuers):
        for name in sorted(entry.clients - known):
            if file.find_template(name) is not None:
                continue
            location = ("trusted_issuers", at, "clients", name)
            message, hint = f"there is no client {name}", nearest(name, known)
            if file.registration.enabled:
                yield warning(location, message, hint)
            else:
                yield Finding(location, message, hint)


def assertions_can_be_presented(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of a client that may bring assertions of nobody, and of one that is listed and may bring none."""
    grant_types = {client.client_id: client.allowed_grant_types for client in file.clients}
    for at, client in enumerate(file.clients):
        if JWT_BEARER in client.allowed_grant_types and not file.trusted_issuers:
            message = "there is no trusted issuer, so every assertion is refused"
            location = ("clients", at, "allowed_grant_types", JWT_BEARER)
            yield warning(location, message, "name one in trusted_issuers")
    for at, entry in enumerate(file.trusted_issuers):
        for name in sorted(entry.clients & grant_types.keys()):
            if grant_types[name].isdisjoint({JWT_BEARER, TOKEN_EXCHANGE}):
                message = f"{name} has no grant type that takes assertions"
                location = ("trusted_issuers", at, "clients", name)
                yield warning(location, message, f"add {JWT_BEARER} to its allowed_grant_types")


def settings_have_an_effect(file: ConfigurationFile) -> Iterator[Finding]:
    """Nothing is set that the kind of the assertions decides."""
    for at, entry in enumerate(file.trusted_issuers):
        if entry.id_jag and entry.audience is not None:
            message = "has no effect with id_jag, whose aud is the issuer of this service"
            yield warning(("trusted_issuers", at, "audience"), message)


FILE_RULES = (
    issuers_are_told_apart,
    keys_can_be_found,
    subjects_are_clear,
    clients_are_registered,
    assertions_can_be_presented,
    settings_have_an_effect,
)

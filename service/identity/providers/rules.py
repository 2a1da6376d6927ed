"""Rules on the providers at which users sign in (OIDC Core §3.1.2.1, §9, RFC 9700 §4.4)."""

from __future__ import annotations

from collections.abc import Iterator

from service.config.named_files import find_file_problem
from service.config.problem import Finding, Location, report_unknown, warning
from service.config.schema.file import ConfigurationFile
from service.config.schema.users import Users
from service.identity.dex_subjects import LOCAL_CONNECTOR
from service.model.identity_provider import PRIVATE_KEY_JWT, IdentityProvider
from service.model.user import LOCAL, Identity
from service.protocol.uris import is_unencrypted

ENDPOINTS = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint")


def providers_can_be_trusted(file: ConfigurationFile) -> Iterator[Finding]:
    """A provider has a name of its own, and is asked over https, by a client that it knows (OIDC Core §3.1.2.1)."""
    for at, provider in enumerate(file.identity_providers):
        location = ("identity_providers", at)
        if provider.name == LOCAL:  # the provider would pass for this service's own users
            message = "local is the idp claim of the users of this service itself"
            yield Finding((*location, "name"), message, "take another name")
        for name in ("issuer", *ENDPOINTS):
            if is_unencrypted(getattr(provider, name) or ""):
                message = "should be https; otherwise anyone on the way could sign in as any user"
                yield warning((*location, name), message)
        if not provider.client_id:
            yield warning((*location, "client_id"), "is empty, so the provider refuses every login")
        if provider.is_openid and "openid" not in provider.scopes:
            message = "openid is missing, so the provider sends no identity token"
            yield Finding((*location, "scopes"), message, "OIDC Core §3.1.2.1")


def openid_providers_have_an_issuer(file: ConfigurationFile) -> Iterator[Finding]:
    """The issuer's metadata name everything else (OpenID Connect Discovery §4)."""
    for at, provider in enumerate(file.identity_providers):
        if not provider.is_openid:
            continue
        location = ("identity_providers", at)
        if not provider.issuer:
            yield Finding((*location, "issuer"), "is required of an OpenID provider")
        for name in ENDPOINTS:
            if getattr(provider, name) is not None:
                message = "is used with kind: oauth2 only; an OpenID provider's metadata name it"
                yield warning((*location, name), message)


def oauth2_servers_have_endpoints(file: ConfigurationFile) -> Iterator[Finding]:
    """An authorization server without ID tokens is known by three URLs (RFC 6749 §3)."""
    for at, provider in enumerate(file.identity_providers):
        if provider.is_openid:
            continue
        location = ("identity_providers", at)
        for name in ENDPOINTS:
            if getattr(provider, name) is None:
                yield Finding((*location, name), "is required with kind: oauth2")
        if "openid" in provider.scopes:
            message = "openid asks for an ID token, which kind: oauth2 does not read"
            yield warning((*location, "scopes"), message, "write the scope values of this server")
        if provider.trust_acr:
            message = "has no effect with kind: oauth2, which knows no acr and amr"
            yield warning((*location, "trust_acr"), message)
        if provider.may_revoke_subjects:
            message = "is for OpenID providers only: kind: oauth2 has no keys to sign with"
            yield Finding((*location, "may_revoke_subjects"), message)


def linking_is_meant(file: ConfigurationFile) -> Iterator[Finding]:
    """Accounts are linked only where the provider's verified addresses count (OIDC Core §5.7)."""
    for at, provider in enumerate(file.identity_providers):
        location = ("identity_providers", at)
        if provider.link_by == "verified_email" and not provider.trust_email:
            message = "has no effect without trust_email: true"
            hint = "whoever runs the provider can then sign in as users of this service"
            yield warning((*location, "link_by"), message, hint)


def identities_lead_to_one_user(file: ConfigurationFile) -> Iterator[Finding]:
    """A user at a provider is one user here, and the provider is registered."""
    providers = [provider.name for provider in file.identity_providers]
    for location, name in _find_named_providers(file.users):
        if name not in providers:
            yield report_unknown(location, name, providers, "identity provider")
    first: dict[Identity, Location] = {}
    for at, user in enumerate(file.users.list):
        for position, identity in enumerate(user.identities):
            location = ("users", "list", at, "identities", position, "subject")
            if identity in first:
                message = "is who a user is already at the provider"
                yield Finding(location, message, "remove one", first=first[identity])
            first.setdefault(identity, location)


def dex_connectors_are_distinct(file: ConfigurationFile) -> Iterator[Finding]:
    """No user of one connector has the `sub` of another one's: it is made of the connector's id."""
    first: dict[str, Location] = {}
    for location, connector in _find_connectors(file):
        if connector == LOCAL_CONNECTOR:
            message = "local is the connector of the users that dex has itself"
            yield Finding(location, message, "take the id that the connector has in dex")
        elif connector in first:
            message = f"{connector} is the connector of others, too, who would be the same users"
            yield Finding(location, message, first=first[connector])
        first.setdefault(connector, location)
    for at, provider in enumerate(file.identity_providers):
        if provider.connector_id is not None and provider.subject_format != "dex":
            location = ("identity_providers", at, "connector_id")
            yield warning(location, "has no effect without subject_format: dex")


def _find_connectors(file: ConfigurationFile) -> Iterator[tuple[Location, str]]:
    for at, provider in enumerate(file.identity_providers):
        if provider.subject_format == "dex":
            named = "name" if provider.connector_id is None else "connector_id"
            connector = provider.connector_id or provider.name
            yield ("identity_providers", at, named), connector
    ldap = file.users.ldap
    if ldap is not None and ldap.subject_format == "dex":
        yield ("users", "ldap", "connector_id"), ldap.connector_id


def _find_named_providers(users: Users) -> Iterator[tuple[Location, str]]:
    for at, user in enumerate(users.list):
        for position, identity in enumerate(user.identities):
            yield ("users", "list", at, "identities", position, "provider"), identity.provider
    for section in ("sql", "ldap"):
        block = getattr(users, section)
        for name in () if block is None else block.identities:
            yield ("users", section, "identities", name), name


def domains_have_one_provider(file: ConfigurationFile) -> Iterator[Finding]:
    """An e-mail address leads to one provider."""
    first: dict[str, Location] = {}
    for at, provider in enumerate(file.identity_providers):
        for position, domain in enumerate(provider.domains):
            location = ("identity_providers", at, "domains", position)
            if domain in first:
                message = f"{domain} is listed twice, and its users are sent to one provider"
                yield Finding(location, message, first=first[domain])
            first.setdefault(domain, location)


def this_service_can_authenticate(file: ConfigurationFile) -> Iterator[Finding]:
    """This service has the secret or key by which it authenticates at a provider, and no other one (OIDC Core §9)."""
    for at, provider in enumerate(file.identity_providers):
        location, method = ("identity_providers", at), provider.token_endpoint_auth_method
        by_secret = (method or "").startswith("client_secret")
        if by_secret and not provider.client_secret:
            message = f"{method} needs a client_secret"
            yield Finding((*location, "token_endpoint_auth_method"), message)
        if method and not by_secret and provider.client_secret:
            yield warning((*location, "client_secret"), f"is not used with {method}")
        if method == PRIVATE_KEY_JWT:
            yield from _judge_key(file, provider, location)
            continue
        for name in ("private_key", "token_endpoint_auth_signing_alg", "client_assertion_audience"):
            if getattr(provider, name) is not None:
                message = "is used with token_endpoint_auth_method: private_key_jwt only"
                yield warning((*location, name), message)


def answers_cannot_be_mixed_up(file: ConfigurationFile) -> Iterator[Finding]:
    """No provider can lead another one's answer here as its own (RFC 9700 §4.4); whether they send `iss`, only metadata tell."""
    shared = [
        (at, each) for at, each in enumerate(file.identity_providers) if not each.has_own_callback
    ]
    if len(shared) < 2:  # noqa: PLR2004 - one alone has nobody to share with
        return
    names = ", ".join(provider.name for _, provider in shared)
    message = f"{names} share one callback; one that sends no iss in its answers needs its own"
    hint = "set own_callback: true on all but one, unless their metadata have authorization_response_iss_parameter_supported"
    yield warning(("identity_providers", shared[1][0], "own_callback"), message, hint)


def _judge_key(
    file: ConfigurationFile, provider: IdentityProvider, location: Location
) -> Iterator[Finding]:
    alg, key = provider.token_endpoint_auth_signing_alg, provider.private_key
    if key is not None:
        if alg is None:
            message = "needs token_endpoint_auth_signing_alg, the algorithm of the key"
            yield Finding((*location, "private_key"), message)
        if (problem := find_file_problem(key)) is not None:
            yield Finding((*location, "private_key"), problem)
        return
    if alg is not None and alg not in file.signing.algorithms:
        message = f"{alg} is none of signing.algorithms, whose keys sign without a private_key"
        yield Finding((*location, "token_endpoint_auth_signing_alg"), message)
    if provider.client_id == file.issuer:
        message = "is this service's issuer, so a client assertion could pass for a token of it"
        yield Finding((*location, "client_id"), message, "set a private_key for this provider")


FILE_RULES = (
    providers_can_be_trusted,
    openid_providers_have_an_issuer,
    oauth2_servers_have_endpoints,
    linking_is_meant,
    identities_lead_to_one_user,
    dex_connectors_are_distinct,
    domains_have_one_provider,
    this_service_can_authenticate,
    answers_cannot_be_mixed_up,
)

"""Rules on the providers at which users sign in (OIDC Core §3.1.2.1, §9, RFC 9700 §4.4)."""

from __future__ import annotations

from collections.abc import Iterator

from service.config.problem import Finding, Location, warning
from service.config.rules.uris import is_unencrypted
from service.config.schema.file import ConfigurationFile
from service.model.identity_provider import PRIVATE_KEY_JWT, IdentityProvider
from service.model.user import LOCAL


def providers_can_be_trusted(file: ConfigurationFile) -> Iterator[Finding]:
    """A provider has a name of its own, and is asked over https, by a client that it knows (OIDC Core §3.1.2.1)."""
    for at, provider in enumerate(file.identity_providers):
        location = ("identity_providers", at)
        if provider.name == LOCAL:  # the provider would pass for this service's own users
            message = "local is the idp claim of the users of this service itself"
            yield Finding((*location, "name"), message, "take another name")
        if is_unencrypted(provider.issuer):
            message = "should be https; otherwise anyone on the way could sign in as any user"
            yield warning((*location, "issuer"), message)
        if not provider.client_id:
            yield warning((*location, "client_id"), "is empty, so the provider refuses every login")
        if "openid" not in provider.scopes:
            message = "openid is missing, so the provider sends no identity token"
            yield Finding((*location, "scopes"), message, "OIDC Core §3.1.2.1")


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


def _judge_key(
    file: ConfigurationFile, provider: IdentityProvider, location: Location
) -> Iterator[Finding]:
    alg, key = provider.token_endpoint_auth_signing_alg, provider.private_key
    if key is not None:
        if alg is None:
            message = "needs token_endpoint_auth_signing_alg, the algorithm of the key"
            yield Finding((*location, "private_key"), message)
        if not key.is_file():
            yield Finding((*location, "private_key"), f"there is no file {key}")
        return
    if alg is not None and alg not in file.signing.algorithms:
        message = f"{alg} is none of signing.algorithms, whose keys sign without a private_key"
        yield Finding((*location, "token_endpoint_auth_signing_alg"), message)
    if provider.client_id == file.issuer:
        message = "is this service's issuer, so a client assertion could pass for a token of it"
        yield Finding((*location, "client_id"), message, "set a private_key for this provider")


FILE_RULES = (providers_can_be_trusted, domains_have_one_provider, this_service_can_authenticate)

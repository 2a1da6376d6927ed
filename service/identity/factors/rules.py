"""Rules on second factors, passkeys and authentication contexts (RFC 8176, OIDC Core §5.5.1.1, WebAuthn Level 3 §5.1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

from service.config.problem import Finding, Location, nearest, warning
from service.config.schema.file import ConfigurationFile
from service.model.authentication_context import OWN_METHODS, names_context


def contexts_name_their_methods(file: ConfigurationFile) -> Iterator[Finding]:
    """Each authentication context says in one way what it needs; without that nobody could meet it."""
    for at, context in enumerate(file.authentication_contexts):
        location = ("authentication_contexts", at)
        if not context.amr and not context.any_of:
            message = "is missing, and so is any_of: nobody could meet this context"
            yield Finding((*location, "amr"), message, "such as amr: [pwd]")
        if context.amr and context.any_of:
            message = "is given next to amr, which is one list of methods"
            yield Finding(
                (*location, "any_of"), message, "put that list into any_of, and remove amr"
            )


def contexts_can_be_met(file: ConfigurationFile) -> Iterator[Finding]:
    """Each method of an authentication context is one that a sign-in can have."""
    if any(provider.trust_acr for provider in file.identity_providers):
        return  # a provider may have methods of its own
    for at, context in enumerate(file.authentication_contexts):
        location = ("authentication_contexts", at)
        ways: list[tuple[Location, frozenset[str]]] = [(("amr",), context.amr)]
        ways += [(("any_of", number), way) for number, way in enumerate(context.any_of)]
        for below, methods in ways:
            for method in sorted(methods - OWN_METHODS):
                if not _is_grant_type(method):
                    message = f"no sign-in has the method {method}, so that nobody meets this"
                    hint = (
                        f"methods here: {', '.join(sorted(OWN_METHODS))} (docs/second-factors.md)"
                    )
                    yield warning((*location, *below, method), message, hint)


def _is_grant_type(method: str) -> bool:
    """Return whether it may be the `amr` of tokens that were granted without a sign-in."""
    return ":" in method or method == "delegation"


def required_contexts_exist(file: ConfigurationFile) -> Iterator[Finding]:
    """A required_acr, and the acr of a check, is one of authentication_contexts; otherwise nobody could meet it."""
    known = [context.acr for context in file.authentication_contexts]
    for location, acr in _find_required_acr(file):
        if acr is not None and acr not in known:
            message = f"{acr} is none of authentication_contexts"
            hint = nearest(acr, known) or f"known: {', '.join(known)}; or define it there"
            yield Finding(location, message, hint)


def _find_required_acr(file: ConfigurationFile) -> Iterator[tuple[Location, str | None]]:
    for section in ("clients", "api_scopes", "api_resources"):
        for at, entry in enumerate(getattr(file, section)):
            yield (section, at, "required_acr"), entry.required_acr
    for at, api in enumerate(file.api_resources):
        for check, demand in api.checks.items():
            yield ("api_resources", at, "checks", check, "acr"), demand.acr
    if file.admin is not None:
        yield ("admin", "required_acr"), file.admin.required_acr


def default_acr_values_exist(file: ConfigurationFile) -> Iterator[Finding]:
    """Each of the default_acr_values is one of authentication_contexts; nobody could meet another (OIDC Core §5.5.1.1)."""
    known = [context.acr for context in file.authentication_contexts]
    for at, client in enumerate(file.clients):
        for number, acr in enumerate(client.default_acr_values or ()):
            if acr not in known and names_context(acr):
                message = f"{acr} is none of authentication_contexts, and nobody can meet it"
                location = ("clients", at, "default_acr_values", number)
                hint = nearest(acr, known) or f"known: {', '.join(known)}; or define it there"
                yield warning(location, message, hint)


def factors_can_be_enrolled(file: ConfigurationFile) -> Iterator[Finding]:
    """Everybody who needs a second factor can enrol one."""
    if file.mfa.enrolment == "at_login":
        return
    hint = "set mfa.enrolment: at_login"
    if file.mfa.required == "always":
        message = "users without a second factor can sign in nowhere, not even to enrol one"
        yield warning(("mfa", "required"), message, hint)
    for at, client in enumerate(file.clients):
        if client.mfa_required == "always":
            message = "users without a second factor cannot use this client until they enrol one"
            yield warning(("clients", at, "mfa_required"), message, f"{hint}, or tell them so")


def rp_id_covers_the_issuer(file: ConfigurationFile) -> Iterator[Finding]:
    """Browsers refuse a domain that is neither the issuer's host nor a parent of it that somebody owns."""
    rp_id = file.mfa.webauthn.rp_id
    if rp_id is None:
        return
    host = urlsplit(file.issuer).hostname or ""
    if rp_id != host and not _is_owned_parent(rp_id, host):
        message = f"browsers do not accept {rp_id} for passkeys of {host}"
        hint = "write the issuer's host, or a parent domain of it that is yours"
        yield Finding(("mfa", "webauthn", "rp_id"), message, hint)


def _is_owned_parent(rp_id: str, host: str) -> bool:
    """Return whether it is a parent of the host and no public suffix.

    fido2 brings the list with each of its releases. By its algorithm a top-level domain that is not listed, such as one of
    a company's own network, is a public suffix, too; the list has names beyond ASCII as people write them.
    """
    from fido2.rpid import verify_rp_id  # noqa: PLC0415 - it reads the public suffix list

    is_top_level = "." not in rp_id and rp_id != "localhost"
    return not is_top_level and verify_rp_id(_decode(rp_id), f"https://{_decode(host)}")


def _decode(domain: str) -> str:
    """Return the domain with the letters that its xn-- labels stand for (RFC 5891 §4.4)."""
    try:
        return domain.encode("ascii").decode("idna")
    except UnicodeError:
        return domain


FILE_RULES = (
    contexts_name_their_methods,
    contexts_can_be_met,
    required_contexts_exist,
    default_acr_values_exist,
    factors_can_be_enrolled,
    rp_id_covers_the_issuer,
)

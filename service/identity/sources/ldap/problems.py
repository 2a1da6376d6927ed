"""Finds the mistakes in the settings of a directory that `check` can see without a connection."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

from service.config.problem import Finding, warning
from service.config.schema.ldap import NAME, USER_DN, Ldap, LdapGroups
from service.config.schema.users import Users
from service.identity.sources.ldap import names
from service.protocol.uris import is_loopback

_LDAP = ("users", "ldap")


def find_problems(settings: Users) -> Iterator[Finding]:
    """Yield the problems of `users.ldap`."""
    ldap = settings.ldap
    if ldap is None:
        message = "ldap needs the settings of the directory"
        yield Finding(("users", "source"), message, "add users.ldap with urls and base")
        return
    yield from _transport_problems(ldap)
    yield from _account_problems(ldap)
    yield from _name_problems(ldap)
    if ldap.groups is not None:
        yield from _group_problems(ldap.groups)


def _transport_problems(ldap: Ldap) -> Iterator[Finding]:
    for at, url in enumerate(ldap.urls):
        parts = urlsplit(url)
        if parts.scheme == "ldap" and not ldap.starttls and not is_loopback(parts.hostname or ""):
            message = "would carry passwords that anyone on the way can read"
            yield Finding((*_LDAP, "urls", at), message, "set starttls: true, or write ldaps://")
    if ldap.ca_file is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(ldap.ca_file)
        except OSError as error:
            is_no_pem = isinstance(error, ssl.SSLError)
            reason = "holds no certificates, PEM" if is_no_pem else error.strerror
            yield Finding((*_LDAP, "ca_file"), f"{ldap.ca_file}: {reason}")


def _account_problems(ldap: Ldap) -> Iterator[Finding]:
    if ldap.bind_dn is not None and not ldap.bind_password:
        message = "is empty: a bind without a password is anonymous (RFC 4513 §5.1.2)"
        hint = "set it, as ${file:/run/secrets/ldap}, or remove bind_dn for anonymous look-ups"
        yield Finding((*_LDAP, "bind_password"), message, hint)
    if ldap.bind_dn is None and ldap.bind_password:
        yield Finding((*_LDAP, "bind_password"), "has no effect without bind_dn")


def _name_problems(ldap: Ldap) -> Iterator[Finding]:
    if not names.is_dn(ldap.base):
        yield Finding((*_LDAP, "base"), "is no DN such as ou=people,dc=example,dc=com (RFC 4514)")
    template = ldap.user_dn
    if template is not None:
        if template.count(NAME) != 1:
            yield Finding((*_LDAP, "user_dn"), f"needs {NAME} once, for the name of the user")
        elif not names.is_dn(template.replace(NAME, "x")):
            yield Finding((*_LDAP, "user_dn"), "is no DN (RFC 4514)")
    is_of_dex = ldap.subject_format == "dex"
    if ldap.sub.lower() == names.WHOLE and not is_of_dex:
        message = "DN is possible with subject_format: dex only: a DN is given to others one day"
        yield Finding((*_LDAP, "sub"), message, "entryUUID or objectGUID never changes")
    if not is_of_dex and ldap.sub.lower() in {
        "uid",
        "cn",
        "mail",
        "samaccountname",
        "userprincipalname",
    }:
        message = "a name may be given to another person, who then has the tokens of the first"
        hint = "entryUUID or, in Active Directory, objectGUID never changes"
        yield warning((*_LDAP, "sub"), message, hint)


def _group_problems(groups: LdapGroups) -> Iterator[Finding]:
    if groups.base is not None and not names.is_dn(groups.base):
        yield Finding((*_LDAP, "groups", "base"), "is no DN (RFC 4514)")
    if groups.attribute is None and not {NAME, USER_DN} & set(_placeholders(groups.filter)):
        message = f"finds the same groups for every user: it has neither {USER_DN} nor {NAME}"
        yield Finding((*_LDAP, "groups", "filter"), message)
    if groups.base is None and groups.name != names.WHOLE:
        message = "is not set, so that groups of one name in different places look the same"
        hint = "set the DN below which only administrators make groups, or name: dn"
        yield warning((*_LDAP, "groups"), f"base {message}", hint)


def _placeholders(text: str) -> Iterator[str]:
    yield from (each for each in (NAME, USER_DN) if each in text)

"""The settings of an LDAP directory that the users come from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec

from service.model import marks, types

NAME, USER_DN = "{username}", "{dn}"
"""The placeholders of the user's name and DN in templates of DNs and filters."""

CLAIMS: Mapping[str, str] = {
    "name": "cn",
    "given_name": "givenName",
    "family_name": "sn",
    "preferred_username": "uid",
    "email": "mail",
    "phone_number": "telephoneNumber",
}


def _ldap_url(value: str) -> str:
    try:
        url = urlsplit(value)
        is_server = bool(url.hostname) and url.port != 0 and url.username is None
        rest = url.path.strip("/") + url.query + url.fragment
        is_ldap_url = url.scheme in {"ldap", "ldaps"} and is_server and not rest
    except ValueError:
        is_ldap_url = False
    if not is_ldap_url or re.search(r"[\s\x00-\x1f\x7f]", value):
        raise marks.expected("a URL such as ldaps://ldap.example.com or ldap://127.0.0.1:389")
    return value


def _of_one_kind(values: tuple[str, ...]) -> tuple[str, ...]:
    if len({value.partition(":")[0] for value in values}) > 1:
        raise marks.expected("either ldap:// URLs or ldaps:// URLs")
    return values


def _filter(value: str) -> str:
    depth = 0
    for letter in value.replace("\\28", "").replace("\\29", ""):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth < 0:
            break
    if depth or not (value.startswith("(") and value.endswith(")")):
        raise marks.expected("a filter in parentheses, such as (objectClass=person) (RFC 4515)")
    return value


class LdapGroups(msgspec.Struct, frozen=True, kw_only=True):
    """The groups of a user as a claim."""

    claim: types.Text = "groups"
    """The claim that lists the groups."""
    attribute: types.AttributeName | None = "memberOf"
    """The attribute of a user that has the DNs of the groups. null: the groups are searched for by `filter`, which takes one more
    request to the directory each time."""
    base: types.Text | None = None
    """The DN below which groups count; those elsewhere are left out. null: all count."""
    filter: Annotated[types.Text, marks.After(_filter)] = (
        "(|(member={dn})(uniqueMember={dn})(memberUid={username}))"
    )
    """The filter that finds the groups of a user, where `attribute` is null; `{dn}` and `{username}` are the user's. It finds
    nested groups in Active Directory as (member:1.2.840.113556.1.4.1941:={dn})."""
    name: types.AttributeName = "cn"
    """The attribute of a group that the claim shows; dn: the whole DN. Groups with the same cn in different places look the same,
    so set `base` to a place where only administrators make groups."""


class Ldap(marks.Confidential, frozen=True, kw_only=True):
    """The directory that users come from; a password is verified by a bind there (RFC 4513 §5.1.3)."""

    urls: Annotated[
        tuple[Annotated[str, marks.After(_ldap_url)], ...],
        msgspec.Meta(min_length=1),
        marks.After(_of_one_kind),
    ]
    """The servers, such as ldaps://ldap.example.com; the next one is asked where one cannot be reached."""
    starttls: bool = True
    """Whether connections to ldap:// URLs are encrypted by StartTLS before anything is sent. false is for servers on the same
    machine only."""
    ca_file: types.FilePath | None = None
    """A file with the authorities that issue the servers' certificates, PEM. null: those that the system trusts. A certificate that
    fits no authority or another host name is refused."""
    bind_dn: types.Text | None = None
    """The DN of the account that looks users up; it needs to read them and nothing else. null: look-ups are anonymous."""
    bind_password: Annotated[str, marks.SECRET] = ""
    """The password of that account, such as ${file:/run/secrets/ldap}."""
    base: types.Text
    """The DN below which users are, such as ou=people,dc=example,dc=com."""
    filter: Annotated[types.Text, marks.After(_filter)] = "(objectClass=person)"
    """The filter that every user meets. Others are unknown, and their tokens inactive, so that it can also restrict the service
    to some users: (memberOf=cn=staff,ou=groups,dc=example,dc=com)."""
    username: Annotated[tuple[types.AttributeName, ...], msgspec.Meta(min_length=1)] = ("uid",)
    """The attributes that the name to sign in with may stand in, such as [uid, mail]; sAMAccountName in Active Directory."""
    user_dn: types.Text | None = None
    """The DN of a user by the name to sign in with, such as uid={username},ou=people,dc=example,dc=com. null: the user is searched
    for below `base`."""
    sub: types.AttributeName = "entryUUID"
    """The attribute whose value never changes and becomes the subject identifier: entryUUID, in Active Directory objectGUID, in
    389 Directory Server nsUniqueId. Never the DN or a name, which are given to others one day."""
    subject_format: Literal["attribute", "dex"] = "attribute"
    """attribute: the value is the `sub`. dex: the `sub` is as dex makes it of the value and `connector_id`, so that applications know users
    again that came by this connector of dex. `sub` is then the connector's userSearch.idAttr, and may be DN."""
    connector_id: types.Text = "ldap"
    """The `id` of the connector in dex, for subject_format: dex."""
    claims: dict[types.Text, types.AttributeName] = msgspec.field(
        default_factory=lambda: dict(CLAIMS)
    )
    """Claims, and the attributes whose first value they have."""
    list_claims: dict[types.Text, types.AttributeName] = msgspec.field(default_factory=dict)
    """Claims, and the attributes of which they list all values."""
    fixed_claims: dict[types.Text, object] = msgspec.field(default_factory=dict)
    """Claims that are the same for all users, such as email_verified: true where the directory's addresses are verified."""
    identities: dict[types.ShortName, types.AttributeName] = msgspec.field(default_factory=dict)
    """Identity providers, and the attributes that have the subjects of users there: a sign-in at the provider by this subject is one of
    the user."""
    groups: LdapGroups | None = None
    """How the groups of a user become a claim. null: users have no such claim."""

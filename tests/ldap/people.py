"""The people of the directory."""

from __future__ import annotations

from uuid import UUID

from tests.driving.slapd import GROUPS, PEOPLE, directory, entry, group, group_of, person

ALICE = "2b9a7c3e-54a5-4b7e-9d5b-0d2f3a1c4e5f"
"""Her entryUUID."""
GUID = UUID("a1b2c3d4-e5f6-4708-9a0b-c0ffee000028")
"""An objectGUID whose bytes have a meaning in filters, were they not escaped."""

SPECIAL = 'smith, "j" + (x*)\\'
"""A name of characters that have a meaning in DNs and filters (RFC 4514 §2.4, RFC 4515 §3)."""

ACTIVE, DISABLED = "512", "514"
"""Values of userAccountControl: a normal account, and one that is disabled."""
PAST, FUTURE = "132000000000000000", "200000000000000000"
"""Values of accountExpires: in 2019 and in 2234."""


def windows_person(name: str, **attributes: str | bytes) -> str:
    """Somebody as Active Directory has them; the password is `<name>-password`."""
    known: dict[str, str | bytes] = {
        "cn": name,
        "sn": "Smith",
        "sAMAccountName": name,
        "userPassword": f"{name}-password",
        "userAccountControl": ACTIVE,
    }
    return entry(
        f"cn={name},{PEOPLE}",
        objectClass=["inetOrgPerson", "extensibleObject"],
        **(known | attributes),
    )


EVERYBODY = directory(
    person(
        "alice",
        uuid=ALICE,
        givenName="Alice",
        telephoneNumber="+1 555 0100",
        employeeType=["engineer", "author"],
        description="TRUE",
        postalAddress="1 Main Street$Springfield",
        title="20261124120000Z",
        # As the overlay of the server writes it, which entries that are loaded do not pass.
        memberOf=[f"cn=staff,{GROUPS}", f"cn=admins,{GROUPS}", f"cn=root,ou=elsewhere,{PEOPLE}"],
    ),
    person("bob"),
    person("carol"),
    person("dave"),
    person("erin"),
    person("frank"),
    person("müller", mail="mueller@example.com"),
    person("grace", mail=["grace@example.com", "shared@example.com"]),
    person("heidi", mail=["heidi@example.com", "shared@example.com"]),
    # Who is called like that wants to be found by a filter that is not escaped.
    person("ivan", cn="*)(uid=*", description="ivan"),
    entry(
        f"cn=judy \\+ co\\, ltd,{PEOPLE}",
        objectClass="inetOrgPerson",
        uid="judy",
        cn="judy + co, ltd",
        sn="Smith",
        userPassword="judy-password",
    ),
    entry(
        f'uid=smith\\, \\"j\\" \\+ (x*)\\\\,{PEOPLE}',
        objectClass="inetOrgPerson",
        uid=SPECIAL,
        cn="Jo Smith",
        sn="Smith",
        userPassword=f"{SPECIAL}-password",
    ),
    group_of("odd", f"uid=smith\\2c \\22j\\22 \\2b (x*)\\5c,{PEOPLE}"),
    entry(
        f"uid=nopassword,{PEOPLE}", objectClass="inetOrgPerson", uid="nopassword", cn="n", sn="n"
    ),
    group("staff", "alice", "bob"),
    group("admins", "alice", "carol"),
    entry(f"ou=elsewhere,{PEOPLE}", objectClass="organizationalUnit", ou="elsewhere"),
    group("root", "alice", below=f"ou=elsewhere,{PEOPLE}"),
    windows_person("wendy", objectGUID=GUID.bytes_le),
    windows_person("disabled", userAccountControl=DISABLED),
    windows_person("expired", accountExpires=PAST),
    windows_person("expires", accountExpires=FUTURE),
)

"""A real OpenLDAP server of the tests' own, to be started, stopped, frozen and killed."""

from __future__ import annotations

import socket
import subprocess
from base64 import b64encode
from pathlib import Path
from typing import Any

from tests.driving.certificate import certified
from tests.driving.child import Child
from tests.driving.ports import lasting_ports
from tests.driving.program import SECONDS, eventually

SUFFIX = "dc=example,dc=com"
PEOPLE, GROUPS = f"ou=people,{SUFFIX}", f"ou=groups,{SUFFIX}"
ADMIN, ADMIN_PASSWORD = f"cn=admin,{SUFFIX}", "admin of the directory"
READER, READER_PASSWORD = f"cn=reader,{SUFFIX}", "reader of the directory"
"""The account that looks users up, and may not read passwords."""

_CONFIGURATION = """
{schemas}
attributetype ( 1.2.840.113556.1.4.221 NAME 'sAMAccountName' EQUALITY caseIgnoreMatch SYNTAX {text} )
attributetype ( 1.2.840.113556.1.4.2 NAME 'objectGUID' EQUALITY octetStringMatch SYNTAX {octets} )
attributetype ( 1.2.840.113556.1.4.8 NAME 'userAccountControl' EQUALITY integerMatch SYNTAX {number} )
attributetype ( 1.2.840.113556.1.4.159 NAME 'accountExpires' EQUALITY integerMatch SYNTAX {number} )
attributetype ( 2.16.840.1.113730.3.1.610 NAME 'nsAccountLock' EQUALITY caseIgnoreMatch SYNTAX {text} )
modulepath /usr/lib/ldap
moduleload back_mdb
moduleload memberof
moduleload ppolicy
pidfile {folder}/slapd.pid
{tls}
allow bind_v2
database mdb
suffix {suffix}
rootdn {admin}
rootpw "{password}"
directory {folder}/db
maxsize 16777216
dbnosync
index objectClass,uid,mail,entryUUID,sAMAccountName,objectGUID eq
access to attrs=userPassword by anonymous auth by * none
access to * by dn.exact={reader} read by * none
overlay memberof
overlay ppolicy
ppolicy_default cn=policy,{suffix}
"""


class Slapd(Child):
    """One server on two ports of 127.0.0.1, started at once; both stay its own when it starts again."""

    def __init__(
        self, folder: Path, ldif: str, *, tls: bool = True, shown: Path | None = None
    ) -> None:
        """Let it begin with these entries; without TLS it refuses StartTLS, too. `shown` is another certificate."""
        self.folder = folder
        (folder / "db").mkdir(parents=True)
        self.ca_file = certified(folder)
        self._port, self._tls_port = lasting_ports(2)
        self._has_tls = tls
        tls_keys = ("TLSCertificateFile", "TLSCertificateKeyFile", "TLSCACertificateFile")
        names = ("core", "cosine", "inetorgperson")
        self._file = folder / "slapd.conf"
        self._file.write_text(
            _CONFIGURATION.format(
                schemas="\n".join(f"include /etc/ldap/schema/{name}.schema" for name in names),
                text="1.3.6.1.4.1.1466.115.121.1.15",
                octets="1.3.6.1.4.1.1466.115.121.1.40",
                number="1.3.6.1.4.1.1466.115.121.1.27",
                folder=folder,
                tls="\n".join(f"{key} {shown or self.ca_file}" for key in tls_keys if tls),
                suffix=SUFFIX,
                admin=ADMIN,
                password=ADMIN_PASSWORD,
                reader=READER,
            )
        )
        entries = folder / "entries.ldif"
        entries.write_text(ldif)
        command = ["slapadd", "-q", "-f", str(self._file), "-l", str(entries)]
        added = subprocess.run(command, check=False, capture_output=True, text=True)
        assert added.returncode == 0, added.stderr
        self.start()

    @property
    def url(self) -> str:
        """For StartTLS."""
        return f"ldap://127.0.0.1:{self._port}"

    @property
    def tls_url(self) -> str:
        return f"ldaps://127.0.0.1:{self._tls_port}"

    @property
    def other_url(self) -> str:
        """Of the same server, by a name that is not in its certificate."""
        return f"ldaps://127.0.0.2:{self._tls_port}"

    @property
    def settings(self) -> dict[str, Any]:
        """The settings `users.ldap` for it."""
        return {
            "urls": [self.tls_url],
            "ca_file": str(self.ca_file),
            "bind_dn": READER,
            "bind_password": READER_PASSWORD,
            "base": PEOPLE,
        }

    def start(self) -> None:
        """Start it (again), and wait until it listens."""
        where = f"{self.url}/"
        if self._has_tls:
            where += f" {self.tls_url}/ {self.other_url}/"
        # With a level of debugging it stays in the foreground.
        command = ["slapd", "-f", str(self._file), "-h", where, "-d", "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        eventually(lambda: self.process.poll() is not None or self._listens(), SECONDS)
        assert self.process.poll() is None

    def change(self, dn: str, attribute: str, *values: str) -> None:
        """Replace the values of an attribute, as an administrator does; without values it is removed."""
        lines = [f"dn: {dn}", "changetype: modify", f"replace: {attribute}"]
        lines += [f"{attribute}:: {b64encode(value.encode()).decode()}" for value in values]
        command = ["ldapmodify", "-e", "relax", "-x", "-H", self.url, "-D", ADMIN]
        subprocess.run(
            [*command, "-w", ADMIN_PASSWORD],
            input="\n".join([*lines, ""]),
            text=True,
            check=True,
            capture_output=True,
        )

    def _listens(self) -> bool:
        with socket.socket() as connection:
            return connection.connect_ex(("127.0.0.1", self._port)) == 0


def entry(dn: str, **attributes: str | bytes | list[str]) -> str:
    """An entry in LDIF (RFC 2849)."""
    lines = [f"dn:: {b64encode(dn.encode()).decode()}"]
    for name, value in attributes.items():
        for one in value if isinstance(value, list) else [value]:
            raw = one.encode() if isinstance(one, str) else one
            lines.append(f"{name.replace('_', '-')}:: {b64encode(raw).decode()}")
    return "\n".join([*lines, "", ""])


def directory(*people: str) -> str:
    """The LDIF of a directory with these people, and what every one has."""
    container = {"objectClass": "organizationalUnit"}
    return "".join(
        (
            entry(SUFFIX, objectClass=["dcObject", "organization"], dc="example", o="Example"),
            entry(PEOPLE, **container, ou="people"),
            entry(GROUPS, **container, ou="groups"),
            entry(
                READER,
                objectClass=["organizationalRole", "simpleSecurityObject"],
                cn="reader",
                userPassword=READER_PASSWORD,
            ),
            entry(
                f"cn=policy,{SUFFIX}",
                objectClass=["organizationalRole", "pwdPolicy"],
                cn="policy",
                pwdAttribute="userPassword",
                pwdMustChange="TRUE",
                pwdLockout="TRUE",
                pwdMaxFailure="100",
            ),
            *people,
        )
    )


def person(uid: str, *, uuid: str | None = None, **attributes: str | bytes | list[str]) -> str:
    """Somebody whose password is `<uid>-password`."""
    known: dict[str, str | bytes | list[str]] = {
        "objectClass": "inetOrgPerson",
        "uid": uid,
        "cn": f"{uid.title()} Smith",
        "sn": "Smith",
        "mail": f"{uid}@example.com",
        "userPassword": f"{uid}-password",
        **({"entryUUID": uuid} if uuid else {}),
    }
    return entry(f"uid={uid},{PEOPLE}", **(known | attributes))


def group(name: str, *members: str, below: str = GROUPS) -> str:
    """A group of people."""
    return group_of(name, *(f"uid={uid},{PEOPLE}" for uid in members), below=below)


def group_of(name: str, *members: str, below: str = GROUPS) -> str:
    """A group of these DNs."""
    return entry(f"cn={name},{below}", objectClass="groupOfNames", cn=name, member=[*members])

"""Whatever an export holds: no traceback, nothing half-written, no secret in the report, no name that means something."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.start.load import load
from service.takeover.reading import Unreadable, read_members
from tests.takeover.conftest import Import, a_client, a_realm, invoke

CANARY = "canary-of-a-secret-that-nobody-may-see"

NAMES = {
    "a mapping": "a: b",
    "an item": "- a",
    "a comment": "a #b",
    "a comment alone": "# a",
    "a double quote": 'a"b',
    "a single quote": "a'b",
    "a backslash": "a\\b",
    "an anchor": "&a b",
    "an alias": "*a",
    "a tag": "!!python/object/apply:os.system [id]",
    "a merge": "<<",
    "a block": "|",
    "a directive": "%YAML 1.2",
    "a document": "---",
    "an end": "...",
    "a flow mapping": "{a: b}",
    "a flow list": "[a, b",
    "null": "null",
    "a tilde": "~",
    "yes": "yes",
    "a number": "1e3",
    "white space": "  a  ",
    "an entry": "a\n  - client_id: evil\n    require_client_secret: false\n#",
    "a line separator": "a\u2028- b",
    "a next line": "a\x85b",
    "a variable": "${HOME}",
    "a file": "${file:/etc/passwd}",
    "a default": "${NOBODY:-evil}",
    "an escaped variable": "$${HOME}",
    "an open variable": "${",
    "a nested variable": "${${HOME}}",
    "a path up": "../../../../tmp/evil",
    "an absolute path": "/etc/passwd",
    "a windows path": "C:\\evil",
    "a null character": "a\x00b",
    "an escape sequence": "\x1b[2J\x1b]0;evil\x07",
    "a carriage return": "a\r\nSet-Cookie: evil",
    "a right-to-left override": "a\u202eb",
    "an isolate": "a\u2066b\u2069",
    "a byte order mark": "\ufeffa",
    "a zero width space": "a\u200bb",
    "a surrogate": "a\ud800b",
    "an emoji": "a\U0001f600b",
    "a decomposed letter": "e\u0301",
    "a delete": "a\x7fb",
    "SQL": "a'); DROP TABLE users; --",
    "a format": "%s{0}%(x)s",
    "nothing": "",
    "much": "a" * 5000,
}


def realm_named(name: str) -> dict[str, Any]:
    """A realm with this name wherever somebody chooses a name."""
    mapper = {
        "name": name,
        "protocolMapper": "oidc-usermodel-attribute-mapper",
        "config": {"user.attribute": name, "claim.name": f"own.{name}", "id.token.claim": "true"},
    }
    fixed = {
        "protocolMapper": "oidc-hardcoded-claim-mapper",
        "config": {"claim.name": name, "claim.value": name, "access.token.claim": "true"},
    }
    client = a_client(
        name=name,
        secret=CANARY,
        rootUrl=name,
        redirectUris=["https://shop.example.com/callback", name, f"/{name}"],
        webOrigins=[name],
        defaultClientScopes=["named", name],
        protocolMappers=[fixed],
        attributes={"logoUri": name, "post.logout.redirect.uris": name, name: name},
    )
    totp = {
        "type": "otp",
        "userLabel": name,
        "secretData": json.dumps({"value": f"{CANARY}-seed"}),
        "credentialData": json.dumps({"subType": "totp"}),
    }
    user = {
        "id": "the-user",
        "username": "alice",
        "firstName": name,
        "attributes": {"said": [name], name: [name]},
        "realmRoles": [name],
        "groups": [f"/{name}"],
        "credentials": [totp],
        "federatedIdentities": [{"identityProvider": name, "userId": name}],
    }
    said = {
        "protocolMapper": "oidc-usermodel-attribute-mapper",
        "config": {"user.attribute": "said", "claim.name": "said", "id.token.claim": "true"},
    }
    provider = {
        "alias": name,
        "displayName": name,
        "providerId": "oidc",
        "config": {"issuer": "https://idp.example.com", "clientId": name, "clientSecret": CANARY},
    }
    return a_realm(
        clients=[client, a_client(clientId=name, secret=CANARY), a_client(clientId="last")],
        clientScopes=[
            {"name": "named", "protocolMappers": [mapper, said]},
            {"name": name, "attributes": {"consent.screen.text": name}},
        ],
        roles={"realm": [{"name": name}], "client": {name: [{"name": name}]}},
        groups=[{"name": name, "path": f"/{name}", "realmRoles": [name]}],
        users=[user, {"id": name, "username": name}],
        identityProviders=[provider],
    )


@pytest.mark.parametrize("name", [*NAMES.values()], ids=[*NAMES])
def test_a_name_is_data(import_realm: Import, tmp_path: Path, name: str) -> None:
    result = import_realm(realm_named(name))
    assert result.exit_code in {0, 4}, result.output
    assert CANARY not in result.output
    assert all(line.isprintable() for line in result.stdout.splitlines())
    config = tmp_path / "out/config.yaml"
    checked = invoke("check", str(config))
    assert checked.exit_code == 0, checked.output
    registry = load(config, {}).registry
    assert "evil" not in registry.clients or name == "evil"
    assert {"web", "last"} <= registry.clients.keys()
    user = next(user for user in registry.users if user.sub == "the-user")
    assert user.claims.get("said") in {name.replace("\ud800", "?"), None}
    names = {each.name for each in tmp_path.rglob("*")}
    files = {"config.yaml", "registry.yaml", "users.yaml", "factors.json", "secrets"}
    assert names - {each for each in names if each.isdigit()} == {"export.json", "out", *files}


def nested(levels: int) -> str:
    return '{"realm": "shop", "x": ' + "[" * levels + "]" * levels + "}"


UNREADABLE: dict[str, tuple[str | bytes, str]] = {
    "nothing": ("", "no JSON"),
    "a text": ('"realm"', "neither an object nor a list"),
    "no JSON": ("realm: shop", "no JSON"),
    "truncated in a text": ('{"realm": "sh', "no JSON"),
    "truncated in a client": (
        '{"realm": "shop", "clients": [{"clientId": "a", "secr',
        "clients[0]",
    ),
    "truncated after an item": ('{"realm": "shop", "clients": [{"clientId": "a"},', "no JSON"),
    "something behind it": ('{"realm": "shop"} {}', "no JSON"),
    "a comma too much": ('{"realm": "shop", "clients": [{"a": 1},]}', "no JSON"),
    "a comment": ('{"realm": "shop" /* no */}', "no JSON"),
    "a key that is there twice": (
        '{"realm": "shop", "clients": [], "clients": []}',
        "at clients: the key",
    ),
    "a key of a client that is there twice": (
        '{"realm": "shop", "clients": [{"clientId": "a", "clientId": "b"}]}',
        "at clients[0].clientId: the key",
    ),
    "too many levels": (nested(70), "at x[0][0][0]"),
    "very many levels": (nested(300_000), "more than 64 levels"),
    "a huge number": ('{"realm": "shop", "x": ' + "9" * 400 + "}", "no JSON"),
    "a number beyond all": ('{"realm": "shop", "x": 1e999}', "no JSON"),
    "no number": ('{"realm": "shop", "x": NaN}', "no JSON"),
    "no UTF-8": (b'{"realm": "sh\xff\xfeop"}', "no JSON"),
    "half of UTF-16": (b"\xff\xfe{\x00", "no JSON"),
    "broken UTF-16": (b"\xff\xfe{\x00\x00\xdc", "not Unicode"),
    "no realm": ('{"clients": []}', "no export of a realm"),
    "a realm that is no text": ('{"realm": 5}', "no export of a realm"),
    "a list of realms": ('[{"realm": "one"}, {"realm": "two"}]', "export one realm"),
    "an item with very many values": (
        '{"realm": "shop", "clients": [{"x": [' + "0," * 1_000_001 + "0]}]}",
        "at clients[0].x[",
    ),
}


@pytest.mark.parametrize(("export", "said"), [*UNREADABLE.values()], ids=[*UNREADABLE])
def test_what_cannot_be_read_is_an_error_with_its_place(
    import_realm: Import, tmp_path: Path, export: str | bytes, said: str
) -> None:
    refused = import_realm(export)
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert said in refused.stderr
    assert len(refused.stderr) < 1500
    assert [each.name for each in tmp_path.iterdir()] == ["export.json"]


WRONG_SHAPES: dict[str, tuple[dict[str, Any], str]] = {
    "a scope whose name is a list": (
        {"clientScopes": [{"name": [], "protocol": "openid-connect"}]},
        "clientScopes[0].name",
    ),
    "clients that are an object": ({"clients": {"a": 1}}, ""),
    "a client that is a text": ({"clients": ["web"]}, "clients[0]"),
    "a client that is null": ({"clients": [None]}, "clients[0]"),
    "a client_id that is a number": ({"clients": [a_client(clientId=5)]}, "clients[0].clientId"),
    "a client without a client_id": ({"clients": [{"secret": "x"}]}, "clients[0]"),
    "redirect URIs that are a text": (
        {"clients": [a_client(redirectUris="x")]},
        "clients[0].redirectUris",
    ),
    "a redirect URI that is a list": (
        {"clients": [a_client(redirectUris=[["x"]])]},
        "clients[0].redirectUris[0]",
    ),
    "a switch that is a word": (
        {"clients": [a_client(publicClient="maybe")]},
        "clients[0].publicClient",
    ),
    "attributes that are a list": ({"clients": [a_client(attributes=[])]}, "clients[0].attributes"),
    "a lifetime that is a word": (
        {"clients": [a_client(attributes={"access.token.lifespan": "soon"})]},
        'clients[0].attributes["access.token.lifespan"]',
    ),
    "keys that are no JSON": (
        {
            "clients": [
                a_client(
                    clientAuthenticatorType="client-jwt",
                    attributes={"use.jwks.string": "true", "jwks.string": "{"},
                )
            ]
        },
        'clients[0].attributes["jwks.string"]',
    ),
    "keys that are nested deeply": (
        {
            "clients": [
                a_client(
                    clientAuthenticatorType="client-jwt",
                    attributes={
                        "use.jwks.string": "true",
                        "jwks.string": '{"a":' * 5000 + "1" + "}" * 5000,
                    },
                )
            ]
        },
        'clients[0].attributes["jwks.string"]',
    ),
    "a certificate that is none": (
        {
            "clients": [
                a_client(
                    clientAuthenticatorType="client-jwt",
                    attributes={"jwt.credential.certificate": "AAAA"},
                )
            ]
        },
        'clients[0].attributes["jwt.credential.certificate"]',
    ),
    "a masked secret": ({"clients": [a_client(secret="**********")]}, "clients[0].secret"),
    "a secret in a vault": ({"clients": [a_client(secret="${vault.web}")]}, "clients[0].secret"),
    "an unknown authentication": (
        {"clients": [a_client(clientAuthenticatorType="federated-jwt")]},
        "clients[0].clientAuthenticatorType",
    ),
    "two clients with one client_id": ({"clients": [a_client(), a_client()]}, "clients[1]"),
    "a pairwise client": (
        {
            "clients": [
                a_client(protocolMappers=[{"protocolMapper": "oidc-sha256-pairwise-sub-mapper"}])
            ]
        },
        "clients[0]",
    ),
    "a mapper that is a script": (
        {"clients": [a_client(protocolMappers=[{"protocolMapper": "script-evil.js"}])]},
        "clients[0].protocolMappers[0]",
    ),
    "a key that is none": (
        {
            "components": {
                "org.keycloak.keys.KeyProvider": [
                    {"providerId": "rsa", "config": {"privateKey": ["AAAA"]}}
                ]
            }
        },
        'components["org.keycloak.keys.KeyProvider"][0].config.privateKey',
    ),
    "a key as long as a book": (
        {
            "components": {
                "org.keycloak.keys.KeyProvider": [
                    {"providerId": "rsa", "config": {"privateKey": ["A" * 100_000]}}
                ]
            }
        },
        'components["org.keycloak.keys.KeyProvider"][0].config.privateKey',
    ),
    "roles in a circle": (
        {
            "roles": {
                "realm": [
                    {"name": "a", "composites": {"realm": ["b"]}},
                    {"name": "b", "composites": {"realm": ["a"]}},
                ]
            },
            "users": [{"id": "1", "username": "a", "realmRoles": ["a"]}],
        },
        "",
    ),
    "a role that is not there": (
        {"users": [{"id": "1", "username": "a", "realmRoles": ["ghost"]}]},
        "users[0].realmRoles[0]",
    ),
    "a group that is not there": (
        {"users": [{"id": "1", "username": "a", "groups": ["/ghost"]}]},
        "users[0].groups[0]",
    ),
    "a user without a name": ({"users": [{"id": "1"}]}, "users[0]"),
    "two users with one id": (
        {"users": [{"id": "1", "username": "a"}, {"id": "1", "username": "b"}]},
        "users[1]",
    ),
    "two users with one name": (
        {"users": [{"id": "1", "username": "a"}, {"id": "2", "username": "A"}]},
        "users[1]",
    ),
    "a password in clear": (
        {
            "users": [
                {"id": "1", "username": "a", "credentials": [{"type": "password", "value": CANARY}]}
            ]
        },
        "users[0].credentials[0]",
    ),
    "a hash that costs too much": (
        {
            "users": [
                {
                    "id": "1",
                    "username": "a",
                    "credentials": [
                        {
                            "type": "password",
                            "secretData": '{"value": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "salt": "AAAAAAAAAAA="}',
                            "credentialData": '{"algorithm": "pbkdf2-sha256", "hashIterations": 900000000}',
                        }
                    ],
                }
            ]
        },
        "users[0]",
    ),
    "a hash of another algorithm": (
        {
            "users": [
                {
                    "id": "1",
                    "username": "a",
                    "credentials": [
                        {"type": "password", "secretData": "{}", "credentialData": "{}"}
                    ],
                }
            ]
        },
        "users[0]",
    ),
    "a seed that is too short": (
        {
            "users": [
                {
                    "id": "1",
                    "username": "a",
                    "credentials": [
                        {"type": "otp", "secretData": '{"value": "x"}', "credentialData": "{}"}
                    ],
                }
            ]
        },
        "users[0].credentials[0].secretData",
    ),
    "codes of eight digits": (
        {
            "users": [
                {
                    "id": "1",
                    "username": "a",
                    "credentials": [
                        {
                            "type": "otp",
                            "secretData": '{"value": "x"}',
                            "credentialData": '{"digits": 8}',
                        }
                    ],
                }
            ]
        },
        "users[0].credentials[0]",
    ),
    "recovery codes": (
        {
            "users": [
                {"id": "1", "username": "a", "credentials": [{"type": "recovery-authn-codes"}]}
            ]
        },
        "users[0].credentials[0]",
    ),
    "clients of another version": (
        {"applications": [{"name": "web"}], "clients": [], "keycloakVersion": "3.4.3"},
        "applications",
    ),
}


@pytest.mark.parametrize(("members", "place"), [*WRONG_SHAPES.values()], ids=[*WRONG_SHAPES])
def test_what_has_another_shape_costs_only_itself(
    import_realm: Import, tmp_path: Path, members: dict[str, Any], place: str
) -> None:
    good = (
        {"clients": [*members.get("clients", []), a_client(clientId="good")]}
        if isinstance(members.get("clients", []), list)
        else {}
    )
    result = import_realm(a_realm(**members | good))
    assert result.exit_code == (4 if place else 0), result.output
    starts = (f"  {place}: ", f"  {place} of ")
    assert not place or any(each in result.stdout for each in starts), result.stdout
    assert CANARY not in result.output
    assert invoke("check", str(tmp_path / "out/config.yaml")).exit_code == 0
    assert not good or "good" in (tmp_path / "out/registry.yaml").read_text()


SECRETS = {
    "secret",
    "clientSecret",
    "secretData",
    "privateKey",
    "ecdsaPrivateKey",
    "eddsaPrivateKey",
}
"""Members whose values are never shown; those of others may be, such as the name of a scope."""
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text() | st.just(CANARY),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(), below, max_size=3),
    max_leaves=8,
)
_REALM: dict[str, Any] = json.loads(
    (Path(__file__).parent / "keycloak/export/shop-realm.json").read_text()
)
_SMALL = {
    key: _REALM[key]
    for key in (
        *("clientScopes", "clients", "components", "groups", "identityProviders", "roles"),
        *("scopeMappings", "clientScopeMappings", "identityProviderMappers", "clientPolicies"),
    )
}
_USERS: list[Any] = json.loads(
    (Path(__file__).parent / "keycloak/export/shop-users-0.json").read_text()
)["users"]


def places_in(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values within a value."""
    below = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    return [path, *(each for key, one in below for each in places_in(one, (*path, key)))]


_WHOLE = a_realm(**_SMALL, users=_USERS)
_PLACES = [path for path in places_in(_WHOLE) if path and path != ("realm",)]


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(changes=st.lists(st.tuples(st.sampled_from(_PLACES), _JSON), min_size=1, max_size=4))
def test_a_realm_with_anything_anywhere_is_taken_or_refused_in_words(
    import_realm: Import, tmp_path: Path, changes: list[tuple[tuple[Any, ...], Any]]
) -> None:
    realm = json.loads(json.dumps(_WHOLE))
    for path, value in changes:
        holder = realm
        try:
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = value
        except (KeyError, IndexError, TypeError):
            continue  # another change has taken it away
    result = import_realm(realm, "--force")
    assert result.exit_code in {0, 1, 4}, result.output
    shown = any(CANARY in json.dumps(value) for path, value in changes if SECRETS.isdisjoint(path))
    assert shown or CANARY not in result.stdout
    if result.exit_code != 1:
        assert invoke("check", str(tmp_path / "out/config.yaml")).exit_code == 0


@settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.binary(max_size=300) | _JSON.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "any.json"
    file.write_bytes(content)
    with suppress(Unreadable):
        list(read_members(file))


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16-le", "utf-16-be"])
def test_a_mark_at_the_begin_says_the_encoding(import_realm: Import, encoding: str) -> None:
    mark = "" if encoding == "utf-8-sig" else "\ufeff"
    result = import_realm((mark + json.dumps(a_realm())).encode(encoding))
    assert result.exit_code == 0, result.output


def test_a_file_of_more_than_a_gibibyte_is_refused(import_realm: Import, tmp_path: Path) -> None:
    with (tmp_path / "huge.json").open("wb") as file:
        os.truncate(file.fileno(), (1 << 30) + 1)
    refused = import_realm(tmp_path / "huge.json")
    assert (refused.exit_code, "more than 1 GiB" in refused.stderr) == (1, True)

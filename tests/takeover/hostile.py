"""Input that is broken, hostile, or of another server: what the import says of each, and with which exit code."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass

Files = str | bytes | Mapping[str, str | bytes]
SECRET = "a-secret-that-no-report-may-show"
_HASH = base64.b64encode(b"\x01" * 32).decode()


@dataclass(frozen=True)
class Row:
    """A source, and the words that the report or the error has."""

    name: str
    kind: str
    files: Files
    """The content of one file, or of several by their names, which are a folder."""
    exit_code: int
    said: str


def client_of_dex(**members: object) -> str:
    """A configuration of dex, which may be JSON, with one client."""
    client = {
        "id": "app",
        "name": "App",
        "secret": SECRET,
        "redirectURIs": ["https://app.example.com/cb"],
    }
    return json.dumps({"issuer": "https://dex.example.com", "staticClients": [client | members]})


def user_of_dex(**members: object) -> str:
    user = {"email": "a@example.com", "userID": "1", "hash": "$2a$04$" + "a" * 53}
    users = {"enablePasswordDB": True, "staticPasswords": [user | members]}
    return json.dumps({"issuer": "https://dex.example.com", **users})


def client_of_hydra(**members: object) -> str:
    client = {
        "client_id": "app",
        "token_endpoint_auth_method": "none",
        "redirect_uris": ["https://app.example.com/cb"],
    }
    return json.dumps([client | members])


def client_of_identityserver(**members: object) -> str:
    client = {
        "ClientId": "app",
        "RequireClientSecret": False,
        "AllowedGrantTypes": ["authorization_code"],
        "RedirectUris": ["https://app.example.com/cb"],
    }
    return json.dumps({"Clients": [client | members]})


def user_of_identityserver(**members: object) -> str:
    return json.dumps({"AspNetUsers": [{"Id": "1", "UserName": "alice"} | members]})


_USER = {"Id": "1", "UserName": "alice"}
_NAMES = {
    "yaml": "a: b # c\n- d",
    "reference": "${file:/etc/passwd}",
    "variable": "${HOME:-x}",
    "quote": "\"'\\",
    "control": "a\x1b[31mb\x07",
    "bidirectional": "a\u202eb",
    "line separator": "a\u2028b",
    "path": "../../etc/passwd",
}
_BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{after}: &{after} [{', '.join(['*' + before] * 10)}]\n"
    for before, after in zip("abcdefg", "bcdefgh", strict=True)
)
_LADDER = "a: &a [x]\n" + "".join(
    f"{after}: &{after} {'[' * 9}*{before}{']' * 9}\n"
    for before, after in zip("abcdefg", "bcdefgh", strict=True)
)

ROWS = (
    Row("an empty file", "dex", "", 1, "keys and values"),
    Row("no YAML", "dex", "a: [1, 2", 1, "this is no YAML"),
    Row("a list", "dex", "- a\n", 1, "not dex's configuration"),
    Row("no keys", "dex", "{}\n", 1, "there is nothing of dex here"),
    Row("values of a chart", "dex", "config: {issuer: https://a.example}\nimage: {}\n", 1, "there is nothing of dex here"),
    Row("no UTF-8", "dex", b"issuer: \xff\xfe\xfd", 1, "is not UTF-8"),
    Row("a tag of Python", "dex", "issuer: !!python/object/apply:os.system [id]", 1, "issuer: is no text"),
    Row("aliases of aliases", "dex", _BOMB, 1, "more than 2000000 values"),
    Row("an alias in its own anchor", "dex", "issuer: &a [*a]\n", 1, "at issuer[0]: the alias in line 1 is inside its own anchor"),
    Row("a merge of itself", "dex", "web: &a {<<: *a}\n", 1, "is inside its own anchor"),
    Row("aliases that nest deeper and deeper", "dex", _LADDER, 1, "nested more than 64 levels deep"),
    Row("an alias of nothing", "dex", "issuer: https://a.example\nweb: *a\n", 1, "at line 2: this is no YAML"),
    Row("an anchor twice", "dex", "issuer: &a b\nweb: &a c\n", 1, "at line 2: this is no YAML"),
    Row("a merge of a text", "dex", "web:\n  <<: all\n", 1, "at web: << in line 2 does not name keys and values"),
    Row("a key twice below", "dex", "web: {http: a, http: b}\n", 1, "at web: a key is there twice, again in line 1"),
    Row("deep YAML", "dex", "a: " + "[" * 5000, 1, "levels deep"),
    Row("a key twice", "dex", "issuer: https://a.example\nissuer: https://b.example\n", 1, "there twice"),
    Row("a key that is a list", "dex", "? [a]\n: b\n", 1, "a key is no text"),
    Row("clients that are a text", "dex", "staticClients: all\n", 1, "is no list"),
    Row("a client that is a number", "dex", "staticClients: [1]\n", 4, "is no object"),
    Row("an id twice", "dex", "staticClients:\n" + '- {id: a, name: A, secret: s, redirectURIs: ["https://a.example/"]}\n' * 2, 4, "registered twice"),
    Row("an id outside of ASCII", "dex", client_of_dex(id="é"), 4, "printable ASCII"),
    Row("a secret and its variable", "dex", client_of_dex(secretEnv="A"), 4, "has both secret and secretEnv"),
    Row("a duration of another kind", "dex", 'expiry: {idTokens: "soon"}\n', 1, "is no duration such as 24h"),
    Row("a hash that is none", "dex", user_of_dex(hash=SECRET), 4, "neither a hash of bcrypt"),
    Row("a hash of too much work", "dex", user_of_dex(hash="$2a$31$" + "a" * 53), 4, "takes more than"),
    Row("an address twice", "dex", user_of_dex().replace("]}", f", {json.dumps({'email': 'A@example.com', 'userID': '2', 'hash': '$2a$04$' + 'a' * 53})}]}}"), 4, "same address"),
    Row("a redirect URI with a script", "dex", client_of_dex(redirectURIs=["javascript:alert(1)"]), 4, "is dangerous in a redirect"),
    Row("a redirect URI with a wildcard", "dex", client_of_dex(redirectURIs=["https://*.example.com/"]), 4, "compared exactly"),
    Row("an issuer that is none", "dex", "issuer: 7\n", 2, "--issuer"),
    Row("an unknown section", "dex", "issuer: https://a.example\nstaticClient: [{id: app}]\n", 4, "a setting that is not known here"),
    Row("a directory without TLS", "dex", json.dumps({"issuer": "https://a.example", "connectors": [{"type": "ldap", "id": "l", "config": {"host": "ldap.example.com:389", "insecureNoSSL": True, "userSearch": {"baseDN": "dc=a"}}}]}), 4, "users.ldap.urls[0]: would carry passwords"),
    Row("users who may not sign in", "dex", user_of_dex().replace('"enablePasswordDB": true', '"enablePasswordDB": false'), 4, "enablePasswordDB: staticPasswords are not taken without it"),
    Row("an issuer without TLS", "dex", "issuer: http://dex.example.com/dex\n", 2, "the issuer of the source, without --issuer: must be https"),
    Row("clients one in each line", "hydra", '{"id": "a"}\n{"id": "b"}\n', 1, "at id: this is neither a JSON array"),
    Row("a row without its secret", "hydra", '[{"id": "a", "client_secret": ""}]', 4, '[0].client_secret of "a": is missing'),
    Row("a connector of another kind", "dex", json.dumps({"issuer": "https://a.example", "connectors": [{"type": "saml", "id": "partner"}]}), 4, 'connectors[0] of "partner": a connector of the type'),
    Row("a provider twice", "dex", json.dumps({"issuer": "https://a.example", "connectors": [{"type": "oidc", "id": "partner", "config": {"issuer": "https://b.example", "clientID": "us", "clientSecret": SECRET}}] * 2}), 4, 'connectors[1] of "partner": name: partner is registered twice'),
    Row("redirect URIs that are a text", "dex", client_of_dex(redirectURIs="https://app.example.com/cb"), 4, 'staticClients[0].redirectURIs of "app": is no list'),
    Row("no JSON", "hydra", "[{", 1, "this is no JSON"),
    Row("a text", "hydra", '"clients"', 1, "neither an object nor a list"),
    Row("a member twice", "hydra", '[{"client_id": "a", "client_id": "b"}]', 1, "there twice"),
    Row("deep JSON", "hydra", '[{"a":' + "[" * 5000, 1, "levels deep"),
    Row("an error of the API", "hydra", '{"error": "not found"}', 1, "neither a JSON array of clients"),
    *(Row(f"no client in {text}", "hydra", text, 1, "there is no client of Hydra here") for text in ("{}", "[]", '{"items": null, "next_page_token": ""}')),
    Row("a client that is null", "hydra", "[null]", 4, "is no object"),
    Row("another version's lists", "hydra", client_of_hydra(redirect_uris="https://a.example/|https://b.example/"), 4, "is no list"),
    Row("a masked secret", "hydra", client_of_hydra(token_endpoint_auth_method="client_secret_basic", id="x"), 4, "does not say the hash"),
    Row("a key that is symmetric", "hydra", client_of_hydra(token_endpoint_auth_method="private_key_jwt", jwks={"keys": [{"kty": "oct", "k": SECRET}]}), 4, "must authenticate"),
    Row("a lifetime below nothing", "hydra", client_of_hydra(authorization_code_grant_access_token_lifespan="-1h"), 4, "is no duration such as"),
    Row("a lifetime of years", "hydra", client_of_hydra(authorization_code_grant_access_token_lifespan="9" * 400 + "h"), 4, "is no duration such as"),
    Row("nothing of IdentityServer", "identityserver", '{"Logging": {}}', 1, "nothing of IdentityServer"),
    Row("a list of anything", "identityserver", '[{"a": 1}]', 1, "name the file after"),
    Row("an empty folder", "identityserver", {"readme.txt": "a"}, 1, "nothing of IdentityServer"),
    Row("a member in two spellings", "identityserver", client_of_identityserver(clientId="b"), 4, "two members of one name"),
    Row("an enumeration's unknown word", "identityserver", client_of_identityserver(AccessTokenType="Paper"), 4, "is none of Jwt, Reference"),
    Row("a number of an enumeration", "identityserver", client_of_identityserver(AccessTokenType=7), 4, "is none of Jwt, Reference"),
    Row("a secret that is not hashed", "identityserver", client_of_identityserver(ClientSecrets=[{"Value": SECRET}]), 4, "neither base64 of SHA-256"),
    Row("a secret that ends at no time", "identityserver", client_of_identityserver(ClientSecrets=[{"Value": _HASH, "Expiration": "never"}]), 4, "is no time such as"),
    Row("a certificate that is none", "identityserver", client_of_identityserver(ClientSecrets=[{"Type": "X509CertificateBase64", "Value": "AAAA"}]), 4, "is no certificate"),
    Row("a key that is none", "identityserver", client_of_identityserver(ClientSecrets=[{"Type": "JWK", "Value": "{"}]), 4, "is no JSON Web Key"),
    Row("rows of no client", "identityserver", {"Clients.json": '[{"Id": 1, "ClientId": "a"}]', "ClientScopes.json": '[{"ClientId": 2, "Scope": "openid"}]'}, 4, "its row of clients is missing"),
    Row("a section with another name", "identityserver", '{"IdentityServer": {"Client": [{}], "ApiScopes": []}, "Clients": [{}]}', 4, "IdentityServer.Client: IdentityServer has no list"),
    Row("a list with another name", "identityserver", '{"Client": [{}, {}], "Clients": [{}]}', 4, "Client: IdentityServer has no list"),
    Row("a table that is not read", "identityserver", {"DeviceCodes.json": '[{"a": 1}]', "AspNetUsers.json": '[{"Id": 1, "UserName": "a"}]'}, 4, "DeviceCodes.json: it is not clear what this list holds"),
    Row("a seed that is none", "identityserver", json.dumps({"AspNetUsers": [_USER | {"TwoFactorEnabled": True}], "AspNetUserTokens": [{"UserId": "1", "LoginProvider": "[AspNetUserStore]", "Name": "AuthenticatorKey", "Value": SECRET}]}), 4, 'the app of user "1" is not'),
    Row("no rows", "identityserver", '{"AspNetUsers": [], "Clients": []}', 1, "nothing of IdentityServer"),
    Row("a list with names of clients", "identityserver", json.dumps({"Clients": {SECRET: {}}}), 4, "Clients[0]: ClientId is missing"),
    Row("an account that is a text", "identityserver", json.dumps({"AspNetUsers": [_USER], "AspNetUserLogins": ["a"]}), 4, "AspNetUserLogins[0]: is no object"),
    Row("an account without a user", "identityserver", json.dumps({"AspNetUsers": [_USER], "AspNetUserLogins": [{"LoginProvider": "a"}]}), 4, "AspNetUserLogins[0].UserId: is missing"),
    Row("a seed that is a list", "identityserver", json.dumps({"AspNetUsers": [_USER], "AspNetUserTokens": [{"UserId": "1", "LoginProvider": ["a"]}]}), 4, "LoginProvider: is no text"),
    Row("a claim whose value is an object", "identityserver", json.dumps({"AspNetUsers": [_USER], "AspNetUserClaims": [{"UserId": "1", "ClaimType": "a", "ClaimValue": {}}]}), 4, "ClaimValue: is no text"),
    Row("a role that is missing", "identityserver", json.dumps({"AspNetUsers": [_USER], "AspNetUserRoles": [{"UserId": "1", "RoleId": "r"}]}), 4, "export AspNetRoles, too"),
    Row("a role that is a text", "identityserver", json.dumps({"AspNetUsers": [_USER], "AspNetRoles": [{"Id": [], "Name": "a"}]}), 4, "AspNetRoles[0].Id: is no text"),
    Row("claims of nobody", "identityserver", json.dumps({"AspNetUserClaims": [{"UserId": "1", "ClaimType": "a", "ClaimValue": "b"}]}), 4, "1 users who are not in AspNetUsers"),
    Row("an owner that is a list", "identityserver", json.dumps({"ApiScopes": [{"Name": "a", "ApiResourceId": []}]}), 4, "ApiScopes[0].ApiResourceId: is no text"),
    Row("a lockout at no time", "identityserver", user_of_identityserver(LockoutEnd="soon"), 4, "is no time"),
    Row("a user without a name", "identityserver", user_of_identityserver(UserName=None), 4, "username"),
    Row("a password that is not hashed", "identityserver", user_of_identityserver(PasswordHash=SECRET), 4, "is no hash in a known format"),
    Row("an encrypted key", "identityserver", '{"Id": "K", "DataProtected": true, "Data": "CfDJ8"}', 4, "encrypted by ASP.NET Core"),
    Row("a key without its numbers", "identityserver", '{"KeyId": "K", "Parameters": {"Exponent": "AQAB"}}', 4, "no number in base64"),
    Row("UTF-16 that ends too early", "identityserver", b"\xff\xfe{", 1, "this"),
    *(Row(f"a name of dex: {name}", "dex", client_of_dex(name=text), 0, "Taken") for name, text in _NAMES.items()),
    *(Row(f"a name of Hydra: {name}", "hydra", client_of_hydra(client_name=text, metadata={text: text}), 0, "Taken") for name, text in _NAMES.items()),
    *(Row(f"a name of IdentityServer: {name}", "identityserver", client_of_identityserver(ClientName=text, Properties={text: text}), 0, "Taken") for name, text in _NAMES.items()),
    *(Row(f"a user of IdentityServer: {name}", "identityserver", user_of_identityserver(UserName=text), 0, "Taken") for name, text in _NAMES.items()),
)  # fmt: skip

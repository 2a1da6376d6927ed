"""Each rule across fields finds what it is there for, at the right place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.start.load import inspect

HASH = "LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE="
API = {"api_resources": [{"name": "api", "secrets": [{"sha256": HASH}]}]}
WEB = {
    "client_id": "web",
    "client_secrets": [{"sha256": HASH}],
    "redirect_uris": ["https://app/cb"],
}
PUBLIC = {"client_secrets": [], "require_client_secret": False}


def client(**keys: Any) -> Any:
    return {**API, "clients": [WEB | keys]}


def clients(*several: Any) -> Any:
    return {**API, "clients": [WEB | keys for keys in several]}


PROVIDER = {"name": "p", "issuer": "https://p", "client_id": "x"}


def provider(**keys: Any) -> Any:
    return {"identity_providers": [PROVIDER | keys]}


BY_KEY = {"token_endpoint_auth_method": "private_key_jwt"}


def user(**keys: Any) -> Any:
    return {"users": {"list": [{"sub": "1", "username": "a"} | keys]}}


def test_a_sound_registry_has_no_problem(problems: Callable[..., Any]) -> None:
    assert problems(yaml.dump(client(allowed_scopes=["openid", "api"]))) == {}


@pytest.mark.rfc("openid-frontchannel#2", "openid-backchannel#2.2")
@pytest.mark.parametrize("home", ["https://app", "http://localhost:3000", "http://127.0.0.1:3000"])
def test_a_client_at_home_is_told_of_logouts(problems: Callable[..., Any], home: Path) -> None:
    told = client(
        redirect_uris=[f"{home}/cb"],
        frontchannel_logout_uri=f"{home}/frontchannel?from=here",
        backchannel_logout_uri=f"{home}/backchannel?from=here",
    )
    assert problems(yaml.dump(told)) == {}


IMPOSSIBLE = {
    "a list of keys without a key to authenticate with": (
        client(**BY_KEY, client_secrets=[], jwks={"keys": []}),
        "clients[web].token_endpoint_auth_method",
    ),
    "client_credentials without a secret": (
        client(**PUBLIC, allowed_grant_types=["client_credentials"], redirect_uris=[]),
        "clients[web].allowed_grant_types[client_credentials]",
    ),
    "no credential": (client(client_secrets=[]), "clients[web].client_secrets"),
    "a grant type that nobody serves": (
        client(allowed_grant_types=["authorization_code", "authorisation_code"]),
        "clients[web].allowed_grant_types[authorisation_code]",
    ),
    "a login by a third party without TLS": (
        client(initiate_login_uri="http://app.example/start"),
        "clients[web].initiate_login_uri",
    ),
    "a login by a third party with a fragment": (
        client(initiate_login_uri="https://app.example/start#here"),
        "clients[web].initiate_login_uri",
    ),
    "word of a logout without TLS": (
        client(backchannel_logout_uri="http://app/backchannel"),
        "clients[web].backchannel_logout_uri",
    ),
    "word of a logout at a fragment": (
        client(backchannel_logout_uri="https://app/backchannel#here"),
        "clients[web].backchannel_logout_uri",
    ),
    "a frame at another port than the client's": (
        client(frontchannel_logout_uri="https://app:8443/frontchannel"),
        "clients[web].frontchannel_logout_uri",
    ),
    "an authentication context without methods": (
        {"authentication_contexts": [{"acr": "strong"}]},
        "authentication_contexts[strong].amr",
    ),
    "an authentication context that says in two ways what it needs": (
        {"authentication_contexts": [{"acr": "strong", "amr": ["pwd"], "any_of": [["otp"]]}]},
        "authentication_contexts[strong].any_of",
    ),
    "a client for a context that nobody can meet": (
        client(required_acr="pasword"),
        "clients[web].required_acr",
    ),
    "a scope for a context that nobody can meet": (
        {**API, "api_scopes": [{"name": "api", "required_acr": "strong"}]},
        "api_scopes[api].required_acr",
    ),
    "an API for a context that nobody can meet": (
        {"api_resources": [API["api_resources"][0] | {"required_acr": "strong"}]},
        "api_resources[api].required_acr",
    ),
    "a check for a context that nobody can meet": (
        {
            "api_resources": [
                API["api_resources"][0] | {"checks": {"pay": {"acr": "urn:example:strong"}}}
            ]
        },
        "api_resources[api].checks.pay.acr",
    ),
    "a check for a scope of no API": (
        {
            "api_resources": [
                API["api_resources"][0] | {"checks": {"read": {"scope": ["api.raed"]}}}
            ]
        },
        "api_resources[api].checks.read.scope[api.raed]",
    ),
    "a check for a scope of another API": (
        {
            "api_resources": [
                API["api_resources"][0] | {"checks": {"read": {"scope": ["api", "other"]}}},
                {"name": "other", "secrets": [{"sha256": HASH}]},
            ]
        },
        "api_resources[api].checks.read.scope[other]",
    ),
    "key files beside a shared store that keeps second factors": (
        {
            "store": {"url": "redis://localhost"},
            "signing": {"source": "files", "keys": [{"path": "key.pem"}]},
        },
        "signing.encryption_key",
    ),
    "a response type without its grant type": (
        client(allowed_response_types=["code", "code token"]),
        "clients[web].allowed_response_types[code token]",
    ),
    "a response type that is none": (
        client(allowed_response_types=["code code"]),
        "clients[web].allowed_response_types[0]",
    ),
    "tokens in the browser": (
        client(
            allowed_grant_types=["implicit"],
            allowed_response_types=["token"],
            allow_access_tokens_via_browser=False,
        ),
        "clients[web].allowed_response_types[token]",
    ),
    "query for tokens": (
        client(allowed_grant_types=["implicit"], default_response_mode="query"),
        "clients[web].default_response_mode",
    ),
    "query.jwt for tokens": (
        client(allowed_grant_types=["implicit"], default_response_mode="query.jwt"),
        "clients[web].default_response_mode",
    ),
    "a response mode in a JWT that is none": (
        client(default_response_mode="header.jwt"),
        "clients[web].default_response_mode",
    ),
    "a scope that is not there": (
        client(allowed_scopes=["apo"]),
        "clients[web].allowed_scopes[apo]",
    ),
    "an added scope that the client may not ask for": (
        client(added_scopes=["api"]),
        "clients[web].added_scopes[api]",
    ),
    "an added scope of no API": (
        client(allowed_scopes=["openid"], added_scopes=["openid"]),
        "clients[web].added_scopes[openid]",
    ),
    "an API resource that is not there": (client(api_resource="x"), "clients[web].api_resource"),
    "a provider that is not there": (
        client(identity_provider_restrictions=["google"]),
        "clients[web].identity_provider_restrictions[google]",
    ),
    "a method without its credential": (
        client(token_endpoint_auth_method="private_key_jwt"),
        "clients[web].token_endpoint_auth_method",
    ),
    "a method of confidential clients": (
        client(**PUBLIC, token_endpoint_auth_method="client_secret_basic"),
        "clients[web].token_endpoint_auth_method",
    ),
    "no method for a confidential client": (
        client(token_endpoint_auth_method="none"),
        "clients[web].token_endpoint_auth_method",
    ),
    "keys twice": (client(jwks={"keys": []}, jwks_uri="https://app/keys"), "clients[web].jwks_uri"),
    "keys that are none": (client(jwks={}), "clients[web].jwks"),
    "a private key": (
        client(jwks={"keys": [{"kty": "EC", "d": "…"}]}),
        "clients[web].jwks.keys[0]",
    ),
    "a key that lacks its numbers": (
        client(client_secrets=[], jwks={"keys": [{"kty": "EC"}, {"kty": "RSA"}]}),
        "clients[web].jwks.keys[1]",
    ),
    "a key of no type": (client(jwks={"keys": [{"kid": "a"}]}), "clients[web].jwks.keys[0]"),
    "HMAC without the secret": (
        client(id_token_signed_response_alg="HS256"),
        "clients[web].id_token_signed_response_alg",
    ),
    "an algorithm without a key": (
        client(id_token_signed_response_alg="ES256"),
        "clients[web].id_token_signed_response_alg",
    ),
    "half of an encryption": (
        client(id_token_encrypted_response_enc="A256GCM"),
        "clients[web].id_token_encrypted_response_enc",
    ),
    "pairwise without salt": (client(subject_type="pairwise"), "clients[web].subject_type"),
    "pairwise over several hosts": (
        client(subject_type="pairwise", redirect_uris=["https://a/", "https://b/"])
        | {"pairwise_salt": "x" * 16},
        "clients[web].sector_identifier_uri",
    ),
    "a secret given twice": (
        client(client_secrets=[{"sha256": HASH, "value": "x"}]),
        "clients[web].client_secrets[0]",
    ),
    "an empty secret": (client(client_secrets=[{}]), "clients[web].client_secrets[0]"),
    "two clients of one name": (clients({}, {}), "clients[web].client_id"),
    "two APIs of one name": (
        {"api_resources": [{"name": "api"}, {"name": "api", "scopes": ["x"]}]},
        "api_resources[api].name",
    ),
    "a scope that is an identity resource": (
        {"api_resources": [{"name": "api", "scopes": ["email"]}]},
        "api_resources[api].scopes[email]",
    ),
    "an API of that name": (
        {"api_resources": [{"name": "profile"}]},
        "api_resources[profile].name",
    ),
    "offline_access as a scope": (
        {"identity_resources": [{"name": "offline_access"}]},
        "identity_resources[offline_access].name",
    ),
    "two people of one subject": (
        {"users": {"list": [{"sub": "1", "username": "a"}, {"sub": "1", "username": "b"}]}},
        "users.list[b].sub",
    ),
    "two people of one name": (
        {
            "users": {
                "list": [{"sub": "1", "username": "straße"}, {"sub": "2", "username": "STRASSE"}]
            }
        },
        "users.list[STRASSE].username",
    ),
    "a plain password": (user(password="a"), "users.list[a].password"),
    "a password hash of another kind": (
        user(password="$6$rounds=5000$saltsalt$aGFzaGhhc2hoYXNoaGFzaA"),
        "users.list[a].password",
    ),
    "a password hash that takes for hours": (
        user(password="$argon2id$v=19$m=19456,t=99999,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA"),
        "users.list[a].password",
    ),
    "requests that cannot be signed": (
        client(require_signed_request_object=True),
        "clients[web].require_signed_request_object",
    ),
    "requests that have to be signed and must not be": (
        client(require_signed_request_object=True, request_object_signing_alg="none"),
        "clients[web].request_object_signing_alg",
    ),
    "a shared store in the clear": ({"store": {"url": "redis://r"}}, "signing.encryption_key"),
    "a store of several processes": ({"server": {"workers": 2}}, "server.workers"),
    "key files that are not listed": ({"signing": {"source": "files"}}, "signing.keys"),
    "a key file that is not there": (
        {"signing": {"source": "files", "keys": [{"path": "none.pem"}]}},
        "signing.keys[0].path",
    ),
    "templates that are not there": ({"ui": {"templates": "none"}}, "ui.templates"),
    "a session past its end": ({"session": {"lifetime": "31d"}}, "session.lifetime"),
    "one port for two things": ({"server": {"management_port": 8080}}, "server.management_port"),
    "no time to finish": ({"server": {"shutdown_linger": "20s"}}, "server.shutdown_linger"),
    "a handler that is not there": (
        {"extension_grants": [{"handler": "no.such:Grant"}]},
        "extension_grants[no.such:Grant].handler",
    ),
    "an entry point that is not there": (
        {"extension_grants": [{"handler": "no-such"}]},
        "extension_grants[no-such].handler",
    ),
    "a user store that is not there": ({"users": {"source": "no.such:Users"}}, "users.source"),
    "a provider that tells nothing": (
        provider(scopes=["email"]),
        "identity_providers[p].scopes",
    ),
    "a provider that could pass for this service": (
        provider(name="local"),
        "identity_providers[local].name",
    ),
    "a domain that is none": (provider(domains=["x"]), "identity_providers[p].domains[0]"),
    "a domain of two": (
        provider(domains=["a.example", "A.example."]),
        "identity_providers[p].domains[1]",
    ),
    "a method without its secret": (
        provider(token_endpoint_auth_method="client_secret_post"),
        "identity_providers[p].token_endpoint_auth_method",
    ),
    "a key without its algorithm": (
        provider(**BY_KEY, private_key="none.pem"),
        "identity_providers[p].private_key",
    ),
    "a key file of a provider that is not there": (
        provider(**BY_KEY, private_key="none.pem", token_endpoint_auth_signing_alg="ES256"),
        "identity_providers[p].private_key",
    ),
    "a provider's algorithm without a key": (
        provider(**BY_KEY, token_endpoint_auth_signing_alg="ES512"),
        "identity_providers[p].token_endpoint_auth_signing_alg",
    ),
    "a client assertion that could pass for a token": (
        provider(**BY_KEY, client_id="https://auth.example.com"),
        "identity_providers[p].client_id",
    ),
    "an OpenID provider without an issuer": (
        {"identity_providers": [{"name": "p", "client_id": "x"}]},
        "identity_providers[p].issuer",
    ),
    "an authorization server without an endpoint": (
        provider(kind="oauth2", scopes=["user"], authorization_endpoint="https://p/authorize"),
        "identity_providers[p].userinfo_endpoint",
    ),
    "a condition on nothing": (
        provider(allowed_claims=[{}]),
        "identity_providers[p].allowed_claims[0]",
    ),
    "a condition without values": (
        provider(allowed_claims=[{"groups": []}]),
        "identity_providers[p].allowed_claims[0].groups",
    ),
}


@pytest.mark.parametrize(("content", "path"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_cannot_be_is_an_error(problems: Callable[..., Any], content: str, path: Any) -> None:
    assert problems(yaml.dump(content))[path].severity == "error"


DOUBTFUL = {
    "keys in the clear": (
        client(jwks_uri="http://keys.example.com/jwks"),
        "clients[web].jwks_uri",
    ),
    "no key in a list": (client(jwks={"keys": []}), "clients[web].jwks.keys"),
    "a method that no sign-in has": (
        {"authentication_contexts": [{"acr": "silver", "amr": ["password"]}]},
        "authentication_contexts[silver].amr[password]",
    ),
    "a method of several that no sign-in has": (
        {"authentication_contexts": [{"acr": "s", "any_of": [["pwd"], ["swk", "pin"]]}]},
        "authentication_contexts[s].any_of[1][pin]",
    ),
    "a second factor that nobody can enrol": ({"mfa": {"required": "always"}}, "mfa.required"),
    "a client's second factor that nobody can enrol there": (
        client(mfa_required="always"),
        "clients[web].mfa_required",
    ),
    "a provider's secret that is not used": (
        provider(**BY_KEY, client_secret="x"),
        "identity_providers[p].client_secret",
    ),
    "an endpoint that the metadata name": (
        provider(token_endpoint="https://p/token"),
        "identity_providers[p].token_endpoint",
    ),
    "an ID token that nobody reads": (provider(kind="oauth2"), "identity_providers[p].scopes"),
    "an acr that nobody says": (
        provider(kind="oauth2", trust_acr=True),
        "identity_providers[p].trust_acr",
    ),
    "an endpoint in the clear": (
        provider(kind="oauth2", userinfo_endpoint="http://p.example/user"),
        "identity_providers[p].userinfo_endpoint",
    ),
    "addresses that count for nothing": (
        provider(link_by="verified_email"),
        "identity_providers[p].link_by",
    ),
    "answers that two providers could mix up": (
        {"identity_providers": [PROVIDER, PROVIDER | {"name": "q", "issuer": "https://q"}]},
        "identity_providers[q].own_callback",
    ),
    "a provider's algorithm that is not used": (
        provider(token_endpoint_auth_signing_alg="ES256"),
        "identity_providers[p].token_endpoint_auth_signing_alg",
    ),
    "no grant type": (
        client(allowed_grant_types=[], redirect_uris=[]),
        "clients[web].allowed_grant_types",
    ),
    "a grant type twice": (
        client(allowed_grant_types=["authorization_code", "authorization_code"]),
        "clients[web].allowed_grant_types[1]",
    ),
    "a plain secret of a client": (
        client(client_secrets=[{"value": "x" * 32}]),
        "clients[web].client_secrets[0].value",
    ),
    "a plain secret of an API": (
        {"api_resources": [{"name": "api", "secrets": [{"value": "x" * 32}]}]},
        "api_resources[api].secrets[0].value",
    ),
    "an API without secrets": ({"api_resources": [{"name": "api"}]}, "api_resources[api].secrets"),
    "a scope of two APIs": (
        {"api_resources": [{"name": "api"}, {"name": "b", "scopes": ["api"]}]},
        "api_resources[b].scopes[api]",
    ),
    "refresh tokens that are never given": (
        client(allowed_grant_types=["authorization_code", "refresh_token"]),
        "clients[web].allowed_grant_types[refresh_token]",
    ),
    "refresh tokens that cannot be used": (
        client(allow_offline_access=True),
        "clients[web].allow_offline_access",
    ),
    "refresh tokens of sessions that cannot be used": (
        client(refresh_without_offline_access=True),
        "clients[web].refresh_without_offline_access",
    ),
    "no redirect": (client(redirect_uris=[]), "clients[web].redirect_uris"),
    "redirects for nothing": (
        client(allowed_grant_types=["password"]),
        "clients[web].redirect_uris",
    ),
    "a secret that nobody asks for": (
        client(require_client_secret=False),
        "clients[web].client_secrets",
    ),
    "a public client without PKCE": (
        client(**PUBLIC, require_pkce=False),
        "clients[web].require_pkce",
    ),
    "a plain challenge": (
        client(allow_plain_text_pkce=True),
        "clients[web].allow_plain_text_pkce",
    ),
    "a long-lived code": (
        client(authorization_code_lifetime="2m"),
        "clients[web].authorization_code_lifetime",
    ),
    "refresh tokens that do not rotate": (
        client(**PUBLIC, refresh_token_usage="reuse"),
        "clients[web].refresh_token_usage",
    ),
    "an expired secret": (
        client(client_secrets=[{"sha256": HASH, "expires_at": "2020-01-01T00:00:00Z"}]),
        "clients[web].client_secrets[0].expires_at",
    ),
    "a password that is easy to guess": (
        user(password="$argon2id$v=19$m=4096,t=3,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA"),
        "users.list[a].password",
    ),
    "nobody can sign in": (client(enable_local_login=False), "clients[web].enable_local_login"),
    "a scope of no API": ({"api_scopes": [{"name": "x"}]}, "api_scopes[x].name"),
    "a key that its tokens outlive": (
        client(access_token_lifetime="30d"),
        "signing.retire_after",
    ),
    "public metrics": ({"server": {"host": "192.0.2.1"}}, "server.management_port"),
    "everyone a proxy": (
        {"server": {"trusted_proxies": ["0.0.0.0/0"]}},
        "server.trusted_proxies[0]",
    ),
    "a gateway that is no trusted proxy": (
        {"server": {"trusted_proxies": ["10.0.0.0/8"], "gateways": ["192.0.2.1"]}},
        "server.gateways[0]",
    ),
    "certificates from nobody": (
        {"server": {"client_certificate_header": "Client-Cert"}},
        "server.client_certificate_header",
    ),
    "tracked reads of the embedded store": ({"store": {"tracking": "on"}}, "store.tracking"),
    "registration without scopes": (
        {"registration": {"enabled": True}},
        "registration.allowed_scopes",
    ),
    "open registration of API scopes": (
        {
            "registration": {"enabled": True, "allowed_scopes": ["api1"]},
            "api_resources": [{"name": "api1"}],
        },
        "registration.allowed_scopes[api1]",
    ),
}


def test_default_acr_that_no_user_can_meet_is_a_warning(problems: Callable[..., Any]) -> None:
    values = ["password", "tenant:acme", "idp:corporate", "pasword"]
    found = problems(yaml.dump(client(default_acr_values=values)))
    doubtful = {path: each.hint for path, each in found.items() if "default_acr_values" in path}
    assert doubtful == {"clients[web].default_acr_values[3]": "did you mean password?"}


@pytest.mark.parametrize(("content", "path"), DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_is_doubtful_is_a_warning(
    problems: Callable[..., Any], content: str, path: Any
) -> None:
    assert problems(yaml.dump(content))[path].severity == "warning"


@pytest.mark.parametrize(
    "uri",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "blob:https://app/x",
        "https://app/cb#x",
        "https://app/cb#",
        "https://*.example.com/cb",
        "https://app/*",
        "https://user@app/cb",
        "https:///cb",
        "https://app:99999/",
        "https://[::1/",
        "https://app/a b",
        "https://app\\@evil/",
        "https://äpp/",
        "/cb",
        "app",
    ],
)
@pytest.mark.parametrize("key", ["redirect_uris", "post_logout_redirect_uris"])
def test_a_dangerous_redirect_is_an_error(problems: Callable[..., Any], key: Any, uri: str) -> None:
    found = problems(yaml.dump(client(**{key: [uri]}), allow_unicode=True))
    assert found[f"clients[web].{key}[0]"].severity == "error"


@pytest.mark.parametrize(
    "keys",
    [
        {"token_endpoint_auth_method": "client_secret_jwt"},
        {"id_token_signed_response_alg": "HS256"},
        {"userinfo_encrypted_response_alg": "dir"},
        {"require_signed_request_object": True},
    ],
    ids=str,
)
def test_a_plain_secret_is_no_problem_where_an_algorithm_needs_it(
    problems: Callable[..., Any], keys: Any
) -> None:
    content = client(client_secrets=[{"value": "x" * 32}], **keys)
    assert "clients[web].client_secrets[0].value" not in problems(yaml.dump(content))


def test_a_scope_of_two_apis_names_both_places(problems: Callable[..., Any], file: Path) -> None:
    found = problems("api_resources:\n- name: api\n- name: b\n  scopes: [api]\n")
    assert f"first at {file}:3:9" in found["api_resources[b].scopes[api]"].message


@pytest.mark.rfc("8707#2")
@pytest.mark.parametrize(
    ("other", "place"),
    [
        ("{name: a, url: 'https://api/'}", "3:18"),
        ("{name: 'https://api/'}", "3:10"),
        ("{name: a, url: 'HTTPS://API:443'}", "3:18"),
    ],
)
def test_a_url_of_two_apis_names_both_places(
    problems: Callable[..., Any], file: Path, other: str, place: str
) -> None:
    found = problems(f"api_resources:\n- {other}\n- {{name: b, url: 'https://api/'}}\n")
    problem = found["api_resources[b].url"]
    assert (problem.severity, problem.line) == ("error", 4)
    assert f"already, first at {file}:{place}" in problem.message


@pytest.mark.rfc("8707#2")
def test_a_url_of_an_api_has_no_fragment(problems: Callable[..., Any]) -> None:
    found = problems("api_resources:\n- {name: 'https://api/', url: 'https://api/'}\n")
    assert "api_resources[https://api/].url" not in found
    found = problems("api_resources:\n- {name: b, url: 'https://api/#x'}\n")
    assert found["api_resources[b].url"].severity == "error"


def test_an_issuer_with_a_slash_at_its_end_is_a_warning(file: Path) -> None:
    file.write_text("issuer: https://auth.example.com/\n")
    (problem,) = inspect(file, {})
    assert (problem.severity, problem.hint) == ("warning", "write https://auth.example.com")


PUBLIC_HTTP = "http://app.example.com/cb"


@pytest.mark.parametrize("uri", [PUBLIC_HTTP, "http://8.8.8.8/cb", "http://[2600::1]/cb"])
def test_a_redirect_over_http_to_a_public_host_is_an_error(
    problems: Callable[..., Any], uri: str
) -> None:
    found = problems(yaml.dump(client(redirect_uris=[uri])))["clients[web].redirect_uris[0]"]
    assert (found.severity, "allow_insecure_redirect_uris" in found.hint) == ("error", True)


def test_a_client_may_allow_redirects_over_http(problems: Callable[..., Any]) -> None:
    content = client(redirect_uris=[PUBLIC_HTTP], allow_insecure_redirect_uris=True)
    assert problems(yaml.dump(content)) == {}


def test_a_logout_that_leads_to_http_is_a_warning(problems: Callable[..., Any]) -> None:
    found = problems(yaml.dump(client(post_logout_redirect_uris=[PUBLIC_HTTP])))
    assert found["clients[web].post_logout_redirect_uris[0]"].severity == "warning"


@pytest.mark.parametrize(
    "uri", ["http://app.internal/cb", "http://app/cb", "http://10.0.0.1/", "myapp:/cb"]
)
def test_a_weak_redirect_is_a_warning(problems: Callable[..., Any], uri: str) -> None:
    found = problems(yaml.dump(client(redirect_uris=[uri])))
    assert found["clients[web].redirect_uris[0]"].severity == "warning"


@pytest.mark.parametrize(
    ("uri", "meant"),
    [
        ("localhost:22050/callback", "http://localhost:22050/callback"),
        ("app.example.com:8443/callback?x=1", "https://app.example.com:8443/callback?x=1"),
    ],
)
def test_a_redirect_to_a_host_without_a_scheme_is_a_warning(
    problems: Callable[..., Any], uri: str, meant: Any
) -> None:
    found = problems(yaml.dump(client(redirect_uris=[uri])))["clients[web].redirect_uris[0]"]
    assert (found.severity, found.hint) == ("warning", f"did you mean {meant}?")


@pytest.mark.parametrize(
    "uri",
    [
        "https://app.example.com/cb?x=1",
        "http://localhost:3000/cb",
        "http://127.0.0.1/cb",
        "http://[::1]:8000/cb",
        "com.example.app:/cb",
    ],
)
def test_a_sound_redirect_is_no_problem(problems: Callable[..., Any], uri: str) -> None:
    assert problems(yaml.dump(client(redirect_uris=[uri]))) == {}


@pytest.mark.parametrize(
    "origin",
    [
        *("*", "https://app/", "https://app/x", "app", "https://app:443", "null", "file://"),
        *("capacitor://localhost/", "chrome-extension://*", "com.example.app:/", "HTTPS://app"),
    ],
)
def test_what_no_browser_sends_is_no_origin(problems: Callable[..., Any], origin: str) -> None:
    found = problems(yaml.dump(client(allowed_cors_origins=[origin])))
    assert found["clients[web].allowed_cors_origins[0]"].severity == "error"


@pytest.mark.parametrize(
    "origin",
    [
        *("https://app.example", "http://localhost:3000", "capacitor://localhost"),
        *("chrome-extension://gebbhagfogifgggkldgodflihgfeippi", "ionic://localhost:8100"),
        "moz-extension://c3a5a0b6-6d3a-4a58-9c3f-0e5f8f1d2b3c",
    ],
)
def test_what_browsers_apps_and_extensions_send_is_an_origin(
    problems: Callable[..., Any], origin: str
) -> None:
    assert problems(yaml.dump(client(allowed_cors_origins=[origin]))) == {}


@pytest.mark.parametrize(
    "issuer",
    [
        "http://auth.example.com",
        "https://auth.example.com?x",
        "https://auth.example.com#x",
        "https://user@auth.example.com",
        "auth.example.com",
        "ftp://auth.example.com",
        "https://",
    ],
)
def test_the_issuer_is_a_secure_base(file: Path, issuer: str) -> None:
    file.write_text(f"issuer: '{issuer}'")
    assert [problem.path for problem in inspect(file, {})] == ["issuer"]


@pytest.mark.parametrize(
    ("host", "url", "is_doubtful"),
    [
        ("0.0.0.0", "memory://", True),  # noqa: S104
        ("127.0.0.1", "memory://", False),
        ("0.0.0.0", "redis://redis", False),  # noqa: S104
        ("'::'", "memory://", True),
        ("[localhost, '::1']", "memory://", False),
        ("['::1', 192.0.2.1]", "memory://", True),
    ],
)
def test_development_that_other_machines_reach_is_doubtful(
    file: Path, host: str, url: str, is_doubtful: bool
) -> None:
    settings = f"server: {{host: {host}}}\nstore: {{url: '{url}'}}"
    file.write_text(f"issuer: http://localhost:8080\n{settings}")
    paths = {problem.path for problem in inspect(file, {})}
    assert ("server.host" in paths) is is_doubtful


def test_a_cookie_for_other_sites_needs_https(file: Path) -> None:
    file.write_text("issuer: http://localhost:8080\nsession: {cookie_same_site: none}")
    assert [problem.path for problem in inspect(file, {})] == ["session.cookie_same_site"]


HANDLER = """
class %s:
    grant_type = %r
    def __init__(self, options, services): ...
    async def handle(self, request): ...
"""


def test_two_handlers_of_one_grant_type_are_an_error(
    problems: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "their_grants.py").write_text(HANDLER % ("Mine", "delegation"))
    monkeypatch.syspath_prepend(tmp_path)
    found = problems("extension_grants: [{handler: 'their_grants:Mine'}]")
    assert "already" in found["extension_grants[their_grants:Mine].handler"].message


DELEGATION = {"handler": "service.grants.delegation:DelegationGrant"}


@pytest.mark.parametrize(
    ("changes", "content", "warned"),
    [
        ({}, {}, True),
        ({}, {"extension_grants": [DELEGATION]}, True),
        ({}, {"extension_grants": [DELEGATION | {"options": {"source_scopes": []}}]}, True),
        ({}, {"extension_grants": [DELEGATION | {"options": {"source_scopes": ["a"]}}]}, False),
        ({}, {"api_resources": [{"name": "web"}]}, False),
        ({"api_resource": "a"}, {"api_resources": [{"name": "a"}]}, False),
    ],
)
def test_delegation_by_a_client_without_api_needs_source_scopes(
    problems: Callable[..., Any], changes: Any, content: str, warned: Any
) -> None:
    delegating = client(allowed_grant_types=["authorization_code", "delegation"], **changes)
    found = problems(yaml.dump(delegating | content))
    assert ("clients[web].allowed_grant_types[delegation]" in found) == warned


def test_a_handlers_grant_type_is_known(
    problems: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_grants.py").write_text(HANDLER % ("Own", "urn:example:own"))
    monkeypatch.syspath_prepend(tmp_path)
    content = client(allowed_grant_types=["authorization_code", "urn:example:own"])
    content["extension_grants"] = [{"handler": "own_grants:Own"}]
    assert problems(yaml.dump(content)) == {}


def test_a_malformed_redirect_uri_hides_nothing_of_a_front_channel_logout(
    problems: Callable[..., Any],
) -> None:
    text = client(
        redirect_uris=["https://[::1"], frontchannel_logout_uri="https://app/frontchannel"
    )
    assert problems(yaml.dump(text)).keys() >= {
        "clients[web].redirect_uris[0]",
        "clients[web].frontchannel_logout_uri",
    }


def test_where_all_requests_are_signed_each_client_has_a_key(
    problems: Callable[..., Any],
) -> None:
    uri = "redirect_uris: ['https://app/cb'], client_secrets: [{sha256: '" + "0" * 64 + "'}]"
    text = f"require_signed_request_object: true\nclients:\n- {{client_id: web, {uri}}}\n"
    assert "to sign with" in problems(text)["clients[web]"].message
    keyed = text.replace("{client_id: web,", "{client_id: web, jwks_uri: 'https://app/jwks',")
    assert "clients[web]" not in problems(keyed)


def test_one_shared_callback_and_others_of_their_own_are_no_problem(
    problems: Callable[..., Any],
) -> None:
    own = {"name": "q", "issuer": "https://q", "own_callback": True}
    other = {"name": "r", "kind": "oauth2"}
    found = problems(yaml.dump({"identity_providers": [PROVIDER, PROVIDER | own, other]}))
    assert not [path for path in found if path.endswith("own_callback")]


@pytest.mark.parametrize(
    ("amr", "providers"),
    [
        (["mfa", "hwk"], []),
        (["external"], []),
        (["delegation"], []),
        (["urn:example:api-key"], []),
        (["fpt"], [PROVIDER | {"client_secret": "x", "trust_acr": True}]),
    ],
    ids=["own", "untrusted provider", "delegation", "grant type", "trusted provider"],
)
def test_methods_that_a_user_can_have_are_no_problem(
    problems: Callable[..., Any], amr: list[str], providers: list[Any]
) -> None:
    contexts = [{"acr": "silver", "amr": amr}]
    content = {"authentication_contexts": contexts, "identity_providers": providers}
    assert not [path for path in problems(yaml.dump(content)) if path.startswith("authentication")]

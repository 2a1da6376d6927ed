"""The registry has the values of the file, and others that follow from them (RFC 7591 §2.1, OIDC Core §5.4)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest

CODE = {"code"}
IMPLICIT = {"id_token", "token", "id_token token"}
HYBRID = {"code id_token", "code token", "code id_token token"}
PUBLIC = "client_id: web, require_client_secret: false"


@pytest.mark.rfc("7591#2.1")
@pytest.mark.parametrize(
    ("grant_types", "response_types"),
    [
        ("authorization_code", CODE),
        ("implicit", IMPLICIT),
        ("authorization_code, implicit", CODE | IMPLICIT | HYBRID),
        ("password", set()),
    ],
)
def test_response_types_follow_from_grant_types(
    read: Callable[..., Any], grant_types: Any, response_types: Any
) -> None:
    text = f"clients: [{{{PUBLIC}, allowed_grant_types: [{grant_types}]}}]"
    assert read(text).registry.clients["web"].allowed_response_types == response_types


def test_no_access_token_through_the_browser_where_it_is_not_allowed(
    read: Callable[..., Any],
) -> None:
    text = f"clients: [{{{PUBLIC}, allowed_grant_types: [authorization_code, implicit], "
    web = read(text + "allow_access_tokens_via_browser: false}]").registry.clients["web"]
    assert web.allowed_response_types == {"code", "id_token", "code id_token"}


def test_the_order_of_a_response_types_words_does_not_matter(read: Callable[..., Any]) -> None:
    text = f"clients: [{{{PUBLIC}, allowed_grant_types: [implicit], "
    web = read(text + "allowed_response_types: [token id_token]}]").registry.clients["web"]
    assert web.allowed_response_types == {"id_token token"}


def test_the_origins_of_redirect_uris_may_call(read: Callable[..., Any]) -> None:
    uris = "https://app.example.com:443/cb, http://localhost:3000/cb, com.example:/cb"
    text = f"clients: [{{{PUBLIC}, redirect_uris: ['{uris.replace(', ', chr(39) + ', ' + chr(39))}']}}]"
    origins = read(text).registry.clients["web"].allowed_cors_origins
    assert origins == ("https://app.example.com", "http://localhost:3000")


def test_a_client_is_the_api_of_its_name(read: Callable[..., Any]) -> None:
    text = f"api_resources: [{{name: web}}]\nclients: [{{{PUBLIC}}}]"
    assert read(text).registry.clients["web"].api_resource == "web"


def test_other_metadata_keeps_its_name(read: Callable[..., Any]) -> None:
    text = f"clients: [{{{PUBLIC}, contacts: [a@example.com], default_acr_values: [password]}}]"
    client = read(text).registry.clients["web"]
    assert client.contacts == ("a@example.com",)
    assert client.default_acr_values == ("password",)


def test_an_api_has_a_scope_of_its_name(read: Callable[..., Any]) -> None:
    registry = read("api_resources: [{name: api}]").registry
    assert registry.api_resources["api"].scopes == {"api"}
    assert registry.api_scopes["api"].show_in_discovery


def test_a_scope_of_two_apis_belongs_to_both(read: Callable[..., Any]) -> None:
    text = "api_resources: [{name: a, scopes: [x, y]}, {name: b, scopes: [x]}]"
    by_scope = read(text).registry.resources_by_scope
    assert [resource.name for resource in by_scope["x"]] == ["a", "b"]


def test_a_described_scope_keeps_its_description(read: Callable[..., Any]) -> None:
    text = "api_resources: [{name: api}]\napi_scopes: [{name: api, display_name: Our API}]"
    assert read(text).registry.api_scopes["api"].display_name == "Our API"


@pytest.mark.rfc("openid-core#5.4")
def test_the_standard_identity_resources_are_built_in(read: Callable[..., Any]) -> None:
    resources = read().registry.identity_resources
    assert set(resources) == {"openid", "profile", "email", "address", "phone"}
    assert resources["email"].user_claims == ("email", "email_verified")


def test_an_overridden_identity_resource_keeps_its_claims_unless_named(
    read: Callable[..., Any],
) -> None:
    text = "identity_resources: [{name: email, required: true}, {name: phone, user_claims: [x]}]"
    resources = read(text).registry.identity_resources
    assert resources["email"].user_claims == ("email", "email_verified")
    assert resources["phone"].user_claims == ("x",)


def test_a_secret_given_as_itself_is_hashed_too(read: Callable[..., Any]) -> None:
    text = "clients: [{client_id: web, client_secrets: [{value: s3cret}], redirect_uris: ['https://a/']}]"
    (secret,) = read(text).registry.clients["web"].client_secrets
    assert secret.digest == hashlib.sha256(b"s3cret").digest()


def test_delegation_is_built_in(read: Callable[..., Any]) -> None:
    handlers = [grant.handler for grant in read().registry.extension_grants]
    assert handlers == ["service.grants.delegation:DelegationGrant"]


def test_delegation_takes_options(read: Callable[..., Any]) -> None:
    text = "extension_grants: [{handler: 'service.grants.delegation:DelegationGrant', options: {source_scopes: [x]}}]"
    (grant,) = read(text).registry.extension_grants
    assert grant.options == {"source_scopes": ["x"]}


def test_the_same_file_is_the_same_generation(read: Callable[..., Any]) -> None:
    assert read("ui: {title: a}").registry.generation == read("ui: {title: b}").registry.generation
    assert read().registry.generation != read("api_resources: [{name: a}]").registry.generation


def test_nothing_secret_shows_in_a_trace(read: Callable[..., Any]) -> None:
    salt = "a-salt-of-enough-letters"
    text = f"pairwise_salt: {salt}\nstore: {{url: 'redis://:hunter2@r'}}\nsigning: {{encryption_key: {'A' * 43}}}"
    shown = repr(read(text))
    assert not any(secret in shown for secret in (salt, "hunter2", "AAAA", "\\x00\\x00"))

"""Rules that hold for all values of the protocol's parameters (RFC 6749, RFC 7636, RFC 8252)."""

from __future__ import annotations

from base64 import b64encode
from contextlib import nullcontext, suppress
from urllib.parse import quote_plus, urlencode

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.model.handle import PREFIXES, handle_from_secret, new_selector, parse_handle
from service.protocol.errors import InvalidClient, InvalidScope, OAuthError
from service.protocol.http_headers import parse_basic_auth
from service.protocol.octets import base64url, decode_base64url, first_16_bytes
from service.protocol.params import Params
from service.protocol.pkce import parse_code_challenge, s256
from service.protocol.redirect_uri import is_registered
from service.protocol.scope import format_scope, parse_scope
from service.protocol.templates import list_members
from service.protocol.token_types import short_name, uri_of
from service.protocol.typed_text import normalize_domain
from service.protocol.uris import normalize_url

SCOPE_CHARACTERS = st.characters(min_codepoint=0x21, max_codepoint=0x7E, exclude_characters='"\\')
SCOPES = st.frozensets(st.text(SCOPE_CHARACTERS, min_size=1, max_size=8), min_size=1, max_size=6)
VERIFIER_CHARACTERS = "ABCXYZabcxyz0129-._~"
VERIFIERS = st.text(VERIFIER_CHARACTERS, min_size=43, max_size=128)
KINDS = st.sampled_from(sorted(PREFIXES))


@pytest.mark.rfc("6749#3.1")
@given(st.lists(st.tuples(st.sampled_from("abc"), st.text(max_size=3)), max_size=6))
def test_a_parameter_never_has_two_values(pairs: list[tuple[str, str]]) -> None:
    params = Params.parse(urlencode(pairs))
    with suppress(OAuthError):
        params.refuse_repeated(frozenset())
        assert all(len(params.every(name)) <= 1 for name in params)
        assert len(pairs) == len(set(params))


@pytest.mark.rfc("6749#B")
@given(st.text() | st.binary().map(lambda content: content.decode("latin-1")))
def test_parsing_parameters_raises_only_errors_for_the_caller(encoded: str) -> None:
    with suppress(OAuthError):
        params = Params.parse(encoded)
        params.refuse_repeated()
        params.refuse_too_long()
        assert all(params.get(name) != "" for name in params)


@pytest.mark.rfc("6749#3.3")
@given(SCOPES)
def test_a_scope_is_read_as_it_was_written(scope: frozenset[str]) -> None:
    assert parse_scope(format_scope(scope)) == scope
    assert format_scope(parse_scope(format_scope(scope))) == format_scope(scope)


@pytest.mark.rfc("6749#3.3")
@given(st.text())
def test_reading_a_scope_gives_scope_values_or_an_error(text: str) -> None:
    with suppress(OAuthError):
        scope = parse_scope(text)
        assert scope
        assert parse_scope(format_scope(scope)) == scope


@pytest.mark.rfc("6749#A.4")
@given(st.text(' !#[]~az"\\\t\n\x1f\x7f\xa0é', max_size=6))
def test_a_scope_holds_only_values_of_its_characters_and_spaces(text: str) -> None:
    values = text.split(" ")
    is_valid = any(values) and set(text) <= set(" !#[]~az")
    with nullcontext() if is_valid else pytest.raises(InvalidScope):
        assert parse_scope(text) == frozenset(filter(None, values))


@pytest.mark.rfc("9700#2.1")
@given(st.text(), st.lists(st.text(max_size=30), max_size=3))
def test_a_redirect_uri_is_compared_as_it_is(uri: str, registered: list[str]) -> None:
    assert is_registered(uri, registered, loopback_port_may_vary=False) is (uri in registered)


@pytest.mark.rfc("8252#7.3")
@given(
    st.sampled_from(["https://a.example/cb", "http://localhost/cb", "http://127.0.0.1/cb"]),
    st.integers(min_value=0, max_value=99999),
    st.sampled_from(["/cb", "/cb/", "/", "", "/cb?x=1", "/CB", "@evil.example/cb"]),
)
def test_only_a_loopback_uri_may_vary_and_only_its_port(
    registered: str, port: int, path: str
) -> None:
    origin = registered.removesuffix("/cb")
    asked = f"{origin}:{port}{path}"
    allowed = origin != "https://a.example" and path == "/cb" and port <= 65535
    assert is_registered(asked, [registered], loopback_port_may_vary=True) is allowed


@pytest.mark.rfc("3986#6.2", "9449#4.3")
@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("HTTPS://API.Example", "https://api.example/"),
        ("https://api.example:443/a", "https://api.example/a"),
        ("https://api.example:8443/a", "https://api.example:8443/a"),
        ("http://api.example:80/?q=%7e", "http://api.example/?q=%7e"),
        ("http://api.example:443", "http://api.example:443/"),
        ("https://[2001:DB8::1]:8443", "https://[2001:db8::1]:8443/"),
        ("https://api.example/%7euser/%2f/./b/../c", "https://api.example/~user/%2F/c"),
        ("https://api.example//b", "https://api.example//b"),
        ("//api.example/", None),
        ("https:///api.example", None),
        ("https://user@api.example/", None),
        ("https://api.example/#fragment", None),
        ("https://api.example:x/", None),
        ("https://api.example/a b", None),
    ],
)
def test_urls_that_mean_the_same_have_one_normal_form(url: str, normal: str | None) -> None:
    assert normalize_url(url) == normal


@pytest.mark.rfc("9396#2")
def test_every_member_of_details_is_told_as_people_read_it() -> None:
    details = {"amount": {"value": 12.5, "whole": 3, "now": True}, "to": ["a", 1], "at": None}
    assert [*list_members(details)] == [
        *(("amount › value", "12.5"), ("amount › whole", "3"), ("amount › now", "true")),
        *(("to", "a, 1"), ("at", "")),
    ]


@pytest.mark.rfc("6749#5.2")
def test_an_error_carries_no_member_of_a_token_response() -> None:
    error = InvalidClient("no", members={"access_token": "at", "id_token": "it", "hint": "later"})
    assert error.members == {"hint": "later"}


@pytest.mark.rfc("8693#3")
def test_a_token_type_is_a_whole_uri() -> None:
    for name in ("access_token", "id_jag"):
        assert short_name(uri_of(name)) == name
    assert short_name("access_token") is None


@pytest.mark.rfc("5321#2.3.5")
@pytest.mark.parametrize(
    ("domain", "normal"),
    [
        ("Example.COM.", "example.com"),
        ("Bücher.example", "xn--bcher-kva.example"),
        ("localhost", None),
        ("*.example.com", None),
        ("a b.example", None),
        ("example..com", None),
        ("", None),
    ],
)
def test_a_domain_has_one_form_in_ascii(domain: str, normal: str | None) -> None:
    assert normalize_domain(domain) == normal


@pytest.mark.rfc("7636#B")
def test_the_example_of_the_rfc_verifies() -> None:
    challenge = parse_code_challenge("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "S256")
    assert challenge is not None
    assert challenge.verifies("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")


@pytest.mark.rfc("7636#4.6")
@given(VERIFIERS, VERIFIERS, st.sampled_from(["S256", "plain", None]))
def test_only_the_right_verifier_verifies(right: str, wrong: str, method: str | None) -> None:
    assume(right != wrong)
    challenge = parse_code_challenge(s256(right) if method == "S256" else right, method)
    assert challenge is not None
    assert challenge.verifies(right)
    assert not challenge.verifies(wrong)


@pytest.mark.rfc("7636#4.6")
@given(VERIFIERS, st.text())
def test_malformed_verifier_never_verifies(right: str, anything: str) -> None:
    assume(right != anything)
    challenge = parse_code_challenge(right, "plain")
    assert challenge is not None
    assert not challenge.verifies(anything)


@pytest.mark.rfc("7636#4.1")
@pytest.mark.parametrize("malformed", ["", "v" * 42, "v" * 129, "v" * 42 + "+", "v" * 43 + "\n"])
def test_malformed_verifier_never_verifies_the_hash_of_itself(malformed: str) -> None:
    challenge = parse_code_challenge(s256(malformed), "S256")
    assert challenge is not None
    assert not challenge.verifies(malformed)


@pytest.mark.rfc("7636#4.1")
@given(VERIFIERS, st.text())
def test_any_text_is_no_verifier_of_another_ones_hash(right: str, anything: str) -> None:
    assume(right != anything)
    challenge = parse_code_challenge(s256(right), "S256")
    assert challenge is not None
    assert not challenge.verifies(anything)


@pytest.mark.rfc("6749#2.3.1")
@given(st.text(max_size=50), st.text(max_size=50))
def test_basic_credentials_are_read_as_they_were_written(name: str, secret: str) -> None:
    assume("\0" not in name + secret)
    pair = f"{quote_plus(name)}:{quote_plus(secret)}"
    header = "Basic " + b64encode(pair.encode()).decode()
    assert parse_basic_auth(header) == (name, secret)


@pytest.mark.rfc("7617#2")
@given(st.text() | st.text().map("Basic ".__add__) | st.binary().map(lambda raw: f"Basic {raw!r}"))
def test_a_header_is_credentials_or_a_refusal(header: str) -> None:
    with suppress(InvalidClient):
        credentials = parse_basic_auth(header)
        assert credentials is None or len(credentials) == 2


@given(KINDS, st.binary(min_size=32, max_size=32))
def test_a_handle_is_read_as_it_was_written_and_as_no_other_kind(kind: str, secret: bytes) -> None:
    handle = handle_from_secret(kind, new_selector(), secret)  # type: ignore[arg-type]
    for other in PREFIXES:
        assert parse_handle(handle.text, other) == (handle if other == kind else None)


@given(KINDS, st.integers(min_value=0, max_value=67), st.sampled_from("AZaz09-_.é\n "))
def test_a_typo_in_a_handle_needs_no_look_up(kind: str, at: int, typo: str) -> None:
    text = handle_from_secret(kind, new_selector(), b"x" * 32).text  # type: ignore[arg-type]
    mistyped = text[:at] + typo + text[at + 1 :]
    assume(mistyped != text)
    assert parse_handle(mistyped, kind) is None  # type: ignore[arg-type]


@given(st.text() | KINDS.flatmap(lambda kind: st.text().map(PREFIXES[kind].__add__)))
def test_any_text_is_a_handle_or_none(text: str) -> None:
    for kind in PREFIXES:
        handle = parse_handle(text, kind)
        assert handle is None or handle.text == text


@given(st.binary(min_size=17, max_size=64))
def test_the_first_half_of_a_hash_is_found_without_decoding_it(content: bytes) -> None:
    assert first_16_bytes(base64url(content)) == base64url(content[:16])


@given(st.binary(max_size=64))
def test_bytes_survive_base64url(content: bytes) -> None:
    assert decode_base64url(base64url(content)) == content

"""Whatever the claims parameter holds, it is understood or refused (OIDC Core §5.2, §5.5)."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.protocol.claims import (
    ClaimsRequest,
    find_claim,
    parse_claims,
    parse_locales,
    remove_language,
)
from service.protocol.errors import InvalidRequest

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(), below, max_size=3),
    max_leaves=8,
)
CLAIM = st.fixed_dictionaries(
    {}, optional={"essential": st.booleans(), "value": st.text(), "values": st.lists(st.text())}
)
PLACE = st.dictionaries(st.text(), st.none() | CLAIM, max_size=4)
NAMES = st.lists(st.text("abc#", max_size=4)).map(tuple)


@pytest.mark.rfc("openid-core#5.5")
@given(st.text() | JSON.map(json.dumps))
def test_any_text_is_understood_or_refused(text: str) -> None:
    with suppress(InvalidRequest):
        asked = parse_claims(text)
        assert all(isinstance(value, str) for value in asked.acr_values)


@pytest.mark.rfc("openid-core#5.5.1")
@given(id_token=PLACE, userinfo=PLACE)
def test_well_formed_claims_parameter_is_understood(
    id_token: dict[str, object], userinfo: dict[str, object]
) -> None:
    asked = parse_claims(json.dumps({"id_token": id_token, "userinfo": userinfo}))
    assert (set(asked.id_token), set(asked.userinfo)) == (set(id_token), set(userinfo))


@given(id_token=NAMES, userinfo=NAMES, allowed=st.frozensets(st.text("abc", max_size=2)))
def test_cutting_a_claims_request_never_adds_claims(
    id_token: tuple[str, ...], userinfo: tuple[str, ...], allowed: frozenset[str]
) -> None:
    cut = ClaimsRequest(id_token=id_token, userinfo=userinfo).cut_to(allowed)
    assert cut.names <= allowed
    assert set(cut.id_token) <= set(id_token)
    assert set(cut.userinfo) <= set(userinfo)


@pytest.mark.rfc("openid-core#5.2")
@given(
    names=st.sets(st.text("ab#-D", max_size=5)), name=st.text("ab#-d", max_size=5), text=st.text()
)
def test_a_claim_is_found_in_its_own_name_or_in_a_language(
    names: set[str], name: str, text: str
) -> None:
    found = find_claim(dict.fromkeys(names), name, parse_locales(text))
    assert found == name or found in names
    assert remove_language(name) is None or found.partition("#")[0] == remove_language(name)

"""docs/reference/rfc-map.md: what a docstring cites and a test is marked with is read as it is meant."""

from __future__ import annotations

import pytest

from scripts.docs.specifications import cited, marked, section


@pytest.mark.parametrize(
    ("text", "sections"),
    [
        ("(RFC 6749 §4.1.2)", [("6749", "4.1.2")]),
        ("(RFC 7517 §4, §5.1, RFC 7636 §4.6).", [("7517", "4"), ("7517", "5.1"), ("7636", "4.6")]),
        ("(RFC 6749 appendix B)", [("6749", "B")]),
        ("(RFC 8705)", [("8705", "")]),
        ("(OIDC Core\n    §3.1.2.1)", [("openid-core", "3.1.2.1")]),
        ("(OpenID Connect RP-Initiated Logout §2)", [("openid-rpinitiated", "2")]),
        ("the RFCs' words, and CIBA's", []),
    ],
)
def test_a_citation_is_found(text: str, sections: list[tuple[str, str]]) -> None:
    assert list(cited(text)) == [section(*one) for one in sections]


def test_a_mark_and_a_citation_meet() -> None:
    assert [marked("openid-core#11")] == list(cited("OpenID Connect Core §11"))


def test_sections_stand_in_the_order_of_their_document() -> None:
    numbers = ["A", "10", "9.1", "9", "10.2", ""]
    ordered = sorted(section("6749", number) for number in numbers)
    assert [one.name for one in ordered] == ["", "9", "9.1", "10", "10.2", "A"]

"""Cookies: what is written and read is what the standard library would write and read (RFC 6265 §4.1.1, §5.4)."""

from __future__ import annotations

import re
from http.cookies import SimpleCookie

import pytest
from aiohttp import web
from hypothesis import example, given
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from service.web.endpoint import WholeRequest, empty_answer
from service.web.pages.cookies import Cookie, Cookies

pytestmark = pytest.mark.rfc("6265#4.1.1", "6265#5.4")

VALUES = st.from_regex(r"[A-Za-z0-9_-]{0,130}", fullmatch=True)
ALL = st.builds(
    Cookies,
    secure=st.booleans(),
    session_name=st.just("sid"),
    same_site=st.sampled_from(["lax", "none"]),
    port=st.sampled_from([None, 8080]),
)
NAMES = [Cookies(secure=True, session_name="sid", same_site="lax").name(each) for each in Cookie]


@given(ALL, st.sampled_from(Cookie), VALUES, st.none() | st.integers(0, 10**9))
def test_cookie_is_written_as_aiohttp_writes_it(
    cookies: Cookies, cookie: Cookie, value: str, max_age: int | None
) -> None:
    answer, expected, same_site = empty_answer(), web.Response(), "Lax"
    if cookie is Cookie.SESSION and cookies.same_site == "none":
        same_site = "None"
    if cookie is Cookie.BROWSER_STATE and cookies.secure:
        same_site = "None"
    expected.set_cookie(
        cookies.name(cookie),
        value,
        max_age=max_age if value else 0,
        httponly=cookie is not Cookie.BROWSER_STATE,
        secure=cookies.secure,
        samesite=same_site,
    )
    cookies.set(answer, cookie, value, max_age=max_age)
    written = answer.for_aiohttp().headers["Set-Cookie"]
    assert written == expected.cookies[cookies.name(cookie)].OutputString()


@given(st.lists(st.tuples(st.sampled_from([*NAMES, "other", "sid"]), VALUES), max_size=8))
@example([("__Host-sid", "first"), ("__Host-sid", "second")])
def test_cookies_are_read_as_the_standard_library_reads_them(sent: list[tuple[str, str]]) -> None:
    cookies = Cookies(secure=True, session_name="sid", same_site="lax")
    header = "; ".join(map("=".join, sent))
    expected = SimpleCookie(header)
    for cookie in Cookie:
        morsel = expected.get(cookies.name(cookie))
        value = morsel.value if morsel else ""
        known = value if re.fullmatch(r"[\w-]{1,128}", value, re.ASCII) else ""
        assert cookies.get(_request(header), cookie) == known


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=100))
@example('__Host-sid="quoted"')
@example("__Host-sid=a b")
@example("__Host-sid")
def test_cookie_that_was_not_written_here_counts_as_none(header: str) -> None:
    cookies = Cookies(secure=True, session_name="sid", same_site="lax")
    assert re.fullmatch(r"[\w-]{0,128}", cookies.get(_request(header), Cookie.SESSION), re.ASCII)


def test_a_second_value_replaces_the_first_one() -> None:
    cookies, answer = Cookies(secure=True, session_name="sid", same_site="lax"), empty_answer()
    cookies.set(answer, Cookie.SESSION, "first", max_age=60)
    cookies.clear_session(answer)
    written = answer.for_aiohttp().headers.getall("Set-Cookie")
    assert [each.partition(";")[0] for each in written] == [
        '__Host-sid=""',
        '__Host-browser_state=""',
    ]


def _request(header: str) -> WholeRequest:
    headers = CIMultiDictProxy(CIMultiDict({"Cookie": header}))
    return WholeRequest(method="GET", path="/", headers=headers, body=b"", remote=None)

"""The picture of who can reach what can be read: boxes apart, curves at their boxes, and none where it would be too much."""

from __future__ import annotations

from itertools import pairwise

from service.admin.console.picture import HEIGHT, MOST_LINES, WIDTH, draw
from tests.admin.console.screens import WAYS, way


def test_boxes_do_not_touch_and_stay_in_the_picture() -> None:
    drawn = draw(WAYS)
    assert drawn is not None
    for column in (drawn.clients, drawn.apis):
        tops = sorted(node.y for node in column)
        assert all(below - above > HEIGHT for above, below in pairwise(tops))
        assert tops[0] >= 0
        assert tops[-1] + HEIGHT <= drawn.height
    assert all(0 <= node.x <= WIDTH - drawn.node for node in (*drawn.clients, *drawn.apis))


def test_each_way_has_a_curve_that_says_what_it_is() -> None:
    drawn = draw(WAYS)
    assert drawn is not None
    assert len(drawn.lines) == len(WAYS)
    assert drawn.lines[0].title == "shop → orders: orders.read orders.write"
    assert set(drawn.kinds) == {"direct", "delegation", "exchange", "extension"}


def test_two_ways_between_the_same_boxes_are_two_curves() -> None:
    drawn = draw([way("a", "b"), way("a", "b", "delegation")])
    assert drawn is not None
    assert len({line.path for line in drawn.lines}) == 2


def test_an_api_is_near_its_clients() -> None:
    drawn = draw([way("first", "z"), way("second", "y"), way("third", "x")])
    assert drawn is not None
    assert [node.name for node in sorted(drawn.apis, key=lambda node: node.y)] == ["z", "y", "x"]


def test_a_long_name_is_cut_and_whole_in_its_link() -> None:
    drawn = draw([way("a&b=" + "c" * 200, "api")])
    assert drawn is not None
    (node,) = drawn.clients
    assert len(node.text) < 30
    assert node.href == "/client?id=a%26b%3D" + "c" * 200


def test_there_is_no_picture_of_300_clients_or_of_nothing() -> None:
    assert draw([way(f"client{n}", "api") for n in range(300)]) is None
    assert draw([way("a", f"api{n}") for n in range(MOST_LINES + 1)]) is None
    assert draw([]) is None


def test_a_client_and_an_api_of_one_name_are_two_boxes() -> None:
    drawn = draw([way("orders", "payments"), way("shop", "orders"), way("shop", "payments")])
    assert drawn is not None
    assert [node.href for node in (*drawn.clients, *drawn.apis)] == [
        "/client?id=orders",
        "/client?id=shop",
        "/api?name=payments",
        "/api?name=orders",
    ]


def test_few_clients_of_many_apis_are_in_the_middle_of_theirs() -> None:
    drawn = draw([way("one", f"api{n}") for n in range(5)])
    assert drawn is not None
    (client,) = drawn.clients
    assert client.y == sorted(node.y for node in drawn.apis)[2]

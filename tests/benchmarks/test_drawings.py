"""Charts and flame graphs show what they are given."""

from __future__ import annotations

from benchmarks.chart import MET, MISSED, Bar, chart
from benchmarks.flame import BELOW, drawn, tree

LOOP = BELOW.replace(")", ":86)")
STACKS = f"main (a.py:1);{LOOP};read (b.py:2) 3\nmain (a.py:1);{LOOP};write (b.py:9) 1\nidle (c.py:1) 9\n"


def test_a_flame_graph_is_as_wide_as_the_time() -> None:
    shown = drawn(tree(STACKS))
    assert "<title>read (b.py) 75.0%</title>" in shown
    assert "<title>write (b.py) 25.0%</title>" in shown
    assert "idle" not in shown


def test_a_bar_below_its_goal_is_seen() -> None:
    shown = chart("A & B", [Bar(label="short", ratio=0.5, at_least=0.7)])
    assert MISSED in shown
    assert MET not in shown
    assert "A &amp; B" in shown

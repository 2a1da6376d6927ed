"""`--quick`: the first row of each table of parameters, where no program is needed; `make test-quick` names the folders."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the choice."""
    text = "one row of each test, on the embedded store, without tests that need a program"
    parser.addoption("--quick", action="store_true", help=text)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what is quick, and its order."""
    if not config.getoption("quick"):
        return
    first: dict[str, pytest.Item] = {}
    for item in sorted(items, key=lambda each: each.nodeid):
        if not any(item.iter_markers("needs")):
            first.setdefault(item.nodeid.partition("[")[0], item)
    chosen = set(first.values())
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = [item for item in items if item in chosen]

"""docs/gateways.md begins with a check that anybody can try against the demonstration."""

from __future__ import annotations

import pytest

from tests.documentation.conftest import Shell
from tests.documentation.reading import REPOSITORY, blocks, says


@pytest.mark.needs("curl")
def test_first_request_gives_what_the_page_says(shell: Shell) -> None:
    command, answer = blocks(REPOSITORY / "docs/gateways.md")[:2]
    (printed,) = shell([command.text])
    assert says(answer.text, printed), printed

"""examples/requests.txt, which `make run` prints: every request works when pasted."""

from __future__ import annotations

import json
import re

import pytest

from tests.documentation.conftest import Shell
from tests.documentation.reading import REPOSITORY
from tests.documentation.signing_in import code_at
from tests.driving.browser import Browser

pytestmark = pytest.mark.needs("curl")

TEXT = (REPOSITORY / "examples" / "requests.txt").read_text()
PASTED = re.findall(r"^\S.*\n(?:.+\n)*", TEXT, re.MULTILINE)
"""What stands at the left margin; the words around it are indented."""
LINK = next(text for text in PASTED if text.startswith("http"))
COMMANDS = [text for text in PASTED if text != LINK]


def test_requests_are_tokens_and_introspections(shell: Shell) -> None:
    token, introspected, alice, delegated, for_api2 = shell(COMMANDS[:5])
    assert [one.count(".") for one in (token, alice, delegated)] == [2, 2, 2]
    assert json.loads(introspected)["active"] is True
    assert json.loads(for_api2)["act"] == {"sub": "api1"}


async def test_the_sign_in_link_ends_with_a_code_that_is_good_for_tokens(
    shell: Shell, demonstration_browser: Browser
) -> None:
    code = await code_at(demonstration_browser, LINK)
    (answer,) = shell([COMMANDS[5].replace("CODE", code)])
    assert {"access_token", "id_token"} <= set(json.loads(answer))


def test_nothing_but_a_shell_and_curl_is_needed() -> None:
    commands = re.sub(r"'[^']*'|\\\n", "", "".join(COMMANDS))
    assert set(re.findall(r"(?:^|[;|]|\$\()\s*([a-z]+)\b(?!=)", commands, re.MULTILINE)) <= {
        "curl",
        "echo",
        "sed",
    }

"""The demonstration, running."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

import pytest

from tests.documentation.reading import REPOSITORY
from tests.driving.browser import Browser
from tests.driving.process import DEMONSTRATION, serving

END = "=== end of a command ==="

Shell = Callable[[Sequence[str]], list[str]]


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the service with config.yaml."""
    config = (REPOSITORY / "config.yaml").read_text()
    with serving(config, tmp_path_factory.mktemp("demonstration")) as running:
        yield running


@pytest.fixture
def shell(address: str) -> Shell:
    """Pastes commands into one plain shell; what each of them printed."""

    def pasted(commands: Sequence[str]) -> list[str]:
        script = "".join(f"{command}\necho; echo '{END}'\n" for command in commands)
        ran = subprocess.run(
            ["sh", "-eu"],
            input=script.replace(DEMONSTRATION, address),
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        printed = ran.stdout.replace(address, DEMONSTRATION).split(END)
        return [text.strip() for text in printed[:-1]]

    return pasted


@pytest.fixture
async def demonstration_browser(address: str) -> AsyncIterator[Browser]:
    """A person's browser at the demonstration."""
    browser = Browser(f"http://{address}")
    yield browser
    await browser.close()

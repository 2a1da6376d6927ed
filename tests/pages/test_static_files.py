"""Static files are compressed for browsers that take that (RFC 9110 §12.5.3)."""

from __future__ import annotations

import gzip

import pytest

from service.web.pages.looks import BUILT_IN
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("9110#12.5.3")
STYLE = (BUILT_IN / "static/style.css").read_bytes()


async def fetch(
    service: RunningService, accepted: str, name: str = "style.css"
) -> tuple[str, bytes]:
    """The encoding of a file, and its bytes as they are sent."""
    async with service.http.get(
        f"{service.issuer}/static/{name}",
        headers={"Accept-Encoding": accepted},
        auto_decompress=False,
    ) as answer:
        assert answer.headers["Vary"] == "Accept-Encoding"
        return answer.headers.get("Content-Encoding", "identity"), await answer.read()


@pytest.mark.parametrize("accepted", ["gzip", "br, GZIP;q=0.5", "deflate, gzip , br"])
async def test_a_style_sheet_is_sent_compressed(service: RunningService, accepted: str) -> None:
    encoding, body = await fetch(service, accepted)
    assert encoding == "gzip"
    assert gzip.decompress(body) == STYLE
    assert len(body) < 6_000


@pytest.mark.parametrize("accepted", ["", "identity", "br", "gzip;q=0", "gzip; q=0.0", "xgzip"])
async def test_a_browser_that_does_not_ask_gets_the_file_itself(
    service: RunningService, accepted: str
) -> None:
    assert await fetch(service, accepted) == ("identity", STYLE)

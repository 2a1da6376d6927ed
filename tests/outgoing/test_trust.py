"""Requests that the service makes trust the authorities of the system and of `outgoing.ca_file`."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.model.outgoing import Unreachable
from service.outgoing.http_client import OutgoingHttp

pytestmark = pytest.mark.needs("openssl")


async def test_a_further_authority_is_trusted(https: str, certificate: Path) -> None:
    outgoing = OutgoingHttp(timeout=5, ca_file=certificate, policy=None)
    assert (await outgoing.fetch(https)).status == 404
    await outgoing.close()


async def test_a_certificate_of_an_unknown_authority_is_not_trusted(https: str) -> None:
    outgoing = OutgoingHttp(timeout=5, ca_file=None, policy=None)
    with pytest.raises(Unreachable, match="Certificate"):
        await outgoing.fetch(https)
    await outgoing.close()


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/", "http://[", "ftp://x/", "http://x.invalid/"]
)
async def test_a_url_that_cannot_be_requested_is_unreachable(url: str) -> None:
    outgoing = OutgoingHttp(timeout=5, ca_file=None, policy=None)
    with pytest.raises(Unreachable):
        await outgoing.fetch(url)
    await outgoing.close()

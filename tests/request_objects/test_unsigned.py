"""Request objects without a signature: only for a client that registered `none` (OIDC Core §6.1)."""

from __future__ import annotations

import pytest

from tests.request_objects.sending import Sender

pytestmark = pytest.mark.rfc("openid-core#6.1", "openid-registration#2", "8725#3.2")


async def test_a_client_registered_for_none_sends_an_unsigned_object(unsigning: Sender) -> None:
    page = await unsigning.sign_in(unsigning.unsigned())
    assert "code" in page.parameters

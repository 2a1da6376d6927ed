"""Dynamic OP: the provider changes its own keys (OIDC Core §10.1.1)."""

from __future__ import annotations

import pytest

from service.keys.stored_keys import StoredKeys
from tests.certification.provider import Provider


class TestKeyRotation:
    """The effect of `python -m service keys rotate`."""

    @pytest.mark.conformance("oidcc-server-rotate-keys")
    @pytest.mark.rfc("openid-core#10.1.1", "7517#4.5")
    async def test_a_new_key_is_published_together_with_the_old_one(
        self, provider: Provider
    ) -> None:
        before = await published_kids(provider)
        source = provider.service.features.key_source
        assert isinstance(source, StoredKeys)
        await source.rotate(at_once=False)
        await source.refresh()
        assert before < await published_kids(provider)


async def published_kids(provider: Provider) -> set[str]:
    """The key ids of those keys that sign, or will."""
    return {key["kid"] for key in (await provider.jwks())["keys"] if key["use"] == "sig"}

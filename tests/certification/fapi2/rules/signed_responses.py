"""Signed authorization responses (JARM); that each is right, every flow of such a run checks."""

from __future__ import annotations

import pytest

from tests.certification.fapi2.rules.marks import mirrors
from tests.certification.provider import Provider


class SignedResponses:
    """fapi_response_mode=jarm."""

    @mirrors("discovery-end-point-verification")
    @pytest.mark.rfc("jarm#2.3.4", "jarm#4")
    def test_response_mode_jwt_is_supported(self, provider: Provider) -> None:
        assert "jwt" in provider.metadata["response_modes_supported"]

    @mirrors("discovery-end-point-verification")
    @pytest.mark.rfc("jarm#4")
    @pytest.mark.parametrize("which", ["signing_alg", "encryption_alg", "encryption_enc"])
    def test_the_algorithms_of_responses_are_listed(self, provider: Provider, which: str) -> None:
        assert provider.metadata[f"authorization_{which}_values_supported"]

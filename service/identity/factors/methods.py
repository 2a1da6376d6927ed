"""The interface of second factors: each method verifies one kind of proof (RFC 8176 §2).

To add a method: a class like those of `totp.py`, an entry in `build_second_factors` of `wiring/identities.py`, and a template
`templates/second_factor_NAME.html` with the fields of its form. The page, the throttle, the step of the sign-in and the
step-up by `acr` then use it as any other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Protocol

import msgspec

from service.model.factors import Factors
from service.protocol.params import Params

MFA = "mfa"
"""The method that stands for two different factors (RFC 8176 §2)."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The page that a factor is asked for on; a challenge must be bound to both."""

    browser: str
    """The mark of the browser; empty where there is no page."""
    parked_id: str
    """The authorization request; empty at the user's own account."""


class FactorAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """A proof of a second factor, as it was sent."""

    sub: str
    """The person, who has given a first factor or has a session."""
    params: Params
    """The form; its values are not verified."""
    asked: Asked
    """Where it was asked for."""
    address: str
    """Of the browser, or of the client that sent the proof; for the throttle and the audit log."""


class FactorMethod(Protocol):
    """A kind of second factor."""

    name: ClassVar[str]
    """The value of `method` in the form, and the middle of the template's name."""
    can_be_guessed: ClassVar[bool]
    """Whether the proof is a text that somebody can try; such attempts are locked while too many fail."""

    def find_amr(self, factors: Factors) -> frozenset[str]:
        """Return the `amr` values that this person can add with it; empty if it is not enrolled."""
        ...

    async def prepare(self, sub: str, asked: Asked) -> Mapping[str, object]:
        """Return what its template is given as `form`, such as a challenge for this person and page."""
        ...

    async def verify(self, attempt: FactorAttempt) -> tuple[str, ...] | None:
        """Return the `amr` of a right proof, without `mfa`; None for a wrong one, which is then counted by the throttle.

        A proof counts once over all replicas: use it up by `EnrolledFactors.change`.
        """
        ...

"""Adds, names and removes the second factors of a person; the pages check the permission (NIST SP 800-63B §6.1.2).

To add a kind of factor: a class with the methods of `EnrolmentMethod`, an entry in `build_factor_changes` of
`wiring/identities.py`, and a template `templates/add_factor_NAME.html` with the fields of its form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Protocol

import msgspec
from msgspec.structs import replace

from service.events.event import Emit
from service.events.factors import (
    FactorEnrolled,
    FactorRemoved,
    FactorRenamed,
    RecoveryCodesRenewed,
)
from service.identity.factors.methods import Asked, FactorAttempt
from service.identity.factors.recovery_codes import hash_code, new_codes
from service.identity.factors.second_factors import SafeNotifier, SecondFactors
from service.model.factors import FactorChange, FactorNotice, Factors, Totp
from service.protocol.params import Params

MAX_NAME = 60
"""Characters of the name that a person gives to a factor."""


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """The person who adds a factor."""

    sub: str
    username: str
    """The name that the authenticator shows next to the factor."""


class EnrolmentMethod(Protocol):
    """A kind of factor that people can add by themselves."""

    name: ClassVar[str]
    """That of the `FactorMethod`."""
    amr: ClassVar[tuple[frozenset[str], ...]]
    """The values of which the proof of a new one may add one to `amr`, as the authenticator decides."""

    def can_add(self, factors: Factors) -> bool:
        """Return whether the person may have one more."""
        ...

    async def prepare(self, owner: Owner, params: Params, asked: Asked) -> Mapping[str, object]:
        """Return what its template is given as `form`; a secret in it is sealed where the browser sends it back.

        After a wrong proof `params` are those of the form.
        """
        ...

    async def add(self, attempt: FactorAttempt, *, name: str) -> tuple[str, ...] | None:
        """Store a factor whose possession is proved, by `EnrolledFactors.change`; return the `amr` of that proof.

        None where the proof is wrong. `name` is what the person calls it, perhaps nothing.
        """
        ...

    async def remove(self, sub: str, factor_id: str) -> bool:
        """Remove the person's factor; False if no factor of this kind has the id."""
        ...


class AddedFactor(msgspec.Struct, frozen=True, kw_only=True):
    """A factor that was added just now."""

    amr: tuple[str, ...]
    recovery_codes: Sequence[str]
    """Made with the first factor, and shown once; empty if the person has some already."""


class FactorChanges(msgspec.Struct, frozen=True, kw_only=True):
    """Changes factors; each change is an event, and the person is notified."""

    second_factors: SecondFactors
    methods: tuple[EnrolmentMethod, ...]
    notifier: SafeNotifier
    emit: Emit

    def find_addable(self, factors: Factors) -> Mapping[str, EnrolmentMethod]:
        """Return what the person can add, by name."""
        return {method.name: method for method in self.methods if method.can_add(factors)}

    async def add(self, method: EnrolmentMethod, attempt: FactorAttempt) -> AddedFactor | None:
        """Add a factor; None if the proof of its possession is wrong."""
        amr = await method.add(attempt, name=read_name(attempt.params.get("name")))
        if amr is None:
            return None
        codes = new_codes()
        stored = await self.second_factors.enrolled.change(
            attempt.sub, lambda factors: None if factors.recovery_codes else _with(factors, codes)
        )
        where = attempt.address
        self.emit(FactorEnrolled(subject=attempt.sub, method=method.name, address=where))
        await self._tell(attempt.sub, "factor_enrolled", method.name)
        return AddedFactor(amr=amr, recovery_codes=codes if stored else ())

    async def remove(self, sub: str, factor_id: str, *, address: str) -> None:
        """Remove a factor, and with the last one the recovery codes; nothing happens if the person has no such factor."""
        for method in self.methods:
            if await method.remove(sub, factor_id):
                await self.second_factors.enrolled.change(sub, _without_idle_codes)
                self.emit(FactorRemoved(subject=sub, method=method.name, address=address))
                await self._tell(sub, "factor_removed", method.name)
                return

    async def rename(self, sub: str, factor_id: str, name: str, *, address: str) -> None:
        """Give a factor another name; nothing happens if the person has no such factor."""
        renamed = await self.second_factors.enrolled.change(
            sub, lambda factors: _rename(factors, factor_id, name)
        )
        if renamed is not None:
            method = "otp" if factor_id == Totp.id else "passkey"
            self.emit(FactorRenamed(subject=sub, method=method, address=address))

    async def renew_recovery_codes(self, sub: str, *, address: str) -> Sequence[str]:
        """Return new recovery codes in the place of all earlier ones; none for a person without a factor."""
        codes = new_codes()
        stored = await self.second_factors.enrolled.change(
            sub, lambda factors: _with(factors, codes) if factors.is_enrolled else None
        )
        if stored is None:
            return ()
        self.emit(RecoveryCodesRenewed(subject=sub, address=address))
        await self._tell(sub, "recovery_codes_renewed", "recovery_code")
        return codes

    async def _tell(self, sub: str, change: FactorChange, method: str) -> None:
        await self.notifier.notify(FactorNotice(subject=sub, change=change, method=method))


def read_name(text: str | None) -> str:
    """Return what a person calls a factor, without what cannot be seen, and not too long."""
    return " ".join((text or "").split())[:MAX_NAME] if (text or "").isprintable() else ""


def _with(factors: Factors, codes: Sequence[str]) -> Factors:
    return replace(factors, recovery_codes=tuple(map(hash_code, codes)))


def _without_idle_codes(factors: Factors) -> Factors | None:
    """Return the factors without recovery codes that stand for nothing any more."""
    if factors.is_enrolled or not factors.recovery_codes:
        return None
    return replace(factors, recovery_codes=())


def _rename(factors: Factors, factor_id: str, name: str) -> Factors | None:
    if factors.totp is not None and factor_id == factors.totp.id:
        return replace(factors, totp=replace(factors.totp, name=name))
    passkeys = tuple(
        msgspec.structs.replace(one, name=name) if one.credential_id == factor_id else one
        for one in factors.passkeys
    )
    return None if passkeys == factors.passkeys else replace(factors, passkeys=passkeys)

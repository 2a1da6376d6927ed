"""Builds what keeps and verifies second factors."""

from __future__ import annotations

from urllib.parse import urlsplit

from service.identity.factors.enrolment import EnrolmentMethod, FactorChanges
from service.identity.factors.methods import FactorMethod
from service.identity.factors.passkey_challenges import Passkeys, find_relying_party
from service.identity.factors.passkeys import (
    PasskeyEnrolment,
    PasskeyMethod,
    PasskeySignIn,
    UserPasskeys,
)
from service.identity.factors.recovery_codes import RecoveryCodeMethod
from service.identity.factors.second_factors import SafeNotifier, SecondFactors, open_user_notifier
from service.identity.factors.stored import PasskeyOwners
from service.identity.factors.totp import TotpEnrolment, TotpMethod
from service.identity.password_sign_in import Throttle
from service.identity.users import Directory
from service.parts.shared import Shared
from service.parts.users import open_factors, open_guesses


class FactorParts:
    """The second factors of users."""

    def __init__(self, shared: Shared, users: Directory) -> None:
        """Raise CannotServe if the operator's notifier cannot be made."""
        self.enrolled = open_factors(shared, users)
        throttle = Throttle(
            kv=shared.kv, prefix=shared.prefix, limits=shared.configuration.limits, name="of"
        )
        notifier = open_user_notifier(shared.configuration.users.notifier)
        self.notifier, self.emit = SafeNotifier(notifier, shared.emit), shared.emit
        self.passkey_owners = PasskeyOwners(shared.stores)
        self.passkeys = build_passkeys(shared, self)
        self.passkey_sign_in: PasskeySignIn | None = None
        if self.passkeys is not None:
            self.passkey_sign_in = PasskeySignIn(
                used=self.passkeys,
                users=users,
                throttle=throttle,
                emit=shared.emit,
            )
        self.second_factors = SecondFactors(
            enrolled=self.enrolled,
            methods=second_factor_methods(self),
            throttle=throttle,
            guesses=open_guesses(shared),
            notifier=self.notifier,
            emit=shared.emit,
        )
        self.changes = build_changes(shared, self)


def build_changes(shared: Shared, parts: FactorParts) -> FactorChanges:
    """Build what adds and removes factors."""
    return FactorChanges(
        second_factors=parts.second_factors,
        methods=enrolment_methods(shared, parts),
        notifier=parts.notifier,
        emit=shared.emit,
    )


def enrolment_methods(shared: Shared, parts: FactorParts) -> tuple[EnrolmentMethod, ...]:
    """Return the kinds of factors that users can add; the first one is offered first."""
    host = urlsplit(shared.issuer).hostname or ""  # a colon separates it from the user
    passkeys = (PasskeyEnrolment(used=parts.passkeys, emit=parts.emit),) if parts.passkeys else ()
    return (TotpEnrolment(enrolled=parts.enrolled, seal=shared.seal, host=host), *passkeys)


def second_factor_methods(parts: FactorParts) -> tuple[FactorMethod, ...]:
    """Return all methods; of those that a user has enrolled the first one is asked for first."""
    passkeys = (PasskeyMethod(used=parts.passkeys, emit=parts.emit),) if parts.passkeys else ()
    return (*passkeys, TotpMethod(parts.enrolled), RecoveryCodeMethod(parts.enrolled))


def build_passkeys(shared: Shared, parts: FactorParts) -> UserPasskeys | None:
    """Return what asks for passkeys and verifies them; None where browsers have none for this issuer."""
    party = find_relying_party(shared.issuer, shared.registry.current.mfa.webauthn.rp_id)
    if party is None:
        return None
    per_minute = shared.configuration.limits.parked_requests_per_minute
    limit = shared.rate_limit("passkey", per_minute)
    return UserPasskeys(
        passkeys=Passkeys(party=party, stores=shared.stores, rate_limit=limit),
        owners=parts.passkey_owners,
        enrolled=parts.enrolled,
    )
